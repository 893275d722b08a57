/* How processes find each other: each listens at its own address, connects to those before it and waits for those behind it.
 *
 * Who connects says who it is and that it knows the cluster's addresses; both sides prove that they know the same secret
 * (THALWEG_CLUSTER_SECRET), if there is one. What says something else is refused, and does not disturb the rest. */
#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/pause.h"
#include "cluster/cluster.h"
#include "codec/codec.h"

enum { HELLO = 0x54574832, HANDSHAKE = 2000, NAP = 50, PROOF = 64 };

typedef struct hello {
    uint32_t magic;
    uint16_t size, from, to, unused;
    char addresses[PROOF]; /* a digest of them */
    uint8_t nonce[16];
} hello;

typedef struct answer {
    uint8_t nonce[16];
    char proof[PROOF];
} answer;

/* ---- the object ---- */

static void cluster_destroy(void *self)
{
    tw__cluster *cluster = self;
    for (int i = 0; i < cluster->size; i++) {
        if (cluster->sockets && cluster->sockets[i] >= 0)
            close(cluster->sockets[i]);
        if (cluster->names)
            tw__free(cluster->names[i]);
    }
    tw__free(cluster->sockets);
    tw__free(cluster->names);
    tw__free(cluster->failed);
}

static const tw_class cluster_class = { .name = "Cluster", .size = sizeof(tw__cluster), .destroy = cluster_destroy };
static tw__lock lock = TW__LOCK;
static tw__cluster *current;

static void forget(void)
{
    tw__cluster_use(NULL);
}

void tw__cluster_use(tw__cluster *cluster)
{
    static tw__ending ending = { .end = forget };
    tw__at_shutdown(&ending);
    tw__lock_take(&lock);
    tw__cluster *old = current;
    current = tw_retain(cluster);
    tw__lock_give(&lock);
    tw_release(old);
}

tw__cluster *tw__cluster_now(void)
{
    tw__lock_take(&lock);
    tw__cluster *now = tw_retain(current);
    tw__lock_give(&lock);
    if (!now)
        tw__fail(TW_FAILED_PRECONDITION, "this process has joined no cluster");
    return now;
}

/* ---- addresses ---- */

/* "host:port" as addresses of sockets; for freeaddrinfo. NULL and an error: it is none. */
static struct addrinfo *resolve(const char *name, bool listens)
{
    const char *colon = strrchr(name, ':');
    size_t length = colon ? (size_t)(colon - name) : 0;
    bool brackets = length > 1 && name[0] == '[' && name[length - 1] == ']';
    tw__owned char *host = colon ? tw__strndup(name + brackets, length - 2 * brackets) : NULL;
    struct addrinfo hints = { .ai_socktype = SOCK_STREAM, .ai_flags = listens ? AI_PASSIVE : 0 }, *found = NULL;
    int error = host && colon[1] ? getaddrinfo(*host ? host : NULL, colon + 1, &hints, &found) : EAI_NONAME;
    if (error)
        tw__fail(TW_INVALID_ARGUMENT, "the worker's address %s: %s (host:port was expected)", name, gai_strerror(error));
    return error ? NULL : found;
}

static void prepare(int socket)
{
    int on = 1;
    setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    setsockopt(socket, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof on);
}

