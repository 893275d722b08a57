/* Columns made of categorical ones: crossed_column, weighted_categorical_column (ids again), indicator_column and
 * embedding_column (numbers). */
#include <math.h>

#include "graph/graph.h"
#include "keras/features/features.h"
#include "keras/initializers/initializers.h"
#include "keras/layers/allowance.h"

static char *shown(const tw_value *value)
{
    tw__text text = { 0 };
    tw__column_value_text(&text, value);
    return tw__text_take(&text);
}

/* ---- crossed_column ---- */

typedef struct leaves {
    const tw_value **items; /* keys and columns that are not crossed themselves; borrowed */
    size_t count, capacity;
} leaves;

/* The name is made before the keys are checked: they may be anything. */
static tw_status collect(const tw_value *keys, leaves *all)
{
    if (keys->kind != TW_VALUE_LIST && keys->kind != TW_VALUE_TUPLE)
        return TW_OK;
    for (int64_t i = 0; i < keys->list.count; i++) {
        const tw_feature_column *column = tw__column_in(&keys->list.items[i]);
        if (column && tw__is(column, &tw__class_feature_crossed_column)) {
            TW_TRY(collect(&((const tw_feature_crossed_column_args *)tw_object_config(column))->keys, all));
            continue;
        }
        TW_TRY(TW_GROW(all->items, all->capacity, all->count + 1));
        all->items[all->count++] = &keys->list.items[i];
    }
    return TW_OK;
}

static tw_status crossed_settle(void *self, const void *given)
{
    (void)self;
    const tw_feature_crossed_column_args *args = given;
    bool list = args->keys.kind == TW_VALUE_LIST || args->keys.kind == TW_VALUE_TUPLE;
    tw__owned char *text = shown(&args->keys);
    if (args->hash_bucket_size < 1)
        return tw__fail(TW_VALUE_ERROR, "hash_bucket_size must be > 1. hash_bucket_size: %lld",
                        (long long)args->hash_bucket_size);
    if (!list || args->keys.list.count < 2)
        return tw__fail(TW_VALUE_ERROR, "keys must be a list with length > 1. Given: %s", text ? text : "");
    for (int64_t i = 0; i < args->keys.list.count; i++) {
        const tw_value *key = &args->keys.list.items[i];
        const tw_feature_column *column = tw__column_in(key);
        tw__owned char *one = shown(key);
        if (key->kind != TW_VALUE_STR && !tw__column_is_categorical(column))
            return tw__fail(TW_VALUE_ERROR,
                            "Unsupported key type. All keys must be either string, or categorical column except "
                            "HashedCategoricalColumn. Given: %s",
                            one ? one : "");
        if (column && tw__is(column, &tw__class_feature_hashed_column))
            return tw__fail(TW_VALUE_ERROR,
                            "categorical_column_with_hash_bucket is not supported for crossing. Hashing before crossing will "
                            "increase probability of collision. Instead, use the feature name as a string. Given: %s",
                            one ? one : "");
    }
    return TW_OK;
}

static const tw_value *crossed_keys(const tw_feature_column *self)
{
    return &((const tw_feature_crossed_column_args *)tw_object_config(self))->keys;
}

static const char *leaf_name(const tw_value *leaf)
{
    const tw_feature_column *column = tw__column_in(leaf);
    return column ? column->name : leaf->kind == TW_VALUE_STR ? leaf->s.data : "";
}

static char *crossed_name(const tw_feature_column *self)
{
    leaves all = { 0 };
    tw__text text = { 0 };
    tw_status status = collect(crossed_keys(self), &all);
    for (size_t i = 1; status == TW_OK && i < all.count; i++) { /* by name */
        for (size_t k = i; k && strcmp(leaf_name(all.items[k - 1]), leaf_name(all.items[k])) > 0; k--) {
            const tw_value *other = all.items[k];
            all.items[k] = all.items[k - 1];
            all.items[k - 1] = other;
        }
    }
    for (size_t i = 0; status == TW_OK && i < all.count; i++)
        tw__text_format(&text, "%s%s", i ? "_X_" : "", leaf_name(all.items[i]));
    tw__free(all.items);
    return tw__text_take(&text);
}

static tw_status crossed_spec(const tw_feature_column *self, tw__dict *dict)
{
    const tw_value *keys = crossed_keys(self);
    for (int64_t i = 0; i < keys->list.count; i++) {
        const tw_feature_column *column = tw__column_in(&keys->list.items[i]);
        TW_TRY(column ? tw__column(column)->spec(column, dict)
                      : tw__column_spec_put(dict, keys->list.items[i].s.data, "sparse", NULL, TW_STRING, NULL));
    }
    return TW_OK;
}

