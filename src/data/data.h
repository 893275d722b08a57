/* Data sets: sequences of elements, an element being a flat list of tensors.
 *
 * A dataset that runs is a tw__dataset: an immutable description of one step over its inputs, made by the kernel of a TensorFlow
 * op (BatchDatasetV2, …) and carried by a scalar tensor of dtype variant. So the same ops make datasets at once, in functions and
 * in sessions. A cursor goes through a dataset once; it holds the cursors of the inputs.
 *
 * What users hold is a tw_dataset: that variant tensor, perhaps symbolic, with the dtypes and shapes of the elements. One class
 * row per step works out those and calls the op, and gives it the structure of its elements (element.h). */
#ifndef TW_DATA_H
#define TW_DATA_H

#include <thalweg/function.h>

#include "base/language.h"
#include "base/pause.h"
#include "data/element.h"
#include "function/function.h"
#include "op/op.h"
#include "op/streams.h"

typedef struct tw__dataset tw__dataset;
typedef struct tw__cursor tw__cursor;
typedef struct tw__state tw__state;

enum { TW_INFINITE = -1, TW_UNKNOWN_COUNT = -2, TW_AUTOTUNE = -1 };

/* One step. `next` gives new references into element (as many as the dataset's count), or says that the sequence ended; after an
 * error it may be called again and goes on behind the element that failed. */
typedef struct tw__dataset_kind {
    tw_class class; /* parent tw__dataset_class; the size and the destroy of the description */
    size_t cursor_size;
    bool starts_inputs; /* `start` makes the cursor of the input itself, if it makes one */
    tw_status (*start)(tw__cursor *cursor);
    tw_status (*next)(tw__cursor *cursor, tw_tensor **element, bool *end);
    void (*stop)(tw__cursor *cursor);
    int64_t (*cardinality)(tw__dataset *dataset);
    /* Up to `limit` elements at once, stacked; *got is 0 at the end. Or NULL. */
    tw_status (*rows)(tw__cursor *cursor, int64_t limit, tw_tensor **element, int64_t *got);
    /* Writes where the cursor stands, or puts it there (state.h). The input's state is exchanged before, unless the kind starts
     * it itself. NULL: checkpoints refuse the step. */
    void (*state)(tw__cursor *cursor, tw__state *state);
    /* What the dataset itself remembers from pass to pass; or NULL. */
    void (*shared)(tw__dataset *dataset, tw__state *state);
    /* The inputs that are not `input`, by number; NULL behind the last one. Or NULL. */
    tw__dataset *(*other_input)(tw__dataset *dataset, int number);
} tw__dataset_kind;

struct tw__dataset {
    tw_object object;
    int count; /* tensors of an element */
    tw_dtype *dtypes;
    tw_shape *shapes;   /* may be partial */
    tw__dataset *input; /* a reference, or NULL */
    int depth;          /* of the chain of inputs */
};

struct tw__cursor {
    tw__dataset *dataset; /* a reference */
    tw__cursor *input;
    bool ended;
    tw__stream_set *streams; /* of random ops in functions that steps call: one for all cursors of an iteration; a reference */
};

extern const tw_class tw__dataset_class;
#define TW_DATASET_CLASS(name_, type_, destroy_)                                                    \
    {                                                                                               \
        .name = (name_), .parent = &tw__dataset_class, .size = sizeof(type_), .destroy = (destroy_) \
    }

/* What rows of ops and of classes have in common. */
#define TW_ELEMENTS "output_types: list(type) >= 1, output_shapes: list(shape) >= 1"
#define TW_DATASET_OP .outputs = "handle: variant", .makes_outputs = true, .no_gradient = true
#define TW_STEP(init_) .parent = &tw__class_dataset, .size = sizeof(struct tw_dataset), .init = (init_), .drop_config = true

/* ---- descriptions and cursors (dataset.c) ---- */
/* A description of this kind, with the dtypes and shapes that the op's attrs tell, over the dataset in input 0 if `over_input`.
 */
