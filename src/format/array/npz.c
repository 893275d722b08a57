/* Reading zip archives, whose members are stored or deflated: NumPy's .npz, an archive of .npy files, and Keras's .keras
 * (zip_writer.c).
 *
 * The archive is read from its end: the end record (22 bytes and a comment) tells where the directory is; a directory entry tells
 * name, method, sizes, CRC-32 and the place of a member's local header, behind which the member's bytes lie. Numbers that do not
 * fit in 32 bits are all ones there and stand in an extra field (1); the end record's own stand in a zip64 end record. */
#include <zlib.h>

#include "codec/codec.h"
#include "format/format.h"

#define END_SIZE 22
#define LOCATOR_SIZE 20
#define END64_SIZE 56
#define ENTRY_SIZE 46
#define LOCAL_SIZE 30
#define COMMENT_LIMIT 65535
#define PIECE ((size_t)1 << 20)
#define DIRECTORY_LIMIT ((uint64_t)1 << 30)

typedef struct member_entry {
    unsigned method, flags;
    uint32_t crc;
    uint64_t stored_size, size, local_offset;
} member_entry;

static unsigned get16(const uint8_t *data)
{
    return data[0] | (unsigned)data[1] << 8;
}

static tw_status fail(const tw__file_reader *file, const char *what)
{
    return tw__fail(TW_DATA_LOSS, "%s: not an archive: %s", file->path, what);
}

/* Where the directory is. */
static tw_status find_directory(const tw__file_reader *file, uint64_t *offset, uint64_t *size)
{
    size_t tail_size = file->size < END_SIZE + COMMENT_LIMIT ? (size_t)file->size : END_SIZE + COMMENT_LIMIT;
    tw__owned uint8_t *tail = tw__alloc(tail_size);
    TW_NEED(tail);
    TW_TRY(tw__file_read_at(file, file->size - (int64_t)tail_size, tail, tail_size));
    const uint8_t *end = NULL;
    for (size_t i = END_SIZE; i <= tail_size && !end; i++) {
        const uint8_t *at = tail + tail_size - i;
        if (tw__get32(at) == 0x06054b50 && get16(at + 20) == i - END_SIZE)
            end = at;
    }
    if (!end)
        return fail(file, "it has no end record");
    *size = tw__get32(end + 12);
    *offset = tw__get32(end + 16);
    if (*offset == UINT32_MAX || *size == UINT32_MAX) {
        uint8_t large[END64_SIZE];
        const uint8_t *locator = end - LOCATOR_SIZE;
        if (end - tail < LOCATOR_SIZE || tw__get32(locator) != 0x07064b50 || tw__get64(locator + 8) > INT64_MAX)
            return fail(file, "it lacks the end record for large files");
        TW_TRY(tw__file_read_at(file, (int64_t)tw__get64(locator + 8), large, sizeof large));
        if (tw__get32(large) != 0x06064b50)
            return fail(file, "it lacks the end record for large files");
        *size = tw__get64(large + 40);
        *offset = tw__get64(large + 48);
    }
    if (*offset > (uint64_t)file->size || *size > (uint64_t)file->size - *offset || *size > DIRECTORY_LIMIT)
        return fail(file, "its directory is not in the file");
    return TW_OK;
}

/* The numbers of the extra field 1, for those that were all ones, in this order. */
static bool read_large_numbers(const uint8_t *extra, size_t size, member_entry *member)
{
    uint64_t *const numbers[] = { &member->size, &member->stored_size, &member->local_offset };
    while (size >= 4) {
        size_t field = get16(extra + 2);
        if (field > size - 4)
            return false;
        if (get16(extra) == 1) {
            const uint8_t *at = extra + 4, *end = at + field;
            for (int i = 0; i < 3; i++) {
                if (*numbers[i] != UINT32_MAX)
                    continue;
                if (end - at < 8)
                    return false;
                *numbers[i] = tw__get64(at);
                at += 8;
            }
        }
        extra += 4 + field;
        size -= 4 + field;
    }
    return true;
}

/* Of a directory's entry, with name, extra field and comment. */
static size_t entry_size(const uint8_t *entry)
{
    return ENTRY_SIZE + (size_t)get16(entry + 28) + get16(entry + 30) + get16(entry + 32);
}

