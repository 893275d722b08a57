/* keras.layers.StringLookup, IntegerLookup: words or integers as their places in a vocabulary, and back. The vocabulary is given,
 * or learnt from data: the words that occur most often come first. */
#include "keras/layers/preprocessing/lookup.h"

#include <math.h>
#include <stdlib.h>
#include <strings.h>

#include "api/debugging/debugging.h"
#include "eager/eager.h"
#include "op/calls.h"

static const char modes[] = "'int', 'one_hot', 'multi_hot', 'count', 'tf_idf'";

/* ---- arguments ---- */

static tw_value text_value(const char *text)
{
    return text ? (tw_value){ .kind = TW_VALUE_STR, .s = { text, strlen(text) } } : (tw_value){ .kind = TW_VALUE_NONE };
}

#define SETTINGS(args)                                                                                                           \
    .max_tokens = (args)->max_tokens, .oov_indices = (args)->num_oov_indices, .vocabulary = &(args)->vocabulary,                 \
    .idf_weights = &(args)->idf_weights, .output_mode = (args)->output_mode, .invert = (args)->invert, .sparse = (args)->sparse, \
    .pad = (args)->pad_to_max_tokens

tw__lookup_settings tw__lookup_settings_of(const tw__lookup_layer *layer)
{
    if (tw__is(layer, &tw__class_layers_string_lookup)) {
        const tw_layers_string_lookup_args *args = tw_object_config(layer);
        return (tw__lookup_settings){ .mask = text_value(args->mask_token), .oov = text_value(args->oov_token), SETTINGS(args) };
    }
    const tw_layers_integer_lookup_args *args = tw_object_config(layer);
    tw_value none = { .kind = TW_VALUE_NONE };
    return (tw__lookup_settings){
        .mask = args->mask_token == TW_NO_INT ? none : (tw_value){ .kind = TW_VALUE_INT, .i = args->mask_token },
        .oov = args->oov_token == TW_NO_INT ? none : (tw_value){ .kind = TW_VALUE_INT, .i = args->oov_token },
        SETTINGS(args)
    };
}

static const char *mode_word(const char *given)
{
    return !given ? given : strcmp(given, "binary") == 0 ? "multi_hot" : strcmp(given, "tf-idf") == 0 ? "tf_idf" : given;
}

static tw_status lookup_settle(void *self, const void *given)
{
    (void)given;
    tw__lookup_layer *layer = self;
    tw__lookup_settings s = tw__lookup_settings_of(layer);
    if (s.max_tokens != TW_NO_INT && s.max_tokens <= 1)
        return tw__fail(TW_VALUE_ERROR, "If set, `max_tokens` must be greater than 1. Received: max_tokens=%lld",
                        (long long)s.max_tokens);
    if (s.pad && s.max_tokens == TW_NO_INT)
        return tw__fail(TW_VALUE_ERROR, "If pad_to_max_tokens is True, must set `max_tokens`. Received: max_tokens=None");
    if (s.oov_indices < 0)
        return tw__fail(TW_VALUE_ERROR, "`num_oov_indices` must be greater than or equal to 0. Received: num_oov_indices=%lld",
                        (long long)s.oov_indices);
    TW_TRY(tw__output_mode_of(self, mode_word(s.output_mode), modes, &layer->mode));
    if (s.invert && layer->mode != TW_MODE_INT)
        return tw__fail(TW_VALUE_ERROR, "`output_mode` must be `'int'` when `invert` is true. Received: output_mode=%s",
                        s.output_mode);
    if (s.sparse && layer->mode == TW_MODE_INT)
        return tw__fail(TW_VALUE_ERROR, "`sparse` may only be true if `output_mode` is `'one_hot'`, `'multi_hot'`, `'count'` or "
                                        "`'tf_idf'`. Received: sparse=True and output_mode=int");
    if (s.idf_weights->kind != TW_VALUE_NONE && layer->mode != TW_MODE_TF_IDF)
        return tw__fail(TW_VALUE_ERROR,
                        "`idf_weights` should only be set if `output_mode` is `'tf_idf'`. Received: output_mode=%s",
                        s.output_mode);
    return TW_OK;
}

