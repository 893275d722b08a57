/* The devices of the machine and those that operations run on; settings of both.
 *
 * Physical devices are what the machine has: one processor. It may be configured to be several logical devices. Settings are for
 * the time before the devices are used; when the first operation has run, or the logical devices were listed, changes are errors.
 */
#include <stdio.h>

#include "base/environment.h"
#include "device/device.h"
#include "rows.h"

static tw__lock lock = TW__LOCK;
static _Atomic bool used, soft = true, logged;
bool tw__device_attention = true, tw__devices_many;
static bool hidden;                                         /* the processor was made invisible */
static struct tw_logical_device_configuration **configured; /* the logical devices, as the user asked for them */
static int64_t configured_count = -1;                       /* -1: the user did not */

bool tw__devices_used(void)
{
    return atomic_load(&used);
}

void tw__devices_use(void)
{
    if (__builtin_expect(!atomic_load_explicit(&used, memory_order_relaxed), 0))
        atomic_store(&used, true);
    tw__device_attention = atomic_load(&logged);
}

bool tw__device_soft(void)
{
    return atomic_load(&soft);
}

static int64_t logical_count(void)
{
    return configured_count < 0 ? 1 : configured_count;
}

/* ---- physical devices ---- */

struct tw_physical_device {
    tw_object object;
    char *name, *type;
};

static void physical_destroy(void *self)
{
    struct tw_physical_device *device = self;
    tw__free(device->name);
    tw__free(device->type);
}

static tw_status set_texts(void *self, const char *name, const char *type)
{
    struct tw_physical_device *device = self;
    device->name = tw__strdup(name ? name : "");
    device->type = tw__strdup(type ? type : "");
    return device->name && device->type ? TW_OK : TW_RESOURCE_EXHAUSTED;
}

static tw_status physical_init(void *self, const void *given)
{
    const tw_physical_device_args *args = given;
    return set_texts(self, args->name, args->device_type);
}

TW_CLASS(physical_device, "config._PhysicalDevice(name: str, device_type: str)", .size = sizeof(struct tw_physical_device),
         .init = physical_init, .destroy = physical_destroy, .drop_config = true, .doc = "A device of the machine.");

struct tw_logical_device {
    struct tw_physical_device texts;
};

static tw_status logical_init(void *self, const void *given)
{
    const tw_logical_device_args *args = given;
    return set_texts(self, args->name, args->device_type);
}

TW_CLASS(logical_device, "config._LogicalDevice(name: str, device_type: str)", .size = sizeof(struct tw_logical_device),
         .init = logical_init, .destroy = physical_destroy, .drop_config = true, .doc = "A device that operations run on.");

TW_PROPERTY(physical_device_name, "config._PhysicalDevice.name(self: physical_device) -> str", "\"/physical_device:CPU:0\"")
{
    return tw__strdup(args->self->name);
}

TW_PROPERTY(physical_device_type, "config._PhysicalDevice.device_type(self: physical_device) -> str", "\"CPU\"")
{
    return tw__strdup(args->self->type);
}

TW_PROPERTY(logical_device_name, "config._LogicalDevice.name(self: logical_device) -> str", "\"/device:CPU:0\"")
{
    return tw__strdup(args->self->texts.name);
}

TW_PROPERTY(logical_device_type, "config._LogicalDevice.device_type(self: logical_device) -> str", "\"CPU\"")
{
    return tw__strdup(args->self->texts.type);
}

static bool is_processor(const char *type)
{
    return !type || strcmp(type, "CPU") == 0;
}

static const char processor[] = "/physical_device:CPU:0";

static tw_objects one_of(void *object)
{
    void **items = tw__alloc_array(1, sizeof *items);
    if (!items || !object) {
        tw_release(object);
        tw__free(items);
        return (tw_objects){ 0 };
    }
    items[0] = object;
    return (tw_objects){ items, 1 };
}

static tw_objects none(void)
{
    return (tw_objects){ tw__alloc_array(1, sizeof(void *)), 0 };
}

TW_API(list_physical_devices, "config._list_physical_devices(device_type: str = None) -> list<physical_device>",
       "The devices of the machine, or those of one type.")
{
    return is_processor(args->device_type) ? one_of(tw_physical_device(processor, "CPU")) : none();
}

TW_API(get_visible_devices, "config._get_visible_devices(device_type: str = None) -> list<physical_device>",
       "The devices that are used, or those of one type.")
{
    tw__lock_take(&lock);
    bool visible = is_processor(args->device_type) && !hidden;
    tw__lock_give(&lock);
    return visible ? one_of(tw_physical_device(processor, "CPU")) : none();
}

static tw_status unrecognized(const struct tw_physical_device *device)
{
    return tw__fail(TW_VALUE_ERROR, "Unrecognized device: PhysicalDevice(name='%s', device_type='%s')", device->name,
                    device->type);
}

static bool is_here(const struct tw_physical_device *device)
{
    return strcmp(device->name, processor) == 0 && strcmp(device->type, "CPU") == 0;
}

