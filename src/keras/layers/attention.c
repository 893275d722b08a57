/* keras.layers.Attention, AdditiveAttention and MultiHeadAttention: weighted means of values, the weights from queries and keys.
 */
#include <math.h>

#include "api/nn/nn.h"
#include "keras/saving/saved_model.h"
#include "keras/constraints/constraints.h"
#include "keras/initializers/initializers.h"
#include "keras/layers/layers.h"
#include "keras/regularizers/regularizers.h"
#include "op/array/array.h"
#include "op/calls.h"
#include "spec/spec.h"

/* What follows is left to t. */

static tw_tensor *expand(tw__temps *t, tw_tensor *x, int axis)
{
    return TW_TEMP(ExpandDims, x, axis);
}

/* 0 … size of an axis - 1. */
static tw_tensor *places(tw__temps *t, tw_tensor *x, int axis)
{
    return tw__temp_range(t, tw__temp_at(t, tw__temp_shape(t, x, TW_INT32), axis));
}

/* [1, queries, keys]: a query sees the keys up to its own place. */
static tw_tensor *causal(tw__temps *t, tw_tensor *query, tw_tensor *key)
{
    tw_tensor *row = expand(t, places(t, query, 1), 1), *column = expand(t, places(t, key, 1), 0);
    return expand(t, TW_TEMP(GreaterEqual, row, column), 0);
}

/* Both, or the one that is there. */
static tw_tensor *both(tw__temps *t, tw_tensor *a, tw_tensor *b)
{
    return a && b ? TW_TEMP(LogicalAnd, a, b) : a ? a : b;
}

/* A number far below all scores. */
static double lowest(const tw_tensor *scores)
{
    return scores && scores->dtype == TW_FLOAT16 ? -65504 : -1e9;
}

/* Item i of a list of tensors, borrowed; NULL: not there, or None. */
static tw_tensor *item(const tw_value *list, int64_t i)
{
    bool many = list->kind == TW_VALUE_LIST || list->kind == TW_VALUE_TUPLE;
    return many && i < list->list.count && list->list.items[i].kind == TW_VALUE_TENSOR ? list->list.items[i].tensor : NULL;
}

static bool is_true(const tw_value *value)
{
    return value->kind == TW_VALUE_BOOL ? value->b : value->kind == TW_VALUE_INT && value->i;
}

static tw_value pair(tw_tensor *a, tw_tensor *b) /* takes them */
{
    tw_tensor *two[2] = { a, b };
    return tw__values_list(two, 2, true);
}

/* ---- Attention and AdditiveAttention: call([query, value, key]) ---- */

typedef struct attention {
    tw_layer layer;
    bool additive, use_scale;
    tw_layers_attention_args settings; /* by name: AdditiveAttention's too */
} attention;

static bool is_concat(const attention *layer)
{
    return !layer->additive && strcmp(layer->settings.score_mode, "concat") == 0;
}

static tw_status attention_build(tw_layer *self, const tw_value *given)
{
    attention *layer = (attention *)self;
    tw_tensor *value = item(&given[0], 1);
    if (!item(&given[0], 0) || !value)
        return tw__fail(TW_VALUE_ERROR,
                        "%s layer must be called on a list of inputs, namely [query, value] or [query, value, key].",
                        tw_class_name(self));
    if (layer->additive && value->shape.rank < 1)
        return tw__fail(TW_INDEX_ERROR, "%s: the value has shape %s, expected [batch, time, features]", tw_class_name(self),
                        tw__shape_text(&value->shape));
    tw_shape scalar = TW_SCALAR, vector = layer->additive ? TW_SHAPE(value->shape.dims[value->shape.rank - 1]) : scalar;
    if (layer->use_scale && !tw__layer_add_weight(self, "scale", layer->additive ? &vector : &scalar, self->dtype,
                                                  layer->additive ? "glorot_uniform" : "ones", true))
        return tw__error_status();
    if (is_concat(layer) && !tw__layer_add_weight(self, "concat_score_weight", &scalar, self->dtype, "ones", true))
        return tw__error_status();
    return TW_OK;
}

