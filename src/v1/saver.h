/* compat.v1.train.Saver from the inside; see saver.c. */
#ifndef TW_V1_SAVER_H
#define TW_V1_SAVER_H

#include "saving/saving.h"
#include "session/session.h"
#include "v1/v1.h"

typedef struct tw__kept {
    char *path;
    double time;
} tw__kept;

struct tw_v1_saver {
    tw_object object;
    char **names;
    tw_variable **variables; /* by name */
    int64_t count;
    int64_t max_to_keep;     /* 0: all, and none is remembered */
    double hours, next_time; /* one checkpoint is kept for good from that time on */
    tw__graph *graph;        /* NULL: eager */
    char *scope;             /* "save" */
    bool sharded;
    tw_tensor *filename, *saved;
    tw_operation *restore;
    tw__kept *last;
    size_t last_count, last_capacity;
};

/* Adds the nodes to the saver's graph (saver_nodes.c). */
tw_status tw__saver_add_nodes(tw_v1_saver *saver, const char *name, const char *filename);
void tw__saver_forget(tw_v1_saver *saver); /* which checkpoints it wrote (saver_kept.c) */

#endif
