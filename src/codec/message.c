/* The engine of messages: reads any message of the tables into its struct, walks over repeated fields, writes fields; see
 * message.h. */
#include "codec/message.h"

const char tw__absent[1] = "";

tw__wire tw__field_wire(tw__field_type type)
{
    static const uint8_t wires[] = {
        [TW_FIELD_FIXED32] = TW_WIRE_FIXED32, [TW_FIELD_FIXED64] = TW_WIRE_FIXED64, [TW_FIELD_FLOAT] = TW_WIRE_FIXED32,
        [TW_FIELD_DOUBLE] = TW_WIRE_FIXED64,  [TW_FIELD_STRING] = TW_WIRE_BYTES,    [TW_FIELD_BYTES] = TW_WIRE_BYTES,
        [TW_FIELD_MESSAGE] = TW_WIRE_BYTES,
    };
    return (tw__wire)wires[type];
}

const tw__message *tw__message_named(const char *name, size_t size)
{
    for (const tw__message *const *m = tw__messages; *m; m++) {
        if (strlen((*m)->name) == size && memcmp((*m)->name, name, size) == 0)
            return *m;
    }
    return NULL;
}

/* ---- reading ---- */

/* A known field of another wire is an unknown one. Repeated numbers may be packed. */
static bool fits(tw__field_type type, bool repeated, tw__wire wire)
{
    return wire == tw__field_wire(type) || (repeated && wire == TW_WIRE_BYTES);
}

const tw__message_field *tw__message_field_of(const tw__message *type, const tw__proto_field *f)
{
    uint8_t place = f->number < type->limit ? type->places[f->number] : 0;
    const tw__message_field *field = place ? &type->fields[place - 1] : NULL;
    return field && fits(field->type, field->repeated, f->wire) ? field : NULL;
}

/* A number as its type has it. */
static uint64_t number_of(tw__field_type type, uint64_t value)
{
    switch (type) {
    case TW_FIELD_INT32:
    case TW_FIELD_ENUM:
        return (uint64_t)(int64_t)(int32_t)(uint32_t)value;
    case TW_FIELD_UINT32:
        return (uint32_t)value;
    case TW_FIELD_SINT64:
        return value >> 1 ^ (0 - (value & 1));
    case TW_FIELD_BOOL:
        return value != 0;
    default:
        return value;
    }
}

static void store(tw__field_type type, const tw__proto_field *f, void *place)
{
    uint64_t value = number_of(type, f->value);
    switch (tw__field_wire(type)) {
    case TW_WIRE_BYTES:
        *(tw_string *)place = (tw_string){ (const char *)f->data, f->size };
        return;
    case TW_WIRE_FIXED64:
        memcpy(place, &value, sizeof value);
        return;
    default:
        if (type == TW_FIELD_BOOL)
            *(bool *)place = value != 0;
        else if (type == TW_FIELD_INT64 || type == TW_FIELD_UINT64 || type == TW_FIELD_SINT64)
            memcpy(place, &value, sizeof value);
        else
            memcpy(place, &(uint32_t){ (uint32_t)value }, sizeof(uint32_t));
    }
}

/* Of a oneof the last field counts: the one that was there before is absent again. */
static void choose(const tw__message *type, const tw__message_field *field, char *view)
{
    uint32_t before, now = field->number;
    memcpy(&before, view + field->which, sizeof before);
    memcpy(view + field->which, &now, sizeof now);
    if (!before || before == now)
        return;
    const tw__message_field *old = &type->fields[type->places[before] - 1];
    size_t size = tw__field_wire(old->type) == TW_WIRE_BYTES ? sizeof(tw_string)
                  : old->type == TW_FIELD_BOOL               ? sizeof(bool)
                  : old->type == TW_FIELD_INT32 || old->type == TW_FIELD_UINT32 || old->type == TW_FIELD_ENUM ||
                          tw__field_wire(old->type) == TW_WIRE_FIXED32
                      ? sizeof(uint32_t)
                      : sizeof(uint64_t);
    memcpy(view + old->offset, (const char *)type->initial + old->offset, size);
}

