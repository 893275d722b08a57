/* The base class of linear operators: what is known of one, and what follows from it. The language's own classes are asked first,
 * then the class's table, then the dense matrix answers. */
#include "linear/linear.h"

#include "api/debugging/debugging.h"
#include "base/language.h"
#include "eager/eager.h"
#include "op/array/array.h"

/* ---- making one ---- */

static tw_status operator_init(void *self, const void *given)
{
    const tw_linear_operator_args *args = given;
    tw_linear_operator *linear = self;
    const int64_t said[] = { args->is_non_singular, args->is_self_adjoint, args->is_positive_definite, args->is_square };
    for (int i = 0; i < TW_HINTS; i++)
        linear->hints[i] = said[i] == TW_NO_INT ? TW_UNSAID : said[i] != 0;
    linear->dtype = args->dtype;
    return tw_class_of(self)->methods ? TW_OK : tw__linear_settle(linear); /* else the class does so, with what it knows */
}

static void operator_destroy(void *self)
{
    tw_linear_operator *linear = self;
    for (int i = 0; i < TW_LINEAR_PARTS; i++)
        tw_release(linear->parts[i]);
    for (int64_t i = 0; i < linear->count; i++)
        tw_release(linear->of[i]);
    tw__free(linear->of);
}

static void operator_visit(void *self, tw__visitor visitor, void *context)
{
    tw_linear_operator *linear = self;
    for (int i = 0; i < TW_LINEAR_PARTS; i++)
        visitor(context, linear->parts[i]);
    for (int64_t i = 0; i < linear->count; i++)
        visitor(context, &linear->of[i]->module.trackable.object);
}

TW_CLASS(linear_operator,
         "linalg.LinearOperator(dtype: dtype?, graph_parents: value = None, " TW_LINEAR_FACTS
         ", name: str = None, parameters: value = None) -> linear_operator",
         .parent = &tw__class_module, .size = sizeof(tw_linear_operator), .init = operator_init, .destroy = operator_destroy,
         .visit = operator_visit, .inert = " *",
         .doc = "A matrix, or a batch of matrices, that is known by its parts and acts on others; to be subclassed.\n"
                "dtype: the dtype of the matrix\n"
                "graph_parents: kept for old programs; the property of that name gives it back\n"
                "parameters: the arguments of the class below, as a dict");

tw_status tw__linear_part(tw_linear_operator *self, int index, const char *name, const tw_value *value, tw_dtype dtype)
{
    if (value->kind == TW_VALUE_NONE && index)
        return TW_OK;
    if (value->kind == TW_VALUE_NONE)
        return tw__fail(TW_VALUE_ERROR, "%s: argument %s is None, expected a tensor", tw_class_name(self), name);
    bool variable = value->kind == TW_VALUE_OBJECT && tw__is(value->object, &tw__class_variable);
    void *part = variable ? tw_retain(value->object) : tw__value_tensor(value, dtype, name);
    TW_NEED(part);
    self->parts[index] = part;
    dtype = variable ? ((tw_variable *)part)->resource->dtype : ((tw_tensor *)part)->dtype;
    self->dtype = self->dtype ? self->dtype : dtype;
    return variable ? tw__track(&self->module.trackable, name, part) : TW_OK;
}

tw_status tw__linear_need_rank(const tw_linear_operator *self, int index, const char *name, int least)
{
    if (!self->parts[index])
        return tw__fail(TW_VALUE_ERROR, "%s: argument %s is None, expected a tensor", tw_class_name(self), name);
    tw_shape shape = tw__linear_part_shape(self, index);
    if (shape.rank < 0 || shape.rank >= least)
        return TW_OK;
    return tw__fail(TW_VALUE_ERROR, "Argument `%s` must have at least %d dimension%s. Received one of shape %s.", name, least,
                    least == 1 ? "" : "s", tw__shape_text(&shape));
}

