/* thalweg checkpoint ls|cat|grep|stats|diff: what is in a checkpoint, or in another file of named tensors (tensors.h). */
#include <math.h>
#include <regex.h>
#include <stdlib.h>
#include <string.h>

#include "tensors.h"

static const char *dtype_name(const tensor_file *file, int64_t index)
{
    tw_dtype dtype = tensor_dtype(file, index);
    return dtype ? tw_dtype_name(dtype) : "unknown";
}

/* ---- ls, grep ---- */

static void list_one(const tensor_file *file, int64_t index, bool json, bool first, int widest)
{
    tw_shape shape = tensor_shape(file, index);
    if (json) {
        fputs(first ? "{\"name\": " : ",\n {\"name\": ", stdout);
        print_json_text(tensor_name(file, index));
        printf(", \"dtype\": \"%s\", \"shape\": ", dtype_name(file, index));
        print_json_shape(&shape);
        putchar('}');
    } else {
        print_padded(tensor_name(file, index), widest);
        printf("  %-10s  ", dtype_name(file, index));
        print_shape(&shape);
        putchar('\n');
    }
}

/* Those whose names a pattern finds; all if it is NULL. */
static int list_matching(const invocation *call, const char *path, const regex_t *pattern)
{
    tensor_file file;
    bool json = given(call, "--json"), first = true;
    int result = open_tensors(&file, path) ? EXIT_WORKED : library_error(), widest = 0;
    for (int64_t i = 0; i < tensor_count(&file); i++) {
        bool wanted = !pattern || regexec(pattern, tensor_name(&file, i), 0, NULL, 0) == 0;
        int width = wanted ? name_width(tensor_name(&file, i)) : 0;
        widest = width > widest ? width : widest;
    }
    if (json && result == EXIT_WORKED)
        putchar('[');
    for (int64_t i = 0; result == EXIT_WORKED && i < tensor_count(&file); i++) {
        if (pattern && regexec(pattern, tensor_name(&file, i), 0, NULL, 0) != 0)
            continue;
        list_one(&file, i, json, first, widest);
        first = false;
    }
    if (json && result == EXIT_WORKED)
        puts("]");
    close_tensors(&file);
    return result == EXIT_WORKED && pattern && first ? EXIT_FAILED : result; /* as grep does */
}

static int list(const invocation *call)
{
    return list_matching(call, call->words[0], NULL);
}

static int grep(const invocation *call)
{
    regex_t pattern;
    int wrong = regcomp(&pattern, call->words[1], REG_EXTENDED | REG_NOSUB);
    if (wrong) {
        char text[256];
        regerror(wrong, &pattern, text, sizeof text);
        return usage_error(call->command, "'%s' is no regular expression: %s", call->words[1], text);
    }
    int result = list_matching(call, call->words[0], &pattern);
    regfree(&pattern);
    return result;
}

/* ---- cat ---- */

static int print_tensor(const tensor_file *file, int64_t index, bool json)
{
    tw_auto tw_tensor *tensor = read_tensor(file, index);
    if (!tensor)
        return library_error();
    if (!json) {
        char *text = tw_tensor_str(tensor);
        if (text)
            puts(text);
        free(text);
        return text ? EXIT_WORKED : library_error();
    }
    tw_value value = { .kind = TW_VALUE_TENSOR, .tensor = tensor };
    tw_shape shape = tw_tensor_shape(tensor);
    fputs("{\"name\": ", stdout);
    print_json_text(tensor_name(file, index));
    printf(", \"dtype\": \"%s\", \"shape\": ", tw_dtype_name(tw_tensor_dtype(tensor)));
    print_json_shape(&shape);
    fputs(", \"value\": ", stdout);
    print_json(&value);
    putchar('}');
    return tw_error_code() == TW_OK ? EXIT_WORKED : library_error();
}

static int write_npy(const tensor_file *file, int64_t index, const char *path)
{
    tw_auto tw_tensor *tensor = read_tensor(file, index);
    return tensor && tw_npy_write(path, tensor) == TW_OK ? EXIT_WORKED : library_error();
}

