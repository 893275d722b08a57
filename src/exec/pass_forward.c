/* Identity and its kin: the planner leaves the call out, and its value is the input's. */
#include "exec/internal.h"

bool tw__pass_forward(tw__draft *draft, const tw__node *node, const int32_t *inputs)
{
    for (int k = 0; node->op->forwards && k < node->output_count; k++)
        draft->stands_for[tw__draft_place(draft, node, k)] = inputs[k];
    return node->op->forwards;
}
