/* The SavedModel message of objects; see saved_model.h for what is where.
 *
 * Besides the object graph, which tf.saved_model.load reads, a file has a graph for sessions and for TensorFlow Serving:
 *
 *     w, w/Read/ReadVariableOp           a handle per variable, and its value
 *     KEY_INPUT                          a Placeholder per input of a signature, and a call of the signature's function
 *     saver_filename                     the prefix that calls of a saving and of a restoring function take
 *     NoOp                               what is to be run first */
#include <stdio.h>

#include "api/tensor_spec.h"
#include "saving/saved_model.h"
#include "session/session.h"

tw__object_words (*tw__object_words_hook)(const tw_trackable *object);

typedef struct writing {
    const tw__walk *walk;
    tw__graph *graph;
    tw_tensor **handles;      /* by node of the walk: the VarHandleOp; references */
    tw__function **functions; /* what object functions are, in order; borrowed */
    size_t function_count, function_capacity;
    tw__map function_names;
    tw__function *save, *restore;
    tw_saved_constant **assets; /* borrowed */
    char **asset_nodes;
    size_t asset_count, asset_capacity;
    tw__pointer_map asset_places;
    tw__map constants;        /* "i" -> name of the Const */
    tw__text signatures, saver;
    char *filename;
} writing;

static void add_text(tw__text *text, uint32_t number, const char *string)
{
    if (*string)
        tw__proto_add_bytes(text, number, string, strlen(string));
}

static void add_message(tw__text *text, uint32_t number, tw__text *inner)
{
    tw__proto_add_bytes(text, number, inner->data, inner->size);
    text->failed |= inner->failed;
    tw__text_free(inner);
}

/* A map's entry; takes the value. */
static void add_entry(tw__text *text, uint32_t number, const char *key, tw__text *value)
{
    tw__text entry = { 0 };
    add_text(&entry, 1, key);
    add_message(&entry, 2, value);
    add_message(text, number, &entry);
}

/* ---- the graph of sessions ---- */

static tw_status add_variable(writing *w, size_t node)
{
    const tw__resource *resource = ((const tw_variable *)w->walk->nodes[node].object)->resource;
    char *name = tw__graph_unique_name(w->graph, resource->name, false), *debug = name ? tw__format("%s/", name) : NULL;
    char *read = name ? tw__format("%s/Read/ReadVariableOp", name) : NULL;
    tw_status status = debug && read ? TW_OK : TW_RESOURCE_EXHAUSTED;
    tw_attr attrs[] = { TW_A_STRING("shared_name", name ? name : ""), TW_A_STRING("debug_name", debug ? debug : ""),
                        TW_A_TYPE("dtype", resource->dtype), TW_A_SHAPE("shape", &resource->shape) };
    tw_attr complete[TW_MAX_ATTRS];
    tw_dtype dtypes[1], in_dtype = TW_RESOURCE;
    int count = 0;
    if (status == TW_OK)
        status = tw__op_resolve(&tw__op_VarHandleOp, NULL, 0, attrs, 4, complete, dtypes, 1, &count);
    tw__node *handle = NULL;
    if (status == TW_OK)
        handle = tw__graph_add(w->graph, &tw__op_VarHandleOp, name, NULL, 0, complete, tw__op_signature_of(&tw__op_VarHandleOp)->attr_count, dtypes,
                               &TW_SCALAR, 1);
    if (handle && !(w->handles[node] = tw__node_output(handle, 0)))
        handle = NULL;
    if (status == TW_OK && handle)
        status = tw__op_resolve(&tw__op_ReadVariableOp, &in_dtype, 1, &attrs[2], 1, complete, dtypes, 1, &count);
    if (status == TW_OK && (!handle || !tw__graph_add(w->graph, &tw__op_ReadVariableOp, read, &(tw__edge){ handle, 0 }, 1, complete,
                                                      tw__op_signature_of(&tw__op_ReadVariableOp)->attr_count, dtypes, &resource->shape, 1)))
        status = tw__error_status();
    tw__free(name);
    tw__free(debug);
    tw__free(read);
    return status;
}

