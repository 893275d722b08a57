/* Requests of TensorFlow Serving's REST API: JSON text to tensors, tensors to JSON text. <thalweg/saving.h> has the calls.
 *
 *     request_scan.c    JSON text, checked once and then read in place
 *     request_column.c  one input: values of nested lists, gathered into a tensor
 *     request_inputs.c  a request's inputs: rows, columns, Examples
 *     request_answer.c  the answer's text
 *     request.c         the calls for C programs */
#ifndef TW_REQUEST_H
#define TW_REQUEST_H

#include <thalweg/saving.h>

#include "codec/codec.h"
#include "tensor/tensor.h"

/* ---- JSON (request_scan.c): a value is where it begins; its text was checked ---- */
typedef enum tw__json_kind {
    TW_JSON_NULL,
    TW_JSON_BOOL,
    TW_JSON_NUMBER,
    TW_JSON_STRING,
    TW_JSON_ARRAY,
    TW_JSON_OBJECT
} tw__json_kind;
/* Checks the whole text, which has a zero behind it; gives its first value. NULL: an error. */
const char *tw__json_check(const char *text, size_t size);
tw__json_kind tw__json_kind_of(const char *value);
const char *tw__json_kind_name(const char *value);
const char *tw__json_skip(const char *value); /* behind it */
/* Parts of a list or an object: `at` is the bracket, or what a call gave before. The next value, with its name's text in `key`;
 * NULL: that was the last. */
const char *tw__json_first(const char *value, const char **key);
const char *tw__json_next(const char *part, const char **key);
const char *tw__json_member(const char *object, const char *name); /* the first of this name, or NULL */
bool tw__json_is(const char *string, const char *text);            /* the string has this content */
void tw__json_text(const char *string, tw__text *text);            /* appends the string's content */
/* The string of {"b64": "…"}, or NULL. */
const char *tw__json_base64(const char *value);
tw_status tw__json_decode(const char *string, tw__text *text); /* appends what the base64 stands for */
typedef struct tw__json_numeral {
    bool is_integer; /* it fits into int64 or uint64 */
    bool negative;
    uint64_t size; /* of an integer, without its sign */
    double value;
} tw__json_numeral;
tw__json_numeral tw__json_read_number(const char *value);

/* ---- one input (request_column.c) ---- */
typedef struct tw__column {
    const char *name;
    tw_dtype dtype;
    tw_shape item;        /* the shape of one item; rank -1: there was none yet */
    int64_t items, count; /* how many there are, and elements in all */
    char *data;           /* elements that are no strings */
    size_t capacity;      /* of data, in bytes */
    tw__text bytes;       /* of strings, one after the other */
    size_t *ends;         /* where each ends */
    size_t end_capacity;
} tw__column;
/* Adds an item: a scalar, or nested lists of them. */
tw_status tw__column_add(tw__column *column, const char *value);
tw_status tw__column_add_scalar(tw__column *column, const char *value);
/* The tensor: of the shape of the one item, or, with `rows`, with the number of items before it. */
tw_tensor *tw__column_tensor(const tw__column *column, bool rows);
void tw__column_free(tw__column *column);
/* Text of a value for messages: its beginning. */
int tw__json_shown(const char *value);
#define TW_JSON_SHOWN(value) tw__json_shown(value), (value)

/* ---- requests ---- */
typedef enum tw__request_method { TW_REQUEST_PREDICT, TW_REQUEST_CLASSIFY, TW_REQUEST_REGRESS } tw__request_method;
struct tw_request {
    tw_object object;
    tw__request_method method;
    char *text;
    const char *root;
    char *signature;
    bool rows; /* the inputs came row by row */
    tw_named_tensor *inputs;
    int64_t input_count, examples;
};
extern const tw_class tw__request_class;
/* (request_inputs.c) */
tw_status tw__request_rows(tw_request *request, const char *instances, tw__column *columns, int64_t count);
tw_status tw__request_columns(const char *inputs, tw__column *columns, int64_t count);
tw_tensor *tw__request_examples(tw_request *request);

#endif
