/* The library's description of itself: every function, method, property and class that users see, with its arguments, their
 * types and defaults. Front ends (the Python extension, stub and reference generators) walk these tables; nothing is listed
 * twice.
 *
 * A signature as it stands in the source:
 *     "nn.softmax(logits: tensor, axis: int = -1, name: str = None) -> tensor"
 * gives the Python function tf.nn.softmax, the C call tw_nn_softmax(logits, .axis = 1), its argument struct tw_nn_softmax_args
 * and the fields below, whose offsets point into that struct.
 */
#ifndef THALWEG_DESCRIBE_H
#define THALWEG_DESCRIBE_H

#include <thalweg/tensor.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What an argument or result is, and its C type in the argument struct. */
typedef enum tw_kind {
    TW_KIND_NONE,    /* no result */
    TW_KIND_TENSOR,  /* tw_tensor *         "tensor"; "tensor<T>": all T have one dtype; "tensor<float32>": unless told otherwise;
                                            "tensor<dtype>": as the argument named dtype says;
                                            "tensor<first>": numbers have the first one's dtype if they can;
                                            "tensor<own>": likewise that of self; "tensor<x>": that of the argument x;
                                            "tensor|ragged": the function is one of single elements: of a ragged tensor it
                                            takes the flat values; "tensor|ragged|sparse": it keeps zeros, too */
    TW_KIND_TENSORS, /* tw_tensors          "tensors", "tensors<T>" */
    TW_KIND_INT,     /* int64_t             "int", "int > 0", "int >= 0"; None is TW_NO_INT */
    TW_KIND_FLOAT,   /* double              "float"; None is NaN */
    TW_KIND_BOOL,    /* bool                "bool" */
    TW_KIND_STR,     /* const char *        "str", "str {same, valid}" */
    TW_KIND_DTYPE,   /* tw_dtype            "dtype" */
    TW_KIND_SHAPE,   /* tw_shape            "shape"; None is rank -1 */
    TW_KIND_INTS,    /* tw_ints             "ints": one integer or several */
    TW_KIND_HANDLE,  /* tw_NAME *           any other word: the class of that id, e.g. "variable" */
    TW_KIND_HANDLES, /* tw_objects          "list<NAME>"; also as a result */
    TW_KIND_PAIRS,   /* tw_pairs            "pairs<NAME>": names with objects; Python's keyword arguments */
    TW_KIND_NAMED,   /* tw_named            "named<GROUP>": a name or an object, e.g. named<activation> */
    TW_KIND_NUMBER,  /* double, and void *NAME_object   "number": a number, or an object that gives one */
    TW_KIND_VALUE    /* tw_value            "value": anything; also as a result */
} tw_kind;

/* A list of objects: TW_OBJECTS(a, b). As an argument it is borrowed; as a result it is the caller's, for tw_objects_free. */
typedef struct tw_objects {
    void *const *items;
    int64_t count;
} tw_objects;
#define TW_OBJECTS(...) ((tw_objects){ (void *[]){ __VA_ARGS__ }, (int64_t)(sizeof((void *[]){ __VA_ARGS__ }) / sizeof(void *)) })

TW_API_FUNCTION void tw_objects_free(tw_objects *objects);

/* Borrowed names with objects: TW_PAIRS({ "model", model }, { "optimizer", optimizer }). */
typedef struct tw_pair {
    const char *name;
    void *object;
} tw_pair;
typedef struct tw_pairs {
    const tw_pair *items;
    int64_t count;
} tw_pairs;
#define TW_PAIRS(...) \
    ((tw_pairs){ (const tw_pair[]){ __VA_ARGS__ }, (int64_t)(sizeof((const tw_pair[]){ __VA_ARGS__ }) / sizeof(tw_pair)) })

typedef struct tw_value_list {
    struct tw_value *items;
    int64_t count;
    void *form; /* the container's own type: an object of the embedding language; NULL: a plain one */
} tw_value_list;

