/* Functions as initializers: what a program gives where an initializer is expected, called with the shape and the dtype. */
#include "api/composite.h"
#include "keras/callable.h"
#include "keras/initializers/initializers.h"
#include "keras/keras.h"

typedef struct function_initializer {
    tw_initializer initializer;
    tw_callable *function; /* a reference */
} function_initializer;

static tw_tensor *function_make(tw_initializer *self, const tw_shape *shape, tw_dtype dtype)
{
    tw_callable *function = ((function_initializer *)self)->function;
    tw_value pair[] = { TW_TEXT("dtype"), { .kind = TW_VALUE_DTYPE, .dtype = dtype } };
    tw_value named = { .kind = TW_VALUE_DICT, .list = { pair, 2 } };
    tw__auto(tw_value_free) tw_value sizes = tw__shape_value(shape), result = { .kind = TW_VALUE_NONE };
    sizes.kind = TW_VALUE_TUPLE;
    if (!function->call_named) {
        tw__fail(TW_UNIMPLEMENTED, "the function %s can't be an initializer: it takes one tensor", function->name);
        return NULL;
    }
    if (function->call_named(function, &sizes, &named, &result) != TW_OK)
        return NULL;
    return tw__value_tensor(&result, dtype, function->name);
}

static void function_end(void *self)
{
    tw__set(&((function_initializer *)self)->function, NULL);
}

static void function_visit(void *self, tw__visitor visitor, void *context)
{
    if (((function_initializer *)self)->function)
        visitor(context, &((function_initializer *)self)->function->object);
}

static const tw__initializer_methods methods = { function_make };
TW_CLASS(function_initializer, "keras.initializers._Function() -> initializer", .parent = &tw__class_initializer,
         .size = sizeof(function_initializer), .visit = function_visit, .clear = function_end, .destroy = function_end,
         .methods = &methods, .drop_config = true, .doc = "A function that makes the first value of a variable.");

tw_initializer *tw__initializer_of_function(tw_callable *function)
{
    function_initializer *made = tw__class_make_default(&tw__class_function_initializer);
    if (made)
        made->function = tw_retain(function);
    return (tw_initializer *)made;
}

const void *tw__initializer_function(const void *object)
{
    return tw__is(object, &tw__class_function_initializer) ? ((const function_initializer *)object)->function : NULL;
}
