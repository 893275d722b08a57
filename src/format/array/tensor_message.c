/* TensorProto and TensorShapeProto, in and out. A tensor's elements are bytes (tensor_content), or a list by its dtype. A list
 * that is shorter than the shape says is continued with its last value; an empty one is zeros. */
#include "codec/message.h"
#include "format/array/tensor_message.h"

tw_status tw__shape_message_read(tw_string bytes, tw_shape *shape)
{
    *shape = (tw_shape){ .rank = 0 };
    tw__TensorShapeProto from;
    if (!tw__read_TensorShapeProto(bytes, &from))
        return tw__fail(TW_DATA_LOSS, "a shape that can't be read");
    if (!from.unknown_rank && from.dim.count > TW_MAX_RANK)
        return tw__fail(TW_UNIMPLEMENTED, "a shape of more than %d dimensions", TW_MAX_RANK);
    for (TW_EACH(TensorShapeProto_Dim, dim, from.dim)) {
        if (dim.size < -1)
            return tw__fail(TW_DATA_LOSS, "a shape with a dimension of %lld", (long long)dim.size);
        if (!from.unknown_rank)
            shape->dims[shape->rank++] = dim.size;
    }
    if (from.dim.failed)
        return tw__fail(TW_DATA_LOSS, "a shape that can't be read");
    if (from.unknown_rank)
        *shape = TW_UNKNOWN_SHAPE;
    return TW_OK;
}

void tw__shape_message_write(tw__text *text, uint32_t number, const tw_shape *shape)
{
    size_t start = tw__open(text, number);
    if (shape->rank < 0)
        tw__put_TensorShapeProto_unknown_rank(text, true);
    for (int i = 0; i < shape->rank; i++) {
        size_t dim = tw__open_TensorShapeProto_dim(text);
        tw__put_TensorShapeProto_Dim_size(text, shape->dims[i]);
        tw__close(text, dim);
    }
    tw__close(text, start);
}

void tw__shape_message_write_known(tw__text *text, uint32_t number, const tw_shape *shape)
{
    size_t start = tw__open(text, number);
    for (int i = 0; i < shape->rank; i++) {
        size_t dim = tw__open_TensorShapeProto_dim(text);
        if (shape->dims[i])
            tw__put_TensorShapeProto_Dim_size(text, shape->dims[i]);
        tw__close(text, dim);
    }
    tw__close(text, start);
}

/* The number of the list of the dtype; 0: there is none. */
static uint32_t list_of(tw_dtype dtype)
{
    switch (dtype) {
    case TW_FLOAT32:
        return TW_TensorProto_float_val;
    case TW_COMPLEX64:
        return TW_TensorProto_scomplex_val;
    case TW_FLOAT64:
        return TW_TensorProto_double_val;
    case TW_COMPLEX128:
        return TW_TensorProto_dcomplex_val;
    case TW_STRING:
        return TW_TensorProto_string_val;
    case TW_INT64:
        return TW_TensorProto_int64_val;
    case TW_BOOL:
        return TW_TensorProto_bool_val;
    case TW_FLOAT16:
    case TW_BFLOAT16:
        return TW_TensorProto_half_val;
    case TW_UINT32:
        return TW_TensorProto_uint32_val;
    case TW_UINT64:
        return TW_TensorProto_uint64_val;
    case TW_RESOURCE:
    case TW_VARIANT:
        return 0;
    default:
        return TW_TensorProto_int_val;
    }
}

tw_status tw__tensor_message_open(tw_string bytes, tw__tensor_message *message)
{
    *message = (tw__tensor_message){ .bytes = bytes };
    tw__TensorProto from;
    if (!tw__read_TensorProto(bytes, &from))
        return tw__fail(TW_DATA_LOSS, "a tensor that can't be read");
    TW_TRY(tw__shape_message_read(from.tensor_shape, &message->shape));
    if (from.dtype < 0 || from.dtype >= TW_DTYPE_LIMIT || !tw__dtype_is_valid((tw_dtype)from.dtype))
        return tw__fail(TW_UNIMPLEMENTED, "a tensor of the unknown dtype %d", (int)from.dtype);
    message->dtype = (tw_dtype)from.dtype;
    message->content = from.tensor_content;
    if (!tw__shape_known(&message->shape))
        return tw__fail(TW_DATA_LOSS, "a tensor of the shape %s", tw__shape_text(&message->shape));
    return tw__shape_count(&message->shape, &message->count);
}

