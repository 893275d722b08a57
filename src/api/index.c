/* Indexing: the items become the begin, end, strides and masks of one StridedSlice. */
#include "api/index.h"

#include "op/array/array.h"
#include "rows.h"

enum { ITEM_LIMIT = 31 }; /* bits of a mask */

tw_tensor *tw__index(tw_tensor *tensor, const tw__index_item *items, int count)
{
    int64_t begin[ITEM_LIMIT], end[ITEM_LIMIT], strides[ITEM_LIMIT];
    int64_t begin_mask = 0, end_mask = 0, ellipsis_mask = 0, new_axis_mask = 0, shrink_mask = 0;
    if (!tensor) {
        tw__fail(TW_INVALID_ARGUMENT, "a tensor was expected, got NULL");
        return NULL;
    }
    if (count < 0 || count > ITEM_LIMIT) {
        tw__fail(TW_INDEX_ERROR, "%d index items, at most %d are supported", count, ITEM_LIMIT);
        return NULL;
    }
    for (int i = 0; i < count; i++) {
        const tw__index_item *item = &items[i];
        int64_t bit = (int64_t)1 << i;
        begin[i] = end[i] = 0;
        strides[i] = 1;
        switch (item->kind) {
        case TW__INDEX_ELLIPSIS:
            ellipsis_mask |= bit;
            break;
        case TW__INDEX_NEW_AXIS:
            new_axis_mask |= bit;
            break;
        case TW__INDEX_SLICE:
            begin[i] = item->has_begin ? item->begin : 0;
            end[i] = item->has_end ? item->end : 0;
            strides[i] = item->has_step ? item->step : 1;
            begin_mask |= item->has_begin ? 0 : bit;
            end_mask |= item->has_end ? 0 : bit;
            break;
        default:
            begin[i] = item->begin;
            if (item->kind == TW__INDEX_TENSOR) {
                if (!item->tensor || item->tensor->shape.rank != 0 || !tw__dtype_is_integer(item->tensor->dtype)) {
                    tw__fail(TW_TYPE_ERROR,
                             "Only integers, slices (`:`), ellipsis (`...`), tf.newaxis (`None`) and scalar tf.int32/tf.int64 tensors are "
                             "valid indices, got a tensor of dtype %s and shape %s",
                             item->tensor ? tw_dtype_name(item->tensor->dtype) : "none",
                             item->tensor ? tw__shape_text(&item->tensor->shape) : "none");
                    return NULL;
                }
                begin[i] = tw_tensor_int_at(item->tensor, 0);
            }
            end[i] = begin[i] + 1;
            shrink_mask |= bit;
        }
    }
    tw_auto tw_tensor *b = tw__ints_tensor(begin, count, TW_INT64), *e = tw__ints_tensor(end, count, TW_INT64),
                      *s = tw__ints_tensor(strides, count, TW_INT64);
    if (!b || !e || !s)
        return NULL;
    return tw__call(&tw__op_StridedSlice, TW_IN(tensor, b, e, s), 4,
                    TW_WITH(TW_A_INT("begin_mask", begin_mask), TW_A_INT("end_mask", end_mask), TW_A_INT("ellipsis_mask", ellipsis_mask),
                            TW_A_INT("new_axis_mask", new_axis_mask), TW_A_INT("shrink_axis_mask", shrink_mask)),
                    5);
}
