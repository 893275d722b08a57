/* Datasets of a C function's results (tw_dataset_from_generator), over GeneratorDataset: its three functions call the program. A
 * pass is known by a number. */
#include <thalweg/generator.h>

#include "data/data.h"
#include "graph/graph.h"
#include "op/host/host.h"
#include "rows.h"

typedef struct pass {
    int64_t number, index;
    void *state;
    struct pass *next;
} pass;

typedef struct generator {
    tw_object object;
    tw_generate generate;
    tw_generator_functions functions;
    void *state;
    tw_spec *specs;
    int count;
    tw__lock lock;
    pass *passes;
    int64_t numbers;
} generator;

static void generator_destroy(void *self)
{
    generator *g = self;
    for (pass *p = g->passes; p;) {
        pass *next = p->next;
        tw__free(p);
        p = next;
    }
    if (g->functions.end)
        g->functions.end(g->state);
    tw__free(g->specs);
}

static const tw_class generator_class = { .name = "CGenerator", .size = sizeof(generator), .destroy = generator_destroy };

static void let_go(void *user)
{
    tw_release(user);
}

/* ---- what the nodes call ---- */

static tw_status begin_pass(void *user, tw_tensor *const *inputs, int input_count, tw_tensor **outputs, int output_count)
{
    (void)inputs, (void)input_count, (void)output_count;
    generator *g = user;
    pass *p = tw__alloc_zero(sizeof *p);
    TW_NEED(p);
    p->state = g->functions.begin ? g->functions.begin(g->state) : g->state;
    if (g->functions.begin && !p->state) {
        tw__free(p);
        return tw_error_code() != TW_OK ? tw_error_code() : tw__fail(TW_UNKNOWN, "tw_dataset_from_generator: `begin` gave NULL");
    }
    tw__lock_take(&g->lock);
    p->number = g->numbers++;
    p->next = g->passes;
    g->passes = p;
    tw__lock_give(&g->lock);
    outputs[0] = tw_tensor_int64(p->number);
    return outputs[0] ? TW_OK : tw__error_status();
}

/* The pass of that number; NULL: there is none. With `take` it is no longer in the list. */
static pass *find_pass(generator *g, const tw_tensor *number, bool take)
{
    int64_t wanted = tw_tensor_int_at(number, 0);
    tw__lock_take(&g->lock);
    pass **at = &g->passes;
    while (*at && (*at)->number != wanted)
        at = &(*at)->next;
    pass *found = *at;
    if (found && take)
        *at = found->next;
    tw__lock_give(&g->lock);
    return found;
}

static tw_status check_element(const generator *g, tw_tensors element)
{
    if (element.count != g->count)
        return tw__fail(TW_TYPE_ERROR, "`generator` gave an element of %lld tensors where one of %d was expected",
                        (long long)element.count, g->count);
    for (int i = 0; i < g->count; i++) {
        const tw_tensor *tensor = element.items[i];
        if (tensor->dtype != g->specs[i].dtype)
            return tw__fail(TW_TYPE_ERROR, "`generator` gave an element of type %s where an element of type %s was expected.",
                            tw_dtype_name(tensor->dtype), tw_dtype_name(g->specs[i].dtype));
        if (!tw__shape_compatible(&tensor->shape, &g->specs[i].shape)) {
            tw__owned char *found = tw__shape_tuple(&tensor->shape), *wanted = tw__shape_tuple(&g->specs[i].shape);
            tw__fail(TW_TYPE_ERROR, "`generator` gave an element of shape %s where an element of shape %s was expected.",
                     found ? found : "", wanted ? wanted : "");
            return tw__error_status();
        }
    }
    return TW_OK;
}

static tw_status next_element(void *user, tw_tensor *const *inputs, int input_count, tw_tensor **outputs, int output_count)
{
    (void)input_count, (void)output_count;
    generator *g = user;
    pass *p = find_pass(g, inputs[0], false);
    if (!p)
        return tw__fail(TW_NOT_FOUND, "tw_dataset_from_generator: there is no such pass");
    size_t scope = tw_scope_begin();
    tw__auto(tw_tensors_free) tw_tensors element = g->generate(p->state, p->index++);
    tw__scope_end_with(scope, (void *[]){ element.items }, 1);
    if (element.count < 0)
        return tw_error_code() != TW_OK ? tw_error_code()
                                        : tw__fail(TW_UNKNOWN, "tw_dataset_from_generator: the function failed without an error");
    if (element.count == 0)
        return tw__fail(TW_OUT_OF_RANGE, "the generator has ended");
    TW_TRY(check_element(g, element));
    for (int i = 0; i < g->count; i++)
        outputs[i] = tw_retain(element.items[i]);
    return TW_OK;
}

