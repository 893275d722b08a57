/* thalweg tensorboard --logdir DIR: a page with what event files hold, at http://localhost:6006/. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <thalweg.h>

#include "board.h"
#include "program.h"

enum { PORT = 6006, PORTS_TRIED = 10, HOSTS_LIMIT = 32 };

typedef struct settings {
    const char *directory, *host;
    long port;     /* -1: 6006, or one of the next if it is taken */
    double reload; /* seconds */
    const char *prefix, *title;
    bool everywhere, follows;
    const char *hosts[HOSTS_LIMIT]; /* names under which the server may be asked */
    size_t host_count;
} settings;

static int run_server(settings *s)
{
    const char *host = s->everywhere ? NULL : s->host;
    int listener = -1;
    long first = s->port < 0 ? PORT : s->port, tries = s->port < 0 ? PORTS_TRIED : 1;
    for (long i = 0; i < tries && listener < 0; i++) {
        listener = http_listen(host, first + i);
        if (listener < 0 && errno != EADDRINUSE)
            break;
    }
    if (listener < 0) {
        if (errno == EADDRINUSE)
            fprintf(stderr, "thalweg: TensorBoard could not bind to port %ld, it was already in use\n", first);
        else
            fprintf(stderr, "thalweg: TensorBoard could not listen at %s:%ld: %s\n", host ? host : "*", first, strerror(errno));
        return EXIT_FAILED;
    }
    const volatile int *stopped = http_stops();
    char name[256] = "localhost";
    if (s->everywhere)
        gethostname(name, sizeof name - 1);
    else
        fprintf(stderr, "Serving TensorBoard on %s; to expose to the network, use a proxy or pass --bind_all\n", host);
    fprintf(stderr, "TensorBoard of thalweg %s at http://%s:%ld%s/ (Press CTRL+C to quit)\n", tw_version(),
            s->everywhere ? name : host, http_port(listener), s->prefix);
    fflush(stderr);
    s->hosts[s->host_count++] = s->everywhere ? name : host;
    board_service shown = { .b = { .directory = s->directory,
                                   .follows = s->follows,
                                   .title = s->title,
                                   .instance = (uint64_t)time(NULL) << 20 ^ (uint64_t)getpid() },
                            .reload = s->reload,
                            .refreshed = -1e9,
                            .prefix = s->prefix };
    http_service service = { .context = &shown,
                             .respond = board_answer_request,
                             .refuse = board_refuse,
                             .between = board_between,
                             .hosts = { s->hosts, s->host_count, s->everywhere },
                             .headers = board_headers,
                             .body_limit = BOARD_BODY_LIMIT,
                             .held_limit = (size_t)256 << 20 };
    http_serve(listener, &service, stopped);
    board_free(&shown.b);
    close(listener);
    return EXIT_WORKED;
}

/* ---- the command ---- */

/* The value of an option, given as --name=value or --name value; NULL: it is another one. */
static const char *option(const char *name, int count, char **arguments, int *i, bool *missing)
{
    size_t size = strlen(name);
    if (strncmp(arguments[*i], name, size) != 0)
        return NULL;
    if (arguments[*i][size] == '=')
        return arguments[*i] + size + 1;
    if (arguments[*i][size])
        return NULL;
    if (*i + 1 < count)
        return arguments[++*i];
    *missing = true;
    return NULL;
}

/* TensorBoard's options about how it reads and shows, which have no meaning here: everything is read, and nothing is left out.
 * With their values. */
static const char *const WITHOUT_MEANING[] = { "--load_fast",
                                               "--reload_multifile",
                                               "--reload_multifile_inactive_secs",
                                               "--max_reload_threads",
                                               "--reload_task",
                                               "--samples_per_plugin",
                                               "--purge_orphaned_data",
                                               "--reuse_port",
                                               "--generic_data",
                                               "--detect_file_replacement",
                                               "--extra_data_server_flags",
                                               "--verbosity" };

static bool is_without_meaning(int count, char **arguments, int *i, bool *missing)
{
    for (size_t k = 0; k < sizeof WITHOUT_MEANING / sizeof *WITHOUT_MEANING; k++) {
        if (option(WITHOUT_MEANING[k], count, arguments, i, missing))
            return true;
    }
    return false;
}

