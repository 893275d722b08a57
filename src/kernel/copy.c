/* Strided copies. The nest of loops is first made as short as it can be: dimensions of one go, neighbours that lie end to end in
 * both arrays become one. Then the two innermost loops run in one of these forms: memcpy, fill, a transposing tile, plain
 * strides. Plain elements are moved by size (1, 2, 4, 8, 16 bytes); strings and objects one at a time. */
#include "kernel/copy.h"
#include "kernel/random/stream.h"

enum {
    TASK_BYTES = 131072,
    TRANSPOSE_TILE = 32,
    BAND = 64,          /* rows of a transposition that a thread takes at a time */
    STREAM_PIECE = 4096 /* bytes in a row that are worth writing past the caches */
};

typedef struct pair16 {
    uint64_t low, high;
} pair16;

void tw__walk_add(tw__walk *walk, int64_t dim, int64_t to, int64_t from)
{
    walk->dims[walk->rank] = dim;
    walk->to[walk->rank] = to;
    walk->from[walk->rank++] = from;
}

void tw__strides(const tw_shape *shape, int64_t *strides)
{
    int64_t stride = 1;
    for (int i = shape->rank - 1; i >= 0; i--) {
        strides[i] = stride;
        stride *= shape->dims[i];
    }
}

static tw_status copy_string(tw_string *to, const tw_string *from)
{
    char *copy = from->size ? tw__strndup(from->data, from->size) : NULL;
    if (from->size && !copy)
        return tw__error_status();
    *to = (tw_string){ copy, from->size };
    return TW_OK;
}

static bool is_plain(tw_dtype dtype)
{
    return dtype != TW_STRING && dtype != TW_RESOURCE && dtype != TW_VARIANT;
}

tw_status tw__copy_elements(tw_dtype dtype, void *to, const void *from, int64_t count)
{
    if (is_plain(dtype)) {
        if (count)
            memcpy(to, from, (size_t)count * tw__element_size(dtype));
        return TW_OK;
    }
    for (int64_t i = 0; i < count; i++) {
        if (dtype == TW_STRING)
            TW_TRY(copy_string((tw_string *)to + i, (const tw_string *)from + i));
        else
            ((tw_object **)to)[i] = tw_retain(((tw_object *const *)from)[i]);
    }
    return TW_OK;
}

/* ---- loops by element size ---- */

#define LOOPS(type)                                                                                                          \
    static void line_##type(type *restrict to, int64_t to_step, const type *restrict from, int64_t from_step, int64_t count) \
    {                                                                                                                        \
        if (to_step == 1 && from_step == 0) {                                                                                \
            type value = *from;                                                                                              \
            for (int64_t i = 0; i < count; i++)                                                                              \
                to[i] = value;                                                                                               \
        } else if (to_step == 1 && from_step == -1) {                                                                        \
            for (int64_t i = 0; i < count; i++)                                                                              \
                to[i] = from[-i];                                                                                            \
        } else {                                                                                                             \
            for (int64_t i = 0; i < count; i++)                                                                              \
                to[i * to_step] = from[i * from_step];                                                                       \
        }                                                                                                                    \
    }                                                                                                                        \
    /* to[r * to_row + c] = from[r + c * from_column]: tiles that stay in the first-level cache */                           \
    static void transpose_##type(type *restrict to, int64_t to_row, const type *restrict from, int64_t from_column,          \
                                 int64_t rows, int64_t columns)                                                              \
    {                                                                                                                        \
        for (int64_t r = 0; r < rows; r += TRANSPOSE_TILE) {                                                                 \
            int64_t r_end = r + TRANSPOSE_TILE < rows ? r + TRANSPOSE_TILE : rows;                                           \
            for (int64_t c = 0; c < columns; c += TRANSPOSE_TILE) {                                                          \
                int64_t c_end = c + TRANSPOSE_TILE < columns ? c + TRANSPOSE_TILE : columns;                                 \
                for (int64_t i = r; i < r_end; i++) {                                                                        \
                    for (int64_t j = c; j < c_end; j++)                                                                      \
                        to[i * to_row + j] = from[i + j * from_column];                                                      \
                }                                                                                                            \
            }                                                                                                                \
        }                                                                                                                    \
    }
