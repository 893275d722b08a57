/* Hyperparameters, by TensorBoard's routes; requests are JSON, in the body or as `request`.
 *
 *     hparams/experiment, hparams/session_groups {startIndex, sliceSize, allowedStatuses}, hparams/metric_evals {sessionName,
 * metricName}
 *
 * They stand in the metadata of three tags: _hparams_/experiment, _hparams_/session_start_info, _hparams_/session_end_info.
 *
 *     HParamsPluginData 2 Experiment, 3 SessionStartInfo, 4 SessionEndInfo
 *     Experiment        1 description, 2 user, 3 time_created_secs, 4 HParamInfo, 5 MetricInfo, 6 name
 *     HParamInfo        1 name, 2 display_name, 3 description, 4 type, 5 domain_discrete, 6 Interval { 1 min, 2 max }, 7 differs
 *     MetricInfo        1 MetricName { 1 group, 2 tag }, 3 display_name, 4 description, 5 dataset_type
 *     SessionStartInfo  1 hparams (a map), 2 model_uri, 3 monitor_url, 4 group_name, 5 start_time_secs
 *     SessionEndInfo    1 status, 2 end_time_secs
 *     google.protobuf.Value  1 null, 2 number, 3 string, 4 bool, 6 ListValue { 1 Value } */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "hparams.h"

enum { METRICS_LIMIT = 4096 };
static const char *const STATUSES[] = { "STATUS_UNKNOWN", "STATUS_SUCCESS", "STATUS_FAILURE", "STATUS_RUNNING" };

/* ---- what is there ---- */

/* Part `number` of the plugin's data of a run's tag; false: there is none. */
bool hparams_part(const board_run *run, const char *name, uint32_t number, board_field *out)
{
    const board_tag *tag = board_find_tag(run, name, "hparams");
    return tag && board_get_field(tag->content, tag->content_size, number, out) && out->data;
}

bool hparams_experiment(const board *b, board_field *out)
{
    for (size_t i = 0; i < b->run_count; i++) {
        if (hparams_part(&b->runs[i], EXPERIMENT, 2, out))
            return true;
    }
    return false;
}

board_field hparams_get(const board_field *message, uint32_t number)
{
    board_field field = { 0 };
    board_get_field(message->data, message->size, number, &field);
    return field;
}

void hparams_put_field(FILE *out, const board_field *message, uint32_t number)
{
    board_field field = hparams_get(message, number);
    board_put_text(out, field.data, field.data ? field.size : 0);
}

void hparams_put_double(FILE *out, const board_field *message, uint32_t number)
{
    board_field field = hparams_get(message, number);
    board_put_number(out, field.data ? 0 : board_as_double(field.value));
}

/* ---- values ---- */

void hparams_put_value(FILE *out, const board_field *value)
{
    board_field field;
    const uint8_t *at = value->data;
    if (!board_next_field(&at, value->data + value->size, &field) || field.number == 1)
        fputs("null", out);
    else if (field.number == 2)
        board_put_number(out, board_as_double(field.value));
    else if (field.number == 3)
        board_put_text(out, field.data, field.size);
    else
        fputs(field.value ? "true" : "false", out);
}

/* A map's entry {1 key, 2 value} of field 1 of a SessionStartInfo; goes on at *at. */
bool hparams_next(const board_field *start, const uint8_t **at, board_field *key, board_field *value)
{
    board_field entry;
    while (board_next_field(at, start->data + start->size, &entry)) {
        if (entry.number == 1 && entry.data) {
            *key = hparams_get(&entry, 1);
            *value = hparams_get(&entry, 2);
            return true;
        }
    }
    return false;
}

/* ---- metrics ---- */

typedef struct metric {
    char *tag, *group;
    board_field message; /* data NULL: worked out from the runs */
} metric;

static void add_metric(metric *list, size_t *count, const char *tag, const char *group, board_field message)
{
    for (size_t i = 0; i < *count; i++) {
        if (strcmp(list[i].tag, tag) == 0 && strcmp(list[i].group, group) == 0)
            return;
    }
    metric made = { strdup(tag), strdup(group), message };
    if (*count < METRICS_LIMIT && made.tag && made.group) {
        list[(*count)++] = made;
    } else {
        free(made.tag);
        free(made.group);
    }
}

static int by_metric(const void *a, const void *z)
{
    const metric *one = a, *other = z;
    int order = strcmp(one->tag, other->tag);
    return order ? order : strcmp(one->group, other->group);
}

