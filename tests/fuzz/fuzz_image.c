/* Pictures of every kind: decoding gives pixels or an error, whatever the bytes are. */
#include <string.h>

#include "fuzz/fuzz.h"
#include "rows.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    tw_auto tw_tensor *contents = tw_tensor_string((const char *)data, size);
    tw_auto tw_tensor *shape = tw_image_extract_jpeg_shape(contents);
    bool large = shape && tw_tensor_int_at(shape, 0) * tw_tensor_int_at(shape, 1) > 1 << 20; /* right, but long */
    if (size > 30 && memcmp(data, "\x89PNG", 4) == 0)                                        /* likewise */
        large = data[16] || data[17] || data[18] > 3 || data[20] || data[21] || data[22] > 3;
    tw_clear_error();
    tw_auto tw_tensor *image = large ? NULL : tw_image_decode_image(contents);
    tw_clear_error();
    tw_auto tw_tensor *grey = large ? NULL : tw_image_decode_image(contents, .channels = 1, .dtype = TW_UINT16);
    tw_clear_error();
    return 0;
}

void fuzz_seeds(fuzz_add add)
{
    static const char gif[] =
        "GIF89a\x03\x00\x02\x00\x81\x00\x00\xff\x00\x00\x00\xff\x00\x00\x00\xff\xff\xff\xff!\xf9\x04\x01\x05\x00\x03\x00,\x00\x00"
        "\x00\x00\x03\x00\x02\x00\x00\x02\x04\x84\x6a\x96P\x00;";
    static const char bmp[] =
        "BM\x4e\x00\x00\x00\x00\x00\x00\x00\x36\x00\x00\x00\x28\x00\x00\x00\x02\x00\x00\x00\x03\x00\x00\x00\x01\x00\x18\x00\x00\x00"
        "\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00"
        "abcdefghijklmnopqrstuvwx";
    uint8_t pixels[12 * 10 * 3];
    for (size_t i = 0; i < sizeof pixels; i++)
        pixels[i] = (uint8_t)(i * i / 7);
    tw_auto tw_tensor *image = tw_tensor_new(TW_UINT8, TW_SHAPE(12, 10, 3), pixels);
    tw_auto tw_tensor *jpeg = tw_image_encode_jpeg(image), *progressive = tw_image_encode_jpeg(image, .progressive = true);
    tw_auto tw_tensor *png = tw_image_encode_png(image);
    add(gif, sizeof gif - 1);
    add(bmp, sizeof bmp - 1);
    tw_tensor *files[] = { jpeg, progressive, png };
    for (int i = 0; i < 3; i++) {
        tw_string s = tw_tensor_string_at(files[i], 0);
        add(s.data, s.size);
    }
}
