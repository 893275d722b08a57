/* The table of the library's convolutions: each is made once for its geometry, and the one that was not asked for the longest
 * goes when the table is full. */
#include "kernel/conv/conv_primitive.h"

#ifdef TW_HAVE_ONEDNN

enum { CACHE_LIMIT = 256 };

static tw__lock lock = TW__LOCK;
static tw__lock making =
    TW__LOCK; /* the library shares what it makes between threads by means that ThreadSanitizer does not see */
static tw__conv_entry *table[CACHE_LIMIT];
static int table_count;
static uint64_t clock_now;

static void entry_free(tw__conv_entry *e)
{
    if (e->primitive)
        tw__dnn.primitive_destroy(e->primitive);
    if (e->reorder)
        tw__dnn.primitive_destroy(e->reorder);
    tw__free(e);
}

void tw__conv_entry_release(tw__conv_entry *e)
{
    tw__lock_take(&lock);
    bool last = --e->references == 0;
    tw__lock_give(&lock);
    if (last)
        entry_free(e);
}

static bool describe_memory(tw__conv_entry *e, dnnl_memory_desc_t *any)
{
    const tw__conv *c = &e->conv;
    dnnl_dims_t input = { c->batch, c->in_channels, c->in[0], c->in[1] },
                output = { c->batch, c->out_channels, c->out[0], c->out[1] };
    int64_t in = c->in_channels / c->groups, out = c->out_channels / c->groups, all = c->out_channels;
    dnnl_dims_t dims = { c->groups, out, in, c->filter[0], c->filter[1] },
                strides = { out, 1, all, c->filter[1] * in * all, in * all };
    int skip = c->groups == 1, rank = 5 - skip;
    return tw__dnn.memory_desc_init_by_tag(&e->input, 4, input, dnnl_f32, dnnl_nhwc) == dnnl_success &&
           tw__dnn.memory_desc_init_by_tag(&e->output, 4, output, dnnl_f32, dnnl_nhwc) == dnnl_success &&
           tw__dnn.memory_desc_init_by_strides(&e->own, rank, dims + skip, dnnl_f32, strides + skip) == dnnl_success &&
           tw__dnn.memory_desc_init_by_tag(any, rank, dims + skip, dnnl_f32, dnnl_format_tag_any) == dnnl_success;
}

static dnnl_primitive_desc_t describe_primitive(tw__conv_entry *e, dnnl_memory_desc_t *any)
{
    const tw__conv *c = &e->conv;
    dnnl_dims_t dilates = { c->dilation[0] - 1, c->dilation[1] - 1 }, strides = { c->stride[0], c->stride[1] };
    dnnl_dims_t before = { c->before[0], c->before[1] }, after = { c->after[0], c->after[1] };
    dnnl_convolution_desc_t forward, backward;
    dnnl_primitive_desc_t made = NULL, hint = NULL;
    dnnl_prop_kind_t mode = e->kind == TW_CONV_OUTPUT ? dnnl_forward_inference : dnnl_forward_training;
    if (tw__dnn.dilated_convolution_forward_desc_init(&forward, mode, dnnl_convolution_direct, &e->input, any, NULL, &e->output,
                                                      strides, dilates, before, after) != dnnl_success ||
        tw__dnn.primitive_desc_create(&hint, &forward, tw__dnn.attributes, tw__dnn.engine, NULL) != dnnl_success)
        return NULL;
    if (e->kind == TW_CONV_OUTPUT)
        return hint;
    dnnl_status_t status =
        e->kind == TW_CONV_INPUT
            ? tw__dnn.dilated_convolution_backward_data_desc_init(&backward, dnnl_convolution_direct, &e->input, any, &e->output,
                                                                  strides, dilates, before, after)
            : tw__dnn.dilated_convolution_backward_weights_desc_init(&backward, dnnl_convolution_direct, &e->input, any, NULL,
                                                                     &e->output, strides, dilates, before, after);
    if (status != dnnl_success ||
        tw__dnn.primitive_desc_create(&made, &backward, tw__dnn.attributes, tw__dnn.engine, hint) != dnnl_success)
        made = NULL;
    tw__dnn.primitive_desc_destroy(hint);
    return made;
}

