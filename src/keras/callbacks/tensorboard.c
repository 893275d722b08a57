/* keras.callbacks.TensorBoard: what fit and evaluate give and what a model looks like, as summaries in LOG_DIR/train and
 * LOG_DIR/validation. */
#include <math.h>
#include <time.h>

#include "function/noted.h"
#include "keras/callable.h"
#include "keras/callbacks/tensorboard.h"
#include "keras/models/training.h"

enum { TRAIN, VALIDATION };

typedef struct board {
    tw_callback callback;
    struct tw_summary_writer *writers[2]; /* made when something is written; references */
    bool begun, training, graph_due, profiling;
    int64_t batch, before; /* batches of this fit; iterations when the epoch began */
    double epoch_began, batch_began;
} board;

static const tw_callbacks_tensor_board_args *settings(const board *b)
{
    return tw_object_config(b);
}

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* ---- writers ---- */

static struct tw_summary_writer *writer_of(board *b, int which)
{
    if (b->writers[which])
        return b->writers[which];
    tw__owned char *path = tw__format("%s/%s", settings(b)->log_dir, which == TRAIN ? "train" : "validation");
    tw_summary_writer_args args;
    tw_args_default(&tw__signature_summary_writer, &args);
    args.logdir = path;
    b->writers[which] = path ? tw_class_make(&tw__class_summary_writer, &args) : NULL;
    return b->writers[which];
}

static tw_status close_all(board *b)
{
    tw_status status = TW_OK;
    for (int i = 0; i < 2; i++) {
        if (b->writers[i] && status == TW_OK)
            status = tw__impl_summary_writer_close(&(tw_summary_writer_close_args){ .self = b->writers[i] });
        tw__set(&b->writers[i], NULL);
    }
    b->begun = false;
    return status;
}

static void board_destroy(void *self)
{
    tw__saved_error before = tw__error_take();
    close_all(self); /* what can't be written any more is lost */
    tw_clear_error();
    tw__error_restore(before);
}

/* What is recorded from here on goes there, always. */
static tw_status enter(board *b, int which)
{
    struct tw_summary_writer *writer = writer_of(b, which);
    tw_auto tw_tensor *always = writer ? tw_tensor_bool(true) : NULL;
    return always ? tw__impl_summary_push(&(tw_summary_push_args){ .writer = writer, .condition = always }) : tw__error_status();
}

static tw_status leave(tw_status status)
{
    tw_status back = tw__impl_summary_pop(&(tw_summary_pop_args){ 0 });
    return status == TW_OK ? back : status;
}

static tw_status done(tw_tensor *written) /* takes it */
{
    tw_release(written);
    return written ? TW_OK : tw__error_status();
}

static tw_status scalar(const char *prefix, const char *name, const char *suffix, double value, int64_t step)
{
    tw__owned char *tag = tw__format("%s%s%s", prefix, name, suffix);
    tw_auto tw_tensor *number = tag ? tw_tensor_float((float)value) : NULL, *at = number ? tw_tensor_int64(step) : NULL;
    tw_status status = at ? done(tw__impl_summary_scalar(&(tw_summary_scalar_args){ .name = tag, .data = number, .step = at }))
                          : tw__error_status();
    return status;
}

/* ---- models ---- */

/* The config as TensorBoard's page of graphs reads it; a model that has none is left out. */
static tw_status write_model(board *b, tw_layer *model)
{
    static const char metadata[] = "\x0a\x16\x0a\x11graph_keras_model\x12\x01"
                                   "1"; /* plugin_data { plugin_name, content } */
    if (!tw__is(model, &tw__class_sequential) && !tw__is(model, &tw__class_functional))
        return TW_OK;
    char *json = tw__impl_model_to_json(&(tw_model_to_json_args){ .self = model });
    if (!json) {
        tw_clear_error();
        return TW_OK;
    }
    tw_status status = enter(b, TRAIN);
    if (status == TW_OK) {
        tw_auto tw_tensor *text = tw_tensor_string(json, strlen(json)), *zero = text ? tw_tensor_int64(0) : NULL;
        tw_summary_write_args args = { .tag = "keras",
                                       .tensor = text,
                                       .step = zero,
                                       .metadata = { .kind = TW_VALUE_BYTES, .s = { metadata, sizeof metadata - 1 } } };
        status = leave(zero ? done(tw__impl_summary_write(&args)) : tw__error_status());
    }
    tw__free(json);
    return status;
}

