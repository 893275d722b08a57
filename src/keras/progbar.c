/* keras.utils.Progbar: Keras's progress line (progress.c) for programs that loop themselves. */
#include <math.h>

#include "keras/keras.h"

struct tw_progbar {
    tw_object object;
    tw__progress progress;
    char *unit;
    tw_value as_is; /* names of values that are shown as they are; the others as means */
};

static tw_status progbar_init(void *self, const void *given)
{
    const tw_progbar_args *args = given;
    tw_progbar *bar = self;
    if (args->width < 0 || args->width > 4096 || (args->target != TW_NO_INT && args->target < 0))
        return tw__fail(TW_VALUE_ERROR, "Progbar: target %lld, width %lld, expected none negative and a width of at most 4096",
                        (long long)args->target, (long long)args->width);
    tw__progress_start(&bar->progress, args->target == TW_NO_INT ? -1 : args->target, (int)args->verbose);
    bar->unit = tw__strdup(args->unit_name);
    TW_NEED(bar->unit);
    bar->as_is = tw__value_copy(&args->stateful_metrics);
    bar->progress.bar = (int)args->width;
    bar->progress.interval = args->interval;
    bar->progress.unit = bar->unit;
    return TW_OK;
}

static void progbar_destroy(void *self)
{
    tw_progbar *bar = self;
    tw__progress_end(&bar->progress);
    tw_value_free(&bar->as_is);
    tw__free(bar->unit);
}

TW_CLASS(
    progbar,
    "keras.utils.Progbar(target: int?, width: int = 30, verbose: int = 1, interval: float = 0.05, stateful_metrics: value = None, unit_name: "
    "str = step)",
    .size = sizeof(tw_progbar), .init = progbar_init, .destroy = progbar_destroy, .drop_config = true,
    .doc = "A line that shows how far a loop is.\n"
           "target: how many steps there are; None: not known\n"
           "width: how many characters the bar has\n"
           "verbose: 0: silent; 1: a bar; 2: one line at the end\n"
           "interval: how many seconds are between two updates at least\n"
           "stateful_metrics: names of values that are shown as they are; of the others the mean is\n"
           "unit_name: what a step is called");

static bool shown_as_is(const tw_progbar *bar, const char *name)
{
    const tw_value *names = &bar->as_is;
    bool found = false;
    for (int64_t i = 0; (names->kind == TW_VALUE_LIST || names->kind == TW_VALUE_TUPLE) && i < names->list.count; i++)
        found |= names->list.items[i].kind == TW_VALUE_STR && strcmp(names->list.items[i].s.data, name) == 0;
    return found;
}

/* One number; the mean of several. */
static tw_status number_of(const tw_value *value, double *number)
{
    if (tw__value_plain_number(value, number))
        return TW_OK;
    if (value->kind != TW_VALUE_TENSOR || !value->tensor->count || !tw__tensor_values(value->tensor, "Progbar"))
        return tw__fail(TW_VALUE_ERROR, "Progbar: values must be pairs of a name and a number");
    *number = 0;
    for (int64_t i = 0; i < value->tensor->count; i++)
        *number += tw_tensor_double_at(value->tensor, i) / (double)value->tensor->count;
    return TW_OK;
}

static bool is_list(const tw_value *value)
{
    return value->kind == TW_VALUE_LIST || value->kind == TW_VALUE_TUPLE;
}

static tw_status show(tw_progbar *bar, int64_t current, const tw_value *values, bool last)
{
    for (int64_t i = 0; is_list(values) && i < values->list.count; i++) {
        const tw_value *pair = &values->list.items[i];
        double number;
        if (!is_list(pair) || pair->list.count != 2 || pair->list.items[0].kind != TW_VALUE_STR)
            return tw__fail(TW_VALUE_ERROR, "Progbar: values must be pairs of a name and a number");
        const char *name = pair->list.items[0].s.data;
        TW_TRY(number_of(&pair->list.items[1], &number));
        TW_TRY(tw__progress_value_at(&bar->progress, current, name, number, shown_as_is(bar, name)));
    }
    tw__progress_update(&bar->progress, current, last);
    return TW_OK;
}

TW_METHOD(progbar_update,
          "keras.utils.Progbar.update(self: progbar, current: int, values: value = None, finalize: value = None) -> none",
          "Shows that so many steps are done.\n"
          "current: how many are done by now\n"
          "values: a list of pairs of a name and a number\n"
          "finalize: True: this is the last update; None: it is if the target is reached")
{
    int64_t target = args->self->progress.target;
    double told = 0;
    bool last = tw__value_plain_number(&args->finalize, &told) ? told != 0 : target >= 0 && args->current >= target;
    return show(args->self, args->current, &args->values, last);
}

TW_METHOD(progbar_add, "keras.utils.Progbar.add(self: progbar, n: int, values: value = None) -> none",
          "Shows that some more steps are done.\n"
          "n: how many\n"
          "values: a list of pairs of a name and a number")
{
    int64_t current = args->self->progress.seen + args->n, target = args->self->progress.target;
    return show(args->self, current, &args->values, target >= 0 && current >= target);
}
