/* How the optimizers' ops are written (optimizer.c, proximal.c): a body per element; the loops, for float and double, and the
 * kernels are made of it. */
#ifndef TW_STEPS_H
#define TW_STEPS_H

#include "kernel/simd.h"
#include "op/resource.h"

/* Checks the inputs and runs the loop, with the variables locked. */
tw_status tw__update_apply(tw__kernel *kernel, const tw__update *step);

/* ---- the steps: per element, g is the gradient; numbers are of the elements' type ---- */

#define LOOP(name, type, prepare, body)                                                                                       \
    TW_CLONES static void name##_##type(void *const *slots, const void *grads, const double *given, int64_t count, bool flag) \
    {                                                                                                                         \
        typedef type element __attribute__((unused));                                                                         \
        element *var = slots[0];                                                                                              \
        const element *grad = grads;                                                                                          \
        element number[TW_UPDATE_NUMBERS];                                                                                    \
        for (int k = 0; k < TW_UPDATE_NUMBERS; k++)                                                                           \
            number[k] = (element)given[k];                                                                                    \
        (void)flag;                                                                                                           \
        prepare();                                                                                                            \
        TW_INDEPENDENT                                                                                                        \
        for (int64_t i = 0; i < count; i++) {                                                                                 \
            element g = grad[i];                                                                                              \
            body();                                                                                                           \
        }                                                                                                                     \
    }
#define STEP(name, slot_count, grad_input, flag_attr, prepare, body, ...)                                 \
    LOOP(name, float, prepare, body)                                                                      \
    LOOP(name, double, prepare, body)                                                                     \
    static const tw__update name##_step = { .slots = slot_count,                                          \
                                            .numbers = { __VA_ARGS__ },                                   \
                                            .number_count = sizeof((int[]){ __VA_ARGS__ }) / sizeof(int), \
                                            .grad = grad_input,                                           \
                                            .flag = flag_attr,                                            \
                                            .float_loop = name##_float,                                   \
                                            .double_loop = name##_double };                               \
    static tw_status name##_compute(tw__kernel *kernel)                                                   \
    {                                                                                                     \
        return tw__update_apply(kernel, &name##_step);                                                    \
    }

/* The same step for some rows of the variable. */
#define ROWS(name, slot_count, grad_input, indices_input, flag_attr, ...)                           \
    static tw_status name##_rows(tw__kernel *kernel)                                                \
    {                                                                                               \
        static const tw__update s = { .slots = slot_count,                                          \
                                      .numbers = { __VA_ARGS__ },                                   \
                                      .number_count = sizeof((int[]){ __VA_ARGS__ }) / sizeof(int), \
                                      .grad = grad_input,                                           \
                                      .indices = indices_input,                                     \
                                      .flag = flag_attr,                                            \
                                      .float_loop = name##_float,                                   \
                                      .double_loop = name##_double };                               \
        return tw__update_apply(kernel, &s);                                                        \
    }

#define STEP_ROW .shape = tw_shape_none, .stateful = true, .lets_go = true
#define T_ATTR                                                                                                                   \
    "T: {float, double, int32, uint8, int16, int8, complex64, int64, qint8, quint8, qint32, bfloat16, qint16, quint16, uint16, " \
    "complex128, half, uint32, uint64}, "
#define LOCKING "use_locking: bool = false"
#define ROWS_ATTR T_ATTR "Tindices: {int32, int64}, " LOCKING

#endif
