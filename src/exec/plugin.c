/* What compiles for plug-ins is opened when it is first needed: libthalweg-pjrt.so (lower/program.h). And what programs ask of
 * plug-ins: which one is used, which ops it runs, how much went there and back. */
#include <dlfcn.h>

#include "base/beside.h"
#include "device/pjrt.h"
#include "exec/internal.h"
#include "exec/plugin.h"
#include "rows.h"

static tw__lock lock = TW__LOCK;

static tw_status open_lowerings(const tw__lowerings **found)
{
    static const tw__lower_host host = {
#define TW_LOWER_GIVEN(type, name, parameters, arguments) .name = name,
        TW_LOWER_HOST(TW_LOWER_GIVEN)
#undef TW_LOWER_GIVEN
    };
    tw__owned char *path = tw__beside("libthalweg-pjrt.so");
    void *library = path ? dlopen(path, RTLD_NOW | RTLD_LOCAL) : NULL;
    if (!library)
        return tw__fail(TW_NOT_FOUND, "libthalweg-pjrt.so, which compiles for PJRT plug-ins, %s%s",
                        path ? "can't be loaded: " : "is not beside the library", path ? dlerror() : "");
    tw__lowerings_function *open;
    void *symbol = dlsym(library, "tw__lowerings_open");
    memcpy(&open, &symbol, sizeof open);
    const tw__lowerings *table = symbol ? open(&host) : NULL;
    if (!table || strcmp(table->version, TW_VERSION) != 0 || table->size != sizeof *table)
        return tw__fail(TW_FAILED_PRECONDITION, "%s is of another version than the library, %s", path, TW_VERSION);
    *found = table;
    return TW_OK;
}

const tw__lowerings *tw__lowerings_get(void)
{
    static const tw__lowerings *_Atomic opened;
    const tw__lowerings *found = atomic_load(&opened);
    if (found)
        return found;
    tw__lock_take(&lock);
    found = atomic_load(&opened);
    if (!found && open_lowerings(&found) == TW_OK)
        atomic_store(&opened, found);
    tw__lock_give(&lock);
    return found;
}

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
    const tw__lowerings *lower = tw__lowerings_get();
    int count = 0;
    while (lower && lower->name_at(count))
        count++;
    tw_value list = { .kind = TW_VALUE_LIST, .list = { tw__alloc_array((size_t)count + 1, sizeof(tw_value)), 0 } };
    for (int i = 0; list.list.items && i < count; i++) {
        char *copy = tw__strdup(lower->name_at(i));
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
