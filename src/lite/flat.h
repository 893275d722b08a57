/* FlatBuffers: bytes in which tables refer to each other by offsets.
 *
 *     a table      int32: how far before it its vtable lies, then its fields' values
 *     a vtable     uint16s: its own size, the table's size, and per field where its value lies in the table; 0: it has the
 * default a reference  uint32: how far behind itself the table, vector or text lies a vector     uint32: how many items, then the
 * items; a text is a vector of bytes with a zero behind it
 *
 * The reader copies nothing and looks at nothing that it has not found to be inside of the bytes. What is not makes the buffer
 * `broken`, and reads as if it were not there: a caller looks at that once, at the end. */
#ifndef TW_FLAT_H
#define TW_FLAT_H

#include "tensor/tensor.h"

typedef struct tw__flat {
    const uint8_t *bytes;
    size_t size;
    size_t seen; /* bytes of vectors that were handed out: many tables that share one long vector are refused */
    bool broken;
} tw__flat;

typedef struct tw__flat_table {
    tw__flat *flat;
    size_t at;     /* 0: there is no such table, and every field has its default */
    size_t vtable; /* where it lies */
    uint16_t vtable_size, size;
} tw__flat_table;

typedef struct tw__flat_vector {
    tw__flat *flat;
    size_t at; /* of the first item */
    int64_t count;
} tw__flat_vector;

/* The root, if the file has this identifier. */
tw__flat_table tw__flat_root(tw__flat *flat, const char *identifier);
bool tw__flat_has(const tw__flat_table *table, int field);
/* An integer of `size` bytes with its sign, or a float. */
int64_t tw__flat_int(const tw__flat_table *table, int field, int size, int64_t otherwise);
double tw__flat_float(const tw__flat_table *table, int field, double otherwise);
tw__flat_table tw__flat_child(const tw__flat_table *table, int field);
tw__flat_vector tw__flat_list(const tw__flat_table *table, int field, size_t item_size);
tw_string tw__flat_text(const tw__flat_table *table, int field); /* ends in a zero byte; "" if there is none */
/* Items of vectors; the index is inside. */
int64_t tw__flat_int_at(const tw__flat_vector *list, int64_t index, int size);
float tw__flat_float_at(const tw__flat_vector *list, int64_t index);
tw__flat_table tw__flat_table_at(const tw__flat_vector *list, int64_t index);

/* ---- writing (flat_write.c): from the end to the front, so that everything is there before it is referred to ---- */
typedef struct tw__flat_writer {
    uint8_t *bytes; /* the last `size` of `capacity` are written */
    size_t size, capacity;
    size_t alignment; /* the largest one asked for */
    bool failed;
    struct {
        uint32_t place; /* counted from the end of the bytes */
        bool there;
    } fields[32]; /* of the table that is being made */
    int field_count;
    uint32_t start;
} tw__flat_writer;

/* References are places counted from the end; 0: nothing. */
uint32_t tw__flat_put_bytes(tw__flat_writer *w, const void *data, size_t size, size_t alignment); /* a vector of bytes */
uint32_t tw__flat_put_text(tw__flat_writer *w, const char *text);
uint32_t tw__flat_put_ints(tw__flat_writer *w, const int32_t *items, size_t count);
uint32_t tw__flat_put_longs(tw__flat_writer *w, const int64_t *items, size_t count);
uint32_t tw__flat_put_floats(tw__flat_writer *w, const float *items, size_t count);
uint32_t tw__flat_put_refs(tw__flat_writer *w, const uint32_t *items, size_t count); /* a vector of references */
/* A table: begin, fields in any order, end. Nothing else is put meanwhile. */
void tw__flat_begin(tw__flat_writer *w);
void tw__flat_field(tw__flat_writer *w, int field, int64_t value, int size); /* left out if it is 0 */
void tw__flat_field_always(tw__flat_writer *w, int field, int64_t value, int size);
void tw__flat_field_float(tw__flat_writer *w, int field, float value);
void tw__flat_field_ref(tw__flat_writer *w, int field, uint32_t ref); /* left out if it is 0 */
uint32_t tw__flat_end(tw__flat_writer *w);
void tw__flat_finish(tw__flat_writer *w, uint32_t root, const char *identifier);
void tw__flat_writer_free(tw__flat_writer *w);

#endif
