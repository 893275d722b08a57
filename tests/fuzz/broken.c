/* A reader with faults, for the test of driver.c: it dies of some changes of its seed, and never of the seed itself. With
 * BROKEN_READER=good in the environment it has none. */
#include <stdlib.h>
#include <string.h>

#include "fuzz/fuzz.h"

static const char seed[] = "a seed of forty bytes, which is as it is";

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *mode = getenv("BROKEN_READER");
    if (mode && strcmp(mode, "good") == 0)
        return 0;
    if (size < sizeof seed || memcmp(data, seed, 8) == 0)
        return 0;
    if (mode && strcmp(mode, "code") == 0)
        exit(3);
    abort();
}

void fuzz_seeds(fuzz_add add)
{
    add(seed, sizeof seed);
}
