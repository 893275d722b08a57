/* Argument structs, handled by their field tables: defaults, checks, copies, projection from a class to its parent. */
#include <math.h>
#include <stdlib.h>

#include "spec/spec.h"

enum { MAX_INTS = 16 };

static void *at(const tw_field *field, const void *args)
{
    return (char *)args + field->offset;
}

/* The integers of a default such as "1, 1". */
static int64_t parse_ints(const char *text, int64_t *values)
{
    int64_t count = 0;
    while (text && *text && count < MAX_INTS) {
        char *end;
        long long value = strtoll(text, &end, 10);
        if (end == text)
            break;
        values[count++] = value;
        text = end + strspn(end, ", ");
    }
    return count;
}

/* Defaults of list fields live as long as the program: parsed once per field, kept in a small list. */
typedef struct kept_ints {
    const tw_field *field;
    int64_t values[MAX_INTS];
    int64_t count;
    struct kept_ints *next;
} kept_ints;
static kept_ints *_Atomic kept;

static void end_kept(void)
{
    for (kept_ints *k = atomic_exchange(&kept, NULL), *next; k; k = next) {
        next = k->next;
        free(k);
    }
}

static tw_ints default_ints(const tw_field *field)
{
    static tw__ending ending = { .end = end_kept };
    for (kept_ints *k = kept; k; k = k->next) {
        if (k->field == field)
            return (tw_ints){ k->values, k->count, true, *field->default_text != '(' };
    }
    kept_ints *k = malloc(sizeof *k);
    if (!k)
        return (tw_ints){ 0 };
    tw__at_shutdown(&ending);
    k->field = field;
    k->count = parse_ints(field->default_text, k->values);
    k->next = kept;
    while (!atomic_compare_exchange_weak(&kept, &k->next, k))
        ;
    return (tw_ints){ k->values, k->count, true, *field->default_text != '(' };
}

static void set_default(const tw_field *field, void *args)
{
    void *place = at(field, args);
    switch (field->kind) {
    case TW_KIND_INT:
        *(int64_t *)place = field->default_none ? TW_NO_INT : field->default_int;
        break;
    case TW_KIND_FLOAT:
        *(double *)place = field->default_none ? NAN : field->default_float;
        break;
    case TW_KIND_NUMBER:
        *(double *)place = field->default_none ? NAN : field->default_float;
        ((void **)place)[1] = NULL;
        break;
    case TW_KIND_BOOL:
        *(bool *)place = field->default_int;
        break;
    case TW_KIND_STR:
        *(const char **)place = field->default_text;
        break;
    case TW_KIND_NAMED:
        *(tw_named *)place = field->default_text;
        break;
    case TW_KIND_DTYPE:
        *(tw_dtype *)place = (tw_dtype)field->default_int;
        break;
    case TW_KIND_SHAPE: {
        tw_shape shape = TW_UNKNOWN_SHAPE;
        if (!field->default_none) {
            int64_t values[MAX_INTS];
            int64_t count = parse_ints(field->default_text, values);
            shape.rank = (int32_t)(count < TW_MAX_RANK ? count : TW_MAX_RANK);
            memcpy(shape.dims, values, (size_t)shape.rank * sizeof *values);
        }
        *(tw_shape *)place = shape;
        break;
    }
    case TW_KIND_INTS:
        *(tw_ints *)place = field->default_none || !field->default_text ? (tw_ints){ 0 } : default_ints(field);
        break;
    case TW_KIND_TENSORS:
        *(tw_tensors *)place = (tw_tensors){ 0 };
        break;
    case TW_KIND_HANDLES:
        *(tw_objects *)place = (tw_objects){ 0 };
        break;
    case TW_KIND_PAIRS:
        *(tw_pairs *)place = (tw_pairs){ 0 };
        break;
    case TW_KIND_VALUE:
        *(tw_value *)place = (tw_value){ .kind = TW_VALUE_NONE };
        break;
    default:
        *(void **)place = NULL;
    }
}

