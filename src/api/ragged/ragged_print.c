/* RaggedTensor as text, and as nested lists. The text is NumPy's of the array of rows: what has rows of one length is one array
 * of more dimensions, other rows are elements of an array of objects, formatted each for itself. Elements are as str() gives
 * them. */
#include "api/ragged/ragged.h"
#include "rows.h"

enum { LINE = 75, THRESHOLD = 1000, EDGE = 3 };

/* An array of NumPy: dimensions over the elements from `first` on of a value; objects: elements are rows of `value`. */
typedef struct view {
    const void *value; /* what the elements are of: a tensor, or a ragged tensor whose rows they are */
    int rank;
    int64_t dims[TW_MAX_RANK + 2];
    int64_t first;
} view;

typedef struct output {
    tw__text done; /* whole lines */
    tw__text line;
} output;

static void format_view(tw__text *to, const view *v);

static int64_t split_at(const tw_ragged_tensor *ragged, int64_t row)
{
    return tw_tensor_int_at(ragged->splits, row);
}

/* The rows `begin` … `end` of a value as an array: of numbers if all below have one length. */
static view view_of(const void *value, int64_t begin, int64_t end)
{
    view v = { .value = value, .rank = 1, .dims = { end - begin }, .first = begin };
    if (!tw__is_ragged(value)) {
        const tw_tensor *tensor = value;
        int64_t inner = 1;
        for (int i = 1; i < tensor->shape.rank; i++) {
            v.dims[v.rank++] = tensor->shape.dims[i];
            inner *= tensor->shape.dims[i];
        }
        v.first = begin * inner;
        return v;
    }
    const tw_ragged_tensor *ragged = value;
    if (ragged->splits->count < 2) /* no rows at all: an empty array of one dimension */
        return v;
    int64_t length = split_at(ragged, 1) - split_at(ragged, 0);
    for (int64_t i = 0; i + 1 < ragged->splits->count; i++) { /* all rows decide, not only these: so NumPy's arrays are made */
        if (split_at(ragged, i + 1) - split_at(ragged, i) != length)
            return v; /* of objects */
    }
    view below = view_of(ragged->values, split_at(ragged, begin), split_at(ragged, end));
    if (below.rank + 1 > TW_MAX_RANK + 2)
        return v;
    view out = { .value = below.value, .rank = below.rank + 1, .first = below.first };
    out.dims[0] = end - begin;
    out.dims[1] = length;
    for (int i = 1; i < below.rank; i++)
        out.dims[i + 1] = below.dims[i];
    return out;
}

static void format_element(tw__text *to, const view *v, int64_t at)
{
    if (tw__is_ragged(v->value)) {
        const tw_ragged_tensor *ragged = v->value;
        view row = view_of(ragged->values, split_at(ragged, v->first + at), split_at(ragged, v->first + at + 1));
        format_view(to, &row);
        return;
    }
    const tw_tensor *tensor = v->value;
    int64_t place = v->first + at;
    if (tensor->dtype == TW_FLOAT32 || tensor->dtype == TW_FLOAT64 || tensor->dtype == TW_FLOAT16 ||
        tensor->dtype == TW_BFLOAT16) {
        tw__print_float(to, tw_tensor_double_at(tensor, place), tensor->dtype);
        return;
    }
    tw_auto tw_tensor *one = tw__tensor_slice_view((tw_tensor *)tensor, &TW_SCALAR, place);
    if (!one || tw__print_elements(to, one, ", ", 0) != TW_OK)
        to->failed = true;
}

static void spaces(tw__text *to, size_t count)
{
    for (size_t i = 0; i < count; i++)
        tw__text_add(to, " ");
}

/* Ends the line, without the spaces at its end. */
static void end_line(output *o)
{
    while (o->line.size && o->line.data[o->line.size - 1] == ' ')
        o->line.data[--o->line.size] = 0;
    tw__text_bytes(&o->done, o->line.data ? o->line.data : "", o->line.size);
    tw__text_add(&o->done, "\n");
    tw__text_clear(&o->line);
}

