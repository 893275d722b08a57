/* A sequence of an LSTM. The inputs' part of all gates is one large product beforehand; a step adds the product of the last
 * hidden values, whose weights are packed once. Threads share a step by units: each one reads only its own columns of the
 * weights, which stay in its cache, and makes its units' gates and values right behind the product. Backward likewise; the
 * derivatives by the weights are products over all steps at the end. */
#include "kernel/lstm.h"

#include "kernel/elementwise/functions.h"
#include "kernel/gemm/gemm.h"

enum { MOST_PARTS = 64, LEAST_UNITS = 16, GATES = 4, WORK_PER_PART = 1 << 18 };

typedef struct run {
    const tw__lstm *lstm;
    const tw__lstm_derivatives *to; /* backward */
    int64_t parts, step;
    float *packed;        /* per part (and, forward, gate) a packed matrix */
    size_t packed_each;   /* floats */
    float *gates;         /* [steps, batch, 4 * units]: forward before the functions, backward derivatives */
    float *hidden, *cell; /* backward: derivatives that came from the step behind, [batch, units] */
} run;

/* Units of one part, in whole vectors. */
static void units_of(const run *r, int64_t part, int64_t *first, int64_t *count)
{
    int64_t blocks = (r->lstm->units + LEAST_UNITS - 1) / LEAST_UNITS;
    int64_t begin = blocks * part / r->parts * LEAST_UNITS, end = blocks * (part + 1) / r->parts * LEAST_UNITS;
    *first = begin;
    *count = (end < r->lstm->units ? end : r->lstm->units) - begin;
}

static int64_t parts_for(const tw__lstm *lstm)
{
    int64_t blocks = (lstm->units + LEAST_UNITS - 1) / LEAST_UNITS;
    double work = (double)lstm->batch * (double)lstm->units * (double)lstm->units * GATES / WORK_PER_PART;
    int64_t parts = tw__thread_count();
    parts = parts < work ? parts : (int64_t)work;
    parts = parts < blocks ? parts : blocks;
    return parts < 1 ? 1 : parts < MOST_PARTS ? parts : MOST_PARTS;
}

static void each_part(run *r, void (*body)(void *context, int64_t begin, int64_t end))
{
    if (r->parts == 1)
        body(r, 0, 1);
    else
        tw__parallel(r->parts, 1, body, r);
}

/* ---- forward ---- */

static TW_CLONES void make_values(const float *restrict gates, const float *restrict bias, int64_t units, int64_t count,
                                  const float *restrict before, float *restrict input, float *restrict forget,
                                  float *restrict candidate, float *restrict output, float *restrict cell,
                                  float *restrict cell_tanh, float *restrict hidden)
{
    TW_INDEPENDENT
    for (int64_t j = 0; j < count; j++) {
        float i = tw__sigmoid_of_float(gates[j] + bias[j]), f = tw__sigmoid_of_float(gates[units + j] + bias[units + j]);
        float g = TANH_OF(gates[2 * units + j] + bias[2 * units + j]);
        float o = tw__sigmoid_of_float(gates[3 * units + j] + bias[3 * units + j]);
        float c = g * i + before[j] * f, t = TANH_OF(c);
        input[j] = i;
        forget[j] = f;
        candidate[j] = g;
        output[j] = o;
        cell[j] = c;
        cell_tanh[j] = t;
        hidden[j] = o * t;
    }
}

static void step_forward(void *context, int64_t begin, int64_t end)
{
    run *r = context;
    const tw__lstm *s = r->lstm;
    int64_t units = s->units, all = s->batch * units;
    const float *hidden = r->step ? s->hidden + (r->step - 1) * all : s->first;
    const float *cell = r->step ? s->cell + (r->step - 1) * all : s->first_cell;
    float *gates = r->gates + r->step * all * GATES;
    for (int64_t part = begin; part < end; part++) {
        int64_t first, count;
        units_of(r, part, &first, &count);
        for (int g = 0; g < GATES; g++)
            tw__gemm_add_packed(s->batch, count, units, hidden, units, r->packed + (size_t)(part * GATES + g) * r->packed_each,
                                gates + g * units + first, GATES * units);
        for (int64_t b = 0; b < s->batch; b++) {
            int64_t at = b * units + first, out = r->step * all + at;
            make_values(gates + b * GATES * units + first, s->bias + first, units, count, cell + at, s->input + out,
                        s->forget + out, s->candidate + out, s->output + out, s->cell + out, s->cell_tanh + out, s->hidden + out);
        }
    }
}