/* Finds "name.npy" (or the name itself) in the directory. */
static tw_status find_member(const tw__file_reader *file, const char *name, const uint8_t *directory, size_t size,
                             member_entry *member)
{
    size_t name_size = strlen(name);
    while (size >= ENTRY_SIZE) {
        size_t entry_name = get16(directory + 28), extra = get16(directory + 30), whole = entry_size(directory);
        const char *text = (const char *)directory + ENTRY_SIZE;
        if (tw__get32(directory) != 0x02014b50 || whole > size)
            return fail(file, "its directory is malformed");
        bool found = entry_name >= name_size && memcmp(text, name, name_size) == 0 &&
                     (entry_name == name_size || (entry_name == name_size + 4 && memcmp(text + name_size, ".npy", 4) == 0));
        if (found) {
            *member = (member_entry){ .flags = get16(directory + 8),
                                      .method = get16(directory + 10),
                                      .crc = tw__get32(directory + 16),
                                      .stored_size = tw__get32(directory + 20),
                                      .size = tw__get32(directory + 24),
                                      .local_offset = tw__get32(directory + 42) };
            if (!read_large_numbers(directory + ENTRY_SIZE + entry_name, extra, member))
                return fail(file, "its directory is malformed");
            return TW_OK;
        }
        directory += whole;
        size -= whole;
    }
    return tw__fail(TW_NOT_FOUND, "%s: there is no \"%s\" in the archive", file->path, name);
}

/* The member's bytes, decompressed, for tw__free. */
static uint8_t *read_member(const tw__file_reader *file, const char *name, const member_entry *member)
{
    uint8_t local[LOCAL_SIZE];
    if (member->flags & 1 || (member->method != 0 && member->method != 8)) {
        tw__fail(TW_UNIMPLEMENTED, "%s: \"%s\" is stored by method %u%s, which can't be read", file->path, name, member->method,
                 member->flags & 1 ? ", encrypted" : "");
        return NULL;
    }
    if (member->local_offset > (uint64_t)file->size || (uint64_t)file->size - member->local_offset < LOCAL_SIZE) {
        fail(file, "a member is not in the file");
        return NULL;
    }
    if (tw__file_read_at(file, (int64_t)member->local_offset, local, LOCAL_SIZE) != TW_OK)
        return NULL;
    uint64_t begin = member->local_offset + LOCAL_SIZE + get16(local + 26) + get16(local + 28);
    if (tw__get32(local) != 0x04034b50 || begin > (uint64_t)file->size || member->stored_size > (uint64_t)file->size - begin) {
        fail(file, "a member is not in the file");
        return NULL;
    }
    if (member->method == 0 ? member->size != member->stored_size : member->size > tw__inflate_limit(member->stored_size)) {
        fail(file, "a member's sizes do not agree");
        return NULL;
    }
    uint8_t *stored = tw__alloc(member->stored_size), *data = stored;
    bool good = stored && tw__file_read_at(file, (int64_t)begin, stored, member->stored_size) == TW_OK;
    if (good && member->method == 8) {
        data = tw__alloc(member->size);
        good = data && tw__inflate(stored, member->stored_size, TW_DEFLATED_RAW, data, member->size);
        if (data && !good)
            fail(file, "a member's compressed bytes are damaged");
        tw__free(stored);
    }
    if (good && crc32_z(0, data, member->size) != member->crc) {
        tw__fail(TW_DATA_LOSS, "%s: the checksum of \"%s\" does not match", file->path, name);
        good = false;
    }
    if (!good) {
        tw__free(data);
        return NULL;
    }
    return data;
}

/* Finds a member of an archive and, if `bytes` is not NULL, reads it. */
static tw_status take_member(const tw__file_reader *file, const char *name, member_entry *member, uint8_t **bytes)
{
    uint64_t offset = 0, size = 0;
    TW_TRY(find_directory(file, &offset, &size));
    tw__owned uint8_t *directory = tw__alloc(size);
    TW_NEED(directory);
    TW_TRY(tw__file_read_at(file, (int64_t)offset, directory, size));
    TW_TRY(find_member(file, name, directory, size, member));
    if (bytes && !(*bytes = read_member(file, name, member)))
        return tw__error_status();
    return TW_OK;
}

