/* Lambda: a function of a tensor as a layer. Its config holds the function as code of the language that it is written in, as
 * Keras's does; in safe mode (safe_mode.h) such a config is refused. */
#include "base/language.h"
#include "keras/callable.h"
#include "keras/layers/layers.h"
#include "keras/safe_mode.h"

static tw_tensor *lambda_call(tw_layer *self, tw_tensor *input, int training)
{
    (void)training;
    return tw__activate(((const tw_layers_lambda_args *)tw_object_config(self))->function, input);
}

static tw_status lambda_shape(tw_layer *self, const tw_shape *input, tw_shape *output)
{
    const tw_layers_lambda_args *args = tw_object_config(self);
    if (args->output_shape.rank < 0)
        return tw__layer_run_on_zeros(self, input, output);
    *output = (tw_shape){ .rank = args->output_shape.rank + 1, .dims = { input->rank > 0 ? input->dims[0] : -1 } };
    if (output->rank > TW_MAX_RANK)
        return tw__fail(TW_VALUE_ERROR, "Lambda \"%s\": output_shape has too many dimensions", self->name);
    memcpy(output->dims + 1, args->output_shape.dims, (size_t)args->output_shape.rank * sizeof *output->dims);
    return TW_OK;
}

/* As Keras writes it: the function as code, which only its own language reads. */
static void lambda_config(tw_layer *self, tw__dict *dict)
{
    const tw_layers_lambda_args *args = tw_object_config(self);
    tw_value both = { .kind = TW_VALUE_NONE }, none = { .kind = TW_VALUE_NONE };
    bool code = tw__named_is_object(args->function) && tw__is_callable(args->function) && tw__language.code;
    if (code && !tw__language.code((void *)(uintptr_t)args->function, &both))
        dict->failed = true;
    else if (code && both.kind == TW_VALUE_TUPLE && both.list.count == 2) {
        tw__dict_put(dict, "function", tw__value_copy(&both.list.items[0]));
        tw__dict_put_str(dict, "function_type", "lambda");
        tw__dict_put(dict, "module", tw__value_copy(&both.list.items[1]));
    } else {
        tw__dict_put_str(dict, "function", tw__named_is_object(args->function) ? self->name : args->function);
        tw__dict_put_str(dict, "function_type", "function");
        tw__dict_put_str(dict, "module", "keras.activations");
    }
    tw_value_free(&both);
    tw__dict_put(dict, "output_shape", args->output_shape.rank < 0 ? none : tw__shape_value(&args->output_shape));
    tw__dict_put_str(dict, "output_shape_type", "raw");
    tw__dict_put_str(dict, "output_shape_module", NULL);
    tw__dict empty = { 0 };
    tw__dict_put(dict, "arguments", tw__dict_take(&empty));
}

/* A function of a config that is code: made by the language that wrote it, if that is allowed. */
static void *lambda_decode(const tw_value *config, const tw_value *function)
{
    const tw_value *module = tw__value_get(config, "module"), *arguments = tw__value_get(config, "arguments"),
                   none = { .kind = TW_VALUE_NONE };
    if (tw__safe_mode()) {
        tw__refuse_code("a Lambda layer with a Python `lambda` inside it", "Lambda layer");
        return NULL;
    }
    if (!tw__language.decode) {
        tw__fail(TW_UNIMPLEMENTED, "Lambda: its function is code of Python, which only Python can run");
        return NULL;
    }
    tw_value items[3] = { *function, module ? *module : none, arguments ? *arguments : none };
    return tw__language.decode(&(tw_value){ .kind = TW_VALUE_TUPLE, .list = { items, 3 } });
}

static bool is_code(const tw_value *config, const char *name, const char *type)
{
    const tw_value *value = tw__value_get(config, name);
    const char *said = tw__value_text(config, type),
               *class = value && value->kind == TW_VALUE_DICT ? tw__value_text(value, "class_name") : NULL;
    return (said && strcmp(said, "lambda") == 0) || (class && strcmp(class, "__lambda__") == 0);
}

static void *lambda_from_config(const tw_value *config)
{
    static const char *const told[] = { "function_type", "module", "output_shape_type", "output_shape_module", "arguments" };
    const tw_value *function = tw__value_get(config, "function"), *arguments = tw__value_get(config, "arguments");
    const tw_value *inner = function && function->kind == TW_VALUE_DICT ? tw__value_get(function, "config") : NULL;
    bool code = is_code(config, "function", "function_type");
    if (is_code(config, "output_shape", "output_shape_type") || is_code(config, "mask", "mask_type")) {
        tw__safe_mode() ? tw__refuse_code("a Lambda layer with a Python `lambda` inside it", "Lambda layer")
                        : tw__fail(TW_UNIMPLEMENTED, "Lambda: `output_shape` and `mask` that are functions are not supported");
        return NULL;
    }
    if (arguments && arguments->kind == TW_VALUE_DICT && arguments->list.count && !code) {
        tw__fail(TW_UNIMPLEMENTED, "Lambda: `arguments` of functions that are no code are not supported");
        return NULL;
    }
    if (inner && code)
        function = tw__value_get(inner, "value");
    void *made = code ? lambda_decode(config, function ? function : config) : NULL;
    if (code && !made)
        return NULL;
    tw__dict dict = { 0 };
    for (int64_t i = 0; config->kind == TW_VALUE_DICT && i + 1 < config->list.count; i += 2) {
        const char *key = config->list.items[i].kind == TW_VALUE_STR ? config->list.items[i].s.data : "";
        bool skip = code && strcmp(key, "function") == 0;
        for (size_t k = 0; k < sizeof told / sizeof *told; k++)
            skip |= strcmp(key, told[k]) == 0;
        if (!skip)
            tw__dict_put(&dict, key, tw__value_copy(&config->list.items[i + 1]));
    }
    if (made)
        tw__dict_put(&dict, "function", (tw_value){ .kind = TW_VALUE_OBJECT, .object = made });
    tw__auto(tw_value_free) tw_value own = tw__dict_take(&dict);
    void *layer = own.kind == TW_VALUE_DICT ? tw__object_of_config(&tw__class_layers_lambda, &own) : NULL;
    return layer;
}

static const tw__layer_methods lambda_methods = { .supports_masking = true,
                                                  .call = lambda_call,
                                                  .output_shape = lambda_shape,
                                                  .own_config = "function output_shape ",
                                                  .config = lambda_config,
                                                  .from_config = lambda_from_config };

TW_CLASS(layers_lambda, "keras.layers.Lambda(function: named<activation>, output_shape: shape = None, **layer) -> layer",
         .parent = &tw__class_layer, .size = sizeof(tw_layer), .methods = &lambda_methods,
         .doc = "A function of a tensor as a layer.");
