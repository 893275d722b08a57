/* Whether configs may bring code along; see safe_mode.h. */
#include "keras/safe_mode.h"

#include <stdlib.h>

#include "op/guard.h"

static atomic_bool unsafe_program;
static _Thread_local int thread_mode = -1; /* 0: not safe, 1: safe, -1: nobody said */

bool tw__safe_mode(void)
{
    const char *trusted = getenv("THALWEG_TRUST_MODELS");
    return thread_mode != 0 && !atomic_load(&unsafe_program) && !(trusted && strcmp(trusted, "1") == 0);
}

tw__safe_scope tw__safe_begin(bool safe, const char *path)
{
    tw__safe_scope before = { thread_mode, tw__guard_loading };
    thread_mode = safe;
    tw__guard_loading = tw__safe_mode() ? path : NULL;
    return before;
}

void tw__safe_end(tw__safe_scope scope)
{
    thread_mode = scope.mode;
    tw__guard_loading = scope.loading;
}

tw_status tw__refuse_code(const char *what, const char *loading)
{
    return tw__fail_because(
        TW_REASON_CODE, TW_VALUE_ERROR,
        "Requested the deserialization of %s. This carries a potential risk of arbitrary code execution and thus it is disallowed by default. "
        "If you trust the source of the saved model, you can pass `safe_mode=False` to the loading function in order to allow %s loading.",
        what, loading);
}

TW_API(enable_unsafe_deserialization, "keras.__internal__.enable_unsafe_deserialization()",
       "Lets configs bring code along, as load_model(safe_mode=False) does for one model.")
{
    atomic_store(&unsafe_program, true);
    return TW_OK;
}

TW_API(
    set_safe_mode, "keras.utils._set_safe_mode(mode: int) -> int",
    "Says for this thread whether configs may bring code along: 0 yes, 1 no, -1 as the program says. Gives what was said before.")
{
    int before = thread_mode;
    thread_mode = args->mode < 0 ? -1 : args->mode != 0;
    return before;
}
