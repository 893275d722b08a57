/* The optimizers' steps: each reads the gradient once and changes the variable and its slots in place, in one pass over memory.
 *
 * A step is a tw__update (resource.h): which inputs are variables, which are numbers, and a loop per dtype. half and bfloat16 are
 * computed in float, a tile at a time. */
#include "kernel/simd.h"

#include "kernel/kernel.h"
#include "op/state/steps.h"
#include "rows.h"

enum { SLOTS_LIMIT = TW_RESOURCES_AT_ONCE, GRAIN = 16384, TILE = 512 };

/* ---- running ---- */

typedef struct step_run {
    const tw__update *step;
    tw_dtype dtype;
    char *data[SLOTS_LIMIT];
    const char *grad;
    double numbers[TW_UPDATE_NUMBERS];
    bool flag;
} step_run;

static void run(void *context, int64_t begin, int64_t end)
{
    const step_run *r = context;
    size_t size = tw__element_size(r->dtype);
    void *slots[SLOTS_LIMIT];
    if (r->dtype == TW_FLOAT32 || r->dtype == TW_FLOAT64) {
        for (int k = 0; k < r->step->slots; k++)
            slots[k] = r->data[k] + (size_t)begin * size;
        tw__update_loop *loop = r->dtype == TW_FLOAT32 ? r->step->float_loop : r->step->double_loop;
        loop(slots, r->grad + (size_t)begin * size, r->numbers, end - begin, r->flag);
        return;
    }
    float tiles[SLOTS_LIMIT][TILE], grad[TILE];
    for (int64_t i = begin; i < end; i += TILE) {
        int64_t n = end - i < TILE ? end - i : TILE;
        for (int k = 0; k < r->step->slots; k++) {
            tw__small_float_read(r->dtype, r->data[k] + (size_t)i * size, tiles[k], n);
            slots[k] = tiles[k];
        }
        tw__small_float_read(r->dtype, r->grad + (size_t)i * size, grad, n);
        r->step->float_loop(slots, grad, r->numbers, n, r->flag);
        for (int k = 0; k < r->step->slots; k++)
            tw__small_float_write(r->dtype, tiles[k], r->data[k] + (size_t)i * size, n);
    }
}

static const char *input_name(const tw_op *op, int input)
{
    const tw__op_signature *signature = tw__op_signature_of(op);
    return signature ? signature->inputs[input].name : "";
}

static tw_status check_numbers(tw__kernel *kernel, const tw__update *s, double *numbers)
{
    for (int i = 0; i < s->number_count; i++) {
        const tw_tensor *number = kernel->inputs[s->numbers[i]];
        if (number->shape.rank != 0)
            return tw__fail(TW_INVALID_ARGUMENT, "%s is not a scalar: %s", input_name(kernel->op, s->numbers[i]),
                            tw__shape_text(&number->shape));
        numbers[i] = tw_tensor_double_at(number, 0);
    }
    return TW_OK;
}

/* The gradient has a row for each of the indices, which name rows of the variable. */
static tw_status check_rows(tw__kernel *kernel, const tw__update *s, const tw_shape *shape)
{
    const tw_tensor *grad = kernel->inputs[s->grad], *indices = kernel->inputs[s->indices];
    if (shape->rank < 1)
        return tw__fail(TW_INVALID_ARGUMENT, "var must be at least 1 dimensional");
    if (indices->shape.rank != 1)
        return tw__fail(TW_INVALID_ARGUMENT, "indices must be one-dimensional");
    bool fits = grad->shape.rank == shape->rank;
    for (int i = 1; fits && i < shape->rank; i++)
        fits = grad->shape.dims[i] == shape->dims[i];
    if (!fits)
        return tw__fail(TW_INVALID_ARGUMENT, "var and grad must match in all dimensions but the first: %s %s",
                        tw__shape_text(shape), tw__shape_text(&grad->shape));
    if (grad->shape.dims[0] != indices->count)
        return tw__fail(TW_INVALID_ARGUMENT, "grad must be the same size as indices in the first dimension.");
    for (int64_t i = 0; i < indices->count; i++) {
        int64_t index = tw_tensor_int_at(indices, i);
        if (index < 0 || index >= shape->dims[0])
            return tw__fail(TW_INVALID_ARGUMENT,
                            "Index %lld at offset %lld in indices is out of range: indices[%lld] = %lld is not in [0, %lld)",
                            (long long)index, (long long)i, (long long)i, (long long)index, (long long)shape->dims[0]);
    }
    return TW_OK;
}

