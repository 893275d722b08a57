/* What restore() gives back: an object that says, when asked, whether everything found its place.
 *
 * Three classes as in TensorFlow: of a restore by object graph, of one by names, and of restore(None), which restores nothing.
 * The checks look at the objects as they are when asked, so they may succeed later than the restore. */
#include "saving/saving.h"

struct tw_load_status {
    tw_object object;
    tw__restore *restore; /* NULL for restore(None) */
    tw_checkpoint *checkpoint;
    tw_variable *optional; /* may be without a value in a file that goes by names */
};

static void status_clear(void *self)
{
    tw_load_status *status = self;
    tw__set(&status->checkpoint, NULL);
    tw__set(&status->optional, NULL);
}

static void status_destroy(void *self)
{
    tw_load_status *status = self;
    status_clear(self);
    tw_release(status->restore);
}

static void status_visit(void *self, tw__visitor visitor, void *context)
{
    tw_load_status *status = self;
    if (status->checkpoint)
        visitor(context, &status->checkpoint->trackable.object);
    if (status->optional)
        visitor(context, &status->optional->trackable.object);
}

static tw_status no_init(void *self, __attribute__((unused)) const void *args)
{
    return tw__fail(TW_TYPE_ERROR, "%s objects come from Checkpoint.restore and Checkpoint.read", tw_class_name(self));
}

TW_CLASS(load_status, "python.checkpoint.checkpoint._LoadStatus()", .size = sizeof(tw_load_status), .init = no_init,
         .destroy = status_destroy, .visit = status_visit, .clear = status_clear, .drop_config = true,
         .doc = "What a restore found.");

TW_CLASS(checkpoint_load_status, "python.checkpoint.checkpoint.CheckpointLoadStatus() -> load_status",
         .parent = &tw__class_load_status, .size = sizeof(tw_load_status), .drop_config = true,
         .doc = "What a restore by object graph found.");

TW_CLASS(name_based_saver_status, "python.checkpoint.checkpoint.NameBasedSaverStatus() -> load_status",
         .parent = &tw__class_load_status, .size = sizeof(tw_load_status), .drop_config = true,
         .doc = "What a restore from a file without an object graph found.");

TW_CLASS(initialization_only_status, "python.checkpoint.checkpoint.InitializationOnlyStatus() -> load_status",
         .parent = &tw__class_load_status, .size = sizeof(tw_load_status), .drop_config = true,
         .doc = "The status of restore(None), which restores nothing.");

tw_load_status *tw__status_new(tw__restore *restore, tw_checkpoint *checkpoint)
{
    const tw_class *class = !restore           ? &tw__class_initialization_only_status
                            : restore->by_name ? &tw__class_name_based_saver_status
                                               : &tw__class_checkpoint_load_status;
    tw_load_status *status = tw__object_new(class);
    if (!status)
        return NULL;
    status->restore = tw_retain(restore);
    status->checkpoint = tw_retain(checkpoint);
    return status;
}

void tw__status_optional(tw_load_status *status, tw_variable *variable)
{
    tw__set(&status->optional, variable);
}

/* ---- what objects are called in messages ---- */

/* The part of a tensor's repr that tells the value: "numpy=array([1., 2.], dtype=float32)". */
static char *value_text(tw_variable *variable)
{
    tw_tensor *value = tw__resource_read(variable->resource);
    tw__owned char *whole = value ? tw_tensor_repr(value) : NULL;
    tw_release(value);
    if (!whole)
        return NULL;
    const char *begin = strstr(whole, "numpy=");
    size_t size = begin ? strlen(begin) : 0;
    return tw__strndup(begin ? begin : "", size && begin[size - 1] == '>' ? size - 1 : size);
}

char *tw__trackable_repr(const tw_trackable *object)
{
    if (!tw__holds_value(object))
        return tw__format("<%s object>", tw_class_name(object));
    tw_variable *variable = (tw_variable *)object;
    tw__saved_error kept = tw__error_take();
    tw__owned char *shape = tw__shape_tuple(&variable->resource->shape);
    tw__owned char *value = value_text(variable);
    char *text = tw__format("<tf.Variable '%s' shape=%s dtype=%s, %s>", variable->name, shape ? shape : "",
                            tw_dtype_name(variable->resource->dtype), value ? value : "numpy=<unavailable>");
    tw_clear_error();
    tw__error_restore(kept);
    return text;
}

/* ---- the checks ---- */

static bool is_bound(const tw__restore *restore, const tw_trackable *object)
{
    const tw__waiting *waiting = object->pending;
    for (size_t i = 0; waiting && i < waiting->link_count; i++) {
        if (waiting->links[i].restore == restore)
            return true;
    }
    return false;
}

