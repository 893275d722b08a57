/* Random ops whose stream is a variable: int64[3], a counter of two words (the low one first) and a key. Each use moves the
 * counter on by 256 for each element, more than it takes, as TensorFlow does. Only Philox: TensorFlow has no other on the CPU
 * either. */
#include "op/array/array.h"
#include "op/random/random.h"
#include "op/resource.h"
#include "rows.h"

enum { PHILOX = 1, THREEFRY = 2, AUTO_SELECT = 3, STATE = 3 };

static tw_status check_algorithm(int64_t algorithm)
{
    if (algorithm == PHILOX || algorithm == AUTO_SELECT)
        return TW_OK;
    if (algorithm == THREEFRY)
        return tw__fail(TW_UNIMPLEMENTED, "Non-XLA devices don't support the ThreeFry algorithm.");
    return tw__fail(TW_INVALID_ARGUMENT, "Unsupported algorithm id: %lld", (long long)algorithm);
}

static tw_status check_state(const tw_tensor *state)
{
    if (state->dtype != TW_INT64)
        return tw__fail(TW_INVALID_ARGUMENT, "dtype of RNG state variable must be int64, not %s", tw_dtype_name(state->dtype));
    if (state->shape.rank != 1)
        return tw__fail(TW_INVALID_ARGUMENT, "RNG state must have one and only one dimension, not %d", state->shape.rank);
    if (state->count < STATE)
        return tw__fail(TW_INVALID_ARGUMENT, "For the Philox algorithm, the size of state must be at least 3; got %lld",
                        (long long)state->count);
    return TW_OK;
}

/* The stream as it stands, which is then moved on by `skip` numbers. `before`: where the state as it was goes, or NULL. */
tw_status tw__generator_draw(tw__kernel *kernel, int64_t algorithm, uint64_t skip, tw__philox *philox, int64_t *before)
{
    tw__resource *resource = tw__resource_of(kernel->inputs[0]);
    void *data;
    if (!resource)
        return TW_INVALID_ARGUMENT;
    TW_TRY(check_algorithm(algorithm));
    TW_TRY(tw__resource_lock(resource, &data));
    tw_status status = check_state(resource->value);
    if (status == TW_OK) {
        uint64_t *state = data;
        if (before)
            memcpy(before, state, STATE * sizeof *before);
        *philox =
            (tw__philox){ { (uint32_t)state[2], (uint32_t)(state[2] >> 32) },
                          { (uint32_t)state[0], (uint32_t)(state[0] >> 32), (uint32_t)state[1], (uint32_t)(state[1] >> 32) } };
        tw__philox next = *philox;
        tw__philox_skip(&next, skip * 256);
        state[0] = next.counter[0] | (uint64_t)next.counter[1] << 32;
        state[1] = next.counter[2] | (uint64_t)next.counter[3] << 32;
    }
    tw__resource_unlock(resource);
    return status;
}

/* ---- skipping ---- */

static tw_status need_scalars(const tw__inference *inference, int first, int count)
{
    for (int i = first; i < first + count; i++)
        TW_TRY(tw__need_rank(inference, i, 0));
    return TW_OK;
}

static tw_status read_shape(tw__inference *inference)
{
    inference->out_shapes[0] = TW_SHAPE(STATE);
    return need_scalars(inference, 1, 2);
}

static tw_status read_compute(tw__kernel *kernel)
{
    tw__philox philox;
    return tw__generator_draw(kernel, *(const int32_t *)kernel->inputs[1]->data, *(const uint64_t *)kernel->inputs[2]->data,
                              &philox, kernel->outputs[0]->data);
}

TW_OP(RngReadAndSkip, .inputs = "resource: resource, alg: int32, delta: uint64", .outputs = "value: int64", .shape = read_shape,
      .compute = read_compute, .stateful = true, .doc = "The state of a stream, which is then moved on by a number of values.");

static tw_status skip_shape(tw__inference *inference)
{
    return need_scalars(inference, 1, 2);
}

static tw_status skip_compute(tw__kernel *kernel)
{
    tw__philox philox;
    return tw__generator_draw(kernel, *(const int64_t *)kernel->inputs[1]->data, *(const uint64_t *)kernel->inputs[2]->data,
                              &philox, NULL);
}

TW_OP(RngSkip, .inputs = "resource: resource, algorithm: int64, delta: int64", .shape = skip_shape, .compute = skip_compute,
      .stateful = true, .doc = "Moves a stream on by a number of values.");

