/* tf.nn: connectionist temporal classification: losses and decoders. */
#include <math.h>

#include "api/array/array.h"
#include "api/sparse/sparse.h"
#include "op/calls.h"
#include "rows.h"

/* ---- losses ---- */

/* Frames first. */
static tw_tensor *time_major(tw__temps *t, tw_tensor *x, bool already)
{
    static const int64_t order[] = { 1, 0, 2 };
    return already ? x : TW_TEMP(Transpose, x, tw__temp_ints(t, order, 3, TW_INT32));
}

static tw_tensor *loss(tw__temps *t, tw_tensor *logits, tw_tensor *indices, tw_tensor *values, tw_tensor *lengths,
                       const tw_attr *attrs, int count)
{
    tw_tensor *made[2] = { NULL, NULL };
    int outputs = 2;
    tw_tensor *wide = tw__temp_cast(t, logits, logits->dtype == TW_FLOAT64 ? TW_FLOAT64 : TW_FLOAT32),
              *labels = tw__temp_cast(t, values, TW_INT32), *frames = tw__temp_cast(t, lengths, TW_INT32);
    if (!wide || !labels || !frames ||
        tw__apply(&tw__op_CTCLoss, TW_IN(wide, indices, labels, frames), 4, attrs, count, made, &outputs) != TW_OK)
        return NULL;
    tw_release(made[1]);
    tw__temp(t, made[0]);
    return tw__temp_cast(t, made[0], logits->dtype);
}

TW_API(v1_ctc_loss,
       "compat.v1.nn.ctc_loss(labels: sparse_tensor, inputs: tensor = None, sequence_length: tensor<int32> = None, "
       "preprocess_collapse_repeated: bool = False, ctc_merge_repeated: bool = True, "
       "ignore_longer_outputs_than_inputs: bool = False, time_major: bool = True, logits: tensor = None) -> tensor",
       "Minus the logarithm of the chance of each sequence of labels, given frames whose last class is blank.\n"
       "preprocess_collapse_repeated: True: equal neighbours in the labels are made one first\n"
       "ctc_merge_repeated: False: equal neighbours of frames stay apart, each a label of its own\n"
       "ignore_longer_outputs_than_inputs: True: samples with more labels than frames have the loss 0; False: they are an error")
{
    TW_TEMPS(t);
    tw_tensor *logits = args->logits ? args->logits : args->inputs;
    if (!logits || !args->sequence_length) {
        tw__fail(TW_VALUE_ERROR, "ctc_loss: `inputs` and `sequence_length` must be given");
        return NULL;
    }
    tw_attr attrs[] = { TW_A_BOOL("preprocess_collapse_repeated", args->preprocess_collapse_repeated),
                        TW_A_BOOL("ctc_merge_repeated", args->ctc_merge_repeated),
                        TW_A_BOOL("ignore_longer_outputs_than_inputs", args->ignore_longer_outputs_than_inputs) };
    tw_tensor *frames = time_major(t, logits, args->time_major);
    return frames ? tw__keep(t, loss(t, frames, args->labels->indices, args->labels->values, args->sequence_length, attrs, 3))
                  : NULL;
}

/* The blank class comes last: logits and labels for that. */
static tw_status blank_to_end(tw__temps *t, int64_t blank, tw_tensor **logits, tw_tensor **labels)
{
    tw_tensor *count = tw__temp_at(t, tw__temp_shape(t, *logits, TW_INT32), 2), *b = tw__temp_int(t, blank, TW_INT32);
    if (blank < 0)
        b = TW_TEMP(AddV2, b, count);
    tw_tensor *after = TW_TEMP(AddV2, b, 1), *last = TW_TEMP(Sub, count, 1);
    tw_tensor *parts[] = { tw__temp_range(t, b), TW_TEMP(Range, after, count, 1), TW_TEMP(ExpandDims, b, 0) };
    tw_tensor *order = parts[0] && parts[1] && parts[2] ? tw__temp_concat(t, parts, 3, 0) : NULL;
    *logits = order ? tw__temp_gather(t, *logits, order, 2) : NULL;
    tw_tensor *given = tw__temp_cast(t, *labels, TW_INT32);
    tw_tensor *moved = TW_TEMP(SelectV2, TW_TEMP(Equal, given, b), last, TW_TEMP(Sub, given, 1)); /* a blank is no label */
    *labels = TW_TEMP(SelectV2, TW_TEMP(Less, given, b), given, moved);
    return *logits && *labels ? TW_OK : tw__error_status();
}

