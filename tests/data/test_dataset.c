/* Datasets from C: constructors nest and take what they are built of, functions are traced, iterators give tensors, errors are
 * told. */
#include <thalweg/thalweg.h>

#include "data/data.h"
#include "rows.h"
#include "scratch.h"
#define TW_TEST_SCOPES
#include "test.h"

static tw_tensors twice(void *user, tw_tensors in)
{
    (void)user;
    return tw_give(tw_add(in.items[0], in.items[0]));
}

static tw_tensors is_even(void *user, tw_tensors in)
{
    (void)user;
    tw_auto tw_tensor *two = tw_tensor_int64(2), *zero = tw_tensor_int64(0);
    tw_auto tw_tensor *rest = tw_math_floormod(in.items[0], two);
    return tw_give(tw_equal(rest, zero));
}

static tw_tensors plus(void *user, tw_tensors in)
{
    (void)user;
    return tw_give(tw_add(in.items[0], in.items[1]));
}

static tw_tensors counting(void *user, tw_tensors in)
{
    (void)user;
    tw_auto tw_dataset *first = tw_dataset_take(tw_dataset_range(0, 100), .count_object = in.items[0]);
    return tw_give(first ? tw_dataset_variant_tensor(first) : NULL);
}

/* All elements of one int64 component, which must be these. */
static void expect(tw_dataset *dataset, const int64_t *values, int count)
{
    expect_no_error();
    assert_non_null(dataset);
    tw_auto tw_iterator *iterator = tw_iterator(.dataset = dataset);
    assert_non_null(iterator);
    for (int i = 0; i < count; i++) {
        tw_tensors element = tw_iterator_next(iterator);
        expect_no_error();
        assert_int_equal(element.count, 1);
        assert_int_equal(tw_tensor_int_at(element.items[0], 0), values[i]);
        tw_tensors_free(&element);
    }
    tw_tensors end = tw_iterator_next(iterator);
    assert_int_equal(end.count, 0);
    expect_no_error();
}

#define EXPECT(dataset, ...) \
    expect(dataset, (const int64_t[]){ __VA_ARGS__ }, (int)(sizeof((const int64_t[]){ __VA_ARGS__ }) / sizeof(int64_t)))

static tw_dataset *numbers(void)
{
    return tw_dataset_prefetch(tw_dataset_repeat(tw_dataset_shuffle(tw_dataset_range(0, 9), 4), 2));
}

static void read_some(tw_iterator *iterator, int64_t *values, int count)
{
    for (int i = 0; i < count; i++) {
        tw_tensors element = tw_iterator_next(iterator);
        expect_no_error();
        assert_int_equal(element.count, 1);
        values[i] = tw_tensor_int_at(element.items[0], 0);
        tw_tensors_free(&element);
    }
}

/* A checkpoint of an iterator, in a program of C: the elements behind a restore are those that followed. */
static void iterators_are_restored(void **state)
{
    (void)state;
    tw_scoped();
    const char *path = in_scratch("iterator");
    for (int cut = 0; cut <= 18; cut += 3) {
        int64_t before[18], expected[18], found[18];
        tw_auto tw_iterator *first = tw_iterator(.dataset = numbers()), *second = tw_iterator(.dataset = numbers());
        read_some(first, before, cut);
        tw_auto tw_checkpoint *saved = tw_checkpoint_new({ "iterator", first }),
                              *other = tw_checkpoint_new({ "iterator", second });
        char *written = tw_checkpoint_write(saved, path);
        expect_no_error();
        assert_non_null(written);
        read_some(first, expected, 18 - cut);
        tw_auto tw_load_status *status = tw_checkpoint_read(other, path);
        expect_no_error();
        assert_non_null(status);
        read_some(second, found, 18 - cut);
        assert_memory_equal(found, expected, (size_t)(18 - cut) * sizeof *found);
        free(written);
    }
    tw_auto tw_iterator *another = tw_iterator(.dataset = tw_dataset_range(0, 9));
    tw_auto tw_checkpoint *checkpoint = tw_checkpoint_new({ "iterator", another });
    tw_auto tw_load_status *refused = tw_checkpoint_read(checkpoint, path);
    assert_null(refused);
    expect_error(TW_INVALID_ARGUMENT, "another pipeline");
}

