/* tf.debugging.assert_*: checks with TensorFlow's texts.
 *
 * Eagerly a check fails at once. In a graph what is known while tracing is checked then; for the rest an Assert node is made,
 * which runs at its place in the program's order, and the check gives that operation. */
#include "api/debugging/debugging.h"
#include "eager/eager.h"
#include "op/calls.h"
#include "rows.h"
#include "session/session.h"

enum { SUMMARY = 3 };

/* The value, borrowed, if it is known now; else NULL. */
static tw_tensor *known(tw_tensor *tensor)
{
    return tensor->node ? tensor->symbolic_value : tensor;
}

bool tw__check_is_eager(const tw_tensor *x, const tw_tensor *y)
{
    return !tw__tracing && !x->node && (!y || !y->node);
}

/* ---- texts ---- */

void tw__check_name(tw__text *text, const tw_tensor *tensor, int number)
{
    if (tensor->node)
        tw__text_format(text, "%s:%d", tensor->node->name, tensor->node_output);
    else if (number)
        tw__text_format(text, "Const_%d:0", number);
    else
        tw__text_add(text, "Const:0");
}

void tw__check_label(tw__text *text, const tw_tensor *tensor)
{
    char *tuple = tw__shape_tuple(&tensor->shape);
    text->failed |= !tuple;
    tw__text_format(text, "shape=%s dtype=%s", tuple ? tuple : "", tw_dtype_name(tensor->dtype));
    tw__free(tuple);
}

void tw__check_lead(tw__text *text, const char *message)
{
    if (message && *message)
        tw__text_format(text, "%s.  ", message);
}

/* The elements at these places (NULL: the first ones) as a vector. */
static tw_tensor *elements(const tw_tensor *tensor, const int64_t *places, int64_t count)
{
    tw_tensor *out = tw__tensor_empty(tensor->dtype, &TW_SHAPE(count));
    size_t size = tw__element_size(tensor->dtype);
    for (int64_t i = 0; out && i < count; i++) {
        int64_t at = places ? places[i] : i;
        if (tensor->dtype != TW_STRING) {
            memcpy((char *)out->data + (size_t)i * size, (const char *)tensor->data + (size_t)at * size, size);
        } else {
            tw_string s = tw_tensor_string_at(tensor, at);
            if (tw__string_set(out, i, s.data, s.size) != TW_OK) {
                tw_release(out);
                return NULL;
            }
        }
    }
    return out;
}

static void add_array(tw__text *text, tw_tensor *taken)
{
    text->failed |= !taken || tw__print_elements(text, taken, " ", 0) != TW_OK;
    tw_release(taken);
}

tw_value tw__check_refuse(tw_status code, tw__text *text)
{
    tw__fail(code, "%s", text->data ? text->data : "");
    tw__text_free(text);
    return tw__nothing;
}

/* ---- operations of a graph ---- */

tw_value tw__last_operation(void)
{
    if (!tw__tracing)
        return tw__nothing;
    struct tw_operation *operation = tw__operation_of(tw__tracing->nodes[tw__tracing->node_count - 1]);
    return operation ? (tw_value){ .kind = TW_VALUE_OBJECT, .object = operation } : tw__nothing;
}

tw_value tw__check_passed(void)
{
    tw_tensor *none[1];
    int count = 0;
    if (!tw__tracing || tw__apply(&tw__op_NoOp, NULL, 0, NULL, 0, none, &count) != TW_OK)
        return tw__nothing;
    return tw__last_operation();
}

tw_value tw__check_assert(tw_tensor *condition, tw_tensor *const *data, int64_t count, int64_t summarize)
{
    tw_tensor *none[1], **inputs = tw__alloc_array((size_t)count + 1, sizeof *inputs);
    if (!inputs)
        return tw__nothing;
    inputs[0] = condition;
    for (int64_t i = 0; i < count; i++)
        inputs[i + 1] = data[i];
    tw_attr attrs[] = { TW_A_INT("summarize", summarize == TW_NO_INT ? SUMMARY : summarize) };
    int outputs = 0;
    tw_status status = tw__apply(&tw__op_Assert, inputs, (int)count + 1, attrs, 1, none, &outputs);
    tw__free(inputs);
    return status == TW_OK ? tw__last_operation() : tw__nothing;
}

void tw__check_add(tw__check_data *data, tw_tensor *taken)
{
    data->failed |= !taken || data->count == TW_CHECK_DATA;
    if (taken && data->count < TW_CHECK_DATA)
        data->items[data->count++] = taken;
    else
        tw_release(taken);
}

