/* The steps of optimizers with a penalty that is taken into account exactly (proximal ones, dual averaging), of sign-based ones,
 * and Adam with the largest second moment so far. */
#include <math.h>

#include "op/state/steps.h"
#include "rows.h"

/* x moved towards zero by `by`, not beyond it. */
#define SHRUNK(x, by) ((x) > (by) ? (x) - (by) : (x) < -(by) ? (x) + (by) : 0)
#define SIGN(x) ((element)((x) > 0) - (element)((x) < 0))

#define PROXIMAL_PREPARE() element alpha = number[0], l1 = number[1], l2 = number[2]
#define PROXIMAL_BODY()                 \
    element moved = var[i] - alpha * g; \
    var[i] = (l1 > 0 ? SHRUNK(moved, alpha * l1) : moved) / (1 + l2 * alpha)
STEP(proximal, 1, 4, NULL, PROXIMAL_PREPARE, PROXIMAL_BODY, 1, 2, 3)

TW_OP(ResourceApplyProximalGradientDescent, .inputs = "var: resource, alpha: T, l1: T, l2: T, delta: T", .attrs = T_ATTR LOCKING,
      STEP_ROW, .compute = proximal_compute,
      .doc = "var -= alpha * delta, then shrunk by alpha * l1 and divided by 1 + l2 * alpha.");

#define PROXIMAL_ADAGRAD_PREPARE() \
    element *accum = slots[1];     \
    element lr = number[0], l1 = number[1], l2 = number[2]
#define PROXIMAL_ADAGRAD_BODY()                                                            \
    element a = accum[i] + g * g, rate = lr / (element)sqrt(a), moved = var[i] - g * rate; \
    accum[i] = a;                                                                          \
    var[i] = (l1 > 0 ? SHRUNK(moved, rate * l1) : moved) / (1 + l2 * rate)
STEP(proximal_adagrad, 2, 5, NULL, PROXIMAL_ADAGRAD_PREPARE, PROXIMAL_ADAGRAD_BODY, 2, 3, 4)

TW_OP(ResourceApplyProximalAdagrad, .inputs = "var: resource, accum: resource, lr: T, l1: T, l2: T, grad: T",
      .attrs = T_ATTR LOCKING, STEP_ROW, .compute = proximal_adagrad_compute,
      .doc = "ResourceApplyProximalGradientDescent with Adagrad's rate.");

#define DUAL_PREPARE()                             \
    element *sums = slots[1], *squares = slots[2]; \
    element lr = number[0], l1 = number[1], l2 = number[2], step = number[3]
#define DUAL_BODY()                                         \
    element sum = sums[i] + g, square = squares[i] + g * g; \
    sums[i] = sum;                                          \
    squares[i] = square;                                    \
    var[i] = -lr * (l1 > 0 ? SHRUNK(sum, step * l1) : sum) / (l2 * step * lr + (element)sqrt(square))
STEP(dual, 3, 3, NULL, DUAL_PREPARE, DUAL_BODY, 4, 5, 6, 7)

TW_OP(
    ResourceApplyAdagradDA,
    .inputs =
        "var: resource, gradient_accumulator: resource, gradient_squared_accumulator: resource, grad: T, lr: T, l1: T, l2: T, global_step: int64",
    .attrs = T_ATTR LOCKING, STEP_ROW, .compute = dual_compute, .doc = "A step of Adagrad by dual averaging.");

#define SIGN_PREPARE()        \
    element *mean = slots[1]; \
    element lr = number[0], base = number[1], decay = number[2], beta = number[3]
#define ADD_SIGN_BODY()                          \
    element m = mean[i] * beta + g * (1 - beta); \
    mean[i] = m;                                 \
    var[i] -= lr * (base + decay * SIGN(g) * SIGN(m)) * g
STEP(add_sign, 2, 6, NULL, SIGN_PREPARE, ADD_SIGN_BODY, 2, 3, 4, 5)

TW_OP(ResourceApplyAddSign, .inputs = "var: resource, m: resource, lr: T, alpha: T, sign_decay: T, beta: T, grad: T",
      .attrs = T_ATTR LOCKING, STEP_ROW, .compute = add_sign_compute,
      .doc = "A step that is longer where the gradient agrees with its mean.");

#define POWER_SIGN_BODY()                        \
    element m = mean[i] * beta + g * (1 - beta); \
    mean[i] = m;                                 \
    var[i] -= lr * (element)exp(base * decay * SIGN(g) * SIGN(m)) * g
STEP(power_sign, 2, 6, NULL, SIGN_PREPARE, POWER_SIGN_BODY, 2, 3, 4, 5)

TW_OP(ResourceApplyPowerSign, .inputs = "var: resource, m: resource, lr: T, logbase: T, sign_decay: T, beta: T, grad: T",
      .attrs = T_ATTR LOCKING, STEP_ROW, .compute = power_sign_compute,
      .doc = "A step that is exponentially longer where the gradient agrees with its mean.");

#define AMSGRAD_PREPARE()                                               \
    element *first = slots[1], *second = slots[2], *largest = slots[3]; \
    element beta1 = number[3], beta2 = number[4], epsilon = number[5];  \
    element alpha = number[2] * (element)sqrt(1 - number[1]) / (1 - number[0])
#define AMSGRAD_BODY()                                                                                      \
    element m = first[i] + (g - first[i]) * (1 - beta1), v = second[i] + (g * g - second[i]) * (1 - beta2); \
    element most = largest[i] > v ? largest[i] : v;                                                         \
    first[i] = m;                                                                                           \
    second[i] = v;                                                                                          \
    largest[i] = most;                                                                                      \
    var[i] -= m * alpha / ((element)sqrt(most) + epsilon)
STEP(amsgrad, 4, 10, NULL, AMSGRAD_PREPARE, AMSGRAD_BODY, 4, 5, 6, 7, 8, 9)

TW_OP(
    ResourceApplyAdamWithAmsgrad,
    .inputs =
        "var: resource, m: resource, v: resource, vhat: resource, beta1_power: T, beta2_power: T, lr: T, beta1: T, beta2: T, epsilon: T, grad: T",
    .attrs = T_ATTR LOCKING, STEP_ROW, .compute = amsgrad_compute,
    .doc = "A step of Adam with the largest second moment so far.");

/* ---- for some rows of the variable ---- */

ROWS(proximal, 1, 4, 5, NULL, 1, 2, 3)
TW_OP(ResourceSparseApplyProximalGradientDescent, .inputs = "var: resource, alpha: T, l1: T, l2: T, grad: T, indices: Tindices",
      .attrs = ROWS_ATTR, STEP_ROW, .compute = proximal_rows, .doc = "ResourceApplyProximalGradientDescent on some rows.");

ROWS(proximal_adagrad, 2, 5, 6, NULL, 2, 3, 4)
TW_OP(ResourceSparseApplyProximalAdagrad,
      .inputs = "var: resource, accum: resource, lr: T, l1: T, l2: T, grad: T, indices: Tindices", .attrs = ROWS_ATTR, STEP_ROW,
      .compute = proximal_adagrad_rows, .doc = "ResourceApplyProximalAdagrad on some rows.");

ROWS(dual, 3, 3, 4, NULL, 5, 6, 7, 8)
TW_OP(
    ResourceSparseApplyAdagradDA,
    .inputs =
        "var: resource, gradient_accumulator: resource, gradient_squared_accumulator: resource, grad: T, indices: Tindices, lr: T, l1: T, l2: T, global_step: int64",
    .attrs = ROWS_ATTR, STEP_ROW, .compute = dual_rows, .doc = "ResourceApplyAdagradDA on some rows.");
