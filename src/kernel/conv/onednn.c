/* The library oneDNN: loading it, running a primitive of it, parts of large products. */
#include "kernel/conv/onednn.h"
#include "kernel/conv/conv.h"

#ifndef TW_HAVE_ONEDNN

bool tw__gemm_onednn_has(int64_t a_row, int64_t a_column, int64_t b_row, int64_t b_column)
{
    (void)a_row, (void)a_column, (void)b_row, (void)b_column;
    return false;
}

bool tw__gemm_onednn(int64_t m, int64_t n, int64_t k, const float *a, int64_t a_row, int64_t a_column, const float *b,
                     int64_t b_row, int64_t b_column, float *c, int64_t c_row)
{
    (void)m, (void)n, (void)k, (void)a, (void)a_row, (void)a_column, (void)b, (void)b_row, (void)b_column, (void)c, (void)c_row;
    return false;
}

#else

#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>

#include "kernel/isa.h"

enum { ARGUMENTS_LIMIT = 5 };

tw__onednn tw__dnn;
static int (*omp_get_max_threads)(void);
static void (*omp_set_num_threads)(int count);
static bool available;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void load(void)
{
    const char *wanted = getenv("THALWEG_ONEDNN");
    if (wanted && wanted[0] == '0')
        return;
#define X(name) { "dnnl_" #name, (void **)&tw__dnn.name },
    static const tw__symbol symbols[] = { TW_ONEDNN_FUNCTIONS(X) };
#undef X
    void *library = tw__library_load("libdnnl.so.2", symbols, sizeof symbols / sizeof *symbols);
    if (!library)
        return;
    /* Of the OpenMP that the library itself uses; it is missing if the library was built without. */
    omp_get_max_threads = (int (*)(void))dlsym(library, "omp_get_max_threads");
    omp_set_num_threads = (void (*)(int))dlsym(library, "omp_set_num_threads");
    if (tw__isa_used() < tw__isa_best()) /* refused if the program has used the library before: then its own choice stays */
        tw__dnn.set_max_cpu_isa(tw__isa_used() == TW_ISA_PLAIN ? dnnl_cpu_isa_sse41 : dnnl_cpu_isa_avx2);
    available = tw__dnn.engine_create(&tw__dnn.engine, dnnl_cpu, 0) == dnnl_success &&
                tw__dnn.primitive_attr_create(&tw__dnn.attributes) == dnnl_success &&
                tw__dnn.primitive_attr_set_scratchpad_mode(tw__dnn.attributes, dnnl_scratchpad_mode_user) == dnnl_success;
}

bool tw__onednn_load(void)
{
    pthread_once(&once, load);
    return available;
}

void tw__onednn_begin(tw__onednn_use *use)
{
    static const int faults[] = { SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT };
    sigset_t waiting;
    sigfillset(&waiting);
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++)
        sigdelset(&waiting, faults[i]);
    pthread_sigmask(SIG_BLOCK, &waiting, &use->signals);
    use->threads = omp_get_max_threads && omp_set_num_threads ? omp_get_max_threads() : 1;
    if (use->threads != 1)
        omp_set_num_threads(1);
}

void tw__onednn_end(const tw__onednn_use *use)
{
    if (use->threads > 1)
        omp_set_num_threads(use->threads);
    pthread_sigmask(SIG_SETMASK, &use->signals, NULL);
}

bool tw__onednn_execute(dnnl_primitive_t primitive, const tw__onednn_argument *arguments, int count)
{
    dnnl_exec_arg_t given[ARGUMENTS_LIMIT];
    dnnl_stream_t stream = NULL;
    int made = 0;
    bool good = tw__dnn.stream_create(&stream, tw__dnn.engine, dnnl_stream_default_flags) == dnnl_success;
    for (; good && made < count; made += good) {
        given[made].arg = arguments[made].place;
        good = tw__dnn.memory_create(&given[made].memory, arguments[made].memory, tw__dnn.engine, arguments[made].data) ==
               dnnl_success;
    }
    good = good && tw__dnn.primitive_execute(primitive, stream, count, given) == dnnl_success;
    for (int i = 0; i < made; i++)
        tw__dnn.memory_destroy(given[i].memory);
    if (stream)
        tw__dnn.stream_destroy(stream);
    return good;
}

/* ---- products ---- */

bool tw__gemm_onednn_has(int64_t a_row, int64_t a_column, int64_t b_row, int64_t b_column)
{
    return tw__onednn_load() && (a_row == 1 || a_column == 1) && (b_row == 1 || b_column == 1);
}

bool tw__gemm_onednn(int64_t m, int64_t n, int64_t k, const float *a, int64_t a_row, int64_t a_column, const float *b,
                     int64_t b_row, int64_t b_column, float *c, int64_t c_row)
{
    bool turn_a = a_column != 1, turn_b = b_column != 1;
    tw__onednn_use use;
    tw__onednn_begin(&use);
    dnnl_status_t status = tw__dnn.sgemm(turn_a ? 'T' : 'N', turn_b ? 'T' : 'N', m, n, k, 1, a, turn_a ? a_column : a_row, b,
                                         turn_b ? b_column : b_row, 0, c, c_row);
    tw__onednn_end(&use);
    return status == dnnl_success;
}

#endif
