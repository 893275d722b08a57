/* The conceptual graph of a Keras model: from the JSON of its config to a GraphDef with a node per layer, as TensorBoard makes
 * it. */
#include <stdlib.h>
#include <string.h>

#include "board.h"
#include "graph.h"

enum { DEPTH_LIMIT = 16, MODELS_LIMIT = 256, LAYERS_LIMIT = 20000 };

typedef struct pair {
    char *from, *to;
} pair;

typedef struct walk {
    FILE *out;
    char before[BOARD_NAME_LIMIT]; /* the node before this one */
    pair outputs[MODELS_LIMIT];    /* from a model to its output layers, in order */
    pair inputs[MODELS_LIMIT];     /* from an input layer of a model to what the model is called with */
    size_t output_count, input_count, layers;
} walk;

static void join(char *out, const char *scope, const char *name)
{
    snprintf(out, BOARD_NAME_LIMIT, *scope ? "%s/%s" : "%s%s", scope, name);
}

static void add(pair *list, size_t *count, const char *from, const char *to)
{
    if (*count < MODELS_LIMIT)
        list[(*count)++] = (pair){ strdup(from), strdup(to) };
}

/* Output number `index` of a model, the last if there are fewer; the name itself if it is no model. */
static const char *output_of(const walk *w, const char *name, size_t index)
{
    const char *found = name;
    size_t count = 0;
    for (size_t i = 0; i < w->output_count; i++) {
        if (w->outputs[i].from && w->outputs[i].to && strcmp(w->outputs[i].from, name) == 0 && count++ <= index)
            found = w->outputs[i].to;
    }
    return found;
}

static bool is_list(const char *json)
{
    return json && *json == '[';
}

/* ["name", …] or [["name", …], …]: element `index` of it as a list of the first kind. */
static const char *reference(const char *json, size_t index)
{
    const char *first = board_json_element(json, 0);
    return is_list(first) ? board_json_element(json, index) : index == 0 ? json : NULL;
}

static void begin_model(walk *w, const char *scope, const char *layer, const char *node)
{
    const char *config = board_json_member(layer, "config"), *inputs = board_json_member(config, "input_layers"),
               *outputs = board_json_member(config, "output_layers");
    const char *inbound = board_json_member(layer, "inbound_nodes"), *layers = board_json_member(config, "layers");
    bool functional = board_json_element(inputs, 0) && board_json_element(outputs, 0),
         called = board_json_element(inbound, 0) != NULL;
    char name[BOARD_NAME_LIMIT], full[BOARD_NAME_LIMIT], other[BOARD_NAME_LIMIT];
    for (size_t i = 0; functional && reference(inputs, i); i++) {
        const char *source = called ? reference(board_json_element(inbound, 0), i) : NULL;
        if (!board_json_string(board_json_element(reference(inputs, i), 0), name, sizeof name))
            continue;
        join(full, node, name);
        if (source && board_json_string(board_json_element(source, 0), name, sizeof name)) {
            join(other, scope, name);
            add(w->inputs, &w->input_count, full, output_of(w, other, 0));
        } else if (!called && *w->before) {
            add(w->inputs, &w->input_count, full, w->before);
        }
    }
    if (called && !functional &&
        board_json_string(board_json_element(reference(board_json_element(inbound, 0), 0), 0), name, sizeof name)) {
        join(other, scope, name);
        snprintf(w->before, sizeof w->before, "%s", other);
    }
    const char *last = NULL;
    for (size_t i = 0; board_json_element(layers, i); i++)
        last = board_json_element(layers, i);
    for (size_t i = 0; functional && reference(outputs, i); i++) {
        if (board_json_string(board_json_element(reference(outputs, i), 0), name, sizeof name)) {
            join(full, node, name);
            add(w->outputs, &w->output_count, node, full);
        }
    }
    if (!functional && board_json_string(board_json_member(board_json_member(last, "config"), "name"), name, sizeof name)) {
        join(full, node, name);
        add(w->outputs, &w->output_count, node, full);
    }
}

static void put_inputs(walk *w, const char *scope, const char *inbound, FILE *out)
{
    char name[BOARD_NAME_LIMIT], full[BOARD_NAME_LIMIT];
    for (size_t i = 0; board_json_element(inbound, i); i++) {
        const char *list = board_json_element(inbound, i), *one;
        for (size_t k = 0; (one = reference(list, k)); k++) {
            double index = 0;
            if (!board_json_string(board_json_element(one, 0), name, sizeof name))
                break;
            (void)board_json_number(board_json_element(one, 2), &index);
            join(full, scope, name);
            const char *input = output_of(w, full, index > 0 ? (size_t)index : 0);
            board_write_bytes(out, 3, input, strlen(input));
        }
    }
}

static void put_layer(walk *w, const char *scope, const char *layer, const char *node)
{
    const char *config = board_json_member(layer, "config"), *inbound = board_json_member(layer, "inbound_nodes");
    char text[BOARD_NAME_LIMIT], *memory = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&memory, &size);
    if (!out)
        return;
    board_write_bytes(out, 1, node, strlen(node));
    if (is_list(inbound))
        put_inputs(w, scope, inbound, out);
    else if (*w->before)
        board_write_bytes(out, 3, w->before, strlen(w->before));
    for (size_t i = 0; i < w->input_count; i++) {
        if (w->inputs[i].from && w->inputs[i].to && strcmp(w->inputs[i].from, node) == 0)
            board_write_bytes(out, 3, w->inputs[i].to, strlen(w->inputs[i].to));
    }
    if (board_json_string(board_json_member(layer, "class_name"), text, sizeof text))
        board_write_attr(out, "keras_class", 2, text, 0);
    if (board_json_string(board_json_member(config, "dtype"), text, sizeof text) && tw_dtype_from_name(text) != TW_DTYPE_NONE)
        board_write_attr(out, "dtype", 6, NULL, (uint64_t)tw_dtype_from_name(text));
    fclose(out);
    board_write_bytes(w->out, 1, memory, size);
    free(memory);
    snprintf(w->before, sizeof w->before, "%s", node);
}

static void walk_layers(walk *w, const char *scope, const char *layer, int depth)
{
    const char *config = board_json_member(layer, "config"), *layers = board_json_member(config, "layers"), *one;
    char name[BOARD_NAME_LIMIT], node[BOARD_NAME_LIMIT];
    if (depth > DEPTH_LIMIT || w->layers++ > LAYERS_LIMIT ||
        !board_json_string(board_json_member(config, "name"), name, sizeof name))
        return;
    join(node, scope, name);
    if (!is_list(layers)) {
        put_layer(w, scope, layer, node);
        return;
    }
    begin_model(w, scope, layer, node);
    for (size_t i = 0; (one = board_json_element(layers, i)); i++)
        walk_layers(w, node, one, depth + 1);
}

bool board_keras_graph(FILE *out, const char *json)
{
    walk *w = board_json_valid(json) ? calloc(1, sizeof *w) : NULL;
    if (!w)
        return false;
    w->out = out;
    walk_layers(w, "", json, 0);
    for (size_t i = 0; i < w->output_count; i++) {
        free(w->outputs[i].from);
        free(w->outputs[i].to);
    }
    for (size_t i = 0; i < w->input_count; i++) {
        free(w->inputs[i].from);
        free(w->inputs[i].to);
    }
    free(w);
    return true;
}
