/* Devices and strategies: two logical devices, ops that are placed on one, and a model that both train, each with its half of a
 * batch. The same as examples/python/strategy.py. */
#include <stdio.h>
#include <string.h>

#include <thalweg.h>

typedef struct training {
    tw_strategy *strategy;
    tw_variable *w;
    tw_optimizer *optimizer;
    tw_tensors batch;     /* x and y of the first replica, then of the second */
    tw_tensor *losses[2]; /* one per replica */
} training;

/* One replica's part of a step; its loss. */
static tw_status train_step(int replica, void *context)
{
    training *t = context;
    tw_tensor *x = t->batch.items[2 * replica], *y = t->batch.items[2 * replica + 1];
    tw_tape *tape = tw_tape_start();
    tw_tensor *error = tw_square(tw_subtract(tw_matmul(x, tw_variable_read(t->w)), y));
    tw_tensor *loss = tw_divide(tw_reduce_sum(error), TW_F(4));
    tw_tensors gradients = tw_tape_gradient(tape, TW_OBJECTS(loss), TW_OBJECTS(t->w));
    tw_optimizer_apply_gradients(t->optimizer, gradients, TW_OBJECTS(t->w));
    t->losses[replica] = tw_retain(loss);
    return tw_error_code();
}

TW_BODY(distributed_step)
{
    training *t = user;
    t->batch = in;
    if (tw_strategy_run(t->strategy, train_step, t) != TW_OK)
        return TW_GIVE_FAILURE;
    tw_tensor *sum = tw_strategy_reduce(t->strategy, false, TW_TENSORS(t->losses[0], t->losses[1]));
    tw_release(t->losses[0]);
    tw_release(t->losses[1]);
    return tw_give(sum);
}

int main(void)
{
    tw_scoped();
    tw_logical_device_configuration *half = tw_logical_device_configuration();
    tw_set_logical_device_configuration(tw_list_physical_devices("CPU").items[0], TW_OBJECTS(half, half));
    tw_objects devices = tw_list_logical_devices("CPU");
    char *names[2] = { tw_made_text(tw_logical_device_name(devices.items[0])),
                       tw_made_text(tw_logical_device_name(devices.items[1])) };
    printf("devices: ['%s', '%s']\n", names[0], names[1]);
    tw_device_enter("/CPU:1");
    tw_tensor *row = tw_reshape(TW_FS(1, 2), TW_IS(1, 2)), *column = tw_reshape(TW_FS(3, 4), TW_IS(2, 1));
    tw_tensor *product = tw_matmul(row, column);
    tw_device_exit();
    const char *device = tw_made_text(tw_tensor_device(product));
    printf("%.1f, made on %s\n", tw_tensor_double_at(product, 0), device + strlen(device) - 5);

    tw_tensor *places = tw_tensor_new(TW_STRING, TW_SHAPE(2), (tw_string[]){ { "/CPU:0", 6 }, { "/CPU:1", 6 } });
    training t = { .strategy = (tw_strategy *)tw_mirrored_strategy(.devices = places) };
    printf("replicas: %d\n", (int)tw_strategy_num_replicas_in_sync(t.strategy));
    tw_strategy_enter(t.strategy);
    t.w = tw_variable(tw_zeros(TW_IS(1, 1)));
    t.optimizer = tw_optimizers_sgd(.learning_rate = 0.05);
    tw_strategy_exit(t.strategy);
    tw_function *step = tw_function_new(distributed_step, &t);

    tw_tensor *x = tw_divide(tw_reshape(tw_range(TW_F(0), TW_F(8)), TW_IS(8, 1)), TW_F(4));
    tw_dataset *data = tw_dataset_from_tensor_slices(TW_TENSORS(x, tw_multiply(x, TW_F(3))));
    tw_dataset *dataset = tw_strategy_distribute_dataset(t.strategy, tw_dataset_batch(data, 4));
    for (int epoch = 1; epoch <= 8; epoch++) {
        tw_scoped();
        double total = 0;
        tw_iterator *iterator = tw_iterator(.dataset = dataset);
        for (tw_tensors batch; (batch = tw_iterator_next(iterator)).count;)
            total += tw_tensor_double_at(tw_function_value(step, batch), 0);
        if (epoch % 4 == 0)
            printf("epoch %d: loss %.4f\n", epoch, total);
    }
    printf("w is %.2f\n", tw_tensor_double_at(tw_variable_read(t.w), 0));
    return tw_report(stderr);
}
