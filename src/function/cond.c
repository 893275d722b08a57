/* If: one of two functions runs.
 *
 * When a tape follows the inputs, branches that keep what their gradients need are used: their results, then the then-branch's inner
 * values, then the else-branch's; a branch gives stand-ins (FakeParam) for the other's. The gradient is an If over the branches' backward
 * functions. A plan that needs only the results takes the plain branches (the node's lean form). */
#include "function/control.h"
#include "rows.h"

typedef struct if_form {
    tw_object object;
    tw__function *branches[2]; /* the plain ones */
    int results, extras[2];
} if_form;

static void form_destroy(void *self)
{
    if_form *form = self;
    tw_release(form->branches[0]);
    tw_release(form->branches[1]);
}

static const tw_class form_class = { .name = "IfForm", .size = sizeof(if_form), .destroy = form_destroy };

bool tw__control_followed(tw_tensor *const *inputs, int count)
{
    if (!tw__active_tapes || tw__derivation_depth > 0)
        return false;
    for (int i = 0; tw__tracing && i < count; i++) {
        if (tw__function_carries(inputs[i]->dtype) || inputs[i]->dtype == TW_RESOURCE)
            return true;
    }
    return tw__tapes_follow(inputs, count);
}

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

/* ---- the gradient ---- */

typedef struct if_backward {
    tw__gradient *g;
    if_form *form;
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
    tw__function *f = b->form->branches[b->which], *forward = f->forward, *backward = f->backward;
    int shift = b->which ? b->form->extras[0] : 0, own = 0;
    tw_tensor **in = tw__alloc_array((size_t)backward->input_count + 1, sizeof *in);
    tw_tensor **out = tw__alloc_array((size_t)backward->output_count + 1, sizeof *out);
    tw_tensor **results = tw__alloc_array((size_t)g->input_count + 1, sizeof *results);
    tw_status status = in && out && results ? TW_OK : TW_RESOURCE_EXHAUSTED;
    for (int i = 0; status == TW_OK && i < b->form->results; i++) {
        if (!tw__function_carries(g->outputs[i]->dtype))
            continue;
        in[own] = g->output_grads[i] ? tw_retain(g->output_grads[i]) : TW_UNARY(ZerosLike, g->outputs[i]);
        if (!in[own++])
            status = tw__error_status();
    }
    for (int i = 0; status == TW_OK && i < backward->input_count - backward->argument_count; i++) {
        int place = forward->forward_of_capture[i];
        in[backward->argument_count + i] = place == INT32_MIN            ? backward->captures[i]
                                           : place < 0                   ? g->inputs[-place]
                                           : place < b->form->results ? g->outputs[place]
                                                                         : g->outputs[place + shift];
    }
    if (status == TW_OK)
        status = tw__function_call_plain(backward, in, out);
    int made = 0;
    for (int i = 1; status == TW_OK && i < g->input_count; i++) {
        if (!b->given[i])
            continue;
        int source = forward->backward_sources[i - 1];
        const tw__function *other = b->form->branches[!b->which];
        if (source >= 0)
            results[made] = tw_retain(out[source]);
        else
            results[made] = zero_gradient(g->inputs[i], tw__function_output_dtype(other->backward, other->forward->backward_sources[i - 1]));
        if (!results[made++])
            status = tw__error_status();
    }
    for (int i = 0; in && i < own; i++)
        tw_release(in[i]);
    for (int i = 0; out && i < backward->output_count; i++)
        tw_release(out[i]);
    tw__free(in);
    tw__free(out);
    if (status != TW_OK) {
        for (int i = 0; results && i < made; i++)
            tw_release(results[i]);
        tw__free(results);
        return status;
    }
    *outputs = results;
    *output_count = made;
    return TW_OK;
}

