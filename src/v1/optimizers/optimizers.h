/* TensorFlow 1's optimizers: what they share; see optimizer.c and step.c.
 *
 * An optimizer is a rule: the op of one step and, in the order of the op's inputs, where each comes from. So a class is a row and
 * a table. */
#ifndef TW_V1_OPTIMIZERS_H
#define TW_V1_OPTIMIZERS_H

#include "eager/eager.h"
#include "graph/graph.h"
#include "rows.h"

enum { TW__V1_NUMBERS = 6, TW__V1_SLOTS = 3, TW__V1_EXTRAS = 2 };

/* Inputs as words: v the variable, s0 s1 … its slots, x0 x1 the optimizer's own variables, n0 n1 … its numbers, g the gradient, i
 * the rows. */
typedef struct tw__v1_rule {
    const tw_op *op;
    const char *inputs;
    const tw_op *sparse_op; /* of a gradient of some rows; NULL: it is made dense */
    const char *sparse_inputs;
    bool sparse_repeats;                 /* rows may come twice */
    const char *numbers[TW__V1_NUMBERS]; /* the names of their constants, "learning_rate" */
    int number_count;
    const char *slots[TW__V1_SLOTS];
    int slot_count;
    const char *extras[TW__V1_EXTRAS]; /* "beta1_power"; each begins as a number and is multiplied by it after every step */
    int extra_numbers[TW__V1_EXTRAS];
    int extra_count;
    const char *flag; /* a bool attr of the op, or NULL */
} tw__v1_rule;

typedef struct tw__v1_number {
    double number;
    tw_tensor *tensor;     /* instead of the number, or NULL */
    tw_variable *variable; /* likewise */
} tw__v1_number;

typedef struct tw__v1_state {
    tw_variable *variable, *slots[TW__V1_SLOTS];
} tw__v1_state;

struct tw_v1_optimizer {
    tw_object object;
    char *name;
    bool use_locking, flag;
    const tw__v1_rule *rule;
    tw__v1_number numbers[TW__V1_NUMBERS];
    double first[TW__V1_SLOTS]; /* what the slots begin with */
    tw_variable *extras[TW__V1_EXTRAS];
    tw__v1_state *states; /* one per variable */
    size_t state_count, state_capacity;
    tw__pointer_map places; /* variable -> place in states */
};

/* For the classes' rows and init. */
#define TW_V1_OPTIMIZER .parent = &tw__class_v1_optimizer, .size = sizeof(tw_v1_optimizer), .drop_config = true
#define TW_V1_NUMBER(index, field) TW_TRY(tw__v1_number_set(optimizer, index, args->field, args->field##_object, #field))
static inline void tw__v1_number_plain(tw_v1_optimizer *optimizer, int index, double number)
{
    optimizer->numbers[index].number = number;
}
const char *tw__v1_number_text(double number, char text[40]); /* as Python prints it */
tw_status tw__v1_optimizer_setup(tw_v1_optimizer *optimizer, const tw__v1_rule *rule, const char *name, bool use_locking);
/* The number, or the object (a tensor, a variable) that gives it. */
tw_status tw__v1_number_set(tw_v1_optimizer *optimizer, int index, double number, void *object, const char *what);
tw__v1_state *tw__v1_state_of(const tw_v1_optimizer *optimizer, const tw_variable *variable); /* NULL: it has none yet */

#endif