void *tw__dataset_make(tw__kernel *kernel, const tw__dataset_kind *kind, bool over_input);
/* As output 0; takes it. NULL: the error. */
tw_status tw__dataset_give(tw__kernel *kernel, void *dataset);
tw_status tw__dataset_set_types(tw__dataset *dataset, const tw_dtype *dtypes, const tw_shape *shapes, int count);
/* The dataset that a tensor holds; borrowed. NULL and an error if it holds none. */
tw__dataset *tw__dataset_of(const char *who, const tw_tensor *variant);
int64_t tw__dataset_cardinality(tw__dataset *dataset);
int64_t tw__cardinality_same(tw__dataset *dataset); /* that of the input */
int64_t tw__cardinality_unknown(tw__dataset *dataset);
bool tw__dataset_shuffles(const tw__dataset *dataset); /* it is a step `shuffle` */

tw__cursor *tw__cursor_new(tw__dataset *dataset);
void tw__cursor_free(tw__cursor *cursor); /* NULL is fine */
static inline void tw__cursor_end(tw__cursor **cursor)
{
    tw__cursor_free(*cursor);
}
tw_status tw__cursor_next(tw__cursor *cursor, tw_tensor **element, bool *end);
static inline const tw__dataset_kind *tw__kind_of(const tw__dataset *dataset)
{
    return (const tw__dataset_kind *)dataset->object.class;
}
void tw__element_end(tw_tensor **element, int count); /* releases, and leaves NULL */

/* Elements one behind the other, for steps that keep some. */
typedef struct tw__elements {
    tw_tensor **items; /* count tensors each */
    size_t capacity, size;
    int count;
} tw__elements;
/* Room for one more; its tensors are to be put there, and size counted. NULL: no memory. */
tw_tensor **tw__elements_room(tw__elements *elements);
/* Adds what the cursor gives until there are `size` elements or it ends. */
tw_status tw__elements_fill(tw__elements *elements, tw__cursor *cursor, int64_t size);
void tw__elements_free(tw__elements *elements);
/* One element of stacked tensors from `size` elements of the same shapes: "Cannot add tensor to the batch …". */
tw_status tw__elements_stack(tw_tensor *const *items, int64_t size, int count, tw_tensor **stacked);

/* A dataset of elements that are there; takes them (and leaves an empty list). */
tw__dataset *tw__dataset_of_elements(tw__elements *elements, const tw_dtype *dtypes, const tw_shape *shapes);
tw_status tw__scalars_shape(tw__inference *inference);  /* inputs and output are scalars */
tw_status tw__elements_shape(tw__inference *inference); /* outputs as the attr output_shapes says */

/* ---- functions of elements (call.c) ---- */
typedef struct tw__data_function {
    tw__function *function; /* a reference */
    tw_tensor **captures;   /* the values of its captures */
    int capture_count;
} tw__data_function;
/* Of the attr of that name, with captures from inputs[first …]. */
tw_status tw__data_function_read(tw__data_function *f, tw__kernel *kernel, const char *attr, int first, int captures);
/* The same of several in an op's order; attrs NAME and TNAME_other_arguments. At most TW_DATA_FUNCTIONS. */
tw_status tw__data_functions_read(tw__data_function *functions, tw__kernel *kernel, const char *const *names, int count);
enum { TW_DATA_FUNCTIONS = 4 };
void tw__data_function_end(tw__data_function *f);
/* Arguments are two lists, one behind the other. `outputs` has room for all outputs of the function. */
tw_status tw__data_call(const tw__data_function *f, tw_tensor *const *first, int first_count, tw_tensor *const *second,
                        int second_count, tw_tensor **outputs);
/* One int64. */
tw_status tw__data_number_of(const tw__data_function *f, tw_tensor *const *element, int count, const char *who, int64_t *number);
/* The dataset that a function makes: its cursor, or NULL and an error. */
tw__cursor *tw__data_cursor_of(const tw__data_function *f, tw_tensor *const *first, int first_count, tw_tensor *const *second,
                               int second_count, const char *who, int expected);
