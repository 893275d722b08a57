/* Files below a directory, in the order in which Keras goes through them: pictures for keras.preprocessing.image, files by class
 * for keras.utils.*_dataset_from_directory. */
#include <dirent.h>
#include <stdlib.h>
#include <strings.h>
#include <sys/stat.h>

#include "kernel/random/random.h"
#include "op/calls.h"
#include "rows.h"

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

/* Endings of names, in lower case. */
typedef struct endings {
    const char *items[16];
    size_t count;
} endings;

static bool is_wanted(const char *name, const endings *wanted)
{
    size_t size = strlen(name);
    for (size_t i = 0; i < wanted->count; i++) {
        size_t ending = strlen(wanted->items[i]);
        if (size >= ending && strcasecmp(name + size - ending, wanted->items[i]) == 0)
            return true;
    }
    return false;
}

/* Adds the wanted files of a directory to `files`, and the directories in it to `further`, with `inside` before their names;
 * either may be NULL. */
static tw_status list(const char *directory, const char *inside, bool follow_links, const endings *wanted, names *files,
                      names *further)
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
        else if (files && is_wanted(entry->d_name, wanted))
            status = add(files, tw__format("%s%s%s", inside, *inside ? "/" : "", entry->d_name));
    }
    if (open)
        closedir(open);
    return status;
}

/* The wanted files below a directory, in the order of their directories and names, by their paths below it, with `before` before
 * them. */
static tw_status collect(const char *directory, const char *before, bool follow_links, const endings *wanted, names *found)
{
    enum { MOST = 1 << 20 };
    tw__auto(names_end) names directories = { 0 };
    TW_TRY(add(&directories, tw__strdup("")));
    for (size_t i = 0; i < directories.count; i++) { /* the list grows while it is gone through */
        tw__owned char *path = tw__format("%s/%s", directory, directories.items[i]);
        TW_TRY(!path           ? tw__error_status()
               : i + 1 == MOST ? tw__fail(TW_RESOURCE_EXHAUSTED, "%s: there are too many directories", directory)
                               : list(path, directories.items[i], follow_links, wanted, NULL, &directories));
    }
    qsort(directories.items, directories.count, sizeof *directories.items, by_text);
    for (size_t i = 0; i < directories.count; i++) {
        tw__auto(names_end) names files = { 0 };
        tw__owned char *path = tw__format("%s/%s", directory, directories.items[i]);
        TW_NEED(path);
        TW_TRY(list(path, directories.items[i], follow_links, wanted, &files, NULL));
        if (files.count)
            qsort(files.items, files.count, sizeof *files.items, by_text);
        for (size_t k = 0; k < files.count; k++)
            TW_TRY(add(found, tw__format("%s%s", before, files.items[k])));
    }
    return TW_OK;
}

/* Takes the names. */
static tw_value as_value(names *all)
{
    tw_value *items = tw__alloc_array(all->count + 1, sizeof *items);
    if (!items)
        return (tw_value){ .kind = TW_VALUE_NONE };
    for (size_t i = 0; i < all->count; i++) {
        items[i] = (tw_value){ .kind = TW_VALUE_STR, .s = { all->items[i], strlen(all->items[i]) } };
        all->items[i] = NULL;
    }
    return (tw_value){ .kind = TW_VALUE_LIST, .list = { .items = items, .count = (int64_t)all->count } };
}

TW_API(picture_files, "keras.utils._picture_files(directory: str, follow_links: bool = False) -> value",
       "The files of pictures below a directory, in the order of their directories and names, by their paths below it.")
{
    static const endings pictures = { { "png", "jpg", "jpeg", "bmp", "ppm", "tif", "tiff" }, 7 };
    tw__auto(names_end) names found = { 0 };
    if (collect(args->directory, "", args->follow_links, &pictures, &found) != TW_OK)
        return (tw_value){ .kind = TW_VALUE_NONE };
    return as_value(&found);
}

/* ---- files by class ---- */

static tw_status read_endings(const tw_value *formats, endings *wanted)
{
    for (int64_t i = 0; (formats->kind == TW_VALUE_LIST || formats->kind == TW_VALUE_TUPLE) && i < formats->list.count; i++) {
        const tw_value *item = &formats->list.items[i];
        if (item->kind != TW_VALUE_STR || wanted->count == sizeof wanted->items / sizeof *wanted->items)
            return tw__fail(TW_VALUE_ERROR, "index_directory: formats must be at most 16 texts");
        wanted->items[wanted->count++] = item->s.data;
    }
    return wanted->count ? TW_OK : tw__fail(TW_VALUE_ERROR, "index_directory: formats must be a list of texts");
}

