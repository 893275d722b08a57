/* Linear operators from C: every class made, its methods called, and what is refused. */
#include <math.h>

#include <thalweg/api.h>

#include "rows.h"
#include "test.h"

static tw_tensor *vector(float a, float b)
{
    return tw_tensor_new(TW_FLOAT32, TW_SHAPE(2), (const float[]){ a, b });
}

static tw_tensor *matrix(float a, float b, float c, float d)
{
    return tw_tensor_new(TW_FLOAT32, TW_SHAPE(2, 2), (const float[]){ a, b, c, d });
}

/* The elements of a tensor, which is released. */
static void expect(tw_tensor *got, int count, const double *wanted)
{
    assert_non_null(got);
    assert_int_equal(tw_tensor_count(got), count);
    for (int i = 0; i < count; i++)
        assert_true(fabs(tw_tensor_double_at(got, i) - wanted[i]) < 1e-5);
    tw_release(got);
}
#define EXPECT(got, ...) expect(got, (int)(sizeof((double[]){ __VA_ARGS__ }) / sizeof(double)), (double[]){ __VA_ARGS__ })

/* Calls whatever an operator can, and lets go of what it gives; some refuse. */
static void use_all(tw_linear_operator *operator_)
{
    assert_non_null(operator_);
    tw_value dtype = tw_linear_operator_dtype(operator_), shape = tw_linear_operator_shape(operator_),
             parameters = tw_linear_operator_parameters(operator_);
    assert_int_equal(shape.kind, TW_VALUE_SHAPE);
    assert_int_equal(parameters.kind, TW_VALUE_DICT);
    tw_value_free(&dtype);
    tw_value_free(&parameters);
    int64_t rows = shape.shape->dims[shape.shape->rank - 2], columns = shape.shape->dims[shape.shape->rank - 1];
    tw_value_free(&shape);
    tw_auto tw_tensor *x = tw_tensor_new(TW_FLOAT32, TW_SHAPE(columns, 1), NULL),
                      *y = tw_tensor_new(TW_FLOAT32, TW_SHAPE(rows, 1), NULL);
    tw_tensor *given[] = { tw_linear_operator_to_dense(operator_),
                           tw_linear_operator_diag_part(operator_),
                           tw_linear_operator_trace(operator_),
                           tw_linear_operator_determinant(operator_),
                           tw_linear_operator_log_abs_determinant(operator_),
                           tw_linear_operator_eigvals(operator_),
                           tw_linear_operator_cond(operator_),
                           tw_linear_operator_shape_tensor(operator_) };
    assert_non_null(given[0]);
    for (size_t i = 0; i < sizeof given / sizeof *given; i++)
        tw_release(given[i]);
    tw_value products[] = { tw_linear_operator_matmul(operator_, TW_LEAF(x)),
                            tw_linear_operator_matmul(operator_, TW_LEAF(y), .adjoint = true),
                            tw_linear_operator_solve(operator_, TW_LEAF(y)), tw_linear_operator_assert_non_singular(operator_) };
    assert_int_equal(products[0].kind, TW_VALUE_TENSOR);
    for (size_t i = 0; i < sizeof products / sizeof *products; i++)
        tw_value_free(&products[i]);
    tw_linear_operator *made[] = { tw_linear_operator_adjoint_operator(operator_), tw_linear_operator_inverse(operator_),
                                   tw_linear_operator_cholesky(operator_) };
    assert_non_null(made[0]);
    for (size_t i = 0; i < sizeof made / sizeof *made; i++)
        tw_release(made[i]);
    tw_clear_error();
}

