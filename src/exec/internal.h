/* Shared inside src/exec only: plans from the inside, and how passes see them.
 *
 * A plan is a list of steps over places. A place is a value: output k of node n has place first_place[n] + k, and passes may add
 * places. A step is at first one call of an op; passes rewrite steps: they take steps away, give a step other inputs, another op
 * or attrs, or a function of their own (`run` with `data`), so that a fused chain, a product with its bias, or an update of all
 * variables is a step like any other. Shapes, dtypes and constants are asked of places, not of nodes: a plan may know more than
 * its graph.
 *
 *   plan.c     nodes -> steps                    special.c  plans for the shapes of a call, and the cache of them
 *   pass_*.c   passes                            run.c      frames, and the loop over the steps
 *   steps.c    what passes do to steps           print.c    plans as text
 *   layout.c   where values lie                  hook.c     reports of steps
 *   fuse.c     elementwise chains                fuse_run.c their loops
 *   inline.c   calls of functions                beside.c   steps side by side
 *   compile.h  parts of plans for plug-ins */
#ifndef TW_EXEC_INTERNAL_H
#define TW_EXEC_INTERNAL_H

#include "exec/exec.h"
#include "op/streams.h"

enum { TW_SPARE_FRAMES = 4, TW_INLINE_DEPTH = 16, TW_MOST_LANES = 4 };

typedef struct tw__step tw__step;

typedef enum tw__where {
    TW_IN_HEAP,     /* a tensor that is made in every run: outputs of the plan, and what ops may keep or hand on */
    TW_IN_ARGUMENT, /* given by the caller, or a constant */
    TW_IN_ARENA,    /* at an offset of the frame's one block */
    TW_IN_HEADER,   /* few bytes: in the tensor itself, which the frame keeps */
} tw__where;

typedef struct tw__place {
    tw_dtype dtype;
    tw_shape shape;      /* as far as the plan knows it */
    tw_tensor *constant; /* its value, where that is known; a reference */
    tw_tensor *handle;   /* of an argument that is a captured variable: its handle, which the graph keeps; else NULL */
    /* layout.c: */
    tw__where where;
    int32_t root;       /* the place whose memory it shows under another shape; itself if it has its own */
    int32_t taken_from; /* the place in whose memory it was written, because that was needed no more; -1: none */
    int64_t bytes, offset;
    bool kept;    /* somebody may still see its memory after the run */
    int32_t last; /* step after which nobody reads it (of a root: nor what shows it); -1: never made or always there */
} tw__place;

typedef tw_status (*tw__step_run)(const tw__step *step, tw_tensor *const *inputs, tw_tensor **outputs);

struct tw__step {
    const tw__node *node; /* the call, or the last of the calls, that it stands for: its name stands in errors and reports */
    const char *name;     /* … with the calls that it was taken from in front; the plan's. NULL: the node's */
    const tw_op *op;      /* what runs: the node's at first */
    const tw_attr *attrs; /* of the op, complete; a pass that gives others keeps them in `data` */
    /* Runs instead of the op's compute if it is set. Outputs are there already if `known`; else it makes them. It keeps no input,
     * hands none on as an output, and may run in several threads at once. */
    tw__step_run run;
    void *data; /* of `run` or the attrs; free_data (NULL: nobody frees it) ends it with the step */
    void (*free_data)(void *data);
    const char *label; /* what it does, in printouts; NULL: the op's name. Lives as long as `data` */
    int32_t *inputs;   /* places */
    int32_t input_count;
    int32_t *outputs; /* places */
    int32_t output_count;
    bool known;          /* shapes of all outputs are known, and the outputs are made beforehand */
    bool effects;        /* runs even if nobody needs its outputs */
    bool gone;           /* taken away; its place in the list is closed when the pass is done */
    uint32_t overwrites; /* bit k: output 0 may be written where input k lies, if that has its size and is needed no more */
    int8_t lanes;        /* this step and the ones behind it, so many, may run side by side (beside.c); 0: it is no first one */
    uint64_t key;        /* tells the step from others with the same node, that of a function which is called twice */
    /* layout.c: */
    bool fixed; /* every output is kept by the frame: nothing is made */
    bool large; /* takes long enough to ask whether the user wants to stop */
    tw_dtype *out_dtypes;
    int32_t *dropped; /* places in the heap whose values are released after this step */
    int32_t dropped_count;
    int32_t *dying; /* places of the frame that end with this step: their memory is used anew */
    int32_t dying_count;
};

