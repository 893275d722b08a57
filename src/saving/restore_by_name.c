/* Restoring from a file without an object graph, as TensorFlow 1's Saver wrote them: the keys are the names of variables, without
 * ":0". Every object under the root hears of the restore and passes it on to children that come later. */
#include "saving/saving.h"

static tw_status note_missing(tw__restore *restore, tw_trackable *object)
{
    TW_TRY(TW_GROW(restore->bound, restore->bound_capacity, restore->bound_count + 1));
    restore->bound[restore->bound_count] = NULL;
    TW_TRY(tw__restore_link(restore, restore->bound_count, object));
    restore->bound_count++;
    return TW_OK;
}

static tw_status restore_variable(tw__restore *restore, tw_variable *variable)
{
    size_t size = strlen(variable->name);
    tw__owned char *key = tw__strndup(variable->name, tw__ends_with(variable->name, ":0") ? size - 2 : size);
    TW_NEED(key);
    tw_status status;
    if (!tw__bundle_find(restore->reader, key)) {
        status = note_missing(restore, &variable->trackable);
    } else {
        status = tw__restore_check(restore, key, variable, key);
        if (status == TW_OK)
            status = tw__restore_value(restore, key, variable);
    }
    return status;
}

tw_status tw__restore_by_name(tw__restore *restore, tw_trackable *object)
{
    tw__waiting *waiting = tw__waiting_of(object);
    TW_NEED(waiting);
    for (size_t i = 0; i < waiting->by_name_count; i++) {
        if (waiting->by_name[i] == restore)
            return TW_OK;
    }
    TW_TRY(TW_GROW(waiting->by_name, waiting->by_name_capacity, waiting->by_name_count + 1));
    waiting->by_name[waiting->by_name_count++] = tw_retain(restore);
    if (waiting->updated >= restore->uid)
        return TW_OK;
    waiting->updated = restore->uid;
    return tw__holds_value(object) ? restore_variable(restore, (tw_variable *)object) : TW_OK;
}
