/* tf.train.Example, the message that TFRecord files hold.
 *
 * Readers leave the values where they are until the place for them is known. As in TensorFlow's parser several Features in one
 * Example are one, the last of equal keys counts; what follows packed numbers in a list is not looked at. */
#include "codec/message.h"
#include "format/record/example.h"

bool tw__features_each(tw_string bytes, tw__feature_entry entry, void *context, tw_status *status)
{
    tw__Features features;
    if (!tw__read_Features(bytes, &features))
        return false;
    for (tw__Features_feature pair; *status == TW_OK && tw__next_message(&features.feature, &tw__type_Features_feature, &pair);)
        *status = entry(context, pair.key, pair.value);
    return !features.feature.failed;
}

bool tw__example_each(tw_string bytes, tw__feature_entry entry, void *context, tw_status *status)
{
    tw__many many = tw__many_of(&tw__type_Example, TW_Example_features, bytes);
    for (tw_string features; *status == TW_OK && tw__next_bytes(&many, &features);) {
        if (!tw__features_each(features, entry, context, status))
            return false;
    }
    return !many.failed;
}

/* ---- one feature ---- */

static bool count_strings(tw__feature *feature)
{
    tw__proto proto = tw__proto_read(feature->data, feature->size);
    tw__proto_field field;
    while (tw__proto_next(&proto, &field)) {
        if (field.number != TW_BytesList_value || field.wire != TW_WIRE_BYTES)
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
        if (field.number != TW_Int64List_value || (field.wire != wire && field.wire != TW_WIRE_BYTES))
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
    tw__Feature from;
    *feature = (tw__feature){ 0 };
    if (!tw__read_Feature(bytes, &from))
        return false;
    tw_dtype dtype = from.which_kind == TW_Feature_bytes_list   ? TW_STRING
                     : from.which_kind == TW_Feature_float_list ? TW_FLOAT32
                     : from.which_kind == TW_Feature_int64_list ? TW_INT64
                                                                : TW_DTYPE_NONE;
    tw_string list = dtype == TW_STRING ? from.bytes_list : dtype == TW_FLOAT32 ? from.float_list : from.int64_list;
    *feature = (tw__feature){ .dtype = dtype, .data = (const uint8_t *)list.data, .size = list.size };
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
            tw__put_BytesList_value(list, s.data ? s.data : "", s.size);
        }
        return TW_OK;
    }
    bool real = tw__dtype_is_float(tensor->dtype);
    if (!tensor->count)
        return TW_OK;
    size_t packed = real ? tw__open_FloatList_value(list) : tw__open_Int64List_value(list);
    for (int64_t i = 0; i < tensor->count; i++) {
        uint8_t bytes[4];
        if (real) { /* bits where that is what there is: a conversion would change signalling NaNs */
            tw__put32(bytes, tensor->dtype == TW_FLOAT32 ? ((const uint32_t *)tensor->data)[i]
                                                         : tw__bits_of_float((float)tw_tensor_double_at(tensor, i)));
            tw__text_bytes(list, bytes, 4);
        } else {
            tw__varint_add(list, (uint64_t)tw_tensor_int_at(tensor, i));
        }
    }
    tw__close(list, packed);
    return list->failed ? TW_RESOURCE_EXHAUSTED : TW_OK;
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
    size_t entry = tw__open_Features_feature(text);
    tw__put_Features_feature_key(text, key.data, key.size);
    size_t feature = tw__open_Features_feature_value(text);
    size_t list = integer                      ? tw__open_Feature_int64_list(text)
                  : tensor->dtype == TW_STRING ? tw__open_Feature_bytes_list(text)
                                               : tw__open_Feature_float_list(text);
    tw_status status = write_list(text, tensor);
    tw__close(text, list);
    tw__close(text, feature);
    tw__close(text, entry);
    return status == TW_OK && text->failed ? TW_RESOURCE_EXHAUSTED : status;
}
