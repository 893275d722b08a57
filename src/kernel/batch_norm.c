/* Batch normalization in two passes over the rows: sums per channel, then one multiplication and addition per element.
 *
 * Sums: the rows are cut into blocks of a fixed size; within a block floats are added, blocks are added in double in their order.
 * So the result does not depend on the number of threads. Values are taken relative to the channel's first, which keeps variances
 * exact where the mean is large. */
#include "kernel/batch_norm.h"
#include "kernel/simd.h"

enum { BLOCK_ROWS = 512, LANES = 512, ELEMENTS_PER_THREAD = 1 << 15 };

/* Two sums per channel: of v and of v * w over the block's rows, where v is x - shift (w = v), or the gradient (w = x - shift).
 */
typedef struct sums {
    const float *x, *gradient, *shift;
    int64_t rows, channels;
    float *blocks; /* [blocks, 2, channels] */
} sums;

static TW_CLONES void sum_block(const sums *s, int64_t begin, int64_t end, float *out)
{
    for (int64_t first = 0; first < s->channels; first += LANES) {
        int64_t count = s->channels - first < LANES ? s->channels - first : LANES;
        const float *shift = s->shift + first;
        float *one = out + first, *two = out + s->channels + first;
        for (int64_t c = 0; c < count; c++)
            one[c] = two[c] = 0;
        for (int64_t row = begin; row < end; row++) {
            const float *x = s->x + row * s->channels + first;
            if (s->gradient) {
                const float *gradient = s->gradient + row * s->channels + first;
                TW_INDEPENDENT
                for (int64_t c = 0; c < count; c++) {
                    one[c] += gradient[c];
                    two[c] += gradient[c] * (x[c] - shift[c]);
                }
            } else {
                TW_INDEPENDENT
                for (int64_t c = 0; c < count; c++) {
                    float v = x[c] - shift[c];
                    one[c] += v;
                    two[c] += v * v;
                }
            }
        }
    }
}

static void sum_blocks(void *context, int64_t begin, int64_t end)
{
    const sums *s = context;
    for (int64_t i = begin; i < end; i++)
        sum_block(s, i * BLOCK_ROWS, (i + 1) * BLOCK_ROWS < s->rows ? (i + 1) * BLOCK_ROWS : s->rows,
                  s->blocks + i * 2 * s->channels);
}

/* totals: [2, channels] */
static tw_status run_sums(sums *s, double *totals)
{
    int64_t blocks = (s->rows + BLOCK_ROWS - 1) / BLOCK_ROWS, width = 2 * s->channels;
    for (int64_t i = 0; i < width; i++)
        totals[i] = 0;
    if (blocks == 0)
        return TW_OK;
    tw__buffer *buffer = tw__buffer_new((size_t)(blocks * width) * sizeof(float));
    if (!buffer)
        return tw__error_status();
    s->blocks = buffer->data;
    tw__parallel(blocks, ELEMENTS_PER_THREAD / (BLOCK_ROWS * s->channels) + 1, sum_blocks, s);
    for (int64_t block = 0; block < blocks; block++) {
        for (int64_t i = 0; i < width; i++)
            totals[i] += (double)s->blocks[block * width + i];
    }
    tw__buffer_release(buffer);
    return TW_OK;
}

tw_status tw__batch_moments(const float *x, int64_t rows, int64_t channels, float *mean, float *variance)
{
    if (channels == 0)
        return TW_OK;
    tw__buffer *buffer = tw__buffer_new((size_t)(2 * channels) * sizeof(double));
    if (!buffer)
        return tw__error_status();
    double *totals = buffer->data;
    sums s = { .x = x, .shift = x, .rows = rows, .channels = channels };
    tw_status status = run_sums(&s, totals);
    for (int64_t c = 0; c < channels && status == TW_OK; c++) {
        double average = totals[c] / (double)rows, spread = totals[channels + c] / (double)rows - average * average;
        mean[c] = (float)((double)x[c] + average);
        variance[c] = (float)(spread < 0 ? 0 : spread);
    }
    tw__buffer_release(buffer);
    return status;
}