/* The graph of the training step, once it is there. */
static tw_status write_graph(board *b, tw_layer *model)
{
    tw_value graph = tw__impl_model_train_graph(&(tw_model_train_graph_args){ .self = model });
    if (graph.kind != TW_VALUE_BYTES)
        return tw_error_code();
    tw_status status = enter(b, TRAIN);
    if (status == TW_OK) {
        tw_auto tw_tensor *bytes = tw_tensor_string(graph.s.data, graph.s.size), *zero = bytes ? tw_tensor_int64(0) : NULL;
        tw_summary_write_graph_args args = { .graph_def = bytes, .step = zero };
        status = leave(zero ? done(tw__impl_summary_write_graph(&args)) : tw__error_status());
    }
    tw_value_free(&graph);
    return status;
}

/* ---- weights ---- */

/* The weight as pictures [n, height, width, 1]; NULL without an error: it is none. */
static tw_tensor *picture(tw_tensor *weight)
{
    tw_auto tw_tensor *squeezed = tw_squeeze(weight), *image = tw_retain(squeezed);
    int rank = image ? image->shape.rank : 0;
    if (rank == 2 && image->shape.dims[0] > image->shape.dims[1])
        tw__set(&image, NULL), image = tw_transpose(squeezed);
    if (rank == 3) {
        tw__set(&image, NULL);
        image = tw_transpose(squeezed, .perm = TW_INTS(2, 0, 1));
    }
    if (!image || rank < 1 || rank > 4)
        return NULL;
    const int64_t *d = image->shape.dims;
    tw_shape shape = rank == 1   ? TW_SHAPE(1, d[0], 1, 1)
                     : rank == 2 ? TW_SHAPE(1, d[0], d[1], 1)
                     : rank == 3 ? TW_SHAPE(d[0], d[1], d[2], 1)
                                 : image->shape;
    if (shape.dims[3] != 1 && shape.dims[3] != 3 && shape.dims[3] != 4)
        return NULL;
    return tw__reshape(image, &shape);
}

static tw_status write_weight(const board *b, const tw_variable *variable, const char *name, int64_t epoch)
{
    char *tag = tw__format("%s/histogram", name), *shown = tw__format("%s/image", name);
    tw_auto tw_tensor *value = tag && shown ? tw__variable_read((tw_variable *)(uintptr_t)variable) : NULL,
                      *step = value ? tw_tensor_int64(epoch) : NULL;
    tw_summary_histogram_args histogram;
    tw_args_default(&tw__signature_summary_histogram, &histogram);
    histogram.name = tag;
    histogram.data = value;
    histogram.step = step;
    tw_status status = step ? done(tw__impl_summary_histogram(&histogram)) : tw__error_status();
    tw_auto tw_tensor *image = status == TW_OK && settings(b)->write_images ? picture(value) : NULL;
    if (image) {
        tw_summary_image_args args;
        tw_args_default(&tw__signature_summary_image, &args);
        args.name = shown;
        args.data = image;
        args.step = step;
        status = done(tw__impl_summary_image(&args));
    } else if (status == TW_OK) {
        status = tw_error_code();
    }
    tw__free(tag);
    tw__free(shown);
    return status;
}

