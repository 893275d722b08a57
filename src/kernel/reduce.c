/* Reductions: the walk over the array.
 *
 * Adjacent axes of the same fate (kept or reduced) are joined first, so that runs of the two kinds alternate. What is left is one of two
 * loops over contiguous memory, repeated over the outer runs:
 *   innermost run reduced    rows:     [.., rows, size] -> [.., rows]
 *   innermost run kept       columns:  [.., rows, size] -> [.., size]   in tiles of columns and blocks of rows
 * The order of additions depends on the shape alone, never on the number of threads. */
#include "kernel/reduce.h"

enum {
    TILE_BYTES = 8192,      /* of accumulators on the stack */
    ROW_BLOCK = 256,        /* rows that one partial result takes in */
    TASK_ELEMENTS = 65536,  /* what a task should read at least */
    SPLIT_ELEMENTS = 262144 /* from here on a reduction to a few values is split */
};

typedef struct walk {
    int rank;
    int64_t dims[TW_MAX_RANK], strides[TW_MAX_RANK], count;
} walk;

typedef struct plan {
    const tw__reducer *reducer;
    const char *data;
    char *out;
    walk kept, reduced;         /* the runs outside of the two innermost */
    int64_t rows, size;         /* the two innermost runs, contiguous */
    bool rows_kept, size_kept;  /* never both, unless there is only one run */
    int64_t reduced_count;      /* elements behind each result */
    int64_t tile, tiles;        /* results per task and tasks per place of `kept` */
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

/* Few columns: several rows are taken for one long row, and the parts of it added up. */
static void few_columns(const plan *p, char *accumulators, const char *data, int64_t rows)
{
    const tw__reducer *r = p->reducer;
    int64_t size = p->size, joined = TILE_BYTES / 8 / (int64_t)r->accumulator / size;
    if (joined < 2 || rows < 4 * joined) {
        r->columns(accumulators, data, rows, size, size);
        return;
    }
    _Alignas(64) char wide[TILE_BYTES];
    int64_t block = ROW_BLOCK * joined;
    while (rows > 0) {
        int64_t part = (rows < block ? rows : block) / joined;
        if (!part) {
            r->columns(accumulators, data, rows, size, size);
            return;
        }
        r->start(wide, joined * size);
        r->columns(wide, data, part, joined * size, joined * size);
        for (int64_t k = 0; k < joined; k++)
            r->merge(accumulators, wide + (size_t)(k * size) * r->accumulator, size);
        data += (size_t)(part * joined * size) * r->element;
        rows -= part * joined;
    }
}

/* Columns [first, first + count) of `rows` rows into accumulators that have been started. */
static void columns(const plan *p, char *accumulators, const char *data, int64_t rows, int64_t first, int64_t count)
{
    const tw__reducer *r = p->reducer;
    if (count == p->size && count <= 64) {
        few_columns(p, accumulators, data, rows);
        return;
    }
    data += (size_t)first * r->element;
    if (rows <= ROW_BLOCK) {
        r->columns(accumulators, data, rows, p->size, count);
        return;
    }
    _Alignas(64) char partial[TILE_BYTES];
    for (int64_t done = 0; done < rows; done += ROW_BLOCK) {
        int64_t part = rows - done < ROW_BLOCK ? rows - done : ROW_BLOCK;
        r->start(partial, count);
        r->columns(partial, data + (size_t)(done * p->size) * r->element, part, p->size, count);
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
        const char *base = p->data + (size_t)walk_at(&p->kept, place) * r->element;
        r->start(accumulators, count);
        for (int64_t k = 0; k < p->reduced.count; k++) {
            const char *data = base + (size_t)walk_at(&p->reduced, k) * r->element;
            if (p->size_kept)
                columns(p, accumulators, data, p->rows, first, count);
            else
                r->rows(accumulators, data + (size_t)(first * p->size) * r->element, count, p->size, p->size);
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
            columns(p, accumulators, p->data + (size_t)(first * p->size) * r->element, last - first, 0, p->size);
        else
            r->rows(accumulators, p->data + (size_t)first * r->element, 1, 0, last - first);
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

tw_status tw__reduce(tw__reduction kind, tw_dtype dtype, const void *data, const tw_shape *shape, unsigned axes, void *out)
{
    plan p = { .reducer = tw__reducer_find(kind, dtype), .data = data, .out = out };
    if (!p.reducer)
        return tw__fail(TW_UNIMPLEMENTED, "a reduction of dtype %s", tw_dtype_name(dtype));
    const tw__reducer *r = p.reducer;
    int64_t results = make_plan(&p, shape, axes), limit = TILE_BYTES / (int64_t)r->accumulator;
    if (results == 0)
        return TW_OK;
    if (p.reduced_count == 0) {
        _Alignas(64) char accumulators[TILE_BYTES];
        for (int64_t i = 0; i < results; i += limit) {
            int64_t count = results - i < limit ? results - i : limit;
            r->start(accumulators, count);
            r->finish((char *)out + (size_t)i * r->element, accumulators, count, 0);
        }
        return TW_OK;
    }
    int64_t total = results * p.reduced_count;
    if (total >= SPLIT_ELEMENTS && p.kept.count == 1 && p.reduced.count == 1 && (p.size_kept ? p.rows > 1 : !p.rows_kept) &&
        results <= (p.size_kept ? 256 : 1)) {
        int64_t parts = total / (SPLIT_ELEMENTS / 4);
        if (p.size_kept && parts > p.rows / ROW_BLOCK)
            parts = p.rows / ROW_BLOCK;
        if (parts > 64)
            parts = 64;
        if (parts > 1)
            return run_split(&p, parts, results);
    }
    int64_t inner = p.size_kept ? p.size : p.rows_kept ? p.rows : 1; /* results per place of `kept` */
    p.tile = TASK_ELEMENTS / p.reduced_count;
    p.tile = p.tile < 1 ? 1 : p.tile;
    if (p.size_kept && p.tile < 256)
        p.tile = 256; /* narrower tiles of columns would waste cache lines */
    p.tile = p.tile > limit ? limit : p.tile > inner ? inner : p.tile;
    p.tiles = (inner + p.tile - 1) / p.tile;
    int64_t tasks = p.kept.count * p.tiles, cost = p.tile * p.reduced_count;
    if (total < TASK_ELEMENTS || tasks == 1)
        run_tasks(&p, 0, tasks);
    else
        tw__parallel(tasks, cost >= TASK_ELEMENTS ? 1 : TASK_ELEMENTS / cost, run_tasks, &p);
    return TW_OK;
}
