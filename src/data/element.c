/* Structures of the specs of elements; see element.h. A ragged tensor is carried by a scalar variant, a sparse one by three of
 * them, a dataset or an optional by its own variant, None by nothing. Values of other kinds are carried by their parts. */
#include "data/element.h"

#include "api/ragged/ragged.h"
#include "api/sparse/sparse.h"
#include "data/data.h"
#include "data/element_leaf.h"
#include "rows.h"

tw__leaf_kind tw__leaf_kind_of(const void *spec)
{
    static const tw_class *const classes[] = {
        [TENSOR] = &tw__class_tensor_spec,   [RAGGED] = &tw__class_ragged_tensor_spec, [SPARSE] = &tw__class_sparse_tensor_spec,
        [DATASET] = &tw__class_dataset_spec, [OPTIONAL] = &tw__class_optional_spec,    [NOTHING] = &tw__class_nothing_spec
    };
    int kind = TENSOR;
    while (kind < PARTS && !tw__is(spec, classes[kind]))
        kind++;
    return (tw__leaf_kind)kind;
}

tw_status tw__leaf_check(const tw_value *leaf)
{
    if (leaf->kind == TW_VALUE_OBJECT && tw__is(leaf->object, &tw__class_type_spec))
        return TW_OK;
    return tw__fail(TW_TYPE_ERROR, "the structure of a dataset's elements must hold `tf.TypeSpec`s, got %s",
                    leaf->kind == TW_VALUE_OBJECT ? tw_class_name(leaf->object) : "a value of another kind");
}

/* ---- flat specs ---- */

int tw__leaf_flat(const void *spec, tw_spec *flat)
{
    static const tw_spec variant = { TW_VARIANT, { .rank = 0 } };
    tw__leaf_kind kind = tw__leaf_kind_of(spec);
    if (kind == PARTS) {
        tw_shape shapes[TW_COMPOSITE_PARTS];
        tw_dtype dtypes[TW_COMPOSITE_PARTS];
        int count = tw__spec_parts(spec, shapes, dtypes);
        for (int i = 0; flat && i < count; i++)
            flat[i] = (tw_spec){ dtypes[i], shapes[i] };
        return count;
    }
    if (kind == NOTHING)
        return 0;
    if (flat && kind == TENSOR)
        *flat = (tw_spec){ ((const tw_tensor_spec *)spec)->dtype, ((const tw_tensor_spec *)spec)->shape };
    else if (flat && kind == SPARSE)
        *flat = (tw_spec){ TW_VARIANT, TW_SHAPE(3) };
    else if (flat)
        *flat = variant;
    return 1;
}

typedef struct flat_list {
    tw_spec *specs;
    int count;
} flat_list;

static tw_status add_flat(void *context, const tw_value *leaf)
{
    flat_list *list = context;
    TW_TRY(tw__leaf_check(leaf));
    list->count += tw__leaf_flat(leaf->object, list->specs ? list->specs + list->count : NULL);
    return TW_OK;
}

tw_status tw__element_check(const tw_value *structure)
{
    return tw__structure_each(structure, add_flat, &(flat_list){ NULL, 0 });
}

tw_spec *tw__element_specs(const tw_value *structure, int *count)
{
    flat_list list = { NULL, 0 };
    if (tw__structure_each(structure, add_flat, &list) != TW_OK)
        return NULL;
    list = (flat_list){ tw__alloc_array((size_t)list.count + 1, sizeof *list.specs), 0 };
    if (list.specs)
        tw__structure_each(structure, add_flat, &list);
    *count = list.count;
    return list.specs;
}

tw_status tw__element_of_specs(const tw_spec *specs, int count, tw_value *structure)
{
    *structure = (tw_value){ .kind = TW_VALUE_NONE };
    tw_value *items = tw__alloc_array((size_t)count + 1, sizeof *items);
    tw_value tuple = { .kind = TW_VALUE_TUPLE, .list = { .items = items } };
    for (; items && tuple.list.count < count; tuple.list.count++) {
        const tw_spec *spec = &specs[tuple.list.count];
        items[tuple.list.count] = tw__leaf_of(tw__tensor_spec_new(spec->dtype, &spec->shape, NULL));
        if (items[tuple.list.count].kind == TW_VALUE_NONE)
            break;
    }
    if (!items || tuple.list.count < count) {
        tw_value_free(&tuple);
        return tw__error_status();
    }
    *structure = tuple;
    if (count == 1) {
        *structure = items[0];
        tw__free(items);
    }
    return TW_OK;
}

