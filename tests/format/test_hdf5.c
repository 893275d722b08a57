/* HDF5 files that tests/golden/h5.py made; trees written and read again; damage. */
#include "test.h"

#include <unistd.h>

#include "format/hdf5/hdf5.h"
#include "scratch.h"

#define GOLDEN TW_TEST_DATA "/golden/h5/"

static tw_tensor *value_at(tw__hdf5 *file, const char *path)
{
    const tw__hdf5_node *node = tw__hdf5_find(file->root, path);
    assert_non_null(node);
    tw_tensor *value = tw__hdf5_value(file, node);
    if (!value)
        print_error("%s: %s\n", path, tw_error_message());
    assert_non_null(value);
    return value;
}

static void check(tw__hdf5 *file, const char *path, tw_dtype dtype, tw_shape shape, double first, double step)
{
    tw_tensor *value = value_at(file, path);
    assert_int_equal(value->dtype, dtype);
    assert_true(tw__shape_equal(&value->shape, &shape));
    for (int64_t i = 0; i < value->count; i++)
        assert_true(tw_tensor_double_at(value, i) == first + step * (double)i);
    tw_release(value);
}

static void check_texts(const tw__hdf5 *file, const char *name, size_t count, const char *const *expected)
{
    size_t got;
    char **texts = tw__hdf5_texts(file->root, name, "file", &got);
    assert_non_null(texts);
    assert_int_equal(got, count);
    for (size_t i = 0; i < count; i++)
        assert_string_equal(texts[i], expected[i]);
    tw__free(texts);
}

static void reads_values(void **state)
{
    (void)state;
    tw__hdf5 *file = tw__hdf5_open(GOLDEN "values.h5");
    if (!file)
        print_error("%s\n", tw_error_message());
    assert_non_null(file);
    check(file, "packed", TW_FLOAT32, TW_SHAPE(13, 20), 0, 1);
    check(file, "chunked", TW_INT64, TW_SHAPE(5, 3, 2), 0, 1);
    check(file, "turned", TW_INT16, TW_SHAPE(2, 3, 4), 0, 1);
    check(file, "half", TW_FLOAT16, TW_SCALAR, 2.5, 0);
    check(file, "double", TW_FLOAT64, TW_SHAPE(2), 1.5, -3.5);
    check(file, "bytes", TW_UINT8, TW_SHAPE(5), 0, 1);
    check(file, "flag", TW_BOOL, TW_SCALAR, 1, 0);
    check(file, "empty", TW_FLOAT32, TW_SHAPE(0, 3), 0, 0);
    check(file, "never", TW_FLOAT32, TW_SHAPE(3), 0, 0);
    check(file, "/deep/er/still", TW_INT32, TW_SCALAR, 7, 0);
    tw_tensor *words = value_at(file, "words");
    assert_int_equal(tw_tensor_string_at(words, 1).size, 2);
    tw_release(words);
    assert_null(tw__hdf5_value(file, tw__hdf5_find(file->root, "complex")));
    expect_error(TW_UNIMPLEMENTED, "complex");
    assert_int_equal(tw__hdf5_find(file->root, "many")->child_count, 40);
    assert_non_null(tw__hdf5_find(file->root, "many/group39"));
    assert_null(tw__hdf5_find(file->root, "many/group40"));
    check_texts(file, "list", 3, (const char *[]){ "one", "three", "" });
    check_texts(file, "fixed", 2, (const char *[]){ "one", "three" });
    assert_string_equal(tw_tensor_string_at(tw__hdf5_attribute_find(file->root, "text"), 0).data, "\xc3\xa4");
    assert_true(tw_tensor_double_at(tw__hdf5_attribute_find(file->root, "number"), 0) == 1.5);
    tw__hdf5_close(file);
    assert_null(tw__hdf5_open(GOLDEN "latest.h5"));
    expect_error(TW_UNIMPLEMENTED, "libver");
    assert_null(tw__hdf5_open(GOLDEN "expected.json"));
    expect_error(TW_OS_ERROR, "signature");
    assert_true(tw__hdf5_is(GOLDEN "values.h5"));
    assert_false(tw__hdf5_is(GOLDEN "expected.json"));
    assert_false(tw__hdf5_is(GOLDEN "nothing"));
    assert_int_equal(tw_error_code(), TW_OK);
}

