/* Functions of graphs: a C function that calls tw_… operations is traced once per kind of arguments into a graph, and what was
 * traced runs. Branches and loops stand in the graph; outside of functions they run at once.
 *
 *     static tw_tensors square_plus(void *user, tw_tensors in)
 *     {
 *         return tw_give(tw_add(tw_multiply(in.items[0], in.items[0]), user));
 *     }
 *     tw_auto tw_function *f = tw_function_new(square_plus, bias);
 *     tw_auto tw_tensor *y = tw_function_value(f, TW_TENSORS(x));
 *
 * Inside a body the tensors have dtypes and shapes but no elements. Tensors from outside and variables may be used; variables are
 * read at every call. A call under a gradient tape is differentiated like any operation.
 */
#ifndef THALWEG_FUNCTION_H
#define THALWEG_FUNCTION_H

#include <thalweg/tensor.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The body of a function, branch or loop: takes tensors, which are borrowed, and gives tensors by tw_give. A dataset is given,
 * and comes as an argument, as one tensor: tw_give(tw_dataset_variant_tensor(dataset)), tw_dataset_variant(arguments.items[0]).
 * So is an array of tensors: tw_tensor_array_to_loop, tw_tensor_array_from_loop. */
typedef tw_tensors (*tw_body)(void *user, tw_tensors arguments);

/* What a body gives: the tensors, each retained. If one of them is NULL the body counts as failed. */
TW_API_FUNCTION tw_tensors tw_give_(tw_tensors given);
#define tw_give(...) tw_give_(TW_TENSORS(__VA_ARGS__))
#define TW_GIVE_NOTHING ((tw_tensors){ NULL, 0 })
#define TW_GIVE_FAILURE ((tw_tensors){ NULL, -1 })

/* A tensor without elements: its dtype and its shape, of which parts may be unknown (-1). */
typedef struct tw_spec {
    tw_dtype dtype;
    tw_shape shape;
} tw_spec;
typedef struct tw_specs {
    const tw_spec *items;
    int64_t count;
} tw_specs;
#define TW_SPECS(...) \
    ((tw_specs){ (const tw_spec[]){ __VA_ARGS__ }, (int64_t)(sizeof((const tw_spec[]){ __VA_ARGS__ }) / sizeof(tw_spec)) })

typedef struct tw_function tw_function;

typedef struct tw_function_args {
    size_t tw_size;
    const char *name;   /* of the graphs; "function" if NULL */
    tw_specs signature; /* given: one graph, traced at once, serves every call that fits; items NULL: one per dtypes and shapes of
                           calls */
    const char *const *argument_names; /* of the graphs' placeholders, as many as the signature has members; may be NULL */
    tw_flag reduce_retracing;          /* a second shape makes a graph for both: dimensions that differ are unknown in it */
    tw_flag jit_compile;               /* calls run on the device of a PJRT plug-in, if there is one (docs/devices.md) */
} tw_function_args;
#define tw_function_defaults .tw_size = sizeof(tw_function_args)

/* tw_function_new(body, user, .name = "step", .signature = TW_SPECS({ TW_FLOAT32, TW_SHAPE(-1, 10) })). `user` is the program's.
 */
TW_API_FUNCTION tw_function *tw_function_new_(tw_body body, void *user, const tw_function_args *args);
#define tw_function_new(body, ...) TW_FUNCTION_NEW_(body, __VA_ARGS__, )
#define TW_FUNCTION_NEW_(body, user, ...) \
    TW_MADE(tw_function *, tw_function_new_(body, user, &(tw_function_args){ tw_function_defaults, __VA_ARGS__ }))

/* Calls it. `outputs` has room for *output_count tensors, which is set to the number given; they are the caller's. It may be NULL
 * if there is room for none. */
TW_API_FUNCTION tw_status tw_function_call(tw_function *function, tw_tensors arguments, tw_tensor **outputs, int *output_count);
/* The same with all results as a list, for tw_tensors_free; count is 0 if there are none, and on failure. */
TW_API_FUNCTION tw_tensors tw_function_call_all(tw_function *function, tw_tensors arguments);
/* The same for a function of one result. NULL on failure. */
TW_API_FUNCTION tw_tensor *tw_function_value(tw_function *function, tw_tensors arguments);
/* How a call with these arguments runs, as text for free(): the steps, what they join, where values lie and how many bytes they
 * take. */
TW_API_FUNCTION char *tw_function_plan(tw_function *function, tw_tensors arguments);
/* How often the body was traced. */
TW_API_FUNCTION int64_t tw_function_traces(const tw_function *function);

/* The results of one of two bodies, which get no arguments; both must give as many tensors of the same dtypes. For
 * tw_tensors_free; items is NULL on failure. */
TW_API_FUNCTION tw_tensors tw_cond(tw_tensor *predicate, tw_body if_true, tw_body if_false, void *user);
/* The results of body number `index`; of the last one if there is none of that number. */
TW_API_FUNCTION tw_tensors tw_switch_case(tw_tensor *index, const tw_body *bodies, int count, void *user);

typedef struct tw_while_args {
    size_t tw_size;
    const char *name;              /* of the node in the graph */
    tw_tensor *maximum_iterations; /* an int32 scalar; NULL: no limit */
    const tw_shape
        *shape_invariants; /* one per value: what holds of its shape in every iteration; NULL: the shapes of the values */
} tw_while_args;
#define tw_while_defaults .tw_size = sizeof(tw_while_args)

