/* thalweg model show|run|convert|diff|bench: models in every format. */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "model.h"
#include "picture.h"
#include "tensors.h"

/* ---- show ---- */

static void print_infos(const tw_value *infos, const char *what)
{
    for (int64_t i = 0; infos && i < infos->list.count; i++) {
        const tw_value *info = &infos->list.items[i], *shape = tw_value_get(info, "shape");
        printf("    %s ", what);
        print_name(stdout, tw_value_get(info, "name")->s.data);
        printf(": %s ", tw_value_get(info, "dtype")->s.data);
        tw_shape dims = { .rank = shape->kind == TW_VALUE_LIST ? (int)shape->list.count : -1 };
        for (int k = 0; k < dims.rank && k < TW_MAX_RANK; k++)
            dims.dims[k] = shape->list.items[k].i;
        print_shape(&dims);
        putchar('\n');
    }
}

static void print_saved(const tw_value *facts)
{
    const tw_value *signatures = tw_value_get(facts, "signatures"), *ops = tw_value_get(facts, "ops"),
                   *tags = tw_value_get(facts, "tags");
    printf("SavedModel of TensorFlow %s, tags:", tw_value_get(facts, "tensorflow")->s.data);
    for (int64_t i = 0; i < tags->list.count; i++)
        printf(" %s", tags->list.items[i].s.data);
    puts("\n");
    print_heading("signatures:\n");
    for (int64_t i = 0; i < signatures->list.count; i++) {
        const tw_value *signature = &signatures->list.items[i];
        fputs("  ", stdout);
        print_name(stdout, tw_value_get(signature, "name")->s.data);
        putchar('\n');
        print_infos(tw_value_get(signature, "inputs"), "input ");
        print_infos(tw_value_get(signature, "outputs"), "output");
    }
    putchar('\n');
    print_heading("ops:\n");
    for (int64_t i = 0; i < ops->list.count; i++)
        printf("%s%s %lld", i ? ", " : "  ", tw_value_get(&ops->list.items[i], "op")->s.data,
               (long long)tw_value_get(&ops->list.items[i], "count")->i);
    putchar('\n');
}

static double bytes_of(const tensor_file *file, int64_t index)
{
    tw_shape shape = tensor_shape(file, index);
    double bytes = (double)tw_dtype_size(tensor_dtype(file, index));
    for (int i = 0; i < shape.rank; i++)
        bytes *= (double)shape.dims[i];
    return bytes;
}

static void print_variables(const tensor_file *file, bool json)
{
    int widest = 0;
    double all = 0;
    const char *comma = "";
    for (int64_t i = 0; i < tensor_count(file); i++)
        widest = name_width(tensor_name(file, i)) > widest ? name_width(tensor_name(file, i)) : widest;
    fputs(json ? ", \"variables\": [" : "\n", stdout);
    if (!json)
        print_heading("variables:\n");
    for (int64_t i = 0; i < tensor_count(file); i++) {
        tw_shape shape = tensor_shape(file, i);
        tw_dtype dtype = tensor_dtype(file, i);
        if (!dtype || dtype == TW_STRING)
            continue;
        all += bytes_of(file, i);
        if (json) {
            printf("%s{\"name\": ", comma);
            print_json_text(tensor_name(file, i));
            printf(", \"dtype\": \"%s\", \"shape\": ", tw_dtype_name(dtype));
            print_json_shape(&shape);
            printf(", \"bytes\": %.0f}", bytes_of(file, i));
            comma = ", ";
        } else {
            fputs("  ", stdout);
            print_padded(tensor_name(file, i), widest);
            printf("  %-8s  ", tw_dtype_name(dtype));
            print_shape(&shape);
            fputs("  ", stdout);
            print_count(bytes_of(file, i));
            putchar('\n');
        }
    }
    if (json) {
        fputs("]", stdout);
    } else {
        fputs("  in all ", stdout);
        print_count(all);
        putchar('\n');
    }
}

