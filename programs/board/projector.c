/* Embeddings of projector_config.pbtxt, by TensorBoard's routes.
 *
 *     projector/runs, projector/info?run, projector/tensor?run&name[&num_rows], projector/metadata?run&name[&num_rows],
 *     projector/bookmarks?run&name, projector/sprite_image?run&name
 *
 * Tensors stand in files of numbers with tabs between them, beside the config. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "board.h"

enum { TEXT_LIMIT = 512, EMBEDDINGS_LIMIT = 64, NUMBERS_LIMIT = 1 << 26 };

typedef struct embedding {
    char name[TEXT_LIMIT], metadata[TEXT_LIMIT], bookmarks[TEXT_LIMIT], path[TEXT_LIMIT], sprite[TEXT_LIMIT];
    long shape[2], sprite_dim[2];
    int dims, sprite_dims;
} embedding;

typedef struct config {
    embedding list[EMBEDDINGS_LIMIT];
    size_t count;
    char folder[BOARD_NAME_LIMIT];
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

static config *config_of(const board *b, const char *run)
{
    config *c = calloc(1, sizeof *c);
    char path[2 * BOARD_NAME_LIMIT];
    size_t size;
    if (!c || !board_find_run(b, run) ||
        snprintf(c->folder, sizeof c->folder, "%s/%s", b->directory, run) >= (int)sizeof c->folder) {
        free(c);
        return NULL;
    }
    snprintf(path, sizeof path, "%s/projector_config.pbtxt", c->folder);
    char *text = (char *)board_read_whole(b, path, &size);
    if (text)
        parse(text, c);
    free(text);
    for (size_t i = 0; i < c->count; i++) {
        embedding *e = &c->list[i];
        size_t length = strlen(e->name);
        if (length > 2 && strcmp(e->name + length - 2, ":0") == 0)
            e->name[length - 2] = 0;
        if (!*e->name) {
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
    if (!c->count) {
        free(c);
        return NULL;
    }
    return c;
}

/* ---- routes ---- */

static void put_runs(board *b, const board_request *request, board_answer *answer)
{
    bool first = true;
    (void)request;
    fputc('[', answer->body);
    for (size_t i = 0; i < b->run_count; i++) {
        config *c = config_of(b, b->runs[i].name);
        if (c) {
            fputs(first ? "" : ",", answer->body);
            first = false;
            board_put_string(answer->body, b->runs[i].name);
        }
        free(c);
    }
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
    fputs("]}", out);
    free(c);
}

static void put_tensor(board *b, const board_request *request, board_answer *answer)
{
    const embedding *e;
    config *c = asked(b, request, answer, &e);
    size_t size;
    char *text = c ? (char *)read_beside(b, c, e->path, &size) : NULL;
    long rows, columns, most = (long)board_parameter_count(request->query, "num_rows", 0);
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
