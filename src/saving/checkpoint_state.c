/* tf.train.get_checkpoint_state: what the state file of a directory says, as an object to read from. */
#include "saving/saving.h"

struct tw_checkpoint_state {
    tw_object object;
    tw__checkpoint_state state;
};

static void state_destroy(void *self)
{
    tw__checkpoint_state_free(&((tw_checkpoint_state *)self)->state);
}

static tw_status state_init(__attribute__((unused)) void *self, __attribute__((unused)) const void *args)
{
    return TW_OK;
}

TW_CLASS(checkpoint_state, "train.CheckpointState()", .size = sizeof(tw_checkpoint_state), .init = state_init,
         .destroy = state_destroy, .drop_config = true,
         .doc = "What a directory's state file says: the newest checkpoint, those that are kept, and when they were written.");

TW_API(train_get_checkpoint_state,
       "train.get_checkpoint_state(checkpoint_dir: str, latest_filename: str = None) -> checkpoint_state",
       "What the directory's state file says; None if there is none.\n"
       "checkpoint_dir: the folder of the checkpoints\n"
       "latest_filename: the name of the state file; None: `checkpoint`")
{
    tw__checkpoint_state state;
    bool found;
    if (tw__load_checkpoint_state(args->checkpoint_dir, args->latest_filename, &state, &found) != TW_OK || !found)
        return NULL;
    tw_checkpoint_state *result = tw__object_new(&tw__class_checkpoint_state);
    if (result)
        result->state = state;
    else
        tw__checkpoint_state_free(&state);
    return result;
}

TW_PROPERTY(checkpoint_state_model_checkpoint_path, "train.CheckpointState.model_checkpoint_path(self: checkpoint_state) -> str",
            "The newest checkpoint.")
{
    const char *path = args->self->state.model_checkpoint_path;
    return tw__strdup(path ? path : "");
}

static tw_value *make_list(tw_value *list, size_t count)
{
    *list = (tw_value){ .kind = TW_VALUE_NONE };
    tw_value *items = tw__alloc_array(count, sizeof *items);
    if (items)
        *list = (tw_value){ .kind = TW_VALUE_LIST, .list = { items, (int64_t)count } };
    return items;
}

TW_PROPERTY(checkpoint_state_all_model_checkpoint_paths,
            "train.CheckpointState.all_model_checkpoint_paths(self: checkpoint_state) -> value",
            "The checkpoints that are kept, oldest first.")
{
    const tw__checkpoint_state *state = &args->self->state;
    tw_value list;
    tw_value *items = make_list(&list, state->path_count);
    for (size_t i = 0; items && i < state->path_count; i++) {
        items[i] = tw__value_str(state->all_paths[i]);
        if (items[i].kind == TW_VALUE_NONE) {
            tw_value_free(&list);
            break;
        }
    }
    return list;
}

TW_PROPERTY(checkpoint_state_all_model_checkpoint_timestamps,
            "train.CheckpointState.all_model_checkpoint_timestamps(self: checkpoint_state) -> value",
            "When they were written, in seconds since 1970.")
{
    const tw__checkpoint_state *state = &args->self->state;
    tw_value list;
    tw_value *items = make_list(&list, state->timestamp_count);
    for (size_t i = 0; items && i < state->timestamp_count; i++)
        items[i] = (tw_value){ .kind = TW_VALUE_FLOAT, .f = state->all_timestamps[i] };
    return list;
}

TW_PROPERTY(checkpoint_state_last_preserved_timestamp,
            "train.CheckpointState.last_preserved_timestamp(self: checkpoint_state) -> float",
            "When the last checkpoint was written that is kept for good.")
{
    return args->self->state.last_preserved_timestamp;
}

TW_METHOD(checkpoint_state_str, "train.CheckpointState.__str__(self: checkpoint_state) -> str", "The state as the file's text.")
{
    tw__text text = { 0 };
    tw__checkpoint_state_print(&text, &args->self->state);
    return tw__text_take(&text);
}
