/* What is in an HDF5 file, for programs that show it: names, dtypes and shapes of all arrays; single arrays. */
#include "keras/saving/h5.h"

static tw_value shape_list(const tw_shape *shape)
{
    tw_value list = { .kind = TW_VALUE_LIST };
    list.list.items = tw__alloc_array((size_t)shape->rank + 1, sizeof *list.list.items);
    for (; list.list.items && list.list.count < shape->rank; list.list.count++)
        list.list.items[list.list.count] = (tw_value){ .kind = TW_VALUE_INT, .i = shape->dims[list.list.count] };
    return list;
}

static void add_arrays(const tw__hdf5_node *node, tw__dict *shapes, tw__dict *dtypes)
{
    for (size_t i = 0; i < node->child_count; i++)
        add_arrays(node->children[i], shapes, dtypes);
    char *path = node->is_array ? tw__hdf5_path(node) : NULL;
    if (!path)
        return;
    tw__dict_put(shapes, path + 1, shape_list(&node->shape));
    tw__dict_put(dtypes, path + 1, (tw_value){ .kind = TW_VALUE_DTYPE, .dtype = node->dtype });
    tw__free(path);
}

TW_API(h5_list, "keras.saving._h5_list(filepath: str) -> value",
       "Two dicts by name of all arrays in an HDF5 file, or of the weights in a .keras file: their shapes, and their dtypes.")
{
    tw_value both = { .kind = TW_VALUE_NONE };
    tw__hdf5 *file = tw__keras_open_weights(args->filepath);
    if (!file)
        return both;
    tw__dict shapes = { 0 }, dtypes = { 0 };
    add_arrays(file->root, &shapes, &dtypes);
    tw__hdf5_close(file);
    both = (tw_value){ .kind = TW_VALUE_TUPLE };
    both.list.items = tw__alloc_array(2, sizeof *both.list.items);
    both.list.count = both.list.items ? 2 : 0;
    tw_value lists[] = { tw__dict_take(&shapes), tw__dict_take(&dtypes) };
    for (int i = 0; i < 2; i++) {
        if (both.list.items)
            both.list.items[i] = lists[i];
        else
            tw_value_free(&lists[i]);
    }
    return both;
}

TW_API(h5_read, "keras.saving._h5_read(filepath: str, name: str) -> tensor",
       "One array of an HDF5 file, or of the weights in a .keras file.")
{
    tw__hdf5 *file = tw__keras_open_weights(args->filepath);
    const tw__hdf5_node *node = file ? tw__hdf5_find(file->root, args->name) : NULL;
    if (file && !node)
        tw__fail(TW_NOT_FOUND, "%s: there is no array '%s'", args->filepath, args->name);
    tw_tensor *value = node ? tw__hdf5_value(file, node) : NULL;
    tw__hdf5_close(file);
    return value;
}
