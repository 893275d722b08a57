/* keras.layers.CategoryEncoding, Hashing, HashedCrossing: categories as numbers and rows, without anything to learn. */
#include "api/debugging/debugging.h"
#include "keras/layers/preprocessing/encode.h"
#include "op/calls.h"

/* ---- CategoryEncoding ---- */

typedef struct category {
    tw_layer layer;
    tw__output_mode mode;
} category;

static tw_status category_settle(void *self, const void *given)
{
    const tw_layers_category_encoding_args *args = given;
    const char *mode = args->output_mode && strcmp(args->output_mode, "binary") == 0 ? "multi_hot" : args->output_mode;
    TW_TRY(tw__output_mode_of(self, mode, "'count', 'one_hot', 'multi_hot'", &((category *)self)->mode));
    if (args->num_tokens == TW_NO_INT)
        return tw__fail(TW_VALUE_ERROR,
                        "num_tokens must be set to use this layer. If the number of tokens is not known beforehand, "
                        "use the IntegerLookup layer instead.");
    if (args->num_tokens < 1)
        return tw__fail(TW_VALUE_ERROR, "`num_tokens` must be >= 1. Received: num_tokens=%lld.", (long long)args->num_tokens);
    return TW_OK;
}

/* All numbers are at least 0 and below the count. */
static tw_status check_range(tw__temps *t, tw_tensor *numbers, int64_t count)
{
    if (!numbers)
        return tw__error_status();
    tw_tensor *flat = tw__temp_reshape(t, numbers, &(int64_t){ -1 }, 1);
    tw_tensor *limit = tw__temp(t, tw__grad_constant((double)count, numbers)), *zero = tw__temp(t, tw__grad_constant(0, numbers));
    tw_tensor *holds =
        TW_TEMP(LogicalAnd, TW_TEMP(Greater, limit, TW_TEMP(Max, flat, 0)), TW_TEMP(GreaterEqual, TW_TEMP(Min, flat, 0), zero));
    tw__owned char *text =
        tw__format("Input values must be in the range 0 <= values < num_tokens with num_tokens=%lld", (long long)count);
    tw_tensor *said = text ? tw__temp(t, tw_tensor_string(text, strlen(text))) : NULL;
    if (!holds || !said)
        return tw__error_status();
    tw__auto(tw_value_free) tw_value checked = tw__check_assert(holds, &said, 1, TW_NO_INT);
    return tw_error_code();
}

static tw_value category_call(tw_layer *self, const tw_value *given, int training)
{
    (void)training;
    TW_TEMPS(t);
    const tw_layers_category_encoding_args *args = tw_object_config(self);
    tw__encoding how = {
        .mode = ((category *)self)->mode, .depth = args->num_tokens, .dtype = self->compute_dtype, .sparse = args->sparse
    };
    void *value = tw__encoding_input(self, t, &given[0], TW_DTYPE_NONE);
    if (given[1].kind != TW_VALUE_NONE && how.mode != TW_MODE_COUNT) {
        tw__fail(TW_VALUE_ERROR, "`count_weights` is not used when `output_mode` is not `'count'`. Received "
                                 "`count_weights={count_weights}`.");
        value = NULL;
    }
    if (value && given[1].kind != TW_VALUE_NONE) {
        how.weights = tw__encoding_input(self, t, &given[1], self->compute_dtype);
        if (how.weights && tw__is(how.weights, &tw__tensor_class))
            how.weights = tw__temp_cast(t, how.weights, self->compute_dtype);
        value = how.weights ? value : NULL;
    }
    if (!value || check_range(t, tw__plain_values(value), args->num_tokens) != TW_OK)
        return tw__nothing;
    return tw__encoded(tw__encode(t, value, &how));
}

static tw_status category_shape(tw_layer *self, const tw_shape *input, tw_shape *output)
{
    const tw_layers_category_encoding_args *args = tw_object_config(self);
    return tw__encoded_shape(((category *)self)->mode, args->num_tokens, input, output);
}

static void category_config(tw_layer *self, tw__dict *dict)
{
    tw__dict_put_str(dict, "output_mode", tw__output_mode_name(((category *)self)->mode));
}

static const tw__layer_methods category_methods = { .arguments = "inputs count_weights",
                                                    .call_values = category_call,
                                                    .output_shape = category_shape,
                                                    .own_config = " output_mode ",
                                                    .config = category_config };

