/* tf.io.gfile.GFile: a file that is opened by the first use that needs it. What was never read need not exist, what was never
 * written is not made. Text is UTF-8; binary files give bytes. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "format/format.h"
#include "rows.h"

struct tw_gfile {
    tw_object object;
    char *name, *mode;
    char plain[3]; /* the mode without its b */
    bool binary;
    FILE *file; /* NULL: not open */
};

static bool one_of(const char *text, const char *const *list)
{
    while (*list && strcmp(*list, text) != 0)
        list++;
    return *list != NULL;
}

static tw_status gfile_init(void *made, const void *given)
{
    static const char *const modes[] = { "r", "w", "a", "r+", "w+", "a+", NULL };
    struct tw_gfile *self = made;
    const tw_gfile_args *args = given;
    size_t length = 0;
    for (const char *at = args->mode; *at && length < sizeof self->plain; at++) {
        if (*at == 'b')
            self->binary = true;
        else
            self->plain[length++] = *at;
    }
    if (length >= sizeof self->plain || !one_of(self->plain, modes))
        return tw__fail(TW_INVALID_ARGUMENT, "mode is not 'r' or 'w' or 'a' or 'r+' or 'w+' or 'a+'");
    self->name = tw__strdup(args->name);
    self->mode = tw__strdup(args->mode);
    return self->name && self->mode ? TW_OK : TW_RESOURCE_EXHAUSTED;
}

static void gfile_destroy(void *made)
{
    struct tw_gfile *self = made;
    if (self->file)
        fclose(self->file);
    tw__free(self->name);
    tw__free(self->mode);
}

TW_CLASS(gfile, "io.gfile._GFile(name: str, mode: str = r)", .size = sizeof(struct tw_gfile), .init = gfile_init,
         .destroy = gfile_destroy, .drop_config = true, .doc = "A file to read or write; text is UTF-8.");

TW_PROPERTY(gfile_name, "io.gfile._GFile.name(self: gfile) -> str", "The file's name.")
{
    return tw__strdup(args->self->name);
}

TW_PROPERTY(gfile_mode, "io.gfile._GFile.mode(self: gfile) -> str", "The mode it was opened in.")
{
    return tw__strdup(args->self->mode);
}

static tw_status failed(const struct tw_gfile *self)
{
    return tw__fail_errno(errno, NULL, self->name);
}

static tw_status need_open(struct tw_gfile *self)
{
    struct stat status;
    if (self->file)
        return TW_OK;
    if (stat(self->name, &status) == 0 && !S_ISREG(status.st_mode))
        return S_ISDIR(status.st_mode) ? tw__fail_errno(EISDIR, NULL, self->name)
                                       : tw__fail(TW_FAILED_PRECONDITION, "%s; not a regular file", self->name);
    char mode[5];
    snprintf(mode, sizeof mode, "%se", self->plain);
    self->file = fopen(self->name, mode);
    return self->file ? TW_OK : failed(self);
}

/* Between reading and writing the standard wants a change of place. */
static tw_status need_reading(struct tw_gfile *self)
{
    if (strcmp(self->plain, "w") == 0 || strcmp(self->plain, "a") == 0)
        return tw__fail(TW_PERMISSION_DENIED, "File isn't open for reading");
    TW_TRY(need_open(self));
    return strchr(self->plain, '+') && fseeko(self->file, 0, SEEK_CUR) != 0 ? failed(self) : TW_OK;
}

static tw_status find_size(struct tw_gfile *self, int64_t *size)
{
    struct stat status;
    if ((self->file && fflush(self->file) != 0) || stat(self->name, &status) != 0)
        return failed(self);
    *size = status.st_size;
    return TW_OK;
}

TW_METHOD(gfile_size, "io.gfile._GFile.size(self: gfile) -> int", "The number of bytes.")
{
    int64_t size = -1;
    find_size(args->self, &size);
    return size;
}

/* What was read, as the mode wants it; takes the text. */
static tw_value given(const struct tw_gfile *self, tw__text *text, tw_status status)
{
    size_t size = text->size;
    char *bytes = status == TW_OK ? tw__text_take(text) : NULL;
    if (!bytes) {
        tw__text_free(text);
        return (tw_value){ .kind = TW_VALUE_NONE };
    }
    return (tw_value){ .kind = self->binary ? TW_VALUE_BYTES : TW_VALUE_STR, .s = { bytes, size } };
}

