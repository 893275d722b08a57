/* The ops of queues: those that make them, and those that use them. */
#include <unistd.h>

#include "base/pause.h"
#include "op/queue/queue.h"
#include "rows.h"

/* ---- making ---- */

static tw_status take_attrs(tw__kernel *kernel, tw__queue *queue)
{
    const tw_attr *types = TW_ATTR(kernel, "component_types"), *shapes = TW_ATTR(kernel, "shapes");
    bool ranked = queue->kind == TW_QUEUE_PRIORITY; /* the numbers come first, and are not among the types */
    queue->width = types->count + ranked;
    if (!queue->width || (shapes->count && shapes->count != types->count))
        return TW_OP_FAIL(kernel, TW_INVALID_ARGUMENT,
                          "Expected shapes to have one entry for each of the %d component types, got %d", types->count,
                          shapes->count);
    if (queue->kind == TW_QUEUE_PADDING && !shapes->count)
        return TW_OP_FAIL(kernel, TW_INVALID_ARGUMENT, "shapes.size() must equal component_types.size()");
    TW_NEED(queue->dtypes = tw__alloc_array((size_t)queue->width, sizeof *queue->dtypes));
    if (shapes->count)
        TW_NEED(queue->shapes = tw__alloc_array((size_t)queue->width, sizeof *queue->shapes));
    if (ranked) {
        queue->dtypes[0] = TW_INT64;
        if (queue->shapes)
            queue->shapes[0] = TW_SCALAR;
    }
    for (int i = 0; i < types->count; i++) {
        queue->dtypes[i + ranked] = types->types[i];
        if (queue->shapes)
            queue->shapes[i + ranked] = shapes->shapes[i];
    }
    queue->capacity = TW_ATTR(kernel, "capacity")->i;
    if (queue->kind != TW_QUEUE_SHUFFLE)
        return TW_OK;
    queue->minimum = TW_ATTR(kernel, "min_after_dequeue")->i;
    if (queue->minimum < 0 || (queue->capacity >= 0 && queue->minimum >= queue->capacity))
        return TW_OP_FAIL(kernel, TW_INVALID_ARGUMENT, "min_after_dequeue %lld must be < capacity %lld",
                          (long long)queue->minimum, (long long)queue->capacity);
    int64_t seeds[2] = { TW_ATTR(kernel, "seed")->i, TW_ATTR(kernel, "seed2")->i };
    if (!seeds[0] && !seeds[1])
        if (getentropy(seeds, sizeof seeds) != 0)
            return tw__fail(TW_INTERNAL, "RandomShuffleQueueV2: the system gives no random numbers");
    queue->chance = tw__words_of(tw__philox_seeded(seeds[0], seeds[1]));
    return TW_OK;
}

static tw__queue *make(tw__kernel *kernel)
{
    tw__queue *queue = tw__object_new(&tw__queue_class);
    if (!queue)
        return NULL;
    queue->kind = kernel->op == &tw__op_FIFOQueueV2            ? TW_QUEUE_FIFO
                  : kernel->op == &tw__op_PaddingFIFOQueueV2   ? TW_QUEUE_PADDING
                  : kernel->op == &tw__op_RandomShuffleQueueV2 ? TW_QUEUE_SHUFFLE
                                                               : TW_QUEUE_PRIORITY;
    pthread_mutex_init(&queue->lock, NULL);
    pthread_cond_init(&queue->changed, NULL);
    queue->ready = true;
    tw_string name = TW_ATTR(kernel, "shared_name")->s;
    queue->name = tw__strndup(name.data ? name.data : "", name.size);
    if (queue->name && take_attrs(kernel, queue) == TW_OK)
        return queue;
    tw_release(queue);
    return NULL;
}

static tw_status make_compute(tw__kernel *kernel)
{
    tw_string where = TW_ATTR(kernel, "container")->s;
    bool own = where.size == 9 && memcmp(where.data, "anonymous", 9) == 0; /* of an object that nobody else asks for */
    bool kept = kernel->state && !own;
    tw_auto tw__queue *queue = kept && *kernel->state ? tw_retain(*kernel->state) : make(kernel);
    TW_NEED(queue);
    if (kept && !*kernel->state)
        *kernel->state = tw_retain(queue);
    tw_tensor *handle = tw__tensor_of_object(TW_RESOURCE, queue);
    return handle ? tw__output_take(kernel, 0, handle) : tw__error_status();
}

