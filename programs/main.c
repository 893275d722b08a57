/* The thalweg command: finds the subcommand and runs it. start.c calls it, and so does the Python extension, for packages
 * that have no program of their own. */
#include <stdarg.h>
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
    if (strcmp(name, "--version") == 0)
        return &version_command;
    for (int i = 0; commands[i]; i++) {
        if (strcmp(commands[i]->name, name) == 0)
            return commands[i];
    }
    return NULL;
}

int program(int count, char **arguments)
{
    if (count < 2)
        return usage_error(NULL, "a command is expected");
    const command *found = find(arguments[1]);
    if (!found)
        return usage_error(NULL, "there is no command '%s'", arguments[1]);
    int result = found->run(count - 2, arguments + 2);
    if ((fflush(stdout) != 0 || ferror(stdout)) && result == EXIT_WORKED) {
        perror("thalweg: could not write the output");
        return EXIT_FAILED;
    }
    return result;
}
