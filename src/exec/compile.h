/* Shared by the files that make programs of parts of plans, and run them:
 *
 *   pass_compile.c   which steps become a program       compile_flow.c   loops and branches inside of one
 *   compile_rows.c   rows whose number is not known     compile_run.c    running */
#ifndef TW_COMPILE_H
#define TW_COMPILE_H

#include "exec/internal.h"
#include "exec/plugin.h"
#include "kernel/random/random.h"

/* A random op of a program: the state of its stream is an argument, drawn on the host in every run. */
typedef struct tw__draw {
    tw__step step; /* its node, op, attrs and key */
    int argument;  /* the number of the program's argument */
    int64_t count; /* how many values it makes */
} tw__draw;

/* One program. */
typedef struct tw__compiled {
    char *text;
    size_t text_size;
    _Atomic(struct tw__executable *) program; /* once it was compiled */
    int argument_count;                       /* those that are inputs of the step, its first ones, and those that are drawn */
    tw__draw *draws;                          /* in the order of their arguments */
    int draw_count;
    int variable_count; /* the handles behind them */
    tw__hlo_variable *variables;
    int result_count; /* the step's outputs */
    tw_dtype *dtypes;
    tw_shape *shapes;
    int device; /* the accelerator that it runs on */
    tw__lock lock;
    char label[64];
} tw__compiled;
void tw__compiled_free(void *part);
tw_status tw__compiled_run(const tw__step *step, tw_tensor *const *inputs, tw_tensor **outputs);

/* Steps of a plan, written into a program. Values are the program's, by place; those with the id -1 are not there yet. */
typedef struct tw__writing {
    const tw__lowerings *lower;
    tw__program_writer *w;
    tw__plan *plan;
    tw__hlo *values;
    /* Of a program's own plan: what it gets from outside is listed. Of the body of a loop all is given: `outer` is that around
     * it. */
    struct tw__writing *outer;
    int32_t *arguments; /* places; -1: drawn */
    int argument_count;
    int32_t *handles;
    int handle_count;
    tw__draw *draws;
    int draw_count;
    size_t draw_capacity;
} tw__writing;

/* The state of a random op's stream as it stands, which is then moved on (run.c). */
tw_status tw__step_draw(const tw__step *step, uint64_t groups, tw__philox *philox);
/* Whether the step is a random op whose stream goes on: its lowering has the state as one more input. */
bool tw__compile_draws(const tw__step *step);

/* A place as lowerings see it, without an id. */
tw__hlo tw__compile_value(const tw__plan *plan, int32_t place);
/* The place's value, as far as it can be had: a constant is written, an argument listed. */
tw_status tw__compile_take(tw__writing *writing, int32_t place);
/* The steps of a body whose inputs have the shapes and values of `given`, as far as these are known (plan.c). It is not run. */
tw__plan *tw__plan_draft(const tw__body *body, const tw__hlo *given);
/* Writes a step; *written false: it can't be, and what it wrote is of no use. */
tw_status tw__compile_step(tw__writing *writing, const tw__step *step, bool *written);
/* The same of a loop or a branch (compile_flow.c). */
bool tw__compile_is_flow(const tw__step *step);
tw_status tw__compile_flow(tw__writing *writing, const tw__step *step, const tw__hlo *inputs, tw__hlo *outputs, bool *written);

/* Rows whose number depends on values (Unique), where nobody sees how many there are: they become as many as there can be
 * (compile_rows.c). `fits` tells whether a step can be lowered, with the shapes that it then has; distinct[place]: of indices,
 * none comes twice. */
typedef bool tw__step_fits(void *context, const tw__step *step);
tw_status tw__compile_rows(tw__plan *plan, bool *distinct, tw__step_fits *fits, void *context);

#endif
