/* tf.TypeSpec and what all values of several tensors share; see composite.h. */
#include "api/composite.h"
#include "graph/graph.h"
#include "rows.h"

const tw_class tw__composite_class = { .name = "CompositeTensor", .size = sizeof(tw_object) };

bool tw__is_composite(const void *object)
{
    return tw__is(object, &tw__composite_class);
}

int tw__composite_parts(void *value, tw_tensor **parts)
{
    const tw__composite_methods *methods = tw__methods(value);
    return methods->parts(value, parts);
}

tw_type_spec *tw__composite_spec(void *value)
{
    const tw__composite_methods *methods = tw__methods(value);
    return methods->spec(value);
}

int tw__spec_parts(const tw_type_spec *spec, tw_shape *shapes, tw_dtype *dtypes)
{
    const tw__type_spec_methods *methods = tw__methods(spec);
    return methods ? methods->parts(spec, shapes, dtypes) : 0;
}

void *tw__spec_pack(const tw_type_spec *spec, tw_tensor *const *parts, int64_t count)
{
    const tw__type_spec_methods *methods = tw__methods(spec);
    tw_shape shapes[TW_COMPOSITE_PARTS];
    tw_dtype dtypes[TW_COMPOSITE_PARTS];
    int64_t need = tw__spec_parts(spec, shapes, dtypes);
    if (!methods || need != count) {
        tw__fail(TW_VALUE_ERROR, "%s: %lld tensors were given where a value has %lld", spec->object.class->name, (long long)count,
                 (long long)need);
        return NULL;
    }
    return methods->pack(spec, parts);
}

char *tw__spec_text(const tw_type_spec *spec)
{
    const tw__type_spec_methods *methods = tw__methods(spec);
    tw__text text = { 0 };
    if (methods)
        methods->text(spec, &text);
    else
        tw__text_add(&text, "TypeSpec()");
    return tw__text_take(&text);
}

/* ---- text and shapes ---- */

void tw__tensor_text(tw__text *text, const tw_tensor *tensor)
{
    char *whole = NULL;
    if (!tensor->node) {
        whole = tw_tensor_str(tensor);
    } else {
        char *shape = tw__shape_tuple(&tensor->shape);
        whole = tensor->shape.rank < 0 || !shape ? tw__format("Tensor(\"%s:%d\", dtype=%s)", tensor->node->name,
                                                              tensor->node_output, tw_dtype_name(tensor->dtype))
                                                 : tw__format("Tensor(\"%s:%d\", shape=%s, dtype=%s)", tensor->node->name,
                                                              tensor->node_output, shape, tw_dtype_name(tensor->dtype));
        tw__free(shape);
    }
    if (whole)
        tw__text_add(text, whole);
    else
        text->failed = true;
    tw__free(whole);
}

void tw__shape_repr(tw__text *text, const tw_shape *shape)
{
    if (shape->rank < 0) {
        tw__text_add(text, "TensorShape(None)");
        return;
    }
    tw__text_add(text, "TensorShape([");
    for (int i = 0; i < shape->rank; i++) {
        if (shape->dims[i] < 0)
            tw__text_format(text, "%sNone", i ? ", " : "");
        else
            tw__text_format(text, "%s%lld", i ? ", " : "", (long long)shape->dims[i]);
    }
    tw__text_add(text, "])");
}

bool tw__shape_covers(const tw_shape *wide, const tw_shape *narrow)
{
    if (wide->rank < 0)
        return true;
    bool covers = wide->rank == narrow->rank;
    for (int i = 0; covers && i < wide->rank; i++)
        covers = wide->dims[i] < 0 || wide->dims[i] == narrow->dims[i];
    return covers;
}

tw_shape tw__static_shape(const tw_tensor *sizes)
{
    int64_t rank = sizes->shape.rank == 1 ? sizes->shape.dims[0] : -1;
    if (rank < 0 || rank > TW_MAX_RANK)
        return TW_UNKNOWN_SHAPE;
    tw_shape shape = { .rank = (int32_t)rank };
    for (int i = 0; i < shape.rank; i++) {
        int64_t size = sizes->data ? tw_tensor_int_at(sizes, i) : -1;
        shape.dims[i] = size < 0 ? -1 : size;
    }
    return shape;
}

/* ---- tf.TypeSpec ---- */

TW_CLASS(type_spec, "TypeSpec()", .size = sizeof(tw_type_spec),
         .doc = "What values of a kind have in common: dtype, shape and the like.");

TW_METHOD(type_spec_repr, "TypeSpec.__repr__(self: type_spec) -> str", "The spec as Python writes it.")
{
    return tw__spec_text(args->self);
}

