/* The Python extension from the inside. It walks the library's tables (thalweg/describe.h) and makes of them what Python sees:
 * functions from function rows, types from class rows, methods and properties on them. Nothing about a single row stands here,
 * except where Python's side of it is more than a call: tensors, variables, tapes, layers, optimizers.
 *
 *   module.c     builds the module tree          function.c  a row as a Python callable: arguments in, result out
 *   arguments.c  one argument into its C place   frame.c     what a call holds    values.c  values of any kind
 *   convert.c, array.c  Python values and arrays into tensors; tensors into arrays
 *   tensor.c     tf.Tensor                       operators.c, index.c  a + b, a[i] for tensors and variables
 *   dtype.c, shape.c  tf.DType, tf.TensorShape   object.c    types of class rows       handle.c  instances and their objects
 *   tracking.c   attributes and tracking
 *   symbolic.c, graph_types.c, graph_function.c  tensors of graphs, tf.Graph, tf.Operation, tf.function
 *   composite.c  ragged and sparse tensors
 *   layer.c, tape.c, variable.c  the special parts of those classes       raw_ops.c  tf.raw_ops    error.c  exceptions
 *
 * Python's lock: every function here runs with it. tw__py_unlock/tw__py_lock let other threads run while C computes; what C calls
 * back then (references to peers, calls of Python functions) takes it again. */
#ifndef TW_EXTENSION_H
#define TW_EXTENSION_H

#define PY_SSIZE_T_CLEAN
#define Py_LIMITED_API 0x030B0000
#include <Python.h>
#include <structmember.h>

#include "embed.h"

#ifndef Py_TPFLAGS_HAVE_VECTORCALL
#define Py_TPFLAGS_HAVE_VECTORCALL (1UL << 11) /* part of the stable ABI from 3.12 on, the same bit before */
#endif
PyAPI_FUNC(PyObject *) PyVectorcall_Call(PyObject *callable, PyObject *tuple, PyObject *dict); /* likewise */
PyAPI_FUNC(int) PyGILState_Check(void); /* exported by every version, though not part of the stable ABI */
#define TW_VECTOR_COUNT(n) ((Py_ssize_t)((n) & ~((size_t)1 << (8 * sizeof(size_t) - 1))))
/* Before what a method says of itself: how it is called, for inspect. */
#define TW_SIGNATURE(text) text "\n--\n\n"

typedef PyObject *(*tw__py_vectorcall)(PyObject *callable, PyObject *const *arguments, size_t count, PyObject *names);

/* A reference that ends with its block. */
static inline void tw__py_auto_end(void *pointer)
{
    Py_XDECREF(*(PyObject **)pointer);
}
#define tw__py_auto __attribute__((cleanup(tw__py_auto_end)))

/* ---- errors (error.c) ---- */
PyObject *tw__py_raise(void); /* raises the thread's error, which it clears; NULL */
tw_status tw__py_plain_error(
    void); /* the kept exception as an error of text and code; in threads that Python did not start, and for datasets */
tw_status tw__py_failed(void); /* the other way: keeps Python's exception as a TW_FOREIGN_ERROR until tw__py_raise */
PyObject *tw__py_error(PyObject *type, const char *format, ...); /* PyErr_FormatV; NULL */
bool tw__py_errors_start(PyObject *errors_module);

/* ---- the lock (object.c) ---- */
typedef struct tw__py_lock_state {
    bool held;
    int known;
    PyGILState_STATE state;
} tw__py_lock_state;
tw__py_lock_state tw__py_enter(void); /* in a call from C: the lock is held afterwards */
void tw__py_leave(tw__py_lock_state state);
/* Until the block ends, behind all that is declared after it. */
static inline void tw__py_inside_end(const tw__py_lock_state *state)
{
    tw__py_leave(*state);
}
#define tw__py_inside __attribute__((cleanup(tw__py_inside_end)))
bool tw__py_holds_lock(void);
PyThreadState *tw__py_unlock(void); /* NULL: the thread did not hold it; then tw__py_lock does nothing */
void tw__py_lock(PyThreadState *thread);

