/* The graph in a SavedModel, for sessions and for TensorFlow Serving; tf.saved_model.load needs nothing of it but constants.
 *
 *     w, w/Read/ReadVariableOp           a handle per variable, and its value
 *     KEY_INPUT                          a Placeholder per input of a signature, and a call of the signature's function
 *     saver_filename                     the prefix that calls of a saving and of a restoring function take
 *     NoOp                               what is to be run first */
#include <stdio.h>

#include "api/tensor_spec.h"
#include "saving/saved_model_write.h"

/* ---- the graph of sessions ---- */

static tw_status add_variable(tw__model_writing *w, size_t node)
{
    const tw__resource *resource = ((const tw_variable *)w->walk->nodes[node].object)->resource;
    tw__owned char *name = tw__graph_unique_name(w->graph, resource->name, false);
    tw__owned char *debug = name ? tw__format("%s/", name) : NULL,
                   *read = name ? tw__format("%s/Read/ReadVariableOp", name) : NULL;
    TW_NEED(debug && read);
    tw_attr attrs[] = { TW_A_STRING("shared_name", name), TW_A_STRING("debug_name", debug), TW_A_TYPE("dtype", resource->dtype),
                        TW_A_SHAPE("shape", &resource->shape) };
    tw_attr complete[TW_MAX_ATTRS];
    tw_dtype dtypes[1], in_dtype = TW_RESOURCE;
    int count = 0;
    TW_TRY(tw__op_resolve(&tw__op_VarHandleOp, NULL, 0, attrs, 4, complete, dtypes, 1, &count));
    tw__node *handle = tw__graph_add(w->graph, &tw__op_VarHandleOp, name, NULL, 0, complete,
                                     tw__op_signature_of(&tw__op_VarHandleOp)->attr_count, dtypes, &TW_SCALAR, 1);
    TW_NEED(handle && (w->handles[node] = tw__node_output(handle, 0)));
    TW_TRY(tw__op_resolve(&tw__op_ReadVariableOp, &in_dtype, 1, &attrs[2], 1, complete, dtypes, 1, &count));
    TW_NEED(tw__graph_add(w->graph, &tw__op_ReadVariableOp, read, &(tw__edge){ handle, 0 }, 1, complete,
                          tw__op_signature_of(&tw__op_ReadVariableOp)->attr_count, dtypes, &resource->shape, 1));
    return TW_OK;
}

/* Captured constants and paths of files as Const nodes. */
static tw_status add_constant(tw__model_writing *w, size_t node)
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
    tw__put_text(&info, TW_TensorInfo_name, name);
    tw__put_TensorInfo_dtype(&info, dtype);
    tw__shape_message_write(&info, TW_TensorInfo_tensor_shape, shape);
    tw__put_entry(text, number, key, &info);
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
static tw_tensor *capture_in_graph(const tw__model_writing *w, const tw_trackable *object)
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

/* A signature's tensor by its name in the graph. */
static tw_status write_tensor(tw__text *body, uint32_t number, const char *key, const tw_tensor *tensor)
{
    tw__owned char *name = tw__format("%s:%d", tensor->node->name, tensor->node_output);
    TW_NEED(name);
    write_info(body, number, key, name, tensor->dtype, &tensor->shape);
    return TW_OK;
}

/* Placeholders and the call; what the SignatureDef says of them. */
static tw_status add_call(tw__model_writing *w, const char *key, const tw_saved_concrete *signature, tw__function *f,
                          tw__text *body)
{
    size_t names = 0;
    tw__owned const char *const *outputs_named = output_names(signature, &names);
    tw__held tw_tensor **inputs = tw__held_new((size_t)f->input_count);
    tw__held tw_tensor **outputs = tw__held_new((size_t)f->output_count);
    TW_NEED(inputs && outputs && outputs_named);
    for (int i = 0; i < f->input_count; i++) {
        if (i >= f->argument_count) {
            TW_NEED(inputs[i] = capture_in_graph(w, signature->bound[i - f->argument_count]));
            continue;
        }
        tw__owned char *name = tw__format("%s_%s", key, signature->keywords[i]);
        TW_NEED(name);
        TW_NEED(inputs[i] = tw__graph_placeholder(w->graph, f->inputs[i]->out_dtypes[0], &f->inputs[i]->out_shapes[0], name));
        TW_TRY(write_tensor(body, TW_SignatureDef_inputs, signature->keywords[i], inputs[i]));
    }
    TW_TRY(tw__function_call_plain(f, inputs, outputs));
    for (int i = 0; i < f->output_count && (size_t)i < names; i++)
        TW_TRY(write_tensor(body, TW_SignatureDef_outputs, outputs_named[i], outputs[i]));
    return TW_OK;
}

