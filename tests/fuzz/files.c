/* Inputs as files and files as inputs, for fuzz targets with and without a fuzzer. */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "fuzz/fuzz.h"

void fuzz_seed_files(fuzz_add add, const char *folder, const char *ending)
{
    char path[1024];
    struct dirent **names;
    snprintf(path, sizeof path, TW_TEST_DATA "/golden/%s", folder);
    int count = scandir(path, &names, NULL, alphasort);
    for (int i = 0; i < count; i++) {
        size_t length = strlen(names[i]->d_name), tail = strlen(ending);
        snprintf(path, sizeof path, TW_TEST_DATA "/golden/%s/%s", folder, names[i]->d_name);
        FILE *file = length >= tail && strcmp(names[i]->d_name + length - tail, ending) == 0 ? fopen(path, "rb") : NULL;
        char *data = file ? malloc(1 << 20) : NULL;
        if (data)
            add(data, fread(data, 1, 1 << 20, file));
        free(data);
        if (file)
            fclose(file);
        free(names[i]);
    }
    if (count >= 0)
        free(names);
}

const char *fuzz_file(const void *data, size_t size)
{
    static int file = -1;
    static char path[40];
    if (file < 0)
        file = memfd_create("fuzz", 0);
    if (file < 0 || ftruncate(file, 0) != 0 || pwrite(file, data, size, 0) != (ssize_t)size)
        return NULL;
    snprintf(path, sizeof path, "/proc/self/fd/%d", file);
    return path;
}
