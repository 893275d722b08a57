/* Opening a model of any format, and calling it. */
#include <stdlib.h>
#include <string.h>

#include "model.h"

static bool add_input(opened_model *m, const char *name, tw_dtype dtype, tw_shape shape)
{
    model_input *wider = realloc(m->inputs, (size_t)(m->input_count + 2) * sizeof *wider); /* and an end */
    if (!wider)
        return false;
    m->inputs = wider;
    char *copy = strdup(name ? name : "");
    m->inputs[m->input_count] = (model_input){ copy, dtype, shape };
    m->inputs[m->input_count + 1] = (model_input){ .name = NULL };
    m->input_count += copy != NULL;
    return copy != NULL;
}

static bool open_saved(opened_model *m, const char *path, const char *signature)
{
    m->saved = tw_saved_model_load(path);
    m->signature = m->saved ? tw_saved_model_signature(m->saved, signature ? signature : "serving_default") : NULL;
    const char *name;
    for (int64_t i = 0; m->signature && (name = tw_signature_input(m->signature, i)); i++) {
        tw_spec spec = tw_signature_input_spec(m->signature, i);
        if (!add_input(m, name, spec.dtype, spec.shape))
            return false;
    }
    return m->signature != NULL;
}

static bool open_keras(opened_model *m, const char *path)
{
    m->keras = tw_load_model(path, .compile = false);
    tw_value inputs = m->keras ? tw_model_inputs(m->keras) : (tw_value){ .kind = TW_VALUE_NONE };
    bool is_list = inputs.kind == TW_VALUE_LIST || inputs.kind == TW_VALUE_TUPLE, works = m->keras != NULL;
    for (int64_t i = 0; works && is_list && i < inputs.list.count; i++) {
        tw_keras_tensor *tensor = inputs.list.items[i].object;
        char *name = tw_keras_tensor_name(tensor);
        works = name && add_input(m, name, tw_keras_tensor_dtype(tensor), tw_keras_tensor_shape(tensor));
        free(name);
    }
    tw_value_free(&inputs);
    return works;
}

bool open_model(opened_model *m, const char *path, const char *signature)
{
    *m = (opened_model){ 0 };
    return tw_saved_model_contains(path) ? open_saved(m, path, signature) : open_keras(m, path);
}

void close_model(opened_model *m)
{
    for (int64_t i = 0; i < m->input_count; i++)
        free((void *)m->inputs[i].name);
    free(m->inputs);
    tw_release(m->signature);
    tw_saved_model_close(m->saved);
    tw_release(m->keras);
}

tw_tensors call_model(opened_model *m, tw_tensor *const *inputs)
{
    if (m->keras)
        return tw_model_call_all(m->keras, (tw_tensors){ (tw_tensor **)inputs, m->input_count }, false);
    tw_named_tensor *named = calloc((size_t)m->input_count + 1, sizeof *named);
    for (int64_t i = 0; named && i < m->input_count; i++)
        named[i] = (tw_named_tensor){ m->inputs[i].name, inputs[i] };
    tw_tensors results = named ? tw_signature_call(m->signature, (tw_named_tensors){ named, m->input_count }) : (tw_tensors){ 0 };
    free(named);
    return results;
}

const char *model_output(const opened_model *m, int64_t index, char room[32])
{
    const char *name = m->signature ? tw_signature_output(m->signature, index) : NULL;
    snprintf(room, 32, "output_%lld", (long long)index);
    return name ? name : room;
}

static tw_tensor *filled(const model_input *input, double value, int64_t batch)
{
    tw_shape shape = input->shape;
    for (int i = 0; i < shape.rank; i++) {
        if (shape.dims[i] < 0)
            shape.dims[i] = i ? 1 : batch;
    }
    if (shape.rank < 0)
        shape.rank = 0;
    tw_auto tw_tensor *dims = tw_tensor_new(TW_INT64, (tw_shape){ 1, { shape.rank } }, shape.dims);
    tw_auto tw_tensor *number = tw_tensor_double(value);
    tw_auto tw_tensor *element = input->dtype == TW_STRING ? tw_tensor_string("", 0)
                                 : number                  ? tw_cast(number, input->dtype)
                                                           : NULL;
    return dims && element ? tw_fill(dims, element) : NULL;
}

tw_tensor *input_tensor(const model_input *input, const char *word, int64_t batch)
{
    size_t size = strlen(word);
    if (strcmp(word, "zeros") == 0 || strcmp(word, "ones") == 0)
        return filled(input, *word == 'o', batch);
    if (size > 4 && strcmp(word + size - 4, ".npy") == 0) {
        tw_auto tw_tensor *read = tw_npy_read(word);
        return !read ? NULL : tw_tensor_dtype(read) == input->dtype ? tw_retain(read) : tw_cast(read, input->dtype);
    }
    tw_value value;
    if (tw_value_from_json(word, size, &value) != TW_OK)
        return NULL;
    tw_tensor *made = tw_value_tensor(&value, input->dtype);
    tw_value_free(&value);
    return made;
}
