/* Lists and their stores; see list.h. */
#include "kernel/kernel.h"
#include "op/list/list.h"

static void store_destroy(void *self)
{
    tw__list_store *store = self;
    for (int64_t i = 0; i < store->count; i++)
        tw_release(store->items[i]);
    tw__free(store->items);
    tw__free(store->ages);
}

static const tw_class store_class = { .name = "TensorListStore", .size = sizeof(tw__list_store), .destroy = store_destroy };

static void list_destroy(void *self)
{
    tw_release(((tw__list *)self)->store);
}

const tw_class tw__list_class = { .name = "TensorList", .size = sizeof(tw__list), .destroy = list_destroy };

static void lock(tw__list_store *store)
{
    tw__hold_take(&store->lock);
}

static void unlock(tw__list_store *store)
{
    tw__hold_give(&store->lock);
}

static tw_status reserve(tw__list_store *store, int64_t count)
{
    TW_TRY(TW_GROW(store->items, store->item_capacity, (size_t)count));
    TW_TRY(TW_GROW(store->ages, store->age_capacity, (size_t)count));
    for (; store->count < count; store->count++) {
        store->items[store->count] = NULL;
        store->ages[store->count] = 0;
    }
    return TW_OK;
}

/* A list of the same kind with a store of its own or another's. */
static tw__list *list_like(const tw__list *like, tw__list_store *store)
{
    tw__list *list = tw__object_new(&tw__list_class);
    if (!list)
        return NULL;
    list->dtype = like->dtype;
    list->shape = like->shape;
    list->count = like->count;
    list->age = like->age;
    list->limit = like->limit;
    list->store = store ? tw_retain(store) : tw__object_new(&store_class);
    if (!list->store) {
        tw_release(list);
        return NULL;
    }
    return list;
}

tw__list *tw__list_new(tw_dtype dtype, const tw_shape *shape, int64_t count)
{
    tw__list *list = list_like(&(tw__list){ .dtype = dtype, .shape = *shape, .count = count, .limit = -1 }, NULL);
    if (list && reserve(list->store, count) != TW_OK) {
        tw_release(list);
        return NULL;
    }
    return list;
}

tw__list *tw__list_of(const tw_op *op, const tw_tensor *handle)
{
    tw_object *object = tw__tensor_object(handle);
    if (handle->dtype == TW_VARIANT && tw__is(object, &tw__list_class))
        return (tw__list *)object;
    tw__fail(TW_INVALID_ARGUMENT, "%s: input handle is not a list: the variant holds %s", op->name,
             object ? tw_class_name(object) : "nothing");
    return NULL;
}

/* Under the lock. */
static tw_tensor *visible(const tw__list *list, int64_t index)
{
    const tw__list_store *store = list->store;
    return index >= 0 && index < list->count && index < store->count && store->ages[index] <= list->age ? store->items[index]
                                                                                                        : NULL;
}

tw_tensor *tw__list_get(tw__list *list, int64_t index)
{
    lock(list->store);
    tw_tensor *item = tw_retain(visible(list, index));
    unlock(list->store);
    return item;
}

static tw__list *copy_of(tw__list *list)
{
    tw__list *copy = list_like(list, NULL);
    if (copy && reserve(copy->store, list->count) != TW_OK) {
        tw_release(copy);
        return NULL;
    }
    if (!copy)
        return NULL;
    lock(list->store);
    for (int64_t i = 0; i < list->count; i++)
        copy->store->items[i] = tw_retain(visible(list, i));
    unlock(list->store);
    copy->age = 0;
    return copy;
}

tw__list *tw__list_with(tw__list *list, int64_t index, tw_tensor *item)
{
    tw__list_store *store = list->store;
    int64_t count = index >= list->count ? index + 1 : list->count;
    lock(store);
    bool shared = list->age == store->latest && (index >= store->count || !store->items[index]);
    if (shared && reserve(store, count) != TW_OK) {
        unlock(store);
        return NULL;
    }
    uint64_t age = 0;
    if (shared) {
        store->items[index] = tw_retain(item);
        age = store->ages[index] = ++store->latest;
    }
    unlock(store);
    tw__list *made = shared ? list_like(list, store) : copy_of(list);
    if (made && shared) {
        made->age = age;
    } else if (made) {
        if (reserve(made->store, count) != TW_OK) {
            tw_release(made);
            return NULL;
        }
        tw__set(&made->store->items[index], item);
    }
    if (made)
        made->count = count;
    return made;
}

