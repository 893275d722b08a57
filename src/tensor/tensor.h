/* Tensors from the inside: dtypes, shapes with checked products, buffers, printing. */
#ifndef TW_TENSOR_H
#define TW_TENSOR_H

#include <thalweg/tensor.h>

#include "base/base.h"

/* ---- dtypes (dtype.c) ---- */
bool tw__dtype_is_float(tw_dtype dtype);   /* half, bfloat16, float, double */
bool tw__dtype_is_integer(tw_dtype dtype); /* signed and unsigned, not bool, not quantized */
bool tw__dtype_is_complex(tw_dtype dtype);
bool tw__dtype_differentiable(tw_dtype dtype); /* a gradient may pass: floats, complex numbers, variables, lists of tensors */
bool tw__dtype_is_valid(tw_dtype dtype);
/* Of layers: a dtype, or TW_MIXED_FLOAT16, TW_MIXED_BFLOAT16. */
bool tw__policy_is_mixed(tw_dtype policy);
const char *tw__policy_name(tw_dtype policy);
tw_dtype tw__policy_from_name(const char *name);    /* TW_DTYPE_NONE: there is none */
const char *tw__dtype_message_name(tw_dtype dtype); /* "DT_FLOAT": as messages in files name it */
const char *tw__dtype_text(tw_dtype dtype);         /* "float", "half": as TensorFlow's C++ errors name it */
float tw__half_to_float(uint16_t bits);
uint16_t tw__float_to_half(float value); /* rounds to nearest even */
float tw__bfloat16_to_float(uint16_t bits);
uint16_t tw__float_to_bfloat16(float value);

/* ---- shapes (shape.c) ---- */
bool tw__shape_known(const tw_shape *shape);                /* rank and every dimension */
bool tw__shape_equal(const tw_shape *a, const tw_shape *b); /* unknown equals unknown only */
bool tw__shape_compatible(const tw_shape *a, const tw_shape *b);
/* The number of elements; INVALID_ARGUMENT if a dimension is negative or the product overflows. */
tw_status tw__shape_count(const tw_shape *shape, int64_t *count);
/* NumPy's broadcasting, on partial shapes too. False: they don't go together (no error is set). */
bool tw__shape_broadcast(const tw_shape *a, const tw_shape *b, tw_shape *out);
/* "(2, 3)", "(4,)", "()", "(None, 3)", "<unknown>": as Python prints a TensorShape's tuple. */
char *tw__shape_tuple(const tw_shape *shape);
/* "[2,3]", "[?,3]", "<unknown>": as TensorFlow's C++ errors print it. In one of 4 buffers of the thread, used in turn. */
const char *tw__shape_text(const tw_shape *shape);

/* ---- buffers and tensors (tensor.c, buffer.c) ---- */
/* Memory that several tensors may share. */
typedef struct tw__buffer {
    _Atomic int32_t references;
    int32_t size_class; /* of the cache it goes back to, -1: none */
    size_t size;
    void *data;
    void (*free_data)(void *context); /* foreign memory */
    void *context;
    void (*end_elements)(struct tw__buffer *buffer); /* frees what strings and objects hold, before the memory goes; or NULL */
} tw__buffer;

tw__buffer *tw__buffer_new(size_t size); /* 64-byte aligned, not cleared; huge pages asked for when large */
void tw__buffer_retain(tw__buffer *buffer);
void tw__buffer_release(tw__buffer *buffer);
void tw__buffer_trim(void); /* gives the calling thread's cached memory back */

#define TW_INLINE_BYTES 64

struct tw_tensor {
    tw_object object; /* its config: NULL, or a reference to what is needed with it: a tensor that it was made from (keras/), or
                         its value on a device (device/pjrt.h) */
    tw_dtype dtype;
    uint32_t device; /* the place that it is on (device/) */
    tw_shape shape;
    int64_t count;
    void *data; /* the elements; in `small` or in the buffer. tw_string[] for strings, tw_object *[] for resources and variants */
    tw__buffer *buffer;
    struct tw__node
        *node; /* while tracing: the graph node whose output this is; then data is NULL unless the value is known (a constant) */
    int32_t node_output;
    uint32_t traces; /* how many traces had begun when it was made: what a body makes itself is younger than its graph (graph/) */
    bool by_identity; /* traces capture it whatever its size, as who saves the function knows it by its address: paths of assets
                         (saving/) */
    _Alignas(64) union {
        unsigned char small[TW_INLINE_BYTES];
        struct {
            void *symbolic_graph;      /* references held by a symbolic tensor */
            tw_tensor *symbolic_value; /* the constant it is known to be, or NULL */
            tw_tensor *symbolic_input; /* of a Softmax or Sigmoid: what went in, for losses that rather work on that (keras/);
                                          else NULL */
        };
    };
};
extern _Atomic uint32_t tw__traces_begun;
extern _Thread_local uint32_t
    tw__device_place; /* where tensors are made now: the logical device that the thread's scope names, else 0 (device/scope.c) */

