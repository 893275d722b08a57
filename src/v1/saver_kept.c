/* The newest few checkpoints of a Saver: which ones are kept, and the `checkpoint` file that lists them. */
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "v1/saver.h"

void tw__saver_forget(tw_v1_saver *saver)
{
    for (size_t i = 0; i < saver->last_count; i++)
        tw__free(saver->last[i].path);
    saver->last_count = 0;
}

/* ---- the newest few ---- */

/* As TensorFlow writes it: paths in the state are relative to its directory if that is relative itself, or if it is asked for. */
static tw_status write_state(const tw_v1_saver *saver, const char *directory, const char *path, const char *latest_filename,
                             bool relative)
{
    size_t count = saver->last_count, listed = count;
    tw__owned char **paths = tw__alloc_array(count + 2, sizeof *paths);
    TW_NEED(paths);
    bool shorten = relative || *directory != '/';
    bool there = count && strcmp(saver->last[count - 1].path, path) == 0;
    listed += !there;
    tw_status status = TW_OK;
    for (size_t i = 0; status == TW_OK && i < listed; i++) {
        const char *whole = i < count ? saver->last[i].path : path;
        paths[i] = shorten ? tw__path_relative(whole, *directory ? directory : ".") : tw__strdup(whole);
        status = paths[i] ? TW_OK : tw__error_status();
    }
    tw__owned char *file = status == TW_OK ? tw__path_join(directory, latest_filename) : NULL;
    tw__checkpoint_state state = { .model_checkpoint_path = listed ? paths[listed - 1] : NULL,
                                   .all_paths = paths,
                                   .path_count = listed };
    if (status == TW_OK)
        status = file ? tw__checkpoint_state_write(file, &state) : TW_RESOURCE_EXHAUSTED;
    for (size_t i = 0; i < listed; i++)
        tw__free(paths[i]);
    return status;
}

static tw_status remember(tw_v1_saver *saver, const char *path, double time)
{
    for (size_t i = 0; i < saver->last_count; i++) { /* one that is written again is the newest */
        if (strcmp(saver->last[i].path, path) != 0)
            continue;
        tw__free(saver->last[i].path);
        memmove(saver->last + i, saver->last + i + 1, (--saver->last_count - i) * sizeof *saver->last);
        break;
    }
    TW_TRY(TW_GROW(saver->last, saver->last_capacity, saver->last_count + 1));
    char *copy = tw__strdup(path);
    TW_NEED(copy);
    saver->last[saver->last_count++] = (tw__kept){ copy, time };
    return TW_OK;
}

static tw_status remove_files(const char *path, const char *meta_suffix)
{
    TW_TRY(tw__remove_checkpoint(path));
    tw__owned char *meta = tw__format("%s.%s", path, meta_suffix);
    TW_NEED(meta);
    return tw__file_remove(meta);
}

TW_METHOD(v1_saver_record,
          "compat.v1.train._Saver._record(self: v1_saver, path: str, latest_filename: str = checkpoint, relative: bool = False, "
          "meta_graph_suffix: str = meta)",
          "A checkpoint was written: the state file names it, and the oldest is removed if there are too many.")
{
    tw_v1_saver *saver = args->self;
    tw__kept oldest = { NULL, 0 };
    if (saver->max_to_keep) {
        TW_TRY(remember(saver, args->path, tw__saving_clock()));
        if ((int64_t)saver->last_count > saver->max_to_keep) {
            oldest = saver->last[0];
            memmove(saver->last, saver->last + 1, --saver->last_count * sizeof *saver->last);
        }
    }
    tw__owned char *directory = tw__path_directory(args->path);
    tw_status status =
        directory ? write_state(saver, directory, args->path, args->latest_filename, args->relative) : TW_RESOURCE_EXHAUSTED;
    if (status == TW_OK && oldest.path) {
        if (oldest.time > saver->next_time)
            saver->next_time += saver->hours * 3600;
        else
            status = remove_files(oldest.path, args->meta_graph_suffix);
    }
    tw__free(oldest.path);
    return status;
}

