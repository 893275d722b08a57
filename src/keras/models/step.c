/* One step over a batch: the model, the loss, the gradients and their application, the metrics. The steps of fit, evaluate and
 * predict are C functions that are traced as any function is (function/public.c), so that the plan joins what they do; eager if
 * compile says so. */
#include <math.h>

#include "base/language.h"
#include "device/device.h"
#include "graph/graph.h"
#include "keras/models/training.h"
#include "op/calls.h"

static void release_all(tw_tensor **tensors, int count)
{
    for (int i = 0; tensors && i < count; i++)
        tw_release(tensors[i]);
    tw__free(tensors);
}

/* ---- the model ---- */

/* All outputs for all inputs, for tw_tensors_free. */
static tw_tensors call_model(tw_layer *model, tw_tensors x, bool training)
{
    const tw__layer_methods *methods = tw__methods(model);
    if (methods->call_values || methods->invoke)
        return tw_model_call_all(model, x, training);
    if (x.count != 1) {
        tw__fail(TW_INVALID_ARGUMENT, "model \"%s\" is given %lld inputs, expected 1", model->name, (long long)x.count);
        return (tw_tensors){ NULL, 0 };
    }
    tw_auto tw_tensor *output = tw__layer_call(model, x.items[0], training);
    return output ? tw_give(output) : (tw_tensors){ NULL, 0 };
}

/* What a functional model calls its outputs, where there are several; NULL: they have numbers. */
static char **output_names(tw_layer *model, int count)
{
    if (count < 2 || !tw__is(model, &tw__class_functional))
        return NULL;
    tw_value all = tw__impl_model_output_names(&(tw_model_output_names_args){ .self = model });
    char **names =
        all.kind == TW_VALUE_LIST && all.list.count == count ? tw__alloc_array((size_t)count + 1, sizeof *names) : NULL;
    for (int i = 0; names && i < count; i++)
        names[i] = all.list.items[i].kind == TW_VALUE_STR ? tw__strdup(all.list.items[i].s.data) : NULL;
    tw_value_free(&all);
    return names;
}

tw_status tw__trainer_forward(tw__trainer *t, tw__mode mode, tw_tensor *const *x, int count, tw_tensor ***outputs,
                              int *output_count)
{
    char **names = NULL;
    *outputs = NULL;
    *output_count = 0;
    if (t->own & TW_OWN_CALL && tw__language.forward) {
        TW_TRY(tw__language.forward(t->model, (int)mode, x, count, outputs, output_count, &names));
    } else {
        tw__trainer_forget_places(t);
        tw_tensors given = { (tw_tensor **)(uintptr_t)x, count }, made = call_model(t->model, given, mode == TW_TRAIN_MODE);
        if (!made.items)
            return tw__error_status();
        *outputs = made.items;
        *output_count = (int)made.count;
        names = output_names(t->model, *output_count);
    }
    /* Who predicts compares them with nothing: they may differ from call to call. */
    tw_status status = *output_count > 0 ? (mode == TW_PREDICT_MODE ? TW_OK : tw__trainer_set_outputs(t, *output_count, names))
                                         : tw__fail(TW_VALUE_ERROR, "model \"%s\" gave no outputs", t->model->name);
    tw__names_free(names, *output_count);
    if (status != TW_OK) {
        release_all(*outputs, *output_count);
        *outputs = NULL;
    }
    return status;
}

/* ---- labels, predictions and weights of one output ---- */

typedef struct matched {
    tw_tensor *y, *prediction, *weight, *mask; /* new references; weight and mask may be NULL */
} matched;

static tw_tensor *with_last_axis(tw_tensor *tensor)
{
    tw_auto tw_tensor *last = tw_tensor_int(-1);
    return TW_BINARY(ExpandDims, tensor, last);
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
    tw_auto tw_tensor *shape = TW_UNARY(Shape, tensor), *zero = tw_tensor_int(0);
    tw_auto tw_tensor *axis = tw_tensor_int(0);
    tw_auto tw_tensor *rows = tw__call(&tw__op_GatherV2, TW_IN(shape, zero, axis), 3, NULL, 0);
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
    if (!part)
        return tw__error_status();
    tw_tensor *sum = *total ? TW_G2(AddV2, *total, part) : part;
    *total = sum;
    return sum ? TW_OK : tw__error_status();
}