tw_status tw__linear_need_sizes(tw_linear_operator *self, int index, const char *name, int rank)
{
    tw_tensor *part = self->parts[index];
    if (!part)
        return TW_OK;
    if (!tw__is(part, &tw__tensor_class) || (!tw__dtype_is_integer(part->dtype) && part->count))
        return tw__fail(TW_TYPE_ERROR, "Argument %s must be integer type.  Found: %s", name,
                        tw__is(part, &tw__tensor_class) ? tw_dtype_name(part->dtype) : "a variable");
    if (part->shape.rank >= 0 && part->shape.rank != rank)
        return tw__fail(TW_VALUE_ERROR, "Argument %s must be a %d-D Tensor.  Found one of shape %s", name, rank,
                        tw__shape_text(&part->shape));
    for (int64_t i = 0; !part->node && i < part->count; i++) {
        if (tw_tensor_int_at(part, i) < 0)
            return tw__fail(TW_VALUE_ERROR, "Argument %s must be non-negative.  Found: %lld", name,
                            (long long)tw_tensor_int_at(part, i));
    }
    self->parts[index] = tw__cast(part, TW_INT32);
    tw_release(part);
    TW_NEED(self->parts[index]);
    return TW_OK;
}

tw_status tw__linear_of(tw_linear_operator *self, void *const *operators, int64_t count)
{
    self->of = tw__alloc_array((size_t)count + 1, sizeof *self->of);
    TW_NEED(self->of);
    for (int64_t i = 0; i < count; i++) {
        char name[32];
        snprintf(name, sizeof name, "operator_%lld", (long long)i);
        self->of[self->count++] = tw_retain(operators[i]);
        TW_TRY(tw__track(&self->module.trackable, name, operators[i]));
        if (self->of[i]->dtype != self->of[0]->dtype)
            return tw__fail(TW_TYPE_ERROR, "Expected all operators to have the same dtype: \"%s\" has %s, \"%s\" has %s",
                            self->of[0]->module.name, tw_dtype_name(self->of[0]->dtype), self->of[i]->module.name,
                            tw_dtype_name(self->of[i]->dtype));
    }
    self->dtype = self->of[0]->dtype;
    return TW_OK;
}

tw_status tw__linear_settle(tw_linear_operator *self)
{
    static const struct {
        tw__hint when, then;
        const char *otherwise;
    } rules[] = {
        { TW_POSITIVE_DEFINITE, TW_NON_SINGULAR, "A positive definite matrix is always non-singular." },
        { TW_NON_SINGULAR, TW_SQUARE, "A non-singular matrix is always square." },
        { TW_SELF_ADJOINT, TW_SQUARE, "A self-adjoint matrix is always square." },
    };
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++) {
        if (self->hints[rules[i].when] == 1)
            TW_TRY(tw__linear_always(self, rules[i].then, true, rules[i].otherwise));
    }
    return TW_OK;
}

tw_status tw__linear_always(tw_linear_operator *self, tw__hint hint, bool answer, const char *otherwise)
{
    if (self->hints[hint] == !answer)
        return tw__fail(TW_VALUE_ERROR, "%s", otherwise);
    self->hints[hint] = answer;
    return TW_OK;
}

void tw__linear_follows(tw_linear_operator *self, tw__hint hint, int answer)
{
    if (self->hints[hint] == TW_UNSAID)
        self->hints[hint] = (int8_t)answer;
}

int64_t tw__linear_said(const tw_linear_operator *self, tw__hint hint)
{
    return self->hints[hint] == TW_UNSAID ? TW_NO_INT : self->hints[hint];
}

int tw__linear_all(const tw_linear_operator *self, tw__hint hint)
{
    bool all = true;
    for (int64_t i = 0; i < self->count; i++)
        all &= tw__linear_hint(self->of[i], hint) == 1;
    return all ? 1 : TW_UNSAID;
}

tw_status tw__linear_name(tw_linear_operator *self, const char *between, const char *after)
{
    tw__text text = { 0 };
    for (int64_t i = 0; i < self->count; i++)
        tw__text_format(&text, "%s%s", i ? between : "", self->of[i]->module.name);
    tw__text_add(&text, after);
    char *name = tw__text_take(&text);
    TW_NEED(name);
    tw__free(self->module.name);
    self->module.name = name;
    return TW_OK;
}

/* ---- parts ---- */

tw_tensor *tw__linear_value(tw__temps *t, const tw_linear_operator *self, int index)
{
    void *part = self->parts[index];
    return part && tw__is(part, &tw__class_variable) ? tw__temp(t, tw__variable_read(part)) : part;
}