/* A word of one or several lines at the end of the line, or on a new one where it does not fit. */
static void add_word(output *o, const char *word, size_t width, size_t indent)
{
    size_t longest = 0, last = 0, lines = 0;
    for (const char *p = word; *p || !lines;) {
        last = strcspn(p, "\n");
        longest = last > longest ? last : longest;
        lines++;
        p += last + (p[last] == '\n');
    }
    bool wrap = o->line.size + longest > width && o->line.size > indent;
    if (wrap) {
        end_line(o);
        spaces(&o->line, indent);
    }
    size_t hang = lines > 1 ? o->line.size : 0;
    for (const char *p = word; *p;) {
        size_t length = strcspn(p, "\n");
        tw__text_bytes(&o->line, p, length);
        p += length;
        if (*p == '\n') {
            end_line(o);
            spaces(&o->line, hang);
            p++;
        }
    }
    if (lines > 1)
        spaces(&o->line, longest - last);
}

static void format_axis(tw__text *to, const view *v, int axis, int64_t base, size_t indent, size_t width, bool summary)
{
    int64_t length = v->dims[axis], inner = 1;
    for (int i = axis + 1; i < v->rank; i++)
        inner *= v->dims[i];
    bool cut = summary && 2 * EDGE < length;
    output o = { 0 };
    size_t room = width - 1;
    bool last_axis = axis + 1 == v->rank;
    spaces(last_axis ? &o.line : &o.done, indent);
    for (int64_t i = 0; i < length; i++) {
        if (cut && i == EDGE) {
            i = length - EDGE;
            if (last_axis) {
                add_word(&o, "...", room, indent);
                tw__text_add(&o.line, ", ");
            } else {
                tw__text_add(&o.done, "...,");
                for (int k = axis + 1; k < v->rank; k++)
                    tw__text_add(&o.done, "\n");
                spaces(&o.done, indent);
            }
        }
        tw__text word = { 0 };
        if (last_axis)
            format_element(&word, v, base + i);
        else
            format_axis(&word, v, axis + 1, base + i * inner, indent + 1, width - 1, summary);
        to->failed |= word.failed;
        if (last_axis) {
            add_word(&o, word.data ? word.data : "", room, indent);
            if (i + 1 < length)
                tw__text_add(&o.line, ", ");
        } else {
            tw__text_add(&o.done, word.data ? word.data : "");
            if (i + 1 < length) {
                tw__text_add(&o.done, ",");
                for (int k = axis + 1; k < v->rank; k++)
                    tw__text_add(&o.done, "\n");
                spaces(&o.done, indent);
            }
        }
        tw__text_free(&word);
    }
    tw__text_bytes(&o.done, o.line.data ? o.line.data : "", o.line.size);
    tw__text_add(to, "[");
    if (o.done.size > indent)
        tw__text_bytes(to, o.done.data + indent, o.done.size - indent);
    tw__text_add(to, "]");
    to->failed |= o.done.failed || o.line.failed;
    tw__text_free(&o.done);
    tw__text_free(&o.line);
}

/* An array without elements, as its nested lists. */
static void format_empty(tw__text *to, const view *v, int axis)
{
    tw__text_add(to, "[");
    for (int64_t i = 0; axis + 1 < v->rank && i < v->dims[axis]; i++) {
        tw__text_add(to, i ? ", " : "");
        format_empty(to, v, axis + 1);
    }
    tw__text_add(to, "]");
}

static void format_view(tw__text *to, const view *v)
{
    int64_t count = 1;
    for (int i = 0; i < v->rank; i++)
        count *= v->dims[i];
    if (count == 0)
        format_empty(to, v, 0);
    else
        format_axis(to, v, 0, 0, 1, LINE, count > THRESHOLD);
}

