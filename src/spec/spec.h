/* The description language: rows of functions and classes.
 *
 *     TW_API(nn_softmax, "nn.softmax(logits: tensor, axis: int = -1, name: str = None) -> tensor",
 *            "exp(logits) / sum(exp(logits)) along an axis.")
 *     {
 *         return softmax_along(args->logits, args->axis);
 *     }
 *
 *     TW_CLASS(layers_dense,
 *         "keras.layers.Dense(units: int > 0, activation: named<activation> = None, use_bias: bool = True, **layer) -> layer",
 *         .parent = &tw__class_layer, .size = sizeof(dense), .init = dense_init, .methods = &dense_methods,
 *         .doc = "Fully connected layer: activation(inputs @ kernel + bias).");
 *
 * TW_METHOD and TW_PROPERTY are TW_API with a path "Class.name" (the class's own Python path in front) and a first argument
 * `self`. A row begins at a line's start. tools/collect_rows.py reads the rows and writes the argument structs and calls
 * (<thalweg/api.h>), prototypes ("rows.h") and tables (rows.c).
 *
 * The function gets complete arguments: defaults filled in, minima and choices checked, required pointers not NULL. It borrows
 * them.
 *
 * A class's init gets the arguments of its own level: a level below it may have more, which `**id` in its signature says.
 * Construction runs root to leaf. The whole struct is kept as the object's config (copied; objects in it are retained), so that
 * attributes and get_config read it.
 *
 * Ownership: every argument is borrowed, every result is the caller's (<thalweg/base.h>).
 */
#ifndef TW_SPEC_H
#define TW_SPEC_H

#include <thalweg/describe.h>

#include "tensor/tensor.h"

/* A path in the generated table of all paths: its row, and where it begins among the row's paths. */
typedef struct tw__path {
    uint16_t row, start;
} tw__path;

/* The signatures of all rows, in their order, each with a NUL behind it, as a zlib stream. */
typedef struct tw__packed_texts {
    const uint8_t *data;
    uint32_t size, full_size;
} tw__packed_texts;

/* What is written under a key (reference.c): a row's id, "raw_ops.Add". Empty: nothing. */
const char *tw__reference_text(const char *key);

#define TW_API(id, signature_text, doc_text) tw__result_##id tw__impl_##id(__attribute__((unused)) const tw_##id##_args *args)
#define TW_METHOD(id, signature_text, doc_text) TW_API(id, signature_text, doc_text)
#define TW_PROPERTY(id, signature_text, doc_text) TW_API(id, signature_text, doc_text)
#define TW_CLASS(id, signature_text, ...)                                          \
    TW_WRITTEN(const tw_class tw__class_##id = { .signature = &tw__signature_##id, \
                                                 .free_config = tw__config_free,   \
                                                 .visit_config = tw__config_visit, \
                                                 __VA_ARGS__,                      \
                                                 .name = TW__NAME_##id })          \
    struct tw_class

void tw__config_free(void *self);
void tw__config_visit(void *self, tw__visitor visitor, void *context);
/* A C caller's arguments, copied and complete: what the generated calls do first. */
tw_status tw__args_take(const tw_signature *signature, const void *given, void *args);
/* A deep copy of an argument struct; objects are retained. */
void *tw__args_copy(const tw_signature *signature, const void *args);
void tw__args_free(const tw_signature *signature, void *args);
/* A copy of one field takes the place of what stood there, which goes to `old`, a struct of the same kind; it is put back, or let
 * go of. */
bool tw__args_put(const tw_field *field, const void *source, void *args, void *old);
void tw__args_take_back(const tw_field *field, void *args, const void *old);
void tw__args_drop(const tw_field *field, void *old);
/* The field of an object's class that can be set by that name: `args` holds the value, the object gets a copy. An error leaves
 * the object as it was. */
tw_status tw__object_change(void *object, const tw_field *field, const void *args);
typedef enum tw__setting { TW_NO_SETTING, TW_SETTING, TW_FIXED_SETTING, TW_REFUSED_SETTING } tw__setting;
tw__setting tw__object_setting(const void *object, const char *name, const tw_field **field);
/* Copies fields of equal names from one struct to another of another signature. Borrowed. */
void tw__args_project(const tw_signature *from, const void *source, const tw_signature *to, void *target);

/* value makers for results */
void *tw__class_make_default(const tw_class *class_row); /* an object of arguments that are all the default */
tw_value tw__value_str(const char *text);                /* copies */
tw_status tw__value_of_shape(tw_shape shape, tw_value *result);

/* ---- values (value.c, value_parse.c) ---- */
/* A deep copy; objects and tensors are retained. A failure is the thread's error and gives None. */
tw_value tw__value_copy(const tw_value *value);
const tw_value *tw__value_get(const tw_value *dict, const char *key); /* of a dict; NULL */
const char *tw__value_text(const tw_value *dict, const char *key);    /* the same where a text stands; else NULL */
bool tw__value_plain_number(const tw_value *value, double *number);   /* of an int, float or bool; false: it is something else */
/* The value of JSON text; TW_VALUE_ERROR says where it is none. */
tw_status tw__value_parse(const char *text, size_t size, tw_value *value);

#endif
