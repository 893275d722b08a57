/* Elements as values and as the flat tensors that carry them; see element.h. */
#include "data/element.h"

#include "api/ragged/ragged.h"
#include "api/sparse/sparse.h"
#include "data/data.h"
#include "data/element_leaf.h"
#include "graph/graph.h"
#include "rows.h"

/* ---- values into specs ---- */

static tw_status spec_leaf(__attribute__((unused)) void *context, const tw_value *leaf, tw_value *mapped)
{
    void *object = leaf->kind == TW_VALUE_OBJECT ? leaf->object : NULL;
    if (leaf->kind == TW_VALUE_NONE)
        *mapped = tw__nothing_spec_new();
    else if (leaf->kind == TW_VALUE_TENSOR)
        *mapped = tw__leaf_of(tw__tensor_spec_new(leaf->tensor->dtype, &leaf->tensor->shape, NULL));
    else if (object && tw__is(object, &tw__class_dataset))
        *mapped = tw__dataset_spec_new(&((const struct tw_dataset *)object)->structure);
    else if (object && tw__is(object, &tw__class_optional))
        *mapped = tw__leaf_of(tw__optional_spec_new(&((const tw_optional *)object)->element));
    else if (tw__is_composite(object))
        *mapped = tw__leaf_of(tw__composite_spec(object));
    else
        return tw__fail(TW_TYPE_ERROR, "an element of a dataset must hold tensors, got %s",
                        object ? tw_class_name(object) : "a value of another kind");
    return mapped->kind == TW_VALUE_OBJECT ? TW_OK : tw__error_status();
}

tw_status tw__element_structure(const tw_value *value, tw_value *structure)
{
    return tw__structure_map(value, spec_leaf, NULL, structure);
}

/* ---- values into tensors ---- */

/* A ragged tensor, or a dense one of ragged rank 0, as a variant; or its rows as a vector of them. */
static tw_tensor *ragged_variant(void *value, tw_dtype splits_dtype, bool batched)
{
    tw_tensor *inputs[TW_RAGGED_PARTS + 1];
    int rank = 0;
    void *inner = value;
    for (; tw__is_ragged(inner) && rank < TW_RAGGED_PARTS; inner = ((struct tw_ragged_tensor *)inner)->values)
        inputs[rank++] = ((struct tw_ragged_tensor *)inner)->splits;
    inputs[rank] = inner;
    const tw_attr attrs[] = { TW_A_INT("RAGGED_RANK", rank), TW_A_TYPE("Tsplits", splits_dtype),
                              TW_A_BOOL("batched_input", batched) };
    return tw__call(&tw__op_RaggedTensorToVariant, inputs, rank + 1, attrs, 3);
}

static tw_tensor *sparse_variant(const struct tw_sparse_tensor *value, const tw_op *op)
{
    return tw__call(op, TW_IN(value->indices, value->values, value->dense_shape), 3, TW_WITH(TW_A_TYPE("out_type", TW_VARIANT)),
                    1);
}

typedef struct tensor_list {
    const tw_value **specs; /* of the leaves, in order */
    tw_tensor **tensors;
    int count;
} tensor_list;

static tw_status wrong_leaf(const void *spec)
{
    tw__owned char *text = tw__spec_text(spec);
    return tw__fail(TW_TYPE_ERROR, "an element has a value of another kind where %s is expected", text ? text : "a spec");
}

static tw_status add_tensors(void *context, const tw_value *leaf)
{
    tensor_list *list = context;
    const void *spec = (*list->specs++)->object;
    tw__leaf_kind kind = tw__leaf_kind_of(spec);
    void *object = leaf->kind == TW_VALUE_OBJECT ? leaf->object : leaf->kind == TW_VALUE_TENSOR ? (void *)leaf->tensor : NULL;
    tw_tensor *made = NULL;
    if (kind == NOTHING)
        return leaf->kind == TW_VALUE_NONE ? TW_OK : wrong_leaf(spec);
    if (kind == TENSOR && leaf->kind == TW_VALUE_TENSOR)
        made = tw_retain(leaf->tensor);
    else if (kind == RAGGED && object && (tw__is_ragged(object) || leaf->kind == TW_VALUE_TENSOR))
        made = ragged_variant(object, ((const struct tw_ragged_tensor_spec *)spec)->splits_dtype, false);
    else if (kind == SPARSE && object && tw__is(object, &tw__class_sparse_tensor))
        made = sparse_variant(object, &tw__op_SerializeSparse);
    else if (kind == DATASET && object && tw__is(object, &tw__class_dataset))
        made = tw_retain(((const struct tw_dataset *)object)->variant);
    else if (kind == OPTIONAL && object && tw__is(object, &tw__class_optional))
        made = tw_retain(((const tw_optional *)object)->variant);
    else if (kind == PARTS && object && tw__is_composite(object)) {
        int count = tw__composite_parts(object, list->tensors + list->count);
        for (int i = 0; i < count; i++)
            tw_retain(list->tensors[list->count + i]);
        list->count += count;
        return TW_OK;
    } else
        return wrong_leaf(spec);
    TW_NEED(made);
    list->tensors[list->count++] = made;
    return TW_OK;
}

