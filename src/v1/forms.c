/* Functions that tf.compat.v1 has in a form of its own: other arguments, other nodes, or only another name. Forms that differ in
 * the names and the order of arguments alone are a table of the Python package. */
#include <math.h>

#include "api/api.h"
#include "api/nn/nn.h"
#include "api/sparse/sparse.h"
#include "op/calls.h"
#include "v1/v1.h"

/* ---- arrays ---- */

TW_API(v1_to_float, "compat.v1.to_float(x: tensor|ragged|sparse, name: str = ToFloat) -> tensor", "The tensor as float32.")
{
    return tw_cast(args->x, TW_FLOAT32, .name = args->name);
}

TW_API(v1_to_double, "compat.v1.to_double(x: tensor|ragged|sparse, name: str = ToDouble) -> tensor", "The tensor as float64.")
{
    return tw_cast(args->x, TW_FLOAT64, .name = args->name);
}

TW_API(v1_to_int32, "compat.v1.to_int32(x: tensor|ragged|sparse, name: str = ToInt32) -> tensor", "The tensor as int32.")
{
    return tw_cast(args->x, TW_INT32, .name = args->name);
}

TW_API(v1_to_int64, "compat.v1.to_int64(x: tensor|ragged|sparse, name: str = ToInt64) -> tensor", "The tensor as int64.")
{
    return tw_cast(args->x, TW_INT64, .name = args->name);
}

TW_API(v1_to_bfloat16, "compat.v1.to_bfloat16(x: tensor|ragged|sparse, name: str = ToBFloat16) -> tensor",
       "The tensor as bfloat16.")
{
    return tw_cast(args->x, TW_BFLOAT16, .name = args->name);
}

TW_API(v1_to_complex64, "compat.v1.to_complex64(x: tensor|ragged|sparse, name: str = ToComplex64) -> tensor",
       "The tensor as complex64.")
{
    return tw_cast(args->x, TW_COMPLEX64, .name = args->name);
}

TW_API(v1_to_complex128, "compat.v1.to_complex128(x: tensor|ragged|sparse, name: str = ToComplex128) -> tensor",
       "The tensor as complex128.")
{
    return tw_cast(args->x, TW_COMPLEX128, .name = args->name);
}

TW_API(v1_div, "compat.v1.div(x: tensor<T>|ragged, y: tensor<T>|ragged, name: str = None) -> tensor",
       "x / y; of integers, rounded towards minus infinity.")
{
    const tw_op *op = tw__dtype_is_integer(args->x->dtype) ? &tw__op_FloorDiv : &tw__op_RealDiv;
    tw__part part = tw__part_plain();
    return tw__part_result(&part, tw__part_call(&part, args->name ? args->name : "div", op, TW_IN(args->x, args->y), 2, NULL, 0));
}

/* Blocks of two dimensions, or as the shape says. */
static tw_tensor *block_of(tw__temps *t, tw_tensor *shape, int64_t size, const char *who)
{
    int64_t sizes[] = { size, size };
    if (!shape && size == TW_NO_INT)
        tw__fail(TW_VALUE_ERROR, "%s: block_shape or block_size must be given", who);
    return shape ? shape : size == TW_NO_INT ? NULL : tw__temp_ints(t, sizes, 2, TW_INT32);
}

TW_API(v1_space_to_batch,
       "compat.v1.space_to_batch|compat.v1.nn.space_to_batch(input: tensor, paddings: tensor, block_size: int = None, "
       "name: str = None, block_shape: tensor = None) -> tensor",
       "Blocks of space moved into the batch.\n"
       "input: a tensor [batch, spatial dimensions, ...]\n"
       "paddings: the zeros at both sides of each dimension, [dimensions, 2]")
{
    TW_TEMPS(t);
    tw_tensor *block = block_of(t, args->block_shape, args->block_size, "space_to_batch");
    return block ? TW_CALL(SpaceToBatchND, args->input, block, args->paddings) : NULL;
}

TW_API(v1_batch_to_space,
       "compat.v1.batch_to_space(input: tensor, crops: tensor, block_size: int = None, name: str = None, "
       "block_shape: tensor = None) -> tensor",
       "Blocks of the batch moved into space.\n"
       "input: a tensor whose batch holds the blocks\n"
       "crops: what is cut off at both sides of each dimension, [dimensions, 2]")
{
    TW_TEMPS(t);
    tw_tensor *block = block_of(t, args->block_shape, args->block_size, "batch_to_space");
    return block ? TW_CALL(BatchToSpaceND, args->input, block, args->crops) : NULL;
}