#define QUEUE_ROW                                                                                                              \
    .outputs = "handle: resource", .shape = tw_shape_scalar, .compute = make_compute, .stateful = true, .makes_outputs = true, \
    .no_gradient = true, .free_state = tw__queue_release
#define QUEUE_ATTRS "component_types: list(type), shapes: list(shape) = [], capacity: int = -1"
#define QUEUE_NAMES ", container: string = '', shared_name: string = ''"

TW_OP(FIFOQueueV2, .attrs = QUEUE_ATTRS QUEUE_NAMES, QUEUE_ROW, .doc = "A queue whose elements come out in their order.");
TW_OP(PaddingFIFOQueueV2, .attrs = QUEUE_ATTRS QUEUE_NAMES, QUEUE_ROW,
      .doc = "The same; elements of several sizes that come out together are padded with zeros.");
TW_OP(RandomShuffleQueueV2, .attrs = QUEUE_ATTRS ", min_after_dequeue: int = 0, seed: int = 0, seed2: int = 0" QUEUE_NAMES,
      QUEUE_ROW, .doc = "A queue whose elements come out in a random order.");
TW_OP(PriorityQueueV2, .attrs = "component_types: list(type) = [], shapes: list(shape), capacity: int = -1" QUEUE_NAMES,
      QUEUE_ROW, .doc = "A queue whose elements come out by their first tensor, a number: the smallest first.");

/* ---- putting in ---- */

static tw_status check_component(const tw__kernel *kernel, const tw__queue *queue, int i, bool many)
{
    const tw_tensor *given = kernel->inputs[1 + i];
    if (many && (given->shape.rank < 1 || given->shape.dims[0] != kernel->inputs[1]->shape.dims[0]))
        return TW_OP_FAIL(kernel, TW_INVALID_ARGUMENT,
                          "All input tensors must have the same size in the 0th dimension. Component %d", i);
    if (!queue->shapes)
        return TW_OK;
    tw_shape wanted = queue->shapes[i], found = given->shape;
    if (many) {
        memmove(found.dims, found.dims + 1, (size_t)(found.rank - 1) * sizeof *found.dims);
        found.rank--;
    }
    if (tw__shape_compatible(&wanted, &found))
        return TW_OK;
    tw__owned char *expected = tw__strdup(tw__shape_text(&wanted)), *got = tw__strdup(tw__shape_text(&given->shape));
    return TW_OP_FAIL(kernel, TW_INVALID_ARGUMENT, "Shape mismatch in tuple component %d. Expected %s, got %s", i,
                      expected ? expected : "", got ? got : "");
}

static tw_status check_types(const tw__kernel *kernel, const tw__queue *queue)
{
    tw__auto(tw__text_free) tw__text have = { 0 }, expected = { 0 };
    bool same = true;
    for (int i = 0; i < queue->width; i++) {
        same = same && kernel->inputs[1 + i]->dtype == queue->dtypes[i];
        tw__text_format(&have, ", %s", tw__dtype_text(kernel->inputs[1 + i]->dtype));
        tw__text_format(&expected, ", %s", tw__dtype_text(queue->dtypes[i]));
    }
    return same ? TW_OK
                : TW_OP_FAIL(kernel, TW_INVALID_ARGUMENT, "Signature mismatch, have: resource%s-> expected: resource%s->",
                             have.data ? have.data : "", expected.data ? expected.data : "");
}

static tw_status check_element(const tw__kernel *kernel, const tw__queue *queue, bool many)
{
    int given = kernel->input_count - 1;
    if (given != queue->width)
        return TW_OP_FAIL(kernel, TW_INVALID_ARGUMENT, "Wrong number of components in tuple. Expected %d, got %d", queue->width,
                          given);
    TW_TRY(check_types(kernel, queue));
    for (int i = 0; i < given; i++)
        TW_TRY(check_component(kernel, queue, i, many));
    return TW_OK;
}

