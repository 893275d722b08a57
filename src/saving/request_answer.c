/* The answer to a request, laid out as TensorFlow Serving does it: four spaces; lists of rows on one line, columns element by
 * element. NaN, Infinity and -Infinity stand there as such. */
#include <math.h>
#include <stdlib.h>

#include "op/text/text.h"
#include "saving/request.h"

enum { LEVELS = TW_MAX_RANK + 8 };

typedef struct writer {
    tw__text *text;
    int depth;
    struct {
        bool array;
        int64_t count; /* parts so far; of an object names and values */
    } levels[LEVELS];
    bool one_line; /* lists are on one line now */
} writer;

static void new_line(writer *w)
{
    static const char spaces[] = "                                                                ";
    int indent = 4 * w->depth < (int)sizeof spaces ? 4 * w->depth : (int)sizeof spaces - 1;
    tw__text_bytes(w->text, "\n", 1);
    tw__text_bytes(w->text, spaces, (size_t)indent);
}

/* What stands before a part: commas, colons, line breaks. */
static void begin_part(writer *w)
{
    if (!w->depth)
        return;
    bool array = w->levels[w->depth - 1].array;
    int64_t count = w->levels[w->depth - 1].count++;
    if (array) {
        if (count)
            tw__text_add(w->text, w->one_line ? ", " : ",");
        if (!w->one_line)
            new_line(w);
    } else if (count % 2) {
        tw__text_add(w->text, ": ");
    } else {
        if (count)
            tw__text_add(w->text, ",");
        new_line(w);
    }
}

static void begin(writer *w, bool array)
{
    begin_part(w);
    tw__text_add(w->text, array ? "[" : "{");
    w->levels[w->depth].array = array;
    w->levels[w->depth++].count = 0;
}

static void end(writer *w)
{
    w->depth--;
    bool array = w->levels[w->depth].array;
    if (w->levels[w->depth].count && !(array && w->one_line))
        new_line(w);
    tw__text_add(w->text, array ? "]" : "}");
}

static void put_string(writer *w, const char *data, size_t size)
{
    tw__json json = { .text = w->text };
    begin_part(w);
    tw__json_string(&json, data, size);
}

static void put_key(writer *w, const char *key)
{
    put_string(w, key, strlen(key));
}

/* Six digits if they say it all, else as many as it takes; "1.0", not "1". */
static void put_real(writer *w, double value, bool single)
{
    char digits[48];
    begin_part(w);
    if (!isfinite(value)) {
        tw__text_add(w->text, isnan(value) ? "NaN" : value < 0 ? "-Infinity" : "Infinity");
        return;
    }
    int size = snprintf(digits, sizeof digits, "%g", value);
    if (single ? strtof(digits, NULL) != (float)value : strtod(digits, NULL) != value)
        size = snprintf(digits, sizeof digits, "%.*g", single ? 9 : 17, value);
    if (!strpbrk(digits, ".e"))
        size += snprintf(digits + size, sizeof digits - (size_t)size, ".0");
    tw__text_bytes(w->text, digits, (size_t)size);
}

static void put_base64(writer *w, tw_string string)
{
    begin(w, false);
    put_key(w, "b64");
    begin_part(w);
    tw__text_add(w->text, "\"");
    size_t start = w->text->size;
    tw__base64_add(w->text, string, true);
    for (size_t i = start; !w->text->failed && i < w->text->size; i++) {
        char *c = &w->text->data[i];
        *c = *c == '-' ? '+' : *c == '_' ? '/' : *c;
    }
    tw__text_add(w->text, "\"");
    end(w);
}

static tw_status put_element(writer *w, const tw_tensor *tensor, int64_t index, bool bytes)
{
    char digits[24];
    tw_string string;
    switch (tensor->dtype) {
    case TW_FLOAT32:
        put_real(w, (double)((const float *)tensor->data)[index], true);
        return TW_OK;
    case TW_FLOAT64:
        put_real(w, ((const double *)tensor->data)[index], false);
        return TW_OK;
    case TW_STRING:
        string = ((const tw_string *)tensor->data)[index];
        if (bytes)
            put_base64(w, string);
        else
            put_string(w, string.data, string.size);
        return TW_OK;
    case TW_BOOL:
        begin_part(w);
        tw__text_add(w->text, ((const bool *)tensor->data)[index] ? "true" : "false");
        return TW_OK;
    case TW_UINT64:
        begin_part(w);
        tw__text_bytes(w->text, digits,
                       (size_t)snprintf(digits, sizeof digits, "%llu",
                                        (unsigned long long)((const uint64_t *)tensor->data)[index]));
        return TW_OK;
    case TW_INT8:
    case TW_UINT8:
    case TW_INT16:
    case TW_UINT16:
    case TW_INT32:
    case TW_UINT32:
    case TW_INT64:
        begin_part(w);
        tw__text_bytes(w->text, digits,
                       (size_t)snprintf(digits, sizeof digits, "%lld", (long long)tw_tensor_int_at(tensor, index)));
        return TW_OK;
    default:
        return tw__fail(TW_INVALID_ARGUMENT, "Failed to write JSON value for tensor type: %s", tw_dtype_name(tensor->dtype));
    }
}

