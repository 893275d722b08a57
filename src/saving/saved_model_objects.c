/* What SavedModels are made of, as objects: see saved_model.h. Functions are built out of the file's library at their first call:
 * their last arguments are bound to the variables and constants that they captured. */
#include "api/tensor_spec.h"
#include "base/deep_lock.h"
#include "saving/saved_model.h"

/* ---- objects that hold others ---- */

static void object_destroy(void *self)
{
    tw_saved_object *object = self;
    tw__free(object->identifier);
    tw__free(object->metadata);
    tw__free(object->directory);
    tw_release(object->graph);
    tw_release(object->session);
    tw_value_free(&object->tags);
}

TW_CLASS(saved_object, "saved_model._UserObject()", .parent = &tw__trackable_class, .size = sizeof(tw_saved_object),
         .destroy = object_destroy, .drop_config = true,
         .doc = "An object that was loaded from a SavedModel; what it held is attributes.");

tw_saved_object *tw__saved_object_new(const char *identifier)
{
    tw_saved_object *object = tw__object_new(&tw__class_saved_object);
    if (object && !(object->identifier = tw__strdup(identifier))) {
        tw_release(object);
        return NULL;
    }
    return object;
}

TW_PROPERTY(saved_object_identifier, "saved_model._UserObject._identifier(self: saved_object) -> str",
            "What it was: its kind in the file.")
{
    return tw__strdup(args->self->identifier ? args->self->identifier : "_generic_user_object");
}

TW_PROPERTY(saved_object_directory, "saved_model._UserObject._directory(self: saved_object) -> str",
            "Where it was read from, or nothing.")
{
    return tw__strdup(args->self->directory ? args->self->directory : "");
}

TW_PROPERTY(saved_object_graph, "saved_model._UserObject._graph(self: saved_object) -> graph",
            "Of the root of a SavedModel of TensorFlow 1: its graph; else None.")
{
    return tw_retain(args->self->graph);
}

TW_PROPERTY(saved_object_session, "saved_model._UserObject._session(self: saved_object) -> session",
            "Of the root of a SavedModel of TensorFlow 1: the session that has its variables; else None.")
{
    return tw_retain(args->self->session);
}

TW_METHOD(saved_object_names, "saved_model._UserObject._names(self: saved_object) -> value", "The names of what it holds.")
{
    const tw_trackable *object = &args->self->trackable;
    tw_value *items = tw__alloc_array(object->child_count + 1, sizeof *items);
    if (!items)
        return (tw_value){ .kind = TW_VALUE_NONE };
    for (size_t i = 0; i < object->child_count; i++)
        items[i] = tw__value_str(object->children[i].name);
    return (tw_value){ .kind = TW_VALUE_LIST, .list = { items, (int64_t)object->child_count } };
}

TW_METHOD(saved_object_child, "saved_model._UserObject._child(self: saved_object, name: str) -> trackable",
          "What it holds under a name.")
{
    tw_trackable *child = tw__tracked(&args->self->trackable, args->name);
    if (!child)
        tw__fail(TW_ATTRIBUTE_ERROR, "'_UserObject' object has no attribute '%s'", args->name);
    return tw_retain(child);
}

/* ---- one trace ---- */

static void concrete_visit(void *self, tw__visitor visitor, void *context)
{
    tw_saved_concrete *concrete = self;
    for (size_t i = 0; concrete->bound && i < concrete->bound_count; i++) {
        if (concrete->bound[i])
            visitor(context, &concrete->bound[i]->object);
    }
}

void tw__saved_concrete_unbind(tw_saved_concrete *concrete)
{
    tw__owned tw_trackable **bound = concrete->bound;
    size_t count = concrete->bound_count;
    concrete->bound = NULL;
    concrete->bound_count = 0;
    for (size_t i = 0; bound && i < count; i++)
        tw_release(bound[i]);
}

static void concrete_clear(void *self)
{
    tw__saved_concrete_unbind(self);
}

static void concrete_destroy(void *self)
{
    tw_saved_concrete *concrete = self;
    tw__saved_concrete_unbind(concrete);
    tw_release(concrete->function);
    tw_release(concrete->library);
    tw_value_free(&concrete->inputs);
    tw_value_free(&concrete->outputs);
    for (size_t i = 0; i < concrete->keyword_count; i++)
        tw__free(concrete->keywords[i]);
    tw__free(concrete->keywords);
    tw__free(concrete->name);
}

