/* Sets that are the rows of tensors or of sparse tensors: their sizes, union, intersection and differences.
 *
 * Members of all sets stand in one list, sorted by set and value and without doubles; an operation goes through two such lists at
 * once. */
#include <stdlib.h>

#include "kernel/copy.h"
#include "op/array/array.h"
#include "rows.h"

#define KINDS "T: {int8, int16, int32, int64, uint8, uint16, string}"

typedef struct member {
    int64_t set; /* the number of its row */
    int64_t number;
    tw_string text;
} member;

typedef struct members {
    member *list; /* for tw__free */
    int64_t count;
    tw_shape rows; /* the dimensions without the last */
} members;

static void members_end(members *m)
{
    tw__free(m->list);
}

static int compare(const void *a, const void *b)
{
    const member *x = a, *y = b;
    if (x->set != y->set)
        return x->set < y->set ? -1 : 1;
    if (!x->text.data)
        return x->number < y->number ? -1 : x->number > y->number;
    size_t least = x->text.size < y->text.size ? x->text.size : y->text.size;
    int order = least ? memcmp(x->text.data, y->text.data, least) : 0;
    return order ? order : x->text.size < y->text.size ? -1 : x->text.size > y->text.size;
}

static void take(members *m, const tw_tensor *values, int64_t at, int64_t set)
{
    member *one = &m->list[m->count++];
    *one = (member){ .set = set };
    if (values->dtype == TW_STRING) {
        one->text = tw_tensor_string_at(values, at);
        one->text.data = one->text.data ? one->text.data : "";
    } else {
        one->number = tw_tensor_int_at(values, at);
    }
}

static void order(members *m)
{
    int64_t kept = 0;
    if (m->count)
        qsort(m->list, (size_t)m->count, sizeof *m->list, compare);
    for (int64_t i = 0; i < m->count; i++) {
        if (!kept || compare(&m->list[kept - 1], &m->list[i]) != 0)
            m->list[kept++] = m->list[i];
    }
    m->count = kept;
}

static tw_status read_dense(tw__kernel *kernel, int input, members *m)
{
    const tw_tensor *values = kernel->inputs[input];
    if (values->shape.rank < 2)
        return TW_OP_FAIL(kernel, TW_INVALID_ARGUMENT,
                          "Invalid input shape rank %d: sets are the rows of tensors of rank 2 or more.", values->shape.rank);
    m->rows = values->shape;
    int64_t size = m->rows.dims[--m->rows.rank];
    TW_NEED(m->list = tw__alloc_array((size_t)values->count + 1, sizeof *m->list));
    for (int64_t i = 0; i < values->count; i++)
        take(m, values, i, i / size);
    order(m);
    return TW_OK;
}

/* Row numbers, checked; with `validate` the places must be in order. */
static tw_status read_sparse(tw__kernel *kernel, int input, bool validate, members *m)
{
    const tw_tensor *places = kernel->inputs[input], *values = kernel->inputs[input + 1], *shape = kernel->inputs[input + 2];
    int64_t rank = shape->count;
    if (places->shape.rank != 2 || shape->shape.rank != 1 || values->shape.rank != 1 || places->shape.dims[1] != rank ||
        places->shape.dims[0] != values->count)
        return TW_OP_FAIL(kernel, TW_INVALID_ARGUMENT, "indices %s, values %s and shape %s are no sparse tensor",
                          tw__shape_text(&places->shape), tw__shape_text(&values->shape), tw__shape_text(&shape->shape));
    if (rank < 2 || rank > TW_MAX_RANK)
        return TW_OP_FAIL(kernel, TW_INVALID_ARGUMENT, "Invalid input shape rank %lld, expected 2 to %d", (long long)rank,
                          TW_MAX_RANK);
    const int64_t *at = places->data, *dims = shape->data;
    m->rows = (tw_shape){ .rank = (int)rank - 1 };
    int64_t total = 1;
    for (int k = 0; k < rank; k++) {
        if (dims[k] < 0 || (k < rank - 1 && __builtin_mul_overflow(total, dims[k], &total)))
            return TW_OP_FAIL(kernel, TW_INVALID_ARGUMENT, "dimension %d of the shape is %lld", k, (long long)dims[k]);
        m->rows.dims[k] = dims[k];
    }
    TW_NEED(m->list = tw__alloc_array((size_t)values->count + 1, sizeof *m->list));
    for (int64_t i = 0; i < values->count; i++) {
        int64_t set = 0;
        int before = 0; /* how this place compares to the one before */
        for (int k = 0; k < rank; k++) {
            int64_t place = at[i * rank + k], last = i ? at[(i - 1) * rank + k] : -1;
            if (place < 0 || place >= dims[k])
                return TW_OP_FAIL(kernel, TW_INVALID_ARGUMENT,
                                  "indices[%lld, %d] = %lld is out of bounds: need 0 <= index < %lld", (long long)i, k,
                                  (long long)place, (long long)dims[k]);
            before = before ? before : place < last ? -1 : place > last;
            set = k < rank - 1 ? set * dims[k] + place : set;
        }
        if (validate && i && before <= 0)
            return TW_OP_FAIL(kernel, TW_INVALID_ARGUMENT, "indices[%lld] is %s", (long long)i,
                              before ? "out of order" : "repeated");
        take(m, values, i, set);
    }
    order(m);
    return TW_OK;
}

