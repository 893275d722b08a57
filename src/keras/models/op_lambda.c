/* Functions of the library as layers of a model: what is left of tf.nn.relu(x) or x + 1 where x is a Keras tensor. The layer is
 * named after the function, tf.nn.relu, and calls it with whatever it was called with. Indexing has a class of its own, as in
 * Keras. */
#include "api/args_values.h"
#include "keras/models/functional.h"
#include "keras/safe_mode.h"
#include "op/guard.h"

typedef struct op_lambda {
    tw_layer layer;
    const tw_signature *function;
    char *path;
    char *guard; /* of a config that nobody said to trust: where it was read (op/guard.h); or NULL */
} op_lambda;

/* Operators by Keras's names. */
static const struct {
    const char *name, *path;
} operators[] = {
    { "__operators__.add", "math.add" }, { "__operators__.eq", "math.equal" },       { "__operators__.ne", "math.not_equal" },
    { "math.truediv", "math.divide" },   { "compat.v1.floor_div", "math.floordiv" },
};

static const tw_signature *find_function(const char *path)
{
    for (size_t i = 0; i < sizeof operators / sizeof *operators; i++) {
        if (strcmp(path, operators[i].name) == 0)
            path = operators[i].path;
    }
    const tw_signature *found = tw_signature_find(path);
    return found && found->role == TW_ROLE_FUNCTION ? found : NULL;
}

/* tf.nn.relu, the next one tf.nn.relu_1. */
static tw_status name_after(tw_layer *layer, const char *path)
{
    char *base = tw__format("tf.%s", path);
    int64_t uid = base ? tw_backend_get_uid(.prefix = base) : 0;
    char *name = !base ? NULL : uid > 1 ? tw__format("%s_%lld", base, (long long)(uid - 1)) : tw__strdup(base);
    tw__free(base);
    if (!name)
        return TW_RESOURCE_EXHAUSTED;
    tw__free(layer->name);
    layer->name = name;
    return TW_OK;
}

static tw_status op_init(void *self, const void *given)
{
    op_lambda *layer = self;
    const tw_op_lambda_args *args = given;
    bool slicing = tw__is(self, &tw__class_slicing_op_lambda);
    layer->path = tw__strdup(args->function);
    layer->function = slicing ? NULL : find_function(args->function);
    layer->layer.built = true;
    if (!layer->path)
        return TW_RESOURCE_EXHAUSTED;
    if (!layer->function && !slicing)
        return tw__fail(TW_VALUE_ERROR, "TFOpLambda: there is no function tf.%s", args->function);
    return args->name ? TW_OK : name_after(&layer->layer, args->function);
}

static void op_destroy(void *self)
{
    tw__free(((op_lambda *)self)->path);
    tw__free(((op_lambda *)self)->guard);
}

static tw_value op_config(tw_layer *self)
{
    tw__dict dict = { 0 };
    tw__dict_put_str(&dict, "name", self->name);
    tw__dict_put(&dict, "trainable", (tw_value){ .kind = TW_VALUE_BOOL, .b = self->trainable });
    tw__dict_put_str(&dict, "dtype", tw_dtype_name(self->dtype));
    tw__dict_put_str(&dict, "function", ((op_lambda *)self)->path);
    return tw__dict_take(&dict);
}

static tw_status op_invoke(tw_layer *self, const tw_value *arguments, const tw_value *named, int training, tw_value *result)
{
    (void)training;
    const tw_signature *function = ((op_lambda *)self)->function;
    TW_TRY(tw__layer_begin(self));
    tw__outside outside = tw__root_begin(); /* numbers are values, not nodes: shapes that they say are known */
    void *args = tw__args_of_values(function, arguments, named, NULL);
    tw__outside_end(outside);
    const char *before = tw__guard_calling;
    tw__guard_calling = ((op_lambda *)self)->guard;
    tw_status status = args ? tw_signature_invoke(function, args, result) : tw__error_status();
    tw__guard_calling = before;
    tw__args_free(function, args);
    tw__layer_end(self);
    return status;
}

