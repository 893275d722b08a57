/* compat.v1.train.Saver: variables by their names into checkpoint files and back, and the newest few checkpoints kept.
 *
 * In a graph the Saver is nodes (saver_nodes.c). Eagerly the same ops run at once. */
#include <math.h>

#include "format/bundle/bundle.h"
#include "v1/saver.h"

static void saver_clear(void *self)
{
    tw_v1_saver *saver = self;
    for (int64_t i = 0; i < saver->count; i++)
        tw__set(&saver->variables[i], NULL);
    tw__set(&saver->graph, NULL);
    tw__set(&saver->filename, NULL);
    tw__set(&saver->saved, NULL);
    tw__set(&saver->restore, NULL);
}

static void saver_destroy(void *self)
{
    tw_v1_saver *saver = self;
    saver_clear(self);
    tw__saver_forget(saver);
    tw__free(saver->last);
    for (int64_t i = 0; saver->names && i < saver->count; i++)
        tw__free(saver->names[i]);
    tw__free(saver->names);
    tw__free(saver->variables);
    tw__free(saver->scope);
}

static void saver_visit(void *self, tw__visitor visitor, void *context)
{
    tw_v1_saver *saver = self;
    for (int64_t i = 0; i < saver->count; i++) {
        if (saver->variables[i])
            visitor(context, (tw_object *)saver->variables[i]);
    }
    tw_object *held[] = { (tw_object *)saver->filename, (tw_object *)saver->saved, (tw_object *)saver->restore };
    for (size_t i = 0; i < sizeof held / sizeof *held; i++) {
        if (held[i])
            visitor(context, held[i]);
    }
}

/* ---- making ---- */

/* `names` are separated by line ends. */
static tw_status take_variables(tw_v1_saver *saver, const char *names, const tw_objects *variables)
{
    int64_t count = variables->count;
    int64_t given = count > 0;
    for (const char *c = names; *c; c++)
        given += *c == '\n';
    if (given != count)
        return tw__fail(TW_INVALID_ARGUMENT, "Saver: %lld names were expected, got %lld", (long long)count, (long long)given);
    saver->names = tw__alloc_array((size_t)count + 1, sizeof *saver->names);
    saver->variables = tw__alloc_array((size_t)count + 1, sizeof *saver->variables);
    TW_NEED(saver->names && saver->variables);
    for (int64_t i = 0; i < count; i++) { /* sorted by name */
        if (!tw__is(variables->items[i], &tw__class_variable))
            return tw__fail(TW_TYPE_ERROR, "Variable to save is not a Variable: item %lld", (long long)i);
        size_t size = strcspn(names, "\n");
        char *copy = tw__strndup(names, size);
        names += size + (names[size] == '\n');
        TW_NEED(copy);
        int64_t at = saver->count++;
        for (; at > 0 && strcmp(saver->names[at - 1], copy) > 0; at--) {
            saver->names[at] = saver->names[at - 1];
            saver->variables[at] = saver->variables[at - 1];
        }
        saver->names[at] = copy;
        saver->variables[at] = tw_retain(variables->items[i]);
    }
    for (int64_t i = 1; i < count; i++) {
        if (strcmp(saver->names[i - 1], saver->names[i]) == 0 && !saver->variables[i]->slice)
            return tw__fail(TW_VALUE_ERROR, "At least two variables have the same name: %s", saver->names[i]);
    }
    return TW_OK;
}

static tw_status saver_init(void *self, const void *given)
{
    const tw_v1_saver_args *args = given;
    tw_v1_saver *saver = self;
    TW_TRY(take_variables(saver, args->names, &args->variables));
    saver->max_to_keep = args->max_to_keep == TW_NO_INT || args->max_to_keep < 0 ? 0 : args->max_to_keep;
    saver->hours = args->keep_checkpoint_every_n_hours;
    saver->sharded = args->sharded;
    saver->next_time = tw__saving_clock() + saver->hours * 3600;
    tw__graph *graph = saver->count ? saver->variables[0]->graph : NULL;
    for (int64_t i = 0; i < saver->count; i++) {
        if (saver->variables[i]->graph != graph)
            return tw__fail(TW_VALUE_ERROR, "Saver: variables %s and %s are not of one graph", saver->variables[0]->name,
                            saver->variables[i]->name);
    }
    if (!graph)
        return TW_OK;
    saver->graph = tw_retain(graph);
    tw__graph *before = tw__tracing;
    tw__tracing = graph;
    tw_status status = tw__saver_add_nodes(saver, args->name, args->filename);
    tw__tracing = before;
    return status;
}

