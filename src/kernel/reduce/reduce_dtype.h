/* The reductions of one dtype; included once per dtype by reduce_loops.c, which defines
 *   DTYPE             in the functions' names
 *   ELEMENT_TYPE      of the data
 *   WORK              type that sums and products run in
 *   MEAN_WORK         type that means run in, if it is another; ORDER that maxima do; SQUARES that norms do
 *   VALUE(e)          an element as WORK; RESULT(a) WORK as an element
 *   MEAN(a, n)        the element that is a / n
 *   SQUARE(e)         |e|² as SQUARES; ROOT(a) the element that is the root of SQUARES a
 *   VECTORS, HELPERS  clones, TW_SMALL or nothing; RARELY the same for products and norms, if it is another
 *   ORDER_VECTORS     maxima and minima have vectors, whatever the rest has
 *   ORDERED           and then LOWEST, HIGHEST (ORDER), RANK(e) an element as ORDER, UNRANK back, GREATER(a, b), LESS(a, b) */
#define PASTE3(a, b, c) a##_##b##_##c
#define PASTE(a, b, c) PASTE3(a, b, c)

#define NAME(word) PASTE(sum, DTYPE, word)
#define ELEMENT ELEMENT_TYPE
#define ACCUMULATOR WORK
#define LOAD(e) VALUE(e)
#define COMBINE(a, b) ((a) + (b))
#define START 0
#define FINISH(a, n) RESULT(a)
#define CLONES VECTORS
#include "kernel/reduce/reduce_body.h"

#ifdef MEAN_WORK
#define NAME(word) PASTE(mean, DTYPE, word)
#define ELEMENT ELEMENT_TYPE
#define ACCUMULATOR MEAN_WORK
#define LOAD(e) ((MEAN_WORK)(e))
#define COMBINE(a, b) ((a) + (b))
#define START 0
#define FINISH(a, n) MEAN(a, n)
#define CLONES VECTORS
#include "kernel/reduce/reduce_body.h"
#else
static void PASTE(mean, DTYPE, finish)(void *out, const void *accumulators, int64_t count, int64_t reduced)
{
    const WORK *a = accumulators;
    ELEMENT_TYPE *y = out;
    for (int64_t i = 0; i < count; i++)
        y[i] = MEAN(a[i], reduced);
}

static const tw__reducer PASTE(mean, DTYPE, reducer) = {
    sizeof(ELEMENT_TYPE),       sizeof(WORK),
    PASTE(sum, DTYPE, start),   PASTE(sum, DTYPE, rows),
    PASTE(sum, DTYPE, columns), PASTE(sum, DTYPE, merge),
    PASTE(mean, DTYPE, finish),
};
#endif

#ifndef RARELY
#define RARELY VECTORS
#endif
#define NAME(word) PASTE(prod, DTYPE, word)
#define ELEMENT ELEMENT_TYPE
#define ACCUMULATOR WORK
#define LOAD(e) VALUE(e)
#define COMBINE(a, b) ((a) * (b))
#define START 1
#define FINISH(a, n) RESULT(a)
#define CLONES RARELY
#include "kernel/reduce/reduce_body.h"

#define NAME(word) PASTE(norm, DTYPE, word)
#define ELEMENT ELEMENT_TYPE
#define ACCUMULATOR SQUARES
#define LOAD(e) SQUARE(e)
#define COMBINE(a, b) ((a) + (b))
#define START 0
#define FINISH(a, n) ROOT(a)
#define CLONES RARELY
#include "kernel/reduce/reduce_body.h"

#ifdef ORDER_VECTORS
#undef VECTORS
#undef HELPERS
#define VECTORS
#define HELPERS
#endif
#ifdef ORDERED
#define NAME(word) PASTE(max, DTYPE, word)
#define ELEMENT ELEMENT_TYPE
#define ACCUMULATOR ORDER
#define LOAD(e) RANK(e)
#define COMBINE(a, b) GREATER(a, b)
#define START LOWEST
#define FINISH(a, n) UNRANK(a)
#define CLONES VECTORS
#include "kernel/reduce/reduce_body.h"

#define NAME(word) PASTE(min, DTYPE, word)
#define ELEMENT ELEMENT_TYPE
#define ACCUMULATOR ORDER
#define LOAD(e) RANK(e)
#define COMBINE(a, b) LESS(a, b)
#define START HIGHEST
#define FINISH(a, n) UNRANK(a)
#define CLONES VECTORS
#include "kernel/reduce/reduce_body.h"

#define TABLE_ORDERED , [TW__REDUCE_MAX] = &PASTE(max, DTYPE, reducer), [TW__REDUCE_MIN] = &PASTE(min, DTYPE, reducer)
#else
#define TABLE_ORDERED
#endif

static const tw__reducer *const PASTE(reducers, of, DTYPE)[] = { [TW__REDUCE_SUM] = &PASTE(sum, DTYPE, reducer),
                                                                 [TW__REDUCE_MEAN] = &PASTE(mean, DTYPE, reducer),
                                                                 [TW__REDUCE_PROD] = &PASTE(prod, DTYPE, reducer),
                                                                 [TW__REDUCE_NORM] = &PASTE(norm, DTYPE, reducer) TABLE_ORDERED };

#undef TABLE_ORDERED
#undef DTYPE
#undef ELEMENT_TYPE
#undef WORK
#undef MEAN_WORK
#undef ORDER
#undef SQUARES
#undef VALUE
#undef RESULT
#undef MEAN
#undef ROOT
#undef SQUARE
#undef VECTORS
#undef RARELY
#undef HELPERS
#undef ORDERED
#undef ORDER_VECTORS
#undef LOWEST
#undef HIGHEST
#undef RANK
#undef UNRANK
#undef GREATER
#undef LESS
#undef PASTE
#undef PASTE3