/* ---- values ---- */

static tw_status values_shape(tw__inference *inference)
{
    TW_TRY(need_scalars(inference, 1, 1));
    if (inference->shapes[2]->rank >= 0 && inference->shapes[2]->rank != 1)
        return tw__fail(TW_INVALID_ARGUMENT, "shape must be a vector of {int32,int64}, got shape %s",
                        tw__shape_text(inference->shapes[2]));
    return tw__shape_input(inference, 2, "shape");
}

static tw_status fill(tw__kernel *kernel, tw__distribution distribution)
{
    tw__philox philox;
    tw_dtype dtype = kernel->outputs[0]->dtype;
    bool whole = dtype == TW_INT32 || dtype == TW_INT64 || dtype == TW_UINT32 || dtype == TW_UINT64;
    if (distribution >= TW__FULL_RANGE ? !whole : !tw__dtype_is_float(dtype))
        return TW_OP_FAIL(kernel, TW_UNIMPLEMENTED, "no kernel for dtype %s", tw_dtype_name(dtype));
    TW_TRY(tw__generator_draw(kernel, *(const int64_t *)kernel->inputs[1]->data, (uint64_t)kernel->outputs[0]->count, &philox,
                              NULL));
    return distribution == TW__BELOW ? tw__random_integers(kernel, 3, philox) : tw__random_output(kernel, distribution, philox);
}

#define COMPUTE(name, distribution)                     \
    static tw_status name##_compute(tw__kernel *kernel) \
    {                                                   \
        return fill(kernel, distribution);              \
    }
COMPUTE(uniform, TW__UNIFORM)
COMPUTE(normal, TW__NORMAL)
COMPUTE(truncated, TW__TRUNCATED_NORMAL)
COMPUTE(full_range, TW__FULL_RANGE)
COMPUTE(below, TW__BELOW)

#define INPUTS "resource: resource, algorithm: int64, shape: shape_dtype"
#define VALUES .outputs = "output: dtype", .shape = values_shape, .stateful = true
TW_OP(StatefulUniform, .inputs = INPUTS, VALUES, .attrs = "dtype: type = float, shape_dtype: type = int64",
      .compute = uniform_compute, .doc = "Values from [0, 1), all equally likely, of a stream in a variable.");
TW_OP(StatefulStandardNormalV2, .inputs = INPUTS, VALUES, .attrs = "dtype: type = float, shape_dtype: type = int64",
      .compute = normal_compute, .doc = "Normal values with mean 0 and standard deviation 1, of a stream in a variable.");
TW_OP(StatefulTruncatedNormal, .inputs = INPUTS, VALUES, .attrs = "dtype: type = float, shape_dtype: type = int64",
      .compute = truncated_compute, .doc = "Normal values, those 2 or farther from 0 drawn again, of a stream in a variable.");
TW_OP(StatefulUniformFullInt, .inputs = INPUTS, VALUES, .attrs = "dtype: type = uint64, shape_dtype: type = int64",
      .compute = full_range_compute, .doc = "Integers from the whole range of the dtype, of a stream in a variable.");
TW_OP(StatefulUniformInt, .inputs = INPUTS ", minval: dtype, maxval: dtype", VALUES,
      .attrs = "dtype: type = int64, shape_dtype: type = int64", .compute = below_compute,
      .doc = "Integers from [minval, maxval), of a stream in a variable.");

static tw_status any_compute(tw__kernel *kernel)
{
    tw_tensor *out = kernel->outputs[0];
    size_t bytes = tw_tensor_bytes(out);
    if (!tw__dtype_is_integer(out->dtype))
        return TW_OP_FAIL(kernel, TW_UNIMPLEMENTED, "no kernel for dtype %s", tw_dtype_name(out->dtype));
    for (size_t i = 0; i < bytes; i += sizeof(uint64_t)) {
        uint64_t number = tw__random_entropy();
        memcpy((char *)out->data + i, &number, bytes - i < sizeof number ? bytes - i : sizeof number);
    }
    return TW_OK;
}

TW_OP(NonDeterministicInts, .inputs = "shape: shape_dtype", .outputs = "output: dtype",
      .attrs = "dtype: type = int64, shape_dtype: type = int64", .shape = tw__random_shape, .compute = any_compute,
      .stateful = true, .doc = "Integers from the operating system's random numbers.");
