/* If and Case: one of several functions runs.
 *
 * When it is differentiated, the node gets a richer form (graph.h) with branches that give what their gradients need: their
 * results, then every branch's inner values in order; a branch gives stand-ins (FakeParam) for the others'. The gradient is an If
 * or Case over the branches' backward functions. If a gradient of those further outputs is asked for, the rich form is
 * differentiated in turn. */
#include <stdio.h>

#include "function/control.h"
#include "op/calls.h"
#include "op/slices.h"
#include "rows.h"

typedef struct branch_form {
    tw_object object;
    tw__function **branches;   /* of the form before */
    int *extras;               /* inner values of each */
    int count, results, all;   /* branches; outputs of the form before, of this one */
    struct branch_form *lower; /* how that one was made, if it keeps values, too */
} branch_form;

static void form_destroy(void *self)
{
    branch_form *form = self;
    for (int i = 0; form->branches && i < form->count; i++)
        tw_release(form->branches[i]);
    tw__free(form->branches);
    tw__free(form->extras);
    tw_release(form->lower);
}

static const tw_class form_class = { .name = "BranchForm", .size = sizeof(branch_form), .destroy = form_destroy };

/* ---- the ops ---- */

static bool is_case(const tw_op *op) /* of the four ops of this file */
{
    return op == &tw__op_Case || op == &tw__op_StatelessCase;
}

static int count_of(const tw_op *op, const tw_attr *attrs)
{
    return is_case(op) ? tw__attr_find(op, attrs, "branches")->count : 2;
}

static tw__function *branch_of(const tw_op *op, const tw_attr *attrs, int which)
{
    if (is_case(op))
        return tw__attr_find(op, attrs, "branches")->funcs[which];
    return tw__attr_find(op, attrs, which ? "else_branch" : "then_branch")->func;
}

static tw_status check_branch(tw__inference *inference, int which)
{
    tw__function *f = branch_of(inference->op, inference->attrs, which);
    if (!tw__is(f, &tw__function_class))
        return TW_OP_FAIL(inference, TW_INVALID_ARGUMENT, "branch %d is no function", which);
    if (f->input_count != inference->input_count - 1 || f->output_count != inference->output_count)
        return TW_OP_FAIL(inference, TW_INVALID_ARGUMENT,
                          "branch %s takes %d inputs and gives %d outputs; the call has %d and %d", f->name, f->input_count,
                          f->output_count, inference->input_count - 1, inference->output_count);
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

/* What holds of output i of all branches. */
static tw_shape shape_of_all(tw__function *const *branches, int count, int i)
{
    tw_shape shape = *tw__function_output_shape(branches[0], i);
    for (int b = 1; b < count; b++)
        shape = common_shape(&shape, tw__function_output_shape(branches[b], i));
    return shape;
}

static tw_status branch_shape(tw__inference *inference)
{
    int count = count_of(inference->op, inference->attrs);
    if (is_case(inference->op))
        TW_TRY(tw__need_rank(inference, 0, 0));
    for (int b = 0; b < count; b++) {
        TW_TRY(check_branch(inference, b));
        const tw__function *f = branch_of(inference->op, inference->attrs, b);
        for (int i = 0; i < inference->output_count; i++) {
            const tw_shape *shape = tw__function_output_shape(f, i);
            inference->out_shapes[i] = b ? common_shape(&inference->out_shapes[i], shape) : *shape;
        }
    }
    return TW_OK;
}

tw_status tw__predicate_is(const tw_op *op, const tw_tensor *tensor, bool *truth)
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
        return tw__fail(TW_INVALID_ARGUMENT, "%s: a value of dtype %s is neither true nor false", op->name,
                        tw_dtype_name(tensor->dtype));
    return TW_OK;
}

/* The last branch serves for every number that has none. */
int tw__branch_number(int64_t number, int count)
{
    return number >= 0 && number < count ? (int)number : count - 1;
}

static tw_status choose(const tw_op *op, const tw_attr *attrs, const tw_tensor *selector, tw__function **chosen)
{
    bool truth = false;
    if (!is_case(op))
        TW_TRY(tw__predicate_is(op, selector, &truth));
    *chosen =
        branch_of(op, attrs, is_case(op) ? tw__branch_number(*(const int32_t *)selector->data, count_of(op, attrs)) : !truth);
    return TW_OK;
}

static tw_status branch_compute(tw__kernel *kernel)
{
    tw__function *f = NULL;
    TW_TRY(choose(kernel->op, kernel->attrs, kernel->inputs[0], &f));
    return tw__function_run(f, kernel->inputs + 1, kernel->outputs);
}

