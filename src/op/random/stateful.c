/* Random ops with state: a stream that goes on from call to call. The state is a Philox generator seeded by the attrs seed and
 * seed2 (both 0: by the operating system); a call advances it by more than it uses, as TensorFlow does. */
#include "op/random/random.h"
#include "rows.h"

/* The generator as it stands, which is then moved on by `groups`. */
tw_status tw__random_draw(tw__kernel *kernel, uint64_t groups, tw__philox *philox)
{
    tw__philox *state = *kernel->state;
    if (!state) {
        state = tw__alloc(sizeof *state);
        if (!state)
            return tw__error_status();
        int64_t seed = TW_ATTR(kernel, "seed")->i, seed2 = TW_ATTR(kernel, "seed2")->i;
        if (seed == 0 && seed2 == 0) {
            seed = (int64_t)tw__random_entropy();
            seed2 = (int64_t)tw__random_entropy();
        }
        *state = tw__philox_seeded(seed, seed2);
        *kernel->state = state;
    }
    *philox = *state;
    tw__philox_skip(state, groups);
    return TW_OK;
}

static tw_status fill(tw__kernel *kernel, tw__distribution distribution)
{
    tw__philox philox;
    TW_TRY(tw__random_draw(kernel, (uint64_t)kernel->outputs[0]->count * 256, &philox));
    return tw__random_output(kernel, distribution, philox);
}

static tw_status uniform_compute(tw__kernel *kernel)
{
    return fill(kernel, TW__UNIFORM);
}

static tw_status normal_compute(tw__kernel *kernel)
{
    return fill(kernel, TW__NORMAL);
}

static tw_status truncated_compute(tw__kernel *kernel)
{
    return fill(kernel, TW__TRUNCATED_NORMAL);
}

static tw_status integers_compute(tw__kernel *kernel)
{
    tw__philox philox;
    TW_TRY(tw__random_draw(kernel, (uint64_t)kernel->outputs[0]->count * 256, &philox));
    return tw__random_integers(kernel, 1, philox);
}

TW_OP(RandomUniform, .inputs = "shape: T", .outputs = "output: dtype",
      .attrs = "seed: int = 0, seed2: int = 0, dtype: {half, bfloat16, float, double}, T: {int32, int64}",
      .shape = tw__random_shape, .compute = uniform_compute, .stateful = true, .free_state = tw__free,
      .doc = "Values from [0, 1), all equally likely.");

TW_OP(RandomStandardNormal, .inputs = "shape: T", .outputs = "output: dtype",
      .attrs = "seed: int = 0, seed2: int = 0, dtype: {half, bfloat16, float, double}, T: {int32, int64}",
      .shape = tw__random_shape, .compute = normal_compute, .stateful = true, .free_state = tw__free,
      .doc = "Normal values with mean 0 and standard deviation 1.");

TW_OP(TruncatedNormal, .inputs = "shape: T", .outputs = "output: dtype",
      .attrs = "seed: int = 0, seed2: int = 0, dtype: {half, bfloat16, float, double}, T: {int32, int64}",
      .shape = tw__random_shape, .compute = truncated_compute, .stateful = true, .free_state = tw__free,
      .doc = "Normal values, those 2 or farther from 0 drawn again.");

TW_OP(RandomUniformInt, .inputs = "shape: T, minval: Tout, maxval: Tout", .outputs = "output: Tout",
      .attrs = "seed: int = 0, seed2: int = 0, Tout: {int32, int64}, T: {int32, int64}", .shape = tw__random_shape,
      .compute = integers_compute, .stateful = true, .free_state = tw__free, .doc = "Integers from [minval, maxval).");

static tw_status multinomial_compute(tw__kernel *kernel)
{
    const tw_shape *shape = &kernel->outputs[0]->shape;
    uint64_t samples = ((uint64_t)shape->dims[1] + 3) / 4 * 4;
    tw__philox philox;
    TW_TRY(tw__random_draw(kernel, (uint64_t)shape->dims[0] * 2 * samples * 256, &philox));
    return tw__multinomial(kernel, philox);
}

TW_OP(
    Multinomial, .inputs = "logits: T, num_samples: int32", .outputs = "output: output_dtype",
    .attrs =
        "seed: int = 0, seed2: int = 0, T: {float, double, int32, uint8, int16, int8, int64, bfloat16, uint16, half, uint32, uint64}, "
        "output_dtype: {int32, int64} = int64",
    .shape = tw__multinomial_shape, .compute = multinomial_compute, .stateful = true, .free_state = tw__free,
    .doc = "Classes drawn with the probabilities softmax(logits).");

