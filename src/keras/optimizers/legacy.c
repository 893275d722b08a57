/* keras.optimizers.legacy: the optimizers of Keras up to 2.10, from outside: variables, slots, configs. Their steps are in
 * legacy_steps.c and legacy_rows.c.
 *
 * They differ from today's in their files: settings are variables, slots belong to the variables that they are for (checkpoints
 * have them as NAME/.OPTIMIZER_SLOT/…), and in that slots are made for variables as they come, not all at once. */
#include <math.h>
#include <string.h>

#include "graph/graph.h"
#include "keras/optimizers/legacy.h"

bool tw__optimizer_is_legacy(const tw_optimizer *optimizer)
{
    return tw__is(optimizer, &tw__class_optimizers_legacy_optimizer);
}

tw_legacy_settings tw__legacy_settings(const tw_optimizer *optimizer)
{
    tw_legacy_settings settings;
    tw__args_project(tw_class_signature(tw_class_of(optimizer)), tw_object_config(optimizer),
                     &tw__signature_optimizers_legacy_optimizer, &settings);
    return settings;
}

/* ---- settings that are variables ---- */

static double setting_of(const tw_optimizer *optimizer, const char *name)
{
    const tw_field *field = NULL;
    tw__object_setting(optimizer, name, &field);
    return field ? *(const double *)((const char *)tw_object_config(optimizer) + field->offset) : NAN;
}

tw_variable *tw__legacy_hyper(const tw_optimizer *optimizer, const char *name)
{
    return (tw_variable *)tw__tracked(&optimizer->trackable, name);
}

static tw_status add_number(tw_optimizer *optimizer, const char *name, double number)
{
    TW_TEMPS(t);
    tw_tensor *value = tw__temp(t, tw_tensor_float((float)number));
    char *full = tw__temp_memory(t, tw__format("%s%s/%s", tw__variable_scope(), optimizer->name, name));
    tw_variable *variable = value && full ? tw__temp(t, tw__variable_new(value, full, false, NULL)) : NULL;
    TW_NEED(variable);
    variable->aggregation = TW_AGGREGATE_ONLY_FIRST;
    return tw__track(&optimizer->trackable, name, variable);
}

tw_status tw__legacy_init(tw_optimizer *optimizer)
{
    const tw__optimizer_methods *methods = tw__methods(optimizer);
    char name[64];
    for (const char *at = methods->hypers; *at; at += strcspn(at, " ")) {
        at += strspn(at, " ");
        size_t size = strcspn(at, " ");
        if (!size)
            break;
        snprintf(name, sizeof name, "%.*s", (int)size, at);
        TW_TRY(add_number(optimizer, name, setting_of(optimizer, name)));
    }
    return TW_OK;
}

/* ---- slots ---- */

/* Names begin with the optimizer's, also when it is built before a step. */
static const char *scope_of(const tw_optimizer *optimizer, char scope[160])
{
    const char *outer = tw__variable_scope();
    if (*outer)
        return outer;
    snprintf(scope, 160, "%.150s/", optimizer->name);
    return scope;
}

static tw_status add_slot(tw_optimizer *optimizer, const tw__slot_kind *kind, int k, int64_t index)
{
    TW_TEMPS(t);
    char scope[160];
    tw_variable *variable = optimizer->trained[index];
    const tw__resource *resource = variable->resource;
    tw_tensor *number = tw__temp(t, tw__float_scalar(resource->dtype, kind->initial));
    tw_tensor *dims = tw__temp(t, tw__tensor_of_shape(&resource->shape, TW_INT32));
    tw_tensor *value = number && dims ? TW_TEMP(Fill, dims, number) : NULL;
    char *name = tw__temp_memory(t, tw__format("%s%s/%s", scope_of(optimizer, scope), resource->name, kind->list));
    if (!value || !name)
        return tw__error_status();
    tw_variable *slot = tw__temp(t, tw__variable_new(value, name, false, NULL));
    TW_NEED(slot);
    TW_TRY(tw__container_append(optimizer->all, slot));
    optimizer->slots[k][index] = slot;
    return tw__track_slot(&optimizer->trackable, variable, kind->list, slot);
}

static tw_status add_cache(tw_optimizer *optimizer, const char *name)
{
    tw_variable *cache;
    if (!name || optimizer->cache)
        return TW_OK;
    TW_TEMPS(t);
    tw_tensor *one = tw__temp(t, tw_tensor_float(1));
    char scope[160], *full = tw__temp_memory(t, tw__format("%s%s", scope_of(optimizer, scope), name));
    cache = one && full ? tw__temp(t, tw__variable_new(one, full, false, NULL)) : NULL;
    TW_NEED(cache);
    cache->aggregation = TW_AGGREGATE_ONLY_FIRST;
    TW_TRY(tw__container_append(optimizer->all, cache));
    optimizer->cache = cache;
    return tw__track(&optimizer->trackable, name, cache);
}

