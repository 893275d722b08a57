/* thalweg help [COMMAND | NAME], thalweg version. A NAME is one of TensorFlow, tf.nn.softmax, or of C, tw_nn_softmax. */
#include <stdlib.h>
#include <string.h>

#include "program.h"

static void print_usage(const command *which)
{
    if (!which->verbs) {
        printf("usage: thalweg %s%s%s\n", which->name, *which->arguments ? " " : "", which->arguments);
        return;
    }
    for (const verb *v = which->verbs; v->run; v++)
        printf("%s thalweg %s%s%s%s%s\n", v == which->verbs ? "usage:" : "      ", which->name, v->name ? " " : "",
               v->name ? v->name : "", *v->arguments ? " " : "", v->arguments);
}

/* How wide the column of options is: as the widest, within bounds. */
static int options_width(const command_option *options)
{
    int widest = 24;
    for (int i = 0; options && options[i].name; i++) {
        int width =
            name_width(options[i].name) + (options[i].value ? 1 + name_width(options[i].value) : 0) + (options[i].letter ? 4 : 0);
        widest = width > widest && width <= 48 ? width : widest;
    }
    return widest;
}

static void print_options(const command_option *options)
{
    int widest = options_width(options);
    for (int i = 0; options && options[i].name; i++) {
        char left[64];
        snprintf(left, sizeof left, "%s%c%s%s%s%s", options[i].letter ? "-" : "", options[i].letter ? options[i].letter : ' ',
                 options[i].letter ? ", " : "", options[i].name, options[i].value ? " " : "",
                 options[i].value ? options[i].value : "");
        const char *text = left[0] == ' ' ? left + 1 : left;
        printf("  %s%*s ", text, widest > name_width(text) ? widest - name_width(text) : 0, "");
        for (const char *c = options[i].verbs; c && *c; c++)
            fputs(*c == ' ' ? ", " : (char[]){ *c, 0 }, stdout);
        printf("%s%s\n", options[i].verbs ? ": " : "", options[i].help);
    }
}

void print_help(const command *which)
{
    print_usage(which);
    printf("\n%s%s%s\n", colour(stdout, BOLD), which->summary, colour(stdout, NORMAL));
    if (which->verbs && which->verbs->name) {
        putchar('\n');
        for (const verb *v = which->verbs; v->run; v++)
            printf("  %-10s %s\n", v->name, v->summary);
    }
    if (which->options) {
        putchar('\n');
        print_options(which->options);
    }
    fputs(which->help, stdout);
}

/* A row by a name of TensorFlow, with or without the tf before it, or by its name in C. */
static const tw_signature *find_row(const char *name)
{
    if (strncmp(name, "tf.", 3) == 0)
        name += 3;
    const tw_signature *found = tw_signature_find(name);
    for (int i = 0; !found && strncmp(name, "tw_", 3) == 0 && i < tw_signature_count(); i++) {
        if (strcmp(tw_signature_at(i)->id, name + 3) == 0)
            found = tw_signature_at(i);
    }
    return found;
}

/* The call in C: what must be given, then the options. */
static void print_call(const tw_signature *row)
{
    printf("\nIn C: tw_%s(", row->id);
    const char *comma = "";
    for (int required = 1; required >= 0; required--) {
        for (int i = 0; i < row->field_count; i++) {
            if (row->fields[i].required == (bool)required) {
                printf("%s%s%s%s", comma, required ? "" : ".", row->fields[i].rest ? "*" : "", row->fields[i].name);
                comma = ", ";
            }
        }
    }
    puts(")");
}

/* What is known of a name; false: nothing. */
static bool print_signature(const char *name)
{
    const tw_signature *row = find_row(name);
    const char *op = strncmp(name, "tf.", 3) == 0 ? name + 3 : name;
    if (row) {
        printf("tf.%.*s%s\n\n%s\n", (int)strcspn(row->path, "|"), row->path, tw_signature_text(row), tw_signature_doc(row));
        print_call(row);
        return true;
    }
    for (int i = 0; strncmp(op, "raw_ops.", 8) == 0 && i < tw_op_count(); i++) {
        if (strcmp(tw_op_name(i), op + 8) == 0) {
            printf("tf.%s\n\n%s\n", op, tw_op_doc(i));
            return true;
        }
    }
    return false;
}

/* The command or the function whose name is like the one that was typed; NULL: none. For free(). */
static char *similar_name(const char *typed)
{
    bool prefix = strncmp(typed, "tf.", 3) == 0;
    const char *names[2] = { NULL, NULL };
    char *best = NULL;
    int least = 4;
    for (int i = 0; commands[i]; i++) {
        names[0] = commands[i]->name;
        if (near_miss(typed, names, sizeof *names))
            return strdup(commands[i]->name);
    }
    for (int i = 0; i < tw_signature_count(); i++) {
        for (const char *path = tw_signature_at(i)->path; *path; path += strcspn(path, "|"), path += *path == '|') {
            char name[48];
            size_t size = strcspn(path, "|");
            if (size + 4 > sizeof name || strchr(path, '_') == path)
                continue;
            snprintf(name, sizeof name, "%s%.*s", prefix ? "tf." : "", (int)size, path);
            names[0] = name;
            int far = near_miss(typed, names, sizeof *names) ? name_distance(typed, name) : least;
            if (far < least && !strstr(name, "._")) {
                least = far;
                free(best);
                best = strdup(name);
            }
        }
    }
    return best;
}

static int help(const invocation *call)
{
    if (call->count == 0) {
        puts("thalweg: TensorFlow 2 as a small C library\n\nusage: thalweg COMMAND …\n");
        for (int i = 0; commands[i]; i++)
            printf("  %-12s %s\n", commands[i]->name, commands[i]->summary);
        puts(
            "\n'thalweg help COMMAND' and 'thalweg COMMAND --help' say more, 'thalweg help tf.nn.softmax' says what a function does.\n"
            "Exit codes: 0 it worked, 1 it failed, 2 it was called wrongly.");
        return EXIT_WORKED;
    }
    const command *found = find_command(call->words[0]);
    if (found)
        print_help(found);
    if (found || print_signature(call->words[0]))
        return EXIT_WORKED;
    char *near = similar_name(call->words[0]);
    int result = near ? usage_error(NULL, "there is no command or function '%s'; did you mean '%s'?", call->words[0], near)
                      : usage_error(NULL, "there is no command '%s'", call->words[0]);
    free(near);
    return result;
}

static const verb help_verbs[] = { { NULL, "[COMMAND | NAME]", 0, 1, "", help }, { .name = NULL } };
const command help_command = { .name = "help",
                               .summary = "Says what the commands do, or what a function of TensorFlow does.",
                               .help = "",
                               .verbs = help_verbs };

static int version(const invocation *call)
{
    if (given(call, "--json"))
        printf("{\"version\": \"%s\"}\n", tw_version());
    else
        printf("thalweg %s\n", tw_version());
    return EXIT_WORKED;
}

static const command_option version_options[] = { { "--json", 0, NULL, "as JSON", NULL }, { .name = NULL } };
static const verb version_verbs[] = { { NULL, "", 0, 0, "", version }, { .name = NULL } };
const command version_command = {
    .name = "version", .summary = "Prints the version.", .help = "", .verbs = version_verbs, .options = version_options
};
