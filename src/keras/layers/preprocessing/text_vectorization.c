/* keras.layers.TextVectorization: texts are standardized, split into words, joined to n-grams, and looked up in a vocabulary by a
 * StringLookup inside, the child "_lookup_layer". */
#include "api/debugging/debugging.h"
#include "keras/callable.h"
#include "keras/layers/preprocessing/lookup.h"
#include "op/calls.h"

static const char punctuation[] = "[!\"#$%&()\\*\\+,-\\./:;<=>?@\\[\\\\\\]^_`{|}~\\']";

typedef struct vectorization {
    tw__preprocessing base;
    tw__lookup_layer *lookup; /* a child */
} vectorization;

static const tw__preprocessing_methods *lookup_methods(const vectorization *layer)
{
    return (const tw__preprocessing_methods *)tw__methods(layer->lookup);
}

/* ---- arguments ---- */

static bool one_of(tw_named given, const char *const *names)
{
    bool found = tw__named_is_object(given) ? tw__is_callable(given) : !given;
    for (; !found && *names; names++)
        found = strcmp(given, *names) == 0;
    return found;
}

static bool is_name(tw_named given, const char *name)
{
    return given && !tw__named_is_object(given) && strcmp(given, name) == 0;
}

static tw_status unknown(const char *argument, tw_named given)
{
    return tw__fail(TW_VALUE_ERROR, "Unkown value for `%s` argument of layer TextVectorization. Received: %s", argument,
                    tw__named_is_object(given) ? "an object that can't be called" : (const char *)given);
}

static bool are_ngrams(const tw_value *ngrams)
{
    bool good = ngrams->kind == TW_VALUE_NONE || ngrams->kind == TW_VALUE_INT || ngrams->kind == TW_VALUE_TUPLE ||
                ngrams->kind == TW_VALUE_LIST;
    for (int64_t i = 0; good && ngrams->kind != TW_VALUE_NONE && ngrams->kind != TW_VALUE_INT && i < ngrams->list.count; i++)
        good = ngrams->list.items[i].kind == TW_VALUE_INT;
    return good;
}

static tw_status vectorization_settle(void *self, const void *given)
{
    const tw_layers_text_vectorization_args *args = given;
    static const char *const standards[] = { "lower_and_strip_punctuation", "lower", "strip_punctuation", NULL };
    static const char *const splits[] = { "whitespace", "character", NULL };
    const char *mode = args->output_mode;
    (void)self;
    if (!one_of(args->standardize, standards))
        return unknown("standardize", args->standardize);
    if (!one_of(args->split, splits))
        return unknown("split", args->split);
    bool known = !mode || strstr(" int count multi_hot binary tf_idf tf-idf ", mode);
    if (!known || (mode && (!*mode || strchr(mode, ' '))))
        return tw__fail(
            TW_VALUE_ERROR,
            "Unkown value for `output_mode` argument of layer TextVectorization. Allowed values are: `None`, or one of the "
            "following values: ('int', 'count', 'multi_hot', 'tf_idf'). Received: %s",
            mode);
    if (!are_ngrams(&args->ngrams))
        return tw__fail(TW_VALUE_ERROR, "`ngrams` must be None, an integer, or a tuple of integers.");
    bool numbers = mode && strcmp(mode, "int") == 0;
    if (!numbers && args->output_sequence_length != TW_NO_INT)
        return tw__fail(TW_VALUE_ERROR,
                        "`output_sequence_length` must not be set if `output_mode` is not 'int'. Received "
                        "output_sequence_length=%lld.",
                        (long long)args->output_sequence_length);
    if (args->ragged && !numbers)
        return tw__fail(TW_VALUE_ERROR,
                        "`ragged` must not be true if `output_mode` is `'int'`. Received: ragged=True and output_mode=%s",
                        mode ? mode : "None");
    if (args->ragged && args->output_sequence_length != TW_NO_INT)
        return tw__fail(TW_VALUE_ERROR,
                        "`output_sequence_length` must not be set if ragged is True. Received: ragged=True and "
                        "output_sequence_length=%lld",
                        (long long)args->output_sequence_length);
    return TW_OK;
}

