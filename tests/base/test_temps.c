/* Lists of temporaries: what is left to them ends with the block, what is kept does not. */
#include "base/temps.h"
#include "base/trackable.h"
#include "test.h"

static int ended;

static void end(void *what)
{
    *(int *)what += 1;
    ended++;
}

/* Leaves `count` of `marks` to a list and gives the result, whichever way the function ends. */
static void *fill(int *marks, int count, void *result, bool early)
{
    TW_TEMPS(t);
    for (int i = 0; i < count; i++)
        assert_ptr_equal(tw__temp_by(t, &marks[i], end), &marks[i]);
    assert_null(tw__temp(t, NULL));
    if (early)
        return NULL;
    return tw__keep(t, result);
}

static void ends_with_the_block(void **state)
{
    (void)state;
    for (int count = 0; count < 60; count++) { /* more than there is room for without memory */
        int marks[60] = { 0 };
        ended = 0;
        assert_null(fill(marks, count, NULL, count % 2));
        assert_int_equal(ended, count);
        for (int i = 0; i < count; i++)
            assert_int_equal(marks[i], 1);
    }
}

static void keeps_results(void **state)
{
    (void)state;
    for (int kept = 0; kept < 30; kept++) {
        int marks[30] = { 0 };
        ended = 0;
        assert_ptr_equal(fill(marks, 30, &marks[kept], false), &marks[kept]);
        assert_int_equal(ended, 29);
        assert_int_equal(marks[kept], 0);
    }
    tw_trackable *object = tw__container_new();
    int none = 0;
    assert_ptr_equal(fill(&none, 0, object, false), object); /* not of the list: a reference more */
    assert_int_equal(object->object.references, 2);
    tw_release(object);
    {
        TW_TEMPS(t);
        tw__temp(t, object);
        assert_string_equal(tw__temp_memory(t, tw__strdup("text")), "text");
    }
}

static void fails_without_memory(void **state)
{
    (void)state;
    enum { ROOM = sizeof((tw__temps){ 0 }).room / sizeof *((tw__temps){ 0 }).room };
    int marks[ROOM + 1] = { 0 };
    ended = 0;
    {
        TW_TEMPS(t);
        for (int i = 0; i < ROOM; i++)
            tw__temp_by(t, &marks[i], end);
        tw__alloc_fail_at(1);
        assert_null(tw__temp_by(t, &marks[ROOM], end));
        tw__alloc_fail_at(0);
        assert_int_equal(marks[ROOM], 1); /* what it could not hold has ended */
        assert_int_equal(tw_error_code(), TW_RESOURCE_EXHAUSTED);
        tw_clear_error();
    }
    assert_int_equal(ended, ROOM + 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ends_with_the_block),
        cmocka_unit_test(keeps_results),
        cmocka_unit_test(fails_without_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
