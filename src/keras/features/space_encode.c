/* keras.utils.FeatureSpace: learning what its layers need from data, and encoding features as one tensor or as a dict. */
#include "data/compose.h"
#include "keras/features/space.h"
#include "keras/layers/preprocessing/lookup.h"
#include "op/calls.h"
#include "rows.h"

typedef tw__space_column column;

static const tw_value nothing = { .kind = TW_VALUE_NONE };

static bool is_text(const tw_value *value, const char *text)
{
    return value->kind == TW_VALUE_STR && strcmp(value->s.data, text) == 0;
}

/* ---- encoding ---- */

static tw_status call(tw_layer *layer, const tw_value *input, tw_value *result)
{
    tw_value item = *input, arguments = { .kind = TW_VALUE_TUPLE, .list = { &item, 1 } };
    return tw__has_keras_tensor(input) ? tw__layer_connect(layer, &arguments, NULL, -1, result)
                                       : tw__layer_invoke(layer, &arguments, NULL, -1, result);
}

static const char *dtype_of(const tw_value *value)
{
    const tw_keras_tensor *tensor = tw__keras_tensor_of(value);
    return tensor ? tw_dtype_name(tensor->dtype) : value->kind == TW_VALUE_TENSOR ? tw_dtype_name(value->tensor->dtype) : "";
}

/* How many values the layer of a column gives; -1: an error. */
static int64_t cardinality(const column *c, const tw_value *value)
{
    const char *dtype = dtype_of(value);
    const void *config = tw_object_config(c->layer);
    if (strncmp(dtype, "int", 3) != 0) {
        tw__fail(TW_VALUE_ERROR,
                 "Feature '%s' has `output_mode='one_hot'`. Thus its preprocessor should return an int64 dtype. Instead it "
                 "returns a %s dtype.",
                 c->name, dtype);
        return -1;
    }
    if (tw__is(c->layer, &tw__class_layers_integer_lookup) || tw__is(c->layer, &tw__class_layers_string_lookup))
        return tw__vocabulary_size((const tw__lookup_layer *)c->layer);
    if (tw__is(c->layer, &tw__class_layers_category_encoding))
        return ((const tw_layers_category_encoding_args *)config)->num_tokens;
    if (tw__is(c->layer, &tw__class_layers_discretization))
        return ((const tw_layers_discretization_args *)config)->num_bins;
    if (tw__is(c->layer, &tw__class_layers_hashing))
        return ((const tw_layers_hashing_args *)config)->num_bins;
    if (tw__is(c->layer, &tw__class_layers_hashed_crossing))
        return ((const tw_layers_hashed_crossing_args *)config)->num_bins;
    tw__fail(TW_VALUE_ERROR,
             "Feature '%s' has `output_mode='one_hot'`. However it isn't a standard feature and the dimensionality of its output "
             "space is not known, thus it cannot be one-hot encoded. Try using `output_mode='int'`.",
             c->name);
    return -1;
}

/* Encodes a prepared value in place, as its column says. */
static tw_status finish(tw_feature_space *space, column *c, tw_value *value)
{
    if (strcmp(c->mode, "one_hot") == 0 && !c->encoder) {
        int64_t size = cardinality(c, value);
        if (size < 0)
            return tw__error_status();
        TW_NEED(c->encoder = (tw_layer *)tw_layers_category_encoding(.num_tokens = size, .output_mode = "multi_hot"));
    }
    if (c->encoder) {
        tw_value given = *value;
        tw_status status = call(c->encoder, &given, value);
        tw_value_free(&given);
        TW_TRY(status);
    }
    const char *dtype = dtype_of(value);
    if (space->join && (strncmp(dtype, "int", 3) == 0 || strcmp(dtype, "string") == 0))
        return tw__fail(TW_VALUE_ERROR,
                        "Cannot concatenate features because feature '%s' has not been encoded (it has dtype %s). Consider using "
                        "`output_mode='dict'`.",
                        c->name, dtype);
    return TW_OK;
}