/* ---- state ---- */

static struct tw_lookup_table *counting_table(tw__lookup_layer *layer, const char *name)
{
    tw_value zero = { .kind = TW_VALUE_INT };
    tw_lookup_mutable_hash_table_args args = { .key_dtype = layer->word_dtype,
                                               .value_dtype = TW_INT64,
                                               .default_value = zero,
                                               .name = "MutableHashTable",
                                               .checkpoint = true };
    struct tw_lookup_table *table = tw_class_make(&tw__class_lookup_mutable_hash_table, &args);
    if (table && tw__track(&layer->base.layer.trackable, name, table) == TW_OK)
        return table;
    tw_release(table);
    return NULL;
}

static tw_variable *state_variable(tw__lookup_layer *layer, const char *name, tw_tensor *taken, const tw_shape *shape)
{
    tw_auto tw_tensor *value = taken;
    tw_variable *variable = value ? tw__variable_new(value, "Variable", false, shape) : NULL;
    if (variable && tw__track(&layer->base.layer.trackable, name, variable) == TW_OK)
        return variable;
    tw_release(variable);
    return NULL;
}

static tw_status make_state(tw__lookup_layer *layer)
{
    tw__lookup_settings s = tw__lookup_settings_of(layer);
    bool weighted = layer->mode == TW_MODE_TF_IDF;
    if (weighted) {
        layer->idf = state_variable(layer, "idf_weights",
                                    tw_tensor_new(layer->base.layer.compute_dtype, TW_SHAPE(tw__lookup_first(layer)), NULL),
                                    &TW_SHAPE(-1));
        TW_NEED(layer->idf);
    }
    if (s.vocabulary->kind != TW_VALUE_NONE) {
        layer->given = true;
        return tw__vocabulary_set(layer, s.vocabulary, s.idf_weights);
    }
    TW_TRY(tw__vocabulary_none(layer));
    TW_NEED(layer->counts = counting_table(layer, "token_counts"));
    if (!weighted)
        return TW_OK;
    TW_NEED(layer->documents = counting_table(layer, "token_document_counts"));
    layer->document_count = state_variable(layer, "num_documents", tw_tensor_new(TW_INT64, TW_SCALAR, NULL), &TW_SCALAR);
    return layer->document_count ? TW_OK : tw__error_status();
}

static tw_status lookup_init(tw__lookup_layer *layer, tw_dtype told, tw_dtype words)
{
    tw__lookup_settings s = tw__lookup_settings_of(layer);
    TW_TRY(lookup_settle(layer, NULL));
    TW_TRY(tw__encoding_dtype(&layer->base.layer, told, layer->mode, false));
    layer->size = -1;
    layer->word_dtype = words;
    layer->number_dtype = layer->mode == TW_MODE_INT ? layer->base.layer.compute_dtype : TW_INT64;
    tw__outside outside = tw__root_begin();
    tw_status status = make_state(layer);
    tw_value zero = { .kind = TW_VALUE_INT }, dropped = { .kind = TW_VALUE_INT, .i = layer->mode == TW_MODE_INT ? 0 : INT64_MAX };
    if (status == TW_OK && s.mask.kind != TW_VALUE_NONE) {
        layer->mask_key = tw__value_tensor(s.invert ? &zero : &s.mask, s.invert ? layer->number_dtype : words, "mask_token");
        layer->mask_value = tw__value_tensor(s.invert ? &s.mask : &dropped, s.invert ? words : layer->number_dtype, "mask_token");
        status = layer->mask_key && layer->mask_value ? TW_OK : tw__error_status();
    }
    tw__outside_end(outside);
    return status;
}

static void lookup_destroy(void *self)
{
    tw__lookup_layer *layer = self;
    tw_release(layer->mask_key);
    tw_release(layer->mask_value);
    tw_release(layer->table);
    tw_release(layer->counts);
    tw_release(layer->documents);
    tw_release(layer->idf);
    tw_release(layer->document_count);
}

