/* Arguments of sliding windows as users give them: a stride, a dilation or a window's size may be one number for all axes, one
 * per axis, or one per dimension. Sequences are images with one row; volumes have five dimensions. */
#ifndef TW_API_NN_WINDOW_H
#define TW_API_NN_WINDOW_H

#include "op/op.h"
#include "spec/spec.h"

enum { TW_WINDOW_DIMENSIONS = 5 };

typedef struct tw__nn_window {
    int dimensions;     /* of the op's tensors: 4, or 5 */
    const char *format; /* of the op: NHWC, NCHW, NDHWC or NCDHW */
    bool channels_first;
    int64_t strides[TW_WINDOW_DIMENSIONS], others[TW_WINDOW_DIMENSIONS]; /* others: dilations, or the window's sizes */
    const char *padding;
    char text[16];
    int64_t explicit[2 * TW_WINDOW_DIMENSIONS]; /* [[0, 0], [top, bottom], [left, right], [0, 0]] */
    int explicit_count;
} tw__nn_window;

/* Numbers as they were given, and what their argument is called. */
typedef struct tw__nn_given {
    tw_ints numbers;
    const char *name;
} tw__nn_given;

/* `axes`: 1 to 3. A format of NULL is channels last. */
tw_status tw__nn_window_read(tw__nn_window *w, int axes, const char *format, tw__nn_given strides, tw__nn_given others,
                             const tw_value *padding);
/* The attrs of the op, `others` under that name; room for 8. Gives their number. */
int tw__nn_window_attrs(const tw__nn_window *w, const char *others, tw_attr *attrs);

#endif
