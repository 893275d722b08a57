/* A multilayer perceptron on Fashion-MNIST: a custom training loop that saves a checkpoint every 100 batches, and a test that
 * restores the newest. The same as examples/python/mlp_checkpoint.py; either reads what the other wrote.
 *
 *     mlp_checkpoint --mode=train
 *     mlp_checkpoint --mode=test
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <thalweg.h>

typedef struct options {
    const char *mode, *save_dir;
    long num_epochs, batch_size;
    double learning_rate;
} options;

/* ---- data ---- */

/* Rows of bytes as numbers from 0 to 1, [rows, 28, 28, 1]; `rows` of NULL: the first `count`. */
static tw_tensor *images(const tw_tensor *data, const long *rows, long count)
{
    long size = (long)(tw_tensor_count(data) / tw_tensor_dim(data, 0));
    float *values = malloc((size_t)(count * size) * sizeof *values);
    const unsigned char *bytes = tw_tensor_data(data);
    for (long i = 0; values && i < count; i++)
        for (long k = 0; k < size; k++)
            values[i * size + k] = (float)bytes[(rows ? rows[i] : i) * size + k] / 255.0f;
    return values ? tw_tensor_borrow(TW_FLOAT32, TW_SHAPE(count, 28, 28, 1), values, free, values) : NULL;
}

static tw_tensor *labels(const tw_tensor *data, const long *rows, long count)
{
    tw_tensor *numbers = NULL;
    int32_t *values = malloc((size_t)count * sizeof *values);
    for (long i = 0; values && i < count; i++)
        values[i] = ((const unsigned char *)tw_tensor_data(data))[rows[i]];
    if (values)
        numbers = tw_tensor_new(TW_INT32, TW_SHAPE(count), values);
    free(values);
    return numbers;
}

/* ---- model ---- */

/* In functions that the library calls, and inside of tw_scoped(), what is made needs no release. */

typedef struct mlp {
    tw_layer *flatten, *dense1, *dense2;
} mlp;

static tw_tensor *mlp_call(tw_model *self, tw_tensor *inputs, int training, void *state)
{
    mlp *layers = state;
    (void)self, (void)training;
    tw_tensor *flat = tw_layer_call(layers->flatten, inputs);  /* [batch, 784] */
    tw_tensor *hidden = tw_layer_call(layers->dense1, flat);   /* [batch, 100] */
    tw_tensor *logits = tw_layer_call(layers->dense2, hidden); /* [batch, 10] */
    return tw_nn_softmax(logits);
}

static tw_model *mlp_new(mlp *layers)
{
    tw_model *model = tw_model_new(mlp_call, layers, .name = "mlp");
    layers->flatten = tw_track(model, "flatten", tw_layers_flatten());
    layers->dense1 = tw_track(model, "dense1", tw_layers_dense(100, .activation = "relu"));
    layers->dense2 = tw_track(model, "dense2", tw_layers_dense(10));
    return model;
}

/* ---- training and testing ---- */

static void train(const options *o, const tw_tensors *data)
{
    tw_scoped();
    mlp layers;
    tw_model *model = mlp_new(&layers);
    tw_optimizer *optimizer = tw_optimizers_adam(.learning_rate = o->learning_rate);
    tw_checkpoint *checkpoint = tw_checkpoint_new({ "model", model }, { "optimizer", optimizer });
    tw_checkpoint_manager *manager = tw_checkpoint_manager(checkpoint, o->save_dir, 3, .checkpoint_name = "model.ckpt");
    long train_count = (long)tw_tensor_dim(data->items[0], 0), batches = train_count / o->batch_size * o->num_epochs;
    long *rows = malloc((size_t)o->batch_size * sizeof *rows);
    for (long batch = 1; rows && batch <= batches && tw_error_code() == TW_OK; batch++) {
        for (long i = 0; i < o->batch_size; i++)
            rows[i] = rand() % train_count;
        tw_scoped();
        tw_tensor *x = images(data->items[0], rows, o->batch_size), *y = labels(data->items[1], rows, o->batch_size);
        tw_tape *tape = tw_tape_start();
        tw_tensor *y_pred = tw_model_call(model, x);
        tw_tensor *losses = tw_sparse_categorical_crossentropy(y, y_pred);
        tw_tensor *loss = tw_reduce_mean(losses);
        tw_objects variables = tw_layer_variables(model);
        tw_tensors gradients = tw_tape_gradient(tape, TW_OBJECTS(loss), variables);
        tw_optimizer_apply_gradients(optimizer, gradients, variables);
        if (batch % 100 == 0) {
            char *path = tw_made_text(tw_checkpoint_manager_save(manager, { .kind = TW_VALUE_INT, .i = batch }));
            printf("batch %ld: loss %f, saved as %s\n", batch, tw_tensor_double_at(loss, 0), path ? path : "nothing");
        }
    }
    free(rows);
}

static void test(const options *o, const tw_tensors *data)
{
    tw_scoped();
    mlp layers;
    tw_model *model = mlp_new(&layers);
    tw_checkpoint *checkpoint = tw_checkpoint_new({ "model", model });
    char *path = tw_made_text(tw_train_latest_checkpoint(o->save_dir));
    tw_load_status *status = tw_checkpoint_restore(checkpoint, path);
    tw_load_status_expect_partial(status);
    tw_tensor *x = images(data->items[2], NULL, (long)tw_tensor_dim(data->items[2], 0));
    tw_tensor *y_pred = tw_model_predict(model, x);
    tw_metric *accuracy = tw_metrics_sparse_categorical_accuracy();
    tw_tensor *result = tw_metric_call(accuracy, data->items[3], y_pred);
    if (result)
        printf("%s: test accuracy %f\n", path ? path : "untrained", tw_tensor_double_at(result, 0));
}

/* What stands behind "NAME=" in the arguments. */
static const char *option(int argc, char **argv, const char *name, const char *otherwise)
{
    for (int i = 1; i < argc; i++) {
        if (strncmp(argv[i], name, strlen(name)) == 0)
            otherwise = argv[i] + strlen(name);
    }
    return otherwise;
}

int main(int argc, char **argv)
{
    options o = { option(argc, argv, "--mode=", "train"), option(argc, argv, "--save-dir=", "save"),
                  atol(option(argc, argv, "--num-epochs=", "1")), atol(option(argc, argv, "--batch-size=", "50")),
                  atof(option(argc, argv, "--learning-rate=", "0.001")) };
    bool training = strcmp(o.mode, "train") == 0;
    if ((!training && strcmp(o.mode, "test") != 0) || o.batch_size < 1)
        return fprintf(stderr,
                       "usage: %s [--mode=train|test] [--num-epochs=1] [--batch-size=50] [--learning-rate=0.001] "
                       "[--save-dir=save]\n",
                       argv[0]),
               2;
    tw_scoped();
    tw_tensors data = tw_datasets_fashion_mnist(); /* training images and labels, test images and labels */
    if (data.count == 4)
        training ? train(&o, &data) : test(&o, &data);
    return tw_report(stderr);
}
