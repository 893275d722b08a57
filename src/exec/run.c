/* Running plans: a loop over prepared steps.
 *
 * A frame holds the values of one run, by place. Tensors of the places that the layout gave to the frame are made with it and
 * stay; their memory is a block that a run takes from the thread's buffers and gives back. Frames are kept from run to run in a
 * few slots that are exchanged atomically, so that several threads may run a plan at once and none waits. */
#include <stdatomic.h>

#include "base/pause.h"
#include "exec/internal.h"
#include "exec/compile.h"
#include "op/random/random.h"
#include "op/streams.h"
#include "rows.h"

enum { CHECK_STEPS = 64 };
static const int64_t kept_block = (int64_t)64 << 20; /* blocks from this size on stay with the frame */

typedef struct frame {
    tw__buffer *arena;      /* while it runs, or for good if it is large */
    char *base;             /* where the tensors in the arena point to now, */
    tw__buffer *base_arena; /* and of which block that was */
    tw_tensor **values;
    tw_tensor **inputs, **outputs; /* of one step */
    const tw_shape **shapes;
    tw_dtype *dtypes;
    tw_shape *out_shapes;
    int step;            /* that runs */
    struct frame *lanes; /* of steps that run side by side: the same values, and inputs and outputs of their own */
} frame;

/* ---- frames ---- */

static bool kept_by_frame(const tw__place *place)
{
    return place->where == TW_IN_ARENA || place->where == TW_IN_HEADER;
}

/* A tensor of the place, with two references: a kernel that gives another output in its stead releases one. Its memory is set by
 * `rebase`. */
static tw_tensor *make_header(const tw__plan *plan, int32_t p)
{
    const tw__place *place = &plan->places[p];
    tw_tensor *header = tw__tensor_empty(place->dtype, &TW_SCALAR);
    if (header) {
        header->shape = place->shape;
        header->count = tw__place_count(plan, p);
        tw_retain(header);
    }
    return header;
}

static void end_header(tw_tensor *header)
{
    tw_release(header);
    tw_release(header);
}

static void release_block(frame *f)
{
    tw__buffer *arena = f->arena;
    f->arena = NULL;
    if (arena) {
        tw__buffer_release(arena);
        tw__buffer_release(arena);
    }
}

static void frame_end(const tw__plan *plan, frame *f)
{
    for (int32_t p = 0; f && p < plan->place_count; p++) {
        if (kept_by_frame(&plan->places[p]) && f->values[p]) {
            f->values[p]->buffer = NULL;
            end_header(f->values[p]);
        }
    }
    if (f)
        release_block(f);
    tw__free(f);
}

static frame *frame_new(tw__plan *plan)
{
    size_t places = (size_t)plan->place_count + 1, in = (size_t)plan->most_inputs + 1, out = (size_t)plan->most_outputs + 1;
    size_t values = places * sizeof(tw_tensor *), inputs = in * sizeof(tw_tensor *), outputs = out * sizeof(tw_tensor *);
    size_t shapes = in * sizeof(tw_shape *), out_shapes = out * sizeof(tw_shape), dtypes = (in * sizeof(tw_dtype) + 7) / 8 * 8;
    size_t lanes = plan->has_lanes ? TW_MOST_LANES : 0, one = inputs + outputs + shapes + out_shapes + dtypes;
    frame *f = tw__alloc_zero((1 + lanes) * (sizeof *f + one) + values);
    if (!f)
        return NULL;
    char *at = (char *)(f + 1 + lanes);
    f->values = (void *)at;
    f->lanes = f + 1;
    at += values;
    for (size_t i = 0; i <= lanes; i++) {
        f[i].values = f->values;
        f[i].inputs = (void *)at;
        f[i].outputs = (void *)(at += inputs);
        f[i].shapes = (void *)(at += outputs);
        f[i].out_shapes = (void *)(at += shapes);
        f[i].dtypes = (void *)(at += out_shapes);
        at += dtypes;
    }
    for (int k = 0; k < plan->constant_count; k++)
        f->values[plan->constant_places[k]] = plan->places[plan->constant_places[k]].constant;
    for (int32_t p = 0; p < plan->place_count; p++) {
        if (kept_by_frame(&plan->places[p]) && !(f->values[p] = make_header(plan, p))) {
            frame_end(plan, f);
            return NULL;
        }
    }
    return f;
}

