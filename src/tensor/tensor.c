/* Tensors: a dtype, a shape and elements. Up to 64 bytes of elements lie in the tensor itself; more lie in a buffer that views
 * share. A tensor does not change once it has been handed out. Tensor structs are recycled through a short list per thread. */
#include <math.h>
#include <pthread.h>
#include <stdlib.h>

#include "tensor/tensor.h"

enum { SPARE_LIMIT = 256 };

/* ---- recycling of the structs ---- */

typedef struct spares {
    tw_tensor *items[SPARE_LIMIT];
    int count;
} spares;

static _Thread_local spares *thread_spares;
static pthread_key_t spares_key;
static pthread_once_t spares_once = PTHREAD_ONCE_INIT;

static void spares_end(void *memory)
{
    spares *s = memory;
    thread_spares = NULL;
    while (s->count)
        tw__free(s->items[--s->count]);
    free(s);
}

static void make_key(void)
{
    pthread_key_create(&spares_key, spares_end);
}

static void end_own(void)
{
    void *own = thread_spares;
    if (own) {
        pthread_setspecific(spares_key, NULL);
        spares_end(own);
    }
}

static spares *get_spares(void)
{
    if (__builtin_expect(!thread_spares, 0)) {
        pthread_once(&spares_once, make_key);
        thread_spares = calloc(1, sizeof *thread_spares);
        if (thread_spares) {
            static tw__ending ending = { .end = end_own };
            pthread_setspecific(spares_key, thread_spares);
            tw__at_shutdown(&ending);
        }
    }
    return thread_spares;
}

static bool holds_objects(tw_dtype dtype)
{
    return dtype == TW_RESOURCE || dtype == TW_VARIANT;
}

static void end_strings(tw_string *strings, size_t count)
{
    for (size_t i = 0; i < count; i++)
        tw__free((void *)strings[i].data);
}

static void end_objects(tw_object **objects, size_t count)
{
    for (size_t i = 0; i < count; i++)
        tw_release(objects[i]);
}

static void end_buffer_strings(tw__buffer *buffer)
{
    end_strings(buffer->data, buffer->size / sizeof(tw_string));
}

static void end_buffer_objects(tw__buffer *buffer)
{
    end_objects(buffer->data, buffer->size / sizeof(tw_object *));
}

static void tensor_destroy(void *self)
{
    tw_tensor *tensor = self;
    if (tensor->node) {
        tw_release(tensor->symbolic_value);
        tw_release(tensor->symbolic_input);
        tw_release(tensor->symbolic_graph);
        return;
    }
    if (tensor->buffer)
        tw__buffer_release(tensor->buffer);
    else if (tensor->dtype == TW_STRING)
        end_strings(tensor->data, (size_t)tensor->count);
    else if (holds_objects(tensor->dtype))
        end_objects(tensor->data, (size_t)tensor->count);
}

static void tensor_free(void *self)
{
    spares *s = get_spares();
    if (s && s->count < SPARE_LIMIT)
        s->items[s->count++] = self;
    else
        tw__free(self);
}

static void tensor_free_config(void *self)
{
    tw_release(((tw_object *)self)->config);
}

const tw_class tw__tensor_class = {
    .name = "Tensor",
    .size = sizeof(tw_tensor),
    .destroy = tensor_destroy,
    .free_memory = tensor_free,
    .free_config = tensor_free_config,
};

_Atomic uint32_t tw__traces_begun;
_Thread_local uint32_t tw__device_place;

static tw_tensor *tensor_struct(tw_dtype dtype, const tw_shape *shape, int64_t count)
{
    spares *s = get_spares();
    tw_tensor *tensor = s && s->count ? s->items[--s->count] : tw__alloc(sizeof *tensor);
    if (!tensor)
        return NULL;
    tensor->object.magic = TW_OBJECT_MAGIC;
    atomic_init(&tensor->object.references, 1);
    tensor->object.class = &tw__tensor_class;
    tensor->object.peer = NULL;
    tensor->object.config = NULL;
    tensor->dtype = dtype;
    tensor->device = tw__device_place;
    tensor->shape = *shape;
    tensor->count = count;
    tensor->data = tensor->small;
    tensor->buffer = NULL;
    tensor->node = NULL;
    tensor->traces = atomic_load_explicit(&tw__traces_begun, memory_order_relaxed);
    tensor->by_identity = false;
    return tensor;
}

