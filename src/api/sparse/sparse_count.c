/* tf.sparse.bincount, tf.sparse.cross, tf.sparse.cross_hashed, tf.sparse.mask. */
#include "api/ragged/ragged.h"
#include "api/sparse/sparse.h"
#include "op/calls.h"
#include "op/slices.h"
#include "rows.h"

/* ---- bincount ---- */

/* The weights that go with values: none, a tensor, or the values of the same kind of tensor. */
static tw_tensor *weights_of(tw__temps *t, const tw_value *given, tw_dtype otherwise)
{
    if (given->kind == TW_VALUE_NONE)
        return tw__temp(t, tw_tensor_new(otherwise, TW_SHAPE(0), NULL));
    if (given->kind == TW_VALUE_OBJECT && tw__is(given->object, &tw__class_sparse_tensor))
        return ((tw_sparse_tensor *)given->object)->values;
    if (given->kind == TW_VALUE_OBJECT && tw__is_ragged(given->object))
        return tw__flat_values(given->object);
    return tw__temp(t, tw__value_tensor(given, TW_DTYPE_NONE, "bincount: weights"));
}

TW_API(sparse_bincount,
       "sparse.bincount(values: value, weights: value = None, axis: int = 0, minlength: int = None, maxlength: int = None, "
       "binary_output: bool = False, name: str = None) -> sparse_tensor",
       "How often each number occurs: in all values (axis 0) or in every row (axis -1).\n"
       "values: integers from 0 on, a tensor, ragged or sparse tensor\n"
       "weights: what each of them counts, of the same kind and shape; None: 1\n"
       "axis: 0: count in the whole tensor; -1: in each row\n"
       "minlength: how long the result is at least\n"
       "maxlength: how long it is at most; greater integers do not count\n"
       "binary_output: True: 1 for what occurs, whatever its number")
{
    TW_TEMPS(t);
    const tw_value *given = &args->values;
    bool sparse = given->kind == TW_VALUE_OBJECT && tw__is(given->object, &tw__class_sparse_tensor), rows = args->axis == -1;
    bool ragged = given->kind == TW_VALUE_OBJECT && tw__is_ragged(given->object);
    if (args->axis != 0 && !rows) {
        tw__fail(TW_VALUE_ERROR, "Unsupported value for argument axis=%lld. Only 0 and -1 are currently supported.",
                 (long long)args->axis);
        return NULL;
    }
    tw_tensor *values = sparse   ? ((tw_sparse_tensor *)given->object)->values
                        : ragged ? tw__flat_values(given->object)
                                 : tw__temp(t, tw__value_tensor(given, TW_DTYPE_NONE, "bincount: values"));
    tw_tensor *weights = values ? weights_of(t, &args->weights, values->dtype) : NULL, *made[3] = { NULL, NULL, NULL };
    if (!weights || (ragged && tw__ragged_rank(given->object) > 1)) {
        tw__fail(TW_UNIMPLEMENTED, "sparse.bincount: a ragged tensor of ragged rank above 1 is not supported");
        return NULL;
    }
    const int64_t flat[1] = { -1 };
    if (!rows && !sparse && !ragged && values->shape.rank != 1) {
        values = tw__temp_reshape(t, values, flat, 1);
        weights = tw__temp_reshape(t, weights, flat, 1);
    }
    int64_t least = args->minlength == TW_NO_INT ? -1 : args->minlength,
            most = args->maxlength == TW_NO_INT ? -1 : args->maxlength;
    tw_attr attrs[3] = { TW_A_INT("minlength", least), TW_A_INT("maxlength", most),
                         TW_A_BOOL("binary_output", args->binary_output) };
    int count = 3;
    tw_status status;
    if (!values || !weights) {
        status = tw__error_status();
    } else if (rows && sparse) {
        const tw_sparse_tensor *s = given->object;
        status = tw__apply(&tw__op_SparseCountSparseOutput, TW_IN(s->indices, s->values, s->dense_shape, weights), 4, attrs, 3,
                           made, &count);
    } else if (rows && ragged) {
        tw_tensor *splits = tw__temp_cast(t, ((tw_ragged_tensor *)given->object)->splits, TW_INT64);
        status = splits ? tw__apply(&tw__op_RaggedCountSparseOutput, TW_IN(splits, values, weights), 3, attrs, 3, made, &count)
                        : tw__error_status();
    } else {
        status = tw__apply(&tw__op_DenseCountSparseOutput, TW_IN(values, weights), 2, attrs, 3, made, &count);
    }
    return status == TW_OK ? tw__sparse_of_outputs(made) : NULL;
}

