/* StringNGrams (strings that follow each other in a row, joined) and UnsortedSegmentJoin (those of a segment, joined). */
#include "base/pause.h"
#include "op/text/text.h"
#include "rows.h"

/* ---- StringNGrams ---- */

typedef struct ngrams {
    const tw_string *data;
    tw_string separator, left, right;
    const int64_t *widths;
    int width_count;
    int64_t pad; /* negative: one less than the width */
    bool keep_short;
} ngrams;

static int64_t pad_of(const ngrams *n, int64_t width)
{
    return n->pad < 0 || n->pad > width - 1 ? width - 1 : n->pad;
}

static int64_t count_of(const ngrams *n, int64_t length, int64_t width)
{
    int64_t count = length + 2 * pad_of(n, width) - width + 1;
    return count > 0 ? count : 0;
}

/* All that a row of `length` strings gives; *whole: there is none, and the row itself, padded, is given instead. */
static int64_t row_count(const ngrams *n, int64_t length, bool *whole)
{
    int64_t count = 0;
    for (int i = 0; i < n->width_count; i++)
        count += count_of(n, length, n->widths[i]);
    *whole = count == 0 && n->keep_short && length > 0 && n->pad >= 0;
    return *whole ? 1 : count;
}

/* The strings and pads that a row's ngrams are made of, added to *pieces; false: more than anybody can want. */
static bool few_pieces(const ngrams *n, int64_t length, int64_t *pieces)
{
    const int64_t most = INT64_C(1) << 34;
    bool whole;
    row_count(n, length, &whole);
    if (whole && (n->pad > most / 2 || (*pieces += length + 2 * n->pad) > most))
        return false;
    for (int i = 0; i < n->width_count; i++) {
        int64_t own;
        if (__builtin_mul_overflow(count_of(n, length, n->widths[i]), n->widths[i], &own) || own > most ||
            (*pieces += own) > most)
            return false;
    }
    return true;
}

/* Number `index` of `count` in a row that begins at `from`. */
static void add_ngram(const ngrams *n, tw__text *text, const tw_string *from, int64_t width, int64_t pad, int64_t index,
                      int64_t count)
{
    int64_t left = pad - index > 0 ? pad - index : 0, behind = pad - (count - index - 1), right = behind > 0 ? behind : 0;
    int64_t first = index - pad > 0 ? index - pad : 0, strings = width - left - right;
    for (int64_t i = 0; i < width; i++) {
        const tw_string *part = i < left ? &n->left : i < left + strings ? &from[first + i - left] : &n->right;
        if (i)
            tw__text_bytes(text, n->separator.data, n->separator.size);
        tw__text_bytes(text, part->data, part->size);
    }
}

static tw_status ngrams_shape(tw__inference *inference)
{
    TW_TRY(tw__need_rank(inference, 0, 1));
    TW_TRY(tw__need_rank(inference, 1, 1));
    inference->out_shapes[0] = TW_SHAPE(-1);
    inference->out_shapes[1] = *inference->shapes[1];
    return TW_OK;
}

static tw_status check_splits(const tw_tensor *splits, int64_t size)
{
    int64_t last = tw_tensor_int_at(splits, 0);
    if (last != 0)
        return tw__fail(TW_INVALID_ARGUMENT, "First split value must be 0, got %lld", (long long)last);
    for (int64_t i = 1; i < splits->count; i++) {
        int64_t split = tw_tensor_int_at(splits, i);
        if (split < last || split > size)
            return tw__fail(TW_INVALID_ARGUMENT, "Invalid split value %lld, must be in [%lld, %lld]", (long long)split,
                            (long long)last, (long long)size);
        last = split;
    }
    if (last != size)
        return tw__fail(TW_INVALID_ARGUMENT, "Last split value must be data size. Expected %lld, got %lld", (long long)size,
                        (long long)last);
    return TW_OK;
}

static void put_split(tw_tensor *splits, int64_t index, int64_t value)
{
    if (splits->dtype == TW_INT32)
        ((int32_t *)splits->data)[index] = (int32_t)value;
    else
        ((int64_t *)splits->data)[index] = value;
}

