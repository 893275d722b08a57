/* Event files: found below the directory, and read while they may still grow.
 *
 * A record that is cut off is tried again at the next reading; one that is damaged is passed over and counted. Reading has a
 * limit of time, after which others have their turn; it goes on where it stopped. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "board.h"

enum { DEPTH = 12, EVENTS_AT_ONCE = 256 };

/* ---- files ---- */

/* Whether `path` is the directory, or below it. */
static bool is_below(const char *directory, const char *path)
{
    size_t size = strlen(directory);
    return strncmp(directory, path, size) == 0 && (path[size] == '/' || !path[size] || (size && directory[size - 1] == '/'));
}

/* Whether no symbolic link leads from the directory to a place outside of it. */
static bool stays_inside(const board *b, const char *path)
{
    char *root = b->follows ? NULL : realpath(b->directory, NULL), *real = b->follows ? NULL : realpath(path, NULL);
    bool inside = b->follows || (root && real && is_below(root, real));
    free(root);
    free(real);
    return inside;
}

int board_open(const board *b, const char *path)
{
    struct stat about;
    int handle = stays_inside(b, path) ? open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY) : -1;
    if (handle >= 0 && (fstat(handle, &about) != 0 || !S_ISREG(about.st_mode))) {
        close(handle);
        handle = -1;
    }
    return handle;
}

/* The record that could not be read is damaged: goes on behind it. */
static bool pass_damage(board_file *file, tw_records *records)
{
    int64_t place = tw_records_offset(records), skipped = tw_records_skip_damage(records);
    if (skipped <= 0)
        return false;
    if (file->searching != place) {
        file->damages++;
        fprintf(stderr, "thalweg: %s is damaged at byte %lld; reading goes on at byte %lld\n", file->path, (long long)place,
                (long long)(place + skipped));
    }
    file->lost += skipped;
    file->searching = place + skipped;
    return true;
}

/* Records until the file or the time ends. */
static bool read_records(board *b, board_run *run, board_file *file, tw_records *records, double until)
{
    uint32_t number = (uint32_t)(file - run->files);
    const void *data;
    size_t size;
    for (int count = 1;; count++) {
        int64_t offset = tw_records_offset(records);
        if (count % EVENTS_AT_ONCE == 0 && http_seconds() > until) {
            b->unread = true;
            return true;
        }
        if (tw_records_next(records, &data, &size)) {
            if (!board_add_event(b, run, number, offset, data, size))
                return false;
            continue;
        }
        bool damaged = tw_error_code() == TW_DATA_LOSS && !tw_records_cut_off(records);
        tw_clear_error();
        if (!damaged || !pass_damage(file, records))
            return true;
    }
}

static bool read_file(board *b, board_run *run, board_file *file, double until)
{
    int handle = board_open(b, file->path); /* it may be gone, or another file by now */
    struct stat about = { 0 };
    bool grown = handle >= 0 && fstat(handle, &about) == 0 && about.st_size > file->place, good = true;
    tw_records *records = grown ? tw_records_open(file->path, file->place) : NULL;
    if (records) {
        good = read_records(b, run, file, records, until);
        file->size = about.st_size;
        file->place = tw_records_offset(records);
    }
    if (handle >= 0)
        close(handle);
    tw_clear_error();
    tw_records_close(records);
    return good;
}

uint8_t *board_read_whole(const board *b, const char *path, size_t *size)
{
    int handle = board_open(b, path);
    FILE *file = handle >= 0 ? fdopen(handle, "rb") : NULL;
    if (handle >= 0 && !file)
        close(handle);
    uint8_t *data = NULL;
    size_t room = 0;
    *size = 0;
    while (file && !feof(file) && !ferror(file)) {
        if (*size + 1 >= room) {
            uint8_t *more = realloc(data, room = room ? 2 * room : 1 << 16);
            if (!more)
                break;
            data = more;
        }
        *size += fread(data + *size, 1, room - *size - 1, file);
    }
    if (file)
        fclose(file);
    if (data)
        data[*size] = 0;
    return data;
}

static bool note_file(board *b, const char *folder, const char *path)
{
    board_run *run = board_run_for(b, *folder ? folder : ".");
    for (size_t i = 0; run && i < run->file_count; i++) {
        if (strcmp(run->files[i].path, path) == 0)
            return true;
    }
    if (!run || !BOARD_GROW(run->files, run->file_capacity, run->file_count))
        return false;
    char *copy = board_copy(path, strlen(path));
    if (copy)
        run->files[run->file_count++] = (board_file){ .path = copy, .searching = -1 };
    return copy != NULL;
}

static bool note_profile(board *b, const char *path)
{
    for (size_t i = 0; i < b->profile_count; i++) {
        if (strcmp(b->profiles[i], path) == 0)
            return true;
    }
    if (!BOARD_GROW(b->profiles, b->profile_capacity, b->profile_count))
        return false;
    char *copy = board_copy(path, strlen(path));
    if (copy)
        b->profiles[b->profile_count++] = copy;
    return copy != NULL;
}

static int by_name(const struct dirent **a, const struct dirent **b)
{
    return strcmp((*a)->d_name, (*b)->d_name);
}

static bool ends_in(const char *text, const char *end)
{
    size_t size = strlen(text), part = strlen(end);
    return size >= part && strcmp(text + size - part, end) == 0;
}

static bool walk(board *b, const char *folder, int depth)
{
    char place[4096], path[4096], below[4096];
    struct dirent **entries;
    if (snprintf(place, sizeof place, "%s%s%s", b->directory, *folder ? "/" : "", folder) >= (int)sizeof place || depth > DEPTH)
        return true;
    int count = scandir(place, &entries, NULL, by_name);
    bool good = true;
    for (int i = 0; i < count; i++) {
        const char *name = entries[i]->d_name;
        struct stat about;
        bool fits = snprintf(path, sizeof path, "%s/%s", place, name) < (int)sizeof path &&
                    snprintf(below, sizeof below, "%s%s%s", folder, *folder ? "/" : "", name) < (int)sizeof below;
        if (good && fits && name[0] != '.' && stays_inside(b, path) && stat(path, &about) == 0) {
            if (S_ISDIR(about.st_mode))
                good = walk(b, below, depth + 1);
            else if (S_ISREG(about.st_mode) && strstr(name, "tfevents") && !ends_in(name, ".profile-empty"))
                good = note_file(b, folder, path);
            else if (S_ISREG(about.st_mode) && (ends_in(name, ".trace") || ends_in(name, ".xplane.pb")))
                good = note_profile(b, below);
        }
        free(entries[i]);
    }
    if (count >= 0)
        free(entries);
    return good;
}

bool board_refresh(board *b, double seconds)
{
    double until = http_seconds() + seconds;
    size_t memory = b->memory, runs = b->run_count, profiles = b->profile_count;
    bool changed = false, good = walk(b, "", 0);
    b->unread = false;
    for (size_t i = 0; good && i < b->run_count; i++) {
        for (size_t k = 0; good && k < b->runs[i].file_count; k++) {
            int64_t place = b->runs[i].files[k].place;
            good = read_file(b, &b->runs[i], &b->runs[i].files[k], until);
            changed |= b->runs[i].files[k].place != place;
        }
    }
    if (changed || memory != b->memory || runs != b->run_count || profiles != b->profile_count)
        b->generation++;
    return good;
}