/* ---- calling ---- */

/* Without places for unknown words there must be none. */
static tw_status check_known(tw__temps *t, tw_tensor *inputs, tw_tensor *found)
{
    tw_tensor *unknown = TW_TEMP(Where, TW_TEMP(Equal, found, tw__temp(t, tw__grad_constant(-1, found))));
    tw_tensor *words = TW_TEMP(GatherNd, inputs, unknown);
    tw_tensor *none = TW_TEMP(Equal, TW_TEMP(Size, unknown), tw__temp_int(t, 0, TW_INT32));
    if (!words || !none)
        return tw__error_status();
    tw_tensor *text =
        tw__temp(t, tw__call(&tw__op_StringFormat, &words, 1,
                             TW_WITH(TW_A_STRING("template",
                                                 "When `num_oov_indices=0` all inputs should be in vocabulary, found OOV values "
                                                 "{}, consider setting `num_oov_indices=1`."),
                                     TW_A_STRING("placeholder", "{}")),
                             2));
    TW_NEED(text);
    tw__auto(tw_value_free) tw_value checked = tw__check_assert(none, &text, 1, TW_NO_INT);
    return tw_error_code();
}

static tw_tensor *look_up(void *context, tw__temps *t, tw_tensor *inputs)
{
    tw__lookup_layer *layer = context;
    tw__lookup_settings s = tw__lookup_settings_of(layer);
    tw_tensor *found = TW_TEMP(LookupTableFindV2, layer->table->handle, inputs, layer->table->otherwise);
    if (layer->mask_key)
        found = TW_TEMP(SelectV2, TW_TEMP(Equal, inputs, layer->mask_key), layer->mask_value, found);
    if (s.invert || s.oov_indices == 1 || !found)
        return found;
    if (s.oov_indices == 0)
        return check_known(t, inputs, found) == TW_OK ? found : NULL;
    bool words = layer->word_dtype == TW_STRING;
    tw_tensor *buckets = words ? TW_TEMP(StringToHashBucketFast, inputs, TW_A_INT("num_buckets", s.oov_indices))
                               : TW_TEMP(FloorMod, inputs, tw__temp(t, tw__grad_constant((double)s.oov_indices, inputs)));
    buckets = tw__temp_cast(t, buckets, found->dtype);
    tw_tensor *start = tw__temp(t, tw__grad_constant((double)tw__lookup_oov_start(layer), found));
    tw_tensor *unknown = TW_TEMP(Equal, found, layer->table->otherwise);
    return TW_TEMP(SelectV2, unknown, TW_TEMP(AddV2, buckets, start), found);
}

static tw_tensor *as_keys(void *context, tw__temps *t, tw_tensor *values)
{
    tw__lookup_layer *layer = context;
    tw_dtype keys = tw__lookup_settings_of(layer).invert ? layer->number_dtype : layer->word_dtype;
    return values->dtype == keys ? values : TW_TEMP(Cast, values, TW_A_TYPE("DstT", keys));
}

static tw_value lookup_call(tw_layer *self, const tw_value *given, int training)
{
    (void)training;
    TW_TEMPS(t);
    tw__lookup_layer *layer = (tw__lookup_layer *)self;
    tw__lookup_settings s = tw__lookup_settings_of(layer);
    tw__encoding how = {
        .mode = layer->mode, .depth = s.pad ? s.max_tokens : layer->size, .dtype = self->compute_dtype, .sparse = s.sparse
    };
    if (layer->mode != TW_MODE_INT && !s.pad && layer->size < 0) {
        tw__fail(
            TW_RUNTIME_ERROR,
            "When using `output_mode=%s` and `pad_to_max_tokens=False`, you must set the layer's vocabulary before calling it. "
            "Either pass a `vocabulary` argument to the layer, or call `adapt` with some sample data.",
            tw__output_mode_name(layer->mode));
        return tw__nothing;
    }
    tw_dtype keys = s.invert ? layer->number_dtype : layer->word_dtype;
    void *value = tw__encoding_input(self, t, &given[0], keys);
    value = tw__map_values(t, value, as_keys, layer);
    value = tw__map_values(t, value, look_up, layer);
    if (layer->mode == TW_MODE_INT)
        return tw__encoded(value);
    if (layer->mode == TW_MODE_TF_IDF && !(how.idf = tw__temp(t, tw__variable_read(layer->idf))))
        return tw__nothing;
    return tw__encoded(tw__encode(t, value, &how));
}