tw_shape tw__linear_part_shape(const tw_linear_operator *self, int index)
{
    void *part = self->parts[index];
    return tw__is(part, &tw__class_variable) ? ((tw_variable *)part)->resource->shape : ((tw_tensor *)part)->shape;
}

tw_value tw__linear_given(const tw_linear_operator *self, int index)
{
    void *part = self->parts[index];
    if (!part)
        return tw__nothing;
    return tw__is(part, &tw__class_variable) ? tw__value_of_object(tw_retain(part)) : tw__value_of_tensor(tw_retain(part));
}

int64_t tw__linear_static(const tw_linear_operator *self, int index, int64_t at)
{
    const tw_tensor *part = self->parts[index];
    const tw_tensor *known = !tw__is(part, &tw__tensor_class) ? NULL : part->node ? part->symbolic_value : part;
    return known && at < tw_tensor_count(known) ? tw_tensor_int_at(known, at) : -1;
}

bool tw__linear_spread(tw__temps *t, tw_tensor **a, tw_tensor **b)
{
    tw_tensor **both[] = { a, b }, *batch[2], *sides[2];
    if (!*a || !*b)
        return false;
    bool same = (*a)->shape.rank == (*b)->shape.rank && (*a)->shape.rank >= 2;
    for (int i = 0; same && i < (*a)->shape.rank - 2; i++)
        same = (*a)->shape.dims[i] == (*b)->shape.dims[i] && (*a)->shape.dims[i] >= 0;
    if (same)
        return true;
    for (int i = 0; i < 2; i++) {
        tw_tensor *shape = tw__temp_shape(t, *both[i], TW_INT32);
        batch[i] = shape ? tw__temp_slice(t, shape, TW_NO_INT, -2) : NULL;
        sides[i] = batch[i] ? tw__temp_slice(t, shape, -2, TW_NO_INT) : NULL;
    }
    tw_tensor *joint = sides[0] && sides[1] ? TW_TEMP(BroadcastArgs, batch[0], batch[1]) : NULL;
    for (int i = 0; i < 2; i++) {
        tw_tensor *shape = joint ? tw__temp_concat(t, (tw_tensor *[]){ joint, sides[i] }, 2, 0) : NULL;
        *both[i] = TW_TEMP(BroadcastTo, *both[i], shape);
    }
    return *a && *b;
}

tw_tensor *tw__linear_filled(tw__temps *t, tw_tensor *sizes, tw_dtype dtype, double value)
{
    tw_tensor *number = sizes ? tw__temp(t, tw_tensor_double(value)) : NULL;
    return TW_TEMP(Fill, sizes, tw__temp_cast(t, number, dtype));
}

/* ---- the language's own classes ---- */

/* The method of the operator's own class; *own: there is one. The result is the caller's. */
static tw_status own_method(tw_linear_operator *self, const char *name, tw_value *arguments, const char *const *flags,
                            const bool *values, tw_value *result, bool *own)
{
    tw_value named[4], dict = { .kind = TW_VALUE_DICT, .list = { named, 0 } };
    *own = false;
    *result = tw__nothing;
    if (!self->module.trackable.object.peer || !tw__language.method)
        return TW_OK;
    for (int i = 0; flags && i < 2 && flags[i]; i++) {
        named[dict.list.count++] = (tw_value){ .kind = TW_VALUE_STR, .s = { flags[i], strlen(flags[i]) } };
        named[dict.list.count++] = (tw_value){ .kind = TW_VALUE_BOOL, .b = values[i] };
    }
    return tw__language.method(self, name, arguments, dict.list.count ? &dict : NULL, result, own);
}

/* The same where the result is a tensor, which is left to t; NULL after a failure. False: there is no such method. */
static bool own_tensor(tw__temps *t, tw_linear_operator *self, const char *name, tw_tensor *x, const char *const *flags,
                       const bool *values, tw_tensor **tensor)
{
    tw_value result, one = x ? TW_LEAF(x) : tw__nothing, given = { .kind = TW_VALUE_TUPLE, .list = { &one, x != NULL } };
    bool own;
    tw_status status = own_method(self, name, &given, flags, values, &result, &own);
    *tensor = status == TW_OK && own ? tw__temp(t, tw__value_tensor(&result, self->dtype, name)) : NULL;
    tw_value_free(&result);
    return own || status != TW_OK;
}

