/* Making objects of a SavedModel; see saved_model.h. Objects are made first, each once, then connected by their names; so cycles
 * are nothing special. Variables get their values from the checkpoint in the directory, whose object graph has the same numbers
 * as the file's. */
#include "saving/saved_model.h"

#include "op/guard.h"

typedef struct loading {
    tw__saved_model_message message;
    const char *directory;
    tw__library *library;
    tw_trackable **objects;        /* by node; references */
    tw_saved_concrete **concretes; /* by place in the message; references, made when first used */
} loading;

static char *text_of(tw_string string)
{
    return tw__strndup(string.size ? string.data : "", string.size);
}

/* ---- one kind each ---- */

static tw_trackable *make_user_object(const tw__object_message *node)
{
    tw__SavedUserObject from;
    bool good = tw__read_SavedUserObject(node->body, &from);
    tw_saved_object *object = tw__saved_object_new("");
    if (!good || !object)
        return object ? &object->trackable : NULL;
    tw__free(object->identifier);
    tw__free(object->metadata);
    object->identifier = text_of(from.identifier);
    object->metadata = tw__has(from.metadata) ? text_of(from.metadata) : NULL;
    if (object->identifier && (object->metadata || !tw__has(from.metadata)))
        return &object->trackable;
    tw_release(object);
    return NULL;
}

static tw_trackable *make_variable(const loading *l, size_t number, const tw__object_message *node)
{
    tw__SavedVariable from;
    tw_shape shape = TW_UNKNOWN_SHAPE;
    bool good = tw__read_SavedVariable(node->body, &from);
    tw_dtype dtype = good && from.dtype >= 0 && from.dtype < TW_DTYPE_LIMIT ? (tw_dtype)from.dtype : TW_DTYPE_NONE;
    if (good && tw__has(from.shape) && tw__shape_message_read(from.shape, &shape) != TW_OK)
        return NULL;
    if (!good || !tw_dtype_size(dtype) || dtype == TW_RESOURCE || dtype == TW_VARIANT || (uint32_t)from.synchronization > 3 ||
        (uint32_t)from.aggregation > 3) {
        tw__fail(TW_DATA_LOSS, "%s: object_graph_def.nodes[%zu].variable can't be read (dtype %d)", l->message.path, number,
                 (int)dtype);
        return NULL;
    }
    tw_variable *variable = tw__object_new(&tw__class_variable);
    char *text = variable ? text_of(from.name.size ? from.name : (tw_string){ "Variable", 8 }) : NULL;
    if (text)
        variable->name = tw__format("%s:0", text);
    if (variable) {
        variable->synchronization = (uint8_t)from.synchronization;
        variable->aggregation = (uint8_t)from.aggregation;
    }
    tw__resource *resource = variable && variable->name ? tw__resource_new(dtype, &shape, text) : NULL;
    tw__free(text);
    if (variable && tw__variable_hold(variable, resource, from.trainable) == TW_OK)
        return &variable->trackable;
    tw_release(variable);
    return NULL;
}

/* The Const of that name among the graph's nodes. */
static tw_tensor *find_constant(const loading *l, tw_string name)
{
    const tw__graph_message *graph = tw__library_message(l->library);
    for (size_t i = 0; i < graph->node_count; i++) {
        const tw__node_message *node = &graph->nodes[i];
        if (node->name.size != name.size || memcmp(node->name.data, name.data, name.size) != 0 ||
            !tw__string_is(node->op, "Const"))
            continue;
        tw_string bytes = tw__pair_find(node->attrs, node->attr_count, "value");
        tw_attr attr = { 0 };
        void *block = NULL, *object = NULL;
        size_t budget = (size_t)1 << 30;
        tw_status status = tw__attr_message_read(bytes, TW_ATTR_TENSOR, NULL, &budget, &attr, &block, &object);
        tw__free(block);
        if (status == TW_OK)
            return object;
        tw_release(object);
        return NULL;
    }
    tw__fail(TW_DATA_LOSS, "%s: graph_def has no Const '%.*s', which an object is", l->message.path, TW_SHOWN(name));
    return NULL;
}

