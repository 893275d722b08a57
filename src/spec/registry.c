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

/* Runs a level's part of construction, or of a change, with the arguments of its own level; those of its parents first. */
static tw_status run_levels(const tw_class *level, void *object, const tw_signature *signature, const void *args, bool making)
{
    if (level->parent)
        TW_TRY(run_levels(level->parent, object, signature, args, making));
    if (!level->settle && !(making && level->init))
        return TW_OK;
    tw__owned void *own = NULL;
    if (level->signature && level->signature != signature) {
        own = tw__alloc_zero(level->signature->args_size);
        if (!own)
            return TW_RESOURCE_EXHAUSTED;
        tw__args_project(signature, args, level->signature, own);
        args = own;
    }
    TW_TRY(making && level->init ? level->init(object, args) : TW_OK);
    if (level->settle)
        TW_TRY(level->settle(object, args));
    return TW_OK;
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
    if (!object->config || run_levels(class_row, object, class_row->signature, object->config, true) != TW_OK) {
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
    tw__owned void *args = tw__alloc_zero(signature->args_size);
    if (!args)
        return NULL;
    tw_args_default(signature, args);
    void *made = tw_class_make(class_row, args);
    return made;
}

/* ---- settings ---- */

static bool names(const char *list, const char *name)
{
    char word[80];
    snprintf(word, sizeof word, " %.70s ", name);
    return list && (strcmp(list, " *") == 0 || strstr(list, word));
}

tw__setting tw__object_setting(const void *object, const char *name, const tw_field **field)
{
    const tw_class *class_row = tw_class_of(object);
    const tw_signature *signature = tw_object_config(object) ? class_row->signature : NULL;
    for (int i = 0; signature && name && i < signature->field_count; i++) {
        *field = &signature->fields[i];
        if (strcmp((*field)->name, name) != 0)
            continue;
        const char *inert = NULL; /* the nearest level's */
        for (const tw_class *level = class_row; level; level = level->parent) {
            inert = inert ? inert : level->inert;
            if (names(inert, name))
                return TW_NO_SETTING;
            if (names(level->fixed, name))
                return TW_FIXED_SETTING;
            if (names(level->refused, name))
                return TW_REFUSED_SETTING;
        }
        return TW_SETTING;
    }
    return TW_NO_SETTING;
}

tw_status tw__object_change(void *object, const tw_field *field, const void *args)
{
    tw_object *o = object;
    const tw_signature *signature = o->class->signature;
    tw__owned void *old = tw__alloc_zero(signature->args_size);
    if (!old)
        return TW_RESOURCE_EXHAUSTED;
    tw_status status = tw_args_check(signature, field, args);
    if (status == TW_OK && !tw__args_put(field, args, o->config, old)) {
        status = tw__error_status();
    } else if (status == TW_OK && (status = run_levels(o->class, object, signature, o->config, false)) != TW_OK) {
        tw__saved_error why = tw__error_take();
        tw__args_take_back(field, o->config, old);
        run_levels(o->class, object, signature, o->config, false);
        tw__error_restore(why);
    } else if (status == TW_OK) {
        tw__args_drop(field, old);
    }
    return status;
}
