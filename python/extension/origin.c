/* Where in a Python program a node of a graph was made: the frames outside of this package, as tracebacks print them. */
#include "extension.h"
#include "graph/graph.h"

enum { FRAME_LIMIT = 32 };

static char *package; /* the folder of this package, which is left out */
static tw__origin *last;

static char *package_folder(void)
{
    PyObject *module = PyImport_ImportModule("thalweg");
    PyObject *file = module ? PyObject_GetAttrString(module, "__file__") : NULL;
    const char *text = file && PyUnicode_Check(file) ? PyUnicode_AsUTF8AndSize(file, NULL) : NULL;
    const char *slash = text ? strrchr(text, '/') : NULL;
    char *folder = slash ? tw__strndup(text, (size_t)(slash - text) + 1) : tw__strdup("?");
    Py_XDECREF(module);
    Py_XDECREF(file);
    PyErr_Clear();
    return folder;
}

/* One line, or NULL for a frame of this package, or of what started it. */
static char *line_of(PyFrameObject *frame)
{
    PyCodeObject *code = PyFrame_GetCode(frame);
    PyObject *file = PyObject_GetAttrString((PyObject *)code, "co_filename"), *name = PyObject_GetAttrString((PyObject *)code, "co_name");
    const char *path = file ? PyUnicode_AsUTF8AndSize(file, NULL) : NULL, *text = name ? PyUnicode_AsUTF8AndSize(name, NULL) : NULL;
    bool own = path && package && (strncmp(path, package, strlen(package)) == 0 || strcmp(path, "<frozen runpy>") == 0);
    char *line = path && text && !own ? tw__format("File \"%s\", line %d, in %s", path, PyFrame_GetLineNumber(frame), text) : NULL;
    Py_XDECREF(file);
    Py_XDECREF(name);
    Py_DECREF(code);
    return line;
}

static char *text_now(void)
{
    char *lines[FRAME_LIMIT];
    int count = 0;
    PyObject *frame = (PyObject *)PyEval_GetFrame();
    Py_XINCREF(frame);
    while (frame && frame != Py_None && count < FRAME_LIMIT) {
        char *line = line_of((PyFrameObject *)frame);
        if (line)
            lines[count++] = line;
        PyObject *back = PyObject_GetAttrString(frame, "f_back");
        Py_DECREF(frame);
        frame = back;
    }
    Py_XDECREF(frame);
    tw__text text = { 0 };
    tw__text_add(&text, "");
    while (count-- > 0) {
        tw__text_format(&text, "%s%s", text.size ? "\n" : "", lines[count]);
        tw__free(lines[count]);
    }
    return tw__text_take(&text);
}

/* The same place gives the same object, mostly. */
static tw_object *origin_now(void)
{
    tw__py_lock_state state = tw__py_enter();
    PyObject *type, *value, *traceback;
    PyErr_Fetch(&type, &value, &traceback);
    if (!package)
        package = package_folder();
    char *text = text_now();
    if (text && last && strcmp(last->text, text) == 0) {
        tw__free(text);
    } else if (text) {
        tw__origin *made = tw__object_new(&tw__origin_class);
        if (made) {
            made->text = text;
            tw_release(last);
            last = made;
        } else {
            tw__free(text);
        }
    }
    tw_object *out = text && last ? tw_retain(&last->object) : NULL;
    PyErr_Clear();
    PyErr_Restore(type, value, traceback);
    tw__py_leave(state);
    return out;
}

void tw__py_origin_start(void)
{
    tw__origin_now = origin_now;
}
