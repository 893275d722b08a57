/* Sides of conditions and groups of nodes: what lower_sides.c finds and lower_conds.c makes branches of. See lower_conds.c. */
#ifndef TW_LOWER_SIDES_H
#define TW_LOWER_SIDES_H

#include "graph/lower.h"

enum { TW_LOW_NESTING = 64, TW_LOW_NONE = -1 };

typedef struct tw__sides {
    int32_t *items; /* condition * 2 + side, ascending */
    size_t count;
} tw__sides;
static inline void tw__sides_end(tw__sides *sides)
{
    tw__free(sides->items);
}

typedef struct tw__condition {
    tw__low_input predicate; /* behind all Identities */
    size_t depth;            /* how many conditions its predicate stands in */
} tw__condition;

typedef struct tw__export {
    tw__low_input value, result; /* in the graph, of the If */
} tw__export;

typedef struct tw__conds {
    tw__low_graph *graph;
    size_t count; /* nodes that were there */
    int32_t *order;
    size_t order_count;
    tw__condition *conditions;
    size_t condition_count, condition_capacity;
    tw__sides *sides;      /* by node */
    int32_t *scope;        /* by node: the outer condition that it stands in, or that it joins; TW_LOW_NONE */
    bool *joins;           /* by node: a Merge that joins its scope */
    int32_t *group;        /* by node; TW_LOW_NONE */
    bool *followed;        /* by node: a node that is not on its side follows it, so that it runs in any case */
    int32_t *first_use;    /* by node: the first group of its scope that uses it; TW_LOW_NONE */
    int32_t *group_of_key; /* by group: its condition */
    size_t group_count, group_capacity;
    tw__export *exports;
    size_t export_count, export_capacity;
} tw__conds;

/* Fills in all that there is to find. */
tw_status tw__conds_find(tw__conds *c);
bool tw__low_is_switch(const tw__conds *c, int32_t node);
/* A mark of a branch's beginning, which others follow. */
bool tw__low_is_pivot(const tw__conds *c, int32_t index);
int32_t tw__condition_of(tw__conds *c, tw__low_input predicate); /* -1: no memory */
/* The sides of what an input gives are added to others. `node` stands in errors. */
tw_status tw__sides_add(tw__conds *c, tw__low_input input, tw__sides *into, const tw__low_node *node);
/* The sides of a value, for tw__free. A Switch of an inner condition has those of its output. */
tw__sides tw__value_sides(tw__conds *c, tw__low_input value);
bool tw__has_side(const tw__sides *s, int32_t side);

#endif
