/* ParseExampleV2: serialized Examples to tensors.
 *
 * serialized is one Example or a vector of them. Dense features have a shape; one whose first dimension is not known takes as
 * many rows as there are (in a vector: as the longest, padded). Sparse features give indices, values and a dense shape, ragged
 * ones values and row splits. Examples are walked once: what a key's Feature is, is noted (last one wins), then values are copied
 * to where they belong. */
#include "op/io/example.h"
#include "rows.h"

#define VALUE_TYPES "list({float, int64, string})"

typedef struct parser {
    tw__kernel *kernel;
    const tw_attr *sparse_types, *dense_types, *ragged_types, *split_types, *dense_shapes;
    int sparse, dense, ragged, all; /* numbers of features; sparse ones come first, then dense, then ragged */
    int defaults;                   /* the input with the first default */
    int64_t batch;
    bool single;
    tw__map keys;       /* to place + 1 */
    tw__feature *found; /* [batch][all]; dtype NONE: not there */
    bool bad_feature;   /* a key's Feature made no sense */
    int64_t row;
    tw_string bad_key;
} parser;

static tw_dtype dtype_of(const parser *p, int place)
{
    return place < p->sparse              ? p->sparse_types->types[place]
           : place < p->sparse + p->dense ? p->dense_types->types[place - p->sparse]
                                          : p->ragged_types->types[place - p->sparse - p->dense];
}

static tw_string key_of(const parser *p, int place)
{
    int input = place < p->sparse ? 2 : place < p->sparse + p->dense ? 3 : 4;
    int index = place - (input == 2 ? 0 : input == 3 ? p->sparse : p->sparse + p->dense);
    return tw_tensor_string_at(p->kernel->inputs[input], index);
}

static const tw__example_attrs example_attrs = { "num_sparse",         "sparse_types",       "Tdense",
                                                 "ragged_value_types", "ragged_split_types", "dense_shapes" };

/* ---- shapes ---- */

static tw_status need_keys(const tw__inference *inference, int input, int64_t count, const char *keys, const char *types)
{
    const tw_shape *shape = inference->shapes[input];
    if (shape->rank < 0 || (shape->rank == 1 && (shape->dims[0] < 0 || shape->dims[0] == count)))
        return TW_OK;
    return tw__fail(TW_INVALID_ARGUMENT, "Expected len(%s) == len(%s) but got: %s vs. %lld", keys, types, tw__shape_text(shape),
                    (long long)count);
}

/* Only these have a kind of list in a Feature. */
static tw_status need_types(const tw_attr *types)
{
    for (int i = 0; i < types->count; i++) {
        if (types->types[i] != TW_FLOAT32 && types->types[i] != TW_INT64 && types->types[i] != TW_STRING)
            return tw__fail(TW_INVALID_ARGUMENT,
                            "Value for attr '%s' of %s is not in the list of allowed values: float, int64, string", types->name,
                            tw__dtype_text(types->types[i]));
    }
    return TW_OK;
}

static tw_status shape_dense(tw__inference *inference, const tw_shape *dense, int output)
{
    const tw_shape *serialized = inference->shapes[0];
    tw_shape *out = &inference->out_shapes[output];
    if (dense->rank < 0 || serialized->rank + dense->rank > TW_MAX_RANK)
        return tw__fail(TW_INVALID_ARGUMENT, "ParseExampleV2: dense_shapes must be of 0 to %d dimensions", TW_MAX_RANK - 1);
    for (int i = 1; i < dense->rank; i++) {
        if (dense->dims[i] < 0)
            return tw__fail(TW_INVALID_ARGUMENT,
                            "ParseExampleV2: in dense_shapes only the first dimension may be unknown, got %s",
                            tw__shape_text(dense));
    }
    if (serialized->rank < 0)
        return TW_OK;
    *out = (tw_shape){ .rank = serialized->rank + dense->rank };
    if (serialized->rank == 1)
        out->dims[0] = serialized->dims[0];
    memcpy(out->dims + serialized->rank, dense->dims, (size_t)dense->rank * sizeof *dense->dims);
    return TW_OK;
}

