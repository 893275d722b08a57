/* Models in HDF5 files as a whole: loaded, compiled as they were, with the optimizer's state; and the steps of that for embedding
 * languages. */
#include <sys/stat.h>

#include "keras/models/training.h"
#include "keras/saving/h5.h"
#include "keras/saving/saved_model.h"

static tw__hdf5 *open_model(const char *path)
{
    struct stat info;
    if (stat(path, &info) == 0 && S_ISDIR(info.st_mode)) {
        tw__fail(TW_OS_ERROR, "SavedModel file does not exist at: %s/{saved_model.pbtxt|saved_model.pb}", path);
        return NULL;
    }
    if (!tw__path_exists(path)) {
        tw__fail(TW_OS_ERROR, "No file or directory found at %s", path);
        return NULL;
    }
    return tw__hdf5_open(path);
}

/* As the model was compiled when it was saved. */
static tw_status compile(tw__hdf5 *file, tw_layer *model)
{
    tw_value arguments;
    TW_TRY(tw__h5_training(file, &arguments));
    if (arguments.kind != TW_VALUE_DICT) {
        tw__log("WARNING",
                "No training configuration found in the save file, so the model was *not* compiled. Compile it manually.");
        return TW_OK;
    }
    tw_status status = tw__keras_compile_with(model, &arguments);
    tw_value_free(&arguments);
    return status == TW_OK ? tw__h5_load_optimizer(file, model) : status;
}

tw_layer *tw__h5_load(const char *path, bool with_training)
{
    tw__hdf5 *file = open_model(path);
    tw_layer *model = file ? tw__h5_load_model(file) : NULL;
    if (model && with_training && compile(file, model) != TW_OK) {
        tw_release(model);
        model = NULL;
    }
    tw__hdf5_close(file);
    return model;
}

/* ---- the steps for an embedding language, whose own compile stands between them ---- */

TW_API(load_model_training, "keras.models._training_of(filepath: str) -> value",
       "What the model in a file was compiled with; None: it was not.")
{
    tw_value arguments = { .kind = TW_VALUE_NONE };
    if (tw_saved_model_contains(args->filepath)) {
        tw__model_training_tf(args->filepath, &arguments);
        return arguments;
    }
    if (tw__keras_is(args->filepath)) {
        tw__keras_training(args->filepath, &arguments);
        return arguments;
    }
    tw__hdf5 *file = open_model(args->filepath);
    if (file)
        tw__h5_training(file, &arguments);
    tw__hdf5_close(file);
    return arguments;
}

TW_METHOD(model_load_optimizer, "keras.Model._load_optimizer(self: layer, filepath: str)",
          "Gives the optimizer the state that is in a file.")
{
    if (tw__keras_is(args->filepath))
        return tw__keras_load_optimizer(args->filepath, args->self);
    tw__hdf5 *file = open_model(args->filepath);
    tw_status status = file ? tw__h5_load_optimizer(file, args->self) : tw__error_status();
    tw__hdf5_close(file);
    return status;
}
