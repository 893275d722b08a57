/* model.summary(): a table of the layers with their output shapes and numbers of parameters, as Keras prints it.
 *
 * A model whose layers form one chain has three columns of 65 characters, any other a fourth one, "Connected to", and 98. A field
 * that does not fit its column goes on in the next line; lists break behind each element. Models inside the model may be shown
 * with a frame of bars. */
#include "base/language.h"
#include "keras/models/functional.h"

enum { MOST_COLUMNS = 5 };

typedef struct table {
    tw_layer *model;
    bool chain, nested, trainable;
    int64_t length;
    int64_t positions[MOST_COLUMNS];
    int columns;
    void (*print)(void *context, const char *line);
    void *context;
    tw_status status;
} table;

static void print(table *t, tw__text *line)
{
    if (t->status == TW_OK)
        t->status = line->failed ? TW_RESOURCE_EXHAUSTED : TW_OK;
    if (t->status == TW_OK)
        t->print(t->context, line->data ? line->data : "");
    tw__text_free(line);
}

static void repeat(tw__text *text, const char *what, int64_t times)
{
    for (int64_t i = 0; i < times; i++)
        tw__text_add(text, what);
}

/* Where the n-th character of UTF-8 begins. */
static const char *character_at(const char *text, int64_t n)
{
    for (; *text; text++) {
        if ((*text & 0xc0) != 0x80 && n-- <= 0)
            break;
    }
    return text;
}

/* Where a field breaks: at the column's end, or behind the first element of a list before that. */
static size_t break_at(const char *text, int64_t room)
{
    static const char *const ends[] = { "),", "},", "],", "'," };
    size_t size = (size_t)(character_at(text, room > 0 ? room : 0) - text), best = size;
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
        const char *found = strstr(text, ends[i]);
        if (found && (size_t)(found - text) + 2 <= size && (size_t)(found - text) + 2 < best)
            best = (size_t)(found - text) + 2;
    }
    return best;
}

static void print_row(table *t, const char *const *fields, int level)
{
    const char *left[MOST_COLUMNS];
    int64_t guard = 0;
    bool more = false;
    for (int c = 0; c < t->columns; c++) {
        left[c] = fields[c];
        more |= *fields[c] != 0;
    }
    while (more && t->status == TW_OK && guard++ < 10000) {
        tw__text line = { 0 };
        int64_t width = 0;
        more = false;
        for (int c = 0; c < t->columns; c++) {
            bool last = c == t->columns - 1;
            int64_t room = t->positions[c] - (c ? t->positions[c - 1] : 0) - (last ? 0 : 3) - (c ? 0 : level);
            if (c == 0) {
                repeat(&line, "|", level);
                tw__text_add(&line, " ");
                width = level + 1;
            }
            size_t size = break_at(left[c], room > 0 ? room : 1);
            tw__text_bytes(&line, left[c], size);
            for (size_t i = 0; i < size; i++)
                width += (left[c][i] & 0xc0) != 0x80;
            left[c] += size;
            more |= *left[c] != 0;
            int64_t fill = t->positions[c] - width - (last ? level : 0);
            if (!last && fill < 2)
                fill = 2;
            repeat(&line, " ", fill);
            width += fill > 0 ? fill : 0;
        }
        repeat(&line, "|", level);
        print(t, &line);
    }
}

static void print_line(table *t, const char *mark, int level, int64_t length)
{
    tw__text line = { 0 };
    repeat(&line, "|", level);
    repeat(&line, mark, length);
    repeat(&line, "|", level);
    print(t, &line);
}

/* ---- fields ---- */

static void add_shape(tw__text *text, const tw_value *value)
{
    bool dict = value->kind == TW_VALUE_DICT, tuple = value->kind == TW_VALUE_TUPLE;
    if (value->kind == TW_VALUE_INT) {
        tw__text_format(text, "%lld", (long long)value->i);
    } else if (value->kind == TW_VALUE_STR) {
        tw__text_format(text, "'%s'", value->s.data);
    } else if (value->kind < TW_VALUE_LIST) {
        tw__text_add(text, "None");
    } else {
        tw__text_add(text, dict ? "{" : tuple ? "(" : "[");
        for (int64_t i = 0; i < value->list.count; i++) {
            tw__text_add(text, i == 0 ? "" : dict && i % 2 ? ": " : ", ");
            add_shape(text, &value->list.items[i]);
        }
        tw__text_add(text, dict ? "}" : tuple ? value->list.count == 1 ? ",)" : ")" : "]");
    }
}

