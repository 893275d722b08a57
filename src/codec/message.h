/* Protobuf messages by tables. src/codec/messages.txt lists all messages; of each follow
 *
 *     tw__NodeDef               a struct: a number for each number, a tw_string for each string and message, a tw__many for what
 * is repeated (maps, too), and for each oneof `which_…`, the number of the field that is there tw__read_NodeDef          fills
 * the struct; everything points into the bytes, and what is not there has its default tw__put_NodeDef_name      appends the field
 * to a text tw__open_AttrValue_list   appends the beginning of a field whose bytes follow; tw__close ends it TW_NodeDef_name the
 * field's number tw__type_NodeDef          the table itself, for whoever handles all messages tw__NodeDef_attr          of maps:
 * the message of an entry, with key and value
 *
 * Reading goes one level deep: no input makes it recurse, and nothing is copied. Bytes that are no message are refused, and so is
 * a message that is there twice where one is meant: whoever gets bytes from outside makes one of them first (tw__message_merge).
 * Fields that a table lacks, and known ones of another wire, are passed over. */
#ifndef TW_MESSAGE_H
#define TW_MESSAGE_H

#include <thalweg/tensor.h>

#include "codec/codec.h"

typedef enum tw__field_type {
    TW_FIELD_INT32,
    TW_FIELD_INT64,
    TW_FIELD_UINT32,
    TW_FIELD_UINT64,
    TW_FIELD_SINT64,
    TW_FIELD_FIXED32,
    TW_FIELD_FIXED64,
    TW_FIELD_BOOL,
    TW_FIELD_FLOAT,
    TW_FIELD_DOUBLE,
    TW_FIELD_ENUM,
    TW_FIELD_STRING,
    TW_FIELD_BYTES,
    TW_FIELD_MESSAGE,
} tw__field_type;

enum { TW_ENTRY_KEY = 1, TW_ENTRY_VALUE = 2 }; /* of a map's entry */

typedef struct tw__enum_value {
    const char *name;
    int32_t number;
} tw__enum_value;
typedef struct tw__enum {
    const char *name;
    const tw__enum_value *values;
    size_t count;
} tw__enum;

typedef struct tw__message_field {
    const char *name;
    uint16_t number;
    uint8_t type;                      /* tw__field_type */
    bool repeated, map;                /* a map is a repeated message of `key` and `value` */
    uint8_t oneof;                     /* its place among the message's, from 1; 0: none */
    uint16_t offset, which;            /* in the struct: the value; of a oneof the number that is there */
    const struct tw__message *message; /* of messages; of maps the entry */
    const tw__enum *values;            /* of enums */
} tw__message_field;

typedef struct tw__message {
    const char *name;
    const tw__message_field *fields;
    const uint8_t *places;       /* number -> place among the fields, from 1 */
    const char *const *oneofs;   /* their names, up to NULL */
    const void *initial;         /* the struct of an empty message */
    uint16_t count, limit, size; /* of fields; of numbers; of the struct */
    bool entry;                  /* of a map */
} tw__message;

extern const tw__message
    *const tw__messages[]; /* all of them, as messages.txt lists them, up to NULL; a map's entry before its owner */
extern const tw__enum *const tw__enums[];
const tw__message *tw__message_named(const char *name, size_t size); /* "AttrValue.ListValue"; NULL: none */

tw__wire tw__field_wire(tw__field_type type);

/* ---- reading ---- */

/* The values of a repeated field: what stands between the first and the last of them. A copy is a cursor. */
typedef struct tw__many {
    const uint8_t *at, *end;
    uint32_t count; /* how often the field is there; of packed numbers, how many packs */
    uint16_t number;
    uint8_t type;
    bool failed; /* the bytes make no sense */
} tw__many;

/* The numbers of a repeated field, packed or one by one. */
typedef struct tw__numbers {
    tw__many many;
    const uint8_t *at, *end; /* of the pack */
} tw__numbers;

extern const char tw__absent[1]; /* where strings and messages point that are not there */
static inline bool tw__has(tw_string value)
{
    return value.data != tw__absent;
}

