/* Reductions: the walk over the array.
 *
 * Adjacent axes of the same fate (kept or reduced) are joined first, so that runs of the two kinds alternate. What is left is one
 * of two loops over contiguous memory, repeated over the outer runs: innermost run reduced    rows:     [.., rows, size] -> [..,
 * rows] innermost run kept       columns:  [.., rows, size] -> [.., size]   in tiles of columns and blocks of rows The order of
 * additions depends on the shape alone, never on the number of threads.
 *
 * The elements may be made while they are reduced (tw__reduce_made): then they come in pieces that end where the loops' own
 * blocks do. */
#include "kernel/reduce/reduce.h"

enum {
    TILE_BYTES = 8192,                  /* of accumulators on the stack */
    ROW_BLOCK = 256,                    /* rows that one partial result takes in */
    TASK_ELEMENTS = 65536,              /* what a task should read at least */
    SPLIT_ELEMENTS = 262144,            /* from here on a reduction to a few values is split */
    MADE_COLUMNS = TW_REDUCE_BLOCK / 4, /* four rows fit into the room for made elements */
    ROW_BLOCK_RESULTS = 1 << 20
};

typedef struct walk {
    int rank;
    int64_t dims[TW_MAX_RANK], strides[TW_MAX_RANK], count;
} walk;

typedef struct plan {
    const tw__reducer *reducer;
    const char *data; /* of the elements, unless there is a source that makes them */
    const tw__reduce_source *source;
    char *out;
    walk kept, reduced;        /* the runs outside of the two innermost */
    int64_t rows, size;        /* the two innermost runs, contiguous */
    bool rows_kept, size_kept; /* never both, unless there is only one run */
    int64_t reduced_count;     /* elements behind each result */
    int64_t tile, tiles;       /* results per task and tasks per place of `kept` */
} plan;

static void walk_add(walk *w, int64_t dim, int64_t stride)
{
    w->dims[w->rank] = dim;
    w->strides[w->rank++] = stride;
    w->count *= dim;
}

/* Where the index-th place of the walk lies, in elements. */
static int64_t walk_at(const walk *w, int64_t index)
{
    int64_t offset = 0;
    for (int i = w->rank - 1; i >= 0; i--) {
        offset += index % w->dims[i] * w->strides[i];
        index /= w->dims[i];
    }
    return offset;
}

/* ---- elements in memory, or made as they are wanted; places in the array are counted in elements ---- */

static void take_rows(const plan *p, char *accumulators, int64_t at, int64_t rows, int64_t size)
{
    const tw__reducer *r = p->reducer;
    if (!p->source) {
        r->rows(accumulators, p->data + (size_t)at * r->element, rows, size, size);
        return;
    }
    _Alignas(64) char room[TW_REDUCE_BLOCK * sizeof(double)];
    int64_t most = size < TW_REDUCE_BLOCK ? TW_REDUCE_BLOCK / (size ? size : 1) : 1;
    for (int64_t row = 0; row < rows; row += most) {
        int64_t part = rows - row < most ? rows - row : most;
        for (int64_t done = 0; done < size; done += TW_REDUCE_BLOCK) {
            int64_t length = size - done < TW_REDUCE_BLOCK ? size - done : TW_REDUCE_BLOCK;
            const void *made = p->source->make(p->source->context, at + row * size + done, part * length, room);
            r->rows(accumulators + (size_t)row * r->accumulator, made, part, length, length);
        }
    }
}

static void take_columns(const plan *p, char *accumulators, int64_t at, int64_t rows, int64_t stride, int64_t size)
{
    const tw__reducer *r = p->reducer;
    if (!p->source) {
        r->columns(accumulators, p->data + (size_t)at * r->element, rows, stride, size);
        return;
    }
    _Alignas(64) char room[TW_REDUCE_BLOCK * sizeof(double)];
    int64_t most = TW_REDUCE_BLOCK / size / 4 * 4; /* the loop takes four rows at a time */
    for (int64_t row = 0; row < rows; row += most) {
        int64_t part = rows - row < most ? rows - row : most;
        const void *made = room;
        if (stride == size)
            made = p->source->make(p->source->context, at + row * size, part * size, room);
        for (int64_t k = 0; stride != size && k < part; k++) {
            char *to = room + (size_t)(k * size) * r->element;
            const void *elsewhere = p->source->make(p->source->context, at + (row + k) * stride, size, to);
            if (elsewhere != to)
                memcpy(to, elsewhere, (size_t)size * r->element);
        }
        r->columns(accumulators, made, part, size, size);
    }
}

