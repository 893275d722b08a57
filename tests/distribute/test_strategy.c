/* Strategies from C: replicas, their copies of variables, sums, and errors. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>
#include <thalweg/thalweg.h>

#include "distribute/distribute.h"
#include "rows.h"

static tw_strategy *two_replicas(void)
{
    tw_auto tw_tensor *a = tw_tensor_string("CPU:0", 5), *b = tw_tensor_string("CPU:1", 5);
    tw_auto tw_tensor *names = tw_stack(TW_TENSORS(a, b));
    return (tw_strategy *)tw_mirrored_strategy(.devices = names);
}

typedef struct state {
    tw_variable *variable;
    float seen[2], sums[2];
    bool fail, uneven;
} state;

static tw_status step(int replica, void *context)
{
    state *s = context;
    assert_int_equal(tw_replica_id(), replica);
    if (s->fail && replica == 1)
        return tw__fail(TW_INVALID_ARGUMENT, "replica %d does not want to", replica);
    tw_auto tw_tensor *number = tw_tensor_float((float)replica + 1);
    tw_auto tw_variable *same = tw_variable_assign_add(s->variable, number); /* the replica's own copy */
    tw_auto tw_tensor *value = tw_variable_read(s->variable);
    if (!value)
        return tw_error_code();
    s->seen[replica] = (float)tw_tensor_double_at(value, 0);
    if (s->uneven && replica == 0)
        return TW_OK;
    tw_tensor *sum = NULL;
    tw_status status = tw_replica_all_reduce(false, &value, 1, &sum);
    if (status == TW_OK)
        s->sums[replica] = (float)tw_tensor_double_at(sum, 0);
    tw_release(sum);
    return status;
}

static tw_variable *scoped_variable(tw_strategy *strategy)
{
    tw_auto tw_tensor *ten = tw_tensor_float(10);
    assert_int_equal(tw_strategy_enter(strategy), TW_OK);
    tw_variable *variable = tw_variable(ten, .name = "v");
    assert_int_equal(tw_strategy_exit(strategy), TW_OK);
    return variable;
}

static void replicas_have_copies(void **unused)
{
    (void)unused;
    tw_auto tw_strategy *strategy = two_replicas();
    assert_non_null(strategy);
    assert_int_equal(tw_strategy_num_replicas_in_sync(strategy), 2);
    tw_auto tw_variable *variable = scoped_variable(strategy);
    state s = { .variable = variable };
    assert_int_equal(tw_strategy_run(strategy, step, &s), TW_OK);
    assert_true(s.seen[0] == 11 && s.seen[1] == 12 && s.sums[0] == 23 && s.sums[1] == 23);
    assert_int_equal(tw_replica_id(), -1);
    tw_auto tw_tensor *first = tw_variable_read(variable);
    assert_true(tw_tensor_double_at(first, 0) == 11);
    tw_auto tw_tensor *three = tw_tensor_float(3);
    tw_auto tw_variable *same = tw_variable_assign(variable, three); /* all copies */
    assert_int_equal(tw_strategy_run(strategy, step, &s), TW_OK);
    assert_true(s.seen[0] == 4 && s.seen[1] == 5);
}

static void errors_end_the_run(void **unused)
{
    (void)unused;
    tw_auto tw_strategy *strategy = two_replicas();
    tw_auto tw_variable *variable = scoped_variable(strategy);
    state s = { .variable = variable, .fail = true };
    assert_int_equal(tw_strategy_run(strategy, step, &s), TW_INVALID_ARGUMENT);
    assert_string_equal(tw_error_message(), "replica 1 does not want to");
    tw_clear_error();
    s = (state){ .variable = variable, .uneven = true };
    assert_int_equal(tw_strategy_run(strategy, step, &s), TW_RUNTIME_ERROR);
    assert_non_null(strstr(tw_error_message(), "different number of replica_context().merge_call() calls"));
    tw_clear_error();
    assert_int_equal(tw_replica_merge(NULL, NULL, NULL), TW_RUNTIME_ERROR);
    tw_clear_error();
}

/* A whole step of training, traced once: gradients are summed over the replicas. */
typedef struct training {
    tw_strategy *strategy;
    tw_variable *weight;
    tw_optimizer *optimizer;
} training;

static tw_status train(int replica, void *context)
{
    training *t = context;
    tw_auto tw_tensor *gradient = tw_tensor_float((float)replica + 1);
    tw_auto tw_variable *done = tw_optimizer_apply_gradients(t->optimizer, TW_TENSORS(gradient), TW_OBJECTS(t->weight));
    return done ? TW_OK : tw_error_code();
}

static void optimizers_sum_gradients(void **unused)
{
    (void)unused;
    tw_auto tw_strategy *strategy = two_replicas();
    tw_auto tw_variable *weight = scoped_variable(strategy);
    assert_int_equal(tw_strategy_enter(strategy), TW_OK);
    tw_auto tw_optimizer *optimizer = tw_optimizers_sgd(.learning_rate = 0.5, .momentum = 0.9);
    assert_int_equal(tw_strategy_exit(strategy), TW_OK);
    training t = { strategy, weight, optimizer };
    assert_int_equal(tw_strategy_run(strategy, train, &t), TW_OK);
    for (int i = 0; i < 2; i++) { /* 10 - 0.5 * (1 + 2), in both copies */
        tw_auto tw_variable *copy = tw__mirror_component(weight, i);
        tw_auto tw_tensor *value = tw_variable_read(copy);
        assert_true(tw_tensor_double_at(value, 0) == 8.5);
    }
}

/* A batch of three rows becomes two and one; what replicas have is summed, also along axes. */
static void batches_are_split(void **unused)
{
    (void)unused;
    tw_auto tw_strategy *strategy = two_replicas();
    tw_auto tw_tensor *rows = tw_tensor_new(TW_FLOAT32, TW_SHAPE(3, 2), (float[]){ 1, 2, 3, 4, 5, 6 });
    tw_auto tw_dataset *single = tw_dataset_from_tensors(TW_TENSORS(rows));
    tw_auto tw_dataset *split = tw_strategy_split_dataset(strategy, single);
    tw_auto tw_iterator *each = split ? tw_iterator(split) : NULL;
    tw_tensors parts = tw_iterator_next(each);
    assert_int_equal(parts.count, 2);
    assert_int_equal(tw_tensor_dim(parts.items[0], 0), 2);
    assert_int_equal(tw_tensor_dim(parts.items[1], 0), 1);
    tw_auto tw_tensor *sum = tw_distribute_reduce(false, parts, .axis = TW_INTS(0)),
                      *mean = tw_distribute_reduce(true, parts, .axis = TW_INTS(0, -1));
    assert_true(tw_tensor_double_at(sum, 0) == 9 && tw_tensor_double_at(sum, 1) == 12);
    assert_true(tw_tensor_double_at(mean, 0) == 3.5);
    tw_auto tw_tensor *scalar = tw_tensor_float(1);
    assert_null(tw_distribute_reduce(false, TW_TENSORS(scalar, scalar), .axis = TW_INTS(0)));
    assert_string_equal(tw_error_message(), "`axis` = 0 was specified, but `value` is a scalar");
    tw_clear_error();
    tw_tensors_free(&parts);
    tw_auto tw_dataset *numbers = tw_dataset_range(0, 6);
    assert_null(tw_strategy_split_dataset(strategy, numbers)); /* no batches */
    tw_clear_error();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(replicas_have_copies),
        cmocka_unit_test(errors_end_the_run),
        cmocka_unit_test(optimizers_sum_gradients),
        cmocka_unit_test(batches_are_split),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
