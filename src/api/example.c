/* Examples for users: writing one from tensors, and parsing serialized ones by a list of features.
 *
 *     tw_auto tw_tensor *bytes = tw_io_serialize_example(TW_PAIRS({ "image", image }, { "label", label }));
 *     tw_tensors parts = tw_io_parse_example(bytes, TW_OBJECTS(tw_example_feature("image", TW_STRING),
 * tw_example_feature("label", TW_INT64)));
 */
#include <stdlib.h>

#include "codec/message.h"
#include "format/record/example.h"
#include "op/calls.h"
#include "op/op.h"
#include "rows.h"

/* ---- writing ---- */

static int by_name(const void *a, const void *b)
{
    return strcmp(((const tw_pair *)a)->name, ((const tw_pair *)b)->name);
}

TW_API(io_serialize_example, "io._serialize_example(features: pairs<tensor>) -> tensor",
       "A serialized Example of named tensors: strings become bytes lists, floats float lists, integers int64 lists.")
{
    size_t count = (size_t)args->features.count;
    tw__owned tw_pair *sorted = tw__alloc_array(count, sizeof *sorted);
    if (!sorted)
        return NULL;
    if (count) {
        memcpy(sorted, args->features.items, count * sizeof *sorted);
        qsort(sorted, count, sizeof *sorted, by_name);
    }
    tw__auto(tw__text_free) tw__text features = { 0 }, example = { 0 };
    for (size_t i = 0; i < count; i++) {
        if (!tw__is(sorted[i].object, &tw__tensor_class)) {
            tw__fail(TW_TYPE_ERROR, "Example: feature %s: a tensor was expected", sorted[i].name);
            return NULL;
        }
        if (tw__feature_write(&features, (tw_string){ sorted[i].name, strlen(sorted[i].name) }, sorted[i].object) != TW_OK)
            return NULL;
    }
    if (features.size)
        tw__put_Example_features(&example, features.data, features.size);
    return example.failed ? NULL : tw_tensor_string(example.data ? example.data : "", example.size);
}

/* ---- what to parse ---- */

struct tw_example_feature {
    tw_object object;
};

TW_CLASS(
    example_feature,
    "io._ExampleFeature(key: str, dtype: dtype, shape: shape = (), default_value: tensor = None, "
    "kind: str {fixed, sequence, sparse, ragged} = fixed, row_splits_dtype: dtype = int32)",
    .size = sizeof(struct tw_example_feature),
    .doc =
        "What tf.io.parse_example makes of one key: a tensor of a shape (fixed), of as many rows as there are (sequence), a sparse tensor "
        "or ragged rows.");

static const tw_example_feature_args *wanted(tw_objects features, int64_t i)
{
    return tw_object_config(features.items[i]);
}

enum { SPARSE, DENSE, RAGGED, KINDS };

static int kind_of(const tw_example_feature_args *feature)
{
    return strcmp(feature->kind, "sparse") == 0 ? SPARSE : strcmp(feature->kind, "ragged") == 0 ? RAGGED : DENSE;
}

/* What the op is given, and where each feature's tensors are among its outputs. */
typedef struct request {
    int64_t count[KINDS];
    tw_tensor *keys[KINDS], **inputs;
    tw_dtype *types[KINDS], *split_types;
    tw_shape *shapes;
    int64_t *number; /* of each feature, among those of its kind */
} request;

static bool request_new(request *r, tw_objects features)
{
    size_t count = (size_t)features.count;
    bool good = (r->inputs = tw__alloc_array(count + 5, sizeof *r->inputs)) &&
                (r->split_types = tw__alloc_array(count, sizeof *r->split_types)) &&
                (r->shapes = tw__alloc_array(count, sizeof *r->shapes)) &&
                (r->number = tw__alloc_array(count, sizeof *r->number));
    for (size_t i = 0; good && i < count; i++)
        r->number[i] = r->count[kind_of(wanted(features, (int64_t)i))]++;
    for (int kind = 0; good && kind < KINDS; kind++) {
        r->types[kind] = tw__alloc_array(count, sizeof *r->types[kind]);
        r->keys[kind] = tw_tensor_new(TW_STRING, TW_SHAPE(r->count[kind]), NULL);
        good = r->types[kind] && r->keys[kind];
    }
    return good;
}

