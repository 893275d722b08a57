/* keras.callbacks.BackupAndRestore: a checkpoint of the model, its optimizer and the place of the training after every epoch, or
 * every so many batches, in DIRECTORY/chief; a fit that finds one goes on behind that place. The end of the training deletes it.
 * Beyond what Keras keeps there are the random streams and where the data stand (models/resume.c), so that what follows is what
 * would have followed. */
#include <stdio.h>

#include "format/format.h"
#include "keras/models/training.h"
#include "saving/saving.h"

typedef struct backup {
    tw_callback callback;
    char *directory;
    tw_variable *epoch, *batch, *steps, *state;
    int64_t current, batches; /* the epoch that runs; batches since the last backup */
    tw_checkpoint *checkpoint;
    tw_checkpoint_manager *manager;
} backup;

static void backup_end(void *self)
{
    backup *b = self;
    tw__set(&b->manager, NULL);
    tw__set(&b->checkpoint, NULL);
    tw__set(&b->epoch, NULL);
    tw__set(&b->batch, NULL);
    tw__set(&b->steps, NULL);
    tw__set(&b->state, NULL);
    b->batches = 0;
    tw__free(b->directory);
    b->directory = NULL;
}

static tw_status backup_settle(void *self, const void *given)
{
    (void)self;
    const tw_callbacks_backup_and_restore_args *args = given;
    if (args->save_freq != TW_NO_INT && args->save_freq < 1)
        return tw__fail(TW_VALUE_ERROR, "BackupAndRestore: save_freq is %lld, expected \"epoch\" or a number of batches",
                        (long long)args->save_freq);
    if (args->save_before_preemption)
        return tw__fail(TW_UNIMPLEMENTED, "BackupAndRestore: save_before_preemption is not supported");
    if (!*args->backup_dir)
        return tw__fail(TW_VALUE_ERROR, "Empty `backup_dir` argument passed");
    return TW_OK;
}

static tw_variable *counter(int64_t value, const char *name)
{
    tw_auto tw_tensor *first = tw_tensor_int64(value);
    return first ? tw__variable_new(first, name, false, NULL) : NULL;
}

static tw_status set(tw_variable *variable, int64_t value)
{
    tw_auto tw_tensor *tensor = tw_tensor_int64(value);
    return tensor ? tw__variable_set(variable, tensor) : tw__error_status();
}

static tw_status back_up(backup *b, tw__trainer *trainer, int64_t epoch, int64_t batch)
{
    tw_auto tw_tensor *state = trainer->feed ? tw__trainer_save_state(trainer) : tw_tensor_string("", 0);
    if (!state)
        return tw__error_status();
    TW_TRY(tw__variable_set(b->state, state));
    TW_TRY(set(b->epoch, epoch));
    TW_TRY(set(b->batch, batch));
    TW_TRY(set(b->steps, trainer->train_count));
    b->batches = 0;
    char *path = tw_checkpoint_manager_save(b->manager);
    tw__free(path);
    return path ? TW_OK : tw_error_code();
}

/* All workers go on from the first one's backup, and all take part in making one; the others' are of no use. */
static tw_status move_aside(backup *b, const tw__trainer *trainer, const char *directory)
{
    int worker = tw__model_worker(trainer->model);
    if (!worker)
        return TW_OK;
    char name[32];
    snprintf(name, sizeof name, "workertemp_%d", worker);
    tw__free(b->directory);
    b->directory = tw__path_join(directory, name);
    tw_release(b->manager);
    b->manager = b->directory ? tw_checkpoint_manager(b->checkpoint, b->directory, 1) : NULL;
    return b->manager ? TW_OK : tw__error_status();
}

