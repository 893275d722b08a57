/* The drivers of elementwise loops: broadcasting, threads, and float loops for the two small floats.
 *
 * Three cases, from cheap to general: equal shapes or a single value (one row); a plan of rows; and, where the rows are short,
 * tiles: the inputs of some rows are written side by side into a small buffer, so that the loop runs over hundreds of elements at
 * a time. */
#include "kernel/kernel.h"
#include "kernel/random/stream.h"

enum {
    GRAIN = 32768,     /* elements that are worth a thread */
    SLOW_GRAIN = 2048, /* the same for functions that cost tens of cycles */
    TILE = 512,        /* elements of a tile */
    PIECE = 256,   /* elements whose like in the next tile are asked for together: more would make the memory's queue overflow */
    SHORT_ROW = 48 /* rows below this are gathered into tiles */
};

/* ---- plans ---- */

void tw__broadcast_plan(tw__broadcast *plan, const tw_shape *output, const tw_shape *const *inputs, int input_count)
{
    int64_t advance[TW_BROADCAST_INPUTS] = { 1, 1, 1 };
    int64_t dims[TW_MAX_RANK + 1], strides[TW_BROADCAST_INPUTS][TW_MAX_RANK + 1]; /* last dimension first */
    int rank = 0;
    for (int axis = output->rank - 1; axis >= 0; axis--) {
        int64_t size = output->dims[axis], stride[TW_BROADCAST_INPUTS];
        for (int k = 0; k < input_count; k++) {
            int own = axis - (output->rank - inputs[k]->rank);
            int64_t length = own < 0 ? 1 : inputs[k]->dims[own];
            stride[k] = length == 1 ? 0 : advance[k];
            advance[k] *= length;
        }
        if (size == 1)
            continue;
        bool joins = rank > 0;
        for (int k = 0; joins && k < input_count; k++)
            joins = stride[k] == strides[k][rank - 1] * dims[rank - 1];
        if (joins) {
            dims[rank - 1] *= size;
            continue;
        }
        dims[rank] = size;
        for (int k = 0; k < input_count; k++)
            strides[k][rank] = stride[k];
        rank++;
    }
    if (!rank) {
        dims[0] = 1;
        for (int k = 0; k < input_count; k++)
            strides[k][0] = 0;
        rank = 1;
    }
    plan->rank = rank;
    plan->rows = 1;
    for (int i = 0; i < rank; i++) {
        plan->dims[i] = dims[rank - 1 - i];
        for (int k = 0; k < input_count; k++)
            plan->strides[k][i] = strides[k][rank - 1 - i];
        if (i < rank - 1)
            plan->rows *= plan->dims[i];
    }
}

int64_t tw__broadcast_offset(const tw__broadcast *plan, int input, int64_t row)
{
    int64_t offset = 0;
    for (int i = plan->rank - 2; i >= 0; i--) {
        offset += row % plan->dims[i] * plan->strides[input][i];
        row /= plan->dims[i];
    }
    return offset;
}

/* ---- rows ---- */

static bool is_small_float(tw_dtype dtype)
{
    return dtype == TW_FLOAT16 || dtype == TW_BFLOAT16;
}

bool tw__binary_has(const tw__binary *operation, tw_dtype dtype)
{
    return operation->loops[is_small_float(dtype) ? TW_FLOAT32 : dtype] != NULL;
}

bool tw__unary_has(const tw__unary *operation, tw_dtype dtype)
{
    return operation->loops[is_small_float(dtype) ? TW_FLOAT32 : dtype] != NULL;
}