static tw_value output_shapes(tw_layer *layer)
{
    if (!tw__is(layer, &tw__class_model))
        return tw__layer_shapes(layer, true);
    tw_value ends = tw__model_ends(layer, true), shapes = tw__shapes_of(&ends);
    tw_value_free(&ends);
    return shapes;
}

static void shape_field(tw_layer *layer, tw__text *text)
{
    tw_value shapes = output_shapes(layer);
    if (shapes.kind == TW_VALUE_NONE) {
        tw_clear_error();
        tw__text_add(text, "multiple");
    } else {
        add_shape(text, &shapes);
    }
    tw_value_free(&shapes);
}

static bool is_in(const tw__functional *model, const tw_layer *layer, size_t node)
{
    struct {
        const tw_layer *layer;
        intptr_t node;
    } key = { layer, (intptr_t)node };
    return tw__map_has(&model->places, &key, sizeof key);
}

/* A model's node that stands for itself is not counted. */
static bool has_own_node(const tw_keras_tensor *tensor)
{
    return tensor->node > 0 && (tw__is(tensor->layer, &tw__class_functional) || tw__is(tensor->layer, &tw__class_sequential));
}

/* ['dense[0][0]', 'b[0][0]'] of the calls that belong to the model; a nested model's layers show what they are called with there.
 */
static void connections(const table *t, tw_layer *layer, tw__text *text)
{
    const tw__functional *model = tw__functional_of(t->model);
    bool first = true;
    tw__text_add(text, "[");
    for (size_t n = 0; n < layer->node_count; n++) {
        const tw__layer_node *node = layer->nodes[n];
        if (node->is_input || (model && !is_in(model, layer, n)))
            continue;
        tw_keras_tensor **tensors = NULL;
        size_t count = 0, capacity = 0;
        if (tw__keras_tensors_of(&node->arguments, &tensors, &count, &capacity) == TW_OK)
            tw__keras_tensors_of(&node->named, &tensors, &count, &capacity);
        for (size_t i = 0; i < count; i++, first = false)
            tw__text_format(text, "%s'%s[%d][%d]'", first ? "" : ", ", tensors[i]->layer->name,
                            tensors[i]->node - has_own_node(tensors[i]), tensors[i]->output);
        tw__free(tensors);
    }
    tw__text_add(text, "]");
}

static tw_status count_values(tw_layer *layer, tw__which which, int64_t *values, double *bytes)
{
    tw_variable **variables;
    int64_t count;
    *values = 0;
    *bytes = 0;
    TW_TRY(tw__collect_variables(&layer->trackable, which, &variables, &count));
    for (int64_t i = 0; i < count; i++) {
        int64_t size;
        if (tw__shape_count(&variables[i]->resource->shape, &size) == TW_OK) {
            *values += size;
            *bytes += (double)size * (double)tw__element_size(variables[i]->resource->dtype);
        }
    }
    tw__free(variables);
    return TW_OK;
}

/* ---- layers ---- */

static tw_objects layers_of(tw_layer *model)
{
    tw_model_layers_args args = { .self = model };
    tw_sequential_layers_args sequential = { .self = model };
    return tw__is(model, &tw__class_sequential) ? tw__impl_sequential_layers(&sequential) : tw__impl_model_layers(&args);
}

static const char *class_name_of(tw_layer *layer, tw_value *entry)
{
    if (tw__language.class_name && tw__language.class_name(layer, entry))
        return entry->s.data;
    return tw_class_name(layer);
}

