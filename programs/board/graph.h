/* GraphDefs of the dashboard: made, joined, printed. */
#ifndef GRAPH_H
#define GRAPH_H

#include "board.h"

/* Fields of messages. */
void board_write_bytes(FILE *out, uint32_t number, const void *data, size_t size);
/* An attribute of a node: text in field `number` of its value, or a number. */
void board_write_attr(FILE *out, const char *name, uint32_t number, const char *text, uint64_t value);
/* The GraphDef of a Keras model's JSON; false: it is none. */
bool board_keras_graph(FILE *out, const char *json);
/* An AttrValue on one line (pbtxt.c). */
void board_put_attr_text(FILE *out, const uint8_t *data, size_t size);

#endif
