/* tf.signal: frames of signals, their sums, and what is computed frame by frame (STFT, MDCT). Windows are tensors here; functions
 * that make them are the front end's. */
#include <math.h>

#include "api/signal/signal.h"
#include "graph/graph.h"
#include "rows.h"

/* ---- frames ---- */

/* `count` values behind the axis of x, which is the last one if `axis` is -1. */
static tw_tensor *pad_axis(tw__temps *t, tw_tensor *x, tw_tensor *count, tw_tensor *value, int64_t axis)
{
    if (!x || !count || !value)
        return NULL;
    tw_tensor *shape = tw__temp_shape(t, x, TW_INT32), *one = tw__temp_reshape(t, count, (int64_t[]){ 1 }, 1);
    tw_tensor *before = tw__temp_slice(t, shape, TW_NO_INT, axis);
    tw_tensor *behind = axis == -1 ? NULL : tw__temp_slice(t, shape, axis + 1, TW_NO_INT);
    if (!before || !one || (axis != -1 && !behind))
        return NULL;
    tw_tensor *sizes = tw__temp_concat(t, TW_IN(before, one, behind), behind ? 3 : 2, 0);
    tw_tensor *more = TW_TEMP(Fill, sizes, tw__temp_cast(t, value, x->dtype));
    return more ? tw__temp_concat(t, TW_IN(x, more), 2, axis) : NULL;
}

tw_tensor *tw__signal_frame(tw__temps *t, tw_tensor *x, int64_t length, int64_t step, bool pad_end, tw_tensor *pad_value,
                            int64_t axis)
{
    const tw_tensor *given = x;
    if (!x || !tw__signal_rank(x, 1))
        return NULL;
    int normal = -1;
    if (x->shape.rank < 0 ? axis != -1 : !tw__axis_normal(axis, x->shape.rank, &normal)) {
        tw__fail(TW_VALUE_ERROR, "frame: axis %lld of a signal with %d dimensions", (long long)axis, x->shape.rank);
        return NULL;
    }
    if (length < 0 || step < 1 || length > INT32_MAX / 2 || step > INT32_MAX / 2) {
        tw__fail(TW_INVALID_ARGUMENT, "frame: frame_length %lld must not be negative, and frame_step %lld must be positive",
                 (long long)length, (long long)step);
        return NULL;
    }
    int64_t place = normal == x->shape.rank - 1 ? -1 : normal;
    tw_tensor *size = tw__signal_last(t, x, normal < 0 ? 1 : x->shape.rank - normal), *by = tw__temp_int(t, step, TW_INT32);
    tw_tensor *zero = tw__temp_int(t, 0, TW_INT32), *count;
    if (pad_end) {
        count = TW_TEMP(FloorDiv, TW_TEMP(AddV2, size, tw__temp_int(t, step - 1, TW_INT32)), by);
        tw_tensor *end = TW_TEMP(AddV2, TW_TEMP(Mul, count, by), tw__temp_int(t, length - step, TW_INT32));
        x = pad_axis(t, x, TW_TEMP(Maximum, TW_TEMP(Sub, end, size), zero), pad_value ? pad_value : zero, place);
    } else {
        tw_tensor *room = TW_TEMP(AddV2, TW_TEMP(Sub, size, tw__temp_int(t, length, TW_INT32)), by);
        count = TW_TEMP(Maximum, TW_TEMP(FloorDiv, room, by), zero);
    }
    tw_tensor *starts = TW_TEMP(Mul, count ? tw__temp_range(t, count) : NULL, by);
    tw_tensor *column = starts ? tw__temp_reshape(t, starts, (int64_t[]){ -1, 1 }, 2) : NULL;
    tw_tensor *places = TW_TEMP(AddV2, column, tw__temp_range(t, tw__temp_int(t, length, TW_INT32)));
    tw_tensor *made = x && places ? tw__temp_gather(t, x, places, place) : NULL;
    int64_t known = normal < 0 ? -1 : given->shape.dims[normal];
    int64_t frames = known < 0 ? -1 : pad_end ? (known + step - 1) / step : known < length ? 0 : (known - length) / step + 1;
    tw_shape rest = given->shape;
    if (normal < 0)
        return made;
    int64_t dims[TW_MAX_RANK + 2] = { frames, length };
    for (int i = normal + 1; i < rest.rank; i++)
        dims[i - normal + 1] = rest.dims[i];
    return tw__signal_told(made, given, rest.rank - normal, rest.rank - normal + 1, dims);
}

