/* SavedModels for C programs: <thalweg/saving.h>. */
#include <stdlib.h>

#include <thalweg/saving.h>

#include "api/tensor_spec.h"
#include "saving/saved_model.h"

/* ---- parts of a loaded one ---- */

void tw_saved_model_close(tw_saved_object *model)
{
    tw__object_walk walk = { 0 };
    if (!model || !tw__check(model, &tw__class_saved_object, "tw_saved_model_close"))
        return;
    tw__saving_view view = { .root = &model->trackable };
    if (tw__walk_objects(&walk, &view) == TW_OK) {
        for (size_t i = 0; i < walk.count; i++)
            tw_retain(walk.nodes[i].object);
        for (size_t i = 0; i < walk.count; i++)
            tw__object_clear(walk.nodes[i].object);
        for (size_t i = 0; i < walk.count; i++)
            tw_release(walk.nodes[i].object);
    }
    tw__walk_free(&walk);
    tw_release(model);
}

tw_saved_concrete *tw_saved_model_signature(tw_saved_object *model, const char *key)
{
    if (!tw__check(model, &tw__class_saved_object, "tw_saved_model_signature") ||
        !tw__check_given(key, "the key", "tw_saved_model_signature"))
        return NULL;
    const tw_trackable *map = tw__tracked(&model->trackable, "signatures");
    tw_trackable *found = map ? tw__tracked(map, key) : NULL;
    if (found && tw__is(found, &tw__class_saved_concrete))
        return tw_retain(found);
    tw__auto(tw__text_free) tw__text text = { 0 };
    for (size_t i = 0; map && i < map->child_count; i++)
        tw__text_format(&text, "%s'%s'", i ? ", " : "", map->children[i].name);
    tw__fail(TW_NOT_FOUND, "the SavedModel has no signature '%s'; it has: %s", key, text.data ? text.data : "none");
    return NULL;
}

tw_trackable *tw__saved_object_at(tw_saved_object *model, const char *path)
{
    tw_trackable *object = &model->trackable;
    for (const char *at = path; object && at && *at;) {
        size_t size = strcspn(at, "/");
        tw__owned char *name = tw__strndup(at, size);
        object = name ? tw__tracked(object, name) : NULL;
        at += size + (at[size] == '/');
    }
    return object;
}

tw_variable *tw_saved_model_variable(tw_saved_object *model, const char *path)
{
    if (!tw__check(model, &tw__class_saved_object, "tw_saved_model_variable") ||
        !tw__check_given(path, "the path", "tw_saved_model_variable"))
        return NULL;
    tw_trackable *object = tw__saved_object_at(model, path);
    if (object && tw__is(object, &tw__class_variable))
        return tw_retain(object);
    tw__fail(TW_NOT_FOUND, "the SavedModel has no variable at '%s'", path);
    return NULL;
}

const char *tw_signature_input(const tw_saved_concrete *signature, int64_t index)
{
    return tw__check(signature, &tw__class_saved_concrete, "tw_signature_input") && index >= 0 &&
                   (size_t)index < signature->keyword_count
               ? signature->keywords[index]
               : NULL;
}

tw_spec tw_signature_input_spec(const tw_saved_concrete *signature, int64_t index)
{
    const char *name = tw_signature_input(signature, index);
    const tw_value *both = name ? &signature->inputs : NULL;
    const tw_value *named = both && both->kind == TW_VALUE_TUPLE && both->list.count == 2 ? &both->list.items[1] : NULL;
    const tw_value *found = named ? tw__value_get(named, name) : NULL;
    tw_spec spec = { .shape = TW_UNKNOWN_SHAPE };
    tw__value_spec(found, &spec);
    return spec;
}

/* The result at a place of the function's: dicts are in the order of their keys there. */
static int64_t output_count(const tw_saved_concrete *signature)
{
    return tw__check(signature, &tw__class_saved_concrete, "tw_signature_output") && signature->outputs.kind == TW_VALUE_DICT
               ? signature->outputs.list.count / 2
               : 0;
}

const char *tw_signature_output(const tw_saved_concrete *signature, int64_t index)
{
    int64_t count = output_count(signature);
    for (int64_t i = 0; index < count && i < count; i++) {
        const char *name = signature->outputs.list.items[2 * i].s.data;
        int64_t before = 0;
        for (int64_t k = 0; k < count; k++)
            before += strcmp(signature->outputs.list.items[2 * k].s.data, name) < 0;
        if (before == index)
            return name;
    }
    return NULL;
}

/* ---- calls ---- */