LOOPS(uint8_t)
LOOPS(uint16_t)
LOOPS(uint32_t)
#ifdef __SSE2__

/* A block of 16 x 16: out[c][r] = in[r][c]. */
static void transpose_block(float out[16][16], const float *in)
{
    for (int r = 0; r < 16; r += 4) {
        for (int c = 0; c < 16; c += 4) {
            const float *at = in + r * BAND + c;
            __m128 a = _mm_load_ps(at), b = _mm_load_ps(at + BAND), d = _mm_load_ps(at + 2 * BAND),
                   e = _mm_load_ps(at + 3 * BAND);
            _MM_TRANSPOSE4_PS(a, b, d, e);
            _mm_store_ps(&out[c][r], a);
            _mm_store_ps(&out[c + 1][r], b);
            _mm_store_ps(&out[c + 2][r], d);
            _mm_store_ps(&out[c + 3][r], e);
        }
    }
}

/* Whole cache lines in, whole cache lines out, by way of buffers: with strides of a power of two the lines of a tile would push
 * each other out of the first cache. */
static void transpose_lines(uint32_t *restrict to, int64_t to_row, const uint32_t *restrict from, int64_t from_column,
                            int64_t rows, int64_t columns, bool streamed)
{
    _Alignas(64) float in[16][BAND], out[16][16]; /* of bits: they are only moved */
    streamed = streamed && (uintptr_t)to % 16 == 0 && to_row % 4 == 0;
    int64_t whole_rows = rows / 16 * 16, whole_columns = columns / 16 * 16;
    for (int64_t r = 0; r < whole_rows; r += BAND) {
        int64_t width = whole_rows - r < BAND ? whole_rows - r : BAND;
        for (int64_t c = 0; c < whole_columns; c += 16) {
            for (int i = 0; i < 16; i++)
                memcpy(in[i], from + (c + i) * from_column + r, (size_t)width * sizeof **in);
            for (int64_t k = 0; k < width; k += 16) {
                transpose_block(out, &in[0][k]);
                for (int i = 0; i < 16; i++) {
                    uint32_t *line = to + (r + k + i) * to_row + c;
                    if (streamed)
                        tw__stream((char *)line, (const char *)out[i], sizeof out[i]);
                    else
                        memcpy(line, out[i], sizeof out[i]);
                }
            }
        }
    }
    if (streamed)
        tw__stream_end();
    transpose_uint32_t(to + whole_columns, to_row, from + whole_columns * from_column, from_column, whole_rows,
                       columns - whole_columns);
    transpose_uint32_t(to + whole_rows * to_row, to_row, from + whole_rows, from_column, rows - whole_rows, columns);
}
#endif
LOOPS(uint64_t)
LOOPS(pair16)

#define BY_SIZE(size, call, ...)     \
    switch (size) {                  \
    case 1:                          \
        call(uint8_t, __VA_ARGS__);  \
        break;                       \
    case 2:                          \
        call(uint16_t, __VA_ARGS__); \
        break;                       \
    case 4:                          \
        call(uint32_t, __VA_ARGS__); \
        break;                       \
    case 8:                          \
        call(uint64_t, __VA_ARGS__); \
        break;                       \
    default:                         \
        call(pair16, __VA_ARGS__);   \
    }
#define CALL_LINE(type, to, to_step, from, from_step, count) \
    line_##type((type *)(to), to_step, (const type *)(from), from_step, count)
#define CALL_TRANSPOSE(type, to, to_row, from, from_column, rows, columns) \
    transpose_##type((type *)(to), to_row, (const type *)(from), from_column, rows, columns)