/* ---- an operation on two lists ---- */

typedef enum operation { A_MINUS_B, B_MINUS_A, INTERSECTION, UNION } operation;

static tw_status read_operation(tw__kernel *kernel, operation *which)
{
    static const char *const names[] = { "a-b", "b-a", "intersection", "union" };
    tw_string given = TW_ATTR(kernel, "set_operation")->s;
    for (int i = 0; i < 4; i++) {
        if (given.size == strlen(names[i]) && strncasecmp(given.data, names[i], given.size) == 0) {
            *which = (operation)i;
            return TW_OK;
        }
    }
    return TW_OP_FAIL(kernel, TW_INVALID_ARGUMENT, "Invalid set_operation %.*s.", (int)(given.size < 100 ? given.size : 100),
                      given.data);
}

static int64_t combine(const members *a, const members *b, operation which, member *out)
{
    int64_t i = 0, k = 0, count = 0;
    while (i < a->count || k < b->count) {
        int sign = i == a->count ? 1 : k == b->count ? -1 : compare(&a->list[i], &b->list[k]);
        const member *least = sign <= 0 ? &a->list[i] : &b->list[k];
        bool keep = which == UNION || (which == A_MINUS_B && sign < 0) || (which == B_MINUS_A && sign > 0) ||
                    (which == INTERSECTION && sign == 0);
        if (keep)
            out[count++] = *least;
        i += sign <= 0;
        k += sign >= 0;
    }
    return count;
}

static tw_status give(tw__kernel *kernel, const tw_shape *rows, const member *list, int64_t count)
{
    int64_t greatest = 0, size = 0, rank = rows->rank + 1;
    for (int64_t i = 0; i < count; i++) {
        size = i && list[i].set == list[i - 1].set ? size + 1 : 1;
        greatest = size > greatest ? size : greatest;
    }
    tw_tensor *places = tw__output(kernel, 0, &TW_SHAPE(count, rank)), *values = tw__output(kernel, 1, &TW_SHAPE(count)),
              *shape = tw__output(kernel, 2, &TW_SHAPE(rank));
    if (!places || !values || !shape)
        return tw__error_status();
    for (int64_t k = 0; k < rank; k++)
        ((int64_t *)shape->data)[k] = k < rows->rank ? rows->dims[k] : greatest;
    for (int64_t i = 0; i < count; i++) {
        int64_t *at = (int64_t *)places->data + i * rank, set = list[i].set;
        size = i && list[i].set == list[i - 1].set ? size + 1 : 0;
        at[rank - 1] = size;
        for (int k = rows->rank - 1; k >= 0; k--) {
            at[k] = set % rows->dims[k];
            set /= rows->dims[k];
        }
        if (values->dtype == TW_STRING)
            TW_TRY(tw__string_set(values, i, list[i].text.data, list[i].text.size));
        else
            memcpy((char *)values->data + (size_t)i * tw__element_size(values->dtype), &list[i].number,
                   tw__element_size(values->dtype)); /* the lower bytes come first */
    }
    return TW_OK;
}

