/* Varints, protobuf, checksums, snappy, deflate and JSON, on known values and on nonsense. */
#include "test.h"

#include <zlib.h>

#include "codec/codec.h"

static uint32_t seed = 1;

static uint32_t random_number(void)
{
    seed = seed * 1664525u + 1013904223u;
    return seed >> 8;
}

static void reads_back_varints(void **state)
{
    (void)state;
    uint64_t values[] = { 0, 1, 127, 128, 300, 16383, 16384, UINT32_MAX, (uint64_t)1 << 62, UINT64_MAX };
    uint8_t bytes[TW_VARINT_MAX + 1];
    uint64_t value;
    for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
        size_t size = tw__varint_put(bytes, values[i]);
        assert_int_equal(tw__varint_get(bytes, sizeof bytes, &value), size);
        assert_true(value == values[i]);
        for (size_t cut = 0; cut < size; cut++)
            assert_int_equal(tw__varint_get(bytes, cut, &value), 0);
    }
    assert_int_equal(tw__varint_put(bytes, UINT64_MAX), 10);
    memset(bytes, 0xff, sizeof bytes);
    assert_int_equal(tw__varint_get(bytes, sizeof bytes, &value), 0);
    bytes[9] = 2; /* the 65th bit does not count */
    assert_int_equal(tw__varint_get(bytes, sizeof bytes, &value), 10);
    assert_true(value == INT64_MAX);
}

static void walks_messages(void **state)
{
    (void)state;
    tw__text text = { 0 };
    tw__proto_field field;
    tw__proto_add_varint(&text, 1, 300);
    tw__proto_add_fixed32(&text, 6, 0xdeadbeef);
    tw__text_bytes(&text, "\x1b\x08\x05\x23\x24\x1c", 6); /* group 3 {1: 5, group 4 {}} */
    tw__proto_add_bytes(&text, 2, "abc", 3);
    tw__proto_add_fixed64(&text, 1000, 7);
    tw__proto proto = tw__proto_read(text.data, text.size);
    assert_true(tw__proto_next(&proto, &field));
    assert_int_equal(field.number, 1);
    assert_int_equal(field.value, 300);
    assert_true(tw__proto_next(&proto, &field));
    assert_int_equal(field.value, 0xdeadbeef);
    assert_true(tw__proto_next(&proto, &field));
    assert_int_equal(field.number, 2);
    assert_int_equal(field.size, 3);
    assert_memory_equal(field.data, "abc", 3);
    assert_true(tw__proto_next(&proto, &field));
    assert_int_equal(field.number, 1000);
    assert_int_equal(field.wire, TW_WIRE_FIXED64);
    assert_false(tw__proto_next(&proto, &field));
    assert_false(proto.failed);
    tw__text_free(&text);
    proto = tw__proto_read(NULL, 0);
    assert_false(tw__proto_next(&proto, &field));
    assert_false(proto.failed);
}

static void refuses_broken_messages(void **state)
{
    (void)state;
    static const struct {
        const char *bytes;
        size_t size;
    } broken[] = { { "\x08", 1 },       { "\x08\x80", 2 },     { "\x00\x01", 2 }, { "\x0c", 1 }, { "\x0a\x05hell", 6 },
                   { "\x0d\0\0\0", 4 }, { "\x09\0\0\0\0", 5 }, { "\x0e\x01", 2 }, { "\x1b", 1 }, { "\x1b\x24", 2 } };
    tw__proto_field field;
    for (size_t i = 0; i < sizeof broken / sizeof *broken; i++) {
        tw__proto proto = tw__proto_read(broken[i].bytes, broken[i].size);
        assert_false(tw__proto_next(&proto, &field));
        assert_true(proto.failed);
    }
    char deep[1000];
    memset(deep, 0x1b, sizeof deep);
    tw__proto proto = tw__proto_read(deep, sizeof deep);
    assert_false(tw__proto_next(&proto, &field));
    assert_true(proto.failed);
    for (int round = 0; round < 20000; round++) {
        uint8_t noise[24];
        for (size_t i = 0; i < sizeof noise; i++)
            noise[i] = (uint8_t)random_number();
        proto = tw__proto_read(noise, sizeof noise);
        while (tw__proto_next(&proto, &field))
            assert_true(field.wire != TW_WIRE_BYTES || field.data + field.size <= noise + sizeof noise);
    }
}

