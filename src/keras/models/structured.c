/* Steps over structures: the model is called with x as it was given, labels and weights are matched with outputs (by name, by
 * place, or one for all), and the steps, losses and metrics of an embedding language's subclass get what its program gave. */
#include "api/composite.h"
#include "base/language.h"
#include "keras/models/functional.h"
#include "keras/models/training.h"
#include "rows.h"
#include "spec/structure.h"

/* ---- outputs ---- */

typedef struct found {
    tw_tensor **items;
    int64_t count;
} found;

static tw_status number_leaf(void *context, const tw_value *leaf, tw_value *mapped)
{
    found *all = context;
    tw_tensor *tensor =
        leaf->kind == TW_VALUE_TENSOR ? tw_retain(leaf->tensor) : tw__value_tensor(leaf, TW_DTYPE_NONE, "an output of a model");
    if (!tensor)
        return tw__error_status();
    *mapped = (tw_value){ .kind = TW_VALUE_INT, .i = all->count };
    all->items[all->count++] = tensor;
    return TW_OK;
}

static tw_status renumber_leaf(void *context, const tw_value *leaf, tw_value *mapped)
{
    *mapped = (tw_value){ .kind = TW_VALUE_INT, .i = ((const int64_t *)context)[leaf->i] };
    return TW_OK;
}

static void found_end(found *all)
{
    tw__trainer_release_list(all->items, (int)all->count);
}

/* The flat tensors of what a model gave, members of dicts in the order of their keys; *numbers is the structure with the number
 * of each, *sorted the same in that order. */
static tw_status flatten(const tw_value *result, tw_tensor ***outputs, int *count, tw_value *numbers, tw_value *sorted)
{
    int64_t most = tw__structure_count(result), leaf_count = 0;
    tw__auto(found_end) found all = { tw__alloc_array((size_t)most + 1, sizeof *all.items), 0 };
    tw__auto(tw_value_free) tw_value as_given = { .kind = TW_VALUE_NONE }, order = as_given;
    *numbers = *sorted = as_given;
    *outputs = NULL;
    *count = 0;
    TW_NEED(all.items);
    TW_TRY(tw__structure_map(result, number_leaf, &all, &as_given));
    order = tw__value_copy(&as_given);
    TW_TRY(tw__structure_settle(&order));
    tw__owned int64_t *places = tw__alloc_array((size_t)most + 1, sizeof *places);
    tw__owned const tw_value **leaves = places ? tw__structure_leaves(&order, &leaf_count) : NULL;
    TW_NEED(leaves);
    TW_NEED(*outputs = tw__alloc_array((size_t)most + 1, sizeof **outputs));
    for (int64_t i = 0; i < leaf_count; i++) {
        (*outputs)[(*count)++] = tw_retain(all.items[leaves[i]->i]);
        places[leaves[i]->i] = i;
    }
    TW_TRY(tw__structure_map(&as_given, renumber_leaf, places, numbers));
    return tw__structure_map(&order, renumber_leaf, places, sorted);
}

/* The keys of outputs that are a dict of tensors; NULL: they are not, or no memory. */
static char **keys_of(const tw_value *outputs, int count)
{
    if (outputs->kind != TW_VALUE_DICT || outputs->list.count != 2 * (int64_t)count)
        return NULL;
    char **keys = tw__alloc_array((size_t)count + 1, sizeof *keys);
    for (int i = 0; keys && i < count; i++) {
        const tw_value *key = &outputs->list.items[2 * i];
        keys[i] = key->kind == TW_VALUE_INT ? tw__format("%lld", (long long)key->i) : tw__strdup(key->s.data);
    }
    return keys;
}

static char **names_of(tw_layer *model, const tw_value *outputs, int count)
{
    tw__auto(tw_value_free) tw_value all = tw__impl_model_output_names(&(tw_model_output_names_args){ .self = model });
    char **names =
        all.kind == TW_VALUE_LIST && all.list.count == count ? tw__alloc_array((size_t)count + 1, sizeof *names) : NULL;
    for (int i = 0; names && i < count; i++)
        names[i] = all.list.items[i].kind == TW_VALUE_STR ? tw__strdup(all.list.items[i].s.data) : NULL;
    return names ? names : keys_of(outputs, count);
}

