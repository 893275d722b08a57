/* Argument structs from values of any kind (tw_value), by the field tables: what a config or a written-down call says.
 *
 * Every field of the struct owns what it points to, so that tw__args_free ends it. Lists of objects, names and numbers may hold
 * dicts with a class's name and config; those are made by whoever knows classes. */
#include <math.h>

#include "api/args_values.h"
#include "api/composite.h"

typedef struct filling {
    const tw_signature *signature;
    char *args;
    tw__object_maker make;
} filling;

static tw_status wrong(const filling *f, const tw_field *field, const char *expected)
{
    if (tw_error_code() != TW_OK)
        return tw_error_code();
    return tw__fail(TW_TYPE_ERROR, "%.*s: the argument `%s` must be %s", (int)strcspn(f->signature->path, "|"),
                    f->signature->path, field->name, expected);
}

static bool is_list(const tw_value *value)
{
    return value->kind == TW_VALUE_LIST || value->kind == TW_VALUE_TUPLE;
}

static bool integer_of(const tw_value *value, int64_t *out)
{
    if (value->kind == TW_VALUE_INT)
        *out = value->i;
    else if (value->kind == TW_VALUE_BOOL)
        *out = value->b;
    else if (value->kind == TW_VALUE_FLOAT && value->f == (double)(int64_t)value->f)
        *out = (int64_t)value->f;
    else if (value->kind == TW_VALUE_TENSOR && value->tensor->data && value->tensor->count == 1 &&
             tw__dtype_is_integer(value->tensor->dtype))
        *out = tw_tensor_int_at(value->tensor, 0);
    else
        return false;
    return true;
}

static bool number_of(const tw_value *value, double *out)
{
    int64_t integer;
    if (value->kind == TW_VALUE_FLOAT)
        *out = value->f;
    else if (value->kind == TW_VALUE_TENSOR && value->tensor->data && value->tensor->count == 1 &&
             tw__dtype_is_float(value->tensor->dtype))
        *out = tw_tensor_double_at(value->tensor, 0);
    else if (integer_of(value, &integer))
        *out = (double)integer;
    else
        return false;
    return true;
}

/* How many integers a list has, those of pairs in it ((top, bottom), (left, right)) counted one by one. */
static int64_t count_ints(const tw_value *value)
{
    int64_t count = 0;
    for (int64_t i = 0; is_list(value) && i < value->list.count; i++)
        count += is_list(&value->list.items[i]) ? value->list.items[i].list.count : 1;
    return is_list(value) ? count : 1;
}

static tw_status fill_ints(const filling *f, const tw_field *field, const tw_value *value, tw_ints *out)
{
    int64_t *list = tw__alloc_array((size_t)count_ints(value) + 1, sizeof *list), count = 0;
    bool good = list && (is_list(value) || integer_of(value, &list[0]));
    if (!list)
        return TW_RESOURCE_EXHAUSTED;
    for (int64_t i = 0; good && is_list(value) && i < value->list.count; i++) {
        const tw_value *item = &value->list.items[i];
        for (int64_t k = 0; good && k < (is_list(item) ? item->list.count : 1); k++)
            good = integer_of(is_list(item) ? &item->list.items[k] : item, &list[count++]);
    }
    *out = (tw_ints){ list, is_list(value) ? count : 1, true, !is_list(value) };
    return good ? TW_OK : wrong(f, field, "an integer or a list of integers");
}

static tw_status fill_shape(const filling *f, const tw_field *field, const tw_value *value, tw_shape *out)
{
    if (value->kind == TW_VALUE_SHAPE) {
        *out = *value->shape;
        return TW_OK;
    }
    const tw_value *items = is_list(value) ? value->list.items : value;
    int64_t count = is_list(value) ? value->list.count : 1;
    if (count > TW_MAX_RANK)
        return wrong(f, field, "a shape of fewer dimensions");
    out->rank = (int32_t)count;
    for (int64_t i = 0; i < count; i++) {
        out->dims[i] = -1;
        if (items[i].kind != TW_VALUE_NONE && !integer_of(&items[i], &out->dims[i]))
            return wrong(f, field, "a shape");
    }
    return TW_OK;
}

