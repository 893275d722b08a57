/* HDF5 files: the structure, every array and list of names are read, or an error is given. */
#include "format/hdf5/hdf5.h"
#include "fuzz/fuzz.h"

static void read_everything(tw__hdf5 *file, const tw__hdf5_node *node)
{
    size_t count;
    for (size_t i = 0; i < node->child_count; i++)
        read_everything(file, node->children[i]);
    tw__free(tw__hdf5_texts(node, "weight_names", "fuzz", &count));
    if (node->is_array)
        tw_release(tw__hdf5_value(file, node));
    tw_clear_error();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *path = fuzz_file(data, size);
    tw__hdf5 *file = path ? tw__hdf5_open(path) : NULL;
    if (file)
        read_everything(file, file->root);
    tw__hdf5_close(file);
    tw_clear_error();
    return 0;
}

void fuzz_seeds(fuzz_add add)
{
    fuzz_seed_files(add, "h5", "weights.h5");
    fuzz_seed_files(add, "h5", "values.h5");
}