TW_API(set_visible_devices, "config._set_visible_devices(devices: list<physical_device>, device_type: str = None)",
       "Which devices of a type are used, or of all types.")
{
    bool wanted = false;
    for (int64_t i = 0; i < args->devices.count; i++) {
        const struct tw_physical_device *device = args->devices.items[i];
        if (!is_here(device) || !is_processor(args->device_type))
            return unrecognized(device);
        wanted = true;
    }
    if (!is_processor(args->device_type))
        return TW_OK;
    tw__lock_take(&lock);
    bool change = hidden != !wanted, late = change && tw__devices_used();
    if (change && !late)
        hidden = !wanted;
    tw__device_attention = true;
    tw__lock_give(&lock);
    return late ? tw__fail(TW_RUNTIME_ERROR, "Visible devices cannot be modified after being initialized") : TW_OK;
}

/* ---- logical devices ---- */

struct tw_logical_device_configuration {
    tw_object object;
    int64_t memory_limit, priority, ordinal; /* TW_NO_INT: not given */
};

static tw_status configuration_init(void *self, const void *given)
{
    struct tw_logical_device_configuration *configuration = self;
    const tw_logical_device_configuration_args *args = given;
    configuration->memory_limit = args->memory_limit;
    configuration->priority = args->experimental_priority;
    configuration->ordinal = args->experimental_device_ordinal;
    return TW_OK;
}

TW_CLASS(
    logical_device_configuration,
    "config._LogicalDeviceConfiguration(memory_limit: int = None, experimental_priority: int = None, experimental_device_ordinal: int = None)",
    .size = sizeof(struct tw_logical_device_configuration), .init = configuration_init, .drop_config = true,
    .doc = "How a logical device is set up.");

/* What two lists of configurations have in common here: only their number, as limits are refused. */
TW_API(set_logical_device_configuration,
       "config._set_logical_device_configuration(device: physical_device, logical_devices: list<logical_device_configuration>)",
       "Which logical devices a device of the machine is.")
{
    if (!is_here(args->device))
        return unrecognized(args->device);
    int64_t count = args->logical_devices.count;
    for (int64_t i = 0; i < count; i++) {
        const struct tw_logical_device_configuration *one = args->logical_devices.items[i];
        if (one->memory_limit != TW_NO_INT)
            return tw__fail(TW_VALUE_ERROR, "Setting memory limit on CPU virtual devices is currently not supported");
        if (one->priority != TW_NO_INT)
            return tw__fail(TW_VALUE_ERROR, "Setting experimental_priority on CPU virtual  devices is currently not supported");
        if (one->ordinal != TW_NO_INT)
            return tw__fail(TW_VALUE_ERROR,
                            "Setting experimental_device_ordinal on CPU virtual  devices is currently not supported");
    }
    struct tw_logical_device_configuration **list = tw__alloc_array((size_t)count + 1, sizeof *list);
    if (!list)
        return TW_RESOURCE_EXHAUSTED;
    for (int64_t i = 0; i < count; i++)
        list[i] = tw_retain(args->logical_devices.items[i]);
    tw__lock_take(&lock);
    bool late = tw__devices_used() && count != configured_count;
    tw__owned struct tw_logical_device_configuration **old = late ? list : configured;
    int64_t old_count = late ? count : configured_count;
    if (!late) {
        configured = list;
        configured_count = count;
        tw__devices_many = count > 1;
    }
    tw__device_attention = true;
    tw__lock_give(&lock);
    for (int64_t i = 0; i < old_count; i++)
        tw_release(old[i]);
    return late ? tw__fail(TW_RUNTIME_ERROR, "Virtual devices cannot be modified after being initialized") : TW_OK;
}

TW_API(get_logical_device_count, "config._logical_device_count(device: physical_device) -> int",
       "How many logical devices the device was set up to be; -1: it was not.")
{
    if (!is_here(args->device)) {
        unrecognized(args->device);
        return 0;
    }
    tw__lock_take(&lock);
    int64_t count = configured_count;
    tw__lock_give(&lock);
    return count;
}

static tw_status check_some(void)
{
    tw__lock_take(&lock);
    bool any = !hidden && logical_count() > 0;
    tw__lock_give(&lock);
    return any ? TW_OK : tw__fail(TW_NOT_FOUND, "No CPU devices are available in this process");
}

TW_API(list_logical_devices, "config._list_logical_devices(device_type: str = None) -> list<logical_device>",
       "The devices that operations run on, or those of one type. From then on they are in use.")
{
    if (check_some() != TW_OK)
        return (tw_objects){ 0 };
    tw__devices_use();
    int64_t count = is_processor(args->device_type) ? logical_count() : 0;
    void **items = tw__alloc_array((size_t)count + 1, sizeof *items);
    tw_objects list = { items, 0 };
    for (int64_t i = 0; items && i < count; i++) {
        char *name = tw__format("/device:CPU:%lld", (long long)i);
        items[i] = name ? tw_logical_device(name, "CPU") : NULL;
        tw__free(name);
        if (!items[i]) {
            tw_objects_free(&list);
            return (tw_objects){ 0 };
        }
        list.count++;
    }
    return list;
}

