/* Hyperparameters of event files; see hparams.c for where they stand. */
#ifndef HPARAMS_H
#define HPARAMS_H

#include "board.h"

#define EXPERIMENT "_hparams_/experiment"
#define START "_hparams_/session_start_info"
#define END "_hparams_/session_end_info"

/* Part `number` of the plugin's data of a run's tag; false: there is none. */
bool hparams_part(const board_run *run, const char *name, uint32_t number, board_field *out);
bool hparams_experiment(const board *b, board_field *out);
/* A field of a message, or an empty one. */
board_field hparams_get(const board_field *message, uint32_t number);
void hparams_put_field(FILE *out, const board_field *message, uint32_t number);
void hparams_put_double(FILE *out, const board_field *message, uint32_t number);
void hparams_put_value(FILE *out, const board_field *value); /* a google.protobuf.Value */
/* A map's entry {1 key, 2 value} of field 1 of a SessionStartInfo; goes on at *at. */
bool hparams_next(const board_field *start, const uint8_t **at, board_field *key, board_field *value);
/* What is known of the hyperparameters (hparam_infos.c). */
void hparams_put_infos(const board *b, const board_field *experiment, FILE *out);

#endif
