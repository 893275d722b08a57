/* Requests of TensorFlow Serving's REST API for C programs: <thalweg/saving.h>. */
#include "saving/request.h"
#include "saving/saved_model.h"

tw_request *tw_request_new(const char *method, const char *json, size_t size)
{
    static const char *const methods[] = { "predict", "classify", "regress" };
    if (!tw__check_given(method, "the method", "tw_request_new") || !tw__check_given(json, "the text", "tw_request_new"))
        return NULL;
    int found = 0;
    while (found < 3 && strcmp(methods[found], method) != 0)
        found++;
    if (found == 3) {
        tw__fail(TW_INVALID_ARGUMENT, "tw_request_new: the method must be predict, classify or regress, got '%s'", method);
        return NULL;
    }
    tw_request *request = tw__object_new(&tw__request_class);
    if (!request)
        return NULL;
    request->method = (tw__request_method)found;
    request->text = tw__strndup(json, size);
    request->root = request->text ? tw__json_check(request->text, size) : NULL;
    if (request->root && *request->root != '{') {
        tw__fail(TW_INVALID_ARGUMENT, "JSON Value: %.*s Is not object", TW_JSON_SHOWN(request->root));
        request->root = NULL;
    }
    const char *name = request->root ? tw__json_member(request->root, "signature_name") : NULL;
    tw__text key = { 0 };
    if (name && *name != '"') {
        tw__fail(TW_INVALID_ARGUMENT, "JSON Value: %.*s not formatted correctly. 'signature_name' key must be a string value.",
                 TW_JSON_SHOWN(request->root));
        request->root = NULL;
    } else if (name) {
        tw__json_text(name, &key);
    }
    request->signature = key.size ? tw__text_take(&key) : tw__strdup("serving_default");
    tw__text_free(&key);
    if (request->root && request->signature)
        return request;
    tw_request_free(request);
    return NULL;
}

void tw_request_free(tw_request *request)
{
    if (request && tw__check(request, &tw__request_class, "tw_request_free"))
        tw_release(request);
}

static void request_destroy(void *self)
{
    tw_request *request = self;
    for (int64_t i = 0; i < request->input_count; i++)
        tw_release(request->inputs[i].tensor);
    tw__free(request->inputs);
    tw__free(request->signature);
    tw__free(request->text);
}

const tw_class tw__request_class = { .name = "Request", .size = sizeof(tw_request), .destroy = request_destroy };

const char *tw_request_signature(const tw_request *request)
{
    return tw__check(request, &tw__request_class, "tw_request_signature") ? request->signature : NULL;
}

/* ---- inputs ---- */

static tw_status read_columns(tw_request *request, tw__column *columns, int64_t count)
{
    const char *rows = tw__json_member(request->root, "instances"), *inputs = tw__json_member(request->root, "inputs");
    if (rows && inputs)
        return tw__fail(TW_INVALID_ARGUMENT,
                        "JSON Value: %.*s Not formatted correctly expecting only one of 'inputs' or 'instances' keys to exist ",
                        TW_JSON_SHOWN(request->root));
    if (!rows && !inputs)
        return tw__fail(TW_INVALID_ARGUMENT, "Missing 'inputs' or 'instances' key");
    return rows ? tw__request_rows(request, rows, columns, count) : tw__request_columns(inputs, columns, count);
}

static tw_status read_predict(tw_request *request, const char *const *names, tw_specs specs)
{
    tw__owned tw__column *columns = tw__alloc_array((size_t)specs.count, sizeof *columns);
    TW_NEED(columns);
    for (int64_t i = 0; i < specs.count; i++)
        columns[i] = (tw__column){ .name = names[i], .dtype = specs.items[i].dtype, .item = { .rank = -1 } };
    tw_status status = read_columns(request, columns, specs.count);
    for (int64_t i = 0; i < specs.count; i++) {
        if (status == TW_OK) {
            request->inputs[i] = (tw_named_tensor){ names[i], tw__column_tensor(&columns[i], request->rows) };
            request->input_count++;
            status = request->inputs[i].tensor ? TW_OK : tw__error_status();
        }
        tw__column_free(&columns[i]);
    }
    return status;
}

