/* Embeddings of projector_config.pbtxt, by TensorBoard's routes.
 *
 *     projector/runs, projector/info?run, projector/tensor?run&name[&num_rows], projector/metadata?run&name[&num_rows],
 *     projector/bookmarks?run&name, projector/sprite_image?run&name
 *
 * Tensors stand in files of numbers with tabs between them, beside the config, or in the newest checkpoint of the run's folder or
 * the one above it. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tensors.h"
#include "board.h"

enum { TEXT_LIMIT = 512, EMBEDDINGS_LIMIT = 256, NUMBERS_LIMIT = 1 << 26 };

typedef struct embedding {
    char name[TEXT_LIMIT], metadata[TEXT_LIMIT], bookmarks[TEXT_LIMIT], path[TEXT_LIMIT], sprite[TEXT_LIMIT];
    long shape[2], sprite_dim[2];
    int dims, sprite_dims;
} embedding;

typedef struct config {
    embedding list[EMBEDDINGS_LIMIT];
    size_t count;
    char folder[BOARD_NAME_LIMIT];
    char checkpoint[BOARD_NAME_LIMIT]; /* its prefix; empty: there is none */
} config;

/* ---- the config ---- */

static const char *skip(const char *at)
{
    for (;;) {
        at += strspn(at, " \t\r\n,;:");
        if (*at != '#')
            return at;
        at += strcspn(at, "\n");
    }
}

/* A text in quotes, or a word. */
static const char *read_value(const char *at, char *out, size_t room)
{
    size_t size = 0;
    char quote = *at == '"' || *at == '\'' ? *at : 0;
    for (at += quote != 0; *at && (quote ? *at != quote : !isspace((unsigned char)*at) && *at != '}'); at++) {
        at += quote && *at == '\\' && at[1];
        if (size + 1 < room)
            out[size++] = *at;
    }
    out[size] = 0;
    return quote && *at ? at + 1 : at;
}

static void set_field(embedding *e, bool sprite, const char *name, const char *value)
{
    char *texts[] = { e->name, e->metadata, e->bookmarks, e->path };
    static const char *const names[] = { "tensor_name", "metadata_path", "bookmarks_path", "tensor_path" };
    for (int i = 0; i < 4; i++) {
        if (!sprite && strcmp(name, names[i]) == 0)
            snprintf(texts[i], TEXT_LIMIT, "%s", value);
    }
    if (strcmp(name, "image_path") == 0)
        snprintf(e->sprite, TEXT_LIMIT, "%s", value);
    if (strcmp(name, "tensor_shape") == 0 && e->dims < 2)
        e->shape[e->dims++] = strtol(value, NULL, 10);
    if (strcmp(name, "single_image_dim") == 0 && e->sprite_dims < 2)
        e->sprite_dim[e->sprite_dims++] = strtol(value, NULL, 10);
}