TW_API(set_memory_growth, "config.experimental._set_memory_growth(device: physical_device, enable: bool)",
       "Whether memory of the device is taken as it is needed. Only accelerators have the setting, and there are none.")
{
    if (!is_here(args->device))
        return unrecognized(args->device);
    tw__lock_take(&lock);
    bool split = configured_count >= 0;
    tw__lock_give(&lock);
    return tw__fail(TW_VALUE_ERROR, split ? "Cannot set memory growth on device when virtual devices configured"
                                          : "Cannot set memory growth on non-GPU and non-Pluggable devices");
}

TW_API(get_memory_growth, "config.experimental._get_memory_growth(device: physical_device) -> bool",
       "Whether memory of the device is taken as it is needed.")
{
    if (!is_here(args->device))
        unrecognized(args->device);
    else
        tw__fail(TW_KEY_ERROR, "PhysicalDevice(name='%s', device_type='%s')", args->device->name, args->device->type);
    return false;
}

/* ---- placement ---- */

bool tw__device_runs(const char *text, bool soft_placement)
{
    tw__device_name name;
    if (tw__device_parse(text, &name) != TW_OK)
        return false;
    bool elsewhere = (name.job.data && (name.job.size != 9 || memcmp(name.job.data, "localhost", 9) != 0)) || name.replica > 0 ||
                     name.task > 0;
    if (elsewhere)
        return false;
    return soft_placement || !name.type.data ||
           (name.type.size == 3 && memcmp(name.type.data, "CPU", 3) == 0 && name.index < logical_count());
}

char *tw__device_list_text(const char *between)
{
    tw__text text = { 0 };
    for (int64_t i = 0; i < logical_count(); i++)
        tw__text_format(&text, "%s/job:localhost/replica:0/task:0/device:CPU:%lld", i ? between : "", (long long)i);
    return tw__text_take(&text);
}

uint32_t tw__device_place_of(const char *text)
{
    tw__device_name name;
    if (!tw__devices_many || !text || !*text || tw__device_parse(text, &name) != TW_OK)
        return 0;
    bool ours = name.type.data && name.type.size == 3 && memcmp(name.type.data, "CPU", 3) == 0;
    return ours && name.index > 0 && name.index < logical_count() ? (uint32_t)name.index : 0;
}

tw_status tw__device_before(const char *op, uint32_t place)
{
    if (!tw__devices_used())
        TW_TRY(check_some());
    tw__devices_use();
    const tw__device_level *top = tw__device_top;
    if (op && atomic_load(&logged) && tw__log_wanted(0))
        fprintf(stderr, "Executing op %s in device /job:localhost/replica:0/task:0/device:CPU:%u\n", op, place);
    if (!top || !top->text || tw__device_runs(top->text, tw__device_soft()))
        return TW_OK;
    tw__device_name here = { { "localhost", 9 }, { NULL, 0 }, 0, 0, TW__DEVICE_NONE };
    char *whole = tw__device_text(tw__device_merge(here, top->name)), *all = tw__device_list_text(", ");
    tw_status status;
    if (tw__device_runs(top->text, true))
        status = tw__fail(TW_INVALID_ARGUMENT,
                          "Could not satisfy device specification '%s'. enable_soft_placement=0. Supported device types [CPU]. "
                          "All available devices [%s].",
                          whole ? whole : "", all ? all : "");
    else
        status =
            tw__fail(TW_INVALID_ARGUMENT, "%s%s unknown device.", whole ? whole : "", top->name.type.data ? "" : "/device:CPU:0");
    if (op && tw__device_runs(top->text, true)) {
        tw__error_at_op(op);
        tw__error_call_name("");
    }
    tw__free(whole);
    tw__free(all);
    return status;
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
    return atomic_load(&logged);
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

static tw_status refuse_device(const char *device, const char *text)
{
    tw__device_name name;
    if (!device || tw__device_parse(device, &name) != TW_OK || !name.type.data || name.index < 0) {
        tw_clear_error();
        return tw__fail(
            TW_VALUE_ERROR,
            "Failed parsing device name: '%s'. Note a valid device string should at least contain a device type and a device "
            "index, like \"GPU:0\".",
            device ? device : "");
    }
    if (name.type.size != 3 || memcmp(name.type.data, "CPU", 3) != 0 || name.index >= logical_count())
        return tw__fail(TW_VALUE_ERROR, "No matching devices found for '%s'", device);
    return tw__fail(TW_VALUE_ERROR, "%s device '%s'", text, device);
}

TW_API(get_memory_info, "config.experimental.get_memory_info(device: str) -> value",
       "How much memory of an accelerator is in use; there are none.")
{
    refuse_device(args->device, "Allocator stats not available for");
    return (tw_value){ .kind = TW_VALUE_NONE };
}

TW_API(get_memory_usage, "config.experimental.get_memory_usage(device: str) -> int",
       "How much memory of an accelerator is in use; there are none.")
{
    refuse_device(args->device, "Allocator stats not available for");
    return 0;
}

TW_API(reset_memory_stats, "config.experimental.reset_memory_stats(device: str)",
       "Forgets the most memory of an accelerator that was in use; there are none.")
{
    return refuse_device(args->device, "Cannot reset memory stats for");
}
