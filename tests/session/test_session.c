/* Graphs built from C and run by sessions: feeds, fetches, variables with one state per session, names, control dependencies,
 * errors. */
#include "test.h"

#include "rows.h"
#include "session/session.h"

static tw_tensor *vector(float a, float b)
{
    return tw_tensor_new(TW_FLOAT32, TW_SHAPE(2), (float[]){ a, b });
}

static double run_one(tw_session *session, void *fetch)
{
    tw_tensors results = tw_session_run(session, TW_OBJECTS(fetch));
    assert_int_equal(tw_error_code(), TW_OK);
    assert_int_equal(results.count, 1);
    double value = tw_tensor_double_at(results.items[0], 0);
    tw_tensors_free(&results);
    return value;
}

static void feeds_and_fetches(void **state)
{
    (void)state;
    tw_auto tw_graph *graph = tw_graph();
    assert_int_equal(tw_graph_enter(graph), TW_OK);
    tw_auto tw_tensor *x = tw_placeholder(TW_FLOAT32, .shape = TW_SHAPE(-1), .name = "x");
    tw_auto tw_tensor *y = tw_multiply(x, x, .name = "y");
    tw_auto tw_tensor *z = tw_reduce_sum(y);
    assert_int_equal(tw_graph_exit(graph), TW_OK);
    assert_string_equal(x->node->name, "x");
    assert_string_equal(y->node->name, "y");
    assert_string_equal(z->node->name, "Sum");
    assert_null(tw__tracing);
    tw_auto tw_session *session = tw_session(.graph = graph);
    tw_auto tw_tensor *value = vector(2, 3);
    for (int i = 0; i < 3; i++) {
        tw_tensors results = tw_session_run(session, TW_OBJECTS(z, y), .feeds = TW_TENSORS(x), .values = TW_TENSORS(value));
        assert_int_equal(results.count, 2);
        assert_true(tw_tensor_double_at(results.items[0], 0) == 13);
        assert_true(tw_tensor_double_at(results.items[1], 1) == 9);
        tw_tensors_free(&results);
    }
    /* any tensor can be fed; what it was computed from is then not needed */
    tw_tensors results = tw_session_run(session, TW_OBJECTS(z), .feeds = TW_TENSORS(y), .values = TW_TENSORS(value));
    assert_int_equal(results.count, 1);
    assert_true(tw_tensor_double_at(results.items[0], 0) == 5);
    tw_tensors_free(&results);
    /* and one that is missing is an error */
    results = tw_session_run(session, TW_OBJECTS(z));
    assert_int_equal(results.count, 0);
    assert_int_equal(tw_error_code(), TW_INVALID_ARGUMENT);
    assert_non_null(
        strstr(tw_error_message(), "You must feed a value for placeholder tensor 'x' with dtype float and shape [?]"));
    tw_clear_error();
    tw_auto tw_tensor *scalar = tw_tensor_float(1);
    results = tw_session_run(session, TW_OBJECTS(z), .feeds = TW_TENSORS(x), .values = TW_TENSORS(scalar));
    assert_non_null(strstr(tw_error_message(), "Cannot feed value of shape () for Tensor x:0, which has shape (None,)"));
    tw_clear_error();
    tw_session_close(session);
    results = tw_session_run(session, TW_OBJECTS(z));
    assert_non_null(strstr(tw_error_message(), "closed Session"));
    tw_clear_error();
}