void tw_args_default(const tw_signature *signature, void *args)
{
    if (!tw__check_given(signature, "the signature", "tw_args_default") ||
        !tw__check_given(args, "the argument struct", signature->id))
        return;
    memset(args, 0, signature->args_size);
    *(size_t *)args = signature->args_size;
    for (int i = 0; i < signature->field_count; i++)
        set_default(&signature->fields[i], args);
}

static bool has_choice(const char *choices, const char *text)
{
    size_t size = strlen(text);
    for (const char *c = choices; c && *c;) {
        size_t length = strcspn(c, ",");
        if (length == size && memcmp(c, text, size) == 0)
            return true;
        c += length;
        c += strspn(c, ", ");
    }
    return false;
}

tw_status tw_args_check(const tw_signature *signature, const tw_field *field, const void *args)
{
    if (!signature || !field || !args)
        return tw__fail(TW_INVALID_ARGUMENT, "tw_args_check: the signature, the field or the argument struct is NULL");
    const void *place = at(field, args);
    bool number = field->kind == TW_KIND_INT || field->kind == TW_KIND_FLOAT || field->kind == TW_KIND_NUMBER;
    if (field->has_minimum && number) {
        if (field->kind == TW_KIND_NUMBER && ((void *const *)place)[1])
            return TW_OK;
        if (field->kind == TW_KIND_INT && *(const int64_t *)place == TW_NO_INT)
            return TW_OK;
        double value = field->kind == TW_KIND_INT ? (double)*(const int64_t *)place : *(const double *)place;
        if (value < field->minimum || (field->exclusive_minimum && value == field->minimum))
            return tw__fail(TW_VALUE_ERROR, "%s: the argument `%s` must be %s %g. Received: %s=%g", signature->path, field->name,
                            field->exclusive_minimum ? ">" : ">=", (double)field->minimum, field->name, value);
    }
    if (field->has_choices) {
        const char *text = *(const char *const *)place;
        if (text && !has_choice(field->choices, text))
            return tw__fail(TW_VALUE_ERROR, "%s: the argument `%s` must be one of: %s. Received: %s=%s", signature->path,
                            field->name, field->choices, field->name, text);
    }
    return TW_OK;
}

/* What says by itself that it was not given has its default: no text, no dtype, no list. Numbers, booleans and shapes mean what
 * they say: their defaults stand in the macros of <thalweg/api.h>. */
static void complete_field(const tw_field *field, void *args)
{
    const void *place = at(field, args);
    bool left_out = false;
    if (field->kind == TW_KIND_DTYPE)
        left_out = *(const tw_dtype *)place == TW_DTYPE_NONE;
    else if (field->kind == TW_KIND_INTS)
        left_out = !((const tw_ints *)place)->given;
    else if (field->kind == TW_KIND_STR || field->kind == TW_KIND_NAMED)
        left_out = !*(void *const *)place;
    if (left_out && !field->required)
        set_default(field, args);
}

/* ---- what C gives ---- */

/* `where` says which item of a list it is; or it is "". */
static tw_status wrong_handle(const tw_signature *signature, const tw_field *field, const char *where, const void *object,
                              const tw_class *wanted)
{
    return tw__fail(TW_INVALID_ARGUMENT, "tw_%s: the argument `%s` %s %s%s%s%s%s", signature->id, field->name,
                    *where ? "holds" : "is", object ? "a " : "NULL", tw_class_name(object), where, wanted ? ", expected a " : "",
                    wanted ? wanted->name : "");
}

static bool is_of(const void *object, const tw_class *class)
{
    return !class || ((const tw_object *)object)->class == class || tw__is(object, class);
}

