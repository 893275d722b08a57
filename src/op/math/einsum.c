/* Einsum: sums of products over labelled dimensions, "ij,jk->ik", of one operand or two. A label that stands twice in one operand
 * takes its diagonal, twice in the result puts onto one; "..." stands for the dimensions that have no label, which are broadcast.
 *
 * Each label is one of: batch (both operands and the result), free (one of them and the result), summed (both, not the result) or
 * dropped (one operand alone: summed before anything else). An operand is brought into the order batch, free, summed, unless it
 * lies so; then the whole is a batch of matrix products. */
#include "kernel/copy.h"
#include "kernel/gemm/gemm.h"
#include "kernel/kernel.h"
#include "kernel/reduce/reduce.h"
#include "op/gradient.h"
#include "op/wording.h"
#include "rows.h"

enum { OPERANDS = 2, MOST = 3 * TW_MAX_RANK, ELLIPSIS = 256 };

/* What stands between the commas: labels as numbers, ELLIPSIS for "...". */
typedef struct subscripts {
    const char *text;
    int size;
    int labels[MOST], count;
    bool ellipsis;
} subscripts;

typedef struct equation {
    subscripts inputs[OPERANDS], output;
    int input_count;
} equation;

static tw_status parse_one(const char *text, size_t size, subscripts *out)
{
    *out = (subscripts){ .text = text, .size = (int)size };
    for (size_t i = 0; i < size; i++) {
        if (out->count == MOST)
            return tw__fail(TW_INVALID_ARGUMENT, "too many labels in '%.*s'", (int)size, text);
        if (size - i >= 3 && memcmp(text + i, "...", 3) == 0) {
            if (out->ellipsis)
                return tw__fail(TW_INVALID_ARGUMENT, "more than one ellipsis (...) in '%.*s'", (int)size, text);
            out->ellipsis = true;
            out->labels[out->count++] = ELLIPSIS;
            i += 2;
        } else {
            out->labels[out->count++] = (unsigned char)text[i];
        }
    }
    return TW_OK;
}

static tw_status parse(tw_string text, int operands, equation *out)
{
    const char *end = text.data + text.size, *arrow = memmem(text.data, text.size, "->", 2);
    if (!arrow || memmem(arrow + 2, (size_t)(end - arrow - 2), "->", 2))
        return tw__fail(TW_INVALID_ARGUMENT, "Expecting exactly one '->' in einsum equation: %.*s", (int)text.size, text.data);
    int count = 1;
    for (const char *p = text.data; p < arrow; p++)
        count += *p == ',';
    if (count > OPERANDS)
        return tw__fail(TW_INVALID_ARGUMENT, "Expecting 1 or 2 input subscripts in equation '%.*s' but got: %d", (int)text.size,
                        text.data, count);
    if (count != operands)
        return tw__fail(TW_INVALID_ARGUMENT, "Expected %d inputs but got: %d", count, operands);
    const char *begin = text.data;
    for (int i = 0; i < count; i++) {
        const char *comma = memchr(begin, ',', (size_t)(arrow - begin)), *stop = comma ? comma : arrow;
        TW_TRY(parse_one(begin, (size_t)(stop - begin), &out->inputs[i]));
        begin = stop + 1;
    }
    out->input_count = count;
    return parse_one(arrow + 2, (size_t)(end - arrow - 2), &out->output);
}

static bool has(const subscripts *s, int label)
{
    for (int i = 0; i < s->count; i++) {
        if (s->labels[i] == label)
            return true;
    }
    return false;
}

/* ---- shapes ---- */

/* A dimension of the whole: its label, or ELLIPSIS + its place from the right; its size, and how operands and result step along
 * it. */
typedef struct axis {
    int label;
    int64_t dim;
    bool in[OPERANDS], out; /* where it stands; an operand that repeats itself along it does not have it */
    int64_t strides[OPERANDS], out_stride;
} axis;

typedef struct axes {
    axis items[MOST];
    int count, broadcast; /* broadcast: dimensions of "..." in the result */
} axes;

static axis *axis_of(axes *all, int label)
{
    for (int i = 0; i < all->count; i++) {
        if (all->items[i].label == label)
            return &all->items[i];
    }
    axis *made = &all->items[all->count++];
    *made = (axis){ .label = label, .dim = label >= ELLIPSIS ? 1 : -1 };
    return made;
}

