/* Drawings as pixels: black lines and letters of a small font on white. */
#include <math.h>

#include "keras/draw/draw.h"
#include "tensor/tensor.h"

/* The letters from ' ' to '~': seven rows of five pixels, each row a digit from 0 to V (31), the left pixel first. */
static const char font[] = "0000000"
                           "4444404"
                           "AAA0000"
                           "AAVAVAA"
                           "4FKE5U4"
                           "OP248J3"
                           "CIK8LID"
                           "4480000"
                           "2488842"
                           "8422248"
                           "04LEL40"
                           "044V440"
                           "0000C48"
                           "000V000"
                           "00000CC"
                           "01248G0"
                           "EHJLPHE"
                           "4C4444E"
                           "EH1248V"
                           "V2421HE"
                           "26AIV22"
                           "VGU11HE"
                           "68GUHHE"
                           "V124888"
                           "EHHEHHE"
                           "EHHF12C"
                           "0CC0CC0"
                           "0CC0C48"
                           "248G842"
                           "00V0V00"
                           "8421248"
                           "EH12404"
                           "EH1DLLE"
                           "EHHVHHH"
                           "UHHUHHU"
                           "EHGGGHE"
                           "SIHHHIS"
                           "VGGUGGV"
                           "VGGUGGG"
                           "EHGNHHF"
                           "HHHVHHH"
                           "E44444E"
                           "72222IC"
                           "HIKOKIH"
                           "GGGGGGV"
                           "HRLLHHH"
                           "HHPLJHH"
                           "EHHHHHE"
                           "UHHUGGG"
                           "EHHHLID"
                           "UHHUKIH"
                           "FGGE11U"
                           "V444444"
                           "HHHHHHE"
                           "HHHHHA4"
                           "HHHLLLA"
                           "HHA4AHH"
                           "HHHA444"
                           "V1248GV"
                           "E88888E"
                           "0G84210"
                           "E22222E"
                           "4AH0000"
                           "000000V"
                           "8420000"
                           "00E1FHF"
                           "GGMPHHU"
                           "00EGGHE"
                           "11DJHHF"
                           "00EHVGE"
                           "698S888"
                           "0FHHF1E"
                           "GGMPHHH"
                           "40C444E"
                           "20622IC"
                           "GGIKOKI"
                           "C44444E"
                           "00QLLHH"
                           "00MPHHH"
                           "00EHHHE"
                           "00UHUGG"
                           "00DJF11"
                           "00MPGGG"
                           "00EGE1U"
                           "88S8896"
                           "00HHHJD"
                           "00HHHA4"
                           "00HHLLA"
                           "00HA4AH"
                           "00HHF1E"
                           "00V248V"
                           "2448442"
                           "4444444"
                           "8442448"
                           "008L200";

typedef struct canvas {
    uint8_t *pixels;
    int64_t width, height;
    int scale; /* pixels of a unit */
} canvas;

static void dot(const canvas *c, int64_t x, int64_t y)
{
    if (x >= 0 && y >= 0 && x < c->width && y < c->height)
        c->pixels[y * c->width + x] = 0;
}

static void letter(const canvas *c, double x, double y, unsigned char which)
{
    const char *rows = font + 7 * ((which < ' ' || which > '~' ? '?' : which) - ' ');
    for (int row = 0; row < 7; row++) {
        int bits = rows[row] <= '9' ? rows[row] - '0' : rows[row] - 'A' + 10;
        for (int k = 0; k < 5 * c->scale * c->scale; k++) {
            int column = k / (c->scale * c->scale), inside = k % (c->scale * c->scale);
            if (bits & 16 >> column)
                dot(c, (int64_t)((x + column) * c->scale) + inside % c->scale,
                    (int64_t)((y + row) * c->scale) + inside / c->scale);
        }
    }
}

static void line(void *context, double x, double y, double to_x, double to_y, bool head)
{
    const canvas *c = context;
    double far = fmax(fabs(to_x - x), fabs(to_y - y)) * c->scale, length = hypot(to_x - x, to_y - y);
    for (double k = 0; k <= far; k++) {
        double share = far > 0 ? k / far : 0;
        dot(c, (int64_t)((x + (to_x - x) * share) * c->scale), (int64_t)((y + (to_y - y) * share) * c->scale));
    }
    if (!head || length <= 0)
        return;
    double along = (to_x - x) / length, aside = (to_y - y) / length; /* the direction; (-aside, along) lies across it */
    for (double back = 0; back <= 6 * c->scale; back++) {
        for (double off = -back / 3; off <= back / 3; off += 0.5)
            dot(c, (int64_t)(to_x * c->scale - back * along - off * aside),
                (int64_t)(to_y * c->scale - back * aside + off * along));
    }
}

static void draw_cell(canvas *c, const tw__cell *cell)
{
    if (!cell->text)
        return;
    double right = cell->x + cell->width, bottom = cell->y + cell->height;
    line(c, cell->x, cell->y, right, cell->y, false);
    line(c, cell->x, bottom, right, bottom, false);
    line(c, cell->x, cell->y, cell->x, bottom, false);
    line(c, right, cell->y, right, bottom, false);
    tw__text letters = { 0 };
    size_t count = tw__draw_letters(cell, &letters);
    double x = floor(cell->x + (cell->width - (double)(count * TW__LETTER)) / 2), y = floor(cell->y + (cell->height - 7) / 2);
    for (size_t i = 0; !letters.failed && i < letters.size; i++) {
        if ((letters.data[i] & 0xc0) == 0x80)
            continue;
        letter(c, x, y, (unsigned char)letters.data[i]);
        x += TW__LETTER;
    }
    tw__text_free(&letters);
}

tw_tensor *tw__draw_pixels(const tw__drawing *d, int scale)
{
    const double most = 1 << 15;
    if (d->width * scale > most || d->height * scale > most) {
        tw__fail(TW_RESOURCE_EXHAUSTED, "plot_model: a picture of %.0f x %.0f pixels is too large; SVG has no limit",
                 d->width * scale, d->height * scale);
        return NULL;
    }
    tw_shape shape = TW_SHAPE((int64_t)(d->height * scale) + 1, (int64_t)(d->width * scale) + 1, 1);
    tw_tensor *made = tw__tensor_empty(TW_UINT8, &shape);
    if (!made)
        return NULL;
    memset(made->data, 255, (size_t)made->count);
    canvas c = { made->data, shape.dims[1], shape.dims[0], scale };
    for (size_t i = 0; i < d->cell_count; i++)
        draw_cell(&c, &d->cells[i]);
    tw__draw_lines(d, line, &c);
    return made;
}