static int no_tensor(const tensor_file *file, const char *name)
{
    fprintf(stderr, "thalweg: %s: there is no tensor '", file->path);
    print_name(stderr, name);
    const char *near = NULL, *one[2] = { NULL, NULL };
    int least = 1 << 20;
    for (int64_t i = 0; i < tensor_count(file); i++) {
        one[0] = tensor_name(file, i);
        char shorter[64]; /* as it may be typed */
        snprintf(shorter, sizeof shorter, "%.*s",
                 (int)(strstr(one[0], "/.ATTRIBUTES") ? strstr(one[0], "/.ATTRIBUTES") - one[0] : 63), one[0]);
        const char *asked[2] = { shorter, NULL };
        if (near_miss(name, asked, sizeof *asked) && name_distance(name, shorter) < least) {
            near = one[0];
            least = name_distance(name, shorter);
        }
    }
    fputs(near ? "'; did you mean '" : "'", stderr);
    print_name(stderr, near ? near : "");
    fputs(near ? "'?\n" : "\n", stderr);
    return EXIT_FAILED;
}

static int print_one(const tensor_file *file, const char *name, bool json)
{
    int64_t index = find_tensor(file, name);
    int result = index < 0 ? no_tensor(file, name) : print_tensor(file, index, json);
    if (json && result == EXIT_WORKED)
        putchar('\n');
    return result;
}

static int print_all(const tensor_file *file, bool json)
{
    int result = EXIT_WORKED;
    if (json)
        putchar('[');
    for (int64_t i = 0; result == EXIT_WORKED && i < tensor_count(file); i++) {
        if (json) {
            fputs(i ? ",\n " : "", stdout);
        } else {
            print_name(stdout, tensor_name(file, i));
            putchar('\n');
        }
        result = print_tensor(file, i, json);
    }
    if (json && result == EXIT_WORKED)
        puts("]");
    return result;
}

static int cat(const invocation *call)
{
    const char *npy = value_of(call, "--npy", NULL), *name = call->count > 1 ? call->words[1] : NULL;
    bool json = given(call, "--json");
    if (npy && !name)
        return usage_error(call->command, "--npy writes one tensor: its name is expected");
    tensor_file file;
    int result = open_tensors(&file, call->words[0]) ? EXIT_WORKED : library_error();
    if (result == EXIT_WORKED && npy) {
        int64_t index = find_tensor(&file, name);
        result = index < 0 ? no_tensor(&file, name) : write_npy(&file, index, npy);
    } else if (result == EXIT_WORKED) {
        result = name ? print_one(&file, name, json) : print_all(&file, json);
    }
    close_tensors(&file);
    return result;
}

/* ---- stats ---- */

static void print_facts(const char *name, const tensor_facts *facts, bool json, bool first, int widest)
{
    const struct {
        const char *name;
        double value;
    } columns[] = { { "min", facts->least },
                    { "max", facts->most },
                    { "mean", facts->mean },
                    { "std", facts->deviation },
                    { "zeros", (double)facts->zeros },
                    { "nan", (double)facts->nans },
                    { "inf", (double)facts->infinities } };
    if (json) {
        fputs(first ? "{\"name\": " : ",\n {\"name\": ", stdout);
        print_json_text(name);
        printf(", \"count\": %lld", (long long)facts->count);
        for (size_t i = 0; i < sizeof columns / sizeof *columns; i++) {
            printf(", \"%s\": ", columns[i].name);
            printf(isfinite(columns[i].value) ? "%.9g" : "null", columns[i].value);
        }
        putchar('}');
        return;
    }
    if (first) {
        printf("%-*s  %10s", widest, "name", "count");
        for (size_t i = 0; i < sizeof columns / sizeof *columns; i++)
            printf(" %11s", columns[i].name);
        putchar('\n');
    }
    print_padded(name, widest);
    printf("  %10lld", (long long)facts->count);
    for (size_t i = 0; i < sizeof columns / sizeof *columns; i++)
        printf(" %11.5g", columns[i].value);
    putchar('\n');
}

static int stats(const invocation *call)
{
    tensor_file file;
    bool json = given(call, "--json"), first = true;
    int result = open_tensors(&file, call->words[0]) ? EXIT_WORKED : library_error(), widest = 4;
    int64_t only = -1, count = tensor_count(&file);
    if (result == EXIT_WORKED && call->count > 1 && (only = find_tensor(&file, call->words[1])) < 0)
        result = no_tensor(&file, call->words[1]);
    for (int64_t i = 0; i < count; i++)
        widest = name_width(tensor_name(&file, i)) > widest ? name_width(tensor_name(&file, i)) : widest;
    if (json && result == EXIT_WORKED)
        putchar('[');
    for (int64_t i = 0; result == EXIT_WORKED && i < count; i++) {
        if (!is_numeric(tensor_dtype(&file, i)) || (only >= 0 && i != only))
            continue;
        tw_auto tw_tensor *tensor = read_tensor(&file, i);
        if (!tensor) {
            result = library_error();
            break;
        }
        tensor_facts facts = facts_of(tensor);
        print_facts(tensor_name(&file, i), &facts, json, first, widest);
        first = false;
    }
    if (json && result == EXIT_WORKED)
        puts("]");
    close_tensors(&file);
    return result;
}