void tw__element_tensors_free(tw_tensor **tensors, int count)
{
    for (int i = 0; tensors && i < count; i++)
        tw_release(tensors[i]);
    tw__free(tensors);
}

tw_tensor **tw__element_tensors(const tw_value *value, const tw_value *structure, int *count)
{
    int64_t leaves = 0;
    tw__owned tw_spec *flat = tw__element_specs(structure, count);
    if (!flat)
        return NULL;
    if (!tw__structure_alike(value, structure)) {
        tw__fail(TW_TYPE_ERROR, "an element is nested in another way than the dataset's");
        return NULL;
    }
    const tw_value **specs = tw__structure_leaves(structure, &leaves);
    tensor_list list = { specs, specs ? tw__alloc_array((size_t)*count + TW_COMPOSITE_PARTS, sizeof *list.tensors) : NULL, 0 };
    if (list.tensors && tw__structure_each(value, add_tensors, &list) != TW_OK) {
        tw__element_tensors_free(list.tensors, list.count);
        list.tensors = NULL;
    }
    tw__free((void *)specs);
    return list.tensors;
}

static tw_status add_rows(void *context, const tw_value *leaf)
{
    tensor_list *list = context;
    void *object = leaf->kind == TW_VALUE_OBJECT ? leaf->object : NULL;
    tw_tensor *made = NULL;
    if (leaf->kind == TW_VALUE_TENSOR)
        made = tw_retain(leaf->tensor);
    else if (object && tw__is_ragged(object))
        made = ragged_variant(object, ((const struct tw_ragged_tensor *)object)->splits->dtype, true);
    else if (object && tw__is(object, &tw__class_sparse_tensor))
        made = sparse_variant(object, &tw__op_SerializeManySparse);
    else
        return tw__fail(TW_TYPE_ERROR, "only tensors have rows, got %s", object ? tw_class_name(object) : "None");
    TW_NEED(made);
    list->tensors[list->count++] = made;
    return TW_OK;
}

static tw_status row_of_value(void *context, const tw_value *leaf, tw_value *mapped)
{
    tw_value spec = { .kind = TW_VALUE_NONE };
    TW_TRY(spec_leaf(context, leaf, &spec));
    tw_status status = TW_OK;
    if (tw__leaf_kind_of(spec.object) == TENSOR) {
        const tw_tensor_spec *whole = spec.object;
        tw_shape row = tw__shape_row(&whole->shape);
        *mapped = tw__leaf_of(tw__tensor_spec_new(whole->dtype, &row, NULL));
        status = mapped->kind == TW_VALUE_OBJECT ? TW_OK : tw__error_status();
    } else {
        status = tw__leaf_row(context, &spec, mapped);
    }
    tw_value_free(&spec);
    return status;
}

tw_tensor **tw__element_rows(const tw_value *value, tw_value *row, int *count)
{
    *row = (tw_value){ .kind = TW_VALUE_NONE };
    *count = (int)tw__structure_count(value);
    tensor_list list = { NULL, tw__alloc_array((size_t)*count + 1, sizeof *list.tensors), 0 };
    tw_status status = list.tensors ? tw__structure_each(value, add_rows, &list) : tw__error_status();
    if (status == TW_OK)
        status = tw__structure_map(value, row_of_value, NULL, row);
    if (status == TW_OK)
        return list.tensors;
    tw__element_tensors_free(list.tensors, list.count);
    return NULL;
}

/* ---- and back ---- */

