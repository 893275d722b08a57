/* Gradient tapes: what was called, so that derivatives can be computed backwards.
 *
 * A tape gives every tensor it follows a number. Recording appends {op, attrs, inputs, outputs} when an input has a number, and numbers
 * the outputs. The gradient walks the records backwards, asks each op's gradient function for its inputs' gradients (which calls ops
 * through the one door, so an outer tape sees them) and sums what arrives at the same number. Only records on a way from a source to a
 * target are visited. All memory of a tape is kept from one use to the next. */
#include "eager/tape.h"

_Thread_local int tw__active_tapes;
static _Thread_local tw_tape *top; /* the innermost recording tape; others by `outer` */

static tw__record *add_record(tw_tape *tape)
{
    if (TW_GROW(tape->records, tape->record_capacity, tape->record_count + 1) != TW_OK)
        return NULL;
    tw__record *record = &tape->records[tape->record_count];
    *record = (tw__record){ 0 };
    return record;
}

/* Room for `count` tensors in the tape's list; the position of the first. */
static int64_t add_tensors(tw_tape *tape, tw_tensor *const *tensors, int count)
{
    if (TW_GROW(tape->tensors, tape->tensor_capacity, tape->tensor_count + (size_t)count) != TW_OK)
        return -1;
    int64_t first = (int64_t)tape->tensor_count;
    for (int i = 0; i < count; i++)
        tape->tensors[tape->tensor_count++] = tw_retain(tensors[i]);
    return first;
}

static bool differentiable(tw_dtype dtype)
{
    return tw__dtype_is_float(dtype) || tw__dtype_is_complex(dtype) || dtype == TW_RESOURCE || dtype == TW_VARIANT;
}

static tw_status number_tensor(tw_tape *tape, const tw_tensor *tensor)
{
    return tw__pointer_map_put(&tape->numbers, tensor, tape->next_number++);
}

tw_status tw__tape_watch(tw_tape *tape, tw_tensor *tensor)
{
    if (tw__pointer_map_get(&tape->numbers, tensor, -1) >= 0)
        return TW_OK;
    if (add_tensors(tape, &tensor, 1) < 0)
        return TW_RESOURCE_EXHAUSTED;
    return number_tensor(tape, tensor);
}

static tw_status record_on(tw_tape *tape, const tw_op *op, tw_tensor *const *inputs, int input_count, const tw_attr *attrs,
                           int attr_count, tw_tensor *const *outputs, int output_count)
{
    if (op->reads_variable && tape->watch_variables && input_count > 0) {
        tw__resource *resource = (tw__resource *)tw__tensor_object(inputs[0]);
        if (resource && resource->trainable)
            TW_TRY(tw__tape_watch(tape, inputs[0]));
    }
    bool follow = false;
    for (int i = 0; !follow && i < input_count; i++)
        follow = tw__pointer_map_get(&tape->numbers, inputs[i], -1) >= 0 && differentiable(inputs[i]->dtype);
    if (!follow)
        return TW_OK;
    tw__record *record = add_record(tape);
    if (!record)
        return TW_RESOURCE_EXHAUSTED;
    int64_t first = add_tensors(tape, inputs, input_count);
    if (first < 0 || add_tensors(tape, outputs, output_count) < 0)
        return TW_RESOURCE_EXHAUSTED;
    *record = (tw__record){ op, NULL, attr_count, input_count, output_count, first };
    if (attr_count && !(record->attrs = tw__attrs_copy(attrs, attr_count)))
        return TW_RESOURCE_EXHAUSTED;
    tape->record_count++;
    for (int i = 0; i < output_count; i++) {
        if (differentiable(outputs[i]->dtype))
            TW_TRY(number_tensor(tape, outputs[i]));
    }
    return TW_OK;
}