/* One value of any kind; lists and dicts nest. As a result it owns what it points to (tw_value_free). */
typedef struct tw_value {
    enum {
        TW_VALUE_NONE,
        TW_VALUE_BOOL,
        TW_VALUE_INT,
        TW_VALUE_FLOAT,
        TW_VALUE_STR, /* text */
        TW_VALUE_BYTES,
        TW_VALUE_DTYPE,
        TW_VALUE_SHAPE,
        TW_VALUE_TENSOR,
        TW_VALUE_OBJECT,
        TW_VALUE_LIST,
        TW_VALUE_TUPLE,
        TW_VALUE_DICT /* items are key, value, key, value … ; count is the number of items */
    } kind;
    union {
        bool b;
        int64_t i;
        double f;
        tw_string s;
        tw_dtype dtype;
        tw_shape *shape;
        tw_tensor *tensor;
        void *object;
        tw_value_list list;
    };
} tw_value;
/* Borrowed structures of tensors: TW_TUPLE(TW_LEAF(x), TW_LEAF(y)), TW_DICT(TW_TEXT("x"), TW_LEAF(x)). */
#define TW_LEAF(tensor_) ((tw_value){ .kind = TW_VALUE_TENSOR, .tensor = (tensor_) })
#define TW_TUPLE(...)           \
    ((tw_value){                \
        .kind = TW_VALUE_TUPLE, \
        .list = { (tw_value[]){ __VA_ARGS__ }, (int64_t)(sizeof((tw_value[]){ __VA_ARGS__ }) / sizeof(tw_value)), NULL } })
#define TW_DICT(...)           \
    ((tw_value){               \
        .kind = TW_VALUE_DICT, \
        .list = { (tw_value[]){ __VA_ARGS__ }, (int64_t)(sizeof((tw_value[]){ __VA_ARGS__ }) / sizeof(tw_value)), NULL } })
/* A borrowed text where an argument takes any value: tw_nn_conv2d(x, w, TW_INTS(1), TW_TEXT("SAME")). */
#define TW_TEXT(text_) ((tw_value){ .kind = TW_VALUE_STR, .s = { (text_), sizeof(text_) - 1 } })
TW_API_FUNCTION void tw_value_free(tw_value *value);
/* A member of a dict by its key, of a tuple or list by its number; borrowed. NULL: there is none. */
TW_API_FUNCTION const tw_value *tw_value_get(const tw_value *value, const char *key);
TW_API_FUNCTION const tw_value *tw_value_at(const tw_value *value, int64_t index);
TW_API_FUNCTION char *tw_value_json(const tw_value *value); /* as JSON text, tensors as nested lists; for free() */
/* The same in pieces, which `write` gets as they are made; it gives false to stop. */
TW_API_FUNCTION tw_status tw_value_json_write(const tw_value *value, bool (*write)(void *context, const char *text, size_t size),
                                              void *context);
/* The value that JSON text stands for, for tw_value_free: dicts, lists, texts, numbers, booleans, None. */
TW_API_FUNCTION tw_status tw_value_from_json(const char *text, size_t size, tw_value *value);
/* Nested lists of numbers, booleans or texts as a tensor of that dtype; 0: float32, int32, bool or string, as the values are.
 * {"b64": "…"} stands for bytes, and "NaN", "Infinity", "-Infinity" where floats are wanted for such. NULL: an error. */
TW_API_FUNCTION tw_tensor *tw_value_tensor(const tw_value *value, tw_dtype dtype);

/* One argument. There are thousands: the struct is kept small. */
typedef struct tw_field {
    const char *name; /* Python's */
    union {
        const char *word;    /* what stood between < and >, or a handle's class id; else NULL */
        const char *choices; /* has_choices: "same, valid" */
    };
    union {
        const char *default_text;  /* STR, NAMED; INTS and SHAPE as "1, 1" */
        int64_t default_int;       /* INT, BOOL, DTYPE */
        double default_float;      /* FLOAT, NUMBER */
        const tw_class *class_row; /* HANDLE, HANDLES, PAIRS: what the objects must be; NULL: any object */
        tw_dtype word_dtype;       /* TENSOR, TENSORS: the dtype that the word names, if it names one */
    };
    int16_t minimum; /* value >= minimum; exclusive_minimum: value > minimum */
    uint16_t offset; /* in the argument struct */
    tw_kind kind : 5;
    bool has_choices : 1; /* STR */
    bool required : 1;
    bool none_allowed : 1; /* None may be given ("= None", or "int?" for one without a default); the C value for it is in the
                              table of kinds above, NULL for pointers */
    bool default_none : 1;
    bool keyword_only : 1;
    bool rest : 1;      /* takes what is left: *args for TENSORS and HANDLES, **kwargs for PAIRS */
    bool inherited : 1; /* an argument of the parent class ("**layer") */
    bool has_minimum : 1;
    bool exclusive_minimum : 1;
    bool forces : 1; /* TENSOR, TENSORS: the word is "dtype" or "self", the dtype of another argument that tensors are cast to */
    bool ragged : 1; /* a ragged tensor may stand here for its flat values; */
    bool sparse : 1; /* a sparse one too */
} tw_field;

