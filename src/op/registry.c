/* The table of ops: finding rows by name, and their parsed signatures, made on first use and kept. */
#include "op/guard.h"
#include "op/internal.h"

extern const tw_op *const tw__ops[]; /* generated, sorted by name */
extern const int tw__ops_count;

typedef tw__op_signature *_Atomic signature_slot;
static signature_slot *_Atomic slots; /* as tw__ops */

static _Thread_local const tw_op *last_op[64];
static _Thread_local const tw__op_signature *last_signature[64];

static void end_signatures(void)
{
    signature_slot *table = atomic_exchange(&slots, NULL);
    for (int i = 0; table && i < tw__ops_count; i++) {
        if (table[i])
            tw__op_signature_free(table[i]);
    }
    tw__free(table);
    memset(last_op, 0, sizeof last_op);
    memset(last_signature, 0, sizeof last_signature);
}

/* The parsed signature of op `index`; NULL with an error if there is no memory or the row is malformed. What fails is tried again
 * the next time. Two threads may parse the same row: one of the results is kept. */
static tw__op_signature *signature_at(int index)
{
    signature_slot *table = atomic_load(&slots);
    if (!table) {
        signature_slot *made = tw__alloc_array((size_t)tw__ops_count + 1, sizeof *made);
        if (!made)
            return NULL;
        static tw__ending ending = { .end = end_signatures };
        tw__at_shutdown(&ending);
        if (atomic_compare_exchange_strong(&slots, &table, made))
            table = made;
        else
            tw__free(made);
    }
    tw__op_signature *signature = atomic_load(&table[index]);
    if (!signature) {
        tw__op_signature *made = tw__op_signature_parse(tw__ops[index]);
        if (!made || atomic_compare_exchange_strong(&table[index], &signature, made))
            return made;
        tw__op_signature_free(made); /* the other thread was faster */
    }
    return signature;
}

int tw__op_count(void)
{
    return tw__ops_count;
}

const tw_op *tw__op_at(int index)
{
    return index >= 0 && index < tw__ops_count ? tw__ops[index] : NULL;
}

int tw__op_place(const char *name)
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
    int index = name ? tw__op_place(name) : -1;
    return index >= 0 ? tw__ops[index] : NULL;
}

const tw__op_signature *tw__op_signature_of(const tw_op *op)
{
    /* The last one asked for is most often asked for again. */
    size_t slot = ((uintptr_t)op / sizeof(tw_op)) & 63;
    if (last_op[slot] == op)
        return last_signature[slot];
    if (op->plain)
        return tw__guard_signature(op);
    int index = tw__op_place(op->name);
    const tw__op_signature *signature = index >= 0 ? signature_at(index) : NULL;
    if (!signature) {
        tw__fail(TW_INTERNAL, "%s: the row's inputs, outputs or attrs can't be read", op->name);
        return NULL;
    }
    last_op[slot] = op;
    last_signature[slot] = signature;
    return signature;
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
