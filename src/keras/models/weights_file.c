/* Model.save_weights and load_weights in TensorFlow's checkpoint format: the model is the root of the object graph, and the directory's
 * state file names the newest prefix. HDF5 is refused by name. A model that is not built yet gets its values as its weights come. */
#include <strings.h>

#include "keras/keras.h"
#include "saving/saving.h"

static bool ends_with(const char *path, const char *end)
{
    size_t size = strlen(path), length = strlen(end);
    return size >= length && strcmp(path + size - length, end) == 0;
}

static bool looks_like_hdf5(const char *path)
{
    return ends_with(path, ".h5") || ends_with(path, ".keras") || ends_with(path, ".hdf5");
}

static tw_status refuse_hdf5(const char *method, const char *path)
{
    return tw__fail(TW_NOT_IMPLEMENTED_ERROR, "%s: HDF5 is not supported yet, got the path '%s'; a path without .h5, .hdf5 or .keras means a "
                    "TensorFlow checkpoint", method, path);
}

static tw_status check_format(const char *path, const char *format)
{
    if (!format)
        return looks_like_hdf5(path) ? refuse_hdf5("save_weights", path) : TW_OK;
    if (strcasecmp(format, "h5") == 0 || strcasecmp(format, "hdf5") == 0 || strcasecmp(format, "keras") == 0)
        return refuse_hdf5("save_weights", path);
    if (strcasecmp(format, "tf") != 0 && strcasecmp(format, "tensorflow") != 0)
        return tw__fail(TW_VALUE_ERROR, "Unknown format. Received: `save_format`=%s. Was expecting one of {\"tf\", \"h5\"}.", format);
    if (looks_like_hdf5(path))
        return tw__fail(TW_VALUE_ERROR, "save_weights got save_format=\"tf\"/\"tensorflow\", but the filepath (%s) looks like an HDF5 file. Omit "
                        "the \".h5\"/\".keras\" when saving in TensorFlow format.", path);
    return TW_OK;
}

static tw_status check_built(const tw_layer *model)
{
    if (model->built)
        return TW_OK;
    return tw__fail(TW_VALUE_ERROR, "Weights for model '%s' have not yet been created. Weights are created when the model is first called on "
                    "inputs or `build()` is called with an `input_shape`.", model->name);
}

static tw_status check_overwrite(const char *path)
{
    char *index = tw__format("%s.index", path);
    if (!index)
        return TW_RESOURCE_EXHAUSTED;
    bool there = tw__path_exists(index);
    tw__free(index);
    return there ? tw__fail(TW_ALREADY_EXISTS, "save_weights: %s.index exists and overwrite is False", path) : TW_OK;
}

static tw_checkpoint *checkpoint_of(tw_layer *model)
{
    tw_checkpoint_args args = { .root = &model->trackable };
    return tw_class_make(&tw__class_checkpoint, &args);
}

TW_METHOD(model_save_weights,
          "keras.Model.save_weights(self: layer, filepath: str, overwrite: bool = True, save_format: str = None, "
          "options: checkpoint_options = None)",
          "Writes the weights as a TensorFlow checkpoint and makes it the directory's newest.")
{
    TW_TRY(check_built(args->self));
    TW_TRY(check_format(args->filepath, args->save_format));
    if (args->no_overwrite)
        TW_TRY(check_overwrite(args->filepath));
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
          "Reads what save_weights wrote. Weights that are not made yet get their values when they are.")
{
    tw_layer *model = args->self;
    if (args->skip_mismatch && !args->by_name) {
        tw__fail(TW_VALUE_ERROR, "When calling model.load_weights, skip_mismatch can only be set to True when by_name is True.");
        return NULL;
    }
    if (looks_like_hdf5(args->filepath)) {
        refuse_hdf5("load_weights", args->filepath);
        return NULL;
    }
    if (args->by_name) {
        tw__fail(TW_NOT_IMPLEMENTED_ERROR, "Weights may only be loaded based on topology into Models when loading TensorFlow-formatted weights "
                 "(got by_name=True to load_weights).");
        return NULL;
    }
    tw_auto tw_checkpoint *checkpoint = checkpoint_of(model);
    if (!checkpoint)
        return NULL;
    tw__saving_view view = tw__checkpoint_view(checkpoint);
    tw_auto tw__restore *restore = tw__restore_start(args->filepath, &view);
    tw_auto tw_load_status *status = restore ? tw__status_new(restore, checkpoint) : NULL;
    if (!status)
        return NULL;
    return tw_load_status_assert_nontrivial_match(status);
}
