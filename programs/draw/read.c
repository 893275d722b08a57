/* From the JSON of a graph to boxes and arrows. */
#include <stdlib.h>
#include <string.h>

#include "draw.h"

/* ---- boxes and arrows ---- */

static char *copy_of(const char *text)
{
    return strdup(text ? text : "");
}

int draw_add_box(drawing *d, box_kind kind, const char *label, const char *detail)
{
    if (d->count == d->room) {
        int room = d->room ? 2 * d->room : 64;
        box *more = realloc(d->boxes, (size_t)room * sizeof *more);
        if (!more)
            return -1;
        d->boxes = more;
        d->room = room;
    }
    d->boxes[d->count] = (box){ .kind = kind, .label = copy_of(label), .detail = copy_of(detail) };
    return d->count++;
}

int draw_add_arrow(drawing *d, int from, int to, const char *label)
{
    for (int i = 0; i < d->arrow_count; i++) {
        if (d->arrows[i].from == from && d->arrows[i].to == to)
            return i;
    }
    if (d->arrow_count == d->arrow_room) {
        int room = d->arrow_room ? 2 * d->arrow_room : 64;
        arrow *more = realloc(d->arrows, (size_t)room * sizeof *more);
        if (!more)
            return -1;
        d->arrows = more;
        d->arrow_room = room;
    }
    d->arrows[d->arrow_count] = (arrow){ .from = from, .to = to, .label = copy_of(label) };
    return d->arrow_count++;
}

void draw_free(drawing *d)
{
    for (int i = 0; i < d->count; i++) {
        free(d->boxes[i].label);
        free(d->boxes[i].detail);
    }
    for (int i = 0; i < d->arrow_count; i++) {
        free(d->arrows[i].label);
        free(d->arrows[i].path);
    }
    free(d->boxes);
    free(d->arrows);
    free(d->title);
}

/* ---- nodes by name ---- */

typedef struct entry {
    const char *name;
    size_t size;
    int value;
} entry;

typedef struct table {
    entry *entries;
    size_t room; /* a power of two, at least twice the number of names */
} table;

static entry *find(const table *t, const char *name, size_t size)
{
    size_t hash = 14695981039346656037u;
    for (size_t i = 0; i < size; i++)
        hash = (hash ^ (unsigned char)name[i]) * 1099511628211u;
    for (size_t at = hash & (t->room - 1);; at = (at + 1) & (t->room - 1)) {
        entry *e = &t->entries[at];
        if (!e->name || (e->size == size && memcmp(e->name, name, size) == 0))
            return e;
    }
}

typedef struct reading {
    drawing *d;
    const tw_value *nodes;
    table names, groups; /* of nodes: their place; of scopes: their box */
    int *boxes;          /* of each node; -1: it is not drawn */
    size_t prefix;       /* of all names: the scope that everything is in */
    int64_t depth;
} reading;

static const char *text_of(const tw_value *value, const char *key)
{
    const tw_value *found = tw_value_get(value, key);
    return found && found->kind == TW_VALUE_STR ? found->s.data : "";
}

static const tw_value *node_at(const reading *r, int64_t index)
{
    return &r->nodes->list.items[index];
}

static const char *attr_of(const tw_value *node, const char *name)
{
    const tw_value *attrs = tw_value_get(node, "attrs");
    for (int64_t i = 0; attrs && i < attrs->list.count; i++) {
        if (strcmp(text_of(&attrs->list.items[i], "name"), name) == 0)
            return text_of(&attrs->list.items[i], "value");
    }
    return "";
}

static bool is_among(const char *word, const char *const *words)
{
    while (*words && strcmp(*words, word) != 0)
        words++;
    return *words != NULL;
}

/* What only feeds other nodes, and is not drawn by itself. */
static bool is_hidden(const char *op)
{
    static const char *const ops[] = { "Const",    "NoOp",     "ReadVariableOp", "VarHandleOp", "VariableV2",
                                       "Variable", "Identity", "_Arg",           "_Retval",     NULL };
    return is_among(op, ops);
}

/* ---- scopes ---- */

/* The scope that all names but those without any are in: "sequential/" of "sequential/dense/MatMul". */
static size_t common_prefix(const reading *r)
{
    const char *first = NULL;
    size_t size = 0;
    for (int64_t i = 0; i < r->nodes->list.count; i++) {
        const char *name = text_of(node_at(r, i), "name");
        if (is_hidden(text_of(node_at(r, i), "op")) && !strchr(name, '/'))
            continue;
        if (!first) {
            first = name;
            const char *slash = strrchr(name, '/');
            size = slash ? (size_t)(slash + 1 - name) : 0;
        }
        while (size && strncmp(name, first, size) != 0) {
            size--;
            while (size && first[size - 1] != '/')
                size--;
        }
    }
    return size;
}

