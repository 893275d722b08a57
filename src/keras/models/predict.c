/* Model.predict and predict_on_batch: the model over all rows of arrays or all batches of a dataset. */
#include "base/pause.h"
#include "keras/models/fit.h"

/* One number for each batch: a vector of them. */
static tw_tensor *join_scalars(tw_tensor *const *parts, int64_t count, int stride, const char *name)
{
    tw_tensor *whole = tw__tensor_empty(parts[0]->dtype, &TW_SHAPE(count));
    size_t size = tw_dtype_size(parts[0]->dtype);
    for (int64_t i = 0; whole && i < count; i++) {
        const tw_tensor *part = parts[i * stride];
        if (part->dtype != whole->dtype || part->shape.rank) {
            tw__fail(TW_INVALID_ARGUMENT, "predict: model \"%s\" gave a %s tensor of shape %s, and numbers before", name,
                     tw_dtype_name(part->dtype), tw__shape_text(&part->shape));
            tw_release(whole);
            return NULL;
        }
        memcpy((char *)whole->data + (size_t)i * size, part->data, size);
    }
    return whole;
}

/* The outputs of batches, one behind the other. */
static tw_tensor *join(tw_tensor *const *parts, int64_t count, int stride, const char *name)
{
    const tw_tensor *first = parts[0];
    tw_shape shape = first->shape;
    if (!tw_dtype_size(first->dtype) || first->dtype == TW_STRING) {
        tw__fail(TW_INVALID_ARGUMENT, "predict: model \"%s\" gave a %s tensor of shape %s, expected numbers", name,
                 tw_dtype_name(first->dtype), tw__shape_text(&shape));
        return NULL;
    }
    if (count == 1)
        return tw_retain(first);
    if (shape.rank == 0)
        return join_scalars(parts, count, stride, name);
    shape.dims[0] = 0;
    for (int64_t i = 0; i < count; i++) {
        const tw_tensor *part = parts[i * stride];
        tw_shape expected = first->shape;
        expected.dims[0] = part->shape.rank > 0 ? part->shape.dims[0] : 0;
        if (part->dtype != first->dtype || !tw__shape_equal(&part->shape, &expected)) {
            tw__fail(TW_INVALID_ARGUMENT, "predict: model \"%s\" gave a %s tensor of shape %s, expected %s", name,
                     tw_dtype_name(part->dtype), tw__shape_text(&part->shape), tw__shape_text(&expected));
            return NULL;
        }
        shape.dims[0] += expected.dims[0];
    }
    tw_tensor *whole = tw__tensor_empty(first->dtype, &shape);
    size_t at = 0;
    for (int64_t i = 0; whole && i < count; i++) {
        const tw_tensor *part = parts[i * stride];
        if (part->count)
            memcpy((char *)whole->data + at, part->data, tw_tensor_bytes(part));
        at += tw_tensor_bytes(part);
    }
    return whole;
}

static tw_status keep(void *context, tw_tensor *const *results, int count)
{
    tw__elements *all = context;
    if (all->count != count && all->size)
        return tw__fail(TW_INVALID_ARGUMENT, "predict: %d outputs, and %d before", count, all->count);
    all->count = count;
    tw_tensor **room = tw__elements_room(all);
    if (!room)
        return tw__error_status();
    for (int i = 0; i < count; i++)
        room[i] = tw_retain(results[i]);
    all->size++;
    return TW_OK;
}

static tw_status show(void *context, tw_tensor *const *results, int count, tw__dict *logs)
{
    (void)context;
    if (count == 1)
        return tw__logs_set(logs, "outputs", (tw_value){ .kind = TW_VALUE_TENSOR, .tensor = tw_retain(results[0]) });
    tw_value *items = tw__alloc_array((size_t)count, sizeof *items);
    if (!items)
        return tw__error_status();
    for (int i = 0; i < count; i++)
        items[i] = (tw_value){ .kind = TW_VALUE_TENSOR, .tensor = tw_retain(results[i]) };
    return tw__logs_set(logs, "outputs", (tw_value){ .kind = TW_VALUE_LIST, .list = { items, count } });
}

/* All outputs, each of all batches; items NULL: an error. */
static tw_tensors predict(tw__trainer *t, const tw__feed_options *options, int64_t steps, int verbose, tw_objects given)
{
    tw__feed feed = { 0 };
    tw__elements all = { 0 };
    tw__callback_list callbacks = { 0 };
    tw__dict none = { 0 };
    int64_t limit = -1;
    tw_status status = tw__feed_open(&feed, options, "predict");
    if (status == TW_OK)
        status = tw__pass_limit(&feed, steps, "predict", &limit);
    if (status == TW_OK && !feed.dataset && limit > feed.steps)
        limit = feed.steps;
    if (status == TW_OK)
        status = tw__callbacks_open(&callbacks, &(tw__callback_setup){ .given = given,
                                                                       .history = true,
                                                                       .lock = &t->lock,
                                                                       .progress = verbose != 0,
                                                                       .model = t->model,
                                                                       .verbose = verbose,
                                                                       .epochs = 1,
                                                                       .steps = limit });
    if (status == TW_OK) {
        tw__pass pass = { .trainer = t,
                          .mode = TW_PREDICT_MODE,
                          .feed = &feed,
                          .callbacks = &callbacks,
                          .limit = limit,
                          .rounds = 1,
                          .most_rounds = 1,
                          .epochs = 1,
                          .each = keep,
                          .outputs = show,
                          .context = &all };
        void *lock = tw__wait_begin();
        status = tw__callbacks_tell(&callbacks, TW_PREDICT_BEGIN, 0, &none);
        if (status == TW_OK)
            status = tw__feed_begin(&feed, limit);
        if (status == TW_OK)
            status = tw__pass_epoch(&pass, NULL);
        if (status == TW_OK && !all.size)
            status = tw__fail(TW_VALUE_ERROR,
                              "Unexpected result of `predict_function` (Empty batch_outputs). The dataset has no elements.");
        if (status == TW_OK)
            status = tw__callbacks_tell(&callbacks, TW_PREDICT_END, 0, &none);
        tw__wait_end(lock);
        tw__pass_end(&pass);
    }
    tw__callbacks_close(&callbacks);
    tw__feed_close(&feed);
    tw_tensors outputs = { status == TW_OK ? tw__alloc_array((size_t)all.count + 1, sizeof *outputs.items) : NULL, 0 };
    for (int i = 0; outputs.items && i < all.count; i++) {
        if (!(outputs.items[i] = join(all.items + i, (int64_t)all.size, all.count, t->model->name))) {
            tw_tensors_free(&outputs);
            break;
        }
        outputs.count++;
    }
    tw__elements_free(&all);
    return outputs;
}