static int64_t place_of(const tw_feature_space *space, const tw_value *name)
{
    for (int64_t i = 0; i < space->features; i++) {
        if (is_text(name, space->columns[i].name))
            return i;
    }
    tw__fail(TW_KEY_ERROR, "'%s'", name->kind == TW_VALUE_STR ? name->s.data : "?");
    return -1;
}

/* What the layers give: a value for each column; None for features that are not there. */
static tw_status prepare(tw_feature_space *space, const tw_value *given, tw_value *parts)
{
    for (int64_t i = 0; i < given->list.count; i += 2) {
        int64_t at = place_of(space, &given->list.items[i]);
        if (at < 0)
            return tw__error_status();
        TW_TRY(call(space->columns[at].layer, &given->list.items[i + 1], &parts[at]));
    }
    for (int64_t i = space->features; i < space->count; i++) {
        const tw_value *names = &space->columns[i].of;
        tw__owned tw_value *items = tw__alloc_array((size_t)names->list.count + 1, sizeof *items); /* borrowed */
        TW_NEED(items);
        for (int64_t k = 0; k < names->list.count; k++) {
            int64_t at = place_of(space, &names->list.items[k]);
            if (at < 0 || parts[at].kind == TW_VALUE_NONE)
                return at < 0 ? tw__error_status() : tw__fail(TW_KEY_ERROR, "'%s'", space->columns[at].name);
            items[k] = parts[at];
        }
        tw_value list = { .kind = TW_VALUE_LIST, .list = { items, names->list.count } };
        TW_TRY(call(space->columns[i].layer, &list, &parts[i]));
    }
    return TW_OK;
}

/* The columns from `from` to `to` in the order of their names. */
static void sort(const tw_feature_space *space, int64_t from, int64_t to, int64_t *order)
{
    for (int64_t i = from; i < to; i++) {
        int64_t at = i;
        for (; at > from && strcmp(space->columns[order[at - 1]].name, space->columns[i].name) > 0; at--)
            order[at] = order[at - 1];
        order[at] = i;
    }
}

static tw_status joined(tw_feature_space *space, tw_value *parts, const int64_t *order, tw_value *result)
{
    tw__owned tw_value *items = tw__alloc_array((size_t)space->count + 1, sizeof *items); /* borrowed */
    tw__dict dict = { 0 };
    int64_t count = 0;
    TW_NEED(items);
    for (int64_t i = 0; i < space->count; i++) {
        tw_value *part = &parts[order[i]];
        if (part->kind == TW_VALUE_NONE)
            continue;
        TW_TRY(finish(space, &space->columns[order[i]], part));
        items[count++] = *part;
        if (!space->join)
            tw__dict_put(&dict, space->columns[order[i]].name, tw__value_copy(part));
    }
    if (!space->join) {
        *result = tw__dict_take(&dict);
        return result->kind == TW_VALUE_NONE ? tw__error_status() : TW_OK;
    }
    return call(space->join, &(tw_value){ .kind = TW_VALUE_LIST, .list = { items, count } }, result);
}

/* The features of a dict encoded: a value, or a dict of them. */
static tw_status encode(tw_feature_space *space, const tw_value *given, tw_value *result)
{
    tw_value *parts = tw__alloc_array((size_t)space->count, sizeof *parts);
    tw__owned int64_t *order = tw__alloc_array((size_t)space->count, sizeof *order);
    tw_status status = parts && order ? TW_OK : tw__error_status();
    for (int64_t i = 0; parts && i < space->count; i++)
        parts[i] = nothing;
    if (status == TW_OK) {
        sort(space, 0, space->features, order);
        sort(space, space->features, space->count, order);
        status = prepare(space, given, parts);
    }
    if (status == TW_OK)
        status = joined(space, parts, order, result);
    for (int64_t i = 0; parts && i < space->count; i++)
        tw_value_free(&parts[i]);
    tw__free(parts);
    return status;
}

/* ---- learning ---- */

