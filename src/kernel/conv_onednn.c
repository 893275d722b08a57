/* Convolutions by oneDNN, which is loaded with the first of them and never needed to be there.
 *
 * The batch is cut into as many pieces as there are threads, or images into bands of rows where there are fewer of them; each
 * piece runs single-threaded on one of the pool's threads, so oneDNN's own threads (OpenMP) never start: they collapse when another
 * process competes for the processor. Primitives are made for the piece's size and kept in a bounded table. Filters are brought to the layout that the primitive likes first, and a
 * filter's gradient back to ours; parts of that gradient are summed in the order of the parts, so the result depends on the
 * number of threads alone. */
#include "kernel/conv.h"

#if defined(__has_include)
#if __has_include(<oneapi/dnnl/dnnl.h>)
#define HAVE_HEADER 1
#endif
#endif

#ifndef HAVE_HEADER

bool tw__conv_onednn(tw__conv_kind kind, const tw__conv *conv, const float *a, const float *b, float *result, const tw__epilogue *then,
                     tw_status *status)
{
    (void)then, (void)kind, (void)conv, (void)a, (void)b, (void)result, (void)status;
    return false;
}

bool tw__gemm_onednn_has(int64_t a_row, int64_t a_column, int64_t b_row, int64_t b_column)
{
    (void)a_row, (void)a_column, (void)b_row, (void)b_column;
    return false;
}

bool tw__gemm_onednn(int64_t m, int64_t n, int64_t k, const float *a, int64_t a_row, int64_t a_column, const float *b, int64_t b_row,
                     int64_t b_column, float *c, int64_t c_row)
{
    (void)m, (void)n, (void)k, (void)a, (void)a_row, (void)a_column, (void)b, (void)b_row, (void)b_column, (void)c, (void)c_row;
    return false;
}

#else

#include <dlfcn.h>
#include <oneapi/dnnl/dnnl.h>
#include <pthread.h>
#include <stdlib.h>

enum {
    CACHE_LIMIT = 256,
    PIECES_LIMIT = 64,
    COPY_ELEMENTS = 1 << 14, /* of a filter, that are worth a thread */
    WORK_PER_THREAD = 1 << 20, /* multiplications that are worth a second thread */
};

/* ---- the library ---- */

#define FUNCTIONS(X)                                                                                                             \
    X(dnnl_engine_create)                                                                                                        \
    X(dnnl_stream_create) X(dnnl_stream_destroy) X(dnnl_memory_desc_init_by_strides) X(dnnl_memory_desc_init_by_tag)             \
        X(dnnl_memory_desc_equal) X(dnnl_memory_desc_get_size) X(dnnl_memory_create) X(dnnl_memory_destroy)                      \
            X(dnnl_primitive_attr_create) X(dnnl_primitive_attr_set_scratchpad_mode) X(dnnl_primitive_attr_destroy)              \
                X(dnnl_primitive_desc_create) X(dnnl_primitive_desc_destroy) X(dnnl_primitive_desc_query)                        \
                    X(dnnl_primitive_desc_query_md) X(dnnl_primitive_create) X(dnnl_primitive_destroy) X(dnnl_primitive_execute) \
                        X(dnnl_reorder_primitive_desc_create) X(dnnl_dilated_convolution_forward_desc_init)                      \
                            X(dnnl_dilated_convolution_backward_data_desc_init)                                                  \
                                X(dnnl_dilated_convolution_backward_weights_desc_init) X(dnnl_sgemm)

