/* Which functions take ragged and sparse tensors, and how they are called with them; see ragged_call.h. Functions of single
 * elements run over the flat values, others have a function here. */
#include "api/ragged_call.h"
#include "api/sparse.h"
#include "rows.h"

/* Of one tensor, the first argument; other arguments stay as they are. */
static const char *const of_one[] = {
    "math.abs",
    "math.acos",
    "math.acosh",
    "math.angle",
    "math.asin",
    "math.asinh",
    "math.atan",
    "math.atanh",
    "math.bessel_i0",
    "math.bessel_i0e",
    "math.bessel_i1",
    "math.bessel_i1e",
    "math.ceil",
    "math.conj",
    "math.cos",
    "math.cosh",
    "math.digamma",
    "math.erf",
    "math.erfc",
    "math.erfcinv",
    "math.erfinv",
    "math.exp",
    "math.expm1",
    "math.floor",
    "math.imag",
    "math.is_finite",
    "math.is_inf",
    "math.is_nan",
    "math.lgamma",
    "math.log",
    "math.log1p",
    "math.log_sigmoid",
    "math.logical_not",
    "math.ndtri",
    "math.negative",
    "math.real",
    "math.reciprocal",
    "math.reciprocal_no_nan",
    "math.rint",
    "math.round",
    "math.rsqrt",
    "math.sigmoid",
    "math.sign",
    "math.sin",
    "math.sinh",
    "math.softplus",
    "math.sqrt",
    "math.square",
    "math.tan",
    "math.tanh",
    "bitcast",
    "bitwise.invert",
    "cast",
    "clip_by_value",
    "debugging.check_numerics",
    "dtypes.saturate_cast",
    "identity",
    "io.decode_base64",
    "io.encode_base64",
    "nn.dropout",
    "nn.elu",
    "nn.gelu",
    "nn.leaky_relu",
    "nn.relu",
    "nn.relu6",
    "nn.selu",
    "nn.silu",
    "nn.softplus",
    "nn.softsign",
    "one_hot",
    "ones_like",
    "stop_gradient",
    "strings.as_string",
    "strings.length",
    "strings.lower",
    "strings.regex_full_match",
    "strings.regex_replace",
    "strings.strip",
    "strings.substr",
    "strings.to_hash_bucket",
    "strings.to_hash_bucket_fast",
    "strings.to_hash_bucket_strong",
    "strings.to_number",
    "strings.unicode_script",
    "strings.unicode_transcode",
    "strings.upper",
    "zeros_like",
};
/* Of two tensors, the first two arguments, which are brought to the same rows. */
static const char *const of_two[] = {
    "math.add",
    "math.atan2",
    "math.divide",
    "math.divide_no_nan",
    "math.equal",
    "math.floordiv",
    "math.floormod",
    "math.greater",
    "math.greater_equal",
    "math.less",
    "math.less_equal",
    "math.logical_and",
    "math.logical_or",
    "math.logical_xor",
    "math.maximum",
    "math.minimum",
    "math.multiply",
    "math.multiply_no_nan",
    "math.not_equal",
    "math.pow",
    "math.scalar_mul",
    "math.squared_difference",
    "math.subtract",
    "math.truediv",
    "math.xdivy",
    "math.xlog1py",
    "math.xlogy",
    "math.zeta",
    "dtypes.complex",
    "realdiv",
    "truncatediv",
    "truncatemod",
    "bitwise.bitwise_and",
    "bitwise.bitwise_or",
    "bitwise.bitwise_xor",
    "bitwise.left_shift",
    "bitwise.right_shift",
    "nn.sigmoid_cross_entropy_with_logits",
};
/* What sparse tensors may stand for: functions that keep zero. */
static const char *const of_sparse[] = {
    "math.abs",  "math.bessel_i0e", "math.bessel_i1e", "math.erf", "math.negative", "math.sign",
    "math.sqrt", "math.square",     "math.tanh",       "cast",     "identity",
};

static bool stands_in(const char *const *table, size_t count, const char *paths)
{
    for (const char *p = paths; *p;) {
        size_t size = strcspn(p, "|");
        for (size_t i = 0; i < count; i++) {
            if (strlen(table[i]) == size && memcmp(table[i], p, size) == 0)
                return true;
        }
        p += size + (p[size] == '|');
    }
    return false;
}
#define STANDS_IN(table, row) stands_in(table, sizeof(table) / sizeof *(table), (row)->path)

/* ---- arguments ---- */

