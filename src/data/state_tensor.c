/* Tensors in states of cursors. A tensor of variants is written object by object: a ragged tensor's parts, a part of a sparse
 * tensor, a dataset of elements that are there (a window), a shard of a saved dataset. */
#include "data/state.h"
#include "graph/graphdef.h"
#include "op/ragged/ragged.h"
#include "rows.h"

enum { NONE, NUMBERS, VARIANTS };                                  /* what stands for a tensor */
enum { EMPTY, RAGGED_PARTS, TENSOR, LISTED, SHARD, OBJECT_KINDS }; /* and for an object of a variant */

static const tw__packed_dataset *const packed[] = { [LISTED] = &tw__packed_listed, [SHARD] = &tw__packed_shard };

static void variants_state(tw__state *state, tw_tensor **tensor);

static void numbers_state(tw__state *state, tw_tensor **tensor)
{
    tw__auto(tw__text_free) tw__text text = { 0 };
    if (state->saving && tw__tensor_message_body(&text, *tensor) != TW_OK)
        state->status = tw__error_status();
    tw__state_text(state, "tensor", &text);
    tw__tensor_message message;
    if (tw__state_good(state) && !state->saving) {
        size_t budget = text.size + 64;
        tw_status status = tw__tensor_message_open((tw_string){ text.data ? text.data : "", text.size }, &message);
        *tensor = status == TW_OK ? tw__tensor_message_read(&message, -1, &budget) : NULL;
        if (!*tensor)
            state->status = tw__error_status();
    }
}

void tw__state_tensor(tw__state *state, const char *name, tw_tensor **tensor)
{
    if (state->resting)
        return;
    int64_t kind = !*tensor ? NONE : (*tensor)->dtype == TW_VARIANT ? VARIANTS : NUMBERS;
    if (state->saving && *tensor && (*tensor)->dtype == TW_RESOURCE)
        tw__state_fail(state, TW_UNIMPLEMENTED, "an element that is a resource can't be saved");
    tw__state_int(state, name, &kind);
    if (!tw__state_good(state))
        return;
    if (!state->saving) {
        tw_release(*tensor);
        *tensor = NULL;
    }
    if (kind == NUMBERS)
        numbers_state(state, tensor);
    else if (kind == VARIANTS)
        variants_state(state, tensor);
}

void tw__state_tensors(tw__state *state, const char *name, tw_tensor ***tensors, int count)
{
    bool there = *tensors != NULL;
    tw__state_bool(state, name, &there);
    if (!tw__state_good(state) || !there)
        return;
    if (!*tensors && !(*tensors = tw__alloc_array((size_t)count + 1, sizeof **tensors))) {
        state->status = tw__error_status();
        return;
    }
    for (int i = 0; i < count; i++)
        tw__state_tensor(state, "component", &(*tensors)[i]);
}

void tw__state_elements(tw__state *state, const char *name, tw__elements *elements)
{
    if (state->resting)
        return;
    int64_t size = (int64_t)elements->size;
    tw__state_int(state, name, &size);
    if (!tw__state_good(state))
        return;
    if (!state->saving)
        tw__elements_free(elements);
    for (int64_t i = 0; tw__state_good(state) && i < size; i++) {
        tw_tensor **place = state->saving ? elements->items + i * elements->count : tw__elements_room(elements);
        if (!place) {
            state->status = tw__error_status();
            return;
        }
        if (!state->saving) {
            memset(place, 0, (size_t)elements->count * sizeof *place);
            elements->size++;
        }
        for (int k = 0; k < elements->count; k++)
            tw__state_tensor(state, "component", &place[k]);
    }
}

/* ---- objects of variants ---- */

static void shape_state(tw__state *state, tw_shape *shape)
{
    int64_t rank = shape->rank;
    tw__state_int(state, "rank", &rank);
    if (tw__state_good(state) && (rank < -1 || rank > TW_MAX_RANK))
        tw__state_fail(state, TW_DATA_LOSS, "a tensor of rank %lld", (long long)rank);
    for (int d = 0; tw__state_good(state) && d < rank; d++)
        tw__state_int(state, "dimension", &shape->dims[d]);
    shape->rank = (int32_t)rank;
}

