/* Gradients of the TensorList ops. A list's gradient is a list of the same length; a place without a tensor is zero. */
#include "op/gradient.h"
#include "op/list/list.h"
#include "rows.h"

static tw_attr dtype_attr(const tw__gradient *g)
{
    return TW_A_TYPE("element_dtype", TW_ATTR(g, "element_dtype")->type);
}

static tw_tensor *shape_of(tw_tensor *tensor)
{
    return TW_CALL(Shape, tensor);
}

static tw_tensor *no_shape(void)
{
    return tw_tensor_int(-1);
}

static tw_tensor *element_shape_of(tw_tensor *list)
{
    return TW_CALL(TensorListElementShape, list, TW_A_TYPE("shape_type", TW_INT32));
}

/* The gradient of output 0, a list; if there is none, a list of zeros. */
static tw_tensor *list_gradient(const tw__gradient *g)
{
    return g->output_grads[0] ? tw_retain(g->output_grads[0]) : TW_CALL(ZerosLike, g->outputs[0]);
}

static tw_tensor *get_item(const tw__gradient *g, tw_tensor *list, tw_tensor *index, tw_tensor *shape)
{
    return TW_CALL(TensorListGetItem, list, index, shape, dtype_attr(g));
}

static tw_tensor *set_item(const tw__gradient *g, tw_tensor *list, tw_tensor *index, tw_tensor *item)
{
    return TW_CALL(TensorListSetItem, list, index, item, dtype_attr(g));
}

static tw_tensor *gather(const tw__gradient *g, tw_tensor *list, tw_tensor *indices, tw_tensor *shape)
{
    return TW_CALL(TensorListGather, list, indices, shape, dtype_attr(g));
}

tw_status tw__list_push_gradient(tw__gradient *g)
{
    tw_auto tw_tensor *list = list_gradient(g);
    tw_auto tw_tensor *shape = list ? shape_of(g->inputs[1]) : NULL;
    tw_tensor *outputs[2] = { NULL, NULL };
    int count = 2;
    tw_attr attr = dtype_attr(g);
    if (!shape || tw__apply(&tw__op_TensorListPopBack, TW_IN(list, shape), 2, &attr, 1, outputs, &count) != TW_OK)
        return tw__error_status();
    tw__grad_set(g, 0, outputs[0]);
    if (g->wanted[1])
        g->input_grads[1] = outputs[1];
    else
        tw_release(outputs[1]);
    return TW_OK;
}

tw_status tw__list_pop_gradient(tw__gradient *g)
{
    tw_auto tw_tensor *list = list_gradient(g);
    tw_auto tw_tensor *item = g->output_grads[1] ? tw_retain(g->output_grads[1]) : TW_CALL(ZerosLike, g->outputs[1]);
    g->input_grads[0] = TW_CALL(TensorListPushBack, list, item, dtype_attr(g));
    return g->input_grads[0] ? TW_OK : tw__error_status();
}

tw_status tw__list_set_gradient(tw__gradient *g)
{
    tw_auto tw_tensor *list = list_gradient(g);
    if (!list)
        return tw__error_status();
    if (g->wanted[0]) {
        tw_auto tw_tensor *zeros = TW_CALL(ZerosLike, g->inputs[2]);
        tw_auto tw_tensor *cleared = zeros ? set_item(g, list, g->inputs[1], zeros) : NULL;
        /* the list may have grown */
        tw_auto tw_tensor *length = cleared ? TW_CALL(TensorListLength, g->inputs[0]) : NULL;
        g->input_grads[0] = TW_CALL(TensorListResize, cleared, length);
        if (!g->input_grads[0])
            return tw__error_status();
    }
    if (g->wanted[2]) {
        tw_auto tw_tensor *shape = shape_of(g->inputs[2]);
        g->input_grads[2] = shape ? get_item(g, list, g->inputs[1], shape) : NULL;
        if (!g->input_grads[2])
            return tw__error_status();
    }
    return TW_OK;
}

tw_status tw__list_get_gradient(tw__gradient *g)
{
    tw_auto tw_tensor *length = TW_CALL(TensorListLength, g->inputs[0]);
    tw_auto tw_tensor *shape = length ? element_shape_of(g->inputs[0]) : NULL;
    tw_auto tw_tensor *list = TW_CALL(TensorListReserve, shape, length, dtype_attr(g));
    g->input_grads[0] = list ? set_item(g, list, g->inputs[1], g->output_grads[0]) : NULL;
    return g->input_grads[0] ? TW_OK : tw__error_status();
}

