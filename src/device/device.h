/* Devices: their names, the thread's device scope, and the list of what there is.
 *
 * There are the processor and the accelerators of a plug-in (pjrt.h). Each may be split into several logical devices, which share
 * memory and threads under different names. A name is "/job:ps/replica:0/task:1/device:GPU:2", any part may be missing; "gpu:2"
 * and "/cpu" are short forms. Programs may name devices that are not there: operations then run on the processor, unless soft
 * placement is switched off. */
#ifndef TW_DEVICE_H
#define TW_DEVICE_H

#include "spec/spec.h"

enum { TW__DEVICE_NONE = -2, TW__DEVICE_ANY = -1 };

/* A name in parts, which point into a text. */
typedef struct tw__device_name {
    tw_string job, type;          /* data NULL: not said */
    int64_t replica, task, index; /* TW__DEVICE_NONE: not said */
} tw__device_name;

/* ---- names (name.c) ---- */
tw_status tw__device_parse(const char *text, tw__device_name *name);
/* What the inner name says, and else what the outer one does. */
tw__device_name tw__device_merge(tw__device_name outer, tw__device_name inner);
char *tw__device_text(tw__device_name name); /* for tw__free; "" if nothing is said */

/* ---- the thread's scope (scope.c) ---- */
typedef struct tw__device_level {
    char *text; /* canonical; NULL: this level says "anywhere", whatever is outside */
    tw__device_name name;
    struct tw__device_level *outer;
} tw__device_level;
extern _Thread_local tw__device_level *tw__device_top;
tw_status tw__device_push(const char *name); /* NULL: anywhere */
void tw__device_pop(void);
static inline const char *tw__device_now(void) /* NULL: nothing was said */
{
    return __builtin_expect(tw__device_top != NULL, 0) && tw__device_top->text && *tw__device_top->text ? tw__device_top->text
                                                                                                        : NULL;
}

/* Which replica of a strategy the thread runs (src/distribute): 0, 1, …; -1: none. Functions are traced for each. */
extern _Thread_local int tw__replica;
extern _Thread_local int tw__replicas; /* of the strategy whose scope, or replica, the thread is in; 1 without one */

/* ---- what there is (devices.c) ---- */
extern _Atomic bool tw__device_attention; /* something is to be done before the next operation: the devices are not in use yet, or
                                     placement is logged */
extern _Atomic bool tw__devices_many;     /* there are several logical devices: who makes tensors says where they are */
extern _Atomic bool tw__devices_accelerated; /* some of them are accelerators */
bool tw__devices_used(void);
tw_status tw__devices_use(void);        /* from now on settings are settled */
tw_status tw__devices_begin(void);      /* the same for operations: an error if there is no processor */
int64_t tw__devices_of(tw_string type); /* how many logical devices of the type there are */
const char *tw__accelerator_type(void); /* "GPU" or "TPU"; NULL: there are none */

/* ---- where operations run (placement.c) ---- */
/* A logical device as a number: those of the processor from 0 on, accelerators from TW__ACCELERATOR on. */
enum { TW__ACCELERATOR = 1 << 16 };
char *tw__place_text(uint32_t place); /* its whole name; for tw__free */
/* The logical device that a name means; 0 if there is none of it, or nothing is said. */
uint32_t tw__device_place_of(const char *text);
/* Where values of the dtype are made now: as the thread's scope says, else on the first GPU if there is one. */
uint32_t tw__place_now(tw_dtype dtype);
/* Before an operation: an error if it can't run where the scope says. NULL: it is no operation, a value is made. */
tw_status tw__device_before(const char *op, uint32_t place);
/* Whether operations placed there run, in a session with or without soft placement. */
bool tw__device_runs(const char *text, bool soft);
bool tw__device_soft(void);
bool tw__device_logged(void);
char *tw__device_list_text(const char *between); /* the logical devices' whole names; for tw__free */

#endif
