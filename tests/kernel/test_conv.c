/* Convolutions: the library's form, the plain form and a sum written out must agree, for many geometries, from several threads at
 * once, with more shapes than the table of primitives holds, and when memory fails. Pooling: gradients that are stored and those
 * that are added. */
#include <pthread.h>

#include "test.h"

#include <thalweg/keras.h>

#include "kernel/conv/conv.h"
#include "kernel/pool/pool.h"
#include "rows.h"

static uint32_t seed = 1;

static int64_t draw(int64_t low, int64_t high)
{
    seed = seed * 1664525u + 1013904223u;
    return low + (int64_t)(seed >> 8) % (high - low + 1);
}

static float *random_floats(int64_t count)
{
    float *values = malloc((size_t)(count ? count : 1) * sizeof *values);
    assert_non_null(values);
    for (int64_t i = 0; i < count; i++)
        values[i] = (float)draw(-20, 20) / 8;
    return values;
}

/* The definition. */
static void reference(tw__conv_kind kind, const tw__conv *c, const float *x, const float *w, const float *y, double *out)
{
    int64_t in = c->depth, each = c->out_channels / c->groups;
    for (int64_t n = 0; n < c->batch; n++)
        for (int64_t r = 0; r < c->out[0]; r++)
            for (int64_t s = 0; s < c->out[1]; s++)
                for (int64_t i = 0; i < c->filter[0]; i++)
                    for (int64_t j = 0; j < c->filter[1]; j++) {
                        int64_t row = r * c->stride[0] - c->before[0] + i * c->dilation[0];
                        int64_t column = s * c->stride[1] - c->before[1] + j * c->dilation[1];
                        if (row < 0 || row >= c->in[0] || column < 0 || column >= c->in[1])
                            continue;
                        for (int64_t o = 0; o < c->out_channels; o++)
                            for (int64_t k = 0; k < in; k++) {
                                int64_t xi = ((n * c->in[0] + row) * c->in[1] + column) * c->in_channels + o / each * in + k;
                                int64_t wi = ((i * c->filter[1] + j) * in + k) * c->out_channels + o;
                                int64_t yi = ((n * c->out[0] + r) * c->out[1] + s) * c->out_channels + o;
                                if (kind == TW_CONV_OUTPUT)
                                    out[yi] += (double)x[xi] * w[wi];
                                else if (kind == TW_CONV_INPUT)
                                    out[xi] += (double)y[yi] * w[wi];
                                else
                                    out[wi] += (double)x[xi] * y[yi];
                            }
                    }
}

static tw__conv random_conv(int64_t largest)
{
    tw__conv c = { .batch = draw(1, 5), .groups = draw(0, 3) ? 1 : draw(1, 4), .depth = draw(1, largest) };
    c.in_channels = c.groups * c.depth;
    c.out_channels = c.groups * draw(1, largest);
    for (int i = 0; i < 2; i++) {
        c.filter[i] = draw(1, 4);
        c.stride[i] = draw(1, 3);
        c.dilation[i] = draw(0, 2) ? 1 : draw(1, 3);
        c.before[i] = draw(0, 3);
        c.after[i] = draw(0, 3);
        int64_t whole = (c.filter[i] - 1) * c.dilation[i] + 1;
        c.in[i] = draw(1, 9);
        while (c.in[i] + c.before[i] + c.after[i] < whole)
            c.in[i]++;
        c.out[i] = (c.in[i] + c.before[i] + c.after[i] - whole) / c.stride[i] + 1;
    }
    return c;
}

