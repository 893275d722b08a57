/* The vocabulary of a lookup layer: a table between words and numbers; see lookup.h. */
#include "keras/layers/preprocessing/lookup.h"

#include <stdlib.h>

#include "eager/eager.h"
#include "op/calls.h"
#include "op/table/table.h"

int64_t tw__lookup_oov_start(const tw__lookup_layer *layer)
{
    return layer->mode == TW_MODE_INT && tw__lookup_settings_of(layer).mask.kind != TW_VALUE_NONE;
}

int64_t tw__lookup_first(const tw__lookup_layer *layer)
{
    return tw__lookup_oov_start(layer) + tw__lookup_settings_of(layer).oov_indices;
}

/* ---- tables ---- */

/* What a key has that the table has not. */
static tw_value otherwise(const tw__lookup_layer *layer)
{
    tw__lookup_settings s = tw__lookup_settings_of(layer);
    if (s.invert)
        return s.oov;
    return (tw_value){ .kind = TW_VALUE_INT, .i = s.oov_indices == 1 ? tw__lookup_oov_start(layer) : -1 };
}

/* Takes the initializer; NULL: an error is set. */
static tw_status use(tw__lookup_layer *layer, struct tw_table_initializer *taken)
{
    tw_auto struct tw_table_initializer *initializer = taken;
    TW_NEED(initializer);
    tw_lookup_static_hash_table_args args = { .initializer = initializer, .default_value = otherwise(layer) };
    tw_auto struct tw_lookup_table *table = tw_class_make(&tw__class_lookup_static_hash_table, &args);
    TW_NEED(table);
    TW_TRY(tw__track(&layer->base.layer.trackable, "lookup_table", table));
    tw__set(&layer->table, table);
    return TW_OK;
}

static tw_status make_table(tw__lookup_layer *layer, tw_tensor *words, tw_tensor *numbers)
{
    bool invert = tw__lookup_settings_of(layer).invert;
    tw_lookup_key_value_initializer_args args = { .keys = TW_LEAF(invert ? numbers : words),
                                                  .values = TW_LEAF(invert ? words : numbers) };
    return use(layer, tw_class_make(&tw__class_lookup_key_value_initializer, &args));
}

tw_status tw__vocabulary_make(tw__lookup_layer *layer, tw_tensor *words)
{
    TW_TEMPS(t);
    int64_t first = tw__lookup_first(layer);
    tw__owned int64_t *places = tw__alloc_array((size_t)words->count + 1, sizeof *places);
    TW_NEED(places);
    for (int64_t i = 0; i < words->count; i++)
        places[i] = first + i;
    tw__outside outside = tw__root_begin();
    tw_tensor *numbers = tw__temp_ints(t, places, words->count, TW_INT64);
    numbers = tw__temp_cast(t, numbers, layer->number_dtype);
    tw_tensor *own = tw__temp_cast(t, words, layer->word_dtype);
    tw_status status = numbers && own ? make_table(layer, own, numbers) : tw__error_status();
    tw__outside_end(outside);
    return status;
}

tw_status tw__vocabulary_none(tw__lookup_layer *layer)
{
    tw_auto tw_tensor *words = tw_tensor_new(layer->word_dtype, TW_SHAPE(0), NULL);
    TW_NEED(words);
    TW_TRY(tw__vocabulary_make(layer, words));
    tw__table_unfill(layer->table->handle);
    return TW_OK;
}

static tw_status make_of_file(tw__lookup_layer *layer, const tw_value *file)
{
    enum { WHOLE = -2, NUMBER = -1 };
    bool invert = tw__lookup_settings_of(layer).invert;
    tw_lookup_text_file_initializer_args args = { .filename = *file,
                                                  .key_dtype = invert ? layer->number_dtype : layer->word_dtype,
                                                  .key_index = invert ? NUMBER : WHOLE,
                                                  .value_dtype = invert ? layer->word_dtype : layer->number_dtype,
                                                  .value_index = invert ? WHOLE : NUMBER,
                                                  .vocab_size = TW_NO_INT,
                                                  .value_index_offset = tw__lookup_first(layer) };
    return use(layer, tw_class_make(&tw__class_lookup_text_file_initializer, &args));
}

/* ---- what it has ---- */