/* The labels of an operand's dimensions, "..." replaced by as many as are left. */
static tw_status expand(const subscripts *s, int input, const tw_shape *shape, int *labels)
{
    int left = shape->rank - (s->count - s->ellipsis), position = 0;
    if (left < 0 || (left > 0 && !s->ellipsis))
        return tw__fail(TW_INVALID_ARGUMENT, "Expected input %d to have rank %s%d but got: %d", input,
                        s->ellipsis ? "at least " : "", s->count - s->ellipsis, shape->rank);
    for (int i = 0; i < s->count; i++) {
        if (s->labels[i] != ELLIPSIS) {
            labels[position++] = s->labels[i];
            continue;
        }
        for (int k = left; k > 0; k--)
            labels[position++] = ELLIPSIS + k - 1;
    }
    return TW_OK;
}

static tw_status note_operand(axes *all, const subscripts *s, int input, const tw_shape *shape)
{
    int labels[TW_MAX_RANK];
    int64_t strides[TW_MAX_RANK];
    TW_TRY(expand(s, input, shape, labels));
    if (tw__shape_known(shape))
        tw__strides(shape, strides);
    for (int i = 0; i < shape->rank; i++) {
        axis *a = axis_of(all, labels[i]);
        int64_t dim = shape->dims[i];
        if (labels[i] >= ELLIPSIS) {
            if (labels[i] - ELLIPSIS + 1 > all->broadcast)
                all->broadcast = labels[i] - ELLIPSIS + 1;
            if (dim != 1 && a->dim != 1 && dim >= 0 && a->dim >= 0 && dim != a->dim)
                return tw__fail(TW_INVALID_ARGUMENT, "Invalid broadcasting dimensions: %lld vs. %lld", (long long)a->dim,
                                (long long)dim);
            if (a->dim == 1 || (dim > 1 && a->dim < 0) || dim == 0)
                a->dim = dim;
        } else if (dim >= 0 && a->dim >= 0 && dim != a->dim) {
            return tw__fail(TW_INVALID_ARGUMENT,
                            "Expected dimension %lld at axis %d of the input shaped %s but got dimension %lld", (long long)a->dim,
                            i, tw__shape_text(shape), (long long)dim);
        } else if (dim >= 0) {
            a->dim = dim;
        }
        if (labels[i] < ELLIPSIS || dim != 1) {
            a->in[input] = true;
            a->strides[input] += tw__shape_known(shape) ? strides[i] : 0;
        }
    }
    return TW_OK;
}

/* The shape of the result, its axes marked. */
static tw_status note_output(const tw_op *op, axes *all, const subscripts *s, tw_shape *out)
{
    if (all->broadcast && !s->ellipsis)
        return tw__fail(TW_INVALID_ARGUMENT,
                        "Output contains %d broadcasting dimension(s) but no ellipsis (...) was found in the output subscripts.",
                        all->broadcast);
    if (s->count - s->ellipsis + all->broadcast > TW_MAX_RANK)
        return tw__fail(TW_UNIMPLEMENTED, "%s: the result would have rank %d, at most %d are supported", op->name,
                        s->count - s->ellipsis + all->broadcast, TW_MAX_RANK);
    int order[TW_MAX_RANK];
    out->rank = 0;
    for (int i = 0; i < s->count; i++) {
        int times = s->labels[i] == ELLIPSIS ? all->broadcast : 1;
        for (int k = times; k > 0; k--) {
            int label = s->labels[i] == ELLIPSIS ? ELLIPSIS + k - 1 : s->labels[i], known = all->count;
            axis *a = axis_of(all, label);
            if (all->count > known)
                return tw__fail(TW_INVALID_ARGUMENT, "the output label '%c' stands in no input", label);
            a->out = true;
            order[out->rank] = (int)(a - all->items);
            out->dims[out->rank++] = a->dim;
        }
    }
    if (tw__shape_known(out)) {
        int64_t strides[TW_MAX_RANK];
        tw__strides(out, strides);
        for (int i = 0; i < out->rank; i++)
            all->items[order[i]].out_stride += strides[i];
    }
    return TW_OK;
}

static tw_status einsum_shape(tw__inference *inference)
{
    equation e;
    axes all = { .count = 0 };
    bool open = false;
    TW_TRY(parse(TW_ATTR(inference, "equation")->s, inference->input_count, &e));
    for (int i = 0; i < e.input_count; i++) {
        const tw_shape *shape = inference->shapes[i];
        if (shape->rank >= 0)
            TW_TRY(note_operand(&all, &e.inputs[i], i, shape));
        for (int k = 0; shape->rank < 0 && k < e.inputs[i].count; k++) {
            if (e.inputs[i].labels[k] == ELLIPSIS)
                open = true;
            else
                axis_of(&all, e.inputs[i].labels[k]);
        }
    }
    return open ? TW_OK : note_output(inference->op, &all, &e.output, &inference->out_shapes[0]);
}

