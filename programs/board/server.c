/* The server of `thalweg tensorboard`: one thread and one loop over all connections, none of which is waited for.
 *
 * A connection is read until its request is whole, answered, and closed. It has some seconds to ask, and to take each piece of
 * the answer; so many idle or slow ones cost a little memory and no time. When there are too many, the one that has been quiet
 * for the longest time is closed. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "board.h"

static const double ROUND = 0.05;        /* seconds, after which others have their turn */
static const double FIRST_READING = 1.5; /* of event files, before an answer goes out without the rest */
enum { CONNECTIONS_LIMIT = 4096, SPARE_FILES = 64, FIRST_ROOM = 1024, ACCEPTED_AT_ONCE = 64, ROUND_MILLISECONDS = 500 };
static const double ASKING = 10, TAKING = 20, LEAVING = 2; /* seconds */
static const size_t WAITING_LIMIT = (size_t)256 << 20;     /* bytes of answers that were not taken yet */

typedef struct connection {
    int socket;
    enum { READS, WRITES, LEAVES } state;
    char *request;
    size_t request_size, request_room, expected; /* the whole size, once its headers are there */
    char *answer;
    size_t answer_size, sent;
    double since; /* the last time that something happened; while a request is read: its beginning */
} connection;

typedef struct server {
    board_service *service;
    connection *list;
    struct pollfd *polled;
    size_t count, limit, waiting;
    size_t turn; /* the connection that a round begins with */
    double refreshed;
} server;

static void refresh(void *context)
{
    server *s = context;
    if (board_seconds() - s->refreshed < s->service->reload)
        return;
    if (!board_refresh(&s->service->b, FIRST_READING))
        fputs("thalweg: memory ran out while event files were read\n", stderr);
    s->refreshed = board_seconds();
}

/* ---- connections ---- */

static void end_connection(server *s, connection *c)
{
    close(c->socket);
    free(c->request);
    s->waiting -= c->answer ? c->answer_size : 0;
    free(c->answer);
    *c = s->list[--s->count];
}

/* The one that has been quiet for the longest time; NULL: there is none. `holds`: of those that hold an answer. */
static connection *quietest(server *s, bool holds)
{
    connection *found = NULL;
    for (size_t i = 0; i < s->count; i++) {
        connection *c = &s->list[i];
        if ((!holds || c->answer) && (!found || c->since < found->since))
            found = c;
    }
    return found;
}

static void accept_some(server *s, int listener)
{
    for (int i = 0; i < ACCEPTED_AT_ONCE; i++) {
        int made = accept(listener, NULL, NULL);
        if (made < 0 && (errno == EMFILE || errno == ENFILE) && s->count) {
            end_connection(s, quietest(s, false));
            continue;
        }
        if (made < 0)
            return;
        fcntl(made, F_SETFL, fcntl(made, F_GETFL) | O_NONBLOCK);
        fcntl(made, F_SETFD, FD_CLOEXEC);
        if (s->count == s->limit)
            end_connection(s, quietest(s, false));
        s->list[s->count++] = (connection){ .socket = made, .since = board_seconds() };
    }
}

static void begin_answer(server *s, connection *c, char *answer, size_t size)
{
    free(c->request);
    c->request = NULL;
    c->answer = answer;
    c->answer_size = answer ? size : 0;
    c->sent = 0;
    c->state = WRITES;
    c->since = board_seconds();
    s->waiting += c->answer_size;
}

/* What came behind the answer's end is read and forgotten, so that the answer is not lost with it. */
static void begin_leaving(server *s, connection *c)
{
    s->waiting -= c->answer_size;
    free(c->answer);
    c->answer = NULL;
    c->answer_size = 0;
    shutdown(c->socket, SHUT_WR);
    c->state = LEAVES;
    c->since = board_seconds();
}

static bool refuse(server *s, connection *c, int code)
{
    size_t size = 0;
    char *refusal = board_refuse(code, &size);
    begin_answer(s, c, refusal, size);
    return refusal != NULL;
}

static bool make_room(connection *c)
{
    if (c->request_size + 1 < c->request_room)
        return true;
    size_t room = c->expected ? c->expected + 1 : c->request_room ? 2 * c->request_room : FIRST_ROOM;
    char *more = c->expected || room <= BOARD_REQUEST_LIMIT ? realloc(c->request, room) : NULL;
    if (!more)
        return false;
    c->request = more;
    c->request_room = room;
    return true;
}