static int64_t table_size(const tw__lookup_layer *layer)
{
    tw__outside outside = tw__root_begin();
    tw_auto tw_tensor *size = layer->table ? TW_CALL(LookupTableSizeV2, layer->table->handle) : NULL;
    tw__outside_end(outside);
    return size && !size->node ? tw_tensor_int_at(size, 0) : 0;
}

int64_t tw__vocabulary_size(const tw__lookup_layer *layer)
{
    return table_size(layer) + tw__lookup_first(layer);
}

tw_status tw__vocabulary_settled(tw__lookup_layer *layer)
{
    int64_t size = tw__vocabulary_size(layer);
    bool free = layer->mode == TW_MODE_INT || tw__lookup_settings_of(layer).pad;
    if (!free && layer->size >= 0 && layer->size != size)
        return tw__fail(
            TW_RUNTIME_ERROR,
            "When using `output_mode=%s` and `pad_to_max_tokens=False`, the vocabulary size cannot be changed after the "
            "layer is called. Old vocab size is %lld, new vocab size is %lld",
            tw__output_mode_name(layer->mode), (long long)layer->size, (long long)size);
    layer->size = size;
    return TW_OK;
}

static tw_tensor *special(const tw__lookup_layer *layer, const tw_value *token)
{
    tw_value none = layer->word_dtype == TW_STRING ? TW_TEXT("") : (tw_value){ .kind = TW_VALUE_INT };
    return tw__value_tensor(token->kind == TW_VALUE_NONE ? &none : token, layer->word_dtype, "token");
}

static tw_tensor *words_of_table(tw__lookup_layer *layer, bool with_special)
{
    TW_TEMPS(t);
    tw__lookup_settings s = tw__lookup_settings_of(layer);
    int64_t first = tw__lookup_first(layer), start = tw__lookup_oov_start(layer);
    tw_tensor *both[2] = { NULL, NULL };
    if (tw__lookup_export(layer->table, layer->table->handle, both) != TW_OK)
        return NULL;
    tw_tensor *words = tw__temp(t, both[s.invert ? 1 : 0]), *numbers = tw__temp(t, both[s.invert ? 0 : 1]);
    int64_t count = words->count;
    tw__owned int64_t *order = tw__alloc_array((size_t)(count + first) + 1, sizeof *order);
    if (!order)
        return NULL;
    for (int64_t i = 0; i < count + first; i++) /* behind the words: the mask, and what stands for unknown ones */
        order[i] = start && i == 0 ? count : count + 1;
    for (int64_t i = 0; i < count; i++) {
        int64_t at = tw_tensor_int_at(numbers, i);
        if (at >= 0 && at < count + first)
            order[at] = i;
    }
    tw_tensor *mask = tw__temp_reshape(t, tw__temp(t, special(layer, &s.mask)), (const int64_t[]){ 1 }, 1),
              *oov = tw__temp_reshape(t, tw__temp(t, special(layer, &s.oov)), (const int64_t[]){ 1 }, 1);
    tw_tensor *all =
        mask && oov
            ? tw__temp_concat(t,
                              TW_IN(words, tw__temp_cast(t, mask, layer->word_dtype), tw__temp_cast(t, oov, layer->word_dtype)),
                              3, 0)
            : NULL;
    int64_t from = with_special ? 0 : first;
    tw_tensor *places = tw__temp_ints(t, order + from, count + first - from, TW_INT64);
    return all && places ? tw_retain(tw__temp_gather(t, all, places, 0)) : NULL;
}

tw_tensor *tw__vocabulary_words(tw__lookup_layer *layer, bool with_special)
{
    tw__outside outside = tw__root_begin();
    tw_tensor *words = words_of_table(layer, with_special);
    tw__outside_end(outside);
    return words;
}

/* ---- setting it ---- */

static bool equal_at(const tw_tensor *words, int64_t i, const tw_tensor *word)
{
    if (words->dtype != TW_STRING)
        return tw_tensor_int_at(words, i) == tw_tensor_int_at(word, 0);
    tw_string a = tw_tensor_string_at(words, i), b = tw_tensor_string_at(word, 0);
    return a.size == b.size && (!a.size || memcmp(a.data, b.data, a.size) == 0);
}

/* Whether the words begin with those that stand for nothing and for unknown ones. */
static bool begins_special(const tw__lookup_layer *layer, const tw_tensor *words, const tw_tensor *mask, const tw_tensor *oov)
{
    int64_t start = tw__lookup_oov_start(layer), first = tw__lookup_first(layer);
    bool all = words->count >= first;
    for (int64_t i = 0; all && i < first; i++)
        all = equal_at(words, i, i < start ? mask : oov);
    return all;
}

