/* Sums over processes on this machine: every dtype and size, with two to five of them; a process that leaves. */
#include <arpa/inet.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cluster/cluster.h"
#include "test.h"

enum { MOST = 5 };

static int free_port(void)
{
    int one = socket(AF_INET, SOCK_STREAM, 0);
    struct sockaddr_in address = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    socklen_t length = sizeof address;
    assert_int_equal(bind(one, (struct sockaddr *)&address, sizeof address), 0);
    assert_int_equal(getsockname(one, (struct sockaddr *)&address, &length), 0);
    close(one);
    return ntohs(address.sin_port);
}

/* The body runs in as many processes; what it gives is the exit code. */
static void in_processes(int count, int (*body)(tw__cluster *cluster), const int *codes)
{
    char text[MOST][32];
    const char *names[MOST];
    pid_t processes[MOST];
    for (int i = 0; i < count; i++) {
        snprintf(text[i], sizeof text[i], "127.0.0.1:%d", free_port());
        names[i] = text[i];
    }
    for (int i = 0; i < count; i++) {
        processes[i] = fork();
        if (processes[i] == 0) {
            tw__cluster *cluster = tw__cluster_join(names, count, i, 20000);
            if (!cluster)
                fprintf(stderr, "%s\n", tw_error_message());
            int code = cluster ? body(cluster) : 99;
            tw_release(cluster);
            _exit(code);
        }
    }
    for (int i = 0; i < count; i++) {
        int status;
        waitpid(processes[i], &status, 0);
        assert_true(WIFEXITED(status));
        assert_int_equal(WEXITSTATUS(status), codes ? codes[i] : 0);
    }
}

static double value_of(int rank, int64_t i)
{
    return (double)(i % 7 + rank);
}

static bool sum_is_right(tw__cluster *cluster, tw_dtype dtype, int64_t count)
{
    tw_tensor *tensor = tw__tensor_empty(dtype, &TW_SHAPE(count));
    bool good = tensor != NULL;
    for (int64_t i = 0; good && i < count; i++) {
        double value = value_of(cluster->rank, i);
        void *at = (char *)tensor->data + (size_t)i * tw__element_size(dtype);
        switch (dtype) {
        case TW_FLOAT32:
            *(float *)at = (float)value;
            break;
        case TW_FLOAT64:
            *(double *)at = value;
            break;
        case TW_FLOAT16:
            *(uint16_t *)at = tw__float_to_half((float)value);
            break;
        case TW_BFLOAT16:
            *(uint16_t *)at = tw__float_to_bfloat16((float)value);
            break;
        case TW_INT32:
            *(int32_t *)at = (int32_t)value;
            break;
        default:
            *(int64_t *)at = (int64_t)value;
        }
    }
    good = good && tw__cluster_sum(cluster, tensor->data, count, dtype) == TW_OK;
    for (int64_t i = 0; good && i < count; i++) {
        double sum = 0;
        for (int r = 0; r < cluster->size; r++)
            sum += value_of(r, i);
        good = tw_tensor_double_at(tensor, i) == sum;
    }
    tw_release(tensor);
    return good;
}

static int all_sums(tw__cluster *cluster)
{
    static const tw_dtype dtypes[] = { TW_FLOAT32, TW_FLOAT64, TW_FLOAT16, TW_BFLOAT16, TW_INT32, TW_INT64 };
    static const int64_t counts[] = { 0, 1, 3, 1000, 16384, 16385, 50001, 1000003 };
    for (size_t d = 0; d < sizeof dtypes / sizeof *dtypes; d++) {
        for (size_t c = 0; c < sizeof counts / sizeof *counts; c++) {
            if (!sum_is_right(cluster, dtypes[d], counts[c]))
                return 1 + (int)(d * 8 + c);
        }
    }
    uint8_t flag = 1;
    return tw__cluster_sum(cluster, &flag, 1, TW_UINT8) == TW_UNIMPLEMENTED ? 0 : 98;
}

static void sums(void **state)
{
    (void)state;
    for (int count = 1; count <= MOST; count++)
        in_processes(count, all_sums, NULL);
}

static int broadcasts(tw__cluster *cluster)
{
    static char data[3000000];
    for (int root = 0; root < cluster->size; root++) {
        memset(data, cluster->rank + 1, sizeof data);
        if (tw__cluster_broadcast(cluster, data, sizeof data, root) != TW_OK)
            return 1;
        for (size_t i = 0; i < sizeof data; i++) {
            if (data[i] != root + 1)
                return 2;
        }
    }
    return 0;
}

static void broadcast(void **state)
{
    (void)state;
    in_processes(3, broadcasts, NULL);
}

/* Process 2 leaves; all others name it, now and from then on. */
static int leaves(tw__cluster *cluster)
{
    float numbers[1000] = { 0 };
    if (tw__cluster_sum(cluster, numbers, 1000, TW_FLOAT32) != TW_OK)
        return 1;
    if (cluster->rank == 2)
        return 7;
    for (int i = 0; i < 2; i++) {
        if (tw__cluster_sum(cluster, numbers, 1000, TW_FLOAT32) != TW_UNAVAILABLE || !strstr(tw_error_message(), "worker 2 ("))
            return 2;
        tw_clear_error();
    }
    return 0;
}

static void who_leaves(void **state)
{
    (void)state;
    in_processes(4, leaves, (const int[]){ 0, 0, 7, 0 });
}

static void wrong_arguments(void **state)
{
    (void)state;
    assert_null(tw__cluster_join((const char *const[]){ "localhost:1" }, 1, 1, 100));
    expect_error(TW_INVALID_ARGUMENT, "has no worker 1");
    assert_null(tw__cluster_join((const char *const[]){ "no port", "localhost:1" }, 2, 0, 100));
    expect_error(TW_INVALID_ARGUMENT, "host:port was expected");
    assert_null(tw__cluster_now());
    expect_error(TW_FAILED_PRECONDITION, "no cluster");
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(sums), cmocka_unit_test(broadcast), cmocka_unit_test(who_leaves),
                                        cmocka_unit_test(wrong_arguments) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
