/* TensorFlow 1 for C programs: <thalweg/session.h>. */
#include <thalweg/session.h>

#include "eager/eager.h"
#include "rows.h"

tw_operation *tw_v1_minimize(tw_v1_optimizer *optimizer, tw_tensor *loss)
{
    if (!tw__check(optimizer, &tw__class_v1_optimizer, "tw_v1_minimize") || !tw__check(loss, &tw__tensor_class, "tw_v1_minimize"))
        return NULL;
    tw__auto(tw_objects_free) tw_objects variables = tw__impl_trainable_variables(&(tw_trainable_variables_args){ 0 });
    tw__auto(tw_tensors_free) tw_tensors gradients = { NULL, 0 };
    tw_operation *step = NULL;
    if (variables.count)
        gradients = tw__impl_v1_optimizer_compute_gradients(
            &(tw_v1_optimizer_compute_gradients_args){ .self = optimizer, .loss = loss, .variables = variables });
    bool any = false;
    for (int64_t i = 0; i < gradients.count; i++)
        any |= gradients.items[i] != NULL;
    if (any)
        step = tw__impl_v1_optimizer_apply_gradients(
            &(tw_v1_optimizer_apply_gradients_args){ .self = optimizer, .gradients = gradients, .variables = variables });
    else if (tw_error_code() == TW_OK)
        tw__fail(TW_VALUE_ERROR,
                 "No gradients provided for any variable, check your graph for ops that do not support gradients, "
                 "between the trainable variables and the loss.");
    return step;
}

tw_v1_saver *tw_v1_saver_new(void)
{
    tw__auto(tw_objects_free) tw_objects variables = tw__impl_global_variables(&(tw_global_variables_args){ 0 });
    if (!variables.count && tw_error_code() == TW_OK)
        tw__fail(TW_VALUE_ERROR, "No variables to save");
    tw__auto(tw__text_free) tw__text names = { 0 };
    for (int64_t i = 0; i < variables.count; i++) {
        const char *name = ((const tw_variable *)variables.items[i])->name;
        tw__text_format(&names, "%s%.*s", i ? "\n" : "", (int)strcspn(name, ":"), name);
    }
    tw_v1_saver_args args;
    tw_args_default(&tw__signature_v1_saver, &args);
    args.names = names.data;
    args.variables = variables;
    return variables.count && !names.failed ? tw_class_make(&tw__class_v1_saver, &args) : NULL;
}

static tw_status check(const tw_v1_saver *saver, const tw_session *session, const char *path, const char *who)
{
    bool good = tw__check(saver, &tw__class_v1_saver, who) && tw__check(session, &tw__class_session, who) &&
                tw__check_given(path, "the path", who);
    return good ? TW_OK : tw__error_status();
}

tw_status tw_v1_saver_save(tw_v1_saver *saver, tw_session *session, const char *path)
{
    TW_TRY(check(saver, session, path, "tw_v1_saver_save"));
    TW_TRY(tw__impl_v1_saver_write(&(tw_v1_saver_write_args){ .self = saver, .session = session, .prefix = path }));
    tw_v1_saver_record_args record;
    tw_args_default(&tw__signature_v1_saver_record, &record);
    record.self = saver;
    record.path = path;
    return tw__impl_v1_saver_record(&record);
}

tw_status tw_v1_saver_restore(tw_v1_saver *saver, tw_session *session, const char *path)
{
    TW_TRY(check(saver, session, path, "tw_v1_saver_restore"));
    return tw__impl_v1_saver_read(&(tw_v1_saver_read_args){ .self = saver, .session = session, .prefix = path });
}
