/* Model.fit and evaluate: the loop over epochs and batches, which tells the callbacks. It runs without the embedding language's
 * lock; callbacks and traces in that language take it when they come. */
#include <math.h>

#include "base/pause.h"
#include "keras/optimizers/optimizers.h"
#include "keras/models/fit.h"

/* ---- one epoch ---- */

static void drop_results(tw__pass *p)
{
    for (int i = 0; i < p->result_count; i++)
        tw_release(p->results[i]);
    tw__free(p->results);
    p->results = NULL;
    p->result_count = 0;
}

/* Arrays begin again as often as there are epochs. */
static tw_status next_batch(tw__pass *p, bool *end)
{
    TW_TRY(tw__feed_next(p->feed, end));
    if (!*end || p->feed->dataset || p->rounds >= p->most_rounds)
        return TW_OK;
    p->rounds++;
    TW_TRY(tw__feed_epoch(p->feed));
    return tw__feed_next(p->feed, end);
}

static tw_status one_step(tw__pass *p, bool *end)
{
    tw_tensor **results = NULL;
    int count = 0;
    TW_TRY(next_batch(p, end));
    if (*end)
        return TW_OK;
    tw__layer_any_batch = !p->feed->dataset && !p->feed->whole && !p->feed->even;
    tw_status status = tw__trainer_step(p->trainer, p->mode, p->feed->batch, p->feed->specs, p->feed->parts, &results, &count);
    tw__layer_any_batch = false;
    TW_TRY(status);
    drop_results(p);
    p->results = results;
    p->result_count = count;
    if (p->mode == TW_TRAIN_MODE)
        p->trainer->train_count++;
    else if (p->mode == TW_TEST_MODE)
        p->trainer->test_count++;
    return p->each ? p->each(p->context, results, count) : TW_OK;
}

static tw_status tell(tw__pass *p, tw_event event, int64_t index)
{
    if (!(p->callbacks->events & TW_ON(event)))
        return TW_OK;
    tw__auto(tw__logs_free) tw__dict logs = { 0 };
    if (p->result_count && (event == TW_TRAIN_BATCH_END || event == TW_TEST_BATCH_END))
        TW_TRY(tw__step_logs(&p->trainer->steps[p->mode], p->results, p->result_count, &logs));
    if (p->result_count && event == TW_PREDICT_BATCH_END && p->outputs)
        TW_TRY(p->outputs(p->context, p->results, p->result_count, &logs));
    return tw__callbacks_tell(p->callbacks, event, index, &logs);
}

/* The step is a part of profiles. */
static void report_step(const tw__pass *p, int64_t step, int64_t began)
{
    char name[80];
    snprintf(name, sizeof name, "%s#step_num=%lld,_r=1#",
             p->mode == TW_TRAIN_MODE  ? "train"
             : p->mode == TW_TEST_MODE ? "test"
                                       : "predict",
             (long long)step);
    tw__op_report(name, NULL, began);
}

tw_status tw__pass_epoch(tw__pass *p, tw__dict *logs)
{
    static const tw_event begins[TW_MODES] = { TW_TRAIN_BATCH_BEGIN, TW_TEST_BATCH_BEGIN, TW_PREDICT_BATCH_BEGIN };
    int64_t step = p->first, at_once = p->trainer->steps_per_execution;
    bool end = false;
    drop_results(p);
    p->first = 0;
    p->stepped = false;
    while (p->limit < 0 || step < p->limit) {
        int64_t steps = p->limit >= 0 && p->limit - step < at_once ? p->limit - step : at_once, done = 0,
                began = tw__op_reports ? tw__step_clock() : 0;
        TW_TRY(tell(p, begins[p->mode], step));
        for (; done < steps && !end; done += !end)
            TW_TRY(one_step(p, &end));
        p->stepped |= done > 0;
        if (end)
            break;
        TW_TRY(tell(p, begins[p->mode] + 1, step + done - 1));
        if (began)
            report_step(p, step, began);
        step += done;
        TW_TRY(tw__pause());
        if (p->mode == TW_TRAIN_MODE && p->trainer->stop_training)
            break;
    }
    if (!end && p->feed->dataset && p->limit >= 0 && step == p->limit &&
        p->limit == p->feed->steps) { /* a cache is whole once its end was seen */
        bool over;
        TW_TRY(tw__feed_next(p->feed, &over));
    }
    if (end && p->limit < 0) {
        p->limit = step;
    } else if (end) {
        p->ran_out = true;
        tw__log(
            "WARNING",
            "Your input ran out of data; interrupting training. Make sure that your dataset or generator can generate at least "
            "`steps_per_epoch * epochs` batches (in this case, %lld batches). You may need to use the repeat() function when building your "
            "dataset.",
            (long long)(p->epochs * p->limit));
    }
    if (logs && p->result_count)
        TW_TRY(tw__step_logs(&p->trainer->steps[p->mode], p->results, p->result_count, logs));
    return TW_OK;
}

