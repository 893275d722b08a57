/* tf.signal: windows, and the matrix from frequencies to the mel scale. Their values are computed in double and rounded once. */
#include <math.h>

#include "api/signal/signal.h"
#include "kernel/kernel.h"
#include "rows.h"

enum { LARGEST = 1 << 28 }; /* more samples than any window has */

/* The numbers, of which it takes hold, as a tensor of that dtype. */
static tw_tensor *tensor_of(double *values, const tw_shape *shape, tw_dtype dtype)
{
    tw_tensor *made = values ? tw__tensor_empty(dtype, shape) : NULL;
    if (made)
        tw__cast_run(TW_FLOAT64, dtype, values, made->data, made->count, false);
    tw__free(values);
    return made;
}

/* Room for a window, and zeros. NULL: the length or the dtype can't be. */
static double *room(int64_t length, tw_dtype dtype, int64_t least)
{
    if (!tw__dtype_is_float(dtype)) {
        tw__fail(TW_VALUE_ERROR, "dtype must be a floating point type. Found <dtype: '%s'>", tw_dtype_name(dtype));
        return NULL;
    }
    if (length < least || length > LARGEST) {
        tw__fail(TW_INVALID_ARGUMENT, "window_length must be %s, got %lld",
                 length > LARGEST ? "at most 2**28"
                 : least          ? "positive"
                                  : ">= 0",
                 (long long)length);
        return NULL;
    }
    return tw__alloc_array((size_t)length + 1, sizeof(double));
}

/* a - b cos(2 pi i / n), where an even window that is periodic has one step more. */
static tw_tensor *raised_cosine(int64_t length, bool periodic, tw_dtype dtype, double a, double b)
{
    double *values = room(length, dtype, 0), steps = (double)(length - 1 + (periodic && length % 2 == 0));
    for (int64_t i = 0; values && i < length; i++)
        values[i] = length == 1 ? 1 : a - b * cos(2 * M_PI * (double)i / steps);
    return tensor_of(values, &TW_SHAPE(length), dtype);
}

TW_API(signal_hann_window,
       "signal.hann_window(window_length: int, periodic: bool = True, dtype: dtype = float32, name: str = None) -> tensor",
       "A Hann window.")
{
    return raised_cosine(args->window_length, args->periodic, args->dtype, 0.5, 0.5);
}

TW_API(signal_hamming_window,
       "signal.hamming_window(window_length: int, periodic: bool = True, dtype: dtype = float32, name: str = None) -> tensor",
       "A Hamming window.")
{
    return raised_cosine(args->window_length, args->periodic, args->dtype, 0.54, 0.46);
}

TW_API(signal_vorbis_window, "signal.vorbis_window(window_length: int, dtype: dtype = float32, name: str = None) -> tensor",
       "The window of Vorbis: sin(pi / 2 sin^2(pi (i + 1/2) / length)).")
{
    double *values = room(args->window_length, args->dtype, 0);
    for (int64_t i = 0; values && i < args->window_length; i++) {
        double s = sin(M_PI * ((double)i + 0.5) / (double)args->window_length);
        values[i] = sin(M_PI / 2 * s * s);
    }
    return tensor_of(values, &TW_SHAPE(args->window_length), args->dtype);
}

/* The modified Bessel function I0, times exp(-x): by its series, or by the trapezoidal rule over exp(x cos) for what is large. */
static double bessel(double x)
{
    x = fabs(x);
    if (x < 20) {
        double term = 1, sum = 1;
        for (int k = 1; term > sum * 1e-17; k++) {
            term *= x / 2 / k * (x / 2 / k);
            sum += term;
        }
        return sum * exp(-x);
    }
    /* sum of (1 3 5 …)^2 / (k! (8 x)^k), which first falls */
    double term = 1, sum = 1;
    for (int k = 1; k < 60; k++) {
        double next = term * (2 * k - 1) * (2 * k - 1) / (8 * x * k);
        if (fabs(next) >= fabs(term) || fabs(next) < 1e-17)
            break;
        term = next;
        sum += term;
    }
    return sum / sqrt(2 * M_PI * x);
}

static void kaiser(double *values, int64_t length, double beta)
{
    double half = (double)(length - 1) / 2;
    for (int64_t i = 0; i < length; i++) {
        double x = half > 0 ? ((double)i - half) / half : 0, root = 1 - x * x, arg = beta * sqrt(root > 0 ? root : 0);
        values[i] = exp(fabs(arg) - fabs(beta)) * bessel(arg) / bessel(beta);
    }
}