static tw_value crossed_parents(const tw_feature_column *self)
{
    tw_value made = tw__value_copy(crossed_keys(self));
    if (made.kind == TW_VALUE_TUPLE)
        made.kind = TW_VALUE_LIST;
    return made;
}

static int64_t crossed_buckets(const tw_feature_column *self)
{
    return ((const tw_feature_crossed_column_args *)tw_object_config(self))->hash_bucket_size;
}

static tw_status build_parts(const tw_value *keys, tw__features_layer *layer)
{
    for (int64_t i = 0; i < keys->list.count; i++) {
        const tw_feature_column *column = tw__column_in(&keys->list.items[i]);
        if (column && tw__column(column)->build)
            TW_TRY(tw__column(column)->build(column, layer));
    }
    return TW_OK;
}

static tw_status crossed_build(const tw_feature_column *self, tw__features_layer *layer)
{
    return build_parts(crossed_keys(self), layer);
}

/* What is crossed: a feature as it is, or the ids of a column. */
static void *crossed_part(const tw_value *leaf, tw__features *f)
{
    const tw_feature_column *column = tw__column_in(leaf);
    if (!column)
        return tw__feature(f, leaf->s.data);
    tw__feature_ids found;
    if (!tw__column(column)->ids(column, f, &found))
        return NULL;
    if (found.weights) {
        tw__fail(TW_VALUE_ERROR,
                 "crossed_column does not support weight_tensor, but the given column populates weight_tensor. "
                 "Given column: %s",
                 column->name);
        return NULL;
    }
    return found.ids;
}

static bool crossed_ids(const tw_feature_column *self, tw__features *f, tw__feature_ids *out)
{
    tw__temps *t = f->t;
    const tw_feature_crossed_column_args *args = tw_object_config(self);
    leaves all = { 0 };
    *out = (tw__feature_ids){ NULL, NULL };
    tw_status status = collect(&args->keys, &all);
    tw__owned tw_value *parts = status == TW_OK ? tw__alloc_array(all.count + 1, sizeof *parts) : NULL;
    for (size_t i = 0; parts && status == TW_OK && i < all.count; i++) {
        void *part = crossed_part(all.items[i], f);
        status = part ? TW_OK : tw__error_status();
        bool dense = part && tw__is(part, &tw__tensor_class);
        parts[i] = dense ? TW_LEAF(part) : (tw_value){ .kind = TW_VALUE_OBJECT, .object = part };
    }
    tw_value list = { .kind = TW_VALUE_LIST, .list = { parts, (int64_t)all.count } };
    if (parts && status == TW_OK)
        out->ids = tw__temp(t, tw_sparse_cross_hashed(list, .num_buckets = args->hash_bucket_size, .hash_key = args->hash_key));
    tw__free(all.items);
    return out->ids != NULL;
}

static const tw__column_methods crossed_methods = { .name = crossed_name,
                                                    .spec = crossed_spec,
                                                    .parents = crossed_parents,
                                                    .build = crossed_build,
                                                    .buckets = crossed_buckets,
                                                    .ids = crossed_ids };

TW_CLASS(
    feature_crossed_column,
    "feature_column._columns.CrossedColumn|feature_column.crossed_column(keys: value, hash_bucket_size: int, hash_key: int = "
    "None) -> feature_column",
    .parent = &tw__class_feature_column, .size = sizeof(tw_feature_column), .settle = crossed_settle, .methods = &crossed_methods,
    .doc = "Ids of combinations of features, by their hash.\n"
           "keys: names of features, or categorical columns; at least two\n"
           "hash_bucket_size: how many ids there are\n"
           "hash_key: a number that the hash depends on; None: the usual one");

/* ---- weighted_categorical_column ---- */

static const tw_feature_column *inner(const tw_feature_column *self)
{
    /* `categorical_column` is the first argument of all of them */
    const tw_signature *signature = tw_class_signature(tw_class_of(self));
    return tw__column_in((const tw_value *)((const char *)tw_object_config(self) + signature->fields[0].offset));
}

/* Asked for before the column's own checks, which refuse something else. */
static const char *inner_name(const tw_feature_column *self)
{
    const tw_feature_column *column = inner(self);
    return column ? column->name : "";
}

