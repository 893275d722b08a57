/* JSON of tensors: floats in the fewest digits that read back, and the same text in pieces. */
#include <stdio.h>
#include <stdlib.h>

#include "test.h"

#include "spec/spec.h"
#include "tensor/tensor.h"

typedef struct pieces {
    tw__text text;
    int count, most;
} pieces;

static bool take(void *context, const char *text, size_t size)
{
    pieces *p = context;
    tw__text_bytes(&p->text, text, size);
    return ++p->count != p->most;
}

static tw_tensor *random_floats(int64_t count)
{
    tw_tensor *tensor = tw_tensor_new(TW_FLOAT32, TW_SHAPE(count / 100, 100), NULL);
    float *values = tensor->data;
    uint64_t state = 88172645463325252u;
    for (int64_t i = 0; i < count; i++) {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        uint32_t bits = (uint32_t)state;
        float value;
        memcpy(&value, &bits, sizeof value);
        static const float plain[] = { 0,         -0.0f, 1,         -1,       0.1f,  0.5f,   1e-4f,         9.9999e-5f,
                                       123456792, 1e9f,  999999936, 16777216, 1e-6f, 0.001f, 3.4028235e38f, 1e-45f };
        values[i] = i < 16                    ? plain[i]
                    : i % 2 && value == value ? value
                                              : (float)((double)(state >> 11) / 9007199254740992.0 * (i % 3 ? 1 : 1000));
        if (!(values[i] - values[i] == 0))
            values[i] = 0.25f;
    }
    return tensor;
}

static void test_shortest(void **state)
{
    (void)state;
    tw_auto tw_tensor *tensor = random_floats(20000);
    const float *values = tensor->data;
    char *json = tw_value_json(&(tw_value){ .kind = TW_VALUE_TENSOR, .tensor = tensor });
    assert_non_null(json);
    const char *at = json;
    for (int64_t i = 0; i < tensor->count; i++) {
        char *end, expected[40];
        at += strspn(at, "[], \n");
        assert_true(strtof(at, &end) == values[i]);
        for (int digits = 1; digits <= 9; digits++) {
            snprintf(expected, sizeof expected, "%.*g", digits, values[i]);
            if (strtof(expected, NULL) == values[i])
                break;
        }
        snprintf(expected, sizeof expected, "%.15g", strtod(expected, NULL));
        assert_int_equal((size_t)(end - at), strlen(expected));
        assert_memory_equal(at, expected, strlen(expected));
        at = end;
    }
    free(json);
}

static void test_pieces(void **state)
{
    (void)state;
    tw_auto tw_tensor *tensor = random_floats(40000);
    tw_value value = { .kind = TW_VALUE_TENSOR, .tensor = tensor };
    char *json = tw_value_json(&value);
    pieces p = { .count = 0 };
    assert_int_equal(tw_value_json_write(&value, take, &p), TW_OK);
    assert_true(p.count > 3);
    assert_string_equal(p.text.data, json);
    tw__text_free(&p.text);
    p = (pieces){ .most = 2 };
    assert_int_equal(tw_value_json_write(&value, take, &p), TW_UNKNOWN);
    assert_int_equal(p.count, 2);
    tw_clear_error();
    tw__text_free(&p.text);
    assert_int_equal(tw_value_json_write(NULL, take, &p), TW_INVALID_ARGUMENT);
    assert_int_equal(tw_value_json_write(&value, NULL, NULL), TW_INVALID_ARGUMENT);
    tw_clear_error();
    free(json);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_shortest), cmocka_unit_test(test_pieces) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