/* Row `index`, or the whole where it is below 0, as a tensor of its own. */
static tw_tensor *part_of(tw_tensor *given, int64_t index)
{
    if (index < 0)
        return tw_retain(given);
    tw_shape shape = { .rank = given->shape.rank - 1 };
    memcpy(shape.dims, given->shape.dims + 1, (size_t)shape.rank * sizeof *shape.dims);
    int64_t size = given->count / given->shape.dims[0];
    return tw__tensor_slice_view(given, &shape, index * size);
}

static tw_status put(const tw__kernel *kernel, tw__queue *queue, int64_t index)
{
    tw_tensor **element = tw__alloc_zero((size_t)queue->width * sizeof *element);
    TW_NEED(element);
    for (int i = 0; i < queue->width; i++) {
        element[i] = part_of(kernel->inputs[1 + i], index);
        if (!element[i]) {
            tw__queue_element_free(element, queue->width);
            return tw__error_status();
        }
    }
    return tw__queue_put(queue, element);
}

static tw_status check_timeout(const tw__kernel *kernel)
{
    return TW_ATTR(kernel, "timeout_ms")->i == -1 ? TW_OK : TW_OP_FAIL(kernel, TW_INVALID_ARGUMENT, "Timeout not supported yet.");
}

static tw_status enqueue_compute(tw__kernel *kernel)
{
    tw__queue *queue = tw__queue_of(kernel, 0);
    if (!queue)
        return tw__error_status();
    TW_TRY(check_timeout(kernel));
    TW_TRY(check_element(kernel, queue, false));
    return put(kernel, queue, -1);
}

static tw_status enqueue_many_compute(tw__kernel *kernel)
{
    tw__queue *queue = tw__queue_of(kernel, 0);
    if (!queue)
        return tw__error_status();
    TW_TRY(check_timeout(kernel));
    TW_TRY(check_element(kernel, queue, true));
    for (int64_t i = 0; i < kernel->inputs[1]->shape.dims[0]; i++)
        TW_TRY(put(kernel, queue, i));
    return TW_OK;
}

TW_OP(QueueEnqueueV2, .inputs = "handle: resource, components: Tcomponents",
      .attrs = "Tcomponents: list(type), timeout_ms: int = -1", .shape = tw_shape_none, .compute = enqueue_compute,
      .stateful = true, .no_gradient = true, .doc = "Puts an element into a queue; waits while it is full.");
TW_OP(QueueEnqueueManyV2, .inputs = "handle: resource, components: Tcomponents",
      .attrs = "Tcomponents: list(type), timeout_ms: int = -1", .shape = tw_shape_none, .compute = enqueue_many_compute,
      .stateful = true, .no_gradient = true, .doc = "Puts the rows of tensors into a queue, one after the other.");

/* ---- taking out ---- */

static tw_status check_outputs(const tw__kernel *kernel, const tw__queue *queue)
{
    bool same = kernel->output_count == queue->width;
    for (int i = 0; same && i < queue->width; i++)
        same = kernel->out_dtypes[i] == queue->dtypes[i];
    return same ? TW_OK
                : TW_OP_FAIL(kernel, TW_INVALID_ARGUMENT, "the component types are not those of %s '%s'", tw__queue_word(queue),
                             queue->name);
}

static tw_status dequeue_compute(tw__kernel *kernel)
{
    tw__queue *queue = tw__queue_of(kernel, 0);
    if (!queue)
        return tw__error_status();
    TW_TRY(check_timeout(kernel));
    TW_TRY(check_outputs(kernel, queue));
    tw_tensor **element = NULL;
    int64_t taken;
    TW_TRY(tw__queue_take(queue, 1, false, &element, &taken));
    tw_status status = TW_OK;
    for (int i = 0; i < queue->width; i++) {
        tw_tensor *own = tw_retain(element[i]);
        tw_status one = tw__output_take(kernel, i, own);
        status = status == TW_OK ? one : status;
    }
    tw__queue_element_free(element, queue->width);
    return status;
}