static void transpose(size_t size, char *to, int64_t to_row, const char *from, int64_t from_column, int64_t rows, int64_t columns,
                      bool streamed)
{
#ifdef __SSE2__
    if (size == 4 && rows >= 16 && columns >= 16) {
        transpose_lines((uint32_t *)(void *)to, to_row, (const uint32_t *)(const void *)from, from_column, rows, columns,
                        streamed);
        return;
    }
#endif
    (void)streamed;
    BY_SIZE(size, CALL_TRANSPOSE, to, to_row, from, from_column, rows, columns)
}

tw_status tw__fill_elements(tw_dtype dtype, void *to, const void *element, int64_t count)
{
    tw__walk walk = { 0 };
    tw__walk_add(&walk, count, 1, 0);
    return tw__copy_walk(dtype, to, element, &walk);
}

/* ---- the nest ---- */

typedef struct job {
    char *to;
    const char *from;
    size_t size;
    tw__walk walk;
    int outer;       /* loops outside of the innermost form */
    bool transposes; /* the two innermost loops are a transposition */
    bool streamed;   /* see stream.h */
} job;

static void simplify(tw__walk *walk)
{
    int rank = 0;
    for (int i = 0; i < walk->rank; i++) {
        if (walk->dims[i] == 1)
            continue;
        if (rank && walk->to[rank - 1] == walk->dims[i] * walk->to[i] && walk->from[rank - 1] == walk->dims[i] * walk->from[i]) {
            walk->dims[rank - 1] *= walk->dims[i];
            walk->to[rank - 1] = walk->to[i];
            walk->from[rank - 1] = walk->from[i];
            continue;
        }
        walk->dims[rank] = walk->dims[i];
        walk->to[rank] = walk->to[i];
        walk->from[rank++] = walk->from[i];
    }
    walk->rank = rank;
    if (!rank)
        tw__walk_add(walk, 1, 1, 1);
}

/* Where a transposition hides further out, bring the loop with the source's unit stride to the place before the last. */
static void arrange(job *j)
{
    tw__walk *w = &j->walk;
    int last = w->rank - 1;
    if (w->rank < 2 || w->to[last] != 1 || w->from[last] == 1 || w->from[last] == 0)
        return;
    for (int i = 0; i < last; i++) {
        if (w->from[i] != 1)
            continue;
        int64_t dim = w->dims[i], to = w->to[i];
        for (int k = i; k + 1 < last; k++) {
            w->dims[k] = w->dims[k + 1];
            w->to[k] = w->to[k + 1];
            w->from[k] = w->from[k + 1];
        }
        w->dims[last - 1] = dim;
        w->to[last - 1] = to;
        w->from[last - 1] = 1;
        j->transposes = true;
        return;
    }
}

static void copy_bytes(const job *j, char *to, const char *from, size_t size)
{
    if (!j->streamed || size < STREAM_PIECE) {
        memcpy(to, from, size);
        return;
    }
    size_t head = (16 - (uintptr_t)to % 16) % 16;
    memcpy(to, from, head);
    tw__stream(to + head, from + head, size - head);
    tw__stream_end();
}

/* One loop, elements [begin, end) of it. */
static void run_line(void *context, int64_t begin, int64_t end)
{
    const job *j = context;
    const tw__walk *w = &j->walk;
    char *t = j->to + begin * w->to[0] * (int64_t)j->size;
    const char *f = j->from + begin * w->from[0] * (int64_t)j->size;
    if (w->to[0] == 1 && w->from[0] == 1)
        copy_bytes(j, t, f, (size_t)(end - begin) * j->size);
    else
        BY_SIZE(j->size, CALL_LINE, t, w->to[0], f, w->from[0], end - begin)
}

/* Bands of transpositions. */
static void run_bands(void *context, int64_t begin, int64_t end)
{
    const job *j = context;
    const tw__walk *w = &j->walk;
    int last = w->rank - 1;
    int64_t rows = w->dims[last - 1], bands = (rows + BAND - 1) / BAND;
    for (int64_t n = begin; n < end; n++) {
        int64_t rest = n / bands, first = n % bands * BAND, to = first * w->to[last - 1], from = first;
        for (int i = j->outer - 1; i >= 0; i--) {
            to += rest % w->dims[i] * w->to[i];
            from += rest % w->dims[i] * w->from[i];
            rest /= w->dims[i];
        }
        transpose(j->size, j->to + to * (int64_t)j->size, w->to[last - 1], j->from + from * (int64_t)j->size, w->from[last],
                  rows - first < BAND ? rows - first : BAND, w->dims[last], j->streamed);
    }
}