static bool make_reorder(tw__conv_entry *e)
{
    if (tw__dnn.memory_desc_equal(&e->own, &e->filter))
        return true;
    bool back = e->kind == TW_CONV_FILTER;
    dnnl_primitive_desc_t description;
    if (tw__dnn.reorder_primitive_desc_create(&description, back ? &e->filter : &e->own, tw__dnn.engine,
                                              back ? &e->own : &e->filter, tw__dnn.engine, NULL) != dnnl_success)
        return false;
    dnnl_status_t status = tw__dnn.primitive_create(&e->reorder, description);
    tw__dnn.primitive_desc_destroy(description);
    if (status != dnnl_success)
        e->reorder = NULL;
    return status == dnnl_success;
}

/* Leaves e->primitive NULL if there is none, or only the slow reference form. */
static void entry_fill(tw__conv_entry *e)
{
    dnnl_memory_desc_t any;
    dnnl_primitive_desc_t description = describe_memory(e, &any) ? describe_primitive(e, &any) : NULL;
    if (!description)
        return;
    const char *form = NULL;
    tw__dnn.primitive_desc_query(description, dnnl_query_impl_info_str, 0, &form);
    const dnnl_memory_desc_t *filter =
        tw__dnn.primitive_desc_query_md(description,
                                        e->kind == TW_CONV_FILTER ? dnnl_query_diff_weights_md : dnnl_query_weights_md, 0);
    const dnnl_memory_desc_t *scratch = tw__dnn.primitive_desc_query_md(description, dnnl_query_scratchpad_md, 0);
    if (form && !tw__starts_with(form, "ref") && filter && scratch) {
        e->filter = *filter;
        e->scratch = *scratch;
        e->filter_bytes = tw__dnn.memory_desc_get_size(filter);
        e->scratch_bytes = tw__dnn.memory_desc_get_size(scratch);
        if (make_reorder(e) && tw__dnn.primitive_create(&e->primitive, description) != dnnl_success)
            e->primitive = NULL;
    }
    tw__dnn.primitive_desc_destroy(description);
}

static tw__conv_entry *lookup(tw__conv_kind kind, const tw__conv *conv)
{
    for (int i = 0; i < table_count; i++) {
        tw__conv_entry *e = table[i];
        if (e->kind == kind && memcmp(&e->conv, conv, sizeof *conv) == 0) {
            e->used = ++clock_now;
            e->references++;
            return e;
        }
    }
    return NULL;
}

tw__conv_entry *tw__conv_entry_get(tw__conv_kind kind, const tw__conv *conv)
{
    tw__lock_take(&lock);
    tw__conv_entry *e = lookup(kind, conv);
    tw__lock_give(&lock);
    if (e)
        return e;
    tw__conv_entry *made = tw__alloc_zero(sizeof *made), *old = NULL;
    if (!made)
        return NULL;
    made->conv = *conv;
    made->kind = kind;
    made->references = 2;
    tw__lock_take(&making);
    entry_fill(made);
    tw__lock_give(&making);
    tw__lock_take(&lock);
    if ((e = lookup(kind, conv))) { /* another thread was faster */
        old = made;
        old->references = 0;
    } else {
        int at = table_count;
        if (table_count < CACHE_LIMIT) {
            table_count++;
        } else {
            at = 0;
            for (int i = 1; i < CACHE_LIMIT; i++)
                at = table[i]->used < table[at]->used ? i : at;
            old = table[at];
            old->references--;
        }
        table[at] = e = made;
        e->used = ++clock_now;
    }
    bool dead = old && old->references == 0;
    tw__lock_give(&lock);
    if (dead)
        entry_free(old);
    return e;
}

#endif
