/* CTCLoss: minus the logarithm of the chance that a sequence of labels comes of the frames [time, batch, classes], blanks between
 * them and repetitions left out, and its gradient by the logits. The last class is the blank one. */
#include <math.h>

#include "base/pause.h"
#include "op/gradient.h"
#include "op/nn/wide.h"
#include "rows.h"

/* One sequence of the batch. */
typedef struct sequence {
    const tw__kernel *kernel;
    int64_t time, batch, classes, at; /* of the whole input; which sequence this is */
    int64_t frames, count, blank;     /* count: of labels */
    const int32_t *labels;
    bool merge; /* equal labels without a blank between them are one */
} sequence;

static double log_sum(double a, double b)
{
    double high = a > b ? a : b, low = a > b ? b : a;
    return isinf(high) ? high : high + log1p(exp(low - high));
}

/* The class at place i of the labels with blanks before, between and behind them. */
static int64_t class_at(const sequence *s, int64_t i)
{
    return i % 2 ? s->labels[i / 2] : s->blank;
}

/* May place i follow place i - 2? */
static bool skips(const sequence *s, int64_t i)
{
    return i % 2 && i >= 3 && (!s->merge || class_at(s, i) != class_at(s, i - 2));
}

/* Logarithms of the chances of frame t's classes. */
static void log_softmax(const double *logits, double *out, int64_t classes)
{
    double most = -INFINITY, sum = 0;
    for (int64_t c = 0; c < classes; c++)
        most = logits[c] > most ? logits[c] : most;
    for (int64_t c = 0; c < classes; c++)
        sum += exp(logits[c] - most);
    for (int64_t c = 0; c < classes; c++)
        out[c] = logits[c] - most - log(sum);
}

/* ahead[t][i]: the logarithm of the chance to be at place i after frame t. */
static void go_ahead(const sequence *s, const double *chances, double *ahead)
{
    int64_t places = 2 * s->count + 1;
    for (int64_t t = 0; t < s->frames; t++) {
        for (int64_t i = 0; i < places; i++) {
            const double *before = ahead + (t - 1) * places;
            double sum = t == 0 && i < 2 ? 0 : -INFINITY;
            if (t > 0) {
                sum = i % 2 && !s->merge ? -INFINITY : before[i]; /* unmerged, a label lasts one frame */
                sum = i >= 1 ? log_sum(sum, before[i - 1]) : sum;
                sum = skips(s, i) ? log_sum(sum, before[i - 2]) : sum;
            }
            ahead[t * places + i] = sum + chances[t * s->classes + class_at(s, i)];
        }
    }
}

/* behind[i] of frame t + 1 (with that frame's chances) to that of frame t. */
static void go_back(const sequence *s, const double *chances, const double *later, double *behind)
{
    int64_t places = 2 * s->count + 1;
    for (int64_t i = 0; i < places; i++) {
        double sum = i % 2 && !s->merge ? -INFINITY : later[i] + chances[class_at(s, i)];
        if (i + 1 < places)
            sum = log_sum(sum, later[i + 1] + chances[class_at(s, i + 1)]);
        if (i + 2 < places && skips(s, i + 2))
            sum = log_sum(sum, later[i + 2] + chances[class_at(s, i + 2)]);
        behind[i] = sum;
    }
}

