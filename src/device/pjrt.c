/* The C interface of PJRT plug-ins: see pjrt.h.
 *
 * A plug-in exports one function, which gives a table of function pointers. Each takes a struct that begins with its own size and
 * gives an error or NULL. Plug-ins refuse structs that are smaller than their own and take larger ones: so each has room to
 * spare. Slots and layouts are those of version 0.81 of the interface; later versions only append. */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

#include "device/pjrt.h"

enum { SPARE = 8, OLDEST_MINOR = 81 };

/* ---- the interface ---- */

typedef struct api {
    size_t size;
    void *extension;
    struct {
        size_t size;
        void *extension;
        int32_t major, minor;
    } version;
    void *functions[128];
} api;

/* Numbers of functions in the table. */
enum {
    ERROR_DESTROY = 0,
    ERROR_MESSAGE = 1,
    ERROR_CODE = 2,
    PLUGIN_INITIALIZE = 3,
    EVENT_DESTROY = 5,
    EVENT_AWAIT = 8,
    CLIENT_CREATE = 10,
    CLIENT_PLATFORM = 12,
    CLIENT_DEVICES = 16,
    CLIENT_COMPILE = 20,
    BUFFER_FROM_HOST = 22,
    LOADED_DESTROY = 50,
    LOADED_EXECUTE = 55,
    BUFFER_DESTROY = 58,
    BUFFER_TO_HOST = 70,
    LAST_FUNCTION = BUFFER_TO_HOST,
};

/* The head and the spare end of every struct. */
#define ARGS(...)              \
    struct {                   \
        size_t size;           \
        void *extension;       \
        __VA_ARGS__            \
        uint64_t spare[SPARE]; \
    }

typedef ARGS(void *handle;) handle_args;
typedef ARGS(void *handle; const char *text; size_t length;) text_args;
typedef ARGS(void *handle; int32_t code;) code_args;
typedef ARGS(void *handle; void *const *items; size_t count;) list_args;

typedef struct named {
    size_t size;
    void *extension;
    const char *name;
    size_t name_length;
    int32_t type; /* 1: an integer */
    int64_t integer;
    size_t count;
} named;

typedef ARGS(const named *options; size_t count; void *callbacks[4]; void *client; void *more[2];) create_args;

typedef struct program {
    size_t size;
    void *extension;
    const char *code;
    size_t code_size;
    const char *format;
    size_t format_size;
} program;

typedef ARGS(void *client; const program *source; const char *options; size_t options_size; void *loaded;) compile_args;
typedef ARGS(void *client; const void *data; int32_t type; const int64_t *dims; size_t rank; const int64_t *strides;
             size_t stride_count; int32_t semantics; void *device; void *memory; void *layout; void *done;
             void *buffer;) put_args;
typedef ARGS(void *buffer; void *layout; void *data; size_t data_size; void *event;) get_args;
typedef ARGS(void *words[12];) execute_options;
typedef ARGS(void *loaded; execute_options * options; void *const *const *arguments; size_t device_count; size_t argument_count;
             void **const *results; void **done; void *device;) execute_args;

/* ---- the plug-in ---- */

static tw__lock lock = TW__LOCK;
static struct {
    char *path, *name;
    const api *table;
    void *client;
    void *const *devices;
    size_t device_count;
    char platform[32];
    tw_status failed; /* starting it did, and would again */
    char *why;
} plugin;
static _Atomic bool started;
/* Where programs run: a device of the machine, or a part of one. */
static struct {
    int number;
    int64_t limit;
    _Atomic int64_t now, peak;
} places[TW__PJRT_PLACES];
static _Atomic int64_t put_count, got_count, run_count, compile_count;

typedef void *(*entry)(void *);

static entry function(int number)
{
    entry found;
    memcpy(&found, &plugin.table->functions[number], sizeof found);
    return found;
}

#define CALL(number, args) ((args)->size = sizeof *(args), function(number)(args))

