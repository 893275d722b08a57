/* Lambda: a function of a tensor, or of several, as a layer. Its config holds the function as code of the language that it is
 * written in, as Keras's does; in safe mode (safe_mode.h) such a config is refused. */
#include "base/language.h"
#include "keras/callable.h"
#include "keras/layers/layers.h"
#include "keras/safe_mode.h"

typedef tw_layers_lambda_args arguments;

static tw_callable *callable_of(const tw_value *value) /* borrowed; NULL: it is no function */
{
    return value->kind == TW_VALUE_OBJECT && tw__is(value->object, &tw__callable_class) ? value->object : NULL;
}

/* The function of the inputs, whatever they are, with `arguments`, and with `mask` and `training` if it takes them. */
static tw_status call_function(tw_layer *self, const tw_value *inputs, const tw_value *mask, int training, tw_value *result)
{
    const arguments *args = tw_object_config(self);
    if (!tw__is_callable(args->function) || !((const tw_callable *)args->function)->call_named) {
        if (inputs->kind != TW_VALUE_TENSOR)
            return tw__fail(TW_TYPE_ERROR, "Lambda \"%s\": its function takes one tensor", self->name);
        *result = tw__tensor_value(tw__activate(args->function, inputs->tensor));
        return result->kind == TW_VALUE_TENSOR ? TW_OK : tw__error_status();
    }
    tw__dict dict = { 0 };
    const tw_value *more = &args->arguments;
    for (int64_t i = 0; more->kind == TW_VALUE_DICT && i + 1 < more->list.count; i += 2) {
        if (more->list.items[i].kind == TW_VALUE_STR)
            tw__dict_put(&dict, more->list.items[i].s.data, tw__value_copy(&more->list.items[i + 1]));
    }
    /* these two only if it takes them: so says the `*` */
    if (mask->kind != TW_VALUE_NONE)
        tw__dict_put(&dict, "*mask", tw__value_copy(mask));
    if (training >= 0)
        tw__dict_put(&dict, "*training", (tw_value){ .kind = TW_VALUE_BOOL, .b = training });
    tw__auto(tw_value_free) tw_value named = tw__dict_take(&dict);
    tw_callable *function = (tw_callable *)(uintptr_t)args->function;
    return function->call_named(function, inputs, named.kind == TW_VALUE_DICT ? &named : NULL, result);
}

/* A structure of masks as that of the inputs; None where there is none. */
static tw_value masks_of(const tw_value *inputs)
{
    if (inputs->kind == TW_VALUE_TENSOR)
        return tw__tensor_value(tw_retain(tw__mask_of(inputs->tensor)));
    tw_value none = { .kind = TW_VALUE_NONE };
    bool list = inputs->kind == TW_VALUE_LIST || inputs->kind == TW_VALUE_TUPLE, any = false;
    tw_value *items = list ? tw__alloc_array((size_t)inputs->list.count + 1, sizeof *items) : NULL;
    if (!items)
        return none;
    for (int64_t i = 0; i < inputs->list.count; i++) {
        items[i] = masks_of(&inputs->list.items[i]);
        any |= items[i].kind != TW_VALUE_NONE;
    }
    tw_value masks = { .kind = TW_VALUE_LIST, .list = { items, inputs->list.count } };
    if (!any)
        tw_value_free(&masks);
    return any ? masks : none;
}

/* The output's mask: what `mask` gives, a function of inputs and masks or a tensor. Without one it has none, as in Keras. */
static tw_status set_mask(tw_layer *self, const tw_value *inputs, const tw_value *mask, const tw_value *result)
{
    const arguments *args = tw_object_config(self);
    tw_callable *function = callable_of(&args->mask);
    if (result->kind != TW_VALUE_TENSOR)
        return TW_OK;
    if (args->mask.kind == TW_VALUE_TENSOR)
        return tw__mask_set(result->tensor, args->mask.tensor);
    if (!function)
        return TW_OK;
    tw_value both[2] = { *inputs, *mask }, tuple = { .kind = TW_VALUE_TUPLE, .list = { both, 2 } };
    tw__auto(tw_value_free) tw_value made = { .kind = TW_VALUE_NONE };
    TW_TRY(function->call_named(function, &tuple, &TW_TEXT("*"), &made));
    return tw__mask_set(result->tensor, made.kind == TW_VALUE_TENSOR ? made.tensor : NULL);
}