static tw_status write_layer(const board *b, tw_layer *layer, int64_t epoch)
{
    tw_variable **variables;
    int64_t count;
    TW_TRY(tw__collect_variables(&layer->trackable, TW_ALL_VARIABLES, &variables, &count));
    tw_status status = TW_OK;
    for (int64_t i = 0; status == TW_OK && i < count; i++) {
        char *name = tw__strdup(variables[i]->name);
        for (char *c = name; c && *c; c++)
            *c = *c == ':' ? '_' : *c;
        status = name ? write_weight(b, variables[i], name, epoch) : tw__error_status();
        tw__free(name);
    }
    tw__free(variables);
    return status;
}

static tw_status write_weights(board *b, tw_layer *model, int64_t epoch)
{
    tw_layer **layers;
    int64_t count;
    TW_TRY(tw__collect_layers(&model->trackable, false, &layers, &count));
    tw_status status = enter(b, TRAIN);
    bool entered = status == TW_OK;
    for (int64_t i = 0; status == TW_OK && i < count; i++)
        status = write_layer(b, layers[i], epoch);
    tw__free(layers);
    if (status == TW_OK)
        status = tw__impl_summary_writer_flush(&(tw_summary_writer_flush_args){ .self = b->writers[TRAIN] });
    return entered ? leave(status) : status;
}

/* ---- profiles ---- */

/* The first and the last batch of the profile; false: there is none. */
static bool profiled(const board *b, int64_t *first, int64_t *last)
{
    tw_ints batches = settings(b)->profile_batch;
    *first = batches.count ? batches.items[0] : 0;
    *last = batches.count ? batches.items[batches.count - 1] : 0;
    return *first || *last;
}

static tw_status begin_profile(board *b)
{
    int64_t first, last;
    if (!profiled(b, &first, &last) || b->profiling || b->batch + 1 != first)
        return TW_OK;
    TW_TRY(tw__impl_summary_trace_on(&(tw_summary_trace_on_args){ .graph = true }));
    TW_TRY(tw__impl_profiler_start(&(tw_profiler_start_args){ .logdir = settings(b)->log_dir }));
    b->profiling = true;
    return TW_OK;
}

/* The graph of the training step goes into the summaries, what ran into a file of its own. */
static tw_status end_profile(board *b)
{
    const tw__trainer *trainer = tw__trainer_of(b->callback.model);
    void (*told)(tw__function *) = tw__function_noted;
    b->profiling = false;
    tw_status status = tw__impl_profiler_stop(&(tw_profiler_stop_args){ .save = true });
    if (told && trainer && trainer->steps[TW_TRAIN_MODE].concrete)
        told(trainer->steps[TW_TRAIN_MODE].concrete);
    TW_TRY(status);
    TW_TRY(enter(b, TRAIN));
    tw__owned char *name = tw__format("batch_%lld", (long long)b->batch);
    tw_auto tw_tensor *step = name ? tw_tensor_int64(b->batch) : NULL;
    return leave(step ? tw__impl_summary_trace_export(&(tw_summary_trace_export_args){ .name = name, .step = step })
                      : tw__error_status());
}

/* ---- epochs and batches ---- */

static tw_optimizer *optimizer_of(const board *b)
{
    const tw__trainer *trainer = tw__is(b->callback.model, &tw__class_model) ? tw__trainer_of(b->callback.model) : NULL;
    return trainer ? trainer->optimizer : NULL;
}

static bool is_validation(const char *name)
{
    return tw__starts_with(name, "val_");
}

/* The logs of one of the two writers, and whatever belongs to training besides. */
static tw_status write_epoch(board *b, int which, int64_t epoch, const tw__dict *logs)
{
    bool any = which == TRAIN;
    for (size_t i = 0; i + 1 < logs->count; i += 2)
        any |= is_validation(logs->items[i].s.data);
    if (!any)
        return TW_OK;
    TW_TRY(enter(b, which));
    tw_status status = TW_OK;
    for (size_t i = 0; status == TW_OK && i + 1 < logs->count; i += 2) {
        const char *name = logs->items[i].s.data;
        double value;
        if (is_validation(name) == (which == VALIDATION) && tw__value_number(&logs->items[i + 1], &value))
            status = scalar("epoch_", which == VALIDATION ? name + 4 : name, "", value, epoch);
    }
    const tw_optimizer *optimizer = optimizer_of(b);
    if (status == TW_OK && which == TRAIN && optimizer && optimizer->schedule)
        status =
            scalar("epoch_", "learning_rate", "", tw__schedule_rate(optimizer->schedule, tw__optimizer_step(optimizer)), epoch);
    if (status == TW_OK && which == TRAIN && optimizer && settings(b)->write_steps_per_second)
        status = scalar("epoch_", "steps_per_second", "",
                        (double)(tw__optimizer_step(optimizer) - b->before) / fmax(now() - b->epoch_began, 1e-9), epoch);
    return leave(status);
}

