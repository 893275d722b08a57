/* Values that are made of several tensors (tf.SparseTensor, tf.RaggedTensor), and their types (tf.SparseTensorSpec,
 * tf.RaggedTensorSpec).
 *
 * Whoever handles structures (functions' arguments, tf.nest, datasets) needs to know three things only: the tensors of such a
 * value in order (tw__composite_parts), its type (tw__composite_spec), and how the type makes a value of tensors again
 * (tw__spec_pack). */
#ifndef TW_API_COMPOSITE_H
#define TW_API_COMPOSITE_H

#include "base/temps.h"
#include "api/api.h"
#include "spec/spec.h"

#define TW_COMPOSITE_PARTS 128 /* tensors of one value, at most: as many replicas a value can be of */
#define TW_RAGGED_PARTS 16     /* of a ragged one: splits and values */

/* `methods` of classes below tw__composite_class. */
typedef struct tw__composite_methods {
    int (*parts)(void *self, tw_tensor **parts);         /* borrowed; gives their number */
    struct tw_type_spec *(*spec)(void *self);            /* a new reference */
    void *(*with_values)(void *self, tw_tensor *values); /* the same places with other values, one for each */
} tw__composite_methods;
extern const tw_class tw__composite_class;

struct tw_type_spec {
    tw_object object;
};

/* `methods` of classes below TypeSpec. */
typedef struct tw__type_spec_methods {
    int (*parts)(const void *self, tw_shape *shapes, tw_dtype *dtypes); /* what the parts are; gives their number */
    void *(*pack)(const void *self, tw_tensor *const *parts);           /* the value; a new reference */
    void (*text)(const void *self, tw__text *text);                     /* as Python prints it */
    bool (*covers)(const void *self, const void *other); /* every value of `other`, a spec of the same class, is one of `self` */
} tw__type_spec_methods;

bool tw__is_composite(const void *object);
int tw__composite_parts(void *value, tw_tensor **parts);
struct tw_type_spec *tw__composite_spec(void *value);
int tw__spec_parts(const struct tw_type_spec *spec, tw_shape *shapes, tw_dtype *dtypes);
void *tw__spec_pack(const struct tw_type_spec *spec, tw_tensor *const *parts, int64_t count);
char *tw__spec_text(const struct tw_type_spec *spec);

/* Adds "tf.Tensor(…)" or, of a graph, "Tensor(…)": what str() gives. */
void tw__tensor_text(tw__text *text, const tw_tensor *tensor);
/* "TensorShape([2, None])" and "tf.float32", as repr() gives them. */
void tw__shape_repr(tw__text *text, const tw_shape *shape);
/* Whether every tensor of shape `narrow` has the shape `wide`. */
bool tw__shape_covers(const tw_shape *wide, const tw_shape *narrow);
/* The shape that a vector of sizes says, as far as it is known. */
tw_shape tw__static_shape(const tw_tensor *sizes);

/* ---- values as arguments ---- */
/* Results of rows that give tensors or composites; what is given is taken, NULL gives None. */
tw_value tw__value_of_tensor(tw_tensor *tensor); /* takes it; NULL: None, with the error set */
tw_value tw__value_of_object(void *object);
/* The tensor that a value stands for: itself, a variable's value, or made of numbers, texts and lists of them (integers become
 * `hint` if it is an integer dtype or a float; TW_DTYPE_NONE: int32, float32). A new reference. */
tw_tensor *tw__value_tensor(const tw_value *value, tw_dtype hint, const char *what);
/* A number for elements of that dtype, in the list; a TypeError where it does not fit: fractions are not cut off. */
tw_tensor *tw__temp_fitting(tw__temps *t, tw_tensor *number, tw_dtype dtype);

#endif