TW_CLASS(
    v1_saver,
    "compat.v1.train._Saver(names: str, variables: list<variable>, max_to_keep: int = 5, keep_checkpoint_every_n_hours: float = 10000.0, "
    "name: str = None, filename: str = None, sharded: bool = False)",
    .size = sizeof(tw_v1_saver), .init = saver_init, .destroy = saver_destroy, .visit = saver_visit, .clear = saver_clear,
    .drop_config = true, .doc = "Saves variables under names, and restores them.");

/* ---- saving and restoring ---- */

static tw_status check_session(const tw_v1_saver *saver, const tw_session *session)
{
    if (!saver->graph || (session && tw__session_graph(session) == saver->graph))
        return TW_OK;
    return session ? tw__fail(TW_VALUE_ERROR, "Saver: the session is of another graph than the variables")
                   : tw__fail(TW_TYPE_ERROR, "'sess' must be a Session; None");
}

static tw_status save_eagerly(const tw_v1_saver *saver, const char *prefix)
{
    tw__bundle_writer *writer = tw__bundle_create(prefix);
    tw_status status = writer ? TW_OK : tw__error_status();
    for (int64_t i = 0; status == TW_OK && i < saver->count; i++) {
        tw_auto tw_tensor *value = tw__resource_read(saver->variables[i]->resource);
        const char *part = saver->variables[i]->slice;
        tw__slice slice;
        status = !value ? tw__error_status() : part ? tw__slice_parse(part, &slice) : TW_OK;
        if (status == TW_OK)
            status = part ? tw__bundle_add_slice(writer, saver->names[i], value, &slice)
                          : tw__bundle_add(writer, saver->names[i], value);
    }
    if (status == TW_OK)
        return tw__bundle_finish(writer);
    tw__bundle_abandon(writer);
    return status;
}

TW_METHOD(v1_saver_write, "compat.v1.train._Saver._write(self: v1_saver, session: session = None, prefix: str = None)",
          "Writes the variables to files that begin with the prefix.")
{
    tw_v1_saver *saver = args->self;
    const char *prefix = args->prefix ? args->prefix : "";
    TW_TRY(check_session(saver, args->session));
    if (!saver->graph)
        return save_eagerly(saver, prefix);
    tw_auto tw_tensor *path = tw_tensor_string(prefix, strlen(prefix));
    TW_NEED(path);
    tw_tensors results =
        tw_session_run(args->session, TW_OBJECTS(saver->saved), .feeds = TW_TENSORS(saver->filename), .values = TW_TENSORS(path));
    TW_NEED(results.items);
    tw_tensors_free(&results);
    return TW_OK;
}

static tw_status restore_eagerly(const tw_v1_saver *saver, const char *prefix)
{
    tw__bundle_reader *reader = tw__bundle_open(prefix);
    tw_status status = reader ? TW_OK : tw__error_status();
    for (int64_t i = 0; status == TW_OK && i < saver->count; i++) {
        const char *part = saver->variables[i]->slice;
        tw__slice slice;
        if (part && (status = tw__slice_parse(part, &slice)) != TW_OK)
            break;
        tw_auto tw_tensor *whole = tw__bundle_read(reader, saver->names[i]);
        tw_auto tw_tensor *value = !whole ? NULL : part ? tw__slice_cut(saver->names[i], whole, &slice) : tw_retain(whole);
        status = value ? tw__resource_assign(saver->variables[i]->resource, value) : tw__error_status();
    }
    tw__bundle_close(reader);
    return status;
}

TW_METHOD(v1_saver_read, "compat.v1.train._Saver._read(self: v1_saver, session: session = None, prefix: str = None)",
          "Gives the variables the values in the files that begin with the prefix.")
{
    tw_v1_saver *saver = args->self;
    const char *prefix = args->prefix ? args->prefix : "";
    TW_TRY(check_session(saver, args->session));
    if (!saver->graph)
        return restore_eagerly(saver, prefix);
    tw_auto tw_tensor *path = tw_tensor_string(prefix, strlen(prefix));
    TW_NEED(path);
    tw__auto(tw_tensors_free) tw_tensors results =
        tw_session_run(args->session, TW_OBJECTS(saver->restore), .feeds = TW_TENSORS(saver->filename),
                       .values = TW_TENSORS(path));
    return tw_error_code();
}