static void pack_forward(void *context, int64_t begin, int64_t end)
{
    run *r = context;
    const tw__lstm *s = r->lstm;
    for (int64_t part = begin; part < end; part++) {
        int64_t first, count;
        units_of(r, part, &first, &count);
        for (int g = 0; g < GATES; g++)
            tw__gemm_pack_matrix(s->units, count, s->weights + s->size * GATES * s->units + g * s->units + first,
                                 GATES * s->units, 1, r->packed + (size_t)(part * GATES + g) * r->packed_each);
    }
}

/* Memory for the gates of all steps, packed matrices and `more` floats behind. */
static tw__buffer *prepare(run *r, int64_t deep, int64_t matrices, int64_t more)
{
    const tw__lstm *s = r->lstm;
    int64_t most = 0;
    for (int64_t part = 0; part < r->parts; part++) {
        int64_t first, count;
        units_of(r, part, &first, &count);
        most = count > most ? count : most;
    }
    r->packed_each = tw__gemm_packed_size(deep, most);
    size_t gates = (size_t)(s->steps * s->batch * GATES * s->units), packed = r->packed_each * (size_t)(r->parts * matrices);
    tw__buffer *buffer = tw__buffer_new((gates + packed + (size_t)more) * sizeof(float));
    if (!buffer)
        return NULL;
    r->packed = buffer->data;
    r->gates = r->packed + packed;
    r->hidden = r->gates + gates;
    return buffer;
}

tw_status tw__lstm_forward(const tw__lstm *s)
{
    run r = { .lstm = s, .parts = parts_for(s) };
    tw__buffer *buffer = prepare(&r, s->units, GATES, 0);
    if (!buffer)
        return tw__error_status();
    int64_t wide = GATES * s->units;
    tw_status status = tw__gemm_float(s->steps * s->batch, wide, s->size, s->x, s->size, 1, s->weights, wide, 1, r.gates, wide);
    if (status == TW_OK)
        each_part(&r, pack_forward);
    for (; status == TW_OK && r.step < s->steps; r.step++)
        each_part(&r, step_forward);
    tw__buffer_release(buffer);
    return status;
}

/* ---- backward ---- */

static TW_CLONES void derive_values(float *restrict gates, int64_t units, int64_t count, const float *restrict input,
                                    const float *restrict forget, const float *restrict candidate, const float *restrict output,
                                    const float *restrict before, const float *restrict cell_tanh,
                                    const float *restrict by_hidden, const float *restrict by_cell, const float *restrict hidden,
                                    float *restrict cell)
{
    TW_INDEPENDENT
    for (int64_t j = 0; j < count; j++) {
        float i = input[j], f = forget[j], g = candidate[j], o = output[j], t = cell_tanh[j];
        float h = by_hidden[j] + hidden[j];
        float c = by_cell[j] + cell[j] + h * o * (1 - t * t);
        gates[j] = c * g * i * (1 - i);
        gates[units + j] = c * before[j] * f * (1 - f);
        gates[2 * units + j] = c * i * (1 - g * g);
        gates[3 * units + j] = h * t * o * (1 - o);
        cell[j] = c * f;
    }
}

/* The step's gates from what came from the step behind, which is made of that one's gates first; after step 0 that alone is done.
 */