static tw_status lookup_shape(tw_layer *self, const tw_shape *input, tw_shape *output)
{
    tw__lookup_layer *layer = (tw__lookup_layer *)self;
    tw__lookup_settings s = tw__lookup_settings_of(layer);
    return tw__encoded_shape(layer->mode, s.pad ? s.max_tokens : layer->size, input, output);
}

/* ---- learning the vocabulary ---- */

static tw_status add_counts(const struct tw_lookup_table *table, tw_tensor *words, tw_tensor *counts)
{
    TW_TEMPS(t);
    tw_tensor *before = TW_TEMP(LookupTableFindV2, table->handle, words, table->otherwise);
    tw_tensor *sums = TW_TEMP(AddV2, counts, before);
    int none = 0;
    return sums ? tw__apply(&tw__op_LookupTableInsertV2, TW_IN(table->handle, words, sums), 3, NULL, 0, NULL, &none)
                : tw__error_status();
}

/* The document of each of a value's words: the row of a matrix, a ragged or a sparse tensor; a vector is one document. Gives
 * their number. */
static int64_t documents_of(void *value, const tw_tensor *words, int64_t *documents)
{
    if (tw__is_ragged(value)) {
        const tw_tensor *splits = ((tw_ragged_tensor *)value)->splits;
        for (int64_t row = 0; row + 1 < splits->count; row++) {
            for (int64_t i = tw_tensor_int_at(splits, row); i < tw_tensor_int_at(splits, row + 1) && i < words->count; i++)
                documents[i] = row;
        }
        return splits->count - 1;
    }
    if (tw__is(value, &tw__class_sparse_tensor)) {
        const tw_sparse_tensor *s = value;
        int64_t rank = s->indices->shape.dims[1];
        for (int64_t i = 0; i < words->count; i++)
            documents[i] = rank > 1 ? tw_tensor_int_at(s->indices, i * rank) : 0;
        return rank > 1 ? tw_tensor_int_at(s->dense_shape, 0) : 1;
    }
    int64_t rows = words->shape.rank > 1 ? words->shape.dims[0] : 1;
    for (int64_t i = 0; i < words->count; i++)
        documents[i] = i / (words->count / rows);
    return rows;
}

/* In how many documents each word is. */
static tw_status add_documents(tw__lookup_layer *layer, tw__temps *t, void *value, tw_tensor *words, tw_tensor *const *unique)
{
    tw__owned int64_t *documents = tw__alloc_array((size_t)words->count + 1, sizeof *documents),
                      *last = tw__alloc_array((size_t)unique[0]->count + 1, sizeof *last);
    tw_tensor *counts = tw__temp(t, tw_tensor_new(TW_INT64, TW_SHAPE(unique[0]->count), NULL));
    if (!documents || !last || !counts)
        return tw__error_status();
    int64_t rows = documents_of(value, words, documents);
    for (int64_t i = 0; i < words->count; i++) {
        int64_t word = tw_tensor_int_at(unique[1], i);
        if (last[word] == documents[i] + 1)
            continue;
        last[word] = documents[i] + 1;
        ((int64_t *)counts->data)[word]++;
    }
    TW_TRY(add_counts(layer->documents, unique[0], counts));
    tw_tensor *before = tw__temp(t, tw__variable_read(layer->document_count));
    tw_tensor *sum = TW_TEMP(AddV2, before, tw__temp_int(t, rows, TW_INT64));
    return sum ? tw__variable_set(layer->document_count, sum) : tw__error_status();
}

