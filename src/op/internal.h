/* Shared inside src/op only. */
#ifndef TW_OP_INTERNAL_H
#define TW_OP_INTERNAL_H

#include "op/op.h"

/* Parses a row; NULL if it is malformed (no error is set). */
tw__op_signature *tw__op_signature_parse(const tw_op *op);
void tw__op_signature_free(tw__op_signature *signature);
int tw__op_place(const char *name); /* in the table; -1: there is none */

#endif
