/* Functions of elements that are written in C, and small compositions of steps; see compose.h. */
#include "data/compose.h"

#include "base/temps.h"
#include "rows.h"

typedef struct written {
    tw__element_function base;
    tw__element_body body;
    void *user;
} written;

static const tw_class written_class = { .name = "WrittenFunction",
                                        .parent = &tw__element_function_class,
                                        .size = sizeof(written) };

typedef struct tracing {
    const written *function;
    const tw_value *const *arguments; /* structures */
    int count;
    tw_value result; /* the structure of what it gave */
} tracing;

/* The arguments as values, which the caller frees, also after a failure. */
static tw_status pack_arguments(const tracing *self, tw_tensors in, tw_value *values)
{
    int64_t at = 0;
    for (int i = 0; i < self->count; i++) {
        int own = 0;
        tw__owned tw_spec *specs = tw__element_specs(self->arguments[i], &own);
        tw__owned tw_tensor **tensors = specs ? tw__alloc_array((size_t)own + 1, sizeof *tensors) : NULL;
        TW_NEED(tensors);
        for (int k = 0; k < own; k++)
            tensors[k] = tw_retain(in.items[at + k]);
        at += own;
        TW_TRY(tw__element_pack(self->arguments[i], tensors, own, &values[i]));
    }
    return TW_OK;
}

static tw_tensors run_body(void *user, tw_tensors in)
{
    tracing *self = user;
    tw__owned tw_value *values = tw__alloc_array((size_t)self->count + 1, sizeof *values);
    if (!values)
        return TW_GIVE_FAILURE;
    memset(values, 0, (size_t)self->count * sizeof *values);
    tw__auto(tw_value_free) tw_value result = { .kind = TW_VALUE_NONE };
    tw_status status = pack_arguments(self, in, values);
    if (status == TW_OK)
        status = self->function->body(self->function->user, values, self->count, &result);
    if (status == TW_OK)
        status = tw__element_structure(&result, &self->result);
    for (int i = 0; i < self->count; i++)
        tw_value_free(&values[i]);
    int count = 0;
    tw_tensor **tensors = status == TW_OK ? tw__element_tensors(&result, &self->result, &count) : NULL;
    return tensors ? (tw_tensors){ tensors, count } : TW_GIVE_FAILURE;
}

static tw_status trace_written(tw__element_function *function, const char *name, const tw_value *const *arguments, int count,
                               tw__traced *traced)
{
    tracing t = { .function = (const written *)function, .arguments = arguments, .count = count };
    int flat = 0;
    tw__owned tw_spec *specs = tw__data_flat_specs(arguments, count, &flat);
    tw__owned const char **names = specs ? tw__alloc_array((size_t)flat + 1, sizeof *names) : NULL;
    TW_TEMPS(texts);
    for (int i = 0; names && i < flat; i++)
        TW_NEED(names[i] = tw__temp_memory(texts, tw__format("args_%d", i)));
    tw_auto tw_function *made =
        names ? tw_function_new(run_body, &t, .name = name, .signature = { specs, flat }, .argument_names = names) : NULL;
    traced->function = made ? tw__function_concrete(made, specs, flat) : NULL;
    traced->result = t.result;
    return traced->function ? TW_OK : tw__error_status();
}

void *tw__data_function_of(tw__element_body body, void *user)
{
    written *made = tw__object_new(&written_class);
    if (made) {
        made->base.trace = trace_written;
        made->body = body;
        made->user = user;
    }
    return made;
}

static struct tw_dataset *map_with(struct tw_dataset *input, void *function)
{
    tw_dataset_map_args map = TW_ARGS(dataset_map, .self = input, .map_func = function);
    return input && function ? tw_class_make(&tw__class_dataset_map, &map) : NULL;
}

struct tw_dataset *tw__data_mapped(struct tw_dataset *input, tw__element_body body, void *user, const tw_value *exact)
{
    tw_auto tw_object *function = input ? tw__data_function_of(body, user) : NULL;
    struct tw_dataset *made = map_with(input, function);
    if (made && exact && tw__dataset_settle(made, TW_OK, tw__value_copy(exact), true) != TW_OK) {
        tw_release(made);
        return NULL;
    }
    return made;
}

struct tw_dataset *tw__data_mapped_flat(struct tw_dataset *input, tw_body body, void *user)
{
    tw_auto tw_function *function = input ? tw_function_new(body, user, .name = "map") : NULL;
    return map_with(input, function);
}

struct tw_dataset *tw__data_zipped(struct tw_dataset *one, struct tw_dataset *other)
{
    if (!one || !other)
        return NULL;
    tw_value both[] = { { .kind = TW_VALUE_OBJECT, .object = one }, { .kind = TW_VALUE_OBJECT, .object = other } };
    return tw__impl_dataset_zip_structure(
        &(tw_dataset_zip_structure_args){ .datasets = { .kind = TW_VALUE_TUPLE, .list = { .items = both, .count = 2 } } });
}

struct tw_dataset *tw__data_constant(tw_tensor *tensor, bool for_ever)
{
    tw_auto struct tw_dataset *once =
        tensor ? tw_class_make(&tw__class_dataset_from_tensors, &(tw_dataset_from_tensors_args){ .tensors = { &tensor, 1 } })
               : NULL;
    if (!once || !for_ever)
        return tw_retain(once);
    tw_dataset_repeat_args repeat = TW_ARGS(dataset_repeat, .self = once);
    return tw_class_make(&tw__class_dataset_repeat, &repeat);
}