static int listen_at(const char *name)
{
    struct addrinfo *list = resolve(name, true);
    int made = -1, why = 0, on = 1;
    for (struct addrinfo *one = list; one && made < 0; one = one->ai_next) {
        made = socket(one->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
        if (made < 0)
            continue;
        setsockopt(made, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
        if (bind(made, one->ai_addr, one->ai_addrlen) != 0 || listen(made, 64) != 0) {
            why = errno;
            close(made);
            made = -1;
        }
    }
    if (list)
        freeaddrinfo(list);
    if (list && made < 0)
        tw__fail(TW_UNAVAILABLE, "the worker can't listen at %s: %s", name, strerror(why));
    return made;
}

static int connect_to(const struct addrinfo *list)
{
    for (const struct addrinfo *one = list; one; one = one->ai_next) {
        int made = socket(one->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
        if (made >= 0 && connect(made, one->ai_addr, one->ai_addrlen) == 0)
            return made;
        if (made >= 0)
            close(made);
    }
    return -1;
}

/* ---- who is who ---- */

static void digest_addresses(const tw__cluster *cluster, char text[PROOF + 1])
{
    tw__digest digest;
    tw__digest_begin(&digest, true);
    for (int i = 0; i < cluster->size; i++)
        tw__digest_add(&digest, cluster->names[i], strlen(cluster->names[i]) + 1);
    tw__digest_end(&digest, text);
}

static void prove(const hello *about, const uint8_t nonce[16], const char *side, char proof[PROOF + 1])
{
    const char *secret = getenv("THALWEG_CLUSTER_SECRET");
    size_t length = secret ? strlen(secret) : 0;
    tw__digest digest;
    tw__digest_begin(&digest, true);
    tw__digest_add(&digest, &length, sizeof length);
    tw__digest_add(&digest, secret ? secret : "", length);
    tw__digest_add(&digest, nonce, 16);
    tw__digest_add(&digest, side, 1);
    tw__digest_add(&digest, about, sizeof *about);
    tw__digest_add(&digest, secret ? secret : "", length);
    tw__digest_end(&digest, proof);
}

static bool is_proof(const char *given, const char *expected)
{
    unsigned differs = 0;
    for (int i = 0; i < PROOF; i++)
        differs |= (unsigned)(given[i] ^ expected[i]);
    return !differs;
}

static bool randomize(void *data, size_t size)
{
    return getrandom(data, size, 0) == (ssize_t)size;
}

/* The side that connects; why not, or NULL. */
static const char *introduce(const tw__cluster *cluster, int socket, int to)
{
    int64_t deadline = tw__cluster_clock() + HANDSHAKE;
    hello mine = { .magic = HELLO, .size = (uint16_t)cluster->size, .from = (uint16_t)cluster->rank, .to = (uint16_t)to };
    char digest[PROOF + 1], proof[PROOF + 1], good = 0;
    answer theirs;
    digest_addresses(cluster, digest);
    memcpy(mine.addresses, digest, PROOF);
    if (!randomize(mine.nonce, sizeof mine.nonce) || !tw__cluster_send(socket, &mine, sizeof mine, deadline) ||
        !tw__cluster_receive(socket, &theirs, sizeof theirs, deadline))
        return "does not answer as a worker of this cluster";
    prove(&mine, mine.nonce, "S", proof);
    if (!is_proof(theirs.proof, proof))
        return "has another secret (THALWEG_CLUSTER_SECRET)";
    prove(&mine, theirs.nonce, "C", proof);
    if (!tw__cluster_send(socket, proof, PROOF, deadline) || !tw__cluster_receive(socket, &good, 1, deadline) || good != 1)
        return "refuses this worker";
    return NULL;
}

/* The side that listens; who it is, or -1. */
static int meet(const tw__cluster *cluster, int socket)
{
    int64_t deadline = tw__cluster_clock() + HANDSHAKE;
    char digest[PROOF + 1], proof[PROOF + 1], given[PROOF];
    const char good = 1;
    hello theirs;
    answer mine;
    digest_addresses(cluster, digest);
    if (!tw__cluster_receive(socket, &theirs, sizeof theirs, deadline) || theirs.magic != HELLO || theirs.size != cluster->size ||
        theirs.to != cluster->rank || theirs.from <= cluster->rank || theirs.from >= cluster->size ||
        !is_proof(theirs.addresses, digest) || !randomize(mine.nonce, sizeof mine.nonce))
        return -1;
    prove(&theirs, theirs.nonce, "S", proof);
    memcpy(mine.proof, proof, PROOF);
    if (!tw__cluster_send(socket, &mine, sizeof mine, deadline) || !tw__cluster_receive(socket, given, PROOF, deadline))
        return -1;
    prove(&theirs, mine.nonce, "C", proof);
    return is_proof(given, proof) && tw__cluster_send(socket, &good, 1, deadline) ? theirs.from : -1;
}

/* ---- joining ---- */

static tw_status late(const tw__cluster *cluster, int peer, const char *why)
{
    return tw__fail(TW_UNAVAILABLE, "worker %d (%s) %s after %d ms; this is worker %d", peer, cluster->names[peer], why,
                    cluster->timeout, cluster->rank);
}

static tw_status reach(tw__cluster *cluster, int peer, int64_t deadline)
{
    const char *why = "can't be reached";
    while (cluster->sockets[peer] < 0) {
        struct addrinfo *list = resolve(cluster->names[peer], false);
        TW_NEED(list);
        int made = connect_to(list);
        freeaddrinfo(list);
        if (made >= 0) {
            prepare(made);
            why = introduce(cluster, made, peer);
            if (!why) {
                cluster->sockets[peer] = made;
                return TW_OK;
            }
            close(made);
        }
        if (tw__cluster_clock() > deadline)
            return late(cluster, peer, why);
        TW_TRY(tw__interrupted());
        usleep(NAP * 1000);
    }
    return TW_OK;
}

static int missing(const tw__cluster *cluster)
{
    for (int i = cluster->rank + 1; i < cluster->size; i++) {
        if (cluster->sockets[i] < 0)
            return i;
    }
    return -1;
}

static tw_status wait_for_others(tw__cluster *cluster, int listener, int64_t deadline)
{
    fcntl(listener, F_SETFL, O_NONBLOCK);
    for (int peer; (peer = missing(cluster)) >= 0;) {
        int made = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
        if (made >= 0) {
            prepare(made);
            int who = meet(cluster, made);
            if (who >= 0 && cluster->sockets[who] >= 0)
                close(cluster->sockets[who]); /* it began anew */
            if (who >= 0)
                cluster->sockets[who] = made;
            else
                close(made);
            continue;
        }
        if (tw__cluster_clock() > deadline)
            return late(cluster, peer, "has not joined");
        TW_TRY(tw__interrupted());
        usleep(NAP * 200);
    }
    return TW_OK;
}

/* Everybody is there when worker 0 has heard of all; it names the session. */
static tw_status begin_session(tw__cluster *cluster, int64_t deadline)
{
    uint64_t word = 0;
    if (cluster->rank > 0) {
        if (!tw__cluster_send(cluster->sockets[0], &word, sizeof word, deadline) ||
            !tw__cluster_receive(cluster->sockets[0], &cluster->session, sizeof cluster->session, deadline))
            return late(cluster, 0, "has not begun");
        return TW_OK;
    }
    if (!randomize(&cluster->session, sizeof cluster->session))
        return tw__fail(TW_INTERNAL, "no random numbers: %s", strerror(errno));
    for (int i = 1; i < cluster->size; i++) {
        if (!tw__cluster_receive(cluster->sockets[i], &word, sizeof word, deadline))
            return late(cluster, i, "has gone again");
    }
    for (int i = 1; i < cluster->size; i++) {
        if (!tw__cluster_send(cluster->sockets[i], &cluster->session, sizeof cluster->session, deadline))
            return late(cluster, i, "has gone again");
    }
    return TW_OK;
}

static tw_status join(tw__cluster *cluster)
{
    int64_t deadline = tw__cluster_clock() + cluster->timeout;
    int listener = listen_at(cluster->names[cluster->rank]);
    if (listener < 0)
        return tw__error_status();
    tw_status status = TW_OK;
    for (int i = 0; status == TW_OK && i < cluster->rank; i++)
        status = reach(cluster, i, deadline);
    if (status == TW_OK)
        status = wait_for_others(cluster, listener, deadline);
    close(listener);
    return status == TW_OK ? begin_session(cluster, deadline + HANDSHAKE) : status;
}

tw__cluster *tw__cluster_join(const char *const *addresses, int size, int rank, int timeout)
{
    tw_auto tw__cluster *cluster = tw__object_new(&cluster_class);
    if (!cluster || size < 1 || size > UINT16_MAX || rank < 0 || rank >= size) {
        if (cluster)
            tw__fail(TW_INVALID_ARGUMENT, "a cluster of %d workers has no worker %d", size, rank);
        return NULL;
    }
    cluster->lock = (tw__lock)TW__LOCK;
    cluster->rank = rank;
    cluster->timeout = timeout;
    cluster->names = tw__alloc_array((size_t)size, sizeof *cluster->names);
    cluster->sockets = tw__alloc_array((size_t)size, sizeof *cluster->sockets);
    if (!cluster->names || !cluster->sockets)
        return NULL;
    for (; cluster->size < size; cluster->size++) {
        cluster->sockets[cluster->size] = -1;
        if (!(cluster->names[cluster->size] = tw__strdup(addresses[cluster->size])))
            return NULL;
    }
    void *state = tw__wait_begin();
    tw_status status = size > 1 ? join(cluster) : TW_OK;
    tw__wait_end(state);
    return status == TW_OK ? tw_retain(cluster) : NULL;
}
