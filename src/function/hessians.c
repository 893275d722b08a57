/* tf.hessians: second derivatives in graphs. The first derivative is gone through element by element, by a loop whose body takes
 * the derivative of one element and writes it into a TensorArray. */
#include "function/control.h"
#include "function/tensor_array.h"
#include "op/calls.h"
#include "rows.h"

typedef struct hessian {
    tw__part part;
    void *x;                /* a tensor or variable */
    tw_tensor *value;       /* of x */
    tw_tensor *rows;        /* the first derivative as a vector */
    tw_tensor *count;       /* how many elements that has */
    tw_tensor_array *array; /* of the second derivatives */
} hessian;

static tw_tensors derivatives(tw_objects ys, tw_objects xs, const char *unconnected)
{
    tw_gradients_args args;
    tw_args_default(&tw__signature_gradients, &args);
    args.ys = ys;
    args.xs = xs;
    args.unconnected_gradients = unconnected;
    return tw__impl_gradients(&args);
}

static tw_status more_elements(void *context, tw_tensor *const *values, __attribute__((unused)) int count, tw_tensor ***outputs,
                               int *output_count)
{
    const hessian *h = context;
    *outputs = tw__alloc_array(2, sizeof **outputs);
    *output_count = *outputs ? 1 : 0;
    if (*outputs)
        (*outputs)[0] = TW_CALL(Less, values[0], h->count);
    return *outputs && (*outputs)[0] ? TW_OK : tw__error_status();
}

static tw_status derive_element(void *context, tw_tensor *const *values, int count, tw_tensor ***outputs, int *output_count)
{
    const hessian *h = context;
    tw_auto tw_tensor *axis = tw_tensor_int(0), *one = tw_tensor_int(1);
    tw_auto tw_tensor *element = TW_CALL(GatherV2, h->rows, values[0], axis);
    tw_tensors row = element ? derivatives(TW_OBJECTS(element), TW_OBJECTS(h->x), "zero") : (tw_tensors){ NULL, 0 };
    tw_auto tw_tensor_array *array = row.count == 1 ? tw__array_with(h->array, values[1]) : NULL;
    tw_auto tw_tensor_array *written = array ? tw__array_write(array, values[0], row.items[0], NULL) : NULL;
    tw_tensors_free(&row);
    *outputs = tw__alloc_array((size_t)count + 1, sizeof **outputs);
    *output_count = *outputs ? count : 0;
    if (!*outputs || !written || !one)
        return tw__error_status();
    (*outputs)[0] = TW_CALL(AddV2, values[0], one);
    (*outputs)[1] = tw__array_flow(written);
    return (*outputs)[0] && (*outputs)[1] ? TW_OK : tw__error_status();
}

/* A tensor's shape or size: a constant of that name if it is known. */
static tw_tensor *known_or(const tw__part *part, bool size, tw_tensor *tensor)
{
    int64_t count;
    const tw_op *op = size ? &tw__op_Size : &tw__op_Shape;
    if (!tw__shape_known(&tensor->shape) || tw__shape_count(&tensor->shape, &count) != TW_OK || count > INT32_MAX)
        return tw__part_call(part, op->name, op, &tensor, 1, NULL, 0);
    tw_auto tw_tensor *value = size ? tw_tensor_int((int32_t)count) : tw__tensor_of_shape(&tensor->shape, TW_INT32);
    return tw__part_constant(part, value, op->name);
}

static tw_tensor *loop_over(hessian *h, tw_tensor *gradient)
{
    const tw__part *part = &h->part;
    tw_auto tw_tensor *flat = tw_tensor_new(TW_INT32, TW_SHAPE(1), &(int32_t){ -1 }), *zero = tw_tensor_int(0),
                      *axis = tw_tensor_int(0);
    h->rows = flat ? tw__part_call(part, "Reshape", &tw__op_Reshape, TW_IN(gradient, flat), 2, NULL, 0) : NULL;
    h->count = h->rows ? known_or(part, true, h->rows) : NULL;
    tw_auto tw_tensor *start = h->count && zero ? tw__part_constant(part, zero, "Const") : NULL;
    h->array = start ? tw__array_new(h->value->dtype, h->count, NULL, true) : NULL;
    tw_auto tw_tensor *flow = h->array ? tw__array_flow(h->array) : NULL;
    tw_tensor *last[2] = { NULL, NULL };
    tw__loop loop = { .cond = more_elements,
                      .body = derive_element,
                      .cond_context = h,
                      .body_context = h,
                      .values = TW_IN(start, flow),
                      .count = 2 };
    if (!flow || tw__while(&loop, last) != TW_OK)
        return NULL;
    tw_release(last[0]);
    tw_auto tw_tensor *done = last[1];
    tw_auto tw_tensor *shape = known_or(part, false, h->value);
    tw_auto tw_tensor_array *array = shape ? tw__array_with(h->array, done) : NULL;
    tw_auto tw_tensor *stacked = array ? tw__array_stack(array, NULL) : NULL;
    tw_auto tw_tensor *twice =
        stacked && axis ? tw__part_call(part, "concat", &tw__op_ConcatV2, TW_IN(shape, shape, axis), 3, NULL, 0) : NULL;
    return twice ? tw__part_call(part, "Reshape", &tw__op_Reshape, TW_IN(stacked, twice), 2, NULL, 0) : NULL;
}

static tw_tensor *hessian_of(void *x, tw_tensor *gradient)
{
    if (!gradient) {
        tw__fail(TW_VALUE_ERROR, "Tried to convert 'tensor' to a tensor and failed. Error: None values not supported.");
        return NULL;
    }
    hessian h = { .part = tw__part_plain(), .x = x };
    h.value = tw__is(x, &tw__class_variable) ? tw__variable_read(x) : tw_retain(x);
    tw_tensor *result = tw__part_result(&h.part, h.value ? loop_over(&h, gradient) : NULL);
    tw_release(h.value);
    tw_release(h.rows);
    tw_release(h.count);
    tw_release(h.array);
    return result;
}

TW_API(
    hessians,
    "hessians(ys: list<object>, xs: list<object>, gate_gradients: bool = False, aggregation_method: value = None, name: str = hessians) -> tensors",
    "The second derivatives of the sum of ys by each of xs, in graphs: the dimensions of x, twice. How TensorFlow computes gradients, which "
    "gate_gradients and aggregation_method say, makes no difference here.\n"
    "ys: tensors, whose sum is differentiated\n"
    "xs: tensors\n"
    "gate_gradients: kept for old programs; it changes nothing\n"
    "aggregation_method: kept for old programs; it changes nothing")
{
    tw_tensors results = { NULL, 0 }, first = derivatives(args->ys, args->xs, "none");
    if (first.count != args->xs.count)
        return results;
    results = (tw_tensors){ tw__alloc_array((size_t)first.count + 1, sizeof(tw_tensor *)), first.count };
    tw_status status = results.items ? TW_OK : TW_RESOURCE_EXHAUSTED;
    for (int64_t i = 0; status == TW_OK && i < first.count; i++)
        status = (results.items[i] = hessian_of(args->xs.items[i], first.items[i])) ? TW_OK : tw__error_status();
    tw_tensors_free(&first);
    if (status != TW_OK)
        tw_tensors_free(&results);
    return results;
}
