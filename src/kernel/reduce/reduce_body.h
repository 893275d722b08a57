/* The loops of one reduction over one dtype; included once for each by reduce_loops.c, which defines
 *   NAME(word)      the functions' names          ELEMENT, ACCUMULATOR   C types
 *   LOAD(element)   as an accumulator             COMBINE(a, b)          two accumulators
 *   START           the neutral value             FINISH(a, reduced)     the result as an element
 *   CLONES          versions for wider vector units, TW_SMALL, or nothing
 *   HELPERS         TW_SMALL or nothing
 * Sums run in LANES independent chains, so that the compiler may use vectors and rounding errors stay small. */
enum { NAME(LANES) = TW_REDUCE_LANES, NAME(BLOCK) = TW_REDUCE_BLOCK, NAME(GROUP) = 16 };

static TW_SMALL void NAME(start)(void *accumulators, int64_t count)
{
    ACCUMULATOR *a = accumulators;
    for (int64_t i = 0; i < count; i++)
        a[i] = START;
}

HELPERS static inline ACCUMULATOR NAME(block)(const ELEMENT *x, int64_t size)
{
    ACCUMULATOR lanes[NAME(LANES)];
    for (int j = 0; j < NAME(LANES); j++)
        lanes[j] = LOAD(x[j]);
    int64_t i = NAME(LANES);
    for (; i + NAME(LANES) <= size; i += NAME(LANES)) {
        for (int j = 0; j < NAME(LANES); j++)
            lanes[j] = COMBINE(lanes[j], LOAD(x[i + j]));
    }
    for (int width = NAME(LANES) / 2; width; width /= 2) {
        for (int j = 0; j < width; j++)
            lanes[j] = COMBINE(lanes[j], lanes[j + width]);
    }
    for (; i < size; i++)
        lanes[0] = COMBINE(lanes[0], LOAD(x[i]));
    return lanes[0];
}

CLONES static void NAME(rows)(void *accumulators, const void *data, int64_t rows, int64_t stride, int64_t size)
{
    ACCUMULATOR *a = accumulators;
    const ELEMENT *x = data;
    int64_t r = 0;
    for (; size < NAME(LANES) && r + NAME(GROUP) <= rows;
         r += NAME(GROUP), x += NAME(GROUP) * stride) { /* short rows go along together */
        ACCUMULATOR totals[NAME(GROUP)];
        memcpy(totals, a + r, sizeof totals);
        for (int64_t i = 0; i < size; i++) {
            ELEMENT values[NAME(GROUP)];
            for (int j = 0; j < NAME(GROUP); j++)
                values[j] = x[j * stride + i];
            for (int j = 0; j < NAME(GROUP); j++)
                totals[j] = COMBINE(totals[j], LOAD(values[j]));
        }
        memcpy(a + r, totals, sizeof totals);
    }
    for (; r < rows; r++, x += stride) {
        ACCUMULATOR total = a[r];
        int64_t i = 0;
        for (; size - i >= NAME(LANES);) {
            int64_t part = size - i < NAME(BLOCK) ? size - i : NAME(BLOCK);
            total = COMBINE(total, NAME(block)(x + i, part));
            i += part;
        }
        for (; i < size; i++)
            total = COMBINE(total, LOAD(x[i]));
        a[r] = total;
    }
}

CLONES static void NAME(columns)(void *accumulators, const void *data, int64_t rows, int64_t stride, int64_t size)
{
    ACCUMULATOR *restrict a = accumulators;
    const ELEMENT *x = data;
    int64_t r = 0;
    for (; r + 4 <= rows; r += 4, x += 4 * stride) {
        const ELEMENT *x1 = x + stride, *x2 = x1 + stride, *x3 = x2 + stride;
        for (int64_t j = 0; j < size; j++) {
            ACCUMULATOR p = COMBINE(LOAD(x[j]), LOAD(x1[j]));
            ACCUMULATOR q = COMBINE(LOAD(x2[j]), LOAD(x3[j]));
            p = COMBINE(p, q);
            a[j] = COMBINE(a[j], p);
        }
    }
    for (; r < rows; r++, x += stride) {
        for (int64_t j = 0; j < size; j++)
            a[j] = COMBINE(a[j], LOAD(x[j]));
    }
}

HELPERS static void NAME(merge)(void *accumulators, const void *others, int64_t count)
{
    ACCUMULATOR *a = accumulators;
    const ACCUMULATOR *b = others;
    for (int64_t i = 0; i < count; i++)
        a[i] = COMBINE(a[i], b[i]);
}

HELPERS static void NAME(finish)(void *out, const void *accumulators, int64_t count, int64_t reduced)
{
    const ACCUMULATOR *a = accumulators;
    ELEMENT *y = out;
    (void)reduced;
    for (int64_t i = 0; i < count; i++)
        y[i] = FINISH(a[i], reduced);
}

static const tw__reducer NAME(reducer) = {
    sizeof(ELEMENT), sizeof(ACCUMULATOR), NAME(start), NAME(rows), NAME(columns), NAME(merge), NAME(finish),
};

#undef NAME
#undef ELEMENT
#undef ACCUMULATOR
#undef LOAD
#undef COMBINE
#undef START
#undef FINISH
#undef CLONES