static tw_status add_signature(tw__model_writing *w, const char *key, tw_saved_concrete *signature)
{
    tw__function *f = tw__saved_concrete_build(signature);
    TW_NEED(f);
    tw__text body = { 0 };
    tw_status status = add_call(w, key, signature, f, &body);
    tw__put_text(&body, TW_SignatureDef_method_name, "tensorflow/serving/predict");
    tw__put_entry(&w->signatures, TW_MetaGraphDef_signature_def, key, &body);
    return status;
}

/* ---- tables ---- */

static tw_status add_table(tw__model_writing *w, size_t node)
{
    const struct tw_lookup_table *table = (const struct tw_lookup_table *)w->walk->nodes[node].object;
    if (!table->handle || !table->shared) /* nothing but buckets, or a resource of another kind */
        return TW_OK;
    w->handles[node] = tw__lookup_create(table);
    return w->handles[node] ? TW_OK : tw__error_status();
}

static tw_saved_concrete *initializer_of(const tw__model_writing *w, size_t node)
{
    size_t count = w->handles[node] ? tw__walk_child_count(w->walk, node) : 0;
    for (size_t i = 0; i < count; i++) {
        const tw__child *child = tw__walk_child(w->walk, node, i);
        const tw_saved_function *function = (const tw_saved_function *)child->object;
        if (strcmp(child->name, "_initialize") == 0 && tw__is(function, &tw__class_saved_function) && function->concrete_count)
            return function->concretes[0];
    }
    return NULL;
}

/* Calls the function that fills a table; the call. */
static tw__node *fill_table(const tw__model_writing *w, const tw_saved_concrete *concrete, tw__function *f)
{
    tw__held tw_tensor **inputs = tw__held_new((size_t)f->input_count);
    tw_auto tw_tensor *output = NULL;
    bool good = inputs != NULL;
    for (int i = 0; good && i < f->input_count; i++)
        good = (inputs[i] = capture_in_graph(w, concrete->bound[i])) != NULL;
    return good && tw__function_call_plain(f, inputs, &output) == TW_OK ? output->node : NULL;
}

/* What is to be run first: it follows the calls that fill tables. */
static tw_status add_first(tw__model_writing *w)
{
    tw__owned tw__node **calls = tw__alloc_array(w->walk->count, sizeof *calls);
    size_t count = 0;
    TW_NEED(calls);
    for (size_t i = 0; i < w->walk->count; i++) {
        tw_saved_concrete *concrete = tw__is(w->walk->nodes[i].object, &tw__class_lookup_table) ? initializer_of(w, i) : NULL;
        tw__function *f = concrete ? tw__saved_concrete_build(concrete) : NULL;
        if (concrete && !(f && (calls[count++] = fill_table(w, concrete, f))))
            return tw__error_status();
    }
    tw__node *first = tw__graph_add(w->graph, &tw__op_NoOp, "NoOp", NULL, 0, NULL, 0, NULL, NULL, 0);
    if (!first)
        return tw__error_status();
    for (size_t i = 0; i < count; i++)
        TW_TRY(tw__node_follow(first, calls[i]));
    return TW_OK;
}

/* ---- functions that save and restore ---- */

/* How many tensors a checkpoint holds of the object: 1 of a variable, 2 of a table that may change. */
static int tensors_of(const tw__model_writing *w, size_t node)
{
    const tw_trackable *object = w->walk->nodes[node].object;
    return !w->handles[node] ? 0 : tw__holds_value(object) ? 1 : tw__lookup_saves(object) ? 2 : 0;
}