void tw__pass_end(tw__pass *p)
{
    drop_results(p);
}

/* How many steps an epoch has: as given, or as many as there are batches. */
tw_status tw__pass_limit(const tw__feed *feed, int64_t given, const char *what, int64_t *limit)
{
    if (given == 0)
        return tw__fail(
            TW_VALUE_ERROR,
            "Unexpected value for `steps_per_epoch`. Received value is 0. Please check the docstring for `model.fit()` for "
            "supported values.");
    *limit = given != TW_NO_INT ? given : feed->steps;
    if (given == TW_NO_INT && feed->dataset && feed->steps == TW_INFINITE)
        return tw__fail(
            TW_VALUE_ERROR,
            "When providing an infinite dataset, you must specify the number of steps to run (if you did not intend to "
            "create an infinite dataset, make sure to not call `repeat()` on the dataset). (%s)",
            what);
    if (*limit < 0)
        *limit = -1;
    if (given == TW_NO_INT && *limit == 0)
        return tw__fail(TW_VALUE_ERROR, "Expected input data to be non-empty.");
    return TW_OK;
}

/* ---- evaluation ---- */

tw_status tw__evaluate(tw__trainer *t, tw__feed *feed, int64_t limit, tw__callback_list *callbacks, tw__dict *logs)
{
    tw__auto(tw__pass_end) tw__pass pass = { .trainer = t,
                                             .mode = TW_TEST_MODE,
                                             .feed = feed,
                                             .callbacks = callbacks,
                                             .limit = limit,
                                             .rounds = 1,
                                             .most_rounds = 1,
                                             .epochs = 1 };
    tw__auto(tw__logs_free) tw__dict none = { 0 };
    t->test_count = 0;
    TW_TRY(tw__callbacks_tell(callbacks, TW_TEST_BEGIN, 0, &none));
    TW_TRY(tw__feed_begin(feed, limit));
    TW_TRY(tw__trainer_reset(t));
    TW_TRY(tw__pass_epoch(&pass, logs));
    return tw__callbacks_tell(callbacks, TW_TEST_END, 0, logs);
}

/* ---- fit ---- */

static bool wants_validation(const tw__fit *f, int64_t epoch)
{
    if (!f->validates)
        return false;
    if (f->validation_freq.count <= 1 && !f->freq_is_list)
        return (epoch + 1) % (f->validation_freq.count ? f->validation_freq.items[0] : 1) == 0;
    for (int64_t i = 0; i < f->validation_freq.count; i++) {
        if (f->validation_freq.items[i] == epoch + 1)
            return true;
    }
    return false;
}

static tw_status validate(tw__fit *f, tw__callback_list *callbacks, tw__dict *epoch_logs)
{
    tw__auto(tw__logs_free) tw__dict logs = { 0 };
    int64_t limit;
    TW_TRY(tw__pass_limit(&f->validation, f->validation_steps, "validation_data", &limit));
    TW_TRY(tw__evaluate(f->trainer, &f->validation, limit, callbacks, &logs));
    for (size_t i = 0; i + 1 < logs.count; i += 2) {
        tw__owned char *name = tw__format("val_%s", logs.items[i].s.data);
        TW_NEED(name);
        TW_TRY(tw__logs_set(epoch_logs, name, tw__value_copy(&logs.items[i + 1])));
    }
    return TW_OK;
}

static tw_status one_epoch(tw__fit *f, tw__pass *pass, tw__callback_list *callbacks, int64_t epoch, tw__dict *logs)
{
    tw__dict none = { 0 };
    TW_TRY(tw__trainer_reset(f->trainer));
    TW_TRY(tw__callbacks_tell(callbacks, TW_EPOCH_BEGIN, epoch, &none));
    bool resumed = pass->first > 0;
    TW_TRY(tw__pass_epoch(pass, logs));
    if (!pass->stepped && resumed) /* the epoch was done when the fit was interrupted */
        return TW_OK;
    if (!pass->stepped)
        return tw__fail(
            TW_VALUE_ERROR,
            "Unexpected result of `train_function` (Empty logs). This could be due to issues in input pipeline that resulted "
            "in an empty dataset. Otherwise, please use `Model.compile(..., run_eagerly=True)`, or "
            "`tf.config.run_functions_eagerly(True)` for more information of where went wrong, or file a issue/bug to `tf.keras`.");
    if (wants_validation(f, epoch))
        TW_TRY(validate(f, callbacks, logs));
    return tw__callbacks_tell(callbacks, TW_EPOCH_END, epoch, logs);
}

/* Where fit begins: as it was told, or behind what a fit that was interrupted had done. */
static int64_t first_epoch(const tw__fit *f, tw__pass *pass)
{
    const tw__trainer *t = f->trainer;
    if (t->resume_epoch < 0)
        return f->initial_epoch;
    if (t->resume_batch < 0 || t->resume_batch == pass->limit - 1)
        return t->resume_epoch + 1;
    pass->first = t->resume_batch + 1;
    return t->resume_epoch;
}

