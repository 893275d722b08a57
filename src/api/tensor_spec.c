/* tf.TensorSpec: dtype, shape and perhaps the name of tensors; see tensor_spec.h. */
#include "api/tensor_spec.h"
#include "eager/eager.h"
#include "rows.h"

static tw_status spec_init(void *self, const void *given)
{
    tw_tensor_spec *spec = self;
    const tw_tensor_spec_args *args = given;
    spec->shape = args->shape;
    spec->dtype = args->dtype;
    spec->name = args->name ? tw__strdup(args->name) : NULL;
    return args->name && !spec->name ? TW_RESOURCE_EXHAUSTED : TW_OK;
}

static void spec_destroy(void *self)
{
    tw__free(((tw_tensor_spec *)self)->name);
}

static int spec_parts(const void *self, tw_shape *shapes, tw_dtype *dtypes)
{
    const tw_tensor_spec *spec = self;
    shapes[0] = spec->shape;
    dtypes[0] = spec->dtype;
    return 1;
}

static void *spec_pack(const void *self, tw_tensor *const *parts)
{
    (void)self;
    return tw_retain(parts[0]);
}

static void shape_and_dtype(tw__text *text, const char *kind, const tw_shape *shape, tw_dtype dtype)
{
    char *tuple = tw__shape_tuple(shape);
    text->failed |= !tuple;
    tw__text_format(text, "%s(shape=%s, dtype=tf.%s", kind, tuple ? tuple : "", tw_dtype_name(dtype));
    tw__free(tuple);
}

static void spec_text(const void *self, tw__text *text)
{
    const tw_tensor_spec *spec = self;
    shape_and_dtype(text, "TensorSpec", &spec->shape, spec->dtype);
    tw__text_format(text, spec->name ? ", name='%s')" : ", name=None)", spec->name);
}

static bool spec_covers(const void *self, const void *other)
{
    const tw_tensor_spec *wide = self, *narrow = other;
    bool named = !wide->name || (narrow->name && strcmp(wide->name, narrow->name) == 0);
    return named && wide->dtype == narrow->dtype && tw__shape_covers(&wide->shape, &narrow->shape);
}

static const tw__type_spec_methods spec_methods = { spec_parts, spec_pack, spec_text, spec_covers };

TW_CLASS(tensor_spec, "TensorSpec(shape: shape?, dtype: dtype = float32, name: str = None)", .parent = &tw__class_type_spec,
         .size = sizeof(tw_tensor_spec), .init = spec_init, .destroy = spec_destroy, .methods = &spec_methods,
         .drop_config = true,
         .doc = "The shape, the dtype and perhaps the name of tensors.\n"
                "shape: the shape of the tensors; None in it for lengths that may be any, None alone for any rank");

tw_tensor_spec *tw__tensor_spec_new(tw_dtype dtype, const tw_shape *shape, const char *name)
{
    tw_tensor_spec *spec = tw__object_new(&tw__class_tensor_spec);
    if (!spec)
        return NULL;
    spec->shape = *shape;
    spec->dtype = dtype;
    spec->name = name ? tw__strdup(name) : NULL;
    if (!name || spec->name)
        return spec;
    tw_release(spec);
    return NULL;
}

TW_PROPERTY(tensor_spec_shape, "TensorSpec.shape(self: tensor_spec) -> shape", "The shape, as far as it is known.")
{
    return args->self->shape;
}

TW_PROPERTY(tensor_spec_dtype, "TensorSpec.dtype(self: tensor_spec) -> dtype", "The dtype.")
{
    return args->self->dtype;
}

TW_PROPERTY(tensor_spec_name, "TensorSpec.name(self: tensor_spec) -> value", "The name, or None.")
{
    return args->self->name ? tw__value_str(args->self->name) : (tw_value){ .kind = TW_VALUE_NONE };
}

/* What a value says of dtype and shape; false if it is no tensor, variable or such a spec. */
static bool dtype_and_shape(const tw_value *value, tw_dtype *dtype, const tw_shape **shape)
{
    if (value->kind == TW_VALUE_TENSOR) {
        *dtype = value->tensor->dtype;
        *shape = &value->tensor->shape;
        return true;
    }
    const void *object = value->kind == TW_VALUE_OBJECT ? value->object : NULL;
    if (tw__is(object, &tw__class_tensor_spec)) {
        *dtype = ((const tw_tensor_spec *)object)->dtype;
        *shape = &((const tw_tensor_spec *)object)->shape;
    } else if (tw__is(object, &tw__class_variable)) {
        *dtype = ((const tw_variable *)object)->resource->dtype;
        *shape = &((const tw_variable *)object)->resource->shape;
    } else {
        return false;
    }
    return true;
}

TW_METHOD(tensor_spec_is_compatible_with, "TensorSpec.is_compatible_with(self: tensor_spec, spec_or_value: value) -> bool",
          "Whether a tensor, or a tensor of another spec, can be one of these.\n"
          "spec_or_value: a value, or a spec")
{
    tw_dtype dtype;
    const tw_shape *shape;
    return dtype_and_shape(&args->spec_or_value, &dtype, &shape) && dtype == args->self->dtype &&
           tw__shape_compatible(&args->self->shape, shape);
}

/* Makes `shape` so wide that it has room for the other. */
static void widen(tw_shape *shape, const tw_shape *other)
{
    if (shape->rank != other->rank)
        shape->rank = -1;
    for (int d = 0; d < shape->rank; d++)
        shape->dims[d] = shape->dims[d] == other->dims[d] ? shape->dims[d] : -1;
}