TW_CLASS(
    layers_category_encoding,
    "keras.layers.CategoryEncoding|keras.layers.experimental.preprocessing.CategoryEncoding(num_tokens: int = None, "
    "output_mode: str = multi_hot, sparse: bool = False, **layer) -> layer",
    .parent = &tw__class_layer, .size = sizeof(category), .settle = category_settle, .methods = &category_methods,
    .doc =
        "Rows of zeros and ones, or counts, for integers.\n"
        "num_tokens: the bound above all integers; it must be said\n"
        "output_mode: `one_hot`: a row for each integer; `multi_hot`: one for all of a sample; `count`: how often each is there\n"
        "sparse: True: the result is a sparse tensor\n"
        "example: tf.keras.layers.CategoryEncoding(num_tokens=3, output_mode='one_hot')(tf.constant([2, 0])).numpy().tolist()  # [[0.0, 0.0, 1.0], [1.0, 0.0, 0.0]]");

/* ---- Hashing ---- */

typedef struct hashing {
    tw_layer layer;
    tw__output_mode mode;
    bool strong;
    int64_t salt[2];
} hashing;

static tw_status read_salt(hashing *layer, const tw_value *salt)
{
    bool pair = (salt->kind == TW_VALUE_LIST || salt->kind == TW_VALUE_TUPLE) && salt->list.count == 2 &&
                salt->list.items[0].kind == TW_VALUE_INT && salt->list.items[1].kind == TW_VALUE_INT;
    layer->strong = salt->kind != TW_VALUE_NONE;
    if (pair) {
        layer->salt[0] = salt->list.items[0].i;
        layer->salt[1] = salt->list.items[1].i;
    } else if (salt->kind == TW_VALUE_INT || salt->kind == TW_VALUE_BOOL) {
        layer->salt[0] = layer->salt[1] = salt->kind == TW_VALUE_INT ? salt->i : salt->b;
    } else if (layer->strong) {
        return tw__fail(TW_VALUE_ERROR, "The `salt` argument for `Hashing` can only be a tuple of size 2 integers, or a single "
                                        "integer.");
    }
    return TW_OK;
}

static tw_status hashing_settle(void *self, const void *given)
{
    const tw_layers_hashing_args *args = given;
    hashing *layer = self;
    if (args->num_bins == TW_NO_INT || args->num_bins <= 0)
        return tw__fail(TW_VALUE_ERROR,
                        "The `num_bins` for `Hashing` cannot be `None` or non-positive values. Received: num_bins=%s.",
                        args->num_bins == TW_NO_INT ? "None"
                        : args->num_bins < 0        ? "negative"
                                                    : "0");
    TW_TRY(tw__output_mode_of(self, args->output_mode, "'int', 'one_hot', 'multi_hot', 'count'", &layer->mode));
    if (args->sparse && layer->mode == TW_MODE_INT)
        return tw__fail(TW_VALUE_ERROR,
                        "`sparse` may only be true if `output_mode` is `\"one_hot\"`, `\"multi_hot\"`, or `\"count\"`. "
                        "Received: sparse=True and output_mode=int");
    return read_salt(layer, &args->salt);
}

static tw_status hashing_init(void *self, const void *given)
{
    const tw_layers_hashing_args *args = given;
    tw__output_mode mode;
    TW_TRY(tw__output_mode_of(self, args->output_mode, "'int', 'one_hot', 'multi_hot', 'count'", &mode));
    return tw__encoding_dtype(self, args->dtype, mode, true);
}

/* The bin of each value; bin 0 is kept for the one that stands for nothing, if there is one. */
static tw_tensor *hash_values(void *context, tw__temps *t, tw_tensor *values)
{
    hashing *layer = context;
    const tw_layers_hashing_args *args = tw_object_config(layer);
    int64_t bins = args->num_bins;
    tw_tensor *masked = NULL;
    if (args->mask_value.kind != TW_VALUE_NONE && bins > 1) {
        tw_tensor *mask = tw__temp(t, tw__value_tensor(&args->mask_value, values->dtype, "mask_value"));
        masked = TW_TEMP(Equal, values, mask);
        bins--;
        if (!masked)
            return NULL;
    }
    if (tw__dtype_is_integer(values->dtype))
        values = TW_TEMP(AsString, values);
    tw_tensor *hashes =
        layer->strong ? TW_TEMP(StringToHashBucketStrong, values, TW_A_INT("num_buckets", bins), TW_A_INTS("key", layer->salt, 2))
                      : TW_TEMP(StringToHashBucketFast, values, TW_A_INT("num_buckets", bins));
    if (!masked)
        return hashes;
    tw_tensor *one = tw__temp_int(t, 1, TW_INT64), *zero = tw__temp_int(t, 0, TW_INT64);
    return TW_TEMP(SelectV2, masked, zero, TW_TEMP(AddV2, hashes, one));
}

