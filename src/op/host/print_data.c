/* Print: TensorFlow 1's printing. The input goes through, and a line with other tensors goes to stderr, "message[1 2 3...]", the
 * first so many times that a node runs. */
#include <stdio.h>

#include "op/op.h"
#include "op/text/text.h"
#include "rows.h"

static tw_status print_line(tw__kernel *kernel)
{
    tw_string message = TW_ATTR(kernel, "message")->s;
    tw__auto(tw__text_free) tw__text text = { 0 };
    tw__text_bytes(&text, message.data, message.size);
    for (int i = 1; i < kernel->input_count; i++) {
        tw__text_add(&text, "[");
        tw__summarize_first(&text, kernel->inputs[i], TW_ATTR(kernel, "summarize")->i);
        tw__text_add(&text, "]");
    }
    tw__text_add(&text, "\n");
    TW_TRY(text.failed ? tw__error_status() : TW_OK);
    fwrite(text.data, 1, text.size, stderr);
    fflush(stderr);
    return TW_OK;
}

static tw_status print_data_compute(tw__kernel *kernel)
{
    int64_t limit = TW_ATTR(kernel, "first_n")->i, *done = kernel->state ? *kernel->state : NULL;
    if (kernel->state && !done && !(*kernel->state = done = tw__alloc_zero(sizeof *done)))
        return TW_RESOURCE_EXHAUSTED;
    if (limit < 0 || !done || *done < limit)
        TW_TRY(print_line(kernel));
    if (done && *done < INT64_MAX)
        ++*done;
    tw_tensor *input = kernel->inputs[0];
    bool objects = input->dtype == TW_RESOURCE || input->dtype == TW_VARIANT;
    return tw__output_take(kernel, 0, objects ? tw_retain(input) : tw__tensor_view(input, &input->shape));
}

static tw_status print_data_gradient(tw__gradient *g)
{
    g->input_grads[0] = tw_retain(g->output_grads[0]);
    return TW_OK;
}

TW_OP(Print, .inputs = "input: T, data: U", .outputs = "output: T",
      .attrs = "T: type, U: list(type) >= 0, message: string = '', first_n: int = -1, summarize: int = 3", .shape = tw_shape_same,
      .compute = print_data_compute, .gradient = print_data_gradient, .stateful = true, .makes_outputs = true,
      .free_state = tw__free, .doc = "The input; a line with the data goes to stderr.");
