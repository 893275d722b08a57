/* From C: variables by name and variable scopes, device scopes in graphs, partial runs, and sessions under failing allocations.
 */
#include "test.h"

#include "device/device.h"
#include "rows.h"
#include "session/session.h"

static void names_and_sharing(void **state)
{
    (void)state;
    tw_auto tw_graph *graph = tw_graph();
    assert_int_equal(tw_graph_enter(graph), TW_OK);
    tw_auto tw_initializer *ones = (tw_initializer *)tw_v1_ones_initializer();
    tw_auto tw_variable_scope *a = tw_variable_scope_enter(.name = "a", .initializer = (tw_object *)ones);
    tw_auto tw_variable *w = tw_get_variable("w", .shape = TW_SHAPE(2));
    expect_no_error();
    assert_string_equal(w->name, "a/w:0");
    assert_non_null(tw__graph_find(graph->graph, "a/w/Initializer/ones"));
    assert_null(tw_get_variable("w", .shape = TW_SHAPE(2)));
    expect_error(TW_VALUE_ERROR, "Variable a/w already exists, disallowed.");
    tw_auto tw_variable_scope *b = tw_variable_scope_enter(.name = "b", .reuse = "auto");
    tw_auto tw_variable *first = tw_get_variable("w", .shape = TW_SHAPE(3)), *again = tw_get_variable("w", .shape = TW_SHAPE(3));
    assert_string_equal(first->name, "a/b/w:0");
    assert_ptr_equal(first, again);
    assert_null(tw_get_variable("w", .shape = TW_SHAPE(4)));
    expect_error(TW_VALUE_ERROR, "Trying to share variable a/b/w, but specified shape (4,) and found shape (3,).");
    assert_int_equal(tw_variable_scope_exit(), TW_OK);
    assert_int_equal(tw_variable_scope_exit(), TW_OK);
    tw_auto tw_variable_scope *reopened = tw_variable_scope_enter(.scope = a, .reuse = "yes");
    tw_auto tw_variable *shared = tw_get_variable("w");
    assert_ptr_equal(shared, w);
    assert_null(tw_get_variable("other", .shape = TW_SHAPE(2)));
    expect_error(TW_VALUE_ERROR, "Variable a/other does not exist");
    assert_int_equal(tw_variable_scope_exit(), TW_OK);
    assert_int_equal(tw_variable_scope_exit(), TW_RUNTIME_ERROR);
    tw_clear_error();
    tw_objects all = tw_global_variables(), inner = tw_trainable_variables(.scope = "a/b");
    assert_int_equal(all.count, 2);
    assert_int_equal(inner.count, 1);
    tw_objects_free(&all);
    tw_objects_free(&inner);
    tw_auto tw_operation *init = tw_global_variables_initializer();
    tw_graph_exit(graph);
    tw_auto tw_session *session = tw_session(.graph = graph);
    tw_tensors results = tw_session_run(session, TW_OBJECTS(init));
    tw_tensors_free(&results);
    results = tw_session_run(session, TW_OBJECTS(w));
    expect_no_error();
    assert_true(tw_tensor_double_at(results.items[0], 1) == 1);
    tw_tensors_free(&results);
}

static void devices(void **state)
{
    (void)state;
    tw_auto tw_graph *graph = tw_graph();
    tw_graph_enter(graph);
    tw_auto tw_tensor *x = tw_placeholder(TW_FLOAT32);
    assert_int_equal(tw_device_enter(.name = "/job:ps"), TW_OK);
    assert_int_equal(tw_device_enter(.name = "gpu:1"), TW_OK);
    tw_auto tw_tensor *y = tw_nn_relu(x);
    assert_string_equal(y->node->device, "/job:ps/device:GPU:1");
    assert_int_equal(tw_device_enter(), TW_OK);
    tw_auto tw_tensor *z = tw_nn_relu(y);
    assert_null(z->node->device);
    for (int i = 0; i < 3; i++)
        assert_int_equal(tw_device_exit(), TW_OK);
    assert_int_equal(tw_device_exit(), TW_RUNTIME_ERROR);
    tw_clear_error();
    assert_int_equal(tw_device_enter(.name = "/nothing:1"), TW_VALUE_ERROR);
    expect_error(TW_VALUE_ERROR, "Unknown attribute 'nothing' is encountered while parsing the device spec: '/nothing:1'.");
    tw_graph_exit(graph);
    tw_objects list = tw_list_physical_devices();
    assert_int_equal(list.count, 1);
    tw_objects_free(&list);
}

