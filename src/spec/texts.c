/* The signatures of rows as written. They lie in the library compressed (tools/collect_rows.py); the first who asks for one
 * unpacks them all. */
#include "codec/codec.h"
#include "spec/spec.h"

extern const tw__packed_texts tw__packed_signatures; /* generated */
extern const int tw__signatures_count;

/* A text for every row, one behind the other, and where each begins. */
typedef struct texts {
    char *bytes;
    uint32_t starts[];
} texts;

static texts *_Atomic signatures;

static void end_texts(void)
{
    tw__free(atomic_exchange(&signatures, NULL));
}

static texts *unpack(const tw__packed_texts *packed)
{
    size_t head = sizeof(texts) + (size_t)tw__signatures_count * sizeof(uint32_t);
    texts *t = tw__alloc(head + packed->full_size);
    if (!t)
        return NULL;
    t->bytes = (char *)t + head;
    if (!tw__inflate(packed->data, packed->size, TW_DEFLATED_ZLIB, t->bytes, packed->full_size)) {
        tw__free(t);
        return NULL;
    }
    uint32_t start = 0;
    for (int i = 0; i < tw__signatures_count; i++) {
        t->starts[i] = start;
        start += (uint32_t)strlen(t->bytes + start) + 1;
    }
    return t;
}

/* Without memory it is the empty text. */
const char *tw_signature_text(const tw_signature *signature)
{
    static tw__ending ending = { .end = end_texts };
    if (!signature)
        return NULL;
    texts *have = atomic_load(&signatures);
    if (!have) {
        texts *made = unpack(&tw__packed_signatures);
        if (!made)
            return "";
        tw__at_shutdown(&ending);
        if (atomic_compare_exchange_strong(&signatures, &have, made))
            have = made;
        else
            tw__free(made);
    }
    return have->bytes + have->starts[signature->row];
}
