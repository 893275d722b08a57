/* Files to tensors and back: tables, tensor bundles (checkpoints), the checkpoint state file, records,
 * NumPy's and IDX files.
 *
 * Whatever the bytes are, a reader gives the right value or an error that names the file; sizes are checked against the
 * file before memory is asked for. */
#ifndef TW_FORMAT_H
#define TW_FORMAT_H

#include <glob.h>

#include "base/base.h"
#include "tensor/tensor.h"

/* ---- sorted string tables: writing (table_writer.c) ---- */
typedef struct tw__table_writer tw__table_writer;
tw__table_writer *tw__table_create(tw__file_writer *file); /* the file stays the caller's */
tw_status tw__table_add(tw__table_writer *writer, const void *key, size_t key_size, const void *value,
                        size_t value_size);           /* ascending */
tw_status tw__table_finish(tw__table_writer *writer); /* writes what is left; ends the writer, also when it fails */
void tw__table_abandon(tw__table_writer *writer);     /* NULL is fine */

/* ---- and reading (table_reader.c) ---- */
typedef struct tw__table {
    char *path;
    uint8_t *data; /* the whole file */
    size_t size;
    uint64_t index_offset, index_size;
} tw__table;
tw_status tw__table_open(tw__table *table, const char *path);
void tw__table_close(tw__table *table);

typedef struct tw__table_block {
    const uint8_t *data;
    size_t entries_end;
    size_t at;
    uint8_t *owned; /* decompressed bytes */
} tw__table_block;

/* Walks the entries in order. `value` is good until the next step. */
typedef struct tw__table_cursor {
    const tw__table *table;
    tw__table_block index, block;
    uint64_t blocks_end; /* in the file, of the blocks so far */
    tw__text index_key, key, previous;
    const uint8_t *value;
    size_t value_size;
    bool started;
    tw_status status; /* why the walk ended: TW_OK at the end of the table */
} tw__table_cursor;
void tw__table_begin(tw__table_cursor *cursor, const tw__table *table);
bool tw__table_next(tw__table_cursor *cursor);
void tw__table_end(tw__table_cursor *cursor);
/* Goes to the first entry whose key is not less than the given one; false if there is none, or at an error. */
bool tw__table_seek(tw__table_cursor *cursor, const void *key, size_t key_size);

/* ---- tensor bundles: writing (bundle_writer.c, bundle_commit.c) ---- */
typedef struct tw__bundle_writer tw__bundle_writer;
/* The directory is made if it is not there. Nothing is seen at the prefix before finish. */
tw__bundle_writer *tw__bundle_create(const char *prefix);
/* Keys in any order; the bytes are stored in the order of the calls. */
tw_status tw__bundle_add(tw__bundle_writer *writer, const char *key, const tw_tensor *tensor);
tw_status tw__bundle_finish(tw__bundle_writer *writer);                        /* ends the writer, also when it fails */
tw_status tw__bundle_finish_as(tw__bundle_writer *writer, const char *prefix); /* under another name in the same directory */
void tw__bundle_abandon(tw__bundle_writer *writer);                            /* NULL is fine */
static inline void tw__bundle_writer_end(tw__bundle_writer **writer)
{
    tw__bundle_abandon(*writer);
}

/* Puts the data and, made from it by `make_index(context, shards)`, the index in place of what is at the prefix. */
typedef tw__file_writer *(*tw__make_index)(void *context, int shards);
tw_status tw__bundle_commit(const char *prefix, tw__file_writer *data, tw__make_index make_index, void *context);

/* ---- and reading (bundle_index.c, bundle_reader.c, bundle_slices.c) ---- */
typedef struct tw__bundle_entry {
    char *key; /* with a zero byte behind it */
    size_t key_size;
    tw_dtype dtype; /* may be one that can't be read */
    tw_shape shape; /* rank -1: more than TW_MAX_RANK dimensions */
    int32_t shard;
    int64_t offset, size; /* of the stored bytes; a partitioned tensor has none itself */
    uint32_t crc;         /* masked */
    uint8_t *slices;      /* the stored fields 7, one behind the other; NULL: not partitioned */
    size_t slices_size;
} tw__bundle_entry;

typedef struct tw__bundle_reader tw__bundle_reader;
tw__bundle_reader *tw__bundle_open(const char *prefix);
void tw__bundle_close(tw__bundle_reader *reader); /* NULL is fine */
static inline void tw__bundle_reader_end(tw__bundle_reader **reader)
{
    tw__bundle_close(*reader);
}
int64_t tw__bundle_count(const tw__bundle_reader *reader);
const tw__bundle_entry *tw__bundle_entry_at(const tw__bundle_reader *reader, int64_t index); /* by key, ascending */
const tw__bundle_entry *tw__bundle_find(const tw__bundle_reader *reader, const char *key);   /* NULL: not there, no error */
const tw__bundle_entry *tw__bundle_find_bytes(const tw__bundle_reader *reader, const void *key, size_t key_size);
tw_tensor *tw__bundle_read(tw__bundle_reader *reader, const char *key);
/* Into memory that is there already; not for strings. */
tw_status tw__bundle_read_into(tw__bundle_reader *reader, const char *key, tw_dtype dtype, const tw_shape *shape, void *data);
const char *tw__bundle_dtype_name(tw_dtype dtype); /* as TensorFlow's C++ errors name it: "float", "half" */
/* The number of shards that the index at the prefix names; 0: there is no index; -1: it can't be read. Sets no error. */
int tw__bundle_shards(const char *prefix);
char *tw__bundle_shard_path(const char *prefix, int shard, int shards);

