/* GraphDefs: TensorFlow's load and run with its results, ours are read back, and what is wrong is an error that names the node.
 */
#include "test.h"

#include "function/library.h"
#include "rows.h"

#define GOLDEN TW_TEST_DATA "/golden/graphs/"

/* Runs the graph from the placeholders given by name to one node. */
static tw_tensor *run(tw__graph *graph, const char *const *names, tw_tensor *const *values, int count, const char *result)
{
    tw__node *arguments[4], *node = tw__graph_find(graph, result);
    for (int i = 0; i < count; i++)
        assert_non_null(arguments[i] = tw__graph_find(graph, names[i]));
    assert_non_null(node);
    tw__plan *plan = tw__plan_new(graph, arguments, count, &(tw__edge){ node, 0 }, 1);
    expect_no_error();
    tw_tensor *output = NULL;
    tw__plan_run(plan, values, &output);
    expect_no_error();
    tw__plan_free(plan);
    return output;
}

static tw__graph *load(const char *name, tw__library **library)
{
    *library = tw__library_read_file(name);
    expect_no_error();
    tw__graph *graph = tw__graphdef_read(*library);
    expect_no_error();
    assert_non_null(graph);
    return graph;
}

/* The graph written here and read again. */
static tw__graph *again(const tw__graph *graph, tw__library **library)
{
    tw__text text = { 0 };
    assert_int_equal(tw__graphdef_write(&text, graph, false, NULL, 0), TW_OK);
    *library = tw__library_read(text.data, text.size);
    tw__text_free(&text);
    expect_no_error();
    tw__graph *copy = tw__graphdef_read(*library);
    expect_no_error();
    return copy;
}

static void plain(void **state)
{
    (void)state;
    tw_auto tw__library *library = NULL, *second = NULL;
    tw_auto tw__graph *graph = load(GOLDEN "plain.pb", &library);
    tw_auto tw__graph *copy = again(graph, &second);
    assert_int_equal(copy->node_count, graph->node_count);
    tw_auto tw_tensor *x = tw_tensor_new(TW_FLOAT32, TW_SHAPE(1, 2), (float[]){ 1, 2 });
    for (int i = 0; i < 2; i++) {
        tw_auto tw_tensor *y = run(i ? copy : graph, (const char *[]){ "x" }, &x, 1, "result");
        assert_float_equal(tw_tensor_double_at(y, 0), 230.25, 0);
        assert_float_equal(tw_tensor_double_at(y, 1), 224.25, 0);
    }
    tw__node *split = tw__graph_find(graph, "split");
    assert_int_equal(split->out_shapes[1].rank, 2);
    assert_int_equal(split->out_shapes[1].dims[0], -1);
    assert_int_equal(split->out_shapes[1].dims[1], 1);
}

static void functions(void **state)
{
    (void)state;
    tw_auto tw__library *library = NULL, *second = NULL;
    tw_auto tw__graph *graph = load(GOLDEN "nested.pb", &library);
    tw_auto tw__graph *copy = again(graph, &second);
    tw_auto tw_tensor *x = tw_tensor_new(TW_FLOAT32, TW_SHAPE(2), (float[]){ 1, 2 });
    for (int i = 0; i < 2; i++) {
        tw_auto tw_tensor *y = run(i ? copy : graph, (const char *[]){ "x" }, &x, 1, "Identity");
        assert_float_equal(tw_tensor_double_at(y, 0), 9, 0);
    }
}

static void effects(void **state)
{
    (void)state;
    tw_auto tw__library *library = NULL, *second = NULL;
    tw_auto tw__graph *graph = load(GOLDEN "variable.pb", &library);
    tw_auto tw__graph *copy = again(graph, &second);
    tw_auto tw_tensor *ten = tw_tensor_float(10), *x = tw_tensor_float(3);
    tw_auto tw_variable *v = tw_variable(ten);
    tw_auto tw_tensor *handle = tw_variable_handle(v);
    expect_no_error();
    const char *names[] = { "x", "handle" };
    for (int i = 0; i < 2; i++) {
        tw_auto tw_tensor *y = run(i ? copy : graph, names, (tw_tensor *[]){ x, handle }, 2, "Identity");
        assert_float_equal(tw_tensor_double_at(y, 0), i ? 39 : 30, 0);
        tw_auto tw_tensor *after = run(i ? copy : graph, names, (tw_tensor *[]){ x, handle }, 2, "Identity_1");
        assert_float_equal(tw_tensor_double_at(after, 0), i ? 19 : 16, 0);
        tw_auto tw_tensor *reset = tw_tensor_float(13);
        tw_release(tw_variable_assign(v, reset));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(plain), cmocka_unit_test(functions), cmocka_unit_test(effects) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