static tw_status check_list(const tw_signature *signature, const tw_field *field, const tw_objects *list, const tw_class *class,
                            bool holes)
{
    if (list->count < 0 || (list->count && !list->items))
        return tw__fail(TW_INVALID_ARGUMENT, "tw_%s: the argument `%s` is no list: %lld items at %p", signature->id, field->name,
                        (long long)list->count, (const void *)list->items);
    for (int64_t k = 0; k < list->count; k++) {
        if (list->items[k] ? !is_of(list->items[k], class) : !holes) {
            char where[32];
            snprintf(where, sizeof where, " at %lld", (long long)k);
            return wrong_handle(signature, field, where, list->items[k], class);
        }
    }
    return TW_OK;
}

static tw_status check_pairs(const tw_signature *signature, const tw_field *field, const tw_pairs *pairs)
{
    if (pairs->count < 0 || (pairs->count && !pairs->items))
        return tw__fail(TW_INVALID_ARGUMENT, "tw_%s: the argument `%s` has no pairs", signature->id, field->name);
    for (int64_t k = 0; k < pairs->count; k++) {
        if (!pairs->items[k].name)
            return tw__fail(TW_INVALID_ARGUMENT, "tw_%s: the argument `%s` holds an object without a name", signature->id,
                            field->name);
        if (!pairs->items[k].object || !is_of(pairs->items[k].object, field->class_row)) {
            char where[80];
            snprintf(where, sizeof where, " as `%.64s`", pairs->items[k].name);
            return wrong_handle(signature, field, where, pairs->items[k].object, field->class_row);
        }
    }
    return TW_OK;
}

static tw_status check_value(const tw_signature *signature, const tw_field *field, const tw_value *value)
{
    bool good = true;
    if (value->kind == TW_VALUE_TENSOR || value->kind == TW_VALUE_OBJECT)
        good = value->object && (value->kind == TW_VALUE_OBJECT || tw__is(value->object, &tw__tensor_class));
    else if (value->kind == TW_VALUE_STR || value->kind == TW_VALUE_BYTES || value->kind == TW_VALUE_SHAPE)
        good = value->kind == TW_VALUE_SHAPE ? value->shape != NULL
                                             : value->s.data || (value->kind == TW_VALUE_BYTES && !value->s.size);
    else if (value->kind == TW_VALUE_LIST || value->kind == TW_VALUE_TUPLE || value->kind == TW_VALUE_DICT)
        good = value->list.count >= 0 && (value->list.items || !value->list.count);
    if (!good)
        return tw__fail(TW_INVALID_ARGUMENT, "tw_%s: the argument `%s` says what kind of value it is and has none", signature->id,
                        field->name);
    if (value->kind != TW_VALUE_LIST && value->kind != TW_VALUE_TUPLE && value->kind != TW_VALUE_DICT)
        return TW_OK;
    for (int64_t i = 0; i < value->list.count; i++)
        TW_TRY(check_value(signature, field, &value->list.items[i]));
    return TW_OK;
}