/* Captured constants and paths of files as Const nodes. */
static tw_status add_constant(writing *w, size_t node)
{
    tw_saved_constant *constant = (tw_saved_constant *)w->walk->nodes[node].object;
    tw_tensor *made = tw__graph_constant(w->graph, constant->value, "Const");
    char *name = made ? tw__strdup(made->node->name) : NULL, key[24];
    tw_release(made);
    if (!name)
        return tw__error_status();
    snprintf(key, sizeof key, "%zu", node);
    if (tw__map_put(&w->constants, key, strlen(key), name) != TW_OK) {
        tw__free(name);
        return TW_RESOURCE_EXHAUSTED;
    }
    if (!constant->asset)
        return TW_OK;
    TW_TRY(TW_GROW(w->assets, w->asset_capacity, w->asset_count + 1));
    TW_TRY(tw__pointer_map_put(&w->asset_places, constant, (int64_t)w->asset_count));
    w->assets[w->asset_count++] = constant;
    return TW_OK;
}

static void write_info(tw__text *text, uint32_t number, const char *key, const char *name, tw_dtype dtype, const tw_shape *shape)
{
    tw__text info = { 0 };
    add_text(&info, 1, name);
    tw__proto_add_varint(&info, 2, (uint64_t)dtype);
    tw__shape_message_write(&info, 3, shape);
    add_entry(text, number, key, &info);
}

static const char *const *output_names(const tw_saved_concrete *signature, size_t *count)
{
    size_t pairs = signature->outputs.kind == TW_VALUE_DICT ? (size_t)signature->outputs.list.count / 2 : 0;
    const char **names = tw__alloc_array(pairs + 1, sizeof *names);
    for (size_t i = 0; names && i < pairs; i++)
        names[i] = signature->outputs.list.items[2 * i].s.data;
    *count = pairs;
    return names;
}

/* What a capture is in this graph: a variable's handle or a constant. A new reference. */
static tw_tensor *capture_in_graph(const writing *w, const tw_trackable *object)
{
    int64_t node = tw__pointer_map_get(&w->walk->ids, object, -1);
    if (node >= 0 && w->handles[node])
        return tw_retain(w->handles[node]);
    char key[24];
    snprintf(key, sizeof key, "%lld", (long long)node);
    const char *name = tw__map_get(&w->constants, key, strlen(key));
    tw__node *found = name ? tw__graph_find(w->graph, name) : NULL;
    if (!found)
        tw__fail(TW_INTERNAL, "a function captured an object that is not saved");
    return found ? tw__node_output(found, 0) : NULL;
}

