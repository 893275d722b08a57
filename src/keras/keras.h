/* Keras from the inside: layers, models, activations, configs. Optimizers, losses and metrics have headers in their folders. */
#ifndef TW_KERAS_H
#define TW_KERAS_H

#include "eager/eager.h"
#include "rows.h"

struct tw__dict;

/* ---- layers (layers/layer.c) ---- */
/* training: 1 true, 0 false, -1 not said */
typedef struct tw__layer_methods {
    tw_status (*build)(tw_layer *self, const tw_shape *input_shape); /* makes the weights; NULL: none */
    tw_tensor *(*call)(tw_layer *self, tw_tensor *input, int training);
    /* From a partial input shape. NULL: the input's. */
    tw_status (*output_shape)(tw_layer *self, const tw_shape *input_shape, tw_shape *output_shape);
    /* A Sequential that learns the shape of its input in training calls each layer once before the real call, in a graph: who
     * counts calls counts that. */
    void (*count_call)(tw_layer *self);
    /* Layers that take or give more than one tensor: the names of what their call takes ("inputs states training"), and a call
     * with one value for each (None: not given), whose result is the caller's. Such a layer has no `call`. */
    const char *arguments;
    tw_value (*call_values)(tw_layer *self, const tw_value *given, int training);
    tw_status (*build_values)(tw_layer *self, const tw_value *given); /* instead of build, where one shape is not enough */
    /* Besides `call`: the input is no tensor but a dict or another structure. */
    tw_value (*call_structure)(tw_layer *self, const tw_value *input, int training);
    /* Instead of call_values, for a layer that takes whatever it is given. */
    tw_status (*invoke)(tw_layer *self, const tw_value *arguments, const tw_value *named, int training, tw_value *result);
    /* The mask of the output, for a layer that supports masks; NULL: the input's. A new reference, or NULL for none. */
    tw_tensor *(*mask)(tw_layer *self, tw_tensor *input, tw_tensor *mask);
    /* The same for a layer of several inputs: a list of their masks, None where there is none. */
    tw_tensor *(*merge_masks)(tw_layer *self, const tw_value *inputs, const tw_value *masks);
    /* The call with a ragged or sparse tensor in the place of the input: a tensor or such a value, a new reference. `flat`: of a
     * ragged one, the call with its values. (layers/composites.c) */
    void *(*call_composite)(tw_layer *self, void *input, int training);
    bool flat;
    bool supports_masking;  /* masks of inputs reach the output, unless the object says otherwise */
    int32_t minimum_rank;   /* of inputs */
    bool any_dtype;         /* inputs are not cast to the layer's dtype */
    const char *own_config; /* fields that `config` puts itself, in the config's order: " strides " */
    void (*config)(tw_layer *self, struct tw__dict *dict);
    tw_value (*whole_config)(tw_layer *self);     /* models: instead of their arguments */
    void *(*from_config)(const tw_value *config); /* and an object of it: a new reference */
} tw__layer_methods;

struct tw_module {
    tw_trackable trackable;
    char *name, *scope; /* scope: "outer/name/"; NULL for layers, which keep no outer scope */
};