tw_status tw__example_shape(tw__inference *inference, const tw__example_attrs *names, int *next)
{
    const tw_shape *serialized = inference->shapes[0];
    if (serialized->rank > 1)
        return tw__fail(TW_INVALID_ARGUMENT, "Expected serialized to be a scalar or vector, got shape: %s",
                        tw__shape_text(serialized));
    const tw_attr *sparse = TW_ATTR(inference, names->sparse), *dense = TW_ATTR(inference, names->dense);
    const tw_attr *ragged = TW_ATTR(inference, names->ragged), *splits = TW_ATTR(inference, names->splits);
    const tw_attr *shapes = TW_ATTR(inference, names->shapes);
    if (sparse->count != TW_ATTR(inference, names->count)->i || ragged->count != splits->count || dense->count != shapes->count)
        return TW_OP_FAIL(inference, TW_INVALID_ARGUMENT, "the lists of types and shapes are not equally long");
    TW_TRY(need_types(dense));
    TW_TRY(need_types(sparse));
    TW_TRY(need_types(ragged));
    TW_TRY(need_keys(inference, 2, sparse->count, "sparse_keys", "sparse_types"));
    TW_TRY(need_keys(inference, 3, dense->count, "dense_keys", "Tdense"));
    TW_TRY(need_keys(inference, 4, ragged->count, "ragged_keys", "ragged_value_types"));
    int output = 0;
    for (int i = 0; i < sparse->count; i++)
        inference->out_shapes[output++] = serialized->rank < 0 ? TW_SHAPE(-1, -1) : TW_SHAPE(-1, serialized->rank + 1);
    for (int i = 0; i < sparse->count; i++)
        inference->out_shapes[output++] = TW_SHAPE(-1);
    for (int i = 0; i < sparse->count; i++)
        inference->out_shapes[output++] = TW_SHAPE(serialized->rank < 0 ? -1 : serialized->rank + 1);
    for (int i = 0; i < dense->count; i++)
        TW_TRY(shape_dense(inference, &shapes->shapes[i], output++));
    for (int i = 0; i < ragged->count; i++)
        inference->out_shapes[output++] = TW_SHAPE(-1);
    for (int i = 0; i < ragged->count; i++)
        inference->out_shapes[output++] = serialized->rank < 0      ? TW_SHAPE(-1)
                                          : serialized->rank == 0   ? TW_SHAPE(0)
                                          : serialized->dims[0] < 0 ? TW_SHAPE(-1)
                                                                    : TW_SHAPE(serialized->dims[0] + 1);
    *next = output;
    return TW_OK;
}

static tw_status parse_shape(tw__inference *inference)
{
    int next;
    return tw__example_shape(inference, &example_attrs, &next);
}

/* ---- finding the features ---- */

static tw_status note(void *context, tw_string key, tw_string bytes)
{
    parser *p = context;
    int place = (int)(intptr_t)tw__map_get(&p->keys, key.data, key.size) - 1;
    if (place >= 0 && !tw__feature_read(bytes, &p->found[p->row * p->all + place])) {
        p->bad_feature = true;
        p->bad_key = key;
        return TW_INVALID_ARGUMENT;
    }
    return TW_OK;
}

/* "Name: <unknown>, " of errors about one of several Examples. */
static const char *name_of(const parser *p, int64_t row)
{
    static _Thread_local char text[200];
    const tw_tensor *names = p->kernel->inputs[1];
    tw_string name = { "<unknown>", 9 };
    if (row < names->count)
        name = tw_tensor_string_at(names, row);
    snprintf(text, sizeof text, "Name: %.*s, ", (int)(name.size < 150 ? name.size : 150), name.data ? name.data : "");
    return text;
}

/* "Key: f.  ", or "Name: <unknown>, Key: f, Index: 0.  ", then the text. */
static tw_status fail_at(const parser *p, int64_t row, tw_string key, const char *text)
{
    int size = (int)(key.size < 300 ? key.size : 300);
    if (p->single)
        return tw__fail(TW_INVALID_ARGUMENT, "Key: %.*s.  %s", size, key.data, text);
    return tw__fail(TW_INVALID_ARGUMENT, "%sKey: %.*s, Index: %lld.  %s", name_of(p, row), size, key.data, (long long)row, text);
}

