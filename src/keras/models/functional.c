/* Functional models: made of the layers and calls between given Keras tensors (functional_walk.c).
 *
 * Running the model is a loop over the calls in their order; every call's results have places in one list of values. */
#include "api/composite.h"
#include "keras/layers/layers.h"
#include "keras/models/functional.h"
#include "op/calls.h"

#include <thalweg/keras.h>

/* ---- making the model ---- */

static tw_status flatten(const tw_value *value, const char *what, tw_keras_tensor ***flat, size_t *count)
{
    size_t capacity = 0;
    TW_TRY(tw__keras_tensors_of(value, flat, count, &capacity));
    return *count
               ? TW_OK
               : tw__fail(TW_VALUE_ERROR,
                          "Functional: the argument `%s` holds no Keras tensor. Found: an object that keras.Input did not make",
                          what);
}

/* Layers that came with a loss or a metric stand behind those that were there before. */
static tw_status put_behind(tw__functional *model, tw_layer *const *before, size_t count)
{
    tw__owned tw_layer **new = tw__alloc_array(model->layer_count + 1, sizeof *new);
    size_t kept = 0, came = 0;
    TW_NEED(new);
    for (size_t i = 0; i < model->layer_count; i++) {
        bool known = false;
        for (size_t k = 0; k < count && !known; k++)
            known = before[k] == model->layers[i];
        if (known)
            kept++;
        else
            new[came++] = model->layers[i];
    }
    if (kept != count)
        return TW_OK;
    memcpy(model->layers, before, count * sizeof *before);
    memcpy(model->layers + count, new, came * sizeof *new);
    return TW_OK;
}

tw_status tw__functional_take(tw__functional *model, tw_keras_tensor *added)
{
    size_t count = model->layer_count;
    tw__owned tw_layer **before = tw__alloc_array(count + 1, sizeof *before);
    TW_NEED(before);
    memcpy(before, model->layers, count * sizeof *before);
    TW_TRY(TW_GROW(model->added, model->added_capacity, model->added_count + 1));
    model->added[model->added_count++] = tw_retain(added);
    tw__functional_drop_steps(model);
    TW_TRY(tw__functional_arrange(model));
    TW_TRY(put_behind(model, before, count));
    return tw__model_track_layers(&model->model.layer, model->layers, model->layer_count);
}

tw_status tw__functional_extend(tw_layer *layer, tw_layer *added, tw_keras_tensor *tensor)
{
    tw__functional *model = tw__functional_of(layer);
    if (!model)
        return tw__fail(TW_VALUE_ERROR,
                        "layer \"%s\": losses and metrics of Keras tensors are for models that are made of Keras tensors",
                        layer->name);
    tw_auto tw_keras_tensor *result = tw__layer_connect_one(added, tensor);
    return result ? tw__functional_take(model, result) : tw__error_status();
}

/* A list that holds one tensor in all is what it holds. */
static tw_status unwrap(tw_value *value)
{
    tw_keras_tensor **flat = NULL;
    size_t count = 0, capacity = 0;
    if (value->kind != TW_VALUE_LIST || value->list.count != 1)
        return TW_OK;
    tw_status status = tw__keras_tensors_of(value, &flat, &count, &capacity);
    tw__free(flat);
    if (status != TW_OK || count != 1)
        return status;
    tw_value inner = value->list.items[0];
    tw__free(value->list.items);
    *value = inner;
    return TW_OK;
}

