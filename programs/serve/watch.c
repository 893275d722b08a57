/* The thread that looks for versions of models, loads new ones and unloads those that are wanted no more.
 *
 * A model's path is a SavedModel or a file of Keras, which is version 1, or a folder of them whose names are numbers. New
 * versions are loaded before old ones go, and those go when the last request to them is answered. */
#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "serve.h"

typedef struct candidate {
    int64_t number;
    char name[64];
} candidate;

/* ---- what is there ---- */

static bool ends_with(const char *text, const char *ending)
{
    size_t size = strlen(text), end = strlen(ending);
    return size > end && strcmp(text + size - end, ending) == 0;
}

static bool is_keras(const char *path)
{
    struct stat status;
    return (ends_with(path, ".keras") || ends_with(path, ".h5") || ends_with(path, ".hdf5")) && stat(path, &status) == 0;
}

/* The number of a version's name, "12" or "12.keras"; -1: it is none. */
static int64_t version_number(const char *name)
{
    size_t digits = strspn(name, "0123456789");
    if (!digits || digits > 18 || (name[digits] && strcmp(name + digits, ".keras") != 0 && strcmp(name + digits, ".h5") != 0))
        return -1;
    return strtoll(name, NULL, 10);
}

static int newest_first(const void *a, const void *b)
{
    const candidate *x = a, *y = b;
    return x->number > y->number ? -1 : x->number < y->number;
}

static int find_candidates(const char *path, candidate *list)
{
    int count = 0;
    DIR *folder = opendir(path);
    for (struct dirent *entry; folder && (entry = readdir(folder)) && count < VERSIONS_LIMIT;) {
        int64_t number = version_number(entry->d_name);
        if (number >= 0 && strlen(entry->d_name) < sizeof list->name) {
            list[count].number = number;
            strcpy(list[count++].name, entry->d_name);
        }
    }
    if (folder)
        closedir(folder);
    qsort(list, (size_t)count, sizeof *list, newest_first);
    return count;
}

/* Keeps those that the policy wants. */
static int choose(const served_model *model, candidate *list, int count)
{
    if (model->policy == ALL)
        return count;
    if (model->policy == LATEST)
        return count < model->latest ? count : (int)model->latest;
    int kept = 0;
    for (int i = 0; i < count; i++) {
        for (int k = 0; k < model->wanted_count; k++) {
            if (list[i].number == model->versions_wanted[k]) {
                list[kept++] = list[i];
                break;
            }
        }
    }
    return kept;
}

static int wanted_versions(const served_model *model, candidate *list)
{
    if (!tw_saved_model_contains(model->path) && !is_keras(model->path))
        return choose(model, list, find_candidates(model->path, list));
    list[0] = (candidate){ .number = 1 };
    return 1;
}

/* A number that changes when the files do: a version may be tried again that was only half there. */
static int64_t changes_of(const char *path)
{
    static const char *const files[] = { "", "/saved_model.pb", "/variables", "/variables/variables.index" };
    int64_t sum = 0;
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        char name[4200];
        struct stat status;
        snprintf(name, sizeof name, "%.4000s%s", path, files[i]);
        if (stat(name, &status) == 0)
            sum = sum * 31 + (int64_t)status.st_mtim.tv_sec * 1000000007 + (int64_t)status.st_mtim.tv_nsec +
                  (int64_t)status.st_size;
    }
    return sum;
}

/* ---- versions ---- */

/* The place of a version in the list; a new one is put there. NULL: there is no room. Under the lock. */
static served_version *version_at(served_model *model, const candidate *wanted)
{
    int at = 0;
    while (at < model->version_count && model->versions[at].number > wanted->number)
        at++;
    served_version *place = &model->versions[at];
    if (at < model->version_count && place->number == wanted->number)
        return place;
    if (model->version_count == VERSIONS_LIMIT) { /* the oldest that ended is forgotten */
        served_version *oldest = &model->versions[VERSIONS_LIMIT - 1];
        if (oldest->state != VERSION_END || at == VERSIONS_LIMIT)
            return NULL;
        free(oldest->path);
        free(oldest->message);
        model->version_count--;
    }
    memmove(place + 1, place, (size_t)(model->version_count++ - at) * sizeof *place);
    size_t size = strlen(model->path) + strlen(wanted->name) + 2;
    *place = (served_version){ .number = wanted->number, .state = VERSION_END, .path = malloc(size) };
    if (place->path)
        snprintf(place->path, size, "%s%s%s", model->path, *wanted->name ? "/" : "", wanted->name);
    return place;
}

/* Whether it is to be loaded now. Under the lock. */
static bool is_due(serving *s, served_version *version)
{
    if (version->loaded || !version->path)
        return false;
    int64_t changed = changes_of(version->path);
    if (changed != version->changed) {
        version->changed = changed;
        version->attempts = 0;
        return true;
    }
    return version->attempts == 0 ||
           (version->code != TW_OK && version->attempts <= s->retries && http_seconds() >= version->again);
}