struct tw_layer {
    union {
        tw_module module;
        struct {
            tw_trackable trackable;
            char *name, *scope;
        };
    };
    tw_dtype dtype;         /* of the variables */
    tw_dtype compute_dtype; /* of the inputs, and of the variables as its call reads them */
    bool trainable;
    _Atomic bool built;                /* layers are built one at a time, under tracing's lock (tw__tracing_begin) */
    bool at_root;                      /* its own scope is the root of all names: a Sequential; a model that build() runs */
    int32_t minimum_rank;              /* of inputs */
    int64_t last_axis;                 /* size of the inputs' last axis; -1: any */
    tw_shape batch_input_shape;        /* rank -1: not known */
    bool supports_masking;             /* masks of inputs reach the output */
    bool keeps_dtype;                  /* inputs are not cast to compute_dtype */
    bool dynamic;                      /* its `call` can't be traced */
    bool stateful;                     /* as the program says; recurrent layers have a setting */
    tw_callable *activity_regularizer; /* a reference, or NULL */
    struct tw__layer_losses *losses;   /* what it adds to the loss (layers/losses.c); NULL: nothing yet */
    struct tw_metric **metrics;        /* that add_metric made or was given (layers/added.c). References */
    size_t metric_count, metric_capacity;
    struct tw__layer_node **nodes; /* its calls with Keras tensors (models/functional.h) */
    size_t node_count, node_capacity;
    tw_value build_shape; /* the shape, or shapes, it was built for; None: not said */
    tw_value input_spec;  /* an InputSpec that a program set, or a list of them (layers/input_spec.c) */
    tw_variable **extra;  /* once a weight took another's name: own weights in the order in which they came. References */
    size_t extra_count, extra_capacity;
    /* Set by an embedding language whose subclass gives its own `call`: every call from C goes there, building included. */
    tw_tensor *(*foreign_call)(tw_layer *self, tw_tensor *input, int training);
    bool (*foreign_attribute)(tw_layer *self, const char *name, tw_value *out); /* false: there is none */
    /* Who makes its weights instead, with their initializers, regularizers and constraints; a new reference. Layers of
     * TensorFlow 1 share them by name. */
    tw_variable *(*make_weight)(tw_layer *self, const char *name, const tw_shape *shape, tw_dtype dtype, bool trainable);
};

/* ---- policies (layers/policy.c): a dtype, or TW_MIXED_FLOAT16, TW_MIXED_BFLOAT16 ---- */
tw_dtype tw__global_policy(void);
tw_dtype tw__floatx(void);                    /* of what is given no dtype: keras.backend.floatx (backend.c) */
tw_dtype tw__policy_compute(tw_dtype policy); /* float32 of none */
tw_dtype tw__layer_policy(const tw_layer *layer);
tw_dtype tw__policy_code(const void *object); /* of a Policy; else TW_DTYPE_NONE */
tw_value tw__policy_config(tw_dtype policy);  /* what a layer's config says: a name, or a Policy as a dict */

/* What keras.backend.set_learning_phase said: 1, 0, or -1 for nothing. (backend.c) */
int tw__learning_phase(void);
void tw__learning_phase_forget(void);
/* Calls the layer: casts float inputs to its dtype, builds it on the first call, and keeps a name scope while it does. */
tw_tensor *tw__layer_call(tw_layer *layer, tw_tensor *input, int training);
static inline void tw__layer_count_call(tw_layer *layer)
{
    const tw__layer_methods *methods = tw__methods(layer);
    if (methods && methods->count_call)
        methods->count_call(layer);
}
/* The same with any arguments: `count` values in the order of the class's `arguments` (the first is the input; those behind are
 * not given). */
tw_value tw__layer_call_values(tw_layer *layer, const tw_value *given, int count, int training);
/* A model's input number `at` has another shape: the error says so. While batches of arrays are trained on, it shows their size
 * as None, as Keras does, which knows it as that. */
extern _Thread_local bool tw__layer_any_batch;
tw_status tw__layer_wrong_shape(const tw_layer *layer, size_t at, const tw_shape *expected, const tw_shape *found);
/* The call failed (layers/explain.c): the thread's error gets the layer's name, its class and what it was given, by the names of
 * "inputs mask". An exception of the embedding language gets the words around its own. */