struct tw__specials;

struct tw__plan {
    tw__graph *graph;
    tw__step *steps;
    int step_count;
    tw__place *places;
    int32_t place_count;
    size_t step_capacity, place_capacity;
    char **names; /* of steps that were taken from calls */
    size_t name_count, name_capacity;
    void **owners; /* of the graphs of such calls; references */
    size_t owner_count, owner_capacity;
    int32_t *arguments; /* places */
    int argument_count;
    int32_t *outputs;
    int output_count;
    int32_t *constant_places; /* those with a constant that a step or an output uses */
    int constant_count;
    int most_inputs, most_outputs;
    int64_t arena_bytes;      /* of a frame's block */
    bool has_lanes;           /* some steps may run side by side */
    bool takes_long;          /* some of its steps are large, or there are many */
    bool shapes_known;        /* of all arguments: there will be no special plans */
    struct tw__plan *general; /* the plan that it is a special one of; itself if it is none */
    tw__stream_set *streams;  /* of a general plan; special ones go on with them */
    _Atomic uint32_t lock;    /* of a general plan: of the making of specials */
    _Atomic(void *) spare[TW_SPARE_FRAMES];
    struct tw__specials *specials; /* of a general plan */
};

/* ---- passes over the steps ---- */

/* In this order. A pass is `tw_status tw__pass_NAME(tw__plan *plan)` in a file of its own, pass_NAME.c, with a bit TW_PASS_… in
 * exec.h. After each one, steps that are `gone` or that nobody needs any more are taken out. */
#define TW_STEP_PASSES(X) \
    X(COMPILE, compile)   \
    X(LIKES, likes)       \
    X(TIDY, tidy) X(ADAM, adam) X(UPDATES, updates) X(EPILOGUE, epilogue) X(POOL, pool) X(ENTROPY, entropy) X(FUSE, fuse)

#define TW_DECLARE_PASS(bit, name) tw_status tw__pass_##name(tw__plan *plan);
TW_STEP_PASSES(TW_DECLARE_PASS)
#undef TW_DECLARE_PASS

/* By place: the step that makes it (-1: none, it is an argument or a constant), and how often it is read; an output of the plan
 * counts as a read. Not kept up while steps change. */
typedef struct tw__uses {
    int32_t *maker;
    int32_t *reads;
} tw__uses;
tw_status tw__uses_find(const tw__plan *plan, tw__uses *uses);
void tw__uses_free(tw__uses *uses);

void tw__step_remove(tw__step *step);
tw_status tw__step_set_inputs(tw__step *step, const int32_t *places, int count);
tw_status tw__step_set_outputs(tw__step *step, const int32_t *places, int count);
/* Gives the step a function; `data` is the step's from now on, also if what it had before must end. */
void tw__step_set_run(tw__step *step, tw__step_run run, void *data, void (*free_data)(void *), const char *label);
int32_t tw__plan_add_place(tw__plan *plan, tw_dtype dtype, const tw_shape *shape); /* -1: no memory */
/* The number of elements of a place of known shape; -1 if it is not known. */
int64_t tw__place_count(const tw__plan *plan, int32_t place);

/* ---- passes over the nodes, while steps are found in the graph's order ---- */

typedef struct tw__draft {
    tw__plan *plan;
    bool special;                /* arguments have the shapes of a call */
    const struct tw__hlo *known; /* of arguments, where a program is made of the body (compile.h); else NULL */
    int32_t *first_place;        /* by node of the graph at hand: the plan's, or that of a call that is taken in (inline.c) */
    int32_t *stands_for;         /* by place: the place whose value it has */
    size_t stands_for_capacity;
    tw__map seen;                               /* op, attrs and inputs of earlier steps -> their first place + 1 */
    int64_t version;                            /* counts side effects: reads on two sides of one are not the same */
    const char *path;                           /* the names of the calls at hand, each with a slash; NULL: none */
    const tw__graph *open[TW_INLINE_DEPTH + 1]; /* the graphs at hand, outermost first */
    int depth;
    size_t inlined; /* nodes of all graphs that were taken in */
} tw__draft;

