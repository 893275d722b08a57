/* The files of a checkpoint directory: the state file `checkpoint`, which names the newest one, and finding and removing the
 * files of one checkpoint. Paths in the state file are relative to its directory, so the directory can be moved. */
#include <dirent.h>
#include <errno.h>
#include <unistd.h>

#include "saving/saving.h"

/* ---- paths ---- */

/* os.path.normpath of an absolute path, in place. */
static void normalize(char *path)
{
    char *end = path; /* of what is kept, without a slash behind it */
    for (char *at = path; *at;) {
        at += strspn(at, "/");
        size_t size = strcspn(at, "/");
        if (size == 2 && at[0] == '.' && at[1] == '.') {
            while (end > path && *--end != '/')
                ;
        } else if (size > 0 && !(size == 1 && at[0] == '.')) {
            *end++ = '/';
            memmove(end, at, size);
            end += size;
        }
        at += size;
    }
    *end = 0;
}

static char *absolute(const char *path)
{
    char directory[4096];
    if (*path != '/' && !getcwd(directory, sizeof directory)) {
        tw__fail_errno(errno, "could not tell the current directory for", path);
        return NULL;
    }
    char *whole = *path == '/' ? tw__strdup(path) : tw__format("%s/%s", directory, path);
    if (whole)
        normalize(whole);
    return whole;
}

char *tw__path_relative(const char *path, const char *start)
{
    char *to = absolute(path), *from = to ? absolute(start) : NULL;
    if (!from) {
        tw__free(to);
        return NULL;
    }
    size_t common = 0; /* up to the end of the last equal part */
    for (size_t i = 0;; i++) {
        bool to_ends = to[i] == '/' || !to[i], from_ends = from[i] == '/' || !from[i];
        if (to_ends && from_ends)
            common = i;
        if (!to[i] || !from[i] || to[i] != from[i])
            break;
    }
    tw__text text = { 0 };
    for (const char *rest = from + common; (rest = strchr(rest, '/')) && rest[1]; rest++)
        tw__text_add(&text, text.size ? "/.." : "..");
    const char *down = to + common + strspn(to + common, "/");
    if (*down)
        tw__text_format(&text, "%s%s", text.size ? "/" : "", down);
    if (!text.size)
        tw__text_add(&text, ".");
    tw__free(to);
    tw__free(from);
    return tw__text_take(&text);
}

/* ---- the state file ---- */

tw_status tw__update_checkpoint_state(const char *directory, const tw__checkpoint_state *state)
{
    tw__checkpoint_state copy = *state;
    copy.model_checkpoint_path = tw__path_relative(state->model_checkpoint_path, directory);
    copy.all_paths = tw__alloc_array(state->path_count, sizeof *copy.all_paths);
    tw_status status = copy.model_checkpoint_path && copy.all_paths ? TW_OK : tw__error_status();
    for (size_t i = 0; status == TW_OK && i < state->path_count; i++) {
        copy.all_paths[i] = tw__path_relative(state->all_paths[i], directory);
        if (!copy.all_paths[i])
            status = tw__error_status();
    }
    tw__owned char *file = status == TW_OK ? tw__path_join(directory, "checkpoint") : NULL;
    if (status == TW_OK && !file)
        status = TW_RESOURCE_EXHAUSTED;
    if (status == TW_OK && strcmp(copy.model_checkpoint_path, "checkpoint") == 0)
        status = tw__fail(TW_RUNTIME_ERROR,
                          "Save path '%s' conflicts with path used for checkpoint state.  Please use a different save path.",
                          state->model_checkpoint_path);
    if (status == TW_OK)
        status = tw__checkpoint_state_write(file, &copy);
    for (size_t i = 0; copy.all_paths && i < state->path_count; i++)
        tw__free(copy.all_paths[i]);
    tw__free(copy.all_paths);
    tw__free(copy.model_checkpoint_path);
    return status;
}

static tw_status join(const char *directory, char **path)
{
    char *whole = tw__path_join(directory, *path);
    TW_NEED(whole);
    tw__free(*path);
    *path = whole;
    return TW_OK;
}