static tw_tensor *as_words(void *context, tw__temps *t, tw_tensor *values)
{
    tw_dtype words = ((tw__lookup_layer *)context)->word_dtype;
    return values->dtype == words ? values : TW_TEMP(Cast, values, TW_A_TYPE("DstT", words));
}

static tw_status lookup_update(tw_layer *self, const tw_value *batch)
{
    TW_TEMPS(t);
    tw__lookup_layer *layer = (tw__lookup_layer *)self;
    if (layer->given)
        return tw__fail(TW_VALUE_ERROR,
                        "Cannot adapt %s layer after setting a static vocabulary via init argument or "
                        "`set_vocabulary`.",
                        tw_class_name(self));
    void *value = tw__encoding_input(self, t, batch, layer->word_dtype);
    value = tw__map_values(t, value, as_words, layer);
    tw_tensor *words = value ? tw__plain_values(value) : NULL, *unique[3] = { NULL, NULL, NULL };
    TW_NEED(words);
    if (words->node)
        return tw__fail(TW_UNIMPLEMENTED, "%s.update_state: in a function that is traced", tw_class_name(self));
    tw_tensor *flat = tw__temp_reshape(t, words, (const int64_t[]){ -1 }, 1);
    TW_NEED(flat);
    int count = 3;
    TW_TRY(
        tw__temp_all(t, unique, 3,
                     tw__apply(&tw__op_UniqueWithCounts, &flat, 1, TW_WITH(TW_A_TYPE("out_idx", TW_INT64)), 1, unique, &count)));
    TW_TRY(add_counts(layer->counts, unique[0], unique[2]));
    return layer->mode == TW_MODE_TF_IDF && words->count ? add_documents(layer, t, value, words, unique) : TW_OK;
}

static tw_status empty(struct tw_lookup_table *table)
{
    tw_tensor *both[2] = { NULL, NULL };
    int none = 0;
    TW_TRY(tw__lookup_export(table, table->handle, both));
    tw_status status = tw__apply(&tw__op_LookupTableRemoveV2, TW_IN(table->handle, both[0]), 2, NULL, 0, NULL, &none);
    tw_release(both[0]);
    tw_release(both[1]);
    return status;
}

static tw_status lookup_reset(tw_layer *self)
{
    tw__lookup_layer *layer = (tw__lookup_layer *)self;
    if (layer->given || !layer->counts)
        return TW_OK;
    TW_TRY(empty(layer->counts));
    if (!layer->documents)
        return TW_OK;
    TW_TRY(empty(layer->documents));
    tw_auto tw_tensor *zero = tw_tensor_new(TW_INT64, TW_SCALAR, NULL);
    TW_NEED(zero);
    return tw__variable_set(layer->document_count, zero);
}

typedef struct counted {
    tw_string text;
    int64_t number, count, place;
} counted;

/* The most frequent first; of equally frequent ones the last by their order. */
static int compare(const void *a, const void *b)
{
    const counted *x = a, *y = b;
    if (x->count != y->count)
        return x->count < y->count ? 1 : -1;
    if (!x->text.data || !y->text.data)
        return x->text.data != y->text.data ? (x->text.data ? -1 : 1) : (x->number < y->number) - (x->number > y->number);
    size_t common = x->text.size < y->text.size ? x->text.size : y->text.size;
    int order = memcmp(y->text.data, x->text.data, common);
    return order ? order : (x->text.size < y->text.size) - (x->text.size > y->text.size);
}

static bool is_special(const tw__lookup_layer *layer, const counted *c, const tw_value *token)
{
    if (token->kind == TW_VALUE_STR)
        return layer->word_dtype == TW_STRING && c->text.size == token->s.size &&
               (!c->text.size || memcmp(c->text.data, token->s.data, token->s.size) == 0);
    return token->kind == TW_VALUE_INT && layer->word_dtype != TW_STRING && c->number == token->i;
}

