/* Tables: round trips over several blocks, order, look-up, and the bytes of small ones. */
#include "test.h"

#include <unistd.h>

#include "codec/codec.h"
#include "format/format.h"

static char path[64];

static int make_path(void **state)
{
    (void)state;
    setenv("THALWEG_FSYNC", "0", 1);
    strcpy(path, "/tmp/thalweg-table-XXXXXX");
    int descriptor = mkstemp(path);
    return descriptor < 0 ? -1 : close(descriptor);
}

static int remove_path(void **state)
{
    (void)state;
    return unlink(path);
}

static size_t make_key(int i, char *key)
{
    return (size_t)sprintf(key, "layer_%05d/kernel", i);
}

static void write_numbered(int count, size_t value_size)
{
    tw__file_writer *file = tw__file_create(path);
    tw__table_writer *table = tw__table_create(file);
    char key[64], *value = calloc(1, value_size + 1);
    for (int i = 0; i < count; i++) {
        memset(value, i % 251, value_size);
        assert_int_equal(tw__table_add(table, key, make_key(i, key), value, value_size), TW_OK);
    }
    free(value);
    assert_int_equal(tw__table_finish(table), TW_OK);
    assert_int_equal(tw__file_commit(file), TW_OK);
}

static void comes_back(void **state)
{
    (void)state;
    static const int counts[] = { 0, 1, 16, 17, 100, 3000 };
    for (size_t c = 0; c < sizeof counts / sizeof *counts; c++) {
        tw__table table;
        tw__table_cursor cursor;
        char key[64];
        write_numbered(counts[c], 400);
        assert_int_equal(tw__table_open(&table, path), TW_OK);
        tw__table_begin(&cursor, &table);
        for (int i = 0; i < counts[c]; i++) {
            assert_true(tw__table_next(&cursor));
            assert_int_equal(cursor.key.size, make_key(i, key));
            assert_memory_equal(cursor.key.data, key, cursor.key.size);
            assert_int_equal(cursor.value_size, 400);
            assert_int_equal(cursor.value[399], i % 251);
        }
        assert_false(tw__table_next(&cursor));
        assert_int_equal(cursor.status, TW_OK);
        tw__table_end(&cursor);
        if (counts[c] == 3000) {
            tw__table_begin(&cursor, &table);
            assert_true(tw__table_seek(&cursor, key, make_key(2500, key)));
            assert_int_equal(cursor.value[0], 2500 % 251);
            assert_false(tw__table_seek(&cursor, "z", 1));
            assert_int_equal(cursor.status, TW_OK);
            tw__table_end(&cursor);
        }
        tw__table_close(&table);
    }
}

static void stores_the_empty_table(void **state)
{
    (void)state;
    size_t size;
    write_numbered(0, 0);
    uint8_t *data = (uint8_t *)tw__file_read_all(path, 1000, &size);
    assert_int_equal(size, 13 + 13 + 48);
    assert_memory_equal(data, "\0\0\0\0\1\0\0\0\0\xc0\xf2\xa1\xb0", 13);
    assert_memory_equal(data + size - 8, "\x57\xfb\x80\x8b\x24\x75\x47\xdb", 8);
    tw__free(data);
}

static void refuses_what_is_no_table(void **state)
{
    (void)state;
    tw__table table;
    FILE *file = fopen(path, "wb");
    fputs("short", file);
    fclose(file);
    assert_int_equal(tw__table_open(&table, path), TW_DATA_LOSS);
    expect_error(TW_DATA_LOSS, "file is too short to be an sstable");
    file = fopen(path, "wb");
    fprintf(file, "%060d", 7);
    fclose(file);
    assert_int_equal(tw__table_open(&table, path), TW_DATA_LOSS);
    expect_error(TW_DATA_LOSS, "not an sstable (bad magic number)");
    write_numbered(5, 10);
    file = fopen(path, "r+b");
    fseek(file, 20, SEEK_SET);
    fputc('!', file);
    fclose(file);
    tw__table_cursor cursor;
    assert_int_equal(tw__table_open(&table, path), TW_OK);
    tw__table_begin(&cursor, &table);
    assert_false(tw__table_next(&cursor));
    assert_int_equal(cursor.status, TW_DATA_LOSS);
    assert_non_null(strstr(tw_error_message(), "block checksum mismatch"));
    tw_clear_error();
    tw__table_end(&cursor);
    tw__table_close(&table);
}

static void wants_ascending_keys(void **state)
{
    (void)state;
    tw__file_writer *file = tw__file_create(path);
    tw__table_writer *table = tw__table_create(file);
    assert_int_equal(tw__table_add(table, "b", 1, "", 0), TW_OK);
    assert_int_equal(tw__table_add(table, "b", 1, "", 0), TW_INTERNAL);
    tw_clear_error();
    assert_int_equal(tw__table_add(table, "a", 1, "", 0), TW_INTERNAL);
    tw_clear_error();
    assert_int_equal(tw__table_add(table, "b\xff", 2, "", 0), TW_OK);
    tw__table_abandon(table);
    tw__file_abandon(file);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(comes_back),
        cmocka_unit_test(stores_the_empty_table),
        cmocka_unit_test(refuses_what_is_no_table),
        cmocka_unit_test(wants_ascending_keys),
    };
    return cmocka_run_group_tests(tests, make_path, remove_path);
}
