/* Saving and restoring trees of trackable objects: the object graph, restores that wait for objects not made yet, and the
 * files of a checkpoint directory.
 *
 * A save numbers the objects breadth-first, writes every variable under the names on its path, and the graph itself last. A
 * restore reads that graph and walks it together with the objects: names decide. What has no object yet waits on the object whose
 * child it will be (tw_trackable.pending), and is bound when the child is tracked. */
#ifndef TW_SAVING_H
#define TW_SAVING_H

#include "eager/eager.h"
#include "format/format.h"
#include "rows.h"

#define TW__GRAPH_KEY "_CHECKPOINTABLE_OBJECT_GRAPH"
#define TW__VALUE_NAME "VARIABLE_VALUE"
#define TW__SLOT_NAME ".OPTIMIZER_SLOT"
#define TW__ITERATOR_NAME "ITERATOR_STATE"
#define TW__TABLE_NAME "table" /* two tensors: KEY-keys, KEY-values */

/* "WARNING:tensorflow:…" on stderr. */
/* As Python's repr() prints it: a variable with its value, other objects by their class. */
char *tw__trackable_repr(const tw_trackable *object);

/* ---- objects as they are (object_walk.c) ---- */
/* What is saved: an object, and children that it is given for this purpose only. */
typedef struct tw__saving_view {
    tw_trackable *root;
    const tw__child *attached;
    size_t attached_count;
    bool no_gradients;             /* SavedModels: gradients that users defined are not saved */
    const struct tw__extra *extra; /* the same for any object: children that it has for this purpose only; NULL: none */
} tw__saving_view;
typedef struct tw__extra {
    tw__pointer_map places; /* object -> place in the list */
    struct tw__extra_children {
        tw__child *items; /* references */
        size_t count, capacity;
    } * lists;
    size_t count, capacity;
} tw__extra;
tw_status tw__extra_add(tw__extra *extra, const tw_trackable *parent, const char *name, void *child);
void tw__extra_free(tw__extra *extra);

typedef struct tw__walk_node {
    tw_trackable *object; /* borrowed */
    size_t parent;        /* on the shortest way from the root, with */
    const char *name;     /* the object's name there; the root has NULL */
    size_t variable;      /* not 0: the object is a slot of the parent that belongs to this node; variables are no roots */
} tw__walk_node;

typedef struct tw__object_walk {
    tw__saving_view view;
    tw__walk_node *nodes; /* breadth-first; slots stand behind all others */
    size_t count, capacity;
    tw__pointer_map ids;
} tw__object_walk;
tw_status tw__walk_objects(tw__object_walk *walk, const tw__saving_view *view);
void tw__walk_free(tw__object_walk *walk);
size_t tw__walk_child_count(const tw__object_walk *walk, size_t node);
const tw__child *tw__walk_child(const tw__object_walk *walk, size_t node, size_t index);
bool tw__holds_value(const tw_trackable *object); /* it is a variable */
/* What the object itself keeps in a checkpoint: the name of its attribute. NULL: nothing. */
const char *tw__attribute_of(const tw_trackable *object);
/* Its value as it is now; a new reference. NULL: an error. Not for tables, which have two. */
tw_tensor *tw__attribute_value(tw_trackable *object);
/* The key of an object's value in the checkpoint. */
tw_status tw__walk_key(const tw__object_walk *walk, size_t node, tw__text *key);
/* The field slot_variables of the node, as both object graphs have it. */
void tw__walk_write_slots(const tw__object_walk *walk, size_t node, tw__text *text);

/* ---- writing (object_save.c) ---- */
tw_status tw__save_objects(const tw__saving_view *view, const char *prefix);
tw_status tw__save_walk(const tw__object_walk *walk, const char *prefix);

/* ---- the graph in a file (object_graph.c) ---- */
typedef tw_string tw__saved_text;
/* The number of a node; a negative one is no node's. */
static inline size_t tw__saved_index(int32_t id)
{
    return id < 0 ? SIZE_MAX : (size_t)id;
}

typedef struct tw__saved_child {
    size_t node;
    tw__saved_text name;
} tw__saved_child;
typedef struct tw__saved_attribute {
    tw__saved_text name, full_name, key;
} tw__saved_attribute;
typedef struct tw__saved_slot {
    size_t variable, node;
    tw__saved_text name;
} tw__saved_slot;
typedef struct tw__saved_saver {
    tw__saved_text name, object_name;
} tw__saved_saver;
typedef struct tw__saved_node {
    tw__saved_child *children;
    tw__saved_attribute *attributes;
    tw__saved_slot *slots;
    size_t child_count, attribute_count, slot_count;
    size_t child_capacity, attribute_capacity, slot_capacity;
    tw__saved_saver saver;
    bool has_saver;
    bool says_values, has_values; /* has_checkpoint_values: whether it is there, and what it says */
} tw__saved_node;
typedef struct tw__saved_graph {
    char *bytes;
    size_t size;
    tw__saved_node *nodes;
    size_t count, capacity;
} tw__saved_graph;
/* Copies the bytes. `name` stands in errors. */
tw_status tw__saved_graph_parse(tw__saved_graph *graph, const void *data, size_t size, const char *name);
void tw__saved_graph_free(tw__saved_graph *graph);
/* How every node is reached from the root, which gives it a name to be spoken of: "(root).model.bias". */
typedef struct tw__saved_names {
    struct tw__way {
        enum { TW__WAY_NONE, TW__WAY_ROOT, TW__WAY_CHILD, TW__WAY_SLOT } kind;
        size_t from, variable;
        tw__saved_text name;
    } * ways;
    size_t *queue;
} tw__saved_names;
tw_status tw__saved_names_find(tw__saved_names *names, const tw__saved_graph *graph);
void tw__saved_names_free(tw__saved_names *names);
void tw__saved_name_add(tw__text *text, tw__saved_names *names, size_t node);
/* The node as protobuf's text format prints it. */
void tw__saved_node_print(tw__text *text, const tw__saved_node *node);

