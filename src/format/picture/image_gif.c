/* GIF: every frame as the whole picture stands when it is shown, three channels.
 *
 *     "GIF87a" or "GIF89a"; width, height (2 bytes each), flags, background, aspect; the colours
 *     then blocks: ',' left, top, width, height, flags, [colours], code size, data in pieces of at most 255 bytes
 *                  '!' a label and pieces; label 0xf9 names the transparent colour of the next frame
 *                  ';' the end
 *
 * As in TensorFlow the picture is as large as the largest frame; where a frame has nothing, or its transparent colour, the frame
 * before stands (black before the first); how frames are to be disposed of is not looked at. The data are codes of LZW: 9 to 12
 * bits, a table that grows by a string with each code. */
#include "format/picture/image.h"

enum { CODES = 4096, FRAMES_LIMIT = 1 << 16 };

typedef struct frame {
    int left, top, width, height, transparent; /* transparent -1: none */
    bool interlaced;
    const uint8_t *colors;
    int color_count;
    const uint8_t *data; /* from the code size on */
} frame;

typedef struct gif {
    const char *op;
    size_t size;
    const uint8_t *at, *end;
    const uint8_t *colors; /* of the whole file */
    int color_count;
    frame *frames;
    size_t count, capacity;
    int width, height;
} gif;

static tw_status refuse(const gif *g, const char *what)
{
    return tw__fail(TW_INVALID_ARGUMENT, "Invalid GIF data (size %zu), %s", g->size, what);
}

static tw_status cut_off(const gif *g)
{
    return refuse(g, "failed to slurp gif file: Failed to read from given file");
}

static int word(const uint8_t *at)
{
    return at[0] | at[1] << 8;
}

static bool take_colors(gif *g, int flags, const uint8_t **colors, int *count)
{
    if (!(flags & 0x80))
        return true;
    *count = 2 << (flags & 7);
    *colors = g->at;
    if (g->end - g->at < 3 * *count)
        return false;
    g->at += 3 * *count;
    return true;
}

/* Passes over pieces: a size and so many bytes, up to a size of zero. */
static bool skip_pieces(gif *g)
{
    while (g->at < g->end) {
        size_t size = *g->at++;
        if (size == 0)
            return true;
        if ((size_t)(g->end - g->at) < size)
            return false;
        g->at += size;
    }
    return false;
}

static tw_status take_frame(gif *g, int transparent)
{
    if (g->end - g->at < 9)
        return cut_off(g);
    frame f = { .left = word(g->at),
                .top = word(g->at + 2),
                .width = word(g->at + 4),
                .height = word(g->at + 6),
                .transparent = transparent,
                .colors = g->colors,
                .color_count = g->color_count };
    int flags = g->at[8];
    g->at += 9;
    f.interlaced = flags & 0x40;
    if (!take_colors(g, flags, &f.colors, &f.color_count))
        return cut_off(g);
    f.data = g->at++;
    if (g->at > g->end || !skip_pieces(g))
        return cut_off(g);
    if (!f.colors)
        return refuse(g, "missing color map for a frame");
    if (g->count == FRAMES_LIMIT)
        return refuse(g, "there are too many frames");
    TW_TRY(TW_GROW(g->frames, g->capacity, g->count + 1));
    g->frames[g->count++] = f;
    g->width = f.width > g->width ? f.width : g->width;
    g->height = f.height > g->height ? f.height : g->height;
    return TW_OK;
}

static tw_status take_blocks(gif *g)
{
    int transparent = -1;
    for (;;) {
        int kind = g->at < g->end ? *g->at++ : -1;
        if (kind == ';')
            return g->count ? TW_OK : refuse(g, "there is no frame");
        if (kind == ',') {
            TW_TRY(take_frame(g, transparent));
            transparent = -1;
        } else if (kind == '!') {
            if (g->end - g->at >= 6 && g->at[0] == 0xf9 && g->at[1] >= 4)
                transparent = g->at[2] & 1 ? g->at[5] : -1;
            g->at++;
            if (g->at > g->end || !skip_pieces(g))
                return cut_off(g);
        } else {
            return kind < 0 ? cut_off(g) : refuse(g, "failed to slurp gif file: Wrong record type detected");
        }
    }
}

/* ---- codes ---- */

typedef struct codes {
    const uint8_t *at; /* in the pieces, which were checked */
    int left;          /* bytes of the piece */
    uint32_t bits;
    int bit_count;
    uint16_t before[CODES]; /* a string is the one before it and a colour */
    uint8_t color[CODES], first[CODES];
    uint8_t stack[CODES + 1];
} codes;

