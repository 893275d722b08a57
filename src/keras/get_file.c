/* keras.utils.get_file: files that are at hand, by path or from the cache. Nothing is fetched over the network. A file gets its
 * name in the cache when it is whole; its hash is checked before. */
#include <stdlib.h>

#include "base/language.h"
#include "codec/codec.h"
#include "format/archive.h"
#include "keras/keras.h"
#include "rows.h"

enum { PIECE = 1 << 16 };

/* ---- hashes ---- */

typedef struct expectation {
    const char *hash;      /* NULL: none */
    const char *algorithm; /* as it was given */
} expectation;

static tw_status check_hash(const char *path, const expectation *expected, bool *right)
{
    tw__file_reader file;
    *right = true;
    if (!expected->hash)
        return TW_OK;
    bool sha256 =
        strcmp(expected->algorithm, "sha256") == 0 || (strcmp(expected->algorithm, "auto") == 0 && strlen(expected->hash) == 64);
    TW_TRY(tw__file_open(&file, path));
    tw__digest digest;
    tw__digest_begin(&digest, sha256);
    tw_status status = TW_OK;
    for (int64_t at = 0; status == TW_OK && at < file.size;) {
        uint8_t piece[PIECE];
        size_t some = file.size - at < PIECE ? (size_t)(file.size - at) : PIECE;
        status = tw__file_read_at(&file, at, piece, some);
        tw__digest_add(&digest, piece, some);
        at += (int64_t)some;
    }
    tw__file_close(&file);
    char text[65];
    tw__digest_end(&digest, text);
    *right = strcmp(text, expected->hash) == 0;
    return status;
}

/* ---- places ---- */

/* The folder of the cache; for tw__free. */
static char *cache_folder(const char *cache_dir, const char *subdir)
{
    const char *home = getenv("HOME"), *keras = getenv("KERAS_HOME");
    const char *base = cache_dir && *cache_dir ? cache_dir : keras && *keras ? keras : "~/.keras";
    bool own = base[0] == '~' && (base[1] == '/' || !base[1]);
    tw__owned char *whole = own ? tw__format("%s%s", home ? home : "/tmp", base + 1) : tw__strdup(base);
    return whole ? tw__path_join(whole, subdir) : NULL;
}

/* What a file is called that comes from an address; for tw__free. */
static char *name_in(const char *origin)
{
    size_t size = strcspn(origin, "?#");
    while (size && origin[size - 1] == '/')
        size--;
    size_t begin = size;
    while (begin && origin[begin - 1] != '/')
        begin--;
    const char *host = strstr(origin, "://");
    if (begin < size && !(host && begin <= (size_t)(host + 3 - origin) && strncmp(origin, "file:", 5) != 0))
        return tw__strndup(origin + begin, size - begin);
    tw__fail(TW_VALUE_ERROR,
             "Can't parse the file name from the origin provided: '%s'.Please specify the `fname` as the input param.", origin);
    return NULL;
}