static tw_status fail_missing(const parser *p, int64_t row, int place)
{
    tw_string key = key_of(p, place);
    return tw__fail(TW_INVALID_ARGUMENT, "%sFeature: %.*s (data type: %s) is required but could not be found.",
                    p->single ? "" : name_of(p, row), (int)(key.size < 300 ? key.size : 300), key.data,
                    tw__dtype_text(dtype_of(p, place)));
}

static tw_status find_features(parser *p)
{
    for (int place = 0; place < p->all; place++) {
        tw_string key = key_of(p, place);
        if (tw__map_has(&p->keys, key.data, key.size))
            return tw__fail(TW_INVALID_ARGUMENT, "ParseExampleV2: the key %.*s stands twice", (int)key.size, key.data);
        TW_TRY(tw__map_put(&p->keys, key.data ? key.data : "", key.size, (void *)(intptr_t)(place + 1)));
    }
    for (p->row = 0; p->row < p->batch; p->row++) {
        tw_string serialized = tw_tensor_string_at(p->kernel->inputs[0], p->row);
        tw_status status = TW_OK;
        if (!tw__example_each(serialized, note, p, &status))
            return tw__fail(TW_INVALID_ARGUMENT, "Could not parse example input, value: '%.*s'",
                            (int)(serialized.size < 1000 ? serialized.size : 1000), serialized.data);
        if (status != TW_OK)
            return p->bad_feature ? fail_at(p, p->row, p->bad_key, "Can't parse serialized Example.") : status;
    }
    for (int64_t row = 0; row < p->batch; row++) {
        for (int place = 0; place < p->all; place++) {
            const tw__feature *feature = &p->found[row * p->all + place];
            tw_dtype wanted = dtype_of(p, place);
            char text[120];
            if (feature->dtype == TW_DTYPE_NONE || feature->dtype == wanted)
                continue;
            bool dense = place >= p->sparse && place < p->sparse + p->dense;
            snprintf(text, sizeof text,
                     dense ? "Data types don't match. Data type: %s but expected type: %s"
                           : "Data types don't match. Expected type: %s, Actual type: %s",
                     tw__dtype_text(dense ? feature->dtype : wanted), tw__dtype_text(dense ? wanted : feature->dtype));
            return fail_at(p, row, key_of(p, place), text);
        }
    }
    return TW_OK;
}

/* ---- tensors of them ---- */

/* Elements [at, at + count) become the default's, over and over. */
static tw_status fill(tw_tensor *out, int64_t at, int64_t count, const tw_tensor *value)
{
    size_t size = tw__element_size(out->dtype);
    for (int64_t i = 0; i < count; i++) {
        if (out->dtype != TW_STRING) {
            memcpy((char *)out->data + (size_t)(at + i) * size, (const char *)value->data + (size_t)(i % value->count) * size,
                   size);
            continue;
        }
        tw_string s = tw_tensor_string_at(value, i % value->count);
        TW_TRY(tw__string_set(out, at + i, s.data ? s.data : "", s.size));
    }
    return TW_OK;
}

static tw_status wrong_count(const parser *p, int64_t row, int place, const tw__feature *feature, const tw_shape *shape,
                             bool variable)
{
    char text[200];
    if (p->single)
        return fail_at(p, row, key_of(p, place), "Can't parse serialized Example.");
    snprintf(text, sizeof text,
             variable ? "Number of %s values is not a multiple of stride length. Saw %lld values but output shape is: %s"
                      : "Number of %s values != expected.  Values size: %lld but output shape: %s",
             tw__dtype_text(feature->dtype), (long long)feature->count, tw__shape_text(shape));
    return fail_at(p, row, key_of(p, place), text);
}

