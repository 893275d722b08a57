/* tf.distribute.Strategy, MirroredStrategy, OneDeviceStrategy: which devices there are replicas on, and the thread's scope. */
#include "cluster/cluster.h"
#include "distribute/distribute.h"
#include "rows.h"
#include "spec/spec.h"

_Thread_local tw__strategy_level *tw__strategy_top;

/* ---- the thread's scope ---- */

tw_strategy *tw__strategy_now(void)
{
    return tw__strategy_top ? tw__strategy_top->strategy : NULL;
}

tw_status tw__strategy_push(tw_strategy *strategy)
{
    tw__strategy_level *level = tw__alloc(sizeof *level);
    TW_NEED(level);
    *level = (tw__strategy_level){ tw_retain(strategy), tw__strategy_top };
    tw__strategy_top = level;
    tw__replicas = tw__strategy_replicas(strategy);
    return TW_OK;
}

void tw__strategy_pop(void)
{
    tw__strategy_level *level = tw__strategy_top;
    if (!level)
        return;
    tw__strategy_top = level->outer;
    tw__replicas = level->outer ? tw__strategy_replicas(level->outer->strategy) : 1;
    tw_release(level->strategy);
    tw__free(level);
}

/* ---- devices ---- */

static void strategy_destroy(void *self)
{
    tw_strategy *strategy = self;
    for (int i = 0; i < strategy->count; i++)
        tw__free(strategy->devices[i]);
    tw__free(strategy->devices);
}

/* "cpu:1" as "/job:localhost/replica:0/task:0/device:CPU:1". */
static char *whole_name(const char *text)
{
    tw__device_name name, local;
    if (tw__device_parse(text, &name) != TW_OK ||
        tw__device_parse("/job:localhost/replica:0/task:0/device:CPU:0", &local) != TW_OK)
        return NULL;
    if (name.index == TW__DEVICE_ANY)
        name.index = 0;
    return tw__device_text(tw__device_merge(local, name));
}

static tw_status add_device(tw_strategy *strategy, const char *text)
{
    char **grown = tw__realloc(strategy->devices, ((size_t)strategy->count + 1) * sizeof *grown);
    TW_NEED(grown);
    strategy->devices = grown;
    char *name = whole_name(text);
    TW_NEED(name);
    grown[strategy->count++] = name;
    return TW_OK;
}

/* All accelerators, or if there are none all logical devices of the processor. */
static tw_status add_all(tw_strategy *strategy)
{
    TW_TRY(tw__devices_use());
    const char *type = tw__accelerator_type();
    for (int64_t i = 0; type && i < tw__devices_of((tw_string){ type, strlen(type) }); i++) {
        tw__owned char *name = tw__place_text(TW__ACCELERATOR + (uint32_t)i);
        TW_NEED(name);
        TW_TRY(add_device(strategy, name));
    }
    if (strategy->count)
        return TW_OK;
    tw__owned char *list = tw__device_list_text("\n");
    TW_NEED(list);
    for (char *at = list, *rest; at && *at; at = rest) {
        rest = strchr(at, '\n');
        if (rest)
            *rest++ = 0;
        TW_TRY(add_device(strategy, at));
        if (!rest)
            break;
    }
    return TW_OK;
}

static tw_status add_listed(tw_strategy *strategy, const tw_tensor *devices)
{
    int64_t count = 0;
    TW_TRY(tw__shape_count(&devices->shape, &count));
    if (devices->dtype != TW_STRING || devices->shape.rank != 1 || devices->node)
        return tw__fail(TW_TYPE_ERROR, "%s: the argument `devices` is to be a list of names of devices", tw_class_name(strategy));
    for (int64_t i = 0; i < count; i++) {
        tw_string item = tw_tensor_string_at(devices, i);
        tw__owned char *text = tw__strndup(item.data, item.size);
        tw_status status = text ? add_device(strategy, text) : tw__error_status();
        TW_TRY(status);
    }
    return TW_OK;
}

/* "('/job:…/device:CPU:0', '/job:…')", as Python writes a tuple. */
static char *devices_text(const tw_strategy *strategy)
{
    tw__text text = { 0 };
    for (int i = 0; i < strategy->count; i++)
        tw__text_format(&text, "%s'%s'", i ? ", " : "(", strategy->devices[i]);
    tw__text_add(&text, strategy->count == 1 ? ",)" : ")");
    return tw__text_take(&text);
}

