/* One step over a batch: the model, the loss, the gradients and their application, the metrics. The steps of fit, evaluate and
 * predict are C functions that are traced as any function is (function/public.c), so that the plan joins what they do; eager if
 * compile says so. */
#include <math.h>

#include "base/language.h"
#include "device/device.h"
#include "graph/graph.h"
#include "keras/models/training.h"
#include "op/calls.h"
#include "spec/structure.h"

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

/* A Sequential whose layers are all the library's takes and gives one tensor. */
static bool is_simple(tw__trainer *t, tw__mode mode)
{
    const tw__nesting *nesting = tw__trainer_nesting(t, mode);
    return tw__is(t->model, &tw__class_sequential) && !t->model->foreign_call &&
           (!nesting || (!tw__is_nested(&nesting->parts[0]) && nesting->parts[0].kind != TW_VALUE_OBJECT));
}

tw_status tw__trainer_forward(tw__trainer *t, tw__mode mode, tw_tensor *const *x, int count, tw_tensor ***outputs,
                              int *output_count)
{
    char **names = NULL;
    *outputs = NULL;
    *output_count = 0;
    if (!is_simple(t, mode)) {
        tw_status called = tw__trainer_call(t, mode, x, outputs, output_count, &names);
        if (called != TW_OK) {
            tw__names_free(names, *output_count);
            tw__trainer_release_list(*outputs, *output_count);
            *outputs = NULL;
            return called;
        }
    } else {
        tw__trainer_forget_places(t);
        tw_tensors given = { (tw_tensor **)(uintptr_t)x, count }, made = call_model(t->model, given, mode == TW_TRAIN_MODE);
        if (!made.items)
            return tw__error_status();
        *outputs = made.items;
        *output_count = (int)made.count;
    }
    /* Who predicts compares them with nothing: they may differ from call to call. */
    tw_status status = *output_count > 0 ? (mode == TW_PREDICT_MODE ? TW_OK : tw__trainer_set_outputs(t, *output_count, names))
                                         : tw__fail(TW_VALUE_ERROR, "model \"%s\" gave no outputs", t->model->name);
    tw__names_free(names, *output_count);
    if (status != TW_OK) {
        tw__trainer_release_list(*outputs, *output_count);
        *outputs = NULL;
    }
    return status;
}

/* ---- the steps ---- */

static tw_status loss_of(tw__trainer *t, tw__mode mode, tw_tensor *const *batch, tw_tensor *const *predictions, int count,
                         tw_tensor **loss)
{
    tw__parts parts = t->steps[mode].parts;
    tw_tensor *const *y = batch + parts.x;
    if (t->own & TW_OWN_LOSS && tw__language.losses)
        TW_TRY(tw__trainer_foreign_loss(t, mode, batch, predictions, count, loss));
    else
        TW_TRY(tw__trainer_loss(t, y, parts.y, predictions, count, y + parts.y, parts.weights, loss));
    return mode == TW_TRAIN_MODE ? tw__trainer_check_loss(t, parts.y > 0, *loss != NULL) : TW_OK;
}

