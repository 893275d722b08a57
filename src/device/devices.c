/* The devices of the machine and those that operations run on; settings of both.
 *
 * Physical devices are what the machine has: one processor, and the accelerators of a plug-in (pjrt.h). Each may be configured to
 * be several logical devices. Settings are for the time before the devices are used; when the first operation has run, or the
 * logical devices were listed, changes are errors. */
#include <stdio.h>
#include <stdlib.h>

#include "device/device.h"
#include "device/pjrt.h"
#include "rows.h"

static tw__lock lock = TW__LOCK;
static _Atomic bool used;
_Atomic bool tw__device_attention = true, tw__devices_many, tw__devices_accelerated;

/* A device of the machine, and what the user wants of it. */
typedef struct physical {
    char name[48];
    int number;         /* of the plug-in's devices; -1: the processor */
    bool hidden;        /* it is not to be used */
    int8_t growth;      /* memory is taken as it is needed; -1: nothing was said */
    int64_t *limits;    /* a logical device each: its memory in MB, TW_NO_INT if none was given */
    int64_t part_count; /* -1: nobody asked for logical devices, so there is one */
} physical;

enum { MOST = 65 };
static physical machine[MOST] = { { "/physical_device:CPU:0", -1, false, -1, NULL, -1 } };
static int machine_count = 1;
static char accelerator_type[8];                       /* "GPU", "TPU"; "": there are none */
static _Atomic enum { UNKNOWN, FINDING, KNOWN } found; /* the plug-in's devices */
static int64_t processor_count = 1, accelerator_count; /* logical devices, once they are in use */

/* ---- finding accelerators ---- */

/* The type that the plug-in's devices have here. A plug-in for processors has none, unless THALWEG_PJRT_AS says so. */
static void find_type(void)
{
    const char *as = getenv("THALWEG_PJRT_AS"), *platform = tw__pjrt_platform();
    size_t length = as ? strcspn(as, ":") : 0;
    if (length >= sizeof accelerator_type)
        length = 0;
    if (length)
        memcpy(accelerator_type, as, length);
    else if (strcmp(platform, "cpu") != 0)
        strcpy(accelerator_type, strcmp(platform, "tpu") == 0 ? "TPU" : "GPU");
}

/* CUDA_VISIBLE_DEVICES: which GPUs there are for this process, in which order; up to the first number that is none. */
static int visible_numbers(int count, int *numbers)
{
    const char *text = strcmp(accelerator_type, "GPU") == 0 ? getenv("CUDA_VISIBLE_DEVICES") : NULL;
    int listed = 0;
    for (; !text && listed < count; listed++)
        numbers[listed] = listed;
    while (text && *text && listed < count) {
        char *end;
        long number = strtol(text, &end, 10);
        if (end == text || number < 0 || number >= count)
            break;
        numbers[listed++] = (int)number;
        text = *end == ',' ? end + 1 : "";
    }
    return listed;
}

static tw_status add_accelerators(void)
{
    TW_TRY(tw__pjrt_start());
    find_type();
    int numbers[MOST], count = tw__pjrt_device_count();
    count = *accelerator_type ? visible_numbers(count < MOST - 1 ? count : MOST - 1, numbers) : 0;
    for (int i = 0; i < count; i++) {
        physical *one = &machine[machine_count++];
        *one = (physical){ .number = numbers[i], .growth = -1, .part_count = -1 };
        snprintf(one->name, sizeof one->name, "/physical_device:%s:%d", accelerator_type, i);
    }
    return TW_OK;
}

/* Looks for accelerators, once. Without a plug-in nothing is looked for. */
static tw_status find_devices(void)
{
    if (atomic_load(&found) == KNOWN || !tw__pjrt_wanted())
        return TW_OK;
    tw__lock_take(&lock);
    tw_status status = TW_OK;
    if (atomic_load(&found) != KNOWN && (status = add_accelerators()) == TW_OK)
        atomic_store(&found, KNOWN);
    tw__lock_give(&lock);
    return status;
}

static const char *type_of(const physical *one)
{
    return one->number < 0 ? "CPU" : accelerator_type;
}

