/* The `checkpoint` file, which says which checkpoint of a directory is the newest: protobuf's text format of
 *
 *     model_checkpoint_path: "ckpt-4"
 *     all_model_checkpoint_paths: "ckpt-3"              (any number, oldest first)
 *     all_model_checkpoint_timestamps: 1561473588.25    (as many, or none)
 *     last_preserved_timestamp: 1561473580.5
 *
 * Strings are escaped as in C, bytes that are not ASCII in octal; adjacent strings join, `[a, b]` is a list, `#` begins a
 * comment. */
#include <stdlib.h>

#include "format/format.h"

#define FILE_LIMIT ((size_t)64 << 20)

typedef struct parser {
    const char *at, *end, *start;
    const char *name; /* the file's */
    size_t path_capacity, timestamp_capacity;
} parser;

static tw_status fail(const parser *in, const char *what)
{
    int line = 1;
    for (const char *at = in->start; at < in->at; at++)
        line += *at == '\n';
    return tw__fail(TW_INVALID_ARGUMENT, "%s:%d: not a CheckpointState: %s", in->name, line, what);
}

static void skip_space(parser *in)
{
    while (in->at < in->end) {
        if (*in->at == '#') {
            while (in->at < in->end && *in->at != '\n')
                in->at++;
        } else if (*in->at && strchr(" \t\r\n\f\v", *in->at)) {
            in->at++;
        } else {
            break;
        }
    }
}

static bool take(parser *in, char wanted)
{
    skip_space(in);
    if (in->at == in->end || *in->at != wanted)
        return false;
    in->at++;
    return true;
}

/* The digits of an octal or hexadecimal escape, up to `limit` of them. */
static int take_digits(parser *in, int base, int limit, int *value)
{
    int count = 0;
    *value = 0;
    for (; count < limit && in->at < in->end; count++, in->at++) {
        char digit = *in->at;
        int number = digit >= '0' && digit <= '9'   ? digit - '0'
                     : digit >= 'a' && digit <= 'f' ? digit - 'a' + 10
                     : digit >= 'A' && digit <= 'F' ? digit - 'A' + 10
                                                    : 99;
        if (number >= base)
            break;
        *value = *value * base + number;
    }
    return count;
}

static tw_status take_escape(parser *in, tw__text *text)
{
    static const char letters[] = "abfnrtv\\'\"?", meanings[] = "\a\b\f\n\r\t\v\\'\"?";
    if (in->at == in->end)
        return fail(in, "a string without end");
    const char *known = *in->at ? strchr(letters, *in->at) : NULL;
    int value;
    char byte;
    if (known) {
        byte = meanings[known - letters];
        in->at++;
    } else {
        bool hexadecimal = *in->at == 'x' || *in->at == 'X';
        in->at += hexadecimal;
        if (!take_digits(in, hexadecimal ? 16 : 8, hexadecimal ? 2 : 3, &value) || value > 255)
            return fail(in, "a string with an escape that there is not");
        byte = (char)value;
    }
    if (byte == 0)
        return fail(in, "a path with a zero byte");
    tw__text_bytes(text, &byte, 1);
    return TW_OK;
}

static tw_status take_quoted(parser *in, tw__text *text)
{
    char quote = *in->at++;
    for (;;) {
        if (in->at == in->end || *in->at == '\n')
            return fail(in, "a string without end");
        if (*in->at == 0)
            return fail(in, "a path with a zero byte");
        char byte = *in->at++;
        if (byte == quote)
            return TW_OK;
        if (byte == '\\')
            TW_TRY(take_escape(in, text));
        else
            tw__text_bytes(text, &byte, 1);
    }
}

static tw_status take_string(parser *in, char **out)
{
    tw__auto(tw__text_free) tw__text text = { 0 };
    bool any = false;
    for (;;) {
        skip_space(in);
        if (in->at == in->end || (*in->at != '"' && *in->at != '\''))
            break;
        any = true;
        TW_TRY(take_quoted(in, &text));
    }
    if (!any)
        return fail(in, "a string is expected");
    *out = tw__text_take(&text);
    return *out ? TW_OK : TW_RESOURCE_EXHAUSTED;
}

static tw_status take_number(parser *in, double *out)
{
    char digits[64];
    size_t size = 0;
    skip_space(in);
    while (in->at < in->end && size + 1 < sizeof digits && *in->at && !strchr(" \t\r\n\f\v,;]#", *in->at))
        digits[size++] = *in->at++;
    digits[size] = 0;
    char *end = digits;
    *out = strtod(digits, &end);
    if (end == digits || (*end && !((*end == 'f' || *end == 'F') && !end[1])))
        return fail(in, "a number is expected");
    return TW_OK;
}

static tw_status take_value(parser *in, tw__checkpoint_state *state, int field)
{
    char *path = NULL;
    double number = 0;
    if (field <= 2)
        TW_TRY(take_string(in, &path));
    else
        TW_TRY(take_number(in, &number));
    tw_status status = TW_OK;
    switch (field) {
    case 1:
        state->model_checkpoint_path = path;
        break;
    case 2:
        status = TW_GROW(state->all_paths, in->path_capacity, state->path_count + 1);
        if (status == TW_OK)
            state->all_paths[state->path_count++] = path;
        else
            tw__free(path);
        break;
    case 3:
        status = TW_GROW(state->all_timestamps, in->timestamp_capacity, state->timestamp_count + 1);
        if (status == TW_OK)
            state->all_timestamps[state->timestamp_count++] = number;
        break;
    case 4:
        state->last_preserved_timestamp = number;
        state->has_last_preserved = true;
        break;
    }
    return status;
}