static int show_saved(const char *path, bool json)
{
    char *text = tw_saved_model_json(path);
    tw_value facts = { .kind = TW_VALUE_NONE };
    tensor_file file = { .path = path };
    char *index = malloc(strlen(path) + sizeof "/variables/variables.index");
    if (index)
        strcat(strcpy(index, path), "/variables/variables.index");
    bool works = text && index && tw_value_from_json(text, strlen(text), &facts) == TW_OK;
    bool variables = works && tw_gfile_exists(index) && (works = open_tensors(&file, path));
    if (works && json)
        printf("%.*s", (int)strlen(text) - 1, text); /* without the last bracket */
    else if (works)
        print_saved(&facts);
    if (works && variables)
        print_variables(&file, json);
    if (works && json)
        puts("}");
    close_tensors(&file);
    tw_value_free(&facts);
    free(index);
    free(text);
    return works ? EXIT_WORKED : library_error();
}

static int show_keras(const char *path, bool json)
{
    tw_auto tw_model *model = tw_load_model(path, .compile = false);
    char *text = !model ? NULL : json ? tw_model_to_json(model) : tw_model_summary_text(model);
    if (text)
        puts(text);
    free(text);
    return text ? EXIT_WORKED : library_error();
}

static bool ends_with(const char *text, const char *ending)
{
    size_t size = strlen(text), end = strlen(ending);
    return size > end && strcmp(text + size - end, ending) == 0;
}

static int show(const invocation *call)
{
    const char *path = call->words[0];
    bool json = given(call, "--json"), graph = ends_with(path, ".pb") || ends_with(path, ".pbtxt");
    if (given(call, "--svg"))
        return tw_saved_model_contains(path) || graph ? draw_picture(call, path) : draw_keras(call, path);
    if (given(call, "--depth"))
        return usage_error(call->command, "--depth is about the picture: --svg OUT is expected");
    if (tw_saved_model_contains(path))
        return show_saved(path, json);
    if (graph) {
        char *text = tw_graph_file_text(path, json);
        fputs(text ? text : "", stdout);
        free(text);
        return text ? EXIT_WORKED : library_error();
    }
    return show_keras(path, json);
}

/* ---- run ---- */

static int no_input(const invocation *call, const opened_model *m, const char *word, const char *equals)
{
    char typed[64];
    snprintf(typed, sizeof typed, "%.*s", equals ? (int)(equals - word) : 0, word);
    const char *near = near_miss(typed, m->inputs, sizeof *m->inputs);
    if (equals && near)
        return usage_error(call->command, "there is no input '%s'; did you mean '%s'?", typed, near);
    return usage_error(call->command, "'%s' is no NAME=VALUE of an input; 'thalweg model show' lists them", word);
}

/* The tensors for all inputs, from words NAME=VALUE, or VALUE where there is one input. NULL and a message: it is wrong. */
static tw_tensor **read_inputs(const invocation *call, const opened_model *m, int64_t batch, int *result)
{
    tw_tensor **inputs = calloc((size_t)m->input_count + 1, sizeof *inputs);
    *result = inputs ? EXIT_WORKED : EXIT_FAILED;
    for (int i = 1; *result == EXIT_WORKED && i < call->count; i++) {
        const char *word = call->words[i], *equals = strchr(word, '=');
        int64_t found = -1;
        for (int64_t k = 0; equals && k < m->input_count; k++) {
            size_t size = strlen(m->inputs[k].name);
            if ((size_t)(equals - word) == size && memcmp(word, m->inputs[k].name, size) == 0)
                found = k;
        }
        const char *value = found >= 0 ? equals + 1 : word;
        if (found < 0 && m->input_count == 1)
            found = 0;
        if (found < 0)
            *result = no_input(call, m, word, equals);
        else if (inputs[found])
            *result = usage_error(call->command, "the input '%s' is given twice", m->inputs[found].name);
        else if (!(inputs[found] = input_tensor(&m->inputs[found], value, batch)))
            *result = library_error();
    }
    for (int64_t k = 0; *result == EXIT_WORKED && k < m->input_count; k++) {
        if (!inputs[k])
            *result = usage_error(call->command, "the input '%s' is missing", m->inputs[k].name);
    }
    return inputs;
}

static void free_inputs(tw_tensor **inputs, int64_t count)
{
    for (int64_t i = 0; inputs && i < count; i++)
        tw_release(inputs[i]);
    free(inputs);
}

