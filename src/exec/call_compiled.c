/* Single calls on an accelerator: a call of an op that has a lowering becomes a program of its own, which is compiled once for
 * its attributes, dtypes and shapes and kept.
 *
 * Programs get their inputs as arguments. Where a lowering needs to know values (axes, shapes), small integers are written into
 * the program, which is then one for these values. Calls on integers alone run on the host, as in TensorFlow. */
#include "device/device.h"
#include "device/pjrt.h"
#include "exec/exec.h"
#include "exec/plugin.h"

enum { MOST_IN = 16, MOST_OUT = 8, MOST_PROGRAMS = 4096, SMALL = 64 };

/* What is known of calls of one kind. */
typedef struct known {
    enum { RUNS, RUNS_WITH_VALUES, NEVER } kind;
    tw__executable *program; /* of RUNS */
} known;

static tw__lock lock = TW__LOCK;
static tw__map calls;
static int call_count;

static void known_free(void *memory)
{
    known *one = memory;
    tw_release(one->program);
    tw__free(one);
}

static void calls_clear(void)
{
    tw__lock_take(&lock);
    tw__map_free(&calls, known_free);
    calls = (tw__map){ 0 };
    call_count = 0;
    tw__lock_give(&lock);
}

bool tw__call_fits(const tw_op *op, tw_tensor *const *inputs, int count)
{
    const tw__lowerings *lower = count && count <= MOST_IN && !op->free_state && !op->stateful ? tw__lowerings_get() : NULL;
    bool numbers = false, all = lower && lower->has(op);
    for (int i = 0; all && i < count; i++) {
        all = tw__pjrt_has_dtype(inputs[i]->dtype);
        numbers |= tw__dtype_is_float(inputs[i]->dtype) || tw__dtype_is_complex(inputs[i]->dtype);
    }
    return all && numbers;
}

static bool is_small(const tw_tensor *tensor)
{
    return (tensor->dtype == TW_INT32 || tensor->dtype == TW_INT64) && tensor->count <= SMALL;
}

/* ---- writing ---- */

typedef struct call {
    const tw__lowerings *lower;
    const tw__kernel *kernel;
    const tw_shape *shapes; /* of the outputs */
    bool processor, values; /* small integers are known */
} call;

static void outputs_of(const call *c, tw__hlo *outputs)
{
    for (int i = 0; i < c->kernel->output_count; i++)
        outputs[i] = (tw__hlo){ .id = -1, .dtype = c->kernel->out_dtypes[i], .shape = c->shapes[i] };
}

static bool takes(const call *c)
{
    tw__hlo inputs[MOST_IN], outputs[MOST_OUT];
    const tw__kernel *k = c->kernel;
    for (int i = 0; i < k->input_count; i++)
        inputs[i] = (tw__hlo){ .id = -1,
                               .dtype = k->inputs[i]->dtype,
                               .shape = k->inputs[i]->shape,
                               .constant = c->values && is_small(k->inputs[i]) ? k->inputs[i] : NULL };
    outputs_of(c, outputs);
    return c->lower->takes(k->op, k->attrs, inputs, k->input_count, outputs, k->output_count, c->processor);
}

static tw_status write(const call *c, tw__program_writer *w, tw__text *text)
{
    tw__hlo inputs[MOST_IN], outputs[MOST_OUT];
    const tw__kernel *k = c->kernel;
    for (int i = 0; i < k->input_count; i++) {
        tw_tensor *input = k->inputs[i];
        if (c->values && is_small(input)) {
            inputs[i] = c->lower->constant(w, input);
            inputs[i].constant = input;
        } else {
            TW_TRY(c->lower->argument(w, input->dtype, &input->shape, &inputs[i]));
            inputs[i].constant = NULL;
        }
    }
    outputs_of(c, outputs);
    if (!c->lower->call(w, k->op, k->attrs, inputs, k->input_count, outputs, k->output_count))
        return tw__fail(TW_INTERNAL, "%s can't be compiled for this device", k->op->name);
    return c->lower->text(w, outputs, k->output_count, text);
}

static tw__executable *compile(const call *c)
{
    tw__program_writer w;
    tw__auto(tw__text_free) tw__text text = { 0 };
    c->lower->begin(&w, c->processor);
    tw_status status = write(c, &w, &text);
    c->lower->end(&w);
    return status == TW_OK && !text.failed ? tw__pjrt_compile(text.data, text.size) : NULL;
}