TW_METHOD(gfile_read, "io.gfile._GFile.read(self: gfile, n: int = -1) -> value", "The rest of the file, or so many bytes of it.")
{
    struct tw_gfile *self = args->self;
    tw__text text = { 0 };
    tw__text_add(&text, "");
    tw_status status = need_reading(self);
    char piece[8192];
    int64_t left = args->n < 0 ? INT64_MAX : args->n;
    while (status == TW_OK && left > 0) {
        size_t got = fread(piece, 1, left < (int64_t)sizeof piece ? (size_t)left : sizeof piece, self->file);
        tw__text_bytes(&text, piece, got);
        left -= (int64_t)got;
        if (got == 0) {
            status = ferror(self->file) ? failed(self) : TW_OK;
            clearerr(self->file);
            break;
        }
    }
    return given(self, &text, status);
}

TW_METHOD(gfile_readline, "io.gfile._GFile.readline(self: gfile) -> value",
          "The next line with its end; nothing at the end of the file.")
{
    struct tw_gfile *self = args->self;
    tw__text text = { 0 };
    tw__text_add(&text, "");
    tw_status status = need_reading(self);
    char *line = NULL;
    size_t room = 0;
    ssize_t size = status == TW_OK ? getline(&line, &room, self->file) : -1;
    if (size > 0)
        tw__text_bytes(&text, line, (size_t)size);
    else if (status == TW_OK && ferror(self->file))
        status = failed(self);
    if (size < 0 && self->file)
        clearerr(self->file);
    free(line);
    return given(self, &text, status);
}

TW_METHOD(gfile_write, "io.gfile._GFile.write(self: gfile, file_content: value)", "Writes text or bytes.")
{
    struct tw_gfile *self = args->self;
    const tw_value *content = &args->file_content;
    if (strcmp(self->plain, "r") == 0)
        return tw__fail(TW_PERMISSION_DENIED, "File isn't open for writing");
    TW_TRY(need_open(self));
    if (content->kind != TW_VALUE_STR && content->kind != TW_VALUE_BYTES) {
        char *text = tw_value_json(content);
        tw__fail(TW_TYPE_ERROR, "Expected binary or unicode string, got %s", text ? text : "something else");
        free(text);
        return TW_TYPE_ERROR;
    }
    if (strchr(self->plain, '+') && fseeko(self->file, 0, SEEK_CUR) != 0)
        return failed(self);
    return fwrite(content->s.data, 1, content->s.size, self->file) == content->s.size ? TW_OK : failed(self);
}

TW_METHOD(gfile_seek, "io.gfile._GFile.seek(self: gfile, offset: int, whence: int = 0)",
          "Goes to a place: from the beginning (0), from here (1) or from the end (2).")
{
    struct tw_gfile *self = args->self;
    TW_TRY(need_reading(self));
    if (args->whence < 0 || args->whence > 2)
        return tw__fail(TW_INVALID_ARGUMENT, "Invalid whence argument: %lld. Valid values are 0, 1, or 2.",
                        (long long)args->whence);
    int64_t size = 0, target;
    TW_TRY(find_size(self, &size));
    if (__builtin_add_overflow(args->offset,
                               args->whence == 1   ? ftello(self->file)
                               : args->whence == 2 ? size
                                                   : 0,
                               &target) ||
        target < 0)
        return tw__fail(TW_INVALID_ARGUMENT, "Seeking to a negative position: %lld", (long long)target);
    if (target > size)
        return tw__fail(TW_OUT_OF_RANGE, "reached end of file");
    return fseeko(self->file, target, SEEK_SET) == 0 ? TW_OK : failed(self);
}

TW_METHOD(gfile_tell, "io.gfile._GFile.tell(self: gfile) -> int", "The place in the file.")
{
    int64_t place = need_open(args->self) == TW_OK ? ftello(args->self->file) : -1;
    if (place < 0 && args->self->file)
        failed(args->self);
    return place;
}

TW_METHOD(gfile_seekable, "io.gfile._GFile.seekable(self: gfile) -> bool", "Whether one can go to a place.")
{
    return args->self != NULL;
}

TW_METHOD(gfile_flush, "io.gfile._GFile.flush(self: gfile)", "Hands to the system what was written.")
{
    return !args->self->file || fflush(args->self->file) == 0 ? TW_OK : failed(args->self);
}

TW_METHOD(gfile_close, "io.gfile._GFile.close(self: gfile)", "Closes the file; it is opened again by its next use.")
{
    FILE *file = args->self->file;
    args->self->file = NULL;
    return !file || fclose(file) == 0 ? TW_OK : failed(args->self);
}
