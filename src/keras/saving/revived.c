/* Layers out of a SavedModel whose classes nobody knows: they call the function that they were saved with.
 *
 * A function has several traces. Arguments are bound to its parameters as Python binds them; the trace is the first whose specs
 * and values they fit. */
#include "keras/layers/layers.h"
#include "keras/models/functional.h"
#include "keras/saving/saved_model.h"
#include "op/calls.h"
#include "spec/structure.h"

#define NONE                  \
    (tw_value)                \
    {                         \
        .kind = TW_VALUE_NONE \
    }

/* ---- arguments ---- */

typedef struct parameters {
    const tw_value *names, *defaults, *more_names, *more_defaults; /* more: by name only; NULL: there are none */
    int64_t first;                                                 /* of the names: 1 behind `self` */
    bool any_place, any_name;                                      /* *args, **kwargs */
} parameters;

static const tw_value *list_in(const tw_value *dict, const char *name)
{
    const tw_value *found = dict ? tw__value_get(dict, name) : NULL;
    return found && (found->kind == TW_VALUE_LIST || found->kind == TW_VALUE_TUPLE) ? found : NULL;
}

static parameters parameters_of(const tw_saved_function *function)
{
    const tw_value *all = &function->specification;
    const tw_value *spec = all->kind == TW_VALUE_TUPLE && all->list.count ? &all->list.items[0] : NULL;
    if (!spec || spec->kind != TW_VALUE_DICT)
        return (parameters){ .any_place = true, .any_name = true };
    parameters p = { .names = list_in(spec, "args"),
                     .defaults = list_in(spec, "defaults"),
                     .more_names = list_in(spec, "kwonlyargs") };
    const tw_value *places = tw__value_get(spec, "varargs"), *names = tw__value_get(spec, "varkw"),
                   *defaults = tw__value_get(spec, "kwonlydefaults");
    p.more_defaults = defaults && defaults->kind == TW_VALUE_DICT ? defaults : NULL;
    p.any_place = places && places->kind == TW_VALUE_STR;
    p.any_name = names && names->kind == TW_VALUE_STR;
    p.first = p.names && p.names->list.count && p.names->list.items[0].kind == TW_VALUE_STR &&
              strcmp(p.names->list.items[0].s.data, "self") == 0;
    return p;
}

static const char *name_at(const tw_value *names, int64_t index)
{
    const tw_value *name = &names->list.items[index];
    return name->kind == TW_VALUE_STR ? name->s.data : "";
}

static const tw_value *given_by_name(const tw_value *named, const char *name)
{
    return named && named->kind == TW_VALUE_DICT ? tw__value_get(named, name) : NULL;
}

/* What a parameter gets that nobody gave: the phase, or its default. NULL: nothing. */
static const tw_value *otherwise(const char *name, const tw_value *phase, const tw_value *its_default)
{
    return strcmp(name, "training") == 0 ? phase : its_default;
}

static bool is_parameter(const parameters *p, const char *name)
{
    const tw_value *const lists[] = { p->names, p->more_names };
    for (int k = 0; k < 2; k++) {
        for (int64_t i = k ? 0 : p->first; lists[k] && i < lists[k]->list.count; i++) {
            if (strcmp(name_at(lists[k], i), name) == 0)
                return true;
        }
    }
    return false;
}

/* Positional arguments, borrowed: as many as there are parameters, or more where these may be any. */
static tw_status bind_places(const tw_layer *layer, const parameters *p, const tw_value *arguments, const tw_value *named,
                             const tw_value *phase, tw_value *bound)
{
    int64_t count = p->names ? p->names->list.count - p->first : 0, given = arguments->list.count;
    int64_t defaults = p->defaults ? p->defaults->list.count : 0, all = given > count ? given : count;
    if (given > count && !p->any_place)
        return tw__fail(TW_TYPE_ERROR, "%s.call() takes %lld arguments but %lld were given", layer->name, (long long)count,
                        (long long)given);
    tw_value *items = tw__alloc_array((size_t)all + 1, sizeof *items);
    if (!items)
        return TW_RESOURCE_EXHAUSTED;
    *bound = (tw_value){ .kind = TW_VALUE_TUPLE, .list = { items, all } };
    for (int64_t i = 0; i < all; i++) {
        const char *name = i < count ? name_at(p->names, p->first + i) : "";
        const tw_value *value = i < given ? &arguments->list.items[i] : given_by_name(named, name);
        if (!value || (value->kind == TW_VALUE_NONE && strcmp(name, "training") == 0))
            value = otherwise(name, phase, i >= count - defaults ? &p->defaults->list.items[i - count + defaults] : NULL);
        if (!value)
            return tw__fail(TW_TYPE_ERROR, "%s.call() missing a required argument: '%s'", layer->name, name);
        items[i] = *value;
    }
    return TW_OK;
}

