/* Files that belong to the library and stand beside it. */
#ifndef TW_BESIDE_H
#define TW_BESIDE_H

/* The path of such a file, for tw__free; NULL: there is none. */
char *tw__beside(const char *name);

#endif