#define X(name) static __typeof__(name) *p_##name;
FUNCTIONS(X)
#undef X
static int (*p_omp_get_max_threads)(void);
static void (*p_omp_set_num_threads)(int count);
static dnnl_engine_t engine;
static dnnl_primitive_attr_t attributes; /* scratch memory is ours */
static bool available;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void load(void)
{
    const char *wanted = getenv("THALWEG_ONEDNN");
    if (wanted && wanted[0] == '0')
        return;
#define X(name) { #name, (void **)&p_##name },
    static const tw__symbol symbols[] = { FUNCTIONS(X) };
#undef X
    void *library = tw__library_load("libdnnl.so.2", symbols, sizeof symbols / sizeof *symbols);
    if (!library)
        return;
    /* Of the OpenMP that the library itself uses; it is missing if the library was built without. */
    p_omp_get_max_threads = (int (*)(void))dlsym(library, "omp_get_max_threads");
    p_omp_set_num_threads = (void (*)(int))dlsym(library, "omp_set_num_threads");
    available = p_dnnl_engine_create(&engine, dnnl_cpu, 0) == dnnl_success &&
                p_dnnl_primitive_attr_create(&attributes) == dnnl_success &&
                p_dnnl_primitive_attr_set_scratchpad_mode(attributes, dnnl_scratchpad_mode_user) == dnnl_success;
}

/* The thread's own number of OpenMP threads, put back by end_single. */
static int begin_single(void)
{
    if (!p_omp_get_max_threads || !p_omp_set_num_threads)
        return 0;
    int before = p_omp_get_max_threads();
    if (before != 1)
        p_omp_set_num_threads(1);
    return before;
}

static void end_single(int before)
{
    if (before > 1)
        p_omp_set_num_threads(before);
}

/* ---- primitives ---- */

typedef struct entry {
    tw__conv conv; /* with the part's batch */
    tw__conv_kind kind;
    int references;             /* under the lock; the table's own is one of them */
    uint64_t used;              /* when it was last asked for */
    dnnl_primitive_t primitive; /* NULL: there is no fast form */
    dnnl_primitive_t reorder;   /* of the filter to `filter`, or of its gradient back to `own`; NULL: they are the same */
    dnnl_memory_desc_t input, own, filter, output, scratch;
    size_t filter_bytes, scratch_bytes;
} entry;

static tw__lock lock = TW__LOCK;
static entry *table[CACHE_LIMIT];
static int table_count;
static uint64_t clock_now;

static void entry_free(entry *e)
{
    if (e->primitive)
        p_dnnl_primitive_destroy(e->primitive);
    if (e->reorder)
        p_dnnl_primitive_destroy(e->reorder);
    tw__free(e);
}

static void entry_release(entry *e)
{
    tw__lock_take(&lock);
    bool last = --e->references == 0;
    tw__lock_give(&lock);
    if (last)
        entry_free(e);
}

static bool describe_memory(entry *e, dnnl_memory_desc_t *any)
{
    const tw__conv *c = &e->conv;
    dnnl_dims_t input = { c->batch, c->in_channels, c->in[0], c->in[1] },
                output = { c->batch, c->out_channels, c->out[0], c->out[1] };
    int64_t in = c->in_channels / c->groups, out = c->out_channels / c->groups, all = c->out_channels;
    dnnl_dims_t dims = { c->groups, out, in, c->filter[0], c->filter[1] },
                strides = { out, 1, all, c->filter[1] * in * all, in * all };
    int skip = c->groups == 1, rank = 5 - skip;
    return p_dnnl_memory_desc_init_by_tag(&e->input, 4, input, dnnl_f32, dnnl_nhwc) == dnnl_success &&
           p_dnnl_memory_desc_init_by_tag(&e->output, 4, output, dnnl_f32, dnnl_nhwc) == dnnl_success &&
           p_dnnl_memory_desc_init_by_strides(&e->own, rank, dims + skip, dnnl_f32, strides + skip) == dnnl_success &&
           p_dnnl_memory_desc_init_by_tag(any, rank, dims + skip, dnnl_f32, dnnl_format_tag_any) == dnnl_success;
}

