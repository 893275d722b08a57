/* What the ops on sparse tensors share: reading and checking the three inputs, orders of rows. */
#include "op/sparse/sparse.h"

#include <stdio.h>
#include <stdlib.h>

static void row_text(const int64_t *row, int rank, char *text, size_t size)
{
    size_t used = 0;
    text[0] = 0;
    for (int i = 0; i < rank && used < size; i++)
        used += (size_t)snprintf(text + used, size - used, "%s%lld", i ? "," : "", (long long)row[i]);
}

tw_status tw__sparse_check(const tw__sparse *s)
{
    for (int64_t i = 0; i < s->count; i++) {
        const int64_t *row = s->indices + i * s->rank;
        bool inside = true;
        for (int k = 0; k < s->rank; k++)
            inside = inside && row[k] >= 0 && row[k] < s->shape[k];
        if (!inside) {
            char place[200], limits[200];
            row_text(row, s->rank, place, sizeof place);
            row_text(s->shape, s->rank, limits, sizeof limits);
            return tw__fail(TW_INVALID_ARGUMENT, "indices[%lld] = [%s] is out of bounds: need 0 <= index < [%s]", (long long)i,
                            place, limits);
        }
    }
    return TW_OK;
}

tw_status tw__sparse_read(tw__kernel *kernel, int indices, int values, int shape, tw__sparse *sparse)
{
    const tw_tensor *i = kernel->inputs[indices], *v = values < 0 ? NULL : kernel->inputs[values], *s = kernel->inputs[shape];
    if (i->shape.rank != 2 || s->shape.rank != 1 || (v && v->shape.rank != 1) || (v && v->count != i->shape.dims[0]) ||
        i->shape.dims[1] != s->count)
        return tw__fail(TW_INVALID_ARGUMENT,
                        "indices of shape %s, values of shape %s and a shape of %lld sizes do not make a sparse tensor",
                        tw__shape_text(&i->shape), v ? tw__shape_text(&v->shape) : "none", (long long)s->count);
    if (i->shape.dims[1] > 64)
        return tw__fail(TW_UNIMPLEMENTED, "%s: a sparse tensor of rank %lld is not supported", kernel->op->name,
                        (long long)i->shape.dims[1]);
    *sparse = (tw__sparse){ i->data, s->data, v, i->shape.dims[0], (int)i->shape.dims[1] };
    return tw__sparse_check(sparse);
}

int tw__sparse_compare(const int64_t *a, const int64_t *b, int rank)
{
    for (int i = 0; i < rank; i++) {
        if (a[i] != b[i])
            return a[i] < b[i] ? -1 : 1;
    }
    return 0;
}

tw_status tw__sparse_need_order(const tw__sparse *s)
{
    for (int64_t i = 1; i < s->count; i++) {
        int order = tw__sparse_compare(s->indices + (i - 1) * s->rank, s->indices + i * s->rank, s->rank);
        if (order < 0)
            continue;
        char place[200];
        row_text(s->indices + i * s->rank, s->rank, place, sizeof place);
        return order ? tw__fail(TW_INVALID_ARGUMENT,
                                "indices[%lld] = [%s] is out of order. Many sparse ops require sorted indices.\n    Use "
                                "`tf.sparse.reorder` to create a "
                                "correctly ordered copy.\n\n",
                                (long long)i, place)
                     : tw__fail(TW_INVALID_ARGUMENT, "indices[%lld] = [%s] is repeated", (long long)i, place);
    }
    return TW_OK;
}

typedef struct order_context {
    const int64_t *indices;
    int rank;
} order_context;

static int compare_places(const void *a, const void *b, void *context)
{
    const order_context *c = context;
    int64_t i = *(const int64_t *)a, k = *(const int64_t *)b;
    int order = tw__sparse_compare(c->indices + i * c->rank, c->indices + k * c->rank, c->rank);
    return order ? order : (i > k) - (i < k);
}

int64_t *tw__sparse_order(const int64_t *indices, int64_t count, int rank)
{
    int64_t *places = tw__alloc_array((size_t)count + 1, sizeof *places);
    bool ordered = true;
    for (int64_t i = 0; places && i < count; i++) {
        places[i] = i;
        ordered = ordered && (i == 0 || tw__sparse_compare(indices + (i - 1) * rank, indices + i * rank, rank) <= 0);
    }
    if (places && !ordered)
        qsort_r(places, (size_t)count, sizeof *places, compare_places, &(order_context){ indices, rank });
    return places;
}

tw_status tw__sparse_shape(const tw_op *op, const tw__sparse *s, tw_shape *shape)
{
    if (s->rank > TW_MAX_RANK)
        return tw__fail(TW_UNIMPLEMENTED, "%s: a tensor of rank %d is not supported", op->name, s->rank);
    shape->rank = s->rank;
    for (int i = 0; i < s->rank; i++) {
        if (s->shape[i] < 0)
            return tw__fail(TW_INVALID_ARGUMENT, "%s: size %d of the shape must not be negative, got %lld", op->name, i,
                            (long long)s->shape[i]);
        shape->dims[i] = s->shape[i];
    }
    int64_t count;
    return tw__shape_count(shape, &count);
}

tw_status tw__sparse_infer(tw__inference *inference, int indices, int values, int shape)
{
    TW_TRY(tw__need_rank(inference, indices, 2));
    TW_TRY(tw__need_rank(inference, values, 1));
    return tw__need_rank(inference, shape, 1);
}
