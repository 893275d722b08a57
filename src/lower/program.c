/* Programs of several calls: their arguments, variables and results. See lower.h. */
#include "lower/lower.h"

static const tw__lower_row *const tables[] = {
    tw__lower_elementwise, tw__lower_shapes, tw__lower_reductions, tw__lower_products, tw__lower_pictures, tw__lower_state,
    tw__lower_numbers,     tw__lower_moves,  tw__lower_rows,       tw__lower_matrices, tw__lower_volumes,  tw__lower_updates,
    tw__lower_order,       tw__lower_resize, tw__lower_recurrent,  tw__lower_random
};
enum { TABLES = sizeof tables / sizeof *tables };

static const tw__lower_row *find(const tw_op *op)
{
    for (int t = 0; t < TABLES; t++) {
        for (const tw__lower_row *row = tables[t]; row->op; row++) {
            if (strcmp(row->op, op->name) == 0)
                return row;
        }
    }
    return NULL;
}

static bool has(const tw_op *op)
{
    return find(op) != NULL;
}

static const char *name_at(int index)
{
    for (int t = 0; t < TABLES; t++) {
        for (const tw__lower_row *row = tables[t]; row->op; row++) {
            if (index-- == 0)
                return row->op;
        }
    }
    return NULL;
}

bool tw__lower_give(tw__lowering *l, int output, tw__hlo value)
{
    tw__hlo *to = &l->outputs[output];
    if (value.id < 0 || value.dtype != to->dtype)
        return false;
    if (!tw__shape_equal(&value.shape, &to->shape)) {
        int64_t have, want;
        if (tw__shape_count(&value.shape, &have) != TW_OK || tw__shape_count(&to->shape, &want) != TW_OK || have != want)
            return false;
        value = tw__hlo_reshape(l, value, &to->shape);
    }
    *to = value;
    return true;
}

bool tw__lower_read(tw__lowering *l, int input, tw_dtype dtype, const tw_shape *shape, tw__hlo *value)
{
    if (l->inputs[input].id > -2 || !tw__hlo_dtype(dtype) || !tw__shape_known(shape))
        return false;
    tw__hlo_variable *variable = &l->variables[-2 - l->inputs[input].id];
    if (variable->now.dtype == TW_DTYPE_NONE) {
        if (!variable->changed && variable->argument < 0)
            variable->argument = l->next++;
        variable->now = (tw__hlo){ .id = variable->argument, .dtype = dtype, .shape = *shape };
    }
    *value = variable->now;
    return value->dtype == dtype && tw__shape_equal(&value->shape, shape);
}

bool tw__lower_variable(tw__lowering *l, int input, tw_dtype dtype, tw__hlo *value)
{
    tw_shape shape = l->inputs[input].shape;
    return tw__lower_read(l, input, dtype, &shape, value);
}

bool tw__lower_write(tw__lowering *l, int input, tw__hlo value)
{
    tw__hlo before;
    if (value.id < 0 || !tw__lower_read(l, input, value.dtype, &value.shape, &before))
        return false;
    tw__hlo_variable *variable = &l->variables[-2 - l->inputs[input].id];
    variable->now = value;
    variable->changed = true;
    return true;
}

static void program_begin(tw__program_writer *w, bool processor)
{
    *w = (tw__program_writer){ .lowering = { .processor = processor } };
    w->lowering.text = &w->body;
}

static void program_end(tw__program_writer *w)
{
    tw__text_free(&w->body);
    tw__free(w->arguments);
    tw__free(w->variables);
    *w = (tw__program_writer){ 0 };
}

static tw_status program_argument(tw__program_writer *w, tw_dtype dtype, const tw_shape *shape, tw__hlo *value)
{
    TW_TRY(TW_GROW(w->arguments, w->argument_capacity, (size_t)w->argument_count + 1));
    *value = (tw__hlo){ .id = w->lowering.next++, .dtype = dtype, .shape = *shape };
    w->arguments[w->argument_count++] = *value;
    return TW_OK;
}

static tw_status program_variable(tw__program_writer *w, tw__hlo *value)
{
    TW_TRY(TW_GROW(w->variables, w->variable_capacity, (size_t)w->variable_count + 1));
    *value = (tw__hlo){ .id = -2 - w->variable_count, .dtype = TW_RESOURCE };
    w->variables[w->variable_count++] = (tw__hlo_variable){ .argument = -1 };
    return TW_OK;
}