static tw_status join_all(const char *directory, tw__checkpoint_state *state)
{
    if (!state->model_checkpoint_path || !*state->model_checkpoint_path)
        return tw__fail(TW_VALUE_ERROR, "Invalid checkpoint state loaded from %s", directory);
    TW_TRY(join(directory, &state->model_checkpoint_path));
    for (size_t i = 0; i < state->path_count; i++)
        TW_TRY(join(directory, &state->all_paths[i]));
    return TW_OK;
}

tw_status tw__load_checkpoint_state(const char *directory, const char *name, tw__checkpoint_state *state, bool *found)
{
    *state = (tw__checkpoint_state){ 0 };
    *found = false;
    tw__owned char *file = tw__path_join(directory, name ? name : "checkpoint");
    TW_NEED(file);
    tw_status status = TW_OK;
    if (tw__path_exists(file)) {
        status = tw__checkpoint_state_read(file, state);
        if (status == TW_OK) {
            *found = true;
            status = join_all(directory, state);
        } else if (status != TW_RESOURCE_EXHAUSTED) {
            tw__log("WARNING", "%s: %s", tw_status_name(status), tw_error_message());
            tw__log("WARNING", "%s: Checkpoint ignored", file);
            tw_clear_error();
            status = TW_OK;
        }
    }
    if (status != TW_OK || !*found) {
        tw__checkpoint_state_free(state);
        *state = (tw__checkpoint_state){ 0 };
        *found = false;
    }
    return status;
}

TW_API(train_latest_checkpoint, "train.latest_checkpoint(checkpoint_dir: str, latest_filename: str = None) -> str",
       "The prefix of the newest checkpoint that the directory's state file names.\n"
       "checkpoint_dir: the folder of the checkpoints\n"
       "latest_filename: the name of the state file; None: `checkpoint`\n"
       "returns: the path; None if there is none")
{
    tw__checkpoint_state state;
    bool found;
    if (tw__load_checkpoint_state(args->checkpoint_dir, args->latest_filename, &state, &found) != TW_OK || !found)
        return NULL;
    char *path = state.model_checkpoint_path;
    state.model_checkpoint_path = NULL;
    tw__checkpoint_state_free(&state);
    tw__owned char *index = tw__format("%s.index", path);
    if (index && !tw__path_exists(index) && !tw__path_exists(path)) {
        tw__log("ERROR", "Couldn't match files for checkpoint %s", path);
        tw__free(path);
        path = NULL;
    }
    if (!index) {
        tw__free(path);
        path = NULL;
    }
    return path;
}

/* ---- removing ---- */

static bool is_data_file(const char *name, const char *base)
{
    static const char pattern[] = ".data-*****-of-*****";
    size_t size = strlen(base);
    if (strncmp(name, base, size) != 0 || strlen(name + size) != strlen(pattern))
        return false;
    for (size_t i = 0; pattern[i]; i++) {
        if (pattern[i] != '*' && pattern[i] != name[size + i])
            return false;
    }
    return true;
}

static void listing_end(DIR **listing)
{
    if (*listing)
        closedir(*listing);
}

tw_status tw__remove_checkpoint(const char *prefix)
{
    tw__owned char *index = tw__format("%s.index", prefix);
    tw__owned char *directory = index ? tw__path_directory(prefix) : NULL;
    TW_NEED(directory);
    TW_TRY(tw__file_remove(index));
    tw__auto(listing_end) DIR *listing = opendir(*directory ? directory : ".");
    if (!listing && errno != ENOENT)
        return tw__fail_errno(errno, "could not list", directory);
    struct dirent *entry;
    while (listing && (entry = readdir(listing))) {
        if (!is_data_file(entry->d_name, tw__path_name(prefix)))
            continue;
        tw__owned char *path = tw__path_join(directory, entry->d_name);
        TW_NEED(path);
        TW_TRY(tw__file_remove(path));
    }
    return TW_OK;
}
