/* Bundles: files of TensorFlow read and written again byte for byte, errors, damage, failing memory and disk. The data and the
 * listings of its values are made by tests/golden/checkpoint.py. */
#include "test.h"

#include <sys/stat.h>
#include <unistd.h>

#include "codec/codec.h"
#include "format/format.h"
#include "scratch.h"

#define GOLDEN TW_TEST_DATA "/golden/checkpoint/"

static void copy_file(const char *from, const char *to)
{
    size_t size;
    char *data = tw__file_read_all(from, SIZE_MAX / 4, &size);
    assert_non_null(data);
    FILE *file = fopen(to, "wb");
    assert_int_equal(fwrite(data, 1, size, file), size);
    fclose(file);
    tw__free(data);
}

/* The bytes of a tensor as the listings show them. */
static char *hex_of(const tw_tensor *tensor)
{
    tw__text bytes = { 0 }, hex = { 0 };
    if (tensor->dtype == TW_STRING) {
        for (int64_t i = 0; i < tensor->count; i++) {
            tw_string string = tw_tensor_string_at(tensor, i);
            tw__text_format(&bytes, "%zu:", string.size);
            tw__text_bytes(&bytes, string.data, string.size);
        }
    } else {
        tw__text_bytes(&bytes, tensor->data, tw_tensor_bytes(tensor));
    }
    for (size_t i = 0; i < bytes.size; i++)
        tw__text_format(&hex, "%02x", (unsigned char)bytes.data[i]);
    if (hex.size == 0)
        tw__text_add(&hex, "-");
    tw__text_free(&bytes);
    return tw__text_take(&hex);
}

/* Reads the bundle and compares it with the listing. With `lenient`, tensors that fail to be read are passed over: what is read
 * must still be right. Returns how many agreed. */
static int compare_with_listing(const char *prefix, const char *listing_path, bool lenient)
{
    int agreed = 0;
    tw__bundle_reader *reader = tw__bundle_open(prefix);
    if (!reader) {
        assert_true(lenient);
        assert_int_not_equal(tw_error_code(), TW_OK);
        tw_clear_error();
        return 0;
    }
    char *listing = tw__file_read_all(listing_path, 1 << 20, NULL), *rest = listing, *line;
    assert_non_null(listing);
    while ((line = strsep(&rest, "\n")) && *line) {
        char *key = strsep(&line, " "), *dtype = strsep(&line, " "), *shape = strsep(&line, " ");
        char *space;
        while ((space = strstr(key, "\\040"))) {
            *space = ' ';
            memmove(space + 1, space + 4, strlen(space + 4) + 1);
        }
        tw_tensor *tensor = tw__bundle_read(reader, key);
        if (!tensor) {
            if (!lenient)
                print_error("%s: %s\n", key, tw_error_message());
            assert_true(lenient);
            assert_int_not_equal(tw_error_code(), TW_OK);
            tw_clear_error();
            continue;
        }
        char *hex = hex_of(tensor);
        assert_string_equal(hex, line);
        assert_string_equal(tw_dtype_name(tensor->dtype), dtype);
        assert_string_equal(tw__shape_text(&tensor->shape), shape);
        tw__free(hex);
        tw_release(tensor);
        agreed++;
    }
    tw__free(listing);
    tw__bundle_close(reader);
    return agreed;
}

static void reads_what_tensorflow_wrote(void **state)
{
    (void)state;
    assert_int_equal(compare_with_listing(GOLDEN "everything", GOLDEN "everything.txt", false), 29);
    assert_int_equal(compare_with_listing(GOLDEN "mlp", GOLDEN "mlp.txt", false), 15);
    assert_int_equal(compare_with_listing(GOLDEN "shards", GOLDEN "shards.txt", false), 4);
    assert_int_equal(compare_with_listing(GOLDEN "many", GOLDEN "many.txt", false), 10);
    assert_int_equal(compare_with_listing(GOLDEN "sliced", GOLDEN "sliced.txt", false), 2);
    assert_int_equal(compare_with_listing(GOLDEN "snappy", GOLDEN "snappy.txt", false), 12);
    assert_int_equal(compare_with_listing(GOLDEN "big_endian", GOLDEN "big_endian.txt", false), 3);
}

