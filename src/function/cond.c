/* If: one of two functions runs.
 *
 * When it is differentiated, the node gets a richer form (graph.h) with branches that give what their gradients need: their results, then
 * the then-branch's inner values, then the else-branch's; a branch gives stand-ins (FakeParam) for the other's. The gradient is an If over
 * the branches' backward functions. If a gradient of those further outputs is asked for, the rich form is differentiated in turn. */
#include "function/control.h"
#include "op/slices.h"
#include "rows.h"

typedef struct if_form {
    tw_object object;
    tw__function *branches[2]; /* of the form before */
    int results, extras[2];
    struct if_form *lower;     /* how that one was made, if it keeps values, too */
} if_form;

static void form_destroy(void *self)
{
    if_form *form = self;
    tw_release(form->branches[0]);
    tw_release(form->branches[1]);
    tw_release(form->lower);
}

static const tw_class form_class = { .name = "IfForm", .size = sizeof(if_form), .destroy = form_destroy };

tw_status tw__control_unite(tw_tensor ***list, int *count, const tw__function *f)
{
    int captures = f->input_count - f->argument_count;
    tw_tensor **more = tw__realloc(*list, ((size_t)(*count + captures) + 1) * sizeof *more);
    if (!more)
        return TW_RESOURCE_EXHAUSTED;
    *list = more;
    for (int i = 0; i < captures; i++) {
        bool there = false;
        for (int k = 0; k < *count && !there; k++)
            there = more[k] == f->captures[i];
        if (!there)
            more[(*count)++] = f->captures[i];
    }
    return TW_OK;
}

/* ---- the ops ---- */

static tw__function *branch_of(const tw_op *op, const tw_attr *attrs, int which)
{
    return tw__attr_find(op, attrs, which ? "else_branch" : "then_branch")->func;
}

static tw_status check_branch(tw__inference *inference, int which)
{
    tw__function *f = branch_of(inference->op, inference->attrs, which);
    if (!tw__is(f, &tw__function_class))
        return TW_OP_FAIL(inference, TW_INVALID_ARGUMENT, "the attr %s is no function", which ? "else_branch" : "then_branch");
    if (f->input_count != inference->input_count - 1 || f->output_count != inference->output_count)
        return TW_OP_FAIL(inference, TW_INVALID_ARGUMENT, "branch %s takes %d inputs and gives %d outputs; the call has %d and %d", f->name,
                          f->input_count, f->output_count, inference->input_count - 1, inference->output_count);
    for (int i = 0; i < f->input_count; i++) {
        if (f->inputs[i]->out_dtypes[0] != inference->dtypes[i + 1])
            return TW_OP_FAIL(inference, TW_INVALID_ARGUMENT, "input %d of branch %s is %s, got %s", i, f->name,
                              tw_dtype_name(f->inputs[i]->out_dtypes[0]), tw_dtype_name(inference->dtypes[i + 1]));
    }
    for (int i = 0; i < f->output_count; i++) {
        if (tw__function_output_dtype(f, i) != inference->out_dtypes[i])
            return TW_OP_FAIL(inference, TW_INVALID_ARGUMENT, "output %d of branch %s is %s, expected %s", i, f->name,
                              tw_dtype_name(tw__function_output_dtype(f, i)), tw_dtype_name(inference->out_dtypes[i]));
    }
    return TW_OK;
}

/* What holds of both shapes. */
static tw_shape common_shape(const tw_shape *a, const tw_shape *b)
{
    if (a->rank < 0 || a->rank != b->rank)
        return TW_UNKNOWN_SHAPE;
    tw_shape common = *a;
    for (int i = 0; i < a->rank; i++) {
        if (a->dims[i] != b->dims[i])
            common.dims[i] = -1;
    }
    return common;
}

static tw_status if_shape(tw__inference *inference)
{
    TW_TRY(check_branch(inference, 0));
    TW_TRY(check_branch(inference, 1));
    const tw__function *a = branch_of(inference->op, inference->attrs, 0), *b = branch_of(inference->op, inference->attrs, 1);
    for (int i = 0; i < inference->output_count; i++)
        inference->out_shapes[i] = common_shape(tw__function_output_shape(a, i), tw__function_output_shape(b, i));
    return TW_OK;
}

