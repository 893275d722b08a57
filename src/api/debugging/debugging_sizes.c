/* tf.debugging.assert_shapes: sizes of dimensions, and which of them are equal, with TensorFlow's texts; see debugging.c.
 *
 * A constraint is a tensor and what its shape shall be: a number, a name that stands for one size everywhere, "." or None for any
 * size; "*" in front stands for any number of dimensions. A scalar counts as a vector of one element. What is known while tracing
 * is checked then, for the rest there are Assert nodes. */
#include <stdlib.h>

#include "api/debugging/debugging.h"
#include "api/sparse/sparse.h"
#include "op/calls.h"
#include "graph/graph.h"
#include "rows.h"

typedef struct constraint {
    tw_tensor *tensor; /* of a sparse tensor its values */
    const tw_shape *shape;
    tw_tensor *sizes; /* of a shape that is not known; NULL before it is asked for */
    tw_value own;     /* the specification as a list, where it was given otherwise */
    const tw_value *symbols;
    int64_t count;
    bool inner, sparse;
} constraint;

typedef struct checking {
    tw__temps *temps;
    constraint *list;
    int64_t count;
    const char *message;
    tw_tensors data;
    int64_t summarize;
    bool eager;
} checking;

static void add_label(tw__text *text, const checking *c, const constraint *of)
{
    if (!c->eager && !of->sparse) {
        tw__check_name(text, of->tensor, 0);
        return;
    }
    char *tuple = tw__shape_tuple(of->shape);
    tw__text_format(text, "shape=%s dtype=%s", tuple ? tuple : "", tw_dtype_name(of->tensor->dtype));
    tw__free(tuple);
}

static bool is_text(const tw_value *value, const char *text)
{
    return value->kind == TW_VALUE_STR && value->s.size == strlen(text) && memcmp(value->s.data, text, value->s.size) == 0;
}

/* The number that a symbol is, as Python's int() reads it. */
static bool is_number(const tw_value *value, int64_t *number)
{
    if (value->kind == TW_VALUE_FLOAT)
        *number = (int64_t)value->f;
    else if (value->kind == TW_VALUE_INT || value->kind == TW_VALUE_BOOL)
        *number = value->kind == TW_VALUE_INT ? value->i : value->b;
    else if (value->kind == TW_VALUE_TENSOR && value->tensor->data && value->tensor->count == 1)
        *number = tw_tensor_int_at(value->tensor, 0);
    else if (value->kind == TW_VALUE_STR || value->kind == TW_VALUE_BYTES) {
        char text[24] = { 0 }, *end = text;
        if (value->s.size && value->s.size < sizeof text)
            memcpy(text, value->s.data, value->s.size);
        *number = strtoll(text, &end, 10);
        return end != text && !*end;
    } else {
        return false;
    }
    return true;
}

static bool same_symbol(const tw_value *a, const tw_value *b)
{
    bool texts = (a->kind == TW_VALUE_STR || a->kind == TW_VALUE_BYTES) && a->kind == b->kind;
    if (texts)
        return a->s.size == b->s.size && memcmp(a->s.data, b->s.data, a->s.size) == 0;
    return a->kind == TW_VALUE_OBJECT && b->kind == TW_VALUE_OBJECT && a->object == b->object;
}

/* ---- constraints ---- */

static tw_status read_tensor(checking *c, constraint *of, const tw_value *value)
{
    void *object = value->kind == TW_VALUE_OBJECT ? value->object : NULL;
    of->sparse = object && tw__is(object, &tw__class_sparse_tensor);
    if (of->sparse) {
        of->tensor = ((struct tw_sparse_tensor *)object)->values;
        of->shape = &((struct tw_sparse_tensor *)object)->shape;
        of->sizes = ((struct tw_sparse_tensor *)object)->dense_shape;
        return TW_OK;
    }
    of->tensor = tw__temp(c->temps, tw__value_tensor(value, TW_DTYPE_NONE, "shapes"));
    of->shape = of->tensor ? &of->tensor->shape : NULL;
    return of->tensor ? TW_OK : tw__error_status();
}