/* ---- values ---- */

typedef enum kind { BATCH, FREE_0, FREE_1, SUMMED, DROPPED_0, DROPPED_1 } kind;

static kind kind_of(const axis *a)
{
    if (a->in[0] == a->in[1])
        return a->out ? BATCH : SUMMED;
    return a->in[0] ? (a->out ? FREE_0 : DROPPED_0) : a->out ? FREE_1 : DROPPED_1;
}

static int64_t size_of(const axes *all, kind of)
{
    int64_t size = 1;
    for (int i = 0; i < all->count; i++)
        size *= kind_of(&all->items[i]) == of ? all->items[i].dim : 1;
    return size;
}

/* A matrix per batch: rows are free, columns summed, or the other way round. */
typedef struct operand {
    const void *data;
    tw_tensor *copy; /* what holds the data, unless the input does */
    bool turned;
} operand;

/* Adds the axes of a kind to the walk; `to` is the stride of what they make together, and becomes that of the next ones. False:
 * the operand does not lie so. */
static bool add_axes(const axes *all, kind of, int input, tw__walk *walk, int64_t *to)
{
    bool lies = true;
    for (int i = all->count - 1; i >= 0; i--) {
        const axis *a = &all->items[i];
        if (kind_of(a) != of)
            continue;
        tw__walk_add(walk, a->dim, *to, a->strides[input]);
        lies = lies && (a->dim == 1 || a->strides[input] == *to);
        *to *= a->dim;
    }
    return lies;
}

/* The walk's loops the other way round: they were added innermost first. */
static void turn_walk(tw__walk *walk)
{
    tw__walk in = *walk;
    for (int i = 0; i < in.rank; i++) {
        walk->dims[i] = in.dims[in.rank - 1 - i];
        walk->to[i] = in.to[in.rank - 1 - i];
        walk->from[i] = in.from[in.rank - 1 - i];
    }
}

static bool lies_in_order(const axes *all, int input, const kind *order, int count, tw__walk *walk)
{
    int64_t to = 1;
    bool lies = true;
    *walk = (tw__walk){ .rank = 0 };
    for (int i = 0; i < count; i++)
        lies &= add_axes(all, order[i], input, walk, &to);
    turn_walk(walk);
    return lies;
}

static tw_status prepare(const axes *all, int input, const tw_tensor *in, operand *out)
{
    kind free = input ? FREE_1 : FREE_0, dropped = input ? DROPPED_1 : DROPPED_0;
    const kind straight[] = { dropped, SUMMED, free, BATCH }, turned[] = { dropped, free, SUMMED, BATCH };
    int64_t drop = size_of(all, dropped), rest = size_of(all, free) * size_of(all, SUMMED) * size_of(all, BATCH);
    tw__walk walk;
    *out = (operand){ .data = in->data };
    if (drop == 1 && lies_in_order(all, input, turned, 4, &walk)) {
        out->turned = true;
        return TW_OK;
    }
    bool lies = lies_in_order(all, input, straight, 4, &walk);
    if (!lies) {
        out->copy = tw__tensor_empty(in->dtype, &TW_SHAPE(rest, drop));
        if (!out->copy)
            return tw__error_status();
        TW_TRY(tw__copy_walk(in->dtype, out->copy->data, in->data, &walk));
        out->data = out->copy->data;
    }
    if (drop == 1)
        return TW_OK;
    tw_tensor *sums = tw__tensor_empty(in->dtype, &TW_SHAPE(rest));
    tw_status status =
        sums ? tw__reduce(TW__REDUCE_SUM, in->dtype, out->data, &TW_SHAPE(rest, drop), 2, sums->data) : tw__error_status();
    tw_release(out->copy);
    out->copy = sums;
    out->data = sums ? sums->data : NULL;
    return status;
}

typedef struct products {
    tw_dtype dtype;
    int64_t m, n, k;
    operand x, y;
    char *out;
    _Atomic int status;
} products;

static tw__matrix matrix_at(const operand *of, int64_t index, int64_t free, int64_t summed, size_t size, bool transpose)
{
    const char *data = (const char *)of->data + (size_t)(index * free * summed) * size;
    int64_t along_free = of->turned ? 1 : summed, along_summed = of->turned ? free : 1;
    return transpose ? (tw__matrix){ data, along_summed, along_free, false }
                     : (tw__matrix){ data, along_free, along_summed, false };
}

