/* SparseCross, SparseCrossV2: every combination of the features of a row, one of each input, as joined texts or as a hash of
 * them. */
#include "op/sparse/sparse.h"
#include "op/text/text.h"
#include "rows.h"

/* One input: the features of each row lie together. */
typedef struct feature {
    const tw_tensor *values;
    int64_t *starts; /* rows + 1 places; for tw__free */
    int64_t *order;  /* of a sparse input; or NULL */
} feature;

typedef struct crossing {
    feature *features;
    int count;
    int64_t rows;
} crossing;

static void end(crossing *c)
{
    for (int i = 0; c->features && i < c->count; i++) {
        tw__free(c->features[i].starts);
        tw__free(c->features[i].order);
    }
    tw__free(c->features);
}

static tw_status read_sparse(tw__kernel *kernel, crossing *c, int i, int count)
{
    tw__sparse s;
    TW_TRY(tw__sparse_read(kernel, i, count + i, 2 * count + i, &s));
    if (s.rank != 2)
        return tw__fail(TW_INVALID_ARGUMENT, "Expected D2 of index to be 2 got %d at position %d", s.rank, i);
    if (c->rows >= 0 && s.shape[0] != c->rows)
        return tw__fail(TW_INVALID_ARGUMENT, "Expected batch size %lld got %lld at position %d", (long long)c->rows,
                        (long long)s.shape[0], i);
    c->rows = s.shape[0];
    feature *f = &c->features[i];
    f->values = s.values;
    f->starts = tw__alloc_array((size_t)c->rows + 2, sizeof *f->starts);
    f->order = f->starts ? tw__alloc_array((size_t)s.count + 1, sizeof *f->order) : NULL;
    if (!f->order)
        return tw__error_status();
    for (int64_t k = 0; k < s.count; k++)
        f->starts[s.indices[2 * k] + 2]++;
    for (int64_t r = 0; r < c->rows; r++)
        f->starts[r + 2] += f->starts[r + 1];
    for (int64_t k = 0; k < s.count; k++) /* moves each start on to the next row's */
        f->order[f->starts[s.indices[2 * k] + 1]++] = k;
    return TW_OK;
}

static tw_status read_dense(tw__kernel *kernel, crossing *c, int i, int input)
{
    const tw_tensor *values = kernel->inputs[input];
    if (values->shape.rank != 2 || (c->rows >= 0 && values->shape.dims[0] != c->rows))
        return tw__fail(TW_INVALID_ARGUMENT, "Expected a matrix of batch size %lld, got shape %s at position %d",
                        (long long)c->rows, tw__shape_text(&values->shape), i);
    c->rows = values->shape.dims[0];
    feature *f = &c->features[i];
    f->values = values;
    f->starts = tw__alloc_array((size_t)c->rows + 1, sizeof *f->starts);
    for (int64_t r = 0; f->starts && r <= c->rows; r++)
        f->starts[r] = r * values->shape.dims[1];
    return f->starts ? TW_OK : tw__error_status();
}

static tw_status read_features(tw__kernel *kernel, crossing *c, int dense_end)
{
    int count = (int)TW_ATTR(kernel, "N")->i;
    c->count = count + dense_end - 3 * count;
    c->rows = -1;
    c->features = tw__alloc_array((size_t)c->count + 1, sizeof *c->features);
    if (!c->features)
        return tw__error_status();
    for (int i = 0; i < c->count; i++)
        TW_TRY(i < count ? read_sparse(kernel, c, i, count) : read_dense(kernel, c, i, 3 * count + i - count));
    c->rows = c->rows < 0 ? 0 : c->rows;
    return TW_OK;
}

/* How many combinations a row has. */
static tw_status combinations(const crossing *c, int64_t row, int64_t *count)
{
    *count = c->count ? 1 : 0;
    for (int i = 0; i < c->count; i++) {
        if (__builtin_mul_overflow(*count, c->features[i].starts[row + 1] - c->features[i].starts[row], count) ||
            *count > ((int64_t)1 << 40))
            return tw__fail(TW_INVALID_ARGUMENT, "row %lld has too many combinations", (long long)row);
    }
    return TW_OK;
}

/* The place of the feature of input i in combination k of a row; the last input runs fastest. */
static int64_t place_of(const crossing *c, int64_t row, int64_t k, int i)
{
    for (int later = c->count - 1; later > i; later--)
        k /= c->features[later].starts[row + 1] - c->features[later].starts[row];
    const feature *f = &c->features[i];
    int64_t place = f->starts[row] + k % (f->starts[row + 1] - f->starts[row]);
    return f->order ? f->order[place] : place;
}

static tw_status write_text(const crossing *c, int64_t row, int64_t k, tw_string separator, tw_tensor *out, int64_t at,
                            tw__text *text)
{
    tw__text_clear(text);
    for (int i = 0; i < c->count; i++) {
        const tw_tensor *values = c->features[i].values;
        int64_t place = place_of(c, row, k, i);
        if (i)
            tw__text_bytes(text, separator.data, separator.size);
        if (values->dtype == TW_STRING)
            tw__text_bytes(text, tw__strings(values)[place].data, tw__strings(values)[place].size);
        else
            tw__text_format(text, "%lld", (long long)((const int64_t *)values->data)[place]);
    }
    return text->failed ? tw__error_status() : tw__string_set(out, at, text->data ? text->data : "", text->size);
}