static tw_status functional_init(void *self, const void *given)
{
    tw__functional *model = self;
    const tw_functional_args *args = given;
    tw_layer *layer = &model->model.layer;
    if (!args->name && strcmp(layer->trackable.object.class->name, "Functional") == 0 &&
        tw__starts_with(layer->name, "functional")) {
        char *name = tw__layer_auto_name("Model");
        if (!name)
            return tw__error_status();
        tw__free(layer->name);
        layer->name = name;
    }
    model->inputs = tw__value_copy(&args->inputs);
    model->outputs = tw__value_copy(&args->outputs);
    TW_TRY(unwrap(&model->inputs));
    TW_TRY(unwrap(&model->outputs));
    TW_TRY(flatten(&model->inputs, "inputs", &model->flat_inputs, &model->input_count));
    TW_TRY(flatten(&model->outputs, "outputs", &model->flat_outputs, &model->output_count));
    TW_TRY(tw__functional_arrange(model));
    layer->built = true;
    tw__layer_built_for(layer, tw__shapes_of(&model->inputs));
    tw_value arguments = { .kind = TW_VALUE_TUPLE, .list = { &model->inputs, 1 } };
    TW_TRY(tw__layer_note(layer, &arguments, &model->outputs));
    return tw__model_track_layers(layer, model->layers, model->layer_count);
}

static void functional_visit(void *self, tw__visitor visitor, void *context)
{
    tw__functional *model = self;
    for (size_t i = 0; i < model->layer_count; i++)
        visitor(context, &model->layers[i]->trackable.object);
    for (size_t i = 0; i < model->input_count; i++)
        visitor(context, &model->flat_inputs[i]->object);
    for (size_t i = 0; i < model->output_count; i++)
        visitor(context, &model->flat_outputs[i]->object);
    for (size_t i = 0; i < model->added_count; i++)
        visitor(context, &model->added[i]->object);
}

static void functional_clear(void *self)
{
    tw__functional *model = self;
    tw_layer **layers = model->layers;
    size_t count = model->layer_count;
    tw_value inputs = model->inputs, outputs = model->outputs;
    model->layers = NULL;
    model->layer_count = model->step_count = model->input_count = model->output_count = 0;
    model->inputs = model->outputs = (tw_value){ .kind = TW_VALUE_NONE };
    for (size_t i = 0; i < count; i++)
        tw_release(layers[i]);
    tw__free(layers);
    for (; model->added_count; model->added_count--)
        tw_release(model->added[model->added_count - 1]);
    tw_value_free(&inputs);
    tw_value_free(&outputs);
}

static void functional_destroy(void *self)
{
    tw__functional *model = self;
    functional_clear(self);
    tw__free(model->steps);
    tw__free(model->added);
    tw__free(model->flat_inputs);
    tw__free(model->flat_outputs);
    tw__map_free(&model->places, NULL);
}

/* ---- running ---- */

typedef struct run {
    const tw__functional *model;
    void **values; /* references, or NULL: tensors, and what is made of several */
} run;

static void **value_at(const run *r, const tw_keras_tensor *tensor)
{
    size_t place = tw__functional_place(r->model, tensor);
    return place != SIZE_MAX ? &r->values[place] : NULL;
}

static tw_value value_for(void *context, tw_keras_tensor *tensor)
{
    void **value = value_at(context, tensor);
    if (value && *value && tensor->spec)
        return (tw_value){ .kind = TW_VALUE_OBJECT, .object = tw_retain(*value) };
    if (value && *value)
        return (tw_value){ .kind = TW_VALUE_TENSOR, .tensor = tw_retain(*value) };
    tw__fail(TW_VALUE_ERROR, "the model has no value for \"%s\"", tensor->name);
    return (tw_value){ .kind = TW_VALUE_NONE };
}

static tw_status store(tw_value *result, const tw__layer_node *node, const tw_value *structure, void **values)
{
    if (structure->kind == TW_VALUE_INT) {
        bool composite = result->kind == TW_VALUE_OBJECT && tw__is_composite(result->object);
        if (node->outputs[structure->i].spec ? !composite : result->kind != TW_VALUE_TENSOR)
            return tw__fail(TW_VALUE_ERROR, "a layer gives something else than it did when the model was made");
        values[structure->i] = composite ? result->object : (void *)result->tensor;
        result->kind = TW_VALUE_NONE;
        return TW_OK;
    }
    bool list = structure->kind == TW_VALUE_LIST || structure->kind == TW_VALUE_TUPLE || structure->kind == TW_VALUE_DICT;
    if (!list)
        return TW_OK;
    if (result->kind < TW_VALUE_LIST || result->list.count != structure->list.count)
        return tw__fail(TW_VALUE_ERROR, "a layer gives another number of tensors than it did when the model was made");
    for (int64_t i = 0; i < structure->list.count; i++) {
        if (structure->kind != TW_VALUE_DICT || i % 2)
            TW_TRY(store(&result->list.items[i], node, &structure->list.items[i], values));
    }
    return TW_OK;
}