static void small_float_row(const tw__binary *operation, tw_dtype dtype, const uint16_t *x, const uint16_t *y, void *z,
                            int64_t count, tw__row row)
{
    float a[TILE], b[TILE], c[TILE];
    if (row == TW_ROW_X_SCALAR)
        tw__small_float_read(dtype, x, a, 1);
    if (row == TW_ROW_Y_SCALAR)
        tw__small_float_read(dtype, y, b, 1);
    for (int64_t i = 0; i < count; i += TILE) {
        int64_t n = count - i < TILE ? count - i : TILE;
        if (row != TW_ROW_X_SCALAR)
            tw__small_float_read(dtype, x + i, a, n);
        if (row != TW_ROW_Y_SCALAR)
            tw__small_float_read(dtype, y + i, b, n);
        if (operation->gives_bool) {
            operation->loops[TW_FLOAT32](a, b, (bool *)z + i, n, row);
        } else {
            operation->loops[TW_FLOAT32](a, b, c, n, row);
            tw__small_float_write(dtype, c, (uint16_t *)z + i, n);
        }
    }
}

void tw__binary_row(const tw__binary *operation, tw_dtype dtype, const void *x, const void *y, void *z, int64_t count,
                    tw__row row)
{
    if (is_small_float(dtype))
        small_float_row(operation, dtype, x, y, z, count, row);
    else
        operation->loops[dtype](x, y, z, count, row);
}

/* ---- two inputs ---- */

typedef struct binary_run {
    const tw__binary *operation;
    tw_dtype dtype;
    const char *x, *y;
    char *z;
    size_t size, out_size;
    tw__row row;
    tw__broadcast plan;
    int64_t count;
} binary_run;

/* In tiles: chunks that begin at their multiples give the same bits with any number of threads. */
static void run_flat(void *context, int64_t first, int64_t last)
{
    const binary_run *r = context;
    int64_t begin = first * TW_TILE, end = last * TW_TILE < r->count ? last * TW_TILE : r->count;
    bool x_moves = r->row != TW_ROW_X_SCALAR, y_moves = r->row != TW_ROW_Y_SCALAR;
    if (!tw__streams(r->z, r->count * (int64_t)r->out_size)) {
        size_t at = (size_t)begin * r->size;
        tw__binary_row(r->operation, r->dtype, x_moves ? r->x + at : r->x, y_moves ? r->y + at : r->y,
                       r->z + (size_t)begin * r->out_size, end - begin, r->row);
        return;
    }
    _Alignas(TW_TILE_ALIGNMENT) char tile[TW_TILE * 16];
    for (int64_t i = begin; i < end; i += TW_TILE) {
        int64_t n = end - i < TW_TILE ? end - i : TW_TILE;
        bool more = i + 2 * TW_TILE <= r->count;
        for (int64_t k = 0; k < n; k += PIECE) {
            size_t at = (size_t)(i + k) * r->size;
            if (more && x_moves)
                tw__prefetch(r->x + at + TW_TILE * r->size, PIECE * r->size);
            if (more && y_moves)
                tw__prefetch(r->y + at + TW_TILE * r->size, PIECE * r->size);
            tw__binary_row(r->operation, r->dtype, x_moves ? r->x + at : r->x, y_moves ? r->y + at : r->y,
                           tile + (size_t)k * r->out_size, n - k < PIECE ? n - k : PIECE, r->row);
        }
        tw__stream(r->z + (size_t)i * r->out_size, tile, (size_t)n * r->out_size);
    }
    tw__stream_end();
}

static void run_rows(void *context, int64_t begin, int64_t end)
{
    const binary_run *r = context;
    int last = r->plan.rank - 1;
    int64_t length = r->plan.dims[last];
    tw__row row = !r->plan.strides[0][last] ? TW_ROW_X_SCALAR : !r->plan.strides[1][last] ? TW_ROW_Y_SCALAR : TW_ROW_BOTH;
    for (int64_t i = begin; i < end; i++) {
        const char *x = r->x + (size_t)tw__broadcast_offset(&r->plan, 0, i) * r->size;
        const char *y = r->y + (size_t)tw__broadcast_offset(&r->plan, 1, i) * r->size;
        tw__binary_row(r->operation, r->dtype, x, y, r->z + (size_t)(i * length) * r->out_size, length, row);
    }
}

