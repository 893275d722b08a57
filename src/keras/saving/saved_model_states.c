/* The states of stateful recurrent layers are no weights, but a SavedModel keeps them: layer/keras_api/states/0, 1 … So are the
 * generators of layers that change images by chance, which the saved functions use. */
#include "keras/layers/preprocessing/random_layers.h"
#include "keras/layers/recurrent.h"
#include "keras/saving/saved_model.h"

static tw__rnn *stateful(tw_layer *layer)
{
    tw__rnn *rnn = tw__is(layer, &tw__class_layers_rnn) ? (tw__rnn *)layer : NULL;
    return rnn && rnn->settings.stateful ? rnn : NULL;
}

bool tw__keras_is_stateful(tw_layer *model)
{
    tw_layer **layers;
    int64_t count;
    bool found = false;
    if (tw__collect_layers(&model->trackable, true, &layers, &count) != TW_OK)
        return false;
    for (int64_t i = 0; i < count; i++)
        found |= stateful(layers[i]) != NULL;
    tw__free(layers);
    return found;
}

/* keras_api with its list of states. A new reference. */
static tw_saved_object *api_of(tw__rnn *rnn)
{
    tw_saved_object *api = tw__saved_object_new("_generic_user_object");
    tw_auto tw_saved_object *list = api ? tw__saved_object_new("trackable_list_wrapper") : NULL;
    tw_status status = list ? tw__track(&api->trackable, "states", list) : TW_RESOURCE_EXHAUSTED;
    for (int64_t i = 0; status == TW_OK && i < rnn->state_count; i++) {
        char place[24];
        snprintf(place, sizeof place, "%lld", (long long)i);
        status = tw__track(&list->trackable, place, rnn->states[i]);
    }
    if (status == TW_OK)
        return api;
    tw_release(api);
    return NULL;
}

/* For each such layer: attaches its states to what is saved, or, without that, lets them be restored. */
static tw_status each(tw__extra *extra, tw_layer *model)
{
    tw_layer **layers;
    int64_t count;
    TW_TRY(tw__collect_layers(&model->trackable, true, &layers, &count));
    tw_status status = TW_OK;
    for (int64_t i = 0; status == TW_OK && i < count; i++) {
        tw__random_layer *random = extra ? tw__random_layer_of(layers[i]) : NULL;
        if (random && random->generator)
            status = tw__extra_add(extra, &layers[i]->trackable, "_random_generator", random->generator);
        tw__rnn *rnn = stateful(layers[i]);
        if (!rnn || !rnn->state_count)
            continue;
        tw_auto tw_saved_object *api = api_of(rnn);
        if (!api)
            status = tw__error_status();
        else
            status = extra ? tw__extra_add(extra, &layers[i]->trackable, "keras_api", api)
                           : tw__restore_waiting(&layers[i]->trackable, "keras_api", &api->trackable);
    }
    tw__free(layers);
    return status;
}

tw_status tw__keras_attach_states(tw__extra *extra, tw_layer *model)
{
    return each(extra, model);
}

tw_status tw__keras_restore_states(tw_layer *model)
{
    return each(NULL, model);
}
