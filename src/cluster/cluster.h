/* Several processes that work together: each is joined to each other by a TCP connection, and they compute sums.
 *
 *   join.c      addresses, connections, who is who              sum.c  sums and broadcasts over all
 *   transfer.c  bytes to one process while others come from another, and what happens when one is gone
 *
 * All processes call the same functions in the same order with the same sizes; a process that does not is told so. After an error
 * a cluster is of no use: the processes join again. Bytes are not encrypted. */
#ifndef TW_CLUSTER_H
#define TW_CLUSTER_H

#include "tensor/tensor.h"

typedef struct tw__cluster {
    tw_object object;
    int rank, size;
    char **names; /* the addresses, "host:port" */
    int *sockets; /* -1: closed, or one's own */
    int timeout;  /* ms without a byte after which a process counts as gone */
    uint64_t session, sequence;
    tw__lock lock;
    char *failed; /* why it is of no use any more; NULL: it is */
} tw__cluster;

/* Joins process `rank` of those at these addresses; waits for all of them, at most `timeout` ms. A new reference. */
tw__cluster *tw__cluster_join(const char *const *addresses, int size, int rank, int timeout);
/* The one that this process joined last, a new reference; NULL and an error: none. */
tw__cluster *tw__cluster_now(void);
void tw__cluster_use(tw__cluster *cluster);

bool tw__cluster_sums(tw_dtype dtype); /* whether there are sums of the dtype */
/* Every process has the sum afterwards, to the same bits. */
tw_status tw__cluster_sum(tw__cluster *cluster, void *data, int64_t count, tw_dtype dtype);
/* Every process has the bytes of process `root` afterwards. */
tw_status tw__cluster_broadcast(tw__cluster *cluster, void *data, size_t bytes, int root);

/* ---- transfer.c ---- */
/* Sends bytes to one process and receives as many as said from another, both at once; either may be -1: none. `tag` tells calls
 * apart. */
tw_status tw__cluster_exchange(tw__cluster *cluster, int to, const void *out, size_t out_bytes, int from, void *in,
                               size_t in_bytes, uint64_t tag);
/* Plain bytes with a deadline (tw__cluster_clock), for joining. False: it passed, or the connection is closed. */
bool tw__cluster_send(int socket, const void *data, size_t bytes, int64_t deadline);
bool tw__cluster_receive(int socket, void *data, size_t bytes, int64_t deadline);
int64_t tw__cluster_clock(void); /* ms */

#endif