/* ---- tensors (tensor.c) ---- */
typedef struct tw__py_tensor {
    PyObject_HEAD tw_tensor *tensor;
    PyObject *dict, *weak;
} tw__py_tensor;
extern PyTypeObject *tw__py_tensor_type, *tw__py_eager_type, *tw__py_symbolic_type;
#define TW_IS_TENSOR(o) (Py_TYPE(o) == tw__py_eager_type || Py_TYPE(o) == tw__py_symbolic_type)
#define TW_TENSOR(o) (((tw__py_tensor *)(o))->tensor)
PyObject *tw__py_custom_gradient(PyObject *self, PyObject *arguments); /* gradients.c */
PyObject *tw__py_override_gradient(PyObject *self, PyObject *arguments);
PyObject *tw__py_recompute_grad(PyObject *self, PyObject *arguments);
PyObject *tw__py_gradients(PyObject *self, PyObject *arguments);
PyObject *tw__py_wrap_gradient(tw_tensor *gradient); /* takes it: a tensor, slices (tf.IndexedSlices), or NULL: None */
PyObject *tw__py_wrap_tensor(tw_tensor *tensor);     /* takes it; NULL raises the thread's error */
void tw__py_tensor_end(PyObject *self);              /* of all three types */
bool tw__py_tensors_start(PyObject *module);
PyObject *tw__py_reference(PyObject *self, PyObject *unused); /* x.ref() */

/* ---- tracing (symbolic.c, graph_types.c, graph_function.c) ---- */
struct tw__graph;
struct tw__node;
bool tw__py_is_symbolic(PyObject *value);
bool tw__py_symbolic_start(PyObject *module);
bool tw__py_graph_types_start(PyObject *module);
bool tw__py_graph_functions_start(PyObject *module);
bool tw__py_host_start(PyObject *module);             /* host.c: Python functions as ops */
PyObject *tw__py_wrap_graph(struct tw__graph *graph); /* a new reference of its own */
PyObject *tw__py_wrap_operation(struct tw__node *node);
extern PyType_Slot tw__py_operation_slots[];
bool tw__py_sessions_start(PyObject *module); /* session.c */
bool tw__py_datasets_start(PyObject *module); /* dataset.c */
/* A structure that a dataset's element is, or (specs) the structure of its specs. */
typedef enum tw__py_reading { TW_PY_TENSORS, TW_PY_SPECS, TW_PY_ARRAYS } tw__py_reading; /* arrays: lists are structures, too */
bool tw__py_read_element(PyObject *value, tw__py_reading leaves, tw_value *out);
PyObject *tw__py_formed(tw_value *value, bool arrays); /* a container with a form; takes the members */
/* Of a mapping with such keys, sorted; NULL for a dict of texts in order; false: an exception. */
bool tw__py_form_of_mapping(PyObject *mapping, PyObject *keys, void **form);
bool tw__py_form_of_tuple(PyObject *tuple, void **form); /* of a named tuple; NULL for others; false: an exception */
void *tw__py_element_function(PyObject *function);       /* a new reference */
void tw__py_elements_start(void);
bool tw__py_strategies_start(PyObject *module);  /* distribute.c */
void *tw__py_graph_function_of(PyObject *value); /* the tw__function of a GraphFunction, borrowed; NULL: it is none */
/* While tracing, what a function of the API gives is a tensor of the graph. Takes the tensor; NULL: an error is set. */
tw_tensor *tw__py_into_graph(tw_tensor *tensor);
/* Whether two tensors of lasting graphs are told apart by identity: == asks whether they are the same output of the same node. */
bool tw__py_is_lasting(PyObject *value);

/* ---- conversion (convert.c, array.c) ---- */
typedef enum tw__py_how { TW_HINT, TW_DEFAULT, TW_MATCH, TW_FORCE } tw__py_how;
/* A new reference. With a dtype and TW_FORCE nothing else comes out; with TW_HINT it is tried first; with TW_DEFAULT also, but
 * integers that do not fit int32 become int64 instead of being cut; TW_MATCH forces what is not a tensor. NULL: an exception is
 * set. */