static void put(tw_value *dict, const char *name, const tw_value *value)
{
    dict->list.items[dict->list.count++] = (tw_value){ .kind = TW_VALUE_STR, .s = { (char *)(uintptr_t)name, strlen(name) } };
    dict->list.items[dict->list.count++] = *value;
}

/* Arguments by name, borrowed. The phase is dropped where the function has none, as is what is None. */
static tw_status bind_names(const tw_layer *layer, const parameters *p, const tw_value *named, const tw_value *phase,
                            tw_value *bound)
{
    int64_t more = p->more_names ? p->more_names->list.count : 0;
    int64_t given = named && named->kind == TW_VALUE_DICT ? named->list.count / 2 : 0;
    tw_value *items = tw__alloc_array((size_t)(2 * (more + given)) + 1, sizeof *items);
    if (!items)
        return TW_RESOURCE_EXHAUSTED;
    *bound = (tw_value){ .kind = TW_VALUE_DICT, .list = { items, 0 } };
    for (int64_t i = 0; i < more; i++) {
        const char *name = name_at(p->more_names, i);
        const tw_value *value = given_by_name(named, name);
        if (!value || (value->kind == TW_VALUE_NONE && strcmp(name, "training") == 0))
            value = otherwise(name, phase, p->more_defaults ? tw__value_get(p->more_defaults, name) : NULL);
        if (value)
            put(bound, name, value);
    }
    for (int64_t i = 0; i < given; i++) {
        const char *name = name_at(named, 2 * i);
        const tw_value *value = &named->list.items[2 * i + 1];
        if (is_parameter(p, name) || (!p->any_name && (strcmp(name, "training") == 0 || value->kind == TW_VALUE_NONE)))
            continue;
        if (!p->any_name)
            return tw__fail(TW_TYPE_ERROR, "%s.call() got an unexpected keyword argument '%s'", layer->name, name);
        put(bound, name, value);
    }
    return TW_OK;
}

/* ---- which trace ---- */

static bool fits(const tw_value *value, const tw_value *spec, bool loosely);

static bool members_fit(const tw_value *value, const tw_value *spec, bool loosely)
{
    bool named_tuple =
        spec->list.count && spec->list.items[0].kind == TW_VALUE_STR && strcmp(spec->list.items[0].s.data, TW_NAMED_TUPLE) == 0;
    if (named_tuple) {
        if (value->kind != TW_VALUE_TUPLE || value->list.count != spec->list.count / 2 - 1)
            return false;
        for (int64_t i = 0; i < value->list.count; i++) {
            if (!fits(&value->list.items[i], &spec->list.items[2 * i + 3], loosely))
                return false;
        }
        return true;
    }
    if (value->kind != TW_VALUE_DICT || value->list.count != spec->list.count)
        return false;
    for (int64_t i = 0; i + 1 < spec->list.count; i += 2) {
        const tw_value *member =
            spec->list.items[i].kind == TW_VALUE_STR ? tw__value_get(value, spec->list.items[i].s.data) : NULL;
        if (!member || !fits(member, &spec->list.items[i + 1], loosely))
            return false;
    }
    return true;
}