/* Lets the frame's tensors point to their memory. */
static void rebase(const tw__plan *plan, frame *f)
{
    for (int32_t p = 0; p < plan->place_count; p++) {
        const tw__place *place = &plan->places[p];
        tw_tensor *header = f->values[p];
        if (place->where == TW_IN_ARENA) {
            header->data = (char *)f->arena->data + place->offset;
            header->buffer = f->arena;
        } else if (place->where == TW_IN_HEADER) {
            header->data = f->values[place->root]->small;
        }
    }
    f->base = f->arena ? f->arena->data : (char *)f;
    f->base_arena = f->arena;
}

static frame *frame_take(tw__plan *plan)
{
    frame *f = NULL;
    for (int i = 0; i < TW_SPARE_FRAMES && !f; i++) {
        if (atomic_load_explicit(&plan->spare[i], memory_order_relaxed))
            f = atomic_exchange_explicit(&plan->spare[i], NULL, memory_order_acquire);
    }
    if (!f && !(f = frame_new(plan)))
        return NULL;
    if (plan->arena_bytes && !f->arena) {
        f->arena = tw__buffer_new((size_t)plan->arena_bytes);
        if (!f->arena) {
            frame_end(plan, f);
            return NULL;
        }
        tw__buffer_retain(f->arena); /* so that nobody takes a tensor in it for the only one */
    }
    if (f->base != (f->arena ? f->arena->data : (void *)f) || f->base_arena != f->arena)
        rebase(plan, f);
    return f;
}

static void frame_give_back(tw__plan *plan, frame *f)
{
    /* Blocks too large for the thread's buffers stay, but one per function at most: plans for single shapes may be many. */
    bool stays = plan->arena_bytes >= kept_block && plan->general == plan;
    if (!stays)
        release_block(f);
    for (int i = 0; i < TW_SPARE_FRAMES; i++) {
        void *empty = NULL;
        if (i == 1)
            release_block(f);
        if (!atomic_load_explicit(&plan->spare[i], memory_order_relaxed) &&
            atomic_compare_exchange_strong_explicit(&plan->spare[i], &empty, f, memory_order_release, memory_order_relaxed))
            return;
    }
    frame_end(plan, f);
}

void tw__plan_frames_free(tw__plan *plan)
{
    for (int i = 0; i < TW_SPARE_FRAMES; i++) {
        frame_end(plan, atomic_load(&plan->spare[i]));
    }
}

/* Somebody kept a tensor of the frame, which no op should: it gets memory of its own, and the frame another tensor. */
static tw_status detach(const tw__plan *plan, frame *f, int32_t p)
{
    tw_tensor *kept = f->values[p], *header = make_header(plan, p);
    TW_NEED(header);
    if (kept->data != kept->small) {
        tw__buffer *own = tw__buffer_new((size_t)plan->places[p].bytes);
        if (!own) {
            end_header(header);
            return tw__error_status();
        }
        memcpy(own->data, kept->data, (size_t)plan->places[p].bytes);
        kept->data = own->data;
        kept->buffer = own;
    }
    f->values[p] = header;
    end_header(kept);
    rebase(plan, f);
    return TW_OK;
}

static bool is_kept(const tw_tensor *tensor)
{
    return tensor->object.peer || atomic_load_explicit(&tensor->object.references, memory_order_relaxed) != 2;
}

/* ---- one step ---- */

