/* Callbacks that write files: ModelCheckpoint and CSVLogger. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "base/language.h"
#include "keras/callbacks/callbacks.h"
#include "keras/models/training.h"

/* ---- ModelCheckpoint ---- */

typedef struct saver {
    tw_callback callback;
    bool larger; /* is better */
    double best;
    int64_t epochs, epoch, batches, last_batch, every; /* every: so many batches; 0: epochs */
} saver;

static tw_status saver_init(void *self, const void *given)
{
    saver *s = self;
    const tw_callbacks_model_checkpoint_args *args = given;
    const char *mode = args->mode;
    if (strcmp(mode, "auto") != 0 && strcmp(mode, "min") != 0 && strcmp(mode, "max") != 0) {
        tw__log("WARNING", "ModelCheckpoint mode %s is unknown, fallback to auto mode.", mode);
        mode = "auto";
    }
    s->larger =
        *mode == 'm' ? strcmp(mode, "max") == 0 : strstr(args->monitor, "acc") || tw__starts_with(args->monitor, "fmeasure");
    s->best = !isnan(args->initial_value_threshold) ? args->initial_value_threshold : s->larger ? -INFINITY : INFINITY;
    s->last_batch = -1;
    if (args->period != TW_NO_INT)
        tw__log("WARNING",
                "`period` argument is deprecated. Please use `save_freq` to specify the frequency in number of batches seen.");
    return TW_OK;
}

static tw_status saver_settle(void *self, const void *given)
{
    const tw_callbacks_model_checkpoint_args *args = given;
    if (args->save_freq != TW_NO_INT && args->save_freq < 1)
        return tw__fail(TW_VALUE_ERROR, "Unrecognized save_freq: %lld. Expected save_freq are \"epoch\" or integer",
                        (long long)args->save_freq);
    ((saver *)self)->every = args->save_freq != TW_NO_INT ? args->save_freq : 0;
    return TW_OK;
}

static tw_status write_model(tw_layer *model, const char *path, bool weights)
{
    if (weights)
        return tw_model_save_weights(model, path);
    if (tw__language.save_model && model->trackable.object.peer)
        return tw__language.save_model(model, path);
    return tw_model_save(model, path);
}

/* Workers beside the first one take part in reading the variables, but what they write is in nobody's way, and goes again. */
static tw_status write_as_worker(tw_layer *model, const char *path, const char *directory, bool weights)
{
    int worker = tw__model_worker(model);
    if (!worker)
        return write_model(model, path, weights);
    tw__owned char *folder = tw__format("%s%sworkertemp_%d", directory, *directory ? "/" : "", worker);
    const char *slash = strrchr(path, '/');
    tw__owned char *aside = folder ? tw__path_join(folder, slash ? slash + 1 : path) : NULL;
    TW_NEED(aside);
    TW_TRY(tw__make_directories(folder));
    tw_status status = write_model(model, aside, weights);
    tw_status swept = tw__impl_gfile_rmtree(&(tw_gfile_rmtree_args){ .path = folder });
    return status == TW_OK ? swept : status;
}

static tw_status save(saver *s, const tw_callbacks_model_checkpoint_args *args, int64_t batch, const tw__dict *logs)
{
    int64_t period = args->period == TW_NO_INT ? 1 : args->period;
    if (!s->every && s->epochs < period)
        return TW_OK;
    s->epochs = 0;
    char *path = tw__logs_format(args->filepath, s->epoch + 1, batch < 0 ? -1 : batch + 1, logs),
         *directory = path ? tw__path_directory(path) : NULL;
    tw_status status = directory ? TW_OK : tw__error_status();
    if (status == TW_OK && *directory && !tw__path_exists(directory))
        status = tw__make_directories(directory);
    double current;
    bool saves = status == TW_OK;
    if (saves && args->save_best_only) {
        bool found = tw__logs_number(logs, args->monitor, &current);
        saves = found && (s->larger ? current > s->best : current < s->best);
        if (!found)
            tw__log("WARNING", "Can save best model only with %s available, skipping.", args->monitor);
        else if (args->verbose > 0 && saves)
            tw__callback_print("\nEpoch %lld: %s improved from %.5f to %.5f, saving model to %s", (long long)s->epoch + 1,
                               args->monitor, s->best, current, path);
        else if (args->verbose > 0)
            tw__callback_print("\nEpoch %lld: %s did not improve from %.5f", (long long)s->epoch + 1, args->monitor, s->best);
        if (saves)
            s->best = current;
    } else if (saves && args->verbose > 0) {
        tw__callback_print("\nEpoch %lld: saving model to %s", (long long)s->epoch + 1, path);
    }
    if (saves)
        status = write_as_worker(s->callback.model, path, directory, args->save_weights_only);
    tw__free(path);
    tw__free(directory);
    return status;
}

