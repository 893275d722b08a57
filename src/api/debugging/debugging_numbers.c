/* tf.debugging about numbers: assert_near, dtypes, numbers that are finite. See debugging.c. */
#include "api/debugging/debugging.h"
#include "op/calls.h"
#include "eager/eager.h"
#include "rows.h"
#include "session/session.h"

/* ---- nearly equal ---- */

static tw_dtype real_of(tw_dtype dtype)
{
    return dtype == TW_COMPLEX64 ? TW_FLOAT32 : dtype == TW_COMPLEX128 ? TW_FLOAT64 : dtype;
}

/* "<tf.Tensor 'x:0' shape=(1,) dtype=int32>" in a graph. */
static void add_repr(tw__text *text, const tw_tensor *tensor, bool eager, int number)
{
    if (eager) {
        char *shown = tw_tensor_repr(tensor);
        tw__text_add(text, shown ? shown : "");
        tw__free(shown);
        return;
    }
    tw__text_add(text, "<tf.Tensor '");
    tw__check_name(text, tensor, number);
    tw__text_add(text, "' ");
    tw__check_label(text, tensor);
    tw__text_add(text, ">");
}

/* A tolerance as a message tells it; one that is no node yet has the name it will get. */
static void add_tolerance(tw__text *text, const tw_tensor *tensor, bool eager, const char *name)
{
    char *shown = eager ? tw_tensor_str(tensor) : tw__shape_tuple(&tensor->shape);
    if (eager) {
        tw__text_add(text, shown ? shown : "");
    } else {
        tw__text_add(text, "Tensor(\"");
        if (tensor->node)
            tw__check_name(text, tensor, 0);
        else
            tw__text_format(text, "assert_near/%s:0", name);
        tw__text_format(text, "\", shape=%s, dtype=%s)", shown ? shown : "", tw_dtype_name(tensor->dtype));
    }
    tw__free(shown);
}

/* Ten times the distance from 1 to the next number, unless one is given. */
static tw_tensor *tolerance(tw__temps *t, tw_tensor *given, tw_dtype dtype)
{
    if (given && tw__dtype_is_complex(given->dtype))
        given = TW_TEMP(Real, given, TW_A_TYPE("Tout", real_of(given->dtype)));
    if (given)
        return given;
    static const double bits[] = { 1.0 / 1024, 1.0 / 8388608, 1.0 / 4503599627370496 };
    tw_tensor *ten =
        tw__temp(t, tw_tensor_new(TW_FLOAT64, TW_SCALAR, &(double){ 10 * bits[dtype == TW_FLOAT64 ? 2 : dtype == TW_FLOAT32] }));
    return tw__temp_cast(t, ten, dtype);
}

TW_API(
    debugging_assert_near,
    "debugging.assert_near(x: tensor<first>, y: tensor<first>, rtol: tensor<first> = None, atol: tensor<first> = None, message: str = None, "
    "summarize: int = None, name: str = None) -> value",
    "Raises an error unless |x - y| < atol + rtol * |y| holds for all elements.")
{
    tw_tensor *x = args->x, *y = args->y;
    bool eager = tw__check_is_eager(x, y);
    tw_dtype dtype = real_of(x->dtype);
    tw__text text = { 0 };
    if (y->dtype != x->dtype) {
        tw__text_format(&text, "y: Tensor conversion requested dtype %s for Tensor with dtype %s: ", tw_dtype_name(x->dtype),
                        tw_dtype_name(y->dtype));
        add_repr(&text, y, eager, 1);
        return tw__check_refuse(TW_VALUE_ERROR, &text);
    }
    if (dtype != TW_FLOAT16 && dtype != TW_FLOAT32 && dtype != TW_FLOAT64) {
        const char *name = dtype == TW_STRING ? "object" : tw_dtype_name(dtype);
        tw__text_format(&text, "data type <class '%s.%s%s'> not inexact", dtype == TW_BFLOAT16 ? "ml_dtypes" : "numpy", name,
                        dtype == TW_STRING || dtype == TW_BOOL ? "_" : "");
        return tw__check_refuse(TW_VALUE_ERROR, &text);
    }
    TW_TEMPS(t);
    tw__outside outside = tw__outside_begin(); /* they are constants */
    tw_tensor *default_rtol = args->rtol ? NULL : tolerance(t, NULL, dtype),
              *default_atol = args->atol ? NULL : tolerance(t, NULL, dtype);
    tw__outside_end(outside);
    tw_tensor *rtol = args->rtol ? tolerance(t, args->rtol, dtype) : default_rtol,
              *atol = args->atol ? tolerance(t, args->atol, dtype) : default_atol;
    tw_value out = tw__nothing;
    if (rtol && atol) {
        tw_tensor *size = tw__temp(t, tw_abs(y)), *limit = TW_TEMP(AddV2, atol, TW_TEMP(Mul, rtol, size));
        tw_tensor *difference = limit ? TW_TEMP(Sub, x, y) : NULL,
                  *distance = difference ? tw__temp(t, tw_abs(difference)) : NULL;
        tw__text lead = { 0 };
        tw__check_data d = { 0 };
        tw__check_lead(&lead, args->message);
        tw__check_add_text(&d, &lead);
        tw__text_add(&text, "x and y not equal to tolerance rtol = ");
        add_tolerance(&text, rtol, eager, "rtol");
        tw__text_add(&text, ", atol = ");
        add_tolerance(&text, atol, eager, "atol");
        tw__check_add_text(&d, &text);
        tw__check_add_tensor(&d, "x", x, 0);
        tw__check_add_tensor(&d, "y", y, 1);
        out = tw__check_assert_all(TW_CALL(Less, distance, limit), &d, args->summarize);
    }
    return out;
}

