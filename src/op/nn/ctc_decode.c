/* CTCGreedyDecoder and CTCBeamSearchDecoder: the likeliest labels of frames [time, batch, classes], as sparse tensors. */
#include <math.h>

#include "base/pause.h"
#include "op/nn/wide.h"
#include "rows.h"

/* ---- what both give ---- */

/* Labels of all sequences side by side; sizes[b] of them belong to sequence b. */
typedef struct decoded {
    int64_t *labels, *sizes, count, room;
} decoded;

static tw_status decoded_add(decoded *d, int64_t label)
{
    if (d->count == d->room) {
        int64_t room = d->room ? 2 * d->room : 64;
        int64_t *larger = tw__alloc_array((size_t)room, sizeof *larger);
        if (!larger)
            return tw__error_status();
        if (d->count)
            memcpy(larger, d->labels, (size_t)d->count * sizeof *larger);
        tw__free(d->labels);
        d->labels = larger;
        d->room = room;
    }
    d->labels[d->count++] = label;
    return TW_OK;
}

/* Three outputs, from `first` on in steps of `step`: indices, values, shape. */
static tw_status give(tw__kernel *kernel, const decoded *d, int64_t batch, int first, int step)
{
    tw_shape pairs = TW_SHAPE(d->count, 2), list = TW_SHAPE(d->count), two = TW_SHAPE(2);
    tw_tensor *indices = tw__output(kernel, first, &pairs), *values = tw__output(kernel, first + step, &list),
              *shape = tw__output(kernel, first + 2 * step, &two);
    if (!indices || !values || !shape)
        return tw__error_status();
    int64_t *at = indices->data, most = 0;
    if (d->count)
        memcpy(values->data, d->labels, (size_t)d->count * sizeof(int64_t));
    for (int64_t b = 0; b < batch; b++) {
        for (int64_t i = 0; i < d->sizes[b]; i++) {
            *at++ = b;
            *at++ = i;
        }
        most = d->sizes[b] > most ? d->sizes[b] : most;
    }
    ((int64_t *)shape->data)[0] = batch;
    ((int64_t *)shape->data)[1] = most;
    return TW_OK;
}

static tw_status check(const tw__kernel *kernel)
{
    const tw_tensor *input = kernel->inputs[0], *lengths = kernel->inputs[1];
    const int32_t *frames = lengths->data;
    if (lengths->count != input->shape.dims[1])
        return TW_OP_FAIL(kernel, TW_FAILED_PRECONDITION,
                          "len(sequence_length) != batch_size.  len(sequence_length):  %lld batch_size: %lld",
                          (long long)lengths->count, (long long)input->shape.dims[1]);
    if (input->shape.dims[2] == 0)
        return TW_OP_FAIL(kernel, TW_INVALID_ARGUMENT, "num_classes must be positive");
    for (int64_t b = 0; b < lengths->count; b++) {
        if (frames[b] < 0 || frames[b] > input->shape.dims[0])
            return TW_OP_FAIL(kernel, TW_FAILED_PRECONDITION, "sequence_length(%lld) <= %lld", (long long)b,
                              (long long)input->shape.dims[0]);
    }
    return TW_OK;
}

/* ---- greedy ---- */

static tw_status greedy_shape(tw__inference *inference)
{
    TW_TRY(tw__need_rank(inference, 0, 3));
    TW_TRY(tw__need_rank(inference, 1, 1));
    const tw_shape *input = inference->shapes[0];
    inference->out_shapes[0] = TW_SHAPE(-1, 2);
    inference->out_shapes[1] = TW_SHAPE(-1);
    inference->out_shapes[2] = TW_SHAPE(2);
    inference->out_shapes[3] = TW_SHAPE(input->rank == 3 ? input->dims[1] : -1, 1);
    return TW_OK;
}

