/* Who wants to know which graph functions are called: summaries with a trace. */
#ifndef TW_NOTED_H
#define TW_NOTED_H

#include "function/function.h"

/* Told of every call of a C program's function; NULL: nobody wants to know. */
extern void (*_Atomic tw__function_noted)(tw__function *function);

#endif