TW_API(
    v1_space_to_batch_nd,
    "space_to_batch|nn.space_to_batch|compat.v1.space_to_batch_nd(input: tensor, block_shape: tensor, paddings: tensor, name: str = None) -> tensor",
    "Blocks of space moved into the batch.\n"
    "input: a tensor [batch, spatial dimensions, ...]\n"
    "paddings: the zeros at both sides of each dimension, [dimensions, 2]\n"
    "example: tf.space_to_batch(tf.ones([1, 2, 2, 1]), [2, 2], [[0, 0], [0, 0]]).shape  # TensorShape([4, 1, 1, 1])")
{
    return TW_CALL(SpaceToBatchND, args->input, args->block_shape, args->paddings);
}

TW_API(
    v1_batch_to_space_nd,
    "batch_to_space|compat.v1.batch_to_space_nd(input: tensor, block_shape: tensor, crops: tensor, name: str = None) -> tensor",
    "Blocks of the batch moved into space.\n"
    "input: a tensor whose batch holds the blocks\n"
    "crops: what is cut off at both sides of each dimension, [dimensions, 2]\n"
    "example: tf.batch_to_space(tf.reshape(tf.range(4), [4, 1, 1, 1]), [2, 2], [[0, 0], [0, 0]]).shape  # TensorShape([1, 2, 2, 1])")
{
    return TW_CALL(BatchToSpaceND, args->input, args->block_shape, args->crops);
}

TW_API(v1_string_split,
       "compat.v1.string_split(source: tensor, sep: str = None, skip_empty: bool = True, delimiter: str = None, "
       "result_type: str {SparseTensor, RaggedTensor} = SparseTensor, name: str = None) -> object",
       "Strings cut at every character of a separator.\n"
       "source: a vector of strings\n"
       "sep: the characters that divide; empty: every byte stands alone; None: a blank\n"
       "skip_empty: True: leave out empty parts\n"
       "delimiter: the old name of `sep`\n"
       "result_type: what the result is")
{
    tw_attr skip = TW_A_BOOL("skip_empty", args->skip_empty);
    const char *at = args->delimiter ? args->delimiter : args->sep ? args->sep : " ";
    tw__part part = tw__part_begin(args->name, "StringSplit");
    tw_auto tw_tensor *text = tw_tensor_string(at, strlen(at)), *delimiter = tw__part_constant(&part, text, "Const");
    tw_auto tw_tensor *source = tw__part_constant(&part, args->source, "Const");
    tw_tensor *outputs[3] = { NULL };
    int count = 3;
    tw_status status = source && delimiter ? tw__part_apply(&part, "StringSplit", &tw__op_StringSplit, TW_IN(source, delimiter),
                                                            2, &skip, 1, outputs, &count)
                                           : tw__error_status();
    tw_auto struct tw_sparse_tensor *parts = status == TW_OK ? tw__sparse_of_outputs(outputs) : NULL;
    bool ragged = strcmp(args->result_type, "RaggedTensor") == 0;
    tw_object *result = !parts ? NULL : ragged ? (tw_object *)tw_ragged_tensor_from_sparse(parts) : (tw_object *)tw_retain(parts);
    if (tw__part_end(&part) == TW_OK)
        return result;
    tw_release(result);
    return NULL;
}

/* ---- tf.nn ---- */

