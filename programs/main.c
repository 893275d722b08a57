/* The thalweg command: finds the subcommand and runs it. start.c calls it, and so does the Python extension, for packages
 * that have no program of their own. */
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include <thalweg.h>

#include "program.h"

const command *const commands[] = { &checkpoint_command, &graph_command, &run_command, &tensorboard_command,
                                    &version_command,    &help_command,  NULL };

int usage_error(const command *which, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    fputs("thalweg: ", stderr);
    vfprintf(stderr, format, arguments);
    va_end(arguments);
    if (which)
        fprintf(stderr, "\nusage: thalweg %s %s\n", which->name, which->arguments);
    else
        fputs("\nTry 'thalweg help'.\n", stderr);
    return EXIT_USAGE;
}

int library_error(void)
{
    fputs("thalweg: ", stderr);
    tw_report(stderr);
    return EXIT_FAILED;
}

static const command *find(const char *name)
{
    if (strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0)
        return &help_command;
    if (strcmp(name, "--version") == 0 || strcmp(name, "-V") == 0)
        return &version_command;
    for (int i = 0; commands[i]; i++) {
        if (strcmp(commands[i]->name, name) == 0)
            return commands[i];
    }
    return NULL;
}

/* How many letters must be changed, added or left out to get from one name to the other; names beyond the limit are far away. */
static int distance(const char *a, const char *b)
{
    enum { LIMIT = 31 };
    int row[LIMIT + 1], height = (int)strlen(a), width = (int)strlen(b);
    if (height > LIMIT || width > LIMIT)
        return LIMIT;
    for (int j = 0; j <= width; j++)
        row[j] = j;
    for (int i = 1; i <= height; i++) {
        int corner = row[0];
        row[0] = i;
        for (int j = 1; j <= width; j++) {
            int change = corner + (a[i - 1] != b[j - 1]), step = (row[j] < row[j - 1] ? row[j] : row[j - 1]) + 1;
            corner = row[j];
            row[j] = change < step ? change : step;
        }
    }
    return row[width];
}

static int unknown(const char *name)
{
    const char *near = NULL;
    for (int i = 0, best = 3; commands[i]; i++) {
        int far = distance(name, commands[i]->name);
        if (far < best) {
            best = far;
            near = commands[i]->name;
        }
    }
    if (near)
        return usage_error(NULL, "there is no command '%s'; is '%s' meant?", name, near);
    return usage_error(NULL, "there is no command '%s'", name);
}

int program(int count, char **arguments)
{
    if (count < 2)
        return usage_error(NULL, "a command is expected");
    const command *found = find(arguments[1]);
    if (!found)
        return unknown(arguments[1]);
    bool help = count == 3 && (strcmp(arguments[2], "--help") == 0 || strcmp(arguments[2], "-h") == 0);
    int result = help ? help_command.run(1, (char *[]){ (char *)found->name }) : found->run(count - 2, arguments + 2);
    if ((fflush(stdout) != 0 || ferror(stdout)) && result == EXIT_WORKED) {
        perror("thalweg: could not write the output");
        return EXIT_FAILED;
    }
    return result;
}