static tw_status vectorization_init(void *self, const void *given)
{
    const tw_layers_text_vectorization_args *args = given;
    vectorization *layer = self;
    TW_TRY(vectorization_settle(self, given));
    layer->base.layer.dtype = layer->base.layer.compute_dtype = TW_STRING;
    tw_layers_string_lookup_args own = { .max_tokens = args->max_tokens,
                                         .num_oov_indices = 1,
                                         .mask_token = "",
                                         .oov_token = "[UNK]",
                                         .vocabulary = args->vocabulary,
                                         .idf_weights = args->idf_weights,
                                         .encoding = args->encoding,
                                         .output_mode = args->output_mode ? args->output_mode : "int",
                                         .sparse = args->sparse,
                                         .pad_to_max_tokens = args->pad_to_max_tokens,
                                         .trainable = true,
                                         .input_shape = TW_UNKNOWN_SHAPE,
                                         .batch_input_shape = TW_UNKNOWN_SHAPE,
                                         .input_dim = TW_NO_INT,
                                         .batch_size = TW_NO_INT };
    layer->lookup = tw_class_make(&tw__class_layers_string_lookup, &own);
    TW_NEED(layer->lookup);
    return tw__track(&layer->base.layer.trackable, "_lookup_layer", layer->lookup);
}

static void vectorization_destroy(void *self)
{
    tw_release(((vectorization *)self)->lookup);
}

/* ---- words ---- */

/* A function of the user's, of a value of any kind. */
static void *call_function(tw__temps *t, tw_named function, void *value)
{
    tw_callable *callable = (tw_callable *)(uintptr_t)function;
    tw_value given = tw__is(value, &tw__tensor_class) ? TW_LEAF(value) : (tw_value){ .kind = TW_VALUE_OBJECT, .object = value },
             made = tw__nothing;
    if (callable->call_value) {
        if (callable->call_value(callable, &given, &made) != TW_OK)
            return NULL;
        if (made.kind == TW_VALUE_TENSOR || made.kind == TW_VALUE_OBJECT)
            return tw__temp(t, made.kind == TW_VALUE_TENSOR ? (void *)made.tensor : made.object);
        tw_value_free(&made);
        tw__fail(TW_TYPE_ERROR, "TextVectorization: the function `%s` gave neither a tensor nor a ragged tensor", callable->name);
        return NULL;
    }
    if (given.kind == TW_VALUE_TENSOR)
        return tw__temp(t, callable->call(callable, value));
    tw__fail(TW_UNIMPLEMENTED, "TextVectorization: the function `%s` takes tensors only", callable->name);
    return NULL;
}

static tw_tensor *standardized(void *context, tw__temps *t, tw_tensor *texts)
{
    const tw_layers_text_vectorization_args *args = context;
    tw_named how = args->standardize;
    bool both = is_name(how, "lower_and_strip_punctuation");
    if (both || is_name(how, "lower"))
        texts = TW_TEMP(StringLower, texts);
    if (texts && (both || is_name(how, "strip_punctuation")))
        texts = TW_TEMP(StaticRegexReplace, texts, TW_A_STRING("pattern", punctuation), TW_A_STRING("rewrite", ""));
    return texts;
}

static tw_value of_value(void *value)
{
    return tw__is(value, &tw__tensor_class) ? TW_LEAF(value) : (tw_value){ .kind = TW_VALUE_OBJECT, .object = value };
}

static void *taken(tw__temps *t, tw_value made)
{
    return made.kind == TW_VALUE_TENSOR   ? tw__temp(t, made.tensor)
           : made.kind == TW_VALUE_OBJECT ? tw__temp(t, made.object)
                                          : NULL;
}