/* The session that a run belongs to: the longest of its parents. */
static const board_run *session_of(const board *b, const board_run *run)
{
    char name[BOARD_NAME_LIMIT];
    board_field unused;
    snprintf(name, sizeof name, "%s", run->name);
    for (;;) {
        const board_run *found = board_find_run(b, name);
        if (found && hparams_part(found, START, 3, &unused))
            return found;
        char *slash = strrchr(name, '/');
        if (!slash)
            return NULL;
        *slash = 0;
    }
}

static size_t metrics_of(const board *b, metric *list)
{
    board_field experiment = { 0 }, part;
    size_t count = 0;
    if (hparams_experiment(b, &experiment)) {
        for (const uint8_t *at = experiment.data; board_next_field(&at, experiment.data + experiment.size, &part);) {
            if (part.number != 5 || !part.data)
                continue;
            board_field name = hparams_get(&part, 1), tag = hparams_get(&name, 2), group = hparams_get(&name, 1);
            char *tag_text = board_copy(tag.data, tag.size), *group_text = board_copy(group.data, group.size);
            if (tag_text && group_text)
                add_metric(list, &count, tag_text, group_text, part);
            free(tag_text);
            free(group_text);
        }
        return count;
    }
    for (size_t i = 0; i < b->run_count; i++) {
        const board_run *run = &b->runs[i], *session = session_of(b, run);
        const char *group = session ? run->name + strlen(session->name) : "";
        for (size_t k = 0; session && k < run->tag_count; k++) {
            if (board_is(&run->tags[k], "scalars"))
                add_metric(list, &count, run->tags[k].name, *group == '/' ? group + 1 : group, (board_field){ 0 });
        }
    }
    qsort(list, count, sizeof *list, by_metric);
    return count;
}

static void free_metrics(metric *list, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        free(list[i].tag);
        free(list[i].group);
    }
    free(list);
}

static void put_metric_name(FILE *out, const metric *m)
{
    fputs("\"name\":{\"tag\":", out);
    board_put_string(out, m->tag);
    fputs(",\"group\":", out);
    board_put_string(out, m->group);
    fputc('}', out);
}

/* ---- routes ---- */

static const char *asked(const board_request *request, char **memory)
{
    *memory = malloc(BOARD_BODY_LIMIT);
    if (request->post)
        return board_json_valid(request->body) ? request->body : NULL;
    bool good = *memory && board_parameter(request->query, "request", 0, *memory, BOARD_BODY_LIMIT) && board_json_valid(*memory);
    return good ? *memory : NULL;
}

static void put_metric_infos(const board *b, FILE *out)
{
    static const char *const types[] = { "DATASET_UNKNOWN", "DATASET_TRAINING", "DATASET_VALIDATION" };
    metric *metrics = calloc(METRICS_LIMIT, sizeof *metrics);
    size_t count = metrics ? metrics_of(b, metrics) : 0;
    for (size_t i = 0; i < count; i++) {
        uint64_t type = hparams_get(&metrics[i].message, 5).value;
        fputs(i ? ",{" : "{", out);
        put_metric_name(out, &metrics[i]);
        fputs(",\"displayName\":", out);
        hparams_put_field(out, &metrics[i].message, 3);
        fputs(",\"description\":", out);
        hparams_put_field(out, &metrics[i].message, 4);
        fprintf(out, ",\"datasetType\":\"%s\"}", types[type < 3 ? type : 0]);
    }
    free_metrics(metrics, count);
}

static void put_experiment(board *b, const board_request *request, board_answer *answer)
{
    char *memory;
    FILE *out = answer->body;
    const char *json = asked(request, &memory);
    board_field experiment = { 0 };
    if (!json) {
        board_refused(answer, 400, "a request in JSON is expected");
    } else {
        hparams_experiment(b, &experiment);
        fputs("{\"hparamInfos\":[", out);
        hparams_put_infos(b, &experiment, out);
        fputs("],\"metricInfos\":[", out);
        put_metric_infos(b, out);
        fputs("],\"name\":", out);
        hparams_put_field(out, &experiment, 6);
        fputs(",\"description\":", out);
        hparams_put_field(out, &experiment, 1);
        fputs(",\"user\":", out);
        hparams_put_field(out, &experiment, 2);
        fputs(",\"timeCreatedSecs\":", out);
        hparams_put_double(out, &experiment, 3);
        fputc('}', out);
    }
    free(memory);
}