static tw_trackable *make_constant(const loading *l, const tw__object_message *node)
{
    tw__SavedConstant from;
    tw_auto tw_tensor *value =
        find_constant(l, tw__read_SavedConstant(node->body, &from) ? from.operation : (tw_string){ "", 0 });
    tw_saved_constant *constant = value ? tw__saved_constant_new(value, NULL) : NULL;
    return constant ? &constant->trackable : NULL;
}

static tw_trackable *make_asset(const loading *l, size_t number, const tw__object_message *node)
{
    tw__SavedAsset from;
    size_t index = tw__read_SavedAsset(node->body, &from) ? tw__saved_index(from.asset_file_def_index) : SIZE_MAX;
    if (index >= l->message.asset_count) {
        tw__fail(TW_DATA_LOSS, "%s: object_graph_def.nodes[%zu].asset.asset_file_def_index is %llu, but there are %zu assets",
                 l->message.path, number, (unsigned long long)index, l->message.asset_count);
        return NULL;
    }
    char *name = text_of(l->message.assets[index]), *inside = name ? tw__format("assets/%s", tw__path_name(name)) : NULL;
    tw__owned char *path = inside ? tw__path_join(l->directory, inside) : NULL;
    tw_saved_constant *constant = path ? tw__saved_constant_new(NULL, path) : NULL;
    tw__free(name);
    tw__free(inside);
    return constant ? &constant->trackable : NULL;
}

/* ---- functions ---- */

/* A FunctionSpec as (fullargspec, input_signature). */
static tw_status read_specification(tw_string bytes, tw_value *value)
{
    tw__FunctionSpec from;
    tw_value *items = tw__alloc_array(2, sizeof *items);
    if (!items)
        return TW_RESOURCE_EXHAUSTED;
    *value = (tw_value){ .kind = TW_VALUE_TUPLE, .list = { items, 2 } };
    if (!tw__read_FunctionSpec(bytes, &from))
        return tw__fail(TW_DATA_LOSS, "function_spec can't be read");
    TW_TRY(tw__structured_read(from.fullargspec, &items[0]));
    return tw__structured_read(from.input_signature, &items[1]);
}

static tw_status set_up_concrete(const loading *l, const tw__concrete_message *message, tw_saved_concrete *concrete)
{
    concrete->name = text_of(message->name);
    concrete->library = tw_retain(l->library);
    TW_TRY(concrete->name ? TW_OK : TW_RESOURCE_EXHAUSTED);
    tw_status status = tw__structured_read(message->inputs, &concrete->inputs);
    if (status == TW_OK)
        status = tw__structured_read(message->outputs, &concrete->outputs);
    if (status == TW_UNIMPLEMENTED) /* it may be that nobody calls it */
        tw_clear_error();
    else if (status != TW_OK)
        tw__error_prefix("%s: object_graph_def.concrete_functions['%s']: ", l->message.path, concrete->name);
    return status == TW_UNIMPLEMENTED ? TW_OK : status;
}

/* Borrowed. What it is bound to is filled in at the end. */
static tw_saved_concrete *concrete_of(loading *l, tw_string name, size_t number)
{
    intptr_t place = (intptr_t)tw__map_get(&l->message.concrete_names, name.data, name.size);
    if (!place) {
        tw__fail(TW_DATA_LOSS, "%s: object_graph_def.nodes[%zu] is the function '%.*s', which concrete_functions does not have",
                 l->message.path, number, TW_SHOWN(name));
        return NULL;
    }
    if (l->concretes[place - 1])
        return l->concretes[place - 1];
    tw_saved_concrete *concrete = tw__saved_concrete_new(NULL, (tw_value){ 0 }, (tw_value){ 0 });
    if (concrete && set_up_concrete(l, &l->message.concretes[place - 1], concrete) != TW_OK) {
        tw_release(concrete);
        return NULL;
    }
    return l->concretes[place - 1] = concrete;
}