tw_tensor *tw__tensor_symbolic(tw_dtype dtype, const tw_shape *shape, void *graph, struct tw__node *node, int output,
                               tw_tensor *value)
{
    int64_t count = -1;
    if (tw__shape_known(shape) && tw__shape_count(shape, &count) != TW_OK)
        return NULL;
    tw_tensor *tensor = tensor_struct(dtype, shape, count);
    if (!tensor)
        return NULL;
    tensor->data = NULL;
    tensor->node = node;
    tensor->node_output = output;
    tensor->symbolic_graph = tw_retain(graph);
    tensor->symbolic_input = NULL;
    if (value) {
        tensor->data = value->data;
        tensor->symbolic_value = tw_retain(value);
    } else {
        tensor->symbolic_value = NULL;
    }
    return tensor;
}

/* ---- makers ---- */

tw_tensor *tw__tensor_empty(tw_dtype dtype, const tw_shape *shape)
{
    int64_t count;
    size_t bytes;
    if (!tw__dtype_is_valid(dtype)) {
        tw__fail(TW_INVALID_ARGUMENT, "a tensor of the dtype number %d, which there is not", (int)dtype);
        return NULL;
    }
    if (tw__shape_count(shape, &count) != TW_OK)
        return NULL;
    if (__builtin_mul_overflow((size_t)count, tw__element_size(dtype), &bytes) || bytes > SIZE_MAX / 4) {
        tw__fail(TW_RESOURCE_EXHAUSTED, "a tensor of shape %s and dtype %s is too large", tw__shape_text(shape),
                 tw_dtype_name(dtype));
        return NULL;
    }
    tw_tensor *tensor = tensor_struct(dtype, shape, count);
    if (!tensor)
        return NULL;
    if (bytes > TW_INLINE_BYTES) {
        tensor->buffer = tw__buffer_new(bytes);
        if (!tensor->buffer) {
            tensor_free(tensor);
            tw__error_prefix("a tensor of shape %s and dtype %s: ", tw__shape_text(shape), tw_dtype_name(dtype));
            return NULL;
        }
        tensor->data = tensor->buffer->data;
    }
    if (dtype == TW_STRING || holds_objects(dtype)) {
        memset(tensor->data, 0, bytes);
        if (tensor->buffer)
            tensor->buffer->end_elements = dtype == TW_STRING ? end_buffer_strings : end_buffer_objects;
    }
    return tensor;
}

tw_status tw__string_set(tw_tensor *tensor, int64_t index, const void *data, size_t size)
{
    tw_string *place = (tw_string *)tensor->data + index;
    if (size && !data)
        return tw__fail(TW_INVALID_ARGUMENT, "a string of %zu bytes at NULL", size);
    char *copy = size ? tw__strndup(data, size) : NULL;
    if (size && !copy)
        return TW_RESOURCE_EXHAUSTED;
    tw__free((void *)place->data);
    *place = (tw_string){ copy, size };
    return TW_OK;
}

static tw_status copy_elements(tw_tensor *to, const void *data)
{
    size_t bytes = (size_t)to->count * tw__element_size(to->dtype);
    if (to->dtype == TW_STRING) {
        const tw_string *strings = data;
        for (int64_t i = 0; i < to->count; i++)
            TW_TRY(tw__string_set(to, i, strings[i].data, strings[i].size));
    } else if (holds_objects(to->dtype)) {
        for (int64_t i = 0; i < to->count; i++)
            ((tw_object **)to->data)[i] = tw_retain(((tw_object *const *)data)[i]);
    } else if (bytes) {
        memcpy(to->data, data, bytes);
    }
    return TW_OK;
}

tw_tensor *tw_tensor_new(tw_dtype dtype, tw_shape shape, const void *data)
{
    tw_tensor *tensor = tw__tensor_empty(dtype, &shape);
    if (!tensor)
        return NULL;
    if (!data) {
        memset(tensor->data, 0, (size_t)tensor->count * tw__element_size(dtype));
    } else if (copy_elements(tensor, data) != TW_OK) {
        tw_release(tensor);
        return NULL;
    }
    return tensor;
}

