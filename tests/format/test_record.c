/* Records and event files: what is written is read again, TensorFlow's file (tests/golden/v1train_events.py) is read, damage is
 * found. */
#include "test.h"

#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "codec/codec.h"
#include "format/record/events.h"
#include "rows.h"
#include "scratch.h"

#define GOLDEN TW_TEST_DATA "/golden/v1train_events/events.tfevents"

static void write_file(const char *path, const void *data, size_t size)
{
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(data, 1, size, file), size);
    assert_int_equal(fclose(file), 0);
}

static void writes_and_reads(void **state)
{
    (void)state;
    const char *path = in_scratch("records");
    tw__record_writer *writer = tw__record_create(path, true);
    assert_non_null(writer);
    assert_null(tw__record_create(path, true));
    expect_error(TW_ALREADY_EXISTS, "records");
    assert_int_equal(tw__record_add(writer, "", 0), TW_OK);
    assert_int_equal(tw__record_flush(writer), TW_OK);
    assert_int_equal(tw__record_add(writer, "123456789", 9), TW_OK);

    tw__record_reader reader;
    assert_int_equal(tw__record_open(&reader, path), TW_OK);
    assert_true(tw__record_next(&reader));
    assert_int_equal(reader.size, 0);
    assert_false(tw__record_next(&reader)); /* the second one is not in the file yet */
    assert_int_equal(reader.status, TW_OK);
    assert_int_equal(tw__record_finish(writer), TW_OK);
    assert_true(tw__record_next(&reader));
    assert_int_equal(reader.size, 9);
    assert_memory_equal(reader.data, "123456789", 9);
    assert_false(tw__record_next(&reader));
    tw__record_close(&reader);

    size_t size;
    char *bytes = tw__file_read_all(path, 1000, &size);
    static const uint8_t empty[] = { 0, 0, 0, 0, 0, 0, 0, 0, 0x29, 0x03, 0x98, 0x07, 0xd8, 0xea, 0x82, 0xa2 };
    assert_int_equal(size, 16 + 25);
    assert_memory_equal(bytes, empty, sizeof empty);
    assert_int_equal(tw__get32(bytes + size - 4), 0xc78ab0e5u);
    tw__free(bytes);
    assert_int_equal(tw__record_open(&reader, in_scratch("nothing")), TW_NOT_FOUND);
    expect_error(TW_NOT_FOUND, "nothing");
}

/* Every cut ends cleanly or is a loss of data; every flipped bit is found. */
static void finds_damage(void **state)
{
    (void)state;
    size_t size;
    char *bytes = tw__file_read_all(GOLDEN, 100000, &size);
    assert_non_null(bytes);
    const char *path = in_scratch("damaged");
    size_t ends[16], records = 0;
    tw__record_reader reader;
    assert_int_equal(tw__record_open(&reader, GOLDEN), TW_OK);
    while (tw__record_next(&reader))
        ends[records++] = (size_t)reader.offset;
    assert_int_equal(reader.status, TW_OK);
    tw__record_close(&reader);
    assert_int_equal(records, 6);
    for (size_t cut = 0; cut < size; cut += 1 + cut / 40) {
        size_t whole = 0, found = 0;
        while (whole < records && ends[whole] <= cut)
            whole++;
        write_file(path, bytes, cut);
        assert_int_equal(tw__record_open(&reader, path), TW_OK);
        while (tw__record_next(&reader))
            found++;
        assert_int_equal(found, whole);
        bool head_only = cut - (whole ? ends[whole - 1] : 0) < 12;
        assert_int_equal(reader.status, head_only ? TW_OK : TW_DATA_LOSS);
        if (!head_only)
            expect_error(TW_DATA_LOSS, "truncated record at");
        tw__record_close(&reader);
    }
    for (size_t bit = 0; bit < 8 * size; bit += 37) {
        size_t found = 0, whole = 0;
        while (ends[whole] <= bit / 8)
            whole++;
        bytes[bit / 8] ^= (char)(1 << bit % 8);
        write_file(path, bytes, size);
        bytes[bit / 8] ^= (char)(1 << bit % 8);
        assert_int_equal(tw__record_open(&reader, path), TW_OK);
        while (tw__record_next(&reader))
            found++;
        assert_int_equal(found, whole);
        assert_int_equal(reader.status, TW_DATA_LOSS);
        expect_error(TW_DATA_LOSS, "corrupted record at");
        tw__record_close(&reader);
    }
    tw__free(bytes);
}

