/* Signatures of SavedModels: functions from tensors by name to tensors by name; made of other functions, called by name, and
 * saved from C. */
#include <stdlib.h>

#include <thalweg/saving.h>

#include "api/tensor_spec.h"
#include "saving/saved_model.h"

/* ---- made of a function ---- */

typedef struct named {
    const char *name;
    int place; /* of the argument or result in the function */
} named;

static int by_name(const void *a, const void *b)
{
    return strcmp(((const named *)a)->name, ((const named *)b)->name);
}

/* The shapes that a trace says its results have; a graph out of a file may know less. */
typedef struct told {
    tw_shape *shapes;
    int count, capacity;
} told;

static tw_status tell(void *context, const struct tw_type_spec *spec)
{
    told *t = context;
    if (t->count < t->capacity && tw__is(spec, &tw__class_tensor_spec))
        t->shapes[t->count++] = ((const tw_tensor_spec *)spec)->shape;
    return TW_OK;
}

typedef struct wrapping {
    tw__function *inner;
    const named *inputs, *outputs;
} wrapping;

static tw_status run_inner(void *context, tw_tensor *const *arguments, int count, tw_tensor ***outputs, int *output_count)
{
    const wrapping *w = context;
    tw__function *f = w->inner;
    tw__owned tw_tensor **inner = tw__alloc_array((size_t)count + 1, sizeof *inner),
                        **results = tw__alloc_array((size_t)f->output_count + 1, sizeof *results);
    *outputs = tw__alloc_array((size_t)f->output_count + 1, sizeof **outputs);
    TW_NEED(inner && results && *outputs);
    for (int i = 0; i < count; i++)
        inner[w->inputs[i].place] = arguments[i];
    TW_TRY(tw__function_call(f, inner, results));
    for (int i = 0; i < f->output_count; i++)
        (*outputs)[i] = results[w->outputs[i].place];
    *output_count = f->output_count;
    return tw__function_name_results(*outputs, f->output_count);
}

/* {name: spec of that name}, in order. */
static tw_value specs_by_name(const named *names, int count, const tw_dtype *dtypes, const tw_shape *shapes)
{
    tw_value dict = { .kind = TW_VALUE_DICT, .list = { tw__alloc_array((size_t)count * 2 + 1, sizeof(tw_value)), 0 } };
    for (int i = 0; dict.list.items && i < count; i++) {
        dict.list.items[2 * i] = tw__value_str(names[i].name);
        dict.list.items[2 * i + 1] = tw__spec_value(dtypes[i], &shapes[i], names[i].name);
        dict.list.count = 2 * i + 2;
    }
    return dict;
}

/* Names of the results: a dict's keys, or output_0, output_1 … */
static tw_status name_outputs(const tw_saved_concrete *concrete, int count, named *names, char **texts, const char *key)
{
    const tw_value *outputs = &concrete->outputs;
    int64_t size = outputs->kind == TW_VALUE_DICT     ? outputs->list.count / 2
                   : outputs->kind == TW_VALUE_OBJECT ? 1
                                                      : outputs->list.count;
    bool flat =
        outputs->kind == TW_VALUE_OBJECT ||
        ((outputs->kind == TW_VALUE_LIST || outputs->kind == TW_VALUE_TUPLE || outputs->kind == TW_VALUE_DICT) && size == count);
    bool dict = outputs->kind == TW_VALUE_DICT;
    for (int64_t i = 0; flat && outputs->kind != TW_VALUE_OBJECT && i < size; i++)
        flat = outputs->list.items[dict ? 2 * i + 1 : i].kind == TW_VALUE_OBJECT &&
               (!dict || outputs->list.items[2 * i].kind == TW_VALUE_STR);
    if (!flat || size != count)
        return tw__fail(
            TW_VALUE_ERROR,
            "Got a non-flat or non-Tensor value as the output of the function for the signature '%s': outputs of functions used "
            "as signatures must be a single Tensor, a sequence of Tensors, or a dictionary from string to Tensor.",
            key);
    for (int i = 0; i < count; i++) {
        texts[i] = dict ? tw__strdup(outputs->list.items[2 * i].s.data) : tw__format("output_%d", i);
        TW_NEED(texts[i]);
        names[i] = (named){ texts[i], i };
    }
    if (dict && !concrete->as_written) { /* the function gives its tensors in the order of the keys */
        qsort(names, (size_t)count, sizeof *names, by_name);
        for (int i = 0; i < count; i++)
            names[i].place = i;
    }
    qsort(names, (size_t)count, sizeof *names, by_name);
    return TW_OK;
}

