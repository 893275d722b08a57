/* The table of ops: finding rows by name, and their parsed signatures, made on first use and kept. */
#include <pthread.h>

#include "op/internal.h"

extern const tw_op *const tw__ops[]; /* generated, sorted by name */
extern const int tw__ops_count;

static pthread_once_t once = PTHREAD_ONCE_INIT;
static tw__op_signature **signatures; /* as tw__ops */

static void make_signatures(void)
{
    signatures = tw__alloc_array((size_t)tw__ops_count + 1, sizeof *signatures);
    for (int i = 0; signatures && i < tw__ops_count; i++)
        signatures[i] = tw__op_signature_parse(tw__ops[i]);
}

int tw__op_count(void)
{
    return tw__ops_count;
}

const tw_op *tw__op_at(int index)
{
    return index >= 0 && index < tw__ops_count ? tw__ops[index] : NULL;
}

static int find(const char *name)
{
    int low = 0, high = tw__ops_count - 1;
    while (low <= high) {
        int middle = (low + high) / 2, order = strcmp(name, tw__ops[middle]->name);
        if (order == 0)
            return middle;
        if (order < 0)
            high = middle - 1;
        else
            low = middle + 1;
    }
    return -1;
}

const tw_op *tw__op_find(const char *name)
{
    int index = name ? find(name) : -1;
    return index >= 0 ? tw__ops[index] : NULL;
}

const tw__op_signature *tw__op_signature_of(const tw_op *op)
{
    /* The last one asked for is most often asked for again. */
    static _Thread_local const tw_op *last_op[64];
    static _Thread_local const tw__op_signature *last_signature[64];
    size_t slot = ((uintptr_t)op / sizeof(tw_op)) & 63;
    if (last_op[slot] == op)
        return last_signature[slot];
    pthread_once(&once, make_signatures);
    int index = find(op->name);
    if (!signatures || index < 0 || !signatures[index]) {
        tw__fail(TW_INTERNAL, "%s: the row's inputs, outputs or attrs can't be read", op->name);
        return NULL;
    }
    last_op[slot] = op;
    last_signature[slot] = signatures[index];
    return signatures[index];
}

int tw_op_count(void)
{
    return tw__ops_count;
}

const char *tw_op_name(int index)
{
    const tw_op *op = tw__op_at(index);
    return op ? op->name : NULL;
}

const char *tw_op_doc(int index)
{
    const tw_op *op = tw__op_at(index);
    return op ? op->doc : NULL;
}
