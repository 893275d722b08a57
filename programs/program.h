/* The thalweg command from the inside: a subcommand is a row in main.c's table and a file of its own.
 * Exit codes: 0 it worked, 1 it failed (the reason is on stderr), 2 it was called wrongly. */
#ifndef PROGRAM_H
#define PROGRAM_H

enum { EXIT_WORKED = 0, EXIT_FAILED = 1, EXIT_USAGE = 2 };

typedef struct command {
    const char *name;
    const char *arguments;
    const char *summary;                     /* one line */
    const char *help;                        /* what `thalweg help NAME` says below the summary */
    int (*run)(int count, char **arguments); /* without the command's name */
} command;

extern const command checkpoint_command, graph_command, run_command, tensorboard_command, version_command, help_command;
extern const command *const commands[]; /* ends in NULL */

/* The command with its arguments, of which the first is the program's name; gives the exit code. */
int program(int count, char **arguments);
/* Says on stderr what was wrong with the call and how the command is used; gives EXIT_USAGE. */
int usage_error(const command *command, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Says the library's error on stderr; gives EXIT_FAILED. */
int library_error(void);

#endif
