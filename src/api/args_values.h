/* Argument structs from values of any kind: configs and calls that were written down. */
#ifndef TW_API_ARGS_VALUES_H
#define TW_API_ARGS_VALUES_H

#include "spec/spec.h"

/* A complete argument struct from values: `positional` a list or tuple or NULL, `named` a dict or NULL. Where an object is
 * expected and something else stands there (a dict with a class's name and config, a name that only an embedding language knows)
 * `make` is asked: a new reference; NULL without an error: it knows none. For tw__args_free. */
typedef void *(*tw__object_maker)(const tw_value *value, const tw_field *field);
void *tw__args_of_values(const tw_signature *signature, const tw_value *positional, const tw_value *named, tw__object_maker make);

/* A struct in which one field has this value, and the others anything. For tw__args_free. */
void *tw__args_of_value(const tw_signature *signature, const tw_field *field, const tw_value *value, tw__object_maker make);

#endif