static void request_free(request *r)
{
    for (int64_t i = 0; r->inputs && i < r->count[DENSE]; i++)
        tw_release(r->inputs[5 + i]);
    tw__free(r->inputs);
    tw__free(r->split_types);
    tw__free(r->shapes);
    tw__free(r->number);
    for (int kind = 0; kind < KINDS; kind++) {
        tw__free(r->types[kind]);
        tw_release(r->keys[kind]);
    }
}

/* The default of a dense feature: one of its shape, one value to pad with, or none. */
static tw_tensor *default_of(const tw_example_feature_args *feature)
{
    bool sequence = strcmp(feature->kind, "sequence") == 0;
    if (!feature->default_value)
        return tw_tensor_new(feature->dtype, sequence ? TW_SCALAR : TW_SHAPE(0), NULL);
    if (feature->default_value->dtype != feature->dtype) {
        tw__fail(TW_TYPE_ERROR, "parse_example: the default of %s is %s, expected %s", feature->key,
                 tw_dtype_name(feature->default_value->dtype), tw_dtype_name(feature->dtype));
        return NULL;
    }
    tw_shape scalar = TW_SCALAR;
    tw_auto tw_tensor *shape = tw__tensor_of_shape(sequence ? &scalar : &feature->shape, TW_INT32);
    return TW_CALL(Reshape, feature->default_value, shape);
}

static tw_status fill_request(request *r, tw_objects features)
{
    for (int64_t i = 0; i < features.count; i++) {
        const tw_example_feature_args *feature = wanted(features, i);
        int kind = kind_of(feature);
        int64_t n = r->number[i];
        TW_TRY(tw__string_set(r->keys[kind], n, feature->key, strlen(feature->key)));
        r->types[kind][n] = feature->dtype;
        if (kind == RAGGED)
            r->split_types[n] = feature->row_splits_dtype;
        if (kind != DENSE)
            continue;
        tw_shape *shape = &r->shapes[n];
        *shape = feature->shape;
        if (strcmp(feature->kind, "sequence") == 0) {
            if (shape->rank < 0 || shape->rank >= TW_MAX_RANK - 1)
                return tw__fail(TW_VALUE_ERROR, "parse_example: the shape of %s has too many dimensions", feature->key);
            memmove(shape->dims + 1, shape->dims, (size_t)shape->rank * sizeof *shape->dims);
            shape->dims[0] = -1;
            shape->rank++;
        } else if (shape->rank > 0 && shape->dims[0] < 0) {
            return tw__fail(TW_VALUE_ERROR,
                            "First dimension of shape for feature %s unknown. Consider using FixedLenSequenceFeature.",
                            feature->key);
        }
        if (!(r->inputs[5 + n] = default_of(feature)))
            return tw__error_status();
    }
    return TW_OK;
}

/* The outputs in the order of the features: one of a dense, three of a sparse, two of a ragged one. */
static tw_tensors arrange(const request *r, tw_objects features, tw_tensor **made)
{
    int64_t sparse = r->count[SPARSE], dense = r->count[DENSE], ragged = r->count[RAGGED], at = 0;
    tw_tensors out = { tw__alloc_array((size_t)(3 * sparse + dense + 2 * ragged), sizeof *out.items),
                       3 * sparse + dense + 2 * ragged };
    for (int64_t i = 0; out.items && i < features.count; i++) {
        int kind = kind_of(wanted(features, i));
        int64_t n = r->number[i];
        if (kind == DENSE) {
            out.items[at++] = made[3 * sparse + n];
        } else if (kind == SPARSE) {
            for (int part = 0; part < 3; part++)
                out.items[at++] = made[part * sparse + n];
        } else {
            out.items[at++] = made[3 * sparse + dense + n];
            out.items[at++] = made[3 * sparse + dense + ragged + n];
        }
    }
    if (!out.items)
        out.count = 0;
    return out;
}