static tw_status code_of(int32_t code)
{
    return code > 0 && code <= 16 ? (tw_status)code : TW_INTERNAL;
}

/* The plug-in's error as the thread's; it ends. */
static tw_status check(void *error, const char *what)
{
    if (!error)
        return TW_OK;
    text_args message = { .handle = error };
    code_args code = { .handle = error };
    CALL(ERROR_MESSAGE, &message);
    void *second = CALL(ERROR_CODE, &code);
    (void)second;
    tw_status status =
        tw__fail(code_of(code.code), "%s (PJRT plug-in %s): %.*s", what, plugin.path, (int)message.length, message.text);
    handle_args destroy = { .handle = error };
    CALL(ERROR_DESTROY, &destroy);
    return status;
}

static tw_status wait_for(void *event, const char *what)
{
    if (!event)
        return TW_OK;
    handle_args args = { .handle = event };
    tw_status status = check(CALL(EVENT_AWAIT, &args), what);
    handle_args destroy = { .handle = event };
    CALL(EVENT_DESTROY, &destroy);
    return status;
}

/* "path" or "path:name". */
static tw_status name_plugin(const char *text)
{
    const char *colon = strrchr(text, ':');
    size_t length = colon && !strchr(colon, '/') ? (size_t)(colon - text) : strlen(text);
    tw__free(plugin.path);
    tw__free(plugin.name);
    plugin.path = tw__strndup(text, length);
    plugin.name = tw__strdup(text[length] ? text + length + 1 : "");
    return plugin.path && plugin.name ? TW_OK : TW_RESOURCE_EXHAUSTED;
}

bool tw__pjrt_wanted(void)
{
    const char *text = getenv("THALWEG_PJRT_PLUGIN");
    return atomic_load(&started) || plugin.path || (text && *text);
}

tw_status tw__pjrt_register(const char *text)
{
    tw__lock_take(&lock);
    tw_status status =
        plugin.client ? tw__fail(TW_FAILED_PRECONDITION, "register_pjrt_plugin: the plug-in %s is in use already", plugin.path)
        : !text || !*text
            ? tw__fail(TW_INVALID_ARGUMENT, "register_pjrt_plugin: the path of a plug-in was expected, got an empty text")
            : name_plugin(text);
    if (status == TW_OK)
        plugin.failed = TW_OK;
    tw__lock_give(&lock);
    return status;
}

static tw_status load(void)
{
    void *library = dlopen(plugin.path, RTLD_NOW | RTLD_LOCAL);
    if (!library)
        return tw__fail(TW_NOT_FOUND, "THALWEG_PJRT_PLUGIN: %s", dlerror());
    const api *(*get)(void);
    void *symbol = dlsym(library, "GetPjrtApi");
    memcpy(&get, &symbol, sizeof get);
    if (!symbol)
        return tw__fail(TW_INVALID_ARGUMENT, "THALWEG_PJRT_PLUGIN: %s is no PJRT plug-in: it has no function GetPjrtApi",
                        plugin.path);
    plugin.table = get();
    if (!plugin.table || plugin.table->version.major != 0 || plugin.table->version.minor < OLDEST_MINOR ||
        plugin.table->size < 40 + 8 * (LAST_FUNCTION + 1))
        return tw__fail(TW_UNIMPLEMENTED, "%s has version %d.%d of the PJRT interface; 0.%d or later is needed", plugin.path,
                        plugin.table ? plugin.table->version.major : 0, plugin.table ? plugin.table->version.minor : 0,
                        OLDEST_MINOR);
    struct {
        size_t size;
        void *extension;
    } args = { 0 };
    return check(CALL(PLUGIN_INITIALIZE, &args), "starting");
}

