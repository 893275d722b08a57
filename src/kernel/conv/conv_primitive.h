/* A convolution as the library's primitive, with what it wants of memory. */
#ifndef TW_CONV_PRIMITIVE_H
#define TW_CONV_PRIMITIVE_H

#include "kernel/conv/conv.h"
#include "kernel/conv/onednn.h"

#ifdef TW_HAVE_ONEDNN

typedef struct tw__conv_entry {
    tw__conv conv; /* with the part's batch */
    tw__conv_kind kind;
    int references;             /* under the lock; the table's own is one of them */
    uint64_t used;              /* when it was last asked for */
    dnnl_primitive_t primitive; /* NULL: there is no fast form */
    dnnl_primitive_t reorder;   /* of the filter to `filter`, or of its gradient back to `own`; NULL: they are the same */
    dnnl_memory_desc_t input, own, filter, output, scratch;
    size_t filter_bytes, scratch_bytes;
} tw__conv_entry;

/* A reference; NULL if there is no memory. */
tw__conv_entry *tw__conv_entry_get(tw__conv_kind kind, const tw__conv *conv);
void tw__conv_entry_release(tw__conv_entry *e);

#endif

#endif