static tw_value hashing_call(tw_layer *self, const tw_value *given, int training)
{
    (void)training;
    TW_TEMPS(t);
    const tw_layers_hashing_args *args = tw_object_config(self);
    void *value = tw__encoding_input(self, t, &given[0], TW_DTYPE_NONE);
    tw__encoding how = {
        .mode = ((hashing *)self)->mode, .depth = args->num_bins, .dtype = self->compute_dtype, .sparse = args->sparse
    };
    return tw__encoded(tw__encode(t, tw__map_values(t, value, hash_values, self), &how));
}

static tw_status hashing_shape(tw_layer *self, const tw_shape *input, tw_shape *output)
{
    const tw_layers_hashing_args *args = tw_object_config(self);
    return tw__encoded_shape(((hashing *)self)->mode, args->num_bins, input, output);
}

static void hashing_config(tw_layer *self, tw__dict *dict)
{
    hashing *layer = (hashing *)self;
    tw_value *salt = layer->strong ? tw__alloc_array(2, sizeof *salt) : NULL;
    for (int i = 0; salt && i < 2; i++)
        salt[i] = (tw_value){ .kind = TW_VALUE_INT, .i = layer->salt[i] };
    tw__dict_put(dict, "mask_value", tw__value_copy(&((const tw_layers_hashing_args *)tw_object_config(self))->mask_value));
    tw__dict_put(dict, "salt", salt ? (tw_value){ .kind = TW_VALUE_LIST, .list = { salt, 2 } } : tw__nothing);
}

static const tw__layer_methods hashing_methods = { .arguments = "inputs",
                                                   .call_values = hashing_call,
                                                   .output_shape = hashing_shape,
                                                   .own_config = " mask_value salt ",
                                                   .config = hashing_config };

TW_CLASS(layers_hashing,
         "keras.layers.Hashing|keras.layers.experimental.preprocessing.Hashing(num_bins: int?, mask_value: value = None, "
         "salt: value = None, output_mode: str = int, sparse: bool = False, **layer) -> layer",
         .parent = &tw__class_layer, .size = sizeof(hashing), .init = hashing_init, .settle = hashing_settle,
         .methods = &hashing_methods,
         .doc = "A bin for each text or integer, by its hash.\n"
                "mask_value: what has bin 0 for itself; None: nothing\n"
                "salt: an integer or two that the hash depends on; None: a faster hash without\n"
                "output_mode: `int`, `one_hot`, `multi_hot` or `count`");

/* ---- HashedCrossing ---- */

typedef struct crossing {
    tw_layer layer;
    tw__output_mode mode;
} crossing;

static tw_status crossing_settle(void *self, const void *given)
{
    const tw_layers_hashed_crossing_args *args = given;
    return tw__output_mode_of(self, args->output_mode, "'int', 'one_hot'", &((crossing *)self)->mode);
}

static tw_status crossing_init(void *self, const void *given)
{
    const tw_layers_hashed_crossing_args *args = given;
    tw__output_mode mode;
    TW_TRY(tw__output_mode_of(self, args->output_mode, "'int', 'one_hot'", &mode));
    return tw__encoding_dtype(self, args->dtype, mode, false);
}

static bool equal_shapes(const tw_shape *a, const tw_shape *b)
{
    return tw__shape_covers(a, b) && tw__shape_covers(b, a);
}

