/* tf.train.CheckpointManager: keeps the newest checkpoints of a directory and removes older ones that it knows of, and no others.
 *
 * A save writes the checkpoint, then the state file that names it, then removes what is too old, then writes the state file
 * again: at every moment the state names a checkpoint that is there. What a process that died left for removal is still in the
 * state file. */
#include <math.h>
#include <stdlib.h>
#include <time.h>

#include "saving/saving.h"
#include "spec/callable.h"

static double real_clock(void)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

double (*tw__saving_clock)(void) = real_clock;

/* A checkpoint that may be removed one day. */
typedef struct kept {
    char *path;
    double time;
} kept;

struct tw_checkpoint_manager {
    tw_object object;
    tw_checkpoint *checkpoint;
    char *directory, *prefix;
    int64_t max_to_keep; /* TW_NO_INT: all */
    double hours;        /* NaN: none is kept for good */
    tw_variable *step;
    tw_callable *init_fn;
    int64_t interval; /* TW_NO_INT: save always */
    bool has_last_step;
    int64_t last_step;
    char *latest;
    kept *active; /* oldest first */
    size_t count, capacity;
    double last_preserved;
};

static void manager_clear(void *self)
{
    tw_checkpoint_manager *manager = self;
    tw__set(&manager->checkpoint, NULL);
    tw__set(&manager->step, NULL);
    tw__set(&manager->init_fn, NULL);
}

static void manager_destroy(void *self)
{
    tw_checkpoint_manager *manager = self;
    manager_clear(self);
    for (size_t i = 0; i < manager->count; i++)
        tw__free(manager->active[i].path);
    tw__free(manager->active);
    tw__free(manager->directory);
    tw__free(manager->prefix);
    tw__free(manager->latest);
}

static void manager_visit(void *self, tw__visitor visitor, void *context)
{
    tw_checkpoint_manager *manager = self;
    if (manager->checkpoint)
        visitor(context, &manager->checkpoint->trackable.object);
    if (manager->step)
        visitor(context, &manager->step->trackable.object);
    if (manager->init_fn)
        visitor(context, &manager->init_fn->object);
}

/* Takes the path. */
static tw_status add_active(tw_checkpoint_manager *manager, char *path, double time)
{
    if (!path || TW_GROW(manager->active, manager->capacity, manager->count + 1) != TW_OK) {
        tw__free(path);
        return TW_RESOURCE_EXHAUSTED;
    }
    manager->active[manager->count++] = (kept){ path, time };
    return TW_OK;
}

/* Takes up where the last manager of the directory left off. */
static tw_status recover(tw_checkpoint_manager *manager)
{
    tw__auto(tw__checkpoint_state_free) tw__checkpoint_state state = { 0 };
    bool found;
    double now = tw__saving_clock();
    TW_TRY(tw__load_checkpoint_state(manager->directory, NULL, &state, &found));
    if (!found) {
        manager->last_preserved = now - 1.0;
        return TW_OK;
    }
    manager->latest = state.model_checkpoint_path;
    state.model_checkpoint_path = NULL;
    manager->last_preserved = state.last_preserved_timestamp;
    if (now < manager->last_preserved) {
        tw__log("WARNING", "time.time() returned a value %f seconds behind the last preserved checkpoint timestamp.",
                manager->last_preserved - now);
        manager->last_preserved = now;
    }
    for (size_t i = 0; i < state.path_count && i < state.timestamp_count; i++) {
        double time = fmin(state.all_timestamps[i], now);
        if (time > manager->last_preserved)
            TW_TRY(add_active(manager, tw__strdup(state.all_paths[i]), time));
    }
    return TW_OK;
}

static tw_status manager_init(void *self, const void *given)
{
    const tw_checkpoint_manager_args *args = given;
    tw_checkpoint_manager *manager = self;
    if (args->max_to_keep != TW_NO_INT && args->max_to_keep <= 0)
        return tw__fail(TW_VALUE_ERROR, "Expected a positive integer or `None` for `max_to_keep`, got %lld.",
                        (long long)args->max_to_keep);
    if (args->checkpoint_interval != TW_NO_INT && !args->step_counter)
        return tw__fail(TW_VALUE_ERROR, "`step_counter` should be passed if `checkpoint_interval` is not None.");
    manager->checkpoint = tw_retain(args->checkpoint);
    manager->step = tw_retain(args->step_counter);
    manager->init_fn = tw_retain(args->init_fn);
    manager->max_to_keep = args->max_to_keep;
    manager->hours = args->keep_checkpoint_every_n_hours;
    manager->interval = args->checkpoint_interval;
    manager->directory = tw__strdup(args->directory);
    manager->prefix = tw__path_join(args->directory, args->checkpoint_name);
    TW_NEED(manager->directory && manager->prefix);
    return recover(manager);
}

