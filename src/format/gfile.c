/* tf.io.gfile: the local file system with TensorFlow's errors. Opened files are in gfile_object.c. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <sys/stat.h>
#include <unistd.h>

#include "format/format.h"
#include "rows.h"

static bool is_directory(const char *path)
{
    struct stat status;
    return stat(path, &status) == 0 && S_ISDIR(status.st_mode);
}

TW_API(gfile_exists, "io.gfile.exists|compat.v1.gfile.Exists(path: str) -> bool",
       "Whether there is a file or directory of that name.")
{
    return tw__path_exists(args->path);
}

TW_API(gfile_isdir, "io.gfile.isdir|compat.v1.gfile.IsDirectory(path: str) -> bool", "Whether there is a directory of that name.")
{
    return is_directory(args->path);
}

/* ---- lists of names ---- */

static bool add_name(tw_value *list, size_t *room, const char *name)
{
    if ((size_t)list->list.count == *room) {
        tw_value *more = tw__realloc(list->list.items, (*room = *room * 2 + 8) * sizeof *more);
        if (!more)
            return false;
        list->list.items = more;
    }
    tw_value item = tw__value_str(name);
    if (item.kind != TW_VALUE_STR)
        return false;
    list->list.items[list->list.count++] = item;
    return true;
}

int tw__glob(const char *pattern, int flags, glob_t *found)
{
    size_t fixed = strcspn(pattern, "*?["), folder = strcspn(pattern, "/");
    if (!pattern[fixed] || folder < fixed)
        return glob(pattern, flags, NULL, found);
    tw__owned char *here = tw__format("./%s", pattern); /* names in the current directory begin with ./ */
    int result = here ? glob(here, flags, NULL, found) : GLOB_NOSPACE;
    return result;
}

TW_API(gfile_listdir, "io.gfile.listdir|compat.v1.gfile.ListDirectory(path: str) -> value",
       "The names in a directory, in no particular order.")
{
    tw_value list = { .kind = TW_VALUE_LIST };
    size_t room = 0;
    DIR *directory = is_directory(args->path) ? opendir(args->path) : NULL;
    if (!directory && is_directory(args->path))
        tw__fail_errno(errno, NULL, args->path);
    else if (!directory)
        tw__fail(TW_NOT_FOUND, "Could not find directory %s", args->path);
    bool good = directory != NULL;
    const struct dirent *entry;
    while (good && (entry = readdir(directory)))
        good = strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0 || add_name(&list, &room, entry->d_name);
    if (directory)
        closedir(directory);
    if (!good) {
        tw_value_free(&list);
        return (tw_value){ .kind = TW_VALUE_NONE };
    }
    return list;
}

static bool add_matches(tw_value *list, size_t *room, const char *pattern)
{
    glob_t found;
    int result = tw__glob(pattern, 0, &found);
    if (result != 0 && result != GLOB_NOMATCH) {
        tw__fail(result == GLOB_NOSPACE ? TW_RESOURCE_EXHAUSTED : TW_UNKNOWN, "%s: the directories could not be read", pattern);
        return false;
    }
    bool good = true;
    for (size_t i = 0; result == 0 && good && i < found.gl_pathc; i++)
        good = add_name(list, room, found.gl_pathv[i]);
    if (result == 0)
        globfree(&found);
    return good;
}

TW_API(gfile_glob, "io.gfile.glob|compat.v1.gfile.Glob(pattern: value) -> value",
       "The names that a pattern, or a list of patterns, stands for.\n"
       "pattern: a pattern with `*`, `?` and `[...]`, or a list of them\n"
       "returns: a list of paths")
{
    tw_value list = { .kind = TW_VALUE_LIST };
    size_t room = 0;
    bool several = args->pattern.kind == TW_VALUE_LIST || args->pattern.kind == TW_VALUE_TUPLE, good = true;
    const tw_value *items = several ? args->pattern.list.items : &args->pattern;
    for (int64_t i = 0; good && i < (several ? args->pattern.list.count : 1); i++) {
        good = items[i].kind == TW_VALUE_STR || items[i].kind == TW_VALUE_BYTES;
        tw__owned char *pattern = good ? tw__strndup(items[i].s.data, items[i].s.size) : NULL;
        if (!good)
            tw__fail(TW_TYPE_ERROR, "io.gfile.glob: a pattern must be text, item %lld is not", (long long)i);
        good = pattern && add_matches(&list, &room, pattern);
    }
    if (!good) {
        tw_value_free(&list);
        return (tw_value){ .kind = TW_VALUE_NONE };
    }
    return list;
}

/* ---- making and deleting ---- */

static tw_status make_directory(const char *path)
{
    if (is_directory(path) || mkdir(path, 0777) == 0 || (errno == EEXIST && is_directory(path)))
        return TW_OK;
    return tw__fail_errno(errno, NULL, path);
}

TW_API(gfile_mkdir, "io.gfile.mkdir|compat.v1.gfile.MkDir(path: str)", "Makes a directory, unless it is there.")
{
    return make_directory(args->path);
}

TW_API(gfile_makedirs, "io.gfile.makedirs|compat.v1.gfile.MakeDirs(path: str)",
       "Makes a directory and those it is in, unless they are there.")
{
    tw__owned char *path = tw__strdup(args->path);
    TW_NEED(path);
    for (char *at = path; at && (at = strchr(at + 1, '/'));) {
        *at = '\0';
        TW_TRY(make_directory(path));
        *at = '/';
    }
    return make_directory(path);
}

