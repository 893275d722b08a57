/* tf.Variable: a named handle on state, a trackable. Its value is read and written by ops, like everything else. */
#include "device/device.h"
#include "eager/eager.h"
#include "graph/graph.h"
#include "op/calls.h"
#include "rows.h"

static void variable_destroy(void *self)
{
    tw_variable *variable = self;
    if (variable->mirror)
        tw__mirror_hook.ended(variable);
    if (variable->resource && variable->resource->variable == variable)
        variable->resource->variable = NULL;
    tw_release(variable->handle);
    tw_release(variable->constraint);
    tw_release(variable->stands_for);
    tw__free(variable->name);
    tw__free(variable->slice_of);
    tw__free(variable->slice);
}

static void variable_visit(void *self, tw__visitor visitor, void *context)
{
    tw_variable *variable = self;
    if (variable->constraint)
        visitor(context, &variable->constraint->object);
    if (variable->stands_for)
        visitor(context, &variable->stands_for->trackable.object);
}

static void variable_clear(void *self)
{
    tw__set(&((tw_variable *)self)->constraint, NULL);
    tw__set(&((tw_variable *)self)->stands_for, NULL);
}

_Thread_local tw__variable_creation tw__variables_made;
tw__mirror_hooks tw__mirror_hook;

static tw_status note_creation(void)
{
    tw__variables_made.made++;
    if (!tw__variables_made.refused)
        return TW_OK;
    return tw__fail(
        TW_VALUE_ERROR,
        "tf.function only supports singleton tf.Variables created on the first call. Make sure the tf.Variable is only created "
        "once or created outside tf.function. See https://www.tensorflow.org/guide/function#creating_tfvariables for more "
        "information.");
}

tw_status tw__variable_hold(tw_variable *variable, tw__resource *resource, bool trainable)
{
    TW_NEED(resource);
    resource->trainable = variable->trainable = trainable;
    resource->variable = variable;
    variable->resource = resource;
    variable->handle = tw__tensor_of_object(TW_RESOURCE, resource);
    if (tw__devices_accelerated && variable->handle)
        variable->handle->device = tw__place_now(resource->dtype);
    tw_release(resource);
    if (!variable->handle) {
        variable->resource = NULL;
        return tw__error_status();
    }
    return TW_OK;
}

tw_variable *tw__variable_stand_in(tw_variable *variable)
{
    tw_variable *made = tw__object_new(&tw__class_variable);
    if (!made)
        return NULL;
    made->name = tw__strdup(variable->name);
    made->synchronization = variable->synchronization;
    made->aggregation = variable->aggregation;
    made->constraint = tw_retain(variable->constraint);
    made->stands_for = tw_retain(tw__variable_itself(variable));
    const tw__resource *of = variable->resource;
    tw__resource *resource = made->name ? tw__resource_new(of->dtype, &of->shape, of->name) : NULL;
    if (tw__variable_hold(made, resource, variable->trainable) == TW_OK)
        return made;
    tw_release(made);
    return NULL;
}

static tw_status check_shape(const tw_shape *whole, const tw_shape *initial)
{
    if (tw__shape_compatible(whole, initial))
        return TW_OK;
    tw__owned char *own = tw__shape_tuple(initial);
    return tw__fail(
        TW_VALUE_ERROR,
        "In this `tf.Variable` creation, the initial value's shape (%s) is not compatible with the explicitly supplied "
        "`shape` argument (%s).",
        own ? own : "", tw__shape_text(whole));
}

static tw_status hold_named(tw_variable *variable, tw_dtype dtype, const tw_shape *shape, const char *name, bool trainable)
{
    const char *usual = name && *name ? name : "Variable";
    variable->name = tw__format("%s:0", usual);
    return tw__variable_hold(variable, variable->name ? tw__resource_new(dtype, shape, usual) : NULL, trainable);
}

static tw_status setup_with(tw_variable *variable, tw_tensor *initial, const char *name, bool trainable, const tw_shape *shape)
{
    if (initial->node && initial->symbolic_value)
        initial = initial->symbolic_value;
    if (initial->node)
        return tw__fail(TW_VALUE_ERROR, "the initial value of variable %s is not known while a function is traced",
                        name && *name ? name : "Variable");
    const tw_shape *whole = shape && shape->rank >= 0 ? shape : &initial->shape;
    TW_TRY(check_shape(whole, &initial->shape));
    TW_TRY(hold_named(variable, initial->dtype, whole, name, trainable));
    TW_TRY(tw__resource_assign(variable->resource, initial));
    return tw__mirror_hook.made ? tw__mirror_hook.made(variable) : TW_OK;
}

