/* Which functions take ragged and sparse tensors, and how they are called with them; see ragged_call.h. Functions of single
 * elements, whose signatures say "tensor|ragged", run over the flat values; others have a form of their own (ragged_forms.h). */
#include "api/ragged/ragged_forms.h"
#include "api/sparse/sparse.h"
#include "rows.h"

/* ---- arguments ---- */

int tw__call_field(const tw_signature *row, tw_kind kind, int which)
{
    for (int i = 0; i < row->field_count; i++) {
        if (row->fields[i].kind == kind && which-- == 0)
            return i;
    }
    return -1;
}

/* The value of the tensor argument `which`: a composite, a tensor, or NULL if it was left out. */
void *tw__call_argument(const tw__composite_call *c, int which)
{
    int at = tw__call_field(c->row, TW_KIND_TENSOR, which);
    if (at < 0)
        return NULL;
    return c->mixed->values[at] ? c->mixed->values[at] : *(void *const *)(c->args + c->row->fields[at].offset);
}

/* Calls the row itself with tensors in the place of its first tensor arguments. */
tw_tensor *tw__call_with(const tw__composite_call *c, tw_tensor *const *tensors, int count)
{
    char *args = tw__alloc(c->row->args_size);
    if (!args)
        return NULL;
    memcpy(args, c->args, c->row->args_size);
    for (int i = 0; i < count; i++)
        *(tw_tensor **)(args + c->row->fields[tw__call_field(c->row, TW_KIND_TENSOR, i)].offset) = tensors[i];
    tw_value result = { .kind = TW_VALUE_NONE };
    tw_status status = tw_signature_invoke(c->row, args, &result);
    tw__free(args);
    if (status != TW_OK || result.kind != TW_VALUE_TENSOR) {
        tw_value_free(&result);
        return NULL;
    }
    return tw__temp(c->t, result.tensor);
}

int64_t tw__normal_axis(int64_t axis, int rank)
{
    if (axis >= -rank && axis < rank)
        return axis < 0 ? axis + rank : axis;
    tw__fail(TW_VALUE_ERROR, "axis=%lld out of bounds: expected %d<=axis<%d", (long long)axis, -rank, rank);
    return -1;
}

static void *only_ragged(void *value, const tw__composite_call *c)
{
    if (value && !tw__is_composite(value))
        return value;
    if (!value || tw__is_ragged(value))
        return value;
    tw__fail(TW_TYPE_ERROR, "%s: a SparseTensor is not supported here", c->row->id);
    return NULL;
}

/* ---- forms ---- */

static const struct {
    const char *id;
    void *(*call)(const tw__composite_call *c); /* NULL: it gives a list */
    bool sparse;
} functions[] = {
    { "concat", tw__ragged_concat_form, false },
    { "stack", tw__ragged_stack_form, false },
    { "gather", tw__ragged_gather_form, false },
    { "gather_nd", tw__ragged_gather_nd_form, false },
    { "where", tw__ragged_where_form, false },
    { "expand_dims", tw__ragged_expand_form, false },
    { "squeeze", tw__ragged_squeeze_form, false },
    { "tile", tw__ragged_tile_form, false },
    { "reverse", tw__ragged_reverse_form, false },
    { "rank", tw__ragged_rank_form, true },
    { "size", tw__ragged_size_form, true },
    { "shape", tw__ragged_shape_form, true },
    { "reshape", tw__ragged_reshape_form, false },
    { "nn_softmax", tw__ragged_softmax_form, false },
    { "nn_embedding_lookup", tw__ragged_embedding_form, false },
    { "math_cumsum", tw__ragged_cumsum_form, false },
    { "math_bincount", tw__ragged_bincount_form, true },
    { "split", NULL, false },
    { "add_n", tw__ragged_members_form, false },
    { "strings_join", tw__ragged_members_form, false },
    { "strings_reduce_join", tw__ragged_reduce_join_form, false },
    { "reduce_sum", tw__ragged_reduce_form, false },
    { "reduce_mean", tw__ragged_reduce_form, false },
    { "reduce_max", tw__ragged_reduce_form, false },
    { "reduce_min", tw__ragged_reduce_form, false },
    { "reduce_prod", tw__ragged_reduce_form, false },
    { "reduce_any", tw__ragged_reduce_form, false },
    { "reduce_all", tw__ragged_reduce_form, false },
    { "math_reduce_variance", tw__ragged_reduce_form, false },
    { "math_reduce_std", tw__ragged_reduce_form, false },
};

static int function_of(const tw_signature *row)
{
    for (size_t i = 0; i < sizeof functions / sizeof *functions; i++) {
        if (strcmp(functions[i].id, row->id) == 0)
            return (int)i;
    }
    return -1;
}

static bool takes_in_place(const tw_field *field, const void *composite)
{
    return tw__is_ragged(composite) ? field->ragged : field->sparse;
}

