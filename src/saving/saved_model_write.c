/* The SavedModel message of objects; see saved_model.h for what is where. */
#include <stdio.h>

#include "saving/saved_gradient.h"
#include "saving/saved_model_write.h"

tw__object_words (*tw__object_words_hook)(const tw_trackable *object);

/* ---- the object graph ---- */

/* Object functions keep their names in the file: they come first, and no two have one. */
static tw_status note_function(tw__model_writing *w, tw_saved_concrete *concrete)
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
        status = tw__structured_write(&body, TW_FunctionSpec_fullargspec, &specification->list.items[0]);
    if (status == TW_OK)
        status = tw__structured_write(&body, TW_FunctionSpec_input_signature, given ? &specification->list.items[1] : &none);
    tw__put_message(text, number, &body);
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
    tw__put_text(&body, TW_SavedBareConcreteFunction_concrete_function_name, concrete->function->name);
    for (size_t i = 0; i < concrete->keyword_count; i++)
        tw__put_SavedBareConcreteFunction_argument_keywords(&body, concrete->keywords[i], strlen(concrete->keywords[i]));
    if (concrete->positional)
        tw__put_SavedBareConcreteFunction_allowed_positional_arguments(&body, concrete->positional < 0
                                                                                  ? (int64_t)concrete->keyword_count
                                                                                  : concrete->positional);
    tw_status status = TW_OK;
    const tw_value *inputs = &concrete->inputs;
    if (inputs->kind == TW_VALUE_TUPLE && inputs->list.count == 2 &&
        inputs->list.items[0].list.count == 0) { /* by names only: a signature */
        tw_value specification = keyword_specification(concrete);
        status = write_specification(&body, TW_SavedBareConcreteFunction_function_spec, &specification);
        tw_value_free(&specification);
    }
    tw__put_message(text, TW_SavedObject_bare_concrete_function, &body);
    return status;
}

static tw_status write_function(tw__text *text, const tw_saved_function *function)
{
    tw__text body = { 0 };
    for (size_t i = 0; i < function->concrete_count; i++)
        tw__put_text(&body, TW_SavedFunction_concrete_functions, function->concretes[i]->function->name);
    tw_status status = write_specification(&body, TW_SavedFunction_function_spec, &function->specification);
    tw__put_message(text, TW_SavedObject_function, &body);
    return status;
}

static void write_variable(tw__text *text, const tw_variable *variable)
{
    tw__text body = { 0 };
    const tw__resource *resource = variable->resource;
    tw__put_SavedVariable_dtype(&body, resource->dtype);
    tw__shape_message_write(&body, TW_SavedVariable_shape, &resource->shape);
    if (variable->trainable)
        tw__put_SavedVariable_trainable(&body, true);
    if (variable->synchronization)
        tw__put_SavedVariable_synchronization(&body, variable->synchronization);
    if (variable->aggregation)
        tw__put_SavedVariable_aggregation(&body, variable->aggregation);
    tw__put_SavedVariable_name(&body, variable->name, strlen(variable->name) - (tw__ends_with(variable->name, ":0") ? 2 : 0));
    tw__put_message(text, TW_SavedObject_variable, &body);
}

static void write_user_object(tw__text *text, const tw_trackable *object)
{
    tw__object_words words = { "_generic_user_object", 1 };
    tw__text body = { 0 }, version = { 0 };
    if (tw__is(object, &tw__class_saved_object))
        words.identifier = ((const tw_saved_object *)object)->identifier;
    else if (tw__is(object, &tw__container_class))
        words.identifier = tw__is(object, &tw__tuple_class)  ? "trackable_tuple_wrapper"
                           : tw__is(object, &tw__dict_class) ? "trackable_dict_wrapper"
                                                             : "trackable_list_wrapper";
    if (tw__object_words_hook && tw__object_words_hook(object).identifier)
        words = tw__object_words_hook(object);
    tw__put_text(&body, TW_SavedUserObject_identifier, words.identifier);
    tw__put_VersionDef_producer(&version, words.producer);
    tw__put_VersionDef_min_consumer(&version, 1);
    tw__put_message(&body, TW_SavedUserObject_version, &version);
    tw__put_message(text, TW_SavedObject_user_object, &body);
}