tw_tensor *tw__tensor_copy(const tw_tensor *tensor)
{
    const void *values = tw__tensor_values(tensor, "a tensor that is copied");
    return values ? tw_tensor_new(tensor->dtype, tensor->shape, values) : NULL;
}

tw_tensor *tw_tensor_borrow(tw_dtype dtype, tw_shape shape, void *data, void (*free_data)(void *context), void *context)
{
    int64_t count = 0;
    tw_tensor *tensor = NULL;
    tw__buffer *buffer = NULL;
    if (!tw__dtype_is_valid(dtype) || holds_objects(dtype))
        tw__fail(TW_INVALID_ARGUMENT, "memory of the dtype %s can't be borrowed", tw_dtype_name(dtype));
    else if (tw__shape_count(&shape, &count) == TW_OK && (buffer = tw__alloc(sizeof *buffer)))
        tensor = tensor_struct(dtype, &shape, count);
    if (!tensor) {
        tw__free(buffer);
        if (free_data)
            free_data(context);
        return NULL;
    }
    *buffer = (tw__buffer){ .size_class = -1,
                            .size = (size_t)count * tw__element_size(dtype),
                            .data = data,
                            .free_data = free_data,
                            .context = context };
    atomic_init(&buffer->references, 1);
    tensor->buffer = buffer;
    tensor->data = data;
    return tensor;
}

tw_tensor *tw__tensor_slice_view(tw_tensor *tensor, const tw_shape *shape, int64_t offset)
{
    int64_t count;
    if (tw__shape_count(shape, &count) != TW_OK)
        return NULL;
    if (offset < 0 || count > tensor->count - offset) {
        tw__fail(TW_INTERNAL, "a view of %lld elements at %lld of a tensor of %lld", (long long)count, (long long)offset,
                 (long long)tensor->count);
        return NULL;
    }
    const char *values = tw__tensor_values(tensor, "a tensor that is looked at in part"), *from;
    if (!values)
        return NULL;
    from = values + (size_t)offset * tw__element_size(tensor->dtype);
    if (!tensor->buffer)
        return tw_tensor_new(tensor->dtype, *shape, from);
    tw_tensor *view = tensor_struct(tensor->dtype, shape, count);
    if (!view)
        return NULL;
    tw__buffer_retain(tensor->buffer);
    view->buffer = tensor->buffer;
    view->data = (void *)from;
    return view;
}

tw_tensor *tw__tensor_view(tw_tensor *tensor, const tw_shape *shape)
{
    return tw__tensor_slice_view(tensor, shape, 0);
}

tw_tensor *tw__tensor_of_object(tw_dtype dtype, void *object)
{
    return tw_tensor_new(dtype, TW_SCALAR, &object);
}

tw_object *tw__tensor_object(const tw_tensor *tensor)
{
    return tensor && holds_objects(tensor->dtype) && tensor->count == 1 && tensor->data ? *(tw_object **)tensor->data : NULL;
}

tw_tensor *tw__tensor_of_shape(const tw_shape *shape, tw_dtype dtype)
{
    if (dtype != TW_INT32 && dtype != TW_INT64) {
        tw__fail(TW_INVALID_ARGUMENT, "Value for attr 'out_type' of %s is not in the list of allowed values: int32, int64",
                 tw_dtype_name(dtype));
        return NULL;
    }
    for (int i = 0; dtype == TW_INT32 && i < shape->rank; i++) {
        if (shape->dims[i] > INT32_MAX) {
            tw__fail(TW_INVALID_ARGUMENT, "%lld does not fit into int32; use int64 for shapes", (long long)shape->dims[i]);
            return NULL;
        }
    }
    tw_tensor *tensor = tw__tensor_empty(dtype, &TW_SHAPE(shape->rank));
    for (int i = 0; tensor && i < shape->rank; i++) {
        if (dtype == TW_INT64)
            ((int64_t *)tensor->data)[i] = shape->dims[i];
        else
            ((int32_t *)tensor->data)[i] = (int32_t)shape->dims[i];
    }
    return tensor;
}