/* The first value comes when the traced call runs: the graph assigns it where it was made. */
static tw_status setup_later(tw_variable *variable, tw_tensor *initial, const char *name, bool trainable, const tw_shape *shape)
{
    tw__variables_made.deferred++;
    const tw_shape *whole = shape && shape->rank >= 0 ? shape : &initial->shape;
    TW_TRY(check_shape(whole, &initial->shape));
    TW_TRY(hold_named(variable, initial->dtype, whole, name, trainable));
    if (tw__mirror_hook.made)
        TW_TRY(tw__mirror_hook.made(variable));
    tw_attr dtype = TW_A_TYPE("dtype", initial->dtype);
    const tw__mirror *mirror = variable->mirror;
    for (int k = 0; k < (mirror ? mirror->count : 1); k++) {
        int outputs = 0;
        tw_tensor *handle = mirror ? mirror->handles[k] : variable->handle;
        TW_TRY(tw__apply(&tw__op_AssignVariableOp, TW_IN(handle, initial), 2, &dtype, 1, NULL, &outputs));
    }
    return TW_OK;
}

/* Variables are never part of a graph: what a trace computed for their first value is computed now, if that can be done. */
static tw_status setup(tw_variable *variable, tw_tensor *initial, const char *name, bool trainable, const tw_shape *shape)
{
    if (tw__variables_made.watched)
        TW_TRY(note_creation());
    tw__graph *root = tw__graph_root(tw__tracing);
    if (root)
        return tw__variable_setup_in_graph(variable, root, initial, name, trainable, shape);
    if (!initial->node)
        return setup_with(variable, initial, name, trainable, shape);
    char *why = NULL;
    if (!tw__can_lift(initial, &why)) {
        tw_status status = tw__tracing && tw__variables_made.called ? setup_later(variable, initial, name, trainable, shape)
                                                                    : tw__fail(TW_VALUE_ERROR, "%s", why ? why : "");
        tw__free(why);
        return status;
    }
    tw_auto tw_tensor *value = tw__lift(initial);
    TW_NEED(value);
    return setup_with(variable, value, name, trainable, shape);
}

/* The place of a word in a list, "AUTO, NONE". The arguments are checked before. */
static uint8_t place_of(const char *word, const char *const *list)
{
    uint8_t place = 0;
    while (list[place + 1] && word && strcmp(word, list[place]) != 0)
        place++;
    return place;
}

static const char *const synchronizations[] = { "AUTO", "NONE", "ON_WRITE", "ON_READ", NULL };
static const char *const aggregations[] = { "NONE", "SUM", "MEAN", "ONLY_FIRST_REPLICA", NULL };

void tw__variable_keep_copies(tw_variable *variable, const char *synchronization, const char *aggregation)
{
    variable->synchronization = place_of(synchronization, synchronizations);
    variable->aggregation = place_of(aggregation, aggregations);
}

static tw_status variable_init(void *self, const void *given)
{
    const tw_variable_args *args = given;
    tw_variable *variable = self;
    tw__variable_keep_copies(variable, args->synchronization, args->aggregation);
    variable->constraint = tw_retain(args->constraint);
    if (args->variable_def.kind != TW_VALUE_NONE)
        return tw__fail(TW_VALUE_ERROR,
                        "The variable_def and initial_value args to `tf.Variable` are mutually exclusive, but got both.");
    if (!*tw__variable_scope())
        return setup(self, args->initial_value, args->name, args->trainable, &args->shape);
    tw__owned char *name = tw__format("%s%s", tw__variable_scope(), args->name && *args->name ? args->name : "Variable");
    TW_NEED(name);
    return setup(self, args->initial_value, name, args->trainable, &args->shape);
}

/* caching_device and import_scope change nothing where there is one device and no variable_def; validate_shape changes nothing in
 * TensorFlow either. */
TW_CLASS(
    variable,
    "Variable(initial_value: tensor<dtype>, trainable: bool = True, validate_shape: bool = True, caching_device: value = None, "
    "name: str = None, variable_def: value = None, dtype: dtype = None, import_scope: value = None, constraint: callable = None, "
    "synchronization: str {AUTO, NONE, ON_WRITE, ON_READ} = AUTO, aggregation: str {NONE, SUM, MEAN, ONLY_FIRST_REPLICA} = NONE, "
    "shape: shape = None)",
    .parent = &tw__trackable_class, .size = sizeof(tw_variable), .init = variable_init, .destroy = variable_destroy,
    .visit = variable_visit, .clear = variable_clear, .drop_config = true,
    .doc = "State that operations read and change.\n"
           "initial_value: the first value, or a function without arguments that gives it\n"
           "dtype: the dtype; None: that of the value\n"
           "shape: the shape; None in it for lengths that may change. None: that of the value\n"
           "caching_device: kept for old programs; it changes nothing\n"
           "variable_def: must be None where a value is given\n"
           "import_scope: kept for old programs; it changes nothing\n"
           "example: v = tf.Variable([1, 2])\n"
           "example: v.assign_add([10, 20]).numpy().tolist()  # [11, 22]");

