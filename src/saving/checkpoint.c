/* tf.train.Checkpoint: names objects, saves their variables to a prefix and restores them.
 *
 * Without `root` the checkpoint is the root of what is saved: its children are the keyword arguments, sorted, and save_counter.
 * With it the given object is the root, and the rest is attached to it for saving alone. save_counter is made when it is first
 * needed. */
#include <stdlib.h>

#include "saving/saving.h"

/* ---- options ---- */

static tw_status options_init(__attribute__((unused)) void *self, const void *given)
{
    const tw_checkpoint_options_args *args = given;
    const char *device = args->experimental_io_device;
    if (device && !strcasestr(device, "cpu") && !strstr(device, "localhost")) /* the files are the processor's */
        return tw__fail(TW_UNIMPLEMENTED, "CheckpointOptions: experimental_io_device must be a CPU of this machine, got '%s'",
                        device);
    if (args->experimental_enable_async_checkpoint || args->enable_async)
        return tw__fail(TW_UNIMPLEMENTED, "CheckpointOptions: saving asynchronously is not supported");
    return TW_OK;
}

TW_CLASS(
    checkpoint_options,
    "train.CheckpointOptions(experimental_io_device: str = None, experimental_enable_async_checkpoint: bool = False, enable_async: bool = False)",
    .size = sizeof(tw_object), .init = options_init,
    .doc = "Options of saving and restoring.\n"
           "experimental_io_device: the device that writes, which must be a CPU of this machine; None: any\n"
           "experimental_enable_async_checkpoint: True is not supported\n"
           "enable_async: True is not supported");

/* ---- making ---- */

static void checkpoint_clear(void *self)
{
    tw_checkpoint *checkpoint = self;
    size_t count = checkpoint->attached_count;
    checkpoint->attached_count = 0;
    for (size_t i = 0; i < count; i++) {
        tw__free(checkpoint->attached[i].name);
        tw_release(checkpoint->attached[i].object);
    }
    tw__set(&checkpoint->root, NULL);
    tw__set(&checkpoint->counter, NULL);
}

static void checkpoint_destroy(void *self)
{
    checkpoint_clear(self);
    tw__free(((tw_checkpoint *)self)->attached);
}

static void checkpoint_visit(void *self, tw__visitor visitor, void *context)
{
    tw_checkpoint *checkpoint = self;
    for (size_t i = 0; i < checkpoint->attached_count; i++)
        visitor(context, checkpoint->attached[i].object);
    if (checkpoint->root)
        visitor(context, &checkpoint->root->object);
    if (checkpoint->counter)
        visitor(context, &checkpoint->counter->trackable.object);
}

static tw_status attach(tw_checkpoint *checkpoint, const char *name, void *object)
{
    TW_TRY(TW_GROW(checkpoint->attached, checkpoint->attached_capacity, checkpoint->attached_count + 1));
    char *copy = tw__strdup(name);
    TW_NEED(copy);
    checkpoint->attached[checkpoint->attached_count++] = (tw__child){ copy, tw_retain(object) };
    return TW_OK;
}

static tw_status add(tw_checkpoint *checkpoint, const tw_pair *pair)
{
    if (strcmp(pair->name, "save_counter") == 0)
        return tw__fail(TW_ATTRIBUTE_ERROR, "property 'save_counter' of 'Checkpoint' object has no setter");
    TW_TRY(tw__track(&checkpoint->trackable, pair->name, pair->object));
    if (!checkpoint->root)
        return TW_OK;
    tw_trackable *other = tw__tracked(checkpoint->root, pair->name);
    if (!other)
        return attach(checkpoint, pair->name, pair->object);
    if (other != pair->object)
        return tw__fail(TW_VALUE_ERROR, "Cannot create a Checkpoint with keyword argument %s if root.%s already exists.",
                        pair->name, pair->name);
    return TW_OK;
}

static int by_name(const void *a, const void *b)
{
    return strcmp(((const tw_pair *)a)->name, ((const tw_pair *)b)->name);
}

