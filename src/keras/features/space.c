/* keras.utils.FeatureSpace: columns of a table, each with a layer that prepares it, and crosses of several. Here: the usual
 * features, and how a space is made of its arguments. */
#include "keras/features/space.h"

#include "rows.h"

typedef tw__space_column column;

static const tw_value nothing = { .kind = TW_VALUE_NONE };

static tw_value text_value(const char *text)
{
    char *copy = tw__strdup(text);
    return copy ? (tw_value){ .kind = TW_VALUE_STR, .s = { copy, strlen(copy) } } : nothing;
}

/* ---- features that have names ---- */

static const struct {
    const char *name, *dtype, *mode;
} usual[] = { { "float", "float32", "float" },
              { "float_rescaled", "float32", "float" },
              { "float_normalized", "float32", "float" },
              { "float_discretized", "float32", "one_hot" },
              { "integer_categorical", "int64", "one_hot" },
              { "string_categorical", "string", "one_hot" },
              { "integer_hashed", "int64", "one_hot" },
              { "string_hashed", "string", "one_hot" } };

static tw_layer *usual_layer(const tw_utils_usual_feature_args *args, const char *name, int kind)
{
    switch (kind) {
    case 0:
        return (tw_layer *)tw_layers_identity(.dtype = TW_FLOAT32, .name = name);
    case 1:
        return (tw_layer *)tw_layers_rescaling(args->scale, .offset = args->offset, .name = name);
    case 2:
        return (tw_layer *)tw_layers_normalization(.name = name);
    case 3:
        return (tw_layer *)tw_layers_discretization(.num_bins = args->num_bins, .bin_boundaries = args->bin_boundaries,
                                                    .name = name);
    case 4:
        return (tw_layer *)tw_layers_integer_lookup(.max_tokens = args->max_tokens, .num_oov_indices = args->num_oov_indices,
                                                    .name = name);
    case 5:
        return (tw_layer *)tw_layers_string_lookup(.max_tokens = args->max_tokens, .num_oov_indices = args->num_oov_indices,
                                                   .name = name);
    default:
        return (tw_layer *)tw_layers_hashing(args->num_bins, .name = name);
    }
}

TW_API(utils_usual_feature,
       "keras.utils._usual_feature(kind: str, name: str, num_bins: int = None, bin_boundaries: value = None, scale: float = 1.0, "
       "offset: float = 0.0, max_tokens: int = None, num_oov_indices: int = 1, output_mode: str = None) -> value",
       "One of the usual features.\n"
       "kind: float, float_rescaled, float_normalized, float_discretized, integer_categorical, string_categorical, "
       "integer_hashed or string_hashed\n"
       "name: its name\n"
       "num_bins: how many bins numbers or hashes fall into\n"
       "bin_boundaries: where bins begin and end; None: `adapt` finds it\n"
       "scale: the factor of float_rescaled\n"
       "offset: what it adds\n"
       "max_tokens: how many categories there are at most; None: any number\n"
       "num_oov_indices: how many indices stand for unknown categories\n"
       "output_mode: how it comes out: int, one_hot or float; None: as is usual for the kind\n"
       "returns: a tuple: the dtype of the column, the layer that prepares it, and how it comes out")
{
    int kind = 0, count = (int)(sizeof usual / sizeof *usual);
    while (kind < count && strcmp(usual[kind].name, args->kind) != 0)
        kind++;
    if (kind == count) {
        tw__fail(TW_VALUE_ERROR, "Invalid feature type: %s", args->kind);
        return nothing;
    }
    tw__owned char *name = tw__format("%s_preprocessor", args->name);
    tw_layer *layer = name ? usual_layer(args, name, kind) : NULL;
    tw_value *items = layer ? tw__alloc_array(3, sizeof *items) : NULL;
    if (!items) {
        tw_release(layer);
        return nothing;
    }
    items[0] = text_value(usual[kind].dtype);
    items[1] = (tw_value){ .kind = TW_VALUE_OBJECT, .object = layer };
    items[2] = text_value(args->output_mode ? args->output_mode : usual[kind].mode);
    return (tw_value){ .kind = TW_VALUE_TUPLE, .list = { items, 3 } };
}

