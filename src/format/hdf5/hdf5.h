/* HDF5 files: trees of groups and arrays with attributes, as Keras writes them (hdf5.c, hdf5_reader.c, hdf5_data.c,
 * hdf5_writer.c).
 *
 * The subset of the format is read and written here rather than by libhdf5: what Keras uses is small (the first version of every
 * structure), a library that crashes on damaged files can't be used on files of others, and programs that save a model need no
 * further package. New structures (libver="latest"), which Keras never writes, are refused by name. */
#ifndef TW_HDF5_H
#define TW_HDF5_H

#include "base/base.h"
#include "tensor/tensor.h"

typedef struct tw__hdf5_attribute {
    char *name;
    tw_tensor *value; /* numbers or strings */
    bool fixed;       /* strings, when written: all of the longest one's length, as old files have them */
    bool unicode;     /* strings, when written: declared as UTF-8 */
} tw__hdf5_attribute;

/* Where an array's elements lie. */
typedef struct tw__hdf5_storage {
    uint8_t *type, *layout, *filters; /* the messages of its header */
    size_t type_size, layout_size, filters_size;
} tw__hdf5_storage;

typedef struct tw__hdf5_node {
    char *name;
    struct tw__hdf5_node *parent, **children;
    size_t child_count, child_capacity;
    tw__map by_name; /* of the children, when they are many */
    tw__hdf5_attribute *attributes;
    size_t attribute_count, attribute_capacity;
    bool is_array;
    tw_shape shape;           /* of an array */
    tw_dtype dtype;           /* TW_DTYPE_NONE: of a kind that can't be read */
    tw_tensor *value;         /* to be written; when reading: NULL before tw__hdf5_value */
    tw__hdf5_storage storage; /* when reading */
    uint64_t address;         /* of its header, when writing */
} tw__hdf5_node;

/* ---- trees (hdf5.c) ---- */
tw__hdf5_node *tw__hdf5_tree(void);      /* an empty root */
void tw__hdf5_free(tw__hdf5_node *root); /* NULL is fine */
/* The group at a path below `node` ("a/b"; "" is the node itself), made if it is not there. */
tw__hdf5_node *tw__hdf5_group(tw__hdf5_node *node, const char *path);
/* Puts an array at a path below `node`; what is there is replaced. The value is retained. */
tw_status tw__hdf5_put(tw__hdf5_node *node, const char *path, tw_tensor *value);
tw__hdf5_node *tw__hdf5_find(const tw__hdf5_node *node, const char *path); /* NULL: not there, no error */
tw__hdf5_node *tw__hdf5_child(const tw__hdf5_node *node, const char *name, size_t size);
tw__hdf5_node *tw__hdf5_add(tw__hdf5_node *parent, const char *name, size_t size);
tw__hdf5_attribute *tw__hdf5_attribute_add(tw__hdf5_node *node, const char *name, size_t name_size,
                                           tw_tensor *value);                          /* takes the value */
const tw_tensor *tw__hdf5_attribute_find(const tw__hdf5_node *node, const char *name); /* NULL: not there, no error */
tw_status tw__hdf5_set_text(tw__hdf5_node *node, const char *name, const char *text, bool unicode); /* a single string */
/* A list of strings as Keras stores it: in parts NAME0, NAME1, … where one attribute would be too large. */
tw_status tw__hdf5_set_texts(tw__hdf5_node *node, const char *name, const char *const *texts, size_t count);
/* The same read: a list for tw__free with the strings in the same block; empty if there is none. `file` stands in errors. */
char **tw__hdf5_texts(const tw__hdf5_node *node, const char *name, const char *file, size_t *count);
char *tw__hdf5_path(const tw__hdf5_node *node); /* "/model_weights/dense" */

/* ---- files ---- */
typedef struct tw__hdf5 {
    tw__file_reader file;
    uint64_t base, size;  /* where the HDF5 bytes are in the file */
    uint64_t budget;      /* bytes that reading the structure may still take: nonsense may not make it long */
    tw__map heaps;        /* collections of strings that were read, by address */
    tw__pointer_map seen; /* addresses of objects */
    tw__hdf5_node *root;
} tw__hdf5;
tw__hdf5 *tw__hdf5_open(const char *path);
/* Bytes [offset, offset + size) of a file, as a member of an archive. */
tw__hdf5 *tw__hdf5_open_at(const char *path, uint64_t offset, uint64_t size);
void tw__hdf5_close(tw__hdf5 *file); /* NULL is fine */
bool tw__hdf5_is(const char *path);  /* whether the file begins as one; sets no error */
/* How many elements all its arrays may have together: as their shapes say, but no more than packed bytes of the file's size can
 * stand for. */
int64_t tw__hdf5_elements(const tw__hdf5 *file);
/* The elements of an array; a new reference. */
tw_tensor *tw__hdf5_value(tw__hdf5 *file, const tw__hdf5_node *node);

tw_status tw__hdf5_write(tw__hdf5_node *root, const char *path); /* atomically */
/* The same for a member of an archive: the bytes are handed out piece by piece. `name` stands in errors. */
typedef tw_status (*tw__hdf5_sink)(void *context, const void *data, size_t size);
tw_status tw__hdf5_emit(tw__hdf5_node *root, const char *name, tw__hdf5_sink sink, void *context);

/* ---- inside the reader (hdf5_data.c) ---- */
#define TW_HDF5_NONE UINT64_MAX /* an address that leads nowhere */
tw_status tw__hdf5_fail(const tw__hdf5 *file, const char *what);
/* A piece of the structure, for tw__free. */
uint8_t *tw__hdf5_block(tw__hdf5 *file, uint64_t address, uint64_t size);
tw_status tw__hdf5_shape(const tw__hdf5 *file, const uint8_t *data, size_t size, tw_shape *shape, size_t *used);
/* What an array of that type is; TW_DTYPE_NONE: a type that can't be read. */
tw_status tw__hdf5_dtype(const tw__hdf5 *file, const uint8_t *type, size_t size, tw_dtype *dtype);
/* The value of an attribute from its stored bytes. */
tw_tensor *tw__hdf5_decode(tw__hdf5 *file, const uint8_t *type, size_t type_size, const tw_shape *shape, const uint8_t *data,
                           size_t size);

#endif
