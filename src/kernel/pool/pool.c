/* Pooling: spreads the loops (pool_loops.c) over threads and lets half and bfloat16 run as float.
 *
 * A thread takes whole rows of windows; where windows share elements that are added to (gradients of overlapping windows), whole
 * images. */
#include "kernel/pool/pool.h"
#include "kernel/kernel.h"

enum { ELEMENTS_PER_THREAD = 1 << 14 };

typedef struct spreading {
    tw__pool_job job;
    tw__pool_loop *loop;
    int64_t unit; /* rows of windows that one step stands for */
} spreading;

static void body(void *context, int64_t begin, int64_t end)
{
    const spreading *r = context;
    r->loop(&r->job, begin * r->unit, end * r->unit);
}

static void spread(tw__pool_loop *loop, tw__pool_job job, bool adds)
{
    const tw__pool *p = job.pool;
    spreading r = { job, loop, adds && p->stride[0] < p->window[0] ? p->out[0] : 1 };
    int64_t rows = p->batch * p->out[0];
    if (rows == 0)
        return;
    int64_t work = p->out[1] * p->channels * p->window[0] * p->window[1] * r.unit;
    tw__parallel(rows / r.unit, ELEMENTS_PER_THREAD / (work + 1) + 1, body, &r);
}

static int64_t in_count(const tw__pool *p)
{
    return p->batch * p->in[0] * p->in[1] * p->channels;
}

static int64_t out_count(const tw__pool *p)
{
    return p->batch * p->out[0] * p->out[1] * p->channels;
}

/* Every element lies in exactly one window. */
static bool covers_all(const tw__pool *p)
{
    bool all = true;
    for (int i = 0; i < 2; i++)
        all = all && p->stride[i] == p->window[i] && p->out[i] * p->stride[i] - p->before[i] >= p->in[i];
    return all;
}

typedef enum which { MAX, MAX_GRAD, MAX_GRAD_GRAD, MEAN, MEAN_GRAD } which;

static tw_status run_plain(which kind, tw_dtype dtype, tw__pool_job job)
{
    const tw__pool_loops *loops = &tw__pool_table[dtype];
    tw__pool_loop *loop = kind == MAX             ? loops->max
                          : kind == MAX_GRAD      ? loops->max_grad
                          : kind == MAX_GRAD_GRAD ? loops->max_grad_grad
                          : kind == MEAN          ? loops->mean
                                                  : loops->mean_grad;
    if (!loop)
        return tw__fail(TW_UNIMPLEMENTED, "pooling of %s", tw_dtype_name(dtype));
    bool adds = kind == MAX_GRAD || kind == MEAN_GRAD;
    const tw__pool *p = job.pool;
    job.apart = p->stride[0] >= p->window[0] && p->stride[1] >= p->window[1];
    if (adds && !covers_all(p))
        memset(job.result, 0, (size_t)in_count(p) * tw__element_size(dtype));
    spread(loop, job, adds);
    return TW_OK;
}

/* A float copy behind *at, which moves on; NULL stays NULL. */
static const void *read_float(tw_dtype dtype, const void *data, int64_t count, float **at)
{
    if (!data)
        return NULL;
    float *copy = *at;
    tw__small_float_read(dtype, data, copy, count);
    *at += count;
    return copy;
}

static tw_status run(which kind, tw_dtype dtype, tw__pool_job job)
{
    if (dtype != TW_FLOAT16 && dtype != TW_BFLOAT16)
        return run_plain(kind, dtype, job);
    const tw__pool *p = job.pool;
    bool to_input = kind == MAX_GRAD || kind == MEAN_GRAD;
    int64_t in = in_count(p), out = out_count(p), result = to_input ? in : out;
    int64_t gradient = kind == MAX_GRAD_GRAD ? in : out;
    tw__buffer *buffer = tw__buffer_new((size_t)(in + out + gradient + result) * sizeof(float));
    if (!buffer)
        return tw__error_status();
    float *at = buffer->data;
    tw__pool_job wide = { .pool = p };
    wide.input = read_float(dtype, job.input, in, &at);
    wide.output = read_float(dtype, job.output, out, &at);
    wide.gradient = read_float(dtype, job.gradient, gradient, &at);
    wide.result = at;
    tw_status status = run_plain(kind, TW_FLOAT32, wide);
    if (status == TW_OK)
        tw__small_float_write(dtype, at, job.result, result);
    tw__buffer_release(buffer);
    return status;
}

tw_status tw__max_pool(tw_dtype dtype, const tw__pool *pool, const void *input, void *output)
{
    return run(MAX, dtype, (tw__pool_job){ .pool = pool, .input = input, .result = output });
}

tw_status tw__max_pool_grad(tw_dtype dtype, const tw__pool *pool, const void *input, const void *output, const void *gradient,
                            void *result)
{
    return run(MAX_GRAD, dtype, (tw__pool_job){ pool, input, output, gradient, result, false });
}

tw_status tw__max_pool_grad_grad(tw_dtype dtype, const tw__pool *pool, const void *input, const void *output,
                                 const void *gradient, void *result)
{
    return run(MAX_GRAD_GRAD, dtype, (tw__pool_job){ pool, input, output, gradient, result, false });
}

tw_status tw__mean_pool(tw_dtype dtype, const tw__pool *pool, const void *input, void *output)
{
    return run(MEAN, dtype, (tw__pool_job){ .pool = pool, .input = input, .result = output });
}

tw_status tw__mean_pool_grad(tw_dtype dtype, const tw__pool *pool, const void *gradient, void *result)
{
    return run(MEAN_GRAD, dtype, (tw__pool_job){ .pool = pool, .gradient = gradient, .result = result });
}
