/* Dataset.choose_from_datasets and sample_from_datasets: another dataset gives the numbers of the datasets whose elements come
 * next; for samples it is made of random numbers and weights. */
#include "api/composite.h"
#include "api/tensor_spec.h"
#include "data/data.h"
#include "op/calls.h"
#include "rows.h"

static tw_status none_given(void)
{
    return tw__fail(TW_VALUE_ERROR, "Invalid `datasets`. `datasets` should not be empty.");
}

static struct tw_dataset *interleave(struct tw_dataset *choice, tw_objects datasets, bool stops)
{
    tw_dataset_choose_args args =
        TW_ARGS(dataset_choose, .choice_dataset = choice, .datasets = datasets, .stop_on_empty_dataset = stops);
    return choice ? tw_class_make(&tw__class_dataset_choose, &args) : NULL;
}

/* ---- choose_from_datasets ---- */

static const char *class_of(const tw_value *value)
{
    static const char *const names[] = { [TW_VALUE_NONE] = "NoneType", [TW_VALUE_BOOL] = "bool",   [TW_VALUE_INT] = "int",
                                         [TW_VALUE_FLOAT] = "float",   [TW_VALUE_STR] = "str",     [TW_VALUE_BYTES] = "bytes",
                                         [TW_VALUE_LIST] = "list",     [TW_VALUE_TUPLE] = "tuple", [TW_VALUE_DICT] = "dict" };
    if (value->kind == TW_VALUE_OBJECT)
        return tw_class_name(value->object);
    bool known = (size_t)value->kind < sizeof names / sizeof names[0] && names[value->kind];
    return known ? names[value->kind] : "Tensor";
}

/* Numbers of datasets are int64 scalars. */
static struct tw_dataset *check_choice(const tw_value *choice)
{
    if (choice->kind != TW_VALUE_OBJECT || !tw__is(choice->object, &tw__class_dataset)) {
        tw__fail(TW_TYPE_ERROR, "Invalid `choice_dataset`. `choice_dataset` should be a `tf.data.Dataset` but is <class '%s'>.",
                 class_of(choice));
        return NULL;
    }
    struct tw_dataset *dataset = choice->object;
    const tw_tensor_spec *spec = tw__element_leaf(&dataset->structure, &tw__class_tensor_spec);
    if (spec && spec->dtype == TW_INT64 && spec->shape.rank == 0)
        return dataset;
    tw__owned char *text = tw__element_text(&dataset->structure);
    tw__fail(TW_TYPE_ERROR,
             "Invalid `choice_dataset`. Elements of `choice_dataset` must be scalar `tf.int64` tensors but are %s.",
             text ? text : "");
    return NULL;
}

TW_API(
    dataset_choose_from,
    "data.Dataset.choose_from_datasets(datasets: list<dataset>, choice_dataset: value, stop_on_empty_dataset: bool = True) -> dataset",
    "Elements of the datasets whose numbers another dataset gives.\n"
    "datasets: the datasets to choose from\n"
    "choice_dataset: a dataset of int64 numbers, each the place of the dataset that the next element comes from\n"
    "stop_on_empty_dataset: True: end when a dataset that is chosen has ended; False: pass over it\n"
    "example: a, b = tf.data.Dataset.range(3), tf.data.Dataset.range(10, 13)\n"
    "example: list(tf.data.Dataset.choose_from_datasets([a, b], tf.data.Dataset.from_tensor_slices(tf.constant([0, 1, 0], tf.int64))).as_numpy_iterator())  # [0, 10, 1]")
{
    if (args->datasets.count < 1) {
        none_given();
        return NULL;
    }
    struct tw_dataset *choice = check_choice(&args->choice_dataset);
    const struct tw_dataset *first = args->datasets.items[0];
    for (int64_t i = 1; choice && i < args->datasets.count; i++) {
        const struct tw_dataset *other = args->datasets.items[i];
        if (!tw__element_fits(&other->structure, &first->structure)) {
            tw__fail(TW_TYPE_ERROR, "Invalid `datasets`. `datasets` must have compatible element specs.");
            return NULL;
        }
    }
    return interleave(choice, args->datasets, args->stop_on_empty_dataset);
}

