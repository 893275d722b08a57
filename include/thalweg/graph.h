/* Graphs in files: GraphDefs, and the graph of a SavedModel. */
#ifndef THALWEG_GRAPH_H
#define THALWEG_GRAPH_H

#include <thalweg/base.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What is in a GraphDef file, or in a SavedModel (its file or its directory): nodes in the file's order, then functions; as text
 * or as JSON. The text is the caller's, for free(). NULL on failure. */
TW_API_FUNCTION char *tw_graph_file_text(const char *path, bool json);

#ifdef __cplusplus
}
#endif
#endif