static tw_status truth_of(const tw_op *op, const tw_tensor *tensor, bool *truth)
{
    if (tensor->shape.rank != 0) { /* as TensorFlow's: anything in it is true */
        *truth = tensor->count > 0;
        return TW_OK;
    }
    if (tensor->dtype == TW_STRING)
        *truth = ((const tw_string *)tensor->data)->size > 0;
    else if (tensor->dtype == TW_BOOL)
        *truth = *(const bool *)tensor->data;
    else if (tw__dtype_is_float(tensor->dtype) || tw__dtype_is_integer(tensor->dtype))
        *truth = tw_tensor_double_at(tensor, 0) != 0;
    else
        return tw__fail(TW_INVALID_ARGUMENT, "%s: a value of dtype %s is neither true nor false", op->name, tw_dtype_name(tensor->dtype));
    return TW_OK;
}

static tw_status if_compute(tw__kernel *kernel)
{
    bool truth = false;
    TW_TRY(truth_of(kernel->op, kernel->inputs[0], &truth));
    return tw__function_run(branch_of(kernel->op, kernel->attrs, truth ? 0 : 1), kernel->inputs + 1, kernel->outputs);
}

/* ---- the form that keeps values ---- */

typedef struct keeping {
    if_form *form;
    int which;
} keeping;

/* A branch that gives its inner values, too. */
static tw_status keeping_branch(void *context, tw_tensor *const *arguments, __attribute__((unused)) int count, tw_tensor ***outputs, int *output_count)
{
    keeping *k = context;
    if_form *form = k->form;
    tw__function *forward = form->branches[k->which]->forward;
    int all = form->results + form->extras[0] + form->extras[1];
    tw_tensor **results = tw__alloc_array((size_t)all + 1, sizeof *results), **own = tw__alloc_array((size_t)forward->output_count + 1, sizeof *own);
    tw_status status = results && own ? tw__function_call_plain(forward, arguments, own) : TW_RESOURCE_EXHAUSTED;
    int at = 0, mine = form->results;
    for (int i = 0; status == TW_OK && i < form->results; i++)
        results[at++] = own[i];
    for (int side = 0; side < 2; side++) {
        const tw__function *other = form->branches[side]->forward;
        for (int i = 0; status == TW_OK && i < form->extras[side]; i++) {
            if (side == k->which) {
                results[at++] = own[mine++];
                continue;
            }
            tw_dtype dtype = tw__function_output_dtype(other, form->results + i);
            tw_shape none = dtype == TW_VARIANT ? TW_SCALAR : TW_UNKNOWN_SHAPE;
            results[at] = tw__call(&tw__op_FakeParam, NULL, 0, TW_WITH(TW_A_TYPE("dtype", dtype), TW_A_SHAPE("shape", &none)), 2);
            status = results[at] ? TW_OK : tw__error_status();
            at++;
        }
    }
    tw__free(own);
    *outputs = results;
    *output_count = results ? at : 0;
    return status;
}

static tw__function *keep(if_form *form, int which)
{
    tw__function *plain = form->branches[which];
    size_t count = (size_t)plain->input_count + 1;
    tw_dtype *dtypes = tw__alloc_array(count, sizeof *dtypes);
    tw_shape *shapes = tw__alloc_array(count, sizeof *shapes);
    for (int i = 0; dtypes && shapes && i < plain->input_count; i++) {
        dtypes[i] = plain->inputs[i]->out_dtypes[0];
        shapes[i] = plain->inputs[i]->out_shapes[0];
    }
    tw__function *f = dtypes && shapes ? tw__function_trace(plain->name, dtypes, shapes, plain->input_count, keeping_branch, &(keeping){ form, which }) : NULL;
    tw__free(dtypes);
    tw__free(shapes);
    if (f)
        f->form = tw_retain(form);
    return f;
}

static tw_status enrich_with(tw__node *node, tw__function *const *branches, int count)
{
    const tw__node *rich = tw__node_richest(node);
    tw_attr attrs[TW_MAX_ATTRS];
    tw_dtype *dtypes = tw__alloc_array((size_t)count + 1, sizeof *dtypes);
    tw_shape *shapes = tw__alloc_array((size_t)count + 1, sizeof *shapes);
    tw_status status = dtypes && shapes ? TW_OK : TW_RESOURCE_EXHAUSTED;
    memcpy(attrs, rich->attrs, (size_t)rich->attr_count * sizeof *attrs);
    for (int i = 0; status == TW_OK && i < count; i++) {
        dtypes[i] = tw__function_output_dtype(branches[0], i);
        shapes[i] = i < rich->output_count ? rich->out_shapes[i] : common_shape(tw__function_output_shape(branches[0], i), tw__function_output_shape(branches[1], i));
    }
    for (int i = 0; i < rich->attr_count; i++) {
        if (strcmp(attrs[i].name, "then_branch") == 0)
            attrs[i].func = branches[0];
        else if (strcmp(attrs[i].name, "else_branch") == 0)
            attrs[i].func = branches[1];
        else if (strcmp(attrs[i].name, "Tout") == 0)
            attrs[i] = TW_A_TYPES("Tout", dtypes, count);
        else if (strcmp(attrs[i].name, "output_shapes") == 0)
            attrs[i].count = 0;
    }
    if (status == TW_OK)
        status = tw__node_enrich(node, attrs, rich->inputs, rich->input_count, dtypes, shapes, count);
    tw__free(dtypes);
    tw__free(shapes);
    return status;
}

