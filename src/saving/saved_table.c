/* Tables in SavedModels. A file holds a table as functions: _create_resource gives its handle, _initialize fills it,
 * _destroy_resource does nothing, and for one that may change there is a function that gives its keys and values by their names
 * in a checkpoint, and one that takes them. A save traces them here; a load runs those of the file. */
#include "lookup/lookup.h"
#include "op/calls.h"
#include "saving/saved_model.h"

/* ---- bodies of the functions ---- */

typedef tw_status (*table_body)(const struct tw_lookup_table *table, tw_tensor *const *arguments, tw_tensor **results);

typedef struct tracing {
    const struct tw_lookup_table *table;
    table_body body;
    int results;
} tracing;

static tw_tensor *one(void)
{
    return tw_tensor_int(1);
}

static tw_status create(const struct tw_lookup_table *table, tw_tensor *const *arguments, tw_tensor **results)
{
    (void)arguments;
    results[0] = tw__lookup_create(table);
    return results[0] ? TW_OK : tw__error_status();
}

static tw_status initialize(const struct tw_lookup_table *table, tw_tensor *const *arguments, tw_tensor **results)
{
    (void)arguments;
    if (table->initializer)
        TW_TRY(tw__lookup_fill(table->initializer, table->handle));
    results[0] = one();
    return results[0] ? TW_OK : tw__error_status();
}

static tw_status destroy(const struct tw_lookup_table *table, tw_tensor *const *arguments, tw_tensor **results)
{
    (void)table;
    (void)arguments;
    results[0] = one();
    return results[0] ? TW_OK : tw__error_status();
}

/* [{name, slice_spec, tensor}] of keys and values, each dict in the order of its names. */
static tw_status save(const struct tw_lookup_table *table, tw_tensor *const *arguments, tw_tensor **results)
{
    tw_tensor *both[2] = { NULL, NULL };
    TW_TRY(tw__lookup_export(table, table->handle, both));
    for (int i = 0; i < 2; i++) {
        const char *end = i ? "-values" : "-keys";
        tw_auto tw_tensor *text = tw_tensor_string(end, strlen(end));
        results[3 * i] = text ? TW_CALL(Add, arguments[0], text) : NULL;
        results[3 * i + 1] = tw_tensor_string("", 0);
        results[3 * i + 2] = both[i];
    }
    return results[0] && results[1] && results[3] && results[4] ? TW_OK : tw__error_status();
}

static tw_status restore(const struct tw_lookup_table *table, tw_tensor *const *arguments, tw_tensor **results)
{
    TW_TRY(tw__lookup_import(table, table->handle, arguments[0], arguments[1]));
    results[0] = one();
    return results[0] ? TW_OK : tw__error_status();
}

static tw_status run(void *context, tw_tensor *const *arguments, int count, tw_tensor ***outputs, int *output_count)
{
    const tracing *t = context;
    (void)count;
    TW_NEED(*outputs = tw__alloc_array((size_t)t->results, sizeof **outputs));
    *output_count = t->results;
    TW_TRY(t->body(t->table, arguments, *outputs));
    return tw__function_name_results(*outputs, t->results);
}

/* ---- the functions as objects ---- */

static tw_value list_of(int kind, tw_value *items, int64_t count)
{
    return (tw_value){ .kind = kind, .list = { items, items ? count : 0 } };
}

/* ((specs), {}) */
static tw_value inputs_of(const char *const *names, const tw_dtype *dtypes, const tw_shape *shapes, int count)
{
    tw_value *both = tw__alloc_array(2, sizeof *both), *specs = tw__alloc_array((size_t)count + 1, sizeof *specs);
    for (int i = 0; specs && i < count; i++)
        specs[i] = tw__spec_value(dtypes[i], &shapes[i], names[i]);
    if (both) {
        both[0] = list_of(TW_VALUE_TUPLE, specs, count);
        both[1] = (tw_value){ .kind = TW_VALUE_DICT };
    } else {
        tw__free(specs);
    }
    return list_of(TW_VALUE_TUPLE, both, 2);
}

/* A spec, or of the function that saves a list of two dicts. */
static tw_value outputs_of(const tw__function *f, int count)
{
    static const char *const names[] = { "name", "slice_spec", "tensor" };
    if (count == 1)
        return tw__spec_value(tw__function_output_dtype(f, 0), tw__function_output_shape(f, 0), NULL);
    tw_value *dicts = tw__alloc_array(2, sizeof *dicts);
    for (int i = 0; dicts && i < 2; i++) {
        tw_value *items = tw__alloc_array(6, sizeof *items);
        for (int k = 0; items && k < 3; k++) {
            items[2 * k] = tw__value_str(names[k]);
            items[2 * k + 1] =
                tw__spec_value(tw__function_output_dtype(f, 3 * i + k), tw__function_output_shape(f, 3 * i + k), NULL);
        }
        dicts[i] = list_of(TW_VALUE_DICT, items, 6);
    }
    return list_of(TW_VALUE_LIST, dicts, 2);
}

