/* tf.type_spec_from_value, and the types of the tensors that a value is made of. */
#include "api/tensor_spec.h"
#include "rows.h"

TW_API(type_spec_from_value, "type_spec_from_value(value: value) -> type_spec",
       "The type of a value: of a tensor its shape and dtype.\n"
       "value: a tensor of any kind, or what can become one")
{
    const tw_value *value = &args->value;
    if (value->kind == TW_VALUE_OBJECT && tw__is_composite(value->object))
        return tw__composite_spec(value->object);
    tw_auto tw_tensor *tensor = tw__value_tensor(value, TW_DTYPE_NONE, "type_spec_from_value");
    return tensor ? (tw_type_spec *)tw__tensor_spec_new(tensor->dtype, &tensor->shape, NULL) : NULL;
}

TW_PROPERTY(type_spec_component_specs, "TypeSpec._component_specs(self: type_spec) -> list<type_spec>",
            "The types of the tensors that a value is made of.")
{
    tw_shape shapes[TW_COMPOSITE_PARTS];
    tw_dtype dtypes[TW_COMPOSITE_PARTS];
    int count = tw__spec_parts(args->self, shapes, dtypes);
    void **items = tw__alloc_array((size_t)count + 1, sizeof *items);
    tw_objects list = { items, 0 };
    for (; items && list.count < count; list.count++) {
        if (!(items[list.count] = tw__tensor_spec_new(dtypes[list.count], &shapes[list.count], NULL))) {
            tw_objects_free(&list);
            return (tw_objects){ 0 };
        }
    }
    return list;
}
