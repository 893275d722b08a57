/* keras.layers.experimental.preprocessing.PreprocessingLayer: the base of layers whose state is worked out from data by `adapt`.
 *
 * The data is a dataset of batches, or rows of arrays, ragged or sparse tensors, which are batched here. A class of an embedding
 * language may have methods of its own in place of the C ones. */
#include <math.h>

#include "keras/layers/preprocessing/preprocessing.h"

#include "base/language.h"
#include "data/data.h"

/* ---- the methods of a class ---- */

static const tw__preprocessing_methods *methods_of(const tw_layer *layer)
{
    return (const tw__preprocessing_methods *)tw__methods(layer);
}

/* Calls the embedding language's own method, if the layer's class has one. */
static tw_status call_own(tw_layer *layer, const char *method, const tw_value *argument, bool *own)
{
    tw_value given = { .kind = TW_VALUE_TUPLE, .list = { (tw_value *)argument, argument ? 1 : 0 } };
    *own = false;
    return layer->trackable.object.peer && tw__language.method ? tw__language.method(layer, method, &given, NULL, NULL, own)
                                                               : TW_OK;
}

static tw_status not_written(const tw_layer *layer, const char *method)
{
    return tw__fail(TW_NOT_IMPLEMENTED_ERROR, "%s.%s: must be implemented in subclasses", tw_class_name(layer), method);
}

static tw_status finalize(tw_layer *layer)
{
    return methods_of(layer)->finalize ? methods_of(layer)->finalize(layer) : TW_OK;
}

static tw_status reset(tw_layer *layer)
{
    if (methods_of(layer)->reset)
        TW_TRY(methods_of(layer)->reset(layer));
    ((tw__preprocessing *)layer)->adapted = false;
    return TW_OK;
}

static tw_status update(tw_layer *layer, const tw_value *batch)
{
    return methods_of(layer)->update ? methods_of(layer)->update(layer, batch) : not_written(layer, "update_state");
}

/* ---- building ---- */

/* The shape of all batches; of a structure nothing is known. */
static tw_shape shape_of(const tw_value *batch, const struct tw_dataset *all)
{
    if (batch->kind == TW_VALUE_TENSOR)
        return all->specs && all->count == 1 && all->specs[0].shape.rank >= 0 ? all->specs[0].shape : batch->tensor->shape;
    if (batch->kind == TW_VALUE_OBJECT && tw__is(batch->object, &tw__class_ragged_tensor))
        return tw__impl_ragged_tensor_shape(&(tw_ragged_tensor_shape_args){ .self = batch->object });
    if (batch->kind == TW_VALUE_OBJECT && tw__is(batch->object, &tw__class_sparse_tensor))
        return tw__impl_sparse_tensor_shape(&(tw_sparse_tensor_shape_args){ .self = batch->object });
    return (tw_shape)TW_UNKNOWN_SHAPE;
}

/* As Keras notes it: of the sizes only their number is known. */
static void note_rank(tw_layer *layer, int rank)
{
    if (rank < 0 || layer->batch_input_shape.rank >= 0)
        return;
    layer->batch_input_shape.rank = rank;
    for (int i = 0; i < rank; i++)
        layer->batch_input_shape.dims[i] = -1;
}

static tw_status build(tw_layer *layer, const tw_value *batch, const struct tw_dataset *all)
{
    tw_shape shape = shape_of(batch, all);
    bool own;
    note_rank(layer, shape.rank);
    TW_TRY(call_own(layer, "build", &(tw_value){ .kind = TW_VALUE_SHAPE, .shape = &shape }, &own));
    if (!own && methods_of(layer)->build_for) {
        TW_TRY(methods_of(layer)->build_for(layer, batch));
        tw__layer_built_for(layer, tw__shape_value(&shape));
    } else if (!own) {
        TW_TRY(tw__layer_build(layer, &shape));
    }
    layer->built = true;
    return TW_OK;
}

/* ---- going through data ---- */