static int print_result(const invocation *call, const char *name, tw_tensor *tensor, bool first)
{
    const char *folder = value_of(call, "--output", NULL);
    if (folder) {
        char path[4096];
        snprintf(path, sizeof path, "%s/%s.npy", folder, name);
        return tw_gfile_makedirs(folder) == TW_OK && tw_npy_write(path, tensor) == TW_OK ? EXIT_WORKED : library_error();
    }
    if (given(call, "--json")) {
        tw_value value = { .kind = TW_VALUE_TENSOR, .tensor = tensor };
        fputs(first ? "{" : ",\n ", stdout);
        print_json_text(name);
        fputs(": ", stdout);
        print_json(&value);
        return EXIT_WORKED;
    }
    char *text = tw_tensor_str(tensor);
    if (text) {
        print_name(stdout, name);
        printf(": %s\n", text);
    }
    free(text);
    return text ? EXIT_WORKED : library_error();
}

static bool has_signatures(const invocation *call)
{
    if (!given(call, "--signature") || tw_saved_model_contains(call->words[0]))
        return true;
    usage_error(call->command, "'%s' is no SavedModel: it has no signatures", call->words[0]);
    return false;
}

static int run(const invocation *call)
{
    int64_t batch;
    if (!number_of(call, "--batch", 1, 1, &batch) || !has_signatures(call))
        return EXIT_USAGE;
    opened_model m;
    int result = EXIT_WORKED;
    tw_tensor **inputs = NULL;
    tw_tensors results = { 0 };
    if (!open_model(&m, call->words[0], value_of(call, "--signature", NULL)))
        result = library_error();
    else
        inputs = read_inputs(call, &m, batch, &result);
    if (result == EXIT_WORKED && !(results = call_model(&m, inputs)).items)
        result = library_error();
    for (int64_t i = 0; result == EXIT_WORKED && i < results.count; i++) {
        char room[32];
        result = print_result(call, model_output(&m, i, room), results.items[i], i == 0);
    }
    if (result == EXIT_WORKED && given(call, "--json") && !given(call, "--output"))
        puts(results.count ? "}" : "{}");
    tw_tensors_free(&results);
    free_inputs(inputs, m.input_count);
    close_model(&m);
    return result;
}

