/* Model.compile: keeps what is given, and works out losses and metrics when the first outputs are there.
 *
 * Losses, weights of losses and metrics are given for all outputs, per output in a list, or per output by name in a dict. One
 * metric given for several outputs is made anew for each. "accuracy" and "crossentropy" mean what labels and predictions look
 * like. */
#include <math.h>
#include <strings.h>

#include "base/language.h"
#include "graph/graph.h"
#include "keras/models/training.h"

/* ---- compile ---- */

static tw_status note_frozen(tw__trainer *t)
{
    tw_layer **layers;
    int64_t count;
    TW_TRY(tw__collect_layers(&t->model->trackable, true, &layers, &count));
    t->frozen = tw__alloc_array((size_t)count + 1, sizeof *t->frozen);
    for (int64_t i = 0; t->frozen && i < count; i++) {
        if (layers[i] != t->model)
            t->frozen[t->frozen_count++] = (tw__frozen){ tw_retain(layers[i]), layers[i]->trainable };
    }
    tw__free(layers);
    if (!t->frozen)
        return tw__error_status();
    t->frozen[t->frozen_count++] = (tw__frozen){ NULL, t->model->trainable };
    return TW_OK;
}

void tw__trainer_swap_frozen(tw__trainer *t)
{
    for (int64_t i = 0; i < t->frozen_count; i++) {
        tw_layer *layer = t->frozen[i].layer ? t->frozen[i].layer : t->model;
        bool now = layer->trainable;
        layer->trainable = t->frozen[i].trainable;
        t->frozen[i].trainable = now;
    }
}

static tw_metric *mean_of(const char *name)
{
    tw_metrics_mean_args args = { .name = name };
    return tw_class_make(&tw__class_metrics_mean, &args);
}

TW_METHOD(
    model_compile_values,
    "keras.Model._compile(self: layer, optimizer: named<optimizer> = rmsprop, loss: value = None, metrics: value = None, "
    "loss_weights: value = None, weighted_metrics: value = None, run_eagerly: bool = False, steps_per_execution: int > 0 = 1, "
    "jit_compile: bool = False since 0.2)",
    "Says how the model is trained.")
{
    tw__trainer *t = tw__trainer_of(args->self);
    if (!t)
        return tw__error_status();
    tw_optimizer *optimizer =
        tw__optimizer_for(args->self, tw__impl_optimizers_get(&(tw_optimizers_get_args){ .identifier = args->optimizer }));
    if (!optimizer)
        return tw__error_status();
    tw__deep_take(&t->lock); /* who trains is not disturbed */
    tw__trainer_clear(t);
    t->optimizer = optimizer;
    t->loss = tw__value_copy(&args->loss);
    t->metrics = tw__value_copy(&args->metrics);
    t->loss_weights = tw__value_copy(&args->loss_weights);
    t->weighted_metrics = tw__value_copy(&args->weighted_metrics);
    t->run_eagerly = args->run_eagerly;
    t->jit_compile = args->jit_compile;
    t->steps_per_execution = args->steps_per_execution;
    tw_status status = tw__track(&args->self->trackable, "optimizer", optimizer);
    if (status == TW_OK)
        status = note_frozen(t);
    /* Made now, as Keras makes it, unless replicas have copies of it: if all other variables are there, the step is traced once
     * only. */
    bool alone = tw__is(args->self, &tw__class_model) && !((const tw__model *)args->self)->strategy;
    if (status == TW_OK && alone && !(t->total = mean_of("loss")))
        status = tw__error_status();
    t->compiled = status == TW_OK;
    tw__deep_give(&t->lock);
    return status;
}

/* ---- outputs ---- */

tw_status tw__trainer_set_outputs(tw__trainer *t, int count, char *const *names)
{
    if (t->output_count)
        return t->output_count == count ? TW_OK
                                        : tw__fail(TW_VALUE_ERROR, "model \"%s\" gave %d outputs, and %d before", t->model->name,
                                                   count, t->output_count);
    t->output_names = tw__alloc_array((size_t)count + 1, sizeof *t->output_names);
    if (!t->output_names)
        return tw__error_status();
    t->output_count = count;
    for (int i = 0; i < count; i++) {
        t->output_names[i] = names && names[i] ? tw__strdup(names[i]) : tw__format("output_%d", i + 1);
        if (!t->output_names[i])
            return tw__error_status();
    }
    return TW_OK;
}

tw_tensor *tw__trainer_given(const tw__trainer *t, tw__placed kind, tw_tensor *const *tensors, int count, int output)
{
    if (!t->places[kind])
        return count == 1 ? tensors[0] : output < count ? tensors[output] : NULL;
    int at = output < t->place_counts[kind] ? t->places[kind][output] : -1;
    return at >= 0 && at < count ? tensors[at] : NULL;
}

static bool is_nested(const tw_value *value)
{
    return value->kind == TW_VALUE_LIST || value->kind == TW_VALUE_TUPLE || value->kind == TW_VALUE_DICT;
}

