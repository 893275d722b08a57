/* tf.lite's converter: functions become a file. */
#include "eager/eager.h"
#include "lite/convert.h"
#include "rows.h"
#include "saving/saved_model.h"

/* A name out of a list of lists; NULL: there is none. */
static const tw_value *name_at(const tw_value *lists, int64_t function, int64_t index)
{
    const tw_value *list = lists->kind == TW_VALUE_NONE ? NULL : tw_value_at(lists, function);
    const tw_value *name = list && index >= 0 ? tw_value_at(list, index) : list;
    return name && name->kind == TW_VALUE_STR ? name : NULL;
}

static char *copy_name(const tw_value *name, const char *otherwise, int index)
{
    return name ? tw__strndup(name->s.data, name->s.size) : tw__format(otherwise, index);
}

/* As the trace itself names them: keywords, and the keys of a dict of results. */
static char *own_input(const tw_saved_concrete *concrete, int index)
{
    return (size_t)index < concrete->keyword_count ? tw__strdup(concrete->keywords[index]) : tw__format("args_%d", index);
}

static char *own_output(const tw_saved_concrete *concrete, int index)
{
    const tw_value *outputs = &concrete->outputs;
    bool named =
        outputs->kind == TW_VALUE_DICT && 2 * index < outputs->list.count && outputs->list.items[2 * index].kind == TW_VALUE_STR;
    return copy_name(named ? &outputs->list.items[2 * index] : NULL, "output_%d", index);
}

static tw_status put_inputs(tw__lite_made *made, const tw__function *function, tw__lite_known *known)
{
    TW_TEMPS(t);
    for (int i = 0; i < function->argument_count; i++) {
        tw__owned char *name = tw__format("%s_%s:0", made->key, made->input_names[i]);
        const tw__node *node = function->inputs[i];
        TW_NEED(name);
        tw__lite_lowering l = { .made = made, .node = &(tw__node){ .name = name }, .t = t };
        known[i].tensor = made->inputs[i] = tw__lite_between(&l, node->out_dtypes[0], &node->out_shapes[0]);
        TW_NEED(known[i].tensor >= 0);
    }
    for (int i = function->argument_count; i < function->input_count; i++)
        known[i] = (tw__lite_known){ function->captures[i - function->argument_count], -1 };
    return TW_OK;
}

/* Results are tensors of the graph; one that is an input, or given twice, is a copy. */
static tw_status put_outputs(tw__lite_made *made, tw__lite_known *results, int number)
{
    TW_TEMPS(t);
    for (int i = 0; i < made->output_count; i++) {
        tw__owned char *name = tw__format("StatefulPartitionedCall%s%s:%d", number ? "_" : "", number ? made->key : "", i);
        TW_NEED(name);
        tw__lite_lowering l = { .made = made, .node = &(tw__node){ .name = name }, .t = t };
        int tensor = results[i].constant ? tw__lite_constant_of(&l, results[i].constant) : results[i].tensor;
        TW_NEED(tensor >= 0);
        bool again = false;
        for (int k = 0; k < i; k++)
            again |= made->outputs[k] == tensor;
        for (int k = 0; k < made->input_count; k++)
            again |= made->inputs[k] == tensor;
        if (again) {
            int copy = tw__lite_between(&l, made->tensors[tensor].dtype, &made->tensors[tensor].shape);
            tw_tensor *shape = tw__temp_ints(t, made->tensors[tensor].shape.dims, made->tensors[tensor].shape.rank, TW_INT32);
            int unknown = 0;
            for (int k = 0; k < made->tensors[tensor].shape.rank; k++)
                unknown += made->tensors[tensor].shape.dims[k] < 0;
            if (unknown > 1)
                return tw__fail(TW_UNIMPLEMENTED, "output %d is an input, or another output, of unknown shape", i);
            TW_NEED(TW_EMIT(&l, "RESHAPE", copy, tensor, tw__lite_constant_of(&l, shape)));
            tensor = copy;
        }
        tw__free(made->tensors[tensor].name);
        made->tensors[tensor].name = TW_TAKE(name);
        made->outputs[i] = tensor;
        TW_NEED(made->tensors[tensor].name);
    }
    return TW_OK;
}

