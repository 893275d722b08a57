/* Files as ops: ReadFile, WriteFile (through a temporary name, so that no reader sees half a file), MatchingFiles. */
#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "format/format.h"
#include "op/guard.h"
#include "op/text/text.h"
#include "rows.h"

#define FILE_LIMIT ((size_t)1 << 40)

/* A path for the system, which ends at a zero byte. */
static char *path_of(const tw__kernel *kernel, tw_string s)
{
    if (s.size && memchr(s.data, 0, s.size)) {
        TW_OP_FAIL(kernel, TW_INVALID_ARGUMENT, "the file name has a zero byte");
        return NULL;
    }
    return tw__strndup(s.size ? s.data : "", s.size);
}

/* ---- ReadFile ---- */

static tw_status read_shape(tw__inference *inference)
{
    inference->out_shapes[0] = TW_SCALAR;
    return tw__need_scalar(inference, 0, "Input filename tensor must be scalar, but had shape:");
}

static tw_status read_compute(tw__kernel *kernel)
{
    char *path = path_of(kernel, tw__strings(kernel->inputs[0])[0]);
    if (!path)
        return tw__error_status();
    size_t size = 0;
    struct stat about;
    tw__owned char *data = NULL;
    if (stat(path, &about) == 0 && S_ISDIR(about.st_mode))
        tw__fail(TW_FAILED_PRECONDITION, "%s; Is a directory", path);
    else
        data = tw__file_read_all(path, FILE_LIMIT, &size);
    tw__free(path);
    tw_status status = data ? tw__string_set(kernel->outputs[0], 0, data, size) : tw__error_status();
    return status;
}

TW_OP(ReadFile, .inputs = "filename: string", .outputs = "contents: string", .shape = read_shape, .compute = read_compute,
      .touches = TW_READS_FILES, .paths = "filename",
      .function = "io.read_file|compat.v1.read_file(filename: tensor<string>, name: str = None) -> tensor",
      .doc = "The bytes of a file.");

/* ---- WriteFile ---- */

static tw_status write_shape(tw__inference *inference)
{
    TW_TRY(tw__need_scalar(inference, 0, "Input filename tensor must be scalar, but had shape:"));
    return tw__need_scalar(inference, 1, "Contents tensor must be scalar, but had shape:");
}

static tw_status write_whole(const char *path, tw_string contents)
{
    struct stat about;
    if (stat(path, &about) == 0 && S_ISDIR(about.st_mode))
        return tw__fail(TW_FAILED_PRECONDITION, "%s; Is a directory", path);
    char *directory = tw__path_directory(path);
    if (!directory)
        return tw__error_status();
    tw_status status = *directory ? tw__make_directories(directory) : TW_OK;
    tw__free(directory);
    TW_TRY(status);
    tw__file_writer *writer = tw__file_create(path);
    if (!writer)
        return tw__error_status();
    status = contents.size ? tw__file_write(writer, contents.data, contents.size) : TW_OK;
    if (status == TW_OK)
        return tw__file_commit(writer);
    tw__file_abandon(writer);
    return status;
}

static tw_status write_compute(tw__kernel *kernel)
{
    tw__owned char *path = path_of(kernel, tw__strings(kernel->inputs[0])[0]);
    tw_status status = path ? write_whole(path, tw__strings(kernel->inputs[1])[0]) : tw__error_status();
    return status;
}

TW_OP(WriteFile, .inputs = "filename: string, contents: string", .shape = write_shape, .compute = write_compute, .stateful = true,
      .touches = TW_WRITES_FILES, .paths = "filename", .doc = "Makes a file of bytes, and its directories.");

/* ---- MatchingFiles ---- */

static tw_status matching_shape(tw__inference *inference)
{
    inference->out_shapes[0] = TW_SHAPE(-1);
    return TW_OK;
}

static int by_text(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* The files of one pattern, added to the list; those that begin with a dot too, but for . and .. themselves. */
static tw_status add_matching(const char *pattern, char ***items, size_t *count, size_t *capacity)
{
    glob_t found;
    int result = tw__glob(pattern, GLOB_NOSORT | GLOB_PERIOD, &found);
    if (result == GLOB_NOMATCH)
        return TW_OK;
    if (result == GLOB_NOSPACE)
        return tw__no_memory(0);
    if (result)
        return tw__fail_errno(errno ? errno : EIO, "reading the directories of", pattern);
    tw_status status = TW_OK;
    for (size_t i = 0; status == TW_OK && i < found.gl_pathc; i++) {
        const char *name = tw__path_name(found.gl_pathv[i]);
        if (strcmp(name, ".") == 0 || strcmp(name, "..") == 0)
            continue;
        status = TW_GROW(*items, *capacity, *count + 1);
        char *copy = status == TW_OK ? tw__strdup(found.gl_pathv[i]) : NULL;
        if (copy)
            (*items)[(*count)++] = copy;
        else
            status = tw__error_status();
    }
    globfree(&found);
    return status;
}

static tw_status matching_compute(tw__kernel *kernel)
{
    tw__owned char **items = NULL;
    size_t count = 0, capacity = 0;
    tw_status status = TW_OK;
    for (int64_t i = 0; status == TW_OK && i < kernel->inputs[0]->count; i++) {
        char *pattern = path_of(kernel, tw__strings(kernel->inputs[0])[i]);
        status = pattern ? add_matching(pattern, &items, &count, &capacity) : tw__error_status();
        tw__free(pattern);
    }
    if (count)
        qsort(items, count, sizeof *items, by_text);
    tw_tensor *out = status == TW_OK ? tw__output(kernel, 0, &TW_SHAPE((int64_t)count)) : NULL;
    if (status == TW_OK && !out)
        status = tw__error_status();
    for (size_t i = 0; i < count; i++) {
        if (status == TW_OK)
            status = tw__string_set(out, (int64_t)i, items[i], strlen(items[i]));
        tw__free(items[i]);
    }
    return status;
}

TW_OP(MatchingFiles, .inputs = "pattern: string", .outputs = "filenames: string", .shape = matching_shape,
      .compute = matching_compute, .touches = TW_READS_FILES,
      .function = "io.matching_files|compat.v1.matching_files(pattern: tensor<string>, name: str = None) -> tensor",
      .doc = "The names of the files that patterns stand for, sorted.\n"
             "pattern: a path with `*`, `?` or `[…]` in it, or several");
