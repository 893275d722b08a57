/* The loops of pooling for one type, included by pool_loops.c once for each: `type`, `lowest` (its least value), SPEED
 * (TW_CLONES, TW_SMALL or nothing) and NAME(loop).
 * Channels are worked on in blocks that stay in registers or the first cache. No include guard: it is a body. */

/* Four taps in one pass over the channels, then one at a time; the first pass starts from `lowest`. */
static inline __attribute__((always_inline)) void NAME(max_taps)(type *restrict out, const type *const *taps, int count,
                                                                 int64_t channels)
{
    int n = 0;
    for (; n + 4 <= count; n += 4) {
        const type *a = taps[n], *b = taps[n + 1], *d = taps[n + 2], *e = taps[n + 3];
        for (int64_t c = 0; c < channels; c++) {
            type most = n ? out[c] : lowest;
            most = most < a[c] ? a[c] : most;
            most = most < b[c] ? b[c] : most;
            most = most < d[c] ? d[c] : most;
            out[c] = most < e[c] ? e[c] : most;
        }
    }
    if (!n) {
        for (int64_t c = 0; c < channels; c++)
            out[c] = lowest;
    }
    for (; n < count; n++) {
        const type *a = taps[n];
        for (int64_t c = 0; c < channels; c++)
            out[c] = out[c] < a[c] ? a[c] : out[c];
    }
}

static SPEED void NAME(max)(const tw__pool_job *job, int64_t begin, int64_t end)
{
    const tw__pool *p = job->pool;
    int64_t channels = p->channels;
    for (int64_t row = begin; row < end; row++) {
        const type *image = (const type *)job->input + row / p->out[0] * p->in[0] * p->in[1] * channels;
        type *out = (type *)job->result + row * p->out[1] * channels;
        for (int64_t column = 0; column < p->out[1]; column++, out += channels) {
            window w = window_at(p, row % p->out[0], column);
            if ((w.y_end - w.y) * (w.x_end - w.x) <= MOST_TAPS) {
                const type *taps[MOST_TAPS];
                int count = 0;
                for (int64_t y = w.y; y < w.y_end; y++) {
                    for (int64_t x = w.x; x < w.x_end; x++)
                        taps[count++] = image + (y * p->in[1] + x) * channels;
                }
                NAME(max_taps)(out, taps, count, channels);
                continue;
            }
            for (int64_t c = 0; c < channels; c++)
                out[c] = lowest;
            for (int64_t y = w.y; y < w.y_end; y++) {
                for (int64_t x = w.x; x < w.x_end; x++) {
                    const type *in = image + (y * p->in[1] + x) * channels;
                    TW_INDEPENDENT
                    for (int64_t c = 0; c < channels; c++)
                        out[c] = out[c] < in[c] ? in[c] : out[c];
                }
            }
        }
    }
}

/* A window of 2 x 2 whose elements no other window has, in one pass. */
static inline __attribute__((always_inline)) void NAME(max_grad_four)(const tw__pool_job *job, int64_t at, int64_t pixel,
                                                                      int64_t line, int64_t channels)
{
    const type *out = (const type *)job->output + at, *gradient = (const type *)job->gradient + at;
    const type *in = (const type *)job->input + pixel, *below = in + line;
    type *restrict result = (type *)job->result + pixel, *restrict result_below = result + line;
    TW_INDEPENDENT
    for (int64_t c = 0; c < channels; c++) {
        type most = out[c], left = gradient[c], zero = 0;
        type a = in[c] == most ? left : zero;
        left = in[c] == most ? zero : left;
        type b = in[channels + c] == most ? left : zero;
        left = in[channels + c] == most ? zero : left;
        type d = below[c] == most ? left : zero;
        left = below[c] == most ? zero : left;
        result[c] = a;
        result[channels + c] = b;
        result_below[c] = d;
        result_below[channels + c] = below[channels + c] == most ? left : zero;
    }
}

/* `left` holds what has not found its element yet: the gradient goes to the first match alone. */
static SPEED void NAME(max_grad)(const tw__pool_job *job, int64_t begin, int64_t end)
{
    const tw__pool *p = job->pool;
    int64_t channels = p->channels;
    type left[BLOCK];
    for (int64_t row = begin; row < end; row++) {
        int64_t image = row / p->out[0] * p->in[0] * p->in[1] * channels;
        for (int64_t column = 0; column < p->out[1]; column++) {
            window w = window_at(p, row % p->out[0], column);
            int64_t at = (row * p->out[1] + column) * channels;
            if (job->apart && w.y_end - w.y == 2 && w.x_end - w.x == 2) {
                NAME(max_grad_four)(job, at, image + (w.y * p->in[1] + w.x) * channels, p->in[1] * channels, channels);
                continue;
            }
            for (int64_t first = 0; first < channels; first += BLOCK) {
                int64_t count = channels - first < BLOCK ? channels - first : BLOCK;
                const type *out = (const type *)job->output + at + first, *gradient = (const type *)job->gradient + at + first;
                for (int64_t c = 0; c < count; c++)
                    left[c] = gradient[c];
                for (int64_t y = w.y; y < w.y_end; y++) {
                    for (int64_t x = w.x; x < w.x_end; x++) {
                        int64_t pixel = image + (y * p->in[1] + x) * channels + first;
                        const type *in = (const type *)job->input + pixel;
                        type *result = (type *)job->result + pixel;
                        if (job->apart) {
                            TW_INDEPENDENT
                            for (int64_t c = 0; c < count; c++) {
                                result[c] = in[c] == out[c] ? left[c] : (type)0;
                                left[c] = in[c] == out[c] ? (type)0 : left[c];
                            }
                            continue;
                        }
                        TW_INDEPENDENT
                        for (int64_t c = 0; c < count; c++) {
                            type taken = in[c] == out[c] ? left[c] : (type)0;
                            result[c] = (type)(result[c] + taken);
                            left[c] = in[c] == out[c] ? (type)0 : left[c];
                        }
                    }
                }
            }
        }
    }
}