static bool holds_nested(const tw_value *value)
{
    for (int64_t i = 0; i < value->list.count; i++) {
        if (is_nested(&value->list.items[i]))
            return true;
    }
    return false;
}

static const tw_value nothing = { .kind = TW_VALUE_NONE };

static bool is_key(const tw__trainer *t, int output, const tw_value *key)
{
    const char *own = t->output_keys ? t->output_keys[output] : t->output_names[output];
    return key->kind == TW_VALUE_STR && strcmp(key->s.data, own) == 0;
}

/* What is given for output i; *for_all: it is given for every output. */
static const tw_value *for_output(const tw__trainer *t, const tw_value *given, int i, bool lists_are_for_all, bool *for_all)
{
    *for_all = false;
    if (given->kind == TW_VALUE_DICT) {
        for (int64_t k = 0; k + 1 < given->list.count; k += 2) {
            if (is_key(t, i, &given->list.items[k]))
                return &given->list.items[k + 1];
        }
        return &nothing;
    }
    if (!is_nested(given) || (lists_are_for_all && !holds_nested(given))) {
        *for_all = true;
        return given;
    }
    return i < given->list.count ? &given->list.items[i] : &nothing;
}

static tw_status check_keys(const tw__trainer *t, const tw_value *given)
{
    if (given->kind != TW_VALUE_DICT)
        return TW_OK;
    for (int64_t k = 0; k + 1 < given->list.count; k += 2) {
        const tw_value *key = &given->list.items[k];
        bool found = false;
        for (int i = 0; i < t->output_count; i++)
            found |= is_key(t, i, key);
        if (!found)
            return tw__fail(
                TW_VALUE_ERROR,
                "Found unexpected losses or metrics that do not correspond to any Model output: '%s'. The model has the "
                "outputs '%s'%s.",
                key->kind == TW_VALUE_STR ? key->s.data : "?", t->output_names[0], t->output_count > 1 ? ", …" : "");
    }
    return TW_OK;
}

/* A list of as many members as there are outputs, or one for all. */
static tw_status check_count(const tw__trainer *t, const tw_value *given, const char *what)
{
    TW_TRY(check_keys(t, given));
    bool list = given->kind == TW_VALUE_LIST || given->kind == TW_VALUE_TUPLE;
    if (list && given->list.count != t->output_count)
        return tw__fail(TW_VALUE_ERROR, "compile: %s has %lld members, the model \"%s\" has %d outputs", what,
                        (long long)given->list.count, t->model->name, t->output_count);
    return TW_OK;
}

/* ---- losses ---- */

tw_status tw__trainer_build_losses(tw__trainer *t)
{
    if (t->losses_built)
        return TW_OK;
    int count = t->output_count;
    bool for_all;
    TW_TRY(check_count(t, &t->loss, "loss"));
    TW_TRY(check_count(t, &t->loss_weights, "loss_weights"));
    tw__trainer_release_list(t->losses, count);
    tw__trainer_release_list(t->means, count);
    t->means = NULL;
    tw__free(t->weights);
    t->losses = tw__alloc_array((size_t)count, sizeof *t->losses);
    t->weights = tw__alloc_array((size_t)count, sizeof *t->weights);
    if (count > 1)
        t->means = tw__alloc_array((size_t)count, sizeof *t->means);
    if (!t->losses || !t->weights || (count > 1 && !t->means))
        return tw__error_status();
    if (!t->total && !(t->total = mean_of("loss")))
        return tw__error_status();
    for (int i = 0; i < count; i++) {
        const tw_value *given = for_output(t, &t->loss, i, false, &for_all),
                       *weight = for_output(t, &t->loss_weights, i, false, &for_all);
        t->weights[i] = NAN;
        if (weight->kind != TW_VALUE_NONE && !tw__value_number(weight, &t->weights[i]))
            return tw__fail(TW_VALUE_ERROR, "compile: loss_weights: a number is expected for output '%s'", t->output_names[i]);
        if (given->kind == TW_VALUE_NONE)
            continue;
        if (!(t->losses[i] = tw__loss_get(given)))
            return tw__error_status();
        char *name = count > 1 ? tw__format("%s_loss", t->output_names[i]) : NULL;
        if (count > 1 && !(t->means[i] = name ? mean_of(name) : NULL)) {
            tw__free(name);
            return tw__error_status();
        }
        tw__free(name);
    }
    t->losses_built = true;
    return TW_OK;
}

/* ---- metrics ---- */

static tw_metric *by_shapes(const char *name, const tw_tensor *y, const tw_tensor *prediction, const char *called)
{
    bool accuracy = strcasecmp(name, "accuracy") == 0 || strcasecmp(name, "acc") == 0;
    const tw_shape *t = &y->shape, *p = &prediction->shape;
    int64_t true_last = t->rank > 0 ? t->dims[t->rank - 1] : -1, last = p->rank > 0 ? p->dims[p->rank - 1] : -1;
    bool sparse = t->rank < p->rank || (true_last == 1 && last > 1);
    const char *function = accuracy ? (last == 1 ? "binary_accuracy"
                                       : sparse  ? "sparse_categorical_accuracy"
                                                 : "categorical_accuracy")
                                    : (last == 1 ? "binary_crossentropy"
                                       : sparse  ? "sparse_categorical_crossentropy"
                                                 : "categorical_crossentropy");
    return tw__metric_get(function, called);
}