typedef struct call {
    tw__temps *t;
    const tw_signature *row;
    const char *args;
    const tw__mixed *mixed;
} call;

static int field_at(const tw_signature *row, tw_kind kind, int which)
{
    for (int i = 0; i < row->field_count; i++) {
        if (row->fields[i].kind == kind && which-- == 0)
            return i;
    }
    return -1;
}

/* The value of the tensor argument `which`: a composite, a tensor, or NULL if it was left out. */
static void *argument(const call *c, int which)
{
    int at = field_at(c->row, TW_KIND_TENSOR, which);
    if (at < 0)
        return NULL;
    return c->mixed->values[at] ? c->mixed->values[at] : *(void *const *)(c->args + c->row->fields[at].offset);
}

/* Calls the row itself with tensors in the place of its first tensor arguments. */
static tw_tensor *with_tensors(const call *c, tw_tensor *const *tensors, int count)
{
    char *args = tw__alloc(c->row->args_size);
    if (!args)
        return NULL;
    memcpy(args, c->args, c->row->args_size);
    for (int i = 0; i < count; i++)
        *(tw_tensor **)(args + c->row->fields[field_at(c->row, TW_KIND_TENSOR, i)].offset) = tensors[i];
    tw_value result = { .kind = TW_VALUE_NONE };
    tw_status status = tw_signature_invoke(c->row, args, &result);
    tw__free(args);
    if (status != TW_OK || result.kind != TW_VALUE_TENSOR) {
        tw_value_free(&result);
        return NULL;
    }
    return tw__temp(c->t, result.tensor);
}

static void *only_ragged(void *value, const call *c)
{
    if (value && !tw__is_composite(value))
        return value;
    if (!value || tw__is_ragged(value))
        return value;
    tw__fail(TW_TYPE_ERROR, "%s: a SparseTensor is not supported here", c->row->id);
    return NULL;
}

/* ---- functions that are not of single elements ---- */

void *tw__value_expand(tw__temps *t, void *value, int64_t axis)
{
    if (!value)
        return NULL;
    if (!tw__is_ragged(value))
        return TW_K(ExpandDims, value, tw__temp_int(t, axis, TW_INT32));
    tw_ragged_tensor *ragged = value;
    tw_dtype dtype = ragged->splits->dtype;
    tw_tensor *one = tw__temp_int(t, 1, dtype), *rows = tw__splits_rows(t, ragged->splits);
    if (axis == 0)
        return tw__temp_ragged(t, ragged, tw__splits_uniform(t, one, rows), rows && rows->data ? tw_tensor_int_at(rows, 0) : -1);
    if (axis == 1)
        return tw__temp_ragged(t, ragged, tw__splits_uniform(t, rows, one), 1);
    return tw__temp_with_values(t, ragged, tw__value_expand(t, ragged->values, axis - 1));
}

static int64_t normal_axis(int64_t axis, int rank)
{
    if (axis >= -rank && axis < rank)
        return axis < 0 ? axis + rank : axis;
    tw__fail(TW_VALUE_ERROR, "axis=%lld out of bounds: expected %d<=axis<%d", (long long)axis, -rank, rank);
    return -1;
}

static void *call_expand(const call *c)
{
    const tw_expand_dims_args *args = (const void *)c->args;
    void *value = argument(c, 0);
    int64_t axis = normal_axis(args->axis, tw__value_shape(value).rank + 1);
    return axis < 0 ? NULL : tw__value_expand(c->t, value, axis);
}

static void *squeezed(tw__temps *t, void *value, int64_t axis)
{
    if (!value)
        return NULL;
    if (!tw__is_ragged(value))
        return TW_KA(Squeeze, TW_IN(value), TW_WITH(TW_A_INTS("squeeze_dims", &axis, 1)));
    tw_ragged_tensor *ragged = value;
    tw_shape shape = tw__value_shape(value);
    if (axis > 1)
        return tw__temp_with_values(t, ragged, squeezed(t, ragged->values, axis - 1));
    bool one = axis == 1 ? ragged->uniform == 1 : shape.dims[0] == 1;
    if (axis == 1 && !one && ragged->splits->data) {
        one = true;
        for (int64_t i = 0; one && i < ragged->splits->count; i++)
            one = tw_tensor_int_at(ragged->splits, i) == i;
    }
    if (!one) {
        tw__fail(TW_INVALID_ARGUMENT, "Can not squeeze dim[%lld], expected a dimension of 1", (long long)axis);
        return NULL;
    }
    return ragged->values;
}