/* Placeholders, the call, and the SignatureDef. */
static tw_status add_signature(writing *w, const char *key, tw_saved_concrete *signature)
{
    tw__function *f = tw__saved_concrete_build(signature);
    if (!f)
        return tw__error_status();
    size_t names = 0;
    const char *const *outputs_named = output_names(signature, &names);
    tw_tensor **inputs = tw__alloc_array((size_t)f->input_count + 1, sizeof *inputs);
    tw_tensor **outputs = tw__alloc_array((size_t)f->output_count + 1, sizeof *outputs);
    tw__text body = { 0 };
    tw_status status = inputs && outputs && outputs_named ? TW_OK : TW_RESOURCE_EXHAUSTED;
    for (int i = 0; status == TW_OK && i < f->input_count; i++) {
        if (i < f->argument_count) {
            char *name = tw__format("%s_%s", key, signature->keywords[i]);
            inputs[i] = name ? tw__graph_placeholder(w->graph, f->inputs[i]->out_dtypes[0], &f->inputs[i]->out_shapes[0], name) : NULL;
            tw__free(name);
        } else {
            inputs[i] = capture_in_graph(w, signature->bound[i - f->argument_count]);
        }
        status = inputs[i] ? TW_OK : tw__error_status();
        if (status == TW_OK && i < f->argument_count) {
            char *tensor = tw__format("%s:0", inputs[i]->node->name);
            write_info(&body, 1, signature->keywords[i], tensor ? tensor : "", inputs[i]->dtype, &inputs[i]->shape);
            tw__free(tensor);
        }
    }
    if (status == TW_OK)
        status = tw__function_call_plain(f, inputs, outputs);
    for (int i = 0; status == TW_OK && i < f->output_count && (size_t)i < names; i++) {
        char *tensor = tw__format("%s:%d", outputs[i]->node->name, outputs[i]->node_output);
        write_info(&body, 2, outputs_named[i], tensor ? tensor : "", outputs[i]->dtype, &outputs[i]->shape);
        tw__free(tensor);
    }
    add_text(&body, 3, "tensorflow/serving/predict");
    add_entry(&w->signatures, 5, key, &body);
    for (int i = 0; inputs && i < f->input_count; i++)
        tw_release(inputs[i]);
    for (int i = 0; outputs && i < f->output_count; i++)
        tw_release(outputs[i]);
    tw__free((void *)outputs_named);
    tw__free(inputs);
    tw__free(outputs);
    return status;
}

/* ---- functions that save and restore ---- */

typedef struct saver_body {
    const writing *w;
    bool restores;
} saver_body;

static tw_tensor *key_names(const writing *w, bool empty)
{
    int64_t count = 0;
    for (size_t i = 0; i < w->walk->count; i++)
        count += w->handles[i] != NULL;
    tw_tensor *tensor = tw_tensor_new(TW_STRING, TW_SHAPE(count), NULL);
    tw__text key = { 0 };
    tw_status status = tensor ? TW_OK : TW_RESOURCE_EXHAUSTED;
    for (size_t i = 0, at = 0; status == TW_OK && i < w->walk->count; i++) {
        if (!w->handles[i])
            continue;
        status = tw__walk_key(w->walk, i, &key);
        if (status == TW_OK)
            status = tw__string_set(tensor, (int64_t)at++, empty ? "" : key.data, empty ? 0 : key.size);
    }
    tw__text_free(&key);
    if (status != TW_OK)
        tw_release(tensor);
    return status == TW_OK ? tensor : NULL;
}

static tw_status write_values(const writing *w, tw_tensor *const *arguments, int count, tw_tensor *names, tw_tensor *slices)
{
    tw_tensor **inputs = tw__alloc_array((size_t)count + 3, sizeof *inputs);
    if (!inputs)
        return TW_RESOURCE_EXHAUSTED;
    inputs[0] = arguments[0];
    inputs[1] = names;
    inputs[2] = slices;
    tw_status status = TW_OK;
    int at = 1;
    for (size_t i = 0; status == TW_OK && i < w->walk->count; i++) {
        if (!w->handles[i])
            continue;
        tw_attr dtype = TW_A_TYPE("dtype", ((const tw_variable *)w->walk->nodes[i].object)->resource->dtype);
        inputs[at + 2] = tw__call(&tw__op_ReadVariableOp, &arguments[at], 1, &dtype, 1);
        status = inputs[at++ + 2] ? TW_OK : tw__error_status();
    }
    int outputs = 0;
    if (status == TW_OK)
        status = tw__apply(&tw__op_SaveV2, inputs, count + 2, NULL, 0, NULL, &outputs);
    for (int i = 3; i < count + 2; i++)
        tw_release(inputs[i]);
    tw__free(inputs);
    return status;
}

