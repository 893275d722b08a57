/* SavedModels of TensorFlow 1: a graph with signatures, without objects.
 *
 * The graph gets a session of its own. It gives the variables their values by the file's own operation (SaverDef), runs the
 * file's operation for the beginning (tables), and then each signature is a function of the nodes between its inputs and outputs,
 * bound to the session's variables.
 *
 *     root ── signatures ── KEY          as in other SavedModels
 *          ├─ variables ── 0, 1, …       the graph's variables, in the order of its nodes
 *          └─ graph, session             for those who want more of the graph */
#include <stdio.h>

#include "saving/saved_model.h"
#include "session/session.h"

typedef struct loading {
    const tw__saved_model_message *message;
    const char *directory;
    struct tw_graph *graph;
    struct tw_session *session;
    tw__library *library;
    tw__build build;
    bool built;
    tw_saved_object *root;
} loading;

/* ---- running parts of the graph ---- */

static tw_status find_edge(const loading *l, tw_string name, tw__edge *edge)
{
    tw_string text = name;
    if (text.size > 2 && memcmp(text.data + text.size - 2, ":0", 2) == 0)
        text.size -= 2;
    if (tw__build_edge(&l->build, text, edge) == TW_OK)
        return TW_OK;
    tw__error_prefix("%s: ", l->message->path);
    return tw__error_status();
}

/* An operation, which need not have outputs. */
static tw_status find_operation(const loading *l, tw_string name, tw__edge *edge)
{
    tw__owned char *text = tw__format("^%.*s", (int)(name.size > 10000 ? 10000 : name.size), name.data);
    tw_status status = text ? tw__build_edge(&l->build, (tw_string){ text, strlen(text) }, edge) : TW_RESOURCE_EXHAUSTED;
    if (status != TW_OK)
        tw__error_prefix("%s: ", l->message->path);
    return status;
}

/* Runs an operation, with texts for some tensors. */
static tw_status run_operation(const loading *l, tw_string name, const tw_string *tensors, tw_tensor *const *values, size_t count)
{
    tw__edge target;
    tw__owned tw__edge *feeds = tw__alloc_array(count + 1, sizeof *feeds);
    TW_NEED(feeds);
    TW_TRY(find_operation(l, name, &target));
    for (size_t i = 0; i < count; i++)
        TW_TRY(find_edge(l, tensors[i], &feeds[i]));
    tw__fetch fetch = { target.node, -1 };
    tw__prepared *prepared = tw__session_prepare(l->session, feeds, (int)count, &fetch, 1);
    TW_NEED(prepared);
    return tw__session_run(l->session, prepared, values, NULL);
}

static tw_status restore(const loading *l)
{
    const tw__saved_model_message *m = l->message;
    tw__owned char *prefix = tw__path_join(l->directory, "variables/variables"),
                   *index = prefix ? tw__format("%s.index", prefix) : NULL;
    tw_auto tw_tensor *value = index ? tw_tensor_string(prefix, strlen(prefix)) : NULL;
    TW_NEED(value);
    if (value && m->saver_restore.size && tw__path_exists(index))
        TW_TRY(run_operation(l, m->saver_restore, &m->saver_filename, &value, 1));
    return TW_OK;
}

/* What is to be run after the variables have their values: a signature of its own, or what collections name. */
static tw_string first_operation(const tw__saved_model_message *m)
{
    for (size_t i = 0; i < m->signature_count; i++) {
        if (tw__string_is(m->signatures[i].name, "__saved_model_init_op") && m->signatures[i].output_count)
            return m->signatures[i].outputs[0].tensor;
    }
    return m->first_operation;
}

static tw_status run_first(const loading *l)
{
    const tw__saved_model_message *m = l->message;
    tw_string first = first_operation(m);
    if (!first.size)
        return TW_OK;
    tw__held tw_tensor **values = tw__held_new(m->asset_count);
    TW_NEED(values);
    for (size_t i = 0; i < m->asset_count; i++) {
        char *name = tw__strndup(m->assets[i].data, m->assets[i].size),
             *inside = name ? tw__format("assets/%s", tw__path_name(name)) : NULL;
        tw__owned char *path = inside ? tw__path_join(l->directory, inside) : NULL;
        values[i] = path ? tw_tensor_string(path, strlen(path)) : NULL;
        TW_TRY(values[i] ? TW_OK : TW_RESOURCE_EXHAUSTED);
        tw__free(inside);
        tw__free(name);
    }
    return run_operation(l, first, m->asset_tensors, values, m->asset_count);
}

