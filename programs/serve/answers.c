/* From a request to an answer: TensorFlow Serving's paths, codes and messages. */
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "program.h"
#include "serve.h"

/* ---- JSON and errors ---- */

void put_quoted(FILE *out, const char *text)
{
    tw_value value = { .kind = TW_VALUE_STR, .s = { text, strlen(text) } };
    char *json = tw_value_json(&value);
    fputs(json ? json : "\"\"", out);
    free(json);
}

void serve_error(http_answer *answer, int code, const char *text)
{
    FILE *out = open_memstream(&answer->body, &answer->size);
    answer->code = code;
    answer->type = "application/json";
    if (!out)
        return;
    fputs("{\n    \"error\": ", out);
    put_quoted(out, text);
    fputs("\n}", out);
    fclose(out);
}

void serve_refuse(void *context, int code, http_answer *answer)
{
    (void)context;
    serve_error(answer, code,
                code == 400   ? "the request is malformed"
                : code == 403 ? "this host name is not one of the server's; see --allow_host"
                : code == 413 ? "the body is too large; see --max_body_bytes"
                : code == 431 ? "the headers are too large"
                : code == 408 ? "the request did not come in time"
                              : "the server holds too many requests");
}

int http_code_of(tw_status status)
{
    switch (tw_status_kind(status)) {
    case TW_OK:
        return 200;
    case TW_CANCELLED:
        return 499;
    case TW_INVALID_ARGUMENT:
    case TW_FAILED_PRECONDITION:
    case TW_OUT_OF_RANGE:
        return 400;
    case TW_DEADLINE_EXCEEDED:
        return 504;
    case TW_NOT_FOUND:
        return 404;
    case TW_ALREADY_EXISTS:
    case TW_ABORTED:
        return 409;
    case TW_PERMISSION_DENIED:
        return 403;
    case TW_UNAUTHENTICATED:
        return 401;
    case TW_RESOURCE_EXHAUSTED:
        return 429;
    case TW_UNIMPLEMENTED:
        return 501;
    case TW_UNAVAILABLE:
        return 503;
    default:
        return 500;
    }
}

static void library_failure(http_answer *answer)
{
    tw_status code = TW_UNKNOWN;
    char *text = tw_take_error(&code);
    serve_error(answer, http_code_of(code), text ? text : "memory ran out");
    free(text);
}

/* ---- paths ---- */

typedef struct target {
    char name[256], label[128], method[16];
    int64_t version; /* -1: none is named */
    bool labelled, metadata;
} target;

/* A piece of a path up to one of the ends; false: it is empty or too long. */
static bool take_piece(const char **at, const char *ends, char *piece, size_t room)
{
    size_t size = strcspn(*at, ends);
    if (!size || size >= room)
        return false;
    memcpy(piece, *at, size);
    piece[size] = 0;
    *at += size;
    return true;
}

static bool take_word(const char **at, const char *word)
{
    size_t size = strlen(word);
    if (strncasecmp(*at, word, size) != 0)
        return false;
    *at += size;
    return true;
}

/* /v1/models/NAME[/versions/V|/labels/L][/metadata | :METHOD] */
static bool read_target(const char *path, target *t)
{
    char number[24];
    *t = (target){ .version = -1 };
    if (!take_word(&path, "/v1/models/") || !take_piece(&path, "/:", t->name, sizeof t->name))
        return false;
    if (take_word(&path, "/versions/")) {
        if (!take_piece(&path, "/:", number, 20) || strspn(number, "0123456789") != strlen(number))
            return false;
        t->version = strtoll(number, NULL, 10);
    } else if (take_word(&path, "/labels/")) {
        t->labelled = true;
        if (!take_piece(&path, "/:", t->label, sizeof t->label))
            return false;
    }
    if (take_word(&path, "/metadata"))
        t->metadata = true;
    else if (*path == ':') {
        path++;
        if (!take_piece(&path, "/:", t->method, sizeof t->method))
            return false;
    }
    return !*path;
}

static void malformed(const http_request *request, http_answer *answer)
{
    char text[600];
    snprintf(text, sizeof text, "Malformed request: %.16s %.500s", request->method, request->path);
    serve_error(answer, 400, text);
}

/* ---- status and metadata ---- */

