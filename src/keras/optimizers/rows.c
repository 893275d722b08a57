/* Steps by gradients of which only some rows are there (an embedding's): Keras's ops on IndexedSlices, in its order, eagerly and
 * traced alike. Rows that come twice were summed before. */
#include "keras/optimizers/step.h"
#include "op/calls.h"
#include "op/slices.h"

static tw_status scatter_add(tw_variable *variable, tw_tensor *indices, tw_tensor *rows)
{
    tw_attr dtype = TW_A_TYPE("dtype", variable->resource->dtype);
    int outputs = 0;
    TW_NEED(rows);
    return tw__apply(&tw__op_ResourceScatterAdd, TW_IN(variable->handle, indices, rows), 3, &dtype, 1, NULL, &outputs);
}

tw_tensor *tw__slices_summed(const struct tw_indexed_slices *slices, tw_tensor *values)
{
    TW_TEMPS(t);
    tw_tensor *unique[2];
    if (TW_TEMP_ALL(unique, Unique, slices->indices) != TW_OK)
        return NULL;
    tw_tensor *sums = TW_TEMP(UnsortedSegmentSum, values, unique[1], TW_TEMP(Size, unique[0]));
    return sums ? tw__slices_make(sums, unique[0], slices->dense_shape) : NULL;
}

tw_status tw__sgd_rows(tw_optimizer *optimizer, tw_variable *const slots[1], tw_variable *variable, tw_tensor *indices,
                       tw_tensor *gradient, double momentum, bool nesterov)
{
    TW_TEMPS(t);
    tw_variable *m = slots[0];
    tw_tensor *change = TW_TEMP(Mul, TW_TEMP(Neg, gradient), RATE);
    TW_NEED(change);
    ASSIGN(m, Mul, V(m), momentum);
    TW_TRY(scatter_add(m, indices, change));
    if (!nesterov)
        return tw__traced_assign(&tw__op_AssignAddVariableOp, variable, V(m));
    TW_TRY(scatter_add(variable, indices, change));
    ADD(variable, Mul, V(m), momentum);
    return TW_OK;
}

tw_status tw__adam_rows(tw_optimizer *optimizer, tw_variable *const slots[3], tw_variable *variable, tw_tensor *indices,
                        tw_tensor *gradient, double beta_1, double beta_2, double epsilon)
{
    TW_TEMPS(t);
    tw_variable *m = slots[0], *v = slots[1];
    tw_tensor *alpha = tw__adam_alpha(t, tw__step_time(t, optimizer, gradient->dtype, 1), RATE, beta_1, beta_2);
    TW_NEED(alpha);
    ADD(m, Mul, TW_TEMP(Neg, V(m)), 1 - beta_1);
    TW_TRY(scatter_add(m, indices, TW_TEMP(Mul, gradient, 1 - beta_1)));
    ADD(v, Mul, TW_TEMP(Neg, V(v)), 1 - beta_2);
    TW_TRY(scatter_add(v, indices, TW_TEMP(Mul, TW_TEMP(Square, gradient), 1 - beta_2)));
    if (slots[2]) {
        ASSIGN(slots[2], Maximum, V(slots[2]), V(v));
        v = slots[2];
    }
    SUBTRACT(variable, RealDiv, TW_TEMP(Mul, V(m), alpha), TW_TEMP(AddV2, TW_TEMP(Sqrt, V(v)), epsilon));
    return TW_OK;
}