static tw_tensors parse(request *r, const tw_io_parse_example_args *args)
{
    int64_t sparse = r->count[SPARSE], dense = r->count[DENSE], ragged = r->count[RAGGED];
    int count = (int)(3 * sparse + dense + 2 * ragged);
    tw_tensor **made = tw__alloc_array((size_t)count, sizeof *made);
    tw_auto tw_tensor *no_names = tw_tensor_new(TW_STRING, TW_SHAPE(0), NULL);
    if (!made || !no_names || fill_request(r, args->features) != TW_OK) {
        tw__free(made);
        return (tw_tensors){ 0 };
    }
    r->inputs[0] = args->serialized;
    r->inputs[1] = args->names ? args->names : no_names;
    memcpy(r->inputs + 2, r->keys, sizeof r->keys);
    const tw_attr attrs[] = { TW_A_TYPES("Tdense", r->types[DENSE], dense),
                              TW_A_INT("num_sparse", sparse),
                              TW_A_TYPES("sparse_types", r->types[SPARSE], sparse),
                              TW_A_TYPES("ragged_value_types", r->types[RAGGED], ragged),
                              TW_A_TYPES("ragged_split_types", r->split_types, ragged),
                              { .name = "dense_shapes", .kind = TW_ATTR_SHAPES, .count = (int32_t)dense, .shapes = r->shapes } };
    tw_status status =
        tw__apply(&tw__op_ParseExampleV2, r->inputs, (int)(5 + dense), attrs, sizeof attrs / sizeof *attrs, made, &count);
    tw_tensors out = status == TW_OK ? arrange(r, args->features, made) : (tw_tensors){ 0 };
    for (int i = 0; status == TW_OK && !out.items && i < count; i++)
        tw_release(made[i]);
    tw__free(made);
    return out;
}

TW_API(
    io_parse_example,
    "io._parse_example(serialized: tensor<string>, features: list<example_feature>, names: tensor<string> = None, name: str = None) -> tensors",
    "The features of a serialized Example, or of a vector of them, as tensors: for each feature one (fixed, sequence), indices, values and "
    "dense shape (sparse), or values and row splits (ragged).")
{
    request r = { 0 };
    tw_tensors out = request_new(&r, args->features) ? parse(&r, args) : (tw_tensors){ 0 };
    request_free(&r);
    return out;
}

/* ---- SequenceExamples ---- */

/* Feature lists: fixed ones must be there, sequences may lack. */
static tw_tensor *may_lack(const request *r, tw_objects features)
{
    tw_tensor *made = tw_tensor_new(TW_BOOL, TW_SHAPE(r->count[DENSE]), NULL);
    for (int64_t i = 0; made && i < features.count; i++) {
        if (kind_of(wanted(features, i)) == DENSE)
            ((bool *)made->data)[r->number[i]] = strcmp(wanted(features, i)->kind, "sequence") == 0;
    }
    return made;
}

static tw_status fill_lists(request *r, tw_objects features)
{
    for (int64_t i = 0; i < features.count; i++) {
        const tw_example_feature_args *feature = wanted(features, i);
        int kind = kind_of(feature);
        TW_TRY(tw__string_set(r->keys[kind], r->number[i], feature->key, strlen(feature->key)));
        r->types[kind][r->number[i]] = feature->dtype;
        if (kind == RAGGED)
            r->split_types[r->number[i]] = feature->row_splits_dtype;
        else if (kind == DENSE)
            r->shapes[r->number[i]] = feature->shape;
    }
    return TW_OK;
}

/* The outputs in the order of the feature lists: values and lengths of a dense one, three tensors of the others. */
static void arrange_lists(const request *r, tw_objects features, tw_tensor **made, tw_tensor **out)
{
    int64_t sparse = r->count[SPARSE], dense = r->count[DENSE], ragged = r->count[RAGGED];
    for (int64_t i = 0; i < features.count; i++) {
        int kind = kind_of(wanted(features, i));
        int64_t first = (kind > SPARSE) * 3 * sparse + (kind > DENSE) * 2 * dense + r->number[i];
        for (int part = 0; part < (kind == DENSE ? 2 : 3); part++)
            *out++ = made[first + part * (kind == SPARSE ? sparse : kind == DENSE ? dense : ragged)];
    }
}