/* ---- RandomShuffle ---- */

static tw_status copy_row(const tw_tensor *from, int64_t row, tw_tensor *to, int64_t to_row, int64_t row_size)
{
    if (from->dtype == TW_STRING) {
        for (int64_t i = 0; i < row_size; i++) {
            tw_string s = ((const tw_string *)from->data)[row * row_size + i];
            TW_TRY(tw__string_set(to, to_row * row_size + i, s.data, s.size));
        }
        return TW_OK;
    }
    size_t bytes = (size_t)row_size * tw__element_size(from->dtype);
    memcpy((char *)to->data + (size_t)to_row * bytes, (const char *)from->data + (size_t)row * bytes, bytes);
    return TW_OK;
}

/* Rows of a few bytes change places themselves. */
#define SHUFFLE(type)                                                                 \
    do {                                                                              \
        type *row = out->data;                                                        \
        for (int64_t i = 0; i + 1 < rows; i++) {                                      \
            int64_t j = i + (int64_t)(tw__words_next(&words) % (uint64_t)(rows - i)); \
            type kept = row[i];                                                       \
            row[i] = row[j];                                                          \
            row[j] = kept;                                                            \
        }                                                                             \
    } while (0)

static tw_status shuffle_short(tw__kernel *kernel, const tw_tensor *value, tw__philox philox, int64_t rows, size_t bytes)
{
    tw_tensor *out = tw__output(kernel, 0, &value->shape);
    tw__words words = tw__words_of(philox);
    if (!out)
        return tw__error_status();
    memcpy(out->data, value->data, (size_t)rows * bytes);
    if (bytes == 8)
        SHUFFLE(uint64_t);
    else if (bytes == 4)
        SHUFFLE(uint32_t);
    else
        SHUFFLE(uint8_t);
    return TW_OK;
}

tw_status tw__random_shuffle(tw__kernel *kernel, tw__philox philox)
{
    tw_tensor *value = kernel->inputs[0];
    int64_t rows = value->shape.rank ? value->shape.dims[0] : 1;
    if (rows <= 1 || value->count == 0)
        return tw__output_take(kernel, 0, tw__tensor_view(value, &value->shape));
    if (value->dtype == TW_RESOURCE || value->dtype == TW_VARIANT)
        return TW_OP_FAIL(kernel, TW_UNIMPLEMENTED, "dtype %s", tw_dtype_name(value->dtype));
    size_t bytes = (size_t)(value->count / rows) * tw__element_size(value->dtype);
    if (value->dtype != TW_STRING && (bytes == 8 || bytes == 4 || bytes == 1))
        return shuffle_short(kernel, value, philox, rows, bytes);
    tw__owned int64_t *order = tw__alloc((size_t)rows * sizeof *order);
    tw_tensor *out = order ? tw__output(kernel, 0, &value->shape) : NULL;
    TW_NEED(out);
    tw__words words = tw__words_of(philox);
    for (int64_t i = 0; i < rows; i++)
        order[i] = i;
    for (int64_t i = 0; i + 1 < rows; i++) {
        int64_t j = i + (int64_t)(tw__words_next(&words) % (uint64_t)(rows - i)), kept = order[i];
        order[i] = order[j];
        order[j] = kept;
    }
    for (int64_t i = 0; i < rows; i++)
        TW_TRY(copy_row(value, order[i], out, i, value->count / rows));
    return TW_OK;
}

static tw_status shuffle_compute(tw__kernel *kernel)
{
    const tw_tensor *value = kernel->inputs[0];
    uint64_t rows = value->shape.rank ? (uint64_t)value->shape.dims[0] : 1;
    tw__philox philox = { 0 };
    if (rows > 1 && value->count)
        TW_TRY(tw__random_draw(kernel, (rows + 2) / 4, &philox)); /* rows - 1 numbers, four at a time */
    return tw__random_shuffle(kernel, philox);
}

TW_OP(RandomShuffle, .inputs = "value: T", .outputs = "output: T", .attrs = "seed: int = 0, seed2: int = 0, T: type",
      .shape = tw_shape_same, .compute = shuffle_compute, .stateful = true, .makes_outputs = true, .free_state = tw__free,
      .doc = "The rows along the first dimension in random order.");