static bool is_by_shapes(const char *name)
{
    return strcasecmp(name, "accuracy") == 0 || strcasecmp(name, "acc") == 0 || strcasecmp(name, "crossentropy") == 0 ||
           strcasecmp(name, "ce") == 0;
}

/* The same metric again, for another output. */
static tw_metric *again(tw_metric *metric)
{
    const tw_class *class_row = tw_class_of(metric);
    if (!tw_class_signature(class_row) || !tw_object_config(metric))
        return tw_retain(metric);
    return tw_class_make(class_row, tw_object_config(metric));
}

static tw_metric *metric_of(const tw_value *given, const tw_tensor *y, const tw_tensor *prediction, bool copy)
{
    if (given->kind == TW_VALUE_STR)
        return is_by_shapes(given->s.data) ? by_shapes(given->s.data, y, prediction, given->s.data)
                                           : tw__metric_get(given->s.data, given->s.data);
    if (given->kind == TW_VALUE_OBJECT && tw__is(given->object, &tw__class_metric))
        return copy ? again(given->object) : tw_retain(given->object);
    tw__fail(TW_VALUE_ERROR, "compile: metrics: expected a name, a function or a metric, got %s",
             given->kind == TW_VALUE_OBJECT ? tw_class_name(given->object) : "a value of another kind");
    return NULL;
}

/* Of several outputs, a metric's name begins with the output's. */
static tw_status name_metric(tw__trainer *t, tw__output_metric *new)
{
    tw_layer *layer = &new->metric->layer;
    char *name = t->output_count > 1 ? tw__format("%s_%s", t->output_names[new->output], layer->name) : tw__strdup(layer->name);
    for (int tries = 0; name && tries < 2; tries++) {
        bool taken = false;
        for (int i = 0; i < t->list_count; i++)
            taken |= strcmp(t->list[i].metric->layer.name, name) == 0;
        if (!taken) {
            tw__free(layer->name);
            layer->name = name;
            return TW_OK;
        }
        if (tries || !new->weighted)
            break;
        char *weighted = t->output_count > 1 ? tw__format("%s_weighted_%s", t->output_names[new->output], layer->name)
                                             : tw__format("weighted_%s", name);
        tw__free(name);
        name = weighted;
    }
    tw_status status =
        name ? tw__fail(TW_VALUE_ERROR,
                        "Found two %smetrics with the same name: %s.%sAll the metrics added to the model need to have "
                        "unique names.",
                        new->weighted ? "weighted " : "", name, new->weighted ? "" : " ")
             : tw__error_status();
    tw__free(name);
    return status;
}

static tw_status add_metrics(tw__trainer *t, const tw_value *given, int output, bool weighted, bool copy, const tw_tensor *y,
                             const tw_tensor *prediction)
{
    if (given->kind == TW_VALUE_NONE)
        return TW_OK;
    if (is_nested(given)) {
        int64_t stride = given->kind == TW_VALUE_DICT ? 2 : 1;
        for (int64_t i = stride - 1; i < given->list.count; i += stride)
            TW_TRY(add_metrics(t, &given->list.items[i], output, weighted, copy, y, prediction));
        return TW_OK;
    }
    tw__output_metric *list = tw__realloc(t->list, sizeof *list * (size_t)(t->list_count + 1));
    if (!list)
        return tw__error_status();
    t->list = list;
    tw__output_metric new = { metric_of(given, y, prediction, copy), output, weighted };
    if (!new.metric)
        return tw__error_status();
    tw_status status = name_metric(t, &new);
    if (status == TW_OK)
        t->list[t->list_count++] = new;
    else
        tw_release(new.metric);
    return status;
}

tw_status tw__trainer_build_metrics(tw__trainer *t, tw_tensor *const *y, int y_count, tw_tensor *const *predictions)
{
    if (t->metrics_built)
        return TW_OK;
    TW_TRY(check_keys(t, &t->metrics));
    TW_TRY(check_keys(t, &t->weighted_metrics));
    while (t->list_count)
        tw_release(t->list[--t->list_count].metric);
    for (int i = 0; i < t->output_count; i++) {
        const tw_tensor *labels = tw__trainer_given(t, TW_LABELS, y, y_count, i);
        bool for_all;
        const tw_value *given = for_output(t, &t->metrics, i, true, &for_all);
        if (!labels)
            continue;
        TW_TRY(add_metrics(t, given, i, false, for_all && t->output_count > 1, labels, predictions[i]));
        given = for_output(t, &t->weighted_metrics, i, true, &for_all);
        TW_TRY(add_metrics(t, given, i, true, for_all && t->output_count > 1, labels, predictions[i]));
    }
    t->metrics_built = true;
    return TW_OK;
}