static void partial_runs(void **state)
{
    (void)state;
    tw_auto tw_graph *graph = tw_graph();
    tw_graph_enter(graph);
    tw_auto tw_tensor *a = tw_placeholder(TW_FLOAT32, .shape = TW_SCALAR), *b = tw_placeholder(TW_FLOAT32, .shape = TW_SCALAR);
    tw_auto tw_tensor *shape = tw_tensor_new(TW_INT32, TW_SHAPE(0), NULL);
    tw_auto tw_tensor *drawn = tw_random_uniform(shape), *first = tw_add(a, drawn), *second = tw_multiply(first, b);
    tw_graph_exit(graph);
    expect_no_error();
    tw_auto tw_session *session = tw_session(.graph = graph);
    tw_auto tw_partial_run *run = tw_session_partial_run_setup(session, TW_OBJECTS(first, second), .feeds = TW_TENSORS(a, b));
    expect_no_error();
    tw_auto tw_tensor *one = tw_tensor_float(1), *two = tw_tensor_float(2);
    tw_tensors none = tw_partial_run_step(run, TW_OBJECTS(second));
    assert_int_equal(none.count, 0);
    expect_error(TW_INVALID_ARGUMENT, "can't be computed from the feeds that have been fed so far.");
    tw_tensors some = tw_partial_run_step(run, TW_OBJECTS(first), .feeds = TW_TENSORS(a), .values = TW_TENSORS(one));
    expect_no_error();
    assert_false(tw_partial_run_over(run));
    tw_tensors rest = tw_partial_run_step(run, TW_OBJECTS(second), .feeds = TW_TENSORS(b), .values = TW_TENSORS(two));
    expect_no_error();
    /* what was drawn in the first step is not drawn again */
    assert_true(tw_tensor_double_at(rest.items[0], 0) == 2 * tw_tensor_double_at(some.items[0], 0));
    assert_true(tw_partial_run_over(run));
    tw_tensors_free(&some);
    tw_tensors_free(&rest);
}

/* A graph with a variable, its initialization, a run with a feed, a partial run. */
static void whole_life(void)
{
    tw_auto tw_graph *graph = tw_graph();
    if (!graph || tw_graph_enter(graph) != TW_OK)
        return;
    tw_auto tw_tensor *x = tw_placeholder(TW_FLOAT32, .shape = TW_SHAPE(2), .name = "x");
    tw_auto tw_variable_scope *scope = tw_variable_scope_enter(.name = "scope");
    tw_auto tw_variable *w = scope ? tw_get_variable("w", .shape = TW_SHAPE(2)) : NULL;
    tw_auto tw_tensor *value = w ? tw_variable_read(w) : NULL, *y = x && value ? tw_multiply(x, value) : NULL;
    tw_auto tw_operation *init = y ? tw_global_variables_initializer() : NULL;
    if (scope)
        tw_variable_scope_exit();
    tw_graph_exit(graph);
    tw_auto tw_session *session = init ? tw_session(.graph = graph) : NULL;
    tw_auto tw_tensor *fed = session ? tw_tensor_new(TW_FLOAT32, TW_SHAPE(2), (float[]){ 1, 2 }) : NULL;
    if (!fed)
        return;
    tw_tensors results = tw_session_run(session, TW_OBJECTS(init));
    tw_tensors_free(&results);
    if (tw_error_code() != TW_OK)
        return;
    results = tw_session_run(session, TW_OBJECTS(y), .feeds = TW_TENSORS(x), .values = TW_TENSORS(fed));
    tw_tensors_free(&results);
    if (tw_error_code() != TW_OK)
        return;
    tw_auto tw_partial_run *run = tw_session_partial_run_setup(session, TW_OBJECTS(y), .feeds = TW_TENSORS(x));
    results =
        run ? tw_partial_run_step(run, TW_OBJECTS(y), .feeds = TW_TENSORS(x), .values = TW_TENSORS(fed)) : (tw_tensors){ 0 };
    tw_tensors_free(&results);
}

static void failing_allocations(void **state)
{
    (void)state;
    whole_life();
    expect_no_error();
    int failures = 0, n = 1;
    for (; n < 20000; n++) {
        tw__buffer_trim();
        tw__alloc_fail_at(n);
        whole_life();
        tw__alloc_fail_at(0);
        if (tw_error_code() == TW_OK)
            break;
        expect_error(TW_RESOURCE_EXHAUSTED, "out of memory");
        assert_null(tw__tracing);
        assert_string_equal(tw__scope(), "");
        failures++;
    }
    assert_true(failures > 100 && n < 20000);
    whole_life();
    expect_no_error();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_and_sharing),
        cmocka_unit_test(devices),
        cmocka_unit_test(partial_runs),
        cmocka_unit_test(failing_allocations),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