/* Repeats `body`, which gives as many values as it gets, while `cond` gives one true. The results are the last values.
 *     tw_while(less_than_ten, twice, NULL, TW_TENSORS(i, x), .maximum_iterations = limit) */
TW_API_FUNCTION tw_tensors tw_while_(tw_body cond, tw_body body, void *user, tw_tensors values, const tw_while_args *args);
#define tw_while(cond, body, user, ...) TW_WHILE_(cond, body, user, __VA_ARGS__, )
#define TW_WHILE_(cond, body, user, values, ...) \
    TW_MADE_TENSORS(tw_while_(cond, body, user, values, &(tw_while_args){ tw_while_defaults, __VA_ARGS__ }))

/* ---- loops over rows ---- */

typedef struct tw_map_args {
    size_t tw_size;
    const char *name;      /* of the scope of its nodes in a graph */
    tw_specs results;      /* what the body gives for one row; items NULL: it is found out */
    tw_flag varied_shapes; /* results of different rows may have different shapes, as far as they can be stacked in the end */
    tw_flag broadcast;     /* a tensor of one row has the same one for all rows of the others */
    tw_flag stop_gradient; /* in graphs no gradient passes */
} tw_map_args;
#define tw_map_defaults .tw_size = sizeof(tw_map_args)

/* The body's results for every row of the tensors, one row of each at a time, stacked. For tw_tensors_free; items is NULL on
 * failure. tw_map(square, NULL, TW_TENSORS(x)) */
TW_API_FUNCTION tw_tensors tw_map_(tw_body body, void *user, tw_tensors elems, const tw_map_args *args);
#define tw_map(body, user, ...) TW_MAP_(body, user, __VA_ARGS__, )
#define TW_MAP_(body, user, elems, ...) \
    TW_MADE_TENSORS(tw_map_(body, user, elems, &(tw_map_args){ tw_map_defaults, __VA_ARGS__ }))

typedef struct tw_fold_args {
    size_t tw_size;
    const char *name;
    tw_tensors initial;    /* the state before the first row; items NULL: the first row is it */
    tw_flag reverse;       /* of tw_scan: from the last row on */
    tw_flag varied_shapes; /* of tw_scan: as above */
    tw_flag stop_gradient;
} tw_fold_args;
#define tw_fold_defaults .tw_size = sizeof(tw_fold_args)

/* The last state: the body gets the state and then a row of each tensor, and gives the next state. tw_foldr begins at the last
 * row. */
#define tw_foldl(body, user, ...) TW_FOLD_(0, body, user, __VA_ARGS__, )
#define tw_foldr(body, user, ...) TW_FOLD_(1, body, user, __VA_ARGS__, )
/* The states after every row, stacked. */
#define tw_scan(body, user, ...) TW_FOLD_(2, body, user, __VA_ARGS__, )
TW_API_FUNCTION tw_tensors tw_fold_(int kind, tw_body body, void *user, tw_tensors elems, const tw_fold_args *args);
#define TW_FOLD_(kind, body, user, elems, ...) \
    TW_MADE_TENSORS(tw_fold_(kind, body, user, elems, &(tw_fold_args){ tw_fold_defaults, __VA_ARGS__ }))

/* ---- the first of several that holds ---- */

typedef struct tw_case_args {
    size_t tw_size;
    const char *name;
    tw_body otherwise; /* if none of the predicates is true; NULL: that is an error */
    tw_flag exclusive; /* several true ones are an error */
} tw_case_args;
#define tw_case_defaults .tw_size = sizeof(tw_case_args)

/* The results of the body of the first predicate (bool scalars, a body each) that is true. */
TW_API_FUNCTION tw_tensors tw_case_(tw_tensors predicates, const tw_body *bodies, void *user, const tw_case_args *args);
#define tw_case(predicates, bodies, ...) TW_CASE_(predicates, bodies, __VA_ARGS__, )
#define TW_CASE_(predicates, bodies, user, ...) \
    TW_MADE_TENSORS(tw_case_(predicates, bodies, user, &(tw_case_args){ tw_case_defaults, __VA_ARGS__ }))

/* ---- C functions inside of graphs ---- */

/* A C function as an operation: called at once, or, in a graph, whenever its node runs, in program order. It gets tensors with
 * elements, and gives new ones of the dtypes that are told. Operations that it calls can be differentiated: of a graph's node the
 * gradient is that of its last run. A graph may be kept: `user` must live as long as the process calls it. */
typedef tw_status (*tw_host_body)(void *user, tw_tensor *const *inputs, int input_count, tw_tensor **outputs, int output_count);
TW_API_FUNCTION tw_status tw_host_function(tw_host_body body, void *user, tw_tensors inputs, const tw_dtype *dtypes,
                                           int output_count, tw_tensor **outputs);

/* What they give belongs to the open scope, if there is one; see <thalweg/base.h>. */
#ifdef TW_SCOPES
#define tw_function_call_all(...) TW_MADE_TENSORS(tw_function_call_all(__VA_ARGS__))
#define tw_function_value(...) TW_MADE(tw_tensor *, tw_function_value(__VA_ARGS__))
#define tw_cond(...) TW_MADE_TENSORS(tw_cond(__VA_ARGS__))
#define tw_switch_case(...) TW_MADE_TENSORS(tw_switch_case(__VA_ARGS__))
#endif

#ifdef __cplusplus
}
#endif
#endif
