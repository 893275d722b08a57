/* Rows in falling order: where their first elements stand. Of equals the one that stands first comes first; what is not a number
 * comes last. */
#ifndef TW_ORDER_H
#define TW_ORDER_H

#include "tensor/tensor.h"

/* For numbers of up to 32 bits. */
bool tw__order_has(tw_dtype dtype, int64_t columns);
/* places [rows, keep] = where the `keep` first elements of each row of [rows, columns] stand. */
tw_status tw__order_rows(tw_dtype dtype, const void *data, int64_t rows, int64_t columns, int64_t keep, uint32_t *places);

#endif
