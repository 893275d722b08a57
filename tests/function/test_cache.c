/* The cache of traces: what is one call and what is another, what is kept, what is forgotten. */
#include "function/cache.h"
#include "function/tracer.h"
#include "test.h"

static char values[2048];
static int dropped;

static void drop(void *value)
{
    (void)value;
    dropped++;
}

static void *retain(void *value)
{
    return value;
}

static tw__call_key number_key(tw__key_writer *w, double number)
{
    tw__key_begin(w);
    tw__key_argument(w);
    tw__key_float(w, number);
    return tw__key_of(w);
}

static void test_numbers(void **state)
{
    (void)state;
    tw__call_cache *cache = tw__call_cache_new(4);
    tw__key_writer w;
    void *evicted = NULL;
    tw__call_key key = number_key(&w, 1.0);
    assert_int_equal(tw__call_cache_put(cache, &key, &values[1], &evicted), TW_OK);
    tw__key_free(&w);
    tw__key_begin(&w);
    tw__key_argument(&w);
    tw__key_int(&w, 1);
    key = tw__key_of(&w);
    assert_ptr_equal(tw__call_cache_find(cache, &key), &values[1]); /* 1 and 1.0 are equal */
    tw__key_free(&w);
    key = number_key(&w, 1.5);
    assert_null(tw__call_cache_find(cache, &key));
    assert_true(tw__call_cache_changed(cache, &key, 0));
    tw__key_free(&w);
    for (int i = 2; i < 7; i++) {
        key = number_key(&w, i + 0.5);
        assert_int_equal(tw__call_cache_put(cache, &key, &values[i], &evicted), TW_OK);
        tw__key_free(&w);
        if (i < 5)
            assert_null(evicted);
        else
            assert_ptr_equal(evicted, i == 5 ? &values[1] : &values[2]); /* the least recently used goes */
    }
    assert_int_equal(tw__call_cache_count(cache), 4);
    dropped = 0;
    tw__call_cache_free(cache, drop);
    assert_int_equal(dropped, 4);
}

static void test_shapes(void **state)
{
    (void)state;
    tw__call_cache *cache = tw__call_cache_new(8);
    tw__key_writer w;
    void *evicted = NULL;
    tw_shape two = TW_SHAPE(2, 3), four = TW_SHAPE(4, 3), wide = four;
    tw__key_begin(&w);
    tw__key_tensor(&w, TW_FLOAT32, &two);
    tw__call_key key = tw__key_of(&w);
    assert_int_equal(tw__call_cache_put(cache, &key, &values[1], &evicted), TW_OK);
    tw__key_free(&w);
    tw__key_begin(&w);
    tw__key_tensor(&w, TW_FLOAT32, &four);
    key = tw__key_of(&w);
    assert_null(tw__call_cache_find(cache, &key));
    tw__call_cache_widen(cache, &key, &wide);
    assert_int_equal(wide.dims[0], -1);
    assert_int_equal(wide.dims[1], 3);
    tw__call_spec open = { TW_FLOAT32, &wide };
    tw__call_key general = key;
    general.specs = &open;
    assert_int_equal(tw__call_cache_put(cache, &general, &values[2], &evicted), TW_OK);
    assert_ptr_equal(tw__call_cache_find(cache, &key), &values[2]);
    tw__key_free(&w);
    tw__call_cache_free(cache, drop);
}

static void test_variables_and_objects(void **state)
{
    (void)state;
    tw__call_cache *cache = tw__call_cache_new(8);
    tw__key_writer w;
    const tw_shape scalar = TW_SCALAR; /* keys borrow shapes */
    void *evicted = NULL;
    tw__key_begin(&w); /* f(a, a) */
    assert_int_equal(tw__key_variable(&w, &values[0], TW_FLOAT32, &scalar, true), 0);
    assert_int_equal(tw__key_variable(&w, &values[0], TW_FLOAT32, &scalar, true), 0);
    tw__call_key key = tw__key_of(&w);
    assert_int_equal(tw__call_cache_put(cache, &key, &values[1], &evicted), TW_OK);
    tw__key_free(&w);
    tw__key_begin(&w); /* f(b, b) */
    tw__key_variable(&w, &values[9], TW_FLOAT32, &scalar, true);
    tw__key_variable(&w, &values[9], TW_FLOAT32, &scalar, true);
    key = tw__key_of(&w);
    assert_ptr_equal(tw__call_cache_find(cache, &key), &values[1]);
    tw__key_free(&w);
    tw__key_begin(&w); /* f(a, b) */
    tw__key_variable(&w, &values[0], TW_FLOAT32, &scalar, true);
    assert_int_equal(tw__key_variable(&w, &values[9], TW_FLOAT32, &scalar, true), 1);
    key = tw__key_of(&w);
    assert_null(tw__call_cache_find(cache, &key));
    tw__key_free(&w);
    for (int i = 0; i < 100; i++) { /* more than the writer has room for */
        tw__key_begin(&w);
        tw__key_open(&w, &values[3], 40);
        for (int k = 0; k < 40; k++) {
            tw__key_argument(&w);
            tw__key_object(&w, &values[100 + i + k]);
            tw__key_text(&w, 'u', "text", 4);
            tw__key_tensor(&w, TW_INT32, &scalar);
        }
        assert_int_equal(w.status, TW_OK);
        key = tw__key_of(&w);
        assert_null(tw__call_cache_find(cache, &key));
        assert_int_equal(tw__call_cache_put(cache, &key, &values[i], &evicted), TW_OK);
        assert_ptr_equal(tw__call_cache_find(cache, &key), &values[i]);
        tw__key_free(&w);
    }
    int forgotten = 0;
    while (tw__call_cache_forget(cache, &values[100 + 99]))
        forgotten++;
    assert_int_equal(forgotten, 8);
    assert_int_equal(tw__call_cache_count(cache), 0);
    tw__call_cache_free(cache, drop);
}

static int made;

static void *make(void *context, const tw_shape *shapes, bool *once)
{
    (void)shapes;
    *once = context != NULL;
    return &values[++made];
}

static void test_tracer(void **state)
{
    (void)state;
    static const char *const names[] = { "n" };
    tw__tracer t;
    made = dropped = 0;
    assert_int_equal(tw__tracer_start(&t, "f", names, 1, &values[0], retain, drop), TW_OK);
    tw__key_writer w;
    for (int i = 0; i < 3; i++) {
        tw__call_key key = number_key(&w, i + 0.5);
        assert_null(tw__tracer_find(&t, &key));
        tw__tracing_begin();
        assert_ptr_equal(tw__tracer_trace(&t, &key, true, make, NULL), &values[i + 1]);
        tw__tracing_end();
        assert_ptr_equal(tw__tracer_find(&t, &key), &values[i + 1]);
        tw__key_free(&w);
    }
    tw__call_key key = number_key(&w, 77.5);
    assert_non_null(tw__tracer_trace(&t, &key, true, make, values)); /* good for one call */
    assert_null(tw__tracer_find(&t, &key));
    tw__key_free(&w);
    assert_int_equal(tw__tracer_count(&t), 4);
    tw__tracer_end(&t);
    assert_int_equal(dropped, 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_numbers),
        cmocka_unit_test(test_shapes),
        cmocka_unit_test(test_variables_and_objects),
        cmocka_unit_test(test_tracer),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