static tw_status saver_on(tw_callback *self, tw_event event, int64_t index, tw__dict *logs)
{
    saver *s = (saver *)self;
    const tw_callbacks_model_checkpoint_args *args = tw_object_config(self);
    if (!self->model)
        return TW_OK;
    if (event == TW_EPOCH_BEGIN) {
        s->epoch = index;
        return TW_OK;
    }
    if (event == TW_EPOCH_END) {
        s->epochs++;
        s->epoch = index;
        return s->every ? TW_OK : save(s, args, -1, logs);
    }
    if (!s->every)
        return TW_OK;
    s->batches += index <= s->last_batch ? index + 1 : index - s->last_batch;
    s->last_batch = index;
    if (s->batches < s->every)
        return TW_OK;
    s->batches = 0;
    return save(s, args, index, logs);
}

static void saver_state(const tw_callback *self, tw__dict *state)
{
    tw__dict_put(state, "best", (tw_value){ .kind = TW_VALUE_FLOAT, .f = ((const saver *)self)->best });
    tw__dict_put(state, "epochs_since_last_save", (tw_value){ .kind = TW_VALUE_INT, .i = ((const saver *)self)->epochs });
}

static tw_status saver_restore(tw_callback *self, const tw__dict *state)
{
    saver *s = (saver *)self;
    double epochs = (double)s->epochs;
    tw__logs_number(state, "best", &s->best);
    tw__logs_number(state, "epochs_since_last_save", &epochs);
    s->epochs = (int64_t)epochs;
    return TW_OK;
}

static const tw__callback_methods saver_methods = { TW_ON(TW_EPOCH_BEGIN) | TW_ON(TW_EPOCH_END) | TW_ON(TW_TRAIN_BATCH_END),
                                                    saver_on, saver_state, saver_restore };

TW_CLASS(
    callbacks_model_checkpoint,
    "keras.callbacks.ModelCheckpoint(filepath: str, monitor: str = val_loss, verbose: int = 0, save_best_only: bool = False, "
    "save_weights_only: bool = False, mode: str = auto, save_freq: int = None, options: checkpoint_options = None, "
    "initial_value_threshold: float = None, period: int = None) -> callback",
    .parent = &tw__class_callback, .size = sizeof(saver), .init = saver_init, .settle = saver_settle,
    .inert = " mode initial_value_threshold ", .methods = &saver_methods,
    .doc =
        "Saves the model, or its weights, after epochs or batches.\n"
        "save_best_only: True: save only where the value that is watched is better than ever before\n"
        "save_weights_only: True: save the weights; False: the whole model\n"
        "save_freq: after how many batches to save; None: after every epoch\n"
        "initial_value_threshold: the value that must be surpassed before anything is saved as the best; None: any is the first\n"
        "period: after how many epochs to save; for old programs");

/* ---- CSVLogger ---- */

typedef struct csv {
    tw_callback callback;
    FILE *file;
    char **keys;
    int key_count;
    bool header, began;
} csv;

static void csv_end(csv *c, bool forget)
{
    if (c->file)
        fclose(c->file);
    c->file = NULL;
    c->began = false;
    for (int i = 0; forget && i < c->key_count; i++)
        tw__free(c->keys[i]);
    if (forget) {
        tw__free(c->keys);
        c->keys = NULL;
        c->key_count = 0;
    }
}

