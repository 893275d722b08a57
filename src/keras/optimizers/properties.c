/* What every optimizer answers: step counter, learning rate, variables, config. */
#include <math.h>
#include <strings.h>

#include "keras/optimizers/optimizers.h"

TW_PROPERTY(optimizer_iterations, "keras.optimizers.Optimizer.iterations(self: optimizer) -> variable",
            "The number of steps done.")
{
    return tw_retain(args->self->iterations);
}

TW_METHOD(optimizer_set_iterations, "keras.optimizers.Optimizer._set_iterations(self: optimizer, value: variable)",
          "Another variable counts the steps.")
{
    tw_optimizer *optimizer = args->self;
    if (optimizer->built)
        return tw__fail(TW_RUNTIME_ERROR,
                        "Cannot set `iterations` to a new Variable after the Optimizer weights have been created. Here it is "
                        "attempting to set `iterations` to %s. Please set `iterations` before calling `apply_gradients()`.",
                        args->value->name);
    if (args->value->resource->dtype != TW_INT64)
        return tw__fail(TW_TYPE_ERROR, "%s: iterations is a variable of dtype %s, expected int64", optimizer->name,
                        tw_dtype_name(args->value->resource->dtype));
    tw__set(&optimizer->iterations, args->value);
    return tw__track(&optimizer->trackable, "_iterations", args->value);
}

tw_status tw__optimizer_no_rate(void)
{
    return tw__fail(TW_VALUE_ERROR, "Missing learning rate, please set self.learning_rate at optimizer creation time.");
}

TW_PROPERTY(optimizer_learning_rate,
            "keras.optimizers.Optimizer.learning_rate|keras.optimizers.Optimizer.lr(self: optimizer) -> variable",
            "The learning rate; with a schedule, that of the last step.")
{
    if (!args->self->rate && !tw__methods(args->self))
        tw__optimizer_no_rate();
    return tw_retain(args->self->rate);
}

TW_METHOD(optimizer_set_learning_rate,
          "keras.optimizers.Optimizer._set_learning_rate|keras.optimizers.Optimizer._set_lr(self: optimizer, value: number)",
          "Sets the learning rate, or puts another schedule in the place of the first.")
{
    tw_optimizer *optimizer = tw__optimizer_inner(args->self);
    if (!optimizer->rate)
        return tw__optimizer_no_rate();
    if (args->value_object) {
        if (!tw__is(args->value_object, &tw__class_schedule))
            return tw__fail(TW_TYPE_ERROR, "%s: learning_rate is a %s, expected a number or a LearningRateSchedule",
                            optimizer->name, tw_class_name(args->value_object));
        tw__set(&optimizer->schedule, args->value_object);
        return TW_OK;
    }
    if (optimizer->schedule)
        return tw__fail(
            TW_TYPE_ERROR,
            "This optimizer was created with a `LearningRateSchedule` object as its `learning_rate` constructor argument, "
            "hence its learning rate is not settable. If you need the learning rate to be settable, you should instantiate the optimizer "
            "with a float `learning_rate` argument.");
    tw_auto tw_tensor *rate = tw_tensor_float((float)args->value);
    return tw__traced_assign(&tw__op_AssignVariableOp, optimizer->rate, rate);
}

TW_PROPERTY(optimizer_name, "keras.optimizers.Optimizer.name(self: optimizer) -> str",
            "The name, as it stands in front of its variables' names.")
{
    return tw__strdup(args->self->name);
}

TW_PROPERTY(optimizer_variables, "keras.optimizers.Optimizer.variables(self: optimizer) -> list<variable>",
            "The step counter and all slots.")
{
    const tw_trackable *all = args->self->all;
    size_t count = all ? all->child_count : 0;
    void **items = tw__alloc_array(count + 1, sizeof *items);
    for (size_t i = 0; items && i < count; i++)
        items[i] = tw_retain(all->children[i].object);
    return (tw_objects){ items, items ? (int64_t)count : 0 };
}

