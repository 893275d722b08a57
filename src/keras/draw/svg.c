/* Drawings as SVG, and the function that draws. */
#include <math.h>

#include "keras/draw/draw.h"
#include "op/calls.h"
#include "rows.h"

static void line(void *context, double x, double y, double to_x, double to_y, bool head)
{
    tw__text_format(context, "<path d=\"M%g,%gL%g,%g\"%s/>\n", x, y, to_x, to_y, head ? " marker-end=\"url(#head)\"" : "");
}

static void escaped(tw__text *text, const char *letters, size_t size)
{
    for (size_t i = 0; i < size; i++) {
        const char *code = letters[i] == '<' ? "&lt;" : letters[i] == '>' ? "&gt;" : letters[i] == '&' ? "&amp;" : NULL;
        if (code)
            tw__text_add(text, code);
        else
            tw__text_format(text, "%c", letters[i]);
    }
}

char *tw__draw_svg(const tw__drawing *d, double scale)
{
    tw__text text = { 0 };
    tw__text_format(
        &text,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%g\" height=\"%g\" viewBox=\"0 0 %g %g\">\n"
        "<defs><marker id=\"head\" viewBox=\"0 0 6 4\" refX=\"6\" refY=\"2\" markerWidth=\"6\" markerHeight=\"4\" orient=\"auto\">"
        "<path d=\"M0,0L6,2L0,4z\" fill=\"black\" stroke=\"none\"/></marker></defs>\n"
        "<rect width=\"100%%\" height=\"100%%\" fill=\"white\"/>\n<g fill=\"none\" stroke=\"black\" stroke-width=\"0.5\">\n",
        d->width * scale, d->height * scale, d->width, d->height);
    for (size_t i = 0; i < d->cell_count; i++) {
        const tw__cell *cell = &d->cells[i];
        if (cell->text)
            tw__text_format(&text, "<rect x=\"%g\" y=\"%g\" width=\"%g\" height=\"%g\"/>\n", cell->x, cell->y, cell->width,
                            cell->height);
    }
    tw__draw_lines(d, line, &text);
    tw__text_add(&text, "</g>\n<g font-family=\"monospace\" font-size=\"10\" text-anchor=\"middle\">\n");
    for (size_t i = 0; i < d->cell_count; i++) {
        const tw__cell *cell = &d->cells[i];
        tw__text letters = { 0 };
        if (!cell->text || !tw__draw_letters(cell, &letters))
            continue;
        tw__text_format(&text, "<text x=\"%g\" y=\"%g\">", cell->x + cell->width / 2, cell->y + cell->height / 2 + 3.5);
        escaped(&text, letters.data, letters.size);
        tw__text_add(&text, "</text>\n");
        tw__text_free(&letters);
    }
    tw__text_add(&text, "</g>\n</svg>\n");
    if (!text.failed)
        return text.data;
    tw__text_free(&text);
    return NULL;
}

static bool is_list(const tw_value *value, int64_t count)
{
    return (value->kind == TW_VALUE_LIST || value->kind == TW_VALUE_TUPLE) && (count < 0 || value->list.count == count);
}

static tw_status read_graph(tw__drawing *d, const tw_value *labels, const tw_value *edges)
{
    bool good = is_list(labels, -1) && is_list(edges, -1) && labels->list.count < 1 << 16;
    for (int64_t i = 0; good && i < labels->list.count; i++) {
        good = labels->list.items[i].kind == TW_VALUE_STR;
        if (good)
            TW_TRY(tw__draw_record(d, labels->list.items[i].s.data));
    }
    for (int64_t i = 0; good && i < edges->list.count; i++) {
        double ends[2] = { -1, -1 };
        const tw_value *pair = &edges->list.items[i];
        good = is_list(pair, 2);
        for (int k = 0; good && k < 2; k++)
            good = tw__value_plain_number(&pair->list.items[k], &ends[k]) && ends[k] >= 0 && ends[k] < (double)d->box_count;
        if (!good)
            break;
        TW_TRY(TW_GROW(d->arrows, d->arrow_room, d->arrow_count + 1));
        d->arrows[d->arrow_count++] = (tw__arrow){ (int)ends[0], (int)ends[1], true };
    }
    return good ? TW_OK : tw__fail(TW_VALUE_ERROR, "draw_graph: labels must be texts, edges pairs of their numbers");
}

TW_API(
    draw_graph,
    "keras.utils._draw_graph(labels: value, edges: value, kind: str {svg, png} = svg, across: bool = False, dpi: float = 96) -> tensor",
    "The picture of a graph, as the bytes of an SVG or PNG file. labels: a list of the boxes' texts, as dot has them for records: parts between "
    "bars, braces turn the direction. edges: a list of pairs of the boxes' numbers. across: from left to right instead of downwards. dpi: "
    "dots for an inch.")
{
    TW_TEMPS(t);
    tw__auto(tw__draw_end) tw__drawing d = { .across = args->across };
    double scale = args->dpi / 48;
    if (!(scale > 0 && scale < 100)) {
        tw__fail(TW_VALUE_ERROR, "draw_graph: dpi is %g, expected a number between 0 and 4800", args->dpi);
        return NULL;
    }
    if (read_graph(&d, &args->labels, &args->edges) != TW_OK || tw__draw_layout(&d) != TW_OK)
        return NULL;
    if (strcmp(args->kind, "svg") == 0) {
        tw__owned char *text = tw__draw_svg(&d, scale);
        return text ? tw_tensor_string(text, strlen(text)) : NULL;
    }
    tw_tensor *pixels = tw__temp(t, tw__draw_pixels(&d, scale < 1.5 ? 1 : (int)(scale + 0.5)));
    return pixels ? tw__keep(t, TW_TEMP(EncodePng, pixels)) : NULL;
}
