/* thalweg serve DIR: models under TensorFlow Serving's REST API, at http://localhost:8501/v1/models/NAME. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "program.h"
#include "serve.h"

enum { MEGABYTE = 1 << 20 };

/* ---- which models ---- */

/* The last part of a path, without an ending of Keras: the name of a model that was given none. */
static char *name_of(const char *path)
{
    size_t size = strlen(path);
    while (size > 1 && path[size - 1] == '/')
        size--;
    size_t start = size;
    while (start && path[start - 1] != '/')
        start--;
    char *name = strndup(path + start, size - start), *dot = name ? strrchr(name, '.') : NULL;
    if (dot && dot != name && (strcmp(dot, ".keras") == 0 || strcmp(dot, ".h5") == 0 || strcmp(dot, ".hdf5") == 0))
        *dot = 0;
    return name;
}

static int add_model(const invocation *call, serving *s, const char *name, size_t name_size, const char *path)
{
    char *own = name ? strndup(name, name_size) : name_of(path);
    int result = EXIT_WORKED;
    if (!own || !*own || strpbrk(own, "/:") || strcmp(own, ".") == 0 || strcmp(own, "..") == 0)
        result = usage_error(call->command, "'%s' is no name of a model: NAME=DIR gives it one", own ? own : "");
    else if (!*path)
        result = usage_error(call->command, "the model '%s' has no path", own);
    else if (!models_add(s, own, path))
        result = usage_error(call->command, "the model '%s' is given twice", own);
    free(own);
    return result;
}

/* DIR, or NAME=DIR. */
static int add_word(const invocation *call, serving *s, const char *word)
{
    const char *equals = access(word, F_OK) == 0 ? NULL : strchr(word, '=');
    return equals ? add_model(call, s, word, (size_t)(equals - word), equals + 1) : add_model(call, s, NULL, 0, word);
}

static int add_models(const invocation *call, serving *s)
{
    const char *name = value_of(call, "--model_name", NULL), *path = value_of(call, "--model_base_path", NULL),
               *file = value_of(call, "--model_config_file", NULL);
    int result = EXIT_WORKED;
    if (name && !path && call->count != 1)
        return usage_error(call->command, "--model_name names the model of --model_base_path, or the only DIR");
    for (int i = 0; result == EXIT_WORKED && i < call->count; i++)
        result = name && !path ? add_model(call, s, name, strlen(name), call->words[i]) : add_word(call, s, call->words[i]);
    for (int i = 0; result == EXIT_WORKED && i < call->repeated_count; i++)
        result = add_word(call, s, call->repeated[i]);
    if (result == EXIT_WORKED && path)
        result = add_model(call, s, name ? name : "default", strlen(name ? name : "default"), path);
    if (result == EXIT_WORKED && file && !config_models(s, file))
        result = EXIT_FAILED;
    if (result == EXIT_WORKED && !s->model_count)
        result = usage_error(call->command, "DIR is expected, or --model NAME=DIR, or --model_config_file");
    return result;
}

/* ---- settings ---- */

typedef struct settings {
    int64_t port, threads, body, parallelism;
    bool everywhere;
    const char *host;
} settings;