static tw_status backup_begin(backup *b, tw__trainer *trainer, const char *directory, bool by_batches)
{
    backup_end(b);
    b->directory = tw__path_join(directory, "chief");
    b->epoch = b->directory ? counter(-1, "ckpt_saved_epoch") : NULL;
    b->batch = b->epoch ? counter(-1, "ckpt_saved_batch") : NULL;
    b->steps = b->batch ? counter(0, "train_counter") : NULL;
    tw_auto tw_tensor *nothing = b->steps ? tw_tensor_string("", 0) : NULL;
    b->state = nothing ? tw__variable_new(nothing, "training_state", false, NULL) : NULL;
    if (!b->state)
        return tw__error_status();
    b->checkpoint = tw_checkpoint(NULL, TW_PAIRS({ "model", trainer->model }, { "ckpt_saved_epoch", b->epoch },
                                                 { "ckpt_saved_batch", b->batch }, { "train_counter", b->steps },
                                                 { "training_state", b->state }));
    b->manager = b->checkpoint ? tw_checkpoint_manager(b->checkpoint, b->directory, 1) : NULL;
    if (!b->manager)
        return tw__error_status();
    char *path = tw_checkpoint_manager_restore_or_initialize(b->manager);
    bool restored = path != NULL;
    tw__free(path);
    if (!restored)
        TW_TRY(tw_error_code());
    TW_TRY(move_aside(b, trainer, directory));
    if (!restored)
        return TW_OK;
    tw_auto tw_tensor *epoch = tw__variable_read(b->epoch), *batch = tw__variable_read(b->batch),
                      *steps = tw__variable_read(b->steps);
    tw_auto tw_tensor *state = tw__variable_read(b->state);
    if (!epoch || !batch || !steps || !state)
        return tw__error_status();
    trainer->resume_epoch = tw_tensor_int_at(epoch, 0);
    trainer->resume_batch = by_batches ? tw_tensor_int_at(batch, 0) : -1;
    tw__set(&trainer->resume_state, state);
    trainer->train_count = tw_tensor_int_at(steps, 0);
    return TW_OK;
}

static tw_status backup_on(tw_callback *self, tw_event event, int64_t index, tw__dict *logs)
{
    (void)logs;
    backup *b = (backup *)self;
    const tw_callbacks_backup_and_restore_args *args = tw_object_config(self);
    bool by_batches = args->save_freq != TW_NO_INT;
    tw__trainer *trainer = self->model ? tw__trainer_of(self->model) : NULL;
    if (!trainer)
        return TW_OK;
    if (event == TW_TRAIN_BEGIN)
        return backup_begin(b, trainer, args->backup_dir, by_batches);
    if (!b->manager)
        return TW_OK;
    if (event == TW_EPOCH_BEGIN) {
        b->current = index;
        return TW_OK;
    }
    if (event == TW_TRAIN_BATCH_END)
        return by_batches && ++b->batches >= args->save_freq ? back_up(b, trainer, b->current, index) : TW_OK;
    if (event == TW_EPOCH_END)
        return by_batches ? TW_OK : back_up(b, trainer, index, 0);
    bool goes = args->delete_checkpoint || tw__model_worker(trainer->model);
    tw_status status =
        goes && tw__path_exists(b->directory) ? tw__impl_gfile_rmtree(&(tw_gfile_rmtree_args){ .path = b->directory }) : TW_OK;
    backup_end(b);
    return status;
}

static void backup_visit(void *self, tw__visitor visitor, void *context)
{
    backup *b = self;
    if (b->checkpoint)
        visitor(context, (tw_object *)b->checkpoint);
    if (b->manager)
        visitor(context, (tw_object *)b->manager);
}

static const tw__callback_methods backup_methods = { .events = TW_ON(TW_TRAIN_BEGIN) | TW_ON(TW_EPOCH_BEGIN) |
                                                               TW_ON(TW_TRAIN_BATCH_END) | TW_ON(TW_EPOCH_END) |
                                                               TW_ON(TW_TRAIN_END),
                                                     .on = backup_on };

TW_CLASS(
    callbacks_backup_and_restore,
    "keras.callbacks.BackupAndRestore(backup_dir: str, save_freq: int = None, delete_checkpoint: bool = True, "
    "save_before_preemption: bool = False) -> callback",
    .parent = &tw__class_callback, .size = sizeof(backup), .settle = backup_settle, .destroy = backup_end, .visit = backup_visit,
    .clear = backup_end, .methods = &backup_methods,
    .doc =
        "Saves the state of the training after every epoch, or after save_freq batches; a fit that was interrupted goes on from there.\n"
        "backup_dir: the folder of the backup; no other callback may use it\n"
        "save_freq: after how many batches the state is saved; None: after every epoch\n"
        "delete_checkpoint: True: remove the backup when the training has ended\n"
        "save_before_preemption: True is not supported");
