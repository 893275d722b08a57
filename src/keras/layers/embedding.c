/* keras.layers.Embedding: a row of a table for every index. */
#include "graph/graph.h"
#include "keras/layers/layers.h"
#include "op/calls.h"

static tw_status embedding_init(void *self, const void *given)
{
    tw_layer *layer = self;
    const tw_layers_embedding_args *args = given;
    /* `input_dim` is not the inputs' size here, as it is with other layers. */
    if (args->batch_input_shape.rank < 0 && args->input_shape.rank < 0)
        layer->batch_input_shape = TW_SHAPE(-1, args->input_length == TW_NO_INT ? -1 : args->input_length);
    return TW_OK;
}

static tw_status embedding_settle(void *self, const void *given)
{
    tw_layer *layer = self;
    const tw_layers_embedding_args *args = given;
    if (args->input_dim <= 0 || args->output_dim <= 0)
        return tw__fail(TW_VALUE_ERROR,
                        "Both `input_dim` and `output_dim` should be positive, Received input_dim = %lld and output_dim = %lld",
                        (long long)args->input_dim, (long long)args->output_dim);
    const tw__unsupported refused[] = { { "sparse", args->sparse ? "" : NULL } };
    TW_TRY(tw__layer_refuse(layer, refused, 1));
    layer->supports_masking = args->mask_zero;
    return TW_OK;
}

static tw_status embedding_build(tw_layer *self, const tw_shape *input_shape)
{
    (void)input_shape;
    const tw_layers_embedding_args *args = tw_object_config(self);
    return tw__layer_add_part(self, "embeddings", &TW_SHAPE(args->input_dim, args->output_dim));
}

static tw_tensor *embedding_call(tw_layer *self, tw_tensor *input, int training)
{
    (void)training;
    tw_variable *table = tw__layer_variable(self, "embeddings");
    bool whole = input->dtype == TW_INT32 || input->dtype == TW_INT64;
    tw_auto tw_tensor *indices = whole ? tw_retain(input) : TW_CALL(Cast, input, TW_A_TYPE("DstT", TW_INT32));
    if (!table || !indices)
        return NULL;
    tw__part part = tw__part_begin(NULL, "embedding_lookup");
    tw_attr dtype = TW_A_TYPE("dtype", self->dtype);
    tw_tensor *rows = tw__part_call(&part, "", &tw__op_ResourceGather, TW_IN(table->handle, indices), 2, &dtype, 1);
    if (rows && part.graph) { /* TensorFlow's nodes */
        tw_tensor *same = TW_CALL(Identity, rows);
        tw_release(rows);
        rows = same;
    }
    rows = rows ? tw__variable_cast(table, rows) : NULL;
    return tw__part_result(&part, rows);
}

/* Index 0 stands for nothing. */
static tw_tensor *embedding_mask(tw_layer *self, tw_tensor *input, tw_tensor *mask)
{
    (void)self, (void)mask;
    tw_auto tw_tensor *zero = tw__grad_constant(0, input);
    return TW_CALL(NotEqual, input, zero);
}

static tw_status embedding_output_shape(tw_layer *self, const tw_shape *input, tw_shape *output)
{
    const tw_layers_embedding_args *args = tw_object_config(self);
    if (input->rank < 0 || input->rank >= TW_MAX_RANK)
        return tw__fail(TW_VALUE_ERROR, "Embedding \"%s\": an input of shape %s", self->name, tw__shape_text(input));
    *output = *input;
    output->dims[output->rank++] = args->output_dim;
    return TW_OK;
}

static void embedding_config(tw_layer *self, tw__dict *dict)
{
    const tw_layers_embedding_args *args = tw_object_config(self);
    tw__dict_put(dict, "input_dim", (tw_value){ .kind = TW_VALUE_INT, .i = args->input_dim });
}

static const tw__layer_methods embedding_methods = { .build = embedding_build,
                                                     .call = embedding_call,
                                                     .output_shape = embedding_output_shape,
                                                     .mask = embedding_mask,
                                                     .any_dtype = true,
                                                     .flat = true,
                                                     .config = embedding_config,
                                                     .own_config = " sparse " };

TW_CLASS(
    layers_embedding,
    "keras.layers.Embedding(input_dim: int, output_dim: int, embeddings_initializer: named<initializer> = uniform, "
    "embeddings_regularizer: named<regularizer> = None, activity_regularizer: named<regularizer> = None, "
    "embeddings_constraint: named<constraint> = None, mask_zero: bool = False, input_length: int = None, sparse: bool = False, "
    "**layer) -> layer",
    .parent = &tw__class_layer, .size = sizeof(tw_layer), .init = embedding_init, .settle = embedding_settle,
    .methods = &embedding_methods,
    .doc = "Turns indices into rows of a table that is learnt.\n"
           "input_dim: how many rows the table has: the greatest index plus 1\n"
           "output_dim: the length of a row\n"
           "embeddings_initializer: what makes the first table\n"
           "embeddings_regularizer: what is added to the loss for the table\n"
           "embeddings_constraint: what the table is changed by after every update\n"
           "mask_zero: True: index 0 is padding, and is masked for the layers behind\n"
           "input_length: how many indices a sample has, if it is always the same\n"
           "sparse: True is not supported\n"
           "example: tf.keras.layers.Embedding(10, 4)(tf.constant([[1, 2, 3]])).shape  # TensorShape([1, 3, 4])");