/* Left to t. */
static tw_tensor *scores_of(tw__temps *t, attention *layer, tw_tensor *query, tw_tensor *key)
{
    tw_tensor *scale = layer->use_scale ? tw__temp(t, tw__layer_read(&layer->layer, "scale")) : NULL;
    if (layer->use_scale && !scale)
        return NULL;
    bool concat = is_concat(layer);
    if (!layer->additive && !concat) {
        tw_tensor *scores = TW_TEMP(BatchMatMulV2, query, key, TW_A_BOOL("adj_y", true));
        return scale ? TW_TEMP(Mul, scores, scale) : scores;
    }
    tw_tensor *sums = TW_TEMP(AddV2, expand(t, query, -2), expand(t, key, -3));
    tw_tensor *curved = TW_TEMP(Tanh, concat && scale ? TW_TEMP(Mul, sums, scale) : sums);
    tw_tensor *scores = TW_TEMP(Sum, !concat && scale ? TW_TEMP(Mul, curved, scale) : curved, -1);
    return concat ? TW_TEMP(Mul, scores, tw__temp(t, tw__layer_read(&layer->layer, "concat_score_weight"))) : scores;
}

enum { INPUTS, MASK, TRAINING, RETURN_SCORES, USE_CAUSAL };

static tw_value attention_call(tw_layer *self, const tw_value *given, int training)
{
    TW_TEMPS(t);
    attention *layer = (attention *)self;
    tw_tensor *query = item(&given[INPUTS], 0), *value = item(&given[INPUTS], 1), *key = item(&given[INPUTS], 2);
    tw_tensor *query_mask = item(&given[MASK], 0), *value_mask = item(&given[MASK], 1);
    tw_value none = { .kind = TW_VALUE_NONE };
    if (!query || !value) {
        tw__fail(TW_VALUE_ERROR, "%s layer must be called on a list of inputs, namely [query, value] or [query, value, key].",
                 tw_class_name(self));
        return none;
    }
    tw_tensor *scores = scores_of(t, layer, query, key ? key : value);
    tw_tensor *visible = both(t, value_mask ? expand(t, value_mask, -2) : NULL,
                              is_true(&given[USE_CAUSAL]) ? causal(t, query, key ? key : value) : NULL);
    if (scores && visible) /* what is not seen gets a score far below all others */
        scores =
            TW_TEMP(Sub, scores, TW_TEMP(Mul, -lowest(scores), tw__temp_cast(t, TW_TEMP(LogicalNot, visible), scores->dtype)));
    tw_tensor *weights = TW_TEMP(Softmax, scores);
    if (weights && training == 1 && layer->settings.dropout > 0)
        weights = tw__temp(t, tw__dropout(weights, layer->settings.dropout, NULL, TW_NO_INT, NULL));
    tw_tensor *result = TW_TEMP(BatchMatMulV2, weights, value);
    if (result && query_mask)
        result = TW_TEMP(Mul, result, tw__temp_cast(t, expand(t, query_mask, -1), result->dtype));
    if (!result)
        return none;
    return is_true(&given[RETURN_SCORES]) ? pair(tw_retain(result), tw_retain(weights)) : tw__tensor_value(tw_retain(result));
}

static const tw__layer_methods attention_methods = { .supports_masking = true,
                                                     .arguments = "inputs mask training return_attention_scores use_causal_mask",
                                                     .call_values = attention_call,
                                                     .build_values = attention_build };

static tw_status attention_settle(void *self, const void *given)
{
    (void)given;
    attention *layer = self;
    tw_layers_attention_args *settings = &layer->settings;
    layer->additive = tw__is(self, &tw__class_layers_additive_attention);
    tw__args_project(tw_class_signature(tw_class_of(self)), tw_object_config(self), &tw__signature_layers_attention, settings);
    if (layer->additive || !layer->layer.built) /* as in Keras */
        layer->use_scale = settings->use_scale;
    return TW_OK;
}