/* The size of the request with its body, when its headers ended; 0: they did not yet; -1: it can't be taken. */
static int64_t expected_size(const char *request)
{
    const char *crlf = strstr(request, "\r\n\r\n"), *lf = strstr(request, "\n\n");
    const char *end = crlf && (!lf || crlf < lf) ? crlf + 4 : lf ? lf + 2 : NULL;
    int64_t body = end && strncmp(request, "POST ", 5) == 0 ? board_body_size(request, end) : 0;
    return !end ? 0 : body < 0 ? -1 : (end - request) + body;
}

/* False: the connection is to be closed. */
static bool read_more(server *s, connection *c)
{
    if (!make_room(c))
        return refuse(s, c, 431);
    ssize_t got = recv(c->socket, c->request + c->request_size, c->request_room - c->request_size - 1, 0);
    if (got <= 0)
        return got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR);
    c->request_size += (size_t)got;
    c->request[c->request_size] = 0;
    if (memchr(c->request + c->request_size - (size_t)got, 0, (size_t)got))
        return false;
    if (!c->expected) {
        int64_t expected = expected_size(c->request);
        if (expected < 0)
            return refuse(s, c, 413);
        c->expected = (size_t)expected;
    }
    if (!c->expected || c->request_size < c->expected)
        return true;
    size_t size = 0;
    char *answer = board_answer_request(&s->service->b, c->request, &s->service->hosts, s->service->prefix, refresh, s, &size);
    begin_answer(s, c, answer, size);
    return answer != NULL;
}

static bool write_more(server *s, connection *c)
{
    ssize_t sent = send(c->socket, c->answer + c->sent, c->answer_size - c->sent, MSG_NOSIGNAL);
    if (sent <= 0)
        return sent < 0 && (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR);
    c->sent += (size_t)sent;
    c->since = board_seconds();
    if (c->sent == c->answer_size)
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

static void end_late(server *s)
{
    double now = board_seconds();
    for (size_t i = s->count; i-- > 0;) {
        connection *c = &s->list[i];
        if (now - c->since > (c->state == READS ? ASKING : c->state == WRITES ? TAKING : LEAVING))
            end_connection(s, c);
    }
    while (s->waiting > WAITING_LIMIT && s->count > 1) {
        connection *c = quietest(s, true);
        if (!c)
            break;
        end_connection(s, c);
    }
}

/* Connections that something happened at, in turns: those that take long do not keep others waiting. The last ones come first, as
 * one that ends is replaced by the last. */
static void step_all(server *s, size_t polled)
{
    double start = board_seconds();
    if (s->turn == 0 || s->turn > polled)
        s->turn = polled;
    for (; s->turn > 0; s->turn--) {
        size_t i = s->turn - 1;
        if (s->polled[i + 1].revents && !step(s, &s->list[i]))
            end_connection(s, &s->list[i]);
        if (board_seconds() - start > ROUND) {
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

void board_serve(int listener, board_service *service, const volatile int *stopped)
{
    server s = { .service = service, .limit = connections_limit(), .refreshed = -1e9 };
    s.list = calloc(s.limit + 1, sizeof *s.list);
    s.polled = calloc(s.limit + 2, sizeof *s.polled);
    fcntl(listener, F_SETFL, fcntl(listener, F_GETFL) | O_NONBLOCK);
    while (s.list && s.polled && !*stopped) {
        size_t polled = s.count;
        s.polled[0] = (struct pollfd){ .fd = listener, .events = POLLIN };
        for (size_t i = 0; i < polled; i++)
            s.polled[i + 1] = (struct pollfd){ .fd = s.list[i].socket, .events = s.list[i].state == WRITES ? POLLOUT : POLLIN };
        int ready = poll(s.polled, polled + 1, service->b.unread ? 0 : ROUND_MILLISECONDS);
        if (service->b.unread && !board_refresh(&service->b, ROUND))
            fputs("thalweg: memory ran out while event files were read\n", stderr);
        if (ready > 0) {
            step_all(&s, polled);
            if (s.polled[0].revents)
                accept_some(&s, listener);
        }
        end_late(&s);
    }
    while (s.count)
        end_connection(&s, &s.list[0]);
    free(s.list);
    free(s.polled);
    board_free(&service->b);
}
