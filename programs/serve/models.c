/* Models with their versions, as requests ask for them. */
#include <stdlib.h>
#include <string.h>

#include "serve.h"

served_model *models_find(serving *s, const char *name)
{
    for (size_t i = 0; i < s->model_count; i++) {
        if (strcmp(s->models[i]->name, name) == 0)
            return s->models[i];
    }
    return NULL;
}

served_model *models_add(serving *s, const char *name, const char *path)
{
    served_model **more = models_find(s, name) ? NULL : realloc(s->models, (s->model_count + 1) * sizeof *more);
    served_model *made = more ? calloc(1, sizeof *made) : NULL;
    if (more)
        s->models = more;
    if (!made)
        return NULL;
    *made = (served_model){ .name = strdup(name), .path = strdup(path), .policy = LATEST, .latest = 1, .counts = metrics_new() };
    if (!made->name || !made->path || !made->counts)
        return NULL;
    s->models[s->model_count++] = made;
    return made;
}

void models_free(serving *s)
{
    for (size_t i = 0; i < s->model_count; i++) {
        served_model *model = s->models[i];
        for (int k = 0; k < model->version_count; k++) {
            served_version *version = &model->versions[k];
            free(version->path);
            free(version->message);
            if (version->loaded)
                servable_free(version->loaded);
        }
        for (int k = 0; k < model->label_count; k++)
            free(model->labels[k].name);
        free(model->name);
        free(model->path);
        free(model->counts);
        free(model);
    }
    free(s->models);
}

static servable *find_loaded(const served_model *model, int64_t number, int64_t *found)
{
    for (int i = 0; i < model->version_count; i++) {
        const served_version *version = &model->versions[i];
        if (version->loaded && (number < 0 || version->number == number)) {
            *found = version->number;
            return version->loaded;
        }
    }
    return NULL;
}

servable *models_take(serving *s, const char *name, int64_t version, const char *label, int64_t *found, int *code, char text[512])
{
    servable *taken = NULL;
    pthread_mutex_lock(&s->lock);
    served_model *model = models_find(s, name);
    bool labelled = !label;
    for (int i = 0; model && label && i < model->label_count; i++) {
        if (strcmp(model->labels[i].name, label) == 0) {
            version = model->labels[i].version;
            labelled = true;
        }
    }
    if (model && labelled && (taken = find_loaded(model, version, found)))
        taken->uses++;
    pthread_mutex_unlock(&s->lock);
    *code = taken ? 200 : labelled || !model ? 404 : 400;
    if (!labelled && model)
        snprintf(text, 512, "Unrecognized servable version label: %.200s", label);
    else if (version >= 0)
        snprintf(text, 512, "Servable not found for request: Specific(%.200s, %lld)", name, (long long)version);
    else
        snprintf(text, 512, "Servable not found for request: Latest(%.200s)", name);
    return taken;
}

void models_give_back(serving *s, servable *loaded)
{
    pthread_mutex_lock(&s->lock);
    bool last = --loaded->uses < 0; /* the model's own use ended before */
    pthread_mutex_unlock(&s->lock);
    if (last)
        servable_free(loaded);
}