static void computes_checksums(void **state)
{
    (void)state;
    uint8_t bytes[32];
    assert_int_equal(tw__crc32c("", 0), 0);
    assert_int_equal(tw__crc32c("a", 1), 0xc1d04330);
    assert_int_equal(tw__crc32c("123456789", 9), 0xe3069283);
    memset(bytes, 0, 32);
    assert_int_equal(tw__crc32c(bytes, 32), 0x8a9136aa);
    memset(bytes, 0xff, 32);
    assert_int_equal(tw__crc32c(bytes, 32), 0x62a8ab43);
    for (int i = 0; i < 32; i++)
        bytes[i] = (uint8_t)i;
    assert_int_equal(tw__crc32c(bytes, 32), 0x46dd794e);
    assert_int_equal(tw__crc32c_mask(0xe3069283), 0xc78ab0e5);
    assert_int_equal(tw__crc32c_unmask(0xc78ab0e5), 0xe3069283);
    assert_int_equal(tw__crc32c_mask(0), 0xa282ead8);
    enum { SIZE = 40000 };
    uint8_t *data = malloc(SIZE);
    for (int i = 0; i < SIZE; i++)
        data[i] = (uint8_t)random_number();
    for (int round = 0; round < 3000; round++) {
        size_t from = random_number() % 64, size = round < 2000 ? (size_t)round : random_number() % (SIZE - 64);
        size_t cut = random_number() % (size + 1);
        uint32_t whole = tw__crc32c_portable(0, data + from, size);
        assert_int_equal(tw__crc32c(data + from, size), whole);
        uint32_t first = tw__crc32c(data + from, cut), second = tw__crc32c(data + from + cut, size - cut);
        assert_int_equal(tw__crc32c_extend(first, data + from + cut, size - cut), whole);
        assert_int_equal(tw__crc32c_combine(first, second, size - cut), whole);
    }
    free(data);
}

static void decompresses_snappy(void **state)
{
    (void)state;
    char out[64];
    size_t size;
    assert_true(tw__snappy_size("\x09\x20Wikipedia", 11, &size));
    assert_int_equal(size, 9);
    assert_true(tw__snappy_decode("\x09\x20Wikipedia", 11, out, 9));
    assert_memory_equal(out, "Wikipedia", 9);
    assert_true(tw__snappy_decode("\x0a\x00z\x22\x01\x00", 6, out, 10)); /* a copy that overlaps itself */
    assert_memory_equal(out, "zzzzzzzzzz", 10);
    assert_true(tw__snappy_decode("\x06\x04xy\x01\x02", 6, out, 6));
    assert_memory_equal(out, "xyxyxy", 6);
    assert_true(tw__snappy_decode("\x05\x00k\x0f\x01\x00\x00\x00", 8, out, 5));
    assert_memory_equal(out, "kkkkk", 5);
    assert_false(tw__snappy_decode("\x06\x04xy\x01\x03", 6, out, 6)); /* before the beginning */
    assert_false(tw__snappy_decode("\x06\x04xy\x01\x00", 6, out, 6)); /* offset 0 */
    assert_false(tw__snappy_decode("\x05\x04xy\x01\x02", 6, out, 5)); /* too long */
    assert_false(tw__snappy_decode("\x07\x04xy\x01\x02", 6, out, 7)); /* too short */
    assert_false(tw__snappy_decode("\x06\x04xy\x01", 5, out, 6));     /* cut off */
    assert_false(tw__snappy_decode("\x06\x14xy", 4, out, 6));
    assert_false(tw__snappy_size("\xff\xff\xff\xff\xff", 5, &size));
    assert_false(tw__snappy_size("\xff\xff\xff\xff\x0f", 5, &size)); /* 4 GB from nothing */
    for (int round = 0; round < 50000; round++) {
        uint8_t noise[20];
        for (size_t i = 0; i < sizeof noise; i++)
            noise[i] = (uint8_t)random_number();
        noise[0] &= 0x3f;
        if (tw__snappy_size(noise, sizeof noise, &size))
            (void)tw__snappy_decode(noise, sizeof noise, out, size);
    }
}

