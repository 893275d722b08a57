/* Threads that answer requests. The loop gives them connections and is told, by a byte in a pipe, that some are done. */
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "server.h"

enum { WORKERS_LIMIT = 256 };

struct workers {
    const http_service *service;
    pthread_t threads[WORKERS_LIMIT];
    int count, pipe[2];
    pthread_mutex_t lock;
    pthread_cond_t given;
    connection *first, **last, *done;
    bool told, stopping;
};

static connection *wait_for_one(workers *w)
{
    pthread_mutex_lock(&w->lock);
    while (!w->first && !w->stopping)
        pthread_cond_wait(&w->given, &w->lock);
    connection *c = w->first;
    if (c) {
        w->first = c->next;
        if (!w->first)
            w->last = &w->first;
    }
    pthread_mutex_unlock(&w->lock);
    return c;
}

static void *work(void *context)
{
    workers *w = context;
    for (connection *c; (c = wait_for_one(w));) {
        make_answer(w->service, c);
        pthread_mutex_lock(&w->lock);
        c->next = w->done;
        w->done = c;
        bool tell = !w->told;
        w->told = true;
        pthread_mutex_unlock(&w->lock);
        if (tell)
            (void)!write(w->pipe[1], "", 1); /* a full pipe wakes the loop as well */
    }
    return NULL;
}

workers *workers_start(const http_service *service)
{
    workers *w = calloc(1, sizeof *w);
    if (!w || pipe(w->pipe) != 0) {
        free(w);
        return NULL;
    }
    for (int i = 0; i < 2; i++) {
        fcntl(w->pipe[i], F_SETFL, O_NONBLOCK);
        fcntl(w->pipe[i], F_SETFD, FD_CLOEXEC);
    }
    w->service = service;
    w->last = &w->first;
    pthread_mutex_init(&w->lock, NULL);
    pthread_cond_init(&w->given, NULL);
    while (w->count < service->workers && w->count < WORKERS_LIMIT && pthread_create(&w->threads[w->count], NULL, work, w) == 0)
        w->count++;
    if (w->count)
        return w;
    workers_stop(w);
    return NULL;
}

void workers_stop(workers *w)
{
    if (!w)
        return;
    pthread_mutex_lock(&w->lock);
    w->stopping = true;
    w->first = NULL; /* nobody waits for these any more */
    w->last = &w->first;
    pthread_cond_broadcast(&w->given);
    pthread_mutex_unlock(&w->lock);
    for (int i = 0; i < w->count; i++)
        pthread_join(w->threads[i], NULL);
    close(w->pipe[0]);
    close(w->pipe[1]);
    pthread_mutex_destroy(&w->lock);
    pthread_cond_destroy(&w->given);
    free(w);
}

int workers_socket(const workers *w)
{
    return w->pipe[0];
}

void workers_give(workers *w, connection *c)
{
    c->next = NULL;
    pthread_mutex_lock(&w->lock);
    *w->last = c;
    w->last = &c->next;
    pthread_cond_signal(&w->given);
    pthread_mutex_unlock(&w->lock);
}

connection *workers_take(workers *w)
{
    char bytes[16];
    while (read(w->pipe[0], bytes, sizeof bytes) > 0) /* first: who is done from now on tells it again */
        ;
    pthread_mutex_lock(&w->lock);
    connection *list = w->done;
    w->done = NULL;
    w->told = false;
    pthread_mutex_unlock(&w->lock);
    return list;
}
