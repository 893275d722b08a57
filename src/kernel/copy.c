/* Strided copies. The nest of loops is first made as short as it can be: dimensions of one go, neighbours that lie end to end in both arrays
 * become one. Then the two innermost loops run in one of these forms: memcpy, fill, a transposing tile, plain strides. Plain
 * elements are moved by size (1, 2, 4, 8, 16 bytes); strings and objects one at a time. */
#include "kernel/copy.h"

enum { TASK_BYTES = 131072, TRANSPOSE_TILE = 32 };

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

#define LOOPS(type)                                                                                                              \
    static void line_##type(type *restrict to, int64_t to_step, const type *restrict from, int64_t from_step, int64_t count)      \
    {                                                                                                                            \
        if (to_step == 1 && from_step == 0) {                                                                                    \
            type value = *from;                                                                                                  \
            for (int64_t i = 0; i < count; i++)                                                                                  \
                to[i] = value;                                                                                                   \
        } else if (to_step == 1 && from_step == -1) {                                                                            \
            for (int64_t i = 0; i < count; i++)                                                                                  \
                to[i] = from[-i];                                                                                                \
        } else {                                                                                                                 \
            for (int64_t i = 0; i < count; i++)                                                                                  \
                to[i * to_step] = from[i * from_step];                                                                           \
        }                                                                                                                        \
    }                                                                                                                            \
    /* to[r * to_row + c] = from[r + c * from_column]: tiles that stay in the first-level cache */                               \
    static void transpose_##type(type *restrict to, int64_t to_row, const type *restrict from, int64_t from_column, int64_t rows, \
                                 int64_t columns)                                                                                \
    {                                                                                                                            \
        for (int64_t r = 0; r < rows; r += TRANSPOSE_TILE) {                                                                     \
            int64_t r_end = r + TRANSPOSE_TILE < rows ? r + TRANSPOSE_TILE : rows;                                               \
            for (int64_t c = 0; c < columns; c += TRANSPOSE_TILE) {                                                              \
                int64_t c_end = c + TRANSPOSE_TILE < columns ? c + TRANSPOSE_TILE : columns;                                     \
                for (int64_t i = r; i < r_end; i++) {                                                                            \
                    for (int64_t j = c; j < c_end; j++)                                                                          \
                        to[i * to_row + j] = from[i + j * from_column];                                                          \
                }                                                                                                                \
            }                                                                                                                    \
        }                                                                                                                        \
    }
LOOPS(uint8_t)
LOOPS(uint16_t)
LOOPS(uint32_t)
LOOPS(uint64_t)
LOOPS(pair16)

#define BY_SIZE(size, call, ...)            \
    switch (size) {                         \
    case 1:                                 \
        call(uint8_t, __VA_ARGS__);         \
        break;                              \
    case 2:                                 \
        call(uint16_t, __VA_ARGS__);        \
        break;                              \
    case 4:                                 \
        call(uint32_t, __VA_ARGS__);        \
        break;                              \
    case 8:                                 \
        call(uint64_t, __VA_ARGS__);        \
        break;                              \
    default:                                \
        call(pair16, __VA_ARGS__);          \
    }
#define CALL_LINE(type, to, to_step, from, from_step, count) line_##type((type *)(to), to_step, (const type *)(from), from_step, count)
#define CALL_TRANSPOSE(type, to, to_row, from, from_column, rows, columns) \
    transpose_##type((type *)(to), to_row, (const type *)(from), from_column, rows, columns)

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
            BY_SIZE(j->size, CALL_TRANSPOSE, t, w->to[last - 1], f, w->from[last], w->dims[last - 1], w->dims[last])
        } else if (w->to[last] == 1 && w->from[last] == 1) {
            memcpy(t, f, (size_t)w->dims[last] * j->size);
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
    if (places == 1 && bytes >= 2 * TASK_BYTES) { /* one long loop: cut it, so that threads can share it */
        int at = j.outer;
        int64_t piece = w->dims[at] / (bytes / TASK_BYTES);
        if (piece > 0 && w->dims[at] % piece == 0) {
            for (int i = w->rank; i > at; i--) {
                w->dims[i] = w->dims[i - 1];
                w->to[i] = w->to[i - 1];
                w->from[i] = w->from[i - 1];
            }
            w->rank++;
            w->dims[at] = w->dims[at + 1] / piece;
            w->to[at] *= piece;
            w->from[at] *= piece;
            w->dims[at + 1] = piece;
            j.outer++;
            places = w->dims[at];
            bytes /= places;
        }
    }
    if (places == 1 || places * bytes < 2 * TASK_BYTES)
        run(&j, 0, places);
    else
        tw__parallel(places, bytes >= TASK_BYTES ? 1 : TASK_BYTES / bytes, run, &j);
    return TW_OK;
}