/* The words in the order of the vocabulary; left to t. */
static tw_tensor *sorted_words(tw__lookup_layer *layer, tw__temps *t, tw_tensor *words, const tw_tensor *counts)
{
    tw__lookup_settings s = tw__lookup_settings_of(layer);
    tw__owned counted *all = tw__alloc_array((size_t)words->count + 1, sizeof *all);
    tw__owned int64_t *order = tw__alloc_array((size_t)words->count + 1, sizeof *order);
    int64_t count = 0, most = s.max_tokens == TW_NO_INT ? INT64_MAX : s.max_tokens - tw__lookup_first(layer);
    if (!all || !order)
        return NULL;
    for (int64_t i = 0; i < words->count; i++) {
        counted *c = &all[count];
        *c = (counted){ .count = tw_tensor_int_at(counts, i), .place = i };
        if (words->dtype == TW_STRING)
            c->text = tw_tensor_string_at(words, i);
        else
            c->number = tw_tensor_int_at(words, i);
        count += !is_special(layer, c, &s.mask) && !is_special(layer, c, &s.oov);
    }
    qsort(all, (size_t)count, sizeof *all, compare);
    count = count < most ? count : most < 0 ? 0 : most;
    for (int64_t i = 0; i < count; i++)
        order[i] = all[i].place;
    tw_tensor *places = tw__temp_ints(t, order, count, TW_INT64);
    return places ? tw__temp_gather(t, words, places, 0) : NULL;
}

/* log(1 + documents / (1 + those with the word)), in front their mean for special words, behind zeros. */
static tw_status learn_idf(tw__lookup_layer *layer, tw__temps *t, tw_tensor *words)
{
    tw__lookup_settings s = tw__lookup_settings_of(layer);
    tw_tensor *with = TW_TEMP(LookupTableFindV2, layer->documents->handle, words, layer->documents->otherwise);
    tw_tensor *all = tw__temp(t, tw__variable_read(layer->document_count));
    int64_t front = tw__lookup_first(layer), count = front + words->count;
    if (s.pad && s.max_tokens != TW_NO_INT)
        count = s.max_tokens;
    tw_tensor *weights = tw__temp(t, tw_tensor_new(TW_FLOAT32, TW_SHAPE(count), NULL));
    if (!with || !all || !weights)
        return tw__error_status();
    float *out = weights->data, sum = 0;
    for (int64_t i = 0; i < words->count; i++) {
        out[front + i] = (float)log(1 + (double)tw_tensor_int_at(all, 0) / (double)(1 + tw_tensor_int_at(with, i)));
        sum += out[front + i];
    }
    for (int64_t i = 0; i < front; i++)
        out[i] = sum / (float)words->count;
    return tw__vocabulary_idf(layer, weights);
}

static tw_status lookup_finalize(tw_layer *self)
{
    TW_TEMPS(t);
    tw__lookup_layer *layer = (tw__lookup_layer *)self;
    tw_tensor *size = layer->given || !layer->counts ? NULL : TW_TEMP(LookupTableSizeV2, layer->counts->handle);
    if (!size || size->node || !tw_tensor_int_at(size, 0)) {
        bool awaited = layer->size >= 0 && tw__vocabulary_size(layer) == tw__lookup_first(layer); /* its table is loaded later */
        return tw_error_code() != TW_OK ? tw__error_status() : awaited ? TW_OK : tw__vocabulary_settled(layer);
    }
    tw_tensor *both[2] = { NULL, NULL };
    TW_TRY(tw__temp_all(t, both, 2, tw__lookup_export(layer->counts, layer->counts->handle, both)));
    tw_tensor *words = sorted_words(layer, t, both[0], both[1]);
    TW_NEED(words);
    TW_TRY(tw__vocabulary_make(layer, words));
    if (layer->mode == TW_MODE_TF_IDF)
        TW_TRY(learn_idf(layer, t, words));
    TW_TRY(lookup_reset(self));
    return tw__vocabulary_settled(layer);
}

/* ---- configs ---- */