/* out = x * a + b, or with a gradient: gradient * a + x * b + c; coefficients are per channel. */
typedef struct affine {
    const float *x, *gradient, *a, *b, *c;
    int64_t channels;
    float *out;
} affine;

static TW_CLONES void run_affine(void *context, int64_t begin, int64_t end)
{
    const affine *f = context;
    const float *a = f->a, *b = f->b, *constant = f->c;
    for (int64_t row = begin; row < end; row++) {
        const float *x = f->x + row * f->channels, *gradient = f->gradient ? f->gradient + row * f->channels : NULL;
        float *out = f->out + row * f->channels;
        if (gradient) {
            TW_INDEPENDENT
            for (int64_t c = 0; c < f->channels; c++)
                out[c] = gradient[c] * a[c] + (x[c] * b[c] + constant[c]);
        } else {
            TW_INDEPENDENT
            for (int64_t c = 0; c < f->channels; c++)
                out[c] = x[c] * a[c] + b[c];
        }
    }
}

static void spread_affine(affine *f, int64_t rows)
{
    tw__parallel(rows, ELEMENTS_PER_THREAD / (f->channels + 1) + 1, run_affine, f);
}

tw_status tw__batch_normalize(const float *x, int64_t rows, int64_t channels, const float *scale, const float *offset,
                              const float *mean, const float *variance, float epsilon, float *y)
{
    if (rows == 0 || channels == 0)
        return TW_OK;
    tw__buffer *buffer = tw__buffer_new((size_t)(2 * channels) * sizeof(float));
    if (!buffer)
        return tw__error_status();
    float *a = buffer->data, *b = a + channels;
    for (int64_t c = 0; c < channels; c++) {
        a[c] = scale[c] / sqrtf(variance[c] + epsilon);
        b[c] = offset[c] - mean[c] * a[c];
    }
    affine f = { .x = x, .a = a, .b = b, .channels = channels, .out = y };
    spread_affine(&f, rows);
    tw__buffer_release(buffer);
    return TW_OK;
}

tw_status tw__batch_norm_grad(const float *gradient, const float *x, int64_t rows, int64_t channels, const float *scale,
                              const float *mean, const float *variance, float epsilon, bool training, float *x_grad,
                              float *scale_grad, float *offset_grad)
{
    if (channels == 0)
        return TW_OK;
    tw__buffer *buffer = tw__buffer_new((size_t)channels * (2 * sizeof(double) + 3 * sizeof(float)));
    if (!buffer)
        return tw__error_status();
    double *totals = buffer->data;
    float *a = (float *)(totals + 2 * channels), *b = a + channels, *constant = b + channels;
    sums s = { .x = x, .gradient = gradient, .shift = mean, .rows = rows, .channels = channels };
    tw_status status = run_sums(&s, totals);
    for (int64_t c = 0; c < channels && status == TW_OK; c++) {
        double root = 1 / sqrt((double)variance[c] + (double)epsilon), n = (double)(rows ? rows : 1);
        double sum = totals[c], product = totals[channels + c], factor = (double)scale[c] * root;
        /* factor * (gradient - mean of gradients - (x - mean) * root² * mean of gradient * (x - mean)) */
        double slope = training ? -factor * root * root * product / n : 0;
        a[c] = (float)factor;
        b[c] = (float)slope;
        constant[c] = (float)((training ? -factor * sum / n : 0) - slope * (double)mean[c]);
        scale_grad[c] = (float)(product * root);
        offset_grad[c] = (float)sum;
    }
    affine f = { .x = x, .gradient = gradient, .a = a, .b = b, .c = constant, .channels = channels, .out = x_grad };
    if (status == TW_OK && rows)
        spread_affine(&f, rows);
    tw__buffer_release(buffer);
    return status;
}