/* How many letters of a node's name say its box: the scope, or all of it. */
static size_t group_size(const reading *r, const char *name)
{
    size_t at = strlen(name) > r->prefix ? r->prefix : 0;
    for (int64_t level = 0; level < r->depth; level++) {
        const char *slash = strchr(name + at, '/');
        if (!slash)
            return strlen(name);
        if (level + 1 == r->depth)
            return (size_t)(slash - name);
        at = (size_t)(slash + 1 - name);
    }
    return strlen(name);
}

static void add_detail(box *b, const char *op)
{
    size_t have = strlen(b->detail), size = strlen(op);
    if (is_hidden(op) || have > 40 || strstr(b->detail, op))
        return;
    char *more = realloc(b->detail, have + size + 8);
    if (!more)
        return;
    sprintf(more + have, "%s%s", have ? ", " : "", have + size > 40 ? "…" : op);
    b->detail = more;
}

/* Puts each node into a box. */
static bool make_boxes(reading *r)
{
    for (int64_t i = 0; i < r->nodes->list.count; i++) {
        const char *name = text_of(node_at(r, i), "name"), *op = text_of(node_at(r, i), "op");
        size_t size = r->depth ? group_size(r, name) : strlen(name), prefix = size > r->prefix ? r->prefix : 0;
        bool scope = name[size] == '/', input = strcmp(op, "Placeholder") == 0;
        r->boxes[i] = -1;
        entry *group = find(&r->groups, name, size);
        if (!group->name && !scope && is_hidden(op))
            continue;
        if (!group->name) {
            char *label = strndup(name + prefix, size - prefix);
            int made = label ? draw_add_box(r->d, scope ? BOX_SCOPE : input ? BOX_INPUT : BOX_OP, label, "") : -1;
            free(label);
            if (made < 0)
                return false;
            *group = (entry){ name, size, made };
        }
        r->boxes[i] = group->value;
        box *b = &r->d->boxes[group->value];
        b->ops++;
        add_detail(b, op);
    }
    return true;
}

/* ---- arrows ---- */

/* The node that a reference means, behind those that only hand on; -1: an argument, or a control edge. *output: which one. */
static int resolve(const reading *r, const char *reference, int *output)
{
    for (int steps = 0; steps < 64; steps++) {
        size_t size = strcspn(reference, ":");
        const char *last = strrchr(reference, ':');
        const entry *found = *reference == '^' ? NULL : find(&r->names, reference, size);
        *output = last ? atoi(last + 1) : 0;
        if (!found || !found->name)
            return -1;
        const tw_value *inputs = tw_value_get(node_at(r, found->value), "inputs");
        bool hands_on = r->boxes[found->value] < 0 && strcmp(text_of(node_at(r, found->value), "op"), "Identity") == 0;
        if (!hands_on || !inputs->list.count)
            return found->value;
        reference = inputs->list.items[0].s.data;
    }
    return -1;
}

/* The shape of output `index`: of "[(None, 10), ()]" what is between brackets. */
static char *shape_of(const tw_value *node, int index)
{
    const char *at = attr_of(node, "_output_shapes");
    for (; (at = strchr(at, '(')); at++) {
        const char *end = strchr(at, ')');
        if (!end)
            break;
        if (index-- == 0)
            return strndup(at, (size_t)(end + 1 - at));
    }
    return NULL;
}

static bool connect(reading *r, int from, int output, int to)
{
    char *shape = shape_of(node_at(r, from), output);
    bool good = draw_add_arrow(r->d, r->boxes[from], to, shape) >= 0;
    free(shape);
    return good;
}

static bool make_arrows(reading *r)
{
    for (int64_t i = 0; i < r->nodes->list.count; i++) {
        const tw_value *inputs = tw_value_get(node_at(r, i), "inputs");
        for (int64_t k = 0; r->boxes[i] >= 0 && k < inputs->list.count; k++) {
            const char *reference = inputs->list.items[k].s.data;
            int output, from = resolve(r, reference, &output);
            const entry *argument = find(&r->groups, reference, strcspn(reference, ":"));
            if (from < 0 && *reference != '^' && argument->name && r->d->boxes[argument->value].kind == BOX_INPUT) {
                if (draw_add_arrow(r->d, argument->value, r->boxes[i], "") < 0)
                    return false;
            } else if (from >= 0 && r->boxes[from] >= 0 && r->boxes[from] != r->boxes[i] &&
                       !connect(r, from, output, r->boxes[i])) {
                return false;
            }
        }
    }
    return true;
}

