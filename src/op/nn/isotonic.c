/* IsotonicRegression: the falling numbers that are nearest to each row's. */
#include "op/gradient.h"
#include "op/nn/wide.h"
#include "rows.h"

static tw_status isotonic_shape(tw__inference *inference)
{
    TW_TRY(tw__need_rank(inference, 0, 2));
    inference->out_shapes[0] = inference->out_shapes[1] = *inference->shapes[0];
    return TW_OK;
}

/* Neighbours that rise are joined and take their mean, until all means fall. begins[k]: where run k begins. */
static void regress(double *row, int32_t *segments, int64_t count, int64_t *begins, double *sums)
{
    int64_t runs = 0;
    for (int64_t i = 0; i < count; i++) {
        begins[runs] = i;
        sums[runs++] = row[i];
        while (runs > 1) {
            int64_t last = i + 1 - begins[runs - 1], before = begins[runs - 1] - begins[runs - 2];
            if (sums[runs - 2] / (double)before >= sums[runs - 1] / (double)last)
                break;
            sums[runs - 2] += sums[runs - 1];
            runs--;
        }
    }
    for (int64_t k = 0; k < runs; k++) {
        int64_t end = k + 1 < runs ? begins[k + 1] : count;
        for (int64_t i = begins[k]; i < end; i++) {
            row[i] = sums[k] / (double)(end - begins[k]);
            segments[i] = (int32_t)k;
        }
    }
}

static tw_status isotonic_compute(tw__kernel *kernel)
{
    const tw_tensor *input = kernel->inputs[0];
    int64_t count = input->shape.dims[1];
    tw__owned double *x = tw__wide_read(input), *sums = tw__wide_new(count);
    tw__owned int64_t *begins = tw__alloc_array((size_t)count + 1, sizeof *begins);
    if (!x || !sums || !begins)
        return tw__error_status();
    for (int64_t r = 0; r < input->shape.dims[0]; r++)
        regress(x + r * count, (int32_t *)kernel->outputs[1]->data + r * count, count, begins, sums);
    tw__wide_write(kernel->outputs[0], x);
    return TW_OK;
}

/* Each run's mean of what comes in. */
static tw_status isotonic_gradient(tw__gradient *g)
{
    TW_TEMPS(t);
    if (!g->wanted[0] || !g->output_grads[0])
        return TW_OK;
    tw_tensor *shape = tw__temp_shape(t, g->inputs[0], TW_INT32), *columns = tw__temp_at(t, shape, 1);
    tw_tensor *rows = TW_TEMP(ExpandDims, tw__temp_range(t, tw__temp_at(t, shape, 0)), 1);
    tw_tensor *segments = TW_TEMP(AddV2, g->outputs[1], TW_TEMP(Mul, rows, columns));
    tw_tensor *total = TW_TEMP(Prod, shape, 0), *given = g->output_grads[0];
    tw_tensor *sums = TW_TEMP(UnsortedSegmentSum, given, segments, total),
              *counts = TW_TEMP(UnsortedSegmentSum, given ? TW_TEMP(OnesLike, given) : NULL, segments, total);
    tw_tensor *means = TW_TEMP(DivNoNan, sums, counts);
    tw__grad_set(g, 0, tw__keep(t, tw__temp_cast(t, tw__temp_gather(t, means, segments, 0), g->inputs[0]->dtype)));
    return tw__grad_status(g);
}

TW_OP(IsotonicRegression, .inputs = "input: T", .outputs = "output: output_dtype, segments: int32",
      .attrs = "T: {float, double, int32, uint8, int16, int8, int64, bfloat16, uint16, half, uint32, uint64}, "
               "output_dtype: {half, bfloat16, float, double} = float",
      .shape = isotonic_shape, .compute = isotonic_compute, .gradient = isotonic_gradient,
      .doc = "The falling numbers that are nearest to each row's, and which of them are equal.");
