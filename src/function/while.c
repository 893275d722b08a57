/* While: a function runs again and again.
 *
 * The values of a loop are a counter, the greatest count (-1: none), the caller's values, and what cond and body capture, which
 * goes round unchanged. How loops are made is in while_build.c, their gradient in while_gradient.c. */
#include <stdatomic.h>

#include "base/pause.h"
#include "function/control.h"
#include "op/slices.h"
#include "rows.h"

enum { FEW = 32 }; /* values that have room on the stack */

tw__function *tw__while_function(const tw_op *op, const tw_attr *attrs, const char *name)
{
    return tw__attr_find(op, attrs, name)->func;
}

static tw_status while_shape(tw__inference *inference)
{
    for (int which = 0; which < 2; which++) {
        const char *name = which ? "body" : "cond";
        const tw__function *f = tw__while_function(inference->op, inference->attrs, name);
        if (!tw__is(f, &tw__function_class))
            return TW_OP_FAIL(inference, TW_INVALID_ARGUMENT, "the attr %s is no function", name);
        if (f->input_count != inference->input_count || f->output_count != (which ? inference->output_count : 1))
            return TW_OP_FAIL(inference, TW_INVALID_ARGUMENT, "%s %s takes %d inputs and gives %d outputs for %d values", name,
                              f->name, f->input_count, f->output_count, inference->input_count);
        for (int i = 0; i < f->input_count; i++) {
            bool same = f->inputs[i]->out_dtypes[0] == inference->dtypes[i] &&
                        (!which || tw__function_output_dtype(f, i) == inference->dtypes[i]);
            if (!same)
                return TW_OP_FAIL(inference, TW_INVALID_ARGUMENT, "value %d of %s %s is not %s throughout", i, name, f->name,
                                  tw_dtype_name(inference->dtypes[i]));
        }
    }
    const tw__function *cond = tw__while_function(inference->op, inference->attrs, "cond");
    if (tw__function_output_dtype(cond, 0) != TW_BOOL)
        return TW_OP_FAIL(inference, TW_INVALID_ARGUMENT, "cond %s gives %s, expected bool", cond->name,
                          tw_dtype_name(tw__function_output_dtype(cond, 0)));
    const tw_attr *shapes = TW_ATTR(inference, "output_shapes");
    for (int i = 0; i < inference->output_count; i++)
        inference->out_shapes[i] = shapes->count == inference->output_count ? shapes->shapes[i] : TW_UNKNOWN_SHAPE;
    return TW_OK;
}

/* Runs the condition. */
static tw_status ask(const tw__kernel *kernel, tw__function *cond, tw_tensor *const *now, int *holds)
{
    tw_auto tw_tensor *truth = NULL;
    TW_TRY(tw__function_run(cond, now, &truth));
    if (truth->dtype != TW_BOOL || truth->count != 1)
        return TW_OP_FAIL(kernel, TW_INVALID_ARGUMENT, "the condition is %s %s, not one bool", tw_dtype_name(truth->dtype),
                          tw__shape_text(&truth->shape));
    *holds = *(const bool *)truth->data;
    return TW_OK;
}

static tw_status while_compute(tw__kernel *kernel)
{
    tw__function *cond = tw__while_function(kernel->op, kernel->attrs, "cond"),
                 *body = tw__while_function(kernel->op, kernel->attrs, "body");
    int count = kernel->input_count;
    tw_tensor *few[2 * FEW], **now = count <= FEW ? few : tw__alloc_array(2 * (size_t)count, sizeof *now), **space = now;
    TW_NEED(now);
    tw_tensor **next = now + count;
    for (int i = 0; i < count; i++)
        now[i] = tw_retain(kernel->inputs[i]);
    tw_status status = TW_OK;
    tw__condition simple;
    bool is_simple = !atomic_load(&tw__step_reports) && tw__condition_read(&simple, cond);
    for (;;) {
        int truth = is_simple ? tw__condition_holds(&simple, now) : -1;
        if (truth < 0)
            status = ask(kernel, cond, now, &truth);
        bool go_on = status == TW_OK && truth;
        if (go_on)
            status = tw__pause();
        if (status != TW_OK || !go_on)
            break;
        status = tw__function_run(body, now, next);
        if (status != TW_OK)
            break;
        for (int i = 0; i < count; i++)
            tw_release(now[i]);
        tw_tensor **swap = now;
        now = next;
        next = swap;
    }
    for (int i = 0; i < count; i++) {
        if (status == TW_OK)
            kernel->outputs[i] = now[i];
        else
            tw_release(now[i]);
    }
    if (space != few)
        tw__free(space);
    return status;
}

TW_OP(While, .inputs = "input: T", .outputs = "output: T",
      .attrs = "T: list(type) >= 0, cond: func, body: func, output_shapes: list(shape) = [], parallel_iterations: int = 10",
      .shape = while_shape, .compute = while_compute, .gradient = tw__while_gradient, .makes_outputs = true,
      .reads_variable = true, .stateful = true, .node_name = "while", .role = TW_ROLE_LOOP,
      .input_names = "loop_counter,maximum_iterations",
      .doc = "Runs a function, which may have side effects, while another one gives true.");

TW_OP(StatelessWhile, .inputs = "input: T", .outputs = "output: T",
      .attrs = "T: list(type) >= 0, cond: func, body: func, output_shapes: list(shape) = [], parallel_iterations: int = 10",
      .shape = while_shape, .compute = while_compute, .gradient = tw__while_gradient, .makes_outputs = true,
      .reads_variable = true, .node_name = "while", .role = TW_ROLE_LOOP, .input_names = "loop_counter,maximum_iterations",
      .doc = "Runs a function while another one gives true.");