static void csv_destroy(void *self)
{
    csv_end(self, true);
}

static int by_text(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* The columns are those of the first epoch, sorted; with those of a validation that may come later. */
static tw_status learn_keys(csv *c, const tw__dict *logs)
{
    int count = (int)(logs->count / 2);
    bool validates = false;
    c->keys = tw__alloc_array((size_t)(2 * count) + 1, sizeof *c->keys);
    if (!c->keys)
        return tw__error_status();
    for (int i = 0; i < count; i++) {
        validates |= tw__starts_with(logs->items[2 * i].s.data, "val_");
        if (!(c->keys[c->key_count] = tw__strdup(logs->items[2 * i].s.data)))
            return tw__error_status();
        c->key_count++;
    }
    qsort(c->keys, (size_t)count, sizeof *c->keys, by_text);
    for (int i = 0; !validates && i < count; i++) {
        if (!(c->keys[c->key_count] = tw__format("val_%s", c->keys[i])))
            return tw__error_status();
        c->key_count++;
    }
    return TW_OK;
}

static tw_status csv_begin(csv *c, const tw_callbacks_csv_logger_args *args)
{
    csv_end(c, false);
    c->file = fopen(args->filename, args->append ? "a" : "w");
    if (!c->file)
        return tw__fail_errno(errno, "CSVLogger: can't open", args->filename);
    c->header = !args->append || ftell(c->file) == 0;
    return TW_OK;
}

static tw_status csv_epoch(csv *c, const tw_callbacks_csv_logger_args *args, int64_t epoch, const tw__dict *logs)
{
    tw__text line = { 0 };
    const char *separator = args->separator ? args->separator : ",";
    if (!c->file)
        return tw__fail(TW_RUNTIME_ERROR, "CSVLogger: %s is not open", args->filename);
    if (!c->keys)
        TW_TRY(learn_keys(c, logs));
    if (!c->began && c->header) {
        tw__text_add(&line, "epoch");
        for (int i = 0; i < c->key_count; i++)
            tw__text_format(&line, "%s%s", separator, c->keys[i]);
        tw__text_add(&line, "\r\n");
    }
    c->began = true;
    tw__text_format(&line, "%lld", (long long)epoch);
    for (int i = 0; i < c->key_count; i++) {
        double number;
        tw__text_add(&line, separator);
        if (tw__logs_number(logs, c->keys[i], &number))
            tw__print_float(&line, number, TW_FLOAT64);
        else
            tw__text_add(&line, "NA");
    }
    tw__text_add(&line, "\r\n");
    bool good = !line.failed && fwrite(line.data, 1, line.size, c->file) == line.size && fflush(c->file) == 0;
    tw_status status = good          ? TW_OK
                       : line.failed ? tw__error_status()
                                     : tw__fail_errno(errno, "CSVLogger: can't write", args->filename);
    tw__text_free(&line);
    return status;
}

static tw_status csv_on(tw_callback *self, tw_event event, int64_t index, tw__dict *logs)
{
    const tw_callbacks_csv_logger_args *args = tw_object_config(self);
    if (event == TW_TRAIN_BEGIN)
        return csv_begin((csv *)self, args);
    if (event == TW_EPOCH_END)
        return csv_epoch((csv *)self, args, index, logs);
    csv_end((csv *)self, false);
    return TW_OK;
}

static const tw__callback_methods csv_methods = { .events = TW_ON(TW_TRAIN_BEGIN) | TW_ON(TW_EPOCH_END) | TW_ON(TW_TRAIN_END),
                                                  .on = csv_on };

TW_CLASS(callbacks_csv_logger,
         "keras.callbacks.CSVLogger(filename: str, separator: str = None shown ',', append: bool = False) -> callback",
         .parent = &tw__class_callback, .size = sizeof(csv), .destroy = csv_destroy, .methods = &csv_methods,
         .doc = "Writes the values of every epoch to a table.\n"
                "separator: what stands between two values; None: a comma\n"
                "append: True: go on with a file that is there; False: begin it anew");