/* Room for all variables; those that are new stand behind the others. */
static tw_status grow(tw_optimizer *optimizer, const tw_objects *variables, const tw__slot_kind *kinds)
{
    size_t most = (size_t)(optimizer->trained_count + variables->count + 1);
    tw_variable **trained = tw__realloc(optimizer->trained, most * sizeof *trained);
    TW_NEED(trained);
    optimizer->trained = trained;
    for (int k = 0; k < TW_MAX_SLOTS; k++) {
        if (!kinds[k].list)
            continue;
        tw_variable **slots = tw__realloc(optimizer->slots[k], most * sizeof *slots);
        TW_NEED(slots);
        optimizer->slots[k] = slots;
    }
    for (int64_t i = 0; i < variables->count; i++) {
        tw_variable *variable = variables->items[i];
        if (tw__pointer_map_get(&optimizer->places, variable, -1) >= 0)
            continue;
        TW_TRY(tw__pointer_map_put(&optimizer->places, variable, optimizer->trained_count));
        optimizer->trained[optimizer->trained_count++] = tw_retain(variable);
    }
    return TW_OK;
}

static bool knows_all(const tw_optimizer *optimizer, const tw_objects *variables)
{
    for (int64_t i = 0; i < variables->count; i++) {
        if (tw__pointer_map_get(&optimizer->places, variables->items[i], -1) < 0)
            return false;
    }
    return true;
}

tw_status tw__legacy_build(tw_optimizer *optimizer, const tw_objects *variables)
{
    const tw__optimizer_methods *methods = tw__methods(optimizer);
    tw__slot_kind kinds[TW_MAX_SLOTS] = { 0 };
    if (optimizer->built && knows_all(optimizer, variables))
        return TW_OK;
    int64_t first = optimizer->trained_count;
    if (methods) /* else the slots are the program's */
        methods->legacy(optimizer, kinds);
    TW_TRY(grow(optimizer, variables, kinds));
    TW_TRY(add_cache(optimizer, methods ? methods->cache : NULL));
    int64_t fresh = optimizer->trained_count - first;
    for (int64_t i = 0; i < fresh * TW_MAX_SLOTS; i++) {
        int k = (int)(methods && methods->side_by_side ? i % TW_MAX_SLOTS : i / fresh);
        int64_t index = first + (methods && methods->side_by_side ? i / TW_MAX_SLOTS : i % fresh);
        if (kinds[k].list)
            TW_TRY(add_slot(optimizer, &kinds[k], k, index));
    }
    optimizer->built = true;
    return TW_OK;
}

/* ---- what it answers ---- */

/* As it was given; once there are variables, as they have it. */
static tw_value number_of(const tw_optimizer *optimizer, const char *name, double given)
{
    const tw_variable *variable = tw__legacy_hyper(optimizer, name);
    tw_auto tw_tensor *value = variable ? tw__resource_read(variable->resource) : NULL;
    if (value && optimizer->built)
        given = tw_tensor_double_at(value, 0);
    else if (value && (float)given != (float)tw_tensor_double_at(value, 0))
        given = tw__shortest(tw_tensor_double_at(value, 0), TW_FLOAT32);
    return (tw_value){ .kind = TW_VALUE_FLOAT, .f = given };
}

static void put_set(tw__dict *dict, const char *name, double value)
{
    if (!isnan(value))
        tw__dict_put(dict, name, (tw_value){ .kind = TW_VALUE_FLOAT, .f = value });
}

tw_value tw__legacy_config(const tw_optimizer *optimizer)
{
    static const char skip[] = " name clipnorm clipvalue global_clipnorm learning_rate decay lr ";
    tw__dict dict = { 0 }, rest = { 0 };
    tw__dict_put_str(&dict, "name", optimizer->name);
    put_set(&dict, "clipnorm", optimizer->settings.clipnorm);
    put_set(&dict, "clipvalue", optimizer->settings.clipvalue);
    put_set(&dict, "global_clipnorm", optimizer->settings.global_clipnorm);
    if (tw_class_of(optimizer) == &tw__class_optimizers_legacy_optimizer)
        return tw__dict_take(&dict);
    if (optimizer->schedule)
        tw__dict_put(&dict, "learning_rate", tw__serialize(optimizer->schedule, "keras.optimizers.schedules"));
    else
        tw__dict_put(&dict, "learning_rate", number_of(optimizer, "learning_rate", setting_of(optimizer, "learning_rate")));
    tw__dict_put(&dict, "decay", (tw_value){ .kind = TW_VALUE_FLOAT, .f = tw__legacy_settings(optimizer).decay });
    tw__dict_put_config(&rest, optimizer, skip);
    tw_value all = tw__dict_take(&rest);
    const char *hypers = ((const tw__optimizer_methods *)tw__methods(optimizer))->hypers;
    for (int64_t i = 0; i + 1 < all.list.count; i += 2) {
        const char *name = all.list.items[i].s.data;
        char wanted[72];
        snprintf(wanted, sizeof wanted, " %s ", name);
        bool hyper = strstr(hypers, wanted) != NULL;
        tw__dict_put(&dict, name, hyper ? number_of(optimizer, name, setting_of(optimizer, name)) : all.list.items[i + 1]);
        if (!hyper)
            all.list.items[i + 1] = (tw_value){ .kind = TW_VALUE_NONE };
    }
    tw_value_free(&all);
    return tw__dict_take(&dict);
}

