/* Files: paths, reading, and the atomic writer with a disk that fails at each step. */
#include "test.h"

#include <sys/stat.h>
#include <unistd.h>

#include "scratch.h"

static void assert_text(char *text, const char *expected)
{
    assert_non_null(text);
    assert_string_equal(text, expected);
    tw__free(text);
}

static void takes_paths_apart(void **state)
{
    (void)state;
    assert_text(tw__path_directory("a/b/c"), "a/b");
    assert_text(tw__path_directory("c"), "");
    assert_text(tw__path_directory("/c"), "/");
    assert_text(tw__path_directory("a//c"), "a");
    assert_text(tw__path_directory("a/"), "a");
    assert_text(tw__path_directory(""), "");
    assert_string_equal(tw__path_name("a/b/c"), "c");
    assert_string_equal(tw__path_name("c"), "c");
    assert_text(tw__path_join("a", "b"), "a/b");
    assert_text(tw__path_join("a/", "b"), "a/b");
    assert_text(tw__path_join("", "b"), "b");
    assert_text(tw__path_join("a", "/b"), "/b");
    assert_text(tw__path_join("a", ""), "a/");
}

static void makes_directories(void **state)
{
    (void)state;
    assert_int_equal(tw__make_directories(in_scratch("x/y//z/")), TW_OK);
    assert_int_equal(tw__make_directories(in_scratch("x/y/z")), TW_OK);
    assert_int_equal(tw__make_directories(""), TW_OK);
    assert_true(tw__path_exists(in_scratch("x/y/z")));
    assert_int_equal(tw__make_directories("/proc/nothing/here"), TW_NOT_FOUND);
    tw_clear_error();
    rmdir(in_scratch("x/y/z"));
    rmdir(in_scratch("x/y"));
    rmdir(in_scratch("x"));
}

static tw_status write_file(const char *path, size_t pieces, size_t piece_size, char fill)
{
    char *piece = malloc(piece_size);
    memset(piece, fill, piece_size);
    tw__file_writer *writer = tw__file_create(path);
    tw_status status = writer ? TW_OK : tw__error_status();
    for (size_t i = 0; i < pieces && status == TW_OK; i++)
        status = tw__file_write(writer, piece, piece_size);
    if (writer && status == TW_OK)
        assert_int_equal(tw__file_position(writer), pieces * piece_size);
    free(piece);
    if (status == TW_OK)
        return tw__file_commit(writer);
    tw__file_abandon(writer);
    return status;
}

static void writes_whole_files(void **state)
{
    (void)state;
    static const size_t sizes[][2] = { { 0, 1 }, { 1, 1 }, { 3, 1000 }, { 700, 1000 }, { 3, 300000 }, { 1, 32768 } };
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        size_t size;
        assert_int_equal(write_file(in_scratch("f"), sizes[i][0], sizes[i][1], 'q'), TW_OK);
        char *data = tw__file_read_all(in_scratch("f"), 1 << 24, &size);
        assert_non_null(data);
        assert_int_equal(size, sizes[i][0] * sizes[i][1]);
        for (size_t j = 0; j < size; j++)
            assert_int_equal(data[j], 'q');
        assert_int_equal(data[size], 0);
        tw__free(data);
        assert_int_equal(count_files("", false), 1);
    }
    struct stat status;
    mode_t mask = umask(0);
    umask(mask);
    assert_int_equal(stat(in_scratch("f"), &status), 0);
    assert_int_equal(status.st_mode & 0777, 0666 & ~mask);
    assert_null(tw__file_read_all(in_scratch("f"), 10, NULL));
    expect_error(TW_OUT_OF_RANGE, "");
    assert_int_equal(tw__file_remove(in_scratch("f")), TW_OK);
    assert_int_equal(tw__file_remove(in_scratch("f")), TW_OK);
}

