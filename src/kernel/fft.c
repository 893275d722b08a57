/* Fourier transforms of one line: see fft.h. */
#include <math.h>

#include "kernel/fft.h"

enum { MOST_PASSES = 64, MOST_RADIX = 13 };

struct tw__fft {
    int64_t length;
    int passes, radix[MOST_PASSES];
    tw__cnum *roots; /* exp(-2 pi i k / length) */
    /* Of a length with a large prime factor: */
    tw__fft *inner;   /* of a power of two, at least 2 length - 1 */
    tw__cnum *chirp;  /* exp(-pi i k k / length) */
    tw__cnum *kernel; /* the transform of its conjugate, divided by inner's length */
};

static tw__cnum times(tw__cnum a, tw__cnum b)
{
    return (tw__cnum){ a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re };
}

static tw__cnum plus(tw__cnum a, tw__cnum b)
{
    return (tw__cnum){ a.re + b.re, a.im + b.im };
}

static tw__cnum minus(tw__cnum a, tw__cnum b)
{
    return (tw__cnum){ a.re - b.re, a.im - b.im };
}

/* By the angle's eighth of the circle, so that it is as exact as it can be. */
tw__cnum tw__fft_root(int64_t k, int64_t n)
{
    int64_t eight = 8 * (k % n), eighth = eight / n, rest = eight % n;
    double angle = M_PI / 4 * (double)(eighth % 2 ? n - rest : rest) / (double)n, c = cos(angle), s = sin(angle);
    switch (eighth) {
    case 0:
        return (tw__cnum){ c, -s };
    case 1:
        return (tw__cnum){ s, -c };
    case 2:
        return (tw__cnum){ -s, -c };
    case 3:
        return (tw__cnum){ -c, -s };
    case 4:
        return (tw__cnum){ -c, s };
    case 5:
        return (tw__cnum){ -s, c };
    case 6:
        return (tw__cnum){ s, c };
    default:
        return (tw__cnum){ c, s };
    }
}

/* ---- passes: lengths n = radix * m of lines that lie `stride` apart ---- */

static void pass_two(const tw__cnum *x, tw__cnum *y, int64_t m, int64_t stride, const tw__cnum *roots)
{
    for (int64_t p = 0; p < m; p++) {
        tw__cnum w = roots[p * stride];
        const tw__cnum *a = x + stride * p, *b = a + stride * m;
        tw__cnum *to = y + stride * 2 * p;
        for (int64_t q = 0; q < stride; q++) {
            to[q] = plus(a[q], b[q]);
            to[q + stride] = times(minus(a[q], b[q]), w);
        }
    }
}

static void pass_three(const tw__cnum *x, tw__cnum *y, int64_t m, int64_t stride, const tw__cnum *roots)
{
    const double half_root = 0.86602540378443864676;
    for (int64_t p = 0; p < m; p++) {
        tw__cnum w1 = roots[p * stride], w2 = roots[2 * p * stride];
        const tw__cnum *a = x + stride * p, *b = a + stride * m, *c = b + stride * m;
        tw__cnum *to = y + stride * 3 * p;
        for (int64_t q = 0; q < stride; q++) {
            tw__cnum sum = plus(b[q], c[q]), difference = minus(b[q], c[q]);
            tw__cnum middle = { a[q].re - 0.5 * sum.re, a[q].im - 0.5 * sum.im };
            tw__cnum turn = { half_root * difference.im, -half_root * difference.re };
            to[q] = plus(a[q], sum);
            to[q + stride] = times(plus(middle, turn), w1);
            to[q + 2 * stride] = times(minus(middle, turn), w2);
        }
    }
}

static void pass_four(const tw__cnum *x, tw__cnum *y, int64_t m, int64_t stride, const tw__cnum *roots)
{
    for (int64_t p = 0; p < m; p++) {
        tw__cnum w1 = roots[p * stride], w2 = roots[2 * p * stride], w3 = roots[3 * p * stride];
        const tw__cnum *a = x + stride * p, *b = a + stride * m, *c = b + stride * m, *d = c + stride * m;
        tw__cnum *to = y + stride * 4 * p;
        for (int64_t q = 0; q < stride; q++) {
            tw__cnum ac = plus(a[q], c[q]), bd = plus(b[q], d[q]), a_c = minus(a[q], c[q]), b_d = minus(b[q], d[q]);
            tw__cnum turned = { b_d.im, -b_d.re }; /* times -i */
            to[q] = plus(ac, bd);
            to[q + stride] = times(plus(a_c, turned), w1);
            to[q + 2 * stride] = times(minus(ac, bd), w2);
            to[q + 3 * stride] = times(minus(a_c, turned), w3);
        }
    }
}

static void pass_any(const tw__cnum *x, tw__cnum *y, int64_t m, int64_t stride, const tw__cnum *roots, int radix, int64_t length)
{
    tw__cnum turns[MOST_RADIX], in[MOST_RADIX];
    for (int k = 0; k < radix; k++)
        turns[k] = roots[length / radix * k];
    for (int64_t p = 0; p < m; p++) {
        const tw__cnum *from = x + stride * p;
        tw__cnum *to = y + stride * radix * p;
        for (int64_t q = 0; q < stride; q++) {
            for (int k = 0; k < radix; k++)
                in[k] = from[q + stride * m * k];
            for (int j = 0; j < radix; j++) {
                tw__cnum sum = in[0];
                for (int k = 1; k < radix; k++)
                    sum = plus(sum, times(in[k], turns[j * k % radix]));
                to[q + stride * j] = times(sum, roots[p * j * stride]);
            }
        }
    }
}