/* The least shape that all have room in; of queues that do not pad, the shape of all. */
static tw_status joint_shape(const tw__kernel *kernel, const tw__queue *queue, tw_tensor ***elements, int64_t count, int i,
                             tw_shape *shape)
{
    tw_shape inner = count ? elements[0][i]->shape : queue->shapes ? queue->shapes[i] : TW_SCALAR;
    for (int64_t k = 1; k < count; k++) {
        const tw_shape *other = &elements[k][i]->shape;
        bool same = other->rank == inner.rank;
        for (int d = 0; same && d < inner.rank; d++) {
            bool bigger = other->dims[d] > inner.dims[d];
            same = other->dims[d] == inner.dims[d] || queue->kind == TW_QUEUE_PADDING;
            inner.dims[d] = bigger ? other->dims[d] : inner.dims[d];
        }
        if (!same)
            return TW_OP_FAIL(kernel, TW_INVALID_ARGUMENT,
                              "%s '%s': elements of several shapes can't be taken out together (component %d)",
                              tw__queue_word(queue), queue->name, i);
    }
    if (inner.rank >= TW_MAX_RANK)
        return TW_OP_FAIL(kernel, TW_UNIMPLEMENTED, "rank %d, at most %d are supported", inner.rank + 1, TW_MAX_RANK);
    shape->rank = inner.rank + 1;
    shape->dims[0] = count;
    for (int d = 0; d < inner.rank; d++)
        shape->dims[d + 1] = inner.dims[d] < 0 ? 0 : inner.dims[d];
    return TW_OK;
}

/* Copies an element to the front corner of row `row`. */
static tw_status place(tw_tensor *whole, int64_t row, const tw_tensor *part)
{
    int64_t strides[TW_MAX_RANK], index[TW_MAX_RANK] = { 0 };
    int rank = part->shape.rank;
    int64_t size = 1;
    for (int d = rank - 1; d >= 0; d--) {
        strides[d] = size;
        size *= whole->shape.dims[d + 1];
    }
    int64_t inner = rank ? part->shape.dims[rank - 1] : 1;
    size_t bytes = whole->dtype == TW_STRING ? 0 : tw__element_size(whole->dtype);
    for (int64_t at = 0; at < part->count; at += inner) {
        int64_t target = row * size;
        for (int d = 0; d + 1 < rank; d++)
            target += index[d] * strides[d];
        if (bytes)
            memcpy((char *)whole->data + (size_t)target * bytes, (const char *)part->data + (size_t)at * bytes,
                   (size_t)inner * bytes);
        for (int64_t i = 0; !bytes && i < inner; i++) {
            tw_string s = tw_tensor_string_at(part, at + i);
            TW_TRY(tw__string_set(whole, target + i, s.data ? s.data : "", s.size));
        }
        for (int d = rank - 2; d >= 0 && ++index[d] == part->shape.dims[d]; d--)
            index[d] = 0;
    }
    return TW_OK;
}

static tw_status join(tw__kernel *kernel, const tw__queue *queue, tw_tensor ***elements, int64_t count)
{
    for (int i = 0; i < queue->width; i++) {
        tw_shape shape = { 0 };
        TW_TRY(joint_shape(kernel, queue, elements, count, i, &shape));
        tw_tensor *whole = tw__tensor_empty(queue->dtypes[i], &shape);
        TW_NEED(whole);
        if (queue->dtypes[i] != TW_STRING)
            memset(whole->data, 0, (size_t)whole->count * tw__element_size(whole->dtype));
        tw_status status = TW_OK;
        for (int64_t k = 0; k < count && status == TW_OK; k++)
            status = place(whole, k, elements[k][i]);
        if (status != TW_OK) {
            tw_release(whole);
            return status;
        }
        TW_TRY(tw__output_take(kernel, i, whole));
    }
    return TW_OK;
}