/* Backwards through the window, so that the first match is what stays. */
static void NAME(max_grad_grad)(const tw__pool_job *job, int64_t begin, int64_t end)
{
    const tw__pool *p = job->pool;
    int64_t channels = p->channels;
    for (int64_t row = begin; row < end; row++) {
        int64_t image = row / p->out[0] * p->in[0] * p->in[1] * channels;
        for (int64_t column = 0; column < p->out[1]; column++) {
            window w = window_at(p, row % p->out[0], column);
            int64_t at = (row * p->out[1] + column) * channels;
            const type *out = (const type *)job->output + at;
            type *result = (type *)job->result + at;
            for (int64_t c = 0; c < channels; c++)
                result[c] = 0;
            for (int64_t y = w.y_end - 1; y >= w.y; y--) {
                for (int64_t x = w.x_end - 1; x >= w.x; x--) {
                    int64_t pixel = image + (y * p->in[1] + x) * channels;
                    const type *in = (const type *)job->input + pixel, *gradient = (const type *)job->gradient + pixel;
                    TW_INDEPENDENT
                    for (int64_t c = 0; c < channels; c++)
                        result[c] = in[c] == out[c] ? gradient[c] : result[c];
                }
            }
        }
    }
}

#ifdef MEANS
static SPEED void NAME(mean)(const tw__pool_job *job, int64_t begin, int64_t end)
{
    const tw__pool *p = job->pool;
    int64_t channels = p->channels;
    for (int64_t row = begin; row < end; row++) {
        const type *image = (const type *)job->input + row / p->out[0] * p->in[0] * p->in[1] * channels;
        type *out = (type *)job->result + row * p->out[1] * channels;
        for (int64_t column = 0; column < p->out[1]; column++, out += channels) {
            window w = window_at(p, row % p->out[0], column);
            type size = (type)((w.y_end - w.y) * (w.x_end - w.x));
            if (w.y_end - w.y == 2 && w.x_end - w.x == 2) {
                const type *in = image + (w.y * p->in[1] + w.x) * channels, *below = in + p->in[1] * channels;
                TW_INDEPENDENT
                for (int64_t c = 0; c < channels; c++)
                    out[c] = (((in[c] + in[channels + c]) + below[c]) + below[channels + c]) / size;
                continue;
            }
            for (int64_t c = 0; c < channels; c++)
                out[c] = 0;
            for (int64_t y = w.y; y < w.y_end; y++) {
                for (int64_t x = w.x; x < w.x_end; x++) {
                    const type *in = image + (y * p->in[1] + x) * channels;
                    TW_INDEPENDENT
                    for (int64_t c = 0; c < channels; c++)
                        out[c] += in[c];
                }
            }
            for (int64_t c = 0; c < channels; c++)
                out[c] /= size;
        }
    }
}

static SPEED void NAME(mean_grad)(const tw__pool_job *job, int64_t begin, int64_t end)
{
    const tw__pool *p = job->pool;
    int64_t channels = p->channels;
    for (int64_t row = begin; row < end; row++) {
        type *image = (type *)job->result + row / p->out[0] * p->in[0] * p->in[1] * channels;
        const type *gradient = (const type *)job->gradient + row * p->out[1] * channels;
        for (int64_t column = 0; column < p->out[1]; column++, gradient += channels) {
            window w = window_at(p, row % p->out[0], column);
            type share = (type)1 / (type)((w.y_end - w.y) * (w.x_end - w.x));
            for (int64_t y = w.y; y < w.y_end; y++) {
                for (int64_t x = w.x; x < w.x_end; x++) {
                    type *result = image + (y * p->in[1] + x) * channels;
                    if (job->apart) {
                        TW_INDEPENDENT
                        for (int64_t c = 0; c < channels; c++)
                            result[c] = gradient[c] * share;
                        continue;
                    }
                    TW_INDEPENDENT
                    for (int64_t c = 0; c < channels; c++)
                        result[c] += gradient[c] * share;
                }
            }
        }
    }
}
#endif
