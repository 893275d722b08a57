/* What gradient functions share; see op/gradient.h. */
#include "kernel/kernel.h"
#include "op/array/array.h"
#include "op/gradient.h"
#include "rows.h"

void tw__grad_set(tw__gradient *g, int input, tw_tensor *gradient)
{
    if (!g->wanted[input]) {
        tw_release(gradient);
        return;
    }
    bool alone = g->input_count == 1; /* nothing to be broadcast with */
    g->input_grads[input] =
        alone && gradient && !tw__shape_known(&gradient->shape) ? gradient : tw__grad_unbroadcast(gradient, g->inputs[input]);
}

tw_status tw__grad_status(const tw__gradient *g)
{
    for (int i = 0; i < g->input_count; i++) {
        tw_dtype dtype =
            g->inputs[i]->dtype; /* conditions and indices are wanted too where a function's tape watches all arguments */
        bool real = tw__dtype_is_float(dtype) || tw__dtype_is_complex(dtype);
        if (real && g->wanted[i] && !g->input_grads[i])
            return tw__error_status();
    }
    return TW_OK;
}

/* The same by ops, where a shape is not known yet. */
static tw_tensor *unbroadcast_later(tw_tensor *gradient, tw_tensor *input)
{
    TW_TEMPS(t);
    tw_auto tw_tensor *own = tw__shape_as_tensor(input, TW_INT32);
    tw_auto tw_tensor *whole = own ? tw__shape_as_tensor(gradient, TW_INT32) : NULL;
    tw_tensor *axes[2] = { NULL, NULL };
    int count = 2;
    if (!whole || tw__apply(&tw__op_BroadcastGradientArgs, TW_IN(own, whole), 2, NULL, 0, axes, &count) != TW_OK) {
        tw_release(gradient);
        return NULL;
    }
    tw_release(axes[1]);
    return TW_CALL(Reshape, TW_TEMP(Sum, tw__temp(t, gradient), tw__temp(t, axes[0])), own);
}

tw_tensor *tw__grad_unbroadcast(tw_tensor *gradient, tw_tensor *input)
{
    if (!gradient)
        return NULL;
    const tw_shape *shape = &input->shape;
    if (!tw__shape_known(shape) || !tw__shape_known(&gradient->shape))
        return unbroadcast_later(gradient, input);
    if (tw__shape_equal(&gradient->shape, shape))
        return gradient;
    int64_t axes[TW_MAX_RANK], count = 0;
    const tw_shape *whole = &gradient->shape;
    int added = whole->rank - shape->rank;
    for (int i = 0; i < whole->rank; i++) {
        if (i < added || (shape->dims[i - added] == 1 && whole->dims[i] != 1))
            axes[count++] = i;
    }
    tw_tensor *sum = gradient;
    if (count) {
        tw_auto tw_tensor *indices = tw_tensor_new(TW_INT64, TW_SHAPE(count), axes);
        sum = TW_CALL(Sum, gradient, indices);
        tw_release(gradient);
    }
    if (sum && !tw__shape_equal(&sum->shape, shape)) {
        tw_auto tw_tensor *target = tw__tensor_of_shape(shape, TW_INT64);
        tw_tensor *shaped = TW_CALL(Reshape, sum, target);
        tw_release(sum);
        return shaped;
    }
    return sum;
}

tw_tensor *tw__grad_conj(tw_tensor *tensor)
{
    return tw__dtype_is_complex(tensor->dtype) ? TW_CALL(Conj, tensor) : tw_retain(tensor);
}

tw_tensor *tw__grad_not_zero(tw_tensor *tensor)
{
    tw_auto tw_tensor *mask = TW_CALL(NotEqual, tensor, 0.0);
    return TW_CALL(Cast, mask, TW_A_TYPE("DstT", tensor->dtype));
}