/* The arguments of a function that are no variables, and its results. */
static bool make_ends(reading *r, const tw_value *function, bool inputs)
{
    const tw_value *list = tw_value_get(function, inputs ? "arguments" : "returns");
    for (int64_t i = 0; list && i < list->list.count; i++) {
        const char *name = text_of(&list->list.items[i], "name"), *dtype = text_of(&list->list.items[i], "dtype");
        if (inputs && strcmp(dtype, "resource") == 0)
            continue;
        int output, from = inputs ? -1 : resolve(r, text_of(&list->list.items[i], "value"), &output);
        int made = draw_add_box(r->d, inputs ? BOX_INPUT : BOX_OUTPUT, name, dtype);
        if (made < 0)
            return false;
        if (inputs)
            *find(&r->groups, name, strlen(name)) = (entry){ name, strlen(name), made };
        else if (from >= 0 && r->boxes[from] >= 0 && !connect(r, from, output, made))
            return false;
    }
    return true;
}

/* ---- which graph ---- */

static const tw_value *find_function(const tw_value *facts, const char *name)
{
    const tw_value *functions = tw_value_get(facts, "functions");
    for (int64_t i = 0; functions && i < functions->list.count; i++) {
        if (strcmp(text_of(&functions->list.items[i], "name"), name) == 0)
            return &functions->list.items[i];
    }
    return NULL;
}

/* The function that a call of this name calls; or, with no name, that of the only node that does something. */
static const tw_value *called_by(const tw_value *facts, const tw_value *graph, const char *name)
{
    static const char *const calls[] = { "PartitionedCall", "StatefulPartitionedCall", NULL };
    const tw_value *nodes = tw_value_get(graph, "nodes"), *call = NULL;
    for (int64_t i = 0; i < nodes->list.count; i++) {
        const tw_value *node = &nodes->list.items[i];
        const char *op = text_of(node, "op");
        if (name ? strcmp(text_of(node, "name"), name) == 0 : !is_hidden(op)) {
            if (call || !is_among(op, calls))
                return NULL;
            call = node;
        }
    }
    const char *f = call ? attr_of(call, "f") : "";
    return *f == '@' ? find_function(facts, f + 1) : NULL;
}

const char *draw_signature(const tw_value *facts, const char *tensor)
{
    char name[512];
    snprintf(name, sizeof name, "%.*s", (int)strcspn(tensor, ":"), tensor);
    const tw_value *found = called_by(facts, facts, name), *next = found;
    for (int steps = 0; next && steps < 16; steps++) {
        found = next;
        next = called_by(facts, found, NULL);
    }
    return found ? text_of(found, "name") : NULL;
}

bool draw_read(drawing *d, const tw_value *facts, const char *function, int64_t depth, char wrong[256])
{
    const tw_value *graph = function ? find_function(facts, function) : facts;
    reading r = { .d = d, .nodes = graph ? tw_value_get(graph, "nodes") : NULL, .depth = depth };
    if (!r.nodes) {
        snprintf(wrong, 256, "the graph has no function '%.200s'", function ? function : "");
        return false;
    }
    size_t count = (size_t)r.nodes->list.count, room = 16;
    while (room < 4 * count + 256)
        room *= 2;
    r.names = (table){ calloc(room, sizeof(entry)), room };
    r.groups = (table){ calloc(room, sizeof(entry)), room };
    r.boxes = calloc(count + 1, sizeof *r.boxes);
    bool good = r.names.entries && r.groups.entries && r.boxes;
    for (size_t i = 0; good && i < count; i++) {
        const char *name = text_of(node_at(&r, (int64_t)i), "name");
        *find(&r.names, name, strlen(name)) = (entry){ name, strlen(name), (int)i };
    }
    r.prefix = good ? common_prefix(&r) : 0;
    d->title = copy_of(function);
    good = good && (!function || make_ends(&r, graph, true)) && make_boxes(&r);
    snprintf(wrong, 256, "memory ran out");
    if (good && d->count > BOXES_LIMIT) {
        snprintf(wrong, 256, "the picture would have %d boxes: --depth draws scopes as one", d->count);
        good = false;
    }
    good = good && make_arrows(&r) && (!function || make_ends(&r, graph, false));
    if (good && !d->count) {
        snprintf(wrong, 256, "there is nothing to draw: the graph has no nodes that compute; --function draws a function of it");
        good = false;
    }
    free(r.names.entries);
    free(r.groups.entries);
    free(r.boxes);
    return good;
}
