/* GRUBlockCell and LSTMBlockCell: one step of a recurrent cell with all that it works out on the way. */
#include <math.h>

#include "op/nn/wide.h"
#include "rows.h"

static double sigmoid(double x)
{
    return 1 / (1 + exp(-x));
}

/* out [rows, columns] = [x h] weights + bias */
static void affine(const double *x, int64_t wide, const double *h, int64_t units, const double *weights, const double *bias,
                   int64_t rows, int64_t columns, double *out)
{
    for (int64_t r = 0; r < rows; r++) {
        memcpy(out + r * columns, bias, (size_t)columns * sizeof *out);
        for (int64_t k = 0; k < wide + units; k++) {
            double factor = k < wide ? x[r * wide + k] : h[r * units + k - wide];
            for (int64_t c = 0; c < columns; c++)
                out[r * columns + c] += factor * weights[k * columns + c];
        }
    }
}

static int64_t dim(const tw_shape *shape, int rank, int i)
{
    return shape->rank == rank ? shape->dims[i] : -1;
}

static bool fits(const tw_shape *shape, int rank, int64_t first, int64_t second)
{
    tw_shape wanted = rank == 1 ? TW_SHAPE(first) : TW_SHAPE(first, second);
    return tw__shape_compatible(shape, &wanted);
}

static tw_status give_shapes(tw__inference *inference, int64_t batch, int64_t units)
{
    for (int i = 0; i < inference->output_count; i++)
        inference->out_shapes[i] = TW_SHAPE(batch, units);
    return TW_OK;
}

/* All inputs as doubles; they are freed by read_end. */
enum { MOST = 8 };

static void read_end(double **in)
{
    for (int i = 0; i < MOST; i++)
        tw__free(in[i]);
}

static bool read_all(const tw__kernel *kernel, double **in)
{
    bool good = true;
    for (int i = 0; i < kernel->input_count && i < MOST; i++)
        good &= (in[i] = tw__wide_read(kernel->inputs[i])) != NULL;
    return good;
}

/* ---- GRU ---- */

static tw_status gru_shape(tw__inference *inference)
{
    const tw_shape *const *s = inference->shapes;
    int64_t batch = dim(s[0], 2, 0), wide = dim(s[0], 2, 1), units = dim(s[1], 2, 1);
    int64_t rows = wide >= 0 && units >= 0 ? wide + units : -1, twice = units >= 0 ? 2 * units : -1;
    if (!fits(s[0], 2, batch, wide) || !fits(s[1], 2, batch, units) || !fits(s[2], 2, rows, twice) ||
        !fits(s[3], 2, rows, units) || !fits(s[4], 1, twice, 0) || !fits(s[5], 1, units, 0))
        return TW_OP_FAIL(inference, TW_INVALID_ARGUMENT,
                          "x is %s and h_prev %s; w_ru must be [%lld, %lld], w_c [%lld, %lld], b_ru [%lld], b_c [%lld]",
                          tw__shape_text(s[0]), tw__shape_text(s[1]), (long long)rows, (long long)twice, (long long)rows,
                          (long long)units, (long long)twice, (long long)units);
    return give_shapes(inference, batch, units);
}

static void gru_step(double **in, int64_t batch, int64_t wide, int64_t units, double *work)
{
    double *r = work, *u = r + batch * units, *c = u + batch * units, *h = c + batch * units, *gates = h + batch * units,
           *kept = gates + 2 * batch * units;
    affine(in[0], wide, in[1], units, in[2], in[4], batch, 2 * units, gates);
    for (int64_t i = 0; i < batch * units; i++) {
        const double *row = gates + i / units * 2 * units + i % units;
        r[i] = sigmoid(row[0]);
        u[i] = sigmoid(row[units]);
        kept[i] = r[i] * in[1][i];
    }
    affine(in[0], wide, kept, units, in[3], in[5], batch, units, c);
    for (int64_t i = 0; i < batch * units; i++) {
        c[i] = tanh(c[i]);
        h[i] = u[i] * in[1][i] + (1 - u[i]) * c[i];
    }
}

static tw_status gru_compute(tw__kernel *kernel)
{
    int64_t batch = kernel->inputs[0]->shape.dims[0], wide = kernel->inputs[0]->shape.dims[1],
            units = kernel->inputs[1]->shape.dims[1];
    double *in[MOST] = { NULL };
    tw__owned double *work = tw__wide_new(7 * batch * units);
    bool good = read_all(kernel, in) && work;
    if (good)
        gru_step(in, batch, wide, units, work);
    read_end(in);
    for (int i = 0; good && i < 4; i++)
        tw__wide_write(kernel->outputs[i], work + i * batch * units);
    return good ? TW_OK : tw__error_status();
}

