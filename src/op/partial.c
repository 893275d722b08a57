/* What functions of partly known vectors share: see partial.h. */
#include "op/partial.h"

int64_t tw__partial_number(const tw__partial_call *call, int input)
{
    tw_shape one;
    return call->shape(call, input)->rank == 0 && call->vector(call, input, &one) && one.rank == 1 ? one.dims[0] : -1;
}

int64_t tw__partial_product(const tw_shape *shape)
{
    int64_t product = shape->rank < 0 ? -1 : 1;
    for (int i = 0; i < shape->rank && product >= 0; i++) {
        if (shape->dims[i] < 0 || __builtin_mul_overflow(product, shape->dims[i], &product))
            product = -1;
    }
    return product;
}

bool tw__partial_pairs(const tw__partial_call *call, tw_shape *elements, int64_t (*combine)(int64_t a, int64_t b))
{
    tw_shape a, b;
    if (!call->vector(call, 0, &a) || !call->vector(call, 1, &b))
        return false;
    bool first = call->shape(call, 0)->rank == 0, second = call->shape(call, 1)->rank == 0;
    bool known = tw__partial_product(&a) >= 0 && tw__partial_product(&b) >= 0;
    if ((!call->scalar && !known) || (!first && !second && a.rank != b.rank))
        return false;
    elements->rank = first ? b.rank : a.rank;
    for (int i = 0; i < elements->rank; i++) {
        int64_t x = a.dims[first ? 0 : i], y = b.dims[second ? 0 : i];
        elements->dims[i] = x < 0 || y < 0 ? -1 : combine(x, y);
    }
    return true;
}
