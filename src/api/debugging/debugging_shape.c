/* tf.debugging.assert_rank and its kin: what is known of ranks and dtypes, with TensorFlow's texts; see debugging.c. A rank that
 * is known only when the graph runs is checked by an Assert node. */
#include "api/debugging/debugging.h"
#include "graph/graph.h"
#include "op/calls.h"
#include "rows.h"

static void add_name(tw__text *text, const tw_tensor *tensor)
{
    if (tensor->node)
        tw__check_name(text, tensor, 0);
}

static void add_ranks(tw__text *text, tw__rank_check kind, const int64_t *ranks, int64_t count)
{
    tw__text_add(text, kind == TW_RANK_AT_LEAST ? "at least " : kind == TW_RANK_IN ? "in (" : "");
    for (int64_t i = 0; i < count; i++)
        tw__text_format(text, "%s%lld", i ? ", " : "", (long long)ranks[i]);
    tw__text_add(text, kind == TW_RANK_IN ? ")" : "");
}

static tw_status read_rank(tw_tensor *rank, int64_t *value)
{
    if (rank->dtype != TW_INT32 && rank->dtype != TW_INT64) {
        tw__text name = { 0 };
        add_name(&name, rank);
        tw_status status = tw__fail(TW_TYPE_ERROR, "%s must be of type tf.int32; got tf.%s", name.data ? name.data : "tensor",
                                    tw_dtype_name(rank->dtype));
        tw__text_free(&name);
        return status;
    }
    tw_tensor *known = rank->node ? rank->symbolic_value : rank;
    if (!known)
        return tw__fail(TW_NOT_IMPLEMENTED_ERROR, "tf.debugging: a rank that is known only when the graph runs");
    return tw__tensor_read_ints(known, "rank", value, 1);
}

/* The rank is not known: an Assert node that computes it. */
static tw_value check_later(tw_tensor *x, tw__rank_check kind, const int64_t *ranks, int64_t count, const char *message)
{
    tw__text lead = { 0 }, text = { 0 };
    tw__check_data d = { 0 };
    tw__check_lead(&lead, message);
    tw__check_add_text(&d, &lead);
    tw__text_add(&text, "Tensor ");
    add_name(&text, x);
    tw__text_format(&text, " must have rank%s", kind == TW_RANK_AT_LEAST ? " at least" : kind == TW_RANK_IN ? " in" : "");
    tw__check_add_text(&d, &text);
    tw_auto tw_tensor *rank = TW_CALL(Rank, x), *wanted = rank ? tw__tensor_empty(TW_INT32, &TW_SHAPE(count)) : NULL;
    for (int64_t i = 0; wanted && i < count; i++) {
        ((int32_t *)wanted->data)[i] = (int32_t)ranks[i];
        tw__check_add_int(&d, ranks[i]);
    }
    tw__check_add_words(&d, "Received shape: ");
    tw__check_add(&d, TW_CALL(Shape, x));
    tw_auto tw_tensor *holds = !wanted                    ? NULL
                               : kind == TW_RANK_AT_LEAST ? tw_greater_equal(rank, wanted)
                                                          : tw_equal(rank, wanted);
    return tw__check_assert_all(holds ? tw_reduce_any(holds) : NULL, &d, TW_NO_INT);
}

tw_value tw__check_rank(tw_tensor *x, tw__rank_check kind, const int64_t *ranks, int64_t count, const char *message)
{
    bool holds = false;
    for (int64_t i = 0; i < count; i++)
        holds |= kind == TW_RANK_AT_LEAST ? x->shape.rank >= ranks[i] : x->shape.rank == ranks[i];
    if (x->shape.rank < 0)
        return check_later(x, kind, ranks, count, message);
    if (holds)
        return tw__check_passed();
    tw__text text = { 0 };
    tw__check_lead(&text, message);
    tw__text_add(&text, "Tensor ");
    add_name(&text, x);
    tw__text_add(&text, " must have rank ");
    add_ranks(&text, kind, ranks, count);
    tw__owned char *shape = tw__shape_tuple(&x->shape);
    tw__text_format(&text, ".  Received rank %d, shape %s", x->shape.rank, shape ? shape : "");
    return tw__check_refuse(TW_VALUE_ERROR, &text);
}

