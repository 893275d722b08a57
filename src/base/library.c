/* Libraries that are used where they are installed: their functions are looked up at run time. */
#include <dlfcn.h>

#include "base/base.h"

void *tw__library_load(const char *file, const tw__symbol *symbols, int count)
{
    void *library = dlopen(file, RTLD_NOW | RTLD_LOCAL);
    for (int i = 0; library && i < count; i++) {
        *symbols[i].place = dlsym(library, symbols[i].name);
        if (!*symbols[i].place) {
            dlclose(library);
            return NULL;
        }
    }
    return library;
}
