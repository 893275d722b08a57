/* The picture as SVG. Names come from files: they are text there, and nothing that runs. */
#include <string.h>

#include "draw.h"

enum { LONGEST = 46 };

/* Text for a browser, cut after so many letters (0: not at all). */
static void put_text(FILE *out, const char *text, int most)
{
    int count = 0;
    for (const unsigned char *c = (const unsigned char *)text; *c; c++) {
        if ((*c & 0xc0) != 0x80 && most && count++ == most - 1) {
            fputs("…", out);
            return;
        }
        if (*c == '<')
            fputs("&lt;", out);
        else if (*c == '>')
            fputs("&gt;", out);
        else if (*c == '&')
            fputs("&amp;", out);
        else if (*c == '"')
            fputs("&quot;", out);
        else
            fputc(*c < 32 || *c == 127 ? '?' : *c, out);
    }
}

static void put_box(FILE *out, const box *b)
{
    static const char *const classes[] = { "op", "scope", "input", "output" };
    double round = b->kind == BOX_INPUT || b->kind == BOX_OUTPUT ? b->height / 2 : 6;
    fprintf(out, "<g class=\"%s\"><title>", classes[b->kind]);
    put_text(out, b->label, 0);
    if (*b->detail) {
        fputs(": ", out);
        put_text(out, b->detail, 0);
    }
    if (b->ops > 1)
        fprintf(out, " (%d nodes)", b->ops);
    fprintf(out, "</title><rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" rx=\"%.1f\"/>", b->x - b->width / 2,
            b->y - b->height / 2, b->width, b->height, round);
    fprintf(out, "<text x=\"%.1f\" y=\"%.1f\">", b->x, b->y + (*b->detail ? -4 : 5));
    put_text(out, b->label, LONGEST);
    fputs("</text>", out);
    if (*b->detail) {
        fprintf(out, "<text class=\"detail\" x=\"%.1f\" y=\"%.1f\">", b->x, b->y + 14);
        put_text(out, b->detail, LONGEST);
        fputs("</text>", out);
    }
    fputs("</g>\n", out);
}

static void put_arrow(FILE *out, const drawing *d, const arrow *a)
{
    const box *from = &d->boxes[a->path[0]], *next = &d->boxes[a->path[1]];
    int sign = next->row >= from->row ? 1 : -1;
    double x = from->x, y = from->y + sign * from->height / 2;
    fprintf(out, "<path class=\"%s\" d=\"M%.1f %.1f", a->up ? "loop" : "arrow", x, y);
    for (int i = 1; i < a->path_count; i++) {
        const box *to = &d->boxes[a->path[i]];
        double end = to->y - (i + 1 == a->path_count ? sign * (to->height / 2 + 2) : 0), middle = (y + end) / 2;
        fprintf(out, "C%.1f %.1f %.1f %.1f %.1f %.1f", x, middle, to->x, middle, to->x, end);
        x = to->x;
        y = end;
    }
    fputs("\"/>\n", out);
    if (!*a->label)
        return;
    double start = from->y + sign * from->height / 2, end = next->y - sign * next->height / 2;
    fprintf(out, "<text class=\"shape\" x=\"%.1f\" y=\"%.1f\">", (from->x + next->x) / 2 + 4, (start + end) / 2 + 4);
    put_text(out, a->label, LONGEST);
    fputs("</text>\n", out);
}

void draw_svg(const drawing *d, FILE *out)
{
    fprintf(
        out,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%.0f\" height=\"%.0f\" viewBox=\"0 0 %.0f %.0f\" role=\"img\">\n<title>",
        d->width, d->height, d->width, d->height);
    put_text(out, d->title, 0);
    fputs(
        "</title>\n<style>\n"
        "text { font: 12px sans-serif; text-anchor: middle; fill: #1a1a1a; }\n"
        ".detail { font-size: 10px; fill: #555; }\n"
        ".shape { font-size: 10px; fill: #666; text-anchor: start; paint-order: stroke; stroke: #fff; stroke-width: 3px; }\n"
        "rect { stroke: #777; fill: #f4f4f4; }\n"
        ".scope rect { fill: #dce9f8; stroke: #4a78b0; }\n"
        ".input rect { fill: #e2f3df; stroke: #4d8f45; }\n"
        ".output rect { fill: #fdecd2; stroke: #b5802a; }\n"
        "path { fill: none; stroke: #888; stroke-width: 1.2; marker-end: url(#head); }\n"
        ".loop { stroke-dasharray: 4 3; }\n"
        "</style>\n"
        "<defs><marker id=\"head\" viewBox=\"0 0 8 8\" refX=\"7\" refY=\"4\" markerWidth=\"7\" markerHeight=\"7\" orient=\"auto\">"
        "<path d=\"M0 0L8 4L0 8z\" style=\"fill: #888; stroke: none; marker-end: none\"/></marker></defs>\n"
        "<rect width=\"100%\" height=\"100%\" style=\"fill: #fff; stroke: none\"/>\n",
        out);
    for (int i = 0; i < d->arrow_count; i++)
        put_arrow(out, d, &d->arrows[i]);
    for (int i = 0; i < d->count; i++) {
        if (d->boxes[i].kind != BOX_BEND)
            put_box(out, &d->boxes[i]);
    }
    fputs("</svg>\n", out);
}