bool tw__tensor_is_exclusive(const tw_tensor *tensor)
{
    if (tensor->object.peer || tensor->object.config ||
        atomic_load_explicit(&tensor->object.references, memory_order_acquire) != 1)
        return false;
    const tw__buffer *buffer = tensor->buffer;
    return !buffer || (atomic_load_explicit(&buffer->references, memory_order_acquire) == 1 &&
                       (!buffer->free_data || buffer->context == buffer->data)); /* not foreign */
}

/* ---- access ---- */

void tw_tensors_free(tw_tensors *tensors)
{
    if (!tensors)
        return;
    for (int64_t i = 0; tensors->items && i < tensors->count; i++)
        tw_release(tensors->items[i]);
    tw__free(tensors->items);
    *tensors = (tw_tensors){ 0 };
}

static void end_tensors(void *items, int64_t count)
{
    tw_tensors_free(&(tw_tensors){ items, count });
}

tw_tensors tw_made_tensors(tw_tensors list)
{
    return tw__scope_add(list.items, list.count, end_tensors) ? list : (tw_tensors){ 0 };
}

tw_tensors tw__body_run(tw_tensors (*body)(void *user, tw_tensors arguments), void *user, tw_tensors arguments)
{
    size_t scope = tw_scope_begin();
    tw_tensors given = body(user, arguments);
    tw__scope_end_with(scope, (void *[]){ given.items }, 1);
    return given;
}

static bool check(const tw_tensor *tensor)
{
    const tw_object *object = (const void *)tensor; /* of another class it need not lie where tensors may */
    if (object && object->class == &tw__tensor_class)
        return true;
    tw__fail(TW_INVALID_ARGUMENT, "a tensor was expected, got %s%s", tensor ? "a " : "NULL", tw_class_name(tensor));
    return false;
}

bool tw__check_tensors(tw_tensors list, const char *function)
{
    if (list.count < 0 || list.count > INT32_MAX / 4 || (list.count && !list.items)) {
        tw__fail(TW_INVALID_ARGUMENT, "%s: %lld tensors at %p", function, (long long)list.count, (const void *)list.items);
        return false;
    }
    for (int64_t i = 0; i < list.count; i++) {
        if (!check(list.items[i])) {
            tw__error_prefix("%s: tensor %lld: ", function, (long long)i);
            return false;
        }
    }
    return true;
}

tw_dtype tw_tensor_dtype(const tw_tensor *tensor)
{
    return check(tensor) ? tensor->dtype : TW_DTYPE_NONE;
}

tw_shape tw_tensor_shape(const tw_tensor *tensor)
{
    return check(tensor) ? tensor->shape : TW_UNKNOWN_SHAPE;
}

int tw_tensor_rank(const tw_tensor *tensor)
{
    return check(tensor) ? tensor->shape.rank : -1;
}

int64_t tw_tensor_dim(const tw_tensor *tensor, int axis)
{
    if (!check(tensor))
        return -1;
    int place = axis < 0 ? axis + tensor->shape.rank : axis;
    if (place < 0 || place >= tensor->shape.rank) {
        tw__fail(TW_INVALID_ARGUMENT, "axis %d of a tensor of shape %s", axis, tw__shape_text(&tensor->shape));
        return -1;
    }
    return tensor->shape.dims[place];
}

int64_t tw_tensor_count(const tw_tensor *tensor)
{
    return check(tensor) ? tensor->count : 0;
}

size_t tw_tensor_bytes(const tw_tensor *tensor)
{
    return check(tensor) ? (size_t)tensor->count * tw__element_size(tensor->dtype) : 0;
}

const void *tw__tensor_values(const tw_tensor *tensor, const char *what)
{
    if (!check(tensor))
        return NULL;
    if (!tensor->data)
        tw__fail(TW_VALUE_ERROR,
                 "%s: the value of a symbolic tensor (%s, shape %s) is not known while a function is traced or a graph is built",
                 what, tw_dtype_name(tensor->dtype), tw__shape_text(&tensor->shape));
    return tensor->data;
}

tw_tensor *tw__tensor_known(tw_tensor *tensor, const char *what)
{
    if (!tw__tensor_values(tensor, what))
        return NULL;
    return tensor->node ? tensor->symbolic_value : tensor;
}

