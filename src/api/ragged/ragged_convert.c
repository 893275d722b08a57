/* Ragged tensors from and to ordinary and sparse ones. */
#include "api/ragged/ragged.h"
#include "api/sparse/sparse.h"
#include "op/calls.h"
#include "rows.h"

/* ---- to tensors ---- */

/* The splits of all levels behind `first` inputs; gives the number of inputs. */
static int nested_splits(const tw_ragged_tensor *ragged, tw_tensor **inputs, int first)
{
    for (; tw__is_ragged(ragged); ragged = ragged->values)
        inputs[first++] = ragged->splits;
    return first;
}

tw_tensor *tw__ragged_to_tensor(tw__temps *t, tw_ragged_tensor *ragged, tw_tensor *default_value, const tw_shape *shape)
{
    tw_tensor *flat = tw__flat_values(ragged), *inputs[TW_RAGGED_PARTS + 3];
    tw_string types[TW_RAGGED_PARTS];
    tw_shape own = tw__value_shape(ragged);
    int64_t dims[TW_MAX_RANK];
    int rank = shape && shape->rank >= 0 ? shape->rank : own.rank;
    for (int i = 0; i < rank; i++)
        dims[i] = shape && shape->rank >= 0 ? shape->dims[i] : i < own.rank ? own.dims[i] : -1;
    if (shape && shape->rank >= 0 && own.rank >= 0 && shape->rank != own.rank) {
        char *want = tw__shape_tuple(shape), *is = tw__shape_tuple(&own);
        tw__fail(TW_VALUE_ERROR, "Shapes %s and %s are incompatible", is ? is : "", want ? want : "");
        tw__free(want);
        tw__free(is);
        return NULL;
    }
    /* Sizes of partitions are int64 or int32 alike: the splits of the outermost level decide. */
    inputs[0] = rank < 0 ? tw__temp_int(t, -1, TW_INT64) : tw__temp_ints(t, dims, rank, TW_INT64);
    inputs[1] = flat;
    inputs[2] = default_value ? tw__temp_fitting(t, default_value, flat->dtype)
                              : tw__temp(t, tw_tensor_new(flat->dtype, TW_SCALAR, NULL));
    int count = nested_splits(ragged, inputs, 3);
    for (int i = 3; i < count; i++) {
        types[i - 3] = (tw_string){ "ROW_SPLITS", 10 };
        inputs[i] = tw__temp_cast(t, inputs[i], ragged->splits->dtype);
    }
    tw_attr attr = { .name = "row_partition_types", .kind = TW_ATTR_STRINGS, .count = count - 3, .strings = types };
    return tw__temp(t, tw__call(&tw__op_RaggedTensorToTensor, inputs, count, &attr, 1));
}

TW_METHOD(
    ragged_tensor_to_tensor,
    "RaggedTensor.to_tensor(self: ragged_tensor, default_value: value = None, name: str = None, shape: shape = None) -> tensor",
    "The rows padded to one length.")
{
    TW_TEMPS(t);
    tw_tensor *other = NULL;
    if (args->default_value.kind != TW_VALUE_NONE) {
        other = tw__temp(t, tw__value_tensor(&args->default_value, tw__value_dtype(args->self), "to_tensor: default_value"));
        if (!other)
            return NULL;
    }
    return tw__keep(t, tw__ragged_to_tensor(t, args->self, other, &args->shape));
}

TW_METHOD(ragged_tensor_to_sparse, "RaggedTensor.to_sparse(self: ragged_tensor, name: str = None) -> sparse_tensor",
          "The same values as a sparse tensor.")
{
    tw_tensor *inputs[TW_RAGGED_PARTS + 1], *made[3] = { NULL, NULL, NULL };
    int count = nested_splits(args->self, inputs, 0), outputs = 3;
    inputs[count++] = tw__flat_values(args->self);
    if (tw__apply(&tw__op_RaggedTensorToSparse, inputs, count, NULL, 0, made, &outputs) != TW_OK)
        return NULL;
    return tw__sparse_of_outputs(made);
}

/* ---- from tensors ---- */

