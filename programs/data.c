/* thalweg data FILE …: an input pipeline, tried out: what its elements are, the first of them, how fast they come. */
#include <glob.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "example_features.h"
#include "http.h"
#include "program.h"

#include <thalweg/python.h>

enum { STEPS_LIMIT = 5, PARTS_LIMIT = 256, NAME_LIMIT = 120 };

typedef struct pipeline {
    const char *kind; /* "TFRecord", … */
    feature_list features;
    struct {
        const char *name;
        tw_dataset *made;
    } steps[STEPS_LIMIT];
    int count;
    struct part {
        char name[NAME_LIMIT];
        tw_tensor_spec *spec;
    } parts[PARTS_LIMIT]; /* of an element, flat */
    int64_t part_count;
} pipeline;

static bool add_step(pipeline *p, const char *name, tw_dataset *made)
{
    if (made) {
        p->steps[p->count].name = name;
        p->steps[p->count++].made = made;
    }
    return made != NULL;
}

static tw_dataset *last(const pipeline *p)
{
    return p->steps[p->count - 1].made;
}

/* ---- sources ---- */

static const struct {
    const char *ending, *kind;
} ENDINGS[] = { { ".tfrecord", "TFRecord" }, { ".tfrecords", "TFRecord" },
                { ".record", "TFRecord" },   { ".records", "TFRecord" },
                { ".csv", "CSV" },           { ".npy", "NPY" },
                { ".png", "image" },         { ".jpg", "image" },
                { ".jpeg", "image" },        { ".gif", "image" },
                { ".bmp", "image" },         { NULL, "text" } };
static const char *const KINDS[] = { "TFRecord", "CSV", "NPY", "image", "text", "saved", NULL };

/* Whether Dataset.save made the folder. */
static bool is_saved(const char *path)
{
    char file[4096];
    return snprintf(file, sizeof file, "%s/snapshot.metadata", path) < (int)sizeof file && tw_gfile_exists(file);
}

static const char *kind_of(const char *path)
{
    int i = 0;
    if (is_saved(path))
        return "saved";
    for (; ENDINGS[i].ending; i++) {
        const char *found = strstr(path, ENDINGS[i].ending), *end = found ? found + strlen(ENDINGS[i].ending) : NULL;
        if (found && (!*end || strcmp(end, ".gz") == 0 || (*end == '-' && !strchr(end, '/'))))
            break;
    }
    return ENDINGS[i].kind;
}

TW_BODY(decode_image)
{
    return tw_give(tw_image_decode_image(tw_io_read_file(in.items[0]), .expand_animations = false));
}

TW_BODY(parse_example)
{
    const feature_list *list = user;
    void *features[FEATURES_LIMIT];
    for (int i = 0; i < list->count; i++)
        features[i] = tw_example_feature(list->items[i].key, list->items[i].dtype, .shape = list->items[i].shape,
                                         .kind = list->items[i].any_number ? "sequence" : "fixed");
    return tw_io_parse_example(in.items[0], (tw_objects){ features, list->count });
}

TW_BODY(itself)
{
    (void)user;
    return tw_give(in.items[0]);
}

/* Of a dataset of the shards' datasets: one shard behind the other. */
TW_BODY(join_shards)
{
    tw_value inner = { .kind = TW_VALUE_OBJECT, .object = tw_tensor_spec(TW_SCALAR, TW_VARIANT) };
    tw_dataset *shards = tw_dataset_variant(in.items[0], inner), *like = tw_dataset_variant(in.items[0], *(const tw_value *)user),
               *flat = tw_dataset_flat_map(shards, tw_function_new(itself, NULL), .element = like);
    return tw_give(flat ? tw_dataset_variant_tensor(flat) : NULL);
}

static const char *compression_of_saved(const char *path)
{
    char pattern[4096];
    const char *found = "";
    glob_t files;
    snprintf(pattern, sizeof pattern, "%s/*/*.shard/*.snapshot", path);
    if (glob(pattern, 0, NULL, &files) == 0) {
        found = compression_of(files.gl_pathv[0]);
        globfree(&files);
    }
    return found;
}

