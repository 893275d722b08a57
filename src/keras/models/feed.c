/* Where the batches of fit, evaluate and predict come from: rows of arrays, shuffled or not, or a dataset's elements. Rows in
 * their order are views of the arrays. The order of shuffled rows is TensorFlow's: one RandomShuffle of the rows' numbers per
 * epoch, in a function of its own, so that its stream begins with each fit and goes on from epoch to epoch. Where the order of
 * batches is shuffled instead, the numbers are theirs. */
#include <math.h>

#include "keras/models/training.h"
#include "op/calls.h"

static tw_tensor *view_rows(tw_tensor *x, int64_t begin, int64_t rows)
{
    tw_shape shape = x->shape;
    int64_t row_size = x->shape.dims[0] ? x->count / x->shape.dims[0] : 0;
    shape.dims[0] = rows;
    return tw__tensor_slice_view(x, &shape, begin * row_size);
}

/* ---- opening ---- */

static tw_status shuffle_body(void *context, tw_tensor *const *arguments, int count, tw_tensor ***outputs, int *output_count)
{
    (void)context, (void)count;
    tw_random_shuffle_args args = { .value = arguments[0], .seed = TW_NO_INT };
    *output_count = 1;
    if (!(*outputs = tw__alloc_array(1, sizeof **outputs)))
        return tw__error_status();
    (*outputs)[0] = tw__impl_random_shuffle(&args);
    if ((*outputs)[0])
        return TW_OK;
    tw__free(*outputs);
    *outputs = NULL;
    return tw__error_status();
}

static tw_status prepare_shuffle(tw__feed *f)
{
    tw_dtype dtype = TW_INT64;
    int64_t count = f->batches ? f->steps : f->rows;
    tw_shape shape = TW_SHAPE(count);
    f->shuffler = tw__function_trace("shuffle", &dtype, &shape, 1, shuffle_body, NULL);
    f->stream = f->shuffler ? tw__kernel_stream_new(&tw__op_RandomShuffle) : NULL;
    for (size_t i = 0; f->stream && i < f->shuffler->graph->node_count; i++) {
        tw__node *node = f->shuffler->graph->nodes[i];
        if (node->op->free_state && !node->stream)
            node->stream = tw_retain(f->stream);
    }
    f->numbers = f->stream ? tw__tensor_empty(TW_INT64, &shape) : NULL;
    if (!f->numbers)
        return tw__error_status();
    for (int64_t i = 0; i < count; i++)
        ((int64_t *)f->numbers->data)[i] = i;
    return TW_OK;
}

static tw_status open_arrays(tw__feed *f, const tw__feed_options *o, const char *who)
{
    f->arrays = tw__alloc_array((size_t)f->count + 1, sizeof *f->arrays);
    if (!f->arrays)
        return tw__error_status();
    int64_t all = -1;
    for (int i = 0; i < f->count; i++) {
        tw_tensor *array = tw__tensor_known(o->arrays[i], who);
        if (!array)
            return tw__error_status();
        if (array->shape.rank < 1)
            return tw__fail(TW_VALUE_ERROR, "%s: array %d of the data has shape (), expected at least one row", who, i);
        if (all >= 0 && array->shape.dims[0] != all)
            return tw__fail(
                TW_VALUE_ERROR,
                "Data cardinality is ambiguous:\n  x sizes: %lld\n  y sizes: %lld\nMake sure all arrays contain the same "
                "number of samples.",
                (long long)all, (long long)array->shape.dims[0]);
        all = array->shape.dims[0];
        bool part = o->rows >= 0 && (o->first || o->rows != all);
        if (!(f->arrays[i] = part ? view_rows(array, o->first, o->rows) : tw_retain(array)))
            return tw__error_status();
    }
    f->rows = o->rows >= 0 ? o->rows : all;
    if (f->rows < 1)
        return tw__fail(TW_VALUE_ERROR,
                        "%s: the input has %lld rows, expected at least one row (Expected input data to be non-empty.)", who,
                        (long long)f->rows);
    bool given = o->batch_size != TW_NO_INT && o->batch_size != 0;
    f->batch_size = given ? o->batch_size : o->steps > 0 ? (f->rows + o->steps - 1) / o->steps : 32;
    if (f->batch_size < 0)
        return tw__fail(TW_VALUE_ERROR,
                        "%s: Invalid value in tensor used for shape: batch_size is %lld, expected a positive number", who,
                        (long long)f->batch_size);
    f->even = f->rows % f->batch_size == 0;
    if (f->batch_size > f->rows)
        f->batch_size = f->rows;
    f->steps = (f->rows + f->batch_size - 1) / f->batch_size;
    for (int i = 0; i < f->count; i++) {
        f->specs[i] = (tw_spec){ f->arrays[i]->dtype, f->arrays[i]->shape };
        f->specs[i].shape.dims[0] = f->even ? f->batch_size : -1; /* as of TensorFlow's dataset of the rows */
    }
    f->shuffles = o->shuffle;
    f->batches = o->shuffle && o->batches;
    f->whole = o->whole;
    return f->shuffles ? prepare_shuffle(f) : TW_OK;
}

