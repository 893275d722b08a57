/* The values that tests/golden/keras_values.py got from TensorFlow, by name. */
#ifndef KERAS_GOLDEN_H
#define KERAS_GOLDEN_H

#include "test.h"

#include <thalweg/thalweg.h>

/* The values behind `name: `; the test fails if there are none. */
static inline int golden_read(const char *name, double *values, int limit)
{
    static char *text;
    size_t size;
    if (!text)
        text = tw__file_read_all(TW_TEST_DATA "/golden/keras_values/keras_values.txt", 1 << 20, &size);
    assert_non_null(text);
    char key[128];
    snprintf(key, sizeof key, "\n%s: ", name);
    const char *at = strncmp(text, key + 1, strlen(key) - 1) == 0 ? text - 1 : strstr(text, key);
    if (!at)
        print_error("no line '%s'\n", name);
    assert_non_null(at);
    char *end = (char *)at + strlen(key);
    int count = 0;
    while (*end != '\n' && count < limit)
        values[count++] = strtod(end, &end);
    return count;
}

static inline void golden_expect_values(const char *name, const double *values, int count, double tolerance)
{
    double expected[64];
    int expected_count = golden_read(name, expected, 64);
    if (count != expected_count)
        print_error("%s: %d values, expected %d\n", name, count, expected_count);
    assert_int_equal(count, expected_count);
    for (int i = 0; i < count; i++) {
        if (!(fabs(values[i] - expected[i]) <= tolerance * (1 + fabs(expected[i])))) {
            print_error("%s, value %d: %.9g, expected %.9g\n", name, i, values[i], expected[i]);
            fail();
        }
    }
}

static inline void golden_expect(const char *name, const tw_tensor *tensor, double tolerance)
{
    double values[64];
    expect_no_error();
    assert_non_null(tensor);
    int count = (int)tw_tensor_count(tensor);
    assert_true(count <= 64);
    for (int i = 0; i < count; i++)
        values[i] = tw_tensor_double_at(tensor, i);
    golden_expect_values(name, values, count, tolerance);
}

/* The inputs of the script. */
static const float golden_p[] = { .1f, .7f, .2f, .25f, .25f, .5f, 1e-9f, 1, 0, .9f, .05f, .05f };
static const float golden_x[] = { 1, -2, .5f, 0, 3, -1, 30, -30, 0, .1f, .2f, .3f };
static const int32_t golden_labels[] = { 1, 0, 2, 0 };
static const float golden_one_hot[] = { 0, 1, 0, 1, 0, 0, 0, 0, 1, 1, 0, 0 };
static const float golden_weights[] = { 1, 2, 0, .5f };

#endif