static tw_saved_concrete *trace(const struct tw_lookup_table *table, const char *name, table_body body, const char *const *names,
                                const tw_dtype *dtypes, int count, int results)
{
    static _Atomic uint64_t number;
    tw_shape shapes[2] = { count == 1 ? TW_SCALAR : TW_UNKNOWN_SHAPE, TW_UNKNOWN_SHAPE };
    tw__owned char *full = tw__format("__inference__%s_%llu", name, (unsigned long long)++number);
    tw__outside outside = tw__outside_begin();
    tw__function *f =
        full ? tw__function_trace_named(full, names, dtypes, shapes, count, run, &(tracing){ table, body, results }) : NULL;
    tw__outside_end(outside);
    tw_saved_concrete *concrete =
        f ? tw__saved_concrete_new(f, inputs_of(names, dtypes, shapes, count), outputs_of(f, results)) : NULL;
    tw_release(f);
    if (concrete && tw__saved_concrete_keywords(concrete, names, (size_t)count, -1) != TW_OK) {
        tw_release(concrete);
        return NULL;
    }
    return concrete;
}

/* (FullArgSpec of nothing, ()) */
static tw_value no_arguments(void)
{
    static const char *const fields[] = { "args", "varargs", "varkw", "defaults", "kwonlyargs", "kwonlydefaults", "annotations" };
    tw_value *items = tw__alloc_array(16, sizeof *items), *pair = tw__alloc_array(2, sizeof *pair);
    if (!items || !pair) {
        tw__free(items);
        tw__free(pair);
        return (tw_value){ .kind = TW_VALUE_NONE };
    }
    items[0] = tw__value_str(TW_NAMED_TUPLE);
    items[1] = tw__value_str("FullArgSpec");
    for (int i = 0; i < 7; i++)
        items[2 + 2 * i] = tw__value_str(fields[i]);
    items[3] = items[11] = (tw_value){ .kind = TW_VALUE_LIST };
    items[15] = (tw_value){ .kind = TW_VALUE_DICT };
    pair[0] = list_of(TW_VALUE_DICT, items, 16);
    pair[1] = (tw_value){ .kind = TW_VALUE_TUPLE };
    return list_of(TW_VALUE_TUPLE, pair, 2);
}

static tw_status attach_function(tw__extra *extra, const struct tw_lookup_table *table, const char *name, const char *traced,
                                 table_body body)
{
    tw_auto tw_saved_concrete *concrete = trace(table, traced, body, NULL, NULL, 0, 1);
    tw_auto tw_saved_function *function = concrete ? tw__saved_function_new(no_arguments()) : NULL;
    TW_NEED(function);
    TW_TRY(tw__saved_function_add(function, concrete));
    return tw__extra_add(extra, &table->trackable, name, function);
}

static tw_status attach_concrete(tw__extra *extra, const struct tw_lookup_table *table, const char *name,
                                 tw_saved_concrete *concrete)
{
    tw_status status = concrete ? tw__extra_add(extra, &table->trackable, name, concrete) : tw__error_status();
    tw_release(concrete);
    return status;
}

static tw_status attach(tw__extra *extra, const struct tw_lookup_table *table)
{
    if (!tw__tracked(&table->trackable, "_create_resource")) {
        TW_TRY(attach_function(extra, table, "_create_resource", "creator", create));
        TW_TRY(attach_function(extra, table, "_initialize", "initializer", initialize));
        TW_TRY(attach_function(extra, table, "_destroy_resource", "destroyer", destroy));
    }
    if (!tw__lookup_saves(table) || tw__tracked(&table->trackable, TW__TABLE_SAVE))
        return TW_OK;
    static const char *const key[] = { "checkpoint_key" }, *const tensors[] = { "restored_tensors_0", "restored_tensors_1" };
    TW_TRY(attach_concrete(extra, table, TW__TABLE_SAVE, trace(table, "save_fn", save, key, (tw_dtype[]){ TW_STRING }, 1, 6)));
    return attach_concrete(extra, table, TW__TABLE_RESTORE,
                           trace(table, "restore_fn", restore, tensors, (tw_dtype[]){ table->key_dtype, table->value_dtype }, 2,
                                 1));
}

tw_status tw__saved_tables_attach(tw__extra *extra, const tw__object_walk *walk, bool *any)
{
    for (size_t i = 0; i < walk->count; i++) {
        const struct tw_lookup_table *table = (const struct tw_lookup_table *)walk->nodes[i].object;
        if (!tw__is(table, &tw__class_lookup_table) || !table->handle || table->handle->node || !table->shared)
            continue;
        *any = true;
        TW_TRY(attach(extra, table));
    }
    return TW_OK;
}

/* ---- loaded ones ---- */

tw_status tw__saved_table_run(tw_trackable *object, const char *name, tw_tensor **result)
{
    const tw_saved_function *function = (const tw_saved_function *)tw__tracked(object, name);
    if (!tw__is(function, &tw__class_saved_function) || function->concrete_count != 1)
        return TW_OK;
    tw__function *f = tw__saved_concrete_build(function->concretes[0]);
    TW_NEED(f);
    if (f->argument_count != 0 || f->output_count > 1)
        return tw__fail(TW_DATA_LOSS, "function '%s' takes %d tensors and gives %d, expected none and one", f->name,
                        f->argument_count, f->output_count);
    tw_auto tw_tensor *output = NULL;
    tw__outside outside = tw__outside_begin();
    tw_status status = tw__function_call(f, NULL, &output);
    tw__outside_end(outside);
    if (status == TW_OK && result)
        *result = tw_retain(output);
    return status;
}
