/* From C: losses, metrics and functions of TensorFlow 1 in a graph, and the collections that they join. */
#include "test.h"

#include <math.h>

#include "rows.h"
#include "session/session.h"

typedef struct world {
    tw_graph *graph;
    tw_tensor *labels, *predictions;
} world;

static world begin(void)
{
    world w = { .graph = tw_graph() };
    assert_int_equal(tw_graph_enter(w.graph), TW_OK);
    w.labels = tw_placeholder(TW_FLOAT32, .shape = TW_SHAPE(4), .name = "labels");
    w.predictions = tw_placeholder(TW_FLOAT32, .shape = TW_SHAPE(4), .name = "predictions");
    return w;
}

static void end(world *w)
{
    tw_release(w->labels);
    tw_release(w->predictions);
    tw_release(w->graph);
}

static double run(tw_session *session, const world *w, void *fetch)
{
    tw_auto tw_tensor *labels = tw_tensor_new(TW_FLOAT32, TW_SHAPE(4), (float[]){ 0, 1, 0, 1 });
    tw_auto tw_tensor *predictions = tw_tensor_new(TW_FLOAT32, TW_SHAPE(4), (float[]){ 0.25F, 0.75F, 0.5F, 1 });
    tw_tensors found = tw_session_run(session, TW_OBJECTS(fetch), .feeds = TW_TENSORS(w->labels, w->predictions),
                                      .values = TW_TENSORS(labels, predictions));
    expect_no_error();
    double value = found.count ? tw_tensor_double_at(found.items[0], 0) : 0;
    tw_tensors_free(&found);
    return value;
}

static void losses(void **state)
{
    (void)state;
    world w = begin();
    tw_auto tw_tensor *absolute = tw_v1_absolute_difference(w.labels, w.predictions);
    tw_auto tw_tensor *squared = tw_v1_mean_squared_error(w.labels, w.predictions, .scope = "mine", .reduction = "weighted_sum");
    tw_auto tw_tensor *alone = tw_v1_huber_loss(w.labels, w.predictions, .loss_collection = "");
    expect_no_error();
    assert_string_equal(absolute->node->name, "absolute_difference/value");
    assert_string_equal(squared->node->name, "mine/Sum");
    tw_tensors collected = tw_v1_collected("losses");
    assert_int_equal(collected.count, 2);
    assert_ptr_equal(collected.items[1]->node, squared->node);
    tw_tensors_free(&collected);
    assert_null(tw_v1_log_loss(w.labels, w.predictions, .reduction = "nothing"));
    expect_error(TW_VALUE_ERROR, "Invalid Reduction Key nothing.");
    tw_auto tw_tensor *weights = tw_tensor_new(TW_FLOAT32, TW_SHAPE(3), (float[]){ 1, 2, 3 });
    assert_null(tw_v1_absolute_difference(w.labels, w.predictions, .weights = weights));
    expect_error(TW_VALUE_ERROR, "weights can not be broadcast to values.");
    tw_graph_exit(w.graph);
    tw_auto tw_session *session = tw_session(.graph = w.graph);
    assert_true(run(session, &w, absolute) == 0.25);
    assert_true(run(session, &w, squared) == 0.375);
    assert_true(run(session, &w, alone) == 0.5 * 0.375 / 4);
    end(&w);
}

static void metrics(void **state)
{
    (void)state;
    tw_value none = tw_v1_metrics_mean(NULL);
    assert_int_equal(none.kind, TW_VALUE_NONE);
    tw_clear_error();
    world w = begin();
    tw_value error = tw_v1_metrics_mean_absolute_error(w.labels, w.predictions, .updates_collections = TW_TEXT("updates"));
    tw_value area = tw_v1_metrics_auc(w.labels, w.predictions, .num_thresholds = 5);
    tw_value count = tw_v1_metrics_count("true_positives", w.labels, w.predictions);
    expect_no_error();
    assert_int_equal(tw_value_at(&error, 0)->kind, TW_VALUE_TENSOR);
    assert_string_equal(tw_value_at(&error, 1)->tensor->node->name, "mean_absolute_error/update_op");
    assert_int_equal(count.list.count, 3);
    tw_tensors collected = tw_v1_collected("updates");
    assert_int_equal(collected.count, 1);
    tw_tensors_free(&collected);
    tw_objects variables = tw_local_variables();
    assert_int_equal(variables.count, 2 + 4 + 1);
    tw_objects_free(&variables);
    tw_auto tw_operation *init = tw_local_variables_initializer();
    tw_graph_exit(w.graph);
    tw_auto tw_session *session = tw_session(.graph = w.graph);
    tw_tensors nothing = tw_session_run(session, TW_OBJECTS(init));
    tw_tensors_free(&nothing);
    for (int i = 0; i < 2; i++)
        assert_true(run(session, &w, tw_value_at(&error, 1)->tensor) == 0.25);
    assert_true(run(session, &w, tw_value_at(&error, 0)->tensor) == 0.25);
    run(session, &w, tw_value_at(&area, 1)->tensor);
    assert_true(run(session, &w, tw_value_at(&area, 0)->tensor) > 0.9);
    assert_true(run(session, &w, tw_value_at(&count, 2)->tensor) == 2);
    tw_value_free(&error);
    tw_value_free(&area);
    tw_value_free(&count);
    end(&w);
}

