/* A header as an older release could have had it, by hand: structs end before options that came since, and hold those that this
 * release has first. Programs compiled with it must run with the library of today. */
#ifndef OLDER_THALWEG_H
#define OLDER_THALWEG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

typedef struct tw_tensor tw_tensor;
typedef struct tw_layer tw_layer;
typedef struct tw_optimizer tw_optimizer;
typedef struct tw_function tw_function;
typedef const void *tw_named;
typedef bool tw_flag __attribute__((aligned(8)));
typedef struct tw_shape {
    int32_t rank;
    int64_t dims[8];
} tw_shape;
typedef struct tw_tensors {
    tw_tensor **items;
    int64_t count;
} tw_tensors;
typedef struct tw_value {
    int kind;
    union {
        bool b;
        int64_t i;
        double f;
        struct {
            struct tw_value *items;
            int64_t count;
        } list;
    };
} tw_value;

tw_tensor *tw_tensor_new(int dtype, tw_shape shape, const void *data);
double tw_tensor_double_at(const tw_tensor *tensor, int64_t index);
tw_tensor *tw_layer_call(tw_layer *layer, tw_tensor *input);
void tw_release(const void *object);
int tw_report(FILE *stream);
void tw_value_free(tw_value *value);
char *tw_value_json(const tw_value *value);

/* Without `direction` and `name`. */
typedef struct tw_sort_args {
    size_t tw_size;
    tw_tensor *values;
    int64_t axis;
} tw_sort_args;
tw_tensor *tw_sort_(const tw_sort_args *args);
#define tw_sort(...) tw_sort_(&(tw_sort_args){ .axis = -1, .tw_size = sizeof(tw_sort_args), __VA_ARGS__ })

/* Without all behind `use_bias`: initializers, `trainable`, shapes. */
typedef struct tw_layers_dense_args {
    size_t tw_size;
    int64_t units;
    tw_named activation;
    tw_flag use_bias;
} tw_layers_dense_args;
tw_layer *tw_layers_dense_(const tw_layers_dense_args *args);
#define tw_layers_dense(...) \
    tw_layers_dense_(&(tw_layers_dense_args){ .use_bias = true, .tw_size = sizeof(tw_layers_dense_args), __VA_ARGS__ })

/* Without `momentum` and what follows it. */
typedef struct tw_optimizers_sgd_args {
    size_t tw_size;
    double learning_rate;
    void *learning_rate_object;
} tw_optimizers_sgd_args;
tw_optimizer *tw_optimizers_sgd_(const tw_optimizers_sgd_args *args);
#define tw_optimizers_sgd(...) \
    tw_optimizers_sgd_(&(tw_optimizers_sgd_args){ .learning_rate = 0.01, .tw_size = sizeof(tw_optimizers_sgd_args), __VA_ARGS__ })
typedef struct tw_optimizer_get_config_args {
    size_t tw_size;
    tw_optimizer *self;
} tw_optimizer_get_config_args;
tw_value tw_optimizer_get_config_(const tw_optimizer_get_config_args *args);

/* Functions whose options are written by hand: only the size and the name. */
typedef tw_tensors (*tw_body)(void *user, tw_tensors arguments);
typedef struct tw_function_args {
    size_t tw_size;
    const char *name;
} tw_function_args;
tw_function *tw_function_new_(tw_body body, void *user, const tw_function_args *args);
tw_tensor *tw_function_value(tw_function *function, tw_tensors arguments);
tw_tensors tw_give_(tw_tensors given);

#endif
