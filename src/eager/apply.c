/* Dispatch. Every call of an op, whoever makes it (a user, a gradient function, a layer, an optimizer), goes through
 * tw__apply: attrs are completed, shapes checked and inferred, outputs made, the kernel run, tapes told.
 *
 * Kernels with state (random streams) find it by op and attrs: two calls with the same attrs continue one stream. */
#include "base/pause.h"
#include "device/device.h"
#include "eager/eager.h"
#include "exec/exec.h"
#include "graph/graph.h"
#include "op/guard.h"

enum { FEW = 16, MANY = 64 }; /* inputs or outputs that fit on the stack; that are looked up in a map */

/* ---- state of kernels ---- */

typedef struct kernel_state {
    void *state;
    void (*free_state)(void *);
} kernel_state;

_Thread_local bool tw__kernel_state_once;
static tw__lock states_lock = TW__LOCK;
static tw__map states;

static void free_state(void *memory)
{
    kernel_state *s = memory;
    if (s->state && s->free_state)
        s->free_state(s->state);
    tw__free(s);
}

void tw__kernel_states_clear(void)
{
    tw__lock_take(&states_lock);
    tw__map_free(&states, free_state);
    tw__lock_give(&states_lock);
}

/* Under the lock: the slot of this op with these attrs. */
static void **find_state(const tw_op *op, const tw_attr *attrs, int attr_count)
{
    static tw__ending ending = { .end = tw__kernel_states_clear };
    tw__at_shutdown(&ending);
    tw__auto(tw__text_free) tw__text key = { 0 };
    tw__text_bytes(&key, &op, sizeof op);
    tw__attrs_key(&key, attrs, attr_count);
    if (key.failed)
        return NULL;
    kernel_state *s = tw__map_get(&states, key.data, key.size);
    if (!s) {
        s = tw__alloc_zero(sizeof *s);
        if (s)
            s->free_state = op->free_state;
        if (s && tw__map_put(&states, key.data, key.size, s) != TW_OK) {
            tw__free(s);
            s = NULL;
        }
    }
    return s ? &s->state : NULL;
}

/* ---- one call ---- */

typedef struct call {
    tw_dtype dtypes[FEW];
    const tw_shape *shapes[FEW];
    tw_dtype out_dtypes[FEW];
    tw_shape out_shapes[FEW];
} call;

static tw_status run_with_state(const tw_op *op, tw__kernel *kernel, int attr_count)
{
    if (tw__kernel_state_once) {
        void *own = NULL;
        kernel->state = &own;
        tw_status once_status = op->compute(kernel);
        if (own)
            op->free_state(own);
        return once_status;
    }
    tw__lock_take(&states_lock);
    kernel->state = find_state(op, kernel->attrs, attr_count);
    tw_status status = kernel->state ? op->compute(kernel) : tw__error_status();
    tw__lock_give(&states_lock);
    return status;
}

static tw_status run_kernel(const tw_op *op, tw__kernel *kernel, int attr_count)
{
    if (!op->compute)
        return tw__fail(TW_UNIMPLEMENTED, "%s has no kernel", op->name);
    bool reports = atomic_load_explicit(&tw__op_reports, memory_order_relaxed);
    int64_t start = reports ? tw__step_clock() : 0;
    uint64_t denormals = tw__denormals_flush();
    tw_status status = op->free_state ? run_with_state(op, kernel, attr_count) : op->compute(kernel);
    tw__denormals_restore(denormals);
    if (reports && status == TW_OK)
        tw__op_report(op->name, op->name, start);
    return status;
}

static bool is_among(const tw_tensor *one, tw_tensor *const *others, int count)
{
    bool found = false;
    for (int k = 0; k < count; k++)
        found |= one == others[k];
    return found;
}

/* Of many outputs, such as those of a tensor that is taken apart: whether one was among those before. */
static tw_status note(tw__pointer_map *seen, const tw_tensor *one, bool *again)
{
    *again = tw__pointer_map_get(seen, one, -1) >= 0;
    return *again ? TW_OK : tw__pointer_map_put(seen, one, 1);
}

