/* The tables of signatures and classes, and the making of objects from class rows. */
#include <pthread.h>

#include "spec/spec.h"

extern const tw_signature *const tw__signatures[]; /* generated */
extern const int tw__signatures_count;
extern const tw__path tw__paths[];
extern const int tw__paths_count;

int tw_signature_count(void)
{
    return tw__signatures_count;
}

const tw_signature *tw_signature_at(int index)
{
    return index >= 0 && index < tw__signatures_count ? tw__signatures[index] : NULL;
}

/* A text against a path, which ends at a bar or at the end of its row's paths. */
static int compare_path(const char *text, const char *path)
{
    while (*text && *text == *path)
        text++, path++;
    return (unsigned char)*text - (*path == '|' ? 0 : (unsigned char)*path);
}

const tw_signature *tw_signature_find(const char *path)
{
    for (int low = 0, high = path ? tw__paths_count : 0; low < high;) {
        int middle = (low + high) / 2;
        const tw_signature *signature = tw__signatures[tw__paths[middle].row];
        int order = compare_path(path, signature->path + tw__paths[middle].start);
        if (order == 0)
            return signature;
        if (order < 0)
            high = middle;
        else
            low = middle + 1;
    }
    return NULL;
}

const tw_class *tw_class_find(const char *id)
{
    for (int low = 0, high = id ? tw__signatures_count : 0; low < high;) { /* rows stand in the order of their ids */
        int middle = (low + high) / 2, order = strcmp(id, tw__signatures[middle]->id);
        if (order == 0)
            return tw__signatures[middle]->class_row;
        if (order < 0)
            high = middle;
        else
            low = middle + 1;
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
    if (!tw__check_given(class_row, "the class", "tw_class_make") ||
        !tw__check_given(args, "the argument struct", "tw_class_make"))
        return NULL;
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
