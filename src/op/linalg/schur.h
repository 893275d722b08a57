/* Schur's form of a square matrix: A = Q T Q^H, T upper triangular and Q unitary, in complex double. */
#ifndef TW_SCHUR_H
#define TW_SCHUR_H

#include <complex.h>
#include <stdbool.h>
#include <stdint.h>
#undef I

/* a (n x n, in C order) becomes T; q gets Q. False: no convergence. */
bool tw__schur(double complex *a, int64_t n, double complex *q);

#endif