static void by_passes(const tw__fft *plan, tw__cnum *line, tw__cnum *work)
{
    tw__cnum *x = line, *y = work;
    int64_t n = plan->length, stride = 1;
    for (int i = 0; i < plan->passes; i++) {
        int radix = plan->radix[i];
        int64_t m = n / radix;
        if (radix == 2)
            pass_two(x, y, m, stride, plan->roots);
        else if (radix == 3)
            pass_three(x, y, m, stride, plan->roots);
        else if (radix == 4)
            pass_four(x, y, m, stride, plan->roots);
        else
            pass_any(x, y, m, stride, plan->roots, radix, plan->length);
        tw__cnum *other = x;
        x = y;
        y = other;
        n = m;
        stride *= radix;
    }
    if (x != line)
        memcpy(line, x, (size_t)plan->length * sizeof *line);
}

/* ---- any length: with j k = (j j + k k - (k - j)^2) / 2 the sum is a convolution with a chirp ---- */

static void by_chirp(const tw__fft *plan, tw__cnum *line, tw__cnum *work)
{
    int64_t n = plan->length, size = plan->inner->length;
    tw__cnum *wide = work, *rest = work + size;
    for (int64_t k = 0; k < n; k++)
        wide[k] = times(line[k], plan->chirp[k]);
    memset(wide + n, 0, (size_t)(size - n) * sizeof *wide);
    by_passes(plan->inner, wide, rest);
    for (int64_t k = 0; k < size; k++) {
        tw__cnum product = times(wide[k], plan->kernel[k]);
        wide[k] = (tw__cnum){ product.re, -product.im }; /* forward of the conjugate is backward */
    }
    by_passes(plan->inner, wide, rest);
    for (int64_t k = 0; k < n; k++)
        line[k] = times((tw__cnum){ wide[k].re, -wide[k].im }, plan->chirp[k]);
}

static bool make_chirp(tw__fft *plan)
{
    int64_t n = plan->length, size = 1;
    while (size < 2 * n - 1)
        size *= 2;
    plan->inner = tw__fft_new(size);
    plan->chirp = tw__alloc_array((size_t)n, sizeof *plan->chirp);
    plan->kernel = tw__alloc_array((size_t)size, sizeof *plan->kernel);
    tw__cnum *work = tw__alloc_array((size_t)size, sizeof *work);
    bool made = plan->inner && plan->chirp && plan->kernel && work;
    for (int64_t k = 0, square = 0; made && k < n; k++) {
        plan->chirp[k] = tw__fft_root(square, 2 * n);
        tw__cnum value = { plan->chirp[k].re / (double)size, -plan->chirp[k].im / (double)size };
        plan->kernel[k] = value;
        plan->kernel[(size - k) % size] = value;
        square = (square + 2 * k + 1) % (2 * n); /* of k + 1 */
    }
    if (made)
        by_passes(plan->inner, plan->kernel, work);
    tw__free(work);
    return made;
}

/* ---- plans ---- */

/* Fills in the radices; false: a prime factor is too large. */
static bool factor(tw__fft *plan)
{
    int64_t rest = plan->length;
    static const int first[] = { 4, 2, 3, 5, 7, 11, 13 };
    for (size_t i = 0; i < sizeof first / sizeof *first; i++) {
        while (rest % first[i] == 0) {
            plan->radix[plan->passes++] = first[i];
            rest /= first[i];
        }
    }
    return rest == 1;
}

tw__fft *tw__fft_new(int64_t length)
{
    tw__fft *plan = length < INT64_MAX / 16 ? tw__alloc_zero(sizeof *plan) : NULL;
    if (!plan) {
        tw__no_memory((size_t)length);
        return NULL;
    }
    plan->length = length;
    bool made;
    if (factor(plan)) {
        plan->roots = tw__alloc_array((size_t)length, sizeof *plan->roots);
        made = plan->roots != NULL;
        for (int64_t k = 0; made && k < length; k++)
            plan->roots[k] = tw__fft_root(k, length);
    } else {
        made = make_chirp(plan);
    }
    if (made)
        return plan;
    tw__fft_free(plan);
    return NULL;
}

void tw__fft_free(tw__fft *plan)
{
    if (!plan)
        return;
    tw__fft_free(plan->inner);
    tw__free(plan->roots);
    tw__free(plan->chirp);
    tw__free(plan->kernel);
    tw__free(plan);
}

int64_t tw__fft_work(const tw__fft *plan)
{
    return plan->inner ? 2 * plan->inner->length : plan->length;
}

void tw__fft_forward(const tw__fft *plan, tw__cnum *line, tw__cnum *work)
{
    if (plan->inner)
        by_chirp(plan, line, work);
    else
        by_passes(plan, line, work);
}

static void exchange(tw__cnum *line, int64_t length)
{
    for (int64_t k = 0; k < length; k++) {
        double part = line[k].re;
        line[k].re = line[k].im;
        line[k].im = part;
    }
}

void tw__fft_backward(const tw__fft *plan, tw__cnum *line, tw__cnum *work)
{
    exchange(line, plan->length); /* the transform of i conj(x) is i conj(that with the other sign) */
    tw__fft_forward(plan, line, work);
    exchange(line, plan->length);
}
