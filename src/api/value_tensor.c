/* Tensors from values of nested lists, as JSON has them. They are filled in the widest dtype of their kind, and cast. */
#include <math.h>
#include <string.h>

#include "op/calls.h"
#include "rows.h"
#include <thalweg/describe.h>

typedef struct filler {
    tw_shape shape;
    int64_t next;
    bool real;     /* texts may be "NaN" and the like */
    tw_dtype wide; /* TW_BOOL, TW_INT64, TW_FLOAT64 or TW_STRING; 0: there were no elements */
    union {        /* the elements */
        void *room;
        int64_t *ints;
        double *reals;
        bool *truths;
        tw_string *texts;
    };
} filler;

#define WHERE "tw_value_tensor: "

static const tw_value *encoded(const tw_value *value)
{
    const tw_value *text = value->kind == TW_VALUE_DICT && value->list.count == 2 ? tw_value_get(value, "b64") : NULL;
    return text && text->kind == TW_VALUE_STR ? text : NULL;
}

static bool is_list(const tw_value *value)
{
    return value->kind == TW_VALUE_LIST || value->kind == TW_VALUE_TUPLE;
}

/* Texts of JSON may be "NaN", "Infinity" and "-Infinity" where numbers are wanted, as TensorFlow Serving writes them. */
static bool special(const tw_value *value, double *number)
{
    static const struct {
        const char *text;
        double value;
    } known[] = { { "NaN", NAN }, { "Infinity", INFINITY }, { "-Infinity", -INFINITY } };
    for (size_t i = 0; value->kind == TW_VALUE_STR && i < sizeof known / sizeof *known; i++) {
        if (value->s.size == strlen(known[i].text) && memcmp(value->s.data, known[i].text, value->s.size) == 0) {
            *number = known[i].value;
            return true;
        }
    }
    return false;
}

/* The shape along the first elements, and the widest kind of all. */
static tw_status measure(filler *f, const tw_value *value, int depth)
{
    if (is_list(value)) {
        if (depth == TW_MAX_RANK)
            return tw__fail(TW_INVALID_ARGUMENT, WHERE "it has more than %d dimensions", TW_MAX_RANK);
        if (f->shape.rank <= depth) {
            if (f->next)
                return tw__fail(TW_INVALID_ARGUMENT, WHERE "lists and values stand beside each other");
            f->shape.dims[f->shape.rank++] = value->list.count;
        }
        if (f->shape.dims[depth] != value->list.count)
            return tw__fail(TW_INVALID_ARGUMENT, WHERE "lists of %lld and of %lld elements stand beside each other",
                            (long long)f->shape.dims[depth], (long long)value->list.count);
        for (int64_t i = 0; i < value->list.count; i++) {
            TW_TRY(measure(f, &value->list.items[i], depth + 1));
        }
        return TW_OK;
    }
    if (depth != f->shape.rank)
        return tw__fail(TW_INVALID_ARGUMENT, WHERE "lists and values stand beside each other");
    f->next++;
    double number;
    tw_dtype kind = value->kind == TW_VALUE_BOOL                                            ? TW_BOOL
                    : value->kind == TW_VALUE_INT                                           ? TW_INT64
                    : value->kind == TW_VALUE_FLOAT || (f->real && special(value, &number)) ? TW_FLOAT64
                    : value->kind == TW_VALUE_STR || encoded(value)                         ? TW_STRING
                                                                                            : 0;
    if (!kind)
        return tw__fail(TW_INVALID_ARGUMENT, WHERE "it holds something that is no number, text or boolean");
    bool numbers = (kind == TW_INT64 || kind == TW_FLOAT64) && (f->wide == TW_INT64 || f->wide == TW_FLOAT64);
    if (f->wide && f->wide != kind && !numbers)
        return tw__fail(TW_INVALID_ARGUMENT, WHERE "it holds values of several kinds");
    if (!f->wide || (numbers && kind == TW_FLOAT64))
        f->wide = kind;
    return TW_OK;
}

/* Bytes of base64, in either alphabet, for tw__free. */
static tw_status decode(tw_string text, tw_string *bytes)
{
    static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    char *room = tw__alloc(text.size + 1);
    size_t size = 0;
    uint32_t held = 0;
    TW_NEED(room);
    *bytes = (tw_string){ room, 0 };
    for (size_t i = 0, bits = 0; i < text.size && text.data[i] != '='; i++) {
        char c = text.data[i] == '-' ? '+' : text.data[i] == '_' ? '/' : text.data[i];
        const char *at = c ? strchr(letters, c) : NULL;
        if (!at)
            return tw__fail(TW_INVALID_ARGUMENT, WHERE "the text of b64 is not base64");
        held = held << 6 | (uint32_t)(at - letters);
        if ((bits += 6) >= 8)
            room[size++] = (char)(held >> (bits -= 8));
    }
    bytes->size = size;
    return TW_OK;
}