tw_ragged_tensor *tw__ragged_of_tensor(tw__temps *t, tw_tensor *tensor, int ragged_rank, tw_dtype splits_dtype)
{
    if (!tensor)
        return NULL;
    tw_tensor *shape = tw__temp_shape(t, tensor, splits_dtype), *flat = tensor, *rows = tw__temp_at(t, shape, 0);
    tw_tensor *splits[TW_RAGGED_PARTS];
    for (int i = 0; i < ragged_rank; i++) {
        tw_tensor *length = tw__temp_at(t, shape, i + 1);
        splits[i] = tw__splits_uniform(t, rows, length);
        rows = TW_TEMP(Mul, rows, length);
    }
    tw_tensor *rest = tw__temp_slice(t, shape, ragged_rank + 1, TW_NO_INT);
    flat = TW_TEMP(Reshape, tensor, tw__temp_concat(t, TW_IN(tw__temp_reshape(t, rows, (const int64_t[]){ 1 }, 1), rest), 2, 0));
    void *value = flat;
    for (int i = ragged_rank - 1; i >= 0; i--)
        value = tw__temp_ragged(t, value, splits[i], tensor->shape.rank > i + 1 ? tensor->shape.dims[i + 1] : -1);
    return value;
}

/* How long each row is until only padding is left. */
static tw_tensor *lengths_without(tw__temps *t, tw_tensor *tensor, tw_tensor *padding, tw_dtype dtype)
{
    tw_tensor *other = TW_TEMP(NotEqual, tensor, padding);
    tw_tensor *shape = tw__temp_shape(t, tensor, dtype), *columns = tw__temp_at(t, shape, 1), *one = tw__temp_int(t, 1, dtype);
    if (tensor->shape.rank > 2) { /* something else in one of the inner elements is enough */
        int64_t axes[TW_MAX_RANK];
        for (int i = 2; i < tensor->shape.rank; i++)
            axes[i - 2] = i;
        other = TW_TEMP(Any, other, tw__temp_ints(t, axes, tensor->shape.rank - 2, TW_INT32));
    }
    tw_tensor *places = TW_TEMP(AddV2, tw__temp_range(t, columns), one);
    tw_tensor *last = TW_TEMP(SelectV2, other, places, tw__temp_int(t, 0, dtype));
    return TW_TEMP(Maximum, TW_TEMP(Max, last, tw__temp_int(t, 1, TW_INT32)), tw__temp_int(t, 0, dtype));
}

/* The first `lengths` elements of each row. */
static tw_ragged_tensor *cut_rows(tw__temps *t, tw_tensor *tensor, tw_tensor *lengths)
{
    tw_tensor *shape = tw__temp_shape(t, tensor, lengths->dtype), *columns = tw__temp_range(t, tw__temp_at(t, shape, 1));
    tw_tensor *mask = TW_TEMP(Less, columns, TW_TEMP(ExpandDims, lengths, tw__temp_int(t, 1, TW_INT32)));
    tw_tensor *values = TW_TEMP(GatherNd, tensor, TW_TEMP(Where, mask));
    tw_tensor *most = TW_TEMP(Minimum, lengths, tw__temp_at(t, shape, 1));
    return tw__temp_ragged(t, values, tw__splits_of_lengths(t, TW_TEMP(Maximum, most, tw__temp_int(t, 0, lengths->dtype))), -1);
}

static void *from_tensor(tw__temps *t, tw_tensor *tensor, const tw_value *lengths, const tw_value *padding, int64_t ragged_rank,
                         tw_dtype dtype)
{
    int rank = tensor->shape.rank;
    if (lengths->kind != TW_VALUE_NONE && padding->kind != TW_VALUE_NONE) {
        tw__fail(TW_VALUE_ERROR, "Specify argument `lengths` or `padding`, but not both.");
        return NULL;
    }
    if (ragged_rank < 1 || (rank >= 0 && ragged_rank >= rank) || ragged_rank + 1 > TW_RAGGED_PARTS) {
        tw__fail(TW_VALUE_ERROR,
                 rank >= 0 && ragged_rank >= rank && ragged_rank > 0
                     ? "Argument `ragged_rank` must be less than the rank of `tensor`. Received ragged_rank=%lld."
                     : "Argument `ragged_rank` must be greater than 0. Received ragged_rank=%lld.",
                 (long long)ragged_rank);
        return NULL;
    }
    bool nested_lengths = (lengths->kind == TW_VALUE_LIST || lengths->kind == TW_VALUE_TUPLE) && lengths->list.count &&
                          (lengths->list.items[0].kind == TW_VALUE_LIST || lengths->list.items[0].kind == TW_VALUE_TUPLE ||
                           (lengths->list.items[0].kind == TW_VALUE_TENSOR && lengths->list.items[0].tensor->shape.rank > 0));
    if ((ragged_rank > 1 && (lengths->kind != TW_VALUE_NONE || padding->kind != TW_VALUE_NONE)) || nested_lengths) {
        if (padding->kind == TW_VALUE_NONE) {
            tw__fail(TW_UNIMPLEMENTED, "RaggedTensor.from_tensor: lengths of several dimensions are not supported");
            return NULL;
        }
        /* The inner dimensions first: rows of rows, each cut at its padding. */
        tw_tensor *shape = tw__temp_shape(t, tensor, dtype), *rest = tw__temp_slice(t, shape, 2, TW_NO_INT);
        tw_tensor *rows = tw__temp_at(t, shape, 0), *length = tw__temp_at(t, shape, 1);
        tw_tensor *flat =
            TW_TEMP(Reshape, tensor, tw__temp_concat(t, TW_IN(tw__temp_ints(t, (const int64_t[]){ -1 }, 1, dtype), rest), 2, 0));
        void *inner = flat ? from_tensor(t, flat, lengths, padding, ragged_rank - 1, dtype) : NULL;
        return inner ? tw__temp_ragged(t, inner, tw__splits_uniform(t, rows, length), rank > 1 ? tensor->shape.dims[1] : -1)
                     : NULL;
    }
    if (padding->kind != TW_VALUE_NONE) {
        tw_tensor *other = tw__temp(t, tw__value_tensor(padding, tensor->dtype, "from_tensor: padding"));
        tw_tensor *found = other ? lengths_without(t, tensor, tw__temp_cast(t, other, tensor->dtype), dtype) : NULL;
        return found ? cut_rows(t, tensor, found) : NULL;
    }
    if (lengths->kind != TW_VALUE_NONE) {
        tw_tensor *given = tw__temp_cast(t, tw__temp(t, tw__value_tensor(lengths, TW_INT64, "from_tensor: lengths")), dtype);
        return given ? cut_rows(t, tensor, given) : NULL;
    }
    return tw__ragged_of_tensor(t, tensor, (int)ragged_rank, dtype);
}

