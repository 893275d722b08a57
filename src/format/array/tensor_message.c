/* TensorProto and TensorShapeProto, in and out.
 *
 *     TensorShapeProto  2 dim {1 size, -1: not known; 2 name}, 3 unknown_rank
 *     TensorProto       1 dtype, 2 tensor_shape, 4 tensor_content (the elements' bytes), or a list by dtype: 5 float, 6 double, 7
 * int, 8 string, 9 complex64 (floats in pairs), 10 int64, 11 bool, 12 complex128, 13 half, 16 uint32, 17 uint64
 *
 * A list that is shorter than the shape says is continued with its last value; an empty one is zeros. */
#include "codec/codec.h"
#include "format/array/tensor_message.h"

static tw_string bytes_of(const tw__proto_field *field)
{
    return (tw_string){ (const char *)field->data, field->size };
}

tw_status tw__shape_message_read(tw_string bytes, tw_shape *shape)
{
    *shape = (tw_shape){ .rank = 0 };
    bool unknown = false;
    tw__proto_field field, part;
    tw__proto proto = tw__proto_read(bytes.data, bytes.size);
    while (tw__proto_next(&proto, &field)) {
        if (field.number == 3 && field.wire == TW_WIRE_VARINT)
            unknown = field.value != 0;
        if (field.number != 2 || field.wire != TW_WIRE_BYTES)
            continue;
        int64_t size = 0;
        tw__proto dim = tw__proto_nested(&field);
        while (tw__proto_next(&dim, &part)) {
            if (part.number == 1 && part.wire == TW_WIRE_VARINT)
                size = (int64_t)part.value;
        }
        if (dim.failed || size < -1)
            return tw__fail(TW_DATA_LOSS, "a shape with a dimension of %lld", (long long)size);
        if (shape->rank == TW_MAX_RANK)
            return tw__fail(TW_UNIMPLEMENTED, "a shape of more than %d dimensions", TW_MAX_RANK);
        shape->dims[shape->rank++] = size;
    }
    if (proto.failed)
        return tw__fail(TW_DATA_LOSS, "a shape that can't be read");
    if (unknown)
        *shape = TW_UNKNOWN_SHAPE;
    return TW_OK;
}

void tw__shape_message_write(tw__text *text, uint32_t number, const tw_shape *shape)
{
    tw__text inner = { 0 };
    if (shape->rank < 0)
        tw__proto_add_varint(&inner, 3, 1);
    for (int i = 0; i < shape->rank; i++) {
        uint8_t dim[1 + TW_VARINT_MAX] = { 1 << 3 };
        tw__proto_add_bytes(&inner, 2, dim, 1 + tw__varint_put(dim + 1, (uint64_t)shape->dims[i]));
    }
    text->failed |= inner.failed;
    tw__proto_add_bytes(text, number, inner.data, inner.size);
    tw__text_free(&inner);
}

/* The list of the dtype, and how its numbers are on the wire. */
static uint32_t list_of(tw_dtype dtype, tw__wire *wire)
{
    *wire = TW_WIRE_VARINT;
    switch (dtype) {
    case TW_FLOAT32:
    case TW_COMPLEX64:
        *wire = TW_WIRE_FIXED32;
        return dtype == TW_FLOAT32 ? 5 : 9;
    case TW_FLOAT64:
    case TW_COMPLEX128:
        *wire = TW_WIRE_FIXED64;
        return dtype == TW_FLOAT64 ? 6 : 12;
    case TW_STRING:
        *wire = TW_WIRE_BYTES;
        return 8;
    case TW_INT64:
        return 10;
    case TW_BOOL:
        return 11;
    case TW_FLOAT16:
    case TW_BFLOAT16:
        return 13;
    case TW_UINT32:
        return 16;
    case TW_UINT64:
        return 17;
    case TW_RESOURCE:
    case TW_VARIANT:
        return 0;
    default:
        return 7;
    }
}