static tw_status check_shapes(tw__kernel *kernel, const tw__update *s, tw__resource *const *slots)
{
    const tw_shape *shape = &slots[0]->value->shape;
    if (s->indices)
        TW_TRY(check_rows(kernel, s, shape));
    for (int k = 1; k <= s->slots; k++) {
        if (k == s->slots && s->indices)
            break;
        int input = k < s->slots ? k : s->grad;
        const tw_tensor *other = k < s->slots ? slots[k]->value : kernel->inputs[input];
        if (!tw__shape_equal(shape, &other->shape))
            return tw__fail(TW_INVALID_ARGUMENT, "%s and %s do not have the same shape%s %s", input_name(kernel->op, 0),
                            input_name(kernel->op, input), tw__shape_text(shape), tw__shape_text(&other->shape));
    }
    tw_dtype dtype = kernel->inputs[s->grad]->dtype;
    for (int k = 0; k < s->slots; k++) {
        if (slots[k]->value->dtype != dtype)
            return TW_OP_FAIL(kernel, TW_INVALID_ARGUMENT, "the variable %s is of dtype %s, the gradient of %s", slots[k]->name,
                              tw_dtype_name(slots[k]->value->dtype), tw_dtype_name(dtype));
    }
    return TW_OK;
}

/* Row after row, in the order of the indices: one may come twice. */
static void run_rows(step_run *r, const tw_tensor *indices, int64_t length)
{
    size_t bytes = tw__element_size(r->dtype) * (size_t)length;
    step_run row = *r;
    for (int64_t i = 0; i < indices->count; i++) {
        for (int k = 0; k < r->step->slots; k++)
            row.data[k] = r->data[k] + (size_t)tw_tensor_int_at(indices, i) * bytes;
        row.grad = r->grad + (size_t)i * bytes;
        tw__parallel(length, GRAIN, run, &row);
    }
}

tw_status tw__update_apply(tw__kernel *kernel, const tw__update *s)
{
    tw__resource *slots[SLOTS_LIMIT];
    const tw_tensor *grad = kernel->inputs[s->grad];
    step_run r = { .step = s, .dtype = grad->dtype, .grad = grad->data, .flag = s->flag && TW_ATTR(kernel, s->flag)->b };
    if (!tw__dtype_is_float(grad->dtype))
        return TW_OP_FAIL(kernel, TW_UNIMPLEMENTED, "no kernel for dtype %s", tw_dtype_name(grad->dtype));
    for (int k = 0; k < s->slots; k++) {
        slots[k] = tw__resource_of(kernel->inputs[k]);
        if (!slots[k])
            return TW_INVALID_ARGUMENT;
        for (int i = 0; i < k; i++) {
            if (slots[i] == slots[k])
                return TW_OP_FAIL(kernel, TW_INVALID_ARGUMENT, "%s and %s are the same variable", input_name(kernel->op, i),
                                  input_name(kernel->op, k));
        }
    }
    TW_TRY(check_numbers(kernel, s, r.numbers));
    void *data[SLOTS_LIMIT];
    TW_TRY(tw__resources_lock(slots, s->slots, data));
    for (int k = 0; k < s->slots; k++)
        r.data[k] = data[k];
    tw_status status = check_shapes(kernel, s, slots);
    const tw_shape *shape = &slots[0]->value->shape;
    if (status == TW_OK && s->indices)
        run_rows(&r, kernel->inputs[s->indices], shape->dims[0] ? slots[0]->value->count / shape->dims[0] : 0);
    else if (status == TW_OK)
        tw__parallel(grad->count, GRAIN, run, &r);
    tw__resources_unlock(slots, s->slots);
    return status;
}

#define DESCENT_PREPARE() element alpha = number[0]
#define DESCENT_BODY() var[i] -= alpha * g
STEP(gradient_descent, 1, 2, NULL, DESCENT_PREPARE, DESCENT_BODY, 1)

