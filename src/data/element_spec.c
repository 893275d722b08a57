/* The specs of what datasets hold besides tensors: tf.data.DatasetSpec, that of tf.experimental.Optional, and that of None; and
 * the optional itself: an element or nothing, carried by a variant. */
#include "data/data.h"
#include "data/element_spec.h"
#include "op/calls.h"
#include "rows.h"

static int one_variant(__attribute__((unused)) const void *self, tw_shape *shapes, tw_dtype *dtypes)
{
    shapes[0] = TW_SCALAR;
    dtypes[0] = TW_VARIANT;
    return 1;
}

static void add_element(tw__text *text, const tw_value *element)
{
    tw__owned char *own = tw__element_text(element);
    text->failed |= !own;
    tw__text_add(text, own ? own : "");
}

/* ---- datasets ---- */

static tw_status dataset_init(void *self, const void *arguments)
{
    const tw_dataset_spec_args *args = arguments;
    tw_dataset_spec *spec = self;
    TW_TRY(tw__element_check(&args->element_spec));
    spec->element = tw__value_copy(&args->element_spec);
    spec->shape = args->dataset_shape;
    return spec->element.kind == args->element_spec.kind ? TW_OK : tw__error_status();
}

static void dataset_destroy(void *self)
{
    tw_value_free(&((tw_dataset_spec *)self)->element);
}

static void *dataset_pack(const void *self, tw_tensor *const *parts)
{
    return tw__dataset_of_variant(parts[0], &((const tw_dataset_spec *)self)->element);
}

static void dataset_text(const void *self, tw__text *text)
{
    const tw_dataset_spec *spec = self;
    tw__text_add(text, "DatasetSpec(");
    add_element(text, &spec->element);
    tw__text_add(text, ", ");
    tw__shape_repr(text, &spec->shape);
    tw__text_add(text, ")");
}

static bool dataset_covers(const void *self, const void *other)
{
    return tw__element_same(&((const tw_dataset_spec *)self)->element, &((const tw_dataset_spec *)other)->element);
}

static const tw__type_spec_methods dataset_methods = { one_variant, dataset_pack, dataset_text, dataset_covers };

TW_CLASS(dataset_spec, "data.DatasetSpec(element_spec: value<spec>, dataset_shape: shape = ())", .parent = &tw__class_type_spec,
         .size = sizeof(tw_dataset_spec), .init = dataset_init, .destroy = dataset_destroy, .methods = &dataset_methods,
         .drop_config = true,
         .doc = "The type of datasets: the structure of their elements.\n"
                "element_spec: the specs of an element, in its structure\n"
                "dataset_shape: the shape of a tensor of datasets; () is one dataset");

TW_PROPERTY(dataset_spec_element, "data.DatasetSpec.element_spec(self: dataset_spec) -> value", "The structure of the elements.")
{
    return tw__value_copy(&args->self->element);
}

TW_METHOD(dataset_spec_is_compatible_with,
          "data.DatasetSpec.is_compatible_with(self: dataset_spec, spec_or_value: value) -> bool",
          "Whether a dataset, or those of another spec, have the same elements.\n"
          "spec_or_value: a dataset, or a `tf.data.DatasetSpec`")
{
    const void *other = args->spec_or_value.kind == TW_VALUE_OBJECT ? args->spec_or_value.object : NULL;
    if (other && tw__is(other, &tw__class_dataset_spec))
        return dataset_covers(args->self, other);
    return other && tw__is(other, &tw__class_dataset) &&
           tw__element_same(&args->self->element, &((const struct tw_dataset *)other)->structure);
}

TW_API(dataset_spec_from_value, "data.DatasetSpec.from_value(value: dataset) -> dataset_spec",
       "The spec of a dataset.\n"
       "value: the dataset")
{
    return tw__dataset_spec_new(&args->value->structure).object;
}

tw_value tw__dataset_spec_new(const tw_value *element)
{
    void *made =
        tw_class_make(&tw__class_dataset_spec, &(tw_dataset_spec_args){ .element_spec = *element, .dataset_shape = TW_SCALAR });
    return (tw_value){ .kind = made ? TW_VALUE_OBJECT : TW_VALUE_NONE, .object = made };
}

/* ---- None ---- */

static int no_parts(__attribute__((unused)) const void *self, __attribute__((unused)) tw_shape *shapes,
                    __attribute__((unused)) tw_dtype *dtypes)
{
    return 0;
}

static void *nothing_pack(__attribute__((unused)) const void *self, __attribute__((unused)) tw_tensor *const *parts)
{
    return NULL;
}

static void nothing_text(__attribute__((unused)) const void *self, tw__text *text)
{
    tw__text_add(text, "NoneTensorSpec()");
}

