/* Writers of summaries as ops see them: a resource that stands for an event file (format/record/events.c).
 *
 *     WriteSummary adds  Event {1 wall_time, 2 step, 5 Summary {1 Value {1 tag, 8 TensorProto, 9 SummaryMetadata}}}
 *
 * Numbers lie in a TensorProto's tensor_content, strings in its string_val. */
#include <math.h>
#include <unistd.h>

#include "codec/message.h"
#include "graph/graphdef.h"
#include "op/guard.h"
#include "rows.h"
#include "summary/summary.h"

static void resource_destroy(void *self)
{
    tw__saved_error saved = tw__error_take();
    tw__events_free(((tw__summary_resource *)self)->events);
    tw_clear_error();
    tw__error_restore(saved);
}

const tw_class tw__summary_resource_class = { .name = "SummaryWriterResource",
                                              .size = sizeof(tw__summary_resource),
                                              .destroy = resource_destroy };

tw_status tw__summary_create(tw__summary_resource *resource, const char *directory, int64_t max_queue, int64_t flush_millis,
                             const char *suffix)
{
    static _Atomic int64_t writers;
    if (resource->events)
        return TW_OK;
    tw__owned char *name = tw__format(".%lld.%lld%s", (long long)getpid(), (long long)writers++, suffix);
    resource->events = name ? tw__events_new(directory, name, max_queue, (double)flush_millis / 1000) : NULL;
    return resource->events ? tw__events_start(resource->events) : tw__error_status();
}

static tw__summary_resource *resource_of(const tw__kernel *kernel, bool open)
{
    tw_object *object = tw__tensor_object(kernel->inputs[0]);
    if (!object || !tw__is(object, &tw__summary_resource_class)) {
        TW_OP_FAIL(kernel, TW_INVALID_ARGUMENT, "input 0 is no summary writer");
        return NULL;
    }
    tw__summary_resource *resource = (tw__summary_resource *)object;
    if (open && (!resource->events || resource->closed)) {
        TW_OP_FAIL(kernel, TW_FAILED_PRECONDITION, "the summary writer %s", resource->closed ? "is closed" : "has no file yet");
        return NULL;
    }
    return resource;
}

/* ---- making ---- */

static tw_status writer_compute(tw__kernel *kernel)
{
    tw_object *resource =
        kernel->state && *kernel->state ? tw_retain(*kernel->state) : tw__object_new(&tw__summary_resource_class);
    if (resource && kernel->state && !*kernel->state)
        *kernel->state = tw_retain(resource);
    tw_tensor *handle = resource ? tw__tensor_of_object(TW_RESOURCE, resource) : NULL;
    tw_release(resource);
    return handle ? tw__output_take(kernel, 0, handle) : tw__error_status();
}

static void writer_end(void *state)
{
    tw_release(state);
}

TW_OP(SummaryWriter, .outputs = "writer: resource", .attrs = "shared_name: string = '', container: string = ''",
      .shape = tw_shape_scalar, .compute = writer_compute, .stateful = true, .makes_outputs = true, .free_state = writer_end,
      .doc = "A handle for a writer of summaries.");

static tw_status create_compute(tw__kernel *kernel)
{
    tw__summary_resource *resource = resource_of(kernel, false);
    if (!resource)
        return tw__error_status();
    for (int i = 1; i < 5; i++) {
        if (kernel->inputs[i]->count != 1)
            return TW_OP_FAIL(kernel, TW_INVALID_ARGUMENT, "input %d must be a scalar, got shape %s", i,
                              tw__shape_text(&kernel->inputs[i]->shape));
    }
    tw_string directory = tw_tensor_string_at(kernel->inputs[1], 0), suffix = tw_tensor_string_at(kernel->inputs[4], 0);
    char *path = tw__strndup(directory.data ? directory.data : "", directory.size),
         *end = tw__strndup(suffix.data ? suffix.data : "", suffix.size);
    int64_t max_queue = tw_tensor_int_at(kernel->inputs[2], 0), flush_millis = tw_tensor_int_at(kernel->inputs[3], 0);
    tw_status status = path && end ? tw__summary_create(resource, path, max_queue, flush_millis, end) : TW_RESOURCE_EXHAUSTED;
    tw__free(path);
    tw__free(end);
    return status;
}

TW_OP(CreateSummaryFileWriter,
      .inputs = "writer: resource, logdir: string, max_queue: int32, flush_millis: int32, filename_suffix: string",
      .shape = tw_shape_none, .compute = create_compute, .stateful = true, .touches = TW_WRITES_FILES, .paths = "logdir",
      .doc = "Gives a writer its file in a directory.");

static tw_status flush_compute(tw__kernel *kernel)
{
    tw__summary_resource *resource = resource_of(kernel, false);
    if (!resource)
        return tw__error_status();
    return resource->events && !resource->closed ? tw__events_flush(resource->events) : TW_OK;
}

TW_OP(FlushSummaryWriter, .inputs = "writer: resource", .shape = tw_shape_none, .compute = flush_compute, .stateful = true,
      .doc = "Writes the events that wait.");

static tw_status close_compute(tw__kernel *kernel)
{
    tw__summary_resource *resource = resource_of(kernel, false);
    if (!resource)
        return tw__error_status();
    resource->closed = true;
    return resource->events ? tw__events_close(resource->events) : TW_OK;
}