static tw_status check_different(const tw_strategy *strategy)
{
    for (int i = 0; i < strategy->count; i++) {
        for (int j = 0; j < i; j++) {
            if (strcmp(strategy->devices[i], strategy->devices[j]) != 0)
                continue;
            tw__owned char *text = devices_text(strategy);
            tw_status status = tw__fail(TW_ASSERTION_ERROR, "No duplicates allowed in `devices` argument: %s", text ? text : "");
            return status;
        }
    }
    return TW_OK;
}

/* ---- classes ---- */

static tw_status strategy_init(void *self, const void *args)
{
    (void)args;
    if (((tw_object *)self)->class == &tw__class_strategy)
        return tw__fail(TW_TYPE_ERROR, "Strategy can't be made by itself: use MirroredStrategy or OneDeviceStrategy");
    return TW_OK;
}

TW_CLASS(strategy, "distribute.Strategy()", .size = sizeof(tw_strategy), .init = strategy_init, .destroy = strategy_destroy,
         .drop_config = true, .doc = "Where a program's replicas run, and which variables have a copy for each.");

struct tw_mirrored_strategy {
    tw_strategy strategy;
};

static tw_status mirrored_init(void *self, const void *given)
{
    const tw_mirrored_strategy_args *args = given;
    tw_strategy *strategy = self;
    TW_TRY(args->devices ? add_listed(strategy, args->devices) : add_all(strategy));
    TW_TRY(check_different(strategy));
    strategy->mirrors = true;
    tw__mirrors_start();
    char *text = devices_text(strategy);
    if (text)
        tw__log("INFO", "Using MirroredStrategy with devices %s", text);
    tw__free(text);
    return text ? TW_OK : TW_RESOURCE_EXHAUSTED;
}

TW_CLASS(mirrored_strategy, "distribute.MirroredStrategy(devices: tensor<string> = None)", .parent = &tw__class_strategy,
         .size = sizeof(struct tw_mirrored_strategy), .init = mirrored_init, .drop_config = true,
         .doc = "One replica on each of several devices; variables have a copy on each, and gradients are summed over them.\n"
                "devices: the names of the devices; None: all that there are");

struct tw_tpu_strategy {
    tw_strategy strategy;
};

static tw_status tpu_init(void *self, const void *given)
{
    (void)given;
    tw_strategy *strategy = self;
    TW_TRY(tw__devices_use());
    const char *type = tw__accelerator_type();
    if (!type || strcmp(type, "TPU") != 0)
        return tw__fail(TW_NOT_FOUND, "TPUs not found in the cluster: no PJRT plug-in has any");
    TW_TRY(add_all(strategy));
    strategy->mirrors = true;
    tw__mirrors_start();
    return TW_OK;
}

TW_CLASS(tpu_strategy, "distribute._TPUStrategy()", .parent = &tw__class_strategy, .size = sizeof(struct tw_tpu_strategy),
         .init = tpu_init, .drop_config = true,
         .doc = "One replica on each TPU; variables have a copy on each, and gradients are summed over them.");

struct tw_multi_worker_mirrored_strategy {
    tw_strategy strategy;
    tw__cluster *cluster;
};

static void multi_worker_destroy(void *self)
{
    tw_release(((struct tw_multi_worker_mirrored_strategy *)self)->cluster);
}

static tw_status multi_worker_init(void *self, const void *given)
{
    const tw_multi_worker_mirrored_strategy_args *args = given;
    struct tw_multi_worker_mirrored_strategy *own = self;
    tw_strategy *strategy = self;
    int64_t count = args->workers->count;
    if (args->workers->dtype != TW_STRING || args->workers->shape.rank != 1 || args->workers->node || count < 1)
        return tw__fail(TW_TYPE_ERROR,
                        "MultiWorkerMirroredStrategy: the argument `workers` is to be a list of addresses, host:port");
    if (args->timeout <= 0 || args->timeout > 1e6)
        return tw__fail(TW_VALUE_ERROR, "MultiWorkerMirroredStrategy: a timeout of seconds was expected, got %g", args->timeout);
    tw__owned char **list = tw__alloc_array((size_t)count, sizeof *list);
    TW_NEED(list);
    bool good = true;
    for (int64_t i = 0; i < count; i++) {
        tw_string item = tw_tensor_string_at(args->workers, i);
        good = (list[i] = tw__strndup(item.data, item.size)) && good;
    }
    tw__cluster_use(NULL); /* the one before, if there was one, ends */
    own->cluster =
        good ? tw__cluster_join((const char *const *)list, (int)count, (int)args->index, (int)(args->timeout * 1000)) : NULL;
    for (int64_t i = 0; i < count; i++)
        tw__free(list[i]);
    TW_NEED(own->cluster);
    tw__cluster_use(own->cluster);
    TW_TRY(add_all(strategy));
    strategy->mirrors = true;
    strategy->rank = (int)args->index;
    strategy->workers = (int)count;
    tw__mirrors_start();
    return TW_OK;
}

