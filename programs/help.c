/* thalweg help [COMMAND], thalweg version. */
#include <stdio.h>
#include <string.h>

#include <thalweg.h>

#include "program.h"

static int help(int count, char **arguments)
{
    if (count > 1)
        return usage_error(&help_command, "one command at most is expected, got %d", count);
    if (count == 0) {
        puts("thalweg: TensorFlow 2 as a small C library\n\nusage: thalweg COMMAND …\n");
        for (int i = 0; commands[i]; i++)
            printf("  %-12s %s\n", commands[i]->name, commands[i]->summary);
        puts("\n'thalweg help COMMAND' says more. Exit codes: 0 it worked, 1 it failed, 2 it was called wrongly.");
        return EXIT_WORKED;
    }
    for (int i = 0; commands[i]; i++) {
        if (strcmp(commands[i]->name, arguments[0]) == 0) {
            printf("usage: thalweg %s%s%s\n\n%s\n%s", commands[i]->name, *commands[i]->arguments ? " " : "",
                   commands[i]->arguments, commands[i]->summary, commands[i]->help);
            return EXIT_WORKED;
        }
    }
    return usage_error(NULL, "there is no command '%s'", arguments[0]);
}

const command help_command = { "help", "[COMMAND]", "Says what the commands do.", "", help };

static int version(int count, char **arguments)
{
    (void)arguments;
    if (count > 0)
        return usage_error(&version_command, "no argument is expected, got %d", count);
    printf("thalweg %s\n", tw_version());
    return EXIT_WORKED;
}

const command version_command = { "version", "", "Prints the version.", "", version };