static tw_status greedy(tw__kernel *kernel, const double *logits, decoded *d, double *sums)
{
    const tw_tensor *input = kernel->inputs[0];
    const int32_t *frames = kernel->inputs[1]->data;
    int64_t batch = input->shape.dims[1], classes = input->shape.dims[2], blank = TW_ATTR(kernel, "blank_index")->i;
    bool merge = TW_ATTR(kernel, "merge_repeated")->b;
    blank += blank < 0 ? classes : 0;
    if (blank < 0 || blank >= classes)
        return TW_OP_FAIL(kernel, TW_INVALID_ARGUMENT, "blank_index expected to be between %lld and %lld but was %lld",
                          (long long)-classes, (long long)classes - 1, (long long)TW_ATTR(kernel, "blank_index")->i);
    for (int64_t b = 0; b < batch; b++) {
        int64_t previous = -1, begin = d->count;
        for (int64_t t = 0; t < frames[b]; t++) {
            const double *row = logits + (t * batch + b) * classes;
            int64_t best = 0;
            for (int64_t c = 1; c < classes; c++)
                best = row[c] > row[best] ? c : best;
            sums[b] -= row[best];
            if (best != blank && !(merge && best == previous))
                TW_TRY(decoded_add(d, best));
            previous = best;
        }
        d->sizes[b] = d->count - begin;
    }
    return TW_OK;
}

static tw_status greedy_compute(tw__kernel *kernel)
{
    TW_TRY(check(kernel));
    int64_t batch = kernel->inputs[0]->shape.dims[1];
    tw__owned double *logits = tw__wide_read(kernel->inputs[0]), *sums = tw__wide_new(batch);
    tw__owned int64_t *sizes = tw__alloc_array((size_t)batch + 1, sizeof *sizes);
    if (!logits || !sums || !sizes)
        return tw__error_status();
    decoded d = { .sizes = sizes };
    tw_status status = greedy(kernel, logits, &d, sums);
    if (status == TW_OK)
        status = give(kernel, &d, batch, 0, 1);
    tw__free(d.labels);
    if (status == TW_OK)
        tw__wide_write(kernel->outputs[3], sums);
    return status;
}

TW_OP(CTCGreedyDecoder, .inputs = "inputs: T, sequence_length: int32",
      .outputs = "decoded_indices: int64, decoded_values: int64, decoded_shape: int64, log_probability: T",
      .attrs = "merge_repeated: bool = false, blank_index: int = -1, T: {float, double} = float", .shape = greedy_shape,
      .compute = greedy_compute, .doc = "The labels of each frame's greatest logit, without blanks.");

/* ---- beam search ---- */

/* A prefix of labels: its last one, and its logarithms of chances: to end in a blank, in that label, either. */
typedef struct entry {
    struct entry *parent, *children, *next, *all; /* next: of the same parent; all: the one made before */
    int64_t label;
    double old[3], new[3];
} entry;

enum { BLANK, LABEL, TOTAL };

typedef struct beam {
    entry **leaves, **before; /* in falling order of their chances */
    int64_t width, count, classes;
    entry *last; /* all entries of this sequence */
} beam;

static double log_sum(double a, double b)
{
    double high = a > b ? a : b, low = a > b ? b : a;
    return isinf(high) ? high : high + log1p(exp(low - high));
}

static void reset(double *chances)
{
    for (int i = 0; i < 3; i++)
        chances[i] = -INFINITY;
}

static entry *entry_new(beam *s, entry *parent, int64_t label)
{
    entry *made = tw__alloc(sizeof *made);
    if (!made)
        return NULL;
    *made = (entry){ .parent = parent, .label = label, .all = s->last };
    reset(made->old);
    reset(made->new);
    s->last = made;
    return made;
}

static entry *child_of(beam *s, entry *parent, int64_t label)
{
    for (entry *c = parent->children; c; c = c->next) {
        if (c->label == label)
            return c;
    }
    entry *made = entry_new(s, parent, label);
    if (made) {
        made->next = parent->children;
        parent->children = made;
    }
    return made;
}

/* In its place; with a full beam the last one falls out. */
static void push(beam *s, entry *e)
{
    if (s->count == s->width && e->new[TOTAL] <= s->leaves[s->count - 1]->new[TOTAL])
        return;
    int64_t at = s->count < s->width ? s->count++ : s->count - 1;
    for (; at > 0 && s->leaves[at - 1]->new[TOTAL] < e->new[TOTAL]; at--)
        s->leaves[at] = s->leaves[at - 1];
    s->leaves[at] = e;
}

static bool is_candidate(const beam *s, double total)
{
    return total > -INFINITY && (s->count < s->width || total > s->leaves[s->count - 1]->new[TOTAL]);
}

