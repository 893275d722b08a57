/* Checkpoints: the calls themselves are in <thalweg/api.h> (tw_checkpoint_save, tw_checkpoint_restore, tw_checkpoint_manager,
 * tw_train_latest_checkpoint …).
 *
 *     tw_auto tw_checkpoint *checkpoint = tw_checkpoint_new({ "model", model }, { "optimizer", optimizer });
 *     free(tw_checkpoint_save(checkpoint, "out/ckpt"));      // out/ckpt-1, the next time out/ckpt-2 …
 */
#ifndef THALWEG_SAVING_H
#define THALWEG_SAVING_H

#include <thalweg/api.h>
#include <thalweg/function.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A checkpoint of objects by name. The objects are retained. */
#define tw_checkpoint_new(...) tw_checkpoint(.kwargs = TW_PAIRS(__VA_ARGS__))

/* SavedModels. A loaded one is an object whose parts have names; its signatures are functions of tensors by name:
 *
 *     tw_auto tw_saved_object *model = tw_saved_model_load("model");
 *     tw_auto tw_saved_concrete *serve = tw_saved_model_signature(model, "serving_default");
 *     tw_auto tw_tensor *y = tw_signature_value(serve, TW_NAMED_TENSORS({ "x", x }), "output_0");
 *
 * Functions of a model may read files in its own directory. What would read others, write files or call functions of the program
 * fails with TW_PERMISSION_DENIED, unless the model is trusted: tw_saved_model_load("model", .trusted = true),
 * tw_load_model("model", .safe_mode = false), or THALWEG_TRUST_MODELS=1 in the environment.
 */
typedef struct tw_named_tensor {
    const char *name;
    tw_tensor *tensor;
} tw_named_tensor;
typedef struct tw_named_tensors {
    const tw_named_tensor *items;
    int64_t count;
} tw_named_tensors;
#define TW_NAMED_TENSORS(...)                                      \
    ((tw_named_tensors){ (const tw_named_tensor[]){ __VA_ARGS__ }, \
                         (int64_t)(sizeof((const tw_named_tensor[]){ __VA_ARGS__ }) / sizeof(tw_named_tensor)) })

/* Ends a loaded model with all its parts, also those that hold each other in a circle; NULL is fine. tw_release does for a model
 * without such. */
TW_API_FUNCTION void tw_saved_model_close(tw_saved_object *model);
/* The signature of that name; a new reference, or NULL and an error that lists those there are. */
TW_API_FUNCTION tw_saved_concrete *tw_saved_model_signature(tw_saved_object *model, const char *key);
/* The variable at a path of names, "layer-0/kernel"; a new reference. */
TW_API_FUNCTION tw_variable *tw_saved_model_variable(tw_saved_object *model, const char *path);
/* The names of a signature's inputs and outputs, by number; borrowed, NULL behind the last. */
TW_API_FUNCTION const char *tw_signature_input(const tw_saved_concrete *signature, int64_t index);
TW_API_FUNCTION const char *tw_signature_output(const tw_saved_concrete *signature, int64_t index);
/* What an input is like; the dtype is 0 behind the last. */
TW_API_FUNCTION tw_spec tw_signature_input_spec(const tw_saved_concrete *signature, int64_t index);
/* Calls it; the results are in the order of tw_signature_output, for tw_tensors_free; items is NULL after a failure. */
TW_API_FUNCTION tw_tensors tw_signature_call(tw_saved_concrete *signature, tw_named_tensors inputs);
/* One of the results. NULL: an error. */
TW_API_FUNCTION tw_tensor *tw_signature_value(tw_saved_concrete *signature, tw_named_tensors inputs, const char *output);

/* The names of all signatures, in the alphabet's order: a list of texts for tw_value_free. */
TW_API_FUNCTION tw_value tw_saved_model_signatures(tw_saved_object *model);
/* Functions that are no signatures: attributes of the object that was saved, by a path of names as above. A new reference. */
TW_API_FUNCTION tw_saved_function *tw_saved_model_function(tw_saved_object *model, const char *path);
/* Calls the trace that fits the tensors, which are the arguments in order, structures flattened. The results likewise, for
 * tw_tensors_free; items is NULL after a failure. */