static tw_status part_many(tw_tensor *const *inputs, int input_count, tw_tensor **outputs, int output_count,
                           tw__pointer_map *seen)
{
    bool again;
    for (int k = 0; k < input_count; k++)
        TW_TRY(note(seen, inputs[k], &again));
    for (int i = 0; i < output_count; i++) {
        TW_TRY(note(seen, outputs[i], &again));
        if (i % 4096 == 4095)
            TW_TRY(tw__pause());
        if (!again)
            continue;
        tw_tensor *view = tw__tensor_view(outputs[i], &outputs[i]->shape);
        tw_release(outputs[i]);
        outputs[i] = view;
        TW_NEED(view);
    }
    return TW_OK;
}

tw_status tw__outputs_part(tw_tensor *const *inputs, int input_count, tw_tensor **outputs, int output_count)
{
    if (output_count > MANY) {
        tw__auto(tw__pointer_map_free) tw__pointer_map seen = { 0 };
        tw_status status = part_many(inputs, input_count, outputs, output_count, &seen);
        return status;
    }
    for (int i = 0; i < output_count; i++) {
        if (!is_among(outputs[i], inputs, input_count) && !is_among(outputs[i], outputs, i))
            continue;
        tw_tensor *view = tw__tensor_view(outputs[i], &outputs[i]->shape);
        tw_release(outputs[i]);
        outputs[i] = view;
        TW_NEED(view);
    }
    return TW_OK;
}

tw__outside tw__outside_begin(void)
{
    tw__outside outside = { tw__tracing, tw__tapes_hide() };
    tw__tracing = NULL;
    return outside;
}

tw__outside tw__root_begin(void)
{
    tw__outside outside = tw__outside_begin();
    tw__tracing = tw__graph_root(outside.graph);
    return outside;
}

void tw__outside_end(tw__outside outside)
{
    tw__tracing = outside.graph;
    tw__tapes_show(outside.tapes);
}

/* The graph that a call goes into. Calls on a lasting graph's tensors go into it, whichever graph is the thread's own. */
static tw__graph *graph_of_call(tw_tensor *const *inputs, int input_count)
{
    for (int i = 0; i < input_count; i++) {
        tw__graph *graph = inputs[i]->node ? inputs[i]->node->graph : NULL;
        if (graph && graph->lasting && graph != tw__tracing && (!tw__tracing || tw__tracing->lasting))
            return graph;
    }
    return tw__tracing;
}

/* An input of a dtype that the operation has not. */
static tw_status refuse_dtype(const char *input, tw_dtype dtype, uint64_t allowed)
{
    tw__text text = { 0 };
    for (int i = 1; i < TW_DTYPE_LIMIT; i++) {
        if (allowed >> i & 1)
            tw__text_format(&text, "%s%s", text.size ? ", " : "", tw_dtype_name((tw_dtype)i));
    }
    tw__owned char *list = tw__text_take(&text);
    tw_clear_error();
    tw__fail(TW_TYPE_ERROR, "Value passed to parameter '%s' has DataType %s not in list of allowed values: %s", input,
             tw_dtype_name(dtype), list ? list : "");
    return TW_TYPE_ERROR;
}

/* Inputs that must have one dtype have not: a graph words it in its own way. Lists of inputs are left to the error that is there.
 */
static tw_status name_conflict(const tw_op *op, const tw_dtype *dtypes, int input_count)
{
    const tw__op_signature *signature = tw__op_signature_of(op);
    for (int i = 1; signature->input_count == input_count && i < input_count; i++) {
        for (int k = 0; k < i; k++) {
            const tw__arg *one = &signature->inputs[k], *other = &signature->inputs[i];
            if (one->type_attr < 0 || one->type_attr != other->type_attr || dtypes[k] == dtypes[i])
                continue;
            tw_clear_error();
            return tw__fail(TW_TYPE_ERROR, "Input '%s' of '%s' Op has type %s that does not match type %s of argument '%s'.",
                            other->name, op->name, tw_dtype_name(dtypes[i]), tw_dtype_name(dtypes[k]), one->name);
        }
    }
    for (int i = 0; signature->input_count == input_count && i < input_count; i++) {
        const tw__arg *arg = &signature->inputs[i];
        uint64_t allowed = arg->type_attr >= 0 && arg->count_attr < 0 ? signature->attrs[arg->type_attr].allowed_types : 0;
        if (allowed && !(allowed >> dtypes[i] & 1))
            return refuse_dtype(arg->name, dtypes[i], allowed);
    }
    return tw_error_code();
}