static tw_status read_values(const writing *w, tw_tensor *const *arguments, int count, tw_tensor *names, tw_tensor *slices)
{
    tw_dtype *dtypes = tw__alloc_array((size_t)count + 1, sizeof *dtypes);
    tw_tensor **values = tw__alloc_array((size_t)count + 1, sizeof *values);
    tw_status status = dtypes && values ? TW_OK : TW_RESOURCE_EXHAUSTED;
    int at = 0, outputs = count - 1, none = 0;
    for (size_t i = 0; dtypes && i < w->walk->count; i++) {
        if (w->handles[i])
            dtypes[at++] = ((const tw_variable *)w->walk->nodes[i].object)->resource->dtype;
    }
    tw_attr types = TW_A_TYPES("dtypes", dtypes, count - 1);
    if (status == TW_OK)
        status = tw__apply(&tw__op_RestoreV2, TW_IN(arguments[0], names, slices), 3, &types, 1, values, &outputs);
    for (int i = 0; status == TW_OK && i < count - 1; i++) {
        tw_attr dtype = TW_A_TYPE("dtype", dtypes[i]);
        status = tw__apply(&tw__op_AssignVariableOp, TW_IN(arguments[i + 1], values[i]), 2, &dtype, 1, NULL, &none);
    }
    for (int i = 0; values && i < count - 1; i++)
        tw_release(values[i]);
    tw__free(values);
    tw__free(dtypes);
    return status;
}

static tw_status run_saver(void *context, tw_tensor *const *arguments, int count, tw_tensor ***outputs, int *output_count)
{
    const saver_body *body = context;
    tw_tensor *names = key_names(body->w, false), *slices = names ? key_names(body->w, true) : NULL;
    tw_status status = slices ? TW_OK : TW_RESOURCE_EXHAUSTED;
    if (status == TW_OK && count > 1)
        status = (body->restores ? read_values : write_values)(body->w, arguments, count, names, slices);
    tw_release(names);
    tw_release(slices);
    *outputs = tw__alloc_array(1, sizeof **outputs);
    if (status == TW_OK && *outputs && ((*outputs)[0] = tw_retain(arguments[0])))
        *output_count = 1;
    return status == TW_OK && *outputs ? tw__function_name_results(*outputs, 1) : tw__error_status();
}

/* Traces one of the two and calls it; gives the name of the call. */
static char *add_saver(writing *w, bool restores, tw_tensor *filename, tw__function **function)
{
    int count = 1;
    for (size_t i = 0; i < w->walk->count; i++)
        count += w->handles[i] != NULL;
    tw_dtype *dtypes = tw__alloc_array((size_t)count, sizeof *dtypes);
    tw_shape *shapes = tw__alloc_array((size_t)count, sizeof *shapes);
    tw_tensor **inputs = tw__alloc_array((size_t)count, sizeof *inputs), *output = NULL;
    const char **names = tw__alloc_array((size_t)count, sizeof *names);
    char *name = NULL;
    if (dtypes && shapes && inputs && names) {
        int at = 1;
        names[0] = "file_prefix";
        inputs[0] = filename;
        dtypes[0] = TW_STRING;
        shapes[0] = TW_SCALAR;
        for (size_t i = 0; i < w->walk->count; i++) {
            if (!w->handles[i])
                continue;
            inputs[at] = w->handles[i];
            dtypes[at] = TW_RESOURCE;
            shapes[at++] = TW_SCALAR;
        }
        tw__graph *outer = tw__tracing;
        tw__tracing = NULL;
        *function = tw__function_trace_named(restores ? "__inference__traced_restore_2" : "__inference__traced_save_1",
                                             names, dtypes, shapes, count, run_saver, &(saver_body){ w, restores });
        tw__tracing = outer;
        if (*function && tw__function_call_plain(*function, inputs, &output) == TW_OK)
            name = tw__strdup(output->node->name);
    }
    tw_release(output);
    tw__free(names);
    tw__free(dtypes);
    tw__free(shapes);
    tw__free(inputs);
    return name;
}