tw_value tw__vocabulary_value(const tw_value *given)
{
    if (given->kind != TW_VALUE_TENSOR)
        return tw__value_copy(given);
    const tw_tensor *words = given->tensor;
    if (words->dtype != TW_STRING)
        return tw__tensor_config(words);
    tw_value *items = tw__alloc_array((size_t)words->count + 1, sizeof *items);
    for (int64_t i = 0; items && i < words->count; i++) {
        tw_string s = tw_tensor_string_at(words, i);
        char *copy = tw__strndup(s.data ? s.data : "", s.size);
        items[i] = copy ? (tw_value){ .kind = TW_VALUE_STR, .s = { copy, s.size } } : tw__nothing;
    }
    return (tw_value){ .kind = TW_VALUE_LIST, .list = { items, items ? words->count : 0 } };
}

static void lookup_config(tw_layer *self, tw__dict *dict)
{
    tw__lookup_layer *layer = (tw__lookup_layer *)self;
    tw__lookup_settings s = tw__lookup_settings_of(layer);
    tw__dict_put_str(dict, "output_mode", tw__output_mode_name(layer->mode));
    tw__dict_put(dict, "idf_weights", tw__vocabulary_value(s.idf_weights));
    tw__dict_put(dict, "vocabulary", tw__vocabulary_value(s.vocabulary));
    tw__dict_put(dict, "vocabulary_size", layer->size < 0 ? tw__nothing : (tw_value){ .kind = TW_VALUE_INT, .i = layer->size });
}

static void *lookup_from_config(const tw_class *class, const tw_value *config)
{
    tw_value own = tw__value_copy(config);
    int64_t size;
    bool given;
    tw__lookup_drop_state(&own, &size, &given);
    tw__lookup_layer *layer = tw__object_of_config(class, &own);
    tw_value_free(&own);
    if (layer && layer->size < 0)
        layer->size = size;
    if (layer)
        layer->given |= given;
    return layer;
}

static void *string_from_config(const tw_value *config)
{
    return lookup_from_config(&tw__class_layers_string_lookup, config);
}

static void *integer_from_config(const tw_value *config)
{
    return lookup_from_config(&tw__class_layers_integer_lookup, config);
}

#define METHODS(from)                                                               \
    {                                                                               \
        .layer = { .arguments = "inputs",                                           \
                   .call_values = lookup_call,                                      \
                   .output_shape = lookup_shape,                                    \
                   .any_dtype = true,                                               \
                   .own_config = " output_mode idf_weights vocabulary ",            \
                   .config = lookup_config,                                         \
                   .from_config = from },                                           \
        .update = lookup_update, .finalize = lookup_finalize, .reset = lookup_reset \
    }

/* ---- rows ---- */

static const tw__preprocessing_methods string_methods = METHODS(string_from_config);
static const tw__preprocessing_methods integer_methods = METHODS(integer_from_config);

static tw_status string_init(void *self, const void *given)
{
    const tw_layers_string_lookup_args *args = given;
    tw_dtype told = args->dtype;
    if (args->encoding && strcasecmp(args->encoding, "utf-8") != 0 && strcasecmp(args->encoding, "utf8") != 0)
        return tw__fail(TW_UNIMPLEMENTED, "%s: encoding=\"%s\" is not supported, words are UTF-8", tw_class_name(self),
                        args->encoding);
    return lookup_init(self, told == TW_STRING ? TW_DTYPE_NONE : told, TW_STRING);
}

static tw_status integer_init(void *self, const void *given)
{
    const tw_layers_integer_lookup_args *args = given;
    tw_dtype words = args->vocabulary_dtype;
    bool numbers = args->output_mode && strcmp(args->output_mode, "int") == 0;
    if (!tw__dtype_is_integer(words))
        return tw__fail(TW_VALUE_ERROR, "`vocabulary_dtype` must be an integer dtype. Received: %s", tw_dtype_name(words));
    return lookup_init(self, !numbers && args->dtype == TW_INT64 ? TW_DTYPE_NONE : args->dtype, words);
}