static tw_status fill(filler *f, const tw_value *value)
{
    double number;
    if (is_list(value)) {
        for (int64_t i = 0; i < value->list.count; i++)
            TW_TRY(fill(f, &value->list.items[i]));
        return TW_OK;
    }
    if (f->wide == TW_STRING && encoded(value))
        return decode(encoded(value)->s, &f->texts[f->next++]);
    if (f->wide == TW_STRING)
        f->texts[f->next++] = value->s;
    else if (f->wide == TW_BOOL)
        f->truths[f->next++] = value->b;
    else if (f->wide == TW_INT64)
        f->ints[f->next++] = value->i;
    else
        f->reals[f->next++] = value->kind == TW_VALUE_INT     ? (double)value->i
                              : value->kind == TW_VALUE_FLOAT ? value->f
                              : special(value, &number)       ? number
                                                              : NAN;
    return TW_OK;
}

/* Decoded bytes are not part of the value. */
static void free_decoded(const filler *f, const tw_value *value, int64_t *at)
{
    if (is_list(value)) {
        for (int64_t i = 0; i < value->list.count; i++)
            free_decoded(f, &value->list.items[i], at);
    } else if (*at < f->next) {
        if (encoded(value))
            tw__free((void *)f->texts[*at].data);
        ++*at;
    }
}

/* Whole numbers that the dtype does not hold are an error, not other numbers. */
static tw_status check_range(const filler *f, tw_dtype dtype)
{
    static const struct {
        tw_dtype dtype;
        int64_t least, most;
    } ranges[] = { { TW_INT8, INT8_MIN, INT8_MAX }, { TW_INT16, INT16_MIN, INT16_MAX }, { TW_INT32, INT32_MIN, INT32_MAX },
                   { TW_UINT8, 0, UINT8_MAX },      { TW_UINT16, 0, UINT16_MAX },       { TW_UINT32, 0, UINT32_MAX },
                   { TW_UINT64, 0, INT64_MAX } };
    for (size_t i = 0; i < sizeof ranges / sizeof *ranges; i++) {
        for (int64_t k = 0; ranges[i].dtype == dtype && f->wide == TW_INT64 && k < f->next; k++) {
            if (f->ints[k] < ranges[i].least || f->ints[k] > ranges[i].most)
                return tw__fail(TW_INVALID_ARGUMENT, WHERE "%lld is out of the range of %s", (long long)f->ints[k],
                                tw_dtype_name(dtype));
        }
    }
    return TW_OK;
}

static tw_tensor *make(filler *f, const tw_value *value, tw_dtype dtype)
{
    size_t element = f->wide == TW_STRING ? sizeof(tw_string) : f->wide == TW_BOOL ? sizeof(bool) : sizeof(double);
    tw__owned void *room = tw__alloc_array((size_t)f->next + 1, element);
    if (!room)
        return NULL;
    f->room = room;
    f->next = 0;
    tw_tensor *made = fill(f, value) == TW_OK && check_range(f, dtype) == TW_OK ? tw_tensor_new(f->wide, f->shape, room) : NULL;
    int64_t at = 0;
    if (f->wide == TW_STRING)
        free_decoded(f, value, &at);
    return made;
}

/* Whether values of the kind that was found can be what is wanted. */
static tw_status check_kind(const filler *f, tw_dtype dtype)
{
    bool complex = dtype == TW_COMPLEX64 || dtype == TW_COMPLEX128;
    if (dtype && f->next && (dtype == TW_STRING) != (f->wide == TW_STRING))
        return tw__fail(TW_INVALID_ARGUMENT, WHERE "%s is expected, got %s", tw_dtype_name(dtype),
                        f->wide == TW_STRING ? "texts" : "numbers or booleans");
    if (dtype && f->next && (dtype == TW_BOOL) != (f->wide == TW_BOOL))
        return tw__fail(TW_INVALID_ARGUMENT, WHERE "%s is expected, got %s", tw_dtype_name(dtype),
                        f->wide == TW_BOOL ? "booleans" : "numbers");
    if (dtype && f->next && f->wide == TW_FLOAT64 && !f->real && !complex)
        return tw__fail(TW_INVALID_ARGUMENT, WHERE "%s is expected, got numbers that are not whole", tw_dtype_name(dtype));
    return TW_OK;
}

tw_tensor *tw_value_tensor(const tw_value *value, tw_dtype dtype)
{
    filler f = { .real = dtype == TW_FLOAT32 || dtype == TW_FLOAT64 || dtype == TW_FLOAT16 || dtype == TW_BFLOAT16 };
    if (!tw__check_given(value, "the value", "tw_value_tensor") || measure(&f, value, 0) != TW_OK ||
        check_kind(&f, dtype) != TW_OK)
        return NULL;
    if (!f.wide)
        f.wide = dtype == TW_STRING ? TW_STRING : dtype == TW_BOOL ? TW_BOOL : TW_FLOAT64;
    tw_dtype wanted = dtype ? dtype : f.wide == TW_FLOAT64 ? TW_FLOAT32 : f.wide == TW_INT64 ? TW_INT32 : f.wide;
    tw_auto tw_tensor *made = make(&f, value, wanted);
    if (!made)
        return NULL;
    return wanted == f.wide ? tw_retain(made) : TW_CALL(Cast, made, TW_A_TYPE("DstT", wanted));
}
