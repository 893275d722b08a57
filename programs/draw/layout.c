/* Where boxes go: rows, in which arrows go down. A box is a row below the lowest that it depends on; an arrow that passes rows
 * bends there as if it had a box. Boxes of a row are put in the order of what they are connected with, some times down and up,
 * then moved there as far as their neighbours let them. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "draw.h"

static const double LETTER = 7.2, LINE = 18, GAP = 26, ROW_GAP = 46, MARGIN = 24;
enum { SWEEPS = 8, MOVES = 24, LONGEST_LABEL = 46, BENDS_LIMIT = 20000 };

static size_t letters(const char *text)
{
    size_t count = 0;
    for (; *text; text++)
        count += (*text & 0xc0) != 0x80;
    return count < LONGEST_LABEL ? count : LONGEST_LABEL;
}

static void measure(box *b)
{
    size_t wide = letters(b->label), detail = letters(b->detail);
    if (b->kind == BOX_BEND) {
        b->width = 6;
        b->height = 0;
        return;
    }
    double text = LETTER * (double)wide, small = 0.85 * LETTER * (double)detail;
    b->width = (text > small ? text : small) + 24;
    b->height = (*b->detail ? 2 : 1) * LINE + 14;
}

/* ---- rows ---- */

/* Marks arrows that lead back to a box that is being visited; the visit keeps its own stack. */
static bool mark_loops(drawing *d, const int *first, const int *order)
{
    int *stack = calloc((size_t)d->count + 1, sizeof *stack), *next = calloc((size_t)d->count + 1, sizeof *next);
    char *state = calloc((size_t)d->count + 1, 1); /* 1: on the stack, 2: done */
    for (int start = 0; stack && next && state && start < d->count; start++) {
        int depth = 0;
        if (state[start])
            continue;
        stack[depth++] = start;
        state[start] = 1;
        next[start] = first[start];
        while (depth) {
            int at = stack[depth - 1];
            if (next[at] == first[at + 1]) {
                state[at] = 2;
                depth--;
                continue;
            }
            arrow *a = &d->arrows[order[next[at]++]];
            a->up = state[a->to] == 1;
            if (!state[a->to]) {
                state[a->to] = 1;
                next[a->to] = first[a->to];
                stack[depth++] = a->to;
            }
        }
    }
    bool good = stack && next && state;
    free(stack);
    free(next);
    free(state);
    return good;
}

/* Arrows by the box that they begin at: those of box i are order[first[i] … first[i + 1]). */
static bool sort_arrows(const drawing *d, int **first, int **order)
{
    *first = calloc((size_t)d->count + 2, sizeof **first);
    *order = calloc((size_t)d->arrow_count + 1, sizeof **order);
    if (!*first || !*order)
        return false;
    for (int i = 0; i < d->arrow_count; i++)
        (*first)[d->arrows[i].from + 2]++;
    for (int i = 2; i <= d->count + 1; i++)
        (*first)[i] += (*first)[i - 1];
    for (int i = 0; i < d->arrow_count; i++)
        (*order)[(*first)[d->arrows[i].from + 1]++] = i;
    return true;
}

/* The lowest rows that the arrows allow; then inputs go down to just above the first that needs them. */
static bool find_rows(drawing *d)
{
    int *first = NULL, *order = NULL, *waits = calloc((size_t)d->count + 1, sizeof *waits);
    int *queue = calloc((size_t)d->count + 1, sizeof *queue), have = 0;
    bool good = waits && queue && sort_arrows(d, &first, &order) && mark_loops(d, first, order);
    for (int i = 0; good && i < d->arrow_count; i++)
        waits[d->arrows[i].to] += !d->arrows[i].up;
    for (int i = 0; good && i < d->count; i++) {
        if (!waits[i])
            queue[have++] = i;
    }
    for (int at = 0; good && at < have; at++) {
        for (int k = first[queue[at]]; k < first[queue[at] + 1]; k++) {
            const arrow *a = &d->arrows[order[k]];
            box *to = &d->boxes[a->to];
            if (a->up)
                continue;
            if (to->row < d->boxes[a->from].row + 1)
                to->row = d->boxes[a->from].row + 1;
            if (--waits[a->to] == 0)
                queue[have++] = a->to;
        }
    }
    for (int at = have - 1; good && at >= 0; at--) {
        int lowest = 1 << 30;
        for (int k = first[queue[at]]; k < first[queue[at] + 1]; k++) {
            const arrow *a = &d->arrows[order[k]];
            if (!a->up && d->boxes[a->to].row < lowest)
                lowest = d->boxes[a->to].row;
        }
        if (lowest < 1 << 30)
            d->boxes[queue[at]].row = lowest - 1;
    }
    free(first);
    free(order);
    free(waits);
    free(queue);
    return good;
}

