/* The gradients that a library registers: those of its nodes, and their functions (registered.h). */
#include "function/library_inside.h"

tw__registered *tw__library_gradient(const tw__library *library, size_t index)
{
    return index < library->message.gradient_count ? library->gradients[index] : NULL;
}

static tw_status add_gradient(tw__library *library, tw_string type, tw_string name, bool named)
{
    TW_TRY(TW_GROW(library->gradients, library->gradient_capacity, library->gradient_count + 1));
    tw__registered *made = tw__registered_new(type, name, named);
    TW_NEED(made);
    library->gradients[library->gradient_count++] = made;
    return tw__map_put(&library->gradient_types, type.data, type.size, (void *)(intptr_t)library->gradient_count);
}

tw_status tw__library_read_gradients(tw__library *library)
{
    const tw__graph_message *message = &library->message;
    for (size_t i = 0; i < message->gradient_count; i++)
        TW_TRY(add_gradient(library, message->gradients[i].name, message->gradients[i].value, true));
    return TW_OK;
}

/* For nodes: the gradient that the file registers for the op type. Its function is built later (build_gradients), as that may
 * fail. */
tw_status tw__library_own_gradient(void *context, const tw__build *build, tw__node *node, tw_string type)
{
    tw__library *library = context;
    const tw__function_message *within = NULL;
    for (size_t i = 0; !within && i < library->message.function_count; i++)
        within = library->message.functions[i].nodes == build->nodes ? &library->message.functions[i] : NULL;
    intptr_t place = (intptr_t)tw__map_get(&library->gradient_types, type.data, type.size);
    if (!place) {
        TW_TRY(add_gradient(library, type, (tw_string){ "", 0 }, false));
        place = (intptr_t)library->gradient_count;
    }
    tw__registered *registered = library->gradients[place - 1];
    tw__loaded_gradient *loaded = tw__loaded_gradient_new(registered);
    TW_NEED(loaded);
    tw_string name = { node->name, strlen(node->name) };
    for (size_t i = 0; i < registered->capture_count; i++)
        loaded->places[i] = tw__registered_place(&library->message, within, name, type, &registered->captures[i]);
    node->gradient = &loaded->own.object;
    node->gradient_type = tw__strdup(registered->type);
    TW_TRY(node->gradient_type ? TW_GROW(library->wanted, library->wanted_capacity, library->wanted_count + 1)
                               : TW_RESOURCE_EXHAUSTED);
    library->wanted[library->wanted_count++] = (size_t)place - 1;
    return TW_OK;
}

/* Whether a gradient's function reaches a node whose gradient it is. */
static tw_status reaches_itself(tw__library *library, size_t gradient, bool *result)
{
    const tw__graph_message *message = &library->message;
    *result = false;
    tw__auto(tw__called_end) tw__called list = { .library = library };
    tw__owned bool *seen = tw__alloc_array(message->function_count + 1, sizeof *seen);
    tw_string name = { library->gradients[gradient]->name, strlen(library->gradients[gradient]->name) };
    TW_NEED(seen);
    TW_TRY(tw__library_add_called(&list, name));
    for (size_t next = 0; !*result && next < list.count; next++) {
        const tw__function_message *function = &message->functions[list.items[next]];
        if (seen[list.items[next]])
            continue;
        seen[list.items[next]] = true;
        TW_TRY(tw__library_find_called(&list, function->nodes, function->node_count));
        for (size_t i = 0; i < function->node_count; i++) {
            tw_string type = tw__gradient_note(&function->nodes[i]);
            size_t place = type.size ? (size_t)(intptr_t)tw__map_get(&library->gradient_types, type.data, type.size) : 0;
            *result |= place == gradient + 1;
            if (place && library->gradients[place - 1]->name) {
                const char *inner = library->gradients[place - 1]->name;
                TW_TRY(tw__library_add_called(&list, (tw_string){ inner, strlen(inner) }));
            }
        }
    }
    return TW_OK;
}

static tw_status build_gradient(tw__library *library, size_t gradient)
{
    tw__registered *registered = library->gradients[gradient];
    bool circle = false;
    TW_TRY(reaches_itself(library, gradient, &circle));
    if (circle)
        return tw__fail(TW_INVALID_ARGUMENT, "the gradient function '%s' uses itself", registered->name);
    tw__auto(tw__called_end) tw__called list = { .library = library };
    tw_string name = { registered->name, strlen(registered->name) };
    TW_TRY(tw__library_add_called(&list, name));
    TW_TRY(tw__library_build_called(&list));
    registered->function = tw_retain(library->entries[tw__library_find(library, name)].function);
    return TW_OK;
}

/* What can't be built is told to who asks for the gradient: most do not. */
tw_status tw__library_build_gradients(tw__library *library)
{
    while (library->gradients_built < library->wanted_count) {
        size_t gradient = library->wanted[library->gradients_built++];
        tw__registered *registered = library->gradients[gradient];
        if (registered->function || registered->problem || build_gradient(library, gradient) == TW_OK)
            continue;
        char *text = tw__strdup(tw_error_message());
        tw_clear_error();
        TW_TRY(tw__registered_problem(registered, text));
    }
    return TW_OK;
}
