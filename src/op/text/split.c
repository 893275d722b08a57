/* StringSplitV2 (strings cut at separators, as the parts of a sparse tensor), ReduceJoin (strings joined along axes). */
#include "op/text/text.h"
#include "rows.h"

typedef struct parts {
    tw_string *items;
    int64_t *rows, *columns;
    size_t count, capacity, row_capacity, column_capacity;
    int64_t widest;
} parts;

static tw_status add(parts *p, int64_t row, int64_t column, const char *data, size_t size)
{
    TW_TRY(TW_GROW(p->items, p->capacity, p->count + 1));
    TW_TRY(TW_GROW(p->rows, p->row_capacity, p->count + 1));
    TW_TRY(TW_GROW(p->columns, p->column_capacity, p->count + 1));
    p->items[p->count] = (tw_string){ data, size };
    p->rows[p->count] = row;
    p->columns[p->count++] = column;
    if (column + 1 > p->widest)
        p->widest = column + 1;
    return TW_OK;
}

/* At runs of white space, which count for nothing at both ends. */
static tw_status split_spaces(parts *p, int64_t row, tw_string s, int64_t limit)
{
    int64_t column = 0;
    if (limit == 0)
        return add(p, row, 0, s.data, s.size);
    for (size_t k = 0;;) {
        while (k < s.size && tw__is_space(s.data[k]))
            k++;
        size_t begin = k;
        if (limit >= 0 && column == limit) /* the rest, even if there is none */
            return add(p, row, column, s.data + begin, s.size - begin);
        if (k == s.size)
            return TW_OK;
        while (k < s.size && !tw__is_space(s.data[k]))
            k++;
        TW_TRY(add(p, row, column++, s.data + begin, k - begin));
    }
}

static tw_status split_at(parts *p, int64_t row, tw_string s, tw_string separator, int64_t limit)
{
    int64_t column = 0;
    size_t begin = 0;
    while (s.size && (limit < 0 || column < limit)) {
        const char *found = memmem(s.data + begin, s.size - begin, separator.data, separator.size);
        if (!found)
            break;
        TW_TRY(add(p, row, column++, s.data + begin, (size_t)(found - s.data) - begin));
        begin = (size_t)(found - s.data) + separator.size;
    }
    return add(p, row, column, s.size ? s.data + begin : "", s.size - begin);
}

static tw_status give(tw__kernel *kernel, const parts *p)
{
    int64_t count = (int64_t)p->count;
    tw_tensor *indices = tw__output(kernel, 0, &TW_SHAPE(count, 2)), *values = tw__output(kernel, 1, &TW_SHAPE(count)),
              *shape = tw__output(kernel, 2, &TW_SHAPE(2));
    if (!indices || !values || !shape)
        return tw__error_status();
    for (int64_t i = 0; i < count; i++) {
        ((int64_t *)indices->data)[2 * i] = p->rows[i];
        ((int64_t *)indices->data)[2 * i + 1] = p->columns[i];
        TW_TRY(tw__string_set(values, i, p->items[i].data, p->items[i].size));
    }
    ((int64_t *)shape->data)[0] = kernel->inputs[0]->count;
    ((int64_t *)shape->data)[1] = p->widest;
    return TW_OK;
}

static tw_status split_shape(tw__inference *inference)
{
    if (inference->shapes[0]->rank >= 0 && inference->shapes[0]->rank != 1)
        return tw__fail(TW_INVALID_ARGUMENT, "input must be a vector, got shape: %s", tw__shape_text(inference->shapes[0]));
    if (inference->shapes[1]->rank > 0)
        return tw__fail(TW_INVALID_ARGUMENT, "sep must be a scalar, got shape: %s", tw__shape_text(inference->shapes[1]));
    inference->out_shapes[0] = TW_SHAPE(-1, 2);
    inference->out_shapes[1] = TW_SHAPE(-1);
    inference->out_shapes[2] = TW_SHAPE(2);
    return TW_OK;
}

/* Gives the parts, unless cutting failed; ends them. */
static tw_status finish(tw__kernel *kernel, parts *p, tw_status status)
{
    if (status == TW_OK)
        status = give(kernel, p);
    tw__free(p->items);
    tw__free(p->rows);
    tw__free(p->columns);
    return status;
}

static tw_status split_compute(tw__kernel *kernel)
{
    parts p = { 0 };
    int64_t limit = TW_ATTR(kernel, "maxsplit")->i;
    tw_string separator = tw__strings(kernel->inputs[1])[0];
    tw_status status = TW_OK;
    for (int64_t i = 0; status == TW_OK && i < kernel->inputs[0]->count; i++) {
        tw_string s = tw__strings(kernel->inputs[0])[i];
        status = separator.size ? split_at(&p, i, s, separator, limit) : split_spaces(&p, i, s, limit);
    }
    return finish(kernel, &p, status);
}

TW_OP(StringSplitV2, .inputs = "input: string, sep: string", .outputs = "indices: int64, values: string, shape: int64",
      .attrs = "maxsplit: int = -1", .shape = split_shape, .compute = split_compute,
      .doc = "Strings cut at a separator, or at white space if it is empty; the parts as a sparse tensor.");

/* ---- StringSplit: at each of the delimiter's characters, or everywhere if there is none ---- */

static bool stands_in(tw_string set, char c)
{
    return set.size && memchr(set.data, c, set.size);
}