/* The object that stands under a name below the node; 0: none. */
static uint64_t child_number(const tw__model_writing *w, size_t node, const char *name)
{
    size_t count = tw__walk_child_count(w->walk, node);
    for (size_t i = 0; i < count; i++) {
        const tw__child *child = tw__walk_child(w->walk, node, i);
        if (strcmp(child->name, name) == 0)
            return (uint64_t)tw__pointer_map_get(&w->walk->ids, child->object, 0);
    }
    return 0;
}

/* A SavedResource, and what saves and restores it. */
static void write_table(tw__text *text, const tw__model_writing *w, size_t node)
{
    const tw_trackable *table = w->walk->nodes[node].object;
    tw__put_SavedObject_resource(text, "", 0);
    if (tw__lookup_saves(table)) {
        tw__text value = { 0 };
        tw__put_SaveableObject_save_function(&value, (int64_t)child_number(w, node, TW__TABLE_SAVE));
        tw__put_SaveableObject_restore_function(&value, (int64_t)child_number(w, node, TW__TABLE_RESTORE));
        tw__put_entry(text, TW_SavedObject_saveable_objects, TW__TABLE_NAME, &value);
    }
    if (tw__is(table, &tw__class_lookup_static_hash_table))
        tw__put_text(text, TW_SavedObject_registered_name, "tf.StaticHashTable");
}

static tw_status write_object(tw__text *text, const tw__model_writing *w, size_t node)
{
    const tw_trackable *object = w->walk->nodes[node].object;
    size_t count = tw__walk_child_count(w->walk, node);
    for (size_t i = 0; i < count; i++) {
        const tw__child *child = tw__walk_child(w->walk, node, i);
        if (strcmp(child->name, TW__TABLE_SAVE) == 0 || strcmp(child->name, TW__TABLE_RESTORE) == 0)
            continue; /* known by their numbers only, as TensorFlow has it */
        tw__text part = { 0 };
        uint64_t id = (uint64_t)tw__pointer_map_get(&w->walk->ids, child->object, 0);
        if (id)
            tw__put_TrackableObjectGraph_TrackableObject_ObjectReference_node_id(&part, (int64_t)id);
        tw__put_text(&part, TW_TrackableObjectGraph_TrackableObject_ObjectReference_local_name, child->name);
        tw__put_message(text, TW_SavedObject_children, &part);
    }
    tw__walk_write_slots(w->walk, node, text);
    if (tw__is(object, &tw__class_lookup_table) && w->handles[node]) {
        write_table(text, w, node);
    } else if (tw__holds_value(object)) {
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
            tw__put_SavedAsset_asset_file_def_index(&body, tw__pointer_map_get(&w->asset_places, object, 0));
        else
            tw__put_text(&body, TW_SavedConstant_operation, tw__map_get(&w->constants, key, strlen(key)));
        tw__put_message(text, asset ? TW_SavedObject_asset : TW_SavedObject_constant, &body);
    } else {
        write_user_object(text, object);
    }
    return TW_OK;
}

/* SavedConcreteFunction by name. */
static tw_status write_signature_of(tw__text *text, const tw__model_writing *w, const tw_saved_concrete *concrete)
{
    tw__text body = { 0 }, bound = { 0 };
    for (size_t i = 0; i < concrete->bound_count; i++)
        tw__varint_add(&bound, (uint64_t)tw__pointer_map_get(&w->walk->ids, concrete->bound[i], 0));
    tw__put_message(&body, TW_SavedConcreteFunction_bound_inputs, &bound);
    tw_status status = tw__structured_write(&body, TW_SavedConcreteFunction_canonicalized_input_signature, &concrete->inputs);
    if (status == TW_OK)
        status = tw__structured_write(&body, TW_SavedConcreteFunction_output_signature, &concrete->outputs);
    tw__put_entry(text, TW_SavedObjectGraph_concrete_functions, concrete->function->name, &body);
    if (status != TW_OK)
        tw__error_prefix("function '%s': ", concrete->function->name);
    return status;
}

