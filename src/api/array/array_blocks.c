/* tf.required_space_to_batch_paddings: how a space is filled up so that blocks divide it. */
#include "api/array/array.h"
#include "api/composite.h"
#include "graph/graph.h"
#include "op/calls.h"
#include "rows.h"

/* ValueError unless the sizes can be those. */
static tw_status need_shape(const tw_tensor *x, tw_shape wanted)
{
    if (tw__shape_compatible(&x->shape, &wanted))
        return TW_OK;
    tw__owned char *given = tw__shape_tuple(&x->shape);
    return tw__fail(TW_VALUE_ERROR, "Shapes %s and %s are incompatible", given ? given : "", tw__shape_text(&wanted));
}

static tw_tensor *columns(const tw__part *part, const char *name, tw_tensor *a, tw_tensor *b)
{
    return a && b ? tw__part_call(part, name, &tw__op_Pack, TW_IN(a, b), 2, TW_WITH(TW_A_INT("axis", 1)), 1) : NULL;
}

TW_API(required_space_to_batch_paddings,
       "required_space_to_batch_paddings|compat.v1.required_space_to_batch_paddings(input_shape: tensor<int32>, block_shape: "
       "tensor<int32>, base_paddings: tensor<int32> = None, name: str = None) -> value",
       "What must be added around a space so that blocks divide it, and what must be cut off again afterwards.\n"
       "input_shape: the sizes of the space, N of them\n"
       "block_shape: the sizes of a block, N of them\n"
       "base_paddings: what is added anyway, before and behind, [N, 2]; None: nothing\n"
       "returns: a tuple of two tensors [N, 2]: paddings and crops\n"
       "example: tf.required_space_to_batch_paddings([5], [4])[0].numpy().tolist()  # [[0, 3]]")
{
    tw_value none = { .kind = TW_VALUE_NONE };
    tw_tensor *block = args->block_shape, *base = args->base_paddings;
    if (block->shape.rank != 1 && block->shape.rank != -1) {
        tw__owned char *given = tw__shape_tuple(&block->shape);
        tw__fail(TW_VALUE_ERROR, "Shape %s must have rank 1", given ? given : "");
        return none;
    }
    int64_t size = block->shape.rank == 1 ? block->shape.dims[0] : -1;
    if (need_shape(args->input_shape, TW_SHAPE(size)) != TW_OK || (base && need_shape(base, TW_SHAPE(size, 2)) != TW_OK))
        return none;
    tw__part part = tw__part_begin(args->name, "required_space_to_batch_paddings");
    TW_TEMPS(t);
    tw_tensor *begin = base ? tw__temp_column(t, base, 0) : TW_TEMP(ZerosLike, block);
    tw_tensor *end = base ? tw__temp_column(t, base, 1) : begin;
    tw_tensor *whole = TW_TEMP(AddV2, TW_TEMP(AddV2, args->input_shape, begin), end);
    tw_tensor *rest = TW_TEMP(FloorMod, TW_TEMP(Sub, block, TW_TEMP(FloorMod, whole, block)), block);
    tw_tensor *paddings = columns(&part, "paddings", begin, TW_TEMP(AddV2, end, rest));
    tw_tensor *crops = columns(&part, "crops", TW_TEMP(ZerosLike, rest), rest);
    tw_value *pair = paddings && crops ? tw__alloc_array(2, sizeof *pair) : NULL;
    if (tw__part_end(&part) != TW_OK || !pair) {
        tw__free(pair);
        tw_release(paddings);
        tw_release(crops);
        return none;
    }
    pair[0] = tw__value_of_tensor(paddings);
    pair[1] = tw__value_of_tensor(crops);
    return (tw_value){ .kind = TW_VALUE_TUPLE, .list = { pair, 2 } };
}
