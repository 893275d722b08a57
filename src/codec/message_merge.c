/* Merging: a message that stands several times where one is meant is one message, as if its bytes followed each other.
 *
 * Readers hand out pieces of the bytes, so bytes with such messages are written anew before they are read. That is rare: usually
 * one walk finds that there is nothing to do. */
#include "codec/message.h"

enum { DEPTH_LIMIT = 100 }; /* of messages inside each other, as in protobuf */

static bool is_single(const tw__message_field *field)
{
    return field && field->type == TW_FIELD_MESSAGE && !field->repeated;
}

/* Damage is the readers' business. */
static bool stands_twice(const tw__message *type, tw_string bytes, int depth)
{
    uint64_t seen[(UINT8_MAX + 1) / 64] = { 0 };
    tw__proto proto = tw__proto_read(bytes.data, bytes.size);
    for (tw__proto_field f; tw__proto_next(&proto, &f);) {
        const tw__message_field *field = tw__message_field_of(type, &f);
        if (!field || field->type != TW_FIELD_MESSAGE)
            continue;
        size_t place = (size_t)(field - type->fields);
        if (is_single(field)) {
            if (seen[place / 64] >> place % 64 & 1)
                return true;
            seen[place / 64] |= (uint64_t)1 << place % 64;
        }
        if (depth < DEPTH_LIMIT && stands_twice(field->message, (tw_string){ (const char *)f.data, f.size }, depth + 1))
            return true;
    }
    return false;
}

static bool is_whole(tw_string bytes)
{
    tw__proto proto = tw__proto_read(bytes.data, bytes.size);
    for (tw__proto_field f; tw__proto_next(&proto, &f);)
        continue;
    return !proto.failed;
}

/* What was met of a single message, and how often it is still to come. */
typedef struct collected {
    tw__text bytes;
    size_t left;
} collected;

static void write_merged(tw__text *out, const tw__message *type, tw_string bytes, int depth);

static void write_message(tw__text *out, const tw__message_field *field, tw_string bytes, int depth)
{
    size_t start = tw__open(out, field->number);
    if (depth < DEPTH_LIMIT)
        write_merged(out, field->message, bytes, depth + 1);
    else
        tw__text_bytes(out, bytes.data, bytes.size);
    tw__close(out, start);
}

/* A single message is written where it stands last, so that of a oneof the last field stays the last. Another field of the oneof
 * drops what was there before. */
static void write_merged(tw__text *out, const tw__message *type, tw_string bytes, int depth)
{
    collected *all = tw__alloc_array((size_t)type->count + 1, sizeof *all);
    uint8_t present[UINT8_MAX + 1] = { 0 }; /* by oneof: the place of its field, from 1 */
    out->failed |= !all;
    tw__proto proto = tw__proto_read(bytes.data, bytes.size);
    for (tw__proto_field f; all && tw__proto_next(&proto, &f);) {
        const tw__message_field *field = tw__message_field_of(type, &f);
        if (is_single(field))
            all[field - type->fields].left++;
    }
    proto = tw__proto_read(bytes.data, bytes.size);
    const uint8_t *from = proto.at;
    for (tw__proto_field f; all && tw__proto_next(&proto, &f); from = proto.at) {
        const tw__message_field *field = tw__message_field_of(type, &f);
        tw_string part = { (const char *)f.data, f.size };
        if (field && field->oneof) {
            uint8_t place = (uint8_t)(field - type->fields + 1), *was = &present[field->oneof];
            if (*was && *was != place)
                tw__text_clear(&all[*was - 1].bytes);
            *was = place;
        }
        if (is_single(field)) {
            collected *one = &all[field - type->fields];
            if (!is_whole(part)) { /* what follows must not complete it */
                tw__text_clear(&one->bytes);
                part = (tw_string){ "", 1 };
            }
            tw__text_bytes(&one->bytes, part.data, part.size);
            out->failed |= one->bytes.failed;
            if (--one->left == 0)
                write_message(out, field, (tw_string){ one->bytes.data, one->bytes.size }, depth);
        } else if (field && field->type == TW_FIELD_MESSAGE) {
            write_message(out, field, part, depth);
        } else {
            tw__text_bytes(out, from, (size_t)(proto.at - from));
        }
    }
    if (proto.failed && all) /* so that the reader refuses it, too */
        tw__text_bytes(out, "", 1);
    for (size_t i = 0; all && i < type->count; i++)
        tw__text_free(&all[i].bytes);
    tw__free(all);
}

bool tw__message_merge(const tw__message *type, tw_string *bytes, char **owned)
{
    *owned = NULL;
    if (!stands_twice(type, *bytes, 0))
        return true;
    tw__text out = { 0 };
    write_merged(&out, type, *bytes, 0);
    size_t size = out.size;
    *owned = tw__text_take(&out);
    if (*owned)
        *bytes = (tw_string){ *owned, size };
    return *owned != NULL;
}