void tw__check_add_text(tw__check_data *data, tw__text *text)
{
    tw__check_add(data, text->failed ? NULL : tw_tensor_string(text->data ? text->data : "", text->size));
    tw__text_free(text);
}

void tw__check_add_words(tw__check_data *data, const char *words)
{
    tw__check_add(data, tw_tensor_string(words, strlen(words)));
}

void tw__check_add_int(tw__check_data *data, int64_t value)
{
    tw__check_add(data, tw_tensor_new(TW_INT32, TW_SCALAR, &(int32_t){ (int32_t)value }));
}

void tw__check_add_tensor(tw__check_data *data, const char *what, tw_tensor *tensor, int number)
{
    tw__text text = { 0 };
    tw__text_format(&text, "%s (", what);
    if (tw__check_is_eager(tensor, NULL))
        tw__check_label(&text, tensor);
    else
        tw__check_name(&text, tensor, number);
    tw__text_add(&text, ") = ");
    tw__check_add_text(data, &text);
    tw__check_add(data, tw_retain(tensor));
}

tw_value tw__check_assert_all(tw_tensor *holds, tw__check_data *data, int64_t summarize)
{
    tw_auto tw_tensor *condition = holds ? tw_reduce_all(holds) : NULL;
    tw_release(holds);
    tw_value out = tw__nothing;
    if (condition && !data->failed)
        out = tw__impl_debugging_assert(
            &(tw_debugging_assert_args){ .condition = condition, .data = { data->items, data->count }, .summarize = summarize });
    for (int i = 0; i < data->count; i++)
        tw_release(data->items[i]);
    return out;
}

TW_API(debugging_assert,
       "debugging.Assert|Assert(condition: tensor, data: tensors, summarize: int = None, name: str = None) -> value",
       "An error that tells the data, unless the condition is true.\n"
       "condition: a boolean\n"
       "data: tensors that the message shows\n"
       "raises: InvalidArgumentError: the condition is false")
{
    bool eager = tw__check_is_eager(args->condition, NULL);
    for (int64_t i = 0; i < args->data.count; i++)
        eager &= !args->data.items[i]->node;
    if (!eager) {
        tw_value operation = tw__check_assert(args->condition, args->data.items, args->data.count, args->summarize);
        if (operation.kind == TW_VALUE_OBJECT && args->name &&
            tw__node_rename(tw__tracing->nodes[tw__tracing->node_count - 1], args->name) != TW_OK)
            tw_value_free(&operation);
        return operation;
    }
    if (args->condition->count == 1 && tw_tensor_int_at(args->condition, 0))
        return tw__nothing;
    char *shown = tw_tensor_str(args->condition);
    tw__text text = { 0 };
    tw__text_format(&text, "Expected '%s' to be true. Summarized data: ", shown ? shown : "");
    tw__free(shown);
    int64_t limit = args->summarize == TW_NO_INT ? SUMMARY : args->summarize;
    for (int64_t i = 0; i < args->data.count; i++) {
        const tw_tensor *tensor = args->data.items[i];
        int64_t count = limit < 0 || limit > tensor->count ? tensor->count : limit;
        tw__text_add(&text, i ? "\n" : "");
        for (int64_t k = 0; k < count; k++) {
            tw__text_add(&text, k ? ", " : "");
            tw__print_scalar(&text, tensor, k);
        }
        tw__text_add(&text, count < tensor->count ? ", ..." : "");
    }
    return tw__check_refuse(TW_INVALID_ARGUMENT, &text);
}

/* ---- two tensors ---- */

static bool all_true(const tw_tensor *holds)
{
    bool all = true;
    for (int64_t i = 0; i < holds->count; i++)
        all &= ((const bool *)holds->data)[i];
    return all;
}

