/* Copies of variables on the devices of a strategy: mirrored ones, which are equal at all times, and those that are brought
 * together when they are read (synchronization ON_READ). What a variable says of itself (synchronization, aggregation) is looked
 * at when it is used. */
#include <stdatomic.h>

#include "api/api.h"
#include "cluster/cluster.h"
#include "distribute/distribute.h"
#include "graph/graph.h"
#include "op/calls.h"
#include "rows.h"

static tw__lock list_lock = TW__LOCK;
static tw_variable *first; /* of all variables with copies */

/* ---- the object ---- */

static void mirror_destroy(void *self)
{
    tw__mirror *mirror = self;
    for (int i = 0; mirror->handles && i < mirror->count; i++)
        tw_release(mirror->handles[i]);
    tw__free(mirror->handles);
    tw_release(mirror->strategy);
}

static const tw_class mirror_class = { .name = "Mirror", .size = sizeof(tw__mirror), .destroy = mirror_destroy };

static void use_copy(tw_variable *variable, int number)
{
    tw__set(&variable->handle, variable->mirror->handles[number]);
    variable->resource = tw__resource_of(variable->handle);
}

static void link_in(tw_variable *variable, tw__mirror *mirror)
{
    variable->mirror = mirror;
    if (variable->synchronization == TW_SYNCHRONIZE_AUTO)
        variable->synchronization = TW_SYNCHRONIZE_ON_WRITE;
    tw__lock_take(&list_lock);
    variable->next_mirrored = first;
    if (first)
        first->previous_mirrored = variable;
    first = variable;
    tw__lock_give(&list_lock);
}

static void ended(tw_variable *variable)
{
    tw__lock_take(&list_lock);
    if (variable->previous_mirrored)
        variable->previous_mirrored->next_mirrored = variable->next_mirrored;
    else if (first == variable)
        first = variable->next_mirrored;
    if (variable->next_mirrored)
        variable->next_mirrored->previous_mirrored = variable->previous_mirrored;
    tw__lock_give(&list_lock);
    tw_auto tw__mirror *mirror = variable->mirror;
    for (int i = 0; i < mirror->count; i++) {
        tw__resource *resource = tw__resource_of(mirror->handles[i]);
        if (resource->variable == variable)
            resource->variable = NULL;
    }
    variable->mirror = NULL;
}

void tw__mirrors_turn(const tw_strategy *strategy, int replica)
{
    tw__lock_take(&list_lock);
    for (tw_variable *variable = first; variable; variable = variable->next_mirrored) {
        if (variable->mirror->strategy == strategy)
            use_copy(variable, replica);
    }
    tw__lock_give(&list_lock);
}

/* ---- making ---- */

static tw_tensor *copy_of(tw_variable *variable, int number)
{
    const tw__resource *from = variable->resource;
    tw__owned char *name = tw__format("%s/replica_%d", from->name, number);
    tw_auto tw__resource *resource = name ? tw__resource_new(from->dtype, &from->shape, name) : NULL;
    tw_tensor *handle = NULL;
    if (resource && (!from->value || tw__resource_assign(resource, from->value) == TW_OK)) {
        resource->trainable = from->trainable;
        resource->variable = variable;
        handle = tw__tensor_of_object(TW_RESOURCE, resource);
    }
    return handle;
}

/* All workers begin with the value that the first one has. */
static tw_status agree(const tw_strategy *strategy, tw_variable *variable)
{
    tw__resource *resource = variable->resource;
    if (strategy->workers < 2 || !resource->value || tw__element_size(resource->dtype) == 0 || resource->dtype == TW_STRING)
        return TW_OK;
    tw_auto tw__cluster *cluster = tw__cluster_now();
    TW_NEED(cluster);
    tw_auto tw_tensor *value = tw__tensor_copy(resource->value);
    TW_NEED(value);
    TW_TRY(tw__cluster_broadcast(cluster, value->data, tw_tensor_bytes(value), 0));
    return tw__resource_assign(resource, value);
}

