/* Pictures in directories, as keras.preprocessing.image finds and reads them: files below a directory in order, their pixels with
 * so many channels and of a told size. */
#include <dirent.h>
#include <stdlib.h>
#include <strings.h>
#include <sys/stat.h>

#include "op/calls.h"
#include "rows.h"

/* ---- finding ---- */

typedef struct names {
    char **items;
    size_t count, capacity;
} names;

static void names_end(names *all)
{
    for (size_t i = 0; i < all->count; i++)
        tw__free(all->items[i]);
    tw__free(all->items);
}

/* Takes the name. */
static tw_status add(names *all, char *name)
{
    if (name && all->count == all->capacity) {
        size_t capacity = all->capacity ? 2 * all->capacity : 16;
        char **items = tw__realloc(all->items, capacity * sizeof *items);
        if (!items) {
            tw__free(name);
            return tw__error_status();
        }
        all->items = items;
        all->capacity = capacity;
    }
    if (!name)
        return tw__error_status();
    all->items[all->count++] = name;
    return TW_OK;
}

static int by_text(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static bool is_picture(const char *name)
{
    static const char *const endings[] = { "png", "jpg", "jpeg", "bmp", "ppm", "tif", "tiff" };
    size_t size = strlen(name);
    for (size_t i = 0; i < sizeof endings / sizeof endings[0]; i++) {
        size_t ending = strlen(endings[i]);
        if (size >= ending && strcasecmp(name + size - ending, endings[i]) == 0)
            return true;
    }
    return false;
}

/* Adds the pictures in a directory to `files`, and the directories in it to `further`, with `inside` before their names; either
 * may be NULL. */
static tw_status list(const char *directory, const char *inside, bool follow_links, names *files, names *further)
{
    DIR *open = opendir(directory);
    tw_status status = TW_OK;
    const struct dirent *entry;
    while (open && status == TW_OK && (entry = readdir(open))) {
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
            continue;
        char *path = tw__format("%s/%s", directory, entry->d_name);
        struct stat told = { 0 }, link = { 0 };
        bool there = path && stat(path, &told) == 0, is_link = path && lstat(path, &link) == 0 && S_ISLNK(link.st_mode);
        tw__free(path);
        if (!path)
            status = tw__error_status();
        else if (there && S_ISDIR(told.st_mode))
            status = !further || (is_link && !follow_links)
                         ? TW_OK
                         : add(further, tw__format("%s%s%s", inside, *inside ? "/" : "", entry->d_name));
        else if (files && is_picture(entry->d_name))
            status = add(files, tw__format("%s%s%s", inside, *inside ? "/" : "", entry->d_name));
    }
    if (open)
        closedir(open);
    return status;
}

TW_API(picture_files, "keras.utils._picture_files(directory: str, follow_links: bool = False) -> value",
       "The files of pictures below a directory, in the order of their directories and names, by their paths below it.")
{
    enum { MOST = 1 << 20 };
    names found = { 0 }, directories = { 0 };
    tw_status status = add(&directories, tw__strdup(""));
    for (size_t i = 0; status == TW_OK && i < directories.count; i++) { /* the list grows while it is gone through */
        char *path = tw__format("%s/%s", args->directory, directories.items[i]);
        status = !path           ? tw__error_status()
                 : i + 1 == MOST ? tw__fail(TW_RESOURCE_EXHAUSTED, "%s: there are too many directories", args->directory)
                                 : list(path, directories.items[i], args->follow_links, NULL, &directories);
        tw__free(path);
    }
    if (status == TW_OK)
        qsort(directories.items, directories.count, sizeof *directories.items, by_text);
    for (size_t i = 0; status == TW_OK && i < directories.count; i++) {
        names files = { 0 };
        char *path = tw__format("%s/%s", args->directory, directories.items[i]);
        status = path ? list(path, directories.items[i], args->follow_links, &files, NULL) : tw__error_status();
        tw__free(path);
        if (files.count)
            qsort(files.items, files.count, sizeof *files.items, by_text);
        for (size_t k = 0; k < files.count; k++) {
            if (status == TW_OK)
                status = add(&found, files.items[k]);
            else
                tw__free(files.items[k]);
        }
        tw__free(files.items);
    }
    names_end(&directories);
    tw_value result = { .kind = TW_VALUE_NONE };
    tw_value *items = status == TW_OK ? tw__alloc_array(found.count + 1, sizeof *items) : NULL;
    for (size_t i = 0; items && i < found.count; i++) {
        items[i] = (tw_value){ .kind = TW_VALUE_STR, .s = { found.items[i], strlen(found.items[i]) } };
        found.items[i] = NULL;
    }
    if (items)
        result = (tw_value){ .kind = TW_VALUE_LIST, .list = { .items = items, .count = (int64_t)found.count } };
    names_end(&found);
    return result;
}

/* ---- reading ---- */

/* Which of the old lines the new ones are; sums are rounded as Pillow rounds them. */
static tw_tensor *nearest(tw__temps *t, tw_tensor *pixels, int axis, int64_t size)
{
    int64_t old = pixels ? pixels->shape.dims[axis] : 0,
            *lines = pixels ? tw__alloc_array((size_t)size + 1, sizeof *lines) : NULL;
    if (!lines)
        return NULL;
    double step = (double)old / (double)size, place = step * 0.5;
    for (int64_t i = 0; i < size; i++, place += step)
        lines[i] = (int64_t)place < old ? (int64_t)place : old - 1;
    tw_tensor *chosen = tw__temp_gather(t, pixels, tw__temp_ints(t, lines, size, TW_INT32), axis);
    tw__free(lines);
    return chosen;
}

static bool ends_with(const char *path, const char *ending)
{
    const char *dot = strrchr(path, '.');
    return dot && strcasecmp(dot + 1, ending) == 0;
}

static tw_tensor *decode(tw__temps *t, const char *path, bool alpha)
{
    tw_tensor *contents = TW_TEMP(ReadFile, tw__temp(t, tw_tensor_string(path, strlen(path))));
    if (ends_with(path, "jpg") || ends_with(path, "jpeg"))
        return TW_TEMP(DecodeJpeg, contents, TW_A_INT("channels", 3), TW_A_STRING("dct_method", "INTEGER_ACCURATE"));
    if (ends_with(path, "png") && alpha)
        return TW_TEMP(DecodePng, contents, TW_A_INT("channels", 4));
    return TW_TEMP(DecodeImage, contents, TW_A_INT("channels", 3), TW_A_BOOL("expand_animations", false));
}

/* A channel that says that every pixel is there. */
static tw_tensor *with_alpha(tw__temps *t, tw_tensor *pixels)
{
    tw_shape edges = TW_SHAPE(3, 2);
    const int64_t values[] = { 0, 0, 0, 0, 0, 1 };
    tw_tensor *flat = tw__temp_ints(t, values, 6, TW_INT32), *full = tw__temp(t, tw__tensor_empty(TW_UINT8, &TW_SCALAR));
    if (!flat || !full)
        return NULL;
    *(uint8_t *)full->data = 255;
    return TW_TEMP(PadV2, pixels, tw__temp(t, tw__tensor_view(flat, &edges)), full);
}

/* The brightness of pixels, as Pillow weighs and rounds it. */
static tw_tensor *gray(tw__temps *t, tw_tensor *pixels)
{
    static const int64_t shares[] = { 19595, 38470, 7471 };
    tw_tensor *weighed = TW_TEMP(Mul, tw__temp_cast(t, pixels, TW_INT32), tw__temp_ints(t, shares, 3, TW_INT32));
    tw_tensor *sum = TW_TEMP(Sum, weighed, -1, TW_A_BOOL("keep_dims", true));
    tw_tensor *rounded = TW_TEMP(AddV2, sum, 32768);
    return tw__temp_cast(t, TW_TEMP(FloorDiv, rounded, 65536), TW_UINT8);
}

TW_API(picture_read, "keras.utils._picture(path: str, color_mode: str = rgb, height: int = None, width: int = None) -> tensor",
       "The pixels of a file (uint8), rgb, rgba or grayscale; of that size, if one is given.")
{
    TW_TEMPS(t);
    bool alpha = strcmp(args->color_mode, "rgba") == 0, one = strcmp(args->color_mode, "grayscale") == 0;
    if (!alpha && !one && strcmp(args->color_mode, "rgb") != 0) {
        tw__fail(TW_VALUE_ERROR, "a picture's color_mode is \"%s\", expected \"rgb\", \"rgba\" or \"grayscale\"",
                 args->color_mode);
        return NULL;
    }
    tw_tensor *pixels = decode(t, args->path, alpha);
    if (pixels && alpha && pixels->shape.dims[2] == 3)
        pixels = with_alpha(t, pixels);
    if (pixels && one)
        pixels = gray(t, pixels);
    const int64_t sizes[] = { args->height, args->width };
    for (int axis = 0; axis < 2; axis++) {
        if (sizes[axis] != TW_NO_INT && sizes[axis] < 1) {
            tw__fail(TW_VALUE_ERROR, "a picture's size is %lld, expected a positive number", (long long)sizes[axis]);
            return NULL;
        }
    }
    for (int axis = 0; pixels && axis < 2; axis++) {
        if (sizes[axis] != TW_NO_INT && sizes[axis] != pixels->shape.dims[axis])
            pixels = nearest(t, pixels, axis, sizes[axis]);
    }
    return tw__keep(t, pixels);
}