static tw_status each_concrete(tw__model_writing *w,
                               tw_status (*act)(tw__model_writing *w, tw_saved_concrete *concrete, void *context), void *context)
{
    for (size_t i = 0; i < w->walk->count; i++) {
        tw_trackable *object = w->walk->nodes[i].object;
        if (tw__is(object, &tw__class_saved_concrete))
            TW_TRY(act(w, (tw_saved_concrete *)object, context));
    }
    return TW_OK;
}

static tw_status note_one(tw__model_writing *w, tw_saved_concrete *concrete, void *context)
{
    (void)context;
    return note_function(w, concrete);
}

static tw_status write_one(tw__model_writing *w, tw_saved_concrete *concrete, void *context)
{
    tw__map *written = ((void **)context)[1];
    if (tw__map_has(written, concrete->function->name, strlen(concrete->function->name)))
        return TW_OK;
    TW_TRY(tw__map_put(written, concrete->function->name, strlen(concrete->function->name), concrete));
    return write_signature_of(((void **)context)[0], w, concrete);
}

/* Captured tensors are nodes behind all objects, as they are no objects here. */
static void write_captured(tw__text *text, const tw__gradient_capture *capture)
{
    tw__text body = { 0 }, node = { 0 };
    tw__put_text(&body, TW_CapturedTensor_name, capture->name);
    tw__put_text(&body, TW_CapturedTensor_concrete_function, capture->owner);
    tw__put_message(&node, TW_SavedObject_captured_tensor, &body);
    tw__put_message(text, TW_SavedObjectGraph_nodes, &node);
}

static tw_status write_gradients(tw__text *text, const tw__model_writing *w)
{
    uint64_t next = w->walk->count;
    for (size_t i = 0; i < w->gradients->count; i++) {
        const tw__saved_gradient *g = &w->gradients->items[i];
        tw__text body = { 0 }, bound = { 0 };
        for (size_t k = 0; k < g->written.capture_count; k++) {
            tw__varint_add(&bound, g->objects[k] ? (uint64_t)tw__pointer_map_get(&w->walk->ids, g->objects[k], 0) : next++);
            if (!g->objects[k])
                write_captured(text, &g->written.captures[k]);
        }
        tw__put_message(&body, TW_SavedConcreteFunction_bound_inputs, &bound);
        tw_status status = tw__structured_write(&body, TW_SavedConcreteFunction_canonicalized_input_signature, &g->inputs);
        if (status == TW_OK)
            status = tw__structured_write(&body, TW_SavedConcreteFunction_output_signature, &g->outputs);
        tw__put_entry(text, TW_SavedObjectGraph_concrete_functions, g->written.name, &body);
        TW_TRY(status);
    }
    return TW_OK;
}

static tw_status write_objects(tw__text *text, tw__model_writing *w)
{
    tw__auto(tw__text_free) tw__text node = { 0 };
    tw__auto(tw__map_end) tw__map written = { 0 };
    for (size_t i = 0; i < w->walk->count; i++) {
        tw__text_clear(&node);
        TW_TRY(write_object(&node, w, i));
        tw__put_SavedObjectGraph_nodes(text, node.data, node.size);
        text->failed |= node.failed;
    }
    TW_TRY(each_concrete(w, write_one, (void *[]){ text, &written }));
    return write_gradients(text, w);
}

/* ---- the whole ---- */

static void write_information(tw__text *text)
{
    tw__text body = { 0 };
    tw__put_text(&body, TW_MetaGraphDef_MetaInfoDef_tags, "serve");
    tw__put_text(&body, TW_MetaGraphDef_MetaInfoDef_tensorflow_version, "2.15.1");
    tw__put_message(text, TW_MetaGraphDef_meta_info_def, &body);
}

