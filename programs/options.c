/* The arguments of a subcommand: its verb, options with and without values, words. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "program.h"

enum { LONGEST_NAME = 40 };

/* How many letters must be added, taken away or changed to get from one word to the other. */
int name_distance(const char *a, const char *b)
{
    int row[LONGEST_NAME + 1], size = (int)strlen(b);
    if (strlen(a) > LONGEST_NAME || size > LONGEST_NAME)
        return LONGEST_NAME;
    for (int j = 0; j <= size; j++)
        row[j] = j;
    for (int i = 1; a[i - 1]; i++) {
        int corner = row[0];
        row[0] = i;
        for (int j = 1; j <= size; j++) {
            int above = row[j], best = corner + (a[i - 1] != b[j - 1]);
            best = above + 1 < best ? above + 1 : best;
            row[j] = row[j - 1] + 1 < best ? row[j - 1] + 1 : best;
            corner = above;
        }
    }
    return row[size];
}

const char *near_miss(const char *typed, const void *names, size_t step)
{
    const char *best = NULL;
    int least = (int)strlen(typed) < 4 ? 2 : 3;
    for (const char *at = names;; at += step) {
        const char *name;
        memcpy(&name, at, sizeof name);
        if (!name)
            return best;
        int found = name_distance(typed, name);
        if (found < least) {
            least = found;
            best = name;
        }
    }
}

int no_such(const command *which, const char *what, const char *typed, const void *names, size_t step)
{
    const char *near = near_miss(typed, names, step);
    if (near)
        return usage_error(which, "there is no %s '%s'; did you mean '%s'?", what, typed, near);
    return usage_error(which, "there is no %s '%s'", what, typed);
}

/* The place of an option in the table; -1: there is none. "--name=value" is found by its name. */
static int find_option(const command_option *options, const char *text)
{
    size_t size = strcspn(text, "=");
    for (int i = 0; options && options[i].name; i++) {
        if (strncmp(options[i].name, text, size) == 0 && !options[i].name[size])
            return i;
        if (options[i].letter && text[0] == '-' && text[1] == options[i].letter && !text[2])
            return i;
    }
    return -1;
}

static bool has_no_meaning(const command *which, const char *text)
{
    size_t size = strcspn(text, "=");
    for (int i = 0; which->without_meaning && which->without_meaning[i]; i++) {
        if (strncmp(which->without_meaning[i], text, size) == 0 && !which->without_meaning[i][size])
            return true;
    }
    return false;
}

/* Reads the option at arguments[*at]; EXIT_WORKED, or the message was given. */
static int read_option(invocation *call, int count, char **arguments, int *at)
{
    const command_option *options = call->command->options;
    const char *text = arguments[*at], *equals = strchr(text, '=');
    int found = find_option(options, text);
    static const char *const none[] = { NULL };
    if (found < 0 && has_no_meaning(call->command, text)) {
        fprintf(stderr, "thalweg: %.*s has no meaning here\n", (int)strcspn(text, "="), text);
        return EXIT_WORKED;
    }
    if (found < 0) {
        char name[64]; /* without its value */
        snprintf(name, sizeof name, "%.*s", (int)strcspn(text, "="), text);
        return options ? no_such(call->command, "option", name, options, sizeof *options)
                       : no_such(call->command, "option", name, none, sizeof *none);
    }
    if (!options[found].value) {
        if (equals)
            return usage_error(call->command, "%s takes no value", options[found].name);
        call->given[found] = "";
        return EXIT_WORKED;
    }
    bool optional = options[found].value[0] == '[', repeats = strstr(options[found].value, "…") != NULL;
    if (!equals && !optional && *at + 1 >= count)
        return usage_error(call->command, "%s needs a value: %s", options[found].name, options[found].value);
    call->given[found] = equals ? equals + 1 : optional ? "true" : arguments[++*at];
    if (repeats && call->repeated_count == REPEATED_LIMIT)
        return usage_error(call->command, "%s is given more than %d times", options[found].name, REPEATED_LIMIT);
    if (repeats)
        call->repeated[call->repeated_count++] = call->given[found];
    return EXIT_WORKED;
}

