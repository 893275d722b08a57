/* The lowerings, which are loaded when they are first needed. */
#ifndef TW_PLUGIN_H
#define TW_PLUGIN_H

#include "lower/program.h"

const tw__lowerings *tw__lowerings_get(void); /* NULL on failure */

#endif