static tw_status operate(tw__kernel *kernel, bool first_sparse, bool second_sparse)
{
    operation which = UNION;
    bool validate = TW_ATTR(kernel, "validate_indices")->b;
    tw__auto(members_end) members a = { 0 }, b = { 0 };
    TW_TRY(read_operation(kernel, &which));
    TW_TRY(first_sparse ? read_sparse(kernel, 0, validate, &a) : read_dense(kernel, 0, &a));
    int second = first_sparse ? 3 : 1;
    TW_TRY(second_sparse ? read_sparse(kernel, second, validate, &b) : read_dense(kernel, second, &b));
    if (!tw__shape_equal(&a.rows, &b.rows))
        return TW_OP_FAIL(kernel, TW_INVALID_ARGUMENT, "Mismatched group shapes %s vs %s", tw__shape_text(&a.rows),
                          tw__shape_text(&b.rows));
    tw__owned member *out = tw__alloc_array((size_t)(a.count + b.count) + 1, sizeof *out);
    TW_NEED(out);
    return give(kernel, &a.rows, out, combine(&a, &b, which, out));
}

static tw_status dense_dense(tw__kernel *kernel)
{
    return operate(kernel, false, false);
}

static tw_status dense_sparse(tw__kernel *kernel)
{
    return operate(kernel, false, true);
}

static tw_status sparse_sparse(tw__kernel *kernel)
{
    return operate(kernel, true, true);
}

static tw_status sets_shape(tw__inference *inference)
{
    int64_t rank = inference->input_count == 6 ? -1 : inference->shapes[0]->rank;
    for (int i = inference->input_count - 1; rank < 0 && i >= 2; i -= 3)
        rank = inference->shapes[i]->rank == 1 ? inference->shapes[i]->dims[0] : -1;
    inference->out_shapes[0] = TW_SHAPE(-1, rank);
    inference->out_shapes[1] = TW_SHAPE(-1);
    inference->out_shapes[2] = TW_SHAPE(rank);
    return TW_OK;
}

#define OPERATION                                                              \
    .outputs = "result_indices: int64, result_values: T, result_shape: int64", \
    .attrs = "set_operation: string, validate_indices: bool = true, " KINDS, .shape = sets_shape
TW_OP(DenseToDenseSetOperation, .inputs = "set1: T, set2: T", OPERATION, .compute = dense_dense,
      .doc = "a-b, b-a, the intersection or the union of two rows of sets, as a sparse tensor.");
TW_OP(DenseToSparseSetOperation, .inputs = "set1: T, set2_indices: int64, set2_values: T, set2_shape: int64", OPERATION,
      .compute = dense_sparse, .doc = "a-b, b-a, the intersection or the union of two rows of sets, as a sparse tensor.");
TW_OP(SparseToSparseSetOperation,
      .inputs = "set1_indices: int64, set1_values: T, set1_shape: int64, set2_indices: int64, set2_values: T, set2_shape: int64",
      OPERATION, .compute = sparse_sparse,
      .doc = "a-b, b-a, the intersection or the union of two rows of sets, as a sparse tensor.");

static tw_status size_shape(tw__inference *inference)
{
    const tw_shape *shape = inference->shapes[2];
    if (shape->rank == 1 && shape->dims[0] >= 1 && shape->dims[0] <= TW_MAX_RANK) {
        inference->out_shapes[0].rank = (int)shape->dims[0] - 1;
        for (int i = 0; i < shape->dims[0] - 1; i++)
            inference->out_shapes[0].dims[i] = -1;
    }
    return TW_OK;
}

static tw_status size_compute(tw__kernel *kernel)
{
    members m = { 0 };
    tw_status status = read_sparse(kernel, 0, TW_ATTR(kernel, "validate_indices")->b, &m);
    tw_tensor *out = status == TW_OK ? tw__output(kernel, 0, &m.rows) : NULL;
    if (out) {
        memset(out->data, 0, (size_t)out->count * sizeof(int32_t));
        for (int64_t i = 0; i < m.count; i++)
            ((int32_t *)out->data)[m.list[i].set]++;
    }
    tw__free(m.list);
    return out || status != TW_OK ? status : tw__error_status();
}

TW_OP(SetSize, .inputs = "set_indices: int64, set_values: T, set_shape: int64", .outputs = "size: int32",
      .attrs = "validate_indices: bool = true, " KINDS, .shape = size_shape, .compute = size_compute,
      .doc = "How many different values each row has.");
