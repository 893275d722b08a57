/* From calls of ops to StableHLO text, which PJRT plug-ins compile (device/pjrt.h): what the library and the lowerings see of
 * each other.
 *
 * The lowerings are a shared object of their own, libthalweg-pjrt.so, which stands beside the library and is opened when the
 * first function is to run on a plug-in (exec/plugin.c). It uses nothing of the library but the functions that it is given then.
 */
#ifndef TW_PROGRAM_H
#define TW_PROGRAM_H

#include "op/nn/conv.h"
#include "op/op.h"

/* A value of the program: %id. */
typedef struct tw__hlo {
    int32_t id; /* -1: none; -2 - k: variable k of the program (a handle) */
    tw_dtype dtype;
    tw_shape shape;      /* of a handle: the variable's; unknown: it is not known */
    tw_tensor *constant; /* its value where that is known; borrowed. Else NULL */
    bool distinct;       /* indices of which none comes twice, but -1 */
} tw__hlo;

/* A variable that the program reads or changes. */
typedef struct tw__hlo_variable {
    int32_t argument; /* the %id that it has at the start; -1: nobody asked yet */
    tw__hlo now;      /* its present value; dtype TW_DTYPE_NONE: not known yet */
    bool changed;
} tw__hlo_variable;

typedef struct tw__lower_row tw__lower_row;
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

/* ---- a whole program ---- */
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

/* An operation with regions, written in this order: begin, then per region begin, what is in it, end; end. Results and arguments
 * have their dtypes and shapes, and get their ids. */
typedef struct tw__flow_writer {
    void (*begin)(tw__lowering *l, const char *name, const tw__hlo *operands, int operand_count, tw__hlo *results,
                  int result_count);
    void (*region_begin)(tw__lowering *l, bool first, tw__hlo *arguments, int count);
    void (*region_end)(tw__lowering *l, const tw__hlo *results, int count);
    void (*end)(tw__lowering *l, const tw__hlo *operands, int operand_count, const tw__hlo *results, int result_count);
} tw__flow_writer;

/* ---- the two sides ---- */
/* What libthalweg-pjrt.so gives. */
typedef struct tw__lowerings {
    const char *version; /* TW_VERSION of the library that it belongs to */
    size_t size;         /* of this struct */
    /* The op's name; NULL: no such row, or no lowering. */
    const char *(*name_at)(int index);
    bool (*has)(const tw_op *op);
    void (*begin)(tw__program_writer *w, bool processor);
    void (*end)(tw__program_writer *w);
    tw_status (*argument)(tw__program_writer *w, tw_dtype dtype, const tw_shape *shape, tw__hlo *value);
    tw_status (*variable)(tw__program_writer *w, tw__hlo *value);
    tw__hlo (*constant)(tw__program_writer *w, const tw_tensor *tensor);
    /* Whether the call can be lowered: nothing is kept of the try. */
    bool (*takes)(const tw_op *op, const tw_attr *attrs, const tw__hlo *inputs, int input_count, tw__hlo *outputs,
                  int output_count, bool processor);
    /* Writes a call; false: it can't be lowered after all. */
    bool (*call)(tw__program_writer *w, const tw_op *op, const tw_attr *attrs, const tw__hlo *inputs, int input_count,
                 tw__hlo *outputs, int output_count);
    /* The program: arguments and then the variables that are used, donated where they change; results and then the new values of
     * variables that changed. */
    tw_status (*text)(tw__program_writer *w, const tw__hlo *results, int result_count, tw__text *text);
    const tw__flow_writer *flow;
} tw__lowerings;

/* What it gets: functions of the library under their own names (host.c). */
#define TW_LOWER_HOST(X)                                                                                                   \
    X(void *, tw__alloc_array, (size_t count, size_t size), (count, size))                                                 \
    X(void, tw__free, (void *memory), (memory))                                                                            \
    X(tw_status, tw__grow, (void *items, size_t *capacity, size_t need, size_t size), (items, capacity, need, size))       \
    X(tw_status, tw__error_status, (void), ())                                                                             \
    X(void, tw_clear_error, (void), ())                                                                                    \
    X(void, tw__text_bytes, (tw__text * text, const void *data, size_t size), (text, data, size))                          \
    X(void, tw__text_free, (tw__text * text), (text))                                                                      \
    X(bool, tw__dtype_is_float, (tw_dtype dtype), (dtype))                                                                 \
    X(bool, tw__dtype_is_integer, (tw_dtype dtype), (dtype))                                                               \
    X(bool, tw__dtype_is_complex, (tw_dtype dtype), (dtype))                                                               \
    X(bool, tw__shape_known, (const tw_shape *shape), (shape))                                                             \
    X(bool, tw__shape_equal, (const tw_shape *a, const tw_shape *b), (a, b))                                               \
    X(bool, tw__shape_broadcast, (const tw_shape *a, const tw_shape *b, tw_shape *out), (a, b, out))                       \
    X(tw_status, tw__shape_count, (const tw_shape *shape, int64_t *count), (shape, count))                                 \
    X(size_t, tw_tensor_bytes, (const tw_tensor *tensor), (tensor))                                                        \
    X(tw_status, tw__tensor_read_ints, (const tw_tensor *tensor, const char *what, int64_t *values, int64_t limit),        \
      (tensor, what, values, limit))                                                                                       \
    X(const tw_attr *, tw__attr_find, (const tw_op *op, const tw_attr *attrs, const char *name), (op, attrs, name))        \
    X(tw_status, tw__conv_read, (tw__conv_case * of, const tw_op *op, const tw_attr *attrs), (of, op, attrs))              \
    X(tw_status, tw__conv_fit, (tw__conv_case * of, const tw_shape *in, const tw_shape *filter, const tw_shape *gradient), \
      (of, in, filter, gradient))                                                                                          \
    X(tw_status, tw__window_padding, (const tw_op *op, const tw_attr *attrs, tw__window *window), (op, attrs, window))     \
    X(tw_status, tw__window_places,                                                                                        \
      (const tw_op *op, const tw__window *window, int axis, int64_t in, int64_t size, int64_t *places, int64_t *before,    \
       int64_t *after),                                                                                                    \
      (op, window, axis, in, size, places, before, after))

typedef struct tw__lower_host {
#define TW_LOWER_MEMBER(type, name, parameters, arguments) type(*name) parameters;
    TW_LOWER_HOST(TW_LOWER_MEMBER)
#undef TW_LOWER_MEMBER
} tw__lower_host;

/* Inside of it: program.c, flow.c. */
extern const tw__lowerings tw__lowerings_table;
extern const tw__flow_writer tw__lower_flow;

/* The one symbol that it exports: tw__lowerings_open. */
typedef const tw__lowerings *tw__lowerings_function(const tw__lower_host *host);

#endif
