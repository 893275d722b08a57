/* The tree of an HDF5 file in memory: groups, arrays, attributes; found, made and freed. Keras's lists of names, which are split
 * when long. */
#include "format/hdf5/hdf5.h"

#define ATTRIBUTE_LIMIT 64512 /* bytes of one list; Keras's number */

enum { FEW = 16 }; /* so many children are searched one by one */

tw__hdf5_node *tw__hdf5_tree(void)
{
    return tw__alloc_zero(sizeof(tw__hdf5_node));
}

void tw__hdf5_free(tw__hdf5_node *node)
{
    while (node) { /* from the leaves up, without recursion */
        if (node->child_count) {
            node = node->children[node->child_count - 1];
            continue;
        }
        for (size_t i = 0; i < node->attribute_count; i++) {
            tw__free(node->attributes[i].name);
            tw_release(node->attributes[i].value);
        }
        tw__free(node->attributes);
        tw__free(node->children);
        tw__map_free(&node->by_name, NULL);
        tw__free(node->storage.type);
        tw__free(node->storage.layout);
        tw__free(node->storage.filters);
        tw_release(node->value);
        tw__free(node->name);
        tw__hdf5_node *parent = node->parent;
        tw__free(node);
        if (parent)
            parent->child_count--;
        node = parent;
    }
}

tw__hdf5_node *tw__hdf5_child(const tw__hdf5_node *node, const char *name, size_t size)
{
    if (node->child_count > FEW)
        return tw__map_get(&node->by_name, name, size);
    for (size_t i = 0; i < node->child_count; i++) {
        const char *other = node->children[i]->name;
        if (strncmp(other, name, size) == 0 && !other[size])
            return node->children[i];
    }
    return NULL;
}

tw__hdf5_node *tw__hdf5_add(tw__hdf5_node *parent, const char *name, size_t size)
{
    tw__hdf5_node *node = tw__hdf5_tree();
    if (!node || !(node->name = tw__strndup(name, size)) ||
        TW_GROW(parent->children, parent->child_capacity, parent->child_count + 1) != TW_OK) {
        tw__hdf5_free(node);
        return NULL;
    }
    parent->children[parent->child_count] = node;
    /* The first child beyond the few brings all of them into the map. */
    for (size_t i = parent->child_count == FEW ? 0 : parent->child_count; parent->child_count >= FEW && i <= parent->child_count;
         i++) {
        tw__hdf5_node *child = parent->children[i];
        if (tw__map_put(&parent->by_name, child->name, strlen(child->name), child) != TW_OK) {
            tw__hdf5_free(node);
            return NULL;
        }
    }
    parent->child_count++;
    node->parent = parent;
    return node;
}

tw__hdf5_node *tw__hdf5_group(tw__hdf5_node *node, const char *path)
{
    while (node && *path) {
        size_t size = strcspn(path, "/");
        if (size) {
            tw__hdf5_node *child = tw__hdf5_child(node, path, size);
            node = child ? child : tw__hdf5_add(node, path, size);
            if (node && node->is_array) {
                tw__fail(TW_VALUE_ERROR, "Unable to create group (\"%s\" is an array already)", node->name);
                return NULL;
            }
        }
        path += size + (path[size] == '/');
    }
    return node;
}

tw_status tw__hdf5_put(tw__hdf5_node *node, const char *path, tw_tensor *value)
{
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    tw__owned char *folder = tw__strndup(path, slash ? (size_t)(slash - path) : 0);
    node = folder ? tw__hdf5_group(node, folder) : NULL;
    tw__hdf5_node *array = node ? tw__hdf5_child(node, name, strlen(name)) : NULL;
    if (node && !array)
        array = tw__hdf5_add(node, name, strlen(name));
    TW_NEED(array);
    if (array->child_count)
        return tw__fail(TW_VALUE_ERROR, "Unable to create dataset (\"%s\" is a group already)", path);
    array->is_array = true;
    array->dtype = value->dtype;
    array->shape = value->shape;
    tw__set(&array->value, value);
    return TW_OK;
}

tw__hdf5_node *tw__hdf5_find(const tw__hdf5_node *node, const char *path)
{
    while (node && *path) {
        size_t size = strcspn(path, "/");
        if (size)
            node = tw__hdf5_child(node, path, size);
        path += size + (path[size] == '/');
    }
    return (tw__hdf5_node *)(uintptr_t)node;
}

char *tw__hdf5_path(const tw__hdf5_node *node)
{
    char *path = tw__strdup(node->parent ? "" : "/");
    for (; path && node->parent; node = node->parent) {
        char *longer = tw__format("/%s%s", node->name, path);
        tw__free(path);
        path = longer;
    }
    return path;
}

/* ---- attributes ---- */

tw__hdf5_attribute *tw__hdf5_attribute_add(tw__hdf5_node *node, const char *name, size_t name_size, tw_tensor *value)
{
    char *copy = value ? tw__strndup(name, name_size) : NULL;
    if (!copy || TW_GROW(node->attributes, node->attribute_capacity, node->attribute_count + 1) != TW_OK) {
        tw__free(copy);
        tw_release(value);
        return NULL;
    }
    tw__hdf5_attribute *attribute = &node->attributes[node->attribute_count++];
    *attribute = (tw__hdf5_attribute){ .name = copy, .value = value };
    return attribute;
}

