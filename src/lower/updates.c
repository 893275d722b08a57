/* Lowerings of the optimizers' steps. Each has a form for some rows of the variable, too: rows that are known to be distinct are
 * taken out, changed and put back. */
#include "lower/words.h"

enum { SLOTS = 4 };

typedef struct step {
    int slots, grad;
    bool rows;                    /* the form for some rows: indices stand behind the gradient */
    tw__hlo v[SLOTS], all[SLOTS]; /* the variable and its slots, or the rows at hand; all of them */
    tw__hlo g, one;
} step;

#define ADD(a, b) BINARY("add", a, b)
#define SUB(a, b) BINARY("subtract", a, b)
#define MUL(a, b) BINARY("multiply", a, b)
#define DIV(a, b) BINARY("divide", a, b)
#define SQRT(a) UNARY("sqrt", a)
/* Input k of the form without indices. */
#define IN(k) l->inputs[(k) + ((k) > s.grad && s.rows)]

static bool start(tw__lowering *l, step *s, int slots, int grad)
{
    *s = (step){ .slots = slots, .grad = grad, .rows = l->argument != NULL, .g = l->inputs[grad] };
    tw_dtype dtype = s->g.dtype;
    if ((dtype != TW_FLOAT32 && dtype != TW_FLOAT64) || (s->rows && !l->inputs[grad + 1].distinct))
        return false;
    for (int i = 0; i < slots; i++) {
        for (int k = 0; k < i; k++) {
            if (l->inputs[k].id == l->inputs[i].id)
                return false;
        }
        if (!(s->rows ? tw__lower_variable(l, i, dtype, &s->all[i]) : tw__lower_read(l, i, dtype, &s->g.shape, &s->v[i])))
            return false;
        if (s->rows)
            s->v[i] = tw__hlo_rows(l, s->all[i], l->inputs[grad + 1], 0, 0, true);
    }
    s->one = NUMBER(dtype, 1);
    return true;
}

/* The new values of the variable and its slots. */
static bool finish(tw__lowering *l, step *s, const tw__hlo *values)
{
    for (int i = 0; i < s->slots; i++) {
        tw__hlo value = s->rows ? tw__hlo_scatter_rows(l, NULL, s->all[i], l->inputs[s->grad + 1], values[i]) : values[i];
        if (!tw__lower_write(l, i, value))
            return false;
    }
    return true;
}

#define FINISH(...) finish(l, &s, (const tw__hlo[]){ __VA_ARGS__ })

/* mean + (x - mean) * (1 - decay) */
static tw__hlo moved(tw__lowering *l, tw__hlo mean, tw__hlo x, tw__hlo decay)
{
    return ADD(mean, MUL(SUB(x, mean), SUB(NUMBER(mean.dtype, 1), decay)));
}

/* (var, alpha, delta) */
static bool descent(tw__lowering *l)
{
    step s;
    return start(l, &s, 1, 2) && FINISH(SUB(s.v[0], MUL(s.g, IN(1))));
}

/* (var, accum, lr, grad, momentum) */
static bool momentum(tw__lowering *l)
{
    step s;
    if (!start(l, &s, 2, 3))
        return false;
    tw__hlo lr = IN(2), m = IN(4), a = ADD(MUL(s.v[1], m), s.g);
    tw__hlo by = TW_ATTR(l, "use_nesterov")->b ? ADD(MUL(s.g, lr), MUL(MUL(a, m), lr)) : MUL(a, lr);
    return FINISH(SUB(s.v[0], by), a);
}

/* The same; the accumulator holds the step. */
static bool keras_momentum(tw__lowering *l)
{
    step s;
    if (!start(l, &s, 2, 3))
        return false;
    tw__hlo pull = MUL(s.g, IN(2)), m = IN(4), a = SUB(MUL(s.v[1], m), pull);
    return FINISH(ADD(s.v[0], TW_ATTR(l, "use_nesterov")->b ? SUB(MUL(a, m), pull) : a), a);
}

