/* Labels of records, as dot has them: parts between bars, braces turn the direction. */
#include "keras/draw/draw.h"

static int new_cell(tw__drawing *d, tw__cell cell)
{
    if (TW_GROW(d->cells, d->cell_room, d->cell_count + 1) != TW_OK)
        return -1;
    d->cells[d->cell_count] = cell;
    return (int)d->cell_count++;
}

/* The parts up to a closing brace or the end; -1 after a failure. */
static int parse(tw__drawing *d, const char **at, bool down, int depth)
{
    int whole = new_cell(d, (tw__cell){ .first = -1, .next = -1, .down = down }), last = -1;
    while (whole >= 0) {
        int part;
        if (**at == '{' && depth < 64) {
            ++*at;
            part = parse(d, at, !down, depth + 1);
            *at += **at == '}';
        } else {
            const char *begin = *at;
            while (**at && **at != '|' && **at != '}' && !(**at == '{' && depth < 64))
                *at += **at == '\\' && (*at)[1] ? 2 : 1;
            part = new_cell(d, (tw__cell){ .text = begin, .size = (size_t)(*at - begin), .first = -1, .next = -1 });
        }
        if (part < 0)
            return -1;
        if (last < 0)
            d->cells[whole].first = part;
        else
            d->cells[last].next = part;
        last = part;
        while (**at && **at != '|' && **at != '}') /* nothing belongs behind a brace */
            ++*at;
        if (**at != '|')
            break;
        ++*at;
    }
    return whole;
}

size_t tw__draw_letters(const tw__cell *cell, tw__text *letters)
{
    size_t count = 0;
    for (size_t i = 0; i < cell->size; i++) {
        i += cell->text[i] == '\\' && i + 1 < cell->size;
        count += (cell->text[i] & 0xc0) != 0x80;
        if (letters)
            tw__text_format(letters, "%c", cell->text[i]);
    }
    return count;
}

static void measure(tw__drawing *d, int index)
{
    tw__cell *cell = &d->cells[index];
    if (cell->text) {
        cell->width = (double)(tw__draw_letters(cell, NULL) * TW__LETTER + 2 * TW__MARGIN);
        cell->height = TW__LINE;
        return;
    }
    for (int i = cell->first; i >= 0; i = d->cells[i].next) {
        measure(d, i);
        double width = d->cells[i].width, height = d->cells[i].height;
        cell->width = !cell->down ? cell->width + width : width > cell->width ? width : cell->width;
        cell->height = cell->down ? cell->height + height : height > cell->height ? height : cell->height;
    }
}

/* Gives a cell its place; what is left over is shared by its parts. */
static void settle(tw__drawing *d, int index, double x, double y, double width, double height)
{
    tw__cell *cell = &d->cells[index];
    double spare = cell->down ? height - cell->height : width - cell->width;
    int count = 0;
    for (int i = cell->first; i >= 0; i = d->cells[i].next)
        count++;
    cell->x = x;
    cell->y = y;
    cell->width = width;
    cell->height = height;
    for (int i = cell->first; i >= 0; i = d->cells[i].next) {
        double own = (cell->down ? d->cells[i].height : d->cells[i].width) + spare / count;
        settle(d, i, x, y, cell->down ? width : own, cell->down ? own : height);
        x += cell->down ? 0 : own;
        y += cell->down ? own : 0;
    }
}

void tw__draw_settle(tw__drawing *d, tw__box *box)
{
    settle(d, box->root, box->x, box->y, box->width, box->height);
}

tw_status tw__draw_record(tw__drawing *d, const char *label)
{
    const char *at = label;
    int root = parse(d, &at, d->across, 0);
    TW_NEED(root >= 0);
    TW_TRY(TW_GROW(d->boxes, d->box_room, d->box_count + 1));
    measure(d, root);
    d->boxes[d->box_count++] = (tw__box){ .root = root, .width = d->cells[root].width, .height = d->cells[root].height };
    return TW_OK;
}