static void *split(tw__temps *t, const tw_layers_text_vectorization_args *args, void *value)
{
    tw_shape shape = tw__value_shape(value);
    if (shape.rank > 1 && shape.dims[shape.rank - 1] != 1) {
        tw__owned char *text = tw__shape_tuple(&shape);
        tw__fail(
            TW_VALUE_ERROR,
            "When using `TextVectorization` to tokenize strings, the input rank must be 1 or the last shape dimension must be 1. "
            "Received: inputs.shape=%s with rank=%d",
            text ? text : "", shape.rank);
        return NULL;
    }
    if (shape.rank > 1 && tw__is(value, &tw__tensor_class))
        value = TW_TEMP(Squeeze, value, TW_A_INTS("squeeze_dims", ((const int64_t[]){ -1 }), 1));
    if (!value)
        return NULL;
    if (is_name(args->split, "whitespace"))
        return taken(t, tw_strings_split(of_value(value)));
    if (is_name(args->split, "character"))
        return taken(t, tw_strings_unicode_split(of_value(value), "UTF-8"));
    return call_function(t, args->split, value);
}

static void *ngrams(tw__temps *t, const tw_value *widths, void *value)
{
    int64_t count = widths->kind == TW_VALUE_INT ? widths->i : widths->list.count;
    tw__owned int64_t *numbers = count > 0 && count < INT16_MAX ? tw__alloc_array((size_t)count, sizeof *numbers) : NULL;
    if (!numbers) {
        tw__fail(TW_VALUE_ERROR, "`ngrams` must be at least 1");
        return NULL;
    }
    for (int64_t i = 0; i < count; i++)
        numbers[i] = widths->kind == TW_VALUE_INT ? i + 1 : widths->list.items[i].i;
    tw_ints all = { .items = numbers, .count = count, .given = true };
    return taken(t, tw_strings_ngrams(of_value(value), all, .separator = " "));
}

/* The words of texts; left to t. */
static void *words_of(vectorization *layer, tw__temps *t, const tw_value *given)
{
    const tw_layers_text_vectorization_args *args = tw_object_config(layer);
    void *value = tw__encoding_input(&layer->base.layer, t, given, TW_STRING);
    if (value && tw__plain_values(value)->dtype != TW_STRING) {
        tw__fail(TW_UNIMPLEMENTED, "Cast %s to string is not supported", tw_dtype_name(tw__plain_values(value)->dtype));
        return NULL;
    }
    value = tw__named_is_object(args->standardize) && value ? call_function(t, args->standardize, value)
                                                            : tw__map_values(t, value, standardized, (void *)(uintptr_t)args);
    if (value && args->split)
        value = split(t, args, value);
    return value && args->ngrams.kind != TW_VALUE_NONE ? ngrams(t, &args->ngrams, value) : value;
}

/* ---- calling ---- */

/* The last dimension cut or filled with zeros. */
static tw_tensor *fit_last(tw__temps *t, tw_tensor *numbers, int64_t length)
{
    int rank = numbers->shape.rank;
    int64_t paddings[2 * TW_MAX_RANK] = { 0 }, begin[TW_MAX_RANK] = { 0 }, size[TW_MAX_RANK];
    if (rank < 1) {
        tw__fail(TW_VALUE_ERROR, "`output_sequence_length`: the rank of the input is not known");
        return NULL;
    }
    paddings[2 * rank - 1] = length;
    for (int i = 0; i < rank; i++)
        size[i] = i + 1 < rank ? -1 : length;
    tw_tensor *sides = tw__temp_reshape(t, tw__temp_ints(t, paddings, 2 * rank, TW_INT32), (const int64_t[]){ rank, 2 }, 2);
    tw_tensor *padded = sides ? TW_TEMP(Pad, numbers, sides) : NULL;
    return TW_TEMP(Slice, padded, tw__temp_ints(t, begin, rank, TW_INT32), tw__temp_ints(t, size, rank, TW_INT32));
}