static tw_status add_savers(writing *w)
{
    tw_tensor *filename = tw__graph_placeholder(w->graph, TW_STRING, &TW_SCALAR, "saver_filename");
    char *save = filename ? add_saver(w, false, filename, &w->save) : NULL, *restore = save ? add_saver(w, true, filename, &w->restore) : NULL;
    char *output = restore ? tw__format("%s:0", save) : NULL;
    if (output) {
        add_text(&w->saver, 1, "saver_filename:0");
        add_text(&w->saver, 2, output);
        add_text(&w->saver, 3, restore);
        tw__proto_add_varint(&w->saver, 7, 2);
    }
    tw_release(filename);
    tw__free(save);
    tw__free(restore);
    tw_status status = output ? TW_OK : tw__error_status();
    tw__free(output);
    return status;
}

static tw_status build_graph(writing *w, const tw_saved_object *signatures)
{
    tw_status status = TW_OK;
    for (size_t i = 0; status == TW_OK && i < w->walk->count; i++) {
        if (tw__holds_value(w->walk->nodes[i].object))
            status = add_variable(w, i);
        else if (tw__is(w->walk->nodes[i].object, &tw__class_saved_constant))
            status = add_constant(w, i);
    }
    for (size_t i = 0; status == TW_OK && signatures && i < signatures->trackable.child_count; i++)
        status = add_signature(w, signatures->trackable.children[i].name, (tw_saved_concrete *)signatures->trackable.children[i].object);
    if (status == TW_OK && !tw__graph_add(w->graph, &tw__op_NoOp, "NoOp", NULL, 0, NULL, 0, NULL, NULL, 0))
        status = tw__error_status();
    return status == TW_OK ? add_savers(w) : status;
}

/* ---- the object graph ---- */

/* Object functions keep their names in the file: they come first, and no two have one. */
static tw_status note_function(writing *w, tw_saved_concrete *concrete)
{
    tw__function *f = tw__saved_concrete_build(concrete);
    if (!f)
        return tw__error_status();
    for (size_t i = 0; i < w->function_count; i++) {
        if (w->functions[i] == f)
            return TW_OK;
    }
    if (tw__map_has(&w->function_names, f->name, strlen(f->name))) {
        char *name = NULL;
        for (int i = 1; !name || tw__map_has(&w->function_names, name, strlen(name)); i++) {
            tw__free(name);
            if (!(name = tw__format("%s_%d", f->name, i)))
                return TW_RESOURCE_EXHAUSTED;
        }
        tw__free(f->name);
        f->name = name;
    }
    TW_TRY(tw__map_put(&w->function_names, f->name, strlen(f->name), f));
    TW_TRY(TW_GROW(w->functions, w->function_capacity, w->function_count + 1));
    w->functions[w->function_count++] = f;
    return TW_OK;
}

static tw_status write_specification(tw__text *text, uint32_t number, const tw_value *specification)
{
    tw__text body = { 0 };
    tw_value none = { .kind = TW_VALUE_NONE };
    bool given = specification && specification->kind == TW_VALUE_TUPLE && specification->list.count == 2;
    tw_status status = TW_OK;
    if (given)
        status = tw__structured_write(&body, 1, &specification->list.items[0]);
    if (status == TW_OK)
        status = tw__structured_write(&body, 5, given ? &specification->list.items[1] : &none);
    add_message(text, number, &body);
    return status;
}

