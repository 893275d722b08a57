/* The server: one thread and one loop over all connections, none of which is waited for.
 *
 * A connection is read until its request is whole and answered; then it is closed, or stays for the next one. It has some seconds
 * to ask, and to take each piece of the answer; so many idle or slow ones cost a little memory and no time. When there are too
 * many, the one that has been quiet for the longest time is closed. */
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "server.h"

static const double ROUND = 0.05; /* seconds, after which others have their turn */
enum { CONNECTIONS_LIMIT = 4096, SPARE_FILES = 64, FIRST_ROOM = 1024, ACCEPTED_AT_ONCE = 64, ROUND_MILLISECONDS = 500 };
static const double ASKING = 10, TAKING = 20, LEAVING = 2, IDLE = 60; /* seconds */
static const double SLOWEST = 1e5;                                    /* bytes in a second of a body that is waited for */
static const size_t WAITING_LIMIT = (size_t)256 << 20;                /* bytes of answers that were not taken yet */

typedef struct server {
    const http_service *service;
    workers *workers;
    connection **list;
    struct pollfd *polled;
    size_t count, limit, waiting, held;
    size_t turn; /* the connection that a round begins with */
    bool stops;
} server;

double http_seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* ---- connections ---- */

static void free_bytes(server *s, connection *c)
{
    s->held -= c->room;
    free(c->bytes);
    c->bytes = NULL;
    c->size = c->room = 0;
}

static void free_answer(server *s, connection *c)
{
    s->waiting -= c->answer ? c->answer_size : 0;
    free(c->answer);
    c->answer = NULL;
    c->answer_size = 0;
}

static void end_connection(server *s, size_t index)
{
    connection *c = s->list[index];
    close(c->socket);
    free_bytes(s, c);
    free_answer(s, c);
    free(c);
    s->list[index] = s->list[--s->count];
}

/* The one that has been quiet for the longest time; `count`: there is none. `holds`: of those that hold an answer. What a worker
 * works on stays. */
static size_t quietest(server *s, bool holds)
{
    size_t found = s->count;
    for (size_t i = 0; i < s->count; i++) {
        connection *c = s->list[i];
        if (c->state != WORKS && (!holds || c->answer) && (found == s->count || c->since < s->list[found]->since))
            found = i;
    }
    return found;
}

static bool end_quietest(server *s, bool holds)
{
    size_t found = quietest(s, holds);
    if (found == s->count)
        return false;
    end_connection(s, found);
    return true;
}

