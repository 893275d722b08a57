/* Keras's own seed generator, a Python random.Random. It is the thread's that called set_random_seed, as in Keras: other threads
 * (replicas of a strategy) draw from the embedding language's generator, which that call seeded, too. */
#include "base/language.h"
#include "api/random/random.h"
#include "distribute/distribute.h"
#include "keras/initializers/initializers.h"

static tw__lock lock = TW__LOCK;
static bool started;
static pthread_t seeded_in;
static tw__mersenne generator;

enum { HIGHEST_SEED = 1000000000 };

tw_status tw__keras_seed_next(int64_t *seed)
{
    tw__lock_take(&lock);
    bool mine = pthread_equal(seeded_in, pthread_self()) && (tw__replica < 0 || !tw__strategy_now()->mirrors);
    bool own = !tw__language.random_between || (started && mine);
    if (own) {
        if (!started) {
            tw__mersenne_seed(&generator, (int64_t)(tw__random_entropy() >> 1));
            started = true;
        }
        *seed = tw__mersenne_between(&generator, 1, HIGHEST_SEED);
    }
    tw__lock_give(&lock);
    return own ? TW_OK : tw__language.random_between(1, HIGHEST_SEED, seed);
}

TW_API(utils_set_random_seed, "keras.utils.set_random_seed(seed: int) -> none",
       "Seeds every source of random numbers: the global seed, Keras's initializers and, in Python, random and numpy.random.\n"
       "seed: the integer, from 0 on")
{
    tw__lock_take(&lock);
    tw__mersenne_seed(&generator, args->seed);
    seeded_in = pthread_self();
    started = true;
    tw__lock_give(&lock);
    tw__set_global_seed(args->seed);
    return tw__language.random_seeded ? tw__language.random_seeded(args->seed) : TW_OK;
}