/* An object for a field: itself, or what `make` makes of it. NULL: none. */
static void *object_of(const filling *f, const tw_field *field, const tw_value *value)
{
    if (value->kind == TW_VALUE_OBJECT)
        return tw_retain(value->object);
    return f->make ? f->make(value, field) : NULL;
}

static tw_status fill_named(const filling *f, const tw_field *field, const tw_value *value, tw_named *out)
{
    void *object = object_of(f, field, value);
    if (object) {
        *out = object;
        return TW_OK;
    }
    if (value->kind != TW_VALUE_STR || tw_error_code() != TW_OK)
        return wrong(f, field, "a name or an object");
    *out = tw__strdup(value->s.data);
    return *out ? TW_OK : TW_RESOURCE_EXHAUSTED;
}

static tw_status fill_handle(const filling *f, const tw_field *field, const tw_value *value, void **out)
{
    const tw_class *class = tw_class_find(field->word);
    *out = object_of(f, field, value);
    if (!*out || (class && !tw__is(*out, class)))
        return wrong(f, field, field->word ? field->word : "an object");
    return TW_OK;
}

static tw_status fill_handles(const filling *f, const tw_field *field, const tw_value *value, tw_objects *out)
{
    const tw_value *items = is_list(value) ? value->list.items : value;
    int64_t count = is_list(value) ? value->list.count : 1;
    void **list = tw__alloc_array((size_t)count + 1, sizeof *list);
    if (!list)
        return TW_RESOURCE_EXHAUSTED;
    *out = (tw_objects){ list, 0 };
    for (int64_t i = 0; i < count; i++) {
        tw_status status = fill_handle(f, field, &items[i], &list[i]);
        out->count += list[i] != NULL;
        TW_TRY(status);
    }
    return TW_OK;
}

static tw_status fill_field(const filling *f, const tw_field *field, const tw_value *value)
{
    void *place = f->args + field->offset;
    if (value->kind == TW_VALUE_NONE && field->kind != TW_KIND_VALUE) {
        switch (field->kind) {
        case TW_KIND_INT:
            *(int64_t *)place = TW_NO_INT;
            break;
        case TW_KIND_FLOAT:
        case TW_KIND_NUMBER:
            *(double *)place = NAN;
            break;
        case TW_KIND_SHAPE:
            *(tw_shape *)place = TW_UNKNOWN_SHAPE;
            break;
        case TW_KIND_BOOL:
            *(bool *)place = false;
            break;
        default:
            break; /* cleared already */
        }
        return field->none_allowed || field->kind == TW_KIND_BOOL || field->kind == TW_KIND_SHAPE ? TW_OK
                                                                                                  : wrong(f, field, "given");
    }
    switch (field->kind) {
    case TW_KIND_INT:
        return integer_of(value, place) ? TW_OK : wrong(f, field, "an integer");
    case TW_KIND_FLOAT:
        return number_of(value, place) ? TW_OK : wrong(f, field, "a number");
    case TW_KIND_NUMBER:
        if (number_of(value, place))
            return TW_OK;
        return (((void **)place)[1] = object_of(f, field, value)) ? TW_OK : wrong(f, field, "a number");
    case TW_KIND_BOOL: {
        int64_t number;
        if (!integer_of(value, &number))
            return wrong(f, field, "a boolean");
        *(bool *)place = number != 0;
        return TW_OK;
    }
    case TW_KIND_STR:
        if (value->kind != TW_VALUE_STR && value->kind != TW_VALUE_BYTES)
            return wrong(f, field, "a text");
        *(char **)place = tw__strndup(value->s.data, value->s.size);
        return *(char **)place ? TW_OK : TW_RESOURCE_EXHAUSTED;
    case TW_KIND_DTYPE:
        if (field->word && value->kind == TW_VALUE_DICT) { /* a Policy */
            const tw_value *config = tw__value_get(value, "config");
            const char *name = config ? tw__value_text(config, "name") : NULL;
            *(tw_dtype *)place = name ? tw__policy_from_name(name) : TW_DTYPE_NONE;
            return *(tw_dtype *)place ? TW_OK : wrong(f, field, "a policy");
        }
        *(tw_dtype *)place = value->kind == TW_VALUE_DTYPE ? value->dtype
                             : value->kind != TW_VALUE_STR ? TW_DTYPE_NONE
                             : field->word                 ? tw__policy_from_name(value->s.data)
                                                           : tw_dtype_from_name(value->s.data);
        return *(tw_dtype *)place ? TW_OK : wrong(f, field, "a dtype");
    case TW_KIND_SHAPE:
        return fill_shape(f, field, value, place);
    case TW_KIND_INTS:
        return fill_ints(f, field, value, place);
    case TW_KIND_NAMED:
        return fill_named(f, field, value, place);
    case TW_KIND_HANDLE:
        return fill_handle(f, field, value, place);
    case TW_KIND_HANDLES:
        return fill_handles(f, field, value, place);
    case TW_KIND_VALUE:
        *(tw_value *)place = tw__value_copy(value);
        return ((tw_value *)place)->kind == value->kind ? TW_OK : TW_RESOURCE_EXHAUSTED;
    default:
        return TW_OK;
    }
}