/* ---- making one ---- */

static tw_status check(const char *given, bool feature)
{
    if (strcmp(given, "one_hot") == 0 || strcmp(given, "int") == 0 || (feature && strcmp(given, "float") == 0))
        return TW_OK;
    return tw__fail(TW_VALUE_ERROR,
                    "Invalid value for argument `output_mode`. Expected one of {'int', 'one_hot'%s}. Received: output_mode=%s",
                    feature ? ", 'float'" : "", given);
}

static bool is_list(const tw_value *value, int64_t count)
{
    return (value->kind == TW_VALUE_TUPLE || value->kind == TW_VALUE_LIST) && (count < 0 || value->list.count == count);
}

/* A column of (dtype, layer, mode). */
static tw_status set_feature(column *c, const char *name, const tw_value *given)
{
    const tw_value *parts = given->list.items;
    if (!is_list(given, 3) || parts[0].kind != TW_VALUE_STR || parts[1].kind != TW_VALUE_OBJECT ||
        !tw__is(parts[1].object, &tw__class_layer) || parts[2].kind != TW_VALUE_STR)
        return tw__fail(TW_TYPE_ERROR,
                        "FeatureSpace: the feature %s must be the name of a usual one, or a dtype, a layer and an output mode",
                        name);
    TW_TRY(check(parts[2].s.data, true));
    tw_dtype dtype = tw_dtype_from_name(parts[0].s.data);
    if (dtype == TW_DTYPE_NONE)
        return tw__fail(TW_TYPE_ERROR, "FeatureSpace: the feature %s has an unknown dtype %s", name, parts[0].s.data);
    c->name = tw__strdup(name);
    c->mode = tw__strdup(parts[2].s.data);
    c->layer = tw_retain(parts[1].object);
    c->input = tw_input(.shape = TW_SHAPE(1), .dtype = dtype, .name = name);
    return c->name && c->mode && c->input ? TW_OK : tw__error_status();
}

static tw_status add_feature(column *c, const tw_feature_space_args *args, const char *name, const tw_value *given)
{
    if (given->kind != TW_VALUE_STR)
        return set_feature(c, name, given);
    bool hashed = strstr(given->s.data, "_hashed") != NULL;
    tw_value made =
        tw_utils_usual_feature(given->s.data, name, .num_bins = hashed ? args->hashing_dim : args->num_discretization_bins);
    tw_status status = made.kind == TW_VALUE_NONE ? tw__error_status() : set_feature(c, name, &made);
    tw_value_free(&made);
    return status;
}

/* A cross of (names, size, mode), or of names. */
static tw_status add_cross(column *c, const tw_feature_space_args *args, const tw_value *given)
{
    bool whole = is_list(given, 3) && is_list(&given->list.items[0], -1);
    const tw_value *names = whole ? &given->list.items[0] : given;
    const tw_value *size = whole ? &given->list.items[1] : NULL, *mode = whole ? &given->list.items[2] : NULL;
    if (!is_list(names, -1) || (whole && (size->kind != TW_VALUE_INT || mode->kind != TW_VALUE_STR)))
        return tw__fail(TW_TYPE_ERROR,
                        "FeatureSpace: a cross must be names of features, or such names, a size and an output mode");
    tw__text text = { 0 };
    for (int64_t i = 0; i < names->list.count; i++) {
        const tw_value *name = &names->list.items[i];
        if (name->kind != TW_VALUE_STR || !tw__value_get(&args->features, name->s.data)) {
            tw__text_free(&text);
            return tw__fail(TW_VALUE_ERROR,
                            "All features referenced in the `crosses` argument should be present in the `features` dict. "
                            "Received unknown features: %s",
                            name->kind == TW_VALUE_STR ? name->s.data : "?");
        }
        tw__text_add(&text, i ? "_X_" : "");
        tw__text_add(&text, name->s.data);
    }
    c->name = tw__text_take(&text);
    c->mode = tw__strdup(mode ? mode->s.data : "one_hot");
    c->of = tw__value_copy(names);
    TW_NEED(c->name);
    TW_NEED(c->mode);
    TW_TRY(check(c->mode, false));
    c->layer = (tw_layer *)tw_layers_hashed_crossing(size ? size->i : args->crossing_dim, .name = c->name);
    return c->layer ? TW_OK : tw__error_status();
}