tw_tensor *tw__py_to_tensor(PyObject *value, tw_dtype dtype, tw__py_how how);
bool tw__py_is_tensor_like(PyObject *value);     /* a tensor or variable */
tw_dtype tw__py_dtype_of_value(PyObject *value); /* of a tensor or variable; else TW_DTYPE_NONE */
tw_dtype tw__py_array_dtype(PyObject *value);    /* of its elements; TW_DTYPE_NONE: not a plain one */
/* A tensor on a large array's own memory, until the view is released; NULL, without an error, if that can't be. */
tw_tensor *tw__py_borrow_array(PyObject *value, Py_buffer *view);
tw_tensor *tw__py_from_array(PyObject *value);                             /* buffer protocol, array interface */
tw_tensor *tw__py_cast(tw_tensor *tensor, tw_dtype dtype);                 /* takes the tensor */
tw_tensor *tw__py_cast_value(tw_tensor *tensor, tw_dtype dtype);           /* the same of what is no node, and gives none */
PyObject *tw__py_numpy(void);                                              /* the module, borrowed */
PyObject *tw__py_to_array(tw_tensor *tensor, bool writable, bool give_up); /* give_up: nobody will see the tensor again */
PyObject *tw__py_item(const tw_tensor *tensor, int64_t index);             /* a Python number, bool or bytes */
const char *tw__py_c_name(tw_dtype dtype);                                 /* "float", "double", … as C++ messages say */
bool tw__py_arrays_start(PyObject *module);
int tw__py_get_buffer(PyObject *self, Py_buffer *view, int flags);
void tw__py_release_buffer(PyObject *self, Py_buffer *view);

/* ---- operands of NumPy's functions (numpy.c) ---- */
struct tw__py_frame;
typedef struct tw__py_operands {
    const tw_signature *signature;
    struct tw__py_frame *frame;
    PyObject *const *given; /* one per field */
} tw__py_operands;
bool tw__py_fill_array(const tw__py_operands *operands, const tw_field *field, PyObject *value, tw_tensor **out);
bool tw__py_fill_arrays(const tw__py_operands *operands, const tw_field *field, PyObject *value, tw_tensors *out);
static inline bool tw__py_takes_array(const tw_field *field) /* "tensor<array>" or "tensor<common>" */
{
    const char *word = field->word;
    return word && (*word == 'a' || *word == 'c') && (strcmp(word, "array") == 0 || strcmp(word, "common") == 0);
}
tw_tensor *tw__py_numpy_array(PyObject *value, tw_dtype dtype); /* as asarray makes it; TW_DTYPE_NONE: of its own dtype */
bool tw__py_numpy_dtype(PyObject *value, tw_dtype *dtype);      /* Python's float is float64; false: TypeError */
PyObject *tw__py_numpy_result_type(PyObject *self, PyObject *values);
PyObject *tw__py_numpy_binary(tw__operator which, PyObject *left, PyObject *right); /* an operator that promotes dtypes */

/* ---- dtypes and shapes ---- */
extern PyTypeObject *tw__py_shape_type, *tw__py_dtype_type;
PyObject *tw__py_wrap_dtype(tw_dtype dtype);                                  /* NONE gives None */
bool tw__py_as_dtype(PyObject *value, tw_dtype *dtype);                       /* false: TypeError */
bool tw__py_worded_dtype(const char *word, PyObject *value, tw_dtype *dtype); /* of an argument "dtype<WORD>" */
bool tw__py_dtypes_start(PyObject *module);
PyObject *tw__py_wrap_shape(const tw_shape *shape);
PyObject *tw__py_place(uint32_t device);                /* the whole name of one of the processor's logical devices */
bool tw__py_as_shape(PyObject *value, tw_shape *shape); /* None is the unknown shape */
const tw_shape *tw__py_shape_of(PyObject *value);       /* of a TensorShape */
bool tw__py_shapes_start(PyObject *module);

/* ---- operators and indices (operators.c, index.c) ---- */
/* The slots of operators. Who uses them has functions of these names, made of its own binary(what, left, right) and unary(what,
 * self). */
#define TW_BINARY_SLOT(name_, what_)                        \
    static PyObject *name_(PyObject *left, PyObject *right) \
    {                                                       \
        return binary(what_, left, right);                  \
    }
#define TW_UNARY_SLOT(name_, what_)        \
    static PyObject *name_(PyObject *self) \
    {                                      \
        return unary(what_, self);         \
    }
#define TW_NUMBER_SLOTS                                                                                                 \
    { Py_nb_add, add }, { Py_nb_subtract, subtract }, { Py_nb_multiply, multiply }, { Py_nb_true_divide, true_divide }, \
        { Py_nb_floor_divide, floor_divide }, { Py_nb_remainder, modulo }, { Py_nb_power, power },                      \
        { Py_nb_matrix_multiply, matrix_multiply }, { Py_nb_and, and}, { Py_nb_or, or }, { Py_nb_xor, xor},             \
        { Py_nb_negative, negative }, { Py_nb_absolute, absolute },                                                     \
    {                                                                                                                   \
        Py_nb_invert, invert                                                                                            \
    }
