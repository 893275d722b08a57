/* From C: moving averages, the global step, summaries, normalization and parts of graphs, as TensorFlow 1 has them. */
#include "test.h"

#include <thalweg/session.h>

#include "codec/message.h"
#include "messages.h"
#include "rows.h"
#include "session/session.h"

#define NUMBER(number_) ((tw_value){ .kind = TW_VALUE_FLOAT, .f = (number_) })

static double fetched(tw_session *session, void *fetch)
{
    tw_tensors found = tw_session_run(session, TW_OBJECTS(fetch));
    expect_no_error();
    double value = found.count ? tw_tensor_double_at(found.items[0], 0) : 0;
    tw_tensors_free(&found);
    return value;
}

static void averages_in_a_graph(void **state)
{
    (void)state;
    tw_auto tw_graph *graph = tw_graph();
    assert_int_equal(tw_graph_enter(graph), TW_OK);
    tw_auto tw_tensor *first = tw_tensor_float(1), *two = tw_tensor_float(2);
    tw_auto tw_variable *v = tw_get_variable("v", .initializer = (tw_object *)first);
    tw_auto tw_v1_average *average = tw_v1_average(NUMBER(0.9)), *divided = tw_v1_average(NUMBER(0.9), .zero_debias = true);
    tw_auto tw_operation *follow = tw_v1_average_apply(average);
    tw_auto tw_tensor *now = tw_variable_read(v), *read = tw_identity(now);
    tw_auto tw_operation *follow_read = tw_v1_average_apply(divided, .var_list = TW_OBJECTS(read));
    tw_auto tw_variable *shadow = tw_v1_average_of(average, (tw_object *)v);
    tw_auto tw_variable *shadow_of_read = tw_v1_average_of(divided, (tw_object *)read),
                        *none = tw_v1_average_of(average, (tw_object *)read);
    tw_auto tw_operation *init = tw_global_variables_initializer();
    expect_no_error();
    assert_null(none);
    assert_string_equal(shadow->name, "v/ExponentialMovingAverage:0");
    char *name = tw_v1_average_name(average, (tw_object *)read);
    assert_string_equal(name, "Identity_1/ExponentialMovingAverage");
    free(name);
    tw_value restored = tw_v1_average_variables_to_restore(average);
    assert_non_null(tw_value_get(&restored, "v/ExponentialMovingAverage"));
    tw_value_free(&restored);
    tw_auto tw_tensor *text = tw_tensor_string("a", 1);
    assert_null(tw_v1_average_apply(average, .var_list = TW_OBJECTS(text)));
    expect_error(TW_TYPE_ERROR, "ExponentialMovingAverage: a tensor of a graph");
    tw_graph_exit(graph);
    tw_auto tw_session *session = tw_session(.graph = graph);
    fetched(session, init);
    tw_session_assign(session, v, two);
    fetched(session, follow);
    fetched(session, follow_read);
    tw_auto tw_tensor *mean = tw_session_read(session, shadow), *exact = tw_session_read(session, shadow_of_read);
    assert_float_equal(tw_tensor_double_at(mean, 0), 1.1, 1e-6);
    assert_float_equal(tw_tensor_double_at(exact, 0), 2, 1e-5);
}

static void averages_of_eager_variables(void **state)
{
    (void)state;
    tw_auto tw_tensor *first = tw_tensor_float(1), *second = tw_tensor_float(3);
    tw_auto tw_variable *v = tw_variable(first, .name = "v");
    tw_auto tw_v1_average *average = tw_v1_average(NUMBER(0.5));
    assert_null(tw_v1_average_apply(average, .var_list = TW_OBJECTS(v)));
    expect_no_error();
    tw_release(tw_variable_assign(v, second));
    assert_null(tw_v1_average_apply(average, .var_list = TW_OBJECTS(v)));
    tw_auto tw_variable *shadow = tw_v1_average_of(average, (tw_object *)v);
    tw_auto tw_tensor *value = tw_variable_read(shadow);
    expect_no_error();
    assert_float_equal(tw_tensor_double_at(value, 0), 2, 1e-6);
}

