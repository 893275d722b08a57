/* keras.layers.Discretization: the bin of each number, between boundaries that are given, or learnt so that bins have equally
 * many numbers. What was seen is kept as a summary: numbers in their order, and how many each stands for. */
#include <math.h>
#include <stdlib.h>

#include "api/debugging/debugging.h"
#include "eager/eager.h"
#include "keras/layers/preprocessing/encode.h"
#include "keras/layers/preprocessing/preprocessing.h"
#include "op/calls.h"

typedef struct discretization {
    tw__preprocessing base;
    tw__output_mode mode;
    double *boundaries;
    int64_t count;
} discretization;

static const char modes[] = "'int', 'one_hot', 'multi_hot', 'count'";

static tw_status discretization_settle(void *self, const void *given)
{
    const tw_layers_discretization_args *args = given;
    discretization *layer = self;
    TW_TRY(tw__output_mode_of(self, args->output_mode, modes, &layer->mode));
    if (args->sparse && layer->mode == TW_MODE_INT)
        return tw__fail(TW_VALUE_ERROR, "`sparse` may only be true if `output_mode` is `'one_hot'`, `'multi_hot'`, or `'count'`. "
                                        "Received: sparse=True and output_mode=int");
    if (args->num_bins != TW_NO_INT && args->num_bins < 0)
        return tw__fail(TW_VALUE_ERROR, "`num_bins` must be greater than or equal to 0. You passed `num_bins=%lld`",
                        (long long)args->num_bins);
    if (args->num_bins != TW_NO_INT && args->bin_boundaries.kind != TW_VALUE_NONE)
        return tw__fail(TW_VALUE_ERROR, "Both `num_bins` and `bin_boundaries` should not be set. You passed `num_bins=%lld`",
                        (long long)args->num_bins);
    return TW_OK;
}

static tw_status set_boundaries(discretization *layer, const tw_tensor *numbers, int64_t count)
{
    double *boundaries = tw__alloc_array((size_t)count + 1, sizeof *boundaries);
    TW_NEED(boundaries);
    for (int64_t i = 0; i < count; i++)
        boundaries[i] = tw_tensor_double_at(numbers, i);
    if (tw_error_code() != TW_OK) {
        tw__free(boundaries);
        return tw__error_status();
    }
    tw__free(layer->boundaries);
    layer->boundaries = boundaries;
    layer->count = count;
    return TW_OK;
}

static tw_status discretization_init(void *self, const void *given)
{
    const tw_layers_discretization_args *args = given;
    discretization *layer = self;
    TW_TRY(discretization_settle(self, given));
    TW_TRY(tw__encoding_dtype(self, args->dtype, layer->mode, true));
    if (args->bin_boundaries.kind == TW_VALUE_NONE)
        return TW_OK;
    tw__outside outside = tw__root_begin();
    tw_auto tw_tensor *numbers = tw__value_tensor(&args->bin_boundaries, TW_FLOAT64, "bin_boundaries");
    tw__outside_end(outside);
    TW_NEED(numbers);
    if (numbers->shape.rank != 1 || numbers->dtype == TW_STRING)
        return tw__fail(TW_VALUE_ERROR, "Discretization: `bin_boundaries` must be a list of numbers");
    return set_boundaries(layer, numbers, numbers->count);
}

static void discretization_destroy(void *self)
{
    tw__free(((discretization *)self)->boundaries);
}

static tw_status discretization_build(tw_layer *self, const tw_shape *input)
{
    (void)input;
    const tw_layers_discretization_args *args = tw_object_config(self);
    if (args->bin_boundaries.kind != TW_VALUE_NONE)
        return TW_OK;
    tw_auto tw_tensor *none = tw_tensor_new(TW_FLOAT32, TW_SHAPE(2, 0), NULL);
    tw__owned char *name = tw__format("%ssummary", tw__variable_scope());
    tw_auto tw_variable *summary = none && name ? tw__variable_new(none, name, false, &TW_SHAPE(2, -1)) : NULL;
    TW_NEED(summary);
    return tw__track(&self->trackable, "summary", summary);
}

/* ---- calling ---- */

static tw_tensor *bins_of(void *context, tw__temps *t, tw_tensor *numbers)
{
    const discretization *layer = context;
    tw_attr boundaries = {
        .name = "boundaries", .kind = TW_ATTR_FLOATS, .count = (int32_t)layer->count, .floats = layer->boundaries
    };
    bool known =
        numbers->dtype == TW_FLOAT32 || numbers->dtype == TW_FLOAT64 || numbers->dtype == TW_INT32 || numbers->dtype == TW_INT64;
    return TW_TEMP(Bucketize, known ? numbers : tw__temp_cast(t, numbers, TW_FLOAT32), boundaries);
}