static bool add_saved(pipeline *p, const char *path)
{
    tw_tensor *bytes = tw_dataset_saved_spec(path);
    tw_value spec = bytes ? tw_structure_read(bytes) : (tw_value){ .kind = TW_VALUE_NONE };
    if (!bytes || tw_error_code() != TW_OK)
        return false;
    bool works = add_step(p, "read",
                          tw_dataset_load(tw_tensor_string(path, strlen(path)), tw_function_new(join_shards, &spec), spec,
                                          .compression = compression_of_saved(path)));
    tw_value_free(&spec);
    return works;
}

static bool add_source(pipeline *p, const invocation *call, int64_t batch)
{
    tw_tensor *arrays[64];
    tw_string *names = calloc((size_t)call->count + 1, sizeof *names);
    for (int i = 0; names && i < call->count; i++)
        names[i] = (tw_string){ call->words[i], strlen(call->words[i]) };
    tw_tensor *paths = names ? tw_tensor_new(TW_STRING, TW_SHAPE(call->count), names) : NULL;
    free(names);
    const char *compression = compression_of(call->words[0]);
    if (!paths)
        return false;
    if (strcmp(p->kind, "saved") == 0)
        return add_saved(p, call->words[0]);
    if (strcmp(p->kind, "TFRecord") == 0)
        return add_step(p, "read", tw_dataset_tf_record(paths, .compression_type = compression));
    if (strcmp(p->kind, "text") == 0)
        return add_step(p, "read", tw_dataset_text_line(paths, .compression_type = compression));
    if (strcmp(p->kind, "CSV") == 0) {
        tw_value files = { .kind = TW_VALUE_TENSOR, .tensor = paths };
        tw_dataset *rows = tw_dataset_make_csv(files, (double)(batch ? batch : 1), .num_epochs = 1, .shuffle = false);
        return add_step(p, batch ? "read, batch" : "read", batch || !rows ? rows : tw_dataset_unbatch(rows));
    }
    if (strcmp(p->kind, "image") == 0)
        return add_step(p, "paths", tw_dataset_from_tensor_slices(TW_TENSORS(paths))) &&
               add_step(p, "decode", tw_dataset_map(last(p), tw_function_new(decode_image, NULL), .num_parallel_calls = -1));
    for (int i = 0; i < call->count && i < 64; i++) {
        arrays[i] = tw_npy_read(call->words[i]);
        if (!arrays[i])
            return false;
    }
    return add_step(p, "read", tw_dataset_from_tensor_slices((tw_tensors){ arrays, call->count }));
}

static int make_pipeline(pipeline *p, const invocation *call)
{
    const char *parse = value_of(call, "--parse", NULL), *kind = value_of(call, "--kind", NULL);
    int64_t batch, shuffle, take;
    if (!number_of(call, "--batch", 1, 0, &batch) || !number_of(call, "--shuffle", 1, 0, &shuffle) ||
        !number_of(call, "--take", 1, 0, &take))
        return EXIT_USAGE;
    for (int i = 0; kind && KINDS[i]; i++) {
        if (strcasecmp(KINDS[i], kind) == 0)
            p->kind = KINDS[i];
    }
    if (kind && !p->kind)
        return no_such(call->command, "kind", kind, KINDS, sizeof *KINDS);
    if (!p->kind)
        p->kind = kind_of(call->words[0]);
    for (int i = 0; i < call->count; i++) {
        if (!tw_gfile_exists(call->words[i])) {
            fprintf(stderr, "thalweg: there is no file '%s'\n", call->words[i]);
            return EXIT_FAILED;
        }
    }
    bool records = strcmp(p->kind, "TFRecord") == 0, csv = strcmp(p->kind, "CSV") == 0, works = true;
    if (parse && !records)
        return usage_error(call->command, "--parse is for records of tf.train.Example; these files are %s", p->kind);
    if (call->count > 64 && strcmp(p->kind, "NPY") == 0)
        return usage_error(call->command, "more than 64 arrays");
    if (call->count > 1 && strcmp(p->kind, "saved") == 0)
        return usage_error(call->command, "more than one saved dataset");
    if (parse && strcmp(parse, "auto") != 0 && !features_read(&p->features, parse))
        return usage_error(call->command,
                           "'%s' is no list of features: NAME:DTYPE[DIM, …], …, as x:float32[2],y:int64,words:string*", parse);
    if (parse && strcmp(parse, "auto") == 0 && !features_guess(&p->features, call->words[0]))
        return EXIT_FAILED;
    works = add_source(p, call, csv ? batch : 0);
    if (works && take)
        works = add_step(p, "take", tw_dataset_take(last(p), (double)take));
    if (works && parse)
        works = add_step(p, "parse", tw_dataset_map(last(p), tw_function_new(parse_example, &p->features)));
    if (works && shuffle)
        works = add_step(p, "shuffle", tw_dataset_shuffle(last(p), (double)shuffle));
    if (works && batch && !csv)
        works = add_step(p, "batch",
                         p->features.varies ? tw_dataset_padded_batch(last(p), (double)batch)
                                            : tw_dataset_batch(last(p), (double)batch));
    return works ? EXIT_WORKED : library_error();
}

