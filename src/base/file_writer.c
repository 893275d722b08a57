/* The atomic-file writer.
 *
 * A writer works on a temporary file `.NAME.thalweg-XXXXXXXX` beside the file NAME it makes, and holds a lock (flock) on it
 * for as long as it lives. A temporary that nobody holds the lock of belongs to a process that died: the next commit of
 * the same file, or any sweep of the directory, takes it away. Small pieces are gathered in a buffer; large ones go to write()
 * from where they are. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/base.h"

#define BUFFER_SIZE ((size_t)256 << 10)
#define DIRECT_SIZE ((size_t)32 << 10) /* from this size on a piece is written without a copy */
#define MARK ".thalweg-"
#define MARK_SIZE (sizeof MARK - 1)
#define RANDOM_SIZE 8
#define LARGE_DIRECTORY 1000 /* entries */
#define NAME_LIMIT 230       /* of NAME in a temporary's name, which may have 255 bytes in all */

struct tw__file_writer {
    int descriptor;
    int64_t position;
    char *buffer;
    size_t buffered;
    char *path, *temporary;
    bool named;  /* the temporary name is there */
    bool failed; /* bytes were lost: it can't be committed */
};

static _Atomic long fail_countdown;

void tw__file_fail_at(long n)
{
    atomic_store(&fail_countdown, n);
}

static bool must_fail(void)
{
    if (__builtin_expect(atomic_load_explicit(&fail_countdown, memory_order_relaxed) == 0, 1))
        return false;
    if (atomic_fetch_sub(&fail_countdown, 1) != 1)
        return false;
    errno = ENOSPC;
    return true;
}

static bool syncs(void)
{
    const char *setting = getenv("THALWEG_FSYNC");
    return !setting || strcmp(setting, "0") != 0;
}

static void random_letters(char *out)
{
    uint64_t bits;
    if (getrandom(&bits, sizeof bits, GRND_NONBLOCK) != sizeof bits) {
        struct timespec now;
        clock_gettime(CLOCK_MONOTONIC, &now);
        bits = ((uint64_t)now.tv_nsec * 0x9e3779b97f4a7c15u) ^ ((uint64_t)getpid() << 32) ^ (uint64_t)now.tv_sec;
    }
    for (int i = 0; i < RANDOM_SIZE; i++) {
        out[i] = "0123456789abcdefghijklmnopqrstuvwxyz"[bits % 36];
        bits /= 36;
    }
}