/* FullArgSpec of a signature: nothing but keywords. */
static tw_value keyword_specification(const tw_saved_concrete *concrete)
{
    static const char *const fields[] = { "args", "varargs", "varkw", "defaults", "kwonlyargs", "kwonlydefaults", "annotations" };
    tw_value *items = tw__alloc_array(16, sizeof *items), *pair = tw__alloc_array(2, sizeof *pair);
    tw_value *names = tw__alloc_array(concrete->keyword_count + 1, sizeof *names);
    if (!items || !pair || !names) {
        tw__free(items);
        tw__free(pair);
        tw__free(names);
        return (tw_value){ .kind = TW_VALUE_NONE };
    }
    items[0] = tw__value_str(TW_NAMED_TUPLE);
    items[1] = tw__value_str("FullArgSpec");
    for (int i = 0; i < 7; i++)
        items[2 + 2 * i] = tw__value_str(fields[i]);
    for (size_t i = 0; i < concrete->keyword_count; i++)
        names[i] = tw__value_str(concrete->keywords[i]);
    items[3] = (tw_value){ .kind = TW_VALUE_LIST };
    items[11] = (tw_value){ .kind = TW_VALUE_LIST, .list = { names, (int64_t)concrete->keyword_count } };
    items[15] = (tw_value){ .kind = TW_VALUE_DICT };
    pair[0] = (tw_value){ .kind = TW_VALUE_DICT, .list = { items, 16 } };
    return (tw_value){ .kind = TW_VALUE_TUPLE, .list = { pair, 2 } };
}

static tw_status write_concrete(tw__text *text, const tw_saved_concrete *concrete)
{
    tw__text body = { 0 };
    add_text(&body, 1, concrete->function->name);
    for (size_t i = 0; i < concrete->keyword_count; i++)
        tw__proto_add_bytes(&body, 2, concrete->keywords[i], strlen(concrete->keywords[i]));
    if (concrete->positional)
        tw__proto_add_varint(&body, 3, concrete->positional < 0 ? concrete->keyword_count : (uint64_t)concrete->positional);
    tw_status status = TW_OK;
    if (concrete->positional >= 0) { /* a signature; traces have their function's */
        tw_value specification = keyword_specification(concrete);
        status = write_specification(&body, 4, &specification);
        tw_value_free(&specification);
    }
    add_message(text, 8, &body);
    return status;
}

static tw_status write_function(tw__text *text, const tw_saved_function *function)
{
    tw__text body = { 0 };
    for (size_t i = 0; i < function->concrete_count; i++)
        add_text(&body, 1, function->concretes[i]->function->name);
    tw_status status = write_specification(&body, 2, &function->specification);
    add_message(text, 6, &body);
    return status;
}

static void write_variable(tw__text *text, const tw_variable *variable)
{
    tw__text body = { 0 };
    const tw__resource *resource = variable->resource;
    tw__proto_add_varint(&body, 1, (uint64_t)resource->dtype);
    tw__shape_message_write(&body, 2, &resource->shape);
    if (variable->trainable)
        tw__proto_add_varint(&body, 3, 1);
    if (variable->synchronization)
        tw__proto_add_varint(&body, 4, variable->synchronization);
    if (variable->aggregation)
        tw__proto_add_varint(&body, 5, variable->aggregation);
    tw__proto_add_bytes(&body, 6, variable->name, strlen(variable->name) - (tw__ends_with(variable->name, ":0") ? 2 : 0));
    add_message(text, 7, &body);
}

static bool is_list(const tw_trackable *object)
{
    for (size_t i = 0; i < object->child_count; i++) {
        char number[24];
        snprintf(number, sizeof number, "%zu", i);
        if (strspn(object->children[i].name, "0123456789") != strlen(object->children[i].name))
            return false;
    }
    return true;
}

static void write_user_object(tw__text *text, const tw_trackable *object)
{
    tw__object_words words = { "_generic_user_object", 1 };
    tw__text body = { 0 }, version = { 0 };
    if (tw__is(object, &tw__class_saved_object))
        words.identifier = ((const tw_saved_object *)object)->identifier;
    else if (tw__is(object, &tw__container_class))
        words.identifier = is_list(object) ? "trackable_list_wrapper" : "trackable_dict_wrapper";
    if (tw__object_words_hook && tw__object_words_hook(object).identifier)
        words = tw__object_words_hook(object);
    add_text(&body, 1, words.identifier);
    tw__proto_add_varint(&version, 1, (uint64_t)words.producer);
    tw__proto_add_varint(&version, 2, 1);
    add_message(&body, 2, &version);
    add_message(text, 4, &body);
}

