/* The base of feature columns: names, configs, how they are printed and compared. */
#include "api/args_values.h"
#include "keras/callable.h"
#include "keras/features/features.h"
#include "keras/initializers/initializers.h"

static tw_status column_settle(void *self, const void *given)
{
    (void)given;
    tw_feature_column *column = self;
    const tw__column_methods *methods = tw__column(column);
    if (!methods || !methods->name)
        return tw__fail(TW_TYPE_ERROR, "a feature column is made by one of the functions of tf.feature_column");
    char *name = methods->name(column);
    TW_NEED(name);
    tw__free(column->name);
    column->name = name;
    return TW_OK;
}

static void column_destroy(void *self)
{
    tw__free(((tw_feature_column *)self)->name);
}

TW_CLASS(feature_column, "feature_column._columns.FeatureColumn()", .size = sizeof(tw_feature_column), .settle = column_settle,
         .destroy = column_destroy, .doc = "What a feature is, and how numbers are made of it.");

const tw_feature_column *tw__column_in(const tw_value *value)
{
    return value->kind == TW_VALUE_OBJECT && tw__is(value->object, &tw__class_feature_column) ? value->object : NULL;
}

bool tw__column_is_categorical(const tw_feature_column *column)
{
    return column && tw__column(column)->buckets;
}

tw_value tw__column_parent(const tw_feature_column *column)
{
    tw_value *items = tw__alloc_array(1, sizeof *items);
    if (items)
        items[0] = (tw_value){ .kind = TW_VALUE_OBJECT, .object = tw_retain((void *)(uintptr_t)column) };
    return (tw_value){ .kind = items ? TW_VALUE_LIST : TW_VALUE_NONE, .list = { items, 1 } };
}

tw_value tw__column_key_parent(const char *key)
{
    tw_value *items = tw__alloc_array(1, sizeof *items);
    if (items)
        items[0] = tw__value_str(key);
    return (tw_value){ .kind = items ? TW_VALUE_LIST : TW_VALUE_NONE, .list = { items, 1 } };
}

/* ---- what an argument is in a config ---- */

static tw_value tuple_of(const tw_value *given);

tw_value tw__column_plain(const tw_value *given)
{
    if (tw__column_in(given))
        return tw__column_entry(given->object);
    if (given->kind == TW_VALUE_LIST || given->kind == TW_VALUE_TUPLE)
        return tuple_of(given);
    if (given->kind == TW_VALUE_TENSOR && !given->tensor->node && given->tensor->dtype != TW_STRING) {
        tw_value list = tw__tensor_config(given->tensor), tuple = tuple_of(&list);
        tw_value_free(&list);
        return tuple;
    }
    return tw__value_copy(given);
}

static tw_value tuple_of(const tw_value *given)
{
    if (given->kind != TW_VALUE_LIST && given->kind != TW_VALUE_TUPLE)
        return tw__value_copy(given);
    tw_value *items = tw__alloc_array((size_t)given->list.count + 1, sizeof *items);
    for (int64_t i = 0; items && i < given->list.count; i++)
        items[i] = tw__column_plain(&given->list.items[i]);
    return items ? (tw_value){ .kind = TW_VALUE_TUPLE, .list = { items, given->list.count } }
                 : (tw_value){ .kind = TW_VALUE_NONE };
}

static tw_value ints_tuple(const tw_ints *ints)
{
    tw_value *items = tw__alloc_array((size_t)ints->count + 1, sizeof *items);
    for (int64_t i = 0; items && i < ints->count; i++)
        items[i] = (tw_value){ .kind = TW_VALUE_INT, .i = ints->items[i] };
    return items ? (tw_value){ .kind = TW_VALUE_TUPLE, .list = { items, ints->count } } : (tw_value){ .kind = TW_VALUE_NONE };
}

static tw_value initializer_entry(const void *initializer)
{
    tw__dict dict = { 0 };
    tw__dict_put_str(&dict, "class_name", tw_class_name(initializer));
    tw__dict_put(&dict, "config", tw__config_of(initializer));
    return tw__dict_take(&dict);
}

