/* The functions that PyFunc and EagerPyFunc call, by token. A function lives as long as somebody holds it: the nodes that name
 * it, and a call that runs. */
#include "base/language.h"
#include "op/streams.h"
#include "op/host/host.h"

enum { BUCKETS = 256 };

struct tw__host_function {
    char *token;
    tw__host_body body;
    void *user;
    void (*end)(void *user);
    size_t holders;
    tw__host_function *next; /* in its bucket */
};

static tw__lock lock = TW__LOCK;
static tw__host_function *buckets[BUCKETS];
static size_t made;

static size_t bucket_of(const char *token, size_t size)
{
    size_t hash = 5381;
    for (size_t i = 0; i < size; i++)
        hash = hash * 33 + (unsigned char)token[i];
    return hash % BUCKETS;
}

tw__host_function *tw__host_register(const char *prefix, tw__host_body body, void *user, void (*end)(void *user))
{
    tw__host_function *function = tw__alloc_zero(sizeof *function);
    tw__lock_take(&lock);
    size_t number = made++;
    tw__lock_give(&lock);
    char *token = function ? tw__format("%s%zu", prefix, number) : NULL;
    if (!token) {
        tw__free(function);
        if (end)
            end(user);
        return NULL;
    }
    *function = (tw__host_function){ .token = token, .body = body, .user = user, .end = end, .holders = 1 };
    size_t bucket = bucket_of(token, strlen(token));
    tw__lock_take(&lock);
    function->next = buckets[bucket];
    buckets[bucket] = function;
    tw__lock_give(&lock);
    return function;
}

tw__host_function *tw__host_hold(const char *token, size_t size)
{
    tw__lock_take(&lock);
    tw__host_function *found = buckets[bucket_of(token, size)];
    while (found && (strlen(found->token) != size || memcmp(found->token, token, size) != 0))
        found = found->next;
    if (found)
        found->holders++;
    tw__lock_give(&lock);
    return found;
}

void tw__host_drop(tw__host_function *function)
{
    if (!function)
        return;
    tw__lock_take(&lock);
    bool ends = --function->holders == 0;
    tw__host_function **place = &buckets[bucket_of(function->token, strlen(function->token))];
    while (ends && *place != function)
        place = &(*place)->next;
    if (ends)
        *place = function->next;
    tw__lock_give(&lock);
    if (!ends)
        return;
    if (function->end)
        function->end(function->user);
    tw__free(function->token);
    tw__free(function);
}

const char *tw__host_token(const tw__host_function *function)
{
    return function->token;
}

tw_status tw__host_run(const tw__host_function *function, bool arrays, tw_tensor *const *inputs, int input_count,
                       tw_tensor **outputs, int output_count)
{
    tw__stream_set *outer = tw__streams_now;
    uint64_t path = tw__streams_path;
    tw__streams_now = NULL; /* functions that the program calls have streams of their own */
    tw_status status = function->body ? function->body(function->user, inputs, input_count, outputs, output_count)
                                      : tw__language.host_call(function->user, function->token, arrays, inputs, input_count,
                                                               outputs, output_count);
    tw__streams_now = outer;
    tw__streams_path = path;
    return status;
}