tw_variable *tw__variable_new(tw_tensor *initial, const char *name, bool trainable, const tw_shape *shape)
{
    if (!initial)
        return NULL;
    tw_variable *variable = tw__object_new(&tw__class_variable);
    if (variable && setup(variable, initial, name, trainable, shape) != TW_OK) {
        tw_release(variable);
        return NULL;
    }
    return variable;
}

_Thread_local tw_dtype tw__autocast;

static tw_tensor *read_as_it_is(tw_variable *variable)
{
    if (__builtin_expect(variable->mirror != NULL, 0))
        return tw__mirror_hook.read(variable, false);
    tw_attr dtype = TW_A_TYPE("dtype", variable->resource->dtype);
    return tw__call(&tw__op_ReadVariableOp, &variable->handle, 1, &dtype, 1);
}

tw_tensor *tw__variable_read(tw_variable *variable)
{
    if (__builtin_expect(!variable->autocasts, 1))
        return read_as_it_is(variable);
    tw_tensor *value = read_as_it_is(variable);
    return value ? tw__variable_cast(variable, value) : NULL;
}

tw_dtype tw__variable_read_dtype(const tw_variable *variable)
{
    return variable->autocasts && tw__dtype_is_float(tw__autocast) ? tw__autocast : variable->resource->dtype;
}

tw_tensor *tw__variable_cast(const tw_variable *variable, tw_tensor *value)
{
    tw_dtype wanted = tw__variable_read_dtype(variable);
    if (wanted == value->dtype)
        return value;
    tw_attr target = TW_A_TYPE("DstT", wanted);
    tw_auto tw_tensor *whole = value;
    return TW_CALL(Cast, whole, target);
}

TW_METHOD(variable_read, "Variable.read_value(self: variable) -> tensor", "The value now.")
{
    if (!tw__in_lasting()) {
        tw_tensor *here = tw__variable_read(args->self);
        if (!here || here->node || here->device == tw__device_place)
            return here;
        tw_tensor *brought = TW_CALL(Identity, here); /* to where the caller is */
        tw_release(here);
        return brought;
    }
    tw__part part = tw__part_begin(NULL, "Read");
    tw_auto tw_tensor *value = tw__variable_read(args->self);
    if (tw__part_end(&part) != TW_OK || !value)
        return NULL;
    return TW_CALL(Identity, value);
}

tw_tensor *tw__variable_value(tw_variable *variable)
{
    return variable->mirror ? tw__mirror_hook.read(variable, true) : tw__resource_read(variable->resource);
}

tw_status tw__variable_set(tw_variable *variable, tw_tensor *value)
{
    return variable->mirror ? tw__mirror_hook.set(variable, value) : tw__resource_assign(variable->resource, value);
}

tw_status tw__variable_update(tw_variable *variable, const tw_op *op, tw_tensor *value)
{
    if (variable->mirror)
        return tw__mirror_hook.update(variable, op, value);
    tw_attr dtype = TW_A_TYPE("dtype", variable->resource->dtype);
    int outputs = 0;
    return tw__apply(op, TW_IN(variable->handle, value), 2, &dtype, 1, NULL, &outputs);
}

tw_status tw__variable_apply(tw_variable *variable, const tw_op *op, tw_tensor *const *inputs, int input_count,
                             const tw_attr *attrs, int attr_count)
{
    const tw__mirror *mirror = tw__replica < 0 ? variable->mirror : NULL;
    tw_tensor *all[8] = { NULL };
    if (input_count > 8)
        return tw__fail(TW_INTERNAL, "%s: a change of a variable with %d inputs", op->name, input_count);
    for (int i = 1; i < input_count; i++)
        all[i] = inputs[i];
    for (int k = 0; k < (mirror ? mirror->count : 1); k++) {
        int outputs = 0;
        all[0] = mirror ? mirror->handles[k] : variable->handle;
        TW_TRY(tw__apply(op, all, input_count, attrs, attr_count, NULL, &outputs));
    }
    return TW_OK;
}

tw_status tw__variable_constrain(tw_variable *variable)
{
    if (!variable->constraint)
        return TW_OK;
    tw_auto tw_tensor *value = tw__variable_read(variable);
    tw_auto tw_tensor *changed = value ? variable->constraint->call(variable->constraint, value) : NULL;
    tw_attr dtype = TW_A_TYPE("dtype", variable->resource->dtype);
    int outputs = 0;
    return changed ? tw__apply(&tw__op_AssignVariableOp, TW_IN(variable->handle, changed), 2, &dtype, 1, NULL, &outputs)
                   : tw__error_status();
}