/* Gives each arrow a box to bend at in the rows that it passes. */
static bool make_bends(drawing *d)
{
    for (int i = 0; i < d->arrow_count; i++) {
        arrow *a = &d->arrows[i];
        int from = d->boxes[a->from].row, to = d->boxes[a->to].row, step = to > from ? 1 : -1;
        int passed = abs(to - from) - 1;
        passed = passed < 0 || d->count + passed > BENDS_LIMIT ? 0 : passed; /* too many: it goes straight */
        a->path = calloc((size_t)passed + 2, sizeof *a->path);
        if (!a->path)
            return false;
        a->path[a->path_count++] = a->from;
        for (int k = 1; k <= passed; k++) {
            int bend = draw_add_box(d, BOX_BEND, "", "");
            if (bend < 0)
                return false;
            d->boxes[bend].row = from + step * k;
            a->path[a->path_count++] = bend;
        }
        a->path[a->path_count++] = a->to;
    }
    return true;
}

/* ---- the order in rows ---- */

typedef struct rows {
    int **list, *counts, count;
} rows;

static const drawing *sorted; /* whose boxes are compared */

static int by_wish(const void *a, const void *b)
{
    double x = sorted->boxes[*(const int *)a].wish, y = sorted->boxes[*(const int *)b].wish;
    return x < y ? -1 : x > y ? 1 : *(const int *)a - *(const int *)b;
}

/* The neighbours of each box in the row above, or below: those of box i are list[first[i] … first[i + 1]). */
typedef struct neighbours {
    int *first, *list;
} neighbours;

static bool find_neighbours(const drawing *d, bool above, neighbours *n)
{
    int total = 0;
    for (int i = 0; i < d->arrow_count; i++)
        total += d->arrows[i].path_count;
    n->first = calloc((size_t)d->count + 2, sizeof *n->first);
    n->list = calloc((size_t)total + 1, sizeof *n->list);
    if (!n->first || !n->list)
        return false;
    for (int pass = 0; pass < 2; pass++) { /* counts, then puts */
        for (int i = 0; i < d->arrow_count; i++) {
            const arrow *a = &d->arrows[i];
            for (int k = 0; k + 1 < a->path_count; k++) {
                int x = a->path[k], y = a->path[k + 1];
                bool swap = (d->boxes[x].row < d->boxes[y].row) == above;
                int own = swap ? y : x, other = swap ? x : y;
                if (pass)
                    n->list[n->first[own + 1]++] = other;
                else
                    n->first[own + 2]++;
            }
        }
        for (int i = 2; !pass && i <= d->count + 1; i++)
            n->first[i] += n->first[i - 1];
    }
    return true;
}

/* The wish of each box of a row: the mean place of its neighbours. */
static void find_wishes(drawing *d, const neighbours *n, const int *row, int count)
{
    for (int i = 0; i < count; i++) {
        box *b = &d->boxes[row[i]];
        int first = n->first[row[i]], last = n->first[row[i] + 1];
        double sum = 0;
        for (int k = first; k < last; k++)
            sum += d->boxes[n->list[k]].x;
        b->wish = last > first ? sum / (last - first) : b->x;
    }
}

static double gap_between(const box *a, const box *b)
{
    return (a->width + b->width) / 2 + (a->kind == BOX_BEND || b->kind == BOX_BEND ? GAP / 2 : GAP);
}

/* Side by side, in the row's order. */
static void line_up(drawing *d, const int *list, int count)
{
    for (int i = 0; i < count; i++)
        d->boxes[list[i]].x = i ? d->boxes[list[i - 1]].x + gap_between(&d->boxes[list[i - 1]], &d->boxes[list[i]]) : 0;
}

/* Each as near to its wish as the order allows: groups that push each other sit around the mean of their wishes. */
static void settle(drawing *d, const int *list, int count, double *starts, int *sizes)
{
    int groups = 0, end = 0;
    for (int i = 0; i < count; i++, groups++) {
        double offset = 0;
        starts[groups] = d->boxes[list[i]].wish;
        sizes[groups] = 1;
        while (groups > 0) {
            int before = sizes[groups - 1], first = i - sizes[groups] - before + 1;
            offset = 0;
            for (int k = 0; k < before; k++)
                offset += gap_between(&d->boxes[list[first + k]], &d->boxes[list[first + k + 1]]);
            if (starts[groups - 1] + offset <= starts[groups])
                break;
            starts[groups - 1] =
                (starts[groups - 1] * before + (starts[groups] - offset) * sizes[groups]) / (before + sizes[groups]);
            sizes[groups - 1] += sizes[groups];
            groups--;
        }
    }
    for (int g = 0; g < groups; g++) {
        for (int k = 0; k < sizes[g]; k++, end++)
            d->boxes[list[end]].x =
                k ? d->boxes[list[end - 1]].x + gap_between(&d->boxes[list[end - 1]], &d->boxes[list[end]]) : starts[g];
    }
}

