/* What fuzz targets share. A target is LLVMFuzzerTestOneInput and, for runs without a fuzzer, fuzz_seeds: the good inputs that
 * driver.c mutates. */
#ifndef TW_FUZZ_H
#define TW_FUZZ_H

#include <stddef.h>
#include <stdint.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

typedef void (*fuzz_add)(const void *data, size_t size);
void fuzz_seeds(fuzz_add add);

/* The files of a folder of tests/golden whose names end so. */
void fuzz_seed_files(fuzz_add add, const char *folder, const char *ending);
/* A path at which the bytes can be read, good until the next call; NULL: there is no memory. */
const char *fuzz_file(const void *data, size_t size);

#endif
