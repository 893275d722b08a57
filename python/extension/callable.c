/* Python functions where C expects one: activations, schedules. */
#include "extension.h"

void *tw__py_make_callable(PyObject *function)
{
    return tw__py_error(PyExc_NotImplementedError, "a Python function (%R) can't be given here yet", function);
}