/* What is summed for the gradients, and what the metric of the loss is told. In replicas the two differ: gradients are summed
 * over the replicas, so that a mean over one's part is divided by their number; the metric weighs the means by their rows. */
typedef struct sums {
    tw_tensor *loss, *shown; /* shown: NULL outside of replicas, where they are the same */
    tw_tensor *rows;
} sums;

static tw_tensor *times(tw_tensor *value, double number)
{
    return number == 1 ? tw_retain(value) : TW_G2(Mul, tw_retain(value), tw__float_scalar(value->dtype, number));
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
    if (status == TW_OK && !isnan(t->weights[i]) && (tw__replica < 0 || tw__replicas == 1))
        value = TW_G2(Mul, value, tw__float_scalar(value->dtype, t->weights[i]));
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

static tw_status set_outputs(tw__trainer *t, int64_t count, const tw_value *names)
{
    if (t && names->kind == TW_VALUE_LIST && names->list.count == count) {
        char **texts = tw__alloc_array((size_t)count + 1, sizeof *texts);
        for (int64_t i = 0; texts && i < count; i++)
            texts[i] = names->list.items[i].kind == TW_VALUE_STR ? (char *)names->list.items[i].s.data : NULL;
        tw_status status = texts ? tw__trainer_set_outputs(t, (int)count, texts) : tw__error_status();
        tw__free(texts);
        return status;
    }
    return t ? tw__trainer_set_outputs(t, (int)count, NULL) : tw__error_status();
}

TW_METHOD(
    model_compute_loss,
    "keras.Model._compute_loss(self: layer, y: tensors, predictions: tensors, weights: tensors, names: value = None) -> tensor",
    "The loss of predictions as compile says; names are the outputs'.")
{
    tw__trainer *t = tw__trainer_of(args->self);
    if (set_outputs(t, args->predictions.count, &args->names) != TW_OK)
        return NULL;
    return tw__trainer_loss(t, args->y.items, (int)args->y.count, args->predictions.items, (int)args->predictions.count,
                            args->weights.items, (int)args->weights.count);
}

TW_METHOD(model_update_metrics,
          "keras.Model._update_metrics(self: layer, y: tensors, predictions: tensors, weights: tensors, names: value = None)",
          "Brings the compiled metrics up to date.")
{
    tw__trainer *t = tw__trainer_of(args->self);
    TW_TRY(set_outputs(t, args->predictions.count, &args->names));
    return tw__trainer_update(t, args->y.items, (int)args->y.count, args->predictions.items, (int)args->predictions.count,
                              args->weights.items, (int)args->weights.count);
}

/* ---- the steps ---- */

static tw_tensor *loss_of(tw__trainer *t, tw_tensor *const *batch, tw__parts parts, tw_tensor *const *predictions, int count)
{
    tw_tensor *const *y = batch + parts.x;
    if (t->own & TW_OWN_LOSS && tw__language.losses) {
        tw_tensor *loss = NULL, **all = tw__alloc_array((size_t)(parts.x + parts.y + parts.weights + count), sizeof *all);
        if (!all)
            return NULL;
        int total = parts.x + parts.y + parts.weights;
        memcpy(all, batch, (size_t)total * sizeof *all);
        memcpy(all + total, predictions, (size_t)count * sizeof *all);
        tw__language.losses(t->model, false, all, total + count, &loss);
        tw__free(all);
        return loss;
    }
    return tw__trainer_loss(t, y, parts.y, predictions, count, y + parts.y, parts.weights);
}

static tw_status apply(tw__trainer *t, tw_tape *tape, tw_tensor *loss)
{
    tw_variable **variables;
    int64_t count;
    TW_TRY(tw__collect_variables(&t->model->trackable, TW_TRAINABLE_VARIABLES, &variables, &count));
    tw_objects list = { (void *const *)variables, count };
    tw_tensors gradients = tw__tape_gradient_of(
        &(tw_tape_gradient_args){ .self = tape, .target = TW_OBJECTS(loss), .sources = list, .unconnected_gradients = "none" });
    tw_status status = gradients.items ? TW_OK : tw__error_status();
    tw__text missing = { 0 };
    int64_t absent = 0;
    for (int64_t i = 0; status == TW_OK && i < count; i++) {
        if (!gradients.items[i])
            tw__text_format(&missing, "%s'%s'", absent++ ? ", " : "", variables[i]->name);
    }
    if (absent && absent < count && !missing.failed)
        tw__log(
            "WARNING",
            "Gradients do not exist for variables [%s] when minimizing the loss. If you're using `model.compile()`, did you forget to "
            "provide a `loss` argument?",
            missing.data);
    tw__text_free(&missing);
    if (status == TW_OK) {
        tw_variable *step = tw__impl_optimizer_apply_gradients(
            &(tw_optimizer_apply_gradients_args){ .self = t->optimizer, .gradients = gradients, .variables = list });
        status = step ? TW_OK : tw__error_status();
        tw_release(step);
    }
    tw_tensors_free(&gradients);
    tw__free(variables);
    return status;
}

/* The values of all metrics; the step learns their names. */
static tw_status results_of(tw__trainer *t, tw__step *step, tw_tensor ***results, int *count)
{
    tw_metric **metrics;
    int n;
    TW_TRY(tw__trainer_metrics(t, &metrics, &n));
    tw_objects own = { 0 };
    tw_status status = TW_OK;
    if (t->own & TW_OWN_METRICS && tw__language.metrics) {
        tw__free(metrics);
        metrics = NULL;
        TW_TRY(tw__language.metrics(t->model, &own));
        n = (int)own.count;
    }
    tw_tensor **values = tw__alloc_array((size_t)n + 1, sizeof *values);
    char **names = tw__alloc_array((size_t)n + 1, sizeof *names);
    if (!values || !names)
        status = tw__error_status();
    for (int i = 0; status == TW_OK && i < n; i++) {
        tw_metric *metric = metrics ? metrics[i] : own.items[i];
        values[i] = tw__metric_result(metric);
        names[i] = values[i] ? tw__strdup(metric->layer.name) : NULL;
        if (!names[i])
            status = tw__error_status();
    }
    tw__free(metrics);
    tw_objects_free(&own);
    if (status != TW_OK) {
        release_all(values, n);
        tw__names_free(names, n);
        return status;
    }
    tw__names_free(step->names, step->name_count);
    step->names = names;
    step->name_count = *count = n;
    *results = values;
    return TW_OK;
}

static tw_status own_step(tw__trainer *t, tw__mode mode, tw_tensors in, tw_tensor ***results, int *count)
{
    tw__step *step = &t->steps[mode];
    char **names = NULL;
    TW_TRY(tw__language.step(t->model, (int)mode, in.items, (int)in.count, results, count, &names));
    tw__names_free(step->names, step->name_count);
    step->names = names;
    step->name_count = *count;
    return TW_OK;
}

static tw_status usual_step(tw__trainer *t, tw__mode mode, tw_tensors in, tw_tensor ***results, int *count)
{
    tw__step *step = &t->steps[mode];
    tw__parts parts = step->parts;
    tw_tensor **predictions = NULL, *const *y = in.items + parts.x;
    int outputs = 0;
    tw_auto tw_tape *tape = NULL;
    if (mode == TW_PREDICT_MODE)
        return tw__trainer_forward(t, mode, in.items, parts.x, results, count);
    if (mode == TW_TRAIN_MODE && !(tape = tw_tape_start()))
        return tw__error_status();
    tw_status status = tw__trainer_forward(t, mode, in.items, parts.x, &predictions, &outputs);
    tw_tensor *loss = status == TW_OK ? loss_of(t, in.items, parts, predictions, outputs) : NULL;
    if (tape)
        tw__tape_stop(tape);
    if (status == TW_OK && !loss)
        status = tw__error_status();
    if (status == TW_OK && mode == TW_TRAIN_MODE)
        status = apply(t, tape, loss);
    if (status == TW_OK && t->own & TW_OWN_UPDATE && tw__language.losses) {
        tw_tensor *none = NULL;
        int total = (int)in.count;
        tw_tensor **all = tw__alloc_array((size_t)(total + outputs), sizeof *all);
        if (all) {
            memcpy(all, in.items, (size_t)total * sizeof *all);
            memcpy(all + total, predictions, (size_t)outputs * sizeof *all);
            status = tw__language.losses(t->model, true, all, total + outputs, &none);
        } else {
            status = tw__error_status();
        }
        tw__free(all);
    } else if (status == TW_OK) {
        status = tw__trainer_update(t, y, parts.y, predictions, outputs, y + parts.y, parts.weights);
    }
    if (status == TW_OK)
        status = results_of(t, step, results, count);
    tw_release(loss);
    release_all(predictions, outputs);
    return status;
}

/* For one replica, or without any. */
tw_tensors tw__trainer_run(tw__trainer *t, tw__mode mode, tw_tensors in)
{
    static const int own[TW_MODES] = { TW_OWN_TRAIN_STEP, TW_OWN_TEST_STEP, TW_OWN_PREDICT_STEP };
    tw_tensor **results = NULL;
    int count = 0;
    if (mode == TW_TRAIN_MODE) /* what may be trained was settled by compile */
        tw__trainer_swap_frozen(t);
    tw_status status;
    if (t->own & own[mode] && tw__language.step)
        status = own_step(t, mode, in, &results, &count);
    else if (((const tw__model *)t->model)->steps[mode])
        status = tw__own_step(t, mode, in, &results, &count);
    else
        status = usual_step(t, mode, in, &results, &count);
    if (mode == TW_TRAIN_MODE)
        tw__trainer_swap_frozen(t);
    if (status != TW_OK)
        return TW_GIVE_FAILURE;
    return (tw_tensors){ results, count };
}

static tw_tensors run_step(tw__trainer *t, tw__mode mode, tw_tensors in)
{
    return ((const tw__model *)t->model)->strategy ? tw__replicas_run(t, mode, in) : tw__trainer_run(t, mode, in);
}

static tw_tensors train_body(void *user, tw_tensors in)
{
    return run_step(user, TW_TRAIN_MODE, in);
}

static tw_tensors test_body(void *user, tw_tensors in)
{
    return run_step(user, TW_TEST_MODE, in);
}

static tw_tensors predict_body(void *user, tw_tensors in)
{
    return run_step(user, TW_PREDICT_MODE, in);
}

/* ---- running ---- */

static bool fits(const tw__step *step, tw_tensor *const *batch, const tw_spec *specs, int count)
{
    if (!step->concrete || step->spec_count != count)
        return false;
    for (int i = 0; i < count; i++) {
        if (batch[i]->dtype != step->specs[i].dtype || !tw__shape_compatible(&batch[i]->shape, &step->specs[i].shape) ||
            !tw__shape_equal(&specs[i].shape, &step->specs[i].shape))
            return false;
    }
    return true;
}

/* The graph for batches like this; a new reference. Under the lock. */
static tw__function *find_graph(tw__trainer *t, tw__mode mode, tw_tensor *const *batch, const tw_spec *specs, int count)
{
    static const struct {
        tw_body body;
        const char *name;
    } kinds[TW_MODES] = { { train_body, "train_function" },
                          { test_body, "test_function" },
                          { predict_body, "predict_function" } };
    tw__step *step = &t->steps[mode];
    if (fits(step, batch, specs, count))
        return tw_retain(step->concrete);
    if (!step->function)
        step->function = tw_function_new(kinds[mode].body, t, .name = kinds[mode].name);
    tw_auto tw_function *function = tw_retain(step->function);
    tw_spec *copy = function ? tw__alloc_array((size_t)count + 1, sizeof *copy) : NULL;
    for (int i = 0; copy && i < count; i++) {
        copy[i] = (tw_spec){ batch[i]->dtype, specs[i].shape };
        if (!tw__shape_compatible(&batch[i]->shape, &copy[i].shape))
            copy[i].shape = batch[i]->shape;
    }
    tw__function *found = copy ? tw__function_concrete(function, copy, count) : NULL;
    if (found && mode == TW_TRAIN_MODE && tw__trainer_share_streams(t, found) != TW_OK) {
        tw_release(found);
        found = NULL;
    }
    if (!found) {
        tw__free(copy);
        return NULL;
    }
    tw_release(step->concrete);
    tw__free(step->specs);
    step->concrete = tw_retain(found);
    step->specs = copy;
    step->spec_count = count;
    return found;
}

static tw_status run_traced(tw__function *f, tw_tensor *const *batch, tw_tensor ***results, int *count)
{
    *count = f->output_count;
    if (!(*results = tw__alloc_array((size_t)*count + 1, sizeof **results)))
        return tw__error_status();
    tw_status status = tw__function_call(f, batch, *results);
    if (status != TW_OK) {
        tw__free(*results);
        *results = NULL;
    }
    return status;
}

/* Under the lock: the step's graph; or, if there shall be none, the step runs. */
static tw_status prepare(tw__trainer *t, tw__mode mode, const tw__split *split, tw__parts parts, tw__function **f,
                         tw_tensor ***results, int *count)
{
    tw__step *step = &t->steps[mode];
    if (memcmp(&step->parts, &parts, sizeof parts) != 0) { /* the same tensors may mean other things */
        tw__set(&step->function, NULL);
        tw__set(&step->concrete, NULL);
        step->parts = parts;
    }
    t->own = parts.own;
    if (t->run_eagerly) {
        tw_tensors given = run_step(t, mode, (tw_tensors){ (tw_tensor **)split->batch, split->count });
        *results = given.items;
        *count = (int)given.count;
        return given.count < 0 ? tw__error_status() : TW_OK;
    }
    *f = find_graph(t, mode, split->batch, split->specs, split->count);
    return *f ? TW_OK : tw__error_status();
}

tw_status tw__trainer_step(tw__trainer *t, tw__mode mode, tw_tensor *const *batch, const tw_spec *specs, tw__parts parts,
                           tw_tensor ***results, int *count)
{
    tw__split split = { 0 };
    tw_auto tw__function *f = NULL;
    TW_TRY(tw__replicas_split(t, batch, specs, parts.x + parts.y + parts.weights, &split));
    tw__deep_take(&t->lock);
    tw_status status = prepare(t, mode, &split, parts, &f, results, count);
    tw__deep_give(&t->lock);
    if (status == TW_OK && f)
        status = run_traced(f, split.batch, results, count);
    tw__replicas_split_end(&split);
    return status;
}

tw_status tw__step_logs(const tw__step *step, tw_tensor *const *results, int count, const char *prefix, tw__dict *logs)
{
    for (int i = 0; i < count && i < step->name_count; i++) {
        tw_value value = { .kind = TW_VALUE_TENSOR, .tensor = results[i] };
        if (results[i]->count == 1 && results[i]->data && results[i]->shape.rank == 0 && tw_dtype_size(results[i]->dtype) &&
            results[i]->dtype != TW_STRING)
            value = tw__dtype_is_integer(results[i]->dtype)
                        ? (tw_value){ .kind = TW_VALUE_INT, .i = tw_tensor_int_at(results[i], 0) }
                        : (tw_value){ .kind = TW_VALUE_FLOAT, .f = tw_tensor_double_at(results[i], 0) };
        else
            tw_retain(results[i]);
        char *name = prefix ? tw__format("%s%s", prefix, step->names[i]) : NULL;
        tw_status status = prefix && !name ? tw__error_status() : tw__logs_set(logs, name ? name : step->names[i], value);
        tw__free(name);
        TW_TRY(status);
    }
    return TW_OK;
}