static bool nothing_covers(__attribute__((unused)) const void *self, __attribute__((unused)) const void *other)
{
    return true;
}

static const tw__type_spec_methods nothing_methods = { no_parts, nothing_pack, nothing_text, nothing_covers };

TW_CLASS(nothing_spec, "data._NoneTensorSpec()", .parent = &tw__class_type_spec, .size = sizeof(struct tw_nothing_spec),
         .methods = &nothing_methods, .drop_config = true, .doc = "None as a member of an element.");

TW_METHOD(nothing_spec_is_compatible_with,
          "data._NoneTensorSpec.is_compatible_with(self: nothing_spec, spec_or_value: value) -> bool",
          "Whether it is None, or the spec of it.")
{
    const tw_value *value = &args->spec_or_value;
    return value->kind == TW_VALUE_NONE || (value->kind == TW_VALUE_OBJECT && tw__is(value->object, &tw__class_nothing_spec));
}

tw_value tw__nothing_spec_new(void)
{
    void *made = tw_class_make(&tw__class_nothing_spec, &(tw_nothing_spec_args){ 0 });
    return (tw_value){ .kind = made ? TW_VALUE_OBJECT : TW_VALUE_NONE, .object = made };
}

/* ---- optionals ---- */

static tw_status optional_spec_init(void *self, const void *arguments)
{
    const tw_optional_spec_args *args = arguments;
    tw_optional_spec *spec = self;
    TW_TRY(tw__element_check(&args->element_spec));
    spec->element = tw__value_copy(&args->element_spec);
    return spec->element.kind == args->element_spec.kind ? TW_OK : tw__error_status();
}

static void optional_spec_destroy(void *self)
{
    tw_value_free(&((tw_optional_spec *)self)->element);
}

static void *optional_spec_pack(const void *self, tw_tensor *const *parts)
{
    return tw__optional_new(parts[0], &((const tw_optional_spec *)self)->element);
}

static void optional_spec_text(const void *self, tw__text *text)
{
    tw__text_add(text, "OptionalSpec(");
    add_element(text, &((const tw_optional_spec *)self)->element);
    tw__text_add(text, ",)");
}

static bool optional_spec_covers(const void *self, const void *other)
{
    return tw__element_same(&((const tw_optional_spec *)self)->element, &((const tw_optional_spec *)other)->element);
}

static const tw__type_spec_methods optional_spec_methods = { one_variant, optional_spec_pack, optional_spec_text,
                                                             optional_spec_covers };

TW_CLASS(optional_spec, "data._OptionalSpec(element_spec: value<spec>)", .parent = &tw__class_type_spec,
         .size = sizeof(tw_optional_spec), .init = optional_spec_init, .destroy = optional_spec_destroy,
         .methods = &optional_spec_methods, .drop_config = true,
         .doc = "The type of optionals: the structure of what they may hold.");

void *tw__optional_spec_new(const tw_value *element)
{
    return tw_class_make(&tw__class_optional_spec, &(tw_optional_spec_args){ .element_spec = *element });
}

static tw_status optional_init(void *self, const void *arguments)
{
    const tw_optional_args *args = arguments;
    tw_optional *optional = self;
    TW_TRY(tw__element_check(&args->element_spec));
    optional->variant = tw_retain(args->variant);
    optional->element = tw__value_copy(&args->element_spec);
    return optional->element.kind == args->element_spec.kind ? TW_OK : tw__error_status();
}

static void optional_destroy(void *self)
{
    tw_release(((tw_optional *)self)->variant);
    tw_value_free(&((tw_optional *)self)->element);
}

TW_CLASS(optional, "data._Optional(variant: tensor, element_spec: value<spec>)", .size = sizeof(tw_optional),
         .init = optional_init, .destroy = optional_destroy, .drop_config = true, .doc = "An element, or nothing.");

void *tw__optional_new(tw_tensor *variant, const tw_value *element)
{
    return tw_class_make(&tw__class_optional, &(tw_optional_args){ .variant = variant, .element_spec = *element });
}

TW_PROPERTY(optional_element_spec, "data._Optional.element_spec(self: optional) -> value", "The structure of what it may hold.")
{
    return tw__value_copy(&args->self->element);
}

TW_PROPERTY(optional_variant_tensor, "data._Optional._variant_tensor(self: optional) -> tensor", "The tensor that carries it.")
{
    return tw_retain(args->self->variant);
}

