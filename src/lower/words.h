/* Short words for lowerings: what most of them are made of. `l` is the lowering at hand. */
#ifndef TW_LOWER_WORDS_H
#define TW_LOWER_WORDS_H

#include "lower/lower.h"

#define X l->inputs[0]
#define Y l->inputs[1]
#define BINARY(name, a, b) tw__hlo_binary(l, name, a, b)
#define UNARY(name, a) tw__hlo_unary(l, name, a)
#define COMPARE(direction, a, b) tw__hlo_compare(l, direction, a, b)
#define SELECT(condition, a, b) tw__hlo_select(l, condition, a, b)
#define GIVE(value) tw__lower_give(l, 0, value)
#define FILL(value) tw__hlo_fill(l, X, value)
#define NUMBER(dtype, value) tw__hlo_constant(l, dtype, &TW_SCALAR, value)

#endif