/* The error, if it is none of a call further inside, is this op's. */
static tw_status failed(const tw_op *op, tw_status status)
{
    tw__error_at_op(op->name);
    return status;
}

/* The call while the thread traces: a node instead of a run. */
static tw_status trace_call(const tw_op *op, tw_tensor *const *inputs, int input_count, const tw_attr *attrs, int attr_count,
                            tw_tensor **outputs, int *output_count, const tw_dtype *dtypes, const tw_shape **shapes,
                            tw_dtype *out_dtypes, tw_shape *out_shapes)
{
    tw_attr complete[TW_MAX_ATTRS];
    int count = 0;
    if (!tw__tracing) {
        const tw_tensor *outside = NULL;
        for (int i = 0; i < input_count && !outside; i++)
            outside = inputs[i]->node ? inputs[i] : NULL;
        return tw__graph_out_of_scope(outside);
    }
    tw_tensor *few[FEW], **values = input_count <= FEW ? few : tw__alloc_array((size_t)input_count, sizeof *values);
    TW_NEED(values);
    for (int i = 0; i < input_count; i++)
        values[i] = inputs[i]->data ? inputs[i] : NULL;
    tw_status status = tw__op_resolve(op, dtypes, input_count, attrs, attr_count, complete, out_dtypes, *output_count, &count);
    if (status == TW_INVALID_ARGUMENT)
        status = name_conflict(op, dtypes, input_count);
    for (int i = 0; i < count; i++) {
        out_shapes[i].rank = -1;
        outputs[i] = NULL;
    }
    tw__inference inference = { op,     input_count, count,      shapes,     dtypes,
                                values, complete,    out_shapes, out_dtypes, { tw__partial_of_tensors, inputs } };
    if (status == TW_OK) {
        status = op->shape(&inference);
        if (status == TW_OK)
            status = op->graph_shape ? op->graph_shape(&inference) : TW_OK;
        if (status == TW_INVALID_ARGUMENT)
            status = tw__shape_error(&inference, inputs);
    }
    if (status != TW_OK)
        failed(op, status);
    if (values != few)
        tw__free(values);
    TW_TRY(status);
    int complete_count = tw__op_signature_of(op)->attr_count;
    TW_TRY(
        tw__graph_apply(tw__tracing, op, inputs, input_count, complete, complete_count, out_dtypes, out_shapes, count, outputs));
    if (tw__active_tapes)
        status = tw__tapes_record(op, inputs, input_count, complete, complete_count, outputs, count);
    for (int i = 0; status != TW_OK && i < count; i++) {
        tw_release(outputs[i]);
        outputs[i] = NULL;
    }
    if (status == TW_OK)
        *output_count = count;
    return status;
}

static tw_status trace(const tw_op *op, tw_tensor *const *inputs, int input_count, const tw_attr *attrs, int attr_count,
                       tw_tensor **outputs, int *output_count, const tw_dtype *dtypes, const tw_shape **shapes,
                       tw_dtype *out_dtypes, tw_shape *out_shapes)
{
    tw__graph *before = tw__tracing;
    tw__tracing = graph_of_call(inputs, input_count);
    tw_status status =
        trace_call(op, inputs, input_count, attrs, attr_count, outputs, output_count, dtypes, shapes, out_dtypes, out_shapes);
    tw__tracing = before;
    return status;
}

/* Where an operation runs: where the resource is that it works on, else where the thread's scope says. Functions run where they
 * are called. */