/* One number of a list into place `index` of the tensor, counted in halves for complex dtypes. */
static void put(tw_tensor *tensor, int64_t index, uint64_t value)
{
    switch (tensor->dtype) {
    case TW_BOOL:
        ((uint8_t *)tensor->data)[index] = value != 0;
        break;
    case TW_UINT8:
    case TW_INT8:
    case TW_QINT8:
    case TW_QUINT8:
        ((uint8_t *)tensor->data)[index] = (uint8_t)value;
        break;
    case TW_INT16:
    case TW_UINT16:
    case TW_FLOAT16:
    case TW_BFLOAT16:
    case TW_QINT16:
    case TW_QUINT16:
        ((uint16_t *)tensor->data)[index] = (uint16_t)value;
        break;
    case TW_INT64:
    case TW_UINT64:
    case TW_FLOAT64:
    case TW_COMPLEX128:
        ((uint64_t *)tensor->data)[index] = value;
        break;
    default: /* int32, uint32, qint32, float32, complex64 */
        ((uint32_t *)tensor->data)[index] = (uint32_t)value;
    }
}

/* The numbers of a list, up to `room`; how many there were. -1: damaged. */
static int64_t take_numbers(tw__many many, tw_tensor *tensor, int64_t room)
{
    tw__numbers numbers = tw__numbers_of(many);
    int64_t count = 0;
    for (uint64_t value; count < room && tw__next_number(&numbers, &value);)
        put(tensor, count++, value);
    return numbers.many.failed ? -1 : count;
}

static tw_status take_strings(tw__many many, tw_tensor *tensor, size_t *budget)
{
    int64_t count = 0;
    tw_string last = { "", 0 };
    while (count < tensor->count && tw__next_bytes(&many, &last))
        TW_TRY(tw__string_set(tensor, count++, last.data, last.size));
    if (last.size && (uint64_t)(tensor->count - count) > *budget / last.size)
        return tw__fail(TW_RESOURCE_EXHAUSTED, "a tensor of %lld strings, more than the file can hold", (long long)tensor->count);
    *budget -= (size_t)(tensor->count - count) * last.size;
    for (; last.size && count < tensor->count; count++)
        TW_TRY(tw__string_set(tensor, count, last.data, last.size));
    return TW_OK;
}

/* tensor_content of strings: all lengths as varints, then all bytes. */
static tw_status take_string_content(tw_string content, tw_tensor *tensor)
{
    size_t lengths = 0;
    for (int64_t i = 0; i < tensor->count; i++) {
        uint64_t size;
        size_t used = tw__varint_get(content.data + lengths, content.size - lengths, &size);
        if (!used)
            return tw__fail(TW_DATA_LOSS, "a tensor's strings that can't be read");
        lengths += used;
    }
    size_t at = 0, text = lengths;
    for (int64_t i = 0; i < tensor->count; i++) {
        uint64_t size = 0;
        at += tw__varint_get(content.data + at, content.size - at, &size);
        if (size > content.size - text)
            return tw__fail(TW_DATA_LOSS, "a tensor's strings that can't be read");
        TW_TRY(tw__string_set(tensor, i, content.data + text, size));
        text += size;
    }
    return TW_OK;
}

static tw_status fill(const tw__tensor_message *message, tw_tensor *tensor, size_t *budget)
{
    size_t size = tw__element_size(tensor->dtype);
    tw_string content = message->content;
    if (content.size && tensor->dtype == TW_STRING)
        return take_string_content(content, tensor);
    if (content.size) {
        if (content.size % size || content.size / size != (size_t)message->count)
            return tw__fail(TW_DATA_LOSS, "a tensor of %s %s in %zu bytes", tw_dtype_name(message->dtype),
                            tw__shape_text(&message->shape), content.size);
        memcpy(tensor->data, content.data, (size_t)tensor->count * size);
        for (int64_t i = 0; tensor->dtype == TW_BOOL && i < tensor->count; i++)
            ((uint8_t *)tensor->data)[i] = ((uint8_t *)tensor->data)[i] != 0;
        return TW_OK;
    }
    tw__many list = tw__many_of(&tw__type_TensorProto, list_of(tensor->dtype), message->bytes);
    if (tensor->dtype == TW_STRING)
        return take_strings(list, tensor, budget);
    int parts = tw__dtype_is_complex(tensor->dtype) ? 2 : 1;
    int64_t count = take_numbers(list, tensor, tensor->count * parts);
    if (count < 0 || count % parts)
        return tw__fail(TW_DATA_LOSS, "a tensor whose elements can't be read");
    char *data = tensor->data;
    count /= parts;
    if (count == 0 && tensor->count)
        memset(data, 0, (size_t)tensor->count * size);
    for (int64_t i = count; count && i < tensor->count; i++)
        memcpy(data + (size_t)i * size, data + (size_t)(count - 1) * size, size);
    return TW_OK;
}

