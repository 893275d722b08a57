/* Models that are graphs of layers, from the inside.
 *
 * A Keras tensor stands for what a layer will give: dtype, shape, of a ragged or sparse tensor its type, and where it comes from
 * (layer, node, output). A node is one
 * such call of a layer: its arguments, with Keras tensors among them, and what came out. Layers own their nodes; a node holds the
 * tensors that went in, a tensor holds its layer. Outputs are kept as descriptions only, so that there are no circles unless a
 * layer is called with its own output; those are found when they close and end with the last reference from outside
 * (base/circles.h). */
#ifndef TW_FUNCTIONAL_H
#define TW_FUNCTIONAL_H

#include "keras/keras.h"

struct tw_keras_tensor {
    tw_object object;
    tw_dtype dtype;
    tw_shape shape;
    char *name;
    struct tw_type_spec *spec; /* of a ragged or sparse tensor; a reference, or NULL */
    tw_layer *layer;           /* a reference */
    int node, output;
};

typedef struct tw__output_spec {
    tw_dtype dtype;
    tw_shape shape;
    char *name;
    struct tw_type_spec *spec; /* as a Keras tensor's */
} tw__output_spec;
/* What a value of several tensors is to a Keras tensor: dtype, shape and type (a new reference). (keras_tensor.c) */
void tw__composite_output(void *composite, tw__output_spec *output);

typedef struct tw__layer_node {
    tw_value arguments; /* a tuple; Keras tensors are objects */
    tw_value named;     /* a dict, or None */
    tw_value structure; /* of the outputs: INT i stands for output i */
    tw__output_spec *outputs;
    int output_count;
    bool is_input;
} tw__layer_node;

bool tw__is_keras_tensor(const void *object);
static inline tw_keras_tensor *tw__keras_tensor_of(const tw_value *value) /* borrowed; NULL: it is something else */
{
    return value->kind == TW_VALUE_OBJECT && tw__is_keras_tensor(value->object) ? value->object : NULL;
}
tw_keras_tensor *tw__keras_tensor_new(tw_layer *layer, int node, int output); /* for an output of a node */
static inline bool tw__is_structure(const tw_value *value)
{
    return value->kind == TW_VALUE_LIST || value->kind == TW_VALUE_TUPLE || value->kind == TW_VALUE_DICT;
}
/* Whether there is a Keras tensor among the values. */
bool tw__has_keras_tensor(const tw_value *value);
/* Every Keras tensor in it, in TensorFlow's order of structures (dicts by key); borrowed, appended to a list from tw__alloc. */
tw_status tw__keras_tensors_of(const tw_value *value, tw_keras_tensor ***list, size_t *count, size_t *capacity);
/* The same structure with each Keras tensor replaced by what `replace` gives for it. */
typedef tw_value (*tw__replacement)(void *context, tw_keras_tensor *tensor);
tw_status tw__replace_tensors(const tw_value *value, tw__replacement replace, void *context, tw_value *out);
/* The items of a dict by key: `order` has room for the number of pairs. */
void tw__dict_order(const tw_value *dict, int64_t *order);

/* Calls the layer in a graph that is thrown away, notes the call, and gives the Keras tensors that stand for its results. */
tw_status tw__layer_connect(tw_layer *layer, const tw_value *arguments, const tw_value *named, int training, tw_value *result);
/* The same for one tensor. A new reference. */
extern _Thread_local bool tw__connecting; /* such a call is being tried */
tw_keras_tensor *tw__layer_connect_one(tw_layer *layer, tw_keras_tensor *input);
/* Calls the layer with values, by position and by name, whatever kind of layer it is. */
tw_status tw__layer_invoke(tw_layer *layer, const tw_value *arguments, const tw_value *named, int training, tw_value *result);
/* Notes a call whose results are known; `result` holds Keras tensors of other layers, which only say dtype and shape. */
tw_status tw__layer_note(tw_layer *layer, const tw_value *arguments, const tw_value *result);
tw_value tw__node_results(tw_layer *layer, int node);     /* Keras tensors, in their structure */
tw_keras_tensor *tw__input_tensor(tw_layer *input_layer); /* of an InputLayer; a new reference */
/* The type of an InputLayer's ragged or sparse tensor, a new reference; NULL: dense. And the arguments of one for a type
 * (layers/input.c); false: an error. */
