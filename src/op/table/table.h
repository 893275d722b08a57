/* Tables from keys to values: what a resource tensor holds for the LookupTable ops. A key or value is one row: a scalar, or a
 * tensor of a fixed shape. */
#ifndef TW_TABLE_H
#define TW_TABLE_H

#include "op/op.h"

typedef struct tw__lookup_table {
    tw_object object;
    _Atomic uint32_t lock; /* tw__hold_take */
    tw_dtype key_dtype, value_dtype;
    tw_shape key_shape, value_shape;
    bool fixed; /* filled once, by an initializer */
    bool filled;
    tw_tensor *empty_key, *deleted_key; /* that can't be keys; NULL: none, the table is not dense */
    int64_t buckets;                    /* of a dense one, as TensorFlow would have it by now; a power of two */
    double load;                        /* which part of them may be full */
    tw__map places;                     /* bytes of a key -> place + 1 */
    tw_tensor **keys, **values;         /* of the rows; references */
    size_t count, key_capacity, value_capacity;
} tw__lookup_table;

extern const tw_class tw__lookup_table_class;
tw__lookup_table *tw__table_of(const tw__kernel *kernel); /* of input 0, borrowed; NULL and an error if it is none */
/* Refuses the keys that a dense table keeps for itself. */
tw_status tw__table_check_keys(const tw__lookup_table *table, const tw_tensor *keys);
/* TensorFlow's own layout of a dense table, which others read (dense.c): for each bucket the number of its row + 1, or 0. */
int64_t *tw__table_buckets(const tw__lookup_table *table);
/* All under the table's lock, which the caller holds. */
/* Of a dense table `import` passes over the keys of empty buckets. */
tw_status tw__table_insert(tw__lookup_table *table, const tw_tensor *keys, const tw_tensor *values, bool import);
void tw__table_clear(tw__lookup_table *table);
/* Fills a table that is filled once; a second time only with what it has already. Takes the lock. */
tw_status tw__table_fill(tw__lookup_table *table, const tw_tensor *keys, const tw_tensor *values);
/* The table behind a handle is as before it was filled: looking things up is an error. */
void tw__table_unfill(const tw_tensor *handle);

#endif
