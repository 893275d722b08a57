/* Fourier transforms of tensors: one pass per axis. A pass moves lines out of its source (of any of the dtypes, in any strides),
 * transforms them as complex doubles, and moves them into its target. The first pass reads the input, the last one writes the
 * output; between them stands an array of complex doubles. */
#include "kernel/fft.h"
#include "op/signal/signal.h"

enum { BLOCK = 4 }; /* lines that are moved together: neighbours share cache lines where the axis is not the last one */

typedef struct array {
    void *data;
    tw_dtype dtype;
    int64_t strides[TW_MAX_RANK];
} array;

typedef struct pass {
    tw__fft *plan;
    tw__cnum *roots; /* of an even length of real numbers, whose plan has half of it; else NULL */
    const tw__transform *transform;
    array from, to;
    int rank, axis;
    int64_t dims[TW_MAX_RANK]; /* of the lines: 1 along the axis */
    int64_t have[TW_MAX_RANK]; /* what the source has of each dimension; behind it are zeros */
    int64_t length, from_length, to_length;
    int64_t blocks, inner; /* blocks of a row of lines, and that row's dimension */
    bool half_in, half_out;
    atomic_bool failed;
} pass;

static void load(const array *from, int64_t at, int64_t stride, int64_t count, tw__cnum *to)
{
    switch (from->dtype) {
    case TW_FLOAT32:
        for (int64_t i = 0; i < count; i++)
            to[i] = (tw__cnum){ (double)((const float *)from->data)[at + i * stride], 0 };
        return;
    case TW_FLOAT64:
        for (int64_t i = 0; i < count; i++)
            to[i] = (tw__cnum){ ((const double *)from->data)[at + i * stride], 0 };
        return;
    case TW_COMPLEX64:
        for (int64_t i = 0; i < count; i++) {
            const float *number = (const float *)from->data + 2 * (at + i * stride);
            to[i] = (tw__cnum){ (double)number[0], (double)number[1] };
        }
        return;
    default:
        for (int64_t i = 0; i < count; i++)
            to[i] = ((const tw__cnum *)from->data)[at + i * stride];
    }
}

static void store(const array *to, int64_t at, int64_t stride, int64_t count, const tw__cnum *from, double scale)
{
    switch (to->dtype) {
    case TW_FLOAT32:
        for (int64_t i = 0; i < count; i++)
            ((float *)to->data)[at + i * stride] = (float)(from[i].re * scale);
        return;
    case TW_FLOAT64:
        for (int64_t i = 0; i < count; i++)
            ((double *)to->data)[at + i * stride] = from[i].re * scale;
        return;
    case TW_COMPLEX64:
        for (int64_t i = 0; i < count; i++) {
            float *number = (float *)to->data + 2 * (at + i * stride);
            number[0] = (float)(from[i].re * scale);
            number[1] = (float)(from[i].im * scale);
        }
        return;
    default:
        for (int64_t i = 0; i < count; i++)
            ((tw__cnum *)to->data)[at + i * stride] = (tw__cnum){ from[i].re * scale, from[i].im * scale };
    }
}

/* ---- real numbers: of an even length they are the parts of half as many complex ones ---- */

/* The transform of numbers (x0 + i x1), (x2 + i x3) …, made that of x0, x1 …: the first half and the middle one. */
static void unpack(tw__cnum *line, int64_t half, const tw__cnum *roots)
{
    tw__cnum first = line[0];
    for (int64_t k = 1; k <= half / 2; k++) {
        tw__cnum a = line[k], b = line[half - k], w = roots[k];
        tw__cnum even = { (a.re + b.re) / 2, (a.im - b.im) / 2 }, odd = { (a.im + b.im) / 2, (b.re - a.re) / 2 };
        tw__cnum turned = { odd.re * w.re - odd.im * w.im, odd.re * w.im + odd.im * w.re };
        line[k] = (tw__cnum){ even.re + turned.re, even.im + turned.im };
        line[half - k] = (tw__cnum){ even.re - turned.re, turned.im - even.im };
    }
    line[0] = (tw__cnum){ first.re + first.im, 0 };
    line[half] = (tw__cnum){ first.re - first.im, 0 };
}