/* Makes steps of the nodes that the body's outputs need, or that have effects. `given` are the places of its inputs (NULL: they
 * are the plan's arguments, with the shapes of `values` if these are not NULL); the outputs' places come into `results`. */
tw_status tw__draft_body(tw__draft *draft, const tw__body *body, const int32_t *given, tw_tensor *const *values,
                         int32_t *results);

/* Settles a call by the steps of what it calls (inline.c), of which `outputs` outputs are needed. */
tw_status tw__pass_inline(tw__draft *draft, const tw__node *node, const int32_t *inputs, int outputs, bool *settled);
static inline int32_t tw__draft_place(const tw__draft *draft, const tw__node *node, int output)
{
    return draft->first_place[node->id] + output;
}
bool tw__node_has_function(const tw__node *node); /* among its attributes (pass_fold.c) */
/* Per node how many of its outputs are needed, at least 1; 0: it is not needed. For tw__free. */
int32_t *tw__pass_prune(const tw__graph *graph, const tw__edge *outputs, int output_count);
/* Each may settle a node without a step: true if it did. `inputs` are places that stand for nothing else. */
bool tw__pass_forward(tw__draft *draft, const tw__node *node, const int32_t *inputs); /* Identity and its kin */
bool tw__pass_fold(tw__draft *draft, const tw__node *node, const int32_t *inputs);    /* constants or shapes in, constants out */
bool tw__pass_share(tw__draft *draft, const tw__node *node, const int32_t *inputs);   /* the same call again */
bool tw__pass_share_constant(tw__draft *draft, const tw__node *node, const tw_tensor *value); /* the same few bytes again */

/* ---- inside ---- */

/* Reports (hook.c): one that began at `start`. */
int64_t tw__step_clock(void);
void tw__step_report(const tw__step *step, int64_t start, int64_t bytes);

void tw__step_end(tw__step *step);
const char *tw__step_name(const tw__step *step);
bool tw__op_reads_only(const tw_op *op);   /* stateful, but without effects */
tw_status tw__plan_sweep(tw__plan *plan);  /* takes out steps that are gone or not needed */
tw_status tw__plan_layout(tw__plan *plan); /* where values lie, when they end */
void tw__plan_frames_free(tw__plan *plan);
tw_status tw__plan_find_lanes(tw__plan *plan); /* which steps may run side by side; puts them next to each other */
/* Calls run(context, 0), run(context, 1), … side by side, each once, or once more if it failed in another thread. The status of
 * all, and which one gave it. */
typedef tw_status tw__lane_run(void *context, int lane);
int tw__run_lanes(tw__lane_run *run, void *context, int count, tw_status *status);
/* A plan of the graph; with `values`, a special one of `general` for arguments of their shapes. */
tw__plan *tw__plan_make(tw__graph *graph, tw__node *const *arguments, int argument_count, const tw__edge *outputs,
                        int output_count, tw__plan *general, tw_tensor *const *values);
tw_status tw__plan_execute(tw__plan *plan, tw_tensor *const *values, tw_tensor **outputs); /* the arguments' shapes fit */
struct tw__specials *tw__specials_new(tw__node *const *arguments, int argument_count, const tw__edge *outputs, int output_count);
void tw__specials_free(struct tw__specials *specials);
tw_status tw__specials_run(tw__plan *plan, tw_tensor *const *values, tw_tensor **outputs);
/* The plan that arguments of these shapes run with once they have come twice; *own tells that the caller frees it. NULL on
 * failure. */
tw__plan *tw__specials_plan(tw__plan *plan, tw_tensor *const *values, bool *own);
/* Whether the arguments have just the dtypes and shapes that the plan was made for. */
bool tw__plan_fits(const tw__plan *plan, tw_tensor *const *values);

/* One op at a time: so it was set, or TF_NUM_INTEROP_THREADS says so (beside.c). */
bool tw__one_op_at_a_time(void);

#endif