static bool learns(const column *c)
{
    if (!tw__is(c->layer, &tw__class_layers_preprocessing))
        return false;
    return !tw__is(c->layer, &tw__class_layers_normalization) ||
           ((const tw_layers_normalization_args *)tw_object_config(c->layer))->mean.kind == TW_VALUE_NONE;
}

static tw_status pick(void *user, const tw_value *arguments, int count, tw_value *result)
{
    const tw_value *found = count == 1 && arguments[0].kind == TW_VALUE_DICT ? tw__value_get(&arguments[0], user) : NULL;
    if (!found)
        return tw__fail(TW_KEY_ERROR, "'%s'", (const char *)user);
    *result = tw__value_copy(found);
    return TW_OK;
}

static tw_status widen(void *user, const tw_value *arguments, int count, tw_value *result)
{
    (void)user;
    tw_tensor *wide = count == 1 && arguments[0].kind == TW_VALUE_TENSOR ? TW_CALL(ExpandDims, arguments[0].tensor, -1) : NULL;
    *result = tw__tensor_value(wide);
    return wide ? TW_OK : tw__error_status();
}

/* The rank of the first element; -1: there is none, or an error. */
static tw_status first_rank(struct tw_dataset *dataset, int *rank)
{
    tw__dataset *elements = tw__dataset_of("adapt", dataset->variant);
    tw__cursor *cursor = elements ? tw__cursor_new(elements) : NULL;
    tw_tensor *first[1] = { NULL };
    bool end = true;
    *rank = -1;
    TW_NEED(cursor);
    tw_status status = dataset->count == 1 ? tw__data_plain_error(tw__cursor_next(cursor, first, &end)) : TW_OK;
    if (status == TW_OK && !end)
        *rank = first[0]->shape.rank;
    tw_release(first[0]);
    tw__cursor_free(cursor);
    return status;
}

static tw_status learn(column *c, tw_dataset *rows)
{
    tw_auto struct tw_dataset *picked = tw__data_mapped(rows, pick, c->name, NULL);
    int rank = -1;
    TW_NEED(picked);
    TW_TRY(first_rank(picked, &rank));
    tw_auto struct tw_dataset *batched = rank == 0 ? tw_dataset_batch(picked, 32) : tw_retain(picked);
    TW_NEED(batched);
    tw_auto struct tw_dataset *wide = rank == 0 || rank == 1 ? tw__data_mapped(batched, widen, NULL, NULL) : tw_retain(batched);
    TW_NEED(wide);
    return tw_preprocessing_adapt(c->layer, ((tw_value){ .kind = TW_VALUE_OBJECT, .object = wide }));
}

/* ---- what users call ---- */

static tw_status need_encoded(tw_feature_space *space)
{
    if (space->encoded.kind != TW_VALUE_NONE)
        return TW_OK;
    for (int64_t i = 0; i < space->features && !space->adapted; i++) {
        if (learns(&space->columns[i]))
            return tw__fail(TW_VALUE_ERROR,
                            "You need to call `.adapt(dataset)` on the FeatureSpace before you can start using it.");
    }
    space->adapted = true;
    tw__dict dict = { 0 };
    for (int64_t i = 0; i < space->features; i++)
        tw__dict_put(&dict, space->columns[i].name,
                     (tw_value){ .kind = TW_VALUE_OBJECT, .object = tw_retain(space->columns[i].input) });
    tw_value inputs = tw__dict_take(&dict);
    tw_status status = inputs.kind == TW_VALUE_NONE ? tw__error_status() : encode(space, &inputs, &space->encoded);
    tw_value_free(&inputs);
    return status;
}

TW_METHOD(feature_space_adapt, "keras.utils._FeatureSpace.adapt(self: feature_space, dataset: dataset)",
          "Learns means, bins and vocabularies from data.\n"
          "dataset: a dataset of dicts, of batches or of single rows")
{
    tw_feature_space *space = args->self;
    for (int64_t i = 0; i < space->features; i++) {
        if (learns(&space->columns[i]))
            TW_TRY(learn(&space->columns[i], args->dataset));
    }
    space->adapted = true;
    return need_encoded(space);
}

