/* BMP: 8 (grey), 24 or 32 bits a pixel, as they are stored.
 *
 *     "BM"; at 10 where the pixels begin, at 18 width, at 22 height (negative: the first line first), at 28 bits a pixel (2
 * bytes) lines of blue, green, red[, alpha], filled up to a multiple of 4 bytes */
#include "codec/codec.h"
#include "format/picture/image.h"

static void copy_line(const uint8_t *from, int64_t width, int own, int channels, uint8_t *to)
{
    for (int64_t x = 0; x < width; x++, from += own, to += channels) {
        to[0] = from[own == 1 ? 0 : 2];
        if (channels == 1)
            continue;
        to[1] = from[own == 1 ? 0 : 1];
        to[2] = from[0];
        if (channels == 4)
            to[3] = own == 4 ? from[3] : 255;
    }
}

tw_status tw__bmp_decode(tw_string data, int channels, tw__image_target target)
{
    const uint8_t *bytes = (const uint8_t *)data.data;
    if (data.size < 32)
        return tw__fail(
            TW_INVALID_ARGUMENT,
            "Incomplete bmp content, requires at least 32 bytes to find the header size, width, height, and bpp, got %zu bytes",
            data.size);
    int64_t begin = (int32_t)tw__get32(bytes + 10), width = (int32_t)tw__get32(bytes + 18),
            height = (int32_t)tw__get32(bytes + 22);
    int bits = bytes[28] | bytes[29] << 8, own = bits / 8;
    int64_t lines = height < 0 ? -height : height;
    if (bits != 8 && bits != 24 && bits != 32)
        return tw__fail(TW_INVALID_ARGUMENT, "Number of bits per pixel must be 8, 24 or 32, got %d", bits);
    if (begin < 0 || width <= 0 || lines == 0)
        return tw__fail(TW_INVALID_ARGUMENT, "Width must be positive and height not 0, got %lld and %lld", (long long)width,
                        (long long)height);
    channels = channels ? channels : own;
    if (width >= INT64_C(1) << 27 || lines >= INT64_C(1) << 27 || width * lines >= TW_IMAGE_LIMIT / channels)
        return tw__fail(TW_INVALID_ARGUMENT, "Total possible pixel bytes must be less than 2^29");
    int64_t row = (own * width + 3) / 4 * 4, difference = (int64_t)data.size - begin - row * lines;
    if (difference < 0) /* what is behind the pixels is nobody's concern */
        return tw__fail(TW_INVALID_ARGUMENT,
                        "Input size should match (header_size + row_size * abs_height) but they differ by %lld",
                        (long long)difference);
    uint8_t *out = target.place(target.context, 0, lines, width, channels);
    for (int64_t y = 0; out && y < lines; y++)
        copy_line(bytes + begin + (height < 0 ? y : lines - 1 - y) * row, width, own, channels, out + y * width * channels);
    return out ? TW_OK : tw__error_status();
}