bool tw__takes_composite(const tw_signature *row, const void *composite)
{
    if (row->role != TW_ROLE_FUNCTION)
        return false;
    int own = function_of(row);
    if (own >= 0 && (tw__is_ragged(composite) || functions[own].sparse))
        return true;
    for (int i = 0; i < row->field_count; i++) {
        if (takes_in_place(&row->fields[i], composite))
            return true;
    }
    return false;
}

/* A function of single elements. */
static void *elementwise(const tw__composite_call *c)
{
    void *x = tw__call_argument(c, 0), *y = tw__call_argument(c, 1);
    if (x && tw__is(x, &tw__class_sparse_tensor)) {
        tw_sparse_tensor *sparse = x;
        tw_tensor *values = tw__call_with(c, &sparse->values, 1);
        const tw__composite_methods *methods = tw__methods(sparse);
        return values ? tw__temp(c->t, methods->with_values(sparse, values)) : NULL;
    }
    int second = tw__call_field(c->row, TW_KIND_TENSOR, 1);
    if (second < 0 || !c->row->fields[second].ragged) {
        if (!tw__is_ragged(x)) {
            tw__fail(TW_TYPE_ERROR, "%s: only the first argument may be ragged", c->row->id);
            return NULL;
        }
        tw_tensor *flat = tw__flat_values(x), *made = tw__call_with(c, &flat, 1);
        return made ? tw__temp_with_flat(c->t, x, made) : NULL;
    }
    if (!only_ragged(x, c) || !only_ragged(y, c) || !tw__values_match(c->t, &x, &y))
        return NULL;
    tw_tensor *made = tw__call_with(c, TW_IN(tw__flat_values(x), tw__flat_values(y)), 2);
    return made ? tw__temp_with_flat(c->t, tw__is_ragged(x) ? x : y, made) : NULL;
}

static tw_status check_taken(const tw_signature *row, const tw_field *field, const void *value)
{
    if (!value || !tw__is_composite(value) || tw__takes_composite(row, value))
        return TW_OK;
    return tw__fail(TW_VALUE_ERROR, "%s: the argument `%s` can't be a %s here", row->path, field->name, tw_class_name(value));
}

/* Whoever found that one of the values is taken need not have looked at the others. */
static tw_status check_all_taken(const tw__composite_call *c)
{
    for (int i = 0; i < c->row->field_count; i++) {
        if (c->mixed->values)
            TW_TRY(check_taken(c->row, &c->row->fields[i], c->mixed->values[i]));
        for (int64_t k = 0; c->mixed->lists && k < c->mixed->lists[i].count; k++)
            TW_TRY(check_taken(c->row, &c->row->fields[i], c->mixed->lists[i].items[k]));
    }
    return TW_OK;
}

tw_status tw__call_composite(const tw_signature *row, const void *args, const tw__mixed *mixed, tw_value *result)
{
    TW_TEMPS(t);
    tw__composite_call c = { t, row, args, mixed };
    TW_TRY(check_all_taken(&c));
    int own = function_of(row);
    if (own >= 0 && !functions[own].call)
        return tw__ragged_split_form(&c, result);
    void *made = tw__keep(t, own >= 0 ? functions[own].call(&c) : elementwise(&c));
    if (!made)
        return tw__error_status();
    *result = tw__is_composite(made) ? tw__value_of_object(made) : tw__value_of_tensor(made);
    return TW_OK;
}

/* ---- operators ---- */

/* The function of that path with values for its first arguments. */
static tw_value operate(const char *path, void *x, void *y)
{
    const tw_signature *row = tw_signature_find(path);
    tw_value result = { .kind = TW_VALUE_NONE };
    if (!row || !x || !y)
        return result;
    tw__owned char *args = tw__alloc_zero(row->args_size);
    tw__owned void **values = args ? tw__alloc_array((size_t)row->field_count, sizeof *values) : NULL;
    if (values) {
        tw_args_default(row, args);
        values[tw__call_field(row, TW_KIND_TENSOR, 0)] = x;
        if (tw__call_field(row, TW_KIND_TENSOR, 1) >= 0)
            values[tw__call_field(row, TW_KIND_TENSOR, 1)] = y;
        if (tw__call_composite(row, args, &(tw__mixed){ values, NULL }, &result) != TW_OK)
            result = (tw_value){ .kind = TW_VALUE_NONE };
    }
    return result;
}

TW_METHOD(ragged_tensor_operate,
          "RaggedTensor._operate(self: ragged_tensor, path: str, other: value = None, reflected: bool = False) -> value",
          "A function of the library, by its path, of this and another value; reflected: the other one stands first.")
{
    TW_TEMPS(t);
    void *other = args->other.kind == TW_VALUE_NONE
                      ? args->self
                      : tw__value_given(t, &args->other, tw__value_dtype(args->self), "RaggedTensor");
    const tw_signature *row = tw_signature_find(args->path);
    if (!row || !tw__takes_composite(row, args->self)) {
        tw__fail(TW_VALUE_ERROR, "RaggedTensor: there is no function %s of ragged tensors", args->path);
        other = NULL;
    }
    tw_value result = operate(args->path, args->reflected ? other : args->self, args->reflected ? args->self : other);
    return result;
}
