/* ParseExample and ParseSingleExample: the first forms of ParseExampleV2, which does the work. Their keys are inputs of their
 * own, or attrs. */
#include "op/io/example.h"
#include "rows.h"

enum { KINDS = 3 }; /* of keys: sparse, dense, ragged */

/* A call of the later form. */
typedef struct later {
    tw_attr attrs[TW_MAX_ATTRS];
    tw_tensor *keys[KINDS], *names;
    tw_tensor **inputs;
    int input_count;
} later;

static tw_status fill_attrs(later *l, const tw_op *op, const tw_attr *given, int sparse)
{
    const tw__op_signature *signature = tw__op_signature_of(&tw__op_ParseExampleV2);
    if (!signature)
        return tw__error_status();
    for (int i = 0; i < signature->attr_count; i++) {
        const char *name = signature->attrs[i].name;
        const tw_attr *own = tw__attr_find(op, given, name);
        l->attrs[i] = own->kind != TW_ATTR_NONE ? *own : (tw_attr){ .kind = signature->attrs[i].kind };
        l->attrs[i].name = name;
        if (strcmp(name, "num_sparse") == 0)
            l->attrs[i].i = sparse;
    }
    return TW_OK;
}

static tw_tensor *texts(int64_t count)
{
    return tw__tensor_empty(TW_STRING, &TW_SHAPE(count));
}

static void later_end(later *l)
{
    for (int i = 0; i < KINDS; i++)
        tw_release(l->keys[i]);
    tw_release(l->names);
    tw__free(l->inputs);
}

static tw_status run(tw__kernel *kernel, later *l, tw_tensor *names, int first_default)
{
    int defaults = kernel->input_count - first_default;
    l->inputs = tw__alloc_array((size_t)defaults + 5, sizeof *l->inputs);
    if (!l->inputs)
        return TW_RESOURCE_EXHAUSTED;
    l->inputs[0] = kernel->inputs[0];
    l->inputs[1] = names;
    memcpy(l->inputs + 2, l->keys, sizeof l->keys);
    for (int i = 0; i < defaults; i++)
        l->inputs[5 + i] = kernel->inputs[first_default + i];
    tw__kernel call = *kernel;
    call.op = &tw__op_ParseExampleV2;
    call.inputs = l->inputs;
    call.input_count = defaults + 5;
    call.attrs = l->attrs;
    return call.op->compute(&call);
}

static tw_status copy_key(tw_tensor *to, int64_t at, const tw_tensor *key)
{
    if (key->shape.rank != 0)
        return tw__fail(TW_INVALID_ARGUMENT, "ParseExample: a key must be a scalar, got shape %s", tw__shape_text(&key->shape));
    tw_string s = tw_tensor_string_at(key, 0);
    return tw__string_set(to, at, s.data ? s.data : "", s.size);
}

static tw_status many_compute(tw__kernel *kernel)
{
    tw__auto(later_end) later l = { 0 };
    int sparse = (int)TW_ATTR(kernel, "Nsparse")->i, dense = (int)TW_ATTR(kernel, "Ndense")->i;
    TW_TRY(fill_attrs(&l, kernel->op, kernel->attrs, sparse));
    for (int i = 0; i < KINDS; i++)
        TW_NEED(l.keys[i] = texts(i == 0 ? sparse : i == 1 ? dense : 0));
    for (int i = 0; i < sparse + dense; i++)
        TW_TRY(copy_key(l.keys[i < sparse ? 0 : 1], i < sparse ? i : i - sparse, kernel->inputs[2 + i]));
    return run(kernel, &l, kernel->inputs[1], 2 + sparse + dense);
}

static tw_status copy_keys(tw_tensor *to, const tw_attr *keys)
{
    for (int i = 0; i < keys->count; i++)
        TW_TRY(tw__string_set(to, i, keys->strings[i].data ? keys->strings[i].data : "", keys->strings[i].size));
    return TW_OK;
}

static tw_status one_compute(tw__kernel *kernel)
{
    tw__auto(later_end) later l = { 0 };
    const tw_attr *sparse = TW_ATTR(kernel, "sparse_keys"), *dense = TW_ATTR(kernel, "dense_keys");
    TW_TRY(fill_attrs(&l, kernel->op, kernel->attrs, sparse->count));
    for (int i = 0; i < KINDS; i++)
        TW_NEED(l.keys[i] = texts(i == 0 ? sparse->count : i == 1 ? dense->count : 0));
    TW_NEED(l.names = texts(0));
    TW_TRY(copy_keys(l.keys[0], sparse));
    TW_TRY(copy_keys(l.keys[1], dense));
    return run(kernel, &l, l.names, 1);
}