extern PyType_Slot tw__py_operator_slots[]; /* number protocol and comparison; ends in {0} */
PyObject *tw__py_compare(PyObject *self, PyObject *other, int which);
PyObject *tw__py_subscript(PyObject *self, PyObject *key);
PyObject *tw__py_iterate(PyObject *self);
bool tw__py_operators_start(void);

/* ---- functions (function.c) ---- */
typedef struct tw__py_function tw__py_function;
typedef PyObject *(*tw__py_special)(tw__py_function *function, PyObject *const *arguments, Py_ssize_t count, PyObject *names);
struct tw__py_function {
    PyObject_HEAD tw__py_vectorcall vectorcall;
    const tw_signature *signature;
    const tw_op *op;  /* of raw ops */
    const char *name; /* the last part of the path; its own copy */
    size_t name_size;
    PyObject *module;         /* the module's name */
    PyObject **names;         /* interned, one per field; made at the first call */
    const tw_class **classes; /* of handle fields */
    void *defaults;
    bool makes;             /* a class's row as a method of another class */
    bool gives_arrays;      /* results are NumPy arrays */
    const char *outputs_of; /* results are named as this op's outputs, or "tuple"; or NULL */
    ptrdiff_t name_at;      /* of the argument that names nodes of a graph; -1: there is none */
    PyObject *dict;
};
extern PyTypeObject *tw__py_function_type;
/* described.c */
PyObject *tw__py_row_doc(const tw_signature *row);                      /* what is written about it; None: nothing is found */
bool tw__py_describe_type(PyTypeObject *type, const tw_signature *row); /* gives it __signature__ and __doc__ */
PyObject *tw__py_property(PyObject *getter, PyObject *setter);          /* with the getter's text */
PyObject *tw__py_static(PyObject *function);
tw__py_function *tw__py_function_new(const tw_signature *signature, const char *name, size_t name_size, PyObject *module);
bool tw__py_function_ready(tw__py_function *function);
/* Parses arguments and calls the row. */
PyObject *tw__py_function_call(PyObject *function, PyObject *const *arguments, size_t count, PyObject *names);
/* The same for a class row, up to the object. Keyword values come from a dict. */
void *tw__py_construct(tw__py_function *function, PyObject *self, PyObject *arguments, PyObject *keywords);
/* Sorts positional and keyword arguments into `given` (borrowed), one per field from `first` on; false: TypeError. */
bool tw__py_sort_arguments(tw__py_function *function, int first, PyObject *const *arguments, Py_ssize_t count, PyObject *names,
                           PyObject **given, PyObject **rest);
bool tw__py_functions_start(PyObject *module);

/* ---- values (values.c) ---- */
PyObject *tw__py_value(tw_value *value);                /* takes what it owns */
PyObject *tw__py_arrays(tw_value *value);               /* the same, tensors as NumPy arrays */
bool tw__py_read_value(PyObject *value, tw_value *out); /* owns what it points to, also after a failure */

/* ---- what a call holds (frame.c) ---- */
typedef struct tw__py_frame {
    void *few_objects[8], *few_blocks[8];
    void **objects; /* to release */
    void **blocks;  /* to free */
    size_t object_count, object_capacity, block_count, block_capacity;
    PyObject *kept; /* a list of Python objects whose memory is borrowed */
    tw_value *values[8];
    int value_count;
    void **mixed_values; /* ragged and sparse tensors in the place of tensors, per field (composite.c); or NULL */
    void *mixed_lists;
} tw__py_frame;
bool tw__py_keep_object(tw__py_frame *frame, void *object);     /* takes a reference */
void *tw__py_keep_block(tw__py_frame *frame, size_t size);      /* cleared memory */
const char *tw__py_keep_text(tw__py_frame *frame, char *text);  /* takes it */
bool tw__py_keep_python(tw__py_frame *frame, PyObject *object); /* takes a reference */
void tw__py_frame_end(tw__py_frame *frame);