/* The specification as a list: of a text its characters, of an array its numbers. */
static tw_status read_symbols(checking *c, constraint *of, const tw_value *value)
{
    bool text = value->kind == TW_VALUE_STR,
         array = value->kind == TW_VALUE_TENSOR && value->tensor->data && value->tensor->shape.rank == 1;
    if (value->kind == TW_VALUE_LIST || value->kind == TW_VALUE_TUPLE) {
        of->symbols = value->list.items;
        of->count = value->list.count;
    } else if (text || array) {
        of->count = text ? (int64_t)value->s.size : value->tensor->count;
        of->own = (tw_value){ .kind = TW_VALUE_LIST };
        of->symbols = of->own.list.items = tw__alloc_array((size_t)of->count + 1, sizeof *of->symbols);
        for (int64_t i = 0; of->symbols && i < of->count; i++) {
            char letter[2] = { text ? value->s.data[i] : 0 };
            of->own.list.items[i] =
                text ? tw__value_str(letter) : (tw_value){ .kind = TW_VALUE_INT, .i = tw_tensor_int_at(value->tensor, i) };
            of->own.list.count++;
        }
    } else {
        tw__text told = { 0 };
        char *shown = tw_value_json(value);
        tw__check_lead(&told, c->message);
        tw__text_add(&told, "Tensor ");
        add_label(&told, c, of);
        tw__text_format(&told,
                        ".  Specified shape must be an iterable.  An iterable has the attribute `__iter__` or `__getitem__`.  "
                        "Received specified shape: %s",
                        shown ? shown : "");
        tw__free(shown);
        tw__check_refuse(TW_VALUE_ERROR, &told);
    }
    for (int64_t i = 0; i < of->count && of->symbols; i++) {
        if (!is_text(&of->symbols[i], "*"))
            continue;
        if (i) {
            tw__text told = { 0 };
            tw__check_lead(&told, c->message);
            tw__text_add(&told, "Tensor ");
            add_label(&told, c, of);
            tw__text_format(
                &told,
                " specified shape index %lld.  Symbol `...` or `*` for a variable number of unspecified dimensions is only "
                "allowed as the first entry",
                (long long)i);
            tw__check_refuse(TW_VALUE_ERROR, &told);
            break;
        }
        of->inner = true;
    }
    of->symbols += of->inner;
    of->count -= of->inner;
    static const tw_value one = { .kind = TW_VALUE_INT, .i = 1 };
    if (of->symbols && of->count == 0 && !of->inner) { /* a scalar */
        of->symbols = &one;
        of->count = 1;
    }
    return tw_error_code();
}

static tw_status read_constraints(checking *c, const tw_value *shapes)
{
    bool dict = shapes->kind == TW_VALUE_DICT;
    if (!dict && shapes->kind != TW_VALUE_LIST && shapes->kind != TW_VALUE_TUPLE)
        return tw__fail(TW_TYPE_ERROR, "assert_shapes: shapes must be a dict or a list of pairs of a tensor and its shape");
    int64_t count = dict ? shapes->list.count / 2 : shapes->list.count;
    c->list = tw__alloc_zero(((size_t)count + 1) * sizeof *c->list);
    if (!c->list)
        return tw__error_status();
    for (int64_t i = 0; i < count; i++) {
        const tw_value *pair = dict ? &shapes->list.items[2 * i] : shapes->list.items[i].list.items;
        bool is_pair = dict || ((shapes->list.items[i].kind == TW_VALUE_TUPLE || shapes->list.items[i].kind == TW_VALUE_LIST) &&
                                shapes->list.items[i].list.count == 2);
        if (!is_pair)
            return tw__fail(TW_TYPE_ERROR, "assert_shapes: member %lld of shapes is no pair of a tensor and its shape",
                            (long long)i);
        if (pair[1].kind == TW_VALUE_NONE)
            continue;
        constraint *of = &c->list[c->count++];
        TW_TRY(read_tensor(c, of, &pair[0]));
        TW_TRY(read_symbols(c, of, &pair[1]));
    }
    return TW_OK;
}

/* ---- checks ---- */

static tw_status check_ranks(const checking *c)
{
    for (int64_t i = 0; i < c->count; i++) {
        const constraint *of = &c->list[i];
        int64_t few[2] = { 0, 1 };
        bool low = of->count <= 1;
        if ((of->inner && low) || of->sparse)
            continue;
        tw_value operation = tw__check_rank(of->tensor,
                                            of->inner ? TW_RANK_AT_LEAST
                                            : low     ? TW_RANK_IN
                                                      : TW_RANK_IS,
                                            low ? few : &of->count, low ? 2 : 1, c->message);
        tw_value_free(&operation);
        TW_TRY(tw_error_code());
    }
    return TW_OK;
}

/* The size of a dimension (from behind if it is negative) if it is known, else -1. */
static int64_t known_size(const constraint *of, int64_t at)
{
    if (of->shape->rank == 0)
        return 1;
    int64_t place = at < 0 ? at + of->shape->rank : at;
    return of->shape->rank > 0 && place >= 0 && place < of->shape->rank ? of->shape->dims[place] : -1;
}

/* The same as a tensor. */
static tw_tensor *size_of(checking *c, constraint *of, int64_t at)
{
    tw__temps *t = c->temps;
    if (known_size(of, at) >= 0)
        return tw__temp_int(t, known_size(of, at), TW_INT32);
    if (!of->sizes) {
        of->sizes = tw__temp_shape(t, of->tensor, TW_INT32);
        if (of->sizes && of->shape->rank < 0) { /* of a scalar [1] */
            tw_tensor *one = tw__temp_int(t, 1, TW_INT32),
                      *missing = TW_TEMP(Sub, one, TW_TEMP(Minimum, TW_TEMP(Rank, of->tensor), one));
            tw_tensor *parts[] = { of->sizes, TW_TEMP(Fill, tw__temp_reshape(t, missing, (int64_t[]){ 1 }, 1), one) };
            of->sizes = tw__temp_concat(t, parts, 2, 0);
        }
    }
    tw_tensor *size = of->sizes ? tw__temp_at(t, of->sizes, at) : NULL;
    return tw__temp_cast(t, size, TW_INT32);
}