/* The loss; `gradient` (of the whole input) gets the chances less those given the labels. */
static tw_status one(const sequence *s, const double *logits, double *loss, double *gradient)
{
    int64_t places = 2 * s->count + 1;
    tw__owned double *chances = tw__wide_new(s->frames * s->classes), *ahead = tw__wide_new((s->frames + 2) * places),
                     *given = tw__wide_new(s->classes);
    if (!chances || !ahead || !given)
        return tw__error_status();
    double *later = ahead + s->frames * places, *now = later + places;
    for (int64_t t = 0; t < s->frames; t++)
        log_softmax(logits + (t * s->batch + s->at) * s->classes, chances + t * s->classes, s->classes);
    go_ahead(s, chances, ahead);
    const double *end = ahead + (s->frames - 1) * places;
    double total = log_sum(end[places - 1], places > 1 ? end[places - 2] : -INFINITY);
    *loss = -total;
    for (int64_t t = s->frames - 1; t >= 0; t--) {
        if (t == s->frames - 1) {
            for (int64_t i = 0; i < places; i++)
                now[i] = i + 2 >= places ? 0 : -INFINITY;
        } else {
            memcpy(later, now, (size_t)places * sizeof *now);
            go_back(s, chances + (t + 1) * s->classes, later, now);
        }
        for (int64_t c = 0; c < s->classes; c++)
            given[c] = -INFINITY;
        for (int64_t i = 0; i < places; i++)
            given[class_at(s, i)] = log_sum(given[class_at(s, i)], ahead[t * places + i] + now[i]);
        double *to = gradient + (t * s->batch + s->at) * s->classes;
        for (int64_t c = 0; c < s->classes; c++)
            to[c] = exp(chances[t * s->classes + c]) - (isinf(total) ? 0 : exp(given[c] - total));
        TW_TRY(tw__pause());
    }
    return TW_OK;
}

/* Labels of one sequence, checked; `repeats` counts equal neighbours. */
static tw_status check_labels(const sequence *s, int64_t *repeats)
{
    for (int64_t i = 0; i < s->count; i++) {
        if (s->labels[i] < 0 || s->labels[i] >= s->classes - 1)
            return TW_OP_FAIL(
                s->kernel, TW_INVALID_ARGUMENT,
                "Saw a non-null label (index >= num_classes - 1) following a null label, batch: %lld num_classes: %lld "
                "labels: %d",
                (long long)s->at, (long long)s->classes, (int)s->labels[i]);
        *repeats += i && s->labels[i] == s->labels[i - 1];
    }
    return TW_OK;
}

/* Equal neighbours once. */
static int64_t collapse(int32_t *labels, int64_t count)
{
    int64_t kept = 0;
    for (int64_t i = 0; i < count; i++) {
        if (!i || labels[i] != labels[i - 1])
            labels[kept++] = labels[i];
    }
    return kept;
}

/* Sequences' labels side by side, and where each begins: in the order in which they stand. */
static tw_status read_labels(const tw__kernel *kernel, int64_t batch, int32_t *labels, int64_t *begins)
{
    const tw_tensor *indices = kernel->inputs[1], *values = kernel->inputs[2];
    const int64_t *rows = indices->data;
    int64_t at = 0;
    for (int64_t b = 0; b < batch; b++) {
        begins[b] = at;
        while (at < values->count && rows[2 * at] == b)
            at++;
    }
    begins[batch] = at;
    if (at < values->count)
        return TW_OP_FAIL(kernel, TW_INVALID_ARGUMENT, "labels batch index must be between 0 and %lld but saw: %lld, in order",
                          (long long)batch, (long long)rows[2 * at]);
    memcpy(labels, values->data, (size_t)values->count * sizeof *labels);
    return TW_OK;
}

static tw_status loss_of(sequence *s, int32_t *labels, const double *logits, double *loss, double *gradient)
{
    int64_t repeats = 0;
    if (s->frames == 0) {
        *loss = 0;
        return TW_OK;
    }
    TW_TRY(check_labels(s, &repeats));
    if (TW_ATTR(s->kernel, "preprocess_collapse_repeated")->b) {
        s->count = collapse(labels, s->count);
        repeats = 0;
    }
    int64_t needed = s->count + (s->merge ? repeats : 0);
    if (s->frames < needed) {
        if (!TW_ATTR(s->kernel, "ignore_longer_outputs_than_inputs")->b)
            return TW_OP_FAIL(s->kernel, TW_INVALID_ARGUMENT,
                              "Not enough time for target transition sequence (required: %lld, available: %lld)%lldYou can turn "
                              "this error into a warning by using the flag ignore_longer_outputs_than_inputs",
                              (long long)needed, (long long)s->frames, (long long)s->at);
        *loss = 0;
        return TW_OK;
    }
    return one(s, logits, loss, gradient);
}