/* ---- arguments (arguments.c) ---- */
/* Converts every given argument into its place. */
bool tw__py_fill(tw__py_function *function, tw__py_frame *frame, PyObject *const *given, PyObject *rest, void *args);
void *tw__py_make_callable(PyObject *function); /* a new tw_callable; NULL: an exception is set */
const char *tw__py_text(tw__py_frame *frame, PyObject *value, const char *function, const char *argument);

/* ---- ragged and sparse tensors (composite.c) ---- */
extern PyType_Slot tw__py_ragged_slots[];
void *tw__py_composite(PyObject *value); /* the object of a ragged or sparse tensor, borrowed; else NULL */
/* A function of tensors gets such a value, or a list with such values. */
bool tw__py_mixed_value(tw__py_frame *frame, const tw_signature *signature, int field, void *composite);
bool tw__py_mixed_list(tw__py_frame *frame, const tw_signature *signature, int field, PyObject *list, tw_dtype dtype,
                       tw__py_how how);
tw_status tw__py_call_mixed(const tw_signature *signature, const tw__py_frame *frame, const void *args, tw_value *result);
PyObject *tw__py_composite_parts(PyObject *self, PyObject *value);
PyObject *tw__py_is_any_tensor(PyObject *self, PyObject *value);

/* ---- instances and their objects (handle.c) ---- */
#define TW_KEEPER "_thalweg_keeper" /* an attribute of instances whose classes have other bases with a layout, too */
typedef struct tw__py_handle_entry {
    const PyObject *instance; /* NULL: nothing is here */
    tw_object *object;
} tw__py_handle_entry;
typedef struct tw__py_handle_table {
    tw__py_handle_entry *entries; /* mask + 1 of them, at least one of which is empty */
    size_t mask, count;
} tw__py_handle_table;
extern tw__py_handle_table tw__py_handles;
static inline size_t tw__py_handle_hash(const void *instance)
{
    return (size_t)(((uint64_t)(uintptr_t)instance * 0x9E3779B97F4A7C15u) >> 32);
}
/* The object of an instance; NULL until __init__. */
static inline void *tw__py_handle(const PyObject *instance)
{
    const tw__py_handle_entry *entries = tw__py_handles.entries;
    size_t mask = tw__py_handles.mask, i = tw__py_handle_hash(instance) & mask;
    while (entries[i].instance && entries[i].instance != instance)
        i = (i + 1) & mask;
    return entries[i].object;
}
bool tw__py_remember(PyObject *instance, tw_object *object);
/* Makes the instance and the object one; of_row: the instance is of a row's own type. Takes the object; false: an exception. */
bool tw__py_attach(PyObject *self, tw_object *object, bool of_row);
PyObject *tw__py_instance(const void *object);           /* borrowed; NULL: Python does not know the object */
PyObject *tw__py_kept(PyObject *self, const char *name); /* of an instance's __dict__, borrowed; NULL: it is not there */
/* A class with the layout of Python's own, which has these slots. `full` names its module, too. */
PyTypeObject *tw__py_class_new(const char *full, const char *name, PyType_Slot *slots, PyTypeObject *parent);
bool tw__py_handles_start(const PyType_Slot *slots);

/* ---- objects (object.c) ---- */
extern PyTypeObject *tw__py_object_type;
bool tw__py_is_object(PyObject *value);
PyObject *tw__py_wrap(void *object);                             /* takes the reference; NULL raises the thread's error */
void *tw__py_unwrap(PyObject *value, const tw_class *class_row); /* borrowed; NULL if it is none of that class (no exception) */
void *tw__py_self(PyObject *value);                              /* borrowed; RuntimeError if __init__ has not run */
PyTypeObject *tw__py_make_type(const tw_signature *signature, PyObject *module);
PyTypeObject *tw__py_type_of(const tw_class *class_row);     /* borrowed; NULL */
tw__py_function *tw__py_maker_of(const tw_class *class_row); /* what reads its constructor's arguments; NULL */
const tw_signature *tw__py_row_of(PyTypeObject *type);       /* of the nearest base made from a row */
bool tw__py_objects_start(PyObject *module);
PyObject *tw__py_class_to_make(PyObject *module, PyObject *arguments); /* of keras.Model(inputs, outputs): Functional */
/* Another C function than the row's for a method. */
tw__py_vectorcall tw__py_special_method(const char *id);
PyType_Slot *tw__py_special_slots(const char *id); /* of the type of a class row; NULL */

