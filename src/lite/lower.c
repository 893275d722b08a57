/* Goes over a graph's nodes and makes operators of them; see convert.h. */
#include "eager/eager.h"
#include "lite/convert.h"
#include "rows.h"

enum { DEEPEST = 64, MOST_OUTPUTS = 64 };

void tw__lite_made_end(tw__lite_made *made)
{
    for (size_t i = 0; i < made->tensor_count; i++) {
        tw__free(made->tensors[i].name);
        tw__free(made->tensors[i].scales);
        tw_release(made->tensors[i].constant);
    }
    for (size_t i = 0; i < made->operator_count; i++) {
        tw__free(made->operators[i].inputs);
        tw__free(made->operators[i].outputs);
    }
    tw__free(made->tensors);
    tw__free(made->operators);
    tw__free(made->inputs);
    tw__free(made->outputs);
    for (int i = 0; made->input_names && i < made->input_count; i++)
        tw__free(made->input_names[i]);
    for (int i = 0; made->output_names && i < made->output_count; i++)
        tw__free(made->output_names[i]);
    tw__free(made->input_names);
    tw__free(made->output_names);
}

/* ---- tensors and operators ---- */

static int add_tensor(tw__lite_made *made, const char *name, tw_dtype dtype, const tw_shape *shape, tw_tensor *constant)
{
    if (tw__lite_type(dtype) < 0 || shape->rank < 0) {
        tw__fail(TW_UNIMPLEMENTED, "tensor '%s' %s, which TFLite's files do not have", name,
                 shape->rank < 0 ? "has an unknown rank" : tw_dtype_name(dtype));
        return -1;
    }
    if (TW_GROW(made->tensors, made->tensor_capacity, made->tensor_count + 1) != TW_OK)
        return -1;
    char *copy = tw__strdup(name);
    if (!copy)
        return -1;
    made->tensors[made->tensor_count] =
        (tw__lite_made_tensor){ .name = copy, .dtype = dtype, .shape = *shape, .constant = tw_retain(constant) };
    return (int)made->tensor_count++;
}

int tw__lite_constant_of(tw__lite_lowering *l, tw_tensor *constant)
{
    if (!constant)
        return -1;
    for (size_t i = 0; i < l->made->tensor_count; i++) {
        if (l->made->tensors[i].constant == constant)
            return (int)i;
    }
    return add_tensor(l->made, l->node->name, constant->dtype, &constant->shape, constant);
}

int tw__lite_tensor_of(tw__lite_lowering *l, int input)
{
    if (input >= l->count) {
        tw__fail(TW_INTERNAL, "node '%s' has no input %d", l->node->name, input);
        return -1;
    }
    return l->in[input].constant ? tw__lite_constant_of(l, l->in[input].constant) : l->in[input].tensor;
}

int tw__lite_ints_of(tw__lite_lowering *l, const int64_t *values, int count)
{
    return tw__lite_constant_of(l, tw__temp_ints(l->t, values, count, TW_INT32));
}

int tw__lite_float_of(tw__lite_lowering *l, double value)
{
    return tw__lite_constant_of(l, tw__temp(l->t, tw_tensor_float((float)value)));
}

int tw__lite_between(tw__lite_lowering *l, tw_dtype dtype, const tw_shape *shape)
{
    return add_tensor(l->made, l->node->name, dtype, shape, NULL);
}

int tw__lite_result(tw__lite_lowering *l, int output)
{
    return l->out[output].tensor = tw__lite_between(l, l->node->out_dtypes[output], &l->node->out_shapes[output]);
}

int tw__lite_builtin_named(const char *name)
{
    for (int i = 0; i < TW_LITE_BUILTINS; i++) {
        if (strcmp(tw__lite_builtins[i].name, name) == 0)
            return i;
    }
    tw__fail(TW_INTERNAL, "there is no operator %s", name);
    return -1;
}

