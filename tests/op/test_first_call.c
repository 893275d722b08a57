/* The very first call of an op in a process, with every allocation failing once: it must succeed as soon as there is memory. */
#include "test.h"

#include "op/op.h"
#include "rows.h"

static void first_call(void **state)
{
    (void)state;
    for (int n = 1; n < 1000; n++) {
        tw__alloc_fail_at(n);
        tw_auto tw_tensor *one = tw_tensor_float(1);
        tw_auto tw_tensor *two = one ? tw_add(one, one) : NULL;
        tw__alloc_fail_at(0);
        if (two) {
            assert_true(n > 5);
            assert_float_equal(tw_tensor_double_at(two, 0), 2, 0);
            return;
        }
        expect_error(TW_RESOURCE_EXHAUSTED, "out of memory");
    }
    fail();
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(first_call) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
