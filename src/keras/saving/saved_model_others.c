/* What a program hung on a model besides its layers: functions, tables, variables and objects that hold such. A model that is
 * rebuilt from its config gets them back. Their functions work on the model's own variables, not on copies. */
#include "keras/saving/saved_model.h"

/* Children that are Keras's own, which the rebuilt model has in its own way. */
static bool is_keras(tw_string name)
{
    static const char *const names[] = { "signatures",
                                         "optimizer",
                                         "keras_api",
                                         "__call__",
                                         "_default_save_signature",
                                         "save_counter",
                                         "variables",
                                         "trainable_variables",
                                         "regularization_losses" };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (tw__string_is(name, names[i]))
            return true;
    }
    return (name.size > 6 && memcmp(name.data, "layer-", 6) == 0) ||
           (name.size > 19 && memcmp(name.data, "layer_with_weights-", 19) == 0) ||
           (name.size > 16 && memcmp(name.data, "call_and_return_", 16) == 0);
}

static bool is_kept(const tw__object_message *node)
{
    tw__SavedUserObject from;
    switch (node->kind) {
    case TW_OBJECT_FUNCTION:
    case TW_OBJECT_VARIABLE:
    case TW_OBJECT_RESOURCE:
    case TW_OBJECT_CONSTANT:
    case TW_OBJECT_ASSET:
        return true;
    case TW_OBJECT_USER:
        return tw__read_SavedUserObject(node->body, &from) && tw__string_is(from.identifier, "_generic_user_object");
    default:
        return false;
    }
}

/* Those of the root that the model lacks: borrowed names, in the message. */
static tw_status find_others(const tw_layer *model, const tw__saved_model_message *message, tw_string **names, size_t *count)
{
    const tw__object_message *root = message->node_count ? &message->nodes[0] : NULL;
    *count = 0;
    if (!(*names = tw__alloc_array((root ? root->child_count : 0) + 1, sizeof **names)))
        return TW_RESOURCE_EXHAUSTED;
    for (size_t i = 0; root && i < root->child_count; i++) {
        tw_string name = root->children[i].name;
        tw__owned char *text = tw__strndup(name.data, name.size);
        if (!text)
            return TW_RESOURCE_EXHAUSTED;
        if (!is_keras(name) && is_kept(&message->nodes[root->children[i].node]) && !tw__tracked(&model->trackable, text))
            (*names)[(*count)++] = name;
    }
    return TW_OK;
}

/* ---- the model's variables in the place of those that were loaded ---- */

typedef struct pairing {
    tw__pointer_map seen;  /* objects of the file */
    tw__pointer_map place; /* a variable of the file -> where the model's stands in the list */
    tw_trackable **list;   /* borrowed */
    size_t count, capacity;
} pairing;

static tw_status pair_up(pairing *p, tw_trackable *loaded, tw_trackable *own, int depth)
{
    if (depth > 100 || tw__pointer_map_get(&p->seen, loaded, -1) >= 0)
        return TW_OK;
    TW_TRY(tw__pointer_map_put(&p->seen, loaded, 1));
    if (tw__is(loaded, &tw__class_variable) && tw__is(own, &tw__class_variable)) {
        TW_TRY(TW_GROW(p->list, p->capacity, p->count + 1));
        p->list[p->count] = own;
        return tw__pointer_map_put(&p->place, loaded, (int64_t)p->count++);
    }
    for (size_t i = 0; i < loaded->child_count; i++) {
        tw_trackable *child = tw__tracked(own, loaded->children[i].name);
        if (child)
            TW_TRY(pair_up(p, (tw_trackable *)loaded->children[i].object, child, depth + 1));
    }
    return TW_OK;
}

static tw_status bind_anew(const pairing *p, tw__pointer_map *done, tw_trackable *object, int depth)
{
    if (depth > 100 || tw__pointer_map_get(done, object, -1) >= 0)
        return TW_OK;
    TW_TRY(tw__pointer_map_put(done, object, 1));
    const tw_saved_function *function = tw__is(object, &tw__class_saved_function) ? (const tw_saved_function *)object : NULL;
    for (size_t i = 0; function && i < function->concrete_count; i++) {
        tw_saved_concrete *concrete = function->concretes[i];
        for (size_t k = 0; k < concrete->bound_count; k++) {
            int64_t place = tw__pointer_map_get(&p->place, concrete->bound[k], -1);
            if (place >= 0)
                tw__set(&concrete->bound[k], p->list[place]);
        }
    }
    for (size_t i = 0; i < object->child_count; i++)
        TW_TRY(bind_anew(p, done, (tw_trackable *)object->children[i].object, depth + 1));
    return TW_OK;
}

static tw_status hang_on(tw_layer *model, tw_saved_object *root, const tw_string *names, size_t count)
{
    pairing p = { 0 };
    tw__pointer_map done = { 0 };
    tw_status status = pair_up(&p, &root->trackable, &model->trackable, 0);
    for (size_t i = 0; status == TW_OK && i < count; i++) {
        tw__owned char *name = tw__strndup(names[i].data, names[i].size);
        tw_trackable *object = name ? tw__tracked(&root->trackable, name) : NULL;
        if (!name)
            status = TW_RESOURCE_EXHAUSTED;
        else if (object)
            status = bind_anew(&p, &done, object, 0);
        if (status == TW_OK && object)
            status = tw__track(&model->trackable, name, object);
    }
    tw__pointer_map_free(&p.seen);
    tw__pointer_map_free(&p.place);
    tw__pointer_map_free(&done);
    tw__free(p.list);
    return status;
}

tw_status tw__keras_attach_others(tw_layer *model, const char *directory)
{
    tw__saved_model_message message;
    tw_string *names = NULL;
    size_t count = 0;
    tw_status status = tw__saved_model_message_read(&message, directory, NULL, 0);
    if (status == TW_OK)
        status = find_others(model, &message, &names, &count);
    if (status == TW_OK && count) {
        tw_auto tw_saved_object *root = tw__saved_model_load(directory, NULL, 0);
        status = root ? hang_on(model, root, names, count) : tw__error_status();
    }
    tw__free(names);
    tw__saved_model_message_free(&message);
    return status;
}