/* `written`: as configs have it, else as it was given. */
static tw_value argument(const tw_feature_column *column, const tw_field *field, bool written)
{
    const tw__column_methods *methods = tw__column(column);
    const void *place = (const char *)tw_object_config(column) + field->offset;
    tw_value none = { .kind = TW_VALUE_NONE }, own = none;
    if (methods->own_value && methods->own_value(column, field->name, &own))
        return own;
    switch (field->kind) {
    case TW_KIND_INT:
        return *(const int64_t *)place == TW_NO_INT ? none : (tw_value){ .kind = TW_VALUE_INT, .i = *(const int64_t *)place };
    case TW_KIND_FLOAT:
        return *(const double *)place != *(const double *)place
                   ? none
                   : (tw_value){ .kind = TW_VALUE_FLOAT, .f = *(const double *)place };
    case TW_KIND_BOOL:
        return (tw_value){ .kind = TW_VALUE_BOOL, .b = *(const bool *)place };
    case TW_KIND_STR:
        return *(const char *const *)place ? tw__value_str(*(const char *const *)place) : none;
    case TW_KIND_DTYPE:
        return (tw_value){ .kind = TW_VALUE_DTYPE, .dtype = *(const tw_dtype *)place };
    case TW_KIND_INTS:
        return ints_tuple(place);
    case TW_KIND_VALUE:
        return written ? tw__column_plain(place) : tw__value_copy(place);
    case TW_KIND_HANDLE: {
        const tw_callable *function = *(void *const *)place;
        return function ? tw__value_str(function->name ? function->name : "") : none;
    }
    case TW_KIND_NAMED: {
        tw_named named = *(const tw_named *)place;
        tw_auto tw_initializer *initializer = named ? tw__initializer_get(named) : NULL;
        return !initializer ? none
               : written    ? initializer_entry(initializer)
                            : (tw_value){ .kind = TW_VALUE_OBJECT, .object = tw_retain(initializer) };
    }
    default:
        return none;
    }
}

static tw_value config_of(const tw_feature_column *column)
{
    const tw_signature *signature = tw_class_signature(tw_class_of(column));
    const tw__column_methods *methods = tw__column(column);
    tw__dict dict = { 0 };
    for (int i = 0; i < signature->field_count; i++) {
        const tw_field *field = &signature->fields[i];
        tw_value value = argument(column, field, true);
        if (value.kind == TW_VALUE_DTYPE)
            value = value.dtype ? tw__value_str(tw_dtype_name(value.dtype)) : (tw_value){ .kind = TW_VALUE_NONE };
        bool renamed = methods->renamed[0] && strcmp(field->name, methods->renamed[0]) == 0;
        tw__dict_put(&dict, renamed ? methods->renamed[1] : field->name, value);
    }
    return tw__dict_take(&dict);
}

tw_value tw__column_entry(const tw_feature_column *column)
{
    tw__dict dict = { 0 };
    tw__dict_put_str(&dict, "class_name", tw_class_name(column));
    tw__dict_put(&dict, "config", config_of(column));
    return tw__dict_take(&dict);
}

/* ---- and back ---- */

/* Members that are entries of columns become the columns. */
static tw_value revived(const tw_value *value)
{
    tw_value none = { .kind = TW_VALUE_NONE };
    if (value->kind == TW_VALUE_DICT && tw__value_text(value, "class_name") && tw__value_get(value, "config"))
        return tw__value_of_object(tw__column_of_entry(value));
    if (value->kind != TW_VALUE_LIST && value->kind != TW_VALUE_TUPLE)
        return tw__value_copy(value);
    tw_value *items = tw__alloc_array((size_t)value->list.count + 1, sizeof *items);
    if (!items)
        return none;
    for (int64_t i = 0; i < value->list.count; i++)
        items[i] = revived(&value->list.items[i]);
    return (tw_value){ .kind = value->kind, .list = { items, value->list.count } };
}

static void *make_initializer(const tw_value *value, const tw_field *field)
{
    tw__auto(tw_value_free) tw_value own = tw__value_copy(value);
    tw_value *config = (tw_value *)(uintptr_t)tw__value_get(&own, "config");
    if (config && tw__value_get(config, "dtype")) /* TensorFlow 1's have one */
        tw__value_drop(config, "dtype");
    return tw__deserialize(&own, field->word);
}