/* lr * sqrt(1 - beta2^t) / (1 - beta1^t) */
static tw__hlo adam_rate(tw__lowering *l, tw__hlo lr, tw__hlo power1, tw__hlo power2)
{
    tw__hlo one = NUMBER(lr.dtype, 1);
    return DIV(MUL(lr, SQRT(SUB(one, power2))), SUB(one, power1));
}

/* (var, m, v, beta1_power, beta2_power, lr, beta1, beta2, epsilon, grad) */
static bool adam(tw__lowering *l)
{
    step s;
    if (!start(l, &s, 3, 9))
        return false;
    tw__hlo m = moved(l, s.v[1], s.g, IN(6)), v = moved(l, s.v[2], MUL(s.g, s.g), IN(7)), top = m;
    if (TW_ATTR(l, "use_nesterov")->b)
        top = ADD(MUL(s.g, SUB(s.one, IN(6))), MUL(m, IN(6)));
    tw__hlo by = DIV(MUL(top, adam_rate(l, IN(5), IN(3), IN(4))), ADD(SQRT(v), IN(8)));
    return FINISH(SUB(s.v[0], by), m, v);
}

/* (var, m, v, vhat, beta1_power, beta2_power, lr, beta1, beta2, epsilon, grad) */
static bool amsgrad(tw__lowering *l)
{
    step s;
    if (!start(l, &s, 4, 10))
        return false;
    tw__hlo m = moved(l, s.v[1], s.g, IN(7)), v = moved(l, s.v[2], MUL(s.g, s.g), IN(8));
    tw__hlo most = BINARY("maximum", s.v[3], v);
    return FINISH(SUB(s.v[0], DIV(MUL(m, adam_rate(l, IN(6), IN(4), IN(5))), ADD(SQRT(most), IN(9)))), m, v, most);
}

/* (var, m, v, beta1_power, lr, beta1, beta2, epsilon, grad) */
static bool adamax(tw__lowering *l)
{
    step s;
    if (!start(l, &s, 3, 8))
        return false;
    tw__hlo m = moved(l, s.v[1], s.g, IN(5)), v = BINARY("maximum", MUL(s.v[2], IN(6)), UNARY("abs", s.g));
    return FINISH(SUB(s.v[0], MUL(DIV(m, ADD(v, IN(7))), DIV(IN(4), SUB(s.one, IN(3))))), m, v);
}

static tw__hlo gathered(tw__lowering *l, const step *s) /* the sum of squares, if it is to grow */
{
    return TW_ATTR(l, "update_slots")->b ? ADD(s->v[1], MUL(s->g, s->g)) : s->v[1];
}

/* (var, accum, lr, grad) */
static bool adagrad(tw__lowering *l)
{
    step s;
    if (!start(l, &s, 2, 3))
        return false;
    tw__hlo a = gathered(l, &s);
    return FINISH(SUB(s.v[0], DIV(MUL(s.g, IN(2)), SQRT(a))), a);
}

/* (var, accum, lr, epsilon, grad) */
static bool adagrad_v2(tw__lowering *l)
{
    step s;
    if (!start(l, &s, 2, 4))
        return false;
    tw__hlo a = gathered(l, &s);
    return FINISH(SUB(s.v[0], DIV(MUL(s.g, IN(2)), ADD(SQRT(a), IN(3)))), a);
}

/* (var, accum, accum_update, lr, rho, epsilon, grad) */
static bool adadelta(tw__lowering *l)
{
    step s;
    if (!start(l, &s, 3, 6))
        return false;
    tw__hlo rho = IN(4), rest = SUB(s.one, rho), a = ADD(MUL(s.v[1], rho), MUL(MUL(s.g, s.g), rest));
    tw__hlo by = MUL(DIV(SQRT(ADD(s.v[2], IN(5))), SQRT(ADD(a, IN(5)))), s.g);
    return FINISH(SUB(s.v[0], MUL(by, IN(3))), a, ADD(MUL(s.v[2], rho), MUL(MUL(by, by), rest)));
}