static tw_status open_dataset(tw__feed *f, const tw__feed_options *o, const char *who)
{
    f->dataset = tw_retain(o->dataset);
    tw__dataset *dataset = tw__dataset_of(who, o->dataset->variant);
    if (!dataset)
        return tw__error_status();
    if (dataset->count != f->count)
        return tw__fail(TW_VALUE_ERROR, "%s: elements of the dataset have %d tensors, expected %d", who, dataset->count,
                        f->count);
    int64_t steps = tw__dataset_cardinality(dataset);
    f->steps = steps;
    for (int i = 0; i < f->count; i++)
        f->specs[i] = o->dataset->specs ? o->dataset->specs[i] : (tw_spec){ dataset->dtypes[i], dataset->shapes[i] };
    return TW_OK;
}

/* {0: 1.0, 1: 2.5} as a vector. */
static tw_status read_class_weights(tw__feed *f, const tw_value *given)
{
    int64_t count = given->kind == TW_VALUE_DICT ? given->list.count / 2 : -1;
    f->class_weights = count > 0 ? tw__tensor_empty(TW_FLOAT32, &TW_SHAPE(count)) : NULL;
    if (count > 0 && !f->class_weights)
        return tw__error_status();
    bool good = count > 0, *seen = tw__alloc_array((size_t)(count > 0 ? count : 1), sizeof *seen);
    for (int64_t i = 0; good && seen && i < count; i++) {
        const tw_value *key = &given->list.items[2 * i];
        double at = -1, weight = 0;
        good = tw__value_number(key, &at) && at >= 0 && at < (double)count && floor(at) == at && !seen[(int64_t)at] &&
               tw__value_number(&given->list.items[2 * i + 1], &weight);
        if (good) {
            seen[(int64_t)at] = true;
            ((float *)f->class_weights->data)[(int64_t)at] = (float)weight;
        }
    }
    tw__free(seen);
    if (!good)
        return tw__fail(TW_VALUE_ERROR,
                        "Expected `class_weight` to be a dict with keys from 0 to one less than the number of classes");
    if (f->parts.y != 1)
        return tw__fail(TW_VALUE_ERROR, "`class_weight` is only supported for Models with a single output.");
    return TW_OK;
}

tw_status tw__feed_open(tw__feed *f, const tw__feed_options *o, const char *who)
{
    *f = (tw__feed){ .parts = o->parts, .count = o->parts.x + o->parts.y + o->parts.weights };
    if (f->count < 1 || o->parts.x < 1)
        return tw__fail(TW_VALUE_ERROR, "%s: there is no x", who);
    f->specs = tw__alloc_array((size_t)f->count + 1, sizeof *f->specs);
    f->batch = tw__alloc_array((size_t)f->count + 1, sizeof *f->batch);
    tw_status status = f->specs && f->batch ? TW_OK : tw__error_status();
    if (status == TW_OK)
        status = o->dataset ? open_dataset(f, o, who) : open_arrays(f, o, who);
    if (status == TW_OK && o->class_weight && o->class_weight->kind != TW_VALUE_NONE) {
        status = read_class_weights(f, o->class_weight);
        if (!f->parts.weights) { /* one tensor more in every batch */
            f->parts.weights = 1;
            f->specs[f->count] = (tw_spec){ TW_FLOAT32, f->specs[o->parts.x].shape };
            if (f->specs[f->count].shape.rank >= 2)
                f->specs[f->count].shape.rank--;
        }
    }
    if (status != TW_OK)
        tw__feed_close(f);
    return status;
}

static void end_batch(tw__feed *f)
{
    tw__element_end(f->batch, f->parts.x + f->parts.y + f->parts.weights);
}

void tw__feed_close(tw__feed *f)
{
    if (f->batch)
        end_batch(f);
    for (int i = 0; f->arrays && i < f->count; i++)
        tw_release(f->arrays[i]);
    tw__free(f->arrays);
    tw__free(f->batch);
    tw__free(f->specs);
    tw__cursor_free(f->cursor);
    void *made[] = { f->stream, f->shuffler, f->numbers, f->order, f->dataset, f->class_weights };
    for (size_t i = 0; i < sizeof made / sizeof made[0]; i++)
        tw_release(made[i]);
    *f = (tw__feed){ 0 };
}

/* ---- going through ---- */