/* Functions of tensors, which have no business with files but by ops, and those are guarded. */
static bool is_harmless(const tw_signature *function, const char *path)
{
    static const char *const others[] = { "io.gfile.", "saved_model.", "train.",  "keras.",    "summary.",
                                          "data.",     "profiler.",    "config.", "debugging." };
    tw_kind kind = function->result;
    bool harmless = kind == TW_KIND_TENSOR || kind == TW_KIND_TENSORS || kind == TW_KIND_HANDLE || kind == TW_KIND_VALUE ||
                    kind == TW_KIND_HANDLES;
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        harmless = harmless && strncmp(path, others[i], strlen(others[i])) != 0;
    return harmless && (path[0] != '_' || strncmp(path, "__operators__.", 14) == 0) && !strstr(path, "._");
}

static void *op_from_config(const tw_value *config)
{
    op_lambda *made = tw__object_of_config(&tw__class_op_lambda, config);
    if (!made || !tw__safe_mode())
        return made;
    bool harmless = is_harmless(made->function, made->path);
    made->guard = harmless ? tw__guard_path(tw__guard_loading ? tw__guard_loading : "of a config") : NULL;
    if (made->guard)
        return made;
    if (!harmless)
        tw__refuse_code("a layer that calls a function of the library which is no function of tensors", "such code");
    tw_release(made);
    return NULL;
}

static const tw__layer_methods op_methods = {
    .invoke = op_invoke, .whole_config = op_config, .any_dtype = true, .from_config = op_from_config
};

TW_CLASS(
    op_lambda,
    "keras.src.layers.core.tf_op_layer.TFOpLambda(function: str, name: str = None, trainable: bool = True, dtype: dtype = None) -> layer",
    .parent = &tw__class_layer, .size = sizeof(op_lambda), .init = op_init, .destroy = op_destroy, .methods = &op_methods,
    .drop_config = true,
    .doc = "A function of the library as a layer.\n"
           "function: the path of the function");

/* ---- indexing ---- */

typedef struct slices {
    int64_t begin[TW_MAX_RANK], end[TW_MAX_RANK], strides[TW_MAX_RANK];
    int64_t begin_mask, end_mask, ellipsis_mask, new_axis_mask, shrink_mask;
    int32_t count;
} slices;

static tw_status bound(const tw_value *value, int64_t otherwise, int64_t *number, int64_t *mask, int bit)
{
    *number = otherwise;
    if (!value || value->kind == TW_VALUE_NONE)
        *mask |= (int64_t)1 << bit;
    else if (value->kind == TW_VALUE_INT)
        *number = value->i;
    else
        return tw__fail(TW_UNIMPLEMENTED, "SlicingOpLambda: only integers can be bounds of slices of Keras tensors");
    return TW_OK;
}

static tw_status add_slice(slices *s, const tw_value *item)
{
    int at = s->count;
    if (at == TW_MAX_RANK)
        return tw__fail(TW_VALUE_ERROR, "SlicingOpLambda: more than %d indices", TW_MAX_RANK);
    s->count++;
    s->strides[at] = 1;
    if (item->kind == TW_VALUE_DICT) {
        int64_t unused = 0;
        TW_TRY(bound(tw__value_get(item, "start"), 0, &s->begin[at], &s->begin_mask, at));
        TW_TRY(bound(tw__value_get(item, "stop"), 0, &s->end[at], &s->end_mask, at));
        return bound(tw__value_get(item, "step"), 1, &s->strides[at], &unused, at);
    }
    if (item->kind == TW_VALUE_INT) {
        s->begin[at] = item->i;
        s->end[at] = item->i + 1;
        s->shrink_mask |= (int64_t)1 << at;
        return TW_OK;
    }
    if (item->kind == TW_VALUE_STR && strcmp(item->s.data, "...") == 0) {
        s->ellipsis_mask |= (int64_t)1 << at;
        return TW_OK;
    }
    if (item->kind == TW_VALUE_NONE) {
        s->new_axis_mask |= (int64_t)1 << at;
        return TW_OK;
    }
    return tw__fail(TW_UNIMPLEMENTED, "SlicingOpLambda: Keras tensors are indexed by integers, slices, None and ...");
}