static bool same_name(const char *a, const char *b)
{
    return a == b || (a && b && strcmp(a, b) == 0);
}

TW_METHOD(tensor_spec_common, "TensorSpec.most_specific_common_supertype(self: tensor_spec, others: list<type_spec>) -> value",
          "The narrowest spec that describes what this and the others do; None if there is none.\n"
          "others: specs")
{
    tw_shape shape = args->self->shape;
    for (int64_t i = 0; i < args->others.count; i++) {
        const tw_tensor_spec *other = args->others.items[i];
        if (!tw__is(other, &tw__class_tensor_spec) || other->dtype != args->self->dtype ||
            !same_name(other->name, args->self->name))
            return (tw_value){ .kind = TW_VALUE_NONE };
        widen(&shape, &other->shape);
    }
    return tw__value_of_object(tw__tensor_spec_new(args->self->dtype, &shape, args->self->name));
}

TW_METHOD(tensor_spec_compatible_type, "TensorSpec.most_specific_compatible_type(self: tensor_spec, other: type_spec) -> value",
          "The narrowest spec that describes what both do, whatever their names.\n"
          "other: another spec")
{
    const tw_tensor_spec *self = args->self, *other = (const void *)args->other;
    if (!tw__is(other, &tw__class_tensor_spec) || other->dtype != self->dtype) {
        char *own = tw__spec_text(&args->self->spec), *text = tw__spec_text(args->other);
        tw__fail(TW_VALUE_ERROR, "No TypeSpec is compatible with both %s and %s", own ? own : "", text ? text : "");
        tw__free(own);
        tw__free(text);
        return (tw_value){ .kind = TW_VALUE_NONE };
    }
    tw_shape shape = self->shape;
    widen(&shape, &other->shape);
    return tw__value_of_object(tw__tensor_spec_new(self->dtype, &shape, same_name(self->name, other->name) ? self->name : NULL));
}

tw_status tw__tensor_spec_check(const tw_tensor_spec *spec, const tw_tensor *tensor)
{
    if (tensor->dtype == spec->dtype && tw__shape_compatible(&spec->shape, &tensor->shape))
        return TW_OK;
    tw__text got = { 0 }, wanted = { 0 };
    spec_text(&(tw_tensor_spec){ .shape = tensor->shape, .dtype = tensor->dtype, .name = spec->name }, &got);
    spec_text(spec, &wanted);
    tw_status status = tw__fail(TW_TYPE_ERROR, "Can not cast %s to %s", got.data ? got.data : "", wanted.data ? wanted.data : "");
    tw__text_free(&got);
    tw__text_free(&wanted);
    return status;
}

/* ---- variables ---- */

static tw_status variable_spec_init(void *self, const void *given)
{
    tw_variable_spec *spec = self;
    const tw_variable_spec_args *args = given;
    spec->shape = args->shape;
    spec->dtype = args->dtype;
    spec->trainable = args->trainable;
    spec->alias_id = args->alias_id == TW_NO_INT ? -1 : args->alias_id;
    return TW_OK;
}

static int variable_spec_parts(const void *self, tw_shape *shapes, tw_dtype *dtypes)
{
    (void)self;
    shapes[0] = TW_SCALAR;
    dtypes[0] = TW_RESOURCE;
    return 1;
}

static void variable_spec_text(const void *self, tw__text *text)
{
    const tw_variable_spec *spec = self;
    shape_and_dtype(text, "VariableSpec", &spec->shape, spec->dtype);
    tw__text_format(text, ", trainable=%s", spec->trainable ? "True" : "False");
    if (spec->alias_id < 0)
        tw__text_add(text, ", alias_id=None)");
    else
        tw__text_format(text, ", alias_id=%lld)", (long long)spec->alias_id);
}

static bool variable_spec_covers(const void *self, const void *other)
{
    const tw_variable_spec *wide = self, *narrow = other;
    return wide->dtype == narrow->dtype && wide->trainable == narrow->trainable && wide->alias_id == narrow->alias_id &&
           tw__shape_covers(&wide->shape, &narrow->shape);
}

static const tw__type_spec_methods variable_spec_methods = { variable_spec_parts, spec_pack, variable_spec_text,
                                                             variable_spec_covers };

TW_CLASS(variable_spec, "_VariableSpec(shape: shape?, dtype: dtype = float32, trainable: bool = True, alias_id: int = None)",
         .parent = &tw__class_type_spec, .size = sizeof(tw_variable_spec), .init = variable_spec_init,
         .methods = &variable_spec_methods, .drop_config = true, .doc = "Variables among the arguments of a function.");

tw_variable_spec *tw__variable_spec_new(tw_dtype dtype, const tw_shape *shape, bool trainable, int64_t alias_id)
{
    tw_variable_spec *spec = tw__object_new(&tw__class_variable_spec);
    if (!spec)
        return NULL;
    spec->shape = *shape;
    spec->dtype = dtype;
    spec->trainable = trainable;
    spec->alias_id = alias_id;
    return spec;
}

TW_PROPERTY(variable_spec_shape, "_VariableSpec.shape(self: variable_spec) -> shape", "The shape, as far as it is known.")
{
    return args->self->shape;
}

TW_PROPERTY(variable_spec_dtype, "_VariableSpec.dtype(self: variable_spec) -> dtype", "The dtype.")
{
    return args->self->dtype;
}