TW_PROPERTY(feature_space_inputs, "keras.utils._FeatureSpace.inputs(self: feature_space) -> value",
            "The inputs for a model of encoded features, by name.")
{
    tw__dict dict = { 0 };
    for (int64_t i = 0; i < args->self->features; i++)
        tw__dict_put(&dict, args->self->columns[i].name,
                     (tw_value){ .kind = TW_VALUE_OBJECT, .object = tw_retain(args->self->columns[i].input) });
    return tw__dict_take(&dict);
}

TW_METHOD(feature_space_get_encoded_features, "keras.utils._FeatureSpace.get_encoded_features(self: feature_space) -> value",
          "What the inputs become: a Keras tensor, or a dict of them.")
{
    return need_encoded(args->self) == TW_OK ? tw__value_copy(&args->self->encoded) : nothing;
}

TW_METHOD(feature_space_layers, "keras.utils._FeatureSpace._layers(self: feature_space, encoders: bool) -> value",
          "Layers by the names of the columns.\n"
          "encoders: True: those of one-hot codes that were made; False: those that cross features")
{
    tw__dict dict = { 0 };
    for (int64_t i = args->encoders ? 0 : args->self->features; i < args->self->count; i++) {
        column *c = &args->self->columns[i];
        tw_layer *layer = args->encoders ? c->encoder : c->layer;
        if (layer)
            tw__dict_put(&dict, c->name, (tw_value){ .kind = TW_VALUE_OBJECT, .object = tw_retain(layer) });
    }
    return tw__dict_take(&dict);
}

/* A sample without its batch again. */
static tw_value without_batch(tw_value value, bool whole)
{
    tw_tensor *x = value.kind == TW_VALUE_TENSOR ? value.tensor : NULL;
    if (!x || (!whole && (x->shape.rank != 2 || x->shape.dims[0] != 1)))
        return value;
    tw_tensor *row = TW_CALL(Squeeze, x, TW_A_INTS("squeeze_dims", ((int64_t[]){ 0 }), 1));
    tw_value_free(&value);
    return tw__tensor_value(row);
}

TW_METHOD(feature_space_encode, "keras.utils._FeatureSpace.encode(self: feature_space, data: value<arrays>) -> value",
          "Encodes features: one tensor, or a dict of them.\n"
          "data: a dict of tensors, of batches or of one row")
{
    if (need_encoded(args->self) != TW_OK)
        return nothing;
    if (args->data.kind != TW_VALUE_DICT) {
        tw__fail(TW_VALUE_ERROR, "A FeatureSpace can only be called with a dict.");
        return nothing;
    }
    TW_TEMPS(t);
    tw_value given = tw__value_copy(&args->data), result = nothing;
    tw_status status = given.kind == TW_VALUE_NONE ? tw__error_status() : TW_OK;
    bool single = false;
    for (int64_t i = 1; i < given.list.count && status == TW_OK; i += 2) {
        tw_value *item = &given.list.items[i];
        tw_tensor *x = tw__temp(t, tw__value_tensor(item, TW_DTYPE_NONE, "FeatureSpace"));
        if (!x) {
            status = tw__error_status();
            break;
        }
        single |= x->shape.rank == 0;
        tw_tensor *shaped = x->shape.rank == 0   ? tw__temp_reshape(t, x, (int64_t[]){ 1, 1 }, 2)
                            : x->shape.rank == 1 ? TW_TEMP(ExpandDims, x, -1)
                                                 : x;
        tw_value_free(item);
        *item = tw__tensor_value(tw_retain(shaped));
        status = shaped ? TW_OK : tw__error_status();
    }
    if (status == TW_OK)
        status = encode(args->self, &given, &result);
    tw_value_free(&given);
    if (status != TW_OK || !single)
        return result;
    if (result.kind != TW_VALUE_DICT)
        return without_batch(result, true);
    for (int64_t i = 1; i < result.list.count; i += 2)
        result.list.items[i] = without_batch(result.list.items[i], false);
    return result;
}