static void ragged_state(tw__state *state, tw_object **object)
{
    tw_tensor *parts[TW_RAGGED_LEVELS + 1] = { NULL };
    int64_t count = *object ? tw__ragged_variant_parts(*object, parts) : 0;
    tw__state_int(state, "parts", &count);
    if (tw__state_good(state) && (count < 1 || count > TW_RAGGED_LEVELS + 1))
        tw__state_fail(state, TW_DATA_LOSS, "a ragged tensor of %lld parts", (long long)count);
    for (int64_t i = 0; tw__state_good(state) && i < count; i++)
        tw__state_tensor(state, "part", &parts[i]);
    if (state->saving)
        return;
    for (int64_t i = 0; tw__state_good(state) && i < count; i++) {
        if (!parts[i])
            tw__state_fail(state, TW_DATA_LOSS, "a part of a ragged tensor is missing");
    }
    if (tw__state_good(state) && !(*object = tw__ragged_variant_of(parts, (int)count)))
        state->status = tw__error_status();
    for (int i = 0; i <= TW_RAGGED_LEVELS; i++)
        tw_release(parts[i]);
}

static void dataset_state(tw__state *state, const tw__packed_dataset *kind, tw_object **object)
{
    tw__dataset *dataset = (tw__dataset *)*object;
    int64_t count = dataset ? dataset->count : 0, dtype;
    tw__state_int(state, "components", &count);
    if (tw__state_good(state) && (count < 0 || count > 1 << 20))
        tw__state_fail(state, TW_DATA_LOSS, "a dataset of %lld components", (long long)count);
    tw__owned tw_dtype *dtypes = tw__state_good(state) ? tw__alloc_array((size_t)count + 1, sizeof *dtypes) : NULL;
    tw__owned tw_shape *shapes = dtypes ? tw__alloc_array((size_t)count + 1, sizeof *shapes) : NULL;
    if (!shapes && tw__state_good(state))
        state->status = tw__error_status();
    for (int64_t i = 0; tw__state_good(state) && i < count; i++) {
        if (dataset) {
            dtypes[i] = dataset->dtypes[i];
            shapes[i] = dataset->shapes[i];
        }
        dtype = dtypes[i];
        tw__state_int(state, "dtype", &dtype);
        dtypes[i] = (tw_dtype)dtype;
        shape_state(state, &shapes[i]);
    }
    if (tw__state_good(state) && !dataset && !(dataset = kind->make(dtypes, shapes, (int)count)))
        state->status = tw__error_status();
    if (tw__state_good(state))
        kind->state(dataset, state);
    if (!state->saving)
        *object = (tw_object *)dataset;
}

static int64_t object_kind(tw__state *state, const tw_object *object)
{
    if (!object)
        return EMPTY;
    if (tw__is_ragged_variant(object))
        return RAGGED_PARTS;
    if (object->class == &tw__tensor_class)
        return TENSOR;
    for (int i = LISTED; i < OBJECT_KINDS; i++) {
        if (object->class == packed[i]->class)
            return i;
    }
    tw__state_fail(state, TW_UNIMPLEMENTED, "an element that is a %s can't be saved", tw_class_name(object));
    return EMPTY;
}

static void object_state(tw__state *state, tw_object **object)
{
    int64_t kind = object_kind(state, *object);
    tw__state_int(state, "object", &kind);
    if (tw__state_good(state) && (kind < 0 || kind >= OBJECT_KINDS))
        tw__state_fail(state, TW_DATA_LOSS, "a value of kind %lld", (long long)kind);
    if (!tw__state_good(state) || kind == EMPTY)
        return;
    if (++state->depth > 200)
        tw__state_fail(state, TW_RESOURCE_EXHAUSTED, "values are nested more than 200 deep");
    else if (kind == RAGGED_PARTS)
        ragged_state(state, object);
    else if (kind == TENSOR)
        tw__state_tensor(state, "inner", (tw_tensor **)object);
    else
        dataset_state(state, packed[kind], object);
    state->depth--;
}

static void variants_state(tw__state *state, tw_tensor **tensor)
{
    tw_shape shape = *tensor ? (*tensor)->shape : TW_SCALAR;
    shape_state(state, &shape);
    int64_t count = 0;
    if (tw__state_good(state) && !state->saving) {
        for (int d = 0; d < shape.rank; d++) {
            if (shape.dims[d] < 0)
                tw__state_fail(state, TW_DATA_LOSS, "a negative dimension");
        }
        /* an object takes some bytes */
        if (tw__state_good(state) && (tw__shape_count(&shape, &count) != TW_OK || count > (int64_t)(state->size - state->at))) {
            tw_clear_error();
            tw__state_fail(state, TW_DATA_LOSS, "a tensor of more values than there are");
        }
        if (tw__state_good(state) && !(*tensor = tw__tensor_empty(TW_VARIANT, &shape)))
            state->status = tw__error_status();
    }
    for (int64_t i = 0; tw__state_good(state) && i < (*tensor)->count; i++)
        object_state(state, &((tw_object **)(*tensor)->data)[i]);
}
