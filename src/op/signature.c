/* The mini-language of op rows, parsed: "a: T, b: N * T" and "T: {float, double} = float, N: int >= 1". See op.h. */
#include <stdlib.h>

#include "op/internal.h"

typedef struct cursor {
    const char *at;
    bool bad;
} cursor;

static void spaces(cursor *c)
{
    c->at += strspn(c->at, " \t\n");
}

static bool take(cursor *c, const char *token)
{
    spaces(c);
    size_t size = strlen(token);
    if (strncmp(c->at, token, size) != 0)
        return false;
    c->at += size;
    return true;
}

static char *word(cursor *c)
{
    spaces(c);
    size_t size = strspn(c->at, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_");
    if (!size) {
        c->bad = true;
        return NULL;
    }
    char *text = tw__strndup(c->at, size);
    c->at += size;
    c->bad |= !text;
    return text;
}

static int count_parts(const char *text)
{
    int depth = 0, count = text && *text ? 1 : 0;
    for (const char *p = text; p && *p; p++) {
        depth += (*p == '{' || *p == '(' || *p == '[') - (*p == '}' || *p == ')' || *p == ']');
        count += *p == ',' && depth == 0 && p[1] != '\''; /* not one in quotes */
    }
    return count;
}

static int find_attr(const tw__op_signature *s, const char *name)
{
    for (int i = 0; i < s->attr_count; i++) {
        if (s->attrs[i].name && strcmp(s->attrs[i].name, name) == 0)
            return i;
    }
    return -1;
}

/* ---- attrs ---- */

static tw_attr_kind kind_of(const char *name)
{
    static const char *const names[] = {
        [TW_ATTR_INT] = "int",   [TW_ATTR_FLOAT] = "float", [TW_ATTR_BOOL] = "bool",     [TW_ATTR_STRING] = "string",
        [TW_ATTR_TYPE] = "type", [TW_ATTR_SHAPE] = "shape", [TW_ATTR_TENSOR] = "tensor", [TW_ATTR_FUNC] = "func"
    };
    for (int i = TW_ATTR_INT; i <= TW_ATTR_FUNC; i++) {
        if (strcmp(names[i], name) == 0)
            return (tw_attr_kind)i;
    }
    return TW_ATTR_NONE;
}

static tw_attr_kind list_of(tw_attr_kind kind)
{
    switch (kind) {
    case TW_ATTR_INT:
        return TW_ATTR_INTS;
    case TW_ATTR_FLOAT:
        return TW_ATTR_FLOATS;
    case TW_ATTR_BOOL:
        return TW_ATTR_BOOLS;
    case TW_ATTR_STRING:
        return TW_ATTR_STRINGS;
    case TW_ATTR_TYPE:
        return TW_ATTR_TYPES;
    case TW_ATTR_SHAPE:
        return TW_ATTR_SHAPES;
    case TW_ATTR_FUNC:
        return TW_ATTR_FUNCS;
    default:
        return TW_ATTR_NONE;
    }
}

static char *quoted(cursor *c)
{
    if (!take(c, "'")) {
        c->bad = true;
        return NULL;
    }
    size_t size = strcspn(c->at, "'");
    char *text = tw__strndup(c->at, size);
    c->at += size;
    c->bad |= !take(c, "'") || !text;
    return text;
}

/* "{float, double}" or "{'SAME', 'VALID'}", behind the brace */
static void parse_set(cursor *c, tw__attr_def *attr)
{
    size_t count = 0, capacity = 0;
    spaces(c);
    attr->kind = *c->at == '\'' ? TW_ATTR_STRING : TW_ATTR_TYPE;
    while (!c->bad && !take(c, "}")) {
        if (attr->kind == TW_ATTR_STRING) {
            char *text = quoted(c);
            if (TW_GROW(attr->allowed_strings, capacity, count + 2) != TW_OK) {
                tw__free(text);
                c->bad = true;
                return;
            }
            attr->allowed_strings[count++] = text;
            attr->allowed_strings[count] = NULL;
        } else {
            char *name = word(c);
            tw_dtype dtype = tw_dtype_from_name(name);
            c->bad |= dtype == TW_DTYPE_NONE;
            attr->allowed_types |= (uint64_t)1 << dtype;
            tw__free(name);
        }
        take(c, ",");
    }
}

static void parse_default(cursor *c, tw__attr_def *attr)
{
    char *end;
    attr->has_default = true;
    attr->value.kind = attr->kind;
    spaces(c);
    switch (attr->kind) {
    case TW_ATTR_INT:
        attr->value.i = strtoll(c->at, &end, 10);
        c->bad |= end == c->at;
        c->at = end;
        break;
    case TW_ATTR_FLOAT:
        attr->value.f = strtod(c->at, &end);
        c->bad |= end == c->at;
        c->at = end;
        break;
    case TW_ATTR_BOOL:
        attr->value.b = take(c, "true");
        c->bad |= !attr->value.b && !take(c, "false");
        break;
    case TW_ATTR_STRING: {
        char *text = quoted(c);
        attr->value.s = (tw_string){ text, text ? strlen(text) : 0 };
        break;
    }
    case TW_ATTR_TYPE: {
        char *name = word(c);
        attr->value.type = tw_dtype_from_name(name);
        c->bad |= attr->value.type == TW_DTYPE_NONE;
        tw__free(name);
        break;
    }
    case TW_ATTR_SHAPE: {
        static const tw_shape unknown = { .rank = -1 }, scalar = { .rank = 0 };
        bool empty = take(c, "[");
        attr->value.shape = empty ? &scalar : &unknown;
        c->bad |= !take(c, empty ? "]" : "unknown");
        break;
    }
    case TW_ATTR_INTS: {
        int64_t *values = NULL;
        size_t count = 0, capacity = 0;
        c->bad |= !take(c, "[");
        while (!c->bad && !take(c, "]")) {
            long long value = strtoll(c->at, &end, 10);
            c->bad |= end == c->at || TW_GROW(values, capacity, count + 1) != TW_OK;
            if (!c->bad)
                values[count++] = value;
            c->at = end;
            take(c, ",");
        }
        attr->value.ints = values;
        attr->value.count = (int32_t)count;
        break;
    }
    case TW_ATTR_FLOATS: {
        double *values = NULL;
        size_t count = 0, capacity = 0;
        c->bad |= !take(c, "[");
        while (!c->bad && !take(c, "]")) {
            double value = strtod(c->at, &end);
            c->bad |= end == c->at || TW_GROW(values, capacity, count + 1) != TW_OK;
            if (!c->bad)
                values[count++] = value;
            c->at = end;
            take(c, ",");
        }
        attr->value.floats = values;
        attr->value.count = (int32_t)count;
        break;
    }
    default: /* other lists: empty is the only default that occurs */
        c->bad |= !take(c, "[") || !take(c, "]");
    }
}

static void parse_attr(cursor *c, tw__attr_def *attr)
{
    attr->name = word(c);
    c->bad |= !take(c, ":");
    if (take(c, "list(")) {
        if (take(c, "{")) {
            parse_set(c, attr);
        } else {
            char *name = word(c);
            attr->kind = name ? kind_of(name) : TW_ATTR_NONE;
            tw__free(name);
        }
        attr->kind = list_of(attr->kind);
        c->bad |= !take(c, ")");
    } else if (take(c, "{")) {
        parse_set(c, attr);
    } else {
        char *name = word(c);
        attr->kind = name ? kind_of(name) : TW_ATTR_NONE;
        tw__free(name);
    }
    c->bad |= attr->kind == TW_ATTR_NONE;
    if (take(c, ">=")) {
        char *end;
        spaces(c);
        attr->has_minimum = true;
        attr->minimum = strtoll(c->at, &end, 10);
        c->bad |= end == c->at;
        c->at = end;
    }
    if (!c->bad && take(c, "="))
        parse_default(c, attr);
    attr->value.name = attr->name;
    attr->value.kind = attr->kind;
}

/* ---- inputs and outputs ---- */

static void parse_arg(cursor *c, const tw__op_signature *s, tw__arg *arg)
{
    *arg = (tw__arg){ .type_attr = -1, .count_attr = -1, .types_attr = -1 };
    arg->name = word(c);
    c->bad |= !take(c, ":");
    char *type = word(c);
    if (type && take(c, "*")) {
        arg->count_attr = find_attr(s, type);
        c->bad |= arg->count_attr < 0;
        tw__free(type);
        type = word(c);
    }
    if (type) {
        int attr = find_attr(s, type);
        if (attr < 0)
            arg->dtype = tw_dtype_from_name(type);
        else if (s->attrs[attr].kind == TW_ATTR_TYPES)
            arg->types_attr = attr;
        else
            arg->type_attr = attr;
        c->bad |= attr < 0 && arg->dtype == TW_DTYPE_NONE;
    }
    tw__free(type);
}

static tw__arg *parse_args(const char *text, const tw__op_signature *s, int *count, bool *bad)
{
    *count = count_parts(text);
    tw__arg *args = tw__alloc_array((size_t)*count + 1, sizeof *args);
    cursor c = { text ? text : "", !args };
    for (int i = 0; !c.bad && i < *count; i++) {
        if (i)
            c.bad |= !take(&c, ",");
        parse_arg(&c, s, &args[i]);
    }
    spaces(&c);
    *bad |= c.bad || *c.at;
    return args;
}

void tw__op_signature_free(tw__op_signature *s)
{
    for (int i = 0; s->attrs && i < s->attr_count; i++) {
        tw__attr_def *attr = &s->attrs[i];
        for (char **text = attr->allowed_strings; text && *text; text++)
            tw__free(*text);
        tw__free(attr->allowed_strings);
        if (attr->has_default && attr->kind == TW_ATTR_STRING)
            tw__free((char *)attr->value.s.data);
        else if (attr->has_default && (attr->kind == TW_ATTR_INTS || attr->kind == TW_ATTR_FLOATS))
            tw__free((int64_t *)attr->value.ints);
        tw__free(attr->name);
    }
    for (int i = 0; s->inputs && i < s->input_count; i++)
        tw__free(s->inputs[i].name);
    for (int i = 0; s->outputs && i < s->output_count; i++)
        tw__free(s->outputs[i].name);
    tw__free(s->attrs);
    tw__free(s->inputs);
    tw__free(s->outputs);
    tw__free(s);
}

tw__op_signature *tw__op_signature_parse(const tw_op *op)
{
    tw__op_signature *s = tw__alloc_zero(sizeof *s);
    if (!s)
        return NULL;
    bool bad = false;
    s->attr_count = count_parts(op->attrs);
    s->attrs = tw__alloc_array((size_t)s->attr_count + 1, sizeof *s->attrs);
    cursor c = { op->attrs ? op->attrs : "", !s->attrs || s->attr_count > TW_MAX_ATTRS };
    for (int i = 0; !c.bad && i < s->attr_count; i++) {
        if (i)
            c.bad |= !take(&c, ",");
        parse_attr(&c, &s->attrs[i]);
        s->bounded |= s->attrs[i].has_minimum;
        s->needed |= s->attrs[i].has_default ? 0 : UINT32_C(1) << i;
    }
    spaces(&c);
    bad |= c.bad || *c.at;
    if (!bad) {
        s->inputs = parse_args(op->inputs, s, &s->input_count, &bad);
        s->outputs = parse_args(op->outputs, s, &s->output_count, &bad);
    }
    for (int i = 0; !bad && i < s->input_count; i++) {
        int found[] = { s->inputs[i].type_attr, s->inputs[i].count_attr, s->inputs[i].types_attr };
        s->has_lists |= s->inputs[i].count_attr >= 0 || s->inputs[i].types_attr >= 0;
        for (int k = 0; k < 3; k++) {
            if (found[k] >= 0)
                s->attrs[found[k]].inferred = true;
        }
    }
    if (!bad)
        return s;
    tw__op_signature_free(s);
    return NULL;
}