/* ---- which labels and weights are whose ---- */

typedef struct places {
    int *items;
    int64_t count;
} places;

static tw_status add_place(void *context, const tw_value *leaf)
{
    places *all = context;
    all->items[all->count++] = leaf->kind == TW_VALUE_INT ? (int)leaf->i : -1;
    return TW_OK;
}

static tw_status count_leaf(void *context, const tw_value *leaf, tw_value *mapped)
{
    int64_t *next = context;
    if (leaf->kind != TW_VALUE_NONE)
        *mapped = (tw_value){ .kind = TW_VALUE_INT, .i = (*next)++ };
    return TW_OK;
}

static bool holds_nested(const tw_value *value)
{
    for (int64_t i = 0; i < value->list.count; i++) {
        if (tw__is_nested(&value->list.items[i]))
            return true;
    }
    return false;
}

static bool is_flat(const tw_value *outputs)
{
    return !tw__is_nested(outputs) || (outputs->kind != TW_VALUE_DICT && !holds_nested(outputs));
}

static bool is_name(const tw_value *key, char *const *names, int count)
{
    for (int i = 0; i < count; i++) {
        if (key->kind == TW_VALUE_STR && names[i] && strcmp(key->s.data, names[i]) == 0)
            return true;
    }
    return false;
}

/* Every key is the name of an output. */
static tw_status check_names(const tw_value *value, char *const *names, int count)
{
    tw__text unknown = { 0 }, known = { 0 };
    for (int64_t k = 0; k + 1 < value->list.count; k += 2) {
        const tw_value *key = &value->list.items[k];
        if (is_name(key, names, count))
            continue;
        if (key->kind == TW_VALUE_STR)
            tw__text_format(&unknown, "%s'%s'", unknown.size ? ", " : "", key->s.data);
        else
            tw__text_format(&unknown, "%s%lld", unknown.size ? ", " : "", (long long)key->i);
    }
    tw_status status = TW_OK;
    if (unknown.size) {
        for (int i = 0; i < count; i++)
            tw__text_format(&known, "%s'%s'", i ? ", " : "", names[i] ? names[i] : "");
        status = tw__fail(
            TW_VALUE_ERROR,
            "Found unexpected losses or metrics that do not correspond to any Model output: dict_keys([%s]). Valid mode output "
            "names: [%s].",
            unknown.data ? unknown.data : "", known.data ? known.data : "");
    }
    tw__text_free(&unknown);
    tw__text_free(&known);
    return status;
}

static tw_status places_by_key(const tw_value *value, char *const *keys, int count, places *all)
{
    for (int i = 0; i < count; i++) {
        const tw_value *member = keys[i] ? tw__value_get(value, keys[i]) : NULL;
        if (member)
            TW_TRY(tw__structure_each(member, add_place, all));
        else
            all->items[all->count++] = -1;
    }
    return TW_OK;
}

/* `value` holds the numbers of flat labels or weights; `names` are the outputs' or NULL. */
static tw_status find_places(const tw_value *value, const tw_value *outputs, int count, char *const *names, places *all)
{
    bool nested = tw__is_nested(outputs), mapping = value->kind == TW_VALUE_DICT;
    bool flat = is_flat(outputs);
    if (flat && mapping) {
        char **own = names ? NULL : tw__alloc_array((size_t)count + 1, sizeof *own);
        for (int i = 0; own && i < count; i++)
            own[i] = tw__format("output_%d", i + 1);
        char *const *known = names ? names : own;
        tw_status status = known ? check_names(value, known, count) : tw__error_status();
        if (status == TW_OK)
            status = places_by_key(value, known, count, all);
        tw__names_free(own, count);
        return status;
    }
    if (mapping && outputs->kind == TW_VALUE_DICT) {
        char **keys = keys_of(outputs, (int)(outputs->list.count / 2));
        tw_status status = keys ? places_by_key(value, keys, (int)(outputs->list.count / 2), all) : tw__error_status();
        tw__names_free(keys, (int)(outputs->list.count / 2));
        return status;
    }
    if (tw__is_nested(value) || !nested)
        return tw__structure_each(value, add_place, all);
    for (int i = 0; i < count; i++)
        add_place(all, value);
    return TW_OK;
}

