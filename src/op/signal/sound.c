/* AudioSpectrogram and Mfcc: sounds as strengths of frequencies over time, and the cepstral coefficients of these. */
#include <math.h>

#include "kernel/fft.h"
#include "op/array/array.h"
#include "op/op.h"
#include "rows.h"

/* ---- spectrograms ---- */

static int64_t power_of_two(int64_t least)
{
    int64_t power = 1;
    while (power < least)
        power *= 2;
    return power;
}

static tw_status spectrogram_shape(tw__inference *inference)
{
    const tw_shape *in = inference->shapes[0];
    int64_t window = TW_ATTR(inference, "window_size")->i, stride = TW_ATTR(inference, "stride")->i;
    if (in->rank >= 0 && in->rank != 2)
        return TW_OP_FAIL(inference, TW_INVALID_ARGUMENT, "input must be 2-dimensional%s", tw__shape_text(in));
    if (window < 2 || window > INT32_MAX / 4 || stride < 1)
        return TW_OP_FAIL(inference, TW_INVALID_ARGUMENT,
                          "Spectrogram initialization failed for window size %lld and stride %lld", (long long)window,
                          (long long)stride);
    int64_t samples = in->rank == 2 ? in->dims[0] : -1, frames = samples < 0        ? -1
                                                                 : samples < window ? 0
                                                                                    : (samples - window) / stride + 1;
    inference->out_shapes[0] = TW_SHAPE(in->rank == 2 ? in->dims[1] : -1, frames, power_of_two(window) / 2 + 1);
    return TW_OK;
}

static tw_status spectrogram_compute(tw__kernel *kernel)
{
    const float *in = kernel->inputs[0]->data;
    float *out = kernel->outputs[0]->data;
    int64_t window = TW_ATTR(kernel, "window_size")->i, stride = TW_ATTR(kernel, "stride")->i, length = power_of_two(window);
    int64_t channels = kernel->inputs[0]->shape.dims[1], frames = kernel->outputs[0]->shape.dims[1], bins = length / 2 + 1;
    bool squared = TW_ATTR(kernel, "magnitude_squared")->b;
    if (!kernel->outputs[0]->count)
        return TW_OK;
    tw__fft *plan = tw__fft_new(length);
    tw__owned tw__cnum *line = plan ? tw__alloc_array((size_t)(length + tw__fft_work(plan)), sizeof *line) : NULL;
    tw__owned double *weights = line ? tw__alloc_array((size_t)window, sizeof *weights) : NULL;
    for (int64_t i = 0; weights && i < window; i++)
        weights[i] = 0.5 - 0.5 * cos(2 * M_PI * (double)i / (double)window);
    for (int64_t n = 0; weights && n < channels * frames; n++, out += bins) {
        int64_t channel = n / frames, first = n % frames * stride;
        memset(line, 0, (size_t)length * sizeof *line);
        for (int64_t i = 0; i < window; i++)
            line[i].re = weights[i] * (double)in[(first + i) * channels + channel];
        tw__fft_forward(plan, line, line + length);
        for (int64_t k = 0; k < bins; k++) {
            double power = line[k].re * line[k].re + line[k].im * line[k].im;
            out[k] = (float)(squared ? power : sqrt(power));
        }
    }
    tw__fft_free(plan);
    return weights ? TW_OK : tw__error_status();
}

TW_OP(AudioSpectrogram, .no_gradient = true, .inputs = "input: float", .outputs = "spectrogram: float",
      .attrs = "window_size: int, stride: int, magnitude_squared: bool = false", .shape = spectrogram_shape,
      .compute = spectrogram_compute, .doc = "How strong each frequency is, frame by frame: [channels, frames, frequencies].");

/* ---- cepstral coefficients ---- */

typedef struct bank {
    int64_t channels, bins, first, last; /* bins that count */
    int64_t *channel;                    /* of each bin: the one below it, -1 for the first */
    double *weight;                      /* how much of it goes there; the rest goes to the next one */
} bank;

static double mel_of(double hertz)
{
    return 1127 * log1p(hertz / 700);
}

static bool bank_fill(bank *b, double rate, double lower, double upper)
{
    double low = mel_of(lower), step = (mel_of(upper) - low) / (double)(b->channels + 1),
           each = 0.5 * rate / (double)(b->bins - 1);
    b->first = (int64_t)(1.5 + lower / each);
    b->last = (int64_t)(upper / each);
    if (b->last >= b->bins)
        b->last = b->bins - 1;
    b->channel = tw__alloc_array((size_t)b->bins, sizeof *b->channel);
    b->weight = tw__alloc_array((size_t)b->bins, sizeof *b->weight);
    if (!b->channel || !b->weight)
        return false;
    int64_t channel = 0;
    for (int64_t i = b->first; i <= b->last; i++) {
        double mel = mel_of((double)i * each);
        while (channel < b->channels && low + step * (double)(channel + 1) < mel)
            channel++;
        b->channel[i] = channel - 1;
        b->weight[i] = (low + step * (double)(channel + 1) - mel) / step;
    }
    return true;
}

