/* Decompositions of complex matrices: matrix_body.h with double complex elements. */
#include <complex.h>
#undef I

typedef double complex element;
#define CONJ(x) conj(x)
#define MODULUS(x) cabs(x)
#define REAL(x) creal(x)
#define SPEED
#define KIT tw__complex_matrices
#include "op/linalg/matrix_body.h"