static tw_status run_step(run *r, const tw__node_step *step, int training)
{
    tw_layer *layer = step->layer;
    const tw__layer_node *node = layer->nodes[step->node];
    bool named = node->named.kind == TW_VALUE_DICT && node->named.list.count;
    const tw__layer_methods *methods = tw__methods(layer);
    if (!named && node->arguments.list.count == 1 && node->arguments.list.items[0].kind == TW_VALUE_OBJECT && methods->call &&
        !layer->foreign_call && node->structure.kind == TW_VALUE_INT &&
        tw__is_keras_tensor(node->arguments.list.items[0].object) &&
        !((tw_keras_tensor *)node->arguments.list.items[0].object)->spec) { /* most of them */
        void **input = value_at(r, node->arguments.list.items[0].object);
        tw_tensor *output = input && *input ? tw__layer_call(layer, *input, training) : NULL;
        r->values[step->first] = output;
        return output ? TW_OK : tw__error_status();
    }
    tw__auto(tw_value_free) tw_value given = { .kind = TW_VALUE_NONE }, by_name = given, result = given;
    TW_TRY(tw__replace_tensors(&node->arguments, value_for, r, &given));
    if (named)
        TW_TRY(tw__replace_tensors(&node->named, value_for, r, &by_name));
    TW_TRY(tw__layer_invoke(layer, &given, named ? &by_name : NULL, training, &result));
    return store(&result, node, &node->structure, r->values + step->first);
}

/* The input as the model wants it: its dtype, and an axis of size 1 more or less at the end. */
static tw_tensor *conform(const tw_keras_tensor *wanted, tw_tensor *given)
{
    tw_tensor *tensor = tw_retain(given);
    int rank = given->shape.rank, expected = wanted->shape.rank;
    bool squeeze = rank >= 0 && expected >= 0 && rank == expected + 1 && given->shape.dims[rank - 1] == 1;
    bool expand = rank >= 0 && expected >= 0 && rank == expected - 1 && wanted->shape.dims[expected - 1] == 1;
    if (squeeze || expand) {
        tw_tensor *reshaped = squeeze ? tw__reshape_leading(given, given, -1) : NULL;
        if (expand) {
            tw_auto tw_tensor *axis = tw_tensor_new(TW_INT32, TW_SCALAR, &(int32_t){ -1 });
            reshaped = TW_CALL(ExpandDims, given, axis);
        }
        tw_release(tensor);
        tensor = reshaped;
    }
    if (tensor && tensor->dtype != wanted->dtype && wanted->dtype != TW_STRING && tensor->dtype != TW_STRING) {
        tw_attr target = TW_A_TYPE("DstT", wanted->dtype);
        tw_tensor *cast = TW_CALL(Cast, tensor, target);
        tw_release(tensor);
        tensor = cast;
    }
    return tensor;
}

static tw_status check_shape(const tw__functional *model, size_t at, const tw_tensor *given)
{
    const tw_keras_tensor *wanted = model->flat_inputs[at];
    if (tw__shape_compatible(&wanted->shape, &given->shape))
        return TW_OK;
    return tw__layer_wrong_shape(&model->model.layer, at, &wanted->shape, &given->shape);
}

static tw_status flat_given(const tw__functional *model, const tw_value *given, const tw_value *wanted, const tw_value **flat,
                            size_t *count);

