/* A program compiled with an older header: options it does not know have their defaults. */
#include <stdlib.h>
#include <string.h>

#include "thalweg.h"

static int failures;

static void expect(bool holds, const char *what)
{
    if (!holds)
        printf("%s does not hold\n", what);
    failures += !holds;
}

static tw_tensors sorted(void *user, tw_tensors in)
{
    (void)user;
    tw_tensor *made = tw_sort(in.items[0], .axis = 0);
    return tw_give_((tw_tensors){ &made, 1 });
}

int main(void)
{
    const float numbers[] = { 4, 3, 1, 2 };
    tw_tensor *x = tw_tensor_new(1, (tw_shape){ 2, { 2, 2 } }, numbers);
    tw_tensor *rows = tw_sort(x), *columns = tw_sort(x, .axis = 0);
    expect(tw_tensor_double_at(rows, 0) == 3 && tw_tensor_double_at(rows, 1) == 4, "rows are sorted");
    expect(tw_tensor_double_at(columns, 0) == 1 && tw_tensor_double_at(columns, 1) == 2, "columns are sorted");

    tw_layer *plain = tw_layers_dense(3, .use_bias = false);
    tw_tensor *y = tw_layer_call(plain, x);
    expect(y && (tw_tensor_double_at(y, 0) != 0 || tw_tensor_double_at(y, 1) != 0), "the layer has an initializer");

    tw_optimizer *still = tw_optimizers_sgd(.learning_rate = 0), *usual = tw_optimizers_sgd();
    tw_value none = tw_optimizer_get_config_(&(tw_optimizer_get_config_args){ sizeof(tw_optimizer_get_config_args), still });
    tw_value some = tw_optimizer_get_config_(&(tw_optimizer_get_config_args){ sizeof(tw_optimizer_get_config_args), usual });
    char *first = tw_value_json(&none), *second = tw_value_json(&some);
    expect(first && strstr(first, "\"learning_rate\": 0.0,"), "a learning rate of 0 is 0");
    expect(second && strstr(second, "\"learning_rate\": 0.01") && strstr(second, "\"ema_momentum\": 0.99"), "defaults are there");

    tw_function *f = tw_function_new_(sorted, NULL, &(tw_function_args){ sizeof(tw_function_args), "sorted" });
    tw_tensor *traced = tw_function_value(f, (tw_tensors){ &x, 1 });
    expect(traced && tw_tensor_double_at(traced, 0) == 1, "a function runs");

    const void *all[] = { x, rows, columns, plain, y, still, usual, f, traced };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        tw_release(all[i]);
    tw_value_free(&none);
    tw_value_free(&some);
    free(first);
    free(second);
    return tw_report(stdout) || failures;
}
