/* A directory for the files of a test program, made before its tests and removed after them. */
#ifndef TW_TESTS_SCRATCH_H
#define TW_TESTS_SCRATCH_H

#include <dirent.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char scratch[64];

static inline int make_scratch(void **state)
{
    (void)state;
    strcpy(scratch, "/tmp/thalweg-test-XXXXXX");
    return mkdtemp(scratch) ? 0 : -1;
}

/* How many files' names begin so; they are removed if that is wanted. */
static inline int count_files(const char *beginning, int remove)
{
    int count = 0;
    DIR *listing = opendir(scratch);
    struct dirent *entry;
    while (listing && (entry = readdir(listing))) {
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0 ||
            strncmp(entry->d_name, beginning, strlen(beginning)) != 0)
            continue;
        count++;
        if (remove)
            unlinkat(dirfd(listing), entry->d_name, 0);
    }
    closedir(listing);
    return count;
}

static inline int remove_entry(const char *path, const struct stat *status, int kind, struct FTW *place)
{
    (void)status, (void)kind, (void)place;
    return remove(path);
}

static inline int remove_scratch(void **state)
{
    (void)state;
    return nftw(scratch, remove_entry, 16, FTW_DEPTH | FTW_PHYS);
}

/* The path of a file in it, in one of 4 buffers used in turn. */
static inline const char *in_scratch(const char *name)
{
    static char paths[4][400];
    static int turn;
    turn = (turn + 1) % 4;
    snprintf(paths[turn], sizeof paths[turn], "%s/%s", scratch, name);
    return paths[turn];
}

#endif