static void keeps_the_old_file_when_writing_fails(void **state)
{
    (void)state;
    size_t size;
    for (int kind = 0; kind < 2; kind++) {
        void (*fail_at)(long) = kind ? tw__alloc_fail_at : tw__file_fail_at;
        for (int n = 1; n < 20; n++) {
            assert_int_equal(write_file(in_scratch("f"), 1, 10, 'o'), TW_OK);
            fail_at(n);
            tw_status status = write_file(in_scratch("f"), 800, 1000, 'n');
            fail_at(0);
            if (status != TW_OK)
                expect_error(TW_RESOURCE_EXHAUSTED, "");
            char *data = tw__file_read_all(in_scratch("f"), 1 << 24, &size);
            assert_non_null(data);
            assert_true(size == 800000 ? data[799999] == 'n' : size == 10 && data[0] == 'o' && status != TW_OK);
            tw__free(data);
            assert_int_equal(count_files("", false), 1);
        }
    }
    tw__file_remove(in_scratch("f"));
}

static void reads_only_what_is_there(void **state)
{
    (void)state;
    tw__file_reader reader;
    char bytes[8];
    assert_int_equal(tw__file_open(&reader, in_scratch("none")), TW_NOT_FOUND);
    expect_error(TW_NOT_FOUND, "none; No such file or directory");
    assert_int_equal(tw__file_open(&reader, scratch), TW_FAILED_PRECONDITION);
    tw_clear_error();
    assert_int_equal(mkfifo(in_scratch("pipe"), 0600), 0);
    assert_int_equal(tw__file_open(&reader, in_scratch("pipe")), TW_FAILED_PRECONDITION);
    tw_clear_error();
    tw__file_remove(in_scratch("pipe"));
    assert_int_equal(write_file(in_scratch("f"), 1, 10, 'q'), TW_OK);
    assert_int_equal(tw__file_open(&reader, in_scratch("f")), TW_OK);
    assert_int_equal(reader.size, 10);
    assert_int_equal(tw__file_read_at(&reader, 2, bytes, 8), TW_OK);
    assert_int_equal(tw__file_read_at(&reader, 3, bytes, 8), TW_OUT_OF_RANGE);
    tw_clear_error();
    assert_int_equal(tw__file_read_at(&reader, -1, bytes, 1), TW_OUT_OF_RANGE);
    tw_clear_error();
    assert_int_equal(truncate(in_scratch("f"), 5), 0);
    assert_int_equal(tw__file_read_at(&reader, 2, bytes, 8), TW_OUT_OF_RANGE);
    tw_clear_error();
    tw__file_close(&reader);
    tw__file_close(&reader);
    tw__file_remove(in_scratch("f"));
    assert_null(tw__file_create(in_scratch("no/such/directory")));
    expect_error(TW_NOT_FOUND, "");
}

static void remember(void *context, const char *name)
{
    strcat(context, name);
}

static void sweeps_what_the_dead_left(void **state)
{
    (void)state;
    char names[100] = "";
    fclose(fopen(in_scratch(".f.thalweg-0a1b2c3d"), "w"));
    fclose(fopen(in_scratch(".f.thalweg-0a1b2c3"), "w"));
    tw__file_writer *alive = tw__file_create(in_scratch("g"));
    tw__file_sweep(scratch, remember, names);
    assert_string_equal(names, "f");
    assert_int_equal(count_files("", false), 2);
    tw__file_abandon(alive);
    tw__file_remove(in_scratch(".f.thalweg-0a1b2c3"));
    char long_name[256];
    memset(long_name, 'x', 255);
    long_name[255] = 0;
    assert_int_equal(write_file(in_scratch(long_name), 1, 1, 'l'), TW_OK);
    tw__file_remove(in_scratch(long_name));
    assert_int_equal(count_files("", false), 0);
    int lock = tw__directory_lock(scratch);
    assert_true(lock >= 0);
    tw__directory_unlock(lock);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(takes_paths_apart),        cmocka_unit_test(makes_directories),
        cmocka_unit_test(writes_whole_files),       cmocka_unit_test(keeps_the_old_file_when_writing_fails),
        cmocka_unit_test(reads_only_what_is_there), cmocka_unit_test(sweeps_what_the_dead_left),
    };
    return cmocka_run_group_tests(tests, make_scratch, remove_scratch);
}
