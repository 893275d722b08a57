/* Convolutions by oneDNN.
 *
 * The batch is cut into pieces, or images into bands of rows where there are few of them; each piece runs single-threaded on one
 * of the pool's threads. Filters are brought to the layout that the primitive likes first, and a filter's gradient back to ours.
 *
 * An output and an input's gradient have as many pieces as there are threads: each element is one piece's alone. A filter's
 * gradient is the sum of all pieces. Their number follows from the sizes, and they are added in their order, so the number of
 * threads changes nothing. Where that would be many seconds' work for a thread there are more pieces; after each round of them
 * the caller may stop. */
#include "base/pause.h"
#include "kernel/conv/conv.h"
#include "kernel/conv/conv_primitive.h"
#include "kernel/simd.h"

size_t tw__conv_guard;

#ifndef TW_HAVE_ONEDNN

bool tw__conv_onednn(tw__conv_kind kind, const tw__conv *conv, const float *a, const float *b, float *result,
                     const tw__epilogue *then, tw_status *status)
{
    (void)then, (void)kind, (void)conv, (void)a, (void)b, (void)result, (void)status;
    return false;
}

#else

enum {
    THREADS_LIMIT = 64,
    COPY_ELEMENTS = 1 << 14,   /* of a filter, that are worth a thread */
    WORK_PER_THREAD = 1 << 20, /* multiplications that are worth a second thread */
    GRADIENT_PIECES = 32,      /* most pieces of a filter's gradient */
    GRADIENT_WORK = 1 << 22,   /* multiplications in one of them, at least */
    GRADIENT_PIXELS = 384,     /* and pixels: zeroing and adding a part costs about as much as a few of them */
    GUARD = 0xa5,
};
static const double PIECE_WORK = (double)(1ull << 32); /* multiplications of one piece, at most: about a tenth of a second */

/* Some images, or some rows of one image's output, that one thread computes. */
typedef struct piece {
    tw__conv_entry *entry;
    int64_t input_at, output_at; /* where its elements begin */
    char *filter;                /* in the primitive's layout; NULL: ours is that */
} piece;

typedef struct job {
    tw__conv_kind kind;
    const tw__conv *conv;
    piece *pieces;
    size_t capacity;
    int64_t count;
    tw__stopper stopper;
    const float *a, *b;
    float *result;
    const tw__epilogue *then; /* or NULL */
    char *scratch, *filters;  /* for each piece that runs now; converted filters, or parts of the gradient */
    size_t scratch_bytes, filter_bytes, scratch_each, filter_each;
    bool one_layout;        /* all pieces have the filter in the same one */
    char *sum;              /* of the gradient, in that layout */
    int64_t first, running; /* pieces that run now */
    bool no_memory;
    _Atomic bool failed;
} job;

/* ---- memory ---- */

static size_t aligned(size_t bytes)
{
    return (bytes + 63) & ~(size_t)63;
}

static size_t larger_of(size_t x, size_t y)
{
    return x > y ? x : y;
}

/* What the pieces need of it. */
static void measure(job *j)
{
    const tw__conv_entry *first = j->pieces[0].entry;
    j->one_layout = true;
    for (int64_t i = 0; i < j->count; i++) {
        const tw__conv_entry *e = j->pieces[i].entry;
        j->scratch_bytes = larger_of(j->scratch_bytes, e->scratch_bytes);
        j->filter_bytes = larger_of(j->filter_bytes, e->filter_bytes);
        j->one_layout = j->one_layout && (e == first || tw__dnn.memory_desc_equal(&e->filter, &first->filter));
    }
    j->filter_bytes = larger_of(j->filter_bytes, (size_t)tw__conv_filter_count(j->conv) * sizeof(float));
    j->scratch_each = aligned(j->scratch_bytes) + tw__conv_guard;
    j->filter_each = aligned(j->filter_bytes) + tw__conv_guard;
}

/* `running` pieces' scratch, then `filters` filters. */
static tw__buffer *take_memory(job *j, int64_t running, int64_t filters)
{
    size_t total = (size_t)running * j->scratch_each + (size_t)filters * j->filter_each;
    tw__buffer *buffer = tw__buffer_new(total);
    if (!buffer)
        return NULL;
    if (tw__conv_guard)
        memset(buffer->data, GUARD, total);
    j->scratch = buffer->data;
    j->filters = j->scratch + (size_t)running * j->scratch_each;
    return buffer;
}

static bool is_untouched(const char *from, size_t used, size_t each, int64_t count)
{
    bool good = true;
    for (int64_t i = 0; i < count; i++) {
        for (size_t k = used; k < each; k++)
            good = good && (unsigned char)from[(size_t)i * each + k] == GUARD;
    }
    return good;
}