static tw_status create(void)
{
    const char *as = getenv("THALWEG_PJRT_AS"), *colon = as ? strchr(as, ':') : NULL;
    long count = colon ? strtol(colon + 1, NULL, 10) : 1;
    if (count < 1 || count > 64)
        return tw__fail(TW_INVALID_ARGUMENT, "THALWEG_PJRT_AS: TYPE or TYPE:COUNT with 1 to 64 devices was expected, got %s", as);
    named option = { .size = 56, .name = "cpu_device_count", .name_length = 16, .type = 1, .integer = count, .count = 1 };
    bool processor = strstr(plugin.path, "cpu") || strcmp(plugin.name, "cpu") == 0;
    create_args args = { .options = &option, .count = processor ? 1 : 0 };
    TW_TRY(check(CALL(CLIENT_CREATE, &args), "starting the client"));
    text_args platform = { .handle = args.client };
    list_args devices = { .handle = args.client };
    TW_TRY(check(CALL(CLIENT_PLATFORM, &platform), "asking for the platform"));
    TW_TRY(check(CALL(CLIENT_DEVICES, &devices), "listing devices"));
    snprintf(plugin.platform, sizeof plugin.platform, "%.*s", (int)platform.length, platform.text);
    plugin.devices = devices.items;
    plugin.device_count = devices.count;
    plugin.client = args.client;
    for (int i = 0; i < TW__PJRT_PLACES; i++) {
        places[i].number = i < (int)devices.count ? i : 0;
        places[i].limit = INT64_MAX;
    }
    return TW_OK;
}

tw_status tw__pjrt_start(void)
{
    if (atomic_load(&started))
        return TW_OK;
    tw__lock_take(&lock);
    const char *text = getenv("THALWEG_PJRT_PLUGIN");
    tw_status status = TW_OK;
    if (plugin.failed != TW_OK)
        status = tw__fail(plugin.failed, "%s", plugin.why);
    else if (!plugin.client) {
        bool quiet = getenv("TF_CPP_MIN_LOG_LEVEL") != NULL;
        setenv("TF_CPP_MIN_LOG_LEVEL", "2", 0); /* plug-ins write much while they start */
        setenv("TPU_SKIP_MDS_QUERY", "1", 0);   /* … and ask the network for minutes */
        status = plugin.path     ? TW_OK
                 : text && *text ? name_plugin(text)
                                 : tw__fail(TW_NOT_FOUND, "no PJRT plug-in is named: set THALWEG_PJRT_PLUGIN=path[:name]");
        status = status == TW_OK ? load() : status;
        status = status == TW_OK ? create() : status;
        if (!quiet)
            unsetenv("TF_CPP_MIN_LOG_LEVEL"); /* what the library itself logs is as the user wants it */
        if (status != TW_OK && plugin.path) {
            tw__free(plugin.why);
            plugin.why = tw__strdup(tw_error_message());
            plugin.failed = plugin.why ? status : TW_OK;
        }
    }
    atomic_store(&started, status == TW_OK);
    tw__lock_give(&lock);
    return status;
}

const char *tw__pjrt_platform(void)
{
    return plugin.platform;
}

int tw__pjrt_device_count(void)
{
    return plugin.device_count < INT32_MAX ? (int)plugin.device_count : INT32_MAX;
}

void tw__pjrt_arrange(const int *numbers, const int64_t *limits, int count)
{
    for (int i = 0; i < count && i < TW__PJRT_PLACES; i++) {
        places[i].number = numbers[i];
        places[i].limit = limits[i];
    }
}

tw__pjrt_memory tw__pjrt_memory_of(int device)
{
    return (tw__pjrt_memory){ atomic_load(&places[device].now), atomic_load(&places[device].peak) };
}

void tw__pjrt_memory_forget(int device)
{
    atomic_store(&places[device].peak, atomic_load(&places[device].now));
}

/* ---- memory ---- */

