/* Datasets in files: what saving and loading share (saved.c). */
#ifndef TW_DATA_SAVED_H
#define TW_DATA_SAVED_H

#include "codec/message.h"
#include "data/data.h"
#include "format/stream.h"

#define TW_SAVED_SPEC "dataset_spec.pb"

typedef struct tw__saved_dataset {
    tw__dataset base;
    char *path; /* of one shard: its directory */
    tw__compression compression;
    tw__data_function f;
    bool shards;     /* f tells the shard of an element */
    tw_tensor *spec; /* while saving: the structure's bytes; or NULL */
    int64_t count;   /* of elements, as the metadata say */
} tw__saved_dataset;

typedef struct tw__saved_shard {
    int64_t number;
    tw__record_writer *writer;
} tw__saved_shard;

typedef struct tw__saved_cursor {
    tw__cursor base;
    uint64_t run;
    tw__file_writer *alive; /* while a run is not whole */
    tw__saved_shard *open;
    size_t count, capacity;
    int64_t elements;
    tw__cursor *inner;         /* while loading: over what the function made */
    tw__record_reader records; /* of a shard */
    int64_t file;
    bool reading;
} tw__saved_cursor;

void tw__saved_destroy(void *self);
void tw__saved_stop(tw__cursor *cursor);
void tw__saved_run_name(const tw__saved_cursor *c, char name[24]);
void tw__saved_remove_run(const char *path, const char *name);
/* The metadata's run, for tw__free. */
tw_status tw__saved_read_metadata(tw__saved_dataset *self, char **run);
/* Of the op: the path, the compression and the function. */
tw_status tw__saved_read_settings(tw__kernel *kernel, tw__saved_dataset *self, int path, const char *function, const char *types);

#endif
