/* The thalweg command from the inside. A subcommand is a row in main.c's table and a file of its own: its verbs (`checkpoint ls`)
 * and its options are tables, from which parsing, help and the shells' completion follow (options.c, help.c). Exit codes: 0 it
 * worked, 1 it failed (the reason is on stderr), 2 it was called wrongly. */
#ifndef PROGRAM_H
#define PROGRAM_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include <thalweg.h>

enum { EXIT_WORKED = 0, EXIT_FAILED = 1, EXIT_USAGE = 2, OPTIONS_LIMIT = 40, REPEATED_LIMIT = 64 };

typedef struct command_option {
    const char *name; /* "--json"; NULL ends a table */
    char letter;      /* -j; or 0 */
    const char
        *value; /* what stands behind it: "FILE"; "[…": behind = or not at all; "FILE …": again and again; NULL: nothing does */
    const char *help;
    const char *verbs; /* those that take it, "head cat"; NULL: all */
} command_option;

/* What a verb is called with. */
typedef struct invocation {
    const struct command *command;
    const struct verb *verb;
    char **words; /* what is no option */
    int count;
    const char *given[OPTIONS_LIMIT]; /* by the option's place in the table: its value, or "" of one without; NULL: not given */
    const char *repeated[REPEATED_LIMIT]; /* the values of the option that may be given several times */
    int repeated_count;
} invocation;

typedef struct verb {
    const char *name;      /* NULL: the command has one verb, which has no name */
    const char *arguments; /* "PREFIX [NAME]" */
    int least, most;       /* how many words; most < 0: any number */
    const char *summary;
    int (*run)(const invocation *call);
} verb;

typedef struct command {
    const char *name;
    const char *arguments;                   /* of a command without verbs in a table */
    const char *summary;                     /* one line */
    const char *help;                        /* what `thalweg help NAME` says at the end */
    int (*run)(int count, char **arguments); /* a command that reads its arguments itself; without the command's name */
    const verb *verbs;                       /* ends with a NULL `run` */
    const command_option *options;
    const char *const *without_meaning; /* options of a program that this one stands for, which are taken and change nothing */
} command;

extern const command checkpoint_command, data_command, devices_command, events_command, graph_command, help_command,
    model_command, records_command, run_command, serve_command, tensorboard_command, version_command;
extern const command *const commands[];        /* ends in NULL */
const command *find_command(const char *name); /* NULL: there is none */

/* Finds the verb and the options among the arguments and runs it. (options.c) */
int run_verb(const command *which, int count, char **arguments);
bool given(const invocation *call, const char *name);
const char *value_of(const invocation *call, const char *name, const char *otherwise);
/* A whole number; false and a message: it is none, or less than `least`. */
bool number_of(const invocation *call, const char *name, int64_t least, int64_t otherwise, int64_t *number);
bool truth_of(const invocation *call, const char *name, bool *truth); /* of one that may be given as --name or --name=false */
bool real_of(const invocation *call, const char *name, double otherwise, double *number);
/* The name that is like a mistyped one, or NULL. `names` ends in NULL, and its entries begin `step` bytes after each other. */
const char *near_miss(const char *typed, const void *names, size_t step);
int name_distance(const char *a, const char *b); /* how many letters differ */
/* Says that there is no option, function … of that name, and which one is like it; gives EXIT_USAGE. */
int no_such(const command *which, const char *what, const char *typed, const void *names, size_t step);

/* "", "GZIP" or "ZLIB": how a file of records is compressed, by its first bytes. (records.c) */
const char *compression_of(const char *path);

void print_help(const command *which); /* (help.c) */

/* The command with its arguments, of which the first is the program's name; gives the exit code. */
int program(int count, char **arguments);
/* Says on stderr what was wrong with the call and how the command is used; gives EXIT_USAGE. */
int usage_error(const command *which, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Says the library's error on stderr; gives EXIT_FAILED. */
int library_error(void);

/* ---- printing (print.c) ---- */

/* Names come from files: what a terminal would take as a command is shown as \xNN. The width on the screen. */
int print_name(FILE *stream, const char *name);
int name_width(const char *name);
/* An escape sequence, if the stream is a terminal and NO_COLOR is not set; else "". */
#define BOLD "\033[1m"
#define RED "\033[1;31m"
#define NORMAL "\033[0m"
const char *colour(FILE *stream, const char *code);
void print_heading(const char *text);
void print_padded(const char *name, int width);
void print_shape(const tw_shape *shape); /* (2, 3), (2,), (None, 3), <unknown> */
void print_json(const tw_value *value);  /* as it is made: a tensor may be larger than anybody wants to wait for */
void print_json_text(const char *text);
void print_json_shape(const tw_shape *shape);
void print_count(double bytes); /* 1.2 MB */
/* A line on stderr that shows how far long work is, if stderr is a terminal; `total` 0: not known. The last call has done ==
 * total, or `total` -1. */
void show_progress(const char *what, int64_t done, int64_t total);

#endif