/* (var, ms, mom, lr, rho, momentum, epsilon, grad) */
static bool rmsprop(tw__lowering *l)
{
    step s;
    if (!start(l, &s, 3, 7))
        return false;
    tw__hlo ms = moved(l, s.v[1], MUL(s.g, s.g), IN(4));
    tw__hlo by = ADD(MUL(s.v[2], IN(5)), DIV(MUL(s.g, IN(3)), SQRT(ADD(ms, IN(6)))));
    return FINISH(SUB(s.v[0], by), ms, by);
}

/* (var, mg, ms, mom, lr, rho, momentum, epsilon, grad) */
static bool centered(tw__lowering *l)
{
    step s;
    if (!start(l, &s, 4, 8))
        return false;
    tw__hlo mg = moved(l, s.v[1], s.g, IN(5)), ms = moved(l, s.v[2], MUL(s.g, s.g), IN(5));
    tw__hlo root = SQRT(ADD(SUB(ms, MUL(mg, mg)), IN(7)));
    tw__hlo by = ADD(MUL(s.v[3], IN(6)), DIV(MUL(s.g, IN(4)), root));
    return FINISH(SUB(s.v[0], by), mg, ms, by);
}

/* (var, accum, linear, grad, lr, l1, l2[, l2_shrinkage], lr_power); linear may hold its value times lr. */
static bool ftrl_step(tw__lowering *l, bool shrinks)
{
    step s;
    if (!start(l, &s, 3, 3))
        return false;
    bool times = TW_ATTR(l, "multiply_linear_by_lr")->b;
    tw__hlo lr = IN(4), l1 = IN(5), l2 = IN(6), power = UNARY("negate", IN(shrinks ? 8 : 7)), two = NUMBER(s.g.dtype, 2);
    tw__hlo a = ADD(s.v[1], MUL(s.g, s.g)), shrunk = shrinks ? ADD(s.g, MUL(MUL(s.v[0], IN(7)), two)) : s.g;
    tw__hlo root = BINARY("power", a, power), grown = SUB(root, BINARY("power", s.v[1], power));
    tw__hlo pull = times ? SUB(MUL(shrunk, lr), MUL(grown, s.v[0])) : SUB(shrunk, MUL(DIV(grown, lr), s.v[0]));
    tw__hlo linear = ADD(s.v[2], pull), limit = times ? MUL(l1, lr) : l1;
    tw__hlo below = times ? ADD(root, MUL(MUL(l2, two), lr)) : ADD(DIV(root, lr), MUL(l2, two));
    tw__hlo clipped = BINARY("minimum", BINARY("maximum", linear, UNARY("negate", limit)), limit);
    return FINISH(DIV(SUB(clipped, linear), below), a, linear);
}

static bool ftrl(tw__lowering *l)
{
    return ftrl_step(l, false);
}

static bool ftrl_v2(tw__lowering *l)
{
    return ftrl_step(l, true);
}

/* x moved towards zero by `by`, not beyond it. */
static tw__hlo shrunk(tw__lowering *l, tw__hlo x, tw__hlo by)
{
    tw__hlo least = BINARY("maximum", by, NUMBER(x.dtype, 0)),
            far = BINARY("maximum", SUB(UNARY("abs", x), least), NUMBER(x.dtype, 0));
    return MUL(UNARY("sign", x), far);
}

/* (var, alpha, l1, l2, delta) */
static bool proximal(tw__lowering *l)
{
    step s;
    if (!start(l, &s, 1, 4))
        return false;
    tw__hlo alpha = IN(1), to = SUB(s.v[0], MUL(s.g, alpha));
    return FINISH(DIV(shrunk(l, to, MUL(alpha, IN(2))), ADD(s.one, MUL(IN(3), alpha))));
}

/* (var, accum, lr, l1, l2, grad) */
static bool proximal_adagrad(tw__lowering *l)
{
    step s;
    if (!start(l, &s, 2, 5))
        return false;
    tw__hlo a = ADD(s.v[1], MUL(s.g, s.g)), rate = DIV(IN(2), SQRT(a)), to = SUB(s.v[0], MUL(s.g, rate));
    return FINISH(DIV(shrunk(l, to, MUL(rate, IN(3))), ADD(s.one, MUL(rate, IN(4)))), a);
}

