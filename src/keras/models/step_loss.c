/* The loss of a batch and its metrics: each output's labels and weights are matched with its predictions. */
#include <math.h>

#include "graph/graph.h"
#include "keras/models/training.h"
#include "op/calls.h"

/* ---- labels, predictions and weights of one output ---- */

typedef struct matched {
    tw_tensor *y, *prediction, *weight, *mask; /* new references; weight and mask may be NULL */
} matched;

static tw_tensor *with_last_axis(tw_tensor *tensor)
{
    tw_auto tw_tensor *last = tw_tensor_int(-1);
    return TW_CALL(ExpandDims, tensor, last);
}

static tw_status match(tw_tensor *y, tw_tensor *prediction, tw_tensor *weight, matched *m)
{
    bool column = prediction->shape.rank == 2;
    tw_auto tw_tensor *labels = y->shape.rank == 1 && column ? with_last_axis(y) : tw_retain(y);
    bool alike = labels && ((tw__dtype_is_float(y->dtype) && tw__dtype_is_float(prediction->dtype)) ||
                            (tw__dtype_is_integer(y->dtype) && tw__dtype_is_integer(prediction->dtype)));
    *m = (matched){ .prediction = tw_retain(prediction) };
    m->y = !labels ? NULL : alike ? tw__cast(labels, prediction->dtype) : tw_retain(labels);
    if (m->y && weight) {
        tw_auto tw_tensor *shaped = weight->shape.rank == 1 && column ? with_last_axis(weight) : tw_retain(weight);
        m->weight = shaped ? tw__cast(shaped, prediction->dtype) : NULL;
    }
    if (!m->y || (weight && !m->weight))
        return tw__error_status();
    tw_tensor *mask = tw__mask_of(prediction);
    if (!mask)
        return TW_OK;
    if (!(m->mask = tw__cast(mask, prediction->dtype)))
        return tw__error_status();
    tw_auto tw_tensor *given = m->weight;
    m->weight = tw__mask_weights(given, m->mask);
    return m->weight ? TW_OK : tw__error_status();
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
    if (tensor->shape.rank > 0 && tensor->shape.dims[0] >= 0)
        return tw_tensor_float((float)tensor->shape.dims[0]);
    tw_auto tw_tensor *shape = TW_CALL(Shape, tensor), *zero = tw_tensor_int(0);
    tw_auto tw_tensor *axis = tw_tensor_int(0);
    tw_auto tw_tensor *rows = TW_CALL(GatherV2, shape, zero, axis);
    return rows ? tw__cast(rows, TW_FLOAT32) : NULL;
}