/* ---- cross ---- */

/* The inputs of the op: the sparse ones first, the dense ones behind them. Integers are int64, anything else must be text. */
static tw_sparse_tensor *cross(const tw_value *inputs, const char *separator, bool hashed, int64_t buckets, int64_t key)
{
    TW_TEMPS(t);
    bool list = inputs->kind == TW_VALUE_LIST || inputs->kind == TW_VALUE_TUPLE;
    int64_t count = list ? inputs->list.count : 0, sparse_count = 0, dense_count = 0;
    if (!list || count > 1000) {
        tw__fail(TW_TYPE_ERROR, "Inputs must be a list");
        return NULL;
    }
    tw_tensor **parts = tw__alloc_array((size_t)count * 4 + 2, sizeof *parts), *made[3] = { NULL, NULL, NULL };
    tw__owned tw_dtype *types = tw__alloc_array((size_t)count * 2 + 2, sizeof *types);
    bool good = parts && types;
    for (int64_t i = 0; good && i < count; i++)
        sparse_count +=
            inputs->list.items[i].kind == TW_VALUE_OBJECT && tw__is(inputs->list.items[i].object, &tw__class_sparse_tensor);
    for (int64_t i = 0, at = 0; good && i < count; i++) {
        const tw_value *input = &inputs->list.items[i];
        bool sparse = input->kind == TW_VALUE_OBJECT && tw__is(input->object, &tw__class_sparse_tensor);
        tw_tensor *values = sparse ? ((tw_sparse_tensor *)input->object)->values
                                   : tw__temp(t, tw__value_tensor(input, TW_DTYPE_NONE, "sparse.cross"));
        values = values && values->dtype != TW_STRING ? tw__temp_cast(t, values, TW_INT64) : values;
        good = values != NULL;
        if (sparse) {
            const tw_sparse_tensor *s = input->object;
            parts[at] = s->indices;
            parts[sparse_count + at] = values;
            parts[2 * sparse_count + at] = s->dense_shape;
            types[at++] = good ? values->dtype : TW_INT64;
        } else {
            parts[3 * sparse_count + dense_count] = values;
            types[count + dense_count++] = good ? values->dtype : TW_INT64;
        }
    }
    int total = (int)(3 * sparse_count + dense_count), outputs = 3;
    tw_sparse_tensor *sparse = NULL;
    tw_attr attrs[8] = { TW_A_INT("N", sparse_count),
                         TW_A_TYPES("sparse_types", types, sparse_count),
                         TW_A_TYPES("dense_types", types + count, dense_count),
                         TW_A_BOOL("hashed_output", true),
                         TW_A_INT("num_buckets", buckets),
                         TW_A_INT("hash_key", key),
                         TW_A_TYPE("out_type", TW_INT64),
                         TW_A_TYPE("internal_type", TW_STRING) };
    if (good && !hashed)
        good = (parts[total] = tw__temp(t, tw_tensor_string(separator, strlen(separator)))) != NULL;
    if (good && tw__apply(hashed ? &tw__op_SparseCross : &tw__op_SparseCrossV2, parts, total + !hashed, attrs, hashed ? 8 : 3,
                          made, &outputs) == TW_OK)
        sparse = tw__sparse_of_outputs(made);
    tw__free(parts);
    return sparse;
}

TW_API(sparse_cross, "sparse.cross(inputs: value, name: str = None, separator: str = None) -> sparse_tensor",
       "Every combination of the features of a row, one of each input, joined with a separator.\n"
       "inputs: tensors, sparse or ragged tensors of strings or integers, each with a row for each sample\n"
       "separator: what stands between the parts; None: `_X_`")
{
    return cross(&args->inputs, args->separator ? args->separator : "_X_", false, 0, 0);
}