static tw_dtype dtype_of(const tw__model_writing *w, size_t node, int which)
{
    const tw_trackable *object = w->walk->nodes[node].object;
    const struct tw_lookup_table *table = (const struct tw_lookup_table *)object;
    return tw__holds_value(object) ? ((const tw_variable *)object)->resource->dtype
           : which                 ? table->value_dtype
                                   : table->key_dtype;
}

typedef struct saver_body {
    const tw__model_writing *w;
    bool restores;
} saver_body;

static int count_tensors(const tw__model_writing *w)
{
    int count = 0;
    for (size_t i = 0; i < w->walk->count; i++)
        count += tensors_of(w, i);
    return count;
}

static tw_status fill_names(const tw__model_writing *w, tw_tensor *tensor)
{
    tw__auto(tw__text_free) tw__text key = { 0 };
    for (size_t i = 0, at = 0; i < w->walk->count; i++) {
        int count = tensors_of(w, i);
        for (int k = 0; k < count; k++) {
            TW_TRY(tw__walk_key(w->walk, i, &key));
            if (count == 2)
                tw__text_add(&key, k ? "-values" : "-keys");
            TW_TRY(tw__string_set(tensor, (int64_t)at++, key.data, key.size));
        }
    }
    return TW_OK;
}

/* The keys of all tensors in a checkpoint; or as many empty texts. */
static tw_tensor *key_names(const tw__model_writing *w, bool empty)
{
    tw_auto tw_tensor *tensor = tw_tensor_new(TW_STRING, TW_SHAPE((int64_t)count_tensors(w)), NULL);
    return tensor && (empty || fill_names(w, tensor) == TW_OK) ? tw_retain(tensor) : NULL;
}

static tw_status write_values(const tw__model_writing *w, tw_tensor *const *arguments, tw_tensor *names, tw_tensor *slices)
{
    int count = count_tensors(w), at = 3, argument = 1, outputs = 0;
    tw__held tw_tensor **inputs = tw__held_new((size_t)count + 3);
    TW_NEED(inputs);
    inputs[0] = tw_retain(arguments[0]);
    inputs[1] = tw_retain(names);
    inputs[2] = tw_retain(slices);
    for (size_t i = 0; i < w->walk->count; i++) {
        int tensors = tensors_of(w, i);
        tw_attr dtype = TW_A_TYPE("dtype", tensors ? dtype_of(w, i, 0) : TW_FLOAT32);
        if (tensors == 2)
            TW_TRY(
                tw__lookup_export((const struct tw_lookup_table *)w->walk->nodes[i].object, arguments[argument++], inputs + at));
        else if (tensors == 1)
            TW_NEED(inputs[at] = tw__call(&tw__op_ReadVariableOp, &arguments[argument++], 1, &dtype, 1));
        at += tensors;
    }
    return tw__apply(&tw__op_SaveV2, inputs, count + 3, NULL, 0, NULL, &outputs);
}

static tw_status read_values(const tw__model_writing *w, tw_tensor *const *arguments, tw_tensor *names, tw_tensor *slices)
{
    int count = count_tensors(w), outputs = count, at = 0, argument = 1, none = 0;
    tw__owned tw_dtype *dtypes = tw__alloc_array((size_t)count + 1, sizeof *dtypes);
    tw__held tw_tensor **values = tw__held_new((size_t)count);
    TW_NEED(dtypes && values);
    for (size_t i = 0; i < w->walk->count; i++) {
        for (int k = 0; k < tensors_of(w, i); k++)
            dtypes[at++] = dtype_of(w, i, k);
    }
    tw_attr types = TW_A_TYPES("dtypes", dtypes, count);
    TW_TRY(tw__apply(&tw__op_RestoreV2, TW_IN(arguments[0], names, slices), 3, &types, 1, values, &outputs));
    at = 0;
    for (size_t i = 0; i < w->walk->count; i++) {
        int tensors = tensors_of(w, i);
        tw_attr dtype = TW_A_TYPE("dtype", tensors ? dtypes[at] : TW_FLOAT32);
        if (tensors == 2)
            TW_TRY(tw__lookup_import((const struct tw_lookup_table *)w->walk->nodes[i].object, arguments[argument++], values[at],
                                     values[at + 1]));
        else if (tensors == 1)
            TW_TRY(tw__apply(&tw__op_AssignVariableOp, TW_IN(arguments[argument++], values[at]), 2, &dtype, 1, NULL, &none));
        at += tensors;
    }
    return TW_OK;
}

