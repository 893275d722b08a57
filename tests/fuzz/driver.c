/* Runs a fuzz target without a fuzzer: its seeds as they are, cut off everywhere, then changed at random for a short while.
 *
 *     fuzz_NAME [SECONDS [SEED]]     the default is 2 seconds; the changes depend on SEED alone
 *     fuzz_NAME --dump FOLDER        writes the seeds, as the corpus of a real fuzzer
 *     fuzz_NAME FILE                 one input, for a look at what went wrong
 *
 * The input in work is kept in fuzz_NAME-PROCESS.input beside the program until it is done. The trial runs in a child: if that
 * dies, of whatever, the parent says where its input is. No later run writes over it. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/base.h"
#include "fuzz/fuzz.h"

enum { SEEDS_LIMIT = 64, SIZE_LIMIT = 1 << 21, MEMORY_LIMIT = 1 << 30 };

static struct {
    uint8_t *data;
    size_t size;
} seeds[SEEDS_LIMIT];
static int seed_count;
static uint64_t random_state;
static char kept_path[4096];
static FILE *kept;

static void add_seed(const void *data, size_t size)
{
    if (seed_count == SEEDS_LIMIT || size > SIZE_LIMIT || !(seeds[seed_count].data = malloc(size + 1)))
        return;
    memcpy(seeds[seed_count].data, data, size);
    seeds[seed_count++].size = size;
}

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

static uint32_t next_random(uint32_t limit)
{
    random_state = random_state * 6364136223846793005u + 1442695040888963407u;
    return limit ? (uint32_t)(random_state >> 33) % limit : 0;
}

/* In memory of exactly its size, so that a sanitizer sees what is read behind it. */
static void run(const uint8_t *data, size_t size)
{
    uint8_t *exact = malloc(size ? size : 1);
    if (!exact)
        exit(1);
    memcpy(exact, data, size);
    if (kept) {
        rewind(kept);
        if (fwrite(exact, 1, size, kept) != size || fflush(kept) != 0 || ftruncate(fileno(kept), (off_t)size) != 0)
            exit(1);
    }
    LLVMFuzzerTestOneInput(exact, size);
    tw_clear_error();
    free(exact);
}

static size_t mutate(uint8_t *data, size_t size)
{
    static const uint8_t special[] = { 0, 1, 0x7f, 0x80, 0xff, 0xfe, '"', '\n', '{', ':', '-', '9' };
    for (uint32_t changes = 1 + next_random(4); changes > 0; changes--) {
        uint32_t at = next_random((uint32_t)size), length = 1 + next_random(16);
        if (size == 0)
            return 0;
        if (at + length > size)
            length = (uint32_t)size - at;
        switch (next_random(7)) {
        case 0:
            data[at] ^= (uint8_t)(1u << next_random(8));
            break;
        case 1:
            data[at] = special[next_random(sizeof special)];
            break;
        case 2:
            for (uint32_t i = 0; i < length; i++)
                data[at + i] = (uint8_t)next_random(256);
            break;
        case 3: /* a piece goes */
            memmove(data + at, data + at + length, size - at - length);
            size -= length;
            break;
        case 4: /* a piece comes twice */
            if (size + length <= SIZE_LIMIT) {
                memmove(data + at + length, data + at, size - at);
                size += length;
            }
            break;
        case 5: { /* a piece of another seed */
            int other = (int)next_random((uint32_t)seed_count);
            uint32_t from = next_random((uint32_t)seeds[other].size);
            for (uint32_t i = 0; i < length && from + i < seeds[other].size; i++)
                data[at + i] = seeds[other].data[from + i];
            break;
        }
        default: /* the end is missing */
            if (next_random(4) == 0)
                size = at;
        }
    }
    return size;
}

static int dump(const char *folder)
{
    for (int i = 0; i < seed_count; i++) {
        char path[4096];
        snprintf(path, sizeof path, "%s/seed-%d", folder, i);
        FILE *file = fopen(path, "wb");
        if (!file || fwrite(seeds[i].data, 1, seeds[i].size, file) != seeds[i].size || fclose(file) != 0)
            return perror(path), 1;
    }
    return 0;
}

static int run_file(const char *path, uint8_t *memory)
{
    FILE *file = fopen(path, "rb");
    if (!file)
        return perror(path), 1;
    run(memory, fread(memory, 1, SIZE_LIMIT, file));
    fclose(file);
    return 0;
}

static void try_all(uint8_t *memory, double seconds)
{
    long runs = 0;
    for (int i = 0; i < seed_count; i++) {
        run(seeds[i].data, seeds[i].size);
        size_t step = seeds[i].size / 200 + 1;
        for (size_t size = 0; size < seeds[i].size; size += step)
            run(seeds[i].data, size);
    }
    for (double end = now() + seconds; now() < end; runs++) {
        int i = (int)next_random((uint32_t)seed_count);
        memcpy(memory, seeds[i].data, seeds[i].size);
        run(memory, mutate(memory, seeds[i].size));
    }
    printf("%d seeds, %ld mutations\n", seed_count, runs);
}

static int watch(pid_t child)
{
    int status = 0;
    if (child < 0 || waitpid(child, &status, 0) != child)
        return perror("the trial"), 1;
    if (status == 0)
        return unlink(kept_path) != 0;
    fprintf(stderr, "the trial ended with %s %d; its input is %s\n", WIFSIGNALED(status) ? "signal" : "code",
            WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status), kept_path);
    return 1;
}

int main(int count, char **arguments)
{
#if !defined(__SANITIZE_ADDRESS__)
    setrlimit(RLIMIT_AS, &(struct rlimit){ MEMORY_LIMIT, MEMORY_LIMIT });
#endif
    uint8_t *memory = malloc(SIZE_LIMIT);
    fuzz_seeds(add_seed);
    if (!memory || seed_count == 0)
        return fprintf(stderr, "there are no seeds\n"), 1;
    if (count > 2 && strcmp(arguments[1], "--dump") == 0)
        return dump(arguments[2]);
    if (count > 1 && access(arguments[1], R_OK) == 0)
        return run_file(arguments[1], memory);
    double seconds = count > 1 ? atof(arguments[1]) : 2;
    random_state = count > 2 ? strtoull(arguments[2], NULL, 10) : 1;
    snprintf(kept_path, sizeof kept_path, "%s-%ld.input", arguments[0], (long)getpid());
    kept = fopen(kept_path, "wb");
    if (!kept)
        return perror(kept_path), 1;
    pid_t child = fork();
    int result = 0;
    if (child != 0)
        result = watch(child);
    else
        try_all(memory, seconds);
    fclose(kept);
    for (int i = 0; i < seed_count; i++)
        free(seeds[i].data);
    free(memory);
    return result;
}