/* Few columns: several rows are taken for one long row, and the parts of it added up. */
static void few_columns(const plan *p, char *accumulators, int64_t at, int64_t rows)
{
    const tw__reducer *r = p->reducer;
    int64_t size = p->size, joined = TILE_BYTES / 8 / (int64_t)r->accumulator / size;
    if (joined < 2 || rows < 4 * joined) {
        take_columns(p, accumulators, at, rows, size, size);
        return;
    }
    _Alignas(64) char wide[TILE_BYTES];
    int64_t block = ROW_BLOCK * joined;
    while (rows > 0) {
        int64_t part = (rows < block ? rows : block) / joined;
        if (!part) {
            take_columns(p, accumulators, at, rows, size, size);
            return;
        }
        r->start(wide, joined * size);
        take_columns(p, wide, at, part, joined * size, joined * size);
        for (int64_t k = 0; k < joined; k++)
            r->merge(accumulators, wide + (size_t)(k * size) * r->accumulator, size);
        at += part * joined * size;
        rows -= part * joined;
    }
}

/* Columns [first, first + count) of `rows` rows into accumulators that have been started. */
static void columns(const plan *p, char *accumulators, int64_t at, int64_t rows, int64_t first, int64_t count)
{
    const tw__reducer *r = p->reducer;
    if (count == p->size && count <= 64) {
        few_columns(p, accumulators, at, rows);
        return;
    }
    at += first;
    if (rows <= ROW_BLOCK) {
        take_columns(p, accumulators, at, rows, p->size, count);
        return;
    }
    _Alignas(64) char partial[TILE_BYTES];
    for (int64_t done = 0; done < rows; done += ROW_BLOCK) {
        int64_t part = rows - done < ROW_BLOCK ? rows - done : ROW_BLOCK;
        r->start(partial, count);
        take_columns(p, partial, at + done * p->size, part, p->size, count);
        r->merge(accumulators, partial, count);
    }
}

static void run_tasks(void *context, int64_t begin, int64_t end)
{
    const plan *p = context;
    const tw__reducer *r = p->reducer;
    int64_t results = p->size_kept ? p->size : p->rows_kept ? p->rows : 1; /* per place of `kept` */
    _Alignas(64) char accumulators[TILE_BYTES];
    for (int64_t task = begin; task < end; task++) {
        int64_t place = task / p->tiles, first = task % p->tiles * p->tile;
        int64_t count = results - first < p->tile ? results - first : p->tile;
        int64_t base = walk_at(&p->kept, place);
        r->start(accumulators, count);
        for (int64_t k = 0; k < p->reduced.count; k++) {
            int64_t at = base + walk_at(&p->reduced, k);
            if (p->size_kept)
                columns(p, accumulators, at, p->rows, first, count);
            else
                take_rows(p, accumulators, at + first * p->size, count, p->size);
        }
        r->finish(p->out + (size_t)(place * results + first) * r->element, accumulators, count, p->reduced_count);
    }
}

/* ---- much data, few results: parts of it side by side ---- */

typedef struct split {
    const plan *plan;
    char *partials;
    int64_t parts, results;
} split;

static void run_parts(void *context, int64_t begin, int64_t end)
{
    const split *s = context;
    const plan *p = s->plan;
    const tw__reducer *r = p->reducer;
    for (int64_t part = begin; part < end; part++) {
        char *accumulators = s->partials + (size_t)(part * s->results) * r->accumulator;
        r->start(accumulators, s->results);
        int64_t total = p->size_kept ? p->rows : p->size;
        int64_t first = total / s->parts * part, last = part + 1 == s->parts ? total : first + total / s->parts;
        if (p->size_kept)
            columns(p, accumulators, first * p->size, last - first, 0, p->size);
        else
            take_rows(p, accumulators, first, 1, last - first);
    }
}

static tw_status run_split(const plan *p, int64_t parts, int64_t results)
{
    const tw__reducer *r = p->reducer;
    split s = { p, tw__alloc((size_t)(parts * results) * r->accumulator), parts, results };
    if (!s.partials)
        return tw__error_status();
    tw__parallel(parts, 1, run_parts, &s);
    for (int64_t k = 1; k < parts; k++)
        r->merge(s.partials, s.partials + (size_t)(k * results) * r->accumulator, results);
    r->finish(p->out, s.partials, results, p->reduced_count);
    tw__free(s.partials);
    return TW_OK;
}

/* ---- */

