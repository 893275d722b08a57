/* Looking into checkpoints without objects: names, dtypes, shapes and values of the tensors in a file. */
#include <sys/stat.h>

#include "saving/saving.h"

struct tw_checkpoint_reader {
    tw_object object;
    tw__bundle_reader *reader;
};

static void reader_destroy(void *self)
{
    tw__bundle_close(((tw_checkpoint_reader *)self)->reader);
}

/* A prefix stands for itself, a directory for the newest checkpoint in it. */
static char *find_prefix(const char *path)
{
    struct stat status;
    if (stat(path, &status) != 0 || !S_ISDIR(status.st_mode))
        return tw__strdup(path);
    char *latest = tw_train_latest_checkpoint(path);
    if (!latest && tw_error_code() == TW_OK)
        tw__fail(TW_VALUE_ERROR, "Couldn't find 'checkpoint' file or checkpoints in given directory %s", path);
    return latest;
}

static tw_status reader_init(void *self, const void *given)
{
    const tw_checkpoint_reader_args *args = given;
    tw__owned char *prefix = find_prefix(args->filename);
    tw__bundle_reader *reader = prefix ? tw__bundle_open(prefix) : NULL;
    TW_NEED(reader);
    ((tw_checkpoint_reader *)self)->reader = reader;
    return TW_OK;
}

TW_CLASS(checkpoint_reader, "train._CheckpointReader(filename: str)", .size = sizeof(tw_checkpoint_reader), .init = reader_init,
         .destroy = reader_destroy, .drop_config = true, .doc = "Reads tensors from a checkpoint.");

TW_API(train_load_checkpoint, "train.load_checkpoint(ckpt_dir_or_file: str) -> checkpoint_reader",
       "A reader of the checkpoint with that prefix, or of the newest one in that directory.\n"
       "ckpt_dir_or_file: the path of a checkpoint, or a folder, whose newest one is taken")
{
    return tw_checkpoint_reader(args->ckpt_dir_or_file);
}

/* ---- what is in it ---- */

/* A partitioned tensor's slices have keys of their own, which begin with a zero byte: they are no names. */
static bool is_name(const tw__bundle_entry *entry)
{
    return entry->key_size > 0 && entry->key[0] != 0;
}

static tw_value shape_list(const tw_shape *shape)
{
    tw_value list = { .kind = TW_VALUE_NONE };
    size_t rank = shape->rank > 0 ? (size_t)shape->rank : 0;
    tw_value *items = tw__alloc_array(rank, sizeof *items);
    for (size_t i = 0; items && i < rank; i++)
        items[i] = (tw_value){ .kind = TW_VALUE_INT, .i = shape->dims[i] };
    if (items)
        list = (tw_value){ .kind = TW_VALUE_LIST, .list = { items, (int64_t)rank } };
    return list;
}

static tw_value shape_of(const tw__bundle_entry *entry)
{
    return shape_list(&entry->shape);
}

static tw_value dtype_of(const tw__bundle_entry *entry)
{
    return (tw_value){ .kind = TW_VALUE_DTYPE, .dtype = entry->dtype };
}

static tw_value name_of(const tw__bundle_entry *entry)
{
    tw_value value = { .kind = TW_VALUE_NONE };
    char *copy = tw__strndup(entry->key, entry->key_size);
    if (copy)
        value = (tw_value){ .kind = TW_VALUE_STR, .s = { copy, entry->key_size } };
    return value;
}

