/* How a new bundle takes the place of what is at its prefix P.
 *
 * The index names the data files by their number: shard s of n is P.data-s-of-n. So the rename of P.index is the one moment at
 * which the old pair gives way to the new, if only the new data has a name that the old index does not use. T is the data's
 * temporary, which stays, with its lock, from the first byte to the end.
 *
 *     1. T and the index are written and synced under temporary names.
 *     2. If the old index uses "-of-00001" (the usual overwriting): link T to P.data-00000-of-00002, rename an index that says
 *        "shard 0 of 2" to P.index. The new pair is in force; nothing reads P.data-00000-of-00001 any more.
 *     3. Remove P.data-00000-of-00001, link T to it, rename the index that says "shard 0 of 1" to P.index.
 *     4. Remove the data files of P that the index does not name, then T.
 *
 * The directory is synced before and after each rename of an index. Wherever the process dies, P.index and the file it names are
 * the whole old pair or the whole new one, for TensorFlow as well, so readers need not know of this. What a dead process left is
 * found by its T: the next save into the directory does step 4 for it. On a file system without hard links T is renamed instead
 * and step 3 left out after step 2: the pair then stays a "0 of 2", and the next save makes it "0 of 1". Saves into one directory
 * take turns in this by a lock on the directory. */
#include <dirent.h>
#include <stdlib.h>

#include "format/format.h"

char *tw__bundle_shard_path(const char *prefix, int shard, int shards)
{
    return tw__format("%s.data-%05d-of-%05d", prefix, shard, shards);
}

/* Whether `name` is that of a data file of the bundle `base`, and of which shard. */
static bool parse_shard(const char *name, const char *base, int *shard, int *shards)
{
    static const char pattern[] = ".data-00000-of-00000";
    size_t size = strlen(base);
    if (strncmp(name, base, size) != 0 || strlen(name + size) != strlen(pattern))
        return false;
    name += size;
    for (size_t i = 0; pattern[i]; i++) {
        if (pattern[i] == '0' ? name[i] < '0' || name[i] > '9' : name[i] != pattern[i])
            return false;
    }
    *shard = atoi(name + strlen(".data-"));
    *shards = atoi(name + strlen(".data-00000-of-"));
    return true;
}

/* Removes the data files of the bundle that an index of `shards` shards does not name; without an index (0) only those that this
 * file makes, as others may be on their way to their index. */
static void remove_unnamed(const char *directory, const char *base, int shards)
{
    DIR *listing = opendir(*directory ? directory : ".");
    if (!listing)
        return;
    struct dirent *entry;
    while ((entry = readdir(listing))) {
        int shard, of;
        if (!parse_shard(entry->d_name, base, &shard, &of))
            continue;
        bool ours = shard == 0 && (of == 1 || of == 2);
        if (shards == 0 ? ours : of != shards) {
            tw__owned char *path = tw__path_join(directory, entry->d_name);
            if (path)
                (void)tw__file_remove(path);
        }
    }
    closedir(listing);
}

/* Step 4 for a process that died. */
static void clean_after_dead(void *context, const char *name)
{
    static const char suffix[] = ".data-00000-of-00001";
    const char *directory = context;
    if (!tw__ends_with(name, suffix))
        return;
    tw__owned char *base = tw__strndup(name, strlen(name) - strlen(suffix));
    tw__owned char *prefix = base ? tw__path_join(directory, base) : NULL;
    int shards = prefix ? tw__bundle_shards(prefix) : -1;
    if (shards >= 0)
        remove_unnamed(directory, base, shards);
}

typedef struct replacement {
    const char *prefix;
    char *directory, *index_path;
    tw__file_writer *data;
    int in_force; /* shards of the new index once it is in place, else 0 */
    bool placed;  /* the data has lost its temporary name: there were no links */
} replacement;

/* Steps 2 and 3: the data as shard 0 of `shards`, then the index. */
static tw_status put_pair(replacement *work, tw__file_writer *index, int shards)
{
    tw__owned char *path = tw__bundle_shard_path(work->prefix, 0, shards);
    TW_NEED(path);
    tw_status status = tw__file_remove(path);
    if (status == TW_OK && tw__file_link(work->data, path) != TW_OK) {
        tw_clear_error();
        status = tw__file_place(work->data, path);
        work->placed = status == TW_OK;
    }
    bool there = status == TW_OK;
    if (status == TW_OK)
        status = tw__sync_directory(work->directory);
    if (status == TW_OK)
        status = tw__file_place(index, work->index_path);
    if (status == TW_OK) {
        work->in_force = shards;
        status = tw__sync_directory(work->directory);
    } else if (there) {
        tw__saved_error error = tw__error_take();
        (void)tw__file_remove(path);
        tw_clear_error();
        tw__error_restore(error);
    }
    return status;
}

static tw_status run(replacement *work, tw__make_index make_index, void *context)
{
    TW_TRY(tw__file_seal(work->data));
    tw__file_writer *index = make_index(context, 1);
    TW_NEED(index);
    tw_status status = TW_OK;
    int old = tw__bundle_shards(work->prefix);
    if (old == 1 || old == -1) {
        tw__file_writer *between = make_index(context, 2);
        status = between ? put_pair(work, between, 2) : tw__error_status();
        tw__file_abandon(between);
    }
    if (status == TW_OK && !work->placed) {
        status = put_pair(work, index, 1);
        if (status != TW_OK && work->in_force == 2) {
            /* The new pair is in force under the other name, which is all that was promised. */
            tw_clear_error();
            status = TW_OK;
        }
    }
    tw__file_abandon(index);
    return status;
}

tw_status tw__bundle_commit(const char *prefix, tw__file_writer *data, tw__make_index make_index, void *context)
{
    replacement work = { .prefix = prefix, .data = data };
    tw__saved_error before = tw__error_take(); /* so that what is forgiven here can be cleared */
    work.directory = tw__path_directory(prefix);
    work.index_path = tw__format("%s.index", prefix);
    tw_status status = TW_RESOURCE_EXHAUSTED;
    if (work.directory && work.index_path) {
        int lock = tw__directory_lock(work.directory);
        status = run(&work, make_index, context);
        if (work.in_force) {
            tw__saved_error error = tw__error_take();
            remove_unnamed(work.directory, tw__path_name(prefix), work.in_force);
            tw__file_sweep(work.directory, clean_after_dead, work.directory);
            tw_clear_error();
            tw__error_restore(error);
        }
        tw__file_abandon(data);
        tw__directory_unlock(lock);
    } else {
        tw__file_abandon(data);
    }
    tw__free(work.directory);
    tw__free(work.index_path);
    if (before.code != TW_OK) {
        tw_clear_error();
        tw__error_restore(before);
    }
    return status;
}
