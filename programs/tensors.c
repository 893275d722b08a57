/* Opening any file of named tensors, and looking at their elements. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tensors.h"

#define ENDING "/.ATTRIBUTES/VARIABLE_VALUE"

static bool ends_with(const char *text, const char *ending)
{
    size_t size = strlen(text), end = strlen(ending);
    return size > end && strcmp(text + size - end, ending) == 0;
}

static tw_checkpoint_reader *open_reader(const char *path)
{
    size_t size = strlen(path);
    char *prefix = malloc(size + sizeof "/variables/variables");
    if (!prefix)
        return NULL;
    strcpy(prefix, path);
    char *shard = strstr(prefix, ".data-");
    if (ends_with(path, ".index"))
        prefix[size - strlen(".index")] = 0;
    else if (shard && !strchr(shard, '/'))
        *shard = 0;
    else if (tw_saved_model_contains(path))
        strcat(prefix, "/variables/variables");
    tw_checkpoint_reader *reader = tw_train_load_checkpoint(prefix);
    free(prefix);
    return reader;
}

bool open_tensors(tensor_file *file, const char *path)
{
    *file = (tensor_file){ .path = path };
    if (ends_with(path, ".h5") || ends_with(path, ".hdf5") || ends_with(path, ".keras")) {
        tw_value both = tw_h5_list(path);
        if (both.kind == TW_VALUE_TUPLE && both.list.count == 2) {
            file->shapes = both.list.items[0];
            file->dtypes = both.list.items[1];
            both.list.count = 0;
        }
        tw_value_free(&both);
    } else if ((file->reader = open_reader(path))) {
        file->shapes = tw_checkpoint_reader_get_variable_to_shape_map(file->reader);
        file->dtypes = tw_checkpoint_reader_get_variable_to_dtype_map(file->reader);
    }
    return tw_error_code() == TW_OK;
}

void close_tensors(tensor_file *file)
{
    tw_value_free(&file->shapes);
    tw_value_free(&file->dtypes);
    tw_release(file->reader);
}

int64_t tensor_count(const tensor_file *file)
{
    return file->shapes.kind == TW_VALUE_DICT ? file->shapes.list.count / 2 : 0;
}

const char *tensor_name(const tensor_file *file, int64_t index)
{
    return file->shapes.list.items[2 * index].s.data;
}

tw_dtype tensor_dtype(const tensor_file *file, int64_t index)
{
    return file->dtypes.list.items[2 * index + 1].dtype;
}

tw_shape tensor_shape(const tensor_file *file, int64_t index)
{
    const tw_value *dims = &file->shapes.list.items[2 * index + 1];
    tw_shape shape = { .rank = (int)(dims->list.count < TW_MAX_RANK ? dims->list.count : TW_MAX_RANK) };
    for (int i = 0; i < shape.rank; i++)
        shape.dims[i] = dims->list.items[i].i;
    return shape;
}

int64_t find_tensor(const tensor_file *file, const char *name)
{
    size_t size = strlen(name);
    int64_t variable = -1;
    for (int64_t i = 0; i < tensor_count(file); i++) {
        const char *other = tensor_name(file, i);
        if (strcmp(other, name) == 0)
            return i;
        if (strncmp(other, name, size) == 0 && strcmp(other + size, ENDING) == 0)
            variable = i;
    }
    return variable;
}

tw_tensor *read_tensor(const tensor_file *file, int64_t index)
{
    const char *name = tensor_name(file, index);
    return file->reader ? tw_checkpoint_reader_get_tensor(file->reader, name) : tw_h5_read(file->path, name);
}

bool is_numeric(tw_dtype dtype)
{
    return tw_dtype_size(dtype) > 0 && dtype != TW_STRING && dtype != TW_COMPLEX64 && dtype != TW_COMPLEX128;
}

tensor_facts facts_of(const tw_tensor *tensor)
{
    tensor_facts facts = { .least = INFINITY, .most = -INFINITY, .count = tw_tensor_count(tensor) };
    double sum = 0, squares = 0;
    int64_t finite = 0;
    for (int64_t i = 0; i < facts.count; i++) {
        double x = tw_tensor_double_at(tensor, i);
        facts.zeros += x == 0;
        facts.nans += isnan(x);
        facts.infinities += isinf(x) != 0;
        if (!isfinite(x))
            continue;
        double before = x - sum; /* Welford's method: sum is the mean so far */
        finite++;
        sum += before / (double)finite;
        squares += before * (x - sum);
        facts.least = x < facts.least ? x : facts.least;
        facts.most = x > facts.most ? x : facts.most;
    }
    if (!finite)
        facts.least = facts.most = NAN;
    facts.mean = finite ? sum : NAN;
    facts.deviation = finite ? sqrt(squares / (double)finite) : NAN;
    return facts;
}

bool differ(const tw_tensor *a, const tw_tensor *b, double tolerance, double *most)
{
    tw_dtype dtype = tw_tensor_dtype(a);
    bool differs = false, whole = dtype == TW_INT64 || dtype == TW_UINT64; /* a double does not hold all of them */
    *most = 0;
    if (!is_numeric(dtype)) {
        if (dtype != TW_STRING)
            return memcmp(tw_tensor_data(a), tw_tensor_data(b), tw_tensor_bytes(a)) != 0;
        for (int64_t i = 0; i < tw_tensor_count(a) && !differs; i++) {
            tw_string x = tw_tensor_string_at(a, i), y = tw_tensor_string_at(b, i);
            differs = x.size != y.size || memcmp(x.data, y.data, x.size) != 0;
        }
        return differs;
    }
    for (int64_t i = 0; i < tw_tensor_count(a); i++) {
        double x = tw_tensor_double_at(a, i), y = tw_tensor_double_at(b, i), by = fabs(x - y);
        if (whole && x == y && tw_tensor_int_at(a, i) != tw_tensor_int_at(b, i))
            by = fabs((double)(int64_t)((uint64_t)tw_tensor_int_at(a, i) - (uint64_t)tw_tensor_int_at(b, i)));
        else if (x == y || (isnan(x) && isnan(y)))
            continue;
        differs |= !(by <= tolerance);
        if (!(by <= *most))
            *most = by;
    }
    return differs;
}