static tw_status check_unique(tw__temps *t, tw_tensor *words)
{
    tw_tensor *made[3] = { NULL, NULL, NULL };
    int count = 3;
    TW_TRY(tw__apply(&tw__op_UniqueWithCounts, &words, 1, NULL, 0, made, &count));
    for (int i = 0; i < 3; i++)
        tw__temp(t, made[i]);
    if (made[0]->count == words->count)
        return TW_OK;
    tw__auto(tw__text_free) tw__text text = { 0 };
    for (int64_t i = 0; i < made[0]->count; i++) {
        if (tw_tensor_int_at(made[2], i) < 2)
            continue;
        tw__text_format(&text, text.size ? ", " : "");
        if (words->dtype == TW_STRING)
            tw__text_format(&text, "'%.*s'", (int)tw_tensor_string_at(made[0], i).size, tw_tensor_string_at(made[0], i).data);
        else
            tw__text_format(&text, "%lld", (long long)tw_tensor_int_at(made[0], i));
    }
    tw_status status = tw__fail(
        TW_VALUE_ERROR,
        "The passed vocabulary has at least one repeated term. Please uniquify your dataset. The repeated terms are [%s]",
        text.data ? text.data : "");
    return status;
}

static tw_status check_reserved(const tw_tensor *words, int64_t from, const tw_tensor *word, const char *what)
{
    for (int64_t i = from; i < words->count; i++) {
        if (equal_at(words, i, word))
            return tw__fail(
                TW_VALUE_ERROR,
                "Found reserved %s token at unexpected location in `vocabulary`. Note that passed `vocabulary` does not "
                "need to include the OOV and mask tokens. Either remove all mask and OOV tokens, or include them only at "
                "the start of the vocabulary. It is at index %lld.",
                what, (long long)i);
    }
    return TW_OK;
}

tw_status tw__vocabulary_idf(tw__lookup_layer *layer, tw_tensor *weights)
{
    tw_auto tw_tensor *cast = tw__cast(weights, layer->base.layer.compute_dtype);
    TW_NEED(cast);
    return tw__variable_set(layer->idf, cast);
}

/* Weights of the words, in front the mean for special ones where they are not among them, behind zeros up to the most words. */
static tw_status set_idf(tw__lookup_layer *layer, const tw_value *given, int64_t words, bool has_special)
{
    tw__lookup_settings s = tw__lookup_settings_of(layer);
    tw_auto tw_tensor *weights = tw__value_tensor(given, TW_DTYPE_NONE, "idf_weights");
    TW_NEED(weights);
    if (weights->shape.rank != 1 || weights->count != words)
        return tw__fail(TW_VALUE_ERROR,
                        "`idf_weights` must be the same length as vocabulary. len(idf_weights) is %lld, "
                        "len(vocabulary) is %lld",
                        (long long)words, (long long)weights->count);
    int64_t front = has_special ? 0 : tw__lookup_first(layer);
    int64_t count = s.pad && s.max_tokens != TW_NO_INT ? s.max_tokens : front + weights->count;
    tw_auto tw_tensor *all = tw_tensor_new(TW_FLOAT64, TW_SHAPE(count), NULL);
    TW_NEED(all);
    double sum = 0;
    for (int64_t i = 0; i < weights->count; i++)
        sum += tw_tensor_double_at(weights, i);
    double *out = all->data;
    for (int64_t i = 0; i < count; i++)
        out[i] = i < front                    ? sum / (double)weights->count
                 : i - front < weights->count ? tw_tensor_double_at(weights, i - front)
                                              : 0;
    return tw__vocabulary_idf(layer, all);
}

