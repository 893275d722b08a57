/* Traces in summaries: the graphs of the functions that are called, and a profile of their steps.
 *
 *     tw_trace_on();
 *     tw_release(tw_function_value(step, TW_TENSORS(x)));
 *     tw_trace_export("step", 0);                           // into the thread's default writer, as any summary
 */
#ifndef THALWEG_TRACE_H
#define THALWEG_TRACE_H

#include <thalweg/base.h>

#ifdef __cplusplus
extern "C" {
#endif

/* From now on the graphs of functions that are called are noted, in all threads. An error if they are already. */
TW_API_FUNCTION tw_status tw_trace_on(void);
/* The same with a profile of the steps that run, which tw_trace_export writes into a directory. */
TW_API_FUNCTION tw_status tw_trace_on_profiler(void);
/* Writes what was noted under a name, and ends the noting. */
TW_API_FUNCTION tw_status tw_trace_export(const char *name, int64_t step);
TW_API_FUNCTION tw_status tw_trace_export_profile(const char *name, int64_t step, const char *directory);
/* Ends the noting; nothing is written. */
TW_API_FUNCTION void tw_trace_off(void);

#ifdef __cplusplus
}
#endif
#endif