static int read_settings(const invocation *call, serving *s, settings *o)
{
    int64_t poll, retry, cores = sysconf(_SC_NPROCESSORS_ONLN);
    const char *batching = value_of(call, "--batching_parameters_file", NULL);
    s->batching = (batch_settings){ .most = 1000, .threads = cores > 0 ? cores : 1 };
    if (!truth_of(call, "--enable_batching", &s->batching.on) ||
        !truth_of(call, "--enable_signature_method_name_check", &s->checks_methods) ||
        !truth_of(call, "--access_log", &s->logs) || !truth_of(call, "--bind_all", &o->everywhere))
        return EXIT_USAGE;
    if (batching && !s->batching.on)
        return usage_error(call->command, "--batching_parameters_file needs --enable_batching");
    if (batching && !config_batching(&s->batching, batching))
        return EXIT_FAILED;
    if (!s->batching.on &&
        (given(call, "--max_batch_size") || given(call, "--batch_timeout_micros") || given(call, "--num_batch_threads")))
        return usage_error(call->command, "--max_batch_size and the like need --enable_batching");
    if (!number_of(call, "--rest_api_port", 0, 8501, &o->port) ||
        !number_of(call, "--rest_api_num_threads", 1, cores > 0 ? 4 * cores : 4, &o->threads) ||
        !number_of(call, "--rest_api_timeout_in_ms", 0, 30000, &s->timeout) ||
        !number_of(call, "--file_system_poll_wait_seconds", 0, 1, &poll) ||
        !number_of(call, "--max_num_load_retries", 0, 5, &s->retries) ||
        !number_of(call, "--load_retry_interval_micros", 0, 60000000, &retry) ||
        !number_of(call, "--tensorflow_session_parallelism", 0, 0, &o->parallelism) ||
        !number_of(call, "--max_body_bytes", 1, 64 * MEGABYTE, &o->body) ||
        !number_of(call, "--max_batch_size", 1, s->batching.most, &s->batching.most) ||
        !number_of(call, "--batch_timeout_micros", 0, s->batching.timeout, &s->batching.timeout) ||
        !number_of(call, "--num_batch_threads", 1, s->batching.threads, &s->batching.threads))
        return EXIT_USAGE;
    if (o->port > 65535)
        return usage_error(call->command, "there is no port %lld", (long long)o->port);
    if (o->body > (int64_t)1 << 40)
        return usage_error(call->command, "--max_body_bytes is at most %lld", 1LL << 40);
    s->poll = (double)poll;
    s->retry = (double)retry / 1e6;
    o->host = value_of(call, "--host", "localhost");
    return EXIT_WORKED;
}

/* ---- serving ---- */

static int listen_and_serve(serving *s, const settings *o, const char *allowed)
{
    const char *host = o->everywhere ? NULL : o->host, *hosts[3] = { o->host, allowed, NULL };
    char own[256] = "";
    int listener = http_listen(host, (long)o->port);
    if (listener < 0) {
        fprintf(stderr, "thalweg: could not listen at %s:%lld: %s\n", host ? host : "*", (long long)o->port, strerror(errno));
        return EXIT_FAILED;
    }
    if (o->everywhere && gethostname(own, sizeof own - 1) == 0)
        hosts[0] = own;
    if (!watch_start(s)) {
        close(listener);
        fputs("thalweg: no thread could be started\n", stderr);
        return EXIT_FAILED;
    }
    http_service service = { .context = s,
                             .respond = serve_respond,
                             .refuse = serve_refuse,
                             .hosts = { hosts, allowed ? 2 : 1, o->everywhere },
                             .headers = "X-Content-Type-Options: nosniff\r\nCache-Control: no-store\r\n",
                             .body_limit = (size_t)o->body,
                             .held_limit =
                                 (size_t)o->body * 4 > (size_t)256 * MEGABYTE ? (size_t)o->body * 4 : (size_t)256 * MEGABYTE,
                             .workers = o->threads < 256 ? (int)o->threads : 256,
                             .keeps = true,
                             .grace = 30 };
    const volatile int *stopped = http_stops();
    fprintf(stderr, "thalweg: serving %s%s at http://%s:%ld/v1/models/%s (Press CTRL+C to quit)\n", s->models[0]->name,
            s->model_count > 1 ? " and others" : "", o->everywhere ? own : host, http_port(listener), s->models[0]->name);
    fflush(stderr);
    http_serve(listener, &service, stopped);
    close(listener);
    watch_stop(s);
    return EXIT_WORKED;
}

static int run(const invocation *call)
{
    serving s = { .started = (double)time(NULL) };
    settings o = { 0 };
    int result = read_settings(call, &s, &o);
    if (result == EXIT_WORKED)
        result = add_models(call, &s);
    if (result != EXIT_WORKED) {
        models_free(&s);
        return result;
    }
    if (o.parallelism) {
        char number[24];
        snprintf(number, sizeof number, "%lld", (long long)o.parallelism);
        setenv("THALWEG_NUM_THREADS", number, 1);
    }
    pthread_mutex_init(&s.lock, NULL);
    pthread_cond_init(&s.woken, NULL);
    if (!watch_once(&s) && s.poll <= 0)
        result = EXIT_FAILED; /* nothing will come later */
    bool any = false;
    for (size_t i = 0; i < s.model_count; i++) {
        struct stat status;
        any = any || s.models[i]->version_count || (stat(s.models[i]->path, &status) == 0 && S_ISDIR(status.st_mode));
    }
    if (!any)
        result = EXIT_FAILED; /* no path is a folder in which versions may appear: it is mistyped */
    if (result == EXIT_WORKED)
        result = listen_and_serve(&s, &o, value_of(call, "--allow_host", NULL));
    models_free(&s);
    return result;
}