const void *tw_tensor_data(const tw_tensor *tensor)
{
    return tw__tensor_values(tensor, "the elements of a tensor");
}

static __attribute__((noinline)) bool refuse_index(const tw_tensor *tensor, int64_t index)
{
    if (tw__tensor_values(tensor, "an element of a tensor"))
        tw__fail(TW_OUT_OF_RANGE, "element %lld of a tensor of %lld elements", (long long)index, (long long)tensor->count);
    return false;
}

static inline bool check_index(const tw_tensor *tensor, int64_t index)
{
    const tw_object *object = (const void *)tensor;
    bool good = object && object->class == &tw__tensor_class && tensor->data && index >= 0 && index < tensor->count;
    return __builtin_expect(good, 1) || refuse_index(tensor, index);
}

double tw_tensor_double_at(const tw_tensor *tensor, int64_t index)
{
    if (!check_index(tensor, index))
        return NAN;
    const void *data = tensor->data;
    switch (tensor->dtype) {
    case TW_FLOAT32:
        return ((const float *)data)[index];
    case TW_FLOAT64:
        return ((const double *)data)[index];
    case TW_FLOAT16:
        return tw__half_to_float(((const uint16_t *)data)[index]);
    case TW_BFLOAT16:
        return tw__bfloat16_to_float(((const uint16_t *)data)[index]);
    case TW_UINT64:
        return (double)((const uint64_t *)data)[index];
    default:
        if (tensor->dtype != TW_BOOL && !tw__dtype_is_integer(tensor->dtype)) {
            tw__fail(TW_INVALID_ARGUMENT, "a number was expected, got a tensor of dtype %s", tw_dtype_name(tensor->dtype));
            return NAN;
        }
        return (double)tw_tensor_int_at(tensor, index);
    }
}

int64_t tw_tensor_int_at(const tw_tensor *tensor, int64_t index)
{
    if (!check_index(tensor, index))
        return 0;
    const void *data = tensor->data;
    switch (tensor->dtype) {
    case TW_INT8:
        return ((const int8_t *)data)[index];
    case TW_UINT8:
    case TW_BOOL:
        return ((const uint8_t *)data)[index];
    case TW_INT16:
        return ((const int16_t *)data)[index];
    case TW_UINT16:
        return ((const uint16_t *)data)[index];
    case TW_INT32:
        return ((const int32_t *)data)[index];
    case TW_UINT32:
        return ((const uint32_t *)data)[index];
    case TW_INT64:
    case TW_UINT64:
        return ((const int64_t *)data)[index];
    default:
        tw__fail(TW_INVALID_ARGUMENT, "an integer was expected, got a tensor of dtype %s", tw_dtype_name(tensor->dtype));
        return 0;
    }
}

tw_string tw_tensor_string_at(const tw_tensor *tensor, int64_t index)
{
    if (!check_index(tensor, index))
        return (tw_string){ "", 0 };
    if (tensor->dtype != TW_STRING) {
        tw__fail(TW_INVALID_ARGUMENT, "a string was expected, got a tensor of dtype %s", tw_dtype_name(tensor->dtype));
        return (tw_string){ "", 0 };
    }
    tw_string string = ((const tw_string *)tensor->data)[index];
    return string.data ? string : (tw_string){ "", 0 };
}

tw_status tw__tensor_read_ints(const tw_tensor *tensor, const char *what, int64_t *values, int64_t limit)
{
    if (!check(tensor))
        return tw__error_status();
    if (!tw__dtype_is_integer(tensor->dtype))
        return tw__fail(TW_INVALID_ARGUMENT, "%s must be integers, got dtype %s", what, tw_dtype_name(tensor->dtype));
    if (tensor->count > limit)
        return tw__fail(TW_INVALID_ARGUMENT, "%s has %lld values, expected at most %lld", what, (long long)tensor->count,
                        (long long)limit);
    if (!tw__tensor_values(tensor, what))
        return tw__error_status();
    for (int64_t i = 0; i < tensor->count; i++)
        values[i] = tw_tensor_int_at(tensor, i);
    return TW_OK;
}