/* The dimension must have the size that is wanted: `first` says where it comes from, NULL: the program. */
static tw_status check_size(checking *c, constraint *of, int64_t at, int64_t wanted, constraint *first, int64_t first_at)
{
    tw__temps *t = c->temps;
    tw__text why = { 0 }, text = { 0 };
    int64_t size = known_size(of, at);
    if (first)
        wanted = known_size(first, first_at);
    if (size >= 0 && size == wanted)
        return TW_OK;
    tw__text_add(&why, first ? "Specified by tensor " : "Specified explicitly");
    if (first) {
        add_label(&why, c, first);
        tw__text_format(&why, " dimension %lld", (long long)first_at);
    }
    if (size >= 0 && (wanted >= 0 || !first)) {
        char *shape = tw__shape_tuple(of->shape);
        tw__check_lead(&text, c->message);
        tw__text_format(&text, "%s.  Tensor ", why.data ? why.data : "");
        add_label(&text, c, of);
        tw__text_format(&text, " dimension %lld must have size %lld.  Received size %lld, shape %s", (long long)at,
                        (long long)wanted, (long long)size, shape ? shape : "");
        tw__free(shape);
        tw__text_free(&why);
        tw__check_refuse(TW_VALUE_ERROR, &text);
        return tw_error_code();
    }
    tw_tensor *is = size_of(c, of, at), *shall = first ? size_of(c, first, first_at) : tw__temp_int(t, wanted, TW_INT32);
    tw__check_data d = { 0 };
    tw__text lead = { 0 };
    for (int64_t i = 0; i < c->data.count; i++)
        tw__check_add(&d, tw_retain(c->data.items[i]));
    if (!c->data.count) {
        tw__check_lead(&lead, c->message);
        tw__check_add_text(&d, &lead);
        tw__check_add_text(&d, &why);
        tw__text_add(&text, "Tensor ");
        add_label(&text, c, of);
        tw__text_add(&text, " dimension");
        tw__check_add_text(&d, &text);
        tw__check_add_int(&d, at);
        tw__check_add_words(&d, "must have size");
        tw__check_add(&d, tw_retain(shall));
        tw__check_add_words(&d, "Received shape: ");
        tw__check_add(&d, tw_retain(of->sparse ? of->sizes : tw__temp_shape(t, of->tensor, TW_INT32)));
    }
    tw__text_free(&why);
    tw__auto(tw_value_free) tw_value operation = tw__check_assert_all(is && shall ? tw_equal(is, shall) : NULL, &d, c->summarize);
    return tw_error_code();
}

/* Where a name stood first: the constraint, and *place in it; NULL: here. */
static constraint *first_of(const checking *c, const constraint *of, int64_t i, int64_t *place)
{
    for (constraint *other = c->list; other <= of; other++) {
        int64_t end = other == of ? i : other->count;
        for (*place = 0; *place < end; ++*place) {
            if (same_symbol(&other->symbols[*place], &of->symbols[i]))
                return other;
        }
    }
    return NULL;
}

static tw_status check_sizes(checking *c)
{
    for (constraint *of = c->list; of < c->list + c->count; of++) {
        for (int64_t i = 0; i < of->count; i++) {
            int64_t number = 0, place = 0, at = of->inner ? i - of->count : i;
            if (of->symbols[i].kind == TW_VALUE_NONE || is_text(&of->symbols[i], "."))
                continue;
            bool told = is_number(&of->symbols[i], &number);
            constraint *first = told ? NULL : first_of(c, of, i, &place);
            if (told || first)
                TW_TRY(check_size(c, of, at, number, first, first && first->inner ? place - first->count : place));
        }
    }
    return TW_OK;
}

TW_API(
    debugging_assert_shapes,
    "debugging.assert_shapes(shapes: value, data: tensors = None, summarize: int = None, message: str = None, name: str = None)",
    "Raises an error unless the tensors have these shapes: pairs of a tensor and a list of sizes, of names that stand for one size everywhere, and of "
    "\".\" or None for any size. \"*\" in front stands for any number of dimensions.\n"
    "shapes: a list of pairs of a tensor and its shape\n"
    "raises: ValueError: a shape that is known does not fit")
{
    TW_TEMPS(t);
    checking c = {
        .temps = t, .message = args->message, .data = args->data, .summarize = args->summarize, .eager = !tw__tracing
    };
    tw_status status = read_constraints(&c, &args->shapes);
    if (status == TW_OK)
        status = check_ranks(&c);
    if (status == TW_OK)
        status = check_sizes(&c);
    for (int64_t i = 0; i < c.count; i++)
        tw_value_free(&c.list[i].own);
    tw__free(c.list);
    return status;
}