/* Whether the rows can be looked at: there are elements, and the splits, which nobody may have checked, are splits of them. */
static bool has_values(const void *value)
{
    const tw_tensor *flat = tw__flat_values(value);
    for (; tw__is_ragged(value); value = ((const tw_ragged_tensor *)value)->values) {
        const tw_ragged_tensor *ragged = value;
        const tw_tensor *splits = ragged->splits;
        tw_shape below = tw__value_shape(ragged->values);
        if (!splits->data || splits->node || splits->shape.rank != 1 || splits->count < 1 || below.rank < 1 ||
            split_at(ragged, 0) != 0 || split_at(ragged, splits->count - 1) != below.dims[0])
            return false;
        for (int64_t i = 1; i < splits->count; i++) {
            if (split_at(ragged, i) < split_at(ragged, i - 1))
                return false;
        }
    }
    return flat->data && !flat->node;
}

void tw__ragged_text(tw__text *text, const tw_ragged_tensor *ragged)
{
    if (has_values(ragged)) {
        view v = view_of(ragged, 0, ragged->splits->count - 1);
        tw__text_add(text, "<tf.RaggedTensor ");
        format_view(text, &v);
        tw__text_add(text, ">");
        return;
    }
    tw__text_add(text, "tf.RaggedTensor(values=");
    if (tw__is_ragged(ragged->values))
        tw__ragged_text(text, ragged->values);
    else
        tw__tensor_text(text, ragged->values);
    tw__text_add(text, ", row_splits=");
    tw__tensor_text(text, ragged->splits);
    tw__text_add(text, ")");
}

/* ---- nested lists ---- */

static tw_value element_value(const tw_tensor *tensor, int64_t at)
{
    tw_value value = { .kind = TW_VALUE_NONE };
    if (tensor->dtype == TW_STRING) {
        tw_string s = tw_tensor_string_at(tensor, at);
        char *copy = tw__strndup(s.data ? s.data : "", s.size);
        if (copy)
            value = (tw_value){ .kind = TW_VALUE_BYTES, .s = { copy, s.size } };
    } else if (tensor->dtype == TW_BOOL) {
        value = (tw_value){ .kind = TW_VALUE_BOOL, .b = ((const bool *)tensor->data)[at] };
    } else if (tw__dtype_is_integer(tensor->dtype)) {
        value = (tw_value){ .kind = TW_VALUE_INT, .i = tw_tensor_int_at(tensor, at) };
    } else {
        value = (tw_value){ .kind = TW_VALUE_FLOAT, .f = tw_tensor_double_at(tensor, at) };
    }
    return value;
}

/* The rows `begin` … `end` of a value. */
static tw_value list_of(const void *value, int axis, int64_t begin, int64_t end)
{
    tw_value list = { .kind = TW_VALUE_LIST, .list = { tw__alloc_array((size_t)(end - begin) + 1, sizeof(tw_value)), 0 } };
    for (int64_t i = begin; list.list.items && i < end && tw_error_code() == TW_OK; i++) {
        tw_value *item = &list.list.items[list.list.count++];
        if (tw__is_ragged(value)) {
            const tw_ragged_tensor *ragged = value;
            *item = list_of(ragged->values, 0, split_at(ragged, i), split_at(ragged, i + 1));
            continue;
        }
        const tw_tensor *tensor = value;
        int64_t inner = axis + 1 < tensor->shape.rank ? tensor->shape.dims[axis + 1] : 0;
        *item = axis + 1 < tensor->shape.rank ? list_of(tensor, axis + 1, i * inner, (i + 1) * inner) : element_value(tensor, i);
    }
    return list;
}

TW_METHOD(ragged_tensor_to_list, "RaggedTensor.to_list(self: ragged_tensor) -> value", "The rows as nested lists.")
{
    if (!has_values(args->self)) {
        tw__fail(
            TW_VALUE_ERROR,
            "RaggedTensor.to_list() is only supported in eager mode; in graph mode, evaluate the RaggedTensor first and then use "
            "RaggedTensorValue.to_list().");
        return (tw_value){ .kind = TW_VALUE_NONE };
    }
    tw_value list = list_of(args->self, 0, 0, args->self->splits->count - 1);
    if (tw_error_code() != TW_OK)
        tw_value_free(&list);
    return list;
}
