/* Functions of SavedModels that are no signatures (<thalweg/saving.h>): a C program's as attributes of what it saves, and calls
 * of those of a loaded model. */
#include <stdlib.h>

#include <thalweg/saving.h>

#include "api/tensor_spec.h"
#include "saving/saved_model.h"

/* ---- saving ---- */

static tw_value list_of(int kind, int64_t count)
{
    tw_value *items = tw__alloc_array((size_t)count + 1, sizeof *items);
    return (tw_value){ .kind = kind, .list = { items, items ? count : 0 } };
}

/* ((a spec per argument), {}) */
static tw_value inputs_of(const tw_export *export)
{
    tw_value both = list_of(TW_VALUE_TUPLE, 2), positional = list_of(TW_VALUE_TUPLE, export->input_count);
    for (int64_t i = 0; i < positional.list.count; i++)
        positional.list.items[i] = tw__spec_value(export->inputs[i].dtype, &export->inputs[i].shape,
                                                  export->input_names ? export->input_names[i] : NULL);
    if (both.list.count == 2) {
        both.list.items[0] = positional;
        both.list.items[1] = (tw_value){ .kind = TW_VALUE_DICT };
    } else {
        tw_value_free(&positional);
    }
    return both;
}

/* A dict of the names, one tensor, or a tuple. */
static tw_value outputs_of(const tw_export *export, const tw__function *f)
{
    bool named = export->output_names != NULL;
    if (!named && f->output_count == 1)
        return tw__spec_value(tw__function_output_dtype(f, 0), tw__function_output_shape(f, 0), NULL);
    tw_value all = list_of(named ? TW_VALUE_DICT : TW_VALUE_TUPLE, (named ? 2 : 1) * (int64_t)f->output_count);
    for (int64_t i = 0, at = 0; at < all.list.count; i++) {
        if (named)
            all.list.items[at++] = tw__value_str(export->output_names[i]);
        all.list.items[at++] = tw__spec_value(tw__function_output_dtype(f, (int)i), tw__function_output_shape(f, (int)i), NULL);
    }
    return all;
}

static tw_status check_names(const tw_export *export, const tw__function *f)
{
    for (int i = 1; export->output_names && i < f->output_count; i++) {
        if (strcmp(export->output_names[i - 1], export->output_names[i]) >= 0)
            return tw__fail(TW_INVALID_ARGUMENT,
                            "tw_saved_model_save: attribute '%s': the outputs '%s' and '%s' are not in the alphabet's order",
                            export->attribute, export->output_names[i - 1], export->output_names[i]);
    }
    return TW_OK;
}

/* What inspect.getfullargspec would say, and the signature. */
static tw_value specification_of(const tw_export *export)
{
    static const char *const members[] = {
        "args", "varargs", "varkw", "defaults", "kwonlyargs", "kwonlydefaults", "annotations"
    };
    tw_value spec = list_of(TW_VALUE_DICT, 16), args = list_of(TW_VALUE_LIST, export->input_count),
             both = list_of(TW_VALUE_TUPLE, 2);
    for (int64_t i = 0; i < args.list.count; i++) {
        char number[24];
        snprintf(number, sizeof number, "x%lld", (long long)i);
        args.list.items[i] = tw__value_str(export->input_names ? export->input_names[i] : number);
    }
    if (spec.list.count != 16 || both.list.count != 2) {
        tw_value_free(&spec);
        tw_value_free(&args);
        tw_value_free(&both);
        return (tw_value){ .kind = TW_VALUE_NONE };
    }
    spec.list.items[0] = tw__value_str(TW_NAMED_TUPLE);
    spec.list.items[1] = tw__value_str("FullArgSpec");
    for (int i = 0; i < 7; i++)
        spec.list.items[2 + 2 * i] = tw__value_str(members[i]);
    spec.list.items[3] = args;
    spec.list.items[11] = (tw_value){ .kind = TW_VALUE_LIST };
    spec.list.items[15] = (tw_value){ .kind = TW_VALUE_DICT };
    tw__auto(tw_value_free) tw_value inputs = inputs_of(export);
    both.list.items[0] = spec;
    both.list.items[1] = tw__value_copy(inputs.list.count ? &inputs.list.items[0] : &inputs);
    return both;
}

