/* The tables of signatures and classes, and the making of objects from class rows. */
#include <pthread.h>

#include "spec/spec.h"

extern const tw_signature *const tw__signatures[]; /* generated */
extern const int tw__signatures_count;

int tw_signature_count(void)
{
    return tw__signatures_count;
}

const tw_signature *tw_signature_at(int index)
{
    return index >= 0 && index < tw__signatures_count ? tw__signatures[index] : NULL;
}

static bool has_path(const char *paths, const char *path)
{
    size_t size = strlen(path);
    for (const char *p = paths; *p;) {
        size_t length = strcspn(p, "|");
        if (length == size && memcmp(p, path, size) == 0)
            return true;
        p += length + (p[length] == '|');
    }
    return false;
}

const tw_signature *tw_signature_find(const char *path)
{
    for (int i = 0; path && i < tw__signatures_count; i++) {
        if (has_path(tw__signatures[i]->path, path))
            return tw__signatures[i];
    }
    return NULL;
}

const tw_class *tw_class_find(const char *id)
{
    for (int i = 0; id && i < tw__signatures_count; i++) {
        if (tw__signatures[i]->class_row && strcmp(tw__signatures[i]->id, id) == 0)
            return tw__signatures[i]->class_row;
    }
    return NULL;
}

const char *tw_class_id(const tw_class *class_row)
{
    return class_row && class_row->signature ? class_row->signature->id : "";
}

const tw_class *tw_class_of(const void *object)
{
    return object ? ((const tw_object *)object)->class : NULL;
}

const tw_class *tw_class_parent(const tw_class *class_row)
{
    return class_row ? class_row->parent : NULL;
}

const tw_signature *tw_class_signature(const tw_class *class_row)
{
    return class_row ? class_row->signature : NULL;
}

bool tw_is(const void *object, const tw_class *class_row)
{
    return tw__is(object, class_row);
}

const void *tw_object_config(const void *object)
{
    return object ? ((const tw_object *)object)->config : NULL;
}

/* Runs the init functions from the root down, each with the arguments of its own level. */
static tw_status init_levels(const tw_class *level, void *object, const tw_signature *signature, const void *args)
{
    if (level->parent)
        TW_TRY(init_levels(level->parent, object, signature, args));
    if (!level->init)
        return TW_OK;
    if (!level->signature || level->signature == signature)
        return level->init(object, args);
    void *own = tw__alloc_zero(level->signature->args_size);
    if (!own)
        return TW_RESOURCE_EXHAUSTED;
    tw__args_project(signature, args, level->signature, own);
    tw_status status = level->init(object, own);
    tw__free(own);
    return status;
}

void *tw_class_make(const tw_class *class_row, const void *args)
{
    tw_object *object = tw__object_new(class_row);
    if (!object)
        return NULL;
    object->config = tw__args_copy(class_row->signature, args);
    if (!object->config || init_levels(class_row, object, class_row->signature, object->config) != TW_OK) {
        tw_release(object);
        return NULL;
    }
    if (class_row->drop_config)
        tw__config_free(object);
    return object;
}

void *tw__class_make_default(const tw_class *class_row)
{
    const tw_signature *signature = tw_class_signature(class_row);
    void *args = tw__alloc_zero(signature->args_size);
    if (!args)
        return NULL;
    tw_args_default(signature, args);
    void *made = tw_class_make(class_row, args);
    tw__free(args);
    return made;
}