static tw_value discretization_call(tw_layer *self, const tw_value *given, int training)
{
    (void)training;
    TW_TEMPS(t);
    discretization *layer = (discretization *)self;
    const tw_layers_discretization_args *args = tw_object_config(self);
    void *value = tw__encoding_input(self, t, &given[0], TW_DTYPE_NONE);
    tw__encoding how = { .mode = layer->mode, .depth = layer->count + 1, .dtype = self->compute_dtype, .sparse = args->sparse };
    return tw__encoded(tw__encode(t, tw__map_values(t, value, bins_of, layer), &how));
}

static tw_status discretization_shape(tw_layer *self, const tw_shape *input, tw_shape *output)
{
    discretization *layer = (discretization *)self;
    return tw__encoded_shape(layer->mode, layer->count + 1, input, output);
}

/* ---- learning the boundaries ---- */

/* Numbers in their order, with what each stands for. */
typedef struct summary {
    float *numbers, *weights;
    int64_t count;
} summary;

typedef struct entry {
    float number, weight;
    int64_t place;
} entry;

static int compare(const void *a, const void *b)
{
    const entry *x = a, *y = b;
    if (x->number != y->number)
        return x->number < y->number ? -1 : x->number > y->number ? 1 : isnan(x->number) - isnan(y->number);
    return (x->place > y->place) - (x->place < y->place);
}

/* The value at x of the line through the points, which is level at both ends. */
static double between(double x, const float *at, const float *values, int64_t count)
{
    int64_t low = 0, high = count;
    if (x > (double)at[count - 1])
        return (double)values[count - 1];
    if (x < (double)at[0])
        return (double)values[0];
    while (low < high) {
        int64_t middle = low + (high - low) / 2;
        if (x >= (double)at[middle])
            low = middle + 1;
        else
            high = middle;
    }
    int64_t j = low - 1;
    if (j == count - 1 || (double)at[j] == x)
        return (double)values[j];
    double slope = ((double)values[j + 1] - (double)values[j]) / ((double)at[j + 1] - (double)at[j]);
    return slope * (x - (double)at[j]) + (double)values[j];
}

/* As many numbers as 1 / epsilon says, where there are more. `out` has room for count + 2. */
static tw_status compress(const summary *in, double epsilon, tw_tensor **out)
{
    bool few = (double)in->count * epsilon < 1;
    int64_t count = few ? in->count : (int64_t)ceil(1 / epsilon);
    tw_tensor *made = tw_tensor_new(TW_FLOAT32, TW_SHAPE(2, count), NULL);
    tw__owned float *sums = tw__alloc_array((size_t)in->count * 2 + 2, sizeof *sums);
    *out = made;
    if (!made || !sums)
        return tw__error_status();
    float *numbers = made->data, *weights = numbers + count, *parts = sums + in->count + 1, sum = 0;
    for (int64_t i = 0; few && i < count; i++) {
        numbers[i] = in->numbers[i];
        weights[i] = in->weights[i];
    }
    if (few)
        return TW_OK;
    for (int64_t i = 0; i < in->count; i++)
        sums[i] = sum += in->weights[i];
    for (int64_t i = 0; i < in->count; i++)
        parts[i] = sums[i] / sum;
    double before = 0;
    for (int64_t i = 0; i < count; i++) {
        double part = epsilon + (double)i * epsilon, weight = between(part, parts, sums, in->count);
        numbers[i] = (float)between(part, parts, in->numbers, in->count);
        weights[i] = (float)(weight - before);
        before = weight;
    }
    return TW_OK;
}

static int64_t sample_step(int64_t elements, double epsilon)
{
    return (int64_t)((float)elements / (float)(1 / epsilon));
}

/* Every n-th of the batch's numbers, as n of them. */
static tw_status merge(tw_variable *variable, const tw_tensor *batch, double epsilon)
{
    tw_auto tw_tensor *old = tw__variable_read(variable);
    TW_NEED(old);
    int64_t before = old->shape.dims[1], first = sample_step(batch->count, epsilon), step = first > 1 ? first : 1, count = 0;
    size_t room = (size_t)(batch->count + before) + 1;
    tw__owned entry *entries = tw__alloc_array(room, sizeof *entries), *sampled = tw__alloc_array(room, sizeof *sampled);
    tw__owned float *space = tw__alloc_array(2 * room, sizeof *space);
    if (!entries || !sampled || !space)
        return tw__error_status();
    for (int64_t i = 0; i < batch->count; i++)
        entries[i] = (entry){ ((const float *)batch->data)[i], 0, i };
    qsort(entries, (size_t)batch->count, sizeof *entries, compare);
    for (int64_t i = first; i < batch->count; i += step, count++)
        sampled[count] = (entry){ entries[i].number, (float)step, count };
    for (int64_t i = 0; i < before; i++, count++)
        sampled[count] = (entry){ ((const float *)old->data)[i], ((const float *)old->data)[before + i], count };
    qsort(sampled, (size_t)count, sizeof *sampled, compare);
    summary all = { space, space + room, count };
    for (int64_t i = 0; i < count; i++) {
        all.numbers[i] = sampled[i].number;
        all.weights[i] = sampled[i].weight;
    }
    tw_auto tw_tensor *made = NULL;
    TW_TRY(compress(&all, epsilon, &made));
    return tw__variable_set(variable, made);
}