TW_CLASS(
    layers_attention,
    "keras.layers.Attention(use_scale: bool = False, score_mode: str {dot, concat} = dot, *, dropout: float = 0.0, **layer) -> layer",
    .parent = &tw__class_layer, .size = sizeof(attention), .settle = attention_settle, .methods = &attention_methods,
    .doc = "Attention by products of queries and keys.\n"
           "use_scale: True: scores are multiplied with a number that is learnt\n"
           "score_mode: how scores are made: the product of query and key, or the sum of the tanh of both added\n"
           "dropout: the part of the attention weights that training drops");

TW_CLASS(layers_additive_attention,
         "keras.layers.AdditiveAttention(use_scale: bool = True, *, dropout: float = 0.0, **layer) -> layer",
         .parent = &tw__class_layer, .size = sizeof(attention), .settle = attention_settle, .methods = &attention_methods,
         .doc = "Attention by sums of queries and keys.\n"
                "use_scale: True: the elements of the sums have weights that are learnt\n"
                "dropout: the part of the attention weights that training drops");

/* ---- MultiHeadAttention ---- */

typedef struct multi_head {
    tw_layer layer;
    tw_shape shapes[3]; /* of query, value, key it was built for */
} multi_head;

static int64_t value_size(const tw_layers_multi_head_attention_args *args)
{
    return args->value_dim == TW_NO_INT || args->value_dim == 0 ? args->key_dim : args->value_dim;
}

static tw_status multi_settle(void *self, const void *given)
{
    const char *name = ((tw_layer *)self)->name;
    const tw_layers_multi_head_attention_args *args = given;
    if (args->attention_axes.given &&
        (args->attention_axes.count != 1 || args->attention_axes.items[0] != 1)) /* (1,) is all there is at rank 3 */
        return tw__fail(TW_UNIMPLEMENTED, "MultiHeadAttention \"%s\": the argument `attention_axes` is not supported", name);
    if (args->num_heads <= 0 || args->key_dim <= 0 || value_size(args) <= 0 || args->output_shape.rank > 1)
        return tw__fail(TW_VALUE_ERROR,
                        "MultiHeadAttention \"%s\": num_heads, key_dim and value_dim must be positive, output_shape one number",
                        name);
    return TW_OK;
}

/* An EinsumDense with the layer's initializers and the like, as a child. */
static tw_status add_part(tw_layer *self, const char *child, const char *name, const char *equation, const char *bias_axes,
                          tw_shape output, const tw_shape *input)
{
    const tw_layers_multi_head_attention_args *args = tw_object_config(self);
    tw_layers_einsum_dense_args own;
    tw__args_project(tw_class_signature(tw_class_of(self)), args, tw_class_signature(&tw__class_layers_einsum_dense), &own);
    own.name = name;
    own.input_shape = own.batch_input_shape = TW_UNKNOWN_SHAPE;
    own.input_dim = own.batch_size = TW_NO_INT;
    own.weights = (tw_tensors){ 0 };
    own.equation = equation;
    own.output_shape = output;
    own.bias_axes = args->use_bias ? bias_axes : NULL;
    own.activation = NULL;
    /* each part draws values of its own */
    tw_auto tw_initializer *kernel = NULL, *bias = NULL;
    own.kernel_initializer = tw__initializer_again(own.kernel_initializer, &kernel);
    own.bias_initializer = tw__initializer_again(own.bias_initializer, &bias);
    bool good = (own.kernel_initializer || !args->kernel_initializer) && (own.bias_initializer || !args->bias_initializer);
    tw_auto tw_layer *part = good ? tw_class_make(&tw__class_layers_einsum_dense, &own) : NULL;
    TW_NEED(part);
    TW_TRY(tw__track(&self->trackable, child, part));
    if (self->foreign_call) /* it calls the parts itself, which makes their weights */
        return TW_OK;
    TW_TRY(tw__layer_begin(part));
    tw_status status = tw__layer_build(part, input);
    tw__layer_end(part);
    return status;
}

