/* The base class of constraints, finding them by name, and MaxNorm, NonNeg, UnitNorm, MinMaxNorm. */
#include "keras/constraints/constraints.h"

#include "keras/keras.h"
#include "keras/losses/losses.h"
#include "keras/own.h"
#include "op/array/array.h"
#include "op/calls.h"

static tw_tensor *call(tw_callable *self, tw_tensor *value)
{
    const tw__constraint_methods *methods = tw__methods(self);
    return methods ? methods->apply((tw_constraint *)self, value) : tw_retain(value);
}

static tw_status constraint_init(void *self, const void *given)
{
    (void)given;
    return tw__callable_init(self, call);
}

TW_CLASS(constraint, "keras.constraints.Constraint() -> constraint", .parent = &tw__callable_class, .size = sizeof(tw_constraint),
         .init = constraint_init, .doc = "Base class: gives a value as it is.");

TW_METHOD(constraint_call, "keras.constraints.Constraint.__call__(self: constraint, w: tensor) -> tensor",
          "The value that the constraint allows.\n"
          "w: the values\n"
          "returns: a tensor of the same shape")
{
    return call(&args->self->callable, args->w);
}

TW_METHOD(constraint_get_config, "keras.constraints.Constraint.get_config(self: constraint) -> value",
          "The arguments it was made with, as a dict.")
{
    return tw__plain_config(args->self);
}

/* ---- by name ---- */

static const tw__callable_name names[] = {
    { "max_norm", "constraints_max_norm" },       { "MaxNorm", "constraints_max_norm" },
    { "non_neg", "constraints_non_neg" },         { "NonNeg", "constraints_non_neg" },
    { "nonneg", "constraints_non_neg" },          { "maxnorm", "constraints_max_norm" },
    { "unit_norm", "constraints_unit_norm" },     { "UnitNorm", "constraints_unit_norm" },
    { "unitnorm", "constraints_unit_norm" },      { "min_max_norm", "constraints_min_max_norm" },
    { "MinMaxNorm", "constraints_min_max_norm" },
};

tw_callable *tw__constraint_get(tw_named named)
{
    return tw__callable_get(named, "constraint", names, sizeof names / sizeof *names);
}

tw_status tw__constraint_check(tw_named named)
{
    tw_callable *found = named ? tw__constraint_get(named) : NULL;
    tw_release(found);
    return !named || found ? TW_OK : tw__error_status();
}

TW_API(constraints_get, "keras.constraints._get(identifier: named<constraint>) -> callable",
       "The constraint of that name, or the object itself.")
{
    return tw__constraint_get(args->identifier);
}

/* ---- the classes ---- */

/* The square root of the sum of squares along the axes, which are kept; left to t. */
static tw_tensor *norms_of(tw__temps *t, tw_tensor *value, tw_ints axis)
{
    tw_tensor *axes = tw__temp_ints(t, axis.items, axis.count, TW_INT32);
    return TW_TEMP(Sqrt, TW_TEMP(Sum, TW_TEMP(Square, value), axes, TW_A_BOOL("keep_dims", true)));
}

/* value * (wanted / (epsilon + norms)) */
static tw_tensor *scaled(tw_tensor *value, tw_tensor *wanted, tw_tensor *norms)
{
    TW_TEMPS(t);
    return TW_CALL(Mul, value, TW_TEMP(RealDiv, wanted, TW_TEMP(AddV2, tw__keras_epsilon(), norms)));
}

static tw_tensor *max_norm(tw_constraint *self, tw_tensor *value)
{
    TW_TEMPS(t);
    const tw_constraints_max_norm_args *args = tw_object_config(self);
    tw_tensor *norms = norms_of(t, value, args->axis);
    return scaled(value, TW_TEMP(ClipByValue, norms, 0.0, args->max_value), norms);
}
static const tw__constraint_methods max_norm_methods = { max_norm };

TW_CLASS(constraints_max_norm,
         "keras.constraints.MaxNorm|keras.constraints.max_norm(max_value: float = 2, axis: ints = 0) -> constraint",
         .parent = &tw__class_constraint, .size = sizeof(tw_constraint), .methods = &max_norm_methods,
         .doc = "Norms along an axis are at most max_value.\n"
                "max_value: the greatest norm\n"
                "axis: the dimensions that norms go over");

static tw_tensor *non_neg(tw_constraint *self, tw_tensor *value)
{
    (void)self;
    if (!tw__dtype_is_float(value->dtype)) {
        tw__fail(TW_TYPE_ERROR, "NonNeg: a value of dtype %s, expected a floating point type", tw_dtype_name(value->dtype));
        return NULL;
    }
    TW_TEMPS(t);
    return TW_CALL(Mul, value, tw__temp_cast(t, TW_TEMP(GreaterEqual, value, 0.0), value->dtype));
}
static const tw__constraint_methods non_neg_methods = { non_neg };