static tw_tensors parse_sequence(request *c, request *l, const tw_io_parse_sequence_example_args *args)
{
    int64_t contexts = 3 * c->count[SPARSE] + c->count[DENSE] + 2 * c->count[RAGGED];
    int64_t all = contexts + 3 * l->count[SPARSE] + 2 * l->count[DENSE] + 3 * l->count[RAGGED];
    int count = (int)all;
    tw_tensor **made = tw__alloc_array((size_t)all + 1, sizeof *made),
              **inputs = tw__alloc_array((size_t)c->count[DENSE] + 9, sizeof *inputs);
    tw_auto tw_tensor *no_names = tw_tensor_new(TW_STRING, TW_SHAPE(0), NULL), *lacking = may_lack(l, args->sequence_features);
    tw_tensors context = { 0 }, out = { 0 };
    tw_status status = made && inputs && no_names && lacking ? fill_request(c, args->context_features) : tw__error_status();
    if (status == TW_OK)
        status = fill_lists(l, args->sequence_features);
    if (status == TW_OK) {
        inputs[0] = args->serialized;
        inputs[1] = args->names ? args->names : no_names;
        memcpy(inputs + 2, c->keys, sizeof c->keys);
        memcpy(inputs + 5, l->keys, sizeof l->keys);
        inputs[8] = lacking;
        memcpy(inputs + 9, c->inputs + 5, (size_t)c->count[DENSE] * sizeof *inputs);
        const tw_attr attrs[] = {
            TW_A_INT("Ncontext_sparse", c->count[SPARSE]),
            TW_A_TYPES("context_sparse_types", c->types[SPARSE], c->count[SPARSE]),
            TW_A_TYPES("Tcontext_dense", c->types[DENSE], c->count[DENSE]),
            TW_A_TYPES("context_ragged_value_types", c->types[RAGGED], c->count[RAGGED]),
            TW_A_TYPES("context_ragged_split_types", c->split_types, c->count[RAGGED]),
            { .name = "context_dense_shapes", .kind = TW_ATTR_SHAPES, .count = (int32_t)c->count[DENSE], .shapes = c->shapes },
            TW_A_INT("Nfeature_list_sparse", l->count[SPARSE]),
            TW_A_INT("Nfeature_list_dense", l->count[DENSE]),
            TW_A_TYPES("feature_list_sparse_types", l->types[SPARSE], l->count[SPARSE]),
            TW_A_TYPES("feature_list_dense_types", l->types[DENSE], l->count[DENSE]),
            TW_A_TYPES("feature_list_ragged_value_types", l->types[RAGGED], l->count[RAGGED]),
            TW_A_TYPES("feature_list_ragged_split_types", l->split_types, l->count[RAGGED]),
            { .name = "feature_list_dense_shapes",
              .kind = TW_ATTR_SHAPES,
              .count = (int32_t)l->count[DENSE],
              .shapes = l->shapes }
        };
        status = tw__apply(&tw__op_ParseSequenceExampleV2, inputs, (int)(9 + c->count[DENSE]), attrs,
                           sizeof attrs / sizeof *attrs, made, &count);
    }
    if (status == TW_OK) {
        context = arrange(c, args->context_features, made);
        out = (tw_tensors){ tw__alloc_array((size_t)all + 1, sizeof *out.items), all };
        if (context.items && out.items) {
            memcpy(out.items, context.items, (size_t)contexts * sizeof *out.items);
            arrange_lists(l, args->sequence_features, made + contexts, out.items + contexts);
        } else {
            for (int i = 0; i < count; i++)
                tw_release(made[i]);
            tw__free(out.items);
            out = (tw_tensors){ 0 };
        }
    }
    tw__free(context.items);
    tw__free(made);
    tw__free(inputs);
    return out;
}

TW_API(
    io_parse_sequence_example,
    "io._parse_sequence_example(serialized: tensor<string>, context_features: list<example_feature>, sequence_features: list<example_feature>, "
    "names: tensor<string> = None, name: str = None) -> tensors",
    "The features of a serialized SequenceExample, or of a vector of them: the tensors of the context as _parse_example gives them, then for each "
    "feature list values and lengths (fixed; sequence: it may lack), indices, values and dense shape (sparse), or values, outer and inner row "
    "splits (ragged).")
{
    request context = { 0 }, sequence = { 0 };
    bool good = request_new(&context, args->context_features) && request_new(&sequence, args->sequence_features);
    tw_tensors out = good ? parse_sequence(&context, &sequence, args) : (tw_tensors){ 0 };
    request_free(&context);
    request_free(&sequence);
    return out;
}
