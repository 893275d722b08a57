/* ParseSequenceExampleV2: serialized SequenceExamples { 1 context: Features, 2 feature_lists } to tensors.
 *
 * The context is parsed as an Example is. A feature list is a list of Features, one per step: dense ones are stacked and filled
 * up to the longest of the batch, sparse and ragged ones have one dimension more than those of a context. */
#include "codec/message.h"
#include "codec/codec.h"
#include "op/io/example.h"
#include "op/ragged/ragged.h"
#include "op/text/text.h"
#include "rows.h"

enum { LIST_KEYS = 5, MISSING = 8, DEFAULTS = 9 };

static const tw__example_attrs context_attrs = {
    "Ncontext_sparse",     "context_sparse_types", "Tcontext_dense", "context_ragged_value_types", "context_ragged_split_types",
    "context_dense_shapes"
};

typedef struct lists {
    tw__kernel *kernel;
    const tw_attr *types[3];  /* of sparse, dense, ragged ones */
    int count[3], all, first; /* the output with the first feature list */
    int64_t batch, row;
    bool single;
    tw__map keys;     /* to place + 1 */
    tw_string *found; /* [batch][all]; without data: not there */
} lists;

/* ---- shapes ---- */

static tw_status sequence_shape(tw__inference *inference)
{
    int output = 0, extra = 1;
    TW_TRY(tw__example_shape(inference, &context_attrs, &output));
    const tw_shape *serialized = inference->shapes[0], *shapes = TW_ATTR(inference, "feature_list_dense_shapes")->shapes;
    int sparse = TW_ATTR(inference, "feature_list_sparse_types")->count,
        dense = TW_ATTR(inference, "feature_list_dense_types")->count;
    int ragged = TW_ATTR(inference, "feature_list_ragged_value_types")->count;
    if (sparse != TW_ATTR(inference, "Nfeature_list_sparse")->i || dense != TW_ATTR(inference, "Nfeature_list_dense")->i ||
        dense != TW_ATTR(inference, "feature_list_dense_shapes")->count ||
        ragged != TW_ATTR(inference, "feature_list_ragged_split_types")->count)
        return TW_OP_FAIL(inference, TW_INVALID_ARGUMENT, "the lists of types and shapes of feature lists are not equally long");
    bool known = serialized->rank >= 0;
    int outer = serialized->rank + 1;
    for (int part = 0; part < 3; part++) {
        for (int i = 0; i < sparse; i++)
            inference->out_shapes[output++] = part == 0   ? TW_SHAPE(-1, known ? outer + 1 : -1)
                                              : part == 1 ? TW_SHAPE(-1)
                                                          : TW_SHAPE(known ? outer + 1 : -1);
    }
    for (int i = 0; i < dense; i++, output++) {
        if (!tw__shape_known(&shapes[i]) || shapes[i].rank + 2 > TW_MAX_RANK)
            return TW_OP_FAIL(inference, TW_INVALID_ARGUMENT, "feature_list_dense_shapes[%d] must be known, got %s", i,
                              tw__shape_text(&shapes[i]));
        tw_shape *out = &inference->out_shapes[output];
        if (!known)
            continue;
        *out = (tw_shape){ .rank = outer + shapes[i].rank, .dims = { -1, -1 } };
        if (serialized->rank)
            out->dims[0] = serialized->dims[0];
        memcpy(out->dims + outer, shapes[i].dims, (size_t)shapes[i].rank * sizeof *shapes->dims);
    }
    for (int i = 0; i < dense; i++)
        inference->out_shapes[output++] = *serialized;
    for (int i = 0; i < ragged; i++)
        inference->out_shapes[output++] = TW_SHAPE(-1);
    for (int i = 0; i < ragged; i++) {
        tw_shape splits = *serialized;
        if (splits.rank == 1 && splits.dims[0] >= 0)
            splits.dims[0] += extra;
        inference->out_shapes[output++] = splits;
    }
    for (int i = 0; i < ragged; i++)
        inference->out_shapes[output++] = TW_SHAPE(-1);
    return TW_OK;
}

/* ---- finding the lists ---- */

static tw_string key_of(const lists *l, int place)
{
    int kind = place < l->count[0] ? 0 : place < l->count[0] + l->count[1] ? 1 : 2;
    return tw__strings(l->kernel->inputs[LIST_KEYS + kind])[place - (kind > 0) * l->count[0] - (kind > 1) * l->count[1]];
}

static tw_dtype dtype_of(const lists *l, int place)
{
    return place < l->count[0]                 ? l->types[0]->types[place]
           : place < l->count[0] + l->count[1] ? l->types[1]->types[place - l->count[0]]
                                               : l->types[2]->types[place - l->count[0] - l->count[1]];
}

