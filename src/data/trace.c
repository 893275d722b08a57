/* Functions that users give to steps: traced for elements of a structure into a graph function of flat tensors. */
#include "api/tensor_spec.h"
#include "data/data.h"
#include "rows.h"

const tw_class tw__element_function_class = { .name = "ElementFunction", .size = sizeof(tw__element_function) };

void tw__data_traced_end(tw__traced *traced)
{
    tw_release(traced->function);
    tw_value_free(&traced->result);
    *traced = (tw__traced){ 0 };
}

tw_spec *tw__data_flat_specs(const tw_value *const *arguments, int count, int *flat)
{
    tw_spec *all = tw__alloc_array(1, sizeof *all);
    *flat = 0;
    for (int i = 0; all && i < count; i++) {
        int own = 0;
        tw__owned tw_spec *specs = tw__element_specs(arguments[i], &own);
        tw_spec *more = NULL;
        if (specs)
            more = tw__alloc_array((size_t)(*flat + own) + 1, sizeof *more);
        for (int k = 0; more && k < *flat + own; k++)
            more[k] = k < *flat ? all[k] : specs[k - *flat];
        tw__free(all);
        all = more;
        *flat += own;
    }
    return all;
}

tw_status tw__data_trace(void *function, const char *name, const tw_value *const *arguments, int count, tw__traced *traced)
{
    *traced = (tw__traced){ 0 };
    if (tw__is(function, &tw__element_function_class)) {
        tw__element_function *own = function;
        tw_status status = own->trace(own, name, arguments, count, traced);
        if (status != TW_OK)
            tw__data_traced_end(traced);
        return status;
    }
    char who[64];
    snprintf(who, sizeof who, "Dataset.%s", name);
    int flat = 0;
    tw_spec *specs = tw__data_flat_specs(arguments, count, &flat), *results = NULL;
    traced->function = specs ? tw__data_function_for(function, specs, flat, who) : NULL;
    tw__free(specs);
    tw_status status = traced->function ? tw__data_results(traced->function, &results) : tw__error_status();
    if (status == TW_OK)
        status = tw__element_of_specs(results, traced->function->output_count, &traced->result);
    tw__free(results);
    if (status != TW_OK)
        tw__data_traced_end(traced);
    return status;
}

tw_status tw__data_predicate(void *function, const char *name, const char *but, const struct tw_dataset *input,
                             tw__traced *traced)
{
    TW_TRY(tw__data_trace(function, name, TW_STRUCTURES(&input->structure), 1, traced));
    const tw_tensor_spec *spec = tw__element_leaf(&traced->result, &tw__class_tensor_spec);
    if (spec && spec->dtype == TW_BOOL && spec->shape.rank <= 0)
        return TW_OK;
    char *text = tw__element_text(&traced->result);
    tw__fail(TW_VALUE_ERROR, "Invalid `predicate`. `predicate` must return a `tf.bool` scalar tensor%s%s.", but,
             text ? text : "");
    tw__free(text);
    tw__data_traced_end(traced);
    return tw__error_status();
}
