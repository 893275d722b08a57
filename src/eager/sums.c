/* Gradients as graphs have them: the seed is a constant of ones, and what comes to one value from several sides is kept until all
 * of it is there and summed at once, by one AddN. */
#include "eager/eager.h"
#include "eager/tape.h"
#include "graph/graph.h"
#include "op/calls.h"
#include "op/slices.h"
#include "rows.h"

tw_tensor *tw__gradient_add(tw_tensor *a, tw_tensor *b)
{
    if (a->dtype == TW_VARIANT || b->dtype == TW_VARIANT) {
        if (tw__slices_of(a) || tw__slices_of(b))
            return tw__slices_add(a, b);
        return TW_CALL(AddN, a, b); /* lists of tensors */
    }
    return TW_CALL(AddV2, a, b);
}

static tw_tensor *filled(tw_tensor *shape, tw_dtype dtype, bool one)
{
    tw_auto tw_tensor *zero = tw_tensor_new(dtype, TW_SCALAR, NULL);
    tw_auto tw_tensor *value = zero && one ? TW_CALL(OnesLike, zero) : tw_retain(zero);
    return value ? TW_CALL(Fill, shape, value) : NULL;
}

enum { LARGE = 1000 }; /* elements; TensorFlow writes fewer into the graph */

tw_tensor *tw__filled(tw_tensor *shape, tw_dtype dtype, bool one, const char *name, const char *usual)
{
    if (!tw__in_graph())
        return filled(shape, dtype, one);
    tw__part part = tw__part_begin(name, usual);
    tw__outside outside = tw__outside_begin();
    tw_auto tw_tensor *none = tw_tensor_new(TW_INT32, TW_SHAPE(0), NULL);
    tw_auto tw_tensor *value = none ? filled(none, dtype, one) : NULL;
    int64_t count = 1;
    for (int64_t i = 0; !shape->node && i < shape->count && count < LARGE; i++)
        count *= tw_tensor_int_at(shape, i);
    tw_auto tw_tensor *all = !shape->node && count < LARGE ? filled(shape, dtype, one) : NULL;
    tw__outside_end(outside);
    tw_tensor *out = NULL;
    if (all) {
        out = tw__part_constant(&part, all, "");
    } else if (value && (shape->node || count >= LARGE)) {
        tw_auto tw_tensor *dims = tw__part_constant(&part, shape, "shape_as_tensor");
        tw_auto tw_tensor *scalar = dims ? tw__part_constant(&part, value, "Const") : NULL;
        out = scalar ? tw__part_call(&part, "", &tw__op_Fill, TW_IN(dims, scalar), 2, NULL, 0) : NULL;
    }
    return tw__part_result(&part, out);
}

tw_tensor *tw__gradient_ones(tw_tensor *like)
{
    if (!tw__in_graph() || !like->node || like->dtype == TW_VARIANT)
        return TW_CALL(OnesLike, like);
    if (tw__shape_known(&like->shape)) {
        tw_auto tw_tensor *dims = tw__tensor_of_shape(&like->shape, TW_INT32);
        return dims ? tw__filled(dims, like->dtype, true, NULL, "ones") : NULL;
    }
    tw__part part = tw__part_begin(NULL, "ones_like");
    tw__outside outside = tw__outside_begin();
    tw_auto tw_tensor *zero = tw_tensor_new(like->dtype, TW_SCALAR, NULL);
    tw_auto tw_tensor *one = TW_CALL(OnesLike, zero);
    tw__outside_end(outside);
    tw_auto tw_tensor *shape = one ? tw__part_call(&part, NULL, &tw__op_Shape, &like, 1, NULL, 0) : NULL;
    tw_auto tw_tensor *value = shape ? tw__part_constant(&part, one, "Const") : NULL;
    return tw__part_result(&part, value ? tw__part_call(&part, "", &tw__op_Fill, TW_IN(shape, value), 2, NULL, 0) : NULL);
}

tw_status tw__sums_add(tw__sums *sums, int64_t number, tw_tensor *gradient)
{
    if (TW_GROW(sums->items, sums->capacity, sums->count + 1) != TW_OK) {
        tw_release(gradient);
        return TW_RESOURCE_EXHAUSTED;
    }
    sums->items[sums->count++] = (tw__summand){ number, gradient };
    return TW_OK;
}

tw_status tw__sums_settle(tw__sums *sums, int64_t number, tw_tensor **gradient)
{
    if (!sums->count)
        return TW_OK;
    tw_tensor *few[16], **all = sums->count < 16 ? few : tw__alloc_array(sums->count + 1, sizeof *all);
    TW_NEED(all);
    int count = 0;
    size_t left = 0;
    bool dense = true;
    all[count++] = *gradient;
    for (size_t i = 0; i < sums->count; i++) {
        if (sums->items[i].number == number)
            all[count++] = sums->items[i].gradient;
        else
            sums->items[left++] = sums->items[i];
    }
    sums->count = left;
    for (int i = 0; count > 1 && i < count; i++)
        dense &= !tw__slices_of(all[i]);
    tw_tensor *sum = all[0];
    if (count > 1 && dense) {
        sum = tw__call(&tw__op_AddN, all, count, NULL, 0);
        tw_release(all[0]);
    }
    for (int i = 1; i < count; i++) {
        tw_tensor *next = dense || !sum ? sum : tw__gradient_add(sum, all[i]);
        if (!dense)
            tw_release(sum);
        tw_release(all[i]);
        sum = next;
    }
    if (all != few)
        tw__free(all);
    *gradient = sum;
    return sum || count == 1 ? TW_OK : tw__error_status();
}

void tw__sums_free(tw__sums *sums)
{
    for (size_t i = 0; i < sums->count; i++)
        tw_release(sums->items[i].gradient);
    tw__free(sums->items);
    *sums = (tw__sums){ 0 };
}