static tw_status set_words(tw__lookup_layer *layer, tw__temps *t, tw_tensor *words, const tw_value *idf)
{
    tw__lookup_settings s = tw__lookup_settings_of(layer);
    TW_NEED(words);
    if (words->node)
        return tw__fail(TW_RUNTIME_ERROR,
                        "Cannot set a tensor vocabulary on %s layer %s when not executing eagerly. Create this layer or call "
                        "`set_vocabulary` outside of any `tf.function`s and with eager execution enabled.",
                        tw_class_name(layer), layer->base.layer.name);
    if (!words->count)
        return tw__fail(TW_VALUE_ERROR, "Cannot set an empty vocabulary, you passed [].");
    if (words->shape.rank != 1 || (words->dtype == TW_STRING) != (layer->word_dtype == TW_STRING))
        return tw__fail(TW_VALUE_ERROR, "the vocabulary of %s must be a vector of %s", tw_class_name(layer),
                        layer->word_dtype == TW_STRING ? "texts" : "integers");
    tw_tensor *mask = tw__temp(t, special(layer, &s.mask)), *oov = tw__temp(t, special(layer, &s.oov));
    if (!mask || !oov)
        return tw__error_status();
    bool has_special = begins_special(layer, words, mask, oov);
    int64_t first = tw__lookup_first(layer), from = has_special ? first : 0;
    tw_tensor *own = tw__temp_slice(t, words, from, TW_NO_INT);
    TW_NEED(own);
    TW_TRY(check_unique(t, own));
    if (s.mask.kind != TW_VALUE_NONE)
        TW_TRY(check_reserved(words, from, mask, "mask"));
    if (s.oov.kind != TW_VALUE_NONE && s.invert)
        TW_TRY(check_reserved(words, from, oov, "OOV"));
    if (s.max_tokens != TW_NO_INT && first + own->count > s.max_tokens)
        return tw__fail(
            TW_VALUE_ERROR,
            "Attempted to set a vocabulary larger than the maximum vocab size. Passed vocab size is %lld, max vocab size "
            "is %lld.",
            (long long)(first + own->count), (long long)s.max_tokens);
    TW_TRY(tw__vocabulary_make(layer, own));
    TW_TRY(tw__vocabulary_settled(layer));
    bool later = idf->kind == TW_VALUE_BOOL && !idf->b;
    return layer->mode == TW_MODE_TF_IDF && !later ? set_idf(layer, idf, words->count, has_special) : TW_OK;
}

tw_status tw__vocabulary_set(tw__lookup_layer *layer, const tw_value *vocabulary, const tw_value *idf)
{
    if (layer->mode == TW_MODE_TF_IDF && idf->kind == TW_VALUE_NONE)
        return tw__fail(TW_VALUE_ERROR, "`idf_weights` must be set if output_mode is TF_IDF");
    if (layer->mode != TW_MODE_TF_IDF && idf->kind != TW_VALUE_NONE)
        return tw__fail(TW_VALUE_ERROR, "`idf_weights` should only be set if output_mode is `'tf_idf'`. Received: output_mode=%s",
                        tw__output_mode_name(layer->mode));
    if (vocabulary->kind == TW_VALUE_STR) {
        if (!tw__path_exists(vocabulary->s.data))
            return tw__fail(TW_VALUE_ERROR, "Vocabulary file %s does not exist.", vocabulary->s.data);
        if (layer->mode == TW_MODE_TF_IDF)
            return tw__fail(TW_VALUE_ERROR, "output_mode `'tf_idf'` does not support loading a vocabulary from file.");
        TW_TRY(make_of_file(layer, vocabulary));
        return tw__vocabulary_settled(layer);
    }
    TW_TEMPS(t);
    tw__outside outside = tw__root_begin();
    tw_tensor *words = tw__temp(t, tw__value_tensor(vocabulary, layer->word_dtype, "vocabulary"));
    if (words && words->dtype != layer->word_dtype && tw__dtype_is_integer(words->dtype))
        words = tw__temp_cast(t, words, layer->word_dtype);
    tw_status status = set_words(layer, t, words, idf);
    tw__outside_end(outside);
    return status;
}

/* ---- in files ---- */

void tw__lookup_drop_state(tw_value *config, int64_t *size, bool *given)
{
    const tw_value *known = config->kind == TW_VALUE_DICT ? tw__value_get(config, "vocabulary_size") : NULL,
                   *fixed = config->kind == TW_VALUE_DICT ? tw__value_get(config, "has_input_vocabulary") : NULL;
    *size = known && known->kind == TW_VALUE_INT ? known->i : -1;
    *given = fixed && fixed->kind == TW_VALUE_BOOL && fixed->b;
    tw__value_drop(config, "vocabulary_size");
    tw__value_drop(config, "has_input_vocabulary");
    tw__value_drop(config, "has_static_table");
}