/* The members of a list or dict of inputs; of a dict in the order of its keys. */
static tw_status flat_items(const tw__functional *model, const tw_value *given, const tw_value *wanted, const tw_value **flat,
                            size_t *count)
{
    bool by_name = given->kind == TW_VALUE_DICT, is_dict = wanted->kind == TW_VALUE_DICT;
    int64_t items = is_dict ? wanted->list.count / 2 : wanted->list.count;
    if (!by_name && (given->kind < TW_VALUE_LIST || given->list.count != items))
        return tw__fail_because(TW_REASON_INPUTS, TW_VALUE_ERROR,
                                "Layer \"%s\" expects %lld input(s), but it received %lld input tensors.",
                                model->model.layer.name, (long long)items,
                                (long long)(given->kind < TW_VALUE_LIST ? 1 : given->list.count));
    tw__owned int64_t *order = is_dict ? tw__alloc_array((size_t)items + 1, sizeof *order) : NULL;
    tw_status status = is_dict && !order ? TW_RESOURCE_EXHAUSTED : TW_OK;
    if (order)
        tw__dict_order(wanted, order);
    for (int64_t i = 0; status == TW_OK && i < items; i++) {
        const tw_value *inner = is_dict ? &wanted->list.items[2 * order[i] + 1] : &wanted->list.items[i];
        const char *name = is_dict                          ? wanted->list.items[2 * order[i]].s.data
                           : inner->kind == TW_VALUE_OBJECT ? ((tw_keras_tensor *)inner->object)->layer->name
                                                            : "";
        const tw_value *found = by_name ? tw__value_get(given, name) : &given->list.items[i];
        status = found ? flat_given(model, found, inner, flat, count)
                       : tw__fail(TW_VALUE_ERROR, "Missing data for input \"%s\". You passed a data dictionary without that key.",
                                  name);
    }
    return status;
}

/* Flat tensors of what is given, in the order of the model's inputs. A dict for a model whose inputs are no dict is read by the
 * inputs' names. */
static tw_status flat_given(const tw__functional *model, const tw_value *given, const tw_value *wanted, const tw_value **flat,
                            size_t *count)
{
    if (wanted->kind == TW_VALUE_OBJECT || given->kind == TW_VALUE_TENSOR) {
        const tw_value *one = given;
        while (one->kind >= TW_VALUE_LIST && one->kind != TW_VALUE_DICT && one->list.count == 1)
            one = &one->list.items[0];
        if (one->kind == TW_VALUE_DICT && wanted->kind == TW_VALUE_OBJECT)
            one = tw__value_get(given, ((tw_keras_tensor *)wanted->object)->layer->name);
        if (!one || *count >= model->input_count)
            return tw__fail(TW_VALUE_ERROR, "model \"%s\" expects %zu input(s)", model->model.layer.name, model->input_count);
        flat[(*count)++] = one;
        return TW_OK;
    }
    return flat_items(model, given, wanted, flat, count);
}

/* A ragged or sparse input: of the kind that the model wants, and of its dtype. */
static tw_status set_composite(run *r, size_t i, const tw_value *given)
{
    const tw_keras_tensor *wanted = r->model->flat_inputs[i];
    bool composite = given->kind == TW_VALUE_OBJECT && tw__is_composite(given->object);
    tw_auto struct tw_type_spec *spec = composite ? tw__composite_spec(given->object) : NULL;
    if (!spec || tw_class_of(spec) != tw_class_of(wanted->spec))
        return tw__fail(TW_VALUE_ERROR, "model \"%s\": input %zu must be a value of a %s, got a %s", r->model->model.layer.name,
                        i, tw_class_name(wanted->spec), composite ? tw_class_name(given->object) : "dense tensor");
    tw__output_spec is = { 0 };
    tw__composite_output(given->object, &is);
    tw_auto struct tw_type_spec *own = is.spec;
    if (!tw__shape_compatible(&wanted->shape, &is.shape))
        return tw__layer_wrong_shape(&r->model->model.layer, i, &wanted->shape, &is.shape);
    void **place = value_at(r, wanted);
    if (place && own)
        *place = is.dtype == wanted->dtype ? tw_retain(given->object) : tw__composite_cast(given->object, wanted->dtype);
    return !place || *place ? TW_OK : tw__error_status();
}