TW_OP(ResourceApplyGradientDescent, .inputs = "var: resource, alpha: T, delta: T", .attrs = T_ATTR LOCKING, STEP_ROW,
      .compute = gradient_descent_compute, .doc = "var -= alpha * delta.");

#define MOMENTUM_PREPARE()     \
    element *accum = slots[1]; \
    element lr = number[0], momentum = number[1]
#define MOMENTUM_BODY()                  \
    element a = accum[i] * momentum + g; \
    accum[i] = a;                        \
    var[i] -= flag ? g * lr + a * momentum * lr : a * lr
STEP(momentum, 2, 3, "use_nesterov", MOMENTUM_PREPARE, MOMENTUM_BODY, 2, 4)

TW_OP(ResourceApplyMomentum, .inputs = "var: resource, accum: resource, lr: T, grad: T, momentum: T",
      .attrs = T_ATTR LOCKING ", use_nesterov: bool = false", STEP_ROW, .compute = momentum_compute,
      .doc = "accum = accum * momentum + grad; var -= lr * accum, or with Nesterov's correction lr * (grad + momentum * accum).");

#define KERAS_MOMENTUM_BODY()                 \
    element a = accum[i] * momentum - g * lr; \
    accum[i] = a;                             \
    var[i] += flag ? a * momentum - g * lr : a
STEP(keras_momentum, 2, 3, "use_nesterov", MOMENTUM_PREPARE, KERAS_MOMENTUM_BODY, 2, 4)

TW_OP(ResourceApplyKerasMomentum, .inputs = "var: resource, accum: resource, lr: T, grad: T, momentum: T",
      .attrs = T_ATTR LOCKING ", use_nesterov: bool = false", STEP_ROW, .compute = keras_momentum_compute,
      .doc = "accum = accum * momentum - lr * grad; var += accum, or with Nesterov's correction momentum * accum - lr * grad.");

#define ADAM_PREPARE()                                                 \
    element *first = slots[1], *second = slots[2];                     \
    element beta1 = number[3], beta2 = number[4], epsilon = number[5]; \
    element alpha = number[2] * (element)sqrt(1 - number[1]) / (1 - number[0])
#define ADAM_BODY()                                                                                         \
    element m = first[i] + (g - first[i]) * (1 - beta1), v = second[i] + (g * g - second[i]) * (1 - beta2); \
    first[i] = m;                                                                                           \
    second[i] = v;                                                                                          \
    var[i] -= (flag ? g * (1 - beta1) + beta1 * m : m) * alpha / ((element)sqrt(v) + epsilon)
STEP(adam, 3, 9, "use_nesterov", ADAM_PREPARE, ADAM_BODY, 3, 4, 5, 6, 7, 8)

TW_OP(
    ResourceApplyAdam,
    .inputs =
        "var: resource, m: resource, v: resource, beta1_power: T, beta2_power: T, lr: T, beta1: T, beta2: T, epsilon: T, grad: T",
    .attrs = T_ATTR LOCKING ", use_nesterov: bool = false", STEP_ROW, .compute = adam_compute, .doc = "A step of Adam.");

#define ADAMAX_PREPARE()                           \
    element *first = slots[1], *second = slots[2]; \
    element beta1 = number[2], beta2 = number[3], epsilon = number[4], alpha = number[1] / (1 - number[0])
#define ADAMAX_BODY()                                                                                          \
    element m = first[i] + (g - first[i]) * (1 - beta1), decayed = beta2 * second[i], size = (element)fabs(g); \
    element v = decayed > size ? decayed : size;                                                               \
    first[i] = m;                                                                                              \
    second[i] = v;                                                                                             \
    var[i] -= alpha * (m / (v + epsilon))
STEP(adamax, 3, 8, NULL, ADAMAX_PREPARE, ADAMAX_BODY, 3, 4, 5, 6, 7)

TW_OP(ResourceApplyAdaMax,
      .inputs = "var: resource, m: resource, v: resource, beta1_power: T, lr: T, beta1: T, beta2: T, epsilon: T, grad: T",
      .attrs = T_ATTR LOCKING, STEP_ROW, .compute = adamax_compute, .doc = "A step of AdaMax.");

