/* What `thalweg tensorboard` answers: the files of dashboard/, TensorBoard's own data routes, and some of the page's own.
 *
 *     /data/environment, /data/runs, /data/plugins_listing     as TensorBoard's
 *     /data/plugin/PLUGIN/WHAT                                 a file per plugin; see there
 *     /data/changes?since=G                                    what the page has to know: {"instance", "generation", "reading",
 * "runs": [name, …], "tags": [[run, plugin, tag, title, points, samples, generation], …]} with the tags that changed since
 * generation G */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "board.h"
#include "embedded.h"

static const board_route *const ROUTES[] = { board_scalar_routes,   board_media_routes,  board_histogram_routes,
                                             board_text_routes,     board_graph_routes,  board_curve_routes,
                                             board_hparam_routes,   board_series_routes, board_profile_routes,
                                             board_projector_routes };

/* ---- parameters ---- */

static int digit(char c)
{
    return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

bool board_parameter(const char *query, const char *key, size_t index, char *out, size_t room)
{
    size_t size = strlen(key), at = 0;
    *out = 0;
    while (query && *query) {
        if (strncmp(query, key, size) == 0 && query[size] == '=' && index-- == 0) {
            for (const char *p = query + size + 1; *p && *p != '&'; p++) {
                if (at + 1 >= room) {
                    *out = 0;
                    return false;
                }
                if (*p == '%' && digit(p[1]) >= 0 && digit(p[2]) >= 0) {
                    out[at++] = (char)(digit(p[1]) * 16 + digit(p[2]));
                    p += 2;
                } else {
                    out[at++] = *p == '+' ? ' ' : *p;
                }
            }
            out[at] = 0;
            return true;
        }
        query = strchr(query, '&');
        query = query ? query + 1 : NULL;
    }
    return false;
}

double board_parameter_number(const char *query, const char *key, double otherwise)
{
    char text[64], *end;
    if (!board_parameter(query, key, 0, text, sizeof text) || !*text)
        return otherwise;
    double value = strtod(text, &end);
    return *end ? otherwise : value;
}

int64_t board_parameter_count(const char *query, const char *key, int64_t otherwise)
{
    double value = board_parameter_number(query, key, (double)otherwise);
    return !(value >= 0) ? -1 : value > 9e15 ? (int64_t)9e15 : (int64_t)value;
}

void board_refused(board_answer *answer, int code, const char *text)
{
    answer->code = code;
    answer->type = "text/plain; charset=utf-8";
    fputs(text, answer->body);
    fputc('\n', answer->body);
}

bool board_asked(const board *b, const board_request *request, const char *plugin, int code, board_answer *answer,
                 const board_run **run, const board_tag **tag)
{
    char run_name[BOARD_NAME_LIMIT], tag_name[BOARD_NAME_LIMIT];
    bool whole = board_parameter(request->query, "run", 0, run_name, sizeof run_name);
    whole &= board_parameter(request->query, "tag", 0, tag_name, sizeof tag_name);
    *run = whole ? board_find_run(b, run_name) : NULL;
    *tag = board_find_tag(*run, tag_name, plugin);
    if (!whole && code == 404) {
        board_refused(answer, 400, "Both run and tag must be specified");
        return false;
    }
    if (!*tag)
        board_refused(answer, code, "there is no such run or tag");
    return *tag != NULL;
}

/* ---- runs and tags ---- */

void board_put_tags(const board *b, const char *plugin, bool samples, FILE *out)
{
    bool some = false;
    fputc('{', out);
    for (size_t i = 0; i < b->run_count; i++) {
        const board_run *run = &b->runs[i];
        bool first = true;
        for (size_t k = 0; k < run->tag_count; k++) {
            const board_tag *tag = &run->tags[k];
            if (!board_is(tag, plugin))
                continue;
            fputs(some && first ? "," : "", out);
            if (first)
                board_put_string(out, run->name);
            fputs(first ? ":{" : ",", out);
            first = false;
            some = true;
            board_put_string(out, tag->name);
            fputs(":{\"displayName\":", out);
            board_put_string(out, tag->title);
            fputs(",\"description\":", out);
            board_put_markdown_string(out, tag->description, strlen(tag->description));
            if (samples)
                fprintf(out, ",\"samples\":%lld",
                        (long long)(strcmp(plugin, "audio") == 0 ? tag->samples / 2 : tag->samples - 2));
            fputc('}', out);
        }
        fputs(first ? "" : "}", out);
    }
    fputc('}', out);
}

static int by_time(const void *a, const void *z)
{
    const board_run *one = *(const board_run *const *)a, *other = *(const board_run *const *)z;
    if (one->first_time != other->first_time && !isnan(one->first_time) && !isnan(other->first_time))
        return one->first_time < other->first_time ? -1 : 1;
    return strcmp(one->name, other->name);
}

/* Runs as TensorBoard orders them: by their first event. */
static void put_runs(const board *b, FILE *out)
{
    const board_run **list = malloc((b->run_count + 1) * sizeof *list);
    for (size_t i = 0; list && i < b->run_count; i++)
        list[i] = &b->runs[i];
    if (list)
        qsort(list, b->run_count, sizeof *list, by_time);
    fputc('[', out);
    for (size_t i = 0; list && i < b->run_count; i++) {
        fputs(i ? "," : "", out);
        board_put_string(out, list[i]->name);
    }
    fputc(']', out);
    free(list);
}

static void put_changes(const board *b, const char *query, FILE *out)
{
    int64_t asked = board_parameter_count(query, "since", 0);
    uint64_t since = asked > 0 ? (uint64_t)asked : 0;
    bool first = true;
    fprintf(out, "{\"instance\":\"%llx\",\"generation\":%llu,\"reading\":%s,\"runs\":[", (unsigned long long)b->instance,
            (unsigned long long)b->generation, b->unread ? "true" : "false");
    for (size_t i = 0; i < b->run_count; i++) {
        fputs(i ? "," : "", out);
        board_put_string(out, b->runs[i].name);
    }
    fputs("],\"times\":[", out);
    for (size_t i = 0; i < b->run_count; i++) {
        fputs(i ? "," : "", out);
        board_put_number(out, b->runs[i].first_time);
    }
    fprintf(out, "],\"profiles\":%zu,\"tags\":[", b->profile_count);
    for (size_t i = 0; i < b->run_count; i++) {
        for (size_t k = 0; k < b->runs[i].tag_count; k++) {
            const board_tag *tag = &b->runs[i].tags[k];
            if (since && tag->changed <= since)
                continue;
            fprintf(out, first ? "[%zu," : ",[%zu,", i);
            first = false;
            board_put_string(out, tag->plugin);
            fputc(',', out);
            board_put_string(out, tag->name);
            fputc(',', out);
            board_put_string(out, tag->title);
            fprintf(out, ",%llu,%lld,%llu]", (unsigned long long)tag->seen, (long long)tag->samples,
                    (unsigned long long)tag->changed);
        }
    }
    fputs("]}", out);
}

/* Where files are damaged: [{"run", "file", "places", "bytes"}, …] */
static void put_damages(const board *b, FILE *out)
{
    bool first = true;
    fputc('[', out);
    for (size_t i = 0; i < b->run_count; i++) {
        for (size_t k = 0; k < b->runs[i].file_count; k++) {
            const board_file *file = &b->runs[i].files[k];
            const char *name = strrchr(file->path, '/');
            if (!file->damages)
                continue;
            fputs(first ? "{\"run\":" : ",{\"run\":", out);
            first = false;
            board_put_string(out, b->runs[i].name);
            fputs(",\"file\":", out);
            board_put_string(out, name ? name + 1 : file->path);
            fprintf(out, ",\"places\":%lld,\"bytes\":%lld}", (long long)file->damages, (long long)file->lost);
        }
    }
    fputc(']', out);
}

static void put_environment(const board *b, FILE *out)
{
    fprintf(out, "{\"version\":\"thalweg %s\",\"data_location\":", tw_version());
    board_put_string(out, b->directory);
    fputs(",\"window_title\":", out);
    board_put_string(out, b->title ? b->title : "");
    fputs(",\"experiment_name\":\"\",\"experiment_description\":\"\",\"creation_time\":0,\"damaged\":", out);
    put_damages(b, out);
    fputc('}', out);
}

/* ---- plugins ---- */

static bool has_data(const board *b, const char *const *plugins)
{
    for (size_t i = 0; i < b->run_count; i++) {
        for (size_t k = 0; k < b->runs[i].tag_count; k++) {
            for (int n = 0; plugins[n]; n++) {
                if (board_is(&b->runs[i].tags[k], plugins[n]))
                    return true;
            }
        }
    }
    return false;
}

static void put_plugins(const board *b, FILE *out)
{
    static const struct {
        const char *name, *title, *element;
        bool still; /* is not loaded again */
        const char *data[6];
    } list[] = {
        { "timeseries", "Time Series", NULL, false, { "scalars", "histograms", "images" } },
        { "scalars", "scalars", "tf-scalar-dashboard", false, { "scalars" } },
        { "custom_scalars", "Custom Scalars", "tf-custom-scalar-dashboard", false, { "custom_scalars" } },
        { "images", "images", "tf-image-dashboard", false, { "images" } },
        { "audio", "audio", "tf-audio-dashboard", false, { "audio" } },
        { "graphs",
          "graphs",
          "tf-graph-dashboard",
          true,
          { "graphs", "graph_run_metadata", "graph_run_metadata_graph", "graph_keras_model", "graph_tagged_run_metadata" } },
        { "distributions", "distributions", "tf-distribution-dashboard", false, { "histograms" } },
        { "histograms", "histograms", "tf-histogram-dashboard", false, { "histograms" } },
        { "text", "text", "tf-text-dashboard", false, { "text" } },
        { "pr_curves", "PR Curves", "tf-pr-curve-dashboard", false, { "pr_curves" } },
        { "hparams", "hparams", "tf-hparams-dashboard", false, { "hparams" } },
    };
    fputc('{', out);
    for (size_t i = 0; i < sizeof list / sizeof *list; i++) {
        fprintf(out,
                "%s\"%s\":{\"disable_reload\":%s,\"enabled\":%s,\"remove_dom\":false,\"tab_name\":\"%s\",\"loading_mechanism\":",
                i ? "," : "", list[i].name, list[i].still ? "true" : "false", has_data(b, list[i].data) ? "true" : "false",
                list[i].title);
        if (list[i].element)
            fprintf(out, "{\"type\":\"CUSTOM_ELEMENT\",\"element_name\":\"%s\"}}", list[i].element);
        else
            fputs("{\"type\":\"NG_COMPONENT\"}}", out);
    }
    fputc('}', out);
}

/* ---- requests ---- */

bool board_needs_files(const char *path)
{
    return strncmp(path, "/data/", 6) == 0;
}

bool board_takes_body(const char *path)
{
    static const char *const paths[] = { "/data/plugin/scalars/scalars_multirun", "/data/plugin/timeseries/timeSeries",
                                         "/data/plugin/hparams/experiment", "/data/plugin/hparams/session_groups",
                                         "/data/plugin/hparams/metric_evals" };
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
        if (strcmp(path, paths[i]) == 0)
            return true;
    }
    return false;
}