static void parse(const char *at, config *c)
{
    int depth = 0;
    embedding *e = NULL;
    char name[64], value[TEXT_LIMIT];
    while (*(at = skip(at))) {
        if (*at == '}') {
            depth--;
            at++;
            continue;
        }
        size_t size = strspn(at, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789");
        if (!size || size >= sizeof name)
            return;
        snprintf(name, sizeof name, "%.*s", (int)size, at);
        at = skip(at + size);
        if (*at == '{') {
            depth++;
            at++;
            if (depth == 1)
                e = strcmp(name, "embeddings") == 0 && c->count < EMBEDDINGS_LIMIT ? &c->list[c->count++] : NULL;
        } else {
            at = read_value(at, value, sizeof value);
            if (!depth && strcmp(name, "model_checkpoint_path") == 0)
                snprintf(c->checkpoint, sizeof c->checkpoint, "%s", value);
            if (e && depth)
                set_field(e, depth > 1, name, value);
        }
    }
}

/* A file beside the config, for free(). */
static uint8_t *read_beside(const board *b, const config *c, const char *name, size_t *size)
{
    char path[2 * BOARD_NAME_LIMIT];
    if (!*name || snprintf(path, sizeof path, *name == '/' ? "%.0s%s" : "%s/%s", c->folder, name) >= (int)sizeof path)
        return NULL;
    return board_read_whole(b, path, size);
}

/* Rows and columns of numbers; the numbers as floats if `out`. False: it is no table of numbers. */
static bool read_numbers(const char *text, long *rows, long *columns, long most, FILE *out)
{
    *rows = *columns = 0;
    for (const char *at = text; *at && (!most || *rows < most);) {
        long count = 0;
        while (*at && *at != '\n') {
            char *end;
            float value = strtof(at, &end);
            if (end == at)
                return *rows > 0 && strspn(at, " \t\r\n") == strlen(at);
            if (out)
                fwrite(&value, sizeof value, 1, out);
            count++;
            at = end + strspn(end, "\t \r");
        }
        at += *at == '\n';
        if (!count)
            continue;
        if ((*columns && count != *columns) || (*rows + 1) * count > NUMBERS_LIMIT)
            return false;
        *columns = count;
        ++*rows;
    }
    return *rows > 0;
}

/* ---- checkpoints ---- */

/* Whether the checkpoint's files lie in the directory that is shown. */
static bool may_read(const board *b, const char *prefix)
{
    static const char *const files[] = { ".index", ".data-00000-of-00001" };
    char path[2 * BOARD_NAME_LIMIT];
    for (int i = 0; i < 2; i++) {
        snprintf(path, sizeof path, "%s%s", prefix, files[i]);
        int file = board_open(b, path);
        if (file < 0)
            return false;
        close(file);
    }
    return true;
}

static void find_checkpoint(const board *b, config *c, bool root)
{
    char folder[BOARD_NAME_LIMIT + 4];
    for (int above = 0; !*c->checkpoint && above < 2 - root; above++) {
        snprintf(folder, sizeof folder, above ? "%s/.." : "%s", c->folder);
        char *found = tw_train_latest_checkpoint(folder);
        if (found && strlen(found) < sizeof c->checkpoint)
            strcpy(c->checkpoint, found);
        free(found);
        tw_clear_error();
    }
    if (*c->checkpoint && !may_read(b, c->checkpoint))
        *c->checkpoint = 0;
}

/* Adds the matrices of the checkpoint. What is said of an embedding without a name holds for all of them. */
static void add_tensors(config *c)
{
    tensor_file file = { 0 };
    embedding first = { 0 };
    if (!*c->checkpoint || !open_tensors(&file, c->checkpoint)) {
        tw_clear_error();
        return;
    }
    if (c->count && !*c->list[0].name) {
        first = c->list[0];
        memmove(c->list, c->list + 1, --c->count * sizeof *c->list);
    }
    for (int64_t i = 0; i < tensor_count(&file); i++) {
        const char *name = tensor_name(&file, i);
        tw_shape shape = tensor_shape(&file, i);
        if (shape.rank != 2 || strstr(name, ".OPTIMIZER_SLOT") || strlen(name) >= TEXT_LIMIT)
            continue;
        size_t at = 0;
        while (at < c->count && strcmp(c->list[at].name, name) != 0)
            at++;
        if (at == EMBEDDINGS_LIMIT)
            break;
        embedding *e = &c->list[at];
        if (at == c->count) {
            *e = first;
            strcpy(e->name, name);
            c->count++;
        }
        if (!e->dims) {
            e->shape[0] = (long)shape.dims[0];
            e->shape[1] = (long)shape.dims[1];
            e->dims = 2;
        }
    }
    close_tensors(&file);
}

/* The tensor's rows as floats; false: the checkpoint has no such matrix. */
static bool put_checkpoint_tensor(const config *c, const char *name, long most, FILE *out)
{
    tensor_file file = { 0 };
    bool good = *c->checkpoint && open_tensors(&file, c->checkpoint);
    int64_t place = good ? find_tensor(&file, name) : -1;
    tw_shape shape = place >= 0 ? tensor_shape(&file, place) : (tw_shape){ 0 };
    tw_tensor *tensor = shape.rank == 2 && is_numeric(tensor_dtype(&file, place)) ? read_tensor(&file, place) : NULL;
    int64_t rows = tensor && most > 0 && most < shape.dims[0] ? most : tensor ? shape.dims[0] : 0;
    for (int64_t i = 0; tensor && i < rows * shape.dims[1] && i < NUMBERS_LIMIT; i++) {
        float value = (float)tw_tensor_double_at(tensor, i);
        fwrite(&value, sizeof value, 1, out);
    }
    tw_release(tensor);
    if (good)
        close_tensors(&file);
    tw_clear_error();
    return tensor != NULL;
}

/* Names and shapes of what the config lists. True: one of them has a file. */
static bool settle(const board *b, config *c)
{
    bool files = false;
    for (size_t i = 0; i < c->count; i++) {
        embedding *e = &c->list[i];
        size_t size, length = strlen(e->name);
        files |= *e->path != 0;
        if (length > 2 && strcmp(e->name + length - 2, ":0") == 0)
            e->name[length - 2] = 0;
        if (!*e->name && *e->path) {
            const char *slash = strrchr(e->path, '/');
            snprintf(e->name, sizeof e->name, "%s", slash ? slash + 1 : e->path);
        }
        char *data = e->dims < 2 ? (char *)read_beside(b, c, e->path, &size) : NULL;
        long rows, columns;
        if (data && read_numbers(data, &rows, &columns, 0, NULL)) {
            e->shape[0] = rows;
            e->shape[1] = columns;
            e->dims = 2;
        }
        free(data);
    }
    return files;
}

static config *config_of(const board *b, const char *run)
{
    config *c = calloc(1, sizeof *c);
    char path[2 * BOARD_NAME_LIMIT];
    size_t size;
    bool root = strcmp(run, ".") == 0; /* it counts as a run even if it is none */
    if (!c || (!root && !board_find_run(b, run)) ||
        snprintf(c->folder, sizeof c->folder, "%s/%s", b->directory, run) >= (int)sizeof c->folder) {
        free(c);
        return NULL;
    }
    snprintf(path, sizeof path, "%s/projector_config.pbtxt", c->folder);
    char *text = (char *)board_read_whole(b, path, &size);
    if (text)
        parse(text, c);
    free(text);
    bool files = settle(b, c);
    find_checkpoint(b, c, root);
    add_tensors(c);
    if (c->count && (files || *c->checkpoint))
        return c;
    free(c);
    return NULL;
}

/* ---- routes ---- */

static void put_run(const board *b, const char *name, FILE *out, bool *first)
{
    config *c = config_of(b, name);
    if (c) {
        fputs(*first ? "" : ",", out);
        *first = false;
        board_put_string(out, name);
    }
    free(c);
}

static void put_runs(board *b, const board_request *request, board_answer *answer)
{
    bool first = true;
    (void)request;
    fputc('[', answer->body);
    for (size_t i = 0; i < b->run_count; i++)
        put_run(b, b->runs[i].name, answer->body, &first);
    if (!board_find_run(b, "."))
        put_run(b, ".", answer->body, &first);
    fputc(']', answer->body);
}

static config *asked(board *b, const board_request *request, board_answer *answer, const embedding **e)
{
    char run[BOARD_NAME_LIMIT], name[TEXT_LIMIT];
    config *c = board_parameter(request->query, "run", 0, run, sizeof run) ? config_of(b, run) : NULL;
    bool named = board_parameter(request->query, "name", 0, name, sizeof name);
    if (e)
        *e = NULL;
    for (size_t i = 0; c && e && named && i < c->count; i++)
        *e = strcmp(c->list[i].name, name) == 0 ? &c->list[i] : *e;
    if (!c || (e && !*e)) {
        board_refused(answer, 400, "Unknown run or tensor");
        free(c);
        return NULL;
    }
    return c;
}

static void put_path(FILE *out, const char *name, const char *value)
{
    if (!*value)
        return;
    fprintf(out, ",\"%s\":", name);
    board_put_string(out, value);
}

static void put_info(board *b, const board_request *request, board_answer *answer)
{
    config *c = asked(b, request, answer, NULL);
    FILE *out = answer->body;
    if (!c)
        return;
    fputs("{\"embeddings\":[", out);
    for (size_t i = 0; i < c->count; i++) {
        const embedding *e = &c->list[i];
        fputs(i ? ",{\"tensorName\":" : "{\"tensorName\":", out);
        board_put_string(out, e->name);
        put_path(out, "metadataPath", e->metadata);
        put_path(out, "bookmarksPath", e->bookmarks);
        put_path(out, "tensorPath", e->path);
        if (e->dims == 2)
            fprintf(out, ",\"tensorShape\":[%ld,%ld]", e->shape[0], e->shape[1]);
        if (*e->sprite) {
            fputs(",\"sprite\":{\"imagePath\":", out);
            board_put_string(out, e->sprite);
            if (e->sprite_dims == 2)
                fprintf(out, ",\"singleImageDim\":[%ld,%ld]", e->sprite_dim[0], e->sprite_dim[1]);
            fputc('}', out);
        }
        fputc('}', out);
    }
    fputc(']', out);
    put_path(out, "modelCheckpointPath", c->checkpoint);
    fputc('}', out);
    free(c);
}

static void put_tensor(board *b, const board_request *request, board_answer *answer)
{
    const embedding *e;
    config *c = asked(b, request, answer, &e);
    size_t size;
    char *text = c ? (char *)read_beside(b, c, e->path, &size) : NULL;
    long rows, columns, most = (long)board_parameter_count(request->query, "num_rows", 0);
    if (c && !*e->path && most >= 0 && put_checkpoint_tensor(c, e->name, most, answer->body)) {
        free(c);
        return;
    }
    if (c && (!text || most < 0 || !read_numbers(text, &rows, &columns, most, answer->body))) {
        rewind(answer->body);
        board_refused(answer, 400, "the tensor's file is missing, or holds no table of numbers");
    }
    free(text);
    free(c);
}

static void put_file(board *b, const board_request *request, board_answer *answer, size_t offset, const char *missing)
{
    const embedding *e;
    config *c = asked(b, request, answer, &e);
    size_t size = 0;
    uint8_t *data = c ? read_beside(b, c, (const char *)e + offset, &size) : NULL;
    long most = (long)board_parameter_count(request->query, "num_rows", 0);
    if (data && most > 0) {
        const uint8_t *at = data, *line = memchr(data, '\n', size);
        most += line && memchr(data, '\t', (size_t)(line - data)) != NULL;
        while (most-- > 0 && (line = memchr(at, '\n', size - (size_t)(at - data))))
            at = line + 1;
        size = line ? (size_t)(at - data) : size;
    }
    if (data)
        fwrite(data, 1, size, answer->body);
    else if (c)
        board_refused(answer, 400, missing);
    free(data);
    free(c);
}

static void put_metadata(board *b, const board_request *request, board_answer *answer)
{
    put_file(b, request, answer, offsetof(embedding, metadata), "there is no metadata file of this tensor");
}

static void put_bookmarks(board *b, const board_request *request, board_answer *answer)
{
    put_file(b, request, answer, offsetof(embedding, bookmarks), "there is no bookmarks file of this tensor");
}

static void put_sprite(board *b, const board_request *request, board_answer *answer)
{
    put_file(b, request, answer, offsetof(embedding, sprite), "there is no sprite image of this tensor");
}

const board_route board_projector_routes[] = {
    { "projector", "runs", put_runs, NULL },
    { "projector", "info", put_info, NULL },
    { "projector", "tensor", put_tensor, "application/octet-stream" },
    { "projector", "metadata", put_metadata, "text/plain; charset=utf-8" },
    { "projector", "bookmarks", put_bookmarks, NULL },
    { "projector", "sprite_image", put_sprite, "image/png" },
    { 0 },
};