static void step_backward(void *context, int64_t begin, int64_t end)
{
    run *r = context;
    const tw__lstm *s = r->lstm;
    int64_t units = s->units, all = s->batch * units, step = r->step;
    for (int64_t part = begin; part < end; part++) {
        int64_t first, count;
        units_of(r, part, &first, &count);
        for (int64_t b = 0; b < s->batch; b++)
            memset(r->hidden + b * units + first, 0, (size_t)count * sizeof(float));
        if (step + 1 < s->steps)
            tw__gemm_add_packed(s->batch, count, GATES * units, r->gates + (step + 1) * all * GATES, GATES * units,
                                r->packed + (size_t)part * r->packed_each, r->hidden + first, units);
        for (int64_t b = 0; b < s->batch && step >= 0; b++) {
            int64_t at = b * units + first, in = step * all + at;
            const float *before = step ? s->cell + in - all : s->first_cell + at;
            derive_values(r->gates + step * all * GATES + b * GATES * units + first, units, count, s->input + in, s->forget + in,
                          s->candidate + in, s->output + in, before, s->cell_tanh + in, r->to->hidden + in, r->to->cell + in,
                          r->hidden + at, r->cell + at);
        }
    }
}

static void pack_backward(void *context, int64_t begin, int64_t end)
{
    run *r = context;
    const tw__lstm *s = r->lstm;
    for (int64_t part = begin; part < end; part++) {
        int64_t first, count, wide = GATES * s->units;
        units_of(r, part, &first, &count);
        tw__gemm_pack_matrix(wide, count, s->weights + (s->size + first) * wide, 1, wide,
                             r->packed + (size_t)part * r->packed_each);
    }
}

static TW_CLONES void add_row(float *restrict to, const float *restrict from, int64_t count)
{
    TW_INDEPENDENT
    for (int64_t j = 0; j < count; j++)
        to[j] += from[j];
}

/* Of the weights of hidden values: all steps but the first use hidden values that were made here. */
static tw_status derive_hidden_weights(const run *r, float *to)
{
    const tw__lstm *s = r->lstm;
    int64_t wide = GATES * s->units, rows = s->batch;
    tw__buffer *buffer = tw__buffer_new((size_t)(s->units * wide) * sizeof(float));
    if (!buffer)
        return tw__error_status();
    float *first = buffer->data;
    tw_status status =
        tw__gemm_float(s->units, wide, (s->steps - 1) * rows, s->hidden, 1, s->units, r->gates + rows * wide, wide, 1, to, wide);
    if (status == TW_OK)
        status = tw__gemm_float(s->units, wide, rows, s->first, 1, s->units, r->gates, wide, 1, first, wide);
    for (int64_t i = 0; status == TW_OK && i < s->units; i++)
        add_row(to + i * wide, first + i * wide, wide);
    tw__buffer_release(buffer);
    return status;
}

tw_status tw__lstm_backward(const tw__lstm *s, const tw__lstm_derivatives *to)
{
    int64_t wide = GATES * s->units, all = s->batch * s->units, rows = s->steps * s->batch;
    run r = { .lstm = s, .to = to, .parts = parts_for(s) };
    tw__buffer *buffer = prepare(&r, wide, 1, 0);
    if (!buffer)
        return tw__error_status();
    r.hidden = to->first; /* the last ones are the derivatives by the first state */
    r.cell = to->first_cell;
    memset(r.cell, 0, (size_t)all * sizeof(float));
    each_part(&r, pack_backward);
    for (r.step = s->steps - 1; r.step >= -1; r.step--)
        each_part(&r, step_backward);
    memset(to->bias, 0, (size_t)wide * sizeof(float));
    for (int64_t i = 0; i < rows; i++)
        add_row(to->bias, r.gates + i * wide, wide);
    tw_status status = tw__gemm_float(s->size, wide, rows, s->x, 1, s->size, r.gates, wide, 1, to->weights, wide);
    if (status == TW_OK && s->steps)
        status = derive_hidden_weights(&r, to->weights + s->size * wide);
    else if (status == TW_OK)
        memset(to->weights + s->size * wide, 0, (size_t)(s->units * wide) * sizeof(float));
    if (status == TW_OK)
        status = tw__gemm_float(rows, s->size, wide, r.gates, wide, 1, s->weights, 1, wide, to->x, s->size);
    tw__buffer_release(buffer);
    return status;
}
