/* Objects with named children: the tree that checkpoints are made of. Variables, layers, models, optimizers, lists, dicts and
 * Checkpoint itself are trackables. The saving folder gives `bind`, which runs when a child is added to an object that a restore
 * is waiting for. */
#ifndef TW_TRACKABLE_H
#define TW_TRACKABLE_H

#include "base/base.h"

typedef struct tw__child {
    char *name;
    tw_object *object; /* a tw_trackable; a reference */
} tw__child;

/* A value that an object (an optimizer) keeps for a variable. In files it belongs to both, and is no child of either. */
typedef struct tw__slot {
    char *name;
    tw_object *variable, *object; /* tw_trackables; references */
} tw__slot;

typedef struct tw_trackable {
    tw_object object;
    tw__child *children; /* in the order of tracking */
    size_t child_count, child_capacity;
    tw__slot *slots;
    size_t slot_count, slot_capacity;
    void *pending; /* saving's list of restores that wait for children of this object; see saving/ */
} tw_trackable;

extern const tw_class tw__trackable_class;

/* Adds or replaces the child of that name. The child is retained. */
tw_status tw__track(tw_trackable *parent, const char *name, void *child);
tw_status tw__track_new(tw_trackable *parent, const char *name, void *child); /* where there is none of that name */
void tw__untrack(tw_trackable *parent, const char *name);
tw_trackable *tw__tracked(const tw_trackable *parent, const char *name); /* borrowed; NULL */

/* Adds or replaces the slot of that name that belongs to the variable. Both are retained. */
tw_status tw__track_slot(tw_trackable *owner, void *variable, const char *name, void *slot);
tw_trackable *tw__tracked_slot(const tw_trackable *owner, const void *variable, const char *name,
                               size_t name_size); /* borrowed; NULL */

/* A list or dict: nothing but children, named "0", "1", … or by key. */
extern const tw_class tw__container_class, tw__tuple_class,
    tw__dict_class; /* told apart in SavedModels, and in the order of weights */
tw_trackable *tw__container_new(void);
tw_status tw__container_append(tw_trackable *container, void *child);

/* Set by saving/. `bind`: a child has come to a parent with `pending`; `bind_slot`: a slot, likewise; `forget`: an object with
 * `pending` dies. */
typedef struct tw__trackable_hooks {
    tw_status (*bind)(tw_trackable *parent, const char *name, tw_trackable *child);
    tw_status (*bind_slot)(tw_trackable *owner, tw_trackable *variable, const char *name, tw_trackable *slot);
    void (*forget)(tw_trackable *trackable);
} tw__trackable_hooks;
extern tw__trackable_hooks tw__trackable_hook;

#endif
