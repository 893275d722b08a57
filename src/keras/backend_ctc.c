/* keras.backend: losses and decoders of connectionist temporal classification, of probabilities [batch, time, classes]. */
#include "api/array/array.h"
#include "api/sparse/sparse.h"
#include "keras/losses/losses.h"
#include "op/calls.h"
#include "rows.h"

/* Logarithms, frames first. */
static tw_tensor *logits_of(tw__temps *t, tw_tensor *y_pred)
{
    static const int64_t order[] = { 1, 0, 2 };
    tw_tensor *turned = TW_TEMP(Transpose, y_pred, tw__temp_ints(t, order, 3, TW_INT32));
    return TW_TEMP(Log, TW_TEMP(AddV2, turned, tw__keras_epsilon()));
}

TW_API(backend_ctc_label_dense_to_sparse,
       "keras.backend.ctc_label_dense_to_sparse(labels: tensor, label_lengths: tensor<int32>) -> sparse_tensor",
       "Labels [batch, places] as a sparse tensor, of each row as many as label_lengths says.\n"
       "labels: the labels, [batch, places]\n"
       "label_lengths: how many labels of each row count, [batch]")
{
    TW_TEMPS(t);
    tw_tensor *shape = tw__temp_shape(t, args->labels, TW_INT32), *places = tw__temp_range(t, tw__temp_at(t, shape, 1));
    tw_tensor *counts = TW_TEMP(ExpandDims, tw__temp_cast(t, args->label_lengths, TW_INT32), 1);
    tw_tensor *there = TW_TEMP(Less, TW_TEMP(ExpandDims, places, 0), counts);
    tw_tensor *indices = TW_TEMP(Where, there), *values = TW_TEMP(GatherNd, args->labels, indices);
    return tw__sparse_new(indices, values, tw__temp_cast(t, shape, TW_INT64));
}

TW_API(backend_ctc_batch_cost,
       "keras.backend.ctc_batch_cost(y_true: tensor, y_pred: tensor, input_length: tensor, label_length: tensor) -> tensor",
       "The loss of each row: minus the logarithm of the chance of its labels.\n"
       "y_true: the labels, [batch, places]\n"
       "y_pred: the probabilities of the classes at each step, [batch, steps, classes]; the last class is the blank\n"
       "input_length: how many steps of each row count, [batch, 1]\n"
       "label_length: how many labels of each row count, [batch, 1]\n"
       "returns: a tensor [batch, 1]")
{
    TW_TEMPS(t);
    int64_t last = -1;
    tw_tensor *frames = tw__temp_cast(t, TW_TEMP(Squeeze, args->input_length, TW_A_INTS("squeeze_dims", &last, 1)), TW_INT32);
    tw_tensor *counts = tw__temp_cast(t, TW_TEMP(Squeeze, args->label_length, TW_A_INTS("squeeze_dims", &last, 1)), TW_INT32);
    tw_tensor *logits = logits_of(t, args->y_pred), *labels = tw__temp_cast(t, args->y_true, TW_INT32);
    if (!frames || !counts || !logits || !labels)
        return NULL;
    tw_sparse_tensor *sparse = tw__temp(t, tw_backend_ctc_label_dense_to_sparse(labels, counts));
    tw_tensor *loss = tw__temp(t, sparse ? tw_v1_ctc_loss(sparse, .inputs = logits, .sequence_length = frames) : NULL);
    return TW_CALL(ExpandDims, loss, 1);
}

/* The sparse tensors of a decoder's result as dense ones of [rows, steps], -1 where there is nothing. */
static bool make_dense(tw__temps *t, tw_value *list, tw_tensor *shape)
{
    for (int64_t i = 0; i < list->list.count; i++) {
        tw_sparse_tensor *sparse = list->list.items[i].object;
        tw_tensor *dense = TW_CALL(SparseToDense, sparse->indices, shape, sparse->values, tw__temp_int(t, -1, TW_INT64));
        if (!dense)
            return false;
        tw_release(sparse);
        list->list.items[i] = TW_LEAF(dense);
    }
    return true;
}

TW_API(backend_ctc_decode,
       "keras.backend.ctc_decode(y_pred: tensor, input_length: tensor, greedy: bool = True, beam_width: int = 100, "
       "top_paths: int = 1) -> value",
       "The likeliest labels of each row, -1 behind them, and the logarithms of their chances.\n"
       "y_pred: the probabilities of the classes at each step, [batch, steps, classes]; the last class is the blank\n"
       "input_length: how many steps of each row count, [batch]\n"
       "greedy: True: take the likeliest class of each step; False: search with a beam\n"
       "beam_width: how many beginnings the search keeps\n"
       "top_paths: how many of the likeliest results the search gives\n"
       "returns: a list of label tensors, and the logarithms of their chances")
{
    TW_TEMPS(t);
    tw_value none = { .kind = TW_VALUE_NONE }, made;
    tw_tensor *logits = logits_of(t, args->y_pred), *frames = tw__temp_cast(t, args->input_length, TW_INT32);
    tw_tensor *shape = tw__temp_slice(t, tw__temp_shape(t, args->y_pred, TW_INT64), 0, 2);
    if (!logits || !frames || !shape)
        return none;
    made = args->greedy
               ? tw_nn_ctc_greedy_decoder(logits, frames)
               : tw_v1_ctc_beam_search_decoder(logits, frames, .beam_width = args->beam_width, .top_paths = args->top_paths);
    if (made.kind == TW_VALUE_TUPLE && make_dense(t, &made.list.items[0], shape))
        return made;
    tw_value_free(&made);
    return none;
}