static const verb *find_verb(const command *which, const char *name)
{
    for (const verb *v = which->verbs; v->name; v++) {
        if (strcmp(v->name, name) == 0)
            return v;
    }
    return NULL;
}

/* An option that the verb does not take is an error, not ignored. */
static int check_options(const invocation *call)
{
    const command_option *options = call->command->options;
    for (int i = 0; options && options[i].name; i++) {
        if (!call->given[i] || !options[i].verbs)
            continue;
        bool taken = false;
        for (const char *at = options[i].verbs; *at && !taken;
             at += at[strcspn(at, " ")] ? strcspn(at, " ") + 1 : strcspn(at, " "))
            taken = strcspn(at, " ") == strlen(call->verb->name) && strncmp(at, call->verb->name, strlen(call->verb->name)) == 0;
        if (!taken)
            return usage_error(call->command, "%s %s takes no %s", call->command->name, call->verb->name, options[i].name);
    }
    return EXIT_WORKED;
}

static int check_words(const invocation *call)
{
    const verb *v = call->verb;
    if (call->count < v->least)
        return usage_error(call->command, call->count ? "more is expected: %s%s%s" : "%s%s%s is expected", v->name ? v->name : "",
                           v->name ? " " : "", v->arguments);
    if (v->most >= 0 && call->count > v->most)
        return usage_error(call->command, "'%s' is one argument too many", call->words[v->most]);
    return EXIT_WORKED;
}

int run_verb(const command *which, int count, char **arguments)
{
    invocation call = { .command = which, .words = arguments };
    bool options = true;
    for (int i = 0; i < count; i++) {
        char *text = arguments[i];
        if (options && strcmp(text, "--") == 0) {
            options = false;
        } else if (options && (strcmp(text, "--help") == 0 || strcmp(text, "-h") == 0)) {
            print_help(which);
            return EXIT_WORKED;
        } else if (options && text[0] == '-' && text[1]) {
            int result = read_option(&call, count, arguments, &i);
            if (result != EXIT_WORKED)
                return result;
        } else {
            call.words[call.count++] = text; /* in the place of one that was read already */
        }
    }
    if (!which->verbs->name) {
        call.verb = which->verbs;
    } else if (!call.count) {
        return usage_error(which, "what to do is expected");
    } else {
        call.verb = find_verb(which, call.words[0]);
        if (!call.verb)
            return no_such(which, "verb", call.words[0], which->verbs, sizeof *which->verbs);
        call.words++;
        call.count--;
    }
    int result = check_options(&call);
    if (result == EXIT_WORKED)
        result = check_words(&call);
    return result == EXIT_WORKED ? call.verb->run(&call) : result;
}

bool given(const invocation *call, const char *name)
{
    return value_of(call, name, NULL) != NULL;
}

const char *value_of(const invocation *call, const char *name, const char *otherwise)
{
    int found = find_option(call->command->options, name);
    return found >= 0 && call->given[found] ? call->given[found] : otherwise;
}

bool number_of(const invocation *call, const char *name, int64_t least, int64_t otherwise, int64_t *number)
{
    const char *text = value_of(call, name, NULL);
    char *end = NULL;
    errno = 0;
    *number = text ? strtoll(text, &end, 10) : otherwise;
    if (!text || (end != text && !*end && !errno && *number >= least))
        return true;
    usage_error(call->command, "%s must be a whole number that is at least %lld, got '%s'", name, (long long)least, text);
    return false;
}

bool truth_of(const invocation *call, const char *name, bool *truth)
{
    const char *text = value_of(call, name, "false");
    *truth = strcmp(text, "true") == 0 || strcmp(text, "1") == 0;
    if (*truth || strcmp(text, "false") == 0 || strcmp(text, "0") == 0)
        return true;
    usage_error(call->command, "%s must be true or false, got '%s'", name, text);
    return false;
}

bool real_of(const invocation *call, const char *name, double otherwise, double *number)
{
    const char *text = value_of(call, name, NULL);
    char *end = NULL;
    *number = text ? strtod(text, &end) : otherwise;
    if (!text || (end != text && !*end && *number == *number && *number >= 0))
        return true;
    usage_error(call->command, "%s must be a number that is not negative, got '%s'", name, text);
    return false;
}
