/* Layers and models: names, order of weights, shapes, errors, configs, against what TensorFlow 2.15 answers. */
#define TW_TEST_SCOPES
#include "base/language.h"
#include "keras/golden.h"

#include "keras/keras.h"

static int clear_names(void **state)
{
    tw_backend_clear_session();
    return begin_test_scope(state);
}

static tw_tensor *ones(int64_t rows, int64_t columns)
{
    tw_tensor *tensor = tw_tensor_new(TW_FLOAT32, TW_SHAPE(rows, columns), NULL);
    for (int64_t i = 0; i < tensor->count; i++)
        ((float *)tensor->data)[i] = 1;
    return tensor;
}

static void expect_variables(tw_objects variables, const char *expected)
{
    tw__text text = { 0 };
    expect_no_error();
    for (int64_t i = 0; i < variables.count; i++)
        tw__text_format(&text, "%s%s", i ? " " : "", ((tw_variable *)variables.items[i])->name);
    assert_string_equal(text.data ? text.data : "", expected);
    tw__text_free(&text);
    tw_objects_free(&variables);
}

static void expect_children(tw_layer *layer, const char *expected)
{
    tw__text text = { 0 };
    for (size_t i = 0; i < layer->trackable.child_count; i++)
        tw__text_format(&text, "%s%s", i ? " " : "", layer->trackable.children[i].name);
    assert_string_equal(text.data ? text.data : "", expected);
    tw__text_free(&text);
}

static void expect_shape(tw_shape shape, const char *expected)
{
    assert_string_equal(tw__shape_text(&shape), expected);
}

static void auto_names(void **state)
{
    (void)state;
    static const char *const cases[][2] = {
        { "MyLSTMCell", "my_lstm_cell" },
        { "Conv2D", "conv2d" },
        { "Conv2DTranspose", "conv2d_transpose" },
        { "MLP", "mlp" },
        { "GRU2D", "gru2d" },
        { "ReLU", "re_lu" },
        { "GlobalMaxPooling1D", "global_max_pooling1d" },
        { "My_Net", "my__net" },
        { "A", "a" },
        { "ABc", "a_bc" },
        { "X2Y", "x2y" },
        { "aB", "a_b" },
        { "ResNet50V2", "res_net50v2" },
        { "_Net", "private__net" },
        { "MLP", "mlp_1" },
        { "MLP", "mlp_2" },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char *name = tw__layer_auto_name(cases[i][0]);
        assert_string_equal(name, cases[i][1]);
        tw__free(name);
    }
}

/* ---- a model of a C program ---- */

typedef struct parts {
    tw_layer *first, *second, *third;
} parts;

static tw_tensor *call_parts(tw_model *self, tw_tensor *input, int training, void *state)
{
    (void)self, (void)training;
    parts *p = state;
    tw_tensor *x = tw_layer_call(p->first, input);
    tw_layer *more[] = { p->second, p->third };
    for (int i = 0; i < 2 && more[i]; i++) {
        tw_tensor *next = tw_layer_call(more[i], x);
        tw_release(x);
        x = next;
    }
    return x;
}