static void steps_nest(void **state)
{
    (void)state;
    tw_auto tw_dataset *dataset =
        tw_dataset_take(tw_dataset_skip(tw_dataset_map(tw_dataset_range(0, 10), tw_function_new(twice, NULL)), 2), 3);
    EXPECT(dataset, 4, 6, 8);
    EXPECT(dataset, 4, 6, 8);
    tw_auto tw_tensor *count = tw_dataset_cardinality(dataset);
    assert_int_equal(tw_tensor_int_at(count, 0), 3);
    tw_auto tw_dataset *parallel =
        tw_dataset_prefetch(tw_dataset_map(tw_dataset_filter(tw_dataset_range(0, 10), tw_function_new(is_even, NULL)),
                                           tw_function_new(twice, NULL), 3),
                            2);
    EXPECT(parallel, 0, 4, 8, 12, 16);
    tw_auto tw_dataset *flat = tw_dataset_flat_map(tw_dataset_range(1, 4), tw_function_new(counting, NULL));
    EXPECT(flat, 0, 0, 1, 0, 1, 2);
    tw_auto tw_dataset *shuffled = tw_dataset_shuffle(tw_dataset_range(0, 7), 3, .seed = 5, .reshuffle_each_iteration = false);
    tw_auto tw_dataset *both = tw_dataset_zip(TW_OBJECTS(shuffled, shuffled));
    tw_auto tw_iterator *pairs = tw_iterator(.dataset = both);
    for (int i = 0; i < 7; i++) {
        tw_tensors pair = tw_iterator_next(pairs);
        assert_int_equal(pair.count, 2);
        assert_int_equal(tw_tensor_int_at(pair.items[0], 0), tw_tensor_int_at(pair.items[1], 0));
        tw_tensors_free(&pair);
    }
}

static void batches(void **state)
{
    (void)state;
    float numbers[] = { 1, 2, 3, 4, 5, 6, 7, 8, 9, 10 };
    tw_auto tw_tensor *x = tw_tensor_new(TW_FLOAT32, TW_SHAPE(5, 2), numbers);
    tw_auto tw_tensor *y = tw_tensor_new(TW_INT32, TW_SHAPE(5), (int32_t[]){ 0, 1, 2, 3, 4 });
    tw_auto tw_dataset *dataset = tw_dataset_batch(tw_dataset_from_tensor_slices(TW_TENSORS(x, y)), 2);
    tw_auto tw_iterator *iterator = tw_iterator(.dataset = dataset);
    for (int i = 0; i < 3; i++) {
        tw_tensors batch = tw_iterator_next(iterator);
        expect_no_error();
        assert_int_equal(batch.count, 2);
        assert_int_equal(tw_tensor_dim(batch.items[0], 0), i < 2 ? 2 : 1);
        assert_int_equal(tw_tensor_dim(batch.items[0], 1), 2);
        assert_true(tw_tensor_double_at(batch.items[0], 0) == 4 * i + 1);
        tw_tensors_free(&batch);
    }
    tw_auto tw_tensor *zero = tw_tensor_int64(0);
    tw_auto tw_dataset *range = tw_dataset_range(0, 11);
    tw_auto tw_function *f = tw_function_new(plus, NULL);
    tw_value sum = tw_dataset_reduce(range, TW_LEAF(zero), f);
    expect_no_error();
    assert_int_equal(sum.kind, TW_VALUE_TENSOR);
    assert_int_equal(tw_tensor_int_at(sum.tensor, 0), 55);
    tw_value_free(&sum);
}

static tw_tensors parity(void *user, tw_tensors in)
{
    (void)user;
    tw_auto tw_tensor *two = tw_tensor_int64(2);
    return tw_give(tw_math_floormod(in.items[0], two));
}

static tw_tensors same(void *user, tw_tensors in)
{
    (void)user;
    return tw_give(in.items[0]);
}

static tw_value spec_leaf(tw_tensor_spec *spec)
{
    return (tw_value){ .kind = TW_VALUE_OBJECT, .object = spec };
}

static tw_tensors shard_behind_shard(void *user, tw_tensors in)
{
    (void)user;
    tw_auto tw_tensor_spec *spec = tw_tensor_spec(TW_SCALAR, TW_VARIANT);
    tw_dataset *shards = tw_dataset_variant(in.items[0], spec_leaf(spec));
    tw_auto tw_dataset *flat = tw_dataset_flat_map(shards, tw_function_new(same, NULL), .element = tw_dataset_range(0, 1));
    return tw_give(flat ? tw_dataset_variant_tensor(flat) : NULL);
}