/* ---- labels that can't be those of the outputs ---- */

static const char *type_of(const tw_value *value, bool given)
{
    return value->kind == TW_VALUE_DICT ? "dict" : value->kind == TW_VALUE_LIST && !given ? "list" : "tuple";
}

static tw_status other_length(int64_t given, int64_t expected)
{
    return tw__fail(
        TW_VALUE_ERROR,
        "The two structures don't have the same sequence length. Input structure has length %lld, while shallow structure "
        "has length %lld.",
        (long long)given, (long long)expected);
}

static const tw_value *member_of(const tw_value *dict, const tw_value *key)
{
    for (int64_t k = 0; k + 1 < dict->list.count; k += 2) {
        const tw_value *own = &dict->list.items[k];
        if (own->kind == key->kind && (key->kind == TW_VALUE_INT ? own->i == key->i : strcmp(own->s.data, key->s.data) == 0))
            return &dict->list.items[k + 1];
    }
    return NULL;
}

/* Labels are nested as the outputs are, or deeper; in a dict some may be missing. */
static tw_status check_labels(const tw_value *outputs, const tw_value *labels)
{
    if (!tw__is_nested(outputs) || labels->kind == TW_VALUE_NONE)
        return TW_OK;
    if (!tw__is_nested(labels))
        return tw__fail(TW_TYPE_ERROR, "If shallow structure is a sequence, input must also be a sequence. Input has a tensor.");
    bool dict = outputs->kind == TW_VALUE_DICT;
    if (dict != (labels->kind == TW_VALUE_DICT))
        return tw__fail(
            TW_TYPE_ERROR,
            "The two structures don't have the same sequence type. Input structure has type <class '%s'>, while shallow "
            "structure has type <class '%s'>.",
            type_of(labels, true), type_of(outputs, false));
    if (!dict) {
        if (labels->list.count != outputs->list.count)
            return other_length(labels->list.count, outputs->list.count);
        for (int64_t i = 0; i < outputs->list.count; i++)
            TW_TRY(check_labels(&outputs->list.items[i], &labels->list.items[i]));
        return TW_OK;
    }
    int64_t unknown = 0;
    for (int64_t k = 0; k + 1 < labels->list.count; k += 2)
        unknown += !member_of(outputs, &labels->list.items[k]);
    if (unknown)
        return other_length(outputs->list.count / 2 + unknown, outputs->list.count / 2);
    for (int64_t k = 0; k + 1 < outputs->list.count; k += 2) {
        const tw_value *own = member_of(labels, &outputs->list.items[k]);
        if (own)
            TW_TRY(check_labels(&outputs->list.items[k + 1], own));
    }
    return TW_OK;
}

static tw_status place(tw__trainer *t, tw__placed kind, const tw_value *nesting, const tw_value *outputs, int count,
                       char *const *names)
{
    if (nesting->kind == TW_VALUE_NONE)
        return TW_OK;
    int64_t next = 0, most = tw__structure_count(nesting) + count;
    tw_value numbered = { .kind = TW_VALUE_NONE };
    TW_TRY(tw__structure_map(nesting, count_leaf, &next, &numbered));
    places all = { tw__alloc_array((size_t)most + 1, sizeof *all.items), 0 };
    tw_status status = all.items ? find_places(&numbered, outputs, count, names, &all) : tw__error_status();
    tw_value_free(&numbered);
    if (status != TW_OK) {
        tw__free(all.items);
        return status;
    }
    t->places[kind] = all.items;
    t->place_counts[kind] = (int)all.count;
    return TW_OK;
}

