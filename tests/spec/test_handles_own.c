/* As test_handles_written.c, for the functions with which C programs make their own parts, datasets and traces, and read files:
 * NULL and handles of other classes in each of their slots. */
#include "written.h"

static tw_tensor *same(void *state, tw_tensor *x)
{
    (void)state;
    return tw_retain(x);
}

static tw_tensors nothing(void *state, int64_t index)
{
    (void)state, (void)index;
    return TW_GIVE_NOTHING;
}

static tw_tensors no_call(tw_layer *self, tw_tensors inputs, int training, void *state)
{
    (void)self, (void)inputs, (void)training, (void)state;
    return TW_GIVE_FAILURE;
}

CALL(npy_write)
{
    tw_npy_write(NULL, v[0]);
    tw_npy_write("array.npy", v[0]);
}
CALL(tensor_values_text)
{
    free(tw_tensor_values_text(v[0]));
}
CALL(tensor_device)
{
    free(tw_tensor_device(v[0]));
}
CALL(events)
{
    tw_event_value value;
    tw_events_next(v[0], &value);
    tw_events_next(v[0], NULL);
    tw_events_records(v[0]);
    tw_events_close(v[0] && strcmp(tw_class_name(v[0]), "Events") == 0 ? tw_retain(v[0]) : v[0]);
}
CALL(metric)
{
    tw_metric_update_state(v[0], v[1], v[2], v[3]);
    tw_metric_add_weight(v[0], NULL, TW_SCALAR);
    tw_metric_add_weight(v[0], "value", TW_SCALAR);
}
CALL(layer_weight)
{
    tw_layer_weight_(v[0], "weight", TW_SHAPE(2), NULL);
    tw_layer_weight_(v[0], NULL, TW_SHAPE(2), &(tw_weight_args){ tw_weight_defaults });
    tw_layer_weight_(v[0], "weight", TW_SHAPE(2), &(tw_weight_args){ tw_weight_defaults, .initializer = v[1] });
    tw_layer_weight_(v[0], "weight", TW_SHAPE(2), &(tw_weight_args){ tw_weight_defaults, .regularizer = v[1] });
    tw_layer_weight_(v[0], "weight", TW_SHAPE(2), &(tw_weight_args){ tw_weight_defaults, .constraint = v[1] });
}
CALL(model)
{
    tw_model_set_steps(v[0], NULL, NULL, NULL);
    tw_model_optimizer(v[0]);
    tw_step_give(NULL, "loss", v[1]);
}
CALL(strategy)
{
    tw_release(tw_strategy_distribute_dataset(v[0], v[1]));
    tw_release(tw_strategy_reduce(v[0], true, one(v[2])));
    tw_release(tw_strategy_reduce(v[0], true, (tw_tensors){ NULL, 1 }));
}
CALL(saved_object)
{
    tw_value names = tw_saved_model_signatures(v[0]);
    tw_value_free(&names);
    tw_release(tw_saved_model_function(v[0], "f"));
    tw_release(tw_saved_model_function(v[0], NULL));
}
CALL(saved_function)
{
    tw_tensors made = tw_saved_function_call(v[0], one(v[1]));
    tw_tensors_free(&made);
    tw_release(tw_saved_function_value(v[0], one(v[1])));
    tw_release(tw_saved_function_value(v[0], (tw_tensors){ NULL, 1 }));
}
CALL(v1)
{
    tw_release(tw_v1_minimize(v[0], v[1]));
    tw_v1_saver_save(v[0], v[1], "prefix");
    tw_v1_saver_restore(v[0], v[1], NULL);
    tw_release(tw_v1_saver_new());
}
/* Slots without handles: NULL in each. */
CALL(pointers)
{
    (void)v;
    tw_release(tw_npy_read(NULL)), tw_release(tw_npz_read(NULL, NULL)), tw_release(tw_npz_read("none", NULL));
    tw_events_close(tw_events_open(NULL, 0)), tw_events_close(tw_events_open("none", -1)), tw_release(tw_event_tensor(NULL));
    tw_release(tw_event_tensor(&(tw_event_value){ .tensor = { "\xff\xff", 2 } }));
    tw_release(tw_callable_new_(NULL, NULL, NULL)), tw_release(tw_callable_new_(same, NULL, NULL));
    tw_release(tw_regularizer_new_(NULL, NULL, NULL)), tw_release(tw_regularizer_new_(same, NULL, NULL));
    tw_release(tw_constraint_new_(NULL, NULL, NULL)), tw_release(tw_constraint_new_(same, NULL, NULL));
    tw_release(tw_schedule_new_(NULL, NULL, NULL)), tw_release(tw_schedule_new_(same, NULL, NULL));
    tw_release(tw_initializer_new_(NULL, NULL, NULL)), tw_release(tw_loss_new_(NULL, NULL, NULL));
    tw_release(tw_metric_mean_new_(NULL, NULL, NULL)), tw_release(tw_metric_new_(NULL, NULL, NULL, NULL));
    tw_release(tw_layer_new_(NULL, NULL, NULL, NULL)), tw_release(tw_learning_rate_scheduler_new(NULL, NULL));
    tw_release(tw_model_new_all_(NULL, NULL, NULL)), tw_release(tw_model_new_all_(no_call, NULL, NULL));
    tw_release(tw_dataset_from_generator_(NULL, NULL, (tw_specs){ NULL, 1 }, NULL));
    tw_release(tw_dataset_from_generator_(nothing, NULL, (tw_specs){ NULL, 1 }, NULL));
    tw_trace_export(NULL, 0), tw_trace_export_profile(NULL, 0, NULL), tw_trace_off();
}

static const tw_class events_mark = { .name = "Events" };

static const struct written all[] = {
    F(npy_write, T),
    F(tensor_values_text, T),
    F(tensor_device, T),
    F(events, &events_mark),
    F(metric, &tw__class_metrics_mean_squared_error, T, T, T),
    F(layer_weight, &tw__class_layers_dense, &tw__class_layers_dense),
    F(model, &tw__class_sequential, T),
    F(strategy, &tw__class_mirrored_strategy, &tw__class_dataset_range, T),
    F(saved_object, &tw__class_saved_object),
    F(saved_function, &tw__class_saved_function, T),
    F(v1, &tw__class_v1_gradient_descent_optimizer, T),
    F(pointers),
};

static void *object_of(const tw_class *class)
{
    if (class == &tw__tensor_class)
        return tw_tensor_new(TW_FLOAT32, TW_SHAPE(2, 2), NULL);
    if (class == &events_mark) {
        FILE *file = fopen("events", "wb");
        fclose(file);
        return tw_events_open("events", 0);
    }
    if (class == &tw__class_metrics_mean_squared_error)
        return tw_metrics_mean_squared_error();
    if (class == &tw__class_layers_dense)
        return tw_layers_dense(2);
    if (class == &tw__class_sequential)
        return tw_model_sequential(tw_layers_dense(2));
    if (class == &tw__class_mirrored_strategy)
        return tw_mirrored_strategy();
    if (class == &tw__class_dataset_range)
        return tw_dataset_range(1, 4);
    if (class == &tw__class_v1_gradient_descent_optimizer)
        return tw_v1_gradient_descent_optimizer(0.1);
    if (class == &tw__class_variable)
        return tw_variable(tw_tensor_float(1));
    return tw__object_new(class); /* of what only files give, an empty one */
}

static const tw_class *const others[] = { &tw__tensor_class, &tw__class_layers_dense, &tw__class_variable,
                                          &tw__class_mirrored_strategy, &tw__class_dataset_range };

int main(void)
{
    return written_main(all, others, object_of);
}