static tw_value vectorization_call(tw_layer *self, const tw_value *given, int training)
{
    (void)training;
    TW_TEMPS(t);
    vectorization *layer = (vectorization *)self;
    const tw_layers_text_vectorization_args *args = tw_object_config(self);
    void *words = words_of(layer, t, &given[0]);
    if (!words || !args->output_mode)
        return tw__encoded(words);
    tw_value input = of_value(words), found = tw__layer_call_values(&layer->lookup->base.layer, &input, 1, -1);
    if (layer->lookup->mode != TW_MODE_INT || args->ragged || found.kind == TW_VALUE_NONE)
        return found;
    void *numbers = taken(t, found);
    int64_t length = args->output_sequence_length;
    if (tw__is_ragged(numbers)) {
        tw_shape shape = tw__value_shape(numbers);
        shape.dims[shape.rank - 1] = length == TW_NO_INT ? -1 : length;
        tw_tensor *zero = tw__temp(t, tw_tensor_new(layer->lookup->number_dtype, TW_SCALAR, NULL));
        return tw__encoded(zero ? tw__ragged_to_tensor(t, numbers, zero, &shape) : NULL);
    }
    return tw__encoded(length == TW_NO_INT ? numbers : fit_last(t, numbers, length));
}

static tw_status vectorization_shape(tw_layer *self, const tw_shape *input, tw_shape *output)
{
    vectorization *layer = (vectorization *)self;
    const tw_layers_text_vectorization_args *args = tw_object_config(self);
    int64_t rows = input->rank > 0 ? input->dims[0] : -1, length = args->output_sequence_length;
    *output = TW_SHAPE(rows, layer->lookup->mode == TW_MODE_INT ? length == TW_NO_INT ? -1 : length
                             : args->pad_to_max_tokens          ? args->max_tokens
                                                                : layer->lookup->size);
    return TW_OK;
}

/* ---- learning ---- */

static tw_status vectorization_update(tw_layer *self, const tw_value *batch)
{
    TW_TEMPS(t);
    vectorization *layer = (vectorization *)self;
    void *words = words_of(layer, t, batch);
    TW_NEED(words);
    tw_value given = of_value(words);
    return lookup_methods(layer)->update(&layer->lookup->base.layer, &given);
}

static tw_status vectorization_finalize(tw_layer *self)
{
    vectorization *layer = (vectorization *)self;
    return lookup_methods(layer)->finalize(&layer->lookup->base.layer);
}

static tw_status vectorization_reset(tw_layer *self)
{
    vectorization *layer = (vectorization *)self;
    return lookup_methods(layer)->reset(&layer->lookup->base.layer);
}

/* ---- configs ---- */

static void vectorization_config(tw_layer *self, tw__dict *dict)
{
    vectorization *layer = (vectorization *)self;
    const tw_layers_text_vectorization_args *args = tw_object_config(self);
    tw__dict_put_str(dict, "output_mode", args->output_mode ? tw__output_mode_name(layer->lookup->mode) : NULL);
    tw__dict_put(dict, "ngrams", tw__value_copy(&args->ngrams));
    tw__dict_put(dict, "vocabulary", tw__vocabulary_value(&args->vocabulary));
    tw__dict_put(dict, "idf_weights", tw__vocabulary_value(&args->idf_weights));
    tw__dict_put(dict, "vocabulary_size", (tw_value){ .kind = TW_VALUE_INT, .i = tw__vocabulary_size(layer->lookup) });
}

static void *vectorization_from_config(const tw_value *config)
{
    tw_value own = tw__value_copy(config);
    int64_t size;
    bool fixed;
    tw__lookup_drop_state(&own, &size, &fixed);
    tw__value_drop(&own, "dtype"); /* always string */
    vectorization *layer = tw__object_of_config(&tw__class_layers_text_vectorization, &own);
    tw_value_free(&own);
    if (!layer)
        return NULL;
    if (layer->lookup->size < 0)
        layer->lookup->size = size;
    layer->lookup->given |= fixed;
    return layer;
}

