/* keras.layers.Dropout: while training, elements become 0 with the probability `rate` and the others larger. */
#include "api/nn/nn.h"
#include "keras/layers/layers.h"

typedef struct dropout {
    tw_layer layer;
    int64_t seed; /* of the next call; TW_NO_INT: none was given */
} dropout;

static tw_status dropout_init(void *self, const void *given)
{
    ((dropout *)self)->seed = ((const tw_layers_dropout_args *)given)->seed;
    return TW_OK;
}

static tw_status dropout_settle(void *self, const void *given)
{
    (void)self;
    return tw__layer_check_rate(((const tw_layers_dropout_args *)given)->rate);
}

/* Every call has numbers of its own. */
static void dropout_count_call(tw_layer *self)
{
    dropout *layer = (dropout *)self;
    if (layer->seed != TW_NO_INT)
        layer->seed++;
}

static tw_tensor *dropout_call(tw_layer *self, tw_tensor *input, int training)
{
    dropout *layer = (dropout *)self;
    const tw_layers_dropout_args *args = tw_object_config(self);
    if (training != 1)
        return tw_retain(input);
    int64_t seed = layer->seed;
    dropout_count_call(self);
    return tw__dropout(input, args->rate, &args->noise_shape, seed, NULL);
}

static const tw__layer_methods dropout_methods = {
    .arguments = "inputs training", .supports_masking = true, .flat = true, .call = dropout_call, .count_call = dropout_count_call
};

TW_CLASS(layers_dropout, "keras.layers.Dropout(rate: float, noise_shape: shape = None, seed: int = None, **layer) -> layer",
         .parent = &tw__class_layer, .size = sizeof(dropout), .init = dropout_init, .settle = dropout_settle,
         .methods = &dropout_methods,
         .doc = "While training, sets elements to 0 with the probability rate and scales the others up.\n"
                "example: tf.keras.layers.Dropout(0.5)(tf.ones([2]), training=False).numpy().tolist()  # [1.0, 1.0]");
