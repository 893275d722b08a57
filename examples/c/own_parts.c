/* Keras with parts of the program's own: a layer, an initializer, a regularizer, a constraint, a loss, a metric, a schedule and a
 * training step. The same as examples/python/own_parts.py. */
#include <stdio.h>

#include <thalweg.h>

/* ---- a layer: x * factor + offset, for each feature ---- */

typedef struct scale {
    tw_variable *factor, *offset;
} scale;

static tw_tensor *ramp(void *state, tw_shape shape, tw_dtype dtype)
{
    (void)state;
    tw_tensor *numbers = tw_range(.start = TW_I(1), .limit = TW_I(shape.dims[0] + 1));
    return tw_divide(tw_cast(numbers, dtype), TW_F(10));
}

static tw_tensor *small(void *state, tw_tensor *weight)
{
    (void)state;
    return tw_multiply(TW_F(0.001), tw_reduce_sum(tw_square(weight)));
}

static tw_tensor *bounded(void *state, tw_tensor *weight)
{
    (void)state;
    return tw_clip_by_value(weight, TW_F(-3), TW_F(3));
}

static tw_status scale_build(tw_layer *self, tw_shape input_shape, void *state)
{
    scale *s = state;
    tw_shape shape = TW_SHAPE(input_shape.dims[input_shape.rank - 1]);
    s->factor = tw_layer_weight(self, "factor", shape, .initializer = tw_initializer_new(ramp, NULL),
                                .regularizer = tw_regularizer_new(small, NULL), .constraint = tw_constraint_new(bounded, NULL));
    s->offset = tw_layer_weight(self, "offset", shape, .initializer = "zeros");
    return tw_error_code();
}

static tw_tensor *scale_call(tw_layer *self, tw_tensor *input, int training, void *state)
{
    const scale *s = state;
    (void)self, (void)training;
    return tw_add(tw_multiply(input, tw_variable_read(s->factor)), tw_variable_read(s->offset));
}

/* ---- a loss: the mean of log(1 + (y_true - y_pred)^2); a metric: the largest error so far ---- */

static tw_tensor *squared_log(void *state, tw_tensor *y_true, tw_tensor *y_pred)
{
    (void)state;
    return tw_reduce_mean(tw_math_log1p(tw_square(tw_subtract(y_true, y_pred))), .axis = TW_INTS(-1));
}

static tw_status largest_update(tw_metric *self, tw_tensor *y_true, tw_tensor *y_pred, tw_tensor *sample_weight, void *state)
{
    tw_variable **value = state;
    (void)self, (void)sample_weight;
    tw_tensor *error = tw_reduce_max(tw_abs(tw_subtract(y_true, y_pred)));
    tw_variable_assign(*value, tw_maximum(tw_variable_read(*value), error));
    return tw_error_code();
}

static tw_tensor *largest_result(tw_metric *self, void *state)
{
    (void)self;
    return tw_variable_read(*(tw_variable **)state);
}

static tw_metric *largest_new(tw_variable **value)
{
    tw_metric *metric = tw_metric_new(largest_update, largest_result, value, .name = "largest");
    *value = tw_metric_add_weight(metric, "value", TW_SCALAR);
    return metric;
}

/* A schedule: rises to 0.2 in ten steps. */
static tw_tensor *warming(void *state, tw_tensor *step)
{
    (void)state;
    return tw_multiply(TW_F(0.02), tw_minimum(tw_add(step, TW_F(1)), TW_F(10)));
}

/* ---- a model: two outputs, x and x / 2 of the scaled input, and a training step of its own ---- */

typedef struct halving {
    scale scale;
    tw_layer *layer;
    tw_loss *loss;
    tw_metric *largest;
    tw_variable *value;
} halving;

static tw_tensors halving_call(tw_layer *self, tw_tensors in, int training, void *state)
{
    (void)self, (void)training;
    tw_tensor *scaled = tw_layer_call(((halving *)state)->layer, in.items[0]);
    return tw_give(scaled, tw_divide(scaled, TW_F(2)));
}

static tw_status halving_step(tw_model *self, tw_batch batch, tw_step_results *results, void *state)
{
    halving *h = state;
    tw_tensor *y = batch.y.items[0];
    tw_tape *tape = tw_tape_start();
    tw_tensors out = tw_model_call_all(self, batch.x, true);
    tw_tensor *both = tw_add(tw_loss_call(h->loss, y, out.items[0]), tw_loss_call(h->loss, tw_divide(y, TW_F(2)), out.items[1]));
    tw_tensor *loss = tw_add(both, tw_add_n(tw_layer_losses(self)));
    tw_objects variables = tw_layer_trainable_variables(self);
    tw_optimizer_apply_gradients(tw_model_optimizer(self), tw_tape_gradient(tape, TW_OBJECTS(loss), variables), variables);
    tw_metric_update_state(h->largest, y, out.items[0], NULL);
    tw_step_give(results, "loss", loss);
    return tw_step_give(results, "largest", tw_metric_result(h->largest));
}

static void print_values(const char *title, tw_variable *variable)
{
    tw_tensor *values = tw_variable_read(variable);
    printf("%s:", title);
    for (int64_t i = 0; i < tw_tensor_count(values); i++)
        printf(" %.2f", tw_tensor_double_at(values, i));
    printf("\n");
}

int main(void)
{
    tw_scoped();
    float points[20][3], values[20][3];
    for (int i = 0; i < 60; i++) {
        points[i / 3][i % 3] = (float)(i % 7 - 3);
        values[i / 3][i % 3] = points[i / 3][i % 3] * (float[]){ 2, -1, 4 }[i % 3] + 1;
    }
    tw_tensor *x = tw_tensor_new(TW_FLOAT32, TW_SHAPE(20, 3), points), *y = tw_tensor_new(TW_FLOAT32, TW_SHAPE(20, 3), values);
    halving h = { .loss = tw_loss_new(squared_log, NULL) };
    tw_model *model = tw_model_new_all(halving_call, &h);
    h.layer = tw_track(model, "scale", tw_layer_new(scale_call, &h.scale, .build = scale_build));
    h.largest = tw_track(model, "largest", largest_new(&h.value));
    tw_model_set_steps(model, halving_step, NULL, NULL);
    tw_model_compile(model, .optimizer = tw_optimizers_adam(.learning_rate_object = tw_schedule_new(warming, NULL)));
    tw_callback *history = tw_model_fit(model, x, .y = y, .epochs = 60, .batch_size = 20);
    printf("loss %.3f, then %.3f\n", tw_history_value(history, "loss", 0), tw_history_value(history, "loss", -1));
    printf("largest error %.3f\n", tw_history_value(history, "largest", -1));
    print_values("factors", h.scale.factor);
    print_values("offsets", h.scale.offset);

    scale s;
    tw_variable *value;
    tw_model *plain = tw_model_sequential(tw_layer_new(scale_call, &s, .build = scale_build));
    tw_model_compile(plain, .optimizer = "sgd", .loss = h.loss, .metrics = TW_OBJECTS(largest_new(&value)));
    tw_value logs = tw_model_evaluate(plain, x, .y = y);
    printf("at first: loss %.3f, largest error %.3f\n", tw_log_value(&logs, "loss"), tw_log_value(&logs, "largest"));
    return tw_report(stderr);
}
