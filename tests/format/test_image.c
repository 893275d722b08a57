/* Pictures from C: what is written is read again, resized, turned; a lack of memory is an error. */
#include "test.h"

#include "rows.h"
#include "tensor/tensor.h"

static tw_tensor *gradient_image(int height, int width, int channels)
{
    tw_tensor *image = tw_tensor_new(TW_UINT8, TW_SHAPE(height, width, channels), NULL);
    for (int64_t i = 0; i < tw_tensor_count(image); i++)
        ((uint8_t *)image->data)[i] = (uint8_t)(i * 5);
    return image;
}

static void writes_and_reads(void **state)
{
    (void)state;
    for (int channels = 1; channels <= 4; channels++) {
        tw_auto tw_tensor *image = gradient_image(7, 9, channels), *png = tw_image_encode_png(image);
        tw_auto tw_tensor *back = tw_image_decode_png(png), *any = tw_image_decode_image(png, .dtype = TW_FLOAT32);
        expect_no_error();
        assert_int_equal(tw_tensor_dim(back, 2), channels);
        assert_memory_equal(back->data, image->data, (size_t)image->count);
        assert_true(fabs(tw_tensor_double_at(any, 11) - 55 / 255.0) < 1e-6);
    }
    tw_auto tw_tensor *image = gradient_image(16, 16, 3), *jpeg = tw_image_encode_jpeg(image, .quality = 100),
                      *back = tw_image_decode_jpeg(jpeg);
    tw_auto tw_tensor *size = tw_tensor_new(TW_INT32, TW_SHAPE(2), (int32_t[]){ 4, 8 }), *small = tw_image_resize(back, size);
    tw_auto tw_tensor *turned = tw_image_rot90(small, 3);
    expect_no_error();
    assert_int_equal(tw_tensor_dim(turned, 0), 8);
    assert_int_equal(tw_tensor_dtype(turned), TW_FLOAT32);
    assert_null(tw_image_decode_jpeg(image));
    tw_clear_error();
    tw_auto tw_tensor *nothing = tw_tensor_string("GIF89a", 6);
    assert_null(tw_image_decode_gif(nothing));
    expect_error(TW_INVALID_ARGUMENT, "Invalid GIF data (size 6)");
}

static void survives_lack_of_memory(void **state)
{
    (void)state;
    tw_auto tw_tensor *image = gradient_image(12, 12, 3);
    tw_tensor *png = tw_image_encode_png(image), *jpeg = tw_image_encode_jpeg(image);
    for (long n = 1; n < 60; n++) {
        tw__alloc_fail_at(n);
        tw_tensor *a = tw_image_decode_image(n % 2 ? png : jpeg),
                  *b = n % 2 ? tw_image_encode_png(image) : tw_image_encode_jpeg(image);
        tw__alloc_fail_at(0);
        assert_true((a && b) || tw_error_code() == TW_RESOURCE_EXHAUSTED);
        tw_clear_error();
        tw_release(a);
        tw_release(b);
    }
    tw_release(png);
    tw_release(jpeg);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(writes_and_reads), cmocka_unit_test(survives_lack_of_memory) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
