/* Layers and models that call a C program's functions (<thalweg/own.h>), with one tensor or with several. */
#include <thalweg/own.h>

#include "keras/layers/layers.h"
#include "keras/models/training.h"
#include "keras/own.h"

/* ---- calls with several tensors ---- */

/* The tensors of one value; borrowed, the array for tw__free. */
static tw_status tensors_of(const tw_value *value, tw_tensors *tensors)
{
    bool list = value->kind == TW_VALUE_LIST || value->kind == TW_VALUE_TUPLE;
    int64_t count = list ? value->list.count : 1;
    *tensors = (tw_tensors){ tw__alloc_array((size_t)count + 1, sizeof(tw_tensor *)), count };
    if (!tensors->items)
        return tw__error_status();
    for (int64_t i = 0; i < count; i++) {
        const tw_value *item = list ? &value->list.items[i] : value;
        if (item->kind != TW_VALUE_TENSOR) {
            tw__free(tensors->items);
            return tw__fail(TW_TYPE_ERROR, "a tensor or a list of tensors is expected");
        }
        tensors->items[i] = item->tensor;
    }
    return TW_OK;
}

typedef tw_tensors (*body)(tw_layer *self, tw_tensors inputs, int training, void *state);

static tw_value call_body(tw_layer *self, const tw_value *given, int training, body call, void *state)
{
    tw_tensors inputs, outputs;
    if (tensors_of(given, &inputs) != TW_OK)
        return (tw_value){ .kind = TW_VALUE_NONE };
    size_t scope = tw_scope_begin();
    outputs = call(self, inputs, training, state);
    tw__scope_end_with(scope, (void *[]){ outputs.items }, 1);
    tw__free(inputs.items);
    if (outputs.count < 1) {
        if (tw_error_code() == TW_OK)
            tw__fail(TW_INVALID_ARGUMENT, "%s \"%s\" gave no tensors", tw_class_name(self), self->name);
        return (tw_value){ .kind = TW_VALUE_NONE };
    }
    tw_value result =
        outputs.count == 1 ? tw__tensor_value(outputs.items[0]) : tw__values_list(outputs.items, (int)outputs.count, true);
    tw__free(outputs.items);
    return result;
}

/* ---- layers ---- */

typedef struct own_layer {
    tw_layer layer;
    tw_layer_function call;
    tw_layer_body call_all;
    tw_build_function build;
    void *state;
    void (*end)(void *state);
} own_layer;

static tw_tensor *call_one(const own_layer *layer, tw_layer *self, const tw_value *given, int training)
{
    const tw_value *only = given->kind != TW_VALUE_TENSOR && given->list.count == 1 ? &given->list.items[0] : given;
    if (only->kind != TW_VALUE_TENSOR) {
        tw__fail(TW_TYPE_ERROR, "layer \"%s\" takes one tensor", self->name);
        return NULL;
    }
    size_t scope = tw_scope_begin();
    tw_tensor *output = layer->call(self, only->tensor, training, layer->state);
    tw__scope_end_with(scope, (void *[]){ output }, 1);
    return output;
}

static tw_value layer_call(tw_layer *self, const tw_value *given, int training)
{
    const own_layer *layer = (const own_layer *)self;
    return layer->call ? tw__tensor_value(call_one(layer, self, &given[0], training))
                       : call_body(self, &given[0], training, layer->call_all, layer->state);
}

static tw_status layer_build(tw_layer *self, const tw_shape *input_shape)
{
    const own_layer *layer = (const own_layer *)self;
    size_t scope = tw_scope_begin();
    tw_status status = layer->build ? layer->build(self, *input_shape, layer->state) : TW_OK;
    tw_scope_end(&scope);
    return status == TW_OK || tw_error_code() != TW_OK ? status : tw__fail(status, "layer \"%s\": its build failed", self->name);
}

static void layer_destroy(void *self)
{
    const own_layer *layer = self;
    if (layer->end)
        layer->end(layer->state);
}

static const tw__layer_methods layer_methods = {
    .arguments = "inputs", .call_values = layer_call, .build = layer_build, .output_shape = tw__layer_run_on_zeros
};

const tw_class tw__own_layer_class = { .name = "OwnLayer",
                                       .parent = &tw__class_layer,
                                       .signature = &tw__signature_layer,
                                       .size = sizeof(own_layer),
                                       .destroy = layer_destroy,
                                       .free_config = tw__config_free,
                                       .visit_config = tw__config_visit,
                                       .methods = &layer_methods };

tw_layer *tw_layer_new_(tw_layer_function call, tw_layer_body call_all, void *state, const tw_layer_new_args *args)
{
    if (!tw__check_given(args, "the argument struct", "tw_layer_new") ||
        (!call_all && !tw__check_given(call, "the function", "tw_layer_new")))
        return NULL;
    tw_layer_args complete;
    tw_args_default(&tw__signature_layer, &complete);
    complete.name = args->name;
    complete.dtype = args->dtype;
    own_layer *layer = tw_class_make(&tw__own_layer_class, &complete);
    if (!layer)
        return NULL;
    layer->call = call;
    layer->call_all = call_all;
    layer->build = args->build;
    layer->state = state;
    layer->end = args->end;
    return &layer->layer;
}