/* ---- sample_from_datasets ---- */

/* Draws one number: of the logits that `user` is, and a pair of seeds; or of weights and a pair. */
static tw_tensors draw(void *user, tw_tensors in)
{
    TW_TEMPS(t);
    tw_tensor *logits = user, *seed = in.items[in.count - 1];
    if (!logits)
        logits = TW_TEMP(ExpandDims, TW_TEMP(Log, in.items[0]), 0);
    tw_tensor *drawn = TW_TEMP(StatelessMultinomial, logits, 1, seed, TW_A_TYPE("output_dtype", TW_INT64));
    tw_tensor *number = tw__temp_reshape(t, drawn, NULL, 0);
    return number ? tw_give(number) : TW_GIVE_FAILURE;
}

static struct tw_dataset *seeds(int64_t seed, int again)
{
    tw_dataset_random_args random = TW_ARGS(dataset_random, .seed = seed, .rerandomize_each_iteration = again);
    tw_auto struct tw_dataset *numbers = tw_class_make(&tw__class_dataset_random, &random);
    tw_dataset_batch_args pairs = TW_ARGS(dataset_batch, .self = numbers, .batch_size = 2);
    return numbers ? tw_class_make(&tw__class_dataset_batch, &pairs) : NULL;
}

/* The numbers of datasets, drawn by logits, or by the weights that a dataset gives. */
static struct tw_dataset *selector(tw_tensor *logits, struct tw_dataset *weights, struct tw_dataset *numbers)
{
    tw_value both[] = { { .kind = TW_VALUE_OBJECT, .object = weights }, { .kind = TW_VALUE_OBJECT, .object = numbers } };
    tw_auto struct tw_dataset *input = !numbers ? NULL
                                       : weights
                                           ? tw__impl_dataset_zip_structure(&(tw_dataset_zip_structure_args){
                                                 .datasets = { .kind = TW_VALUE_TUPLE, .list = { .items = both, .count = 2 } } })
                                           : tw_retain(numbers);
    tw_auto tw_function *function = input ? tw_function_new(draw, logits, .name = "sample_from_datasets") : NULL;
    tw_dataset_map_args map = TW_ARGS(dataset_map, .self = input, .map_func = function);
    return function ? tw_class_make(&tw__class_dataset_map, &map) : NULL;
}

/* Whether a weight is 0: such a dataset never gives an element. */
static bool is_out(const tw_tensor *weights, int64_t i)
{
    return !(tw_tensor_double_at(weights, i) > 0);
}

static tw_tensor *even_weights(int64_t count)
{
    tw_tensor *weights = tw__tensor_empty(TW_FLOAT32, &TW_SHAPE(count));
    for (int64_t i = 0; weights && i < count; i++)
        ((float *)weights->data)[i] = (float)(1.0 / (double)count);
    return weights;
}

/* Whether a list has nothing but integers beside its zeros: TensorFlow drops the zeros before it asks for the dtype. */
static bool are_integers(const tw_value *given)
{
    bool integers = given->kind == TW_VALUE_LIST || given->kind == TW_VALUE_TUPLE;
    for (int64_t i = 0; integers && i < given->list.count; i++) {
        const tw_value *item = &given->list.items[i];
        integers = item->kind == TW_VALUE_INT || (item->kind == TW_VALUE_FLOAT && !(item->f > 0));
    }
    return integers;
}