static tw_status checkpoint_init(void *self, const void *given)
{
    const tw_checkpoint_args *args = given;
    tw_checkpoint *checkpoint = self;
    size_t count = (size_t)args->kwargs.count + 1;
    tw__owned tw_pair *pairs = tw__alloc_array(count, sizeof *pairs);
    TW_NEED(pairs);
    if (args->kwargs.count)
        memcpy(pairs, args->kwargs.items, (count - 1) * sizeof *pairs);
    if (args->root) {
        checkpoint->root = tw_retain(args->root);
        tw_trackable *counter = tw__tracked(args->root, "save_counter");
        if (counter && tw__holds_value(counter))
            checkpoint->counter = tw_retain(counter);
        pairs[count - 1] = (tw_pair){ "root", args->root };
    } else {
        count--;
    }
    qsort(pairs, count, sizeof *pairs, by_name);
    for (size_t i = 0; i < count; i++)
        TW_TRY(add(checkpoint, &pairs[i]));
    return TW_OK;
}

TW_CLASS(checkpoint, "train.Checkpoint(root: trackable = None, **kwargs: pairs<trackable>)", .parent = &tw__trackable_class,
         .size = sizeof(tw_checkpoint), .init = checkpoint_init, .destroy = checkpoint_destroy, .visit = checkpoint_visit,
         .clear = checkpoint_clear, .drop_config = true,
         .doc = "Saves and restores the variables of objects.\n"
                "root: an object whose variables are saved under its own attributes' names; None: there is none\n"
                "kwargs: objects to be saved, each under its keyword\n"
                "example: tf.train.Checkpoint(step=tf.Variable(3)).step.numpy()  # 3");

tw__saving_view tw__checkpoint_view(const tw_checkpoint *checkpoint)
{
    if (!checkpoint->root)
        return (tw__saving_view){ .root = (tw_trackable *)&checkpoint->trackable };
    return (tw__saving_view){ .root = checkpoint->root,
                              .attached = checkpoint->attached,
                              .attached_count = checkpoint->attached_count };
}

/* ---- save_counter ---- */

tw_variable *tw__checkpoint_counter(tw_checkpoint *checkpoint)
{
    if (checkpoint->counter)
        return checkpoint->counter;
    tw_auto tw_tensor *zero = tw_tensor_int64(0);
    tw_auto tw_variable *counter = zero ? tw__variable_new(zero, "save_counter", false, NULL) : NULL;
    if (!counter)
        return NULL;
    if (tw__track(&checkpoint->trackable, "save_counter", counter) != TW_OK)
        return NULL;
    if (checkpoint->root && attach(checkpoint, "save_counter", counter) != TW_OK)
        return NULL;
    if (checkpoint->root && tw__restore_waiting(checkpoint->root, "save_counter", &counter->trackable) != TW_OK)
        return NULL;
    checkpoint->counter = tw_retain(counter);
    return checkpoint->counter;
}

tw_status tw__checkpoint_count(tw_checkpoint *checkpoint, int64_t *number)
{
    tw_variable *counter = tw__checkpoint_counter(checkpoint);
    tw_tensor *value = counter ? tw__resource_read(counter->resource) : NULL;
    TW_NEED(value);
    *number = tw_tensor_int_at(value, 0) + 1;
    tw_release(value);
    tw_auto tw_tensor *next = tw_error_code() == TW_OK ? tw_tensor_int64(*number) : NULL;
    TW_NEED(next);
    return tw__resource_assign(counter->resource, next);
}

TW_PROPERTY(checkpoint_save_counter, "train.Checkpoint.save_counter(self: checkpoint) -> variable",
            "Counts the saves; its value is in the names of the files.")
{
    return tw_retain(tw__checkpoint_counter(args->self));
}

/* ---- saving ---- */

