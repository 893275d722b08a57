/* What `thalweg tensorboard` shows: the summaries of event files under a directory. See board_events.c for how they are read, board_answers.c for
 * what is answered, board_server.c for who asks. */
#ifndef BOARD_H
#define BOARD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* One summary: a number, or the bytes of a TensorProto. */
typedef struct board_point {
    double wall_time, value;
    int64_t step;
    uint8_t *bytes; /* NULL: the number */
    size_t size;
} board_point;

typedef struct board_tag {
    char *name, *plugin, *description;
    board_point *points;
    size_t count, capacity;
} board_tag;

typedef struct board_file {
    char *path;
    int64_t place; /* of the next record */
} board_file;

typedef struct board_run {
    char *name; /* the directory below the one that is shown; "." is that one itself */
    board_file *files;
    size_t file_count, file_capacity;
    board_tag *tags;
    size_t tag_count, tag_capacity;
    uint8_t *graph; /* the last GraphDef; or NULL */
    size_t graph_size;
} board_run;

typedef struct board {
    const char *directory;
    board_run *runs;
    size_t run_count, run_capacity;
    char **profiles; /* files with traces, below the directory */
    size_t profile_count, profile_capacity;
} board;

/* Reads what is new: files, and records at the end of files. False: no memory. */
bool board_refresh(board *b);
void board_free(board *b);
const board_run *board_find_run(const board *b, const char *name);
const board_tag *board_find_tag(const board_run *run, const char *name, const char *plugin);

/* ---- protocol buffers ---- */
typedef struct board_field {
    uint32_t number;
    uint64_t value;      /* of numbers */
    const uint8_t *data; /* of bytes; NULL: a number */
    size_t size;
} board_field;
/* The next field of a message at *at; false at its end, and at bytes that make no sense. */
bool board_next_field(const uint8_t **at, const uint8_t *end, board_field *field);
/* Element `index` of a TensorProto of strings. */
bool board_string(const board_point *point, int64_t index, board_field *out);
/* The elements of a TensorProto of doubles; how many there are. */
size_t board_doubles(const board_point *point, const uint8_t **data);

/* ---- answers ---- */
typedef struct board_answer {
    const char *type; /* NULL: there is no such thing */
    FILE *body;
} board_answer;
/* Writes the answer to a request for a path with a query into `answer->body`. */
void board_respond(board *b, const char *path, const char *query, board_answer *answer);

extern const char board_page[]; /* board_page.html */

#endif
