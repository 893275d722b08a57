/* Variable scopes: what get_variable goes by; see variable_scope.c. */
#ifndef TW_V1_VARIABLE_SCOPE_H
#define TW_V1_VARIABLE_SCOPE_H

#include "eager/eager.h"
#include "graph/graph.h"
#include "rows.h"

typedef enum tw__reuse { TW__REUSE_NO, TW__REUSE_YES, TW__REUSE_AUTO } tw__reuse;

struct tw_variable_scope {
    tw_object object;
    char *name;       /* "a/b"; "" is the root */
    char *name_scope; /* the name scope it was first opened with, "a/b/" */
    tw__reuse reuse;
    tw_object *initializer; /* a tw_initializer or a tensor; NULL: none. Of variables that are given none themselves; so are the
                               others */
    tw_callable *regularizer, *constraint;
    tw_dtype dtype;
};

typedef struct tw__v1_kept {
    char *name;
    tw__edge edge;
} tw__v1_kept;

/* Of a graph, or of eager execution. The graph holds it; it must not hold the graph. */
typedef struct tw__variable_store {
    tw_object object;
    struct tw_variable_scope *root;
    tw__map variables; /* whole name -> variable, a reference */
    tw__map opened;    /* name of a scope -> how often it was opened */
    tw__v1_kept *kept; /* what was noted in collections */
    size_t kept_count, kept_capacity;
} tw__variable_store;

/* Notes a tensor of the graph (collections.c). */
tw_status tw__v1_keep(tw__variable_store *store, const char *name, const tw_tensor *tensor);

tw__variable_store *tw__variable_store_now(void);       /* borrowed; NULL: an error */
struct tw_variable_scope *tw__variable_scope_now(void); /* the thread's innermost; borrowed; NULL: an error */
/* "inherit", "no", "yes" or "auto" as a number; inherit is what is given. */
tw__reuse tw__reuse_of(const char *word, tw__reuse inherited);

#endif
