/* The thread's device scope: where operations made from now on are to run. Nodes of graphs carry it; operations that run at once
 * are checked against it (devices.c). */
#include "device/device.h"
#include "rows.h"

_Thread_local tw__device_level *tw__device_top;
_Thread_local int tw__replica = -1;
_Thread_local int tw__replicas = 1;

/* Which of this process's places a name in eager execution may stand for. */
tw_status tw__device_push(const char *name)
{
    tw__device_level *level = tw__alloc_zero(sizeof *level);
    if (!level)
        return TW_RESOURCE_EXHAUSTED;
    tw_status status = TW_OK;
    if (name) {
        tw__device_name inner, nothing = { { NULL, 0 }, { NULL, 0 }, TW__DEVICE_NONE, TW__DEVICE_NONE, TW__DEVICE_NONE };
        status = tw__device_parse(name, &inner);
        if (status == TW_OK &&
            !(level->text = tw__device_text(tw__device_merge(tw__device_top ? tw__device_top->name : nothing, inner))))
            status = TW_RESOURCE_EXHAUSTED;
    }
    if (status == TW_OK)
        status = tw__device_parse(level->text ? level->text : "", &level->name);
    if (status != TW_OK) {
        tw__free(level->text);
        tw__free(level);
        return status;
    }
    level->outer = tw__device_top;
    tw__device_top = level;
    tw__device_place = tw__device_place_of(level->text);
    return TW_OK;
}

void tw__device_pop(void)
{
    tw__device_level *level = tw__device_top;
    if (!level)
        return;
    tw__device_top = level->outer;
    tw__device_place = tw__device_top ? tw__device_place_of(tw__device_top->text) : 0;
    tw__free(level->text);
    tw__free(level);
}

TW_API(device_enter, "_enter_device(name: str = None)", "Operations are to run there from now on; None: anywhere.")
{
    return tw__device_push(args->name);
}

TW_API(device_exit, "_exit_device()", "Ends what entering a device began.")
{
    if (!tw__device_top)
        return tw__fail(TW_RUNTIME_ERROR, "device: no device was entered");
    tw__device_pop();
    return TW_OK;
}

TW_API(device_current, "_current_device() -> str", "The whole name of the device that operations are to run on; \"\": anywhere.")
{
    const char *now = tw__device_now();
    return tw__strdup(now ? now : "");
}
