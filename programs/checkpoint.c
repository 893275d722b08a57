/* thalweg checkpoint ls|cat: what is in a checkpoint, or in an HDF5 file of Keras.
 *
 * The first argument is a prefix (out/ckpt-3), a directory, which stands for its newest checkpoint, or a path that ends in .h5 or
 * .hdf5. A variable's name may be given without its ending /.ATTRIBUTES/VARIABLE_VALUE. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <thalweg.h>

#include "program.h"

/* Names come from files: what a terminal would take as a command is shown as \xNN. */
static int print_name(FILE *stream, const char *name)
{
    int width = 0;
    for (const unsigned char *c = (const unsigned char *)name; *c; c++) {
        if (*c < 32 || *c == 127)
            width += fprintf(stream, "\\x%02x", *c);
        else {
            fputc(*c, stream);
            width += (*c & 0xc0) != 0x80;
        }
    }
    return width;
}

static int name_width(const char *name)
{
    int width = 0;
    for (const unsigned char *c = (const unsigned char *)name; *c; c++)
        width += *c < 32 || *c == 127 ? 4 : (*c & 0xc0) != 0x80;
    return width;
}

/* (2, 3), (2,), () from a list of integers. */
static void print_shape(const tw_value *shape)
{
    putchar('(');
    for (int64_t i = 0; i < shape->list.count; i++)
        printf("%s%lld", i ? ", " : "", (long long)shape->list.items[i].i);
    fputs(shape->list.count == 1 ? ",)" : ")", stdout);
}

static bool print_piece(void *stream, const char *text, size_t size)
{
    return fwrite(text, 1, size, stream) == size;
}

/* As it is made: a tensor may be larger than anybody wants to wait for. */
static void print_json(const tw_value *value)
{
    tw_value_json_write(value, print_piece, stdout);
}

static tw_value text_value(const char *text)
{
    return (tw_value){ .kind = TW_VALUE_STR, .s = { text, strlen(text) } };
}

/* Where tensors come from. */
typedef struct source {
    tw_checkpoint_reader *reader; /* NULL: an HDF5 file */
    const char *path;
} source;

static bool is_hdf5(const char *path)
{
    size_t size = strlen(path);
    return (size > 3 && strcmp(path + size - 3, ".h5") == 0) || (size > 5 && strcmp(path + size - 5, ".hdf5") == 0);
}

/* Shapes and dtypes by name, for tw_value_free. */
static void read_maps(const source *from, tw_value *shapes, tw_value *dtypes)
{
    *shapes = *dtypes = (tw_value){ .kind = TW_VALUE_NONE };
    if (from->reader) {
        *shapes = tw_checkpoint_reader_get_variable_to_shape_map(from->reader);
        *dtypes = tw_checkpoint_reader_get_variable_to_dtype_map(from->reader);
        return;
    }
    tw_value both = tw_h5_list(from->path);
    if (both.kind == TW_VALUE_TUPLE && both.list.count == 2) {
        *shapes = both.list.items[0];
        *dtypes = both.list.items[1];
        both.list.count = 0;
    }
    tw_value_free(&both);
    if (shapes->kind != TW_VALUE_DICT)
        shapes->list.count = 0;
}

static int list(const source *from, bool json)
{
    tw_value shapes, dtypes;
    read_maps(from, &shapes, &dtypes);
    int widest = 0;
    for (int64_t i = 0; i + 1 < shapes.list.count; i += 2) {
        int width = name_width(shapes.list.items[i].s.data);
        widest = width > widest ? width : widest;
    }
    if (json)
        putchar('[');
    for (int64_t i = 0; i + 1 < shapes.list.count; i += 2) {
        const tw_value *name = &shapes.list.items[i], *shape = &shapes.list.items[i + 1];
        const char *dtype = dtypes.list.items[i + 1].dtype ? tw_dtype_name(dtypes.list.items[i + 1].dtype) : "unknown";
        if (json) {
            fputs(i ? ",\n {\"name\": " : "{\"name\": ", stdout);
            print_json(name);
            printf(", \"dtype\": \"%s\", \"shape\": ", dtype);
            print_json(shape);
            putchar('}');
        } else {
            int width = print_name(stdout, name->s.data);
            printf("%*s  %-10s  ", widest - width, "", dtype);
            print_shape(shape);
            putchar('\n');
        }
    }
    if (json)
        puts("]");
    tw_value_free(&shapes);
    tw_value_free(&dtypes);
    return tw_error_code() == TW_OK ? EXIT_WORKED : library_error();
}

