/* Plans as text, for people: one line per step, one per value that the frame keeps.
 *
 *     plan of step: 3 steps, 1 constant, 2 values in a block of 2048 bytes
 *     arguments: %0 float32 [16,16], %1 float32 [16,16]
 *       0  Tanh            Tanh        %2 = %0
 *       1  MatMul          MatMul      %3 = %2 %1
 *       2  Neg Mul         Mul         %4 = %3
 *     outputs: %4 float32 [16,16]
 *     values:
 *       %2 float32 [16,16]  1024 bytes at 0, steps 0 to 1
 *       %3 float32 [16,16]  1024 bytes at 1024, steps 1 to 2
 *       %4 float32 [16,16]  1024 bytes, made in every run
 *
 * A dynamic step infers shapes, or makes its outputs itself, in every run. */
#include "exec/internal.h"

/* Places in the order in which they are first seen; the numbers that stand behind %. */
typedef struct numbers {
    int32_t *of_place, *maker;
    int count;
} numbers;

static int number_of(numbers *n, int32_t place)
{
    if (n->of_place[place] < 0)
        n->of_place[place] = n->count++;
    return n->of_place[place];
}

static void print_type(tw__text *text, const tw__place *place)
{
    tw__text_format(text, "%s %s", tw_dtype_name(place->dtype), tw__shape_text(&place->shape));
}

static void print_constant(tw__text *text, const tw_tensor *value)
{
    if (value->count == 1 && (tw__dtype_is_float(value->dtype) || tw__dtype_is_integer(value->dtype)))
        tw__text_format(text, " %g", tw_tensor_double_at(value, 0));
    else
        tw__text_format(text, " <%s %s>", tw_dtype_name(value->dtype), tw__shape_text(&value->shape));
}

static void print_list(const tw__plan *plan, numbers *n, tw__text *text, const char *title, const int32_t *places, int count)
{
    tw__text_add(text, title);
    for (int i = 0; i < count; i++) {
        tw__text_format(text, "%s%%%d ", i ? ", " : " ", number_of(n, places[i]));
        print_type(text, &plan->places[places[i]]);
    }
    tw__text_add(text, count ? "\n" : " none\n");
}

static void print_step(const tw__plan *plan, numbers *n, tw__text *text, int s)
{
    const tw__step *step = &plan->steps[s];
    tw__text_format(text, "%4d  %-28s %-36s", s, step->label ? step->label : step->op->name, tw__step_name(step));
    for (int k = 0; k < step->output_count; k++)
        tw__text_format(text, " %%%d", number_of(n, step->outputs[k]));
    tw__text_add(text, step->output_count ? " =" : "");
    for (int k = 0; k < step->input_count; k++) {
        const tw__place *place = &plan->places[step->inputs[k]];
        if (place->constant)
            print_constant(text, place->constant);
        else
            tw__text_format(text, " %%%d", number_of(n, step->inputs[k]));
    }
    if (step->lanes)
        tw__text_format(text, "  (beside the next%s)", step->lanes > 2 ? " ones" : "");
    if (!step->known && !step->run)
        tw__text_add(text, "  (dynamic)");
    tw__text_add(text, "\n");
}

static void print_value(const tw__plan *plan, numbers *n, tw__text *text, int32_t p)
{
    const tw__place *place = &plan->places[p], *root = &plan->places[place->root];
    tw__text_format(text, "  %%%d ", n->of_place[p]);
    print_type(text, place);
    if (place->bytes >= 0)
        tw__text_format(text, "  %lld bytes", (long long)place->bytes);
    if (place->where == TW_IN_ARENA)
        tw__text_format(text, " at %lld", (long long)place->offset);
    else if (place->where == TW_IN_HEADER)
        tw__text_add(text, " in the tensor");
    else
        tw__text_add(text, ", made in every run");
    if (place->root != p)
        tw__text_format(text, ", shows %%%d", number_of(n, place->root));
    if (place->taken_from >= 0)
        tw__text_format(text, ", over %%%d", number_of(n, place->taken_from));
    if (n->maker[place->root] >= 0 && root->last >= 0)
        tw__text_format(text, ", steps %d to %d", n->maker[place->root], root->last);
    tw__text_add(text, "\n");
}

static void print(const tw__plan *plan, const char *name, numbers *n, tw__text *text)
{
    int kept = 0;
    for (int32_t p = 0; p < plan->place_count; p++) {
        n->of_place[p] = n->maker[p] = -1;
        kept += plan->places[p].where == TW_IN_ARENA;
    }
    tw__text_format(text, "plan of %s: %d steps, %d constants, %d values in a block of %lld bytes\n", name, plan->step_count,
                    plan->constant_count, kept, (long long)plan->arena_bytes);
    print_list(plan, n, text, "arguments:", plan->arguments, plan->argument_count);
    for (int s = 0; s < plan->step_count; s++) {
        for (int k = 0; k < plan->steps[s].output_count; k++)
            n->maker[plan->steps[s].outputs[k]] = s;
        print_step(plan, n, text, s);
    }
    print_list(plan, n, text, "outputs:", plan->outputs, plan->output_count);
    tw__text_add(text, "values:\n");
    int seen = n->count;
    for (int i = 0; i < seen; i++) {
        for (int32_t p = 0; p < plan->place_count; p++) {
            if (n->of_place[p] == i && plan->places[p].where != TW_IN_ARGUMENT)
                print_value(plan, n, text, p);
        }
    }
}

tw_status tw__plan_print(tw__plan *plan, const char *name, tw_tensor *const *values, tw__text *text)
{
    bool own = false;
    tw__plan *shown = values ? tw__specials_plan(plan, values, &own) : plan;
    TW_NEED(shown);
    size_t room = (size_t)shown->place_count + 1;
    numbers n = { tw__alloc_array(room, sizeof *n.of_place), tw__alloc_array(room, sizeof *n.maker), 0 };
    if (n.of_place && n.maker)
        print(shown, name, &n, text);
    bool good = n.of_place && n.maker && !text->failed;
    tw__free(n.of_place);
    tw__free(n.maker);
    if (own)
        tw__plan_free(shown);
    return good ? TW_OK : tw__error_status();
}