TW_METHOD(optimizer_get_config, "keras.optimizers.Optimizer.get_config(self: optimizer) -> value",
          "The arguments that would make the same optimizer again.")
{
    const tw_optimizer *optimizer = args->self;
    const tw_class *class_row = tw_class_of(optimizer);
    const tw__optimizer_methods *own = tw__methods(optimizer);
    if (own && own->config_other)
        return own->config_other(optimizer);
    if (tw__optimizer_is_legacy(optimizer))
        return tw__legacy_config(optimizer);
    tw__dict dict = { 0 };
    static const char base[] =
        " name weight_decay clipnorm global_clipnorm clipvalue use_ema ema_momentum ema_overwrite_frequency jit_compile ";
    static const char *const order[] = { "weight_decay", "clipnorm",     "global_clipnorm",        "clipvalue",
                                         "use_ema",      "ema_momentum", "ema_overwrite_frequency" };
    tw__dict whole = { 0 }; /* all fields, to take those of the base in Keras's order */
    tw__dict_put_config(&whole, optimizer, "");
    tw__dict_put_str(&dict, "name", optimizer->name);
    for (size_t i = 0; i < sizeof order / sizeof order[0]; i++) {
        for (size_t k = 0; k < whole.count; k += 2) {
            if (strcmp(whole.items[k].s.data, order[i]) == 0) {
                tw__dict_put(&dict, order[i], whole.items[k + 1]);
                whole.items[k + 1] = (tw_value){ .kind = TW_VALUE_NONE };
            }
        }
    }
    if (class_row == &tw__class_optimizer && isnan(optimizer->settings.weight_decay)) /* which Keras's base has from the start */
        dict.items[3] = (tw_value){ .kind = TW_VALUE_INT, .i = 0 };
    tw_value rest = tw__dict_take(&whole);
    tw_value_free(&rest);
    tw__dict_put(&dict, "jit_compile", (tw_value){ .kind = TW_VALUE_BOOL, .b = false });
    tw__dict_put(&dict, "is_legacy_optimizer", (tw_value){ .kind = TW_VALUE_BOOL, .b = false });
    char skip[sizeof base + 16];
    snprintf(skip, sizeof skip, "%slearning_rate ", base);
    if (class_row != &tw__class_optimizer) {
        if (optimizer->schedule)
            tw__dict_put(&dict, "learning_rate", tw__serialize(optimizer->schedule, "keras.optimizers.schedules"));
        else
            tw__dict_put(&dict, "learning_rate",
                         (tw_value){ .kind = TW_VALUE_FLOAT, .f = tw__shortest(tw__optimizer_rate(optimizer), TW_FLOAT32) });
        tw__dict_put_config(&dict, optimizer, skip);
        const tw__optimizer_methods *methods = tw__methods(optimizer);
        if (methods && methods->add_config)
            methods->add_config(optimizer, &dict);
    }
    return tw__dict_take(&dict);
}

/* ---- by name ---- */

TW_API(optimizers_get, "keras.optimizers.get(identifier: named<optimizer>) -> optimizer",
       "The optimizer of that name with its defaults, or the object itself.\n"
       "identifier: a name, a dict that describes one, or an optimizer\n"
       "example: tf.keras.optimizers.get('sgd').name  # 'SGD'")
{
    static const char *const names[] = { "Adadelta", "Adagrad", "Adam", "Adamax", "Ftrl", "Nadam", "RMSprop", "SGD" };
    if (tw__named_is_object(args->identifier)) {
        if (tw__is(args->identifier, &tw__class_optimizer))
            return tw_retain((tw_optimizer *)args->identifier);
        tw__fail(TW_VALUE_ERROR, "Could not interpret optimizer identifier: a %s", tw_class_name(args->identifier));
        return NULL;
    }
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (strcasecmp(args->identifier, names[i]) != 0)
            continue;
        char path[64];
        snprintf(path, sizeof path, "keras.optimizers.%s", names[i]);
        const tw_signature *signature = tw_signature_find(path);
        void *given = tw__alloc_zero(signature->args_size);
        tw_optimizer *made = NULL;
        if (given) {
            tw_args_default(signature, given);
            made = tw_class_make(signature->class_row, given);
        }
        tw__free(given);
        return made;
    }
    tw__fail_because(
        TW_REASON_UNKNOWN_NAME, TW_VALUE_ERROR,
        "Unknown optimizer: '%s'. Please ensure you are using a `keras.utils.custom_object_scope` and that this object is "
        "included in the scope.",
        (const char *)args->identifier);
    return NULL;
}