/* A dict from names to what `part` tells of each, or a list of tuples of the two. */
static tw_value collect(tw__bundle_reader *reader, tw_value (*part)(const tw__bundle_entry *entry), bool dict)
{
    int64_t all = tw__bundle_count(reader), count = 0;
    tw_value result = { .kind = TW_VALUE_NONE };
    tw_value *items = tw__alloc_array((size_t)all, 2 * sizeof *items);
    if (!items)
        return result;
    bool good = true;
    for (int64_t i = 0; good && i < all; i++) {
        const tw__bundle_entry *entry = tw__bundle_entry_at(reader, i);
        if (!is_name(entry))
            continue;
        tw_value *pair = dict ? &items[count] : tw__alloc_array(2, sizeof *pair);
        if (!pair)
            break;
        pair[0] = name_of(entry);
        pair[1] = part(entry);
        good = tw_error_code() == TW_OK;
        if (!dict)
            items[count] = (tw_value){ .kind = TW_VALUE_TUPLE, .list = { pair, 2 } };
        count += dict ? 2 : 1;
    }
    result = (tw_value){ .kind = TW_VALUE_LIST, .list = { items, count } };
    if (dict)
        result.kind = TW_VALUE_DICT;
    if (tw_error_code() != TW_OK)
        tw_value_free(&result);
    return result;
}

TW_METHOD(checkpoint_reader_get_variable_to_shape_map,
          "train._CheckpointReader.get_variable_to_shape_map(self: checkpoint_reader) -> value",
          "The shapes of the tensors, by name.")
{
    return collect(args->self->reader, shape_of, true);
}

TW_METHOD(checkpoint_reader_get_variable_to_dtype_map,
          "train._CheckpointReader.get_variable_to_dtype_map(self: checkpoint_reader) -> value",
          "The dtypes of the tensors, by name.")
{
    return collect(args->self->reader, dtype_of, true);
}

TW_METHOD(checkpoint_reader_has_tensor, "train._CheckpointReader.has_tensor(self: checkpoint_reader, tensor_str: str) -> bool",
          "Whether there is a tensor of that name.")
{
    return tw__bundle_find(args->self->reader, args->tensor_str) != NULL;
}

TW_METHOD(checkpoint_reader_get_tensor,
          "train._CheckpointReader.get_tensor(self: checkpoint_reader, tensor_str: str) -> tensor<numpy>",
          "The tensor of that name.")
{
    return tw__bundle_read(args->self->reader, args->tensor_str);
}

TW_METHOD(checkpoint_reader_debug_string, "train._CheckpointReader.debug_string(self: checkpoint_reader) -> value",
          "A line with name, dtype and shape for each tensor.")
{
    tw__bundle_reader *reader = args->self->reader;
    tw__text text = { 0 };
    tw__text_add(&text, "");
    for (int64_t i = 0; i < tw__bundle_count(reader); i++) {
        const tw__bundle_entry *entry = tw__bundle_entry_at(reader, i);
        if (!is_name(entry))
            continue;
        tw__text_bytes(&text, entry->key, entry->key_size);
        tw__text_format(&text, " (%s) %s\n", tw__dtype_message_name(entry->dtype), tw__shape_text(&entry->shape));
    }
    size_t size = text.size;
    char *data = tw__text_take(&text);
    if (!data)
        return (tw_value){ .kind = TW_VALUE_NONE };
    return (tw_value){ .kind = TW_VALUE_BYTES, .s = { data, size } };
}

TW_API(train_list_variables, "train.list_variables(ckpt_dir_or_file: str) -> value",
       "Names and shapes of the tensors in a checkpoint, as a list of tuples.\n"
       "ckpt_dir_or_file: the path of a checkpoint, or a folder, whose newest one is taken")
{
    tw_auto tw_checkpoint_reader *reader = tw_checkpoint_reader(args->ckpt_dir_or_file);
    return reader ? collect(reader->reader, shape_of, false) : (tw_value){ .kind = TW_VALUE_NONE };
}

TW_API(train_load_variable, "train.load_variable(ckpt_dir_or_file: str, name: str) -> tensor<numpy>",
       "One tensor of a checkpoint.\n"
       "ckpt_dir_or_file: the path of a checkpoint, or a folder, whose newest one is taken\n"
       "name: the name of the tensor in the checkpoint\n"
       "returns: a NumPy array")
{
    tw_auto tw_checkpoint_reader *reader = tw_checkpoint_reader(args->ckpt_dir_or_file);
    size_t size = strlen(args->name);
    tw__owned char *name = reader ? tw__strndup(args->name, tw__ends_with(args->name, ":0") ? size - 2 : size) : NULL;
    return name ? tw__bundle_read(reader->reader, name) : NULL;
}