/* Notes which labels and weights belong to which output, and the outputs' keys in a dict. */
static tw_status place_all(tw__trainer *t, bool checks, const tw_value *labels, const tw_value *weights, const tw_value *outputs,
                           int count, char *const *names)
{
    tw__trainer_forget_places(t);
    bool one_for_all = !tw__is_nested(labels), by_name = labels->kind == TW_VALUE_DICT && is_flat(outputs);
    if (checks && !one_for_all && !by_name)
        TW_TRY(check_labels(outputs, labels));
    TW_TRY(place(t, TW_LABELS, labels, outputs, count, names));
    TW_TRY(place(t, TW_WEIGHTS, weights, outputs, count, names));
    if (!t->output_keys && (!t->output_count || t->output_count == count))
        t->output_keys = keys_of(outputs, count);
    return TW_OK;
}

/* ---- calling the model ---- */

static tw_status no_structure(const tw__trainer *t)
{
    return tw__fail(TW_INTERNAL, "model \"%s\": the structure of the data is not known", t->model->name);
}

static void keep_outputs(tw__trainer *t, tw__mode mode, tw_value *numbers)
{
    tw__nesting *nesting = tw__trainer_nesting(t, mode);
    if (!nesting)
        return;
    tw_value_free(&nesting->outputs);
    nesting->outputs = *numbers;
    *numbers = (tw_value){ .kind = TW_VALUE_NONE };
}

tw_status tw__trainer_call(tw__trainer *t, tw__mode mode, tw_tensor *const *x, tw_tensor ***outputs, int *output_count,
                           char ***names)
{
    tw__nesting *nesting = tw__trainer_nesting(t, mode);
    tw__auto(tw_value_free) tw_value packed = { .kind = TW_VALUE_NONE }, result = packed, numbers = packed, sorted = packed;
    if (!nesting)
        return no_structure(t);
    TW_TRY(tw__nesting_pack(&nesting->parts[0], &x, &packed));
    tw_value arguments = { .kind = TW_VALUE_TUPLE, .list = { .items = &packed, .count = 1 } };
    TW_TRY(tw__layer_invoke(t->model, &arguments, NULL, mode == TW_TRAIN_MODE, &result));
    TW_TRY(flatten(&result, outputs, output_count, &numbers, &sorted));
    *names = names_of(t->model, &sorted, *output_count);
    nesting = tw__trainer_nesting(t, mode); /* the call may have made others */
    TW_TRY(place_all(t, mode != TW_PREDICT_MODE && !(t->own & TW_OWN_LOSS), &nesting->parts[1], &nesting->parts[2], &sorted,
                     *output_count, *names));
    keep_outputs(t, mode, &numbers);
    return TW_OK;
}

/* ---- what a subclass does itself ---- */

/* x, y and weights as the program gave them; weights of classes stand in the place of weights. */
static tw_status pack_data(tw__trainer *t, tw__mode mode, tw_tensor *const *batch, tw_value data[3])
{
    const tw__nesting *nesting = tw__trainer_nesting(t, mode);
    tw__parts parts = t->steps[mode].parts;
    if (!nesting)
        return no_structure(t);
    tw_tensor *const *at = batch;
    for (int i = 0; i < 3; i++)
        TW_TRY(tw__nesting_pack(&nesting->parts[i], &at, &data[i]));
    if (data[2].kind == TW_VALUE_NONE && parts.weights == 1 && mode != TW_PREDICT_MODE)
        data[2] = (tw_value){ .kind = TW_VALUE_TENSOR, .tensor = tw_retain(batch[parts.x + parts.y]) };
    return TW_OK;
}

static void free_values(tw_value *values, int count)
{
    for (int i = 0; i < count; i++)
        tw_value_free(&values[i]);
}

static char *name_inside(const char *outer, const tw_value *name)
{
    char inside[] = { outer ? TW_INSIDE : 0, 0 };
    if (name->kind == TW_VALUE_INT)
        return tw__format("%s%s%lld", outer ? outer : "", inside, (long long)name->i);
    return tw__format("%s%s%s", outer ? outer : "", inside, name->kind == TW_VALUE_STR ? name->s.data : "?");
}

