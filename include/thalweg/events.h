/* Event files, as summaries are written into them: read value by value, also while the file grows.
 *
 *     tw_events *events = tw_events_open("logs/events.out.tfevents…", 0);
 *     tw_event_value value;
 *     while (tw_events_next(events, &value))
 *         printf("%lld %s\n", (long long)value.step, value.tag);
 *     tw_events_close(events);
 */
#ifndef THALWEG_EVENTS_H
#define THALWEG_EVENTS_H

#include <thalweg/records.h>
#include <thalweg/tensor.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct tw_events tw_events;

/* One value of a summary, or a graph. Texts and bytes are borrowed until the next call. */
typedef struct tw_event_value {
    double wall_time; /* seconds since 1970 */
    int64_t step;
    const char *tag;                  /* what the value is called; NULL: this is a graph */
    const char *plugin, *description; /* "scalars", "images" …; "" if the file does not say so */
    size_t tag_size, plugin_size;     /* of names that hold zero bytes */
    tw_string tensor;                 /* a TensorProto; or empty */
    bool has_number;                  /* the value is `number`, as TensorFlow 1 writes it */
    double number;
    tw_string graph; /* a GraphDef; or empty */
} tw_event_value;

/* `offset` is where a record begins (tw_records_offset), 0 at first. NULL: an error. */
TW_API_FUNCTION tw_events *tw_events_open(const char *path, int64_t offset);
TW_API_FUNCTION void tw_events_close(tw_events *events); /* NULL is fine */
/* The next value; false at the end of the file, and with an error at a record that is damaged or cut off. It may be called again:
 * a file may have grown. */
TW_API_FUNCTION bool tw_events_next(tw_events *events, tw_event_value *value);
/* The file behind, for tw_records_offset, tw_records_cut_off and tw_records_skip_damage; borrowed. */
TW_API_FUNCTION tw_records *tw_events_records(tw_events *events);
/* The value as a tensor that is the caller's; NULL: an error. */
TW_API_FUNCTION tw_tensor *tw_event_tensor(const tw_event_value *value);

/* What they give belongs to the open scope, if there is one; see <thalweg/base.h>. */
#ifdef TW_SCOPES
#define tw_event_tensor(...) TW_MADE(tw_tensor *, tw_event_tensor(__VA_ARGS__))
#endif

#ifdef __cplusplus
}
#endif
#endif
