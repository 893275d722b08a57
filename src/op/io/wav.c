/* EncodeWav, DecodeWav: sounds of 16 bits.
 *
 *     "RIFF" size "WAVE", "fmt " 16: format 1, channels, rate, bytes a second, bytes of a frame, 16 bits; "data" size: samples,
 * little endian
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
        return TW_OP_FAIL(kernel, TW_INVALID_ARGUMENT,
                          "sample_rate must be positive and channels from 1 to 1024, got %lld and %lld", (long long)rate,
                          (long long)channels);
    if (audio->count > (INT32_MAX - HEAD) / 2)
        return TW_OP_FAIL(kernel, TW_INVALID_ARGUMENT, "the sound is too long for a WAV file: %lld values",
                          (long long)audio->count);
    size_t size = HEAD + 2 * (size_t)audio->count;
    tw__owned uint8_t *file = tw__alloc(size);
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
    return status;
}

TW_OP(EncodeWav, .inputs = "audio: float, sample_rate: int32", .outputs = "contents: string", .shape = encode_shape,
      .compute = encode_compute,
      .function = "audio.encode_wav(audio: tensor<float32>, sample_rate: tensor<int32>, name: str = None) -> tensor",
      .doc = "A WAV file of samples from -1 to 1.\n"
             "audio: samples [samples, channels] from -1 to 1\n"
             "sample_rate: how many samples there are in a second\n"
             "returns: a string, the bytes of the file");

/* ---- reading ---- */

typedef struct sound {
    int64_t channels, rate, frames;
    const uint8_t *samples;
} sound;

static int get16(const uint8_t *at)
{
    return at[0] | at[1] << 8;
}

/* The chunks behind "RIFF" size "WAVE", in any order; those that are not known are passed over. */
static tw_status read_chunks(tw__kernel *kernel, const uint8_t *data, size_t size, sound *s)
{
    for (size_t at = 12; at + 8 <= size;) {
        const uint8_t *chunk = data + at;
        uint64_t length = tw__get32(chunk + 4);
        if (length > size - at - 8)
            return TW_OP_FAIL(kernel, TW_INVALID_ARGUMENT, "Data too short when trying to read a chunk of %llu bytes at %zu",
                              (unsigned long long)length, at);
        if (memcmp(chunk, "fmt ", 4) == 0 && length >= 16) {
            if (get16(chunk + 8) != 1)
                return TW_OP_FAIL(kernel, TW_INVALID_ARGUMENT, "Bad audio format for WAV: Expected 1 (PCM), but got %d",
                                  get16(chunk + 8));
            if (get16(chunk + 22) != 16)
                return TW_OP_FAIL(kernel, TW_INVALID_ARGUMENT, "Can only read 16-bit WAV files, but received %d",
                                  get16(chunk + 22));
            s->channels = get16(chunk + 10);
            s->rate = tw__get32(chunk + 12);
            if (!s->channels || get16(chunk + 20) != 2 * s->channels)
                return TW_OP_FAIL(kernel, TW_INVALID_ARGUMENT, "Bad bytes per sample in WAV header: Expected %lld but got %d",
                                  (long long)(2 * s->channels), get16(chunk + 20));
        } else if (memcmp(chunk, "data", 4) == 0 && s->channels && !s->samples) {
            s->samples = chunk + 8;
            s->frames = (int64_t)length / (2 * s->channels);
        }
        at += 8 + (size_t)length + length % 2;
    }
    return s->samples ? TW_OK : TW_OP_FAIL(kernel, TW_INVALID_ARGUMENT, "no samples of 16 bits were found");
}

static tw_status decode_shape(tw__inference *inference)
{
    int64_t channels = TW_ATTR(inference, "desired_channels")->i, samples = TW_ATTR(inference, "desired_samples")->i;
    TW_TRY(tw__need_rank(inference, 0, 0));
    if ((channels < 0 && channels != -1) || channels > 1024 || (samples < 0 && samples != -1))
        return TW_OP_FAIL(inference, TW_INVALID_ARGUMENT,
                          "desired_channels and desired_samples must be -1 or not negative, got %lld and %lld",
                          (long long)channels, (long long)samples);
    inference->out_shapes[0] = TW_SHAPE(samples, channels);
    inference->out_shapes[1] = TW_SCALAR;
    return TW_OK;
}

static tw_status decode_compute(tw__kernel *kernel)
{
    tw_string data = tw_tensor_string_at(kernel->inputs[0], 0);
    int64_t channels = TW_ATTR(kernel, "desired_channels")->i, samples = TW_ATTR(kernel, "desired_samples")->i;
    sound s = { 0 };
    if (data.size < 12 || memcmp(data.data, "RIFF", 4) != 0 || memcmp(data.data + 8, "WAVE", 4) != 0)
        return TW_OP_FAIL(kernel, TW_INVALID_ARGUMENT,
                          "Header mismatch: Expected RIFF and WAVE at the beginning of the contents");
    TW_TRY(read_chunks(kernel, (const uint8_t *)data.data, data.size, &s));
    channels = channels < 0 ? s.channels : channels;
    samples = samples < 0 ? s.frames : samples;
    tw_tensor *audio = tw__output(kernel, 0, &TW_SHAPE(samples, channels)), *rate = tw__output(kernel, 1, &TW_SCALAR);
    if (!audio || !rate)
        return tw__error_status();
    *(int32_t *)rate->data = (int32_t)s.rate;
    float *out = audio->data;
    for (int64_t i = 0; i < samples; i++) {
        for (int64_t c = 0; c < channels; c++) {
            int64_t from =
                i * s.channels + (c < s.channels ? c : s.channels - 1); /* the last one stands for those that are not there */
            *out++ = i < s.frames ? (float)(int16_t)get16(s.samples + 2 * from) / 32768.0f : 0;
        }
    }
    return TW_OK;
}

TW_OP(DecodeWav, .inputs = "contents: string", .outputs = "audio: float, sample_rate: int32",
      .attrs = "desired_channels: int = -1, desired_samples: int = -1", .shape = decode_shape, .compute = decode_compute,
      .makes_outputs = true, .doc = "The samples of a WAV file, [length, channels] in [-1, 1], and their rate.");
