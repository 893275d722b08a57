/* Keras's progress line: "  7/313 [>.............................] - ETA: 0s - loss: 0.1234", drawn over itself, and the line
 * that stays at the end. */
#include <math.h>
#include <time.h>

#include "base/language.h"
#include "keras/keras.h"

static _Atomic bool silent;

TW_API(
    keras_set_interactive_logging, "keras.utils._set_interactive_logging(enabled: bool)",
    "Whether progress lines, summaries and what callbacks tell are written to the standard output; false: they are written nowhere.")
{
    silent = !args->enabled;
    return TW_OK;
}

TW_API(keras_is_interactive_logging_enabled, "keras.utils.is_interactive_logging_enabled() -> bool",
       "Whether Keras writes its lines to the standard output.")
{
    return !silent;
}

void tw__tell(const char *text, size_t size)
{
    if (!silent)
        tw__write(text, size);
}

void tw__write(const char *text, size_t size)
{
    if (tw__language.write) {
        tw__language.write(text, size);
        return;
    }
    fwrite(text, 1, size, stdout);
    fflush(stdout);
}

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

void tw__progress_start(tw__progress *progress, int64_t target, int verbose)
{
    *progress =
        (tw__progress){ .target = target, .verbose = verbose, .bar = 30, .interval = 0.05, .unit = "step", .start = now() };
}

void tw__progress_end(tw__progress *progress)
{
    for (size_t i = 0; i < progress->count; i++)
        tw__free(progress->values[i].name);
    tw__free(progress->values);
    *progress = (tw__progress){ 0 };
}

tw_status tw__progress_value_at(tw__progress *progress, int64_t current, const char *name, double value, bool as_is)
{
    size_t at = 0;
    while (at < progress->count && strcmp(progress->values[at].name, name) != 0)
        at++;
    if (at == progress->count) {
        TW_TRY(TW_GROW(progress->values, progress->capacity, at + 1));
        char *copy = tw__strdup(name);
        if (!copy)
            return tw__error_status();
        progress->values[at] = (tw__progress_value){ .name = copy };
        progress->count++;
    }
    tw__progress_value *v = &progress->values[at];
    double steps = current - progress->seen > 1 ? (double)(current - progress->seen) : 1;
    v->sum = as_is ? value : v->sum + value * steps;
    v->count = as_is ? 1 : v->count + steps;
    return TW_OK;
}

static void add_values(const tw__progress *progress, tw__text *text)
{
    for (size_t i = 0; i < progress->count; i++) {
        const tw__progress_value *v = &progress->values[i];
        double mean = v->sum / (v->count > 1 ? v->count : 1);
        bool large = progress->verbose == 1 ? fabs(mean) > 1e-3 : mean > 1e-3;
        tw__text_format(text, " - %s: ", v->name);
        if (isnan(mean) || isinf(mean))
            tw__text_add(text, isnan(mean) ? "nan" : mean > 0 ? "inf" : "-inf");
        else
            tw__text_format(text, large ? "%.4f" : "%.4e", mean);
    }
}

static void add_duration(tw__text *text, double seconds, const char *unit)
{
    if (seconds >= 1 || seconds == 0)
        tw__text_format(text, " %.0fs/%s", seconds, unit);
    else if (seconds >= 1e-3)
        tw__text_format(text, " %.0fms/%s", seconds * 1e3, unit);
    else
        tw__text_format(text, " %.0fus/%s", seconds * 1e6, unit);
}

static void add_eta(tw__text *text, double seconds)
{
    long long s = (long long)seconds;
    if (s > 3600)
        tw__text_format(text, " - ETA: %lld:%02lld:%02lld", s / 3600, s % 3600 / 60, s % 60);
    else if (s > 60)
        tw__text_format(text, " - ETA: %lld:%02lld", s / 60, s % 60);
    else
        tw__text_format(text, " - ETA: %llds", s);
}

static int digits(int64_t number)
{
    int count = 1;
    while (number >= 10) {
        number /= 10;
        count++;
    }
    return count;
}

static void draw_bar(tw__progress *progress, tw__text *text, int64_t current, bool last, double time)
{
    bool known = progress->target >= 0;
    for (size_t i = 0; i < progress->width; i++)
        tw__text_add(text, "\b");
    tw__text_add(text, "\r");
    size_t begin = text->size, before = progress->width;
    if (known) {
        tw__text_format(text, "%*lld/%lld [", digits(progress->target), (long long)current, (long long)progress->target);
        int done = (int)(progress->bar * ((double)current / (double)progress->target));
        for (int i = 0; i < progress->bar; i++)
            tw__text_add(text, i < done - 1 || (i == done - 1 && current >= progress->target) ? "=" : i == done - 1 ? ">" : ".");
        tw__text_add(text, "]");
    } else {
        tw__text_format(text, "%7lld/Unknown", (long long)current);
    }
    double unit = !current                                   ? 0
                  : current > 1 && progress->after_first > 0 ? (time - progress->after_first) / (double)(current - 1)
                                                             : (time - progress->start) / (double)current;
    if (current == 1)
        progress->after_first = time;
    if (last || !known) {
        tw__text_format(text, " - %.0fs", time - progress->start);
        add_duration(text, unit, progress->unit);
    } else {
        add_eta(text, unit * (double)(progress->target - current));
    }
    add_values(progress, text);
    progress->width = text->size - begin;
    for (size_t i = progress->width; i < before; i++)
        tw__text_add(text, " ");
    if (last)
        tw__text_add(text, "\n");
}

void tw__progress_update(tw__progress *progress, int64_t current, bool last)
{
    progress->seen = current;
    double time = progress->verbose ? now() : 0;
    if (!progress->verbose || (!last && (progress->verbose != 1 || time - progress->last_update < progress->interval)))
        return;
    tw__text text = { 0 };
    if (progress->verbose == 1) {
        draw_bar(progress, &text, current, last, time);
    } else {
        double whole = time - progress->start;
        tw__text_format(&text, "%*lld/%lld - %.0fs", digits(progress->target), (long long)current, (long long)progress->target,
                        whole);
        add_values(progress, &text);
        tw__text_add(&text, " -");
        add_duration(&text, whole, "epoch");
        tw__text_add(&text, " -");
        add_duration(&text, whole / (double)(progress->target ? progress->target : 1), progress->unit);
        tw__text_add(&text, "\n");
    }
    if (!text.failed)
        tw__tell(text.data, text.size);
    tw__text_free(&text);
    progress->last_update = time;
}