TW_CLASS(
    checkpoint_manager,
    "train.CheckpointManager(checkpoint: checkpoint, directory: str, max_to_keep: int?, keep_checkpoint_every_n_hours: float = None, "
    "checkpoint_name: str = ckpt, step_counter: variable = None, checkpoint_interval: int = None, init_fn: callable = None)",
    .size = sizeof(tw_checkpoint_manager), .init = manager_init, .destroy = manager_destroy, .visit = manager_visit,
    .clear = manager_clear, .drop_config = true,
    .doc = "Keeps the newest checkpoints of a directory and removes older ones.\n"
           "checkpoint: the `tf.train.Checkpoint` to save\n"
           "directory: the folder of the checkpoints\n"
           "max_to_keep: how many checkpoints are kept; None: all\n"
           "keep_checkpoint_every_n_hours: one checkpoint for each such span of time is kept for good; None: none\n"
           "checkpoint_name: what the files' names begin with\n"
           "step_counter: a variable that holds the number of the step\n"
           "checkpoint_interval: the least number of steps between two checkpoints; None: any\n"
           "init_fn: a function without arguments that `restore_or_initialize` calls where there is no checkpoint\n"
           "raises: ValueError: `max_to_keep` is not positive, or there is a `checkpoint_interval` without a `step_counter`");

/* ---- saving ---- */

static tw_status read_step(tw_checkpoint_manager *manager, int64_t *step)
{
    tw_auto tw_tensor *value = tw__resource_read(manager->step->resource);
    TW_NEED(value);
    *step = tw_tensor_int_at(value, 0);
    return tw_error_code();
}

static tw_status write_state(tw_checkpoint_manager *manager)
{
    size_t count = manager->count;
    tw__owned char **paths = tw__alloc_array(count, sizeof *paths);
    tw__owned double *times = tw__alloc_array(count, sizeof *times);
    TW_NEED(paths && times);
    for (size_t i = 0; i < count; i++) {
        paths[i] = manager->active[i].path;
        times[i] = manager->active[i].time;
    }
    tw__checkpoint_state state = {
        .model_checkpoint_path = manager->latest,
        .all_paths = paths,
        .path_count = count,
        .all_timestamps = times,
        .timestamp_count = count,
        .last_preserved_timestamp = manager->last_preserved,
        .has_last_preserved = true,
    };
    return tw__update_checkpoint_state(manager->directory, &state);
}

static tw_status sweep(tw_checkpoint_manager *manager)
{
    if (manager->max_to_keep == TW_NO_INT)
        return TW_OK;
    while (manager->count > (uint64_t)manager->max_to_keep) {
        kept oldest = manager->active[0];
        memmove(manager->active, manager->active + 1, --manager->count * sizeof oldest);
        tw_status status = TW_OK;
        if (manager->hours > 0 && oldest.time - manager->hours * 3600.0 >= manager->last_preserved)
            manager->last_preserved = oldest.time;
        else
            status = tw__remove_checkpoint(oldest.path);
        tw__free(oldest.path);
        TW_TRY(status);
    }
    return TW_OK;
}

/* The checkpoint is written: it becomes the newest, and what is too old goes. */
static tw_status record(tw_checkpoint_manager *manager, const char *path)
{
    char *copy = tw__strdup(path), *latest = copy ? tw__strdup(path) : NULL;
    if (!latest) {
        tw__free(copy);
        return TW_RESOURCE_EXHAUSTED;
    }
    for (size_t i = 0; i < manager->count; i++) {
        if (strcmp(manager->active[i].path, path) == 0) {
            tw__free(manager->active[i].path);
            memmove(&manager->active[i], &manager->active[i + 1], (--manager->count - i) * sizeof *manager->active);
            break;
        }
    }
    tw__free(manager->latest);
    manager->latest = latest;
    TW_TRY(add_active(manager, copy, tw__saving_clock()));
    TW_TRY(write_state(manager));
    TW_TRY(sweep(manager));
    return write_state(manager);
}

/* The number of the next checkpoint: the given one, else the counter. */
static tw_status choose_number(const tw_value *given, int64_t *number)
{
    tw_tensor *value = NULL;
    switch ((int)given->kind) {
    case TW_VALUE_NONE:
        return TW_OK;
    case TW_VALUE_BOOL:
        *number = given->b;
        return TW_OK;
    case TW_VALUE_INT:
        *number = given->i;
        return TW_OK;
    case TW_VALUE_TENSOR:
        value = tw_retain(given->tensor);
        break;
    case TW_VALUE_OBJECT:
        if (tw__is(given->object, &tw__class_variable))
            value = tw__resource_read(((tw_variable *)given->object)->resource);
        break;
    default:
        break;
    }
    if (!value)
        return tw__fail(TW_TYPE_ERROR, "CheckpointManager.save: `checkpoint_number` must be an integer, a tensor or a variable");
    *number = tw_tensor_int_at(value, 0);
    tw_release(value);
    return tw_error_code();
}