static tw_status apply(tw__trainer *t, tw_tape *tape, tw_tensor *loss)
{
    tw_variable **variables;
    int64_t count;
    TW_TRY(tw__collect_variables(&t->model->trackable, TW_TRAINABLE_VARIABLES, &variables, &count));
    tw_objects list = { (void *const *)variables, count };
    bool own;
    tw_status taken = tw__optimizer_own_minimize(t->optimizer, tape, loss, &list, &own);
    if (own || taken != TW_OK) {
        tw__free(variables);
        return taken;
    }
    tw_tensors gradients = tw__optimizer_gradients(t->optimizer, tape, loss, list);
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
        tw__trainer_release_list(values, n);
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
    TW_TRY(tw__trainer_foreign_step(t, mode, in.items, results, count, &names));
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
    tw_tensor *loss = NULL;
    if (status == TW_OK)
        status = loss_of(t, mode, in.items, predictions, outputs, &loss);
    if (tape)
        tw__tape_stop(tape);
    if (status == TW_OK && mode == TW_TRAIN_MODE)
        status = apply(t, tape, loss);
    if (status == TW_OK && t->own & TW_OWN_UPDATE && tw__language.losses) {
        status = tw__trainer_foreign_update(t, mode, in.items, predictions, outputs);
    } else if (status == TW_OK) {
        status = tw__trainer_update(t, y, parts.y, predictions, outputs, y + parts.y, parts.weights);
    }
    if (status == TW_OK)
        status = results_of(t, step, results, count);
    tw_release(loss);
    tw__trainer_release_list(predictions, outputs);
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

static const struct {
    tw_body body;
    const char *name;
} kinds[TW_MODES] = { { train_body, "train_function" }, { test_body, "test_function" }, { predict_body, "predict_function" } };

/* TensorFlow's loop over several steps goes through the step twice more, to see what it gives: layers with a seed count that. */
static tw_status trace_before(tw__trainer *t, const tw_spec *specs, int count)
{
    for (int i = 0; i < 2; i++) {
        tw_auto tw_function *function = tw_function_new(kinds[TW_TRAIN_MODE].body, t, .name = kinds[TW_TRAIN_MODE].name);
        tw_auto tw__function *found = function ? tw__function_concrete(function, specs, count) : NULL;
        TW_NEED(found);
    }
    return TW_OK;
}

/* The graph for batches like this; a new reference. Under the lock. */
static tw__function *find_graph(tw__trainer *t, tw__mode mode, tw_tensor *const *batch, const tw_spec *specs, int count)
{
    tw__step *step = &t->steps[mode];
    if (fits(step, batch, specs, count))
        return tw_retain(step->concrete);
    if (!step->function)
        step->function = tw_function_new(kinds[mode].body, t, .name = kinds[mode].name, .jit_compile = t->jit_compile);
    tw_auto tw_function *function = tw_retain(step->function);
    tw_spec *copy = function ? tw__alloc_array((size_t)count + 1, sizeof *copy) : NULL;
    for (int i = 0; copy && i < count; i++) {
        copy[i] = (tw_spec){ batch[i]->dtype, specs[i].shape };
        if (!tw__shape_compatible(&batch[i]->shape, &copy[i].shape))
            copy[i].shape = batch[i]->shape;
    }
    tw_status traced = copy && mode == TW_TRAIN_MODE && t->steps_per_execution > 1 ? trace_before(t, copy, count) : TW_OK;
    tw__function *found = copy && traced == TW_OK ? tw__function_concrete(function, copy, count) : NULL;
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
    if (t->run_eagerly || parts.own & TW_OWN_AT_ONCE << mode) {
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
    TW_TRY(tw__replicas_split(t, mode, batch, specs, parts.x + parts.y + parts.weights, &split));
    tw__deep_take(&t->lock);
    tw_status status = prepare(t, mode, &split, parts, &f, results, count);
    tw__deep_give(&t->lock);
    if (status == TW_OK && f)
        status = run_traced(f, split.batch, results, count);
    tw__replicas_split_end(&split);
    return status;
}

/* Names the value in the dict that its name says, which is made if it is not there. Takes the value. */
static tw_status name_value(tw__dict *logs, const char *path, tw_value value)
{
    const char *inside = strchr(path, TW_INSIDE);
    if (!inside)
        return tw__logs_set(logs, path, value);
    tw__owned char *name = tw__format("%.*s", (int)(inside - path), path);
    const tw_value *known = name ? tw__logs_find(logs, name) : NULL;
    tw__dict inner = { 0 };
    for (int64_t i = 0; known && known->kind == TW_VALUE_DICT && i + 1 < known->list.count; i += 2)
        tw__dict_put(&inner, known->list.items[i].s.data, tw__value_copy(&known->list.items[i + 1]));
    tw_status status = name && !inner.failed ? name_value(&inner, inside + 1, value) : tw__error_status();
    if (status == TW_OK)
        return tw__logs_set(logs, name, tw__dict_take(&inner));
    tw__logs_free(&inner);
    return status;
}

tw_status tw__step_logs(const tw__step *step, tw_tensor *const *results, int count, tw__dict *logs)
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
        TW_TRY(name_value(logs, step->names[i], value));
    }
    return TW_OK;
}
