/* Training of C programs with several inputs and outputs: a dataset's elements are (x, y, weights), each a tensor or a structure
 * of such. Labels and weights in a dict belong to the outputs of these names, others to outputs in their order. */
#include "data/data.h"
#include "keras/models/functional.h"
#include "keras/models/training.h"
#include "rows.h"
#include "spec/structure.h"

static tw_status wrong_data(const tw_value *structure)
{
    char *text = tw__element_text(structure);
    tw_status status =
        tw__fail(TW_VALUE_ERROR, "Data is expected to be in format `x`, `(x,)`, `(x, y)`, or `(x, y, sample_weight)`, found: %s",
                 text ? text : "");
    tw__free(text);
    return status;
}

void tw__trainer_drop_structure(tw__trainer *t)
{
    for (int i = 0; i < 3; i++)
        tw_value_free(&t->given[i]);
}

tw_status tw__trainer_take_structure(tw__trainer *t, const struct tw_dataset *dataset, int64_t parts[3])
{
    const tw_value *whole = &dataset->structure;
    bool tuple = whole->kind == TW_VALUE_TUPLE && !whole->list.form;
    int64_t count = tuple ? whole->list.count : 1;
    if (count < 1 || count > 3)
        return wrong_data(whole);
    tw__trainer_drop_structure(t);
    for (int i = 0; i < 3; i++) {
        parts[i] = 0;
        if (i >= count)
            continue;
        const tw_value *member = tuple ? &whole->list.items[i] : whole;
        int flat = 0;
        tw_spec *specs = tw__element_specs(member, &flat);
        if (!specs)
            return tw__error_status();
        tw__free(specs);
        parts[i] = flat;
        t->given[i] = tw__value_copy(member);
        if (t->given[i].kind != member->kind)
            return tw__error_status();
    }
    return TW_OK;
}

bool tw__trainer_is_structured(const tw__trainer *t)
{
    return tw__is_nested(&t->given[0]) || tw__is_nested(&t->given[1]) || tw__is_nested(&t->given[2]);
}

/* ---- calling ---- */

static tw_status next_tensor(void *context, __attribute__((unused)) const tw_value *leaf, tw_value *mapped)
{
    tw_tensor *const **at = context;
    *mapped = (tw_value){ .kind = TW_VALUE_TENSOR, .tensor = tw_retain(*(*at)++) };
    return TW_OK;
}

/* The names of a functional model's outputs; NULL for other models, or no memory. */
static char **output_names(tw_layer *model, int count)
{
    tw__functional *own = tw__functional_of(model);
    char **names = own && (int)own->output_count == count ? tw__alloc_array((size_t)count + 1, sizeof *names) : NULL;
    for (int i = 0; names && i < count; i++)
        names[i] = tw__strdup(own->flat_outputs[i]->layer->name);
    return names;
}

static tw_status take_outputs(const tw_value *result, tw_tensor ***outputs, int *output_count)
{
    int64_t count = 0;
    const tw_value **leaves = tw__structure_leaves(result, &count);
    *outputs = leaves ? tw__alloc_array((size_t)count + 1, sizeof **outputs) : NULL;
    *output_count = 0;
    bool good = *outputs != NULL;
    for (int64_t i = 0; good && i < count; i++) {
        good = leaves[i]->kind == TW_VALUE_TENSOR || tw__fail(TW_TYPE_ERROR, "a model gave something that is no tensor") == TW_OK;
        if (good)
            (*outputs)[(*output_count)++] = tw_retain(leaves[i]->tensor);
    }
    tw__free((void *)leaves);
    return good ? TW_OK : tw__error_status();
}

/* Labels or weights in a dict: which of its flat tensors goes with which output. */
static tw_status place_named(tw__trainer *t, const tw_value *given, tw__placed kind, char *const *names, int count)
{
    if (given->kind != TW_VALUE_DICT || !names)
        return TW_OK;
    if (!(t->places[kind] = tw__alloc_array((size_t)count + 1, sizeof *t->places[kind])))
        return tw__error_status();
    t->place_counts[kind] = count;
    int64_t found = 0;
    for (int i = 0; i < count; i++) {
        t->places[kind][i] = -1;
        for (int64_t k = 0; k + 1 < given->list.count; k += 2) {
            const tw_value *key = &given->list.items[k];
            if (key->kind != TW_VALUE_STR || !names[i] || strcmp(key->s.data, names[i]) != 0)
                continue;
            t->places[kind][i] = (int)(k / 2);
            found++;
        }
    }
    if (found * 2 == given->list.count)
        return TW_OK;
    return tw__fail(
        TW_VALUE_ERROR,
        "Found unexpected losses or metrics that do not correspond to any Model output: the outputs of \"%s\" begin with '%s'.",
        t->model->name, names[0] ? names[0] : "");
}

tw_status tw__trainer_call(tw__trainer *t, tw__mode mode, tw_tensor *const *x, int count, tw_tensor ***outputs, int *output_count,
                           char ***names)
{
    tw_value *items = tw__alloc_array((size_t)count + 1, sizeof *items), result = { .kind = TW_VALUE_NONE };
    tw_value list = { .kind = TW_VALUE_LIST, .list = { .items = items, .count = count } }, packed = { .kind = TW_VALUE_NONE };
    for (int i = 0; items && i < count; i++)
        items[i] = (tw_value){ .kind = TW_VALUE_TENSOR, .tensor = x[i] };
    tw_status status = items ? TW_OK : tw__error_status();
    bool told = t->given[0].kind != TW_VALUE_NONE && tw__structure_count(&t->given[0]) == count; /* else it is of other data */
    if (status == TW_OK && told)
        status = tw__structure_map(&t->given[0], next_tensor, &x, &packed);
    tw_value arguments = { .kind = TW_VALUE_TUPLE, .list = { .items = told ? &packed : count == 1 ? items : &list, .count = 1 } };
    if (status == TW_OK)
        status = tw__layer_invoke(t->model, &arguments, NULL, mode == TW_TRAIN_MODE, &result);
    if (status == TW_OK)
        status = take_outputs(&result, outputs, output_count);
    if (status == TW_OK)
        *names = output_names(t->model, *output_count);
    tw__trainer_forget_places(t);
    if (status == TW_OK)
        status = place_named(t, &t->given[1], TW_LABELS, *names, *output_count);
    if (status == TW_OK)
        status = place_named(t, &t->given[2], TW_WEIGHTS, *names, *output_count);
    tw__free(items);
    tw_value_free(&packed);
    tw_value_free(&result);
    return status;
}
