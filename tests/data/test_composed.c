/* Steps that are composed of others, from C: buckets, ragged and sparse batches, resampling, counters, tables of files. */
#define TW_TEST_SCOPES
#include <thalweg/thalweg.h>

#include "scratch.h"
#include "test.h"

/* 1, 2 2, 3 3 3, … */
static tw_tensors repeated(void *user, tw_tensors in)
{
    (void)user;
    tw_tensor *sizes = tw_reshape(in.items[0], tw_tensor_new(TW_INT32, TW_SHAPE(1), &(int32_t){ 1 }));
    return tw_give(tw_fill(sizes, in.items[0]));
}

static tw_tensors length(void *user, tw_tensors in)
{
    (void)user;
    return tw_give(tw_size(in.items[0]));
}

static tw_dataset *rows(int64_t count)
{
    return tw_dataset_map(tw_dataset_range(1, count + 1), tw_function_new(repeated, NULL));
}

static void buckets(void **state)
{
    (void)state;
    tw_dataset *dataset = tw_dataset_bucket_by_sequence_length(rows(5), tw_function_new(length, NULL), TW_INTS(3), TW_INTS(2, 2));
    expect_no_error();
    static const int64_t shapes[][2] = { { 2, 2 }, { 2, 4 }, { 1, 5 } };
    tw_iterator *iterator = tw_iterator(.dataset = dataset);
    for (int i = 0; i < 3; i++) {
        tw_tensors batch = tw_iterator_next(iterator);
        expect_no_error();
        assert_int_equal(batch.count, 1);
        tw_shape shape = tw_tensor_shape(batch.items[0]);
        assert_int_equal(shape.dims[0], shapes[i][0]);
        assert_int_equal(shape.dims[1], shapes[i][1]);
    }
    tw_dataset *full = tw_dataset_bucket_by_sequence_length(rows(2), tw_function_new(length, NULL), TW_INTS(3, 6),
                                                            TW_INTS(2, 2, 2), .pad_to_bucket_boundary = true);
    tw_tensors batch = tw_iterator_next(tw_iterator(.dataset = full));
    expect_no_error();
    assert_int_equal(tw_tensor_shape(batch.items[0]).dims[1], 2);
    tw_dataset_bucket_by_sequence_length(rows(2), tw_function_new(length, NULL), TW_INTS(3, 6), TW_INTS(2, 2));
    expect_error(TW_VALUE_ERROR, "`len(bucket_batch_sizes)=2` and `len(bucket_boundaries)=2`");
}

static void ragged_and_sparse(void **state)
{
    (void)state;
    tw_iterator *ragged = tw_iterator(.dataset = tw_dataset_ragged_batch(rows(3), 3));
    tw_value batch = tw_iterator_element(ragged);
    expect_no_error();
    assert_int_equal(batch.kind, TW_VALUE_OBJECT);
    tw_iterator *sparse = tw_iterator(.dataset = tw_dataset_sparse_batch(rows(3), 3, .row_shape = TW_SHAPE(4)));
    batch = tw_iterator_element(sparse);
    expect_no_error();
    tw_tensor *dense = tw_sparse_to_dense(batch.object);
    assert_int_equal(tw_tensor_shape(dense).dims[1], 4);
    assert_int_equal(tw_tensor_int_at(dense, 10), 3);
    assert_int_equal(tw_tensor_int_at(dense, 3), 0);
}

static tw_tensors parity(void *user, tw_tensors in)
{
    (void)user;
    return tw_give(tw_cast(tw_math_floormod(in.items[0], tw_tensor_int64(4)), TW_INT32));
}

static void resampled(void **state)
{
    (void)state;
    static const float shares[] = { 0.5f, 0.5f, 0, 0 };
    tw_tensor *wanted = tw_tensor_new(TW_FLOAT32, TW_SHAPE(4), shares);
    tw_iterator *iterator =
        tw_iterator(.dataset = tw_dataset_rejection_resample(tw_dataset_range(0, 400), tw_function_new(parity, NULL), wanted,
                                                             .seed = 1));
    int64_t seen[4] = { 0 };
    for (;;) {
        tw_tensors pair = tw_iterator_next(iterator);
        expect_no_error();
        if (!pair.count)
            break;
        int64_t class_number = tw_tensor_int_at(pair.items[0], 0);
        assert_int_equal(class_number, tw_tensor_int_at(pair.items[1], 0) % 4);
        seen[class_number]++;
    }
    assert_true(seen[0] > 10 && seen[1] > 10 && seen[2] + seen[3] < 20);
}

static void counters(void **state)
{
    (void)state;
    tw_iterator *iterator = tw_iterator(.dataset = tw_dataset_counter(.dtype = TW_INT32));
    for (int i = 0; i < 3; i++)
        assert_int_equal(tw_tensor_int_at(tw_iterator_next(iterator).items[0], 0), i);
    expect_no_error();
}

static void tables(void **state)
{
    (void)state;
    char path[256];
    snprintf(path, sizeof path, "%s/table.csv", scratch);
    FILE *file = fopen(path, "w");
    fputs("width,name,height\n1,\"a,b\",2.5\n2,c,\n3,d,4\n", file);
    fclose(file);
    tw_value pattern = { .kind = TW_VALUE_STR, .s = { path, strlen(path) } };
    tw_dataset *dataset =
        tw_dataset_make_csv(pattern, 2, .label_name = "width", .num_epochs = 1, .shuffle = false, .num_parallel_reads = 1);
    expect_no_error();
    tw_value batch = tw_iterator_element(tw_iterator(.dataset = dataset));
    expect_no_error();
    assert_int_equal(batch.kind, TW_VALUE_TUPLE);
    const tw_value *features = tw_value_at(&batch, 0), *label = tw_value_at(&batch, 1);
    assert_int_equal(tw_tensor_dtype(label->tensor), TW_INT32);
    assert_int_equal(tw_tensor_int_at(label->tensor, 1), 2);
    assert_int_equal(tw_tensor_dtype(tw_value_get(features, "height")->tensor), TW_FLOAT32);
    assert_string_equal(tw_tensor_string_at(tw_value_get(features, "name")->tensor, 0).data, "a,b");
    tw_dataset_make_csv(pattern, 2, .label_name = "depth");
    expect_error(TW_VALUE_ERROR,
                 "`label_name` provided must be one of the columns: ['width', 'name', 'height']. Received: depth.");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(buckets), cmocka_unit_test(ragged_and_sparse), cmocka_unit_test(resampled), cmocka_unit_test(counters),
        cmocka_unit_test(tables),
    };
    return cmocka_run_group_tests(tests, make_scratch, remove_scratch);
}
