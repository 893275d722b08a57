/* Gradient tapes: what was called, so that derivatives can be computed backwards.
 *
 * A tape gives every tensor it follows a number. Recording appends {op, attrs, inputs, outputs} when an input has a number, and
 * numbers the outputs. The gradient walks the records backwards, asks each op's gradient function for its inputs' gradients
 * (which calls ops through dispatch, so an outer tape sees them) and sums what arrives at the same number. Only records on a
 * way from a source to a target are visited. The memory is tape_memory.c's. */
#include "eager/tape.h"
#include "graph/graph.h"
#include "op/slices.h"
#include "rows.h"

_Thread_local int tw__active_tapes;
static _Thread_local tw_tape *top; /* the innermost recording tape; others by `outer` */

/* Adds references to the tensors to the tape's list; the position of the first, or -1. */
static int64_t add_tensors(tw__tape_memory *memory, tw_tensor *const *tensors, int count)
{
    if (TW_GROW(memory->tensors, memory->tensor_capacity, memory->tensor_count + (size_t)count) != TW_OK)
        return -1;
    int64_t first = (int64_t)memory->tensor_count;
    for (int i = 0; i < count; i++)
        memory->tensors[memory->tensor_count++] = tw_retain(tensors[i]);
    return first;
}

static tw_status number_tensor(tw__tape_memory *memory, const tw_tensor *tensor)
{
    return tw__pointer_map_put(&memory->numbers, tensor, memory->next_number++);
}

static int64_t number_of(const tw__tape_memory *memory, const tw_tensor *tensor)
{
    return tw__pointer_map_get(&memory->numbers, tensor, -1);
}

tw_status tw__tape_watch(tw_tape *tape, tw_tensor *tensor)
{
    tw__tape_memory *memory = tw__tape_memory_of(tape);
    TW_NEED(memory);
    if (number_of(memory, tensor) >= 0)
        return TW_OK;
    if (add_tensors(memory, &tensor, 1) < 0)
        return TW_RESOURCE_EXHAUSTED;
    return number_tensor(memory, tensor);
}

static tw_status record_on(tw_tape *tape, const tw_op *op, tw_tensor *const *inputs, int input_count, const tw_attr *attrs,
                           int attr_count, tw_tensor *const *outputs, int output_count, tw_object *own)
{
    for (int i = 0; (op->reads_variable || own) && tape->watch_variables && i < input_count; i++) {
        tw_object *object = tw__tensor_object(inputs[i]);
        if (tw__is(object, &tw__resource_class) && ((tw__resource *)object)->trainable)
            TW_TRY(tw__tape_watch(tape, inputs[i]));
    }
    tw__tape_memory *memory = tape->memory;
    bool follow = false;
    for (int i = 0; memory && !follow && !tape->only_variables && i < input_count; i++)
        follow = number_of(memory, inputs[i]) >= 0 && tw__dtype_differentiable(inputs[i]->dtype);
    if (!follow)
        return TW_OK;
    TW_TRY(TW_GROW(memory->records, memory->record_capacity, memory->record_count + 1));
    int64_t first = add_tensors(memory, inputs, input_count);
    if (first < 0 || add_tensors(memory, outputs, output_count) < 0)
        return TW_RESOURCE_EXHAUSTED;
    tw_attr *copy = NULL;
    if (attr_count) {
        void *block = tw__tape_memory_block(memory, tw__attrs_bytes(attrs, attr_count));
        TW_NEED(block);
        copy = tw__attrs_copy(attrs, attr_count, block);
    }
    memory->records[memory->record_count++] =
        (tw__record){ op, copy, attr_count, input_count, output_count, first, tw_retain(own) };
    for (int i = 0; i < output_count; i++) {
        if (tw__dtype_differentiable(outputs[i]->dtype))
            TW_TRY(number_tensor(memory, outputs[i]));
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
            TW_TRY(record_on(tape, op, inputs, input_count, attrs, attr_count, outputs, output_count, NULL));
    }
    return TW_OK;
}

tw_status tw__tapes_record_own(const tw_op *op, tw_tensor *const *inputs, int input_count, tw_tensor *const *outputs,
                               int output_count, tw_object *own)
{
    for (tw_tape *tape = top; tape; tape = tape->outer) {
        if (!tape->paused)
            TW_TRY(record_on(tape, op, inputs, input_count, NULL, 0, outputs, output_count, own));
    }
    return TW_OK;
}

tw__tape_stack tw__tapes_hide(void)
{
    tw__tape_stack hidden = { top, tw__active_tapes };
    top = NULL;
    tw__active_tapes = 0;
    return hidden;
}

void tw__tapes_show(tw__tape_stack hidden)
{
    top = hidden.top;
    tw__active_tapes = hidden.count;
}