/* Joins the axes into runs and fills in the plan; returns the number of results. */
static int64_t make_plan(plan *p, const tw_shape *shape, unsigned axes)
{
    int64_t dims[TW_MAX_RANK], results = 1;
    bool reduced[TW_MAX_RANK];
    int runs = 0;
    p->reduced_count = 1;
    p->kept.count = p->reduced.count = 1;
    for (int i = 0; i < shape->rank; i++) {
        bool is_reduced = axes >> i & 1;
        if (is_reduced)
            p->reduced_count *= shape->dims[i];
        else
            results *= shape->dims[i];
        if (shape->dims[i] == 1)
            continue;
        if (runs && reduced[runs - 1] == is_reduced) {
            dims[runs - 1] *= shape->dims[i];
        } else {
            dims[runs] = shape->dims[i];
            reduced[runs++] = is_reduced;
        }
    }
    p->size = runs ? dims[runs - 1] : 1;
    p->size_kept = runs && !reduced[runs - 1];
    p->rows = runs > 1 ? dims[runs - 2] : 1;
    p->rows_kept = runs > 1 && !reduced[runs - 2];
    for (int i = 0; i + 2 < runs; i++) {
        int64_t step = 1;
        for (int k = i + 1; k < runs; k++)
            step *= dims[k];
        walk_add(reduced[i] ? &p->reduced : &p->kept, dims[i], step);
    }
    return results;
}

/* Columns of many rows: the partial results of blocks of rows, which are added up in order, side by side. */
typedef struct row_blocks {
    const plan *plan;
    char *partials;
} row_blocks;

static void run_row_blocks(void *context, int64_t begin, int64_t end)
{
    const row_blocks *b = context;
    const plan *p = b->plan;
    const tw__reducer *r = p->reducer;
    for (int64_t k = begin; k < end; k++) {
        int64_t row = k * ROW_BLOCK, rows = p->rows - row < ROW_BLOCK ? p->rows - row : ROW_BLOCK;
        char *partial = b->partials + (size_t)(k * p->size) * r->accumulator;
        r->start(partial, p->size);
        for (int64_t first = 0; first < p->size; first += MADE_COLUMNS) {
            int64_t count = p->size - first < MADE_COLUMNS ? p->size - first : MADE_COLUMNS;
            take_columns(p, partial + (size_t)first * r->accumulator, row * p->size + first, rows, p->size, count);
        }
    }
}

static tw_status reduce_row_blocks(const plan *p)
{
    const tw__reducer *r = p->reducer;
    int64_t count = (p->rows + ROW_BLOCK - 1) / ROW_BLOCK;
    row_blocks b = { p, tw__alloc((size_t)(count * p->size) * r->accumulator) };
    if (!b.partials)
        return tw__error_status();
    int64_t grain = p->source->grain / (ROW_BLOCK * p->size);
    tw__parallel(count, grain < 1 ? 1 : grain, run_row_blocks, &b);
    for (int64_t first = 0; first < p->size; first += MADE_COLUMNS) {
        int64_t columns_here = p->size - first < MADE_COLUMNS ? p->size - first : MADE_COLUMNS;
        _Alignas(64) char accumulators[TILE_BYTES];
        r->start(accumulators, columns_here);
        for (int64_t k = 0; k < count; k++)
            r->merge(accumulators, b.partials + (size_t)(k * p->size + first) * r->accumulator, columns_here);
        r->finish(p->out + (size_t)first * r->element, accumulators, columns_here, p->reduced_count);
    }
    tw__free(b.partials);
    return TW_OK;
}

/* One value out of elements that are worth several threads to make, but not enough to be split: the blocks that the loop would
 * add up one after the other, side by side. */
typedef struct blocks {
    const plan *plan;
    char *partials;
    int64_t total;
} blocks;

static void run_blocks(void *context, int64_t begin, int64_t end)
{
    const blocks *b = context;
    const tw__reducer *r = b->plan->reducer;
    for (int64_t k = begin; k < end; k++) {
        int64_t at = k * TW_REDUCE_BLOCK, length = b->total - at < TW_REDUCE_BLOCK ? b->total - at : TW_REDUCE_BLOCK;
        char *partial = b->partials + (size_t)k * r->accumulator;
        r->start(partial, 1);
        take_rows(b->plan, partial, at, 1, length);
    }
}