static dnnl_primitive_desc_t describe_primitive(entry *e, dnnl_memory_desc_t *any)
{
    const tw__conv *c = &e->conv;
    dnnl_dims_t dilates = { c->dilation[0] - 1, c->dilation[1] - 1 }, strides = { c->stride[0], c->stride[1] };
    dnnl_dims_t before = { c->before[0], c->before[1] }, after = { c->after[0], c->after[1] };
    dnnl_convolution_desc_t forward, backward;
    dnnl_primitive_desc_t made = NULL, hint = NULL;
    dnnl_prop_kind_t mode = e->kind == TW_CONV_OUTPUT ? dnnl_forward_inference : dnnl_forward_training;
    if (p_dnnl_dilated_convolution_forward_desc_init(&forward, mode, dnnl_convolution_direct, &e->input, any, NULL, &e->output,
                                                     strides, dilates, before, after) != dnnl_success ||
        p_dnnl_primitive_desc_create(&hint, &forward, attributes, engine, NULL) != dnnl_success)
        return NULL;
    if (e->kind == TW_CONV_OUTPUT)
        return hint;
    dnnl_status_t status =
        e->kind == TW_CONV_INPUT
            ? p_dnnl_dilated_convolution_backward_data_desc_init(&backward, dnnl_convolution_direct, &e->input, any, &e->output,
                                                                 strides, dilates, before, after)
            : p_dnnl_dilated_convolution_backward_weights_desc_init(&backward, dnnl_convolution_direct, &e->input, any, NULL,
                                                                    &e->output, strides, dilates, before, after);
    if (status != dnnl_success || p_dnnl_primitive_desc_create(&made, &backward, attributes, engine, hint) != dnnl_success)
        made = NULL;
    p_dnnl_primitive_desc_destroy(hint);
    return made;
}

static bool make_reorder(entry *e)
{
    if (p_dnnl_memory_desc_equal(&e->own, &e->filter))
        return true;
    bool back = e->kind == TW_CONV_FILTER;
    dnnl_primitive_desc_t description;
    if (p_dnnl_reorder_primitive_desc_create(&description, back ? &e->filter : &e->own, engine, back ? &e->own : &e->filter,
                                             engine, NULL) != dnnl_success)
        return false;
    dnnl_status_t status = p_dnnl_primitive_create(&e->reorder, description);
    p_dnnl_primitive_desc_destroy(description);
    if (status != dnnl_success)
        e->reorder = NULL;
    return status == dnnl_success;
}

/* Leaves e->primitive NULL if there is none, or only the slow reference form. */
static void entry_fill(entry *e)
{
    dnnl_memory_desc_t any;
    dnnl_primitive_desc_t description = describe_memory(e, &any) ? describe_primitive(e, &any) : NULL;
    if (!description)
        return;
    const char *form = NULL;
    p_dnnl_primitive_desc_query(description, dnnl_query_impl_info_str, 0, &form);
    const dnnl_memory_desc_t *filter = p_dnnl_primitive_desc_query_md(
        description, e->kind == TW_CONV_FILTER ? dnnl_query_diff_weights_md : dnnl_query_weights_md, 0);
    const dnnl_memory_desc_t *scratch = p_dnnl_primitive_desc_query_md(description, dnnl_query_scratchpad_md, 0);
    if (form && !tw__starts_with(form, "ref") && filter && scratch) {
        e->filter = *filter;
        e->scratch = *scratch;
        e->filter_bytes = p_dnnl_memory_desc_get_size(filter);
        e->scratch_bytes = p_dnnl_memory_desc_get_size(scratch);
        if (make_reorder(e) && p_dnnl_primitive_create(&e->primitive, description) != dnnl_success)
            e->primitive = NULL;
    }
    p_dnnl_primitive_desc_destroy(description);
}

static entry *lookup(tw__conv_kind kind, const tw__conv *conv)
{
    for (int i = 0; i < table_count; i++) {
        entry *e = table[i];
        if (e->kind == kind && memcmp(&e->conv, conv, sizeof *conv) == 0) {
            e->used = ++clock_now;
            e->references++;
            return e;
        }
    }
    return NULL;
}