static void compare(const tw__conv *c)
{
    int64_t counts[] = { tw__conv_output_count(c), tw__conv_input_count(c), tw__conv_filter_count(c) };
    float *x = random_floats(counts[1]), *w = random_floats(counts[2]), *y = random_floats(counts[0]);
    for (int kind = 0; kind < 3; kind++) {
        const float *a = kind == TW_CONV_INPUT ? w : x, *b = kind == TW_CONV_OUTPUT ? w : y;
        double *expected = calloc((size_t)counts[kind], sizeof *expected);
        float *got = malloc((size_t)counts[kind] * sizeof *got);
        reference((tw__conv_kind)kind, c, x, w, y, expected);
        for (int form = 0; form < 2; form++) {
            memset(got, 0xff, (size_t)counts[kind] * sizeof *got);
            assert_int_equal(form ? tw__conv_plain((tw__conv_kind)kind, TW_FLOAT32, c, a, b, got)
                                  : tw__conv_run((tw__conv_kind)kind, TW_FLOAT32, c, a, b, got),
                             TW_OK);
            for (int64_t i = 0; i < counts[kind]; i++)
                assert_true(fabs((double)got[i] - expected[i]) <= 1e-4 * (1 + fabs(expected[i])));
        }
        free(expected);
        free(got);
    }
    free(x);
    free(w);
    free(y);
}

static void forms_agree(void **state)
{
    (void)state;
    for (int i = 0; i < 300; i++) {
        tw__conv c = random_conv(i % 10 ? 7 : 37);
        compare(&c);
    }
    expect_no_error();
}

/* A layer's size: large enough that the batch is cut over threads, in unequal parts. */
static void batches_are_cut(void **state)
{
    (void)state;
    tw__conv c = { 7, 16, 24, 1, 16, { 14, 14 }, { 14, 14 }, { 5, 5 }, { 1, 1 }, { 1, 1 }, { 2, 2 }, { 2, 2 } };
    int before = tw__thread_count();
    for (int threads = 1; threads <= 3; threads++) {
        tw__thread_count_set(threads);
        compare(&c);
    }
    tw__thread_count_set(before);
}

/* One or two large images: their rows are cut. */
static void images_are_cut(void **state)
{
    (void)state;
    static const tw__conv sizes[] = {
        { 1, 16, 24, 1, 16, { 30, 30 }, { 30, 30 }, { 5, 5 }, { 1, 1 }, { 1, 1 }, { 2, 2 }, { 2, 2 } },
        { 2, 16, 24, 1, 16, { 31, 30 }, { 16, 15 }, { 3, 3 }, { 2, 2 }, { 1, 1 }, { 1, 0 }, { 1, 1 } },
        { 1, 32, 48, 1, 32, { 30, 30 }, { 26, 26 }, { 3, 3 }, { 1, 1 }, { 2, 2 }, { 0, 0 }, { 0, 0 } },
        { 1, 64, 64, 64, 1, { 60, 60 }, { 60, 60 }, { 5, 5 }, { 1, 1 }, { 1, 1 }, { 2, 2 }, { 2, 2 } },
        { 1, 64, 96, 1, 64, { 29, 29 }, { 29, 29 }, { 1, 1 }, { 1, 1 }, { 1, 1 }, { 0, 0 }, { 0, 0 } },
        { 1, 16, 16, 1, 16, { 3, 90 }, { 9, 90 }, { 4, 4 }, { 1, 1 }, { 1, 1 }, { 6, 1 }, { 3, 2 } },
    };
    int before = tw__thread_count();
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        for (int threads = 1; threads <= 5; threads += 2) {
            tw__thread_count_set(threads);
            compare(&sizes[i]);
        }
    }
    tw__thread_count_set(before);
}

static void *work(void *failed)
{
    for (int64_t i = 0; i < 40; i++) { /* more shapes than are kept, the same ones in every thread */
        tw__conv c = { 1 + i % 3, 3, 4, 1, 3, { 5 + i, 4 }, { 5 + i, 4 }, { 3, 3 }, { 1, 1 }, { 1, 1 }, { 1, 1 }, { 1, 1 } };
        int64_t inputs = tw__conv_input_count(&c), outputs = tw__conv_output_count(&c);
        float x[3 * 44 * 4 * 3], w[108], y[3 * 44 * 4 * 4], again[3 * 44 * 4 * 4];
        for (int64_t k = 0; k < inputs; k++)
            x[k] = (float)(k % 7);
        for (int k = 0; k < 108; k++)
            w[k] = (float)(k % 5);
        if (tw__conv_run(TW_CONV_OUTPUT, TW_FLOAT32, &c, x, w, y) != TW_OK ||
            tw__conv_plain(TW_CONV_OUTPUT, TW_FLOAT32, &c, x, w, again) != TW_OK ||
            memcmp(y, again, (size_t)outputs * sizeof *y) != 0)
            *(_Atomic bool *)failed = true;
    }
    return NULL;
}