static tw_status name_inputs(const tw_saved_concrete *concrete, int count, named *names, const char *key)
{
    if (concrete->keyword_count != (size_t)count)
        return tw__fail(TW_VALUE_ERROR, "the function for the signature '%s' has %d tensors, but %zu names of arguments", key,
                        count, concrete->keyword_count);
    for (int i = 0; i < count; i++)
        names[i] = (named){ concrete->keywords[i], i };
    qsort(names, (size_t)count, sizeof *names, by_name);
    for (int i = 1; i < count; i++) {
        if (strcmp(names[i - 1].name, names[i].name) == 0)
            return tw__fail(
                TW_VALUE_ERROR,
                "Got non-unique argument names for the signature '%s': two arguments are named '%s'. Give the TensorSpecs "
                "names.",
                key, names[i].name);
    }
    return TW_OK;
}

static tw_saved_concrete *wrap(const tw_saved_concrete *saved, tw__function *f, const named *inputs, const named *outputs)
{
    static _Atomic uint64_t number;
    int count = f->argument_count;
    tw__owned const char **names = tw__alloc_array((size_t)count + 1, sizeof *names);
    tw__owned tw_dtype *dtypes = tw__alloc_array((size_t)(count + f->output_count) + 1, sizeof *dtypes);
    tw__owned tw_shape *shapes = tw__alloc_array((size_t)(count + f->output_count) + 1, sizeof *shapes);
    tw__owned const char **keywords = tw__alloc_array((size_t)count + 1, sizeof *keywords);
    tw__owned char *name = tw__format("__inference_signature_wrapper_%llu", (unsigned long long)++number);
    tw_auto tw__function *made = NULL;
    tw_saved_concrete *concrete = NULL;
    for (int i = 0; names && dtypes && shapes && keywords && i < count; i++) {
        const tw__node *input = f->inputs[inputs[i].place];
        keywords[i] = names[i] = inputs[i].name;
        dtypes[i] = input->out_dtypes[0];
        shapes[i] = input->out_shapes[0];
    }
    if (names && dtypes && shapes && keywords && name) {
        tw__outside outside = tw__outside_begin();
        made = tw__function_trace_named(name, names, dtypes, shapes, count, run_inner, &(wrapping){ f, inputs, outputs });
        tw__outside_end(outside);
    }
    told all = { tw__alloc_array((size_t)f->output_count + 1, sizeof *all.shapes), 0, f->output_count };
    if (all.shapes && tw__structured_leaves(&saved->outputs, tell, &all) != TW_OK)
        all.count = 0;
    for (int i = 0; made && i < f->output_count; i++) {
        const tw_shape *known = tw__function_output_shape(made, i);
        dtypes[count + i] = tw__function_output_dtype(made, i);
        shapes[count + i] = known->rank < 0 && all.count == f->output_count ? all.shapes[outputs[i].place] : *known;
    }
    tw__free(all.shapes);
    if (made) {
        tw_value *both = tw__alloc_array(2, sizeof *both);
        if (both) {
            both[0] = (tw_value){ .kind = TW_VALUE_TUPLE };
            both[1] = specs_by_name(inputs, count, dtypes, shapes);
        }
        concrete = tw__saved_concrete_new(made, (tw_value){ .kind = TW_VALUE_TUPLE, .list = { both, both ? 2 : 0 } },
                                          specs_by_name(outputs, f->output_count, dtypes + count, shapes + count));
    }
    if (concrete && tw__saved_concrete_keywords(concrete, keywords, (size_t)count, count == 1) != TW_OK) {
        tw_release(concrete);
        concrete = NULL;
    }
    return concrete;
}

tw_saved_concrete *tw__signature_of(tw_saved_concrete *concrete, const char *key)
{
    tw__function *f = tw__saved_concrete_build(concrete);
    if (!f)
        return NULL;
    tw__owned named *inputs = tw__alloc_array((size_t)f->argument_count + 1, sizeof *inputs);
    tw__owned named *outputs = tw__alloc_array((size_t)f->output_count + 1, sizeof *outputs);
    tw__owned char **texts = tw__alloc_array((size_t)f->output_count + 1, sizeof *texts);
    tw_saved_concrete *made = NULL;
    if (inputs && outputs && texts && name_inputs(concrete, f->argument_count, inputs, key) == TW_OK &&
        name_outputs(concrete, f->output_count, outputs, texts, key) == TW_OK)
        made = wrap(concrete, f, inputs, outputs);
    for (int i = 0; texts && i < f->output_count; i++)
        tw__free(texts[i]);
    return made;
}