TW_CLASS(saved_concrete, "saved_model._ConcreteFunction()", .parent = &tw__trackable_class, .size = sizeof(tw_saved_concrete),
         .destroy = concrete_destroy, .visit = concrete_visit, .clear = concrete_clear, .drop_config = true,
         .doc = "One trace of a function in a SavedModel.");

tw_saved_concrete *tw__saved_concrete_new(tw__function *function, tw_value inputs, tw_value outputs)
{
    tw_saved_concrete *concrete = tw__object_new(&tw__class_saved_concrete);
    if (!concrete) {
        tw_value_free(&inputs);
        tw_value_free(&outputs);
        return NULL;
    }
    concrete->function = tw_retain(function);
    concrete->inputs = inputs;
    concrete->outputs = outputs;
    concrete->positional = -1;
    return concrete;
}

tw_status tw__saved_concrete_keywords(tw_saved_concrete *concrete, const char *const *names, size_t count, int64_t positional)
{
    concrete->keywords = tw__alloc_array(count + 1, sizeof *concrete->keywords);
    concrete->positional = positional;
    for (size_t i = 0; concrete->keywords && i < count; i++) {
        TW_NEED(concrete->keywords[i] = tw__strdup(names[i]));
        concrete->keyword_count = i + 1;
    }
    return concrete->keywords ? TW_OK : TW_RESOURCE_EXHAUSTED;
}

/* What a capture is, of the object that it was: a variable's handle, or a tensor. Borrowed. */
static tw_tensor *capture_of(const tw_saved_concrete *concrete, size_t index)
{
    const tw_trackable *object = concrete->bound[index];
    if (tw__is(object, &tw__class_variable))
        return ((const tw_variable *)object)->handle;
    if (tw__is(object, &tw__class_saved_constant))
        return ((const tw_saved_constant *)object)->value;
    struct tw_lookup_table *table = (struct tw_lookup_table *)concrete->bound[index];
    if (tw__is(table, &tw__class_lookup_table) && !table->handle) { /* it could not be made: now it is told why */
        tw_tensor *handle = NULL;
        if (tw__saved_table_run(&table->trackable, "_create_resource", &handle) == TW_OK && handle)
            table->handle = tw_retain(handle);
        tw_release(handle);
        if (!table->handle && tw_error_code() != TW_OK)
            return NULL;
    }
    if (tw__is(table, &tw__class_lookup_table) && table->handle)
        return table->handle;
    tw__fail(TW_UNIMPLEMENTED,
             "function '%s' uses an object of a kind that is not supported (a dataset or the like) as its input %zu",
             concrete->name, index);
    return NULL;
}

/* The function takes its last inputs from what they are bound to from now on. */
static tw_status bind_captures(tw_saved_concrete *concrete, tw__function *function)
{
    int count = (int)concrete->bound_count, first = function->input_count - count;
    if (first < 0 || function->argument_count != function->input_count)
        return tw__fail(TW_DATA_LOSS, "function '%s' has %d inputs, but %d are bound", concrete->name, function->input_count,
                        count);
    tw_tensor **captures = tw__alloc_array((size_t)count + 1, sizeof *captures);
    TW_NEED(captures);
    for (int i = 0; i < count; i++) {
        tw_tensor *capture = capture_of(concrete, (size_t)i);
        const tw__node *input = function->inputs[first + i];
        if (capture && capture->dtype != input->out_dtypes[0]) {
            tw__fail(TW_DATA_LOSS, "function '%s': input '%s' is %s, but what is bound to it is %s", concrete->name, input->name,
                     tw_dtype_name(input->out_dtypes[0]), tw_dtype_name(capture->dtype));
            capture = NULL;
        }
        if (!capture) {
            while (i-- > 0)
                tw_release(captures[i]);
            tw__free(captures);
            return tw__error_status();
        }
        captures[i] = tw_retain(capture);
    }
    tw__free(function->captures);
    function->captures = captures;
    function->argument_count = first;
    return TW_OK;
}

tw__function *tw__saved_concrete_build(tw_saved_concrete *concrete)
{
    tw__function *built = __atomic_load_n(&concrete->function, __ATOMIC_ACQUIRE);
    if (built) /* who calls it many times from many threads need not wait for others who build theirs */
        return built;
    tw__deep_take(&tw__graphs_lock);
    tw_status status = TW_OK;
    if (!concrete->function) {
        tw__function *function = concrete->library ? tw__library_function(concrete->library, concrete->name) : NULL;
        /* Another object of the file may stand for the same function, bound alike. */
        status = function ? TW_OK : tw__error_status();
        if (function && function->argument_count == function->input_count && concrete->bound_count)
            status = bind_captures(concrete, function);
        if (status == TW_OK)
            __atomic_store_n(&concrete->function, tw_retain(function), __ATOMIC_RELEASE);
    }
    tw__deep_give(&tw__graphs_lock);
    return status == TW_OK ? concrete->function : NULL;
}

