/* Any op of the table by TensorFlow's name, for what has no call of its own.
 *
 *     tw_tensor *sum = tw_op_call("Sum", TW_TENSORS(x, axes), &TW_A_BOOL("keep_dims", true), 1);
 */
#ifndef THALWEG_OP_H
#define THALWEG_OP_H

#include <string.h>

#include <thalweg/tensor.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum tw_attr_kind {
    TW_ATTR_NONE,
    TW_ATTR_INT,
    TW_ATTR_FLOAT,
    TW_ATTR_BOOL,
    TW_ATTR_STRING,
    TW_ATTR_TYPE,
    TW_ATTR_SHAPE,
    TW_ATTR_TENSOR,
    TW_ATTR_FUNC,
    TW_ATTR_INTS, /* list(int) */
    TW_ATTR_FLOATS,
    TW_ATTR_BOOLS,
    TW_ATTR_STRINGS,
    TW_ATTR_TYPES,
    TW_ATTR_SHAPES,
    TW_ATTR_FUNCS,
} tw_attr_kind;

/* One attr: a name and a value. As an argument it borrows what it points to. */
typedef struct tw_attr {
    const char *name;
    tw_attr_kind kind;
    int32_t count; /* of lists */
    union {
        int64_t i;
        double f;
        bool b;
        tw_dtype type;
        tw_string s;
        const tw_shape *shape;
        tw_tensor *tensor;
        void *func;
        const int64_t *ints;
        const double *floats;
        const bool *bools;
        const tw_string *strings;
        const tw_dtype *types;
        const tw_shape *shapes;
        void *const *funcs;
    };
} tw_attr;

#define TW_A_INT(name_, value_) ((tw_attr){ .name = (name_), .kind = TW_ATTR_INT, .i = (value_) })
#define TW_A_FLOAT(name_, value_) ((tw_attr){ .name = (name_), .kind = TW_ATTR_FLOAT, .f = (value_) })
#define TW_A_BOOL(name_, value_) ((tw_attr){ .name = (name_), .kind = TW_ATTR_BOOL, .b = (value_) })
#define TW_A_TYPE(name_, value_) ((tw_attr){ .name = (name_), .kind = TW_ATTR_TYPE, .type = (value_) })
#define TW_A_STRING(name_, value_) ((tw_attr){ .name = (name_), .kind = TW_ATTR_STRING, .s = { (value_), strlen(value_) } })
#define TW_A_SHAPE(name_, value_) ((tw_attr){ .name = (name_), .kind = TW_ATTR_SHAPE, .shape = (value_) })
#define TW_A_TENSOR(name_, value_) ((tw_attr){ .name = (name_), .kind = TW_ATTR_TENSOR, .tensor = (value_) })
#define TW_A_FUNC(name_, value_) ((tw_attr){ .name = (name_), .kind = TW_ATTR_FUNC, .func = (value_) })
#define TW_A_FUNCS(name_, values_, count_) \
    ((tw_attr){ .name = (name_), .kind = TW_ATTR_FUNCS, .count = (int32_t)(count_), .funcs = (values_) })
#define TW_A_INTS(name_, values_, count_) \
    ((tw_attr){ .name = (name_), .kind = TW_ATTR_INTS, .count = (int32_t)(count_), .ints = (values_) })
#define TW_A_TYPES(name_, values_, count_) \
    ((tw_attr){ .name = (name_), .kind = TW_ATTR_TYPES, .count = (int32_t)(count_), .types = (values_) })

/* Runs (or, while tracing, records) the op. Attrs that inputs tell are found; others take TensorFlow's defaults. `outputs` has
 * room for *output_count tensors, which is set to the number made; they are the caller's. */
TW_API_FUNCTION tw_status tw_op_apply(const char *op, tw_tensors inputs, const tw_attr *attrs, int attr_count,
                                      tw_tensor **outputs, int *output_count);
/* The same for an op with one output. */
TW_API_FUNCTION tw_tensor *tw_op_call(const char *op, tw_tensors inputs, const tw_attr *attrs, int attr_count);
TW_API_FUNCTION int tw_op_count(void);
TW_API_FUNCTION const char *tw_op_name(int index);
TW_API_FUNCTION const char *tw_op_doc(int index); /* what it does; see tw_signature_doc */

/* What they give belongs to the open scope, if there is one; see <thalweg/base.h>. */
#ifdef TW_SCOPES
#define tw_op_call(...) TW_MADE(tw_tensor *, tw_op_call(__VA_ARGS__))
#endif

#ifdef __cplusplus
}
#endif
#endif