static const char *const both_adjoint[] = { "adjoint", "adjoint_arg", NULL };

static const tw__linear_methods *methods_of(const tw_linear_operator *self)
{
    static const tw__linear_methods none;
    const tw__linear_methods *methods = tw__methods(self);
    return methods ? methods : &none;
}

static void *missing(const char *name)
{
    tw__fail(TW_NOT_IMPLEMENTED_ERROR, "%s is not implemented.", name);
    return NULL;
}

/* ---- shapes and hints ---- */

tw_status tw__linear_shape(tw_linear_operator *self, tw_shape *shape)
{
    tw_value result;
    bool own;
    tw_status status = own_method(self, "_shape", NULL, NULL, NULL, &result, &own);
    *shape = TW_UNKNOWN_SHAPE;
    if (status == TW_OK && own && result.kind == TW_VALUE_SHAPE)
        *shape = *result.shape;
    else if (status == TW_OK && own)
        status = tw__shape_of_value(&result, shape);
    tw_value_free(&result);
    if (status != TW_OK || own)
        return status;
    if (!methods_of(self)->shape)
        missing("_shape");
    TW_NEED(methods_of(self)->shape);
    *shape = methods_of(self)->shape(self);
    return TW_OK;
}

tw_shape tw__linear_batch(tw_linear_operator *self)
{
    tw_shape shape;
    if (tw__linear_shape(self, &shape) != TW_OK || shape.rank < 2)
        return TW_UNKNOWN_SHAPE;
    shape.rank -= 2;
    return shape;
}

int tw__linear_hint(tw_linear_operator *self, tw__hint hint)
{
    tw_shape shape;
    if (hint != TW_SQUARE || self->hints[TW_SQUARE] != TW_UNSAID || tw__linear_shape(self, &shape) != TW_OK || shape.rank < 2)
        return self->hints[hint];
    const int64_t *sides = &shape.dims[shape.rank - 2];
    return sides[0] < 0 || sides[1] < 0 ? TW_UNSAID : sides[0] == sides[1];
}

static tw_tensor *shape_tensor(tw__temps *t, tw_linear_operator *self)
{
    return methods_of(self)->shape ? tw__temp_shape(t, tw__linear_dense(t, self), TW_INT32) : missing("_shape_tensor");
}

/* ---- what follows from the dense matrix ---- */

static tw_tensor *dense(tw__temps *t, tw_linear_operator *self)
{
    tw_tensor *shape = tw__linear_result_of(t, self, TW_LINEAR_SHAPE_TENSOR);
    tw_tensor *sizes =
        shape
            ? tw__temp_concat(t,
                              (tw_tensor *[]){ tw__temp_slice(t, shape, TW_NO_INT, -2), tw__temp_slice(t, shape, -1, TW_NO_INT) },
                              2, 0)
            : NULL;
    tw_tensor *eye = tw__diag(t, tw__linear_filled(t, sizes, self->dtype, 1));
    tw_tensor *product;
    if (!eye)
        return NULL;
    if (methods_of(self)->matmul)
        return methods_of(self)->matmul(t, self, eye, false);
    bool own = own_tensor(t, self, "_matmul", eye, both_adjoint, (bool[]){ false, false }, &product);
    return own ? product : missing("_matmul");
}

static tw_tensor *diag_part(tw__temps *t, tw_linear_operator *self)
{
    return tw__diag_part(t, tw__linear_dense(t, self));
}

static tw_tensor *trace(tw__temps *t, tw_linear_operator *self)
{
    return tw__temp(t, tw__reduce_axis(&tw__op_Sum, tw__linear_result_of(t, self, TW_LINEAR_DIAG_PART), -1, false));
}

static tw_tensor *determinant(tw__temps *t, tw_linear_operator *self)
{
    return TW_TEMP(MatrixDeterminant, tw__linear_dense(t, self));
}

static tw_tensor *log_abs_determinant(tw__temps *t, tw_linear_operator *self)
{
    tw_tensor *made[2];
    return TW_TEMP_ALL(made, LogMatrixDeterminant, tw__linear_dense(t, self)) == TW_OK ? made[1] : NULL;
}