static tw_trackable *make_function(loading *l, size_t number, const tw__object_message *node)
{
    tw__SavedFunction from;
    tw_saved_function *function = tw__saved_function_new((tw_value){ .kind = TW_VALUE_NONE });
    tw_status status = function ? TW_OK : TW_RESOURCE_EXHAUSTED;
    if (status == TW_OK && !tw__read_SavedFunction(node->body, &from))
        status = tw__fail(TW_DATA_LOSS, "%s: object_graph_def.nodes[%zu].function can't be read", l->message.path, number);
    for (tw_string name; status == TW_OK && tw__next_bytes(&from.concrete_functions, &name);) {
        tw_saved_concrete *concrete = concrete_of(l, name, number);
        status = concrete ? tw__saved_function_add(function, concrete) : tw__error_status();
    }
    if (status == TW_OK && tw__has(from.function_spec)) {
        tw_value_free(&function->specification);
        status = read_specification(from.function_spec, &function->specification);
        if (status == TW_UNIMPLEMENTED) {
            tw_clear_error();
            status = TW_OK;
        }
    }
    if (status == TW_OK)
        return &function->trackable;
    tw_release(function);
    return NULL;
}

/* A signature, or a trace. Two nodes may be the same function: the first has the object, others are like it. */
static tw_trackable *make_bare(loading *l, size_t number, const tw__object_message *node)
{
    tw__SavedBareConcreteFunction from;
    if (!tw__read_SavedBareConcreteFunction(node->body, &from)) {
        tw__fail(TW_DATA_LOSS, "%s: object_graph_def.nodes[%zu].bare_concrete_function can't be read", l->message.path, number);
        return NULL;
    }
    tw_saved_concrete *concrete = concrete_of(l, from.concrete_function_name, number);
    if (concrete && !concrete->keywords) {
        char **made = tw__alloc_array((size_t)from.argument_keywords.count + 1, sizeof *made);
        size_t count = 0;
        tw_status status = made ? TW_OK : TW_RESOURCE_EXHAUSTED;
        for (tw_string keyword; status == TW_OK && tw__next_bytes(&from.argument_keywords, &keyword);)
            status = (made[count++] = text_of(keyword)) ? TW_OK : TW_RESOURCE_EXHAUSTED;
        if (status != TW_OK ||
            tw__saved_concrete_keywords(concrete, (const char **)made, count, from.allowed_positional_arguments) != TW_OK)
            concrete = NULL;
        while (count-- > 0)
            tw__free(made[count]);
        tw__free(made);
    }
    return concrete ? &((tw_saved_concrete *)tw_retain(concrete))->trackable : NULL;
}

/* ---- the whole ---- */

static tw_trackable *make_object(loading *l, size_t number)
{
    const tw__object_message *node = &l->message.nodes[number];
    switch (node->kind) {
    case TW_OBJECT_USER:
        return make_user_object(node);
    case TW_OBJECT_VARIABLE:
        return make_variable(l, number, node);
    case TW_OBJECT_FUNCTION:
        return make_function(l, number, node);
    case TW_OBJECT_BARE:
        return make_bare(l, number, node);
    case TW_OBJECT_CONSTANT:
        return make_constant(l, node);
    case TW_OBJECT_ASSET:
        return make_asset(l, number, node);
    case TW_OBJECT_RESOURCE: {
        struct tw_lookup_table *table = tw__lookup_loaded();
        return table ? &table->trackable : NULL;
    }
    default: {
        tw_saved_object *object = tw__saved_object_new("_generic_user_object");
        return object ? &object->trackable : NULL;
    }
    }
}

static tw_status connect(loading *l)
{
    for (size_t i = 0; i < l->message.node_count; i++) {
        const tw__object_message *node = &l->message.nodes[i];
        for (size_t k = 0; k < node->child_count; k++) {
            char *name = tw__strndup(node->children[k].name.data, node->children[k].name.size);
            tw_status status = name ? tw__track(l->objects[i], name, l->objects[node->children[k].node]) : TW_RESOURCE_EXHAUSTED;
            tw__free(name);
            TW_TRY(status);
        }
        for (size_t k = 0; k < node->slot_count; k++) {
            const tw__saved_slot *slot = &node->slots[k];
            char *name = tw__strndup(slot->name.data, slot->name.size);
            tw_status status = name ? tw__track_slot(l->objects[i], l->objects[slot->variable], name, l->objects[slot->node])
                                    : TW_RESOURCE_EXHAUSTED;
            tw__free(name);
            TW_TRY(status);
        }
    }
    for (size_t i = 0; i < l->message.concrete_count; i++) {
        tw_saved_concrete *concrete = l->concretes[i];
        const tw__concrete_message *message = &l->message.concretes[i];
        if (!concrete)
            continue;
        if (!(concrete->bound = tw__alloc_array(message->bound_count + 1, sizeof *concrete->bound)))
            return TW_RESOURCE_EXHAUSTED;
        for (size_t k = 0; k < message->bound_count; k++)
            concrete->bound[k] = tw_retain(l->objects[message->bound[k]]);
        concrete->bound_count = message->bound_count;
    }
    return TW_OK;
}