static tw_status enrich(tw__node *node)
{
    const tw__node *rich = tw__node_richest(node);
    tw_auto if_form *form = tw__object_new(&form_class);
    if (!form)
        return TW_RESOURCE_EXHAUSTED;
    for (int i = 0; i < 2; i++) {
        form->branches[i] = tw_retain(branch_of(rich->op, rich->attrs, i));
        TW_TRY(tw__function_differentiate(form->branches[i]));
        form->extras[i] = form->branches[i]->forward->output_count - rich->output_count;
    }
    form->results = rich->output_count;
    form->lower = tw_retain(form->branches[0]->form);
    tw__graph *outer = tw__tracing;
    tw__tracing = node->graph;
    tw_auto tw__function *then_side = keep(form, 0), *else_side = then_side ? keep(form, 1) : NULL;
    tw__tracing = outer;
    if (!else_side)
        return tw__error_status();
    return enrich_with(node, (tw__function *[]){ then_side, else_side }, form->results + form->extras[0] + form->extras[1]);
}

/* The poorest form of the node that keeps what gradients of this many outputs need. */
static if_form *form_for(const tw__node *node, int targets)
{
    const tw__node *rich = tw__node_richest(node);
    if_form *found = NULL;
    for (if_form *form = (if_form *)branch_of(rich->op, rich->attrs, 0)->form; form && form->results >= targets; form = form->lower)
        found = form;
    return found;
}

/* ---- the gradient ---- */

typedef struct if_backward {
    tw__gradient *g;
    if_form *form;
    tw_tensor **outputs, **out_grads; /* of the form that keeps values */
    int which;
    const bool *given; /* per input: whether a branch has a gradient for it */
} if_backward;

static tw_tensor *zero_gradient(tw_tensor *input, tw_dtype dtype)
{
    if (input->dtype != TW_RESOURCE)
        return TW_UNARY(ZerosLike, input);
    tw_auto tw_tensor *value = tw__call(&tw__op_ReadVariableOp, TW_IN(input), 1, TW_WITH(TW_A_TYPE("dtype", dtype)), 1);
    return value ? TW_UNARY(ZerosLike, value) : NULL;
}

static tw_status backward_branch(void *context, __attribute__((unused)) tw_tensor *const *arguments, __attribute__((unused)) int count,
                                 tw_tensor ***outputs, int *output_count)
{
    if_backward *b = context;
    tw__gradient *g = b->g;
    const if_form *form = b->form;
    const tw__function *f = form->branches[b->which], *other = form->branches[!b->which];
    tw_tensor **own = tw__alloc_array((size_t)f->forward->output_count + 1, sizeof *own);
    tw_tensor **gradients = tw__alloc_array((size_t)g->input_count + 1, sizeof *gradients);
    tw_tensor **results = tw__alloc_array((size_t)g->input_count + 1, sizeof *results);
    tw_status status = own && gradients && results ? TW_OK : TW_RESOURCE_EXHAUSTED;
    for (int i = 0; status == TW_OK && i < f->forward->output_count; i++)
        own[i] = b->outputs[i < form->results || !b->which ? i : i + form->extras[0]];
    if (status == TW_OK)
        status = tw__derivative_call(f->derivative, g->inputs + 1, own, b->out_grads, gradients);
    int made = 0;
    for (int i = 1; status == TW_OK && i < g->input_count; i++) {
        if (!b->given[i])
            continue;
        tw_tensor *mine = gradients[i - 1];
        if (mine)
            results[made] = tw__slices_dense(mine);
        else
            results[made] = zero_gradient(g->inputs[i], tw__function_output_dtype(other->derivative->backward, other->derivative->sources[i - 1]));
        if (!results[made++])
            status = tw__error_status();
    }
    for (int i = 0; gradients && i < g->input_count; i++)
        tw_release(gradients[i]);
    tw__free(gradients);
    tw__free(own);
    *outputs = results;
    *output_count = results ? made : 0;
    return status;
}

