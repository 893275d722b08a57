/* Initializers against what Keras gives for the same seeds (tests/golden/initializers.py), bit for bit; Orthogonal to float's
 * rounding. */
#define TW_TEST_SCOPES
#include "test.h"

#include <stdio.h>

#include "keras/initializers/initializers.h"

static void set_int(const tw_signature *signature, void *args, const char *name, int64_t value)
{
    for (int i = 0; i < signature->field_count; i++) {
        if (strcmp(signature->fields[i].name, name) == 0)
            *(int64_t *)((char *)args + signature->fields[i].offset) = value;
    }
}

static tw_initializer *make(const char *name, int64_t seed)
{
    char path[64];
    snprintf(path, sizeof path, "keras.initializers.%s", name);
    const tw_signature *signature = tw_signature_find(path);
    assert_non_null(signature);
    void *args = tw__alloc_zero(signature->args_size);
    tw_args_default(signature, args);
    if (seed)
        set_int(signature, args, "seed", seed);
    tw_initializer *initializer = tw_class_make(signature->class_row, args);
    tw__free(args);
    assert_non_null(initializer);
    return initializer;
}

static void check_line(char *line)
{
    char name[32], dtype_name[16];
    long long seed;
    int rank, used, step;
    assert_int_equal(sscanf(line, "%31s %15s %lld %d%n", name, dtype_name, &seed, &rank, &used), 4);
    tw_shape shape = { .rank = rank };
    for (int i = 0; i < rank; i++, used += step) {
        long long dimension;
        assert_int_equal(sscanf(line + used, "%lld%n", &dimension, &step), 1);
        shape.dims[i] = dimension;
    }
    const char *hex = line + used + strspn(line + used, " ");
    tw_dtype dtype = tw_dtype_from_name(dtype_name);
    tw_initializer *initializer = make(name, seed);
    tw_tensor *values = tw__initializer_make(initializer, &shape, dtype);
    expect_no_error();
    assert_int_equal(values->dtype, dtype);
    const unsigned char *got = values->data;
    size_t size = tw_tensor_bytes(values);
    unsigned char expected[1024];
    assert_true(size <= sizeof expected);
    for (size_t i = 0; i < size; i++) {
        unsigned byte;
        assert_int_equal(sscanf(hex + 2 * i, "%2x", &byte), 1);
        expected[i] = (unsigned char)byte;
    }
    bool same = memcmp(got, expected, size) == 0;
    if (!same && strcmp(name, "Orthogonal") == 0) {
        same = true;
        for (int64_t i = 0; i < values->count; i++) {
            float one;
            memcpy(&one, expected + 4 * i, 4);
            same &= fabsf(((const float *)values->data)[i] - one) < 3e-7f;
        }
    }
    if (!same)
        print_error("differs: %.60s\n", line);
    assert_true(same);
    tw_tensor *again = tw__initializer_make(initializer, &shape, dtype);
    assert_memory_equal(again->data, values->data, size);
    tw_release(again);
    tw_release(values);
    tw_release(initializer);
}

static void as_keras(void **state)
{
    (void)state;
    FILE *file = fopen(TW_TEST_DATA "/golden/initializers/initializers.txt", "r");
    assert_non_null(file);
    char line[4096];
    bool drawn = false;
    while (fgets(line, sizeof line, file)) {
        char name[32], dtype[16];
        long long seed;
        if (sscanf(line, "%31s %15s %lld", name, dtype, &seed) == 3 && seed == 0 && !drawn) {
            drawn = true;
            tw_utils_set_random_seed(9);
        }
        check_line(line);
    }
    fclose(file);
}

static void by_name(void **state)
{
    (void)state;
    static const char *const names[][2] = { { "glorot_uniform", "GlorotUniform" },
                                            { "GlorotUniform", "GlorotUniform" },
                                            { "zeros", "Zeros" },
                                            { "zero", "Zeros" },
                                            { "one", "Ones" },
                                            { "uniform", "RandomUniform" },
                                            { "normal", "RandomNormal" },
                                            { "he_normal", "HeNormal" },
                                            { "constant", "Constant" },
                                            { "orthogonal", "Orthogonal" },
                                            { "identity", "Identity" } };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        tw_auto tw_initializer *initializer = tw__initializer_get(names[i][0]);
        assert_string_equal(tw_class_name(initializer), names[i][1]);
        tw_auto tw_initializer *same = tw__initializer_get(initializer);
        assert_ptr_equal(same, initializer);
    }
    assert_null(tw__initializer_get("glorotuniform"));
    expect_error(TW_VALUE_ERROR, "Unknown initializer: 'glorotuniform'");
    assert_null(tw__initializer_get("Initializer"));
    expect_error(TW_VALUE_ERROR, "Unknown initializer");
}

static void errors(void **state)
{
    (void)state;
    tw_auto tw_initializer *identity = tw_initializers_identity();
    assert_null(tw__initializer_make(identity, &TW_SHAPE(2, 2, 2), TW_FLOAT32));
    expect_error(TW_VALUE_ERROR, "can only be used for 2D matrices");
    tw_auto tw_initializer *orthogonal = tw_initializers_orthogonal();
    assert_null(tw__initializer_make(orthogonal, &TW_SHAPE(2), TW_FLOAT32));
    expect_error(TW_VALUE_ERROR, "at least two-dimensional");
    tw_auto tw_initializer *normal = tw_initializers_random_normal();
    assert_null(tw__initializer_make(normal, &TW_SHAPE(2), TW_INT32));
    expect_error(TW_VALUE_ERROR, "Expected floating point type, got <dtype: 'int32'>");
    assert_null(tw__initializer_make(normal, &TW_SHAPE(2, -1), TW_FLOAT32));
    expect_error(TW_VALUE_ERROR, "must be fully known");
    assert_null(tw_initializers_variance_scaling(.scale = -1));
    expect_error(TW_VALUE_ERROR, "`scale` must be positive float");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(as_keras),
        cmocka_unit_test(by_name),
        cmocka_unit_test(errors),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
