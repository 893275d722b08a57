/* keras.layers.DenseFeatures: the numbers of several feature columns, side by side in the order of their names. */
#include "keras/features/features.h"

static tw_status add_column(tw__features_layer *layer, const tw_value *given)
{
    tw_auto tw_feature_column *made = given->kind == TW_VALUE_DICT ? tw__column_of_entry(given) : NULL;
    const tw_feature_column *column = made ? made : tw__column_in(given);
    if (given->kind == TW_VALUE_DICT && !made)
        return tw__error_status();
    tw__text text = { 0 };
    tw__column_value_text(&text, given);
    tw__owned char *shown = tw__text_take(&text);
    if (!column)
        return tw__fail(TW_VALUE_ERROR, "Items of feature_columns must be a FeatureColumn. Given (type %s): %s.",
                        given->kind == TW_VALUE_INT   ? "<class 'int'>"
                        : given->kind == TW_VALUE_STR ? "<class 'str'>"
                                                      : "another one",
                        shown ? shown : "");
    if (!tw__column(column)->dense)
        return tw__fail(
            TW_VALUE_ERROR,
            "Items of feature_columns must be a <class 'tensorflow.python.feature_column.feature_column_v2."
            "DenseColumn'>. You can wrap a categorical column with an embedding_column or indicator_column. Given: %s",
            shown ? shown : "");
    TW_TRY(TW_GROW(layer->columns, layer->capacity, layer->count + 1));
    size_t at = layer->count;
    for (; at && strcmp(layer->columns[at - 1]->name, column->name) > 0; at--)
        layer->columns[at] = layer->columns[at - 1];
    layer->columns[at] = tw_retain((void *)(uintptr_t)column);
    layer->count++;
    if (!at || strcmp(layer->columns[at - 1]->name, column->name) != 0)
        return TW_OK;
    tw__text first = { 0 };
    tw__column_text(&first, layer->columns[at - 1]);
    tw__owned char *other = tw__text_take(&first);
    return tw__fail(TW_VALUE_ERROR,
                    "Duplicate feature column name found for columns: %s and %s. This usually means that these columns refer to "
                    "same base feature. Either one must be discarded or a duplicated but renamed item must be inserted in "
                    "features dict.",
                    other ? other : "", shown ? shown : "");
}

static tw_status features_init(void *self, const void *given)
{
    const tw_layers_dense_features_args *args = given;
    const tw_value *columns = &args->feature_columns;
    if (args->partitioner)
        return tw__fail(TW_UNIMPLEMENTED, "DenseFeatures: a partitioner is not supported");
    if (tw__column_in(columns))
        return add_column(self, columns);
    bool dict = columns->kind == TW_VALUE_DICT && !tw__value_get(columns, "class_name");
    if (columns->kind == TW_VALUE_DICT && !dict)
        return add_column(self, columns);
    bool list = dict || columns->kind == TW_VALUE_LIST || columns->kind == TW_VALUE_TUPLE;
    if (!list || !columns->list.count)
        return tw__fail(TW_VALUE_ERROR,
                        list ? "feature_columns must not be empty." : "feature_columns must be a column, or a list of columns");
    for (int64_t i = dict; i < columns->list.count; i += 1 + dict)
        TW_TRY(add_column(self, &columns->list.items[i]));
    return TW_OK;
}

static void features_destroy(void *self)
{
    tw__features_layer *layer = self;
    for (size_t i = 0; i < layer->count; i++)
        tw_release(layer->columns[i]);
    tw__free(layer->columns);
    tw__free(layer->states);
}

static tw_status features_build(tw_layer *self, const tw_value *given)
{
    (void)given;
    tw__features_layer *layer = (tw__features_layer *)self;
    for (size_t i = 0; i < layer->count; i++) {
        const tw__column_methods *methods = tw__column(layer->columns[i]);
        if (methods->build)
            TW_TRY(methods->build(layer->columns[i], layer));
    }
    return TW_OK;
}

static tw_status width_of(const tw_feature_column *column, int64_t *width)
{
    tw_shape shape;
    tw__column(column)->shape(column, &shape);
    return tw__shape_count(&shape, width);
}

