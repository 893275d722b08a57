/* Lowerings of matrix products. */
#include "lower/lower.h"

static bool product(tw__lowering *l)
{
    bool a = TW_ATTR(l, "transpose_a")->b, b = TW_ATTR(l, "transpose_b")->b;
    return tw__lower_give(l, 0, tw__hlo_dot(l, l->inputs[0], l->inputs[1], 0, a ? 0 : 1, b ? 1 : 0));
}

/* Batches of equal shapes, or of one matrix on a side. */
static bool batch_product(tw__lowering *l)
{
    tw__hlo a = l->inputs[0], b = l->inputs[1];
    bool ta = TW_ATTR(l, "adj_x")->b, tb = TW_ATTR(l, "adj_y")->b;
    const tw_shape *out = &l->outputs[0].shape;
    int batch = out->rank - 2;
    if (tw__dtype_is_complex(a.dtype) || a.shape.rank < 2 || b.shape.rank < 2)
        return false;
    tw_shape wide_a = *out, wide_b = *out;
    for (int i = 0; i < 2; i++) {
        wide_a.dims[batch + i] = a.shape.dims[a.shape.rank - 2 + i];
        wide_b.dims[batch + i] = b.shape.dims[b.shape.rank - 2 + i];
    }
    a = tw__hlo_broadcast(l, a, &wide_a);
    b = tw__hlo_broadcast(l, b, &wide_b);
    return tw__lower_give(l, 0, tw__hlo_dot(l, a, b, batch, ta ? batch : batch + 1, tb ? batch + 1 : batch));
}

/* The letters of one term of an equation; false where there are dots or repeated letters. */
static bool letters_of(const char *text, size_t size, int rank)
{
    for (size_t i = 0; i < size; i++) {
        if (text[i] == '.' || memchr(text + i + 1, text[i], size - i - 1))
            return false;
    }
    return (int)size == rank;
}

/* Einsum of two operands without dots. Letters of all three terms are batches; those of one operand and the result are free;
 * those of both operands alone are summed. Both operands become [batches…, free, summed], so that one product does it. */
typedef struct equation {
    const char *terms[3]; /* of the operands and the result */
    size_t sizes[3];
    char made[2 * TW_MAX_RANK]; /* the letters of the product, in its order */
    tw_shape shape;             /* … and their sizes */
    int batch_count;
} equation;

typedef enum letter_kind { BATCH, FREE, SUMMED, ALONE } letter_kind;

static bool has(const equation *e, int term, char letter)
{
    return memchr(e->terms[term], letter, e->sizes[term]) != NULL;
}

static letter_kind kind_of(const equation *e, int operand, char letter)
{
    bool other = has(e, 1 - operand, letter), kept = has(e, 2, letter);
    return other && kept ? BATCH : kept ? FREE : other ? SUMMED : ALONE;
}

static bool read_equation(const tw__lowering *l, equation *e)
{
    tw_string text = TW_ATTR(l, "equation")->s;
    const char *comma = memchr(text.data, ',', text.size), *arrow = memchr(text.data, '>', text.size);
    if (l->input_count != 2 || !comma || !arrow || memchr(text.data, ' ', text.size))
        return false;
    *e = (equation){ { text.data, comma + 1, arrow + 1 },
                     { (size_t)(comma - text.data), (size_t)(arrow - 2 - comma), (size_t)(text.data + text.size - arrow - 1) },
                     { 0 },
                     { .rank = 0 },
                     0 };
    for (int t = 0; t < 3; t++) {
        if (!letters_of(e->terms[t], e->sizes[t], t < 2 ? l->inputs[t].shape.rank : l->outputs[0].shape.rank))
            return false;
    }
    return l->inputs[0].shape.rank + l->inputs[1].shape.rank <= TW_MAX_RANK;
}

/* The operand as [batches…, free, summed]. Batches and sums are in the order of the first operand for both. */
static bool flatten(tw__lowering *l, equation *e, int operand, tw__hlo *x)
{
    int order[TW_MAX_RANK], count = 0;
    int64_t sizes[] = { [FREE] = 1, [SUMMED] = 1 };
    tw_shape flat = { .rank = 0 };
    for (letter_kind kind = BATCH; kind <= SUMMED; kind++) {
        int term = kind == FREE ? operand : 0;
        for (size_t i = 0; i < e->sizes[term]; i++) {
            char letter = e->terms[term][i];
            const char *mine = memchr(e->terms[operand], letter, e->sizes[operand]);
            if (!mine || kind_of(e, operand, letter) != kind)
                continue;
            int64_t size = x->shape.dims[mine - e->terms[operand]];
            order[count++] = (int)(mine - e->terms[operand]);
            if (kind == BATCH)
                flat.dims[flat.rank++] = size;
            else
                sizes[kind] *= size;
            if (kind == FREE || (kind == BATCH && operand == 0)) {
                e->made[e->shape.rank] = letter;
                e->shape.dims[e->shape.rank++] = size;
            }
        }
    }
    if (count != x->shape.rank)
        return false; /* a letter that stands alone */
    e->batch_count = flat.rank;
    flat.dims[flat.rank++] = sizes[FREE];
    flat.dims[flat.rank++] = sizes[SUMMED];
    *x = tw__hlo_reshape(l, tw__hlo_transpose(l, *x, order), &flat);
    return true;
}

static bool einsum(tw__lowering *l)
{
    equation e;
    tw__hlo a = l->inputs[0], b = l->inputs[1];
    int order[TW_MAX_RANK];
    if (!read_equation(l, &e) || !flatten(l, &e, 0, &a) || !flatten(l, &e, 1, &b) || (int)e.sizes[2] != e.shape.rank)
        return false;
    for (size_t i = 0; i < e.sizes[2]; i++)
        order[i] = (int)((const char *)memchr(e.made, e.terms[2][i], (size_t)e.shape.rank) - e.made);
    tw__hlo product = tw__hlo_dot(l, a, b, e.batch_count, e.batch_count + 1, e.batch_count + 1);
    return tw__lower_give(l, 0, tw__hlo_transpose(l, tw__hlo_reshape(l, product, &e.shape), order));
}

const tw__lower_row tw__lower_products[] = {
    { "MatMul", product, NULL },
    { "BatchMatMulV2", batch_product, NULL },
    { "BatchMatMul", batch_product, NULL },
    { "BatchMatMulV3", batch_product, NULL },
    { "Einsum", einsum, NULL },
    { NULL, NULL, NULL },
};
