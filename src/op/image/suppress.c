/* Which boxes stay: see suppress.h. Candidates stand in a heap by score, equal ones by number. With sigma a candidate's score
 * falls by each chosen box that it overlaps with; it goes back into the heap if it did, and remembers which chosen boxes it has
 * met. */
#include "op/image/suppress.h"

#include <math.h>

typedef struct candidate {
    int64_t box;
    float score;
    int64_t met; /* chosen boxes that it was compared with */
} candidate;

static bool before(const candidate *a, const candidate *b)
{
    return a->score > b->score || (a->score == b->score && a->box < b->box);
}

static void sift_down(candidate *heap, int64_t count, int64_t at)
{
    for (;;) {
        int64_t best = at, left = 2 * at + 1;
        if (left < count && before(&heap[left], &heap[best]))
            best = left;
        if (left + 1 < count && before(&heap[left + 1], &heap[best]))
            best = left + 1;
        if (best == at)
            return;
        candidate moved = heap[at];
        heap[at] = heap[best];
        heap[best] = moved;
        at = best;
    }
}

static void sift_up(candidate *heap, int64_t at)
{
    for (; at > 0 && before(&heap[at], &heap[(at - 1) / 2]); at = (at - 1) / 2) {
        candidate moved = heap[at];
        heap[at] = heap[(at - 1) / 2];
        heap[(at - 1) / 2] = moved;
    }
}

/* Intersection over union; 0 for boxes without area. */
static float overlap(const tw__suppression *job, int64_t i, int64_t k)
{
    if (job->overlaps)
        return job->overlaps[i * job->count + k];
    const float *a = job->boxes + i * job->box_step, *b = job->boxes + k * job->box_step;
    float a_low[2], a_high[2], b_low[2], b_high[2], a_area = 1, b_area = 1, common = 1;
    for (int d = 0; d < 2; d++) {
        a_low[d] = fminf(a[d], a[d + 2]), a_high[d] = fmaxf(a[d], a[d + 2]);
        b_low[d] = fminf(b[d], b[d + 2]), b_high[d] = fmaxf(b[d], b[d + 2]);
        a_area *= a_high[d] - a_low[d];
        b_area *= b_high[d] - b_low[d];
        common *= fmaxf(fminf(a_high[d], b_high[d]) - fmaxf(a_low[d], b_low[d]), 0);
    }
    return a_area <= 0 || b_area <= 0 ? 0 : common / (a_area + b_area - common);
}

/* Lowers the score by what is chosen already; false: the candidate overlaps too much. */
static bool compare(const tw__suppression *job, candidate *next, const int64_t *chosen, int64_t count)
{
    for (int64_t k = count - 1; k >= next->met; k--) {
        float common = overlap(job, next->box, chosen[k]);
        if (job->sigma > 0)
            next->score *= expf(-0.5f / job->sigma * common * common);
        if (job->sigma <= 0 && common > job->threshold)
            return false;
        if (next->score <= job->score_threshold)
            break;
    }
    next->met = count;
    return true;
}

int64_t tw__suppress(const tw__suppression *job, int64_t *chosen, float *scores)
{
    tw__owned candidate *heap = tw__alloc_array((size_t)job->count + 1, sizeof *heap);
    int64_t waiting = 0, count = 0;
    if (!heap)
        return -1;
    for (int64_t i = 0; i < job->count; i++) {
        float score = job->scores[i * job->score_step];
        if (score > job->score_threshold)
            heap[waiting++] = (candidate){ i, score, 0 };
    }
    for (int64_t i = waiting / 2; i-- > 0;)
        sift_down(heap, waiting, i);
    while (count < job->limit && waiting) {
        candidate next = heap[0];
        float score = next.score;
        heap[0] = heap[--waiting];
        sift_down(heap, waiting, 0);
        if (!compare(job, &next, chosen, count))
            continue;
        if (next.score == score) {
            chosen[count] = next.box;
            scores[count++] = score;
        } else if (next.score > job->score_threshold) {
            heap[waiting] = next;
            sift_up(heap, waiting++);
        }
    }
    return count;
}
