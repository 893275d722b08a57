/* Checkpoint files as ops: SaveV2, RestoreV2 and what TensorFlow's Savers put around them.
 *
 * A name may have a slice behind it ("rows columns start,length:-"), which stands for a part of a partitioned variable
 * (save_slices.c). */
#include <sys/stat.h>

#include "format/bundle/bundle.h"
#include "op/guard.h"
#include "op/op.h"
#include "rows.h"

static tw_status need_scalar(tw__kernel *kernel, int input, const char *what)
{
    const tw_shape *shape = &kernel->inputs[input]->shape;
    if (kernel->inputs[input]->count != 1 || shape->rank > 1)
        return TW_OP_FAIL(kernel, TW_INVALID_ARGUMENT, "Input %s should be a scalar tensor, got %s", what, tw__shape_text(shape));
    return TW_OK;
}

static char *text_at(const tw_tensor *tensor, int64_t index)
{
    tw_string s = tw_tensor_string_at(tensor, index);
    if (memchr(s.data ? s.data : "", 0, s.size)) {
        tw__fail(TW_INVALID_ARGUMENT, "a name of a tensor or file has a zero byte in it");
        return NULL;
    }
    return tw__strndup(s.data ? s.data : "", s.size);
}

/* tensor_names and shape_and_slices: vectors with one text for each of `count` tensors. */
static tw_status check_names(tw__kernel *kernel, int64_t count)
{
    for (int input = 1; input <= 2; input++) {
        const tw_tensor *names = kernel->inputs[input];
        const char *what = input == 1 ? "tensor_names" : "shape_and_slices";
        if (names->shape.rank != 1)
            return TW_OP_FAIL(kernel, TW_INVALID_ARGUMENT, "Input %s should be an 1-D tensor, got %s", what,
                              tw__shape_text(&names->shape));
        if (names->count != count)
            return TW_OP_FAIL(kernel, TW_INVALID_ARGUMENT, "%s has %lld elements, expected one for each of %lld tensors", what,
                              (long long)names->count, (long long)count);
    }
    return need_scalar(kernel, 0, "prefix");
}

static tw_status add_tensors(tw__kernel *kernel, tw__bundle_writer *writer)
{
    for (int i = 3; i < kernel->input_count; i++) {
        tw__owned char *name = text_at(kernel->inputs[1], i - 3), *part = name ? text_at(kernel->inputs[2], i - 3) : NULL;
        tw__slice slice;
        TW_NEED(part);
        if (*part)
            TW_TRY(tw__slice_parse(part, &slice));
        TW_TRY(*part ? tw__bundle_add_slice(writer, name, kernel->inputs[i], &slice)
                     : tw__bundle_add(writer, name, kernel->inputs[i]));
    }
    return TW_OK;
}

static tw_status save_compute(tw__kernel *kernel)
{
    TW_TRY(check_names(kernel, kernel->input_count - 3));
    char *prefix = text_at(kernel->inputs[0], 0);
    tw__bundle_writer *writer = prefix ? tw__bundle_create(prefix) : NULL;
    tw__free(prefix);
    if (!writer)
        return tw__error_status();
    tw_status status = add_tensors(kernel, writer);
    if (status == TW_OK)
        return tw__bundle_finish(writer);
    tw__bundle_abandon(writer);
    return status;
}

TW_OP(SaveV2, .inputs = "prefix: string, tensor_names: string, shape_and_slices: string, tensors: dtypes",
      .attrs = "dtypes: list(type) >= 1", .shape = tw_shape_none, .compute = save_compute, .stateful = true,
      .makes_outputs = true, .touches = TW_WRITES_FILES, .paths = "prefix",
      .doc = "Writes tensors under their names into a checkpoint.");

/* TensorFlow 1's own files (before bundles) are not read. */
static tw_status check_file(const char *prefix)
{
    struct stat status;
    tw__owned char *index = tw__format("%s.index", prefix);
    if (!index)
        return TW_RESOURCE_EXHAUSTED;
    bool old = !tw__path_exists(index) && stat(prefix, &status) == 0 && S_ISREG(status.st_mode);
    return old ? tw__fail(TW_UNIMPLEMENTED, "%s is a file of TensorFlow 1's first format, which is not read", prefix) : TW_OK;
}