#define ADAGRAD_PREPARE()      \
    element *accum = slots[1]; \
    element lr = number[0], epsilon = number[1]
#define ADAGRAD_BODY()                              \
    element a = flag ? accum[i] + g * g : accum[i]; \
    accum[i] = a;                                   \
    var[i] -= g * lr / ((element)sqrt(a) + epsilon)
STEP(adagrad, 2, 4, "update_slots", ADAGRAD_PREPARE, ADAGRAD_BODY, 2, 3)

TW_OP(ResourceApplyAdagradV2, .inputs = "var: resource, accum: resource, lr: T, epsilon: T, grad: T",
      .attrs = T_ATTR LOCKING ", update_slots: bool = true", STEP_ROW, .compute = adagrad_compute,
      .doc = "accum += grad^2; var -= lr * grad / (sqrt(accum) + epsilon).");

#define ADADELTA_PREPARE()                               \
    element *accum = slots[1], *accum_update = slots[2]; \
    element lr = number[0], rho = number[1], epsilon = number[2]
#define ADADELTA_BODY()                                                                         \
    element a = accum[i] * rho + g * g * (1 - rho);                                             \
    element update = (element)sqrt(accum_update[i] + epsilon) / (element)sqrt(a + epsilon) * g; \
    accum[i] = a;                                                                               \
    accum_update[i] = accum_update[i] * rho + update * update * (1 - rho);                      \
    var[i] -= update * lr
STEP(adadelta, 3, 6, NULL, ADADELTA_PREPARE, ADADELTA_BODY, 3, 4, 5)

TW_OP(ResourceApplyAdadelta,
      .inputs = "var: resource, accum: resource, accum_update: resource, lr: T, rho: T, epsilon: T, grad: T",
      .attrs = T_ATTR LOCKING, STEP_ROW, .compute = adadelta_compute, .doc = "A step of Adadelta.");

#define RMSPROP_PREPARE()                    \
    element *ms = slots[1], *mom = slots[2]; \
    element lr = number[0], rho = number[1], momentum = number[2], epsilon = number[3]
#define RMSPROP_BODY()                                                   \
    element s = ms[i] + (g * g - ms[i]) * (1 - rho);                     \
    element p = mom[i] * momentum + g * lr / (element)sqrt(s + epsilon); \
    ms[i] = s;                                                           \
    mom[i] = p;                                                          \
    var[i] -= p
STEP(rmsprop, 3, 7, NULL, RMSPROP_PREPARE, RMSPROP_BODY, 3, 4, 5, 6)

TW_OP(ResourceApplyRMSProp,
      .inputs = "var: resource, ms: resource, mom: resource, lr: T, rho: T, momentum: T, epsilon: T, grad: T",
      .attrs = T_ATTR LOCKING, STEP_ROW, .compute = rmsprop_compute, .doc = "A step of RMSProp.");

#define CENTERED_PREPARE()                                   \
    element *mg = slots[1], *ms = slots[2], *mom = slots[3]; \
    element lr = number[0], rho = number[1], momentum = number[2], epsilon = number[3]
#define CENTERED_BODY()                                                                   \
    element s = ms[i] + (g * g - ms[i]) * (1 - rho), c = mg[i] + (g - mg[i]) * (1 - rho); \
    element p = mom[i] * momentum + g * lr / (element)sqrt(s - c * c + epsilon);          \
    ms[i] = s;                                                                            \
    mg[i] = c;                                                                            \
    mom[i] = p;                                                                           \
    var[i] -= p
STEP(centered, 4, 8, NULL, CENTERED_PREPARE, CENTERED_BODY, 4, 5, 6, 7)

TW_OP(ResourceApplyCenteredRMSProp,
      .inputs = "var: resource, mg: resource, ms: resource, mom: resource, lr: T, rho: T, momentum: T, epsilon: T, grad: T",
      .attrs = T_ATTR LOCKING, STEP_ROW, .compute = centered_compute,
      .doc = "A step of RMSProp, with the mean of the gradient taken off.");

