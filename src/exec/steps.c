/* What passes do to the steps of a plan, and what they ask of it; see internal.h. */
#include "exec/internal.h"

void tw__step_end(tw__step *step)
{
    if (step->free_data)
        step->free_data(step->data);
    tw__free(step->inputs);
    tw__free(step->outputs);
    tw__free(step->dropped);
    tw__free(step->dying);
    tw__free(step->out_dtypes);
}

const char *tw__step_name(const tw__step *step)
{
    return step->name ? step->name : step->node->name;
}

void tw__step_remove(tw__step *step)
{
    step->gone = true;
}

static tw_status set_places(int32_t **list, int32_t *list_count, const int32_t *places, int count)
{
    int32_t *copy = tw__alloc_array((size_t)count + 1, sizeof *copy);
    TW_NEED(copy);
    memcpy(copy, places, (size_t)count * sizeof *copy);
    tw__free(*list);
    *list = copy;
    *list_count = count;
    return TW_OK;
}

tw_status tw__step_set_inputs(tw__step *step, const int32_t *places, int count)
{
    return set_places(&step->inputs, &step->input_count, places, count);
}

tw_status tw__step_set_outputs(tw__step *step, const int32_t *places, int count)
{
    return set_places(&step->outputs, &step->output_count, places, count);
}

void tw__step_set_run(tw__step *step, tw__step_run run, void *data, void (*free_data)(void *), const char *label)
{
    if (step->free_data)
        step->free_data(step->data);
    step->run = run;
    step->data = data;
    step->free_data = free_data;
    step->label = label;
}

int32_t tw__plan_add_place(tw__plan *plan, tw_dtype dtype, const tw_shape *shape)
{
    if (plan->place_count >= INT32_MAX / 2 || TW_GROW(plan->places, plan->place_capacity, (size_t)plan->place_count + 1) != TW_OK)
        return -1;
    plan->places[plan->place_count] = (tw__place){ .dtype = dtype, .shape = *shape };
    return plan->place_count++;
}

int64_t tw__place_count(const tw__plan *plan, int32_t place)
{
    const tw_shape *shape = &plan->places[place].shape;
    int64_t count = 1;
    if (shape->rank < 0)
        return -1;
    for (int i = 0; i < shape->rank; i++) {
        if (shape->dims[i] < 0 || __builtin_mul_overflow(count, shape->dims[i], &count))
            return -1;
    }
    return count;
}

tw_status tw__uses_find(const tw__plan *plan, tw__uses *uses)
{
    uses->maker = tw__alloc_array((size_t)plan->place_count + 1, sizeof *uses->maker);
    uses->reads = tw__alloc_array((size_t)plan->place_count + 1, sizeof *uses->reads);
    if (!uses->maker || !uses->reads) {
        tw__uses_free(uses);
        return TW_RESOURCE_EXHAUSTED;
    }
    for (int32_t p = 0; p < plan->place_count; p++)
        uses->maker[p] = -1;
    for (int s = 0; s < plan->step_count; s++) {
        const tw__step *step = &plan->steps[s];
        for (int k = 0; !step->gone && k < step->output_count; k++)
            uses->maker[step->outputs[k]] = s;
        for (int k = 0; !step->gone && k < step->input_count; k++)
            uses->reads[step->inputs[k]]++;
    }
    for (int k = 0; k < plan->output_count; k++)
        uses->reads[plan->outputs[k]]++;
    return TW_OK;
}

void tw__uses_free(tw__uses *uses)
{
    tw__free(uses->maker);
    tw__free(uses->reads);
    *uses = (tw__uses){ 0 };
}

/* Takes out what passes took away, and what nobody asks for any more. */
tw_status tw__plan_sweep(tw__plan *plan)
{
    tw__owned bool *used = tw__alloc_array((size_t)plan->place_count + 1, sizeof *used);
    TW_NEED(used);
    for (int i = 0; i < plan->output_count; i++)
        used[plan->outputs[i]] = true;
    for (int s = plan->step_count; s-- > 0;) {
        tw__step *step = &plan->steps[s];
        bool keep = step->effects;
        for (int k = 0; k < step->output_count; k++)
            keep |= used[step->outputs[k]];
        step->gone |= !keep;
        for (int k = 0; !step->gone && k < step->input_count; k++)
            used[step->inputs[k]] = true;
    }
    int kept = 0;
    for (int s = 0; s < plan->step_count; s++) {
        if (plan->steps[s].gone)
            tw__step_end(&plan->steps[s]);
        else
            plan->steps[kept++] = plan->steps[s];
    }
    plan->step_count = kept;
    plan->constant_count = 0;
    for (int32_t p = 0; p < plan->place_count; p++)
        plan->constant_count += plan->places[p].constant && used[p];
    int32_t *places = tw__realloc(plan->constant_places, ((size_t)plan->constant_count + 1) * sizeof *places);
    if (places) {
        plan->constant_places = places;
        int count = 0;
        for (int32_t p = 0; p < plan->place_count; p++) {
            if (plan->places[p].constant && used[p])
                places[count++] = p;
        }
    }
    return places ? TW_OK : TW_RESOURCE_EXHAUSTED;
}