tw_feature_column *tw__column_of_entry(const tw_value *entry)
{
    char path[120];
    const char *name = entry->kind == TW_VALUE_DICT ? tw__value_text(entry, "class_name") : NULL;
    const tw_value *config = name ? tw__value_get(entry, "config") : NULL;
    snprintf(path, sizeof path, "feature_column._columns.%s", name ? name : "");
    const tw_signature *signature = config && config->kind == TW_VALUE_DICT ? tw_signature_find(path) : NULL;
    const tw_class *class = signature ? signature->class_row : NULL;
    if (!class) {
        tw__fail(TW_VALUE_ERROR, "Unknown feature column: %s", name ? name : "a config without class_name and config");
        return NULL;
    }
    const tw__column_methods *methods = class->methods;
    tw__dict named = { 0 };
    for (int64_t i = 0; i + 1 < config->list.count; i += 2) {
        const tw_value *key = &config->list.items[i], *value = key + 1;
        if (key->kind != TW_VALUE_STR)
            continue;
        bool renamed = methods && methods->renamed[1] && strcmp(key->s.data, methods->renamed[1]) == 0;
        bool part = strcmp(key->s.data, "initializer") == 0;
        tw__dict_put(&named, renamed ? methods->renamed[0] : key->s.data, part ? tw__value_copy(value) : revived(value));
    }
    tw_value all = tw__dict_take(&named);
    void *args = all.kind == TW_VALUE_DICT ? tw__args_of_values(signature, NULL, &all, make_initializer) : NULL;
    tw_feature_column *made = args ? tw_class_make(class, args) : NULL;
    tw__args_free(signature, args);
    tw_value_free(&all);
    return made;
}

/* ---- text ---- */

void tw__column_value_text(tw__text *text, const tw_value *value)
{
    if (tw__column_in(value)) {
        tw__column_text(text, value->object);
    } else if (value->kind == TW_VALUE_LIST || value->kind == TW_VALUE_TUPLE) {
        tw__text_add(text, "(");
        for (int64_t i = 0; i < value->list.count; i++) {
            tw__text_add(text, i ? ", " : "");
            tw__column_value_text(text, &value->list.items[i]);
        }
        tw__text_add(text, value->list.count == 1 ? ",)" : ")");
    } else if (value->kind == TW_VALUE_DTYPE) {
        tw__text_format(text, "tf.%s", tw_dtype_name(value->dtype));
    } else if (value->kind == TW_VALUE_STR || value->kind == TW_VALUE_BYTES) {
        tw__text_format(text, "'%s'", value->s.data ? value->s.data : "");
    } else if (value->kind == TW_VALUE_BOOL) {
        tw__text_add(text, value->b ? "True" : "False");
    } else if (value->kind == TW_VALUE_INT) {
        tw__text_format(text, "%lld", (long long)value->i);
    } else if (value->kind == TW_VALUE_FLOAT) {
        tw__print_float(text, value->f, TW_FLOAT64);
    } else if (value->kind == TW_VALUE_OBJECT) {
        tw__text_format(text, "<%s object at %p>", tw_class_name(value->object), value->object);
    } else {
        tw__text_add(text, "None");
    }
}

void tw__column_text(tw__text *text, const tw_feature_column *column)
{
    const tw_signature *signature = tw_class_signature(tw_class_of(column));
    const tw__column_methods *methods = tw__column(column);
    tw__text_format(text, "%s(", tw_class_name(column));
    for (int i = 0; i < signature->field_count; i++) {
        const tw_field *field = &signature->fields[i];
        tw_value value = argument(column, field, false);
        bool renamed = methods->renamed[0] && strcmp(field->name, methods->renamed[0]) == 0;
        tw__text_format(text, "%s%s=", i ? ", " : "", renamed ? methods->renamed[1] : field->name);
        if (field->kind == TW_KIND_HANDLE && value.kind == TW_VALUE_STR)
            tw__text_format(text, "<function %s at %p>", value.s.data,
                            *(void *const *)((const char *)tw_object_config(column) + field->offset));
        else
            tw__column_value_text(text, &value);
        tw_value_free(&value);
    }
    tw__text_add(text, ")");
}

/* ---- for users ---- */

TW_METHOD(feature_column_repr, "feature_column._columns.FeatureColumn.__repr__(self: feature_column) -> str",
          "The call that makes the column.")
{
    tw__text text = { 0 };
    tw__column_text(&text, args->self);
    return tw__text_take(&text);
}