static bool is_resource(const loading *l, size_t node)
{
    return l->message.nodes[node].kind == TW_OBJECT_RESOURCE;
}

/* Tables are made by the functions that the file has for it. One of an op that is not here is refused where it is used. */
static tw_status make_tables(const loading *l)
{
    for (size_t i = 0; i < l->message.node_count; i++) {
        tw_tensor *handle = NULL;
        tw_status status = is_resource(l, i) ? tw__saved_table_run(l->objects[i], "_create_resource", &handle) : TW_OK;
        if (handle)
            status = tw__lookup_adopt((struct tw_lookup_table *)l->objects[i], handle);
        tw_release(handle);
        if (status == TW_RESOURCE_EXHAUSTED)
            return status;
        if (status != TW_OK)
            tw_clear_error();
    }
    return TW_OK;
}

static tw_status fill_tables(const loading *l)
{
    for (size_t i = 0; i < l->message.node_count; i++) {
        if (is_resource(l, i) && ((struct tw_lookup_table *)l->objects[i])->handle)
            TW_TRY(tw__saved_table_run(l->objects[i], "_initialize", NULL));
    }
    return TW_OK;
}

/* Every variable gets its value; one that has none in the file is an error. */
static tw_status restore(loading *l)
{
    bool any = false;
    for (size_t i = 0; i < l->message.node_count; i++)
        any |= l->message.nodes[i].kind == TW_OBJECT_VARIABLE || tw__lookup_saves(l->objects[i]);
    if (!any)
        return TW_OK;
    tw__owned char *prefix = tw__path_join(l->directory, "variables/variables");
    tw__saving_view view = { .root = l->objects[0] };
    tw_auto tw__restore *restored = prefix ? tw__restore_start(prefix, &view) : NULL;
    TW_NEED(restored);
    restored->expect_partial = true;
    for (size_t i = 0; i < l->message.node_count; i++) {
        if (l->message.nodes[i].kind != TW_OBJECT_VARIABLE || tw__resource_has_value(((tw_variable *)l->objects[i])->resource))
            continue;
        return tw__fail(TW_DATA_LOSS, "%s: has no value for the variable '%s' (object_graph_def.nodes[%zu] of %s)", prefix,
                        ((tw_variable *)l->objects[i])->name, i, l->message.path);
    }
    return TW_OK;
}

static tw_status set_tags(const loading *l, tw_saved_object *root)
{
    tw_value *items = tw__alloc_array(l->message.tag_count + 1, sizeof *items);
    if (!items)
        return TW_RESOURCE_EXHAUSTED;
    for (size_t i = 0; i < l->message.tag_count; i++) {
        char *text = text_of(l->message.tags[i]);
        items[i] = text ? (tw_value){ .kind = TW_VALUE_STR, .s = { text, l->message.tags[i].size } }
                        : (tw_value){ .kind = TW_VALUE_NONE };
    }
    root->tags = (tw_value){ .kind = TW_VALUE_LIST, .list = { items, (int64_t)l->message.tag_count } };
    root->directory = tw__strdup(l->directory);
    return root->directory ? TW_OK : TW_RESOURCE_EXHAUSTED;
}

