/* Names of devices: taking them apart, merging, and writing them; tf.DeviceSpec. */
#include <ctype.h>
#include <stdlib.h>

#include "device/device.h"
#include "rows.h"

static const char *const short_types[] = { "CPU", "GPU", "TPU", "CUSTOM" };

static bool is(tw_string text, const char *word)
{
    return text.size == strlen(word) && memcmp(text.data, word, text.size) == 0;
}

/* The short type that the text is, whatever the case of its letters; or NULL. */
static const char *short_type(tw_string text)
{
    for (size_t i = 0; i < sizeof short_types / sizeof *short_types; i++) {
        if (text.size == strlen(short_types[i]) && strncasecmp(text.data, short_types[i], text.size) == 0)
            return short_types[i];
    }
    return NULL;
}

static tw_status read_number(tw_string text, int64_t *number)
{
    char digits[24], *end = NULL;
    if (text.size && text.size < sizeof digits) {
        memcpy(digits, text.data, text.size);
        digits[text.size] = 0;
        *number = strtoll(digits, &end, 10);
    }
    if (end && !*end && !isspace((unsigned char)digits[0]))
        return TW_OK;
    return tw__fail(TW_VALUE_ERROR, "invalid literal for int() with base 10: '%.*s'", (int)text.size, text.data);
}

/* "GPU", and the number or star behind it. */
static tw_status read_type(const char *text, tw__device_name *name, const char *type, size_t size, const tw_string *index)
{
    if (name->type.data)
        return tw__fail(TW_VALUE_ERROR, "Multiple device types are not allowed while parsing the device spec: %s.", text);
    name->type = (tw_string){ type, size };
    return index && !is(*index, "*") ? read_number(*index, &name->index) : TW_OK;
}

static tw_status read_part(const char *text, tw_string part, tw__device_name *name)
{
    tw_string words[4] = { { 0 } };
    int count = 0;
    const char *at = part.data, *end = part.data + part.size;
    while (at <= end) {
        const char *colon = memchr(at, ':', (size_t)(end - at));
        const char *stop = colon ? colon : end;
        if (count < 4)
            words[count] = (tw_string){ at, (size_t)(stop - at) };
        count++;
        at = stop + 1;
    }
    const char *type = short_type(words[0]);
    if (count == 2 && is(words[0], "job"))
        name->job = words[1];
    else if (count == 2 && is(words[0], "replica"))
        return read_number(words[1], &name->replica);
    else if (count == 2 && is(words[0], "task"))
        return read_number(words[1], &name->task);
    else if (count <= 2 && type)
        return read_type(text, name, type, strlen(type), count == 2 ? &words[1] : NULL);
    else if (count == 3 && is(words[0], "device"))
        return read_type(text, name, short_type(words[1]) ? short_type(words[1]) : words[1].data, words[1].size, &words[2]);
    else if (words[0].size)
        return tw__fail(TW_VALUE_ERROR, "Unknown attribute '%.*s' is encountered while parsing the device spec: '%s'.",
                        (int)words[0].size, words[0].data, text);
    return TW_OK;
}

static const tw__device_name nothing = { { NULL, 0 }, { NULL, 0 }, TW__DEVICE_NONE, TW__DEVICE_NONE, TW__DEVICE_NONE };

tw_status tw__device_parse(const char *text, tw__device_name *name)
{
    *name = nothing;
    for (const char *at = text; *at;) {
        size_t size = strcspn(at, "/");
        if (size)
            TW_TRY(read_part(text, (tw_string){ at, size }, name));
        at += size + (at[size] == '/');
    }
    return TW_OK;
}

tw__device_name tw__device_merge(tw__device_name outer, tw__device_name inner)
{
    if (inner.job.data)
        outer.job = inner.job;
    if (inner.type.data)
        outer.type = inner.type;
    if (inner.replica != TW__DEVICE_NONE)
        outer.replica = inner.replica;
    if (inner.task != TW__DEVICE_NONE)
        outer.task = inner.task;
    if (inner.index != TW__DEVICE_NONE)
        outer.index = inner.index;
    return outer;
}