tw_status tw__vocabulary_text(tw__lookup_layer *layer, tw__text *text)
{
    tw_auto tw_tensor *words = tw__vocabulary_words(layer, true);
    TW_NEED(words);
    for (int64_t i = 0; i < words->count; i++) {
        tw__text_add(text, i ? "\n" : "");
        if (words->dtype == TW_STRING)
            tw__text_format(text, "%.*s", (int)tw_tensor_string_at(words, i).size,
                            tw_tensor_string_at(words, i).data ? tw_tensor_string_at(words, i).data : "");
        else
            tw__text_format(text, "%lld", (long long)tw_tensor_int_at(words, i));
    }
    return text->failed ? TW_RESOURCE_EXHAUSTED : TW_OK;
}

tw_status tw__vocabulary_of_text(tw__lookup_layer *layer, const char *text, size_t size)
{
    int64_t count = 1, at = 0;
    for (size_t i = 0; i < size; i++)
        count += text[i] == '\n';
    tw__owned tw_value *items = tw__alloc_array((size_t)count, sizeof *items);
    tw__owned char *copy = items ? tw__strndup(text, size) : NULL;
    TW_NEED(copy);
    for (char *line = copy, *end = copy + size; at < count; at++) {
        char *stop = memchr(line, '\n', (size_t)(end - line));
        stop = stop ? stop : end;
        *stop = 0;
        if (layer->word_dtype == TW_STRING)
            items[at] = (tw_value){ .kind = TW_VALUE_STR, .s = { line, (size_t)(stop - line) } };
        else
            items[at] = (tw_value){ .kind = TW_VALUE_INT, .i = strtoll(line, NULL, 10) };
        line = stop < end ? stop + 1 : end;
    }
    tw_value words = { .kind = TW_VALUE_LIST, .list = { items, count } }, later = { .kind = TW_VALUE_BOOL },
             none = { .kind = TW_VALUE_NONE };
    return tw__vocabulary_set(layer, &words, layer->mode == TW_MODE_TF_IDF ? &later : &none);
}

/* Its words in the order of their numbers; left to t. */
static tw_tensor *ordered_words(tw__temps *t, tw_tensor *words, const tw_tensor *numbers, int64_t first)
{
    tw__owned int64_t *order = tw__alloc_array((size_t)words->count + 1, sizeof *order);
    for (int64_t i = 0; order && i < words->count; i++) {
        int64_t at = tw_tensor_int_at(numbers, i) - first;
        if (at < 0 || at >= words->count) {
            tw__fail(TW_DATA_LOSS, "a table of a vocabulary has the number %lld, expected %lld to %lld", (long long)(at + first),
                     (long long)first, (long long)(first + words->count - 1));
            return NULL;
        }
        order[at] = i;
    }
    tw_tensor *places = order ? tw__temp_ints(t, order, words->count, TW_INT64) : NULL;
    return places ? tw__temp_gather(t, words, places, 0) : NULL;
}

tw_status tw__vocabulary_of_table(tw__lookup_layer *layer, const struct tw_lookup_table *table)
{
    TW_TEMPS(t);
    tw_tensor *both[2] = { NULL, NULL };
    bool invert = tw__lookup_settings_of(layer).invert;
    if (!table->handle || (invert ? table->value_dtype : table->key_dtype) != layer->word_dtype)
        return tw__fail(TW_DATA_LOSS, "the table of layer %s does not fit", layer->base.layer.name);
    TW_TRY(tw__temp_all(t, both, 2, tw__lookup_export(table, table->handle, both)));
    tw_tensor *words = ordered_words(t, both[invert], both[!invert], tw__lookup_first(layer));
    TW_NEED(words);
    TW_TRY(tw__vocabulary_make(layer, words));
    return tw__vocabulary_settled(layer);
}

tw_status tw__lookup_refuse_h5(tw_trackable *root)
{
    tw__owned tw_layer **layers = NULL;
    int64_t count = 0;
    tw__lookup_layer *own = tw__lookup_of(root);
    TW_TRY(tw__collect_layers(root, true, &layers, &count));
    for (int64_t i = -1; i < count; i++) {
        const tw__lookup_layer *layer = i < 0 ? own : tw__lookup_of(layers[i]);
        if (layer && !layer->given)
            return tw__fail(TW_NOT_IMPLEMENTED_ERROR,
                            "Save or restore weights that is not an instance of `tf.Variable` is not supported in h5, use "
                            "`save_format='tf'` instead. Received a model or layer %s with a vocabulary that was learnt.",
                            tw_class_name(i < 0 ? (void *)root : layers[i]));
    }
    return TW_OK;
}