static bool is_type(const physical *one, const char *type)
{
    return !type || strcmp(type, type_of(one)) == 0;
}

static int64_t parts_of(const physical *one)
{
    return one->hidden ? 0 : one->part_count < 0 ? 1 : one->part_count;
}

/* ---- use ---- */

bool tw__devices_used(void)
{
    return atomic_load(&used);
}

/* Under the lock: what the processor was set up to be holds at once. */
static void count_processors(void)
{
    processor_count = parts_of(&machine[0]);
    tw__devices_many = processor_count > 1 || accelerator_count > 0;
    tw__device_attention = true;
}

/* The logical accelerators, as the plug-in is to know them. */
static void arrange(void)
{
    int numbers[TW__PJRT_PLACES];
    int64_t limits[TW__PJRT_PLACES];
    int count = 0;
    for (int i = 1; i < machine_count; i++) {
        for (int64_t k = 0; k < parts_of(&machine[i]) && count < TW__PJRT_PLACES; k++) {
            int64_t limit = machine[i].part_count < 0 ? TW_NO_INT : machine[i].limits[k];
            numbers[count] = machine[i].number;
            limits[count++] = limit == TW_NO_INT ? INT64_MAX : limit << 20;
        }
    }
    accelerator_count = count;
    if (count)
        tw__pjrt_arrange(numbers, limits, count);
    tw__devices_accelerated = count > 0;
    count_processors();
}

/* GPUs that take memory in different ways don't go together. */
static tw_status check_growth(void)
{
    for (int i = 2; i < machine_count; i++) {
        if (parts_of(&machine[i]) && parts_of(&machine[1]) && machine[i].part_count < 0 && machine[1].part_count < 0 &&
            (machine[i].growth == 1) != (machine[1].growth == 1))
            return tw__fail(TW_VALUE_ERROR, "Memory growth cannot differ between %s devices", accelerator_type);
    }
    return TW_OK;
}

tw_status tw__devices_use(void)
{
    if (__builtin_expect(!atomic_load_explicit(&used, memory_order_relaxed), 0)) {
        TW_TRY(find_devices());
        tw__lock_take(&lock);
        tw_status status = atomic_load(&used) ? TW_OK : check_growth();
        if (status == TW_OK && !atomic_load(&used)) {
            arrange();
            atomic_store(&used, true);
        }
        tw__lock_give(&lock);
        TW_TRY(status);
    }
    tw__device_attention = tw__device_logged();
    return TW_OK;
}

int64_t tw__devices_of(tw_string type)
{
    if (type.size == 3 && memcmp(type.data, "CPU", 3) == 0)
        return processor_count;
    bool ours = *accelerator_type && type.size == strlen(accelerator_type) && memcmp(type.data, accelerator_type, type.size) == 0;
    return ours ? accelerator_count : 0;
}

const char *tw__accelerator_type(void)
{
    return accelerator_count ? accelerator_type : NULL;
}

static tw_status check_some(void)
{
    tw__lock_take(&lock);
    bool any = parts_of(&machine[0]) > 0;
    tw__lock_give(&lock);
    return any ? TW_OK : tw__fail(TW_NOT_FOUND, "No CPU devices are available in this process");
}