static tw_status give_memory(job *j, tw__buffer *buffer, int64_t running, int64_t filters)
{
    bool overrun = tw__conv_guard && (!is_untouched(j->scratch, j->scratch_bytes, j->scratch_each, running) ||
                                      !is_untouched(j->filters, j->filter_bytes, j->filter_each, filters));
    tw__buffer_release(buffer);
    return overrun     ? tw__fail(TW_INTERNAL, "a convolution wrote behind its memory inside oneDNN")
           : j->failed ? tw__fail(TW_INTERNAL, "a convolution failed inside oneDNN")
                       : TW_OK;
}

/* ---- filters in the primitives' layouts ---- */

typedef struct copying {
    const float *from;
    float *to;
    int64_t taps, outputs, block;
} copying;

/* [taps, outputs] to [outputs / block, taps, block]. */
static void copy_blocks(void *context, int64_t begin, int64_t end)
{
    const copying *k = context;
    for (int64_t o = begin; o < end; o++) {
        float *to = k->to + o * k->taps * k->block;
        for (int64_t tap = 0; tap < k->taps; tap++, to += k->block)
            memcpy(to, k->from + tap * k->outputs + o * k->block, (size_t)k->block * sizeof *to);
    }
}

/* The layout that forward primitives like, which we can make in several threads: blocks of output channels. 0: it is another one.
 */
static int64_t output_block(const tw__conv_entry *e)
{
    const dnnl_memory_desc_t *d = &e->filter;
    const dnnl_blocking_desc_t *blocks = &d->format_desc.blocking;
    if (e->conv.groups != 1 || d->format_kind != dnnl_blocked || blocks->inner_nblks != 1 || blocks->inner_idxs[0] != 0 ||
        d->extra.flags)
        return 0;
    int64_t block = blocks->inner_blks[0], in = e->conv.in_channels, taps = e->conv.filter[0] * e->conv.filter[1] * in;
    bool fits = e->conv.out_channels % block == 0 && blocks->strides[0] == taps * block && blocks->strides[1] == block &&
                blocks->strides[2] == e->conv.filter[1] * in * block && blocks->strides[3] == in * block;
    return fits && d->offset0 == 0 ? block : 0;
}

static void convert_filter(job *j, const tw__conv_entry *e, const float *filter, char *to)
{
    int64_t block = output_block(e);
    if (block) {
        copying k = { filter, (float *)(void *)to, tw__conv_filter_count(&e->conv) / e->conv.out_channels, e->conv.out_channels,
                      block };
        tw__parallel(k.outputs / block, COPY_ELEMENTS / (k.taps * block) + 1, copy_blocks, &k);
        return;
    }
    tw__onednn_argument arguments[] = { { DNNL_ARG_FROM, &e->own, (void *)(uintptr_t)filter }, { DNNL_ARG_TO, &e->filter, to } };
    if (!tw__onednn_execute(e->reorder, arguments, 2))
        j->failed = true;
}

/* Pieces whose layouts are the same share the filter. */
static void convert_filters(job *j)
{
    const float *filter = j->kind == TW_CONV_OUTPUT ? j->b : j->a;
    char *space = j->filters;
    tw__onednn_use use;
    tw__onednn_begin(&use);
    for (int64_t i = 0; i < j->count; i++) {
        piece *p = &j->pieces[i];
        if (!p->entry->reorder)
            continue;
        for (int64_t k = 0; k < i && !p->filter; k++) {
            if (tw__dnn.memory_desc_equal(&j->pieces[k].entry->filter, &p->entry->filter))
                p->filter = j->pieces[k].filter;
        }
        if (!p->filter) {
            p->filter = space;
            convert_filter(j, p->entry, filter, space);
            space += j->filter_each;
        }
    }
    tw__onednn_end(&use);
}

/* ---- outputs and inputs' gradients ---- */

