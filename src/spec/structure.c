/* Walking over nested structures; see structure.h. */
#include "spec/structure.h"

#include <stdlib.h>

#include "base/language.h"

enum { DEPTH_LIMIT = 200 };

bool tw__is_nested(const tw_value *value)
{
    return value->kind == TW_VALUE_LIST || value->kind == TW_VALUE_TUPLE || value->kind == TW_VALUE_DICT;
}

/* Of a dict the members are every second item. */
static int64_t step_of(const tw_value *value)
{
    return value->kind == TW_VALUE_DICT ? 2 : 1;
}

static tw_status too_deep(void)
{
    return tw__fail(TW_VALUE_ERROR, "a structure is nested deeper than %d levels", DEPTH_LIMIT);
}

static tw_status each(const tw_value *structure, tw__leaf_visit visit, void *context, int depth)
{
    if (!tw__is_nested(structure))
        return visit(context, structure);
    if (depth > DEPTH_LIMIT)
        return too_deep();
    int64_t step = step_of(structure);
    for (int64_t i = step - 1; i < structure->list.count; i += step)
        TW_TRY(each(&structure->list.items[i], visit, context, depth + 1));
    return TW_OK;
}

tw_status tw__structure_each(const tw_value *structure, tw__leaf_visit visit, void *context)
{
    return each(structure, visit, context, 0);
}

static tw_status count_leaf(void *context, __attribute__((unused)) const tw_value *leaf)
{
    *(int64_t *)context += 1;
    return TW_OK;
}

int64_t tw__structure_count(const tw_value *structure)
{
    int64_t count = 0;
    each(structure, count_leaf, &count, 0);
    return count;
}

typedef struct leaf_list {
    const tw_value **items;
    int64_t count;
} leaf_list;

static tw_status add_leaf(void *context, const tw_value *leaf)
{
    leaf_list *list = context;
    list->items[list->count++] = leaf;
    return TW_OK;
}

const tw_value **tw__structure_leaves(const tw_value *structure, int64_t *count)
{
    leaf_list list = { tw__alloc_array((size_t)tw__structure_count(structure) + 1, sizeof *list.items), 0 };
    if (list.items)
        each(structure, add_leaf, &list, 0);
    *count = list.count;
    return list.items;
}

static tw_status map_into(const tw_value *structure, tw__leaf_map map, void *context, tw_value *result, int depth)
{
    *result = (tw_value){ .kind = TW_VALUE_NONE };
    if (!tw__is_nested(structure))
        return map(context, structure, result);
    if (depth > DEPTH_LIMIT)
        return too_deep();
    tw_value made = { .kind = structure->kind, .list = { .form = tw_retain(structure->list.form) } };
    made.list.items = tw__alloc_array((size_t)structure->list.count + 1, sizeof *made.list.items);
    tw_status status = made.list.items ? TW_OK : tw__error_status();
    for (int64_t i = 0; status == TW_OK && i < structure->list.count; i++) {
        tw_value *item = &made.list.items[i];
        made.list.count = i + 1;
        if (structure->kind == TW_VALUE_DICT && i % 2 == 0) {
            *item = tw__value_copy(&structure->list.items[i]);
            status = item->kind == structure->list.items[i].kind ? TW_OK : tw__error_status();
        } else {
            status = map_into(&structure->list.items[i], map, context, item, depth + 1);
        }
    }
    if (status == TW_OK)
        *result = made;
    else
        tw_value_free(&made);
    return status;
}

tw_status tw__structure_map(const tw_value *structure, tw__leaf_map map, void *context, tw_value *result)
{
    return map_into(structure, map, context, result, 0);
}

static int compare_keys(const tw_value *a, const tw_value *b)
{
    if (a->kind != b->kind)
        return a->kind < b->kind ? -1 : 1;
    if (a->kind == TW_VALUE_INT)
        return (a->i > b->i) - (a->i < b->i);
    size_t size = a->s.size < b->s.size ? a->s.size : b->s.size;
    int order = size ? memcmp(a->s.data, b->s.data, size) : 0;
    return order ? order : (a->s.size > b->s.size) - (a->s.size < b->s.size);
}

bool tw__structure_alike(const tw_value *one, const tw_value *other)
{
    if (!tw__is_nested(one) || !tw__is_nested(other))
        return tw__is_nested(one) == tw__is_nested(other);
    bool alike = one->list.count == other->list.count && (one->kind == TW_VALUE_DICT) == (other->kind == TW_VALUE_DICT);
    for (int64_t i = 0; alike && i < one->list.count; i++) {
        if (one->kind == TW_VALUE_DICT && i % 2 == 0)
            alike = compare_keys(&one->list.items[i], &other->list.items[i]) == 0;
        else
            alike = tw__structure_alike(&one->list.items[i], &other->list.items[i]);
    }
    return alike;
}

static int compare_items(const void *a, const void *b)
{
    return compare_keys(a, b);
}

static tw_status settle(tw_value *structure, int depth)
{
    if (!tw__is_nested(structure))
        return TW_OK;
    if (depth > DEPTH_LIMIT)
        return too_deep();
    bool dict = structure->kind == TW_VALUE_DICT;
    for (int64_t i = 0; i < structure->list.count; i++) {
        const tw_value *key = dict && i % 2 == 0 ? &structure->list.items[i] : NULL;
        if (!key)
            TW_TRY(settle(&structure->list.items[i], depth + 1));
        else if (key->kind != TW_VALUE_STR && key->kind != TW_VALUE_INT)
            return tw__fail(TW_TYPE_ERROR, "the key of a dict in a structure must be a text or an integer");
        else if (i && key->kind != structure->list.items[0].kind)
            return tw__fail(TW_TYPE_ERROR, "the keys of a dict in a structure are texts and integers, which have no order");
    }
    if (dict && !structure->list.form && structure->list.count > 2)
        qsort(structure->list.items, (size_t)structure->list.count / 2, 2 * sizeof(tw_value), compare_items);
    return TW_OK;
}

tw_status tw__structure_settle(tw_value *structure)
{
    return settle(structure, 0);
}

static void key_text(tw__text *text, const tw_value *key)
{
    if (key->kind == TW_VALUE_INT)
        tw__text_format(text, "%lld: ", (long long)key->i);
    else
        tw__text_format(text, "'%.*s': ", (int)key->s.size, key->s.data);
}

void tw__structure_text(const tw_value *structure, void (*leaf)(tw__text *text, const tw_value *leaf), tw__text *text)
{
    if (!tw__is_nested(structure)) {
        leaf(text, structure);
        return;
    }
    if (structure->list.form && tw__language.structure_text) {
        char *whole = tw__language.structure_text(structure);
        text->failed |= !whole;
        if (whole)
            tw__text_add(text, whole);
        tw__free(whole);
        return;
    }
    bool dict = structure->kind == TW_VALUE_DICT, tuple = structure->kind == TW_VALUE_TUPLE;
    tw__text_add(text, dict ? "{" : tuple ? "(" : "[");
    for (int64_t i = 0; i < structure->list.count; i++) {
        if (dict && i % 2)
            continue;
        if (i)
            tw__text_add(text, ", ");
        if (dict)
            key_text(text, &structure->list.items[i]);
        tw__structure_text(&structure->list.items[i + dict], leaf, text);
    }
    tw__text_add(text, dict ? "}" : !tuple ? "]" : structure->list.count == 1 ? ",)" : ")");
}