int tw__tapes_following(tw_tensor *const *tensors, int count)
{
    int following = 0;
    for (tw_tape *tape = top; tape; tape = tape->outer) {
        bool follows = false;
        for (int i = 0; !tape->paused && !follows && i < count; i++) {
            follows = tape->memory && tw__dtype_differentiable(tensors[i]->dtype) && number_of(tape->memory, tensors[i]) >= 0;
            tw_object *object = tape->watch_variables ? tw__tensor_object(tensors[i]) : NULL;
            follows |= tw__is(object, &tw__resource_class) && ((tw__resource *)object)->trainable;
        }
        following += follows;
    }
    return following;
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

void tw__tape_forget_variables(tw_tape *tape)
{
    while (tape->watched_count)
        tw_release(tape->watched[--tape->watched_count]);
}

void tw__tape_reset(tw_tape *tape)
{
    tw__tape_forget_variables(tape);
    if (tape->memory)
        tw__tape_memory_reset(tape->memory);
}

void tw__tape_free(tw_tape *tape)
{
    tw__tape_forget_variables(tape);
    tw__free(tape->watched);
    tape->watched = NULL;
    if (tape->recording)
        tw__tape_stop(tape);
    if (tape->memory)
        tw__tape_memory_give_back(tape->memory);
    tape->memory = NULL;
}

/* ---- backwards ---- */

/* Whether it gives what it gets: slices need not be made dense for it. */
static bool hands_on(const tw_op *op)
{
    return op->role == TW_ROLE_READ || (op->forwards && op->gradient);
}

tw_status tw__gradient_call(tw__gradient *g, tw_object *own)
{
    if (!own && !g->op->gradient)
        return tw__fail(TW_LOOKUP_ERROR, "gradient registry has no entry for: %s", g->op->name);
    bool sliced = false;
    for (int i = 0; i < g->output_count; i++)
        sliced |= g->output_grads[i] && tw__slices_of(g->output_grads[i]);
    if (!sliced || hands_on(g->op))
        return own ? ((tw__own_gradient *)own)->run((tw__own_gradient *)own, g) : g->op->gradient(g);
    tw__gradient dense = *g;
    tw__held tw_tensor **gradients = tw__held_new((size_t)g->output_count);
    dense.output_grads = gradients;
    TW_NEED(gradients);
    for (int i = 0; i < g->output_count; i++) {
        if (g->output_grads[i] && !(gradients[i] = tw__slices_dense(g->output_grads[i])))
            return tw__error_status();
    }
    return own ? ((tw__own_gradient *)own)->run((tw__own_gradient *)own, &dense) : g->op->gradient(&dense);
}

typedef struct backward {
    tw__tape_memory *memory;
    size_t record_count; /* when the walk began: gradient functions may record more */
    int64_t number_count;
    tw_tensor **gradients; /* by number */
    bool *needed;          /* by number: lies on a way from a source */
    tw__sums sums;         /* in graphs: gradients beside those */
} backward;

static tw_status add_gradient(backward *b, int64_t number, tw_tensor *gradient) /* takes the gradient */
{
    tw_tensor *held = b->gradients[number];
    if (held && tw__in_graph())
        return tw__sums_add(&b->sums, number, gradient);
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
    tw__tape_memory *memory = b->memory;
    for (size_t r = 0; r < b->record_count; r++) {
        tw__record *record = &memory->records[r];
        bool needed = false;
        for (int i = 0; !needed && i < record->input_count; i++) {
            int64_t number = number_of(memory, memory->tensors[record->first + i]);
            needed = number >= 0 && number < b->number_count && b->needed[number];
        }
        for (int i = 0; needed && i < record->output_count; i++) {
            int64_t number = number_of(memory, memory->tensors[record->first + record->input_count + i]);
            if (number >= 0 && number < b->number_count)
                b->needed[number] = true;
        }
    }
}

enum { FEW = 16 };

/* In graphs the nodes of a gradient stand in a scope of their own: that in which the function was called, inside of
 * "gradient_tape/". */
static tw_status call_in_scope(tw__gradient *g, tw_object *own)
{
    const tw__node *node = g->output_count ? g->outputs[0]->node : NULL;
    if (!tw__in_graph() || !node || own)
        return tw__gradient_call(g, own);
    tw__owned char *scope =
        node->scope ? tw__format("gradient_tape/%.*s/", (int)node->scope, node->name) : tw__strdup("gradient_tape/");
    tw_status status = scope ? tw__scope_push(scope) : TW_RESOURCE_EXHAUSTED;
    TW_TRY(status);
    tw__graph *waiting = tw__naming_wait(NULL);
    bool before = tw__named_as_functions;
    tw__named_as_functions = g->op->functions_in_gradient;
    status = tw__gradient_call(g, own);
    tw__named_as_functions = before;
    tw__naming_wait(waiting);
    tw__scope_pop();
    return status;
}

static tw_status step_back(backward *b, size_t index)
{
    tw__tape_memory *memory = b->memory;
    tw__record record = memory->records[index]; /* a copy: the array may move while ops are recorded */
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
        memcpy(space, memory->tensors + record.first, (size_t)inputs * sizeof *space);
        memcpy(space + most, memory->tensors + record.first + inputs, (size_t)outputs * sizeof *space);
        for (int i = 0; i < outputs; i++) {
            int64_t number = number_of(memory, space[most + (size_t)i]);
            if (number >= 0 && number < b->number_count) {
                if (status == TW_OK && b->sums.count)
                    status = tw__sums_settle(&b->sums, number, &b->gradients[number]);
                space[2 * most + (size_t)i] = b->gradients[number];
            }
            any_gradient |= space[2 * most + (size_t)i] != NULL;
        }
        for (int i = 0; i < inputs; i++) {
            numbers[i] = number_of(memory, space[i]);
            wanted[i] = numbers[i] >= 0 && numbers[i] < b->number_count && b->needed[numbers[i]];
            any_wanted |= wanted[i];
        }
    }
    if (status == TW_OK && any_gradient && any_wanted) {
        tw__gradient gradient = { record.op,        inputs,           outputs, space,       space + most,
                                  space + 2 * most, space + 3 * most, wanted,  record.attrs };
        status = call_in_scope(&gradient, record.own);
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

/* A source that the tape does not know: it depends on nothing but itself. */
static tw_status seed_itself(tw_tensor *source, tw_tensor *const *targets, tw_tensor *const *target_gradients,
                             int64_t target_count, tw_tensor **result)
{
    for (int64_t i = 0; i < target_count; i++) {
        if (targets[i] != source)
            continue;
        tw_tensor *seed = target_gradients && target_gradients[i] ? tw_retain(target_gradients[i]) : tw__gradient_ones(source),
                  *before = *result;
        *result = seed && before ? tw__gradient_add(before, seed) : tw_retain(seed);
        tw_release(before);
        tw_release(seed);
        if (!*result)
            return tw__error_status();
    }
    return TW_OK;
}

tw_status tw__tape_gradient(tw_tape *tape, tw_tensor *const *targets, tw_tensor *const *target_gradients, int64_t target_count,
                            tw_tensor *const *sources, int64_t source_count, tw_tensor **results)
{
    tw__tape_memory *memory = tw__tape_memory_of(tape);
    for (int64_t i = 0; i < source_count; i++)
        results[i] = NULL;
    TW_NEED(memory);
    backward b = { .memory = memory, .record_count = memory->record_count, .number_count = memory->next_number };
    /* Taken out of the tape's memory while in use: a gradient function may ask another gradient of a persistent tape. */
    size_t gradient_capacity = memory->gradient_capacity, needed_capacity = memory->needed_capacity,
           room = (size_t)b.number_count + 1;
    b.gradients = memory->gradients;
    b.needed = memory->needed;
    memory->gradients = NULL;
    memory->needed = NULL;
    memory->gradient_capacity = memory->needed_capacity = 0;
    tw_status status = TW_GROW(b.gradients, gradient_capacity, room);
    if (status == TW_OK)
        status = TW_GROW(b.needed, needed_capacity, room);
    int64_t ready = status == TW_OK ? b.number_count : 0;
    if (status == TW_OK) {
        memset(b.gradients, 0, room * sizeof *b.gradients);
        memset(b.needed, 0, room * sizeof *b.needed);
    }
    for (int64_t i = 0; status == TW_OK && i < source_count; i++) {
        int64_t number = number_of(memory, sources[i]);
        if (number >= 0)
            b.needed[number] = true;
    }
    for (int64_t i = 0; status == TW_OK && i < target_count; i++) {
        int64_t number = number_of(memory, targets[i]);
        if (number < 0)
            continue;
        tw_tensor *seed =
            target_gradients && target_gradients[i] ? tw_retain(target_gradients[i]) : tw__gradient_ones(targets[i]);
        status = seed ? add_gradient(&b, number, seed) : tw__error_status();
    }
    if (status == TW_OK)
        mark_needed(&b);
    for (size_t r = b.record_count; status == TW_OK && r-- > 0;)
        status = step_back(&b, r);
    for (int64_t i = 0; status == TW_OK && i < source_count; i++) {
        int64_t number = number_of(memory, sources[i]);
        if (number < 0)
            status = seed_itself(sources[i], targets, target_gradients, target_count, &results[i]);
        if (number < 0 || number >= b.number_count)
            continue;
        status = tw__sums_settle(&b.sums, number, &b.gradients[number]);
        results[i] = tw_retain(b.gradients[number]);
    }
    tw__sums_free(&b.sums);
    for (int64_t i = 0; i < ready; i++)
        tw_release(b.gradients[i]);
    tw__free(memory->gradients);
    tw__free(memory->needed);
    memory->gradients = b.gradients;
    memory->needed = b.needed;
    memory->gradient_capacity = gradient_capacity;
    memory->needed_capacity = needed_capacity;
    return status;
}