static tw_tensor *eigvals(tw__temps *t, tw_linear_operator *self)
{
    tw_tensor *matrix = tw__linear_dense(t, self);
    return matrix ? tw__temp(t, self->hints[TW_SELF_ADJOINT] == 1 ? tw_linalg_eigvalsh(matrix) : tw_linalg_eigvals(matrix))
                  : NULL;
}

static tw_tensor *cond(tw__temps *t, tw_linear_operator *self)
{
    tw_tensor *made[3], *matrix = tw__linear_dense(t, self);
    if (!matrix || TW_TEMP_ALL(made, Svd, matrix, TW_A_BOOL("compute_uv", false)) != TW_OK)
        return NULL;
    tw_tensor *values = tw__temp(t, tw_math_real(made[0]));
    return TW_TEMP(RealDiv, tw__temp(t, tw__reduce_axis(&tw__op_Max, values, -1, false)),
                   tw__temp(t, tw__reduce_axis(&tw__op_Min, values, -1, false)));
}

tw_tensor *tw__linear_result_of(tw__temps *t, tw_linear_operator *self, tw__linear_result result)
{
    static const struct {
        const char *name;
        tw_tensor *(*usual)(tw__temps *t, tw_linear_operator *self);
    } results[] = {
        [TW_LINEAR_DENSE] = { "_to_dense", dense },
        [TW_LINEAR_DIAG_PART] = { "_diag_part", diag_part },
        [TW_LINEAR_TRACE] = { "_trace", trace },
        [TW_LINEAR_DETERMINANT] = { "_determinant", determinant },
        [TW_LINEAR_LOG_ABS_DETERMINANT] = { "_log_abs_determinant", log_abs_determinant },
        [TW_LINEAR_EIGVALS] = { "_eigvals", eigvals },
        [TW_LINEAR_COND] = { "_cond", cond },
        [TW_LINEAR_SHAPE_TENSOR] = { "_shape_tensor", shape_tensor },
    };
    tw_shape shape;
    tw_tensor *tensor;
    if (result == TW_LINEAR_SHAPE_TENSOR) {
        if (tw__linear_shape(self, &shape) != TW_OK)
            return NULL;
        if (tw__shape_known(&shape))
            return tw__temp_ints(t, shape.dims, shape.rank, TW_INT32);
    }
    if (own_tensor(t, self, results[result].name, NULL, NULL, NULL, &tensor))
        return tensor;
    tw_tensor *(*better)(tw__temps * t, tw_linear_operator * self) = methods_of(self)->results[result];
    return (better ? better : results[result].usual)(t, self);
}

/* ---- products and solutions ---- */

static tw_tensor *act(tw__temps *t, tw_linear_operator *self, bool solve, tw_tensor *x, bool adjoint, bool adjoint_arg)
{
    tw_tensor *made;
    if (!x)
        return NULL;
    if (own_tensor(t, self, solve ? "_solve" : "_matmul", x, both_adjoint, (bool[]){ adjoint, adjoint_arg }, &made))
        return made;
    const tw__linear_methods *methods = methods_of(self);
    x = adjoint_arg ? tw__adjoint(t, x) : x;
    if (!x)
        return NULL;
    if (solve ? methods->solve : methods->matmul)
        return (solve ? methods->solve : methods->matmul)(t, self, x, adjoint);
    tw_tensor *matrix = tw__linear_dense(t, self);
    if (!solve)
        return tw__mm(t, matrix, x, adjoint, false);
    return tw__linear_spread(t, &matrix, &x) ? tw__solve(t, matrix, x, adjoint) : NULL;
}

tw_tensor *tw__linear_matmul(tw__temps *t, tw_linear_operator *self, tw_tensor *x, bool adjoint, bool adjoint_arg)
{
    return act(t, self, false, x, adjoint, adjoint_arg);
}

tw_tensor *tw__linear_solve(tw__temps *t, tw_linear_operator *self, tw_tensor *rhs, bool adjoint, bool adjoint_arg)
{
    return act(t, self, true, rhs, adjoint, adjoint_arg);
}