TW_API(signal_kaiser_window,
       "signal.kaiser_window(window_length: int, beta: float = 12.0, dtype: dtype = float32, name: str = None) -> tensor",
       "A Kaiser window.\n"
       "beta: how fast the window falls towards its ends")
{
    double *values = room(args->window_length, args->dtype, 1);
    if (values && args->window_length == 1)
        values[0] = 1;
    else if (values)
        kaiser(values, args->window_length, args->beta);
    return tensor_of(values, &TW_SHAPE(args->window_length), args->dtype);
}

TW_API(
    signal_kaiser_bessel_derived_window,
    "signal.kaiser_bessel_derived_window(window_length: int, beta: float = 12.0, dtype: dtype = float32, name: str = None) -> tensor",
    "The window whose squares are running sums of a Kaiser window.\n"
    "beta: how fast the window falls towards its ends")
{
    int64_t half = args->window_length / 2;
    double *values = room(args->window_length, args->dtype, 0);
    tw__owned double *steps = values ? tw__alloc_array((size_t)half + 1, sizeof *steps) : NULL;
    if (!steps) {
        tw__free(values);
        return NULL;
    }
    kaiser(steps, half + 1, args->beta);
    for (int64_t i = 1; i <= half; i++)
        steps[i] += steps[i - 1];
    for (int64_t i = 0; i < half; i++)
        values[i] = values[2 * half - 1 - i] = sqrt(steps[i] / steps[half]);
    return tensor_of(values, &TW_SHAPE(2 * half), args->dtype);
}

/* ---- mel ---- */

static double mel_of(double hertz)
{
    return 1127 * log1p(hertz / 700);
}

static bool mel_fits(int64_t bins, double rate, double lower, double upper, tw_dtype dtype)
{
    if (bins <= 0)
        tw__fail(TW_VALUE_ERROR, "num_mel_bins must be positive. Got: %lld", (long long)bins);
    else if (lower < 0)
        tw__fail(TW_VALUE_ERROR, "lower_edge_hertz must be non-negative. Got: %g", lower);
    else if (lower >= upper)
        tw__fail(TW_VALUE_ERROR, "lower_edge_hertz %.1f >= upper_edge_hertz %.1f", lower, upper);
    else if (!(rate > 0))
        tw__fail(TW_VALUE_ERROR, "sample_rate must be positive. Got: %g", rate);
    else if (upper > rate / 2)
        tw__fail(TW_VALUE_ERROR,
                 "upper_edge_hertz must not be larger than the Nyquist frequency (sample_rate / 2). Got %g for sample_rate: %g",
                 upper, rate);
    else if (!tw__dtype_is_float(dtype))
        tw__fail(TW_VALUE_ERROR, "dtype must be a floating point type. Got: <dtype: '%s'>", tw_dtype_name(dtype));
    else
        return true;
    return false;
}

TW_API(signal_linear_to_mel_weight_matrix,
       "signal.linear_to_mel_weight_matrix(num_mel_bins: int = 20, num_spectrogram_bins: int = 129, sample_rate: float = 8000, "
       "lower_edge_hertz: float = 125.0, upper_edge_hertz: float = 3800.0, dtype: dtype = float32, name: str = None) -> tensor",
       "What spectrograms are multiplied with to get bins of the mel scale: triangles over the frequencies.\n"
       "num_mel_bins: how many bins of the mel scale there are\n"
       "num_spectrogram_bins: how many bins the spectrogram has: half the length of the transform, and one\n"
       "sample_rate: how many samples there are in a second\n"
       "lower_edge_hertz: the lowest frequency that counts\n"
       "upper_edge_hertz: the highest frequency that counts\n"
       "returns: a matrix [num_spectrogram_bins, num_mel_bins]")
{
    int64_t mels = args->num_mel_bins, bins = args->num_spectrogram_bins, count;
    double lower = mel_of(args->lower_edge_hertz), upper = mel_of(args->upper_edge_hertz);
    if (!mel_fits(mels, args->sample_rate, args->lower_edge_hertz, args->upper_edge_hertz, args->dtype))
        return NULL;
    if (bins < 1 || __builtin_mul_overflow(mels, bins, &count) || count > LARGEST) {
        tw__fail(TW_VALUE_ERROR, "linear_to_mel_weight_matrix: a matrix of %lld x %lld", (long long)bins, (long long)mels);
        return NULL;
    }
    double *values = tw__alloc_array((size_t)count, sizeof *values), step = (upper - lower) / (double)(mels + 1);
    for (int64_t i = 1; values && i < bins; i++) { /* frequency zero is in no bin */
        double mel = mel_of(args->sample_rate / 2 * (double)i / (double)(bins - 1));
        for (int64_t m = 0; m < mels; m++) {
            double left = lower + step * (double)m, rise = (mel - left) / step, fall = (left + 2 * step - mel) / step;
            double least = rise < fall ? rise : fall;
            values[i * mels + m] = least > 0 ? least : 0;
        }
    }
    return tensor_of(values, &TW_SHAPE(bins, mels), args->dtype);
}
