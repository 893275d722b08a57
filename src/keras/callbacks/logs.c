/* Logs: values by name, and small helpers for values of any kind. */
#include <math.h>

#include "keras/callbacks/callbacks.h"

bool tw__value_number(const tw_value *value, double *number)
{
    if (value->kind != TW_VALUE_TENSOR)
        return tw__value_plain_number(value, number);
    if (value->tensor->count != 1 || !value->tensor->data || value->tensor->dtype == TW_STRING)
        return false;
    *number = tw_tensor_double_at(value->tensor, 0);
    return true;
}

void tw__value_visit(const tw_value *value, tw__visitor visitor, void *context)
{
    if (value->kind == TW_VALUE_OBJECT && value->object)
        visitor(context, value->object);
    if (value->kind == TW_VALUE_LIST || value->kind == TW_VALUE_TUPLE || value->kind == TW_VALUE_DICT) {
        for (int64_t i = 0; i < value->list.count; i++)
            tw__value_visit(&value->list.items[i], visitor, context);
    }
}

tw_value *tw__logs_find(const tw__dict *logs, const char *name)
{
    for (size_t i = 0; logs && i + 1 < logs->count; i += 2) {
        if (logs->items[i].kind == TW_VALUE_STR && strcmp(logs->items[i].s.data, name) == 0)
            return &logs->items[i + 1];
    }
    return NULL;
}

bool tw__logs_number(const tw__dict *logs, const char *name, double *number)
{
    const tw_value *found = tw__logs_find(logs, name);
    return found && tw__value_number(found, number);
}

tw_status tw__logs_set(tw__dict *logs, const char *name, tw_value value)
{
    tw_value *found = tw__logs_find(logs, name);
    if (found) {
        tw_value_free(found);
        *found = value;
        return TW_OK;
    }
    tw__dict_put(logs, name, value);
    return logs->failed ? tw__error_status() : TW_OK;
}

tw_status tw__logs_copy(const tw__dict *logs, tw__dict *copy)
{
    for (size_t i = 0; i + 1 < logs->count; i += 2)
        TW_TRY(tw__logs_set(copy, logs->items[i].s.data, tw__value_copy(&logs->items[i + 1])));
    return TW_OK;
}

void tw__logs_free(tw__dict *logs)
{
    tw_value all = tw__dict_take(logs);
    tw_value_free(&all);
}

char *tw__logs_names(const tw__dict *logs)
{
    tw__text text = { 0 };
    tw__text_add(&text, "");
    for (size_t i = 0; logs && i + 1 < logs->count; i += 2)
        tw__text_format(&text, "%s%s", i ? "," : "", logs->items[i].s.data);
    return tw__text_take(&text);
}

double tw_log_value(const tw_value *logs, const char *name)
{
    double number = NAN;
    if (logs && name && logs->kind == TW_VALUE_DICT) {
        tw__dict dict = { .items = logs->list.items, .count = (size_t)logs->list.count };
        tw__logs_number(&dict, name, &number);
    }
    return number;
}

/* ---- paths with values in them ---- */

/* {name:format} with Python's formats for numbers: [[fill]align][0][width][.precision][d|f|e|g]. */
static bool add_field(tw__text *text, const char *spec, double number, bool whole)
{
    char kind = whole ? 'd' : 'r', form[32];
    int width = 0, precision = -1;
    bool zero = *spec == '0';
    while (*spec >= '0' && *spec <= '9')
        width = width < 1000 ? width * 10 + (*spec++ - '0') : 1000;
    if (*spec == '.') {
        precision = 0;
        for (spec++; *spec >= '0' && *spec <= '9'; spec++)
            precision = precision < 100 ? precision * 10 + (*spec - '0') : 100;
        kind = 'g';
    }
    if (*spec)
        kind = *spec++;
    if (*spec || !strchr("dfeFEgGr", kind) || (kind == 'd' && !whole))
        return false;
    if (kind == 'd') {
        snprintf(form, sizeof form, zero ? "%%0%dlld" : "%%%dlld", width);
        tw__text_format(text, form, (long long)number);
    } else if (kind == 'r') {
        tw__print_float(text, number, TW_FLOAT64);
    } else {
        snprintf(form, sizeof form, zero ? "%%0%d.%d%c" : "%%%d.%d%c", width, precision < 0 ? 6 : precision, kind);
        tw__text_format(text, form, number);
    }
    return true;
}

char *tw__logs_format(const char *pattern, int64_t epoch, int64_t batch, const tw__dict *logs)
{
    tw__text text = { 0 };
    tw__text_add(&text, "");
    for (const char *at = pattern; *at;) {
        if ((at[0] == '{' && at[1] == '{') || (at[0] == '}' && at[1] == '}')) {
            tw__text_bytes(&text, at, 1);
            at += 2;
            continue;
        }
        const char *end = *at == '{' ? strchr(at, '}') : NULL;
        if (!end) {
            tw__text_bytes(&text, at++, 1);
            continue;
        }
        char *field = tw__strndup(at + 1, (size_t)(end - at - 1));
        if (!field) {
            tw__text_free(&text);
            return NULL;
        }
        char *colon = strchr(field, ':');
        if (colon)
            *colon = 0;
        double number = 0;
        bool counts = strcmp(field, "epoch") == 0 || (batch >= 0 && strcmp(field, "batch") == 0);
        if (counts)
            number = (double)(field[0] == 'e' ? epoch : batch);
        tw_status status =
            counts || tw__logs_number(logs, field, &number)
                ? TW_OK
                : tw__fail(TW_KEY_ERROR, "Failed to format this callback filepath: \"%s\". Reason: '%s'", pattern, field);
        if (status == TW_OK && !add_field(&text, colon ? colon + 1 : "", number, counts))
            status = tw__fail(TW_VALUE_ERROR, "Failed to format this callback filepath: \"%s\": the format '%s' is not supported",
                              pattern, colon + 1);
        tw__free(field);
        if (status != TW_OK) {
            tw__text_free(&text);
            return NULL;
        }
        at = end + 1;
    }
    return tw__text_take(&text);
}