TW_API(
    signal_frame,
    "signal.frame(signal: tensor, frame_length: int, frame_step: int, pad_end: bool = False, pad_value: tensor = None shown 0, axis: int = -1, name: str = None) -> tensor",
    "Parts of an axis that begin frame_step apart; with pad_end also those that go beyond the end, filled with pad_value.\n"
    "signal: a tensor of samples\n"
    "pad_end: True: frames that go beyond the end count, too\n"
    "pad_value: what they are filled with; None: 0\n"
    "axis: the dimension of the samples\n"
    "example: tf.signal.frame([1, 2, 3, 4], 2, 2).numpy().tolist()  # [[1, 2], [3, 4]]")
{
    TW_TEMPS(t);
    return tw__keep(t, tw__signal_frame(t, args->signal, args->frame_length, args->frame_step, args->pad_end, args->pad_value,
                                        args->axis));
}

/* ---- sums of frames ---- */

tw_tensor *tw__signal_overlap(tw__temps *t, tw_tensor *x, int64_t step)
{
    if (!x || !tw__signal_rank(x, 2))
        return NULL;
    if (step < 1 || step > INT32_MAX / 2) {
        tw__fail(TW_INVALID_ARGUMENT, "overlap_and_add: frame_step must be positive, got %lld", (long long)step);
        return NULL;
    }
    tw_tensor *frames = tw__signal_last(t, x, 2), *length = tw__signal_last(t, x, 1), *by = tw__temp_int(t, step, TW_INT32);
    tw_tensor *minus = tw__temp_int(t, -1, TW_INT32), *zero = tw__temp_int(t, 0, TW_INT32), *flat;
    tw_tensor *parts = TW_TEMP(FloorDiv, TW_TEMP(AddV2, length, tw__temp_int(t, step - 1, TW_INT32)), by); /* of a frame */
    tw_tensor *rows = TW_TEMP(AddV2, TW_TEMP(AddV2, frames, parts), minus), *outer;
    tw_tensor *shape = tw__temp_shape(t, x, TW_INT32),
              *size = TW_TEMP(AddV2, TW_TEMP(Mul, TW_TEMP(AddV2, frames, minus), by), length);
    outer = tw__temp_slice(t, shape, TW_NO_INT, -2);
    if (!outer || !rows || !size)
        return NULL;
    tw_tensor *all = TW_TEMP(Prod, outer, 0); /* signals */
    /* [signals, frames, parts, step], each part moved down by its number: `parts` rows of zeros behind each column of parts, cut
     * again into columns that are one shorter */
    tw_tensor *count = all ? tw__temp_reshape(t, all, (int64_t[]){ 1 }, 1) : NULL,
              *sides = tw__temp_slice(t, shape, -2, TW_NO_INT);
    flat = count && sides ? TW_TEMP(Reshape, x, tw__temp_concat(t, TW_IN(count, sides), 2, 0)) : NULL;
    tw_tensor *wide = tw__signal_fill(t, flat, TW_TEMP(Mul, parts, by));
#define PACK(...) \
    tw__temp(t, tw__call(&tw__op_Pack, TW_IN(__VA_ARGS__), (int)(sizeof(TW_IN(__VA_ARGS__)) / sizeof(tw_tensor *)), NULL, 0))
    tw_tensor *cut = TW_TEMP(Reshape, wide, PACK(all, frames, parts, by));
    tw_tensor *turned = TW_TEMP(Transpose, cut, tw__temp_ints(t, (int64_t[]){ 0, 2, 1, 3 }, 4, TW_INT32));
    tw_tensor *none = PACK(zero, zero), *below = PACK(zero, parts);
    tw_tensor *long_rows = TW_TEMP(Pad, turned, PACK(none, none, below, none));
    tw_tensor *line = TW_TEMP(Reshape, long_rows, PACK(all, minus, by));
    tw_tensor *kept =
        TW_TEMP(Slice, line, tw__temp_ints(t, (int64_t[]){ 0, 0, 0 }, 3, TW_INT32), PACK(all, TW_TEMP(Mul, parts, rows), by));
    tw_tensor *moved = TW_TEMP(Reshape, kept, PACK(all, parts, rows, by));
    tw_tensor *sums = TW_TEMP(Sum, moved, 1), *ends = TW_TEMP(Reshape, sums, PACK(all, minus));
    tw_tensor *whole = tw__signal_part(t, ends, 0, size, 1);
    tw_tensor *one = tw__temp_reshape(t, size, (int64_t[]){ 1 }, 1);
    tw_tensor *made = one ? TW_TEMP(Reshape, whole, tw__temp_concat(t, TW_IN(outer, one), 2, 0)) : NULL;
    int64_t known = x->shape.rank < 2 ? -1 : x->shape.dims[x->shape.rank - 2],
            last = x->shape.rank < 2 ? -1 : x->shape.dims[x->shape.rank - 1];
    return tw__signal_told(made, x, 2, 1, (int64_t[]){ known < 0 || last < 0 ? -1 : (known - 1) * step + last });
}