/* ---- the `checkpoint` file (checkpoint_state.c) ---- */
typedef struct tw__checkpoint_state {
    char *model_checkpoint_path; /* NULL: not given */
    char **all_paths;
    size_t path_count;
    double *all_timestamps;
    size_t timestamp_count;
    double last_preserved_timestamp;
    bool has_last_preserved;
} tw__checkpoint_state;
tw_status tw__checkpoint_state_read(const char *path, tw__checkpoint_state *state);
tw_status tw__checkpoint_state_write(const char *path, const tw__checkpoint_state *state);
/* `name` stands in errors. */
tw_status tw__checkpoint_state_parse(const char *text, size_t size, const char *name, tw__checkpoint_state *state);
void tw__checkpoint_state_print(tw__text *text, const tw__checkpoint_state *state);
void tw__checkpoint_state_free(tw__checkpoint_state *state);

/* ---- records: TFRecord files (record.c, record_reader.c, record_zlib.c) ---- */
/* How the records of a file are compressed: all of them as one stream. */
typedef enum tw__compression { TW_COMPRESSION_NONE, TW_COMPRESSION_ZLIB, TW_COMPRESSION_GZIP } tw__compression;
/* Of "", "ZLIB", "GZIP" (NULL: ""); false: there is no such type, no error is set. */
bool tw__compression_find(const char *name, tw__compression *compression);
/* zlib's numbers; tw__deflate_options_default sets TensorFlow's. */
typedef struct tw__deflate_options {
    tw__compression compression;
    int level, window_bits, method, mem_level, strategy;
    int flush_mode; /* of the pieces that are compressed before a flush */
} tw__deflate_options;
tw__deflate_options tw__deflate_options_default(tw__compression compression);

typedef struct tw__record_writer tw__record_writer;
tw__record_writer *tw__record_create(const char *path, bool exclusive); /* exclusive: ALREADY_EXISTS if there is such a file */
tw__record_writer *tw__record_create_packed(const char *path,
                                            const tw__deflate_options *options);    /* compressed, or not if they say so */
tw_status tw__record_add(tw__record_writer *writer, const void *data, size_t size); /* waits in memory for the next flush */
tw_status tw__record_relieve(tw__record_writer *writer); /* writes what waits if it is much; compressed bytes may still wait */
tw_status tw__record_flush(tw__record_writer *writer);
size_t tw__record_waiting(const tw__record_writer *writer); /* bytes */
const char *tw__record_path(const tw__record_writer *writer);
tw_status tw__record_finish(tw__record_writer *writer); /* flushes; ends the writer, also when it fails */
void tw__record_abandon(tw__record_writer *writer);     /* without what waits; NULL is fine */

typedef struct tw__record_reader {
    tw__file_reader file;
    int64_t offset;      /* of the next record, in the stream of records (not of compressed bytes) */
    const uint8_t *data; /* the record, good until the next step */
    size_t size;
    uint8_t *memory; /* what was read ahead */
    size_t capacity, begin, end;
    int64_t place;                 /* in the file: what was not fetched yet */
    struct tw__inflater *inflater; /* NULL: the file is not compressed */
    tw_status status;              /* why the reading ended: TW_OK at the end of the file */
} tw__record_reader;
tw_status tw__record_open(tw__record_reader *reader, const char *path);
tw_status tw__record_open_packed(tw__record_reader *reader, const char *path, tw__compression compression);
bool tw__record_next(tw__record_reader *reader);
/* Goes on at an offset that a reader of the same file had. DATA_LOSS: the file is shorter. */
tw_status tw__record_seek(tw__record_reader *reader, int64_t offset);
void tw__record_close(tw__record_reader *reader);

/* ---- comma-separated values (csv.c) ---- */
/* The number that a field says, with spaces around it; dtype is int32, int64, float32 or float64. False: it is none. */
bool tw__csv_number(const char *text, tw_dtype dtype, void *out);

/* ---- NumPy's .npy and .npz (npy.c, npz.c), IDX (idx.c) ---- */
tw_tensor *tw__npy_read(const char *path);
/* `name` stands in errors. */
tw_tensor *tw__npy_parse(const void *data, size_t size, const char *name);
tw_tensor *tw__npz_read(const char *path, const char *member); /* "x_train", without .npy */
/* ---- zip archives (npz.c, zip_writer.c) ---- */
uint8_t *tw__zip_read(const char *path, const char *name, size_t *size); /* a member, for tw__free */
tw_status tw__zip_find(const char *path, const char *name, uint64_t *offset,
                       uint64_t *size); /* where a stored member's bytes are; they are checked */
/* Tells the names of the members in order, until one gives an error. */
tw_status tw__zip_each(const char *path, tw_status (*visit)(void *context, const char *name), void *context);
typedef struct tw__zip tw__zip;
tw__zip *tw__zip_create(const char *path);
tw_status tw__zip_member(tw__zip *zip, const char *name);          /* begins a member */
tw_status tw__zip_write(void *zip, const void *data, size_t size); /* more of its bytes */
tw_status tw__zip_commit(tw__zip *zip, tw_status status); /* ends it; without a file if `status` is an error, which it gives */

tw_tensor *tw__idx_read(const char *path); /* as it is or compressed by gzip */

/* ---- names of files (gfile.c) ---- */
/* glob(3), but names that a pattern without a folder finds begin with ./, as TensorFlow's do. */
int tw__glob(const char *pattern, int flags, glob_t *found);

#endif
