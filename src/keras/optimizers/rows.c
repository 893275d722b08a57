/* Steps by gradients of which only some rows are there (an embedding's): Keras's ops on IndexedSlices, in its order, eagerly and
 * traced alike. Rows that come twice were summed before. */
#include "keras/optimizers/step.h"
#include "op/calls.h"
#include "op/slices.h"

/* Takes the rows. */
static tw_status scatter_add(tw_variable *variable, tw_tensor *indices, tw_tensor *rows)
{
    tw_auto tw_tensor *own = rows;
    tw_attr dtype = TW_A_TYPE("dtype", variable->resource->dtype);
    int outputs = 0;
    return own ? tw__apply(&tw__op_ResourceScatterAdd, TW_IN(variable->handle, indices, own), 3, &dtype, 1, NULL, &outputs)
               : tw__error_status();
}

tw_tensor *tw__slices_summed(const struct tw_indexed_slices *slices, tw_tensor *values)
{
    tw_tensor *unique[2] = { NULL, NULL };
    int count = 2;
    if (tw__apply(&tw__op_Unique, TW_IN(slices->indices), 1, NULL, 0, unique, &count) != TW_OK)
        return NULL;
    tw_auto tw_tensor *indices = unique[0], *places = unique[1], *size = TW_CALL(Size, indices);
    tw_auto tw_tensor *sums = TW_CALL(UnsortedSegmentSum, values, places, size);
    return sums ? tw__slices_make(sums, indices, slices->dense_shape) : NULL;
}

tw_status tw__sgd_rows(tw_optimizer *optimizer, tw_variable *const slots[1], tw_variable *variable, tw_tensor *indices,
                       tw_tensor *gradient, double momentum, bool nesterov)
{
    tw_variable *m = slots[0];
    tw_auto tw_tensor *change = TW_G2(Mul, TW_CALL(Neg, gradient), RATE);
    if (!change)
        return tw__error_status();
    ASSIGN(m, TW_G2(Mul, V(m), N(momentum)));
    TW_TRY(scatter_add(m, indices, tw_retain(change)));
    if (!nesterov) {
        ADD(variable, V(m));
        return TW_OK;
    }
    TW_TRY(scatter_add(variable, indices, tw_retain(change)));
    ADD(variable, TW_G2(Mul, V(m), N(momentum)));
    return TW_OK;
}

tw_status tw__adam_rows(tw_optimizer *optimizer, tw_variable *const slots[3], tw_variable *variable, tw_tensor *indices,
                        tw_tensor *gradient, double beta_1, double beta_2, double epsilon)
{
    tw_variable *m = slots[0], *v = slots[1];
    tw_auto tw_tensor *time = tw__step_time(optimizer, gradient->dtype, 1);
    if (!time)
        return tw__error_status();
    tw_tensor *rest_1 = TW_G2(Sub, N(1), TW_G2(Pow, N(beta_1), tw_retain(time)));
    tw_tensor *rest_2 = TW_G2(Sub, N(1), TW_G2(Pow, N(beta_2), tw_retain(time)));
    tw_auto tw_tensor *alpha = TW_G2(RealDiv, TW_G2(Mul, RATE, TW_G1(Sqrt, rest_2)), rest_1);
    if (!alpha)
        return tw__error_status();
    ADD(m, TW_G2(Mul, TW_G1(Neg, V(m)), N(1 - beta_1)));
    TW_TRY(scatter_add(m, indices, TW_G2(Mul, G, N(1 - beta_1))));
    ADD(v, TW_G2(Mul, TW_G1(Neg, V(v)), N(1 - beta_2)));
    TW_TRY(scatter_add(v, indices, TW_G2(Mul, TW_CALL(Square, gradient), N(1 - beta_2))));
    if (slots[2]) {
        ASSIGN(slots[2], TW_G2(Maximum, V(slots[2]), V(v)));
        v = slots[2];
    }
    SUBTRACT(variable, TW_G2(RealDiv, TW_G2(Mul, V(m), tw_retain(alpha)), TW_G2(AddV2, TW_G1(Sqrt, V(v)), N(epsilon))));
    return TW_OK;
}