/* A predicate: one bool. */
tw_status tw__data_ask(const tw__data_function *f, tw_tensor *const *element, int count, const char *who, bool *answer);
/* The number of an op's inputs that a list(type) attr counts. */
int tw__data_list_count(tw__kernel *kernel, const char *types_attr);

/* ---- what users hold (handle.c) ---- */
struct tw_dataset {
    tw_object object;
    tw_tensor *variant;
    tw_spec *specs;
    int count;
    tw_value structure; /* of an element; its leaves are specs (element.h) */
};
/* Its elements get this structure, taken, with the dtypes and shapes of its specs; or `exact`: as it is. The status of the call
 * before goes in, and the structure goes if it was an error. */
tw_status tw__dataset_settle(struct tw_dataset *self, tw_status status, tw_value structure, bool exact);
tw_status tw__dataset_wrap(struct tw_dataset *self); /* its elements become tuples of one */
/* The dataset that a variant tensor holds. A new reference. */
struct tw_dataset *tw__dataset_of_variant(tw_tensor *variant, const tw_value *structure);
/* The value of the tensors that an op with attrs output_types and output_shapes gives of one input. */
tw_value tw__data_element_by_op(const tw_op *op, tw_tensor *input, const tw_value *structure);
/* The dataset that the op makes becomes self's; attrs for the elements' dtypes and shapes are added where the op has them. */
tw_status tw__dataset_apply(struct tw_dataset *self, const tw_op *op, tw_tensor *const *inputs, int input_count,
                            const tw_attr *attrs, int attr_count, const tw_spec *specs, int count);
/* The same for a step over one dataset, with further inputs (taken, also after a failure; a NULL one is an error that is set
 * already). The elements are like the input's, or as `specs` say (taken, too). */
tw_status tw__dataset_step(struct tw_dataset *self, const struct tw_dataset *input, tw_spec *specs, const tw_op *op,
                           tw_tensor *const *further, int count, const tw_attr *attrs, int attr_count);
/* An argument of the kind number as an int64 scalar; a new reference. */
tw_tensor *tw__data_number(double value, void *object, const char *what);
/* The graph function behind a `function` argument, for elements of these specs. A new reference; NULL: an error. */
tw__function *tw__data_function_for(void *function, const tw_spec *specs, int count, const char *who);
/* A function that the embedding language gives, which knows structures: `trace` makes a graph function of the flat tensors of its
 * arguments, whose structures are told, and says how the result is nested. `name` is the step's: "map". */
typedef struct tw__traced {
    tw__function *function; /* a reference */
    tw_value result;        /* a structure of specs */
} tw__traced;
typedef struct tw__element_function tw__element_function;
struct tw__element_function {
    tw_object object;
    tw_status (*trace)(tw__element_function *self, const char *name, const tw_value *const *arguments, int count,
                       tw__traced *traced);
};
extern const tw_class tw__element_function_class;
/* Traces a `function` argument; that of a C program takes the flat tensors, and gives one leaf or a tuple. */
tw_status tw__data_trace(void *function, const char *name, const tw_value *const *arguments, int count, tw__traced *traced);
/* The flat specs of several structures, one behind the other; for tw__free. */
tw_spec *tw__data_flat_specs(const tw_value *const *structures, int count, int *flat);
#define TW_STRUCTURES(...) ((const tw_value *const[]){ __VA_ARGS__ })
void tw__data_traced_end(tw__traced *traced);
/* Traces a function of a state and an element (choose.c); again, if the shapes of the state change from round to round: *state is
 * what holds of it in every round. It gives the next state; with `pairs`, that and another result. invalid: the argument that
 * errors name, or NULL. */
tw_status tw__data_trace_state(tw_value *state, void *function, const char *name, const tw_value *element, const char *invalid,
                               bool pairs, tw__traced *f);
/* Applies an op of the input and several functions, the attrs `names`, what they capture among its inputs; its elements are such
 * ones. */
tw_status tw__dataset_apply_functions(struct tw_dataset *self, const struct tw_dataset *input, const tw_op *op,
                                      const char *const *names, const tw__traced *functions, int count, const tw_spec *specs,
                                      int spec_count);
