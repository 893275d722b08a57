/* keras.utils.get_file from C: the cache, hashes, archives. */
#define TW_TEST_SCOPES
#include <thalweg/thalweg.h>

#include "scratch.h"
#include "test.h"

#define MD5_OF_ABC "900150983cd24fb0d6963f7d28e17f72"
#define SHA256_OF_ABC "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"

static const char *write_file(const char *name, const void *data, size_t size)
{
    const char *path = in_scratch(name);
    FILE *file = fopen(path, "wb");
    assert_int_equal(fwrite(data, 1, size, file), size);
    fclose(file);
    return path;
}

static const char *address_of(const char *path)
{
    static char address[500];
    snprintf(address, sizeof address, "file://%s", path);
    return address;
}

static void hashes(void **state)
{
    (void)state;
    const char *address = address_of(write_file("abc", "abc", 3));
    char *path = tw_keras_get_file("copy", address, .cache_dir = scratch, .cache_subdir = "", .file_hash = SHA256_OF_ABC);
    expect_no_error();
    assert_string_equal(path, in_scratch("copy"));
    free(path);
    path = tw_keras_get_file("copy", "https://example.org/it/is/there", .cache_dir = scratch, .cache_subdir = "",
                             .md5_hash = MD5_OF_ABC);
    expect_no_error();
    free(path);
    assert_null(tw_keras_get_file("other", address, .cache_dir = scratch, .cache_subdir = "", .file_hash = MD5_OF_ABC "0"));
    expect_error(TW_VALUE_ERROR, "Incomplete or corrupted file detected.");
    assert_null(tw_keras_get_file("other", "https://example.org/other", .cache_dir = scratch, .cache_subdir = ""));
    expect_error(TW_OS_ERROR, "URL fetch failure on https://example.org/other");
    assert_int_equal(count_files("other", 0), 0);
}

/* A tar file of one member with four bytes. */
static void tar_of(char *archive, const char *name)
{
    memset(archive, 0, 2048);
    snprintf(archive, 100, "%s", name);
    memcpy(archive + 100, "0000644", 7);
    memcpy(archive + 124, "00000000004", 11);
    memcpy(archive + 148, "        ", 8);
    memcpy(archive + 512, "data", 4);
    archive[156] = '0';
    unsigned sum = 0;
    for (int i = 0; i < 512; i++)
        sum += (unsigned char)archive[i];
    snprintf(archive + 148, 8, "%06o", sum);
}

static void archives(void **state)
{
    (void)state;
    char archive[2048];
    tar_of(archive, "member");
    char *path = tw_keras_get_file("inside.tar", address_of(write_file("archive", archive, sizeof archive)), .cache_dir = scratch,
                                   .cache_subdir = "", .extract = true);
    expect_no_error();
    free(path);
    assert_int_equal(count_files("member", 0), 1);
    tar_of(archive, "../outside");
    assert_null(tw_keras_get_file("bad.tar", address_of(write_file("archive", archive, sizeof archive)), .cache_dir = scratch,
                                  .cache_subdir = "", .extract = true));
    expect_error(TW_VALUE_ERROR, "has a member '../outside'");
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(hashes), cmocka_unit_test(archives) };
    return cmocka_run_group_tests(tests, make_scratch, remove_scratch);
}