/* A reference; NULL if there is no memory. */
static entry *entry_get(tw__conv_kind kind, const tw__conv *conv)
{
    tw__lock_take(&lock);
    entry *e = lookup(kind, conv);
    tw__lock_give(&lock);
    if (e)
        return e;
    entry *made = tw__alloc_zero(sizeof *made), *old = NULL;
    if (!made)
        return NULL;
    made->conv = *conv;
    made->kind = kind;
    made->references = 2;
    entry_fill(made);
    tw__lock_take(&lock);
    if ((e = lookup(kind, conv))) { /* another thread was faster */
        old = made;
        old->references = 0;
    } else {
        int at = table_count;
        if (table_count < CACHE_LIMIT) {
            table_count++;
        } else {
            at = 0;
            for (int i = 1; i < CACHE_LIMIT; i++)
                at = table[i]->used < table[at]->used ? i : at;
            old = table[at];
            old->references--;
        }
        table[at] = e = made;
        e->used = ++clock_now;
    }
    bool dead = old && old->references == 0;
    tw__lock_give(&lock);
    if (dead)
        entry_free(old);
    return e;
}

/* ---- running ---- */

static size_t aligned(size_t bytes)
{
    return (bytes + 63) & ~(size_t)63;
}

static size_t larger_of(size_t x, size_t y)
{
    return x > y ? x : y;
}

typedef struct argument {
    int place;
    const dnnl_memory_desc_t *memory;
    void *data;
} argument;

static bool execute(dnnl_primitive_t primitive, const argument *arguments, int count)
{
    dnnl_exec_arg_t given[5];
    dnnl_stream_t stream = NULL;
    int made = 0;
    bool good = p_dnnl_stream_create(&stream, engine, dnnl_stream_default_flags) == dnnl_success;
    for (; good && made < count; made += good) {
        given[made].arg = arguments[made].place;
        good = p_dnnl_memory_create(&given[made].memory, arguments[made].memory, engine, arguments[made].data) == dnnl_success;
    }
    good = good && p_dnnl_primitive_execute(primitive, stream, count, given) == dnnl_success;
    for (int i = 0; i < made; i++)
        p_dnnl_memory_destroy(given[i].memory);
    if (stream)
        p_dnnl_stream_destroy(stream);
    return good;
}

/* Some images, or some rows of one image's output, that one thread computes. */
typedef struct piece {
    entry *entry;
    int64_t input_at, output_at; /* where its elements begin */
    char *filter;                /* in the primitive's layout; NULL: ours is that */
} piece;

typedef struct job {
    tw__conv_kind kind;
    const tw__conv *conv;
    piece pieces[PIECES_LIMIT];
    int64_t count;
    const float *a, *b;
    float *result;
    char *scratch;
    char *filter_parts;       /* per piece: the gradient in the primitive's layout, then in ours */
    size_t scratch_each, filter_each, own_bytes;
    const tw__epilogue *then; /* or NULL */
    bool no_memory;
    _Atomic bool failed;
} job;

static void run_piece(job *j, int64_t number)
{
    const tw__conv *c = j->conv;
    const piece *p = &j->pieces[number];
    const entry *e = p->entry;
    argument scratch = { DNNL_ARG_SCRATCHPAD, &e->scratch, j->scratch + (size_t)number * j->scratch_each };
    if (j->kind == TW_CONV_OUTPUT) {
        argument arguments[] = { { DNNL_ARG_SRC, &e->input, (void *)(uintptr_t)(j->a + p->input_at) },
                                 { DNNL_ARG_WEIGHTS, &e->filter, p->filter ? p->filter : (void *)(uintptr_t)j->b },
                                 { DNNL_ARG_DST, &e->output, j->result + p->output_at },
                                 scratch };
        if (!execute(e->primitive, arguments, 4))
            j->failed = true;
        else if (j->then)
            tw__epilogue_piece(j->then, j->result + p->output_at, tw__conv_output_count(&e->conv) / c->out_channels, c->out_channels,
                               c->out_channels, 0);
    } else if (j->kind == TW_CONV_INPUT) {
        argument arguments[] = { { DNNL_ARG_DIFF_DST, &e->output, (void *)(uintptr_t)(j->b + p->output_at) },
                                 { DNNL_ARG_WEIGHTS, &e->filter, p->filter ? p->filter : (void *)(uintptr_t)j->a },
                                 { DNNL_ARG_DIFF_SRC, &e->input, j->result + p->input_at },
                                 scratch };
        if (!execute(e->primitive, arguments, 4))
            j->failed = true;
    } else {
        char *blocked = j->filter_parts + (size_t)number * j->filter_each;
        void *own = number == 0 ? (void *)j->result : blocked + (j->filter_each - j->own_bytes);
        argument arguments[] = { { DNNL_ARG_SRC, &e->input, (void *)(uintptr_t)(j->a + p->input_at) },
                                 { DNNL_ARG_DIFF_DST, &e->output, (void *)(uintptr_t)(j->b + p->output_at) },
                                 { DNNL_ARG_DIFF_WEIGHTS, &e->filter, e->reorder ? blocked : own },
                                 scratch };
        argument back[] = { { DNNL_ARG_FROM, &e->filter, blocked }, { DNNL_ARG_TO, &e->own, own } };
        if (!execute(e->primitive, arguments, 4) || (e->reorder && !execute(e->reorder, back, 2)))
            j->failed = true;
    }
}

