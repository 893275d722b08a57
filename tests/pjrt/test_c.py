"""A C program whose function runs on the plug-in's device; it prints the same without one."""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "cli"))
import pages  # noqa: E402

PROGRAM = r"""
#include <thalweg.h>

static tw_variable *w;

static tw_tensors step(void *user, tw_tensors arguments)
{
    (void)user;
    tw_tape *tape = tw_tape_start();
    tw_tensor *product = tw_matmul(arguments.items[0], tw_variable_read(w));
    tw_tensor *loss = tw_reduce_mean(tw_square(tw_subtract(product, TW_F(10))));
    tw_optimizer_apply_gradients(user, tw_tape_gradient(tape, TW_OBJECTS(loss), TW_OBJECTS(w)), TW_OBJECTS(w));
    return tw_give(loss);
}

int main(void)
{
    tw_scoped();
    w = tw_variable(tw_reshape(TW_FS(1, 2), TW_IS(2, 1)));
    tw_optimizer *sgd = tw_optimizers_sgd(.learning_rate = 0.01);
    tw_function *compiled = tw_function_new(step, sgd, .name = "step", .jit_compile = true);
    tw_tensor *x = tw_reshape(TW_FS(3, 4), TW_IS(1, 2));
    for (int i = 0; i < 3; i++)
        tw_tensor_print(stdout, tw_function_value(compiled, TW_TENSORS(x)));
    tw_tensor_print(stdout, tw_variable_read(w));
    return tw_report(stderr);
}
"""


def test_program(tmp_path):
    program = pages.compile_c(PROGRAM, tmp_path)
    with_plugin = pages.run([program], tmp_path)
    plugin = os.environ.pop("THALWEG_PJRT_PLUGIN")
    try:
        assert pages.run([program], tmp_path) == with_plugin
    finally:
        os.environ["THALWEG_PJRT_PLUGIN"] = plugin
    assert with_plugin.startswith("tf.Tensor(1.0, ") and with_plugin.count("\n") >= 4
