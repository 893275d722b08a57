/* Keras's progress line: "  7/313 [>.............................] - ETA: 0s", drawn over itself, and the line that stays at the end. */
#include <math.h>
#include <time.h>

#include "keras/keras.h"

enum { BAR = 30 };
static const double interval = 0.05; /* seconds between two updates */

static void write_out(const char *text, size_t size)
{
    fwrite(text, 1, size, stdout);
    fflush(stdout);
}

void (*tw__write_hook)(const char *text, size_t size) = write_out;

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

void tw__progress_start(tw__progress *progress, int64_t target, int verbose)
{
    *progress = (tw__progress){ .target = target, .verbose = verbose, .start = now() };
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
    for (size_t i = 0; i < progress->width; i++)
        tw__text_add(text, "\b");
    tw__text_add(text, "\r");
    size_t begin = text->size, before = progress->width;
    tw__text_format(text, "%*lld/%lld [", digits(progress->target), (long long)current, (long long)progress->target);
    int done = (int)(BAR * ((double)current / (double)progress->target));
    for (int i = 0; i < BAR; i++)
        tw__text_add(text, i < done - 1 || (i == done - 1 && current >= progress->target) ? "=" : i == done - 1 ? ">" : ".");
    tw__text_add(text, "]");
    double unit = current > 1 && progress->after_first > 0 ? (time - progress->after_first) / (double)(current - 1)
                                                           : (time - progress->start) / (double)(current ? current : 1);
    if (current == 1)
        progress->after_first = time;
    if (last) {
        tw__text_format(text, " - %.0fs", time - progress->start);
        add_duration(text, unit, "step");
    } else {
        add_eta(text, unit * (double)(progress->target - current));
    }
    progress->width = text->size - begin;
    for (size_t i = progress->width; i < before; i++)
        tw__text_add(text, " ");
    if (last)
        tw__text_add(text, "\n");
}

void tw__progress_update(tw__progress *progress, int64_t current, bool last)
{
    double time = progress->verbose ? now() : 0;
    if (!progress->verbose || (!last && (progress->verbose != 1 || time - progress->last_update < interval)))
        return;
    tw__text text = { 0 };
    if (progress->verbose == 1) {
        draw_bar(progress, &text, current, last, time);
    } else {
        double whole = time - progress->start;
        tw__text_format(&text, "%lld/%lld - %.0fs -", (long long)current, (long long)progress->target, whole);
        add_duration(&text, whole, "epoch");
        tw__text_add(&text, " -");
        add_duration(&text, whole / (double)(progress->target ? progress->target : 1), "step");
        tw__text_add(&text, "\n");
    }
    if (!text.failed)
        tw__write_hook(text.data, text.size);
    tw__text_free(&text);
    progress->last_update = time;
}
