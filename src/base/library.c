/* Libraries that are used where they are installed: their functions are looked up at run time. */
#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>

#include "base/base.h"
#include "base/environment.h"

static char folder[PATH_MAX];

void tw__library_folder(const char *path)
{
    if (snprintf(folder, sizeof folder, "%s", path) >= (int)sizeof folder)
        folder[0] = 0;
}

void *tw__library_load(const char *file, const tw__symbol *symbols, int count)
{
    void *library = dlopen(file, RTLD_NOW | RTLD_LOCAL);
    char path[PATH_MAX];
    if (!library && folder[0] && snprintf(path, sizeof path, "%s/%s", folder, file) < (int)sizeof path)
        library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    for (int i = 0; library && i < count; i++) {
        *symbols[i].place = dlsym(library, symbols[i].name);
        if (!*symbols[i].place) {
            dlclose(library);
            return NULL;
        }
    }
    return library;
}