/* Whether an argument's pointers are there and are what the signature says, and its numbers are no nonsense. */
static tw_status check_given(const tw_signature *signature, const tw_field *field, const void *args)
{
    const void *place = at(field, args), *pointer;
    switch (field->kind) {
    case TW_KIND_TENSOR:
    case TW_KIND_HANDLE:
    case TW_KIND_STR:
    case TW_KIND_NAMED:
        pointer = *(void *const *)place;
        if (!pointer)
            return field->required && !field->none_allowed
                       ? tw__fail(TW_INVALID_ARGUMENT, "tw_%s: the argument `%s` is NULL", signature->id, field->name)
                       : TW_OK;
        if (field->kind == TW_KIND_STR || field->kind == TW_KIND_NAMED)
            return TW_OK;
        const tw_class *class = field->kind == TW_KIND_TENSOR ? &tw__tensor_class : field->class_row;
        return is_of(pointer, class) ? TW_OK : wrong_handle(signature, field, "", pointer, class);
    case TW_KIND_TENSORS: /* a list that may be None may hold None */
        return check_list(signature, field, place, &tw__tensor_class, field->none_allowed);
    case TW_KIND_HANDLES:
        return check_list(signature, field, place, field->class_row, false);
    case TW_KIND_PAIRS:
        return check_pairs(signature, field, place);
    case TW_KIND_INTS: {
        const tw_ints *ints = place;
        return ints->count < 0 || (ints->count && !ints->items)
                   ? tw__fail(TW_INVALID_ARGUMENT, "tw_%s: the argument `%s` has %lld integers at NULL", signature->id,
                              field->name, (long long)ints->count)
                   : TW_OK;
    }
    case TW_KIND_VALUE:
        return check_value(signature, field, place);
    case TW_KIND_DTYPE: {
        tw_dtype dtype = *(const tw_dtype *)place;
        return dtype == TW_DTYPE_NONE || tw__dtype_is_valid(dtype) || (field->word && tw__policy_is_mixed(dtype))
                   ? TW_OK
                   : tw__fail(TW_INVALID_ARGUMENT, "tw_%s: the argument `%s` is %d, which is no dtype", signature->id,
                              field->name, (int)dtype);
    }
    case TW_KIND_SHAPE: {
        int rank = ((const tw_shape *)place)->rank;
        return rank >= -1 && rank <= TW_MAX_RANK
                   ? TW_OK
                   : tw__fail(TW_INVALID_ARGUMENT, "tw_%s: the argument `%s` has %d dimensions, at most %d are possible",
                              signature->id, field->name, rank, TW_MAX_RANK);
    }
    default:
        return TW_OK;
    }
}

/* Defaults of the options that lie behind the end of a caller's struct. */
static void default_behind(const tw_signature *signature, size_t size, void *args)
{
    memset((char *)args + size, 0, signature->args_size - size);
    for (int i = 0; i < signature->field_count; i++) {
        if (signature->fields[i].offset >= size)
            set_default(&signature->fields[i], args);
    }
    *(size_t *)args = signature->args_size;
}

tw_status tw_args_complete(const tw_signature *signature, void *args)
{
    if (!signature || !args)
        return tw__fail(TW_INVALID_ARGUMENT, "tw_args_complete: the %s is NULL", signature ? "argument struct" : "signature");
    size_t size = *(const size_t *)args;
    if (size < sizeof size)
        return tw__fail(TW_INVALID_ARGUMENT,
                        "tw_%s: the argument struct does not tell its size: tw_%s(…) and TW_ARGS(%s, …) make it", signature->id,
                        signature->id, signature->id);
    if (size < signature->args_size)
        default_behind(signature, size, args);
    for (const tw_field *field = signature->fields, *end = field + signature->field_count; field < end; field++) {
        void *place = at(field, args);
        if (field->kind == TW_KIND_TENSOR && *(tw_object **)place && (*(tw_object **)place)->class == &tw__tensor_class)
            continue; /* by far the most frequent */
        complete_field(field, args);
        TW_TRY(check_given(signature, field, args));
        if (field->has_minimum || field->has_choices)
            TW_TRY(tw_args_check(signature, field, args));
    }
    return TW_OK;
}

tw_status tw__args_take(const tw_signature *signature, const void *given, void *args)
{
    if (!tw__check_given(given, "the argument struct", signature->id))
        return tw__error_status();
    size_t size = *(const size_t *)given;
    memcpy(args, given, size < signature->args_size ? size : signature->args_size);
    *(size_t *)args = size;
    return tw_args_complete(signature, args);
}

/* ---- copies ---- */

