/* Tensors as text, against what TensorFlow prints (tests/golden/print/print.txt, made by tests/golden/print.py, which has the
 * format).
 */
#include <stdio.h>
#include <stdlib.h>

#include "test.h"

#include "tensor/tensor.h"

static int digit(char c)
{
    return c <= '9' ? c - '0' : c - 'a' + 10;
}

static size_t from_hex(const char *hex, size_t size, char *bytes)
{
    for (size_t i = 0; i < size / 2; i++)
        bytes[i] = (char)(digit(hex[2 * i]) * 16 + digit(hex[2 * i + 1]));
    return size / 2;
}

/* The tensor that a record's first line says. */
static tw_tensor *read_tensor(char *line)
{
    char name[32];
    int rank, used;
    tw_shape shape = { .rank = 0 };
    assert_int_equal(sscanf(line, "tensor %31s %d%n", name, &rank, &used), 2);
    line += used;
    shape.rank = rank;
    for (int i = 0; i < rank; i++)
        shape.dims[i] = strtoll(line, &line, 10);
    line += strspn(line, " ");
    tw_tensor *tensor = tw_tensor_new(tw_dtype_from_name(name), shape, NULL);
    assert_non_null(tensor);
    if (*line == '-' || tensor->count == 0)
        return tensor;
    if (tensor->dtype != TW_STRING) {
        assert_int_equal(from_hex(line, strlen(line), tensor->data), tw_tensor_bytes(tensor));
        return tensor;
    }
    for (int64_t i = 0; i < tensor->count; i++) {
        size_t size = strcspn(line, "/");
        char bytes[256];
        assert_int_equal(tw__string_set(tensor, i, bytes, from_hex(line, size, bytes)), TW_OK);
        line += size + (line[size] == '/');
    }
    return tensor;
}

static char *read_lines(FILE *file, const char *word)
{
    char *line = NULL, name[8];
    size_t capacity = 0;
    int count;
    tw__text text = { 0 };
    assert_true(getline(&line, &capacity, file) > 0);
    assert_int_equal(sscanf(line, "%7s %d", name, &count), 2);
    assert_string_equal(name, word);
    for (int i = 0; i < count; i++) {
        ssize_t size = getline(&line, &capacity, file);
        assert_true(size > 0);
        tw__text_bytes(&text, line, (size_t)size - (i + 1 == count));
    }
    free(line);
    return tw__text_take(&text);
}

static void golden(void **state)
{
    (void)state;
    FILE *file = fopen(TW_TEST_DATA "/golden/print/print.txt", "r");
    assert_non_null(file);
    char *line = NULL;
    size_t capacity = 0;
    int records = 0;
    ssize_t size;
    while ((size = getline(&line, &capacity, file)) > 0) {
        line[size - 1] = 0;
        tw_auto tw_tensor *tensor = read_tensor(line);
        char *expected = read_lines(file, "str"), *got = tw_tensor_str(tensor);
        assert_string_equal(got, expected);
        free(got);
        free(expected);
        expected = read_lines(file, "repr");
        got = tw_tensor_repr(tensor);
        assert_string_equal(got, expected);
        free(got);
        free(expected);
        records++;
    }
    assert_true(records > 400);
    free(line);
    fclose(file);
}

static void single_floats(void **state)
{
    (void)state;
    const struct {
        double value;
        tw_dtype dtype;
        const char *text;
    } cases[] = { { 0.1, TW_FLOAT64, "0.1" },    { 1e16, TW_FLOAT64, "1e+16" },
                  { 1e-5, TW_FLOAT64, "1e-05" }, { -0.0, TW_FLOAT64, "-0.0" },
                  { 0.1f, TW_FLOAT32, "0.1" },   { 65504, TW_FLOAT16, "65500.0" },
                  { 3, TW_FLOAT32, "3.0" },      { 5e-324, TW_FLOAT64, "5e-324" },
                  { 1e22, TW_FLOAT64, "1e+22" }, { 123456789012345680.0, TW_FLOAT64, "1.2345678901234568e+17" } };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        tw__text text = { 0 };
        tw__print_float(&text, cases[i].value, cases[i].dtype);
        assert_string_equal(text.data, cases[i].text);
        tw__text_free(&text);
    }
}

/* Every allocation on the way may fail: an error, no crash, no leak. */
static void failing_memory(void **state)
{
    (void)state;
    int64_t values[30];
    for (int i = 0; i < 30; i++)
        values[i] = i * i;
    tw_auto tw_tensor *tensor = tw_tensor_new(TW_INT64, TW_SHAPE(5, 6), values);
    for (long n = 1; n < 100; n++) {
        tw__alloc_fail_at(n);
        char *text = tw_tensor_repr(tensor);
        tw__alloc_fail_at(0);
        if (text) {
            free(text);
            assert_true(n > 1);
            return;
        }
        assert_int_equal(tw_error_code(), TW_RESOURCE_EXHAUSTED);
        tw_clear_error();
    }
    fail();
}

static void wrong_arguments(void **state)
{
    (void)state;
    assert_null(tw_tensor_str(NULL));
    assert_int_equal(tw_error_code(), TW_INVALID_ARGUMENT);
    tw_clear_error();
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(golden), cmocka_unit_test(single_floats),
                                        cmocka_unit_test(failing_memory), cmocka_unit_test(wrong_arguments) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
