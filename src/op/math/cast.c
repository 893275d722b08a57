/* Casting, and the ops that hand their input on. */
#include "kernel/kernel.h"
#include "op/gradient.h"
#include "rows.h"

static tw_status cast_compute(tw__kernel *kernel)
{
    tw_tensor *x = kernel->inputs[0];
    tw_dtype to = kernel->out_dtypes[0];
    if (x->dtype == to)
        return tw__output_take(kernel, 0, tw__tensor_view(x, &x->shape));
    if (!tw__cast_has(x->dtype, to))
        return tw__fail(TW_UNIMPLEMENTED, "Cast %s to %s is not supported", tw__dtype_text(x->dtype), tw__dtype_text(to));
    tw_tensor *y = tw__output(kernel, 0, &x->shape);
    if (!y)
        return tw__error_status();
    tw__cast_run(x->dtype, to, x->data, y->data, x->count, TW_ATTR(kernel, "Truncate")->b);
    return TW_OK;
}

static bool has_gradient(tw_dtype dtype)
{
    return tw__dtype_is_float(dtype) || tw__dtype_is_complex(dtype);
}

static tw_status cast_gradient(tw__gradient *g)
{
    tw_dtype from = g->inputs[0]->dtype, to = g->outputs[0]->dtype;
    if (!has_gradient(from) || !has_gradient(to))
        return TW_OK;
    tw_attr type = TW_A_TYPE("DstT", from);
    tw__grad_set(g, 0, tw__call(&tw__op_Cast, g->output_grads, 1, &type, 1));
    return tw__grad_status(g);
}

static bool cast_shows(const tw__inference *inference)
{
    return inference->dtypes[0] == inference->out_dtypes[0];
}

TW_OP(Cast, .inputs = "x: SrcT", .outputs = "y: DstT", .attrs = "SrcT: type, DstT: type, Truncate: bool = false",
      .shape = tw_shape_same, .compute = cast_compute, .gradient = cast_gradient, .makes_outputs = true, .scope = TW_SCOPE_ALWAYS,
      .static_value = true, .elements = ~0u, .shows_input = cast_shows, .casts = true, .doc = "x as another dtype.");

/* ---- identities: a tensor of its own over the same memory ---- */

static tw_status hand_on(tw__kernel *kernel)
{
    for (int i = 0; i < kernel->output_count; i++) {
        tw_tensor *x = kernel->inputs[i];
        bool objects = x->dtype == TW_RESOURCE || x->dtype == TW_VARIANT;
        TW_TRY(tw__output_take(kernel, i, objects ? tw_retain(x) : tw__tensor_view(x, &x->shape)));
    }
    return TW_OK;
}

static tw_status each_shape(tw__inference *inference)
{
    for (int i = 0; i < inference->output_count; i++)
        inference->out_shapes[i] = *inference->shapes[i];
    return TW_OK;
}

static tw_status hand_back(tw__gradient *g)
{
    for (int i = 0; i < g->input_count; i++)
        g->input_grads[i] = tw_retain(g->output_grads[i]);
    return TW_OK;
}

#define HAND_ON .shape = each_shape, .compute = hand_on, .makes_outputs = true, .forwards = true
TW_OP(Identity, .inputs = "input: T", .outputs = "output: T", .attrs = "T: type", HAND_ON, .gradient = hand_back,
      .static_value = true, .function = "identity(input: tensor|ragged|sparse, name: str = None) -> tensor",
      .doc = "A tensor with the same value.\n"
             "input: a tensor");
TW_OP(IdentityN, .inputs = "input: T", .outputs = "output: T", .attrs = "T: list(type) >= 1", HAND_ON, .gradient = hand_back,
      .doc = "The inputs themselves.");
TW_OP(Snapshot, .inputs = "input: T", .outputs = "output: T", .attrs = "T: type", HAND_ON, .gradient = hand_back,
      .doc = "The input as it is now.");
TW_OP(StopGradient, .inputs = "input: T", .outputs = "output: T", .attrs = "T: type", HAND_ON, .static_value = true,
      .function = "stop_gradient(input: tensor|ragged, name: str = None) -> tensor",
      .doc = "The same value; no gradient goes through.\n"
             "input: a tensor");

static tw_status prevent_gradient(tw__gradient *g)
{
    tw_string message = TW_ATTR(g, "message")->s;
    return tw__fail(TW_LOOKUP_ERROR, "Gradient explicitly disabled. Reason: %.*s", (int)message.size,
                    message.data ? message.data : "");
}

TW_OP(PreventGradient, .inputs = "input: T", .outputs = "output: T", .attrs = "T: type, message: string = ''", HAND_ON,
      .gradient = prevent_gradient, .doc = "The input itself; asking for a gradient through it is an error.");