/* ---- bench ---- */

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static int by_time(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

enum { TIMES_LIMIT = 1 << 20 };

/* Calls until the seconds are over; how many were measured, -1: an error. */
static int64_t measure(opened_model *m, tw_tensor **inputs, double seconds, double *times)
{
    int64_t count = 0;
    for (double end = now() + seconds; count < 3 || (now() < end && count < TIMES_LIMIT); count++) {
        double start = now();
        tw_tensors results = call_model(m, inputs);
        if (!results.items)
            return -1;
        tw_tensors_free(&results);
        times[count] = now() - start;
    }
    return count;
}

static void print_times(const invocation *call, const double *times, int64_t count, int64_t batch)
{
    double sum = 0, ms = 1000;
    for (int64_t i = 0; i < count; i++)
        sum += times[i];
    const double half = times[count / 2] * ms, most = times[count - 1 - count / 100] * ms;
    const char *format =
        given(call, "--json")
            ? "{\"calls\": %lld, \"batch\": %lld, \"mean_ms\": %.6g, \"median_ms\": %.6g, \"p99_ms\": %.6g, \"min_ms\": %.6g, \"per_second\": %.6g}\n"
            : "%lld calls of batch %lld: mean %.4g ms, median %.4g ms, 99th percentile %.4g ms, least %.4g ms, %.4g examples/s\n";
    printf(format, (long long)count, (long long)batch, sum / (double)count * ms, half, most, times[0] * ms,
           (double)(batch * count) / sum);
}

static int bench(const invocation *call)
{
    int64_t batch;
    double seconds;
    if (!number_of(call, "--batch", 1, 1, &batch) || !real_of(call, "--seconds", 2, &seconds) || !has_signatures(call))
        return EXIT_USAGE;
    opened_model m;
    bool works = open_model(&m, call->words[0], value_of(call, "--signature", NULL));
    tw_tensor **inputs = works ? calloc((size_t)m.input_count + 1, sizeof *inputs) : NULL;
    double *times = malloc(TIMES_LIMIT * sizeof *times);
    for (int64_t i = 0; works && (works = inputs && times) && i < m.input_count; i++)
        works = (inputs[i] = input_tensor(&m.inputs[i], "ones", batch)) != NULL;
    int64_t count = works ? measure(&m, inputs, seconds / 10, times) : -1; /* the first calls make plans */
    if (count > 0)
        count = measure(&m, inputs, seconds, times);
    if (count > 0) {
        qsort(times, (size_t)count, sizeof *times, by_time);
        print_times(call, times, count, batch);
    }
    free(times);
    free_inputs(inputs, m.input_count);
    close_model(&m);
    return count > 0 ? EXIT_WORKED : library_error();
}

/* ---- convert, diff ---- */

static int convert(const invocation *call)
{
    const char *out = call->words[1];
    tw_auto tw_model *model = tw_load_model(call->words[0]);
    if (!model)
        return library_error();
    const char *format = ends_with(out, ".keras") ? "keras" : ends_with(out, ".h5") || ends_with(out, ".hdf5") ? "h5" : "tf";
    return tw_model_save(model, out, .save_format = format) == TW_OK ? EXIT_WORKED : library_error();
}

static int diff(const invocation *call)
{
    double tolerance, most;
    if (!real_of(call, "--tolerance", 0, &tolerance))
        return EXIT_USAGE;
    tw_auto tw_model *a = tw_load_model(call->words[0], .compile = false);
    tw_auto tw_model *b = a ? tw_load_model(call->words[1], .compile = false) : NULL;
    if (!b)
        return library_error();
    tw_objects x = tw_layer_variables(a), y = tw_layer_variables(b);
    int result = x.items && y.items ? EXIT_WORKED : library_error();
    if (result == EXIT_WORKED && x.count != y.count) {
        printf("%lld weights and %lld weights\n", (long long)x.count, (long long)y.count);
        result = EXIT_FAILED;
    }
    for (int64_t i = 0; i < x.count && i < y.count; i++) {
        tw_auto tw_tensor *left = tw_variable_read(x.items[i]);
        tw_auto tw_tensor *right = tw_variable_read(y.items[i]);
        char *name = tw_variable_name(x.items[i]);
        tw_shape p = tw_tensor_shape(left), q = tw_tensor_shape(right);
        bool same = tw_tensor_dtype(left) == tw_tensor_dtype(right) && p.rank == q.rank &&
                    memcmp(p.dims, q.dims, (size_t)p.rank * sizeof *p.dims) == 0;
        if (!same || differ(left, right, tolerance, &most)) {
            print_name(stdout, name ? name : "");
            if (same)
                printf("  values differ by up to %.6g\n", most);
            else
                puts("  other dtype or shape");
            result = EXIT_FAILED;
        }
        free(name);
    }
    tw_objects_free(&x);
    tw_objects_free(&y);
    return result;
}

static const verb verbs[] = {
    { "show", "MODEL", 1, 1, "what is in it: signatures, variables, ops; layers of a file of Keras; a picture", show },
    { "run", "MODEL NAME=VALUE …", 1, -1, "calls it and prints the results", run },
    { "bench", "MODEL", 1, 1, "how long a call takes", bench },
    { "convert", "MODEL OUT", 2, 2, "writes a model of Keras in the format that OUT's ending says", convert },
    { "diff", "MODEL MODEL", 2, 2, "compares the weights of two models of Keras; the exit code is 1 if they differ", diff },
    { .name = NULL },
};
static const command_option options[] = {
    { "--json", 0, NULL, "as JSON", NULL },
    { "--svg", 0, "OUT", "a picture of the layers, in this file; -: on the standard output", "show" },
    { "--depth", 0, "N", "name scopes below this are one box each (1; 0: every node is one)", "show" },
    { "--signature", 0, "KEY", "the signature of a SavedModel (serving_default)", "show run bench" },
    { "--batch", 0, "N", "the first dimension of inputs that are made up (1)", "run bench" },
    { "--output", 0, "DIR", "writes the results there as .npy files", "run" },
    { "--seconds", 0, "X", "how long to measure (2)", "bench" },
    { "--tolerance", 0, "X", "numbers that are no further apart are equal (0)", "diff" },
    { .name = NULL },
};
const command model_command = {
    .name = "model",
    .summary = "Shows, runs, measures, converts and compares models.",
    .help =
        "\nMODEL is the directory of a SavedModel, a file of Keras (.keras, .h5), or, to be shown, a GraphDef (.pb, .pbtxt).\n"
        "VALUE is an .npy file, JSON as in '[[1.5, 2]]', or one of the words zeros and ones. NAME= may be left out if there is one input.\n"
        "OUT ends in .keras or .h5, or is the directory of a SavedModel.\n",
    .verbs = verbs,
    .options = options,
};
