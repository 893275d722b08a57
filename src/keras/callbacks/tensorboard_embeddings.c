/* keras.callbacks.TensorBoard for the page of embeddings: which tensors of checkpoints are some, and the checkpoints. */
#include "keras/callbacks/tensorboard.h"

#include "keras/models/training.h"

/* The key of the layer's table in a checkpoint of the model; for tw__free. NULL: the layer is no child of the model, or no
 * memory. */
static char *table_key(const tw_layer *model, const tw_layer *layer)
{
    const tw_trackable *root = &model->trackable;
    for (size_t i = 0; i < root->child_count; i++) {
        if (root->children[i].object == (const tw_object *)layer)
            return tw__format("%s/embeddings/.ATTRIBUTES/VARIABLE_VALUE", root->children[i].name);
    }
    return NULL;
}

static bool is_known(tw_layer *const *layers, int64_t count, const char *name)
{
    for (int64_t i = 0; i < count; i++) {
        if (tw__is(layers[i], &tw__class_layers_embedding) && strcmp(layers[i]->name, name) == 0)
            return true;
    }
    return false;
}

/* The file with what the points of a layer are called; NULL: none was named. */
static const char *file_of(const tw_value *metadata, const tw_layer *layer)
{
    const tw_value *found = metadata->kind == TW_VALUE_DICT ? tw__value_get(metadata, layer->name) : metadata;
    return found && found->kind == TW_VALUE_STR ? found->s.data : NULL;
}

static tw_status check_names(const tw_value *metadata, tw_layer *const *layers, int64_t count)
{
    for (int64_t i = 0; metadata->kind == TW_VALUE_DICT && i + 1 < metadata->list.count; i += 2) {
        const char *name = metadata->list.items[i].kind == TW_VALUE_STR ? metadata->list.items[i].s.data : "";
        if (!is_known(layers, count, name))
            return tw__fail(TW_VALUE_ERROR,
                            "Unrecognized `Embedding` layer names passed to `keras.callbacks.TensorBoard` `embeddings_metadata` "
                            "argument: dict_keys(['%s'])",
                            name);
    }
    return TW_OK;
}

static tw_status write_text(const char *log_dir, const tw__text *text)
{
    tw__owned char *path = tw__format("%s/projector_config.pbtxt", log_dir);
    tw_status status = path ? tw__make_directories(log_dir) : TW_RESOURCE_EXHAUSTED;
    tw__file_writer *file = status == TW_OK ? tw__file_create(path) : NULL;
    if (status == TW_OK)
        status = file ? tw__file_write(file, text->data, text->size) : tw__error_status();
    if (status == TW_OK)
        return tw__file_commit(file);
    tw__file_abandon(file);
    return status;
}

tw_status tw__board_list_embeddings(tw_layer *model, const char *log_dir, const tw_value *metadata)
{
    tw_layer **layers;
    int64_t count;
    TW_TRY(tw__collect_layers(&model->trackable, false, &layers, &count));
    tw__auto(tw__text_free) tw__text text = { 0 };
    tw_status status = check_names(metadata, layers, count);
    for (int64_t i = 0; status == TW_OK && i < count; i++) {
        tw__owned char *key = tw__is(layers[i], &tw__class_layers_embedding) ? table_key(model, layers[i]) : NULL;
        const char *names = file_of(metadata, layers[i]);
        if (!key)
            continue;
        tw__text_format(&text, "embeddings {\n  tensor_name: \"%s\"\n", key);
        if (names)
            tw__text_format(&text, "  metadata_path: \"%s\"\n", names);
        tw__text_add(&text, "}\n");
    }
    tw__free(layers);
    if (status == TW_OK && text.failed)
        status = TW_RESOURCE_EXHAUSTED;
    return status == TW_OK ? write_text(log_dir, &text) : status;
}

tw_status tw__board_save_embeddings(tw_layer *model, const char *log_dir, int64_t epoch)
{
    tw__owned char *path = tw__format("%s/train/keras_embedding.ckpt-%lld", log_dir, (long long)epoch);
    tw_model_save_weights_args args;
    tw_args_default(&tw__signature_model_save_weights, &args);
    args.self = model;
    args.filepath = path;
    return path ? tw__impl_model_save_weights(&args) : TW_RESOURCE_EXHAUSTED;
}