/* The other way round, times two. The first and the middle number are taken for real. */
static void pack(tw__cnum *line, int64_t half, const tw__cnum *roots)
{
    double first = line[0].re, middle = line[half].re;
    for (int64_t k = 1; k <= half / 2; k++) {
        tw__cnum a = line[k], b = line[half - k], w = roots[k];
        tw__cnum even = { a.re + b.re, a.im - b.im }, turned = { a.re - b.re, a.im + b.im };
        tw__cnum odd = { turned.re * w.re + turned.im * w.im, turned.im * w.re - turned.re * w.im };
        line[k] = (tw__cnum){ even.re - odd.im, even.im + odd.re };
        line[half - k] = (tw__cnum){ even.re + odd.im, odd.re - even.im };
    }
    line[0] = (tw__cnum){ first + middle, first - middle };
}

/* The other half of what is the transform of real numbers. */
static void complete(tw__cnum *line, int64_t length)
{
    line[0].im = 0;
    for (int64_t k = 1; k < (length + 1) / 2; k++)
        line[length - k] = (tw__cnum){ line[k].re, -line[k].im };
}

static void transform_line(const pass *p, tw__cnum *line, tw__cnum *work)
{
    int64_t half = p->length / 2;
    if (!p->roots) {
        if (p->half_in)
            complete(line, p->length);
        (p->transform->inverse ? tw__fft_backward : tw__fft_forward)(p->plan, line, work);
    } else if (p->half_out) {
        for (int64_t k = 0; k < half; k++)
            line[k] = (tw__cnum){ line[2 * k].re, line[2 * k + 1].re };
        tw__fft_forward(p->plan, line, work);
        unpack(line, half, p->roots);
    } else {
        pack(line, half, p->roots);
        tw__fft_backward(p->plan, line, work);
        for (int64_t k = half - 1; k >= 0; k--) {
            tw__cnum both = line[k];
            line[2 * k] = (tw__cnum){ both.re, 0 };
            line[2 * k + 1] = (tw__cnum){ both.im, 0 };
        }
    }
}

/* ---- lines ---- */

/* Where line number `line` begins in both arrays. False: the source has only zeros there. */
static bool line_at(const pass *p, int64_t line, int64_t *from, int64_t *to)
{
    bool there = true;
    *from = *to = 0;
    for (int d = p->rank - 1; d >= 0; d--) {
        int64_t index = line % p->dims[d];
        line /= p->dims[d];
        there = there && (d == p->axis || index < p->have[d]);
        *from += index * p->from.strides[d];
        *to += index * p->to.strides[d];
    }
    return there;
}

static void lines(void *context, int64_t begin, int64_t end)
{
    pass *p = context;
    int64_t n = p->length;
    double scale = p->transform->inverse ? 1 / (double)n : 1;
    tw__owned tw__cnum *buffer = tw__alloc_array((size_t)(BLOCK * (n + 1) + tw__fft_work(p->plan)), sizeof *buffer);
    if (!buffer) {
        atomic_store(&p->failed, true);
        return;
    }
    tw__cnum *work = buffer + BLOCK * (n + 1);
    int64_t given = p->from_length < p->have[p->axis] ? p->from_length : p->have[p->axis];
    for (int64_t i = begin; i < end; i++) {
        int64_t first = i / p->blocks * p->inner + i % p->blocks * BLOCK, row_end = (i / p->blocks + 1) * p->inner;
        int count = row_end - first < BLOCK ? (int)(row_end - first) : BLOCK;
        int64_t from[BLOCK], to[BLOCK];
        for (int b = 0; b < count; b++) {
            bool there = line_at(p, first + b, &from[b], &to[b]);
            int64_t loaded = there ? given : 0;
            if (there)
                load(&p->from, from[b], p->from.strides[p->axis], given, buffer + b * (n + 1));
            memset(buffer + b * (n + 1) + loaded, 0, (size_t)(n + 1 - loaded) * sizeof *buffer);
        }
        for (int b = 0; b < count; b++)
            transform_line(p, buffer + b * (n + 1), work);
        for (int b = 0; b < count; b++)
            store(&p->to, to[b], p->to.strides[p->axis], p->to_length, buffer + b * (n + 1), scale);
    }
}

