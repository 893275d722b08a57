/* One version of a model in memory. A file of Keras is served by the signatures that it has as a SavedModel. */
#include <stdlib.h>
#include <string.h>

#include "saved_copy.h"
#include "serve.h"

/* ---- metadata ---- */

static void put_dtype(FILE *out, const char *name)
{
    static const char *const others[][2] = { { "float32", "FLOAT" }, { "float64", "DOUBLE" }, { "float16", "HALF" } };
    for (size_t i = 0; i < 3; i++) {
        if (strcmp(name, others[i][0]) == 0)
            name = others[i][1];
    }
    fputs("\"DT_", out);
    for (; *name; name++)
        fputc(*name >= 'a' && *name <= 'z' ? *name - 32 : *name, out);
    fputc('"', out);
}

static void put_infos(FILE *out, const char *what, const tw_value *infos)
{
    fprintf(out, "\n   \"%s\": {", what);
    for (int64_t i = 0; i < infos->list.count; i++) {
        const tw_value *info = &infos->list.items[i], *shape = tw_value_get(info, "shape");
        bool known = shape->kind == TW_VALUE_LIST;
        fprintf(out, "%s\n    ", i ? "," : "");
        put_quoted(out, tw_value_get(info, "name")->s.data);
        fputs(": {\n     \"dtype\": ", out);
        put_dtype(out, tw_value_get(info, "dtype")->s.data);
        fputs(",\n     \"tensor_shape\": {\n      \"dim\": [", out);
        for (int64_t k = 0; known && k < shape->list.count; k++)
            fprintf(out, "%s\n       {\n        \"size\": \"%lld\",\n        \"name\": \"\"\n       }", k ? "," : "",
                    (long long)shape->list.items[k].i);
        fprintf(out, "%s],\n      \"unknown_rank\": %s\n     },\n     \"name\": ", known && shape->list.count ? "\n      " : "",
                known ? "false" : "true");
        put_quoted(out, tw_value_get(info, "tensor")->s.data);
        fputs("\n    }", out);
    }
    fputs(infos->list.count ? "\n   }" : "}", out);
}

/* The map of signatures, as TensorFlow Serving prints the message. */
static char *metadata_of(const tw_value *facts)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    const tw_value *signatures = out ? tw_value_get(facts, "signatures") : NULL;
    if (!out)
        return NULL;
    fputs("{\n \"signature_def\": {", out);
    for (int64_t i = 0; i < signatures->list.count; i++) {
        const tw_value *signature = &signatures->list.items[i];
        fprintf(out, "%s\n  ", i ? "," : "");
        put_quoted(out, tw_value_get(signature, "name")->s.data);
        fputs(": {", out);
        put_infos(out, "inputs", tw_value_get(signature, "inputs"));
        fputc(',', out);
        put_infos(out, "outputs", tw_value_get(signature, "outputs"));
        fputs(",\n   \"method_name\": ", out);
        put_quoted(out, tw_value_get(signature, "method")->s.data);
        fputs(",\n   \"defaults\": {}\n  }", out);
    }
    fputs(signatures->list.count ? "\n }\n}" : "}\n}", out);
    if (fclose(out) == 0)
        return text;
    free(text);
    return NULL;
}

/* ---- loading ---- */

static const char *method_of(const tw_value *facts, const char *name)
{
    const tw_value *signatures = tw_value_get(facts, "signatures");
    for (int64_t i = 0; i < signatures->list.count; i++) {
        if (strcmp(tw_value_get(&signatures->list.items[i], "name")->s.data, name) == 0)
            return tw_value_get(&signatures->list.items[i], "method")->s.data;
    }
    return "";
}

static bool prepare_signature(served_signature *made, tw_saved_object *model, const tw_value *facts, const char *name,
                              const batch_settings *batching)
{
    made->function = tw_saved_model_signature(model, name);
    if (!made->function)
        return false;
    while (tw_signature_input(made->function, made->input_count))
        made->input_count++;
    while (tw_signature_output(made->function, made->output_count))
        made->output_count++;
    made->name = strdup(name);
    made->method = strdup(method_of(facts, name));
    made->inputs = calloc((size_t)made->input_count + 1, sizeof *made->inputs);
    made->outputs = calloc((size_t)made->output_count + 1, sizeof *made->outputs);
    made->specs = calloc((size_t)made->input_count + 1, sizeof *made->specs);
    if (!made->name || !made->method || !made->inputs || !made->outputs || !made->specs)
        return false;
    for (int64_t i = 0; i < made->input_count; i++) {
        made->inputs[i] = tw_signature_input(made->function, i);
        made->specs[i] = tw_signature_input_spec(made->function, i);
    }
    for (int64_t i = 0; i < made->output_count; i++)
        made->outputs[i] = tw_signature_output(made->function, i);
    made->batch = batching->on ? batcher_new(batching) : NULL;
    return true;
}

static bool prepare(servable *s, const char *path, const batch_settings *batching)
{
    s->model = tw_saved_model_load(path);
    char *text = s->model ? tw_saved_model_json(path) : NULL;
    tw_value facts = { .kind = TW_VALUE_NONE }, names = { .kind = TW_VALUE_NONE };
    bool works = text && tw_value_from_json(text, strlen(text), &facts) == TW_OK;
    if (works)
        names = tw_saved_model_signatures(s->model);
    works = works && (names.kind == TW_VALUE_LIST || names.kind == TW_VALUE_TUPLE);
    s->metadata = works ? metadata_of(&facts) : NULL;
    s->signatures = works ? calloc((size_t)names.list.count + 1, sizeof *s->signatures) : NULL;
    works = works && s->metadata && s->signatures;
    for (int64_t i = 0; works && i < names.list.count; i++) {
        s->count++;
        works = prepare_signature(&s->signatures[i], s->model, &facts, names.list.items[i].s.data, batching);
    }
    tw_value_free(&names);
    tw_value_free(&facts);
    free(text);
    return works;
}

static bool prepare_keras(servable *s, const char *path, const batch_settings *batching)
{
    saved_copy copy;
    if (!saved_copy_make(&copy, path))
        return false;
    bool works = prepare(s, copy.folder, batching);
    saved_copy_remove(&copy);
    return works;
}

servable *servable_load(const char *path, const batch_settings *batching)
{
    servable *s = calloc(1, sizeof *s);
    if (!s)
        return NULL;
    if (tw_saved_model_contains(path) ? prepare(s, path, batching) : prepare_keras(s, path, batching))
        return s;
    servable_free(s);
    return NULL;
}

void servable_free(servable *s)
{
    for (int64_t i = 0; i < s->count; i++) {
        served_signature *signature = &s->signatures[i];
        batcher_free(signature->batch);
        free(signature->name);
        free(signature->method);
        free(signature->inputs);
        free(signature->outputs);
        free(signature->specs);
        tw_release(signature->function);
    }
    free(s->signatures);
    free(s->metadata);
    tw_saved_model_close(s->model);
    free(s);
}

const served_signature *servable_signature(const servable *s, const char *name)
{
    for (int64_t i = 0; i < s->count; i++) {
        if (strcmp(s->signatures[i].name, name) == 0)
            return &s->signatures[i];
    }
    return NULL;
}