static void run(void *context, int64_t begin, int64_t end)
{
    const job *j = context;
    const tw__walk *w = &j->walk;
    int last = w->rank - 1;
    int64_t index[TW__WALK_RANK], to = 0, from = 0, rest = begin;
    for (int i = j->outer - 1; i >= 0; i--) {
        index[i] = rest % w->dims[i];
        rest /= w->dims[i];
        to += index[i] * w->to[i];
        from += index[i] * w->from[i];
    }
    for (int64_t place = begin; place < end; place++) {
        char *t = j->to + to * (int64_t)j->size;
        const char *f = j->from + from * (int64_t)j->size;
        if (j->transposes) {
            transpose(j->size, t, w->to[last - 1], f, w->from[last], w->dims[last - 1], w->dims[last], j->streamed);
        } else if (w->to[last] == 1 && w->from[last] == 1) {
            copy_bytes(j, t, f, (size_t)w->dims[last] * j->size);
        } else {
            BY_SIZE(j->size, CALL_LINE, t, w->to[last], f, w->from[last], w->dims[last])
        }
        for (int i = j->outer - 1; i >= 0; i--) {
            to += w->to[i];
            from += w->from[i];
            if (++index[i] < w->dims[i])
                break;
            to -= w->dims[i] * w->to[i];
            from -= w->dims[i] * w->from[i];
            index[i] = 0;
        }
    }
}

static tw_status copy_each(tw_dtype dtype, char *to, const char *from, const tw__walk *w, int level)
{
    size_t size = tw__element_size(dtype);
    if (level == w->rank)
        return tw__copy_elements(dtype, to, from, 1);
    for (int64_t i = 0; i < w->dims[level]; i++)
        TW_TRY(copy_each(dtype, to + i * w->to[level] * (int64_t)size, from + i * w->from[level] * (int64_t)size, w, level + 1));
    return TW_OK;
}

tw_status tw__copy_walk(tw_dtype dtype, void *to, const void *from, const tw__walk *walk)
{
    for (int i = 0; i < walk->rank; i++) {
        if (walk->dims[i] <= 0)
            return TW_OK;
    }
    if (!is_plain(dtype))
        return copy_each(dtype, to, from, walk, 0);
    job j = { .to = to, .from = from, .size = tw__element_size(dtype), .walk = *walk };
    simplify(&j.walk);
    arrange(&j);
    tw__walk *w = &j.walk;
    int inner = j.transposes ? 2 : 1;
    j.outer = w->rank - inner;
    int64_t places = 1, bytes = (int64_t)j.size;
    for (int i = 0; i < w->rank; i++) {
        if (i < j.outer)
            places *= w->dims[i];
        else
            bytes *= w->dims[i];
    }
    j.streamed = tw__streams(to, places * bytes);
    if (j.transposes && w->dims[w->rank - 2] > BAND) {
        int64_t bands = places * ((w->dims[w->rank - 2] + BAND - 1) / BAND), each = w->dims[w->rank - 1] * BAND * (int64_t)j.size;
        tw__parallel(bands, TASK_BYTES / each + 1, run_bands, &j);
        return TW_OK;
    }
    if (w->rank == 1) {
        tw__parallel(w->dims[0], bytes < 2 * TASK_BYTES ? w->dims[0] : TASK_BYTES / (int64_t)j.size, run_line, &j);
        return TW_OK;
    }
    if (places == 1 || places * bytes < 2 * TASK_BYTES)
        run(&j, 0, places);
    else
        tw__parallel(places, bytes >= TASK_BYTES ? 1 : TASK_BYTES / bytes, run, &j);
    return TW_OK;
}
