/* Unpacking archives into a folder: tar, as it is or compressed by gzip, and zip. Every member is checked before anything is
 * written: a name that leads out of the folder, a link or a device is refused. */
#include <stdlib.h>
#include <sys/stat.h>

#include "format/archive.h"
#include "format/format.h"
#include "format/stream.h"

enum { BLOCK = 512, NAME_LIMIT = 1 << 16, PIECE = 1 << 16 };

/* ---- where members go ---- */

static tw_status refuse(const char *archive, const char *name)
{
    return tw__fail(TW_VALUE_ERROR, "%s has a member '%s', which is no file or directory below the archive's", archive, name);
}

static bool is_inside(const char *name)
{
    if (name[0] == '/' || !name[0])
        return false;
    int depth = 0;
    for (const char *at = name; *at; at += *at == '/') {
        size_t size = strcspn(at, "/");
        depth += size == 2 && at[0] == '.' && at[1] == '.' ? -1 : size == 0 || (size == 1 && at[0] == '.') ? 0 : 1;
        if (depth < 0)
            return false;
        at += size;
    }
    return true;
}

/* The path of a member below the folder, whose own folder is there then; for tw__free. */
static char *place_of(const char *folder, const char *name)
{
    tw__owned char *path = tw__path_join(folder, name);
    tw__owned char *above = path ? tw__path_directory(path) : NULL;
    return above && tw__make_directories(above) == TW_OK ? tw__strdup(path) : NULL;
}

/* ---- tar ---- */

typedef struct tar_member {
    char *name; /* for tw__free */
    char type;  /* as in the archive; '5' is a folder */
    int64_t size;
    unsigned mode;
} tar_member;

/* A number in octal digits, or in 256's if its first bit is set. */
static int64_t number_of(const uint8_t *text, size_t size)
{
    uint64_t value = 0;
    if (text[0] & 0x80) {
        for (size_t i = 1; i < size; i++)
            value = value << 8 | text[i];
        return value > INT64_MAX ? -1 : (int64_t)value;
    }
    for (size_t i = 0; i < size; i++) {
        if (text[i] >= '0' && text[i] <= '7')
            value = value << 3 | (uint64_t)(text[i] - '0');
    }
    return value > INT64_MAX ? -1 : (int64_t)value;
}

static bool is_header(const uint8_t *block)
{
    int64_t sum = 0;
    for (int i = 0; i < BLOCK; i++)
        sum += i >= 148 && i < 156 ? ' ' : block[i];
    return block[0] && sum == number_of(block + 148, 8);
}

static tw_status damaged(const tw__stream *stream)
{
    return tw__fail(TW_DATA_LOSS, "%s: the archive is damaged or cut off", stream->file.path);
}

static tw_status read_exactly(tw__stream *stream, void *data, size_t size)
{
    size_t got = 0;
    TW_TRY(tw__stream_read(stream, data, size, &got));
    return got == size ? TW_OK : damaged(stream);
}

/* Steps over bytes, and writes them if there is a file. */
static tw_status copy_bytes(tw__stream *stream, int64_t size, tw__file_writer *file)
{
    uint8_t piece[PIECE];
    while (size > 0) {
        size_t some = size < PIECE ? (size_t)size : PIECE;
        TW_TRY(read_exactly(stream, piece, some));
        if (file)
            TW_TRY(tw__file_write(file, piece, some));
        size -= (int64_t)some;
    }
    return TW_OK;
}

static int64_t padding_of(int64_t size)
{
    return (BLOCK - size % BLOCK) % BLOCK;
}

/* The bytes of a member that says something about the next one, as a text for tw__free. */
static char *read_words(tw__stream *stream, int64_t size)
{
    char *words = size < NAME_LIMIT ? tw__alloc_zero((size_t)size + 1) : NULL;
    if (size >= NAME_LIMIT)
        damaged(stream);
    if (words && read_exactly(stream, words, (size_t)size) == TW_OK && copy_bytes(stream, padding_of(size), NULL) == TW_OK)
        return words;
    tw__free(words);
    return NULL;
}

/* Takes the path and the size out of extended headers: lines "length key=value". */
static tw_status read_extended(const tw__stream *stream, const char *words, size_t size, char **name, int64_t *bytes)
{
    for (const char *at = words, *end = words + size; at < end;) {
        char *key = NULL;
        long length = strtol(at, &key, 10);
        if (length <= key - at + 1 || length > end - at || *key != ' ')
            return damaged(stream);
        key++;
        const char *value = memchr(key, '=', (size_t)(at + length - key));
        if (value && strncmp(key, "path=", 5) == 0) {
            tw__free(*name);
            *name = tw__strndup(value + 1, (size_t)(at + length - 1 - (value + 1)));
            TW_NEED(*name);
        } else if (value && strncmp(key, "size=", 5) == 0) {
            *bytes = strtoll(value + 1, NULL, 10);
        }
        at += length;
    }
    return TW_OK;
}

static char *name_of(const uint8_t *block)
{
    const char *name = (const char *)block, *prefix = (const char *)block + 345;
    bool split = memcmp(block + 257, "ustar", 6) == 0 && *prefix;
    return split ? tw__format("%.155s/%.100s", prefix, name) : tw__format("%.100s", name);
}

