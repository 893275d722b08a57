/* From calls of ops to StableHLO text, which PJRT plug-ins compile (device/pjrt.h).
 *
 * A lowering (a `TW_LOWER` row) writes what one call computes, by the functions of this header, each of which appends an
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

#include "op/op.h"

/* A value of the program: %id. */
typedef struct tw__hlo {
    int32_t id; /* -1: none; -2 - k: variable k of the program (a handle) */
    tw_dtype dtype;
    tw_shape shape;
    tw_tensor *constant; /* its value where that is known; borrowed. Else NULL */
} tw__hlo;

/* A variable that the program reads or changes. */
typedef struct tw__hlo_variable {
    int32_t argument; /* the %id that it has at the start; -1: nobody asked yet */
    tw__hlo now;      /* its present value; dtype TW_DTYPE_NONE: not known yet */
    bool changed;
} tw__hlo_variable;

typedef struct tw__lowering {
    const tw_op *op;
    const tw_attr *attrs;
    const tw__hlo *inputs;
    tw__hlo *outputs; /* with dtypes and shapes; tw__lower_give sets the id */
    int input_count, output_count;
    tw__hlo_variable *variables;
    tw__text *text;
    int32_t next;         /* the next id */
    bool processor;       /* the platform is a CPU: some forms are faster there */
    const char *argument; /* of the row */
} tw__lowering;

typedef bool tw__lower_function(tw__lowering *lowering);
typedef struct tw__lower_row {
    const char *op;
    tw__lower_function *function;
    const char *argument; /* what the function is told: the name of an operation, mostly */
} tw__lower_row;
const tw__lower_row *tw__lower_find(const tw_op *op); /* NULL: there is none */
int tw__lower_count(void);
const tw__lower_row *tw__lower_at(int index);

/* The tables of the files in this folder. */
extern const tw__lower_row tw__lower_elementwise[], tw__lower_shapes[], tw__lower_reductions[], tw__lower_products[],
    tw__lower_pictures[], tw__lower_state[];

/* ---- results ---- */
bool tw__lower_give(tw__lowering *l, int output, tw__hlo value);

/* ---- variables ---- */
/* The variable behind an input, whose value has this dtype and shape; false: it has others. */
bool tw__lower_read(tw__lowering *l, int input, tw_dtype dtype, const tw_shape *shape, tw__hlo *value);
bool tw__lower_write(tw__lowering *l, int input, tw__hlo value);

/* ---- operations ---- */
tw__hlo tw__hlo_unary(tw__lowering *l, const char *name, tw__hlo x);
tw__hlo tw__hlo_chlo(tw__lowering *l, const char *name, tw__hlo x);              /* of the dialect chlo */
tw__hlo tw__hlo_binary(tw__lowering *l, const char *name, tw__hlo a, tw__hlo b); /* broadcasts */
tw__hlo tw__hlo_compare(tw__lowering *l, const char *direction, tw__hlo a, tw__hlo b);
tw__hlo tw__hlo_select(tw__lowering *l, tw__hlo condition, tw__hlo a, tw__hlo b); /* broadcasts */
tw__hlo tw__hlo_convert(tw__lowering *l, tw__hlo x, tw_dtype dtype);
tw__hlo tw__hlo_constant(tw__lowering *l, tw_dtype dtype, const tw_shape *shape, double value); /* all elements alike */
tw__hlo tw__hlo_fill(tw__lowering *l, tw__hlo like, double value);
tw__hlo tw__hlo_tensor(tw__lowering *l, const tw_tensor *tensor);         /* a constant */
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
/* Any operation in one line: "stablehlo.…", with %0, %1 for the operands; types follow. */
tw__hlo tw__hlo_line(tw__lowering *l, tw_dtype dtype, const tw_shape *shape, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* ---- pieces of text ---- */
void tw__hlo_type(tw__text *text, tw_dtype dtype, const tw_shape *shape); /* "tensor<2x3xf32>" */
const char *tw__hlo_dtype(tw_dtype dtype);                                /* "f32"; NULL: there is none */
void tw__hlo_ints(tw__text *text, const int64_t *values, int count);      /* "1, 2" */
/* The type of a value, as text, in one of 8 buffers of the thread, used in turn. */
const char *tw__hlo_type_text(tw__hlo value);

/* ---- a whole program (program.c) ---- */
typedef struct tw__program_writer {
    tw__lowering lowering;
    tw__text body;
    tw__hlo *arguments; /* in the order of their ids */
    int argument_count;
    size_t argument_capacity;
    tw__hlo_variable *variables;
    int variable_count;
    size_t variable_capacity;
} tw__program_writer;
void tw__program_begin(tw__program_writer *w, bool processor);
void tw__program_end(tw__program_writer *w);
tw_status tw__program_argument(tw__program_writer *w, tw_dtype dtype, const tw_shape *shape, tw__hlo *value);
tw_status tw__program_variable(tw__program_writer *w, tw__hlo *value);
/* Whether the call can be lowered: nothing is kept of the try. */
bool tw__program_takes(const tw_op *op, const tw_attr *attrs, const tw__hlo *inputs, int input_count, tw__hlo *outputs,
                       int output_count, bool processor);
/* Writes a call; false: it can't be lowered after all. */
bool tw__program_call(tw__program_writer *w, const tw_op *op, const tw_attr *attrs, const tw__hlo *inputs, int input_count,
                      tw__hlo *outputs, int output_count);
/* The program: arguments and then the variables that are used, donated where they change; results and then the new values of
 * variables that changed. */
tw_status tw__program_text(tw__program_writer *w, const tw__hlo *results, int result_count, tw__text *text);

#endif
