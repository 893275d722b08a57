/* Running fused steps: all loops on a tile of a thousand elements before the next tile is touched; see fuse.c.
 *
 * Tiles begin at multiples of 64 elements and end there or at the very end: elements that fill no vector go through scalar code, which may
 * round differently, so that an element's value depends on its place alone. */
#include "exec/fuse.h"

enum { TILE = TW_TILE, VECTOR = 64 };

typedef struct work {
    const tw__fused *fused;
    tw_tensor *const *inputs;
    char *output;  /* NULL: the values are only reduced */
    bool streamed; /* see stream.h */
} work;

typedef struct tiles {
    _Alignas(TW_TILE_ALIGNMENT) char temporaries[TW_FUSED_TEMPORARIES + 1][TILE * sizeof(double)];
    char spread[TW_FUSED_REPEATED][TILE * sizeof(double)];
} tiles;

int64_t tw__fused_grain(const tw__fused *fused)
{
    return (fused->slow ? 8 : 32) * TILE;
}

/* Between the loops, a share of the next tile each: all at once would make the memory's queue overflow. */
static void ask_for_next(const work *w, size_t offset, int loop_number)
{
    const tw__fused *fused = w->fused;
    size_t bytes = TILE * fused->element, share = (bytes / (size_t)fused->loop_count + 63) & ~(size_t)63;
    size_t begin = share * (size_t)loop_number, end = begin + share < bytes ? begin + share : bytes;
    for (int k = 0; k < fused->input_count; k++) {
        if (fused->inputs[k].kind == TW_INPUT_WHOLE && begin < end)
            tw__prefetch((const char *)w->inputs[k]->data + offset + begin, end - begin);
    }
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

/* The values of one tile into `to`. */
static void run_tile(const work *w, tiles *t, int64_t at, int64_t count, char *to, bool ahead)
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
    for (int i = 0; i < fused->loop_count; i++) {
        const tw__fused_loop *l = &fused->loops[i];
        bool x_made = l->x.kind == TW_FROM_TEMPORARY, y_made = l->y.kind == TW_FROM_TEMPORARY;
        const void *x = x_made ? t->temporaries[l->x.index] : data[l->x.index];
        void *z = l->z.kind == TW_FROM_TEMPORARY ? t->temporaries[l->z.index] : to;
        if (l->unary) {
            l->unary(x, z, count);
        } else {
            tw__row row = !x_made && scalar[l->x.index] ? TW_ROW_X_SCALAR : !y_made && scalar[l->y.index] ? TW_ROW_Y_SCALAR : l->row;
            l->binary(x, y_made ? t->temporaries[l->y.index] : data[l->y.index], z, count, row);
        }
        if (ahead && at + 2 * TILE <= fused->count)
            ask_for_next(w, offset + TILE * element, i);
    }
}

static void run_tiles(void *context, int64_t first, int64_t last)
{
    const work *w = context;
    int64_t total = w->fused->count, begin = first * TILE, end = last * TILE < total ? last * TILE : total;
    size_t element = w->fused->element;
    tiles t;
    for (int64_t at = begin; at < end; at += TILE) {
        int64_t count = end - at < TILE ? end - at : TILE;
        char *output = w->output + (size_t)at * element, *to = w->streamed ? t.temporaries[TW_FUSED_TEMPORARIES] : output;
        run_tile(w, &t, at, count, to, w->streamed);
        if (w->streamed)
            tw__stream(output, to, (size_t)count * element);
    }
    if (w->streamed)
        tw__stream_end();
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
            run_tile(w, &t, begin, stop - begin, place, ahead);
        } else {
            char *tile = t.temporaries[TW_FUSED_TEMPORARIES];
            run_tile(w, &t, begin, stop - begin, tile, ahead);
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
        tw__parallel(all, fused->slow ? 8 : 32, run_tiles, &w);
    return TW_OK;
}
