/* Sockets that listen, and the signals that end a server. */
#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "http.h"

enum { WAITING_CONNECTIONS = 1024 };

int http_listen(const char *host, long port)
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
        if (bind(listener, a->ai_addr, a->ai_addrlen) != 0 || listen(listener, WAITING_CONNECTIONS) != 0) {
            error = errno;
            close(listener);
            listener = -1;
        }
    }
    freeaddrinfo(found);
    errno = error;
    return listener;
}

long http_port(int listener)
{
    struct sockaddr_storage address;
    socklen_t size = sizeof address;
    char number[24];
    if (getsockname(listener, (struct sockaddr *)&address, &size) != 0 ||
        getnameinfo((struct sockaddr *)&address, size, NULL, 0, number, sizeof number, NI_NUMERICSERV) != 0)
        return 0;
    return strtol(number, NULL, 10);
}

static volatile int stopped;

static void stop(int signal)
{
    (void)signal;
    stopped = 1;
}

const volatile int *http_stops(void)
{
    struct sigaction action = { .sa_handler = stop };
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    return &stopped;
}
