/* What stateful and stateless random ops have in common: shapes, filling outputs, sampling classes. */
#include <math.h>

#include "kernel/kernel.h"
#include "op/array/array.h"
#include "op/random/random.h"

tw_status tw__random_shape(tw__inference *inference)
{
    if (inference->shapes[0]->rank >= 0 && inference->shapes[0]->rank != 1)
        return tw__fail(TW_INVALID_ARGUMENT, "shape must be a vector of {int32,int64}, got shape %s",
                        tw__shape_text(inference->shapes[0]));
    return tw__shape_input(inference, 0, "shape");
}

tw_status tw__random_output(tw__kernel *kernel, tw__distribution distribution, tw__philox philox)
{
    tw_tensor *out = kernel->outputs[0];
    tw__random_fill(distribution, out->dtype, philox, out->data, out->count, 0, 0);
    return TW_OK;
}

tw_status tw__random_integers(tw__kernel *kernel, int minval, tw__philox philox)
{
    static const char *const names[] = { "minval", "maxval" };
    tw_tensor *out = kernel->outputs[0];
    int64_t limits[2];
    for (int i = 0; i < 2; i++) {
        const tw_tensor *limit = kernel->inputs[minval + i];
        if (limit->shape.rank != 0)
            return tw__fail(TW_INVALID_ARGUMENT, "%s must be 0-D, got shape %s", names[i], tw__shape_text(&limit->shape));
        limits[i] = limit->dtype == TW_UINT64 ? (int64_t) * (const uint64_t *)limit->data : tw_tensor_int_at(limit, 0);
    }
    if (out->count == 0)
        return TW_OK;
    bool is_unsigned = out->dtype == TW_UINT64;
    if (is_unsigned ? (uint64_t)limits[0] >= (uint64_t)limits[1] : limits[0] >= limits[1])
        return is_unsigned ? tw__fail(TW_INVALID_ARGUMENT, "Need minval < maxval, got %llu >= %llu",
                                      (unsigned long long)limits[0], (unsigned long long)limits[1])
                           : tw__fail(TW_INVALID_ARGUMENT, "Need minval < maxval, got %lld >= %lld", (long long)limits[0],
                                      (long long)limits[1]);
    tw__random_fill(TW__BELOW, out->dtype, philox, out->data, out->count, (uint64_t)limits[0],
                    (uint64_t)limits[1] - (uint64_t)limits[0]);
    return TW_OK;
}

tw_status tw__multinomial_shape(tw__inference *inference)
{
    const tw_shape *logits = inference->shapes[0], *samples = inference->shapes[1];
    if (logits->rank >= 0 && logits->rank != 2)
        return tw__fail(TW_INVALID_ARGUMENT, "logits should be a matrix, got shape %s", tw__shape_text(logits));
    if (samples->rank > 0)
        return tw__fail(TW_INVALID_ARGUMENT, "num_samples should be a scalar, got shape %s", tw__shape_text(samples));
    int64_t count = -1;
    if (inference->values[1]) {
        count = *(const int32_t *)inference->values[1]->data;
        if (count < 0)
            return tw__fail(TW_INVALID_ARGUMENT, "num_samples should be nonnegative, got %lld", (long long)count);
    }
    if (logits->rank == 2 && logits->dims[1] == 0)
        return tw__fail(TW_INVALID_ARGUMENT, "num_classes should be positive, got 0");
    inference->out_shapes[0] = TW_SHAPE(logits->rank < 0 ? -1 : logits->dims[0], count);
    return TW_OK;
}

/* Rows of logits whose sums are made side by side: the draws go on in order. */
typedef struct drawing {
    const tw_tensor *logits;
    int64_t first, classes;
    double *sums, *totals;
} drawing;

enum { DRAWING_ELEMENTS = 1 << 16, DRAWING_TASK = 1 << 11 };

/* Sums of exp(logit - most) up to each class; logits that are not finite add nothing. */
static void cumulate(void *context, int64_t begin, int64_t end)
{
    const drawing *d = context;
    const char *data = d->logits->data;
    size_t size = tw__element_size(d->logits->dtype);
    for (int64_t row = begin; row < end; row++) {
        double *sums = d->sums + row * d->classes, most = -INFINITY, total = 0;
        tw__cast_run(d->logits->dtype, TW_FLOAT64, data + (size_t)((d->first + row) * d->classes) * size, sums, d->classes,
                     false);
        for (int64_t j = 0; j < d->classes; j++)
            most = isfinite(sums[j]) && sums[j] > most ? sums[j] : most;
        for (int64_t j = 0; j < d->classes; j++) {
            if (isfinite(sums[j]))
                total += exp(sums[j] - most);
            sums[j] = total;
        }
        d->totals[row] = total;
    }
}

/* The first class whose sum lies above the point. */
static int64_t class_above(const double *sums, int64_t classes, double point)
{
    int64_t low = 0, high = classes;
    while (low < high) {
        int64_t middle = low + (high - low) / 2;
        if (sums[middle] > point)
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

tw_status tw__multinomial(tw__kernel *kernel, tw__philox philox)
{
    const tw_tensor *logits = kernel->inputs[0];
    tw_tensor *out = kernel->outputs[0];
    int64_t rows = logits->shape.dims[0], classes = logits->shape.dims[1], samples = out->shape.dims[1];
    if (out->count == 0)
        return TW_OK;
    int64_t together = DRAWING_ELEMENTS / classes;
    together = together < 1 ? 1 : together > rows ? rows : together;
    drawing d = { .logits = logits, .classes = classes };
    d.sums = tw__alloc_array((size_t)together, ((size_t)classes + 1) * sizeof *d.sums);
    if (!d.sums)
        return tw__error_status();
    d.totals = d.sums + together * classes;
    tw__words words = tw__words_of(philox);
    for (int64_t row = 0; row < rows; row++) {
        int64_t k = row % together;
        if (k == 0) {
            d.first = row;
            tw__parallel(rows - row < together ? rows - row : together, DRAWING_TASK / classes + 1, cumulate, &d);
        }
        for (int64_t i = 0; i < samples; i++) {
            int64_t class = class_above(d.sums + k * classes, classes, tw__words_uniform(&words) * d.totals[k]);
            if (out->dtype == TW_INT64)
                ((int64_t *)out->data)[row * samples + i] = class;
            else
                ((int32_t *)out->data)[row * samples + i] = (int32_t) class;
        }
    }
    tw__free(d.sums);
    return TW_OK;
}