static const char *const packed_names[] = { "plain", "zlib", "gzip", "gzip9", "flushed" };

static char *golden_records(const char *name, size_t *size)
{
    char path[600];
    snprintf(path, sizeof path, TW_TEST_DATA "/golden/records/%s.tfrecord", name);
    char *bytes = tw__file_read_all(path, 100000, size);
    assert_non_null(bytes);
    return bytes;
}

/* TensorFlow's bytes for the same records and options (tests/golden/records.py). */
static void compresses(void **state)
{
    (void)state;
    for (int k = 0; k < 5; k++) {
        const char *path = in_scratch(packed_names[k]);
        tw_record_file *file = k == 0   ? tw_record_file(path)
                               : k == 1 ? tw_record_file(path, "ZLIB")
                               : k == 3 ? tw_record_file(path, "GZIP", .compression_level = 9)
                                        : tw_record_file(path, "GZIP");
        assert_non_null(file);
        char text[1000];
        for (int i = 0; i < 50; i++) {
            size_t size = 0;
            for (int n = 0; n < i; n++)
                size += (size_t)sprintf(text + size, "abc%d", i);
            tw_value record = { .kind = TW_VALUE_BYTES, .s = { text, size } };
            assert_int_equal(tw_record_file_write(file, record), TW_OK);
            if (k == 4 && (i == 20 || i == 30 || i == 31))
                assert_int_equal(tw_record_file_flush(file), TW_OK);
        }
        assert_int_equal(tw_record_file_close(file), TW_OK);
        assert_int_equal(tw_record_file_close(file), TW_OK);
        assert_int_equal(tw_record_file_flush(file), TW_FAILED_PRECONDITION);
        expect_error(TW_FAILED_PRECONDITION, "Writer is closed.");
        tw_release(file);
        size_t size, expected_size;
        char *bytes = tw__file_read_all(path, 100000, &size), *expected = golden_records(packed_names[k], &expected_size);
        assert_int_equal(size, expected_size);
        assert_memory_equal(bytes, expected, size);
        tw__free(bytes);
        tw__free(expected);

        tw__record_reader reader;
        tw__compression compression = k == 0 ? TW_COMPRESSION_NONE : k == 1 ? TW_COMPRESSION_ZLIB : TW_COMPRESSION_GZIP;
        assert_int_equal(tw__record_open_packed(&reader, path, compression), TW_OK);
        size_t count = 0;
        for (; tw__record_next(&reader); count++)
            assert_int_equal(reader.size, count * (count < 10 ? 4 : 5));
        assert_int_equal(reader.status, TW_OK);
        assert_int_equal(count, 50);
        tw__record_close(&reader);
    }
    assert_null(tw_record_file(in_scratch("x"), "FOO"));
    expect_error(TW_VALUE_ERROR, "Not a valid compression_type: \"FOO\"");
    assert_null(tw_record_file(in_scratch("none/x")));
    expect_error(TW_NOT_FOUND, "none/x; No such file or directory");
    assert_null(tw_record_file(in_scratch("x"), "GZIP", .window_bits = 99));
    expect_error(TW_INVALID_ARGUMENT, "deflate() failed");
    tw_record_file *file = tw_record_file(in_scratch("named.tfrecords/")); /* as TensorFlow does */
    assert_non_null(file);
    tw_release(file);
    assert_true(tw__path_exists(in_scratch("named.tfrecords")));
}