static void load(serving *s, served_model *model, const candidate *wanted)
{
    pthread_mutex_lock(&s->lock);
    served_version *version = version_at(model, wanted);
    bool due = version && is_due(s, version);
    char *path = due ? strdup(version->path) : NULL;
    if (due)
        version->state = VERSION_LOADING;
    pthread_mutex_unlock(&s->lock);
    if (!path)
        return;
    servable *loaded = servable_load(path, &s->batching);
    tw_status code = TW_OK;
    char *message = loaded ? NULL : tw_take_error(&code);
    pthread_mutex_lock(&s->lock);
    version = version_at(model, wanted); /* only this thread moves them */
    version->loaded = loaded;
    version->state = loaded ? VERSION_AVAILABLE : VERSION_END;
    version->attempts++;
    version->again = http_seconds() + s->retry;
    version->code = loaded ? TW_OK : code ? code : TW_UNKNOWN;
    free(version->message);
    version->message = message;
    pthread_mutex_unlock(&s->lock);
    if (loaded)
        fprintf(stderr, "thalweg: loaded %s version %lld from %s\n", model->name, (long long)wanted->number, path);
    else
        fprintf(stderr, "thalweg: could not load %s version %lld: %s\n", model->name, (long long)wanted->number,
                message ? message : "memory ran out");
    free(path);
}

static void unload(serving *s, served_model *model, int64_t number)
{
    servable *loaded = NULL;
    bool last = false;
    pthread_mutex_lock(&s->lock);
    for (int i = 0; i < model->version_count; i++) {
        served_version *version = &model->versions[i];
        if (version->number == number && version->loaded) {
            loaded = version->loaded;
            version->loaded = NULL;
            version->state = VERSION_END;
            version->attempts = 0;
            last = loaded->uses-- == 0;
        }
    }
    pthread_mutex_unlock(&s->lock);
    if (loaded)
        fprintf(stderr, "thalweg: unloaded %s version %lld\n", model->name, (long long)number);
    if (last)
        servable_free(loaded);
}

static bool is_wanted(const candidate *list, int count, int64_t number)
{
    for (int i = 0; i < count; i++) {
        if (list[i].number == number)
            return true;
    }
    return false;
}

static void watch_model(serving *s, served_model *model)
{
    candidate list[VERSIONS_LIMIT];
    int count = wanted_versions(model, list), loaded = 0;
    for (int i = 0; i < count; i++)
        load(s, model, &list[i]);
    for (int i = 0; i < model->version_count; i++)
        loaded += model->versions[i].loaded && is_wanted(list, count, model->versions[i].number);
    for (int i = 0; i < model->version_count; i++) {
        if (model->versions[i].loaded && !is_wanted(list, count, model->versions[i].number) && (loaded || !count))
            unload(s, model, model->versions[i].number);
    }
}

/* ---- the thread ---- */

bool watch_once(serving *s)
{
    bool all = true;
    for (size_t i = 0; i < s->model_count; i++) {
        served_model *model = s->models[i];
        watch_model(s, model);
        bool any = false;
        for (int k = 0; k < model->version_count; k++)
            any = any || model->versions[k].loaded;
        if (!any && !model->version_count)
            fprintf(stderr,
                    "thalweg: no versions of model %s found at %s: a SavedModel, a .keras or .h5 file, or a folder of "
                    "them whose names are numbers is expected\n",
                    model->name, model->path);
        all = all && any;
    }
    return all;
}

static void *watch(void *context)
{
    serving *s = context;
    pthread_mutex_lock(&s->lock);
    while (!s->stops) {
        struct timespec end;
        clock_gettime(CLOCK_REALTIME, &end);
        end.tv_sec += (time_t)s->poll;
        end.tv_nsec += (long)((s->poll - (double)(time_t)s->poll) * 1e9);
        end.tv_sec += end.tv_nsec / 1000000000;
        end.tv_nsec %= 1000000000;
        if (pthread_cond_timedwait(&s->woken, &s->lock, &end) != ETIMEDOUT)
            continue;
        pthread_mutex_unlock(&s->lock);
        for (size_t i = 0; i < s->model_count; i++)
            watch_model(s, s->models[i]);
        pthread_mutex_lock(&s->lock);
    }
    pthread_mutex_unlock(&s->lock);
    return NULL;
}

bool watch_start(serving *s)
{
    s->watching = s->poll > 0 && pthread_create(&s->watcher, NULL, watch, s) == 0;
    return s->watching || s->poll <= 0;
}

void watch_stop(serving *s)
{
    pthread_mutex_lock(&s->lock);
    s->stops = true;
    pthread_cond_broadcast(&s->woken);
    pthread_mutex_unlock(&s->lock);
    if (s->watching)
        pthread_join(s->watcher, NULL);
}