/* ---- a function with its traces ---- */

static void function_visit(void *self, tw__visitor visitor, void *context)
{
    tw_saved_function *function = self;
    for (size_t i = 0; i < function->concrete_count; i++)
        visitor(context, &function->concretes[i]->trackable.object);
}

static void function_clear(void *self)
{
    tw_saved_function *function = self;
    tw__owned tw_saved_concrete **concretes = function->concretes;
    size_t count = function->concrete_count;
    function->concretes = NULL;
    function->concrete_count = function->concrete_capacity = 0;
    for (size_t i = 0; i < count; i++)
        tw_release(concretes[i]);
}

static void function_destroy(void *self)
{
    function_clear(self);
    tw_value_free(&((tw_saved_function *)self)->specification);
}

TW_CLASS(saved_function, "saved_model._Function()", .parent = &tw__trackable_class, .size = sizeof(tw_saved_function),
         .destroy = function_destroy, .visit = function_visit, .clear = function_clear, .drop_config = true,
         .doc = "A function in a SavedModel: its traces, and how its arguments are bound.");

tw_saved_function *tw__saved_function_new(tw_value specification)
{
    tw_saved_function *function = tw__object_new(&tw__class_saved_function);
    if (function)
        function->specification = specification;
    else
        tw_value_free(&specification);
    return function;
}

tw_status tw__saved_function_add(tw_saved_function *function, tw_saved_concrete *concrete)
{
    TW_TRY(TW_GROW(function->concretes, function->concrete_capacity, function->concrete_count + 1));
    function->concretes[function->concrete_count++] = tw_retain(concrete);
    return TW_OK;
}

TW_PROPERTY(saved_function_specification, "saved_model._Function._specification(self: saved_function) -> value",
            "The parameters as inspect.getfullargspec gives them, and the input signature.")
{
    return tw__value_copy(&args->self->specification);
}

TW_METHOD(saved_function_specify, "saved_model._Function._specify(self: saved_function, specification: value)",
          "Says how its arguments are bound.")
{
    tw_value_free(&args->self->specification);
    args->self->specification = tw__value_copy(&args->specification);
    return TW_OK;
}

TW_METHOD(saved_function_add, "saved_model._Function._add(self: saved_function, concrete: saved_concrete)", "One more trace.")
{
    return tw__saved_function_add(args->self, args->concrete);
}

TW_PROPERTY(saved_function_traces, "saved_model._Function._traces(self: saved_function) -> list<saved_concrete>", "The traces.")
{
    tw_saved_function *self = args->self;
    void **items = tw__alloc_array(self->concrete_count + 1, sizeof *items);
    for (size_t i = 0; items && i < self->concrete_count; i++)
        items[i] = tw_retain(self->concretes[i]);
    return (tw_objects){ items, items ? (int64_t)self->concrete_count : 0 };
}

TW_PROPERTY(saved_concrete_inputs, "saved_model._ConcreteFunction._inputs(self: saved_concrete) -> value",
            "((positional arguments), {keyword arguments}), tensors as their specs.")
{
    return tw__value_copy(&args->self->inputs);
}

TW_PROPERTY(saved_concrete_outputs, "saved_model._ConcreteFunction._outputs(self: saved_concrete) -> value",
            "The results, tensors as their specs.")
{
    return tw__value_copy(&args->self->outputs);
}

TW_PROPERTY(saved_concrete_name, "saved_model._ConcreteFunction._name(self: saved_concrete) -> str",
            "The function's name in the file.")
{
    return tw__strdup(args->self->name ? args->self->name : args->self->function ? args->self->function->name : "");
}

TW_PROPERTY(saved_concrete_keywords, "saved_model._ConcreteFunction._keywords(self: saved_concrete) -> value",
            "The names of its arguments.")
{
    const tw_saved_concrete *self = args->self;
    tw_value *items = tw__alloc_array(self->keyword_count + 1, sizeof *items);
    for (size_t i = 0; items && i < self->keyword_count; i++)
        items[i] = tw__value_str(self->keywords[i]);
    return items ? (tw_value){ .kind = TW_VALUE_LIST, .list = { items, (int64_t)self->keyword_count } }
                 : (tw_value){ .kind = TW_VALUE_NONE };
}