static void run_piece(job *j, int64_t number)
{
    const tw__conv *c = j->conv;
    const piece *p = &j->pieces[number];
    const tw__conv_entry *e = p->entry;
    bool forward = j->kind == TW_CONV_OUTPUT;
    const float *from = forward ? j->a + p->input_at : j->b + p->output_at, *filter = forward ? j->b : j->a;
    float *to = j->result + (forward ? p->output_at : p->input_at);
    tw__onednn_argument arguments[] = {
        { forward ? DNNL_ARG_SRC : DNNL_ARG_DIFF_DST, forward ? &e->input : &e->output, (void *)(uintptr_t)from },
        { DNNL_ARG_WEIGHTS, &e->filter, p->filter ? p->filter : (void *)(uintptr_t)filter },
        { forward ? DNNL_ARG_DST : DNNL_ARG_DIFF_SRC, forward ? &e->output : &e->input, to },
        { DNNL_ARG_SCRATCHPAD, &e->scratch, j->scratch + (size_t)(number - j->first) * j->scratch_each },
    };
    if (!tw__onednn_execute(e->primitive, arguments, 4))
        j->failed = true;
    else if (j->then)
        tw__epilogue_piece(j->then, to, tw__conv_output_count(&e->conv) / c->out_channels, c->out_channels, c->out_channels, 0);
}

static void run_pieces(void *context, int64_t begin, int64_t end)
{
    job *j = context;
    tw__onednn_use use;
    tw__onednn_begin(&use);
    for (int64_t i = begin; i < end; i++)
        run_piece(j, j->first + i);
    tw__onednn_end(&use);
}

/* How many pieces run at once. */
static int64_t most_at_once(const job *j)
{
    return j->count < tw__thread_count() ? j->count : tw__thread_count();
}

/* Runs the next pieces. False: all are done, or the caller shall stop. */
static bool next_round(job *j, int64_t most, void (*work)(void *context, int64_t begin, int64_t end))
{
    j->first += j->running;
    j->running = j->count - j->first < most ? j->count - j->first : most;
    if (!j->running || (j->first && tw__stopper_asked(&j->stopper)))
        return false;
    if (j->running == 1)
        work(j, 0, 1);
    else
        tw__parallel(j->running, 1, work, j);
    return true;
}

static tw_status run_job(job *j)
{
    int64_t filters = 0, most = most_at_once(j);
    measure(j);
    for (int64_t i = 0; i < j->count; i++) {
        bool seen = !j->pieces[i].entry->reorder;
        for (int64_t k = 0; k < i && !seen; k++)
            seen = j->pieces[k].entry == j->pieces[i].entry;
        filters += !seen;
    }
    tw__buffer *buffer = take_memory(j, most, filters);
    if (!buffer)
        return tw__error_status();
    convert_filters(j);
    while (next_round(j, most, run_pieces))
        continue;
    if (!j->failed && j->then && tw__epilogue_rest(j->then))
        tw__unary_run(j->then->activation, TW_FLOAT32, j->result, j->result, tw__conv_output_count(j->conv));
    return give_memory(j, buffer, most, filters);
}

/* ---- filters' gradients ---- */

/* Where a running piece's part of the gradient lies; the very first one's is the sum already. */
static char *part_of(const job *j, int64_t number)
{
    return number == 0 ? j->sum : j->filters + (size_t)(number - j->first) * j->filter_each;
}

static void run_gradient_piece(job *j, int64_t number)
{
    const piece *p = &j->pieces[number];
    const tw__conv_entry *e = p->entry;
    bool turn = e->reorder && !j->one_layout; /* back to our layout at once */
    char *part = part_of(j, number), *made = turn ? part_of(j, number + j->running) : part;
    tw__onednn_argument arguments[] = {
        { DNNL_ARG_SRC, &e->input, (void *)(uintptr_t)(j->a + p->input_at) },
        { DNNL_ARG_DIFF_DST, &e->output, (void *)(uintptr_t)(j->b + p->output_at) },
        { DNNL_ARG_DIFF_WEIGHTS, &e->filter, made },
        { DNNL_ARG_SCRATCHPAD, &e->scratch, j->scratch + (size_t)(number - j->first) * j->scratch_each },
    };
    tw__onednn_argument back[] = { { DNNL_ARG_FROM, &e->filter, made }, { DNNL_ARG_TO, &e->own, part } };
    if (!tw__onednn_execute(e->primitive, arguments, 4) || (turn && !tw__onednn_execute(e->reorder, back, 2)))
        j->failed = true;
}

static void run_gradient_pieces(void *context, int64_t begin, int64_t end)
{
    job *j = context;
    tw__onednn_use use;
    tw__onednn_begin(&use);
    for (int64_t i = begin; i < end; i++)
        run_gradient_piece(j, j->first + i);
    tw__onednn_end(&use);
}

/* Adds the parts that ran to the sum, in their order. */
static void add_parts(void *context, int64_t begin, int64_t end)
{
    const job *j = context;
    float *sum = (float *)(void *)j->sum;
    for (int64_t number = j->first; number < j->first + j->running; number++) {
        const float *part = (const float *)(const void *)part_of(j, number);
        if (part == sum)
            continue;
        TW_INDEPENDENT
        for (int64_t k = begin; k < end; k++)
            sum[k] += part[k];
    }
}

