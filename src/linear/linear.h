/* tf.linalg.LinearOperator: matrices that are known by their parts. A class gives what it knows better than a dense matrix does;
 * everything else is computed of the dense one. A class of the embedding language may give each of these itself, under
 * TensorFlow's names (`_matmul`, `_to_dense`, …).
 *
 * Functions that get a list `t` leave their tensors to it; NULL, after a failure, gives NULL. */
#ifndef TW_LINEAR_H
#define TW_LINEAR_H

#include "api/composite.h"
#include "keras/keras.h"
#include "op/calls.h"
#include "op/linalg/linalg.h"

/* What is said of an operator; TW_UNSAID: nothing. */
typedef enum tw__hint { TW_NON_SINGULAR, TW_SELF_ADJOINT, TW_POSITIVE_DEFINITE, TW_SQUARE, TW_HINTS } tw__hint;
enum { TW_UNSAID = -1, TW_LINEAR_PARTS = 3 };

struct tw_linear_operator {
    tw_module module;
    tw_dtype dtype;
    int8_t hints[TW_HINTS];       /* 0, 1 or TW_UNSAID */
    void *parts[TW_LINEAR_PARTS]; /* tensors, or variables, which are read when they are needed. References, or NULL */
    tw_linear_operator **of;      /* the operators that it is made of. References */
    int64_t count;
};

/* Tensors that follow from an operator alone. */
typedef enum tw__linear_result {
    TW_LINEAR_DENSE,
    TW_LINEAR_DIAG_PART,
    TW_LINEAR_TRACE,
    TW_LINEAR_DETERMINANT,
    TW_LINEAR_LOG_ABS_DETERMINANT,
    TW_LINEAR_EIGVALS,
    TW_LINEAR_COND,
    TW_LINEAR_SHAPE_TENSOR,
    TW_LINEAR_RESULTS
} tw__linear_result;

typedef enum tw__linear_made { TW_LINEAR_ADJOINT, TW_LINEAR_INVERSE, TW_LINEAR_CHOLESKY } tw__linear_made;

typedef tw_shape tw__linear_shape_function(const tw_linear_operator *self);

/* `methods` of the classes. NULL: as it follows from the dense matrix. */
typedef struct tw__linear_methods {
    tw__linear_shape_function *shape;
    tw_tensor *(*results[TW_LINEAR_RESULTS])(tw__temps *t, tw_linear_operator *self);
    tw_tensor *(*matmul)(tw__temps *t, tw_linear_operator *self, tw_tensor *x, bool adjoint);
    tw_tensor *(*solve)(tw__temps *t, tw_linear_operator *self, tw_tensor *rhs, bool adjoint);
    tw_linear_operator *(*made)(tw_linear_operator *self, tw__linear_made made); /* a new reference; see tw__linear_usual */
    tw_value (*assert_non_singular)(tw__temps *t, tw_linear_operator *self);
    tw_value (*assert_positive_definite)(tw__temps *t, tw_linear_operator *self);
} tw__linear_methods;

/* ---- making one (operator.c) ---- */
/* Keeps a part: a variable, or a tensor of the value, whose numbers get that dtype (TW_DTYPE_NONE: their own). The first one's
 * dtype is the operator's if it has none yet. None is none. */
tw_status tw__linear_part(tw_linear_operator *self, int index, const char *name, const tw_value *value, tw_dtype dtype);
/* Checks a part: its rank, as far as it is known; that it is a number of elements, or a vector of such. */
tw_status tw__linear_need_rank(const tw_linear_operator *self, int index, const char *name, int least);
tw_status tw__linear_need_sizes(tw_linear_operator *self, int index, const char *name, int rank);
tw_status tw__linear_of(tw_linear_operator *self, void *const *operators, int64_t count);
/* Checks the hints, and adds those that follow from others. */
tw_status tw__linear_settle(tw_linear_operator *self);
/* A hint that the class has an answer to: the other answer is an error with this message. */
tw_status tw__linear_always(tw_linear_operator *self, tw__hint hint, bool answer, const char *otherwise);
/* A hint that follows from others, unless something else was said. */
void tw__linear_follows(tw_linear_operator *self, tw__hint hint, int answer);
int64_t tw__linear_said(const tw_linear_operator *self, tw__hint hint); /* as an argument: TW_NO_INT for TW_UNSAID */
int tw__linear_all(const tw_linear_operator *self, tw__hint hint);      /* 1 if it holds for all parts, else TW_UNSAID */
/* The name of an operator that is made of others: their names with `between` between them, `after` behind them. */
tw_status tw__linear_name(tw_linear_operator *self, const char *between, const char *after);

/* ---- using one (operator.c) ---- */
tw_tensor *tw__linear_value(tw__temps *t, const tw_linear_operator *self, int index); /* of a part */
tw_value tw__linear_given(const tw_linear_operator *self, int index);                 /* the part itself, or None */
int64_t tw__linear_static(const tw_linear_operator *self, int index, int64_t at); /* an element of a part; -1: not known yet */
tw_shape tw__linear_part_shape(const tw_linear_operator *self, int index);
tw_status tw__linear_shape(tw_linear_operator *self, tw_shape *shape);
tw_shape tw__linear_batch(tw_linear_operator *self); /* without the last two; rank -1 after a failure, too */
int tw__linear_hint(tw_linear_operator *self, tw__hint hint);
tw_tensor *tw__linear_result_of(tw__temps *t, tw_linear_operator *self, tw__linear_result result);
tw_tensor *tw__linear_matmul(tw__temps *t, tw_linear_operator *self, tw_tensor *x, bool adjoint, bool adjoint_arg);
tw_tensor *tw__linear_solve(tw__temps *t, tw_linear_operator *self, tw_tensor *rhs, bool adjoint, bool adjoint_arg);
tw_linear_operator *tw__linear_make(tw_linear_operator *self, tw__linear_made made);  /* a new reference */
tw_linear_operator *tw__linear_usual(tw_linear_operator *self, tw__linear_made made); /* as of any class; a new reference */
tw_value tw__linear_assert(tw_linear_operator *self, tw__hint hint);
/* Both with the batch dimensions of both. */
bool tw__linear_spread(tw__temps *t, tw_tensor **a, tw_tensor **b);
tw_tensor *tw__linear_filled(tw__temps *t, tw_tensor *sizes, tw_dtype dtype, double value);

/* ---- operators made of others (joined.c) ---- */
int64_t tw__linear_side(tw_linear_operator *self, int from_end); /* 2: rows, 1: columns; -1: not known */
tw_shape tw__linear_joint_batch(const tw_linear_operator *self); /* the batch dimensions of all parts together */
tw_value tw__linear_members(const tw_linear_operator *self);     /* a list of them */

static inline tw_tensor *tw__linear_dense(tw__temps *t, tw_linear_operator *self)
{
    return tw__linear_result_of(t, self, TW_LINEAR_DENSE);
}

/* The shape with these dimensions behind the last. */
static inline tw_shape tw__shape_with(tw_shape shape, int64_t rows, int64_t columns)
{
    if (shape.rank >= 0 && shape.rank + 2 <= TW_MAX_RANK) {
        shape.dims[shape.rank++] = rows;
        shape.dims[shape.rank++] = columns;
        return shape;
    }
    return TW_UNKNOWN_SHAPE;
}

/* What is known of a matrix: arguments of every class. */
#define TW_LINEAR_FACTS                                                                            \
    "is_non_singular: int = None, is_self_adjoint: int = None, is_positive_definite: int = None, " \
    "is_square: int = None"

#endif
