/* A file of Keras as a SavedModel in a temporary folder. */
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>

#include <thalweg.h>

#include "saved_copy.h"

static int remove_one(const char *path, const struct stat *status, int kind, struct FTW *place)
{
    (void)status, (void)kind, (void)place;
    return remove(path);
}

void saved_copy_remove(const saved_copy *copy)
{
    nftw(copy->folder, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

bool saved_copy_make(saved_copy *copy, const char *path)
{
    const char *base = getenv("TMPDIR");
    tw_auto tw_model *model = tw_load_model(path, .compile = false);
    if (!model)
        return false;
    snprintf(copy->folder, sizeof copy->folder, "%s/thalweg-XXXXXX", base && *base ? base : "/tmp");
    if (!mkdtemp(copy->folder)) {
        perror("thalweg: no folder for temporary files");
        return false;
    }
    if (tw_model_save(model, copy->folder, .save_format = "tf") == TW_OK)
        return true;
    saved_copy_remove(copy);
    return false;
}