static void reads_slices_at_large_offsets(void **state)
{
    (void)state;
    tw__bundle_reader *reader = tw__bundle_open(GOLDEN "sliced");
    assert_non_null(reader);
    assert_int_equal(tw__bundle_count(reader), 3); /* the slices themselves are not listed */
    tw_tensor *wide = tw__bundle_read(reader, "wide");
    assert_non_null(wide);
    assert_int_equal(wide->count, 73000);
    for (int i = 0; i < 73000; i++)
        assert_int_equal(((int8_t *)wide->data)[i], i < 70000 ? i % 100 : (i - 70000) % 7);
    tw_release(wide);
    tw__bundle_close(reader);
}

static int by_offset(const void *a, const void *b)
{
    int64_t first = (*(const tw__bundle_entry *const *)a)->offset, second = (*(const tw__bundle_entry *const *)b)->offset;
    int64_t first_size = (*(const tw__bundle_entry *const *)a)->size, second_size = (*(const tw__bundle_entry *const *)b)->size;
    if (first != second)
        return first < second ? -1 : 1;
    return first_size < second_size ? -1 : first_size > second_size; /* empty tensors come before what begins where they are */
}

static tw_status write_again(const char *from, const char *to)
{
    tw__bundle_reader *reader = tw__bundle_open(from);
    if (!reader)
        return tw__error_status();
    tw__bundle_writer *writer = tw__bundle_create(to);
    int64_t count = tw__bundle_count(reader);
    const tw__bundle_entry **entries = calloc((size_t)count, sizeof *entries);
    for (int64_t i = 0; i < count; i++)
        entries[i] = tw__bundle_entry_at(reader, i);
    qsort(entries, (size_t)count, sizeof *entries, by_offset);
    tw_status status = writer ? TW_OK : tw__error_status();
    for (int64_t i = 0; i < count && status == TW_OK; i++) {
        tw_tensor *tensor = tw__bundle_read(reader, entries[i]->key);
        status = tw__bundle_add(writer, entries[i]->key, tensor);
        tw_release(tensor);
    }
    if (status == TW_OK)
        status = tw__bundle_finish(writer);
    else
        tw__bundle_abandon(writer);
    free(entries);
    tw__bundle_close(reader);
    return status;
}

static void assert_same_file(const char *a, const char *b)
{
    size_t a_size, b_size;
    char *a_data = tw__file_read_all(a, SIZE_MAX / 4, &a_size), *b_data = tw__file_read_all(b, SIZE_MAX / 4, &b_size);
    assert_non_null(a_data);
    assert_non_null(b_data);
    assert_int_equal(a_size, b_size);
    assert_memory_equal(a_data, b_data, a_size);
    tw__free(a_data);
    tw__free(b_data);
}

static void writes_the_bytes_of_tensorflow(void **state)
{
    (void)state;
    static const char *const names[] = { "everything", "mlp", "many" };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char golden[200], golden_data[240], golden_index[240];
        snprintf(golden, sizeof golden, GOLDEN "%s", names[i]);
        snprintf(golden_data, sizeof golden_data, "%s.data-00000-of-00001", golden);
        snprintf(golden_index, sizeof golden_index, "%s.index", golden);
        /* three times: the place is free, taken, and taken again */
        for (int time = 0; time < 3; time++) {
            assert_int_equal(write_again(golden, in_scratch("copy")), TW_OK);
            assert_same_file(golden_data, in_scratch("copy.data-00000-of-00001"));
            assert_same_file(golden_index, in_scratch("copy.index"));
            assert_int_equal(count_files("", false), 2);
        }
    }
    count_files("", true);
}