/* Loosely: floats of other widths are taken, too. */
static bool fits(const tw_value *value, const tw_value *spec, bool loosely)
{
    tw_spec wanted;
    double one, other;
    if (tw__value_spec(spec, &wanted))
        return value->kind == TW_VALUE_TENSOR && tw__shape_compatible(&value->tensor->shape, &wanted.shape) &&
               (value->tensor->dtype == wanted.dtype ||
                (loosely && tw__dtype_is_float(value->tensor->dtype) && tw__dtype_is_float(wanted.dtype)));
    if (spec->kind == TW_VALUE_DICT)
        return members_fit(value, spec, loosely);
    if (spec->kind == TW_VALUE_LIST || spec->kind == TW_VALUE_TUPLE) {
        bool alike = (value->kind == TW_VALUE_LIST || value->kind == TW_VALUE_TUPLE) && value->list.count == spec->list.count;
        for (int64_t i = 0; alike && i < spec->list.count; i++)
            alike = fits(&value->list.items[i], &spec->list.items[i], loosely);
        return alike;
    }
    if (spec->kind == TW_VALUE_STR)
        return value->kind == TW_VALUE_STR && strcmp(value->s.data, spec->s.data) == 0;
    if (tw__value_plain_number(spec, &one))
        return tw__value_plain_number(value, &other) && one == other &&
               (spec->kind == TW_VALUE_BOOL) == (value->kind == TW_VALUE_BOOL);
    return spec->kind == TW_VALUE_NONE && value->kind == TW_VALUE_NONE;
}

/* The tensors of a value in the order of its specs: new references. */
static tw_status take_tensors(const tw_value *value, const tw_value *spec, tw_tensor **tensors, int *count)
{
    tw_spec wanted;
    if (tw__value_spec(spec, &wanted)) {
        tensors[*count] = tw__cast(value->tensor, wanted.dtype);
        return tensors[*count] ? (++*count, TW_OK) : tw__error_status();
    }
    bool dict = spec->kind == TW_VALUE_DICT;
    if (!dict && spec->kind != TW_VALUE_LIST && spec->kind != TW_VALUE_TUPLE)
        return TW_OK;
    if (dict && value->kind == TW_VALUE_TUPLE) { /* a named tuple, whose fields are in their order */
        for (int64_t i = 0; i < value->list.count; i++)
            TW_TRY(take_tensors(&value->list.items[i], &spec->list.items[2 * i + 3], tensors, count));
        return TW_OK;
    }
    tw__owned int64_t *order = tw__alloc_array((size_t)spec->list.count + 1, sizeof *order);
    if (!order)
        return TW_RESOURCE_EXHAUSTED;
    if (dict)
        tw__dict_order(spec, order);
    for (int64_t i = 0; i < spec->list.count / (dict ? 2 : 1); i++) {
        const tw_value *part = &spec->list.items[dict ? 2 * order[i] + 1 : i];
        const tw_value *given = dict ? tw__value_get(value, name_at(spec, 2 * order[i])) : &value->list.items[i];
        TW_TRY(take_tensors(given, part, tensors, count));
    }
    return TW_OK;
}

/* ---- the call ---- */

static tw_status call_trace(tw_saved_concrete *concrete, const tw_value *bound, tw_value *result)
{
    tw__function *f = tw__saved_concrete_build(concrete);
    if (!f)
        return tw__error_status();
    tw__owned tw_tensor **inputs = tw__alloc_array((size_t)f->argument_count + 1, sizeof *inputs),
                        **outputs = tw__alloc_array((size_t)f->output_count + 1, sizeof *outputs);
    int count = 0, next = 0;
    tw_status status = inputs && outputs ? TW_OK : TW_RESOURCE_EXHAUSTED;
    if (status == TW_OK && tw__structure_count(&concrete->inputs) < f->argument_count)
        status =
            tw__fail(TW_DATA_LOSS, "function '%s' takes %d tensors, and the file describes fewer", f->name, f->argument_count);
    for (int k = 0; status == TW_OK && k < 2; k++)
        status = take_tensors(&bound[k], &concrete->inputs.list.items[k], inputs, &count);
    if (status == TW_OK && count != f->argument_count)
        status = tw__fail(TW_DATA_LOSS, "function '%s' takes %d tensors, and the file describes %d", f->name, f->argument_count,
                          count);
    if (status == TW_OK)
        status = tw__function_call(f, inputs, outputs);
    if (status == TW_OK) {
        *result = tw__specs_exchange(&concrete->outputs, outputs, &next);
        for (int i = 0; i < f->output_count; i++)
            tw_release(outputs[i]);
    }
    while (count-- > 0)
        tw_release(inputs[count]);
    return status;
}

