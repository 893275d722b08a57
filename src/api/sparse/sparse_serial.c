/* tf.io: sparse tensors as vectors of strings, or of variants, and back. */
#include "api/array/array.h"
#include "api/sparse/sparse.h"
#include "op/calls.h"
#include "rows.h"

static tw_tensor *serialized(const tw_op *op, const struct tw_sparse_tensor *sparse, tw_dtype dtype)
{
    return TW_CALL_OP(op, sparse->indices, sparse->values, sparse->dense_shape, TW_A_TYPE("out_type", dtype));
}

TW_API(io_serialize_sparse, "io.serialize_sparse(sp_input: sparse_tensor, out_type: dtype = string, name: str = None) -> tensor",
       "A sparse tensor as a vector of three elements: its indices, values and shape.\n"
       "sp_input: a `tf.SparseTensor`\n"
       "out_type: `tf.string` or `tf.variant`")
{
    return serialized(&tw__op_SerializeSparse, args->sp_input, args->out_type);
}

TW_API(
    v1_serialize_sparse,
    "compat.v1.serialize_sparse|compat.v1.io.serialize_sparse(sp_input: sparse_tensor, name: str = None, out_type: dtype = string) -> tensor",
    "A sparse tensor as a vector of three elements.\n"
    "sp_input: a `tf.SparseTensor`\n"
    "out_type: `tf.string` or `tf.variant`")
{
    return serialized(&tw__op_SerializeSparse, args->sp_input, args->out_type);
}

TW_API(io_serialize_many_sparse,
       "io.serialize_many_sparse(sp_input: sparse_tensor, out_type: dtype = string, name: str = None) -> tensor",
       "The rows of a sparse tensor, each as three elements.\n"
       "sp_input: a `tf.SparseTensor` of rank 2 or more\n"
       "out_type: `tf.string` or `tf.variant`")
{
    return serialized(&tw__op_SerializeManySparse, args->sp_input, args->out_type);
}

TW_API(
    v1_serialize_many_sparse,
    "compat.v1.serialize_many_sparse|compat.v1.io.serialize_many_sparse(sp_input: sparse_tensor, name: str = None, out_type: dtype = string) -> tensor",
    "The rows of a sparse tensor, each as three elements.\n"
    "sp_input: a `tf.SparseTensor` of rank 2 or more\n"
    "out_type: `tf.string` or `tf.variant`")
{
    return serialized(&tw__op_SerializeManySparse, args->sp_input, args->out_type);
}

TW_API(
    io_deserialize_many_sparse,
    "io.deserialize_many_sparse|compat.v1.deserialize_many_sparse(serialized_sparse: tensor<string>, dtype: dtype, rank: int = None, "
    "name: str = None) -> sparse_tensor",
    "The sparse tensor whose rows are these, one below the other.\n"
    "serialized_sparse: rows as `serialize_many_sparse` gives them, [n, 3]\n"
    "dtype: the dtype of the values\n"
    "rank: the rank of the rows; None: it is not checked")
{
    tw_tensor *made[3];
    if (TW_CALL_ALL(made, DeserializeManySparse, args->serialized_sparse, TW_A_TYPE("dtype", args->dtype)) != TW_OK)
        return NULL;
    return tw__sparse_of_outputs(made);
}
