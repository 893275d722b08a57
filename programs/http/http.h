/* HTTP for the commands that serve: `thalweg tensorboard` and `thalweg serve`.
 *
 *     listen.c   sockets that listen
 *     request.c  from the bytes of a connection to a request; who may ask; the bytes of an answer
 *     server.c   one loop over all connections, none of which is waited for
 *     workers.c  threads that make the answers, where that takes long */
#ifndef HTTP_H
#define HTTP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { HTTP_HEADERS_LIMIT = 1 << 14 };

/* Names under which a server may be asked, besides localhost. A page of another site may make a browser ask this server, under a
 * name of that site's own which its name server says is this machine (DNS rebinding): such a request names another host. */
typedef struct http_hosts {
    const char *const *names;
    size_t count;
    bool numeric; /* any numeric address is fine: others may reach the server */
} http_hosts;

typedef struct http_request {
    const char *method;
    const char *path, *query; /* "" if there is none */
    const char *body;         /* with a zero behind it */
    size_t body_size;
    double since; /* when it began to come */
} http_request;

typedef struct http_answer {
    int code;
    const char *type;    /* of the body */
    const char *headers; /* further lines, each with its end; or NULL */
    char *body;          /* for free(); NULL: memory ran out */
    size_t size;
} http_answer;

typedef struct http_service {
    void *context;
    /* Answers a request; with workers, in any of them. */
    void (*respond)(void *context, const http_request *request, http_answer *answer);
    /* The body for a request that is not passed on: 400, 403 (another host), 408, 413, 431, 503. */
    void (*refuse)(void *context, int code, http_answer *answer);
    bool (*between)(void *context); /* work between requests, or NULL; true: there is more at once */
    http_hosts hosts;
    const char *headers; /* of every answer */
    size_t body_limit;   /* of one request */
    size_t held_limit;   /* of all requests together */
    int workers;         /* 0: the loop answers itself */
    bool keeps;          /* connections stay open for further requests */
    double grace;        /* seconds that answers have when the server stops */
} http_service;

/* Answers until *stopped, then ends what was begun. */
void http_serve(int listener, const http_service *service, const volatile int *stopped);
double http_seconds(void);

/* ---- listening (listen.c) ---- */
int http_listen(const char *host, long port); /* a socket; -1 and errno: it can't. host NULL: every address */
long http_port(int listener);
/* Ends http_serve at SIGINT and SIGTERM: the flag that it is given. */
const volatile int *http_stops(void);

/* ---- requests (request.c) ---- */
const char *http_reason(int code);
/* The end of the headers, or NULL: not yet. */
char *http_headers_end(const char *bytes);
/* The value of a header, without spaces around it; NULL: there is none. `headers` begins behind the first line. */
const char *http_header(const char *headers, const char *name, size_t *size);
bool http_header_has(const char *headers, const char *name, const char *word);
/* How many bytes of body follow the headers; -1: it is chunked; -2: that makes no sense. */
int64_t http_body_size(const char *headers);
/* 0: the request names this server, and once; or the code of the refusal. */
int http_check_host(const char *headers, const http_hosts *hosts);
/* Divides the first line in place. False: it is none. */
bool http_first_line(char *bytes, http_request *request);
/* A body in chunks, put together in place as it comes: bytes [*done, ...) become the body. */
typedef enum { HTTP_CHUNKS_MORE, HTTP_CHUNKS_END, HTTP_CHUNKS_WRONG } http_chunks;
http_chunks http_join_chunks(char *bytes, size_t size, size_t *read, size_t *joined);
/* The whole bytes of an answer, for free(); takes its body. */
char *http_answer_bytes(http_answer *answer, const char *headers, bool with_body, bool stays, size_t *size);

#endif
