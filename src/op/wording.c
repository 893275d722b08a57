/* What a graph says of shapes that do not fit: see wording.h. */
#include "op/wording.h"

bool tw__wording_vector(const tw__wording *w, int input, tw_shape *shape)
{
    const tw_tensor *tensor = w->in->values[input];
    if (!tensor)
        return tw__partial_input(w->in, input, shape);
    if (!tensor->data || tensor->shape.rank != 1 || tensor->count > TW_MAX_RANK ||
        (tensor->dtype != TW_INT32 && tensor->dtype != TW_INT64))
        return false;
    shape->rank = (int)tensor->count;
    for (int i = 0; i < shape->rank; i++)
        shape->dims[i] = tensor->dtype == TW_INT32 ? ((const int32_t *)tensor->data)[i] : ((const int64_t *)tensor->data)[i];
    return true;
}

bool tw__say_dims(tw__wording *w, int64_t a, int64_t b)
{
    tw__text_format(&w->text, "Dimensions must be equal, but are %lld and %lld", (long long)a, (long long)b);
    return true;
}

bool tw__sizes_differ(int64_t a, int64_t b)
{
    return a >= 0 && b >= 0 && a != b;
}

bool tw__say_rank(tw__wording *w, int wanted, int rank)
{
    tw__text_format(&w->text, "Shape must be rank %d but is rank %d", wanted, rank);
    return true;
}

bool tw__say_rank_at_least(tw__wording *w, const tw_shape *shape, int64_t wanted)
{
    if (shape->rank < 0 || shape->rank >= wanted)
        return false;
    tw__text_format(&w->text, "Shape must be at least rank %lld but is rank %d", (long long)wanted, shape->rank);
    return true;
}

int64_t tw__ranks_of_axis(int64_t axis)
{
    return axis == INT64_MIN || axis == INT64_MAX ? INT64_MAX : axis < 0 ? -axis : axis + 1;
}

bool tw__shape_difference(tw__text *text, const tw_shape *a, const tw_shape *b)
{
    if (a->rank >= 0 && b->rank >= 0 && a->rank != b->rank) {
        tw__text_format(text, "Shapes must be equal rank, but are %d and %d", a->rank, b->rank);
        return true;
    }
    for (int i = 0; a->rank == b->rank && i < a->rank; i++) {
        if (tw__sizes_differ(a->dims[i], b->dims[i])) {
            tw__text_format(text, "Dimension %d in both shapes must be equal, but are %lld and %lld. Shapes are %s and %s.", i,
                            (long long)a->dims[i], (long long)b->dims[i], tw__shape_text(a), tw__shape_text(b));
            return true;
        }
    }
    return false;
}

bool tw__say_merge(tw__wording *w, const tw_shape *a, const tw_shape *b)
{
    return tw__shape_difference(&w->text, a, b);
}

bool tw__say_broadcast(tw__wording *w, const tw_shape *a, const tw_shape *b)
{
    int rank = a->rank > b->rank ? a->rank : b->rank;
    if (a->rank < 0 || b->rank < 0)
        return false;
    for (int i = 0; i < rank; i++) {
        int64_t x = i < rank - a->rank ? 1 : a->dims[i - (rank - a->rank)],
                y = i < rank - b->rank ? 1 : b->dims[i - (rank - b->rank)];
        if (x != 1 && y != 1 && tw__sizes_differ(x, y))
            return tw__say_dims(w, x, y);
    }
    return false;
}

tw_shape tw__shape_part(const tw_shape *shape, int from, int to)
{
    tw_shape out = { .rank = to - from };
    for (int i = from; i < to; i++)
        out.dims[i - from] = shape->dims[i];
    return out;
}

bool tw__wording_number(const tw__wording *w, int input, int64_t *value)
{
    const tw_tensor *tensor = w->in->values[input];
    if (!tensor || !tensor->data || tensor->count != 1 || (tensor->dtype != TW_INT32 && tensor->dtype != TW_INT64))
        return false;
    *value = tensor->dtype == TW_INT32 ? *(const int32_t *)tensor->data : *(const int64_t *)tensor->data;
    return true;
}

bool tw__words_binary(tw__wording *w)
{
    return tw__say_broadcast(w, w->in->shapes[0], w->in->shapes[1]);
}

bool tw__words_square(tw__wording *w)
{
    const tw_shape *shape = w->in->shapes[0];
    return tw__say_rank_at_least(w, shape, 2) ||
           (shape->rank >= 2 && tw__sizes_differ(shape->dims[shape->rank - 2], shape->dims[shape->rank - 1]) &&
            tw__say_dims(w, shape->dims[shape->rank - 2], shape->dims[shape->rank - 1]));
}