static bool copy_field(const tw_field *field, const void *source, void *target)
{
    void *to = at(field, target);
    const void *from = at(field, source);
    switch (field->kind) {
    case TW_KIND_TENSOR:
    case TW_KIND_HANDLE:
        *(void **)to = tw_retain(*(void *const *)from);
        return true;
    case TW_KIND_STR: {
        const char *text = *(const char *const *)from;
        *(char **)to = tw__strdup(text);
        return !text || *(char **)to;
    }
    case TW_KIND_NAMED: {
        tw_named named = *(const tw_named *)from;
        *(tw_named *)to = !named ? NULL : tw__named_is_object(named) ? tw_retain(named) : tw__strdup(named);
        return !named || *(tw_named *)to;
    }
    case TW_KIND_NUMBER:
        *(double *)to = *(const double *)from;
        ((void **)to)[1] = tw_retain(((void *const *)from)[1]);
        return true;
    case TW_KIND_INTS: {
        tw_ints ints = *(const tw_ints *)from;
        int64_t *items = tw__alloc_array((size_t)ints.count, sizeof *items);
        if (!items)
            return false;
        if (ints.count)
            memcpy(items, ints.items, (size_t)ints.count * sizeof *items);
        *(tw_ints *)to = (tw_ints){ items, ints.count, ints.given, ints.single };
        return true;
    }
    case TW_KIND_TENSORS:
    case TW_KIND_HANDLES: {
        tw_objects list = *(const tw_objects *)from; /* the two have one layout */
        void **items = tw__alloc_array((size_t)list.count, sizeof *items);
        if (!items)
            return false;
        for (int64_t i = 0; i < list.count; i++)
            items[i] = tw_retain(list.items[i]);
        *(tw_objects *)to = (tw_objects){ items, list.count };
        return true;
    }
    case TW_KIND_PAIRS: {
        tw_pairs list = *(const tw_pairs *)from;
        tw_pair *items = tw__alloc_array((size_t)list.count, sizeof *items);
        bool good = items != NULL;
        for (int64_t i = 0; good && i < list.count; i++) {
            items[i] = (tw_pair){ tw__strdup(list.items[i].name), tw_retain(list.items[i].object) };
            good = items[i].name != NULL;
        }
        *(tw_pairs *)to = (tw_pairs){ items, items ? list.count : 0 };
        return good;
    }
    case TW_KIND_VALUE:
        *(tw_value *)to = tw__value_copy(from);
        return ((tw_value *)to)->kind == ((const tw_value *)from)->kind;
    case TW_KIND_INT:
        *(int64_t *)to = *(const int64_t *)from;
        return true;
    case TW_KIND_FLOAT:
        *(double *)to = *(const double *)from;
        return true;
    case TW_KIND_BOOL:
        *(bool *)to = *(const bool *)from;
        return true;
    case TW_KIND_DTYPE:
        *(tw_dtype *)to = *(const tw_dtype *)from;
        return true;
    case TW_KIND_SHAPE:
        *(tw_shape *)to = *(const tw_shape *)from;
        return true;
    case TW_KIND_NONE:
        break;
    }
    return true;
}

void *tw__args_copy(const tw_signature *signature, const void *args)
{
    void *copy = tw__alloc_zero(signature->args_size);
    if (!copy)
        return NULL;
    *(size_t *)copy = signature->args_size;
    for (int i = 0; i < signature->field_count; i++) {
        if (!copy_field(&signature->fields[i], args, copy)) {
            tw__args_free(signature, copy);
            return NULL;
        }
    }
    return copy;
}

static void free_field(const tw_field *field, void *args)
{
    void *place = at(field, args);
    switch (field->kind) {
    case TW_KIND_TENSOR:
    case TW_KIND_HANDLE:
        tw_release(*(void **)place);
        break;
    case TW_KIND_STR:
        tw__free(*(void **)place);
        break;
    case TW_KIND_NAMED:
        if (tw__named_is_object(*(tw_named *)place))
            tw_release(*(void **)place);
        else
            tw__free(*(void **)place);
        break;
    case TW_KIND_NUMBER:
        tw_release(((void **)place)[1]);
        break;
    case TW_KIND_INTS:
        tw__free((void *)((tw_ints *)place)->items);
        break;
    case TW_KIND_VALUE:
        tw_value_free(place);
        break;
    case TW_KIND_TENSORS:
    case TW_KIND_HANDLES: {
        tw_objects *list = place;
        for (int64_t k = 0; k < list->count; k++)
            tw_release(list->items[k]);
        tw__free((void *)list->items);
        break;
    }
    case TW_KIND_PAIRS: {
        tw_pairs *list = place;
        for (int64_t k = 0; k < list->count; k++) {
            tw__free((void *)list->items[k].name);
            tw_release(list->items[k].object);
        }
        tw__free((void *)list->items);
        break;
    }
    default:
        break;
    }
}

