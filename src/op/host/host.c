/* Printing, and calls of functions of C programs and of the embedding language. All are stateful: they run at every call, in
 * program order. */
#include <errno.h>
#include <stdio.h>

#include "base/environment.h"
#include "op/guard.h"
#include "op/host/host.h"
#include "op/text/text.h"
#include "rows.h"

/* ---- printing ---- */

static tw_status print_shape(tw__inference *inference)
{
    return tw__need_rank(inference, 0, 0);
}

static bool write_text(FILE *file, tw_string text)
{
    return !text.size || fwrite(text.data, 1, text.size, file) == text.size; /* an empty text may be at NULL */
}

static bool write_line(FILE *file, tw_string text, tw_string end)
{
    bool good = write_text(file, text) && write_text(file, end);
    return fflush(file) == 0 && good;
}

static tw_status print_compute(tw__kernel *kernel)
{
    const tw_attr *stream = TW_ATTR(kernel, "output_stream"), *end = TW_ATTR(kernel, "end");
    tw_string text = *(const tw_string *)kernel->inputs[0]->data;
    static const char prefix[] = "file://";
    if (stream->s.size > sizeof prefix - 1 && memcmp(stream->s.data, prefix, sizeof prefix - 1) == 0) {
        char *path = tw__strndup(stream->s.data + sizeof prefix - 1, stream->s.size - (sizeof prefix - 1));
        if (!path)
            return tw__error_status();
        FILE *file = fopen(path, "ab");
        bool good = file && write_line(file, text, end->s);
        int number = errno;
        good = (!file || fclose(file) == 0) && good;
        tw_status status = good ? TW_OK : tw__fail_errno(number, "can't print to", path);
        tw__free(path);
        return status;
    }
    /* Other streams are log streams; everything but stdout is the log's. */
    static const char *const logs[] = { "log(info)", "log(warning)", "log(error)" };
    for (int i = 0; i < 3; i++) {
        if (stream->s.size == strlen(logs[i]) && memcmp(stream->s.data, logs[i], stream->s.size) == 0 && !tw__log_wanted(i))
            return TW_OK;
    }
    bool out = stream->s.size == 6 && memcmp(stream->s.data, "stdout", 6) == 0;
    write_line(out ? stdout : stderr, text, end->s);
    return TW_OK;
}

TW_OP(PrintV2, .inputs = "input: string", .outputs = "", .attrs = "output_stream: string = 'stderr', end: string = '\n'",
      .shape = print_shape, .compute = print_compute, .stateful = true, .no_gradient = true, .touches = TW_WRITES_FILES,
      .paths = "output_stream", .doc = "Prints a string.");

/* ---- assertions ---- */

static tw_status assert_shape(tw__inference *inference)
{
    return tw__need_rank(inference, 0, 0);
}

static tw_status assert_compute(tw__kernel *kernel)
{
    if (*(const bool *)kernel->inputs[0]->data)
        return TW_OK;
    tw__auto(tw__text_free) tw__text text = { 0 };
    for (int i = 1; i < kernel->input_count; i++) {
        tw__text_add(&text, i > 1 ? " [" : "[");
        tw__summarize_first(&text, kernel->inputs[i], TW_ATTR(kernel, "summarize")->i);
        tw__text_add(&text, "]");
    }
    tw_status status =
        text.failed ? tw__error_status() : tw__fail(TW_INVALID_ARGUMENT, "assertion failed: %s", text.data ? text.data : "");
    return status;
}

TW_OP(Assert, .inputs = "condition: bool, data: T", .outputs = "", .attrs = "T: list(type) >= 1, summarize: int = 3",
      .shape = assert_shape, .compute = assert_compute, .stateful = true, .no_gradient = true,
      .doc = "An error that tells the data if the condition is false.");

/* ---- functions of C programs and of the embedding language ---- */

static tw_status host_compute(tw__kernel *kernel)
{
    const tw_attr *token = TW_ATTR(kernel, "token");
    tw__host_function *function = tw__host_hold(token->s.data, token->s.size);
    if (!function)
        return TW_OP_FAIL(kernel, TW_INVALID_ARGUMENT, "ValueError: callback %.*s is not found", (int)token->s.size,
                          token->s.data);
    tw_status status = tw__host_run(function, strcmp(kernel->op->name, "PyFunc") == 0, kernel->inputs, kernel->input_count,
                                    kernel->outputs, kernel->output_count);
    tw__host_drop(function);
    for (int i = 0; status == TW_OK && i < kernel->output_count; i++) {
        if (!kernel->outputs[i])
            status = TW_OP_FAIL(kernel, TW_INVALID_ARGUMENT, "%.*s gave no value %d", (int)token->s.size, token->s.data, i);
        else if (kernel->outputs[i]->dtype != kernel->out_dtypes[i])
            status = TW_OP_FAIL(kernel, TW_INVALID_ARGUMENT, "%d-th value returned by %.*s is %s, but expects %s", i,
                                (int)token->s.size, token->s.data, tw_dtype_name(kernel->outputs[i]->dtype),
                                tw_dtype_name(kernel->out_dtypes[i]));
    }
    return status;
}

TW_OP(PyFunc, .inputs = "input: Tin", .outputs = "output: Tout",
      .attrs = "token: string, Tin: list(type) >= 0, Tout: list(type) >= 0", .shape = tw_shape_unknown, .compute = host_compute,
      .stateful = true, .makes_outputs = true, .touches = TW_CALLS_PROGRAM,
      .doc = "Calls a function of the embedding language with arrays.");

TW_OP(EagerPyFunc, .inputs = "input: Tin", .outputs = "output: Tout",
      .attrs = "token: string, is_async: bool = false, Tin: list(type) >= 0, Tout: list(type) >= 0", .shape = tw_shape_unknown,
      .compute = host_compute, .stateful = true, .makes_outputs = true, .touches = TW_CALLS_PROGRAM,
      .doc = "Calls a function of the embedding language with tensors.");

tw__host_function *tw__host_of(const tw_op *op, const tw_attr *attrs)
{
    if (op != &tw__op_PyFunc && op != &tw__op_EagerPyFunc)
        return NULL;
    const tw_attr *token = tw__attr_find(op, attrs, "token");
    return token ? tw__host_hold(token->s.data, token->s.size) : NULL;
}