static void *call_squeeze(const call *c)
{
    const tw_squeeze_args *args = (const void *)c->args;
    void *value = argument(c, 0);
    int rank = tw__value_shape(value).rank;
    bool chosen[TW_MAX_RANK] = { false };
    if (!args->axis.given) {
        tw__fail(TW_VALUE_ERROR, "Ragged.squeeze must have an axis argument.");
        return NULL;
    }
    for (int64_t i = 0; i < args->axis.count; i++) {
        int64_t axis = normal_axis(args->axis.items[i], rank);
        if (axis < 0)
            return NULL;
        chosen[axis] = true;
    }
    for (int i = rank - 1; value && i >= 0; i--)
        value = chosen[i] ? squeezed(c->t, value, i) : value;
    return value;
}

static void *call_reduce(const call *c)
{
    const tw_reduce_sum_args *args = (const void *)c->args; /* all reductions have these arguments */
    return tw__ragged_reduce(c->t, c->row->id, argument(c, 0), args->axis, args->keepdims);
}

static void *call_reduce_join(const call *c)
{
    const tw_strings_reduce_join_args *args = (const void *)c->args;
    return tw__ragged_reduce_join(c->t, argument(c, 0), args->axis, args->keepdims, args->separator);
}

static void *call_softmax(const call *c)
{
    const tw_nn_softmax_args *args = (const void *)c->args;
    return tw__ragged_softmax(c->t, argument(c, 0), args->axis);
}

static void *call_concat(const call *c)
{
    const tw_concat_args *args = (const void *)c->args;
    const tw_objects *list = &c->mixed->lists[field_at(c->row, TW_KIND_TENSORS, 0)];
    return tw__values_concat(c->t, list->items, list->count, args->axis);
}

static void *call_stack(const call *c)
{
    const tw_stack_args *args = (const void *)c->args;
    const tw_objects *list = &c->mixed->lists[field_at(c->row, TW_KIND_TENSORS, 0)];
    return tw__values_stack(c->t, list->items, list->count, args->axis);
}

/* Lists of which all members have the same rows: their flat values together. */
static void *call_members(const call *c)
{
    int at = field_at(c->row, TW_KIND_TENSORS, 0);
    const tw_objects *list = &c->mixed->lists[at];
    void *first = NULL;
    tw_tensor **flat = tw__alloc_array((size_t)list->count + 1, sizeof *flat);
    for (int64_t i = 0; i < list->count && !first; i++)
        first = tw__is_ragged(list->items[i]) ? list->items[i] : NULL;
    bool good = flat != NULL;
    for (int64_t i = 0; good && i < list->count; i++) {
        void *member = list->items[i], *like = first;
        good = tw__values_match(c->t, &like, &member) && like == first;
        flat[i] = good ? tw__flat_values(member) : NULL;
    }
    if (!good && tw_error_code() == TW_OK)
        tw__fail(TW_UNIMPLEMENTED, "%s: ragged tensors of different ranks are not supported", c->row->id);
    char *args = good ? tw__alloc(c->row->args_size) : NULL;
    tw_value result = { .kind = TW_VALUE_NONE };
    void *made = NULL;
    if (args) {
        memcpy(args, c->args, c->row->args_size);
        *(tw_tensors *)(args + c->row->fields[at].offset) = (tw_tensors){ flat, list->count };
        if (tw_signature_invoke(c->row, args, &result) == TW_OK && result.kind == TW_VALUE_TENSOR)
            made = tw__temp_with_flat(c->t, first, tw__temp(c->t, result.tensor));
    }
    tw__free(args);
    tw__free(flat);
    return made;
}

/* Indices into rows of the same place: rows of params and of indices go together. */
static void *gather_in_rows(const call *c, void *params, void *indices)
{
    tw__temps *t = c->t;
    tw_dtype dtype = TW_INT64;
    if (!tw__is_ragged(params))
        params = tw__ragged_of_tensor(t, params, 1, dtype);
    if (params && !tw__is_ragged(indices))
        indices = tw__ragged_of_tensor(t, indices, 1, dtype);
    if (!params || !indices)
        return NULL;
    tw_ragged_tensor *rows = params, *picks = indices;
    if (tw__is_ragged(picks->values)) {
        tw__fail(TW_UNIMPLEMENTED, "gather: batch_dims with indices of ragged rank 2 or more are not supported");
        return NULL;
    }
    tw_tensor *begins = tw__temp_slice(t, rows->splits, TW_NO_INT, -1),
              *ids = tw__temp_cast(t, tw__splits_rowids(t, picks->splits), rows->splits->dtype);
    tw_tensor *offsets = tw__temp_cast(t, tw__temp_gather(t, begins, ids, 0), tw__value_dtype(picks));
    tw_tensor *flat = TW_K(AddV2, picks->values, offsets);
    return flat ? tw__temp_with_values(t, picks, tw__value_gather(t, rows->values, flat)) : NULL;
}