/* Of labels [batch, places]: the loss is infinite where there are too few frames. */
static tw_tensor *dense_loss(tw__temps *t, tw_tensor *logits, tw_tensor *labels, tw_tensor *label_length, tw_tensor *lengths)
{
    tw_attr ignore = TW_A_BOOL("ignore_longer_outputs_than_inputs", true);
    tw_tensor *places = tw__temp_range(t, tw__temp_at(t, tw__temp_shape(t, labels, TW_INT32), 1));
    tw_tensor *counts = TW_TEMP(ExpandDims, tw__temp_cast(t, label_length, TW_INT32), 1);
    tw_tensor *there = TW_TEMP(Less, TW_TEMP(ExpandDims, places, 0), counts);
    tw_tensor *indices = TW_TEMP(Where, there), *values = TW_TEMP(GatherNd, labels, indices);
    tw_tensor *made = values ? loss(t, logits, indices, values, lengths, &ignore, 1) : NULL;
    if (!made)
        return NULL;
    tw_tensor *same = TW_TEMP(Equal, labels, TW_TEMP(Roll, labels, 1, 1));
    tw_tensor *repeats = TW_TEMP(LogicalAnd, TW_TEMP(LogicalAnd, same, there), TW_TEMP(Greater, places, 0));
    tw_tensor *needed =
        TW_TEMP(AddV2, TW_TEMP(Sum, tw__temp_cast(t, there, TW_INT32), 1), TW_TEMP(Sum, tw__temp_cast(t, repeats, TW_INT32), 1));
    tw_tensor *short_ones = TW_TEMP(Less, tw__temp_cast(t, lengths, TW_INT32), needed);
    return TW_TEMP(SelectV2, short_ones, tw__temp_float(t, made->dtype, INFINITY), made);
}

TW_API(
    nn_ctc_loss,
    "nn.ctc_loss|compat.v1.nn.ctc_loss_v2(labels: value, logits: tensor, label_length: tensor?, logit_length: tensor, logits_time_major: bool = True, "
    "unique: value = None, blank_index: int = None, name: str = None) -> tensor",
    "Minus the logarithm of the chance of each sequence of labels, dense or sparse, given frames.\n"
    "label_length: how many labels each sample has; None where `labels` is a sparse tensor\n"
    "logit_length: how many frames each sample has\n"
    "logits_time_major: True: `logits` are [time, batch, classes]; False: [batch, time, classes]\n"
    "unique: what `ctc_unique_labels` gives for the labels; the result is the same without it\n"
    "blank_index: the class that stands for no label; negative ones count from the end")
{
    TW_TEMPS(t);
    bool sparse = args->labels.kind == TW_VALUE_OBJECT && tw__is(args->labels.object, &tw__class_sparse_tensor);
    const tw_sparse_tensor *given = sparse ? args->labels.object : NULL;
    if (sparse && args->blank_index == TW_NO_INT) {
        tw__fail(TW_VALUE_ERROR, "Argument `blank_index` must be provided when labels is a SparseTensor.");
        return NULL;
    }
    if (!sparse && !args->label_length) {
        tw__fail(TW_VALUE_ERROR, "ctc_loss: `label_length` must be given for dense labels");
        return NULL;
    }
    tw_tensor *logits = time_major(t, args->logits, args->logits_time_major);
    tw_tensor *labels = sparse ? given->values : tw__temp(t, tw__value_tensor(&args->labels, TW_DTYPE_NONE, "ctc_loss: labels"));
    int64_t blank = args->blank_index == TW_NO_INT ? 0 : args->blank_index;
    if (!logits || !labels || blank_to_end(t, blank, &logits, &labels) != TW_OK)
        return NULL;
    if (sparse)
        return tw__keep(t, loss(t, logits, given->indices, labels, args->logit_length, NULL, 0));
    return tw__keep(t, dense_loss(t, logits, labels, args->label_length, args->logit_length));
}

/* ---- decoders ---- */

/* ([SparseTensor …], probabilities) of an op's outputs: `paths` indices, values, shapes, then the probabilities. They are taken.
 */