/* One row for each sample. */
static tw_tensor *flat(tw__temps *t, tw_tensor *numbers, int64_t width)
{
    tw_tensor *rows = numbers ? tw__temp_slice(t, tw__temp_shape(t, numbers, TW_INT32), 0, 1) : NULL;
    tw_tensor *size = rows ? tw__temp_ints(t, &width, 1, TW_INT32) : NULL;
    tw_tensor *sizes = size ? tw__temp_concat(t, (tw_tensor *[]){ rows, size }, 2, 0) : NULL;
    return sizes ? TW_TEMP(Reshape, numbers, sizes) : NULL;
}

static tw_value features_call(tw_layer *self, const tw_value *given, int training)
{
    (void)training;
    TW_TEMPS(t);
    tw__features_layer *layer = (tw__features_layer *)self;
    tw_value none = { .kind = TW_VALUE_NONE };
    if (given[0].kind != TW_VALUE_DICT) {
        tw__fail(TW_VALUE_ERROR, "We expected a dictionary here. Instead we got: ");
        return none;
    }
    if (given[1].kind != TW_VALUE_NONE) {
        tw__fail(TW_UNIMPLEMENTED, "DenseFeatures: cols_to_output_tensors is not supported");
        return none;
    }
    tw__features f = { .given = &given[0], .t = t, .layer = layer };
    tw__owned tw_tensor **parts = tw__alloc_array(layer->count + 1, sizeof *parts);
    for (size_t i = 0; i < layer->count; i++) {
        int64_t width = 0;
        if (!parts || width_of(layer->columns[i], &width) != TW_OK)
            return none;
        parts[i] = flat(t, tw__column(layer->columns[i])->dense(layer->columns[i], &f), width);
        if (!parts[i])
            return none;
    }
    tw_tensor *all = layer->count == 1 ? parts[0] : tw__temp_concat(t, parts, (int)layer->count, 1);
    return tw__tensor_value(tw__keep(t, all));
}

static tw_status features_shape(tw_layer *self, const tw_shape *input, tw_shape *output)
{
    tw__features_layer *layer = (tw__features_layer *)self;
    int64_t all = 0;
    for (size_t i = 0; i < layer->count; i++) {
        int64_t width = 0;
        TW_TRY(width_of(layer->columns[i], &width));
        if (__builtin_add_overflow(all, width, &all))
            return tw__fail(TW_INVALID_ARGUMENT, "DenseFeatures: the columns are too wide");
    }
    *output = TW_SHAPE(input->rank > 0 ? input->dims[0] : -1, all);
    return TW_OK;
}

static void features_config(tw_layer *self, tw__dict *dict)
{
    tw__features_layer *layer = (tw__features_layer *)self;
    tw_value *items = tw__alloc_array(layer->count + 1, sizeof *items);
    for (size_t i = 0; items && i < layer->count; i++)
        items[i] = tw__column_entry(layer->columns[i]);
    tw__dict_put(dict, "feature_columns",
                 (tw_value){ .kind = TW_VALUE_LIST, .list = { items, items ? (int64_t)layer->count : 0 } });
    tw__dict_put(dict, "partitioner", (tw_value){ .kind = TW_VALUE_NONE });
}

static const tw__layer_methods features_methods = { .arguments = "features cols_to_output_tensors",
                                                    .call_values = features_call,
                                                    .build_values = features_build,
                                                    .output_shape = features_shape,
                                                    .any_dtype = true,
                                                    .own_config = " feature_columns partitioner ",
                                                    .config = features_config };

TW_CLASS(layers_dense_features,
         "keras.layers.DenseFeatures|compat.v1.keras.layers.DenseFeatures(feature_columns: value, partitioner: object = None, "
         "**layer) -> layer",
         .parent = &tw__class_layer, .size = sizeof(tw__features_layer), .init = features_init, .destroy = features_destroy,
         .methods = &features_methods, .fixed = " feature_columns ",
         .doc = "The numbers of feature columns for dicts of features, side by side in the order of the columns' names.\n"
                "feature_columns: the columns, all of them dense\n"
                "partitioner: must be None; others are not supported");
