/* Reductions, sums and counts, called with ragged tensors. */
#include "api/ragged/ragged_forms.h"
#include "op/calls.h"
#include "rows.h"

void *tw__ragged_reduce_form(const tw__composite_call *c)
{
    const tw_reduce_sum_args *args = (const void *)c->args; /* all reductions have these arguments */
    return tw__ragged_reduce(c->t, c->row->id, tw__call_argument(c, 0), args->axis, args->keepdims);
}

void *tw__ragged_reduce_join_form(const tw__composite_call *c)
{
    const tw_strings_reduce_join_args *args = (const void *)c->args;
    return tw__ragged_reduce_join(c->t, tw__call_argument(c, 0), args->axis, args->keepdims, args->separator);
}

void *tw__ragged_softmax_form(const tw__composite_call *c)
{
    const tw_nn_softmax_args *args = (const void *)c->args;
    return tw__ragged_softmax(c->t, tw__call_argument(c, 0), args->axis == TW_NO_INT ? -1 : args->axis);
}

/* Lists of which all members have the same rows: their flat values together. */
void *tw__ragged_members_form(const tw__composite_call *c)
{
    int at = tw__call_field(c->row, TW_KIND_TENSORS, 0);
    const tw_objects *list = &c->mixed->lists[at];
    void *first = NULL;
    tw__owned tw_tensor **flat = tw__alloc_array((size_t)list->count + 1, sizeof *flat);
    for (int64_t i = 0; i < list->count && !first; i++)
        first = tw__is_ragged(list->items[i]) ? list->items[i] : NULL;
    bool good = flat != NULL;
    for (int64_t i = 0; good && i < list->count; i++) {
        void *member = list->items[i], *like = first;
        good = tw__values_match(c->t, &like, &member) && like == first;
        flat[i] = good ? tw__flat_values(member) : NULL;
    }
    if (!good && tw_error_code() == TW_OK)
        tw__fail(TW_UNIMPLEMENTED, "%s: ragged tensors of different ranks are not supported", c->row->id);
    tw__owned char *args = good ? tw__alloc(c->row->args_size) : NULL;
    tw_value result = { .kind = TW_VALUE_NONE };
    void *made = NULL;
    if (args) {
        memcpy(args, c->args, c->row->args_size);
        *(tw_tensors *)(args + c->row->fields[at].offset) = (tw_tensors){ flat, list->count };
        if (tw_signature_invoke(c->row, args, &result) == TW_OK && result.kind == TW_VALUE_TENSOR)
            made = tw__temp_with_flat(c->t, first, tw__temp(c->t, result.tensor));
    }
    return made;
}

void *tw__ragged_cumsum_form(const tw__composite_call *c)
{
    const tw_math_cumsum_args *args = (const void *)c->args;
    tw__temps *t = c->t;
    tw_ragged_tensor *ragged = tw__call_argument(c, 0);
    if (tw__normal_axis(args->axis, tw__value_shape(ragged).rank) != 1 || tw__is_ragged(ragged->values) || args->reverse) {
        tw__fail(TW_UNIMPLEMENTED, "cumsum: of ragged tensors only along dimension 1, forwards");
        return NULL;
    }
    /* Sums of everything, less what stood before the row. */
    tw_tensor *zero = tw__temp_int(t, 0, TW_INT32);
    tw_tensor *before = TW_TEMP(Cumsum, ragged->values, zero, TW_A_BOOL("exclusive", true));
    tw_tensor *sums = args->exclusive ? before : TW_TEMP(Cumsum, ragged->values, zero);
    tw_tensor *begins =
        tw__temp_gather(t, tw__temp_slice(t, ragged->splits, TW_NO_INT, -1), tw__splits_rowids(t, ragged->splits), 0);
    tw_tensor *offsets = tw__temp_gather(t, before, begins, 0);
    return sums && offsets ? tw__temp_with_values(t, ragged, TW_TEMP(Sub, sums, offsets)) : NULL;
}

void *tw__ragged_bincount_form(const tw__composite_call *c)
{
    const tw_math_bincount_args *args = (const void *)c->args;
    tw__bins bins = { args->minlength, args->maxlength, args->axis, args->dtype, args->binary_output };
    return tw__temp(c->t, tw__bincount(c->t, tw__call_argument(c, 0), tw__call_argument(c, 1), &bins));
}
