/* The base class of regularizers, finding them by name, and L1, L2, L1L2, OrthogonalRegularizer. */
#include "keras/regularizers/regularizers.h"

#include <math.h>

#include "keras/keras.h"
#include "keras/own.h"
#include "op/array/array.h"
#include "op/calls.h"

static tw_tensor *call(tw_callable *self, tw_tensor *value)
{
    const tw__regularizer_methods *methods = tw__methods(self);
    return methods ? methods->apply((tw_regularizer *)self, value) : tw__grad_constant(0, value);
}

static tw_status regularizer_init(void *self, const void *given)
{
    (void)given;
    return tw__callable_init(self, call);
}

TW_CLASS(regularizer, "keras.regularizers.Regularizer() -> regularizer", .parent = &tw__callable_class,
         .size = sizeof(tw_regularizer), .init = regularizer_init, .doc = "Base class: no penalty.");

TW_METHOD(regularizer_call, "keras.regularizers.Regularizer.__call__(self: regularizer, x: tensor) -> tensor",
          "The penalty of a value.")
{
    return call(&args->self->callable, args->x);
}

TW_METHOD(regularizer_get_config, "keras.regularizers.Regularizer.get_config(self: regularizer) -> value",
          "The arguments it was made with, as a dict.")
{
    return tw__plain_config(args->self);
}

/* ---- by name ---- */

static const tw__callable_name names[] = {
    { "l1", "regularizers_l1" },
    { "L1", "regularizers_l1" },
    { "l2", "regularizers_l2" },
    { "L2", "regularizers_l2" },
    { "L1L2", "regularizers_l1l2" },
    { "OrthogonalRegularizer", "regularizers_orthogonal_regularizer" },
    { "orthogonal_regularizer", "regularizers_orthogonal_regularizer" },
};

tw_callable *tw__regularizer_get(tw_named named)
{
    if (named && !tw__named_is_object(named) &&
        strcmp(named, "l1_l2") == 0) /* the function, whose defaults are others than the class's */
        return tw_class_make(&tw__class_regularizers_l1l2, &(tw_regularizers_l1l2_args){ .l1 = 0.01, .l2 = 0.01 });
    return tw__callable_get(named, "regularizer", names, sizeof names / sizeof *names);
}

tw_status tw__regularizer_check(tw_named named)
{
    tw_callable *found = named ? tw__regularizer_get(named) : NULL;
    tw_release(found);
    return !named || found ? TW_OK : tw__error_status();
}

TW_API(regularizers_get, "keras.regularizers.get(identifier: named<regularizer> = None) -> callable",
       "The regularizer of that name, or the object itself.\n"
       "identifier: a name, a dict that describes one, or a regularizer")
{
    return args->identifier ? tw__regularizer_get(args->identifier) : NULL;
}

/* ---- the classes ---- */

/* Factors are kept as float32, as Keras keeps them: configs show it. */
static tw_status check(const char *name, const double *value_)
{
    double value = *value_;
    *(double *)(uintptr_t)value_ = (double)(float)value;
    if (isfinite(value))
        return TW_OK;
    return tw__fail(TW_VALUE_ERROR, "Invalid Regularizer (%s): %g: must be a finite number", name, value);
}

static tw_tensor *absolute(tw_tensor *value, double factor)
{
    TW_TEMPS(t);
    return TW_CALL(Mul, factor, tw__temp(t, tw__reduce_axis(&tw__op_Sum, TW_TEMP(Abs, value), TW_NO_INT, false)));
}

static tw_tensor *squares(tw_tensor *value, double factor)
{
    TW_TEMPS(t);
    return TW_CALL(Mul, 2 * factor, TW_TEMP(L2Loss, value));
}

static tw_tensor *l1(tw_regularizer *self, tw_tensor *value)
{
    return absolute(value, ((const tw_regularizers_l1_args *)tw_object_config(self))->l1);
}
static const tw__regularizer_methods l1_methods = { l1 };

static tw_status l1_init(void *self, const void *given)
{
    (void)self;
    return check("l1", &((const tw_regularizers_l1_args *)given)->l1);
}

TW_CLASS(regularizers_l1, "keras.regularizers.L1|keras.regularizers.l1(l1: float = 0.01) -> regularizer",
         .parent = &tw__class_regularizer, .size = sizeof(tw_regularizer), .init = l1_init, .methods = &l1_methods,
         .doc = "l1 * sum(abs(x)).");

static tw_tensor *l2(tw_regularizer *self, tw_tensor *value)
{
    return squares(value, ((const tw_regularizers_l2_args *)tw_object_config(self))->l2);
}
static const tw__regularizer_methods l2_methods = { l2 };

static tw_status l2_init(void *self, const void *given)
{
    (void)self;
    return check("l2", &((const tw_regularizers_l2_args *)given)->l2);
}

TW_CLASS(regularizers_l2, "keras.regularizers.L2|keras.regularizers.l2(l2: float = 0.01) -> regularizer",
         .parent = &tw__class_regularizer, .size = sizeof(tw_regularizer), .init = l2_init, .methods = &l2_methods,
         .doc = "l2 * sum(x ** 2).");

