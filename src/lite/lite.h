/* tf.lite: models in TFLite's files, run by this library's ops.
 *
 * A file is a FlatBuffer (flat.h): a Model with operator codes, buffers and subgraphs; a subgraph with tensors and operators that
 * name tensors by their numbers; signatures that name a subgraph's inputs and outputs. model.c divides it into structs, with
 * every number checked. builtins.c is the table of TFLite's operators: what each is in TensorFlow's ops. build.c calls these ops
 * in the order of a subgraph; an interpreter does that once while it traces, so that a run is the run of a plan. convert*.c goes
 * the other way, from the graph of a function to a file. */
#ifndef TW_LITE_H
#define TW_LITE_H

#include "function/function.h"
#include "lite/flat.h"
#include "op/calls.h"

/* ---- the schema's numbers ---- */
enum { TW_LITE_MODEL_VERSION, TW_LITE_MODEL_CODES, TW_LITE_MODEL_SUBGRAPHS, TW_LITE_MODEL_DESCRIPTION, TW_LITE_MODEL_BUFFERS };
enum { TW_LITE_MODEL_METADATA = 6, TW_LITE_MODEL_SIGNATURES = 7 };
enum { TW_LITE_CODE_OLD, TW_LITE_CODE_CUSTOM, TW_LITE_CODE_VERSION, TW_LITE_CODE_BUILTIN };
enum { TW_LITE_GRAPH_TENSORS, TW_LITE_GRAPH_INPUTS, TW_LITE_GRAPH_OUTPUTS, TW_LITE_GRAPH_OPERATORS, TW_LITE_GRAPH_NAME };
enum { TW_LITE_TENSOR_SHAPE, TW_LITE_TENSOR_TYPE, TW_LITE_TENSOR_BUFFER, TW_LITE_TENSOR_NAME, TW_LITE_TENSOR_QUANTIZATION };
enum { TW_LITE_TENSOR_VARIABLE = 5, TW_LITE_TENSOR_SPARSITY = 6, TW_LITE_TENSOR_SIGNATURE = 7, TW_LITE_TENSOR_HAS_RANK = 8 };
enum { TW_LITE_QUANTIZATION_SCALE = 2, TW_LITE_QUANTIZATION_ZERO = 3, TW_LITE_QUANTIZATION_DIMENSION = 6 };
enum { TW_LITE_OPERATOR_CODE, TW_LITE_OPERATOR_INPUTS, TW_LITE_OPERATOR_OUTPUTS, TW_LITE_OPERATOR_OPTIONS_TYPE };
enum { TW_LITE_OPERATOR_OPTIONS = 4 };
enum { TW_LITE_BUFFER_DATA, TW_LITE_BUFFER_OFFSET, TW_LITE_BUFFER_SIZE };
enum { TW_LITE_METADATA_NAME, TW_LITE_METADATA_BUFFER };
enum { TW_LITE_SIGNATURE_INPUTS, TW_LITE_SIGNATURE_OUTPUTS, TW_LITE_SIGNATURE_KEY, TW_LITE_SIGNATURE_GRAPH = 4 };
enum { TW_LITE_MAP_NAME, TW_LITE_MAP_TENSOR };
enum { TW_LITE_SCHEMA_VERSION = 3, TW_LITE_OLD_CODES = 127 };
#define TW_LITE_IDENTIFIER "TFL3"
enum tw__lite_activation { TW_LITE_NO_ACTIVATION, TW_LITE_RELU, TW_LITE_RELU_N1_TO_1, TW_LITE_RELU6, TW_LITE_TANH };
enum { TW_LITE_SAME, TW_LITE_VALID };

tw_dtype tw__lite_dtype(int64_t type);          /* TW_DTYPE_NONE: there is none */
int tw__lite_type(tw_dtype dtype);              /* -1: the format has none */
const char *tw__lite_type_name(tw_dtype dtype); /* "FLOAT32" */

/* ---- a model (model.c) ---- */
typedef struct tw__lite_tensor {
    tw_string name;
    tw_dtype dtype;
    tw_shape shape, signature; /* as made for one set of sizes; with -1 where they may be others */
    bool variable;             /* keeps its value from run to run */
    bool sparse;
    const uint8_t *data; /* of a constant; NULL: none */
    size_t size;
    tw_tensor *value;  /* the constant, once it is used; */
    tw_tensor *floats; /* a quantized one as floats */
    tw__flat_vector scales, zeros;
    int dimension; /* along which the scales are */
} tw__lite_tensor;

typedef struct tw__lite_operator {
    int code; /* of the model's list */
    tw__flat_vector inputs, outputs;
    tw__flat_table options;
} tw__lite_operator;

typedef struct tw__lite_subgraph {
    tw_string name;
    tw__lite_tensor *tensors;
    tw__lite_operator *operators;
    int tensor_count, operator_count;
    int *inputs, *outputs;
    int input_count, output_count;
} tw__lite_subgraph;

typedef struct tw__lite_signature {
    tw_string key;
    int subgraph;
    tw__flat_vector inputs, outputs; /* of names with numbers of tensors */
} tw__lite_signature;

typedef struct tw__lite_model {
    tw_object object;
    char *bytes;
    tw__flat flat;
    struct tw__lite_code {
        int builtin;
        tw_string custom;
    } * codes;
    tw__lite_subgraph *subgraphs;
    tw__lite_signature *signatures;
    int code_count, subgraph_count, signature_count;
} tw__lite_model;

/* Takes the bytes, from tw__alloc; `path` is for errors. */
tw__lite_model *tw__lite_model_read(char *bytes, size_t size, const char *path);
tw_tensor *tw__lite_constant(tw__lite_tensor *tensor); /* borrowed; NULL: an error */