static void multiply(void *context, int64_t begin, int64_t end)
{
    products *p = context;
    size_t size = tw__element_size(p->dtype);
    for (int64_t i = begin; i < end; i++) {
        tw_status status = tw__gemm(p->dtype, p->m, p->n, p->k, matrix_at(&p->x, i, p->m, p->k, size, false),
                                    matrix_at(&p->y, i, p->n, p->k, size, true), p->out + (size_t)(i * p->m * p->n) * size);
        if (status != TW_OK)
            p->status = (int)status;
    }
}

static tw_status multiply_all(products *p, int64_t batch)
{
    if (p->m * p->n * p->k == 1) {
        tw__binary_row(&tw__binary_multiply, p->dtype, p->x.data, p->y.data, p->out, batch, TW_ROW_BOTH);
        return TW_OK;
    }
    if (batch == 1)
        multiply(p, 0, 1);
    else
        tw__parallel(batch, 1 + 100000 / (1 + p->m * p->n * p->k), multiply, p);
    return (tw_status)p->status;
}

/* The result in the order of the matrix products: where `to` lies in the output. True: it lies so already. */
static bool output_walk(const axes *all, bool two, tw__walk *walk)
{
    const kind order[] = { FREE_1, FREE_0, BATCH };
    int64_t from = 1;
    bool lies = true;
    *walk = (tw__walk){ .rank = 0 };
    for (int k = two ? 0 : 1; k < 3; k++) {
        for (int i = all->count - 1; i >= 0; i--) {
            const axis *a = &all->items[i];
            if (kind_of(a) != order[k])
                continue;
            tw__walk_add(walk, a->dim, a->out_stride, from);
            lies = lies && (a->dim == 1 || a->out_stride == from);
            from *= a->dim;
        }
    }
    turn_walk(walk);
    return lies;
}

static tw_status run(tw__kernel *kernel, axes *all, const tw_shape *shape)
{
    tw_tensor *out = tw__output(kernel, 0, shape);
    bool two = kernel->input_count == 2;
    operand operands[OPERANDS] = { 0 };
    tw_tensor *whole = NULL;
    tw_status status = out ? TW_OK : tw__error_status();
    for (int i = 0; i < kernel->input_count && status == TW_OK; i++)
        status = prepare(all, i, kernel->inputs[i], &operands[i]);
    if (status == TW_OK) {
        tw__walk walk;
        bool lies = output_walk(all, two, &walk);
        int64_t batch = size_of(all, BATCH), m = size_of(all, FREE_0), n = size_of(all, FREE_1);
        const void *result = operands[0].data;
        if (two) {
            whole = lies ? tw_retain(out) : tw__tensor_empty(out->dtype, &TW_SHAPE(batch, m, n));
            products p = { out->dtype, m, n, size_of(all, SUMMED), operands[0], operands[1], whole ? whole->data : NULL, TW_OK };
            status = whole ? multiply_all(&p, batch) : tw__error_status();
            result = p.out;
        }
        if (!lies || !two) {
            if (out->count > batch * m * n) /* a diagonal is written: the rest is zero */
                memset(out->data, 0, tw_tensor_bytes(out));
            if (status == TW_OK)
                status = tw__copy_walk(out->dtype, out->data, result, &walk);
        }
    }
    tw_release(whole);
    tw_release(operands[0].copy);
    tw_release(operands[1].copy);
    return status;
}

static tw_status einsum_compute(tw__kernel *kernel)
{
    equation e;
    axes all = { .count = 0 };
    tw_shape shape;
    tw_dtype dtype = kernel->inputs[0]->dtype;
    if (!tw__dtype_is_float(dtype) && !tw__dtype_is_complex(dtype) && dtype != TW_INT32 && dtype != TW_INT64)
        return TW_OP_FAIL(kernel, TW_UNIMPLEMENTED, "no kernel for dtype %s", tw_dtype_name(dtype));
    TW_TRY(parse(TW_ATTR(kernel, "equation")->s, kernel->input_count, &e));
    for (int i = 0; i < e.input_count; i++)
        TW_TRY(note_operand(&all, &e.inputs[i], i, &kernel->inputs[i]->shape));
    TW_TRY(note_output(kernel->op, &all, &e.output, &shape));
    if (e.input_count == 1) { /* what no operand repeats is the one operand's own */
        for (int i = 0; i < all.count; i++)
            all.items[i].in[0] = true;
    }
    return run(kernel, &all, &shape);
}

