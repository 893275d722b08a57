/* Rows whose number depends on values, in functions that are compiled: a program's shapes are all known.
 *
 * The gradient of an embedding has such rows: indices without repetitions (Unique), how many they are (Size), the sums of what
 * belongs to each (UnsortedSegmentSum), and what an optimizer makes of them, until they are put into a variable. There the rows
 * become as many as there are indices: each stands where its index came first, and the others have the index -1, which scattering
 * leaves out. This holds as long as every step on the way looks at each row by itself. */
#include "exec/compile.h"
#include "op/resource.h"

typedef enum kind {
    NONE,
    ROWS,
    PLACES,
    COUNT
} kind; /* PLACES: which row each index belongs to; COUNT: how many rows there are */

typedef struct rows {
    tw__plan *plan;
    kind *kinds; /* by place */
    bool *distinct;
    int64_t most;
    tw__step_fits *fits;
    void *context;
} rows;

static tw__place *place_of(const rows *r, int32_t place)
{
    return &r->plan->places[place];
}

/* [most] and the dimensions of `shape` from `first` on. */
static tw_shape rows_shape(const rows *r, const tw_shape *shape, int first)
{
    tw_shape out = { .rank = 1, .dims = { r->most } };
    for (int i = first; i < shape->rank && out.rank < TW_MAX_RANK; i++)
        out.dims[out.rank++] = shape->dims[i];
    return out;
}

static void mark(rows *r, int32_t place, kind as, const tw_shape *shape)
{
    r->kinds[place] = as;
    place_of(r, place)->shape = *shape;
}

/* Elementwise: other operands are the same for all rows. */
static bool mark_elementwise(rows *r, const tw__step *step)
{
    tw_shape shape = TW_SCALAR;
    for (int i = 0; i < step->input_count; i++) {
        if (!tw__shape_broadcast(&shape, &place_of(r, step->inputs[i])->shape, &shape))
            return false;
    }
    for (int i = 0; i < step->input_count; i++) {
        const tw_shape *in = &place_of(r, step->inputs[i])->shape;
        kind as = r->kinds[step->inputs[i]];
        if (as == ROWS ? in->rank != shape.rank : as != NONE || !(in->rank < shape.rank || in->dims[0] == 1))
            return false;
    }
    mark(r, step->outputs[0], ROWS, &shape);
    r->distinct[step->outputs[0]] = step->input_count == 1 && r->distinct[step->inputs[0]] && !step->op->unary;
    return true;
}

/* Rows by index: GatherV2(x, indices, axis), ResourceGather(variable, indices). */
static bool mark_gather(rows *r, const tw__step *step)
{
    const tw__place *from = place_of(r, step->inputs[0]);
    tw_shape shape = from->shape;
    if (from->dtype == TW_RESOURCE) {
        tw__hlo held = tw__compile_value(r->plan, step->inputs[0]);
        shape = held.shape;
    }
    bool plain = r->kinds[step->inputs[0]] == NONE && r->kinds[step->inputs[1]] == ROWS && shape.rank > 0 &&
                 place_of(r, step->inputs[1])->shape.rank == 1 && tw__attr_find(step->op, step->attrs, "batch_dims")->i == 0;
    if (plain && step->input_count > 2) {
        const tw_tensor *axis = place_of(r, step->inputs[2])->constant;
        plain = axis && axis->count == 1 && tw_tensor_int_at(axis, 0) == 0;
    }
    if (plain) {
        shape = rows_shape(r, &shape, 1);
        mark(r, step->outputs[0], ROWS, &shape);
    }
    return plain;
}

/* UnsortedSegmentSum(data, places, count) */
static bool mark_sum(rows *r, const tw__step *step)
{
    const tw_shape *data = &place_of(r, step->inputs[0])->shape;
    if (r->kinds[step->inputs[0]] != NONE || r->kinds[step->inputs[1]] != PLACES || r->kinds[step->inputs[2]] != COUNT ||
        data->rank < 1)
        return false;
    tw_shape shape = rows_shape(r, data, 1);
    mark(r, step->outputs[0], ROWS, &shape);
    return true;
}