static tw_status run_gradient(job *j)
{
    int64_t most = most_at_once(j);
    tw__conv_entry *zero = j->pieces[0].entry;
    measure(j);
    bool turn = j->one_layout && zero->reorder; /* the sum, when it is whole */
    int64_t parts = j->one_layout ? most : 2 * most, filters = parts + turn;
    tw__buffer *buffer = take_memory(j, most, filters);
    if (!buffer)
        return tw__error_status();
    j->sum = turn ? j->filters + (size_t)parts * j->filter_each : (char *)j->result;
    int64_t elements =
        (int64_t)((turn ? zero->filter_bytes : (size_t)tw__conv_filter_count(j->conv) * sizeof(float)) / sizeof(float));
    while (next_round(j, most, run_gradient_pieces))
        tw__parallel(elements, COPY_ELEMENTS, add_parts, j);
    tw__onednn_argument back[] = { { DNNL_ARG_FROM, &zero->filter, j->sum }, { DNNL_ARG_TO, &zero->own, j->result } };
    tw__onednn_use use;
    tw__onednn_begin(&use);
    if (turn && !j->failed && !tw__onednn_execute(zero->reorder, back, 2))
        j->failed = true;
    tw__onednn_end(&use);
    return give_memory(j, buffer, most, filters);
}

/* ---- cutting ---- */

/* Where the i-th of `parts` nearly equal parts of `total` begins. */
static int64_t part_begin(int64_t total, int64_t parts, int64_t i)
{
    return total / parts * i + (i < total % parts ? i : total % parts);
}

static bool add_piece(job *j, const tw__conv *part, int64_t image, int64_t first_input_row, int64_t first_output_row)
{
    const tw__conv *c = j->conv;
    tw__conv_entry *entry =
        TW_GROW(j->pieces, j->capacity, (size_t)j->count + 1) == TW_OK ? tw__conv_entry_get(j->kind, part) : NULL;
    j->no_memory = !entry;
    if (j->no_memory)
        return false;
    piece *p = &j->pieces[j->count];
    *p = (piece){ .entry = entry };
    p->input_at = (image * c->in[0] + first_input_row) * c->in[1] * c->in_channels;
    p->output_at = (image * c->out[0] + first_output_row) * c->out[1] * c->out_channels;
    j->count++;
    return p->entry->primitive != NULL;
}

static bool cut_batch(job *j, int64_t parts)
{
    tw__conv part = *j->conv;
    for (int64_t i = 0; i < parts; i++) {
        int64_t first = part_begin(j->conv->batch, parts, i);
        part.batch = part_begin(j->conv->batch, parts, i + 1) - first;
        if (!add_piece(j, &part, first, 0, 0))
            return false;
    }
    return true;
}

/* Fewer images than threads: rows of the output. Rows of the input beyond those that a piece's filters touch are not its own;
 * what lies outside of the image stays padding. */
static bool cut_rows(job *j, int64_t slabs)
{
    const tw__conv *c = j->conv;
    int64_t reach = (c->filter[0] - 1) * c->dilation[0] + 1;
    for (int64_t image = 0; image < c->batch; image++) {
        for (int64_t i = 0; i < slabs; i++) {
            int64_t first = part_begin(c->out[0], slabs, i), rows = part_begin(c->out[0], slabs, i + 1) - first;
            int64_t top = first * c->stride[0] - c->before[0], bottom = (first + rows - 1) * c->stride[0] - c->before[0] + reach;
            int64_t begin = top < 0 ? 0 : top, end = bottom < c->in[0] ? bottom : c->in[0];
            if (begin >= end) /* padding alone */
                return false;
            tw__conv part = *c;
            part.batch = 1;
            part.in[0] = end - begin;
            part.out[0] = rows;
            part.before[0] = begin - top;
            part.after[0] = bottom - end;
            if (!add_piece(j, &part, image, begin, first))
                return false;
        }
    }
    return true;
}

/* The same for the input's gradient, of convolutions without strides: rows of the input, from all rows of the output that touch
 * them. */
