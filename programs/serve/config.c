/* Files of settings in protocol buffers' text format: the models of --model_config_file, the numbers of
 * --batching_parameters_file. A field that is not known is an error. */
#include <stdlib.h>
#include <string.h>

#include "serve.h"

typedef struct reader {
    const char *path, *at;
    int line;
    bool failed;
    char word[4096];
} reader;

static bool fail(reader *r, const char *what)
{
    if (!r->failed)
        fprintf(stderr, "thalweg: %s: line %d: %s\n", r->path, r->line, what);
    r->failed = true;
    return false;
}

static char skip(reader *r)
{
    for (;; r->at++) {
        if (*r->at == '#')
            r->at += strcspn(r->at, "\n");
        if (*r->at == '\n')
            r->line++;
        else if (!*r->at || !strchr(" \t\r,;", *r->at))
            return *r->at;
    }
}

static bool read_string(reader *r)
{
    char quote = *r->at++;
    size_t size = 0;
    while (*r->at && *r->at != quote && *r->at != '\n' && size + 1 < sizeof r->word) {
        r->at += *r->at == '\\' && r->at[1];
        r->word[size++] = *r->at++;
    }
    r->word[size] = 0;
    return *r->at++ == quote ? true : fail(r, "the text has no end");
}

/* A name, a number or a text into r->word. */
static bool read_word(reader *r)
{
    char c = skip(r);
    if (c == '"' || c == '\'')
        return read_string(r);
    size_t size = strspn(r->at, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.+-");
    if (!size || size >= sizeof r->word)
        return fail(r, "a word is expected");
    memcpy(r->word, r->at, size);
    r->word[size] = 0;
    r->at += size;
    return true;
}

/* Begins a message: "name {" or "name: {". */
static bool begin(reader *r)
{
    if (skip(r) == ':')
        r->at++;
    if (skip(r) != '{')
        return fail(r, "{ is expected");
    r->at++;
    return true;
}

/* The next field's name into r->word; false at the end of the message, and of the file with `whole`. */
static bool next_field(reader *r, bool whole)
{
    char c = r->failed ? 0 : skip(r);
    if (c == '}' && !whole) {
        r->at++;
        return false;
    }
    if (!c)
        return r->failed || whole ? false : fail(r, "} is expected");
    return read_word(r);
}

static bool read_value(reader *r)
{
    if (skip(r) != ':')
        return fail(r, ": is expected");
    r->at++;
    return read_word(r);
}

static bool read_integer(reader *r, int64_t *number)
{
    char *end = NULL;
    if (!read_value(r))
        return false;
    *number = strtoll(r->word, &end, 10);
    return end != r->word && !*end && *number >= 0 ? true : fail(r, "a whole number is expected");
}

static char *read_file(const char *path)
{
    char *text = NULL;
    size_t size = 0, got;
    FILE *file = fopen(path, "rb"), *out = file ? open_memstream(&text, &size) : NULL;
    char piece[4096];
    while (out && (got = fread(piece, 1, sizeof piece, file)) > 0)
        fwrite(piece, 1, got, out);
    bool good = file && !ferror(file) && out;
    if (out)
        good = fclose(out) == 0 && good;
    if (file)
        fclose(file);
    if (good)
        return text;
    perror(path);
    free(text);
    return NULL;
}

/* ---- models ---- */

static void read_policy(reader *r, served_model *model)
{
    for (begin(r); next_field(r, false);) {
        bool specific = strcmp(r->word, "specific") == 0, latest = strcmp(r->word, "latest") == 0;
        if (!specific && !latest && strcmp(r->word, "all") != 0) {
            fail(r, "latest, all or specific is expected");
            return;
        }
        model->policy = specific ? SPECIFIC : latest ? LATEST : ALL;
        for (begin(r); next_field(r, false);) {
            if (latest && strcmp(r->word, "num_versions") == 0)
                read_integer(r, &model->latest);
            else if (specific && strcmp(r->word, "versions") == 0 && model->wanted_count < VERSIONS_LIMIT)
                read_integer(r, &model->versions_wanted[model->wanted_count++]);
            else
                fail(r, "there is no such field in the policy");
        }
    }
}

static void read_label(reader *r, served_model *model)
{
    if (model->label_count == LABELS_LIMIT) {
        fail(r, "too many labels");
        return;
    }
    int at = model->label_count++;
    for (begin(r); next_field(r, false);) {
        if (strcmp(r->word, "key") == 0 && read_value(r)) {
            free(model->labels[at].name);
            model->labels[at].name = strdup(r->word);
        } else if (!r->failed && strcmp(r->word, "value") == 0) {
            read_integer(r, &model->labels[at].version);
        } else {
            fail(r, "key or value is expected");
        }
    }
    if (!model->labels[at].name)
        fail(r, "a label has no key");
}

static void read_model(reader *r, serving *s)
{
    served_model read = { .policy = LATEST, .latest = 1 };
    for (begin(r); next_field(r, false);) {
        if (strcmp(r->word, "name") == 0 && read_value(r))
            read.name = strdup(r->word);
        else if (!r->failed && strcmp(r->word, "base_path") == 0 && read_value(r))
            read.path = strdup(r->word);
        else if (!r->failed && strcmp(r->word, "model_platform") == 0 && read_value(r)) {
            if (strcmp(r->word, "tensorflow") != 0)
                fail(r, "the platform must be \"tensorflow\"");
        } else if (!r->failed && strcmp(r->word, "model_version_policy") == 0)
            read_policy(r, &read);
        else if (!r->failed && strcmp(r->word, "version_labels") == 0)
            read_label(r, &read);
        else
            fail(r, "there is no such field of a model");
    }
    served_model *made = NULL;
    if (!r->failed && (!read.name || !read.path))
        fail(r, "a model needs a name and a base_path");
    else if (!r->failed && !(made = models_add(s, read.name, read.path)))
        fail(r, "there is a model of that name already");
    if (made) {
        char *name = made->name, *path = made->path;
        struct model_counts *counts = made->counts;
        *made = read;
        made->name = name;
        made->path = path;
        made->counts = counts;
    }
    free(read.name);
    free(read.path);
}

bool config_models(serving *s, const char *path)
{
    char *text = read_file(path);
    reader r = { .path = path, .at = text, .line = 1, .failed = !text };
    while (next_field(&r, true)) {
        if (strcmp(r.word, "model_config_list") != 0) {
            fail(&r, "model_config_list is expected");
            break;
        }
        for (begin(&r); next_field(&r, false);) {
            if (strcmp(r.word, "config") == 0)
                read_model(&r, s);
            else
                fail(&r, "config is expected");
        }
    }
    free(text);
    return !r.failed;
}

/* ---- batches ---- */

bool config_batching(batch_settings *settings, const char *path)
{
    char *text = read_file(path);
    reader r = { .path = path, .at = text, .line = 1, .failed = !text };
    while (next_field(&r, true)) {
        int64_t other, *number = strcmp(r.word, "max_batch_size") == 0         ? &settings->most
                                 : strcmp(r.word, "batch_timeout_micros") == 0 ? &settings->timeout
                                 : strcmp(r.word, "num_batch_threads") == 0    ? &settings->threads
                                 : strcmp(r.word, "max_enqueued_batches") == 0 ? &other /* requests are bounded by connections */
                                                                               : NULL;
        if (!number) {
            fail(&r, "the field is not known; there are max_batch_size, batch_timeout_micros, num_batch_threads and "
                     "max_enqueued_batches");
            break;
        }
        for (begin(&r); next_field(&r, false);) {
            if (strcmp(r.word, "value") == 0)
                read_integer(&r, number);
            else
                fail(&r, "value is expected");
        }
    }
    if (!r.failed && (settings->most < 1 || settings->threads < 1))
        fail(&r, "max_batch_size and num_batch_threads must be at least 1");
    free(text);
    return !r.failed;
}
