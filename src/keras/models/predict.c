/* Model.predict: the model over all rows of an array, a batch at a time. */
#include "data/data.h"
#include "keras/keras.h"

/* Rows [begin, begin + rows) of a tensor, sharing its memory. */
static tw_tensor *rows_of(tw_tensor *x, int64_t begin, int64_t rows)
{
    tw_shape shape = x->shape;
    int64_t row_size = x->shape.dims[0] ? x->count / x->shape.dims[0] : 0;
    shape.dims[0] = rows;
    return tw__tensor_slice_view(x, &shape, begin * row_size);
}

/* While a function is traced there are no values to hand out. */
static bool has_values(const tw_tensor *tensor)
{
    if (!tensor->node || tensor->data)
        return true;
    tw__fail(TW_VALUE_ERROR, "predict: a symbolic tensor of shape %s has no values; call the model itself while a function is traced",
             tw__shape_text(&tensor->shape));
    return false;
}

/* Copies a batch's output to its place; the first one says what the whole looks like. */
static tw_status put_rows(tw_tensor **whole, const tw_tensor *part, int64_t begin, int64_t rows, int64_t total, const char *name)
{
    if (!has_values(part))
        return tw__error_status();
    if (!*whole) {
        tw_shape shape = part->shape;
        if (shape.rank < 1 || shape.dims[0] != rows || !tw_dtype_size(part->dtype) || part->dtype == TW_STRING)
            return tw__fail(TW_INVALID_ARGUMENT, "predict: model \"%s\" gave a %s tensor of shape %s for %lld rows", name,
                            tw_dtype_name(part->dtype), tw__shape_text(&shape), (long long)rows);
        shape.dims[0] = total;
        if (!(*whole = tw__tensor_empty(part->dtype, &shape)))
            return tw__error_status();
    }
    tw_shape expected = (*whole)->shape;
    if (expected.rank)
        expected.dims[0] = rows;
    if (part->dtype != (*whole)->dtype || !tw__shape_equal(&part->shape, &expected))
        return tw__fail(TW_INVALID_ARGUMENT, "predict: model \"%s\" gave a %s tensor of shape %s, expected %s", name,
                        tw_dtype_name(part->dtype), tw__shape_text(&part->shape), tw__shape_text(&expected));
    size_t row_bytes = rows ? tw_tensor_bytes(part) / (size_t)rows : 0;
    if (part->count)
        memcpy((char *)(*whole)->data + (size_t)begin * row_bytes, part->data, tw_tensor_bytes(part));
    return TW_OK;
}

static int verbosity(const tw_value *value)
{
    if (value->kind == TW_VALUE_INT)
        return (int)value->i;
    if (value->kind == TW_VALUE_BOOL)
        return value->b;
    return 1; /* "auto" */
}

TW_METHOD(model_predict,
          "keras.Model.predict(self: layer, x: tensor, batch_size: int = None, verbose: value = None, steps: int = None, "
          "callbacks: value = None, max_queue_size: int = 10, workers: int = 1, use_multiprocessing: bool = False) -> tensor<numpy>",
          "The outputs for all rows of x, computed a batch at a time.")
{
    tw_layer *model = args->self;
    tw_tensor *x = args->x, *whole = NULL;
    int64_t batch = args->batch_size == TW_NO_INT || args->batch_size == 0 ? 32 : args->batch_size; /* as Keras takes 0 */
    if (args->callbacks.kind != TW_VALUE_NONE) {
        tw__fail(TW_UNIMPLEMENTED, "predict: callbacks are not supported");
        return NULL;
    }
    if (!has_values(x))
        return NULL;
    if (x->shape.rank < 1 || x->shape.dims[0] < 1) {
        tw__fail(TW_VALUE_ERROR, "predict: the input has shape %s, expected at least one row", tw__shape_text(&x->shape));
        return NULL;
    }
    if (batch < 0) {
        tw__fail(TW_VALUE_ERROR, "predict: Invalid value in tensor used for shape: batch_size is %lld, expected a positive number", (long long)batch);
        return NULL;
    }
    int64_t total = x->shape.dims[0];
    if (batch > total)
        batch = total;
    int64_t steps = (total + batch - 1) / batch;
    if (args->steps != TW_NO_INT && args->steps > 0 && args->steps < steps) {
        steps = args->steps;
        total = steps * batch;
    }
    tw__progress progress;
    tw__progress_start(&progress, steps, verbosity(&args->verbose));
    tw_status status = TW_OK;
    for (int64_t step = 0; status == TW_OK && step < steps; step++) {
        int64_t begin = step * batch, rows = total - begin < batch ? total - begin : batch;
        tw_tensor *input = rows_of(x, begin, rows);
        tw_tensor *output = input ? tw__layer_call(model, input, 0) : NULL;
        status = output ? put_rows(&whole, output, begin, rows, total, model->name) : tw__error_status();
        tw_release(output);
        tw_release(input);
        if (status == TW_OK)
            tw__progress_update(&progress, step + 1, false);
        if (status == TW_OK && tw__interrupt_hook)
            status = tw__interrupt_hook();
    }
    if (status != TW_OK) {
        tw_release(whole);
        return NULL;
    }
    tw__progress_update(&progress, steps, true);
    return whole;
}