/* ---- structures into structures ---- */

static tw_status renew_leaf(void *context, const tw_value *leaf, tw_value *mapped)
{
    const tw_spec **specs = context;
    TW_TRY(tw__leaf_check(leaf));
    const tw_spec *own = *specs;
    *specs += tw__leaf_flat(leaf->object, NULL);
    *mapped = tw__leaf_of(tw__leaf_kind_of(leaf->object) == TENSOR ? (void *)tw__tensor_spec_new(own->dtype, &own->shape, NULL)
                                                                   : tw_retain(leaf->object));
    return mapped->kind == TW_VALUE_OBJECT ? TW_OK : tw__error_status();
}

tw_status tw__element_renewed(const tw_value *structure, const tw_spec *specs, tw_value *renewed)
{
    return tw__structure_map(structure, renew_leaf, &specs, renewed);
}

static tw_status batch_leaf(void *context, const tw_value *leaf, tw_value *mapped)
{
    int64_t size = *(const int64_t *)context;
    void *made = NULL;
    if (tw__leaf_kind_of(leaf->object) == RAGGED) {
        const struct tw_ragged_tensor_spec *spec = leaf->object;
        tw_shape shape = tw__shape_stacked(&spec->shape, size);
        made = tw__ragged_spec_new(&shape, spec->dtype, spec->ragged_rank + 1, spec->splits_dtype);
    } else if (tw__leaf_kind_of(leaf->object) == SPARSE) {
        const struct tw_sparse_tensor_spec *spec = leaf->object;
        tw_shape shape = tw__shape_stacked(&spec->shape, size);
        made = tw__sparse_spec_new(&shape, spec->dtype);
    } else {
        made = tw_retain(leaf->object);
    }
    *mapped = tw__leaf_of(made);
    return made ? TW_OK : tw__error_status();
}

tw_status tw__element_batched(const tw_value *structure, int64_t size, tw_value *batched)
{
    return tw__structure_map(structure, batch_leaf, &size, batched);
}

tw_status tw__leaf_row(__attribute__((unused)) void *context, const tw_value *leaf, tw_value *mapped)
{
    void *made = NULL;
    if (tw__leaf_kind_of(leaf->object) == RAGGED) {
        const struct tw_ragged_tensor_spec *spec = leaf->object;
        tw_shape shape = tw__shape_row(&spec->shape);
        made = spec->ragged_rank ? (void *)tw__ragged_spec_new(&shape, spec->dtype, spec->ragged_rank - 1, spec->splits_dtype)
                                 : (void *)tw__tensor_spec_new(spec->dtype, &shape, NULL);
    } else if (tw__leaf_kind_of(leaf->object) == SPARSE) {
        const struct tw_sparse_tensor_spec *spec = leaf->object;
        tw_shape shape = tw__shape_row(&spec->shape);
        made = tw__sparse_spec_new(&shape, spec->dtype);
    } else {
        made = tw_retain(leaf->object);
    }
    *mapped = tw__leaf_of(made);
    return made ? TW_OK : tw__error_status();
}

tw_status tw__element_row(const tw_value *structure, tw_value *row)
{
    return tw__structure_map(structure, tw__leaf_row, NULL, row);
}

/* ---- questions ---- */

static tw_dtype dtype_of(const void *spec)
{
    tw__leaf_kind kind = tw__leaf_kind_of(spec);
    return kind == TENSOR   ? ((const tw_tensor_spec *)spec)->dtype
           : kind == RAGGED ? ((const struct tw_ragged_tensor_spec *)spec)->dtype
           : kind == SPARSE ? ((const struct tw_sparse_tensor_spec *)spec)->dtype
                            : TW_DTYPE_NONE;
}

static bool equal_specs(const void *one, const void *other)
{
    tw__owned char *own = tw__spec_text(one), *text = own ? tw__spec_text(other) : NULL;
    return text && strcmp(own, text) == 0;
}

/* Of leaves of the same dtype and kind `exactly` asks for equal ones. */
static bool compare(const tw_value *one, const tw_value *other, bool exactly)
{
    int64_t count = 0, others = 0;
    if (!tw__structure_alike(one, other))
        return false;
    const tw_value **a = tw__structure_leaves(one, &count), **b = tw__structure_leaves(other, &others);
    bool same = a && b && count == others;
    for (int64_t i = 0; same && i < count; i++) {
        tw_dtype dtype = dtype_of(a[i]->object), its = dtype_of(b[i]->object);
        same = exactly
                   ? equal_specs(a[i]->object, b[i]->object)
                   : dtype == its && (dtype != TW_DTYPE_NONE || tw__leaf_kind_of(a[i]->object) == tw__leaf_kind_of(b[i]->object));
    }
    tw__free((void *)a);
    tw__free((void *)b);
    return same;
}

