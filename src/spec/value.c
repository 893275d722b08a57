/* Values of any kind, as results of calls. */
#include "spec/spec.h"

void tw_value_free(tw_value *value)
{
    if (!value)
        return;
    switch (value->kind) {
    case TW_VALUE_STR:
    case TW_VALUE_BYTES:
        tw__free((void *)value->s.data);
        break;
    case TW_VALUE_SHAPE:
        tw__free(value->shape);
        break;
    case TW_VALUE_TENSOR:
        tw_release(value->tensor);
        break;
    case TW_VALUE_OBJECT:
        tw_release(value->object);
        break;
    case TW_VALUE_LIST:
    case TW_VALUE_TUPLE:
    case TW_VALUE_DICT:
        for (int64_t i = 0; i < value->list.count; i++)
            tw_value_free(&value->list.items[i]);
        tw__free(value->list.items);
        tw_release(value->list.form);
        break;
    default:
        break;
    }
    *value = (tw_value){ .kind = TW_VALUE_NONE };
}

tw_value tw__value_str(const char *text)
{
    tw_value value = { .kind = TW_VALUE_NONE };
    char *copy = tw__strdup(text);
    if (copy) {
        value.kind = TW_VALUE_STR;
        value.s = (tw_string){ copy, strlen(copy) };
    }
    return value;
}

void tw_objects_free(tw_objects *objects)
{
    if (!objects)
        return;
    for (int64_t i = 0; objects->items && i < objects->count; i++)
        tw_release(objects->items[i]);
    tw__free((void *)objects->items);
    *objects = (tw_objects){ 0 };
}

/* ---- looking and copying ---- */

const tw_value *tw__value_get(const tw_value *dict, const char *key)
{
    for (int64_t i = 0; dict && dict->kind == TW_VALUE_DICT && i + 1 < dict->list.count; i += 2) {
        const tw_value *name = &dict->list.items[i];
        if (name->kind == TW_VALUE_STR && strcmp(name->s.data, key) == 0)
            return &dict->list.items[i + 1];
    }
    return NULL;
}

const tw_value *tw_value_get(const tw_value *value, const char *key)
{
    return key ? tw__value_get(value, key) : NULL;
}

const tw_value *tw_value_at(const tw_value *value, int64_t index)
{
    bool list = value && (value->kind == TW_VALUE_LIST || value->kind == TW_VALUE_TUPLE);
    return list && index >= 0 && index < value->list.count ? &value->list.items[index] : NULL;
}

const char *tw__value_text(const tw_value *dict, const char *key)
{
    const tw_value *value = tw__value_get(dict, key);
    return value && value->kind == TW_VALUE_STR ? value->s.data : NULL;
}

bool tw__value_plain_number(const tw_value *value, double *number)
{
    switch (value->kind) {
    case TW_VALUE_FLOAT:
        *number = value->f;
        return true;
    case TW_VALUE_INT:
        *number = (double)value->i;
        return true;
    case TW_VALUE_BOOL:
        *number = value->b;
        return true;
    default:
        return false;
    }
}

static bool copy_items(const tw_value *from, tw_value *to)
{
    to->list.items = tw__alloc_array((size_t)from->list.count + 1, sizeof *to->list.items);
    to->list.count = 0;
    tw_retain(to->list.form);
    for (; to->list.items && to->list.count < from->list.count; to->list.count++) {
        const tw_value *item = &from->list.items[to->list.count];
        to->list.items[to->list.count] = tw__value_copy(item);
        if (item->kind != to->list.items[to->list.count].kind)
            break;
    }
    return to->list.items && to->list.count == from->list.count;
}

tw_value tw__value_copy(const tw_value *value)
{
    tw_value copy = *value;
    bool good = true;
    switch (value->kind) {
    case TW_VALUE_STR:
    case TW_VALUE_BYTES:
        copy.s.data = tw__strndup(value->s.data, value->s.size);
        good = copy.s.data != NULL;
        break;
    case TW_VALUE_SHAPE:
        copy.shape = tw__alloc(sizeof *copy.shape);
        good = copy.shape != NULL;
        if (good)
            *copy.shape = *value->shape;
        break;
    case TW_VALUE_TENSOR:
        tw_retain(value->tensor);
        break;
    case TW_VALUE_OBJECT:
        tw_retain(value->object);
        break;
    case TW_VALUE_LIST:
    case TW_VALUE_TUPLE:
    case TW_VALUE_DICT:
        good = copy_items(value, &copy);
        break;
    default:
        break;
    }
    if (!good)
        tw_value_free(&copy);
    return copy;
}

/* ---- in scopes of C programs ---- */

static void end_objects(void *items, int64_t count)
{
    tw_objects_free(&(tw_objects){ items, count });
}

tw_objects tw_made_objects(tw_objects list)
{
    return tw__scope_add((void *)list.items, list.count, end_objects) ? list : (tw_objects){ 0 };
}

static void end_list(void *items, int64_t count)
{
    tw_value_free(&(tw_value){ .kind = TW_VALUE_LIST, .list = { items, count } });
}

static void end_memory(void *memory, int64_t count)
{
    (void)count;
    tw__free(memory);
}

/* What a value owns: an object or memory; NULL for numbers. *end and *count say how it ends. */
static void *owned(const tw_value *value, tw__scope_ender *end, int64_t *count)
{
    *end = end_memory;
    *count = 0;
    switch (value->kind) {
    case TW_VALUE_STR:
    case TW_VALUE_BYTES:
        return (void *)value->s.data;
    case TW_VALUE_SHAPE:
        return value->shape;
    case TW_VALUE_TENSOR:
    case TW_VALUE_OBJECT:
        *end = NULL;
        return value->object;
    case TW_VALUE_LIST:
    case TW_VALUE_TUPLE:
    case TW_VALUE_DICT:
        *end = end_list;
        *count = value->list.count;
        return value->list.items;
    default:
        return NULL;
    }
}

tw_value tw_made_value(tw_value value)
{
    tw__scope_ender end;
    int64_t count;
    void *key = owned(&value, &end, &count);
    return tw__scope_add(key, count, end) ? value : (tw_value){ .kind = TW_VALUE_NONE };
}

void tw_scope_forget_value(const tw_value *value)
{
    tw__scope_ender end;
    int64_t count;
    if (value)
        tw_scope_forget(owned(value, &end, &count));
}