TW_API(signal_overlap_and_add, "signal.overlap_and_add(signal: tensor, frame_step: int, name: str = None) -> tensor",
       "The sum of frames [..., frames, frame_length] that begin frame_step apart.\n"
       "signal: the frames, [..., frames, frame_length]\n"
       "example: tf.signal.overlap_and_add([[1.0, 1.0], [2.0, 2.0]], 1).numpy().tolist()  # [1.0, 3.0, 2.0]")
{
    TW_TEMPS(t);
    return tw__keep(t, tw__signal_overlap(t, args->signal, args->frame_step));
}

/* ---- short-time transforms ---- */

static int64_t power_of_two(int64_t value)
{
    int64_t power = 1;
    while (power < value && power < INT32_MAX / 2)
        power *= 2;
    return power;
}

/* What a window makes of frames; NULL: they stay. */
static tw_tensor *windowed(tw__temps *t, tw_tensor *frames, tw_tensor *window)
{
    return window && frames ? TW_TEMP(Mul, frames, window) : frames;
}

static bool length_fits(int64_t length)
{
    if (length > 0 && length <= INT32_MAX / 4)
        return true;
    tw__fail(TW_INVALID_ARGUMENT, "frame_length and fft_length must be positive, got %lld", (long long)length);
    return false;
}

TW_API(
    signal_stft,
    "signal._stft(signals: tensor, frame_length: int, frame_step: int, fft_length: int = None, window: tensor = None, pad_end: bool = False, name: str = None) -> tensor",
    "The Fourier transforms of frames of signals, each times the window.")
{
    TW_TEMPS(t);
    int64_t length = args->fft_length == TW_NO_INT ? power_of_two(args->frame_length) : args->fft_length;
    if (!length_fits(length) || !tw__signal_rank(args->signals, 1))
        return NULL;
    tw_tensor *frames = tw__signal_frame(t, args->signals, args->frame_length, args->frame_step, args->pad_end, NULL, -1);
    return tw__keep(t, tw__signal_rfft(t, windowed(t, frames, args->window), tw__temp_int(t, length, TW_INT32)));
}

TW_API(
    signal_inverse_stft,
    "signal._inverse_stft(stfts: tensor, frame_length: int, frame_step: int, fft_length: int = None, window: tensor = None, name: str = None) -> tensor",
    "The sum of frames that have these Fourier transforms, each times the window.")
{
    TW_TEMPS(t);
    int64_t length = args->fft_length == TW_NO_INT ? power_of_two(args->frame_length) : args->fft_length;
    if (!length_fits(length) || !length_fits(args->frame_length) || !tw__signal_rank(args->stfts, 2))
        return NULL;
    tw_tensor *frames = tw__signal_irfft(t, args->stfts, tw__temp_int(t, length, TW_INT32)),
              *size = tw__temp_int(t, args->frame_length, TW_INT32);
    frames = length > args->frame_length ? tw__signal_part(t, frames, 0, size, 1) : tw__signal_fill(t, frames, size);
    return tw__keep(t, tw__signal_overlap(t, windowed(t, frames, args->window), args->frame_step));
}

TW_API(signal_inverse_window, "signal._inverse_window(window: tensor, frame_step: int) -> tensor",
       "The window that makes inverse_stft of what was made with a window give the signal again.")
{
    TW_TEMPS(t);
    if (args->frame_step < 1 || args->window->shape.rank != 1 || args->window->shape.dims[0] < 0) {
        tw__fail(TW_VALUE_ERROR, "inverse_stft_window_fn: a window of shape %s and frame_step %lld",
                 tw__shape_text(&args->window->shape), (long long)args->frame_step);
        return NULL;
    }
    int64_t length = args->window->shape.dims[0], overlaps = (length + args->frame_step - 1) / args->frame_step, all;
    if (__builtin_mul_overflow(overlaps, args->frame_step, &all) || all > INT32_MAX) {
        tw__fail(TW_VALUE_ERROR, "inverse_stft_window_fn: frame_step %lld is too large", (long long)args->frame_step);
        return NULL;
    }
    tw_tensor *filled = tw__signal_fill(t, TW_TEMP(Square, args->window), tw__temp_int(t, all, TW_INT32));
    tw_tensor *rows = filled ? tw__temp_reshape(t, filled, (int64_t[]){ overlaps, args->frame_step }, 2) : NULL;
    tw_tensor *sum = TW_TEMP(Sum, rows, 0, TW_A_BOOL("keep_dims", true));
    tw_tensor *tiled = TW_TEMP(Tile, sum, tw__temp_ints(t, (int64_t[]){ overlaps, 1 }, 2, TW_INT32));
    tw_tensor *line = tiled ? tw__temp_reshape(t, tiled, (int64_t[]){ all }, 1) : NULL;
    return TW_CALL(RealDiv, args->window, tw__signal_part(t, line, 0, tw__temp_int(t, length, TW_INT32), 1));
}