static tw_status narrow(tw_tensor *tensor, const tw_shape *shape)
{
    return tensor->node && tw__shape_compatible(&tensor->shape, shape) ? tw__symbolic_refine(tensor, shape) : TW_OK;
}

static void *ragged_of(const struct tw_ragged_tensor_spec *spec, tw_tensor *variant)
{
    tw_tensor *parts[TW_RAGGED_PARTS + 1] = { NULL };
    int rank = spec->ragged_rank, count = rank + 1;
    const tw_attr attrs[] = { TW_A_INT("input_ragged_rank", -1), TW_A_INT("output_ragged_rank", rank),
                              TW_A_TYPE("Tvalues", spec->dtype), TW_A_TYPE("Tsplits", spec->splits_dtype) };
    if (tw__apply(&tw__op_RaggedTensorFromVariant, &variant, 1, attrs, 4, parts, &count) != TW_OK)
        return NULL;
    tw_shape shapes[TW_COMPOSITE_PARTS];
    tw_dtype dtypes[TW_COMPOSITE_PARTS];
    tw__spec_parts(&spec->spec, shapes, dtypes);
    void *value = narrow(parts[rank], &shapes[0]) == TW_OK ? tw_retain(parts[rank]) : NULL;
    for (int i = rank - 1; value && i >= 0; i--) {
        void *outer = tw__ragged_new(value, parts[i], -1);
        tw_release(value);
        value = outer;
    }
    for (int i = 0; i <= rank; i++)
        tw_release(parts[i]);
    return value;
}

static void *sparse_of(const struct tw_sparse_tensor_spec *spec, tw_tensor *variant)
{
    tw_tensor *parts[3] = { NULL };
    int count = 3, rank = spec->shape.rank;
    if (tw__apply(&tw__op_DeserializeSparse, &variant, 1, TW_WITH(TW_A_TYPE("dtype", spec->dtype)), 1, parts, &count) != TW_OK)
        return NULL;
    void *value = NULL;
    if (narrow(parts[0], &TW_SHAPE(-1, rank)) == TW_OK && narrow(parts[2], &TW_SHAPE(rank)) == TW_OK)
        value = tw__sparse_new(parts[0], parts[1], parts[2]);
    for (int i = 0; i < 3; i++)
        tw_release(parts[i]);
    return value;
}

typedef struct tensor_source {
    tw_tensor **tensors; /* those that are left; what is used is NULL */
    int count;
} tensor_source;

static tw_status pack_leaf(void *context, const tw_value *leaf, tw_value *value)
{
    tensor_source *source = context;
    TW_TRY(tw__leaf_check(leaf));
    const void *spec = leaf->object;
    tw__leaf_kind kind = tw__leaf_kind_of(spec);
    int count = tw__leaf_flat(spec, NULL);
    if (count > source->count)
        return tw__fail(TW_INVALID_ARGUMENT, "an element has too few tensors for its structure");
    tw_tensor **tensors = source->tensors;
    source->tensors += count;
    source->count -= count;
    if (kind == NOTHING)
        return TW_OK;
    if (kind == TENSOR) {
        *value = (tw_value){ .kind = TW_VALUE_TENSOR, .tensor = tensors[0] };
        tensors[0] = NULL;
        return TW_OK;
    }
    void *made = kind == RAGGED     ? ragged_of(spec, tensors[0])
                 : kind == SPARSE   ? sparse_of(spec, tensors[0])
                 : kind == DATASET  ? (void *)tw__dataset_of_variant(tensors[0], &((const tw_dataset_spec *)spec)->element)
                 : kind == OPTIONAL ? tw__optional_new(tensors[0], &((const tw_optional_spec *)spec)->element)
                                    : tw__spec_pack(spec, tensors, count);
    TW_NEED(made);
    bool tensor = tw__is(made, &tw__tensor_class);
    *value = tensor ? (tw_value){ .kind = TW_VALUE_TENSOR, .tensor = made } : tw__leaf_of(made);
    return TW_OK;
}

tw_status tw__element_pack(const tw_value *structure, tw_tensor **tensors, int count, tw_value *value)
{
    tensor_source source = { tensors, count };
    tw_status status = tw__structure_map(structure, pack_leaf, &source, value);
    for (int i = 0; i < count; i++)
        tw_release(tensors[i]);
    return status;
}