static size_t count_packed(const char *path, tw__compression compression, tw_status *status)
{
    tw__record_reader reader;
    size_t count = 0;
    assert_int_equal(tw__record_open_packed(&reader, path, compression), TW_OK);
    while (tw__record_next(&reader))
        count++;
    *status = reader.status;
    tw__record_close(&reader);
    return count;
}

static void finds_damage_in_compressed_files(void **state)
{
    (void)state;
    size_t size;
    tw_status status;
    char *bytes = golden_records("gzip", &size), twice[2000];
    const char *path = in_scratch("damaged.gz");
    memcpy(twice, bytes, size);
    memcpy(twice + size, bytes, size);
    write_file(path, twice, 2 * size); /* two members */
    assert_int_equal(count_packed(path, TW_COMPRESSION_GZIP, &status), 100);
    assert_int_equal(status, TW_OK);
    write_file(path, twice, size + 7); /* the second one is cut within its head */
    assert_int_equal(count_packed(path, TW_COMPRESSION_GZIP, &status), 50);
    assert_int_equal(status, TW_OK);
    memcpy(twice + size, "garbage", 7);
    write_file(path, twice, size + 7);
    assert_int_equal(count_packed(path, TW_COMPRESSION_GZIP, &status), 50);
    expect_error(TW_DATA_LOSS, "inflate() failed with error -3: incorrect header check");
    for (size_t cut = 0; cut < size; cut += 9) {
        write_file(path, bytes, cut);
        assert_true(count_packed(path, TW_COMPRESSION_GZIP, &status) <= 50);
        if (status != TW_OK)
            expect_error(TW_DATA_LOSS, "failed with EOF reached");
    }
    for (size_t bit = 0; bit < 8 * size; bit += 61) {
        bytes[bit / 8] ^= (char)(1 << bit % 8);
        write_file(path, bytes, size);
        bytes[bit / 8] ^= (char)(1 << bit % 8);
        assert_true(count_packed(path, TW_COMPRESSION_GZIP, &status) <= 50);
        assert_true(status == TW_OK || status == TW_DATA_LOSS);
        tw_clear_error();
    }
    for (long n = 1; n < 12; n++) {
        write_file(path, bytes, size);
        tw__record_reader reader;
        tw__alloc_fail_at(n);
        if (tw__record_open_packed(&reader, path, TW_COMPRESSION_GZIP) == TW_OK) {
            while (tw__record_next(&reader))
                ;
            tw__record_close(&reader);
        }
        tw__alloc_fail_at(0);
        assert_true(tw_error_code() == TW_OK || tw_error_code() == TW_RESOURCE_EXHAUSTED);
        tw_clear_error();
    }
    tw__free(bytes);
    bytes = golden_records("plain", &size);
    write_file(path, bytes, size);
    assert_int_equal(count_packed(path, TW_COMPRESSION_GZIP, &status), 0);
    expect_error(TW_DATA_LOSS, "inflate() failed with error -3: incorrect header check");
    tw__free(bytes);
}

/* The only file of the folder. */
static const char *only_file(const char *folder)
{
    static char path[600];
    DIR *listing = opendir(folder);
    struct dirent *entry;
    path[0] = 0;
    while (listing && (entry = readdir(listing))) {
        if (entry->d_name[0] != '.') {
            assert_int_equal(path[0], 0);
            snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
        }
    }
    if (listing)
        closedir(listing);
    return path[0] ? path : NULL;
}

/* The number of events that are complete; checks the first one. */
static int count_events(const char *path)
{
    tw__record_reader reader;
    int count = 0;
    assert_int_equal(tw__record_open(&reader, path), TW_OK);
    while (tw__record_next(&reader)) {
        tw__proto proto = tw__proto_read(reader.data, reader.size);
        tw__proto_field field;
        while (tw__proto_next(&proto, &field)) {
            if (count == 0 && field.number == TW_EVENT_FILE_VERSION)
                assert_memory_equal(field.data, "brain.Event:2", 13);
        }
        assert_false(proto.failed);
        count++;
    }
    assert_int_equal(reader.status, TW_OK);
    tw__record_close(&reader);
    return count;
}

