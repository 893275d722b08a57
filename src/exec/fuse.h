/* A fused step: loops over tiles, and perhaps a reduction of what they make. fuse.c finds and makes them, fuse_run.c runs them.
 */
#ifndef TW_EXEC_FUSE_H
#define TW_EXEC_FUSE_H

#include "exec/internal.h"
#include "kernel/kernel.h"
#include "kernel/reduce/reduce.h"
#include "kernel/random/stream.h"

enum { TW_FUSED_LOOPS = 24, TW_FUSED_INPUTS = 12, TW_FUSED_TEMPORARIES = 6, TW_FUSED_REPEATED = 4 };

/* Where a loop finds a value: an input of the step, a temporary, or (as a target) the result. */
typedef struct tw__fused_source {
    enum { TW_FROM_INPUT, TW_FROM_TEMPORARY, TW_TO_RESULT } kind;
    int32_t index;
} tw__fused_source;

typedef struct tw__fused_loop {
    tw__unary_loop *unary;
    tw__binary_loop *binary;
    tw__row row;
    tw__fused_source x, y, z;
    bool slow;
} tw__fused_loop;

typedef struct tw__fused_input {
    enum {
        TW_INPUT_SINGLE,
        TW_INPUT_WHOLE,
        TW_INPUT_REPEATED
    } kind; /* one element; as many as the result; element i / run % period for i */
    int64_t run, period;
    int spread;  /* of a repeated one: which of the tiles that it is written to */
    bool scalar; /* of one with runs: the loops that read it may take one element for a whole tile */
} tw__fused_input;

typedef struct tw__fused {
    tw__fused_loop loops[TW_FUSED_LOOPS];
    int loop_count;
    tw__fused_input inputs[TW_FUSED_INPUTS];
    int input_count, repeated_count;
    size_t element;
    int slow_count; /* of the loops */
    /* The last loop's values are reduced; output 0 is what they were, if somebody else wants that (`keeps`), and the last output
     * the reduction. */
    bool reduces, keeps;
    tw__reduction reduction;
    unsigned axes;
    tw_dtype dtype;
    tw_shape shape; /* of the loops' values */
    int64_t count;
    char label[160]; /* the ops' names */
} tw__fused;

tw_status tw__fused_run(const tw__step *step, tw_tensor *const *inputs, tw_tensor **outputs);
int64_t tw__fused_grain(const tw__fused *fused); /* elements that are worth a thread */

#endif
