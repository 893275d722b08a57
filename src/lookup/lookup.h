/* tf.lookup: tables from keys to values as objects, over the ops of op/table. A table's handle is a resource that functions
 * capture; in the graph of a session it is a node. What a SavedModel needs of a table is made by saving/saved_table.c. */
#ifndef TW_LOOKUP_H
#define TW_LOOKUP_H

#include "api/asset.h"
#include "op/op.h"
#include "spec/spec.h"

struct tw_table_initializer {
    tw_trackable trackable;
    tw_dtype key_dtype, value_dtype;
    tw_tensor *keys, *values;                     /* of KeyValueTensorInitializer */
    tw_saved_constant *file;                      /* of TextFileInitializer: a child, "_filename" */
    int64_t key_index, value_index, lines, first; /* lines: -1 for all; first: what the first line has as its number */
    char *delimiter;
};

struct tw_lookup_table {
    tw_trackable trackable;
    tw_dtype key_dtype, value_dtype;
    tw_tensor *handle;                        /* NULL: a vocabulary of nothing but buckets */
    tw_tensor *otherwise;                     /* what keys have that the table has not; NULL: of a file, not known */
    struct tw_table_initializer *initializer; /* a child, "_initializer"; NULL: there is none, or it is a file's function */
    bool fixed;                               /* filled once */
    tw_shape value_shape;
    tw_tensor *empty_key, *deleted_key; /* of a dense table */
    int64_t buckets;                    /* that it has at first; TW_NO_INT: as many as usual */
    char *name, *shared;                /* as the user named it, or NULL; in files */
    bool saved;                         /* checkpoints hold its keys and values */
    int64_t spare;                      /* of a vocabulary: buckets for keys that are not in it; 0: it is none */
    tw_dtype asked_dtype;               /* of a vocabulary: what its keys are asked for as */
};

/* A value as a tensor of that dtype (TW_DTYPE_NONE: its own); `outside`: one that is there outside of functions that are traced.
 */
tw_tensor *tw__lookup_tensor(const tw_value *value, tw_dtype dtype, const char *what, bool outside);
/* Fills a table; in a graph this is a node. */
tw_status tw__lookup_fill(const struct tw_table_initializer *initializer, tw_tensor *handle);
/* Calls the op that makes such a table; a new handle. */
tw_tensor *tw__lookup_create(const struct tw_lookup_table *table);
/* All keys and values of the table behind the handle, as two references. */
tw_status tw__lookup_export(const struct tw_lookup_table *table, tw_tensor *handle, tw_tensor *out[2]);
tw_status tw__lookup_import(const struct tw_lookup_table *table, tw_tensor *handle, tw_tensor *keys, tw_tensor *values);
/* A table out of a file, which gets its handle later; what it is like is found out of that. */
struct tw_lookup_table *tw__lookup_loaded(void);
tw_status tw__lookup_adopt(struct tw_lookup_table *table, tw_tensor *handle);
/* Whether a captured tensor stands for the table. */
bool tw__lookup_is(const struct tw_lookup_table *table, const tw_tensor *capture);
/* Whether checkpoints hold what the table has. */
bool tw__lookup_saves(const void *object);

#endif