static void strides_of(const int64_t *dims, int rank, int64_t *strides)
{
    int64_t stride = 1;
    for (int d = rank - 1; d >= 0; d--) {
        strides[d] = stride;
        stride *= dims[d];
    }
}

static tw_status plan_pass(pass *p)
{
    bool packed = (p->half_in || p->half_out) && p->length % 2 == 0;
    p->plan = tw__fft_new(packed ? p->length / 2 : p->length);
    p->roots = packed ? tw__alloc_array((size_t)p->length / 4 + 1, sizeof *p->roots) : NULL;
    for (int64_t k = 0; p->roots && k <= p->length / 4; k++)
        p->roots[k] = tw__fft_root(k, p->length);
    return p->plan && (p->roots || !packed) ? TW_OK : tw__error_status();
}

static tw_status run_pass(pass *p)
{
    int64_t count = 1;
    for (int d = 0; d < p->rank; d++)
        count *= p->dims[d];
    p->inner = p->axis == p->rank - 1 ? count : p->dims[p->rank - 1]; /* lines beside each other */
    p->blocks = (p->inner + BLOCK - 1) / BLOCK;
    tw_status status = plan_pass(p);
    if (status == TW_OK)
        tw__parallel(count / p->inner * p->blocks, 20000 / (BLOCK * p->length) + 1, lines, p);
    tw__fft_free(p->plan);
    tw__free(p->roots);
    return status != TW_OK || !atomic_load(&p->failed) ? status : tw__no_memory(0);
}

/* The array between the passes: the output's dimensions, with half of the last axis where the result is real. */
static tw_status middle_of(const tw__transform *transform, const tw_tensor *output, array *middle, int64_t *dims)
{
    int64_t count = 1;
    int last = transform->axes[transform->count - 1];
    for (int d = 0; d < output->shape.rank; d++) {
        dims[d] = output->shape.dims[d];
        if (d == last && transform->kind == TW_SPECTRUM_TO_REAL)
            dims[d] = dims[d] / 2 + 1;
        if (__builtin_mul_overflow(count, dims[d], &count))
            return tw__no_memory(SIZE_MAX);
    }
    *middle = (array){ .dtype = TW_COMPLEX128 };
    strides_of(dims, output->shape.rank, middle->strides);
    if (transform->count > 1)
        middle->data = tw__alloc_array((size_t)count, sizeof(tw__cnum));
    return transform->count > 1 && !middle->data ? tw__error_status() : TW_OK;
}

tw_status tw__transform_run(const tw__transform *transform, const tw_tensor *input, tw_tensor *output)
{
    array middle, in = { .data = input->data, .dtype = input->dtype }, out = { .data = output->data, .dtype = output->dtype };
    int64_t dims[TW_MAX_RANK];
    int rank = output->shape.rank;
    if (!output->count)
        return TW_OK;
    strides_of(input->shape.dims, rank, in.strides);
    strides_of(output->shape.dims, rank, out.strides);
    TW_TRY(middle_of(transform, output, &middle, dims));
    tw_status status = TW_OK;
    for (int i = 0; status == TW_OK && i < transform->count; i++) {
        /* real numbers have their half axis first, results that are real last */
        int which = transform->kind == TW_SPECTRUM_OF_REAL ? transform->count - 1 - i : i, axis = transform->axes[which];
        bool half = which == transform->count - 1, last = i == transform->count - 1;
        pass p = { .transform = transform, .from = i ? middle : in, .to = last ? out : middle, .rank = rank, .axis = axis };
        p.length = transform->length[which];
        p.half_in = half && transform->kind == TW_SPECTRUM_TO_REAL;
        p.half_out = half && transform->kind == TW_SPECTRUM_OF_REAL;
        p.from_length = p.half_in ? p.length / 2 + 1 : p.length;
        p.to_length = p.half_out ? p.length / 2 + 1 : p.length;
        for (int d = 0; d < rank; d++) {
            p.dims[d] = d == axis ? 1 : dims[d];
            p.have[d] = i ? dims[d] : input->shape.dims[d];
        }
        status = run_pass(&p);
    }
    tw__free(middle.data);
    return status;
}