static uint32_t place_of(const tw_op *op, tw_tensor *const *inputs, int count)
{
    bool function = strstr(op->name, "PartitionedCall") != NULL;
    if (tw__devices_many && count && inputs[0]->dtype == TW_RESOURCE && !function)
        return inputs[0]->device;
    if (!tw__devices_accelerated || function)
        return tw__device_place;
    uint32_t place = tw__place_now(TW_FLOAT32);
    return place >= TW__ACCELERATOR && !tw__call_fits(op, inputs, count) ? 0 : place;
}

/* The outputs say where the operation ran. Those that others have, too (the value of a variable), are looked at as tensors of
 * their own. */
static tw_status put_outputs(uint32_t place, tw_tensor **outputs, int count)
{
    for (int i = 0; i < count; i++) {
        tw_tensor *output = outputs[i];
        if (output->device == place)
            continue;
        if (output->dtype != TW_RESOURCE && output->dtype != TW_VARIANT &&
            (output->object.peer || atomic_load_explicit(&output->object.references, memory_order_relaxed) > 1)) {
            tw_tensor *view = tw__tensor_view(output, &output->shape);
            TW_NEED(view);
            tw_release(output);
            outputs[i] = output = view;
        }
        output->device = place;
    }
    return TW_OK;
}

static tw_status run(const tw_op *op, tw_tensor *const *inputs, int input_count, const tw_attr *attrs, int attr_count,
                     tw_tensor **outputs, int *output_count, tw_dtype *dtypes, const tw_shape **shapes, tw_dtype *out_dtypes,
                     tw_shape *out_shapes)
{
    tw_attr complete[TW_MAX_ATTRS];
    int limit = *output_count, count = 0;
    bool symbolic = false;
    for (int i = 0; i < input_count; i++) {
        dtypes[i] = inputs[i]->dtype;
        shapes[i] = &inputs[i]->shape;
        symbolic |= inputs[i]->node != NULL;
    }
    if (tw__tracing || symbolic)
        return trace(op, inputs, input_count, attrs, attr_count, outputs, output_count, dtypes, shapes, out_dtypes, out_shapes);
    if (__builtin_expect(tw__device_attention || tw__device_top, 0))
        TW_TRY(tw__device_before(op->name, place_of(op, inputs, input_count)));
    tw_status status = tw__op_resolve(op, dtypes, input_count, attrs, attr_count, complete, out_dtypes, limit, &count);
    if (__builtin_expect(status != TW_OK, 0))
        return failed(op, status);
    int complete_count = tw__op_signature_of(op)->attr_count;
    for (int i = 0; i < count; i++) {
        out_shapes[i].rank = -1;
        outputs[i] = NULL;
    }
    tw__inference inference = { op, input_count, count, shapes, dtypes, inputs, complete, out_shapes, out_dtypes, { 0 } };
    status = op->shape(&inference);
    if (__builtin_expect(status != TW_OK, 0))
        return failed(op, status);
    tw__kernel kernel = { op, input_count, count, inputs, outputs, complete, out_dtypes, NULL };
    for (int i = 0; status == TW_OK && i < count; i++) {
        if (tw__shape_known(&out_shapes[i]) && !op->makes_outputs &&
            !(outputs[i] = tw__tensor_empty(out_dtypes[i], &out_shapes[i])))
            status = tw__error_status();
    }
    bool ran = false;
    if (__builtin_expect(tw__devices_accelerated, 0) && status == TW_OK)
        status = tw__call_compiled(&kernel, complete_count, out_shapes, place_of(op, inputs, input_count), &ran);
    if (status == TW_OK && !ran)
        status = run_kernel(op, &kernel, complete_count);
    for (int i = 0; status == TW_OK && i < count; i++) {
        if (!outputs[i])
            status = tw__fail(TW_INTERNAL, "the kernel left output %d empty", i);
    }
    if (status == TW_OK && op->makes_outputs)
        status = tw__outputs_part(inputs, input_count, outputs, count);
    if (__builtin_expect(tw__devices_many, 0) && status == TW_OK && !ran)
        status = put_outputs(place_of(op, inputs, input_count), outputs, count);
    if (__builtin_expect(atomic_load_explicit(&tw__numerics_threads, memory_order_relaxed), 0) && status == TW_OK)
        status = tw__numerics_run(op->name, inputs, input_count, outputs, count);
    if (status == TW_OK && tw__active_tapes)
        status = tw__tapes_record(op, inputs, input_count, complete, complete_count, outputs, count);
    if (status != TW_OK) {
        for (int i = 0; i < count; i++) {
            tw_release(outputs[i]);
            outputs[i] = NULL;
        }
        return failed(op, status);
    }
    *output_count = count;
    return TW_OK;
}