static tw_status write_object(tw__text *text, const writing *w, size_t node)
{
    const tw_trackable *object = w->walk->nodes[node].object;
    size_t count = tw__walk_child_count(w->walk, node);
    for (size_t i = 0; i < count; i++) {
        const tw__child *child = tw__walk_child(w->walk, node, i);
        tw__text part = { 0 };
        uint64_t id = (uint64_t)tw__pointer_map_get(&w->walk->ids, child->object, 0);
        if (id)
            tw__proto_add_varint(&part, 1, id);
        add_text(&part, 2, child->name);
        add_message(text, 1, &part);
    }
    if (tw__holds_value(object)) {
        write_variable(text, (const tw_variable *)object);
    } else if (tw__is(object, &tw__class_saved_function)) {
        return write_function(text, (const tw_saved_function *)object);
    } else if (tw__is(object, &tw__class_saved_concrete)) {
        return write_concrete(text, (const tw_saved_concrete *)object);
    } else if (tw__is(object, &tw__class_saved_constant)) {
        tw__text body = { 0 };
        char key[24];
        snprintf(key, sizeof key, "%zu", node);
        bool asset = ((const tw_saved_constant *)object)->asset != NULL;
        if (asset)
            tw__proto_add_varint(&body, 1, (uint64_t)tw__pointer_map_get(&w->asset_places, object, 0));
        else
            add_text(&body, 1, tw__map_get(&w->constants, key, strlen(key)));
        add_message(text, asset ? 5 : 9, &body);
    } else {
        write_user_object(text, object);
    }
    return TW_OK;
}

/* SavedConcreteFunction by name. */
static tw_status write_signature_of(tw__text *text, const writing *w, const tw_saved_concrete *concrete)
{
    tw__text body = { 0 }, bound = { 0 };
    for (size_t i = 0; i < concrete->bound_count; i++)
        tw__varint_add(&bound, (uint64_t)tw__pointer_map_get(&w->walk->ids, concrete->bound[i], 0));
    add_message(&body, 2, &bound);
    tw_status status = tw__structured_write(&body, 3, &concrete->inputs);
    if (status == TW_OK)
        status = tw__structured_write(&body, 4, &concrete->outputs);
    add_entry(text, 2, concrete->function->name, &body);
    if (status != TW_OK)
        tw__error_prefix("function '%s': ", concrete->function->name);
    return status;
}

static tw_status each_concrete(writing *w, tw_status (*act)(writing *w, tw_saved_concrete *concrete, void *context), void *context)
{
    for (size_t i = 0; i < w->walk->count; i++) {
        tw_trackable *object = w->walk->nodes[i].object;
        if (tw__is(object, &tw__class_saved_concrete))
            TW_TRY(act(w, (tw_saved_concrete *)object, context));
    }
    return TW_OK;
}

static tw_status note_one(writing *w, tw_saved_concrete *concrete, void *context)
{
    (void)context;
    return note_function(w, concrete);
}

static tw_status write_one(writing *w, tw_saved_concrete *concrete, void *context)
{
    tw__map *written = ((void **)context)[1];
    if (tw__map_has(written, concrete->function->name, strlen(concrete->function->name)))
        return TW_OK;
    TW_TRY(tw__map_put(written, concrete->function->name, strlen(concrete->function->name), concrete));
    return write_signature_of(((void **)context)[0], w, concrete);
}

static tw_status write_objects(tw__text *text, writing *w)
{
    tw__text node = { 0 };
    tw__map written = { 0 };
    tw_status status = TW_OK;
    for (size_t i = 0; status == TW_OK && i < w->walk->count; i++) {
        tw__text_clear(&node);
        status = write_object(&node, w, i);
        tw__proto_add_bytes(text, 1, node.data, node.size);
        text->failed |= node.failed;
    }
    tw__text_free(&node);
    if (status == TW_OK)
        status = each_concrete(w, write_one, (void *[]){ text, &written });
    tw__map_free(&written, NULL);
    return status;
}