tw_tensor *tw__tensor_message_read(const tw__tensor_message *message, int64_t limit, size_t *budget)
{
    tw_shape part = { .rank = 1, .dims = { limit < message->count ? limit : message->count } };
    const tw_shape *shape = limit >= 0 ? &part : &message->shape;
    uint64_t bytes = (uint64_t)(limit >= 0 ? part.dims[0] : message->count);
    size_t size = tw__element_size(message->dtype);
    if (message->dtype == TW_RESOURCE || message->dtype == TW_VARIANT || size == 0) {
        tw__fail(TW_UNIMPLEMENTED, "a constant of dtype %s", tw_dtype_name(message->dtype));
        return NULL;
    }
    if (bytes > *budget / size) {
        tw__fail(TW_RESOURCE_EXHAUSTED, "a tensor of %s %s, more than the file can hold", tw_dtype_name(message->dtype),
                 tw__shape_text(&message->shape));
        return NULL;
    }
    *budget -= bytes * size;
    tw_tensor *tensor = tw__tensor_empty(message->dtype, shape);
    if (tensor && fill(message, tensor, budget) != TW_OK) {
        tw_release(tensor);
        return NULL;
    }
    return tensor;
}

/* The only element of an integer tensor. */
static int64_t integer_of(const tw_tensor *tensor)
{
    const void *data = tensor->data;
    size_t size = tw__element_size(tensor->dtype);
    return size == 8                   ? *(const int64_t *)data
           : tensor->dtype == TW_INT32 ? *(const int32_t *)data
           : size == 4                 ? (int64_t) * (const uint32_t *)data
           : tensor->dtype == TW_INT16 ? *(const int16_t *)data
           : size == 2                 ? *(const uint16_t *)data
           : tensor->dtype == TW_INT8  ? *(const int8_t *)data
                                       : *(const uint8_t *)data;
}

tw_status tw__tensor_message_write(tw__text *text, uint32_t number, const tw_tensor *tensor)
{
    uint32_t list = list_of(tensor->dtype);
    if (!list || !tensor->data)
        return tw__fail(TW_UNIMPLEMENTED, "a tensor of dtype %s can't be written into a graph", tw_dtype_name(tensor->dtype));
    size_t start = tw__open(text, number), size = tw__element_size(tensor->dtype);
    tw__put_TensorProto_dtype(text, tensor->dtype);
    tw__shape_message_write(text, TW_TensorProto_tensor_shape, &tensor->shape);
    const void *data = tensor->data;
    if (tensor->dtype == TW_STRING) {
        for (int64_t i = 0; i < tensor->count; i++)
            tw__put_TensorProto_string_val(text, ((const tw_string *)data)[i].data, ((const tw_string *)data)[i].size);
    } else if (tensor->count != 1) {
        tw__put_TensorProto_tensor_content(text, data, (size_t)tensor->count * size);
    } else { /* one element: in the list, packed as proto3 does */
        size_t packed = tw__open(text, list);
        if (size > 2 && (tw__dtype_is_float(tensor->dtype) || tw__dtype_is_complex(tensor->dtype)))
            tw__text_bytes(text, data, size);
        else
            tw__varint_add(text, (uint64_t)integer_of(tensor));
        tw__close(text, packed);
    }
    tw__close(text, start);
    return text->failed ? TW_RESOURCE_EXHAUSTED : TW_OK;
}

tw_status tw__tensor_message_body(tw__text *text, const tw_tensor *tensor)
{
    tw__put_TensorProto_dtype(text, tensor->dtype);
    tw__shape_message_write_known(text, TW_TensorProto_tensor_shape, &tensor->shape);
    if (tensor->dtype == TW_RESOURCE || tensor->dtype == TW_VARIANT)
        return tw__fail(TW_INVALID_ARGUMENT, "a tensor of dtype %s can't be written", tw_dtype_name(tensor->dtype));
    for (int64_t i = 0; tensor->dtype == TW_STRING && i < tensor->count; i++) {
        tw_string s = tw_tensor_string_at(tensor, i);
        tw__put_TensorProto_string_val(text, s.data ? s.data : "", s.size);
    }
    if (tensor->dtype != TW_STRING && tensor->count)
        tw__put_TensorProto_tensor_content(text, tensor->data, (size_t)tensor->count * tw__element_size(tensor->dtype));
    return TW_OK;
}
