/* Places for the boxes of a graph: every box in a rank behind those that lead to it, long arrows bent so that they pass between
 * boxes, the boxes of a rank near those that they are joined to. */
#include "keras/draw/draw.h"

enum { GAP = 18, RANK_GAP = 24, MOST = 1 << 16 };

static double breadth(const tw__drawing *d, const tw__box *box)
{
    return d->across ? box->height : box->width;
}

static void find_ranks(tw__drawing *d)
{
    bool changed = true;
    for (size_t round = 0; changed && round < d->box_count; round++) { /* a circle would go on for ever */
        changed = false;
        for (size_t i = 0; i < d->arrow_count; i++) {
            tw__box *from = &d->boxes[d->arrows[i].from], *to = &d->boxes[d->arrows[i].to];
            if (from != to && to->rank <= from->rank && from->rank < (int)d->box_count) {
                to->rank = from->rank + 1;
                changed = true;
            }
        }
    }
}

/* Arrows over several ranks get a bend in each. */
static tw_status bend(tw__drawing *d)
{
    size_t count = d->arrow_count;
    for (size_t i = 0; i < count; i++) {
        tw__arrow arrow = d->arrows[i];
        int from = arrow.from;
        for (int rank = d->boxes[arrow.from].rank + 1; rank < d->boxes[arrow.to].rank; rank++) {
            if (d->box_count >= MOST)
                return tw__fail(TW_RESOURCE_EXHAUSTED, "plot_model: the graph is too large to draw");
            TW_TRY(TW_GROW(d->boxes, d->box_room, d->box_count + 1));
            TW_TRY(TW_GROW(d->arrows, d->arrow_room, d->arrow_count + 1));
            d->boxes[d->box_count] = (tw__box){ .root = -1, .rank = rank };
            d->arrows[d->arrow_count++] = (tw__arrow){ from, (int)d->box_count, false };
            from = (int)d->box_count++;
        }
        d->arrows[i].from = from;
    }
    return TW_OK;
}

/* Where a box would like to be: in the middle of those that lead to it. */
static double wish(const tw__drawing *d, int index, double otherwise)
{
    double sum = 0;
    int count = 0;
    for (size_t i = 0; i < d->arrow_count; i++) {
        if (d->arrows[i].to != index || d->boxes[d->arrows[i].from].rank >= d->boxes[index].rank)
            continue;
        const tw__box *from = &d->boxes[d->arrows[i].from];
        sum += (d->across ? from->y : from->x) + breadth(d, from) / 2;
        count++;
    }
    return count ? sum / count : otherwise;
}

/* The boxes of a rank, by their wishes, without overlaps; their middle stays near the middle of the wishes. */
static void place_rank(tw__drawing *d, const int *members, double *wishes, int *order, size_t count, double depth)
{
    for (size_t i = 0; i < count; i++) {
        size_t k = i;
        wishes[members[i]] = wish(d, members[i], 0);
        for (; k && wishes[order[k - 1]] > wishes[members[i]]; k--)
            order[k] = order[k - 1];
        order[k] = members[i];
    }
    double edge = 0, off = 0;
    for (size_t i = 0; i < count; i++) {
        tw__box *box = &d->boxes[order[i]];
        double size = breadth(d, box), begin = wishes[order[i]] - size / 2;
        begin = i && begin < edge + GAP ? edge + GAP : begin;
        edge = begin + size;
        off += (begin + size / 2 - wishes[order[i]]) / (double)count;
        *(d->across ? &box->y : &box->x) = begin;
        *(d->across ? &box->x : &box->y) = depth;
    }
    for (size_t i = 0; i < count; i++)
        *(d->across ? &d->boxes[order[i]].y : &d->boxes[order[i]].x) -= off;
}

/* Moves everything to where coordinates are positive, and tells the size. */
static void frame(tw__drawing *d)
{
    double left = 0, top = 0;
    for (size_t i = 0; i < d->box_count; i++) {
        left = d->boxes[i].x < left ? d->boxes[i].x : left;
        top = d->boxes[i].y < top ? d->boxes[i].y : top;
    }
    for (size_t i = 0; i < d->box_count; i++) {
        tw__box *box = &d->boxes[i];
        box->x += TW__MARGIN - left;
        box->y += TW__MARGIN - top;
        double right = box->x + box->width + TW__MARGIN, bottom = box->y + box->height + TW__MARGIN;
        d->width = right > d->width ? right : d->width;
        d->height = bottom > d->height ? bottom : d->height;
        if (box->root >= 0)
            tw__draw_settle(d, box);
    }
}

tw_status tw__draw_layout(tw__drawing *d)
{
    find_ranks(d);
    TW_TRY(bend(d));
    tw__owned int *members = tw__alloc_array(d->box_count + 1, sizeof *members),
                  *order = tw__alloc_array(d->box_count + 1, sizeof *order);
    tw__owned double *wishes = tw__alloc_array(d->box_count + 1, sizeof *wishes);
    TW_NEED(members && order && wishes);
    double depth = 0;
    size_t placed = 0;
    for (int rank = 0; placed < d->box_count; rank++) {
        size_t count = 0;
        double deepest = 0;
        for (size_t i = 0; i < d->box_count; i++) {
            if (d->boxes[i].rank != rank)
                continue;
            double own = d->across ? d->boxes[i].width : d->boxes[i].height;
            members[count++] = (int)i;
            deepest = own > deepest ? own : deepest;
        }
        for (size_t i = 0; i < count; i++) { /* an arrow passes a rank straight */
            if (d->boxes[members[i]].root < 0)
                *(d->across ? &d->boxes[members[i]].width : &d->boxes[members[i]].height) = deepest;
        }
        place_rank(d, members, wishes, order, count, depth);
        depth += count ? deepest + RANK_GAP : 0;
        placed += count;
    }
    frame(d);
    return TW_OK;
}

void tw__draw_lines(const tw__drawing *d, tw__draw_line line, void *context)
{
    for (size_t i = 0; i < d->box_count; i++) {
        const tw__box *box = &d->boxes[i];
        bool down = !d->across;
        if (box->root < 0) /* from where an arrow comes in to where it goes on */
            line(context, box->x, box->y, box->x + (down ? 0 : box->width), box->y + (down ? box->height : 0), false);
    }
    for (size_t i = 0; i < d->arrow_count; i++) {
        const tw__box *from = &d->boxes[d->arrows[i].from], *to = &d->boxes[d->arrows[i].to];
        if (d->across)
            line(context, from->x + from->width, from->y + from->height / 2, to->x, to->y + to->height / 2, d->arrows[i].head);
        else
            line(context, from->x + from->width / 2, from->y + from->height, to->x + to->width / 2, to->y, d->arrows[i].head);
    }
}

void tw__draw_end(tw__drawing *d)
{
    tw__free(d->cells);
    tw__free(d->boxes);
    tw__free(d->arrows);
    *d = (tw__drawing){ 0 };
}