/* ---- the gradient ---- */

/* "out,other->…labels", then what broadcasting added is summed away, then "…labels->own". */
static tw_tensor *einsum(tw__text *text, tw_tensor *x, tw_tensor *y)
{
    if (text->failed || !x)
        return NULL;
    tw_tensor *inputs[] = { x, y };
    tw_attr attr = TW_A_STRING("equation", text->data);
    return tw__call(&tw__op_Einsum, inputs, y ? 2 : 1, &attr, 1);
}

static tw_tensor *gradient_of(tw__gradient *gradient, const equation *e, int input)
{
    const subscripts *own = &e->inputs[input], *other = e->input_count == 2 ? &e->inputs[1 - input] : NULL, *out = &e->output;
    tw_tensor *x = gradient->inputs[input];
    tw__text text = { 0 }, labels = { 0 };
    bool ellipsis = out->ellipsis, plain = true;
    tw__text_add(&labels, ellipsis ? "..." : "");
    for (int i = 0; i < own->count; i++) {
        int label = own->labels[i];
        char letter = (char)label;
        bool again = false;
        for (int k = 0; k < i; k++)
            again |= own->labels[k] == label;
        if (label == ELLIPSIS)
            plain &= i == 0;
        else if (again || !(has(out, label) || (other && has(other, label))))
            plain = false;
        else
            tw__text_bytes(&labels, &letter, 1);
    }
    tw_auto tw_tensor *factor = other ? tw__grad_conj(gradient->inputs[1 - input]) : NULL;
    tw__text_format(&text, "%.*s%s%.*s->%s", out->size, out->text, other ? "," : "", other ? other->size : 0,
                    other ? other->text : "", labels.data ? labels.data : "");
    tw_tensor *grad = einsum(&text, gradient->output_grads[0], factor);
    if (ellipsis && grad) {
        tw__text_clear(&text);
        tw__text_format(&text, "%.*s->%s", own->size, own->text, labels.data + (own->ellipsis ? 0 : 3));
        tw_auto tw_tensor *like = plain ? tw_retain(x) : einsum(&text, x, NULL);
        grad = like ? tw__grad_unbroadcast(grad, like) : (tw_release(grad), NULL);
    }
    if (!plain && grad) {
        const char *had = !labels.data ? "" : labels.data + (ellipsis && !own->ellipsis ? 3 : 0);
        tw_auto tw_tensor *ones = TW_CALL(OnesLike, x), *narrow = grad;
        tw__text_clear(&text);
        tw__text_format(&text, "%s,%.*s->%.*s", had, own->size, own->text, own->size, own->text);
        grad = ones ? einsum(&text, narrow, ones) : NULL;
    }
    tw__text_free(&text);
    tw__text_free(&labels);
    return grad;
}

static tw_status einsum_gradient(tw__gradient *gradient)
{
    equation e;
    TW_TRY(parse(TW_ATTR(gradient, "equation")->s, gradient->input_count, &e));
    for (int i = 0; i < e.input_count; i++) {
        if (gradient->wanted[i])
            tw__grad_set(gradient, i, gradient_of(gradient, &e, i));
    }
    return tw__grad_status(gradient);
}

/* Each label stands for one size: the first that does not. */
static bool einsum_words(tw__wording *w)
{
    tw_string given = TW_ATTR(w->in, "equation")->s;
    int64_t sizes[256];
    memset(sizes, -1, sizeof sizes);
    int input = 0, at = 0;
    for (size_t i = 0; i < given.size && given.data[i] != '-' && given.data[i] != '.' && input < w->in->input_count; i++) {
        unsigned char label = (unsigned char)given.data[i];
        const tw_shape *shape = w->in->shapes[input];
        if (label == ',') {
            input++;
            at = 0;
            continue;
        }
        int64_t size = at < shape->rank ? shape->dims[at++] : -1;
        if (tw__sizes_differ(sizes[label], size))
            return tw__say_dims(w, sizes[label], size);
        sizes[label] = sizes[label] < 0 ? size : sizes[label];
    }
    return false;
}

TW_OP(Einsum, .inputs = "inputs: N * T", .outputs = "output: T", .attrs = "equation: string, N: int >= 1, T: type",
      .shape = einsum_shape, .compute = einsum_compute, .gradient = einsum_gradient, .words = einsum_words,
      .doc = "Sums of products over labelled dimensions.");