static void files_keep_datasets(void **state)
{
    (void)state;
    char place[] = "/tmp/thalweg_saved_XXXXXX", remove[100];
    assert_non_null(mkdtemp(place));
    tw_auto tw_tensor *path = tw_tensor_string(place, strlen(place)),
                      *sizes = tw_tensor_new(TW_INT64, TW_SHAPE(2), (int64_t[]){ 1, 4 });
    tw_auto tw_dataset *saved =
        tw_dataset_save(tw_dataset_range(0, 5), path, tw_function_new(parity, NULL), .use_shard_func = true);
    EXPECT(saved, 0, 1, 2, 3, 4);
    tw_auto tw_tensor_spec *number = tw_tensor_spec(TW_SCALAR, TW_INT64);
    tw_auto tw_dataset *loaded = tw_dataset_load(path, tw_function_new(shard_behind_shard, NULL), spec_leaf(number));
    EXPECT(loaded, 0, 2, 4, 1, 3);
    tw_auto tw_tensor *count = tw_dataset_cardinality(loaded);
    assert_int_equal(tw_tensor_int_at(count, 0), 5);
    tw_auto tw_dataset *rebatched = tw_dataset_rebatch(tw_dataset_batch(tw_dataset_range(0, 5), 2), sizes);
    EXPECT(rebatched, 0, 1);
    tw_auto tw_tensor *nowhere = tw_tensor_string("/nowhere", 8);
    assert_null(tw_dataset_load(nowhere, tw_function_new(shard_behind_shard, NULL), spec_leaf(number)));
    expect_error(TW_NOT_FOUND, "/nowhere/snapshot.metadata");
    snprintf(remove, sizeof remove, "rm -r '%s'", place);
    assert_int_equal(system(remove), 0);
}

static void mistakes(void **state)
{
    (void)state;
    assert_null(tw_dataset_batch(tw_dataset_range(0, 3), 0));
    expect_error(TW_INVALID_ARGUMENT, "Batch size must be greater than zero");
    assert_null(tw_dataset_batch(NULL, 3));
    expect_error(TW_INVALID_ARGUMENT, "self");
    assert_null(tw_dataset_take(tw_dataset_range(0, 3), 1.5));
    expect_error(TW_TYPE_ERROR, "1.5");
    assert_null(
        tw_dataset_map(tw_dataset_range(0, 3),
                       tw_function_new(plus, NULL, .signature = TW_SPECS({ TW_INT64, TW_SCALAR }, { TW_INT64, TW_SCALAR }))));
    expect_error(TW_INVALID_ARGUMENT, "takes 2 arguments");
    assert_null(tw_dataset_flat_map(tw_dataset_range(0, 3), tw_function_new(twice, NULL)));
    expect_error(TW_TYPE_ERROR, "must return a `Dataset` object");
    assert_null(tw_dataset());
    expect_error(TW_TYPE_ERROR, "can't be made by itself");
}

/* However many allocations work before one fails, nothing leaks or crashes, and the error is that there is no memory. */
static void no_memory(void **state)
{
    (void)state;
    bool done = false;
    for (long n = 1; !done && n < 4000; n++) {
        tw__alloc_fail_at(n);
        tw_dataset *dataset =
            tw_dataset_batch(tw_dataset_shuffle(tw_dataset_map(tw_dataset_range(0, 6), tw_function_new(twice, NULL)), 3,
                                                .seed = 1),
                             2);
        tw_iterator *iterator = dataset ? tw_iterator(.dataset = dataset) : NULL;
        tw_tensors batch = { 0 };
        if (iterator)
            batch = tw_iterator_next(iterator);
        done = batch.count == 1;
        tw__alloc_fail_at(0);
        if (!done)
            assert_int_equal(tw_error_code(), TW_RESOURCE_EXHAUSTED);
        tw_clear_error();
        tw_tensors_free(&batch);
        tw_release(iterator);
        tw_release(dataset);
    }
    assert_true(done);
}

static void lines(void **state)
{
    (void)state;
    char path[] = "/tmp/thalweg_lines_XXXXXX";
    int file = mkstemp(path);
    assert_true(file >= 0);
    assert_int_equal(write(file, "one\r\ntwo\n\nthree", 15), 15);
    close(file);
    tw_auto tw_tensor *name = tw_tensor_string(path, strlen(path));
    tw_auto tw_dataset *dataset = tw_dataset_text_line(name);
    tw_auto tw_iterator *iterator = tw_iterator(.dataset = dataset);
    const char *expected[] = { "one", "two", "", "three" };
    for (int i = 0; i < 4; i++) {
        tw_tensors line = tw_iterator_next(iterator);
        expect_no_error();
        assert_int_equal(line.count, 1);
        tw_string text = tw_tensor_string_at(line.items[0], 0);
        assert_int_equal(text.size, strlen(expected[i]));
        assert_memory_equal(text.data, expected[i], text.size);
        tw_tensors_free(&line);
    }
    unlink(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(steps_nest),
        cmocka_unit_test(batches),
        cmocka_unit_test(files_keep_datasets),
        cmocka_unit_test(mistakes),
        cmocka_unit_test(no_memory),
        cmocka_unit_test(lines),
        cmocka_unit_test_setup_teardown(iterators_are_restored, make_scratch, remove_scratch),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
