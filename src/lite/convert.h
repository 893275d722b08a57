/* From the graph of a function to TFLite's operators.
 *
 * A lowering goes over a graph's nodes in their order. What depends on no argument is computed at once: variables have the values
 * they have now, so a file holds constants. Everything else becomes operators, with the same rows of builtins.c that the
 * interpreter reads, or by a form of its own (lower*.c). Calls are taken in. Then operators are joined (join.c), and written
 * (convert_write.c). */
#ifndef TW_LITE_CONVERT_H
#define TW_LITE_CONVERT_H

#include "lite/lite.h"

enum { TW_LITE_FIELDS = 8 };
typedef struct tw__lite_made_field {
    uint8_t field;
    char kind; /* as in the rows: i, b, f, t */
    double value;
} tw__lite_made_field;

typedef struct tw__lite_made_operator {
    int builtin;
    int *inputs, *outputs; /* numbers of tensors; -1: left out */
    int input_count, output_count;
    tw__lite_made_field fields[TW_LITE_FIELDS];
    int field_count;
    int32_t dims[TW_MAX_RANK]; /* a list of ints as field 0, if `listed` */
    int dim_count;
    bool listed, joined; /* joined: it is part of another one now */
} tw__lite_made_operator;

typedef struct tw__lite_made_tensor {
    char *name;
    tw_dtype dtype;
    tw_shape shape;      /* -1 where it is not known */
    tw_tensor *constant; /* a reference, or NULL */
    float *scales;       /* of quantized weights */
    int scale_count, dimension;
    int uses;
} tw__lite_made_tensor;

typedef struct tw__lite_made {
    tw__lite_made_tensor *tensors;
    tw__lite_made_operator *operators;
    size_t tensor_count, tensor_capacity, operator_count, operator_capacity;
    int *inputs, *outputs;
    int input_count, output_count;
    const char *key; /* of its signature; names of inputs and outputs; borrowed */
    char **input_names, **output_names;
} tw__lite_made;
void tw__lite_made_end(tw__lite_made *made);

/* What an edge of the graph is: a constant, or a tensor of the file. */
typedef struct tw__lite_known {
    tw_tensor *constant; /* a reference */
    int tensor;
} tw__lite_known;

typedef struct tw__lite_lowering {
    tw__lite_made *made;
    const tw__node *node;
    tw__lite_known *in; /* of the node */
    int count;
    tw__lite_known *out; /* to be set */
    tw__temps *t;
} tw__lite_lowering;

/* The number of a tensor for an input: constants become one. -1: an error. */
int tw__lite_tensor_of(tw__lite_lowering *l, int input);
int tw__lite_constant_of(tw__lite_lowering *l, tw_tensor *constant); /* borrowed */
int tw__lite_ints_of(tw__lite_lowering *l, const int64_t *values, int count);
int tw__lite_float_of(tw__lite_lowering *l, double value);
/* A new tensor for an output of the node, which is its value from now on; and one for a value on the way. */
int tw__lite_result(tw__lite_lowering *l, int output);
int tw__lite_between(tw__lite_lowering *l, tw_dtype dtype, const tw_shape *shape);
/* An operator by its name in builtins.c; NULL: an error. A tensor of -1 after a failure gives NULL. */
tw__lite_made_operator *tw__lite_emit(tw__lite_lowering *l, const char *name, const int *inputs, int count, const int *outputs,
                                      int output_count);
#define TW_EMIT(l, name, result, ...)                                                                         \
    tw__lite_emit(l, name, (const int[]){ __VA_ARGS__ }, (int)(sizeof((int[]){ __VA_ARGS__ }) / sizeof(int)), \
                  (const int[]){ result }, 1)
void tw__lite_set_field(tw__lite_made_operator *made, int field, char kind, double value);
const tw_attr *tw__lite_attr(const tw__lite_lowering *l, const char *name);
const tw_shape *tw__lite_shape_of(const tw__lite_lowering *l, int input); /* of the node's input */
tw_status tw__lite_cannot(const tw__lite_lowering *l, const char *why);
int tw__lite_builtin_named(const char *name);

/* Forms of ops that are more than a row; NULL: there is none. */
typedef tw_status (*tw__lite_form)(tw__lite_lowering *l);
tw__lite_form tw__lite_form_of(const char *op);
tw_status tw__lite_lower_lstm(tw__lite_lowering *l), tw__lite_lower_einsum(tw__lite_lowering *l);

/* A graph whose inputs are known; gives what the outputs are (references, room for output_count). */
tw_status tw__lite_lower(tw__lite_made *made, const tw__body *body, const tw__lite_known *inputs, tw__lite_known *outputs,
                         int depth);
/* Biases, scales and activations become part of the operators before them. */
tw_status tw__lite_join(tw__lite_made *made);
/* Weights become int8 or half. */
tw_status tw__lite_shrink(tw__lite_made *made, tw_dtype dtype);
/* The file's bytes, for tw__free. */
char *tw__lite_write(tw__lite_made *graphs, int count, size_t *size);

#endif
