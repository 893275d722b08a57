/* Softmax and cross-entropies over rows of one type; included by softmax.c, which defines REAL and NAME(word).
 *
 * Short rows are taken in blocks of up to BLOCK elements, so that exp, the costly part, runs over long stretches of memory. */

static TW_CLONES REAL NAME(maximum)(const REAL *x, int64_t count)
{
    REAL lanes[LANES];
    int64_t i = 0;
    for (int j = 0; j < LANES; j++)
        lanes[j] = x[0];
    for (; i + LANES <= count; i += LANES) {
        for (int j = 0; j < LANES; j++)
            lanes[j] = x[i + j] > lanes[j] ? x[i + j] : lanes[j];
    }
    for (; i < count; i++)
        lanes[0] = x[i] > lanes[0] ? x[i] : lanes[0];
    for (int j = 1; j < LANES; j++)
        lanes[0] = lanes[j] > lanes[0] ? lanes[j] : lanes[0];
    return lanes[0];
}

static TW_CLONES REAL NAME(sum)(const REAL *x, int64_t count)
{
    REAL lanes[LANES] = { 0 };
    int64_t i = 0;
    for (; i + LANES <= count; i += LANES) {
        for (int j = 0; j < LANES; j++)
            lanes[j] += x[i + j];
    }
    for (; i < count; i++)
        lanes[0] += x[i];
    for (int width = LANES / 2; width; width /= 2) {
        for (int j = 0; j < width; j++)
            lanes[j] += lanes[j + width];
    }
    return lanes[0];
}

static TW_CLONES void NAME(exponential)(const REAL *x, REAL *y, int64_t count)
{
    TW_INDEPENDENT
    for (int64_t i = 0; i < count; i++)
        y[i] = exp(x[i]);
}

/* y[i] = x[i] * factor + term */
static TW_CLONES void NAME(linear)(const REAL *x, REAL *y, REAL factor, REAL term, int64_t count)
{
    TW_INDEPENDENT
    for (int64_t i = 0; i < count; i++)
        y[i] = x[i] * factor + term;
}

/* For a block of rows: the maxima, shifted = x - maximum of the row, sums of exp(shifted). If `exponentials` is not NULL it gets
 * exp(shifted); it may be `shifted`. */
static void NAME(block)(const REAL *x, REAL *shifted, REAL *exponentials, REAL *maxima, REAL *sums, int64_t rows, int64_t columns)
{
    for (int64_t r = 0; r < rows; r++) {
        maxima[r] = NAME(maximum)(x + r * columns, columns);
        NAME(linear)(x + r * columns, shifted + r * columns, 1, -maxima[r], columns);
    }
    if (exponentials) {
        NAME(exponential)(shifted, exponentials, rows * columns);
        for (int64_t r = 0; r < rows; r++)
            sums[r] = NAME(sum)(exponentials + r * columns, columns);
        return;
    }
    REAL some[BLOCK];
    if (rows == 1) {
        sums[0] = 0;
        for (int64_t i = 0; i < columns; i += BLOCK) {
            int64_t count = columns - i < BLOCK ? columns - i : BLOCK;
            NAME(exponential)(shifted + i, some, count);
            sums[0] += NAME(sum)(some, count);
        }
        return;
    }
    NAME(exponential)(shifted, some, rows * columns);
    for (int64_t r = 0; r < rows; r++)
        sums[r] = NAME(sum)(some + r * columns, columns);
}

static TW_CLONES void NAME(multiply)(REAL *y, REAL factor, int64_t count)
{
    TW_INDEPENDENT
    for (int64_t i = 0; i < count; i++)
        y[i] *= factor;
}

/* y -= label; the sum of label · (log_sum - (x - maximum)) */
static TW_CLONES REAL NAME(dense)(const REAL *x, const REAL *label, REAL *y, REAL log_sum, REAL maximum, int64_t count)
{
    REAL lanes[LANES] = { 0 };
    int64_t i = 0;
    for (; i + LANES <= count; i += LANES) {
        for (int j = 0; j < LANES; j++) {
            lanes[j] += label[i + j] * (log_sum - (x[i + j] - maximum));
            y[i + j] -= label[i + j];
        }
    }
    for (int width = LANES / 2; width; width /= 2) {
        for (int j = 0; j < width; j++)
            lanes[j] += lanes[j + width];
    }
    for (; i < count; i++) {
        lanes[0] += label[i] * (log_sum - (x[i] - maximum));
        y[i] -= label[i];
    }
    return lanes[0];
}

static const REAL *NAME(factors)(const job *of, int64_t row)
{
    return of->factors ? (const REAL *)of->factors->data + (of->factors->single ? 0 : row) : NULL;
}

static void NAME(rows)(const job *of, const REAL *x, const REAL *labels, const int64_t *classes, REAL *loss, REAL *y,
                       const REAL *factors, int64_t rows)
{
    int64_t columns = of->columns, most = columns < BLOCK ? BLOCK / columns : 1;
    REAL sums[BLOCK], maxima[BLOCK];
    for (int64_t first = 0; first < rows; first += most) {
        int64_t count = rows - first < most ? rows - first : most;
        const REAL *from = x + first * columns;
        REAL *to = y + first * columns;
        NAME(block)(from, to, of->kind == LOG_SOFTMAX ? NULL : to, maxima, sums, count, columns);
        for (int64_t r = 0; r < count; r++) {
            REAL *row = to + r * columns;
            const REAL *logits = from + r * columns;
            if (of->kind == LOG_SOFTMAX) {
                NAME(linear)(row, row, 1, -log(sums[r]), columns);
                continue;
            }
            NAME(linear)(row, row, 1 / sums[r], 0, columns);
            if (of->kind == SPARSE_LOSS) {
                int64_t class = classes[first + r];
                loss[first + r] = log(sums[r]) - (logits[class] - maxima[r]);
                row[class] -= 1;
            } else if (of->kind == DENSE_LOSS) {
                const REAL *label = labels + (first + r) * columns;
                loss[first + r] = NAME(dense)(logits, label, row, log(sums[r]), maxima[r], columns);
            }
            if (factors)
                NAME(multiply)(row, factors[of->factors->single ? 0 : first + r], columns);
        }
    }
}

#undef NAME
#undef REAL
