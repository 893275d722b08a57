/* What networks that know ImageNet need besides: pictures in the range they were trained on, and the names of their classes. */
#include <math.h>
#include <pthread.h>
#include <stdlib.h>

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

enum { CLASSES = 1000 };

static tw_status read_classes(tw_value *result)
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
    return tw__value_parse(text, size, result);
}

static tw_value classes; /* for the rest of the process, once they are read */

static const tw_value *class_of(int64_t index)
{
    char key[24];
    snprintf(key, sizeof key, "%lld", (long long)index);
    const tw_value *found = tw__value_get(&classes, key);
    if (found && found->kind == TW_VALUE_LIST && found->list.count == 2)
        return found;
    tw__fail(TW_VALUE_ERROR, "decode_predictions: imagenet_class_index.json has no class %s", key);
    return NULL;
}

/* Where a class stands among the scores of a picture. NaN comes first, as in sorted arrays of NumPy that are read backwards. */
typedef struct place {
    double score;
    int64_t index;
} place;

static int by_score(const void *a, const void *b)
{
    const place *one = a, *other = b;
    double first = isnan(one->score) ? INFINITY : one->score, second = isnan(other->score) ? INFINITY : other->score;
    return first != second ? (first < second) - (first > second) : (one->index > other->index) - (one->index < other->index);
}

static tw_status describe(const place *at, tw_value *result)
{
    const tw_value *found = class_of(at->index);
    TW_NEED(found);
    tw_value *items = tw__alloc_array(4, sizeof *items);
    TW_NEED(items);
    items[0] = tw__value_copy(&found->list.items[0]);
    items[1] = tw__value_copy(&found->list.items[1]);
    items[2] = (tw_value){ .kind = TW_VALUE_INT, .i = at->index };
    items[3] = (tw_value){ .kind = TW_VALUE_FLOAT, .f = at->score };
    *result = (tw_value){ .kind = TW_VALUE_TUPLE, .list = { items, 4 } };
    return TW_OK;
}

static tw_status decode_one(const double *scores, int64_t top, tw_value *result)
{
    place places[CLASSES];
    for (int64_t i = 0; i < CLASSES; i++)
        places[i] = (place){ scores[i], i };
    qsort(places, CLASSES, sizeof *places, by_score);
    *result = (tw_value){ .kind = TW_VALUE_LIST, .list = { tw__alloc_array(top ? top : 1, sizeof(tw_value)), 0 } };
    TW_NEED(result->list.items);
    for (; result->list.count < top; result->list.count++)
        TW_TRY(describe(&places[result->list.count], &result->list.items[result->list.count]));
    return TW_OK;
}

static tw_status decode(const double *scores, int64_t count, int64_t top, tw_value *result)
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    pthread_mutex_lock(&lock);
    tw_status status = classes.kind == TW_VALUE_DICT ? TW_OK : read_classes(&classes);
    pthread_mutex_unlock(&lock);
    TW_TRY(status);
    *result = (tw_value){ .kind = TW_VALUE_LIST, .list = { tw__alloc_array(count ? count : 1, sizeof(tw_value)), 0 } };
    TW_NEED(result->list.items);
    while (result->list.count < count) {
        int64_t i = result->list.count++;
        TW_TRY(decode_one(scores + i * CLASSES, top, &result->list.items[i]));
    }
    return TW_OK;
}

TW_API(
    applications_decode, "keras.applications.imagenet_utils._decode(preds: tensor, top: int = 5) -> value",
    "Per picture a list of the `top` classes of ImageNet with the highest scores: (code, name, index, score). preds: [pictures, "
    "1000]. The names are read from imagenet_class_index.json in Keras's cache.")
{
    tw_value result = { .kind = TW_VALUE_NONE };
    const tw_shape *shape = &args->preds->shape;
    if (shape->rank != 2 || shape->dims[1] != CLASSES) {
        tw__owned char *text = tw__shape_tuple(shape);
        if (text)
            tw__fail(
                TW_VALUE_ERROR,
                "`decode_predictions` expects a batch of predictions (i.e. a 2D array of shape (samples, 1000)). Found array "
                "with shape: %s",
                text);
        return result;
    }
    tw_auto tw_tensor *scores = tw_cast(args->preds, TW_FLOAT64);
    const double *data = scores ? tw_tensor_data(scores) : NULL;
    int64_t top = args->top > 0 ? args->top : CLASSES + args->top; /* preds[-top:], as Python reads it */
    top = top < 0 ? 0 : top > CLASSES ? CLASSES : top;
    if (data && decode(data, scores->shape.dims[0], top, &result) != TW_OK)
        tw_value_free(&result);
    return result;
}
