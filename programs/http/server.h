/* The server from the inside: connections, and the workers that answer them. */
#ifndef HTTP_SERVER_H
#define HTTP_SERVER_H

#include <pthread.h>

#include "http.h"

typedef struct connection {
    int socket;
    enum { READS, WORKS, WRITES, LEAVES } state;
    char *bytes; /* what was read: a request, or its beginning */
    size_t size, room;
    size_t headers, expected;  /* the size of the headers, once they ended; and of all, if that is known */
    size_t chunk_read, joined; /* of a body in chunks: how far it was read, and put together */
    bool chunked, stays;       /* whether the connection stays open behind the answer */
    char *answer;
    size_t answer_size, sent;
    double since;            /* the last time that something happened; while a request is read: its beginning */
    struct connection *next; /* that a worker waits for or is done with */
} connection;

typedef struct workers workers;
/* NULL: no memory, or no threads. */
workers *workers_start(const http_service *service);
void workers_stop(workers *w);        /* waits for answers that are being made */
int workers_socket(const workers *w); /* readable when answers are done */
void workers_give(workers *w, connection *c);
connection *workers_take(workers *w); /* the connections whose answers are done, a list */

/* Makes the answer of a connection whose request is whole. */
void make_answer(const http_service *service, connection *c);

#endif