static int next_code(codes *c, int width)
{
    while (c->bit_count < width) {
        if (c->left == 0) {
            c->left = *c->at++;
            if (c->left == 0) {
                c->at--;
                return -1;
            }
        }
        c->bits |= (uint32_t)*c->at++ << c->bit_count;
        c->bit_count += 8;
        c->left--;
    }
    int code = (int)(c->bits & ((1u << width) - 1));
    c->bits >>= width;
    c->bit_count -= width;
    return code;
}

/* The place of the n-th line that comes, of an interlaced frame: every 8th, the ones between, every 4th, every 2nd. */
static int line_of(const frame *f, int n)
{
    static const int begin[] = { 0, 4, 2, 1 }, step[] = { 8, 8, 4, 2 };
    for (int pass = 0; f->interlaced && pass < 4; pass++) {
        int lines = f->height > begin[pass] ? (f->height - begin[pass] + step[pass] - 1) / step[pass] : 0;
        if (n < lines)
            return begin[pass] + n * step[pass];
        n -= lines;
    }
    return n;
}

/* Puts a pixel of the frame where it belongs; false: it has a colour that is none. */
static bool put_pixel(const gif *g, const frame *f, int64_t n, int color, uint8_t *out)
{
    int64_t x = n % f->width + f->left, y = line_of(f, (int)(n / f->width)) + f->top;
    if (color == f->transparent)
        return true;
    if (color >= f->color_count)
        return false;
    if (x < g->width && y < g->height)
        memcpy(out + (y * g->width + x) * 3, f->colors + 3 * color, 3);
    return true;
}

static tw_status draw(const gif *g, const frame *f, codes *c, uint8_t *out)
{
    int minimum = f->data[0], last = -1;
    if (minimum < 1 || minimum > 8)
        return refuse(g, "failed to slurp gif file: Image is defective, decoding aborted");
    int clear = 1 << minimum, width = minimum + 1, next = clear + 2;
    int64_t pixels = (int64_t)f->width * f->height, done = 0;
    c->at = f->data + 1;
    c->left = c->bit_count = 0;
    c->bits = 0;
    for (int i = 0; i < clear; i++)
        c->color[i] = c->first[i] = (uint8_t)i;
    while (done < pixels) {
        int code = next_code(c, width);
        if (code < 0 || code == clear + 1)
            return cut_off(g);
        if (code == clear) {
            width = minimum + 1;
            next = clear + 2;
            last = -1;
            continue;
        }
        if (code > next || (code == next && last < 0) || (code >= clear + 2 && last < 0) || (code == next && next >= CODES))
            return refuse(g, "failed to slurp gif file: Image is defective, decoding aborted");
        int count = 0, at = code;
        if (code == next) { /* the string that this code itself completes */
            c->stack[count++] = c->first[last];
            at = last;
        }
        for (; at >= clear + 2; at = c->before[at])
            c->stack[count++] = c->color[at];
        c->stack[count++] = (uint8_t)at;
        if (last >= 0 && next < CODES) {
            c->before[next] = (uint16_t)last;
            c->color[next] = (uint8_t)at;
            c->first[next] = c->first[last];
            if (++next == 1 << width && width < 12)
                width++;
        }
        last = code;
        while (count > 0 && done < pixels) {
            if (!put_pixel(g, f, done++, c->stack[--count], out))
                return refuse(g, "found a color index outside of the color map");
        }
    }
    return TW_OK;
}

static tw_status draw_all(gif *g, tw__image_target target)
{
    int64_t size = (int64_t)g->width * g->height * 3;
    if (size == 0 || (int64_t)g->count > TW_IMAGE_LIMIT / size)
        return refuse(g, "the frames are empty or too large");
    uint8_t *out = target.place(target.context, (int64_t)g->count, g->height, g->width, 3);
    tw__owned codes *c = out ? tw__alloc(sizeof *c) : NULL;
    TW_NEED(c);
    for (size_t i = 0; i < g->count; i++, out += size) {
        if (i)
            memcpy(out, out - size, (size_t)size);
        else
            memset(out, 0, (size_t)size);
        TW_TRY(draw(g, &g->frames[i], c, out));
    }
    return TW_OK;
}

tw_status tw__gif_decode(const char *op, tw_string data, tw__image_target target)
{
    gif g = { .op = op, .size = data.size, .at = (const uint8_t *)data.data + 13, .end = (const uint8_t *)data.data + data.size };
    if (data.size < 13 || !take_colors(&g, data.data[10], &g.colors, &g.color_count))
        return refuse(&g, "failed to open gif file: No screen descriptor detected");
    tw_status status = take_blocks(&g);
    if (status == TW_OK)
        status = draw_all(&g, target);
    tw__free(g.frames);
    return status;
}