static tw_value lambda_values(tw_layer *self, const tw_value *given, int training)
{
    tw_value result = { .kind = TW_VALUE_NONE };
    tw__auto(tw_value_free) tw_value found = given[1].kind == TW_VALUE_NONE ? masks_of(&given[0]) : tw__value_copy(&given[1]);
    if (call_function(self, &given[0], &found, training, &result) != TW_OK || set_mask(self, &given[0], &found, &result) != TW_OK)
        tw_value_free(&result);
    return result;
}

static tw_status lambda_shape(tw_layer *self, const tw_shape *input, tw_shape *output)
{
    const arguments *args = tw_object_config(self);
    const tw_shape *rest = &args->output_shape;
    tw_callable *function = callable_of(&args->output_shape_function);
    if (function) {
        tw__auto(tw_value_free) tw_value given = tw__shape_value(input), made = { .kind = TW_VALUE_NONE };
        TW_TRY(function->call_value(function, &given, &made));
        TW_TRY(tw__shape_of_value(&made, output));
        return output->rank >= 0 ? TW_OK : tw__fail(TW_VALUE_ERROR, "Lambda \"%s\": output_shape gave no shape", self->name);
    }
    if (rest->rank < 0)
        return tw__layer_run_on_zeros(self, input, output);
    if (rest->rank >= TW_MAX_RANK)
        return tw__fail(TW_VALUE_ERROR, "Lambda \"%s\": output_shape has too many dimensions", self->name);
    *output = (tw_shape){ .rank = rest->rank + 1, .dims = { input->rank > 0 ? input->dims[0] : -1 } };
    memcpy(output->dims + 1, rest->dims, (size_t)rest->rank * sizeof *output->dims);
    return TW_OK;
}

/* As Keras writes it: the function as code, which only its own language reads. */
static void put_function(tw__dict *dict, const char *key, tw_named named, const char *name)
{
    char type[40], module[40];
    snprintf(type, sizeof type, "%s_type", key);
    snprintf(module, sizeof module, "%s%s", strcmp(key, "function") == 0 ? "" : key,
             strcmp(key, "function") == 0 ? "module" : "_module");
    tw__auto(tw_value_free) tw_value both = { .kind = TW_VALUE_NONE };
    bool code = tw__named_is_object(named) && tw__is_callable(named) && tw__language.code;
    if (code && !tw__language.code((void *)(uintptr_t)named, &both)) {
        dict->failed = true;
    } else if (code && both.kind == TW_VALUE_TUPLE && both.list.count == 2) {
        tw__dict_put(dict, key, tw__value_copy(&both.list.items[0]));
        tw__dict_put_str(dict, type, "lambda");
        tw__dict_put(dict, module, tw__value_copy(&both.list.items[1]));
    } else {
        tw__dict_put_str(dict, key, tw__named_is_object(named) ? name : named);
        tw__dict_put_str(dict, type, "function");
        tw__dict_put_str(dict, module, "keras.activations");
    }
}

static void lambda_config(tw_layer *self, tw__dict *dict)
{
    const arguments *args = tw_object_config(self);
    tw_value none = { .kind = TW_VALUE_NONE };
    put_function(dict, "function", args->function, self->name);
    if (callable_of(&args->output_shape_function)) {
        put_function(dict, "output_shape", callable_of(&args->output_shape_function), self->name);
    } else {
        tw__dict_put(dict, "output_shape", args->output_shape.rank < 0 ? none : tw__shape_value(&args->output_shape));
        tw__dict_put_str(dict, "output_shape_type", "raw");
        tw__dict_put_str(dict, "output_shape_module", NULL);
    }
    if (callable_of(&args->mask))
        put_function(dict, "mask", callable_of(&args->mask), self->name);
    tw__dict empty = { 0 };
    tw__dict_put(dict, "arguments",
                 args->arguments.kind == TW_VALUE_DICT ? tw__value_copy(&args->arguments) : tw__dict_take(&empty));
}

/* A function of a config that is code: made by the language that wrote it, if that is allowed. */
static void *lambda_decode(const tw_value *config, const tw_value *function)
{
    const tw_value *module = tw__value_get(config, "module"), none = { .kind = TW_VALUE_NONE };
    if (tw__safe_mode()) {
        tw__refuse_code("a Lambda layer with a Python `lambda` inside it", "Lambda layer");
        return NULL;
    }
    if (!tw__language.decode) {
        tw__fail(TW_UNIMPLEMENTED, "Lambda: its function is code of Python, which only Python can run");
        return NULL;
    }
    tw_value items[3] = { *function, module ? *module : none, none }; /* `arguments` are the layer's */
    return tw__language.decode(&(tw_value){ .kind = TW_VALUE_TUPLE, .list = { items, 3 } });
}

