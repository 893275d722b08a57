/* How the data of fit, evaluate and predict is nested: x, labels and weights are each a tensor, a structure of such, or parts of
 * a dataset's elements. Batches are flat lists of tensors; the trainer keeps the structures, and a batch tells the number of its
 * own. */
#include "api/composite.h"
#include "data/data.h"
#include "keras/models/training.h"
#include "rows.h"
#include "spec/structure.h"

static const tw_value present = { .kind = TW_VALUE_INT };

void tw__given_free(tw__given *given)
{
    for (int i = 0; i < given->count; i++)
        tw_release(given->arrays[i]);
    if (given->arrays != given->few)
        tw__free(given->arrays);
    *given = (tw__given){ 0 };
}

/* ---- arrays ---- */

static tw_status add_array(tw__given *given, tw_tensor *array)
{
    int room = (int)(sizeof given->few / sizeof given->few[0]);
    if (given->count >= room && (given->count & (given->count - 1)) == 0) {
        tw_tensor **wider = tw__alloc_array((size_t)given->count * 2, sizeof *wider);
        if (!wider)
            return tw__error_status();
        memcpy(wider, given->arrays, (size_t)given->count * sizeof *wider);
        if (given->arrays != given->few)
            tw__free(given->arrays);
        given->arrays = wider;
    }
    given->arrays[given->count++] = tw_retain(array);
    return TW_OK;
}

static tw_status take_leaf(void *context, const tw_value *leaf, tw_value *mapped)
{
    if (leaf->kind == TW_VALUE_NONE)
        return TW_OK;
    tw_auto tw_tensor *tensor =
        leaf->kind == TW_VALUE_TENSOR ? tw_retain(leaf->tensor) : tw__value_tensor(leaf, TW_DTYPE_NONE, "data");
    if (!tensor)
        return tw__error_status();
    *mapped = present;
    return add_array(context, tensor);
}

/* Adds the tensors of a structure; *nesting has a number where each stands. */
static tw_status take_arrays(tw__given *given, const tw_value *value, tw_value *nesting, int *count)
{
    int before = given->count;
    tw_status status = TW_OK;
    if (!tw__is_nested(value)) {
        status = take_leaf(given, value, nesting);
    } else {
        tw_value sorted = tw__value_copy(value);
        status = sorted.kind == value->kind ? tw__structure_settle(&sorted) : tw__error_status();
        if (status == TW_OK)
            status = tw__structure_map(&sorted, take_leaf, given, nesting);
        tw_value_free(&sorted);
    }
    *count = given->count - before;
    return status;
}

/* ---- datasets ---- */

static tw_status wrong_data(const tw_value *structure)
{
    tw__owned char *text = tw__element_text(structure);
    tw_status status =
        tw__fail(TW_VALUE_ERROR, "Data is expected to be in format `x`, `(x,)`, `(x, y)`, or `(x, y, sample_weight)`, found: %s",
                 text ? text : "");
    return status;
}

static int flat_count(const tw_value *structure)
{
    int count = 0;
    tw_spec *specs = tw__element_specs(structure, &count);
    tw__free(specs);
    return specs ? count : -1;
}

/* Specs of what is no tensor stay: they make the value of its tensors again. */
static tw_status take_spec(void *context, const tw_value *leaf, tw_value *mapped)
{
    int *total = context, count = flat_count(leaf);
    if (count < 0)
        return tw__error_status();
    *total += count;
    if (count)
        *mapped = tw__element_leaf(leaf, &tw__class_tensor_spec) ? present : tw__value_copy(leaf);
    return TW_OK;
}

static bool is_plain_tuple(const tw_value *value)
{
    return value->kind == TW_VALUE_TUPLE && !value->list.form;
}

static tw_status take_dataset(struct tw_dataset *dataset, tw_value nesting[3], int counts[3])
{
    const tw_value *whole = &dataset->structure;
    bool tuple = is_plain_tuple(whole);
    int64_t count = tuple ? whole->list.count : 1;
    if (count < 1 || count > 3)
        return wrong_data(whole);
    for (int i = 0; i < count; i++)
        TW_TRY(tw__structure_map(tuple ? &whole->list.items[i] : whole, take_spec, &counts[i], &nesting[i]));
    return TW_OK;
}

/* ---- structures by number ---- */

static bool same_key(const tw_value *a, const tw_value *b)
{
    if (a->kind != b->kind)
        return false;
    return a->kind == TW_VALUE_INT
               ? a->i == b->i
               : a->kind == TW_VALUE_STR && a->s.size == b->s.size && !memcmp(a->s.data, b->s.data, a->s.size);
}

static bool same(const tw_value *a, const tw_value *b)
{
    if (a->kind != b->kind)
        return false;
    if (a->kind == TW_VALUE_OBJECT)
        return tw__element_same(a, b);
    if (!tw__is_nested(a))
        return true;
    bool alike = a->list.count == b->list.count;
    for (int64_t i = 0; alike && i < a->list.count; i++) {
        const tw_value *one = &a->list.items[i], *other = &b->list.items[i];
        alike = a->kind == TW_VALUE_DICT && i % 2 == 0 ? same_key(one, other) : same(one, other);
    }
    return alike;
}

static void free_three(tw_value three[3])
{
    for (int i = 0; i < 3; i++)
        tw_value_free(&three[i]);
}