TW_CLASS(constraints_non_neg, "keras.constraints.NonNeg|keras.constraints.non_neg() -> constraint",
         .parent = &tw__class_constraint, .size = sizeof(tw_constraint), .methods = &non_neg_methods,
         .doc = "Values below 0 become 0.");

static tw_tensor *unit_norm(tw_constraint *self, tw_tensor *value)
{
    TW_TEMPS(t);
    const tw_constraints_unit_norm_args *args = tw_object_config(self);
    return TW_CALL(RealDiv, value, TW_TEMP(AddV2, tw__keras_epsilon(), norms_of(t, value, args->axis)));
}
static const tw__constraint_methods unit_norm_methods = { unit_norm };

TW_CLASS(constraints_unit_norm, "keras.constraints.UnitNorm|keras.constraints.unit_norm(axis: ints = 0) -> constraint",
         .parent = &tw__class_constraint, .size = sizeof(tw_constraint), .methods = &unit_norm_methods,
         .doc = "Norms along an axis are 1.\n"
                "axis: the dimensions that norms go over");

static tw_tensor *min_max_norm(tw_constraint *self, tw_tensor *value)
{
    TW_TEMPS(t);
    const tw_constraints_min_max_norm_args *args = tw_object_config(self);
    tw_tensor *norms = norms_of(t, value, args->axis);
    tw_tensor *inside = TW_TEMP(Mul, args->rate, TW_TEMP(ClipByValue, norms, args->min_value, args->max_value));
    return scaled(value, TW_TEMP(AddV2, inside, TW_TEMP(Mul, 1 - args->rate, norms)), norms);
}
static const tw__constraint_methods min_max_norm_methods = { min_max_norm };

TW_CLASS(
    constraints_min_max_norm,
    "keras.constraints.MinMaxNorm|keras.constraints.min_max_norm(min_value: float = 0.0, max_value: float = 1.0, rate: float = 1.0, "
    "axis: ints = 0) -> constraint",
    .parent = &tw__class_constraint, .size = sizeof(tw_constraint), .methods = &min_max_norm_methods,
    .doc = "Norms along an axis come closer to [min_value, max_value], by the rate.\n"
           "min_value: the least norm\n"
           "max_value: the greatest norm\n"
           "rate: 1: norms are brought into the range at once; less: a part of the way at each step\n"
           "axis: the dimensions that norms go over");

/* Every ring around the middle of a square kernel has one value, that of Keras's element of the diagonal. */
static tw_tensor *radial(tw_constraint *self, tw_tensor *value)
{
    (void)self;
    TW_TEMPS(t);
    enum { LARGEST = 1 << 12 };
    const tw_shape *shape = &value->shape;
    int64_t size = shape->rank == 4 ? shape->dims[0] : -1, start = size / 2;
    if (shape->rank != 4) {
        tw__owned char *text = tw__shape_tuple(shape);
        tw__fail(TW_VALUE_ERROR, "The weight tensor must have rank 4. Received weight tensor with shape: %s", text ? text : "");
        return NULL;
    }
    if (size < 2 || size > LARGEST || shape->dims[1] != size) {
        tw__fail(TW_VALUE_ERROR, "RadialConstraint: kernels of %lld x %lld, expected squares of 2 to %d", (long long)size,
                 (long long)shape->dims[1], LARGEST);
        return NULL;
    }
    tw_tensor *places = tw__temp(t, tw_tensor_new(TW_INT32, TW_SHAPE(size * size), NULL));
    int32_t *place = places ? places->data : NULL;
    for (int64_t i = 0; place && i < size * size; i++) {
        int64_t row = i / size, column = i % size; /* how far from the middle: 0 for the one element, or the four, there */
        row = row < start ? size - 1 - row : row;
        column = column < start ? size - 1 - column : column;
        int64_t ring = (row > column ? row : column) - start;
        int64_t at = ring == 0 ? start - 1 : size % 2 ? start + ring - 1 : start + ring;
        place[i] = (int32_t)(at * (size + 1));
    }
    tw_shape flat = TW_SHAPE(size * size, shape->dims[2], shape->dims[3]);
    tw_tensor *rows = place ? TW_TEMP(GatherV2, tw__temp(t, tw__reshape(value, &flat)), places, 0) : NULL;
    return rows ? tw__reshape(rows, shape) : NULL;
}
static const tw__constraint_methods radial_methods = { radial };

TW_CLASS(constraints_radial_constraint, "keras.constraints.RadialConstraint|keras.constraints.radial_constraint() -> constraint",
         .parent = &tw__class_constraint, .size = sizeof(tw_constraint), .methods = &radial_methods,
         .doc = "Square kernels of convolutions are the same in all directions from their middle.");
