/* Old forms of ops, which are computed by later ones: the same tensors in another order, or with a number between them.
 *
 * A form says which op is meant and where the later op's inputs come from. Attrs of the same name are handed on; the others have
 * their defaults. Shapes, kernel and gradient are the later op's.
 *
 *     TW_FORM(gather, GatherV2, .number = 0)        Gather(params, indices) is GatherV2(params, indices, 0)
 *     TW_OP(Gather, …, TW_FORM_ROW(gather))
 */
#ifndef TW_FORMS_H
#define TW_FORMS_H

#include "op/op.h"

enum { TW_FORM_INPUTS = 64 };
typedef struct tw__form {
    const tw_op *later;
    bool adds;               /* the later op has one more input, an integer */
    int at;                  /* which; 0: the last */
    int64_t number;          /* its value … */
    const char *number_attr; /* … or the attr that is its value */
    bool of_input_type;      /* it has the dtype of input 1 */
    bool wide;               /* it is int64; else int32 */
    bool first_is_last;      /* the first input is the later op's last */
    /* Another tensor in the place of input 1, made of its value; a new reference. */
    tw_tensor *(*second)(const tw_tensor *value);
} tw__form;

tw_status tw__form_shape(const tw__form *form, tw__inference *inference);
tw_status tw__form_compute(const tw__form *form, tw__kernel *kernel);
tw_status tw__form_gradient(const tw__form *form, tw__gradient *gradient);

#define TW_FORM(name_, later_, ...)                                                    \
    static const tw__form name_##_form = { .later = &tw__op_##later_, ##__VA_ARGS__ }; \
    static tw_status name_##_shape(tw__inference *inference)                           \
    {                                                                                  \
        return tw__form_shape(&name_##_form, inference);                               \
    }                                                                                  \
    static tw_status name_##_compute(tw__kernel *kernel)                               \
    {                                                                                  \
        return tw__form_compute(&name_##_form, kernel);                                \
    }                                                                                  \
    static tw_status name_##_gradient(tw__gradient *gradient)                          \
    {                                                                                  \
        return tw__form_gradient(&name_##_form, gradient);                             \
    }
#define TW_FORM_ROW(name_) .shape = name_##_shape, .compute = name_##_compute, .gradient = name_##_gradient, .makes_outputs = true

#endif
