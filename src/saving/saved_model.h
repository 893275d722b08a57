/* SavedModels: objects with variables and functions in a directory.
 *
 *     DIR/saved_model.pb            SavedModel { 1 schema version, 2 meta_graphs }: the graph with all functions, and the object
 * graph DIR/variables/variables.*     a checkpoint of the same objects, with the same numbers DIR/assets/                   files
 * that functions read DIR/fingerprint.pb            hashes of the parts
 *
 * Reading has two steps, as with GraphDefs: a message is the file's bytes divided into nodes and functions, with all numbers of
 * nodes checked (saved_model_parse.c); then objects are made of it (saved_model_load.c). Functions are built when they are first
 * called, so that a file may hold functions with ops that are not here.
 *
 * What stands in a file is a trackable here, so that a save and the checkpoint inside it number the same objects: saved_function
 * (a function with its traces), saved_concrete (one trace), saved_object (whatever holds others), saved_constant (a captured
 * tensor, an asset). A save attaches such objects to those that are saved (tw__saving_view.extra). */
#ifndef TW_SAVED_MODEL_H
#define TW_SAVED_MODEL_H

#include "api/asset.h"
#include "codec/message.h"
#include "function/library.h"
#include "lookup/lookup.h"
#include "saving/saving.h"

/* ---- the message (saved_model_parse.c): pieces of bytes that the caller keeps ---- */
typedef enum tw__object_kind {
    TW_OBJECT_NONE,
    TW_OBJECT_USER = TW_SavedObject_user_object,
    TW_OBJECT_ASSET = TW_SavedObject_asset,
    TW_OBJECT_FUNCTION = TW_SavedObject_function,
    TW_OBJECT_VARIABLE = TW_SavedObject_variable,
    TW_OBJECT_BARE = TW_SavedObject_bare_concrete_function,
    TW_OBJECT_CONSTANT = TW_SavedObject_constant,
    TW_OBJECT_RESOURCE = TW_SavedObject_resource,
    TW_OBJECT_CAPTURED = TW_SavedObject_captured_tensor,
} tw__object_kind; /* the field numbers */

typedef struct tw__object_message {
    tw__saved_child *children;
    tw__saved_slot *slots;
    size_t child_count, child_capacity, slot_count, slot_capacity;
    tw__object_kind kind;
    tw_string body; /* the message of that kind */
    tw_string registered_name;
} tw__object_message;

typedef struct tw__concrete_message {
    tw_string name, inputs, outputs; /* inputs, outputs: StructuredValues */
    int32_t *bound;                  /* nodes */
    size_t bound_count, bound_capacity;
} tw__concrete_message;

typedef struct tw__tensor_info {
    tw_string name, tensor; /* "x", "serving_default_x:0" */
    tw_dtype dtype;
    tw_shape shape;
} tw__tensor_info;

typedef struct tw__signature_message {
    tw_string name, method;
    tw__tensor_info *inputs, *outputs;
    size_t input_count, input_capacity, output_count, output_capacity;
} tw__signature_message;

typedef struct tw__saved_model_message {
    char *path; /* of the file, for errors */
    char *bytes;
    size_t size;
    tw_string *tags; /* of the meta graph that was chosen */
    size_t tag_count, tag_capacity;
    tw_string graph;   /* GraphDef */
    tw_string version; /* of TensorFlow */
    bool has_objects;
    tw__object_message *nodes;
    size_t node_count, node_capacity;
    tw__concrete_message *concretes;
    size_t concrete_count, concrete_capacity;
    tw__map concrete_names; /* -> index + 1 */
    tw__signature_message *signatures;
    size_t signature_count, signature_capacity;
    tw_string *assets;        /* names of files */
    tw_string *asset_tensors; /* and the tensors that they are fed to in graphs of TensorFlow 1 */
    size_t asset_count, asset_capacity, asset_tensor_capacity;
    tw_string saver_filename, saver_restore; /* SaverDef: the tensor and the operation that give variables their values */
    tw_string first_operation;               /* what is to be run first */
    tw_string *trainable;                    /* names of variables */
    size_t trainable_count, trainable_capacity;
} tw__saved_model_message;