/* ---- the form that keeps values ---- */

typedef struct keeping {
    branch_form *form;
    int which;
} keeping;

/* A branch that gives its inner values, too. */
static tw_status keeping_branch(void *context, tw_tensor *const *arguments, __attribute__((unused)) int count,
                                tw_tensor ***outputs, int *output_count)
{
    keeping *k = context;
    branch_form *form = k->form;
    tw__function *forward = form->branches[k->which]->forward;
    tw_tensor **results = *outputs = tw__alloc_array((size_t)form->all + 1, sizeof *results);
    tw__held tw_tensor **own = tw__held_new((size_t)forward->output_count);
    TW_NEED(results && own);
    TW_TRY(tw__function_call_plain(forward, arguments, own));
    int at = 0, mine = form->results;
    *output_count = form->all;
    for (int i = 0; i < form->results; i++)
        results[at++] = TW_TAKE(own[i]);
    for (int side = 0; side < form->count; side++) {
        const tw__function *other = form->branches[side]->forward;
        for (int i = 0; i < form->extras[side]; i++) {
            if (side == k->which) {
                results[at++] = TW_TAKE(own[mine]);
                mine++;
                continue;
            }
            tw_dtype dtype = tw__function_output_dtype(other, form->results + i);
            tw_shape none = dtype == TW_VARIANT ? TW_SCALAR : TW_UNKNOWN_SHAPE;
            results[at] = tw__call(&tw__op_FakeParam, NULL, 0, TW_WITH(TW_A_TYPE("dtype", dtype), TW_A_SHAPE("shape", &none)), 2);
            TW_NEED(results[at]);
            at++;
        }
    }
    return TW_OK;
}

static tw__function *keep(branch_form *form, int which)
{
    tw__function *plain = form->branches[which];
    size_t count = (size_t)plain->input_count + 1;
    tw__owned tw_dtype *dtypes = tw__alloc_array(count, sizeof *dtypes);
    tw__owned tw_shape *shapes = tw__alloc_array(count, sizeof *shapes);
    for (int i = 0; dtypes && shapes && i < plain->input_count; i++) {
        dtypes[i] = plain->inputs[i]->out_dtypes[0];
        shapes[i] = plain->inputs[i]->out_shapes[0];
    }
    tw__function *f = dtypes && shapes ? tw__function_trace(plain->name, dtypes, shapes, plain->input_count, keeping_branch,
                                                            &(keeping){ form, which })
                                       : NULL;
    if (f)
        f->form = tw_retain(form);
    return f;
}

static tw_status enrich_with(tw__node *node, tw__function *const *branches, const branch_form *form)
{
    const tw__node *rich = tw__node_richest(node);
    int count = form->all;
    tw_attr attrs[TW_MAX_ATTRS];
    tw__owned tw_dtype *dtypes = tw__alloc_array((size_t)count + 1, sizeof *dtypes);
    tw__owned tw_shape *shapes = tw__alloc_array((size_t)count + 1, sizeof *shapes);
    TW_NEED(dtypes && shapes);
    memcpy(attrs, rich->attrs, (size_t)rich->attr_count * sizeof *attrs);
    for (int i = 0; i < count; i++) {
        dtypes[i] = tw__function_output_dtype(branches[0], i);
        shapes[i] = i < rich->output_count ? rich->out_shapes[i] : shape_of_all(branches, form->count, i);
    }
    for (int i = 0; i < rich->attr_count; i++) {
        if (strcmp(attrs[i].name, "then_branch") == 0)
            attrs[i].func = branches[0];
        else if (strcmp(attrs[i].name, "else_branch") == 0)
            attrs[i].func = branches[1];
        else if (strcmp(attrs[i].name, "branches") == 0)
            attrs[i].funcs = (void *const *)branches;
        else if (strcmp(attrs[i].name, "Tout") == 0)
            attrs[i] = TW_A_TYPES("Tout", dtypes, count);
        else if (strcmp(attrs[i].name, "output_shapes") == 0)
            attrs[i].count = 0;
    }
    return tw__node_enrich(node, attrs, rich->inputs, rich->input_count, dtypes, shapes, count);
}