tw_status tw__tensor_message_open(tw_string bytes, tw__tensor_message *message)
{
    *message = (tw__tensor_message){ .bytes = bytes };
    tw__proto_field field;
    tw__proto proto = tw__proto_read(bytes.data, bytes.size);
    uint64_t dtype = 0;
    while (tw__proto_next(&proto, &field)) {
        if (field.number == 1 && field.wire == TW_WIRE_VARINT)
            dtype = field.value;
        else if (field.number == 2 && field.wire == TW_WIRE_BYTES)
            TW_TRY(tw__shape_message_read(bytes_of(&field), &message->shape));
    }
    if (proto.failed)
        return tw__fail(TW_DATA_LOSS, "a tensor that can't be read");
    if (dtype >= TW_DTYPE_LIMIT || !tw__dtype_is_valid((tw_dtype)dtype))
        return tw__fail(TW_UNIMPLEMENTED, "a tensor of the unknown dtype %llu", (unsigned long long)dtype);
    message->dtype = (tw_dtype)dtype;
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

/* The numbers of a list, packed or one by one, up to `room`; how many there were. -1: damaged. */
static int64_t take_numbers(tw_string bytes, uint32_t list, tw__wire wire, tw_tensor *tensor, int64_t room)
{
    int64_t count = 0;
    tw__proto_field field;
    tw__proto proto = tw__proto_read(bytes.data, bytes.size);
    while (count < room && tw__proto_next(&proto, &field)) {
        if (field.number != list)
            continue;
        if (field.wire == wire) {
            put(tensor, count++, field.value);
            continue;
        }
        if (field.wire != TW_WIRE_BYTES)
            return -1;
        size_t unit = wire == TW_WIRE_FIXED32 ? 4 : 8;
        for (size_t at = 0; at < field.size && count < room;) {
            uint64_t value = 0;
            if (wire == TW_WIRE_VARINT)
                unit = tw__varint_get(field.data + at, field.size - at, &value);
            if (unit == 0 || unit > field.size - at)
                return -1;
            if (wire != TW_WIRE_VARINT)
                value = unit == 4 ? tw__get32(field.data + at) : tw__get64(field.data + at);
            put(tensor, count++, value);
            at += unit;
        }
    }
    return proto.failed ? -1 : count;
}

static tw_status take_strings(tw_string bytes, tw_tensor *tensor, size_t *budget)
{
    int64_t count = 0;
    tw__proto_field field;
    tw_string last = { "", 0 };
    tw__proto proto = tw__proto_read(bytes.data, bytes.size);
    while (count < tensor->count && tw__proto_next(&proto, &field)) {
        if (field.number != 8 || field.wire != TW_WIRE_BYTES)
            continue;
        last = bytes_of(&field);
        TW_TRY(tw__string_set(tensor, count++, last.data, last.size));
    }
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
    tw_string content = { NULL, 0 };
    tw__proto_field field;
    tw__proto proto = tw__proto_read(message->bytes.data, message->bytes.size);
    while (tw__proto_next(&proto, &field)) {
        if (field.number == 4 && field.wire == TW_WIRE_BYTES && field.size)
            content = bytes_of(&field);
    }
    if (content.data && tensor->dtype == TW_STRING)
        return take_string_content(content, tensor);
    if (content.data) {
        if (content.size % size || content.size / size != (size_t)message->count)
            return tw__fail(TW_DATA_LOSS, "a tensor of %s %s in %zu bytes", tw_dtype_name(message->dtype),
                            tw__shape_text(&message->shape), content.size);
        memcpy(tensor->data, content.data, (size_t)tensor->count * size);
        for (int64_t i = 0; tensor->dtype == TW_BOOL && i < tensor->count; i++)
            ((uint8_t *)tensor->data)[i] = ((uint8_t *)tensor->data)[i] != 0;
        return TW_OK;
    }
    if (tensor->dtype == TW_STRING)
        return take_strings(message->bytes, tensor, budget);
    tw__wire wire;
    uint32_t list = list_of(tensor->dtype, &wire);
    int parts = tw__dtype_is_complex(tensor->dtype) ? 2 : 1;
    int64_t count = take_numbers(message->bytes, list, wire, tensor, tensor->count * parts);
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

tw_status tw__tensor_message_write(tw__text *text, uint32_t number, const tw_tensor *tensor)
{
    tw__wire wire;
    uint32_t list = list_of(tensor->dtype, &wire);
    if (!list || !tensor->data)
        return tw__fail(TW_UNIMPLEMENTED, "a tensor of dtype %s can't be written into a graph", tw_dtype_name(tensor->dtype));
    tw__text inner = { 0 };
    tw__proto_add_varint(&inner, 1, (uint64_t)tensor->dtype);
    tw__shape_message_write(&inner, 2, &tensor->shape);
    size_t size = tw__element_size(tensor->dtype);
    const void *data = tensor->data;
    if (tensor->dtype == TW_STRING) {
        for (int64_t i = 0; i < tensor->count; i++)
            tw__proto_add_bytes(&inner, list, ((const tw_string *)data)[i].data, ((const tw_string *)data)[i].size);
    } else if (tensor->count != 1) {
        tw__proto_add_bytes(&inner, 4, data, (size_t)tensor->count * size);
    } else if (wire == TW_WIRE_VARINT) { /* one element: in the list, packed as proto3 does */
        int64_t value = size == 8                   ? *(const int64_t *)data
                        : tensor->dtype == TW_INT32 ? *(const int32_t *)data
                        : size == 4                 ? (int64_t) * (const uint32_t *)data
                        : tensor->dtype == TW_INT16 ? *(const int16_t *)data
                        : size == 2                 ? *(const uint16_t *)data
                        : tensor->dtype == TW_INT8  ? *(const int8_t *)data
                                                    : *(const uint8_t *)data;
        uint8_t packed[TW_VARINT_MAX];
        tw__proto_add_bytes(&inner, list, packed, tw__varint_put(packed, (uint64_t)value));
    } else {
        tw__proto_add_bytes(&inner, list, data, size);
    }
    text->failed |= inner.failed;
    tw__proto_add_bytes(text, number, inner.data, inner.size);
    tw__text_free(&inner);
    return text->failed ? TW_RESOURCE_EXHAUSTED : TW_OK;
}

tw_status tw__tensor_message_body(tw__text *text, const tw_tensor *tensor)
{
    tw__text shape = { 0 };
    tw__proto_add_varint(text, 1, (uint64_t)tensor->dtype);
    for (int i = 0; i < tensor->shape.rank; i++) {
        uint8_t dim[1 + TW_VARINT_MAX] = { 1 << 3 };
        size_t size = tensor->shape.dims[i] ? 1 + tw__varint_put(dim + 1, (uint64_t)tensor->shape.dims[i]) : 0;
        tw__proto_add_bytes(&shape, 2, dim, size);
    }
    text->failed |= shape.failed;
    tw__proto_add_bytes(text, 2, shape.data ? shape.data : "", shape.size);
    tw__text_free(&shape);
    if (tensor->dtype == TW_RESOURCE || tensor->dtype == TW_VARIANT)
        return tw__fail(TW_INVALID_ARGUMENT, "a tensor of dtype %s can't be written", tw_dtype_name(tensor->dtype));
    for (int64_t i = 0; tensor->dtype == TW_STRING && i < tensor->count; i++) {
        tw_string s = tw_tensor_string_at(tensor, i);
        tw__proto_add_bytes(text, 8, s.data ? s.data : "", s.size);
    }
    if (tensor->dtype != TW_STRING && tensor->count)
        tw__proto_add_bytes(text, 4, tensor->data, (size_t)tensor->count * tw__element_size(tensor->dtype));
    return TW_OK;
}