/* Ops that change rows of variables: all of indices and rows are marked, the rest are numbers. */
static bool is_update(const rows *r, const tw__step *step)
{
    bool scatters = tw__starts_with(step->op->name, "ResourceScatter") && !tw__starts_with(step->op->name, "ResourceScatterNd");
    if (!scatters && !tw__starts_with(step->op->name, "ResourceSparseApply"))
        return false;
    for (int i = 0; i < step->input_count; i++) {
        const tw__place *place = place_of(r, step->inputs[i]);
        kind as = r->kinds[step->inputs[i]];
        if (place->dtype != TW_RESOURCE && as != ROWS && (as != NONE || place->shape.rank != 0))
            return false;
    }
    return true;
}

static bool is_named(const tw__step *step, const char *name)
{
    return strcmp(step->op->name, name) == 0;
}

/* What a step makes of marked values; false: it must not see them. */
static bool follow(rows *r, const tw__step *step)
{
    if (is_named(step, "Size")) {
        r->kinds[step->outputs[0]] = COUNT;
        return r->kinds[step->inputs[0]] == ROWS;
    }
    if (is_named(step, "UnsortedSegmentSum"))
        return mark_sum(r, step);
    if (is_named(step, "GatherV2") || is_named(step, "ResourceGather"))
        return mark_gather(r, step);
    if (step->op->unary || step->op->binary || is_named(step, "Cast") || is_named(step, "Identity"))
        return step->output_count == 1 && mark_elementwise(r, step);
    return is_update(r, step);
}

static bool sees(const rows *r, const tw__step *step)
{
    for (int i = 0; i < step->input_count; i++) {
        if (r->kinds[step->inputs[i]] != NONE)
            return true;
    }
    return false;
}

/* Whether all that is made of the step's rows stands that they are more. */
static bool try_rows(rows *r, int first)
{
    tw__plan *plan = r->plan;
    const tw__step *unique = &plan->steps[first];
    tw_shape shape = TW_SHAPE(r->most);
    mark(r, unique->outputs[0], ROWS, &shape);
    mark(r, unique->outputs[1], PLACES, &shape);
    r->distinct[unique->outputs[0]] = true;
    if (!r->fits(r->context, unique))
        return false;
    for (int s = first + 1; s < plan->step_count; s++) {
        const tw__step *step = &plan->steps[s];
        if (sees(r, step) && (step->run || !follow(r, step) || !r->fits(r->context, step)))
            return false;
    }
    for (int k = 0; k < plan->output_count; k++) {
        if (r->kinds[plan->outputs[k]] != NONE)
            return false;
    }
    return true;
}

tw_status tw__compile_rows(tw__plan *plan, bool *distinct, tw__step_fits *fits, void *context)
{
    size_t places = (size_t)plan->place_count + 1;
    for (int s = 0; s < plan->step_count; s++) {
        const tw__step *step = &plan->steps[s];
        if (!is_named(step, "Unique"))
            continue;
        const tw_shape *in = &plan->places[step->inputs[0]].shape;
        tw__owned kind *kinds = tw__alloc_array(places, sizeof *kinds);
        tw__owned tw_shape *before = tw__alloc_array(places, sizeof *before);
        TW_NEED(kinds && before);
        for (int32_t p = 0; p < plan->place_count; p++)
            before[p] = plan->places[p].shape;
        rows r = { plan, kinds, distinct, in->rank == 1 ? in->dims[0] : -1, fits, context };
        if (r.most > 0 && try_rows(&r, s))
            continue;
        for (int32_t p = 0; p < plan->place_count; p++)
            plan->places[p].shape = before[p];
        for (int32_t p = 0; p < plan->place_count; p++)
            distinct[p] &= kinds[p] == NONE;
    }
    return TW_OK;
}