static void names_of_variables(void **state)
{
    (void)state;
    tw_auto tw_tensor *x = ones(1, 3), *scalar = tw_tensor_float(1);
    tw_auto tw_layer *bare = tw_layers_dense(2);
    tw_release(tw_layer_call(bare, x));
    expect_variables(tw_layer_variables(bare), "dense/kernel:0 dense/bias:0");

    /* m: two layers and one in a list; n: m, a variable, a layer */
    parts in_m = { 0 }, in_n = { 0 };
    tw_model *m = tw_model_new(call_parts, &in_m, .name = "m");
    in_m.first = tw_track(m, "a", tw_layers_dense(2));
    in_m.second = tw_track(m, "b", tw_layers_dense(2, .name = "bb"));
    tw_auto tw_trackable *list = tw__container_new();
    tw_track(m, "l", list);
    in_m.third = tw_layers_dense(2);
    tw__container_append(list, in_m.third);
    tw_release(in_m.third);
    tw_auto tw_model *n = tw_model_new(call_parts, &in_n, .name = "n");
    in_n.first = tw_track(n, "m", m);
    tw_track(n, "v", tw_variable(scalar));
    in_n.second = tw_track(n, "d", tw_layers_dense(1));
    tw_release(tw_model_call(n, x));
    expect_variables(
        tw_layer_variables(n),
        "n/m/dense_1/kernel:0 n/m/dense_1/bias:0 n/m/bb/kernel:0 n/m/bb/bias:0 n/m/dense_2/kernel:0 n/m/dense_2/bias:0 "
        "n/dense_3/kernel:0 n/dense_3/bias:0 Variable:0");
    assert_int_equal(tw_layer_count_params(n), 3 * 2 + 2 + 2 * (2 * 2 + 2) + 2 + 1 + 1);
    tw_objects layers = tw_model_layers(n);
    assert_int_equal(layers.count, 2);
    assert_ptr_equal(layers.items[1], in_n.second);
    tw_objects_free(&layers);
    tw_value modules = tw_module_submodules((tw_module *)n);
    assert_int_equal(modules.list.count, 5);
    tw_value_free(&modules);

    /* build() runs the bare call: no model in front */
    parts in_p = { 0 };
    tw_auto tw_model *p = tw_model_new(call_parts, &in_p);
    in_p.first = tw_track(p, "a", tw_layers_dense(2));
    tw_objects none = tw_layer_variables(p);
    assert_int_equal(none.count, 0);
    tw_objects_free(&none);
    assert_int_equal(tw_model_build(p, TW_SHAPE(-1, 3)), TW_OK);
    expect_variables(tw_layer_variables(p), "dense_4/kernel:0 dense_4/bias:0");
    tw_auto tw_layer *built = tw_layers_dense(2);
    assert_int_equal(tw_layer_build(built, TW_SHAPE(-1, 3)), TW_OK);
    expect_variables(tw_layer_variables(built), "kernel:0 bias:0");
    tw_auto tw_name_scope *scope = tw_name_scope("sc");
    char *whole = tw_name_scope_enter(scope);
    assert_string_equal(whole, "sc/");
    free(whole);
    tw_auto tw_layer *scoped = tw_layers_dense(2, .use_bias = false);
    tw_release(tw_layer_call(scoped, x));
    tw_name_scope_exit(scope);
    expect_variables(tw_layer_variables(scoped), "sc/dense_6/kernel:0");
}

static void weights_of_layers(void **state)
{
    (void)state;
    tw_auto tw_layer *layer = tw_layer();
    tw_auto tw_tensor *two = tw_tensor_float(2), *x = ones(1, 3);
    assert_int_equal(tw__layer_begin(layer), TW_OK);
    tw_release(tw_layer_add_weight(layer, "w", .shape = TW_SHAPE(2)));
    tw_release(tw_layer_add_weight(layer, "v", .shape = TW_SHAPE(2), .trainable = false, .initializer = "zeros"));
    tw_release(tw_layer_add_weight(layer));
    tw_track(layer, "q", tw_variable(two, .name = "q"));
    tw_layer *dense = tw_track(layer, "d", tw_layers_dense(1));
    tw_release(tw_layer_call(dense, x));
    tw__layer_end(layer);
    expect_variables(tw_layer_variables(layer),
                     "layer/w:0 layer/Variable:0 layer/q:0 layer/dense/kernel:0 layer/dense/bias:0 layer/v:0");
    expect_variables(tw_layer_trainable_variables(layer),
                     "layer/w:0 layer/Variable:0 layer/q:0 layer/dense/kernel:0 layer/dense/bias:0");
    expect_variables(tw_layer_non_trainable_variables(layer), "layer/v:0");
    tw_layer_set_trainable(layer, false);
    expect_variables(tw_layer_variables(layer),
                     "layer/w:0 layer/Variable:0 layer/q:0 layer/v:0 layer/dense/kernel:0 layer/dense/bias:0");
    expect_variables(tw_layer_trainable_variables(layer), "");
    assert_false(dense->trainable);
    tw_layer_set_trainable(layer, true);
    /* a second weight of the name takes its place, the first stays a weight */
    tw_release(tw_layer_add_weight(layer, "w", .shape = TW_SHAPE(5)));
    tw_objects all = tw_layer_variables(layer);
    assert_int_equal(all.count, 7);
    tw_objects_free(&all);
    /* layers that hold each other */
    tw_auto tw_layer *other = tw_layer();
    tw_track(layer, "other", other);
    tw_track(other, "back", layer);
    all = tw_layer_variables(other);
    assert_int_equal(all.count, 7);
    tw_objects_free(&all);
    tw__untrack(&other->trackable, "back");
    assert_null(tw_layer_add_weight(layer, "bad", .shape = TW_SHAPE(-1, 2)));
    expect_error(TW_VALUE_ERROR, "not complete");
    assert_null(tw_layer_add_weight(layer, "bad", .initializer = "foo"));
    expect_error(TW_VALUE_ERROR, "Unknown initializer: 'foo'");
}