/* The outputs that are known before the step runs. */
static tw_status make_outputs(const tw__plan *plan, const tw__step *now, frame *f)
{
    const tw_op *op = now->op;
    for (int k = 0; k < now->output_count; k++)
        f->outputs[k] = NULL;
    if (now->known) {
        for (int k = 0; k < now->output_count; k++) {
            const tw__place *place = &plan->places[now->outputs[k]];
            f->outputs[k] = kept_by_frame(place) ? f->values[now->outputs[k]] : tw__tensor_empty(place->dtype, &place->shape);
            TW_NEED(f->outputs[k]);
        }
        return TW_OK;
    }
    if (now->run)
        return TW_OK;
    for (int k = 0; k < now->input_count; k++) {
        f->shapes[k] = &f->inputs[k]->shape;
        f->dtypes[k] = f->inputs[k]->dtype;
    }
    for (int k = 0; k < now->output_count; k++)
        f->out_shapes[k].rank = -1;
    tw__inference inference = { op,        now->input_count, now->output_count, f->shapes,       f->dtypes,
                                f->inputs, now->attrs,       f->out_shapes,     now->out_dtypes, { 0 } };
    TW_TRY(op->shape(&inference));
    for (int k = 0; k < now->output_count && !op->makes_outputs; k++) {
        if (tw__shape_known(&f->out_shapes[k]) && !(f->outputs[k] = tw__tensor_empty(now->out_dtypes[k], &f->out_shapes[k])))
            return tw__error_status();
    }
    return TW_OK;
}

/* By a kernel that goes on where its last run ended. Copies of a node in several graphs have one stream; else the call that the
 * program made has them all, one for each way to the node. */
static tw_status compute_stream(const tw__step *now, tw__kernel *kernel)
{
    tw__kernel_stream *shared = now->node->stream;
    tw__stream_set *streams = tw__streams_now;
    _Atomic uint32_t *lock = shared ? &shared->lock : &streams->lock;
    tw__hold_take(lock);
    kernel->state = shared ? &shared->state : tw__stream_of(streams, now->op, tw__streams_path);
    tw_status status = kernel->state ? now->op->compute(kernel) : tw__error_status();
    tw__hold_give(lock);
    return status;
}

tw_status tw__step_draw(const tw__step *step, uint64_t groups, tw__philox *philox)
{
    tw__kernel kernel = { .op = step->op, .attrs = step->attrs };
    tw__kernel_stream *shared = step->node->stream;
    tw__stream_set *streams = tw__streams_now;
    _Atomic uint32_t *lock = shared ? &shared->lock : &streams->lock;
    tw__hold_take(lock);
    kernel.state = shared ? &shared->state : tw__stream_of(streams, step->op, tw__streams_path * 31 + step->key);
    tw_status status = kernel.state ? tw__random_draw(&kernel, groups, philox) : tw__error_status();
    tw__hold_give(lock);
    return status;
}

static tw_status compute(tw__step *now, frame *f)
{
    tw__kernel kernel = {
        now->op, now->input_count, now->output_count, f->inputs, f->outputs, now->attrs, now->out_dtypes, NULL
    };
    if (!now->op->free_state && !now->effects)
        return now->op->compute(&kernel);
    uint64_t outer = tw__streams_path;
    tw__streams_path = outer * 31 + now->key;
    tw_status status = now->op->free_state ? compute_stream(now, &kernel) : now->op->compute(&kernel);
    tw__streams_path = outer;
    return status;
}

static tw_status store_failed(const tw__step *now, const tw_tensor *got, const tw__place *place)
{
    if (!got)
        return tw__fail(TW_INTERNAL, "%s: the kernel left an output empty", now->op->name);
    return tw__fail(TW_INVALID_ARGUMENT, "%s gave %s %s where the graph has %s %s", now->op->name, tw_dtype_name(got->dtype),
                    tw__shape_text(&got->shape), tw_dtype_name(place->dtype), tw__shape_text(&place->shape));
}

/* A kernel gave another tensor for one that the frame keeps: its elements are taken over. */
static tw_status take_over(tw_tensor *header, tw_tensor *given, const tw__step *now, const tw__place *place)
{
    tw_status status = TW_OK;
    tw_retain(header);
    if (!given || given->dtype != header->dtype || !tw__shape_equal(&given->shape, &header->shape))
        status = store_failed(now, given, place);
    else
        memmove(header->data, given->data, (size_t)place->bytes);
    tw_release(given);
    return status;
}