static void write_init(tw__text *text)
{
    tw__text list = { 0 }, collection = { 0 }, signature = { 0 }, info = { 0 };
    tw__put_text(&list, TW_CollectionDef_NodeList_value, "NoOp");
    tw__put_message(&collection, TW_CollectionDef_node_list, &list);
    tw__put_entry(text, TW_MetaGraphDef_collection_def, "saved_model_main_op", &collection);
    tw__put_text(&info, TW_TensorInfo_name, "NoOp");
    tw__shape_message_write(&info, TW_TensorInfo_tensor_shape, &TW_UNKNOWN_SHAPE);
    tw__put_entry(&signature, TW_SignatureDef_outputs, "__saved_model_init_op", &info);
    tw__put_entry(text, TW_MetaGraphDef_signature_def, "__saved_model_init_op", &signature);
}

static void write_assets(tw__text *text, const tw__model_writing *w)
{
    for (size_t i = 0; i < w->asset_count; i++) {
        tw__text asset = { 0 }, info = { 0 };
        char key[24];
        snprintf(key, sizeof key, "%lld", (long long)tw__pointer_map_get(&w->walk->ids, w->assets[i], 0));
        char *tensor = tw__format("%s:0", (const char *)tw__map_get(&w->constants, key, strlen(key)));
        tw__put_text(&info, TW_TensorInfo_name, tensor ? tensor : "");
        tw__free(tensor);
        tw__put_message(&asset, TW_AssetFileDef_tensor_info, &info);
        tw__put_text(&asset, TW_AssetFileDef_filename, tw__path_name(w->assets[i]->asset));
        tw__put_message(text, TW_MetaGraphDef_asset_file_def, &asset);
    }
}

static tw_status write_meta_graph(tw__text *text, tw__model_writing *w)
{
    tw__text graph = { 0 }, objects = { 0 };
    write_information(text);
    tw__written_gradient **gradients = tw__alloc_array(w->gradients->count + 1, sizeof *gradients);
    for (size_t i = 0; gradients && i < w->gradients->count; i++)
        gradients[i] = &w->gradients->items[i].written;
    tw_status status = gradients ? tw__graphdef_write_all(&graph, w->graph, 0, w->functions, (int)w->function_count, gradients,
                                                          w->gradients->count)
                                 : TW_RESOURCE_EXHAUSTED;
    tw__free(gradients);
    tw__put_message(text, TW_MetaGraphDef_graph_def, &graph);
    tw__put_message(text, TW_MetaGraphDef_saver_def, &w->saver);
    write_init(text);
    tw__text_bytes(text, w->signatures.data, w->signatures.size);
    write_assets(text, w);
    if (status == TW_OK)
        status = write_objects(&objects, w);
    tw__put_message(text, TW_MetaGraphDef_object_graph_def, &objects);
    text->failed |= w->signatures.failed;
    return status == TW_OK && text->failed ? TW_RESOURCE_EXHAUSTED : status;
}

tw_status tw__saved_model_write(tw__text *text, const tw__saved_model_parts *parts, tw_saved_constant ***assets,
                                size_t *asset_count)
{
    tw__model_writing w = { .walk = parts->walk, .gradients = parts->gradients };
    tw__text meta = { 0 };
    w.handles = tw__alloc_array(parts->walk->count, sizeof *w.handles);
    w.graph = w.handles ? tw__graph_new(NULL) : NULL;
    tw_status status = w.graph ? each_concrete(&w, note_one, NULL) : TW_RESOURCE_EXHAUSTED;
    tw__tape_stack hidden = tw__tapes_hide();
    tw__graph *outer = tw__tracing;
    tw__tracing = w.graph;
    if (status == TW_OK)
        status = tw__saved_model_graph(&w, parts->signatures);
    tw__tracing = outer;
    tw__tapes_show(hidden);
    if (status == TW_OK)
        status = write_meta_graph(&meta, &w);
    tw__put_SavedModel_saved_model_schema_version(text, 1);
    tw__put_message(text, TW_SavedModel_meta_graphs, &meta);
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
