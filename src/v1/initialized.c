/* tf.compat.v1: which variables have no value yet. */
#include "api/api.h"
#include "eager/eager.h"
#include "op/calls.h"
#include "v1/v1.h"

/* The variables that are given, or the graph's global and local ones; for tw_objects_free. */
static tw_objects variables_of(tw_objects given)
{
    tw__auto(tw_objects_free) tw_objects global = { NULL, 0 }, local = { NULL, 0 };
    if (!given.items) {
        global = tw__impl_global_variables(&(tw_global_variables_args){ 0 });
        local = tw__impl_local_variables(&(tw_local_variables_args){ 0 });
    }
    tw_objects const lists[] = { given, global, local };
    void **items = tw__alloc_array((size_t)(given.count + global.count + local.count) + 1, sizeof *items);
    int64_t count = 0;
    for (int k = 0; items && k < 3; k++) {
        for (int64_t i = 0; i < lists[k].count; i++)
            items[count++] = tw_retain(lists[k].items[i]);
    }
    return (tw_objects){ items, count };
}

/* The names of the variables, without ":0" where they are operations of a graph. */
static tw_tensor *names_of(tw_objects variables)
{
    tw_tensor *names = tw_tensor_new(TW_STRING, TW_SHAPE(variables.count), NULL);
    for (int64_t i = 0; names && i < variables.count; i++) {
        const tw_variable *each = variables.items[i];
        size_t size = each->graph ? strcspn(each->name, ":") : strlen(each->name);
        if (tw__string_set(names, i, each->name, size) != TW_OK) {
            tw_release(names);
            return NULL;
        }
    }
    return names;
}

TW_API(
    v1_report_uninitialized_variables,
    "compat.v1.report_uninitialized_variables(var_list: list<variable> = None, name: str = report_uninitialized_variables) -> tensor",
    "The names of the variables that have no value, as a tensor of strings.\n"
    "var_list: the variables; None: all global and local ones")
{
    tw__auto(tw_objects_free) tw_objects variables = variables_of(args->var_list);
    if (!variables.items)
        return NULL;
    tw__part part = tw__part_begin(args->name, "report_uninitialized_variables");
    TW_TEMPS(t);
    tw_tensor *names = tw__temp(t, names_of(variables)), *missing = NULL;
    if (names && !variables.count)
        return tw__part_result(&part, tw__part_constant(&part, names, "Const"));
    tw__owned tw_tensor **there = tw__alloc_array((size_t)variables.count + 1, sizeof *there);
    bool good = names && there;
    for (int64_t i = 0; good && i < variables.count; i++)
        good = (there[i] = tw__temp(t, tw_variable_is_initialized(variables.items[i]))) != NULL;
    tw_attr attrs[] = { TW_A_INT("axis", 0), TW_A_INT("N", variables.count) };
    tw_tensor *all =
        tw__temp(t, good ? tw__part_call(&part, "stack", &tw__op_Pack, there, (int)variables.count, attrs, 2) : NULL);
    missing = TW_TEMP(LogicalNot, all);
    names = tw__temp(t, missing ? tw__part_constant(&part, names, "Const") : NULL);
    tw__part inner = tw__part_begin(NULL, "boolean_mask");
    tw_boolean_mask_args mask = { .tensor = names, .mask = missing, .axis = TW_NO_INT };
    tw_tensor *result = tw__part_result(&inner, names ? tw__impl_boolean_mask(&mask) : NULL);
    return tw__part_result(&part, result);
}