static void set_and_get(void **state)
{
    (void)state;
    tw_auto tw_layer *layer = tw_layers_dense(3);
    tw_auto tw_tensor *d = tw_tensor_new(TW_FLOAT32, TW_SHAPE(2, 2), (float[]){ 1, 2, -3, .5f });
    tw_auto tw_tensor *w = tw_tensor_new(TW_FLOAT32, TW_SHAPE(2, 3), (float[]){ .5f, -1, 2, 1, .25f, -.5f });
    tw_auto tw_tensor *b = tw_tensor_new(TW_FLOAT64, TW_SHAPE(3), (double[]){ .1, -.2, .3 });
    static const char *const names[] = { "linear",   "relu",     "softmax", "sigmoid", "tanh",        "elu",         "selu",
                                         "softplus", "softsign", "swish",   "gelu",    "exponential", "hard_sigmoid" };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char key[64];
        tw_auto tw_layer *dense = tw_layers_dense(3, .activation = names[i]);
        snprintf(key, sizeof key, "dense.%s", names[i]);
        tw_layer_build(dense, TW_SHAPE(-1, 2));
        tw_layer_set_weights(dense, TW_TENSORS(w, b));
        tw_auto tw_tensor *y = tw_layer_call(dense, d);
        golden_expect(key, y, 1e-5);
    }
    tw_layer_build(layer, TW_SHAPE(-1, 2));
    tw_layer_set_weights(layer, TW_TENSORS(w, b));
    tw_auto tw_tensor *deep = tw__reshape(d, &TW_SHAPE(1, 2, 2)), *y = tw_layer_call(layer, deep);
    golden_expect("dense.rank3", y, 1e-6);
    assert_int_equal(y->shape.rank, 3);
    tw_tensors values = tw_layer_get_weights(layer);
    assert_int_equal(values.count, 2);
    assert_true(tw_tensor_double_at(values.items[0], 5) == -.5);
    tw_tensors_free(&values);
    assert_int_not_equal(tw_layer_set_weights(layer, TW_TENSORS(w)), TW_OK);
    expect_error(
        TW_VALUE_ERROR,
        "You called `set_weights(weights)` on layer \"dense\" with a weight list of length 1, but the layer was expecting 2");
    assert_int_not_equal(tw_layer_set_weights(layer, TW_TENSORS(d, b)), TW_OK);
    expect_error(TW_VALUE_ERROR, "Layer dense weight shape (2, 3) is not compatible with provided weight shape (2, 2).");
    assert_null(tw_layers_dense(3, .activation = "foo"));
    expect_error(TW_VALUE_ERROR, "Unknown activation function 'foo' cannot be deserialized.");
    assert_null(tw_layers_dense(-1));
    expect_error(TW_VALUE_ERROR, "Received an invalid value for `units`, expected a positive integer. Received: units=-1");
}

