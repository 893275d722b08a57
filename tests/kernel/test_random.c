/* Philox, MT19937 and the seeds' rules against known values. */
#include "test.h"

#include "api/random/random.h"
#include "rows.h"

static void philox_words(void **state)
{
    (void)state;
    static const struct {
        tw__philox from;
        uint32_t words[4];
    } known[] = {
        { { { 0, 0 }, { 0, 0, 0, 0 } }, { 0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8 } },
        { { { ~0u, ~0u }, { ~0u, ~0u, ~0u, ~0u } }, { 0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd } },
        { { { 0xa4093822, 0x299f31d0 }, { 0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344 } },
          { 0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1 } },
        { { { 1, 0 }, { 0, 0, 2, 0 } }, { 0xe73404cf, 0x8cedc5d3, 0x3f071736, 0x0a0afddd } },
    };
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        tw__philox philox = known[i].from;
        uint32_t words[4];
        tw__philox_next(&philox, words);
        assert_memory_equal(words, known[i].words, sizeof words);
    }
    tw__philox carried = { { 0, 0 }, { ~0u, ~0u, 5, 0 } };
    tw__philox_skip(&carried, 2);
    assert_int_equal(carried.counter[0], 1);
    assert_int_equal(carried.counter[2], 6);
    tw__philox stateless = tw__philox_stateless(1, 2);
    assert_int_equal(stateless.key[0], 0x6d2f7fba);
    assert_int_equal(stateless.counter[3], 0xf7734320);
}

static void mersenne_as_python(void **state)
{
    (void)state;
    tw__mersenne m;
    tw__mersenne_seed(&m, 0);
    static const uint32_t raw[] = { 3626764237u, 1654615998u, 3255389356u, 3823568514u };
    for (int i = 0; i < 4; i++)
        assert_int_equal(tw__mersenne_next(&m), raw[i]);
    tw__mersenne_seed(&m, 42);
    static const int64_t drawn[] = { 478163327, 107420369, 1181241943, 1051802512, 958682846 };
    for (int i = 0; i < 5; i++)
        assert_int_equal(tw__mersenne_between(&m, 0, INT32_MAX), drawn[i]);
    tw__mersenne_seed(&m, 1);
    static const int64_t keras[] = { 144272510, 611178003, 909925048, 861425549 };
    for (int i = 0; i < 4; i++)
        assert_int_equal(tw__mersenne_between(&m, 1, 1000000000), keras[i]);
}

static void floats_are(tw_tensor *tensor, const double *expected)
{
    assert_non_null(tensor);
    for (int64_t i = 0; i < tensor->count; i++)
        assert_true(fabs((double)((const float *)tensor->data)[i] - expected[i]) <
                    6e-9); /* the digits printed tell floats apart */
    tw_release(tensor);
}

static void eager_functions(void **state)
{
    (void)state;
    int32_t four = 4, three = 3;
    tw_auto tw_tensor *shape = tw_tensor_new(TW_INT32, TW_SHAPE(1), &four);
    tw_auto tw_tensor *shape3 = tw_tensor_new(TW_INT32, TW_SHAPE(1), &three);
    /* before any global seed */
    floats_are(tw_random_uniform(shape3, .seed = 11), (double[]){ 0.08955085, 0.38965607, 0.50471365 });
    tw_random_set_seed(1234);
    floats_are(tw_random_uniform(shape),
               (double[]){ 0.5380393266677856, 0.3646186590194702, 0.5816301107406616, 0.2438284158706665 });
    floats_are(tw_random_normal(shape),
               (double[]){ 1.1468065977096558, 0.9645992517471313, 0.8783014416694641, -0.3101022243499756 });
    floats_are(tw_random_truncated_normal(shape),
               (double[]){ 0.9588322639465332, -0.3325802981853485, -0.0636182501912117, 0.02438497170805931 });
    tw_auto tw_tensor *hundred = tw_tensor_int(100);
    tw_auto tw_tensor *integers = tw_random_uniform(shape, .maxval = hundred, .dtype = TW_INT32);
    assert_non_null(integers);
    assert_memory_equal(integers->data, ((int32_t[]){ 1, 57, 18, 24 }), 16);
    tw_auto tw_tensor *seed = tw_tensor_new(TW_INT32, TW_SHAPE(2), (int32_t[]){ 1, 2 });
    floats_are(tw_random_stateless_uniform(shape, seed),
               (double[]){ 0.8440604209899902, 0.19204533100128174, 0.9962232112884521, 0.16038739681243896 });
    floats_are(tw_random_stateless_normal(shape, seed),
               (double[]){ 0.544110119342804, 0.20738030970096588, 0.0735643208026886, 0.04643455147743225 });
    /* the same explicit seed goes on with its stream; a new global seed starts over */
    tw_random_set_seed(0);
    floats_are(tw_random_uniform(shape3, .seed = 0), (double[]){ 0.01975703, 0.00704217, 0.18987215 });
    tw_auto tw_tensor *second = tw_random_uniform(shape3, .seed = 0);
    assert_true(((const float *)second->data)[0] != (float)0.01975703);
    tw_random_set_seed(0);
    floats_are(tw_random_uniform(shape3, .seed = 0), (double[]){ 0.01975703, 0.00704217, 0.18987215 });
    assert_int_equal(tw_error_code(), TW_OK);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(philox_words),
        cmocka_unit_test(mersenne_as_python),
        cmocka_unit_test(eager_functions),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
