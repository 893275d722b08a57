/* The picture of a graph, for `thalweg graph` and `thalweg model show`. (graph.c) */
#ifndef PICTURE_H
#define PICTURE_H

#include "program.h"

/* Draws a GraphDef or a SavedModel as --svg, --depth, --function and --signature say, if the command has them; the exit code. */
int draw_picture(const invocation *call, const char *path);
int draw_keras(const invocation *call, const char *path); /* a file of Keras */

#endif