static tw_status run_saver(void *context, tw_tensor *const *arguments, int count, tw_tensor ***outputs, int *output_count)
{
    const saver_body *body = context;
    tw_auto tw_tensor *names = key_names(body->w, false), *slices = names ? key_names(body->w, true) : NULL;
    TW_NEED(slices);
    if (count > 1)
        TW_TRY((body->restores ? read_values : write_values)(body->w, arguments, names, slices));
    TW_NEED(*outputs = tw__alloc_array(1, sizeof **outputs));
    (*outputs)[0] = tw_retain(arguments[0]);
    *output_count = 1;
    return tw__function_name_results(*outputs, 1);
}

/* Traces one of the two and calls it; gives the name of the call. */
static char *add_saver(tw__model_writing *w, bool restores, tw_tensor *filename, tw__function **function)
{
    int count = 1;
    for (size_t i = 0; i < w->walk->count; i++)
        count += tensors_of(w, i) != 0;
    tw__owned tw_dtype *dtypes = tw__alloc_array((size_t)count, sizeof *dtypes);
    tw__owned tw_shape *shapes = tw__alloc_array((size_t)count, sizeof *shapes);
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
            if (!tensors_of(w, i))
                continue;
            inputs[at] = w->handles[i];
            dtypes[at] = TW_RESOURCE;
            shapes[at++] = TW_SCALAR;
        }
        tw__graph *outer = tw__tracing;
        tw__tracing = NULL;
        *function = tw__function_trace_named(restores ? "__inference__traced_restore_2" : "__inference__traced_save_1", names,
                                             dtypes, shapes, count, run_saver, &(saver_body){ w, restores });
        tw__tracing = outer;
        if (*function && tw__function_call_plain(*function, inputs, &output) == TW_OK)
            name = tw__strdup(output->node->name);
    }
    tw_release(output);
    tw__free(names);
    tw__free(inputs);
    return name;
}

static tw_status add_savers(tw__model_writing *w)
{
    tw_tensor *filename = tw__graph_placeholder(w->graph, TW_STRING, &TW_SCALAR, "saver_filename");
    char *save = filename ? add_saver(w, false, filename, &w->save) : NULL,
         *restore = save ? add_saver(w, true, filename, &w->restore) : NULL;
    tw__owned char *output = restore ? tw__format("%s:0", save) : NULL;
    if (output) {
        tw__put_text(&w->saver, TW_SaverDef_filename_tensor_name, "saver_filename:0");
        tw__put_text(&w->saver, TW_SaverDef_save_tensor_name, output);
        tw__put_text(&w->saver, TW_SaverDef_restore_op_name, restore);
        tw__put_SaverDef_version(&w->saver, 2);
    }
    tw_release(filename);
    tw__free(save);
    tw__free(restore);
    tw_status status = output ? TW_OK : tw__error_status();
    return status;
}

tw_status tw__saved_model_graph(tw__model_writing *w, const tw_saved_object *signatures)
{
    for (size_t i = 0; i < w->walk->count; i++) {
        if (tw__holds_value(w->walk->nodes[i].object))
            TW_TRY(add_variable(w, i));
        else if (tw__is(w->walk->nodes[i].object, &tw__class_saved_constant))
            TW_TRY(add_constant(w, i));
        else if (tw__is(w->walk->nodes[i].object, &tw__class_lookup_table))
            TW_TRY(add_table(w, i));
    }
    for (size_t i = 0; signatures && i < signatures->trackable.child_count; i++)
        TW_TRY(add_signature(w, signatures->trackable.children[i].name,
                             (tw_saved_concrete *)signatures->trackable.children[i].object));
    TW_TRY(add_first(w));
    return add_savers(w);
}