static void functions(void **state)
{
    (void)state;
    tw_auto tw_tensor *x = tw_tensor_new(TW_FLOAT32, TW_SHAPE(2, 2), (float[]){ 1, -2, 3, 4 });
    tw_auto tw_tensor *b = tw_tensor_new(TW_FLOAT32, TW_SHAPE(2), (float[]){ 1, -9 });
    tw_auto tw_tensor *layer = tw_v1_relu_layer(x, x, b), *both = tw_v1_crelu(b);
    expect_no_error();
    assert_true(tw_tensor_double_at(layer, 0) == 0 && tw_tensor_double_at(layer, 1) == 0 && tw_tensor_double_at(layer, 2) == 16);
    assert_true(tw_tensor_double_at(both, 0) == 1 && tw_tensor_double_at(both, 3) == 9);
    tw_auto tw_tensor *rows = tw_tensor_new(TW_BOOL, TW_SHAPE(2), (bool[]){ true, false }), *zeros = tw_subtract(x, x);
    tw_auto tw_tensor *chosen = tw_v1_where(rows, .x = x, .y = zeros);
    assert_true(tw_tensor_double_at(chosen, 1) == -2 && tw_tensor_double_at(chosen, 2) == 0);
    assert_null(tw_v1_where(rows, .x = x));
    expect_error(TW_VALUE_ERROR, "x and y must both be non-None or both be None.");
}

/* The values of float32 are exact but for the last digits. */
static void expect_near(const tw_tensor *x, double value)
{
    expect_no_error();
    assert_true(fabs(tw_tensor_double_at(x, 0) - value) < 1e-5);
}

static void distributions(void **state)
{
    (void)state;
    tw_scoped();
    tw_tensor *loc = TW_F(0.5), *scale = TW_F(2), *x = TW_F(1), *loc_2 = TW_F(1), *scale_2 = TW_F(3);
    expect_near(tw_v1_distributions_compute("Normal", "log_prob", TW_TENSORS(loc, scale), .x = x), -1.6433357);
    expect_near(tw_v1_distributions_compute("Normal", "log_survival_function", TW_TENSORS(loc, scale), .x = x), -0.9130614);
    expect_near(tw_v1_distributions_compute("Normal", "kl", TW_TENSORS(loc, scale, loc_2, scale_2)), 0.14157622);
    expect_near(tw_v1_distributions_compute("Beta", "entropy", TW_TENSORS(loc, x)), -0.30685282);
    expect_near(tw_v1_distributions_compute("Gamma", "mode", TW_TENSORS(scale, scale_2), .nan = false), 0.33333333);
    tw_tensor *count = tw_tensor_int(5);
    tw_tensor *drawn = tw_v1_distributions_compute("Beta", "sample_n", TW_TENSORS(loc, x), .x = count, .seed = 7);
    assert_true(drawn && drawn->shape.rank == 1 && drawn->shape.dims[0] == 5);
    assert_null(tw_v1_distributions_compute("Gamma", "mode", TW_TENSORS(loc, x), .nan = false));
    expect_error(TW_INVALID_ARGUMENT, "the statistic is not defined for all members");
    assert_null(tw_v1_distributions_compute("Gamma", "quantile", TW_TENSORS(loc, x), .x = x));
    expect_error(TW_NOT_IMPLEMENTED_ERROR, "quantile is not implemented: Gamma");
    assert_null(tw_v1_distributions_compute("Normal", "mean", TW_TENSORS(loc)));
    expect_error(TW_VALUE_ERROR, "Normal has 2 parameters, got 1");
    assert_null(tw_v1_distributions_compute("Normal", "log_prob", TW_TENSORS(loc, scale)));
    expect_error(TW_INVALID_ARGUMENT, "Normal: x is not given");
    assert_null(tw_v1_distributions_compute("Normal", "sample_n", TW_TENSORS(loc, scale)));
    expect_error(TW_INVALID_ARGUMENT, "Normal: x is not given");
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(losses), cmocka_unit_test(metrics), cmocka_unit_test(functions),
                                        cmocka_unit_test(distributions) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