static void accept_some(server *s, int listener)
{
    for (int i = 0; i < ACCEPTED_AT_ONCE; i++) {
        int one = 1, made = accept(listener, NULL, NULL);
        if (made < 0 && (errno == EMFILE || errno == ENFILE) && end_quietest(s, false))
            continue;
        if (made < 0)
            return;
        fcntl(made, F_SETFL, fcntl(made, F_GETFL) | O_NONBLOCK);
        fcntl(made, F_SETFD, FD_CLOEXEC);
        setsockopt(made, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
        connection *c = s->count < s->limit || end_quietest(s, false) ? calloc(1, sizeof *c) : NULL;
        if (!c) {
            close(made);
            continue;
        }
        c->socket = made;
        c->since = http_seconds();
        s->list[s->count++] = c;
    }
}

/* ---- answers ---- */

static void put_answer(const http_service *service, connection *c, http_answer *answer, bool with_body)
{
    c->answer = http_answer_bytes(answer, service->headers, with_body, c->stays, &c->answer_size);
    c->answer_size = c->answer ? c->answer_size : 0;
}

void make_answer(const http_service *service, connection *c)
{
    http_answer answer = { .code = 503 };
    char *headers = strchr(c->bytes, '\n') + 1;
    char behind = c->bytes[c->expected];
    c->bytes[c->expected] = 0;
    http_request request = { .body = c->bytes + c->headers, .body_size = c->expected - c->headers, .since = c->since };
    int code = http_check_host(headers, &service->hosts);
    if (!code)
        code = http_first_line(c->bytes, &request) ? 0 : 400;
    bool head = !code && strcmp(request.method, "HEAD") == 0;
    if (code) {
        c->stays = false;
        service->refuse(service->context, code, &answer);
    } else {
        service->respond(service->context, &request, &answer);
    }
    c->bytes[c->expected] = behind;
    put_answer(service, c, &answer, !head);
}

static bool write_more(server *s, connection *c);

/* The answer is made: it goes out as far as the other side takes it. False: the connection is to be closed. */
static bool begin_writing(server *s, connection *c)
{
    s->waiting += c->answer_size;
    c->sent = 0;
    c->state = WRITES;
    c->since = http_seconds();
    return c->answer && write_more(s, c);
}

static bool refuse(server *s, connection *c, int code)
{
    http_answer answer = { .code = code };
    c->stays = false;
    s->service->refuse(s->service->context, code, &answer);
    put_answer(s->service, c, &answer, true);
    free_bytes(s, c);
    return begin_writing(s, c);
}

/* What came behind the answer's end is read and forgotten, so that the answer is not lost with it. */
static void begin_leaving(server *s, connection *c)
{
    free_bytes(s, c);
    shutdown(c->socket, SHUT_WR);
    c->state = LEAVES;
    c->since = http_seconds();
}

/* ---- reading ---- */

static bool make_room(server *s, connection *c)
{
    if (c->size + 1 < c->room)
        return true;
    size_t room = c->room ? 2 * c->room : FIRST_ROOM;
    size_t limit = HTTP_HEADERS_LIMIT + (c->headers ? s->service->body_limit : 0);
    room = room < limit ? room : limit + 1;
    if (room <= c->room)
        return false;
    char *more = realloc(c->bytes, room);
    if (!more)
        return false;
    s->held += room - c->room;
    c->bytes = more;
    c->room = room;
    return true;
}

/* Looks whether the headers ended; 0, or the code of a refusal. */
static int read_headers(server *s, connection *c)
{
    char *end = c->headers ? NULL : http_headers_end(c->bytes);
    if (!end)
        return memchr(c->bytes, 0, c->size) && !c->headers ? 400 : 0;
    c->headers = (size_t)(end - c->bytes);
    const char *headers = strchr(c->bytes, '\n') + 1, *line_end = headers - 1;
    if (memchr(c->bytes, 0, c->headers))
        return 400;
    line_end -= line_end > c->bytes && line_end[-1] == '\r';
    bool old = line_end - c->bytes > 8 && strncmp(line_end - 8, "HTTP/1.0", 8) == 0;
    int64_t size = http_body_size(headers);
    if (size == -2)
        return 400;
    if (size > (int64_t)s->service->body_limit)
        return 413;
    c->chunked = size == -1;
    c->chunk_read = c->joined = c->headers;
    c->expected = c->chunked ? 0 : c->headers + (size_t)size;
    c->stays = s->service->keeps && !s->stops && !http_header_has(headers, "Connection", "close") &&
               (!old || http_header_has(headers, "Connection", "keep-alive"));
    if (size && c->size < c->headers + (size_t)(size > 0) && http_header_has(headers, "Expect", "100-continue"))
        (void)!send(c->socket, "HTTP/1.1 100 Continue\r\n\r\n", 25, MSG_NOSIGNAL);
    return 0;
}

/* Whether the request is whole: 1, 0, or the code of a refusal. */
static int is_whole(server *s, connection *c)
{
    int code = read_headers(s, c);
    if (code || !c->headers)
        return code;
    if (!c->chunked)
        return c->size >= c->expected;
    switch (http_join_chunks(c->bytes, c->size, &c->chunk_read, &c->joined)) {
    case HTTP_CHUNKS_WRONG:
        return 400;
    case HTTP_CHUNKS_MORE:
        return 0;
    case HTTP_CHUNKS_END:
        break;
    }
    memmove(c->bytes + c->joined, c->bytes + c->chunk_read, c->size - c->chunk_read + 1);
    c->size -= c->chunk_read - c->joined;
    c->expected = c->joined;
    return 1;
}

/* Does what the bytes that are there ask for. */
static bool step_request(server *s, connection *c)
{
    int whole = is_whole(s, c);
    if (whole > 1)
        return refuse(s, c, whole);
    if (!whole)
        return s->held <= s->service->held_limit || !c->headers ? true : refuse(s, c, 503);
    if (s->workers) {
        c->state = WORKS;
        workers_give(s->workers, c);
        return true;
    }
    make_answer(s->service, c);
    return begin_writing(s, c);
}

static bool read_more(server *s, connection *c)
{
    if (!make_room(s, c))
        return refuse(s, c, c->headers ? 413 : 431);
    ssize_t got = recv(c->socket, c->bytes + c->size, c->room - c->size - 1, 0);
    if (got <= 0)
        return got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR);
    if (!c->size)
        c->since = http_seconds();
    c->size += (size_t)got;
    c->bytes[c->size] = 0;
    return step_request(s, c);
}

/* The next request of a connection that stays; its beginning may be there already. */
static bool begin_next(server *s, connection *c)
{
    size_t rest = c->size - c->expected;
    c->state = READS;
    c->since = http_seconds();
    if (rest)
        memmove(c->bytes, c->bytes + c->expected, rest + 1);
    c->size = rest;
    c->headers = c->expected = 0;
    if (!rest)
        free_bytes(s, c);
    return !rest || step_request(s, c);
}

static bool write_more(server *s, connection *c)
{
    ssize_t sent = send(c->socket, c->answer + c->sent, c->answer_size - c->sent, MSG_NOSIGNAL);
    if (sent <= 0)
        return sent < 0 && (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR);
    c->sent += (size_t)sent;
    c->since = http_seconds();
    if (c->sent < c->answer_size)
        return true;
    free_answer(s, c);
    if (c->stays && !s->stops)
        return begin_next(s, c);
    begin_leaving(s, c);
    return true;
}

