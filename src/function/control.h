/* Branches and loops of graphs: If, Case and While with functions made of C bodies; run directly when nothing is traced. */
#ifndef TW_CONTROL_H
#define TW_CONTROL_H

#include "function/function.h"

/* The results of one of two bodies (without arguments). *outputs is an array from tw__alloc; the tensors and it are the caller's.
 */
tw_status tw__cond(tw_tensor *predicate, tw__function_body then_body, void *then_context, tw__function_body else_body,
                   void *else_context, tw_tensor ***outputs, int *output_count);

/* The results of body number `index` (without arguments), of the last one if there is none of that number. */
typedef struct tw__branch {
    tw__function_body body;
    void *context;
} tw__branch;
tw_status tw__switch(tw_tensor *index, const tw__branch *branches, int count, tw_tensor ***outputs, int *output_count);

/* The results of the branch of the first predicate that is true (case.c). */
typedef struct tw__choice {
    tw_tensor *const *predicates;
    const tw__branch *branches; /* one for each, and one behind them */
    int count;
    bool otherwise; /* the one behind them is for none being true; else that is an error */
    bool exclusive; /* several true ones are an error */
    const char *name;
} tw__choice;
tw_status tw__case(const tw__choice *choice, tw_tensor ***outputs, int *output_count);

typedef struct tw__loop {
    tw__function_body cond, body; /* cond gives one bool; body as many values as it gets */
    void *cond_context, *body_context;
    tw_tensor *const *values; /* before the first iteration */
    const tw_shape *shapes;   /* that hold in every iteration; NULL: those of the values */
    int count;
    tw_tensor *maximum; /* of iterations, an int32; NULL: none */
    bool trusted;       /* the body is known to keep the shapes */
    const char *name;   /* of the node; NULL: the usual one */
} tw__loop;
/* `outputs` has room for count tensors. */
tw_status tw__while(const tw__loop *loop, tw_tensor **outputs);

/* A function of each row of some tensors, its results stacked (map.c). */
typedef struct tw__mapping {
    tw__function_body body; /* gets a row of each tensor */
    void *context;
    tw_tensor *const *elems;
    int elem_count;
    const tw_spec *specs; /* of the results for one row; NULL: they are found out */
    int spec_count;
    const bool *joined; /* per result: concatenated instead of stacked; NULL: none is */
    bool infers;        /* the results of all rows have one shape */
    bool spreads;       /* a tensor of one row has it for all of the others' */
    bool stops;         /* in graphs no gradient passes */
    const char *name;
} tw__mapping;
tw_status tw__map_rows(const tw__mapping *mapping, tw_tensor ***outputs, int *output_count);

/* A state that goes through the rows of some tensors. */
typedef struct tw__folding {
    tw__function_body body; /* gets the state and a row of each tensor, gives the next state */
    void *context;
    tw_tensor *const *elems;
    int elem_count;
    tw_tensor *const *initial; /* the state before the first row; NULL: that row */
    int initial_count;
    bool reverse;       /* from the last row on */
    bool scans;         /* gives the states after every row, stacked; else the last one */
    bool infers, stops; /* as above */
    const char *name;
} tw__folding;
tw_status tw__fold_rows(const tw__folding *folding, tw_tensor ***outputs, int *output_count);

/* A condition that only compares integers of the loop (condition.c). */
enum { TW_CONDITION_STEPS = 16 };
typedef struct tw__condition {
    int count;
    struct {
        int what;
        int64_t a, b;
    } steps[TW_CONDITION_STEPS];
} tw__condition;
bool tw__condition_read(tw__condition *condition, const tw__function *f);          /* false: it is more than that */
int tw__condition_holds(const tw__condition *condition, tw_tensor *const *values); /* -1: the values are no single integers */

/* ---- shared by the files of cond and while ---- */
tw__function *tw__while_function(const tw_op *op, const tw_attr *attrs, const char *name); /* "cond", "body" */
tw_status tw__while_gradient(tw__gradient *g);
tw_status tw__predicate_is(const tw_op *op, const tw_tensor *tensor, bool *truth); /* as If takes it */
int tw__branch_number(int64_t number, int count); /* as Case does: the last one if there is none */
/* Appends the captures of f that are not in the list yet; the list is from tw__alloc. */
tw_status tw__control_unite(tw_tensor ***list, int *count, const tw__function *f);

/* The results of a branch that programs see are Identity nodes under its name, numbered as its outputs are. */
tw_status tw__control_results(tw_tensor **results, int count);

#endif