/* Dropout by a rate that a run is fed, node by node as TensorFlow makes them. */
static tw_tensor *dropout_by(tw_tensor *x, tw_tensor *rate, const tw_shape *noise_shape, int64_t seed, const char *name)
{
    tw__part part = tw__part_begin(name, "dropout");
    bool outside = tw__named_as_functions;
    tw__named_as_functions = true;
    TW_TEMPS(t);
    tw_tensor *one = tw__temp(t, tw__grad_constant(1, x)), *zero = tw__temp(t, tw__grad_constant(0, x));
    one = tw__temp(t, tw__part_constant(&part, one, "Const"));
    tw_tensor *own_rate = tw__temp_cast(t, rate, x->dtype);
    tw_tensor *scaled = TW_TEMP(RealDiv, x, TW_TEMP(Sub, one, own_rate));
    tw_tensor *dims = tw__temp(t, tw__noise_dims(x, noise_shape));
    dims = tw__temp(t, tw__part_constant(&part, dims, "Shape"));
    tw_tensor *uniform = tw__temp(t, dims ? tw_random_uniform(dims, .dtype = x->dtype, .seed = seed) : NULL);
    tw_tensor *kept = TW_TEMP(GreaterEqual, uniform, own_rate);
    zero = tw__temp(t, kept ? tw__part_constant(&part, zero, "Const") : NULL);
    tw_tensor *result = TW_TEMP(SelectV2, kept, scaled, zero);
    if (result && tw__symbolic_refine(result, &x->shape) != TW_OK)
        result = NULL;
    tw__named_as_functions = outside;
    return tw__part_result(&part, tw__keep(t, result));
}

TW_API(
    v1_dropout,
    "compat.v1.nn.dropout(x: tensor|ragged, keep_prob: value = None, noise_shape: shape = None, seed: int = None, name: str = None, "
    "rate: value = None) -> tensor",
    "Elements set to zero at random, the others scaled up.\n"
    "keep_prob: the part of the elements that is kept, a number or a tensor; for old programs, instead of `rate`\n"
    "raises: ValueError: neither or both of `rate` and `keep_prob` are given")
{
    bool keeps = args->keep_prob.kind != TW_VALUE_NONE, drops = args->rate.kind != TW_VALUE_NONE;
    double number;
    if (keeps == drops) {
        tw__fail(TW_VALUE_ERROR,
                 keeps ? "Cannot specify both 'rate' and 'keep_prob'." : "`rate` must be provided. Received: rate=None");
        return NULL;
    }
    if (tw__value_plain_number(drops ? &args->rate : &args->keep_prob, &number))
        return tw__dropout(args->x, drops ? number : 1 - number, &args->noise_shape, args->seed, args->name);
    TW_TEMPS(t);
    tw_tensor *given = tw__temp(t, tw__value_tensor(drops ? &args->rate : &args->keep_prob, TW_DTYPE_NONE, "dropout: rate"));
    tw_tensor *rate = drops ? given : TW_TEMP(Sub, 1.0, given);
    if (rate && rate->shape.rank > 0) {
        tw__owned char *shape = tw__shape_tuple(&rate->shape);
        tw__fail(TW_VALUE_ERROR, "Shape %s must have rank 0", shape ? shape : "");
        return NULL;
    }
    if (rate && !rate->node) {
        tw_tensor *exact = tw__temp_cast(t, rate, TW_FLOAT64);
        return exact ? tw__dropout(args->x, *(const double *)exact->data, &args->noise_shape, args->seed, args->name) : NULL;
    }
    return rate ? dropout_by(args->x, rate, &args->noise_shape, args->seed, args->name) : NULL;
}

TW_API(
    v1_embedding_lookup,
    "compat.v1.nn.embedding_lookup(params: value, ids: tensor<int32>|ragged, partition_strategy: str {mod, div} = mod, name: str = None, "
    "validate_indices: bool = True, max_norm: float = None) -> tensor",
    "The rows of a table that ids name, each scaled down to the norm max_norm if that is given.\n"
    "params: the table, or its parts in a list\n"
    "ids: the numbers of the rows")
{
    tw__part part = tw__part_begin(args->name, "embedding_lookup");
    TW_TEMPS(t);
    int count = 0;
    tw__owned tw_tensor **tables = tw__lookup_tables(t, &args->params, "embedding_lookup: params", &count);
    tw_tensor *table = tw__temp(t, count == 1 && tables ? tw__part_constant(&part, tables[0], "params_0") : NULL), *rows = NULL;
    tw_tensor *ids = tw__temp(t, tables ? tw__part_constant(&part, args->ids, "ids") : NULL);
    if (tables && count > 1)
        rows = tw__lookup_parts(t, tables, count, ids, strcmp(args->partition_strategy, "mod") == 0, args->max_norm);
    else if (table && !isnan(args->max_norm))
        rows = tw__temp(t, tw_nn_embedding_lookup(table, ids, .max_norm = args->max_norm));
    else if (table)
        rows =
            tw__temp(t, tw__part_call(&part, "", &tw__op_GatherV2, TW_IN(table, ids, tw__temp_int(t, 0, TW_INT32)), 3, NULL, 0));
    return tw__part_result(&part, TW_CALL(Identity, rows));
}