#define PLAIN_ADAGRAD_PREPARE() \
    element *accum = slots[1];  \
    element lr = number[0]
#define PLAIN_ADAGRAD_BODY()                        \
    element a = flag ? accum[i] + g * g : accum[i]; \
    accum[i] = a;                                   \
    var[i] -= g * lr / (element)sqrt(a)
STEP(plain_adagrad, 2, 3, "update_slots", PLAIN_ADAGRAD_PREPARE, PLAIN_ADAGRAD_BODY, 2)

TW_OP(ResourceApplyAdagrad, .inputs = "var: resource, accum: resource, lr: T, grad: T",
      .attrs = T_ATTR LOCKING ", update_slots: bool = true", STEP_ROW, .compute = plain_adagrad_compute,
      .doc = "accum += grad^2; var -= lr * grad / sqrt(accum).");

/* flag: `linear` holds its value times lr. */
#define FTRL_PREPARE()                             \
    element *accum = slots[1], *linear = slots[2]; \
    element lr = number[0], l1 = number[1], l2 = number[2], shrinkage = 0, power = -number[3]
#define FTRL_BODY()                                                                                                       \
    element old = accum[i], a = old + g * g, shrunk = g + 2 * shrinkage * var[i];                                         \
    element old_root = power == (element)0.5 ? (element)sqrt(old) : (element)pow(old, power);                             \
    element root = power == (element)0.5 ? (element)sqrt(a) : (element)pow(a, power);                                     \
    element l = linear[i] + (flag ? shrunk * lr - (root - old_root) * var[i] : shrunk - (root - old_root) / lr * var[i]); \
    element limit = flag ? l1 * lr : l1, part = flag ? root + 2 * l2 * lr : root / lr + 2 * l2;                           \
    accum[i] = a;                                                                                                         \
    linear[i] = l;                                                                                                        \
    var[i] = l > limit ? (limit - l) / part : l < -limit ? (-limit - l) / part : 0
STEP(ftrl, 3, 3, "multiply_linear_by_lr", FTRL_PREPARE, FTRL_BODY, 4, 5, 6, 7)

TW_OP(ResourceApplyFtrl, .inputs = "var: resource, accum: resource, linear: resource, grad: T, lr: T, l1: T, l2: T, lr_power: T",
      .attrs = T_ATTR LOCKING ", multiply_linear_by_lr: bool = false", STEP_ROW, .compute = ftrl_compute,
      .doc = "A step of Ftrl.");

#define FTRL_V2_PREPARE()                          \
    element *accum = slots[1], *linear = slots[2]; \
    element lr = number[0], l1 = number[1], l2 = number[2], shrinkage = number[3], power = -number[4]
STEP(ftrl_v2, 3, 3, "multiply_linear_by_lr", FTRL_V2_PREPARE, FTRL_BODY, 4, 5, 6, 7, 8)

TW_OP(ResourceApplyFtrlV2,
      .inputs = "var: resource, accum: resource, linear: resource, grad: T, lr: T, l1: T, l2: T, l2_shrinkage: T, lr_power: T",
      .attrs = T_ATTR LOCKING ", multiply_linear_by_lr: bool = false", STEP_ROW, .compute = ftrl_v2_compute,
      .doc = "A step of Ftrl, with a penalty on the size of the variable.");

/* ---- for some rows of the variable ---- */

ROWS(momentum, 2, 3, 4, "use_nesterov", 2, 5)
TW_OP(ResourceSparseApplyMomentum, .inputs = "var: resource, accum: resource, lr: T, grad: T, indices: Tindices, momentum: T",
      .attrs = ROWS_ATTR ", use_nesterov: bool = false", STEP_ROW, .compute = momentum_rows,
      .doc = "ResourceApplyMomentum on some rows.");

ROWS(keras_momentum, 2, 3, 4, "use_nesterov", 2, 5)
TW_OP(ResourceSparseApplyKerasMomentum,
      .inputs = "var: resource, accum: resource, lr: T, grad: T, indices: Tindices, momentum: T",
      .attrs = ROWS_ATTR ", use_nesterov: bool = false", STEP_ROW, .compute = keras_momentum_rows,
      .doc = "ResourceApplyKerasMomentum on some rows.");