/* ---- the whole ---- */

static void write_information(tw__text *text)
{
    tw__text body = { 0 };
    add_text(&body, 4, "serve");
    add_text(&body, 5, "2.15.1");
    add_message(text, 1, &body);
}

static void write_init(tw__text *text)
{
    tw__text list = { 0 }, collection = { 0 }, signature = { 0 }, info = { 0 };
    add_text(&list, 1, "NoOp");
    add_message(&collection, 1, &list);
    add_entry(text, 4, "saved_model_main_op", &collection);
    add_text(&info, 1, "NoOp");
    tw__shape_message_write(&info, 3, &TW_UNKNOWN_SHAPE);
    add_entry(&signature, 2, "__saved_model_init_op", &info);
    add_entry(text, 5, "__saved_model_init_op", &signature);
}

static void write_assets(tw__text *text, const writing *w)
{
    for (size_t i = 0; i < w->asset_count; i++) {
        tw__text asset = { 0 }, info = { 0 };
        char key[24];
        snprintf(key, sizeof key, "%lld", (long long)tw__pointer_map_get(&w->walk->ids, w->assets[i], 0));
        char *tensor = tw__format("%s:0", (const char *)tw__map_get(&w->constants, key, strlen(key)));
        add_text(&info, 1, tensor ? tensor : "");
        tw__free(tensor);
        add_message(&asset, 1, &info);
        add_text(&asset, 2, tw__path_name(w->assets[i]->asset));
        add_message(text, 6, &asset);
    }
}

static tw_status write_meta_graph(tw__text *text, writing *w)
{
    tw__text graph = { 0 }, objects = { 0 };
    write_information(text);
    tw_status status = tw__graphdef_write(&graph, w->graph, false, w->functions, (int)w->function_count);
    add_message(text, 2, &graph);
    add_message(text, 3, &w->saver);
    write_init(text);
    tw__text_bytes(text, w->signatures.data, w->signatures.size);
    write_assets(text, w);
    if (status == TW_OK)
        status = write_objects(&objects, w);
    add_message(text, 7, &objects);
    text->failed |= w->signatures.failed;
    return status == TW_OK && text->failed ? TW_RESOURCE_EXHAUSTED : status;
}

tw_status tw__saved_model_write(tw__text *text, const tw__saved_model_parts *parts, tw_saved_constant ***assets, size_t *asset_count)
{
    writing w = { .walk = parts->walk };
    tw__text meta = { 0 };
    w.handles = tw__alloc_array(parts->walk->count, sizeof *w.handles);
    w.graph = w.handles ? tw__graph_new(NULL) : NULL;
    tw_status status = w.graph ? each_concrete(&w, note_one, NULL) : TW_RESOURCE_EXHAUSTED;
    tw__tape_stack hidden = tw__tapes_hide();
    tw__graph *outer = tw__tracing;
    tw__tracing = w.graph;
    if (status == TW_OK)
        status = build_graph(&w, parts->signatures);
    tw__tracing = outer;
    tw__tapes_show(hidden);
    if (status == TW_OK)
        status = write_meta_graph(&meta, &w);
    tw__proto_add_varint(text, 1, 1);
    add_message(text, 2, &meta);
    for (size_t i = 0; w.handles && i < parts->walk->count; i++)
        tw_release(w.handles[i]);
    *assets = w.assets;
    *asset_count = w.asset_count;
    tw__free(w.handles);
    tw__free(w.functions);
    tw__map_free(&w.function_names, NULL);
    tw__map_free(&w.constants, tw__free);
    tw__pointer_map_free(&w.asset_places);
    tw__text_free(&w.signatures);
    tw__text_free(&w.saver);
    tw_release(w.save);
    tw_release(w.restore);
    tw_release(w.graph);
    return status == TW_OK && text->failed ? TW_RESOURCE_EXHAUSTED : status;
}
