/* numeric_column: numbers as they are, and bucketized_column: which of several ranges they are in. */
#include "keras/callable.h"
#include "keras/features/features.h"

static char *key_name(const tw_feature_column *self)
{
    return tw__strdup(((const tw_feature_numeric_column_args *)tw_object_config(self))->key);
}

/* "(2,)" */
static char *ints_text(const tw_ints *ints)
{
    tw__text text = { 0 };
    tw__text_add(&text, "(");
    for (int64_t i = 0; i < ints->count; i++)
        tw__text_format(&text, "%s%lld", i ? ", " : "", (long long)ints->items[i]);
    tw__text_add(&text, ints->count == 1 ? ",)" : ")");
    return tw__text_take(&text);
}

static tw_status check_shape(const tw_ints *shape, const char *key)
{
    if (shape->count >= TW_MAX_RANK)
        return tw__fail(TW_UNIMPLEMENTED, "numeric_column: rank %lld, at most %d are supported", (long long)shape->count,
                        TW_MAX_RANK - 1);
    for (int64_t i = 0; i < shape->count; i++) {
        tw__owned char *text = shape->items[i] <= 0 ? ints_text(shape) : NULL;
        if (shape->items[i] <= 0)
            return tw__fail(TW_VALUE_ERROR, "shape dimensions must be greater than 0. shape: %s, key: %s", text ? text : "", key);
    }
    return TW_OK;
}

static bool has_shape(const tw_value *value, const tw_ints *shape, int64_t depth)
{
    bool list = value->kind == TW_VALUE_LIST || value->kind == TW_VALUE_TUPLE;
    double number;
    if (depth == shape->count)
        return tw__value_plain_number(value, &number);
    if (!list || value->list.count != shape->items[depth])
        return false;
    for (int64_t i = 0; i < value->list.count; i++) {
        if (!has_shape(&value->list.items[i], shape, depth + 1))
            return false;
    }
    return true;
}

static tw_status numeric_settle(void *self, const void *given)
{
    (void)self;
    const tw_feature_numeric_column_args *args = given;
    TW_TRY(check_shape(&args->shape, args->key));
    if (!tw__dtype_is_float(args->dtype) && !tw__dtype_is_integer(args->dtype))
        return tw__fail(TW_VALUE_ERROR, "dtype must be convertible to float. dtype: <dtype: '%s'>, key: %s",
                        tw_dtype_name(args->dtype), args->key);
    double number;
    const tw_value *otherwise = &args->default_value;
    if (otherwise->kind == TW_VALUE_NONE || tw__value_plain_number(otherwise, &number) || has_shape(otherwise, &args->shape, 0))
        return TW_OK;
    tw__text text = { 0 };
    tw__column_value_text(&text, otherwise);
    tw__owned char *shown = tw__text_take(&text), *shape = ints_text(&args->shape);
    return tw__fail(TW_VALUE_ERROR,
                    "The shape of default_value must be equal to given shape. default_value: %s, shape: %s, key: %s",
                    shown ? shown : "", shape ? shape : "", args->key);
}

/* One number for all elements is written out. */
static tw_value filled(const tw_value *number, const tw_ints *shape, int64_t depth)
{
    if (depth == shape->count)
        return *number;
    int64_t count = shape->items[depth];
    tw_value *items = tw__alloc_array((size_t)count + 1, sizeof *items);
    for (int64_t i = 0; items && i < count; i++)
        items[i] = filled(number, shape, depth + 1);
    return items ? (tw_value){ .kind = TW_VALUE_TUPLE, .list = { items, count } } : (tw_value){ .kind = TW_VALUE_NONE };
}

static bool numeric_value(const tw_feature_column *self, const char *name, tw_value *value)
{
    const tw_feature_numeric_column_args *args = tw_object_config(self);
    double number;
    if (strcmp(name, "default_value") != 0 || !tw__value_plain_number(&args->default_value, &number))
        return false;
    *value = filled(&args->default_value, &args->shape, 0);
    return true;
}

static void numeric_shape(const tw_feature_column *self, tw_shape *shape)
{
    const tw_ints *given = &((const tw_feature_numeric_column_args *)tw_object_config(self))->shape;
    *shape = (tw_shape){ .rank = (int32_t)given->count };
    memcpy(shape->dims, given->items, (size_t)given->count * sizeof *shape->dims);
}

static tw_status numeric_spec(const tw_feature_column *self, tw__dict *dict)
{
    const tw_feature_numeric_column_args *args = tw_object_config(self);
    tw_shape shape;
    numeric_shape(self, &shape);
    tw_value otherwise = { .kind = TW_VALUE_NONE };
    if (!numeric_value(self, "default_value", &otherwise))
        otherwise = tw__column_plain(&args->default_value);
    tw_status status = tw__column_spec_put(dict, args->key, "fixed", &shape, args->dtype, &otherwise);
    tw_value_free(&otherwise);
    return status;
}

