/* Python's operators on tensors and variables. Two tensors go straight to the op; another operand is converted to the first one's
 * dtype: as a wish when it stands on the right (the op then says what does not fit), as an order when it stands on the left. */
#include "extension.h"

typedef enum operation {
    ADD,
    SUBTRACT,
    MULTIPLY,
    DIVIDE,
    FLOOR_DIVIDE,
    REMAINDER,
    POWER,
    MATRIX,
    AND,
    OR,
    XOR,
    LESS,
    LESS_EQUAL,
    GREATER,
    GREATER_EQUAL,
    EQUAL,
    NOT_EQUAL,
    NEGATIVE,
    INVERT,
    ABSOLUTE,
    ADD_TEXT,
    REAL_DIVIDE,
    BITWISE_AND,
    BITWISE_OR,
    BITWISE_XOR,
    BITWISE_NOT,
    COMPLEX_ABSOLUTE,
    MATRIX_BATCH,
    OPERATIONS
} operation;

static const char *const names[OPERATIONS] = {
    "AddV2",        "Sub",        "Mul",       "RealDiv",    "FloorDiv",   "FloorMod",   "Pow",
    "MatMul",       "LogicalAnd", "LogicalOr", "NotEqual",   "Less",       "LessEqual",  "Greater",
    "GreaterEqual", "Equal",      "NotEqual",  "Neg",        "LogicalNot", "Abs",        "Add",
    "RealDiv",      "BitwiseAnd", "BitwiseOr", "BitwiseXor", "Invert",     "ComplexAbs", "BatchMatMulV2",
};
static const tw_op *ops[OPERATIONS];

static PyObject *run(operation which, tw_tensor *a, tw_tensor *b)
{
    const tw_op *op = ops[which];
    if (__builtin_expect(!op, 0))
        return tw__py_error(PyExc_NotImplementedError, "the op %s is not in the table", names[which]);
    tw_tensor *inputs[2] = { a, b };
    tw_tensor *output = NULL;
    int count = 1;
    if (__builtin_expect(tw__apply(op, inputs, b ? 2 : 1, NULL, 0, &output, &count) != TW_OK, 0))
        return tw__py_raise();
    return tw__py_wrap_tensor(output);
}

static PyObject *run_loose(operation which, tw_tensor *a, tw_tensor *b)
{
    tw_attr attr = TW_A_BOOL("incompatible_shape_error", false);
    if (!ops[which])
        return tw__py_error(PyExc_NotImplementedError, "the op %s is not in the table", names[which]);
    return tw__py_wrap_tensor(tw__call(ops[which], TW_IN(a, b), 2, &attr, 1));
}

/* The dtype in which integers are divided. */
static tw_dtype division_dtype(tw_dtype dtype)
{
    switch (dtype) {
    case TW_INT8:
    case TW_UINT8:
    case TW_INT16:
    case TW_UINT16:
        return TW_FLOAT32;
    case TW_INT32:
    case TW_UINT32:
    case TW_INT64:
    case TW_UINT64:
        return TW_FLOAT64;
    default:
        return dtype;
    }
}

static PyObject *divide(tw_tensor *a, tw_tensor *b)
{
    tw_dtype dtype = division_dtype(a->dtype);
    if (a->dtype != b->dtype)
        return tw__py_error(PyExc_TypeError, "`x` and `y` must have the same dtype, got tf.%s != tf.%s.", tw_dtype_name(a->dtype),
                            tw_dtype_name(b->dtype));
    if (dtype == a->dtype)
        return run(DIVIDE, a, b);
    tw_tensor *x = tw__py_cast(tw_retain(a), dtype), *y = x ? tw__py_cast(tw_retain(b), dtype) : NULL;
    PyObject *out = y ? run(DIVIDE, x, y) : NULL;
    tw_release(x);
    tw_release(y);
    return out;
}

/* The op for the operator, which for some depends on dtype or rank. */
static PyObject *choose(operation which, tw_tensor *a, tw_tensor *b)
{
    switch (which) {
    case ADD:
        return run(a->dtype == TW_STRING ? ADD_TEXT : ADD, a, b);
    case DIVIDE:
        return divide(a, b);
    case MATRIX:
        return run(a->shape.rank > 2 || b->shape.rank > 2 || a->shape.rank < 0 || b->shape.rank < 0 ? MATRIX_BATCH : MATRIX, a,
                   b);
    case AND:
        return run(a->dtype == TW_BOOL ? AND : BITWISE_AND, a, b);
    case OR:
        return run(a->dtype == TW_BOOL ? OR : BITWISE_OR, a, b);
    case XOR:
        return run(a->dtype == TW_BOOL ? XOR : BITWISE_XOR, a, b);
    case EQUAL:
    case NOT_EQUAL:
        return run_loose(which, a, b);
    default:
        return run(which, a, b);
    }
}

static bool is_own(PyObject *value)
{
    return TW_IS_TENSOR(value) || tw__py_is_variable(value);
}

static PyObject *binary(operation which, PyObject *left, PyObject *right);

/* In a lasting graph the variable whose operator it is is read before the operation. */
static PyObject *read_first(operation which, PyObject *left, PyObject *right)
{
    bool of_left = is_own(left);
    PyObject *value = PyObject_CallMethod(of_left ? left : right, "value", NULL);
    PyObject *out = value ? binary(which, of_left ? value : left, of_left ? right : value) : NULL;
    Py_XDECREF(value);
    return out;
}