/* Options of tensorflow_model_server that are about gRPC, GPUs and TensorFlow's own runtime. */
static const char *const without_meaning[] = { "--port",
                                               "--grpc_socket_path",
                                               "--grpc_channel_arguments",
                                               "--grpc_max_threads",
                                               "--flush_filesystem_caches",
                                               "--per_process_gpu_memory_fraction",
                                               "--enable_model_warmup",
                                               "--num_load_threads",
                                               "--num_unload_threads",
                                               "--tensorflow_inter_op_parallelism",
                                               "--xla_cpu_compilation_enabled",
                                               "--prefer_tflite_model",
                                               "--enable_profiler",
                                               "--monitoring_config_file",
                                               "--platform_config_file",
                                               "--enforce_session_run_timeout",
                                               "--remove_unused_fields_from_bundle_metagraph",
                                               NULL };

static const verb verbs[] = { { NULL, "[NAME=]DIR …", 0, -1, "", run }, { .name = NULL } };
static const command_option options[] = {
    { "--model", 0, "NAME=DIR …", "a model, again for each further one", NULL },
    { "--model_name", 0, "NAME", "the name of the one model (the last part of its path)", NULL },
    { "--model_base_path", 0, "DIR", "the model of that name (named default)", NULL },
    { "--model_config_file", 0, "FILE", "models with their policies and labels, as text", NULL },
    { "--rest_api_port", 0, "N", "8501; 0: any that is free", NULL },
    { "--host", 0, "NAME", "where it listens (localhost)", NULL },
    { "--bind_all", 0, "[=false]", "reachable from other machines", NULL },
    { "--allow_host", 0, "NAME", "another name under which it may be asked, as through a proxy", NULL },
    { "--rest_api_num_threads", 0, "N", "requests that are answered at the same time (4 for each core)", NULL },
    { "--rest_api_timeout_in_ms", 0, "N", "how long a request may wait for its turn (30000; 0: for ever)", NULL },
    { "--max_body_bytes", 0, "N", "the largest request (67108864)", NULL },
    { "--enable_batching", 0, "[=false]", "requests that come together are computed together", NULL },
    { "--max_batch_size", 0, "N", "rows in a batch (1000)", NULL },
    { "--batch_timeout_micros", 0, "N", "how long a batch waits for more (0)", NULL },
    { "--num_batch_threads", 0, "N", "batches at the same time (one for each core)", NULL },
    { "--batching_parameters_file", 0, "FILE", "the same, as text", NULL },
    { "--file_system_poll_wait_seconds", 0, "N", "how often new versions are looked for (1; 0: never)", NULL },
    { "--max_num_load_retries", 0, "N", "how often a version that could not be loaded is tried again (5)", NULL },
    { "--load_retry_interval_micros", 0, "N", "how long after (60000000)", NULL },
    { "--tensorflow_session_parallelism", 0, "N", "threads that compute (one for each core)", NULL },
    { "--enable_signature_method_name_check", 0, "[=false]", "classify and regress only by signatures made for them", NULL },
    { "--access_log", 0, "[=false]", "a line for each request on stderr", NULL },
    { .name = NULL },
};
const command serve_command = {
    .name = "serve",
    .summary = "Serves models by TensorFlow Serving's REST API.",
    .help =
        "\nDIR is a SavedModel, a .keras or .h5 file, or a folder of such whose names are numbers: versions, of which the newest is served;\n"
        "new ones are loaded as they appear. A model's name is the last part of its path, or NAME.\n\n"
        "  GET  /v1/models/NAME[/versions/V|/labels/L]            which versions there are\n"
        "  GET  /v1/models/NAME[/versions/V|/labels/L]/metadata   signatures\n"
        "  POST /v1/models/NAME[/versions/V|/labels/L]:predict    {\"instances\": [...]} or {\"inputs\": ...}; also :classify, :regress\n"
        "  GET  /healthz, /metrics                                that it lives; what was counted, for Prometheus\n\n"
        "Options of tensorflow_model_server about gRPC and GPUs are taken and change nothing.\n",
    .verbs = verbs,
    .options = options,
    .without_meaning = without_meaning,
};