void tw__layer_explain(tw_layer *layer, const char *names, const tw_value *given, int count);
static inline tw_value tw__tensor_value(tw_tensor *tensor) /* takes it; NULL: None, with the error set */
{
    return tensor ? (tw_value){ .kind = TW_VALUE_TENSOR, .tensor = tensor } : (tw_value){ .kind = TW_VALUE_NONE };
}
/* The steps of that, for embedding languages: begin (scope), the cast and the checks of an input, build, end. */
tw_status tw__layer_begin(tw_layer *layer);
tw_tensor *tw__layer_input(tw_layer *layer, tw_tensor *input); /* a new reference */
tw_status tw__layer_build(tw_layer *layer, const tw_shape *input_shape);
tw_status tw__layer_take_weights(tw_layer *layer); /* sets the weights that it was given as an argument; once they are made */
void tw__layer_built_for(tw_layer *layer, tw_value shapes); /* notes it for the config; takes the value */
void tw__layer_end(tw_layer *layer);
/* The output's shape for an input's; layers that only an embedding language knows are run on zeros. Builds what is not built. */
tw_status tw__layer_output_shape(tw_layer *layer, const tw_shape *input_shape, tw_shape *output_shape);
tw_status tw__layer_run_on_zeros(tw_layer *layer, const tw_shape *input_shape, tw_shape *output_shape);
/* A new variable named scope/name, tracked as `name`; borrowed. NULL initializer: glorot_uniform for floats, zeros for others. */
tw_variable *tw__layer_add_weight(tw_layer *layer, const char *name, const tw_shape *shape, tw_dtype dtype, tw_named initializer,
                                  bool trainable);
/* The same of a trainable weight in the layer's dtype, whose initializer is an argument of the layer: kernel_initializer. */
tw_status tw__layer_add_part(tw_layer *layer, const char *name, const tw_shape *shape);
/* The op Reshape. (layers/flatten.c) */
tw_tensor *tw__reshape(tw_tensor *input, const tw_shape *shape);
/* Under the shape of `like`, with `last` in the place of its last dimension; -1: without it. */
tw_tensor *tw__reshape_leading(tw_tensor *input, tw_tensor *like, int64_t last);
/* "Dense" -> "dense", the next time "dense_1"; for the caller to free. (layers/names.c) */
char *tw__layer_auto_name(const char *class_name);
char *tw__snake_case(const char *class_name);       /* without a number */
char *tw__module_auto_name(const char *class_name); /* of a tf.Module: not numbered */
void tw__layer_names_clear(void);

/* Where a file is in Keras's cache: $KERAS_HOME or ~/.keras, then the folder. For tw__free. (datasets/datasets.c) */
char *tw__keras_cache(const char *folder, const char *name);

/* What an InputSpec, or the first of several, says about an input of that shape. (layers/input_spec.c) */
tw_status tw__input_spec_check(const tw_layer *layer, const tw_value *spec, const tw_shape *shape);

/* ---- masks (layers/mask.c) ---- */
/* Which steps of a sequence count: a tensor of booleans that goes along with a tensor. */
tw_tensor *tw__mask_of(const tw_tensor *tensor);                /* borrowed; NULL: none */
tw_status tw__mask_set(tw_tensor *tensor, tw_tensor *mask);     /* NULL: none any more */
tw_tensor *tw__masked_copy(tw_tensor *tensor, tw_tensor *mask); /* the same values with this mask; a new reference */
void tw__note_logits(tw_tensor *tensor, tw_tensor *logits);     /* keeps them with it, if nothing is kept yet */
tw_tensor *tw__noted_logits(const tw_tensor *tensor); /* what a softmax or sigmoid noted of its input; borrowed, or NULL */
/* The metric whose call gave the tensor; borrowed, or NULL. */
struct tw_metric *tw__noted_metric(const tw_tensor *tensor);
tw_tensor *tw__note_metric(tw_tensor *tensor, struct tw_metric *metric); /* gives the tensor, or NULL with the error set */
/* What a call of the layer does about masks, and about its activity regularizer, when the output is there. */
tw_status tw__layer_finish(tw_layer *layer, tw_tensor *input, tw_tensor *mask, tw_tensor *output);

