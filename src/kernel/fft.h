/* Fourier transforms of one line of complex doubles. A length whose prime factors are small is done by passes of radix 4, 2, 3, 5
 * …, each from one array into the other (Stockham), any other length as a convolution (Bluestein). Whoever transforms several
 * axes, or numbers of another dtype, moves lines in and out. */
#ifndef TW_KERNEL_FFT_H
#define TW_KERNEL_FFT_H

#include "base/base.h"

typedef struct tw__cnum {
    double re, im;
} tw__cnum;

typedef struct tw__fft tw__fft;

/* The plan of one length, at least 1; threads may share it. NULL: no memory. */
tw__fft *tw__fft_new(int64_t length);
void tw__fft_free(tw__fft *plan);
tw__cnum tw__fft_root(int64_t k, int64_t n); /* exp(-2 pi i k / n), 0 <= k */
int64_t tw__fft_work(const tw__fft *plan);   /* how many numbers of room the functions below need */

/* line[k] = sum of line[j] exp(-2 pi i j k / length). */
void tw__fft_forward(const tw__fft *plan, tw__cnum *line, tw__cnum *work);
/* The same with exp(+ …); nothing is divided. */
void tw__fft_backward(const tw__fft *plan, tw__cnum *line, tw__cnum *work);

#endif