static int digit(char c)
{
    return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

/* The path of a file:// address, whose %XX are bytes; for tw__free. */
static char *path_in(const char *origin)
{
    char *path = tw__strdup(origin + strlen("file://")), *to = path;
    for (const char *from = path; path && *from; to++) {
        bool code = from[0] == '%' && digit(from[1]) >= 0 && digit(from[2]) >= 0;
        *to = code ? (char)(digit(from[1]) << 4 | digit(from[2])) : *from;
        from += code ? 3 : 1;
    }
    if (path)
        *to = 0;
    return path;
}

/* ---- fetching and unpacking ---- */

static void say(const char *format, const char *one, const char *two)
{
    tw__owned char *text = tw__language.write ? tw__format(format, one, two) : NULL; /* C programs are not talked to */
    if (text)
        tw__language.write(text, strlen(text));
}

static tw_status copy_file(const char *source, const char *path)
{
    tw__file_reader from;
    TW_TRY(tw__file_open(&from, source));
    tw__file_writer *to = tw__file_create(path);
    tw_status status = to ? TW_OK : tw__error_status();
    for (int64_t at = 0; status == TW_OK && at < from.size;) {
        uint8_t piece[PIECE];
        size_t some = from.size - at < PIECE ? (size_t)(from.size - at) : PIECE;
        status = tw__file_read_at(&from, at, piece, some);
        if (status == TW_OK)
            status = tw__file_write(to, piece, some);
        at += (int64_t)some;
    }
    tw__file_close(&from);
    if (status == TW_OK)
        return tw__file_commit(to);
    tw__file_abandon(to);
    return status;
}

static tw_status fetch(const char *origin, const char *path, const expectation *expected)
{
    if (strncmp(origin, "file://", 7) != 0)
        return tw__fail(
            TW_OS_ERROR,
            "URL fetch failure on %s: thalweg fetches nothing over the network: put the file there, or give a file:// "
            "address; expected at %s",
            origin, path);
    tw__owned char *source = path_in(origin), *folder = tw__path_directory(path);
    bool right = false;
    TW_NEED(source && folder ? source : NULL);
    TW_TRY(tw__make_directories(folder));
    TW_TRY(check_hash(source, expected, &right));
    if (!right)
        return tw__fail(TW_VALUE_ERROR,
                        "Incomplete or corrupted file detected. The %s file hash does not match the provided value of %s.",
                        expected->algorithm, expected->hash);
    say("Downloading data from %s\n%s", origin, "");
    return copy_file(source, path);
}

static bool is_text(const tw_value *value, const char *text)
{
    return value->kind == TW_VALUE_STR && value->s.data && strcmp(value->s.data, text) == 0;
}

static bool lists(const tw_value *formats, const char *kind)
{
    bool found = formats->kind == TW_VALUE_NONE || is_text(formats, "auto") || is_text(formats, kind);
    for (int64_t i = 0; (formats->kind == TW_VALUE_LIST || formats->kind == TW_VALUE_TUPLE) && i < formats->list.count; i++)
        found |= is_text(&formats->list.items[i], kind);
    return found;
}

/* Unpacks an archive of one of the kinds; anything else is left alone. */
static tw_status unpack(const char *path, const char *folder, const tw_value *formats)
{
    tw__archive_kind kind = tw__archive_kind_of(path);
    if (kind == TW_NO_ARCHIVE || !lists(formats, kind == TW_ZIP ? "zip" : "tar"))
        return TW_OK;
    if (kind == TW_TAR_OTHER && tw__language.unpack)
        return tw__language.unpack(path, folder);
    return tw__archive_extract(path, kind, folder);
}

/* ---- all of it ---- */

static tw_status provide(const tw_keras_get_file_args *args, const char *folder, const char *place)
{
    tw__owned char *path = args->untar ? tw__format("%s.tar.gz", place) : tw__strdup(place);
    TW_NEED(path);
    bool md5 = args->md5_hash && !args->file_hash;
    expectation expected = { md5 ? args->md5_hash : args->file_hash, md5 ? "md5" : args->hash_algorithm };
    bool there = tw__path_exists(path), right = true;
    if (there)
        TW_TRY(check_hash(path, &expected, &right));
    if (!right)
        say("A local file was found, but it seems to be incomplete or outdated because the %s file hash does not match the original "
            "value of %s so we will re-download the data.\n",
            expected.algorithm, expected.hash);
    if (!there || !right)
        TW_TRY(fetch(args->origin, path, &expected));
    static const tw_value any = { .kind = TW_VALUE_NONE };
    if (args->untar)
        return tw__path_exists(place) ? TW_OK : unpack(path, folder, &any);
    return args->extract ? unpack(path, folder, &args->archive_format) : TW_OK;
}

TW_API(
    keras_get_file,
    "keras.utils.get_file(fname: str = None, origin: str = None, untar: bool = False, md5_hash: str = None, file_hash: str = None, "
    "cache_subdir: str = datasets, hash_algorithm: str = auto, extract: bool = False, archive_format: value = None shown auto, cache_dir: str = "
    "None) -> str",
    "The path of a file in the cache, which is copied there from a file:// address if it is not.\n"
    "fname: the name of the file in the cache; None: that of the address\n"
    "origin: the address of the file\n"
    "untar: True: the file is a tar archive `FNAME.tar.gz`, to be unpacked\n"
    "md5_hash: the MD5 sum that the file must have; for old programs\n"
    "file_hash: the hash that the file must have; None: any\n"
    "cache_subdir: the folder within the cache\n"
    "hash_algorithm: `md5`, `sha256`, or `auto` to tell it by the length\n"
    "extract: True: unpack the file beside it if it is an archive\n"
    "archive_format: which archives are unpacked: `tar`, `zip` or a list of them; None or `auto`: all\n"
    "cache_dir: the folder of the cache; None: `.keras` in the user's home")
{
    if (!args->origin) {
        tw__fail(TW_VALUE_ERROR, "Please specify the \"origin\" argument (URL of the file to download).");
        return NULL;
    }
    tw__owned char *folder = cache_folder(args->cache_dir, args->cache_subdir);
    tw__owned char *name = folder ? args->fname && *args->fname ? tw__strdup(args->fname) : name_in(args->origin) : NULL;
    if (!name)
        return NULL;
    if (args->untar && tw__ends_with(name, ".tar.gz"))
        name[strlen(name) - strlen(".tar.gz")] = 0;
    char *place = tw__path_join(folder, name);
    if (place && provide(args, folder, place) == TW_OK)
        return place;
    tw__free(place);
    return NULL;
}
