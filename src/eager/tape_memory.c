/* The memory of tapes, handed on from one tape of a thread to the next, so that a training loop in its steady state allocates
 * nothing. */
#include <pthread.h>

#include "eager/tape.h"

struct tw__tape_chunk {
    struct tw__tape_chunk *next;
    size_t size, used;
    _Alignas(16) char bytes[];
};

enum { CHUNK_BYTES = 16 << 10, SPARE_LIMIT = 4 };

typedef struct spares {
    tw__tape_memory *items[SPARE_LIMIT];
    int count;
} spares;

static pthread_key_t key;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static _Thread_local spares *thread_spares;

static void free_chunks(tw__tape_memory *memory, bool keep_one)
{
    while (memory->chunks && !(keep_one && !memory->chunks->next)) {
        struct tw__tape_chunk *next = memory->chunks->next;
        tw__free(memory->chunks);
        memory->chunks = next;
    }
    if (memory->chunks)
        memory->chunks->used = 0;
}

static void memory_free(tw__tape_memory *memory)
{
    free_chunks(memory, false);
    tw__free(memory->records);
    tw__free(memory->tensors);
    tw__free(memory->gradients);
    tw__free(memory->needed);
    tw__pointer_map_free(&memory->numbers);
    tw__free(memory);
}

static void spares_end(void *pointer)
{
    spares *s = pointer;
    thread_spares = NULL;
    while (s->count)
        memory_free(s->items[--s->count]);
    tw__free(s);
}

static void make_key(void)
{
    pthread_key_create(&key, spares_end);
}

static void end_own(void)
{
    void *own = thread_spares;
    if (own) {
        pthread_setspecific(key, NULL);
        spares_end(own);
    }
}

static spares *get_spares(void)
{
    if (!thread_spares) {
        pthread_once(&once, make_key);
        thread_spares = tw__alloc_zero(sizeof *thread_spares);
        if (thread_spares) {
            static tw__ending ending = { .end = end_own };
            pthread_setspecific(key, thread_spares);
            tw__at_shutdown(&ending);
        }
    }
    return thread_spares;
}

tw__tape_memory *tw__tape_memory_of(tw_tape *tape)
{
    if (!tape->memory) {
        spares *s = get_spares();
        tape->memory = s && s->count ? s->items[--s->count] : tw__alloc_zero(sizeof *tape->memory);
    }
    return tape->memory;
}

void *tw__tape_memory_block(tw__tape_memory *memory, size_t size)
{
    size = (size + 15) & ~(size_t)15;
    struct tw__tape_chunk *chunk = memory->chunks;
    if (!chunk || chunk->size - chunk->used < size) {
        size_t room = size > CHUNK_BYTES ? size : CHUNK_BYTES;
        chunk = tw__alloc(sizeof *chunk + room);
        if (!chunk)
            return NULL;
        chunk->next = memory->chunks;
        chunk->size = room;
        chunk->used = 0;
        memory->chunks = chunk;
    }
    void *block = chunk->bytes + chunk->used;
    chunk->used += size;
    return block;
}

void tw__tape_memory_reset(tw__tape_memory *memory)
{
    /* Releasing may run code of the embedding language, which may use tapes: the lists are emptied first. */
    size_t count = memory->record_count;
    memory->record_count = 0;
    for (size_t i = 0; i < count; i++) {
        tw__attrs_end(memory->records[i].attrs, memory->records[i].attr_count);
        tw_release(memory->records[i].own);
    }
    count = memory->tensor_count;
    memory->tensor_count = 0;
    for (size_t i = 0; i < count; i++)
        tw_release(memory->tensors[i]);
    memory->next_number = 0;
    tw__pointer_map_clear(&memory->numbers);
    free_chunks(memory, true);
}

void tw__tape_memory_give_back(tw__tape_memory *memory)
{
    tw__tape_memory_reset(memory);
    spares *s = get_spares();
    if (s && s->count < SPARE_LIMIT && memory->tensor_capacity < (size_t)1 << 20)
        s->items[s->count++] = memory;
    else
        memory_free(memory);
}