/* The batches of arrays; a new reference. */
static struct tw_dataset *batches_of(const tw_value *data, int64_t batch_size, int64_t steps)
{
    tw_value rows_of = tw__value_copy(data);
    if (tw_error_code() != TW_OK)
        return NULL;
    tw_auto struct tw_dataset *rows =
        tw__impl_dataset_rows_of_structure(&(tw_dataset_rows_of_structure_args){ .tensors = rows_of });
    tw_value_free(&rows_of);
    tw__dataset *whole = rows ? tw__dataset_of("adapt", rows->variant) : NULL;
    int64_t count = whole ? tw__dataset_cardinality(whole) : 0;
    if (!whole)
        return NULL;
    if (!count) {
        tw__fail(TW_VALUE_ERROR, "Expected input data to be non-empty.");
        return NULL;
    }
    if (batch_size == TW_NO_INT)
        batch_size = steps != TW_NO_INT && steps > 0 ? (count + steps - 1) / steps : 32;
    return tw_class_make(&tw__class_dataset_batch, &(tw_dataset_batch_args){ .self = rows,
                                                                             .batch_size = (double)batch_size,
                                                                             .num_parallel_calls = NAN,
                                                                             .deterministic = TW_NO_INT });
}

static tw_status adapt_batch(tw_layer *layer, const tw_value *batch, const struct tw_dataset *all)
{
    bool own;
    if (!layer->built)
        TW_TRY(build(layer, batch, all));
    TW_TRY(call_own(layer, "update_state", batch, &own));
    return own ? TW_OK : update(layer, batch);
}

static tw_status adapt_all(tw_layer *layer, struct tw_dataset *dataset, tw__cursor *cursor, int64_t steps)
{
    bool end = false;
    int64_t done = 0;
    while (steps < 0 || done < steps) {
        tw_tensor **element = tw__alloc_array((size_t)dataset->count + 1, sizeof *element);
        if (!element)
            return tw__error_status();
        tw_status status = tw__data_plain_error(tw__cursor_next(cursor, element, &end));
        tw_value batch = { .kind = TW_VALUE_NONE };
        if (status == TW_OK && !end)
            status = tw__element_pack(&dataset->structure, element, dataset->count, &batch);
        tw__free(element);
        if (status == TW_OK && !end)
            status = adapt_batch(layer, &batch, dataset);
        tw_value_free(&batch);
        TW_TRY(status);
        if (end)
            break;
        done++;
    }
    if (end && steps >= 0)
        tw__log(
            "WARNING",
            "Your input ran out of data; interrupting training. Make sure that your dataset or generator can generate at least "
            "`steps_per_epoch * epochs` batches (in this case, %lld batches). You may need to use the repeat() function when "
            "building your dataset.",
            (long long)steps);
    return TW_OK;
}

static tw_status adapt(tw_layer *layer, const tw_value *data, int64_t batch_size, int64_t steps)
{
    bool given = data->kind == TW_VALUE_OBJECT && tw__is(data->object, &tw__class_dataset), own;
    tw_auto struct tw_dataset *dataset = given ? tw_retain(data->object) : batches_of(data, batch_size, steps);
    tw__dataset *batches = dataset ? tw__dataset_of("adapt", dataset->variant) : NULL;
    TW_NEED(batches);
    if (steps == TW_NO_INT)
        steps = -1;
    if (steps < 0 && tw__dataset_cardinality(batches) == TW_INFINITE)
        return tw__fail(
            TW_VALUE_ERROR,
            "When providing an infinite dataset, you must specify the number of steps to run (if you did not intend to "
            "create an infinite dataset, make sure to not call `repeat()` on the dataset).");
    tw__cursor *cursor = tw__cursor_new(batches);
    TW_NEED(cursor);
    if (steps < 0 || steps == tw__dataset_cardinality(batches)) { /* Keras begins twice: a shuffled dataset has its next order */
        tw__cursor_free(cursor);
        cursor = tw__cursor_new(batches);
        TW_NEED(cursor);
    }
    tw_status status = adapt_all(layer, dataset, cursor, steps);
    tw__cursor_free(cursor);
    TW_TRY(status);
    TW_TRY(call_own(layer, "finalize_state", NULL, &own));
    if (!own)
        TW_TRY(finalize(layer));
    ((tw__preprocessing *)layer)->adapted = true;
    return TW_OK;
}

/* ---- rows ---- */

static tw_tensor *identity_call(tw_layer *self, tw_tensor *input, int training)
{
    (void)self, (void)training;
    return tw_retain(input);
}

static const tw__preprocessing_methods base_methods = { .layer = { .call = identity_call } };

TW_CLASS(layers_preprocessing, "keras.layers.experimental.preprocessing.PreprocessingLayer(**layer) -> layer",
         .parent = &tw__class_layer, .size = sizeof(tw__preprocessing), .methods = &base_methods,
         .doc = "The base of layers whose state is worked out from data, before training, by `adapt`.");