static bool cut_input_rows(job *j, int64_t slabs)
{
    const tw__conv *c = j->conv;
    int64_t reach = (c->filter[0] - 1) * c->dilation[0] + 1;
    for (int64_t image = 0; image < c->batch; image++) {
        for (int64_t i = 0; i < slabs; i++) {
            int64_t first = part_begin(c->in[0], slabs, i), end = part_begin(c->in[0], slabs, i + 1);
            int64_t top = first + c->before[0] - reach + 1, bottom = end + c->before[0];
            top = top < 0 ? 0 : top;
            bottom = bottom < c->out[0] ? bottom : c->out[0];
            tw__conv part = *c;
            part.batch = 1;
            part.in[0] = end - first;
            part.out[0] = bottom - top;
            part.before[0] = first - top + c->before[0];
            part.after[0] = part.out[0] - 1 + reach - part.in[0] - part.before[0];
            if (top >= bottom || part.after[0] < 0 || !add_piece(j, &part, image, first, top))
                return false;
        }
    }
    return true;
}

static void drop_pieces(job *j)
{
    for (int64_t i = 0; i < j->count; i++)
        tw__conv_entry_release(j->pieces[i].entry);
    j->count = 0;
}

/* How many pieces are wanted. */
static int64_t piece_count(const job *j)
{
    const tw__conv *c = j->conv;
    double work = (double)tw__conv_output_count(c) * (double)tw__conv_filter_count(c) / (double)c->out_channels;
    if (j->kind == TW_CONV_FILTER) {
        double pixels = (double)c->batch * (double)c->out[0] * (double)c->out[1];
        int64_t parts = 1;
        while ((2 * parts <= GRADIENT_PIECES || work / (double)parts > PIECE_WORK) &&
               work / GRADIENT_WORK >= (double)(2 * parts) && pixels / GRADIENT_PIXELS >= (double)(2 * parts))
            parts *= 2;
        return parts;
    }
    int64_t parts = tw__thread_count();
    if (work < (double)parts * WORK_PER_THREAD)
        parts = (int64_t)(work / WORK_PER_THREAD) + 1;
    parts = parts > THREADS_LIMIT ? THREADS_LIMIT : parts;
    return parts * ((int64_t)(work / (double)parts / PIECE_WORK) + 1);
}

/* False: there is no fast form of some piece, or (with an error) no memory. */
static bool cut(job *j)
{
    const tw__conv *c = j->conv;
    int64_t parts = piece_count(j);
    if (parts > c->batch && (j->kind != TW_CONV_INPUT || c->stride[0] == 1)) {
        int64_t slabs = parts / c->batch, rows = j->kind == TW_CONV_INPUT ? c->in[0] : c->out[0];
        if (slabs > rows)
            slabs = rows;
        if (slabs > 1 && (j->kind == TW_CONV_INPUT ? cut_input_rows(j, slabs) : cut_rows(j, slabs)))
            return true;
        if (j->no_memory)
            return false;
        drop_pieces(j);
    }
    return cut_batch(j, parts < c->batch ? parts : c->batch);
}

/* Not these: with AVX-512 the library's 2.6 gathers the pixels of a 1 x 1 filter with strides into vectors of whole 16 channels,
 * and writes behind its memory, or gives wrong gradients, where the channels end earlier. conv_stride.c takes the strides away
 * before. */
static bool is_sound(const tw__conv *conv)
{
    return !tw__conv_strides_only(conv);
}

/* Inside, the library computes offsets in int. */
static bool is_moderate(const tw__conv *conv)
{
    const int64_t *pairs[] = { conv->in, conv->out, conv->filter, conv->stride, conv->dilation, conv->before, conv->after };
    bool moderate = conv->in_channels < 1 << 20 && conv->out_channels < 1 << 20;
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++)
        moderate = moderate && pairs[i][0] < 1 << 14 && pairs[i][1] < 1 << 14;
    return moderate && tw__conv_filter_count(conv) < 1 << 29 && tw__conv_input_count(conv) / conv->batch < 1 << 29 &&
           tw__conv_output_count(conv) / conv->batch < 1 << 29;
}

bool tw__conv_onednn(tw__conv_kind kind, const tw__conv *conv, const float *a, const float *b, float *result,
                     const tw__epilogue *then, tw_status *status)
{
    if (!tw__onednn_load() || !is_moderate(conv) || !is_sound(conv))
        return false;
    job j = { .kind = kind, .conv = conv, .a = a, .b = b, .result = result, .then = then };
    tw__stopper_begin(&j.stopper);
    tw__onednn_use use;
    tw__onednn_begin(&use);
    bool good = cut(&j), done = true;
    tw__onednn_end(&use);
    if (good)
        *status = kind == TW_CONV_FILTER ? run_gradient(&j) : run_job(&j);
    else if (j.no_memory)
        *status = tw__error_status();
    else
        done = false;
    if (done && *status == TW_OK)
        *status = tw__stopper_status(&j.stopper);
    drop_pieces(&j);
    tw__free(j.pieces);
    return done;
}

#endif
