/* The same op with the same attributes on the same values, again: the earlier results stand for the later ones. Reads of a
 * variable are the same while nothing with side effects stands between them. */
#include "exec/internal.h"
#include "rows.h"

/* True if the key came before: the outputs stand for those that it came with. */
static bool seen_before(tw__draft *draft, const tw__node *node, tw__text *key)
{
    intptr_t earlier = key->failed ? 0 : (intptr_t)tw__map_get(&draft->seen, key->data, key->size);
    for (int k = 0; earlier && k < node->output_count; k++)
        draft->stands_for[tw__draft_place(draft, node, k)] = draft->stands_for[earlier - 1 + k];
    if (!earlier && (key->failed || tw__map_put(&draft->seen, key->data, key->size,
                                                (void *)(intptr_t)(tw__draft_place(draft, node, 0) + 1)) != TW_OK))
        tw_clear_error(); /* only a chance is lost */
    tw__text_free(key);
    return earlier;
}

bool tw__pass_share_constant(tw__draft *draft, const tw__node *node, const tw_tensor *value)
{
    tw__text key = { 0 };
    int64_t bytes = value->count * (int64_t)tw__element_size(value->dtype);
    if (value->dtype == TW_STRING || value->dtype == TW_RESOURCE || value->dtype == TW_VARIANT || bytes > TW_INLINE_BYTES)
        return false;
    tw__text_bytes(&key, &node->op, sizeof node->op);
    tw__text_bytes(&key, &value->dtype, sizeof value->dtype);
    tw__text_bytes(&key, &value->shape.rank, sizeof value->shape.rank);
    tw__text_bytes(&key, value->shape.dims, (size_t)value->shape.rank * sizeof *value->shape.dims);
    tw__text_bytes(&key, value->data, (size_t)bytes);
    return seen_before(draft, node, &key);
}

bool tw__pass_share(tw__draft *draft, const tw__node *node, const int32_t *inputs)
{
    bool read = tw__node_is(node, TW_ROLE_READ);
    if ((node->op->stateful && !read) || node->op->free_state || tw__node_is(node, TW_ROLE_PLACEHOLDER) ||
        tw__node_has_function(node))
        return false;
    for (int k = 0; k < node->output_count; k++) {
        if (node->out_dtypes[k] == TW_VARIANT)
            return false;
    }
    tw__text key = { 0 };
    int64_t version = read ? draft->version : -1;
    tw__text_bytes(&key, &node->op, sizeof node->op);
    tw__text_bytes(&key, &version, sizeof version);
    tw__text_bytes(&key, inputs, (size_t)node->input_count * sizeof *inputs);
    tw__attrs_key(&key, node->attrs, node->attr_count);
    return seen_before(draft, node, &key);
}