/* ---- tracking (tracking.c) ---- */
void *tw__py_trackable(PyObject *value);           /* a new reference: the object itself, or a container of a list or dict */
PyObject *tw__py_wrap_collection(PyObject *value); /* lists and dicts as wrappers that keep their children in step; new */
PyObject *tw__py_callable_list(PyObject *function, PyObject *const *arguments, size_t count, PyObject *names);
PyObject *tw__py_get_attribute(PyObject *self, PyObject *name);
int tw__py_set_attribute(PyObject *self, PyObject *name, PyObject *value);
bool tw__py_has_setter(PyObject *self, PyObject *name);
/* A setting of the library's (settings.c): 1: it is set; 0: it is an attribute like others; -1: an exception. */
int tw__py_set_setting(PyObject *self, PyObject *name, PyObject *value);
bool tw__py_is_setting(PyObject *self, PyObject *name);
extern PyMethodDef tw__py_tracking_functions[];                        /* for the Python side of lists and dicts */
extern PyMethodDef tw__py_nest_functions[];                            /* nest.c: tf.nest */
extern PyMethodDef tw__py_command_functions[];                         /* command.c: the thalweg command */
extern PyMethodDef tw__py_later_functions[], tw__py_package_methods[]; /* later.c: what modules have once it is asked for */

/* ---- variables, tapes, layers ---- */
extern PyType_Slot tw__py_variable_slots[], tw__py_tape_slots[], tw__py_layer_slots[], tw__py_optimizer_slots[];
bool tw__py_is_variable(PyObject *value);
tw_tensor *tw__py_read_variable(PyObject *variable); /* its value; of what an assignment gave, behind the assignment */
tw_tensor *
tw__py_read_named(PyObject *variable); /* the same with a name of its own, where others are named after the node that uses them */
extern PyTypeObject *tw__py_unread_type;     /* NULL: there was none yet */
PyObject *tw__py_unread(PyObject *variable); /* takes it: what an assignment gives */
PyObject *tw__py_variable_assign(PyObject *function, PyObject *const *arguments, size_t count, PyObject *names);
PyObject *tw__py_tape_gradient(PyObject *function, PyObject *const *arguments, size_t count, PyObject *names);
PyObject *tw__py_tape_watch(PyObject *function, PyObject *const *arguments, size_t count, PyObject *names);

/* Whether the instance's class gives a method of its own in Python. */
/* `training` as a symbolic tensor or a variable of a graph: what layers inside of the one that is called get, too. */
bool tw__py_is_choice(PyObject *value);
PyObject *tw__py_outer_choice(void); /* borrowed */
PyObject *tw__py_choice_begin(PyObject *choice);
void tw__py_choice_end(PyObject *outer);
bool tw__py_overrides(PyObject *self, const char *name);
/* The method as AutoGraph converts it while a function is traced; takes the reference. */
PyObject *tw__py_converted(PyObject *method);
void tw__py_layer_made(PyObject *self);
PyObject *tw__py_layer_build(PyObject *function, PyObject *const *arguments, size_t count, PyObject *names);
#define TW_TOLD "_thalweg_told" /* an attribute of exceptions that say which layer they come out of */
/* The exception that is set came out of the layer's own `call`: it gets Keras's words (layer_error.c). */
void tw__py_layer_failed(PyObject *self, PyObject *arguments, PyObject *keywords);
bool tw__py_layer_words(const char *head, const char *tail); /* the same of the exception that is kept, with these words */
PyObject *tw__py_overrides_call(PyObject *self, PyObject *layer);
PyObject *tw__py_current_training(PyObject *self, PyObject *unused);
/* What a layer goes by that is not told: the layer that calls it, else keras.backend.set_learning_phase; -1: nothing. */
int tw__py_outer_training(void);
int tw__py_training_begin(int training); /* a layer is called so; what tw__py_training_end takes */
void tw__py_training_end(int outer);
bool tw__py_read_training(PyObject *value, int *training); /* -1: None or NULL; false: the exception is set */
/* Calls a layer with a `call` of its own in Python (layer_own.c). */
PyObject *tw__py_call_own(PyObject *self, tw_layer *layer, PyObject *arguments, PyObject *keywords);

