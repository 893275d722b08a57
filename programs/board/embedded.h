/* Files that are a part of the program: what stands in dashboard/, made C by tools/embed_files.py. */
#ifndef EMBEDDED_H
#define EMBEDDED_H

#include <stddef.h>

typedef struct embedded_file {
    const char *path; /* NULL: the end */
    const unsigned char *data;
    size_t size;
} embedded_file;

extern const embedded_file dashboard_files[];

#endif