/* ---- printing ---- */

/* The leaves of a structure, named by their features, keys and numbers. False: there are too many, or others than tensors. */
static bool find_parts(pipeline *p, const tw_value *spec, const char *name)
{
    bool dict = spec->kind == TW_VALUE_DICT;
    if (dict || spec->kind == TW_VALUE_LIST || spec->kind == TW_VALUE_TUPLE) {
        for (int64_t i = 0; i < spec->list.count; i += 1 + dict) {
            char inner[NAME_LIMIT], number[32];
            snprintf(number, sizeof number, "%lld", (long long)i);
            const char *own = dict && spec->list.items[i].kind == TW_VALUE_STR ? spec->list.items[i].s.data : number;
            snprintf(inner, sizeof inner, "%s%s%s", name, *name ? "/" : "", own);
            if (!find_parts(p, &spec->list.items[i + dict], inner))
                return false;
        }
        return true;
    }
    if (spec->kind != TW_VALUE_OBJECT || p->part_count == PARTS_LIMIT)
        return false;
    tw_tensor_spec_shape(spec->object);
    if (tw_error_code() != TW_OK)
        return false;
    struct part *part = &p->parts[p->part_count];
    const char *called = p->part_count < p->features.count ? p->features.items[p->part_count].key : *name ? name : "0";
    snprintf(part->name, sizeof part->name, "%s", called);
    part->spec = spec->object;
    p->part_count++;
    return true;
}

static void print_spec(const pipeline *p, bool json)
{
    for (int64_t i = 0; i < p->part_count; i++) {
        tw_shape shape = tw_tensor_spec_shape(p->parts[i].spec);
        const char *name = p->parts[i].name, *dtype = tw_dtype_name(tw_tensor_spec_dtype(p->parts[i].spec));
        if (json) {
            printf("%s{\"name\": ", i ? ", " : "");
            print_json_text(name);
            printf(", \"dtype\": \"%s\", \"shape\": ", dtype);
            print_json_shape(&shape);
            putchar('}');
        } else {
            fputs("  ", stdout);
            print_name(stdout, name);
            printf(": %s ", dtype);
            print_shape(&shape);
            putchar('\n');
        }
    }
}

static int print_elements(const pipeline *p, int64_t most, bool json)
{
    tw_iterator *iterator = tw_iterator(.dataset = last(p));
    for (int64_t n = 0; iterator && n < most; n++) {
        tw_scoped();
        tw_tensors element = tw_iterator_next(iterator);
        if (!element.count)
            break;
        if (json)
            fputs(n ? ",\n  {" : "\n  {", stdout);
        else
            printf("element %lld\n", (long long)n);
        for (int64_t i = 0; i < element.count && i < p->part_count; i++) {
            const char *name = p->parts[i].name;
            tw_value value = { .kind = TW_VALUE_TENSOR, .tensor = element.items[i] };
            if (json) {
                fputs(i ? ", " : "", stdout);
                print_json_text(name);
                fputs(": ", stdout);
                print_json(&value);
            } else {
                char *text = tw_made_text(tw_tensor_str(element.items[i]));
                fputs("  ", stdout);
                print_name(stdout, name);
                fputs(": ", stdout);
                puts(text ? text : "");
            }
        }
        if (json)
            putchar('}');
    }
    return tw_error_code() == TW_OK ? EXIT_WORKED : library_error();
}

/* ---- timing ---- */

