/* Small layers: Masking, ELU, PReLU, ThresholdedReLU, ActivityRegularization, Rescaling, Identity. */
#include "keras/callable.h"
#include "keras/constraints/constraints.h"
#include "keras/layers/layers.h"
#include "keras/regularizers/regularizers.h"
#include "op/array/array.h"
#include "op/calls.h"

/* As Keras keeps it: a float32. */
static tw_value narrow(double number)
{
    return (tw_value){ .kind = TW_VALUE_FLOAT, .f = (double)(float)number };
}

/* ---- Masking ---- */

/* Steps with an element that is not the value. */
static tw_tensor *other_steps(tw_layer *self, tw_tensor *input, bool keep)
{
    const tw_layers_masking_args *args = tw_object_config(self);
    tw_auto tw_tensor *differs = TW_CALL(NotEqual, input, args->mask_value);
    return TW_CALL(Any, differs, -1, TW_A_BOOL("keep_dims", keep));
}

static tw_tensor *masking_mask(tw_layer *self, tw_tensor *input, tw_tensor *mask)
{
    (void)mask;
    return other_steps(self, input, false);
}

static tw_tensor *masking_call(tw_layer *self, tw_tensor *input, int training)
{
    TW_TEMPS(t);
    (void)training;
    return TW_CALL(Mul, input, tw__temp_cast(t, tw__temp(t, other_steps(self, input, true)), input->dtype));
}

static const tw__layer_methods masking_methods = { .supports_masking = true, .call = masking_call, .mask = masking_mask };

TW_CLASS(layers_masking, "keras.layers.Masking(mask_value: float = 0.0, **layer) -> layer", .parent = &tw__class_layer,
         .size = sizeof(tw_layer), .methods = &masking_methods,
         .doc = "Steps whose elements all have the value are left out by the layers behind.\n"
                "mask_value: the value of steps that are left out");

/* ---- ELU, ThresholdedReLU, PReLU ---- */

static tw_tensor *elu_call(tw_layer *self, tw_tensor *input, int training)
{
    TW_TEMPS(t);
    (void)training;
    double alpha = ((const tw_layers_elu_args *)tw_object_config(self))->alpha;
    tw_tensor *plain = TW_TEMP(Elu, input);
    if (alpha == 1)
        return tw__keep(t, plain);
    return TW_CALL(SelectV2, TW_TEMP(Greater, input, 0.0), plain, TW_TEMP(Mul, alpha, plain));
}

static void elu_config(tw_layer *self, tw__dict *dict)
{
    tw__dict_put(dict, "alpha", narrow(((const tw_layers_elu_args *)tw_object_config(self))->alpha));
}

static const tw__layer_methods elu_methods = {
    .supports_masking = true, .call = elu_call, .config = elu_config, .own_config = " alpha "
};

TW_CLASS(layers_elu, "keras.layers.ELU(alpha: float = 1.0, **layer) -> layer", .parent = &tw__class_layer,
         .size = sizeof(tw_layer), .methods = &elu_methods,
         .doc = "x above 0, alpha * (exp(x) - 1) below.\n"
                "alpha: the negative of the value that very small inputs come close to");

static tw_tensor *threshold_call(tw_layer *self, tw_tensor *input, int training)
{
    TW_TEMPS(t);
    (void)training;
    double theta = ((const tw_layers_thresholded_re_lu_args *)tw_object_config(self))->theta;
    return TW_CALL(Mul, input, tw__temp_cast(t, TW_TEMP(Greater, input, theta), input->dtype));
}

static void threshold_config(tw_layer *self, tw__dict *dict)
{
    tw__dict_put(dict, "theta", narrow(((const tw_layers_thresholded_re_lu_args *)tw_object_config(self))->theta));
}

static const tw__layer_methods threshold_methods = {
    .supports_masking = true, .call = threshold_call, .config = threshold_config, .own_config = " theta "
};

TW_CLASS(layers_thresholded_re_lu, "keras.layers.ThresholdedReLU(theta: float = 1.0, **layer) -> layer",
         .parent = &tw__class_layer, .size = sizeof(tw_layer), .methods = &threshold_methods,
         .doc = "x above theta, 0 elsewhere.\n"
                "theta: the bound above which inputs pass");