TW_CLASS(
    multi_worker_mirrored_strategy,
    "distribute._MultiWorkerMirroredStrategy(workers: tensor<string>, index: int, timeout: float = 60.0)",
    .parent = &tw__class_strategy, .size = sizeof(struct tw_multi_worker_mirrored_strategy), .init = multi_worker_init,
    .destroy = multi_worker_destroy, .drop_config = true,
    .doc =
        "Replicas in several processes, which may be on several machines; variables have a copy in each, and gradients are summed "
        "over all.\n"
        "workers: the addresses of all processes, host:port\n"
        "index: which of them this process is\n"
        "timeout: after so many seconds without a sign a process counts as gone");

struct tw_one_device_strategy {
    tw_strategy strategy;
};

static tw_status one_device_init(void *self, const void *given)
{
    return add_device(self, ((const tw_one_device_strategy_args *)given)->device);
}

TW_CLASS(one_device_strategy, "distribute.OneDeviceStrategy(device: str)", .parent = &tw__class_strategy,
         .size = sizeof(struct tw_one_device_strategy), .init = one_device_init, .drop_config = true,
         .doc = "One replica on one device.");

TW_PROPERTY(strategy_num_replicas_in_sync, "distribute.Strategy.num_replicas_in_sync(self: strategy) -> int",
            "How many replicas there are: gradients are summed over so many.")
{
    return tw__strategy_replicas(args->self);
}

TW_PROPERTY(strategy_here, "distribute.Strategy._here(self: strategy) -> value",
            "How many replicas this process has, the number of the process, and how many there are.")
{
    const int64_t numbers[] = { args->self->count, args->self->rank, args->self->workers ? args->self->workers : 1 };
    tw_value list = { .kind = TW_VALUE_TUPLE, .list = { tw__alloc_array(3, sizeof(tw_value)), 0 } };
    for (int i = 0; list.list.items && i < 3; i++)
        list.list.items[list.list.count++] = (tw_value){ .kind = TW_VALUE_INT, .i = numbers[i] };
    return list;
}

TW_PROPERTY(strategy_devices, "distribute.Strategy._devices(self: strategy) -> value", "The whole names of the devices.")
{
    tw_value list = { .kind = TW_VALUE_TUPLE, .list = { tw__alloc_array((size_t)args->self->count + 1, sizeof(tw_value)), 0 } };
    for (; list.list.items && list.list.count < args->self->count; list.list.count++) {
        const char *text = args->self->devices[list.list.count];
        char *own = tw__strdup(text);
        if (!own) {
            tw_value_free(&list);
            return (tw_value){ .kind = TW_VALUE_NONE };
        }
        list.list.items[list.list.count] = (tw_value){ .kind = TW_VALUE_STR, .s = { own, strlen(own) } };
    }
    return list;
}

TW_METHOD(strategy_enter, "distribute.Strategy._enter(self: strategy)",
          "Begins the strategy's scope: variables that the thread makes are its.")
{
    tw_strategy *now = tw__strategy_now();
    if (now && now != args->self)
        return tw__fail(TW_RUNTIME_ERROR, "Mixing different tf.distribute.Strategy objects: %s is not %s", tw_class_name(now),
                        tw_class_name(args->self));
    return tw__strategy_push(args->self);
}

TW_METHOD(strategy_exit, "distribute.Strategy._exit(self: strategy)", "Ends the strategy's scope.")
{
    if (tw__strategy_now() != args->self)
        return tw__fail(TW_RUNTIME_ERROR, "%s: its scope is not the innermost one of this thread", tw_class_name(args->self));
    tw__strategy_pop();
    return TW_OK;
}

TW_API(strategy_current, "distribute._current() -> strategy", "The strategy whose scope the thread is in; None: none.")
{
    return tw_retain(tw__strategy_now());
}

TW_API(replica_now, "distribute._replica() -> int", "The replica that the thread is; -1: it is none.")
{
    return tw__replica;
}

int tw_replica_id(void)
{
    return tw__replica;
}