/* ---- the modified cosine transform ---- */

static tw_tensor *reversed(tw__temps *t, tw_tensor *x)
{
    return TW_TEMP(ReverseV2, x, tw__temp_ints(t, (int64_t[]){ -1 }, 1, TW_INT32));
}

/* An axis cut into equal parts. */
static bool split_last(tw__temps *t, tw_tensor *x, tw_tensor **parts, int count)
{
    tw_tensor *axis = tw__temp_int(t, -1, TW_INT32);
    int made = count;
    if (!x || !axis ||
        tw__apply(&tw__op_Split, TW_IN(axis, x), 2, TW_WITH(TW_A_INT("num_split", count)), 1, parts, &made) != TW_OK)
        return false;
    for (int i = 0; i < count; i++)
        tw__temp(t, parts[i]);
    return true;
}

TW_API(
    signal_mdct,
    "signal._mdct(signals: tensor, frame_length: int, window: tensor = None, pad_end: bool = False, norm: str = None, name: str = None) -> tensor",
    "The modified cosine transforms of frames that overlap by half, each times the window.")
{
    TW_TEMPS(t);
    bool ortho;
    tw_tensor *parts[4];
    if (args->frame_length % 4 || args->frame_length < 4) {
        tw__fail(TW_VALUE_ERROR, "The frame length must be a multiple of 4.");
        return NULL;
    }
    if (!tw__signal_rank(args->signals, 1) || !tw__signal_ortho(args->norm, &ortho))
        return NULL;
    tw_tensor *frames = tw__signal_frame(t, args->signals, args->frame_length, args->frame_length / 2, args->pad_end, NULL, -1);
    frames = args->window ? windowed(t, frames, args->window) : TW_TEMP(Mul, frames, M_SQRT1_2);
    if (!split_last(t, frames, parts, 4))
        return NULL;
    tw_tensor *first = TW_TEMP(Sub, TW_TEMP(Neg, reversed(t, parts[2])), parts[3]),
              *second = TW_TEMP(Sub, parts[0], reversed(t, parts[1]));
    tw_tensor *folded = first && second ? tw__temp_concat(t, TW_IN(first, second), 2, -1) : NULL;
    return tw__keep(t, tw__signal_dct(t, folded, 4, ortho));
}

TW_API(signal_inverse_mdct,
       "signal._inverse_mdct(mdcts: tensor, window: tensor = None, norm: str = None, name: str = None) -> tensor",
       "The signals that have these modified cosine transforms.")
{
    TW_TEMPS(t);
    bool ortho;
    tw_tensor *parts[2];
    int64_t half = args->mdcts->shape.rank > 0 ? args->mdcts->shape.dims[args->mdcts->shape.rank - 1] : -1;
    if (!tw__signal_rank(args->mdcts, 2) || !tw__signal_ortho(args->norm, &ortho))
        return NULL;
    if (half < 1 || half > INT32_MAX / 4) {
        tw__fail(TW_VALUE_ERROR, "inverse_mdct: the last dimension of the transforms must be known, got %s",
                 tw__shape_text(&args->mdcts->shape));
        return NULL;
    }
    tw_tensor *back = tw__signal_dct(t, args->mdcts, 4, ortho);
    back = ortho ? back : TW_TEMP(Mul, back, 0.5 / (double)half);
    if (!split_last(t, back, parts, 2))
        return NULL;
    tw_tensor *turned = TW_TEMP(Neg, reversed(t, parts[1])), *minus = TW_TEMP(Neg, reversed(t, parts[0])),
              *last = TW_TEMP(Neg, parts[0]);
    tw_tensor *frames = turned && minus && last ? tw__temp_concat(t, TW_IN(parts[1], turned, minus, last), 4, -1) : NULL;
    frames = args->window ? windowed(t, frames, args->window) : TW_TEMP(Mul, frames, M_SQRT1_2);
    return tw__keep(t, tw__signal_overlap(t, frames, half));
}
