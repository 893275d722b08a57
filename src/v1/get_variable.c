/* tf.compat.v1.get_variable: the variable of a name, made or shared, and the lists of a graph's variables.
 *
 * The name of a variable depends on the variable scope alone; its first value is made in the name scope "NAME/Initializer/",
 * outside of functions, branches and control dependencies. A regularizer is called when the variable is made; its loss is kept
 * with the graph. In eager execution nothing is shared: every call makes a variable. */
#include "keras/initializers/initializers.h"
#include "session/session.h"
#include "v1/v1.h"
#include "v1/variable_scope.h"

/* ---- first values ---- */

static tw_initializer *usual_initializer(const char *name, tw_dtype dtype)
{
    if (tw__dtype_is_float(dtype))
        return (tw_initializer *)tw_v1_glorot_uniform_initializer();
    if (tw__dtype_is_integer(dtype) || dtype == TW_BOOL || dtype == TW_STRING)
        return (tw_initializer *)tw_v1_zeros_initializer();
    tw__fail(TW_VALUE_ERROR, "An initializer for variable %s of <dtype: '%s'> is required", name, tw_dtype_name(dtype));
    return NULL;
}

/* Values of the initializer, made in the variable's scope. */
static tw_tensor *initial_values(tw_initializer *initializer, const char *name, const tw_shape *shape, tw_dtype dtype)
{
    if (!tw__shape_known(shape) && !initializer->foreign_make) {
        tw__fail(
            TW_VALUE_ERROR,
            "The initializer passed is not valid. It should be a callable with no arguments and the shape should not be provided "
            "or an instance of `tf.keras.initializers.*' and `shape` should be fully defined.");
        return NULL;
    }
    tw__part part = tw__first_value_begin(name);
    tw_tensor *values = tw__initializer_make(initializer, shape, dtype);
    if (tw__first_value_end(&part) != TW_OK) {
        tw_release(values);
        return NULL;
    }
    if (values && tw__shape_known(shape) && values->dtype != dtype) {
        tw__fail(TW_VALUE_ERROR, "Tensor conversion requested dtype %s for Tensor with dtype %s: the initializer of variable %s",
                 tw_dtype_name(dtype), tw_dtype_name(values->dtype), name);
        tw_release(values);
        return NULL;
    }
    return values;
}

static tw_tensor *first_value(const char *name, const tw_shape *shape, tw_dtype dtype, tw_object *given)
{
    if (given && tw__is(given, &tw__tensor_class)) {
        if (shape->rank >= 0) {
            tw__fail(TW_VALUE_ERROR, "If initializer is a constant, do not specify shape.");
            return NULL;
        }
        return (tw_tensor *)tw_retain(given);
    }
    tw_auto tw_initializer *initializer = given ? tw_retain((tw_initializer *)given) : usual_initializer(name, dtype);
    return initializer ? initial_values(initializer, name, shape, dtype) : NULL;
}

/* ---- making ---- */

/* The names of collections as the thread's next variables take them; ends in NULL, for tw__free. The texts are borrowed from
 * `names`. */
static const char **collections_of(const tw_value *names, bool trainable, char **texts)
{
    static const char own[] = "variables", trained[] = "trainable_variables";
    bool listed = names->kind == TW_VALUE_LIST || names->kind == TW_VALUE_TUPLE, has_trained = false;
    size_t count = listed ? (size_t)names->list.count : 0, at = 0, size = 0;
    for (size_t i = 0; i < count; i++)
        size += names->list.items[i].kind == TW_VALUE_STR ? names->list.items[i].s.size + 1 : 0;
    const char **out = tw__alloc_array(count + 3, sizeof *out);
    char *text = *texts = tw__alloc(size + 1);
    if (!out || !text) {
        tw__free(out);
        return NULL;
    }
    for (size_t i = 0; i < count; i++) {
        const tw_value *name = &names->list.items[i];
        if (name->kind != TW_VALUE_STR)
            continue;
        memcpy(text, name->s.data, name->s.size);
        text[name->s.size] = 0;
        has_trained |= strcmp(text, trained) == 0;
        out[at++] = text;
        text += name->s.size + 1;
    }
    if (!listed)
        out[at++] = own;
    if (trainable && !has_trained)
        out[at++] = trained;
    out[at] = NULL;
    return out;
}

static tw_variable *make(const char *name, const tw_get_variable_args *args, const tw_shape *shape, tw_dtype dtype,
                         tw_object *initializer)
{
    tw__outside outside = tw__root_begin();
    tw__graph *graph = tw__tracing;
    bool rooted = tw__scope_push(NULL) == TW_OK;
    bool free_of_controls = rooted && graph && tw__control_push(graph, NULL, 0, true) == TW_OK;
    tw_auto tw_tensor *initial = rooted ? first_value(name, shape, dtype, initializer) : NULL;
    tw__owned char *texts = NULL;
    tw__owned const char **names = initial ? collections_of(&args->collections, args->trainable, &texts) : NULL;
    const char *const *before = tw__variable_collections;
    tw__variable_collections = names;
    tw_variable *variable = names ? tw__variable_new(initial, name, args->trainable, NULL) : NULL;
    tw__variable_collections = before;
    if (free_of_controls)
        tw__control_pop(graph);
    if (rooted)
        tw__scope_pop();
    tw__outside_end(outside);
    if (variable && !args->validate_shape) /* values of every shape may be assigned */
        variable->resource->shape = TW_UNKNOWN_SHAPE;
    return variable;
}