static void tells_what_is_wrong(void **state)
{
    (void)state;
    float room[8];
    assert_null(tw__bundle_open(in_scratch("nothing")));
    expect_error(TW_NOT_FOUND, "Failed to find any matching files for");
    tw__bundle_reader *reader = tw__bundle_open(GOLDEN "shards");
    assert_null(tw__bundle_read(reader, "zz"));
    assert_int_equal(tw_error_code(), TW_NOT_FOUND);
    assert_string_equal(tw_error_message(), "Key zz not found in checkpoint");
    tw_clear_error();
    assert_int_equal(tw__bundle_read_into(reader, "a", TW_INT32, &TW_SHAPE(2), room), TW_INVALID_ARGUMENT);
    assert_string_equal(tw_error_message(), "tensor_name = a; expected dtype int32 does not equal original dtype float");
    tw_clear_error();
    assert_int_equal(tw__bundle_read_into(reader, "a", TW_FLOAT32, &TW_SHAPE(3), room), TW_INVALID_ARGUMENT);
    tw_clear_error();
    assert_int_equal(tw__bundle_read_into(reader, "a", TW_FLOAT32, &TW_SHAPE(2), room), TW_OK);
    assert_true(room[1] == 2.0f);
    tw__bundle_close(reader);
    reader = tw__bundle_open(GOLDEN "variant");
    assert_null(tw__bundle_read(reader, "it/.ATTRIBUTES/ITERATOR_STATE"));
    expect_error(TW_UNIMPLEMENTED, "ITERATOR_STATE");
    tw__bundle_close(reader);
    copy_file(GOLDEN "shards.index", in_scratch("s.index"));
    copy_file(GOLDEN "shards.data-00000-of-00002", in_scratch("s.data-00000-of-00002"));
    reader = tw__bundle_open(in_scratch("s")); /* a missing shard matters to its tensors alone */
    tw_tensor *tensor = tw__bundle_read(reader, "a");
    assert_non_null(tensor);
    tw_release(tensor);
    assert_null(tw__bundle_read(reader, "b"));
    expect_error(TW_NOT_FOUND, "s.data-00001-of-00002");
    tw__bundle_close(reader);
    count_files("", true);
}

/* Every truncation and every flipped bit of the index and the data. */
static void damage(const char *name, const char *shard)
{
    char path[200], listing[200];
    snprintf(listing, sizeof listing, GOLDEN "%s.txt", name);
    snprintf(path, sizeof path, GOLDEN "%s.index", name);
    copy_file(path, in_scratch("x.index"));
    char data_name[100];
    snprintf(data_name, sizeof data_name, "x.data-%s", shard);
    snprintf(path, sizeof path, GOLDEN "%s.data-%s", name, shard);
    copy_file(path, in_scratch(data_name));
    const char *const victims[] = { "x.index", data_name };
    for (int which = 0; which < 2; which++) {
        char victim[200];
        size_t size;
        snprintf(victim, sizeof victim, "%s", in_scratch(victims[which]));
        char *good = tw__file_read_all(victim, 1 << 20, &size);
        for (size_t bit = 0; bit < 8 * size; bit++) {
            good[bit / 8] ^= (char)(1 << bit % 8);
            FILE *file = fopen(victim, "r+b");
            fseek(file, (long)(bit / 8), SEEK_SET);
            fputc(good[bit / 8], file);
            fclose(file);
            compare_with_listing(in_scratch("x"), listing, true);
            good[bit / 8] ^= (char)(1 << bit % 8);
            file = fopen(victim, "r+b");
            fseek(file, (long)(bit / 8), SEEK_SET);
            fputc(good[bit / 8], file);
            fclose(file);
        }
        for (size_t cut = size; cut-- > 0;) {
            assert_int_equal(truncate(victim, (off_t)cut), 0);
            int agreed = compare_with_listing(in_scratch("x"), listing, true);
            if (which == 0)
                assert_int_equal(agreed, 0);
        }
        FILE *file = fopen(victim, "wb");
        fwrite(good, 1, size, file);
        fclose(file);
        tw__free(good);
    }
    count_files("", true);
}

static void survives_damage(void **state)
{
    (void)state;
    damage("big_endian", "00000-of-00001");
    damage("snappy", "00000-of-00001");
    damage("everything", "00000-of-00001");
}