TW_METHOD(legacy_optimizer_variables, "keras.optimizers.legacy.Optimizer.variables(self: optimizer) -> list<variable>",
          "The step counter and all slots; nothing before the first step.")
{
    const tw_trackable *all = args->self->all;
    size_t count = all && args->self->built ? all->child_count : 0;
    void **items = tw__alloc_array(count + 1, sizeof *items);
    for (size_t i = 0; items && i < count; i++)
        items[i] = tw_retain(all->children[i].object);
    return (tw_objects){ items, items ? (int64_t)count : 0 };
}

TW_METHOD(legacy_optimizer_get_slot_names, "keras.optimizers.legacy.Optimizer.get_slot_names(self: optimizer) -> value",
          "The names of its slots, once they are made.")
{
    const tw__optimizer_methods *methods = tw__methods(args->self);
    tw__slot_kind kinds[TW_MAX_SLOTS] = { 0 };
    tw_value list = { .kind = TW_VALUE_LIST, .list = { tw__alloc_array(TW_MAX_SLOTS, sizeof(tw_value)), 0 } };
    if (list.list.items && methods && methods->legacy && args->self->trained_count) {
        methods->legacy(args->self, kinds);
        for (int k = 0; k < TW_MAX_SLOTS; k++) {
            if (kinds[k].list)
                list.list.items[list.list.count++] = tw__value_str(kinds[k].list);
        }
    }
    return list;
}

TW_METHOD(legacy_optimizer_get_slot,
          "keras.optimizers.legacy.Optimizer.get_slot(self: optimizer, var: variable, slot_name: str) -> variable",
          "What the optimizer keeps for a variable under that name.\n"
          "var: the variable\n"
          "slot_name: the name of what is kept")
{
    tw_trackable *found = tw__tracked_slot(&args->self->trackable, args->var, args->slot_name, strlen(args->slot_name));
    if (!found)
        tw__fail(TW_KEY_ERROR, "%s: variable %s has no slot '%s'", args->self->name, args->var->name, args->slot_name);
    return tw_retain((tw_variable *)found);
}

TW_METHOD(legacy_optimizer_hyper, "keras.optimizers.legacy.Optimizer._hyper(self: optimizer, name: str) -> variable",
          "The variable that holds a setting; None if there is none.")
{
    return tw_retain(tw__legacy_hyper(args->self, args->name));
}

TW_METHOD(legacy_optimizer_first_decay, "keras.optimizers.legacy.Optimizer._first_decay(self: optimizer) -> float",
          "The decay that the optimizer was made with.")
{
    return tw__legacy_settings(args->self).decay;
}

static tw_status legacy_settle(void *self, const void *given)
{
    const tw_optimizer *optimizer = self;
    (void)given;
    tw_legacy_settings own = tw__legacy_settings(optimizer);
    const struct {
        const char *name;
        double value;
    } numbers[] = { { "clipnorm", own.clipnorm },
                    { "clipvalue", own.clipvalue },
                    { "global_clipnorm", own.global_clipnorm },
                    { "decay", own.decay } };
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        if (numbers[i].value < 0)
            return tw__fail(TW_VALUE_ERROR, "Expected %s >= 0, received: %g", numbers[i].name, numbers[i].value);
    }
    if (!isnan(own.clipnorm) && !isnan(own.global_clipnorm))
        return tw__fail(TW_VALUE_ERROR,
                        "Cannot accept both `clipnorm` and `global_clipnorm`. Received: `clipnorm`=%g, `global_clipnorm`=%g.",
                        own.clipnorm, own.global_clipnorm);
    if (!isnan(own.clipvalue) && (!isnan(own.clipnorm) || !isnan(own.global_clipnorm)))
        return tw__fail(TW_UNIMPLEMENTED, "%s: clipvalue together with a norm is not supported", tw_class_name(self));
    if (own.gradient_aggregator.kind != TW_VALUE_NONE || own.gradient_transformers.kind != TW_VALUE_NONE)
        return tw__fail(TW_UNIMPLEMENTED, "%s: functions that change the gradients are not supported", tw_class_name(self));
    return TW_OK;
}

TW_CLASS(optimizers_legacy_optimizer,
         "keras.optimizers.legacy.Optimizer(name: str, gradient_aggregator: value = None since 0.2, "
         "gradient_transformers: value = None since 0.2, *, clipnorm: float = None, clipvalue: float = None, "
         "global_clipnorm: float = None, decay: float = 0.0) -> optimizer",
         .parent = &tw__class_optimizer, .size = sizeof(tw_optimizer), .settle = legacy_settle,
         .doc = "The base of the optimizers of Keras up to 2.10.\n"
                "gradient_aggregator: must be None: replicas' gradients are summed\n"
                "gradient_transformers: must be None: gradients are taken as they are");