/* ---- shapes ---- */

static tw_status shapes(tw__inference *inference, int sparse, int dense_keys, int rank)
{
    const tw_attr *sparse_types = TW_ATTR(inference, "sparse_types"), *dense = TW_ATTR(inference, "Tdense"),
                  *given = TW_ATTR(inference, "dense_shapes");
    const tw_shape *serialized = inference->shapes[0];
    if (serialized->rank >= 0 && serialized->rank != rank)
        return tw__fail(TW_INVALID_ARGUMENT, "Expected serialized to be a %s, got shape: %s", rank ? "vector" : "scalar",
                        tw__shape_text(serialized));
    if (sparse_types->count != sparse || dense->count != given->count || dense->count != dense_keys)
        return TW_OP_FAIL(inference, TW_INVALID_ARGUMENT, "the lists of keys, types and shapes are not equally long");
    int output = 0;
    for (int i = 0; i < sparse; i++)
        inference->out_shapes[output++] = TW_SHAPE(-1, rank + 1);
    for (int i = 0; i < sparse; i++)
        inference->out_shapes[output++] = TW_SHAPE(-1);
    for (int i = 0; i < sparse; i++)
        inference->out_shapes[output++] = TW_SHAPE(rank + 1);
    for (int i = 0; i < dense->count; i++) {
        const tw_shape *shape = &given->shapes[i];
        tw_shape *out = &inference->out_shapes[output++];
        if (shape->rank < 0)
            continue;
        if (shape->rank + rank > TW_MAX_RANK)
            return TW_OP_FAIL(inference, TW_UNIMPLEMENTED, "rank %d, at most %d are supported", shape->rank + rank, TW_MAX_RANK);
        *out = (tw_shape){ .rank = shape->rank + rank };
        out->dims[0] = serialized->rank == 1 ? serialized->dims[0] : -1;
        memcpy(out->dims + rank, shape->dims, (size_t)shape->rank * sizeof *shape->dims);
    }
    return TW_OK;
}

static tw_status many_shape(tw__inference *inference)
{
    return shapes(inference, (int)TW_ATTR(inference, "Nsparse")->i, (int)TW_ATTR(inference, "Ndense")->i, 1);
}

static tw_status one_shape(tw__inference *inference)
{
    int64_t sparse = TW_ATTR(inference, "sparse_keys")->count;
    if (TW_ATTR(inference, "num_sparse")->i != sparse)
        return TW_OP_FAIL(inference, TW_INVALID_ARGUMENT, "num_sparse (%lld) is not the number of sparse keys (%lld)",
                          (long long)TW_ATTR(inference, "num_sparse")->i, (long long)sparse);
    return shapes(inference, (int)sparse, TW_ATTR(inference, "dense_keys")->count, 0);
}

#define VALUE_TYPES "list({float, int64, string})"

TW_OP(ParseExample,
      .inputs =
          "serialized: string, names: string, sparse_keys: Nsparse * string, dense_keys: Ndense * string, dense_defaults: Tdense",
      .outputs =
          "sparse_indices: Nsparse * int64, sparse_values: sparse_types, sparse_shapes: Nsparse * int64, dense_values: Tdense",
      .attrs = "Nsparse: int >= 0, Ndense: int >= 0, sparse_types: " VALUE_TYPES ", Tdense: " VALUE_TYPES
               ", dense_shapes: list(shape)",
      .shape = many_shape, .compute = many_compute, .makes_outputs = true,
      .doc = "ParseExampleV2 of a vector of Examples, without ragged features.");

TW_OP(
    ParseSingleExample, .inputs = "serialized: string, dense_defaults: Tdense",
    .outputs =
        "sparse_indices: num_sparse * int64, sparse_values: sparse_types, sparse_shapes: num_sparse * int64, dense_values: Tdense",
    .attrs = "num_sparse: int >= 0, sparse_keys: list(string), dense_keys: list(string), sparse_types: " VALUE_TYPES
             ", Tdense: " VALUE_TYPES ", dense_shapes: list(shape)",
    .shape = one_shape, .compute = one_compute, .makes_outputs = true,
    .doc = "ParseExampleV2 of one Example, without ragged features.");
