/* Bytes to plain values and back: little-endian integers, varints, protobuf's wire format, CRC-32C, snappy, JSON text.
 *
 * Readers take a pointer and a size and never look behind it. They say by their result that the bytes make no sense; the
 * caller, who knows the file, sets the error. Writers append to a tw__text, whose `failed` says at the end that memory ran out.
 */
#ifndef TW_CODEC_H
#define TW_CODEC_H

#include "base/base.h"

/* ---- little-endian integers ---- */
static inline uint32_t tw__get32(const void *data)
{
    const uint8_t *bytes = data;
    return bytes[0] | (uint32_t)bytes[1] << 8 | (uint32_t)bytes[2] << 16 | (uint32_t)bytes[3] << 24;
}

static inline uint64_t tw__get64(const void *data)
{
    return tw__get32(data) | (uint64_t)tw__get32((const uint8_t *)data + 4) << 32;
}

static inline void tw__put32(void *data, uint32_t value)
{
    uint8_t *bytes = data;
    for (int i = 0; i < 4; i++)
        bytes[i] = (uint8_t)(value >> 8 * i);
}

static inline void tw__put64(void *data, uint64_t value)
{
    tw__put32(data, (uint32_t)value);
    tw__put32((uint8_t *)data + 4, (uint32_t)(value >> 32));
}

/* Turns the bytes of each number of `unit` bytes around: from one byte order to the other. */
static inline void tw__swap_bytes(void *data, size_t size, size_t unit)
{
    uint8_t *bytes = data;
    for (size_t at = 0; unit > 1 && at + unit <= size; at += unit) {
        for (size_t i = 0; i < unit / 2; i++) {
            uint8_t byte = bytes[at + i];
            bytes[at + i] = bytes[at + unit - 1 - i];
            bytes[at + unit - 1 - i] = byte;
        }
    }
}

/* ---- varints (proto.c) ---- */
#define TW_VARINT_MAX 10
size_t tw__varint_put(void *data, uint64_t value); /* room for TW_VARINT_MAX bytes; how many were used */
/* How many bytes the number took; 0 if it is cut off or has more than TW_VARINT_MAX. Bits beyond 64 do not count, as in protobuf.
 */
size_t tw__varint_get(const void *data, size_t size, uint64_t *value);
void tw__varint_add(tw__text *text, uint64_t value);

/* ---- protobuf (proto.c) ---- */
typedef enum tw__wire {
    TW_WIRE_VARINT = 0,
    TW_WIRE_FIXED64 = 1,
    TW_WIRE_BYTES = 2,
    TW_WIRE_FIXED32 = 5,
} tw__wire;

typedef struct tw__proto {
    const uint8_t *at, *end;
    bool failed; /* the bytes are not a message */
} tw__proto;

typedef struct tw__proto_field {
    uint32_t number;
    tw__wire wire;
    uint64_t value;      /* of the wires that are numbers */
    const uint8_t *data; /* of bytes, which stay the message's */
    size_t size;
} tw__proto_field;

tw__proto tw__proto_read(const void *data, size_t size);
/* The next field; false at the end and at bytes that make no sense, which `failed` tells apart. Groups are passed over. */
bool tw__proto_next(tw__proto *proto, tw__proto_field *field);
static inline tw__proto tw__proto_nested(const tw__proto_field *field)
{
    return tw__proto_read(field->data, field->size);
}

void tw__proto_add_varint(tw__text *text, uint32_t number, uint64_t value);
void tw__proto_add_fixed32(tw__text *text, uint32_t number, uint32_t value);
void tw__proto_add_fixed64(tw__text *text, uint32_t number, uint64_t value);
void tw__proto_add_bytes(tw__text *text, uint32_t number, const void *data, size_t size); /* also strings and messages */

/* ---- CRC-32C (crc32c.c) ---- */
uint32_t tw__crc32c_extend(uint32_t crc, const void *data,
                           size_t size); /* of what `crc` is of, followed by data; 0 is of nothing */
/* Of A followed by B, from the checksums of both. */
uint32_t tw__crc32c_combine(uint32_t a, uint32_t b, uint64_t size_of_b);
uint32_t tw__crc32c_portable(uint32_t crc, const void *data, size_t size); /* what a machine without the instruction uses */

static inline uint32_t tw__crc32c(const void *data, size_t size)
{
    return tw__crc32c_extend(0, data, size);
}

/* Checksums are stored masked, so that a checksum of bytes that hold checksums stays a good one. */
static inline uint32_t tw__crc32c_mask(uint32_t crc)
{
    return (crc >> 15 | crc << 17) + 0xa282ead8u;
}

static inline uint32_t tw__crc32c_unmask(uint32_t masked)
{
    uint32_t turned = masked - 0xa282ead8u;
    return turned >> 17 | turned << 15;
}

/* ---- snappy blocks (snappy.c) ---- */
bool tw__snappy_size(const void *data, size_t size, size_t *out_size); /* of the decompressed bytes, as the block claims */
bool tw__snappy_decode(const void *data, size_t size, void *out, size_t out_size); /* out_size: as tw__snappy_size says */

/* ---- hashes (digest.c) ---- */
typedef struct tw__digest {
    bool sha256; /* else MD5 */
    uint32_t state[8], constants[64];
    uint64_t size; /* bytes so far */
    uint8_t block[64];
} tw__digest;
void tw__digest_begin(tw__digest *digest, bool sha256);
void tw__digest_add(tw__digest *digest, const void *data, size_t size);
void tw__digest_end(tw__digest *digest, char text[65]); /* hexadecimal, small letters */

/* ---- deflate (inflate.c) ---- */
typedef enum tw__deflated { TW_DEFLATED_RAW = -15, TW_DEFLATED_ZLIB = 15, TW_DEFLATED_GZIP = 31 } tw__deflated;
/* Decompresses into exactly out_size bytes; false if these are not the bytes (or memory ran out: then the error is set). */
bool tw__inflate(const void *data, size_t size, tw__deflated kind, void *out, size_t out_size);
/* Appends what the bytes make, however much that is; false as above. */
bool tw__inflate_all(const void *data, size_t size, tw__deflated kind, tw__text *out);
/* The most that `size` compressed bytes can make; a claim beyond it is nonsense. */
static inline uint64_t tw__inflate_limit(size_t size)
{
    return (uint64_t)size * 1040 + 64;
}

/* ---- JSON text (json.c) ---- */
/* Writes one value; commas come by themselves. Inside an object every value follows a key. */
typedef struct tw__json {
    tw__text *text;
    bool follows; /* a comma is due before the next value */
    bool (*write)(void *context, const char *text,
                  size_t size); /* takes what was written so far, now and then; NULL: it is kept */
    void *context;
} tw__json;
void tw__json_begin(tw__json *json, char bracket); /* '{' or '[' */
void tw__json_end(tw__json *json, char bracket);   /* '}' or ']' */
void tw__json_key(tw__json *json, const char *key);
void tw__json_string(tw__json *json, const void *data, size_t size); /* bytes that are not UTF-8 become U+FFFD */
void tw__json_integer(tw__json *json, int64_t value);
void tw__json_unsigned(tw__json *json, uint64_t value);
void tw__json_number(tw__json *json, double value); /* "NaN", "Infinity", "-Infinity" as strings */
void tw__json_bool(tw__json *json, bool value);
void tw__json_null(tw__json *json);
void tw__json_raw(tw__json *json, const char *text); /* a value that is JSON already */

#endif
