/* Bias and activation behind a product or a convolution; see epilogue.h. */
#include "kernel/gemm/epilogue.h"
#include "kernel/nn.h"
#include "kernel/simd.h"

enum { ELEMENTS_PER_CHUNK = 1 << 15 };

#define ROWS(name, value)                                                                                        \
    static TW_CLONES void name(float *out, int64_t rows, int64_t columns, int64_t row_stride, const float *bias) \
    {                                                                                                            \
        for (int64_t i = 0; i < rows; i++, out += row_stride) {                                                  \
            TW_INDEPENDENT                                                                                       \
            for (int64_t j = 0; j < columns; j++) {                                                              \
                float x = value;                                                                                 \
                out[j] = x;                                                                                      \
            }                                                                                                    \
        }                                                                                                        \
    }
#define RELU(x) ((x) < 0 ? 0 : (x))
#define RELU6(x) ((x) < 0 ? 0 : (x) > 6 ? 6 : (x))
ROWS(rows_bias, out[j] + bias[j])
ROWS(rows_bias_relu, RELU(out[j] + bias[j]))
ROWS(rows_bias_relu6, RELU6(out[j] + bias[j]))

static TW_CLONES void rows_relu(float *out, int64_t rows, int64_t columns, int64_t row_stride)
{
    for (int64_t i = 0; i < rows; i++, out += row_stride) {
        TW_INDEPENDENT
        for (int64_t j = 0; j < columns; j++)
            out[j] = RELU(out[j]);
    }
}

static TW_CLONES void rows_relu6(float *out, int64_t rows, int64_t columns, int64_t row_stride)
{
    for (int64_t i = 0; i < rows; i++, out += row_stride) {
        TW_INDEPENDENT
        for (int64_t j = 0; j < columns; j++)
            out[j] = RELU6(out[j]);
    }
}

bool tw__epilogue_rest(const tw__epilogue *then)
{
    return then->activation && then->activation != &tw__unary_relu && then->activation != &tw__unary_relu6;
}

void tw__epilogue_piece(const tw__epilogue *then, float *out, int64_t rows, int64_t columns, int64_t row_stride,
                        int64_t first_column)
{
    const float *bias = then->bias ? (const float *)then->bias + first_column : NULL;
    bool relu = then->activation == &tw__unary_relu, relu6 = then->activation == &tw__unary_relu6;
    if (bias && relu)
        rows_bias_relu(out, rows, columns, row_stride, bias);
    else if (bias && relu6)
        rows_bias_relu6(out, rows, columns, row_stride, bias);
    else if (bias)
        rows_bias(out, rows, columns, row_stride, bias);
    else if (relu)
        rows_relu(out, rows, columns, row_stride);
    else if (relu6)
        rows_relu6(out, rows, columns, row_stride);
}

typedef struct job {
    const tw__epilogue *then;
    tw_dtype dtype;
    char *out;
    int64_t columns;
} job;

static void run_rows(void *context, int64_t begin, int64_t end)
{
    const job *j = context;
    size_t size = tw__element_size(j->dtype);
    char *out = j->out + (size_t)(begin * j->columns) * size;
    if (j->dtype == TW_FLOAT32) {
        tw__epilogue_piece(j->then, (float *)(void *)out, end - begin, j->columns, j->columns, 0);
        return;
    }
    for (int64_t i = begin; i < end; i++, out += (size_t)j->columns * size)
        tw__binary_row(&tw__binary_add, j->dtype, out, j->then->bias, out, j->columns, TW_ROW_BOTH);
}

void tw__epilogue_run(const tw__epilogue *then, tw_dtype dtype, void *out, int64_t rows, int64_t columns)
{
    job j = { then, dtype, out, columns };
    if (rows <= 0 || columns <= 0)
        return;
    if (then->bias || dtype == TW_FLOAT32)
        tw__parallel(rows, ELEMENTS_PER_CHUNK / columns + 1, run_rows, &j);
    if (then->activation && (dtype != TW_FLOAT32 || tw__epilogue_rest(then)))
        tw__unary_run(then->activation, dtype, out, out, rows * columns);
}
