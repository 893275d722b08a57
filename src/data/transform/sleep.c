/* The elements, each of them late: SleepDataset, by which programs imitate slow sources. */
#include <time.h>

#include "data/state.h"
#include "rows.h"

typedef struct sleep_dataset {
    tw__dataset base;
    int64_t microseconds;
} sleep_dataset;

/* In small pieces, so that a program that ends does not wait. */
static tw_status sleep_for(int64_t microseconds)
{
    enum { PIECE = 20000 };
    for (int64_t left = microseconds; left > 0; left -= PIECE) {
        TW_TRY(tw__pause());
        int64_t piece = left < PIECE ? left : PIECE;
        nanosleep(&(struct timespec){ .tv_nsec = (long)(piece * 1000) }, NULL);
    }
    return TW_OK;
}

static tw_status sleep_next(tw__cursor *cursor, tw_tensor **element, bool *end)
{
    TW_TRY(sleep_for(((const sleep_dataset *)cursor->dataset)->microseconds));
    return tw__cursor_next(cursor->input, element, end);
}

static void sleep_state(__attribute__((unused)) tw__cursor *cursor, __attribute__((unused)) tw__state *state)
{
}

static const tw__dataset_kind sleep_kind = {
    .class = TW_DATASET_CLASS("SleepDataset", sleep_dataset, NULL),
    .next = sleep_next,
    .cardinality = tw__cardinality_same,
    .state = sleep_state,
};

static tw_status sleep_compute(tw__kernel *kernel)
{
    sleep_dataset *self = tw__dataset_make(kernel, &sleep_kind, true);
    if (self)
        self->microseconds = tw_tensor_int_at(kernel->inputs[1], 0);
    return tw__dataset_give(kernel, self);
}

#define SLEEP                                                                                           \
    .inputs = "input_dataset: variant, sleep_microseconds: int64", .attrs = TW_ELEMENTS, TW_DATASET_OP, \
    .shape = tw__scalars_shape, .compute = sleep_compute
TW_OP(SleepDataset, SLEEP, .doc = "The elements, each after a pause.");
TW_OP(ExperimentalSleepDataset, SLEEP, .doc = "SleepDataset in an earlier form.");