static tw_status split_characters(parts *p, int64_t row, tw_string s, tw_string set, bool skip_empty)
{
    int64_t column = 0;
    size_t begin = 0;
    for (size_t k = 0; !set.size && k < s.size; k++)
        TW_TRY(add(p, row, column++, s.data + k, 1));
    for (size_t k = 0; set.size && k <= s.size; k++) {
        if (k < s.size && !stands_in(set, s.data[k]))
            continue;
        if (k > begin || (!skip_empty && s.size))
            TW_TRY(add(p, row, column++, s.data + begin, k - begin));
        begin = k + 1;
    }
    return TW_OK;
}

static tw_status split_old_compute(tw__kernel *kernel)
{
    parts p = { 0 };
    bool skip_empty = TW_ATTR(kernel, "skip_empty")->b;
    tw_string set = tw__strings(kernel->inputs[1])[0];
    tw_status status = TW_OK;
    for (int64_t i = 0; status == TW_OK && i < kernel->inputs[0]->count; i++)
        status = split_characters(&p, i, tw__strings(kernel->inputs[0])[i], set, skip_empty);
    return finish(kernel, &p, status);
}

TW_OP(StringSplit, .inputs = "input: string, delimiter: string", .outputs = "indices: int64, values: string, shape: int64",
      .attrs = "skip_empty: bool = true", .shape = split_shape, .compute = split_old_compute,
      .doc = "Strings cut at every character of a delimiter, or into bytes if it is empty; the parts as a sparse tensor.");

/* ---- ReduceJoin ---- */

/* The axes in the order given, without negative ones. */
static tw_status read_axes(const tw_tensor *indices, int rank, int *axes, int *count)
{
    bool seen[TW_MAX_RANK] = { false };
    *count = 0;
    for (int64_t i = 0; i < indices->count; i++) {
        int given = ((const int32_t *)indices->data)[i], axis = given < 0 ? given + rank : given;
        if (axis < 0 || axis >= rank)
            return tw__fail(TW_OUT_OF_RANGE, "Invalid reduction dimension %d for input with %d dimension(s)", given, rank);
        if (seen[axis])
            return tw__fail(TW_INVALID_ARGUMENT, "Duplicate reduction dimension %d", given);
        seen[axis] = true;
        axes[(*count)++] = axis;
    }
    return TW_OK;
}

static tw_status reduce_shape(tw__inference *inference)
{
    const tw_shape *in = inference->shapes[0];
    int axes[TW_MAX_RANK], count;
    if (in->rank < 0 || !inference->values[1])
        return TW_OK;
    TW_TRY(read_axes(inference->values[1], in->rank, axes, &count));
    tw_shape shape = *in, out = { .rank = 0 };
    bool keep = TW_ATTR(inference, "keep_dims")->b, reduced[TW_MAX_RANK] = { false };
    for (int i = 0; i < count; i++)
        reduced[axes[i]] = true;
    for (int i = 0; i < shape.rank; i++) {
        if (!reduced[i] || keep)
            out.dims[out.rank++] = reduced[i] ? 1 : shape.dims[i];
    }
    inference->out_shapes[0] = out;
    return TW_OK;
}

static tw_status reduce_compute(tw__kernel *kernel)
{
    const tw_tensor *in = kernel->inputs[0];
    tw_tensor *out = kernel->outputs[0];
    tw_string separator = TW_ATTR(kernel, "separator")->s;
    int axes[TW_MAX_RANK], count, kept[TW_MAX_RANK], kept_count = 0;
    TW_TRY(read_axes(kernel->inputs[1], in->shape.rank, axes, &count));
    int64_t strides[TW_MAX_RANK], stride = 1, length = 1;
    for (int i = in->shape.rank - 1; i >= 0; i--) {
        strides[i] = stride;
        stride *= in->shape.dims[i];
    }
    for (int i = 0; i < in->shape.rank; i++) {
        bool reduced = false;
        for (int k = 0; k < count; k++)
            reduced = reduced || axes[k] == i;
        if (!reduced)
            kept[kept_count++] = i;
    }
    for (int i = 0; i < count; i++)
        length *= in->shape.dims[axes[i]];
    tw__auto(tw__text_free) tw__text text = { 0 };
    for (int64_t k = 0; k < out->count; k++) {
        int64_t base = 0, left = k;
        for (int i = kept_count - 1; i >= 0; i--) {
            base += left % in->shape.dims[kept[i]] * strides[kept[i]];
            left /= in->shape.dims[kept[i]];
        }
        for (int64_t j = 0; j < length; j++) { /* the axis named first runs fastest */
            int64_t at = base, rest = j;
            for (int i = 0; i < count; i++) {
                at += rest % in->shape.dims[axes[i]] * strides[axes[i]];
                rest /= in->shape.dims[axes[i]];
            }
            if (j)
                tw__text_bytes(&text, separator.data, separator.size);
            tw__text_bytes(&text, tw__strings(in)[at].data, tw__strings(in)[at].size);
        }
        TW_TRY(tw__string_from_text(out, k, &text));
    }
    return TW_OK;
}

TW_OP(ReduceJoin, .inputs = "inputs: string, reduction_indices: int32", .outputs = "output: string",
      .attrs = "keep_dims: bool = false, separator: string = ''", .shape = reduce_shape, .compute = reduce_compute,
      .doc = "Strings joined along axes.");
