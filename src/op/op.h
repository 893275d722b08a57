/* Ops: one table row each, with TensorFlow's own name, arguments, attributes and semantics.
 *
 *     TW_OP(Softplus,
 *         .inputs = "features: T", .outputs = "activations: T",
 *         .attrs = "T: {half, bfloat16, float, double} = float",
 *         .shape = tw_shape_same, .compute = softplus_cpu, .gradient = softplus_grad,
 *         .doc = "log(exp(features) + 1), element by element.");
 *
 * A row begins at a line's start in any .c file under src/op; the build collects rows (tools/collect_rows.py). Declared
 * names: `extern const tw_op tw__op_Softplus` in the generated "rows.h".
 *
 * The mini-language
 *   inputs, outputs   "name: type, …" in TensorFlow's order. A type is a dtype (float, int32, string, resource), a type attr (T),
 *                     a list of one type with a count attr (N * T), or a list of types (the name of a list(type) attr).
 *   attrs             "name: kind = default, …". A kind is int, float, bool, string, type, shape, tensor, func, list(kind), or
 *                     a set of allowed dtypes {float, double} or strings {'SAME', 'VALID'}. int may be bounded: "N: int >= 1".
 *                     Attrs that are types of inputs or counts of lists are found by themselves.
 *
 * A row's functions
 *   shape      from inputs' shapes (partial ones while tracing; complete ones when eager) to outputs' shapes, and every check
 *              of shapes: it runs before compute. Values of inputs may be asked for (NULL if not known).
 *   compute    fills the outputs. Their memory is made beforehand if the shape function left them complete, else by tw__output.
 *   gradient   calls ops through dispatch (tw__apply), so it works eagerly, traced and twice. NULL: not differentiable (the
 *              gradient is None), unless no_gradient says that asking is an error.
 */
#ifndef TW_OP_H
#define TW_OP_H

#include <thalweg/op.h>

#include "tensor/tensor.h"

#define TW_MAX_ATTRS 16

typedef struct tw_op tw_op;

/* While a graph is made: what is known of an integer vector among the inputs whose value is not, dimensions that are not known
 * being -1. Who infers says how to ask; false: nothing is known. */
typedef struct tw__partial_reader {
    bool (*read)(const void *context, int input, tw_shape *shape);
    const void *context;
} tw__partial_reader;

/* What the shape function sees. Lists of inputs and outputs are flat: a list input takes as many places as it has members. */
typedef struct tw__inference {
    const tw_op *op;
    int input_count, output_count;
    const tw_shape *const *shapes; /* of the inputs */
    const tw_dtype *dtypes;        /* of the inputs */
    tw_tensor *const *values;      /* of the inputs; an entry is NULL where the value is not known yet */
    const tw_attr *attrs;          /* complete, in the row's order */
    tw_shape *out_shapes;          /* unknown to begin with */
    tw_dtype *out_dtypes;          /* filled in from the row beforehand */
    tw__partial_reader partial;    /* while a graph is made */
} tw__inference;

bool tw__partial_input(const tw__inference *inference, int input, tw_shape *shape);

/* What compute sees. */
typedef struct tw__kernel {
    const tw_op *op;
    int input_count, output_count;
    tw_tensor *const *inputs;
    tw_tensor **outputs;
    const tw_attr *attrs;
    const tw_dtype *out_dtypes;
    void **state; /* one word that lives as long as this use of the op: a node in a graph; eagerly one per op and attrs. NULL if
                     none */
} tw__kernel;

/* What the gradient function sees. Outputs' gradients may be NULL (zero). It sets input_grads[i] to a new reference where it is
 * wanted; NULL means none. */
typedef struct tw__gradient {
    const tw_op *op;
    int input_count, output_count;
    tw_tensor *const *inputs;
    tw_tensor *const *outputs;
    tw_tensor *const *output_grads;
    tw_tensor **input_grads;
    const bool *wanted; /* per input */
    const tw_attr *attrs;
} tw__gradient;

