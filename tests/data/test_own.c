/* Datasets of a C function, and of files that fit a pattern. */
#include <thalweg/thalweg.h>

#include "scratch.h"
#include "test.h"

static int begun, finished, ended;

static void *begin(void *state)
{
    begun++;
    int64_t *of_pass = malloc(sizeof *of_pass);
    *of_pass = *(const int64_t *)state;
    return of_pass;
}

static void finish(void *of_pass)
{
    finished++;
    free(of_pass);
}

static void end(void *state)
{
    (void)state;
    ended++;
}

static tw_tensors squares(void *state, int64_t index)
{
    int64_t *from = state;
    if (index == 4)
        return TW_GIVE_NOTHING;
    return tw_give(tw_tensor_int64((*from + index) * (*from + index)), tw_tensor_float((float)index));
}

static void passes(void **state)
{
    (void)state;
    int64_t from = 3;
    begun = finished = ended = 0;
    tw_dataset *dataset = tw_dataset_from_generator(squares, &from, TW_SPECS({ TW_INT64, TW_SCALAR }, { TW_FLOAT32, TW_SCALAR }),
                                                    .begin = begin, .finish = finish, .end = end);
    expect_no_error();
    for (int pass = 0; pass < 2; pass++) {
        tw_iterator *iterator = tw_iterator(.dataset = dataset);
        for (int i = 0; i < 4; i++) {
            tw_tensors element = tw_iterator_next(iterator);
            expect_no_error();
            assert_int_equal(element.count, 2);
            assert_int_equal(tw_tensor_int_at(element.items[0], 0), (3 + i) * (3 + i));
            tw_tensors_free(&element);
        }
        tw_tensors none = tw_iterator_next(iterator);
        expect_no_error();
        assert_int_equal(none.count, 0);
        tw_release(iterator);
    }
    assert_int_equal(begun, 2);
    assert_int_equal(finished, 2);
    assert_int_equal(ended, 0);
    tw_release(dataset);
    assert_int_equal(ended, 1);
}

static tw_tensors wrong(void *state, int64_t index)
{
    int kind = *(const int *)state;
    (void)index;
    return kind == 0   ? TW_GIVE_FAILURE
           : kind == 1 ? tw_give(tw_tensor_int(1))
           : kind == 2 ? tw_give(tw_tensor_float(1), tw_tensor_float(2))
                       : tw_give(tw_tensor_new(TW_FLOAT32, TW_SHAPE(2), NULL));
}

static void errors(void **state)
{
    (void)state;
    static const char *const words[] = { "failed without an error", "of type int32 where", "2 tensors where",
                                         "of shape (2,) where" };
    for (int kind = 0; kind < 4; kind++) {
        tw_dataset *dataset = tw_dataset_from_generator(wrong, &kind, TW_SPECS({ TW_FLOAT32, TW_SCALAR }));
        tw_iterator *iterator = tw_iterator(.dataset = dataset);
        tw_tensors none = tw_iterator_next(iterator);
        assert_int_equal(none.count, 0);
        assert_non_null(strstr(tw_error_message(), words[kind]));
        tw_clear_error();
        tw_release(iterator);
        tw_release(dataset);
    }
    assert_null(tw_dataset_from_generator(NULL, NULL, TW_SPECS({ TW_FLOAT32, TW_SCALAR })));
    expect_error(TW_INVALID_ARGUMENT, "tw_dataset_from_generator");
    assert_null(tw_dataset_from_generator(wrong, NULL, TW_SPECS({ TW_DTYPE_NONE, TW_SCALAR })));
    expect_error(TW_INVALID_ARGUMENT, "spec 0 has no dtype");
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(passes), cmocka_unit_test(errors) };
    return cmocka_run_group_tests(tests, make_scratch, remove_scratch);
}
