/* Varints and protobuf's wire format.
 *
 *     field = varint (number << 3 | wire), then by wire: 0 a varint; 1 eight bytes; 2 a varint size and that many bytes;
 *     3 … 4 a group: fields up to the end mark of the same number; 5 four bytes
 *
 * A message is walked field by field with a bounded cursor; nested messages are cursors over a field's bytes, so no input
 * makes the reader recurse. */
#include "codec/codec.h"

#define GROUP_DEPTH 100
#define TAG_MAX 5 /* bytes */

size_t tw__varint_put(void *data, uint64_t value)
{
    uint8_t *bytes = data;
    size_t size = 0;
    while (value >= 0x80) {
        bytes[size++] = (uint8_t)(value | 0x80);
        value >>= 7;
    }
    bytes[size++] = (uint8_t)value;
    return size;
}

size_t tw__varint_get(const void *data, size_t size, uint64_t *value)
{
    const uint8_t *bytes = data;
    uint64_t result = 0;
    for (size_t i = 0; i < size && i < TW_VARINT_MAX; i++) {
        result |= (uint64_t)(bytes[i] & 0x7f) << 7 * i;
        if (bytes[i] < 0x80) {
            *value = result;
            return i + 1;
        }
    }
    return 0;
}

void tw__varint_add(tw__text *text, uint64_t value)
{
    uint8_t bytes[TW_VARINT_MAX];
    tw__text_bytes(text, bytes, tw__varint_put(bytes, value));
}

tw__proto tw__proto_read(const void *data, size_t size)
{
    /* No arithmetic on a null pointer, which stands for the empty message. */
    static const uint8_t nothing[1];
    const uint8_t *bytes = data ? data : nothing;
    return (tw__proto){ .at = bytes, .end = bytes + (data ? size : 0) };
}

static bool fail(tw__proto *proto)
{
    proto->failed = true;
    proto->at = proto->end;
    return false;
}

static inline bool read_varint(tw__proto *proto, uint64_t *value)
{
    if (proto->at < proto->end && *proto->at < 0x80) { /* most tags and sizes are one byte */
        *value = *proto->at++;
        return true;
    }
    size_t used = tw__varint_get(proto->at, (size_t)(proto->end - proto->at), value);
    proto->at += used;
    return used > 0;
}

/* Reads a tag; wires 3 and 4 are let through. */
static bool read_tag(tw__proto *proto, uint32_t *number, unsigned *wire)
{
    uint64_t tag;
    const uint8_t *from = proto->at;
    if (!read_varint(proto, &tag) || tag >> 3 == 0 || tag > UINT32_MAX || proto->at - from > TAG_MAX)
        return false;
    *number = (uint32_t)(tag >> 3);
    *wire = tag & 7;
    return *wire <= 5;
}

static bool read_value(tw__proto *proto, tw__proto_field *field)
{
    size_t left = (size_t)(proto->end - proto->at);
    switch (field->wire) {
    case TW_WIRE_VARINT:
        return read_varint(proto, &field->value);
    case TW_WIRE_FIXED64:
        if (left < 8)
            return false;
        field->value = tw__get64(proto->at);
        proto->at += 8;
        return true;
    case TW_WIRE_FIXED32:
        if (left < 4)
            return false;
        field->value = tw__get32(proto->at);
        proto->at += 4;
        return true;
    case TW_WIRE_BYTES: {
        uint64_t size;
        if (!read_varint(proto, &size) || size > (uint64_t)(proto->end - proto->at))
            return false;
        field->data = proto->at;
        field->size = (size_t)size;
        proto->at += size;
        return true;
    }
    }
    return false;
}

/* Passes over a group whose begin mark was read, and the groups in it. */
static bool skip_group(tw__proto *proto, uint32_t number)
{
    uint32_t open[GROUP_DEPTH];
    size_t depth = 0;
    open[depth++] = number;
    while (depth > 0) {
        unsigned wire;
        if (!read_tag(proto, &number, &wire))
            return false;
        if (wire == 3) {
            if (depth == GROUP_DEPTH)
                return false;
            open[depth++] = number;
        } else if (wire == 4) {
            if (open[--depth] != number)
                return false;
        } else {
            tw__proto_field field = { .wire = (tw__wire)wire };
            if (!read_value(proto, &field))
                return false;
        }
    }
    return true;
}

bool tw__proto_next(tw__proto *proto, tw__proto_field *field)
{
    while (proto->at < proto->end) {
        unsigned wire;
        *field = (tw__proto_field){ 0 };
        if (!read_tag(proto, &field->number, &wire) || wire == 4)
            return fail(proto);
        if (wire == 3) {
            if (!skip_group(proto, field->number))
                return fail(proto);
            continue;
        }
        field->wire = (tw__wire)wire;
        return read_value(proto, field) || fail(proto);
    }
    return false;
}

void tw__proto_add_varint(tw__text *text, uint32_t number, uint64_t value)
{
    tw__varint_add(text, (uint64_t)number << 3 | TW_WIRE_VARINT);
    tw__varint_add(text, value);
}

void tw__proto_add_fixed32(tw__text *text, uint32_t number, uint32_t value)
{
    uint8_t bytes[4];
    tw__put32(bytes, value);
    tw__varint_add(text, (uint64_t)number << 3 | TW_WIRE_FIXED32);
    tw__text_bytes(text, bytes, sizeof bytes);
}

void tw__proto_add_fixed64(tw__text *text, uint32_t number, uint64_t value)
{
    uint8_t bytes[8];
    tw__put64(bytes, value);
    tw__varint_add(text, (uint64_t)number << 3 | TW_WIRE_FIXED64);
    tw__text_bytes(text, bytes, sizeof bytes);
}

void tw__proto_add_bytes(tw__text *text, uint32_t number, const void *data, size_t size)
{
    tw__varint_add(text, (uint64_t)number << 3 | TW_WIRE_BYTES);
    tw__varint_add(text, size);
    tw__text_bytes(text, data, size);
}
