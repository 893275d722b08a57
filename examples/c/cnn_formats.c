/* A convolutional network with Keras: callbacks watch the training, and the model is saved and loaded in three formats. The same
 * as examples/python/cnn_formats.py.
 *
 *     cnn_formats DIRECTORY
 */
#include <stdio.h>

#include <thalweg.h>

enum { COUNT = 64, SIZE = 8 };

/* Pictures of one bright row (0) or column (1), and which of the two it is. */
static void bars(tw_tensor **images, tw_tensor **labels)
{
    static float pixels[COUNT][SIZE][SIZE][1];
    int32_t classes[COUNT];
    for (int i = 0; i < COUNT; i++) {
        int at = i * 5 % SIZE;
        classes[i] = i % 2;
        for (int k = 0; k < SIZE; k++)
            pixels[i][classes[i] ? k : at][classes[i] ? at : k][0] = 1;
    }
    *images = tw_tensor_new(TW_FLOAT32, TW_SHAPE(COUNT, SIZE, SIZE, 1), pixels);
    *labels = tw_tensor_new(TW_INT32, TW_SHAPE(COUNT), classes);
}

static double lowered(void *state, int64_t epoch, double rate)
{
    (void)state;
    return epoch ? rate * 0.9 : rate;
}

static const char *inside(const char *directory, const char *name)
{
    static char paths[4][512];
    static int next;
    char *path = paths[next++ % 4];
    snprintf(path, sizeof paths[0], "%s/%s", directory, name);
    return path;
}

int main(int argc, char **argv)
{
    tw_scoped();
    const char *directory = argc > 1 ? argv[1] : ".";
    tw_tensor *images, *labels;
    bars(&images, &labels);
    tw_utils_set_random_seed(1);
    tw_model *model =
        tw_model_sequential(tw_layers_conv2d(4, TW_INTS(3), .activation = "relu", .input_shape = TW_SHAPE(SIZE, SIZE, 1)),
                            tw_layers_max_pooling2d(), tw_layers_flatten(), tw_layers_dense(2));
    tw_model_compile(model, .optimizer = tw_optimizers_adam(.learning_rate = 0.02),
                     .loss = tw_losses_sparse_categorical_crossentropy(.from_logits = true), .metrics = TW_NAMES("accuracy"));
    tw_objects callbacks =
        TW_OBJECTS(tw_callbacks_early_stopping(.monitor = "val_loss", .patience = 2),
                   tw_learning_rate_scheduler_new(lowered, NULL),
                   tw_callbacks_model_checkpoint(inside(directory, "best.h5"), .save_best_only = true),
                   tw_callbacks_csv_logger(inside(directory, "log.csv")), tw_callbacks_tensor_board(inside(directory, "logs")));
    tw_callback *history = tw_model_fit(model, images, .y = labels, .epochs = 10, .batch_size = 16, .validation_split = 0.25,
                                        .callbacks = callbacks);
    tw_value epochs = tw_history_epochs(history);
    printf("epochs: %d, last rate: %.6f\n", (int)epochs.list.count, tw_history_value(history, "lr", -1));
    printf("accuracy above 0.9: %s\n", tw_history_value(history, "val_accuracy", -1) > 0.9 ? "True" : "False");
    tw_tensor *expected = tw_model_predict(model, images);
    const char *names[] = { "model.keras", "model.h5", "model" };
    for (int i = 0; i < 3; i++) {
        tw_model_save(model, inside(directory, names[i]));
        tw_model *loaded = tw_load_model(inside(directory, names[i]));
        tw_tensor *difference = tw_reduce_max(tw_abs(tw_subtract(tw_model_predict(loaded, images), expected)));
        printf("%s: difference %.3f\n", names[i], tw_tensor_double_at(difference, 0));
    }
    return tw_report(stderr);
}
