/* The thread's state of tf.summary, and recording by it: the default writer, the default step (a number, or a variable that is
 * read each time), and the condition of record_if (a bool, a tensor, or a function that is asked each time).
 *
 * A condition that is not known while a function is traced becomes a branch of the graph, with all that the summary needs inside.
 */
#include <thalweg/function.h>

#include "codec/message.h"
#include "eager/eager.h"
#include "rows.h"
#include "summary/summary.h"

typedef struct state {
    struct tw_summary_writer *writer; /* references, or NULL */
    tw_value step;
    tw_tensor *condition;
    tw_callable *ask;
} state;
static _Thread_local state present;

/* What a push replaced: only that comes back. */
typedef struct replaced {
    state before;
    bool writer, step, condition;
    struct replaced *next;
} replaced;
static _Thread_local replaced *pushed;

struct tw_summary_writer {
    tw_object object;
    tw_tensor *handle; /* NULL: writes nothing */
    bool closed;
};

static tw_value copy_step(const tw_value *step)
{
    if (step->kind == TW_VALUE_TENSOR)
        tw_retain(step->tensor);
    else if (step->kind == TW_VALUE_OBJECT)
        tw_retain(step->object);
    return *step;
}

static void end_step(tw_value *step)
{
    if (step->kind == TW_VALUE_TENSOR || step->kind == TW_VALUE_OBJECT)
        tw_release(step->kind == TW_VALUE_TENSOR ? (void *)step->tensor : step->object);
    *step = (tw_value){ .kind = TW_VALUE_NONE };
}

static tw_status check_step(const tw_value *step)
{
    if (step->kind == TW_VALUE_NONE || step->kind == TW_VALUE_INT || step->kind == TW_VALUE_TENSOR)
        return TW_OK;
    if (step->kind == TW_VALUE_OBJECT && tw__is(step->object, &tw__class_variable))
        return TW_OK;
    return tw__fail(TW_TYPE_ERROR, "summary: the step must be an integer, a tensor or a variable");
}

/* ---- the state ---- */

TW_API(summary_push,
       "summary._push(writer: summary_writer = None, step: value = None, condition: tensor<bool> = None, ask: callable = None)",
       "Sets the thread's default writer, step and condition, those that are given, until summary._pop().")
{
    TW_TRY(check_step(&args->step));
    replaced *r = tw__alloc_zero(sizeof *r);
    if (!r)
        return TW_RESOURCE_EXHAUSTED;
    r->next = pushed;
    pushed = r;
    if ((r->writer = args->writer != NULL)) {
        r->before.writer = present.writer;
        present.writer = tw_retain(args->writer);
    }
    if ((r->step = args->step.kind != TW_VALUE_NONE)) {
        r->before.step = present.step;
        present.step = copy_step(&args->step);
    }
    if ((r->condition = args->condition || args->ask)) {
        r->before.condition = present.condition;
        r->before.ask = present.ask;
        present.condition = args->condition ? tw_retain(args->condition) : NULL;
        present.ask = args->ask ? tw_retain(args->ask) : NULL;
    }
    return TW_OK;
}

TW_API(summary_pop, "summary._pop()", "Back to what the last summary._push() replaced.")
{
    tw__owned replaced *r = pushed;
    if (!r)
        return tw__fail(TW_RUNTIME_ERROR, "summary: there is nothing to go back to");
    pushed = r->next;
    if (r->writer) {
        tw_release(present.writer);
        present.writer = r->before.writer;
    }
    if (r->step) {
        end_step(&present.step);
        present.step = r->before.step;
    }
    if (r->condition) {
        tw_release(present.condition);
        tw_release(present.ask);
        present.condition = r->before.condition;
        present.ask = r->before.ask;
    }
    return TW_OK;
}

/* What the thread that ends the library still has by default. */
static void end_present(void)
{
    tw__set(&present.writer, NULL);
    end_step(&present.step);
    present.step = (tw_value){ .kind = TW_VALUE_NONE };
}