static void run_pieces(void *context, int64_t begin, int64_t end)
{
    int before = begin_single();
    for (int64_t i = begin; i < end; i++)
        run_piece(context, i);
    end_single(before);
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

/* The layout that forward primitives like, which we can make in several threads: blocks of output channels. 0: it is another one. */
static int64_t output_block(const entry *e)
{
    const dnnl_memory_desc_t *d = &e->filter;
    const dnnl_blocking_desc_t *blocks = &d->format_desc.blocking;
    if (e->conv.groups != 1 || d->format_kind != dnnl_blocked || blocks->inner_nblks != 1 || blocks->inner_idxs[0] != 0 || d->extra.flags)
        return 0;
    int64_t block = blocks->inner_blks[0], in = e->conv.in_channels, taps = e->conv.filter[0] * e->conv.filter[1] * in;
    bool fits = e->conv.out_channels % block == 0 && blocks->strides[0] == taps * block && blocks->strides[1] == block &&
                blocks->strides[2] == e->conv.filter[1] * in * block && blocks->strides[3] == in * block;
    return fits && d->offset0 == 0 ? block : 0;
}

static void convert_filter(job *j, const entry *e, const float *filter, char *to)
{
    int64_t block = output_block(e);
    if (block) {
        copying k = { filter, (float *)(void *)to, tw__conv_filter_count(&e->conv) / e->conv.out_channels, e->conv.out_channels, block };
        tw__parallel(k.outputs / block, COPY_ELEMENTS / (k.taps * block) + 1, copy_blocks, &k);
        return;
    }
    argument arguments[] = { { DNNL_ARG_FROM, &e->own, (void *)(uintptr_t)filter }, { DNNL_ARG_TO, &e->filter, to } };
    if (!execute(e->reorder, arguments, 2))
        j->failed = true;
}

/* Pieces whose layouts are the same share the filter. `space` has room for one for each piece that has a layout of its own. */
static void convert_filters(job *j, char *space)
{
    const float *filter = j->kind == TW_CONV_OUTPUT ? j->b : j->a;
    int before = begin_single();
    for (int64_t i = 0; i < j->count; i++) {
        piece *p = &j->pieces[i];
        if (!p->entry->reorder)
            continue;
        for (int64_t k = 0; k < i && !p->filter; k++) {
            if (j->pieces[k].entry == p->entry || p_dnnl_memory_desc_equal(&j->pieces[k].entry->filter, &p->entry->filter))
                p->filter = j->pieces[k].filter;
        }
        if (!p->filter) {
            p->filter = space;
            convert_filter(j, p->entry, filter, space);
            space += aligned(p->entry->filter_bytes);
        }
    }
    end_single(before);
}

static tw_status run_job(job *j)
{
    bool gradient = j->kind == TW_CONV_FILTER;
    size_t filter_bytes = 0, filters = 0;
    for (int64_t i = 0; i < j->count; i++) {
        const entry *e = j->pieces[i].entry;
        j->scratch_each = larger_of(j->scratch_each, aligned(e->scratch_bytes));
        filter_bytes = larger_of(filter_bytes, aligned(e->filter_bytes));
        bool seen = false;
        for (int64_t k = 0; k < i && !seen; k++)
            seen = j->pieces[k].entry == e;
        filters += seen ? 0 : aligned(e->filter_bytes);
    }
    j->own_bytes = aligned((size_t)tw__conv_filter_count(j->conv) * sizeof(float));
    j->filter_each = filter_bytes + j->own_bytes;
    tw__buffer *buffer = tw__buffer_new((size_t)j->count * j->scratch_each + (gradient ? (size_t)j->count * j->filter_each : filters));
    if (!buffer)
        return tw__error_status();
    j->scratch = buffer->data;
    char *behind = j->scratch + (size_t)j->count * j->scratch_each;
    if (gradient)
        j->filter_parts = behind;
    else
        convert_filters(j, behind);
    if (j->count == 1)
        run_pieces(j, 0, 1);
    else
        tw__parallel(j->count, 1, run_pieces, j);
    for (int64_t i = 1; gradient && i < j->count; i++) {
        const float *own = (const float *)(j->filter_parts + (size_t)(i + 1) * j->filter_each - j->own_bytes);
        for (int64_t k = 0, count = tw__conv_filter_count(j->conv); k < count; k++)
            j->result[k] += own[k];
    }
    tw__buffer_release(buffer);
    if (!j->failed && j->then && tw__epilogue_rest(j->then))
        tw__unary_run(j->then->activation, TW_FLOAT32, j->result, j->result, tw__conv_output_count(j->conv));
    return j->failed ? tw__fail(TW_INTERNAL, "a convolution failed inside oneDNN") : TW_OK;
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
    piece *p = &j->pieces[j->count];
    p->entry = entry_get(j->kind, part);
    j->no_memory = !p->entry;
    if (j->no_memory)
        return false;
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

/* Fewer images than threads: rows of the output. Rows of the input beyond those that a piece's filters touch are not its own; what
 * lies outside of the image stays padding. */
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

/* The same for the input's gradient, of convolutions without strides: rows of the input, from all rows of the output that touch them. */
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
        entry_release(j->pieces[i].entry);
    j->count = 0;
}

/* False: there is no fast form of some piece, or (with an error) no memory. */
static bool cut(job *j)
{
    const tw__conv *c = j->conv;
    double work = (double)tw__conv_output_count(c) * (double)tw__conv_filter_count(c) / (double)c->out_channels;
    int64_t parts = tw__thread_count();
    if (work < (double)parts * WORK_PER_THREAD)
        parts = (int64_t)(work / WORK_PER_THREAD) + 1;
    if (parts > PIECES_LIMIT)
        parts = PIECES_LIMIT;
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

bool tw__conv_onednn(tw__conv_kind kind, const tw__conv *conv, const float *a, const float *b, float *result, const tw__epilogue *then,
                     tw_status *status)
{
    pthread_once(&once, load);
    if (!available || !is_moderate(conv))
        return false;
    job j = { .kind = kind, .conv = conv, .a = a, .b = b, .result = result, .then = then };
    int before = begin_single();
    bool good = cut(&j), done = true;
    end_single(before);
    if (good)
        *status = run_job(&j);
    else if (j.no_memory)
        *status = tw__error_status();
    else
        done = false;
    drop_pieces(&j);
    return done;
}

/* ---- products ---- */

bool tw__gemm_onednn_has(int64_t a_row, int64_t a_column, int64_t b_row, int64_t b_column)
{
    pthread_once(&once, load);
    return available && (a_row == 1 || a_column == 1) && (b_row == 1 || b_column == 1);
}

bool tw__gemm_onednn(int64_t m, int64_t n, int64_t k, const float *a, int64_t a_row, int64_t a_column, const float *b, int64_t b_row,
                     int64_t b_column, float *c, int64_t c_row)
{
    bool turn_a = a_column != 1, turn_b = b_column != 1;
    int before = begin_single();
    dnnl_status_t status = p_dnnl_sgemm(turn_a ? 'T' : 'N', turn_b ? 'T' : 'N', m, n, k, 1, a, turn_a ? a_column : a_row, b,
                                        turn_b ? b_column : b_row, 0, c, c_row);
    end_single(before);
    return status == dnnl_success;
}

#endif
