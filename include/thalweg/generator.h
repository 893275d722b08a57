/* Datasets of what a C function gives.
 *
 *     static tw_tensors squares(void *state, int64_t index)
 *     {
 *         return index < 5 ? tw_give(tw_tensor_int64(index * index)) : TW_GIVE_NOTHING;
 *     }
 *     tw_dataset *dataset = tw_dataset_from_generator(squares, NULL, TW_SPECS({ TW_INT64, TW_SCALAR }));
 */
#ifndef THALWEG_GENERATOR_H
#define THALWEG_GENERATOR_H

#include <thalweg/api.h>
#include <thalweg/function.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Element number `index` of a pass, by tw_give; TW_GIVE_NOTHING: the pass has ended. Called in one thread at a time per pass. */
typedef tw_tensors (*tw_generate)(void *state, int64_t index);

typedef struct tw_generator_functions {
    size_t tw_size;
    void *(*begin)(void *state); /* what `generate` gets in a pass instead of `state`; NULL from it: an error. May be left out */
    void (*finish)(void *of_pass); /* ends that */
    void (*end)(void *state);      /* called when no dataset and no graph needs `state` any longer; may be left out */
} tw_generator_functions;
#define tw_generator_functions_defaults .tw_size = sizeof(tw_generator_functions)

/* The specs say what elements are like: dtypes, and shapes of which parts may be unknown. NULL: an error. */
TW_API_FUNCTION tw_dataset *tw_dataset_from_generator_(tw_generate generate, void *state, tw_specs specs,
                                                       const tw_generator_functions *functions);
#define tw_dataset_from_generator(generate, state, ...) TW_FROM_GENERATOR_(generate, state, __VA_ARGS__, )
#define TW_FROM_GENERATOR_(generate, state, specs, ...)                   \
    TW_MADE(tw_dataset *,                                                 \
            TW_QUIETLY(tw_dataset_from_generator_(generate, state, specs, \
                                                  &(tw_generator_functions){ tw_generator_functions_defaults, __VA_ARGS__ })))

#ifdef __cplusplus
}
#endif
#endif
