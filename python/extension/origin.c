/* Where in a Python program a node of a graph was made: the frames outside of this package, as tracebacks print them. */
#include "extension.h"

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

/* Lines are remembered: every node that is traced asks for those of all frames. */
enum { PLACES = 4096 };
static struct {
    PyObject *code; /* a reference */
    int line;
    char *text; /* NULL for a frame of this package, or of what started it */
} places[PLACES];
static int place_count;

static void forget_places(void)
{
    for (int i = 0; i < PLACES; i++) {
        Py_XDECREF(places[i].code);
        tw__free(places[i].text);
    }
    memset(places, 0, sizeof places);
    place_count = 0;
}

/* The name of the function that the code is from: what AutoGraph converted and cut in blocks has that of the program. */
static PyObject *name_of(PyObject *code)
{
    PyObject *module_name = PyUnicode_FromString("thalweg.autograph.conversion");
    PyObject *module = module_name ? PyImport_GetModule(module_name) : NULL;
    PyObject *name = module ? PyObject_CallMethod(module, "program_name", "O", code) : NULL;
    Py_XDECREF(module_name);
    Py_XDECREF(module);
    if (name && name != Py_None)
        return name;
    Py_XDECREF(name);
    PyErr_Clear();
    return PyObject_GetAttrString(code, "co_name");
}

static char *text_of(PyObject *code, int line)
{
    tw__py_auto PyObject *file = PyObject_GetAttrString(code, "co_filename"), *name = name_of(code);
    const char *path = file ? PyUnicode_AsUTF8AndSize(file, NULL) : NULL,
               *text = name ? PyUnicode_AsUTF8AndSize(name, NULL) : NULL;
    bool own = path && package && (strncmp(path, package, strlen(package)) == 0 || strcmp(path, "<frozen runpy>") == 0);
    return path && text && !own ? tw__format("File \"%s\", line %d, in %s", path, line, text) : NULL;
}

static const char *line_of(PyFrameObject *frame)
{
    tw__py_auto PyObject *code = (PyObject *)PyFrame_GetCode(frame);
    int line = PyFrame_GetLineNumber(frame);
    size_t at = (((uintptr_t)code >> 4) * 31 + (size_t)line) % PLACES;
    while (places[at].code && (places[at].code != code || places[at].line != line))
        at = (at + 1) % PLACES;
    if (!places[at].code) {
        places[at].code = Py_NewRef(code);
        places[at].line = line;
        places[at].text = text_of(code, line);
        place_count++;
    }
    return places[at].text;
}

static PyObject *back_name;

static char *text_now(void)
{
    const char *lines[FRAME_LIMIT];
    int count = 0;
    if (place_count > PLACES - PLACES / 4)
        forget_places();
    tw__text text = { 0 };
    PyObject *frame = (PyObject *)PyEval_GetFrame();
    Py_XINCREF(frame);
    while (frame && frame != Py_None && back_name && count < FRAME_LIMIT) {
        const char *line = line_of((PyFrameObject *)frame);
        if (line)
            lines[count++] = line;
        PyObject *back = PyObject_GetAttr(frame, back_name);
        Py_DECREF(frame);
        frame = back;
    }
    Py_XDECREF(frame);
    tw__text_add(&text, "");
    while (count-- > 0) {
        tw__text_add(&text, text.size ? "\n" : "");
        tw__text_add(&text, lines[count]);
    }
    return tw__text_take(&text);
}

/* The same place gives the same object, mostly. */
static tw_object *origin_now(void)
{
    tw__py_inside tw__py_lock_state state = tw__py_enter();
    PyObject *type, *value, *traceback;
    PyErr_Fetch(&type, &value, &traceback);
    if (!package)
        package = package_folder();
    if (!back_name)
        back_name = PyUnicode_InternFromString("f_back");
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
    return out;
}

void tw__py_origin_start(void)
{
    tw__language.origin = origin_now;
}