tw_status tw__feed_epoch(tw__feed *f)
{
    f->at = 0;
    if (f->dataset) {
        tw__cursor_free(f->cursor);
        tw__dataset *dataset = tw__dataset_of("fit", f->dataset->variant);
        f->cursor = dataset ? tw__cursor_new(dataset) : NULL;
        return f->cursor ? TW_OK : tw__error_status();
    }
    if (!f->shuffles)
        return TW_OK;
    tw_release(f->order);
    f->order = NULL;
    return tw__function_call(f->shuffler, &f->numbers, &f->order);
}

tw_status tw__feed_begin(tw__feed *f, int64_t limit)
{
    if (f->dataset && (limit < 0 || limit == f->steps))
        TW_TRY(tw__feed_epoch(f));
    return tw__feed_epoch(f);
}

/* The class of an example: the number itself, or where the largest of a row stands. */
static int64_t class_at(const tw_tensor *y, int64_t i, int64_t width)
{
    if (width <= 1)
        return llrint(tw_tensor_double_at(y, i));
    int64_t best = 0;
    for (int64_t k = 1; k < width; k++) {
        if (tw_tensor_double_at(y, i * width + k) > tw_tensor_double_at(y, i * width + best))
            best = k;
    }
    return best;
}

static tw_status weigh_classes(tw__feed *f, bool had_weights)
{
    const tw_tensor *y = f->batch[f->parts.x];
    tw_shape shape = y->shape;
    int64_t width = 1;
    if (shape.rank >= 2)
        width = shape.dims[--shape.rank];
    tw_tensor *weights = tw__tensor_empty(TW_FLOAT32, &shape);
    for (int64_t i = 0; weights && i < weights->count; i++) {
        int64_t at = class_at(y, i, width);
        if (at < 0 || at >= f->class_weights->count) {
            tw_release(weights);
            return tw__fail(TW_INVALID_ARGUMENT,
                            "class_weight: a label is %lld, and there are weights for the classes from 0 to %lld", (long long)at,
                            (long long)f->class_weights->count - 1);
        }
        ((float *)weights->data)[i] = ((const float *)f->class_weights->data)[at];
    }
    tw_tensor **place = &f->batch[f->parts.x + f->parts.y];
    if (weights && had_weights) { /* both count; those of samples spread over the steps */
        tw_auto tw_tensor *cast = tw__cast(weights, (*place)->dtype), *given = *place;
        tw_shape wide = given->shape;
        while (wide.rank > 0 && wide.rank < shape.rank)
            wide.dims[wide.rank++] = 1;
        tw_auto tw_tensor *spread = cast ? tw__reshape(given, &wide) : NULL;
        tw_release(weights);
        weights = spread ? TW_CALL(Mul, spread, cast) : NULL;
    }
    *place = weights;
    return weights ? TW_OK : tw__error_status();
}

/* Where the batch begins that is next: its number stands in the order, which may come from a file. */
static tw_status next_batch(const tw__feed *f, int64_t *begin)
{
    int64_t number = ((const int64_t *)f->order->data)[f->at / f->batch_size];
    if (number < 0 || number >= f->steps)
        return tw__fail(TW_DATA_LOSS, "fit: batch %lld of %lld", (long long)number, (long long)f->steps);
    *begin = number * f->batch_size;
    return TW_OK;
}

static tw_status next_rows(tw__feed *f, bool *end)
{
    if (f->at >= f->rows) {
        *end = true;
        return TW_OK;
    }
    int64_t begin = f->at;
    if (f->batches)
        TW_TRY(next_batch(f, &begin));
    int64_t rows = f->rows - begin < f->batch_size ? f->rows - begin : f->batch_size;
    bool gathers = f->shuffles && !f->batches;
    tw_auto tw_tensor *numbers = gathers ? view_rows(f->order, begin, rows) : NULL, *axis = gathers ? tw_tensor_int(0) : NULL;
    if (gathers && (!numbers || !axis))
        return tw__error_status();
    for (int i = 0; i < f->count; i++) {
        f->batch[i] = gathers ? TW_CALL(GatherV2, f->arrays[i], numbers, axis) : view_rows(f->arrays[i], begin, rows);
        if (!f->batch[i])
            return tw__error_status();
    }
    f->at += f->batches ? f->batch_size : rows;
    return TW_OK;
}

tw_status tw__feed_next(tw__feed *f, bool *end)
{
    end_batch(f);
    *end = false;
    if (f->dataset)
        TW_TRY(tw__data_plain_error(tw__cursor_next(f->cursor, f->batch, end)));
    else
        TW_TRY(next_rows(f, end));
    if (!*end && f->class_weights)
        TW_TRY(weigh_classes(f, f->parts.x + f->parts.y < f->count));
    return TW_OK;
}