/* ---- variables ---- */

static bool is_trainable(const loading *l, const char *name)
{
    for (size_t i = 0; i < l->message->trainable_count; i++) {
        if (tw__string_is(l->message->trainable[i], name))
            return true;
    }
    return false;
}

static tw_status add_variables(loading *l)
{
    tw_auto tw_saved_object *list = tw__saved_object_new("trackable_list_wrapper");
    TW_TRY(list ? tw__track(&l->root->trackable, "variables", list) : TW_RESOURCE_EXHAUSTED);
    size_t count = 0;
    for (size_t i = 0; i < l->graph->graph->node_count; i++) {
        tw__node *node = l->graph->graph->nodes[i];
        char name[24];
        if (!tw__node_is(node, TW_ROLE_VARIABLE))
            continue;
        tw_auto tw_variable *variable = tw__session_variable(l->session, node);
        if (variable)
            variable->trainable = variable->resource->trainable = is_trainable(l, variable->name);
        snprintf(name, sizeof name, "%zu", count++);
        TW_NEED(variable);
        TW_TRY(tw__track(&list->trackable, name, variable));
    }
    return TW_OK;
}

/* ---- signatures ---- */

/* In the order of their names. */
static int *sorted(const tw__tensor_info *infos, size_t count)
{
    int *order = tw__alloc_array(count + 1, sizeof *order);
    for (size_t i = 0; order && i < count; i++) {
        size_t at = i;
        for (; at > 0; at--) {
            tw_string a = infos[order[at - 1]].name, b = infos[i].name;
            int different = memcmp(a.data, b.data, a.size < b.size ? a.size : b.size);
            if (different < 0 || (different == 0 && a.size <= b.size))
                break;
            order[at] = order[at - 1];
        }
        order[at] = (int)i;
    }
    return order;
}

/* {name: TensorSpec}. */
static tw_value specs_of(const tw__tensor_info *infos, const int *order, size_t count)
{
    tw_value *items = tw__alloc_array(2 * count + 1, sizeof *items);
    for (size_t i = 0; items && i < count; i++) {
        const tw__tensor_info *info = &infos[order[i]];
        tw__owned char *name = tw__strndup(info->name.data, info->name.size);
        items[2 * i] = tw__value_str(name ? name : "");
        items[2 * i + 1] = tw__spec_value(info->dtype, &info->shape, name);
    }
    return items ? (tw_value){ .kind = TW_VALUE_DICT, .list = { items, (int64_t)(2 * count) } }
                 : (tw_value){ .kind = TW_VALUE_NONE };
}

static tw_saved_concrete *make_signature(const loading *l, const tw__signature_message *s, const int *inputs, const int *outputs)
{
    tw__owned tw__edge *feeds = tw__alloc_array(s->input_count + 1, sizeof *feeds);
    tw__owned tw__fetch *fetches = tw__alloc_array(s->output_count + 1, sizeof *fetches);
    if (!feeds || !fetches)
        return NULL;
    for (size_t i = 0; i < s->input_count; i++)
        if (find_edge(l, s->inputs[inputs[i]].tensor, &feeds[i]) != TW_OK)
            return NULL;
    for (size_t i = 0; i < s->output_count; i++) {
        tw__edge edge;
        if (find_edge(l, s->outputs[outputs[i]].tensor, &edge) != TW_OK)
            return NULL;
        fetches[i] = (tw__fetch){ edge.node, edge.output };
    }
    tw_auto tw__function *function = tw__session_function(l->session, feeds, (int)s->input_count, fetches, (int)s->output_count);
    tw_value *pair = function ? tw__alloc_array(2, sizeof *pair) : NULL;
    tw_saved_concrete *concrete = NULL;
    if (pair) {
        pair[0] = (tw_value){ .kind = TW_VALUE_TUPLE };
        pair[1] = specs_of(s->inputs, inputs, s->input_count);
        concrete = tw__saved_concrete_new(function, (tw_value){ .kind = TW_VALUE_TUPLE, .list = { pair, 2 } },
                                          specs_of(s->outputs, outputs, s->output_count));
    }
    return concrete;
}