tw_status tw__list_resize_gradient(tw__gradient *g)
{
    tw_auto tw_tensor *length = TW_CALL(TensorListLength, g->inputs[0]);
    g->input_grads[0] = TW_CALL(TensorListResize, g->output_grads[0], length);
    return g->input_grads[0] ? TW_OK : tw__error_status();
}

static tw_tensor *from_tensor(const tw__gradient *g, tw_tensor *tensor, tw_tensor *shape)
{
    return TW_CALL(TensorListFromTensor, tensor, shape, dtype_attr(g));
}

tw_status tw__list_stack_gradient(tw__gradient *g)
{
    tw_auto tw_tensor *shape = element_shape_of(g->inputs[0]);
    g->input_grads[0] = from_tensor(g, g->output_grads[0], shape);
    return g->input_grads[0] ? TW_OK : tw__error_status();
}

/* The shape of a tensor's rows, as a tensor. */
static tw_tensor *row_shape(tw_tensor *tensor)
{
    tw_auto tw_tensor *shape = shape_of(tensor);
    tw_auto tw_tensor *begin = shape ? tw_tensor_new(TW_INT32, TW_SHAPE(1), &(int32_t){ 1 }) : NULL;
    tw_auto tw_tensor *size = begin ? tw_tensor_new(TW_INT32, TW_SHAPE(1), &(int32_t){ -1 }) : NULL;
    return TW_CALL(Slice, shape, begin, size);
}

tw_status tw__list_from_tensor_gradient(tw__gradient *g)
{
    tw_auto tw_tensor *shape = row_shape(g->inputs[0]);
    g->input_grads[0] = TW_CALL(TensorListStack, g->output_grads[0], shape, dtype_attr(g));
    return g->input_grads[0] ? TW_OK : tw__error_status();
}

tw_status tw__list_gather_gradient(tw__gradient *g)
{
    tw_auto tw_tensor *length = TW_CALL(TensorListLength, g->inputs[0]);
    tw_auto tw_tensor *shape = length ? element_shape_of(g->inputs[0]) : NULL;
    g->input_grads[0] = TW_CALL(TensorListScatterV2, g->output_grads[0], g->inputs[1], shape, length, dtype_attr(g));
    return g->input_grads[0] ? TW_OK : tw__error_status();
}

tw_status tw__list_scatter_gradient(tw__gradient *g)
{
    tw_auto tw_tensor *shape = row_shape(g->inputs[0]);
    g->input_grads[0] = shape ? gather(g, g->output_grads[0], g->inputs[1], shape) : NULL;
    return g->input_grads[0] ? TW_OK : tw__error_status();
}

tw_status tw__list_scatter_into_gradient(tw__gradient *g)
{
    tw_auto tw_tensor *shape = row_shape(g->inputs[1]);
    tw_auto tw_tensor *rows = shape ? gather(g, g->output_grads[0], g->inputs[2], shape) : NULL;
    if (!rows)
        return tw__error_status();
    if (g->wanted[1])
        g->input_grads[1] = tw_retain(rows);
    if (!g->wanted[0])
        return TW_OK;
    tw_auto tw_tensor *zeros = TW_CALL(ZerosLike, rows);
    tw_auto tw_tensor *cleared =
        TW_CALL(TensorListScatterIntoExistingList, g->output_grads[0], zeros, g->inputs[2], dtype_attr(g));
    tw_auto tw_tensor *length = cleared ? TW_CALL(TensorListLength, g->inputs[0]) : NULL;
    g->input_grads[0] = TW_CALL(TensorListResize, cleared, length);
    return g->input_grads[0] ? TW_OK : tw__error_status();
}

tw_status tw__list_concat_gradient(tw__gradient *g)
{
    if (!g->output_grads[0])
        return TW_OK;
    tw_auto tw_tensor *shape = element_shape_of(g->inputs[0]);
    g->input_grads[0] = TW_CALL(TensorListSplit, g->output_grads[0], shape, g->outputs[1], dtype_attr(g));
    return g->input_grads[0] ? TW_OK : tw__error_status();
}

tw_status tw__list_split_gradient(tw__gradient *g)
{
    tw_auto tw_tensor *shape = no_shape();
    tw_tensor *outputs[2] = { NULL, NULL };
    int count = 2;
    tw_attr attr = dtype_attr(g);
    if (!shape || tw__apply(&tw__op_TensorListConcatV2, TW_IN(g->output_grads[0], shape, g->inputs[2]), 3, &attr, 1, outputs,
                            &count) != TW_OK)
        return tw__error_status();
    g->input_grads[0] = outputs[0];
    tw_release(outputs[1]);
    return TW_OK;
}