/* ---- what layers add to the loss (layers/losses.c) ---- */
typedef struct tw__layer_losses tw__layer_losses;
tw_status tw__layer_regularize(tw_layer *layer, tw_variable *variable, tw_named regularizer); /* a penalty of the variable */
tw_status tw__layer_find_activity_regularizer(tw_layer *layer);                               /* among its arguments */
tw_status tw__layer_regularize_activity(tw_layer *layer, tw_tensor *output);
extern _Thread_local bool
    tw__reconnecting; /* a model that ran connects its layers: they add no losses, and stay built as they are */
tw_status tw__layer_add_loss(tw_layer *layer, tw_tensor *loss);
/* All metrics of the model itself and of the layers below: attributes, and what add_metric noted. Borrowed, the list for
 * tw__free. (layers/added.c) */
tw_status tw__collect_metrics(tw_layer *model, struct tw_metric ***metrics, int *count);
void tw__layer_metrics_visit(tw_layer *layer, tw__visitor visitor, void *context);
void tw__layer_metrics_free(tw_layer *layer);
void tw__layer_clear_losses(tw_layer *layer); /* of earlier calls, the layers below included */
void tw__layer_losses_visit(tw_layer *layer, tw__visitor visitor, void *context);
void tw__layer_losses_free(tw_layer *layer);
/* All of them, regularizers computed now: new references in an array for tw_tensors_free. */
tw_status tw__layer_losses_of(tw_layer *layer, tw_tensors *losses);

/* ---- weights (layers/weights.c) ---- */
/* All variables below a trackable (its own, those of layers, lists and dicts), each once, in Keras's order. The list is the
 * caller's, to be given to tw__free; the variables are borrowed. */
typedef enum tw__which { TW_ALL_VARIABLES, TW_TRAINABLE_VARIABLES, TW_NON_TRAINABLE_VARIABLES } tw__which;
tw_status tw__collect_variables(tw_trackable *root, tw__which which, tw_variable ***variables, int64_t *count);
bool tw__has_variables(tw_trackable *root);
/* A Sequential's layers, borrowed; NULL: it is no Sequential. (models/sequential.c) */
tw_layer *const *tw__sequential_layers(const tw_layer *model, size_t *count);
const tw_value *tw__sequential_specs(const tw_layer *model); /* of its input, if that is a dict of tensors; borrowed, or NULL */
/* The metrics that are attributes of it, also in lists and dicts; borrowed, the list for tw__free. */
tw_status tw__collect_own_metrics(tw_trackable *root, struct tw_metric ***metrics, int64_t *count);
/* The layers directly below, through lists and dicts, without metrics; or with `deep` all of them, and metrics. Borrowed, the
 * list for tw__free. */
tw_status tw__collect_layers(tw_trackable *root, bool deep, tw_layer ***layers, int64_t *count);

bool tw__layer_is_dynamic(tw_layer *layer); /* it, or a layer in it (layers/answers.c) */

/* ---- models (models/) ---- */
typedef struct tw__model {
    tw_layer layer;
    tw_tensor *(*call)(tw_model *self, tw_tensor *input, int training, void *state); /* of a C program; or NULL */
    struct tw_tensors (*call_all)(tw_model *self, struct tw_tensors inputs, int training,
                                  void *state); /* the same with several */
    void *state;
    void *steps[3];               /* its own steps of training, testing and predicting (tw_step_function), or NULL */
    tw_dtype input_dtype;         /* as _set_inputs said; TW_DTYPE_NONE: it did not */
    tw_value save_spec;           /* of the inputs of the first call (saving/save_spec.c); None before */
    struct tw__trainer *trainer;  /* what compile and the steps of training made (models/training.h); a reference, or NULL */
    struct tw_strategy *strategy; /* in whose scope the model was made, and whose replicas train it; a reference, or NULL */
} tw__model;
bool tw__model_is_new(const tw_layer *layer);                   /* a model of whose inputs nothing is known */
void tw__model_called(tw_layer *layer, const tw_value *inputs); /* notes them, if it is such a model */
typedef struct tw__trainer tw__trainer;
extern const tw_class tw__trainer_class;