static branch_form *make_form(const tw__node *rich)
{
    tw_auto branch_form *form = tw__object_new(&form_class);
    if (!form)
        return NULL;
    int count = count_of(rich->op, rich->attrs);
    form->branches = tw__alloc_array((size_t)count, sizeof *form->branches);
    form->extras = tw__alloc_array((size_t)count, sizeof *form->extras);
    if (!(form->branches && form->extras))
        return NULL;
    form->all = form->results = rich->output_count;
    for (int i = 0; i < count; i++) {
        form->branches[i] = tw_retain(branch_of(rich->op, rich->attrs, i));
        form->count = i + 1;
        if (tw__function_differentiate(form->branches[i]) != TW_OK)
            return NULL;
        form->extras[i] = form->branches[i]->forward->output_count - rich->output_count;
        form->all += form->extras[i];
    }
    form->lower = tw_retain(form->branches[0]->form);
    return TW_TAKE(form);
}

static tw_status enrich(tw__node *node)
{
    tw_auto branch_form *form = make_form(tw__node_richest(node));
    tw__held tw__function **kept = form ? tw__held_new((size_t)form->count) : NULL;
    TW_NEED(kept);
    bool good = true;
    tw__graph *outer = tw__tracing;
    tw__tracing = node->graph;
    for (int i = 0; good && i < form->count; i++)
        good = (kept[i] = keep(form, i)) != NULL;
    tw__tracing = outer;
    return good ? enrich_with(node, kept, form) : tw__error_status();
}

/* The poorest form of the node that keeps what gradients of this many outputs need. */
static branch_form *form_for(const tw__node *node, int targets)
{
    const tw__node *rich = tw__node_richest(node);
    branch_form *found = NULL;
    for (branch_form *form = (branch_form *)branch_of(rich->op, rich->attrs, 0)->form; form && form->results >= targets;
         form = form->lower)
        found = form;
    return found;
}

/* ---- the gradient ---- */

typedef struct branch_backward {
    tw__gradient *g;
    branch_form *form;
    tw_tensor **outputs, **out_grads; /* of the form that keeps values */
    int which;
    const tw__function *const *given; /* per input: a branch that has a gradient for it, or NULL */
} branch_backward;

static tw_tensor *zero_gradient(tw_tensor *input, tw_dtype dtype)
{
    if (input->dtype != TW_RESOURCE)
        return TW_CALL(ZerosLike, input);
    tw_auto tw_tensor *value = TW_CALL(ReadVariableOp, input, TW_A_TYPE("dtype", dtype));
    return TW_CALL(ZerosLike, value);
}

static tw_status backward_branch(void *context, __attribute__((unused)) tw_tensor *const *arguments,
                                 __attribute__((unused)) int count, tw_tensor ***outputs, int *output_count)
{
    branch_backward *b = context;
    tw__gradient *g = b->g;
    const branch_form *form = b->form;
    const tw__function *f = form->branches[b->which];
    int shift = 0;
    for (int i = 0; i < b->which; i++)
        shift += form->extras[i];
    tw__owned tw_tensor **own = tw__alloc_array((size_t)f->forward->output_count + 1, sizeof *own);
    tw__held tw_tensor **gradients = tw__held_new((size_t)g->input_count);
    tw_tensor **results = *outputs = tw__alloc_array((size_t)g->input_count + 1, sizeof *results);
    TW_NEED(own && gradients && results);
    for (int i = 0; i < f->forward->output_count; i++)
        own[i] = b->outputs[i < form->results ? i : i + shift];
    TW_TRY(tw__derivative_call(f->derivative, g->inputs + 1, own, b->out_grads, gradients));
    for (int i = 1; i < g->input_count; i++) {
        const tw__function *other = b->given[i];
        if (!other)
            continue;
        tw_tensor *mine = gradients[i - 1];
        if (mine)
            results[*output_count] = tw__slices_dense(mine);
        else
            results[*output_count] = zero_gradient(g->inputs[i], tw__function_output_dtype(other->derivative->backward,
                                                                                           other->derivative->sources[i - 1]));
        TW_NEED(results[(*output_count)++]);
    }
    return TW_OK;
}

