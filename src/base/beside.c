/* Files that belong to the library and stand beside it: the texts of the reference, the part that compiles for plug-ins. */
#include <dlfcn.h>
#include <limits.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/base.h"
#include "base/beside.h"

/* Relative to the folder of the library, or of the program that it is linked into. A Python package has them beside its
 * extension. */
static const char *const places[] = { "thalweg", ".", "../" TW_LIBRARY_FOLDER "/thalweg", "../lib/thalweg" };

char *tw__beside(const char *name)
{
    char file[PATH_MAX + 1] = "";
    Dl_info info;
    if (dladdr(places, &info) && info.dli_fname && !realpath(info.dli_fname, file))
        file[0] = 0;
    for (int attempt = 0; attempt < 2; attempt++) { /* a program is known by its link, whatever it was called by */
        char *slash = strrchr(file, '/');
        for (size_t i = 0; slash && i < sizeof places / sizeof *places; i++) {
            *slash = 0;
            char *path = tw__format("%s/%s/%s", file, places[i], name);
            if (path && access(path, R_OK) == 0)
                return path;
            tw__free(path);
        }
        ssize_t length = readlink("/proc/self/exe", file, PATH_MAX);
        file[length > 0 ? length : 0] = 0;
    }
    return NULL;
}
