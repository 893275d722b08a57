/* Checkpoints of variables in graphs, whose values are a session's: what a save is to read is put into the variables themselves
 * before it, and what a restore left there is kept until a session asks for it. Before and after, a variable holds what it held.
 */
#include "saving/saving.h"
#include "session/session.h"

struct tw_graph_values {
    tw_object object;
    tw_variable **variables; /* of graphs, under the checkpoint; references */
    tw_tensor **values;      /* what they held, and don't hold now; NULL: nothing */
    int64_t count;
};

static void values_destroy(void *self)
{
    tw_graph_values *values = self;
    for (int64_t i = 0; i < values->count; i++) {
        tw_release(values->variables[i]);
        tw_release(values->values[i]);
    }
    tw__free(values->variables);
    tw__free(values->values);
}

static tw_status values_init(void *self, const void *given)
{
    tw_graph_values *values = self;
    const tw_checkpoint *checkpoint = ((const tw_graph_values_args *)given)->checkpoint;
    tw__saving_view view = tw__checkpoint_view(checkpoint);
    tw__auto(tw__walk_free) tw__object_walk walk = { 0 };
    TW_TRY(tw__walk_objects(&walk, &view));
    values->variables = tw__alloc_array(walk.count + 1, sizeof *values->variables);
    values->values = tw__alloc_array(walk.count + 1, sizeof *values->values);
    TW_NEED(values->variables && values->values);
    for (size_t i = 0; i < walk.count; i++) {
        tw_variable *variable = (tw_variable *)walk.nodes[i].object;
        if (!tw__holds_value(walk.nodes[i].object) || !variable->graph)
            continue;
        values->variables[values->count] = tw_retain(variable);
        values->values[values->count++] = tw__resource_take(variable->resource);
    }
    return TW_OK;
}

TW_CLASS(graph_values, "train._GraphValues(checkpoint: checkpoint)", .size = sizeof(tw_graph_values), .init = values_init,
         .destroy = values_destroy, .drop_config = true, .doc = "What a checkpoint's variables of graphs hold, taken from them.");

TW_PROPERTY(graph_values_count, "train._GraphValues._count(self: graph_values) -> int", "How many variables of graphs there are.")
{
    return args->self->count;
}

static tw_status put(tw_variable *variable, tw_tensor *value)
{
    if (value)
        return tw__resource_assign(variable->resource, value);
    tw_release(tw__resource_take(variable->resource));
    return TW_OK;
}

TW_METHOD(graph_values_give, "train._GraphValues._give(self: graph_values)", "The variables hold again what they held.")
{
    for (int64_t i = 0; i < args->self->count; i++)
        TW_TRY(put(args->self->variables[i], args->self->values[i]));
    return TW_OK;
}

TW_METHOD(graph_values_load, "train._GraphValues._load(self: graph_values, session: session, checkpoint: checkpoint)",
          "The variables hold what they are in a session. A counter of saves that was not initialized is 0.")
{
    for (int64_t i = 0; i < args->self->count; i++) {
        tw_variable *variable = args->self->variables[i];
        tw__resource *there = tw__session_resource(args->session, variable);
        TW_NEED(there);
        bool own = there == variable->resource, counter = variable == args->checkpoint->counter;
        tw_tensor *value = own ? tw_retain(args->self->values[i]) : counter && !there->value ? NULL : tw__resource_read(there);
        if (!value && counter)
            value = tw_tensor_int64(0);
        else if (!value && own)
            (void)tw__resource_read(there); /* says that it is not initialized */
        tw_status status = value ? tw__resource_assign(variable->resource, value) : tw__error_status();
        tw_release(value);
        TW_TRY(status);
    }
    return TW_OK;
}

TW_METHOD(graph_values_finish, "train._GraphValues._finish(self: graph_values, session: session, checkpoint: checkpoint)",
          "After a save: the counter goes on in the session; the other variables hold again what they held.")
{
    for (int64_t i = 0; i < args->self->count; i++) {
        tw_variable *variable = args->self->variables[i];
        tw__resource *there = tw__session_resource(args->session, variable);
        bool counts = there && variable == args->checkpoint->counter && tw__resource_has_value(variable->resource);
        tw_auto tw_tensor *counted = counts ? tw__resource_read(variable->resource) : NULL;
        TW_TRY(put(variable, args->self->values[i]));
        if (counted)
            TW_TRY(tw__resource_assign(there, counted));
    }
    return TW_OK;
}

TW_METHOD(graph_values_store, "train._GraphValues._store(self: graph_values, session: session, initialize: bool = False)",
          "After a restore: a session's variables get what was restored; if asked, the others their first values.")
{
    for (int64_t i = 0; i < args->self->count; i++) {
        tw_variable *variable = args->self->variables[i];
        tw__resource *there = tw__session_resource(args->session, variable);
        TW_NEED(there);
        if (args->self->values[i]) {
            TW_TRY(tw__resource_assign(there, args->self->values[i]));
        } else if (args->initialize && variable->initializer) {
            tw_auto tw_operation *first = tw__operation_of(variable->initializer);
            tw_tensors none = first ? tw_session_run(args->session, TW_OBJECTS(first)) : (tw_tensors){ 0 };
            tw_tensors_free(&none);
            TW_TRY(tw_error_code());
        }
    }
    return TW_OK;
}