static tw_variable *update(tw_variable *variable, const tw_op *op, tw_tensor *value)
{
    const tw_shape *shape = &variable->resource->shape;
    if (!op->sums && !tw__shape_compatible(shape, &value->shape)) {
        tw__owned char *own = tw__shape_tuple(shape), *other = tw__shape_tuple(&value->shape);
        tw__fail(
            TW_VALUE_ERROR,
            "Cannot assign value to variable ' %s': Shape mismatch.The variable shape %s, and the assigned value shape %s are incompatible.",
            variable->name, own ? own : "", other ? other : "");
        return NULL;
    }
    return tw__variable_update(variable, op, value) == TW_OK ? tw_retain(variable) : NULL;
}

TW_METHOD(
    variable_assign,
    "Variable.assign(self: variable, value: tensor<self>, use_locking: bool = False, name: str = None, read_value: bool = True) -> variable",
    "Sets the value.\n"
    "value: the new value\n"
    "read_value: False: give None instead of the variable\n"
    "returns: the variable")
{
    return update(args->self, &tw__op_AssignVariableOp, args->value);
}

TW_METHOD(
    variable_assign_add,
    "Variable.assign_add(self: variable, delta: tensor<self>, use_locking: bool = False, name: str = None, read_value: bool = True) -> variable",
    "Adds to the value.\n"
    "delta: what is added or subtracted\n"
    "read_value: False: give None instead of the variable\n"
    "returns: the variable")
{
    return update(args->self, &tw__op_AssignAddVariableOp, args->delta);
}

TW_METHOD(
    variable_assign_sub,
    "Variable.assign_sub(self: variable, delta: tensor<self>, use_locking: bool = False, name: str = None, read_value: bool = True) -> variable",
    "Subtracts from the value.\n"
    "delta: what is added or subtracted\n"
    "read_value: False: give None instead of the variable\n"
    "returns: the variable")
{
    return update(args->self, &tw__op_AssignSubVariableOp, args->delta);
}

TW_PROPERTY(variable_dtype, "Variable.dtype(self: variable) -> dtype", "The dtype of the value.")
{
    return args->self->resource->dtype;
}

TW_PROPERTY(variable_shape, "Variable.shape(self: variable) -> shape", "The shape of the value.")
{
    return args->self->resource->shape;
}

TW_PROPERTY(variable_name, "Variable.name(self: variable) -> str", "The name, with :0 behind it.")
{
    return tw__strdup(args->self->name);
}

TW_PROPERTY(variable_trainable, "Variable.trainable(self: variable) -> bool", "Whether tapes watch it by themselves.")
{
    return args->self->trainable;
}

TW_PROPERTY(variable_constraint, "Variable._constraint(self: variable) -> callable",
            "What optimizers send the value through after a change.")
{
    return tw_retain(args->self->constraint);
}

TW_PROPERTY(variable_synchronization, "Variable._synchronization(self: variable) -> str", "How copies are kept together.")
{
    return tw__strdup(synchronizations[args->self->synchronization]);
}

TW_PROPERTY(variable_aggregation, "Variable._aggregation(self: variable) -> str", "How updates are combined.")
{
    return tw__strdup(aggregations[args->self->aggregation]);
}

TW_METHOD(variable_allow_any_shape, "Variable._allow_any_shape(self: variable)",
          "From now on values of every shape can be assigned: in Python the argument shape=tf.TensorShape(None).")
{
    args->self->resource->shape = TW_UNKNOWN_SHAPE;
    return TW_OK;
}

TW_PROPERTY(variable_handle, "Variable.handle(self: variable) -> tensor", "The handle that ops take.")
{
    return tw_retain(args->self->handle);
}

TW_METHOD(variable_is_initialized, "Variable.is_initialized(self: variable, name: str = None) -> tensor",
          "Whether it has a value.")
{
    return tw__call(&tw__op_VarIsInitializedOp, &args->self->handle, 1, NULL, 0);
}

TW_METHOD(variable_sparse_read, "Variable.sparse_read(self: variable, indices: tensor, name: str = None) -> tensor",
          "The rows that the indices name.")
{
    tw_attr dtype = TW_A_TYPE("dtype", args->self->resource->dtype);
    tw_tensor *rows = tw__call(&tw__op_ResourceGather, TW_IN(args->self->handle, args->indices), 2, &dtype, 1);
    return rows ? tw__variable_cast(args->self, rows) : NULL;
}

TW_METHOD(variable_gather_nd, "Variable.gather_nd(self: variable, indices: tensor, name: str = None) -> tensor",
          "The elements or slices that the rows of the indices name.")
{
    tw_auto tw_tensor *value = tw__variable_read(args->self);
    return tw__call(&tw__op_GatherNd, TW_IN(value, args->indices), 2, NULL, 0);
}