/* Puts f->outputs into their places. What the graph says of a shape, later steps rely on. */
static tw_status store(const tw__plan *plan, const tw__step *now, frame *f, tw_status status)
{
    for (int k = 0; k < now->output_count; k++) {
        int32_t p = now->outputs[k];
        const tw__place *place = &plan->places[p];
        tw_tensor *got = f->outputs[k];
        if (kept_by_frame(place)) {
            tw_status taken = got != f->values[p] && got ? take_over(f->values[p], got, now, place) : TW_OK;
            status = status == TW_OK ? taken : status;
            continue;
        }
        f->values[p] = got;
        if (status == TW_OK && (!got || (place->bytes >= 0 && !tw__shape_equal(&got->shape, &place->shape))))
            status = store_failed(now, got, place);
    }
    return status;
}

static tw_status run_step(tw__plan *plan, tw__step *now, frame *f)
{
    for (int k = 0; k < now->input_count; k++)
        f->inputs[k] = f->values[now->inputs[k]];
    if (__builtin_expect(now->fixed, 1)) {
        for (int k = 0; k < now->output_count; k++)
            f->outputs[k] = f->values[now->outputs[k]];
        tw_status status = now->run ? now->run(now, f->inputs, f->outputs) : compute(now, f);
        bool same = true;
        for (int k = 0; k < now->output_count; k++)
            same &= f->outputs[k] == f->values[now->outputs[k]];
        return __builtin_expect(same, 1) ? status : store(plan, now, f, status);
    }
    tw_status status = make_outputs(plan, now, f);
    if (status == TW_OK)
        status = now->run ? now->run(now, f->inputs, f->outputs) : compute(now, f);
    return store(plan, now, f, status);
}

/* ---- a run ---- */

static int64_t bytes_seen(const tw__step *now, const frame *f)
{
    int64_t bytes = 0;
    for (int k = 0; k < now->input_count; k++)
        bytes += f->inputs[k]->count * (int64_t)tw__element_size(f->inputs[k]->dtype);
    for (int k = 0; k < now->output_count; k++) {
        const tw_tensor *value = f->values[now->outputs[k]];
        bytes += value->count * (int64_t)tw__element_size(value->dtype);
    }
    return bytes;
}

/* What ends with the step. */
static inline tw_status drop_values(const tw__plan *plan, const tw__step *now, frame *f)
{
    for (int k = 0; k < now->dropped_count; k++) {
        tw_release(f->values[now->dropped[k]]);
        f->values[now->dropped[k]] = NULL;
    }
    for (int k = 0; k < now->dying_count; k++) {
        if (__builtin_expect(is_kept(f->values[now->dying[k]]), 0))
            TW_TRY(detach(plan, f, now->dying[k]));
    }
    return TW_OK;
}

typedef struct lanes {
    tw__plan *plan;
    frame *frame;
} lanes;

static tw_status run_lane(void *context, int lane)
{
    const lanes *l = context;
    tw__step *now = &l->plan->steps[l->frame->step + lane];
    for (int k = 0; k < now->output_count; k++) { /* of a run before, which failed */
        int32_t p = now->outputs[k];
        if (l->plan->places[p].where == TW_IN_HEAP) {
            tw_release(l->frame->values[p]);
            l->frame->values[p] = NULL;
        }
    }
    return run_step(l->plan, now, &l->frame->lanes[lane]);
}

/* All steps of the group but the last, which is the caller's to finish. */
static tw_status run_beside(tw__plan *plan, frame *f)
{
    lanes l = { plan, f };
    tw_status status;
    int first = f->step, count = plan->steps[first].lanes, lane = tw__run_lanes(run_lane, &l, count, &status);
    f->step = first + lane;
    for (int i = 0; status == TW_OK && i < count - 1; i++)
        status = drop_values(plan, &plan->steps[first + i], f);
    return status;
}