/* The chances of a prefix that stays: a blank, or its last label once more. */
static void stay(entry *b, const double *frame, int64_t blank)
{
    if (b->parent) {
        if (b->parent->new[TOTAL] != -INFINITY) {
            double previous = b->label == b->parent->label ? b->parent->old[BLANK] : b->parent->old[TOTAL];
            b->new[LABEL] = log_sum(b->new[LABEL], previous);
        }
        b->new[LABEL] += frame[b->label];
    }
    b->new[BLANK] = b->old[TOTAL] + frame[blank];
    b->new[TOTAL] = log_sum(b->new[BLANK], b->new[LABEL]);
}

static tw_status grow(beam *s, entry *b, const double *frame)
{
    for (int64_t label = 0; label < s->classes - 1; label++) {
        entry *c = child_of(s, b, label);
        if (!c)
            return tw__error_status();
        if (c->new[TOTAL] != -INFINITY)
            continue;
        c->new[BLANK] = -INFINITY;
        c->new[LABEL] = frame[label] + (label == b->label ? b->old[BLANK] : b->old[TOTAL]);
        c->new[TOTAL] = c->new[LABEL];
        if (!is_candidate(s, c->new[TOTAL])) {
            reset(c->old);
            reset(c->new);
            continue;
        }
        if (s->count == s->width)
            reset(s->leaves[s->count - 1]->new);
        push(s, c);
    }
    return tw__pause();
}

static tw_status step(beam *s, const double *frame)
{
    int64_t count = s->count;
    memcpy(s->before, s->leaves, (size_t)count * sizeof *s->leaves);
    for (int64_t i = 0; i < count; i++)
        memcpy(s->before[i]->old, s->before[i]->new, sizeof s->before[i]->old);
    s->count = 0;
    for (int64_t i = 0; i < count; i++) {
        stay(s->before[i], frame, s->classes - 1);
        push(s, s->before[i]);
    }
    for (int64_t i = 0; i < count; i++) {
        if (is_candidate(s, s->before[i]->old[TOTAL]))
            TW_TRY(grow(s, s->before[i], frame));
    }
    return TW_OK;
}

static tw_status take_path(const entry *leaf, bool merge, decoded *d)
{
    int64_t begin = d->count, previous = -1;
    for (const entry *e = leaf; e->parent; e = e->parent) {
        if (!merge || e->label != previous)
            TW_TRY(decoded_add(d, e->label));
        previous = e->label;
    }
    for (int64_t i = begin, k = d->count - 1; i < k; i++, k--) {
        int64_t label = d->labels[i];
        d->labels[i] = d->labels[k];
        d->labels[k] = label;
    }
    return TW_OK;
}

static tw_status search(tw__kernel *kernel, beam *s, const double *chances, int64_t b, decoded *paths, double *totals)
{
    int64_t batch = kernel->inputs[0]->shape.dims[1], wanted = TW_ATTR(kernel, "top_paths")->i;
    int32_t frames = ((const int32_t *)kernel->inputs[1]->data)[b];
    entry *root = entry_new(s, NULL, -1);
    if (!root)
        return tw__error_status();
    root->new[TOTAL] = root->new[BLANK] = 0;
    s->leaves[0] = root;
    s->count = 1;
    for (int64_t t = 0; t < frames; t++)
        TW_TRY(step(s, chances + (t * batch + b) * s->classes));
    if (wanted > s->count)
        return TW_OP_FAIL(kernel, TW_INVALID_ARGUMENT, "Less leaves in the beam search than requested.");
    for (int64_t k = 0; k < wanted; k++) {
        int64_t begin = paths[k].count;
        TW_TRY(take_path(s->leaves[k], TW_ATTR(kernel, "merge_repeated")->b, &paths[k]));
        paths[k].sizes[b] = paths[k].count - begin;
        totals[b * wanted + k] = s->leaves[k]->new[TOTAL];
    }
    return TW_OK;
}

static void beam_end(beam *s)
{
    for (entry *e = s->last, *next; e; e = next) {
        next = e->all;
        tw__free(e);
    }
    s->last = NULL;
}