/* Whether the name of an op's node is a scope for the constants that were made for it ("mul/y"). */
typedef enum tw__scoping {
    TW_SCOPE_NONE,
    TW_SCOPE_OPERATOR, /* only if an operator made the node: "mul", not the function's "Mul" */
    TW_SCOPE_ALWAYS,
} tw__scoping;

/* The ops that graphs are held together by. */
typedef enum tw__role {
    TW_ROLE_NONE,
    TW_ROLE_CONSTANT,
    TW_ROLE_PLACEHOLDER, /* an argument, or what is captured */
    TW_ROLE_VARIABLE,    /* the handle of a variable */
    TW_ROLE_READ,        /* the value of a variable */
    TW_ROLE_ASSIGN,      /* AssignVariableOp and its kin of sums */
    TW_ROLE_CALL,        /* of a function */
    TW_ROLE_BRANCH,      /* If, Case */
    TW_ROLE_LOOP,
} tw__role;

/* Kernels that use one thread, and from what sizes on they take long: such calls run side by side. */
typedef enum tw__one_thread { TW_THREADS_ANY, TW_ONE_THREAD_MATRIX, TW_ONE_THREAD_VECTOR } tw__one_thread;

struct tw__wording;      /* wording.h */
struct tw__partial_call; /* partial.h */

typedef struct tw__op_signature *_Atomic tw__signature_slot;

struct tw_op {
    union {
        const char *name;
        const char *function; /* the function that passes its arguments to this op, as a signature (spec/spec.h): tensors are the
                                 inputs, others attrs of the same names; its doc is the op's. tools/collect_rows.py makes it */
        const char *doc;      /* like `function` it is for tools/collect_rows.py: the name takes its place (TW_WRITTEN) */
    };
    tw__signature_slot *signature; /* the parsed row, once it was asked for: tw__op_signature_of */
    const char *inputs, *outputs, *attrs;
    tw_status (*shape)(tw__inference *inference);
    tw_status (*compute)(tw__kernel *kernel);
    tw_status (*gradient)(tw__gradient *gradient);
    /* What compute is for floats, and nothing more: a loop over the elements (kernel/kernel.h), which tw__unary_compute and
     * tw__binary_compute run, and the planner may run several of in one pass over memory. The row declares it. */
    const struct tw__unary *unary;
    const struct tw__binary *binary;
    void (*free_state)(void *state);
    const char *paths;  /* the input, or the attr, that names the files of `touches` */
    const tw_op *plain; /* of a guarded twin: the op it stands for; never set in a row */
    uint8_t touches; /* TW_READS_FILES, TW_WRITES_FILES, TW_CALLS_PROGRAM: what a loaded model may not do unasked (op/guard.h) */
    bool stateful : 1;
    bool makes_outputs : 1;  /* compute gives its outputs itself (views, values of variables): none are made beforehand */
    bool reads_rows : 1;     /* of a variable, and nothing else: such a call has no effects */
    bool reads_variable : 1; /* handles of trainable variables among the inputs are watched by tapes by themselves */
    bool no_gradient : 1;    /* asking for a gradient is an error (LookupError in Python) */

    /* What graphs ask of an op: no file outside of src/op knows ops by name for it. */
    bool functions_in_gradient : 1; /* TensorFlow's gradient calls functions ("Mul"), not operators ("mul") */
    bool keeps_logits : 1;          /* its output remembers its input, so that a loss may take that */
    bool static_value : 1;          /* known without a run if all inputs are (tf.get_static_value) */
    int8_t sums;                    /* of an assignment: 1: it adds to the value, -1: it subtracts */
    int8_t seeds;                   /* 1 + the first of two inputs that are seeds; both 0: chance */
    tw__scoping scope : 8;
    tw__role role : 8;
    const char *node_name;   /* what a node is called, if not by the op's own name */
    const char *input_names; /* what constants made for the inputs are called: ",stack,stack_1"; an empty one: as in `inputs` */
    bool (*words)(struct tw__wording *wording); /* a graph's words for shapes that the shape function refuses; NULL: its own */
    tw_status (*graph_shape)(
        const tw__inference *inference); /* a check that graphs make after the shape function, and eager calls do not */
    bool (*partial)(const struct tw__partial_call *call,
                    tw_shape *elements); /* what is known of an integer vector that it makes */

