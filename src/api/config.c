/* tf.config.threading: how many threads an operation may use.
 *
 * 0 stands for what the library chose when it started. One operation runs at a time, which is within any number of operations that
 * may run at once; that number is only kept. Unlike in TensorFlow both can be changed at any time. */
#include "api/array.h"
#include "rows.h"

static tw__lock lock = TW__LOCK;
static int64_t within, between; /* as set by the user */
static int chosen;              /* by the library */

static tw_status check(const char *name, int64_t count)
{
    if (count < 0 || count > INT32_MAX)
        return tw__fail(TW_INVALID_ARGUMENT, "%s: num_threads is %lld; expected 0 or a positive number", name, (long long)count);
    return TW_OK;
}

TW_API(config_set_intra_op_threads, "config.threading.set_intra_op_parallelism_threads(num_threads: int)",
       "How many threads one operation may use; 0: as many as there are processors.")
{
    TW_TRY(check("config.threading.set_intra_op_parallelism_threads", args->num_threads));
    tw__lock_take(&lock);
    if (!chosen)
        chosen = tw__thread_count();
    within = args->num_threads;
    int count = within ? (int)within : chosen;
    tw__lock_give(&lock);
    tw__thread_count_set(count);
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
       "How many operations may run at once; here they run one after the other.")
{
    TW_TRY(check("config.threading.set_inter_op_parallelism_threads", args->num_threads));
    tw__lock_take(&lock);
    between = args->num_threads;
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
