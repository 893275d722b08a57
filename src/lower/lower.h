/* Inside of this folder: how lowerings are written. What others see of them is program.h.
 *
 * A lowering (a row of a table) writes what one call computes, by the functions of this header, each of which appends an
 * operation and gives its result. Shapes are all known. A lowering that can't express a call says false, before it writes
 * anything that matters: the op then runs on the host.
 *
 *     static bool lower_softsign(tw__lowering *l)
 *     {
 *         tw__hlo x = l->inputs[0];
 *         return tw__lower_give(l, 0, tw__hlo_binary(l, "divide", x, tw__hlo_binary(l, "add", tw__hlo_fill(l, x, 1),
 * tw__hlo_unary(l, "abs", x))));
 *     }
 */
#ifndef TW_LOWER_H
#define TW_LOWER_H

#include "lower/program.h"

typedef bool tw__lower_function(tw__lowering *lowering);
struct tw__lower_row {
    const char *op;
    tw__lower_function *function;
    const char *argument; /* what the function is told: the name of an operation, mostly */
};

/* The tables of the files in this folder. */
extern const tw__lower_row tw__lower_elementwise[], tw__lower_shapes[], tw__lower_reductions[], tw__lower_products[],
    tw__lower_pictures[], tw__lower_state[], tw__lower_numbers[], tw__lower_moves[], tw__lower_rows[], tw__lower_matrices[],
    tw__lower_volumes[], tw__lower_updates[], tw__lower_order[], tw__lower_resize[], tw__lower_recurrent[], tw__lower_random[];

/* ---- results ---- */
bool tw__lower_give(tw__lowering *l, int output, tw__hlo value);

/* The integers of an input whose value is known; at most `limit`. */
bool tw__lower_ints(const tw__lowering *l, int input, int64_t *values, int limit, int *count);
bool tw__lower_axis(const tw__lowering *l, int input, int rank, int *axis); /* one of `rank` axes */

/* What a StridedSlice takes of a shape: per dimension begin, end, stride. `first` is the input with the begins. Strides are
 * positive. */
typedef struct tw__region {
    int64_t begin[TW_MAX_RANK], end[TW_MAX_RANK], stride[TW_MAX_RANK];
    tw_shape kept; /* the result's shape with the dimensions of single indices, without new ones */
} tw__region;
bool tw__lower_region(const tw__lowering *l, const tw_shape *from, int first, tw__region *r);

/* ---- variables ---- */
/* The variable behind an input, whose value has this dtype and shape; false: it has others. */
bool tw__lower_read(tw__lowering *l, int input, tw_dtype dtype, const tw_shape *shape, tw__hlo *value);
bool tw__lower_write(tw__lowering *l, int input, tw__hlo value);
/* The same of a variable whose shape the plan knows (the input's). */
bool tw__lower_variable(tw__lowering *l, int input, tw_dtype dtype, tw__hlo *value);