/* The variables under the root that nothing in the file is bound to: how many, and up to `limit` of them as text. */
static tw_status find_unmatched(tw_load_status *status, size_t limit, size_t *found, tw__text *text)
{
    tw__saving_view view = tw__checkpoint_view(status->checkpoint);
    tw__object_walk walk;
    tw_status result = tw__walk_objects(&walk, &view);
    *found = 0;
    for (size_t i = 0; result == TW_OK && i < walk.count; i++) {
        const tw_trackable *object = walk.nodes[i].object;
        if (!tw__attribute_of(object) || is_bound(status->restore, object) || ++*found > limit)
            continue;
        tw__owned char *name = tw__trackable_repr(object);
        tw__text_format(text, "%s%s", *found > 1 ? ", " : "", name ? name : "?");
    }
    tw__walk_free(&walk);
    return result != TW_OK ? result : text->failed ? tw__error_status() : TW_OK;
}

static tw_status check_existing(tw_load_status *status)
{
    tw__restore *restore = status->restore;
    tw__auto(tw__text_free) tw__text text = { 0 };
    for (size_t i = 0; i < restore->graph.count; i++) {
        if (restore->bound[i] && tw__restored_by(restore->bound[i]) < restore->uid) {
            tw__saved_node_print(&text, &restore->graph.nodes[i]);
            tw__fail(TW_ASSERTION_ERROR, "Object %s not assigned a value from checkpoint.", text.data ? text.data : "");
            return TW_ASSERTION_ERROR;
        }
    }
    size_t count = 0;
    tw_status result = find_unmatched(status, 10, &count, &text);
    if (result == TW_OK && count > 0)
        result =
            tw__fail(TW_ASSERTION_ERROR,
                     "Found %zu Python objects that were not bound to checkpointed values, likely due to changes in the Python "
                     "program. Showing %zu of %zu unmatched objects: [%s]",
                     count, count < 10 ? count : (size_t)10, count, text.data);
    return result;
}

static tw_status unresolved(const tw__restore *restore, size_t node)
{
    tw__saved_names names;
    tw__text name = { 0 }, text = { 0 };
    TW_TRY(tw__saved_names_find(&names, &restore->graph));
    tw__saved_name_add(&name, &names, node);
    tw__saved_node_print(&text, &restore->graph.nodes[node]);
    tw_status result = tw__fail(TW_ASSERTION_ERROR, "Unresolved object in checkpoint %s: %s", name.data, text.data);
    tw__text_free(&name);
    tw__text_free(&text);
    tw__saved_names_free(&names);
    return result;
}

static tw_status check_unused(const tw__restore *restore)
{
    if (restore->unused_count == 0)
        return TW_OK;
    tw__saved_names names;
    tw__text text = { 0 };
    TW_TRY(tw__saved_names_find(&names, &restore->graph));
    for (size_t i = 0; i < restore->unused_count; i++) {
        size_t node = restore->unused[i].node;
        bool first = i == 0 || restore->unused[i - 1].node != node,
             last = i + 1 == restore->unused_count || restore->unused[i + 1].node != node;
        tw__saved_text attribute = restore->graph.nodes[node].attributes[restore->unused[i].attribute].name;
        if (first) {
            tw__owned char *object = restore->bound[node] ? tw__trackable_repr(restore->bound[node]) : NULL;
            if (i > 0)
                tw__text_add(&text, "\n");
            tw__saved_name_add(&text, &names, node);
            tw__text_format(&text, " (%s): [", object ? object : "");
        }
        tw__text_add(&text, first ? "'" : ", '");
        tw__text_bytes(&text, attribute.data, attribute.size);
        tw__text_add(&text, last ? "']" : "'");
    }
    tw_status result =
        tw__fail(TW_ASSERTION_ERROR,
                 "Unused attributes in these objects (the attributes exist in the checkpoint but were not restored):\n%s",
                 text.data ? text.data : "");
    tw__text_free(&text);
    tw__saved_names_free(&names);
    return result;
}

static tw_status check_consumed(tw_load_status *status)
{
    TW_TRY(check_existing(status));
    const tw__restore *restore = status->restore;
    for (size_t i = 0; i < restore->graph.count; i++) {
        if (restore->graph.nodes[i].attribute_count > 0 && !restore->bound[i])
            return unresolved(restore, i);
    }
    return check_unused(restore);
}