static void inputs(void **state)
{
    (void)state;
    tw_auto tw_layer *dense = tw_layers_dense(2), *flatten = tw_layers_flatten(), *reshape = tw_layers_reshape(TW_INTS(-1, 2));
    tw_auto tw_tensor *vector = tw_tensor_new(TW_FLOAT32, TW_SHAPE(3), NULL), *x = ones(1, 3), *wide = ones(1, 4);
    assert_null(tw_layer_call(dense, vector));
    expect_error(TW_VALUE_ERROR, "Input 0 of layer \"dense\" is incompatible with the layer: expected min_ndim=2, found ndim=1. "
                                 "Full shape received: (3,)");
    tw_release(tw_layer_call(dense, x));
    assert_null(tw_layer_call(dense, wide));
    expect_error(TW_VALUE_ERROR, "expected axis -1 of input shape to have value 3, but received input with shape (1, 4)");
    tw_auto tw_tensor *bytes = tw_tensor_new(TW_UINT8, TW_SHAPE(2, 3), NULL),
                      *doubles = tw_tensor_new(TW_FLOAT64, TW_SHAPE(2, 3), NULL);
    tw_auto tw_tensor *from_bytes = tw_layer_call(dense, bytes), *from_doubles = tw_layer_call(dense, doubles);
    assert_int_equal(from_bytes->dtype, TW_FLOAT32);
    assert_int_equal(from_doubles->dtype, TW_FLOAT32);
    tw_auto tw_tensor *deep = tw_tensor_new(TW_INT32, TW_SHAPE(3, 2, 4), NULL), *scalar = tw_tensor_float(1);
    tw_auto tw_tensor *flat = tw_layer_call(flatten, deep), *column = tw_layer_call(flatten, vector),
                      *pairs = tw_layer_call(reshape, deep);
    expect_shape(flat->shape, "[3,8]");
    assert_int_equal(flat->dtype, TW_INT32);
    expect_shape(column->shape, "[3,1]");
    expect_shape(pairs->shape, "[3,4,2]");
    assert_null(tw_layer_call(flatten, scalar));
    expect_error(TW_VALUE_ERROR, "expected min_ndim=1, found ndim=0. Full shape received: ()");
    assert_null(tw_layer_call(reshape, wide = (tw_release(wide), ones(1, 5))));
    expect_error(TW_VALUE_ERROR, "total size of new array must be unchanged");
    assert_null(tw_layer_call(NULL, x));
    expect_error(TW_INVALID_ARGUMENT, "a Layer was expected, got NULL");
    tw_auto tw_model *empty = tw_model(.name = "empty");
    assert_null(tw_model_call(empty, x));
    expect_error(TW_NOT_IMPLEMENTED_ERROR, "overridden `call()`");
    tw_auto tw_layer *unbuilt = tw_layers_dense(1);
    assert_int_equal(tw_layer_count_params(unbuilt), 0);
    expect_error(TW_VALUE_ERROR, "You tried to call `count_params` on layer dense_1, but the layer isn't built.");
}

static void sequential(void **state)
{
    (void)state;
    tw_auto tw_tensor *x = ones(1, 3);
    tw_auto tw_model *lazy =
        tw_model_sequential(tw_layers_dense(2, .name = "dense"), tw_layers_flatten(), tw_layers_dense(3, .name = "dense_1"));
    expect_children(lazy, "layer-0 layer-1 layer-2");
    tw_objects none = tw_layer_variables(lazy);
    assert_int_equal(none.count, 0);
    expect_error(TW_VALUE_ERROR, "Weights for model 'sequential' have not yet been created.");
    tw_release(tw_model_call(lazy, x));
    expect_variables(tw_layer_variables(lazy), "dense/kernel:0 dense/bias:0 dense_1/kernel:0 dense_1/bias:0");
    expect_children(lazy, "layer_with_weights-0 layer-0 layer-1 layer_with_weights-1 layer-2");

    tw_auto tw_model *eager =
        tw_model_sequential(tw_layers_flatten(.input_shape = TW_SHAPE(3, 2)), tw_layers_dense(4, .name = "dense_2"));
    assert_true(tw_layer_built(eager));
    expect_variables(tw_layer_variables(eager), "dense_2/kernel:0 dense_2/bias:0");
    expect_children(eager, "layer-0 layer_with_weights-0 layer-1");
    tw_value shape = tw_sequential_input_shape(eager);
    assert_int_equal(shape.list.count, 3);
    assert_int_equal(shape.list.items[0].kind, TW_VALUE_NONE);
    assert_int_equal(shape.list.items[2].i, 2);
    tw_value_free(&shape);
    shape = tw_sequential_output_shape(eager);
    assert_int_equal(shape.list.items[1].i, 4);
    tw_value_free(&shape);

    /* inside others the names of its layers stay as they are */
    parts in_p = { 0 };
    tw_auto tw_model *p = tw_model_new(call_parts, &in_p, .name = "p");
    in_p.first =
        tw_track(p, "s",
                 tw_model_sequential(tw_layers_dense(2, .name = "b"), tw_model_sequential(tw_layers_dense(4, .name = "c"))));
    tw_release(tw_model_call(p, x));
    expect_variables(tw_layer_variables(p), "b/kernel:0 b/bias:0 c/kernel:0 c/bias:0");

    tw_auto tw_model *built = tw_model_sequential(tw_layers_dense(2, .name = "a"));
    assert_int_equal(tw_sequential_build(built, TW_SHAPE(-1, 3)), TW_OK);
    expect_variables(tw_layer_variables(built), "a/kernel:0 a/bias:0");
    tw_auto tw_layer *same = tw_layers_dense(3, .name = "a"), *more = tw_layers_dense(5);
    assert_int_not_equal(tw_sequential_add(built, same), TW_OK);
    expect_error(TW_VALUE_ERROR,
                 "All layers added to a Sequential model should have unique names. Name \"a\" is already the name");
    assert_int_equal(tw_sequential_add(built, more), TW_OK);
    expect_children(built, "layer_with_weights-0 layer-0 layer_with_weights-1 layer-1");
    tw_auto tw_tensor *y = tw_model_call(built, x);
    expect_shape(y->shape, "[1,5]");
    assert_int_equal(tw_sequential_pop(built), TW_OK);
    expect_children(built, "layer_with_weights-0 layer-0");
    assert_int_equal(tw_sequential_pop(built), TW_OK);
    assert_int_not_equal(tw_sequential_pop(built), TW_OK);
    expect_error(TW_TYPE_ERROR, "There are no layers in the model.");
    tw_auto tw_tensor *same_x = tw_model_call(built, x);
    expect_shape(same_x->shape, "[1,3]");
}

