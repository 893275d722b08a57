/* The optimizer's variables in HDF5 files. Three layouts of `optimizer_weights` are in use:
 *
 *     Keras 2.11 and later    iteration, then the slots variable by variable ("iteration:0", "Adam/m/dense/kernel:0", "Adam/v/dense/kernel:0")
 *     TensorFlow's own up to 2.10, and the `legacy` optimizers    iterations, then slot by slot ("Adam/iter:0", "Adam/dense/kernel/m:0", …)
 *     Keras 2.0 to 2.3        slot by slot without telling names ("Adam/iterations:0", "training/Adam/Variable:0", or "param_0"). Up to 2.2.4
 *                             RMSprop, Adagrad and Adadelta have no iterations, and Adam has an empty third slot. */
#include "keras/models/training.h"
#include "keras/optimizers/optimizers.h"
#include "keras/saving/h5.h"

tw_status tw__keras_build_optimizer(tw_layer *model, int64_t *count)
{
    tw_variable **variables;
    TW_TRY(tw__collect_variables(&model->trackable, TW_TRAINABLE_VARIABLES, &variables, count));
    tw_status status = tw__impl_optimizer_build(
        &(tw_optimizer_build_args){ .self = tw__trainer_of(model)->optimizer, .var_list = { (void *const *)variables, *count } });
    tw__free(variables);
    return status;
}

/* Where the saved value for the optimizer's variable i stands. */
static int64_t saved_place(int64_t i, bool old, int64_t trained, int64_t count)
{
    int64_t kinds = trained ? (count - 1) / trained : 0;
    if (!old || !i || kinds * trained != count - 1)
        return i;
    return 1 + (i - 1) % kinds * trained + (i - 1) / kinds;
}

static bool fits(const tw_trackable *all, const tw_tensors *values, bool old, int64_t trained)
{
    if (values->count != (int64_t)all->child_count)
        return false;
    for (int64_t i = 0; i < values->count; i++) {
        const tw_variable *variable = (const tw_variable *)all->children[i].object;
        if (!tw__shape_equal(&variable->resource->shape, &values->items[saved_place(i, old, trained, values->count)]->shape))
            return false;
    }
    return true;
}

static tw_status set_value(tw_variable *variable, tw_tensor *value)
{
    tw_auto tw_tensor *cast = tw__cast(value, variable->resource->dtype);
    return cast ? tw__variable_set(variable, cast) : tw__error_status();
}

/* ---- Keras 2.0 to 2.3 ---- */

typedef struct first_state {
    tw_optimizer *optimizer;
    const tw_tensors *values;
    int64_t begin, kinds; /* of the slots in the values */
} first_state;

static bool has_slot(const first_state *s, int64_t kind)
{
    return kind < TW_MAX_SLOTS && s->optimizer->slots[kind] && s->optimizer->trained_count;
}

static tw_tensor *slot_value(const first_state *s, int64_t kind, int64_t index)
{
    return s->values->items[s->begin + kind * s->optimizer->trained_count + index];
}

/* All slots that the optimizer has are there in the right shapes. What a file has more, SGD's moments without momentum say, is not needed. */
static bool first_fits(first_state *s)
{
    int64_t trained = s->optimizer->trained_count, left;
    const tw_tensor *first = s->values->count ? s->values->items[0] : NULL;
    s->begin = first && first->shape.rank == 0 && first->dtype != TW_STRING && (!trained || s->values->count % trained == 1 || trained == 1) ? 1 : 0;
    if (trained == 1 && s->begin && s->optimizer->trained[0]->resource->shape.rank == 0 && !tw__dtype_is_integer(first->dtype))
        s->begin = 0; /* the only weight is a number itself */
    left = s->values->count - s->begin;
    s->kinds = trained ? left / trained : 0;
    if (trained ? left % trained : left)
        return false;
    for (int64_t kind = 0; kind < TW_MAX_SLOTS; kind++) {
        for (int64_t i = 0; has_slot(s, kind) && i < trained; i++) {
            if (kind >= s->kinds || !tw__shape_equal(&s->optimizer->slots[kind][i]->resource->shape, &slot_value(s, kind, i)->shape))
                return false;
        }
    }
    return true;
}

static tw_status set_first(const first_state *s)
{
    if (s->begin)
        TW_TRY(set_value(s->optimizer->iterations, s->values->items[0]));
    for (int64_t kind = 0; kind < s->kinds; kind++) {
        for (int64_t i = 0; has_slot(s, kind) && i < s->optimizer->trained_count; i++)
            TW_TRY(set_value(s->optimizer->slots[kind][i], slot_value(s, kind, i)));
    }
    return TW_OK;
}

/* ---- all of them ---- */

static tw_status set_state(tw_optimizer *optimizer, const tw_tensors *values, const char *first_name, int64_t trained)
{
    bool by_slots = tw__ends_with(first_name, "/iter:0"), told = by_slots || tw__ends_with(first_name, "iteration:0");
    first_state first = { .optimizer = optimizer, .values = values };
    if (fits(optimizer->all, values, by_slots, trained) && (told || optimizer->all->child_count < 3)) {
        for (int64_t i = 0; i < values->count; i++)
            TW_TRY(set_value((tw_variable *)optimizer->all->children[i].object, values->items[saved_place(i, by_slots, trained, values->count)]));
        return TW_OK;
    }
    if (!told && first_fits(&first))
        return set_first(&first);
    tw__log("WARNING", "Error in loading the saved optimizer state. As a result, your model is starting with a freshly initialized optimizer.");
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
    char **names = tw__hdf5_texts(group, "weight_names", file->file.path, &count);
    if (!names)
        return tw__error_status();
    tw_tensors values = tw__h5_values(file, group);
    tw_status status = values.items ? set_state(trainer->optimizer, &values, count ? names[0] : "", trained) : tw__error_status();
    tw_tensors_free(&values);
    tw__free(names);
    return status;
}
