/* Checkpoints: the calls themselves are in <thalweg/api.h> (tw_checkpoint_save, tw_checkpoint_restore, tw_checkpoint_manager,
 * tw_train_latest_checkpoint …).
 *
 *     tw_auto tw_checkpoint *checkpoint = tw_checkpoint_new({ "model", model }, { "optimizer", optimizer });
 *     free(tw_checkpoint_save(checkpoint, "out/ckpt"));      // out/ckpt-1, the next time out/ckpt-2 …
 */
#ifndef THALWEG_SAVING_H
#define THALWEG_SAVING_H

#include <thalweg/api.h>

/* A checkpoint of objects by name. The objects are retained. */
#define tw_checkpoint_new(...) tw_checkpoint(.kwargs = TW_PAIRS(__VA_ARGS__))

#endif