#define COPY_ROW(type)                                         \
    do {                                                       \
        const type *source = (const type *)(const void *)from; \
        for (int64_t k = 0; k < length; k++)                   \
            ((type *)to)[k] = source[k * stride];              \
    } while (0)

static void copy_row(void *to, const char *from, int64_t length, int64_t stride, size_t size)
{
    typedef struct sixteen {
        uint64_t low, high;
    } sixteen;
    switch (size) {
    case 1:
        COPY_ROW(uint8_t);
        break;
    case 2:
        COPY_ROW(uint16_t);
        break;
    case 4:
        COPY_ROW(uint32_t);
        break;
    case 8:
        COPY_ROW(uint64_t);
        break;
    default:
        COPY_ROW(sixteen);
    }
}

/* Rows [first, first + rows) of one input side by side; the input itself where they lie so already. */
static const char *gather(const binary_run *r, int input, int64_t first, int64_t rows, char *tile)
{
    const tw__broadcast *plan = &r->plan;
    const char *data = input ? r->y : r->x;
    int last = plan->rank - 1;
    int64_t length = plan->dims[last];
    if (plan->rank == 2 && plan->strides[input][1] == 1 && plan->strides[input][0] == length)
        return data + (size_t)(first * length) * r->size;
    for (int64_t i = 0; i < rows; i++) {
        int64_t offset = tw__broadcast_offset(plan, input, first + i);
        copy_row(tile + (size_t)(i * length) * r->size, data + (size_t)offset * r->size, length, plan->strides[input][last],
                 r->size);
    }
    return tile;
}

static void run_tiles(void *context, int64_t begin, int64_t end)
{
    const binary_run *r = context;
    _Alignas(64) char x_tile[TILE * 16], y_tile[TILE * 16];
    const tw__broadcast *plan = &r->plan;
    int64_t length = plan->dims[plan->rank - 1], rows = TILE / length;
    const char *x = NULL, *y = NULL;
    /* A row that every other row repeats is gathered once. */
    bool x_same = plan->rank == 2 && plan->strides[0][0] == 0, y_same = plan->rank == 2 && plan->strides[1][0] == 0;
    bool streamed = tw__streams(r->z, r->count * (int64_t)r->out_size) && (size_t)(rows * length) * r->out_size % 16 == 0;
    streamed = streamed && (size_t)(begin * length) * r->out_size % 16 == 0;
    _Alignas(TW_TILE_ALIGNMENT) char z_tile[TILE * 16];
    for (int64_t i = begin; i < end; i += rows) {
        int64_t n = end - i < rows ? end - i : rows;
        if (!x || !x_same)
            x = gather(r, 0, i, n, x_tile);
        if (!y || !y_same)
            y = gather(r, 1, i, n, y_tile);
        char *z = r->z + (size_t)(i * length) * r->out_size;
        tw__binary_row(r->operation, r->dtype, x, y, streamed ? z_tile : z, n * length, TW_ROW_BOTH);
        if (streamed)
            tw__stream(z, z_tile, (size_t)(n * length) * r->out_size);
    }
    if (streamed)
        tw__stream_end();
}