static tw_value numeric_parents(const tw_feature_column *self)
{
    return tw__column_key_parent(((const tw_feature_numeric_column_args *)tw_object_config(self))->key);
}

static tw_tensor *numeric_dense(const tw_feature_column *self, tw__features *f)
{
    tw__temps *t = f->t;
    const tw_feature_numeric_column_args *args = tw_object_config(self);
    tw_tensor *value = tw__feature(f, args->key);
    if (value && !tw__is(value, &tw__tensor_class)) {
        tw__fail(TW_VALUE_ERROR,
                 "The corresponding Tensor of numerical column must be a Tensor. SparseTensor is not supported. key: %s",
                 args->key);
        return NULL;
    }
    if (value && args->normalizer_fn)
        value = tw__temp(t, args->normalizer_fn->call(args->normalizer_fn, value));
    return value ? tw__temp_cast(t, value, TW_FLOAT32) : NULL;
}

static const tw__column_methods numeric_methods = { .name = key_name,
                                                    .spec = numeric_spec,
                                                    .parents = numeric_parents,
                                                    .own_value = numeric_value,
                                                    .shape = numeric_shape,
                                                    .dense = numeric_dense };

TW_CLASS(feature_numeric_column,
         "feature_column._columns.NumericColumn|feature_column.numeric_column(key: str, shape: ints = 1, default_value: value = "
         "None, dtype: dtype = float32, normalizer_fn: callable = None) -> feature_column",
         .parent = &tw__class_feature_column, .size = sizeof(tw_feature_column), .settle = numeric_settle,
         .methods = &numeric_methods,
         .doc = "The numbers of a feature.\n"
                "shape: the shape of a sample\n"
                "default_value: the numbers of examples without the feature; None: it must be there\n"
                "dtype: the dtype of the numbers\n"
                "normalizer_fn: a function that is applied to the tensor; None: none");

/* ---- ranges ---- */

static const tw_feature_bucketized_column_args *bucketized(const tw_feature_column *self)
{
    return tw_object_config(self);
}

static int64_t boundary_count(const tw_feature_column *self)
{
    const tw_value *given = &bucketized(self)->boundaries;
    return given->kind == TW_VALUE_TENSOR ? given->tensor->count : given->list.count;
}

static double boundary(const tw_value *given, int64_t i)
{
    double number = 0;
    if (given->kind == TW_VALUE_TENSOR)
        return tw_tensor_double_at(given->tensor, i);
    tw__value_plain_number(&given->list.items[i], &number);
    return number;
}

static tw_status check_boundaries(const tw_value *given)
{
    bool list = given->kind == TW_VALUE_LIST || given->kind == TW_VALUE_TUPLE;
    bool array = given->kind == TW_VALUE_TENSOR && !given->tensor->node && given->tensor->shape.rank == 1 &&
                 given->tensor->dtype != TW_STRING;
    double number;
    for (int64_t i = 0; list && i < given->list.count; i++) {
        if (!tw__value_plain_number(&given->list.items[i], &number))
            return tw__fail(TW_VALUE_ERROR, "boundaries must be a sorted list.");
    }
    int64_t count = list ? given->list.count : array ? given->tensor->count : 0;
    if (!count)
        return tw__fail(TW_VALUE_ERROR, list || array ? "boundaries must not be empty." : "boundaries must be a sorted list.");
    for (int64_t i = 1; i < count; i++) {
        if (!(boundary(given, i - 1) < boundary(given, i)))
            return tw__fail(TW_VALUE_ERROR, "boundaries must be a sorted list.");
    }
    return TW_OK;
}

static tw_status bucketized_settle(void *self, const void *given)
{
    (void)self;
    const tw_feature_bucketized_column_args *args = given;
    const tw_feature_column *source = tw__column_in(&args->source_column);
    bool numeric = source && tw__is(source, &tw__class_feature_numeric_column);
    if (!numeric || ((const tw_feature_numeric_column_args *)tw_object_config(source))->shape.count != 1) {
        tw__text text = { 0 };
        tw__column_value_text(&text, &args->source_column);
        tw__owned char *shown = tw__text_take(&text);
        return tw__fail(TW_VALUE_ERROR,
                        numeric ? "source_column must be one-dimensional column. Given: %s"
                                : "source_column must be a column generated with numeric_column(). Given: %s",
                        shown ? shown : "");
    }
    return check_boundaries(&args->boundaries);
}

