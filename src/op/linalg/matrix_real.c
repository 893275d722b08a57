/* Decompositions of real matrices: matrix_body.h with double elements. */
typedef double element;
#define CONJ(x) (x)
#define MODULUS(x) fabs(x)
#define REAL(x) (x)
#define SPEED TW_CLONES
#define KIT tw__real_matrices
#include "op/linalg/matrix_body.h"
