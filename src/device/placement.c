/* Where operations run: what names of devices stand for, soft placement, and the log of it. */
#include <stdio.h>

#include "base/environment.h"
#include "device/device.h"
#include "device/pjrt.h"
#include "rows.h"

static _Atomic bool soft = true, logged;

bool tw__device_soft(void)
{
    return atomic_load(&soft);
}

bool tw__device_logged(void)
{
    return atomic_load(&logged);
}

/* ---- places ---- */

char *tw__place_text(uint32_t place)
{
    const char *type = place < TW__ACCELERATOR ? "CPU" : tw__accelerator_type();
    return tw__format("/job:localhost/replica:0/task:0/device:%s:%u", type ? type : "CPU", (unsigned)(place % TW__ACCELERATOR));
}

static bool is_here(const tw__device_name *name)
{
    return (!name->job.data || (name->job.size == 9 && memcmp(name->job.data, "localhost", 9) == 0)) && name->replica <= 0 &&
           name->task <= 0;
}

bool tw__device_runs(const char *text, bool soft_placement)
{
    tw__device_name name;
    if (tw__device_parse(text, &name) != TW_OK || !is_here(&name))
        return false;
    return soft_placement || !name.type.data || (tw__devices_of(name.type) > 0 && name.index < tw__devices_of(name.type));
}

char *tw__device_list_text(const char *between)
{
    tw__text text = { 0 };
    const char *types[] = { "CPU", tw__accelerator_type() };
    for (int t = 0; t < 2 && types[t]; t++) {
        int64_t count = tw__devices_of((tw_string){ types[t], strlen(types[t]) });
        for (int64_t i = 0; i < count; i++)
            tw__text_format(&text, "%s/job:localhost/replica:0/task:0/device:%s:%lld", text.size ? between : "", types[t],
                            (long long)i);
    }
    return tw__text_take(&text);
}

static bool is_processor(tw_string type)
{
    return type.size == 3 && memcmp(type.data, "CPU", 3) == 0;
}

uint32_t tw__device_place_of(const char *text)
{
    tw__device_name name;
    if ((!tw__devices_many && !tw__pjrt_wanted()) || !text || !*text || tw__device_parse(text, &name) != TW_OK ||
        !name.type.data || !is_here(&name))
        return 0;
    if (!is_processor(name.type) && tw__devices_use() != TW_OK)
        return 0; /* the first operation fails with that error */
    int64_t index = name.index > 0 ? name.index : 0;
    if (index >= tw__devices_of(name.type))
        return 0;
    return (uint32_t)index + (is_processor(name.type) ? 0 : TW__ACCELERATOR);
}

uint32_t tw__place_now(tw_dtype dtype)
{
    const tw__device_level *top = tw__device_top;
    if (!tw__devices_accelerated || (top && top->name.type.data))
        return tw__device_place;
    const char *type = tw__accelerator_type();
    bool goes = tw__pjrt_has_dtype(dtype) && dtype != TW_INT32 && type && strcmp(type, "GPU") == 0;
    return goes ? TW__ACCELERATOR : 0;
}

/* ---- before an operation ---- */

static tw_status refuse(const char *op, const tw__device_level *top)
{
    tw__device_name here = { { "localhost", 9 }, { NULL, 0 }, 0, 0, TW__DEVICE_NONE };
    const char *type = tw__accelerator_type();
    tw__owned char *whole = tw__device_text(tw__device_merge(here, top->name)), *all = tw__device_list_text(", ");
    if (!tw__device_runs(top->text, true))
        return tw__fail(TW_INVALID_ARGUMENT, "%s%s unknown device.", whole ? whole : "",
                        top->name.type.data ? "" : "/device:CPU:0");
    tw_status status = tw__fail(TW_INVALID_ARGUMENT,
                                "Could not satisfy device specification '%s'. enable_soft_placement=0. Supported device types "
                                "[%s%sCPU]. All available devices [%s].",
                                whole ? whole : "", type ? type : "", type ? ", " : "", all ? all : "");
    if (op) {
        tw__error_at_op(op);
        tw__error_call_name("");
    }
    return status;
}