TW_API(v1_embedding_lookup_sparse,
       "compat.v1.nn.embedding_lookup_sparse(params: value, sp_ids: sparse_tensor, sp_weights: sparse_tensor = None, "
       "partition_strategy: str {mod, div} = mod, name: str = None, combiner: str = None, max_norm: float = None, "
       "allow_fast_lookup: bool = False) -> tensor",
       "tf.nn.embedding_lookup_sparse; the rows of a table in several parts lie in them in turn (mod), or in runs (div).\n"
       "params: the table, or its parts in a list\n"
       "sp_ids: the numbers of the rows, a sparse tensor; those of a row are combined\n"
       "sp_weights: the weight of each id; None: 1\n"
       "combiner: how rows become one: `mean`, `sqrtn` or `sum`; None: `mean`")
{
    return tw__lookup_sparse(&args->params, args->sp_ids, args->sp_weights, args->combiner, args->max_norm,
                             strcmp(args->partition_strategy, "mod") == 0);
}

TW_API(v1_safe_embedding_lookup_sparse,
       "compat.v1.nn.safe_embedding_lookup_sparse(embedding_weights: value, sparse_ids: sparse_tensor, "
       "sparse_weights: sparse_tensor = None, combiner: str = mean, default_id: int = None, name: str = None, "
       "partition_strategy: str {div, mod} = div, max_norm: float = None, allow_fast_lookup: bool = False) -> tensor",
       "tf.nn.safe_embedding_lookup_sparse; the rows of a table in several parts lie in them in runs (div), or in turn (mod).\n"
       "embedding_weights: the table, or its parts in a list\n"
       "sparse_ids: the numbers of the rows, a sparse tensor; those below 0 are left out\n"
       "sparse_weights: the weight of each id; those that are not above 0 leave it out; None: 1\n"
       "combiner: how rows become one: `mean`, `sqrtn` or `sum`\n"
       "default_id: the row that stands for samples without ids; None: zeros")
{
    tw_nn_safe_embedding_lookup_sparse_args later = { 0 };
    tw__args_project(&tw__signature_v1_safe_embedding_lookup_sparse, args, &tw__signature_nn_safe_embedding_lookup_sparse,
                     &later);
    return tw__lookup_safely(&later, strcmp(args->partition_strategy, "mod") == 0);
}

/* ---- others ---- */

TW_API(v1_print,
       "compat.v1.Print(input_: tensor, data: tensors, message: str = None, first_n: int = None, summarize: int = None, "
       "name: str = None) -> tensor",
       "The input; whenever it is computed, a line with the data goes to stderr.\n"
       "input_: the tensor that passes\n"
       "data: the tensors that are printed\n"
       "message: a text before them\n"
       "first_n: how often the line is printed at most; None: always\n"
       "summarize: how many elements of each tensor are printed; None: 3")
{
    tw__owned tw_tensor **inputs = tw__alloc_array((size_t)args->data.count + 1, sizeof *inputs);
    if (!inputs)
        return NULL;
    inputs[0] = args->input_;
    for (int64_t i = 0; i < args->data.count; i++)
        inputs[i + 1] = args->data.items[i];
    tw_attr attrs[] = { TW_A_STRING("message", args->message ? args->message : ""),
                        TW_A_INT("first_n", args->first_n == TW_NO_INT ? -1 : args->first_n),
                        TW_A_INT("summarize", args->summarize == TW_NO_INT ? 3 : args->summarize) };
    return tw__call(&tw__op_Print, inputs, (int)args->data.count + 1, attrs, 3);
}

TW_API(v1_count_up_to, "compat.v1.count_up_to(ref: variable, limit: int, name: str = None) -> tensor",
       "Adds 1 to a variable unless the limit is reached; gives what it was.\n"
       "ref: the variable\n"
       "raises: OutOfRangeError: the limit is reached")
{
    return tw_variable_count_up_to(args->ref, args->limit);
}
