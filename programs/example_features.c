/* Features of tf.train.Example: said by a text, or found in records. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "board.h"
#include "example_features.h"
#include "program.h"

enum { RECORDS_READ = 100 };

/* ---- of a text ---- */

static bool read_shape(const char **at, tw_shape *shape)
{
    for ((*at)++; **at != ']'; shape->rank++) {
        char *end;
        long size = strtol(*at, &end, 10);
        if (end == *at || size < 0 || shape->rank == TW_MAX_RANK)
            return false;
        shape->dims[shape->rank] = size;
        *at = end + strspn(end, ", ");
    }
    (*at)++;
    return true;
}

bool features_read(feature_list *list, const char *text)
{
    while (*text && list->count < FEATURES_LIMIT) {
        feature *f = &list->items[list->count++];
        size_t size = strcspn(text, ":");
        char dtype[16] = "";
        *f = (feature){ .shape = { .rank = 0 } };
        if (!text[size] || !size || size >= sizeof f->key)
            return false;
        memcpy(f->key, text, size);
        text += size + 1;
        size = strspn(text, "abcdefghijklmnopqrstuvwxyz0123456789");
        if (size >= sizeof dtype)
            return false;
        memcpy(dtype, text, size);
        text += size;
        f->dtype = tw_dtype_from_name(dtype);
        if (f->dtype != TW_FLOAT32 && f->dtype != TW_INT64 && f->dtype != TW_STRING)
            return false;
        if (*text == '[' && !read_shape(&text, &f->shape))
            return false;
        f->any_number = *text == '*';
        list->varies = list->varies || f->any_number;
        text += f->any_number;
        if (*text && *text != ',')
            return false;
        text += *text ? 1 + strspn(text + 1, " ") : 0;
    }
    return list->count && !*text;
}

/* ---- of records ---- */

/* The dtype and the number of values of a Feature; false: it has none. */
static bool read_feature(board_field bytes, tw_dtype *dtype, int64_t *count)
{
    static const tw_dtype dtypes[] = { TW_STRING, TW_FLOAT32, TW_INT64 };
    board_field list, value;
    const uint8_t *at = bytes.data;
    if (!at || !board_next_field(&at, bytes.data + bytes.size, &list) || !list.data || list.number < 1 || list.number > 3)
        return false;
    *dtype = dtypes[list.number - 1];
    *count = 0;
    for (at = list.data; board_next_field(&at, list.data + list.size, &value);) {
        const uint8_t *packed = value.data;
        uint64_t number;
        if (list.number == 1 || !packed)
            ++*count;
        else if (list.number == 2)
            *count += (int64_t)(value.size / 4);
        else
            while (board_varint(&packed, value.data + value.size, &number))
                ++*count;
    }
    return true;
}

/* Puts a feature of a record into the list; false: its values are of another kind than before. */
static bool note_feature(feature_list *list, const char *key, size_t size, tw_dtype dtype, int64_t count, bool first)
{
    int i = 0;
    while (i < list->count && (strlen(list->items[i].key) != size || memcmp(list->items[i].key, key, size) != 0))
        i++;
    feature *f = &list->items[i];
    if (i == list->count) {
        if (i == FEATURES_LIMIT || size >= sizeof f->key)
            return true; /* more than is shown */
        *f = (feature){ .dtype = dtype, .shape = { count == 1 ? 0 : 1, { count } }, .any_number = !first };
        memcpy(f->key, key, size);
        list->count++;
    }
    if (f->dtype != dtype)
        return false;
    if ((f->shape.rank ? f->shape.dims[0] : 1) != count)
        f->any_number = true;
    return true;
}

/* Notes the features of an Example; how many it has, -1: it is none. */
static int read_example(feature_list *list, const uint8_t *data, size_t size, bool first)
{
    board_field features, entry, key, value;
    int count = 0;
    const uint8_t *at = data;
    if (!board_next_field(&at, data + size, &features) || features.number != 1 || !features.data)
        return size ? -1 : 0;
    for (at = features.data; board_next_field(&at, features.data + features.size, &entry);) {
        tw_dtype dtype;
        int64_t values;
        if (!entry.data || !board_get_field(entry.data, entry.size, 1, &key) || !key.data)
            return -1;
        if (!board_get_field(entry.data, entry.size, 2, &value) || !read_feature(value, &dtype, &values))
            continue;
        if (!note_feature(list, (const char *)key.data, key.size, dtype, values, first))
            return -1;
        count++;
    }
    return count;
}

bool features_guess(feature_list *list, const char *path)
{
    tw_record_iterator *records = tw_record_iterator(path, .compression_type = compression_of(path));
    bool is_example = records != NULL;
    int least = FEATURES_LIMIT, read = 0;
    for (; is_example && read < RECORDS_READ; read++) {
        tw_value record = tw_record_iterator_read(records);
        if (record.kind != TW_VALUE_BYTES && record.kind != TW_VALUE_STR) {
            tw_value_free(&record);
            break;
        }
        int count = read_example(list, (const uint8_t *)record.s.data, record.s.size, read == 0);
        is_example = count >= 0;
        least = count < least ? count : least;
        tw_value_free(&record);
    }
    tw_release(records);
    if (tw_error_code() != TW_OK) {
        library_error();
        return false;
    }
    if (!is_example || !list->count) {
        fprintf(stderr, "thalweg: %s: the records are no tf.train.Example with features\n", path);
        return false;
    }
    for (int i = 0; i < list->count; i++) {
        feature *f = &list->items[i];
        f->any_number = f->any_number || least < list->count; /* some records do not have it */
        if (f->any_number)
            f->shape.rank = 0;
        list->varies = list->varies || f->any_number;
    }
    return true;
}