static void print_layer(table *t, tw_layer *layer, int level, bool last)
{
    if (t->status != TW_OK)
        return;
    tw__text texts[MOST_COLUMNS] = { 0 };
    tw_value own = { .kind = TW_VALUE_NONE };
    int64_t values = 0, column = 3;
    double bytes;
    tw__text_format(&texts[0], "%s (%s)", layer->name, class_name_of(layer, &own));
    tw_value_free(&own);
    shape_field(layer, &texts[1]);
    t->status = count_values(layer, TW_ALL_VARIABLES, &values, &bytes);
    if (t->chain && !layer->built && !tw__functional_of(layer))
        tw__text_add(&texts[2], "0 (unused)");
    else
        tw__text_format(&texts[2], "%lld", (long long)values);
    if (!t->chain)
        connections(t, layer, &texts[column++]);
    if (t->trainable)
        tw__text_add(&texts[column++], layer->trainable ? "Y" : "N");
    const char *fields[MOST_COLUMNS];
    for (int c = 0; c < MOST_COLUMNS; c++)
        fields[c] = texts[c].data ? texts[c].data : "";
    print_row(t, fields, level);
    for (int c = 0; c < MOST_COLUMNS; c++)
        tw__text_free(&texts[c]);
    tw_objects inner = { 0 };
    if (t->nested && tw__is(layer, &tw__class_model))
        inner = layers_of(layer);
    if (inner.count) {
        print_line(t, "¯", level + 1, t->length - 2 * level - 2);
        for (int64_t i = 0; i < inner.count; i++)
            print_layer(t, inner.items[i], level + 1, i == inner.count - 1);
        print_line(t, "¯", level, t->length - 2 * level);
        tw_objects_free(&inner);
        return;
    }
    tw_objects_free(&inner);
    if (!last)
        print_line(t, " ", level, t->length - 2 * level);
}

/* ---- the whole ---- */

/* One call after the other, each of one tensor, no layer twice. */
static bool is_chain(tw_layer *model)
{
    const tw__functional *functional = tw__functional_of(model);
    if (!functional)
        return true;
    if (functional->input_count != 1 || functional->step_count + 1 != functional->layer_count)
        return false;
    const tw_keras_tensor *before = functional->flat_inputs[0];
    const tw_layer *layer = before->layer;
    int node = before->node;
    for (size_t i = 0; i < functional->step_count; i++) {
        const tw__node_step *step = &functional->steps[i];
        tw_keras_tensor **tensors = NULL;
        size_t count = 0, capacity = 0;
        const tw__layer_node *call = step->layer->nodes[step->node];
        tw_status status = tw__keras_tensors_of(&call->arguments, &tensors, &count, &capacity);
        if (status == TW_OK)
            status = tw__keras_tensors_of(&call->named, &tensors, &count, &capacity);
        bool next = status == TW_OK && count == 1 && tensors[0]->layer == layer && tensors[0]->node == node;
        tw__free(tensors);
        if (!next)
            return false;
        layer = step->layer;
        node = step->node;
    }
    return true;
}

static void print_total(table *t, const char *what, int64_t values, double bytes)
{
    static const char *const units[] = { "Byte", "KB", "MB", "GB", "TB", "PB" };
    size_t unit = 0;
    while (bytes >= 1024 && unit < 5) {
        bytes /= 1024;
        unit++;
    }
    tw__text line = { 0 };
    tw__text_format(&line, "%s params: %lld (%.2f %s)", what, (long long)values, bytes, units[unit]);
    print(t, &line);
}

static tw_status set_positions(table *t, const tw_value *given)
{
    static const double usual[2][4] = { { 0.45, 0.85, 1.0 }, { 0.3, 0.6, 0.70, 1.0 } };
    t->columns = t->chain ? 3 : 4;
    double values[MOST_COLUMNS];
    bool list = given->kind == TW_VALUE_LIST || given->kind == TW_VALUE_TUPLE;
    if (list && given->list.count < t->columns)
        return tw__fail(TW_VALUE_ERROR, "summary: the argument `positions` must have %d values", t->columns);
    for (int c = 0; c < t->columns; c++) {
        const tw_value *value = list ? &given->list.items[c] : NULL;
        values[c] = !list                           ? usual[!t->chain][c]
                    : value->kind == TW_VALUE_INT   ? (double)value->i
                    : value->kind == TW_VALUE_FLOAT ? value->f
                                                    : 0;
    }
    bool parts = values[t->columns - 1] <= 1;
    for (int c = 0; c < t->columns; c++)
        t->positions[c] = parts ? (int64_t)((double)t->length * values[c]) : (int64_t)values[c];
    if (t->trainable) {
        t->length += 11;
        t->positions[t->columns++] = t->length;
    }
    return TW_OK;
}