static tw_status need_categorical(const tw_value *given)
{
    tw__owned char *text = shown(given);
    if (tw__column_is_categorical(tw__column_in(given)))
        return TW_OK;
    return tw__fail(TW_VALUE_ERROR, "Unsupported input type. Input must be a CategoricalColumn. Given: %s", text ? text : "");
}

static tw_status inner_build(const tw_feature_column *self, tw__features_layer *layer)
{
    const tw_feature_column *column = inner(self);
    return tw__column(column)->build ? tw__column(column)->build(column, layer) : TW_OK;
}

static tw_status inner_spec(const tw_feature_column *self, tw__dict *dict)
{
    return tw__column(inner(self))->spec(inner(self), dict);
}

static tw_value inner_parents(const tw_feature_column *self)
{
    return tw__column_parent(inner(self));
}

static tw_status weighted_settle(void *self, const void *given)
{
    (void)self;
    const tw_feature_weighted_column_args *args = given;
    TW_TRY(need_categorical(&args->categorical_column));
    if (!tw__dtype_is_float(args->dtype) && !tw__dtype_is_integer(args->dtype))
        return tw__fail(TW_VALUE_ERROR, "dtype <dtype: '%s'> is not convertible to float.", tw_dtype_name(args->dtype));
    return TW_OK;
}

static char *weighted_name(const tw_feature_column *self)
{
    const tw_feature_weighted_column_args *args = tw_object_config(self);
    return tw__format("%s_weighted_by_%s", inner_name(self), args->weight_feature_key);
}

static tw_status weighted_spec(const tw_feature_column *self, tw__dict *dict)
{
    const tw_feature_weighted_column_args *args = tw_object_config(self);
    TW_TRY(inner_spec(self, dict));
    if (tw__value_get(&(tw_value){ .kind = TW_VALUE_DICT, .list = { dict->items, (int64_t)dict->count } },
                      args->weight_feature_key))
        return tw__fail(TW_VALUE_ERROR, "Parse config already exists for key '%s'.", args->weight_feature_key);
    return tw__column_spec_put(dict, args->weight_feature_key, "sparse", NULL, args->dtype, NULL);
}

static tw_value weighted_parents(const tw_feature_column *self)
{
    const tw_feature_weighted_column_args *args = tw_object_config(self);
    tw_value *items = tw__alloc_array(2, sizeof *items);
    if (items) {
        items[0] = (tw_value){ .kind = TW_VALUE_OBJECT, .object = tw_retain((void *)(uintptr_t)inner(self)) };
        items[1] = tw__value_str(args->weight_feature_key);
    }
    return (tw_value){ .kind = items ? TW_VALUE_LIST : TW_VALUE_NONE, .list = { items, 2 } };
}

static int64_t inner_buckets(const tw_feature_column *self)
{
    return tw__column(inner(self))->buckets(inner(self));
}

static bool weighted_ids(const tw_feature_column *self, tw__features *f, tw__feature_ids *out)
{
    tw__temps *t = f->t;
    const tw_feature_weighted_column_args *args = tw_object_config(self);
    if (!tw__column(inner(self))->ids(inner(self), f, out))
        return false;
    void *given = tw__feature(f, args->weight_feature_key);
    tw_dtype found = !given                             ? TW_FLOAT32
                     : tw__is(given, &tw__tensor_class) ? ((tw_tensor *)given)->dtype
                                                        : ((tw_sparse_tensor *)given)->values->dtype;
    if (given && tw__dtype_is_float(args->dtype) != tw__dtype_is_float(found)) {
        tw__fail(TW_VALUE_ERROR, "Bad dtype, expected <dtype: '%s'>, but got <dtype: '%s'>.", tw_dtype_name(args->dtype),
                 tw_dtype_name(found));
        return false;
    }
    tw_sparse_tensor *weights = given ? tw__feature_sparse(f, args->weight_feature_key) : NULL;
    out->weights = weights ? tw__with_values(f, weights, tw__temp_cast(t, weights->values, TW_FLOAT32)) : NULL;
    return out->weights != NULL;
}

static const tw__column_methods weighted_methods = { .name = weighted_name,
                                                     .spec = weighted_spec,
                                                     .parents = weighted_parents,
                                                     .build = inner_build,
                                                     .buckets = inner_buckets,
                                                     .ids = weighted_ids };

TW_CLASS(
    feature_weighted_column,
    "feature_column._columns.WeightedCategoricalColumn|feature_column.weighted_categorical_column(categorical_column: value, "
    "weight_feature_key: str, dtype: dtype = float32) -> feature_column",
    .parent = &tw__class_feature_column, .size = sizeof(tw_feature_column), .settle = weighted_settle,
    .methods = &weighted_methods,
    .doc = "Ids with weights, which are a feature of their own.\n"
           "weight_feature_key: the name of the feature with the weights\n"
           "dtype: the dtype of the weights");