TW_API(
    ragged_tensor_from_tensor,
    "RaggedTensor.from_tensor(tensor: tensor, lengths: value = None, padding: value = None, ragged_rank: int = 1, name: str = None, "
    "row_splits_dtype: dtype = int64) -> ragged_tensor",
    "The rows of a tensor, without what is behind their lengths or is padding.\n"
    "tensor: a tensor\n"
    "lengths: how many elements of each row stay; None: all\n"
    "padding: elements equal to it at the ends of rows are left out; None: none\n"
    "ragged_rank: how many dimensions become ragged\n"
    "returns: a `tf.RaggedTensor`\n"
    "example: tf.RaggedTensor.from_tensor([[1, 2, 0], [3, 0, 0]], padding=0).to_list()  # [[1, 2], [3]]")
{
    TW_TEMPS(t);
    return tw__keep(t, from_tensor(t, args->tensor, &args->lengths, &args->padding, args->ragged_rank, args->row_splits_dtype));
}

TW_API(ragged_tensor_from_sparse,
       "RaggedTensor.from_sparse(st_input: sparse_tensor, name: str = None, row_splits_dtype: dtype = int64) -> ragged_tensor",
       "A sparse matrix whose rows have no gaps, as rows.\n"
       "st_input: a sparse matrix\n"
       "raises: ValueError: its rank is not 2")
{
    TW_TEMPS(t);
    const tw_sparse_tensor *s = args->st_input;
    if (s->shape.rank >= 0 && s->shape.rank != 2) {
        tw__fail(TW_VALUE_ERROR, "rank(st_input) must be 2.");
        return NULL;
    }
    const tw_tensor *indices = s->indices;
    for (int64_t i = 0; indices->data && i < s->values->count; i++) {
        const int64_t *row = (const int64_t *)indices->data + 2 * i;
        bool fresh = i == 0 || row[-2] != row[0];
        if (fresh ? row[1] != 0 || (i && row[0] < row[-2]) : row[1] != row[-1] + 1) {
            tw__text text = { 0 };
            tw__text_add(
                &text,
                "Expected 'tf.Tensor(False, shape=(), dtype=bool)' to be true. Summarized data: b'SparseTensor is not right-ragged'\n"
                "b'SparseTensor.indices ='\n");
            for (int64_t k = 0; k < indices->count && k < 3; k++)
                tw__text_format(&text, "%s%lld", k ? ", " : "", (long long)((const int64_t *)indices->data)[k]);
            tw__fail(TW_INVALID_ARGUMENT, "%s%s", text.data ? text.data : "", indices->count > 3 ? ", ..." : "");
            tw__text_free(&text);
            return NULL;
        }
    }
    tw_tensor *rows = tw__temp_cast(t, tw__temp_at(t, s->dense_shape, 0), args->row_splits_dtype);
    tw_tensor *ids = tw__temp_cast(t, tw__temp_column(t, s->indices, 0), args->row_splits_dtype);
    return tw__keep(t, tw__temp_ragged(t, s->values, tw__splits_of_rowids(t, ids, rows), -1));
}
