/* oneDNN, which is loaded with its first use and never needed to be there; the environment's THALWEG_ONEDNN=0 leaves it out.
 *
 * Its primitives run in the calling thread alone (tw__onednn_begin, _end): pieces of the work go to our own threads, so oneDNN's
 * (OpenMP) never start: they collapse when another process competes for the processor. */
#ifndef TW_ONEDNN_H
#define TW_ONEDNN_H

#if defined(__has_include)
#if __has_include(<oneapi/dnnl/dnnl.h>)
#define TW_HAVE_ONEDNN 1
#endif
#endif

#ifdef TW_HAVE_ONEDNN

#include <oneapi/dnnl/dnnl.h>
#include <signal.h>
#include <stdbool.h>

/* clang-format off */
#define TW_ONEDNN_FUNCTIONS(X) \
    X(set_max_cpu_isa) X(engine_create) X(stream_create) X(stream_destroy) X(memory_desc_init_by_strides) \
        X(memory_desc_init_by_tag) X(memory_desc_equal) X(memory_desc_get_size) X(memory_create) X(memory_destroy) \
            X(primitive_attr_create) X(primitive_attr_set_scratchpad_mode) X(primitive_desc_create) X(primitive_desc_destroy) \
                X(primitive_desc_query) X(primitive_desc_query_md) X(primitive_create) X(primitive_destroy) X(primitive_execute) \
                    X(reorder_primitive_desc_create) X(dilated_convolution_forward_desc_init) \
                        X(dilated_convolution_backward_data_desc_init) X(dilated_convolution_backward_weights_desc_init) X(sgemm)
/* clang-format on */

typedef struct tw__onednn {
#define X(name) __typeof__(dnnl_##name) *name;
    TW_ONEDNN_FUNCTIONS(X)
#undef X
    dnnl_engine_t engine;
    dnnl_primitive_attr_t attributes; /* scratch memory is ours */
} tw__onednn;
extern tw__onednn tw__dnn; /* once tw__onednn_load said true */

bool tw__onednn_load(void);

/* Around every use. The thread's own number of OpenMP threads is one, and signals wait: the library's products for
 * AVX-512 use the stack pointer for data, and a handler would stand there (version 2.6: Ctrl-C in a large product broke the
 * heap). */
typedef struct tw__onednn_use {
    int threads; /* before */
    sigset_t signals;
} tw__onednn_use;
void tw__onednn_begin(tw__onednn_use *use);
void tw__onednn_end(const tw__onednn_use *use);

typedef struct tw__onednn_argument {
    int place;
    const dnnl_memory_desc_t *memory;
    void *data;
} tw__onednn_argument;
bool tw__onednn_execute(dnnl_primitive_t primitive, const tw__onednn_argument *arguments, int count);

#endif

#endif
