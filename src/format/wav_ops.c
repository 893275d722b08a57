/* EncodeWav: sounds of 16 bits.
 *
 *     "RIFF" size "WAVE", "fmt " 16: format 1, channels, rate, bytes a second, bytes of a frame, 16 bits; "data" size: samples, little endian
 */
#include <math.h>

#include "codec/codec.h"
#include "op/op.h"
#include "rows.h"

enum { HEAD = 44 };

static void put16(uint8_t *at, int value)
{
    at[0] = (uint8_t)value;
    at[1] = (uint8_t)(value >> 8);
}

static tw_status encode_shape(tw__inference *inference)
{
    inference->out_shapes[0] = TW_SCALAR;
    TW_TRY(tw__need_rank(inference, 0, 2));
    return tw__need_rank(inference, 1, 0);
}

static tw_status encode_compute(tw__kernel *kernel)
{
    const tw_tensor *audio = kernel->inputs[0];
    int64_t rate = tw_tensor_int_at(kernel->inputs[1], 0), channels = audio->shape.dims[1];
    if (rate <= 0 || channels <= 0 || channels > 1024)
        return TW_OP_FAIL(kernel, TW_INVALID_ARGUMENT, "sample_rate must be positive and channels from 1 to 1024, got %lld and %lld", (long long)rate,
                          (long long)channels);
    if (audio->count > (INT32_MAX - HEAD) / 2)
        return TW_OP_FAIL(kernel, TW_INVALID_ARGUMENT, "the sound is too long for a WAV file: %lld values", (long long)audio->count);
    size_t size = HEAD + 2 * (size_t)audio->count;
    uint8_t *file = tw__alloc(size);
    if (!file)
        return TW_RESOURCE_EXHAUSTED;
    memcpy(file, "RIFF....WAVEfmt ", 16);
    tw__put32(file + 4, (uint32_t)(size - 8));
    tw__put32(file + 16, 16);
    put16(file + 20, 1);
    put16(file + 22, (int)channels);
    tw__put32(file + 24, (uint32_t)rate);
    tw__put32(file + 28, (uint32_t)(rate * channels * 2));
    put16(file + 32, (int)(channels * 2));
    put16(file + 34, 16);
    memcpy(file + 36, "data", 4);
    tw__put32(file + 40, (uint32_t)(size - HEAD));
    const float *samples = audio->data;
    for (int64_t i = 0; i < audio->count; i++) {
        float value = roundf(samples[i] * 32768.0f);
        put16(file + HEAD + 2 * i, value >= 32767 ? 32767 : value > -32768 ? (int)value : -32768);
    }
    tw_status status = tw__string_set(kernel->outputs[0], 0, file, size);
    tw__free(file);
    return status;
}

TW_OP(EncodeWav,
    .inputs = "audio: float, sample_rate: int32", .outputs = "contents: string", .shape = encode_shape, .compute = encode_compute,
    .doc = "A WAV file of samples [length, channels] in [-1, 1].");