void tw__args_free(const tw_signature *signature, void *args)
{
    for (int i = 0; args && i < signature->field_count; i++)
        free_field(&signature->fields[i], args);
    tw__free(args);
}

void tw__config_free(void *self)
{
    tw_object *object = self;
    tw__args_free(object->class->signature, object->config);
    object->config = NULL;
}

static size_t field_size(const tw_field *field)
{
    switch (field->kind) {
    case TW_KIND_TENSORS:
    case TW_KIND_HANDLES:
    case TW_KIND_PAIRS:
    case TW_KIND_NUMBER:
        return 16;
    case TW_KIND_INTS:
        return sizeof(tw_ints);
    case TW_KIND_SHAPE:
        return sizeof(tw_shape);
    case TW_KIND_VALUE:
        return sizeof(tw_value);
    case TW_KIND_BOOL:
        return sizeof(bool);
    case TW_KIND_DTYPE:
        return sizeof(tw_dtype);
    default:
        return 8;
    }
}

bool tw__args_put(const tw_field *field, const void *source, void *args, void *old)
{
    char *before = old, *place = at(field, args);
    memcpy(before + field->offset, place, field_size(field));
    memset(place, 0, field_size(field));
    if (copy_field(field, source, args))
        return true;
    tw__args_take_back(field, args, old);
    return false;
}

void tw__args_take_back(const tw_field *field, void *args, const void *old)
{
    free_field(field, args);
    memcpy(at(field, args), at(field, old), field_size(field));
}

void tw__args_drop(const tw_field *field, void *old)
{
    free_field(field, old);
}

void tw__args_project(const tw_signature *from, const void *source, const tw_signature *to, void *target)
{
    tw_args_default(to, target);
    for (int i = 0; i < to->field_count; i++) {
        const tw_field *field = &to->fields[i];
        for (int k = 0; k < from->field_count; k++) {
            const tw_field *other = &from->fields[k];
            if (other->kind == field->kind && strcmp(other->name, field->name) == 0) {
                memcpy(at(field, target), at(other, source), field_size(field));
            }
        }
    }
}

void tw__config_visit(void *self, tw__visitor visitor, void *context)
{
    tw_object *object = self;
    const tw_signature *signature = object->class->signature;
    for (int i = 0; i < signature->field_count; i++) {
        const tw_field *field = &signature->fields[i];
        void *place = at(field, object->config);
        if (field->kind == TW_KIND_HANDLE && *(void **)place) {
            visitor(context, *(void **)place);
        } else if (field->kind == TW_KIND_NAMED && tw__named_is_object(*(tw_named *)place)) {
            visitor(context, *(void **)place);
        } else if (field->kind == TW_KIND_NUMBER && ((void **)place)[1]) {
            visitor(context, ((void **)place)[1]);
        } else if (field->kind == TW_KIND_HANDLES) {
            for (int64_t k = 0; k < ((tw_objects *)place)->count; k++)
                visitor(context, ((tw_objects *)place)->items[k]);
        } else if (field->kind == TW_KIND_PAIRS) {
            for (int64_t k = 0; k < ((tw_pairs *)place)->count; k++)
                visitor(context, ((tw_pairs *)place)->items[k].object);
        }
    }
}