/* ---- tensors ---- */

static tw_dtype dtype_of(const tw_value *value)
{
    for (int64_t i = 0; is_list(value) && i < value->list.count; i++) {
        tw_dtype dtype = dtype_of(&value->list.items[i]);
        if (dtype)
            return dtype;
    }
    return value->kind == TW_VALUE_TENSOR ? value->tensor->dtype : TW_DTYPE_NONE;
}

/* The dtype that numbers have in a field "tensor<WORD>": that of the first tensor in a field of the same word. */
static tw_dtype dtype_for(const filling *f, const tw_field *field, const tw_value *const *given)
{
    if (!field->word)
        return TW_DTYPE_NONE;
    tw_dtype named = field->word_dtype;
    for (int i = 0; !named && i < f->signature->field_count; i++) {
        const tw_field *other = &f->signature->fields[i];
        bool dtype_field = other->kind == TW_KIND_DTYPE && strcmp(field->word, "dtype") == 0 && strcmp(other->name, "dtype") == 0;
        if (dtype_field)
            named = *(tw_dtype *)(f->args + other->offset);
        else if (given[i] && other->word && strcmp(other->word, field->word) == 0)
            named = dtype_of(given[i]);
    }
    return named;
}

static tw_status fill_tensors(const filling *f, const tw_field *field, const tw_value *value, tw_dtype dtype)
{
    void *place = f->args + field->offset;
    if (value->kind == TW_VALUE_NONE)
        return field->none_allowed ? TW_OK : wrong(f, field, "given");
    if (field->kind == TW_KIND_TENSOR) {
        *(tw_tensor **)place = tw__value_tensor(value, dtype, field->name);
        return *(tw_tensor **)place ? TW_OK : tw__error_status();
    }
    const tw_value *items = is_list(value) ? value->list.items : value;
    int64_t count = is_list(value) ? value->list.count : 1;
    tw_tensor **list = tw__alloc_array((size_t)count + 1, sizeof *list);
    if (!list)
        return TW_RESOURCE_EXHAUSTED;
    *(tw_tensors *)place = (tw_tensors){ list, 0 };
    for (int64_t i = 0; i < count; i++, ((tw_tensors *)place)->count++) {
        list[i] = items[i].kind == TW_VALUE_NONE && field->none_allowed ? NULL : tw__value_tensor(&items[i], dtype, field->name);
        if (!list[i] && tw_error_code() != TW_OK)
            return tw__error_status();
    }
    return TW_OK;
}

/* ---- all of them ---- */

static bool is_tensor_field(const tw_field *field)
{
    return field->kind == TW_KIND_TENSOR || field->kind == TW_KIND_TENSORS;
}

static int find_field(const tw_signature *signature, const char *name)
{
    for (int i = 0; i < signature->field_count; i++) {
        if (strcmp(signature->fields[i].name, name) == 0)
            return i;
    }
    return -1;
}

/* Configs of depthwise convolutions say groups=1, which their classes do not take. */
static bool is_said_anyway(const tw_value *name, const tw_value *value)
{
    return strcmp(name->s.data, "groups") == 0 && value->kind == TW_VALUE_INT && value->i == 1;
}