static bool is_code(const tw_value *config, const char *name, const char *type)
{
    const tw_value *value = tw__value_get(config, name);
    const char *said = tw__value_text(config, type),
               *class = value && value->kind == TW_VALUE_DICT ? tw__value_text(value, "class_name") : NULL;
    return (said && strcmp(said, "lambda") == 0) || (class && strcmp(class, "__lambda__") == 0);
}

/* The code itself, of either form in which configs have it. */
static const tw_value *code_in(const tw_value *config, const char *name)
{
    const tw_value *function = tw__value_get(config, name);
    const tw_value *inner = function && function->kind == TW_VALUE_DICT ? tw__value_get(function, "config") : NULL;
    const tw_value *value = inner ? tw__value_get(inner, "value") : NULL;
    return value ? value : function ? function : config;
}

static void *lambda_from_config(const tw_value *config)
{
    static const char *const told[] = { "function_type",       "module",    "output_shape_type",
                                        "output_shape_module", "mask_type", "mask_module" };
    bool code = is_code(config, "function", "function_type");
    static const char *const others[] = { "output_shape", "mask" };
    void *other[2] = { 0 };
    for (int i = 0; i < 2; i++) {
        char type[24];
        snprintf(type, sizeof type, "%s_type", others[i]);
        if (is_code(config, others[i], type) && !(other[i] = lambda_decode(config, code_in(config, others[i])))) {
            tw_release(other[0]);
            return NULL;
        }
    }
    void *made = code ? lambda_decode(config, code_in(config, "function")) : NULL;
    if (code && !made) {
        tw_release(other[0]);
        tw_release(other[1]);
        return NULL;
    }
    tw__dict dict = { 0 };
    for (int64_t i = 0; config->kind == TW_VALUE_DICT && i + 1 < config->list.count; i += 2) {
        const char *key = config->list.items[i].kind == TW_VALUE_STR ? config->list.items[i].s.data : "";
        bool skip = (code && strcmp(key, "function") == 0) || (other[0] && strcmp(key, others[0]) == 0) ||
                    (other[1] && strcmp(key, others[1]) == 0);
        for (size_t k = 0; k < sizeof told / sizeof *told; k++)
            skip |= strcmp(key, told[k]) == 0;
        if (!skip)
            tw__dict_put(&dict, key, tw__value_copy(&config->list.items[i + 1]));
    }
    if (made)
        tw__dict_put(&dict, "function", (tw_value){ .kind = TW_VALUE_OBJECT, .object = made });
    for (int i = 0; i < 2; i++) {
        if (other[i])
            tw__dict_put(&dict, i ? "mask" : "output_shape_function", (tw_value){ .kind = TW_VALUE_OBJECT, .object = other[i] });
    }
    tw__auto(tw_value_free) tw_value own = tw__dict_take(&dict);
    void *layer = own.kind == TW_VALUE_DICT ? tw__object_of_config(&tw__class_layers_lambda, &own) : NULL;
    return layer;
}

static const tw__layer_methods lambda_methods = { .arguments = "inputs mask training",
                                                  .call_values = lambda_values,
                                                  .output_shape = lambda_shape,
                                                  .own_config = "function output_shape mask arguments output_shape_function ",
                                                  .config = lambda_config,
                                                  .from_config = lambda_from_config };

TW_CLASS(layers_lambda,
         "keras.layers.Lambda(function: named<activation>, output_shape: shape = None, mask: value = None since 0.2, "
         "arguments: value = None since 0.2, *, output_shape_function: value = None since 0.2, **layer) -> layer",
         .parent = &tw__class_layer, .size = sizeof(tw_layer), .methods = &lambda_methods,
         .doc = "A function of a tensor, or of several, as a layer.\n"
                "function: the function; its first argument is the input, and it may take `mask` and `training`\n"
                "output_shape: the shape of the output without the batch; None: running the function tells it\n"
                "mask: a mask, or a function of inputs and mask that gives one; None: the output has none\n"
                "arguments: a dict of further arguments of the function\n"
                "output_shape_function: a function of the input's shape that gives that of the output");