static tw_status add_results(const char *outer, const tw_value *logs, tw_tensor **results, char **names, int *count)
{
    for (int64_t i = 0; i + 1 < logs->list.count; i += 2) {
        const tw_value *member = &logs->list.items[i + 1];
        char *name = name_inside(outer, &logs->list.items[i]);
        if (!name)
            return tw__error_status();
        if (member->kind == TW_VALUE_DICT) {
            tw_status status = add_results(name, member, results, names, count);
            tw__free(name);
            TW_TRY(status);
            continue;
        }
        names[*count] = name;
        results[*count] = tw__value_tensor(member, TW_DTYPE_NONE, name);
        *count += 1;
        if (!results[*count - 1])
            return tw__error_status();
    }
    return TW_OK;
}

/* The values of a step's dict by name. */
static tw_status read_logs(const tw_value *logs, tw_tensor ***results, int *count, char ***names)
{
    int64_t most = tw__structure_count(logs);
    *results = tw__alloc_array((size_t)most + 1, sizeof **results);
    *names = tw__alloc_array((size_t)most + 1, sizeof **names);
    *count = 0;
    tw_status status = *results && *names ? TW_OK : tw__error_status();
    if (status == TW_OK)
        status = add_results(NULL, logs, *results, *names, count);
    if (status != TW_OK) {
        tw__trainer_release_list(*results, *count);
        tw__names_free(*names, *count);
        *results = NULL;
        *names = NULL;
    }
    return status;
}

tw_status tw__trainer_foreign_step(tw__trainer *t, tw__mode mode, tw_tensor *const *batch, tw_tensor ***results, int *count,
                                   char ***names)
{
    tw_value data[3] = { 0 }, result = { .kind = TW_VALUE_NONE }, numbers = result, sorted = result;
    for (int i = 0; i < 3; i++)
        data[i].kind = TW_VALUE_NONE;
    tw_status status = pack_data(t, mode, batch, data);
    int64_t given = 3;
    while (given > 1 && data[given - 1].kind == TW_VALUE_NONE)
        given--;
    tw_value tuple = { .kind = TW_VALUE_TUPLE, .list = { .items = data, .count = given } };
    const tw__nesting *nesting = tw__trainer_nesting(t, mode);
    bool alone = given == 1 && nesting && nesting->bare;
    if (status == TW_OK)
        status = tw__language.step(t->model, (int)mode, alone ? &data[0] : &tuple, &result);
    *names = NULL;
    if (status == TW_OK && mode == TW_PREDICT_MODE) {
        status = flatten(&result, results, count, &numbers, &sorted);
        if (status == TW_OK)
            keep_outputs(t, mode, &numbers);
    } else if (status == TW_OK) {
        status = read_logs(&result, results, count, names);
    }
    free_values(data, 3);
    tw_value_free(&result);
    tw_value_free(&numbers);
    tw_value_free(&sorted);
    return status;
}

static tw_status foreign_losses(tw__trainer *t, tw__mode mode, bool update, tw_tensor *const *batch,
                                tw_tensor *const *predictions, int count, tw_tensor **loss)
{
    tw_value all[4] = { 0 }; /* x, y, predictions, weights */
    for (int i = 0; i < 4; i++)
        all[i].kind = TW_VALUE_NONE;
    tw_value data[3] = { all[0], all[1], all[2] };
    tw_status packed = pack_data(t, mode, batch, data);
    all[0] = data[0];
    all[1] = data[1];
    all[3] = data[2];
    all[2] = tw__nesting_outputs(t, t->steps[mode].parts.structure, (tw_tensors){ (tw_tensor **)(uintptr_t)predictions, count });
    tw_status status = packed == TW_OK ? tw__language.losses(t->model, update, all, loss) : packed;
    free_values(all, 4);
    return status;
}