static void *gather_along(const call *c, void *params, void *indices, int64_t axis)
{
    if (axis == 0 || !params)
        return tw__value_gather(c->t, params, indices);
    if (!tw__is_ragged(params)) {
        tw__fail(TW_UNIMPLEMENTED, "gather: ragged indices along an inner axis are not supported");
        return NULL;
    }
    tw_ragged_tensor *ragged = params;
    if (axis > 1)
        return tw__temp_with_values(c->t, ragged, gather_along(c, ragged->values, indices, axis - 1));
    if (tw__is_ragged(indices) || ((tw_tensor *)indices)->shape.rank != 1) {
        tw__fail(TW_UNIMPLEMENTED, "gather: along a ragged dimension only indices that are a vector are supported");
        return NULL;
    }
    /* The same columns of every row. */
    tw__temps *t = c->t;
    tw_dtype dtype = ragged->splits->dtype;
    tw_tensor *columns = tw__temp_cast(t, indices, dtype), *begins = tw__temp_slice(t, ragged->splits, TW_NO_INT, -1);
    tw_tensor *places = TW_K(AddV2, TW_K(ExpandDims, begins, tw__temp_int(t, 1, TW_INT32)), columns);
    return tw__value_gather(t, ragged->values, places);
}

static void *call_gather(const call *c)
{
    const tw_gather_args *args = (const void *)c->args;
    void *params = argument(c, 0), *indices = argument(c, 1);
    int rank = tw__value_shape(params).rank;
    int64_t axis = args->axis == TW_NO_INT ? args->batch_dims : args->axis;
    axis = rank > 0 ? normal_axis(axis, rank) : axis;
    if (axis < 0)
        return NULL;
    if (args->batch_dims == 0)
        return gather_along(c, params, indices, axis);
    if (args->batch_dims == 1 && axis == 1)
        return gather_in_rows(c, params, indices);
    tw__fail(TW_UNIMPLEMENTED, "gather: of ragged tensors with batch_dims=%lld and axis=%lld", (long long)args->batch_dims,
             (long long)axis);
    return NULL;
}

static void *call_gather_nd(const call *c)
{
    const tw_gather_nd_args *args = (const void *)c->args;
    tw__temps *t = c->t;
    void *params = argument(c, 0), *indices = argument(c, 1);
    if (args->batch_dims || tw__is_ragged(indices) || ((tw_tensor *)indices)->shape.rank != 2 ||
        ((tw_tensor *)indices)->shape.dims[1] < 1) {
        tw__fail(TW_UNIMPLEMENTED, "gather_nd: of ragged tensors only with indices that are a matrix, without batch_dims");
        return NULL;
    }
    tw_tensor *picks = indices;
    int64_t width = picks->shape.dims[1];
    void *value = params;
    tw_tensor *place = tw__temp_column(t, picks, 0);
    for (int64_t k = 1; place && k < width && tw__is_ragged(value); k++) { /* from rows to the places of their members */
        tw_ragged_tensor *ragged = value;
        tw_tensor *begin = tw__temp_gather(t, tw__temp_slice(t, ragged->splits, TW_NO_INT, -1), place, 0);
        place = TW_K(AddV2, begin, tw__temp_cast(t, tw__temp_column(t, picks, k), ragged->splits->dtype));
        value = ragged->values;
        width = tw__is_ragged(value) ? width : k + 1 < width ? -1 : width;
    }
    if (width < 0) {
        tw__fail(TW_UNIMPLEMENTED, "gather_nd: indices into uniform inner dimensions of ragged tensors are not supported");
        return NULL;
    }
    return tw__value_gather(t, value, place);
}