static tw_status make_fixed(parser *p, int place, int output, const tw_shape *shape, const tw_tensor *otherwise)
{
    int64_t count;
    TW_TRY(tw__shape_count(shape, &count));
    tw_shape whole = { .rank = shape->rank + !p->single };
    whole.dims[0] = p->batch;
    memcpy(whole.dims + !p->single, shape->dims, (size_t)shape->rank * sizeof *shape->dims);
    if (otherwise->count && otherwise->count != count)
        return tw__fail(TW_INVALID_ARGUMENT, "dense_shape[%d] mismatch: default has %lld values, the shape is %s",
                        place - p->sparse, (long long)otherwise->count, tw__shape_text(shape));
    tw_tensor *out = tw__output(p->kernel, output, &whole);
    if (!out)
        return tw__error_status();
    for (int64_t row = 0; row < p->batch; row++) {
        const tw__feature *feature = &p->found[row * p->all + place];
        if (feature->dtype == TW_DTYPE_NONE) {
            if (!otherwise->count)
                return fail_missing(p, row, place);
            TW_TRY(fill(out, row * count, count, otherwise));
            continue;
        }
        if (feature->count != count)
            return wrong_count(p, row, place, feature, shape, false);
        TW_TRY(tw__feature_copy(feature, out, row * count));
    }
    return TW_OK;
}

static tw_status make_variable(parser *p, int place, int output, const tw_shape *shape, const tw_tensor *padding)
{
    int64_t stride = 1, most = 0, total;
    for (int i = 1; i < shape->rank; i++) {
        if (__builtin_mul_overflow(stride, shape->dims[i], &stride))
            return tw__fail(TW_INVALID_ARGUMENT, "ParseExampleV2: dense_shapes[%d] is too large", place - p->sparse);
    }
    if (padding->count != 1)
        return tw__fail(
            TW_INVALID_ARGUMENT,
            "dense_shape[%d] is a variable length shape: %s, therefore def_value[%d] must contain a single element (the padding "
            "element).  But its shape is: %s",
            place - p->sparse, tw__shape_text(shape), place - p->sparse, tw__shape_text(&padding->shape));
    for (int64_t row = 0; row < p->batch; row++) {
        const tw__feature *feature = &p->found[row * p->all + place];
        if (stride ? feature->count % stride : feature->count)
            return wrong_count(p, row, place, feature, shape, true);
        int64_t rows = stride ? feature->count / stride : 0;
        most = rows > most ? rows : most;
    }
    tw_shape whole = { .rank = shape->rank + !p->single };
    whole.dims[0] = p->batch;
    memcpy(whole.dims + !p->single, shape->dims, (size_t)shape->rank * sizeof *shape->dims);
    whole.dims[!p->single] = most;
    TW_TRY(tw__shape_count(&whole, &total));
    tw_tensor *out = tw__output(p->kernel, output, &whole);
    if (!out)
        return tw__error_status();
    for (int64_t row = 0; row < p->batch; row++) {
        const tw__feature *feature = &p->found[row * p->all + place];
        TW_TRY(tw__feature_copy(feature, out, row * most * stride));
        TW_TRY(fill(out, row * most * stride + feature->count, most * stride - feature->count, padding));
    }
    return TW_OK;
}

/* All values of a feature, row behind row. */
static tw_status make_values(parser *p, int place, int output, int64_t *longest)
{
    int64_t count = 0;
    *longest = 0;
    for (int64_t row = 0; row < p->batch; row++) {
        int64_t here = p->found[row * p->all + place].count;
        count += here;
        *longest = here > *longest ? here : *longest;
    }
    tw_tensor *out = tw__output(p->kernel, output, &TW_SHAPE(count));
    if (!out)
        return tw__error_status();
    count = 0;
    for (int64_t row = 0; row < p->batch; row++) {
        TW_TRY(tw__feature_copy(&p->found[row * p->all + place], out, count));
        count += p->found[row * p->all + place].count;
    }
    return TW_OK;
}

static tw_status make_sparse(parser *p, int place)
{
    int64_t longest;
    TW_TRY(make_values(p, place, p->sparse + place, &longest));
    int64_t width = p->single ? 1 : 2;
    tw_tensor *indices = tw__output(p->kernel, place, &TW_SHAPE(p->kernel->outputs[p->sparse + place]->count, width));
    tw_tensor *shape = tw__output(p->kernel, 2 * p->sparse + place, &TW_SHAPE(width));
    if (!indices || !shape)
        return tw__error_status();
    int64_t *at = indices->data, *dims = shape->data;
    for (int64_t row = 0; row < p->batch; row++) {
        for (int64_t i = 0; i < p->found[row * p->all + place].count; i++) {
            if (!p->single)
                *at++ = row;
            *at++ = i;
        }
    }
    dims[0] = p->batch;
    dims[width - 1] = longest;
    return TW_OK;
}