static tw_status end_batch(board *b, const tw__dict *logs)
{
    const tw_value params = b->callback.params, *verbose = tw__value_get(&params, "verbose");
    int64_t every = settings(b)->update_freq, first, last;
    bool profiles = profiled(b, &first, &last);
    b->batch++;
    if (verbose && verbose->kind == TW_VALUE_INT && verbose->i != 1 && !settings(b)->write_steps_per_second && !profiles)
        return TW_OK; /* as in Keras, where batches are then not told */
    if (b->graph_due) {
        b->graph_due = false;
        TW_TRY(write_graph(b, b->callback.model));
    }
    if (b->profiling && b->batch >= last)
        TW_TRY(end_profile(b));
    if (!every || b->batch % every)
        return TW_OK;
    TW_TRY(enter(b, TRAIN));
    tw_status status = TW_OK;
    if (settings(b)->write_steps_per_second)
        status = scalar("batch_", "steps_per_second", "", 1 / fmax(now() - b->batch_began, 1e-9), b->batch);
    for (size_t i = 0; status == TW_OK && logs && i + 1 < logs->count; i += 2) {
        double value;
        if (tw__value_number(&logs->items[i + 1], &value))
            status = scalar("batch_", logs->items[i].s.data, "", value, b->batch);
    }
    return leave(status);
}

static tw_status end_test(board *b, const tw__dict *logs)
{
    const tw_optimizer *optimizer = optimizer_of(b);
    tw_status status = TW_OK;
    if (optimizer) {
        TW_TRY(enter(b, VALIDATION));
        for (size_t i = 0; status == TW_OK && logs && i + 1 < logs->count; i += 2) {
            double value;
            if (tw__value_number(&logs->items[i + 1], &value))
                status = scalar("evaluation_", logs->items[i].s.data, "_vs_iterations", value, tw__optimizer_step(optimizer));
        }
        status = leave(status);
    }
    return status == TW_OK && !b->training ? close_all(b) : status;
}

/* ---- the model's own summaries, where batches are told ---- */

static tw_tensor *is_due(tw_callable *self, tw_tensor *input)
{
    (void)input;
    const board *b = self->state;
    return tw_tensor_bool(b->batch % settings(b)->update_freq == 0);
}

static tw_status push_own(board *b, int which)
{
    if (!settings(b)->update_freq)
        return TW_OK;
    tw_auto tw_callable *due = tw__callable_new("is_due", is_due, NULL, b);
    struct tw_summary_writer *writer = due ? writer_of(b, which) : NULL;
    tw_summary_push_args args = { .writer = writer, .step = { .kind = TW_VALUE_INT, .i = 0 }, .ask = due };
    return writer ? tw__impl_summary_push(&args) : tw__error_status();
}

static tw_status pop_own(const board *b)
{
    return settings(b)->update_freq ? leave(TW_OK) : TW_OK;
}

static tw_status begin(board *b)
{
    if (b->begun)
        return TW_OK;
    b->begun = true;
    b->graph_due = settings(b)->write_graph;
    if (settings(b)->embeddings_freq)
        TW_TRY(tw__board_list_embeddings(b->callback.model, settings(b)->log_dir, &settings(b)->embeddings_metadata));
    return b->graph_due ? write_model(b, b->callback.model) : TW_OK;
}