static tw_status run_epochs(tw__fit *f, tw__pass *pass, tw__callback_list *callbacks)
{
    tw__auto(tw__logs_free) tw__dict logs = { 0 };
    bool every_epoch = f->feed.dataset && (f->steps_per_epoch == TW_NO_INT || f->steps_per_epoch == f->feed.steps);
    TW_TRY(tw__callbacks_tell(callbacks, TW_TRAIN_BEGIN, 0, &logs));
    TW_TRY(tw__feed_epoch(&f->feed));
    if (f->trainer->resume_state)
        TW_TRY(tw__trainer_restore_state(f->trainer, f->trainer->resume_state));
    int64_t first = first_epoch(f, pass);
    bool inside = pass->first > 0 && f->feed.resumed;
    for (int64_t epoch = first; epoch < f->epochs && !pass->ran_out; epoch++) {
        tw__logs_free(&logs);
        if (every_epoch &&
            !(inside && epoch == first)) /* the first one, too, as Keras does it: a shuffled dataset has its second order then */
            TW_TRY(tw__feed_epoch(&f->feed));
        TW_TRY(one_epoch(f, pass, callbacks, epoch, &logs));
        if (f->trainer->stop_training)
            break;
    }
    tw_optimizer *optimizer = f->trainer->optimizer ? tw__optimizer_inner(f->trainer->optimizer) : NULL;
    if (optimizer)
        TW_TRY(tw__optimizer_finalize(optimizer, &(tw_objects){ (void *const *)optimizer->trained, optimizer->trained_count }));
    return tw__callbacks_tell(callbacks, TW_TRAIN_END, 0, &logs);
}

tw_callback *tw__fit_run(tw__fit *f)
{
    tw__trainer *t = f->trainer;
    int64_t limit;
    tw__callback_list callbacks = { 0 };
    tw_status status = tw__pass_limit(&f->feed, f->steps_per_epoch, "fit", &limit);
    if (status == TW_OK && limit < 0 && t->steps_per_execution > 1)
        status = tw__fail(
            TW_VALUE_ERROR,
            "Could not infer the size of the data. With `steps_per_execution > 1`, you must specify the number of steps to "
            "run.");
    t->stop_training = false;
    t->train_count = 0;
    t->resume_epoch = t->resume_batch = -1;
    t->feed = &f->feed;
    if (status == TW_OK)
        status = tw__callbacks_open(&callbacks, &(tw__callback_setup){ .given = f->callbacks,
                                                                       .history = true,
                                                                       .lock = &t->lock,
                                                                       .progress = f->verbose != 0,
                                                                       .model = t->model,
                                                                       .verbose = f->verbose,
                                                                       .epochs = f->epochs,
                                                                       .steps = limit });
    tw_callback *history = NULL;
    for (int i = 0; i < callbacks.count; i++) {
        if (tw__is(callbacks.items[i], &tw__class_callbacks_history))
            history = callbacks.items[i];
    }
    if (status == TW_OK) {
        int64_t rounds = f->epochs - f->initial_epoch;
        tw__pass pass = { .trainer = t,
                          .mode = TW_TRAIN_MODE,
                          .feed = &f->feed,
                          .callbacks = &callbacks,
                          .limit = limit,
                          .rounds = 1,
                          .most_rounds = rounds,
                          .epochs = rounds };
        tw__set(&t->history, history);
        void *lock = tw__wait_begin();
        status = run_epochs(f, &pass, &callbacks);
        tw__wait_end(lock);
        tw__pass_end(&pass);
    }
    t->feed = NULL;
    tw__set(&t->resume_state, NULL);
    history = status == TW_OK ? tw_retain(history) : NULL;
    tw__callbacks_close(&callbacks);
    return history;
}

void tw__fit_end(tw__fit *f)
{
    tw__feed_close(&f->feed);
    tw__feed_close(&f->validation);
}

tw_status tw__evaluate_run(tw__trainer *t, tw__feed *feed, int64_t steps, int verbose, tw_objects given, tw__dict *logs)
{
    int64_t limit;
    tw__callback_list callbacks;
    TW_TRY(tw__pass_limit(feed, steps, "evaluate", &limit));
    TW_TRY(tw__callbacks_open(&callbacks, &(tw__callback_setup){ .given = given,
                                                                 .history = true,
                                                                 .lock = &t->lock,
                                                                 .progress = verbose != 0,
                                                                 .model = t->model,
                                                                 .verbose = verbose,
                                                                 .epochs = 1,
                                                                 .steps = limit }));
    void *lock = tw__wait_begin();
    tw_status status = tw__evaluate(t, feed, limit, &callbacks, logs);
    tw__wait_end(lock);
    tw__callbacks_close(&callbacks);
    return status;
}
