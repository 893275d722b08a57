/* Archives of files: what kind one is, and unpacking it (archive.c). */
#ifndef TW_FORMAT_ARCHIVE_H
#define TW_FORMAT_ARCHIVE_H

#include "base/base.h"

typedef enum tw__archive_kind {
    TW_NO_ARCHIVE,
    TW_TAR,
    TW_TAR_GZ,
    TW_TAR_OTHER, /* perhaps a tar file, compressed in a way that the library can't read */
    TW_ZIP
} tw__archive_kind;
tw__archive_kind tw__archive_kind_of(const char *path);
/* Puts the members below the folder; an error before anything is written if one would lie elsewhere or is a link. */
tw_status tw__archive_extract(const char *path, tw__archive_kind kind, const char *folder);

#endif