tw__list *tw__list_resized(tw__list *list, int64_t count)
{
    if (count <= list->count) {
        tw__list *made = list_like(list, list->store);
        if (made)
            made->count = count;
        return made;
    }
    tw__list *made = copy_of(list);
    if (made && reserve(made->store, count) != TW_OK) {
        tw_release(made);
        return NULL;
    }
    if (made)
        made->count = count;
    return made;
}

/* ---- zeros and sums ---- */

tw_tensor *tw__list_zeros(tw_dtype dtype, const tw_shape *shape)
{
    tw_tensor *zeros = tw__tensor_empty(dtype, shape);
    if (zeros && dtype != TW_STRING && dtype != TW_VARIANT && dtype != TW_RESOURCE)
        memset(zeros->data, 0, (size_t)zeros->count * tw__element_size(dtype));
    return zeros;
}

static tw_tensor *wrap(tw__list *list)
{
    tw_tensor *tensor = list ? tw__tensor_of_object(TW_VARIANT, list) : NULL;
    tw_release(list);
    return tensor;
}

static tw_tensor *zeros_of(const tw_op *op, tw_tensor *item)
{
    return item->dtype == TW_VARIANT ? tw__list_zeros_like(op, item) : tw__list_zeros(item->dtype, &item->shape);
}

tw_tensor *tw__list_zeros_like(const tw_op *op, const tw_tensor *handle)
{
    if (!tw__tensor_object(handle)) /* a stand-in for a value that was not computed */
        return tw__tensor_empty(TW_VARIANT, &handle->shape);
    tw__list *list = tw__list_of(op, handle);
    tw__list *made = list ? tw__list_new(list->dtype, &list->shape, list->count) : NULL;
    for (int64_t i = 0; made && i < list->count; i++) {
        tw_tensor *item = tw__list_get(list, i);
        if (!item)
            continue;
        made->store->items[i] = zeros_of(op, item);
        tw_release(item);
        if (!made->store->items[i]) {
            tw_release(made);
            return NULL;
        }
    }
    return wrap(made);
}

tw_tensor *tw__list_sum(const tw_op *op, tw_tensor *a, tw_tensor *b)
{
    if (a->dtype == TW_VARIANT)
        return tw__list_add(op, a, b);
    if (a->dtype == b->dtype && (a->dtype == TW_BOOL || a->dtype == TW_STRING)) /* a gradient that nobody uses */
        return tw_retain(a);
    if (a->dtype != b->dtype || !tw__shape_equal(&a->shape, &b->shape) || !tw__binary_has(&tw__binary_add, a->dtype)) {
        tw__fail(TW_INVALID_ARGUMENT, "%s: items of lists that are added are %s %s and %s %s", op->name, tw_dtype_name(a->dtype),
                 tw__shape_text(&a->shape), tw_dtype_name(b->dtype), tw__shape_text(&b->shape));
        return NULL;
    }
    tw_tensor *sum = tw__tensor_empty(a->dtype, &a->shape);
    if (sum)
        tw__binary_row(&tw__binary_add, a->dtype, a->data, b->data, sum->data, a->count, TW_ROW_BOTH);
    return sum;
}

tw_tensor *tw__list_add(const tw_op *op, const tw_tensor *a_handle, const tw_tensor *b_handle)
{
    if (!tw__tensor_object(a_handle) ||
        !tw__tensor_object(b_handle)) { /* a stand-in for a value that was not computed: nothing */
        tw_object *list = tw__tensor_object(tw__tensor_object(a_handle) ? a_handle : b_handle);
        return list ? tw__tensor_of_object(TW_VARIANT, list) : tw__tensor_empty(TW_VARIANT, &a_handle->shape);
    }
    tw__list *a = tw__list_of(op, a_handle), *b = a ? tw__list_of(op, b_handle) : NULL;
    if (!b)
        return NULL;
    if (a->dtype != b->dtype || a->count != b->count) {
        tw__fail(TW_INVALID_ARGUMENT,
                 "%s: Trying to add two lists of tensors with different lengths or dtypes: %lld %s and %lld %s", op->name,
                 (long long)a->count, tw_dtype_name(a->dtype), (long long)b->count, tw_dtype_name(b->dtype));
        return NULL;
    }
    tw__list *made = tw__list_new(a->dtype, &a->shape, a->count);
    for (int64_t i = 0; made && i < a->count; i++) {
        tw_tensor *x = tw__list_get(a, i), *y = tw__list_get(b, i);
        made->store->items[i] = x && y ? tw__list_sum(op, x, y) : tw_retain(x ? x : y);
        bool failed = x && y && !made->store->items[i];
        tw_release(x);
        tw_release(y);
        if (failed) {
            tw_release(made);
            return NULL;
        }
    }
    return wrap(made);
}

/* ---- for the rows ---- */