static bool leave(connection *c)
{
    char unread[4096];
    ssize_t got = recv(c->socket, unread, sizeof unread, 0);
    return got > 0 || (got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR));
}

static bool step(server *s, connection *c)
{
    return c->state == READS ? read_more(s, c) : c->state == WRITES ? write_more(s, c) : leave(c);
}

/* ---- the loop ---- */

static double patience(const connection *c)
{
    if (c->state == READS)
        return c->size || !c->stays ? ASKING + (double)(c->expected - (c->expected ? c->headers : 0)) / SLOWEST : IDLE;
    return c->state == WRITES ? TAKING : LEAVING;
}

static void end_late(server *s)
{
    double now = http_seconds();
    for (size_t i = s->count; i-- > 0;) {
        connection *c = s->list[i];
        bool idle = s->stops && ((c->state == READS && !c->size) || c->state == LEAVES);
        bool late = c->state != WORKS && now - c->since > patience(c);
        if (c->state != WORKS && (idle || (late && !(c->state == READS && c->size && refuse(s, c, 408)))))
            end_connection(s, i);
    }
    while (s->waiting > WAITING_LIMIT && s->count > 1) {
        if (!end_quietest(s, true))
            break;
    }
}

static size_t index_of(const server *s, const connection *c)
{
    size_t i = 0;
    while (s->list[i] != c)
        i++;
    return i;
}

static void take_answers(server *s)
{
    for (connection *c = s->workers ? workers_take(s->workers) : NULL, *next; c; c = next) {
        next = c->next;
        if (!begin_writing(s, c))
            end_connection(s, index_of(s, c));
    }
}

/* Connections that something happened at, in turns: those that take long do not keep others waiting. The last ones come first, as
 * one that ends is replaced by the last. */
static void step_all(server *s, size_t polled)
{
    double start = http_seconds();
    if (s->turn == 0 || s->turn > polled)
        s->turn = polled;
    for (; s->turn > 0; s->turn--) {
        size_t i = s->turn - 1;
        if (s->polled[i + 2].revents && s->list[i]->state != WORKS && !step(s, s->list[i]))
            end_connection(s, i);
        if (http_seconds() - start > ROUND) {
            s->turn--;
            break;
        }
    }
}

static size_t connections_limit(void)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0)
        return CONNECTIONS_LIMIT / 8;
    limit.rlim_cur = limit.rlim_max;
    (void)setrlimit(RLIMIT_NOFILE, &limit);
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY ||
        limit.rlim_cur > CONNECTIONS_LIMIT + SPARE_FILES)
        return CONNECTIONS_LIMIT;
    return limit.rlim_cur > 2 * SPARE_FILES ? (size_t)limit.rlim_cur - SPARE_FILES : SPARE_FILES;
}

static int wait_for_something(server *s, int listener, bool at_once)
{
    s->polled[0] = (struct pollfd){ .fd = s->stops ? -1 : listener, .events = POLLIN };
    s->polled[1] = (struct pollfd){ .fd = s->workers ? workers_socket(s->workers) : -1, .events = POLLIN };
    for (size_t i = 0; i < s->count; i++) {
        const connection *c = s->list[i];
        s->polled[i + 2] =
            (struct pollfd){ .fd = c->state == WORKS ? -1 : c->socket, .events = c->state == WRITES ? POLLOUT : POLLIN };
    }
    return poll(s->polled, s->count + 2, at_once ? 0 : s->stops ? 20 : ROUND_MILLISECONDS);
}

void http_serve(int listener, const http_service *service, const volatile int *stopped)
{
    server s = { .service = service, .limit = connections_limit() };
    s.list = calloc(s.limit + 1, sizeof *s.list);
    s.polled = calloc(s.limit + 3, sizeof *s.polled);
    s.workers = service->workers ? workers_start(service) : NULL;
    bool works = s.list && s.polled && (s.workers || !service->workers), more = false;
    double end = 0;
    fcntl(listener, F_SETFL, fcntl(listener, F_GETFL) | O_NONBLOCK);
    while (works && !(s.stops && (!s.count || http_seconds() > end))) {
        size_t polled = s.count;
        int ready = wait_for_something(&s, listener, more);
        more = service->between && service->between(service->context);
        if (ready > 0) {
            step_all(&s, polled);
            if (s.polled[0].revents)
                accept_some(&s, listener);
        }
        take_answers(&s);
        if (*stopped && !s.stops) {
            s.stops = true;
            end = http_seconds() + service->grace;
        }
        end_late(&s);
    }
    workers_stop(s.workers);
    while (s.count)
        end_connection(&s, 0);
    free(s.list);
    free(s.polled);
}