static int32_t type_number(tw_dtype dtype)
{
    static const int8_t numbers[TW_DTYPE_LIMIT] = {
        [TW_BOOL] = 1,     [TW_INT8] = 2,     [TW_INT16] = 3,     [TW_INT32] = 4,      [TW_INT64] = 5,
        [TW_UINT8] = 6,    [TW_UINT16] = 7,   [TW_UINT32] = 8,    [TW_UINT64] = 9,     [TW_FLOAT16] = 10,
        [TW_FLOAT32] = 11, [TW_FLOAT64] = 12, [TW_BFLOAT16] = 13, [TW_COMPLEX64] = 14, [TW_COMPLEX128] = 15,
    };
    return (unsigned)dtype < TW_DTYPE_LIMIT ? numbers[dtype] : 0;
}

bool tw__pjrt_has_dtype(tw_dtype dtype)
{
    return type_number(dtype) != 0;
}

/* Takes the memory of a value, or refuses. */
static tw_status account(tw__remote *remote)
{
    int64_t count = 0, bytes;
    if (remote->bytes)
        return TW_OK;
    TW_TRY(tw__shape_count(&remote->shape, &count));
    if (__builtin_mul_overflow(count, (int64_t)tw__element_size(remote->dtype), &bytes))
        return tw__fail(TW_RESOURCE_EXHAUSTED, "a tensor of shape %s is too large", tw__shape_text(&remote->shape));
    int64_t now = atomic_fetch_add(&places[remote->device].now, bytes) + bytes;
    if (now > places[remote->device].limit) {
        atomic_fetch_sub(&places[remote->device].now, bytes);
        return tw__fail(
            TW_RESOURCE_EXHAUSTED,
            "OOM when allocating tensor with shape%s and type %s on device %d: its limit is %lld bytes, %lld are in use",
            tw__shape_text(&remote->shape), tw__dtype_text(remote->dtype), remote->device,
            (long long)places[remote->device].limit, (long long)(now - bytes));
    }
    remote->bytes = bytes;
    int64_t peak = atomic_load(&places[remote->device].peak);
    while (now > peak && !atomic_compare_exchange_weak(&places[remote->device].peak, &peak, now))
        ;
    return TW_OK;
}

static void drop_buffer(tw__remote *remote)
{
    atomic_fetch_sub(&places[remote->device].now, remote->bytes);
    remote->bytes = 0;
    if (remote->buffer) {
        handle_args args = { .handle = remote->buffer };
        CALL(BUFFER_DESTROY, &args);
    }
    remote->buffer = NULL;
}

static void remote_destroy(void *self)
{
    drop_buffer(self);
}

const tw_class tw__remote_class = { .name = "Remote", .size = sizeof(tw__remote), .destroy = remote_destroy };

tw__remote *tw__remote_new(tw_dtype dtype, const tw_shape *shape, int device)
{
    tw__remote *remote = tw__object_new(&tw__remote_class);
    if (remote) {
        remote->dtype = dtype;
        remote->shape = *shape;
        remote->device = device;
    }
    return remote;
}

tw__remote *tw__remote_put(const tw_tensor *tensor, int device)
{
    tw__remote *remote = tw__remote_new(tensor->dtype, &tensor->shape, device);
    if (!remote || account(remote) != TW_OK) {
        tw_release(remote);
        return NULL;
    }
    enum { COPY_AT_ONCE };
    put_args args = { .client = plugin.client,
                      .data = tensor->data,
                      .type = type_number(tensor->dtype),
                      .dims = tensor->shape.dims,
                      .rank = (size_t)tensor->shape.rank,
                      .semantics = COPY_AT_ONCE,
                      .device = plugin.devices[places[device].number] };
    if (check(CALL(BUFFER_FROM_HOST, &args), "copying to a device") != TW_OK ||
        wait_for(args.done, "copying to a device") != TW_OK) {
        tw_release(remote);
        return NULL;
    }
    remote->buffer = args.buffer;
    atomic_fetch_add(&put_count, 1);
    return remote;
}

