/* What keras.callbacks.TensorBoard writes for the page of embeddings. */
#ifndef TW_TENSORBOARD_H
#define TW_TENSORBOARD_H

#include "keras/keras.h"

/* LOG_DIR/projector_config.pbtxt: the tables of the model's Embedding layers, and the files with their names: a dict by layer, a
 * path for all, or none. */
tw_status tw__board_list_embeddings(tw_layer *model, const char *log_dir, const tw_value *metadata);
/* LOG_DIR/train/keras_embedding.ckpt-EPOCH */
tw_status tw__board_save_embeddings(tw_layer *model, const char *log_dir, int64_t epoch);

#endif