/* The bytes of a saved_model.pbtxt, for tw__free; NULL: an error that names the line (saved_model_text.c). */
char *tw__saved_model_from_text(const char *path, size_t *size);
/* Reads DIRECTORY/saved_model.pb, or .pbtxt, and chooses the meta graph with exactly these tags; none given: the only one. To be
 * freed in any case. */
tw_status tw__saved_model_message_read(tw__saved_model_message *message, const char *directory, const char *const *tags,
                                       size_t tag_count);
/* The same of bytes, which it takes. */
tw_status tw__saved_model_message_parse(tw__saved_model_message *message, char *bytes, size_t size, const char *path,
                                        const char *const *tags, size_t tag_count);
void tw__saved_model_message_free(tw__saved_model_message *message);

/* ---- values with structure (structured_value.c) ---- */
/* StructuredValue: None, numbers, texts, shapes, dtypes, specs, tensors, and lists, tuples and dicts of them. A named tuple is a
 * dict whose first key is TW_NAMED_TUPLE, with the name of its type. */
#define TW_NAMED_TUPLE "__namedtuple__"
tw_status tw__structured_read(tw_string bytes, tw_value *value);
tw_status tw__structured_write(tw__text *text, uint32_t number, const tw_value *value);
/* The specs of a structure in the order of its tensors: dicts by their keys. `each` gets borrowed specs. */
tw_status tw__structured_leaves(const tw_value *value, tw_status (*each)(void *context, const struct tw_type_spec *spec),
                                void *context);

/* A TensorSpec as a value (the name may be NULL), and what one says; false: the value is none. */
tw_value tw__spec_value(tw_dtype dtype, const tw_shape *shape, const char *name);
bool tw__value_spec(const tw_value *value, tw_spec *spec);

/* ---- the objects (saved_model_objects.c) ---- */
struct tw_saved_object {
    tw_trackable trackable;
    char *identifier;      /* "_generic_user_object", "trackable_list_wrapper", "signature_map", … */
    char *metadata;        /* Keras's, of old files; or NULL */
    char *directory;       /* of the root: where it was read from; or NULL */
    tw_value tags;         /* of the root */
    void *graph, *session; /* of the root of a file of TensorFlow 1: references, or NULL */
};

struct tw_saved_concrete {
    tw_trackable trackable;
    tw__function *function; /* NULL: not built yet */
    tw__library *library;   /* to build it from; a reference, or NULL */
    char *name;             /* in the file */
    tw_trackable **bound;   /* whose handles or values its captures are; references */
    size_t bound_count;
    tw_value inputs, outputs; /* ((positional …), {keywords}), and what it returns */
    char **keywords;          /* names of its arguments, in the order of its tensors */
    size_t keyword_count;
    bool as_written;    /* results of a dict come in its own order, not in that of its keys; never in a file */
    int64_t positional; /* how many of them may be given by place; -1: all */
};

struct tw_saved_function {
    tw_trackable trackable;
    tw_saved_concrete **concretes; /* references */
    size_t concrete_count, concrete_capacity;
    tw_value specification; /* (FullArgSpec, input_signature or None) */
};

tw_saved_object *tw__saved_object_new(const char *identifier);
/* Takes the values; the function is retained. */
tw_saved_concrete *tw__saved_concrete_new(tw__function *function, tw_value inputs, tw_value outputs);
tw_status tw__saved_concrete_keywords(tw_saved_concrete *concrete, const char *const *names, size_t count, int64_t positional);
void tw__saved_concrete_unbind(tw_saved_concrete *concrete);
tw_saved_function *tw__saved_function_new(tw_value specification);
tw_status tw__saved_function_add(tw_saved_function *function, tw_saved_concrete *concrete);
/* The graph function with its captures, built if need be; borrowed. */
tw__function *tw__saved_concrete_build(tw_saved_concrete *concrete);
/* What stands at a path of names, "layer-0/kernel"; borrowed, or NULL. (saved_model_public.c) */
tw_trackable *tw__saved_object_at(tw_saved_object *model, const char *path);
/* What an export saves as an attribute: a function of one trace. A new reference. (saved_model_functions.c) */
struct tw_export;
tw_saved_function *tw__export_function(const struct tw_export *export);
/* A signature: takes tensors by name, gives tensors by name. `function` and its structures are wrapped as TensorFlow does it. */
tw_saved_concrete *tw__signature_of(tw_saved_concrete *concrete, const char *key);

