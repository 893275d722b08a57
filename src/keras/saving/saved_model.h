/* Keras models in SavedModels; see saved_model.c. */
#ifndef TW_KERAS_SAVED_MODEL_H
#define TW_KERAS_SAVED_MODEL_H

#include "keras/keras.h"
#include "saving/saved_model.h"

/* Saves a model with what is attached to its objects. Signatures that are there are kept; without any the model's call is one.
 * `gradients`: also those that users defined. */
tw_status tw__model_save_tf(tw_layer *model, const char *directory, tw__extra *extra, tw_saved_object *signatures,
                            bool gradients);
/* The model in a directory: of its config, or, of a class that is not known, of its functions. */
tw_layer *tw__model_load_tf(const char *directory, bool with_training);
/* What the model was compiled with, as compile takes it; None if it was not. */
tw_status tw__model_training_tf(const char *directory, tw_value *arguments);
/* How Keras calls an object in the object graph; NULL: it is none of Keras's. */
const char *tw__keras_identifier(const tw_trackable *object);
/* Hangs on a model that was rebuilt from its config what else the file has: functions, tables, variables. (saved_model_others.c)
 */
tw_status tw__keras_attach_others(tw_layer *model, const char *directory);
/* A layer that calls the functions of the file (revived.c), and what such a one takes first: specs, or NULL. */
extern const tw_class tw__class_revived;
const tw_value *tw__revived_input(const tw_layer *layer);
/* The specs of what a model is called with, in their structure; an error if that is not known. */
tw_status tw__model_inputs(tw_layer *model, tw_value *structure);
tw_value tw__model_save_spec(const tw_layer *model, bool any_batch); /* what the first call showed (save_spec.c), or None */
/* A structure of specs with tensors in their places, or the other way round: *next counts them; dicts go by their keys. */
tw_value tw__specs_exchange(const tw_value *value, tw_tensor **tensors, int *next);
tw_status tw__keras_metadata(void *context, const tw__object_walk *walk, tw__text *text);

/* Lets the states of stateful recurrent layers below the model stand in the object graph, as keras_api/states of the layer.
 * (saved_model_states.c) */
tw_status tw__keras_attach_states(tw__extra *extra, tw_layer *model);
tw_status tw__keras_restore_states(tw_layer *model); /* after a restore has begun: they take their values from it */
bool tw__keras_is_stateful(tw_layer *model);         /* whether there are such layers */

#endif
