/* The functions of the C API that are no rows, with NULL and with handles of other classes in each of their slots: an error or a
 * result, never a signal, never a hang. test_handles.c does the same for rows. */
#include "written.h"

#include <thalweg/records.h>

#include "saving/request.h"

/* ---- bodies that calls are given ---- */

static tw_tensors give_first(void *user, tw_tensors arguments)
{
    (void)user;
    return arguments.count ? tw_give(arguments.items[0]) : tw_give(tw_tensor_float(1));
}

static tw_tensors give_false(void *user, tw_tensors arguments)
{
    (void)user, (void)arguments;
    return tw_give(tw_tensor_bool(false));
}

static tw_status copy_first(void *user, tw_tensor *const *inputs, int input_count, tw_tensor **outputs, int output_count)
{
    (void)user, (void)input_count, (void)output_count;
    outputs[0] = tw_retain(inputs[0]);
    return TW_OK;
}

static tw_status no_gradient(void *user, tw_tensor *const *inputs, int input_count, tw_tensor *const *gradients, int count,
                             tw_tensor **results)
{
    (void)user, (void)inputs, (void)gradients, (void)count;
    for (int i = 0; i < input_count; i++)
        results[i] = NULL;
    return TW_OK;
}

static tw_status in_replica(int replica, void *context)
{
    (void)replica, (void)context;
    return TW_OK;
}

static tw_objects one_object(void *object)
{
    void **items = calloc(1, sizeof *items);
    items[0] = object;
    return (tw_objects){ items, 1 };
}

static void end(tw_tensors made)
{
    if (made.count > 0)
        tw_tensors_free(&made);
}

/* ---- the functions ---- */

static tw_tensor *place[4];
static int room;