static void end_later(void)
{
    static tw__ending ending = { .end = end_present };
    tw__at_shutdown(&ending);
}

TW_API(summary_set_default, "summary._set_default(writer: summary_writer = None)", "Makes a writer the thread's default.")
{
    end_later();
    tw__set(&present.writer, args->writer);
    return TW_OK;
}

TW_API(summary_set_step, "summary.experimental.set_step(step: value)",
       "Sets the thread's default step.\n"
       "step: an integer, a tensor or a variable; None: there is none")
{
    end_later();
    TW_TRY(check_step(&args->step));
    tw_value step = copy_step(&args->step);
    end_step(&present.step);
    present.step = step;
    return TW_OK;
}

TW_API(summary_get_step, "summary.experimental.get_step() -> value", "The thread's default step; None if there is none.")
{
    return copy_step(&present.step);
}

/* A scalar bool; NULL on failure. */
static tw_tensor *wanted(void)
{
    if (!present.writer || !present.writer->handle || present.writer->closed)
        return tw_tensor_bool(false);
    if (present.ask) {
        tw_auto tw_tensor *nothing = tw_tensor_bool(true);
        return nothing ? present.ask->call(present.ask, nothing) : NULL;
    }
    return present.condition ? tw_retain(present.condition) : tw_tensor_bool(true);
}

TW_API(summary_should_record_summaries, "summary.should_record_summaries() -> tensor", "Whether summaries are recorded now.")
{
    return wanted();
}

/* ---- writers ---- */

static void writer_destroy(void *self)
{
    tw_release(((struct tw_summary_writer *)self)->handle);
}

static tw_status writer_init(void *self, const void *given)
{
    const tw_summary_writer_args *args = given;
    struct tw_summary_writer *writer = self;
    if (!args->logdir) /* writes nothing */
        return TW_OK;
    tw_auto tw__summary_resource *resource = tw__object_new(&tw__summary_resource_class);
    tw_status status =
        resource ? tw__summary_create(resource, args->logdir, args->max_queue, args->flush_millis, args->filename_suffix)
                 : TW_RESOURCE_EXHAUSTED;
    if (status == TW_OK && !(writer->handle = tw__tensor_of_object(TW_RESOURCE, resource)))
        status = TW_RESOURCE_EXHAUSTED;
    return status;
}

TW_CLASS(
    summary_writer,
    "summary._SummaryWriter(logdir: str = None, max_queue: int = 10, flush_millis: int = 120000, filename_suffix: str = .v2)",
    .size = sizeof(struct tw_summary_writer), .init = writer_init, .destroy = writer_destroy, .drop_config = true,
    .doc = "Writes summaries for TensorBoard into a file of a directory.");

static tw_status call_writer(const struct tw_summary_writer *writer, const tw_op *op)
{
    int none = 0;
    return writer->handle && !writer->closed ? tw__apply(op, TW_IN(writer->handle), 1, NULL, 0, NULL, &none) : TW_OK;
}

TW_METHOD(summary_writer_flush, "summary._SummaryWriter.flush(self: summary_writer)", "Writes what waits.")
{
    return call_writer(args->self, &tw__op_FlushSummaryWriter);
}

TW_METHOD(summary_writer_close, "summary._SummaryWriter.close(self: summary_writer)", "Writes what waits and closes the file.")
{
    tw_status status = call_writer(args->self, &tw__op_CloseSummaryWriter);
    args->self->closed = true;
    return status;
}

TW_PROPERTY(summary_writer_closed, "summary._SummaryWriter._closed(self: summary_writer) -> bool", "Whether close() was called.")
{
    return args->self->closed;
}

TW_API(summary_flush_default, "summary._flush()", "Writes what waits in the thread's default writer.")
{
    return present.writer ? call_writer(present.writer, &tw__op_FlushSummaryWriter) : TW_OK;
}

