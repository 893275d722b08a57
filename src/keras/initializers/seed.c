/* Keras's own seed generator, a Python random.Random. */
#include "api/random.h"
#include "keras/initializers/initializers.h"

tw__keras_random_hooks tw__keras_random_hook;

static tw__lock lock = TW__LOCK;
static bool started;
static tw__mersenne generator;

enum { HIGHEST_SEED = 1000000000 };

tw_status tw__keras_seed_next(int64_t *seed)
{
    tw__lock_take(&lock);
    bool own = started || !tw__keras_random_hook.between;
    if (own) {
        if (!started) {
            tw__mersenne_seed(&generator, (int64_t)(tw__random_entropy() >> 1));
            started = true;
        }
        *seed = tw__mersenne_between(&generator, 1, HIGHEST_SEED);
    }
    tw__lock_give(&lock);
    return own ? TW_OK : tw__keras_random_hook.between(1, HIGHEST_SEED, seed);
}

TW_API(utils_set_random_seed, "keras.utils.set_random_seed(seed: int) -> none",
       "Seeds every source of random numbers: the global seed, Keras's initializers and, in Python, random and numpy.random.")
{
    tw__lock_take(&lock);
    tw__mersenne_seed(&generator, args->seed);
    started = true;
    tw__lock_give(&lock);
    tw__set_global_seed(args->seed);
    return tw__keras_random_hook.seeded ? tw__keras_random_hook.seeded(args->seed) : TW_OK;
}