/* Notes the shapes of query, value and key, which are tensors or shapes; the key may be missing. */
static tw_status note_shapes(tw_layer *self, const tw_value *given)
{
    multi_head *layer = (multi_head *)self;
    for (int i = 0; i < 3; i++) {
        const tw_value *one = i == 2 && given[2].kind == TW_VALUE_NONE ? &given[1] : &given[i];
        tw_shape *shape = &layer->shapes[i];
        *shape = TW_UNKNOWN_SHAPE;
        if (one->kind == TW_VALUE_TENSOR)
            *shape = one->tensor->shape;
        else if (one->kind != TW_VALUE_NONE)
            TW_TRY(tw__shape_of_value(one, shape));
        if (shape->rank != 3)
            return tw__fail(TW_VALUE_ERROR, "MultiHeadAttention \"%s\": query, value and key are tensors of rank 3", self->name);
    }
    return TW_OK;
}

static tw_status multi_build(tw_layer *self, const tw_value *given)
{
    multi_head *layer = (multi_head *)self;
    const tw_layers_multi_head_attention_args *args = tw_object_config(self);
    TW_TRY(note_shapes(self, given));
    int64_t last = args->output_shape.rank == 1 ? args->output_shape.dims[0] : layer->shapes[0].dims[2];
    tw_shape keys = TW_SHAPE(-1, args->num_heads, args->key_dim), values = TW_SHAPE(-1, args->num_heads, value_size(args));
    tw_shape heads = TW_SHAPE(layer->shapes[0].dims[0], layer->shapes[0].dims[1], args->num_heads, value_size(args));
    TW_TRY(add_part(self, "_query_dense", "query", "abc,cde->abde", "de", keys, &layer->shapes[0]));
    TW_TRY(add_part(self, "_key_dense", "key", "abc,cde->abde", "de", keys, &layer->shapes[2]));
    TW_TRY(add_part(self, "_value_dense", "value", "abc,cde->abde", "de", values, &layer->shapes[1]));
    return add_part(self, "_output_dense", "attention_output", "abcd,cde->abe", "e", TW_SHAPE(-1, last), &heads);
}

TW_METHOD(
    multi_head_attention_build_from_signature,
    "keras.layers.MultiHeadAttention._build_from_signature(self: layer, query: value, value: value, key: value = None)",
    "Says what tensors, or shapes, the layer will be called with. The weights are made by the call; a class with a call of its own "
    "has them then.")
{
    if (args->self->foreign_call && !tw__tracked(&args->self->trackable, "_query_dense"))
        return multi_build(args->self, (tw_value[]){ args->query, args->value, args->key });
    return args->self->built ? TW_OK : note_shapes(args->self, (tw_value[]){ args->query, args->value, args->key });
}

/* Left to t. */
static tw_tensor *part_call(tw__temps *t, tw_layer *self, const char *child, tw_tensor *input)
{
    tw_trackable *part = tw__tracked(&self->trackable, child);
    return part && input ? tw__temp(t, tw__layer_call((tw_layer *)part, input, -1)) : NULL;
}

enum { QUERY, VALUE, KEY, ATTENTION_MASK, RETURN, TRAINING_, CAUSAL };