bool tw__message_read(const tw__message *type, tw_string bytes, void *view)
{
    char *base = memcpy(view, type->initial, type->size);
    tw__proto proto = tw__proto_read(bytes.data, bytes.size);
    const uint8_t *from = proto.at;
    for (tw__proto_field f; tw__proto_next(&proto, &f); from = proto.at) {
        const tw__message_field *field = tw__message_field_of(type, &f);
        if (!field) {
            if (f.number >= type->limit || !type->places[f.number])
                *(uint32_t *)view = f.number;
            continue;
        }
        tw__many *many = (tw__many *)(base + field->offset);
        if (field->repeated) {
            many->at = many->count++ ? many->at : from;
            many->end = proto.at;
            continue;
        }
        if (field->oneof)
            choose(type, field, base);
        if (field->type == TW_FIELD_MESSAGE && tw__has(*(tw_string *)(base + field->offset)))
            return false;
        store(field->type, &f, base + field->offset);
    }
    return !proto.failed;
}

tw__many tw__many_of(const tw__message *type, uint32_t number, tw_string bytes)
{
    tw__proto proto = tw__proto_read(bytes.data, bytes.size);
    return (tw__many){ proto.at, proto.end, 0, (uint16_t)number, type->fields[type->places[number] - 1].type, false };
}

static bool next_field(tw__many *many, tw__proto_field *f)
{
    tw__proto proto = { .at = many->at, .end = many->end };
    do {
        if (!many->at || !tw__proto_next(&proto, f)) {
            many->at = many->end;
            many->failed |= proto.failed;
            return false;
        }
    } while (f->number != many->number || !fits(many->type, true, f->wire));
    many->at = proto.at;
    return true;
}

bool tw__next_bytes(tw__many *many, tw_string *value)
{
    tw__proto_field f;
    if (!next_field(many, &f))
        return false;
    *value = (tw_string){ (const char *)f.data, f.size };
    return true;
}

bool tw__next_message(tw__many *many, const tw__message *type, void *view)
{
    tw_string bytes;
    if (!tw__next_bytes(many, &bytes))
        return false;
    many->failed = !tw__message_read(type, bytes, view);
    return !many->failed;
}

bool tw__next_number(tw__numbers *numbers, uint64_t *bits)
{
    tw__many *many = &numbers->many;
    tw__wire wire = tw__field_wire(many->type);
    while (numbers->at == numbers->end) {
        tw__proto_field f;
        if (!next_field(many, &f))
            return false;
        if (f.wire == wire) {
            *bits = number_of(many->type, f.value);
            return true;
        }
        numbers->at = f.data;
        numbers->end = f.data + f.size;
    }
    size_t left = (size_t)(numbers->end - numbers->at), used = wire == TW_WIRE_FIXED32 ? 4 : 8;
    if (wire == TW_WIRE_VARINT)
        used = tw__varint_get(numbers->at, left, bits);
    if (used == 0 || used > left) {
        numbers->at = numbers->end = NULL;
        many->at = many->end;
        return !(many->failed = true);
    }
    if (wire == TW_WIRE_VARINT)
        *bits = number_of(many->type, *bits);
    else
        *bits = used == 4 ? tw__get32(numbers->at) : tw__get64(numbers->at);
    numbers->at += used;
    return true;
}

size_t tw__numbers_count(tw__many many, bool *good)
{
    tw__numbers numbers = tw__numbers_of(many);
    size_t count = 0;
    for (uint64_t bits; tw__next_number(&numbers, &bits);)
        count++;
    *good = !numbers.many.failed;
    return count;
}

/* ---- writing ---- */

size_t tw__open(tw__text *text, uint32_t number)
{
    tw__varint_add(text, (uint64_t)number << 3 | TW_WIRE_BYTES);
    tw__text_bytes(text, "", 1); /* the size, as long as it fits */
    return text->size;
}

void tw__close(tw__text *text, size_t start)
{
    if (text->failed)
        return;
    uint8_t head[TW_VARINT_MAX];
    size_t size = text->size - start, count = tw__varint_put(head, size);
    if (count > 1) {
        tw__text_bytes(text, head, count - 1);
        if (text->failed)
            return;
        memmove(text->data + start + count - 1, text->data + start, size);
    }
    memcpy(text->data + start - 1, head, count);
}