/* ---- recording ---- */

static tw_tensor *step_of(const tw__summary_job *job)
{
    tw_auto tw_tensor *found = NULL;
    if (job->step)
        found = tw_retain(job->step);
    else if (present.step.kind == TW_VALUE_INT)
        found = tw_tensor_int64(present.step.i);
    else if (present.step.kind == TW_VALUE_TENSOR)
        found = tw_retain(present.step.tensor);
    else if (present.step.kind == TW_VALUE_OBJECT)
        found = tw__variable_read(present.step.object);
    else
        tw__fail(
            TW_VALUE_ERROR,
            "No step set. Please specify one either through the `step` argument or through tf.summary.experimental.set_step()");
    return found ? tw_cast(found, TW_INT64) : NULL;
}

static tw_tensor *metadata_of(const tw__summary_job *job)
{
    if (!job->plugin)
        return tw_tensor_string(job->metadata.data ? job->metadata.data : "", job->metadata.size);
    tw__auto(tw__text_free) tw__text metadata = { 0 };
    size_t plugin = tw__open_SummaryMetadata_plugin_data(&metadata);
    tw__put_SummaryMetadata_PluginData_plugin_name(&metadata, job->plugin, strlen(job->plugin));
    if (job->content.size)
        tw__put_SummaryMetadata_PluginData_content(&metadata, job->content.data, job->content.size);
    tw__close(&metadata, plugin);
    if (job->description && *job->description)
        tw__put_SummaryMetadata_summary_description(&metadata, job->description, strlen(job->description));
    tw_tensor *made = metadata.failed ? NULL : tw_tensor_string(metadata.data, metadata.size);
    return made;
}

static tw_tensors write_now(void *user, tw_tensors arguments)
{
    const tw__summary_job *job = user;
    (void)arguments;
    tw_auto tw_tensor *data = job->prepare ? job->prepare(job) : tw_retain(job->data);
    tw_auto tw_tensor *name = tw_tensor_string(job->tag, strlen(job->tag)), *metadata = metadata_of(job);
    if (!data || !name || !metadata)
        return TW_GIVE_FAILURE;
    bool plain = !job->op;
    int none = 0;
    tw_status status = plain ? tw__apply(&tw__op_WriteSummary, TW_IN(present.writer->handle, job->step, data, name, metadata), 5,
                                         NULL, 0, NULL, &none)
                             : tw__apply(job->op, TW_IN(present.writer->handle, job->step, data), 3, NULL, 0, NULL, &none);
    tw_auto tw_tensor *wrote = status == TW_OK ? tw_tensor_bool(true) : NULL;
    return tw_give(wrote);
}

static tw_tensors write_nothing(void *user, tw_tensors arguments)
{
    (void)user;
    (void)arguments;
    tw_auto tw_tensor *wrote = tw_tensor_bool(false);
    return tw_give(wrote);
}

tw_tensor *tw__summary_record(tw__summary_job *job)
{
    if (!present.writer || !present.writer->handle || present.writer->closed)
        return tw_tensor_bool(false);
    tw_auto tw_tensor *step = step_of(job), *given = step ? wanted() : NULL;
    tw_auto tw_tensor *condition = given ? tw_cast(given, TW_BOOL) : NULL;
    if (!condition)
        return NULL;
    job->step = step;
    char *tag = job->tag = tw__format("%s%s", job->whole_tag ? "" : tw__scope(), job->name);
    if (!tag)
        return NULL;
    tw_tensors made = !condition->data                      ? tw_cond(condition, write_now, write_nothing, job)
                      : tw_tensor_int_at(condition, 0) != 0 ? write_now(job, (tw_tensors){ 0 })
                                                            : write_nothing(job, (tw_tensors){ 0 });
    tw__free(tag);
    tw_tensor *result = made.count == 1 && made.items ? tw_retain(made.items[0]) : NULL;
    if (made.items)
        tw_tensors_free(&made);
    return result;
}
