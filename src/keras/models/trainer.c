/* The trainer of a model: what it holds, who has it, and its metrics; see training.h. */
#include "base/language.h"
#include "keras/models/training.h"

void tw__names_free(char **names, int count)
{
    for (int i = 0; names && i < count; i++)
        tw__free(names[i]);
    tw__free(names);
}

static void visit_list(void *const *items, int count, tw__visitor visitor, void *context)
{
    for (int i = 0; items && i < count; i++) {
        if (items[i])
            visitor(context, items[i]);
    }
}

static void trainer_visit(void *self, tw__visitor visitor, void *context)
{
    tw__trainer *t = self;
    void *single[] = { t->optimizer, t->total, t->history };
    visit_list(single, 3, visitor, context);
    visit_list((void *const *)t->losses, t->output_count, visitor, context);
    visit_list((void *const *)t->means, t->output_count, visitor, context);
    for (int i = 0; i < t->list_count; i++)
        visitor(context, &t->list[i].metric->layer.trackable.object);
    for (int64_t i = 0; i < t->frozen_count; i++) {
        if (t->frozen[i].layer)
            visitor(context, &t->frozen[i].layer->trackable.object);
    }
    const tw_value *values[] = { &t->loss, &t->metrics, &t->weighted_metrics };
    for (int i = 0; i < 3; i++)
        tw__value_visit(values[i], visitor, context);
}

void tw__trainer_release_list(void *list, int count)
{
    void **items = list;
    for (int i = 0; items && i < count; i++)
        tw_release(items[i]);
    tw__free(items);
}

void tw__trainer_forget_steps(tw__trainer *t)
{
    tw__trainer_forget_streams(t);
    for (int i = 0; i < TW_MODES; i++) {
        tw__step step = t->steps[i];
        t->steps[i] = (tw__step){ .names = step.names, .name_count = step.name_count }; /* of results that a pass still has */
        tw_release(step.concrete);
        tw_release(step.function);
        tw__free(step.specs);
    }
}

void tw__trainer_forget_places(tw__trainer *t)
{
    for (int i = 0; i < TW_PLACED; i++) {
        tw__free(t->places[i]);
        t->places[i] = NULL;
        t->place_counts[i] = 0;
    }
}

void tw__trainer_clear(void *self)
{
    tw__trainer *t = self;
    tw__trainer_forget_places(t);
    tw__trainer was = *t;
    t->frozen = NULL;
    t->frozen_count = 0;
    t->output_keys = NULL;
    t->losses = NULL;
    t->means = NULL;
    t->list = NULL;
    t->list_count = t->output_count = 0;
    t->losses_built = t->metrics_built = t->compiled = false;
    t->output_names = NULL;
    t->weights = NULL;
    t->loss = t->metrics = t->loss_weights = t->weighted_metrics = (tw_value){ .kind = TW_VALUE_NONE };
    tw__set(&t->optimizer, NULL);
    tw__set(&t->total, NULL);
    tw__set(&t->history, NULL);
    tw__trainer_forget_steps(t);
    for (int i = 0; i < TW_MODES; i++) {
        tw__names_free(t->steps[i].names, t->steps[i].name_count);
        t->steps[i] = (tw__step){ 0 };
    }
    for (int i = 0; i < was.list_count; i++)
        tw_release(was.list[i].metric);
    tw__free(was.list);
    for (int64_t i = 0; i < was.frozen_count; i++)
        tw_release(was.frozen[i].layer);
    tw__free(was.frozen);
    tw__names_free(was.output_keys, was.output_count);
    tw__trainer_release_list(was.losses, was.output_count);
    tw__trainer_release_list(was.means, was.output_count);
    tw__names_free(was.output_names, was.output_count);
    tw__free(was.weights);
    tw_value_free(&was.loss);
    tw_value_free(&was.metrics);
    tw_value_free(&was.loss_weights);
    tw_value_free(&was.weighted_metrics);
}

static void trainer_destroy(void *self)
{
    tw__trainer_clear(self);
    tw__trainer_free_nestings(self);
}

const tw_class tw__trainer_class = {
    .name = "Trainer",
    .size = sizeof(tw__trainer),
    .destroy = trainer_destroy,
    .visit = trainer_visit,
    .clear = tw__trainer_clear,
};