void tw__binary_run(const tw__binary *operation, tw_dtype dtype, const void *x, const tw_shape *x_shape, const void *y,
                    const tw_shape *y_shape, void *z, const tw_shape *z_shape)
{
    int64_t count = 1, x_count = 1, y_count = 1;
    for (int i = 0; i < z_shape->rank; i++)
        count *= z_shape->dims[i];
    for (int i = 0; i < x_shape->rank; i++)
        x_count *= x_shape->dims[i];
    for (int i = 0; i < y_shape->rank; i++)
        y_count *= y_shape->dims[i];
    if (count == 0)
        return;
    int64_t grain = operation->slow ? SLOW_GRAIN : GRAIN;
    bool flat = (x_count == count || x_count == 1) && (y_count == count || y_count == 1);
    tw__row row = x_count == y_count ? TW_ROW_BOTH : x_count == 1 ? TW_ROW_X_SCALAR : TW_ROW_Y_SCALAR;
    if (flat && count <= grain) {
        tw__binary_row(operation, dtype, x, y, z, count, row);
        return;
    }
    size_t size = tw__element_size(dtype);
    binary_run r = { operation, dtype, x, y, z, size, operation->gives_bool ? 1 : size, row, { 0 }, count };
    if (flat) {
        tw__parallel((count + TW_TILE - 1) / TW_TILE, grain / TW_TILE, run_flat, &r);
        return;
    }
    tw__broadcast_plan(&r.plan, z_shape, (const tw_shape *const[]){ x_shape, y_shape }, 2);
    int64_t length = r.plan.dims[r.plan.rank - 1];
    /* Also where a row of one input goes with all rows of the other: then it is written side by side once. */
    bool repeats = r.plan.rank == 2 && length <= TILE / 2 &&
                   ((!r.plan.strides[0][0] && r.plan.strides[1][0] == length && r.plan.strides[1][1]) ||
                    (!r.plan.strides[1][0] && r.plan.strides[0][0] == length && r.plan.strides[0][1]));
    if (length < SHORT_ROW || repeats)
        tw__parallel(r.plan.rows, grain / length + 1, run_tiles, &r);
    else
        tw__parallel(r.plan.rows, grain / length + 1, run_rows, &r);
}

/* ---- one input ---- */

typedef struct unary_run {
    const tw__unary *operation;
    tw_dtype dtype;
    const char *x;
    char *y;
    size_t size, out_size;
    int64_t count;
} unary_run;

static void unary_row(const unary_run *r, const char *x, char *y, int64_t count)
{
    if (!is_small_float(r->dtype)) {
        r->operation->loops[r->dtype](x, y, count);
        return;
    }
    float a[TILE], b[TILE];
    for (int64_t i = 0; i < count; i += TILE) {
        int64_t n = count - i < TILE ? count - i : TILE;
        tw__small_float_read(r->dtype, x + 2 * i, a, n);
        if (r->operation->gives_bool) {
            r->operation->loops[TW_FLOAT32](a, y + i, n);
        } else {
            r->operation->loops[TW_FLOAT32](a, b, n);
            tw__small_float_write(r->dtype, b, y + 2 * i, n);
        }
    }
}

static void run_unary(void *context, int64_t first, int64_t last)
{
    const unary_run *r = context;
    int64_t begin = first * TW_TILE, end = last * TW_TILE < r->count ? last * TW_TILE : r->count;
    if (!tw__streams(r->y, r->count * (int64_t)r->out_size)) {
        unary_row(r, r->x + (size_t)begin * r->size, r->y + (size_t)begin * r->out_size, end - begin);
        return;
    }
    _Alignas(TW_TILE_ALIGNMENT) char tile[TW_TILE * 16];
    for (int64_t i = begin; i < end; i += TW_TILE) {
        int64_t n = end - i < TW_TILE ? end - i : TW_TILE;
        bool more = i + 2 * TW_TILE <= r->count;
        for (int64_t k = 0; k < n; k += PIECE) {
            const char *x = r->x + (size_t)(i + k) * r->size;
            if (more)
                tw__prefetch(x + TW_TILE * r->size, PIECE * r->size);
            unary_row(r, x, tile + (size_t)k * r->out_size, n - k < PIECE ? n - k : PIECE);
        }
        tw__stream(r->y + (size_t)i * r->out_size, tile, (size_t)n * r->out_size);
    }
    tw__stream_end();
}

void tw__unary_run(const tw__unary *operation, tw_dtype dtype, const void *x, void *y, int64_t count)
{
    size_t size = tw__element_size(dtype);
    size_t out_size = operation->gives_bool ? 1 : operation->gives_real && tw__dtype_is_complex(dtype) ? size / 2 : size;
    unary_run r = { operation, dtype, x, y, size, out_size, count };
    if (count > 0)
        tw__parallel((count + TW_TILE - 1) / TW_TILE, (operation->slow ? SLOW_GRAIN : GRAIN) / TW_TILE, run_unary, &r);
}