/* The folders in a directory whose names do not begin with a point, in order. */
static tw_status classes_in(const char *directory, names *classes)
{
    tw__auto(names_end) names all = { 0 };
    TW_TRY(list(directory, "", true, NULL, NULL, &all));
    if (all.count)
        qsort(all.items, all.count, sizeof *all.items, by_text);
    for (size_t i = 0; i < all.count; i++) {
        if (all.items[i][0] != '.')
            TW_TRY(add(classes, tw__strdup(all.items[i])));
    }
    return TW_OK;
}

/* Which of the told names a folder has; -1: none. */
static int64_t number_of(const char *folder, const tw_value *told)
{
    for (int64_t i = 0; i < told->list.count; i++) {
        if (told->list.items[i].kind == TW_VALUE_STR && strcmp(told->list.items[i].s.data, folder) == 0)
            return i;
    }
    return -1;
}

static tw_value integers(const int64_t *values, size_t count, tw_dtype dtype)
{
    TW_TEMPS(t);
    tw_tensor *made = tw__keep(t, tw__temp_ints(t, values, (int64_t)count, dtype));
    return made ? (tw_value){ .kind = TW_VALUE_TENSOR, .tensor = made } : (tw_value){ .kind = TW_VALUE_NONE };
}

TW_API(
    directory_index,
    "keras.utils._index_directory(directory: str, formats: value, class_names: value = None, inferred: bool = True, shuffle: bool = False, "
    "seed: int = 0) -> value",
    "The files below a directory whose names end with one of the formats (a list of texts, in lower case), as a dict: `names`, their paths "
    "below it; `labels`, the number of each one's class; `classes`, the names of the classes; `order`, which of the files in order each one "
    "is. inferred: the folders in the directory are the classes, in order or as class_names lists them; else there is one class. shuffle: "
    "in the order of NumPy's RandomState(seed).shuffle.")
{
    const tw_value none = { .kind = TW_VALUE_NONE }, *told = &args->class_names;
    bool own = told->kind == TW_VALUE_LIST || told->kind == TW_VALUE_TUPLE;
    endings wanted = { .count = 0 };
    tw__auto(names_end) names classes = { 0 }, found = { 0 };
    tw__owned int64_t *labels = NULL, *order = NULL;
    size_t room = 0;
    struct stat is = { 0 };
    if (stat(args->directory, &is) != 0 || !S_ISDIR(is.st_mode)) {
        tw__fail(TW_NOT_FOUND, "Could not find directory %s", args->directory);
        return none;
    }
    if (read_endings(&args->formats, &wanted) != TW_OK ||
        (args->inferred ? classes_in(args->directory, &classes) : add(&classes, tw__strdup(""))) != TW_OK)
        return none;
    for (size_t i = 0; i < classes.count; i++) {
        tw__owned char *folder = tw__path_join(args->directory, classes.items[i]);
        tw__owned char *before = tw__format("%s%s", classes.items[i], args->inferred ? "/" : "");
        int64_t number = own && args->inferred ? number_of(classes.items[i], told) : (int64_t)i;
        size_t first = found.count;
        if (number < 0 || (own && args->inferred && told->list.count != (int64_t)classes.count))
            tw__fail(TW_VALUE_ERROR,
                     "The `class_names` passed did not match the names of the subdirectories of the target directory.");
        if (number < 0 || !folder || !before || collect(folder, before, true, &wanted, &found) != TW_OK ||
            TW_GROW(labels, room, found.count + 1) != TW_OK || (own && told->list.count != (int64_t)classes.count))
            return none;
        for (size_t k = first; k < found.count; k++)
            labels[k] = number;
    }
    order = tw__alloc_array(found.count + 1, sizeof *order);
    char **items = order ? tw__alloc_array(found.count + 1, sizeof *items) : NULL;
    tw__owned int64_t *sorted = items ? tw__alloc_array(found.count + 1, sizeof *sorted) : NULL;
    tw_value *members = sorted ? tw__alloc_array(8, sizeof *members) : NULL;
    if (!members) {
        tw__free(items);
        return none;
    }
    for (size_t i = 0; i < found.count; i++)
        order[i] = (int64_t)i;
    if (args->shuffle)
        tw__mersenne_shuffle(args->seed, order, (int64_t)found.count);
    for (size_t i = 0; i < found.count; i++) {
        items[i] = found.items[order[i]];
        sorted[i] = labels[order[i]];
    }
    tw__free(found.items);
    found.items = items;
    static const char *const keys[] = { "names", "labels", "classes", "order" };
    for (int i = 0; i < 4; i++)
        members[2 * i] = tw__value_str(keys[i]);
    members[1] = as_value(&found);
    members[3] = integers(sorted, found.count, TW_INT32);
    members[5] = own && args->inferred ? tw__value_copy(told) : as_value(&classes);
    members[7] = integers(order, found.count, TW_INT64);
    return (tw_value){ .kind = TW_VALUE_DICT, .list = { .items = members, .count = 8 } };
}
