/* The body of the float tiles and dot products, included once per instruction set by gemm_plain.c, gemm_avx2.c and gemm_avx512.c,
 * which define V, LANES       the vector type and its number of floats TARGET         the function attribute that switches the
 * instructions on LOAD(p) STORE(p, v) LOAD_SOME(p, lanes) STORE_SOME(p, v, lanes) SPREAD(x) MULTIPLY_ADD(x, y, sum) ADD(x, y)
 * ZERO TILES          the tile sizes as a list of TILE(vectors, rows) A second time it may be included with NARROW and HALF a
 * type of half as many floats, for a last vector that is not fuller: it costs half as much HALF_ZERO HALF_LOAD_SOME
 * HALF_STORE_SOME HALF_MULTIPLY_ADD HALF_ADD HALF_OF(v), the first half of a V
 *
 * A tile keeps rows x vectors sums in registers while it runs over k: per step it loads `vectors` vectors of b and spreads `rows`
 * numbers of a. Rows of a are addressed in threes from one pointer, which is what x86's addressing modes give without arithmetic.
 */

#if defined(NARROW)
#define TILE_NAME narrow
#define LAST HALF
#define LAST_ZERO HALF_ZERO
#define LAST_LOAD HALF_LOAD_SOME
#define LAST_STORE HALF_STORE_SOME
#define LAST_MULTIPLY_ADD(x, y, sum) HALF_MULTIPLY_ADD(HALF_OF(x), y, sum)
#define LAST_ADD HALF_ADD
#else
#define TILE_NAME tile
#define LAST V
#define LAST_ZERO ZERO
#define LAST_LOAD LOAD_SOME
#define LAST_STORE STORE_SOME
#define LAST_MULTIPLY_ADD MULTIPLY_ADD
#define LAST_ADD ADD
#endif

static inline __attribute__((always_inline)) TARGET void TILE_NAME(int rows, int vectors, int64_t k, const float *a,
                                                                   int64_t a_row, int64_t a_column, const float *b, int64_t b_row,
                                                                   float *c, int64_t c_row, int lanes, bool add)
{
    V sum[TW_GEMM_ROWS][TW_GEMM_VECTORS];
    LAST last[TW_GEMM_ROWS];
    const float *a_threes[(TW_GEMM_ROWS + 2) / 3];
#pragma GCC unroll 12
    for (int i = 0; i < rows; i++) {
#pragma GCC unroll 3
        for (int j = 0; j < vectors - 1; j++)
            sum[i][j] = ZERO;
        last[i] = LAST_ZERO;
        if (i % 3 == 0)
            a_threes[i / 3] = a + i * a_row;
    }
    /* What the sums will be added to is asked for meanwhile, a row at a time. */
    int64_t piece = add ? k / rows + 1 : k;
    float *ahead = c;
    for (int64_t p = 0; p < k;) {
        int64_t stop = k - p < piece ? k : p + piece;
#pragma GCC unroll 3
        for (int j = 0; j < vectors; j++)
            __builtin_prefetch(ahead + j * LANES, 1);
        ahead += c_row;
        for (; p < stop; p++) {
            V line[TW_GEMM_VECTORS];
#pragma GCC unroll 3
            for (int j = 0; j < vectors - 1; j++)
                line[j] = LOAD(b + j * LANES);
            LAST line_last = LAST_LOAD(b + (vectors - 1) * LANES, lanes);
            b += b_row;
#pragma GCC unroll 12
            for (int i = 0; i < rows; i++) {
                V x = SPREAD(a_threes[i / 3][(i % 3) * a_row]);
#pragma GCC unroll 3
                for (int j = 0; j < vectors - 1; j++)
                    sum[i][j] = MULTIPLY_ADD(x, line[j], sum[i][j]);
                last[i] = LAST_MULTIPLY_ADD(x, line_last, last[i]);
            }
#pragma GCC unroll 4
            for (int i = 0; i < rows; i += 3)
                a_threes[i / 3] += a_column;
        }
    }
#pragma GCC unroll 12
    for (int i = 0; i < rows; i++) {
        float *to = c + i * c_row;
#pragma GCC unroll 3
        for (int j = 0; j < vectors - 1; j++)
            STORE(to + j * LANES, add ? ADD(LOAD(to + j * LANES), sum[i][j]) : sum[i][j]);
        to += (vectors - 1) * LANES;
        LAST_STORE(to, add ? LAST_ADD(LAST_LOAD(to, lanes), last[i]) : last[i], lanes);
    }
}

#if !defined(NARROW)
/* out[j] = x · (row j of y), for up to four rows. */
static TARGET void dots(int64_t k, const float *x, const float *y, int64_t y_row, int rows, float *out)
{
    V sum[4] = { ZERO, ZERO, ZERO, ZERO };
    const float *y0 = y, *y1 = y + (rows > 1 ? y_row : 0), *y2 = y + (rows > 2 ? 2 * y_row : 0),
                *y3 = y + (rows > 3 ? 3 * y_row : 0);
    for (int64_t p = 0; p < k; p += LANES) {
        int lanes = k - p < LANES ? (int)(k - p) : LANES;
        V left = LOAD_SOME(x + p, lanes);
        sum[0] = MULTIPLY_ADD(left, LOAD_SOME(y0 + p, lanes), sum[0]);
        sum[1] = MULTIPLY_ADD(left, LOAD_SOME(y1 + p, lanes), sum[1]);
        sum[2] = MULTIPLY_ADD(left, LOAD_SOME(y2 + p, lanes), sum[2]);
        sum[3] = MULTIPLY_ADD(left, LOAD_SOME(y3 + p, lanes), sum[3]);
    }
    for (int j = 0; j < rows; j++) {
        float parts[LANES];
        STORE(parts, sum[j]);
        for (int width = LANES / 2; width; width /= 2) {
            for (int i = 0; i < width; i++)
                parts[i] += parts[i + width];
        }
        out[j] = parts[0];
    }
}

#endif

#define JOINED(name, vectors, rows) name##_##vectors##x##rows
#define FUNCTION(name, vectors, rows) JOINED(name, vectors, rows)
#define TILE(vectors, rows)                                                                                                  \
    static TARGET void FUNCTION(TILE_NAME, vectors, rows)(int64_t k, const float *a, int64_t a_row, int64_t a_column,        \
                                                          const float *b, int64_t b_row, float *c, int64_t c_row, int lanes, \
                                                          bool add)                                                          \
    {                                                                                                                        \
        TILE_NAME(rows, vectors, k, a, a_row, a_column, b, b_row, c, c_row, lanes, add);                                     \
    }
TILES
#undef TILE
#undef FUNCTION
#undef JOINED
#undef TILE_NAME
#undef LAST
#undef LAST_ZERO
#undef LAST_LOAD
#undef LAST_STORE
#undef LAST_MULTIPLY_ADD
#undef LAST_ADD
