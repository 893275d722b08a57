/* Who wants to know which graph functions there are: summaries with a trace. */
#ifndef TW_NOTED_H
#define TW_NOTED_H

#include "function/function.h"

/* Told of every call of a C program's function, and of every function that an embedding language traces; NULL: nobody wants to
 * know. */
extern void (*_Atomic tw__function_noted)(tw__function *function);

#endif