static void threads_share(void **state)
{
    (void)state;
    pthread_t threads[4];
    _Atomic bool failed = false;
    for (int i = 0; i < 4; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, work, &failed), 0);
    for (int i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
    assert_false(failed);
}

static void many_shapes(void **state)
{
    (void)state;
    float x[400] = { 1, 2, 3 }, w[4] = { 1, 2, 3, 4 }, y[400];
    for (int64_t round = 0; round < 2; round++) {
        for (int64_t i = 1; i <= 300; i++) {
            tw__conv c = { 1, 1, 1, 1, 1, { 1, i + 1 }, { 1, i }, { 1, 2 }, { 1, 1 }, { 1, 1 }, { 0, 0 }, { 0, 0 } };
            assert_int_equal(tw__conv_run(TW_CONV_OUTPUT, TW_FLOAT32, &c, x, w, y), TW_OK);
            assert_true(y[0] == 5);
        }
    }
}

/* Every allocation of these ops fails once: an error, no crash, and the next call works. */
static void memory_fails(void **state)
{
    (void)state;
    tw_auto tw_tensor *x = tw_tensor_new(TW_FLOAT32, TW_SHAPE(2, 6, 6, 3), NULL);
    tw_auto tw_tensor *half = tw_tensor_new(TW_FLOAT16, TW_SHAPE(2, 6, 6, 3), NULL);
    tw_auto tw_tensor *w = tw_tensor_new(TW_FLOAT32, TW_SHAPE(3, 3, 3, 4), NULL);
    tw_auto tw_tensor *w_half = tw_tensor_new(TW_FLOAT16, TW_SHAPE(3, 3, 3, 4), NULL);
    tw_auto tw_tensor *ones = tw_tensor_new(TW_FLOAT32, TW_SHAPE(3), NULL);
    int64_t one[] = { 1, 1, 1, 1 }, two[] = { 1, 2, 2, 1 };
    tw_attr conv[] = { TW_A_INTS("strides", one, 4), TW_A_STRING("padding", "SAME") };
    tw_attr pool[] = { TW_A_INTS("strides", two, 4), TW_A_INTS("ksize", two, 4), TW_A_STRING("padding", "SAME") };
    tw_attr norm[] = { TW_A_BOOL("is_training", false) };
    for (int which = 0; which < 5; which++) {
        bool done = false;
        for (long n = 0; n < 60 && !done; n++) { /* 0: none fails; rows are parsed then */
            tw_tensor *out[6] = { NULL };
            int count = 6;
            tw__buffer_trim();
            tw__alloc_fail_at(n);
            tw_status status =
                which == 0   ? tw_op_apply("Conv2D", TW_TENSORS(x, w), conv, 2, out, &count)
                : which == 1 ? tw_op_apply("Conv2D", TW_TENSORS(half, w_half), conv, 2, out, &count)
                : which == 2 ? tw_op_apply("MaxPool", TW_TENSORS(half), pool, 3, out, &count)
                : which == 3 ? tw_op_apply("AvgPool", TW_TENSORS(x), pool, 3, out, &count)
                             : tw_op_apply("FusedBatchNormV3", TW_TENSORS(half, ones, ones, ones, ones), norm, 1, out, &count);
            tw__alloc_fail_at(0);
            if (status == TW_OK) {
                done = n > 0;
                for (int i = 0; i < count; i++)
                    tw_release(out[i]);
            } else {
                assert_int_equal(tw_error_code(), TW_RESOURCE_EXHAUSTED);
                tw_clear_error();
            }
        }
        assert_true(done);
    }
}