enum { GROUPS = 9000 };

static tw__hdf5_node *make_tree(int groups)
{
    static const tw_dtype dtypes[] = { TW_FLOAT32, TW_FLOAT64, TW_FLOAT16, TW_BFLOAT16, TW_INT8,   TW_INT16, TW_INT32,
                                       TW_INT64,   TW_UINT8,   TW_UINT16,  TW_UINT32,   TW_UINT64, TW_BOOL };
    tw__hdf5_node *root = tw__hdf5_tree();
    assert_non_null(root);
    for (size_t i = 0; i < sizeof dtypes / sizeof *dtypes; i++) {
        char path[40];
        snprintf(path, sizeof path, "arrays/%s:0", tw_dtype_name(dtypes[i]));
        tw_auto tw_tensor *value = tw_tensor_new(dtypes[i], TW_SHAPE(3, 2), NULL);
        if (tw_dtype_size(dtypes[i]) == 1)
            ((uint8_t *)value->data)[5] = 1;
        assert_int_equal(tw__hdf5_put(root, path, value), TW_OK);
    }
    tw_auto tw_tensor *number = tw_tensor_int64(-5), *none = tw_tensor_new(TW_FLOAT32, TW_SHAPE(0), NULL);
    assert_int_equal(tw__hdf5_put(root, "number", number), TW_OK);
    assert_int_equal(tw__hdf5_put(root, "none", none), TW_OK);
    char **names = tw__alloc_array((size_t)groups + 1, sizeof *names);
    for (int i = 0; i < groups; i++) {
        names[i] = tw__format("layer_%d", i);
        tw__hdf5_node *group = tw__hdf5_group(root, names[i]);
        assert_int_equal(tw__hdf5_set_texts(group, "weight_names", (const char *const *)names + i, 1), TW_OK);
    }
    assert_int_equal(tw__hdf5_set_texts(root, "layer_names", (const char *const *)names, (size_t)groups), TW_OK);
    assert_int_equal(tw__hdf5_set_texts(root, "nothing", NULL, 0), TW_OK);
    assert_int_equal(tw__hdf5_set_text(root, "text", "\xc3\xa4", true), TW_OK);
    for (int i = 0; i < groups; i++)
        tw__free(names[i]);
    tw__free(names);
    return root;
}

static void writes_trees(void **state)
{
    (void)state;
    const char *path = in_scratch("tree.h5");
    tw__hdf5_node *root = make_tree(GROUPS); /* an index of three levels, a list of names in two parts */
    assert_int_equal(tw__hdf5_write(root, path), TW_OK);
    tw__hdf5_free(root);
    tw__hdf5 *file = tw__hdf5_open(path);
    if (!file)
        print_error("%s\n", tw_error_message());
    assert_non_null(file);
    check(file, "number", TW_INT64, TW_SCALAR, -5, 0);
    check(file, "none", TW_FLOAT32, TW_SHAPE(0), 0, 0);
    const tw__hdf5_node *arrays = tw__hdf5_find(file->root, "arrays");
    for (size_t i = 0; i < arrays->child_count; i++) {
        const tw__hdf5_node *node = arrays->children[i];
        assert_true(strncmp(node->name, tw_dtype_name(node->dtype), strlen(tw_dtype_name(node->dtype))) == 0);
        tw_tensor *value = tw__hdf5_value(file, node);
        assert_int_equal(value->count, 6);
        if (tw_dtype_size(node->dtype) == 1)
            assert_int_equal(((uint8_t *)value->data)[5], 1);
        tw_release(value);
    }
    size_t count;
    char **names = tw__hdf5_texts(file->root, "layer_names", path, &count);
    assert_int_equal(count, GROUPS);
    assert_null(tw__hdf5_attribute_find(file->root, "layer_names"));
    assert_non_null(tw__hdf5_attribute_find(file->root, "layer_names1"));
    for (size_t i = 0; i < count; i += 97)
        assert_non_null(tw__hdf5_find(file->root, names[i]));
    tw__free(names);
    check_texts(file, "nothing", 0, NULL);
    tw__hdf5_close(file);
}

