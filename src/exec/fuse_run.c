/* Running fused steps: all loops on a tile of a thousand elements before the next tile is touched; see fuse.c.
 *
 * Tiles begin at multiples of 64 elements and end there or at the very end: elements that fill no vector go through scalar code,
 * which may round differently, so that an element's value depends on its place alone. */
#include "exec/fuse.h"

enum { TILE = TW_TILE, VECTOR = 64, PIECES = 4 /* of a tile, between which a slow loop stops */ };

typedef struct work {
    const tw__fused *fused;
    tw_tensor *const *inputs;
    char *output;  /* NULL: the values are only reduced */
    bool streamed; /* see stream.h */
} work;

typedef struct tiles {
    _Alignas(TW_TILE_ALIGNMENT) char temporaries[TW_FUSED_TEMPORARIES + 2][TILE * sizeof(double)];
    char spread[TW_FUSED_REPEATED][TILE * sizeof(double)];
} tiles;

int64_t tw__fused_grain(const tw__fused *fused)
{
    return (fused->slow_count ? 8 : 32) * TILE;
}

/* Memory gets something to do between the loops and between pieces of slow ones, a share each time: the tile after the one at
 * `offset` is asked for, the one before it goes out from `before` (NULL: there is none). All at once would make the memory's
 * queues overflow. */
typedef struct traffic {
    const work *work;
    size_t offset, share, done; /* bytes: of the tile, of a share, of the shares so far */
    const char *before;
    bool next;
} traffic;

static void move_share(traffic *t)
{
    const tw__fused *fused = t->work->fused;
    size_t bytes = TILE * fused->element, begin = t->done, end = begin + t->share < bytes ? begin + t->share : bytes;
    if (begin >= end)
        return;
    t->done = end;
    for (int k = 0; t->next && k < fused->input_count; k++) {
        if (fused->inputs[k].kind == TW_INPUT_WHOLE)
            tw__prefetch((const char *)t->work->inputs[k]->data + t->offset + bytes + begin, end - begin);
    }
    if (t->before)
        tw__stream(t->work->output + t->offset - bytes + begin, t->before + begin, end - begin);
}

static void run_loop(const tw__fused_loop *l, const char *x, const char *y, char *z, int64_t count, tw__row row)
{
    if (l->unary)
        l->unary(x, z, count);
    else
        l->binary(x, y, z, count, row);
}

static void fill(char *to, const char *value, size_t element, int64_t count)
{
    if (element == sizeof(float)) {
        float v, *floats = (float *)(void *)to;
        memcpy(&v, value, sizeof v);
        for (int64_t i = 0; i < count; i++)
            floats[i] = v;
    } else {
        double v, *doubles = (double *)(void *)to;
        memcpy(&v, value, sizeof v);
        for (int64_t i = 0; i < count; i++)
            doubles[i] = v;
    }
}

/* The elements at, at + 1, … of an input that repeats: where they lie in a row, else written to `room`. */
static const char *spread(const tw__fused_input *input, const char *data, size_t element, int64_t at, int64_t count, char *room)
{
    int64_t from = at / input->run % input->period, in_run = at % input->run;
    if (input->run == 1 && from + count <= input->period)
        return data + (size_t)from * element;
    for (int64_t done = 0; done < count;) {
        int64_t rest = count - done, part = input->run == 1 ? input->period - from : input->run - in_run;
        part = part < rest ? part : rest;
        if (input->run == 1) {
            memcpy(room + (size_t)done * element, data + (size_t)from * element, (size_t)part * element);
            from = 0;
        } else {
            fill(room + (size_t)done * element, data + (size_t)from * element, element, part);
            from = from + 1 == input->period ? 0 : from + 1;
            in_run = 0;
        }
        done += part;
    }
    return room;
}

/* The values of one tile into `to`. The tile before, in `before`, goes to the output meanwhile; `ahead`: memory shall be kept
 * busy. */