struct tw_type_spec *tw__input_spec_of(tw_layer *input_layer);
bool tw__input_of_spec(void *spec, tw_layers_input_layer_args *args);
/* The structure of a result, and its tensors one by one. */
typedef struct tw__flattening {
    void **values; /* borrowed: tensors, and what is made of several */
    size_t count, capacity;
    tw_keras_tensor **keras;
    size_t keras_capacity;
} tw__flattening;
tw_status tw__flatten_result(const tw_value *value, tw__flattening *f, tw_value *structure);
tw_status tw__layer_add_node(tw_layer *layer, tw__layer_node *node); /* takes the node */
void tw__layer_node_free(tw__layer_node *node);
void tw__layer_nodes_free(tw_layer *layer);
void tw__layer_drop_node(tw_layer *layer); /* the last one */
void tw__layer_nodes_visit(tw_layer *layer, tw__visitor visitor, void *context);
tw_value tw__shapes_of(const tw_value *value); /* of tensors and Keras tensors in a structure */

tw_value tw__layer_shapes(tw_layer *layer, bool output); /* of all its calls, if they are the same; None with the error set */

/* ---- Functional (functional.c) ---- */
typedef struct tw__node_step {
    tw_layer *layer; /* borrowed: it is among the layers */
    int node;
    int first; /* of its outputs' values */
} tw__node_step;

typedef struct tw__functional {
    tw__model model;
    tw_layer **layers; /* references */
    size_t layer_count;
    tw__node_step *steps; /* in an order in which they can run; inputs are none */
    size_t step_count;
    tw_value inputs, outputs;                      /* Keras tensors in their structure */
    tw_keras_tensor **flat_inputs, **flat_outputs; /* borrowed from them */
    size_t input_count, output_count, value_count;
    tw_keras_tensor **added; /* what AddLoss and AddMetric give; references */
    size_t added_count, added_capacity;
    tw__map places; /* "layer pointer, node" -> place of the first value + 1 */
} tw__functional;

tw__functional *tw__functional_of(tw_layer *layer); /* NULL if it is none */
/* Finds layers and steps (functional_walk.c); forgets them. */
tw_status tw__functional_arrange(tw__functional *model);
void tw__functional_drop_steps(tw__functional *model);
/* Where the tensor's value stands while the model runs; SIZE_MAX: nowhere. */
size_t tw__functional_place(const tw__functional *model, const tw_keras_tensor *tensor);
/* Calls the layer with one of the model's tensors whenever the model runs, though no output needs it. */
tw_status tw__functional_extend(tw_layer *model, tw_layer *layer, tw_keras_tensor *tensor);
tw_status tw__functional_take(tw__functional *model, tw_keras_tensor *added); /* the same for a call that is noted already */
tw_status tw__functional_add_loss(tw_layer *model, tw_keras_tensor *tensor);  /* (layers/added.c) */
tw_status tw__functional_add_metric(tw_layer *model, tw_keras_tensor *tensor, const char *name, const char *aggregation);
/* Makes the children "layer-i" and "layer_with_weights-k" anew, in order. */
tw_status tw__model_track_layers(tw_layer *model, tw_layer *const *layers, size_t count);
tw_value tw__functional_config(tw_layer *self);
void *tw__functional_from_config(const tw_value *config);
tw_keras_tensor *tw__sequential_end(tw_layer *model, bool output); /* borrowed; NULL: not connected */
/* (sequential_values.c) A call with a ragged or sparse tensor; what the tensors of a dict are, None if it is no dict of them. */
void *tw__sequential_composite(tw_layer *self, void *input, int training);
tw_value tw__sequential_dict_specs(const tw_value *input);
/* The model's inputs or outputs, for a Sequential too; None with the error set. */
tw_value tw__model_ends(tw_layer *model, bool outputs);

#endif