/* Damage that the checksums do not show: the index says anything at all. */
static void survives_lies(void **state)
{
    (void)state;
    static const char *const names[] = { "everything", "sliced", "big_endian" };
    uint32_t seed = 1;
    for (size_t n = 0; n < sizeof names / sizeof *names; n++) {
        char path[200];
        size_t size;
        uint64_t data_end;
        snprintf(path, sizeof path, GOLDEN "%s.data-00000-of-00001", names[n]);
        copy_file(path, in_scratch("x.data-00000-of-00001"));
        snprintf(path, sizeof path, GOLDEN "%s.index", names[n]);
        uint8_t *good = (uint8_t *)tw__file_read_all(path, 1 << 20, &size), *bad = malloc(size);
        assert_true(tw__varint_get(good + size - 48, 40, &data_end) > 0); /* the one data block ends where the next begins */
        for (int round = 0; round < 2000; round++) {
            memcpy(bad, good, size);
            for (int change = 0; change <= round % 3; change++) {
                seed = seed * 1664525u + 1013904223u;
                size_t at = (seed >> 8) % (data_end - 5);
                bad[at] = seed & 64 ? (uint8_t)(seed >> 24) : bad[at] ^ (uint8_t)(1 << (seed & 7));
            }
            tw__put32(bad + data_end - 4, tw__crc32c_mask(tw__crc32c(bad, data_end - 4)));
            FILE *file = fopen(in_scratch("x.index"), "wb");
            fwrite(bad, 1, size, file);
            fclose(file);
            tw__bundle_reader *reader = tw__bundle_open(in_scratch("x"));
            assert_true(reader || tw_error_code() != TW_OK);
            tw_clear_error();
            for (int64_t i = 0; reader && i < tw__bundle_count(reader); i++) {
                tw_tensor *tensor = tw__bundle_read(reader, tw__bundle_entry_at(reader, i)->key);
                assert_true(tensor || tw_error_code() != TW_OK);
                tw_clear_error();
                tw_release(tensor);
            }
            tw__bundle_close(reader);
        }
        free(bad);
        tw__free(good);
    }
    count_files("", true);
}

static tw_tensor *numbered(float value)
{
    tw_tensor *tensor = tw_tensor_new(TW_FLOAT32, TW_SHAPE(20000), NULL);
    for (int i = 0; tensor && i < 20000; i++)
        ((float *)tensor->data)[i] = value;
    return tensor;
}

static tw_status save_value(float value, const char *prefix)
{
    tw__bundle_writer *writer = tw__bundle_create(prefix);
    tw_tensor *tensor = writer ? numbered(value) : NULL;
    tw_status status = tensor ? tw__bundle_add(writer, "value", tensor) : tw__error_status();
    tw_release(tensor);
    if (status == TW_OK)
        return tw__bundle_finish(writer);
    tw__bundle_abandon(writer);
    return status;
}

static float load_value(const char *prefix)
{
    tw__bundle_reader *reader = tw__bundle_open(prefix);
    tw_tensor *tensor = reader ? tw__bundle_read(reader, "value") : NULL;
    float value = tensor ? ((float *)tensor->data)[19999] : -1;
    tw_release(tensor);
    tw__bundle_close(reader);
    return value;
}

/* The n-th step or allocation of a save fails: the old value or the new one is there, the new one if the save said so. */
static void survives_failures(void **state)
{
    (void)state;
    for (int kind = 0; kind < 2; kind++) {
        void (*fail_at)(long) = kind ? tw__alloc_fail_at : tw__file_fail_at;
        setenv("THALWEG_FSYNC", kind ? "0" : "1", 1);
        for (int fresh = 0; fresh < 2; fresh++) {
            bool done = false;
            for (int n = 1; !done; n++) {
                const char *prefix = in_scratch("v");
                assert_int_equal(fresh ? (count_files("", true), TW_OK) : save_value(1, prefix), TW_OK);
                fail_at(n);
                tw_status status = save_value(2, prefix);
                done = status == TW_OK && n > 60;
                fail_at(0);
                tw_clear_error();
                float value = load_value(prefix);
                if (status == TW_OK)
                    assert_true(value == 2);
                else
                    assert_true(value == 2 || (fresh ? value == -1 : value == 1));
                tw_clear_error();
                assert_int_equal(save_value(3, prefix), TW_OK);
                assert_true(load_value(prefix) == 3);
                assert_int_equal(count_files("", false), 2);
            }
        }
    }
    setenv("THALWEG_FSYNC", "0", 1);
    for (int n = 1; n < 400; n++) {
        tw__alloc_fail_at(n);
        tw__bundle_reader *reader = tw__bundle_open(GOLDEN "everything");
        tw_tensor *tensor = reader ? tw__bundle_read(reader, "s/four") : NULL;
        tw__alloc_fail_at(0);
        assert_true(tensor || tw_error_code() == TW_RESOURCE_EXHAUSTED);
        tw_release(tensor);
        tw__bundle_close(reader);
        tw_clear_error();
    }
    count_files("", true);
}