/* The run in which a session's metric is. */
static const board_tag *metric_tag(const board *b, const char *session, const char *group, const char *tag)
{
    char name[2 * BOARD_NAME_LIMIT];
    snprintf(name, sizeof name, *group ? strcmp(session, ".") == 0 ? "%.0s%s" : "%s/%s" : "%s%s", session, group);
    return board_find_tag(board_find_run(b, name), tag, "scalars");
}

static size_t put_metric_values(const board *b, const board_run *session, const metric *metrics, size_t count, FILE *out)
{
    size_t made = 0;
    fputc('[', out);
    for (size_t i = 0; i < count; i++) {
        const board_tag *tag = metric_tag(b, session->name, metrics[i].group, metrics[i].tag);
        if (!tag || !tag->seen)
            continue;
        fputs(made++ ? ",{" : "{", out);
        put_metric_name(out, &metrics[i]);
        fputs(",\"value\":", out);
        board_put_number(out, tag->last.value);
        fprintf(out, ",\"trainingStep\":%lld,\"wallTimeSecs\":", (long long)tag->last.step);
        board_put_number(out, tag->last.wall_time);
        fputc('}', out);
    }
    fputc(']', out);
    return made;
}

typedef struct session {
    const board_run *run;
    board_field start, end;
    char *group;
} session;

static void put_session(const board *b, const session *s, const metric *metrics, size_t count, FILE *out)
{
    uint64_t status = hparams_get(&s->end, 1).value;
    fputs("{\"name\":", out);
    board_put_string(out, s->run->name);
    fputs(",\"startTimeSecs\":", out);
    hparams_put_double(out, &s->start, 5);
    fputs(",\"endTimeSecs\":", out);
    hparams_put_double(out, &s->end, 2);
    fprintf(out, ",\"status\":\"%s\",\"modelUri\":", STATUSES[status < 4 ? status : 0]);
    hparams_put_field(out, &s->start, 2);
    fputs(",\"monitorUrl\":", out);
    hparams_put_field(out, &s->start, 3);
    fputs(",\"metricValues\":", out);
    put_metric_values(b, s->run, metrics, count, out);
    fputc('}', out);
}

/* The means over the sessions of a group. */
static void put_group_metrics(const board *b, const session *list, size_t total, const char *group, const metric *metrics,
                              size_t count, FILE *out)
{
    bool first = true;
    fputc('[', out);
    for (size_t i = 0; i < count; i++) {
        double sum = 0, step = 0, time = 0, n = 0;
        for (size_t k = 0; k < total; k++) {
            const board_tag *tag =
                strcmp(list[k].group, group) == 0 ? metric_tag(b, list[k].run->name, metrics[i].group, metrics[i].tag) : NULL;
            if (!tag || !tag->seen)
                continue;
            sum += tag->last.value;
            step += (double)tag->last.step;
            time += tag->last.wall_time;
            n++;
        }
        if (n == 0)
            continue;
        fputs(first ? "{" : ",{", out);
        first = false;
        put_metric_name(out, &metrics[i]);
        fputs(",\"value\":", out);
        board_put_number(out, sum / n);
        fprintf(out, ",\"trainingStep\":%.0f,\"wallTimeSecs\":", floor(step / n));
        board_put_number(out, time / n);
        fputc('}', out);
    }
    fputc(']', out);
}

static void put_group(const board *b, const session *list, size_t total, size_t index, const metric *metrics, size_t count,
                      FILE *out)
{
    const session *s = &list[index];
    board_field key, value;
    bool first = true;
    fputs("{\"name\":", out);
    board_put_string(out, s->group);
    fputs(",\"monitorUrl\":", out);
    hparams_put_field(out, &s->start, 3);
    fputs(",\"hparams\":{", out);
    for (const uint8_t *at = s->start.data; hparams_next(&s->start, &at, &key, &value);) {
        fputs(first ? "" : ",", out);
        first = false;
        board_put_text(out, key.data, key.size);
        fputc(':', out);
        hparams_put_value(out, &value);
    }
    fputs("},\"metricValues\":", out);
    put_group_metrics(b, list, total, s->group, metrics, count, out);
    fputs(",\"sessions\":[", out);
    first = true;
    for (size_t i = index; i < total; i++) {
        if (strcmp(list[i].group, s->group) != 0)
            continue;
        fputs(first ? "" : ",", out);
        first = false;
        put_session(b, &list[i], metrics, count, out);
    }
    fputs("]}", out);
}