/* ---- operations ---- */
tw__hlo tw__hlo_unary(tw__lowering *l, const char *name, tw__hlo x);
tw__hlo tw__hlo_chlo(tw__lowering *l, const char *name, tw__hlo x);              /* of the dialect chlo */
tw__hlo tw__hlo_binary(tw__lowering *l, const char *name, tw__hlo a, tw__hlo b); /* broadcasts */
tw__hlo tw__hlo_compare(tw__lowering *l, const char *direction, tw__hlo a, tw__hlo b);
tw__hlo tw__hlo_select(tw__lowering *l, tw__hlo condition, tw__hlo a, tw__hlo b); /* broadcasts */
tw__hlo tw__hlo_convert(tw__lowering *l, tw__hlo x, tw_dtype dtype);
tw__hlo tw__hlo_constant(tw__lowering *l, tw_dtype dtype, const tw_shape *shape, double value); /* all elements alike */
tw__hlo tw__hlo_fill(tw__lowering *l, tw__hlo like, double value);
tw__hlo tw__hlo_tensor(tw__lowering *l, const tw_tensor *tensor);                                             /* a constant */
tw__hlo tw__hlo_bytes(tw__lowering *l, tw_dtype dtype, const tw_shape *shape, const void *data, size_t size); /* no booleans */
tw__hlo tw__hlo_infinity(tw__lowering *l, tw_dtype dtype, bool negative); /* a scalar: the least or greatest value of integers */
tw__hlo tw__hlo_broadcast(tw__lowering *l, tw__hlo x, const tw_shape *shape);                     /* as NumPy's rules say */
tw__hlo tw__hlo_broadcast_in(tw__lowering *l, tw__hlo x, const tw_shape *shape, const int *dims); /* x's dimensions are these */
tw__hlo tw__hlo_reshape(tw__lowering *l, tw__hlo x, const tw_shape *shape);
tw__hlo tw__hlo_transpose(tw__lowering *l, tw__hlo x, const int *order);
tw__hlo tw__hlo_reverse(tw__lowering *l, tw__hlo x, unsigned dims);
tw__hlo tw__hlo_slice(tw__lowering *l, tw__hlo x, const int64_t *begin, const int64_t *end, const int64_t *stride);
tw__hlo tw__hlo_pad(tw__lowering *l, tw__hlo x, tw__hlo value, const int64_t *low, const int64_t *high, const int64_t *between);
tw__hlo tw__hlo_concatenate(tw__lowering *l, const tw__hlo *parts, int count, int dim);
tw__hlo tw__hlo_iota(tw__lowering *l, tw_dtype dtype, const tw_shape *shape, int dim);
/* "add", "multiply", "maximum", "minimum", "and", "or" over dimensions, as bits; they are gone afterwards. */
tw__hlo tw__hlo_reduce(tw__lowering *l, const char *name, tw__hlo x, unsigned dims);
tw__hlo tw__hlo_dot(tw__lowering *l, tw__hlo a, tw__hlo b, int batch_count, int contract_a, int contract_b);
/* A window per dimension: see reduce_window. `pads` are pairs; base dilations may be NULL. */
tw__hlo tw__hlo_window(tw__lowering *l, const char *name, tw__hlo x, const int64_t *window, const int64_t *strides,
                       const int64_t *dilations, const int64_t *pads, const tw_shape *shape);
/* To each window's greatest element, the first of equal ones, its element of dy; what several windows give is added up. */
tw__hlo tw__hlo_select_and_scatter(tw__lowering *l, tw__hlo x, tw__hlo dy, const int64_t *window, const int64_t *strides,
                                   const int64_t *pads);
tw__hlo tw__hlo_neutral(tw__lowering *l, const char *name, tw_dtype dtype); /* what changes nothing under an operation */

/* ---- rows of tables (rows.c) ---- */
/* Slices of x by indices, whose last dimension holds `depth` numbers for the dimensions from `axis` on. The first `batch`
 * dimensions of both go together. The result has x's dimensions up to the axis, those of the indices, and the rest of x's. */
tw__hlo tw__hlo_gather(tw__lowering *l, tw__hlo x, tw__hlo indices, int batch, int axis, int depth);
/* x with slices changed by an operation ("add", …; NULL: replaced), at indices of the first `depth` dimensions. What is not there
 * is left out. */
tw__hlo tw__hlo_scatter(tw__lowering *l, const char *name, tw__hlo x, tw__hlo indices, tw__hlo updates, int depth);
/* The same by rows: indices have no last dimension. */
tw__hlo tw__hlo_scatter_rows(tw__lowering *l, const char *name, tw__hlo x, tw__hlo indices, tw__hlo updates);
/* Rows of x, by indices of its first dimension; NaN where there is none. `known`: all are there. */
tw__hlo tw__hlo_rows(tw__lowering *l, tw__hlo x, tw__hlo indices, int axis, int batch, bool known);
/* Whether the indices are known, and all of [0, size). */
bool tw__lower_within(tw__hlo indices, int64_t size);
/* Sorts along a dimension, stably; `places` become the numbers that the elements had before. "LT": ascending. */
tw__hlo tw__hlo_sort(tw__lowering *l, const char *direction, tw__hlo x, int dim, tw_dtype places_dtype, tw__hlo *places);

/* Any operation in one line: "stablehlo.…", with %0, %1 for the operands; types follow. */
tw__hlo tw__hlo_line(tw__lowering *l, tw_dtype dtype, const tw_shape *shape, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* ---- pieces of text ---- */
void tw__hlo_type(tw__text *text, tw_dtype dtype, const tw_shape *shape); /* "tensor<2x3xf32>" */
const char *tw__hlo_dtype(tw_dtype dtype);                                /* "f32"; NULL: there is none */
void tw__hlo_ints(tw__text *text, const int64_t *values, int count);      /* "1, 2" */
/* The type of a value, as text, in one of 8 buffers of the thread, used in turn. */
const char *tw__hlo_type_text(tw__hlo value);

#endif
