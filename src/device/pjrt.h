/* Devices behind PJRT plug-ins: shared libraries that compile programs of StableHLO text for a processor, GPU or TPU, and run
 * them there.
 *
 * A plug-in is loaded when somebody asks for it first, and stays. Its memory is seen through handles (tw__remote). Calls may be
 * made from any thread. A process that forks after the plug-in has started must not use it in the child. */
#ifndef TW_PJRT_H
#define TW_PJRT_H

#include "tensor/tensor.h"

/* Whether the environment names a plug-in (THALWEG_PJRT_PLUGIN) or a program did. Loads nothing. */
bool tw__pjrt_wanted(void);
/* A program names one: "path" or "path:name". Before the first use only. */
tw_status tw__pjrt_register(const char *plugin);
/* Loads the plug-in and starts its client, once. */
tw_status tw__pjrt_start(void);

/* ---- what there is, after tw__pjrt_start ---- */
const char *tw__pjrt_platform(void); /* "cpu", "tpu", "cuda" */
int tw__pjrt_device_count(void);     /* of the machine */
/* Devices are known by the numbers of their places from now on: place i is on the machine's device numbers[i], and has so much
 * memory. Before the first value is put anywhere. */
enum { TW__PJRT_PLACES = 256 };
void tw__pjrt_arrange(const int *numbers, const int64_t *limits, int count);
/* The bytes of values that are there. */
typedef struct tw__pjrt_memory {
    int64_t now, peak;
} tw__pjrt_memory;
tw__pjrt_memory tw__pjrt_memory_of(int device);
void tw__pjrt_memory_forget(int device); /* the peak */

/* ---- memory ---- */
/* A value on a device. */
typedef struct tw__remote {
    tw_object object;
    void *buffer;
    tw_dtype dtype;
    tw_shape shape;
    int device;
    int64_t bytes; /* that it counts for */
} tw__remote;
extern const tw_class tw__remote_class;
bool tw__pjrt_has_dtype(tw_dtype dtype);                         /* whether such values can be on a device */
tw__remote *tw__remote_put(const tw_tensor *tensor, int device); /* a copy; NULL on failure */
tw_tensor *tw__remote_get(const tw__remote *remote);
/* A tensor's value on a device: what is kept with the tensor, or a copy. A new reference. */
tw__remote *tw__remote_of(tw_tensor *tensor, int device);
/* Keeps a tensor's value on a device with it. */
void tw__remote_keep(tw_tensor *tensor, tw__remote *remote);
/* How many values went to devices and came back so far. */
typedef struct tw__pjrt_counts {
    int64_t put, got, executed, compiled;
} tw__pjrt_counts;
tw__pjrt_counts tw__pjrt_count(void);

/* ---- programs ---- */
/* A program, compiled for one device that is told when it runs. */
typedef struct tw__executable {
    tw_object object;
    void *loaded;
} tw__executable;
tw__executable *tw__pjrt_compile(const char *text, size_t size);
/* Runs it. `results` have dtypes and shapes already, and get their buffers; arguments that the program's text donates are empty
 * afterwards. Waits until the results are there. */
tw_status tw__pjrt_execute(tw__executable *program, tw__remote *const *arguments, int argument_count, tw__remote **results,
                           int result_count, int device);
tw__remote *tw__remote_new(tw_dtype dtype, const tw_shape *shape, int device); /* without a buffer */

#endif