/* The number of a structure, which is taken; -1: an error. */
static int number_of(tw__trainer *t, tw_value three[3], bool bare)
{
    tw__deep_take(&t->lock);
    int at = 0;
    while (at < t->nesting_count && !(t->nestings[at].bare == bare && same(&t->nestings[at].parts[0], &three[0]) &&
                                      same(&t->nestings[at].parts[1], &three[1]) && same(&t->nestings[at].parts[2], &three[2])))
        at++;
    if (at < t->nesting_count) {
        free_three(three);
    } else {
        tw__nesting *wider = tw__realloc(t->nestings, sizeof *wider * (size_t)(at + 1));
        if (wider) {
            t->nestings = wider;
            wider[at] = (tw__nesting){ .parts = { three[0], three[1], three[2] }, .bare = bare };
            t->nesting_count++;
        } else {
            free_three(three);
            at = -1;
        }
    }
    tw__deep_give(&t->lock);
    return at;
}

void tw__trainer_free_nestings(tw__trainer *t)
{
    for (int i = 0; i < t->nesting_count; i++) {
        free_three(t->nestings[i].parts);
        tw_value_free(&t->nestings[i].outputs);
    }
    tw__free(t->nestings);
    t->nestings = NULL;
    t->nesting_count = 0;
}

tw__nesting *tw__trainer_nesting(tw__trainer *t, tw__mode mode)
{
    int number = t->steps[mode].parts.structure;
    return number < t->nesting_count ? &t->nestings[number] : NULL;
}

static tw_status refuse_further(const tw_value *y, const tw_value *weights)
{
    const char *name = y && y->kind != TW_VALUE_NONE ? "y" : weights && weights->kind != TW_VALUE_NONE ? "sample_weight" : NULL;
    return name ? tw__fail(TW_VALUE_ERROR, "`%s` argument is not supported when using dataset as input.", name) : TW_OK;
}

tw_status tw__given_read(tw__trainer *t, const tw_value *const parts[3], const char *who, tw__given *given)
{
    tw_value three[3] = { 0 };
    int counts[3] = { 0 };
    bool bare;
    tw_status status = TW_OK;
    *given = (tw__given){ .arrays = given->few };
    for (int i = 0; i < 3; i++)
        three[i].kind = TW_VALUE_NONE;
    if (parts[0]->kind == TW_VALUE_OBJECT && tw__is(parts[0]->object, &tw__class_dataset)) {
        given->dataset = parts[0]->object;
        status = refuse_further(parts[1], parts[2]);
        if (status == TW_OK)
            status = take_dataset(given->dataset, three, counts);
        bare = !is_plain_tuple(&given->dataset->structure);
    } else {
        for (int i = 0; status == TW_OK && i < 3; i++)
            status = parts[i] ? take_arrays(given, parts[i], &three[i], &counts[i]) : TW_OK;
        if (status == TW_OK && t && !counts[0])
            status = tw__fail(TW_VALUE_ERROR, "%s: there is no x", who);
        bare = !counts[1] && !tw__is_nested(&three[0]);
    }
    if (status != TW_OK || !t) { /* without a trainer, only the tensors are asked for */
        for (int i = 0; i < 3; i++) {
            if (status == TW_OK && !t)
                given->own[i] = three[i];
            else
                tw_value_free(&three[i]);
        }
    } else {
        int number = number_of(t, three, bare);
        given->parts.structure = number;
        status = number >= 0 ? TW_OK : tw__error_status();
    }
    given->parts.x = counts[0];
    given->parts.y = counts[1];
    given->parts.weights = counts[2];
    if (status != TW_OK)
        tw__given_free(given);
    return status;
}

/* ---- packing ---- */

static tw_status next_leaf(void *context, const tw_value *leaf, tw_value *mapped)
{
    tw_tensor *const **at = context;
    if (leaf->kind == TW_VALUE_NONE)
        return TW_OK;
    if (leaf->kind != TW_VALUE_OBJECT) {
        *mapped = (tw_value){ .kind = TW_VALUE_TENSOR, .tensor = tw_retain(*(*at)++) };
        return TW_OK;
    }
    int count = flat_count(leaf);
    tw__owned tw_tensor **parts = count >= 0 ? tw__alloc_array((size_t)count + 1, sizeof *parts) : NULL;
    if (!parts)
        return tw__error_status();
    for (int i = 0; i < count; i++)
        parts[i] = tw_retain(*(*at)++);
    tw_status status = tw__element_pack(leaf, parts, count, mapped);
    return status;
}

tw_status tw__nesting_pack(const tw_value *nesting, tw_tensor *const **at, tw_value *value)
{
    return tw__structure_map(nesting, next_leaf, at, value);
}

static tw_status numbered_leaf(void *context, const tw_value *leaf, tw_value *mapped)
{
    const tw_tensors *all = context;
    if (leaf->i >= all->count)
        return tw__fail(TW_INTERNAL, "the outputs of a model differ in number");
    *mapped = (tw_value){ .kind = TW_VALUE_TENSOR, .tensor = tw_retain(all->items[leaf->i]) };
    return TW_OK;
}

tw_value tw__nesting_outputs(tw__trainer *t, int number, tw_tensors outputs)
{
    tw_value packed = { .kind = TW_VALUE_NONE };
    tw__deep_take(&t->lock);
    const tw_value *nesting = number < t->nesting_count ? &t->nestings[number].outputs : NULL;
    if (nesting && tw__is_nested(nesting))
        tw__structure_map(nesting, numbered_leaf, &outputs, &packed);
    else
        packed = (tw_value){ .kind = TW_VALUE_TENSOR, .tensor = tw_retain(outputs.items[0]) };
    tw__deep_give(&t->lock);
    return packed;
}

TW_API(training_arrays, "keras.utils._arrays(data: value<arrays>) -> value",
       "Data as fit takes it: arrays as tensors, floats as float32, in their structure.")
{
    return tw__value_copy(&args->data);
}