static void *call_where(const call *c)
{
    void *condition = argument(c, 0), *x = argument(c, 1), *y = argument(c, 2);
    tw__temps *t = c->t;
    if (!x && !y) {
        tw_ragged_tensor *ragged = condition;
        tw_tensor *inputs[TW_RAGGED_PARTS + 1], *made[3] = { NULL, NULL, NULL };
        int count = 0, outputs = 3;
        for (; tw__is_ragged(ragged); ragged = ragged->values)
            inputs[count++] = ragged->splits;
        inputs[count++] = tw__flat_values(condition);
        if (tw__apply(&tw__op_RaggedTensorToSparse, inputs, count, NULL, 0, made, &outputs) != TW_OK)
            return NULL;
        tw_tensor *indices = tw__temp(t, made[0]), *values = tw__temp(t, made[1]);
        tw__temp(t, made[2]);
        return tw__temp_gather(t, indices, tw__temp_reshape(t, TW_K(Where, values), (const int64_t[]){ -1 }, 1), 0);
    }
    if (!x || !y) {
        tw__fail(TW_VALUE_ERROR, "Either both or neither `x` and `y` should be specified.");
        return NULL;
    }
    void *like = tw__is_ragged(condition) ? condition : tw__is_ragged(x) ? x : y;
    void *a = like, *b = like, *d = like;
    if (!tw__values_match(t, &a, &condition) || !tw__values_match(t, &b, &x) || !tw__values_match(t, &d, &y))
        return NULL;
    return tw__temp_with_flat(t, like, TW_K(SelectV2, tw__flat_values(condition), tw__flat_values(x), tw__flat_values(y)));
}

/* ---- repeating ---- */

static void *call_tile(const call *c)
{
    void *value = argument(c, 0);
    tw_tensor *multiples = argument(c, 1);
    tw__temps *t = c->t;
    int ragged_rank = tw__ragged_rank(value), rank = tw__value_shape(value).rank;
    if (!multiples->data || multiples->count != rank || tw__is_ragged(multiples)) {
        tw__fail(TW_VALUE_ERROR, "tile: multiples must be known, one for each of the %d dimensions of the ragged tensor", rank);
        return NULL;
    }
    for (int axis = 0; value && axis < rank; axis++) {
        int64_t times = tw_tensor_int_at(multiples, axis);
        if (times == 1)
            continue;
        if (axis > ragged_rank) { /* uniform: of the flat values */
            int64_t all[TW_MAX_RANK];
            tw_tensor *flat = tw__flat_values(value);
            for (int i = 0; i < flat->shape.rank; i++)
                all[i] = i + ragged_rank == axis ? times : 1;
            value = tw__temp_with_flat(t, value, TW_K(Tile, flat, tw__temp_ints(t, all, flat->shape.rank, TW_INT32)));
            continue;
        }
        if (times < 1 || times > 100000) {
            tw__fail(TW_UNIMPLEMENTED, "tile: a ragged dimension can't be repeated %lld times", (long long)times);
            return NULL;
        }
        void **copies = tw__alloc_array((size_t)times, sizeof *copies);
        for (int64_t i = 0; copies && i < times; i++)
            copies[i] = value;
        value = copies ? tw__values_concat(t, copies, times, axis) : NULL;
        tw__free(copies);
    }
    return value;
}

static void *reversed(tw__temps *t, void *value, int64_t axis)
{
    if (!value)
        return NULL;
    if (!tw__is_ragged(value))
        return TW_K(ReverseV2, value, tw__temp_ints(t, &axis, 1, TW_INT32));
    tw_ragged_tensor *ragged = value;
    tw_dtype dtype = ragged->splits->dtype;
    tw_tensor *one = tw__temp_int(t, 1, dtype), *less = tw__temp_int(t, -1, dtype);
    if (axis == 0) {
        tw_tensor *rows = tw__splits_rows(t, ragged->splits);
        return tw__value_gather(t, ragged, TW_K(Range, TW_K(Sub, rows, one), less, less));
    }
    if (axis > 1)
        return tw__temp_with_values(t, ragged, reversed(t, ragged->values, axis - 1));
    tw_tensor *begins = TW_K(Sub, tw__temp_slice(t, ragged->splits, 1, TW_NO_INT), one),
              *ends = TW_K(Sub, tw__temp_slice(t, ragged->splits, TW_NO_INT, -1), one);
    tw_ragged_tensor *turned = tw__ragged_of_ranges(t, ragged->values, begins, ends, less);
    return turned ? tw__temp_with_values(t, ragged, turned->values) : NULL;
}

static void *call_reverse(const call *c)
{
    const tw_reverse_args *args = (const void *)c->args;
    void *value = argument(c, 0);
    int rank = tw__value_shape(value).rank;
    for (int64_t i = 0; value && i < args->axis.count; i++) {
        int64_t axis = normal_axis(args->axis.items[i], rank);
        value = axis < 0 ? NULL : reversed(c->t, value, axis);
    }
    return value;
}

/* ---- sizes ---- */

