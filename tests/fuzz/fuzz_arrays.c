/* NumPy's .npy and .npz and IDX files: each input is tried as all three. */
#include <string.h>

#include "format/format.h"
#include "fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const members[] = { "x", "d", "turned3", "text", "empty" };
    tw_release(tw__npy_parse(data, size, "fuzz"));
    tw_clear_error();
    const char *path = fuzz_file(data, size);
    if (!path)
        return 0;
    tw_release(tw__idx_read(path));
    tw_clear_error();
    for (size_t i = 0; size > 4 && memcmp(data, "PK", 2) == 0 && i < sizeof members / sizeof *members; i++) {
        tw_release(tw__npz_read(path, members[i]));
        tw_clear_error();
    }
    return 0;
}

void fuzz_seeds(fuzz_add add)
{
    fuzz_seed_files(add, "arrays", ".npy");
    fuzz_seed_files(add, "arrays", ".npz");
    fuzz_seed_files(add, "arrays", ".idx");
    fuzz_seed_files(add, "arrays", ".gz");
}
