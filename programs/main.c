/* The thalweg command: finds the subcommand and runs it. start.c calls it, and so does the Python extension, for packages
 * that have no program of their own. */
#include <stdarg.h>
#include <string.h>

#include "program.h"

const command *const commands[] = {
    &checkpoint_command, &data_command, &devices_command, &events_command,      &graph_command,   &help_command, &model_command,
    &records_command,    &run_command,  &serve_command,   &tensorboard_command, &version_command, NULL,
};

static void say_program(void)
{
    fprintf(stderr, "%sthalweg:%s ", colour(stderr, RED), colour(stderr, NORMAL));
}

int usage_error(const command *which, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    say_program();
    vfprintf(stderr, format, arguments);
    va_end(arguments);
    if (!which)
        fputs("\nTry 'thalweg help'.\n", stderr);
    else if (which->verbs)
        fprintf(stderr, "\nTry 'thalweg help %s'.\n", which->name);
    else
        fprintf(stderr, "\nusage: thalweg %s %s\n", which->name, which->arguments);
    return EXIT_USAGE;
}

int library_error(void)
{
    say_program();
    tw_report(stderr);
    return EXIT_FAILED;
}

const command *find_command(const char *name)
{
    for (int i = 0; commands[i]; i++) {
        if (strcmp(commands[i]->name, name) == 0)
            return commands[i];
    }
    return NULL;
}

static const command *find_word(const char *word)
{
    static const struct {
        const char *word;
        const command *which;
    } others[] = {
        { "--help", &help_command }, { "-h", &help_command }, { "--version", &version_command }, { "-V", &version_command }
    };
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        if (strcmp(others[i].word, word) == 0)
            return others[i].which;
    }
    return find_command(word);
}

static int no_command(const char *word)
{
    const char *names[sizeof commands / sizeof *commands] = { NULL };
    for (int i = 0; commands[i]; i++)
        names[i] = commands[i]->name;
    const char *near = near_miss(word, names, sizeof *names);
    return near ? usage_error(NULL, "there is no command '%s'; did you mean '%s'?", word, near)
                : usage_error(NULL, "there is no command '%s'", word);
}

int program(int count, char **arguments)
{
    if (count < 2)
        return usage_error(NULL, "a command is expected");
    const command *found = find_word(arguments[1]);
    if (!found)
        return no_command(arguments[1]);
    bool asks = !found->verbs && count == 3 && (strcmp(arguments[2], "--help") == 0 || strcmp(arguments[2], "-h") == 0);
    if (asks)
        print_help(found);
    int result = asks           ? EXIT_WORKED
                 : found->verbs ? run_verb(found, count - 2, arguments + 2)
                                : found->run(count - 2, arguments + 2);
    if ((fflush(stdout) != 0 || ferror(stdout)) && result == EXIT_WORKED) {
        perror("thalweg: could not write the output");
        return EXIT_FAILED;
    }
    return result;
}