tw__lite_made_operator *tw__lite_emit(tw__lite_lowering *l, const char *name, const int *inputs, int count, const int *outputs,
                                      int output_count)
{
    tw__lite_made *made = l->made;
    int builtin = tw__lite_builtin_named(name);
    if (builtin < 0 || tw_error_code() != TW_OK ||
        TW_GROW(made->operators, made->operator_capacity, made->operator_count + 1) != TW_OK)
        return NULL;
    tw__lite_made_operator one = { .builtin = builtin, .input_count = count, .output_count = output_count };
    one.inputs = tw__alloc_array((size_t)count + 2, sizeof *one.inputs); /* a bias may come */
    one.outputs = tw__alloc_array((size_t)output_count + 1, sizeof *one.outputs);
    if (!one.inputs || !one.outputs) {
        tw__free(one.inputs);
        tw__free(one.outputs);
        return NULL;
    }
    memcpy(one.inputs, inputs, (size_t)count * sizeof *inputs);
    memcpy(one.outputs, outputs, (size_t)output_count * sizeof *outputs);
    made->operators[made->operator_count] = one;
    return &made->operators[made->operator_count++];
}

void tw__lite_set_field(tw__lite_made_operator *made, int field, char kind, double value)
{
    for (int i = 0; i < made->field_count; i++) {
        if (made->fields[i].field == field) {
            made->fields[i].value = value;
            return;
        }
    }
    if (made->field_count < TW_LITE_FIELDS)
        made->fields[made->field_count++] = (tw__lite_made_field){ (uint8_t)field, kind, value };
}

const tw_attr *tw__lite_attr(const tw__lite_lowering *l, const char *name)
{
    return tw__attr_find(l->node->op, l->node->attrs, name);
}

const tw_shape *tw__lite_shape_of(const tw__lite_lowering *l, int input)
{
    return l->in[input].constant ? &l->in[input].constant->shape : &l->made->tensors[l->in[input].tensor].shape;
}

tw_status tw__lite_cannot(const tw__lite_lowering *l, const char *why)
{
    return tw__fail(TW_UNIMPLEMENTED, "node '%s': the op %s can't be converted to TFLite: %s", l->node->name, l->node->op->name,
                    why);
}

/* ---- ops that are one operator ---- */

/* TFLite wants numbers of dimensions, sizes and the like as int32. */
static int narrowed(tw__lite_lowering *l, int input)
{
    static const char *const kinds =
        " Tidx Tshape Tperm Tpaddings Index Tdim Tmultiples index_type Tblock_shape Tcrops Tlen Taxis ";
    const tw__op_signature *signature = tw__op_signature_of(l->node->op);
    tw_dtype dtype = l->in[input].constant ? l->in[input].constant->dtype : l->made->tensors[l->in[input].tensor].dtype;
    int kind = input < signature->input_count ? signature->inputs[input].type_attr : -1;
    char word[40];
    if (dtype != TW_INT64 || kind < 0 || signature->has_lists)
        return tw__lite_tensor_of(l, input);
    snprintf(word, sizeof word, " %s ", signature->attrs[kind].name);
    if (!strstr(kinds, word))
        return tw__lite_tensor_of(l, input);
    if (l->in[input].constant)
        return tw__lite_constant_of(l, tw__temp_cast(l->t, l->in[input].constant, TW_INT32));
    int made = tw__lite_between(l, TW_INT32, tw__lite_shape_of(l, input));
    tw__lite_made_operator *cast = TW_EMIT(l, "CAST", made, l->in[input].tensor);
    if (cast) {
        tw__lite_set_field(cast, 0, 't', tw__lite_type(TW_INT64));
        tw__lite_set_field(cast, 1, 't', tw__lite_type(TW_INT32));
    }
    return cast ? made : -1;
}

