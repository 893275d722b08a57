/* A whole sequence of an LSTM in one go, float32. Gates stand in the order input, forget, candidate, output. */
#ifndef TW_LSTM_H
#define TW_LSTM_H

#include "tensor/tensor.h"

/* Arrays of [steps, batch, units] but where it says otherwise. */
typedef struct tw__lstm {
    int64_t steps, batch, size, units;
    const float *x;                  /* [steps, batch, size] */
    const float *first_cell, *first; /* [batch, units] */
    const float *weights;            /* [size + units, 4 * units] */
    const float *bias;               /* [4 * units] */
    float *input, *cell, *forget, *output, *candidate, *cell_tanh, *hidden;
} tw__lstm;

/* Makes the seven arrays. */
tw_status tw__lstm_forward(const tw__lstm *lstm);

/* From the derivatives by cell and hidden those by the inputs. */
typedef struct tw__lstm_derivatives {
    const float *cell, *hidden;
    float *x, *first_cell, *first, *weights, *bias;
} tw__lstm_derivatives;
tw_status tw__lstm_backward(const tw__lstm *lstm, const tw__lstm_derivatives *to);

#endif