static void variables_per_session(void **state)
{
    (void)state;
    tw_auto tw_graph *graph = tw_graph();
    tw_graph_enter(graph);
    tw_auto tw_tensor *one = tw_tensor_float(1);
    tw_auto tw_variable *v = tw_variable(one, .name = "v"), *w = tw_variable(one, .name = "v");
    tw_auto tw_operation *init = tw_variables_initializer(TW_OBJECTS(v, w));
    tw_auto tw_variable *same = tw_variable_assign_add(v, one);
    tw_auto tw_operation *add = tw__operation_of(graph->graph->nodes[graph->graph->node_count - 1]);
    tw_graph_exit(graph);
    assert_string_equal(v->name, "v:0");
    assert_string_equal(w->name, "v_1:0");
    assert_non_null(tw__graph_find(graph->graph, "v/Initializer/initial_value"));
    assert_non_null(tw__graph_find(graph->graph, "v/Read/ReadVariableOp"));
    assert_non_null(tw__graph_find(graph->graph, "init"));
    tw_auto tw_session *first = tw_session(.graph = graph), *second = tw_session(.graph = graph);
    tw_tensors results = tw_session_run(first, TW_OBJECTS(v));
    assert_int_equal(tw_error_code(), TW_FAILED_PRECONDITION);
    assert_non_null(strstr(tw_error_message(), "Could not find variable v."));
    assert_non_null(strstr(tw_error_message(), "[[{{node v/Read/ReadVariableOp}}]]"));
    tw_clear_error();
    for (int i = 0; i < 2; i++) {
        results = tw_session_run(i ? second : first, TW_OBJECTS(init));
        assert_int_equal(results.count, 0);
        tw_tensors_free(&results);
    }
    results = tw_session_run(first, TW_OBJECTS(add));
    tw_tensors_free(&results);
    assert_true(run_one(first, v) == 2);
    assert_true(run_one(second, v) == 1);
    assert_true(run_one(first, w) == 1);
    tw_auto tw_tensor *value = tw_session_read(first, v);
    assert_true(tw_tensor_double_at(value, 0) == 2);
}

static void names_and_controls(void **state)
{
    (void)state;
    tw_auto tw_graph *graph = tw_graph();
    tw_graph_enter(graph);
    tw_auto tw_tensor *x = tw_placeholder(TW_FLOAT32);
    tw_auto tw_tensor *a = tw_nn_relu(x, .name = "same"), *b = tw_nn_relu(x, .name = "Same"), *c = tw_nn_relu(x),
                      *d = tw_nn_relu(x);
    assert_string_equal(x->node->name, "Placeholder");
    assert_string_equal(a->node->name, "same");
    assert_string_equal(b->node->name, "Same_1"); /* names differ in more than the case of letters */
    assert_string_equal(c->node->name, "Relu");
    assert_string_equal(d->node->name, "Relu_1");
    tw__scope_push("scope");
    tw_auto tw_tensor *e = tw_nn_relu(x);
    tw__scope_pop();
    tw__scope_push("scope");
    tw_auto tw_tensor *f = tw_nn_relu(x);
    tw__scope_pop();
    assert_string_equal(e->node->name, "scope/Relu");
    assert_string_equal(f->node->name, "scope_1/Relu");
    tw_auto tw_operation *first = tw__operation_of(a->node);
    assert_int_equal(tw_graph_push_controls(graph, TW_OBJECTS(first), false), TW_OK);
    tw_auto tw_tensor *g = tw_nn_relu(x), *h = tw_nn_relu(g), *i = tw_nn_relu(a);
    tw_graph_pop_controls(graph);
    assert_int_equal(g->node->control_count, 1);
    assert_ptr_equal(g->node->controls[0], a->node);
    assert_int_equal(h->node->control_count, 0); /* follows g, which follows a */
    assert_int_equal(i->node->control_count, 0); /* uses a */
    assert_null(tw_nn_relu(x, .name = "bad name"));
    assert_int_equal(tw_error_code(), TW_VALUE_ERROR);
    tw_clear_error();
    tw_graph_finalize(graph);
    assert_null(tw_nn_relu(x));
    assert_non_null(strstr(tw_error_message(), "Graph is finalized and cannot be modified."));
    tw_clear_error();
    tw_graph_exit(graph);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(feeds_and_fetches),
        cmocka_unit_test(variables_per_session),
        cmocka_unit_test(names_and_controls),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