static tw_status prelu_build(tw_layer *self, const tw_shape *input)
{
    const tw_layers_p_re_lu_args *args = tw_object_config(self);
    if (input->rank < 1)
        return tw__fail(TW_VALUE_ERROR, "PReLU \"%s\": the rank of the input is not known", self->name);
    tw_shape shape = { .rank = input->rank - 1 };
    memcpy(shape.dims, input->dims + 1, (size_t)shape.rank * sizeof *shape.dims);
    for (int64_t i = 0; i < args->shared_axes.count; i++) {
        int64_t axis = args->shared_axes.items[i];
        if (axis < 1 || axis >= input->rank)
            return tw__fail(TW_VALUE_ERROR, "PReLU \"%s\": shared_axes has %lld, expected 1 to %d", self->name, (long long)axis,
                            input->rank - 1);
        shape.dims[axis - 1] = 1;
    }
    return tw__layer_add_part(self, "alpha", &shape);
}

static tw_tensor *prelu_call(tw_layer *self, tw_tensor *input, int training)
{
    TW_TEMPS(t);
    (void)training;
    tw_tensor *alpha = tw__temp(t, tw__layer_read(self, "alpha")), *negative = TW_TEMP(Relu, TW_TEMP(Neg, input));
    return TW_CALL(AddV2, TW_TEMP(Relu, input), TW_TEMP(Mul, TW_TEMP(Neg, alpha), negative));
}

static const tw__layer_methods prelu_methods = { .supports_masking = true, .build = prelu_build, .call = prelu_call };

TW_CLASS(layers_p_re_lu,
         "keras.layers.PReLU(alpha_initializer: named<initializer> = zeros, alpha_regularizer: named<regularizer> = None, "
         "alpha_constraint: named<constraint> = None, shared_axes: ints = None, **layer) -> layer",
         .parent = &tw__class_layer, .size = sizeof(tw_layer), .methods = &prelu_methods,
         .doc = "x above 0, alpha * x below, with an alpha that is learnt.\n"
                "alpha_initializer: what makes the first slopes\n"
                "alpha_regularizer: what is added to the loss for the slopes\n"
                "alpha_constraint: what the slopes are changed by after every update\n"
                "shared_axes: the dimensions along which all elements have the same slope; 1 is the first one behind the batch");

/* ---- ActivityRegularization ---- */

static tw_status activity_init(void *self, const void *given)
{
    const tw_layers_activity_regularization_args *args = given;
    tw_layer *layer = self;
    layer->supports_masking = true;
    layer->activity_regularizer =
        tw_class_make(&tw__class_regularizers_l1l2, &(tw_regularizers_l1l2_args){ .l1 = args->l1, .l2 = args->l2 });
    return layer->activity_regularizer ? TW_OK : tw__error_status();
}

static tw_tensor *same_call(tw_layer *self, tw_tensor *input, int training)
{
    (void)self, (void)training;
    return tw_retain(input);
}

static const tw__layer_methods same_methods = { .call = same_call };

TW_CLASS(layers_activity_regularization,
         "keras.layers.ActivityRegularization(l1: float = 0.0, l2: float = 0.0, **layer) -> layer", .parent = &tw__class_layer,
         .size = sizeof(tw_layer), .init = activity_init, .methods = &same_methods,
         .doc = "Inputs pass; a penalty of them is added to the loss.\n"
                "l1: the factor of the sum of absolute values\n"
                "l2: the factor of the sum of squares");

static tw_tensor *identity_call(tw_layer *self, tw_tensor *input, int training)
{
    (void)self, (void)training;
    return tw__masked_copy(input, NULL);
}

static const tw__layer_methods identity_methods = { .call = identity_call };

TW_CLASS(layers_identity, "keras.layers.Identity(**layer) -> layer", .parent = &tw__class_layer, .size = sizeof(tw_layer),
         .methods = &identity_methods, .doc = "Inputs pass.");

/* ---- Rescaling ---- */

static tw_tensor *rescale_call(tw_layer *self, tw_tensor *input, int training)
{
    TW_TEMPS(t);
    (void)training;
    const tw_layers_rescaling_args *args = tw_object_config(self);
    return TW_CALL(AddV2, TW_TEMP(Mul, tw__temp_cast(t, input, self->compute_dtype), args->scale), args->offset);
}

static const tw__layer_methods rescale_methods = { .call = rescale_call };

TW_CLASS(
    layers_rescaling,
    "keras.layers.Rescaling|keras.layers.experimental.preprocessing.Rescaling(scale: float, offset: float = 0.0, **layer) -> layer",
    .parent = &tw__class_layer, .size = sizeof(tw_layer), .methods = &rescale_methods,
    .doc =
        "inputs * scale + offset.\n"
        "scale: the factor\n"
        "offset: what is added after the multiplication\n"
        "example: tf.keras.layers.Rescaling(2.0, offset=-1.0)(tf.constant([0.0, 0.5, 1.0])).numpy().tolist()  # [-1.0, 0.0, 1.0]");
