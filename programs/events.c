/* thalweg events ls|cat|export|verify: what event files hold, as summaries are written into them. */
#include <ftw.h>
#include <libgen.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "program.h"

/* ---- the files below a path ---- */

typedef struct names {
    char **items;
    size_t count, capacity;
} names;

static names *collected;

static int collect(const char *path, const struct stat *status, int kind, struct FTW *at)
{
    (void)status;
    if (kind != FTW_F || !strstr(path + at->base, "tfevents"))
        return 0;
    if (collected->count == collected->capacity) {
        size_t wider = collected->capacity ? collected->capacity * 2 : 16;
        char **items = realloc(collected->items, wider * sizeof *items);
        if (!items)
            return 1;
        collected->items = items;
        collected->capacity = wider;
    }
    char *copy = strdup(path);
    if (copy)
        collected->items[collected->count++] = copy;
    return copy ? 0 : 1;
}

static int by_name(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static void free_names(names *files)
{
    for (size_t i = 0; i < files->count; i++)
        free(files->items[i]);
    free(files->items);
}

/* All event files at a path, in order. False and a message: there are none. */
static bool find_files(const char *path, names *files)
{
    struct stat status;
    *files = (names){ 0 };
    collected = files;
    if (stat(path, &status) != 0) {
        perror(path);
        return false;
    }
    if (!S_ISDIR(status.st_mode)) {
        files->items = malloc(sizeof *files->items);
        if (files->items && (files->items[0] = strdup(path)))
            files->count = 1;
    } else if (nftw(path, collect, 32, FTW_PHYS) != 0) {
        perror(path);
        return false;
    }
    if (files->count)
        qsort(files->items, files->count, sizeof *files->items, by_name);
    else
        fprintf(stderr, "thalweg: %s: there are no event files\n", path);
    return files->count > 0;
}

/* The name of a file's run: its directory below the path that was given; "." is that one itself. */
static const char *run_of(const char *root, const char *file, char *room, size_t size)
{
    size_t skip = strlen(root);
    snprintf(room, size, "%s", file);
    const char *folder = dirname(room);
    if (strncmp(folder, root, skip) != 0)
        return ".";
    folder += skip;
    folder += *folder == '/';
    return *folder ? folder : ".";
}

/* ---- values ---- */

typedef struct walk {
    const invocation *call;
    void (*visit)(struct walk *walk, const tw_event_value *value);
    void *state;
    const char *run;
    int64_t values, damages, skipped;
} walk;

/* All values of a file; damage is passed over and counted. False: the file cannot be read. */
static bool walk_file(walk *w, const char *path)
{
    tw_events *events = tw_events_open(path, 0);
    tw_event_value value;
    while (events) {
        if (tw_events_next(events, &value)) {
            w->values++;
            if (w->visit)
                w->visit(w, &value);
            continue;
        }
        if (tw_error_code() == TW_OK)
            break;
        tw_records *records = tw_events_records(events);
        bool growing = tw_records_cut_off(records);
        tw_clear_error();
        if (growing)
            break; /* the last record is being written */
        int64_t skipped = tw_records_skip_damage(records);
        w->damages++;
        w->skipped += skipped > 0 ? skipped : 0;
        if (skipped < 0)
            break;
    }
    bool opened = events != NULL;
    tw_events_close(events);
    return opened;
}

static int walk_path(walk *w, const char *path)
{
    names files;
    char room[4096];
    int result = find_files(path, &files) ? EXIT_WORKED : EXIT_FAILED;
    for (size_t i = 0; result == EXIT_WORKED && i < files.count; i++) {
        w->run = run_of(path, files.items[i], room, sizeof room);
        result = walk_file(w, files.items[i]) ? EXIT_WORKED : library_error();
        show_progress(path, (int64_t)i + 1, (int64_t)files.count);
    }
    free_names(&files);
    if (w->damages)
        fprintf(stderr, "thalweg: %s: %lld damaged places were passed over, %lld bytes\n", path, (long long)w->damages,
                (long long)w->skipped);
    return result;
}

/* Whether a value is one number, and which. */
static bool is_scalar(const tw_event_value *value, double *number)
{
    if (value->has_number) {
        *number = value->number;
        return true;
    }
    if (!value->tag || !value->tensor.size)
        return false;
    tw_auto tw_tensor *tensor = tw_event_tensor(value);
    bool scalar = tensor && tw_tensor_count(tensor) == 1 && tw_tensor_rank(tensor) == 0 && tw_tensor_dtype(tensor) != TW_STRING;
    if (scalar)
        *number = tw_tensor_double_at(tensor, 0);
    tw_clear_error();
    return scalar;
}

static void print_number(double value, bool json)
{
    if (json && !isfinite(value))
        printf("\"%s\"", isnan(value) ? "NaN" : value > 0 ? "Infinity" : "-Infinity");
    else
        printf("%.9g", value);
}

/* ---- ls ---- */

typedef struct event_tag {
    char *run, *name, *plugin;
    int64_t count, first, last;
} event_tag;

typedef struct tags {
    event_tag *items;
    size_t count, capacity;
    bool full; /* no memory */
} tags;

static event_tag *find_tag(tags *all, const char *run, const char *name, const char *plugin)
{
    for (size_t i = all->count; i-- > 0;) { /* the newest is often meant */
        event_tag *t = &all->items[i];
        if (strcmp(t->name, name) == 0 && strcmp(t->run, run) == 0 && strcmp(t->plugin, plugin) == 0)
            return t;
    }
    if (all->count == all->capacity) {
        size_t wider = all->capacity ? all->capacity * 2 : 64;
        event_tag *items = realloc(all->items, wider * sizeof *items);
        if (!items)
            return NULL;
        all->items = items;
        all->capacity = wider;
    }
    all->items[all->count] = (event_tag){ .run = strdup(run), .name = strdup(name), .plugin = strdup(plugin) };
    return &all->items[all->count++];
}

static void note_tag(walk *w, const tw_event_value *value)
{
    double number;
    const char *plugin = value->plugin && *value->plugin ? value->plugin
                         : !value->tag                   ? "graphs"
                         : is_scalar(value, &number)     ? "scalars"
                                                         : "";
    event_tag *found = find_tag(w->state, w->run, value->tag ? value->tag : "", plugin);
    if (!found) {
        ((tags *)w->state)->full = true;
        return;
    }
    if (!found->count++)
        found->first = value->step;
    found->last = value->step;
}

static void print_tag(const event_tag *t, bool json, int run_width, int name_width_)
{
    if (json) {
        fputs("{\"run\": ", stdout);
        print_json_text(t->run);
        fputs(", \"tag\": ", stdout);
        print_json_text(t->name);
        fputs(", \"plugin\": ", stdout);
        print_json_text(t->plugin);
        printf(", \"count\": %lld, \"first_step\": %lld, \"last_step\": %lld}\n", (long long)t->count, (long long)t->first,
               (long long)t->last);
        return;
    }
    print_padded(t->run, run_width);
    fputs("  ", stdout);
    print_padded(t->name, name_width_);
    fputs("  ", stdout);
    print_padded(t->plugin, 10);
    printf("  %8lld values, steps %lld to %lld\n", (long long)t->count, (long long)t->first, (long long)t->last);
}

static int list(const invocation *call)
{
    tags all = { 0 };
    int result = EXIT_WORKED, runs = 0, widest = 0;
    for (int i = 0; result == EXIT_WORKED && i < call->count; i++) {
        walk w = { .call = call, .visit = note_tag, .state = &all };
        result = walk_path(&w, call->words[i]);
    }
    if (all.full) {
        fputs("thalweg: no memory\n", stderr);
        result = EXIT_FAILED;
    }
    for (size_t i = 0; i < all.count; i++) {
        runs = name_width(all.items[i].run) > runs ? name_width(all.items[i].run) : runs;
        widest = name_width(all.items[i].name) > widest ? name_width(all.items[i].name) : widest;
    }
    for (size_t i = 0; i < all.count; i++) {
        if (result == EXIT_WORKED)
            print_tag(&all.items[i], given(call, "--json"), runs, widest);
        free(all.items[i].run);
        free(all.items[i].name);
        free(all.items[i].plugin);
    }
    free(all.items);
    return result;
}

/* ---- cat, export ---- */

static bool is_wanted(const walk *w, const tw_event_value *value)
{
    const char *tag = value_of(w->call, "--tag", NULL);
    return !tag || (value->tag && strcmp(tag, value->tag) == 0);
}

static void print_json_value(const walk *w, const tw_event_value *value, bool scalar, double number, tw_tensor *tensor)
{
    fputs("{\"run\": ", stdout);
    print_json_text(w->run);
    fputs(", \"tag\": ", stdout);
    print_json_text(value->tag ? value->tag : "");
    printf(", \"step\": %lld, \"wall_time\": %.6f, \"value\": ", (long long)value->step, value->wall_time);
    if (scalar) {
        print_number(number, true);
    } else {
        tw_value whole = { .kind = tensor ? TW_VALUE_TENSOR : TW_VALUE_NONE };
        if (tensor)
            whole.tensor = tensor;
        print_json(&whole);
    }
    puts("}");
}

static void print_value(walk *w, const tw_event_value *value)
{
    double number = 0;
    if (!is_wanted(w, value))
        return;
    bool scalar = is_scalar(value, &number), json = given(w->call, "--json");
    tw_auto tw_tensor *tensor = !scalar && value->tag ? tw_event_tensor(value) : NULL;
    tw_clear_error();
    if (json) {
        print_json_value(w, value, scalar, number, tensor);
        return;
    }
    printf("%lld\t%.6f\t", (long long)value->step, value->wall_time);
    print_name(stdout, w->run);
    putchar('\t');
    print_name(stdout, value->tag ? value->tag : "graph");
    putchar('\t');
    if (scalar) {
        print_number(number, false);
    } else if (tensor) {
        tw_shape shape = tw_tensor_shape(tensor);
        printf("%s ", tw_dtype_name(tw_tensor_dtype(tensor)));
        print_shape(&shape);
    } else {
        printf("%zu bytes", value->graph.size);
    }
    putchar('\n');
}

static void print_csv_text(const char *text)
{
    if (!strpbrk(text, ",\"\r\n")) {
        fputs(text, stdout);
        return;
    }
    putchar('"');
    for (; *text; text++) {
        if (*text == '"')
            putchar('"');
        putchar(*text);
    }
    putchar('"');
}

static void print_csv(walk *w, const tw_event_value *value)
{
    double number;
    if (!is_wanted(w, value) || !is_scalar(value, &number))
        return;
    print_csv_text(w->run);
    putchar(',');
    print_csv_text(value->tag ? value->tag : "");
    printf(",%lld,%.6f,", (long long)value->step, value->wall_time);
    print_number(number, false);
    putchar('\n');
}

static void print_scalar_json(walk *w, const tw_event_value *value)
{
    double number;
    if (is_wanted(w, value) && is_scalar(value, &number))
        print_json_value(w, value, true, number, NULL);
}

static int visit_all(const invocation *call, void (*visit)(walk *w, const tw_event_value *value))
{
    int result = EXIT_WORKED;
    for (int i = 0; result == EXIT_WORKED && i < call->count; i++) {
        walk w = { .call = call, .visit = visit };
        result = walk_path(&w, call->words[i]);
    }
    return result;
}

static int cat(const invocation *call)
{
    return visit_all(call, print_value);
}

static int export(const invocation *call)
{
    if (given(call, "--json"))
        return visit_all(call, print_scalar_json);
    puts("run,tag,step,wall_time,value");
    return visit_all(call, print_csv);
}

/* ---- verify ---- */

static int verify(const invocation *call)
{
    int result = EXIT_WORKED;
    for (int i = 0; i < call->count; i++) {
        names files;
        if (!find_files(call->words[i], &files))
            return EXIT_FAILED;
        for (size_t j = 0; j < files.count; j++) {
            walk w = { .call = call };
            if (!walk_file(&w, files.items[j])) {
                result = library_error();
                continue;
            }
            if (w.damages)
                result = EXIT_FAILED;
            if (given(call, "--json")) {
                fputs("{\"file\": ", stdout);
                print_json_text(files.items[j]);
                printf(", \"values\": %lld, \"damages\": %lld, \"skipped_bytes\": %lld}\n", (long long)w.values,
                       (long long)w.damages, (long long)w.skipped);
            } else {
                print_name(stdout, files.items[j]);
                printf(w.damages ? ": damaged in %lld places, %lld bytes skipped, " : ": good, ", (long long)w.damages,
                       (long long)w.skipped);
                printf("%lld values\n", (long long)w.values);
            }
        }
        free_names(&files);
    }
    return result;
}

static const verb verbs[] = {
    { "ls", "PATH …", 1, -1, "runs and tags, with how many values and which steps they have", list },
    { "cat", "PATH …", 1, -1, "step, time, run, tag and value of everything", cat },
    { "export", "PATH …", 1, -1, "the scalars, as CSV", export },
    { "verify", "PATH …", 1, -1, "checks every checksum; the exit code is 1 if a file is damaged", verify },
    { .name = NULL },
};
static const command_option options[] = {
    { "--json", 0, NULL, "as JSON, a line for each value", NULL },
    { "--csv", 0, NULL, "as CSV, which it is without this option, too", "export" },
    { "--tag", 0, "NAME", "only what is called so", "cat export" },
    { .name = NULL },
};
const command events_command = {
    .name = "events",
    .summary = "Shows, checks and exports what event files hold.",
    .help = "\nPATH is an event file, or a directory below which there are some.\n",
    .verbs = verbs,
    .options = options,
};