static tw_status put_names(tw__lite_made *made, const tw_saved_concrete *concrete, const tw_lite_convert_args *args,
                           int64_t number)
{
    made->inputs = tw__alloc_array((size_t)made->input_count + 1, sizeof *made->inputs);
    made->outputs = tw__alloc_array((size_t)made->output_count + 1, sizeof *made->outputs);
    made->input_names = tw__alloc_array((size_t)made->input_count + 1, sizeof *made->input_names);
    made->output_names = tw__alloc_array((size_t)made->output_count + 1, sizeof *made->output_names);
    TW_NEED(made->inputs && made->outputs && made->input_names && made->output_names);
    for (int i = 0; i < made->input_count; i++) {
        const tw_value *name = name_at(&args->inputs, number, i);
        made->input_names[i] = name ? copy_name(name, "", 0) : own_input(concrete, i);
        TW_NEED(made->input_names[i]);
    }
    for (int i = 0; i < made->output_count; i++) {
        const tw_value *name = name_at(&args->outputs, number, i);
        made->output_names[i] = name ? copy_name(name, "", 0) : own_output(concrete, i);
        TW_NEED(made->output_names[i]);
    }
    return TW_OK;
}

static tw_status convert_one(tw__lite_made *made, tw_saved_concrete *concrete, const tw_lite_convert_args *args, int64_t number)
{
    const tw__function *function = tw__saved_concrete_build(concrete);
    TW_NEED(function);
    const tw_value *key = name_at(&args->keys, number, -1);
    made->key = key ? key->s.data : "serving_default";
    made->input_count = function->argument_count;
    made->output_count = function->output_count;
    TW_TRY(put_names(made, concrete, args, number));
    tw__owned tw__lite_known *known = tw__alloc_array((size_t)function->input_count + 1, sizeof *known);
    tw__owned tw__lite_known *results = tw__alloc_array((size_t)function->output_count + 1, sizeof *results);
    TW_NEED(known && results);
    TW_TRY(put_inputs(made, function, known));
    tw__body body = { .graph = function->graph,
                      .inputs = function->inputs,
                      .input_count = function->input_count,
                      .outputs = function->outputs,
                      .output_count = function->output_count };
    TW_TRY(tw__lite_lower(made, &body, known, results, 0));
    tw_status status = put_outputs(made, results, (int)number);
    for (int i = 0; i < made->output_count; i++)
        tw_release(results[i].constant);
    TW_TRY(status);
    TW_TRY(tw__lite_join(made));
    return tw__lite_shrink(made, args->weights);
}

TW_API(
    lite_convert,
    "lite._convert(functions: list<saved_concrete>, keys: value = None, inputs: value = None, outputs: value = None, "
    "weights: dtype = float32) -> value",
    "The bytes of a TFLite file with these functions, each a signature. keys: their names; inputs, outputs: per function a list of "
    "names. weights: float32, or float16 or int8 for smaller files.")
{
    tw_value none = { .kind = TW_VALUE_NONE };
    int count = (int)args->functions.count;
    if (count < 1 || (args->weights != TW_FLOAT32 && args->weights != TW_FLOAT16 && args->weights != TW_INT8)) {
        tw__fail(TW_VALUE_ERROR,
                 count < 1 ? "lite_convert: there is no function" : "lite_convert: `weights` must be float32, float16 or int8");
        return none;
    }
    tw__lite_made *graphs = tw__alloc_array((size_t)count, sizeof *graphs);
    if (!graphs)
        return none;
    tw__outside outside = tw__outside_begin();
    tw_status status = TW_OK;
    for (int i = 0; status == TW_OK && i < count; i++)
        status = convert_one(&graphs[i], args->functions.items[i], args, i);
    size_t size = 0;
    char *bytes = status == TW_OK ? tw__lite_write(graphs, count, &size) : NULL;
    tw__outside_end(outside);
    for (int i = 0; i < count; i++)
        tw__lite_made_end(&graphs[i]);
    tw__free(graphs);
    return bytes ? (tw_value){ .kind = TW_VALUE_BYTES, .s = { bytes, size } } : none;
}