tw_status tw__list_output(tw__kernel *kernel, int index, tw__list *list)
{
    return tw__output_take(kernel, index, wrap(list));
}

tw_status tw__list_shape_from(const tw_op *op, const tw_tensor *tensor, tw_shape *shape)
{
    int64_t dims[TW_MAX_RANK];
    *shape = TW_UNKNOWN_SHAPE;
    if (tensor->shape.rank == 0) {
        TW_TRY(tw__tensor_read_ints(tensor, "element_shape", dims, 1));
        if (dims[0] != -1)
            return tw__fail(TW_INVALID_ARGUMENT,
                            "%s: The only valid scalar shape tensor is the fully unknown shape specified as -1.", op->name);
        return TW_OK;
    }
    if (tensor->shape.rank != 1 || tensor->count > TW_MAX_RANK)
        return tw__fail(TW_INVALID_ARGUMENT, "%s: element_shape of shape %s", op->name, tw__shape_text(&tensor->shape));
    TW_TRY(tw__tensor_read_ints(tensor, "element_shape", dims, TW_MAX_RANK));
    shape->rank = (int32_t)tensor->count;
    for (int i = 0; i < shape->rank; i++) {
        if (dims[i] < -1)
            return tw__fail(TW_INVALID_ARGUMENT, "%s: Dimension %lld must be >= -1", op->name, (long long)dims[i]);
        shape->dims[i] = dims[i];
    }
    return TW_OK;
}

bool tw__list_merge_shapes(const tw_shape *a, const tw_shape *b, tw_shape *out)
{
    if (!tw__shape_compatible(a, b))
        return false;
    tw_shape merged = a->rank >= 0 ? *a : *b;
    for (int i = 0; a->rank >= 0 && b->rank >= 0 && i < a->rank; i++)
        merged.dims[i] = a->dims[i] >= 0 ? a->dims[i] : b->dims[i];
    *out = merged;
    return true;
}

tw_status tw__list_check_dtype(const tw__list *list, tw_dtype dtype)
{
    if (list->dtype == dtype)
        return TW_OK;
    return tw__fail(TW_INVALID_ARGUMENT, "Invalid data types; op elements %s but list elements %s", tw__dtype_text(dtype),
                    tw__dtype_text(list->dtype));
}

tw_status tw__list_scalar(const tw_op *op, const tw_tensor *tensor, const char *what, int64_t *value)
{
    if (tensor->count != 1)
        return tw__fail(TW_INVALID_ARGUMENT, "%s: %s must be a scalar, got shape %s", op->name, what,
                        tw__shape_text(&tensor->shape));
    return tw__tensor_read_ints(tensor, what, value, 1);
}

tw_status tw__list_copy_elements(tw_tensor *to, int64_t at, const tw_tensor *from, int64_t from_at, int64_t count)
{
    size_t size = tw__element_size(to->dtype);
    if (to->dtype == TW_STRING) {
        for (int64_t i = 0; i < count; i++) {
            const tw_string *s = (const tw_string *)from->data + from_at + i;
            TW_TRY(tw__string_set(to, at + i, s->data, s->size));
        }
    } else if (to->dtype == TW_VARIANT || to->dtype == TW_RESOURCE) {
        for (int64_t i = 0; i < count; i++)
            tw__set((tw_object **)to->data + at + i, ((tw_object **)from->data)[from_at + i]);
    } else if (count) {
        memcpy((char *)to->data + (size_t)at * size, (const char *)from->data + (size_t)from_at * size, (size_t)count * size);
    }
    return TW_OK;
}

tw_status tw__list_unequal(const tw_shape *a, const tw_shape *b)
{
    if (a->rank != b->rank)
        return tw__fail(TW_INVALID_ARGUMENT, "PartialTensorShape: Incompatible ranks during merge: %d vs. %d", a->rank, b->rank);
    return tw__fail(TW_INVALID_ARGUMENT, "PartialTensorShape: Incompatible shapes during merge: %s vs. %s", tw__shape_text(a),
                    tw__shape_text(b));
}

tw_status tw__list_item_shape(tw__list *list, const tw_shape *given, tw_shape *shape)
{
    if (!tw__list_merge_shapes(&list->shape, given, shape))
        return tw__list_unequal(given, &list->shape);
    for (int64_t i = 0; i < list->count; i++) {
        tw_tensor *item = tw__list_get(list, i);
        if (!item)
            continue;
        bool fits = tw__list_merge_shapes(shape, &item->shape, shape);
        if (!fits)
            tw__list_unequal(shape, &item->shape);
        tw_release(item);
        if (!fits)
            return TW_INVALID_ARGUMENT;
    }
    return TW_OK;
}