ROWS(plain_adagrad, 2, 3, 4, "update_slots", 2)
TW_OP(ResourceSparseApplyAdagrad, .inputs = "var: resource, accum: resource, lr: T, grad: T, indices: Tindices",
      .attrs = ROWS_ATTR ", update_slots: bool = true", STEP_ROW, .compute = plain_adagrad_rows,
      .doc = "ResourceApplyAdagrad on some rows.");

ROWS(adagrad, 2, 4, 5, "update_slots", 2, 3)
TW_OP(ResourceSparseApplyAdagradV2, .inputs = "var: resource, accum: resource, lr: T, epsilon: T, grad: T, indices: Tindices",
      .attrs = ROWS_ATTR ", update_slots: bool = true", STEP_ROW, .compute = adagrad_rows,
      .doc = "ResourceApplyAdagradV2 on some rows.");

ROWS(adadelta, 3, 6, 7, NULL, 3, 4, 5)
TW_OP(ResourceSparseApplyAdadelta,
      .inputs = "var: resource, accum: resource, accum_update: resource, lr: T, rho: T, epsilon: T, grad: T, indices: Tindices",
      .attrs = ROWS_ATTR, STEP_ROW, .compute = adadelta_rows, .doc = "ResourceApplyAdadelta on some rows.");

ROWS(rmsprop, 3, 7, 8, NULL, 3, 4, 5, 6)
TW_OP(ResourceSparseApplyRMSProp,
      .inputs = "var: resource, ms: resource, mom: resource, lr: T, rho: T, momentum: T, epsilon: T, grad: T, indices: Tindices",
      .attrs = ROWS_ATTR, STEP_ROW, .compute = rmsprop_rows, .doc = "ResourceApplyRMSProp on some rows.");

ROWS(centered, 4, 8, 9, NULL, 4, 5, 6, 7)
TW_OP(
    ResourceSparseApplyCenteredRMSProp,
    .inputs =
        "var: resource, mg: resource, ms: resource, mom: resource, lr: T, rho: T, momentum: T, epsilon: T, grad: T, indices: Tindices",
    .attrs = ROWS_ATTR, STEP_ROW, .compute = centered_rows, .doc = "ResourceApplyCenteredRMSProp on some rows.");

ROWS(ftrl, 3, 3, 4, "multiply_linear_by_lr", 5, 6, 7, 8)
TW_OP(ResourceSparseApplyFtrl,
      .inputs = "var: resource, accum: resource, linear: resource, grad: T, indices: Tindices, lr: T, l1: T, l2: T, lr_power: T",
      .attrs = ROWS_ATTR ", multiply_linear_by_lr: bool = false", STEP_ROW, .compute = ftrl_rows,
      .doc = "ResourceApplyFtrl on some rows.");

ROWS(ftrl_v2, 3, 3, 4, "multiply_linear_by_lr", 5, 6, 7, 8, 9)
TW_OP(
    ResourceSparseApplyFtrlV2,
    .inputs =
        "var: resource, accum: resource, linear: resource, grad: T, indices: Tindices, lr: T, l1: T, l2: T, l2_shrinkage: T, lr_power: T",
    .attrs = ROWS_ATTR ", multiply_linear_by_lr: bool = false", STEP_ROW, .compute = ftrl_v2_rows,
    .doc = "ResourceApplyFtrlV2 on some rows.");

const tw__update *tw__update_of(const tw_op *op)
{
#define ENTRY(name)                  \
    {                                \
        name##_compute, &name##_step \
    }
    static const struct {
        tw_status (*compute)(tw__kernel *kernel);
        const tw__update *update;
    } all[] = { ENTRY(gradient_descent), ENTRY(momentum),      ENTRY(keras_momentum), ENTRY(adam),
                ENTRY(adamax),           ENTRY(adagrad),       ENTRY(adadelta),       ENTRY(rmsprop),
                ENTRY(centered),         ENTRY(plain_adagrad), ENTRY(ftrl),           ENTRY(ftrl_v2) };
#undef ENTRY
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        if (op->compute == all[i].compute)
            return all[i].update;
    }
    return NULL;
}