static void inflates(void **state)
{
    (void)state;
    uint8_t plain[5000], packed[6000], out[5001];
    for (size_t i = 0; i < sizeof plain; i++)
        plain[i] = (uint8_t)(i % 7 * i);
    uLongf size = sizeof packed;
    assert_int_equal(compress(packed, &size, plain, sizeof plain), Z_OK);
    assert_true(tw__inflate(packed, size, TW_DEFLATED_ZLIB, out, sizeof plain));
    assert_memory_equal(out, plain, sizeof plain);
    assert_false(tw__inflate(packed, size, TW_DEFLATED_ZLIB, out, sizeof plain - 1));
    assert_false(tw__inflate(packed, size, TW_DEFLATED_ZLIB, out, sizeof plain + 1));
    assert_false(tw__inflate(packed, size, TW_DEFLATED_GZIP, out, sizeof plain));
    for (size_t cut = 0; cut < size; cut++)
        assert_false(tw__inflate(packed, cut, TW_DEFLATED_ZLIB, out, sizeof plain));
    for (size_t bit = 0; bit < 8 * size; bit++) {
        packed[bit / 8] ^= (uint8_t)(1 << bit % 8);
        if (tw__inflate(packed, size, TW_DEFLATED_ZLIB, out, sizeof plain))
            assert_memory_equal(out, plain, sizeof plain);
        packed[bit / 8] ^= (uint8_t)(1 << bit % 8);
    }
    tw__alloc_fail_at(1);
    assert_false(tw__inflate(packed, size, TW_DEFLATED_ZLIB, out, sizeof plain));
    tw__alloc_fail_at(0);
    expect_error(TW_RESOURCE_EXHAUSTED, "");
}

static void writes_json(void **state)
{
    (void)state;
    tw__text text = { 0 };
    tw__json json = { .text = &text };
    tw__json_begin(&json, '{');
    tw__json_key(&json, "a\"b");
    tw__json_begin(&json, '[');
    tw__json_integer(&json, -3);
    tw__json_unsigned(&json, UINT64_MAX);
    tw__json_number(&json, 0.1);
    tw__json_number(&json, 1e300);
    tw__json_number(&json, -__builtin_inf());
    tw__json_end(&json, ']');
    tw__json_key(&json, "s");
    tw__json_string(&json, "\xc3\xa9\xff\n\x01\\\xed\xa0\x80", 9);
    tw__json_key(&json, "o");
    tw__json_begin(&json, '{');
    tw__json_end(&json, '}');
    tw__json_key(&json, "t");
    tw__json_bool(&json, true);
    tw__json_key(&json, "n");
    tw__json_null(&json);
    tw__json_end(&json, '}');
    assert_string_equal(text.data,
                        "{\"a\\\"b\": [-3, 18446744073709551615, 0.1, 1e+300, \"-Infinity\"], "
                        "\"s\": \"\xc3\xa9\\ufffd\\n\\u0001\\\\\\ufffd\\ufffd\\ufffd\", \"o\": {}, \"t\": true, \"n\": null}");
    tw__text_free(&text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_back_varints), cmocka_unit_test(walks_messages),      cmocka_unit_test(refuses_broken_messages),
        cmocka_unit_test(computes_checksums), cmocka_unit_test(decompresses_snappy), cmocka_unit_test(inflates),
        cmocka_unit_test(writes_json),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