tw_saved_function *tw__export_function(const tw_export *export)
{
    tw_auto tw__function *f =
        export->function ? tw__function_concrete(export->function, export->inputs, (int)export->input_count) : NULL;
    if (!f)
        tw__fail(TW_INVALID_ARGUMENT, "tw_saved_model_save: attribute '%s' has no function", export->attribute);
    if (!f || check_names(export, f) != TW_OK)
        return NULL;
    tw_auto tw_saved_concrete *concrete = tw__saved_concrete_new(f, inputs_of(export), outputs_of(export, f));
    if (!concrete || tw__saved_concrete_keywords(concrete, export->input_names,
                                                 export->input_names ? (size_t) export->input_count : 0, -1) != TW_OK)
        return NULL;
    tw_saved_function *function = tw__saved_function_new(specification_of(export));
    if (function && tw__saved_function_add(function, concrete) != TW_OK) {
        tw_release(function);
        return NULL;
    }
    return function;
}

/* ---- calling ---- */

tw_saved_function *tw_saved_model_function(tw_saved_object *model, const char *path)
{
    if (!tw__check(model, &tw__class_saved_object, "tw_saved_model_function") ||
        !tw__check_given(path, "the path", "tw_saved_model_function"))
        return NULL;
    tw_trackable *found = tw__saved_object_at(model, path);
    if (found && tw__is(found, &tw__class_saved_function))
        return tw_retain(found);
    tw__auto(tw__text_free) tw__text text = { 0 };
    for (size_t i = 0; i < model->trackable.child_count; i++) {
        if (tw__is(model->trackable.children[i].object, &tw__class_saved_function))
            tw__text_format(&text, "%s'%s'", text.size ? ", " : "", model->trackable.children[i].name);
    }
    tw__fail(TW_NOT_FOUND, "the SavedModel has no function '%s'; it has: %s", path, text.data ? text.data : "none");
    return NULL;
}

static bool fits(const tw__function *f, tw_tensors arguments)
{
    bool good = f->argument_count == arguments.count;
    for (int i = 0; good && i < f->argument_count; i++) {
        const tw__node *wanted = f->inputs[i];
        good = wanted->out_dtypes[0] == arguments.items[i]->dtype &&
               tw__shape_compatible(&wanted->out_shapes[0], &arguments.items[i]->shape);
    }
    return good;
}

tw_tensors tw_saved_function_call(tw_saved_function *function, tw_tensors arguments)
{
    tw_tensors none = { NULL, 0 };
    if (!tw__check(function, &tw__class_saved_function, "tw_saved_function_call") ||
        !tw__check_tensors(arguments, "tw_saved_function_call"))
        return none;
    for (size_t i = 0; i < function->concrete_count; i++) {
        tw__function *f = tw__saved_concrete_build(function->concretes[i]);
        if (!f)
            return none;
        if (!fits(f, arguments))
            continue;
        tw_tensor **outputs = tw__alloc_array((size_t)f->output_count + 1, sizeof *outputs);
        if (outputs && tw__function_call(f, arguments.items, outputs) == TW_OK)
            return (tw_tensors){ outputs, f->output_count };
        tw__free(outputs);
        return none;
    }
    tw__fail(TW_INVALID_ARGUMENT, "tw_saved_function_call: none of the function's %zu traces takes these %lld tensors",
             function->concrete_count, (long long)arguments.count);
    return none;
}

tw_tensor *tw_saved_function_value(tw_saved_function *function, tw_tensors arguments)
{
    tw__auto(tw_tensors_free) tw_tensors results = tw_saved_function_call(function, arguments);
    tw_tensor *value = results.count > 0 ? tw_retain(results.items[0]) : NULL;
    if (results.items && !value)
        tw__fail(TW_INVALID_ARGUMENT, "tw_saved_function_value: the function gives no tensor");
    return value;
}

static int by_name(const void *a, const void *b)
{
    return strcmp(((const tw_value *)a)->s.data, ((const tw_value *)b)->s.data);
}

tw_value tw_saved_model_signatures(tw_saved_object *model)
{
    if (!tw__check(model, &tw__class_saved_object, "tw_saved_model_signatures"))
        return (tw_value){ .kind = TW_VALUE_NONE };
    const tw_trackable *map = tw__tracked(&model->trackable, "signatures");
    tw_value names = list_of(TW_VALUE_LIST, map ? (int64_t)map->child_count : 0);
    for (int64_t i = 0; i < names.list.count; i++) {
        names.list.items[i] = tw__value_str(map->children[i].name);
        if (names.list.items[i].kind != TW_VALUE_STR) {
            tw_value_free(&names);
            return (tw_value){ .kind = TW_VALUE_NONE };
        }
    }
    if (names.list.count > 1)
        qsort(names.list.items, (size_t)names.list.count, sizeof *names.list.items, by_name);
    return names;
}