static void *call_rank(const call *c)
{
    void *value = argument(c, 0);
    int rank = tw__is_ragged(value) ? tw__value_shape(value).rank : ((tw_sparse_tensor *)value)->shape.rank;
    if (rank >= 0)
        return tw__temp_int(c->t, rank, TW_INT32);
    tw__fail(TW_UNIMPLEMENTED, "rank: of a value of unknown rank");
    return NULL;
}

static void *call_size(const call *c)
{
    const tw_size_args *args = (const void *)c->args;
    tw__temps *t = c->t;
    void *value = argument(c, 0);
    tw_dtype dtype = args->out_type == TW_DTYPE_NONE ? TW_INT32 : args->out_type;
    if (tw__is_ragged(value))
        return TW_KA(Size, TW_IN(tw__flat_values(value)), TW_WITH(TW_A_TYPE("out_type", dtype)));
    return tw__temp_cast(t, TW_K(Prod, ((tw_sparse_tensor *)value)->dense_shape, tw__temp_int(t, 0, TW_INT32)), dtype);
}

static void *call_shape(const call *c)
{
    const tw_shape_args *args = (const void *)c->args;
    void *value = argument(c, 0);
    if (!tw__is_ragged(value))
        return tw__temp_cast(c->t, ((tw_sparse_tensor *)value)->dense_shape,
                             args->out_type == TW_DTYPE_NONE ? TW_INT32 : args->out_type);
    tw__fail(TW_UNIMPLEMENTED, "shape: a ragged tensor has no shape; bounding_shape() gives the smallest one that holds it");
    return NULL;
}

static void *call_reshape(const call *c)
{
    tw__temps *t = c->t;
    void *value = argument(c, 0), *shape = argument(c, 1);
    tw_tensor *sizes = shape;
    if (tw__is_ragged(shape) || sizes->shape.rank != 1 || sizes->shape.dims[0] != 1) {
        tw__fail(TW_UNIMPLEMENTED, "reshape: a ragged tensor can only be made a vector of its values");
        return NULL;
    }
    return TW_K(Reshape, tw__flat_values(value), sizes);
}

static void *call_embedding(const call *c)
{
    void *params = argument(c, 0), *ids = argument(c, 1);
    tw_tensor *found = with_tensors(c, TW_IN(params, tw__flat_values(ids)), 2);
    return found ? tw__temp_with_flat(c->t, ids, found) : NULL;
}

static void *call_cumsum(const call *c)
{
    const tw_math_cumsum_args *args = (const void *)c->args;
    tw__temps *t = c->t;
    tw_ragged_tensor *ragged = argument(c, 0);
    if (normal_axis(args->axis, tw__value_shape(ragged).rank) != 1 || tw__is_ragged(ragged->values) || args->reverse) {
        tw__fail(TW_UNIMPLEMENTED, "cumsum: of ragged tensors only along dimension 1, forwards");
        return NULL;
    }
    /* Sums of everything, less what stood before the row. */
    tw_tensor *zero = tw__temp_int(t, 0, TW_INT32);
    tw_tensor *before = TW_KA(Cumsum, TW_IN(ragged->values, zero), TW_WITH(TW_A_BOOL("exclusive", true)));
    tw_tensor *sums = args->exclusive ? before : TW_K(Cumsum, ragged->values, zero);
    tw_tensor *begins =
        tw__temp_gather(t, tw__temp_slice(t, ragged->splits, TW_NO_INT, -1), tw__splits_rowids(t, ragged->splits), 0);
    tw_tensor *offsets = tw__temp_gather(t, before, begins, 0);
    return sums && offsets ? tw__temp_with_values(t, ragged, TW_K(Sub, sums, offsets)) : NULL;
}

static void *call_bincount(const call *c)
{
    const tw_math_bincount_args *args = (const void *)c->args;
    void *value = argument(c, 0), *weights = argument(c, 1);
    tw_tensor *inputs[2] = { tw__flat_values(value), weights ? tw__flat_values(weights) : NULL };
    if (args->axis == TW_NO_INT || args->axis == 0)
        return with_tensors(c, inputs, 2);
    tw__fail(TW_UNIMPLEMENTED, "bincount: of the rows of a ragged tensor; tf.sparse.bincount counts them");
    return NULL;
}