static tw_status if_gradient(tw__gradient *g)
{
    tw__function *branch = branch_of(g->op, g->attrs, 0);
    if_form *form = (if_form *)branch->form;
    if (!form) {
        TW_TRY(tw__function_differentiate(branch));
        TW_TRY(tw__function_differentiate(branch_of(g->op, g->attrs, 1)));
        return TW_OP_FAIL(g, TW_UNIMPLEMENTED, "second derivatives of branches");
    }
    bool *given = tw__alloc_array((size_t)g->input_count + 1, sizeof *given);
    if (!given)
        return TW_RESOURCE_EXHAUSTED;
    for (int i = 1; i < g->input_count; i++)
        given[i] = g->wanted[i] && (form->branches[0]->forward->backward_sources[i - 1] >= 0 || form->branches[1]->forward->backward_sources[i - 1] >= 0);
    if_backward then_side = { g, form, 0, given }, else_side = { g, form, 1, given };
    tw_tensor **results = NULL;
    int count = 0, at = 0;
    tw_status status = tw__cond(g->inputs[0], backward_branch, &then_side, backward_branch, &else_side, &results, &count);
    for (int i = 1; status == TW_OK && i < g->input_count; i++) {
        if (given[i])
            g->input_grads[i] = results[at++];
    }
    tw__free(results);
    tw__free(given);
    return status;
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
            tw_tensor *fake = tw__call(&tw__op_FakeParam, NULL, 0, TW_WITH(TW_A_TYPE("dtype", dtype), TW_A_SHAPE("shape", &none)), 2);
            results[at] = fake;
            status = fake ? TW_OK : tw__error_status();
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
    if (f) {
        tw_release(f->tape);
        f->tape = NULL;
        f->form = tw_retain(form);
    }
    return f;
}

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

/* The form that keeps inner values; *done stays false (and no error is left) if there is none. */
static tw_status apply_keeping(tw__function *a, tw__function *b, tw_tensor *const *inputs, int input_count, tw_tensor **outputs, bool *done)
{
    if (tw__function_differentiate(a) != TW_OK || tw__function_differentiate(b) != TW_OK) {
        tw_clear_error();
        return TW_OK;
    }
    tw_auto if_form *form = tw__object_new(&form_class);
    if (!form)
        return TW_RESOURCE_EXHAUSTED;
    form->branches[0] = tw_retain(a);
    form->branches[1] = tw_retain(b);
    form->results = a->output_count;
    form->extras[0] = a->forward->output_count - a->output_count;
    form->extras[1] = b->forward->output_count - b->output_count;
    int all_count = form->results + form->extras[0] + form->extras[1];
    tw_auto tw__function *then_side = keep(form, 0), *else_side = then_side ? keep(form, 1) : NULL;
    tw_tensor **all = tw__alloc_array((size_t)all_count + 1, sizeof *all);
    tw_status status = else_side && all ? apply_if(then_side, else_side, inputs, input_count, all, all_count) : tw__error_status();
    if (status == TW_OK && all_count && all[0]->node) {
        tw__node *node = all[0]->node;
        tw_attr lean[TW_MAX_ATTRS];
        memcpy(lean, node->attrs, (size_t)node->attr_count * sizeof *lean);
        for (int i = 0; i < node->attr_count; i++) {
            if (strcmp(lean[i].name, "then_branch") == 0)
                lean[i].func = a;
            else if (strcmp(lean[i].name, "else_branch") == 0)
                lean[i].func = b;
            else if (strcmp(lean[i].name, "Tout") == 0)
                lean[i].count = form->results;
        }
        status = tw__node_set_lean(node, lean, input_count, form->results);
    }
    for (int i = 0; all && i < all_count; i++) {
        if (status == TW_OK && i < form->results)
            outputs[i] = all[i];
        else
            tw_release(all[i]);
    }
    tw__free(all);
    *done = true;
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
    bool done = false;
    if (status == TW_OK && a->output_count && tw__control_followed(inputs + 1, count))
        status = apply_keeping(a, b, inputs, count + 1, *outputs, &done);
    if (status == TW_OK && !done)
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