static void run_tile(const work *w, tiles *t, int64_t at, int64_t count, char *to, bool ahead, const char *before)
{
    const tw__fused *fused = w->fused;
    size_t element = fused->element, offset = (size_t)at * element;
    const char *data[TW_FUSED_INPUTS];
    bool scalar[TW_FUSED_INPUTS] = { false }; /* one element for the whole tile */
    for (int k = 0; k < fused->input_count; k++) {
        const tw__fused_input *input = &fused->inputs[k];
        data[k] = w->inputs[k]->data;
        if (input->kind == TW_INPUT_WHOLE)
            data[k] += offset;
        else if (input->scalar && at % input->run + count <= input->run)
            scalar[k] = true;
        if (scalar[k])
            data[k] += (size_t)(at / input->run % input->period) * element;
        else if (input->kind == TW_INPUT_REPEATED)
            data[k] = spread(input, data[k], element, at, count, t->spread[input->spread]);
    }
    int64_t slots = fused->loop_count + fused->slow_count * (PIECES - 1);
    traffic moved = { w, offset, (TILE * element / (size_t)slots + 63) & ~(size_t)63, 0, before, at + 2 * TILE <= fused->count };
    for (int i = 0; i < fused->loop_count; i++) {
        const tw__fused_loop *l = &fused->loops[i];
        bool x_made = l->x.kind == TW_FROM_TEMPORARY, y_made = l->y.kind == TW_FROM_TEMPORARY;
        const char *x = x_made ? t->temporaries[l->x.index] : data[l->x.index];
        const char *y = l->unary ? NULL : y_made ? t->temporaries[l->y.index] : data[l->y.index];
        char *z = l->z.kind == TW_FROM_TEMPORARY ? t->temporaries[l->z.index] : to;
        tw__row row = l->row;
        if (y && !x_made && scalar[l->x.index])
            row = TW_ROW_X_SCALAR;
        else if (y && !y_made && scalar[l->y.index])
            row = TW_ROW_Y_SCALAR;
        if (!ahead || !l->slow || count < TILE) {
            run_loop(l, x, y, z, count, row);
            if (ahead)
                move_share(&moved);
            continue;
        }
        size_t piece = TILE / PIECES * element;
        for (int k = 0; k < PIECES; k++) {
            run_loop(l, x, y, z, TILE / PIECES, row);
            move_share(&moved);
            x += l->unary || row != TW_ROW_X_SCALAR ? piece : 0;
            y += y && row != TW_ROW_Y_SCALAR ? piece : 0;
            z += piece;
        }
    }
    while (before && moved.done < TILE * element)
        move_share(&moved);
}

static void run_tiles(void *context, int64_t first, int64_t last)
{
    const work *w = context;
    int64_t total = w->fused->count, begin = first * TILE, end = last * TILE < total ? last * TILE : total;
    size_t element = w->fused->element;
    tiles t;
    char *to = NULL, *before = NULL;
    for (int64_t at = begin; at < end; at += TILE) {
        int64_t count = end - at < TILE ? end - at : TILE;
        to = !w->streamed ? w->output + (size_t)at * element
                          : t.temporaries[TW_FUSED_TEMPORARIES + (before == t.temporaries[TW_FUSED_TEMPORARIES])];
        run_tile(w, &t, at, count, to, w->streamed, before);
        if (w->streamed)
            before = to;
    }
    if (before) {
        int64_t at = begin + (end - begin - 1) / TILE * TILE;
        tw__stream(w->output + (size_t)at * element, before, (size_t)(end - at) * element);
        tw__stream_end();
    }
}

/* Values for a reduction, which wants them from anywhere to anywhere. */
static const void *make(void *context, int64_t at, int64_t count, void *room)
{
    const work *w = context;
    int64_t end = at + count, total = w->fused->count;
    size_t element = w->fused->element;
    bool ahead = total * (int64_t)element >= (int64_t)8 << 20, exact = at % VECTOR == 0 && (end % VECTOR == 0 || end == total);
    char *to = w->output && exact && !w->streamed ? w->output + (size_t)at * element : room;
    tiles t;
    for (int64_t begin = at / VECTOR * VECTOR; begin < end;) {
        int64_t stop = (end + VECTOR - 1) / VECTOR * VECTOR;
        stop = stop - begin > TILE ? begin + TILE : stop < total ? stop : total;
        int64_t from = begin < at ? at : begin, until = stop > end ? end : stop;
        char *place = to + (size_t)(from - at) * element;
        if (from == begin && until == stop) {
            run_tile(w, &t, begin, stop - begin, place, ahead, NULL);
        } else {
            char *tile = t.temporaries[TW_FUSED_TEMPORARIES];
            run_tile(w, &t, begin, stop - begin, tile, ahead, NULL);
            memcpy(place, tile + (size_t)(from - begin) * element, (size_t)(until - from) * element);
        }
        begin = stop;
    }
    if (w->output && w->streamed && (size_t)at * element % 16 == 0) {
        tw__stream(w->output + (size_t)at * element, to, (size_t)count * element);
        tw__stream_end();
    } else if (w->output && to == room) {
        memcpy(w->output + (size_t)at * element, to, (size_t)count * element);
    }
    return to;
}

tw_status tw__fused_run(const tw__step *step, tw_tensor *const *inputs, tw_tensor **outputs)
{
    const tw__fused *fused = step->data;
    work w = { fused, inputs, NULL, false };
    if (!fused->reduces || fused->keeps) {
        w.output = outputs[0]->data;
        w.streamed = tw__streams(w.output, fused->count * (int64_t)fused->element);
    }
    if (fused->reduces) {
        tw__reduce_source source = { make, &w, tw__fused_grain(fused) };
        return tw__reduce_made(fused->reduction, fused->dtype, &source, &fused->shape, fused->axes, outputs[fused->keeps]->data);
    }
    int64_t all = (fused->count + TILE - 1) / TILE;
    if (all == 1)
        run_tiles(&w, 0, 1);
    else
        tw__parallel(all, tw__fused_grain(fused) / TILE, run_tiles, &w);
    return TW_OK;
}
