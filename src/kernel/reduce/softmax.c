/* Softmax, its logarithm and the two cross-entropies, row by row, spread over the threads. The row loops are in softmax_body.h,
 * once for float and once for double; half and bfloat16 are widened row by row. */
#include "kernel/nn.h"
#include "kernel/simd.h"

enum { BLOCK = 2048, LANES = 16, GRAIN = 1 << 13 };

typedef enum kind { SOFTMAX, LOG_SOFTMAX, SPARSE_LOSS, DENSE_LOSS } kind;

typedef struct job {
    kind kind;
    tw_dtype dtype;
    int64_t columns;
    const void *logits, *labels;
    const int64_t *classes;
    void *loss, *out;
    const tw__row_factors *factors;
    _Atomic int failed;
} job;

#define REAL float
#define NAME(word) float_##word
#include "kernel/reduce/softmax_body.h"
#define REAL double
#define NAME(word) double_##word
#include "kernel/reduce/softmax_body.h"

static void small_rows(job *of, int64_t begin, int64_t end)
{
    int64_t columns = of->columns;
    size_t size = (size_t)columns * sizeof(float);
    float *wide = tw__alloc(3 * size);
    if (!wide) {
        atomic_store(&of->failed, 1);
        return;
    }
    for (int64_t r = begin; r < end; r++) {
        float loss, *labels = wide + columns, *out = labels + columns;
        tw__small_float_read(of->dtype, (const uint16_t *)of->logits + r * columns, wide, columns);
        if (of->kind == DENSE_LOSS)
            tw__small_float_read(of->dtype, (const uint16_t *)of->labels + r * columns, labels, columns);
        float_rows(of, wide, labels, of->classes ? of->classes + r : NULL, &loss, out, NULL, 1);
        tw__small_float_write(of->dtype, out, (uint16_t *)of->out + r * columns, columns);
        if (of->loss)
            tw__small_float_write(of->dtype, &loss, (uint16_t *)of->loss + r, 1);
    }
    tw__free(wide);
}

static void body(void *context, int64_t begin, int64_t end)
{
    job *of = context;
    int64_t at = begin * of->columns, rows = end - begin;
    const int64_t *classes = of->classes ? of->classes + begin : NULL;
    if (of->dtype == TW_FLOAT32)
        float_rows(of, (const float *)of->logits + at, of->labels ? (const float *)of->labels + at : NULL, classes,
                   of->loss ? (float *)of->loss + begin : NULL, (float *)of->out + at, float_factors(of, begin), rows);
    else if (of->dtype == TW_FLOAT64)
        double_rows(of, (const double *)of->logits + at, of->labels ? (const double *)of->labels + at : NULL, classes,
                    of->loss ? (double *)of->loss + begin : NULL, (double *)of->out + at, double_factors(of, begin), rows);
    else
        small_rows(of, begin, end);
}

static tw_status run(job *of, int64_t rows)
{
    if (rows == 0 || of->columns == 0)
        return TW_OK;
    int64_t grain = GRAIN / of->columns + 1;
    if (rows <= grain)
        body(of, 0, rows);
    else
        tw__parallel(rows, grain, body, of);
    return atomic_load(&of->failed) ? tw__no_memory((size_t)of->columns * 3 * sizeof(float)) : TW_OK;
}

tw_status tw__softmax(tw_dtype dtype, const void *logits, void *out, int64_t rows, int64_t columns, bool logarithm)
{
    job of = { .kind = logarithm ? LOG_SOFTMAX : SOFTMAX, .dtype = dtype, .columns = columns, .logits = logits, .out = out };
    return run(&of, rows);
}

tw_status tw__cross_entropy(tw_dtype dtype, const void *logits, const void *labels, void *loss, void *backprop, int64_t rows,
                            int64_t columns, const tw__row_factors *factors)
{
    job of = { .kind = DENSE_LOSS,
               .dtype = dtype,
               .columns = columns,
               .logits = logits,
               .labels = labels,
               .loss = loss,
               .out = backprop,
               .factors = factors };
    return run(&of, rows);
}

tw_status tw__sparse_cross_entropy(tw_dtype dtype, const void *logits, tw_dtype label_dtype, const void *labels, void *loss,
                                   void *backprop, int64_t rows, int64_t columns, const tw__row_factors *factors)
{
    enum { FEW = 256 };
    int64_t few[FEW], *classes = few;
    if (rows > FEW && !(classes = tw__alloc((size_t)rows * sizeof *classes)))
        return tw__error_status();
    for (int64_t r = 0; r < rows; r++)
        classes[r] = label_dtype == TW_INT32 ? ((const int32_t *)labels)[r] : ((const int64_t *)labels)[r];
    job of = { .kind = SPARSE_LOSS,
               .dtype = dtype,
               .columns = columns,
               .logits = logits,
               .classes = classes,
               .loss = loss,
               .out = backprop,
               .factors = factors };
    tw_status status = run(&of, rows);
    if (classes != few)
        tw__free(classes);
    return status;
}