static tw_status mfcc_shape(tw__inference *inference)
{
    const tw_shape *in = inference->shapes[0];
    int64_t count = TW_ATTR(inference, "dct_coefficient_count")->i;
    if (in->rank >= 0 && in->rank != 3)
        return TW_OP_FAIL(inference, TW_INVALID_ARGUMENT, "spectrogram must be 3-dimensional%s", tw__shape_text(in));
    if (inference->shapes[1]->rank > 0)
        return TW_OP_FAIL(inference, TW_INVALID_ARGUMENT, "Input sample_rate should be a scalar tensor, got %s instead.",
                          tw__shape_text(inference->shapes[1]));
    inference->out_shapes[0] =
        TW_SHAPE(in->rank == 3 ? in->dims[0] : -1, in->rank == 3 ? in->dims[1] : -1, count < 0 ? -1 : count);
    return TW_OK;
}

/* One frame: `bands` has room for the channels. */
static void mfcc_frame(const bank *b, const float *in, double *bands, const double *cosines, int64_t count, float *out)
{
    memset(bands, 0, (size_t)b->channels * sizeof *bands);
    for (int64_t i = b->first; i <= b->last; i++) {
        double value = sqrt((double)in[i]), part = value * b->weight[i];
        if (b->channel[i] >= 0)
            bands[b->channel[i]] += part;
        if (b->channel[i] + 1 < b->channels)
            bands[b->channel[i] + 1] += value - part;
    }
    for (int64_t c = 0; c < b->channels; c++)
        bands[c] = log(bands[c] < 1e-12 ? 1e-12 : bands[c]);
    for (int64_t k = 0; k < count; k++) {
        double sum = 0;
        for (int64_t c = 0; c < b->channels; c++)
            sum += cosines[k * b->channels + c] * bands[c];
        out[k] = (float)sum;
    }
}

static tw_status mfcc_compute(tw__kernel *kernel)
{
    const tw_shape *shape = &kernel->inputs[0]->shape;
    int64_t rate, count = TW_ATTR(kernel, "dct_coefficient_count")->i;
    double upper = TW_ATTR(kernel, "upper_frequency_limit")->f, lower = TW_ATTR(kernel, "lower_frequency_limit")->f;
    bank b = { .channels = TW_ATTR(kernel, "filterbank_channel_count")->i, .bins = shape->dims[2] };
    TW_TRY(tw__scalar_value(kernel->op, kernel->inputs[1], "sample_rate", &rate));
    if (rate <= 0 || b.bins < 2 || b.channels < 1 || b.channels > 1 << 20 || count < 1 || count > b.channels || !(lower >= 0) ||
        !(upper > lower))
        return TW_OP_FAIL(kernel, TW_INVALID_ARGUMENT,
                          "Mfcc initialization failed for channel count %lld, sample rate %lld and filterbank_channel_count %lld",
                          (long long)b.bins, (long long)rate, (long long)b.channels);
    bool made = bank_fill(&b, (double)rate, lower, upper < 1e15 ? upper : 1e15);
    double *cosines = tw__alloc_array((size_t)(b.channels * count), sizeof *cosines);
    double *bands = tw__alloc_array((size_t)b.channels, sizeof *bands);
    made = made && cosines && bands;
    for (int64_t i = 0; made && i < b.channels * count; i++)
        cosines[i] = sqrt(2 / (double)b.channels) *
                     cos(M_PI / (double)b.channels * (double)(i / b.channels) * ((double)(i % b.channels) + 0.5));
    for (int64_t n = 0; made && n < shape->dims[0] * shape->dims[1]; n++)
        mfcc_frame(&b, (const float *)kernel->inputs[0]->data + n * b.bins, bands, cosines, count,
                   (float *)kernel->outputs[0]->data + n * count);
    tw__free(b.channel);
    tw__free(b.weight);
    tw__free(cosines);
    tw__free(bands);
    return made ? TW_OK : tw__error_status();
}

TW_OP(Mfcc, .no_gradient = true, .inputs = "spectrogram: float, sample_rate: int32", .outputs = "output: float",
      .attrs = "upper_frequency_limit: float = 4000, lower_frequency_limit: float = 20, filterbank_channel_count: int = 40, "
               "dct_coefficient_count: int = 13",
      .shape = mfcc_shape, .compute = mfcc_compute, .doc = "The mel-frequency cepstral coefficients of spectrograms.");