CALL(retain)
{
    tw_release(tw_retain(v[0]));
}
CALL(class_name)
{
    tw_class_name(v[0]);
}
CALL(class_of)
{
    tw_class_of(v[0]);
}
CALL(object_config)
{
    tw_object_config(v[0]);
}
CALL(object_set)
{
    tw_object_set(v[0], "rate", (tw_value){ 0 });
    tw_object_set(v[0], NULL, (tw_value){ 0 });
}
CALL(is)
{
    tw_is(v[0], &tw__class_layer);
}
CALL(tensor_dtype)
{
    tw_tensor_dtype(v[0]);
}
CALL(tensor_shape)
{
    tw_tensor_shape(v[0]);
}
CALL(tensor_rank)
{
    tw_tensor_rank(v[0]);
}
CALL(tensor_dim)
{
    tw_tensor_dim(v[0], 0);
}
CALL(tensor_count)
{
    tw_tensor_count(v[0]);
}
CALL(tensor_bytes)
{
    tw_tensor_bytes(v[0]);
}
CALL(tensor_data)
{
    tw_tensor_data(v[0]);
}
CALL(tensor_double_at)
{
    tw_tensor_double_at(v[0], 0);
}
CALL(tensor_int_at)
{
    tw_tensor_int_at(v[0], 0);
}
CALL(tensor_string_at)
{
    tw_tensor_string_at(v[0], 0);
}
CALL(tensor_str)
{
    free(tw_tensor_str(v[0]));
}
CALL(tensor_repr)
{
    free(tw_tensor_repr(v[0]));
}
CALL(tensor_print)
{
    tw_tensor_print(NULL, v[0]);
    FILE *null = fopen("/dev/null", "w");
    tw_tensor_print(null, v[0]);
    fclose(null);
}
CALL(strategy_run)
{
    tw_strategy_run(v[0], in_replica, NULL);
    tw_strategy_run(v[0], NULL, NULL);
}
CALL(replica_all_reduce)
{
    tw_replica_all_reduce(true, (tw_tensor *const *)v, 1, place);
    tw_replica_all_reduce(true, NULL, 1, place);
    tw_replica_all_reduce(true, (tw_tensor *const *)v, 1, NULL);
}
CALL(give)
{
    end(tw_give_(one(v[0])));
    end(tw_give_((tw_tensors){ NULL, 1 }));
}
CALL(function_call)
{
    room = 4;
    tw_function_call(v[0], one(v[1]), place, &room);
    room = 4;
    tw_function_call(v[0], (tw_tensors){ NULL, 1 }, place, &room);
    tw_clear_error();
    tw_function_call(v[0], one(v[1]), NULL, NULL);
}
CALL(function_value)
{
    tw_release(tw_function_value(v[0], one(v[1])));
}
CALL(function_plan)
{
    free(tw_function_plan(v[0], one(v[1])));
}
CALL(function_traces)
{
    tw_function_traces(v[0]);
}
CALL(cond)
{
    end(tw_cond(v[0], give_first, give_first, NULL));
    end(tw_cond(v[0], NULL, NULL, NULL));
}
CALL(switch_case)
{
    end(tw_switch_case(v[0], (tw_body[]){ give_first, give_first }, 2, NULL));
    end(tw_switch_case(v[0], (tw_body[]){ NULL }, 1, NULL));
    end(tw_switch_case(v[0], NULL, 1, NULL));
}
CALL(while)
{
    end(tw_while_(give_false, give_first, NULL, one(v[0]), &(tw_while_args){ tw_while_defaults }));
    end(tw_while_(give_false, give_first, NULL, one(v[0]), NULL));
    end(tw_while_(NULL, NULL, NULL, one(v[0]), NULL));
}
CALL(map)
{
    end(tw_map_(give_first, NULL, one(v[0]), &(tw_map_args){ tw_map_defaults }));
    end(tw_map_(give_first, NULL, one(v[0]), NULL));
    end(tw_map_(NULL, NULL, one(v[0]), NULL));
}
CALL(fold)
{
    end(tw_fold_(0, give_first, NULL, one(v[0]), &(tw_fold_args){ tw_fold_defaults, .initial = one(v[1]) }));
    end(tw_fold_(0, give_first, NULL, one(v[0]), NULL));
}
CALL(case)
{
    end(tw_case_(one(v[0]), (tw_body[]){ give_first }, NULL, &(tw_case_args){ tw_case_defaults, .otherwise = give_first }));
    end(tw_case_(one(v[0]), (tw_body[]){ give_first }, NULL, NULL));
    end(tw_case_(one(v[0]), NULL, NULL, NULL));
}
CALL(host_function)
{
    tw_host_function(copy_first, NULL, one(v[0]), (tw_dtype[]){ TW_FLOAT32 }, 1, place);
    tw_host_function(copy_first, NULL, one(v[0]), NULL, 1, NULL);
    tw_host_function(NULL, NULL, one(v[0]), NULL, 0, NULL);
}
CALL(custom_gradient)
{
    tw_custom_gradient(one(v[0]), copy_first, no_gradient, NULL, NULL, 1, place);
    tw_custom_gradient(one(v[0]), NULL, NULL, NULL, NULL, 1, NULL);
}
CALL(recompute_grad)
{
    end(tw_recompute_grad(give_first, NULL, NULL, one(v[0])));
    end(tw_recompute_grad(NULL, NULL, NULL, one(v[0])));
}
CALL(grad_pass_through)
{
    end(tw_grad_pass_through(give_first, NULL, one(v[0])));
    end(tw_grad_pass_through(NULL, NULL, one(v[0])));
}
CALL(track)
{
    tw_track(v[0], "a", v[1]);
    tw_track(v[0], NULL, v[1]);
}
CALL(connect)
{
    tw_release(tw_connect(v[0], v[1]));
}
CALL(connect_all)
{
    tw_release(tw_connect_all(v[0], one_object(v[1])));
    tw_release(tw_connect_all(v[0], (tw_objects){ NULL, 1 }));
}
CALL(model_connect)
{
    tw_release(tw_model_connect(one_object(v[0]), one_object(v[1]), NULL));
    tw_release(tw_model_connect((tw_objects){ NULL, 1 }, one_object(v[1]), NULL));
}
CALL(model_call_all)
{
    end(tw_model_call_all(v[0], one(v[1]), true));
}
CALL(layer_call)
{
    tw_release(tw_layer_call(v[0], v[1]));
}
CALL(model_call)
{
    tw_release(tw_model_call(v[0], v[1]));
}
CALL(model_call_training)
{
    tw_release(tw_model_call_training(v[0], v[1]));
}
CALL(model_compile)
{
    tw_model_compile_(v[0], &(tw_compile_args){ tw_compile_defaults, .optimizer = v[1], .loss = v[2] });
    tw_model_compile_(v[0], NULL);
}
CALL(history_value)
{
    tw_history_value(v[0], "loss", 0);
    tw_history_value(v[0], NULL, 0);
}
CALL(model_stop_training)
{
    tw_model_stop_training(v[0]);
}
CALL(model_fit)
{
    tw_model_compile_(v[0], &(tw_compile_args){ tw_compile_defaults, .optimizer = "sgd", .loss = "mse" });
    tw_clear_error();
    tw_release(tw_model_fit_(v[0], v[1],
                             &(tw_fit_args){ tw_fit_defaults, .y = v[2], .verbose = 0,
                                             .callbacks = v[3] ? one_object(v[3]) : (tw_objects){ 0 } }));
    tw_release(tw_model_fit_(v[0], v[1], NULL));
}
CALL(model_fit_validation)
{
    tw_model_compile_(v[0], &(tw_compile_args){ tw_compile_defaults, .optimizer = "sgd", .loss = "mse" });
    tw_clear_error();
    tw_release(
        tw_model_fit_(v[0], v[1],
                      &(tw_fit_args){ tw_fit_defaults, .y = v[1], .verbose = 0, .validation_x = v[2], .validation_y = v[3] }));
}
CALL(model_evaluate)
{
    tw_model_compile_(v[0], &(tw_compile_args){ tw_compile_defaults, .optimizer = "sgd", .loss = "mse" });
    tw_clear_error();
    tw_value logs =
        tw_model_evaluate_(v[0], v[1], &(tw_fit_args){ tw_fit_defaults, .y = v[2], .sample_weight = v[3], .verbose = 0 });
    tw_value_free(&logs);
    tw_model_evaluate_(v[0], v[1], NULL);
}
CALL(model_train_on_batch)
{
    tw_value logs = tw_model_train_on_batch(v[0], v[1], v[2]);
    tw_value_free(&logs);
}
CALL(model_test_on_batch)
{
    tw_value logs = tw_model_test_on_batch(v[0], v[1], v[2]);
    tw_value_free(&logs);
}
CALL(op_apply)
{
    room = 4;
    tw_op_apply("Neg", one(v[0]), NULL, 0, place, &room);
    tw_op_apply("Neg", one(v[0]), NULL, 1, place, &room);
    tw_op_apply("Neg", one(v[0]), NULL, 0, NULL, NULL);
    tw_op_apply(NULL, one(v[0]), NULL, 0, place, &room);
    tw_op_apply("Neg", one(v[0]), &(tw_attr){ 0 }, 1, place, &room);
}
CALL(op_call)
{
    tw_release(tw_op_call("Neg", one(v[0]), NULL, 0));
    tw_release(tw_op_call("Neg", (tw_tensors){ NULL, 1 }, NULL, 0));
}
CALL(function_call_all)
{
    end(tw_function_call_all(v[0], (tw_tensors){ (tw_tensor **)&v[1], 1 }));
    end(tw_function_call_all(v[0], (tw_tensors){ NULL, 1 }));
}
CALL(saved_model_answer)
{
    free(tw_saved_model_answer(v[0], "predict", "{}", 2));
    free(tw_saved_model_answer(v[0], NULL, NULL, 0));
}
CALL(request)
{
    tw_request_signature(v[0]);
    tw_request_inputs(v[0], NULL, (tw_specs){ NULL, 1 });
    free(tw_request_answer(v[0], (tw_named_tensors){ &(tw_named_tensor){ NULL, v[1] }, 1 }));
    free(tw_request_answer(v[0], (tw_named_tensors){ NULL, 1 }));
}
CALL(request_free)
{
    tw_request_free(tw_is(v[0], &tw__request_class) ? tw_retain(v[0]) : v[0]);
    tw_request_free(NULL);
}
CALL(saved_model_signature)
{
    tw_release(tw_saved_model_signature(v[0], "a"));
    tw_release(tw_saved_model_signature(v[0], NULL));
}
CALL(saved_model_variable)
{
    tw_release(tw_saved_model_variable(v[0], "a"));
    tw_release(tw_saved_model_variable(v[0], NULL));
}
CALL(saved_model_close)
{
    tw_saved_model_close(tw_retain(v[0]));
}
CALL(signature_input)
{
    tw_signature_input(v[0], 0);
}
CALL(signature_output)
{
    tw_signature_output(v[0], 0);
}
CALL(signature_input_spec)
{
    tw_signature_input_spec(v[0], 0);
}
CALL(signature_call)
{
    end(tw_signature_call(v[0], TW_NAMED_TENSORS({ "x", v[1] })));
    end(tw_signature_call(v[0], TW_NAMED_TENSORS({ NULL, v[1] })));
    end(tw_signature_call(v[0], (tw_named_tensors){ NULL, 1 }));
}
CALL(signature_value)
{
    tw_release(tw_signature_value(v[0], TW_NAMED_TENSORS({ "x", v[1] }), NULL));
}
CALL(saved_model_save)
{
    tw_saved_model_save(v[0], "saved", &(tw_export){ .function = v[1] }, 1);
    tw_saved_model_save(v[0], NULL, NULL, 0);
    tw_saved_model_save(v[0], "saved", NULL, 1);
}
CALL(records_close)
{
    tw_records_close(tw_retain(v[0]));
}
CALL(records_next)
{
    const void *data;
    size_t size;
    tw_records_next(v[0], &data, &size);
    tw_clear_error();
    tw_records_next(v[0], NULL, NULL);
}
CALL(records_offset)
{
    tw_records_offset(v[0]);
}
CALL(records_cut_off)
{
    tw_records_cut_off(v[0]);
}
CALL(records_skip_damage)
{
    tw_records_skip_damage(v[0]);
}
/* Slots without handles: NULL in each. */
CALL(pointers)
{
    (void)v;
    tw_release(NULL), tw_report(NULL), tw_value_free(NULL), tw_objects_free(NULL), tw_tensors_free(NULL),
        free(tw_value_json(NULL)), tw_value_json_write(NULL, NULL, NULL), tw_value_from_json(NULL, 0, NULL),
        tw_value_tensor(NULL, 0), free(tw_saved_model_json(NULL));
    tw_value_get(NULL, "key"), tw_value_get(&(tw_value){ .kind = TW_VALUE_INT }, NULL), tw_value_at(NULL, 0);
    tw_signature_find(NULL), tw_signature_doc(NULL), tw_signature_text(NULL), tw_class_find(NULL), tw_class_id(NULL),
        tw_class_parent(NULL), tw_class_signature(NULL), tw_class_make(NULL, NULL);
    tw_class_make(&tw__class_layer, NULL), tw_signature_invoke(NULL, NULL, NULL),
        tw_signature_invoke(&tw__signature_abs, NULL, NULL);
    tw_args_complete(NULL, NULL), tw_args_complete(&tw__signature_abs, NULL), tw_args_default(NULL, NULL),
        tw_args_default(&tw__signature_abs, NULL);
    tw_args_check(NULL, NULL, NULL), tw_dtype_from_name(NULL), tw_dtype_name((tw_dtype)1000), tw_dtype_size((tw_dtype)1000);
    tw_release(tw_tensor_new(TW_STRING, TW_SHAPE(2), NULL)), tw_release(tw_tensor_new((tw_dtype)1000, TW_SHAPE(2), NULL)),
        tw_release(tw_tensor_string(NULL, 0));
    tw_release(tw_tensor_strings(NULL)), tw_request_free(tw_request_new(NULL, NULL, 0));
    tw_release(tw_tensor_string(NULL, 5)), tw_release(tw_tensor_borrow(TW_FLOAT32, TW_SHAPE(2), NULL, NULL, NULL));
    tw_release(tw_function_new_(NULL, NULL, NULL)), tw_release(tw_function_new_(give_first, NULL, NULL)),
        tw_release(tw_model_new_(NULL, NULL, NULL));
    tw_release(tw_callback_new(NULL, NULL)), tw_log_value(NULL, NULL), free(tw_graph_file_text(NULL, true)),
        free(tw_saved_model_text(NULL));
    tw_records_close(tw_records_open(NULL, 0)), tw_records_close(tw_records_open("none", 0)), tw_records_close(NULL);
    tw_replica_merge(NULL, NULL, NULL), tw_set_step_hook(NULL, NULL), tw_op_name(-1), tw_op_doc(1 << 30), tw_signature_at(-1),
        tw_status_name((tw_status)-1);
    tw_made(NULL), tw_made_text(NULL), tw_scope_end(NULL), tw_scope_forget(NULL), tw_scope_retain(NULL), tw_scope_release(NULL),
        tw_scope_leave(NULL), tw_made_tensors((tw_tensors){ 0 }), tw_made_objects((tw_objects){ 0 }),
        tw_made_value((tw_value){ .kind = TW_VALUE_NONE }), tw_scope_forget_value(NULL);
    tw_set_log(NULL, NULL), tw_log_line(NULL, NULL, NULL), free(tw_take_error(NULL)), tw_status_kind((tw_status)-1);
}