/* The number of the field whose name comes next, 0 if there is none. */
static int take_field(parser *in)
{
    static const char *const names[] = { "model_checkpoint_path", "all_model_checkpoint_paths", "all_model_checkpoint_timestamps",
                                         "last_preserved_timestamp" };
    const char *begin = in->at;
    while (in->at < in->end && (*in->at == '_' || (*in->at >= 'a' && *in->at <= 'z')))
        in->at++;
    for (int i = 0; i < 4; i++) {
        if (strlen(names[i]) == (size_t)(in->at - begin) && memcmp(names[i], begin, strlen(names[i])) == 0)
            return i + 1;
    }
    return 0;
}

static tw_status take_line(parser *in, tw__checkpoint_state *state)
{
    int field = take_field(in);
    if (field == 0)
        return fail(in, "the name of a field is expected");
    if ((field == 1 && state->model_checkpoint_path) || (field == 4 && state->has_last_preserved))
        return fail(in, "a field is given twice");
    if (!take(in, ':'))
        return fail(in, "a colon is expected");
    if ((field == 2 || field == 3) && take(in, '[')) {
        bool more = !take(in, ']');
        while (more) {
            TW_TRY(take_value(in, state, field));
            more = take(in, ',');
            if (!more && !take(in, ']'))
                return fail(in, "a bracket is expected");
        }
    } else {
        TW_TRY(take_value(in, state, field));
    }
    if (!take(in, ','))
        take(in, ';');
    return TW_OK;
}

tw_status tw__checkpoint_state_parse(const char *text, size_t size, const char *name, tw__checkpoint_state *state)
{
    parser in = { .at = text, .start = text, .end = text + size, .name = name };
    tw_status status = TW_OK;
    *state = (tw__checkpoint_state){ 0 };
    for (skip_space(&in); status == TW_OK && in.at < in.end; skip_space(&in))
        status = take_line(&in, state);
    if (status != TW_OK)
        tw__checkpoint_state_free(state);
    return status;
}

tw_status tw__checkpoint_state_read(const char *path, tw__checkpoint_state *state)
{
    size_t size;
    *state = (tw__checkpoint_state){ 0 };
    tw__owned char *text = tw__file_read_all(path, FILE_LIMIT, &size);
    TW_NEED(text);
    return tw__checkpoint_state_parse(text, size, path, state);
}

static void print_path(tw__text *text, const char *field, const char *path)
{
    tw__text_format(text, "%s: \"", field);
    for (; *path; path++) {
        unsigned char byte = (unsigned char)*path;
        if (byte == '\n' || byte == '\r' || byte == '\t')
            tw__text_add(text, byte == '\n' ? "\\n" : byte == '\r' ? "\\r" : "\\t");
        else if (byte == '"' || byte == '\'' || byte == '\\')
            tw__text_format(text, "\\%c", byte);
        else if (byte < 0x20 || byte >= 0x7f)
            tw__text_format(text, "\\%03o", byte);
        else
            tw__text_bytes(text, path, 1);
    }
    tw__text_add(text, "\"\n");
}

static void print_time(tw__text *text, const char *field, double value)
{
    tw__text_format(text, "%s: ", field);
    tw__print_float(text, value, TW_FLOAT64);
    tw__text_add(text, "\n");
}

void tw__checkpoint_state_print(tw__text *text, const tw__checkpoint_state *state)
{
    if (state->model_checkpoint_path)
        print_path(text, "model_checkpoint_path", state->model_checkpoint_path);
    for (size_t i = 0; i < state->path_count; i++)
        print_path(text, "all_model_checkpoint_paths", state->all_paths[i]);
    for (size_t i = 0; i < state->timestamp_count; i++)
        print_time(text, "all_model_checkpoint_timestamps", state->all_timestamps[i]);
    if (state->has_last_preserved)
        print_time(text, "last_preserved_timestamp", state->last_preserved_timestamp);
}

tw_status tw__checkpoint_state_write(const char *path, const tw__checkpoint_state *state)
{
    tw__auto(tw__text_free) tw__text text = { 0 };
    tw__checkpoint_state_print(&text, state);
    tw__file_writer *writer = text.failed ? NULL : tw__file_create(path);
    tw_status status = writer ? TW_OK : tw__error_status();
    if (writer) {
        status = tw__file_write(writer, text.data, text.size);
        if (status == TW_OK)
            status = tw__file_commit(writer);
        else
            tw__file_abandon(writer);
    }
    return status;
}

void tw__checkpoint_state_free(tw__checkpoint_state *state)
{
    tw__free(state->model_checkpoint_path);
    for (size_t i = 0; i < state->path_count; i++)
        tw__free(state->all_paths[i]);
    tw__free(state->all_paths);
    tw__free(state->all_timestamps);
    *state = (tw__checkpoint_state){ 0 };
}