/* The same for a predicate of elements; `but` stands in the error before what it gives. */
tw_status tw__data_predicate(void *function, const char *name, const char *but, const struct tw_dataset *input,
                             tw__traced *traced);
/* Applies an op whose elements are the function's results, or those of the dataset `like`, or the input's. */
tw_status tw__dataset_apply_function(struct tw_dataset *self, const struct tw_dataset *input, const tw_op *op, const char *attr,
                                     tw__function *function, const struct tw_dataset *like, tw_tensor *const *last,
                                     int last_count, const tw_attr *attrs, int attr_count);
/* The elements of the dataset that a function's only result is, as far as the graph tells; `like` if it is given. */
tw_status tw__data_inner_specs(const tw__function *f, const struct tw_dataset *like, const char *who, tw_spec **specs,
                               int *count);
/* What its results are; *specs is from tw__alloc. */
tw_status tw__data_results(const tw__function *function, tw_spec **specs);
/* inputs[0] = variant, then further, then the captures: an array from tw__alloc, borrowed tensors. */
tw_tensor **tw__data_inputs(tw_tensor *const *first, int first_count, const tw__function *const *functions, int function_count,
                            tw_tensor *const *last, int last_count, int *count);
/* The attr `name` with the dtypes of what a function captures, in *types for tw__free. *types is NULL if there is no memory. */
tw_attr tw__data_capture_types(const char *name, const tw__function *f, tw_dtype **types);
/* Whether a number that may be None was given; and what an op calls True, False and None. */
static inline bool tw__data_given(double value, const void *object)
{
    return object || value == value;
}
static inline const char *tw__data_determinism(int64_t deterministic)
{
    return deterministic == TW_NO_INT ? "default" : deterministic ? "true" : "false";
}
/* The object shows itself as one of another class: a step that runs in parallel. */
#define TW_STEP_CLASS(name_, id_)                                                                                          \
    {                                                                                                                      \
        .name = (name_), .parent = &tw__class_##id_, .signature = &tw__signature_##id_, .size = sizeof(struct tw_dataset), \
        .free_config = tw__config_free, .visit_config = tw__config_visit                                                   \
    }
static inline void tw__dataset_become(struct tw_dataset *self, const tw_class *class_row)
{
    self->object.class = class_row;
}
/* A shape with one dimension more in front; without the first one. */
tw_shape tw__shape_stacked(const tw_shape *shape, int64_t size);
tw_shape tw__shape_row(const tw_shape *shape);

/* ---- errors of other threads ---- */
/* Turns an exception of the embedding language into a code and a text, which may go to another thread. */
static inline tw_status tw__data_plain_error(tw_status status)
{
    return status == TW_FOREIGN_ERROR && tw__language.error_plain ? tw__language.error_plain() : status;
}

/* ---- iterators (iterator.c) ---- */
struct tw_iterator;
/* The next element into `element`, which has room for tw__iterator_count tensors. */
tw_status tw__iterator_next(struct tw_iterator *iterator, tw_tensor **element, bool *end);
int tw__iterator_count(const struct tw_iterator *iterator);
const tw_value *tw__iterator_structure(const struct tw_iterator *iterator);
/* Puts it at the beginning of a dataset. */
tw_status tw__iterator_start(struct tw_iterator *iterator, tw__dataset *dataset);
/* Where it stands, as a string scalar. NULL: an error. */
tw_tensor *tw__iterator_save(struct tw_iterator *iterator);
/* A cursor over the iterator's dataset at that place, for tw__iterator_install. NULL: an error, and nothing has changed. */
tw__cursor *tw__iterator_restored(struct tw_iterator *iterator, const tw_tensor *saved);
/* Takes the cursor; `saved` is what it was restored from, NULL for a new one. */
tw_status tw__iterator_install(struct tw_iterator *iterator, tw__cursor *cursor, const tw_tensor *saved);
/* The iterator that an input is; borrowed. NULL: an error. */
struct tw_iterator *tw__iterator_of(tw__kernel *kernel, int input);

#endif