static tw_status put_axis(writer *w, const tw_tensor *tensor, int axis, int64_t *index, bool bytes)
{
    if (axis >= tensor->shape.rank)
        return put_element(w, tensor, (*index)++, bytes);
    begin(w, true);
    for (int64_t i = 0; i < tensor->shape.dims[axis]; i++)
        TW_TRY(put_axis(w, tensor, axis + 1, index, bytes));
    end(w);
    return TW_OK;
}

static bool is_bytes(const tw_named_tensor *output)
{
    return tw_tensor_dtype(output->tensor) == TW_STRING && tw__ends_with(output->name, "_bytes");
}

/* ---- predict ---- */

static tw_status put_columns(writer *w, tw_named_tensors outputs)
{
    put_key(w, "outputs");
    if (outputs.count > 1)
        begin(w, false);
    for (int64_t i = 0; i < outputs.count; i++) {
        int64_t index = 0;
        if (outputs.count > 1)
            put_key(w, outputs.items[i].name);
        TW_TRY(put_axis(w, outputs.items[i].tensor, 0, &index, is_bytes(&outputs.items[i])));
    }
    if (outputs.count > 1)
        end(w);
    return TW_OK;
}

/* How many rows the outputs have: all the same. */
static tw_status row_count(tw_named_tensors outputs, int64_t *rows)
{
    *rows = 0;
    for (int64_t i = 0; i < outputs.count; i++) {
        const tw_shape shape = tw_tensor_shape(outputs.items[i].tensor);
        const char *name = outputs.items[i].name;
        if (shape.rank == 0)
            return tw__fail(TW_INVALID_ARGUMENT, "Tensor name: %s has no shape information ", name);
        if (shape.dims[0] < 1)
            return tw__fail(TW_INVALID_ARGUMENT, "Tensor name: %s has invalid batch size: %lld", name, (long long)shape.dims[0]);
        if (*rows && *rows != shape.dims[0])
            return tw__fail(TW_INVALID_ARGUMENT, "Tensor name: %s has inconsistent batch size: %lld expecting: %lld", name,
                            (long long)shape.dims[0], (long long)*rows);
        *rows = shape.dims[0];
    }
    return TW_OK;
}

static tw_status put_rows(writer *w, tw_named_tensors outputs)
{
    int64_t rows;
    TW_TRY(row_count(outputs, &rows));
    put_key(w, "predictions");
    begin(w, true);
    for (int64_t row = 0; row < rows; row++) {
        if (outputs.count > 1)
            begin(w, false);
        w->one_line = true;
        for (int64_t i = 0; i < outputs.count; i++) {
            const tw_named_tensor *output = &outputs.items[i];
            int64_t index = row * (tw_tensor_count(output->tensor) / rows);
            if (outputs.count > 1)
                put_key(w, output->name);
            TW_TRY(put_axis(w, output->tensor, 1, &index, is_bytes(output)));
        }
        w->one_line = false;
        if (outputs.count > 1)
            end(w);
    }
    end(w);
    return TW_OK;
}

/* ---- classify, regress ---- */

static const tw_tensor *find(tw_named_tensors outputs, const char *name)
{
    for (int64_t i = 0; i < outputs.count; i++) {
        if (strcmp(outputs.items[i].name, name) == 0)
            return outputs.items[i].tensor;
    }
    return NULL;
}