static void put_attrs(const tw__lite_lowering *l, const tw__lite_builtin *builtin, tw__lite_made_operator *made)
{
    int field;
    char kind, name[24];
    for (const char *at = builtin->attrs; at && *at; at += strcspn(at, ","), at += strspn(at, ", ")) {
        if (sscanf(at, "%d%c", &field, &kind) == 2 || sscanf(at, "%23s %d%c", name, &field, &kind) != 3)
            continue;
        const tw_attr *attr = strchr("no", kind) ? NULL : tw__lite_attr(l, name);
        if (!attr)
            tw__lite_set_field(made, field, 'i', kind == 'n' ? made->input_count : made->output_count);
        else if (attr->kind == TW_ATTR_TYPE)
            tw__lite_set_field(made, field, kind, tw__lite_type(attr->type));
        else
            tw__lite_set_field(made, field, kind,
                               attr->kind == TW_ATTR_FLOAT  ? attr->f
                               : attr->kind == TW_ATTR_BOOL ? attr->b
                                                            : (double)attr->i);
    }
}

static tw_status lower_by_row(tw__lite_lowering *l, const tw__lite_builtin *builtin)
{
    tw__owned int *inputs = tw__alloc_array((size_t)l->count + 1, sizeof *inputs);
    int outputs[MOST_OUTPUTS];
    TW_NEED(inputs);
    if (l->node->output_count > MOST_OUTPUTS)
        return tw__lite_cannot(l, "it has too many outputs");
    for (int i = 0; i < l->count; i++) {
        inputs[i] = narrowed(l, i);
        if (inputs[i] < 0)
            return tw__error_status();
    }
    for (int i = 0; i < l->node->output_count; i++) {
        outputs[i] = tw__lite_result(l, i);
        if (outputs[i] < 0)
            return tw__error_status();
    }
    tw__lite_made_operator *made = tw__lite_emit(l, builtin->name, inputs, l->count, outputs, l->node->output_count);
    TW_NEED(made);
    put_attrs(l, builtin, made);
    return TW_OK;
}

static tw_status lower_op(tw__lite_lowering *l)
{
    tw__lite_form form = tw__lite_form_of(l->node->op->name);
    if (form)
        return form(l);
    for (int i = 0; i < TW_LITE_BUILTINS; i++) {
        const tw__lite_builtin *builtin = &tw__lite_builtins[i];
        if (builtin->op && strcmp(builtin->op->name, l->node->op->name) == 0)
            return lower_by_row(l, builtin);
    }
    return tw__lite_cannot(l, "there is no operator for it");
}

/* ---- nodes ---- */

static bool all_constant(const tw__lite_lowering *l)
{
    for (int i = 0; i < l->count; i++) {
        if (!l->in[i].constant)
            return false;
    }
    return true;
}

static tw_status compute(tw__lite_lowering *l)
{
    tw_tensor *made[MOST_OUTPUTS], *inputs[MOST_OUTPUTS];
    int count = l->node->output_count;
    if (count > MOST_OUTPUTS || l->count > MOST_OUTPUTS)
        return tw__lite_cannot(l, "it has too many inputs or outputs");
    for (int i = 0; i < l->count; i++)
        inputs[i] = l->in[i].constant;
    TW_TRY(tw__apply(l->node->op, inputs, l->count, l->node->attrs, l->node->attr_count, made, &count));
    for (int i = 0; i < count; i++)
        l->out[i].constant = made[i];
    return TW_OK;
}