static char *bucketized_name(const tw_feature_column *self)
{
    const tw_feature_column *source = tw__column_in(&bucketized(self)->source_column);
    return tw__format("%s_bucketized", source ? source->name : ""); /* without one, bucketized_settle fails */
}

static tw_status bucketized_spec(const tw_feature_column *self, tw__dict *dict)
{
    return numeric_spec(tw__column_in(&bucketized(self)->source_column), dict);
}

static tw_value bucketized_parents(const tw_feature_column *self)
{
    return tw__column_parent(tw__column_in(&bucketized(self)->source_column));
}

static int64_t source_size(const tw_feature_column *self)
{
    const tw_feature_numeric_column_args *source = tw_object_config(tw__column_in(&bucketized(self)->source_column));
    return source->shape.items[0];
}

static void bucketized_shape(const tw_feature_column *self, tw_shape *shape)
{
    *shape = TW_SHAPE(source_size(self), boundary_count(self) + 1);
}

static int64_t bucketized_buckets(const tw_feature_column *self)
{
    int64_t buckets;
    return __builtin_mul_overflow(source_size(self), boundary_count(self) + 1, &buckets) ? INT64_MAX : buckets;
}

/* The numbers of the ranges, int32. */
static tw_tensor *ranges(const tw_feature_column *self, tw__features *f)
{
    tw__temps *t = f->t;
    int64_t count = boundary_count(self);
    tw_tensor *numbers = numeric_dense(tw__column_in(&bucketized(self)->source_column), f);
    tw__owned double *edges = numbers ? tw__alloc_array((size_t)count, sizeof *edges) : NULL;
    for (int64_t i = 0; edges && i < count; i++)
        edges[i] = boundary(&bucketized(self)->boundaries, i);
    tw_attr attr = { .name = "boundaries", .kind = TW_ATTR_FLOATS, .count = (int32_t)count, .floats = edges };
    return edges ? TW_TEMP(Bucketize, numbers, attr) : NULL;
}

static tw_tensor *bucketized_dense(const tw_feature_column *self, tw__features *f)
{
    tw__temps *t = f->t;
    tw_tensor *numbers = ranges(self, f);
    numbers = numbers ? tw__temp_cast(t, numbers, TW_INT64) : NULL;
    return numbers ? tw__temp(t, tw_one_hot(numbers, tw__temp_int(t, boundary_count(self) + 1, TW_INT32))) : NULL;
}

/* Each element of a row has ids of its own. */
static bool bucketized_ids(const tw_feature_column *self, tw__features *f, tw__feature_ids *out)
{
    tw__temps *t = f->t;
    int64_t width = source_size(self), buckets = boundary_count(self) + 1;
    tw_tensor *numbers = ranges(self, f);
    numbers = numbers ? tw__temp_reshape(t, tw__temp_cast(t, numbers, TW_INT64), (const int64_t[]){ -1, width }, 2) : NULL;
    tw_tensor *sizes = numbers ? tw__temp_shape(t, numbers, TW_INT64) : NULL;
    tw_tensor *places = sizes ? tw__temp_range(t, tw__temp_int(t, width, TW_INT64)) : NULL;
    tw_tensor *scale = places ? tw__temp_int(t, buckets, TW_INT64) : NULL;
    tw_tensor *ids = scale ? TW_TEMP(AddV2, numbers, TW_TEMP(Mul, places, scale)) : NULL;
    tw_tensor *flat = ids ? tw__temp_reshape(t, ids, &(int64_t){ -1 }, 1) : NULL;
    tw_tensor *all = flat ? TW_TEMP(Where, TW_TEMP(GreaterEqual, ids, tw__temp_int(t, 0, TW_INT64))) : NULL;
    out->ids = all ? tw__temp(t, tw__sparse_new(all, flat, sizes)) : NULL;
    out->weights = NULL;
    return out->ids != NULL;
}

static const tw__column_methods bucketized_methods = { .name = bucketized_name,
                                                       .spec = bucketized_spec,
                                                       .parents = bucketized_parents,
                                                       .shape = bucketized_shape,
                                                       .dense = bucketized_dense,
                                                       .buckets = bucketized_buckets,
                                                       .ids = bucketized_ids };

TW_CLASS(feature_bucketized_column,
         "feature_column._columns.BucketizedColumn|feature_column.bucketized_column(source_column: value, boundaries: value) -> "
         "feature_column",
         .parent = &tw__class_feature_column, .size = sizeof(tw_feature_column), .settle = bucketized_settle,
         .methods = &bucketized_methods,
         .doc = "Which range each number of a numeric column is in: a 1 in its place, or an id.\n"
                "source_column: a numeric column of one dimension\n"
                "boundaries: the numbers that divide the ranges, in their order");
