/* Bytes between the processes of a cluster.
 *
 * They go in frames, so that a process that gives up can tell the others at any time, and which process it gave up for: all of
 * them then name the one that is gone, not one that left because of it. */
#include <errno.h>
#include <poll.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "base/pause.h"
#include "cluster/cluster.h"

enum { FRAME = 1 << 20, MAGIC = 0x54574331, DATA = 1, GONE = 2, SLICE = 100 };

typedef struct frame {
    uint32_t magic;
    uint16_t kind, culprit;
    uint64_t bytes, session, tag;
} frame;

int64_t tw__cluster_clock(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* ---- plain bytes ---- */

static bool is_ready(int socket, short events, int64_t deadline)
{
    for (;;) {
        int64_t left = deadline - tw__cluster_clock();
        struct pollfd one = { .fd = socket, .events = events };
        int count = left < 0 ? 0 : poll(&one, 1, left < SLICE ? (int)left : SLICE);
        if (count > 0)
            return true;
        if (left <= 0 || (count < 0 && errno != EINTR))
            return false;
    }
}

bool tw__cluster_send(int socket, const void *data, size_t bytes, int64_t deadline)
{
    for (const char *at = data; bytes;) {
        ssize_t sent = is_ready(socket, POLLOUT, deadline) ? send(socket, at, bytes, MSG_NOSIGNAL) : 0;
        if (sent <= 0)
            return false;
        at += sent;
        bytes -= (size_t)sent;
    }
    return true;
}

bool tw__cluster_receive(int socket, void *data, size_t bytes, int64_t deadline)
{
    for (char *at = data; bytes;) {
        ssize_t got = is_ready(socket, POLLIN, deadline) ? recv(socket, at, bytes, 0) : 0;
        if (got <= 0)
            return false;
        at += got;
        bytes -= (size_t)got;
    }
    return true;
}

/* ---- frames ---- */

/* One direction of an exchange. */
typedef struct stream {
    int peer, socket; /* -1: nothing to do */
    char *data;
    size_t left;       /* bytes that are not in a frame yet */
    size_t frame_left; /* of the frame that is under way */
    frame head;
    size_t head_done; /* bytes of the head; all of it: the frame's bytes follow */
    bool busy;
} stream;

static stream stream_of(const tw__cluster *cluster, int peer, const void *data, size_t bytes)
{
    stream s = { .peer = peer, .socket = peer < 0 ? -1 : cluster->sockets[peer], .data = (char *)(uintptr_t)data, .left = bytes };
    s.busy = peer >= 0 && bytes > 0;
    return s;
}

static void begin_frame(stream *s, const tw__cluster *cluster, uint64_t tag)
{
    s->frame_left = s->left < FRAME ? s->left : FRAME;
    s->left -= s->frame_left;
    s->head = (frame){ MAGIC, DATA, 0, s->frame_left, cluster->session, tag };
    s->head_done = 0;
}

/* The process gives up because of another one, and tells the rest. A frame that is under way is filled up first. */
static tw_status give_up(tw__cluster *cluster, int culprit, const char *how, const stream *out)
{
    int64_t deadline = tw__cluster_clock() + 1000;
    static const char nothing[4096];
    for (int i = 0; i < cluster->size; i++) {
        if (i == cluster->rank || i == culprit || cluster->sockets[i] < 0)
            continue;
        bool good = true;
        if (out && out->peer == i && out->busy) {
            good = tw__cluster_send(out->socket, (const char *)&out->head + out->head_done, sizeof out->head - out->head_done,
                                    deadline);
            for (size_t left = out->frame_left; good && left;) {
                size_t part = left < sizeof nothing ? left : sizeof nothing;
                good = tw__cluster_send(out->socket, nothing, part, deadline);
                left -= part;
            }
        }
        frame last = { MAGIC, GONE, (uint16_t)culprit, 0, cluster->session, 0 };
        if (good)
            tw__cluster_send(cluster->sockets[i], &last, sizeof last, deadline);
    }
    tw__free(cluster->failed);
    cluster->failed = tw__format("worker %d (%s) %s", culprit, cluster->names[culprit], how);
    for (int i = 0; i < cluster->size; i++) {
        if (cluster->sockets[i] >= 0)
            close(cluster->sockets[i]);
        cluster->sockets[i] = -1;
    }
    return tw__fail(TW_UNAVAILABLE, "%s", cluster->failed ? cluster->failed : "a worker is gone");
}

/* What a call of send or recv says: bytes, 0 for later, -1 for gone. */
static ssize_t result_of(ssize_t count, bool receiving)
{
    if (count > 0)
        return count;
    bool later = count < 0 && (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR);
    return later ? 0 : receiving || count < 0 ? -1 : 0;
}

static ssize_t send_some(stream *s, const tw__cluster *cluster, uint64_t tag)
{
    if (!s->frame_left && (s->head_done == sizeof s->head || !s->head.magic))
        begin_frame(s, cluster, tag);
    bool head = s->head_done < sizeof s->head;
    ssize_t sent = result_of(head ? send(s->socket, (const char *)&s->head + s->head_done, sizeof s->head - s->head_done,
                                         MSG_NOSIGNAL | MSG_DONTWAIT | MSG_MORE)
                                  : send(s->socket, s->data, s->frame_left, MSG_NOSIGNAL | MSG_DONTWAIT),
                             false);
    if (sent <= 0)
        return sent;
    if (head) {
        s->head_done += (size_t)sent;
    } else {
        s->data += sent;
        s->frame_left -= (size_t)sent;
        s->busy = s->frame_left || s->left;
    }
    return sent;
}

/* -2: the head of a frame is there that does not belong here. */
static ssize_t receive_some(stream *s, const tw__cluster *cluster, uint64_t tag)
{
    bool head = s->head_done < sizeof s->head;
    ssize_t got = result_of(head ? recv(s->socket, (char *)&s->head + s->head_done, sizeof s->head - s->head_done, MSG_DONTWAIT)
                                 : recv(s->socket, s->data, s->frame_left, MSG_DONTWAIT),
                            true);
    if (got <= 0)
        return got;
    if (head) {
        s->head_done += (size_t)got;
        if (s->head_done < sizeof s->head)
            return got;
        if (s->head.magic != MAGIC || s->head.kind != DATA || s->head.session != cluster->session || s->head.tag != tag ||
            s->head.bytes > s->left || !s->head.bytes)
            return -2;
        s->frame_left = s->head.bytes;
        s->left -= s->frame_left;
        return got;
    }
    s->data += got;
    s->frame_left -= (size_t)got;
    if (!s->frame_left)
        s->head_done = 0;
    s->busy = s->frame_left || s->left;
    return got;
}

static tw_status refuse(tw__cluster *cluster, const stream *in, const stream *out)
{
    bool told = in->head.magic == MAGIC && in->head.kind == GONE && in->head.culprit < cluster->size;
    return told
               ? give_up(cluster, in->head.culprit, "is gone, as another worker says", out)
               : give_up(cluster, in->peer,
                         "takes part in another operation, or one of another size: all workers are to run the same program", out);
}

tw_status tw__cluster_exchange(tw__cluster *cluster, int to, const void *data, size_t out_bytes, int from, void *place,
                               size_t in_bytes, uint64_t tag)
{
    if (cluster->failed)
        return tw__fail(TW_UNAVAILABLE, "%s", cluster->failed);
    stream out = stream_of(cluster, to, data, out_bytes), in = stream_of(cluster, from, place, in_bytes);
    int64_t heard = tw__cluster_clock();
    while (out.busy || in.busy) {
        ssize_t sent = out.busy ? send_some(&out, cluster, tag) : 0, got = in.busy ? receive_some(&in, cluster, tag) : 0;
        if (got == -2)
            return refuse(cluster, &in, &out);
        if (got < 0 || sent < 0)
            return give_up(cluster, got < 0 ? in.peer : out.peer, "is gone: its connection is closed", got < 0 ? &out : NULL);
        if (sent || got) {
            heard = tw__cluster_clock();
            continue;
        }
        struct pollfd both[] = { { .fd = in.busy ? in.socket : -1, .events = POLLIN },
                                 { .fd = out.busy ? out.socket : -1, .events = POLLOUT } };
        poll(both, 2, SLICE);
        if (tw__cluster_clock() - heard > cluster->timeout)
            return give_up(cluster, in.busy ? in.peer : out.peer, "has not answered in time", &out);
        tw_status status = tw__interrupted();
        if (status != TW_OK) {
            tw__fail(TW_CANCELLED, "interrupted");
            give_up(cluster, cluster->rank, "was interrupted", &out);
            return status;
        }
    }
    return TW_OK;
}
