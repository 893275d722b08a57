/* Between print.c and print_float.c: floating-point numbers as decimal digits. */
#ifndef TW_PRINT_H
#define TW_PRINT_H

#include "tensor/tensor.h"

/* ±0.DIGITS × 10^point; zero has the one digit 0 and point 1. Finite numbers only. */
typedef struct tw__decimal {
    bool negative;
    int count, point;
    char digits[24];
} tw__decimal;

/* The fewest digits that read back as the same number of that dtype (a float one; the parts of complex ones are float or double).
 */
void tw__decimal_shortest(tw__decimal *decimal, double value, tw_dtype dtype);
/* Cuts to that many digits behind the point, rounding the number itself (not its shortest digits) to nearest even. */
void tw__decimal_cut(tw__decimal *decimal, double value, int digits);
/* Exactly that many digits behind the point of the form D.DDDe±XX, but for zeros at the end. */
void tw__decimal_scientific(tw__decimal *decimal, double value, int digits);
/* As repr() of the finite number of that dtype prints it; `add_zero`: 3 as "3.0". Returns the length; `text` has room for 48
 * characters. */
int tw__float_repr(char *text, double value, tw_dtype dtype, bool add_zero);

#endif