/* What differs, for values that are there. */
static tw_value tell_difference(const char *sign, const tw_tensor *x, const tw_tensor *y, const tw_tensor *holds,
                                const char *message, int64_t summarize)
{
    tw__text text = { 0 };
    int64_t limit = summarize == TW_NO_INT ? SUMMARY : summarize < 0 ? INT64_MAX : summarize;
    tw__text_format(&text, "%s\nCondition x %s y did not hold.\n", message ? message : "", sign);
    if (tw__shape_equal(&x->shape, &y->shape)) {
        int64_t *places = tw__alloc_array((size_t)holds->count + 1, sizeof *places), count = 0;
        for (int64_t i = 0; places && i < holds->count && count < limit; i++) {
            if (!((const bool *)holds->data)[i])
                places[count++] = i;
        }
        tw_tensor *indices = places ? tw__tensor_empty(TW_INT64, &TW_SHAPE(count, x->shape.rank)) : NULL;
        for (int64_t i = 0; indices && i < count; i++) {
            int64_t rest = places[i];
            for (int d = x->shape.rank - 1; d >= 0; d--) {
                ((int64_t *)indices->data)[i * x->shape.rank + d] = rest % x->shape.dims[d];
                rest /= x->shape.dims[d];
            }
        }
        tw__text_format(&text, "Indices of first %lld different values:\n", (long long)count);
        add_array(&text, indices);
        tw__text_add(&text, "\nCorresponding x values:\n");
        add_array(&text, places ? elements(x, places, count) : NULL);
        tw__text_add(&text, "\nCorresponding y values:\n");
        add_array(&text, places ? elements(y, places, count) : NULL);
        tw__text_add(&text, "\n");
        tw__free(places);
    }
    for (int i = 0; i < 2; i++) {
        const tw_tensor *tensor = i ? y : x;
        int64_t count = tensor->count < limit ? tensor->count : limit;
        tw__text_format(&text, "First %lld elements of %s:\n", (long long)count, i ? "y" : "x");
        add_array(&text, elements(tensor, NULL, count));
        tw__text_add(&text, "\n");
    }
    return tw__check_refuse(TW_INVALID_ARGUMENT, &text);
}

/* In a graph, of values that are known: fails with them. */
static tw_value tell_known(const char *lead, const char *text_before, tw_tensor *x, tw_tensor *y)
{
    tw__text text = { 0 };
    tw__text_format(&text, "%s%sx (", lead, text_before);
    tw__check_name(&text, x, 0);
    tw__text_add(&text, ") = \n");
    add_array(&text, tw_retain(known(x)));
    if (y) {
        tw__text_add(&text, "\ny (");
        tw__check_name(&text, y, 1);
        tw__text_add(&text, ") = \n");
        add_array(&text, tw_retain(known(y)));
    }
    return tw__check_refuse(TW_INVALID_ARGUMENT, &text);
}

static tw_value compare(const tw_op *op, const char *sign, tw_tensor *x, tw_tensor *y, const char *message, int64_t summarize)
{
    tw_tensor *one = known(x), *other = known(y);
    bool eager = tw__check_is_eager(x, y);
    if (one && other && one->dtype == other->dtype) {
        tw__outside outside = eager ? (tw__outside){ 0 } : tw__outside_begin();
        tw_auto tw_tensor *holds = tw__call(op, TW_IN(one, other), 2, NULL, 0);
        if (!eager)
            tw__outside_end(outside);
        if (!holds)
            return tw__nothing;
        if (all_true(holds))
            return tw__check_passed();
        if (eager)
            return tell_difference(sign, x, y, holds, message, summarize);
        tw__text lead = { 0 }, what = { 0 };
        if (message && *message)
            tw__text_format(&lead, "%s\n", message);
        tw__text_format(&what, "Condition x %s y did not hold element-wise:\n", sign);
        tw_value out = tell_known(lead.data ? lead.data : "", what.data ? what.data : "", x, y);
        tw__text_free(&lead);
        tw__text_free(&what);
        return out;
    }
    tw_tensor *holds = tw__call(op, TW_IN(x, y), 2, NULL, 0);
    if (!holds)
        return tw__nothing;
    tw__check_data d = { 0 };
    if (message && *message)
        tw__check_add_words(&d, message);
    tw__text what = { 0 };
    tw__text_format(&what, "Condition x %s y did not hold element-wise:", sign);
    tw__check_add_text(&d, &what);
    tw__check_add_tensor(&d, "x", x, 0);
    tw__check_add_tensor(&d, "y", y, 1);
    return tw__check_assert_all(holds, &d, summarize);
}

#define COMPARISON(op_, sign_) compare(&tw__op_##op_, sign_, args->x, args->y, args->message, args->summarize)

TW_API(
    debugging_assert_equal,
    "debugging.assert_equal|assert_equal(x: tensor, y: tensor, message: str = None, summarize: int = None, name: str = None) -> value",
    "Raises an error unless x == y holds for all elements.")
{
    return COMPARISON(Equal, "==");
}

TW_API(debugging_assert_none_equal,
       "debugging.assert_none_equal(x: tensor, y: tensor, summarize: int = None, message: str = None, name: str = None) -> value",
       "Raises an error unless x != y holds for all elements.")
{
    return COMPARISON(NotEqual, "!=");
}

TW_API(
    debugging_assert_less,
    "debugging.assert_less|assert_less(x: tensor, y: tensor, message: str = None, summarize: int = None, name: str = None) -> value",
    "Raises an error unless x < y holds for all elements.")
{
    return COMPARISON(Less, "<");
}