/* An error about a name that a signature does not have, with those that it has. */
static tw_status no_such_name(const tw_saved_concrete *signature, const char *function, const char *what, const char *name)
{
    bool input = strcmp(what, "input") == 0;
    tw__auto(tw__text_free) tw__text text = { 0 };
    const char *own;
    for (int64_t i = 0; (own = input ? tw_signature_input(signature, i) : tw_signature_output(signature, i)); i++)
        tw__text_format(&text, "%s'%s'", i ? ", " : "", own);
    return tw__fail(TW_NOT_FOUND, "%s: there is no %s '%s'; the signature has: %s", function, what, name ? name : "",
                    text.data ? text.data : "none");
}

static tw_status check_names(const tw_saved_concrete *signature, const tw_value *named, tw_named_tensors inputs)
{
    for (int64_t i = 0; i < inputs.count; i++) {
        if (!tw__value_get(named, inputs.items[i].name))
            return no_such_name(signature, "tw_signature_call", "input", inputs.items[i].name);
    }
    return TW_OK;
}

tw_tensors tw_signature_call(tw_saved_concrete *signature, tw_named_tensors inputs)
{
    tw_tensors none = { NULL, 0 };
    if (!tw__check(signature, &tw__class_saved_concrete, "tw_signature_call") ||
        (inputs.count && !tw__check_given(inputs.items, "the list of inputs", "tw_signature_call")))
        return none;
    for (int64_t i = 0; i < inputs.count; i++) {
        if (!tw__check_given(inputs.items[i].name, "a name", "tw_signature_call") ||
            !tw__check(inputs.items[i].tensor, &tw__tensor_class, "tw_signature_call"))
            return none;
    }
    tw__function *f = tw__saved_concrete_build(signature);
    if (!f)
        return none;
    /* A file says the arguments' names in any order; its tensors are in the order of the names. */
    tw_tensor **arguments = tw__alloc_array((size_t)f->argument_count + 1, sizeof *arguments);
    tw_tensor **outputs = tw__alloc_array((size_t)f->output_count + 1, sizeof *outputs);
    tw_status status = arguments && outputs ? TW_OK : TW_RESOURCE_EXHAUSTED;
    const tw_value *both = &signature->inputs;
    const tw_value *named = both->kind == TW_VALUE_TUPLE && both->list.count == 2 ? &both->list.items[1] : NULL;
    if (status == TW_OK && (!named || named->list.count / 2 != f->argument_count))
        status = tw__fail(TW_INVALID_ARGUMENT, "tw_signature_call: '%s' is no signature: it does not take its tensors by name",
                          f->name);
    if (status == TW_OK)
        status = check_names(signature, named, inputs);
    for (int64_t i = 0; status == TW_OK && i < f->argument_count; i++) {
        const char *name = named->list.items[2 * i].s.data;
        int64_t place = 0;
        for (int64_t k = 0; k < f->argument_count; k++)
            place += strcmp(named->list.items[2 * k].s.data, name) < 0;
        for (int64_t k = 0; k < inputs.count; k++) {
            if (strcmp(inputs.items[k].name, name) == 0)
                arguments[place] = inputs.items[k].tensor;
        }
        if (!arguments[place])
            status = tw__fail(TW_INVALID_ARGUMENT, "tw_signature_call: the input '%s' is not given", name);
        else if (named->list.items[2 * i + 1].kind == TW_VALUE_OBJECT &&
                 tw__is(named->list.items[2 * i + 1].object, &tw__class_tensor_spec) &&
                 tw__tensor_spec_check(named->list.items[2 * i + 1].object, arguments[place]) != TW_OK) {
            tw__error_prefix("tw_signature_call: input '%s': ", name);
            status = tw__error_status();
        }
    }
    if (status == TW_OK && inputs.count > f->argument_count)
        status = tw__fail(TW_INVALID_ARGUMENT, "tw_signature_call: %lld inputs are given, the signature has %d",
                          (long long)inputs.count, f->argument_count);
    if (status == TW_OK)
        status = tw__function_call(f, arguments, outputs);
    tw__free(arguments);
    if (status == TW_OK)
        return (tw_tensors){ outputs, f->output_count };
    tw__free(outputs);
    return none;
}

tw_tensor *tw_signature_value(tw_saved_concrete *signature, tw_named_tensors inputs, const char *output)
{
    tw__auto(tw_tensors_free) tw_tensors results = tw_signature_call(signature, inputs);
    tw_tensor *found = NULL;
    for (int64_t i = 0; results.items && i < results.count; i++) {
        const char *name = tw_signature_output(signature, i);
        if (name && output && strcmp(name, output) == 0)
            found = tw_retain(results.items[i]);
    }
    if (results.items && !found)
        no_such_name(signature, "tw_signature_value", "output", output);
    return found;
}