static tw_value multi_call(tw_layer *self, const tw_value *given, int training)
{
    TW_TEMPS(t);
    const tw_layers_multi_head_attention_args *args = tw_object_config(self);
    tw_tensor *query = tw__value_first_tensor(&given[QUERY]), *value = tw__value_first_tensor(&given[VALUE]),
              *key = tw__value_first_tensor(&given[KEY]);
    tw_value none = { .kind = TW_VALUE_NONE };
    if (!query || !value) {
        tw__fail(TW_VALUE_ERROR, "MultiHeadAttention \"%s\": query and value must be tensors", self->name);
        return none;
    }
    key = key ? key : value;
    tw_tensor *given_mask = tw__value_first_tensor(&given[ATTENTION_MASK]),
              *masks[3] = { tw__mask_of(query), tw__mask_of(value), tw__mask_of(key) };
    tw_tensor *mask = masks[0] ? expand(t, masks[0], -1) : NULL;
    if (masks[1])
        mask = both(t, mask, expand(t, masks[1], -2));
    if (masks[2] && key != value)
        mask = both(t, mask, expand(t, masks[2], -2));
    if (is_true(&given[CAUSAL]))
        mask = both(t, mask, causal(t, query, value));
    if (given_mask)
        mask = both(t, mask, tw__temp_cast(t, given_mask, TW_BOOL));
    tw_tensor *q = part_call(t, self, "_query_dense", query), *k = part_call(t, self, "_key_dense", key),
              *v = part_call(t, self, "_value_dense", value);
    tw_tensor *scaled = TW_TEMP(Mul, 1 / sqrt((double)args->key_dim), q);
    tw_tensor *scores = TW_TEMP(Einsum, k, scaled, TW_A_STRING("equation", "aecd,abcd->acbe"));
    if (mask && scores) { /* one axis more, for the heads */
        tw_tensor *seen = tw__temp_cast(t, mask->shape.rank == 3 ? expand(t, mask, 1) : mask, scores->dtype);
        scores = TW_TEMP(AddV2, scores, TW_TEMP(Mul, lowest(scores), TW_TEMP(Sub, 1.0, seen)));
    }
    tw_tensor *weights = TW_TEMP(Softmax, scores), *used = weights;
    if (weights && training == 1 && args->dropout > 0)
        used = tw__temp(t, tw__dropout(weights, args->dropout, NULL, TW_NO_INT, NULL));
    tw_tensor *heads = TW_TEMP(Einsum, used, v, TW_A_STRING("equation", "acbe,aecd->abcd"));
    tw_tensor *output = tw_retain(part_call(t, self, "_output_dense", heads));
    if (!output)
        return none;
    return is_true(&given[RETURN]) ? pair(output, tw_retain(weights)) : tw__tensor_value(output);
}

static void multi_config(tw_layer *self, tw__dict *dict)
{
    multi_head *layer = (multi_head *)self;
    const tw_layers_multi_head_attention_args *args = tw_object_config(self);
    static const char *const names[] = { "query_shape", "value_shape", "key_shape" };
    tw__dict_put(dict, "value_dim", (tw_value){ .kind = TW_VALUE_INT, .i = value_size(args) });
    tw__dict_put(dict, "output_shape",
                 args->output_shape.rank == 1 ? (tw_value){ .kind = TW_VALUE_INT, .i = args->output_shape.dims[0] }
                                              : (tw_value){ .kind = TW_VALUE_NONE });
    tw__dict_put(dict, "attention_axes",
                 self->built ? tw__sizes_value((int64_t[]){ 1 }, 1) : (tw_value){ .kind = TW_VALUE_NONE });
    for (int i = 0; i < 3; i++)
        tw__dict_put(dict, names[i], self->built ? tw__shape_value(&layer->shapes[i]) : (tw_value){ .kind = TW_VALUE_NONE });
}

static void *multi_from_config(const tw_value *config);
static const tw__layer_methods multi_methods = {
    .supports_masking = true,
    .from_config = multi_from_config,
    .arguments = "query value key attention_mask return_attention_scores training use_causal_mask",
    .call_values = multi_call,
    .build_values = multi_build,
    .config = multi_config,
    .own_config = " value_dim output_shape attention_axes "
};

