/* Reference-counted objects.
 *
 * An object counts its own references until the embedding language makes a peer for it (a Python object, say). From
 * then on every reference is one to the peer, the language's collector sees them all (tw__object_visit), and the object
 * ends when its peer does. So there is one count, and an object keeps its identity and its Python side while C holds it. */
#include <stdlib.h>

#include "base/language.h"
#include "base/base.h"
#include "base/circles.h"

void *tw__object_new(const tw_class *class)
{
    tw_object *object = tw__alloc_zero(class->size);
    if (!object)
        return NULL;
    object->magic = TW_OBJECT_MAGIC;
    atomic_init(&object->references, 1);
    object->class = class;
    return object;
}

void *tw_retain(const void *pointer)
{
    tw_object *object = (tw_object *)pointer;
    if (!object)
        return NULL;
    if (object->peer)
        tw__language.peer_retain(object->peer);
    else
        atomic_fetch_add_explicit(&object->references, 1, memory_order_relaxed);
    return object;
}

void tw__object_end(void *pointer)
{
    tw_object *object = pointer;
    for (const tw_class *class = object->class; class; class = class->parent) {
        if (class->destroy)
            class->destroy(object);
    }
    if (object->config && object->class->free_config)
        object->class->free_config(object);
    object->magic = 0;
    if (object->class->free_memory)
        object->class->free_memory(object);
    else
        tw__free(object);
}

static inline void release_own(tw_object *object)
{
    if ((atomic_fetch_sub_explicit(&object->references, 1, memory_order_acq_rel) & ~TW_CIRCULAR) == 1)
        tw__object_end(object);
}

/* By itself, so that tw_release has no frame. */
static __attribute__((noinline)) void release_circular(tw_object *object)
{
    tw__end_circle(object);
    release_own(object);
}

void tw_release(const void *pointer)
{
    tw_object *object = (tw_object *)pointer;
    if (!object)
        return;
    if (object->peer)
        tw__language.peer_release(object->peer);
    else if (__builtin_expect(atomic_load_explicit(&object->references, memory_order_relaxed) & TW_CIRCULAR, 0))
        release_circular(object);
    else
        release_own(object);
}

void tw__object_attach(void *pointer, void *peer)
{
    tw_object *object = pointer;
    int32_t held = atomic_load(&object->references) & ~TW_CIRCULAR; /* the language's collector sees circles */
    object->peer = peer;
    while (held-- > 0)
        tw__language.peer_retain(peer);
}

const char *tw_class_name(const void *object)
{
    return object ? ((const tw_object *)object)->class->name : "";
}

bool tw__is(const void *object, const tw_class *class)
{
    if (!object)
        return false;
    for (const tw_class *c = ((const tw_object *)object)->class; c; c = c->parent) {
        if (c == class)
            return true;
    }
    return false;
}

bool tw__check(const void *object, const tw_class *class, const char *function)
{
    if (tw__is(object, class))
        return true;
    tw__fail(TW_INVALID_ARGUMENT, "%s: a %s was expected, got %s%s", function, class->name, object ? "a " : "NULL",
             tw_class_name(object));
    return false;
}

tw_status tw__options_take(const void *given, void *options, const char *function)
{
    if (!tw__check_given(given, "the argument struct", function))
        return tw__error_status();
    size_t size = *(const size_t *)options, told = *(const size_t *)given;
    if (told < sizeof told)
        return tw__fail(TW_INVALID_ARGUMENT, "%s: the argument struct does not tell its size", function);
    memcpy(options, given, told < size ? told : size);
    return TW_OK;
}

bool tw__check_given(const void *pointer, const char *what, const char *function)
{
    if (!pointer)
        tw__fail(TW_INVALID_ARGUMENT, "%s: %s is NULL", function, what);
    return pointer != NULL;
}

bool tw__named_is_object(tw_named named)
{
    return named && *(const unsigned char *)named == (TW_OBJECT_MAGIC & 0xff);
}

void tw__object_visit(void *object, tw__visitor visitor, void *context)
{
    tw_object *self = object;
    for (const tw_class *c = self->class; c; c = c->parent) {
        if (c->visit)
            c->visit(object, visitor, context);
    }
    if (self->config && self->class->visit_config)
        self->class->visit_config(object, visitor, context);
}

void tw__object_clear(void *object)
{
    for (const tw_class *c = ((tw_object *)object)->class; c; c = c->parent) {
        if (c->clear)
            c->clear(object);
    }
    tw_object *self = object;
    if (self->config && self->class->free_config)
        self->class->free_config(object);
}

const void *tw__methods(const void *object)
{
    for (const tw_class *c = ((const tw_object *)object)->class; c; c = c->parent) {
        if (c->methods)
            return c->methods;
    }
    return NULL;
}

void tw__set(void *slot, const void *object)
{
    void **place = slot;
    void *old = *place;
    *place = tw_retain(object);
    tw_release(old);
}

void *tw__held_new(size_t count)
{
    void **room = tw__alloc_array(count + 2, sizeof *room); /* the length stands before the references */
    if (!room)
        return NULL;
    room[0] = (void *)count;
    return room + 1;
}

void tw__held_end(void *pointer)
{
    void **references = *(void ***)pointer;
    if (!references)
        return;
    for (size_t i = 0; i < (size_t)references[-1]; i++)
        tw_release(references[i]);
    tw__free(references - 1);
}