/* ---- tables (saved_table.c) ---- */
/* For a save: gives the tables of the walk the functions that make, fill, save and restore them; *any: there are tables. */
tw_status tw__saved_tables_attach(tw__extra *extra, const tw__object_walk *walk, bool *any);
#define TW__TABLE_SAVE "_table_save"
#define TW__TABLE_RESTORE "_table_restore"
/* Runs the functions of that name that a loaded object has, if it has one; `result` may be NULL. */
tw_status tw__saved_table_run(tw_trackable *object, const char *name, tw_tensor **result);

/* ---- saving (saved_model_save.c, saved_model_write.c) ---- */
/* How an object is called in the object graph: its identifier, and Keras's metadata. Set by folders above; NULL: the usual. */
typedef struct tw__object_words {
    const char *identifier;
    int producer; /* version */
} tw__object_words;
extern tw__object_words (*tw__object_words_hook)(const tw_trackable *object);

typedef struct tw__saved_gradients tw__saved_gradients;
typedef struct tw__saved_model_parts {
    const tw__object_walk *walk;
    tw_saved_object *signatures;           /* borrowed; NULL: none */
    struct tw__saved_gradients *gradients; /* of users' own (saved_gradient.h) */
} tw__saved_model_parts;
/* Appends the SavedModel message. *assets: the constants whose files are to be copied, borrowed, for tw__free. */
tw_status tw__saved_model_write(tw__text *text, const tw__saved_model_parts *parts, tw_saved_constant ***assets,
                                size_t *asset_count);

/* Saves the root with what is attached to it; `extra` must be there. A further file gets the bytes that `make` gives for the
 * objects: Keras's metadata; NULL: none. */
typedef tw_status (*tw__saved_model_file)(void *context, const tw__object_walk *walk, tw__text *text);
tw_status tw__saved_model_save(tw__saving_view *view, tw_saved_object *signatures, const char *directory, const char *file_name,
                               tw__saved_model_file make, void *context);
/* Gives the parents children of these names, and makes signatures of functions. */
tw_status tw__saved_attach(tw__extra *extra, tw_saved_object *signatures, const tw_objects *parents, const tw_value *names,
                           const tw_objects *children, const tw_value *keys, const tw_objects *functions);
/* Tells the gradients of a library what their functions captured, before anything of it is built (saved_gradient_read.c). */
tw_status tw__saved_gradients_read(const tw__library *library, const tw__saved_model_message *message,
                                   tw_trackable *const *objects);
tw_saved_object *tw__saved_model_load(const char *directory, const char *const *tags, size_t tag_count);
/* ---- parts of a session's graph (session_function.c) ---- */
struct tw_session;
struct tw__fetch;
/* A function of the nodes between feeds and fetches, bound to the session's variables. */
tw__function *tw__session_function(struct tw_session *session, const tw__edge *feeds, int feed_count,
                                   const struct tw__fetch *fetches, int fetch_count);
/* A variable over what a handle of the graph stands for in the session. */
tw_variable *tw__session_variable(struct tw_session *session, tw__node *node);

/* Of a file without objects; the message stays. */
tw_saved_object *tw__saved_model_load_v1(const tw__saved_model_message *message, const char *directory);
/* The same of a message, which it frees. */
tw_saved_object *tw__saved_model_of_message(tw__saved_model_message *message, const char *directory);

#endif