/* Whether it is too early for the next one. */
static tw_status check_step(tw_checkpoint_manager *manager, bool check_interval, bool *early)
{
    int64_t step = 0;
    *early = false;
    if (manager->interval == TW_NO_INT)
        return TW_OK;
    TW_TRY(read_step(manager, &step));
    if (check_interval && manager->has_last_step &&
        (step == manager->last_step || step < manager->last_step + manager->interval)) {
        *early = true;
        return TW_OK;
    }
    manager->has_last_step = true;
    manager->last_step = step;
    return TW_OK;
}

TW_METHOD(checkpoint_manager_save,
          "train.CheckpointManager.save(self: checkpoint_manager, checkpoint_number: value = None, check_interval: bool = True, "
          "options: checkpoint_options = None) -> str",
          "Saves the next checkpoint.\n"
          "checkpoint_number: the number that the name ends with; None: the checkpoint's own counter\n"
          "check_interval: False: save even if the last checkpoint is less than `checkpoint_interval` steps old\n"
          "returns: the path of the checkpoint; None if it is too early")
{
    tw_checkpoint_manager *manager = args->self;
    bool early;
    int64_t number;
    if (check_step(manager, args->check_interval, &early) != TW_OK || early ||
        tw__checkpoint_count(manager->checkpoint, &number) != TW_OK || choose_number(&args->checkpoint_number, &number) != TW_OK)
        return NULL;
    char *path = tw__format("%s-%lld", manager->prefix, (long long)number);
    if (path && (tw__checkpoint_write(manager->checkpoint, path) != TW_OK || record(manager, path) != TW_OK)) {
        tw__free(path);
        return NULL;
    }
    return path;
}

TW_METHOD(checkpoint_manager_sync, "train.CheckpointManager.sync(self: checkpoint_manager) -> none",
          "Waits for saves under way. There are none: saving is synchronous.")
{
    return TW_OK;
}

TW_METHOD(checkpoint_manager_restore_or_initialize,
          "train.CheckpointManager.restore_or_initialize(self: checkpoint_manager) -> str",
          "Restores the newest checkpoint and gives its path. Without one: calls init_fn and gives None.")
{
    tw_checkpoint_manager *manager = args->self;
    if (!manager->latest) {
        if (manager->init_fn)
            tw_release(manager->init_fn->call(manager->init_fn, NULL));
        return NULL;
    }
    tw_load_status *status = tw__checkpoint_restore(manager->checkpoint, manager->latest);
    if (!status)
        return NULL;
    tw_release(status);
    if (manager->interval != TW_NO_INT) {
        if (read_step(manager, &manager->last_step) != TW_OK)
            return NULL;
        manager->has_last_step = true;
    }
    return tw__strdup(manager->latest);
}

/* ---- what it knows ---- */

TW_PROPERTY(checkpoint_manager_checkpoints, "train.CheckpointManager.checkpoints(self: checkpoint_manager) -> value",
            "The checkpoints it keeps, oldest first.")
{
    const tw_checkpoint_manager *manager = args->self;
    tw_value list = { .kind = TW_VALUE_NONE };
    tw_value *items = tw__alloc_array(manager->count, sizeof *items);
    if (!items)
        return list;
    list = (tw_value){ .kind = TW_VALUE_LIST, .list = { items, (int64_t)manager->count } };
    for (size_t i = 0; i < manager->count; i++) {
        items[i] = tw__value_str(manager->active[i].path);
        if (items[i].kind == TW_VALUE_NONE) {
            tw_value_free(&list);
            break;
        }
    }
    return list;
}

TW_PROPERTY(checkpoint_manager_latest_checkpoint, "train.CheckpointManager.latest_checkpoint(self: checkpoint_manager) -> str",
            "The newest checkpoint; None if there is none.")
{
    return args->self->latest ? tw__strdup(args->self->latest) : NULL;
}

TW_PROPERTY(checkpoint_manager_directory, "train.CheckpointManager.directory(self: checkpoint_manager) -> str", "The directory.")
{
    return tw__strdup(args->self->directory);
}

TW_PROPERTY(checkpoint_manager_checkpoint_interval,
            "train.CheckpointManager.checkpoint_interval(self: checkpoint_manager) -> value",
            "Steps between two checkpoints; None if it saves always.")
{
    if (args->self->interval == TW_NO_INT)
        return (tw_value){ .kind = TW_VALUE_NONE };
    return (tw_value){ .kind = TW_VALUE_INT, .i = args->self->interval };
}

TW_PROPERTY(checkpoint_manager_checkpoint, "train.CheckpointManager.checkpoint(self: checkpoint_manager) -> checkpoint",
            "What it saves.")
{
    return tw_retain(args->self->checkpoint);
}