/* Classes that have no row. */
static const tw_class function_mark = { .name = "Function" }, records_mark = { .name = "Records" };

static const struct written all[] = {
#define L &tw__class_layers_dense
#define M &tw__class_sequential
#define K &tw__class_keras_tensor
    F(retain, T),
    F(class_name, T),
    F(class_of, T),
    F(object_config, T),
    F(object_set, T),
    F(is, T),
    F(tensor_dtype, T),
    F(tensor_shape, T),
    F(tensor_rank, T),
    F(tensor_dim, T),
    F(tensor_count, T),
    F(tensor_bytes, T),
    F(tensor_data, T),
    F(tensor_double_at, T),
    F(tensor_int_at, T),
    F(tensor_string_at, T),
    F(tensor_str, T),
    F(tensor_repr, T),
    F(tensor_print, T),
    F(strategy_run, &tw__class_mirrored_strategy),
    F(replica_all_reduce, T),
    F(give, T),
    F(function_call, &function_mark, T),
    F(function_value, &function_mark, T),
    F(function_plan, &function_mark, T),
    F(function_traces, &function_mark),
    F(cond, T),
    F(switch_case, T),
    F(while, T),
    F(map, T),
    F(fold, T, T),
    F(case, T),
    F(host_function, T),
    F(custom_gradient, T),
    F(recompute_grad, T),
    F(grad_pass_through, T),
    F(track, &tw__class_checkpoint, &tw__class_variable),
    F(connect, L, K),
    F(connect_all, L, K),
    F(model_connect, K, K),
    F(model_call_all, L, T),
    F(layer_call, L, T),
    F(model_call, L, T),
    F(model_call_training, L, T),
    F(model_compile, M, &tw__class_optimizers_sgd, &tw__class_losses_mean_squared_error),
    F(history_value, &tw__class_callbacks_history),
    F(model_stop_training, M),
    F(model_fit, M, T, T, &tw__class_callbacks_history),
    F(model_fit_validation, M, T, T, T),
    F(model_evaluate, M, T, T, T),
    F(model_train_on_batch, M, T, T),
    F(model_test_on_batch, M, T, T),
    F(op_apply, T),
    F(op_call, T),
    F(function_call_all, &function_mark, T),
    F(saved_model_answer, &tw__class_saved_object),
    F(request, &tw__request_class, T),
    F(request_free, &tw__request_class),
    F(saved_model_signature, &tw__class_saved_object),
    F(saved_model_variable, &tw__class_saved_object),
    F(saved_model_close, &tw__class_saved_object),
    F(signature_input, &tw__class_saved_concrete),
    F(signature_output, &tw__class_saved_concrete),
    F(signature_input_spec, &tw__class_saved_concrete),
    F(signature_call, &tw__class_saved_concrete, T),
    F(signature_value, &tw__class_saved_concrete, T),
    F(records_close, &records_mark),
    F(records_next, &records_mark),
    F(records_offset, &records_mark),
    F(records_cut_off, &records_mark),
    F(records_skip_damage, &records_mark),
    F(saved_model_save, &tw__class_variable, &function_mark),
    F(pointers),
};

