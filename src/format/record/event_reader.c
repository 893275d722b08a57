/* Event files for C programs and `thalweg tensorboard` (<thalweg/events.h>): the values of their summaries, one at a time.
 *
 *     Event    1 wall_time, 2 step, 4 graph_def, 5 Summary { 1 Value { 1 tag, 2 simple_value, 8 TensorProto, 9 SummaryMetadata
 *              { 1 PluginData { 1 plugin_name }, 3 description } } } */
#include <thalweg/events.h>

#include "codec/message.h"
#include "format/array/tensor_message.h"

struct tw_events {
    tw_object object;
    tw_records *records;
    tw__many values; /* what is left of the present event's */
    double wall_time;
    int64_t step;
    char *merged;   /* the present event's bytes, if they are not the file's */
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
    tw__free(events->merged);
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

static bool keep(tw_events *events, int which, tw_string text)
{
    tw__free(events->texts[which]);
    events->sizes[which] = text.size;
    return (events->texts[which] = tw__strndup(text.size ? text.data : "", text.size)) != NULL;
}

static bool read_value(tw_events *events, const tw__Summary_Value *from, tw_event_value *value)
{
    tw__SummaryMetadata metadata;
    tw__SummaryMetadata_PluginData plugin;
    forget_texts(events);
    if (!tw__read_SummaryMetadata(from->metadata, &metadata))
        metadata = (tw__SummaryMetadata){ 0 };
    if (!tw__read_SummaryMetadata_PluginData(metadata.plugin_data, &plugin))
        plugin = (tw__SummaryMetadata_PluginData){ 0 };
    bool good =
        keep(events, 0, from->tag) && keep(events, 1, plugin.plugin_name) && keep(events, 2, metadata.summary_description);
    value->number = (double)from->simple_value;
    value->has_number = from->which_value == TW_Summary_Value_simple_value;
    if (tw__has(from->tensor))
        value->tensor = from->tensor;
    value->tag = events->texts[0];
    value->plugin = events->texts[1];
    value->description = events->texts[2];
    value->tag_size = events->sizes[0];
    value->plugin_size = events->sizes[1];
    return good;
}

/* Begins the next event; true if it is a graph, which is a value by itself. What can't be read is passed over. */
static bool read_event(tw_events *events, const void *data, size_t size, tw_event_value *value)
{
    tw__Event event;
    tw__Summary summary;
    tw_string bytes = { data, size };
    events->values = (tw__many){ 0 };
    tw__free(events->merged);
    if (!tw__message_merge(&tw__type_Event, &bytes, &events->merged) || !tw__read_Event(bytes, &event))
        return false;
    if (tw__read_Summary(event.summary, &summary))
        events->values = summary.value;
    value->wall_time = events->wall_time = event.wall_time;
    value->step = events->step = event.step;
    if (event.which_what == TW_Event_graph_def)
        value->graph = event.graph_def;
    return event.which_what == TW_Event_graph_def;
}

bool tw_events_next(tw_events *events, tw_event_value *value)
{
    if (!tw__check(events, &events_class, "tw_events_next") || !tw__check_given(value, "the value", "tw_events_next"))
        return false;
    const void *data;
    size_t size;
    for (;;) {
        tw__Summary_Value found;
        *value = (tw_event_value){ .wall_time = events->wall_time, .step = events->step };
        if (tw__next_message(&events->values, &tw__type_Summary_Value, &found))
            return read_value(events, &found, value);
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
