/* What `thalweg tensorboard` shows: the summaries of event files under a directory. See board_events.c for how they are read,
 * board_answers.c for what is answered, board_server.c for who asks. */
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

/* Of very many points every stride-th is kept, and the last one. */
typedef struct board_tag {
    char *name, *plugin, *description;
    board_point *points;
    size_t count, capacity;
    uint64_t seen, stride;
    bool loose; /* the last point is kept because it is the last one */
} board_tag;

typedef struct board_file {
    char *path;
    int64_t place;         /* of the next record */
    int64_t damages, lost; /* places where records were damaged, and the bytes that were passed over there */
    int64_t searching;     /* the place at which the search for the next record goes on; -1: it is none */
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
    bool follows; /* symbolic links that lead out of the directory */
    board_run *runs;
    size_t run_count, run_capacity;
    char **profiles; /* files with traces, below the directory */
    size_t profile_count, profile_capacity;
} board;

/* Reads what is new: files, and records at the end of files. False: no memory. */
bool board_refresh(board *b);
void board_free(board *b);
/* A file below the directory, for reading: a regular one that no symbolic link leads out to. -1: there is none. */
int board_open(const board *b, const char *path);
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

/* ---- JSON (board_json.c) ---- */
void board_put_text(FILE *out, const void *data, size_t size); /* what is no UTF-8 becomes U+FFFD */
void board_put_string(FILE *out, const char *text);
void board_put_number(FILE *out, double value); /* "NaN", "Infinity" and "-Infinity" as strings */
/* How many bytes of text a UTF-8 sequence has; 0: it is none. */
size_t board_utf8(const uint8_t *text, size_t size);

/* ---- answers (board_answers.c) ---- */
typedef struct board_answer {
    const char *type; /* NULL: there is no such thing */
    FILE *body;
} board_answer;
/* Writes the answer to a request for a path with a query into `answer->body`. */
void board_respond(board *b, const char *path, const char *query, board_answer *answer);
bool board_needs_files(const char *path); /* the answer tells of the event files */

/* ---- requests (board_http.c) ---- */
typedef struct board_hosts {
    const char *const *names; /* besides localhost and numeric addresses */
    size_t count;
    bool numeric; /* any numeric address is fine: others may reach the server */
} board_hosts;
enum { BOARD_REQUEST_LIMIT = 1 << 14 };
/* The whole answer to the bytes of a request that ended, for free(); *size. NULL: no memory. `refresh` is called before event
 * files are told of. */
char *board_answer_request(board *b, char *request, const board_hosts *hosts, void (*refresh)(void *context), void *context,
                           size_t *size);
char *board_refuse(int code, size_t *size); /* an answer that refuses a request: 403, 408, 431, … */

/* ---- the server (board_server.c) ---- */
typedef struct board_service {
    board b;
    board_hosts hosts;
    double reload; /* seconds after which files are read again */
} board_service;
/* Answers until *stopped. */
void board_serve(int listener, board_service *service, const volatile int *stopped);

extern const char board_page[], board_script[], board_style[]; /* board_page.html, .js, .css */

#endif