/* The inputs as tensors of one shape: scalars, a vector or a column. */
static tw_status crossing_inputs(tw_layer *self, tw__temps *t, const tw_value *given, tw_value *items)
{
    bool list = given->kind == TW_VALUE_LIST || given->kind == TW_VALUE_TUPLE;
    if (!list)
        return tw__fail(TW_VALUE_ERROR, "`HashedCrossing` should be called on a list or tuple of inputs.");
    if (given->list.count < 2)
        return tw__fail(TW_VALUE_ERROR, "`HashedCrossing` should be called on at least two inputs.");
    for (int64_t i = 0; i < given->list.count; i++) {
        void *input = tw__encoding_input(self, t, &given->list.items[i], TW_DTYPE_NONE);
        if (!input)
            return tw__error_status();
        if (tw__is_composite(input))
            return tw__fail(TW_VALUE_ERROR, "All `HashedCrossing` inputs should be dense tensors.");
        const tw_tensor *tensor = input;
        int rank = tensor->shape.rank;
        if (rank < 0 || rank > 2 || (rank == 2 && tensor->shape.dims[1] != 1))
            return tw__fail(TW_VALUE_ERROR,
                            "All `HashedCrossing` inputs should have shape `[]`, `[batch_size]` or `[batch_size, 1]`.");
        if (i && !equal_shapes(&tensor->shape, &items[0].tensor->shape))
            return tw__fail(TW_VALUE_ERROR, "All `HashedCrossing` inputs should have equal shape.");
        if (!tw__dtype_is_integer(tensor->dtype) && tensor->dtype != TW_STRING)
            return tw__fail(TW_VALUE_ERROR, "All `HashedCrossing` inputs should have an integer or string dtype.");
        items[i] = TW_LEAF(input);
    }
    return TW_OK;
}

static void *cross(tw_layer *self, tw__temps *t, const tw_value *given, tw_value *items)
{
    const tw_layers_hashed_crossing_args *args = tw_object_config(self);
    if (crossing_inputs(self, t, given, items) != TW_OK)
        return NULL;
    int rank = items[0].tensor->shape.rank;
    for (int64_t i = 0; i < given->list.count; i++) {
        items[i].tensor = tw__temp_reshape(t, items[i].tensor, (const int64_t[]){ -1, 1 }, 2);
        if (!items[i].tensor)
            return NULL;
    }
    tw_value columns = { .kind = TW_VALUE_LIST, .list = { items, given->list.count } };
    tw_sparse_tensor *crossed = tw__temp(t, tw_sparse_cross_hashed(columns, .num_buckets = args->num_bins));
    tw_tensor *dense = crossed ? tw__temp(t, tw_sparse_to_dense(crossed)) : NULL;
    return dense ? tw__temp_reshape(t, dense, (const int64_t[]){ -1, 1 }, rank) : NULL;
}

static tw_value crossing_call(tw_layer *self, const tw_value *given, int training)
{
    (void)training;
    TW_TEMPS(t);
    const tw_layers_hashed_crossing_args *args = tw_object_config(self);
    int64_t count = given[0].kind == TW_VALUE_LIST || given[0].kind == TW_VALUE_TUPLE ? given[0].list.count : 0;
    tw__owned tw_value *items = tw__alloc_array((size_t)count + 1, sizeof *items);
    void *numbers = items ? cross(self, t, &given[0], items) : NULL;
    tw__encoding how = {
        .mode = ((crossing *)self)->mode, .depth = args->num_bins, .dtype = self->compute_dtype, .sparse = args->sparse
    };
    return tw__encoded(tw__encode(t, numbers, &how));
}

static tw_status crossing_shape(tw_layer *self, const tw_shape *input, tw_shape *output)
{
    const tw_layers_hashed_crossing_args *args = tw_object_config(self);
    return tw__encoded_shape(((crossing *)self)->mode, args->num_bins, input, output);
}

static const tw__layer_methods crossing_methods = { .arguments = "inputs",
                                                    .call_values = crossing_call,
                                                    .output_shape = crossing_shape };

TW_CLASS(
    layers_hashed_crossing,
    "keras.layers.HashedCrossing|keras.layers.experimental.preprocessing.HashedCrossing(num_bins: int, output_mode: str = int, "
    "sparse: bool = False, **layer) -> layer",
    .parent = &tw__class_layer, .size = sizeof(crossing), .init = crossing_init, .settle = crossing_settle,
    .methods = &crossing_methods,
    .doc = "A bin for each combination of two features or more, by its hash.\n"
           "output_mode: `int` or `one_hot`");
