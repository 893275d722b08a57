/* saved_model.pb: its message, the objects that are made of it, and their functions. The variables are those of a good file. */
#include <thalweg/saving.h>

#include "fuzz/fuzz.h"
#include "saving/saved_model.h"

static void build_all(tw_saved_object *root)
{
    tw__object_walk walk = { 0 };
    tw__saving_view view = { .root = &root->trackable };
    if (tw__walk_objects(&walk, &view) == TW_OK) {
        for (size_t i = 0; i < walk.count; i++) {
            if (tw__is(walk.nodes[i].object, &tw__class_saved_concrete) &&
                !tw__saved_concrete_build((tw_saved_concrete *)walk.nodes[i].object))
                tw_clear_error();
        }
    }
    tw__walk_free(&walk);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *bytes = tw__alloc(size + 1);
    tw__saved_model_message message;
    if (!bytes)
        return 0;
    memcpy(bytes, data, size);
    bytes[size] = 0;
    tw_saved_object *root = NULL;
    if (tw__saved_model_message_parse(&message, bytes, size, "fuzz", NULL, 0) == TW_OK)
        root = tw__saved_model_of_message(&message, TW_TEST_DATA "/golden/saved_model/module");
    else
        tw__saved_model_message_free(&message);
    if (root)
        build_all(root);
    tw_saved_model_close(root);
    tw_clear_error();
    return 0;
}

void fuzz_seeds(fuzz_add add)
{
    fuzz_seed_files(add, "saved_model/module", ".pb");
}