static tw_status dequeue_many_compute(tw__kernel *kernel)
{
    tw__queue *queue = tw__queue_of(kernel, 0);
    if (!queue)
        return tw__error_status();
    TW_TRY(check_timeout(kernel));
    TW_TRY(check_outputs(kernel, queue));
    bool fewer = kernel->op == &tw__op_QueueDequeueUpToV2;
    if (kernel->inputs[1]->count != 1)
        return TW_OP_FAIL(kernel, TW_INVALID_ARGUMENT, "n must be a scalar");
    int64_t wanted = tw_tensor_int_at(kernel->inputs[1], 0), taken = 0;
    if (wanted < 0)
        return TW_OP_FAIL(kernel, TW_INVALID_ARGUMENT, "DequeueManyOp requested %lld < 0 elements", (long long)wanted);
    if (!queue->shapes)
        return TW_OP_FAIL(kernel, TW_INVALID_ARGUMENT,
                          "%s's DequeueMany and DequeueUpTo require the components to have specified "
                          "shapes.",
                          tw__queue_word(queue));
    if (wanted > INT64_C(1) << 26)
        return TW_OP_FAIL(kernel, TW_RESOURCE_EXHAUSTED, "%lld elements at once are too many", (long long)wanted);
    tw__owned tw_tensor ***elements = tw__alloc_array((size_t)wanted + 1, sizeof *elements);
    TW_NEED(elements);
    TW_TRY(tw__queue_take(queue, wanted, fewer, elements, &taken));
    tw_status status = join(kernel, queue, elements, taken);
    for (int64_t i = 0; i < taken; i++)
        tw__queue_element_free(elements[i], queue->width);
    return status;
}

#define DEQUEUE(inputs_, compute_)                                                                                \
    .inputs = "handle: resource" inputs_, .outputs = "components: component_types",                               \
    .attrs = "component_types: list(type), timeout_ms: int = -1", .shape = tw_shape_unknown, .compute = compute_, \
    .stateful = true, .makes_outputs = true, .no_gradient = true

TW_OP(QueueDequeueV2, DEQUEUE("", dequeue_compute), .doc = "Takes an element out of a queue; waits until there is one.");
TW_OP(QueueDequeueManyV2, DEQUEUE(", n: int32", dequeue_many_compute),
      .doc = "Takes n elements out of a queue, as rows of tensors.");
TW_OP(QueueDequeueUpToV2, DEQUEUE(", n: int32", dequeue_many_compute),
      .doc = "Takes n elements out of a queue, or those that are left when it is closed.");

/* ---- the rest ---- */

static tw_status close_compute(tw__kernel *kernel)
{
    tw__queue *queue = tw__queue_of(kernel, 0);
    if (!queue)
        return tw__error_status();
    tw__mutex_take(&queue->lock);
    queue->closed = true;
    queue->refuses |= TW_ATTR(kernel, "cancel_pending_enqueues")->b;
    pthread_cond_broadcast(&queue->changed);
    pthread_mutex_unlock(&queue->lock);
    return TW_OK;
}

static tw_status ask_compute(tw__kernel *kernel)
{
    tw__queue *queue = tw__queue_of(kernel, 0);
    if (!queue)
        return tw__error_status();
    tw__mutex_take(&queue->lock);
    if (kernel->op == &tw__op_QueueSizeV2)
        *(int32_t *)kernel->outputs[0]->data = (int32_t)queue->count;
    else
        *(bool *)kernel->outputs[0]->data = queue->closed;
    pthread_mutex_unlock(&queue->lock);
    return TW_OK;
}

TW_OP(QueueCloseV2, .inputs = "handle: resource", .attrs = "cancel_pending_enqueues: bool = false", .shape = tw_shape_none,
      .compute = close_compute, .stateful = true, .no_gradient = true, .doc = "Nothing more comes into the queue.");
TW_OP(QueueSizeV2, .inputs = "handle: resource", .outputs = "size: int32", .shape = tw_shape_scalar, .compute = ask_compute,
      .stateful = true, .no_gradient = true, .doc = "How many elements the queue has.");
TW_OP(QueueIsClosedV2, .inputs = "handle: resource", .outputs = "is_closed: bool", .shape = tw_shape_scalar,
      .compute = ask_compute, .stateful = true, .no_gradient = true, .doc = "Whether the queue was closed.");
