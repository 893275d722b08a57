/* Einsum of two values as a product of matrices: both are brought to [batch, rows, columns], and the product to the order of the
 * result. */
#include "lite/convert.h"
#include "rows.h"

/* An operand on its way: a constant, or a tensor of the file. */
typedef struct operand {
    tw__lite_known known;
    tw_shape shape;
    char labels[TW_MAX_RANK + 1];
} operand;

static tw_status arrange(tw__lite_lowering *l, operand *x, const char *order)
{
    int64_t places[TW_MAX_RANK];
    tw_shape shape = { .rank = x->shape.rank };
    bool same = true;
    for (int i = 0; i < shape.rank; i++) {
        places[i] = strchr(x->labels, order[i]) - x->labels;
        shape.dims[i] = x->shape.dims[places[i]];
        same &= places[i] == i;
    }
    snprintf(x->labels, sizeof x->labels, "%s", order);
    x->shape = shape;
    if (same)
        return TW_OK;
    if (x->known.constant) {
        x->known.constant = tw__lite_rearranged(l->t, x->known.constant, places, shape.rank);
        TW_NEED(x->known.constant);
        return TW_OK;
    }
    int made = tw__lite_between(l, l->node->out_dtypes[0], &shape);
    TW_NEED(TW_EMIT(l, "TRANSPOSE", made, x->known.tensor, tw__lite_ints_of(l, places, shape.rank)));
    x->known.tensor = made;
    return TW_OK;
}

static tw_status regroup(tw__lite_lowering *l, operand *x, const tw_shape *shape)
{
    int unknown = 0;
    for (int i = 0; i < shape->rank; i++)
        unknown += shape->dims[i] < 0;
    if (tw__shape_equal(&x->shape, shape))
        return TW_OK;
    if (unknown > 1)
        return tw__lite_cannot(l, "more than one dimension is unknown");
    x->shape = *shape;
    if (x->known.constant) {
        x->known.constant = tw__temp_reshape(l->t, x->known.constant, shape->dims, shape->rank);
        TW_NEED(x->known.constant);
        return TW_OK;
    }
    int made = tw__lite_between(l, l->node->out_dtypes[0], shape);
    TW_NEED(TW_EMIT(l, "RESHAPE", made, x->known.tensor, tw__lite_ints_of(l, shape->dims, shape->rank)));
    x->known.tensor = made;
    return TW_OK;
}

/* The product of some dimensions; -1 if one is unknown. */
static int64_t product(const operand *x, const char *labels)
{
    int64_t all = 1;
    for (; *labels; labels++) {
        int64_t size = x->shape.dims[strchr(x->labels, *labels) - x->labels];
        all = size < 0 || all < 0 ? -1 : all * size;
    }
    return all;
}

/* [batch, first, second], each of the last two as one dimension. */
static tw_status to_matrix(tw__lite_lowering *l, operand *x, const char *batch, const char *first, const char *second)
{
    char order[3 * TW_MAX_RANK + 3];
    snprintf(order, sizeof order, "%s%s%s", batch, first, second);
    TW_TRY(arrange(l, x, order));
    tw_shape shape = { .rank = (int)strlen(batch) + 2 };
    if (shape.rank > TW_MAX_RANK)
        return tw__lite_cannot(l, "it has too many dimensions");
    memcpy(shape.dims, x->shape.dims, strlen(batch) * sizeof *shape.dims);
    shape.dims[shape.rank - 2] = product(x, first);
    shape.dims[shape.rank - 1] = product(x, second);
    return regroup(l, x, &shape);
}

static tw_status read_operand(const tw__lite_lowering *l, int input, const char *labels, size_t count, operand *x)
{
    x->known = l->in[input];
    x->shape = *tw__lite_shape_of(l, input);
    if (count > TW_MAX_RANK || x->shape.rank != (int)count)
        return tw__lite_cannot(l, "its equation and shapes are not supported");
    memcpy(x->labels, labels, count);
    x->labels[count] = 0;
    for (size_t i = 0; i < count; i++) {
        if (strchr(x->labels + i + 1, labels[i]) || labels[i] == '.')
            return tw__lite_cannot(l, "repeated labels and ellipses are not supported");
    }
    return TW_OK;
}

tw_status tw__lite_lower_einsum(tw__lite_lowering *l)
{
    const tw_attr *equation = tw__lite_attr(l, "equation");
    char text[64], batch[TW_MAX_RANK + 1] = "", rows[TW_MAX_RANK + 1] = "", columns[TW_MAX_RANK + 1] = "",
                                       summed[TW_MAX_RANK + 1] = "";
    snprintf(text, sizeof text, "%.*s", (int)equation->s.size, equation->s.data);
    char *comma = strchr(text, ','), *arrow = strstr(text, "->");
    if (l->count != 2 || !comma || !arrow || comma > arrow || strlen(arrow + 2) > TW_MAX_RANK)
        return tw__lite_cannot(l, "only equations of two values are supported");
    operand a, b;
    TW_TRY(read_operand(l, 0, text, (size_t)(comma - text), &a));
    TW_TRY(read_operand(l, 1, comma + 1, (size_t)(arrow - comma - 1), &b));
    const char *result = arrow + 2;
    for (const char *at = a.labels; *at; at++) {
        bool other = strchr(b.labels, *at), kept = strchr(result, *at);
        if (!other && !kept)
            return tw__lite_cannot(l, "sums over a dimension of one value are not supported");
        strncat(other ? kept ? batch : summed : rows, at, 1);
    }
    for (const char *at = b.labels; *at; at++) {
        bool other = strchr(a.labels, *at);
        if (!other && !strchr(result, *at))
            return tw__lite_cannot(l, "sums over a dimension of one value are not supported");
        if (!other)
            strncat(columns, at, 1);
    }
    operand whole = { .known = { NULL, -1 } };
    char all[3 * TW_MAX_RANK + 3];
    snprintf(all, sizeof all, "%s%s%s", batch, rows, columns);
    if (strlen(all) != strlen(result))
        return tw__lite_cannot(l, "its equation is not supported");
    memcpy(whole.labels, all, strlen(result) + 1);
    whole.shape.rank = (int)strlen(result);
    for (int i = 0; i < whole.shape.rank; i++)
        whole.shape.dims[i] = product(strchr(a.labels, whole.labels[i]) ? &a : &b, (char[]){ whole.labels[i], 0 });
    tw_shape full = whole.shape;
    TW_TRY(to_matrix(l, &a, batch, rows, summed));
    TW_TRY(to_matrix(l, &b, batch, summed, columns));
    whole.shape = a.shape;
    whole.shape.dims[whole.shape.rank - 1] = b.shape.dims[b.shape.rank - 1];
    int x = a.known.constant ? tw__lite_constant_of(l, a.known.constant) : a.known.tensor,
        y = b.known.constant ? tw__lite_constant_of(l, b.known.constant) : b.known.tensor;
    whole.known.tensor = tw__lite_between(l, l->node->out_dtypes[0], &whole.shape);
    TW_NEED(TW_EMIT(l, "BATCH_MATMUL", whole.known.tensor, x, y));
    TW_TRY(regroup(l, &whole, &full));
    TW_TRY(arrange(l, &whole, result));
    l->out[0].tensor = whole.known.tensor;
    return TW_OK;
}