/* max_pool_grad of windows that don't touch, touch and overlap, against the definition. */
static void pooling_gradients(void **state)
{
    (void)state;
    for (int round = 0; round < 200; round++) {
        tw__pool p = { .batch = draw(1, 3), .channels = draw(1, 5) };
        for (int i = 0; i < 2; i++) {
            p.in[i] = draw(1, 9);
            p.window[i] = draw(1, 4);
            p.stride[i] = draw(1, 4);
            p.before[i] = draw(0, p.window[i] - 1);
            p.out[i] = (p.in[i] + p.before[i] - 1) / p.stride[i] + 1; /* the last window begins inside */
        }
        int64_t inputs = p.batch * p.in[0] * p.in[1] * p.channels, outputs = p.batch * p.out[0] * p.out[1] * p.channels;
        float *x = random_floats(inputs), *g = random_floats(outputs), *y = random_floats(outputs), *got = random_floats(inputs);
        float *expected = calloc((size_t)inputs, sizeof *expected);
        assert_int_equal(tw__max_pool(TW_FLOAT32, &p, x, y), TW_OK);
        assert_int_equal(tw__max_pool_grad(TW_FLOAT32, &p, x, y, g, got), TW_OK);
        for (int64_t at = 0; at < outputs; at++) {
            int64_t channel = at % p.channels, s = at / p.channels % p.out[1], r = at / p.channels / p.out[1] % p.out[0];
            int64_t n = at / p.channels / p.out[1] / p.out[0], best = -1;
            for (int64_t i = 0; i < p.window[0] * p.window[1]; i++) {
                int64_t row = r * p.stride[0] - p.before[0] + i / p.window[1],
                        column = s * p.stride[1] - p.before[1] + i % p.window[1];
                int64_t place = ((n * p.in[0] + row) * p.in[1] + column) * p.channels + channel;
                if (row >= 0 && row < p.in[0] && column >= 0 && column < p.in[1] && (best < 0 || x[place] > x[best]))
                    best = place;
            }
            if (best >= 0) {
                assert_true(y[at] == x[best]);
                expected[best] += g[at];
            }
        }
        for (int64_t i = 0; i < inputs; i++)
            assert_true(fabsf(got[i] - expected[i]) < 1e-4f);
        free(x);
        free(g);
        free(y);
        free(got);
        free(expected);
    }
}

/* The calls as a C program writes them. */
static void from_c(void **state)
{
    (void)state;
    tw_auto tw_tensor *x = tw_tensor_new(TW_FLOAT32, TW_SHAPE(1, 4, 4, 1), NULL);
    tw_auto tw_tensor *w = tw_tensor_new(TW_FLOAT32, TW_SHAPE(3, 3, 1, 2), NULL);
    tw_auto tw_tensor *y = tw_nn_conv2d(x, w, TW_INTS(1), TW_TEXT("VALID"));
    tw_auto tw_layer *layer = tw_layers_conv2d(3, TW_INTS(2), .activation = "relu", .padding = "same");
    tw_auto tw_tensor *z = tw_layer_call(layer, y);
    tw_auto tw_layer *pool = tw_layers_max_pooling2d(.pool_size = TW_INTS(2));
    tw_auto tw_tensor *pooled = tw_layer_call(pool, z);
    expect_no_error();
    assert_int_equal(tw_tensor_count(y), 8);
    assert_int_equal(tw_tensor_dim(z, 3), 3);
    assert_int_equal(tw_tensor_count(pooled), 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(forms_agree),       cmocka_unit_test(batches_are_cut), cmocka_unit_test(images_are_cut),
        cmocka_unit_test(threads_share),     cmocka_unit_test(many_shapes),     cmocka_unit_test(memory_fails),
        cmocka_unit_test(pooling_gradients), cmocka_unit_test(from_c),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
