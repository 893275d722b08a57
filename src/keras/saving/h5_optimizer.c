/* The optimizer's variables in HDF5 files. Three layouts of `optimizer_weights` are in use:
 *
 *     Keras 2.11 and later    iteration, then the slots variable by variable ("iteration:0", "Adam/m/dense/kernel:0",
 * "Adam/v/dense/kernel:0") TensorFlow's own up to 2.10, and the `legacy` optimizers    iterations, then slot by slot
 * ("Adam/iter:0", "Adam/dense/kernel/m:0", …) Keras 2.0 to 2.3        slot by slot without telling names ("Adam/iterations:0",
 * "training/Adam/Variable:0", or "param_0"). Up to 2.2.4 RMSprop, Adagrad and Adadelta have no iterations, and Adam has an empty
 * third slot. */
#include "keras/models/training.h"
#include "keras/optimizers/optimizers.h"
#include "keras/saving/h5.h"

tw_status tw__keras_build_optimizer(tw_layer *model, int64_t *count)
{
    tw_variable **variables;
    TW_TRY(tw__collect_variables(&model->trackable, TW_TRAINABLE_VARIABLES, &variables, count));
    tw_status status = tw__optimizer_build(tw__trainer_of(model)->optimizer, &(tw_objects){ (void *const *)variables, *count });
    tw__free(variables);
    return status;
}

static bool fits(const tw_trackable *all, const tw_tensors *values)
{
    if (values->count != (int64_t)all->child_count)
        return false;
    for (int64_t i = 0; i < values->count; i++) {
        if (!tw__shape_equal(&((const tw_variable *)all->children[i].object)->resource->shape, &values->items[i]->shape))
            return false;
    }
    return true;
}

static tw_status set_value(tw_variable *variable, tw_tensor *value)
{
    tw_auto tw_tensor *cast = tw__cast(value, variable->resource->dtype);
    return cast ? tw__variable_set(variable, cast) : tw__error_status();
}

/* ---- slot by slot ---- */

typedef struct old_state {
    tw_optimizer *optimizer;
    const tw_tensors *values;
    bool told;            /* "…/iter:0" is the first name */
    bool by_variable;     /* the slots of one variable stand side by side: Ftrl */
    tw_variable *product; /* Nadam's, or NULL */
    int64_t begin, kinds; /* of the slots in the values */
} old_state;

static bool has_slot(const old_state *s, int kind)
{
    return s->optimizer->slots[kind] && s->optimizer->trained_count;
}

/* `kind` counts those that are there. */
static tw_tensor *slot_value(const old_state *s, int64_t kind, int64_t index)
{
    return s->values->items[s->begin + (s->by_variable ? index * s->kinds + kind : kind * s->optimizer->trained_count + index)];
}

static bool is_number(const tw_tensors *values, int64_t i)
{
    return i < values->count && values->items[i]->shape.rank == 0 && values->items[i]->dtype != TW_STRING;
}

/* How many values stand before the slots: the iterations, and Nadam's product. */
static int64_t count_before(const old_state *s)
{
    int64_t trained = s->optimizer->trained_count, count = s->values->count;
    bool first = is_number(s->values, 0);
    if (s->product && s->told)
        return count - 2 * trained;
    if (s->product && first && is_number(s->values, 1) && count == 2 + 2 * trained)
        return 2;
    if (!s->told && trained == 1 && first && s->optimizer->trained[0]->resource->shape.rank == 0 &&
        !tw__dtype_is_integer(s->values->items[0]->dtype))
        return 0; /* the only weight is a number itself */
    return s->told || (first && (!trained || count % trained == 1 || trained == 1)) ? 1 : 0;
}

/* All slots that the optimizer has are there in the right shapes. What a file has more, SGD's moments without momentum say, is
 * not needed; SGD without momentum may have none. */
static bool old_fits(old_state *s)
{
    int64_t trained = s->optimizer->trained_count, left, n = 0;
    s->begin = count_before(s);
    left = s->values->count - s->begin;
    if (s->begin < 0 || s->begin > 2 || left < 0 || (trained ? left % trained : left))
        return false;
    s->kinds = trained ? left / trained : 0;
    if (!s->kinds &&
        (tw__is(s->optimizer, tw_class_find("optimizers_sgd")) || tw__is(s->optimizer, tw_class_find("optimizers_legacy_sgd"))))
        return true;
    for (int kind = 0; kind < TW_MAX_SLOTS; kind++) {
        if (!has_slot(s, kind))
            continue;
        for (int64_t i = 0; i < trained; i++) {
            if (n >= s->kinds || !tw__shape_equal(&s->optimizer->slots[kind][i]->resource->shape, &slot_value(s, n, i)->shape))
                return false;
        }
        n++;
    }
    return true;
}

static tw_status set_old(const old_state *s)
{
    if (s->begin)
        TW_TRY(set_value(s->optimizer->iterations, s->values->items[0]));
    if (s->begin == 2)
        TW_TRY(set_value(s->product, s->values->items[1]));
    for (int kind = 0, n = 0; kind < TW_MAX_SLOTS && n < s->kinds; kind++) {
        for (int64_t i = 0; has_slot(s, kind) && i < s->optimizer->trained_count; i++)
            TW_TRY(set_value(s->optimizer->slots[kind][i], slot_value(s, n, i)));
        n += has_slot(s, kind);
    }
    return TW_OK;
}

/* ---- all of them ---- */

static tw_status set_state(tw_optimizer *optimizer, const tw_tensors *values, const char *first_name)
{
    bool told = tw__ends_with(first_name, "/iter:0"), today = tw__ends_with(first_name, "iteration:0");
    old_state old = { .optimizer = optimizer,
                      .values = values,
                      .told = told,
                      .product = optimizer->cache ? optimizer->cache : tw__nadam_product(optimizer),
                      .by_variable = tw__is(optimizer, tw_class_find("optimizers_ftrl")) ||
                                     tw__is(optimizer, tw_class_find("optimizers_legacy_ftrl")) };
    today = today && !tw__optimizer_is_legacy(optimizer);
    bool own = !tw__methods(optimizer); /* a class of the program's own: its variables in their order */
    if ((own || (!told && (today || optimizer->all->child_count < 3))) && fits(optimizer->all, values)) {
        for (int64_t i = 0; i < values->count; i++)
            TW_TRY(set_value((tw_variable *)optimizer->all->children[i].object, values->items[i]));
        return TW_OK;
    }
    if (!own && !today && old_fits(&old))
        return set_old(&old);
    tw__log(
        "WARNING",
        "Error in loading the saved optimizer state. As a result, your model is starting with a freshly initialized optimizer.");
    return TW_OK;
}

tw_status tw__h5_load_optimizer(tw__hdf5 *file, tw_layer *model)
{
    const tw__hdf5_node *group = tw__hdf5_find(file->root, "optimizer_weights");
    tw__trainer *trainer = tw__trainer_of(model);
    if (!trainer || !group || !trainer->optimizer)
        return trainer ? TW_OK : tw__error_status();
    int64_t trained;
    TW_TRY(tw__keras_build_optimizer(model, &trained));
    size_t count;
    tw__owned char **names = tw__hdf5_texts(group, "weight_names", file->file.path, &count);
    if (!names)
        return tw__error_status();
    tw__auto(tw_tensors_free) tw_tensors values = tw__h5_values(file, group);
    tw_status status = values.items ? set_state(trainer->optimizer, &values, count ? names[0] : "") : tw__error_status();
    return status;
}