TW_API(gfile_remove, "io.gfile.remove|compat.v1.gfile.Remove(path: str)", "Deletes a file.")
{
    if (is_directory(args->path))
        return tw__fail_errno(EISDIR, NULL, args->path);
    return unlink(args->path) == 0 ? TW_OK : tw__fail_errno(errno, NULL, args->path);
}

static int remove_entry(const char *path, const struct stat *status, int kind, struct FTW *where)
{
    (void)status;
    (void)kind;
    (void)where;
    return remove(path) == 0 ? 0 : errno;
}

TW_API(gfile_rmtree, "io.gfile.rmtree|compat.v1.gfile.DeleteRecursively(path: str)",
       "Deletes a directory and all in it, or a file.")
{
    struct stat status;
    if (lstat(args->path, &status) != 0)
        return tw__fail(TW_NOT_FOUND, "%s not found", args->path);
    int result = nftw(args->path, remove_entry, 16, FTW_DEPTH | FTW_PHYS);
    if (result != 0)
        return tw__fail_errno(result > 0 ? result : errno, NULL, args->path);
    return TW_OK;
}

/* ---- moving and copying ---- */

static tw_status check_free(const char *path, bool overwrite)
{
    return overwrite || !tw__path_exists(path) ? TW_OK : tw__fail(TW_ALREADY_EXISTS, "file already exists");
}

TW_API(gfile_rename, "io.gfile.rename|compat.v1.gfile.Rename(src: str, dst: str, overwrite: bool = False)",
       "Gives a file or directory another name.\n"
       "src: the old path\n"
       "dst: the new path\n"
       "raises: AlreadyExistsError: there is such a file, and `overwrite` is False")
{
    TW_TRY(check_free(args->dst, args->overwrite));
    return rename(args->src, args->dst) == 0 ? TW_OK : tw__fail_errno(errno, NULL, args->src);
}

static bool same_file(const tw__file_reader *source, const char *path)
{
    struct stat one, other;
    return fstat(source->descriptor, &one) == 0 && stat(path, &other) == 0 && one.st_dev == other.st_dev &&
           one.st_ino == other.st_ino;
}

static void writer_end(tw__file_writer **writer)
{
    tw__file_abandon(*writer);
}

static tw_status copy_bytes(const tw__file_reader *source, const char *path)
{
    enum { PIECE = 1 << 20 };
    tw__auto(writer_end) tw__file_writer *target = tw__file_create(path);
    tw__owned char *piece = target ? tw__alloc(PIECE) : NULL;
    TW_NEED(piece);
    for (int64_t at = 0; at < source->size; at += PIECE) {
        size_t size = source->size - at < PIECE ? (size_t)(source->size - at) : PIECE;
        TW_TRY(tw__file_read_at(source, at, piece, size));
        TW_TRY(tw__file_write(target, piece, size));
    }
    return tw__file_commit(TW_TAKE(target));
}

TW_API(gfile_copy, "io.gfile.copy|compat.v1.gfile.Copy(src: str, dst: str, overwrite: bool = False)",
       "Copies the contents of a file; whoever looks finds the old file or the whole new one.\n"
       "src: the path of the file\n"
       "dst: the path of the copy\n"
       "raises: AlreadyExistsError: there is such a file, and `overwrite` is False")
{
    tw__file_reader source;
    TW_TRY(tw__file_open(&source, args->src));
    tw_status status = check_free(args->dst, args->overwrite);
    if (status == TW_OK && !same_file(&source, args->dst))
        status = copy_bytes(&source, args->dst);
    tw__file_close(&source);
    return status;
}

/* ---- what is known of a file ---- */

struct tw_file_statistics {
    tw_object object;
    struct stat status;
};

TW_CLASS(file_statistics, "io.gfile._FileStatistics()", .size = sizeof(struct tw_file_statistics),
         .doc = "What tf.io.gfile.stat gives.");

TW_PROPERTY(file_statistics_length, "io.gfile._FileStatistics.length(self: file_statistics) -> int", "The number of bytes.")
{
    return args->self->status.st_size;
}

TW_PROPERTY(file_statistics_mtime_nsec, "io.gfile._FileStatistics.mtime_nsec(self: file_statistics) -> int",
            "When it was changed, in nanoseconds since 1970.")
{
    return (int64_t)args->self->status.st_mtim.tv_sec * 1000000000 + args->self->status.st_mtim.tv_nsec;
}

TW_PROPERTY(file_statistics_is_directory, "io.gfile._FileStatistics.is_directory(self: file_statistics) -> bool",
            "Whether it is a directory.")
{
    return S_ISDIR(args->self->status.st_mode);
}

TW_API(gfile_stat, "io.gfile.stat|compat.v1.gfile.Stat(path: str) -> file_statistics",
       "The size, the time of the last change, and whether it is a directory.")
{
    struct stat status;
    if (stat(args->path, &status) != 0) {
        tw__fail_errno(errno, NULL, args->path);
        return NULL;
    }
    struct tw_file_statistics *made = tw_file_statistics();
    if (made)
        made->status = status;
    return made;
}
