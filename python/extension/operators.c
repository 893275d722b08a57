/* Python's operators on tensors and variables (api/operators.h). An operand that is neither is converted to the first one's
 * dtype: as a wish when it stands on the right (the op then says what does not fit), as an order when it stands on the left. */
#include "extension.h"

static PyObject *run(tw__operator which, tw_tensor *a, tw_tensor *b)
{
    return tw__py_wrap_tensor(tw__operate(which, a, b));
}

static bool is_own(PyObject *value)
{
    return TW_IS_TENSOR(value) || tw__py_is_variable(value);
}

static PyObject *binary(tw__operator which, PyObject *left, PyObject *right);

/* In a lasting graph the variable whose operator it is is read before the operation. */
static PyObject *read_first(tw__operator which, PyObject *left, PyObject *right)
{
    bool of_left = is_own(left);
    tw__py_auto PyObject *value = PyObject_CallMethod(of_left ? left : right, "value", NULL);
    return value ? binary(which, of_left ? value : left, of_left ? right : value) : NULL;
}

static PyObject *binary(tw__operator which, PyObject *left, PyObject *right)
{
    if (__builtin_expect(tw__numpy_behaves, false) && tw__numpy_operates(which) && !tw__py_composite(left) &&
        !tw__py_composite(right))
        return tw__py_numpy_binary(which, left, right);
    bool matrix = which == TW_OPERATOR_MATRIX && tw__in_lasting();
    if (TW_IS_TENSOR(left) && TW_IS_TENSOR(right) && !matrix)
        return run(which, TW_TENSOR(left), TW_TENSOR(right));
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
    bool foreign = own && !is_own(right),
         loose = which == TW_OPERATOR_ADD || which == TW_OPERATOR_MATRIX || which == TW_OPERATOR_DIVIDE;
    tw_tensor *b = a ? tw__py_to_tensor(right, foreign ? dtype : TW_DTYPE_NONE, foreign && !loose ? TW_FORCE : TW_HINT) : NULL;
    PyObject *out = b ? run(which, a, b) : NULL;
    tw_release(a);
    tw_release(b);
    if (tw__naming_end(naming, NULL, matrix ? "matmul" : NULL, NULL) != TW_OK && out) {
        Py_DECREF(out);
        return tw__py_raise();
    }
    return out;
}

TW_BINARY_SLOT(add, TW_OPERATOR_ADD)
TW_BINARY_SLOT(subtract, TW_OPERATOR_SUBTRACT)
TW_BINARY_SLOT(multiply, TW_OPERATOR_MULTIPLY)
TW_BINARY_SLOT(true_divide, TW_OPERATOR_DIVIDE)
TW_BINARY_SLOT(floor_divide, TW_OPERATOR_FLOOR_DIVIDE)
TW_BINARY_SLOT(modulo, TW_OPERATOR_REMAINDER)
TW_BINARY_SLOT(matrix_multiply, TW_OPERATOR_MATRIX)
TW_BINARY_SLOT(and, TW_OPERATOR_AND)
TW_BINARY_SLOT(or, TW_OPERATOR_OR)
TW_BINARY_SLOT(xor, TW_OPERATOR_XOR)

static PyObject *power(PyObject *left, PyObject *right, PyObject *modulus)
{
    if (modulus != Py_None)
        return tw__py_error(PyExc_TypeError, "pow() of tensors takes no third argument");
    return binary(TW_OPERATOR_POWER, left, right);
}

static PyObject *unary(tw__operator which, PyObject *self)
{
    tw_auto tw_tensor *tensor = tw__py_to_tensor(self, TW_DTYPE_NONE, TW_HINT);
    if (!tensor)
        return NULL;
    return run(which, tensor, NULL);
}

TW_UNARY_SLOT(negative, TW_OPERATOR_NEGATIVE)
TW_UNARY_SLOT(absolute, TW_OPERATOR_ABSOLUTE)
TW_UNARY_SLOT(invert, TW_OPERATOR_INVERT)

PyObject *tw__py_compare(PyObject *self, PyObject *other, int which)
{
    static const tw__operator operators[] = {
        [Py_LT] = TW_OPERATOR_LESS,      [Py_LE] = TW_OPERATOR_LESS_EQUAL, [Py_EQ] = TW_OPERATOR_EQUAL,
        [Py_NE] = TW_OPERATOR_NOT_EQUAL, [Py_GT] = TW_OPERATOR_GREATER,    [Py_GE] = TW_OPERATOR_GREATER_EQUAL
    };
    if ((which == Py_EQ || which == Py_NE) && tw__py_is_lasting(self)) {
        bool same = TW_IS_TENSOR(other) && TW_TENSOR(other)->node == TW_TENSOR(self)->node &&
                    TW_TENSOR(other)->node_output == TW_TENSOR(self)->node_output;
        return PyBool_FromLong(same == (which == Py_EQ));
    }
    if ((which == Py_EQ || which == Py_NE) && tw__py_is_variable(self) && ((tw_variable *)tw__py_handle(self))->graph) {
        bool same = tw__py_is_variable(other) && tw__py_handle(other) == tw__py_handle(self);
        return PyBool_FromLong(same == (which == Py_EQ));
    }
    if (other == Py_None && (which == Py_EQ || which == Py_NE))
        return PyBool_FromLong(which == Py_NE);
    return binary(operators[which], self, other);
}

PyType_Slot tw__py_operator_slots[] = {
    TW_NUMBER_SLOTS,
    { Py_tp_richcompare, tw__py_compare },
    { 0 },
};

bool tw__py_operators_start(void)
{
    int at = 0; /* variables have the same operators */
    while (tw__py_variable_slots[at].slot)
        at++;
    for (int i = 0; tw__py_operator_slots[i].slot; i++)
        tw__py_variable_slots[at++] = tw__py_operator_slots[i];
    return true;
}