TW_PROPERTY(v1_saver_last_checkpoints, "compat.v1.train._Saver.last_checkpoints(self: v1_saver) -> value",
            "The prefixes of the checkpoints that are kept, oldest first.")
{
    const tw_v1_saver *saver = args->self;
    tw_value *items = tw__alloc_array(saver->last_count + 1, sizeof *items);
    if (!items)
        return (tw_value){ 0 };
    for (size_t i = 0; i < saver->last_count; i++)
        items[i] = tw__value_str(saver->last[i].path);
    return (tw_value){ .kind = TW_VALUE_LIST, .list = { items, (int64_t)saver->last_count } };
}

TW_METHOD(v1_saver_forget, "compat.v1.train._Saver._forget(self: v1_saver)", "No checkpoint is remembered any more.")
{
    tw__saver_forget(args->self);
    return TW_OK;
}

TW_METHOD(v1_saver_remember, "compat.v1.train._Saver._remember(self: v1_saver, path: str, time: float)",
          "A checkpoint that was written before is one of those that are kept.")
{
    return remember(args->self, args->path, args->time);
}

TW_PROPERTY(v1_saver_scope, "compat.v1.train._Saver._scope(self: v1_saver) -> str",
            "The name of its nodes' scope; None outside of graphs.")
{
    return args->self->scope ? tw__strdup(args->self->scope) : NULL;
}

TW_API(v1_checkpoint_exists, "compat.v1.train.checkpoint_exists(checkpoint_prefix: str) -> bool",
       "Whether there are files with that prefix.\n"
       "checkpoint_prefix: the path that the files' names begin with")
{
    tw__owned char *index = tw__format("%s.index", args->checkpoint_prefix);
    struct stat status;
    return index && (tw__path_exists(index) || (stat(args->checkpoint_prefix, &status) == 0 && S_ISREG(status.st_mode)));
}

TW_API(
    v1_remove_checkpoint,
    "compat.v1.train.remove_checkpoint(checkpoint_prefix: str, checkpoint_format_version: int = 2, meta_graph_suffix: str = meta)",
    "Removes the files of a checkpoint.\n"
    "checkpoint_prefix: the path that the files' names begin with\n"
    "checkpoint_format_version: kept for old programs; it changes nothing\n"
    "meta_graph_suffix: how the name of the file with the graph ends")
{
    return remove_files(args->checkpoint_prefix, args->meta_graph_suffix);
}

TW_API(
    v1_checkpoint_state, "compat.v1.train._checkpoint_state(checkpoint_dir: str, latest_filename: str = None) -> value",
    "What a directory's state file says: the newest, all, their times, and the last preserved time; None if there is no state.")
{
    tw__checkpoint_state state;
    bool found;
    tw_value none = { .kind = TW_VALUE_NONE };
    if (tw__load_checkpoint_state(args->checkpoint_dir, args->latest_filename, &state, &found) != TW_OK || !found)
        return none;
    tw_value *parts = tw__alloc_array(4, sizeof *parts);
    tw_value *paths = tw__alloc_array(state.path_count + 1, sizeof *paths),
             *times = tw__alloc_array(state.timestamp_count + 1, sizeof *times);
    tw_value result = none;
    if (parts && paths && times) {
        for (size_t i = 0; i < state.path_count; i++)
            paths[i] = tw__value_str(state.all_paths[i]);
        for (size_t i = 0; i < state.timestamp_count; i++)
            times[i] = (tw_value){ .kind = TW_VALUE_FLOAT, .f = state.all_timestamps[i] };
        parts[0] = tw__value_str(state.model_checkpoint_path);
        parts[1] = (tw_value){ .kind = TW_VALUE_LIST, .list = { paths, (int64_t)state.path_count } };
        parts[2] = (tw_value){ .kind = TW_VALUE_LIST, .list = { times, (int64_t)state.timestamp_count } };
        if (state.has_last_preserved)
            parts[3] = (tw_value){ .kind = TW_VALUE_FLOAT, .f = state.last_preserved_timestamp };
        result = (tw_value){ .kind = TW_VALUE_TUPLE, .list = { parts, 4 } };
    } else {
        tw__free(parts);
        tw__free(paths);
        tw__free(times);
    }
    tw__checkpoint_state_free(&state);
    return result;
}
