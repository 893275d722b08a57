/* TensorFlow 1: a graph with placeholders, variables by name and an optimizer, run by a session and saved by a Saver. The same as
 * examples/python/v1_session.py.
 *
 *     v1_session DIRECTORY
 */
#include <stdio.h>

#include <thalweg.h>

static double value_of(tw_session *session, tw_tensor *fetch, tw_tensors feeds, tw_tensors values)
{
    tw_tensors results = tw_session_run(session, TW_OBJECTS(fetch), feeds, values);
    return results.count ? tw_tensor_double_at(results.items[0], 0) : 0;
}

int main(int argc, char **argv)
{
    tw_scoped();
    char path[512];
    snprintf(path, sizeof path, "%s/line", argc > 1 ? argv[1] : ".");
    tw_disable_eager_execution();

    tw_tensor *x = tw_placeholder(TW_FLOAT32, TW_SHAPE(-1, 1), .name = "x");
    tw_tensor *y = tw_placeholder(TW_FLOAT32, TW_SHAPE(-1, 1), .name = "y");
    tw_variable_scope_enter("line");
    tw_variable *w = tw_get_variable("w", TW_SHAPE(1, 1), .initializer = tw_v1_zeros_initializer());
    tw_variable *b = tw_get_variable("b", TW_SHAPE(1), .initializer = tw_v1_zeros_initializer());
    tw_variable_scope_exit();
    tw_tensor *weight = tw_variable_read(w), *bias = tw_variable_read(b);
    tw_tensor *prediction = tw_add(tw_matmul(x, weight), bias, .name = "prediction");
    tw_tensor *loss = tw_reduce_mean(tw_square(tw_subtract(prediction, y)));
    tw_operation *train = tw_v1_minimize(tw_v1_gradient_descent_optimizer(0.1), loss);
    tw_v1_saver *saver = tw_v1_saver_new();

    tw_tensor *inputs = tw_tensor_new(TW_FLOAT32, TW_SHAPE(4, 1), (float[]){ -1, 0, 1, 2 });
    tw_tensor *labels = tw_tensor_new(TW_FLOAT32, TW_SHAPE(4, 1), (float[]){ -2, 1, 4, 7 });
    tw_session *session = tw_session();
    tw_session_run(session, TW_OBJECTS(tw_variables_initializer(tw_global_variables())), TW_NO_TENSORS, TW_NO_TENSORS);
    for (int step = 1; step <= 100; step++) {
        tw_scoped();
        tw_tensors results = tw_session_run(session, TW_OBJECTS(loss, train), TW_TENSORS(x, y), TW_TENSORS(inputs, labels));
        if (results.count && step % 25 == 0)
            printf("step %d: loss %.4f\n", step, tw_tensor_double_at(results.items[0], 0));
    }
    tw_v1_saver_save(saver, session, path);
    tw_session_close(session);

    tw_session *second = tw_session();
    tw_tensor *five = tw_tensor_new(TW_FLOAT32, TW_SHAPE(1, 1), (float[]){ 5 });
    tw_v1_saver_restore(saver, second, path);
    printf("%s %.3f, ", tw_made_text(tw_variable_name(w)), value_of(second, weight, TW_NO_TENSORS, TW_NO_TENSORS));
    printf("%s %.3f\n", tw_made_text(tw_variable_name(b)), value_of(second, bias, TW_NO_TENSORS, TW_NO_TENSORS));
    printf("prediction for 5: %.3f\n", value_of(second, prediction, TW_TENSORS(x), TW_TENSORS(five)));
    tw_session_close(second);
    return tw_report(stderr);
}
