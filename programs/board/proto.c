/* The wire format of protocol buffers, as far as the dashboard needs it. Bytes may be anything. */
#include <string.h>

#include "board.h"

bool board_varint(const uint8_t **at, const uint8_t *end, uint64_t *value)
{
    *value = 0;
    for (int shift = 0; *at < end && shift < 64; shift += 7) {
        uint8_t byte = *(*at)++;
        *value |= (uint64_t)(byte & 127) << shift;
        if (byte < 128)
            return true;
    }
    return false;
}

static uint64_t little(const uint8_t *data, int size)
{
    uint64_t value = 0;
    for (int i = size - 1; i >= 0; i--)
        value = value << 8 | data[i];
    return value;
}

bool board_next_field(const uint8_t **at, const uint8_t *end, board_field *field)
{
    uint64_t tag, size;
    *field = (board_field){ 0 };
    if (!*at || *at >= end || !board_varint(at, end, &tag))
        return false;
    field->number = (uint32_t)(tag >> 3);
    int wire = (int)(tag & 7);
    if (wire == 0)
        return board_varint(at, end, &field->value);
    if (wire == 2) {
        if (!board_varint(at, end, &size) || size > (uint64_t)(end - *at))
            return false;
        field->data = *at;
        field->size = size;
        *at += size;
        return true;
    }
    int bytes = wire == 1 ? 8 : 4;
    if ((wire != 1 && wire != 5) || end - *at < bytes)
        return false;
    field->value = little(*at, bytes);
    *at += bytes;
    return true;
}

bool board_get_field(const uint8_t *data, size_t size, uint32_t number, board_field *out)
{
    board_field field;
    bool found = false;
    for (const uint8_t *at = data; board_next_field(&at, data + size, &field);) {
        if (field.number == number) {
            *out = field;
            found = true;
        }
    }
    return found;
}

double board_as_double(uint64_t bits)
{
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

double board_as_float(uint64_t bits)
{
    uint32_t half = (uint32_t)bits;
    float value;
    memcpy(&value, &half, sizeof value);
    return (double)value;
}
