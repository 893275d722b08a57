/* Branches and loops of graphs: If, Case and While with functions made of C bodies; run directly when nothing is traced. */
#ifndef TW_CONTROL_H
#define TW_CONTROL_H

#include "function/function.h"

/* The results of one of two bodies (without arguments). *outputs is an array from tw__alloc; the tensors and it are the caller's. */
tw_status tw__cond(tw_tensor *predicate, tw__function_body then_body, void *then_context, tw__function_body else_body, void *else_context,
                   tw_tensor ***outputs, int *output_count);

/* The results of body number `index` (without arguments), of the last one if there is none of that number. */
typedef struct tw__branch {
    tw__function_body body;
    void *context;
} tw__branch;
tw_status tw__switch(tw_tensor *index, const tw__branch *branches, int count, tw_tensor ***outputs, int *output_count);

typedef struct tw__loop {
    tw__function_body cond, body;  /* cond gives one bool; body as many values as it gets */
    void *cond_context, *body_context;
    tw_tensor *const *values;      /* before the first iteration */
    const tw_shape *shapes;        /* that hold in every iteration; NULL: those of the values */
    int count;
    tw_tensor *maximum;            /* of iterations, an int32; NULL: none */
    bool trusted;                  /* the body is known to keep the shapes */
} tw__loop;
/* `outputs` has room for count tensors. */
tw_status tw__while(const tw__loop *loop, tw_tensor **outputs);

/* ---- shared by cond.c and while.c ---- */
/* Appends the captures of f that are not in the list yet; the list is from tw__alloc. */
tw_status tw__control_unite(tw_tensor ***list, int *count, const tw__function *f);

/* In lasting graphs the results of a branch or loop that programs see are Identity nodes under its name, numbered as its outputs are. */
tw_status tw__control_results(tw_tensor **results, int count);

#endif
