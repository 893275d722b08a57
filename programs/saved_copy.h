/* A file of Keras as a SavedModel in a temporary folder, for commands that need its signatures or its graph. (saved_copy.c) */
#ifndef SAVED_COPY_H
#define SAVED_COPY_H

#include <stdbool.h>

typedef struct saved_copy {
    char folder[4096];
} saved_copy;

/* False: the library's error says why, or stderr was told. */
bool saved_copy_make(saved_copy *copy, const char *path);
void saved_copy_remove(const saved_copy *copy);

#endif