TW_OP(GRUBlockCell, .inputs = "x: T, h_prev: T, w_ru: T, w_c: T, b_ru: T, b_c: T", .outputs = "r: T, u: T, c: T, h: T",
      .attrs = "T: {float}", .shape = gru_shape, .compute = gru_compute, .no_gradient = true,
      .doc = "One step of a GRU: the gates r and u, the candidate c, the state h.");

/* ---- LSTM ---- */

static tw_status lstm_shape(tw__inference *inference)
{
    const tw_shape *const *s = inference->shapes;
    int64_t batch = dim(s[0], 2, 0), wide = dim(s[0], 2, 1), units = dim(s[1], 2, 1);
    int64_t rows = wide >= 0 && units >= 0 ? wide + units : -1, four = units >= 0 ? 4 * units : -1;
    bool good = fits(s[0], 2, batch, wide) && fits(s[1], 2, batch, units) && fits(s[2], 2, batch, units) &&
                fits(s[3], 2, rows, four) && fits(s[7], 1, four, 0);
    for (int i = 4; i < 7; i++)
        good = good && fits(s[i], 1, units, 0);
    if (!good)
        return TW_OP_FAIL(inference, TW_INVALID_ARGUMENT,
                          "x is %s and cs_prev %s; w must be [%lld, %lld], b [%lld], and wci, wcf, wco [%lld]",
                          tw__shape_text(s[0]), tw__shape_text(s[1]), (long long)rows, (long long)four, (long long)four,
                          (long long)units);
    return give_shapes(inference, batch, units);
}

static void lstm_step(const tw__kernel *kernel, double **in, int64_t batch, int64_t wide, int64_t units, double *work)
{
    double clip = TW_ATTR(kernel, "cell_clip")->f, forget = TW_ATTR(kernel, "forget_bias")->f;
    double peep = TW_ATTR(kernel, "use_peephole")->b ? 1 : 0;
    int64_t size = batch * units;
    double *i = work, *cs = i + size, *f = cs + size, *o = f + size, *ci = o + size, *co = ci + size, *h = co + size,
           *gates = h + size;
    affine(in[0], wide, in[2], units, in[3], in[7], batch, 4 * units, gates);
    for (int64_t k = 0; k < size; k++) {
        const double *row = gates + k / units * 4 * units + k % units;
        int64_t unit = k % units;
        i[k] = sigmoid(row[0] + peep * in[4][unit] * in[1][k]);
        ci[k] = tanh(row[units]);
        f[k] = sigmoid(row[2 * units] + forget + peep * in[5][unit] * in[1][k]);
        cs[k] = ci[k] * i[k] + in[1][k] * f[k];
        if (clip > 0)
            cs[k] = cs[k] > clip ? clip : cs[k] < -clip ? -clip : cs[k];
        o[k] = sigmoid(row[3 * units] + peep * in[6][unit] * cs[k]);
        co[k] = tanh(cs[k]);
        h[k] = co[k] * o[k];
    }
}

static tw_status lstm_compute(tw__kernel *kernel)
{
    int64_t batch = kernel->inputs[0]->shape.dims[0], wide = kernel->inputs[0]->shape.dims[1],
            units = kernel->inputs[1]->shape.dims[1];
    double *in[MOST] = { NULL };
    tw__owned double *work = tw__wide_new(11 * batch * units);
    bool good = read_all(kernel, in) && work;
    if (good)
        lstm_step(kernel, in, batch, wide, units, work);
    read_end(in);
    for (int i = 0; good && i < 7; i++)
        tw__wide_write(kernel->outputs[i], work + i * batch * units);
    return good ? TW_OK : tw__error_status();
}

TW_OP(LSTMBlockCell, .inputs = "x: T, cs_prev: T, h_prev: T, w: T, wci: T, wcf: T, wco: T, b: T",
      .outputs = "i: T, cs: T, f: T, o: T, ci: T, co: T, h: T",
      .attrs = "forget_bias: float = 1.0, cell_clip: float = 3.0, use_peephole: bool = false, T: {half, float}",
      .shape = lstm_shape, .compute = lstm_compute, .no_gradient = true,
      .doc = "One step of an LSTM: its gates, candidates and states.");