static bool order_rows(drawing *d, const rows *r)
{
    double *starts = calloc((size_t)d->count + 1, sizeof *starts);
    int *sizes = calloc((size_t)d->count + 1, sizeof *sizes);
    neighbours above = { 0 }, below = { 0 };
    bool good = starts && sizes && find_neighbours(d, true, &above) && find_neighbours(d, false, &below);
    for (int i = 0; good && i < r->count; i++)
        line_up(d, r->list[i], r->counts[i]);
    for (int sweep = 0; good && sweep < SWEEPS + MOVES; sweep++) {
        bool down = sweep % 2 == 0;
        for (int i = 0; i < r->count; i++) {
            int row = down ? i : r->count - 1 - i;
            find_wishes(d, down ? &above : &below, r->list[row], r->counts[row]);
            sorted = d;
            if (sweep < SWEEPS) {
                qsort(r->list[row], (size_t)r->counts[row], sizeof(int), by_wish);
                line_up(d, r->list[row], r->counts[row]);
            } else {
                settle(d, r->list[row], r->counts[row], starts, sizes);
            }
        }
    }
    free(above.first);
    free(above.list);
    free(below.first);
    free(below.list);
    free(starts);
    free(sizes);
    return good;
}

static bool find_places(drawing *d)
{
    rows r = { .count = 0 };
    for (int i = 0; i < d->count; i++)
        r.count = d->boxes[i].row >= r.count ? d->boxes[i].row + 1 : r.count;
    r.counts = calloc((size_t)r.count + 1, sizeof *r.counts);
    r.list = calloc((size_t)r.count + 1, sizeof *r.list);
    bool good = r.counts && r.list;
    for (int i = 0; good && i < d->count; i++)
        r.counts[d->boxes[i].row]++;
    for (int i = 0; good && i < r.count; i++)
        good = (r.list[i] = calloc((size_t)r.counts[i] + 1, sizeof **r.list)) != NULL;
    for (int i = 0; good && i < r.count; i++)
        r.counts[i] = 0;
    for (int i = 0; good && i < d->count; i++)
        r.list[d->boxes[i].row][r.counts[d->boxes[i].row]++] = i;
    good = good && order_rows(d, &r);
    double y = MARGIN;
    for (int i = 0; good && i < r.count; i++) {
        double highest = 0;
        for (int k = 0; k < r.counts[i]; k++)
            highest = d->boxes[r.list[i][k]].height > highest ? d->boxes[r.list[i][k]].height : highest;
        for (int k = 0; k < r.counts[i]; k++)
            d->boxes[r.list[i][k]].y = y + highest / 2;
        y += highest + ROW_GAP;
    }
    d->height = y - ROW_GAP + MARGIN;
    for (int i = 0; r.list && i < r.count; i++)
        free(r.list[i]);
    free(r.list);
    free(r.counts);
    return good;
}

bool draw_layout(drawing *d)
{
    if (!find_rows(d) || !make_bends(d))
        return false;
    for (int i = 0; i < d->count; i++)
        measure(&d->boxes[i]);
    if (!find_places(d))
        return false;
    double left = INFINITY, right = -INFINITY;
    for (int i = 0; i < d->count; i++) {
        const box *b = &d->boxes[i];
        left = b->x - b->width / 2 < left ? b->x - b->width / 2 : left;
        right = b->x + b->width / 2 > right ? b->x + b->width / 2 : right;
    }
    for (int i = 0; i < d->arrow_count; i++) { /* shapes stand to the right of where arrows begin */
        const arrow *a = &d->arrows[i];
        double end = (d->boxes[a->path[0]].x + d->boxes[a->path[1]].x) / 2 + 0.85 * LETTER * (double)letters(a->label);
        right = end > right ? end : right;
    }
    for (int i = 0; i < d->count; i++)
        d->boxes[i].x += MARGIN - left;
    d->width = right - left + 2 * MARGIN;
    return true;
}