static void reduce_blocks(const plan *p, int64_t total)
{
    const tw__reducer *r = p->reducer;
    _Alignas(64) char partials[(SPLIT_ELEMENTS / TW_REDUCE_BLOCK + 1) * sizeof(double)], result[sizeof(double)];
    int64_t rest = total % TW_REDUCE_BLOCK, count = total / TW_REDUCE_BLOCK + (rest >= TW_REDUCE_LANES);
    blocks b = { p, partials, total };
    int64_t grain = p->source->grain / TW_REDUCE_BLOCK;
    tw__parallel(count, grain < 1 ? 1 : grain, run_blocks, &b);
    r->start(result, 1);
    for (int64_t k = 0; k < count; k++)
        r->merge(result, partials + (size_t)k * r->accumulator, 1);
    if (rest < TW_REDUCE_LANES)
        take_rows(p, result, total - rest, 1, rest);
    r->finish(p->out, result, 1, p->reduced_count);
}

static tw_status reduce(plan *p, const tw_shape *shape, unsigned axes)
{
    const tw__reducer *r = p->reducer;
    int64_t results = make_plan(p, shape, axes), limit = TILE_BYTES / (int64_t)r->accumulator;
    int64_t task_elements = p->source ? p->source->grain : TASK_ELEMENTS;
    if (results == 0)
        return TW_OK;
    if (p->reduced_count == 0) {
        _Alignas(64) char accumulators[TILE_BYTES];
        for (int64_t i = 0; i < results; i += limit) {
            int64_t count = results - i < limit ? results - i : limit;
            r->start(accumulators, count);
            r->finish(p->out + (size_t)i * r->element, accumulators, count, 0);
        }
        return TW_OK;
    }
    int64_t total = results * p->reduced_count;
    if (total >= SPLIT_ELEMENTS && p->kept.count == 1 && p->reduced.count == 1 && (p->size_kept ? p->rows > 1 : !p->rows_kept) &&
        results <= (p->size_kept ? 256 : 1)) {
        int64_t parts = total / (SPLIT_ELEMENTS / 4);
        if (p->size_kept && parts > p->rows / ROW_BLOCK)
            parts = p->rows / ROW_BLOCK;
        if (parts > 64)
            parts = 64;
        if (parts > 1)
            return run_split(p, parts, results);
    }
    if (p->source && results == 1 && total == p->size && total < SPLIT_ELEMENTS && total >= 2 * task_elements) {
        reduce_blocks(p, total);
        return TW_OK;
    }
    if (p->source && p->size_kept && p->kept.count == 1 && p->reduced.count == 1 && p->size > 64 && p->rows > ROW_BLOCK &&
        p->rows / ROW_BLOCK * p->size < ROW_BLOCK_RESULTS)
        return reduce_row_blocks(p);
    if (p->source && p->size_kept && limit > MADE_COLUMNS)
        limit = MADE_COLUMNS;
    int64_t inner = p->size_kept ? p->size : p->rows_kept ? p->rows : 1; /* results per place of `kept` */
    p->tile = task_elements / p->reduced_count;
    p->tile = p->tile < 1 ? 1 : p->tile;
    if (p->size_kept && p->tile < 256)
        p->tile = 256; /* narrower tiles of columns would waste cache lines */
    p->tile = p->tile > limit ? limit : p->tile > inner ? inner : p->tile;
    p->tiles = (inner + p->tile - 1) / p->tile;
    int64_t tasks = p->kept.count * p->tiles, cost = p->tile * p->reduced_count;
    if (total < task_elements || tasks == 1)
        run_tasks(p, 0, tasks);
    else
        tw__parallel(tasks, cost >= task_elements ? 1 : task_elements / cost, run_tasks, p);
    return TW_OK;
}

tw_status tw__reduce(tw__reduction kind, tw_dtype dtype, const void *data, const tw_shape *shape, unsigned axes, void *out)
{
    plan p = { .reducer = tw__reducer_find(kind, dtype), .data = data, .out = out };
    if (!p.reducer)
        return tw__fail(TW_UNIMPLEMENTED, "a reduction of dtype %s", tw_dtype_name(dtype));
    return reduce(&p, shape, axes);
}

tw_status tw__reduce_made(tw__reduction kind, tw_dtype dtype, const tw__reduce_source *source, const tw_shape *shape,
                          unsigned axes, void *out)
{
    plan p = { .reducer = tw__reducer_find(kind, dtype), .source = source, .out = out };
    if (!p.reducer || (dtype != TW_FLOAT32 && dtype != TW_FLOAT64))
        return tw__fail(TW_UNIMPLEMENTED, "a reduction of %s elements that are made", tw_dtype_name(dtype));
    return reduce(&p, shape, axes);
}