static const char *name_of(const lists *l, int64_t row)
{
    static _Thread_local char text[160];
    const tw_tensor *names = l->kernel->inputs[1];
    tw_string name = row < names->count ? tw__strings(names)[row] : (tw_string){ "<unknown>", 9 };
    snprintf(text, sizeof text, "%.*s", (int)(name.size < 150 ? name.size : 150), name.data ? name.data : "");
    return text;
}

static tw_status note(void *context, tw_string key, tw_string bytes)
{
    lists *l = context;
    int place = (int)(intptr_t)tw__map_get(&l->keys, key.data, key.size) - 1;
    if (place >= 0)
        l->found[l->row * l->all + place] = (tw_string){ bytes.data ? bytes.data : "", bytes.size };
    return TW_OK;
}

static tw_status invalid(const lists *l, int64_t row)
{
    return tw__fail(TW_INVALID_ARGUMENT, "Invalid protocol message input, example id: %s", name_of(l, row));
}

static tw_status find_lists(lists *l)
{
    for (int place = 0; place < l->all; place++) {
        tw_string key = key_of(l, place);
        if (tw__map_has(&l->keys, key.data, key.size))
            return tw__fail(TW_INVALID_ARGUMENT, "ParseSequenceExampleV2: the key %.*s stands twice", (int)key.size, key.data);
        TW_TRY(tw__map_put(&l->keys, key.data ? key.data : "", key.size, (void *)(intptr_t)(place + 1)));
    }
    for (l->row = 0; l->row < l->batch; l->row++) {
        tw_string serialized = tw__strings(l->kernel->inputs[0])[l->row];
        tw__many many = tw__many_of(&tw__type_SequenceExample, TW_SequenceExample_feature_lists, serialized);
        for (tw_string bytes; tw__next_bytes(&many, &bytes);) {
            tw_status status = TW_OK;
            if (!tw__features_each(bytes, note, l, &status)) /* a map like that of Features */
                return invalid(l, l->row);
            TW_TRY(status);
        }
        if (many.failed)
            return invalid(l, l->row);
    }
    return TW_OK;
}

/* ---- walking over one ---- */

typedef struct steps {
    tw__many many;
    int64_t index;
    tw__feature feature;
} steps;

static steps steps_of(const lists *l, int64_t row, int place)
{
    tw_string list = l->found[row * l->all + place];
    return (steps){ tw__many_of(&tw__type_FeatureList, TW_FeatureList_feature, list), -1, { 0 } };
}

/* The next step's Feature; false at the end, or after an error, which is in *status. */
static bool next_step(const lists *l, int64_t row, int place, steps *s, tw_status *status)
{
    for (tw_string bytes; tw__next_bytes(&s->many, &bytes);) {
        s->index++;
        s->feature = (tw__feature){ 0 };
        tw_string key = key_of(l, place);
        if (!tw__feature_read(bytes, &s->feature)) {
            *status = invalid(l, row);
            return false;
        }
        if (s->feature.dtype == dtype_of(l, place) || s->feature.dtype == TW_DTYPE_NONE)
            return true;
        *status =
            tw__fail(TW_INVALID_ARGUMENT, "Name: %s, Feature list: %.*s, Index: %lld.  Data types don't match. Expected type: %s",
                     name_of(l, row), (int)(key.size < 300 ? key.size : 300), key.data, (long long)s->index,
                     tw__dtype_text(dtype_of(l, place)));
        return false;
    }
    if (s->many.failed)
        *status = invalid(l, row);
    return false;
}

/* ---- tensors of them ---- */