tw_status tw__device_before(const char *op, uint32_t place)
{
    TW_TRY(tw__devices_begin());
    const tw__device_level *top = tw__device_top;
    if (op && tw__device_logged() && tw__log_wanted(0)) {
        tw__owned char *text = tw__place_text(place);
        fprintf(stderr, "Executing op %s in device %s\n", op, text ? text : "");
    }
    return !top || !top->text || tw__device_runs(top->text, tw__device_soft()) ? TW_OK : refuse(op, top);
}

TW_API(get_soft_device_placement, "config.get_soft_device_placement() -> bool",
       "Whether operations run on the processor if their device is not there.")
{
    return tw__device_soft();
}

TW_API(set_soft_device_placement, "config.set_soft_device_placement(enabled: bool)",
       "Whether operations run on the processor if their device is not there.\n"
       "enabled: True: they do; False: a device that is not there is an error")
{
    atomic_store(&soft, args->enabled);
    return TW_OK;
}

TW_API(get_log_device_placement, "debugging.get_log_device_placement() -> bool", "Whether it is printed where operations run.")
{
    return tw__device_logged();
}

TW_API(set_log_device_placement, "debugging.set_log_device_placement(enabled: bool)",
       "Whether it is printed where operations run.\n"
       "enabled: True: print it")
{
    atomic_store(&logged, args->enabled);
    tw__device_attention = true;
    return TW_OK;
}

/* ---- what is asked of a device ---- */

/* The place that "GPU:0" means, for a question about its memory; -1 and an error: there is none, or it is the processor. */
static int64_t asked_place(const char *device, const char *text)
{
    tw__device_name name;
    if (!device || tw__device_parse(device, &name) != TW_OK || !name.type.data || name.index < 0) {
        tw_clear_error();
        tw__fail(
            TW_VALUE_ERROR,
            "Failed parsing device name: '%s'. Note a valid device string should at least contain a device type and a device "
            "index, like \"GPU:0\".",
            device ? device : "");
        return -1;
    }
    if (!is_processor(name.type) && tw__devices_begin() != TW_OK)
        return -1;
    if (name.index >= tw__devices_of(name.type))
        tw__fail(TW_VALUE_ERROR, "No matching devices found for '%s'", device);
    else if (is_processor(name.type))
        tw__fail(TW_VALUE_ERROR, "%s device '%s'", text, device);
    else
        return name.index;
    return -1;
}

TW_API(get_memory_info, "config.experimental.get_memory_info(device: str) -> value",
       "How much memory of an accelerator is in use now, and was at most: {'current': bytes, 'peak': bytes}.\n"
       "device: its name, such as \"GPU:0\"")
{
    int64_t place = asked_place(args->device, "Allocator stats not available for");
    if (place < 0)
        return (tw_value){ .kind = TW_VALUE_NONE };
    tw__pjrt_memory memory = tw__pjrt_memory_of((int)place);
    char *keys[] = { tw__strdup("current"), tw__strdup("peak") };
    int64_t numbers[] = { memory.now, memory.peak };
    tw_value dict = { .kind = TW_VALUE_DICT, .list = { tw__alloc_array(4, sizeof(tw_value)), 0 } };
    for (int i = 0; dict.list.items && i < 2; i++) {
        dict.list.items[dict.list.count++] = (tw_value){ .kind = TW_VALUE_STR, .s = { keys[i], keys[i] ? strlen(keys[i]) : 0 } };
        dict.list.items[dict.list.count++] = (tw_value){ .kind = TW_VALUE_INT, .i = numbers[i] };
    }
    if (dict.list.items && keys[0] && keys[1])
        return dict;
    tw_value_free(&dict);
    return (tw_value){ .kind = TW_VALUE_NONE };
}

TW_API(get_memory_usage, "config.experimental.get_memory_usage(device: str) -> int",
       "How much memory of an accelerator is in use, in bytes.\n"
       "device: its name, such as \"GPU:0\"")
{
    int64_t place = asked_place(args->device, "Allocator stats not available for");
    return place < 0 ? 0 : tw__pjrt_memory_of((int)place).now;
}

TW_API(reset_memory_stats, "config.experimental.reset_memory_stats(device: str)",
       "Forgets the most memory of an accelerator that was in use.\n"
       "device: its name, such as \"GPU:0\"")
{
    int64_t place = asked_place(args->device, "Cannot reset memory stats for");
    if (place < 0)
        return tw__error_status();
    tw__pjrt_memory_forget((int)place);
    return TW_OK;
}
