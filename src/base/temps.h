/* What a function makes on its way and lets go of at the end of the block, on every way out:
 *
 *     TW_TEMPS(t);
 *     tw_object *part = tw__temp(t, part_new());
 *     char *name = tw__temp_memory(t, tw__format("%s_1", base));
 *     tw_value *list = tw__temp_by(t, list_new(), (void (*)(void *))list_free);
 *     return tw__keep(t, whole_of(t, part, name));
 *
 * NULL, after a failure, passes through. The usual few need no allocation. `t` is a pointer to the list, as it is in functions
 * that get one and leave what they make to it. The macros of op/calls.h need it to be called t. */
#ifndef TW_TEMPS_H
#define TW_TEMPS_H

#include "base/base.h"

typedef struct tw__temps {
    struct tw__temps_item {
        void *what;
        void (*end)(void *what); /* NULL: tw_release */
    } * items, room[32];
    size_t count, capacity;
} tw__temps;

#define TW_TEMPS(name_)                                         \
    __attribute__((cleanup(tw__temps_end))) tw__temps name_[1]; \
    name_->items = name_->room, name_->count = 0, name_->capacity = sizeof name_->room / sizeof *name_->room

void *tw__temp_by(tw__temps *t, void *what, void (*end)(void *what)); /* takes anything, gives it back; `end` lets go of it */
/* The same of an object: takes a reference, gives it back borrowed. */
static inline void *tw__temp(tw__temps *t, void *object)
{
    if (!object || t->count == t->capacity)
        return tw__temp_by(t, object, NULL);
    t->items[t->count++] = (struct tw__temps_item){ object, NULL };
    return object;
}
void *tw__temp_memory(tw__temps *t, void *memory); /* for tw__free: texts, arrays */
/* Takes the result out of the list. An object that is not in it is given as a new reference. */
void *tw__keep(tw__temps *t, void *what);
void tw__temps_end(void *t);                     /* what the end of the block does; the list is empty then */
void tw__temps_back(tw__temps *t, size_t count); /* the same of what came after the first `count` */

#endif
