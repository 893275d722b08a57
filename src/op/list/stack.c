/* Stacks of TensorFlow 1: what loops keep for their gradients. */
#include "op/list/list.h"
#include "rows.h"

typedef struct stack {
    tw_object object;
    tw_dtype dtype;
    tw_tensor **items; /* references */
    size_t count, capacity;
    int64_t limit; /* -1: none */
    bool closed;
} stack;

static void stack_clear(stack *self)
{
    while (self->count)
        tw_release(self->items[--self->count]);
}

static void stack_destroy(void *self)
{
    stack_clear(self);
    tw__free(((stack *)self)->items);
}

static const tw_class stack_class = { .name = "Stack", .size = sizeof(stack), .destroy = stack_destroy };

static stack *stack_of(const tw__kernel *kernel)
{
    tw_object *object = tw__tensor_object(kernel->inputs[0]);
    if (tw__is(object, &stack_class) && !((stack *)object)->closed)
        return (stack *)object;
    TW_OP_FAIL(kernel, TW_INVALID_ARGUMENT, "%s",
               tw__is(object, &stack_class) ? "Stack has already been closed." : "the argument handle is no stack");
    return NULL;
}

static tw_status stack_compute(tw__kernel *kernel)
{
    int64_t limit;
    TW_TRY(tw__list_scalar(kernel->op, kernel->inputs[0], "max_size", &limit));
    tw_auto stack *made = tw__object_new(&stack_class);
    if (!made)
        return tw__error_status();
    made->dtype = TW_ATTR(kernel, "elem_type")->type;
    made->limit = limit;
    tw_tensor *handle = tw__tensor_of_object(TW_RESOURCE, made);
    return handle ? tw__output_take(kernel, 0, handle) : tw__error_status();
}

static tw_status push_compute(tw__kernel *kernel)
{
    stack *self = stack_of(kernel);
    if (!self)
        return TW_INVALID_ARGUMENT;
    if (kernel->inputs[1]->dtype != self->dtype)
        return TW_OP_FAIL(kernel, TW_INVALID_ARGUMENT, "Must have type %s but got %s", tw__dtype_text(self->dtype),
                          tw__dtype_text(kernel->inputs[1]->dtype));
    if (self->limit >= 0 && (int64_t)self->count >= self->limit)
        return TW_OP_FAIL(kernel, TW_INVALID_ARGUMENT, "Stack overflowed its max_size (%lld)", (long long)self->limit);
    TW_TRY(TW_GROW(self->items, self->capacity, self->count + 1));
    self->items[self->count++] = tw_retain(kernel->inputs[1]);
    return tw__output_take(kernel, 0, tw__tensor_view(kernel->inputs[1], &kernel->inputs[1]->shape));
}

static tw_status pop_compute(tw__kernel *kernel)
{
    stack *self = stack_of(kernel);
    if (!self)
        return TW_INVALID_ARGUMENT;
    if (!self->count)
        return TW_OP_FAIL(kernel, TW_INVALID_ARGUMENT, "Stack is empty when calling Pop()");
    return tw__output_take(kernel, 0, self->items[--self->count]);
}

static tw_status close_compute(tw__kernel *kernel)
{
    stack *self = stack_of(kernel);
    if (!self)
        return TW_INVALID_ARGUMENT;
    stack_clear(self);
    self->closed = true;
    return TW_OK;
}

static tw_status push_shape(tw__inference *inference)
{
    inference->out_shapes[0] = *inference->shapes[1];
    return TW_OK;
}

TW_OP(StackV2, .inputs = "max_size: int32", .outputs = "handle: resource", .attrs = "elem_type: type, stack_name: string = ''",
      .shape = tw_shape_scalar, .compute = stack_compute, .stateful = true, .makes_outputs = true, .doc = "A stack of tensors.");

TW_OP(StackPushV2, .inputs = "handle: resource, elem: T", .outputs = "output: T", .attrs = "T: type, swap_memory: bool = false",
      .shape = push_shape, .compute = push_compute, .stateful = true, .makes_outputs = true, .doc = "Puts a tensor on a stack.");

TW_OP(StackPopV2, .inputs = "handle: resource", .outputs = "elem: elem_type", .attrs = "elem_type: type",
      .shape = tw_shape_unknown, .compute = pop_compute, .stateful = true, .makes_outputs = true,
      .doc = "Takes the last tensor from a stack.");

TW_OP(StackCloseV2, .inputs = "handle: resource", .shape = tw_shape_none, .compute = close_compute, .stateful = true,
      .doc = "Ends a stack.");

static tw_status trigger_compute(tw__kernel *kernel)
{
    (void)kernel;
    return TW_OK;
}

TW_OP(ControlTrigger, .shape = tw_shape_none, .compute = trigger_compute, .makes_outputs = true,
      .doc = "Does nothing; other nodes are ordered by it.");