static tw_status update_mean(tw_metric *mean, tw_tensor *value, tw_tensor *rows)
{
    if (!rows)
        return tw__error_status();
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

/* Takes the value. */
static tw_status add_loss(sums *s, tw_tensor *value, double for_loss, double for_metric)
{
    if (!value || tw__replica < 0 || tw__replicas == 1)
        return add_to(&s->loss, value);
    tw_status status = add_to(&s->loss, times(value, for_loss));
    if (status == TW_OK)
        status = add_to(&s->shown, times(value, for_metric));
    tw_release(value);
    return status;
}

static tw_status add_output(tw__trainer *t, int i, tw_tensor *y, tw_tensor *prediction, tw_tensor *weight, sums *s)
{
    matched m = { 0 };
    tw_tensor *value = NULL;
    bool adds = t->losses[i]->reduction == TW_SUM_LOSS, part = t->losses[i]->reduction == TW_MEAN_LOSS;
    double replicas = tw__replica >= 0 ? tw__replicas : 1, weighs = isnan(t->weights[i]) ? 1 : t->weights[i];
    tw_status status = match(y, prediction, weight, &m);
    if (status == TW_OK) {
        bool outer = tw__losses_of_parts;
        tw__losses_of_parts = true;
        value = tw__loss_of(t->losses[i], m.y, m.prediction, m.weight);
        tw__losses_of_parts = outer;
        status = value ? TW_OK : tw__error_status();
    }
    if (status == TW_OK && !s->rows && !(s->rows = rows_of(m.y)))
        status = tw__error_status();
    if (status == TW_OK && t->means) {
        tw_auto tw_tensor *shown = times(value, adds ? replicas : 1);
        status = shown ? update_mean(t->means[i], shown, s->rows) : tw__error_status();
    }
    if (status == TW_OK && !isnan(t->weights[i]) && (tw__replica < 0 || tw__replicas == 1)) {
        tw_auto tw_tensor *taken = value;
        value = TW_CALL(Mul, taken, t->weights[i]);
    }
    unmatch(&m);
    if (status == TW_OK)
        return add_loss(s, value, weighs / (part ? replicas : 1), weighs * (adds ? replicas : 1));
    tw_release(value);
    return status;
}

tw_tensor *tw__trainer_loss(tw__trainer *t, tw_tensor *const *y, int y_count, tw_tensor *const *predictions, int count,
                            tw_tensor *const *weights, int weight_count)
{
    sums s = { 0 };
    tw_status status = tw__trainer_build_losses(t);
    if (status == TW_OK && !t->places[TW_LABELS] && y_count > 1 && y_count != count)
        status = tw__fail(TW_VALUE_ERROR, "model \"%s\" has %d outputs, and there are %d labels", t->model->name, count, y_count);
    for (int i = 0; status == TW_OK && i < count; i++) {
        tw_tensor *labels = tw__trainer_given(t, TW_LABELS, y, y_count, i);
        if (labels && t->losses[i])
            status = add_output(t, i, labels, predictions[i], tw__trainer_given(t, TW_WEIGHTS, weights, weight_count, i), &s);
    }
    tw_tensors further = { 0 }; /* regularizers, add_loss */
    if (status == TW_OK)
        status = tw__layer_losses_of(t->model, &further);
    for (int64_t i = 0; status == TW_OK && i < further.count; i++) {
        tw_tensor *cast = s.loss ? tw__cast(further.items[i], s.loss->dtype) : tw_retain(further.items[i]);
        status = add_loss(&s, cast, 1.0 / tw__replicas, 1);
    }
    tw_tensors_free(&further);
    tw_tensor *shown = s.shown ? s.shown : s.loss;
    if (status == TW_OK && shown)
        status = tw__impl_mean_update_state(
            &(tw_mean_update_state_args){ .self = t->total, .values = shown, .sample_weight = s.rows });
    tw_release(s.shown);
    tw_release(s.rows);
    if (status == TW_OK && s.loss)
        return s.loss;
    if (status == TW_OK && t->loss.kind == TW_VALUE_NONE)
        tw__fail(TW_VALUE_ERROR, "No loss found. You may have forgotten to provide a `loss` argument in the `compile()` method.");
    else if (status == TW_OK)
        tw__fail(
            TW_VALUE_ERROR,
            "Target data is missing. Your model was compiled with loss=%s, and therefore expects target data to be provided in `fit()`.",
            t->loss.kind == TW_VALUE_STR ? t->loss.s.data : "a function");
    tw_release(s.loss);
    return NULL;
}

tw_status tw__trainer_update(tw__trainer *t, tw_tensor *const *y, int y_count, tw_tensor *const *predictions, int count,
                             tw_tensor *const *weights, int weight_count)
{
    TW_TRY(tw__trainer_build_metrics(t, y, y_count, predictions));
    tw_status status = TW_OK;
    for (int i = 0; status == TW_OK && i < count; i++) {
        tw_tensor *labels = tw__trainer_given(t, TW_LABELS, y, y_count, i);
        bool any = false;
        for (int k = 0; k < t->list_count; k++)
            any |= t->list[k].output == i;
        if (!labels || !any)
            continue;
        matched m = { 0 };
        status = match(labels, predictions[i], tw__trainer_given(t, TW_WEIGHTS, weights, weight_count, i), &m);
        for (int k = 0; status == TW_OK && k < t->list_count; k++) {
            if (t->list[k].output == i)
                status = tw__metric_update(t->list[k].metric, m.y, m.prediction, t->list[k].weighted ? m.weight : m.mask);
        }
        unmatch(&m);
    }
    return status;
}
