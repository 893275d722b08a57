/* What the fault tests kill: goes on from the newest checkpoint in a directory, adds one to its variable, saves, and says so.
 *
 * usage: saver DIRECTORY manager|checkpoint|overwrite|saved_model */
#include <stdlib.h>
#include <string.h>

#include <thalweg.h>

static int fail(void)
{
    return tw_report(stderr) ? 1 : 3;
}

int main(int count, char **arguments)
{
    if (count != 3)
        return 2;
    const char *directory = arguments[1], *mode = arguments[2];
    float zeros[3000] = { 0 };
    tw_auto tw_tensor *initial = tw_tensor_new(TW_FLOAT32, TW_SHAPE(3000), zeros);
    tw_auto tw_variable *variable = tw_variable(initial);
    tw_auto tw_checkpoint *checkpoint = tw_checkpoint_new({ "value", variable });
    tw_auto tw_checkpoint_manager *manager =
        strcmp(mode, "manager") == 0 ? tw_checkpoint_manager(checkpoint, directory, 2) : NULL;
    char model[4096];
    snprintf(model, sizeof model, "%s/model", directory);
    bool saved_model = strcmp(mode, "saved_model") == 0;
    if (saved_model && tw_saved_model_contains(model)) {
        tw_auto tw_saved_object *loaded = tw_saved_model_load(model);
        tw_auto tw_variable *old = loaded ? tw_saved_model_variable(loaded, "value") : NULL;
        tw_auto tw_tensor *value = old ? tw_variable_read(old) : NULL;
        if (!value)
            return fail();
        tw_release(tw_variable_assign(variable, value));
    }
    char *latest = saved_model ? NULL
                   : manager   ? tw_checkpoint_manager_restore_or_initialize(manager)
                               : tw_train_latest_checkpoint(directory);
    if (latest && !manager) {
        tw_auto tw_load_status *status = tw_checkpoint_restore(checkpoint, latest);
        tw_release(tw_load_status_assert_consumed(status));
    }
    free(latest);
    float ones[3000];
    for (int i = 0; i < 3000; i++)
        ones[i] = 1;
    tw_auto tw_tensor *one = tw_tensor_new(TW_FLOAT32, TW_SHAPE(3000), ones);
    tw_release(tw_variable_assign_add(variable, one));
    if (tw_error_code() != TW_OK)
        return fail();
    char prefix[4096];
    snprintf(prefix, sizeof prefix, "%s/ckpt", directory);
    if (saved_model && tw_saved_model_save(checkpoint, model, NULL, 0) != TW_OK)
        return fail();
    char *path = saved_model                       ? strdup(model)
                 : manager                         ? tw_checkpoint_manager_save(manager)
                 : strcmp(mode, "checkpoint") == 0 ? tw_checkpoint_save(checkpoint, prefix)
                                                   : tw_checkpoint_write(checkpoint, prefix);
    if (!path)
        return fail();
    free(path);
    tw_auto tw_tensor *value = tw_variable_read(variable);
    printf("saved %g\n", tw_tensor_double_at(value, 2999));
    return fflush(stdout) == 0 ? 0 : 3;
}