TW_METHOD(feature_column_equal, "feature_column._columns.FeatureColumn.__eq__(self: feature_column, other: value) -> bool",
          "Whether both are columns of one kind with the same arguments.")
{
    const tw_feature_column *other = tw__column_in(&args->other);
    if (other == args->self || !other)
        return other != NULL;
    tw__text one = { 0 }, two = { 0 };
    tw__column_text(&one, args->self);
    tw__column_text(&two, other);
    tw__owned char *a = tw__text_take(&one), *b = tw__text_take(&two);
    return a && b && strcmp(a, b) == 0;
}

TW_METHOD(feature_column_hash, "feature_column._columns.FeatureColumn.__hash__(self: feature_column) -> int",
          "The same for columns that are equal.")
{
    tw__text text = { 0 };
    tw__column_text(&text, args->self);
    tw__owned char *all = tw__text_take(&text);
    uint64_t hash = 14695981039346656037u;
    for (const char *c = all ? all : ""; *c; c++)
        hash = (hash ^ (unsigned char)*c) * 1099511628211u;
    return (int64_t)(hash >> 2);
}

TW_METHOD(feature_column_get_config, "feature_column._columns.FeatureColumn.get_config(self: feature_column) -> value",
          "The arguments that would make the same column again.")
{
    return config_of(args->self);
}

TW_API(feature_column_from_entry, "feature_column._from_entry(entry: value) -> feature_column",
       "The column that a dict with class_name and config describes.")
{
    return tw__column_of_entry(&args->entry);
}

TW_PROPERTY(feature_column_name, "feature_column._columns.FeatureColumn.name(self: feature_column) -> str", "The column's name.")
{
    return tw__strdup(args->self->name ? args->self->name : "");
}

TW_PROPERTY(feature_column_parents, "feature_column._columns.FeatureColumn.parents(self: feature_column) -> value",
            "The columns and keys that it is made of.")
{
    return tw__column(args->self)->parents(args->self);
}

TW_PROPERTY(feature_column_num_buckets, "feature_column._columns.FeatureColumn.num_buckets(self: feature_column) -> int",
            "How many ids a categorical column has.")
{
    const tw__column_methods *methods = tw__column(args->self);
    if (!methods->buckets) {
        tw__fail(TW_ATTRIBUTE_ERROR, "'%s' object has no attribute 'num_buckets'", tw_class_name(args->self));
        return 0;
    }
    return methods->buckets(args->self);
}

TW_PROPERTY(feature_column_variable_shape, "feature_column._columns.FeatureColumn.variable_shape(self: feature_column) -> shape",
            "The shape of what a column gives for one sample.")
{
    const tw__column_methods *methods = tw__column(args->self);
    tw_shape shape = TW_UNKNOWN_SHAPE;
    if (methods->shape)
        methods->shape(args->self, &shape);
    else
        tw__fail(TW_ATTRIBUTE_ERROR, "'%s' object has no attribute 'variable_shape'", tw_class_name(args->self));
    return shape;
}

tw_status tw__column_spec_put(tw__dict *dict, const char *key, const char *kind, const tw_shape *shape, tw_dtype dtype,
                              const tw_value *otherwise)
{
    tw_value *items = tw__alloc_array(4, sizeof *items);
    TW_NEED(items);
    items[0] = tw__value_str(kind);
    items[1] = shape ? tw__shape_value(shape) : (tw_value){ .kind = TW_VALUE_NONE };
    items[2] = (tw_value){ .kind = TW_VALUE_DTYPE, .dtype = dtype };
    items[3] = otherwise ? tw__value_copy(otherwise) : (tw_value){ .kind = TW_VALUE_NONE };
    tw__dict_put(dict, key, (tw_value){ .kind = TW_VALUE_LIST, .list = { items, 4 } });
    return dict->failed ? tw__error_status() : TW_OK;
}

TW_METHOD(feature_column_spec, "feature_column._columns.FeatureColumn._parse_spec(self: feature_column) -> value",
          "What parsing must know of the column's features: kind, shape, dtype and default for each key.")
{
    tw__dict dict = { 0 };
    dict.failed |= tw__column(args->self)->spec(args->self, &dict) != TW_OK;
    return tw__dict_take(&dict);
}