static tw_status discretization_update(tw_layer *self, const tw_value *batch)
{
    const tw_layers_discretization_args *args = tw_object_config(self);
    tw_variable *variable = (tw_variable *)tw__tracked(&self->trackable, "summary");
    if (args->bin_boundaries.kind != TW_VALUE_NONE)
        return tw__fail(TW_VALUE_ERROR,
                        "Cannot adapt a Discretization layer that has been initialized with `bin_boundaries`, use "
                        "`num_bins` instead.");
    if (!variable)
        return tw__fail(TW_RUNTIME_ERROR, "`build` must be called before `update_state`.");
    if (batch->kind == TW_VALUE_OBJECT)
        return tw__fail(TW_TYPE_ERROR, "Discretization: can't be adapted to ragged or sparse tensors");
    tw_auto tw_tensor *given = tw__value_tensor(batch, TW_FLOAT32, "data");
    tw_auto tw_tensor *numbers = tw__cast(given, TW_FLOAT32);
    TW_NEED(numbers);
    if (numbers->node)
        return tw__fail(TW_UNIMPLEMENTED, "Discretization.update_state: in a function that is traced");
    return merge(variable, numbers, args->epsilon);
}

static tw_status discretization_finalize(tw_layer *self)
{
    const tw_layers_discretization_args *args = tw_object_config(self);
    tw_variable *variable = (tw_variable *)tw__tracked(&self->trackable, "summary");
    if (args->bin_boundaries.kind != TW_VALUE_NONE || !variable)
        return TW_OK;
    if (args->num_bins == TW_NO_INT || args->num_bins == 0)
        return tw__fail(TW_TYPE_ERROR, "Discretization: `num_bins` must be set for `adapt`");
    tw_auto tw_tensor *old = tw__variable_read(variable);
    TW_NEED(old);
    int64_t count = old->shape.dims[1];
    summary all = { old->data, (float *)old->data + count, count };
    tw_auto tw_tensor *made = NULL;
    TW_TRY(compress(&all, 1.0 / (double)args->num_bins, &made));
    int64_t bins = made->shape.dims[1];
    return set_boundaries((discretization *)self, made, bins ? bins - 1 : 0);
}

static tw_status discretization_reset(tw_layer *self)
{
    tw_variable *variable = (tw_variable *)tw__tracked(&self->trackable, "summary");
    if (!variable)
        return TW_OK;
    tw_auto tw_tensor *none = tw_tensor_new(TW_FLOAT32, TW_SHAPE(2, 0), NULL);
    TW_NEED(none);
    return tw__variable_set(variable, none);
}

/* ---- rows ---- */

static void discretization_config(tw_layer *self, tw__dict *dict)
{
    const tw_layers_discretization_args *args = tw_object_config(self);
    const tw_value *given = &args->bin_boundaries;
    tw__dict_put(dict, "bin_boundaries",
                 given->kind == TW_VALUE_TENSOR ? tw__tensor_config(given->tensor) : tw__value_copy(given));
}

static const tw__preprocessing_methods discretization_methods = { .layer = { .build = discretization_build,
                                                                             .arguments = "inputs",
                                                                             .call_values = discretization_call,
                                                                             .output_shape = discretization_shape,
                                                                             .own_config = " bin_boundaries ",
                                                                             .config = discretization_config },
                                                                  .update = discretization_update,
                                                                  .finalize = discretization_finalize,
                                                                  .reset = discretization_reset };

TW_CLASS(layers_discretization,
         "keras.layers.Discretization|keras.layers.experimental.preprocessing.Discretization(bin_boundaries: value = None, "
         "num_bins: int = None, epsilon: float = 0.01, output_mode: str = int, sparse: bool = False, **layer) -> layer",
         .parent = &tw__class_layers_preprocessing, .size = sizeof(discretization), .init = discretization_init,
         .settle = discretization_settle, .destroy = discretization_destroy, .fixed = " bin_boundaries ",
         .methods = &discretization_methods,
         .doc =
             "The bin of each number.\n"
             "bin_boundaries: numbers in their order; None: `adapt` learns those of `num_bins` bins with equally many numbers\n"
             "epsilon: how exactly `adapt` finds the boundaries; less is more exact\n"
             "output_mode: `int`, `one_hot`, `multi_hot` or `count`\n"
             "example: tf.keras.layers.Discretization([0.0, 1.0])(tf.constant([-1.0, 0.5, 2.0])).numpy().tolist()  # [0, 1, 2]");