/* ---- diff ---- */

typedef struct difference {
    bool json, any;
} difference;

/* A line of what is different; what == NULL: by `most` at the most. */
static void print_difference(difference *state, const char *name, const char *what, double most)
{
    if (state->json) {
        fputs(state->any ? ",\n {\"name\": " : "{\"name\": ", stdout);
        print_json_text(name);
        if (what)
            printf(", \"difference\": \"%s\"}", what);
        else if (isfinite(most))
            printf(", \"difference\": \"values\", \"most\": %.9g}", most);
        else
            fputs(", \"difference\": \"values\", \"most\": null}", stdout);
    } else {
        print_name(stdout, name);
        if (what)
            printf("  %s\n", what);
        else
            printf("  values differ by up to %.6g\n", most);
    }
    state->any = true;
}

static bool compare_one(difference *state, const tensor_file *a, int64_t i, const tensor_file *b, int64_t j, double tolerance)
{
    tw_shape x = tensor_shape(a, i), y = tensor_shape(b, j);
    const char *name = tensor_name(a, i);
    if (x.rank != y.rank || memcmp(x.dims, y.dims, (size_t)x.rank * sizeof *x.dims) != 0) {
        print_difference(state, name, "other shape", 0);
        return true;
    }
    if (tensor_dtype(a, i) != tensor_dtype(b, j)) {
        print_difference(state, name, "other dtype", 0);
        return true;
    }
    tw_auto tw_tensor *left = read_tensor(a, i);
    tw_auto tw_tensor *right = read_tensor(b, j);
    if (!left || !right)
        return false;
    double most = 0;
    if (differ(left, right, tolerance, &most))
        print_difference(state, name, is_numeric(tw_tensor_dtype(left)) ? NULL : "other values", most);
    return true;
}

static int diff(const invocation *call)
{
    double tolerance;
    if (!real_of(call, "--tolerance", 0, &tolerance))
        return EXIT_USAGE;
    tensor_file a, b = { .path = NULL };
    difference state = { .json = given(call, "--json") };
    bool works = open_tensors(&a, call->words[0]) && open_tensors(&b, call->words[1]);
    if (works && state.json)
        putchar('[');
    for (int64_t i = 0; works && i < tensor_count(&a); i++) {
        int64_t j = find_tensor(&b, tensor_name(&a, i));
        if (j < 0)
            print_difference(&state, tensor_name(&a, i), "only in the first", 0);
        else
            works = compare_one(&state, &a, i, &b, j, tolerance);
    }
    for (int64_t j = 0; works && j < tensor_count(&b); j++) {
        if (find_tensor(&a, tensor_name(&b, j)) < 0)
            print_difference(&state, tensor_name(&b, j), "only in the second", 0);
    }
    if (works && state.json)
        puts("]");
    close_tensors(&a);
    close_tensors(&b);
    return !works ? library_error() : state.any ? EXIT_FAILED : EXIT_WORKED;
}

static const verb verbs[] = {
    { "ls", "FILE", 1, 1, "names, dtypes and shapes", list },
    { "cat", "FILE [NAME]", 1, 2, "the value of one tensor, or of all", cat },
    { "grep", "FILE PATTERN", 2, 2, "as ls, of the names that an extended regular expression finds", grep },
    { "stats", "FILE [NAME]", 1, 2, "count, least, most, mean, deviation, zeros, NaNs and infinities of numbers", stats },
    { "diff", "FILE FILE", 2, 2, "what differs; the exit code is 1 if anything does", diff },
    { .name = NULL },
};
static const command_option options[] = {
    { "--json", 0, NULL, "as JSON", NULL },
    { "--npy", 0, "PATH", "writes the tensor as an .npy file", "cat" },
    { "--tolerance", 0, "X", "numbers that are no further apart are equal (0)", "diff" },
    { .name = NULL },
};
const command checkpoint_command = {
    .name = "checkpoint",
    .summary = "Lists, prints and compares the tensors of a checkpoint.",
    .help =
        "\nFILE is a checkpoint's prefix or its .index file, a directory of checkpoints (the newest one is meant), a SavedModel, or a file of Keras (.h5, .keras).\n"
        "NAME may be given without /.ATTRIBUTES/VARIABLE_VALUE.\n",
    .verbs = verbs,
    .options = options,
};