/* ---- other operators ---- */

static tw_linear_operator *cholesky(tw_linear_operator *self)
{
    TW_TEMPS(t);
    tw_tensor *factor = TW_TEMP(Cholesky, tw__linear_dense(t, self));
    return factor ? tw_linear_operator_lower_triangular(TW_LEAF(factor), .is_non_singular = true, .is_self_adjoint = false,
                                                        .is_square = true)
                  : NULL;
}

tw_linear_operator *tw__linear_make(tw_linear_operator *self, tw__linear_made made)
{
    static const char *const names[] = { "_linop_adjoint", "_linop_inverse", "_linop_cholesky" };
    tw_value result;
    bool own;
    tw_status status = own_method(self, names[made], NULL, NULL, NULL, &result, &own);
    bool good = result.kind == TW_VALUE_OBJECT && tw__is(result.object, &tw__class_linear_operator);
    tw_linear_operator *given = good ? tw_retain(result.object) : NULL;
    tw_value_free(&result);
    if (status == TW_OK && own && !given)
        tw__fail(TW_TYPE_ERROR, "%s gave something else than a LinearOperator", names[made]);
    if (status != TW_OK || own)
        return given;
    return methods_of(self)->made ? methods_of(self)->made(self, made) : tw__linear_usual(self, made);
}

tw_linear_operator *tw__linear_usual(tw_linear_operator *self, tw__linear_made made)
{
    return made == TW_LINEAR_ADJOINT   ? tw_linear_operator_adjoint(self)
           : made == TW_LINEAR_INVERSE ? tw_linear_operator_inversion(self)
                                       : cholesky(self);
}

/* ---- assertions ---- */

static tw_value not_singular(tw__temps *t, tw_linear_operator *self)
{
    double limit = self->dtype == TW_FLOAT16                                  ? 9.8e-4
                   : self->dtype == TW_FLOAT32 || self->dtype == TW_COMPLEX64 ? 1.2e-7
                                                                              : 2.3e-16;
    tw_tensor *number = tw__temp_cast(t, tw__linear_result_of(t, self, TW_LINEAR_COND), TW_FLOAT64);
    tw_tensor *most = number ? tw__temp(t, tw_tensor_double(1 / limit)) : NULL;
    return most ? tw_debugging_assert_less(number, most, .message = "Singular matrix up to precision epsilon.") : tw__nothing;
}

static tw_value definite(tw__temps *t, tw_linear_operator *self)
{
    if (self->hints[TW_SELF_ADJOINT] != 1) {
        tw__fail(TW_NOT_IMPLEMENTED_ERROR, "assert_positive_definite is not implemented.");
        return tw__nothing;
    }
    tw_tensor *diag = tw__diag_part(t, TW_TEMP(Cholesky, tw__linear_dense(t, self)));
    tw_tensor *real = diag ? tw__temp(t, tw_math_real(diag)) : NULL;
    return real ? tw_debugging_assert_positive(real, .message = "Matrix was not positive definite.") : tw__nothing;
}

static tw_value self_adjoint(tw__temps *t, tw_linear_operator *self)
{
    if (tw_class_of(self) == &tw__class_linear_operator_zeros)
        return tw__check_passed();
    tw_tensor *matrix = tw__linear_dense(t, self), *other = tw__adjoint(t, matrix);
    return other ? tw_debugging_assert_equal(matrix, other, .message = "Matrix was not equal to its adjoint.") : tw__nothing;
}

tw_value tw__linear_assert(tw_linear_operator *self, tw__hint hint)
{
    static const char *const names[] = { "_assert_non_singular", "_assert_self_adjoint", "_assert_positive_definite" };
    TW_TEMPS(t);
    tw_value result;
    bool own;
    const tw__linear_methods *methods = methods_of(self);
    if (own_method(self, names[hint], NULL, NULL, NULL, &result, &own) != TW_OK || own)
        return result;
    if (hint == TW_SELF_ADJOINT)
        return self_adjoint(t, self);
    if (hint == TW_NON_SINGULAR)
        return (methods->assert_non_singular ? methods->assert_non_singular : not_singular)(t, self);
    return (methods->assert_positive_definite ? methods->assert_positive_definite : definite)(t, self);
}
