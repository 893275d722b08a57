/* Dataset.counter: numbers that count, without end. */
#include "api/composite.h"
#include "data/compose.h"
#include "op/calls.h"
#include "rows.h"

/* The next number and this one, of this one and an element that says nothing. */
static tw_tensors count_on(void *step, tw_tensors in)
{
    TW_TEMPS(t);
    return tw_give(TW_TEMP(AddV2, in.items[0], (tw_tensor *)step), in.items[0]);
}

TW_API(
    dataset_counter,
    "data.Dataset.counter(start: value = None shown 0, step: value = None shown 1, dtype: dtype = int64, name: str = None) -> dataset",
    "Numbers that count, without end.\n"
    "start: the first number; None: 0\n"
    "step: the distance between two numbers; None: 1\n"
    "dtype: the dtype of the numbers")
{
    TW_TEMPS(t);
    static const tw_value zero = { .kind = TW_VALUE_INT }, one = { .kind = TW_VALUE_INT, .i = 1 };
    const tw_value *given[] = { args->start.kind == TW_VALUE_NONE ? &zero : &args->start,
                                args->step.kind == TW_VALUE_NONE ? &one : &args->step };
    tw_tensor *numbers[2];
    for (int i = 0; i < 2; i++) {
        tw_tensor *tensor = tw__temp(t, tw__value_tensor(given[i], args->dtype, i ? "step" : "start"));
        bool same = !tensor || tensor->dtype == args->dtype || given[i]->kind != TW_VALUE_TENSOR;
        if (!same)
            tw__fail(TW_VALUE_ERROR, "Dataset.counter: a tensor of dtype %s in the place of %s", tw_dtype_name(tensor->dtype),
                     tw_dtype_name(args->dtype));
        numbers[i] = same ? tw__temp_cast(t, tensor, args->dtype) : NULL;
        if (!numbers[i])
            return NULL;
    }
    struct tw_dataset *ticks = tw__temp(t, tw__data_constant(tw__temp_int(t, 0, TW_INT32), true));
    tw_function *count = tw__temp(t, tw_function_new(count_on, numbers[1], .name = "counter"));
    tw_dataset_scan_args scan = TW_ARGS(dataset_scan, .self = ticks, .scan_func = count,
                                        .initial_state = { .kind = TW_VALUE_TENSOR, .tensor = numbers[0] });
    return ticks && count ? tw_class_make(&tw__class_dataset_scan, &scan) : NULL;
}