tw__trainer *tw__trainer_of(tw_layer *layer)
{
    tw__model *model = (tw__model *)layer;
    if (!layer || !tw__is(layer, &tw__class_model)) {
        tw__fail(TW_TYPE_ERROR, "a model is expected, got %s", layer ? tw_class_name(layer) : "NULL");
        return NULL;
    }
    static tw__lock making = TW__LOCK;
    tw__lock_take(&making);
    if (!model->trainer && (model->trainer = tw__object_new(&tw__trainer_class))) {
        model->trainer->model = layer;
        model->trainer->steps_per_execution = 1;
    }
    tw__trainer *trainer = model->trainer;
    tw__lock_give(&making);
    return trainer;
}

tw_status tw__trainer_begin(tw__trainer *t, const char *what, int own)
{
    if (tw__in_graph() && !tw__in_lasting())
        return tw__fail(
            TW_RUNTIME_ERROR,
            "Detected a call to `Model.%s` inside a `tf.function`. `Model.%s is a high-level endpoint that manages its own "
            "`tf.function`. Please move the call to `Model.%s` outside of all enclosing `tf.function`s. Note that you can call a `Model` "
            "directly on `Tensor`s inside a `tf.function` like: `model(x)`.",
            what, what, what);
    tw__deep_take(&t->lock);
    if (t->own != own) {
        tw__trainer_forget_steps(t);
        t->own = own;
    }
    return TW_OK;
}

void tw__trainer_end(tw__trainer *t)
{
    tw__deep_give(&t->lock);
}

tw_status tw__trainer_check(tw_layer *model, const char *what)
{
    (void)what;
    tw__trainer *trainer = tw__trainer_of(model);
    if (!trainer)
        return tw__error_status();
    if (!trainer->compiled)
        return tw__fail(TW_RUNTIME_ERROR,
                        "You must compile your model before training/testing. Use `model.compile(optimizer, loss)`.");
    return TW_OK;
}

/* ---- all metrics ---- */

tw_status tw__trainer_metrics(tw__trainer *t, tw_metric ***metrics, int *count)
{
    tw_metric **added; /* by layers, and as attributes */
    int more, n = 0;
    TW_TRY(tw__collect_metrics(t->model, &added, &more));
    tw_metric **all = tw__alloc_array((size_t)(t->output_count + t->list_count + more) + 2, sizeof *all);
    if (!all) {
        tw__free(added);
        return tw__error_status();
    }
    if (t->losses_built) {
        all[n++] = t->total;
        for (int i = 0; t->means && i < t->output_count; i++) {
            if (t->means[i])
                all[n++] = t->means[i];
        }
    }
    for (int i = 0; t->metrics_built && i < t->list_count; i++)
        all[n++] = t->list[i].metric;
    for (int i = 0; i < more; i++) {
        bool known = false;
        for (int k = 0; k < n && !known; k++)
            known = all[k] == added[i];
        if (!known)
            all[n++] = added[i];
    }
    tw__free(added);
    *metrics = all;
    *count = n;
    return TW_OK;
}

static tw_status reset_own(tw__trainer *t)
{
    tw__auto(tw_objects_free) tw_objects own = { 0 };
    TW_TRY(tw__language.metrics(t->model, &own));
    for (int64_t i = 0; i < own.count; i++)
        TW_TRY(tw__metric_reset(own.items[i]));
    return TW_OK;
}

tw_status tw__trainer_reset(tw__trainer *t)
{
    if (t->own & TW_OWN_METRICS && tw__language.metrics)
        return reset_own(t);
    tw_metric **metrics;
    int count;
    TW_TRY(tw__trainer_metrics(t, &metrics, &count));
    tw_status status = TW_OK;
    for (int i = 0; status == TW_OK && i < count; i++)
        status = tw__metric_reset(metrics[i]);
    tw__free(metrics);
    return status;
}

TW_METHOD(model_reset_metrics, "keras.Model.reset_metrics(self: layer)", "Begins all metrics again.")
{
    tw__trainer *t = tw__trainer_of(args->self);
    return t ? tw__trainer_reset(t) : tw__error_status();
}

TW_PROPERTY(model_metrics, "keras.Model.metrics(self: layer) -> list<metric>",
            "The metrics, those of losses first; of compiled ones only after the "
            "first step.")
{
    tw__trainer *t = tw__trainer_of(args->self);
    tw_metric **metrics = NULL;
    int count = 0;
    if (!t || tw__trainer_metrics(t, &metrics, &count) != TW_OK)
        return (tw_objects){ 0 };
    for (int i = 0; i < count; i++)
        tw_retain(metrics[i]);
    return (tw_objects){ (void *const *)metrics, count };
}