static bool program_call(tw__program_writer *w, const tw_op *op, const tw_attr *attrs, const tw__hlo *inputs, int input_count,
                         tw__hlo *outputs, int output_count)
{
    const tw__lower_row *row = find(op);
    tw__lowering *l = &w->lowering;
    if (!row)
        return false;
    l->op = op;
    l->attrs = attrs;
    l->inputs = inputs;
    l->input_count = input_count;
    l->outputs = outputs;
    l->output_count = output_count;
    l->variables = w->variables;
    l->argument = row->argument;
    for (int i = 0; i < output_count; i++)
        outputs[i].id = -1;
    return row->function(l) && !w->body.failed;
}

static bool program_takes(const tw_op *op, const tw_attr *attrs, const tw__hlo *inputs, int input_count, tw__hlo *outputs,
                          int output_count, bool processor)
{
    tw__program_writer w;
    program_begin(&w, processor);
    tw__owned tw__hlo *given = tw__alloc_array((size_t)input_count + 1, sizeof *given);
    bool takes = given != NULL;
    for (int i = 0; takes && i < input_count; i++) {
        given[i] = inputs[i];
        if (inputs[i].dtype == TW_RESOURCE) {
            takes = program_variable(&w, &given[i]) == TW_OK;
            given[i].shape = inputs[i].shape;
        } else {
            given[i].id = w.lowering.next++;
        }
    }
    takes = takes && program_call(&w, op, attrs, given, input_count, outputs, output_count);
    program_end(&w);
    return takes;
}

static tw_status program_text(tw__program_writer *w, const tw__hlo *results, int result_count, tw__text *text)
{
    int given = 0, changed = result_count;
    tw__text_add(text, "module @thalweg {\nfunc.func @main(");
    for (int i = 0; i < w->argument_count; i++)
        tw__text_format(text, "%s%%%d: %s", given++ ? ", " : "", w->arguments[i].id, tw__hlo_type_text(w->arguments[i]));
    for (int i = 0; i < w->variable_count; i++) {
        const tw__hlo_variable *v = &w->variables[i];
        if (v->argument < 0)
            continue;
        tw__text_format(text, "%s%%%d: %s", given++ ? ", " : "", v->argument, tw__hlo_type_text(v->now));
        if (v->changed)
            tw__text_format(text, " {tf.aliasing_output = %d : i32}", changed++);
    }
    tw__text types = { 0 }, ids = { 0 };
    int count = 0;
    for (int i = 0; i < result_count + w->variable_count; i++) {
        const tw__hlo *value = i < result_count ? &results[i] : &w->variables[i - result_count].now;
        if (i >= result_count && !w->variables[i - result_count].changed)
            continue;
        tw__text_format(&types, "%s%s", count ? ", " : "", tw__hlo_type_text(*value));
        tw__text_format(&ids, "%s%%%d", count++ ? ", " : "", value->id);
    }
    tw__text_format(text, ") -> (%s) {\n", types.data ? types.data : "");
    tw__text_bytes(text, w->body.data ? w->body.data : "", w->body.size);
    tw__text_format(text, "return%s%s%s%s\n}\n}\n", count ? " " : "", ids.data ? ids.data : "", count ? " : " : "",
                    types.data ? types.data : "");
    bool failed = types.failed || ids.failed || text->failed;
    tw__text_free(&types);
    tw__text_free(&ids);
    return failed ? TW_RESOURCE_EXHAUSTED : TW_OK;
}

static tw__hlo program_constant(tw__program_writer *w, const tw_tensor *tensor)
{
    return tw__hlo_tensor(&w->lowering, tensor);
}

const tw__lowerings tw__lowerings_table = {
    .version = TW_VERSION,
    .size = sizeof(tw__lowerings),
    .name_at = name_at,
    .has = has,
    .begin = program_begin,
    .end = program_end,
    .argument = program_argument,
    .variable = program_variable,
    .constant = program_constant,
    .takes = program_takes,
    .call = program_call,
    .text = program_text,
    .flow = &tw__lower_flow,
};