/* ---- indicator_column ---- */

static tw_status indicator_settle(void *self, const void *given)
{
    (void)self;
    return need_categorical(&((const tw_feature_indicator_column_args *)given)->categorical_column);
}

static char *indicator_name(const tw_feature_column *self)
{
    return tw__format("%s_indicator", inner_name(self));
}

static void indicator_shape(const tw_feature_column *self, tw_shape *shape)
{
    *shape = TW_SHAPE(1, inner_buckets(self));
}

static tw_tensor *indicator_dense(const tw_feature_column *self, tw__features *f)
{
    tw__temps *t = f->t;
    tw__feature_ids found;
    if (!tw__column(inner(self))->ids(inner(self), f, &found))
        return NULL;
    tw_tensor *none = tw__temp_int(t, -1, TW_INT64);
    tw_tensor *ids = none ? tw__temp(t, tw_sparse_to_dense(found.ids, .default_value = none)) : NULL;
    tw_tensor *rows = ids ? tw__temp(t, tw_one_hot(ids, tw__temp_int(t, inner_buckets(self), TW_INT32))) : NULL;
    if (rows && found.weights) {
        tw_sparse_tensor *placed = tw__with_values(f, found.ids, found.weights->values);
        tw_tensor *weights = placed ? tw__temp(t, tw_sparse_to_dense(placed)) : NULL;
        rows = weights ? TW_TEMP(Mul, rows, TW_TEMP(ExpandDims, weights, -1)) : NULL;
    }
    return rows ? TW_TEMP(Sum, rows, -2) : NULL;
}

static const tw__column_methods indicator_methods = { .name = indicator_name,
                                                      .spec = inner_spec,
                                                      .parents = inner_parents,
                                                      .build = inner_build,
                                                      .shape = indicator_shape,
                                                      .dense = indicator_dense };

TW_CLASS(feature_indicator_column,
         "feature_column._columns.IndicatorColumn|feature_column.indicator_column(categorical_column: value) -> feature_column",
         .parent = &tw__class_feature_column, .size = sizeof(tw_feature_column), .settle = indicator_settle,
         .methods = &indicator_methods, .doc = "How often a sample has each id, as numbers.");

/* ---- embedding_column ---- */

static const tw_feature_embedding_column_args *embedding(const tw_feature_column *self)
{
    return tw_object_config(self);
}

static tw_status embedding_settle(void *self, const void *given)
{
    (void)self;
    const tw_feature_embedding_column_args *args = given;
    if (args->dimension == TW_NO_INT || args->dimension < 1)
        return tw__fail(TW_VALUE_ERROR, "Invalid dimension %lld.", (long long)args->dimension);
    if (!args->ckpt_to_load_from != !args->tensor_name_in_ckpt)
        return tw__fail(TW_VALUE_ERROR, "Must specify both `ckpt_to_load_from` and `tensor_name_in_ckpt` or none of them.");
    if (args->ckpt_to_load_from)
        return tw__fail(TW_UNIMPLEMENTED, "embedding_column: ckpt_to_load_from is not supported");
    TW_TRY(need_categorical(&args->categorical_column));
    const char *combiner = args->combiner ? args->combiner : "mean";
    if (strcmp(combiner, "mean") != 0 && strcmp(combiner, "sqrtn") != 0 && strcmp(combiner, "sum") != 0)
        return tw__fail(TW_VALUE_ERROR, "combiner must be one of 'mean', 'sqrtn' or 'sum', got %s", combiner);
    return tw__initializer_check(args->initializer);
}

static char *embedding_name(const tw_feature_column *self)
{
    return tw__format("%s_embedding", inner_name(self));
}

static void embedding_shape(const tw_feature_column *self, tw_shape *shape)
{
    *shape = TW_SHAPE(embedding(self)->dimension);
}

static bool embedding_value(const tw_feature_column *self, const char *name, tw_value *value)
{
    if (strcmp(name, "initializer") != 0 || embedding(self)->initializer)
        return false;
    tw__dict config = { 0 }, entry = { 0 };
    tw__dict_put(&config, "mean", (tw_value){ .kind = TW_VALUE_FLOAT, .f = 0 });
    tw__dict_put(&config, "stddev", (tw_value){ .kind = TW_VALUE_FLOAT, .f = 1 / sqrt((double)embedding(self)->dimension) });
    tw__dict_put(&config, "seed", (tw_value){ .kind = TW_VALUE_NONE });
    tw__dict_put_str(&config, "dtype", "float32");
    tw__dict_put_str(&entry, "class_name", "TruncatedNormal");
    tw__dict_put(&entry, "config", tw__dict_take(&config));
    *value = tw__dict_take(&entry);
    return true;
}

