/* Event files for C programs and `thalweg tensorboard` (<thalweg/events.h>): the values of their summaries, one at a time.
 *
 *     Event    1 wall_time, 2 step, 4 graph_def, 5 Summary { 1 Value { 1 tag, 2 simple_value, 8 TensorProto, 9 SummaryMetadata
 *              { 1 PluginData { 1 plugin_name }, 3 description } } } */
#include <thalweg/events.h>

#include "codec/codec.h"
#include "format/array/tensor_message.h"

struct tw_events {
    tw_object object;
    tw_records *records;
    tw__proto summary; /* what is left of the present event's */
    double wall_time;
    int64_t step;
    char *texts[3]; /* tag, plugin, description of the present value */
    size_t sizes[3];
};

static void forget_texts(tw_events *events)
{
    for (int i = 0; i < 3; i++) {
        tw__free(events->texts[i]);
        events->texts[i] = NULL;
    }
}

static void events_destroy(void *self)
{
    tw_events *events = self;
    forget_texts(events);
    tw_records_close(events->records);
}

static const tw_class events_class = { .name = "Events", .size = sizeof(tw_events), .destroy = events_destroy };

tw_events *tw_events_open(const char *path, int64_t offset)
{
    tw_events *events = tw__check_given(path, "the path", "tw_events_open") ? tw__object_new(&events_class) : NULL;
    if (events && !(events->records = tw_records_open(path, offset))) {
        tw_release(events);
        return NULL;
    }
    return events;
}

void tw_events_close(tw_events *events)
{
    if (events && tw__check(events, &events_class, "tw_events_close"))
        tw_release(events);
}

tw_records *tw_events_records(tw_events *events)
{
    return tw__check(events, &events_class, "tw_events_records") ? events->records : NULL;
}

/* ---- values ---- */

static double float_of(const tw__proto_field *field)
{
    uint32_t bits = (uint32_t)field->value;
    float value;
    memcpy(&value, &bits, sizeof value);
    return (double)value;
}

static double double_of(const tw__proto_field *field)
{
    double value;
    memcpy(&value, &field->value, sizeof value);
    return value;
}

static tw_string bytes_of(const tw__proto_field *field)
{
    return (tw_string){ (const char *)field->data, field->size };
}

static bool keep(tw_events *events, int which, tw_string text)
{
    tw__free(events->texts[which]);
    events->sizes[which] = text.size;
    return (events->texts[which] = tw__strndup(text.size ? text.data : "", text.size)) != NULL;
}

/* The plugin's name and the description. */
static bool read_metadata(tw_events *events, const tw__proto_field *message)
{
    tw__proto all = tw__proto_nested(message);
    tw__proto_field field, name;
    while (tw__proto_next(&all, &field)) {
        tw__proto plugin = tw__proto_nested(&field);
        while (field.number == 1 && tw__proto_next(&plugin, &name)) {
            if (name.number == 1 && !keep(events, 1, bytes_of(&name)))
                return false;
        }
        if (field.number == 3 && !keep(events, 2, bytes_of(&field)))
            return false;
    }
    return true;
}

static bool read_value(tw_events *events, const tw__proto_field *message, tw_event_value *value)
{
    tw__proto all = tw__proto_nested(message);
    tw__proto_field field;
    forget_texts(events);
    bool good =
        keep(events, 0, (tw_string){ "", 0 }) && keep(events, 1, (tw_string){ "", 0 }) && keep(events, 2, (tw_string){ "", 0 });
    while (good && tw__proto_next(&all, &field)) {
        if (field.number == 1)
            good = keep(events, 0, bytes_of(&field));
        else if (field.number == 2)
            value->number = float_of(&field), value->has_number = true;
        else if (field.number == 8)
            value->tensor = bytes_of(&field);
        else if (field.number == 9)
            good = read_metadata(events, &field);
    }
    value->tag = events->texts[0];
    value->plugin = events->texts[1];
    value->description = events->texts[2];
    value->tag_size = events->sizes[0];
    value->plugin_size = events->sizes[1];
    return good;
}

/* Begins the next event; true if it is a graph, which is a value by itself. */
static bool read_event(tw_events *events, const void *data, size_t size, tw_event_value *value)
{
    tw__proto all = tw__proto_read(data, size);
    tw__proto_field field;
    bool graph = false;
    events->wall_time = 0;
    events->step = 0;
    events->summary = (tw__proto){ 0 };
    while (tw__proto_next(&all, &field)) {
        if (field.number == 1)
            events->wall_time = double_of(&field);
        else if (field.number == 2)
            events->step = (int64_t)field.value;
        else if (field.number == 5)
            events->summary = tw__proto_nested(&field);
        else if (field.number == 4 && (graph = true))
            value->graph = bytes_of(&field);
    }
    value->wall_time = events->wall_time;
    value->step = events->step;
    return graph;
}

bool tw_events_next(tw_events *events, tw_event_value *value)
{
    if (!tw__check(events, &events_class, "tw_events_next") || !tw__check_given(value, "the value", "tw_events_next"))
        return false;
    const void *data;
    size_t size;
    for (;;) {
        tw__proto_field field;
        *value = (tw_event_value){ .wall_time = events->wall_time, .step = events->step };
        while (events->summary.at && tw__proto_next(&events->summary, &field)) {
            if (field.number == 1)
                return read_value(events, &field, value);
        }
        events->summary = (tw__proto){ 0 };
        if (!tw_records_next(events->records, &data, &size))
            return false;
        if (read_event(events, data, size, value))
            return true;
    }
}

tw_tensor *tw_event_tensor(const tw_event_value *value)
{
    if (!tw__check_given(value, "the value", "tw_event_tensor"))
        return NULL;
    if (!value->tensor.size)
        return tw_tensor_float((float)value->number);
    tw__tensor_message message;
    size_t budget = (size_t)1 << 30; /* bytes of strings that a file may ask for by few of its own */
    return tw__tensor_message_open(value->tensor, &message) == TW_OK ? tw__tensor_message_read(&message, -1, &budget) : NULL;
}
