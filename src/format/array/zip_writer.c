/* Writing zip archives: members stored as they are, one after the other. A member's checksum and size stand behind its bytes, as
 * they are known there (flag 8), and again in the directory at the end. Its time is the first that the format knows, so that
 * equal members make equal files. */
#include <zlib.h>

#include "format/format.h"

#define MIDNIGHT 0x00210000u /* 1980-01-01 00:00 */

typedef struct member {
    char *name;
    uint32_t crc;
    uint64_t header, begin, size;
} member;

struct tw__zip {
    tw__file_writer *file;
    member *members;
    size_t count;
};

tw__zip *tw__zip_create(const char *path)
{
    tw__zip *zip = tw__alloc_zero(sizeof *zip);
    if (zip && !(zip->file = tw__file_create(path))) {
        tw__free(zip);
        return NULL;
    }
    return zip;
}

static void put(uint8_t **at, uint32_t value, int bytes)
{
    for (int i = 0; i < bytes; i++)
        *(*at)++ = (uint8_t)(value >> 8 * i);
}

/* What local headers and entries of the directory have in common: version 2.0, flag 8, stored, and what is known. */
static void put_common(uint8_t **at, const member *m, bool known)
{
    put(at, 20, 2);
    put(at, 8, 2);
    put(at, 0, 2);
    put(at, MIDNIGHT, 4);
    put(at, known ? m->crc : 0, 4);
    put(at, known ? (uint32_t)m->size : 0, 4);
    put(at, known ? (uint32_t)m->size : 0, 4);
    put(at, (uint32_t)strlen(m->name), 2);
    put(at, 0, 2);
}

static tw_status end_member(tw__zip *zip)
{
    if (!zip->count)
        return TW_OK;
    member *m = &zip->members[zip->count - 1];
    uint8_t trailer[16], *at = trailer;
    if (m->size > UINT32_MAX || (uint64_t)tw__file_position(zip->file) > UINT32_MAX)
        return tw__fail(TW_UNIMPLEMENTED, "\"%s\" makes the archive larger than 4 GB, which is not supported", m->name);
    put(&at, 0x08074b50, 4);
    put(&at, m->crc, 4);
    put(&at, (uint32_t)m->size, 4);
    put(&at, (uint32_t)m->size, 4);
    return tw__file_write(zip->file, trailer, sizeof trailer);
}

tw_status tw__zip_member(tw__zip *zip, const char *name)
{
    TW_TRY(end_member(zip));
    member *grown = tw__realloc(zip->members, (zip->count + 1) * sizeof *grown);
    TW_NEED(grown);
    zip->members = grown;
    member new = { .name = tw__strdup(name), .header = (uint64_t)tw__file_position(zip->file) };
    TW_NEED(new.name);
    grown[zip->count++] = new;
    uint8_t header[30], *at = header;
    put(&at, 0x04034b50, 4);
    put_common(&at, &new, false);
    TW_TRY(tw__file_write(zip->file, header, sizeof header));
    return tw__file_write(zip->file, name, strlen(name));
}

tw_status tw__zip_write(void *context, const void *data, size_t size)
{
    tw__zip *zip = context;
    member *m = &zip->members[zip->count - 1];
    m->crc = (uint32_t)crc32_z(m->crc, data, size);
    m->size += size;
    return tw__file_write(zip->file, data, size);
}

static tw_status write_directory(tw__zip *zip)
{
    TW_TRY(end_member(zip));
    uint64_t begin = (uint64_t)tw__file_position(zip->file);
    for (size_t i = 0; i < zip->count; i++) {
        const member *m = &zip->members[i];
        uint8_t entry[46], *at = entry;
        put(&at, 0x02014b50, 4);
        put(&at, 3 << 8 | 20, 2); /* made on Unix */
        put_common(&at, m, true);
        put(&at, 0, 2);
        put(&at, 0, 2);
        put(&at, 0, 2);
        put(&at, 0600u << 16, 4);
        put(&at, (uint32_t)m->header, 4);
        TW_TRY(tw__file_write(zip->file, entry, sizeof entry));
        TW_TRY(tw__file_write(zip->file, m->name, strlen(m->name)));
    }
    uint8_t end[22], *at = end;
    put(&at, 0x06054b50, 4);
    put(&at, 0, 4);
    put(&at, (uint32_t)zip->count, 2);
    put(&at, (uint32_t)zip->count, 2);
    put(&at, (uint32_t)((uint64_t)tw__file_position(zip->file) - begin), 4);
    put(&at, (uint32_t)begin, 4);
    put(&at, 0, 2);
    return tw__file_write(zip->file, end, sizeof end);
}

tw_status tw__zip_commit(tw__zip *zip, tw_status status)
{
    TW_NEED(zip);
    if (status == TW_OK)
        status = write_directory(zip);
    if (status == TW_OK)
        status = tw__file_commit(zip->file);
    else
        tw__file_abandon(zip->file);
    for (size_t i = 0; i < zip->count; i++)
        tw__free(zip->members[i].name);
    tw__free(zip->members);
    tw__free(zip);
    return status;
}
