/* Checks of numbers: CheckNumerics and CheckNumericsV2, which also tells the signs of what is infinite. */
#include "op/math/numerics.h"

#include "op/gradient.h"
#include "rows.h"

tw__nonfinite tw__nonfinite_of(const tw_tensor *tensor)
{
    tw__nonfinite found = { 0 };
    if (!tw__dtype_is_float(tensor->dtype) || !tensor->data)
        return found;
    for (int64_t i = 0; i < tensor->count; i++) {
        double value = tensor->dtype == TW_FLOAT32 ? (double)((const float *)tensor->data)[i] : tw_tensor_double_at(tensor, i);
        if (__builtin_expect(__builtin_isfinite(value), 1))
            continue;
        *(value != value ? &found.not_numbers : value < 0 ? &found.below : &found.above) += 1;
    }
    return found;
}

const char *tw__nonfinite_words(const tw__nonfinite *found)
{
    static const char *const words[] = { NULL,  "-Inf",         "+Inf",         "-Inf and +Inf",
                                         "NaN", "-Inf and NaN", "+Inf and NaN", "-Inf, +Inf, and NaN" };
    return words[(found->below != 0) + 2 * (found->above != 0) + 4 * (found->not_numbers != 0)];
}

static tw_status check_compute(tw__kernel *kernel)
{
    tw_tensor *x = kernel->inputs[0];
    tw__nonfinite found = tw__nonfinite_of(x);
    const char *words = tw__nonfinite_words(&found);
    if (words) {
        tw_string message = TW_ATTR(kernel, "message")->s;
        if (kernel->op == &tw__op_CheckNumerics)
            words = !found.below && !found.above ? "NaN" : found.not_numbers ? "Inf and NaN" : "Inf";
        return tw__fail(TW_INVALID_ARGUMENT, "%.*s : Tensor had %s values", (int)message.size, message.data ? message.data : "",
                        words);
    }
    return tw__output_take(kernel, 0, tw__tensor_view(x, &x->shape));
}

static tw_status check_gradient(tw__gradient *g)
{
    tw_string given = TW_ATTR(g, "message")->s;
    tw__owned char *whole = tw__format("Not a number (NaN) or infinity (Inf) values detected in gradient. %.*s", (int)given.size,
                                       given.data ? given.data : "");
    if (!whole)
        return tw__error_status();
    tw_attr message = TW_A_STRING("message", whole);
    tw__grad_set(g, 0, tw__call(g->op, g->output_grads, 1, &message, 1));
    return tw__grad_status(g);
}

#define CHECK                                                                                                      \
    .inputs = "tensor: T", .outputs = "output: T", .attrs = "T: {bfloat16, half, float, double}, message: string", \
    .shape = tw_shape_same, .compute = check_compute, .gradient = check_gradient, .makes_outputs = true, .stateful = true

TW_OP(CheckNumerics, CHECK,
      .function =
          "debugging.check_numerics|compat.v1.check_numerics(tensor: tensor|ragged, message: str, name: str = None) -> tensor",
      .doc = "The same value; an error if an element is infinite or not a number.\n"
             "tensor: floats\n"
             "raises: InvalidArgumentError: an element is infinite or not a number");
TW_OP(CheckNumericsV2, CHECK, .static_value = true,
      .doc = "The input itself; an error that tells the signs if a value is infinite or not a number.");
