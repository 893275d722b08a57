/* Loops and branches in a graph: tw_while with a TensorArray, tw_cond, tw_switch_case, tw_map, tw_scan; and a gradient through a
 * loop. The same as examples/python/control_flow.py. */
#include <stdio.h>

#include <thalweg.h>

/* ---- the numbers from a start down to 1 ---- */

TW_BODY(halved)
{
    return tw_give(tw_math_floordiv(user, TW_I(2)));
}

TW_BODY(tripled)
{
    return tw_give(tw_add(tw_multiply(user, TW_I(3)), TW_I(1)));
}

TW_BODY(above_one)
{
    return tw_give(tw_greater(in.items[1], TW_I(1)));
}

TW_BODY(collatz_step)
{
    tw_tensor *i = in.items[0], *n = in.items[1];
    tw_tensor_array *array = tw_tensor_array_write(tw_tensor_array_from_loop(user, in.items[2]), i, n);
    tw_tensors next = tw_cond(tw_equal(tw_math_floormod(n, TW_I(2)), TW_I(0)), halved, tripled, n);
    return next.count ? tw_give(tw_add(i, TW_I(1)), next.items[0], tw_tensor_array_to_loop(array)) : TW_GIVE_FAILURE;
}

TW_BODY(collatz)
{
    tw_tensor_array *numbers = tw_tensor_array(TW_INT32, .size = TW_I(0), .dynamic_size = true);
    tw_tensors end =
        tw_while(above_one, collatz_step, numbers, TW_TENSORS(TW_I(0), in.items[0], tw_tensor_array_to_loop(numbers)));
    if (end.count < 3)
        return TW_GIVE_FAILURE;
    tw_tensor_array *written =
        tw_tensor_array_write(tw_tensor_array_from_loop(numbers, end.items[2]), end.items[0], end.items[1]);
    return tw_give(tw_tensor_array_stack(written));
}

/* ---- x multiplied with itself ---- */

TW_BODY(before_last)
{
    return tw_give(tw_less(in.items[0], ((tw_tensors *)user)->items[1]));
}

TW_BODY(times_x)
{
    return tw_give(tw_add(in.items[0], TW_I(1)), tw_multiply(in.items[1], ((tw_tensors *)user)->items[0]));
}

TW_BODY(power)
{
    tw_tensors end = tw_while(before_last, times_x, &in, TW_TENSORS(TW_I(0), tw_ones_like(in.items[0])));
    return end.count == 2 ? tw_give(end.items[1]) : TW_GIVE_FAILURE;
}

/* ---- one of three ---- */

TW_BODY(dark)
{
    return tw_give(TW_S("dark"));
}

TW_BODY(grey)
{
    return tw_give(TW_S("grey"));
}

TW_BODY(light)
{
    return tw_give(TW_S("light"));
}

TW_BODY(shade)
{
    return tw_switch_case(in.items[0], (const tw_body[]){ dark, grey, light }, 3, NULL);
}

/* ---- loops over rows ---- */

TW_BODY(norm)
{
    return tw_give(tw_sqrt(tw_reduce_sum(tw_multiply(in.items[0], in.items[0]))));
}

TW_BODY(sum)
{
    return tw_give(tw_add(in.items[0], tw_reduce_sum(in.items[1])));
}

int main(void)
{
    tw_scoped();
    tw_function *falling = tw_function_new(collatz, NULL), *grow = tw_function_new(power, NULL),
                *name = tw_function_new(shade, NULL);
    printf("from 6: %s\n", tw_made_text(tw_tensor_values_text(tw_function_value(falling, TW_TENSORS(TW_I(6))))));
    printf("steps from 27: %d\n", (int)tw_tensor_count(tw_function_value(falling, TW_TENSORS(TW_I(27)))) - 1);
    tw_tensor *x = TW_F(3);
    tw_tape *tape = tw_tape_start();
    tw_tape_watch(tape, TW_OBJECTS(x));
    tw_tensor *cube = tw_function_value(grow, TW_TENSORS(x, TW_I(3)));
    tw_tensors slope = tw_tape_gradient(tape, TW_OBJECTS(cube), TW_OBJECTS(x));
    printf("cube %.1f, its slope %.1f\n", tw_tensor_double_at(cube, 0), tw_tensor_double_at(slope.items[0], 0));
    for (int i = 0; i < 3; i++)
        printf("%d is %s\n", i, tw_tensor_string_at(tw_function_value(name, TW_TENSORS(TW_I(i))), 0).data);
    tw_tensor *rows = tw_reshape(tw_range(TW_F(0), TW_F(6)), TW_IS(3, 2));
    tw_tensors norms = tw_map(norm, NULL, TW_TENSORS(rows));
    printf("norms: %s\n", tw_made_text(tw_tensor_values_text(norms.items[0])));
    tw_tensors sums = tw_scan(sum, NULL, TW_TENSORS(rows), .initial = TW_TENSORS(TW_F(0)));
    printf("running sums: %s\n", tw_made_text(tw_tensor_values_text(sums.items[0])));
    return tw_report(stderr);
}