const tw_tensor *tw__hdf5_attribute_find(const tw__hdf5_node *node, const char *name)
{
    for (size_t i = 0; i < node->attribute_count; i++) {
        if (strcmp(node->attributes[i].name, name) == 0)
            return node->attributes[i].value;
    }
    return NULL;
}

tw_status tw__hdf5_set_text(tw__hdf5_node *node, const char *name, const char *text, bool unicode)
{
    tw__hdf5_attribute *attribute = tw__hdf5_attribute_add(node, name, strlen(name), tw_tensor_string(text, strlen(text)));
    TW_NEED(attribute);
    attribute->unicode = unicode;
    return TW_OK;
}

static tw_status set_part(tw__hdf5_node *node, const char *name, const char *const *texts, size_t count, bool fixed)
{
    tw_auto tw_tensor *list = tw_tensor_new(count ? TW_STRING : TW_FLOAT64, TW_SHAPE((int64_t)count), NULL);
    for (size_t i = 0; list && i < count; i++)
        TW_TRY(tw__string_set(list, (int64_t)i, texts[i], strlen(texts[i])));
    tw__hdf5_attribute *attribute = list ? tw__hdf5_attribute_add(node, name, strlen(name), tw_retain(list)) : NULL;
    TW_NEED(attribute);
    attribute->fixed = fixed;
    return TW_OK;
}

tw_status tw__hdf5_set_texts(tw__hdf5_node *node, const char *name, const char *const *texts, size_t count)
{
    size_t longest = 1, parts = 1;
    for (size_t i = 0; i < count; i++)
        longest = strlen(texts[i]) > longest ? strlen(texts[i]) : longest;
    if (longest > ATTRIBUTE_LIMIT)
        return tw__fail(TW_RUNTIME_ERROR,
                        "The following attributes cannot be saved to HDF5 file because they are larger than %d bytes: a name of "
                        "%zu bytes in %s",
                        ATTRIBUTE_LIMIT, longest, name);
    while ((count + parts - 1) / parts > ATTRIBUTE_LIMIT / longest)
        parts++;
    if (parts == 1)
        return set_part(node, name, texts, count, false);
    for (size_t part = 0, at = 0; part < parts; part++) {
        size_t size = count / parts + (part < count % parts);
        tw__owned char *numbered = tw__format("%s%zu", name, part);
        tw_status status = numbered ? set_part(node, numbered, texts + at, size, true) : TW_RESOURCE_EXHAUSTED;
        TW_TRY(status);
        at += size;
    }
    return TW_OK;
}

/* Part `part` of a list; part -1 is the list under its plain name. */
static const tw_tensor *list_part(const tw__hdf5_node *node, const char *name, int part)
{
    if (part < 0)
        return tw__hdf5_attribute_find(node, name);
    tw__owned char *numbered = tw__format("%s%d", name, part);
    return numbered ? tw__hdf5_attribute_find(node, numbered) : NULL;
}

char **tw__hdf5_texts(const tw__hdf5_node *node, const char *name, const char *file, size_t *count)
{
    int first = tw__hdf5_attribute_find(node, name) ? -1 : 0;
    size_t bytes = 0;
    *count = 0;
    const tw_tensor *part;
    for (int i = first; (part = list_part(node, name, i)); i++) {
        if (part->dtype != TW_STRING && part->count) {
            tw__fail(TW_VALUE_ERROR, "%s: the attribute \"%s\" has dtype %s, expected strings", file, name,
                     tw_dtype_name(part->dtype));
            return NULL;
        }
        for (int64_t k = 0; k < part->count; k++)
            bytes += tw_tensor_string_at(part, k).size + 1;
        *count += (size_t)part->count;
        if (i < 0)
            break;
    }
    char **texts = tw__alloc((*count + 1) * sizeof *texts + bytes), *at = texts ? (char *)(texts + *count + 1) : NULL;
    size_t done = 0;
    for (int i = first; texts && (part = list_part(node, name, i)); i++) {
        for (int64_t k = 0; k < part->count; k++) {
            tw_string text = tw_tensor_string_at(part, k);
            texts[done++] = at;
            memcpy(at, text.data, text.size);
            at[text.size] = 0;
            at += text.size + 1;
        }
        if (i < 0)
            break;
    }
    return texts;
}

static int64_t elements_below(const tw__hdf5_node *node, int64_t most)
{
    int64_t sum = 0, own = 0;
    if (node->is_array && tw__shape_known(&node->shape) && tw__shape_count(&node->shape, &own) != TW_OK) {
        tw_clear_error();
        own = most;
    }
    sum = own < most ? own : most;
    for (size_t i = 0; i < node->child_count && sum < most; i++)
        sum += elements_below(node->children[i], most - sum);
    return sum;
}

int64_t tw__hdf5_elements(const tw__hdf5 *file)
{
    enum { DEFLATED = 1032 }; /* the most that one byte of a packed chunk can become */
    int64_t most = file->size < INT64_MAX / DEFLATED ? (int64_t)file->size * DEFLATED : INT64_MAX;
    return elements_below(file->root, most);
}