/* ---- predict ---- */

static tw__text written;

static void keep(const char *text, size_t size)
{
    tw__text_bytes(&written, text, size);
}

static void predict(void **state)
{
    (void)state;
    tw_auto tw_tensor *x = ones(100, 3);
    for (int64_t i = 0; i < 100; i++)
        ((float *)x->data)[3 * i] = (float)i;
    tw_auto tw_model *model = tw_model_sequential(tw_layers_dense(2));
    tw_auto tw_tensor *whole = tw_model_call(model, x);
    tw__language.write = keep;
    tw_auto tw_tensor *y = tw_model_predict(model, x, .verbose = TW_TEXT("auto"));
    expect_no_error();
    for (int64_t i = 0; i < 200; i++)
        assert_true(fabs(tw_tensor_double_at(y, i) - tw_tensor_double_at(whole, i)) < 1e-4);
    static const char first[] = "\r1/4 [======>.......................] - ETA: 0s";
    assert_memory_equal(written.data, first, sizeof first - 1);
    assert_non_null(strstr(written.data, "\b\r4/4 [==============================] - 0s "));
    assert_true(tw__ends_with(written.data, "/step\n"));
    tw__text_clear(&written);
    tw_value silent = { .kind = TW_VALUE_INT, .i = 0 }, line = { .kind = TW_VALUE_INT, .i = 2 };
    tw_auto tw_tensor *part = tw_model_predict(model, x, .batch_size = 7, .steps = 2, .verbose = silent);
    expect_shape(part->shape, "[14,2]");
    assert_int_equal(written.size, 0);
    tw_auto tw_tensor *again = tw_model_predict(model, x, .verbose = line);
    assert_non_null(again);
    assert_memory_equal(written.data, "4/4 - 0s - ", 11);
    tw__language.write = NULL;
    tw__text_free(&written);
    tw_auto tw_tensor *empty = tw_tensor_new(TW_FLOAT32, TW_SHAPE(0, 3), NULL);
    assert_null(tw_model_predict(model, empty));
    expect_error(TW_VALUE_ERROR, "at least one row");
}

static void configs(void **state)
{
    (void)state;
    tw_auto tw_layer *dense = tw_layers_dense(2, .activation = "nn.relu", .input_shape = TW_SHAPE(3));
    tw_value config = tw_layer_get_config(dense);
    static const char *const keys[] = { "name",
                                        "trainable",
                                        "dtype",
                                        "batch_input_shape",
                                        "units",
                                        "activation",
                                        "use_bias",
                                        "kernel_initializer",
                                        "bias_initializer",
                                        "kernel_regularizer",
                                        "bias_regularizer",
                                        "activity_regularizer",
                                        "kernel_constraint",
                                        "bias_constraint" };
    expect_no_error();
    assert_int_equal(config.list.count, 2 * 14);
    for (int i = 0; i < 14; i++)
        assert_string_equal(config.list.items[2 * i].s.data, keys[i]);
    assert_string_equal(config.list.items[11].s.data, "relu");
    assert_true(config.list.items[13].b);
    tw_value kernel = config.list.items[15];
    assert_string_equal(kernel.list.items[3].s.data, "GlorotUniform");
    tw_value_free(&config);
    tw_auto tw_optimizer *adam = tw_optimizers_adam();
    config = tw_optimizer_get_config(adam);
    static const char *const adam_keys[] = { "name",          "weight_decay",
                                             "clipnorm",      "global_clipnorm",
                                             "clipvalue",     "use_ema",
                                             "ema_momentum",  "ema_overwrite_frequency",
                                             "jit_compile",   "is_legacy_optimizer",
                                             "learning_rate", "beta_1",
                                             "beta_2",        "epsilon",
                                             "amsgrad" };
    assert_int_equal(config.list.count, 2 * 15);
    for (int i = 0; i < 15; i++)
        assert_string_equal(config.list.items[2 * i].s.data, adam_keys[i]);
    assert_true(config.list.items[21].f == .001);
    tw_value_free(&config);
}

