/* Data sets: where they are looked for, and what is said when they are not there. */
#define TW_TEST_SCOPES
#include "test.h"

#include <thalweg/thalweg.h>

static void not_there(void **state)
{
    (void)state;
    setenv("KERAS_HOME", "/no/keras", 1);
    setenv("THALWEG_DATASETS", "/no/datasets", 1);
    tw_tensors none = tw_datasets_mnist();
    assert_int_equal(none.count, 0);
    expect_error(TW_NOT_FOUND, "MNIST: neither /no/keras/datasets/mnist.npz nor /no/datasets/mnist.npz is there");
    none = tw_datasets_fashion_mnist();
    assert_int_equal(none.count, 0);
    expect_error(TW_NOT_FOUND, "/no/keras/datasets/fashion-mnist/train-images-idx3-ubyte.gz");
    none = tw_datasets_mnist("/no/other.npz");
    assert_int_equal(none.count, 0);
    expect_error(TW_NOT_FOUND, "/no/other.npz");
    unsetenv("KERAS_HOME");
    setenv("HOME", "/no/home", 1);
    none = tw_datasets_mnist();
    expect_error(TW_NOT_FOUND, "/no/home/.keras/datasets/mnist.npz");
    unsetenv("THALWEG_DATASETS");
}

static void fashion(void **state)
{
    (void)state;
    if (!tw__path_exists("/usr/share/datasets/fashion-mnist/t10k-labels-idx1-ubyte.gz"))
        skip();
    tw_tensors data = tw_datasets_fashion_mnist();
    expect_no_error();
    assert_int_equal(data.count, 4);
    assert_int_equal(tw_tensor_dim(data.items[0], 0), 60000);
    assert_int_equal(tw_tensor_count(data.items[1]), 60000);
    assert_int_equal(tw_tensor_dim(data.items[2], 2), 28);
    assert_int_equal(tw_tensor_dtype(data.items[3]), TW_UINT8);
    assert_int_equal(tw_tensor_int_at(data.items[3], 0), 9);
    tw_tensors_free(&data);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(not_there), cmocka_unit_test(fashion) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
