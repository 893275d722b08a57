/* Model.save_weights and load_weights: in TensorFlow's checkpoint format the model is the root of the object graph, and the
 * directory's state file names the newest prefix; a model that is not built yet gets its values as its weights come. Paths that
 * end in .h5, .hdf5 or .keras mean HDF5 files (keras/saving); those that end in .weights.h5 have the variables as .keras files
 * do. */
#include <strings.h>

#include "keras/layers/preprocessing/preprocessing.h"
#include "keras/saving/h5.h"
#include "saving/saving.h"

/* Which of the two formats is meant. */
static tw_status choose_format(const char *path, const char *format, bool *hdf5)
{
    *hdf5 = tw__h5_is_path(path);
    if (!format)
        return TW_OK;
    bool checkpoint = strcasecmp(format, "tf") == 0 || strcasecmp(format, "tensorflow") == 0;
    if (!checkpoint && strcasecmp(format, "h5") != 0 && strcasecmp(format, "hdf5") != 0 && strcasecmp(format, "keras") != 0)
        return tw__fail(TW_VALUE_ERROR, "Unknown format. Received: `save_format`=%s. Was expecting one of {\"tf\", \"h5\"}.",
                        format);
    if (checkpoint && *hdf5)
        return tw__fail(TW_VALUE_ERROR,
                        "save_weights got save_format=\"tf\"/\"tensorflow\", but the filepath (%s) looks like an HDF5 file. Omit "
                        "the \".h5\"/\".keras\" when saving in TensorFlow format.",
                        path);
    *hdf5 = !checkpoint;
    return TW_OK;
}

static tw_status check_built(const tw_layer *model)
{
    if (model->built)
        return TW_OK;
    return tw__fail(TW_VALUE_ERROR,
                    "Weights for model '%s' have not yet been created. Weights are created when the model is first called on "
                    "inputs or `build()` is called with an `input_shape`.",
                    model->name);
}

/* Whether the file may be written: it is not there, or the user says so. */
static tw_status may_write(const char *path, bool hdf5, bool *proceed)
{
    tw__owned char *index = tw__format("%s%s", path, hdf5 ? "" : ".index");
    tw_status status = index ? tw__ask_overwrite(index, proceed) : TW_RESOURCE_EXHAUSTED;
    return status;
}

static tw_status save_hdf5(tw_layer *model, const char *path)
{
    tw__hdf5_node *root = tw__hdf5_tree();
    tw_status status = root ? tw__h5_put_weights(root, model) : TW_RESOURCE_EXHAUSTED;
    if (status == TW_OK)
        status = tw__hdf5_write(root, path);
    tw__hdf5_free(root);
    return status;
}

static tw_status load_hdf5(tw_layer *model, const char *path, bool by_name, bool skip_mismatch)
{
    if (!model->built && !tw__is(model, &tw__class_sequential))
        return tw__fail(TW_VALUE_ERROR,
                        "Unable to load weights saved in HDF5 format into a subclassed Model which has not created its variables "
                        "yet. Call the Model first, then load the weights.");
    TW_TRY(check_built(model));
    tw__hdf5 *file = tw__h5_open(path);
    if (!file)
        return tw__error_status();
    const tw__hdf5_node *weights = tw__hdf5_find(file->root, "model_weights"); /* of a whole model */
    bool listed = tw__hdf5_attribute_find(file->root, "layer_names") != NULL;
    tw_status status = tw__h5_load_weights(file, weights && !listed ? weights : file->root, model, by_name, skip_mismatch);
    tw__hdf5_close(file);
    return status;
}

static tw_checkpoint *checkpoint_of(tw_layer *model)
{
    tw_checkpoint_args args = { .root = &model->trackable };
    return tw_class_make(&tw__class_checkpoint, &args);
}

TW_METHOD(
    model_save_weights,
    "keras.Model.save_weights(self: layer, filepath: str, overwrite: bool = True, save_format: str = None, "
    "options: checkpoint_options = None)",
    "Writes the weights: as an HDF5 file if the path ends in .h5, else as a TensorFlow checkpoint, which becomes the directory's newest.\n"
    "save_format: `h5` or `tf`; None: as the path ends\n"
    "options: options of checkpoints; None: the defaults")
{
    TW_TRY(check_built(args->self));
    bool hdf5 = false, proceed = true;
    TW_TRY(choose_format(args->filepath, args->save_format, &hdf5));
    if (!args->overwrite)
        TW_TRY(may_write(args->filepath, hdf5, &proceed));
    if (!proceed)
        return TW_OK;
    if (tw__ends_with(args->filepath, ".weights.h5"))
        return tw__keras_save_weights(args->self, args->filepath);
    if (hdf5)
        return save_hdf5(args->self, args->filepath);
    tw_auto tw_checkpoint *checkpoint = checkpoint_of(args->self);
    if (!checkpoint)
        return tw__error_status();
    TW_TRY(tw__checkpoint_write(checkpoint, args->filepath));
    char *directory = tw__path_directory(args->filepath), *path = directory ? tw__strdup(args->filepath) : NULL;
    tw_status status = TW_RESOURCE_EXHAUSTED;
    if (path) {
        tw__checkpoint_state state = { .model_checkpoint_path = path, .all_paths = &path, .path_count = 1 };
        status = tw__update_checkpoint_state(directory, &state);
    }
    tw__free(path);
    tw__free(directory);
    return status;
}

TW_METHOD(model_load_weights,
          "keras.Model.load_weights(self: layer, filepath: str, skip_mismatch: bool = False, by_name: bool = False, "
          "options: checkpoint_options = None) -> load_status",
          "Reads what save_weights wrote. From a checkpoint, weights that are not made yet get their values when they are.\n"
          "filepath: the path that `save_weights` was given\n"
          "skip_mismatch: True: leave out layers whose weights have other shapes; for HDF5 files only with `by_name`\n"
          "by_name: True: look layers up by their names instead of their places; HDF5 files only\n"
          "returns: for checkpoints, an object whose methods tell whether everything was found\n"
          "raises: ValueError: the file does not fit the model")
{
    tw_layer *model = args->self;
    if (tw__ends_with(args->filepath, ".weights.h5") || tw__keras_is(args->filepath)) {
        tw__keras_load_weights(model, args->filepath, args->skip_mismatch);
        return NULL;
    }
    if (args->skip_mismatch && !args->by_name) {
        tw__fail(TW_VALUE_ERROR, "When calling model.load_weights, skip_mismatch can only be set to True when by_name is True.");
        return NULL;
    }
    if (tw__h5_is_path(args->filepath) || tw__hdf5_is(args->filepath)) {
        load_hdf5(model, args->filepath, args->by_name, args->skip_mismatch);
        return NULL;
    }
    if (args->by_name) {
        tw__fail(TW_NOT_IMPLEMENTED_ERROR,
                 "Weights may only be loaded based on topology into Models when loading TensorFlow-formatted weights "
                 "(got by_name=True to load_weights).");
        return NULL;
    }
    tw_auto tw_checkpoint *checkpoint = checkpoint_of(model);
    if (!checkpoint)
        return NULL;
    tw__saving_view view = tw__checkpoint_view(checkpoint);
    tw_auto tw__restore *restore = tw__restore_start(args->filepath, &view);
    tw_auto tw_load_status *status = restore ? tw__status_new(restore, checkpoint) : NULL;
    if (!status || tw__preprocessing_finalize_all(&model->trackable) != TW_OK)
        return NULL;
    return tw_load_status_assert_nontrivial_match(status);
}