static tw_status make_ragged(parser *p, int number)
{
    int place = p->sparse + p->dense + number, output = 3 * p->sparse + p->dense + number;
    int64_t longest, end = 0;
    TW_TRY(make_values(p, place, output, &longest));
    tw_tensor *splits = tw__output(p->kernel, output + p->ragged, &TW_SHAPE(p->single ? 0 : p->batch + 1));
    if (!splits)
        return tw__error_status();
    for (int64_t row = 0; row < splits->count; row++) {
        if (row)
            end += p->found[(row - 1) * p->all + place].count;
        if (splits->dtype == TW_INT64)
            ((int64_t *)splits->data)[row] = end;
        else if (end <= INT32_MAX)
            ((int32_t *)splits->data)[row] = (int32_t)end;
        else
            return tw__fail(TW_INVALID_ARGUMENT, "ParseExampleV2: the row splits don't fit in int32");
    }
    return TW_OK;
}

static tw_status make_outputs(parser *p)
{
    for (int i = 0; i < p->sparse; i++)
        TW_TRY(make_sparse(p, i));
    for (int i = 0; i < p->dense; i++) {
        const tw_shape *shape = &p->dense_shapes->shapes[i];
        const tw_tensor *otherwise = p->kernel->inputs[p->defaults + i];
        bool variable = shape->rank > 0 && shape->dims[0] < 0;
        TW_TRY((variable ? make_variable : make_fixed)(p, p->sparse + i, 3 * p->sparse + i, shape, otherwise));
    }
    for (int i = 0; i < p->ragged; i++)
        TW_TRY(make_ragged(p, i));
    return TW_OK;
}

tw_status tw__example_parse(tw__kernel *kernel, const tw__example_attrs *names, int defaults)
{
    parser p = { .kernel = kernel,
                 .sparse_types = TW_ATTR(kernel, names->sparse),
                 .dense_types = TW_ATTR(kernel, names->dense),
                 .ragged_types = TW_ATTR(kernel, names->ragged),
                 .split_types = TW_ATTR(kernel, names->splits),
                 .dense_shapes = TW_ATTR(kernel, names->shapes),
                 .batch = kernel->inputs[0]->count,
                 .single = kernel->inputs[0]->shape.rank == 0,
                 .defaults = defaults };
    p.sparse = p.sparse_types->count;
    p.dense = p.dense_types->count;
    p.ragged = p.ragged_types->count;
    p.all = p.sparse + p.dense + p.ragged;
    if (kernel->inputs[1]->count && kernel->inputs[1]->count != p.batch)
        return tw__fail(TW_INVALID_ARGUMENT, "Expected names to have the shape of serialized, got %s and %s",
                        tw__shape_text(&kernel->inputs[1]->shape), tw__shape_text(&kernel->inputs[0]->shape));
    size_t count;
    if (__builtin_mul_overflow((size_t)p.batch, (size_t)p.all, &count))
        return tw__no_memory(SIZE_MAX);
    p.found = tw__alloc_array(count, sizeof *p.found);
    tw_status status = p.found ? find_features(&p) : TW_RESOURCE_EXHAUSTED;
    if (status == TW_OK)
        status = make_outputs(&p);
    tw__map_free(&p.keys, NULL);
    tw__free(p.found);
    return status;
}

static tw_status parse_compute(tw__kernel *kernel)
{
    return tw__example_parse(kernel, &example_attrs, 5);
}

TW_OP(
    ParseExampleV2,
    .inputs =
        "serialized: string, names: string, sparse_keys: string, dense_keys: string, ragged_keys: string, dense_defaults: Tdense",
    .outputs =
        "sparse_indices: num_sparse * int64, sparse_values: sparse_types, sparse_shapes: num_sparse * int64, dense_values: Tdense, "
        "ragged_values: ragged_value_types, ragged_row_splits: ragged_split_types",
    .attrs = "Tdense: " VALUE_TYPES ", num_sparse: int >= 0, sparse_types: " VALUE_TYPES ", ragged_value_types: " VALUE_TYPES
             ", ragged_split_types: list({int32, int64}), dense_shapes: list(shape)",
    .shape = parse_shape, .compute = parse_compute, .doc = "Tensors of the features of serialized Examples.");
