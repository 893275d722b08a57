/* The inputs of a request: rows ("instances"), columns ("inputs"), or Examples of features ("examples", "context"). */
#include "codec/message.h"
#include "format/record/example.h"
#include "op/text/text.h"
#include "saving/request.h"

/* ---- base64 ---- */

const char *tw__json_base64(const char *value)
{
    const char *key, *part = *value == '{' ? tw__json_first(value, &key) : NULL;
    if (!part || !tw__json_is(key, "b64") || *part != '"')
        return NULL;
    return tw__json_next(part, &key) ? NULL : part;
}

/* The usual alphabet; the library's other users have the one that is safe in addresses. */
tw_status tw__json_decode(const char *string, tw__text *text)
{
    tw__auto(tw__text_free) tw__text encoded = { 0 };
    tw__json_text(string, &encoded);
    bool other = false;
    for (size_t i = 0; i < encoded.size; i++) {
        char *c = &encoded.data[i];
        other = other || *c == '-' || *c == '_';
        *c = *c == '+' ? '-' : *c == '/' ? '_' : *c;
    }
    if (other || tw__base64_read((tw_string){ encoded.data, encoded.size }, text) != TW_OK) {
        tw_clear_error();
        return tw__fail(TW_INVALID_ARGUMENT, "Unable to base64 decode");
    }
    return encoded.failed ? TW_RESOURCE_EXHAUSTED : TW_OK;
}

/* ---- rows ---- */

static bool is_named(const char *value)
{
    return *value == '{' && !tw__json_base64(value);
}

static tw_status add_named(const char *row, int64_t place, tw__column *columns, int64_t count)
{
    const char *key;
    int64_t seen = 0;
    for (const char *part = tw__json_first(row, &key); part; part = tw__json_next(part, &key), seen++) {
        tw__column *found = NULL;
        for (int64_t i = 0; i < count; i++) {
            if (tw__json_is(key, columns[i].name))
                found = &columns[i];
        }
        tw_status status = TW_OK;
        if (!found)
            status = tw__fail(TW_INVALID_ARGUMENT, "JSON object: does not have named input: %.*s", TW_JSON_SHOWN(key));
        else if (found->items != place)
            status = tw__fail(TW_INVALID_ARGUMENT, "the input is given twice");
        else
            status = tw__column_add(found, part);
        if (status != TW_OK) {
            tw__error_prefix("Failed to process element: %lld key: %.*s of 'instances' list. Error: ", (long long)place,
                             tw__json_shown(key) - 2, key + 1);
            return status;
        }
    }
    if (seen == count)
        return TW_OK;
    tw__auto(tw__text_free) tw__text names = { 0 };
    for (int64_t i = 0; i < count; i++)
        tw__text_format(&names, "%s%s", i ? "," : "", columns[i].name);
    return tw__fail(TW_INVALID_ARGUMENT,
                    "Failed to process element: %lld of 'instances' list. JSON object: %.*s must only have keys: %s",
                    (long long)place, TW_JSON_SHOWN(row), names.data ? names.data : "");
}

static tw_status add_row(const char *row, int64_t place, bool named, tw__column *columns, int64_t count)
{
    if (named != is_named(row))
        return tw__fail(TW_INVALID_ARGUMENT, "Expecting %s at item %lld of input list",
                        named ? "object but got list" : "value/list but got object", (long long)place);
    if (named)
        return add_named(row, place, columns, count);
    tw_status status = tw__column_add(&columns[0], row);
    if (status != TW_OK)
        tw__error_prefix("Failed to process element: %lld of 'instances' list. Error: ", (long long)place);
    return status;
}

tw_status tw__request_rows(tw_request *request, const char *instances, tw__column *columns, int64_t count)
{
    const char *key, *row = *instances == '[' ? tw__json_first(instances, &key) : NULL;
    if (*instances != '[')
        return tw__fail(TW_INVALID_ARGUMENT, "JSON Value: %.*s Excepting 'instances' to be an list/array",
                        TW_JSON_SHOWN(request->root));
    if (!row)
        return tw__fail(TW_INVALID_ARGUMENT, "JSON Value: %.*s No values in 'instances' array", TW_JSON_SHOWN(request->root));
    bool named = is_named(row);
    if (!named && count > 1)
        return tw__fail(TW_INVALID_ARGUMENT, "instances is a plain list, but expecting list of objects as multiple input tensors "
                                             "required as per tensorinfo_map");
    request->rows = true;
    for (int64_t place = 0; row; row = tw__json_next(row, &key), place++)
        TW_TRY(add_row(row, place, named, columns, count));
    return TW_OK;
}

/* ---- columns ---- */