static tw_status begin_epoch(board *b)
{
    const tw_optimizer *optimizer = optimizer_of(b);
    b->epoch_began = now();
    b->before = optimizer ? tw__optimizer_step(optimizer) : 0;
    return TW_OK;
}

static tw_status end_epoch(board *b, int64_t epoch, const tw__dict *logs)
{
    int64_t every = settings(b)->histogram_freq, saves = settings(b)->embeddings_freq;
    TW_TRY(write_epoch(b, TRAIN, epoch, logs));
    TW_TRY(write_epoch(b, VALIDATION, epoch, logs));
    if (every > 0 && epoch % every == 0)
        TW_TRY(write_weights(b, b->callback.model, epoch));
    return saves > 0 && epoch % saves == 0 ? tw__board_save_embeddings(b->callback.model, settings(b)->log_dir, epoch) : TW_OK;
}

static tw_status board_on(tw_callback *self, tw_event event, int64_t index, tw__dict *logs)
{
    board *b = (board *)self;
    tw_status status;
    switch (event) {
    case TW_TRAIN_BEGIN:
        b->batch = 0;
        b->training = true;
        TW_TRY(begin(b));
        return push_own(b, TRAIN);
    case TW_TRAIN_END:
        b->training = false;
        status = pop_own(b);
        if (status == TW_OK && b->profiling)
            status = end_profile(b);
        return status == TW_OK ? close_all(b) : status;
    case TW_TEST_BEGIN:
        TW_TRY(begin(b));
        return push_own(b, VALIDATION);
    case TW_TEST_END:
        status = pop_own(b);
        return status == TW_OK ? end_test(b, logs) : status;
    case TW_EPOCH_BEGIN:
        return begin_epoch(b);
    case TW_EPOCH_END:
        return end_epoch(b, index, logs ? logs : &(tw__dict){ 0 });
    case TW_TRAIN_BATCH_BEGIN:
        b->batch_began = now();
        return begin_profile(b);
    case TW_TRAIN_BATCH_END:
        return end_batch(b, logs);
    default:
        return TW_OK;
    }
}

static const tw__callback_methods board_methods = { .events = TW_ON(TW_TRAIN_BEGIN) | TW_ON(TW_TRAIN_END) | TW_ON(TW_TEST_BEGIN) |
                                                              TW_ON(TW_TEST_END) | TW_ON(TW_EPOCH_BEGIN) | TW_ON(TW_EPOCH_END) |
                                                              TW_ON(TW_TRAIN_BATCH_BEGIN) | TW_ON(TW_TRAIN_BATCH_END),
                                                    .on = board_on };

TW_CLASS(
    callbacks_tensor_board,
    "keras.callbacks.TensorBoard(log_dir: str = logs, histogram_freq: int > -1 = 0, write_graph: bool = True, "
    "write_images: bool = False, write_steps_per_second: bool = False, update_freq: int > -1 = 0, "
    "profile_batch: ints = None since 0.2, embeddings_freq: int > -1 = 0 since 0.2, "
    "embeddings_metadata: value = None since 0.2) -> callback",
    .parent = &tw__class_callback, .size = sizeof(board), .destroy = board_destroy, .methods = &board_methods,
    .doc =
        "Writes summaries for TensorBoard; of batches, too, if update_freq says after how many.\n"
        "log_dir: the folder of the files\n"
        "histogram_freq: after how many epochs histograms of the weights are written; 0: never\n"
        "write_graph: True: write the graph of the model\n"
        "write_images: True: write the weights as pictures, too, where histograms are written\n"
        "write_steps_per_second: True: write how many batches a second takes\n"
        "update_freq: after how many batches their values are written; 0: only those of epochs\n"
        "profile_batch: the number of the batch of which a profile is written, or of the first and the last one; none: no profile\n"
        "embeddings_freq: after how many epochs checkpoints for the page of embeddings are written; 0: never\n"
        "embeddings_metadata: the file with the names of the points of all Embedding layers, or a dict of layers' names and such "
        "files");
