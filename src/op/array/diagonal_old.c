/* The older forms of MatrixDiag, MatrixDiagPart and MatrixSetDiag, which graphs hold that earlier versions of TensorFlow wrote.
 * The second form has no alignment: all diagonals stand at the left. The first knows the main diagonal only. */
#include "op/array/array.h"
#include "op/gradient.h"
#include "rows.h"

/* What the later forms are given beyond the inputs of a first form: the main diagonal, and sizes or padding. */
typedef struct rest {
    tw_tensor *main, *any, *zero;
} rest;

static tw_status begin(rest *r, tw_dtype dtype)
{
    *r = (rest){ tw_tensor_int(0), tw_tensor_int(-1), tw_tensor_new(dtype, TW_SCALAR, NULL) };
    return r->main && r->any && r->zero ? TW_OK : tw__error_status();
}

static tw_status end(rest *r, tw_status status)
{
    tw_release(r->main);
    tw_release(r->any);
    tw_release(r->zero);
    return status;
}

/* ---- shapes and kernels: those of the last form, with the inputs completed ---- */

typedef struct later {
    tw_status (*shape)(tw__inference *inference);
    tw_status (*compute)(tw__kernel *kernel);
    int own; /* inputs that the first form has */
} later;
static const later diag = { tw__matrix_diag_shape, tw__matrix_diag_compute, 1 };
static const later part = { tw__matrix_diag_part_shape, tw__matrix_diag_part_compute, 1 };
static const later set = { tw__matrix_set_diag_shape, tw__matrix_set_diag_compute, 2 };

static void complete(const later *form, const rest *r, tw_tensor *inputs[5])
{
    inputs[form->own] = r->main;
    if (form == &part)
        inputs[2] = r->zero;
    for (int i = 2; form == &diag && i < 5; i++)
        inputs[i] = i == 4 ? r->zero : r->any;
}

static tw_status shape_of(const later *form, tw__inference *inference)
{
    rest r;
    if (inference->dtypes[0] == TW_STRING || inference->dtypes[0] == TW_RESOURCE || inference->dtypes[0] == TW_VARIANT)
        return form->shape(inference); /* says so before it looks at values */
    tw_status status = begin(&r, inference->dtypes[0]);
    tw_tensor *values[5] = { inference->values[0], form->own > 1 ? inference->values[1] : NULL };
    tw__inference whole = *inference;
    whole.values = values;
    if (status == TW_OK) {
        complete(form, &r, values);
        status = form->shape(&whole);
    }
    return end(&r, status);
}

static tw_status compute_of(const later *form, tw__kernel *kernel)
{
    rest r;
    tw_status status = begin(&r, kernel->inputs[0]->dtype);
    tw_tensor *inputs[5] = { kernel->inputs[0], form->own > 1 ? kernel->inputs[1] : NULL };
    tw__kernel whole = *kernel;
    whole.inputs = inputs;
    if (status == TW_OK) {
        complete(form, &r, inputs);
        status = form->compute(&whole);
    }
    return end(&r, status);
}

#define FORM(name_)                                          \
    static tw_status name_##_shape(tw__inference *inference) \
    {                                                        \
        return shape_of(&name_, inference);                  \
    }                                                        \
    static tw_status name_##_compute(tw__kernel *kernel)     \
    {                                                        \
        return compute_of(&name_, kernel);                   \
    }
FORM(diag)
FORM(part)
FORM(set)

/* ---- gradients: by the last forms ---- */

static const tw_attr left = TW_A_STRING("align", "LEFT_LEFT");

/* Which diagonals: the input of the second form, or the main one. */
static tw_tensor *diagonals_of(const tw__gradient *gradient, int place)
{
    return gradient->input_count > place ? tw_retain(gradient->inputs[place]) : tw_tensor_int(0);
}

static tw_status diag_gradient(tw__gradient *gradient)
{
    tw_tensor *dy = gradient->output_grads[0];
    if (!dy || !gradient->wanted[0])
        return TW_OK;
    tw_auto tw_tensor *zero = tw__grad_constant(0, dy), *k = diagonals_of(gradient, 1);
    tw__grad_set(gradient, 0, TW_CALL(MatrixDiagPartV3, dy, k, zero, left));
    return gradient->input_grads[0] ? TW_OK : tw__error_status();
}

static tw_status part_gradient(tw__gradient *gradient)
{
    tw_tensor *x = gradient->inputs[0], *dy = gradient->output_grads[0];
    if (!dy || !gradient->wanted[0])
        return TW_OK;
    tw_auto tw_tensor *zeros = TW_CALL(ZerosLike, x), *k = diagonals_of(gradient, 1);
    tw__grad_set(gradient, 0, TW_CALL(MatrixSetDiagV3, zeros, dy, k, left));
    return gradient->input_grads[0] ? TW_OK : tw__error_status();
}

static tw_status set_gradient(tw__gradient *gradient)
{
    tw_tensor *dy = gradient->output_grads[0];
    tw_auto tw_tensor *k = diagonals_of(gradient, 2);
    if (!dy || !k)
        return dy ? tw__error_status() : TW_OK;
    if (gradient->wanted[0]) {
        tw_auto tw_tensor *zeros = TW_CALL(ZerosLike, gradient->inputs[1]);
        tw__grad_set(gradient, 0, TW_CALL(MatrixSetDiagV3, dy, zeros, k, left));
    }
    if (gradient->wanted[1]) {
        tw_auto tw_tensor *zero = tw__grad_constant(0, dy);
        tw__grad_set(gradient, 1, TW_CALL(MatrixDiagPartV3, dy, k, zero, left));
    }
    return tw__grad_status(gradient);
}

TW_OP(MatrixDiag, .inputs = "diagonal: T", .outputs = "output: T", .attrs = "T: type", .shape = diag_shape,
      .compute = diag_compute, .gradient = diag_gradient, .doc = "Matrices with given main diagonals.");
TW_OP(MatrixDiagV2, .inputs = "diagonal: T, k: int32, num_rows: int32, num_cols: int32, padding_value: T", .outputs = "output: T",
      .attrs = "T: type", .shape = tw__matrix_diag_shape, .compute = tw__matrix_diag_compute, .gradient = diag_gradient,
      .doc = "Matrices with given diagonals, which stand at the left.");
TW_OP(MatrixDiagPart, .inputs = "input: T", .outputs = "diagonal: T", .attrs = "T: type", .shape = part_shape,
      .compute = part_compute, .gradient = part_gradient, .doc = "The main diagonals of matrices.");
TW_OP(MatrixDiagPartV2, .inputs = "input: T, k: int32, padding_value: T", .outputs = "diagonal: T", .attrs = "T: type",
      .shape = tw__matrix_diag_part_shape, .compute = tw__matrix_diag_part_compute, .gradient = part_gradient,
      .doc = "Diagonals of matrices, which stand at the left.");
TW_OP(MatrixSetDiag, .inputs = "input: T, diagonal: T", .outputs = "output: T", .attrs = "T: type", .shape = set_shape,
      .compute = set_compute, .gradient = set_gradient, .doc = "Matrices with their main diagonals replaced.");
TW_OP(MatrixSetDiagV2, .inputs = "input: T, diagonal: T, k: int32", .outputs = "output: T", .attrs = "T: type",
      .shape = tw__matrix_set_diag_shape, .compute = tw__matrix_set_diag_compute, .gradient = set_gradient,
      .doc = "Matrices with some diagonals replaced, which stand at the left.");