char *tw__device_text(tw__device_name name)
{
    tw__text text = { 0 };
    tw__text_add(&text, "");
    if (name.job.data)
        tw__text_format(&text, "/job:%.*s", (int)name.job.size, name.job.data);
    if (name.replica != TW__DEVICE_NONE)
        tw__text_format(&text, "/replica:%lld", (long long)name.replica);
    if (name.task != TW__DEVICE_NONE)
        tw__text_format(&text, "/task:%lld", (long long)name.task);
    if (name.type.data && name.index >= 0)
        tw__text_format(&text, "/device:%.*s:%lld", (int)name.type.size, name.type.data, (long long)name.index);
    else if (name.type.data)
        tw__text_format(&text, "/device:%.*s:*", (int)name.type.size, name.type.data);
    return tw__text_take(&text);
}

/* ---- tf.DeviceSpec ---- */

struct tw_device_spec {
    tw_object object;
    char *text;
    tw__device_name name; /* in the text, or in the names of types above */
};

static void spec_destroy(void *self)
{
    tw__free(((struct tw_device_spec *)self)->text);
}

static tw_status spec_set(struct tw_device_spec *spec, tw__device_name name)
{
    char *given = tw__device_text(name); /* types may be in small letters */
    tw_status status = given ? tw__device_parse(given, &spec->name) : TW_RESOURCE_EXHAUSTED;
    spec->text = status == TW_OK ? tw__device_text(spec->name) : NULL;
    tw__free(given);
    TW_TRY(status);
    return spec->text ? tw__device_parse(spec->text, &spec->name) : TW_RESOURCE_EXHAUSTED;
}

static tw_string text_of(const char *text)
{
    return (tw_string){ text, text ? strlen(text) : 0 };
}

static int64_t number_of(int64_t number)
{
    return number == TW_NO_INT ? TW__DEVICE_NONE : number;
}

static tw_status spec_init(void *self, const void *given)
{
    const tw_device_spec_args *args = given;
    return spec_set(self, (tw__device_name){ text_of(args->job), text_of(args->device_type), number_of(args->replica),
                                             number_of(args->task), number_of(args->device_index) });
}

TW_CLASS(device_spec,
         "_DeviceSpec(job: str = None, replica: int = None, task: int = None, device_type: str = None, device_index: int = None)",
         .size = sizeof(struct tw_device_spec), .init = spec_init, .destroy = spec_destroy, .drop_config = true,
         .doc = "The name of a device in parts, each of which may be missing.");

static struct tw_device_spec *spec_of(tw__device_name name)
{
    struct tw_device_spec *spec = tw__object_new(&tw__class_device_spec);
    if (spec && spec_set(spec, name) == TW_OK)
        return spec;
    tw_release(spec);
    return NULL;
}

TW_API(device_spec_from_string, "_device_spec(spec: str) -> device_spec",
       "The spec that a text like \"/job:ps/cpu:0\" stands for.")
{
    tw__device_name name;
    return tw__device_parse(args->spec ? args->spec : "", &name) == TW_OK ? spec_of(name) : NULL;
}

TW_METHOD(device_spec_to_string, "_DeviceSpec.to_string(self: device_spec) -> str", "The whole name.")
{
    return tw__strdup(args->self->text);
}

TW_METHOD(device_spec_merge, "_DeviceSpec.make_merged_spec(self: device_spec, dev: device_spec) -> device_spec",
          "What the other spec says, and else what this one does.")
{
    return spec_of(tw__device_merge(args->self->name, args->dev->name));
}

static char *copy_of(tw_string text)
{
    return text.data ? tw__strndup(text.data, text.size) : NULL;
}

TW_PROPERTY(device_spec_job, "_DeviceSpec.job(self: device_spec) -> str", "The job, or None.")
{
    return copy_of(args->self->name.job);
}

TW_PROPERTY(device_spec_type, "_DeviceSpec.device_type(self: device_spec) -> str", "The kind of device, or None.")
{
    return copy_of(args->self->name.type);
}

/* Negative numbers stand for None, which Python makes of them. */
TW_PROPERTY(device_spec_replica, "_DeviceSpec._replica(self: device_spec) -> int", "The replica, or -2.")
{
    return args->self->name.replica;
}

TW_PROPERTY(device_spec_task, "_DeviceSpec._task(self: device_spec) -> int", "The task, or -2.")
{
    return args->self->name.task;
}

TW_PROPERTY(device_spec_index, "_DeviceSpec._device_index(self: device_spec) -> int", "The number of the device, or -2.")
{
    return args->self->name.index;
}