static void refuses_what_it_cannot_write(void **state)
{
    (void)state;
    tw__hdf5_node *root = tw__hdf5_tree();
    tw_auto tw_tensor *text = tw_tensor_string("x", 1), *number = tw_tensor_int(1);
    assert_int_equal(tw__hdf5_put(root, "a/b", number), TW_OK);
    assert_int_equal(tw__hdf5_put(root, "a", number), TW_VALUE_ERROR);
    expect_error(TW_VALUE_ERROR, "group already");
    assert_int_equal(tw__hdf5_put(root, "a/b/c", number), TW_VALUE_ERROR);
    expect_error(TW_VALUE_ERROR, "array already");
    assert_int_equal(tw__hdf5_put(root, "text", text), TW_OK);
    assert_int_equal(tw__hdf5_write(root, in_scratch("text.h5")), TW_TYPE_ERROR);
    expect_error(TW_TYPE_ERROR, "no native HDF5 equivalent");
    assert_int_equal(count_files("", 0), 1); /* tree.h5 */
    tw__hdf5_free(root);
}

static void read_everything(tw__hdf5 *file, const tw__hdf5_node *node)
{
    for (size_t i = 0; i < node->child_count; i++)
        read_everything(file, node->children[i]);
    if (node->is_array)
        tw_release(tw__hdf5_value(file, node));
    tw_clear_error();
}

static void survives_damage(void **state)
{
    (void)state;
    size_t size;
    char *good = tw__file_read_all(GOLDEN "weights.h5", 1 << 20, &size), *bad = tw__alloc(size);
    const char *path = in_scratch("bad.h5");
    for (size_t at = 0; at < size; at += 7) { /* cut off, or a byte changed */
        FILE *stream = fopen(path, "wb");
        memcpy(bad, good, size);
        bad[at] = (char)(at % 3 ? bad[at] ^ (1 << at % 8) : 0xff);
        fwrite(bad, 1, at % 2 ? size : at, stream);
        fclose(stream);
        tw__hdf5 *file = tw__hdf5_open(path);
        assert_true(file || tw_error_code() != TW_OK);
        assert_true(at % 2 || !file);
        if (file)
            read_everything(file, file->root);
        tw__hdf5_close(file);
        tw_clear_error();
    }
    unlink(path);
    tw__free(good);
    tw__free(bad);
}

/* The n-th allocation or step of the writer fails, for every n. */
static void fails_cleanly(void **state)
{
    (void)state;
    const char *path = in_scratch("fail.h5");
    tw_status status = TW_INTERNAL;
    for (long n = 1; status != TW_OK; n++) {
        tw__hdf5_node *root = make_tree(20);
        tw__file_fail_at(n);
        status = tw__hdf5_write(root, path);
        tw__file_fail_at(0);
        tw_clear_error();
        tw__hdf5_free(root);
        assert_int_equal(count_files(".fail", 0), 0);
    }
    status = TW_INTERNAL;
    for (long n = 1; status != TW_OK; n++) {
        tw__hdf5_node *root = make_tree(20);
        tw__alloc_fail_at(n);
        status = tw__hdf5_write(root, path);
        tw__alloc_fail_at(0);
        assert_true(status == TW_OK || tw_error_code() == TW_RESOURCE_EXHAUSTED);
        tw_clear_error();
        tw__hdf5_free(root);
    }
    tw__hdf5 *file = NULL;
    for (long n = 1; !file; n++) {
        tw__alloc_fail_at(n);
        file = tw__hdf5_open(path);
        tw__alloc_fail_at(0);
        assert_true(file || tw_error_code() == TW_RESOURCE_EXHAUSTED);
        tw_clear_error();
    }
    tw__hdf5_close(file);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_values),    cmocka_unit_test(writes_trees),  cmocka_unit_test(refuses_what_it_cannot_write),
        cmocka_unit_test(survives_damage), cmocka_unit_test(fails_cleanly),
    };
    return cmocka_run_group_tests(tests, make_scratch, remove_scratch);
}