static tw_status print_model(table *t)
{
    static const char *const heads[] = { "Layer (type)", "Output Shape", "Param #", "Connected to", "Trainable" };
    const char *fields[MOST_COLUMNS] = { heads[0], heads[1], heads[2], t->chain ? heads[4] : heads[3], heads[4] };
    tw__text line = { 0 };
    tw__text_format(&line, "Model: \"%s\"", t->model->name);
    print(t, &line);
    print_line(t, "_", 0, t->length);
    print_row(t, fields, 0);
    print_line(t, "=", 0, t->length);
    tw_objects layers = layers_of(t->model);
    for (int64_t i = 0; i < layers.count; i++)
        print_layer(t, layers.items[i], 0, false);
    tw_objects_free(&layers);
    print_line(t, "=", 0, t->length);
    int64_t trainable, others;
    double bytes, other_bytes;
    TW_TRY(count_values(t->model, TW_TRAINABLE_VARIABLES, &trainable, &bytes));
    TW_TRY(count_values(t->model, TW_NON_TRAINABLE_VARIABLES, &others, &other_bytes));
    print_total(t, "Total", trainable + others, bytes + other_bytes);
    print_total(t, "Trainable", trainable, bytes);
    print_total(t, "Non-trainable", others, other_bytes);
    print_line(t, "_", 0, t->length);
    return t->status;
}

/* To where progress goes. */
static void write_line(void *context, const char *line)
{
    (void)context;
    tw__tell(line, strlen(line));
    tw__tell("\n", 1);
}

static void collect_line(void *context, const char *line)
{
    tw__text *all = context;
    tw__text_add(all, line);
    tw__text_add(all, "\n");
}

static tw_status summarize(tw_layer *model, int64_t length, const tw_value *positions, bool nested, bool trainable,
                           void (*to)(void *context, const char *line), void *context)
{
    if (!model->built)
        return tw__fail(
            TW_VALUE_ERROR,
            "This model has not yet been built. Build the model first by calling `build()` or by calling the model on a batch "
            "of data.");
    table t = {
        .model = model, .chain = is_chain(model), .nested = nested, .trainable = trainable, .print = to, .context = context
    };
    t.length = length != TW_NO_INT && length > 0 ? length : t.chain ? 65 : 98;
    TW_TRY(set_positions(&t, positions));
    return print_model(&t);
}

TW_METHOD(
    model_summary,
    "keras.Model.summary(self: layer, line_length: int = None, positions: value = None, expand_nested: bool = False, show_trainable: bool = False)",
    "Prints the layers with their shapes and numbers of parameters.\n"
    "line_length: how many characters a line has; None: as many as the columns usually need\n"
    "positions: where columns end, as parts of the line or in characters\n"
    "expand_nested: True: show the layers of models inside of the model, too\n"
    "show_trainable: True: a column says whether layers are trained\n"
    "raises: ValueError: the model has no weights yet")
{
    return summarize(args->self, args->line_length, &args->positions, args->expand_nested, args->show_trainable, write_line,
                     NULL);
}

TW_METHOD(model_summary_text,
          "keras.Model._summary_text(self: layer, line_length: int = None, positions: value = None, expand_nested: bool = False, "
          "show_trainable: bool = False) -> str",
          "The same as text.")
{
    tw__text text = { 0 };
    if (summarize(args->self, args->line_length, &args->positions, args->expand_nested, args->show_trainable, collect_line,
                  &text) == TW_OK)
        return tw__text_take(&text);
    tw__text_free(&text);
    return NULL;
}