static bool is_allowed(const char *statuses, uint64_t status)
{
    char text[32];
    double number;
    const char *one;
    for (size_t i = 0; (one = board_json_element(statuses, i)); i++) {
        if ((board_json_string(one, text, sizeof text) && strcmp(text, STATUSES[status < 4 ? status : 0]) == 0) ||
            (board_json_number(one, &number) && number == (double)status))
            return true;
    }
    return false;
}

static size_t sessions_of(const board *b, const char *statuses, session *list)
{
    size_t total = 0;
    for (size_t i = 0; i < b->run_count; i++) {
        session s = { .run = &b->runs[i] };
        if (!hparams_part(s.run, START, 3, &s.start))
            continue;
        hparams_part(s.run, END, 4, &s.end);
        board_field group = hparams_get(&s.start, 4);
        s.group = group.size ? board_copy(group.data, group.size) : strdup(s.run->name);
        if (s.group && is_allowed(statuses, hparams_get(&s.end, 1).value))
            list[total++] = s;
        else
            free(s.group);
    }
    return total;
}

/* Whether columns are to be filtered or sorted, which is the caller's work here. */
static bool has_orders(const char *json)
{
    static const char *const names[] = { "order", "filterRegexp", "filterInterval", "filterDiscrete", "excludeMissingValues" };
    const char *columns = board_json_member(json, "colParams"), *one;
    for (size_t i = 0; (one = board_json_element(columns, i)); i++) {
        for (size_t k = 0; k < sizeof names / sizeof *names; k++) {
            const char *value = board_json_member(one, names[k]);
            if (value && strncmp(value, "\"ORDER_UNSPECIFIED\"", 19) != 0 && strncmp(value, "false", 5) != 0)
                return true;
        }
    }
    return false;
}

static void put_sessions(board *b, const board_request *request, board_answer *answer)
{
    char *memory;
    FILE *out = answer->body;
    const char *json = asked(request, &memory);
    double start = 0, size = 0;
    if (!json || has_orders(json)) {
        board_refused(answer, 400, json ? "filters and orders of colParams are not supported" : "a request in JSON is expected");
        free(memory);
        return;
    }
    (void)board_json_number(board_json_member(json, "startIndex"), &start);
    (void)board_json_number(board_json_member(json, "sliceSize"), &size);
    session *list = calloc(b->run_count + 1, sizeof *list);
    metric *metrics = calloc(METRICS_LIMIT, sizeof *metrics);
    size_t total = list && metrics ? sessions_of(b, board_json_member(json, "allowedStatuses"), list) : 0,
           count = metrics ? metrics_of(b, metrics) : 0;
    size_t groups = 0, put = 0;
    fputs("{\"sessionGroups\":[", out);
    for (size_t i = 0; i < total; i++) {
        bool seen = false;
        for (size_t k = 0; k < i; k++)
            seen |= strcmp(list[k].group, list[i].group) == 0;
        if (seen)
            continue;
        if ((double)groups >= start && (double)groups < start + size) {
            fputs(put++ ? "," : "", out);
            put_group(b, list, total, i, metrics, count, out);
        }
        groups++;
    }
    fprintf(out, "],\"totalSize\":%zu}", groups);
    for (size_t i = 0; i < total; i++)
        free(list[i].group);
    free(list);
    free_metrics(metrics, count);
    free(memory);
}

static void put_evaluations(board *b, const board_request *request, board_answer *answer)
{
    char *memory, session_name[BOARD_NAME_LIMIT] = "", tag_name[BOARD_NAME_LIMIT] = "", group[BOARD_NAME_LIMIT] = "";
    const char *json = asked(request, &memory), *name = board_json_member(json, "metricName");
    (void)board_json_string(board_json_member(json, "sessionName"), session_name, sizeof session_name);
    (void)board_json_string(board_json_member(name, "tag"), tag_name, sizeof tag_name);
    (void)board_json_string(board_json_member(name, "group"), group, sizeof group);
    const board_tag *tag = json ? metric_tag(b, session_name, group, tag_name) : NULL;
    if (tag)
        board_put_points(tag, answer->body);
    else
        board_refused(answer, json ? 404 : 400, json ? "there is no such metric" : "a request in JSON is expected");
    free(memory);
}

const board_route board_hparam_routes[] = {
    { "hparams", "experiment", put_experiment, NULL },
    { "hparams", "session_groups", put_sessions, NULL },
    { "hparams", "metric_evals", put_evaluations, NULL },
    { 0 },
};
