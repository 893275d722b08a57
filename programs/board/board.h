/* What `thalweg tensorboard` shows: the summaries of event files under a directory.
 *
 *     store.c    runs, tags and their points in bounded memory
 *     events.c   from the bytes of an event to points, new and old style
 *     files.c    finding event files, and reading them as they grow
 *     answers.c  from a request to an answer; a file per plugin holds its routes
 *     http.c     requests and the headers of answers */
#ifndef BOARD_H
#define BOARD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <thalweg.h>

#include "http.h"

/* One number of a curve. */
typedef struct board_point {
    double wall_time;
    int64_t step;
    double value;
} board_point;

/* Consecutive points of a long curve: exact, nothing is left out. */
typedef struct board_bucket {
    int64_t first_step, last_step;
    double first_time, last_time, first, last;
    double low, high, sum;   /* of the finite ones */
    uint64_t finite, others; /* how many */
    int64_t offset;          /* of the first one's record */
    uint32_t file;
} board_bucket;

/* Where a tensor, a picture, a graph … stands: it is read when it is asked for. */
typedef struct board_place {
    double wall_time;
    int64_t step, offset; /* of the record */
    uint32_t file, value; /* which of the event's values; or one of the following */
} board_place;
enum { BOARD_GRAPH = 0x7ffffff0, BOARD_META_GRAPH, BOARD_RUN_METADATA };

typedef struct board_tag {
    char *name, *plugin, *title, *description;
    size_t name_size;
    uint8_t *content; /* the plugin's own data */
    size_t content_size;
    board_point *points; /* of a curve, while there are few */
    size_t count, capacity;
    board_bucket *buckets; /* later: every one but the last holds `stride` points */
    size_t bucket_count, bucket_capacity;
    board_place *places; /* of what is no curve: every stride-th, and the last */
    size_t place_count, place_capacity;
    uint64_t seen, stride;
    board_point last;
    bool loose;       /* the last place is kept because it is the last one */
    int64_t samples;  /* the largest number of strings in a value */
    uint64_t changed; /* the generation of the last change */
} board_tag;

typedef struct board_file {
    char *path;
    int64_t place;         /* of the next record */
    int64_t size;          /* when it was looked at */
    int64_t damages, lost; /* places where records were damaged, and the bytes that were passed over there */
    int64_t searching;     /* the place at which the search for the next record goes on; -1: it is none */
} board_file;

typedef struct board_run {
    char *name; /* the directory below the one that is shown; "." is that one itself */
    board_file *files;
    size_t file_count, file_capacity;
    board_tag *tags;
    size_t tag_count, tag_capacity;
    uint32_t *index; /* of tags by their hash; 0: free */
    size_t index_size;
    size_t hint;       /* the tag that may be next: they often come in the same order */
    double first_time; /* of its first event; infinity: there was none yet */
} board_run;

typedef struct board {
    const char *directory;
    bool follows; /* symbolic links that lead out of the directory */
    const char *title;
    board_run *runs;
    size_t run_count, run_capacity;
    char **profiles; /* files with traces, below the directory */
    size_t profile_count, profile_capacity;
    uint64_t generation; /* counts readings that changed something */
    size_t memory;       /* bytes of points */
    size_t bucket_limit; /* of a tag; it shrinks when memory is short. 0: the usual */
    bool unread;         /* reading has to go on */
    uint64_t instance;   /* tells servers apart */
} board;

/* ---- the store (store.c) ---- */
void board_free(board *b);
board_run *board_find_run(const board *b, const char *name);
board_run *board_run_for(board *b, const char *name); /* NULL: no memory */
/* NULL as plugin: any. */
const board_tag *board_find_tag(const board_run *run, const char *name, const char *plugin);
bool board_is(const board_tag *tag, const char *plugin);
board_tag *board_tag_for(board_run *run, const char *name, size_t size, bool *made);
bool board_add_point(board *b, board_tag *tag, board_point point, uint32_t file, int64_t offset);
bool board_add_place(board *b, board_tag *tag, board_place place);
void board_bucket_add(board_bucket *bucket, const board_bucket *next);
board_bucket board_bucket_of(const board_point *point, uint32_t file, int64_t offset);
char *board_copy(const void *data, size_t size);
bool board_grow(void **items, size_t *capacity, size_t count, size_t size);
#define BOARD_GROW(list, capacity, count) board_grow((void **)&(list), &(capacity), (count), sizeof *(list))

/* ---- files (files.c) ---- */
/* Reads what is new: files, and records at the end of files, for at most so many seconds. False: no memory. */
bool board_refresh(board *b, double seconds);
/* A file below the directory, for reading: a regular one that no symbolic link leads out to. -1: there is none. */
int board_open(const board *b, const char *path);
/* Its whole bytes, for free(), with a zero behind them; NULL: none. */
uint8_t *board_read_whole(const board *b, const char *path, size_t *size);

/* ---- protocol buffers (proto.c) ---- */
typedef struct board_field {
    uint32_t number;
    uint64_t value;      /* of numbers */
    const uint8_t *data; /* of bytes; NULL: a number */
    size_t size;
} board_field;
/* The next field of a message at *at; false at its end, and at bytes that make no sense. */
bool board_next_field(const uint8_t **at, const uint8_t *end, board_field *field);
/* The last field of a number in a message; false: there is none. */
bool board_get_field(const uint8_t *data, size_t size, uint32_t number, board_field *out);
bool board_varint(const uint8_t **at, const uint8_t *end, uint64_t *value);
double board_as_double(uint64_t bits);
double board_as_float(uint64_t bits);