tw_status tw__checkpoint_write(tw_checkpoint *checkpoint, const char *prefix)
{
    tw__saving_view view = tw__checkpoint_view(checkpoint);
    return tw__save_objects(&view, prefix);
}

TW_METHOD(checkpoint_write,
          "train.Checkpoint.write(self: checkpoint, file_prefix: str, options: checkpoint_options = None) -> str",
          "Writes the checkpoint to this very prefix: no number, no state file.\n"
          "file_prefix: the path of the checkpoint\n"
          "returns: the path")
{
    return tw__checkpoint_write(args->self, args->file_prefix) == TW_OK ? tw__strdup(args->file_prefix) : NULL;
}

TW_METHOD(checkpoint_save, "train.Checkpoint.save(self: checkpoint, file_prefix: str, options: checkpoint_options = None) -> str",
          "Writes the next checkpoint and makes it the directory's newest.\n"
          "file_prefix: the path that names of checkpoints begin with; a number from 1 on follows\n"
          "returns: the path of the checkpoint, such as `PREFIX-1`")
{
    int64_t number;
    if (tw__checkpoint_count(args->self, &number) != TW_OK)
        return NULL;
    char *path = tw__format("%s-%lld", args->file_prefix, (long long)number);
    tw__owned char *directory = path ? tw__path_directory(args->file_prefix) : NULL;
    tw_status status = directory ? tw__checkpoint_write(args->self, path) : TW_RESOURCE_EXHAUSTED;
    if (status == TW_OK) {
        tw__checkpoint_state state = { .model_checkpoint_path = path, .all_paths = &path, .path_count = 1 };
        status = tw__update_checkpoint_state(directory, &state);
    }
    if (status != TW_OK) {
        tw__free(path);
        return NULL;
    }
    return path;
}

TW_METHOD(checkpoint_sync, "train.Checkpoint.sync(self: checkpoint) -> none",
          "Waits for saves under way. There are none: saving is synchronous.")
{
    return TW_OK;
}

/* ---- restoring ---- */

static tw_load_status *read_objects(tw_checkpoint *checkpoint, const char *path)
{
    if (!path)
        return tw__status_new(NULL, checkpoint);
    tw__saving_view view = tw__checkpoint_view(checkpoint);
    tw_auto tw__restore *restore = tw__restore_start(path, &view);
    return restore ? tw__status_new(restore, checkpoint) : NULL;
}

TW_METHOD(checkpoint_read,
          "train.Checkpoint.read(self: checkpoint, save_path: str?, options: checkpoint_options = None) -> load_status",
          "Restores what write() wrote. Objects that come later get their values then.\n"
          "save_path: the path that `write` gave\n"
          "returns: an object whose methods tell whether everything was found")
{
    return read_objects(args->self, args->save_path);
}

tw_load_status *tw__checkpoint_restore(tw_checkpoint *checkpoint, const char *path)
{
    tw_load_status *status = read_objects(checkpoint, path);
    if (!status) {
        if (tw_error_code() == TW_NOT_FOUND && path) {
            tw__error_prefix("Error when restoring from checkpoint or SavedModel at %s: ", path);
            tw__error_wrap("",
                           "\nPlease double-check that the path is correct. You may be missing the checkpoint suffix (e.g. the "
                           "'-1' in 'path/to/ckpt-1').");
        }
        return NULL;
    }
    tw_variable *counter = tw__checkpoint_counter(checkpoint);
    if (!counter) {
        tw_release(status);
        return NULL;
    }
    tw__status_optional(status, counter);
    return status;
}

TW_METHOD(checkpoint_restore,
          "train.Checkpoint.restore(self: checkpoint, save_path: str?, options: checkpoint_options = None) -> load_status",
          "Restores what save() wrote. Objects that come later get their values then.\n"
          "save_path: the path that `save` gave, or `tf.train.latest_checkpoint` finds; None: nothing is restored\n"
          "returns: an object whose methods tell whether everything was found")
{
    return tw__checkpoint_restore(args->self, args->save_path);
}