static tw_status fill_row(const ngrams *n, tw_tensor *out, int64_t at, tw__text *text, const tw_string *from, int64_t length,
                          bool whole)
{
    if (whole) {
        add_ngram(n, text, from, length + 2 * n->pad, n->pad, 0, 1);
        return tw__string_from_text(out, at, text);
    }
    for (int i = 0; i < n->width_count; i++) {
        int64_t width = n->widths[i], count = count_of(n, length, width);
        for (int64_t k = 0; k < count; k++) {
            TW_TRY(tw__pause());
            add_ngram(n, text, from, width, pad_of(n, width), k, count);
            TW_TRY(tw__string_from_text(out, at++, text));
        }
    }
    return TW_OK;
}

static tw_status ngrams_compute(tw__kernel *kernel)
{
    const tw_tensor *data = kernel->inputs[0], *splits = kernel->inputs[1];
    const tw_attr *widths = TW_ATTR(kernel, "ngram_widths");
    ngrams n = { .data = tw__strings(data),
                 .separator = TW_ATTR(kernel, "separator")->s,
                 .left = TW_ATTR(kernel, "left_pad")->s,
                 .right = TW_ATTR(kernel, "right_pad")->s,
                 .widths = widths->ints,
                 .width_count = widths->count,
                 .pad = TW_ATTR(kernel, "pad_width")->i,
                 .keep_short = TW_ATTR(kernel, "preserve_short_sequences")->b };
    for (int i = 0; i < n.width_count; i++) {
        if (n.widths[i] < 1)
            return tw__fail(TW_INVALID_ARGUMENT, "ngram_widths must contain positive values");
        if (n.widths[i] > INT32_MAX || n.pad > INT32_MAX)
            return tw__fail(TW_INVALID_ARGUMENT, "ngram_widths and pad_width must be below 2**31");
    }
    tw_tensor *out_splits = tw__output(kernel, 1, &splits->shape);
    if (!out_splits)
        return tw__error_status();
    if (splits->count == 0) /* no row: TensorFlow gives as many empty strings as there is data */
        return tw__output(kernel, 0, &data->shape) ? TW_OK : tw__error_status();
    TW_TRY(check_splits(splits, data->count));
    int64_t total = 0, pieces = 0;
    bool whole;
    put_split(out_splits, 0, 0);
    for (int64_t i = 1; i < splits->count; i++) {
        if (!few_pieces(&n, tw_tensor_int_at(splits, i) - tw_tensor_int_at(splits, i - 1), &pieces))
            return tw__fail(TW_RESOURCE_EXHAUSTED, "the ngrams would have more than 2**34 parts in all");
        total += row_count(&n, tw_tensor_int_at(splits, i) - tw_tensor_int_at(splits, i - 1), &whole);
        if (total > INT32_MAX && splits->dtype == TW_INT32)
            return tw__fail(TW_INVALID_ARGUMENT, "more ngrams than Tsplits int32 can count");
        put_split(out_splits, i, total);
    }
    tw_tensor *out = tw__output(kernel, 0, &TW_SHAPE(total));
    tw__auto(tw__text_free) tw__text text = { 0 };
    TW_NEED(out);
    for (int64_t i = 1; i < splits->count; i++) {
        int64_t begin = tw_tensor_int_at(splits, i - 1), length = tw_tensor_int_at(splits, i) - begin;
        row_count(&n, length, &whole);
        TW_TRY(fill_row(&n, out, tw_tensor_int_at(out_splits, i - 1), &text, n.data + begin, length, whole));
    }
    return TW_OK;
}

TW_OP(StringNGrams, .inputs = "data: string, data_splits: Tsplits", .outputs = "ngrams: string, ngrams_splits: Tsplits",
      .attrs = "separator: string, ngram_widths: list(int), left_pad: string, right_pad: string, pad_width: int, "
               "preserve_short_sequences: bool, Tsplits: {int32, int64} = int64",
      .shape = ngrams_shape, .compute = ngrams_compute,
      .doc = "Strings that follow each other in the rows of a ragged tensor, joined.");

/* ---- UnsortedSegmentJoin ---- */