/* The next member; its name is NULL at the end. */
static tw_status next_member(tw__stream *stream, tar_member *member)
{
    tw__owned char *name = NULL;
    int64_t size = -1;
    *member = (tar_member){ 0 };
    for (;;) {
        uint8_t block[BLOCK];
        size_t got = 0;
        TW_TRY(tw__stream_read(stream, block, BLOCK, &got));
        if (got == 0 || (got == BLOCK && !block[0]))
            return TW_OK;
        if (got < BLOCK || !is_header(block))
            return damaged(stream);
        int64_t own = number_of(block + 124, 12);
        char type = (char)block[156];
        if (own < 0)
            return damaged(stream);
        if (type == 'L' || type == 'x' || type == 'g') {
            tw__owned char *words = read_words(stream, own);
            TW_NEED(words);
            if (type == 'x')
                TW_TRY(read_extended(stream, words, (size_t)own, &name, &size));
            if (type == 'L') {
                tw__free(name);
                name = tw__strdup(words);
                TW_NEED(name);
            }
            continue;
        }
        member->name = name ? tw__strdup(name) : name_of(block);
        TW_NEED(member->name);
        member->type = type;
        member->size = size >= 0 ? size : own;
        member->mode = (unsigned)number_of(block + 100, 8) & 0777;
        return TW_OK;
    }
}

static bool is_file(const tar_member *member)
{
    return member->type == '0' || member->type == '7' || !member->type;
}

static tw_status write_member(tw__stream *stream, const tar_member *member, const char *folder)
{
    tw__owned char *path = place_of(folder, member->name);
    TW_NEED(path);
    if (member->type == '5')
        return tw__make_directories(path);
    tw__file_writer *file = tw__file_create(path);
    TW_NEED(file);
    tw_status status = copy_bytes(stream, member->size, file);
    if (status != TW_OK) {
        tw__file_abandon(file);
        return status;
    }
    TW_TRY(tw__file_commit(file));
    chmod(path, member->mode | 0600);
    return copy_bytes(stream, padding_of(member->size), NULL);
}

/* One walk over the archive: that checks the members, or writes them into a folder. */
static tw_status walk_tar(const char *path, tw__compression compression, const char *folder)
{
    tw__stream stream;
    TW_TRY(tw__stream_open(&stream, path, compression));
    tw_status status = TW_OK;
    bool more = true;
    while (status == TW_OK && more) {
        tar_member member;
        status = next_member(&stream, &member);
        more = member.name != NULL;
        if (status == TW_OK && more && folder)
            status = write_member(&stream, &member, folder);
        else if (status == TW_OK && more)
            status = !is_inside(member.name) || (!is_file(&member) && member.type != '5')
                         ? refuse(path, member.name)
                         : copy_bytes(&stream, member.size + padding_of(member.size), NULL);
        tw__free(member.name);
    }
    tw__stream_close(&stream);
    return status;
}

tw__archive_kind tw__archive_kind_of(const char *path)
{
    uint8_t head[BLOCK] = { 0 };
    size_t got = 0;
    tw__archive_kind kind = TW_NO_ARCHIVE;
    for (int packed = 0; packed < 2 && kind == TW_NO_ARCHIVE; packed++) {
        tw__stream stream;
        if (tw__stream_open(&stream, path, packed ? TW_COMPRESSION_GZIP : TW_COMPRESSION_NONE) != TW_OK)
            break;
        bool whole = tw__stream_read(&stream, head, BLOCK, &got) == TW_OK && got == BLOCK;
        tw__stream_close(&stream);
        if (whole && is_header(head))
            kind = packed ? TW_TAR_GZ : TW_TAR;
        else if (!packed && got >= 4 && memcmp(head, "PK\3\4", 4) == 0)
            kind = TW_ZIP;
        else if (!packed && got >= 4 &&
                 (memcmp(head, "BZh", 3) == 0 || memcmp(head,
                                                        "\xfd"
                                                        "7zX",
                                                        4) == 0))
            kind = TW_TAR_OTHER;
        if (!packed && (got < 2 || head[0] != 0x1f || head[1] != 0x8b))
            break;
    }
    tw_clear_error();
    return kind;
}

/* ---- zip ---- */

static tw_status check_name(void *path, const char *name)
{
    return is_inside(name) ? TW_OK : refuse(path, name);
}

typedef struct unpacking {
    const char *path, *folder;
} unpacking;

static tw_status write_zip_member(void *context, const char *name)
{
    const unpacking *u = context;
    tw__owned char *path = place_of(u->folder, name);
    TW_NEED(path);
    if (tw__ends_with(name, "/"))
        return tw__make_directories(path);
    size_t size = 0;
    tw__owned uint8_t *data = tw__zip_read(u->path, name, &size);
    tw__file_writer *file = data ? tw__file_create(path) : NULL;
    TW_NEED(file);
    tw_status status = tw__file_write(file, data, size);
    if (status == TW_OK)
        return tw__file_commit(file);
    tw__file_abandon(file);
    return status;
}

tw_status tw__archive_extract(const char *path, tw__archive_kind kind, const char *folder)
{
    if (kind == TW_ZIP) {
        TW_TRY(tw__zip_each(path, check_name, (void *)(uintptr_t)path));
        return tw__zip_each(path, write_zip_member, &(unpacking){ path, folder });
    }
    if (kind == TW_TAR_OTHER || kind == TW_NO_ARCHIVE)
        return tw__fail(TW_UNIMPLEMENTED, "%s: an archive that is compressed by bzip2 or xz can't be unpacked", path);
    tw__compression compression = kind == TW_TAR_GZ ? TW_COMPRESSION_GZIP : TW_COMPRESSION_NONE;
    TW_TRY(walk_tar(path, compression, NULL));
    return walk_tar(path, compression, folder);
}