static tw_tensor *l1l2(tw_regularizer *self, tw_tensor *value)
{
    TW_TEMPS(t);
    const tw_regularizers_l1l2_args *args = tw_object_config(self);
    tw_tensor *sum = tw__temp(t, tw__grad_constant(0, value));
    if (args->l1 != 0)
        sum = TW_TEMP(AddV2, sum, tw__temp(t, absolute(value, args->l1)));
    if (args->l2 != 0)
        sum = TW_TEMP(AddV2, sum, tw__temp(t, squares(value, args->l2)));
    return tw__keep(t, sum);
}
static const tw__regularizer_methods l1l2_methods = { l1l2 };

static tw_status l1l2_init(void *self, const void *given)
{
    (void)self;
    const tw_regularizers_l1l2_args *args = given;
    TW_TRY(check("l1", &args->l1));
    return check("l2", &args->l2);
}

TW_CLASS(regularizers_l1l2, "keras.regularizers.L1L2(l1: float = 0.0, l2: float = 0.0) -> regularizer",
         .parent = &tw__class_regularizer, .size = sizeof(tw_regularizer), .init = l1l2_init, .methods = &l1l2_methods,
         .doc = "l1 * sum(abs(x)) + l2 * sum(x ** 2).");

TW_API(regularizers_l1_l2, "keras.regularizers.l1_l2(l1: float = 0.01, l2: float = 0.01) -> regularizer",
       "An L1L2 of these factors.")
{
    return tw_class_make(&tw__class_regularizers_l1l2, &(tw_regularizers_l1l2_args){ .l1 = args->l1, .l2 = args->l2 });
}

/* 0 on the diagonal, 1 elsewhere. */
static tw_tensor *off_diagonal(int64_t size, tw_dtype dtype)
{
    tw_auto tw_tensor *ones = size < 0 ? NULL : tw_tensor_new(TW_FLOAT32, TW_SHAPE(size, size), NULL);
    if (size < 0)
        tw__fail(TW_VALUE_ERROR, "OrthogonalRegularizer: the shape of the value is not known");
    for (int64_t i = 0; ones && i < ones->count; i++)
        ((float *)ones->data)[i] = i % (size + 1) != 0;
    return ones ? TW_CALL(Cast, ones, TW_A_TYPE("DstT", dtype)) : NULL;
}

/* Rows (columns) of length 1; the mean of the absolute products of all pairs of them. */
static tw_tensor *orthogonal(tw_regularizer *self, tw_tensor *value)
{
    const tw_regularizers_orthogonal_regularizer_args *args = tw_object_config(self);
    bool rows = strcmp(args->mode, "rows") == 0;
    if (value->shape.rank != 2) {
        tw__fail(TW_VALUE_ERROR, "Inputs to OrthogonalRegularizer must have rank 2. Received: inputs.shape=%s",
                 tw__shape_text(&value->shape));
        return NULL;
    }
    int64_t axis = rows ? 1 : 0, size = value->shape.dims[rows ? 0 : 1];
    TW_TEMPS(t);
    tw_tensor *sums = tw__temp(t, tw__reduce_axis(&tw__op_Sum, TW_TEMP(Square, value), axis, true));
    tw_tensor *unit = TW_TEMP(Mul, value, TW_TEMP(Rsqrt, TW_TEMP(Maximum, 1e-12, sums)));
    tw_tensor *product = TW_TEMP(MatMul, unit, unit, TW_A_BOOL(rows ? "transpose_b" : "transpose_a", true));
    tw_tensor *others = TW_TEMP(Mul, product, tw__temp(t, off_diagonal(size, value->dtype)));
    double pairs = (double)size * ((double)size - 1) / 2;
    return others ? TW_CALL(RealDiv, tw__temp(t, absolute(others, args->factor * 0.5)), pairs) : NULL;
}
static const tw__regularizer_methods orthogonal_methods = { orthogonal };

static tw_status orthogonal_init(void *self, const void *given)
{
    (void)self;
    const tw_regularizers_orthogonal_regularizer_args *args = given;
    if (strcmp(args->mode, "rows") == 0 || strcmp(args->mode, "columns") == 0)
        return TW_OK;
    return tw__fail(TW_VALUE_ERROR,
                    "Invalid value for argument `mode`. Expected one of {\"rows\", \"columns\"}. Received: mode=%s", args->mode);
}

TW_CLASS(
    regularizers_orthogonal_regularizer,
    "keras.regularizers.OrthogonalRegularizer|keras.regularizers.orthogonal_regularizer(factor: float = 0.01, mode: str = rows) -> regularizer",
    .parent = &tw__class_regularizer, .size = sizeof(tw_regularizer), .init = orthogonal_init, .methods = &orthogonal_methods,
    .doc = "Wants the rows (or columns) of a matrix to be orthogonal to each other.\n"
           "factor: the factor of the penalty\n"
           "mode: what is to be orthogonal: `rows` or `columns`");