/* The outputs of batches, one behind the other. */
static tw_tensor *join(tw_tensor *const *parts, int64_t count, const char *name)
{
    tw_tensor *whole = NULL;
    int64_t total = 0, begin = 0;
    tw_status status = TW_OK;
    for (int64_t i = 0; i < count; i++)
        total += parts[i]->shape.rank > 0 ? parts[i]->shape.dims[0] : 0;
    for (int64_t i = 0; status == TW_OK && i < count; i++) {
        int64_t rows = parts[i]->shape.rank > 0 ? parts[i]->shape.dims[0] : 0;
        status = put_rows(&whole, parts[i], begin, rows, total, name);
        begin += rows;
    }
    if (status == TW_OK)
        return whole;
    tw_release(whole);
    return NULL;
}

TW_METHOD(model_predict_dataset,
          "keras.Model._predict_dataset(self: layer, dataset: dataset, verbose: value = None, steps: int = None) -> tensor<numpy>",
          "The outputs for the batches of a dataset; of elements of several tensors the first is the input.")
{
    tw_layer *model = args->self;
    tw__dataset *dataset = tw__dataset_of("predict", args->dataset->variant);
    tw__cursor *cursor = dataset ? tw__cursor_new(dataset) : NULL;
    if (!cursor)
        return NULL;
    int64_t steps = tw__dataset_cardinality(dataset), limit = args->steps != TW_NO_INT && args->steps > 0 ? args->steps : INT64_MAX;
    tw_tensor **element = tw__alloc_array((size_t)dataset->count + 1, sizeof *element);
    tw__elements outputs = { .count = 1 };
    tw__progress progress;
    tw__progress_start(&progress, limit < INT64_MAX ? limit : steps > 0 ? steps : 1, verbosity(&args->verbose));
    tw_status status = element ? TW_OK : tw__error_status();
    bool end = false;
    while (status == TW_OK && !end && (int64_t)outputs.size < limit) {
        status = tw__data_plain_error(tw__cursor_next(cursor, element, &end));
        if (status != TW_OK || end)
            break;
        tw_tensor *output = tw__layer_call(model, element[0], 0), **room = output ? tw__elements_room(&outputs) : NULL;
        tw__element_end(element, dataset->count);
        if (room) {
            *room = output;
            outputs.size++;
            tw__progress_update(&progress, (int64_t)outputs.size, false);
            if (tw__interrupt_hook)
                status = tw__interrupt_hook();
        } else {
            tw_release(output);
            status = tw__error_status();
        }
    }
    if (status == TW_OK && !outputs.size)
        status = tw__fail(TW_VALUE_ERROR, "Unexpected result of `predict_function` (Empty batch_outputs). The dataset has no elements.");
    tw_tensor *whole = status == TW_OK ? join(outputs.items, (int64_t)outputs.size, model->name) : NULL;
    if (whole)
        tw__progress_update(&progress, (int64_t)outputs.size, true);
    tw__elements_free(&outputs);
    tw__free(element);
    tw__cursor_free(cursor);
    return whole;
}
