/* An open bundle, for the files that read it. */
#ifndef TW_BUNDLE_H
#define TW_BUNDLE_H

#include "format/format.h"

typedef struct tw__bundle_shard {
    int32_t number;
    tw__file_reader file; /* path NULL: could not be opened */
} tw__bundle_shard;

struct tw__bundle_reader {
    char *prefix;
    bool big_endian;
    int32_t shard_count;
    tw__bundle_entry *entries;
    size_t count, capacity;
    size_t first; /* entries before it are parts of partitioned tensors */
    tw__bundle_shard *shards;
    size_t held, held_capacity;
};

/* The shard's file, which holds the entry's bytes: one that is kept open, or `*own`, opened, which the caller closes. */
tw_status tw__bundle_find_shard(tw__bundle_reader *reader, const tw__bundle_entry *entry, tw__file_reader *own,
                                const tw__file_reader **file);
/* The bytes of one entry that is not partitioned, checked and in this machine's byte order. */
tw_status tw__bundle_read_bytes(tw__bundle_reader *reader, const tw__bundle_entry *entry, void *data);
/* The size of the stored bytes as dtype and shape say; an error if they are not in the shard. */
tw_status tw__bundle_check_entry(tw__bundle_reader *reader, const tw__bundle_entry *entry, size_t *size);
tw_status tw__bundle_read_slices(tw__bundle_reader *reader, const tw__bundle_entry *entry, void *data); /* NULL: only checks */

/* ---- parts of tensors (save_slices.c, bundle_slices.c) ---- */
typedef struct tw__slice {
    tw_shape whole, part;
    int64_t start[TW_MAX_RANK], length[TW_MAX_RANK]; /* length -1: the full extent */
} tw__slice;
tw_status tw__slice_parse(const char *text, tw__slice *slice);
tw_tensor *tw__slice_cut(const char *name, const tw_tensor *whole, const tw__slice *slice); /* the tensor's name */
/* The key of the part's entry. */
void tw__slice_key(tw__text *key, const char *name, size_t name_size, const tw__slice *slice);
/* Adds a part of a tensor: others of the same one may follow. */
tw_status tw__bundle_add_slice(tw__bundle_writer *writer, const char *name, const tw_tensor *tensor, const tw__slice *slice);

#endif