/* ---- objects ---- */

static void *object_of(const tw_class *class)
{
    static const float numbers[4] = { 1, 2, 3, 4 };
    tw_tensor *tensor = tw_tensor_new(TW_FLOAT32, TW_SHAPE(2, 2), numbers);
    if (class == &tw__tensor_class)
        return tensor;
    if (class == &function_mark)
        return tw_function_new(give_first, NULL, .signature = TW_SPECS({ TW_FLOAT32, TW_SHAPE(2, 2) }));
    if (class == &records_mark) {
        FILE *file = fopen("records", "wb");
        assert_non_null(file);
        fclose(file);
        return tw_records_open("records", 0);
    }
    if (class == &tw__request_class)
        return tw_request_new("predict", "{\"instances\": [1]}", 18);
    if (class == &tw__class_layers_dense)
        return tw_layers_dense(2);
    if (class == &tw__class_sequential)
        return tw_model_sequential(tw_layers_dense(2));
    if (class == &tw__class_keras_tensor)
        return tw_input(.shape = TW_SHAPE(2));
    if (class == &tw__class_variable)
        return tw_variable(tensor);
    if (class == &tw__class_checkpoint)
        return tw_checkpoint();
    if (class == &tw__class_callbacks_history)
        return tw_callbacks_history();
    if (class == &tw__class_optimizers_sgd)
        return tw_optimizers_sgd(.learning_rate = 0.1);
    if (class == &tw__class_losses_mean_squared_error)
        return tw_losses_mean_squared_error();
    if (class == &tw__class_mirrored_strategy)
        return tw_mirrored_strategy();
    return tw__object_new(class); /* of what only files give, an empty one */
}

static const tw_class *const others[] = { &tw__tensor_class,
                                          &function_mark,
                                          &tw__class_layers_dense,
                                          &tw__class_keras_tensor,
                                          &tw__class_variable,
                                          &tw__class_checkpoint,
                                          &tw__class_callbacks_history,
                                          &tw__class_optimizers_sgd,
                                          &tw__class_losses_mean_squared_error,
                                          &tw__class_mirrored_strategy };

int main(void)
{
    return written_main(all, others, object_of);
}