tw_tensor *tw__remote_get(const tw__remote *remote)
{
    if (!remote->buffer) {
        tw__fail(TW_INTERNAL, "a value on a device was given away");
        return NULL;
    }
    tw_tensor *tensor = tw__tensor_empty(remote->dtype, &remote->shape);
    if (!tensor)
        return NULL;
    get_args args = { .buffer = remote->buffer, .data = tensor->data, .data_size = tw_tensor_bytes(tensor) };
    if (tw_tensor_bytes(tensor) && (check(CALL(BUFFER_TO_HOST, &args), "copying from a device") != TW_OK ||
                                    wait_for(args.event, "copying from a device") != TW_OK)) {
        tw_release(tensor);
        return NULL;
    }
    atomic_fetch_add(&got_count, 1);
    return tensor;
}

tw__remote *tw__remote_of(tw_tensor *tensor, int device)
{
    tw__remote *kept = tw__is(tensor->object.config, &tw__remote_class) ? tensor->object.config : NULL;
    return kept && kept->buffer && kept->device == device ? tw_retain(kept) : tw__remote_put(tensor, device);
}

void tw__remote_keep(tw_tensor *tensor, tw__remote *remote)
{
    if (!tensor->object.config)
        tensor->object.config = tw_retain(remote);
}

tw__pjrt_counts tw__pjrt_count(void)
{
    return (tw__pjrt_counts){ atomic_load(&put_count), atomic_load(&got_count), atomic_load(&run_count),
                              atomic_load(&compile_count) };
}

/* ---- programs ---- */

static void executable_destroy(void *self)
{
    tw__executable *executable = self;
    handle_args args = { .handle = executable->loaded };
    if (executable->loaded)
        CALL(LOADED_DESTROY, &args);
}

static const tw_class executable_class = { .name = "Executable", .size = sizeof(tw__executable), .destroy = executable_destroy };

tw__executable *tw__pjrt_compile(const char *text, size_t size)
{
    /* One replica, one partition, for whichever device it is run on. */
    static const char options[] = "\x1a\x0f\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01\x20\x01\x28\x01\x20\x01";
    program source = { .size = 48, .code = text, .code_size = size, .format = "mlir", .format_size = 4 };
    compile_args args = { .client = plugin.client, .source = &source, .options = options, .options_size = sizeof options - 1 };
    tw__executable *executable = tw__object_new(&executable_class);
    if (executable && check(CALL(CLIENT_COMPILE, &args), "compiling") == TW_OK) {
        executable->loaded = args.loaded;
        atomic_fetch_add(&compile_count, 1);
        return executable;
    }
    tw_release(executable);
    return NULL;
}

tw_status tw__pjrt_execute(tw__executable *executable, tw__remote *const *arguments, int argument_count, tw__remote **results,
                           int result_count, int device)
{
    tw__owned void **in = tw__alloc_array((size_t)argument_count + 1, sizeof *in);
    tw__owned void **out = tw__alloc_array((size_t)result_count + 1, sizeof *out);
    TW_NEED(in && out);
    for (int i = 0; i < argument_count; i++)
        in[i] = arguments[i]->buffer;
    void *const *all_in[] = { in };
    void **all_out[] = { out };
    void *done[1] = { NULL };
    execute_options options = { .size = sizeof options };
    execute_args args = { .loaded = executable->loaded,
                          .options = &options,
                          .arguments = all_in,
                          .device_count = 1,
                          .argument_count = (size_t)argument_count,
                          .results = all_out,
                          .done = done,
                          .device = plugin.devices[places[device].number] };
    for (int i = 0; i < result_count; i++)
        TW_TRY(account(results[i]));
    TW_TRY(check(CALL(LOADED_EXECUTE, &args), "running a program"));
    atomic_fetch_add(&run_count, 1);
    for (int i = 0; i < result_count; i++)
        results[i]->buffer = out[i];
    return wait_for(done[0], "running a program");
}