bool tw__element_same(const tw_value *one, const tw_value *other)
{
    return compare(one, other, true);
}

bool tw__element_fits(const tw_value *one, const tw_value *other)
{
    return compare(one, other, false);
}

static void leaf_text(tw__text *text, const tw_value *leaf)
{
    tw__owned char *own = leaf->kind == TW_VALUE_OBJECT ? tw__spec_text(leaf->object) : NULL;
    tw__text_add(text, own ? own : "None");
}

char *tw__element_text(const tw_value *structure)
{
    tw__text text = { 0 };
    tw__structure_text(structure, leaf_text, &text);
    return tw__text_take(&text);
}

static tw_status find_composite(void *context, const tw_value *leaf)
{
    tw__leaf_kind kind = tw__leaf_kind_of(leaf->object);
    *(bool *)context |= kind == RAGGED || kind == SPARSE;
    return TW_OK;
}

bool tw__element_is_composite(const tw_value *structure)
{
    bool found = false;
    tw__structure_each(structure, find_composite, &found);
    return found;
}

const void *tw__element_leaf(const tw_value *structure, const tw_class *class_row)
{
    return structure->kind == TW_VALUE_OBJECT && tw__is(structure->object, class_row) ? structure->object : NULL;
}

/* ---- states ---- */

typedef struct state_leaves {
    const tw_value **news; /* those of the new state that are left */
    const char *invalid;   /* the argument that gives states; NULL: reduce_func, which is not named */
} state_leaves;

static tw_status state_fails(const state_leaves *state, const char *what, const char *before, const char *after)
{
    const char *old = before ? before : "", *new = after ? after : "", *name = state->invalid;
    if (name && strcmp(name, "reducer") == 0)
        return tw__fail(TW_TYPE_ERROR,
                        "Invalid `reducer`. The element %s for the new state %s do not match the element %s of the old state %s.",
                        what, new, what, old);
    return tw__fail(TW_TYPE_ERROR, "%s%s%sThe element %s for the new state must match the initial state. Expected %s%s got %s.",
                    name ? "Invalid `" : "", name ? name : "", name ? "`. " : "", what, old, name ? "," : " but", new);
}

static tw_status state_leaf(void *context, const tw_value *leaf, tw_value *mapped)
{
    state_leaves *leaves = context;
    const tw_value *other = *leaves->news++;
    if (tw__leaf_kind_of(leaf->object) != TENSOR || tw__leaf_kind_of(other->object) != TENSOR) {
        *mapped = tw__leaf_of(tw_retain(leaf->object));
        return TW_OK;
    }
    const tw_tensor_spec *before = leaf->object, *after = other->object;
    if (before->dtype != after->dtype) {
        char own[40], its[40];
        snprintf(own, sizeof own, "<dtype: '%s'>", tw_dtype_name(before->dtype));
        snprintf(its, sizeof its, "<dtype: '%s'>", tw_dtype_name(after->dtype));
        return state_fails(leaves, "types", own, its);
    }
    tw_shape shape = before->shape;
    if (shape.rank != after->shape.rank)
        shape = TW_UNKNOWN_SHAPE;
    for (int d = 0; d < shape.rank; d++)
        shape.dims[d] = shape.dims[d] == after->shape.dims[d] ? shape.dims[d] : -1;
    *mapped = tw__leaf_of(tw__tensor_spec_new(before->dtype, &shape, before->name));
    return mapped->kind == TW_VALUE_OBJECT ? TW_OK : tw__error_status();
}

tw_status tw__element_state(const tw_value *before, const tw_value *after, const char *invalid, tw_value *state)
{
    int64_t count = 0;
    *state = (tw_value){ .kind = TW_VALUE_NONE };
    TW_TRY(tw__element_check(before));
    TW_TRY(tw__element_check(after));
    if (!tw__structure_alike(before, after)) {
        tw__owned char *own = tw__element_text(before), *other = tw__element_text(after);
        tw_status failed = state_fails(&(state_leaves){ NULL, invalid }, "structure", own, other);
        return failed;
    }
    const tw_value **news = tw__structure_leaves(after, &count);
    tw_status status = news ? tw__structure_map(before, state_leaf, &(state_leaves){ news, invalid }, state) : tw__error_status();
    tw__free((void *)news);
    return status;
}