/* ---- finding ---- */

static void write_key(tw__text *key, const call *c, int attr_count)
{
    const tw__kernel *k = c->kernel;
    tw__text_bytes(key, &k->op, sizeof k->op);
    tw__attrs_key(key, k->attrs, attr_count);
    for (int i = 0; i < k->input_count; i++) {
        const tw_tensor *input = k->inputs[i];
        tw__text_bytes(key, &input->dtype, sizeof input->dtype);
        tw__text_bytes(key, &input->shape.rank, sizeof input->shape.rank);
        tw__text_bytes(key, input->shape.dims, (size_t)input->shape.rank * sizeof *input->shape.dims);
        if (c->values && is_small(input))
            tw__text_bytes(key, input->data, tw_tensor_bytes(input));
    }
}

/* Under the lock: what is known of the call, found out if nothing is. */
static known *find(call *c, int attr_count)
{
    tw__auto(tw__text_free) tw__text key = { 0 };
    write_key(&key, c, attr_count);
    known *one = key.failed ? NULL : tw__map_get(&calls, key.data, key.size);
    if (one || key.failed)
        return one;
    one = tw__alloc_zero(sizeof *one);
    if (!one)
        return NULL;
    one->kind = takes(c) ? RUNS : c->values ? NEVER : RUNS_WITH_VALUES;
    if (one->kind == RUNS && !(one->program = compile(c))) {
        known_free(one);
        return NULL;
    }
    if (tw__map_put(&calls, key.data, key.size, one) != TW_OK) {
        known_free(one);
        return NULL;
    }
    call_count++;
    return one;
}

/* The program of the call, a new reference; NULL without an error: there is none. */
static tw__executable *program_of(call *c, int attr_count)
{
    static tw__ending ending = { .end = calls_clear };
    tw__at_shutdown(&ending);
    if (call_count > MOST_PROGRAMS)
        calls_clear();
    tw__lock_take(&lock);
    known *one = find(c, attr_count);
    if (one && one->kind == RUNS_WITH_VALUES) {
        c->values = true;
        one = find(c, attr_count);
    }
    tw__executable *program = one && one->kind == RUNS ? tw_retain(one->program) : NULL;
    tw__lock_give(&lock);
    return program;
}

/* ---- running ---- */

static tw_status execute(const call *c, tw__executable *program, int device)
{
    const tw__kernel *k = c->kernel;
    tw__held void *in = tw__held_new((size_t)k->input_count), *out = tw__held_new((size_t)k->output_count);
    TW_NEED(in && out);
    tw__remote **arguments = in, **results = out;
    int count = 0;
    for (int i = 0; i < k->input_count; i++) {
        if (!c->values || !is_small(k->inputs[i]))
            TW_NEED(arguments[count++] = tw__remote_of(k->inputs[i], device));
    }
    for (int i = 0; i < k->output_count; i++)
        TW_NEED(results[i] = tw__remote_new(k->out_dtypes[i], &c->shapes[i], device));
    TW_TRY(tw__pjrt_execute(program, arguments, count, results, k->output_count, device));
    for (int i = 0; i < k->output_count; i++) {
        tw_release(k->outputs[i]);
        TW_NEED(k->outputs[i] = tw__remote_get(results[i]));
        k->outputs[i]->device = TW__ACCELERATOR + (uint32_t)device;
        tw__remote_keep(k->outputs[i], results[i]);
    }
    return TW_OK;
}

tw_status tw__call_compiled(const tw__kernel *kernel, int attr_count, const tw_shape *shapes, uint32_t place, bool *ran)
{
    if (place < TW__ACCELERATOR || kernel->output_count > MOST_OUT || !kernel->output_count ||
        !tw__call_fits(kernel->op, kernel->inputs, kernel->input_count))
        return TW_OK;
    for (int i = 0; i < kernel->output_count; i++) {
        if (!tw__shape_known(&shapes[i]) || !tw__pjrt_has_dtype(kernel->out_dtypes[i]))
            return TW_OK;
    }
    call c = {
        .lower = tw__lowerings_get(), .kernel = kernel, .shapes = shapes, .processor = strcmp(tw__pjrt_platform(), "cpu") == 0
    };
    tw_clear_error();
    tw_auto tw__executable *program = program_of(&c, attr_count);
    if (!program)
        return tw_error_code();
    *ran = true;
    return execute(&c, program, (int)(place - TW__ACCELERATOR));
}
