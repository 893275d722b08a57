/* Everything that oneDNN computes for us against loops of our own: convolutions of every filter size, stride, dilation, number of
 * channels and groups, with both gradients, in one piece and cut for threads, with what follows them, and products. Run once for
 * each instruction set that the processor has, in a process of its own.
 *
 * All numbers are small multiples of 1/8, so that every order of additions gives the same sum and results are compared bit by
 * bit. The library must write nowhere else: results end where the system ends a page, bytes lie behind each piece of scratch
 * memory, and the C library checks its heap.
 *
 * Without an argument a sample is run; --full runs all. */
#include <signal.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "test.h"

#include "kernel/conv/conv.h"
#include "kernel/gemm/gemm.h"
#include "kernel/isa.h"
#include "kernel/nn.h"
#include "rows.h"

enum { PAGE = 4096, CHANNELS = 40, FILTER = 7, STRIDE = 3, DILATION = 2, SAMPLE = 61, THREADS = 5 };

static bool full;
static uint32_t seed = 1;
static long tried, by_library;
static const char *const names[] = { "plain", "avx2", "avx512" };

static int64_t draw(int64_t low, int64_t high)
{
    seed = seed * 1664525u + 1013904223u;
    return low + (int64_t)(seed >> 8) % (high - low + 1);
}

/* Floats whose last one ends at the end of a page, behind which nothing may be touched. */
typedef struct fenced {
    float *values;
    void *pages;
    size_t bytes;
} fenced;

