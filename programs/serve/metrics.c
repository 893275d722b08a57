/* What was counted: requests by model and how they ended, how long they took; as Prometheus reads it. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "serve.h"

enum { CODES = 16, BUCKETS = 24, METHODS = 3 };
static const char *const METHOD_NAMES[METHODS] = { "Predict", "Classify", "Regress" };

typedef struct histogram {
    uint64_t counts[BUCKETS + 1]; /* up to 10 · 1.8^i microseconds */
    uint64_t count;
    double sum;
} histogram;

struct model_counts {
    struct {
        int code;
        uint64_t count;
    } codes[CODES];
    histogram latency[METHODS];
};

struct model_counts *metrics_new(void)
{
    return calloc(1, sizeof(struct model_counts));
}

static double bound(int bucket)
{
    double at = 10;
    for (int i = 0; i < bucket; i++)
        at *= 1.8;
    return at;
}

void metrics_count(serving *s, const char *model, const char *method, int code, double seconds)
{
    double micros = seconds * 1e6;
    int bucket = 0, which = *method == 'c' || *method == 'C' ? 1 : *method == 'r' || *method == 'R' ? 2 : 0;
    while (bucket < BUCKETS && micros > bound(bucket))
        bucket++;
    pthread_mutex_lock(&s->lock);
    served_model *found = models_find(s, model); /* names that there are: others could be made up without an end */
    for (int i = 0; found && i < CODES; i++) {
        if (found->counts->codes[i].code && found->counts->codes[i].code != code)
            continue;
        found->counts->codes[i].code = code;
        found->counts->codes[i].count++;
        break;
    }
    if (found) {
        histogram *h = &found->counts->latency[which];
        h->counts[bucket]++;
        h->count++;
        h->sum += micros;
    }
    pthread_mutex_unlock(&s->lock);
}

/* A label's value: backslashes, quotes and line ends are escaped. */
static void put_label(FILE *out, const char *name, const char *value)
{
    fprintf(out, "%s=\"", name);
    for (; *value; value++) {
        if (*value == '\n')
            fputs("\\n", out);
        else
            fprintf(out, "%s%c", *value == '"' || *value == '\\' ? "\\" : "", *value);
    }
    fputc('"', out);
}

static void put_histogram(FILE *out, const served_model *model, int method)
{
    const histogram *h = &model->counts->latency[method];
    const char *name = ":tensorflow:serving:request_latency";
    uint64_t below = 0;
    for (int i = 0; h->count && i <= BUCKETS; i++) {
        below += h->counts[i];
        fprintf(out, "%s_bucket{", name);
        put_label(out, "model_name", model->name);
        fprintf(out, ",API=\"%s\",entrypoint=\"REST\",le=\"", METHOD_NAMES[method]);
        fprintf(out, i < BUCKETS ? "%g" : "+Inf", bound(i));
        fprintf(out, "\"} %llu\n", (unsigned long long)below);
    }
    for (int sum = 1; h->count && sum >= 0; sum--) {
        fprintf(out, "%s_%s{", name, sum ? "sum" : "count");
        put_label(out, "model_name", model->name);
        fprintf(out, ",API=\"%s\",entrypoint=\"REST\"} %.17g\n", METHOD_NAMES[method], sum ? h->sum : (double)h->count);
    }
}

static double resident_bytes(void)
{
    long pages = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    if (file && fscanf(file, "%*d %ld", &pages) != 1)
        pages = 0;
    if (file)
        fclose(file);
    return (double)pages * (double)sysconf(_SC_PAGESIZE);
}

void metrics_put(serving *s, FILE *out)
{
    pthread_mutex_lock(&s->lock);
    fputs("# HELP :tensorflow:serving:request_count Requests, by model and the code of the answer.\n"
          "# TYPE :tensorflow:serving:request_count counter\n",
          out);
    for (size_t i = 0; i < s->model_count; i++) {
        for (int k = 0; k < CODES && s->models[i]->counts->codes[k].code; k++) {
            fputs(":tensorflow:serving:request_count{", out);
            put_label(out, "model_name", s->models[i]->name);
            fprintf(out, ",status=\"%d\"} %llu\n", s->models[i]->counts->codes[k].code,
                    (unsigned long long)s->models[i]->counts->codes[k].count);
        }
    }
    fputs("# HELP :tensorflow:serving:request_latency Microseconds until a request is answered.\n"
          "# TYPE :tensorflow:serving:request_latency histogram\n",
          out);
    for (size_t i = 0; i < s->model_count; i++) {
        for (int k = 0; k < METHODS; k++)
            put_histogram(out, s->models[i], k);
    }
    fputs("# HELP thalweg_model_version_loaded Versions of models that are served.\n# TYPE thalweg_model_version_loaded gauge\n",
          out);
    for (size_t i = 0; i < s->model_count; i++) {
        for (int k = 0; k < s->models[i]->version_count; k++) {
            fputs("thalweg_model_version_loaded{", out);
            put_label(out, "model_name", s->models[i]->name);
            fprintf(out, ",version=\"%lld\"} %d\n", (long long)s->models[i]->versions[k].number,
                    s->models[i]->versions[k].loaded != NULL);
        }
    }
    pthread_mutex_unlock(&s->lock);
    fprintf(out,
            "# TYPE process_resident_memory_bytes gauge\nprocess_resident_memory_bytes %.0f\n"
            "# TYPE process_start_time_seconds gauge\nprocess_start_time_seconds %.3f\n",
            resident_bytes(), s->started);
}
