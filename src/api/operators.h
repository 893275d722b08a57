/* The operators of programming languages on tensors, each the function that TensorFlow has for it: `a @ b` is tf.matmul(a, b). */
#ifndef TW_API_OPERATORS_H
#define TW_API_OPERATORS_H

#include "tensor/tensor.h"

typedef enum tw__operator {
    TW_OPERATOR_ADD,
    TW_OPERATOR_SUBTRACT,
    TW_OPERATOR_MULTIPLY,
    TW_OPERATOR_DIVIDE,
    TW_OPERATOR_FLOOR_DIVIDE,
    TW_OPERATOR_REMAINDER,
    TW_OPERATOR_POWER,
    TW_OPERATOR_MATRIX,
    TW_OPERATOR_AND, /* of bool: logic; of integers: bits */
    TW_OPERATOR_OR,
    TW_OPERATOR_XOR,
    TW_OPERATOR_LESS,
    TW_OPERATOR_LESS_EQUAL,
    TW_OPERATOR_GREATER,
    TW_OPERATOR_GREATER_EQUAL,
    TW_OPERATOR_EQUAL, /* shapes that do not fit are not equal, which is no error */
    TW_OPERATOR_NOT_EQUAL,
    TW_OPERATOR_NEGATIVE, /* of one tensor */
    TW_OPERATOR_INVERT,
    TW_OPERATOR_ABSOLUTE,
    TW_OPERATORS
} tw__operator;

/* A new reference, or NULL and an error. b is not read for operators of one tensor. */
tw_tensor *tw__operate(tw__operator which, tw_tensor *a, tw_tensor *b);

#endif
