/* Sums over the processes of a cluster (cluster/cluster.h), as an operation: in functions it runs in the order in which it was
 * called, as all processes must. */
#include "cluster/cluster.h"
#include "op/op.h"
#include "rows.h"

static tw_status each_shape(tw__inference *inference)
{
    for (int i = 0; i < inference->output_count; i++)
        inference->out_shapes[i] = *inference->shapes[i];
    return TW_OK;
}

/* All tensors of one dtype in a row: one sum for all. */
static tw_status sum_joined(tw__cluster *cluster, tw__kernel *kernel, tw_dtype dtype, int64_t count)
{
    size_t unit = tw__element_size(dtype);
    tw__owned char *joined = tw__alloc_array((size_t)count + 1, unit);
    TW_NEED(joined);
    char *at = joined;
    for (int i = 0; i < kernel->input_count; i++) {
        if (kernel->inputs[i]->dtype == dtype) {
            memcpy(at, kernel->inputs[i]->data, tw_tensor_bytes(kernel->inputs[i]));
            at += tw_tensor_bytes(kernel->inputs[i]);
        }
    }
    TW_TRY(tw__cluster_sum(cluster, joined, count, dtype));
    at = joined;
    for (int i = 0; i < kernel->input_count; i++) {
        if (kernel->inputs[i]->dtype == dtype) {
            memcpy(kernel->outputs[i]->data, at, tw_tensor_bytes(kernel->outputs[i]));
            at += tw_tensor_bytes(kernel->outputs[i]);
        }
    }
    return TW_OK;
}

static tw_status cluster_sum(tw__kernel *kernel)
{
    tw_auto tw__cluster *cluster = tw__cluster_now();
    TW_NEED(cluster);
    for (int i = 0; i < kernel->input_count; i++) {
        tw_dtype dtype = kernel->inputs[i]->dtype;
        int64_t count = 0;
        int alike = 0;
        bool first = true;
        for (int k = 0; k < kernel->input_count; k++) {
            first = first && !(k < i && kernel->inputs[k]->dtype == dtype);
            alike += kernel->inputs[k]->dtype == dtype;
            count += kernel->inputs[k]->dtype == dtype ? kernel->inputs[k]->count : 0;
        }
        if (!tw__cluster_sums(dtype))
            return tw__fail(TW_UNIMPLEMENTED, "sums over workers of dtype %s are not supported", tw_dtype_name(dtype));
        if (alike == 1) {
            memcpy(kernel->outputs[i]->data, kernel->inputs[i]->data, tw_tensor_bytes(kernel->inputs[i]));
            TW_TRY(tw__cluster_sum(cluster, kernel->outputs[i]->data, count, dtype));
        } else if (first) {
            TW_TRY(sum_joined(cluster, kernel, dtype, count));
        }
    }
    return TW_OK;
}

TW_OP(ClusterSum, .inputs = "values: T", .outputs = "sums: T", .attrs = "T: list(type) >= 1", .shape = each_shape,
      .compute = cluster_sum, .stateful = true, .doc = "The sums of what all workers of the cluster give.");