tw_status tw__devices_begin(void)
{
    if (!tw__devices_used())
        TW_TRY(check_some());
    return tw__devices_use();
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

/* The devices of a type, or all, that are `visible`, or there at all. */
static tw_objects list_machine(const char *type, bool visible)
{
    if (find_devices() != TW_OK)
        return (tw_objects){ 0 };
    void **items = tw__alloc_array(MOST, sizeof *items);
    tw_objects list = { items, 0 };
    tw__lock_take(&lock);
    bool good = items != NULL;
    for (int i = 0; good && i < machine_count; i++) {
        const physical *one = &machine[i];
        if (is_type(one, type) && !(visible && one->hidden))
            good = (items[list.count++] = tw_physical_device(one->name, type_of(one))) != NULL;
    }
    tw__lock_give(&lock);
    if (!good)
        tw_objects_free(&list);
    return list;
}

TW_API(list_physical_devices, "config._list_physical_devices(device_type: str = None) -> list<physical_device>",
       "The devices of the machine, or those of one type.")
{
    return list_machine(args->device_type, false);
}

TW_API(get_visible_devices, "config._get_visible_devices(device_type: str = None) -> list<physical_device>",
       "The devices that are used, or those of one type.")
{
    return list_machine(args->device_type, true);
}

/* The device that the handle names; NULL and an error: there is none. */
static physical *find_device(const struct tw_physical_device *device, const char *type)
{
    if (find_devices() != TW_OK)
        return NULL;
    for (int i = 0; i < machine_count; i++) {
        physical *one = &machine[i];
        if (strcmp(device->name, one->name) == 0 && strcmp(device->type, type_of(one)) == 0 && is_type(one, type))
            return one;
    }
    tw__fail(TW_VALUE_ERROR, "Unrecognized device: PhysicalDevice(name='%s', device_type='%s')", device->name, device->type);
    return NULL;
}

TW_API(set_visible_devices, "config._set_visible_devices(devices: list<physical_device>, device_type: str = None)",
       "Which devices of a type are used, or of all types.")
{
    bool wanted[MOST] = { false }, change = false;
    for (int64_t i = 0; i < args->devices.count; i++) {
        const physical *one = find_device(args->devices.items[i], args->device_type);
        TW_NEED(one);
        wanted[one - machine] = true;
    }
    TW_TRY(find_devices());
    tw__lock_take(&lock);
    for (int i = 0; i < machine_count; i++)
        change |= is_type(&machine[i], args->device_type) && machine[i].hidden != !wanted[i];
    bool late = change && tw__devices_used();
    for (int i = 0; !late && i < machine_count; i++) {
        if (is_type(&machine[i], args->device_type))
            machine[i].hidden = !wanted[i];
    }
    count_processors();
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

/* What may be set of a logical device depends on the type. */
static tw_status check_configuration(const physical *one, const struct tw_logical_device_configuration *part)
{
    if (one->number >= 0) {
        if (strcmp(accelerator_type, "GPU") != 0)
            return tw__fail(TW_VALUE_ERROR, "Virtual devices are not supported for %s", accelerator_type);
        if (part->memory_limit == TW_NO_INT)
            return tw__fail(TW_VALUE_ERROR, "Setting memory limit is required for GPU virtual devices");
        if (part->memory_limit <= 0 || part->memory_limit > INT64_MAX >> 20)
            return tw__fail(TW_VALUE_ERROR, "memory_limit: a positive number of MB was expected, got %lld",
                            (long long)part->memory_limit);
        if (part->priority != TW_NO_INT || part->ordinal != TW_NO_INT)
            return tw__fail(TW_UNIMPLEMENTED,
                            "experimental_priority and experimental_device_ordinal of logical devices are not supported");
        return TW_OK;
    }
    if (part->memory_limit != TW_NO_INT)
        return tw__fail(TW_VALUE_ERROR, "Setting memory limit on CPU virtual devices is currently not supported");
    if (part->priority != TW_NO_INT)
        return tw__fail(TW_VALUE_ERROR, "Setting experimental_priority on CPU virtual  devices is currently not supported");
    if (part->ordinal != TW_NO_INT)
        return tw__fail(TW_VALUE_ERROR, "Setting experimental_device_ordinal on CPU virtual  devices is currently not supported");
    return TW_OK;
}

TW_API(set_logical_device_configuration,
       "config._set_logical_device_configuration(device: physical_device, logical_devices: list<logical_device_configuration>)",
       "Which logical devices a device of the machine is.")
{
    physical *one = find_device(args->device, NULL);
    TW_NEED(one);
    int64_t count = args->logical_devices.count;
    tw__owned int64_t *limits = tw__alloc_array((size_t)count + 1, sizeof *limits);
    TW_NEED(limits);
    for (int64_t i = 0; i < count; i++) {
        const struct tw_logical_device_configuration *part = args->logical_devices.items[i];
        TW_TRY(check_configuration(one, part));
        limits[i] = part->memory_limit;
    }
    tw__lock_take(&lock);
    bool same = count == one->part_count && memcmp(limits, one->limits, (size_t)count * sizeof *limits) == 0;
    bool late = tw__devices_used() && !same;
    if (!late) {
        int64_t *old = one->limits;
        one->limits = limits;
        limits = old;
        one->part_count = count;
    }
    count_processors();
    tw__lock_give(&lock);
    return late ? tw__fail(TW_RUNTIME_ERROR, "Virtual devices cannot be modified after being initialized") : TW_OK;
}

TW_API(get_logical_device_limits, "config._logical_device_limits(device: physical_device) -> value",
       "The memory limits of the logical devices that the device was set up to be, None for those without; None: it was not.")
{
    tw_value list = { .kind = TW_VALUE_NONE };
    const physical *one = find_device(args->device, NULL);
    if (!one)
        return list;
    tw__lock_take(&lock);
    if (one->part_count >= 0) {
        list = (tw_value){ .kind = TW_VALUE_LIST, .list = { tw__alloc_array((size_t)one->part_count + 1, sizeof(tw_value)), 0 } };
        for (; list.list.items && list.list.count < one->part_count; list.list.count++) {
            int64_t limit = one->limits[list.list.count];
            list.list.items[list.list.count] =
                limit == TW_NO_INT ? (tw_value){ .kind = TW_VALUE_NONE } : (tw_value){ .kind = TW_VALUE_INT, .i = limit };
        }
    }
    tw__lock_give(&lock);
    return list;
}

static bool add_logical(void **items, int64_t *listed, const char *type, int64_t count)
{
    for (int64_t i = 0; i < count; i++) {
        tw__owned char *name = tw__format("/device:%s:%lld", type, (long long)i);
        void *one = name ? tw_logical_device(name, type) : NULL;
        if (!one)
            return false;
        items[(*listed)++] = one;
    }
    return true;
}

TW_API(list_logical_devices, "config._list_logical_devices(device_type: str = None) -> list<logical_device>",
       "The devices that operations run on, or those of one type. From then on they are in use.")
{
    if (tw__devices_begin() != TW_OK)
        return (tw_objects){ 0 };
    const char *type = args->device_type;
    void **items = tw__alloc_array((size_t)(processor_count + accelerator_count) + 1, sizeof *items);
    tw_objects list = { items, 0 };
    bool good = items && (!is_type(&machine[0], type) || add_logical(items, &list.count, "CPU", processor_count));
    if (good && *accelerator_type && (!type || strcmp(type, accelerator_type) == 0))
        good = add_logical(items, &list.count, accelerator_type, accelerator_count);
    if (!good)
        tw_objects_free(&list);
    return list;
}

TW_API(set_memory_growth, "config.experimental._set_memory_growth(device: physical_device, enable: bool)",
       "Whether memory of the device is taken as it is needed. Only GPUs have the setting.")
{
    physical *one = find_device(args->device, NULL);
    TW_NEED(one);
    tw__lock_take(&lock);
    bool split = one->part_count >= 0, gpu = one->number >= 0 && strcmp(accelerator_type, "GPU") == 0;
    bool late = one->growth != args->enable && tw__devices_used();
    if (!split && gpu && !late)
        one->growth = args->enable;
    tw__lock_give(&lock);
    if (split)
        return tw__fail(TW_VALUE_ERROR, "Cannot set memory growth on device when virtual devices configured");
    if (!gpu)
        return tw__fail(TW_VALUE_ERROR, "Cannot set memory growth on non-GPU and non-Pluggable devices");
    return late ? tw__fail(TW_RUNTIME_ERROR, "Physical devices cannot be modified after being initialized") : TW_OK;
}

TW_API(get_memory_growth, "config.experimental._get_memory_growth(device: physical_device) -> value",
       "Whether memory of the device is taken as it is needed; None: nobody has said.")
{
    const physical *one = find_device(args->device, NULL);
    if (one && one->number < 0)
        tw__fail(TW_KEY_ERROR, "PhysicalDevice(name='%s', device_type='%s')", args->device->name, args->device->type);
    if (!one || one->growth < 0)
        return (tw_value){ .kind = TW_VALUE_NONE };
    return (tw_value){ .kind = TW_VALUE_BOOL, .b = one->growth == 1 };
}