static const char *type_of(const char *path)
{
    const char *end = strrchr(path, '.');
    end = end ? end : "";
    return strcmp(end, ".html") == 0  ? "text/html; charset=utf-8"
           : strcmp(end, ".js") == 0  ? "text/javascript; charset=utf-8"
           : strcmp(end, ".css") == 0 ? "text/css; charset=utf-8"
           : strcmp(end, ".svg") == 0 ? "image/svg+xml"
                                      : "text/plain; charset=utf-8";
}

static bool put_page(const char *path, board_answer *answer)
{
    path = strcmp(path, "/") == 0 ? "/index.html" : strcmp(path, "/favicon.ico") == 0 ? "/icon.svg" : path;
    for (const embedded_file *file = dashboard_files; file->path; file++) {
        if (strcmp(path, file->path) != 0)
            continue;
        answer->type = type_of(path);
        fwrite(file->data, 1, file->size, answer->body);
        return true;
    }
    return false;
}

void board_respond(board *b, const board_request *request, board_answer *answer)
{
    char plugin[32] = "", what[32] = "";
    const char *path = request->path;
    answer->code = 200;
    answer->type = "application/json";
    if (strcmp(path, "/data/environment") == 0)
        put_environment(b, answer->body);
    else if (strcmp(path, "/data/runs") == 0)
        put_runs(b, answer->body);
    else if (strcmp(path, "/data/changes") == 0)
        put_changes(b, request->query, answer->body);
    else if (strcmp(path, "/data/plugins_listing") == 0)
        put_plugins(b, answer->body);
    else if (sscanf(path, "/data/plugin/%31[a-z_]/%31[a-zA-Z_]", plugin, what) == 2) {
        for (size_t i = 0; i < sizeof ROUTES / sizeof *ROUTES; i++) {
            for (const board_route *route = ROUTES[i]; route->plugin; route++) {
                if (strcmp(route->plugin, plugin) == 0 && strcmp(route->what, what) == 0) {
                    answer->type = route->type ? route->type : answer->type;
                    route->answer(b, request, answer);
                    return;
                }
            }
        }
        board_refused(answer, 404, "not found");
    } else if (!put_page(path, answer)) {
        board_refused(answer, 404, "not found");
    }
}
