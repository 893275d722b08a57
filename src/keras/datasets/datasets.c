/* keras.datasets: data sets from files that are there already; nothing is fetched.
 *
 * Looked for in this order: Keras's cache ($KERAS_HOME or ~/.keras, in datasets/), then the folder that THALWEG_DATASETS names,
 * else Debian's /usr/share/datasets. MNIST is mnist.npz with the members x_train, y_train, x_test, y_test; Fashion-MNIST is four
 * IDX files. */
#include <stdlib.h>

#include "format/format.h"
#include "keras/keras.h"

char *tw__keras_cache(const char *folder, const char *name)
{
    const char *home = getenv("KERAS_HOME"), *user = getenv("HOME");
    if (home && *home)
        return tw__format("%s/%s/%s", home, folder, name);
    return tw__format("%s/.keras/%s/%s", user ? user : "", folder, name);
}

static char *shared_path(const char *name)
{
    const char *folder = getenv("THALWEG_DATASETS");
    return tw__format("%s/%s", folder && *folder ? folder : "/usr/share/datasets", name);
}

/* The first of the two places that is there; NOT_FOUND tells both. */
static char *find(const char *name, const char *what)
{
    char *cache = tw__keras_cache("datasets", name), *shared = cache ? shared_path(name) : NULL, *found = NULL;
    if (shared && tw__path_exists(cache))
        found = cache;
    else if (shared && tw__path_exists(shared))
        found = shared;
    else if (shared)
        tw__fail(TW_NOT_FOUND, "%s: neither %s nor %s is there. Put the file at one of these places.", what, cache, shared);
    if (found != cache)
        tw__free(cache);
    if (found != shared)
        tw__free(shared);
    return found;
}

static tw_tensors gather(tw_tensor *items[4])
{
    tw_tensors tensors = { tw__alloc_array(4, sizeof(tw_tensor *)), 4 };
    bool good = tensors.items != NULL;
    for (int i = 0; i < 4; i++)
        good = good && items[i];
    for (int i = 0; i < 4; i++) {
        if (good)
            tensors.items[i] = items[i];
        else
            tw_release(items[i]);
    }
    if (!good)
        tw_tensors_free(&tensors);
    return tensors;
}

TW_API(
    datasets_find, "keras.datasets._find(name: str, what: str) -> str",
    "The path of a file or folder of a data set: the name itself if it is a whole path, else where it is in Keras's cache or among the "
    "shared data sets. what: the data set, for the error.")
{
    if (args->name[0] != '/')
        return find(args->name, args->what);
    if (tw__path_exists(args->name))
        return tw__strdup(args->name);
    tw__fail(TW_NOT_FOUND, "%s: %s is not there.", args->what, args->name);
    return NULL;
}

TW_API(datasets_mnist, "keras.datasets.mnist._load_data(path: str = mnist.npz) -> tensors<numpy>",
       "MNIST: training images and labels, test images and labels, as uint8.")
{
    static const char *const members[] = { "x_train", "y_train", "x_test", "y_test" };
    tw_tensor *items[4] = { NULL };
    tw__owned char *path = args->path[0] == '/' ? tw__strdup(args->path) : find(args->path, "MNIST");
    for (int i = 0; path && i < 4 && (i == 0 || items[i - 1]); i++)
        items[i] = tw__npz_read(path, members[i]);
    return gather(items);
}

TW_API(datasets_fashion_mnist, "keras.datasets.fashion_mnist._load_data() -> tensors<numpy>",
       "Fashion-MNIST: training images and labels, test images and labels, as uint8.")
{
    static const char *const names[] = { "train-images-idx3-ubyte.gz", "train-labels-idx1-ubyte.gz", "t10k-images-idx3-ubyte.gz",
                                         "t10k-labels-idx1-ubyte.gz" };
    tw_tensor *items[4] = { NULL };
    for (int i = 0; i < 4 && (i == 0 || items[i - 1]); i++) {
        char name[64];
        snprintf(name, sizeof name, "fashion-mnist/%s", names[i]);
        char *path = find(name, "Fashion-MNIST");
        items[i] = path ? tw__idx_read(path) : NULL;
        tw__free(path);
    }
    return gather(items);
}