/* ---- dtypes ---- */

TW_API(debugging_is_numeric_tensor, "debugging._is_numeric_tensor(tensor: tensor) -> bool", "Whether the elements are numbers.")
{
    tw_dtype dtype = args->tensor->dtype;
    return tw__dtype_is_float(dtype) || tw__dtype_is_complex(dtype) || tw__dtype_is_integer(dtype);
}

/* What a message calls a tensor or variable; its dtype. */
static tw_dtype dtype_of(const tw_value *value, tw__text *name)
{
    if (value->kind == TW_VALUE_OBJECT && tw__is(value->object, &tw__class_variable)) {
        tw__text_add(name, ((tw_variable *)value->object)->name);
        return ((tw_variable *)value->object)->resource->dtype;
    }
    if (value->kind != TW_VALUE_TENSOR) {
        static const char *const kinds[] = { "NoneType", "bool", "int", "float", "str", "bytes" };
        tw__fail(TW_ATTRIBUTE_ERROR, "'%s' object has no attribute 'dtype'",
                 value->kind <= TW_VALUE_BYTES ? kinds[value->kind] : "list");
        return TW_DTYPE_NONE;
    }
    tw__owned char *shown = value->tensor->node ? NULL : tw_tensor_str(value->tensor);
    if (shown)
        tw__text_add(name, shown);
    else
        tw__check_name(name, value->tensor, 0);
    return value->tensor->dtype;
}

TW_API(debugging_assert_same_float_dtype,
       "debugging.assert_same_float_dtype|compat.v1.assert_same_float_dtype(tensors: value = None, dtype: dtype = None) -> dtype",
       "Raises an error unless all have one dtype, a float; that dtype.\n"
       "tensors: a list of tensors; None: only `dtype` is looked at\n"
       "dtype: the dtype that they must have; None: any float\n"
       "raises: ValueError: they differ, or are no floats")
{
    bool list = args->tensors.kind == TW_VALUE_LIST || args->tensors.kind == TW_VALUE_TUPLE;
    tw_dtype wanted = args->dtype;
    tw__text first = { 0 }, name = { 0 };
    tw_status status = TW_OK;
    for (int64_t i = 0; list && i < args->tensors.list.count && status == TW_OK; i++) {
        const tw_value *item = &args->tensors.list.items[i];
        if (item->kind == TW_VALUE_NONE)
            continue;
        tw__text_clear(&name);
        tw_dtype dtype = dtype_of(item, &name);
        if (dtype == TW_DTYPE_NONE) {
            status = tw_error_code();
        } else if (wanted == TW_DTYPE_NONE) {
            wanted = dtype;
            tw__text_add(&first, name.data);
        } else if (wanted != dtype) {
            status = tw__fail(TW_VALUE_ERROR, "%s, type=<dtype: '%s'>, must be of the same type (<dtype: '%s'>)%s%s.",
                              name.data ? name.data : "", tw_dtype_name(dtype), tw_dtype_name(wanted), first.size ? " as " : "",
                              first.size ? first.data : "");
        }
    }
    tw__text_free(&first);
    tw__text_free(&name);
    if (status == TW_OK && wanted != TW_DTYPE_NONE && !tw__dtype_is_float(wanted))
        status = tw__fail(TW_VALUE_ERROR, "Expected floating point type, got <dtype: '%s'>.", tw_dtype_name(wanted));
    return status != TW_OK ? TW_DTYPE_NONE : wanted == TW_DTYPE_NONE ? TW_FLOAT32 : wanted;
}

/* ---- finite numbers ---- */

TW_API(debugging_assert_all_finite, "debugging.assert_all_finite(x: tensor, message: str, name: str = None) -> tensor",
       "x; an error if an element is infinite or not a number.")
{
    tw__part part = tw__part_begin(args->name, "VerifyFinite");
    tw_attr message = TW_A_STRING("message", args->message ? args->message : "");
    tw_auto tw_tensor *checked = tw__part_call(&part, "CheckNumerics", &tw__op_CheckNumerics, TW_IN(args->x), 1, &message, 1);
    tw_tensor *out = checked ? tw__part_call(&part, "control_dependency", &tw__op_Identity, TW_IN(args->x), 1, NULL, 0) : NULL;
    if (out && out->node && checked->node && tw__node_follow(out->node, checked->node) != TW_OK) {
        tw_release(out);
        out = NULL;
    }
    return tw__part_result(&part, out);
}