static tw_status gradient_in_graph(tw__gradient *g, tw__node *node, if_form *form)
{
    int count = form->results + form->extras[0] + form->extras[1], at = 0, result_count = 0;
    bool *given = tw__alloc_array((size_t)g->input_count + 1, sizeof *given);
    tw_tensor **outputs = tw__alloc_array((size_t)count + 1, sizeof *outputs), **results = NULL;
    tw_tensor **out_grads = tw__alloc_array((size_t)count + 1, sizeof *out_grads);
    tw_status status = given && outputs && out_grads ? tw__gradient_outputs(g, node, count, outputs) : TW_RESOURCE_EXHAUSTED;
    for (int i = 0; status == TW_OK && i < count && i < g->output_count; i++)
        out_grads[i] = g->output_grads[i];
    for (int i = 1; status == TW_OK && i < g->input_count; i++)
        given[i] = g->wanted[i] && (form->branches[0]->derivative->sources[i - 1] >= 0 || form->branches[1]->derivative->sources[i - 1] >= 0);
    if_backward then_side = { g, form, outputs, out_grads, 0, given }, else_side = { g, form, outputs, out_grads, 1, given };
    if (status == TW_OK)
        status = tw__cond(g->inputs[0], backward_branch, &then_side, backward_branch, &else_side, &results, &result_count);
    for (int i = 1; status == TW_OK && i < g->input_count; i++) {
        if (given[i])
            g->input_grads[i] = results[at++];
    }
    for (int i = 0; outputs && i < count; i++)
        tw_release(outputs[i]);
    tw__free(results);
    tw__free(given);
    tw__free(outputs);
    tw__free(out_grads);
    return status;
}

/* It ran already: the branch runs again, with what its gradient needs. */
static tw_status gradient_of_run(tw__gradient *g)
{
    bool truth = false;
    TW_TRY(truth_of(g->op, g->inputs[0], &truth));
    tw__function *f = branch_of(g->op, g->attrs, truth ? 0 : 1);
    TW_TRY(tw__function_differentiate(f));
    if (f->stateful)
        return TW_OP_FAIL(g, TW_UNIMPLEMENTED, "the gradient of branch %s, which has side effects, outside of a function", f->name);
    tw_tensor **outputs = tw__alloc_array((size_t)f->forward->output_count + 1, sizeof *outputs);
    tw_status status = outputs ? tw__function_call_plain(f->forward, g->inputs + 1, outputs) : TW_RESOURCE_EXHAUSTED;
    if (status == TW_OK)
        status = tw__derivative_call(f->derivative, g->inputs + 1, outputs, g->output_grads, g->input_grads + 1);
    for (int i = 0; outputs && i < f->forward->output_count; i++)
        tw_release(outputs[i]);
    tw__free(outputs);
    return status;
}

static tw_status if_gradient(tw__gradient *g)
{
    tw__node *node = g->outputs[0]->node;
    if (!node)
        return gradient_of_run(g);
    int targets = tw__gradient_targets(g);
    if (!form_for(node, targets))
        TW_TRY(enrich(node));
    return gradient_in_graph(g, node, form_for(node, targets));
}

TW_OP(If,
    .inputs = "cond: Tcond, input: Tin", .outputs = "output: Tout",
    .attrs = "Tcond: type, Tin: list(type) >= 0, Tout: list(type) >= 0, then_branch: func, else_branch: func, output_shapes: list(shape) = []",
    .shape = if_shape, .compute = if_compute, .gradient = if_gradient, .makes_outputs = true, .reads_variable = true, .stateful = true,
    .doc = "Runs one of two functions, which may have side effects.");

TW_OP(StatelessIf,
    .inputs = "cond: Tcond, input: Tin", .outputs = "output: Tout",
    .attrs = "Tcond: type, Tin: list(type) >= 0, Tout: list(type) >= 0, then_branch: func, else_branch: func, output_shapes: list(shape) = []",
    .shape = if_shape, .compute = if_compute, .gradient = if_gradient, .makes_outputs = true, .reads_variable = true,
    .doc = "Runs one of two functions.");

static tw_status fake_shape(tw__inference *inference)
{
    inference->out_shapes[0] = *TW_ATTR(inference, "shape")->shape;
    return TW_OK;
}