tw_variable *tw_layer_weight_(tw_layer *layer, const char *name, tw_shape shape, const tw_weight_args *args)
{
    if (!tw__check(layer, &tw__class_layer, "tw_layer_weight") || !tw__check_given(name, "the name", "tw_layer_weight") ||
        !tw__check_given(args, "the argument struct", "tw_layer_weight"))
        return NULL;
    tw_layer_add_weight_args given;
    tw_args_default(&tw__signature_layer_add_weight, &given);
    given.self = layer;
    given.name = name;
    given.shape = shape;
    given.dtype = args->dtype;
    given.initializer = args->initializer;
    given.regularizer = args->regularizer;
    given.constraint = args->constraint;
    given.trainable = args->trainable;
    tw_variable *weight = tw__impl_layer_add_weight(&given);
    tw_release(weight); /* the layer holds it */
    return weight;
}

/* ---- models ---- */

static tw_value model_call(tw_layer *self, const tw_value *given, int training)
{
    const tw__model *model = (const tw__model *)self;
    return call_body(self, &given[0], training, model->call_all, model->state);
}

static const tw__layer_methods model_methods = { .arguments = "inputs", .call_values = model_call };

const tw_class tw__own_model_class = { .name = "OwnModel",
                                       .parent = &tw__class_model,
                                       .signature = &tw__signature_model,
                                       .size = sizeof(tw__model),
                                       .free_config = tw__config_free,
                                       .visit_config = tw__config_visit,
                                       .methods = &model_methods };

tw_model *tw_model_new_all_(tw_layer_body call, void *state, const tw_model_args *given)
{
    tw_model_args args;
    if (!tw__check_given(call, "the function", "tw_model_new_all") ||
        !tw__check_given(given, "the argument struct", "tw_model_new_all") ||
        tw__args_take(&tw__signature_model, given, &args) != TW_OK)
        return NULL;
    tw__model *model = tw_class_make(&tw__own_model_class, &args);
    if (!model)
        return NULL;
    model->call_all = call;
    model->state = state;
    return &model->layer;
}

tw_optimizer *tw_model_optimizer(tw_model *model)
{
    tw__trainer *trainer = tw__check(model, &tw__class_layer, "tw_model_optimizer") ? tw__trainer_of(model) : NULL;
    return trainer ? trainer->optimizer : NULL;
}

/* ---- steps of the model's own ---- */

struct tw_step_results {
    tw_tensor **values; /* references */
    char **names;
    size_t count, value_capacity, name_capacity;
};

tw_status tw_model_set_steps(tw_model *layer, tw_step_function train, tw_step_function test, tw_step_function predict)
{
    tw__trainer *trainer = tw__check(layer, &tw__class_layer, "tw_model_set_steps") ? tw__trainer_of(layer) : NULL;
    if (!trainer)
        return tw__error_status();
    tw__model *model = (tw__model *)layer;
    tw_step_function steps[] = { train, test, predict };
    memcpy(model->steps, steps, sizeof steps);
    tw__deep_take(&trainer->lock);
    tw__trainer_forget_steps(trainer);
    tw__deep_give(&trainer->lock);
    return TW_OK;
}

tw_status tw_step_give(tw_step_results *results, const char *name, tw_tensor *value)
{
    if (!tw__check_given(results, "the results", "tw_step_give") || !tw__check_given(name, "the name", "tw_step_give") ||
        !tw__check(value, &tw__tensor_class, "tw_step_give"))
        return tw__error_status();
    TW_TRY(TW_GROW(results->values, results->value_capacity, results->count + 1));
    TW_TRY(TW_GROW(results->names, results->name_capacity, results->count + 1));
    if (!(results->names[results->count] = tw__strdup(name)))
        return tw__error_status();
    results->values[results->count++] = tw_retain(value);
    return TW_OK;
}

static void results_end(tw_step_results *results)
{
    for (size_t i = 0; i < results->count; i++)
        tw_release(results->values[i]);
    tw__free(results->values);
    tw__names_free(results->names, (int)results->count);
}

tw_status tw__own_step(tw__trainer *t, tw__mode mode, tw_tensors in, tw_tensor ***results, int *count)
{
    const tw__model *model = (const tw__model *)t->model;
    tw__step *step = &t->steps[mode];
    tw_tensor **y = in.items + step->parts.x;
    tw_batch batch = { { in.items, step->parts.x }, { y, step->parts.y }, { y + step->parts.y, step->parts.weights } };
    tw_step_function function;
    memcpy(&function, &model->steps[mode], sizeof function);
    tw_step_results given = { 0 };
    size_t scope = tw_scope_begin();
    tw_status status = function(t->model, batch, &given, model->state);
    tw_scope_end(&scope);
    if (status != TW_OK && tw_error_code() == TW_OK)
        tw__fail(status, "model \"%s\": its own step failed", t->model->name);
    if (status == TW_OK && !given.count)
        status = tw__fail(TW_VALUE_ERROR, "model \"%s\": its own step gave nothing", t->model->name);
    if (status != TW_OK) {
        results_end(&given);
        return status;
    }
    tw__names_free(step->names, step->name_count);
    step->names = given.names;
    step->name_count = *count = (int)given.count;
    *results = given.values;
    return TW_OK;
}