static tw_status slicing_invoke(tw_layer *self, const tw_value *arguments, const tw_value *named, int training, tw_value *result)
{
    (void)training;
    const tw_value *spec = arguments->list.count > 1 ? &arguments->list.items[1]
                           : named                   ? tw__value_get(named, "slice_spec")
                                                     : NULL;
    if (!spec || !arguments->list.count || arguments->list.items[0].kind != TW_VALUE_TENSOR)
        return tw__fail(TW_VALUE_ERROR, "SlicingOpLambda \"%s\": a tensor and `slice_spec` are expected", self->name);
    slices s = { 0 };
    if (spec->kind == TW_VALUE_LIST || spec->kind == TW_VALUE_TUPLE) {
        for (int64_t i = 0; i < spec->list.count; i++)
            TW_TRY(add_slice(&s, &spec->list.items[i]));
    } else {
        TW_TRY(add_slice(&s, spec));
    }
    tw_shape shape = TW_SHAPE(s.count);
    tw_auto tw_tensor *begin = tw_tensor_new(TW_INT64, shape, s.begin), *end = tw_tensor_new(TW_INT64, shape, s.end),
                      *strides = tw_tensor_new(TW_INT64, shape, s.strides);
    if (!begin || !end || !strides)
        return tw__error_status();
    tw_attr attrs[] = { TW_A_INT("begin_mask", s.begin_mask), TW_A_INT("end_mask", s.end_mask),
                        TW_A_INT("ellipsis_mask", s.ellipsis_mask), TW_A_INT("new_axis_mask", s.new_axis_mask),
                        TW_A_INT("shrink_axis_mask", s.shrink_mask) };
    TW_TRY(tw__layer_begin(self));
    *result = tw__tensor_value(
        tw__call(&tw__op_StridedSlice, TW_IN(arguments->list.items[0].tensor, begin, end, strides), 4, attrs, 5));
    tw__layer_end(self);
    return result->kind == TW_VALUE_TENSOR ? TW_OK : tw__error_status();
}

static const tw__layer_methods slicing_methods = { .invoke = slicing_invoke, .whole_config = op_config, .any_dtype = true };

TW_CLASS(
    slicing_op_lambda,
    "keras.src.layers.core.tf_op_layer.SlicingOpLambda(function: str, name: str = None, trainable: bool = True, dtype: dtype = None) -> layer",
    .parent = &tw__class_op_lambda, .size = sizeof(op_lambda), .methods = &slicing_methods, .drop_config = true,
    .doc = "Indexing as a layer.\n"
           "function: the path of the function");

/* ---- for front ends ---- */

TW_API(call_keras_op, "keras.__internal__.call_op(function: str, arguments: value, named: value = None) -> value",
       "Makes a layer of a function, by its path, and calls it with arguments among which there are Keras tensors.\n"
       "function: the path of the function, without `tf.`\n"
       "arguments: a list of its arguments\n"
       "named: a dict of its named arguments")
{
    tw_value result = { .kind = TW_VALUE_NONE };
    bool slicing = strcmp(args->function, "__operators__.getitem") == 0;
    tw_op_lambda_args given = TW_ARGS(op_lambda, .function = args->function);
    tw_auto tw_layer *layer = tw_class_make(slicing ? &tw__class_slicing_op_lambda : &tw__class_op_lambda, &given);
    if (layer && args->arguments.kind != TW_VALUE_TUPLE && args->arguments.kind != TW_VALUE_LIST)
        tw__fail(TW_TYPE_ERROR, "call_op: the arguments must be a list");
    else if (layer)
        tw__layer_connect(layer, &args->arguments, args->named.kind == TW_VALUE_DICT ? &args->named : NULL, -1, &result);
    return result;
}
