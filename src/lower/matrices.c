/* Lowerings of triangular equations and of Fourier transforms. */
#include "lower/words.h"

/* MatrixTriangularSolve(matrix, rhs) */
static bool triangular_solve(tw__lowering *l)
{
    const tw_shape *out = &l->outputs[0].shape;
    int rank = out->rank;
    if (rank < 2 || X.shape.rank < 2 || (X.dtype != TW_FLOAT32 && X.dtype != TW_FLOAT64))
        return false;
    tw_shape wide = *out;
    wide.dims[rank - 1] = wide.dims[rank - 2] = X.shape.dims[X.shape.rank - 1];
    tw__hlo a = tw__hlo_broadcast(l, X, &wide), b = tw__hlo_broadcast(l, Y, out);
    return a.id >= 0 && b.id >= 0 &&
           GIVE(tw__hlo_line(l, X.dtype, out,
                             "\"stablehlo.triangular_solve\"(%%%d, %%%d) <{left_side = true, lower = %s, transpose_a = "
                             "#stablehlo<transpose %s>, unit_diagonal = false}> : (%s, %s) -> %s",
                             a.id, b.id, TW_ATTR(l, "lower")->b ? "true" : "false",
                             TW_ATTR(l, "adjoint")->b ? "TRANSPOSE" : "NO_TRANSPOSE", tw__hlo_type_text(a), tw__hlo_type_text(b),
                             tw__hlo_type_text(b)));
}

/* The last dimensions cut, or filled with zeros, to these sizes. */
static tw__hlo sized(tw__lowering *l, tw__hlo x, const int64_t *sizes, int count)
{
    int64_t begin[TW_MAX_RANK] = { 0 }, end[TW_MAX_RANK], low[TW_MAX_RANK] = { 0 }, high[TW_MAX_RANK] = { 0 };
    int first = x.shape.rank - count;
    memcpy(end, x.shape.dims, sizeof end);
    for (int i = 0; i < count; i++) {
        int64_t have = x.shape.dims[first + i];
        end[first + i] = have < sizes[i] ? have : sizes[i];
        high[first + i] = have < sizes[i] ? sizes[i] - have : 0;
    }
    return tw__hlo_pad(l, tw__hlo_slice(l, x, begin, end, NULL), NUMBER(x.dtype, 0), low, high, NULL);
}

/* "FFT2": the kind and over how many dimensions. Those of real numbers are given the sizes; the others have their own. */
static bool transform(tw__lowering *l)
{
    int64_t sizes[3];
    int count = l->argument[strlen(l->argument) - 1] - '0', given, rank = X.shape.rank, kind = (int)strlen(l->argument) - 1;
    tw__hlo x = X;
    if (rank < count)
        return false;
    memcpy(sizes, X.shape.dims + rank - count, (size_t)count * sizeof *sizes);
    if (l->input_count > 1) {
        int64_t have[3];
        if (!tw__lower_ints(l, 1, sizes, 3, &given) || given != count)
            return false;
        memcpy(have, sizes, sizeof have);
        if (l->argument[0] == 'I')
            have[count - 1] = sizes[count - 1] / 2 + 1;
        x = sized(l, x, have, count);
    }
    for (int i = 0; i < count; i++) {
        if (sizes[i] < 1)
            return false;
    }
    tw__text list = { 0 };
    tw__hlo_ints(&list, sizes, count);
    tw__hlo y = x.id < 0 || list.failed
                    ? (tw__hlo){ .id = -1 }
                    : tw__hlo_line(l, l->outputs[0].dtype, &l->outputs[0].shape,
                                   "stablehlo.fft %%%d, type = %.*s, length = [%s] : (%s) -> %s", x.id, kind, l->argument,
                                   list.data, tw__hlo_type_text(x), tw__hlo_type_text(l->outputs[0]));
    tw__text_free(&list);
    return GIVE(y);
}

const tw__lower_row tw__lower_matrices[] = {
    { "MatrixTriangularSolve", triangular_solve, NULL },
    { "FFT", transform, "FFT1" },
    { "FFT2D", transform, "FFT2" },
    { "FFT3D", transform, "FFT3" },
    { "IFFT", transform, "IFFT1" },
    { "IFFT2D", transform, "IFFT2" },
    { "IFFT3D", transform, "IFFT3" },
    { "RFFT", transform, "RFFT1" },
    { "RFFT2D", transform, "RFFT2" },
    { "RFFT3D", transform, "RFFT3" },
    { "IRFFT", transform, "IRFFT1" },
    { "IRFFT2D", transform, "IRFFT2" },
    { "IRFFT3D", transform, "IRFFT3" },
    { NULL, NULL, NULL },
};