static inline tw_status run_steps_with(tw__plan *plan, frame *f, bool reports)
{
    int until_check = CHECK_STEPS;
    for (int s = 0; s < plan->step_count; s++) {
        tw__step *now = &plan->steps[s];
        f->step = s;
        int64_t start = reports ? tw__step_clock() : 0;
        if (__builtin_expect(now->lanes, 0) && !reports && !tw__one_op_at_a_time()) {
            TW_TRY(run_beside(plan, f));
            s = f->step;
            now = &plan->steps[s];
        } else {
            TW_TRY(run_step(plan, now, f));
        }
        if (reports)
            tw__step_report(now, start, bytes_seen(now, f));
        TW_TRY(drop_values(plan, now, f));
        if (now->large || --until_check == 0) {
            until_check = CHECK_STEPS;
            TW_TRY(tw__pause());
        }
    }
    return TW_OK;
}

static tw_status run_steps(tw__plan *plan, frame *f)
{
    if (__builtin_expect(atomic_load_explicit(&tw__step_reports, memory_order_relaxed), 0))
        return run_steps_with(plan, f, true);
    return run_steps_with(plan, f, false);
}

static tw_status give_outputs(tw__plan *plan, frame *f, tw_tensor **outputs)
{
    for (int i = 0; i < plan->output_count; i++) {
        int32_t p = plan->outputs[i];
        tw_tensor *value = f->values[p];
        outputs[i] = plan->places[p].constant ? tw__tensor_view(value, &value->shape) : tw_retain(value);
        TW_NEED(outputs[i]);
    }
    return TW_OK;
}

static void tell_step(const tw__step *step)
{
    tw__error_at_node(tw__step_name(step), (tw_object *)step->node->origin);
}

tw_status tw__plan_execute(tw__plan *plan, tw_tensor *const *values, tw_tensor **outputs)
{
    frame *f = frame_take(plan);
    TW_NEED(f);
    for (int i = 0; i < plan->argument_count; i++)
        f->values[plan->arguments[i]] = values[i];
    for (int i = 0; i < plan->output_count; i++)
        outputs[i] = NULL;
    uint64_t denormals = tw__denormals_flush();
    tw_status status = run_steps(plan, f);
    tw__denormals_restore(denormals);
    if (status != TW_OK)
        tell_step(&plan->steps[f->step]);
    else
        status = give_outputs(plan, f, outputs);
    if (status == TW_OK) {
        for (int i = 0; i < plan->output_count; i++) {
            int32_t p = plan->outputs[i];
            if (plan->places[p].where == TW_IN_HEAP) {
                tw_release(f->values[p]);
                f->values[p] = NULL;
            }
        }
    } else {
        for (int i = 0; i < plan->output_count; i++) {
            tw_release(outputs[i]);
            outputs[i] = NULL;
        }
        for (int32_t p = 0; p < plan->place_count; p++) {
            if (plan->places[p].where == TW_IN_HEAP) {
                tw_release(f->values[p]);
                f->values[p] = NULL;
            }
        }
    }
    frame_give_back(plan, f);
    return status;
}

bool tw__plan_fits(const tw__plan *plan, tw_tensor *const *values)
{
    for (int i = 0; i < plan->argument_count; i++) {
        const tw__place *place = &plan->places[plan->arguments[i]];
        const tw_shape *shape = &values[i]->shape;
        if (values[i]->dtype != place->dtype || shape->rank != place->shape.rank)
            return false;
        for (int k = 0; k < shape->rank; k++) {
            if (shape->dims[k] != place->shape.dims[k])
                return false;
        }
    }
    return true;
}

static tw_status run(tw__plan *plan, tw_tensor *const *values, tw_tensor **outputs)
{
    if (__builtin_expect(tw__plan_fits(plan, values), 1))
        return tw__plan_execute(plan, values, outputs);
    return tw__specials_run(plan, values, outputs);
}

tw_status tw__plan_run(tw__plan *plan, tw_tensor *const *values, tw_tensor **outputs)
{
    if (tw__streams_now) /* called by another plan, or by a step of a dataset */
        return run(plan, values, outputs);
    tw__streams_now = plan->general->streams;
    tw__streams_path = 0;
    tw_status status = run(plan, values, outputs);
    tw__streams_now = NULL;
    return status;
}