static tw_status made(tw_variable *variable)
{
    tw_strategy *strategy = tw__strategy_now();
    if (!strategy || !strategy->mirrors)
        return TW_OK;
    int replica = tw__replica;
    tw_variable *same = replica > 0 ? tw__run_made(tw__run_now, variable->resource->name, replica) : NULL;
    if (same) {
        variable->resource->variable = NULL;
        link_in(variable, tw_retain(same->mirror));
        use_copy(variable, replica);
        return TW_OK;
    }
    TW_TRY(agree(strategy, variable));
    tw__mirror *mirror = tw__object_new(&mirror_class);
    TW_NEED(mirror);
    mirror->strategy = tw_retain(strategy);
    mirror->handles = tw__alloc_array((size_t)strategy->count, sizeof *mirror->handles);
    bool good = mirror->handles != NULL;
    for (; good && mirror->count < strategy->count; mirror->count += good) {
        mirror->handles[mirror->count] = mirror->count ? copy_of(variable, mirror->count) : tw_retain(variable->handle);
        good = mirror->handles[mirror->count] != NULL;
    }
    if (!good) {
        tw_release(mirror);
        return tw__error_status();
    }
    for (int i = 0; i < mirror->count; i++)
        mirror->handles[i]->device = tw__device_place_of(strategy->devices[i]);
    link_in(variable, mirror);
    if (replica > 0)
        use_copy(variable, replica);
    return replica == 0 && strategy->count > 1 ? tw__run_note(tw__run_now, variable) : TW_OK;
}

/* ---- reading ---- */

static tw_tensor *read_copy(tw_tensor *handle, bool now)
{
    tw__resource *resource = tw__resource_of(handle);
    tw_attr dtype = TW_A_TYPE("dtype", resource->dtype);
    return now ? tw__resource_read(resource) : TW_CALL(ReadVariableOp, handle, dtype);
}

/* Whether a read outside of replicas is one of all copies. */
static bool is_summed(const tw_variable *variable)
{
    return tw__replica < 0 && tw__strategy_replicas(variable->mirror->strategy) > 1 &&
           variable->synchronization == TW_SYNCHRONIZE_ON_READ;
}

static tw_tensor *read(tw_variable *variable, bool now)
{
    const tw__mirror *mirror = variable->mirror;
    if (!is_summed(variable) || variable->aggregation == TW_AGGREGATE_ONLY_FIRST)
        return read_copy(variable->handle, now);
    if (variable->aggregation == TW_AGGREGATE_NONE) {
        tw__fail(TW_VALUE_ERROR,
                 "Could not convert from `tf.VariableAggregation` VariableAggregation.NONE to`tf.distribute.ReduceOp` type");
        return NULL;
    }
    tw__outside outside = { 0 };
    if (now)
        outside = tw__outside_begin();
    tw__owned tw_tensor **values = tw__alloc_array((size_t)mirror->count, sizeof *values);
    int count = 0;
    while (values && count < mirror->count && (values[count] = read_copy(mirror->handles[count], now)))
        count++;
    tw_tensor *whole = values && count == mirror->count
                           ? tw__replicas_reduce(mirror->strategy, variable->aggregation == TW_AGGREGATE_MEAN, values, count)
                           : NULL;
    while (count > 0)
        tw_release(values[--count]);
    if (now)
        tw__outside_end(outside);
    return whole;
}

/* ---- changing ---- */

/* What each copy gets of a value that is to be the sum of all. */
static tw_tensor *part_of(const tw_variable *variable, tw_tensor *value)
{
    int replicas = tw__strategy_replicas(variable->mirror->strategy);
    if (variable->aggregation != TW_AGGREGATE_SUM || variable->synchronization != TW_SYNCHRONIZE_ON_READ || replicas == 1)
        return tw_retain(value);
    tw_auto tw_tensor *count = tw_tensor_int64(replicas);
    tw_auto tw_tensor *number = count ? tw_cast(count, value->dtype) : NULL;
    tw_auto tw_tensor *part = number ? tw_truediv(value, number) : NULL;
    return part ? tw_cast(part, value->dtype) : NULL;
}

static tw_status set(tw_variable *variable, tw_tensor *value)
{
    tw__outside outside = tw__outside_begin();
    tw_auto tw_tensor *part = part_of(variable, value);
    tw_status status = part ? TW_OK : tw__error_status();
    for (int i = 0; status == TW_OK && i < variable->mirror->count; i++)
        status = tw__resource_assign(tw__resource_of(variable->mirror->handles[i]), part);
    tw__outside_end(outside);
    return status;
}

static tw_status apply_at(const tw_variable *variable, tw_tensor *handle, const tw_op *op, tw_tensor *value)
{
    tw_attr dtype = TW_A_TYPE("dtype", variable->resource->dtype);
    int outputs = 0;
    return tw__apply(op, TW_IN(handle, value), 2, &dtype, 1, NULL, &outputs);
}

