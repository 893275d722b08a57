/* tf.train.Example, the message that TFRecord files hold:
 *
 *     Example   1 Features                 Features  1 entry {1 key, 2 Feature}, repeated
 *     Feature   one of: 1 BytesList, 2 FloatList, 3 Int64List      lists  1 value, repeated; numbers packed or one by one
 *
 * Readers leave the values where they are until the place for them is known. As in TensorFlow's parser several Features in one
 * Example are one, the last of equal keys counts; what follows packed numbers in a list is not looked at. */
#include "codec/codec.h"
#include "format/record/example.h"

static tw_string string_of(const tw__proto_field *field)
{
    return (tw_string){ (const char *)field->data, field->size };
}

bool tw__features_each(const void *data, size_t size, tw__feature_entry entry, void *context, tw_status *status)
{
    tw__proto proto = tw__proto_read(data, size);
    tw__proto_field field, part;
    while (*status == TW_OK && tw__proto_next(&proto, &field)) {
        if (field.number != 1 || field.wire != TW_WIRE_BYTES)
            continue;
        tw_string key = { "", 0 }, feature = { "", 0 };
        tw__proto inner = tw__proto_nested(&field);
        while (tw__proto_next(&inner, &part)) {
            if (part.number == 1 && part.wire == TW_WIRE_BYTES)
                key = string_of(&part);
            else if (part.number == 2 && part.wire == TW_WIRE_BYTES)
                feature = string_of(&part);
        }
        if (inner.failed)
            return false;
        *status = entry(context, key, feature);
    }
    return !proto.failed;
}

bool tw__example_each(const void *data, size_t size, tw__feature_entry entry, void *context, tw_status *status)
{
    tw__proto proto = tw__proto_read(data, size);
    tw__proto_field field;
    while (*status == TW_OK && tw__proto_next(&proto, &field)) {
        if (field.number == 1 && field.wire == TW_WIRE_BYTES &&
            !tw__features_each(field.data, field.size, entry, context, status))
            return false;
    }
    return !proto.failed;
}

/* ---- one feature ---- */

static bool count_strings(tw__feature *feature)
{
    tw__proto proto = tw__proto_read(feature->data, feature->size);
    tw__proto_field field;
    while (tw__proto_next(&proto, &field)) {
        if (field.number != 1 || field.wire != TW_WIRE_BYTES)
            return false;
        feature->count++;
    }
    return !proto.failed;
}

/* Packed numbers become the feature's data, with only a count to be found; others stay a message. */
static bool count_numbers(tw__feature *feature, tw__wire wire)
{
    tw__proto proto = tw__proto_read(feature->data, feature->size);
    tw__proto_field field;
    while (tw__proto_next(&proto, &field)) {
        if (field.number != 1 || (field.wire != wire && field.wire != TW_WIRE_BYTES))
            return false;
        feature->packed = field.wire == TW_WIRE_BYTES;
        if (!feature->packed) {
            feature->count++;
            continue;
        }
        if (feature->count || (wire == TW_WIRE_FIXED32 && field.size % 4))
            return false;
        feature->data = field.data;
        feature->size = field.size;
        if (wire == TW_WIRE_FIXED32) {
            feature->count = (int64_t)(field.size / 4);
            return true;
        }
        for (size_t at = 0; at < field.size; feature->count++) {
            uint64_t value;
            size_t used = tw__varint_get(field.data + at, field.size - at, &value);
            if (used == 0)
                return false;
            at += used;
        }
        return true;
    }
    return !proto.failed;
}

bool tw__feature_read(tw_string bytes, tw__feature *feature)
{
    static const tw_dtype kinds[] = { TW_DTYPE_NONE, TW_STRING, TW_FLOAT32, TW_INT64 };
    *feature = (tw__feature){ 0 };
    tw__proto proto = tw__proto_read(bytes.data, bytes.size);
    tw__proto_field field;
    while (tw__proto_next(&proto, &field)) {
        if (field.number < 1 || field.number > 3 || field.wire != TW_WIRE_BYTES)
            continue;
        *feature = (tw__feature){ .dtype = kinds[field.number], .data = field.data, .size = field.size };
    }
    if (proto.failed)
        return false;
    if (feature->dtype == TW_STRING)
        return count_strings(feature);
    if (feature->dtype == TW_DTYPE_NONE)
        return true;
    return count_numbers(feature, feature->dtype == TW_FLOAT32 ? TW_WIRE_FIXED32 : TW_WIRE_VARINT);
}

