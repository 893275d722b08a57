/* A training step that is traced (twice: the first trace makes the optimizer's variables)
 * and then runs as a graph: a small network learns the two-spirals problem.
 *
 *     traced_step [--steps=400]
 *
 * The step is a C function over tensors; tw_function_new traces it at its first call. It runs the model under a tape, computes
 * the gradients and applies them. Another function measures the accuracy; a loop inside of it (tw_while) counts the correct
 * answers of several batches.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <thalweg.h>

enum { POINTS = 200, BATCH = 50 };

typedef struct network {
    tw_model *model;
    tw_optimizer *optimizer;
} network;

/* ---- data ---- */

/* Points of two spirals, [2 * POINTS, 2], and which one they are of, mixed. */
static void spirals(tw_tensor **points, tw_tensor **labels)
{
    static float at[2 * POINTS][2];
    static int32_t which[2 * POINTS];
    for (int i = 0; i < 2 * POINTS; i++) {
        int row = i * 37 % (2 * POINTS), side = i % 2;
        float t = 0.5f + 4.0f * (float)(i / 2) / POINTS, angle = t + (side ? 3.14159265f : 0);
        at[row][0] = t * cosf(angle) / 4;
        at[row][1] = t * sinf(angle) / 4;
        which[row] = side;
    }
    *points = tw_tensor_new(TW_FLOAT32, TW_SHAPE(2 * POINTS, 2), at);
    *labels = tw_tensor_new(TW_INT32, TW_SHAPE(2 * POINTS), which);
}

/* ---- the traced functions ---- */

/* (points, labels) -> loss */
static tw_tensors train_step(void *user, tw_tensors in)
{
    network *n = user;
    tw_tape *tape = tw_tape_start();
    tw_tensor *logits = tw_model_call(n->model, in.items[0]);
    tw_tensor *losses = tw_sparse_categorical_crossentropy(in.items[1], logits, .from_logits = true);
    tw_tensor *loss = tw_reduce_mean(losses);
    tw_objects variables = tw_layer_variables(n->model);
    tw_tensors gradients = tw_tape_gradient(tape, TW_OBJECTS(loss), variables);
    tw_optimizer_apply_gradients(n->optimizer, gradients, variables);
    return tw_give(loss);
}

typedef struct counting {
    network *network;
    tw_tensor *points, *labels;
} counting;

static tw_tensors more_batches(void *user, tw_tensors in)
{
    (void)user;
    return tw_give(tw_less(in.items[0], TW_I(2 * POINTS / BATCH)));
}

/* (batch, correct) -> (batch + 1, correct + those of the batch) */
static tw_tensors count_batch(void *user, tw_tensors in)
{
    counting *c = user;
    tw_tensor *logits = tw_model_call(c->network->model, tw_gather(c->points, in.items[0]));
    tw_tensor *answers = tw_math_argmax(logits, .axis = 1, .output_type = TW_INT32);
    tw_tensor *right = tw_equal(answers, tw_gather(c->labels, in.items[0]));
    return tw_give(tw_add(in.items[0], TW_I(1)), tw_add(in.items[1], tw_reduce_sum(tw_cast(right, TW_FLOAT32))));
}

/* (points, labels) -> fraction of correct answers */
static tw_tensors accuracy(void *user, tw_tensors in)
{
    tw_tensor *shape = tw_tensor_new(TW_INT32, TW_SHAPE(3), (int32_t[]){ -1, BATCH, 2 });
    tw_tensor *flat = tw_tensor_new(TW_INT32, TW_SHAPE(2), (int32_t[]){ -1, BATCH });
    tw_tensor *batches = tw_reshape(in.items[0], shape), *answers = tw_reshape(in.items[1], flat);
    tw_tensor *first = tw_tensor_int(0), *none = tw_tensor_float(0), *all = tw_tensor_float(2 * POINTS);
    counting c = { user, batches, answers };
    tw_tensors counted = tw_while(more_batches, count_batch, &c, TW_TENSORS(first, none), .name = "batches");
    return counted.count == 2 ? tw_give(tw_divide(counted.items[1], all)) : TW_GIVE_FAILURE;
}

int main(int argc, char **argv)
{
    tw_scoped();
    long steps = argc > 1 && strncmp(argv[1], "--steps=", 8) == 0 ? atol(argv[1] + 8) : 400;
    tw_random_set_seed(1);
    tw_model *model = tw_model_sequential(tw_layers_dense(32, .activation = "tanh"), tw_layers_dense(32, .activation = "tanh"),
                                          tw_layers_dense(2));
    tw_optimizer *optimizer = tw_optimizers_adam(.learning_rate = 0.02);
    network n = { model, optimizer };
    tw_function *step = tw_function_new(train_step, &n, .name = "train_step"),
                *measure = tw_function_new(accuracy, &n, .name = "accuracy");
    tw_tensor *points = NULL, *labels = NULL;
    spirals(&points, &labels);
    tw_model_call(model, points); /* makes the variables, before anything is traced */
    for (long i = 1; i <= steps && tw_error_code() == TW_OK; i++) {
        tw_scoped();
        tw_tensor *loss = tw_function_value(step, TW_TENSORS(points, labels));
        if (loss && i % 100 == 0)
            printf("step %ld: loss %f\n", i, tw_tensor_double_at(loss, 0));
    }
    tw_tensor *fraction = tw_function_value(measure, TW_TENSORS(points, labels));
    if (fraction)
        printf("accuracy %.3f after %ld steps, traced %lld times\n", tw_tensor_double_at(fraction, 0), steps,
               (long long)tw_function_traces(step));
    return tw_report(stderr);
}