static const tw__preprocessing_methods vectorization_methods = { .layer = { .arguments = "inputs",
                                                                            .call_values = vectorization_call,
                                                                            .output_shape = vectorization_shape,
                                                                            .any_dtype = true,
                                                                            .own_config =
                                                                                " ngrams output_mode vocabulary idf_weights ",
                                                                            .config = vectorization_config,
                                                                            .from_config = vectorization_from_config },
                                                                 .update = vectorization_update,
                                                                 .finalize = vectorization_finalize,
                                                                 .reset = vectorization_reset };

TW_CLASS(
    layers_text_vectorization,
    "keras.layers.TextVectorization|keras.layers.experimental.preprocessing.TextVectorization(max_tokens: int = None, "
    "standardize: named<function>? = lower_and_strip_punctuation, split: named<function>? = whitespace, ngrams: value = None, "
    "output_mode: str? = int, output_sequence_length: int = None, pad_to_max_tokens: bool = False, vocabulary: value = None, "
    "idf_weights: value = None, sparse: bool = False, ragged: bool = False, encoding: str = utf-8, **layer) -> layer",
    .parent = &tw__class_layers_preprocessing, .size = sizeof(vectorization), .init = vectorization_init,
    .settle = vectorization_settle, .destroy = vectorization_destroy, .methods = &vectorization_methods,
    .doc =
        "Texts as the places of their words in a vocabulary.\n"
        "standardize: what happens to texts first: `lower_and_strip_punctuation`, `lower`, `strip_punctuation` or a function; None: nothing\n"
        "split: what divides texts: `whitespace`, `character` or a function; None: a text is one word\n"
        "ngrams: how many words may be joined at most, or a tuple of the numbers; None: each stands alone\n"
        "output_mode: `int`, `multi_hot`, `count` or `tf_idf`; None: the words themselves\n"
        "output_sequence_length: how many indices a text has, cut or filled with zeros; None: as many as the longest\n"
        "ragged: True: rows keep their lengths\n"
        "example: tf.keras.layers.TextVectorization(vocabulary=['cat', 'dog'])(['A dog, a cat!']).numpy().tolist()  # [[1, 3, 1, 2]]");

tw__lookup_layer *tw__lookup_of(const void *object)
{
    if (tw__is(object, &tw__class_layers_text_vectorization))
        return ((vectorization *)(uintptr_t)object)->lookup;
    return tw__is(object, &tw__class_layers_index_lookup) ? (tw__lookup_layer *)(uintptr_t)object : NULL;
}

/* ---- methods ---- */

TW_METHOD(
    text_vectorization_get_vocabulary,
    "keras.layers.TextVectorization.get_vocabulary(self: layers_text_vectorization, include_special_tokens: bool = True) -> value",
    "The vocabulary in its order.\n"
    "include_special_tokens: False: leave out what stands for padding and for unknown words\n"
    "returns: a list of texts")
{
    tw_auto tw_tensor *words = tw__vocabulary_words(((vectorization *)args->self)->lookup, args->include_special_tokens);
    return words ? tw__vocabulary_value(&TW_LEAF(words)) : tw__nothing;
}

TW_METHOD(text_vectorization_vocabulary_size,
          "keras.layers.TextVectorization.vocabulary_size(self: layers_text_vectorization) -> int",
          "How many places there are, those of special words among them.")
{
    return tw__vocabulary_size(((vectorization *)args->self)->lookup);
}

TW_METHOD(
    text_vectorization_set_vocabulary,
    "keras.layers.TextVectorization.set_vocabulary(self: layers_text_vectorization, vocabulary: value, idf_weights: value = None)",
    "Replaces the vocabulary: words, or the name of a file with one in each line. idf_weights: one for each word, for tf_idf.")
{
    return tw__vocabulary_set(((vectorization *)args->self)->lookup, &args->vocabulary, &args->idf_weights);
}
