/* Shared by the rows of convolutions (conv.c) and depthwise convolutions (conv_depthwise.c). */
#ifndef TW_OP_CONV_H
#define TW_OP_CONV_H

#include "kernel/conv/conv.h"
#include "op/nn/conv_window.h"

#define TW_CONV_ATTRS(strides_end)                                                                                   \
    "strides: list(int), " strides_end "padding: {'SAME', 'VALID', 'EXPLICIT'}, explicit_paddings: list(int) = [], " \
    "data_format: {'NHWC', 'NCHW'} = 'NHWC', dilations: list(int) = [1, 1, 1, 1]"

/* One convolution as an op describes it. */
typedef struct tw__conv_case {
    const tw_op *op;
    bool depthwise;
    const char *label; /* "Conv2DCustomBackpropInput", as errors name the op; NULL: the op itself */
    tw__window window;
    tw_shape output; /* as the input and the filter say; dimensions may be unknown */
    tw__conv conv;   /* complete if all dimensions are known */
} tw__conv_case;

/* Reads and checks the attrs. */
tw_status tw__conv_read(tw__conv_case *of, const tw_op *op, const tw_attr *attrs);
/* Checks the shapes against each other, from partial ones too. `gradient` is the shape of the output's gradient, or NULL. */
tw_status tw__conv_fit(tw__conv_case *of, const tw_shape *input, const tw_shape *filter, const tw_shape *gradient);
/* The shape that the vector `sizes` says; known only if its value is. */
tw_status tw__conv_sizes(const tw__conv_case *of, const tw_tensor *sizes, const char *what, tw_shape *shape);

/* The rows' functions: the parts that don't differ. */
tw_status tw__conv_shape(tw__inference *inference);
tw_status tw__conv_input_shape(tw__inference *inference);
tw_status tw__conv_filter_shape(tw__inference *inference);
tw_status tw__conv_compute(tw__kernel *kernel);
tw_status tw__conv_input_compute(tw__kernel *kernel);
tw_status tw__conv_filter_compute(tw__kernel *kernel);
tw_status tw__conv_gradient(tw__gradient *gradient);
tw_status tw__conv_input_gradient(tw__gradient *gradient);
tw_status tw__conv_filter_gradient(tw__gradient *gradient);

#endif