/* ---- events (events.c) ---- */
/* Adds what an event holds. False: no memory. */
bool board_add_event(board *b, board_run *run, uint32_t file, int64_t offset, const uint8_t *data, size_t size);
/* A value that was read again from its file. */
typedef struct board_value {
    uint8_t *memory; /* for free() */
    enum { BOARD_NOTHING, BOARD_BYTES, BOARD_TENSOR, BOARD_IMAGE, BOARD_AUDIO, BOARD_HISTO } kind;
    board_field body;
    tw_tensor *tensor; /* of board_tensor */
} board_value;
bool board_fetch(const board *b, const board_run *run, const board_place *place, board_value *value);
void board_value_free(board_value *value);
/* Its tensor, which belongs to the value; NULL: it has none. */
tw_tensor *board_tensor(board_value *value);
/* String `index` of a tensor, or the parts of an old picture or sound in the same order. */
bool board_string(const board_value *value, int64_t index, board_field *out);
int64_t board_strings(const board_value *value);
/* Calls `each` for points of a tag between two steps, as they stand in the files; false: it is too much. */
bool board_scan(const board *b, const board_run *run, const board_tag *tag, size_t from, size_t to,
                void (*each)(void *context, const board_point *point), void *context);

/* ---- JSON (json.c) ---- */
void board_put_text(FILE *out, const void *data, size_t size); /* what is no UTF-8 becomes U+FFFD */
void board_put_string(FILE *out, const char *text);
void board_put_number(FILE *out, double value); /* "NaN", "Infinity" and "-Infinity" as strings */
/* How many bytes of text a UTF-8 sequence has; 0: it is none. */
size_t board_utf8(const uint8_t *text, size_t size);
/* A JSON text, read in place: the value of a member, the next element of an array. NULL: there is none. */
const char *board_json_member(const char *json, const char *key);
const char *board_json_element(const char *json, size_t index);
bool board_json_string(const char *json, char *out, size_t room); /* false: it is no string, or too long */
bool board_json_number(const char *json, double *out);
bool board_json_valid(const char *json);

/* ---- markdown and patterns (markdown.c, pattern.c) ---- */
/* Markdown as HTML that holds nothing but harmless elements. */
void board_put_markdown(FILE *out, const char *text, size_t size);
void board_put_escaped(FILE *out, const char *text, size_t size);
/* As an JSON string. */
void board_put_markdown_string(FILE *out, const char *text, size_t size);
/* Whether a regular expression fits the beginning of a text: 1, 0; -1: it is none, or takes too long. */
int board_matches(const char *pattern, const char *text);

/* ---- answers (answers.c) ---- */
typedef struct board_request {
    const char *path, *query, *body, *prefix;
    bool post;
} board_request;
typedef struct board_answer {
    int code;
    const char *type;
    FILE *body;
} board_answer;
enum { BOARD_NAME_LIMIT = 4096 };
/* Writes the answer to a request into `answer->body`. */
void board_respond(board *b, const board_request *request, board_answer *answer);
bool board_needs_files(const char *path); /* the answer tells of the event files */
bool board_takes_body(const char *path);
/* Value number `index` of a key, decoded: of a query, or of a form. False: it is not there, or too long. */
bool board_parameter(const char *query, const char *key, size_t index, char *out, size_t room);
double board_parameter_number(const char *query, const char *key, double otherwise);
/* A number of things; -1: it is none, or negative. */
int64_t board_parameter_count(const char *query, const char *key, int64_t otherwise);
void board_refused(board_answer *answer, int code, const char *text);

/* A route: /data/plugin/PLUGIN/WHAT. */
typedef struct board_route {
    const char *plugin, *what;
    void (*answer)(board *b, const board_request *request, board_answer *answer);
    const char *type; /* of a good answer */
} board_route;
extern const board_route board_scalar_routes[], board_media_routes[], board_histogram_routes[], board_text_routes[],
    board_graph_routes[], board_curve_routes[], board_hparam_routes[], board_series_routes[], board_projector_routes[],
    board_profile_routes[];
/* {run: {tag: {"displayName", "description"[, "samples"]}}} */
void board_put_tags(const board *b, const char *plugin, bool samples, FILE *out);
/* The run and the tag of a request; false and a refusal with this code: there are none such. */
bool board_asked(const board *b, const board_request *request, const char *plugin, int code, board_answer *answer,
                 const board_run **run, const board_tag **tag);
void board_put_points(const board_tag *tag, FILE *out); /* [[wall_time, step, value], …] */
/* Points of a curve as TensorBoard gives them: every stride-th, and the last. */
size_t board_point_count(const board_tag *tag);
board_point board_point_at(const board_tag *tag, size_t index);
void board_put_blob_key(FILE *out, const char *plugin, const char *run, const char *tag, int64_t step, int64_t index);
void board_put_blob(board *b, const char *key, board_answer *answer, bool sound);
void board_put_bins(FILE *out, board_value *value, bool named);
/* A message in protocol buffers' text format (pbtxt.c). */
void board_put_graph_text(FILE *out, const uint8_t *data, size_t size, int64_t limit, const char *large);
void board_put_metadata_text(FILE *out, const uint8_t *data, size_t size);

/* ---- requests (http.c): what http_serve is given ---- */
enum { BOARD_REQUEST_LIMIT = HTTP_HEADERS_LIMIT, BOARD_BODY_LIMIT = 1 << 20 };
typedef struct board_service {
    board b;
    const char *prefix;       /* of all addresses: "" or "/…" */
    double reload, refreshed; /* seconds after which files are read again; when they were */
    char location[320];
} board_service;
extern const char board_headers[];
void board_answer_request(void *service, const http_request *request, http_answer *answer);
void board_refuse(void *service, int code, http_answer *answer);
bool board_between(void *service);

#endif
