/* Saving and loading whole models, whatever the kind of file. The kind is told by save_format, or by the path's end. */
#include <strings.h>

#include "keras/safe_mode.h"
#include "keras/saving/h5.h"
#include "keras/saving/saved_model.h"

typedef enum model_kind { KIND_TF, KIND_H5, KIND_KERAS, KIND_UNKNOWN } model_kind;

static model_kind kind_of(const char *path, const char *format)
{
    if (!format)
        return tw__ends_with(path, ".keras") ? KIND_KERAS : tw__h5_is_path(path) ? KIND_H5 : KIND_TF;
    if (strcasecmp(format, "tf") == 0 || strcasecmp(format, "tensorflow") == 0)
        return KIND_TF;
    if (strcasecmp(format, "h5") == 0 || strcasecmp(format, "hdf5") == 0)
        return KIND_H5;
    return strcasecmp(format, "keras") == 0 ? KIND_KERAS : KIND_UNKNOWN;
}

/* Without the optimizer the model is saved as if it had none; afterwards it is where it was among the children. */
static size_t take_optimizer(tw_trackable *model, tw__child *taken)
{
    size_t place = 0;
    while (place < model->child_count && strcmp(model->children[place].name, "optimizer") != 0)
        place++;
    if (place == model->child_count)
        return SIZE_MAX;
    *taken = model->children[place];
    memmove(&model->children[place], &model->children[place + 1], (--model->child_count - place) * sizeof *model->children);
    return place;
}

static void put_back(tw_trackable *model, size_t place, tw__child taken)
{
    memmove(&model->children[place + 1], &model->children[place], (model->child_count++ - place) * sizeof *model->children);
    model->children[place] = taken;
}

static tw_status save_tf(const tw_model_save_args *args)
{
    tw_trackable *model = &args->self->trackable;
    tw__child optimizer;
    size_t place = !args->include_optimizer ? take_optimizer(model, &optimizer) : SIZE_MAX;
    tw__extra extra = { 0 };
    tw_auto tw_saved_object *signatures = tw__saved_object_new("signature_map");
    tw_status status = signatures ? TW_OK : TW_RESOURCE_EXHAUSTED;
    if (status == TW_OK)
        status =
            tw__saved_attach(&extra, signatures, &args->parents, &args->names, &args->children, &args->keys, &args->signatures);
    if (status == TW_OK)
        status = tw__model_save_tf(args->self, args->filepath, &extra, signatures, args->custom_gradients);
    if (place != SIZE_MAX)
        put_back(model, place, optimizer);
    tw__extra_free(&extra);
    return status;
}

TW_METHOD(
    model_save,
    "keras.Model._save(self: layer, filepath: str, overwrite: bool = True, save_format: str = None, include_optimizer: bool = True, "
    "parents: list<trackable> = None, names: value = None, children: list<trackable> = None, keys: value = None, "
    "signatures: list<saved_concrete> = None, custom_gradients: bool = True)",
    "Writes the model: structure, weights and, as far as the format has them, functions. A path that ends in .h5 means HDF5, in .keras Keras's own format, others a SavedModel.")
{
    switch (kind_of(args->filepath, args->save_format)) {
    case KIND_TF: {
        char *file = tw__path_join(args->filepath, "saved_model.pb");
        bool proceed = file != NULL;
        tw_status status = file && !args->overwrite ? tw__ask_overwrite(file, &proceed) : TW_OK;
        tw__free(file);
        return status != TW_OK || !proceed ? status : save_tf(args);
    }
    case KIND_H5: {
        bool proceed = true;
        if (!args->overwrite)
            TW_TRY(tw__ask_overwrite(args->filepath, &proceed));
        return proceed ? tw__h5_save_model(args->self, args->filepath, args->include_optimizer) : TW_OK;
    }
    case KIND_KERAS: {
        bool proceed = true;
        if (!args->overwrite)
            TW_TRY(tw__ask_overwrite(args->filepath, &proceed));
        return proceed ? tw__keras_save(args->self, args->filepath) : TW_OK;
    }
    default:
        return tw__fail(TW_VALUE_ERROR,
                        "Unknown `save_format` argument. Expected one of 'keras', 'tf', or 'h5'. Received: save_format=%s",
                        args->save_format);
    }
}

TW_API(
    load_model, "keras.models._load_model(filepath: str, compile: bool = True, safe_mode: bool = True) -> layer",
    "The model that a file or a SavedModel holds. In safe mode what the file brings along may not run code, read files that are not its own, or write files.")
{
    tw__safe_scope scope = tw__safe_begin(args->safe_mode, args->filepath);
    tw_layer *model = NULL;
    if (tw_saved_model_contains(args->filepath))
        model = tw__model_load_tf(args->filepath, args->compile);
    else if (tw__keras_is(args->filepath))
        model = tw__keras_load(args->filepath, args->compile);
    else
        model = tw__h5_load(args->filepath, args->compile);
    tw__safe_end(scope);
    return model;
}
