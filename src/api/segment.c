/* tf.math.unsorted_segment_max, -min and -prod; segment_max, -min, -prod and -mean. */
#include "api/api.h"
#include "rows.h"

TW_API(math_unsorted_segment_max,
       "math.unsorted_segment_max(data: tensor, segment_ids: tensor<int32>, num_segments: tensor<int32>, name: str = None) -> "
       "tensor",
       "The greatest of the rows of each segment, element by element.")
{
    return tw__call(&tw__op_UnsortedSegmentMax, TW_IN(args->data, args->segment_ids, args->num_segments), 3, NULL, 0);
}

TW_API(math_unsorted_segment_min,
       "math.unsorted_segment_min(data: tensor, segment_ids: tensor<int32>, num_segments: tensor<int32>, name: str = None) -> "
       "tensor",
       "The least of the rows of each segment, element by element.")
{
    return tw__call(&tw__op_UnsortedSegmentMin, TW_IN(args->data, args->segment_ids, args->num_segments), 3, NULL, 0);
}

TW_API(math_unsorted_segment_prod,
       "math.unsorted_segment_prod(data: tensor, segment_ids: tensor<int32>, num_segments: tensor<int32>, name: str = None) -> "
       "tensor",
       "The products of the rows of each segment.")
{
    return tw__call(&tw__op_UnsortedSegmentProd, TW_IN(args->data, args->segment_ids, args->num_segments), 3, NULL, 0);
}

TW_API(math_segment_max,
       "math.segment_max|compat.v1.segment_max(data: tensor, segment_ids: tensor<int32>, name: str = None) -> tensor",
       "The greatest of the rows of each segment; the ids do not decrease.")
{
    return TW_BINARY(SegmentMax, args->data, args->segment_ids);
}

TW_API(math_segment_min,
       "math.segment_min|compat.v1.segment_min(data: tensor, segment_ids: tensor<int32>, name: str = None) -> tensor",
       "The least of the rows of each segment; the ids do not decrease.")
{
    return TW_BINARY(SegmentMin, args->data, args->segment_ids);
}

TW_API(math_segment_prod,
       "math.segment_prod|compat.v1.segment_prod(data: tensor, segment_ids: tensor<int32>, name: str = None) -> tensor",
       "Products of the rows of each segment; the ids do not decrease.")
{
    return TW_BINARY(SegmentProd, args->data, args->segment_ids);
}

TW_API(math_segment_mean,
       "math.segment_mean|compat.v1.segment_mean(data: tensor, segment_ids: tensor<int32>, name: str = None) -> tensor",
       "Means of the rows of each segment; the ids do not decrease.")
{
    return TW_BINARY(SegmentMean, args->data, args->segment_ids);
}