/* Per field the value that is given for it. */
static tw_status sort_values(const tw_signature *signature, const tw_value *positional, const tw_value *named,
                             const tw_value **given)
{
    const char *path = signature->path;
    int size = (int)strcspn(path, "|");
    for (int64_t i = 0; positional && i < positional->list.count; i++) {
        if (i >= signature->field_count)
            return tw__fail(TW_TYPE_ERROR, "%.*s: %lld arguments are too many", size, path, (long long)positional->list.count);
        given[i] = &positional->list.items[i];
    }
    for (int64_t i = 0; named && named->kind == TW_VALUE_DICT && i + 1 < named->list.count; i += 2) {
        if (named->list.items[i].kind != TW_VALUE_STR)
            return tw__fail(TW_TYPE_ERROR, "%.*s: the names of arguments must be strings", size, path);
        int at = find_field(signature, named->list.items[i].s.data);
        if (at < 0 && is_said_anyway(&named->list.items[i], &named->list.items[i + 1]))
            continue;
        if (at < 0)
            return tw__fail(TW_TYPE_ERROR, "%.*s: there is no argument '%s'", size, path, named->list.items[i].s.data);
        given[at] = &named->list.items[i + 1];
    }
    for (int i = 0; i < signature->field_count; i++) {
        if (!given[i] && signature->fields[i].required)
            return tw__fail(TW_TYPE_ERROR, "%.*s: the argument '%s' is missing", size, path, signature->fields[i].name);
    }
    return TW_OK;
}

/* What has a default owns a copy of it, too. */
static tw_status fill_all(const filling *f, const tw_value *const *given)
{
    for (int i = 0; i < f->signature->field_count; i++) {
        const tw_field *field = &f->signature->fields[i];
        if (!given[i] || is_tensor_field(field))
            continue;
        TW_TRY(fill_field(f, field, given[i]));
        if (given[i]->kind != TW_VALUE_NONE)
            TW_TRY(tw_args_check(f->signature, field, f->args));
    }
    for (int i = 0; i < f->signature->field_count; i++) {
        const tw_field *field = &f->signature->fields[i];
        if (given[i] && is_tensor_field(field))
            TW_TRY(fill_tensors(f, field, given[i], dtype_for(f, field, given)));
    }
    return TW_OK;
}

static size_t pointer_size(const tw_field *field)
{
    switch (field->kind) {
    case TW_KIND_INTS:
        return sizeof(tw_ints);
    case TW_KIND_STR:
    case TW_KIND_NAMED:
        return sizeof(void *);
    default:
        return 0;
    }
}

/* A complete struct of the values that are given per field, and defaults. */
static void *make_args(const tw_signature *signature, const tw_value *const *given, tw__object_maker make)
{
    void *defaults = tw__alloc_zero(signature->args_size + 1);
    if (!defaults)
        return NULL;
    tw_args_default(signature, defaults);
    void *args = tw__args_copy(signature, defaults);
    tw__free(defaults);
    filling f = { signature, args, make };
    for (int i = 0; args && i < signature->field_count; i++) { /* what is given replaces the default's copy */
        const tw_field *field = &signature->fields[i];
        void *place = (char *)args + field->offset;
        if (!given[i] || !pointer_size(field))
            continue;
        tw__free(field->kind == TW_KIND_INTS ? (void *)((tw_ints *)place)->items : *(void **)place);
        memset(place, 0, pointer_size(field));
    }
    if (args && fill_all(&f, given) != TW_OK) {
        tw__args_free(signature, args);
        args = NULL;
    }
    return args;
}

void *tw__args_of_values(const tw_signature *signature, const tw_value *positional, const tw_value *named, tw__object_maker make)
{
    const tw_value **given = tw__alloc_array((size_t)signature->field_count + 1, sizeof *given);
    bool good = given && sort_values(signature, positional, named, given) == TW_OK;
    void *args = good ? make_args(signature, given, make) : NULL;
    tw__free(given);
    return args;
}

void *tw__args_of_value(const tw_signature *signature, const tw_field *field, const tw_value *value, tw__object_maker make)
{
    const tw_value **given = tw__alloc_array((size_t)signature->field_count + 1, sizeof *given);
    if (given)
        given[field - signature->fields] = value;
    void *args = given ? make_args(signature, given, make) : NULL;
    tw__free(given);
    return args;
}