static tw_status check_classes(const tw_tensor *tensor, const char *name, tw_dtype dtype, int64_t examples)
{
    if (!tensor)
        return TW_OK;
    if (tensor->shape.rank != 2)
        return tw__fail(TW_INVALID_ARGUMENT, "Expected Tensor shape: [batch_size num_classes] but got %s",
                        tw__shape_text(&tensor->shape));
    if (tensor->dtype != dtype)
        return tw__fail(TW_INVALID_ARGUMENT, "Expected %s Tensor of %s. Got: %s", name, tw_dtype_name(dtype),
                        tw_dtype_name(tensor->dtype));
    if (tensor->shape.dims[0] != examples)
        return tw__fail(TW_INVALID_ARGUMENT, "Expected %s output batch size of %lld. Got: %lld", name, (long long)examples,
                        (long long)tensor->shape.dims[0]);
    return TW_OK;
}

static tw_status put_classes(writer *w, tw_named_tensors outputs, int64_t examples)
{
    const tw_tensor *classes = find(outputs, "classes"), *scores = find(outputs, "scores");
    if (!classes && !scores)
        return tw__fail(TW_FAILED_PRECONDITION,
                        "Expected classification signature outputs to contain at least one of \"classes\" or \"scores\"");
    TW_TRY(check_classes(classes, "classes", TW_STRING, examples));
    TW_TRY(check_classes(scores, "scores", TW_FLOAT32, examples));
    int64_t count = (classes ? classes : scores)->shape.dims[1];
    if (scores && scores->shape.dims[1] != count)
        return tw__fail(TW_INVALID_ARGUMENT, "Tensors class and score should match in dim_size(1). Got %lld vs. %lld",
                        (long long)count, (long long)scores->shape.dims[1]);
    begin(w, true);
    for (int64_t i = 0; i < examples; i++) {
        w->one_line = true;
        begin(w, true);
        for (int64_t k = i * count; k < (i + 1) * count; k++) {
            tw_string label = classes ? ((const tw_string *)classes->data)[k] : (tw_string){ "", 0 };
            begin(w, true);
            put_string(w, label.data, label.size);
            put_real(w, scores ? (double)((const float *)scores->data)[k] : 0, true);
            end(w);
        }
        end(w);
        w->one_line = false;
    }
    end(w);
    return TW_OK;
}

static tw_status put_regressions(writer *w, tw_named_tensors outputs, int64_t examples)
{
    const tw_tensor *values = find(outputs, "outputs");
    if (!values)
        return tw__fail(TW_FAILED_PRECONDITION, "No regression outputs found in SignatureDef: \"outputs\" is expected");
    if (values->dtype != TW_FLOAT32)
        return tw__fail(TW_INVALID_ARGUMENT, "Expected output Tensor of DT_FLOAT. Got: %s", tw_dtype_name(values->dtype));
    if (values->count != examples || values->shape.rank > 2 || values->shape.rank < 1 || values->shape.dims[0] != examples)
        return tw__fail(TW_INVALID_ARGUMENT, "Expected Tensor shape: [batch_size] or [batch_size, 1] but got %s",
                        tw__shape_text(&values->shape));
    w->one_line = true;
    begin(w, true);
    for (int64_t i = 0; i < examples; i++)
        put_real(w, (double)((const float *)values->data)[i], true);
    end(w);
    w->one_line = false;
    return TW_OK;
}

char *tw_request_answer(tw_request *request, tw_named_tensors outputs)
{
    if (!tw__check(request, &tw__request_class, "tw_request_answer") ||
        !tw__check_given(outputs.items, "the list of outputs", "tw_request_answer"))
        return NULL;
    for (int64_t i = 0; i < outputs.count; i++) {
        if (!tw__check_given(outputs.items[i].name, "a name", "tw_request_answer") ||
            !tw__check(outputs.items[i].tensor, &tw__tensor_class, "tw_request_answer") ||
            !tw__tensor_values(outputs.items[i].tensor, "tw_request_answer"))
            return NULL;
    }
    tw__text text = { 0 };
    writer w = { .text = &text };
    tw_status status;
    begin(&w, false);
    if (request->method != TW_REQUEST_PREDICT)
        put_key(&w, "results");
    if (request->method == TW_REQUEST_CLASSIFY)
        status = put_classes(&w, outputs, request->examples);
    else if (request->method == TW_REQUEST_REGRESS)
        status = put_regressions(&w, outputs, request->examples);
    else
        status = request->rows ? put_rows(&w, outputs) : put_columns(&w, outputs);
    end(&w);
    if (status == TW_OK)
        return tw__text_take(&text);
    tw__text_free(&text);
    return NULL;
}