TW_METHOD(preprocessing_adapt,
          "keras.layers.experimental.preprocessing.PreprocessingLayer.adapt(self: layer, data: value<arrays>, "
          "batch_size: int = None, steps: int = None)",
          "Works out the layer's state from data.\n"
          "data: a dataset of batches, or an array whose rows are batched\n"
          "batch_size: how many rows of an array make a batch; None: 32\n"
          "steps: how many batches are taken; None: all")
{
    tw_layer *layer = args->self;
    if (tw__in_graph() && !tw__in_lasting())
        return tw__fail(TW_RUNTIME_ERROR,
                        "Detected a call to `PreprocessingLayer.adapt` inside a `tf.function`. `PreprocessingLayer.adapt is a "
                        "high-level endpoint that manages its own `tf.function`. Please move the call to "
                        "`PreprocessingLayer.adapt` outside of all enclosing `tf.function`s. Note that you can call a "
                        "`PreprocessingLayer` directly on `Tensor`s inside a `tf.function` like: `layer(x)`, or update its state "
                        "like: `layer.update_state(x)`.");
    if (tw__in_graph())
        return tw__fail(TW_RUNTIME_ERROR, "`adapt` is only supported in tensorflow v2.");
    if (layer->built) {
        bool own;
        TW_TRY(call_own(layer, "reset_state", NULL, &own));
        ((tw__preprocessing *)layer)->adapted = false;
        if (!own)
            TW_TRY(reset(layer));
    }
    return adapt(layer, &args->data, args->batch_size, args->steps);
}

TW_METHOD(preprocessing_compile,
          "keras.layers.experimental.preprocessing.PreprocessingLayer.compile(self: layer, run_eagerly: bool = None, "
          "steps_per_execution: int = None)",
          "Says how `adapt` runs. Batches are taken one by one whatever is said; the state is the same.\n"
          "run_eagerly: kept for programs that set it; the state is the same\n"
          "steps_per_execution: kept for programs that set it; the state is the same")
{
    if (args->steps_per_execution != TW_NO_INT && args->steps_per_execution < 1)
        return tw__fail(TW_VALUE_ERROR, "compile: steps_per_execution is %lld, expected at least 1",
                        (long long)args->steps_per_execution);
    return TW_OK;
}

TW_METHOD(preprocessing_update_state,
          "keras.layers.experimental.preprocessing.PreprocessingLayer.update_state(self: layer, data: value<arrays>)",
          "Takes a batch into the state.\n"
          "data: a batch")
{
    return update(args->self, &args->data);
}

TW_METHOD(preprocessing_finalize_state, "keras.layers.experimental.preprocessing.PreprocessingLayer.finalize_state(self: layer)",
          "Makes what calls need of the state; `adapt` ends with it.")
{
    return finalize(args->self);
}

TW_METHOD(preprocessing_reset_state, "keras.layers.experimental.preprocessing.PreprocessingLayer.reset_state(self: layer)",
          "Forgets what was seen.")
{
    if (!methods_of(args->self)->reset && !methods_of(args->self)->update)
        return not_written(args->self, "reset_state");
    return reset(args->self);
}

TW_PROPERTY(preprocessing_is_adapted,
            "keras.layers.experimental.preprocessing.PreprocessingLayer.is_adapted(self: layer) -> bool",
            "Whether `adapt` has been called.")
{
    return ((tw__preprocessing *)args->self)->adapted;
}

/* ---- behind loading ---- */

static tw_status finalize_loaded(tw_layer *layer)
{
    bool own;
    if (!tw__is(layer, &tw__class_layers_preprocessing))
        return TW_OK;
    TW_TRY(call_own(layer, "finalize_state", NULL, &own));
    return own ? TW_OK : finalize(layer);
}

tw_status tw__preprocessing_finalize_all(tw_trackable *root)
{
    tw_layer **layers;
    int64_t count;
    if (tw__is(root, &tw__class_layer))
        TW_TRY(finalize_loaded((tw_layer *)root));
    TW_TRY(tw__collect_layers(root, true, &layers, &count));
    tw_status status = TW_OK;
    for (int64_t i = 0; i < count && status == TW_OK; i++)
        status = finalize_loaded(layers[i]);
    tw__free(layers);
    return status;
}