static tw_status name_arguments(tw_saved_concrete *concrete, const tw__signature_message *s, const int *inputs)
{
    tw__owned char **names = tw__alloc_array(s->input_count + 1, sizeof *names);
    tw_status status = names ? TW_OK : TW_RESOURCE_EXHAUSTED;
    for (size_t i = 0; status == TW_OK && i < s->input_count; i++)
        status = (names[i] = tw__strndup(s->inputs[inputs[i]].name.data, s->inputs[inputs[i]].name.size)) ? TW_OK
                                                                                                          : TW_RESOURCE_EXHAUSTED;
    if (status == TW_OK)
        status = tw__saved_concrete_keywords(concrete, (const char *const *)names, s->input_count, s->input_count == 1);
    for (size_t i = 0; names && i < s->input_count; i++)
        tw__free(names[i]);
    return status;
}

static tw_status add_signature(const loading *l, tw_saved_object *map, const tw__signature_message *s)
{
    if (tw__string_is(s->name, "__saved_model_init_op") || tw__string_is(s->name, "__saved_model_train_op"))
        return TW_OK;
    tw__owned int *inputs = sorted(s->inputs, s->input_count), *outputs = sorted(s->outputs, s->output_count);
    tw__owned char *name = tw__strndup(s->name.data, s->name.size);
    tw_auto tw_saved_concrete *concrete = inputs && outputs && name ? make_signature(l, s, inputs, outputs) : NULL;
    tw_status status = concrete ? name_arguments(concrete, s, inputs) : tw__error_status();
    if (status == TW_OK)
        status = tw__track(&map->trackable, name, concrete);
    if (status != TW_OK)
        tw__error_prefix("%s: signature '%s': ", l->message->path, name ? name : "");
    return status;
}

/* ---- the whole ---- */

/* Nodes that neither signatures nor the beginning need (training, saving) are left out: they may be of ops that are not here. */
static tw_status keep_needed(const loading *l)
{
    const tw__saved_model_message *m = l->message;
    size_t count = 2 + m->asset_count;
    for (size_t i = 0; i < m->signature_count; i++)
        count += m->signatures[i].input_count + m->signatures[i].output_count;
    tw__owned tw_string *names = tw__alloc_array(count, sizeof *names);
    TW_NEED(names);
    count = 0;
    names[count++] = m->saver_restore;
    names[count++] = first_operation(m);
    for (size_t i = 0; i < m->asset_count; i++)
        names[count++] = m->asset_tensors[i];
    for (size_t i = 0; i < m->signature_count; i++) {
        for (size_t k = 0; k < m->signatures[i].input_count; k++)
            names[count++] = m->signatures[i].inputs[k].tensor;
        for (size_t k = 0; k < m->signatures[i].output_count; k++)
            names[count++] = m->signatures[i].outputs[k].tensor;
    }
    return tw__library_keep(l->library, names, count);
}

static tw_status load(loading *l)
{
    const tw__saved_model_message *m = l->message;
    l->library = tw__library_read(m->graph.data, m->graph.size);
    if (l->library && keep_needed(l) != TW_OK)
        return tw__error_status();
    l->graph = l->library ? tw_class_make(&tw__class_graph, &(tw_graph_args){ 0 }) : NULL;
    if (l->graph) {
        l->built = true;
        if (tw__library_add_to(l->library, l->graph->graph, NULL, NULL, &l->build) != TW_OK) {
            tw__error_prefix("%s: graph_def: ", m->path);
            return tw__error_status();
        }
    }
    l->session = l->graph ? tw_class_make(&tw__class_session,
                                          &(tw_session_args){ .target = "", .graph = l->graph, .allow_soft_placement = true })
                          : NULL;
    l->root = l->session ? tw__saved_object_new("_v1_graph") : NULL;
    TW_NEED(l->root);
    TW_TRY(restore(l));
    TW_TRY(run_first(l));
    TW_TRY(add_variables(l));
    tw_auto tw_saved_object *map = tw__saved_object_new("signature_map");
    TW_NEED(map);
    TW_TRY(tw__track(&l->root->trackable, "signatures", map));
    for (size_t i = 0; i < m->signature_count; i++)
        TW_TRY(add_signature(l, map, &m->signatures[i]));
    l->root->graph = tw_retain(l->graph);
    l->root->session = tw_retain(l->session);
    return TW_OK;
}

tw_saved_object *tw__saved_model_load_v1(const tw__saved_model_message *message, const char *directory)
{
    loading l = { .message = message, .directory = directory };
    tw_status status = load(&l);
    if (l.built)
        tw__build_end(&l.build);
    tw_release(l.library);
    tw_release(l.session);
    tw_release(l.graph);
    if (status == TW_OK)
        return l.root;
    tw_release(l.root);
    return NULL;
}