/* The tensor, or the part of it that is asked for. */
static tw_status restore_one(tw__kernel *kernel, tw__bundle_reader *reader, const char *name, int index)
{
    tw__owned char *part = text_at(kernel->inputs[2], index);
    tw__slice slice;
    TW_NEED(part);
    if (*part)
        TW_TRY(tw__slice_parse(part, &slice));
    tw_auto tw_tensor *whole = tw__bundle_read(reader, name);
    TW_NEED(whole);
    kernel->outputs[index] = *part ? tw__slice_cut(name, whole, &slice) : tw_retain(whole);
    return kernel->outputs[index] ? TW_OK : tw__error_status();
}

static tw_status restore_all(tw__kernel *kernel, tw__bundle_reader *reader, const tw_attr *dtypes)
{
    for (int i = 0; i < kernel->output_count; i++) {
        char *name = text_at(kernel->inputs[1], i);
        if (!name)
            return tw__error_status();
        const tw__bundle_entry *entry = tw__bundle_find(reader, name);
        tw_status status = TW_OK;
        if (!entry)
            status = tw__fail(TW_NOT_FOUND, "Key %s not found in checkpoint", name);
        else if (entry->dtype != dtypes->types[i])
            status = tw__fail(TW_INVALID_ARGUMENT, "tensor_name = %s; expected dtype %s does not equal original dtype %s", name,
                              tw__bundle_dtype_name(dtypes->types[i]), tw__bundle_dtype_name(entry->dtype));
        else
            status = restore_one(kernel, reader, name, i);
        tw__free(name);
        TW_TRY(status);
    }
    return TW_OK;
}

static tw_status restore_compute(tw__kernel *kernel)
{
    TW_TRY(check_names(kernel, kernel->output_count));
    char *prefix = text_at(kernel->inputs[0], 0);
    tw__bundle_reader *reader = prefix && check_file(prefix) == TW_OK ? tw__bundle_open(prefix) : NULL;
    tw__free(prefix);
    if (!reader)
        return tw__error_status();
    tw_status status = restore_all(kernel, reader, TW_ATTR(kernel, "dtypes"));
    tw__bundle_close(reader);
    return status;
}

TW_OP(RestoreV2, .inputs = "prefix: string, tensor_names: string, shape_and_slices: string", .outputs = "tensors: dtypes",
      .attrs = "dtypes: list(type) >= 1", .shape = tw_shape_unknown, .compute = restore_compute, .stateful = true,
      .makes_outputs = true, .touches = TW_READS_FILES, .paths = "prefix",
      .doc = "Reads tensors by their names from a checkpoint.");

static tw_status filename_compute(tw__kernel *kernel)
{
    TW_TRY(need_scalar(kernel, 0, "basename"));
    TW_TRY(need_scalar(kernel, 1, "shard"));
    TW_TRY(need_scalar(kernel, 2, "num_shards"));
    tw_string base = tw_tensor_string_at(kernel->inputs[0], 0);
    int64_t shard = tw_tensor_int_at(kernel->inputs[1], 0), shards = tw_tensor_int_at(kernel->inputs[2], 0);
    char *name =
        tw__format("%.*s-%05lld-of-%05lld", (int)base.size, base.data ? base.data : "", (long long)shard, (long long)shards);
    if (!name)
        return TW_RESOURCE_EXHAUSTED;
    tw_status status = tw__string_set(kernel->outputs[0], 0, name, strlen(name));
    tw__free(name);
    return status;
}

TW_OP(ShardedFilename, .inputs = "basename: string, shard: int32, num_shards: int32", .outputs = "filename: string",
      .shape = tw_shape_scalar, .compute = filename_compute, .doc = "The name of one file of several: basename-00001-of-00004.");

static tw_status filespec_compute(tw__kernel *kernel)
{
    TW_TRY(need_scalar(kernel, 0, "basename"));
    TW_TRY(need_scalar(kernel, 1, "num_shards"));
    tw_string base = tw_tensor_string_at(kernel->inputs[0], 0);
    tw__owned char *name = tw__format("%.*s-\?\?\?\?\?-of-%05lld", (int)base.size, base.data ? base.data : "",
                                      (long long)tw_tensor_int_at(kernel->inputs[1], 0));
    if (!name)
        return TW_RESOURCE_EXHAUSTED;
    tw_status status = tw__string_set(kernel->outputs[0], 0, name, strlen(name));
    return status;
}

TW_OP(ShardedFilespec, .inputs = "basename: string, num_shards: int32", .outputs = "filename: string", .shape = tw_shape_scalar,
      .compute = filespec_compute, .doc = "A pattern for the names of all of several files: basename-\?\?\?\?\?-of-00004.");
