"""Op cases of the choice of boxes: writes tests/golden/op_cases/boxes.json. See op_cases.py."""
import numpy as np

from op_cases import Cases

c = Cases("boxes")
rng = np.random.RandomState(3)
f32 = np.float32
BOXES = np.array([[0, 0, 1, 1], [0, 0.1, 1, 1.1], [0, -0.1, 1, 0.9], [0, 10, 1, 11], [0, 10.1, 1, 11.1], [0, 100, 1, 101], [1, 1.1, 0, 0.1]], f32)
SCORES = np.array([0.9, 0.75, 0.6, 0.95, 0.5, 0.3, 0.75], f32)
MANY = rng.uniform(0, 1, (60, 4)).astype(f32)
MANY_SCORES = np.round(rng.uniform(0, 1, 60), 2).astype(f32)


def size(n):
    return np.int32(n)


for boxes, scores in ((BOXES, SCORES), (MANY, MANY_SCORES), (BOXES[:0], SCORES[:0]), (BOXES, np.full(7, 0.5, f32))):
    for limit in (3, 30, 0):
        given = dict(boxes=boxes, scores=scores, max_output_size=size(limit))
        c.add("NonMaxSuppression", iou_threshold=0.5, **given)
        c.add("NonMaxSuppressionV2", iou_threshold=f32(0.3), **given)
        c.add("NonMaxSuppressionV3", iou_threshold=f32(0.5), score_threshold=f32(0.4), **given)
        for pad in (False, True):
            c.add("NonMaxSuppressionV4", iou_threshold=f32(0.1), score_threshold=f32(0.55), pad_to_max_output_size=pad, **given)
            c.add("NonMaxSuppressionV5", iou_threshold=f32(0.6), score_threshold=f32(0.2), soft_nms_sigma=f32(0.5), pad_to_max_output_size=pad, **given)
        c.add("NonMaxSuppressionV5", iou_threshold=f32(0.5), score_threshold=f32(0.0), soft_nms_sigma=f32(0.0), **given)
half = np.float16
c.add("NonMaxSuppressionV3", boxes=BOXES.astype(half), scores=SCORES.astype(half), max_output_size=size(4), iou_threshold=half(0.5), score_threshold=half(0))
overlaps = np.array([[1, 0.6, 0.2], [0.6, 1, 0.4], [0.2, 0.4, 1]], f32)
for threshold in (0.5, 0.3, 0.1):
    c.add("NonMaxSuppressionWithOverlaps", overlaps=overlaps, scores=np.array([0.5, 0.9, 0.8], f32), max_output_size=size(3), overlap_threshold=f32(threshold), score_threshold=f32(0))
BAD = "InvalidArgumentError"
c.error("NonMaxSuppressionV3", BAD, "iou_threshold must be in [0, 1]", boxes=BOXES, scores=SCORES, max_output_size=size(3), iou_threshold=f32(1.5), score_threshold=f32(0))
c.error("NonMaxSuppressionV2", BAD, "scores has incompatible shape", boxes=BOXES, scores=SCORES[:2], max_output_size=size(3), iou_threshold=f32(0.5))
c.error("NonMaxSuppressionV2", BAD, "boxes must have 4 columns", boxes=BOXES[:, :3], scores=SCORES, max_output_size=size(3), iou_threshold=f32(0.5))
c.error("NonMaxSuppressionV3", BAD, "must be non-negative", boxes=BOXES, scores=SCORES, max_output_size=size(-1), iou_threshold=f32(0.5), score_threshold=f32(0))
for groups in (1, 3):
    boxes = rng.uniform(-0.2, 1.2, (2, 12, groups, 4)).astype(f32)
    scores = rng.permutation(72).reshape(2, 12, 3).astype(f32) / 72
    for pad in (False, True):
        for clip in (False, True):
            c.add("CombinedNonMaxSuppression", boxes=boxes, scores=scores, max_output_size_per_class=size(3), max_total_size=size(11), iou_threshold=f32(0.2),
                  score_threshold=f32(0.3), pad_per_class=pad, clip_boxes=clip)
c.add("CombinedNonMaxSuppression", boxes=boxes, scores=scores, max_output_size_per_class=size(3), max_total_size=size(4), iou_threshold=f32(0.9), score_threshold=f32(0.3))
c.write()