/* ---- restoring (restore.c) ---- */
/* One call of restore() or read(). Statuses and waiting objects hold references; objects bound to nodes are not held. */
typedef struct tw__restore {
    tw_object object;
    uint64_t uid;              /* later restores have higher ones */
    tw__bundle_reader *reader; /* NULL: closed, see restore.c */
    int users;                 /* calls that read from it now */
    struct tw__restore *next_open;
    char *prefix;
    bool by_name; /* the file has no graph: variables are found by their names, see restore_by_name.c */
    tw__saved_graph graph;
    tw_trackable **bound; /* by node; NULL: none, or it is gone. By name: the variables without a value in the file */
    size_t bound_count, bound_capacity;
    bool *matched; /* by node: something was bound to it once */
    struct {
        size_t node, attribute;
    } * unused; /* values whose object is none that takes them */
    size_t unused_count, unused_capacity;
    size_t waiting; /* places where children are waited for */
    bool expect_partial;
} tw__restore;

/* Opens the bundle and restores what is there. */
tw__restore *tw__restore_start(const char *prefix, const tw__saving_view *view);
/* Binds what waits for the child `name` of `parent` to an object that is not its child. */
tw_status tw__restore_waiting(tw_trackable *parent, const char *name, tw_trackable *object);
/* The number of the restore that gave the object its value last; 0: none. */
uint64_t tw__restored_by(const tw_trackable *object);
/* What would be restored into a child of that name when it comes is not. */
void tw__restore_forget_child(tw_trackable *parent, const char *name);

/* Inner parts of restoring, shared between its files. */
typedef struct tw__waiting {
    uint64_t updated; /* the last restore that was applied */
    struct tw__link {
        tw__restore *restore; /* not held */
        size_t node;
    } * links; /* where this object stands in `bound` */
    size_t link_count, link_capacity;
    struct tw__deferral {
        char *name;
        tw__restore *restore; /* a reference */
        size_t node;
    } * deferred;
    size_t deferred_count, deferred_capacity;
    tw__restore **by_name; /* references */
    size_t by_name_count, by_name_capacity;
} tw__waiting;
tw__waiting *tw__waiting_of(tw_trackable *object); /* made if there is none */
tw_status tw__restore_link(tw__restore *restore, size_t node, tw_trackable *object);
/* Opens the bundle if it is not, and keeps it so until let go. */
tw_status tw__restore_hold(tw__restore *restore);
void tw__restore_let_go(tw__restore *restore);
void tw__restore_close(tw__restore *restore);
tw_status tw__restore_check(tw__restore *restore, const char *key, tw_variable *variable, const char *name);
tw_status tw__restore_value(tw__restore *restore, const char *key, tw_variable *variable);
/* Reads the keys and values of a table. */
tw_status tw__restore_table(tw__restore *restore, const char *key, const struct tw_lookup_table *table, tw_tensor *both[2]);
tw_status tw__restore_by_name(tw__restore *restore, tw_trackable *object);

/* ---- status (status.c) ---- */
tw_load_status *tw__status_new(tw__restore *restore, tw_checkpoint *checkpoint); /* NULL restore: of restore(None) */
/* The variable may be without a value in a file that goes by names. */
void tw__status_optional(tw_load_status *status, tw_variable *variable);

/* ---- files of a directory (checkpoint_files.c) ---- */
/* os.path.relpath. */
char *tw__path_relative(const char *path, const char *start);
/* Writes DIRECTORY/checkpoint with the paths made relative to it. The state itself is not changed. */
tw_status tw__update_checkpoint_state(const char *directory, const tw__checkpoint_state *state);
/* The state with paths joined to the directory. *found is false if there is none or it can't be read (which is logged). */
tw_status tw__load_checkpoint_state(const char *directory, const char *file, tw__checkpoint_state *state, bool *found);
/* Removes the files of the checkpoint with that prefix. */
tw_status tw__remove_checkpoint(const char *prefix);

/* ---- Checkpoint (checkpoint.c) ---- */
struct tw_checkpoint {
    tw_trackable trackable;
    tw_trackable *root;  /* NULL: the checkpoint itself is saved */
    tw__child *attached; /* what is saved with the root; references */
    size_t attached_count, attached_capacity;
    tw_variable *counter; /* save_counter; NULL: not made yet */
};
tw__saving_view tw__checkpoint_view(const tw_checkpoint *checkpoint);
tw_variable *tw__checkpoint_counter(tw_checkpoint *checkpoint);             /* made if need be; borrowed */
tw_status tw__checkpoint_count(tw_checkpoint *checkpoint, int64_t *number); /* adds one */
tw_status tw__checkpoint_write(tw_checkpoint *checkpoint, const char *prefix);
tw_load_status *tw__checkpoint_restore(tw_checkpoint *checkpoint, const char *path);

/* ---- time (checkpoint_manager.c) ---- */
extern double (*tw__saving_clock)(void); /* seconds since 1970; tests set their own */

#endif