static int print_tensor(const source *from, const char *name, bool json)
{
    tw_auto tw_tensor *tensor = from->reader ? tw_checkpoint_reader_get_tensor(from->reader, name) : tw_h5_read(from->path, name);
    if (!tensor)
        return library_error();
    if (!json) {
        char *text = tw_tensor_str(tensor);
        if (text)
            puts(text);
        free(text);
        return text ? EXIT_WORKED : library_error();
    }
    tw_value name_value = text_value(name), value = { .kind = TW_VALUE_TENSOR, .tensor = tensor };
    tw_shape shape = tw_tensor_shape(tensor);
    tw_value shape_value = { .kind = TW_VALUE_SHAPE, .shape = &shape };
    fputs("{\"name\": ", stdout);
    print_json(&name_value);
    printf(", \"dtype\": \"%s\", \"shape\": ", tw_dtype_name(tw_tensor_dtype(tensor)));
    print_json(&shape_value);
    fputs(", \"value\": ", stdout);
    print_json(&value);
    putchar('}');
    return tw_error_code() == TW_OK ? EXIT_WORKED : library_error();
}

static int print_one(const source *from, const char *name, bool json)
{
    static const char ending[] = "/.ATTRIBUTES/VARIABLE_VALUE";
    char *longer = malloc(strlen(name) + sizeof ending);
    if (!longer) {
        perror("thalweg");
        return EXIT_FAILED;
    }
    strcpy(longer, name);
    strcat(longer, ending);
    tw_checkpoint_reader *reader = from->reader;
    bool as_variable =
        reader && !tw_checkpoint_reader_has_tensor(reader, name) && tw_checkpoint_reader_has_tensor(reader, longer);
    int result = print_tensor(from, as_variable ? longer : name, json);
    if (json && result == EXIT_WORKED)
        putchar('\n');
    free(longer);
    return result;
}

static int print_all(const source *from, bool json)
{
    tw_value shapes, dtypes;
    read_maps(from, &shapes, &dtypes);
    int result = tw_error_code() == TW_OK ? EXIT_WORKED : library_error();
    if (json)
        putchar('[');
    for (int64_t i = 0; result == EXIT_WORKED && i + 1 < shapes.list.count; i += 2) {
        const char *name = shapes.list.items[i].s.data;
        if (json) {
            fputs(i ? ",\n " : "", stdout);
        } else {
            print_name(stdout, name);
            putchar('\n');
        }
        result = print_tensor(from, name, json);
    }
    if (json && result == EXIT_WORKED)
        puts("]");
    tw_value_free(&shapes);
    tw_value_free(&dtypes);
    return result;
}

static int run(int count, char **arguments)
{
    const char *given[3];
    int words = 0;
    bool json = false, options = true;
    for (int i = 0; i < count; i++) {
        if (options && strcmp(arguments[i], "--") == 0)
            options = false;
        else if (options && strcmp(arguments[i], "--json") == 0)
            json = true;
        else if (options && arguments[i][0] == '-' && arguments[i][1])
            return usage_error(&checkpoint_command, "there is no option '%s'", arguments[i]);
        else if (words == 3)
            return usage_error(&checkpoint_command, "'%s' is one argument too many", arguments[i]);
        else
            given[words++] = arguments[i];
    }
    bool ls = words > 0 && strcmp(given[0], "ls") == 0, cat = words > 0 && strcmp(given[0], "cat") == 0;
    if (!ls && !cat)
        return usage_error(&checkpoint_command, words ? "'ls' or 'cat' is expected, got '%s'" : "'ls' or 'cat' is expected%s",
                           words ? given[0] : "");
    if (words < 2)
        return usage_error(&checkpoint_command, "a prefix or a directory is expected");
    if (ls && words > 2)
        return usage_error(&checkpoint_command, "'%s' is one argument too many", given[2]);
    tw_auto tw_checkpoint_reader *reader = is_hdf5(given[1]) ? NULL : tw_train_load_checkpoint(given[1]);
    if (!reader && !is_hdf5(given[1]))
        return library_error();
    source from = { reader, given[1] };
    return ls ? list(&from, json) : words == 3 ? print_one(&from, given[2], json) : print_all(&from, json);
}

const command checkpoint_command = {
    "checkpoint",
    "ls|cat PREFIX [NAME] [--json]",
    "Lists a checkpoint's tensors, or prints their values.",
    "\n  ls PREFIX          names, dtypes and shapes\n"
    "  cat PREFIX [NAME]  the value of one tensor, or of all\n"
    "  --json             as JSON\n\n"
    "PREFIX may be a directory: its newest checkpoint is meant; or an HDF5 file (.h5) of Keras. NAME may be given without /.ATTRIBUTES/VARIABLE_VALUE.\n",
    run,
};