static tw_status gradient_in_graph(tw__gradient *g, tw__node *node, branch_form *form)
{
    int count = form->all, at = 0, result_count = 0;
    tw__owned const tw__function **given = tw__alloc_array((size_t)g->input_count + 1, sizeof *given);
    tw__held tw_tensor **outputs = tw__held_new((size_t)count);
    tw__owned tw_tensor **out_grads = tw__alloc_array((size_t)count + 1, sizeof *out_grads), **results = NULL;
    tw__owned branch_backward *sides = tw__alloc_array((size_t)form->count, sizeof *sides);
    tw__owned tw__branch *branches = tw__alloc_array((size_t)form->count, sizeof *branches);
    TW_NEED(given && outputs && out_grads && sides && branches);
    TW_TRY(tw__gradient_outputs(g, node, count, outputs));
    for (int i = 0; i < count && i < g->output_count; i++)
        out_grads[i] = g->output_grads[i];
    for (int i = 1; i < g->input_count; i++) {
        for (int b = 0; g->wanted[i] && b < form->count && !given[i]; b++)
            given[i] = form->branches[b]->derivative->sources[i - 1] >= 0 ? form->branches[b] : NULL;
    }
    for (int b = 0; b < form->count; b++) {
        sides[b] = (branch_backward){ g, form, outputs, out_grads, b, given };
        branches[b] = (tw__branch){ backward_branch, &sides[b] };
    }
    TW_TRY(is_case(g->op)
               ? tw__switch(g->inputs[0], branches, form->count, &results, &result_count)
               : tw__cond(g->inputs[0], backward_branch, &sides[0], backward_branch, &sides[1], &results, &result_count));
    for (int i = 1; i < g->input_count; i++) {
        if (given[i])
            g->input_grads[i] = results[at++];
    }
    return TW_OK;
}

/* It ran already: the branch runs again, with what its gradient needs. */
static tw_status gradient_of_run(tw__gradient *g)
{
    tw__function *f = NULL;
    TW_TRY(choose(g->op, g->attrs, g->inputs[0], &f));
    TW_TRY(tw__function_differentiate(f));
    if (f->stateful)
        return TW_OP_FAIL(g, TW_UNIMPLEMENTED, "the gradient of branch %s, which has side effects, outside of a function",
                          f->name);
    tw__held tw_tensor **outputs = tw__held_new((size_t)f->forward->output_count);
    TW_NEED(outputs);
    TW_TRY(tw__function_call_plain(f->forward, g->inputs + 1, outputs));
    return tw__derivative_call(f->derivative, g->inputs + 1, outputs, g->output_grads, g->input_grads + 1);
}

static tw_status branch_gradient(tw__gradient *g)
{
    tw__node *node = g->outputs[0]->node;
    if (!node)
        return gradient_of_run(g);
    int targets = tw__gradient_targets(g);
    if (!form_for(node, targets))
        TW_TRY(enrich(node));
    return gradient_in_graph(g, node, form_for(node, targets));
}

TW_OP(
    If, .inputs = "cond: Tcond, input: Tin", .outputs = "output: Tout",
    .attrs =
        "Tcond: type, Tin: list(type) >= 0, Tout: list(type) >= 0, then_branch: func, else_branch: func, output_shapes: list(shape) = []",
    .shape = branch_shape, .compute = branch_compute, .gradient = branch_gradient, .makes_outputs = true, .reads_variable = true,
    .stateful = true, .node_name = "cond", .role = TW_ROLE_BRANCH,
    .doc = "Runs one of two functions, which may have side effects.");

TW_OP(
    StatelessIf, .inputs = "cond: Tcond, input: Tin", .outputs = "output: Tout",
    .attrs =
        "Tcond: type, Tin: list(type) >= 0, Tout: list(type) >= 0, then_branch: func, else_branch: func, output_shapes: list(shape) = []",
    .shape = branch_shape, .compute = branch_compute, .gradient = branch_gradient, .makes_outputs = true, .reads_variable = true,
    .node_name = "cond", .role = TW_ROLE_BRANCH, .doc = "Runs one of two functions.");

TW_OP(Case, .inputs = "branch_index: int32, input: Tin", .outputs = "output: Tout",
      .attrs = "Tin: list(type) >= 0, Tout: list(type) >= 0, branches: list(func) >= 1, output_shapes: list(shape) = []",
      .shape = branch_shape, .compute = branch_compute, .gradient = branch_gradient, .makes_outputs = true,
      .reads_variable = true, .stateful = true, .node_name = "indexed_case", .role = TW_ROLE_BRANCH,
      .doc = "Runs one of several functions, which may have side effects; the last one for numbers that have none.");

TW_OP(StatelessCase, .inputs = "branch_index: int32, input: Tin", .outputs = "output: Tout",
      .attrs = "Tin: list(type) >= 0, Tout: list(type) >= 0, branches: list(func) >= 1, output_shapes: list(shape) = []",
      .shape = branch_shape, .compute = branch_compute, .gradient = branch_gradient, .makes_outputs = true,
      .reads_variable = true, .node_name = "indexed_case", .role = TW_ROLE_BRANCH,
      .doc = "Runs one of several functions; the last one for numbers that have none.");

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

TW_OP(FakeParam, .outputs = "output: dtype", .attrs = "dtype: type, shape: shape", .shape = fake_shape, .compute = fake_compute,
      .makes_outputs = true, .doc = "Stands for a value that is never used.");