static tw_status apply_everywhere(const tw_variable *variable, const tw_op *op, tw_tensor *value)
{
    for (int i = 0; i < variable->mirror->count; i++)
        TW_TRY(apply_at(variable, variable->mirror->handles[i], op, value));
    return TW_OK;
}

typedef struct change {
    tw_variable *variable;
    const tw_op *op;
    tw_tensor *value;
} change;

/* An assignment that all replicas make. */
static tw_status merge_changes(void *const *given, int count, __attribute__((unused)) void *context)
{
    const change *own = given[0];
    tw__owned tw_tensor **values = tw__alloc_array((size_t)count, sizeof *values);
    for (int i = 0; values && i < count; i++)
        values[i] = ((const change *)given[i])->value;
    uint8_t how = own->variable->aggregation;
    tw_auto tw_tensor *value = !values                          ? NULL
                               : how == TW_AGGREGATE_ONLY_FIRST ? tw_retain(values[0])
                                                                : tw__replicas_reduce(own->variable->mirror->strategy,
                                                                                      how == TW_AGGREGATE_MEAN, values, count);
    TW_NEED(value);
    return apply_everywhere(own->variable, own->op, value);
}

static tw_status update(tw_variable *variable, const tw_op *op, tw_tensor *value)
{
    bool on_read = variable->synchronization == TW_SYNCHRONIZE_ON_READ;
    if (tw__replica >= 0) {
        if (on_read || variable->aggregation == TW_AGGREGATE_NONE || tw__strategy_replicas(variable->mirror->strategy) == 1)
            return apply_at(variable, variable->handle, op, value);
        return tw_replica_merge(merge_changes, NULL, &(change){ variable, op, value });
    }
    if (!on_read || tw__strategy_replicas(variable->mirror->strategy) == 1)
        return apply_everywhere(variable, op, value);
    if (op->sums && variable->aggregation == TW_AGGREGATE_SUM)
        return tw__fail(TW_VALUE_ERROR,
                        "SyncOnReadVariable does not support `%s` in cross-replica context when aggregation is set to "
                        "`tf.VariableAggregation.SUM`.",
                        op->sums > 0 ? "assign_add" : "assign_sub");
    tw_auto tw_tensor *part = part_of(variable, value);
    return part ? apply_everywhere(variable, op, part) : tw__error_status();
}

void tw__mirrors_start(void)
{
    tw__mirror_hook = (tw__mirror_hooks){ .made = made, .ended = ended, .read = read, .set = set, .update = update };
}

/* ---- what users see ---- */

TW_PROPERTY(variable_mirror_kind, "Variable._mirror_kind(self: variable) -> str",
            "What a variable with copies is called; None: it has none.")
{
    return !args->self->mirror
               ? NULL
               : tw__strdup(args->self->synchronization == TW_SYNCHRONIZE_ON_READ ? "SyncOnReadVariable" : "MirroredVariable");
}

tw_variable *tw__mirror_component(const tw_variable *variable, int number)
{
    tw__resource *resource = tw__resource_of(variable->mirror->handles[number]);
    tw_variable *made_now = tw__object_new(&tw__class_variable);
    if (!made_now)
        return NULL;
    made_now->name = number ? tw__format("%s:0", resource->name) : tw__strdup(variable->name);
    made_now->synchronization = variable->synchronization;
    made_now->aggregation = variable->aggregation;
    made_now->trainable = variable->trainable;
    made_now->handle = tw_retain(variable->mirror->handles[number]);
    made_now->resource = resource;
    if (made_now->name)
        return made_now;
    tw_release(made_now);
    return NULL;
}

TW_PROPERTY(variable_components, "Variable._components(self: variable) -> list<variable>",
            "The copies on the devices of a strategy.")
{
    int count = args->self->mirror ? args->self->mirror->count : 0;
    void **items = tw__alloc_array((size_t)count + 1, sizeof *items);
    tw_objects list = { items, 0 };
    for (; items && list.count < count; list.count++) {
        if (!(items[list.count] = tw__mirror_component(args->self, (int)list.count))) {
            tw_objects_free(&list);
            return (tw_objects){ 0 };
        }
    }
    return list;
}

TW_METHOD(strategy_variable_created_in_scope, "distribute.Strategy._made(self: strategy, variable: variable) -> bool",
          "Whether the variable has a copy on each of this strategy's devices.")
{
    return args->variable->mirror && args->variable->mirror->strategy == args->self;
}