/* TensorFlow calls the regularizer once to see whether it gives something, and again, in a scope of its own, for the loss. */
static tw_status regularize(tw__variable_store *store, tw_variable *variable, const char *name, tw_callable *regularizer)
{
    for (int pass = 0; pass < 2; pass++) {
        tw__owned char *scope = pass ? tw__format("%s/Regularizer/", name) : tw__strdup("");
        TW_NEED(scope);
        TW_TRY(tw__scope_push(*scope ? scope : NULL));
        tw_auto tw_tensor *value = tw__variable_read(variable);
        tw_auto tw_tensor *loss = value ? regularizer->call(regularizer, value) : NULL;
        tw__scope_pop();
        TW_NEED(loss);
        if (pass && loss->node)
            TW_TRY(tw__v1_keep(store, "regularization_losses", loss));
    }
    return TW_OK;
}

/* ---- sharing ---- */

static tw_status check_shared(const tw_variable *variable, const char *name, const tw_shape *shape, tw_dtype dtype)
{
    const tw_shape *own = &variable->resource->shape;
    if (!tw__shape_compatible(shape, own)) {
        tw__owned char *asked = tw__shape_tuple(shape), *found = tw__shape_tuple(own);
        tw__fail(TW_VALUE_ERROR, "Trying to share variable %s, but specified shape %s and found shape %s.", name,
                 asked ? asked : "", found ? found : "");
        return TW_VALUE_ERROR;
    }
    if (dtype != variable->resource->dtype)
        return tw__fail(TW_VALUE_ERROR, "Trying to share variable %s, but specified dtype %s and found dtype %s.", name,
                        tw_dtype_name(dtype), tw_dtype_name(variable->resource->dtype));
    return TW_OK;
}

/* What an explicit dtype and a constant that it contradicts give. In a graph TensorFlow makes a node of the constant to find out.
 */
static tw_status check_dtype(const tw_get_variable_args *args)
{
    tw_tensor *value = args->initializer && tw__is(args->initializer, &tw__tensor_class) ? (void *)args->initializer : NULL;
    if (!value || args->dtype == TW_DTYPE_NONE)
        return TW_OK;
    if (tw__tracing && !value->node) {
        TW_TRY(tw__scope_push(NULL));
        tw_auto tw_tensor *constant = tw__graph_constant(tw__tracing, value, NULL);
        tw__scope_pop();
        TW_NEED(constant);
    }
    if (value->dtype != args->dtype)
        return tw__fail(TW_VALUE_ERROR, "Initializer type '<dtype: '%s'>' and explicit dtype '<dtype: '%s'>' don't match.",
                        tw_dtype_name(value->dtype), tw_dtype_name(args->dtype));
    return TW_OK;
}

static tw_variable *get(tw__variable_store *store, const struct tw_variable_scope *scope, const tw_get_variable_args *args,
                        const char *name)
{
    bool eager = !tw__tracing;
    tw__reuse reuse = eager ? TW__REUSE_NO : tw__reuse_of(args->reuse, scope->reuse);
    tw_dtype dtype = args->dtype == TW_DTYPE_NONE ? scope->dtype : args->dtype;
    tw_object *initializer = args->initializer ? args->initializer : scope->initializer;
    tw_variable *shared = eager ? NULL : tw__map_get(&store->variables, name, strlen(name));
    if (shared && reuse == TW__REUSE_NO) {
        tw__fail(TW_VALUE_ERROR,
                 "Variable %s already exists, disallowed. Did you mean to set reuse=True or reuse=tf.AUTO_REUSE in VarScope?",
                 name);
        return NULL;
    }
    if (shared)
        return check_shared(shared, name, &args->shape, dtype) == TW_OK ? tw_retain(shared) : NULL;
    if (reuse == TW__REUSE_YES) {
        tw__fail(
            TW_VALUE_ERROR,
            "Variable %s does not exist, or was not created with tf.get_variable(). Did you mean to set reuse=tf.AUTO_REUSE in "
            "VarScope?",
            name);
        return NULL;
    }
    if (!initializer && args->shape.rank < 0) {
        tw__fail(TW_VALUE_ERROR, "Variable %s did not get an initializer, so its `shape` argument must be specified.", name);
        return NULL;
    }
    tw_variable *variable = make(name, args, &args->shape, dtype, initializer);
    if (!variable)
        return NULL;
    tw__set(&variable->constraint, args->constraint ? args->constraint : scope->constraint);
    tw_callable *regularizer = args->regularizer ? args->regularizer : scope->regularizer;
    if (regularizer && regularize(store, variable, name, regularizer) != TW_OK) {
        tw_release(variable);
        return NULL;
    }
    if (!eager && tw__map_put(&store->variables, name, strlen(name), variable) == TW_OK)
        return tw_retain(variable);
    if (eager)
        return variable;
    tw_release(variable);
    return NULL;
}