/* Each frame's logits become logarithms of chances. */
static void normalize(double *values, int64_t rows, int64_t classes)
{
    for (int64_t r = 0; r < rows; r++, values += classes) {
        double most = -INFINITY, sum = 0;
        for (int64_t c = 0; c < classes; c++)
            most = values[c] > most ? values[c] : most;
        for (int64_t c = 0; c < classes; c++)
            sum += exp(values[c] - most);
        for (int64_t c = 0; c < classes; c++)
            values[c] -= most + log(sum);
    }
}

static tw_status search_all(tw__kernel *kernel, beam *s, const double *chances, decoded *paths, double *totals)
{
    int64_t batch = kernel->inputs[0]->shape.dims[1], wanted = TW_ATTR(kernel, "top_paths")->i;
    for (int64_t b = 0; b < batch; b++) {
        tw_status status = search(kernel, s, chances, b, paths, totals);
        beam_end(s);
        TW_TRY(status);
    }
    for (int64_t k = 0; k < wanted; k++)
        TW_TRY(give(kernel, &paths[k], batch, (int)k, (int)wanted));
    tw__wide_write(kernel->outputs[3 * wanted], totals);
    return TW_OK;
}

static tw_status search_compute(tw__kernel *kernel)
{
    TW_TRY(check(kernel));
    const tw_shape *shape = &kernel->inputs[0]->shape;
    int64_t batch = shape->dims[1], wanted = TW_ATTR(kernel, "top_paths")->i, width = TW_ATTR(kernel, "beam_width")->i;
    if (wanted > width)
        return TW_OP_FAIL(kernel, TW_INVALID_ARGUMENT, "requested more paths than the beam width.");
    tw__owned double *chances = tw__wide_read(kernel->inputs[0]), *totals = tw__wide_new(batch * wanted);
    tw__owned entry **leaves = tw__alloc_array((size_t)width, sizeof *leaves),
                    **before = tw__alloc_array((size_t)width, sizeof *before);
    tw__owned decoded *paths = tw__alloc_array((size_t)wanted, sizeof *paths);
    tw__owned int64_t *sizes = tw__alloc_array((size_t)(batch * wanted + 1), sizeof *sizes);
    if (!chances || !totals || !leaves || !before || !paths || !sizes)
        return tw__error_status();
    normalize(chances, shape->dims[0] * batch, shape->dims[2]);
    for (int64_t k = 0; k < wanted; k++)
        paths[k] = (decoded){ .sizes = sizes + k * batch };
    beam s = { .leaves = leaves, .before = before, .width = width, .classes = shape->dims[2] };
    tw_status status = search_all(kernel, &s, chances, paths, totals);
    for (int64_t k = 0; k < wanted; k++)
        tw__free(paths[k].labels);
    return status;
}

static tw_status search_shape(tw__inference *inference)
{
    TW_TRY(tw__need_rank(inference, 0, 3));
    TW_TRY(tw__need_rank(inference, 1, 1));
    int64_t wanted = TW_ATTR(inference, "top_paths")->i, width = TW_ATTR(inference, "beam_width")->i;
    const tw_shape *input = inference->shapes[0];
    if (width > INT32_MAX)
        return TW_OP_FAIL(inference, TW_INVALID_ARGUMENT, "beam_width is %lld, too large", (long long)width);
    for (int64_t k = 0; k < wanted; k++) {
        inference->out_shapes[k] = TW_SHAPE(-1, 2);
        inference->out_shapes[wanted + k] = TW_SHAPE(-1);
        inference->out_shapes[2 * wanted + k] = TW_SHAPE(2);
    }
    inference->out_shapes[3 * wanted] = TW_SHAPE(input->rank == 3 ? input->dims[1] : -1, wanted);
    return TW_OK;
}

TW_OP(CTCBeamSearchDecoder, .inputs = "inputs: T, sequence_length: int32",
      .outputs = "decoded_indices: top_paths * int64, decoded_values: top_paths * int64, decoded_shape: top_paths * int64, "
                 "log_probability: T",
      .attrs = "beam_width: int >= 1, top_paths: int >= 1, merge_repeated: bool = true, T: {float, double} = float",
      .shape = search_shape, .compute = search_compute,
      .doc = "The likeliest sequences of labels, by keeping the best prefixes.");