static void put_version(FILE *out, const served_version *version, bool first)
{
    static const char *const states[] = { "UNKNOWN", "START", "LOADING", "AVAILABLE", "UNLOADING", "END" };
    fprintf(
        out,
        "%s\n  {\n   \"version\": \"%lld\",\n   \"state\": \"%s\",\n   \"status\": {\n    \"error_code\": \"%s\",\n    \"error_message\": ",
        first ? "" : ",", (long long)version->number, states[version->state / 10], tw_status_name(tw_status_kind(version->code)));
    put_quoted(out, version->message ? version->message : "");
    fputs("\n   }\n  }", out);
}

static void answer_status(serving *s, const target *t, http_answer *answer)
{
    char text[400];
    FILE *out = open_memstream(&answer->body, &answer->size);
    if (!out)
        return;
    bool first = true;
    int64_t number = t->version;
    fputs("{\n \"model_version_status\": [", out);
    pthread_mutex_lock(&s->lock);
    const served_model *model = models_find(s, t->name);
    for (int i = 0; model && t->labelled && i < model->label_count; i++) {
        if (strcmp(model->labels[i].name, t->label) == 0)
            number = model->labels[i].version;
    }
    for (int i = 0; model && !(t->labelled && number < 0) && i < model->version_count; i++) {
        if (number >= 0 && model->versions[i].number != number)
            continue;
        put_version(out, &model->versions[i], first);
        first = false;
    }
    pthread_mutex_unlock(&s->lock);
    fputs("\n ]\n}\n", out);
    fclose(out);
    answer->code = 200;
    answer->type = "application/json";
    if (!first)
        return;
    free(answer->body);
    if (t->labelled && number < 0 && model)
        snprintf(text, sizeof text, "Unrecognized servable version label: %s", t->label);
    else if (number >= 0)
        snprintf(text, sizeof text, "Could not find version %lld of model %s", (long long)number, t->name);
    else
        snprintf(text, sizeof text, "Could not find any versions of model %s", t->name);
    serve_error(answer, t->labelled && number < 0 && model ? 400 : 404, text);
}

static void answer_metadata(const servable *loaded, const target *t, int64_t version, http_answer *answer)
{
    FILE *out = open_memstream(&answer->body, &answer->size);
    if (!out)
        return;
    fputs("{\n\"model_spec\":{\n \"name\": ", out);
    put_quoted(out, t->name);
    fprintf(out, ",\n \"signature_name\": \"\",\n \"version\": \"%lld\"\n}\n,\n\"metadata\": {\"signature_def\": %s\n}\n}\n",
            (long long)version, loaded->metadata);
    fclose(out);
    answer->code = 200;
    answer->type = "application/json";
}

/* ---- predict, classify, regress ---- */

static char *call(const served_signature *signature, tw_request *asked, tw_status *code, char **message)
{
    tw_named_tensors inputs = tw_request_inputs(asked, signature->inputs, (tw_specs){ signature->specs, signature->input_count });
    if (!inputs.items)
        return NULL;
    tw_tensors results = batched_call(signature, inputs, code, message);
    tw_named_tensor *outputs = results.items ? calloc((size_t)results.count + 1, sizeof *outputs) : NULL;
    for (int64_t i = 0; outputs && i < results.count; i++)
        outputs[i] = (tw_named_tensor){ signature->outputs[i], results.items[i] };
    char *text = outputs ? tw_request_answer(asked, (tw_named_tensors){ outputs, results.count }) : NULL;
    free(outputs);
    tw_tensors_free(&results);
    return text;
}

static void answer_call(serving *s, const servable *loaded, const char *method, const http_request *request, http_answer *answer)
{
    char text[600];
    tw_request *asked = tw_request_new(method, request->body, request->body_size);
    const served_signature *signature = asked ? servable_signature(loaded, tw_request_signature(asked)) : NULL;
    if (!asked) {
        library_failure(answer);
    } else if (!signature) {
        snprintf(text, sizeof text, "Serving signature name: \"%.300s\" not found in signature def", tw_request_signature(asked));
        serve_error(answer, 400, text);
    } else if (s->checks_methods &&
               strcmp(strrchr(signature->method, '/') ? strrchr(signature->method, '/') + 1 : "", method) != 0) {
        snprintf(text, sizeof text, "Expected %s signature method_name to be tensorflow/serving/%s. Was: %.200s",
                 *method == 'c'   ? "classification"
                 : *method == 'r' ? "regression"
                                  : "prediction",
                 method, signature->method);
        serve_error(answer, 400, text);
    } else {
        tw_status code = TW_OK;
        char *message = NULL;
        answer->body = call(signature, asked, &code, &message);
        answer->size = answer->body ? strlen(answer->body) : 0;
        answer->code = 200;
        answer->type = "application/json";
        if (!answer->body && code != TW_OK)
            serve_error(answer, http_code_of(code), message ? message : "memory ran out");
        else if (!answer->body)
            library_failure(answer);
        free(message);
    }
    tw_request_free(asked);
}

