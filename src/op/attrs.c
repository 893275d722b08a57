/* Attrs that outlive the call they were given in: everything they point to is copied into one block, which the caller provides.
 */
#include "op/op.h"

static size_t round_up(size_t size)
{
    return (size + 15) & ~(size_t)15;
}

static size_t list_bytes(const tw_attr *attr)
{
    size_t count = (size_t)(attr->count > 0 ? attr->count : 0);
    switch (attr->kind) {
    case TW_ATTR_INTS:
        return count * sizeof(int64_t);
    case TW_ATTR_FLOATS:
        return count * sizeof(double);
    case TW_ATTR_BOOLS:
        return count * sizeof(bool);
    case TW_ATTR_TYPES:
        return count * sizeof(tw_dtype);
    case TW_ATTR_SHAPES:
        return count * sizeof(tw_shape);
    case TW_ATTR_FUNCS:
        return count * sizeof(void *);
    case TW_ATTR_STRINGS: {
        size_t bytes = count * sizeof(tw_string);
        for (size_t i = 0; i < count; i++)
            bytes += attr->strings[i].size;
        return bytes;
    }
    case TW_ATTR_SHAPE:
        return sizeof(tw_shape);
    case TW_ATTR_STRING:
        return attr->s.size + 1;
    default:
        return 0;
    }
}

size_t tw__attrs_bytes(const tw_attr *attrs, int count)
{
    size_t total = round_up((size_t)count * sizeof *attrs);
    for (int i = 0; i < count; i++)
        total += round_up(list_bytes(&attrs[i]));
    return total;
}

tw_attr *tw__attrs_copy(const tw_attr *attrs, int count, void *block)
{
    tw_attr *copy = block;
    if (count)
        memcpy(copy, attrs, (size_t)count * sizeof *attrs);
    char *free_space = (char *)copy + round_up((size_t)count * sizeof *attrs);
    for (int i = 0; i < count; i++) {
        tw_attr *attr = &copy[i];
        size_t bytes = list_bytes(attr);
        if (attr->kind == TW_ATTR_TENSOR || attr->kind == TW_ATTR_FUNC) {
            tw_retain(attr->func); /* both are pointers to objects */
        } else if (attr->kind == TW_ATTR_STRING) {
            if (attr->s.size)
                memcpy(free_space, attr->s.data, attr->s.size);
            free_space[attr->s.size] = 0;
            attr->s.data = free_space;
        } else if (attr->kind == TW_ATTR_STRINGS) {
            tw_string *strings = (tw_string *)free_space;
            char *text = (char *)(strings + attr->count);
            for (int k = 0; k < attr->count; k++) {
                tw_string from = attrs[i].strings[k];
                if (from.size)
                    memcpy(text, from.data, from.size);
                strings[k] = (tw_string){ text, from.size };
                text += from.size;
            }
            attr->strings = strings;
        } else if (attr->kind == TW_ATTR_SHAPE) {
            memcpy(free_space, attr->shape, sizeof(tw_shape));
            attr->shape = (const tw_shape *)free_space;
        } else if (bytes) {
            memcpy(free_space, attr->ints, bytes);
            attr->ints = (const int64_t *)free_space; /* the members of the union are all pointers here */
            for (int k = 0; attr->kind == TW_ATTR_FUNCS && k < attr->count; k++)
                tw_retain(attr->funcs[k]);
        }
        free_space += round_up(bytes);
    }
    return copy;
}

void tw__attrs_end(tw_attr *attrs, int count)
{
    for (int i = 0; attrs && i < count; i++) {
        if (attrs[i].kind == TW_ATTR_TENSOR || attrs[i].kind == TW_ATTR_FUNC)
            tw_release(attrs[i].func);
        for (int k = 0; attrs[i].kind == TW_ATTR_FUNCS && k < attrs[i].count; k++)
            tw_release(attrs[i].funcs[k]);
    }
}

void tw__attrs_key(tw__text *text, const tw_attr *attrs, int count)
{
    for (int i = 0; i < count; i++) {
        const tw_attr *attr = &attrs[i];
        tw__text_bytes(text, &attr->count, sizeof attr->count);
        switch (attr->kind) {
        case TW_ATTR_STRING:
            tw__text_bytes(text, &attr->s.size, sizeof attr->s.size);
            tw__text_bytes(text, attr->s.data, attr->s.size);
            break;
        case TW_ATTR_STRINGS:
            for (int k = 0; k < attr->count; k++) {
                tw__text_bytes(text, &attr->strings[k].size, sizeof attr->strings[k].size);
                tw__text_bytes(text, attr->strings[k].data, attr->strings[k].size);
            }
            break;
        case TW_ATTR_SHAPE:
        case TW_ATTR_SHAPES:
            for (int k = 0; k < (attr->kind == TW_ATTR_SHAPE ? 1 : attr->count); k++) {
                const tw_shape *shape = &attr->shapes[k]; /* the members of the union are one pointer */
                tw__text_bytes(text, &shape->rank, sizeof shape->rank);
                if (shape->rank > 0)
                    tw__text_bytes(text, shape->dims, (size_t)shape->rank * sizeof *shape->dims);
            }
            break;
        case TW_ATTR_BOOL:
            tw__text_bytes(text, &attr->b, sizeof attr->b);
            break;
        case TW_ATTR_TYPE:
            tw__text_bytes(text, &attr->type, sizeof attr->type);
            break;
        case TW_ATTR_INT:
        case TW_ATTR_FLOAT:
        case TW_ATTR_TENSOR: /* by identity */
        case TW_ATTR_FUNC:
            tw__text_bytes(text, &attr->i, sizeof attr->i);
            break;
        default: /* lists of plain values */
            if (attr->count > 0)
                tw__text_bytes(text, attr->ints, list_bytes(attr));
        }
    }
}
