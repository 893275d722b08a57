/* Reference cycles among objects that only C holds; see circles.c. */
#ifndef TW_CIRCLES_H
#define TW_CIRCLES_H

#include "base/base.h"

/* Set in the count of references of an object that may stand in a circle: who lets go of it looks whether that was the last one
 * outside. */
#define TW_CIRCULAR (1 << 29)
void tw__mark_circular(tw_object *object);
/* Whether `end` can be reached from `start` (or is it); if so, `each` is called with every object on the way and beside it. */
bool tw__reaches(tw_object *start, const tw_object *end, void (*each)(tw_object *object));
/* For who is about to let go of one reference to the object: drops what it and all in its circles hold, if nobody else outside of
 * them holds it. */
void tw__end_circle(tw_object *object);

#endif
