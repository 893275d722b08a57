/* The loss of a batch and its metrics: each output's labels and weights are matched with its predictions. */
#include <math.h>

#include "graph/graph.h"
#include "keras/models/training.h"
#include "op/calls.h"

/* ---- labels, predictions and weights of one output ---- */

typedef struct matched {
    tw_tensor *y, *prediction, *weight, *mask; /* new references; weight and mask may be NULL */
} matched;

static tw_status match(tw_tensor *y, tw_tensor *prediction, tw_tensor *weight, matched *m)
{
    TW_TEMPS(t);
    bool column = prediction->shape.rank == 2;
    bool alike = (tw__dtype_is_float(y->dtype) && tw__dtype_is_float(prediction->dtype)) ||
                 (tw__dtype_is_integer(y->dtype) && tw__dtype_is_integer(prediction->dtype));
    tw_tensor *labels = y->shape.rank == 1 && column ? TW_TEMP(ExpandDims, y, -1) : y;
    if (weight && weight->shape.rank == 1 && column)
        TW_NEED(weight = TW_TEMP(ExpandDims, weight, -1));
    m->prediction = tw_retain(prediction);
    TW_NEED(m->y = alike ? tw__cast(labels, prediction->dtype) : tw_retain(labels));
    if (weight)
        TW_NEED(weight = tw__temp_cast(t, weight, prediction->dtype));
    tw_tensor *mask = tw__mask_of(prediction);
    m->weight = mask ? NULL : tw_retain(weight);
    if (!mask)
        return TW_OK;
    TW_NEED(m->mask = tw__cast(mask, prediction->dtype));
    TW_NEED(m->weight = tw__mask_weights(weight, m->mask));
    return TW_OK;
}

static void unmatch(matched *m)
{
    tw_release(m->y);
    tw_release(m->prediction);
    tw_release(m->weight);
    tw_release(m->mask);
}

/* ---- the loss ---- */

static tw_tensor *rows_of(tw_tensor *tensor)
{
    TW_TEMPS(t);
    if (tensor->shape.rank > 0 && tensor->shape.dims[0] >= 0)
        return tw_tensor_float((float)tensor->shape.dims[0]);
    tw_tensor *rows = TW_TEMP(GatherV2, TW_TEMP(Shape, tensor), 0, 0);
    return tw__cast(rows, TW_FLOAT32);
}

static tw_status update_mean(tw_metric *mean, tw_tensor *value, tw_tensor *rows)
{
    return tw__impl_mean_update_state(&(tw_mean_update_state_args){ .self = mean, .values = value, .sample_weight = rows });
}

/* total += part; takes the part. */
static tw_status add_to(tw_tensor **total, tw_tensor *part)
{
    tw_auto tw_tensor *old = *total, *added = part;
    *total = old && part ? TW_CALL(AddV2, old, part) : tw_retain(part);
    return *total ? TW_OK : tw__error_status();
}

/* What is summed for the gradients, and what the metric of the loss is told. In replicas the two differ: gradients are summed
 * over the replicas, so that a mean over one's part is divided by their number; the metric weighs the means by their rows. */
typedef struct sums {
    tw_tensor *loss, *shown; /* shown: NULL outside of replicas, where they are the same */
    tw_tensor *rows;
} sums;

static tw_tensor *times(tw_tensor *value, double number)
{
    return number == 1 ? tw_retain(value) : TW_CALL(Mul, value, number);
}

static tw_status add_loss(sums *s, tw_tensor *value, double for_loss, double for_metric)
{
    if (tw__replica < 0 || tw__replicas == 1)
        return add_to(&s->loss, tw_retain(value));
    TW_TRY(add_to(&s->loss, times(value, for_loss)));
    return add_to(&s->shown, times(value, for_metric));
}

