/* thalweg tensorboard --logdir DIR: a page with what event files hold, at http://localhost:6006/.
 *
 * One connection at a time is answered, and closed. Files are read again when something is asked for and the last reading is some seconds old. */
#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include <thalweg.h>

#include "board.h"
#include "program.h"

enum { PORT = 6006, PORTS_TRIED = 10, REQUEST_LIMIT = 1 << 14, PATIENCE = 5 };

typedef struct settings {
    const char *directory, *host;
    long port;     /* -1: 6006, or one of the next if it is taken */
    double reload; /* seconds */
    bool everywhere;
} settings;

static volatile sig_atomic_t stopped;

static void stop(int signal)
{
    (void)signal;
    stopped = 1;
}

/* ---- answering ---- */

static void send_all(int connection, const char *data, size_t size)
{
    while (size > 0) {
        ssize_t sent = send(connection, data, size, MSG_NOSIGNAL);
        if (sent <= 0 && !(sent < 0 && errno == EINTR && !stopped))
            return;
        if (sent > 0) {
            data += sent;
            size -= (size_t)sent;
        }
    }
}

/* The request's first line, "GET /path?query HTTP/1.1"; false: it can't be read. */
static bool read_request(int connection, char *request, size_t room)
{
    size_t size = 0;
    while (size + 1 < room) {
        ssize_t got = recv(connection, request + size, room - size - 1, 0);
        if (got <= 0)
            return false;
        size += (size_t)got;
        request[size] = 0;
        if (strstr(request, "\r\n\r\n") || strstr(request, "\n\n"))
            return true;
    }
    return false;
}

static void answer(int connection, board *b)
{
    char request[REQUEST_LIMIT], *path = request + 4, *end;
    struct timeval patience = { .tv_sec = PATIENCE };
    setsockopt(connection, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    setsockopt(connection, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
    if (!read_request(connection, request, sizeof request))
        return;
    bool get = strncmp(request, "GET ", 4) == 0, head = strncmp(request, "HEAD ", 5) == 0;
    path += head;
    if ((!get && !head) || !(end = strpbrk(path, " \r\n"))) {
        static const char refused[] = "HTTP/1.1 405 Method Not Allowed\r\nContent-Length: 0\r\nConnection: close\r\n\r\n";
        send_all(connection, refused, sizeof refused - 1);
        return;
    }
    *end = 0;
    char *query = strchr(path, '?');
    if (query)
        *query++ = 0;
    char *body = NULL, start[300];
    size_t size = 0;
    board_answer made = { .body = open_memstream(&body, &size) };
    if (!made.body)
        return;
    board_respond(b, path, query ? query : "", &made);
    if (!made.type)
        fputs("not found\n", made.body);
    fclose(made.body);
    int length = snprintf(start, sizeof start,
                          "HTTP/1.1 %s\r\nContent-Type: %s\r\nContent-Length: %zu\r\nCache-Control: no-store\r\nX-Content-Type-Options: nosniff\r\n"
                          "Connection: close\r\n\r\n",
                          made.type ? "200 OK" : "404 Not Found", made.type ? made.type : "text/plain", size);
    send_all(connection, start, (size_t)length);
    if (get)
        send_all(connection, body, size);
    free(body);
}

static double seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static int serve(int listener, const settings *s)
{
    board b = { .directory = s->directory };
    double last = -1e9;
    while (!stopped) {
        int connection = accept(listener, NULL, NULL);
        if (connection < 0)
            continue;
        if (seconds() - last >= s->reload) {
            if (!board_refresh(&b))
                fputs("thalweg: memory ran out while event files were read\n", stderr);
            last = seconds();
        }
        answer(connection, &b);
        close(connection);
    }
    board_free(&b);
    close(listener);
    return EXIT_WORKED;
}

/* ---- listening ---- */

/* A socket that listens; -1 and errno: it can't. */
static int listen_at(const char *host, long port)
{
    char number[24];
    struct addrinfo hints = { .ai_family = AF_UNSPEC, .ai_socktype = SOCK_STREAM, .ai_flags = AI_PASSIVE }, *found = NULL;
    snprintf(number, sizeof number, "%ld", port);
    if (getaddrinfo(host, number, &hints, &found) != 0) {
        errno = EADDRNOTAVAIL;
        return -1;
    }
    int listener = -1, error = EADDRNOTAVAIL;
    for (struct addrinfo *a = found; a && listener < 0; a = a->ai_next) {
        int one = 1, zero = 0;
        listener = socket(a->ai_family, a->ai_socktype | SOCK_CLOEXEC, a->ai_protocol);
        if (listener < 0)
            continue;
        setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
        if (a->ai_family == AF_INET6)
            setsockopt(listener, IPPROTO_IPV6, IPV6_V6ONLY, &zero, sizeof zero);
        if (bind(listener, a->ai_addr, a->ai_addrlen) != 0 || listen(listener, 32) != 0) {
            error = errno;
            close(listener);
            listener = -1;
        }
    }
    freeaddrinfo(found);
    errno = error;
    return listener;
}

static long port_of(int listener)
{
    struct sockaddr_storage address;
    socklen_t size = sizeof address;
    char number[24];
    if (getsockname(listener, (struct sockaddr *)&address, &size) != 0 ||
        getnameinfo((struct sockaddr *)&address, size, NULL, 0, number, sizeof number, NI_NUMERICSERV) != 0)
        return 0;
    return strtol(number, NULL, 10);
}

static int run_server(const settings *s)
{
    const char *host = s->everywhere ? NULL : s->host;
    int listener = -1;
    long first = s->port < 0 ? PORT : s->port, tries = s->port < 0 ? PORTS_TRIED : 1;
    for (long i = 0; i < tries && listener < 0; i++) {
        listener = listen_at(host, first + i);
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
    struct sigaction action = { .sa_handler = stop };
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    char name[256] = "localhost";
    if (s->everywhere)
        gethostname(name, sizeof name - 1);
    else
        fprintf(stderr, "Serving TensorBoard on %s; to expose to the network, use a proxy or pass --bind_all\n", host);
    fprintf(stderr, "TensorBoard of thalweg %s at http://%s:%ld/ (Press CTRL+C to quit)\n", tw_version(), s->everywhere ? name : host, port_of(listener));
    fflush(stderr);
    return serve(listener, s);
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

static int run(int count, char **arguments)
{
    settings s = { .host = "localhost", .port = -1, .reload = 5 };
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
        else if (strcmp(arguments[i], "--bind_all") == 0)
            s.everywhere = true;
        else if (missing)
            return usage_error(&tensorboard_command, "%s needs a value", arguments[i]);
        else
            return usage_error(&tensorboard_command, "there is no option '%s'", arguments[i]);
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
    "tensorboard", "--logdir DIR [--port N] [--host NAME | --bind_all] [--reload_interval SECONDS]",
    "Shows the summaries under a directory as a page.",
    "\n  --logdir DIR        where event files are, in any folder below\n"
    "  --port N            6006 if it is free, else one of the next; 0: any\n"
    "  --host NAME         localhost\n"
    "  --bind_all          reachable from other machines\n"
    "  --reload_interval   seconds after which files are read again: 5\n",
    run,
};
