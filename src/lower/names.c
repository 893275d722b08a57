/* What programs ask of plug-ins: which one is used, which ops it runs, how much went there and back. */
#include "device/pjrt.h"
#include "lower/lower.h"
#include "rows.h"

TW_API(
    register_pjrt_plugin, "config.experimental.register_pjrt_plugin(plugin: str)",
    "Functions with jit_compile=True run on the device of this PJRT plug-in: \"path\" or \"path:name\". Before the first such call only.\n"
    "plugin: the path of the shared library; behind a colon its name\n"
    "raises: FailedPreconditionError: another plug-in is in use already")
{
    return tw__pjrt_register(args->plugin);
}

TW_API(lowered_ops, "config.experimental._lowered_ops() -> value", "The names of the ops that a PJRT plug-in can run.")
{
    tw_value list = { .kind = TW_VALUE_LIST, .list = { tw__alloc_array((size_t)tw__lower_count() + 1, sizeof(tw_value)), 0 } };
    for (int i = 0; list.list.items && i < tw__lower_count(); i++) {
        const char *name = tw__lower_at(i)->op;
        char *copy = tw__strdup(name);
        if (copy)
            list.list.items[list.list.count++] = (tw_value){ .kind = TW_VALUE_STR, .s = { copy, strlen(copy) } };
    }
    return list;
}

TW_API(pjrt_counts, "config.experimental._pjrt_counts() -> value",
       "How often values went to the plug-in's device and came back, how many programs ran and how many were compiled.")
{
    tw__pjrt_counts counts = tw__pjrt_count();
    const int64_t numbers[] = { counts.put, counts.got, counts.executed, counts.compiled };
    tw_value list = { .kind = TW_VALUE_LIST, .list = { tw__alloc_array(4, sizeof(tw_value)), 0 } };
    for (int i = 0; list.list.items && i < 4; i++)
        list.list.items[list.list.count++] = (tw_value){ .kind = TW_VALUE_INT, .i = numbers[i] };
    return list;
}