static tw_status call_bound(tw_layer *self, const tw_saved_function *function, const tw_value *bound, tw_value *result)
{
    tw_value both = { .kind = TW_VALUE_TUPLE, .list = { (tw_value *)(uintptr_t)bound, 2 } };
    for (int loosely = 0; loosely < 2; loosely++) {
        for (size_t i = 0; i < function->concrete_count; i++) {
            const tw_value *inputs = &function->concretes[i]->inputs;
            if (inputs->kind == TW_VALUE_TUPLE && inputs->list.count == 2 && fits(&both, inputs, loosely))
                return call_trace(function->concretes[i], bound, result);
        }
    }
    return tw__fail(
        TW_VALUE_ERROR,
        "Could not find matching concrete function to call loaded from the SavedModel: layer \"%s\" was saved with %zu "
        "traces, and its arguments fit none of them.",
        self->name, function->concrete_count);
}

static tw_status run(tw_layer *self, const tw_value *arguments, const tw_value *named, int training, tw_value *result)
{
    tw_saved_function *function = (tw_saved_function *)tw__tracked(&self->trackable, "__call__");
    if (!function || !tw__is(function, &tw__class_saved_function))
        return tw__fail(TW_VALUE_ERROR,
                        "Cannot call custom layer %s, because the call function was not serialized to the SavedModel.",
                        self->name);
    parameters p = parameters_of(function);
    tw_value phase = { .kind = TW_VALUE_BOOL, .b = (training < 0 ? tw__learning_phase() : training) == 1 };
    tw_value bound[2] = { NONE, NONE };
    tw_status status = bind_places(self, &p, arguments, named, &phase, &bound[0]);
    if (status == TW_OK)
        status = bind_names(self, &p, named, &phase, &bound[1]);
    if (status == TW_OK)
        status = call_bound(self, function, bound, result);
    for (int k = 0; k < 2; k++) {
        if (bound[k].kind != TW_VALUE_NONE)
            tw__free(bound[k].list.items);
    }
    return status;
}

static tw_tensor *revived_call(tw_layer *self, tw_tensor *input, int training)
{
    tw_value given = { .kind = TW_VALUE_TENSOR, .tensor = input }, result = NONE;
    if (run(self, &(tw_value){ .kind = TW_VALUE_TUPLE, .list = { &given, 1 } }, NULL, training, &result) != TW_OK)
        return NULL;
    if (result.kind == TW_VALUE_TENSOR)
        return result.tensor;
    tw_value_free(&result);
    tw__fail(TW_VALUE_ERROR, "layer \"%s\" gives several tensors where one is expected", self->name);
    return NULL;
}

static tw_status revived_invoke(tw_layer *self, const tw_value *arguments, const tw_value *named, int training, tw_value *result)
{
    TW_TRY(tw__layer_begin(self));
    tw_status status = run(self, arguments, named, training, result);
    if (status != TW_OK)
        tw__layer_explain(self, NULL, arguments->list.items, arguments->list.count ? 1 : 0);
    tw__layer_end(self);
    return status;
}

/* Its class would know. */
static tw_value no_config(tw_layer *self)
{
    (void)self;
    return (tw_value){ .kind = TW_VALUE_DICT };
}

static const tw__layer_methods revived_methods = {
    .call = revived_call, .invoke = revived_invoke, .whole_config = no_config, .any_dtype = true
};

TW_CLASS(revived, "keras.models._Revived(name: str = None) -> model", .parent = &tw__class_model, .size = sizeof(tw__model),
         .methods = &revived_methods, .drop_config = true, .doc = "A layer whose class is not known: it calls what was saved.");

/* What the function takes first, as specs; NULL: it was saved without one. */
const tw_value *tw__revived_input(const tw_layer *layer)
{
    const tw_saved_function *function =
        tw__is(layer, &tw__class_revived) ? (const tw_saved_function *)tw__tracked(&layer->trackable, "__call__") : NULL;
    bool known = function && tw__is(function, &tw__class_saved_function) && function->concrete_count;
    const tw_value *inputs = known ? &function->concretes[0]->inputs : NULL;
    if (!inputs || inputs->kind != TW_VALUE_TUPLE || !inputs->list.count || inputs->list.items[0].kind != TW_VALUE_TUPLE ||
        !inputs->list.items[0].list.count)
        return NULL;
    return &inputs->list.items[0].list.items[0];
}