static tw_status visit_entries(const tw__file_reader *file, const uint8_t *directory, size_t size,
                               tw_status (*visit)(void *context, const char *name), void *context)
{
    while (size >= ENTRY_SIZE) {
        size_t whole = entry_size(directory);
        if (tw__get32(directory) != 0x02014b50 || whole > size)
            return fail(file, "its directory is malformed");
        tw__owned char *name = tw__strndup((const char *)directory + ENTRY_SIZE, get16(directory + 28));
        TW_NEED(name);
        TW_TRY(visit(context, name));
        directory += whole;
        size -= whole;
    }
    return TW_OK;
}

tw_status tw__zip_each(const char *path, tw_status (*visit)(void *context, const char *name), void *context)
{
    tw__file_reader file;
    uint64_t offset = 0, size = 0;
    TW_TRY(tw__file_open(&file, path));
    tw_status status = find_directory(&file, &offset, &size);
    tw__owned uint8_t *directory = status == TW_OK ? tw__alloc(size) : NULL;
    if (status == TW_OK)
        status = directory ? tw__file_read_at(&file, (int64_t)offset, directory, size) : tw__error_status();
    if (status == TW_OK)
        status = visit_entries(&file, directory, size, visit, context);
    tw__file_close(&file);
    return status;
}

tw_tensor *tw__npz_read(const char *path, const char *name)
{
    tw__file_reader file;
    member_entry member = { 0 };
    uint8_t *data = NULL;
    if (tw__file_open(&file, path) != TW_OK)
        return NULL;
    tw_tensor *tensor = take_member(&file, name, &member, &data) == TW_OK ? tw__npy_parse(data, member.size, path) : NULL;
    tw__free(data);
    tw__file_close(&file);
    return tensor;
}

uint8_t *tw__zip_read(const char *path, const char *name, size_t *size)
{
    tw__file_reader file;
    member_entry member = { 0 };
    uint8_t *data = NULL;
    if (tw__file_open(&file, path) != TW_OK)
        return NULL;
    if (take_member(&file, name, &member, &data) == TW_OK)
        *size = member.size;
    tw__file_close(&file);
    return data;
}

/* Whether bytes in the file are what the directory says, read piece by piece. */
static tw_status check_stored(const tw__file_reader *file, const char *name, uint64_t offset, const member_entry *member)
{
    tw__owned uint8_t *piece = tw__alloc(PIECE);
    uLong crc = 0;
    TW_NEED(piece);
    for (uint64_t done = 0; done < member->size;) {
        size_t size = member->size - done < PIECE ? (size_t)(member->size - done) : PIECE;
        TW_TRY(tw__file_read_at(file, (int64_t)(offset + done), piece, size));
        crc = crc32_z(crc, piece, size);
        done += size;
    }
    if (crc != member->crc)
        return tw__fail(TW_DATA_LOSS, "%s: the checksum of \"%s\" does not match", file->path, name);
    return TW_OK;
}

tw_status tw__zip_find(const char *path, const char *name, uint64_t *offset, uint64_t *size)
{
    tw__auto(tw__file_close) tw__file_reader file = { .descriptor = -1 };
    member_entry member = { 0 };
    uint8_t local[LOCAL_SIZE];
    TW_TRY(tw__file_open(&file, path));
    TW_TRY(take_member(&file, name, &member, NULL));
    if (member.method || member.flags & 1)
        return tw__fail(TW_UNIMPLEMENTED, "%s: \"%s\" is compressed, expected a member that is stored as it is", path, name);
    bool there = member.local_offset <= (uint64_t)file.size && (uint64_t)file.size - member.local_offset >= LOCAL_SIZE;
    if (there)
        TW_TRY(tw__file_read_at(&file, (int64_t)member.local_offset, local, LOCAL_SIZE));
    *offset = there ? member.local_offset + LOCAL_SIZE + get16(local + 26) + get16(local + 28) : 0;
    *size = member.size;
    if (!there || *offset > (uint64_t)file.size || *size > (uint64_t)file.size - *offset)
        return fail(&file, "a member is not in the file");
    return check_stored(&file, name, *offset, &member);
}