extern const tw_class tw__tensor_class;

/* Elements not set for plain dtypes; cleared for strings, resources and variants. */
tw_tensor *tw__tensor_empty(tw_dtype dtype, const tw_shape *shape);
/* An output of a graph node: no elements, or those of `value` if that is known. `graph` is retained for as long as the tensor
 * lives. */
tw_tensor *tw__tensor_symbolic(tw_dtype dtype, const tw_shape *shape, void *graph, struct tw__node *node, int output,
                               tw_tensor *value);
/* The same elements under another shape of the same count, sharing memory. */
tw_tensor *tw__tensor_view(tw_tensor *tensor, const tw_shape *shape);
/* The elements from `offset` on, sharing memory. */
tw_tensor *tw__tensor_slice_view(tw_tensor *tensor, const tw_shape *shape, int64_t offset);
tw_tensor *tw__tensor_copy(const tw_tensor *tensor);
tw_tensor *tw__tensor_of_object(tw_dtype dtype, void *object);         /* a scalar resource or variant; retains the object */
tw_object *tw__tensor_object(const tw_tensor *tensor);                 /* borrowed; NULL if it holds none */
tw_tensor *tw__tensor_of_shape(const tw_shape *shape, tw_dtype dtype); /* the dimensions as a vector of int32 or int64 */
/* True if nobody else can see the tensor's memory: it may be changed in place. */
bool tw__tensor_is_exclusive(const tw_tensor *tensor);
/* The elements, for whoever reads values: NULL and an error that names `what` if the tensor is symbolic and its value is not
 * known. Only kernels, whose inputs are never symbolic, and who has asked for `data` before, read `data` itself. */
const void *tw__tensor_values(const tw_tensor *tensor, const char *what);
/* Whether a C caller's list is one of tensors, each there; else an error that names the function. */
bool tw__check_tensors(tw_tensors list, const char *function);
/* Calls a program's body (tw_body) in a scope of its own. */
tw_tensors tw__body_run(tw_tensors (*body)(void *user, tw_tensors arguments), void *user, tw_tensors arguments);
/* The tensor itself, or the constant that a symbolic one is known to be; borrowed. NULL and an error if its value is not known.
 */
tw_tensor *tw__tensor_known(tw_tensor *tensor, const char *what);
/* The elements as int64, from any integer dtype; INVALID_ARGUMENT names `what`. Room for `limit` values. */
tw_status tw__tensor_read_ints(const tw_tensor *tensor, const char *what, int64_t *values, int64_t limit);
/* Puts a copy of the bytes into element `index` of a string tensor that is being made. */
tw_status tw__string_set(tw_tensor *tensor, int64_t index, const void *data, size_t size);
size_t tw__element_size(tw_dtype dtype); /* in memory: pointers and tw_string count too */

/* ---- printing (print.c), as NumPy prints arrays ---- */
/* The elements alone: "[[1. 2.]\n [3. 4.]]"; `separator` is " " for str and ", " for repr. */
tw_status tw__print_elements(tw__text *text, const tw_tensor *tensor, const char *separator, int indent);
/* As it stands behind "numpy=" (repr) or "tf.Tensor(" (str): a line break first if there are several lines. */
tw_status tw__print_numpy(tw__text *text, const tw_tensor *tensor, bool repr);
void tw__print_scalar(tw__text *text, const tw_tensor *tensor, int64_t index); /* one element, as NumPy's scalars print */
void tw__print_float(tw__text *text, double value, tw_dtype dtype);            /* shortest text that reads back, Python's repr */

#endif