/* The one input of a signature for classify and regress is called so, and takes Examples. */
static tw_status read_examples(tw_request *request, const char *const *names, tw_specs specs)
{
    if (specs.count != 1)
        return tw__fail(TW_INVALID_ARGUMENT, "Expected one input Tensor.");
    if (strcmp(names[0], "inputs") != 0)
        return tw__fail(TW_FAILED_PRECONDITION, "No %s inputs found in SignatureDef: \"inputs\" is expected, got \"%s\"",
                        request->method == TW_REQUEST_CLASSIFY ? "classification" : "regression", names[0]);
    request->inputs[0] = (tw_named_tensor){ names[0], tw__request_examples(request) };
    request->input_count = 1;
    return request->inputs[0].tensor ? TW_OK : tw__error_status();
}

tw_named_tensors tw_request_inputs(tw_request *request, const char *const *names, tw_specs specs)
{
    tw_named_tensors none = { NULL, 0 };
    if (!tw__check(request, &tw__request_class, "tw_request_inputs") ||
        (specs.count && (!tw__check_given(names, "the list of names", "tw_request_inputs") ||
                         !tw__check_given(specs.items, "the list of specs", "tw_request_inputs"))))
        return none;
    if (request->inputs) {
        tw__fail(TW_FAILED_PRECONDITION, "tw_request_inputs: the inputs were read already");
        return none;
    }
    request->inputs = tw__alloc_array((size_t)specs.count + 1, sizeof *request->inputs);
    tw_status status = !request->inputs ? TW_RESOURCE_EXHAUSTED
                       : !specs.count
                           ? tw__fail(TW_INVALID_ARGUMENT, "Failed to get input map for signature: %s", request->signature)
                       : request->method == TW_REQUEST_PREDICT ? read_predict(request, names, specs)
                                                               : read_examples(request, names, specs);
    return status == TW_OK ? (tw_named_tensors){ request->inputs, request->input_count } : none;
}

/* ---- all at once ---- */

static char *answer_with(tw_request *request, tw_saved_concrete *signature)
{
    int64_t count = 0;
    while (tw_signature_input(signature, count))
        count++;
    tw__owned const char **names = tw__alloc_array((size_t)count + 1, sizeof *names);
    tw__owned tw_spec *specs = tw__alloc_array((size_t)count + 1, sizeof *specs);
    for (int64_t i = 0; names && specs && i < count; i++) {
        names[i] = tw_signature_input(signature, i);
        specs[i] = tw_signature_input_spec(signature, i);
    }
    tw_named_tensors inputs =
        names && specs ? tw_request_inputs(request, names, (tw_specs){ specs, count }) : (tw_named_tensors){ 0 };
    tw__auto(tw_tensors_free) tw_tensors results = inputs.items ? tw_signature_call(signature, inputs) : (tw_tensors){ 0 };
    tw__owned tw_named_tensor *outputs = results.items ? tw__alloc_array((size_t)results.count + 1, sizeof *outputs) : NULL;
    for (int64_t i = 0; outputs && i < results.count; i++)
        outputs[i] = (tw_named_tensor){ tw_signature_output(signature, i), results.items[i] };
    return outputs ? tw_request_answer(request, (tw_named_tensors){ outputs, results.count }) : NULL;
}

char *tw_saved_model_answer(tw_saved_object *model, const char *method, const char *json, size_t size)
{
    if (!tw__check(model, &tw__class_saved_object, "tw_saved_model_answer"))
        return NULL;
    tw_request *request = tw_request_new(method, json, size);
    tw_auto tw_saved_concrete *signature = request ? tw_saved_model_signature(model, request->signature) : NULL;
    char *answer = signature ? answer_with(request, signature) : NULL;
    tw_request_free(request);
    return answer;
}