/* Rows cut into pieces of the same number, or of the numbers given: a list. */
static tw_status call_split(const call *c, tw_value *result)
{
    const tw_split_args *args = (const void *)c->args;
    tw__temps *t = c->t;
    void *value = argument(c, 0);
    const tw_value *given = &args->num_or_size_splits;
    tw_shape shape = tw__value_shape(value);
    bool list = given->kind == TW_VALUE_LIST || given->kind == TW_VALUE_TUPLE;
    int64_t pieces = list ? given->list.count : given->kind == TW_VALUE_INT ? given->i : 0, begin = 0;
    if (normal_axis(args->axis, shape.rank) != 0 || pieces < 1 || shape.dims[0] < 0)
        return tw__fail(TW_UNIMPLEMENTED,
                        "split: a ragged tensor can only be cut between its rows, into a number of pieces that is known");
    if (!list && shape.dims[0] % pieces)
        return tw__fail(TW_INVALID_ARGUMENT, "Cannot exactly split %lld rows into %lld pieces", (long long)shape.dims[0],
                        (long long)pieces);
    tw_value *items = tw__alloc_array((size_t)pieces, sizeof *items);
    tw_value whole = { .kind = TW_VALUE_LIST, .list = { items, 0 } };
    for (; items && whole.list.count < pieces; whole.list.count++) {
        const tw_value *size = list ? &given->list.items[whole.list.count] : NULL;
        int64_t end = begin + (size ? (size->kind == TW_VALUE_INT ? size->i : -1) : shape.dims[0] / pieces);
        if (end < begin || end > shape.dims[0]) {
            tw__fail(TW_INVALID_ARGUMENT, "split: the sizes of the pieces do not make %lld rows", (long long)shape.dims[0]);
            break;
        }
        void *piece = tw__value_between(t, value, tw__temp_int(t, begin, TW_INT64), tw__temp_int(t, end, TW_INT64));
        if (!piece)
            break;
        items[whole.list.count] = tw__value_of_object(tw_retain(piece));
        begin = end;
    }
    if (items && whole.list.count == pieces && begin == shape.dims[0]) {
        *result = whole;
        return TW_OK;
    }
    tw_value_free(&whole);
    return tw_error_code() != TW_OK
               ? tw_error_code()
               : tw__fail(TW_INVALID_ARGUMENT, "split: the sizes of the pieces do not make %lld rows", (long long)shape.dims[0]);
}

static const struct {
    const char *id;
    void *(*call)(const call *c); /* NULL: it gives a list */
    bool sparse;
} functions[] = {
    { "concat", call_concat, false },
    { "stack", call_stack, false },
    { "gather", call_gather, false },
    { "gather_nd", call_gather_nd, false },
    { "where", call_where, false },
    { "expand_dims", call_expand, false },
    { "squeeze", call_squeeze, false },
    { "tile", call_tile, false },
    { "reverse", call_reverse, false },
    { "rank", call_rank, true },
    { "size", call_size, true },
    { "shape", call_shape, true },
    { "reshape", call_reshape, false },
    { "nn_softmax", call_softmax, false },
    { "nn_embedding_lookup", call_embedding, false },
    { "math_cumsum", call_cumsum, false },
    { "math_bincount", call_bincount, false },
    { "split", NULL, false },
    { "add_n", call_members, false },
    { "strings_join", call_members, false },
    { "strings_reduce_join", call_reduce_join, false },
    { "reduce_sum", call_reduce, false },
    { "reduce_mean", call_reduce, false },
    { "reduce_max", call_reduce, false },
    { "reduce_min", call_reduce, false },
    { "reduce_prod", call_reduce, false },
    { "reduce_any", call_reduce, false },
    { "reduce_all", call_reduce, false },
    { "math_reduce_variance", call_reduce, false },
    { "math_reduce_std", call_reduce, false },
};

static int function_of(const tw_signature *row)
{
    for (size_t i = 0; i < sizeof functions / sizeof *functions; i++) {
        if (strcmp(functions[i].id, row->id) == 0)
            return (int)i;
    }
    return -1;
}

bool tw__takes_composite(const tw_signature *row, const void *composite)
{
    if (row->role != TW_ROLE_FUNCTION)
        return false;
    int own = function_of(row);
    if (!tw__is_ragged(composite))
        return STANDS_IN(of_sparse, row) || (own >= 0 && functions[own].sparse);
    return own >= 0 || STANDS_IN(of_one, row) || STANDS_IN(of_two, row);
}

