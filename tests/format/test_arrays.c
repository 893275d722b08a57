/* .npy, .npz and IDX files that tests/golden/arrays.py made; and what damage does to them. */
#include "test.h"

#include <unistd.h>

#include "format/format.h"

#define GOLDEN TW_TEST_DATA "/golden/arrays/"

static void check(const char *archive, const char *name, tw_dtype dtype, tw_shape shape, double first, double last)
{
    tw_tensor *tensor = tw__npz_read(archive, name);
    if (!tensor)
        print_error("%s\n", tw_error_message());
    assert_non_null(tensor);
    assert_int_equal(tensor->dtype, dtype);
    assert_true(tw__shape_equal(&tensor->shape, &shape));
    if (tensor->count) {
        assert_true(tw_tensor_double_at(tensor, 0) == first);
        assert_true(tw_tensor_double_at(tensor, tensor->count - 1) == last);
    }
    tw_release(tensor);
}

static void check_archive(const char *archive)
{
    check(archive, "x", TW_UINT8, TW_SHAPE(3, 4), 0, 11);
    check(archive, "y", TW_INT64, TW_SHAPE(3), 1, 3);
    check(archive, "flag", TW_BOOL, TW_SCALAR, 1, 1);
    check(archive, "f", TW_FLOAT32, TW_SHAPE(3, 4), 0, 5.5);
    check(archive, "d", TW_FLOAT64, TW_SHAPE(3, 4), 0, 11);
    check(archive, "empty", TW_FLOAT32, TW_SHAPE(0, 5), 0, 0);
    check(archive, "half", TW_FLOAT16, TW_SHAPE(2), 0.5, 1);
    tw_tensor *turned = tw__npz_read(archive, "turned");
    for (int i = 0; i < 12; i++)
        assert_int_equal(((int32_t *)turned->data)[i], i);
    tw_release(turned);
    turned = tw__npz_read(archive, "turned3");
    for (int i = 0; i < 24; i++)
        assert_int_equal(((int16_t *)turned->data)[i], i);
    tw_release(turned);
    tw_tensor *complex = tw__npz_read(archive, "z");
    assert_true(((double *)complex->data)[0] == 1 && ((double *)complex->data)[1] == 2);
    tw_release(complex);
    assert_null(tw__npz_read(archive, "nothing"));
    expect_error(TW_NOT_FOUND, "");
}

static void reads_archives(void **state)
{
    (void)state;
    check_archive(GOLDEN "plain.npz");
    check_archive(GOLDEN "packed.npz");
    assert_null(tw__npz_read(GOLDEN "packed.npz", "objects"));
    expect_error(TW_UNIMPLEMENTED, "|O");
    assert_null(tw__npz_read(GOLDEN "packed.npz", "text"));
    expect_error(TW_UNIMPLEMENTED, "");
    tw_tensor *one = tw__npy_read(GOLDEN "one.npy");
    assert_int_equal(one->dtype, TW_UINT32);
    assert_int_equal(tw_tensor_int_at(one, 7), 7);
    tw_release(one);
    assert_null(tw__npz_read(GOLDEN "one.npy", "x"));
    expect_error(TW_DATA_LOSS, "");
}

static void reads_idx(void **state)
{
    (void)state;
    static const char *const paths[] = { GOLDEN "images.idx", GOLDEN "images.idx.gz" };
    for (int i = 0; i < 2; i++) {
        tw_tensor *images = tw__idx_read(paths[i]);
        assert_non_null(images);
        assert_true(tw__shape_equal(&images->shape, &TW_SHAPE(2, 3, 4)));
        for (int j = 0; j < 24; j++)
            assert_int_equal(((uint8_t *)images->data)[j], j);
        tw_release(images);
    }
    tw_tensor *numbers = tw__idx_read(GOLDEN "numbers.idx");
    assert_int_equal(tw_tensor_int_at(numbers, 1), -2);
    assert_int_equal(tw_tensor_int_at(numbers, 2), 70000);
    tw_release(numbers);
    assert_null(tw__idx_read(GOLDEN "one.npy"));
    tw_clear_error();
}

static tw_tensor *read_turned(const char *path)
{
    return tw__npz_read(path, "turned");
}

/* Every flipped bit and every truncation: an error, or a tensor. */
static void damage(const char *golden, tw_tensor *(*read)(const char *path))
{
    char path[] = "/tmp/thalweg-array-XXXXXX";
    size_t size;
    char *good = tw__file_read_all(golden, 1 << 20, &size);
    close(mkstemp(path));
    for (size_t bit = 0; bit < 8 * size + size; bit++) {
        size_t keep = bit < 8 * size ? size : bit - 8 * size;
        if (keep == size)
            good[bit / 8] ^= (char)(1 << bit % 8);
        FILE *file = fopen(path, "wb");
        fwrite(good, 1, keep, file);
        fclose(file);
        if (keep == size)
            good[bit / 8] ^= (char)(1 << bit % 8);
        tw_tensor *tensor = read(path);
        assert_true(tensor || tw_error_code() != TW_OK);
        tw_release(tensor);
        tw_clear_error();
    }
    for (int n = 1; n < 12; n++) {
        tw__alloc_fail_at(n);
        tw_tensor *tensor = read(golden);
        tw__alloc_fail_at(0);
        assert_true(tensor || tw_error_code() == TW_RESOURCE_EXHAUSTED);
        tw_release(tensor);
        tw_clear_error();
    }
    tw__free(good);
    unlink(path);
}

static void survives_damage(void **state)
{
    (void)state;
    damage(GOLDEN "plain.npz", read_turned);
    damage(GOLDEN "packed.npz", read_turned);
    damage(GOLDEN "one.npy", tw__npy_read);
    damage(GOLDEN "images.idx", tw__idx_read);
    damage(GOLDEN "images.idx.gz", tw__idx_read);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_archives),
        cmocka_unit_test(reads_idx),
        cmocka_unit_test(survives_damage),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
