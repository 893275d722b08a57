/* Operators that are a few ops, or whose settings stand elsewhere than an op's. */
#include "lite/lite.h"
#include "rows.h"

tw_status tw__lite_softmax(tw__lite_call *c)
{
    tw__temps *t = c->t;
    double beta = tw__flat_float(&c->options, 0, 0);
    return tw__lite_give(c, TW_TEMP(Softmax, beta == 1 ? c->in[0] : TW_TEMP(Mul, c->in[0], beta)));
}

tw_status tw__lite_reshape(tw__lite_call *c)
{
    tw__temps *t = c->t;
    if (c->count > 1 && c->in[1])
        return tw__lite_give(c, TW_TEMP(Reshape, c->in[0], c->in[1]));
    tw__flat_vector list = tw__flat_list(&c->options, 0, 4);
    int64_t dims[TW_MAX_RANK];
    if (list.count > TW_MAX_RANK)
        return tw__lite_refuse("%lld dimensions are not supported", (long long)list.count);
    for (int64_t i = 0; i < list.count; i++)
        dims[i] = tw__flat_int_at(&list, i, 4);
    return tw__lite_give(c, tw__temp_reshape(t, c->in[0], dims, (int)list.count));
}

tw_status tw__lite_squeeze(tw__lite_call *c)
{
    tw__temps *t = c->t;
    tw__flat_vector list = tw__flat_list(&c->options, 0, 4);
    int64_t dims[TW_MAX_RANK];
    if (list.count > TW_MAX_RANK)
        return tw__lite_refuse("%lld dimensions are not supported", (long long)list.count);
    for (int64_t i = 0; i < list.count; i++)
        dims[i] = tw__flat_int_at(&list, i, 4);
    return tw__lite_give(c, TW_TEMP(Squeeze, c->in[0], TW_A_INTS("squeeze_dims", dims, list.count)));
}

tw_status tw__lite_concat(tw__lite_call *c)
{
    for (int i = 0; i < c->count; i++) {
        if (!c->in[i])
            return tw__fail(TW_INVALID_ARGUMENT, "input %d is left out", i);
    }
    return tw__lite_activated(c, tw__temp_concat(c->t, c->in, c->count, tw__flat_int(&c->options, 0, 4, 0)), 1);
}

tw_status tw__lite_gather(tw__lite_call *c)
{
    tw__temps *t = c->t;
    tw_tensor *axis = tw__temp_int(t, tw__flat_int(&c->options, 0, 4, 0), TW_INT32);
    return tw__lite_give(c,
                         TW_TEMP(GatherV2, c->in[0], c->in[1], axis, TW_A_INT("batch_dims", tw__flat_int(&c->options, 1, 4, 0))));
}

tw_status tw__lite_prelu(tw__lite_call *c)
{
    tw__temps *t = c->t;
    return tw__lite_give(c, TW_TEMP(SelectV2, TW_TEMP(GreaterEqual, c->in[0], 0.0), c->in[0], TW_TEMP(Mul, c->in[0], c->in[1])));
}

tw_status tw__lite_hard_swish(tw__lite_call *c)
{
    tw__temps *t = c->t;
    return tw__lite_give(c, TW_TEMP(Mul, TW_TEMP(Mul, c->in[0], TW_TEMP(Relu6, TW_TEMP(AddV2, c->in[0], 3.0))), 1.0 / 6));
}

/* RELU_N1_TO_1 and RELU_0_TO_1 */
tw_status tw__lite_clip(tw__lite_call *c)
{
    tw__temps *t = c->t;
    return tw__lite_give(c, TW_TEMP(Minimum, TW_TEMP(Maximum, c->in[0], c->builtin->name[5] == 'N' ? -1.0 : 0.0), 1.0));
}

tw_status tw__lite_gelu(tw__lite_call *c)
{
    return tw__lite_give(c, tw__temp(c->t, tw_nn_gelu(c->in[0], .approximate = tw__flat_int(&c->options, 0, 1, 0) != 0)));
}

tw_status tw__lite_l2_normalize(tw__lite_call *c)
{
    tw__temps *t = c->t;
    tw_tensor *sum = TW_TEMP(Sum, TW_TEMP(Square, c->in[0]), -1, TW_A_BOOL("keep_dims", true));
    return tw__lite_activated(c, TW_TEMP(Mul, c->in[0], TW_TEMP(Rsqrt, TW_TEMP(Maximum, sum, 1e-6))), 0);
}

tw_status tw__lite_mirror_pad(tw__lite_call *c)
{
    tw__temps *t = c->t;
    return tw__lite_give(c, TW_TEMP(MirrorPad, c->in[0], c->in[1],
                                    TW_A_STRING("mode", tw__flat_int(&c->options, 0, 1, 0) ? "SYMMETRIC" : "REFLECT")));
}

/* The dtype is the output's: some files leave the options out. */
tw_status tw__lite_cast(tw__lite_call *c)
{
    const tw__lite_tensor *out = tw__lite_output(c, 0);
    return tw__lite_give(c, out ? tw__temp_cast(c->t, c->in[0], out->dtype) : NULL);
}

tw_status tw__lite_shape(tw__lite_call *c)
{
    const tw__lite_tensor *out = tw__lite_output(c, 0);
    if (!out || (out->dtype != TW_INT32 && out->dtype != TW_INT64))
        return tw__fail(TW_INVALID_ARGUMENT, "the output must be int32 or int64");
    return tw__lite_give(c, tw__temp_shape(c->t, c->in[0], out->dtype));
}

tw_status tw__lite_sparse_to_dense(tw__lite_call *c)
{
    tw__temps *t = c->t;
    return tw__lite_give(c, TW_TEMP(SparseToDense, c->in[0], c->in[1], c->in[2], c->in[3],
                                    TW_A_BOOL("validate_indices", tw__flat_int(&c->options, 0, 1, 0) != 0)));
}

tw_status tw__lite_matrix_diag(tw__lite_call *c)
{
    tw__temps *t = c->t;
    tw_tensor *zero = tw__temp(t, tw_tensor_new(c->in[0]->dtype, TW_SCALAR, NULL));
    return tw__lite_give(c, TW_TEMP(MatrixDiagV3, c->in[0], 0, -1, -1, zero));
}

tw_status tw__lite_matrix_set_diag(tw__lite_call *c)
{
    tw__temps *t = c->t;
    return tw__lite_give(c, TW_TEMP(MatrixSetDiagV3, c->in[0], c->in[1], 0));
}

tw_status tw__lite_fake_quant(tw__lite_call *c)
{
    tw__temps *t = c->t;
    return tw__lite_give(c, TW_TEMP(FakeQuantWithMinMaxArgs, c->in[0], TW_A_FLOAT("min", tw__flat_float(&c->options, 0, 0)),
                                    TW_A_FLOAT("max", tw__flat_float(&c->options, 1, 0)),
                                    TW_A_INT("num_bits", tw__flat_int(&c->options, 2, 4, 0)),
                                    TW_A_BOOL("narrow_range", tw__flat_int(&c->options, 3, 1, 0) != 0)));
}
