/* TensorFlow 1 for C programs, beside what <thalweg/api.h> gives (tw_placeholder, tw_get_variable, tw_session_run …). After
 * tw_disable_eager_execution functions add nodes to the graph; values to be fed are made by tw_tensor_new and its like. */
#ifndef THALWEG_SESSION_H
#define THALWEG_SESSION_H

#include <thalweg/api.h>

#ifdef __cplusplus
extern "C" {
#endif

/* One step of the optimizer: gradients of the loss by all trainable variables of the graph, and their application. NULL: an
 * error. */
TW_API_FUNCTION tw_operation *tw_v1_minimize(tw_v1_optimizer *optimizer, tw_tensor *loss);
/* A Saver of all variables of the graph, under their own names. */
TW_API_FUNCTION tw_v1_saver *tw_v1_saver_new(void);
/* Writes the session's values to files that begin with the path, and reads them. Of what a Saver wrote the newest five are kept;
 * the directory's state file lists them, so that tw_train_latest_checkpoint finds the last. */
TW_API_FUNCTION tw_status tw_v1_saver_save(tw_v1_saver *saver, tw_session *session, const char *path);
TW_API_FUNCTION tw_status tw_v1_saver_restore(tw_v1_saver *saver, tw_session *session, const char *path);

/* What they give belongs to the open scope, if there is one; see <thalweg/base.h>. */
#ifdef TW_SCOPES
#define tw_v1_minimize(...) TW_MADE(tw_operation *, tw_v1_minimize(__VA_ARGS__))
#define tw_v1_saver_new(...) TW_MADE(tw_v1_saver *, tw_v1_saver_new(__VA_ARGS__))
#endif

#ifdef __cplusplus
}
#endif
#endif