/* All outputs for x, which is a structure of tensors or a dataset, in the structure that the model gives; None: an error. */
static tw_value predict_value(tw_layer *model, const tw_value *x, tw__feed_options *options, int own, int verbose,
                              tw_objects callbacks)
{
    tw_value none = { .kind = TW_VALUE_NONE };
    tw__trainer *t = tw__trainer_of(model);
    tw__given data = { 0 };
    if (!t || tw__trainer_begin(t, options->whole ? "predict_on_batch" : "predict", own) != TW_OK)
        return none;
    tw__trainer_end(t);
    if (tw__given_read(t, (const tw_value *const[3]){ x, NULL, NULL }, "predict", &data) != TW_OK)
        return none;
    options->arrays = data.dataset ? NULL : data.arrays;
    options->dataset = data.dataset;
    options->rows = -1;
    if (data.dataset)
        options->batch_size = TW_NO_INT;
    else if (options->whole)
        options->batch_size = data.arrays[0]->shape.rank > 0 ? data.arrays[0]->shape.dims[0] : TW_NO_INT;
    /* labels and weights of a dataset are left out */
    options->parts =
        (tw__parts){ .x = data.parts.x, .y = data.parts.y + data.parts.weights, .structure = data.parts.structure, .own = own };
    tw_tensors outputs = predict(t, options, options->steps, verbose, callbacks);
    tw__given_free(&data);
    tw_value result = outputs.items ? tw__nesting_outputs(t, options->parts.structure, outputs) : none;
    tw_tensors_free(&outputs);
    return result;
}

TW_METHOD(
    model_predict_values,
    "keras.Model._predict(self: layer, x: value<arrays>, own: int = 0, batch_size: int = None, verbose: int = 1, "
    "steps: int = None, callbacks: list<callback> = None, whole: bool = False) -> value<numpy>",
    "The outputs for all rows of x, a structure of tensors or a dataset, in the structure that the model gives; whole: as one batch.")
{
    return predict_value(args->self, &args->x,
                         &(tw__feed_options){ .batch_size = args->batch_size, .steps = args->steps, .whole = args->whole },
                         (int)args->own, (int)args->verbose, args->callbacks);
}

static int verbosity(const tw_value *value)
{
    if (value->kind == TW_VALUE_INT)
        return (int)value->i;
    if (value->kind == TW_VALUE_BOOL)
        return value->b;
    return value->kind != TW_VALUE_NONE; /* "auto" is a bar; nothing is asked for: nothing is shown */
}

TW_METHOD(
    model_predict,
    "keras.Model.predict(self: layer, x: tensor, batch_size: int = None, verbose: value = None, steps: int = None, "
    "callbacks: list<callback> = None, max_queue_size: int = 10, workers: int = 1, use_multiprocessing: bool = False) -> tensor<numpy>",
    "The output for all rows of x, computed a batch at a time.\n"
    "x: the inputs: arrays, or a dataset of batches\n"
    "batch_size: how many rows are computed at once; None: 32\n"
    "steps: after how many batches to end; None: when the inputs end\n"
    "callbacks: callbacks that are called around each batch\n"
    "max_queue_size: kept for old programs; the result is the same\n"
    "workers: kept for old programs; the result is the same\n"
    "use_multiprocessing: kept for old programs; the result is the same\n"
    "returns: a NumPy array, or as many of them as the model has outputs")
{
    tw_value x = { .kind = TW_VALUE_TENSOR, .tensor = args->x };
    tw_value output = predict_value(args->self, &x, &(tw__feed_options){ .batch_size = args->batch_size, .steps = args->steps },
                                    0, verbosity(&args->verbose), args->callbacks);
    if (output.kind == TW_VALUE_TENSOR)
        return output.tensor;
    if (output.kind == TW_VALUE_LIST && output.list.count == 1 && output.list.items[0].kind == TW_VALUE_TENSOR) {
        tw_tensor *only = tw_retain(output.list.items[0].tensor);
        tw_value_free(&output);
        return only;
    }
    if (output.kind != TW_VALUE_NONE)
        tw__fail(TW_INVALID_ARGUMENT, "predict: model \"%s\" has several outputs, expected 1; tw_model_predict_values gives all",
                 args->self->name);
    tw_value_free(&output);
    return NULL;
}