/* What needs a loaded version. */
static void answer_loaded(serving *s, const target *t, const http_request *request, http_answer *answer)
{
    char text[512];
    int code;
    int64_t version = 0;
    servable *loaded = models_take(s, t->name, t->version, t->labelled ? t->label : NULL, &version, &code, text);
    if (!loaded) {
        serve_error(answer, code, text);
        return;
    }
    if (t->metadata)
        answer_metadata(loaded, t, version, answer);
    else
        answer_call(s, loaded,
                    strcasecmp(t->method, "predict") == 0    ? "predict"
                    : strcasecmp(t->method, "classify") == 0 ? "classify"
                                                             : "regress",
                    request, answer);
    models_give_back(s, loaded);
}

static void answer_text(serving *s, bool metrics, http_answer *answer)
{
    FILE *out = open_memstream(&answer->body, &answer->size);
    if (!out)
        return;
    if (metrics)
        metrics_put(s, out);
    else
        fputs("ok\n", out);
    fclose(out);
    answer->code = 200;
    answer->type = metrics ? "text/plain; version=0.0.4; charset=utf-8" : "text/plain; charset=utf-8";
}

static void answer_v1(serving *s, const http_request *request, http_answer *answer)
{
    target t;
    double start = http_seconds();
    bool get = strcmp(request->method, "GET") == 0 || strcmp(request->method, "HEAD") == 0,
         post = strcmp(request->method, "POST") == 0, good = read_target(request->path, &t);
    bool calls = good && (strcasecmp(t.method, "predict") == 0 || strcasecmp(t.method, "classify") == 0 ||
                          strcasecmp(t.method, "regress") == 0);
    if (get && (strcasecmp(request->path, "/v1/models") == 0 || strcasecmp(request->path, "/v1/models/") == 0))
        serve_error(answer, 400, "Missing model name in request.");
    else if (!good || (calls ? !post : !get || *t.method))
        malformed(request, answer);
    else if (s->timeout && start - request->since > (double)s->timeout / 1e3)
        serve_error(answer, 504, "the request waited for longer than --rest_api_timeout_in_ms");
    else if (calls || t.metadata)
        answer_loaded(s, &t, request, answer);
    else
        answer_status(s, &t, answer);
    if (calls && post)
        metrics_count(s, t.name, t.method, answer->code, http_seconds() - request->since);
}

static void log_line(const http_request *request, const http_answer *answer)
{
    flockfile(stderr);
    print_name(stderr, request->method);
    fputc(' ', stderr);
    print_name(stderr, request->path);
    fprintf(stderr, " %d %zu %.3f ms\n", answer->code, answer->size, (http_seconds() - request->since) * 1e3);
    funlockfile(stderr);
}

void serve_respond(void *context, const http_request *request, http_answer *answer)
{
    serving *s = context;
    bool get = strcmp(request->method, "GET") == 0 || strcmp(request->method, "HEAD") == 0;
    bool metrics = strcmp(request->path, "/monitoring/prometheus/metrics") == 0 || strcmp(request->path, "/metrics") == 0;
    bool health = strcmp(request->path, "/healthz") == 0 || strcmp(request->path, "/livez") == 0;
    if (strncasecmp(request->path, "/v1/", 4) == 0 || strcasecmp(request->path, "/v1/models") == 0)
        answer_v1(s, request, answer);
    else if (get && (metrics || health))
        answer_text(s, metrics, answer);
    else
        serve_error(answer, metrics || health ? 405 : 404,
                    metrics || health ? "GET is expected" : "there is nothing at this path");
    if (s->logs)
        log_line(request, answer);
}