/* False: the bytes are no such message; the caller, who knows the file, sets the error. Each struct begins with
 * `uint32_t unknown`, the number of a field that the table lacks, or 0. */
bool tw__message_read(const tw__message *type, tw_string bytes, void *view);
/* The field of a number; NULL: the table has none, or not of that wire. */
const tw__message_field *tw__message_field_of(const tw__message *type, const tw__proto_field *f);
/* Makes one of messages that stand several times where one is meant, at every level, as protobuf does (message_merge.c). *owned:
 * the memory of the new bytes, for tw__free, or NULL if the bytes stay. False: an error is set. */
bool tw__message_merge(const tw__message *type, tw_string *bytes, char **owned);
/* All values of the field, also where one is meant: who merges messages reads each of them. */
tw__many tw__many_of(const tw__message *type, uint32_t number, tw_string bytes);
bool tw__next_bytes(tw__many *many, tw_string *value);                      /* of strings and messages */
bool tw__next_message(tw__many *many, const tw__message *type, void *view); /* false at the end, and at damage: see `failed` */
static inline tw__numbers tw__numbers_of(tw__many many)
{
    return (tw__numbers){ many, NULL, NULL };
}
bool tw__next_number(tw__numbers *numbers, uint64_t *bits); /* as the wire has it; integers are extended to 64 bits */
size_t tw__numbers_count(tw__many many, bool *good);

static inline float tw__float_of(uint64_t bits)
{
    uint32_t half = (uint32_t)bits;
    float value;
    memcpy(&value, &half, sizeof value);
    return value;
}

static inline double tw__double_of(uint64_t bits)
{
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static inline uint32_t tw__bits_of_float(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static inline uint64_t tw__bits_of_double(double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

/* for (TW_EACH(NodeDef, node, graph.node)) …, where graph.node is used up, and says afterwards whether it failed */
#define TW_EACH(type_, item_, many_) \
    tw__##type_ item_;               \
    tw__next_message(&(many_), &tw__type_##type_, &item_);

/* ---- writing ---- */

/* A field whose bytes are written after its head; tw__close puts the size where it belongs. */
size_t tw__open(tw__text *text, uint32_t number);
void tw__close(tw__text *text, size_t start);

/* ---- text (proto_text.c) ---- */

/* Appends the bytes of a message. NULL, or what is wrong at the line. */
const char *tw__message_from_text(tw__text *out, const tw__message *type, const char *text, size_t size, int *line);

/* ---- what messages.h is made of ---- */

#define TW_PUT(field_, c_type_, cast_, put_)                           \
    static inline void tw__put_##field_(tw__text *text, c_type_ value) \
    {                                                                  \
        tw__proto_add_##put_(text, TW_##field_, cast_);                \
    }
#define TW_PUT_BYTES(field_)                                                           \
    static inline void tw__put_##field_(tw__text *text, const void *data, size_t size) \
    {                                                                                  \
        tw__proto_add_bytes(text, TW_##field_, data, size);                            \
    }                                                                                  \
    static inline size_t tw__open_##field_(tw__text *text)                             \
    {                                                                                  \
        return tw__open(text, TW_##field_);                                            \
    }
#define TW_PUT_INTEGER(field_) TW_PUT(field_, int64_t, (uint64_t)value, varint)
#define TW_PUT_ZIGZAG(field_) TW_PUT(field_, int64_t, (uint64_t)value << 1 ^ (uint64_t)(value >> 63), varint)
#define TW_PUT_FIXED32(field_) TW_PUT(field_, uint32_t, value, fixed32)
#define TW_PUT_FIXED64(field_) TW_PUT(field_, uint64_t, value, fixed64)
#define TW_PUT_FLOAT(field_) TW_PUT(field_, float, tw__bits_of_float(value), fixed32)
#define TW_PUT_DOUBLE(field_) TW_PUT(field_, double, tw__bits_of_double(value), fixed64)

#include "messages.h" /* made by tools/make_messages.py */

#endif