    /* What the planner asks. */
    /* Whether this call's output is its input's memory, where `makes_outputs` leaves that open. Told of the first two inputs and
     * of output 0. */
    bool (*shows_input)(const tw__inference *inference);
    const char *transposes[2]; /* the attrs that transpose the operands of a product; "adj…" conjugates them too */
    bool forwards : 1;         /* output i is input i */
    bool reshapes : 1;         /* the elements of input 0 under another shape, in the same memory */
    bool asks_shapes : 1;      /* only the shapes of the inputs count, not their elements */
    bool lets_go : 1;          /* an op with effects that keeps no input and hands none on */
    bool commutes : 1;         /* neutral_right holds for the first operand, too */
    bool casts : 1;            /* the elements of input 0 as another dtype */
    bool activates : 1;        /* may end a product or convolution, on each element while it is in the cache */
    unsigned elements;         /* inputs, as bits, whose integers are never read by the shape function */
    uint8_t neutral_right;     /* 1 + the number that changes nothing as the second operand; 0: none */
    uint8_t fills;             /* 1 + the number that all elements of the output are; 0: it depends */
    tw__one_thread one_thread : 8;
};

/* The row macro. The struct is found by the generated table. */
#define TW_OP(op_name, ...)                                                                                                \
    static tw__signature_slot tw__signature_of_##op_name;                                                                  \
    TW_WRITTEN(const tw_op tw__op_##op_name = { .signature = &tw__signature_of_##op_name, __VA_ARGS__, .name = #op_name }) \
    struct tw_op

/* ---- the parsed signature (signature.c) ---- */
typedef struct tw__arg {
    char *name;
    tw_dtype dtype; /* fixed, or TW_DTYPE_NONE */
    int type_attr;  /* index of the attr that names the dtype, -1 */
    int count_attr; /* index of the attr that counts a list, -1 */
    int types_attr; /* index of the list(type) attr, -1 */
} tw__arg;

typedef struct tw__attr_def {
    char *name;
    tw_attr_kind kind;
    bool has_default;
    tw_attr value;          /* the default */
    uint64_t allowed_types; /* bit per dtype; 0: all */
    char **allowed_strings; /* ends in NULL; NULL: all */
    bool has_minimum;
    int64_t minimum;
    bool inferred; /* from the inputs */
} tw__attr_def;

typedef struct tw__op_signature {
    int input_count, output_count, attr_count;
    bool has_lists;  /* among the inputs */
    bool bounded;    /* an attr has a least value */
    uint32_t needed; /* a bit per attr: it has no default */
    tw__arg *inputs, *outputs;
    tw__attr_def *attrs;
} tw__op_signature;

const char *tw__op_doc(const tw_op *op);    /* what it does; empty where that is not known (spec/reference.c) */
const tw_op *tw__op_find(const char *name); /* NULL if there is none; sets no error */
const tw__op_signature *tw__op_signature_first(const tw_op *op); /* parses the row; NULL and INTERNAL if it is malformed */

static inline const tw__op_signature *tw__op_signature_of(const tw_op *op)
{
    const tw__op_signature *signature = atomic_load_explicit(op->signature, memory_order_acquire);
    return __builtin_expect(signature != NULL, 1) ? signature : tw__op_signature_first(op);
}

int tw__op_count(void);
const tw_op *tw__op_at(int index);

/* A copy of attrs that outlives the call, in a block of tw__attrs_bytes (16-byte aligned); tensors in it are retained until
 * tw__attrs_end. */
size_t tw__attrs_bytes(const tw_attr *attrs, int count);
tw_attr *tw__attrs_copy(const tw_attr *attrs, int count, void *block);
void tw__attrs_end(tw_attr *attrs, int count);
void tw__attrs_key(tw__text *text, const tw_attr *attrs, int count); /* bytes that are equal for equal attrs */

/* Completes attrs: matches the given ones by name, infers those that inputs tell, takes defaults, checks allowed values.
 * `complete` has room for TW_MAX_ATTRS. The dtypes of the outputs and their number follow. */
tw_status tw__op_resolve(const tw_op *op, const tw_dtype *input_dtypes, int input_count, const tw_attr *given, int given_count,
                         tw_attr *complete, tw_dtype *out_dtypes, int out_limit, int *output_count);

/* ---- helpers for rows (helpers.c) ---- */
/* The attr of that name: it must exist in the row. Works on inference, kernel and gradient alike. */
const tw_attr *tw__attr_find(const tw_op *op, const tw_attr *attrs, const char *name);
#define TW_ATTR(context, name_) tw__attr_find((context)->op, (context)->attrs, (name_))
/* Makes output i with that shape, unless it is there already. NULL on failure. */
tw_tensor *tw__output(tw__kernel *kernel, int index, const tw_shape *shape);
/* Gives `tensor` (a new reference, taken) as output i. */
tw_status tw__output_take(tw__kernel *kernel, int index, tw_tensor *tensor);
/* The element of a tensor of shape `from`, broadcast to `shape`, at flat index `index`. */
int64_t tw__broadcast_index(const tw_shape *from, const tw_shape *shape, int64_t index);
/* Fails and tells the op, also where it is not tw__apply that runs it. */
#define TW_OP_FAIL(context, code, format, ...) tw__fail_op((context)->op->name, (code), format, ##__VA_ARGS__)

/* Of an op whose row names its loop: runs that (math/unary.c, math/binary.c). tw__binary_by: a loop that is not the row's. */
tw_status tw__unary_compute(tw__kernel *kernel);
tw_status tw__binary_compute(tw__kernel *kernel);
tw_status tw__binary_by(tw__kernel *kernel, const struct tw__binary *operation);

tw_status tw_shape_same(tw__inference *inference); /* every output has the shape of input 0 */
tw_status
tw_shape_broadcast(tw__inference *inference);        /* output 0: inputs 0 and 1 broadcast. "Incompatible shapes: [2] vs. [3]" */
tw_status tw_shape_scalar(tw__inference *inference); /* every output is a scalar */
tw_status tw_shape_unknown(tw__inference *inference);
tw_status tw_shape_none(tw__inference *inference);                            /* for ops without outputs */
tw_status tw__need_rank(const tw__inference *inference, int input, int rank); /* "Shape must be rank 2 but is rank 1" */
tw_status tw__need_rank_at_least(const tw__inference *inference, int input, int rank);

/* ---- dispatch (its body is eager/apply.c) ---- */
/* Runs or traces the op; outputs are new references. `outputs` has room for *output_count on entry, which is set to the number
 * made. */
tw_status tw__apply(const tw_op *op, tw_tensor *const *inputs, int input_count, const tw_attr *attrs, int attr_count,
                    tw_tensor **outputs, int *output_count);

/* One output; NULL on failure. A NULL input gives NULL (the error is set already, or becomes "input i is NULL"). op/calls.h has
 * shorter forms for calls in expressions. */
tw_tensor *tw__call(const tw_op *op, tw_tensor *const *inputs, int input_count, const tw_attr *attrs, int attr_count);
#define TW_IN(...) ((tw_tensor *[]){ __VA_ARGS__ })
#define TW_WITH(...) ((tw_attr[]){ __VA_ARGS__ })

#endif
