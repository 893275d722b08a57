/* Shapes: complete ones of tensors and partial ones of inference; all products are checked. */
#include "tensor/tensor.h"

bool tw__shape_known(const tw_shape *shape)
{
    if (shape->rank < 0)
        return false;
    for (int i = 0; i < shape->rank; i++) {
        if (shape->dims[i] < 0)
            return false;
    }
    return true;
}

bool tw__shape_equal(const tw_shape *a, const tw_shape *b)
{
    if (a->rank != b->rank)
        return false;
    for (int i = 0; i < a->rank; i++) {
        if (a->dims[i] != b->dims[i])
            return false;
    }
    return true;
}

bool tw__shape_compatible(const tw_shape *a, const tw_shape *b)
{
    if (a->rank < 0 || b->rank < 0)
        return true;
    if (a->rank != b->rank)
        return false;
    for (int i = 0; i < a->rank; i++) {
        if (a->dims[i] >= 0 && b->dims[i] >= 0 && a->dims[i] != b->dims[i])
            return false;
    }
    return true;
}

tw_status tw__shape_count(const tw_shape *shape, int64_t *count)
{
    int64_t product = 1;
    bool overflow = false, empty = false;
    if (shape->rank < 0 || shape->rank > TW_MAX_RANK)
        return tw__fail(TW_INVALID_ARGUMENT, "a shape of rank %d, expected 0 to %d", shape->rank, TW_MAX_RANK);
    for (int i = 0; i < shape->rank; i++) {
        if (shape->dims[i] < 0)
            return tw__fail(TW_INVALID_ARGUMENT, "Dimension %d of the shape %s must be >= 0", i, tw__shape_text(shape));
        empty |= shape->dims[i] == 0;
        overflow |= __builtin_mul_overflow(product, shape->dims[i], &product);
    }
    if (overflow && !empty)
        return tw__fail(TW_INVALID_ARGUMENT, "Shape %s would have more than 2**63 - 1 elements", tw__shape_text(shape));
    *count = empty ? 0 : product;
    return TW_OK;
}

bool tw__shape_broadcast(const tw_shape *a, const tw_shape *b, tw_shape *out)
{
    if (a->rank < 0 || b->rank < 0) {
        *out = TW_UNKNOWN_SHAPE;
        return true;
    }
    tw_shape result = { .rank = a->rank > b->rank ? a->rank : b->rank };
    for (int i = 0; i < result.rank; i++) {
        int ai = i - (result.rank - a->rank), bi = i - (result.rank - b->rank);
        int64_t x = ai < 0 ? 1 : a->dims[ai], y = bi < 0 ? 1 : b->dims[bi];
        if (x == y || y == 1)
            result.dims[i] = x;
        else if (x == 1)
            result.dims[i] = y;
        else if (x < 0 || y < 0) /* the unknown one must turn out to be 1 or equal */
            result.dims[i] = x < 0 ? y : x;
        else
            return false;
    }
    *out = result;
    return true;
}

static void add_dims(tw__text *text, const tw_shape *shape, const char *unknown, const char *comma)
{
    for (int i = 0; i < shape->rank; i++) {
        if (i)
            tw__text_add(text, comma);
        if (shape->dims[i] < 0)
            tw__text_add(text, unknown);
        else
            tw__text_format(text, "%lld", (long long)shape->dims[i]);
    }
}

char *tw__shape_tuple(const tw_shape *shape)
{
    tw__text text = { 0 };
    if (shape->rank < 0) {
        tw__text_add(&text, "<unknown>");
    } else {
        tw__text_add(&text, "(");
        add_dims(&text, shape, "None", ", ");
        tw__text_add(&text, shape->rank == 1 ? ",)" : ")");
    }
    return tw__text_take(&text);
}

const char *tw__shape_text(const tw_shape *shape)
{
    static _Thread_local char buffers[4][TW_MAX_RANK * 21 + 8];
    static _Thread_local int turn;
    char *out = buffers[turn++ & 3];
    if (shape->rank < 0 || shape->rank > TW_MAX_RANK)
        return strcpy(out, "<unknown>");
    char *end = out;
    *end++ = '[';
    for (int i = 0; i < shape->rank; i++) {
        if (i)
            *end++ = ',';
        if (shape->dims[i] == -1)
            *end++ = '?';
        else
            end += sprintf(end, "%lld", (long long)shape->dims[i]);
    }
    *end++ = ']';
    *end = 0;
    return out;
}