static tw_status make_dense(lists *l, int number)
{
    int place = l->count[0] + number, output = l->first + 3 * l->count[0] + number;
    const tw_shape *shape = &TW_ATTR(l->kernel, "feature_list_dense_shapes")->shapes[number];
    const bool *allowed = l->kernel->inputs[MISSING]->data;
    tw_string key = key_of(l, place);
    int64_t unit, longest = 0;
    tw_status status = TW_OK;
    TW_TRY(tw__shape_count(shape, &unit));
    tw_tensor *lengths = tw__output(l->kernel, output + l->count[1], &l->kernel->inputs[0]->shape);
    for (int64_t row = 0; lengths && row < l->batch; row++) {
        steps s = steps_of(l, row, place);
        if (!l->found[row * l->all + place].data && !allowed[number])
            return tw__fail(TW_INVALID_ARGUMENT,
                            "Name: %s, Feature list '%.*s' is required but could not be found.  Did you mean to include it in "
                            "feature_list_dense_missing_assumed_empty or feature_list_dense_defaults?",
                            name_of(l, row), (int)(key.size < 300 ? key.size : 300), key.data);
        while (next_step(l, row, place, &s, &status)) {
            if (s.feature.count != unit)
                return tw__fail(
                    TW_INVALID_ARGUMENT,
                    "Name: %s, Key: %.*s, Index: %lld.  Number of values != expected.  values size: %lld but output shape: %s",
                    name_of(l, row), (int)(key.size < 300 ? key.size : 300), key.data, (long long)s.index,
                    (long long)s.feature.count, tw__shape_text(shape));
        }
        TW_TRY(status);
        ((int64_t *)lengths->data)[row] = s.index + 1;
        longest = s.index + 1 > longest ? s.index + 1 : longest;
    }
    tw_shape whole = { .rank = shape->rank + 1 + !l->single, .dims = { l->batch } };
    whole.dims[!l->single] = longest;
    memcpy(whole.dims + 1 + !l->single, shape->dims, (size_t)shape->rank * sizeof *shape->dims);
    int64_t count;
    TW_TRY(tw__shape_count(&whole, &count));
    tw_tensor *out = lengths ? tw__output(l->kernel, output, &whole) : NULL;
    if (!out)
        return tw__error_status();
    if (out->dtype != TW_STRING)
        memset(out->data, 0, (size_t)count * tw__element_size(out->dtype));
    for (int64_t row = 0; row < l->batch; row++) {
        steps s = steps_of(l, row, place);
        while (next_step(l, row, place, &s, &status))
            TW_TRY(tw__feature_copy(&s.feature, out, (row * longest + s.index) * unit));
    }
    return status;
}

/* All values of a feature list into an output, row behind row and step behind step; sizes: how many steps and values there are,
 * and at most. */
typedef struct sizes {
    int64_t steps, values, most_steps, most_values;
} sizes;

static tw_status make_values(lists *l, int place, int output, sizes *z)
{
    tw_status status = TW_OK;
    *z = (sizes){ 0 };
    for (int64_t row = 0; row < l->batch; row++) {
        steps s = steps_of(l, row, place);
        while (next_step(l, row, place, &s, &status)) {
            z->values += s.feature.count;
            z->most_values = s.feature.count > z->most_values ? s.feature.count : z->most_values;
        }
        TW_TRY(status);
        z->steps += s.index + 1;
        z->most_steps = s.index + 1 > z->most_steps ? s.index + 1 : z->most_steps;
    }
    tw_tensor *out = tw__output(l->kernel, output, &TW_SHAPE(z->values));
    int64_t at = 0;
    for (int64_t row = 0; out && row < l->batch; row++) {
        steps s = steps_of(l, row, place);
        for (; next_step(l, row, place, &s, &status); at += s.feature.count)
            TW_TRY(tw__feature_copy(&s.feature, out, at));
    }
    return out ? status : tw__error_status();
}

static tw_status make_sparse(lists *l, int place)
{
    sizes z;
    int output = l->first + place;
    TW_TRY(make_values(l, place, output + l->count[0], &z));
    int64_t width = 2 + !l->single;
    tw_tensor *indices = tw__output(l->kernel, output, &TW_SHAPE(z.values, width)),
              *shape = tw__output(l->kernel, output + 2 * l->count[0], &TW_SHAPE(width));
    if (!indices || !shape)
        return tw__error_status();
    int64_t *at = indices->data, *dims = shape->data;
    tw_status status = TW_OK;
    for (int64_t row = 0; row < l->batch; row++) {
        steps s = steps_of(l, row, place);
        while (next_step(l, row, place, &s, &status)) {
            for (int64_t i = 0; i < s.feature.count; i++, at += width) {
                at[0] = row;
                at[width - 2] = s.index;
                at[width - 1] = i;
            }
        }
    }
    dims[0] = l->batch;
    dims[width - 2] = z.most_steps;
    dims[width - 1] = z.most_values;
    return status;
}

static tw_status make_ragged(lists *l, int number)
{
    int place = l->count[0] + l->count[1] + number, output = l->first + 3 * l->count[0] + 2 * l->count[1] + number;
    sizes z;
    TW_TRY(make_values(l, place, output, &z));
    int64_t *inner = tw__alloc_array((size_t)z.steps + 1, sizeof *inner),
            *outer = tw__alloc_array((size_t)l->batch + 1, sizeof *outer);
    tw_status status = inner && outer ? TW_OK : tw__error_status();
    int64_t at = 0;
    for (int64_t row = 0; status == TW_OK && row < l->batch; row++) {
        steps s = steps_of(l, row, place);
        for (; next_step(l, row, place, &s, &status); at++)
            inner[at + 1] = inner[at] + s.feature.count;
        outer[row + 1] = at;
    }
    if (status == TW_OK)
        status = tw__splits_give(l->kernel, output + 2 * l->count[2], inner, z.steps + 1);
    if (status == TW_OK && !l->single)
        status = tw__splits_give(l->kernel, output + l->count[2], outer, l->batch + 1);
    tw_tensor *unused = status == TW_OK && l->single ? tw__output(l->kernel, output + l->count[2], &TW_SCALAR) : NULL;
    if (unused)
        memset(unused->data, 0, tw__element_size(unused->dtype));
    tw__free(inner);
    tw__free(outer);
    return status;
}

