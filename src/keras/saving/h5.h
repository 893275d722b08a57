/* Keras's HDF5 files: weights by layer (h5_weights.c) and whole models (h5_save.c, h5_load.c, h5_model.c). */
#ifndef TW_KERAS_H5_H
#define TW_KERAS_H5_H

#include "format/hdf5/hdf5.h"
#include "keras/keras.h"

#define TW_KERAS_VERSION "2.15.0"
enum { TW_H5_UNSAVED = 1 << 16 }; /* elements of weights that a model may have beside those in its file: seeds, states */

/* A layer's variables as these files order them: those that training changes first. For tw__free. */
tw_status tw__h5_variables(tw_layer *layer, tw_variable ***variables, int64_t *count);
/* Puts variables under their names into a group, which gets the list of names. */
/* The error of a value whose shape does not go with a variable's. */
tw_status tw__h5_check_shape(const tw_variable *variable, const tw_tensor *value);
tw_status tw__h5_put_variables(tw__hdf5_node *group, tw_variable *const *variables, int64_t count);
tw_status tw__h5_put_named(tw__hdf5_node *group, const char *const *names, tw_variable *const *variables, int64_t count);
/* Puts the weights of all layers of a model into a group. */
tw_status tw__h5_put_weights(tw__hdf5_node *group, tw_layer *model);
/* The values that a group's list of names tells, for tw_tensors_free; .items is NULL after a failure. */
tw_tensors tw__h5_values(tw__hdf5 *file, const tw__hdf5_node *group);
/* Sets the weights of a model from such a group: by the layers' order, or by their names. */
tw_status tw__h5_load_weights(tw__hdf5 *file, const tw__hdf5_node *group, tw_layer *model, bool by_name, bool skip_mismatch);
/* Opens a file; one that is not there is reported as h5py does. */
tw__hdf5 *tw__h5_open(const char *path);
bool tw__h5_is_path(const char *path); /* ends in .h5, .keras or .hdf5 */
/* Asks the user whether a file that is there may be replaced; *proceed is true at once if there is none. */
tw_status tw__ask_overwrite(const char *path, bool *proceed);

/* ---- whole models ---- */
tw_status tw__h5_save_model(tw_layer *model, const char *path, bool include_optimizer); /* (h5_save.c) */
tw_layer *tw__h5_load_model(tw__hdf5 *file);                 /* with its weights, not compiled (h5_load.c) */
tw_layer *tw__h5_load(const char *path, bool with_training); /* the whole (h5_model.c) */
/* How a compiled model is trained, as files tell it; None after a failure. (h5_save.c) */
tw_value tw__keras_training_config(const struct tw__trainer *trainer);
tw_value
tw__keras_entries(const tw_value *given); /* losses, metrics: dicts of class and config, or names, for objects in any structure */
/* The arguments of compile that such a config (changed) tells, with objects for their configs; None of None. `model` is the
 * model's config, or NULL where names of metrics stay. (h5_load.c) */
tw_status tw__keras_training_arguments(const char *path, tw_value *config, const tw_value *model, tw_value *arguments);
tw_status tw__keras_compile_with(tw_layer *model, const tw_value *arguments);
/* What the model was compiled with: {"optimizer", "loss", …} as compile takes them; None if it was not. */
tw_status tw__h5_training(tw__hdf5 *file, tw_value *arguments);
/* Builds the optimizer for the model's variables; *count of them are trained. (h5_optimizer.c) */
tw_status tw__keras_build_optimizer(tw_layer *model, int64_t *count);
/* Builds the optimizer of a compiled model and gives it the state of the file. */
tw_status tw__h5_load_optimizer(tw__hdf5 *file, tw_layer *model);

/* ---- variables by the way to their objects (keras_state.c) ---- */
tw_status tw__keras_put_state(tw__hdf5_node *root, tw_trackable *object);
/* The values of an object at that place in the file, and of what belongs to it; skip_mismatch: what does not fit is left alone
 * with a warning. */
tw_status tw__keras_get_state(tw__hdf5 *file, tw_trackable *object, const char *place, bool skip_mismatch);
struct tw__zip;
/* Vocabularies that layers learnt, into an archive and out of it. */
tw_status tw__keras_put_assets(struct tw__zip *zip, tw_trackable *object);
tw_status tw__keras_get_assets(const char *archive, tw_trackable *object);
tw_status tw__keras_save_weights(tw_layer *model, const char *path); /* as x.weights.h5 */

/* ---- .keras files (keras_file.c) ---- */
bool tw__keras_is(const char *path);                /* an archive, by its end and its first bytes */
tw__hdf5 *tw__keras_open_weights(const char *path); /* of an archive, or of an HDF5 file; NULL: an error */
tw_status tw__keras_save(tw_layer *model, const char *path);
tw_layer *tw__keras_load(const char *path, bool with_training);
tw_status tw__keras_training(const char *path, tw_value *arguments); /* as tw__h5_training */
tw_status tw__keras_load_optimizer(const char *path, tw_layer *model);
tw_status tw__keras_load_weights(tw_layer *model, const char *path, bool skip_mismatch); /* of an archive, or of x.weights.h5 */

#endif