static void refuses_bad_keys(void **state)
{
    (void)state;
    tw_tensor *tensor = tw_tensor_float(1);
    tw__bundle_writer *writer = tw__bundle_create(in_scratch("k"));
    assert_int_equal(tw__bundle_add(writer, "a", tensor), TW_OK);
    assert_int_equal(tw__bundle_add(writer, "a", tensor), TW_INVALID_ARGUMENT);
    assert_non_null(strstr(tw_error_message(), "duplicate key: a"));
    assert_int_equal(tw__bundle_finish(writer), TW_INVALID_ARGUMENT);
    tw_clear_error();
    writer = tw__bundle_create(in_scratch("k"));
    assert_int_equal(tw__bundle_add(writer, "", tensor), TW_INVALID_ARGUMENT);
    tw__bundle_abandon(writer);
    tw_clear_error();
    assert_null(tw__bundle_create("/tmp/"));
    tw_clear_error();
    writer = tw__bundle_create(in_scratch("k")); /* a bundle of nothing is one */
    assert_int_equal(tw__bundle_finish(writer), TW_OK);
    tw__bundle_reader *reader = tw__bundle_open(in_scratch("k"));
    assert_int_equal(tw__bundle_count(reader), 0);
    tw__bundle_close(reader);
    tw_release(tensor);
    assert_int_equal(count_files("", true), 2);
}

/* What processes that died left: temporaries without a lock, data that no index names. */
static void cleans_up_after_the_dead(void **state)
{
    (void)state;
    copy_file(GOLDEN "shards.index", in_scratch(".dead.data-00000-of-00001.thalweg-0123abcd"));
    copy_file(GOLDEN "shards.index", in_scratch("dead.data-00000-of-00001"));
    copy_file(GOLDEN "shards.index", in_scratch(".dead.index.thalweg-zzzzzzzz"));
    copy_file(GOLDEN "shards.index", in_scratch(".checkpoint.thalweg-00000000"));
    copy_file(GOLDEN "shards.index", in_scratch("v.data-00000-of-00002"));
    copy_file(GOLDEN "shards.index", in_scratch("other.data-00000-of-00001"));
    tw__file_writer *alive = tw__file_create(in_scratch("alive"));
    assert_int_equal(save_value(1, in_scratch("v")), TW_OK);
    assert_int_equal(count_files("", false), 4); /* the pair, `other`, and the temporary of the living */
    tw__file_abandon(alive);
    assert_int_equal(count_files("", true), 3);
}

static void reads_large_tensors(void **state)
{
    (void)state;
    const int64_t count = 1700001; /* several pieces and a bit */
    tw_tensor *tensor = tw_tensor_new(TW_INT32, TW_SHAPE(count), NULL);
    for (int64_t i = 0; i < count; i++)
        ((int32_t *)tensor->data)[i] = (int32_t)(i * 2654435761u);
    tw__bundle_writer *writer = tw__bundle_create(in_scratch("large"));
    assert_int_equal(tw__bundle_add(writer, "t", tensor), TW_OK);
    assert_int_equal(tw__bundle_finish(writer), TW_OK);
    tw__bundle_reader *reader = tw__bundle_open(in_scratch("large"));
    assert_int_equal(tw__bundle_find(reader, "t")->crc, tw__crc32c_mask(tw__crc32c(tensor->data, (size_t)count * 4)));
    tw_tensor *again = tw__bundle_read(reader, "t");
    assert_non_null(again);
    assert_memory_equal(again->data, tensor->data, (size_t)count * 4);
    tw_release(again);
    tw__bundle_close(reader);
    assert_int_equal(truncate(in_scratch("large.data-00000-of-00001"), 4000000), 0);
    reader = tw__bundle_open(in_scratch("large"));
    assert_null(tw__bundle_read(reader, "t"));
    expect_error(TW_DATA_LOSS, "");
    tw__bundle_close(reader);
    tw_release(tensor);
    count_files("", true);
}

int main(void)
{
    setenv("THALWEG_FSYNC", "0", 1);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_what_tensorflow_wrote),
        cmocka_unit_test(reads_slices_at_large_offsets),
        cmocka_unit_test(writes_the_bytes_of_tensorflow),
        cmocka_unit_test(tells_what_is_wrong),
        cmocka_unit_test(survives_damage),
        cmocka_unit_test(survives_lies),
        cmocka_unit_test(survives_failures),
        cmocka_unit_test(refuses_bad_keys),
        cmocka_unit_test(cleans_up_after_the_dead),
        cmocka_unit_test(reads_large_tensors),
    };
    return cmocka_run_group_tests(tests, make_scratch, remove_scratch);
}