/* ---- Keras tensors (keras_tensor.c) ---- */
extern PyType_Slot tw__py_keras_tensor_slots[];
bool tw__py_is_keras_tensor(PyObject *value);
void *
tw__py_input_layer(PyObject *tensor); /* the InputLayer that a Keras tensor comes from, borrowed; NULL: from another layer */
bool tw__py_has_keras_tensor(PyObject *value); /* also in lists, tuples and dicts */
PyObject *tw__py_connect(void *layer, PyObject *arguments, PyObject *keywords, int training); /* keywords may be NULL */
PyObject *tw__py_keras_call(const char *path, PyObject *arguments, PyObject *keywords);
PyObject *tw__py_keras_row(const tw_signature *signature, PyObject *const *arguments, Py_ssize_t count, PyObject *names);

/* ---- what C asks of Python (foreign.c) ---- */
void tw__py_made(PyObject *self); /* an instance is complete: lets C know of methods in Python */
char *tw__py_automatic_name(PyObject *self, const tw_class *class_row); /* for tw__free; NULL: C names it */
PyObject *tw__py_callable_function(void *object); /* the function in a tw_callable, borrowed; NULL: none of ours */
void tw__py_hooks_start(void);
/* message.c, message_wire.c: protocol buffer messages */
bool tw__py_messages_start(PyObject *module);
PyObject *tw__py_message_names(PyObject *self, PyObject *ignored);
PyObject *tw__py_message_fields(PyObject *self, PyObject *name);
PyObject *tw__py_message_describe(PyObject *self, PyObject *arguments);
PyObject *tw__py_message_extend(PyObject *self, PyObject *arguments);
PyObject *tw__py_message_errors(PyObject *self, PyObject *class);
PyObject *tw__py_keras_objects(PyObject *self,
                               PyObject *arguments); /* keras_objects.c: how the program's own classes are written and made */
void *
tw__py_from_config(PyObject *dict,
                   const char *word); /* the object that a dict with class and config describes; NULL: an exception is set */
void *tw__py_named_callable(PyObject *function, const char *word); /* a function as an "initializer", or as any other callable */
PyObject *tw__py_custom_object(PyObject *name); /* what a name means among the program's own; NULL: nothing. A new reference */
void tw__py_training_start(void);               /* training.c: what fit asks of subclasses and callbacks */

/* ---- tracing (trace.c) ---- */
PyObject *tw__py_trace_and_call(PyObject *self, PyObject *arguments);
tw_tensor **tw__py_read_tensors(PyObject *value,
                                int *count); /* new references in an array from tw__alloc; NULL: an exception is set */
PyObject *tw__py_wrap_list(tw_tensor *const *tensors, int count);
static inline void tw__py_release_all(tw_tensor **tensors, int count) /* and the array, from tw__alloc */
{
    for (int i = 0; tensors && i < count; i++)
        tw_release(tensors[i]);
    tw__free(tensors);
}
/* A Python function of flat tensors as the body of a tw__function; it is the context. */
tw_status tw__py_flat_body(void *context, tw_tensor *const *arguments, int argument_count, tw_tensor ***outputs,
                           int *output_count);

/* ---- branches and loops (control.c) ---- */
PyObject *tw__py_is_tracing(PyObject *self, PyObject *unused);
PyObject *tw__py_present_graph(PyObject *module, PyObject *unused);
void tw__py_origin_start(void); /* nodes of graphs know where they were made */
PyObject *tw__py_in_function(PyObject *self, PyObject *unused);
PyObject *tw__py_cond(PyObject *self, PyObject *arguments);
PyObject *tw__py_switch(PyObject *self, PyObject *arguments);
PyObject *tw__py_while(PyObject *self, PyObject *arguments);
PyObject *tw__py_map_rows(PyObject *self, PyObject *arguments);
PyObject *tw__py_fold_rows(PyObject *self, PyObject *arguments);
PyObject *tw__py_case(PyObject *self, PyObject *arguments);

/* ---- raw ops (raw_ops.c) ---- */
PyObject *tw__py_raw_op(PyObject *module, PyObject *name); /* raw_ops.__getattr__ */
char *tw__py_raw_op_text(const tw_op *op);                 /* an op as a row would be written, for its signature; for tw__free */
PyObject *tw__py_name_outputs(const char *op, PyObject *list); /* a list of results as the op's named tuple; takes the list */
PyObject *tw__py_raw_op_names(PyObject *module, PyObject *unused);

#endif
