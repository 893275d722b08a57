/* The table of ops: finding rows by name, and their parsed signatures, made on first use and kept. */
#include "op/internal.h"
#include "spec/spec.h"

extern const tw_op *const tw__ops[]; /* generated, sorted by name */
extern const int tw__ops_count;

static void end_signatures(void)
{
    for (int i = 0; i < tw__ops_count; i++) {
        tw__op_signature *signature = atomic_exchange(tw__ops[i]->signature, NULL);
        if (signature)
            tw__op_signature_free(signature);
    }
}

/* What fails is tried again the next time. Two threads may parse the same row: one of the results is kept. */
const tw__op_signature *tw__op_signature_first(const tw_op *op)
{
    static tw__ending ending = { .end = end_signatures };
    tw__at_shutdown(&ending);
    tw__op_signature *made = tw__op_signature_parse(op), *other = NULL;
    if (!made) {
        tw__fail(TW_INTERNAL, "%s: the row's inputs, outputs or attrs can't be read", op->name);
        return NULL;
    }
    if (atomic_compare_exchange_strong(op->signature, &other, made))
        return made;
    tw__op_signature_free(made); /* the other thread was faster */
    return other;
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

int tw_op_count(void)
{
    return tw__ops_count;
}

const char *tw_op_name(int index)
{
    const tw_op *op = tw__op_at(index);
    return op ? op->name : NULL;
}

const char *tw__op_doc(const tw_op *op)
{
    char key[128];
    snprintf(key, sizeof key, "raw_ops.%s", op->name);
    return tw__reference_text(key);
}

const char *tw_op_doc(int index)
{
    const tw_op *op = tw__op_at(index);
    return op ? tw__op_doc(op) : NULL;
}