/* Its settings are those of the classes below. */
static tw_status index_init(void *self, const void *given)
{
    bool whole = given && tw_class_of(self) != &tw__class_layers_index_lookup;
    return whole ? TW_OK : tw__fail(TW_NOT_IMPLEMENTED_ERROR, "a lookup is a StringLookup or an IntegerLookup");
}

TW_CLASS(layers_index_lookup, "keras.layers.experimental.preprocessing._IndexLookup(**layer) -> layer",
         .parent = &tw__class_layers_preprocessing, .size = sizeof(tw__lookup_layer), .init = index_init,
         .destroy = lookup_destroy, .methods = &string_methods, .doc = "What StringLookup and IntegerLookup share.");

TW_CLASS(
    layers_string_lookup,
    "keras.layers.StringLookup|keras.layers.experimental.preprocessing.StringLookup(max_tokens: int = None, num_oov_indices: int = 1, "
    "mask_token: str = None, oov_token: str? = [UNK], vocabulary: value = None, idf_weights: value = None, encoding: str = utf-8, "
    "invert: bool = False, output_mode: str = int, sparse: bool = False, pad_to_max_tokens: bool = False, **layer) -> layer",
    .parent = &tw__class_layers_index_lookup, .size = sizeof(tw__lookup_layer), .init = string_init, .settle = lookup_settle,
    .methods = &string_methods,
    .doc =
        "The place of each text in a vocabulary, behind mask_token (None: there is none) and num_oov_indices places for texts that "
        "it has not. vocabulary: texts, or the name of a file with one in each line; None: `adapt` learns it. max_tokens: how "
        "many there may be; None: any number. invert: from places to texts. output_mode: int, one_hot, multi_hot, count or tf_idf, "
        "which needs idf_weights, one for each text, unless they are learnt.");

TW_CLASS(
    layers_integer_lookup,
    "keras.layers.IntegerLookup|keras.layers.experimental.preprocessing.IntegerLookup(max_tokens: int = None, num_oov_indices: int = 1, "
    "mask_token: int = None, oov_token: int? = -1, vocabulary: value = None, vocabulary_dtype: dtype = int64 shown 'int64', "
    "idf_weights: value = None, invert: bool = False, output_mode: str = int, sparse: bool = False, pad_to_max_tokens: bool = False, "
    "**layer) -> layer",
    .parent = &tw__class_layers_index_lookup, .size = sizeof(tw__lookup_layer), .init = integer_init, .settle = lookup_settle,
    .methods = &integer_methods, .doc = "The place of each integer in a vocabulary.");

/* ---- methods ---- */

TW_METHOD(index_lookup_get_vocabulary,
          "keras.layers.experimental.preprocessing._IndexLookup.get_vocabulary(self: layers_index_lookup, "
          "include_special_tokens: bool = True) -> value",
          "The vocabulary in its order, with or without what stands for nothing and for unknown words.")
{
    tw_auto tw_tensor *words = tw__vocabulary_words((tw__lookup_layer *)args->self, args->include_special_tokens);
    return words ? tw__vocabulary_value(&TW_LEAF(words)) : tw__nothing;
}

TW_METHOD(
    index_lookup_vocabulary_size,
    "keras.layers.experimental.preprocessing._IndexLookup.vocabulary_size|keras.layers.experimental.preprocessing._IndexLookup.vocab_size(self: "
    "layers_index_lookup) -> int",
    "How many places there are, those of special words among them.")
{
    return tw__vocabulary_size((tw__lookup_layer *)args->self);
}

TW_METHOD(
    index_lookup_set_vocabulary,
    "keras.layers.experimental.preprocessing._IndexLookup.set_vocabulary(self: layers_index_lookup, vocabulary: value, "
    "idf_weights: value = None)",
    "Replaces the vocabulary: words, or the name of a file with one in each line. idf_weights: one for each word, for tf_idf.")
{
    return tw__vocabulary_set((tw__lookup_layer *)args->self, &args->vocabulary, &args->idf_weights);
}