tw_status tw__tapes_record(const tw_op *op, tw_tensor *const *inputs, int input_count, const tw_attr *attrs, int attr_count,
                           tw_tensor *const *outputs, int output_count)
{
    if (!op->gradient && !op->no_gradient)
        return TW_OK;
    for (tw_tape *tape = top; tape; tape = tape->outer) {
        if (!tape->paused)
            TW_TRY(record_on(tape, op, inputs, input_count, attrs, attr_count, outputs, output_count));
    }
    return TW_OK;
}

void tw__tape_start(tw_tape *tape)
{
    if (tape->recording)
        return;
    tape->recording = true;
    tape->outer = top;
    top = tape;
    tw__active_tapes++;
}

void tw__tape_stop(tw_tape *tape)
{
    for (tw_tape **link = &top; *link; link = &(*link)->outer) {
        if (*link == tape) {
            *link = tape->outer;
            tw__active_tapes--;
            break;
        }
    }
    tape->recording = false;
    tape->outer = NULL;
}

void tw__tape_reset(tw_tape *tape)
{
    for (size_t i = 0; i < tape->record_count; i++)
        tw__attrs_free(tape->records[i].attrs, tape->records[i].attr_count);
    for (size_t i = 0; i < tape->tensor_count; i++)
        tw_release(tape->tensors[i]);
    tape->record_count = tape->tensor_count = 0;
    tape->next_number = 0;
    tw__pointer_map_clear(&tape->numbers);
}

void tw__tape_free(tw_tape *tape)
{
    if (tape->recording)
        tw__tape_stop(tape);
    tw__tape_reset(tape);
    tw__free(tape->records);
    tw__free(tape->tensors);
    tw__pointer_map_free(&tape->numbers);
}

/* ---- backwards ---- */

typedef struct backward {
    tw_tape *tape;
    size_t record_count;   /* when the walk began: gradient functions may record more */
    int64_t number_count;
    tw_tensor **gradients; /* by number */
    bool *needed;          /* by number: lies on a way from a source */
} backward;

static tw_status add_gradient(backward *b, int64_t number, tw_tensor *gradient) /* takes the gradient */
{
    tw_tensor *held = b->gradients[number];
    if (held) {
        tw_tensor *sum = tw__gradient_add(held, gradient);
        tw_release(held);
        tw_release(gradient);
        gradient = sum;
    }
    b->gradients[number] = gradient;
    return gradient ? TW_OK : tw__error_status();
}

static void mark_needed(backward *b)
{
    tw_tape *tape = b->tape;
    for (size_t r = 0; r < b->record_count; r++) {
        tw__record *record = &tape->records[r];
        bool needed = false;
        for (int i = 0; !needed && i < record->input_count; i++) {
            int64_t number = tw__pointer_map_get(&tape->numbers, tape->tensors[record->first + i], -1);
            needed = number >= 0 && number < b->number_count && b->needed[number];
        }
        for (int i = 0; needed && i < record->output_count; i++) {
            int64_t number = tw__pointer_map_get(&tape->numbers, tape->tensors[record->first + record->input_count + i], -1);
            if (number >= 0 && number < b->number_count)
                b->needed[number] = true;
        }
    }
}

enum { FEW = 16 };

