/* The thalweg command inside of Python: what the program `thalweg` of a wheel calls. */
#include "extension.h"

#include <signal.h>

#include "program.h"

/* _command(["checkpoint", "ls", …]) -> the exit code. The process is the command's from here on: signals do what they do in any
 * program. */
static PyObject *call_program(PyObject *self, PyObject *arguments)
{
    (void)self;
    Py_ssize_t count = PySequence_Size(arguments);
    if (count < 0)
        return NULL;
    char **texts = PyMem_Calloc((size_t)count + 2, sizeof *texts);
    PyObject **bytes = PyMem_Calloc((size_t)count + 1, sizeof *bytes);
    bool good = texts && bytes;
    for (Py_ssize_t i = 0; good && i < count; i++) {
        tw__py_auto PyObject *item = PySequence_GetItem(arguments, i);
        good = item && PyUnicode_FSConverter(item, &bytes[i]);
        texts[i + 1] = good ? PyBytes_AsString(bytes[i]) : NULL;
    }
    int code = 0;
    if (good) {
        texts[0] = "thalweg";
        signal(SIGINT, SIG_DFL);
        signal(SIGPIPE, SIG_DFL);
        Py_BEGIN_ALLOW_THREADS code = program((int)count + 1, texts);
        Py_END_ALLOW_THREADS
    }
    for (Py_ssize_t i = 0; bytes && i < count; i++)
        Py_XDECREF(bytes[i]);
    PyMem_Free(texts);
    PyMem_Free(bytes);
    if (!good)
        return PyErr_Occurred() ? NULL : PyErr_NoMemory();
    return PyLong_FromLong(code);
}

PyMethodDef tw__py_command_functions[] = {
    { "_command", call_program, METH_O, "Runs the thalweg command with a list of arguments; gives its exit code." },
    { 0 },
};