static tw_status add_output(tw__trainer *t, int i, tw_tensor *y, tw_tensor *prediction, tw_tensor *weight, sums *s)
{
    tw__auto(unmatch) matched m = { 0 };
    bool adds = t->losses[i]->reduction == TW_SUM_LOSS, part = t->losses[i]->reduction == TW_MEAN_LOSS;
    bool weighs = !isnan(t->weights[i]), outer = tw__losses_of_parts;
    double replicas = tw__replica >= 0 ? tw__replicas : 1, factor = weighs ? t->weights[i] : 1;
    TW_TRY(match(y, prediction, weight, &m));
    tw__losses_of_parts = true;
    tw_auto tw_tensor *value = tw__loss_of(t->losses[i], m.y, m.prediction, m.weight);
    tw__losses_of_parts = outer;
    TW_NEED(value);
    if (!s->rows)
        TW_NEED(s->rows = rows_of(m.y));
    if (t->means) {
        tw_auto tw_tensor *shown = times(value, adds ? replicas : 1);
        TW_NEED(shown);
        TW_TRY(update_mean(t->means[i], shown, s->rows));
    }
    tw_auto tw_tensor *weighted =
        weighs && (tw__replica < 0 || tw__replicas == 1) ? TW_CALL(Mul, value, factor) : tw_retain(value);
    TW_NEED(weighted);
    return add_loss(s, weighted, factor / (part ? replicas : 1), factor * (adds ? replicas : 1));
}

static tw_status add_losses(tw__trainer *t, tw_tensor *const *y, int y_count, tw_tensor *const *predictions, int count,
                            tw_tensor *const *weights, int weight_count, sums *s)
{
    TW_TRY(tw__trainer_build_losses(t));
    if (!t->places[TW_LABELS] && y_count > 1 && y_count != count)
        return tw__fail(TW_VALUE_ERROR, "model \"%s\" has %d outputs, and there are %d labels", t->model->name, count, y_count);
    for (int i = 0; i < count; i++) {
        tw_tensor *labels = tw__trainer_given(t, TW_LABELS, y, y_count, i);
        if (labels && t->losses[i])
            TW_TRY(add_output(t, i, labels, predictions[i], tw__trainer_given(t, TW_WEIGHTS, weights, weight_count, i), s));
    }
    tw__auto(tw_tensors_free) tw_tensors further = { 0 }; /* regularizers, add_loss */
    TW_TRY(tw__layer_losses_of(t->model, &further));
    for (int64_t i = 0; i < further.count; i++) {
        tw_auto tw_tensor *cast = s->loss ? tw__cast(further.items[i], s->loss->dtype) : tw_retain(further.items[i]);
        TW_NEED(cast);
        TW_TRY(add_loss(s, cast, 1.0 / tw__replicas, 1));
    }
    tw_tensor *shown = s->shown ? s->shown : s->loss;
    return shown ? update_mean(t->total, shown, s->rows) : TW_OK;
}

tw_status tw__trainer_loss(tw__trainer *t, tw_tensor *const *y, int y_count, tw_tensor *const *predictions, int count,
                           tw_tensor *const *weights, int weight_count, tw_tensor **loss)
{
    sums s = { 0 };
    tw_status status = add_losses(t, y, y_count, predictions, count, weights, weight_count, &s);
    if (status != TW_OK)
        tw__set(&s.loss, NULL);
    tw_release(s.shown);
    tw_release(s.rows);
    *loss = s.loss;
    return status;
}

tw_status tw__trainer_check_loss(const tw__trainer *t, bool labels, bool loss)
{
    if (!labels && t->loss.kind != TW_VALUE_NONE)
        return tw__fail(
            TW_VALUE_ERROR,
            "Target data is missing. Your model was compiled with loss=%s, and therefore expects target data to be provided in `fit()`.",
            t->loss.kind == TW_VALUE_STR ? t->loss.s.data : "a function");
    if (!loss)
        return tw__fail(TW_VALUE_ERROR,
                        "No loss found. You may have forgotten to provide a `loss` argument in the `compile()` method.");
    return TW_OK;
}

tw_status tw__trainer_update(tw__trainer *t, tw_tensor *const *y, int y_count, tw_tensor *const *predictions, int count,
                             tw_tensor *const *weights, int weight_count)
{
    TW_TRY(tw__trainer_build_metrics(t, y, y_count, predictions));
    for (int i = 0; i < count; i++) {
        tw_tensor *labels = tw__trainer_given(t, TW_LABELS, y, y_count, i);
        bool any = false;
        for (int k = 0; k < t->list_count; k++)
            any |= t->list[k].output == i;
        if (!labels || !any)
            continue;
        tw__auto(unmatch) matched m = { 0 };
        TW_TRY(match(labels, predictions[i], tw__trainer_given(t, TW_WEIGHTS, weights, weight_count, i), &m));
        for (int k = 0; k < t->list_count; k++) {
            if (t->list[k].output == i)
                TW_TRY(tw__metric_update(t->list[k].metric, m.y, m.prediction, t->list[k].weighted ? m.weight : m.mask));
        }
    }
    return TW_OK;
}