/* ---- TFLite's operators (builtins.c) ---- */
typedef struct tw__lite_call tw__lite_call;
typedef struct tw__lite_builtin {
    const char *name;
    /* Of an operator that is one op: the op, and where its attrs stand in the options, "axis 1i, N n": i an int, b a bool, f a
     * float, t a dtype; n the number of inputs, o of outputs, with no field; a the activation that follows. NULL: no attrs. */
    const tw_op *op;
    const char *attrs;
    tw_status (*build)(tw__lite_call *call); /* of all others; NULL, and no op: it is not supported */
    uint8_t options;                         /* the type of its options in files */
    uint8_t needed;                          /* how many inputs it has at least */
    uint8_t version;                         /* the first that TensorFlow reads; 0: 1 */
    bool moves; /* it takes quantized numbers as they are; others get floats, and what they give is quantized again */
} tw__lite_builtin;
enum { TW_LITE_BUILTINS = 162 };
extern const tw__lite_builtin tw__lite_builtins[TW_LITE_BUILTINS];

/* ---- calling ops (build.c) ---- */
/* One pass over a subgraph. */
typedef struct tw__lite_state tw__lite_state;
typedef struct tw__lite_pass {
    tw__lite_model *model;
    tw__lite_subgraph *graph;
    tw_tensor **values;    /* by number of the tensor; references */
    tw__lite_state *state; /* of variables; NULL: nothing may be assigned here */
    int depth;             /* of subgraphs in subgraphs */
} tw__lite_pass;

struct tw__lite_call {
    tw__lite_pass *pass;
    const tw__lite_builtin *builtin;
    const tw__lite_operator *node;
    tw__flat_table options;
    tw_tensor **in; /* borrowed; NULL: left out */
    int count;
    tw_tensor **out; /* new references */
    int out_count;
    tw__temps *t;
};
tw__lite_tensor *tw__lite_input(const tw__lite_call *call, int input); /* what the file says of it; NULL: it is left out */
tw__lite_tensor *tw__lite_output(const tw__lite_call *call, int output);
tw_status tw__lite_refuse(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* Gives the result of a call with one; borrowed, NULL after a failure. */
tw_status tw__lite_give(tw__lite_call *call, tw_tensor *result);
/* The same behind the activation that stands in a field of the options. */
tw_status tw__lite_activated(tw__lite_call *call, tw_tensor *result, int field);
/* Runs the subgraph's operators; the inputs are among the values already. */
tw_status tw__lite_build(tw__lite_pass *pass);
/* A pass over another subgraph: the inputs' values in, its outputs' out (new references, from tw__alloc). */
tw_status tw__lite_subgraph_run(tw__lite_pass *outer, int64_t subgraph, tw_tensor *const *inputs, int count, tw_tensor ***outputs,
                                int *output_count);

/* ---- quantized numbers (quantize.c) ---- */
bool tw__lite_is_quantized(const tw__lite_tensor *tensor);
/* Left to the list; NULL: an error. */
tw_tensor *tw__lite_dequantize(tw__temps *t, const tw__lite_tensor *tensor, tw_tensor *value);
tw_tensor *tw__lite_quantize(tw__temps *t, const tw__lite_tensor *tensor, tw_tensor *value);

/* ---- variables (state.c) ---- */
/* The values of variables: tensors of the main subgraph that keep theirs, and those that VAR_HANDLE names. */
struct tw__lite_state {
    tw__map named; /* shared_name -> tw_tensor *, a reference */
    bool fixed;    /* while tracing: no further ones may come */
};

/* ---- forms of operators that are more than an op (forms*.c) ---- */
/* A transposed filter, left to the list; that of a constant is made once, while tracing. */
tw_tensor *tw__lite_rearranged(tw__temps *t, tw_tensor *filter, const int64_t *order, int rank);
tw_status tw__lite_need_rank(const tw__lite_call *c, int input, int rank);
tw_status tw__lite_conv(tw__lite_call *c), tw__lite_depthwise(tw__lite_call *c), tw__lite_conv_transpose(tw__lite_call *c);
tw_status tw__lite_conv3d(tw__lite_call *c), tw__lite_pool(tw__lite_call *c), tw__lite_dense(tw__lite_call *c);
tw_status tw__lite_batch_matmul(tw__lite_call *c), tw__lite_softmax(tw__lite_call *c), tw__lite_reshape(tw__lite_call *c);
tw_status tw__lite_concat(tw__lite_call *c), tw__lite_gather(tw__lite_call *c), tw__lite_squeeze(tw__lite_call *c),
    tw__lite_embedding(tw__lite_call *c);
tw_status tw__lite_prelu(tw__lite_call *c), tw__lite_hard_swish(tw__lite_call *c), tw__lite_clip(tw__lite_call *c);
tw_status tw__lite_gelu(tw__lite_call *c), tw__lite_l2_normalize(tw__lite_call *c), tw__lite_mirror_pad(tw__lite_call *c);
tw_status tw__lite_cast(tw__lite_call *c), tw__lite_shape(tw__lite_call *c), tw__lite_sparse_to_dense(tw__lite_call *c);
tw_status tw__lite_matrix_diag(tw__lite_call *c), tw__lite_matrix_set_diag(tw__lite_call *c),
    tw__lite_fake_quant(tw__lite_call *c);
tw_status tw__lite_dequantizes(tw__lite_call *c), tw__lite_quantizes(tw__lite_call *c);
tw_status tw__lite_while(tw__lite_call *c), tw__lite_if(tw__lite_call *c), tw__lite_once(tw__lite_call *c);
tw_status tw__lite_sequence_lstm(tw__lite_call *c), tw__lite_var_handle(tw__lite_call *c);
tw_status tw__lite_read_variable(tw__lite_call *c), tw__lite_assign_variable(tw__lite_call *c);

#endif
