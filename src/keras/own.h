/* Parts that a C program gives (<thalweg/own.h>): what others ask of them. */
#ifndef TW_OWN_H
#define TW_OWN_H

#include "keras/keras.h"

extern const tw_class tw__own_layer_class, tw__own_model_class; /* layers/own.c */

/* Whether a C function stands behind the object. */
bool tw__is_own(const void *object);
/* Such an object has no config: sets the error that says so, and gives None. */
tw_value tw__own_config(const void *object);
/* The arguments an object was made with, as a dict; an error for one of a program's own. */
tw_value tw__plain_config(const void *object);

#endif