/* The spec that a value is or has; a new reference, or NULL (and no error) for others. */
static tw_type_spec *spec_of(const tw_value *value)
{
    if (value->kind != TW_VALUE_OBJECT)
        return NULL;
    if (tw__is(value->object, &tw__class_type_spec))
        return tw_retain(value->object);
    return tw__is_composite(value->object) ? tw__composite_spec(value->object) : NULL;
}

TW_METHOD(type_spec_equal, "TypeSpec.__eq__(self: type_spec, other: value) -> bool",
          "Whether both say the same.\n"
          "other: what to compare with")
{
    if (args->other.kind != TW_VALUE_OBJECT || !tw__is(args->other.object, args->self->object.class))
        return false;
    char *own = tw__spec_text(args->self), *other = own ? tw__spec_text(args->other.object) : NULL;
    bool equal = other && strcmp(own, other) == 0;
    tw__free(own);
    tw__free(other);
    return equal;
}

TW_METHOD(type_spec_hash, "TypeSpec.__hash__(self: type_spec) -> int", "A number that equal specs share.")
{
    tw__owned char *text = tw__spec_text(args->self);
    uint64_t hash = 1469598103934665603u;
    for (const char *p = text; p && *p; p++)
        hash = (hash ^ (unsigned char)*p) * 1099511628211u;
    return (int64_t)(hash >> 2);
}

static bool covers(const tw_type_spec *spec, const tw_value *value)
{
    tw_auto tw_type_spec *other = spec_of(value);
    const tw__type_spec_methods *methods = tw__methods(spec);
    return other && methods && other->object.class == spec->object.class && methods->covers(spec, other);
}

TW_METHOD(type_spec_is_compatible_with, "TypeSpec.is_compatible_with(self: type_spec, spec_or_value: value) -> bool",
          "Whether a value (or those of another spec) is of this type.\n"
          "spec_or_value: a value, or a spec")
{
    return covers(args->self, &args->spec_or_value);
}

TW_METHOD(type_spec_is_subtype_of, "TypeSpec.is_subtype_of(self: type_spec, other: type_spec) -> bool",
          "Whether every value of this type is one of the other.\n"
          "other: another type")
{
    return covers(args->other, &(tw_value){ .kind = TW_VALUE_OBJECT, .object = args->self });
}

TW_METHOD(type_spec_to_components, "TypeSpec._to_components(self: type_spec, value: value) -> tensors",
          "The tensors that a value is made of.")
{
    tw_tensor *parts[TW_COMPOSITE_PARTS];
    if (args->value.kind != TW_VALUE_OBJECT || !tw__is_composite(args->value.object)) {
        tw__fail(TW_TYPE_ERROR, "%s: the value is not made of several tensors", args->self->object.class->name);
        return (tw_tensors){ 0 };
    }
    int count = tw__composite_parts(args->value.object, parts);
    tw_tensors list = { tw__alloc_array((size_t)count + 1, sizeof *list.items), 0 };
    for (; list.items && list.count < count; list.count++)
        list.items[list.count] = tw_retain(parts[list.count]);
    return list;
}

TW_METHOD(type_spec_from_components, "TypeSpec._from_components(self: type_spec, components: tensors) -> value",
          "The value made of its tensors.")
{
    return tw__value_of_object(tw__spec_pack(args->self, args->components.items, args->components.count));
}

TW_METHOD(type_spec_parts, "TypeSpec._parts(self: type_spec) -> value",
          "A shape and a dtype for each tensor that a value is made of.")
{
    tw_shape shapes[TW_COMPOSITE_PARTS];
    tw_dtype dtypes[TW_COMPOSITE_PARTS];
    int count = tw__spec_parts(args->self, shapes, dtypes);
    tw_value list = { .kind = TW_VALUE_LIST, .list = { tw__alloc_array((size_t)count + 1, sizeof(tw_value)), 0 } };
    for (; list.list.items && list.list.count < count; list.list.count++) {
        tw_value *pair = &list.list.items[list.list.count];
        *pair = (tw_value){ .kind = TW_VALUE_TUPLE, .list = { tw__alloc_array(2, sizeof(tw_value)), 0 } };
        if (!pair->list.items || tw__value_of_shape(shapes[list.list.count], &pair->list.items[0]) != TW_OK) {
            tw_value_free(&list);
            return (tw_value){ .kind = TW_VALUE_NONE };
        }
        pair->list.items[1] = (tw_value){ .kind = TW_VALUE_DTYPE, .dtype = dtypes[list.list.count] };
        pair->list.count = 2;
    }
    return list;
}