TW_API(sparse_cross_hashed,
       "sparse.cross_hashed(inputs: value, num_buckets: int = 0, hash_key: int = None, name: str = None) -> sparse_tensor",
       "A bucket for every combination of the features of a row.\n"
       "inputs: tensors, sparse or ragged tensors of strings or integers, each with a row for each sample\n"
       "num_buckets: how many buckets there are; 0: any 64-bit number\n"
       "hash_key: a number that the hash depends on; None: one that is built in")
{
    return cross(&args->inputs, "", true, args->num_buckets,
                 args->hash_key == TW_NO_INT ? INT64_C(0xDECAFCAFFE) : args->hash_key);
}

/* Ragged inputs as sparse ones, and the result as rows again. */
static tw_ragged_tensor *cross_rows(const tw_value *inputs, bool hashed, int64_t buckets, int64_t key)
{
    bool list = inputs->kind == TW_VALUE_LIST || inputs->kind == TW_VALUE_TUPLE, good = true;
    int64_t count = list ? inputs->list.count : 0;
    tw__owned tw_value *items = tw__alloc_array((size_t)count + 1, sizeof *items);
    TW_TEMPS(t);
    tw_ragged_tensor *made = NULL;
    for (int64_t i = 0; items && good && i < count; i++) {
        items[i] = inputs->list.items[i];
        if (items[i].kind == TW_VALUE_OBJECT && tw__is_ragged(items[i].object)) {
            items[i].object = tw__temp(t, tw_ragged_tensor_to_sparse(items[i].object));
            good = items[i].object != NULL;
        }
    }
    if (items && good) {
        tw_value given = { .kind = list ? TW_VALUE_LIST : TW_VALUE_NONE, .list = { items, count } };
        tw_auto tw_sparse_tensor *crossed = cross(&given, "_X_", hashed, buckets, key);
        made = crossed ? tw_ragged_tensor_from_sparse(crossed) : NULL;
    }
    return made;
}

TW_API(ragged_cross, "ragged.cross(inputs: value, name: str = None) -> ragged_tensor",
       "Every combination of the features of a row, one of each input.\n"
       "inputs: tensors, sparse or ragged tensors of strings or integers, each with a row for each sample")
{
    return cross_rows(&args->inputs, false, 0, 0);
}

TW_API(ragged_cross_hashed,
       "ragged.cross_hashed(inputs: value, num_buckets: int = 0, hash_key: int = None, name: str = None) -> ragged_tensor",
       "A bucket for every combination of the features of a row.\n"
       "inputs: tensors, sparse or ragged tensors of strings or integers, each with a row for each sample\n"
       "num_buckets: how many buckets there are; 0: any 64-bit number\n"
       "hash_key: a number that the hash depends on; None: one that is built in")
{
    return cross_rows(&args->inputs, true, args->num_buckets,
                      args->hash_key == TW_NO_INT ? INT64_C(0xDECAFCAFFE) : args->hash_key);
}

/* ---- mask ---- */

TW_API(sparse_mask,
       "sparse.mask|compat.v1.sparse_mask(a: indexed_slices, mask_indices: tensor<int32>, name: str = None) -> indexed_slices",
       "The slices whose indices are not among those given.\n"
       "a: the slices\n"
       "mask_indices: the indices to leave out")
{
    TW_TEMPS(t);
    tw_tensor *indices = args->a->indices, *out = tw__temp_cast(t, args->mask_indices, indices->dtype);
    tw_tensor *column = TW_TEMP(ExpandDims, indices, tw__temp_int(t, 1, TW_INT32)),
              *flat = tw__temp_reshape(t, out, (const int64_t[]){ -1 }, 1);
    tw_tensor *hit = TW_TEMP(Any, TW_TEMP(Equal, column, flat), tw__temp_int(t, 1, TW_INT32));
    tw_tensor *kept = tw__temp_reshape(t, TW_TEMP(Where, TW_TEMP(LogicalNot, hit)), (const int64_t[]){ -1 }, 1);
    tw_tensor *values = tw__temp_gather(t, args->a->values, kept, 0), *places = tw__temp_gather(t, indices, kept, 0);
    tw_indexed_slices *made = values && places ? tw__indexed_slices_new(values, places, args->a->dense_shape) : NULL;
    return made;
}