/* ---- saving ---- */

static tw_value text_list(const char *const *names, int64_t count)
{
    tw_value *items = tw__alloc_array((size_t)count + 1, sizeof *items);
    for (int64_t i = 0; items && i < count; i++)
        items[i] = tw__value_str(names[i]);
    return (tw_value){ .kind = TW_VALUE_LIST, .list = { items, items ? count : 0 } };
}

/* The traced function as one with structure: a tuple of tensors to a dict, or a list, of tensors. */
static tw_saved_concrete *concrete_of(const tw_export *export)
{
    tw__function *f = export->function ? tw__function_concrete(export->function, export->inputs, (int)export->input_count) : NULL;
    if (!f) {
        tw__fail(TW_INVALID_ARGUMENT, "tw_saved_model_save: signature '%s' has no function", export->key ? export->key : "");
        return NULL;
    }
    tw_value *outputs = tw__alloc_array((size_t)f->output_count * 2 + 1, sizeof *outputs);
    int64_t count = 0;
    for (int i = 0; outputs && i < f->output_count; i++) {
        if (export->output_names)
            outputs[count++] = tw__value_str(export->output_names[i]);
        outputs[count++] = tw__spec_value(tw__function_output_dtype(f, i), tw__function_output_shape(f, i), NULL);
    }
    tw_saved_concrete *concrete = tw__saved_concrete_new(f, (tw_value){ .kind = TW_VALUE_NONE },
                                                         (tw_value){ .kind = export->output_names ? TW_VALUE_DICT : TW_VALUE_LIST,
                                                                     .list = { outputs, outputs ? count : 0 } });
    if (concrete)
        concrete->as_written = true;
    if (concrete && tw__saved_concrete_keywords(concrete, export->input_names,
                                                export->input_names ? (size_t) export->input_count : 0, -1) != TW_OK) {
        tw_release(concrete);
        concrete = NULL;
    }
    tw_release(f);
    return concrete;
}

enum { MOST_EXPORTS = 64 };

typedef struct exported {
    const char *keys[MOST_EXPORTS], *names[MOST_EXPORTS];
    void *signatures[MOST_EXPORTS], *parents[MOST_EXPORTS], *children[MOST_EXPORTS];
    int64_t key_count, child_count;
} exported;

static tw_status export_one(exported *e, void *object, const tw_export *export)
{
    if (e->key_count == MOST_EXPORTS || e->child_count == MOST_EXPORTS)
        return tw__fail(TW_INVALID_ARGUMENT, "tw_saved_model_save: more than %d exports", MOST_EXPORTS);
    if (export->attribute) {
        e->names[e->child_count] = export->attribute;
        e->parents[e->child_count] = object;
        TW_NEED(e->children[e->child_count] = tw__export_function(export));
        e->child_count++;
    }
    if (!export->key && export->attribute)
        return TW_OK;
    e->keys[e->key_count] = export->key ? export->key : "serving_default";
    TW_NEED(e->signatures[e->key_count] = concrete_of(export));
    e->key_count++;
    return TW_OK;
}

tw_status tw_saved_model_save(void *object, const char *directory, const tw_export *exports, int64_t export_count)
{
    if (!object || !directory || !tw__is(object, &tw__trackable_class))
        return tw__fail(TW_INVALID_ARGUMENT, "tw_saved_model_save: an object with parts and a directory are expected");
    if (export_count < 0 || (export_count && !exports))
        return tw__fail(TW_INVALID_ARGUMENT, "tw_saved_model_save: there are no exports");
    exported e = { 0 };
    tw_status status = TW_OK;
    for (int64_t i = 0; status == TW_OK && i < export_count; i++)
        status = export_one(&e, object, &exports[i]);
    tw_value keys = status == TW_OK ? text_list(e.keys, e.key_count) : (tw_value){ .kind = TW_VALUE_NONE },
             names = status == TW_OK ? text_list(e.names, e.child_count) : (tw_value){ .kind = TW_VALUE_NONE };
    if (status == TW_OK)
        status = tw_saved_model_write(object, directory, .keys = keys, .signatures = { e.signatures, e.key_count },
                                      .parents = { e.parents, e.child_count }, .names = names,
                                      .children = { e.children, e.child_count });
    tw_value_free(&keys);
    tw_value_free(&names);
    for (int64_t i = 0; i < e.key_count; i++)
        tw_release(e.signatures[i]);
    for (int64_t i = 0; i < e.child_count; i++)
        tw_release(e.children[i]);
    return status;
}