TW_API(optional_from_value, "data._Optional.from_value(value: value<element>) -> optional", "The optional of a value.")
{
    tw__auto(tw_value_free) tw_value structure = { .kind = TW_VALUE_NONE };
    int count = 0;
    tw_status status = tw__element_structure(&args->value, &structure);
    tw_tensor **tensors = status == TW_OK ? tw__element_tensors(&args->value, &structure, &count) : NULL;
    tw_auto tw_tensor *variant = tensors ? tw__call(&tw__op_OptionalFromValue, tensors, count, NULL, 0) : NULL;
    tw_optional *made = variant ? tw__optional_new(variant, &structure) : NULL;
    tw__element_tensors_free(tensors, count);
    return made;
}

TW_API(optional_empty, "data._Optional.empty(element_spec: value<spec>) -> optional", "The optional without a value.")
{
    tw_auto tw_tensor *variant = tw__call(&tw__op_OptionalNone, NULL, 0, NULL, 0);
    return variant ? tw__optional_new(variant, &args->element_spec) : NULL;
}

TW_METHOD(optional_has_value, "data._Optional.has_value(self: optional, name: str = None) -> tensor",
          "Whether there is one, as a tensor.")
{
    return TW_CALL(OptionalHasValue, args->self->variant);
}

TW_METHOD(optional_get_value, "data._Optional.get_value(self: optional, name: str = None) -> value",
          "The value; an error if there is none.")
{
    return tw__data_element_by_op(&tw__op_OptionalGetValue, args->self->variant, &args->self->element);
}

/* ---- elements and their tensors, for front ends ---- */

TW_API(element_structure, "data._structure(value: value<element>) -> value", "The structure of a value's specs.")
{
    tw_value structure = { .kind = TW_VALUE_NONE };
    tw__element_structure(&args->value, &structure);
    return structure;
}

TW_API(element_normalized, "data._normalized(value: value<element>) -> value",
       "The value with tensors where anything stood that becomes one.")
{
    return tw__value_copy(&args->value);
}

TW_API(element_flat_specs, "data._flat_specs(structure: value<spec>) -> list<tensor_spec>",
       "What the tensors are that carry an element.")
{
    int count = 0;
    tw__owned tw_spec *specs = tw__element_specs(&args->structure, &count);
    void **items = specs ? tw__alloc_array((size_t)count + 1, sizeof *items) : NULL;
    tw_objects list = { items, 0 };
    for (; items && list.count < count; list.count++) {
        items[list.count] = tw__tensor_spec_new(specs[list.count].dtype, &specs[list.count].shape, NULL);
        if (!items[list.count])
            break;
    }
    if (items && list.count < count)
        tw_objects_free(&list);
    return list;
}

TW_API(element_tensors, "data._tensors(value: value<element>, structure: value<spec> = None) -> tensors",
       "The tensors that carry a value, of that structure or its own.")
{
    tw_value structure = args->structure;
    tw_tensors tensors = { 0 };
    int count = 0;
    if (structure.kind == TW_VALUE_NONE && tw__element_structure(&args->value, &structure) != TW_OK)
        return tensors;
    tensors.items = tw__element_tensors(&args->value, &structure, &count);
    tensors.count = tensors.items ? count : 0;
    if (args->structure.kind == TW_VALUE_NONE)
        tw_value_free(&structure);
    return tensors;
}

TW_API(element_rows, "data._rows_of(value: value<element>) -> tensors", "The tensors whose rows are the rows of a value.")
{
    tw__auto(tw_value_free) tw_value row = { .kind = TW_VALUE_NONE };
    int count = 0;
    tw_tensor **tensors = tw__element_rows(&args->value, &row, &count);
    return (tw_tensors){ tensors, tensors ? count : 0 };
}

TW_API(element_pack, "data._pack(structure: value<spec>, tensors: tensors) -> value", "The value that tensors carry.")
{
    tw_value value = { .kind = TW_VALUE_NONE };
    int count = (int)args->tensors.count;
    tw__owned tw_tensor **tensors = tw__alloc_array((size_t)count + 1, sizeof *tensors);
    for (int i = 0; tensors && i < count; i++)
        tensors[i] = tw_retain(args->tensors.items[i]);
    if (tensors)
        tw__element_pack(&args->structure, tensors, count, &value);
    return value;
}

TW_API(element_same, "data._same(one: value<spec>, other: value<spec>) -> bool", "Whether two structures of specs are equal.")
{
    bool good = tw__element_check(&args->one) == TW_OK && tw__element_check(&args->other) == TW_OK;
    return good && tw__element_same(&args->one, &args->other);
}

TW_API(element_fits, "data._fits(one: value<spec>, other: value<spec>) -> bool",
       "Whether two structures have the same nesting, dtypes and kinds.")
{
    bool good = tw__element_check(&args->one) == TW_OK && tw__element_check(&args->other) == TW_OK;
    return good && tw__element_fits(&args->one, &args->other);
}