typedef enum tw_role { TW_ROLE_FUNCTION, TW_ROLE_METHOD, TW_ROLE_PROPERTY, TW_ROLE_CLASS } tw_role;

typedef struct tw_signature {
    const char *id;   /* the C name without tw_ */
    const char *path; /* "nn.softmax"; other names of the same thing behind bars: "reduce_sum|math.reduce_sum" */
    const tw_field *fields;
    tw_role role : 8; /* a method's first field is self; its path is Class.method */
    tw_kind result : 8;
    uint16_t row; /* its number in the table */
    int16_t field_count;
    uint16_t args_size; /* the struct begins with its size, which is smaller in programs that were compiled before options came */
    uint16_t name_offset;      /* of the argument that names nodes of graphs; 0: there is none */
    const char *result_word;   /* class id of a handle; "numpy": tensors that Python gets as NumPy arrays ("-> tensor<numpy>", "->
                                  value<numpy>") */
    void (*body)(void);        /* the row's function, whatever its type is: tw_signature_invoke calls it. NULL for classes */
    const tw_class *class_row; /* for classes */
} tw_signature;

TW_API_FUNCTION int tw_signature_count(void);
TW_API_FUNCTION const tw_signature *tw_signature_at(int index);
TW_API_FUNCTION const tw_signature *tw_signature_find(const char *path); /* by any of its paths; NULL */
/* What a row does, takes, gives and refuses, with an example where there is one; empty where the library does not find its file
 * of texts, thalweg/reference.bin beside it. And its signature as written from "(" on. They are there until tw_shutdown. */
TW_API_FUNCTION const char *tw_signature_doc(const tw_signature *signature);
TW_API_FUNCTION const char *tw_signature_text(const tw_signature *signature);
/* Calls it with a complete argument struct. The result is the caller's. On failure the status says so. */
TW_API_FUNCTION tw_status tw_signature_invoke(const tw_signature *signature, const void *args, tw_value *result);
/* Classes. */
TW_API_FUNCTION const tw_class *tw_class_find(const char *id);
TW_API_FUNCTION const char *tw_class_id(const tw_class *class_row);
TW_API_FUNCTION const tw_class *tw_class_of(const void *object);
TW_API_FUNCTION const tw_class *tw_class_parent(const tw_class *class_row);
TW_API_FUNCTION const tw_signature *tw_class_signature(const tw_class *class_row); /* NULL: an inner class */
TW_API_FUNCTION bool tw_is(const void *object, const tw_class *class_row);
TW_API_FUNCTION void *tw_class_make(const tw_class *class_row, const void *args); /* complete arguments */
/* The arguments an object was made with (the class's struct), or NULL. */
TW_API_FUNCTION const void *tw_object_config(const void *object);
/* Changes one of them by its name, as Python's `layer.rate = 0.1` does: what the object does from then on follows it. The value
 * is borrowed. */
TW_API_FUNCTION tw_status tw_object_set(void *object, const char *name, tw_value value);

/* Makes a C caller's arguments complete: texts, dtypes and lists of integers that are not given get their default, and so do
 * options behind the end of a smaller struct; checks what the signature says. There is room for the whole struct. */
TW_API_FUNCTION tw_status tw_args_complete(const tw_signature *signature, void *args);
/* Fills an argument struct with the defaults. */
TW_API_FUNCTION void tw_args_default(const tw_signature *signature, void *args);
/* Checks minimum and choices of one complete field. */
TW_API_FUNCTION tw_status tw_args_check(const tw_signature *signature, const tw_field *field, const void *args);

/* Lists and values in scopes; see <thalweg/base.h>. */
TW_API_FUNCTION tw_objects tw_made_objects(tw_objects list);
TW_API_FUNCTION tw_value tw_made_value(tw_value value);
TW_API_FUNCTION void tw_scope_forget_value(const tw_value *value);
#ifdef TW_SCOPES
#define tw_value_tensor(...) TW_MADE(tw_tensor *, tw_value_tensor(__VA_ARGS__))
static inline void tw_scope_objects_free(tw_objects *list)
{
    tw_scope_forget(list ? list->items : NULL);
    tw_objects_free(list);
}
static inline void tw_scope_value_free(tw_value *value)
{
    tw_scope_forget_value(value);
    tw_value_free(value);
}
#define tw_objects_free(list) tw_scope_objects_free(list)
#define tw_value_free(value) tw_scope_value_free(value)
#endif

#ifdef __cplusplus
}
#endif
#endif