static tw_status check_nontrivial(tw_load_status *status)
{
    static const char begin[] =
        "Nothing except the root object matched a checkpointed value. Typically this means that the checkpoint does "
        "not match the Python program. The following objects have no matching checkpointed value: ";
    const tw__restore *restore = status->restore;
    size_t bound = 0, count = 0;
    for (size_t i = 0; i < restore->graph.count; i++)
        bound += restore->bound[i] != NULL;
    if (bound > 1)
        return TW_OK;
    tw__auto(tw__text_free) tw__text text = { 0 };
    tw_status result = find_unmatched(status, SIZE_MAX, &count, &text);
    if (result == TW_OK && count > 0) {
        result = tw__fail(TW_ASSERTION_ERROR, "%s[%s]", begin, text.data);
    } else if (result == TW_OK) {
        tw__owned char *root = tw__trackable_repr(tw__checkpoint_view(status->checkpoint).root);
        result = tw__fail(TW_ASSERTION_ERROR, "Nothing to load. No dependencies have been added to %s yet.", root ? root : "");
    }
    return result;
}

/* By names: every variable has a value, and every object under the root heard of the restore. */
static tw_status check_names(tw_load_status *status)
{
    const tw__restore *restore = status->restore;
    tw__text text = { 0 };
    for (size_t i = 0; i < restore->bound_count; i++) {
        const tw_variable *variable = (const tw_variable *)restore->bound[i];
        if (!variable || variable == status->optional)
            continue;
        tw__owned char *object = tw__trackable_repr(&variable->trackable);
        tw__text_format(&text, "\n    %s: ['%.*s']", object ? object : "", (int)strlen(variable->name) - 2, variable->name);
    }
    tw_status result = TW_OK;
    if (text.size > 0)
        result = tw__fail(TW_ASSERTION_ERROR, "Some objects had attributes which were not restored: %s", text.data);
    tw__text_free(&text);
    tw__object_walk walk;
    tw__saving_view view = tw__checkpoint_view(status->checkpoint);
    if (result == TW_OK)
        result = tw__walk_objects(&walk, &view);
    else
        return result;
    for (size_t i = 0; result == TW_OK && i < walk.count; i++) {
        const tw_trackable *object = walk.nodes[i].object;
        if (tw__restored_by(object) >= restore->uid)
            continue;
        tw__owned char *name = tw__trackable_repr(object);
        result = tw__fail(TW_ASSERTION_ERROR, "Object not restored: %s", name ? name : "");
    }
    tw__walk_free(&walk);
    return result;
}

static tw_load_status *check(tw_load_status *status, tw_status (*by_graph)(tw_load_status *status))
{
    tw_status result;
    if (!status->restore)
        result = tw__fail(TW_ASSERTION_ERROR, "No checkpoint specified (save_path=None); nothing is being restored.");
    else if (!status->checkpoint)
        result = tw__fail(TW_FAILED_PRECONDITION, "the status has been cleared");
    else
        result = status->restore->by_name ? check_names(status) : by_graph(status);
    return result == TW_OK ? tw_retain(status) : NULL;
}

TW_METHOD(load_status_assert_consumed,
          "python.checkpoint.checkpoint._LoadStatus.assert_consumed(self: load_status) -> load_status",
          "Fails unless every value of the file found its object and every object its value.")
{
    return check(args->self, check_consumed);
}

TW_METHOD(load_status_assert_existing_objects_matched,
          "python.checkpoint.checkpoint._LoadStatus.assert_existing_objects_matched(self: load_status) -> load_status",
          "Fails if an object that exists now got no value.")
{
    return check(args->self, check_existing);
}

TW_METHOD(load_status_assert_nontrivial_match,
          "python.checkpoint.checkpoint._LoadStatus.assert_nontrivial_match(self: load_status) -> load_status",
          "Fails if nothing but the root was found in the file.")
{
    return check(args->self, check_nontrivial);
}

TW_METHOD(load_status_expect_partial, "python.checkpoint.checkpoint._LoadStatus.expect_partial(self: load_status) -> load_status",
          "Silences the warnings about values that found no object.")
{
    if (args->self->restore)
        args->self->restore->expect_partial = true;
    return tw_retain(args->self);
}

TW_METHOD(load_status_initialize_or_restore,
          "python.checkpoint.checkpoint._LoadStatus.initialize_or_restore(self: load_status, session: value = None) -> none",
          "Does nothing: values are there already when executing eagerly.")
{
    return TW_OK;
}

TW_METHOD(load_status_run_restore_ops,
          "python.checkpoint.checkpoint._LoadStatus.run_restore_ops(self: load_status, session: value = None) -> none",
          "Does nothing: values are there already when executing eagerly.")
{
    if (!args->self->restore)
        return tw__fail(TW_ASSERTION_ERROR,
                        "No checkpoint specified, so no restore ops are available (save_path=None to Saver.restore).");
    return TW_OK;
}