/* Makes and locks the temporary. A sweep may take it for a dead one in the moment before the lock: then another is made. */
static tw_status make_temporary(tw__file_writer *writer)
{
    size_t size = strlen(writer->temporary);
    for (int attempt = 0;; attempt++) {
        random_letters(writer->temporary + size - RANDOM_SIZE);
        int descriptor = must_fail() ? -1 : open(writer->temporary, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (descriptor < 0) {
            if ((errno == EEXIST || errno == EINTR) && attempt < 100)
                continue;
            return tw__fail_errno(errno, "could not create", writer->path);
        }
        struct stat status;
        (void)flock(descriptor, LOCK_EX | LOCK_NB);
        if (fstat(descriptor, &status) == 0 && status.st_nlink == 0 && attempt < 100) {
            close(descriptor);
            continue;
        }
        writer->descriptor = descriptor;
        writer->named = true;
        return TW_OK;
    }
}

tw__file_writer *tw__file_create(const char *path)
{
    const char *name = tw__path_name(path);
    if (!*name) {
        tw__fail(TW_INVALID_ARGUMENT, "could not create: \"%s\" names no file", path);
        return NULL;
    }
    tw__file_writer *writer = tw__alloc_zero(sizeof *writer);
    if (!writer)
        return NULL;
    writer->descriptor = -1;
    writer->path = tw__strdup(path);
    writer->temporary = tw__format("%.*s.%.*s" MARK "%0*d", (int)(name - path), path, NAME_LIMIT, name, RANDOM_SIZE, 0);
    if (!writer->path || !writer->temporary || make_temporary(writer) != TW_OK) {
        tw__file_abandon(writer);
        return NULL;
    }
    return writer;
}

static tw_status write_out(tw__file_writer *writer, const char *data, size_t size)
{
    while (size > 0) {
        ssize_t done = must_fail() ? -1 : write(writer->descriptor, data, size < (1u << 30) ? size : (1u << 30));
        if (done < 0 && errno == EINTR)
            continue;
        if (done <= 0) {
            writer->failed = true;
            return tw__fail_errno(done < 0 ? errno : ENOSPC, "could not write", writer->path);
        }
        data += done;
        size -= (size_t)done;
    }
    return TW_OK;
}

static tw_status flush(tw__file_writer *writer)
{
    size_t size = writer->buffered;
    writer->buffered = 0;
    return write_out(writer, writer->buffer, size);
}

tw_status tw__file_write(tw__file_writer *writer, const void *data, size_t size)
{
    if (writer->failed)
        return tw__fail(TW_FAILED_PRECONDITION, "could not write: %s; an earlier write failed", writer->path);
    if (size == 0)
        return TW_OK;
    writer->position += (int64_t)size;
    if (size >= DIRECT_SIZE) {
        TW_TRY(flush(writer));
        return write_out(writer, data, size);
    }
    if (!writer->buffer && !(writer->buffer = tw__alloc(BUFFER_SIZE))) {
        writer->failed = true;
        return TW_RESOURCE_EXHAUSTED;
    }
    if (writer->buffered + size > BUFFER_SIZE)
        TW_TRY(flush(writer));
    memcpy(writer->buffer + writer->buffered, data, size);
    writer->buffered += size;
    return TW_OK;
}

int64_t tw__file_position(const tw__file_writer *writer)
{
    return writer->position;
}

void tw__file_reserve(tw__file_writer *writer, size_t size)
{
    /* If there is no room, the write will say so; a file system that can't reserve does without. */
    if (!writer->failed && flush(writer) == TW_OK && size <= INT64_MAX)
        (void)fallocate(writer->descriptor, 0, writer->position, (off_t)size);
}

tw_status tw__file_seal(tw__file_writer *writer)
{
    if (writer->failed)
        return tw__fail(TW_FAILED_PRECONDITION, "could not finish: %s; an earlier write failed", writer->path);
    TW_TRY(flush(writer));
    if (syncs() && (must_fail() || fsync(writer->descriptor) != 0)) {
        writer->failed = true; /* what the kernel dropped can't be written again */
        return tw__fail_errno(errno, "could not sync", writer->path);
    }
    return TW_OK;
}

tw_status tw__file_link(tw__file_writer *writer, const char *path)
{
    if (must_fail() || link(writer->temporary, path) != 0)
        return tw__fail_errno(errno, "could not link", path);
    return TW_OK;
}

tw_status tw__file_place(tw__file_writer *writer, const char *path)
{
    if (must_fail() || rename(writer->temporary, path) != 0)
        return tw__fail_errno(errno, "could not rename to", path);
    writer->named = false;
    return TW_OK;
}

tw_status tw__sync_directory(const char *path)
{
    if (!syncs())
        return TW_OK;
    if (!*path)
        path = ".";
    int descriptor = must_fail() ? -1 : open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (descriptor < 0)
        return tw__fail_errno(errno, "could not sync the directory", path);
    /* EINVAL: a file system whose directories need no sync */
    int number = fsync(descriptor) != 0 && errno != EINVAL ? errno : 0;
    close(descriptor);
    return number ? tw__fail_errno(number, "could not sync the directory", path) : TW_OK;
}

void tw__file_abandon(tw__file_writer *writer)
{
    if (!writer)
        return;
    if (writer->named)
        unlink(writer->temporary);
    if (writer->descriptor >= 0)
        close(writer->descriptor);
    tw__free(writer->buffer);
    tw__free(writer->path);
    tw__free(writer->temporary);
    tw__free(writer);
}

/* Whether `name` is a temporary's; then its NAME begins behind the first byte and has *size bytes. */
static bool is_temporary(const char *name, size_t *size)
{
    size_t whole = strlen(name);
    if (name[0] != '.' || whole < 2 + MARK_SIZE + RANDOM_SIZE)
        return false;
    *size = whole - 1 - MARK_SIZE - RANDOM_SIZE;
    if (memcmp(name + 1 + *size, MARK, MARK_SIZE) != 0)
        return false;
    return strspn(name + whole - RANDOM_SIZE, "0123456789abcdefghijklmnopqrstuvwxyz") == RANDOM_SIZE;
}

bool tw__file_is_temporary(const char *name)
{
    size_t size;
    return is_temporary(name, &size);
}

/* Removes the temporaries of dead writers: all, or those that were to become `only`. Gives how many entries the directory has. */
static size_t sweep(const char *directory, const char *only, void (*dead)(void *context, const char *name), void *context)
{
    DIR *listing = opendir(*directory ? directory : ".");
    if (!listing)
        return 0;
    struct dirent *entry;
    size_t count = 0;
    while ((entry = readdir(listing))) {
        size_t size;
        count++;
        if (!is_temporary(entry->d_name, &size))
            continue;
        if (only && (strncmp(entry->d_name + 1, only, size) != 0 || strlen(only) < size || (only[size] && size < NAME_LIMIT)))
            continue;
        int descriptor = openat(dirfd(listing), entry->d_name, O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
        if (descriptor < 0)
            continue;
        if (flock(descriptor, LOCK_EX | LOCK_NB) == 0) {
            char name[sizeof entry->d_name];
            memcpy(name, entry->d_name + 1, size);
            name[size] = 0;
            if (dead)
                dead(context, name);
            (void)unlinkat(dirfd(listing), entry->d_name, 0);
        }
        close(descriptor);
    }
    closedir(listing);
    return count;
}

void tw__file_sweep(const char *directory, void (*dead)(void *context, const char *name), void *context)
{
    (void)sweep(directory, NULL, dead, context);
}

/* After a commit: what dead writers of the same file left. A directory of many files is not listed for each of them. */
static void sweep_after(const char *directory, const char *name)
{
    static _Atomic int64_t later; /* seconds; before that no large directory is listed again */
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    if (now.tv_sec < atomic_load(&later))
        return;
    if (sweep(directory, name, NULL, NULL) > LARGE_DIRECTORY)
        atomic_store(&later, now.tv_sec + 60);
}

tw_status tw__file_commit(tw__file_writer *writer)
{
    char *directory = tw__path_directory(writer->path);
    tw_status status = directory ? tw__file_seal(writer) : TW_RESOURCE_EXHAUSTED;
    if (status == TW_OK)
        status = tw__file_place(writer, writer->path);
    if (status == TW_OK)
        status = tw__sync_directory(directory);
    if (status == TW_OK)
        sweep_after(directory, tw__path_name(writer->path));
    tw__free(directory);
    tw__file_abandon(writer);
    return status;
}

int tw__directory_lock(const char *path)
{
    int descriptor = open(*path ? path : ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (descriptor < 0)
        return -1;
    for (int attempt = 0; attempt < 500; attempt++) {
        if (flock(descriptor, LOCK_EX | LOCK_NB) == 0 || (errno != EWOULDBLOCK && errno != EINTR))
            break; /* held, or a file system without locks */
        nanosleep(&(struct timespec){ .tv_nsec = 10 * 1000 * 1000 }, NULL);
    }
    return descriptor;
}

void tw__directory_unlock(int lock)
{
    if (lock >= 0)
        close(lock);
}