static tw_status copy_strings(const tw__feature *feature, tw_tensor *tensor, int64_t at)
{
    tw__proto proto = tw__proto_read(feature->data, feature->size);
    tw__proto_field field;
    while (tw__proto_next(&proto, &field))
        TW_TRY(tw__string_set(tensor, at++, field.data, field.size));
    return TW_OK;
}

static void put(tw_tensor *tensor, int64_t at, uint64_t value)
{
    if (tensor->dtype == TW_INT64)
        ((int64_t *)tensor->data)[at] = (int64_t)value;
    else
        ((uint32_t *)tensor->data)[at] = (uint32_t)value;
}

tw_status tw__feature_copy(const tw__feature *feature, tw_tensor *tensor, int64_t at)
{
    if (feature->dtype == TW_STRING)
        return copy_strings(feature, tensor, at);
    if (!feature->packed) {
        tw__proto proto = tw__proto_read(feature->data, feature->size);
        tw__proto_field field;
        while (tw__proto_next(&proto, &field))
            put(tensor, at++, field.value);
    } else if (feature->dtype == TW_FLOAT32) {
        for (int64_t i = 0; i < feature->count; i++)
            put(tensor, at + i, tw__get32(feature->data + 4 * i));
    } else {
        for (size_t read = 0; read < feature->size;) {
            uint64_t value = 0;
            read += tw__varint_get(feature->data + read, feature->size - read, &value);
            put(tensor, at++, value);
        }
    }
    return TW_OK;
}

/* ---- writing ---- */

static tw_status write_list(tw__text *list, const tw_tensor *tensor)
{
    if (tensor->dtype == TW_STRING) {
        for (int64_t i = 0; i < tensor->count; i++) {
            tw_string s = tw_tensor_string_at(tensor, i);
            tw__proto_add_bytes(list, 1, s.data ? s.data : "", s.size);
        }
        return TW_OK;
    }
    tw__text packed = { 0 };
    for (int64_t i = 0; i < tensor->count; i++) {
        if (tw__dtype_is_float(tensor->dtype)) {
            uint8_t bytes[4];
            uint32_t bits;
            if (tensor->dtype == TW_FLOAT32) { /* bits, not a number: a conversion would change signalling NaNs */
                memcpy(&bits, (const char *)tw_tensor_data(tensor) + 4 * i, sizeof bits);
            } else {
                float value = (float)tw_tensor_double_at(tensor, i);
                memcpy(&bits, &value, sizeof bits);
            }
            tw__put32(bytes, bits);
            tw__text_bytes(&packed, bytes, 4);
        } else {
            tw__varint_add(&packed, (uint64_t)tw_tensor_int_at(tensor, i));
        }
    }
    if (packed.size)
        tw__proto_add_bytes(list, 1, packed.data, packed.size);
    tw_status status = packed.failed ? TW_RESOURCE_EXHAUSTED : TW_OK;
    tw__text_free(&packed);
    return status;
}

tw_status tw__feature_write(tw__text *text, tw_string key, const tw_tensor *tensor)
{
    bool integer = tw__dtype_is_integer(tensor->dtype) || tensor->dtype == TW_BOOL;
    if (!tensor->data && tensor->count)
        return tw__fail(TW_INVALID_ARGUMENT, "Example: feature %.*s: the tensor has no value while a function is traced",
                        (int)key.size, key.data);
    if (!integer && !tw__dtype_is_float(tensor->dtype) && tensor->dtype != TW_STRING)
        return tw__fail(TW_TYPE_ERROR, "Example: feature %.*s: strings, floats and integers can be stored, got %s", (int)key.size,
                        key.data, tw_dtype_name(tensor->dtype));
    tw__text list = { 0 }, feature = { 0 }, entry = { 0 };
    tw_status status = write_list(&list, tensor);
    tw__proto_add_bytes(&feature, integer ? 3 : tensor->dtype == TW_STRING ? 1 : 2, list.data ? list.data : "", list.size);
    tw__proto_add_bytes(&entry, 1, key.data, key.size);
    tw__proto_add_bytes(&entry, 2, feature.data, feature.size);
    tw__proto_add_bytes(text, 1, entry.data, entry.size);
    if (list.failed || feature.failed || entry.failed || text->failed)
        status = TW_RESOURCE_EXHAUSTED;
    tw__text_free(&list);
    tw__text_free(&feature);
    tw__text_free(&entry);
    return status;
}