/* ---- memory ---- */

/* A model is made, called, trained a step and dropped. */
static void life(void)
{
    tw_auto tw_tensor *x = tw_tensor_new(TW_FLOAT32, TW_SHAPE(4, 3), golden_p),
                      *y = tw_tensor_new(TW_INT32, TW_SHAPE(4), golden_labels);
    tw_auto tw_model *model = tw_model_sequential(tw_layers_flatten(), tw_layers_dense(4, .activation = "relu"),
                                                  tw_layers_dense(3, .activation = "softmax"));
    tw_auto tw_optimizer *adam = tw_optimizers_adam(.clipvalue = .5);
    tw_auto tw_tape *tape = tw_tape();
    tw_release(tw_tape_enter(tape));
    tw_auto tw_tensor *p = tw_model_call(model, x);
    tw_auto tw_loss *loss = tw_losses_sparse_categorical_crossentropy();
    tw_auto tw_tensor *value = tw_loss_call(loss, y, p);
    tw_tape_exit(tape);
    tw_objects variables = model && p ? tw_layer_trainable_variables(model) : (tw_objects){ 0 };
    tw_tensors gradients = tw_tape_gradient(tape, TW_OBJECTS(value), variables);
    tw_release(tw_optimizer_apply_gradients(adam, gradients, variables));
    tw_tensors_free(&gradients);
    tw_objects_free(&variables);
    tw_value config = model ? tw_layer_get_config(model) : (tw_value){ .kind = TW_VALUE_NONE };
    tw_value_free(&config);
}

static void failing_memory(void **state)
{
    (void)state;
    life(); /* what is made once for the process */
    expect_no_error();
    for (long n = 1;; n++) {
        tw__alloc_fail_at(n);
        life();
        tw__alloc_fail_at(0);
        bool failed = tw_error_code() != TW_OK;
        tw_clear_error();
        if (!failed && n > 100)
            break;
        assert_true(n < 5000);
    }
    life();
    expect_no_error();
}

/* A setting that is changed acts on what comes after, and a wrong one leaves the object as it was. */
static void settings(void **state)
{
    (void)state;
    tw_layer *layer = tw_layers_dense(2, .kernel_initializer = "ones");
    tw_tensor *x = ones(1, 3);
    assert_int_equal(tw_object_set(layer, "units", (tw_value){ .kind = TW_VALUE_INT, .i = 4 }), TW_OK);
    assert_int_equal(tw_object_set(layer, "activation", TW_TEXT("relu")), TW_OK);
    assert_int_equal(tw_object_set(layer, "activation", TW_TEXT("no_such")), TW_VALUE_ERROR);
    tw_clear_error();
    assert_int_equal(tw_object_set(layer, "units", (tw_value){ .kind = TW_VALUE_INT, .i = -4 }), TW_VALUE_ERROR);
    tw_clear_error();
    assert_int_equal(tw_object_set(layer, "no_such", (tw_value){ .kind = TW_VALUE_INT, .i = 4 }), TW_ATTRIBUTE_ERROR);
    tw_clear_error();
    expect_shape(tw_layer_call(layer, x)->shape, "[1,4]");
    tw_layer *dropout = tw_layers_dropout(0.5);
    assert_int_equal(tw_object_set(dropout, "rate", (tw_value){ .kind = TW_VALUE_FLOAT, .f = 0 }), TW_OK);
    assert_true(((const tw_layers_dropout_args *)tw_object_config(dropout))->rate == 0);
    expect_no_error();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(auto_names, clear_names, end_test_scope),
        cmocka_unit_test_setup_teardown(names_of_variables, clear_names, end_test_scope),
        cmocka_unit_test_setup_teardown(weights_of_layers, clear_names, end_test_scope),
        cmocka_unit_test_setup_teardown(set_and_get, clear_names, end_test_scope),
        cmocka_unit_test_setup_teardown(inputs, clear_names, end_test_scope),
        cmocka_unit_test_setup_teardown(sequential, clear_names, end_test_scope),
        cmocka_unit_test_setup_teardown(settings, clear_names, end_test_scope),
        cmocka_unit_test(predict),
        cmocka_unit_test(configs),
        cmocka_unit_test(failing_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
