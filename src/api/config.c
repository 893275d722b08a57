/* tf.config.threading: how many threads an operation may use.
 *
 * 0 stands for what the library chose when it started. Operations run one after the other; if two or more may run at once, some
 * long ones in graphs do (exec/beside.c). Once the devices are used, both are settled; a session's configuration may still change
 * them. */
#include "api/array/array.h"
#include "device/device.h"
#include "exec/exec.h"
#include "rows.h"

static tw__lock lock = TW__LOCK;
static int64_t within, between; /* as set by the user */
static bool within_set, between_set;
static int chosen; /* by the library */

/* Whether the number may be set to that: it may while the devices are not in use, and when nothing changes. */
static tw_status check(const char *what, bool set, int64_t present, int64_t count)
{
    if (tw__devices_used() && !(set && present == count))
        return tw__fail(TW_RUNTIME_ERROR, "%s op parallelism cannot be modified after initialization.", what);
    return TW_OK;
}

static void use_threads(int64_t count)
{
    tw__lock_take(&lock);
    if (!chosen)
        chosen = tw__thread_count();
    int threads = count > 0 && count <= INT32_MAX ? (int)count : chosen;
    tw__lock_give(&lock);
    tw__thread_count_set(threads);
}

TW_API(config_set_intra_op_threads, "config.threading.set_intra_op_parallelism_threads(num_threads: int)",
       "How many threads one operation may use; 0: as many as there are processors.")
{
    TW_TRY(check("Intra", within_set, within, args->num_threads));
    tw__lock_take(&lock);
    within = args->num_threads;
    within_set = true;
    tw__lock_give(&lock);
    use_threads(args->num_threads);
    return TW_OK;
}

TW_API(config_session_threads, "config.threading._session(num_threads: int)",
       "What a session's configuration says of the threads of one operation.")
{
    use_threads(args->num_threads);
    return TW_OK;
}

TW_API(config_get_intra_op_threads, "config.threading.get_intra_op_parallelism_threads() -> int",
       "How many threads one operation may use, as it was set; 0: as many as there are processors.")
{
    tw__lock_take(&lock);
    int64_t count = within;
    tw__lock_give(&lock);
    return count;
}

TW_API(config_set_inter_op_threads, "config.threading.set_inter_op_parallelism_threads(num_threads: int)",
       "How many operations may run at once. Unless it is 1, long ones of a graph that use one thread each run side by side.")
{
    TW_TRY(check("Inter", between_set, between, args->num_threads));
    tw__lock_take(&lock);
    between = args->num_threads;
    between_set = true;
    atomic_store(&tw__inter_op_threads, (int)args->num_threads);
    tw__lock_give(&lock);
    return TW_OK;
}

TW_API(config_get_inter_op_threads, "config.threading.get_inter_op_parallelism_threads() -> int",
       "How many operations may run at once, as it was set; 0: no limit was set.")
{
    tw__lock_take(&lock);
    int64_t count = between;
    tw__lock_give(&lock);
    return count;
}