static void global_steps(void **state)
{
    (void)state;
    tw_auto tw_graph *graph = tw_graph();
    assert_null(tw_v1_get_global_step(.graph = graph));
    tw_auto tw_variable *step = tw_v1_create_global_step(.graph = graph),
                        *again = tw_v1_get_or_create_global_step(.graph = graph);
    expect_no_error();
    assert_ptr_equal(step, again);
    assert_string_equal(step->name, "global_step:0");
    assert_null(tw_v1_create_global_step(.graph = graph));
    expect_error(TW_VALUE_ERROR, "\"global_step\" already exists.");
    tw_auto tw_variable *eager = tw_v1_get_or_create_global_step(), *same = tw_v1_get_global_step();
    expect_no_error();
    assert_ptr_equal(eager, same);
    assert_ptr_not_equal(eager, step);
}

static void summaries(void **state)
{
    (void)state;
    tw_auto tw_graph *graph = tw_graph();
    assert_int_equal(tw_graph_enter(graph), TW_OK);
    tw_auto tw_tensor *x = tw_tensor_float(2);
    tw_auto tw_tensor *one = tw_v1_summary_scalar("the loss", x, .family = "f"), *two = tw_v1_summary_histogram("h", x);
    tw_auto tw_tensor *both = tw_v1_summary_merge(TW_TENSORS(one, two));
    expect_no_error();
    assert_string_equal(one->node->name, "f/the_loss");
    tw_tensors kept = tw_v1_collected("summaries");
    assert_int_equal(kept.count, 2);
    tw_tensors_free(&kept);
    tw_graph_exit(graph);
    tw_auto tw_session *session = tw_session(.graph = graph);
    tw_tensors found = tw_session_run(session, TW_OBJECTS(both));
    tw__Summary view;
    tw__Summary_Value value;
    assert_true(tw__read_Summary(tw_tensor_string_at(found.items[0], 0), &view));
    assert_true(tw__next_message(&view.value, &tw__type_Summary_Value, &value));
    assert_memory_equal(value.tag.data, "f/f/the_loss", value.tag.size);
    tw_tensors_free(&found);
}

static void parts_of_graphs(void **state)
{
    (void)state;
    tw_auto tw_graph *graph = tw_graph();
    assert_int_equal(tw_graph_enter(graph), TW_OK);
    tw_auto tw_tensor *x = tw_placeholder(TW_FLOAT32, .name = "x"), *y = tw_identity(x, .name = "y"), *z = tw_exp(y, .name = "z");
    tw_auto tw_tensor *other = tw_sin(x, .name = "other");
    tw_graph_exit(graph);
    tw_value bytes = tw_graph_def(graph), names = { .kind = TW_VALUE_LIST, .list = { (tw_value[]){ TW_TEXT("z") }, 1, NULL } };
    tw_value part = tw_v1_extract_sub_graph(bytes, names), plain = tw_v1_remove_training_nodes(part);
    expect_no_error();
    tw__GraphDef view;
    int count = 0;
    assert_true(tw__read_GraphDef(plain.s, &view));
    tw__NodeDef node;
    while (tw__next_message(&view.node, &tw__type_NodeDef, &node))
        count++;
    assert_int_equal(count, 2); /* x and z */
    tw_value wrong =
        tw_v1_extract_sub_graph(bytes, (tw_value){ .kind = TW_VALUE_LIST, .list = { (tw_value[]){ TW_TEXT("q") }, 1, NULL } });
    assert_int_equal(wrong.kind, TW_VALUE_NONE);
    expect_error(TW_ASSERTION_ERROR, "q is not in graph");
    for (size_t cut = 0; cut < bytes.s.size; cut++) { /* damage is an error, or gives a graph */
        tw_value damaged = { .kind = TW_VALUE_BYTES, .s = { bytes.s.data, cut } };
        tw_value made = tw_v1_remove_training_nodes(damaged);
        tw_value_free(&made);
        tw_clear_error();
    }
    tw_value_free(&bytes);
    tw_value_free(&part);
    tw_value_free(&plain);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(averages_in_a_graph), cmocka_unit_test(averages_of_eager_variables),
        cmocka_unit_test(global_steps),        cmocka_unit_test(summaries),
        cmocka_unit_test(parts_of_graphs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
