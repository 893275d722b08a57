/* Inner loops over elements: arithmetic, comparison, functions, casts, selection, with broadcasting.
 *
 * A loop exists per operation and dtype and knows only rows of memory; the drivers (broadcast.c) cut an operation into rows,
 * collapse dimensions, spread large work over the threads, and let half and bfloat16 run through the float loops, tile by tile.
 * An output may lie exactly on an input; otherwise they don't overlap. */
#ifndef TW_KERNEL_H
#define TW_KERNEL_H

#include "tensor/tensor.h"

/* ---- operations of two values (elementwise_*.c) ---- */
typedef enum tw__row { TW_ROW_BOTH, TW_ROW_X_SCALAR, TW_ROW_Y_SCALAR } tw__row; /* which input advances along the row */
typedef void tw__binary_loop(const void *x, const void *y, void *z, int64_t count, tw__row row);

typedef struct tw__binary {
    tw__binary_loop *loops[TW_DTYPE_LIMIT]; /* NULL: not for this dtype; half and bfloat16 take float's */
    bool gives_bool;
    bool slow; /* worth a thread for fewer elements */
} tw__binary;

/* The row of an op declares the loop that it runs (rows.h); these are called by name, too. */
extern const tw__binary tw__binary_add, tw__binary_subtract, tw__binary_multiply, tw__binary_divide, tw__binary_floor_divide,
    tw__binary_floor_modulo, tw__binary_modulo, tw__binary_maximum, tw__binary_minimum, tw__binary_power,
    tw__binary_squared_difference, tw__binary_equal, tw__binary_not_equal;

bool tw__binary_has(const tw__binary *operation, tw_dtype dtype);
/* z = operation(x, y). z has the broadcast shape of x and y, and the dtype `dtype` (bool if the operation gives bool). */
void tw__binary_run(const tw__binary *operation, tw_dtype dtype, const void *x, const tw_shape *x_shape, const void *y,
                    const tw_shape *y_shape, void *z, const tw_shape *z_shape);
/* The same on `count` elements in a row. */
void tw__binary_row(const tw__binary *operation, tw_dtype dtype, const void *x, const void *y, void *z, int64_t count,
                    tw__row row);

/* ---- functions of one value ---- */
typedef void tw__unary_loop(const void *x, void *y, int64_t count);

typedef struct tw__unary {
    tw__unary_loop *loops[TW_DTYPE_LIMIT];
    bool gives_bool;
    bool gives_real; /* of complex values */
    bool slow;
} tw__unary;

extern const tw__unary tw__unary_relu, tw__unary_relu6, tw__unary_floor, tw__unary_digamma;
extern const tw__unary tw__unary_truncate; /* towards zero; a part of TruncateDiv, no op of its own */

bool tw__unary_has(const tw__unary *operation, tw_dtype dtype);
void tw__unary_run(const tw__unary *operation, tw_dtype dtype, const void *x, void *y, int64_t count);

/* ---- half and bfloat16 in rows (elementwise_half.c) ---- */
void tw__half_row_to_float(const uint16_t *from, float *to, int64_t count);
void tw__float_row_to_half(const float *from, uint16_t *to, int64_t count);
void tw__bfloat16_row_to_float(const uint16_t *from, float *to, int64_t count);
void tw__float_row_to_bfloat16(const float *from, uint16_t *to, int64_t count);
/* By dtype, which is one of the two. */
void tw__small_float_read(tw_dtype dtype, const void *from, float *to, int64_t count);
void tw__small_float_write(tw_dtype dtype, const float *from, void *to, int64_t count);

/* ---- casts (cast.c) ---- */
bool tw__cast_has(tw_dtype from, tw_dtype to);
/* As TensorFlow's Cast. `truncate`: floats lose the bits that don't fit instead of being rounded. */
void tw__cast_run(tw_dtype from, tw_dtype to, const void *x, void *y, int64_t count, bool truncate);

/* ---- broadcasting (broadcast.c) ---- */
enum { TW_BROADCAST_INPUTS = 3 };

/* The output's dimensions with adjacent ones joined where every input allows it; strides in elements, 0 where an input repeats.
 * The last dimension is the row: its strides are 0 or 1. */
typedef struct tw__broadcast {
    int rank; /* at least 1 */
    int64_t dims[TW_MAX_RANK];
    int64_t strides[TW_BROADCAST_INPUTS][TW_MAX_RANK];
    int64_t rows; /* product of all dimensions but the last */
} tw__broadcast;

void tw__broadcast_plan(tw__broadcast *plan, const tw_shape *output, const tw_shape *const *inputs, int input_count);
/* The element of input `input` that row number `row` begins with. */
int64_t tw__broadcast_offset(const tw__broadcast *plan, int input, int64_t row);

/* ---- selection (select.c) ---- */
/* z = condition ? x : y, for elements of 1, 2, 4, 8 or 16 bytes. */
void tw__select_run(size_t element_size, const bool *condition, const tw_shape *condition_shape, const void *x,
                    const tw_shape *x_shape, const void *y, const tw_shape *y_shape, void *z, const tw_shape *z_shape);

#endif