/* One of the inputs, as it was given. */
static tw_status set_input(run *r, size_t i, const tw_value *given)
{
    const tw__functional *model = r->model;
    if (model->flat_inputs[i]->spec)
        return set_composite(r, i, given);
    bool variable = given->kind == TW_VALUE_OBJECT && tw__is(given->object, &tw__class_variable);
    if (given->kind != TW_VALUE_TENSOR && !variable)
        return tw__fail(TW_VALUE_ERROR, "model \"%s\": input %zu is no tensor", model->model.layer.name, i);
    tw_auto tw_tensor *tensor = variable ? tw__variable_read(given->object) : tw_retain(given->tensor);
    tw_auto tw_tensor *ready = tensor ? conform(model->flat_inputs[i], tensor) : NULL;
    TW_NEED(ready);
    if (ready != tensor && tw__mask_of(tensor))
        TW_TRY(tw__mask_set(ready, tw__mask_of(tensor)));
    TW_TRY(check_shape(model, i, ready));
    void **place = value_at(r, model->flat_inputs[i]);
    if (place)
        *place = TW_TAKE(ready);
    return TW_OK;
}

static tw_status set_inputs(run *r, const tw_value *given)
{
    const tw__functional *model = r->model;
    tw__owned const tw_value **flat = tw__alloc_array(model->input_count + 1, sizeof *flat);
    size_t count = 0;
    TW_NEED(flat);
    TW_TRY(flat_given(model, given, &model->inputs, flat, &count));
    if (count != model->input_count)
        return tw__fail_because(TW_REASON_INPUTS, TW_VALUE_ERROR,
                                "Layer \"%s\" expects %zu input(s), but it received %zu input tensors.", model->model.layer.name,
                                model->input_count, count);
    for (size_t i = 0; i < count; i++)
        TW_TRY(set_input(r, i, flat[i]));
    return TW_OK;
}

/* Masks that a caller gives, one for each input or None. */
static tw_status set_masks(run *r, const tw_value *given)
{
    const tw__functional *model = r->model;
    if (given->kind == TW_VALUE_NONE)
        return TW_OK;
    tw__owned const tw_value **flat = tw__alloc_array(model->input_count + 1, sizeof *flat);
    size_t count = 0;
    TW_NEED(flat);
    TW_TRY(flat_given(model, given, &model->inputs, flat, &count));
    for (size_t i = 0; i < count; i++) {
        void **place = value_at(r, model->flat_inputs[i]);
        if (!place || flat[i]->kind != TW_VALUE_TENSOR || model->flat_inputs[i]->spec)
            continue;
        tw_tensor *masked = tw__masked_copy(*place, flat[i]->tensor);
        TW_NEED(masked);
        tw_release(*place);
        *place = masked;
    }
    return TW_OK;
}

static tw_status run_all(run *r, const tw_value *given, int training, tw_value *result)
{
    TW_NEED(r->values);
    TW_TRY(set_inputs(r, &given[0]));
    TW_TRY(set_masks(r, &given[2]));
    for (size_t i = 0; i < r->model->step_count; i++)
        TW_TRY(run_step(r, &r->model->steps[i], training));
    return tw__replace_tensors(&r->model->outputs, value_for, r, result);
}

static tw_value functional_call(tw_layer *self, const tw_value *given, int training)
{
    const tw__functional *model = (const tw__functional *)self;
    tw_value result = { .kind = TW_VALUE_NONE };
    run r = { model, tw__alloc_array(model->value_count + 1, sizeof *r.values) };
    if (run_all(&r, given, training, &result) != TW_OK)
        tw_value_free(&result);
    for (size_t i = 0; r.values && i < model->value_count; i++)
        tw_release(r.values[i]);
    tw__free(r.values);
    return result;
}

static void functional_count_call(tw_layer *self)
{
    const tw__functional *model = (const tw__functional *)self;
    for (size_t i = 0; i < model->step_count; i++)
        tw__layer_count_call(model->steps[i].layer);
}

static const tw__layer_methods functional_methods = { .arguments = "inputs training mask",
                                                      .call_values = functional_call,
                                                      .any_dtype = true,
                                                      .count_call = functional_count_call,
                                                      .whole_config = tw__functional_config,
                                                      .from_config = tw__functional_from_config };