static tw_status space_init(void *self, const void *given)
{
    tw_feature_space *space = self;
    const tw_feature_space_args *args = given;
    if (args->features.kind != TW_VALUE_DICT || !args->features.list.count)
        return tw__fail(TW_VALUE_ERROR, "The `features` argument cannot be None or empty.");
    if (args->crosses.kind != TW_VALUE_NONE && !is_list(&args->crosses, -1))
        return tw__fail(TW_TYPE_ERROR, "FeatureSpace: `crosses` must be a list");
    int64_t crosses = args->crosses.kind == TW_VALUE_NONE ? 0 : args->crosses.list.count;
    space->features = args->features.list.count / 2;
    space->columns = tw__alloc_array((size_t)(space->features + crosses), sizeof *space->columns);
    TW_NEED(space->columns);
    memset(space->columns, 0, (size_t)(space->features + crosses) * sizeof *space->columns);
    for (int64_t i = 0; i < space->features; i++) {
        const tw_value *pair = &args->features.list.items[2 * i];
        space->count++;
        if (pair[0].kind != TW_VALUE_STR)
            return tw__fail(TW_TYPE_ERROR, "FeatureSpace: names of features must be texts");
        TW_TRY(add_feature(&space->columns[i], args, pair[0].s.data, &pair[1]));
    }
    for (int64_t i = 0; i < crosses; i++) {
        space->count++;
        TW_TRY(add_cross(&space->columns[space->features + i], args, &args->crosses.list.items[i]));
    }
    if (strcmp(args->output_mode, "concat") == 0)
        TW_NEED(space->join = (tw_layer *)tw_layers_concatenate(.axis = -1));
    else if (strcmp(args->output_mode, "dict") != 0)
        return tw__fail(TW_VALUE_ERROR,
                        "Invalid value for argument `output_mode`. Expected one of {'dict', 'concat'}. Received: output_mode=%s",
                        args->output_mode);
    return TW_OK;
}

static void space_destroy(void *self)
{
    tw_feature_space *space = self;
    for (int64_t i = 0; i < space->count; i++) {
        column *c = &space->columns[i];
        tw__free(c->name);
        tw__free(c->mode);
        tw_release(c->layer);
        tw_release(c->encoder);
        tw_release(c->input);
        tw_value_free(&c->of);
    }
    tw__free(space->columns);
    tw_release(space->join);
    tw_value_free(&space->encoded);
}

TW_CLASS(feature_space,
         "keras.utils._FeatureSpace(features: value, output_mode: str = concat, crosses: value = None, crossing_dim: int = 32, "
         "hashing_dim: int = 32, num_discretization_bins: int = 32)",
         .size = sizeof(tw_feature_space), .init = space_init, .destroy = space_destroy,
         .doc = "Columns of a table, each with a layer that prepares it, put together.\n"
                "features: a dict of names and features: the name of a usual one, or a list of dtype, layer and output mode\n"
                "output_mode: concat: one tensor comes out; dict: one for each feature\n"
                "crosses: a list of crosses: names of features, or a list of such names, a size and an output mode\n"
                "crossing_dim: how many values a cross has that says no size\n"
                "hashing_dim: how many values hashed features have\n"
                "num_discretization_bins: how many bins float_discretized has");