static void test_operators(void **state)
{
    (void)state;
    tw_auto tw_tensor *v = vector(1, 2), *m = matrix(4, 1, 2, 3),
                      *u = tw_tensor_new(TW_FLOAT32, TW_SHAPE(2, 1), (const float[]){ 1, 3 });
    tw_auto tw_tensor *places = tw_tensor_new(TW_INT32, TW_SHAPE(2), (const int32_t[]){ 1, 0 }), *three = tw_tensor_float(3);
    tw_auto tw_tensor *bands = tw_tensor_new(TW_FLOAT32, TW_SHAPE(3, 2), (const float[]){ 1, 0, 4, 5, 0, 7 });
    tw_value two = { .kind = TW_VALUE_INT, .i = 2 };
    tw_auto tw_linear_operator *diag = tw_linear_operator_diag(TW_LEAF(v)), *full = tw_linear_operator_full_matrix(TW_LEAF(m));
    use_all(diag);
    use_all(full);
    tw_linear_operator *all[] = { tw_linear_operator_lower_triangular(TW_LEAF(m)),
                                  tw_linear_operator_identity(two),
                                  tw_linear_operator_scaled_identity(two, TW_LEAF(three)),
                                  tw_linear_operator_zeros(two),
                                  tw_linear_operator_householder(TW_LEAF(v)),
                                  tw_linear_operator_permutation(TW_LEAF(places)),
                                  tw_linear_operator_toeplitz(TW_LEAF(v), TW_LEAF(v)),
                                  tw_linear_operator_tridiag(TW_LEAF(bands)),
                                  tw_linear_operator_adjoint(full),
                                  tw_linear_operator_inversion(full),
                                  tw_linear_operator_composition(TW_OBJECTS(diag, full)),
                                  tw_linear_operator_block_diag(TW_OBJECTS(diag, full)),
                                  tw_linear_operator_kronecker(TW_OBJECTS(diag, full)),
                                  tw_linear_operator_low_rank_update(diag, TW_LEAF(u)) };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        use_all(all[i]);
        tw_release(all[i]);
    }
}

static void test_numbers(void **state)
{
    (void)state;
    tw_auto tw_tensor *v = vector(1, 2), *m = matrix(4, 1, 2, 3);
    tw_auto tw_linear_operator *diag = tw_linear_operator_diag(TW_LEAF(v)), *full = tw_linear_operator_full_matrix(TW_LEAF(m));
    tw_value product = tw_linear_operator_matmul(diag, (tw_value){ .kind = TW_VALUE_OBJECT, .object = full });
    assert_int_equal(product.kind, TW_VALUE_OBJECT);
    EXPECT(tw_linear_operator_to_dense(product.object), 4, 1, 4, 6);
    EXPECT(tw_linear_operator_determinant(product.object), 20);
    EXPECT(tw_linear_operator_matvec(full, TW_LEAF(v)), 6, 8);
    EXPECT(tw_linear_operator_matvec(full, TW_LEAF(v), .adjoint = true), 8, 7);
    EXPECT(tw_linear_operator_solvevec(diag, TW_LEAF(v)), 1, 1);
    tw_value_free(&product);
}

static void test_refused(void **state)
{
    (void)state;
    tw_auto tw_tensor *v = vector(1, 2), *wide = tw_tensor_new(TW_FLOAT32, TW_SHAPE(3), NULL);
    tw_auto tw_linear_operator *diag = tw_linear_operator_diag(TW_LEAF(v)), *other = tw_linear_operator_diag(TW_LEAF(wide));
    assert_null(tw_linear_operator_diag(TW_LEAF(v), .is_square = false));
    assert_non_null(strstr(tw_error_message(), "Only square diagonal operators"));
    assert_null(tw_linear_operator_full_matrix(TW_LEAF(v)));
    assert_null(tw_linear_operator_adjoint(NULL));
    assert_null(tw_linear_operator_adjoint((tw_linear_operator *)v));
    assert_null(tw_linear_operator_composition(TW_OBJECTS(diag, NULL)));
    assert_null(tw_linear_operator_diag((tw_value){ .kind = TW_VALUE_NONE }));
    tw_clear_error();
    tw_value product = tw_linear_operator_matmul(diag, (tw_value){ .kind = TW_VALUE_OBJECT, .object = other });
    assert_int_equal(product.kind, TW_VALUE_NONE);
    assert_string_equal(tw_error_message(), "Operators are incompatible. Expected `x` to have dimension 2 but got 3.");
    tw_clear_error();
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_operators), cmocka_unit_test(test_numbers),
                                        cmocka_unit_test(test_refused) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
