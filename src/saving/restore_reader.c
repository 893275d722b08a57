/* The files behind restores: bundles that stay open while something waits for their values, and the values themselves.
 *
 * An open bundle can be read when its files are gone. A value is checked against its variable before any is read, so a restore
 * that does not fit changes nothing. */
#include "lookup/lookup.h"
#include "saving/saving.h"

/* The restores that keep a bundle open, newest first. A program that restores again and again into objects that don't take
 * everything would run out of file descriptors: beyond a few, the oldest is closed and opened anew should it be asked for. */
enum { MOST_OPEN = 16 };
static tw__lock open_lock = TW__LOCK;
static tw__restore *open_restores;

void tw__restore_close(tw__restore *restore)
{
    tw__lock_take(&open_lock);
    for (tw__restore **place = &open_restores; *place; place = &(*place)->next_open) {
        if (*place == restore) {
            *place = restore->next_open;
            break;
        }
    }
    tw__bundle_reader *reader = restore->reader;
    restore->reader = NULL;
    tw__lock_give(&open_lock);
    tw__bundle_close(reader);
}

/* Opens the bundle if it is not, and keeps it so until tw__restore_let_go. */
tw_status tw__restore_hold(tw__restore *restore)
{
    tw__lock_take(&open_lock);
    tw_status status = TW_OK;
    if (!restore->reader) {
        restore->reader = tw__bundle_open(restore->prefix);
        if (restore->reader) {
            restore->next_open = open_restores;
            open_restores = restore;
        } else {
            status = tw__error_status();
        }
    }
    if (status == TW_OK)
        restore->users++;
    int count = 0;
    for (tw__restore **place = &open_restores; *place;) {
        tw__restore *other = *place;
        if (++count > MOST_OPEN && other->users == 0) {
            *place = other->next_open;
            tw__bundle_close(other->reader);
            other->reader = NULL;
        } else {
            place = &other->next_open;
        }
    }
    tw__lock_give(&open_lock);
    return status;
}

void tw__restore_let_go(tw__restore *restore)
{
    tw__lock_take(&open_lock);
    restore->users--;
    bool done = restore->waiting == 0 && !restore->by_name && restore->users == 0;
    tw__lock_give(&open_lock);
    if (done)
        tw__restore_close(restore);
}

/* ---- values ---- */

tw_status tw__restore_check(tw__restore *restore, const char *key, tw_variable *variable, const char *name)
{
    const tw__bundle_entry *entry = tw__bundle_find(restore->reader, key);
    const tw__resource *resource = variable->resource;
    if (!entry)
        return tw__fail(TW_NOT_FOUND, "Key %s not found in checkpoint %s", key, restore->prefix);
    if (entry->dtype != resource->dtype)
        return tw__fail(TW_INVALID_ARGUMENT,
                        "tensor_name = %s; expected dtype %s does not equal original dtype %s (checkpoint %s)", key,
                        tw__bundle_dtype_name(resource->dtype), tw__bundle_dtype_name(entry->dtype), restore->prefix);
    if (entry->shape.rank >= 0 && tw__shape_compatible(&resource->shape, &entry->shape))
        return TW_OK;
    tw__owned char *got = tw__shape_tuple(&entry->shape), *own = tw__shape_tuple(&resource->shape);
    if (got && own)
        tw__fail(TW_VALUE_ERROR,
                 "Received incompatible tensor with shape %s when attempting to restore variable with shape %s and name %s.", got,
                 own, name);
    return tw__error_status();
}

tw_status tw__restore_value(tw__restore *restore, const char *key, tw_variable *variable)
{
    tw_auto tw_tensor *value = tw__bundle_read(restore->reader, key);
    TW_NEED(value);
    return tw__variable_set(variable, value);
}

tw_status tw__restore_table(tw__restore *restore, const char *prefix, const struct tw_lookup_table *table, tw_tensor *both[2])
{
    static const char *const ends[] = { "-keys", "-values" };
    for (int i = 0; i < 2; i++) {
        tw__owned char *key = tw__format("%s%s", prefix, ends[i]);
        const tw__bundle_entry *entry = key ? tw__bundle_find(restore->reader, key) : NULL;
        tw_dtype wanted = i ? table->value_dtype : table->key_dtype;
        if (!key)
            return TW_RESOURCE_EXHAUSTED;
        else if (!entry)
            return tw__fail(TW_NOT_FOUND, "Key %s not found in checkpoint %s", key, restore->prefix);
        else if (entry->dtype != wanted)
            return tw__fail(TW_INVALID_ARGUMENT,
                            "tensor_name = %s; expected dtype %s does not equal original dtype %s (checkpoint %s)", key,
                            tw__bundle_dtype_name(wanted), tw__bundle_dtype_name(entry->dtype), restore->prefix);
        else
            TW_NEED(both[i] = tw__bundle_read(restore->reader, key));
    }
    return TW_OK;
}