static int no_option(const char *typed)
{
    static const char *const names[] = { "--logdir",      "--host",       "--port",     "--reload_interval", "--window_title",
                                         "--path_prefix", "--allow_host", "--bind_all", "--follow_symlinks", NULL };
    char name[64];
    snprintf(name, sizeof name, "%.*s", (int)strcspn(typed, "="), typed);
    return no_such(&tensorboard_command, *typed == '-' ? "option" : "argument", name, names, sizeof *names);
}

/* "/a/b" of "a/b/" and the like. */
static const char *clean_prefix(const char *given)
{
    static char prefix[256];
    size_t size = strlen(given);
    while (size && given[size - 1] == '/')
        size--;
    while (size && *given == '/') {
        given++;
        size--;
    }
    if (!size || size + 2 > sizeof prefix)
        return size ? NULL : "";
    snprintf(prefix, sizeof prefix, "/%.*s", (int)size, given);
    return strspn(prefix, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~/") == size + 1 ? prefix : NULL;
}

static int run(int count, char **arguments)
{
    settings s = { .host = "localhost", .port = -1, .reload = 1, .prefix = "" };
    bool missing = false;
    for (int i = 0; i < count; i++) {
        const char *value;
        char *end = "";
        if ((value = option("--logdir", count, arguments, &i, &missing)))
            s.directory = value;
        else if ((value = option("--host", count, arguments, &i, &missing)))
            s.host = value;
        else if ((value = option("--port", count, arguments, &i, &missing)))
            s.port = strtol(value, &end, 10);
        else if ((value = option("--reload_interval", count, arguments, &i, &missing)))
            s.reload = strtod(value, &end);
        else if ((value = option("--window_title", count, arguments, &i, &missing)))
            s.title = value;
        else if ((value = option("--path_prefix", count, arguments, &i, &missing))) {
            s.prefix = clean_prefix(value);
            if (!s.prefix)
                return usage_error(&tensorboard_command, "'%s' is no path", value);
        } else if ((value = option("--allow_host", count, arguments, &i, &missing))) {
            if (s.host_count + 1 >= HOSTS_LIMIT)
                return usage_error(&tensorboard_command, "--allow_host is given more than %d times", HOSTS_LIMIT - 2);
            s.hosts[s.host_count++] = value;
        } else if (strcmp(arguments[i], "--bind_all") == 0)
            s.everywhere = true;
        else if (strcmp(arguments[i], "--follow_symlinks") == 0)
            s.follows = true;
        else if (missing)
            return usage_error(&tensorboard_command, "%s needs a value", arguments[i]);
        else if (!is_without_meaning(count, arguments, &i, &missing))
            return missing ? usage_error(&tensorboard_command, "%s needs a value", arguments[i]) : no_option(arguments[i]);
        if (*end || (value && end != (char *)"" && end == value))
            return usage_error(&tensorboard_command, "'%s' is no number", value);
    }
    if (!s.directory)
        return usage_error(&tensorboard_command, "--logdir is expected");
    if (s.port > 65535 || s.port < -1)
        return usage_error(&tensorboard_command, "there is no port %ld", s.port);
    return run_server(&s);
}

const command tensorboard_command = {
    .name = "tensorboard",
    .arguments =
        "--logdir DIR [--port N] [--host NAME | --bind_all] [--allow_host NAME]... [--follow_symlinks] [--reload_interval SECONDS] "
        "[--path_prefix PATH] [--window_title TEXT]",
    .summary = "Shows the summaries under a directory as a page.",
    .help =
        "\n  --logdir DIR        where event files are, in any folder below\n"
        "  --port N            6006 if it is free, else one of the next; 0: any\n"
        "  --host NAME         localhost\n"
        "  --bind_all          reachable from other machines\n"
        "  --allow_host NAME   another name under which it may be asked, as through a proxy; requests that name other hosts are refused\n"
        "  --follow_symlinks   also those that lead out of DIR\n"
        "  --reload_interval   seconds after which files are read again: 1\n"
        "  --path_prefix PATH  of all addresses, as behind a proxy\n"
        "  --window_title TEXT the page's title\n"
        "TensorBoard's options about how it reads (--load_fast, --samples_per_plugin, --reload_multifile and the like) are taken and change nothing:\n"
        "every event is read.\n",
    .run = run,
};
