/* Layers called with ragged and sparse tensors. Layers that look at single elements or at the last axis work on the values of a
 * ragged tensor (`flat` in their row); Dense multiplies sparse matrices; recurrent layers make a ragged tensor dense, with a mask
 * that says how long its rows are, and their sequences ragged again. All other layers refuse such values. */
#include "api/ragged/ragged.h"
#include "api/sparse/sparse.h"
#include "keras/layers/recurrent.h"
#include "keras/models/functional.h"
#include "op/calls.h"

void *tw__composite_cast(void *composite, tw_dtype dtype)
{
    TW_TEMPS(t);
    if (tw__is_ragged(composite))
        return tw__keep(t, tw__temp_with_flat(t, composite, tw__temp_cast(t, tw__flat_values(composite), dtype)));
    if (!tw__is(composite, &tw__class_sparse_tensor))
        return tw_retain(composite);
    struct tw_sparse_tensor *sparse = composite;
    return tw__sparse_new(sparse->indices, tw__temp_cast(t, sparse->values, dtype), sparse->dense_shape);
}

/* Values of floats in the dtype that the layer computes in. */
static void *ready(tw_layer *layer, void *composite, const tw__output_spec *is)
{
    const tw__layer_methods *methods = tw__methods(layer);
    bool same = is->dtype == layer->compute_dtype || methods->any_dtype || !tw__dtype_is_float(is->dtype) ||
                !tw__dtype_is_float(layer->compute_dtype);
    return same ? tw_retain(composite) : tw__composite_cast(composite, layer->compute_dtype);
}

static void *run(tw_layer *layer, void *composite, int training)
{
    const tw__layer_methods *methods = tw__methods(layer);
    void *made = methods->call_composite ? methods->call_composite(layer, composite, training) : NULL;
    if (made || tw_error_code() != TW_OK)
        return made;
    if (methods->flat && methods->call && tw__is_ragged(composite)) {
        TW_TEMPS(t);
        tw_tensor *values = tw__temp(t, methods->call(layer, tw__flat_values(composite), training));
        return values ? tw__keep(t, tw__temp_with_flat(t, composite, values)) : NULL;
    }
    tw__fail(TW_UNIMPLEMENTED, "%s \"%s\" takes no %s; make it dense first", tw_class_name(layer), layer->name,
             tw_class_name(composite));
    return NULL;
}

tw_value tw__layer_call_composite(tw_layer *layer, void *composite, int training)
{
    tw_value result = { .kind = TW_VALUE_NONE };
    tw__output_spec is = { 0 };
    tw__composite_output(composite, &is);
    tw_release(is.spec);
    tw_auto void *input = ready(layer, composite, &is);
    if (!input || tw__layer_begin(layer) != TW_OK)
        return result;
    void *made = tw__layer_build(layer, &is.shape) == TW_OK ? run(layer, input, training) : NULL;
    tw__layer_end(layer);
    if (made && tw__is_composite(made))
        return (tw_value){ .kind = TW_VALUE_OBJECT, .object = made };
    if (made && layer->activity_regularizer && tw__layer_regularize_activity(layer, made) != TW_OK) {
        tw_release(made);
        made = NULL;
    }
    return tw__tensor_value(made);
}

/* ---- sequences ---- */

/* Which steps of rows of these lengths there are. */
static tw_tensor *steps_mask(tw__temps *t, tw_tensor *lengths, tw_tensor *dense)
{
    tw_tensor *most = tw__temp_at(t, tw__temp_shape(t, dense, TW_INT64), 1), *whole = tw__temp_cast(t, lengths, TW_INT64);
    tw_tensor *steps = tw__temp_range(t, most);
    return TW_TEMP(Less, TW_TEMP(ExpandDims, steps, 0), TW_TEMP(ExpandDims, whole, 1));
}

/* The first steps of every row, as many as it had. */
static void *ragged_again(tw__temps *t, tw_tensor *dense, tw_tensor *mask, tw_tensor *splits)
{
    tw_tensor *places = TW_TEMP(Where, mask);
    return tw__temp_ragged(t, TW_TEMP(GatherNd, dense, places), splits, -1);
}

tw_value tw__layer_call_ragged(tw_layer *layer, const tw_value *given, int count, int training)
{
    TW_TEMPS(t);
    const tw__layer_methods *methods = tw__methods(layer);
    struct tw_ragged_tensor *ragged = given[0].object;
    tw_value all[8] = { 0 }, none = { .kind = TW_VALUE_NONE };
    int at = tw__layer_argument(methods->arguments, "mask");
    if (!tw__is_ragged(ragged) || tw__ragged_rank(ragged) != 1 || at < 0 || count > 8) {
        tw__fail(TW_VALUE_ERROR, "%s \"%s\" takes tensors, and ragged ones whose second dimension alone is ragged",
                 tw_class_name(layer), layer->name);
        return none;
    }
    if (at < count && given[at].kind != TW_VALUE_NONE) {
        tw__fail(TW_VALUE_ERROR,
                 "The mask that was passed in was %s, which cannot be applied to RaggedTensor inputs. Please make sure that "
                 "there is no mask injected by upstream layers.",
                 "a tensor");
        return none;
    }
    const tw__rnn *rnn = tw__is(layer, &tw__class_layers_rnn) ? (const tw__rnn *)layer : NULL;
    if (rnn && rnn->settings.unroll) {
        tw__fail(TW_VALUE_ERROR, "The input received contains RaggedTensors and does not support unrolling. Disable unrolling by "
                                 "passing `unroll=False` in the RNN Layer constructor.");
        return none;
    }
    tw_tensor *dense = tw__ragged_to_tensor(t, ragged, NULL, &TW_UNKNOWN_SHAPE);
    tw_tensor *lengths = dense ? tw__splits_lengths(t, ragged->splits) : NULL,
              *mask = lengths ? steps_mask(t, lengths, dense) : NULL;
    if (!mask)
        return none;
    memcpy(all, given, (size_t)count * sizeof *all);
    all[0] = (tw_value){ .kind = TW_VALUE_TENSOR, .tensor = dense };
    all[at] = (tw_value){ .kind = TW_VALUE_TENSOR, .tensor = mask };
    tw_value result = tw__layer_call_values(layer, all, at < count ? count : at + 1, training);
    tw_value *first = result.kind == TW_VALUE_TENSOR ? &result : result.kind == TW_VALUE_LIST ? &result.list.items[0] : NULL;
    bool sequence = first && first->kind == TW_VALUE_TENSOR && tw__mask_of(first->tensor);
    if (sequence) {
        if (rnn && rnn->settings.go_backwards) /* a short row's steps come last */
            mask = TW_TEMP(ReverseV2, mask, tw__temp_ints(t, (int64_t[]){ 1 }, 1, TW_INT32));
        void *again = ragged_again(t, first->tensor, mask, ragged->splits);
        tw_release(first->tensor);
        *first = (tw_value){ .kind = again ? TW_VALUE_OBJECT : TW_VALUE_NONE, .object = tw_retain(again) };
    }
    return result;
}