static tw_status ctc_compute(tw__kernel *kernel)
{
    const tw_tensor *input = kernel->inputs[0], *lengths = kernel->inputs[3];
    int64_t time = input->shape.dims[0], batch = input->shape.dims[1], classes = input->shape.dims[2];
    const int32_t *frames = lengths->data;
    if (classes == 0)
        return TW_OP_FAIL(kernel, TW_INVALID_ARGUMENT, "num_classes must be positive");
    if (lengths->count != batch)
        return TW_OP_FAIL(kernel, TW_INVALID_ARGUMENT,
                          "len(sequence_length) != batch_size.  len(sequence_length):  %lld batch_size: %lld",
                          (long long)lengths->count, (long long)batch);
    tw__owned double *logits = tw__wide_read(input), *gradient = tw__wide_new(input->count), *losses = tw__wide_new(batch);
    tw__owned int32_t *labels = tw__alloc_array((size_t)kernel->inputs[2]->count + 1, sizeof *labels);
    tw__owned int64_t *begins = tw__alloc_array((size_t)batch + 1, sizeof *begins);
    if (!logits || !gradient || !losses || !labels || !begins)
        return tw__error_status();
    TW_TRY(read_labels(kernel, batch, labels, begins));
    for (int64_t b = 0; b < batch; b++) {
        if (frames[b] < 0 || frames[b] > time)
            return TW_OP_FAIL(kernel, TW_INVALID_ARGUMENT, "sequence_length(%lld) <= %lld", (long long)b, (long long)time);
        sequence s = { .kernel = kernel,
                       .time = time,
                       .batch = batch,
                       .classes = classes,
                       .at = b,
                       .frames = frames[b],
                       .count = begins[b + 1] - begins[b],
                       .blank = classes - 1,
                       .labels = labels + begins[b],
                       .merge = TW_ATTR(kernel, "ctc_merge_repeated")->b };
        TW_TRY(loss_of(&s, labels + begins[b], logits, &losses[b], gradient));
    }
    tw__wide_write(kernel->outputs[0], losses);
    tw__wide_write(kernel->outputs[1], gradient);
    return TW_OK;
}

static tw_status ctc_shape(tw__inference *inference)
{
    static const int ranks[] = { 3, 2, 1, 1 };
    for (int i = 0; i < 4; i++)
        TW_TRY(tw__need_rank(inference, i, ranks[i]));
    const tw_shape *input = inference->shapes[0], *indices = inference->shapes[1], *values = inference->shapes[2];
    if (indices->rank == 2 &&
        ((indices->dims[1] >= 0 && indices->dims[1] != 2) ||
         (values->rank == 1 && indices->dims[0] >= 0 && values->dims[0] >= 0 && indices->dims[0] != values->dims[0])))
        return TW_OP_FAIL(inference, TW_INVALID_ARGUMENT, "labels_indices is %s and labels_values %s, expected [n, 2] and [n]",
                          tw__shape_text(indices), tw__shape_text(values));
    inference->out_shapes[0] = TW_SHAPE(input->rank == 3 ? input->dims[1] : -1);
    inference->out_shapes[1] = input->rank == 3 ? *input : TW_SHAPE(-1, -1, -1);
    return TW_OK;
}

/* The op has made it: each frame's, times what comes in for its sequence. */
static tw_status ctc_gradient(tw__gradient *g)
{
    if (!g->wanted[0] || !g->output_grads[0])
        return TW_OK;
    tw_auto tw_tensor *rows = TW_CALL(ExpandDims, g->output_grads[0], -1);
    tw__grad_set(g, 0, TW_CALL(Mul, g->outputs[1], rows));
    return g->input_grads[0] ? TW_OK : tw__error_status();
}

TW_OP(CTCLoss, .inputs = "inputs: T, labels_indices: int64, labels_values: int32, sequence_length: int32",
      .outputs = "loss: T, gradient: T",
      .attrs = "preprocess_collapse_repeated: bool = false, ctc_merge_repeated: bool = true, "
               "ignore_longer_outputs_than_inputs: bool = false, T: {float, double} = float",
      .shape = ctc_shape, .compute = ctc_compute, .gradient = ctc_gradient,
      .doc = "Minus the logarithm of the chance of labels, given frames whose last class is blank; and its gradient.");