/* Runs through a dataset for at most so many seconds. */
static bool run_through(tw_dataset *dataset, const char *what, double seconds, int64_t *count, double *took)
{
    tw_scoped();
    double start = http_seconds(), now = start, shown = start;
    tw_iterator *iterator = tw_iterator(.dataset = dataset);
    for (*count = 0; iterator && now - start < seconds; ++*count) {
        tw_scoped();
        if (!tw_iterator_next(iterator).count)
            break;
        now = http_seconds();
        if (now - shown > 0.2) {
            show_progress(what, *count, 0);
            shown = now;
        }
    }
    show_progress(what, *count, -1);
    *took = http_seconds() - start;
    return tw_error_code() == TW_OK;
}

static int print_times(const pipeline *p, double seconds, bool json)
{
    for (int i = 0; i < p->count; i++) {
        int64_t count;
        double took;
        if (!run_through(p->steps[i].made, p->steps[i].name, seconds, &count, &took))
            return library_error();
        double each = count ? took / (double)count : 0;
        if (json)
            printf("%s{\"step\": \"%s\", \"elements\": %lld, \"seconds\": %.6g, \"per_second\": %.6g}", i ? ", " : "",
                   p->steps[i].name, (long long)count, took, took > 0 ? (double)count / took : 0);
        else
            printf("  %-12s %10lld elements %10.4g s %12.4g/s %12.4g ms each\n", p->steps[i].name, (long long)count, took,
                   took > 0 ? (double)count / took : 0, each * 1e3);
    }
    return EXIT_WORKED;
}

static int run(const invocation *call)
{
    tw_scoped();
    pipeline p = { 0 };
    int64_t show;
    double seconds;
    bool json = given(call, "--json");
    if (!number_of(call, "--show", 0, 3, &show) || !real_of(call, "--seconds", 5, &seconds))
        return EXIT_USAGE;
    if (given(call, "--seconds") && !given(call, "--time"))
        return usage_error(call->command, "--seconds is about --time");
    int result = make_pipeline(&p, call);
    if (result != EXIT_WORKED)
        return result;
    tw_value spec = tw_dataset_element_spec(last(&p));
    if (!find_parts(&p, &spec, "")) {
        tw_clear_error();
        fprintf(stderr, "thalweg: elements with other parts than tensors, or with more than %d of them, are not shown\n",
                PARTS_LIMIT);
        return EXIT_FAILED;
    }
    printf(json ? "{\"kind\": \"%s\", \"files\": %d,\n \"spec\": [" : "%s, %d file%s\n", p.kind, call->count,
           call->count == 1 ? "" : "s");
    print_spec(&p, json);
    fputs(json ? "],\n \"elements\": [" : "", stdout);
    result = print_elements(&p, show, json);
    fputs(json ? "]" : "", stdout);
    if (result == EXIT_WORKED && given(call, "--time")) {
        fputs(json ? ",\n \"steps\": [" : "each step with those before it:\n", stdout);
        result = print_times(&p, seconds, json);
        fputs(json ? "]" : "", stdout);
    }
    fputs(json ? "}\n" : "", stdout);
    return result;
}

static const verb verbs[] = { { NULL, "FILE …", 1, -1, "", run }, { .name = NULL } };
static const command_option options[] = {
    { "--kind", 0, "KIND", "TFRecord, CSV, text, NPY, image or saved, whatever the files are called", NULL },
    { "--parse", 0, "SPEC", "features of Examples: x:float32[2],y:int64,words:string*; or auto", NULL },
    { "--take", 0, "N", "the first N elements of the files", NULL },
    { "--shuffle", 0, "N", "in an order that chance gives, out of the next N", NULL },
    { "--batch", 0, "N", "N at a time", NULL },
    { "--show", 0, "N", "how many elements are printed (3)", NULL },
    { "--time", 0, NULL, "how fast each step is", NULL },
    { "--seconds", 0, "S", "how long each is measured at most (5)", NULL },
    { "--json", 0, NULL, "as JSON", NULL },
    { .name = NULL },
};
const command data_command = {
    .name = "data",
    .summary = "Tries an input pipeline: its elements, and how fast they come.",
    .help =
        "\nFILEs of one kind are read one after the other; arrays (.npy) side by side, row by row. Files may be compressed by gzip.\n"
        "A folder that Dataset.save made is one FILE.\n"
        "Features have a dtype of float32, int64 or string, and a shape; of one with * there may be any number. 'auto' looks at the\n"
        "first 100 records.\n",
    .verbs = verbs,
    .options = options,
};