static tw_status fake_compute(tw__kernel *kernel)
{
    tw_shape shape = *TW_ATTR(kernel, "shape")->shape;
    if (!tw__shape_known(&shape))
        shape = kernel->out_dtypes[0] == TW_VARIANT ? TW_SCALAR : TW_SHAPE(0);
    tw_tensor *out = tw__tensor_empty(kernel->out_dtypes[0], &shape);
    if (out && tw_dtype_size(out->dtype))
        memset(out->data, 0, (size_t)out->count * tw_dtype_size(out->dtype));
    return tw__output_take(kernel, 0, out);
}

TW_OP(FakeParam,
    .outputs = "output: dtype", .attrs = "dtype: type, shape: shape", .shape = fake_shape, .compute = fake_compute, .makes_outputs = true,
    .doc = "Stands for a value that is never used.");

/* ---- building ---- */

static tw_status apply_if(tw__function *a, tw__function *b, tw_tensor *const *inputs, int input_count, tw_tensor **outputs, int output_count)
{
    tw_dtype *types = tw__alloc_array((size_t)output_count + 1, sizeof *types);
    if (!types)
        return TW_RESOURCE_EXHAUSTED;
    for (int i = 0; i < output_count; i++)
        types[i] = tw__function_output_dtype(a, i);
    tw_attr attrs[] = { TW_A_TYPES("Tout", types, output_count), TW_A_FUNC("then_branch", a), TW_A_FUNC("else_branch", b) };
    tw_status status = tw__apply(a->stateful || b->stateful ? &tw__op_If : &tw__op_StatelessIf, inputs, input_count, attrs, 3, outputs, &output_count);
    tw__free(types);
    return status;
}

static tw_status build_if(tw_tensor *predicate, tw__function *a, tw__function *b, tw_tensor ***outputs, int *output_count)
{
    if (a->output_count != b->output_count)
        return tw__fail(TW_TYPE_ERROR, "true_fn and false_fn must return the same number of values, got %d and %d", a->output_count, b->output_count);
    for (int i = 0; i < a->output_count; i++) {
        tw_dtype x = tw__function_output_dtype(a, i), y = tw__function_output_dtype(b, i);
        if (x != y)
            return tw__fail(TW_TYPE_ERROR, "true_fn and false_fn arguments to tf.cond must have the same number, type, and overall structure of return values. "
                            "Output %d is %s in true_fn and %s in false_fn", i, tw_dtype_name(x), tw_dtype_name(y));
    }
    tw_tensor **captures = NULL;
    int count = 0;
    tw_status status = tw__control_unite(&captures, &count, a);
    if (status == TW_OK)
        status = tw__control_unite(&captures, &count, b);
    tw_tensor **inputs = tw__alloc_array((size_t)count + 2, sizeof *inputs);
    *outputs = tw__alloc_array((size_t)a->output_count + 1, sizeof **outputs);
    if (!inputs || !*outputs)
        status = TW_RESOURCE_EXHAUSTED;
    if (status == TW_OK) {
        inputs[0] = predicate;
        memcpy(inputs + 1, captures, (size_t)count * sizeof *inputs);
        status = tw__function_set_captures(a, inputs + 1, count);
    }
    if (status == TW_OK)
        status = tw__function_set_captures(b, inputs + 1, count);
    if (status == TW_OK)
        status = apply_if(a, b, inputs, count + 1, *outputs, a->output_count);
    *output_count = a->output_count;
    if (status != TW_OK) {
        tw__free(*outputs);
        *outputs = NULL;
    }
    tw__free(inputs);
    tw__free(captures);
    return status;
}

tw_status tw__cond(tw_tensor *predicate, tw__function_body then_body, void *then_context, tw__function_body else_body, void *else_context,
                   tw_tensor ***outputs, int *output_count)
{
    *outputs = NULL;
    *output_count = 0;
    if (!predicate)
        return tw__error_status();
    if (!tw__tracing && !predicate->node) {
        bool truth = false;
        TW_TRY(truth_of(&tw__op_If, predicate, &truth));
        return truth ? then_body(then_context, NULL, 0, outputs, output_count) : else_body(else_context, NULL, 0, outputs, output_count);
    }
    tw_auto tw__function *a = tw__function_trace("cond_true", NULL, NULL, 0, then_body, then_context);
    tw_auto tw__function *b = a ? tw__function_trace("cond_false", NULL, NULL, 0, else_body, else_context) : NULL;
    return b ? build_if(predicate, a, b, outputs, output_count) : tw__error_status();
}