static tw_status segments_shape(tw__inference *inference)
{
    const tw_shape *in = inference->shapes[0], *ids = inference->shapes[1];
    if (inference->shapes[2]->rank > 0)
        return tw__fail(TW_INVALID_ARGUMENT, "Number of segments must be a scalar");
    int64_t segments = -1;
    if (inference->values[2]) {
        segments = tw_tensor_int_at(inference->values[2], 0);
        if (segments < 0)
            return tw__fail(TW_INVALID_ARGUMENT, "Number of segments must be non-negative but got %lld", (long long)segments);
    }
    if (ids->rank == 0)
        return tw__fail(TW_INVALID_ARGUMENT, "Segment_id cannot have rank 0");
    if (ids->rank < 0 || in->rank < 0)
        return TW_OK;
    if (ids->rank > in->rank)
        return tw__fail(TW_OUT_OF_RANGE, "Invalid segment_id rank %d for input with %d dimension(s)", ids->rank, in->rank);
    for (int i = 0; i < ids->rank; i++) {
        if (ids->dims[i] >= 0 && in->dims[i] >= 0 && ids->dims[i] != in->dims[i])
            return tw__fail(TW_INVALID_ARGUMENT, "Segment dimension is %lld while input dimension is %lld in rank %d",
                            (long long)ids->dims[i], (long long)in->dims[i], i);
    }
    tw_shape out = { .rank = 1, .dims = { segments } };
    for (int i = ids->rank; i < in->rank; i++)
        out.dims[out.rank++] = in->dims[i];
    inference->out_shapes[0] = out;
    return TW_OK;
}

/* The places of each segment are linked in their order: head and next are numbers of ids, -1 at the end. */
static tw_status segments_join(tw__kernel *kernel, int64_t *head, int64_t *next)
{
    const tw_tensor *in = kernel->inputs[0], *ids = kernel->inputs[1];
    tw_tensor *out = kernel->outputs[0];
    int64_t segments = out->shape.dims[0], inner = ids->count ? in->count / ids->count : 0;
    tw_string separator = TW_ATTR(kernel, "separator")->s;
    for (int64_t i = 0; i < segments; i++)
        head[i] = -1;
    for (int64_t i = ids->count - 1; i >= 0; i--) {
        int64_t id = tw_tensor_int_at(ids, i);
        if (id < 0 || id >= segments)
            return tw__fail(TW_INVALID_ARGUMENT,
                            "segment_ids are not allowed to exceed num_segments or to have negative values.");
        next[i] = head[id];
        head[id] = i;
    }
    tw__auto(tw__text_free) tw__text text = { 0 };
    for (int64_t k = 0; inner && k < out->count; k++) {
        for (int64_t i = head[k / inner]; i >= 0; i = next[i]) {
            if (i != head[k / inner])
                tw__text_bytes(&text, separator.data, separator.size);
            const tw_string *part = &tw__strings(in)[i * inner + k % inner];
            tw__text_bytes(&text, part->data, part->size);
        }
        TW_TRY(tw__string_from_text(out, k, &text));
    }
    return TW_OK;
}

static tw_status segments_compute(tw__kernel *kernel)
{
    int64_t segments = kernel->outputs[0]->shape.dims[0];
    tw__owned int64_t *head = tw__alloc_array((size_t)segments + 1, sizeof *head);
    tw__owned int64_t *next = head ? tw__alloc_array((size_t)kernel->inputs[1]->count + 1, sizeof *next) : NULL;
    tw_status status = next ? segments_join(kernel, head, next) : tw__error_status();
    return status;
}

TW_OP(UnsortedSegmentJoin, .inputs = "inputs: string, segment_ids: Tindices, num_segments: Tnumsegments",
      .outputs = "output: string",
      .attrs = "separator: string = '', Tindices: {int32, int64}, Tnumsegments: {int32, int64} = int32", .shape = segments_shape,
      .compute = segments_compute,
      .function = "strings.unsorted_segment_join(inputs: tensor<string>, segment_ids: tensor<int32>, "
                  "num_segments: tensor<int32>, separator: str = '', name: str = None) -> tensor",
      .doc = "The strings of each segment joined.\n"
             "inputs: strings\n"
             "example: tf.strings.unsorted_segment_join(['a', 'b', 'c'], [1, 0, 1], 2).numpy().tolist()  # [b'b', b'ac']");