static tw_status load_all(loading *l)
{
    const tw__saved_model_message *message = &l->message;
    l->library = tw__library_read(message->graph.data, message->graph.size);
    if (!l->library) {
        tw__error_prefix("%s: graph_def: ", message->path);
        return tw__error_status();
    }
    l->objects = tw__alloc_array(message->node_count, sizeof *l->objects);
    l->concretes = tw__alloc_array(message->concrete_count + 1, sizeof *l->concretes);
    if (!l->objects || !l->concretes)
        return TW_RESOURCE_EXHAUSTED;
    for (size_t i = 0; i < message->node_count; i++) {
        if (!(l->objects[i] = make_object(l, i)))
            return tw__error_status();
    }
    if (!tw__is(l->objects[0], &tw__class_saved_object))
        return tw__fail(TW_DATA_LOSS, "%s: object_graph_def.nodes[0] is no user_object", message->path);
    TW_TRY(connect(l));
    TW_TRY(tw__saved_gradients_read(l->library, message, l->objects));
    TW_TRY(make_tables(l));
    TW_TRY(restore(l));
    TW_TRY(fill_tables(l));
    return set_tags(l, (tw_saved_object *)l->objects[0]);
}

tw_saved_object *tw__saved_model_of_message(tw__saved_model_message *message, const char *directory)
{
    loading l = { .directory = directory, .message = *message };
    bool objects = message->has_objects && message->node_count;
    tw_saved_object *root = objects && load_all(&l) == TW_OK ? tw_retain(l.objects[0]) : NULL;
    if (!objects && (root = tw__saved_model_load_v1(message, directory)) && set_tags(&l, root) != TW_OK) {
        tw_release(root);
        root = NULL;
    }
    /* A file that was left half way may hold cycles. */
    for (size_t i = 0; l.objects && i < l.message.node_count; i++) {
        if (!root && l.objects[i])
            tw__object_clear(l.objects[i]);
    }
    for (size_t i = 0; l.concretes && i < l.message.concrete_count; i++)
        tw_release(l.concretes[i]);
    for (size_t i = 0; l.objects && i < l.message.node_count; i++)
        tw_release(l.objects[i]);
    tw__free(l.objects);
    tw__free(l.concretes);
    tw_release(l.library);
    tw__saved_model_message_free(&l.message);
    *message = (tw__saved_model_message){ 0 };
    return root;
}

tw_saved_object *tw__saved_model_load(const char *directory, const char *const *tags, size_t tag_count)
{
    tw__saved_model_message message;
    if (tw__saved_model_message_read(&message, directory, tags, tag_count) == TW_OK)
        return tw__saved_model_of_message(&message, directory);
    tw__saved_model_message_free(&message);
    return NULL;
}

/* One tag, or a list of them. */
static tw_status read_tags(const tw_value *value, const char ***tags, size_t *count)
{
    bool list = value->kind == TW_VALUE_LIST || value->kind == TW_VALUE_TUPLE;
    size_t number = list ? (size_t)value->list.count : value->kind == TW_VALUE_STR;
    *count = 0;
    if (!(*tags = tw__alloc_array(number + 1, sizeof **tags)))
        return TW_RESOURCE_EXHAUSTED;
    for (size_t i = 0; i < number; i++) {
        const tw_value *item = list ? &value->list.items[i] : value;
        if (item->kind != TW_VALUE_STR)
            return tw__fail(TW_TYPE_ERROR, "saved_model.load: tags are texts");
        (*tags)[(*count)++] = item->s.data;
    }
    return TW_OK;
}

TW_API(
    saved_model_load, "saved_model._load(export_dir: str, tags: value = None, trusted: bool = False) -> saved_object",
    "The root of the objects that a SavedModel holds, with their variables and functions. Functions of one that is not trusted may not read files "
    "that are not in its directory, write files, or call functions of the program: they fail with PERMISSION_DENIED.")
{
    const char **tags = NULL;
    size_t count = 0;
    tw_saved_object *root = NULL;
    const char *before = tw__guard_loading;
    tw__guard_loading = args->trusted ? NULL : args->export_dir;
    if (read_tags(&args->tags, &tags, &count) == TW_OK)
        root = tw__saved_model_load(args->export_dir, tags, count);
    tw__guard_loading = before;
    tw__free(tags);
    return root;
}

TW_API(saved_model_contains, "saved_model.contains_saved_model(export_dir: str) -> bool",
       "Whether a directory holds a SavedModel.\n"
       "export_dir: the folder")
{
    char *path = tw__path_join(args->export_dir, "saved_model.pb"), *text = path ? tw__format("%stxt", path) : NULL;
    bool there = text && (tw__path_exists(path) || tw__path_exists(text));
    tw__free(path);
    tw__free(text);
    return there;
}