TW_METHOD(saved_concrete_set_keywords, "saved_model._ConcreteFunction._set_keywords(self: saved_concrete, names: value)",
          "Says the names of the arguments, in the order of their tensors.")
{
    const tw_value *names = &args->names;
    if (names->kind != TW_VALUE_LIST)
        return tw__fail(TW_TYPE_ERROR, "the names of arguments are a list");
    tw__owned const char **texts = tw__alloc_array((size_t)names->list.count + 1, sizeof *texts);
    TW_NEED(texts);
    for (int64_t i = 0; i < names->list.count; i++)
        texts[i] = names->list.items[i].kind == TW_VALUE_STR ? names->list.items[i].s.data : "";
    return tw__saved_concrete_keywords(args->self, texts, (size_t)names->list.count, -1);
}

/* ---- saved ---- */

static const char *text_at(const tw_value *list, int64_t index)
{
    bool there = (list->kind == TW_VALUE_LIST || list->kind == TW_VALUE_TUPLE) && index < list->list.count &&
                 list->list.items[index].kind == TW_VALUE_STR;
    return there ? list->list.items[index].s.data : NULL;
}

tw_status tw__saved_attach(tw__extra *extra, tw_saved_object *signatures, const tw_objects *parents, const tw_value *names,
                           const tw_objects *children, const tw_value *keys, const tw_objects *functions)
{
    if (parents->count != children->count)
        return tw__fail(TW_INVALID_ARGUMENT, "saved_model.save: %lld parents, %lld children", (long long)parents->count,
                        (long long)children->count);
    for (int64_t i = 0; i < parents->count; i++) {
        const char *name = text_at(names, i);
        if (!name)
            return tw__fail(TW_INVALID_ARGUMENT, "saved_model.save: child %lld has no name", (long long)i);
        TW_TRY(tw__extra_add(extra, parents->items[i], name, children->items[i]));
    }
    for (int64_t i = 0; i < functions->count; i++) {
        const char *key = text_at(keys, i);
        tw_saved_concrete *signature = key ? tw__signature_of(functions->items[i], key) : NULL;
        tw_status status = signature ? tw__track(&signatures->trackable, key, signature) : tw__error_status();
        tw_release(signature);
        TW_TRY(status);
    }
    return TW_OK;
}

TW_API(
    saved_model_write,
    "saved_model._save(obj: trackable, export_dir: str, parents: list<trackable> = None, names: value = None, children: list<trackable> = None, "
    "keys: value = None, signatures: list<saved_concrete> = None, custom_gradients: bool = True)",
    "Saves an object as a SavedModel. Parents get children of these names for it; functions become signatures of these keys. Without "
    "custom_gradients those that users defined are not saved: who asks for them later gets an error.")
{
    tw__extra extra = { 0 };
    tw_auto tw_saved_object *map = tw__saved_object_new("signature_map");
    tw_status status =
        map ? tw__saved_attach(&extra, map, &args->parents, &args->names, &args->children, &args->keys, &args->signatures)
            : TW_RESOURCE_EXHAUSTED;
    tw__saving_view view = { .root = args->obj, .extra = &extra, .no_gradients = !args->custom_gradients };
    if (status == TW_OK)
        status = tw__saved_model_save(&view, map, args->export_dir, NULL, NULL, NULL);
    tw__extra_free(&extra);
    return status;
}

TW_API(saved_model_objects, "saved_model._objects(obj: trackable) -> list<trackable>",
       "All objects below one, as a checkpoint numbers them.")
{
    tw__object_walk walk;
    tw__saving_view view = { .root = args->obj };
    void **items = tw__walk_objects(&walk, &view) == TW_OK ? tw__alloc_array(walk.count + 1, sizeof *items) : NULL;
    size_t count = items ? walk.count : 0;
    for (size_t i = 0; i < count; i++)
        items[i] = tw_retain(walk.nodes[i].object);
    tw__walk_free(&walk);
    return (tw_objects){ items, (int64_t)count };
}
