/* A graph as a picture, for `thalweg graph --svg` and `thalweg model show --svg`.
 *
 *     read.c    from the JSON of a graph to boxes and arrows: the nodes of a name scope are one box
 *     layout.c  rows of boxes, in which arrows go down and cross seldom
 *     svg.c     the picture */
#ifndef DRAW_H
#define DRAW_H

#include <stdio.h>

#include <thalweg.h>

typedef enum box_kind { BOX_OP, BOX_SCOPE, BOX_INPUT, BOX_OUTPUT, BOX_BEND } box_kind; /* BEND: an arrow passes a row there */

typedef struct box {
    char *label, *detail;
    box_kind kind;
    int ops; /* nodes in it */
    int row;
    double x, y, width, height; /* the middle */
    double wish;                /* where it would rather be */
} box;

typedef struct arrow {
    int from, to;
    char *label;
    bool up;   /* against the order of rows: it closes a loop */
    int *path; /* the boxes it passes, with both ends */
    int path_count;
} arrow;

typedef struct drawing {
    char *title;
    box *boxes;
    int count, room;
    arrow *arrows;
    int arrow_count, arrow_room;
    double width, height;
} drawing;

enum { BOXES_LIMIT = 3000 };
/* A box, or an arrow, more: its number; -1: no memory. Takes nothing: texts are copied. */
int draw_add_box(drawing *d, box_kind kind, const char *label, const char *detail);
int draw_add_arrow(drawing *d, int from, int to, const char *label);
void draw_free(drawing *d);

/* The graph, or the function of that name (NULL: the graph itself), of the facts that tw_graph_file_text gives. Name scopes
 * deeper than `depth` are one box each; 0: every node is one. False: `wrong` says why. */
bool draw_read(drawing *d, const tw_value *facts, const char *function, int64_t depth, char wrong[256]);
/* The function that a signature of a SavedModel computes, behind functions that only call it; NULL: none. */
const char *draw_signature(const tw_value *facts, const char *tensor);
bool draw_layout(drawing *d); /* false: no memory */
void draw_svg(const drawing *d, FILE *out);

#endif
