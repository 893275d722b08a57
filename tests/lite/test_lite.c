/* TFLite's files from C: one that TensorFlow wrote runs; damaged files, wrong calls and functions that can't be
 * converted are refused. */
#include "test.h"

#include <thalweg/saving.h>

#include "lite/interpreter.h"
#include "rows.h"

#define MLP TW_TEST_DATA "/golden/lite/mlp.tflite"
#define MODULE TW_TEST_DATA "/golden/saved_model/module"

static void runs_a_file(void **state)
{
    (void)state;
    tw_auto tw_lite_interpreter *model = tw_lite_interpreter(.model_path = MLP);
    assert_non_null(model);
    assert_int_equal(tw_lite_interpreter_invoke(model), TW_RUNTIME_ERROR);
    tw_clear_error();
    tw_value inputs = tw_lite_interpreter_inputs(model), outputs = tw_lite_interpreter_outputs(model);
    assert_int_equal(inputs.list.count, 1);
    assert_int_equal(outputs.list.count, 1);
    int64_t in = inputs.list.items[0].i, out = outputs.list.items[0].i;
    tw_value_free(&inputs);
    tw_value_free(&outputs);
    assert_int_equal(tw_lite_interpreter_resize(model, in, TW_SHAPE(2, 4)), TW_OK);
    assert_int_equal(tw_lite_interpreter_allocate(model), TW_OK);
    tw_auto tw_tensor *x = tw_tensor_new(TW_FLOAT32, TW_SHAPE(2, 4), (float[]){ 1, 2, 3, 4, -1, 0, 1, 2 });
    assert_int_equal(tw_lite_interpreter_set(model, in, x), TW_OK);
    assert_int_equal(tw_lite_interpreter_invoke(model), TW_OK);
    tw_auto tw_tensor *y = tw_lite_interpreter_get(model, out);
    assert_non_null(y);
    for (int row = 0; row < 2; row++) { /* a softmax */
        double sum = 0;
        for (int i = 0; i < 3; i++)
            sum += tw_tensor_double_at(y, 3 * row + i);
        assert_true(fabs(sum - 1) < 1e-6);
    }
    assert_null(tw_lite_interpreter_get(model, 1000));
    assert_non_null(strstr(tw_error_message(), "Invalid tensor index 1000"));
    tw_clear_error();
}

/* The module counts its calls. */
static void refuses_variables_that_change(void **state)
{
    (void)state;
    tw_saved_object *module = tw_saved_model_load(MODULE);
    tw_auto tw_saved_concrete *serve = tw_saved_model_signature(module, "serving_default");
    assert_non_null(serve);
    tw_value bytes = tw_lite_convert(TW_OBJECTS(serve));
    assert_int_equal(bytes.kind, TW_VALUE_NONE);
    assert_int_equal(tw_error_code(), TW_UNIMPLEMENTED);
    assert_non_null(strstr(tw_error_message(), "variables that change are not supported"));
    tw_clear_error();
    tw_saved_model_close(module);
}

static void refuses(void **state)
{
    (void)state;
    assert_null(tw_lite_interpreter(.model_path = MODULE));
    tw_clear_error();
    size_t size;
    char *bytes = tw__file_read_all(MLP, 1 << 20, &size);
    assert_non_null(bytes);
    for (size_t cut = 0; cut < size; cut += 7) {
        tw_value content = { .kind = TW_VALUE_BYTES, .s = { bytes, cut } };
        tw_auto tw_lite_interpreter *model = tw_lite_interpreter(.model_content = content);
        if (model && tw_lite_interpreter_allocate(model) == TW_OK)
            (void)tw_lite_interpreter_invoke(model);
        tw_clear_error();
    }
    tw__free(bytes);
    tw_value none = tw_lite_convert(((tw_objects){ 0 }));
    assert_int_equal(none.kind, TW_VALUE_NONE);
    tw_clear_error();
}

/* What is written is read again, with every kind of field. */
static void flat_buffers(void **state)
{
    (void)state;
    tw__flat_writer w = { 0 };
    uint32_t text = tw__flat_put_text(&w, "name"), ints = tw__flat_put_ints(&w, (int32_t[]){ -1, 7 }, 2);
    tw__flat_begin(&w);
    tw__flat_field(&w, 0, -5, 1);
    tw__flat_field(&w, 1, 0, 4);
    tw__flat_field_ref(&w, 2, text);
    tw__flat_field_ref(&w, 3, ints);
    tw__flat_field_float(&w, 4, 1.5f);
    tw__flat_field(&w, 5, INT64_MIN, 8);
    tw__flat_finish(&w, tw__flat_end(&w), "TEST");
    tw__flat flat = { .bytes = w.bytes + w.capacity - w.size, .size = w.size };
    tw__flat_table root = tw__flat_root(&flat, "TEST");
    assert_int_equal(tw__flat_int(&root, 0, 1, 0), -5);
    assert_int_equal(tw__flat_int(&root, 1, 4, 3), 3);
    assert_string_equal(tw__flat_text(&root, 2).data, "name");
    tw__flat_vector list = tw__flat_list(&root, 3, 4);
    assert_int_equal(list.count, 2);
    assert_int_equal(tw__flat_int_at(&list, 0, 4), -1);
    assert_true(tw__flat_float(&root, 4, 0) == 1.5);
    assert_true(tw__flat_int(&root, 5, 8, 0) == INT64_MIN);
    assert_false(tw__flat_has(&root, 9) || flat.broken);
    tw__flat other = flat;
    root = tw__flat_root(&other, "TFL3");
    assert_true(other.broken && !root.at);
    tw__flat_writer_free(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(runs_a_file), cmocka_unit_test(refuses_variables_that_change),
                                        cmocka_unit_test(refuses), cmocka_unit_test(flat_buffers) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