static void writes_events(void **state)
{
    (void)state;
    const char *folder = in_scratch("log");
    tw_v1_file_writer *writer = tw_v1_file_writer(folder, .max_queue = 3, .filename_suffix = ".test");
    assert_non_null(writer);
    assert_null(only_file(folder));
    tw_value summary = { .kind = TW_VALUE_BYTES, .s = { "\x0a\x0b\x0a\x04loss\x15\0\0\0?", 13 } };
    assert_int_equal(tw_v1_file_writer_add_summary(writer, summary, 3), TW_OK);
    char path[600];
    snprintf(path, sizeof path, "%s", only_file(folder));
    assert_true(tw__ends_with(path, ".test"));
    assert_int_equal(count_events(path), 0);
    assert_int_equal(tw_v1_file_writer_add_summary(writer, summary, 4), TW_OK);
    assert_int_equal(tw_v1_file_writer_add_summary(writer, summary), TW_OK); /* the queue is full */
    assert_int_equal(count_events(path), 4);
    assert_int_equal(tw_v1_file_writer_add_event(writer, summary), TW_OK);
    assert_int_equal(tw_v1_file_writer_flush(writer), TW_OK);
    assert_int_equal(count_events(path), 5);

    /* What waits is written once, by the process that added it. */
    assert_int_equal(tw_v1_file_writer_add_summary(writer, summary, 5), TW_OK);
    pid_t child = fork();
    if (child == 0)
        exit(tw_v1_file_writer_flush(writer) == TW_OK ? 0 : 1);
    int result;
    waitpid(child, &result, 0);
    assert_int_equal(result, 0);
    assert_int_equal(count_events(path), 5);
    assert_int_equal(tw_v1_file_writer_close(writer), TW_OK);
    assert_int_equal(count_events(path), 6);
    assert_int_equal(tw_v1_file_writer_add_summary(writer, summary, 6), TW_OK); /* closed: nothing */
    assert_int_equal(count_events(path), 6);
    unlink(path);
    assert_int_equal(tw_v1_file_writer_reopen(writer), TW_OK);
    assert_int_equal(tw_v1_file_writer_add_summary(writer, summary, 6), TW_OK);
    tw_release(writer);
    snprintf(path, sizeof path, "%s", only_file(folder));
    assert_int_equal(count_events(path), 2);
    unlink(path);
    assert_int_equal(rmdir(folder), 0);

    write_file(in_scratch("file"), "", 0);
    assert_null(tw_v1_file_writer(in_scratch("file")));
    expect_error(TW_FAILED_PRECONDITION, "file");
}

static void survives_lack_of_memory(void **state)
{
    (void)state;
    const char *folder = in_scratch("log");
    tw_value summary = { .kind = TW_VALUE_BYTES, .s = { "\x0a\x0b\x0a\x04loss\x15\0\0\0?", 13 } };
    for (long n = 1; n < 40; n++) {
        tw__alloc_fail_at(n);
        tw_v1_file_writer *writer = tw_v1_file_writer(folder);
        tw_status status = writer ? tw_v1_file_writer_add_summary(writer, summary, 3) : TW_RESOURCE_EXHAUSTED;
        tw_release(writer);
        tw__alloc_fail_at(0);
        const char *path = only_file(folder);
        if (path) {
            assert_true(count_events(path) == (status == TW_OK ? 2 : 0) || status != TW_OK);
            unlink(path);
        }
        tw_clear_error();
    }
    rmdir(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(writes_and_reads), cmocka_unit_test(finds_damage),
        cmocka_unit_test(compresses),       cmocka_unit_test(finds_damage_in_compressed_files),
        cmocka_unit_test(writes_events),    cmocka_unit_test(survives_lack_of_memory),
    };
    return cmocka_run_group_tests(tests, make_scratch, remove_scratch);
}
