/* Rows of a table for the ids of sparse rows, combined: what embedding columns give. */
#include "keras/features/features.h"

tw_tensor *tw__embed(tw__temps *t, tw_tensor *table, const tw__feature_ids *ids, const char *combiner, double max_norm, bool safe)
{
    tw_value params = TW_LEAF(table);
    if (!combiner)
        combiner = "mean";
    return tw__temp(t, safe ? tw_nn_safe_embedding_lookup_sparse(params, ids->ids, .sparse_weights = ids->weights,
                                                                 .combiner = combiner, .max_norm = max_norm)
                            : tw_nn_embedding_lookup_sparse(params, ids->ids, .sp_weights = ids->weights, .combiner = combiner,
                                                            .max_norm = max_norm));
}