static tw_status end_pass(void *user, tw_tensor *const *inputs, int input_count, tw_tensor **outputs, int output_count)
{
    (void)input_count, (void)output_count;
    generator *g = user;
    tw__owned pass *p = find_pass(g, inputs[0], true);
    if (p && g->functions.finish)
        g->functions.finish(p->state);
    outputs[0] = tw_tensor_int64(0);
    return outputs[0] ? TW_OK : tw__error_status();
}

/* ---- the functions of the dataset ---- */

static tw_tensors node_of(generator *g, tw__host_body body, tw_tensors in, const tw_spec *specs, int count)
{
    tw__owned tw_dtype *dtypes = tw__alloc_array((size_t)count + 1, sizeof *dtypes);
    tw_tensors out = { tw__alloc_array((size_t)count + 1, sizeof(tw_tensor *)), count };
    tw__host_function *function = dtypes && out.items ? tw__host_register("c_generator_", body, tw_retain(g), let_go) : NULL;
    for (int i = 0; dtypes && i < count; i++)
        dtypes[i] = specs[i].dtype;
    tw_status status = TW_RESOURCE_EXHAUSTED;
    if (function) {
        tw_attr attrs[] = { TW_A_STRING("token", tw__host_token(function)), TW_A_TYPES("Tout", dtypes, count) };
        int made = count;
        status = tw__apply(&tw__op_EagerPyFunc, in.items, (int)in.count, attrs, 2, out.items, &made);
    }
    for (int i = 0; function && status == TW_OK && i < count; i++)
        status = tw__symbolic_refine(out.items[i], &specs[i].shape);
    bool good = function && status == TW_OK;
    tw__host_drop(function); /* the node holds it */
    if (!good) {
        tw_tensors_free(&out);
        return TW_GIVE_FAILURE;
    }
    return out;
}

static const tw_spec number_spec = { TW_INT64, { .rank = 0 } };

static tw_tensors begin_body(void *user, tw_tensors in)
{
    return node_of(user, begin_pass, in, &number_spec, 1);
}

static tw_tensors next_body(void *user, tw_tensors in)
{
    generator *g = user;
    return node_of(g, next_element, in, g->specs, g->count);
}

static tw_tensors end_body(void *user, tw_tensors in)
{
    return node_of(user, end_pass, in, &number_spec, 1);
}

static tw_status check_specs(tw_specs specs)
{
    if (specs.count < 1 || !specs.items)
        return tw__fail(TW_INVALID_ARGUMENT, "tw_dataset_from_generator: the specs of the elements are missing");
    for (int64_t i = 0; i < specs.count; i++) {
        if (specs.items[i].dtype <= TW_DTYPE_NONE || specs.items[i].dtype >= TW_DTYPE_LIMIT)
            return tw__fail(TW_INVALID_ARGUMENT, "tw_dataset_from_generator: spec %lld has no dtype", (long long)i);
    }
    return TW_OK;
}

tw_dataset *tw_dataset_from_generator_(tw_generate generate, void *state, tw_specs specs, const tw_generator_functions *functions)
{
    const char *who = "tw_dataset_from_generator";
    if (!tw__check_given(generate, "the function", who) || !tw__check_given(functions, "the argument struct", who) ||
        check_specs(specs) != TW_OK)
        return NULL;
    tw_auto generator *g = tw__object_new(&generator_class);
    if (!g || !(g->specs = tw__alloc_array((size_t)specs.count, sizeof *g->specs)))
        return NULL;
    memcpy(g->specs, specs.items, (size_t)specs.count * sizeof *g->specs);
    g->count = (int)specs.count;
    g->generate = generate;
    tw_auto tw_function *first = tw_function_new(begin_body, g, .name = "begin", .signature = { &number_spec, 0 }),
                        *next = tw_function_new(next_body, g, .name = "next", .signature = { &number_spec, 1 }),
                        *last = tw_function_new(end_body, g, .name = "end", .signature = { &number_spec, 1 });
    if (!first || !next || !last)
        return NULL;
    tw_dataset_generator_args args;
    tw_args_default(&tw__signature_dataset_generator, &args);
    args.init_func = first;
    args.next_func = next;
    args.finalize_func = last;
    tw_dataset *dataset = tw_class_make(&tw__class_dataset_generator, &args);
    if (dataset) { /* from here on the program's state is ours to end */
        g->functions = *functions;
        g->state = state;
    }
    return dataset;
}