static PyObject *binary(operation which, PyObject *left, PyObject *right)
{
    bool matrix = which == MATRIX && tw__in_lasting();
    if (TW_IS_TENSOR(left) && TW_IS_TENSOR(right) && !matrix)
        return choose(which, TW_TENSOR(left), TW_TENSOR(right));
    bool own = is_own(left);
    if (tw__py_composite(own ? right : left)) { /* its own operator knows more */
        Py_INCREF(Py_NotImplemented);
        return Py_NotImplemented;
    }
    if (tw__in_lasting() && tw__py_is_variable(own ? left : right))
        return read_first(which, left, right);
    tw__naming naming = tw__naming_begin(); /* what is read or made of an operand is named after the operation */
    tw_dtype dtype = tw__py_dtype_of_value(own ? left : right);
    tw_tensor *a = own ? tw__py_to_tensor(left, TW_DTYPE_NONE, TW_HINT) : tw__py_to_tensor(left, dtype, TW_FORCE);
    bool foreign = own && !is_own(right), loose = which == ADD || which == MATRIX || which == DIVIDE;
    tw_tensor *b = a ? tw__py_to_tensor(right, foreign ? dtype : TW_DTYPE_NONE, foreign && !loose ? TW_FORCE : TW_HINT) : NULL;
    PyObject *out = b ? choose(which, a, b) : NULL;
    tw_release(a);
    tw_release(b);
    if (tw__naming_end(naming, NULL, matrix ? "matmul" : NULL, NULL) != TW_OK && out) {
        Py_DECREF(out);
        return tw__py_raise();
    }
    return out;
}

TW_BINARY_SLOT(add, ADD)
TW_BINARY_SLOT(subtract, SUBTRACT)
TW_BINARY_SLOT(multiply, MULTIPLY)
TW_BINARY_SLOT(true_divide, DIVIDE)
TW_BINARY_SLOT(floor_divide, FLOOR_DIVIDE)
TW_BINARY_SLOT(modulo, REMAINDER)
TW_BINARY_SLOT(matrix_multiply, MATRIX)
TW_BINARY_SLOT(and, AND)
TW_BINARY_SLOT(or, OR)
TW_BINARY_SLOT(xor, XOR)

static PyObject *power(PyObject *left, PyObject *right, PyObject *modulus)
{
    if (modulus != Py_None)
        return tw__py_error(PyExc_TypeError, "pow() of tensors takes no third argument");
    return binary(POWER, left, right);
}

static PyObject *unary(operation which, PyObject *self)
{
    tw_tensor *tensor = tw__py_to_tensor(self, TW_DTYPE_NONE, TW_HINT);
    if (!tensor)
        return NULL;
    if (which == INVERT && tensor->dtype != TW_BOOL)
        which = BITWISE_NOT;
    PyObject *out;
    if (which == ABSOLUTE && tw__dtype_is_complex(tensor->dtype)) {
        tw_attr type = TW_A_TYPE("Tout", tensor->dtype == TW_COMPLEX64 ? TW_FLOAT32 : TW_FLOAT64);
        out = ops[COMPLEX_ABSOLUTE] ? tw__py_wrap_tensor(tw__call(ops[COMPLEX_ABSOLUTE], &tensor, 1, &type, 1))
                                    : tw__py_error(PyExc_NotImplementedError, "the op ComplexAbs is not in the table");
    } else {
        out = run(which, tensor, NULL);
    }
    tw_release(tensor);
    return out;
}

TW_UNARY_SLOT(negative, NEGATIVE)
TW_UNARY_SLOT(absolute, ABSOLUTE)
TW_UNARY_SLOT(invert, INVERT)

PyObject *tw__py_compare(PyObject *self, PyObject *other, int which)
{
    static const operation operations[] = {
        [Py_LT] = LESS, [Py_LE] = LESS_EQUAL, [Py_EQ] = EQUAL, [Py_NE] = NOT_EQUAL, [Py_GT] = GREATER, [Py_GE] = GREATER_EQUAL
    };
    if ((which == Py_EQ || which == Py_NE) && tw__py_is_lasting(self)) {
        bool same = TW_IS_TENSOR(other) && TW_TENSOR(other)->node == TW_TENSOR(self)->node &&
                    TW_TENSOR(other)->node_output == TW_TENSOR(self)->node_output;
        return PyBool_FromLong(same == (which == Py_EQ));
    }
    if ((which == Py_EQ || which == Py_NE) && tw__py_is_variable(self) &&
        ((tw_variable *)((tw__py_object *)self)->object)->graph) {
        bool same = tw__py_is_variable(other) && ((tw__py_object *)other)->object == ((tw__py_object *)self)->object;
        return PyBool_FromLong(same == (which == Py_EQ));
    }
    if (other == Py_None && (which == Py_EQ || which == Py_NE))
        return PyBool_FromLong(which == Py_NE);
    return binary(operations[which], self, other);
}

PyType_Slot tw__py_operator_slots[] = {
    TW_NUMBER_SLOTS,
    { Py_tp_richcompare, tw__py_compare },
    { 0 },
};

bool tw__py_operators_start(void)
{
    for (int i = 0; i < OPERATIONS; i++)
        ops[i] = tw__op_find(names[i]);
    int at = 0; /* variables have the same operators */
    while (tw__py_variable_slots[at].slot)
        at++;
    for (int i = 0; tw__py_operator_slots[i].slot; i++)
        tw__py_variable_slots[at++] = tw__py_operator_slots[i];
    return true;
}