/* (var, gradient_accumulator, squared_accumulator, grad, lr, l1, l2, global_step) */
static bool dual_averaging(tw__lowering *l)
{
    step s;
    if (!start(l, &s, 3, 3))
        return false;
    tw__hlo sum = ADD(s.v[1], s.g), squares = ADD(s.v[2], MUL(s.g, s.g)), lr = IN(4),
            count = tw__hlo_convert(l, IN(7), s.g.dtype);
    tw__hlo top = MUL(UNARY("negate", lr), shrunk(l, sum, MUL(count, IN(5))));
    return FINISH(DIV(top, ADD(MUL(MUL(IN(6), count), lr), SQRT(squares))), sum, squares);
}

/* (var, m, lr, base, sign_decay, beta, grad) */
static bool sign_step(tw__lowering *l, bool power)
{
    step s;
    if (!start(l, &s, 2, 6))
        return false;
    tw__hlo m = ADD(MUL(s.v[1], IN(5)), MUL(s.g, SUB(s.one, IN(5))));
    tw__hlo agrees = MUL(MUL(UNARY("sign", s.g), UNARY("sign", m)), IN(4));
    tw__hlo factor = power ? UNARY("exponential", MUL(agrees, IN(3))) : ADD(agrees, IN(3));
    return FINISH(SUB(s.v[0], MUL(MUL(factor, IN(2)), s.g)), m);
}

static bool add_sign(tw__lowering *l)
{
    return sign_step(l, false);
}

static bool power_sign(tw__lowering *l)
{
    return sign_step(l, true);
}

const tw__lower_row tw__lower_updates[] = {
    { "ResourceApplyGradientDescent", descent, NULL },
    { "ResourceApplyMomentum", momentum, NULL },
    { "ResourceApplyKerasMomentum", keras_momentum, NULL },
    { "ResourceApplyAdam", adam, NULL },
    { "ResourceApplyAdamWithAmsgrad", amsgrad, NULL },
    { "ResourceApplyAdaMax", adamax, NULL },
    { "ResourceApplyAdagrad", adagrad, NULL },
    { "ResourceApplyAdagradV2", adagrad_v2, NULL },
    { "ResourceApplyAdadelta", adadelta, NULL },
    { "ResourceApplyRMSProp", rmsprop, NULL },
    { "ResourceApplyCenteredRMSProp", centered, NULL },
    { "ResourceApplyFtrl", ftrl, NULL },
    { "ResourceApplyFtrlV2", ftrl_v2, NULL },
    { "ResourceApplyProximalGradientDescent", proximal, NULL },
    { "ResourceApplyProximalAdagrad", proximal_adagrad, NULL },
    { "ResourceApplyAdagradDA", dual_averaging, NULL },
    { "ResourceApplyAddSign", add_sign, NULL },
    { "ResourceApplyPowerSign", power_sign, NULL },
    { "ResourceSparseApplyMomentum", momentum, "rows" },
    { "ResourceSparseApplyKerasMomentum", keras_momentum, "rows" },
    { "ResourceSparseApplyAdagrad", adagrad, "rows" },
    { "ResourceSparseApplyAdagradV2", adagrad_v2, "rows" },
    { "ResourceSparseApplyAdadelta", adadelta, "rows" },
    { "ResourceSparseApplyRMSProp", rmsprop, "rows" },
    { "ResourceSparseApplyCenteredRMSProp", centered, "rows" },
    { "ResourceSparseApplyFtrl", ftrl, "rows" },
    { "ResourceSparseApplyFtrlV2", ftrl_v2, "rows" },
    { "ResourceSparseApplyProximalGradientDescent", proximal, "rows" },
    { "ResourceSparseApplyProximalAdagrad", proximal_adagrad, "rows" },
    { "ResourceSparseApplyAdagradDA", dual_averaging, "rows" },
    { NULL, NULL, NULL },
};