/* Without an initializer it is TensorFlow 1's truncated normal one. */
static tw_tensor *first_values(const tw_feature_column *self, const tw_shape *shape)
{
    if (embedding(self)->initializer) {
        tw_auto tw_initializer *maker = tw__initializer_get(embedding(self)->initializer);
        return maker ? tw__initializer_make(maker, shape, TW_FLOAT32) : NULL;
    }
    tw_auto tw_tensor *sizes = tw_tensor_new(TW_INT64, TW_SHAPE(2), shape->dims);
    tw_auto tw_tensor *mean = tw__float_scalar(TW_FLOAT32, 0),
                      *deviation = tw__float_scalar(TW_FLOAT32, 1 / sqrt((double)embedding(self)->dimension));
    return sizes && mean && deviation ? tw_random_truncated_normal(sizes, .mean = mean, .stddev = deviation) : NULL;
}

static tw_status embedding_build(const tw_feature_column *self, tw__features_layer *layer)
{
    TW_TRY(inner_build(self, layer));
    tw_shape shape = TW_SHAPE(inner_buckets(self), embedding(self)->dimension);
    TW_TRY(tw__weights_take(layer->layer.name, "embedding_weights", &shape));
    tw__owned char *own = tw__format("%s/embedding_weights", self->name);
    tw__owned char *full = own ? tw__format("%s%s", tw__variable_scope(), own) : NULL;
    TW_NEED(full);
    tw__outside outside = tw__root_begin();
    tw__part part = tw__first_value_begin(full);
    tw_tensor *value = first_values(self, &shape);
    bool made = tw__first_value_end(&part) == TW_OK && value;
    tw__outside_end(outside);
    bool trainable = embedding(self)->trainable && layer->layer.trainable;
    tw_auto tw_variable *variable = made ? tw__variable_new(value, full, trainable, &shape) : NULL;
    tw_release(value);
    return variable ? tw__feature_state_add(layer, self, own, variable) : tw__error_status();
}

static tw_tensor *embedding_dense(const tw_feature_column *self, tw__features *f)
{
    tw__temps *t = f->t;
    const tw_feature_embedding_column_args *args = embedding(self);
    tw__feature_ids found;
    if (!tw__column(inner(self))->ids(inner(self), f, &found))
        return NULL;
    tw_variable *variable = tw__feature_state(f->layer, self);
    tw_tensor *table = variable ? tw__temp(t, tw__variable_read(variable)) : NULL;
    return table ? tw__embed(t, table, &found, args->combiner, args->max_norm, args->use_safe_embedding_lookup) : NULL;
}

static const tw__column_methods embedding_methods = { .name = embedding_name,
                                                      .spec = inner_spec,
                                                      .parents = inner_parents,
                                                      .own_value = embedding_value,
                                                      .build = embedding_build,
                                                      .shape = embedding_shape,
                                                      .dense = embedding_dense };

TW_CLASS(
    feature_embedding_column,
    "feature_column._columns.EmbeddingColumn|feature_column.embedding_column(categorical_column: value, dimension: int?, "
    "combiner: str = mean, initializer: named<initializer> = None, ckpt_to_load_from: str = None, tensor_name_in_ckpt: str = "
    "None, max_norm: float = None, trainable: bool = True, use_safe_embedding_lookup: bool = True) -> feature_column",
    .parent = &tw__class_feature_column, .size = sizeof(tw_feature_column), .settle = embedding_settle,
    .methods = &embedding_methods,
    .doc = "A row of a table for each id, which is trained; the rows of a sample's ids are combined.\n"
           "dimension: the length of a row\n"
           "combiner: how rows of one sample become one: `mean`, `sqrtn` or `sum`\n"
           "initializer: what makes the first table; None: a truncated normal distribution\n"
           "ckpt_to_load_from: must be None; other values are not supported\n"
           "tensor_name_in_ckpt: must be None; other values are not supported\n"
           "max_norm: rows with a greater norm are scaled down to it; None: none\n"
           "trainable: whether training changes the table\n"
           "use_safe_embedding_lookup: True: samples without ids, or with ids below 0, are allowed");
