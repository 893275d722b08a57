/* Functions of the C API that are no rows, tried with NULL and with handles of other classes in each of their slots: an error or
 * a result, never a signal, never a hang. A test includes this, lists the functions in `all`, the classes of the handles that are
 * tried in `others`, says by `object_of` what a handle of a class is, and calls written_main. */
#ifndef WRITTEN_H
#define WRITTEN_H

#include "test.h"
#include "trial.h"

#include <thalweg/thalweg.h>

#include "rows.h"

enum { SLOTS = 4 };

struct written {
    const char *name;
    void (*call)(void **v);       /* slots that are handles come as v[0], v[1] …, each with a reference to spare */
    const tw_class *slots[SLOTS]; /* the classes of the handles */
};

#define CALL(name_) static void call_##name_(void **v)
#define F(name_, ...)               \
    {                               \
        "tw_" #name_, call_##name_, \
        {                           \
            __VA_ARGS__             \
        }                           \
    }
#define T &tw__tensor_class

static const struct written *written_all;
static const tw_class *const *written_others;
static size_t written_count, written_other_count;
static void *(*written_object)(const tw_class *class);

static tw_tensors one(void *tensor)
{
    tw_tensor **items = calloc(1, sizeof *items);
    items[0] = tensor;
    return (tw_tensors){ items, 1 };
}

static void try_written(trial *t, const void *context)
{
    const struct written *f = context;
    void *good[SLOTS] = { NULL };
    for (int i = 0; i < SLOTS && f->slots[i]; i++)
        good[i] = written_object(f->slots[i]);
    for (int slot = 0; slot < SLOTS && (f->slots[slot] || !slot); slot++) {
        for (int k = -2; k < (int)written_other_count; k++) {
            void *v[SLOTS];
            memcpy(v, good, sizeof v);
            if (k >= -1) /* -2: as it should be */
                v[slot] = k < 0 ? NULL : written_object(written_others[k]);
            if (TRIAL(t, "%s(slot %d: %s)", f->name, slot, k == -2 ? "good" : k < 0 ? "NULL" : written_others[k]->name))
                f->call(v);
            tw_clear_error();
        }
    }
}

static void every_function(void **state)
{
    (void)state;
    trial *t = trial_new();
    for (size_t i = 0; i < written_count; i++)
        trial_run(t, try_written, &written_all[i]);
    printf("PROMISE: a NULL or a handle of another class in any slot of a function that is no row is an error: %ld tried\n",
           t->tried);
    assert_int_equal(t->bad, 0);
}

#define written_main(all, others, object_of) \
    written_run(all, sizeof all / sizeof *all, others, sizeof others / sizeof *others, object_of)
static int written_run(const struct written *all, size_t count, const tw_class *const *others, size_t other_count,
                       void *(*object_of)(const tw_class *class))
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(every_function) };
    written_all = all;
    written_count = count;
    written_others = others;
    written_other_count = other_count;
    written_object = object_of;
    trial_enter();
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    trial_leave();
    return failed;
}

#endif