/* A function of single elements. */
static void *elementwise(const call *c)
{
    void *x = argument(c, 0), *y = argument(c, 1);
    if (x && tw__is(x, &tw__class_sparse_tensor)) {
        tw_sparse_tensor *sparse = x;
        tw_tensor *values = with_tensors(c, &sparse->values, 1);
        const tw__composite_methods *methods = tw__methods(sparse);
        return values ? tw__temp(c->t, methods->with_values(sparse, values)) : NULL;
    }
    if (!STANDS_IN(of_two, c->row)) {
        if (!tw__is_ragged(x)) {
            tw__fail(TW_TYPE_ERROR, "%s: only the first argument may be ragged", c->row->id);
            return NULL;
        }
        tw_tensor *flat = tw__flat_values(x), *made = with_tensors(c, &flat, 1);
        return made ? tw__temp_with_flat(c->t, x, made) : NULL;
    }
    if (!only_ragged(x, c) || !only_ragged(y, c) || !tw__values_match(c->t, &x, &y))
        return NULL;
    tw_tensor *made = with_tensors(c, TW_IN(tw__flat_values(x), tw__flat_values(y)), 2);
    return made ? tw__temp_with_flat(c->t, tw__is_ragged(x) ? x : y, made) : NULL;
}

static tw_status check_taken(const tw_signature *row, const tw_field *field, const void *value)
{
    if (!value || !tw__is_composite(value) || tw__takes_composite(row, value))
        return TW_OK;
    return tw__fail(TW_VALUE_ERROR, "%s: the argument `%s` can't be a %s here", row->path, field->name, tw_class_name(value));
}

/* Whoever found that one of the values is taken need not have looked at the others. */
static tw_status check_all_taken(const call *c)
{
    for (int i = 0; i < c->row->field_count; i++) {
        if (c->mixed->values)
            TW_TRY(check_taken(c->row, &c->row->fields[i], c->mixed->values[i]));
        for (int64_t k = 0; c->mixed->lists && k < c->mixed->lists[i].count; k++)
            TW_TRY(check_taken(c->row, &c->row->fields[i], c->mixed->lists[i].items[k]));
    }
    return TW_OK;
}

tw_status tw__call_composite(const tw_signature *row, const void *args, const tw__mixed *mixed, tw_value *result)
{
    tw__temps t = { 0 };
    call c = { &t, row, args, mixed };
    TW_TRY(check_all_taken(&c));
    int own = function_of(row);
    if (own >= 0 && !functions[own].call) {
        tw_status status = call_split(&c, result);
        tw__temps_free(&t);
        return status;
    }
    void *made = own >= 0 ? functions[own].call(&c) : elementwise(&c);
    made = tw__temps_end(&t, made);
    if (!made)
        return tw__error_status();
    *result = tw__is_composite(made) ? tw__value_of_object(made) : tw__value_of_tensor(made);
    return TW_OK;
}

/* ---- operators ---- */

/* The function of that path with values for its first arguments. */
static tw_value operate(const char *path, void *x, void *y)
{
    const tw_signature *row = tw_signature_find(path);
    tw_value result = { .kind = TW_VALUE_NONE };
    if (!row || !x || !y)
        return result;
    char *args = tw__alloc_zero(row->args_size);
    void **values = args ? tw__alloc_array((size_t)row->field_count, sizeof *values) : NULL;
    if (values) {
        tw_args_default(row, args);
        values[field_at(row, TW_KIND_TENSOR, 0)] = x;
        if (field_at(row, TW_KIND_TENSOR, 1) >= 0)
            values[field_at(row, TW_KIND_TENSOR, 1)] = y;
        if (tw__call_composite(row, args, &(tw__mixed){ values, NULL }, &result) != TW_OK)
            result = (tw_value){ .kind = TW_VALUE_NONE };
    }
    tw__free(values);
    tw__free(args);
    return result;
}

TW_METHOD(ragged_tensor_operate,
          "RaggedTensor._operate(self: ragged_tensor, path: str, other: value = None, reflected: bool = False) -> value",
          "A function of the library, by its path, of this and another value; reflected: the other one stands first.")
{
    tw__temps t = { 0 };
    void *other = args->other.kind == TW_VALUE_NONE
                      ? args->self
                      : tw__value_given(&t, &args->other, tw__value_dtype(args->self), "RaggedTensor");
    const tw_signature *row = tw_signature_find(args->path);
    if (!row || !tw__takes_composite(row, args->self)) {
        tw__fail(TW_VALUE_ERROR, "RaggedTensor: there is no function %s of ragged tensors", args->path);
        other = NULL;
    }
    tw_value result = operate(args->path, args->reflected ? other : args->self, args->reflected ? args->self : other);
    tw__temps_free(&t);
    return result;
}