TW_API(
    get_variable,
    "compat.v1._get_variable(name: str, shape: shape = None, dtype: dtype = None, initializer: object = None, regularizer: callable = None, "
    "trainable: bool = True, collections: value = None, validate_shape: bool = True, constraint: callable = None, "
    "reuse: str {inherit, no, yes, auto} = inherit, whole_name: bool = False) -> variable",
    "The variable of that name in the present variable scope, made or, where the scope or `reuse` says so, shared. The initializer is one, or a "
    "tensor; `collections` are names. With whole_name the name is not put behind the scope's.")
{
    tw__variable_store *store = tw__variable_store_now();
    const struct tw_variable_scope *scope = store ? tw__variable_scope_now() : NULL;
    if (!scope || check_dtype(args) != TW_OK)
        return NULL;
    if (args->initializer && !tw__is(args->initializer, &tw__tensor_class) &&
        !tw__is(args->initializer, &tw__class_initializer)) {
        tw__fail(TW_TYPE_ERROR, "get_variable: the initializer is a %s; expected an initializer or a tensor",
                 tw_class_name(args->initializer));
        return NULL;
    }
    tw__owned char *whole =
        *scope->name && !args->whole_name ? tw__format("%s/%s", scope->name, args->name) : tw__strdup(args->name);
    tw_variable *variable = whole ? get(store, scope, args, whole) : NULL;
    return variable;
}

/* ---- lists of variables ---- */

/* A scope of plain characters is a prefix; any other is a regular expression that the beginning of a name matches. */
static tw_status matches(const char *scope, const tw_variable *variable, bool *out)
{
    *out = strncmp(variable->name, scope, strlen(scope)) == 0;
    if (!strpbrk(scope, ".^$*+?{}[]\\|()"))
        return TW_OK;
    tw__outside outside = tw__outside_begin();
    tw__owned char *pattern = tw__format("(?s)(?:%s).*", scope);
    tw_auto tw_tensor *name = tw_tensor_string(variable->name, strlen(variable->name));
    tw_auto tw_tensor *expression = pattern ? tw_tensor_string(pattern, strlen(pattern)) : NULL;
    tw_auto tw_tensor *found = name && expression ? tw_strings_regex_full_match(name, expression) : NULL;
    *out = found && *(const bool *)found->data;
    tw__outside_end(outside);
    return found ? TW_OK : tw__error_status();
}

static tw_objects collected(const char *collection, const char *scope)
{
    tw__graph *graph = tw__graph_root(tw__tracing);
    const tw__collection *c = graph ? tw__graph_collection(graph, collection) : NULL;
    size_t count = c ? c->count : 0;
    void **items = tw__alloc_array(count + 1, sizeof *items);
    tw_objects list = { items, 0 };
    for (size_t i = 0; items && i < count; i++) {
        bool wanted = true;
        if (scope && *scope && matches(scope, (const tw_variable *)c->items[i], &wanted) != TW_OK) {
            tw_objects_free(&list);
            return (tw_objects){ 0 };
        }
        if (wanted)
            items[list.count++] = tw_retain(c->items[i]);
    }
    return list;
}

TW_API(global_variables, "compat.v1.global_variables(scope: str = None) -> list<variable>",
       "The graph's variables, those of the scope if one is given.")
{
    return collected("variables", args->scope);
}

TW_API(local_variables, "compat.v1.local_variables(scope: str = None) -> list<variable>", "The variables of this process alone.")
{
    return collected("local_variables", args->scope);
}

TW_API(model_variables, "compat.v1.model_variables(scope: str = None) -> list<variable>", "The variables of models.")
{
    return collected("model_variables", args->scope);
}

TW_API(moving_average_variables, "compat.v1.moving_average_variables(scope: str = None) -> list<variable>",
       "The variables that are averaged.")
{
    return collected("moving_average_variables", args->scope);
}

TW_API(trainable_variables, "compat.v1.trainable_variables(scope: str = None) -> list<variable>",
       "The variables that optimizers change.")
{
    return collected("trainable_variables", args->scope);
}

static struct tw_operation *initializer_of(const char *collection)
{
    if (!tw__tracing) /* in eager execution variables have their values when they are made */
        return NULL;
    tw__auto(tw_objects_free) tw_objects list = collected(collection, NULL);
    return list.items ? tw_variables_initializer(list) : NULL;
}

TW_API(global_variables_initializer, "compat.v1.global_variables_initializer|compat.v1.initialize_all_variables() -> operation",
       "An operation that gives all global variables their first values.")
{
    return initializer_of("variables");
}

TW_API(local_variables_initializer, "compat.v1.local_variables_initializer|compat.v1.initialize_local_variables() -> operation",
       "An operation that gives all local variables their first values.")
{
    return initializer_of("local_variables");
}
