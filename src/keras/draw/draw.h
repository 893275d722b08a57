/* Pictures of graphs: boxes in ranks, joined by arrows, as SVG and PNG. Lengths are in units of a small font: a letter is 6 wide.
 */
#ifndef TW_DRAW_H
#define TW_DRAW_H

#include "base/base.h"

enum { TW__LETTER = 6, TW__LINE = 15, TW__MARGIN = 5 };

/* A part of a record: a text in a box, or a row or column of parts. */
typedef struct tw__cell {
    const char *text; /* where the text begins in the label; NULL: it has parts */
    size_t size;      /* of the text in the label, with its escapes */
    int first, next;  /* of its parts, and of the row it is in; -1: none */
    bool down;        /* its parts lie below each other */
    double x, y, width, height;
} tw__cell;

/* A box of a graph, or a bend of an arrow, which has no cells. */
typedef struct tw__box {
    int root; /* the cell; -1: a bend */
    int rank, place;
    double x, y, width, height; /* of the left upper corner, and sizes */
} tw__box;

typedef struct tw__arrow {
    int from, to;
    bool head; /* it ends there; else it goes on from a bend */
} tw__arrow;

typedef struct tw__drawing {
    tw__cell *cells;
    size_t cell_count, cell_room;
    tw__box *boxes;
    size_t box_count, box_room;
    tw__arrow *arrows;
    size_t arrow_count, arrow_room;
    bool across; /* ranks lie beside each other instead of below */
    double width, height;
} tw__drawing;

/* The cells of a record's label, "name|{input:|output:}" (record.c); the label must outlive the drawing. A box of its size is
 * added. */
tw_status tw__draw_record(tw__drawing *drawing, const char *label);
void tw__draw_settle(tw__drawing *drawing, tw__box *box);                 /* the cells' places in the box */
size_t tw__draw_letters(const tw__cell *cell, tw__text *letters);         /* its text without escapes; how many letters it has */
tw_status tw__draw_layout(tw__drawing *drawing);                          /* places of boxes (layout.c) */
char *tw__draw_svg(const tw__drawing *drawing, double scale);             /* for tw__free (paint.c) */
struct tw_tensor *tw__draw_pixels(const tw__drawing *drawing, int scale); /* gray, [height, width, 1] (pixels.c) */
void tw__draw_end(tw__drawing *drawing);
/* Calls for every line of the drawing: edges of cells, arrows. */
typedef void (*tw__draw_line)(void *context, double x, double y, double to_x, double to_y, bool head);
void tw__draw_lines(const tw__drawing *drawing, tw__draw_line line, void *context);

#endif