TW_METHOD(multi_head_attention_output_shape,
          "keras.layers.MultiHeadAttention.compute_output_shape(self: layer, query_shape: shape, value_shape: shape, "
          "key_shape: shape = None) -> shape",
          "The shape of the output for a query and values of these shapes.\n"
          "query_shape: the shape of the query\n"
          "value_shape: the shape of the values\n"
          "key_shape: the shape of the keys; None: that of the values\n"
          "raises: ValueError: keys and values have different dimensions before the last")
{
    const tw_layers_multi_head_attention_args *own = tw_object_config(args->self);
    const tw_shape *key = args->key_shape.rank >= 0 ? &args->key_shape : &args->value_shape;
    bool fits = key->rank == args->value_shape.rank;
    for (int i = 0; fits && i + 1 < key->rank; i++)
        fits = key->dims[i] == args->value_shape.dims[i];
    if (!fits || args->query_shape.rank < 1) {
        tw__owned char *value = tw__shape_tuple(&args->value_shape), *other = tw__shape_tuple(key);
        tw__fail(TW_VALUE_ERROR, "All dimensions of `value` and `key`, except the last one, must be equal. Received %s and %s",
                 value ? value : "", other ? other : "");
        return TW_UNKNOWN_SHAPE;
    }
    tw_shape shape = args->query_shape;
    if (own->output_shape.rank > 0) {
        shape.rank--;
        for (int i = 0; i < own->output_shape.rank && shape.rank < TW_MAX_RANK; i++)
            shape.dims[shape.rank++] = own->output_shape.dims[i];
    }
    return shape;
}

TW_CLASS(
    layers_multi_head_attention,
    "keras.layers.MultiHeadAttention(num_heads: int, key_dim: int, value_dim: int = None, dropout: float = 0.0, "
    "use_bias: bool = True, output_shape: shape = None, attention_axes: ints = None, " TW_KERNEL_AND_BIAS ", **layer) -> layer",
    .parent = &tw__class_layer, .size = sizeof(multi_head), .fixed = " output_shape ",
    .inert =
        " num_heads key_dim value_dim dropout use_bias attention_axes kernel_initializer bias_initializer kernel_regularizer "
        "bias_regularizer kernel_constraint bias_constraint ",
    .settle = multi_settle, .methods = &multi_methods,
    .doc =
        "Attention several times side by side, of projections that are learnt.\n"
        "num_heads: how many heads there are\n"
        "key_dim: the length of queries and keys in each head\n"
        "value_dim: the length of values in each head; None: `key_dim`\n"
        "dropout: the part of the attention weights that training drops\n"
        "output_shape: the last dimensions of the output; None: those of the query\n"
        "attention_axes: the dimension that attention goes over; only 1, the one behind the batch, is supported\n"
        "example: tf.keras.layers.MultiHeadAttention(num_heads=2, key_dim=3)(tf.ones([1, 5, 8]), tf.ones([1, 4, 8])).shape  # TensorShape([1, 5, 8])");

/* A config of a built layer tells the shapes that it was built for. */
static void *multi_from_config(const tw_value *config)
{
    static const char *const names[] = { "query_shape", "value_shape", "key_shape" };
    tw_shape shapes[3];
    tw_value given[3] = { 0 }, own = tw__value_copy(config);
    bool known = own.kind == TW_VALUE_DICT;
    for (int i = 0; i < 3; i++) {
        const tw_value *said = own.kind == TW_VALUE_DICT ? tw__value_get(&own, names[i]) : NULL;
        known =
            known && said && said->kind != TW_VALUE_NONE && tw__shape_of_value(said, &shapes[i]) == TW_OK && shapes[i].rank == 3;
        tw__value_drop(&own, names[i]);
    }
    tw_layer *layer = tw_error_code() == TW_OK ? tw__object_of_config(&tw__class_layers_multi_head_attention, &own) : NULL;
    tw_value_free(&own);
    if (!layer || !known)
        return layer;
    tw_status status = tw__layer_begin(layer);
    if (status == TW_OK) {
        tw_tensor places[3];
        for (int i = 0; i < 3; i++) {
            places[i] = (tw_tensor){ .shape = shapes[i] };
            given[i] = (tw_value){ .kind = TW_VALUE_TENSOR, .tensor = &places[i] };
        }
        status = multi_build(layer, given);
        tw__layer_end(layer);
    }
    layer->built = status == TW_OK;
    if (status == TW_OK)
        return layer;
    tw_release(layer);
    return NULL;
}