static tw_status step_back(backward *b, size_t index)
{
    tw_tape *tape = b->tape;
    tw__record record = tape->records[index]; /* a copy: the array may move while ops are recorded */
    int inputs = record.input_count, outputs = record.output_count;
    tw_tensor *few[4 * FEW];
    int64_t few_numbers[FEW];
    bool few_wanted[FEW];
    bool large = inputs > FEW || outputs > FEW;
    size_t most = (size_t)(inputs > outputs ? inputs : outputs);
    tw_tensor **space = large ? tw__alloc_array(4 * most, sizeof *space) : few;
    int64_t *numbers = large ? tw__alloc_array(most, sizeof *numbers) : few_numbers;
    bool *wanted = large ? tw__alloc_array(most, sizeof *wanted) : few_wanted;
    if (!large)
        most = FEW;
    tw_status status = space && numbers && wanted ? TW_OK : TW_RESOURCE_EXHAUSTED;
    bool any_gradient = false, any_wanted = false;
    if (status == TW_OK) {
        memset(space, 0, 4 * most * sizeof *space);
        memcpy(space, tape->tensors + record.first, (size_t)inputs * sizeof *space);
        memcpy(space + most, tape->tensors + record.first + inputs, (size_t)outputs * sizeof *space);
        for (int i = 0; i < outputs; i++) {
            int64_t number = tw__pointer_map_get(&tape->numbers, space[most + (size_t)i], -1);
            if (number >= 0 && number < b->number_count)
                space[2 * most + (size_t)i] = b->gradients[number];
            any_gradient |= space[2 * most + (size_t)i] != NULL;
        }
        for (int i = 0; i < inputs; i++) {
            numbers[i] = tw__pointer_map_get(&tape->numbers, space[i], -1);
            wanted[i] = numbers[i] >= 0 && numbers[i] < b->number_count && b->needed[numbers[i]];
            any_wanted |= wanted[i];
        }
    }
    if (status == TW_OK && any_gradient && any_wanted) {
        tw__gradient gradient = { record.op, inputs, outputs, space, space + most, space + 2 * most, space + 3 * most, wanted, record.attrs };
        if (!record.op->gradient)
            status = tw__fail(TW_KEY_ERROR, "gradient registry has no entry for: %s", record.op->name);
        else
            status = record.op->gradient(&gradient);
        for (int i = 0; i < inputs; i++) {
            tw_tensor *made = space[3 * most + (size_t)i];
            if (made && status == TW_OK && wanted[i])
                status = add_gradient(b, numbers[i], made);
            else
                tw_release(made);
        }
        if (status != TW_OK)
            tw__error_status();
    }
    if (large) {
        tw__free(space);
        tw__free(numbers);
        tw__free(wanted);
    }
    return status;
}

tw_status tw__tape_gradient(tw_tape *tape, tw_tensor *const *targets, tw_tensor *const *target_gradients, int64_t target_count,
                            tw_tensor *const *sources, int64_t source_count, tw_tensor **results)
{
    backward b = { .tape = tape, .record_count = tape->record_count, .number_count = tape->next_number };
    b.gradients = tw__alloc_array((size_t)b.number_count + 1, sizeof *b.gradients);
    b.needed = tw__alloc_array((size_t)b.number_count + 1, sizeof *b.needed);
    tw_status status = b.gradients && b.needed ? TW_OK : TW_RESOURCE_EXHAUSTED;
    for (int64_t i = 0; i < source_count; i++)
        results[i] = NULL;
    for (int64_t i = 0; status == TW_OK && i < source_count; i++) {
        int64_t number = tw__pointer_map_get(&tape->numbers, sources[i], -1);
        if (number >= 0)
            b.needed[number] = true;
    }
    for (int64_t i = 0; status == TW_OK && i < target_count; i++) {
        int64_t number = tw__pointer_map_get(&tape->numbers, targets[i], -1);
        if (number < 0)
            continue;
        tw_tensor *seed = target_gradients && target_gradients[i] ? tw_retain(target_gradients[i]) : tw__gradient_ones(targets[i]);
        status = seed ? add_gradient(&b, number, seed) : tw__error_status();
    }
    if (status == TW_OK)
        mark_needed(&b);
    for (size_t r = b.record_count; status == TW_OK && r-- > 0;)
        status = step_back(&b, r);
    for (int64_t i = 0; status == TW_OK && i < source_count; i++) {
        int64_t number = tw__pointer_map_get(&tape->numbers, sources[i], -1);
        if (number >= 0)
            results[i] = tw_retain(b.gradients[number]);
    }
    for (int64_t i = 0; b.gradients && i < b.number_count; i++)
        tw_release(b.gradients[i]);
    tw__free(b.gradients);
    tw__free(b.needed);
    return status;
}