/* What a model's config named may not touch what is not the model's. */
static tw_status apply_guarded(const tw_op *op, tw_tensor *const *inputs, int input_count, const tw_attr *attrs, int attr_count,
                               tw_tensor **outputs, int *output_count)
{
    const tw_op *twin = tw__op_guarded(op);
    tw_attr all[TW_MAX_ATTRS];
    if (!twin || attr_count >= TW_MAX_ATTRS)
        return twin ? tw__fail(TW_INTERNAL, "%s: too many attrs", op->name) : tw__error_status();
    for (int i = 0; i < attr_count; i++)
        all[i] = attrs[i];
    all[attr_count] =
        (tw_attr){ .name = TW_GUARD_ATTR, .kind = TW_ATTR_STRING, .s = { tw__guard_calling, strlen(tw__guard_calling) } };
    return tw__apply(twin, inputs, input_count, all, attr_count + 1, outputs, output_count);
}

tw_status tw__apply(const tw_op *op, tw_tensor *const *inputs, int input_count, const tw_attr *attrs, int attr_count,
                    tw_tensor **outputs, int *output_count)
{
    if (__builtin_expect(op->touches, 0) && tw__guard_calling && !op->plain)
        return apply_guarded(op, inputs, input_count, attrs, attr_count, outputs, output_count);
    if (input_count <= FEW && *output_count <= FEW) {
        call few;
        return run(op, inputs, input_count, attrs, attr_count, outputs, output_count, few.dtypes, few.shapes, few.out_dtypes,
                   few.out_shapes);
    }
    size_t in = (size_t)input_count + 1, out = (size_t)*output_count + 1;
    tw__owned tw_dtype *dtypes = tw__alloc_array(in, sizeof *dtypes), *out_dtypes = tw__alloc_array(out, sizeof *out_dtypes);
    tw__owned const tw_shape **shapes = tw__alloc_array(in, sizeof *shapes);
    tw__owned tw_shape *out_shapes = tw__alloc_array(out, sizeof *out_shapes);
    TW_NEED(dtypes && out_dtypes && shapes && out_shapes);
    return run(op, inputs, input_count, attrs, attr_count, outputs, output_count, dtypes, shapes, out_dtypes, out_shapes);
}

tw_status tw_op_apply(const char *name, tw_tensors inputs, const tw_attr *attrs, int attr_count, tw_tensor **outputs,
                      int *output_count)
{
    const tw_op *op = tw__op_find(name);
    if (!op)
        return tw__fail(TW_NOT_FOUND, "Op type not registered '%s'", name ? name : "");
    if (!tw__check_tensors(inputs, name))
        return tw__error_status();
    if (attr_count < 0 || (attr_count && !attrs) || !outputs || !output_count || *output_count < 0)
        return tw__fail(TW_INVALID_ARGUMENT, "%s: there are no attributes, or there is no place for the outputs", name);
    for (int i = 0; i < attr_count; i++) {
        if (!attrs[i].name)
            return tw__fail(TW_INVALID_ARGUMENT, "%s: attribute %d has no name", name, i);
    }
    return tw__apply(op, inputs.items, (int)inputs.count, attrs, attr_count, outputs, output_count);
}

tw_tensor *tw_op_call(const char *name, tw_tensors inputs, const tw_attr *attrs, int attr_count)
{
    tw_tensor *output = NULL;
    int count = 1;
    return tw_op_apply(name, inputs, attrs, attr_count, &output, &count) == TW_OK ? output : NULL;
}