static tw_value result(tw_tensor **made, int64_t paths)
{
    tw_value pair = { .kind = TW_VALUE_TUPLE, .list = { tw__alloc_array(2, sizeof(tw_value)), 2, NULL } };
    tw_value list = { .kind = TW_VALUE_LIST, .list = { tw__alloc_array((size_t)paths, sizeof(tw_value)), 0, NULL } };
    bool good = pair.list.items && list.list.items;
    for (int64_t i = 0; i < paths; i++) {
        void *sparse = good ? tw__sparse_new(made[i], made[paths + i], made[2 * paths + i]) : NULL;
        for (int k = 0; k < 3; k++)
            tw_release(made[k * paths + i]);
        good = good && sparse;
        if (sparse)
            list.list.items[list.list.count++] = (tw_value){ .kind = TW_VALUE_OBJECT, .object = sparse };
    }
    if (pair.list.items) {
        pair.list.items[0] = list;
        pair.list.items[1] = TW_LEAF(made[3 * paths]);
    } else {
        tw_value_free(&list);
        tw_release(made[3 * paths]);
    }
    if (good)
        return pair;
    tw_value_free(&pair);
    return (tw_value){ .kind = TW_VALUE_NONE };
}

TW_API(
    nn_ctc_greedy_decoder,
    "nn.ctc_greedy_decoder(inputs: tensor, sequence_length: tensor<int32>, merge_repeated: bool = True, blank_index: int = None) -> "
    "value",
    "The labels of each frame's greatest logit: a list of one sparse tensor, and minus the sum of those logits.\n"
    "blank_index: the class that stands for no label; None: the last one; negative ones count from the end\n"
    "inputs: scores, [time, batch, classes]")
{
    tw_tensor *made[4] = { NULL };
    int count = 4;
    tw_attr attrs[] = { TW_A_BOOL("merge_repeated", args->merge_repeated),
                        TW_A_INT("blank_index", args->blank_index == TW_NO_INT ? -1 : args->blank_index) };
    if (tw__apply(&tw__op_CTCGreedyDecoder, TW_IN(args->inputs, args->sequence_length), 2, attrs, 2, made, &count) != TW_OK)
        return (tw_value){ .kind = TW_VALUE_NONE };
    return result(made, 1);
}

static tw_value search(tw_tensor *inputs, tw_tensor *lengths, int64_t width, int64_t paths, bool merge)
{
    tw_attr attrs[] = { TW_A_INT("beam_width", width), TW_A_INT("top_paths", paths), TW_A_BOOL("merge_repeated", merge) };
    if (paths < 1 || paths > INT16_MAX) {
        tw__fail(TW_VALUE_ERROR, "ctc_beam_search_decoder: `top_paths` must be between 1 and %d, got %lld", INT16_MAX,
                 (long long)paths);
        return (tw_value){ .kind = TW_VALUE_NONE };
    }
    tw_tensors made = tw__call_many(&tw__op_CTCBeamSearchDecoder, TW_IN(inputs, lengths), 2, attrs, 3, 3 * paths + 1);
    if (!made.items)
        return (tw_value){ .kind = TW_VALUE_NONE };
    tw_value pair = result(made.items, paths);
    tw__free(made.items);
    return pair;
}

TW_API(nn_ctc_beam_search_decoder,
       "nn.ctc_beam_search_decoder|compat.v1.nn.ctc_beam_search_decoder_v2(inputs: tensor, sequence_length: tensor<int32>, "
       "beam_width: int = 100, top_paths: int = 1) -> value",
       "The likeliest sequences of labels: sparse tensors, and the logarithms of their chances.\n"
       "beam_width: how many beginnings of sequences are kept after each frame\n"
       "top_paths: how many sequences come back for each sample, at most `beam_width`\n"
       "inputs: scores, [time, batch, classes]")
{
    return search(args->inputs, args->sequence_length, args->beam_width, args->top_paths, false);
}

TW_API(v1_ctc_beam_search_decoder,
       "compat.v1.nn.ctc_beam_search_decoder(inputs: tensor, sequence_length: tensor<int32>, beam_width: int = 100, "
       "top_paths: int = 1, merge_repeated: bool = True) -> value",
       "The likeliest sequences of labels, equal neighbours as one: sparse tensors, and the logarithms of their chances.\n"
       "beam_width: how many beginnings of sequences are kept after each frame\n"
       "top_paths: how many sequences come back for each sample, at most `beam_width`\n"
       "inputs: scores, [time, batch, classes]")
{
    return search(args->inputs, args->sequence_length, args->beam_width, args->top_paths, args->merge_repeated);
}
