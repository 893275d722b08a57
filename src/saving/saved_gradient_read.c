/* What the gradient functions of a SavedModel captured and what they give, out of its object graph; see function/registered.h.
 *
 *     concrete_functions[NAME]  bound_inputs: variables, constants, captured tensors { 1 name, 2 function }
 *                               outputs: per input of the node None or a spec
 *
 * A function that can't be used as it stands there says so when its gradient is asked for. */
#include "function/registered.h"
#include "saving/saved_model.h"

typedef struct reading {
    const tw__saved_model_message *message;
    tw_trackable *const *objects;
} reading;

static tw_status read_captured(tw_string body, tw__registered_capture *capture)
{
    tw__CapturedTensor from;
    if (!tw__read_CapturedTensor(body, &from))
        return tw__fail(TW_DATA_LOSS, "a captured tensor that can't be read");
    capture->tensor = tw__has(from.name) ? tw__strndup(from.name.data, from.name.size) : NULL;
    capture->function =
        tw__has(from.concrete_function) ? tw__strndup(from.concrete_function.data, from.concrete_function.size) : NULL;
    return (tw__has(from.name) && !capture->tensor) || (tw__has(from.concrete_function) && !capture->function)
               ? TW_RESOURCE_EXHAUSTED
               : TW_OK;
}

static tw_status read_capture(const reading *r, tw__registered *registered, int32_t node, tw__registered_capture *capture)
{
    const tw_trackable *object = r->objects[node];
    if (r->message->nodes[node].kind == TW_OBJECT_CAPTURED)
        TW_TRY(read_captured(r->message->nodes[node].body, capture));
    else if (tw__is(object, &tw__class_variable))
        capture->value = tw_retain(((const tw_variable *)object)->handle);
    else if (tw__is(object, &tw__class_saved_constant))
        capture->value = tw_retain(((const tw_saved_constant *)object)->value);
    if (capture->value || (capture->tensor && capture->function))
        return TW_OK;
    return tw__registered_problem(
        registered, tw__format("%s: the gradient function '%s' is bound to object_graph_def.nodes[%d], which is of a kind that "
                               "is not supported",
                               r->message->path, registered->name, (int)node));
}

static tw_status read_sources(const reading *r, tw__registered *registered, const tw__concrete_message *concrete)
{
    tw_value outputs = { 0 };
    tw_status status = tw__structured_read(concrete->outputs, &outputs);
    bool list = status == TW_OK && (outputs.kind == TW_VALUE_LIST || outputs.kind == TW_VALUE_TUPLE);
    int64_t count = list ? outputs.list.count : 0;
    registered->sources = tw__alloc_array((size_t)count + 1, sizeof *registered->sources);
    for (int64_t i = 0; registered->sources && list && i < count; i++) {
        tw_spec spec;
        const tw_value *item = &outputs.list.items[i];
        if (item->kind != TW_VALUE_NONE && (list = tw__value_spec(item, &spec)))
            registered->sources[registered->source_count++] = (int)i;
    }
    tw_value_free(&outputs);
    if (!registered->sources)
        return TW_RESOURCE_EXHAUSTED;
    if (status != TW_OK)
        tw_clear_error();
    return list ? TW_OK
                : tw__registered_problem(registered, tw__format("%s: the gradient function '%s' gives other things than tensors",
                                                                r->message->path, registered->name));
}

static tw_status read_one(const reading *r, tw__registered *registered)
{
    intptr_t place = (intptr_t)tw__map_get(&r->message->concrete_names, registered->name, strlen(registered->name));
    const tw__concrete_message *concrete = place ? &r->message->concretes[place - 1] : NULL;
    if (!concrete || registered->known)
        return TW_OK;
    registered->known = true;
    TW_TRY(read_sources(r, registered, concrete));
    if (!(registered->captures = tw__alloc_array(concrete->bound_count + 1, sizeof *registered->captures)))
        return TW_RESOURCE_EXHAUSTED;
    for (size_t i = 0; i < concrete->bound_count; i++) {
        registered->capture_count = i + 1;
        TW_TRY(read_capture(r, registered, concrete->bound[i], &registered->captures[i]));
    }
    return TW_OK;
}

tw_status tw__saved_gradients_read(const tw__library *library, const tw__saved_model_message *message,
                                   tw_trackable *const *objects)
{
    reading r = { message, objects };
    tw__registered *registered;
    for (size_t i = 0; (registered = tw__library_gradient(library, i)); i++)
        TW_TRY(read_one(&r, registered));
    return TW_OK;
}
