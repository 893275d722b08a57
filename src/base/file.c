/* Paths, and files for reading. Writing is in file_writer.c.
 *
 * Only regular files are opened, and never by a call that waits (a FIFO of that name must not hang the program). Reads
 * are by offset and all or nothing, so that a reader can be shared between threads. */
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/base.h"

tw_status tw__fail_errno(int number, const char *what, const char *path)
{
    tw_status code = TW_UNKNOWN;
    switch (number) {
    case ENOENT:
        code = TW_NOT_FOUND;
        break;
    case EACCES:
    case EPERM:
    case EROFS:
        code = TW_PERMISSION_DENIED;
        break;
    case EEXIST:
        code = TW_ALREADY_EXISTS;
        break;
    case ENOSPC:
    case EDQUOT:
    case EFBIG:
    case EMFILE:
    case ENFILE:
    case ENOMEM:
        code = TW_RESOURCE_EXHAUSTED;
        break;
    case EISDIR:
    case ENOTDIR:
    case ENOTEMPTY:
    case EBUSY:
        code = TW_FAILED_PRECONDITION;
        break;
    case EINVAL:
    case ENAMETOOLONG:
    case ELOOP:
        code = TW_INVALID_ARGUMENT;
        break;
    }
    return tw__fail(code, "%s%s%s; %s", what ? what : "", what ? ": " : "", path, strerror(number));
}

tw_status tw__file_open(tw__file_reader *reader, const char *path)
{
    *reader = (tw__file_reader){ .descriptor = -1 };
    int descriptor;
    do {
        descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    } while (descriptor < 0 && errno == EINTR);
    if (descriptor < 0)
        return tw__fail_errno(errno, "could not open", path);
    struct stat status;
    tw_status result = TW_OK;
    if (fstat(descriptor, &status) != 0)
        result = tw__fail_errno(errno, "could not open", path);
    else if (S_ISDIR(status.st_mode))
        result = tw__fail_errno(EISDIR, "could not open", path);
    else if (!S_ISREG(status.st_mode))
        result = tw__fail(TW_FAILED_PRECONDITION, "could not open: %s; not a regular file", path);
    else if (!(reader->path = tw__strdup(path)))
        result = TW_RESOURCE_EXHAUSTED;
    if (result != TW_OK) {
        close(descriptor);
        return result;
    }
    reader->descriptor = descriptor;
    reader->size = status.st_size;
    return TW_OK;
}

tw_status tw__file_read_at(const tw__file_reader *reader, int64_t offset, void *data, size_t size)
{
    if (offset < 0 || offset > reader->size || size > (uint64_t)(reader->size - offset))
        return tw__fail(TW_OUT_OF_RANGE, "%s: %zu bytes at offset %lld are wanted, the file has %lld", reader->path, size,
                        (long long)offset, (long long)reader->size);
    char *at = data;
    while (size > 0) {
        ssize_t got = pread(reader->descriptor, at, size < (1u << 30) ? size : (1u << 30), offset);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return tw__fail_errno(errno, "could not read", reader->path);
        if (got == 0)
            return tw__fail(TW_OUT_OF_RANGE, "%s: the file ended at %lld bytes while being read", reader->path,
                            (long long)offset);
        at += got;
        offset += got;
        size -= (size_t)got;
    }
    return TW_OK;
}

void tw__file_close(tw__file_reader *reader)
{
    if (reader->path) {
        close(reader->descriptor);
        tw__free(reader->path);
    }
    *reader = (tw__file_reader){ .descriptor = -1 };
}

char *tw__file_read_all(const char *path, size_t limit, size_t *size)
{
    tw__file_reader reader;
    if (tw__file_open(&reader, path) != TW_OK)
        return NULL;
    char *data = NULL;
    if ((uint64_t)reader.size > limit || (uint64_t)reader.size >= SIZE_MAX / 2)
        tw__fail(TW_OUT_OF_RANGE, "%s: the file has %lld bytes, at most %zu are expected", path, (long long)reader.size, limit);
    else
        data = tw__alloc((size_t)reader.size + 1);
    if (data && tw__file_read_at(&reader, 0, data, (size_t)reader.size) != TW_OK) {
        tw__free(data);
        data = NULL;
    }
    if (data) {
        data[reader.size] = 0;
        if (size)
            *size = (size_t)reader.size;
    }
    tw__file_close(&reader);
    return data;
}

bool tw__path_exists(const char *path)
{
    struct stat status;
    return stat(path, &status) == 0;
}

static bool is_directory(const char *path)
{
    struct stat status;
    return stat(path, &status) == 0 && S_ISDIR(status.st_mode);
}

tw_status tw__make_directories(const char *path)
{
    if (!*path || is_directory(path))
        return TW_OK;
    tw__owned char *partial = tw__strdup(path);
    if (!partial)
        return TW_RESOURCE_EXHAUSTED;
    tw_status status = TW_OK;
    for (char *at = partial + 1; status == TW_OK; at++) {
        char here = *at;
        if (here && here != '/')
            continue;
        *at = 0;
        /* Another process may make it at the same moment; what counts is that it is there. */
        if (mkdir(partial, 0777) != 0) {
            int number = errno;
            if (!is_directory(partial))
                status = tw__fail_errno(number == EEXIST ? ENOTDIR : number, "could not make the directory", partial);
        }
        *at = here;
        if (!here)
            break;
    }
    return status;
}

char *tw__path_join(const char *directory, const char *name)
{
    if (*name == '/' || !*directory)
        return tw__strdup(name);
    return tw__format(tw__ends_with(directory, "/") ? "%s%s" : "%s/%s", directory, name);
}

const char *tw__path_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

char *tw__path_directory(const char *path)
{
    size_t head = (size_t)(tw__path_name(path) - path), size = head;
    while (size > 0 && path[size - 1] == '/')
        size--;
    return tw__strndup(path, size > 0 ? size : head);
}

tw_status tw__file_remove(const char *path)
{
    if (unlink(path) != 0 && errno != ENOENT && errno != ENOTDIR)
        return tw__fail_errno(errno, "could not remove", path);
    return TW_OK;
}
