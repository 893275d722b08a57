/* ReverseSequence: of every entry of a batch the first so many elements of an axis are turned round; those behind stay. */
#include "kernel/copy.h"
#include "op/array/array.h"
#include "op/gradient.h"
#include "op/wording.h"
#include "rows.h"

static tw_status check_axes(const tw__inference *inference, int64_t sequence, int64_t batch)
{
    int rank = inference->shapes[0]->rank;
    if (inference->shapes[1]->rank >= 0 && inference->shapes[1]->rank != 1)
        return tw__fail(TW_INVALID_ARGUMENT, "seq_lengths must be 1-dim, not %d", inference->shapes[1]->rank);
    if (batch == sequence)
        return tw__fail(TW_INVALID_ARGUMENT, "batch_dim == seq_dim == %lld", (long long)sequence);
    if (sequence < 0)
        return tw__fail(TW_INVALID_ARGUMENT, "Invalid seq_dim %lld", (long long)sequence);
    if (batch < 0)
        return tw__fail(TW_INVALID_ARGUMENT, "Invalid batch_dim %lld", (long long)batch);
    if (rank >= 0 && sequence >= rank)
        return tw__fail(TW_INVALID_ARGUMENT, "seq_dim must be < input rank ( %lld vs. %d)", (long long)sequence, rank);
    if (rank >= 0 && batch >= rank)
        return tw__fail(TW_INVALID_ARGUMENT, "batch_dim must be < input rank ( %lld vs. %d)", (long long)batch, rank);
    return TW_OK;
}

static tw_status sequence_shape(tw__inference *inference)
{
    const tw_shape *in = inference->shapes[0], *lengths = inference->shapes[1];
    int64_t batch = TW_ATTR(inference, "batch_dim")->i;
    TW_TRY(check_axes(inference, TW_ATTR(inference, "seq_dim")->i, batch));
    inference->out_shapes[0] = *in;
    if (in->rank < 0 || lengths->rank < 0)
        return TW_OK;
    if (tw__sizes_differ(in->dims[batch], lengths->dims[0]))
        return tw__fail(TW_INVALID_ARGUMENT, "Length of seq_lengths != input.dims(%lld), (%lld vs. %lld)", (long long)batch,
                        (long long)lengths->dims[0], (long long)in->dims[batch]);
    if (in->dims[batch] < 0)
        inference->out_shapes[0].dims[batch] = lengths->dims[0];
    return TW_OK;
}

static bool sequence_words(tw__wording *w)
{
    const tw_shape *in = w->in->shapes[0], *lengths = w->in->shapes[1];
    int64_t sequence = TW_ATTR(w->in, "seq_dim")->i, batch = TW_ATTR(w->in, "batch_dim")->i;
    if (lengths->rank >= 0 && lengths->rank != 1)
        return tw__say_rank(w, 1, lengths->rank);
    if (in->rank >= 0 && (batch >= in->rank || sequence >= in->rank)) {
        bool outside = batch >= in->rank;
        tw__text_format(&w->text, "%s must be < input rank: %lld vs. %d", outside ? "batch_dim" : "seq_dim",
                        (long long)(outside ? batch : sequence), in->rank);
        return true;
    }
    return in->rank >= 0 && batch >= 0 && lengths->rank == 1 && tw__sizes_differ(in->dims[batch], lengths->dims[0]) &&
           tw__say_dims(w, in->dims[batch], lengths->dims[0]);
}

static tw_status sequence_compute(tw__kernel *kernel)
{
    const tw_tensor *in = kernel->inputs[0], *lengths = kernel->inputs[1];
    tw_tensor *out = kernel->outputs[0];
    int sequence = (int)TW_ATTR(kernel, "seq_dim")->i, batch = (int)TW_ATTR(kernel, "batch_dim")->i;
    int64_t size = in->shape.dims[sequence], strides[TW_MAX_RANK];
    for (int64_t i = 0; i < lengths->count; i++) {
        int64_t length = tw_tensor_int_at(lengths, i);
        if (length < 0)
            return tw__fail(TW_INVALID_ARGUMENT, "seq_lens(%lld) < 0", (long long)i);
        if (length > size)
            return tw__fail(TW_INVALID_ARGUMENT, "seq_lens(%lld) > input.dims(%d)", (long long)i, sequence);
    }
    if (in->count == 0)
        return TW_OK;
    size_t bytes = tw__element_size(in->dtype);
    tw__strides(&in->shape, strides);
    /* Each entry in two parts: what is turned round, and what stays. */
    for (int64_t i = 0; i < 2 * lengths->count; i++) {
        bool turn = i % 2 == 0;
        int64_t length = tw_tensor_int_at(lengths, i / 2), count = turn ? length : size - length;
        int64_t start = i / 2 * strides[batch], to = start + (turn ? 0 : length * strides[sequence]);
        int64_t from = turn ? start + (length - 1) * strides[sequence] : to;
        tw__walk walk = { 0 };
        for (int k = 0; k < in->shape.rank; k++) {
            bool along = k == sequence;
            if (k != batch)
                tw__walk_add(&walk, along ? count : in->shape.dims[k], strides[k], along && turn ? -strides[k] : strides[k]);
        }
        if (count > 0)
            TW_TRY(tw__copy_walk(in->dtype, (char *)out->data + (size_t)to * bytes, (const char *)in->data + (size_t)from * bytes,
                                 &walk));
    }
    return TW_OK;
}

static tw_status sequence_gradient(tw__gradient *g)
{
    if (!g->output_grads[0] || !g->wanted[0])
        return TW_OK;
    g->input_grads[0] =
        TW_CALL(ReverseSequence, g->output_grads[0], g->inputs[1], *TW_ATTR(g, "seq_dim"), *TW_ATTR(g, "batch_dim"));
    return g->input_grads[0] ? TW_OK : tw__error_status();
}

TW_OP(ReverseSequence, .inputs = "input: T, seq_lengths: Tlen", .outputs = "output: T",
      .attrs = "seq_dim: int, batch_dim: int = 0, T: type, Tlen: {int32, int64} = int64", .shape = sequence_shape,
      .compute = sequence_compute, .gradient = sequence_gradient, .words = sequence_words,
      .doc = "Turns the beginning of every sequence of a batch round, by its own length.");