TW_CLASS(
    functional,
    "keras.src.engine.functional.Functional(inputs: value, outputs: value, name: str = None, trainable: bool = True) -> model",
    .parent = &tw__class_model, .size = sizeof(tw__functional), .init = functional_init, .destroy = functional_destroy,
    .visit = functional_visit, .clear = functional_clear, .methods = &functional_methods, .drop_config = true,
    .doc = "A model made of the layers between Keras tensors.\n"
           "inputs: the Keras tensors that go in: one, or a list, tuple or dict of them\n"
           "outputs: the Keras tensors that come out: one, or a list, tuple or dict of them\n"
           "name: the model's name; None: one is made");

tw__functional *tw__functional_of(tw_layer *layer)
{
    return tw__is(layer, &tw__class_functional) ? (tw__functional *)layer : NULL;
}

/* ---- for C programs ---- */

static tw_value list_of(tw_objects objects)
{
    tw_value *items = tw__alloc_array((size_t)objects.count + 1, sizeof *items);
    for (int64_t i = 0; items && i < objects.count; i++)
        items[i] = objects.items[i] ? (tw_value){ .kind = TW_VALUE_OBJECT, .object = objects.items[i] }
                                    : (tw_value){ .kind = TW_VALUE_NONE };
    return (tw_value){ .kind = TW_VALUE_LIST, .list = { items, items ? objects.count : 0 } };
}

static bool are_keras_tensors(tw_objects objects)
{
    if (objects.count < 1 || !objects.items)
        return tw__check_given(NULL, "the list of inputs or outputs", "tw_model_connect");
    for (int64_t i = 0; i < objects.count; i++) {
        if (!tw__check(objects.items[i], &tw__class_keras_tensor, "tw_model_connect"))
            return false;
    }
    return true;
}

tw_model *tw_model_connect(tw_objects inputs, tw_objects outputs, const char *name)
{
    if (!are_keras_tensors(inputs) || !are_keras_tensors(outputs))
        return NULL;
    tw_functional_args args = TW_ARGS(functional, list_of(inputs), list_of(outputs), .name = name);
    tw_value one = args.outputs;
    if (outputs.count == 1 && one.list.items)
        args.outputs = one.list.items[0];
    tw_model *model = args.inputs.list.items && one.list.items ? tw_class_make(&tw__class_functional, &args) : NULL;
    tw__free(args.inputs.list.items);
    tw__free(one.list.items);
    return model;
}

tw_tensors tw_model_call_all(tw_model *model, tw_tensors inputs, bool training)
{
    tw_tensors none = { 0 };
    if (!tw__check(model, &tw__class_layer, "tw_model_call_all") || !tw__check_tensors(inputs, "tw_model_call_all"))
        return none;
    tw_value *items = tw__alloc_array((size_t)inputs.count + 1, sizeof *items);
    if (!items)
        return none;
    for (int64_t i = 0; i < inputs.count; i++)
        items[i] = tw__tensor_value(inputs.items[i]);
    tw_value list = { .kind = TW_VALUE_LIST, .list = { items, inputs.count } };
    tw_value arguments = { .kind = TW_VALUE_TUPLE, .list = { inputs.count == 1 ? items : &list, 1 } }, result;
    tw_status status = tw__layer_invoke(model, &arguments, NULL, training ? 1 : -1, &result);
    tw__free(items);
    if (status != TW_OK)
        return none;
    int64_t count = result.kind == TW_VALUE_TENSOR ? 1 : result.kind == TW_VALUE_DICT ? result.list.count / 2 : result.list.count;
    tw_tensors out = { tw__alloc_array((size_t)count + 1, sizeof(tw_tensor *)), count };
    for (int64_t i = 0; out.items && i < count; i++) {
        const tw_value *item =
            result.kind == TW_VALUE_TENSOR ? &result : &result.list.items[result.kind == TW_VALUE_DICT ? 2 * i + 1 : i];
        out.items[i] = item->kind == TW_VALUE_TENSOR ? tw_retain(item->tensor) : NULL;
    }
    tw_value_free(&result);
    return out.items ? out : none;
}