static tw_status sequence_compute(tw__kernel *kernel)
{
    TW_TRY(tw__example_parse(kernel, &context_attrs, DEFAULTS));
    lists l = { .kernel = kernel,
                .batch = kernel->inputs[0]->count,
                .single = kernel->inputs[0]->shape.rank == 0,
                .types = { TW_ATTR(kernel, "feature_list_sparse_types"), TW_ATTR(kernel, "feature_list_dense_types"),
                           TW_ATTR(kernel, "feature_list_ragged_value_types") } };
    l.first = 3 * (int)TW_ATTR(kernel, "Ncontext_sparse")->i + TW_ATTR(kernel, "Tcontext_dense")->count +
              2 * TW_ATTR(kernel, "context_ragged_value_types")->count;
    for (int kind = 0; kind < 3; kind++) {
        l.count[kind] = l.types[kind]->count;
        l.all += l.count[kind];
        if (kernel->inputs[LIST_KEYS + kind]->count != l.count[kind])
            return TW_OP_FAIL(kernel, TW_INVALID_ARGUMENT, "%lld keys of feature lists for %d types",
                              (long long)kernel->inputs[LIST_KEYS + kind]->count, l.count[kind]);
    }
    if (kernel->inputs[MISSING]->count != l.count[1])
        return TW_OP_FAIL(kernel, TW_INVALID_ARGUMENT, "feature_list_dense_missing_assumed_empty must have %d elements",
                          l.count[1]);
    size_t count;
    if (__builtin_mul_overflow((size_t)l.batch, (size_t)l.all, &count))
        return tw__no_memory(SIZE_MAX);
    l.found = tw__alloc_array(count + 1, sizeof *l.found);
    tw_status status = l.found ? find_lists(&l) : TW_RESOURCE_EXHAUSTED;
    for (int i = 0; status == TW_OK && i < l.count[0]; i++)
        status = make_sparse(&l, i);
    for (int i = 0; status == TW_OK && i < l.count[1]; i++)
        status = make_dense(&l, i);
    for (int i = 0; status == TW_OK && i < l.count[2]; i++)
        status = make_ragged(&l, i);
    tw__map_free(&l.keys, NULL);
    tw__free(l.found);
    return status;
}

#define VALUE_TYPES "list({float, int64, string}) = []"
#define SPLIT_TYPES "list({int32, int64}) = []"

TW_OP(
    ParseSequenceExampleV2,
    .inputs =
        "serialized: string, debug_name: string, context_sparse_keys: string, context_dense_keys: string, context_ragged_keys: string, "
        "feature_list_sparse_keys: string, feature_list_dense_keys: string, feature_list_ragged_keys: string, "
        "feature_list_dense_missing_assumed_empty: bool, context_dense_defaults: Tcontext_dense",
    .outputs =
        "context_sparse_indices: Ncontext_sparse * int64, context_sparse_values: context_sparse_types, "
        "context_sparse_shapes: Ncontext_sparse * int64, context_dense_values: Tcontext_dense, "
        "context_ragged_values: context_ragged_value_types, context_ragged_row_splits: context_ragged_split_types, "
        "feature_list_sparse_indices: Nfeature_list_sparse * int64, feature_list_sparse_values: feature_list_sparse_types, "
        "feature_list_sparse_shapes: Nfeature_list_sparse * int64, feature_list_dense_values: feature_list_dense_types, "
        "feature_list_dense_lengths: Nfeature_list_dense * int64, feature_list_ragged_values: feature_list_ragged_value_types, "
        "feature_list_ragged_outer_splits: feature_list_ragged_split_types, "
        "feature_list_ragged_inner_splits: feature_list_ragged_split_types",
    .attrs = "Ncontext_sparse: int >= 0 = 0, Tcontext_dense: " VALUE_TYPES ", context_sparse_types: " VALUE_TYPES
             ", context_ragged_value_types: " VALUE_TYPES ", context_ragged_split_types: " SPLIT_TYPES
             ", context_dense_shapes: list(shape) = [], "
             "Nfeature_list_sparse: int >= 0 = 0, Nfeature_list_dense: int >= 0 = 0, feature_list_dense_types: " VALUE_TYPES
             ", feature_list_sparse_types: " VALUE_TYPES ", feature_list_ragged_value_types: " VALUE_TYPES
             ", feature_list_ragged_split_types: " SPLIT_TYPES ", feature_list_dense_shapes: list(shape) = []",
    .shape = sequence_shape, .compute = sequence_compute, .doc = "Tensors of the features of serialized SequenceExamples.");