static tw_status lower_node(tw__lite_lowering *l, int depth)
{
    const tw__node *node = l->node;
    tw__body body;
    if (tw__node_is(node, TW_ROLE_CONSTANT)) {
        l->out[0].constant = tw_retain(tw__node_constant(node));
        return TW_OK;
    }
    if (!node->output_count && !tw__node_is(node, TW_ROLE_ASSIGN) && !tw__node_is(node, TW_ROLE_CALL))
        return TW_OK; /* NoOp, checks */
    if (tw__node_body(node, TW_ROLE_CALL, "f", 0, &body))
        return tw__lite_lower(l->made, &body, l->in, l->out, depth + 1);
    if (tw__node_is(node, TW_ROLE_BRANCH) || tw__node_is(node, TW_ROLE_LOOP) || tw__node_is(node, TW_ROLE_ASSIGN))
        return tw__lite_cannot(l, tw__node_is(node, TW_ROLE_ASSIGN) ? "variables that change are not supported"
                                                                    : "branches and loops are not supported");
    bool pure = (!node->op->stateful || tw__node_is(node, TW_ROLE_READ) || node->op->reads_rows) && !node->op->free_state;
    if (pure && all_constant(l))
        return compute(l);
    return lower_op(l);
}

static int place_of(const tw__pointer_map *places, const tw__edge *edge)
{
    int64_t first = tw__pointer_map_get(places, edge->node, -1);
    return first < 0 ? -1 : (int)first + edge->output;
}

static void known_end(tw__lite_known *list, int count)
{
    for (int i = 0; list && i < count; i++)
        tw_release(list[i].constant);
    tw__free(list);
}

static tw_status lower_nodes(tw__lite_made *made, const tw__body *body, tw__lite_known *values, tw__pointer_map *places,
                             int depth)
{
    int at = body->input_count; /* values of nodes come behind those of the inputs */
    for (size_t n = 0; n < body->graph->node_count; n++) {
        const tw__node *node = body->graph->nodes[n];
        TW_TEMPS(t);
        tw__lite_lowering l = { .made = made, .node = node, .count = node->input_count, .t = t };
        if (tw__pointer_map_get(places, node, -1) >= 0) /* an input */
            continue;
        l.in = tw__temp_memory(t, tw__alloc_array((size_t)node->input_count + 1, sizeof *l.in));
        TW_NEED(l.in);
        for (int i = 0; i < node->input_count; i++) {
            int place = place_of(places, &node->inputs[i]);
            if (place < 0)
                return tw__lite_cannot(&l, "it uses a value from outside of the function");
            l.in[i] = values[place];
        }
        int first = at;
        at += node->output_count;
        l.out = values + first;
        TW_TRY(tw__pointer_map_put(places, node, first));
        TW_TRY(lower_node(&l, depth));
    }
    return TW_OK;
}

tw_status tw__lite_lower(tw__lite_made *made, const tw__body *body, const tw__lite_known *inputs, tw__lite_known *outputs,
                         int depth)
{
    if (depth > DEEPEST)
        return tw__fail(TW_UNIMPLEMENTED, "functions call each other more than %d deep", DEEPEST);
    tw__pointer_map places = { 0 };
    size_t room = (size_t)body->input_count;
    for (size_t n = 0; n < body->graph->node_count; n++)
        room += (size_t)body->graph->nodes[n]->output_count;
    tw__lite_known *values = tw__alloc_array(room + 1, sizeof *values);
    TW_NEED(values);
    for (size_t i = 0; i < room; i++)
        values[i].tensor = -1;
    tw_status status = TW_OK;
    for (int i = 0; status == TW_OK && i < body->input_count; i++) {
        values[i] = (tw__lite_known){ tw_retain(inputs[i].constant), inputs[i].tensor };
        status = tw__pointer_map_put(&places, body->inputs[i], i);
    }
    if (status == TW_OK)
        status = lower_nodes(made, body, values, &places, depth);
    for (int i = 0; status == TW_OK && i < body->output_count; i++) {
        int place = place_of(&places, &body->outputs[i]);
        if (place < 0 || (!values[place].constant && values[place].tensor < 0))
            status = tw__fail(TW_UNIMPLEMENTED, "output %d of the function has no value in the file", i);
        else
            outputs[i] = (tw__lite_known){ tw_retain(values[place].constant), values[place].tensor };
    }
    known_end(values, (int)room);
    tw__pointer_map_free(&places);
    return status;
}