/* The weights as a tensor; NULL: an error. */
static tw_tensor *read_weights(const tw_value *given, int64_t count, bool drops_zeros)
{
    if (given->kind == TW_VALUE_NONE)
        return even_weights(count);
    tw_dtype dtype = drops_zeros && are_integers(given) ? TW_INT32 : TW_DTYPE_NONE;
    tw_auto tw_tensor *weights = tw__value_tensor(given, TW_DTYPE_NONE, "weights");
    if (!weights)
        return NULL;
    int64_t length = weights->shape.rank > 0 ? weights->shape.dims[0] : -1;
    if (length >= 0 && length != count)
        tw__fail(TW_VALUE_ERROR,
                 "Invalid `weights`. `weights` should have the same length as `datasets` but got `len(weights)=%lld` vs. "
                 "`len(datasets)=%lld`.",
                 (long long)length, (long long)count);
    else if (dtype == TW_INT32 || (weights->dtype != TW_FLOAT32 && weights->dtype != TW_FLOAT64))
        tw__fail(TW_TYPE_ERROR,
                 "Invalid `weights`. `weights` type must be either `tf.float32` or `tf.float64` but is <dtype: '%s'>.",
                 tw_dtype_name(dtype == TW_INT32 ? dtype : weights->dtype));
    else
        return tw_retain(weights);
    return NULL;
}

static struct tw_dataset *sample_by(tw_tensor *weights, const tw_dataset_sample_from_args *args)
{
    TW_TEMPS(t);
    size_t room = (size_t)args->datasets.count + 1;
    void **kept = tw__temp_memory(t, tw__alloc_array(room, sizeof *kept));
    int64_t *numbers = tw__temp_memory(t, tw__alloc_array(room, sizeof *numbers)), count = 0;
    bool known = weights->data && !weights->node && weights->count == args->datasets.count;
    for (int64_t i = 0; kept && numbers && i < args->datasets.count; i++) {
        if (known && !args->stop_on_empty_dataset && is_out(weights, i))
            continue;
        kept[count] = args->datasets.items[i];
        numbers[count++] = i;
    }
    if (!kept || !numbers)
        return NULL;
    tw_tensor *own =
        count < args->datasets.count ? tw__temp_gather(t, weights, tw__temp_ints(t, numbers, count, TW_INT32), 0) : weights;
    tw_tensor *logits = TW_TEMP(ExpandDims, TW_TEMP(Log, own), 0);
    struct tw_dataset *pairs = logits ? tw__temp(t, seeds(args->seed, args->rerandomize_each_iteration)) : NULL;
    return interleave(tw__temp(t, selector(logits, NULL, pairs)), (tw_objects){ kept, count }, args->stop_on_empty_dataset);
}

TW_API(dataset_sample_from,
       "data.Dataset.sample_from_datasets(datasets: list<dataset>, weights: value = None, seed: int = None, "
       "stop_on_empty_dataset: bool = False, rerandomize_each_iteration: bool = None) -> dataset",
       "Elements of datasets that chance chooses: by weights, or by weights that a dataset gives anew for every element.\n"
       "datasets: the datasets to draw from\n"
       "weights: how probable each dataset is; a dataset of such vectors: for every element anew; None: all the same\n"
       "stop_on_empty_dataset: True: end when a dataset that is drawn has ended; False: pass over it\n"
       "rerandomize_each_iteration: True: every iteration draws anew\n"
       "seed: an integer that fixes what is drawn; None: it differs")
{
    if (args->datasets.count < 1) {
        none_given();
        return NULL;
    }
    if (args->datasets.count == 1)
        return tw_retain(args->datasets.items[0]);
    const tw_value *given = &args->weights;
    if (given->kind == TW_VALUE_OBJECT && tw__is(given->object, &tw__class_dataset)) {
        tw_auto struct tw_dataset *pairs = seeds(args->seed, args->rerandomize_each_iteration);
        tw_auto struct tw_dataset *choice = selector(NULL, given->object, pairs);
        return interleave(choice, args->datasets, args->stop_on_empty_dataset);
    }
    tw_auto tw_tensor *weights = read_weights(given, args->datasets.count, !args->stop_on_empty_dataset);
    return weights ? sample_by(weights, args) : NULL;
}
