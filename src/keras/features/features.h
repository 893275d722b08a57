/* tf.feature_column: what a feature of a dict is, and how numbers are made of it. A column is numeric, categorical (it gives ids)
 * or dense (made of a categorical one). Columns hold no state: tables and weights belong to the layer that uses them
 * (DenseFeatures, layer.c). */
#ifndef TW_FEATURES_H
#define TW_FEATURES_H

#include "api/sparse/sparse.h"
#include "keras/layers/layers.h"
#include "lookup/lookup.h"
#include "op/calls.h"

struct tw_feature_column {
    tw_object object;
    char *name;
};

/* A layer that uses columns. */
typedef struct tw__features_layer {
    tw_layer layer;
    tw_feature_column **columns; /* in the order of their names; references */
    size_t count, capacity;
    struct tw__feature_state { /* what belongs to one of them, or to one inside of it */
        const tw_feature_column *column;
        void *object; /* a table or a variable, which the layer tracks; borrowed */
    } * states;
    size_t state_count, state_capacity;
} tw__features_layer;

/* One call of such a layer. */
typedef struct tw__features {
    const tw_value *given; /* a dict */
    tw__temps *t;          /* owns what is made */
    const tw__features_layer *layer;
} tw__features;

/* Ids of a row's values. */
typedef struct tw__feature_ids {
    tw_sparse_tensor *ids, *weights; /* weights: NULL for 1 each */
} tw__feature_ids;

typedef struct tw__column_methods {
    char *(*name)(const tw_feature_column *self); /* for tw__free */
    /* Adds what parsing must know of the features: a list of kind, shape, dtype and default for each key. */
    tw_status (*spec)(const tw_feature_column *self, tw__dict *dict);
    tw_value (*parents)(const tw_feature_column *self); /* a list of columns and keys */
    /* A value of the config that is not the argument itself; false: it is. */
    bool (*own_value)(const tw_feature_column *self, const char *name, tw_value *value);
    tw_status (*build)(const tw_feature_column *self, tw__features_layer *layer); /* tables and weights; NULL: none */
    /* Categorical ones. */
    int64_t (*buckets)(const tw_feature_column *self);
    bool (*ids)(const tw_feature_column *self, tw__features *f, tw__feature_ids *out);
    /* Those that give numbers. */
    void (*shape)(const tw_feature_column *self, tw_shape *shape); /* of one sample */
    tw_tensor *(*dense)(const tw_feature_column *self, tw__features *f);
    const char *renamed[2]; /* an argument that configs call otherwise */
} tw__column_methods;

static inline const tw__column_methods *tw__column(const tw_feature_column *column)
{
    return tw__methods(column);
}

/* ---- columns (column.c) ---- */
const tw_feature_column *tw__column_in(const tw_value *value); /* the column that an argument is; NULL: it is none */
bool tw__column_is_categorical(const tw_feature_column *column);
tw_value tw__column_plain(const tw_value *given);           /* a value as configs have it: tuples, columns as entries */
tw_value tw__column_entry(const tw_feature_column *column); /* {"class_name", "config"} */
tw_feature_column *tw__column_of_entry(const tw_value *entry);
void tw__column_text(tw__text *text, const tw_feature_column *column); /* as Python prints it */
void tw__column_value_text(tw__text *text, const tw_value *value);
tw_value tw__column_parent(const tw_feature_column *column); /* the same in a list of one */
tw_value tw__column_key_parent(const char *key);
tw_status tw__column_spec_put(tw__dict *dict, const char *key, const char *kind, const tw_shape *shape, tw_dtype dtype,
                              const tw_value *otherwise);

/* ---- features of a call (inputs.c) ---- */
/* A feature by its key, of at least two dimensions: a tensor or a sparse one. Owned by the call; NULL: an error. */
void *tw__feature(tw__features *f, const char *key);
tw_sparse_tensor *tw__feature_sparse(tw__features *f, const char *key); /* texts "" and numbers -1 are not there */
tw_sparse_tensor *tw__with_values(tw__features *f, tw_sparse_tensor *places, tw_tensor *values);
/* What belongs to a column. */
void *tw__feature_state(const tw__features_layer *layer, const tw_feature_column *column);
tw_status tw__feature_state_add(tw__features_layer *layer, const tw_feature_column *column, const char *name, void *object);
/* Rows of a table, combined for each row of ids: "sum", "mean", "sqrtn". Rows without ids are 0 if `safe`. (embedding.c) */
tw_tensor *tw__embed(tw__temps *t, tw_tensor *table, const tw__feature_ids *ids, const char *combiner, double max_norm,
                     bool safe);

#endif