/* Two fingerprints made one. */
static uint64_t mix(uint64_t a, uint64_t b)
{
    const uint64_t factor = 0xc6a4a7935bd1e995u;
    b *= factor;
    a = (a ^ factor ^ ((b ^ b >> 47) * factor)) * factor;
    a = (a ^ a >> 47) * factor;
    return a ^ a >> 47;
}

static int64_t hash_of(const crossing *c, int64_t row, int64_t k, uint64_t key, int64_t buckets)
{
    for (int i = 0; i < c->count; i++) {
        const tw_tensor *values = c->features[i].values;
        int64_t place = place_of(c, row, k, i);
        key = mix(key, values->dtype == TW_STRING ? tw__fingerprint64(tw__strings(values)[place])
                                                  : ((const uint64_t *)values->data)[place]);
    }
    return (int64_t)(key % (buckets > 0 ? (uint64_t)buckets : (uint64_t)INT64_MAX));
}

static tw_status cross_shape(tw__inference *inference)
{
    inference->out_shapes[0] = TW_SHAPE(-1, 2);
    inference->out_shapes[1] = TW_SHAPE(-1);
    inference->out_shapes[2] = TW_SHAPE(2);
    return TW_OK;
}

static tw_status cross(tw__kernel *kernel, crossing *c, tw_string separator, uint64_t key, int64_t buckets)
{
    int64_t total = 0, widest = 0, count;
    for (int64_t row = 0; row < c->rows; row++) {
        TW_TRY(combinations(c, row, &count));
        total += count;
        widest = count > widest ? count : widest;
    }
    tw_tensor *indices = tw__output(kernel, 0, &TW_SHAPE(total, 2)), *values = tw__output(kernel, 1, &TW_SHAPE(total)),
              *shape = tw__output(kernel, 2, &TW_SHAPE(2));
    if (!indices || !values || !shape)
        return tw__error_status();
    tw__auto(tw__text_free) tw__text text = { 0 };
    for (int64_t row = 0, at = 0; row < c->rows; row++) {
        TW_TRY(combinations(c, row, &count));
        for (int64_t k = 0; k < count; k++, at++) {
            ((int64_t *)indices->data)[2 * at] = row;
            ((int64_t *)indices->data)[2 * at + 1] = k;
            if (values->dtype == TW_STRING)
                TW_TRY(write_text(c, row, k, separator, values, at, &text));
            else
                ((int64_t *)values->data)[at] = hash_of(c, row, k, key, buckets);
        }
    }
    ((int64_t *)shape->data)[0] = c->rows;
    ((int64_t *)shape->data)[1] = widest;
    return TW_OK;
}

static tw_status cross_compute(tw__kernel *kernel)
{
    tw__auto(end) crossing c = { 0 };
    bool hashed = TW_ATTR(kernel, "hashed_output")->b;
    if (hashed != (kernel->out_dtypes[1] == TW_INT64))
        return tw__fail(TW_INVALID_ARGUMENT, "out_type must be int64 for hashes and string for texts");
    TW_TRY(read_features(kernel, &c, kernel->input_count));
    return cross(kernel, &c, (tw_string){ "_X_", 3 }, (uint64_t)TW_ATTR(kernel, "hash_key")->i,
                 TW_ATTR(kernel, "num_buckets")->i);
}

static tw_status cross_texts_compute(tw__kernel *kernel)
{
    tw__auto(end) crossing c = { 0 };
    const tw_tensor *separator = kernel->inputs[kernel->input_count - 1];
    if (separator->count != 1)
        return tw__fail(TW_INVALID_ARGUMENT, "Input separator should be a scalar.");
    TW_TRY(read_features(kernel, &c, kernel->input_count - 1));
    return cross(kernel, &c, tw__strings(separator)[0], 0, 0);
}

TW_OP(SparseCross, .inputs = "indices: N * int64, values: sparse_types, shapes: N * int64, dense_inputs: dense_types",
      .outputs = "output_indices: int64, output_values: out_type, output_shape: int64",
      .attrs = "N: int >= 0, hashed_output: bool, num_buckets: int >= 0, hash_key: int, sparse_types: list({int64, string}) >= "
               "0, dense_types: list({int64, string}) >= 0, "
               "out_type: {int64, string}, internal_type: {int64, string}",
      .shape = cross_shape, .compute = cross_compute, .doc = "Combinations of the features of rows, as texts or hashes.");

TW_OP(SparseCrossV2,
      .inputs = "indices: N * int64, values: sparse_types, shapes: N * int64, dense_inputs: dense_types, sep: string",
      .outputs = "output_indices: int64, output_values: string, output_shape: int64",
      .attrs = "N: int >= 0, sparse_types: list({int64, string}) >= 0, dense_types: list({int64, string}) >= 0",
      .shape = cross_shape, .compute = cross_texts_compute, .doc = "Combinations of the features of rows, as texts.");