TW_API(debugging_assert_less_equal,
       "debugging.assert_less_equal(x: tensor, y: tensor, message: str = None, summarize: int = None, name: str = None) -> value",
       "Raises an error unless x <= y holds for all elements.")
{
    return COMPARISON(LessEqual, "<=");
}

TW_API(
    debugging_assert_greater,
    "debugging.assert_greater|assert_greater(x: tensor, y: tensor, message: str = None, summarize: int = None, name: str = None) -> value",
    "Raises an error unless x > y holds for all elements.")
{
    return COMPARISON(Greater, ">");
}

TW_API(
    debugging_assert_greater_equal,
    "debugging.assert_greater_equal(x: tensor, y: tensor, message: str = None, summarize: int = None, name: str = None) -> value",
    "Raises an error unless x >= y holds for all elements.")
{
    return COMPARISON(GreaterEqual, ">=");
}

/* ---- signs ---- */

/* `words` are those of the text; some end in a line break, as TensorFlow's. */
static tw_value sign(const tw_op *op, const char *words, tw_tensor *x, const char *message, int64_t summarize)
{
    tw_auto tw_tensor *zero = tw_tensor_new(x->dtype, TW_SCALAR, NULL);
    if (!zero)
        return tw__nothing;
    tw_tensor *value = known(x);
    bool eager = tw__check_is_eager(x, NULL);
    if (value) {
        tw__outside outside = eager ? (tw__outside){ 0 } : tw__outside_begin();
        tw_auto tw_tensor *holds = tw__call(op, TW_IN(value, zero), 2, NULL, 0);
        if (!eager)
            tw__outside_end(outside);
        if (!holds || all_true(holds))
            return holds ? tw__check_passed() : tw__nothing;
        tw__text text = { 0 };
        tw__check_lead(&text, message);
        tw__text_add(&text, "\n");
        if (!eager) {
            tw_value out = tell_known(text.data ? text.data : "", words, x, NULL);
            tw__text_free(&text);
            return out;
        }
        tw__text_format(&text, "%sx (", words);
        tw__check_label(&text, x);
        tw__text_add(&text, ") = \n[");
        int64_t limit = summarize == TW_NO_INT ? SUMMARY : summarize < 0 ? INT64_MAX : summarize;
        for (int64_t i = 0; i < x->count && i < limit; i++) {
            tw__text_add(&text, i ? ", '" : "'");
            tw__print_scalar(&text, x, i);
            tw__text_add(&text, "'");
        }
        tw__text_add(&text, x->count > limit ? ", '...']" : "]");
        return tw__check_refuse(TW_INVALID_ARGUMENT, &text);
    }
    tw__check_data d = { 0 };
    tw__text lead = { 0 }, what = { 0 };
    tw__check_lead(&lead, message);
    tw__check_add_text(&d, &lead);
    tw__text_bytes(&what, words, strcspn(words, "\n"));
    tw__check_add_text(&d, &what);
    tw__check_add_tensor(&d, "x", x, 0);
    return tw__check_assert_all(tw__call(op, TW_IN(x, zero), 2, NULL, 0), &d, summarize);
}

TW_API(debugging_assert_positive,
       "debugging.assert_positive(x: tensor, message: str = None, summarize: int = None, name: str = None) -> value",
       "Raises an error unless all elements are positive.")
{
    return sign(&tw__op_Greater, "Condition x > 0 did not hold element-wise:\n", args->x, args->message, args->summarize);
}

TW_API(debugging_assert_negative,
       "debugging.assert_negative(x: tensor, message: str = None, summarize: int = None, name: str = None) -> value",
       "Raises an error unless all elements are negative.")
{
    return sign(&tw__op_Less, "Condition x < 0 did not hold element-wise:\n", args->x, args->message, args->summarize);
}

TW_API(debugging_assert_non_positive,
       "debugging.assert_non_positive(x: tensor, message: str = None, summarize: int = None, name: str = None) -> value",
       "Raises an error if an element is positive.")
{
    return sign(&tw__op_LessEqual, "Condition x <= 0 did not hold element-wise:", args->x, args->message, args->summarize);
}

TW_API(debugging_assert_non_negative,
       "debugging.assert_non_negative(x: tensor, message: str = None, summarize: int = None, name: str = None) -> value",
       "Raises an error if an element is negative.")
{
    return sign(&tw__op_GreaterEqual, "Condition x >= 0 did not hold element-wise:\n", args->x, args->message, args->summarize);
}