static tw_value check_given(tw_tensor *x, tw__rank_check kind, tw_tensors given, const char *message)
{
    int64_t ranks[16];
    if (given.count > 16) {
        tw__fail(TW_INVALID_ARGUMENT, "assert_rank_in: %lld ranks are too many", (long long)given.count);
        return tw__nothing;
    }
    for (int64_t i = 0; i < given.count; i++) {
        if (read_rank(given.items[i], &ranks[i]) != TW_OK)
            return tw__nothing;
    }
    return tw__check_rank(x, kind, ranks, given.count, message);
}

TW_API(debugging_assert_rank,
       "debugging.assert_rank|assert_rank(x: tensor, rank: tensor, message: str = None, name: str = None) -> value",
       "Raises an error unless x has that rank.\n"
       "rank: how many dimensions `x` must have\n"
       "raises: ValueError: it has another number")
{
    return check_given(args->x, TW_RANK_IS, TW_TENSORS(args->rank), args->message);
}

TW_API(debugging_assert_rank_at_least,
       "debugging.assert_rank_at_least(x: tensor, rank: tensor, message: str = None, name: str = None) -> value",
       "Raises an error unless x has at least that rank.\n"
       "rank: how many dimensions `x` must have at least\n"
       "raises: ValueError: it has fewer")
{
    return check_given(args->x, TW_RANK_AT_LEAST, TW_TENSORS(args->rank), args->message);
}

TW_API(debugging_assert_rank_in,
       "debugging.assert_rank_in(x: tensor, ranks: tensors, message: str = None, name: str = None) -> value",
       "Raises an error unless x has one of the ranks.\n"
       "ranks: the numbers of dimensions that are allowed\n"
       "raises: ValueError: `x` has another one")
{
    return check_given(args->x, TW_RANK_IN, args->ranks, args->message);
}

TW_API(debugging_assert_scalar,
       "debugging.assert_scalar|compat.v1.assert_scalar(tensor: tensor, message: str = None, name: str = None) -> value",
       "Raises an error unless it is a scalar.\n"
       "tensor: a tensor\n"
       "raises: ValueError: it has dimensions")
{
    if (args->tensor->shape.rank == 0)
        return tw__nothing;
    tw__text text = { 0 };
    tw__text_format(&text, "%sExpected scalar shape%s", args->message ? args->message : "", args->tensor->node ? " for " : "");
    add_name(&text, args->tensor);
    tw__owned char *shape = tw__shape_tuple(&args->tensor->shape);
    tw__text_format(&text, ", saw shape: %s.", shape ? shape : "");
    return tw__check_refuse(TW_VALUE_ERROR, &text);
}

TW_API(
    debugging_assert_type,
    "debugging.assert_type|compat.v1.assert_type(tensor: tensor, tf_type: dtype, message: str = None, name: str = None) -> value",
    "Raises an error unless the tensor has that dtype.\n"
    "tensor: a tensor\n"
    "tf_type: the dtype that it must have\n"
    "raises: TypeError: it has another one")
{
    if (args->tensor->dtype == args->tf_type)
        return tw__nothing;
    tw__text text = { 0 };
    tw__check_lead(&text, args->message);
    add_name(&text, args->tensor);
    tw__text_format(&text, "%s must be of type tf.%s; got tf.%s", args->tensor->node ? "" : "tensor",
                    tw_dtype_name(args->tf_type), tw_dtype_name(args->tensor->dtype));
    return tw__check_refuse(TW_TYPE_ERROR, &text);
}

TW_API(debugging_assert_integer, "debugging.assert_integer(x: tensor, message: str = None, name: str = None) -> value",
       "Raises an error unless x is of an integer dtype.")
{
    if (tw__dtype_is_integer(args->x->dtype))
        return tw__nothing;
    tw__text text = { 0 };
    tw__text_format(&text, "%s%sExpected \"x\" to be integer type.  Found: ", args->message ? args->message : "",
                    args->message ? "  " : "");
    add_name(&text, args->x);
    tw__text_format(&text, "%s of dtype <dtype: '%s'>", args->x->node ? "" : "tensor", tw_dtype_name(args->x->dtype));
    return tw__check_refuse(TW_TYPE_ERROR, &text);
}