/* ---- activations (activation.c) ---- */
/* A function of one tensor: a name, a callable or a layer. NULL is the identity. */
tw_status tw__activation_check(tw_named named);
bool tw__activation_is_known(const char *name); /* as a function of Keras's or of tf.nn */
/* The same of a setting, where the name of a layer (LeakyReLU) becomes one. */
tw_status tw__activation_settle(tw_named *place);
bool tw__activation_is(tw_named named, const tw_op *op);   /* whether it is that op alone */
tw_tensor *tw__activate(tw_named named, tw_tensor *input); /* a new reference; no input gives NULL */
/* What a Keras softmax or sigmoid was computed from, or, in a graph, what the op `like` (Softmax, Sigmoid) gave the value from;
 * or NULL. Borrowed. */
tw_tensor *tw__logits_of(const tw_tensor *output, const tw_op *like);

/* ---- configs (config.c) ---- */
/* A dict in the making. After a failure further steps do nothing and the result is None, with the error set. */
typedef struct tw__dict {
    tw_value *items;
    size_t count, capacity;
    bool failed;
} tw__dict;
void tw__dict_put(tw__dict *dict, const char *key, tw_value value);       /* takes the value */
void tw__dict_put_str(tw__dict *dict, const char *key, const char *text); /* NULL: None */
tw_value tw__dict_take(tw__dict *dict);
/* Adds the arguments an object was made with, from its field table; `skip`: names between spaces, " name dtype ". */
tw_value tw__tensor_config(const tw_tensor *tensor); /* nested lists of numbers; None for NULL */
void tw__dict_put_config(tw__dict *dict, const void *object, const char *skip);
/* {"module", "class_name", "config", "registered_name"} of an object with such a config. */
tw_value tw__serialize(const void *object, const char *module);
/* The object that such a dict describes, or a new one of the class that is named; `word` says of which kind if the dict does not:
 * "layer", "initializer". A new reference. (serialize.c) */
void *tw__deserialize(const tw_value *value, const char *word);
void tw__value_drop(tw_value *dict, const char *key); /* takes a key and its value away, if it is there (config.c) */
tw_status tw__shape_of_value(const tw_value *value, tw_shape *shape);      /* rank -1: it is none (saving/saved_model_load.c) */
tw_value tw__config_of(const void *object);                                /* as get_config() gives it */
void *tw__object_of_config(const tw_class *class, const tw_value *config); /* by the class's arguments */
/* A float32 as the shortest decimal says it: 0.001, not 0.0010000000474974513. */
double tw__shortest(double value, tw_dtype dtype);
tw_value tw__shape_value(const tw_shape *shape); /* a tuple, None where not known */

/* ---- text for users (progress.c) ---- */
/* To standard output, unless an embedding language has its own. */
void tw__write(const char *text, size_t size);
/* What Keras tells by itself, unless keras.utils.disable_interactive_logging said that it should not. */
void tw__tell(const char *text, size_t size);
/* A value beside the bar. */
typedef struct tw__progress_value {
    char *name;
    double sum, count; /* whose quotient is shown */
    bool as_is;        /* the last value, not the mean of all */
} tw__progress_value;
typedef struct tw__progress {
    int64_t target;  /* -1: not known */
    int verbose;     /* 0 silent, 1 bar, 2 one line */
    int bar;         /* how many characters it has */
    double interval; /* seconds between two updates */
    const char *unit;
    double start, last_update, after_first;
    int64_t seen;
    size_t width;
    tw__progress_value *values;
    size_t count, capacity;
} tw__progress;
void tw__progress_start(tw__progress *progress, int64_t target, int verbose);
tw_status tw__progress_value_at(tw__progress *progress, int64_t current, const char *name, double value, bool as_is);
void tw__progress_update(tw__progress *progress, int64_t current, bool last);
void tw__progress_end(tw__progress *progress); /* lets go of the values */

#endif