tw_status tw__request_columns(const char *inputs, tw__column *columns, int64_t count)
{
    if (!is_named(inputs))
        return count == 1
                   ? tw__column_add(&columns[0], inputs)
                   : tw__fail(TW_INVALID_ARGUMENT, "inputs is a plain value/list, but expecting an object as multiple input "
                                                   "tensors required as per tensorinfo_map");
    for (int64_t i = 0; i < count; i++) {
        const char *found = tw__json_member(inputs, columns[i].name);
        if (!found)
            return tw__fail(TW_INVALID_ARGUMENT, "Missing named input: %s in 'inputs' object.", columns[i].name);
        TW_TRY(tw__column_add(&columns[i], found));
    }
    return TW_OK;
}

/* ---- Examples ---- */

/* The dtype that a feature gets by one of its values: strings, whole numbers and truths, numbers. */
static tw_dtype feature_dtype(const char *value)
{
    switch (tw__json_kind_of(value)) {
    case TW_JSON_NUMBER:
        return tw__json_read_number(value).is_integer ? TW_INT64 : TW_FLOAT32;
    case TW_JSON_BOOL:
        return TW_INT64;
    case TW_JSON_STRING:
        return TW_STRING;
    case TW_JSON_OBJECT:
        return tw__json_base64(value) ? TW_STRING : TW_DTYPE_NONE;
    default:
        return TW_DTYPE_NONE;
    }
}

static tw_status add_feature_value(tw__column *column, const char *value)
{
    tw_dtype dtype = feature_dtype(value);
    if (dtype == TW_DTYPE_NONE)
        return tw__fail(TW_INVALID_ARGUMENT, "Feature: %s has element with unexpected JSON type: %s", column->name,
                        tw__json_kind_name(value));
    if (column->count && dtype != column->dtype)
        return tw__fail(TW_INVALID_ARGUMENT, "Unexpected element type in feature: %s expecting type: %s", column->name,
                        column->dtype == TW_STRING  ? "bytes"
                        : column->dtype == TW_INT64 ? "int64"
                                                    : "float");
    column->dtype = dtype;
    return tw__column_add_scalar(column, *value == 't' ? "1" : *value == 'f' ? "0" : value);
}

static tw_status add_feature(tw__text *features, const char *key, const char *content)
{
    tw__auto(tw__text_free) tw__text name = { 0 };
    tw__json_text(key, &name);
    tw__auto(tw__column_free) tw__column column = { .name = name.data ? name.data : "", .dtype = TW_FLOAT32 };
    const char *element_key;
    if (*content != '[')
        TW_TRY(add_feature_value(&column, content));
    for (const char *part = *content == '[' ? tw__json_first(content, &element_key) : NULL; part;
         part = tw__json_next(part, &element_key))
        TW_TRY(add_feature_value(&column, part));
    column.item = (tw_shape){ 1, { column.count } };
    tw_auto tw_tensor *values = tw__column_tensor(&column, false);
    TW_NEED(values);
    return tw__feature_write(features, (tw_string){ column.name, name.size }, values);
}

static tw_status add_features(tw__text *features, const char *object)
{
    const char *key;
    if (*object != '{')
        return tw__fail(TW_INVALID_ARGUMENT, "Example must be JSON object but got JSON %s", tw__json_kind_name(object));
    for (const char *part = tw__json_first(object, &key); part; part = tw__json_next(part, &key))
        TW_TRY(add_feature(features, key, part));
    return TW_OK;
}

/* One Example as bytes: the features of the context, then its own. */
static tw_status put_example(tw_tensor *made, int64_t index, const char *context, const char *example)
{
    tw__auto(tw__text_free) tw__text features = { 0 };
    tw__auto(tw__text_free) tw__text bytes = { 0 };
    if (context)
        TW_TRY(add_features(&features, context));
    TW_TRY(add_features(&features, example));
    tw__put_Example_features(&bytes, features.data, features.size);
    return bytes.failed || features.failed ? TW_RESOURCE_EXHAUSTED : tw__string_set(made, index, bytes.data, bytes.size);
}

tw_tensor *tw__request_examples(tw_request *request)
{
    const char *examples = tw__json_member(request->root, "examples"), *context = tw__json_member(request->root, "context"), *key;
    const char *wrong = !examples                                     ? "key 'examples' is expected and was not found"
                        : *examples != '['                            ? "Expecting 'examples' value to be an list/array"
                        : examples && !tw__json_first(examples, &key) ? "'examples' value is an empty array"
                                                                      : NULL;
    if (wrong) {
        tw__fail(TW_INVALID_ARGUMENT, "JSON Value: %.*s %s", TW_JSON_SHOWN(request->root), wrong);
        return NULL;
    }
    for (const char *part = tw__json_first(examples, &key); part; part = tw__json_next(part, &key))
        request->examples++;
    tw_auto tw_tensor *made = tw__tensor_empty(TW_STRING, &(tw_shape){ 1, { request->examples } });
    int64_t index = 0;
    for (const char *part = made ? tw__json_first(examples, &key) : NULL; part; part = tw__json_next(part, &key)) {
        if (put_example(made, index++, context, part) != TW_OK)
            return NULL;
    }
    return made ? tw_retain(made) : NULL;
}