TW_OP(CloseSummaryWriter, .inputs = "writer: resource", .shape = tw_shape_none, .compute = close_compute, .stateful = true,
      .doc = "Writes the events that wait and closes the file.");

/* ---- writing ---- */

static tw_status add_event(tw__kernel *kernel, uint32_t what, tw__text *data, tw_status status)
{
    tw__summary_resource *resource = status == TW_OK ? resource_of(kernel, true) : NULL;
    if (status == TW_OK && kernel->inputs[1]->count != 1)
        status = TW_OP_FAIL(kernel, TW_INVALID_ARGUMENT, "step must be a scalar, got shape %s",
                            tw__shape_text(&kernel->inputs[1]->shape));
    if (status == TW_OK)
        status = data->failed ? TW_RESOURCE_EXHAUSTED : !resource ? tw__error_status() : TW_OK;
    if (status == TW_OK)
        status = tw__events_add_what(resource->events, tw_tensor_int_at(kernel->inputs[1], 0), what, data->data ? data->data : "",
                                     data->size);
    tw__text_free(data);
    return status;
}

static tw_status write_compute(tw__kernel *kernel)
{
    if (kernel->inputs[3]->count != 1 || kernel->inputs[4]->count != 1)
        return TW_OP_FAIL(kernel, TW_INVALID_ARGUMENT, "tag and summary_metadata must be scalars");
    tw_string tag = tw_tensor_string_at(kernel->inputs[3], 0), metadata = tw_tensor_string_at(kernel->inputs[4], 0);
    tw__text summary = { 0 };
    size_t value = tw__open_Summary_value(&summary);
    if (tag.size)
        tw__put_Summary_Value_tag(&summary, tag.data, tag.size);
    size_t tensor = tw__open_Summary_Value_tensor(&summary);
    tw_status status = tw__tensor_message_body(&summary, kernel->inputs[2]);
    tw__close(&summary, tensor);
    if (metadata.size)
        tw__put_Summary_Value_metadata(&summary, metadata.data, metadata.size);
    tw__close(&summary, value);
    return add_event(kernel, TW_EVENT_SUMMARY, &summary, status);
}

TW_OP(WriteSummary, .inputs = "writer: resource, step: int64, tensor: T, tag: string, summary_metadata: string",
      .attrs = "T: type", .shape = tw_shape_none, .compute = write_compute, .stateful = true,
      .doc = "Writes a tensor under a tag.");

static tw_status write_bytes(tw__kernel *kernel, uint32_t what)
{
    tw__text text = { 0 };
    if (kernel->inputs[2]->count != 1)
        return TW_OP_FAIL(kernel, TW_INVALID_ARGUMENT, "tensor must be a scalar");
    tw_string bytes = tw_tensor_string_at(kernel->inputs[2], 0);
    tw__text_bytes(&text, bytes.data ? bytes.data : "", bytes.size);
    tw__NoneValue any; /* of any message: no field is looked at */
    tw_status status =
        !tw__read_NoneValue(bytes, &any) ? TW_OP_FAIL(kernel, TW_INVALID_ARGUMENT, "the bytes are no message") : TW_OK;
    return add_event(kernel, what, &text, status);
}

static tw_status graph_compute(tw__kernel *kernel)
{
    return write_bytes(kernel, TW_EVENT_GRAPH_DEF);
}

TW_OP(WriteGraphSummary, .inputs = "writer: resource, step: int64, tensor: string", .shape = tw_shape_none,
      .compute = graph_compute, .stateful = true, .doc = "Writes a serialized GraphDef.");

static tw_status raw_compute(tw__kernel *kernel)
{
    return write_bytes(kernel, TW_EVENT_SUMMARY);
}

TW_OP(WriteRawProtoSummary, .inputs = "writer: resource, step: int64, tensor: string", .shape = tw_shape_none,
      .compute = raw_compute, .stateful = true, .doc = "Writes a serialized Summary.");

/* TensorFlow 1's form: a number and no metadata. */
static tw_status scalar_compute(tw__kernel *kernel)
{
    if (kernel->inputs[2]->count != 1 || kernel->inputs[3]->count != 1)
        return TW_OP_FAIL(kernel, TW_INVALID_ARGUMENT, "tag and value must be scalars");
    tw_string tag = tw_tensor_string_at(kernel->inputs[2], 0);
    float number = (float)tw_tensor_double_at(kernel->inputs[3], 0);
    tw__text summary = { 0 };
    size_t value = tw__open_Summary_value(&summary);
    tw__put_Summary_Value_tag(&summary, tag.data ? tag.data : "", tag.size);
    tw__put_Summary_Value_simple_value(&summary, number);
    tw__close(&summary, value);
    return add_event(kernel, TW_EVENT_SUMMARY, &summary, TW_OK);
}

TW_OP(WriteScalarSummary, .inputs = "writer: resource, step: int64, tag: string, value: T",
      .attrs = "T: {float, double, int32, uint8, int16, int8, int64, bfloat16, uint16, half, uint32, uint64}",
      .shape = tw_shape_none, .compute = scalar_compute, .stateful = true,
      .doc = "Writes a number under a tag, as TensorFlow 1 did.");