static fenced fence(int64_t count, bool random)
{
    size_t used = (size_t)count * sizeof(float), whole = (used + PAGE - 1) / PAGE * PAGE;
    fenced f = { .bytes = whole + PAGE };
    f.pages = mmap(NULL, f.bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_true(f.pages != MAP_FAILED);
    assert_int_equal(mprotect((char *)f.pages + whole, PAGE, PROT_NONE), 0);
    f.values = (float *)(void *)((char *)f.pages + (whole - used));
    for (int64_t i = 0; i < count; i++)
        f.values[i] = random ? (float)draw(-20, 20) / 8 : -1e30f;
    return f;
}

static void drop(fenced f)
{
    munmap(f.pages, f.bytes);
}

/* ---- convolutions ---- */

static void describe(const tw__conv *c, int kind, int64_t at, float got, float expected)
{
    static const char *const kinds[] = { "output", "input's gradient", "filter's gradient" };
    print_error(
        "%s: batch %d, channels %d -> %d, groups %d, input %dx%d, filter %dx%d, stride %dx%d, dilation %dx%d: element %d is %g, not %g\n",
        kinds[kind], (int)c->batch, (int)c->in_channels, (int)c->out_channels, (int)c->groups, (int)c->in[0], (int)c->in[1],
        (int)c->filter[0], (int)c->filter[1], (int)c->stride[0], (int)c->stride[1], (int)c->dilation[0], (int)c->dilation[1],
        (int)at, (double)got, (double)expected);
}

static void expect_equal(const tw__conv *c, int kind, const float *got, const float *expected, int64_t count)
{
    for (int64_t i = 0; i < count; i++) {
        if (got[i] != expected[i]) {
            describe(c, kind, i, got[i], expected[i]);
            fail();
        }
    }
}

/* A bias for each channel and relu behind the convolution, which pieces apply while they run. */
static void compare_epilogue(const tw__conv *c, const float *x, const float *w, float *got, float *expected, int64_t count)
{
    fenced bias = fence(c->out_channels, true);
    tw__epilogue then = { bias.values, &tw__unary_relu };
    assert_int_equal(tw__conv_then(TW_FLOAT32, c, x, w, got, &then), TW_OK);
    tw__epilogue_run(&then, TW_FLOAT32, expected, count / c->out_channels, c->out_channels);
    expect_equal(c, TW_CONV_OUTPUT, got, expected, count);
    drop(bias);
}

static void compare(const tw__conv *c)
{
    int64_t counts[] = { tw__conv_output_count(c), tw__conv_input_count(c), tw__conv_filter_count(c) };
    fenced x = fence(counts[1], true), w = fence(counts[2], true), y = fence(counts[0], true);
    for (int kind = 0; kind < 3; kind++) {
        const float *a = kind == TW_CONV_INPUT ? w.values : x.values, *b = kind == TW_CONV_OUTPUT ? w.values : y.values;
        fenced got = fence(counts[kind], false), expected = fence(counts[kind], false);
        tw_status status = TW_OK;
        assert_int_equal(tw__conv_plain((tw__conv_kind)kind, TW_FLOAT32, c, a, b, expected.values), TW_OK);
        by_library += tw__conv_onednn((tw__conv_kind)kind, c, a, b, got.values, NULL, &status);
        for (int round = 0; round < 2; round++) { /* what the first run leaves in the scratch memory must not matter */
            status = tw__conv_run((tw__conv_kind)kind, TW_FLOAT32, c, a, b, got.values);
            if (status != TW_OK)
                describe(c, kind, -1, 0, 0);
            assert_int_equal(status, TW_OK);
            expect_equal(c, kind, got.values, expected.values, counts[kind]);
        }
        if (kind == TW_CONV_OUTPUT)
            compare_epilogue(c, x.values, w.values, got.values, expected.values, counts[kind]);
        drop(got);
        drop(expected);
    }
    drop(x);
    drop(w);
    drop(y);
    tried++;
}

/* The sizes of an image that gives `width` pixels along a dimension, whose filter, stride and dilation are set. */
static void fit(tw__conv *c, int i, int64_t width, bool same)
{
    int64_t reach = (c->filter[i] - 1) * c->dilation[i] + 1, needed = (width - 1) * c->stride[i] + reach,
            padding = same ? reach - 1 : 0;
    if (needed - padding < 1)
        padding = needed - 1;
    c->out[i] = width;
    c->before[i] = padding / 2;
    c->after[i] = padding - padding / 2;
    c->in[i] = needed - padding + (c->stride[i] > 1 ? draw(0, c->stride[i] - 1) : 0); /* pixels at the end that no filter meets */
}

/* An image for the geometry; wide ones are met as often as narrow ones. */
static void compare_size(int64_t filter, int64_t stride, int64_t dilation, int64_t groups, int64_t depth, int64_t each)
{
    static const int64_t widths[] = { 28, 5, 13, 28, 7, 31 };
    tw__conv c = {
        .batch = draw(1, 2), .groups = groups, .depth = depth, .in_channels = groups * depth, .out_channels = groups * each
    };
    bool same = draw(0, 1);
    for (int i = 0; i < 2; i++) {
        c.filter[i] = filter;
        c.stride[i] = stride;
        c.dilation[i] = dilation;
        fit(&c, i, i ? widths[draw(0, 5)] : draw(3, 9), same);
    }
    compare(&c);
}

static void convolutions(void **state)
{
    (void)state;
    tw__conv_guard = 256;
    long number = 0;
    for (int64_t filter = 1; filter <= FILTER; filter++)
        for (int64_t stride = 1; stride <= STRIDE; stride++)
            for (int64_t dilation = 1; dilation <= (filter > 1 ? DILATION : 1); dilation++)
                for (int64_t channels = 1; channels <= CHANNELS; channels++)
                    for (int form = 0; form < 3; form++) { /* one group, depthwise, some groups */
                        bool strided_pixel = filter == 1 && stride > 1;
                        if (!full && number++ % (strided_pixel ? 5 : SAMPLE))
                            continue;
                        int64_t groups = form == 0 ? 1 : form == 1 ? channels : draw(2, 4);
                        compare_size(filter, stride, dilation, groups,
                                     form == 0   ? channels
                                     : form == 1 ? 1
                                                 : (channels + 3) / 4,
                                     form == 0   ? draw(1, CHANNELS)
                                     : form == 1 ? draw(1, 2)
                                                 : draw(1, 12));
                    }
    tw__conv_guard = 0;
    expect_no_error();
}

/* Rows and columns each with a filter, a stride and a dilation of their own; images of one row are those of Conv1D. */
static void rectangles(void **state)
{
    (void)state;
    tw__conv_guard = 256;
    for (int n = 0; n < (full ? 4000 : 80); n++) {
        int64_t groups = n % 3 == 0 ? draw(2, CHANNELS) : 1, depth = groups > 1 ? draw(1, 3) : draw(1, CHANNELS);
        tw__conv c = { .batch = draw(1, 2), .groups = groups, .depth = depth, .in_channels = groups * depth };
        c.out_channels = groups > 1 ? groups * draw(1, 3) : draw(1, CHANNELS);
        bool same = draw(0, 1), row = draw(0, 2) == 0;
        for (int i = 0; i < 2; i++) {
            bool one = i == 0 && row;
            c.filter[i] = one ? 1 : draw(1, FILTER);
            c.stride[i] = one ? 1 : draw(1, STRIDE);
            c.dilation[i] = c.filter[i] > 1 ? draw(1, DILATION + 1) : 1;
            fit(&c, i, one ? 1 : draw(1, i ? 40 : 9), same);
        }
        compare(&c);
    }
    tw__conv_guard = 0;
}

/* Large enough to be cut for threads, by images or by rows, which have paddings of their own then. */
static void pieces(void **state)
{
    (void)state;
    tw__conv_guard = 256;
    tw__thread_count_set(THREADS);
    for (int n = 0; n < (full ? 400 : 8); n++) {
        int64_t groups = n % 4 == 0 ? 8 * draw(2, 5) : 1, filter = draw(1, FILTER), stride = draw(1, 2),
                dilation = draw(1, DILATION);
        tw__conv c = { .batch = draw(1, 7), .groups = groups, .depth = groups > 1 ? 1 : draw(9, 72) };
        c.in_channels = groups * c.depth;
        c.out_channels = groups > 1 ? groups : draw(9, 72);
        bool same = draw(0, 1);
        for (int i = 0; i < 2; i++) {
            c.filter[i] = filter;
            c.stride[i] = stride;
            c.dilation[i] = dilation;
            fit(&c, i, draw(20, 40), same);
        }
        compare(&c);
    }
    tw__thread_count_set(2);
    tw__conv_guard = 0;
}

/* The case that broke the heap: few channels, a filter of one pixel, a stride, an output about 28 wide. */
static void strided_pixels(void **state)
{
    (void)state;
    tw__conv_guard = 256;
    for (int64_t channels = 1; channels <= 17; channels++)
        for (int round = 0; round < 6; round++) {
            tw__conv c = {
                1, channels, 16, 1, channels, { 62, 62 }, { 31, 31 }, { 1, 1 }, { 2, 2 }, { 1, 1 }, { 0, 0 }, { 0, 0 }
            };
            compare(&c);
        }
    tw__conv_guard = 0;
}

/* ---- products ---- */

static void product(int64_t m, int64_t n, int64_t k, bool turn_a, bool turn_b)
{
    int64_t c_row = n + draw(0, 1) * draw(1, 20); /* part of a larger result, as threads are given it */
    fenced a = fence(m * k, true), b = fence(k * n, true), c = fence((m - 1) * c_row + n, false);
    int64_t a_row = turn_a ? 1 : k, a_column = turn_a ? m : 1, b_row = turn_b ? 1 : n, b_column = turn_b ? k : 1;
    if (tw__gemm_onednn_has(a_row, a_column, b_row, b_column)) {
        assert_true(tw__gemm_onednn(m, n, k, a.values, a_row, a_column, b.values, b_row, b_column, c.values, c_row));
        for (int64_t i = 0; i < m; i++)
            for (int64_t j = 0; j < (i + 1 < m ? c_row : n); j++) {
                double sum = j < n ? 0 : (double)-1e30f;
                for (int64_t p = 0; p < k && j < n; p++)
                    sum += (double)a.values[i * a_row + p * a_column] * (double)b.values[p * b_row + j * b_column];
                if ((double)c.values[i * c_row + j] != sum)
                    print_error("product [%d, %d] x [%d, %d], turned %d %d: element %d, %d\n", (int)m, (int)k, (int)k, (int)n,
                                turn_a, turn_b, (int)i, (int)j);
                assert_true((double)c.values[i * c_row + j] == sum);
            }
        tried++;
    }
    drop(a);
    drop(b);
    drop(c);
}

static void products(void **state)
{
    (void)state;
    static const int64_t sizes[] = { 2,  3,  4,  5,  7,  8,  9,  15, 16, 17,  23,  24,  25, 31,
                                     32, 33, 47, 48, 49, 63, 64, 65, 96, 127, 129, 257, 300 };
    int64_t last = sizeof sizes / sizeof *sizes - 1;
    for (int i = 0; i < (full ? 3000 : 100); i++)
        product(sizes[draw(0, last)], sizes[draw(0, last)], sizes[draw(0, last)], draw(0, 1), draw(0, 1));
}

/* [m, n] times a vector, exactly: all sums are multiples of 1/64 below 2^53. */
static double *times(int64_t m, int64_t n, const float *a, int64_t a_row, int64_t a_column, const double *vector)
{
    double *result = calloc((size_t)m, sizeof *result);
    assert_non_null(result);
    for (int64_t i = 0; i < m; i++)
        for (int64_t j = 0; j < n; j++)
            result[i] += (double)a[i * a_row + j * a_column] * vector[j];
    return result;
}

/* Products of the sizes that really are given to the library, as threads cut them: times a vector of random numbers they are what
 * their factors are. */
static void large_product(int64_t m, int64_t n, int64_t k, bool turn_a, bool turn_b)
{
    fenced a = fence(m * k, true), b = fence(k * n, true), c = fence(m * n, false);
    int64_t a_row = turn_a ? 1 : k, a_column = turn_a ? m : 1, b_row = turn_b ? 1 : n, b_column = turn_b ? k : 1;
    assert_int_equal(tw__gemm_float(m, n, k, a.values, a_row, a_column, b.values, b_row, b_column, c.values, n), TW_OK);
    double *vector = calloc((size_t)n, sizeof *vector);
    assert_non_null(vector);
    for (int64_t i = 0; i < n; i++)
        vector[i] = (double)draw(-1000, 1000);
    double *inner = times(k, n, b.values, b_row, b_column, vector), *expected = times(m, k, a.values, a_row, a_column, inner);
    double *got = times(m, n, c.values, n, 1, vector);
    for (int64_t i = 0; i < m; i++)
        assert_true(got[i] == expected[i]);
    free(vector);
    free(inner);
    free(expected);
    free(got);
    drop(a);
    drop(b);
    drop(c);
    tried++;
}

static void large_products(void **state)
{
    (void)state;
    large_product(2048, 1024, 1024, false, false);
    large_product(2051, 1031, 1027, true, true);
    for (int i = 0; full && i < 40; i++)
        large_product(2048 + draw(0, 700), 1024 + draw(0, 700), 1024 + draw(0, 700), draw(0, 1), draw(0, 1));
}

/* ---- signals ---- */

enum { STACK = 1 << 20 };
static _Atomic long signals_seen, elsewhere;
static char *stack; /* of the thread that computes */

static void on_signal(int number)
{
    char here;
    (void)number;
    signals_seen++;
    elsewhere += stack - &here > STACK || &here - stack > STACK;
}

/* Signals come all the time to the thread that computes. Their handlers stand on its stack, and not where the library has data.
 */
static void signals(void **state)
{
    (void)state;
    char here;
    static const struct itimerval often = { { 0, 200 }, { 0, 200 } }, never;
    struct sigaction action = { .sa_handler = on_signal, .sa_flags = SA_RESTART }, before;
    stack = &here;
    tw__thread_count_set(1);
    sigaction(SIGALRM, &action, &before);
    setitimer(ITIMER_REAL, &often, NULL);
    large_product(2100, 1125, 1500, false, false);
    for (int n = 0; n < 20; n++)
        product(300, 300, 300, false, false);
    for (int n = 0; n < (full ? 60 : 12); n++)
        compare_size(1 + n % FILTER, 1 + n % STRIDE, 1, n % 4 ? 1 : 8, n % 4 ? 24 : 2, 16);
    setitimer(ITIMER_REAL, &never, NULL);
    sigaction(SIGALRM, &before, NULL);
    tw__thread_count_set(2);
    assert_true(signals_seen > 0);
    assert_int_equal(elsewhere, 0);
}

/* ---- one process for each instruction set ---- */

static int run(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(strided_pixels), cmocka_unit_test(convolutions),
                                        cmocka_unit_test(rectangles),     cmocka_unit_test(pieces),
                                        cmocka_unit_test(products),       cmocka_unit_test(large_products),
                                        cmocka_unit_test(signals) };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    if (tw__gemm_onednn_has(1, 1, 1, 1) &&
        by_library < tried) { /* of three results each; the library has no fast form for some */
        print_error("%s: only %ld convolutions were the library's\n", names[tw__isa_used()], by_library);
        failed++;
    }
    printf("PROMISE: oneDNN's convolutions, their gradients and products (%s) are those of the plain loops: %ld tried\n",
           names[tw__isa_used()], tried);
    return failed;
}

static int run_child(const char *program, tw__isa isa)
{
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        setenv("THALWEG_ISA", names[isa], 1);
        if (!TW_SANITIZED) {
            setenv("LD_PRELOAD", "libc_malloc_debug.so.0", 1);
            setenv("GLIBC_TUNABLES", "glibc.malloc.check=3", 1);
        }
        execl(program, program, "--here", full ? "--full" : NULL, (char *)NULL);
        _exit(127);
    }
    int status = -1;
    if (child < 0 || waitpid(child, &status, 0) != child)
        return 1;
    if (WIFSIGNALED(status))
        print_error("%s: ended by signal %d\n", names[isa], WTERMSIG(status));
    return status != 0;
}

int main(int argc, char **argv)
{
    bool here = false;
    for (int i = 1; i < argc; i++) {
        full = full || strcmp(argv[i], "--full") == 0;
        here = here || strcmp(argv[i], "--here") == 0;
    }
    if (here)
        return run();
    int failed = 0;
    for (int isa = 0; isa <= (int)tw__isa_best(); isa++)
        failed += run_child(argv[0], (tw__isa)isa);
    return failed != 0;
}