TW_API_FUNCTION tw_tensors tw_saved_function_call(tw_saved_function *function, tw_tensors arguments);
/* The same for one result. */
TW_API_FUNCTION tw_tensor *tw_saved_function_value(tw_saved_function *function, tw_tensors arguments);

/* Requests of TensorFlow Serving's REST API. The JSON of a request is answered by a signature:
 *
 *     char *answer = tw_saved_model_answer(model, "predict", body, body_size);   // {"instances": [[1, 2]]} -> {"predictions": …}
 *
 * The method is "predict", "classify" or "regress". The answer is for free(); NULL: an error, whose code says how an HTTP server
 * answers it: TW_INVALID_ARGUMENT 400, TW_NOT_FOUND 404 …
 *
 * A server that does more between (batches of several requests, models that are no SavedModels) does it step by step: */
TW_API_FUNCTION char *tw_saved_model_answer(tw_saved_object *model, const char *method, const char *json, size_t size);
typedef struct tw_request tw_request;
TW_API_FUNCTION tw_request *tw_request_new(const char *method, const char *json, size_t size);
TW_API_FUNCTION void tw_request_free(tw_request *request); /* NULL is fine */
/* The signature that it names, or "serving_default"; the request's. */
TW_API_FUNCTION const char *tw_request_signature(const tw_request *request);
/* The tensors for inputs of these names and dtypes, which are the request's, as the names are the caller's; once. Items is NULL
 * after a failure. */
TW_API_FUNCTION tw_named_tensors tw_request_inputs(tw_request *request, const char *const *names, tw_specs specs);
/* The answer's text for free(): one output by itself, several by name; rows if the inputs were rows. NULL: an error. */
TW_API_FUNCTION char *tw_request_answer(tw_request *request, tw_named_tensors outputs);

/* A function to be saved as a signature: how its tensors are named. The function has a signature of its own (tw_function_new). */
typedef struct tw_export {
    const char *key;
    struct tw_function *function;
    const tw_spec *inputs;
    int64_t input_count;
    const char *const *input_names, *const *output_names; /* output_names NULL: output_0, output_1 … */
    /* Also (with a key of NULL: only) an attribute of the object, which Python calls by this name and C by
     * tw_saved_model_function. Names of outputs are then in the order of the alphabet. Or NULL. */
    const char *attribute;
} tw_export;
/* Saves an object (a module, a model, a checkpoint) with its variables, and functions as signatures. */
TW_API_FUNCTION tw_status tw_saved_model_save(void *object, const char *directory, const tw_export *exports,
                                              int64_t export_count);
/* What is in a SavedModel, as text for free(). */
TW_API_FUNCTION char *tw_saved_model_text(const char *directory);
/* The most important of it as JSON, for free(): TensorFlow's version, tags, signatures with their inputs and outputs, and how
 * often each op stands in its graph and functions. Values of variables are not read. */
TW_API_FUNCTION char *tw_saved_model_json(const char *directory);

/* What they give belongs to the open scope, if there is one; see <thalweg/base.h>. */
#ifdef TW_SCOPES
#define tw_saved_model_signatures(...) TW_MADE_VALUE(tw_saved_model_signatures(__VA_ARGS__))
#define tw_saved_model_function(...) TW_MADE(tw_saved_function *, tw_saved_model_function(__VA_ARGS__))
#define tw_saved_function_call(...) TW_MADE_TENSORS(tw_saved_function_call(__VA_ARGS__))
#define tw_saved_function_value(...) TW_MADE(tw_tensor *, tw_saved_function_value(__VA_ARGS__))
static inline void tw_scope_saved_model_close(tw_saved_object *model)
{
    tw_scope_forget(model);
    tw_saved_model_close(model);
}
#define tw_saved_model_close(model) tw_scope_saved_model_close(model)
#define tw_saved_model_signature(...) TW_MADE(tw_saved_concrete *, tw_saved_model_signature(__VA_ARGS__))
#define tw_saved_model_variable(...) TW_MADE(tw_variable *, tw_saved_model_variable(__VA_ARGS__))
#define tw_signature_call(...) TW_MADE_TENSORS(tw_signature_call(__VA_ARGS__))
#define tw_signature_value(...) TW_MADE(tw_tensor *, tw_signature_value(__VA_ARGS__))
#endif

#ifdef __cplusplus
}
#endif
#endif