tw_status tw__trainer_foreign_loss(tw__trainer *t, tw__mode mode, tw_tensor *const *batch, tw_tensor *const *predictions,
                                   int count, tw_tensor **loss)
{
    return foreign_losses(t, mode, false, batch, predictions, count, loss);
}

tw_status tw__trainer_foreign_update(tw__trainer *t, tw__mode mode, tw_tensor *const *batch, tw_tensor *const *predictions,
                                     int count)
{
    tw_tensor *none = NULL;
    return foreign_losses(t, mode, true, batch, predictions, count, &none);
}

/* ---- the compiled loss and metrics, called by a program's own step ---- */

typedef struct compared {
    tw__given given; /* labels and weights */
    tw_tensor **predictions;
    int count;
} compared;

static void compared_end(compared *c)
{
    for (int i = 0; i < 3; i++)
        tw_value_free(&c->given.own[i]);
    tw__given_free(&c->given);
    tw__trainer_release_list(c->predictions, c->count);
}

static tw_status compare(tw__trainer *t, const tw_value *y, const tw_value *predictions, const tw_value *weights, compared *c)
{
    tw__auto(tw_value_free) tw_value numbers = { .kind = TW_VALUE_NONE }, sorted = numbers;
    static const tw_value nothing = { .kind = TW_VALUE_NONE };
    *c = (compared){ 0 };
    c->given.arrays = c->given.few;
    bool none = y->kind == TW_VALUE_NONE;
    if (!none)
        TW_TRY(tw__given_read(NULL, (const tw_value *const[3]){ y, weights, NULL }, "compute_loss", &c->given));
    TW_TRY(flatten(predictions, &c->predictions, &c->count, &numbers, &sorted));
    char **names = names_of(t->model, &sorted, c->count);
    tw_status status =
        place_all(t, true, none ? &nothing : &c->given.own[0], none ? &nothing : &c->given.own[1], &sorted, c->count, names);
    if (status == TW_OK)
        status = tw__trainer_set_outputs(t, c->count, names);
    tw__names_free(names, c->count);
    return status;
}

TW_METHOD(
    model_compute_loss,
    "keras.Model._compute_loss(self: layer, y: value<arrays> = None, predictions: value<arrays> = None, weights: value<arrays> = None) -> value",
    "The loss of predictions as compile says, or None; labels and weights are matched with them.")
{
    tw__trainer *t = tw__trainer_of(args->self);
    compared c = { 0 };
    tw_tensor *loss = NULL;
    if (t && compare(t, &args->y, &args->predictions, &args->weights, &c) == TW_OK)
        tw__trainer_loss(t, c.given.arrays, c.given.parts.x, c.predictions, c.count, c.given.arrays + c.given.parts.x,
                         c.given.parts.y, &loss);
    compared_end(&c);
    return loss ? (tw_value){ .kind = TW_VALUE_TENSOR, .tensor = loss } : (tw_value){ .kind = TW_VALUE_NONE };
}

TW_METHOD(model_check_loss, "keras.Model._check_loss(self: layer, labels: bool, loss: bool)",
          "Refuses to train without a loss, and without labels for a compiled loss.")
{
    const tw__trainer *t = tw__trainer_of(args->self);
    return t ? tw__trainer_check_loss(t, args->labels, args->loss) : tw__error_status();
}

TW_METHOD(model_update_metrics,
          "keras.Model._update_metrics(self: layer, y: value<arrays> = None, predictions: value<arrays> = None, "
          "weights: value<arrays> = None)",
          "Brings the compiled metrics up to date.")
{
    tw__trainer *t = tw__trainer_of(args->self);
    compared c = { 0 };
    tw_status status = t ? compare(t, &args->y, &args->predictions, &args->weights, &c) : tw__error_status();
    if (status == TW_OK)
        status = tw__trainer_update(t, c.given.arrays, c.given.parts.x, c.predictions, c.count, c.given.arrays + c.given.parts.x,
                                    c.given.parts.y);
    compared_end(&c);
    return status;
}
