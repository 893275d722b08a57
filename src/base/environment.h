/* What the surroundings of a program say: how much is logged, and where libraries may be that the system does not know. */
#ifndef TW_ENVIRONMENT_H
#define TW_ENVIRONMENT_H

#include <stdbool.h>

/* Whether lines of that level are to be seen: 0 info, 1 warnings, 2 errors; TF_CPP_MIN_LOG_LEVEL says so. Not for tw__log, whose
 * lines a program filters itself. */
bool tw__log_wanted(int level);
/* Where tw__library_load looks, too, for good: the folder of an environment like Python's. */
void tw__library_folder(const char *path);

#endif
