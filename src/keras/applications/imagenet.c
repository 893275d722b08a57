/* What networks that know ImageNet need besides: pictures in the range they were trained on, and the names of their classes. */
#include <pthread.h>

#include "base/temps.h"
#include "format/format.h"
#include "keras/keras.h"
#include "rows.h"
#include "spec/spec.h"

/* ---- pictures ---- */

static tw_status check_pictures(const char *mode, const char *data_format)
{
    if (strcmp(mode, "caffe") != 0 && strcmp(mode, "tf") != 0 && strcmp(mode, "torch") != 0)
        return tw__fail(TW_VALUE_ERROR, "Expected mode to be one of `caffe`, `tf` or `torch`. Received: mode=%s", mode);
    if (data_format && strcmp(data_format, "channels_last") != 0 && strcmp(data_format, "channels_first") != 0)
        return tw__fail(TW_VALUE_ERROR,
                        "Expected data_format to be one of `channels_first` or `channels_last`. Received: data_format=%s",
                        data_format);
    return TW_OK;
}

static tw_tensor *number(tw__temps *t, double value, tw_dtype dtype)
{
    tw_tensor *tensor = tw__temp(t, tw_tensor_new(TW_FLOAT32, TW_SCALAR, &(float){ (float)value }));
    return tensor ? tw__temp(t, tw_cast(tensor, dtype)) : NULL;
}

/* Three numbers, shaped so that they meet the channels. */
static tw_tensor *by_channel(tw_dtype dtype, int rank, bool first, const double values[3])
{
    tw_shape shape = first && rank >= 3 ? TW_SHAPE(3, 1, 1) : TW_SHAPE(3);
    tw_auto tw_tensor *tensor = tw_tensor_new(TW_FLOAT64, shape, values);
    return tensor ? tw_cast(tensor, dtype) : NULL;
}

TW_API(
    applications_preprocess,
    "keras.applications.imagenet_utils._preprocess(x: tensor, data_format: str = None, mode: str = 'caffe') -> tensor",
    "Pictures of 0 to 255 in the range that a network was trained on: caffe: blue, green, red around their means; tf: -1 to 1; "
    "torch: 0 to 1, around the means, by the deviations.")
{
    static const double caffe[3] = { 103.939, 116.779, 123.68 }, torch[3] = { 0.485, 0.456, 0.406 },
                        deviations[3] = { 0.229, 0.224, 0.225 };
    if (check_pictures(args->mode, args->data_format) != TW_OK)
        return NULL;
    TW_TEMPS(t);
    tw_dtype dtype = tw__dtype_is_float(args->x->dtype) ? args->x->dtype : TW_FLOAT32;
    tw_tensor *x = tw__temp(t, tw_cast(args->x, dtype));
    int rank = args->x->shape.rank;
    bool first = args->data_format && strcmp(args->data_format, "channels_first") == 0;
    bool is_tf = strcmp(args->mode, "tf") == 0, is_torch = strcmp(args->mode, "torch") == 0;
    if (is_tf || is_torch) {
        tw_tensor *divisor = number(t, is_tf ? 127.5 : 255, dtype);
        x = x && divisor ? tw__temp(t, tw_divide(x, divisor)) : NULL;
    }
    if (is_tf) {
        tw_tensor *one = number(t, 1, dtype);
        return x && one ? tw_subtract(x, one) : NULL;
    }
    if (!is_torch) {
        int64_t axis = first ? (rank == 3 ? 0 : 1) : -1;
        x = x ? tw__temp(t, tw_reverse(x, TW_INTS(axis))) : NULL;
    }
    tw_tensor *means = tw__temp(t, by_channel(dtype, rank, first, is_torch ? torch : caffe));
    x = x && means ? tw__temp(t, tw_subtract(x, means)) : NULL;
    if (!is_torch)
        return tw__keep(t, x);
    tw_tensor *divisors = tw__temp(t, by_channel(dtype, rank, first, deviations));
    return x && divisors ? tw_divide(x, divisors) : NULL;
}

/* ---- classes ---- */

static tw_status read_classes(tw_value *classes)
{
    tw__owned char *path = tw__keras_cache("models", "imagenet_class_index.json");
    TW_NEED(path);
    if (!tw__path_exists(path))
        return tw__fail(TW_NOT_FOUND,
                        "decode_predictions: the names of ImageNet's classes are not there, and nothing is fetched. Put the file "
                        "imagenet_class_index.json at %s.",
                        path);
    size_t size;
    tw__owned char *text = tw__file_read_all(path, 1 << 24, &size);
    TW_NEED(text);
    return tw__value_parse(text, size, classes);
}

TW_API(applications_class, "keras.applications.imagenet_utils._class(index: int) -> value",
       "The code and the name of a class of ImageNet, from the file that Keras's cache has.")
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    static tw_value kept; /* for the rest of the process */
    char key[24];
    snprintf(key, sizeof key, "%lld", (long long)args->index);
    pthread_mutex_lock(&lock);
    tw_status status = kept.kind == TW_VALUE_DICT ? TW_OK : read_classes(&kept);
    const tw_value *found = status == TW_OK ? tw__value_get(&kept, key) : NULL;
    tw_value result = found ? tw__value_copy(found) : (tw_value){ .kind = TW_VALUE_NONE };
    pthread_mutex_unlock(&lock);
    if (status == TW_OK && !found)
        tw__fail(TW_VALUE_ERROR, "decode_predictions: imagenet_class_index.json has no class %s", key);
    return result;
}
