/* Evaluates formulas; see formula.h. What a formula asks for is computed by ops in the order of its text, so it works in graphs
 * and has gradients. */
#include "v1/formula.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "codec/codec.h"
#include "rows.h"

enum { MOST_LOCALS = 4, MOST_ARGUMENTS = 4 };

typedef struct word {
    const char *text;
    size_t size;
} word;

/* What a part of a formula gives: a tensor, NULL after a failure, or a number that takes the dtype of what stands beside it. */
typedef struct value {
    enum { TENSOR, NUMBER, INTEGER } kind;
    union {
        tw_tensor *tensor;
        double number;
    };
} value;

typedef struct reader {
    tw__formulas *f;
    const char *at;
    tw_tensor *x;
    word names[MOST_LOCALS];
    value values[MOST_LOCALS];
    int locals;
} reader;

static value comparison(reader *r);

static bool is(word w, const char *text)
{
    return strlen(text) == w.size && memcmp(w.text, text, w.size) == 0;
}

static word read_word(reader *r)
{
    word w = { r->at, 0 };
    while (isalnum((unsigned char)r->at[w.size]) || r->at[w.size] == '_')
        w.size++;
    r->at += w.size;
    return w;
}

static bool skip(reader *r, char sign)
{
    while (*r->at == ' ')
        r->at++;
    if (*r->at != sign)
        return false;
    r->at++;
    return true;
}

static value of(tw_tensor *tensor)
{
    return (value){ .kind = TENSOR, .tensor = tensor };
}

static value of_number(double number)
{
    return (value){ .kind = NUMBER, .number = number };
}

static value left_to(reader *r, tw_tensor *made)
{
    return of(tw__temp(r->f->t, made));
}

/* What an op gives of these values. */
static value apply(reader *r, const tw_op *op, const value *args, int count)
{
    tw__temps *t = r->f->t;
    tw_tensor *inputs[MOST_ARGUMENTS], *first = NULL;
    for (int i = count; i-- > 0;)
        first = args[i].kind == TENSOR ? args[i].tensor : first;
    for (int i = 0; i < count; i++) {
        inputs[i] = args[i].kind == TENSOR    ? args[i].tensor
                    : args[i].kind == INTEGER ? tw__temp_int(t, (int64_t)args[i].number, TW_INT32)
                                              : tw__temp(t, tw__grad_constant(args[i].number, first));
        if (!inputs[i])
            return of(NULL);
    }
    return left_to(r, op ? tw__call(op, inputs, count, NULL, 0) : NULL);
}

const char *tw__formula_find(const char *table, const char *kind, const char *method)
{
    size_t size = strlen(kind), length = strlen(method);
    for (const char *line = table; *line; line = strchr(line, '\n') + 1) {
        if (strncmp(line, kind, size) == 0 && line[size] == '.' && strncmp(line + size + 1, method, length) == 0 &&
            line[size + 1 + length] == '=')
            return line + size + length + 2;
    }
    return NULL;
}

/* ---- shapes ---- */

static tw_tensor *batch_shape(reader *r)
{
    tw__formulas *f = r->f;
    tw__temps *t = f->t;
    if (tw__formula_find(f->table, f->kind, "vector"))
        return tw__temp_slice(t, tw__temp_shape(t, tw__formula_value(f, "vector", NULL), TW_INT32), TW_NO_INT, -1);
    tw_tensor *shape = tw__temp_shape(t, f->parameters[0], TW_INT32);
    for (int i = 1; i < f->own; i++)
        shape = TW_TEMP(BroadcastArgs, shape, tw__temp_shape(t, f->parameters[i], TW_INT32));
    return shape;
}

/* [how many classes or members of a vector] */
static tw_tensor *size_of(reader *r)
{
    tw__temps *t = r->f->t;
    return tw__temp_slice(t, tw__temp_shape(t, tw__formula_value(r->f, "vector", NULL), TW_INT32), -1, TW_NO_INT);
}

static tw_tensor *joined(tw__temps *t, tw_tensor *a, tw_tensor *b)
{
    return a && b ? tw__temp_concat(t, TW_IN(a, b), 2, 0) : NULL;
}

/* ---- words ---- */

static double least(tw_dtype dtype) /* positive normal number */
{
    return dtype == TW_FLOAT64 ? 0x1p-1022 : dtype == TW_FLOAT16 ? 0x1p-14 : 0x1p-126;
}

static double ulp(tw_dtype dtype) /* the distance of 1 from the number below */
{
    return dtype == TW_FLOAT64 ? 0x1p-53 : dtype == TW_FLOAT16 ? 0x1p-11 : dtype == TW_BFLOAT16 ? 0x1p-8 : 0x1p-24;
}

static value named(reader *r, word w)
{
    tw__formulas *f = r->f;
    tw__temps *t = f->t;
    for (int i = 0; i < r->locals; i++) {
        if (w.size == r->names[i].size && memcmp(w.text, r->names[i].text, w.size) == 0)
            return r->values[i];
    }
    int at = 0, other = w.text[w.size - 1] == '_' ? f->own : 0;
    for (const char *name = f->names; name; at++) {
        size_t size = strcspn(name, ",)");
        if (size == w.size - (other > 0) && memcmp(name, w.text, size) == 0)
            return of(at + other < f->count ? f->parameters[at + other] : NULL);
        name = name[size] == ',' ? name + size + 1 : NULL;
    }
    if (!r->x && (is(w, "x") || is(w, "n") || is(w, "s")))
        tw__fail(TW_INVALID_ARGUMENT, "%s: x is not given", f->kind);
    tw_tensor *found = is(w, "x")       ? r->x
                       : is(w, "n")     ? tw__temp_reshape(t, r->x, (int64_t[]){ 1 }, 1)
                       : is(w, "s")     ? joined(t, tw__temp_reshape(t, r->x, (int64_t[]){ 1 }, 1), batch_shape(r))
                       : is(w, "batch") ? batch_shape(r)
                       : is(w, "size")  ? size_of(r)
                       : is(w, "k")     ? tw__temp_cast(t, tw__temp_at(t, size_of(r), 0), f->parameters[0]->dtype)
                                        : NULL;
    tw_dtype dtype = f->parameters[0]->dtype;
    return is(w, "tiny")    ? of_number(least(dtype))
           : is(w, "below") ? of_number(ulp(dtype) - 1)
           : is(w, "inf")   ? of_number(INFINITY)
                            : of(found);
}

/* ---- functions ---- */

/* A tensor of an operand that may be a number, like the other. */
static tw_tensor *like(reader *r, value x, const tw_tensor *other)
{
    return x.kind == NUMBER ? tw__temp(r->f->t, tw__grad_constant(x.number, other)) : x.tensor;
}

static tw_tensor *where(reader *r, tw_tensor *condition, value a, value b)
{
    tw__temps *t = r->f->t;
    tw_tensor *yes = like(r, a, b.tensor), *no = like(r, b, a.tensor);
    return TW_TEMP(SelectV2, condition, yes, no);
}

/* The value where a statistic is defined; elsewhere NaN, or an error. */
static tw_tensor *defined(reader *r, tw_tensor *condition, value x)
{
    tw__temps *t = r->f->t;
    value nan = of_number(NAN);
    if (r->f->nan)
        return where(r, condition, x, nan);
    tw_tensor *zero = where(r, condition, of(TW_TEMP(ZerosLike, x.tensor)), nan);
    return TW_TEMP(AddV2, x.tensor,
                   TW_TEMP(CheckNumerics, zero, TW_A_STRING("message", "the statistic is not defined for all members")));
}

static tw_tensor *drawn(reader *r, word name, const value *args, int count)
{
    tw__formulas *f = r->f;
    tw_tensor *shape = args[0].tensor, *first = count > 1 ? args[1].tensor : NULL;
    tw_dtype dtype = f->parameters[0]->dtype;
    if (!shape)
        return NULL;
    if (is(name, "normal"))
        return tw_random_normal(shape, .dtype = dtype, .seed = f->seed);
    if (is(name, "gamma"))
        return !first ? NULL
                      : tw_random_gamma(shape, first, .beta = count > 2 ? like(r, args[2], first) : NULL, .dtype = dtype,
                                        .seed = f->seed);
    if (is(name, "multinomial"))
        return !first ? NULL
                      : tw_random_categorical(shape, first, .dtype = tw_dtype_size(f->dtype) > 4 ? TW_INT64 : TW_INT32,
                                              .seed = f->seed);
    tw_tensor *low = count > 1 ? like(r, args[1], f->parameters[0]) : NULL,
              *high = count > 2 ? like(r, args[2], f->parameters[0]) : NULL;
    return tw_random_uniform(shape, .minval = low, .maxval = high, .dtype = dtype, .seed = f->seed);
}

/* One of the functions that are no ops; a new reference. */
static tw_tensor *composed(reader *r, word name, const value *args, int count)
{
    tw__formulas *f = r->f;
    tw__temps *t = f->t;
    tw_tensor *x = args[0].tensor, *y = count > 1 ? args[1].tensor : NULL;
    if (!x)
        return NULL;
    if (is(name, "where"))
        return tw_retain(where(r, x, args[1], args[2]));
    if (is(name, "defined"))
        return tw_retain(defined(r, x, args[1]));
    if (is(name, "float"))
        return tw__cast(x, f->parameters[0]->dtype);
    if (is(name, "int"))
        return tw__cast(x, TW_INT32);
    if (is(name, "label"))
        return tw__cast(x, f->dtype == TW_INT64 ? TW_INT64 : TW_INT32);
    if (is(name, "result"))
        return tw__cast(x, f->dtype);
    if (is(name, "lbeta"))
        return tw_math_lbeta(x);
    if (is(name, "set_diag"))
        return y ? tw_linalg_set_diag(x, y) : NULL;
    if (is(name, "entropy"))
        return y ? tw_nn_sigmoid_cross_entropy_with_logits(x, y) : NULL;
    if (is(name, "sparse_entropy"))
        return y ? tw_nn_sparse_softmax_cross_entropy_with_logits(x, y) : NULL;
    if (is(name, "join"))
        return tw_retain(joined(t, x, y));
    if (is(name, "rows")) /* all of them, each with a number for each class */
        return TW_CALL(Reshape, x, joined(t, tw__temp_ints(t, (int64_t[]){ -1 }, 1, TW_INT32), size_of(r)));
    if (is(name, "turned"))
        return tw_transpose(x);
    if (is(name, "range"))
        return tw_retain(tw__temp_range(t, tw__temp_at(t, x, 0)));
    if (is(name, "one_hot"))
        return y ? tw_one_hot(x, tw__temp_at(t, y, 0), .dtype = f->parameters[0]->dtype) : NULL;
    return drawn(r, name, args, count);
}

static value call(reader *r, word name)
{
    value args[MOST_ARGUMENTS];
    int count = 0;
    while (!skip(r, ')')) {
        if (count)
            skip(r, ',');
        if (count == MOST_ARGUMENTS || !*r->at)
            return of(NULL);
        args[count++] = comparison(r);
    }
    char text[32];
    if (name.text[-1] == '.') {
        snprintf(text, sizeof text, "%.*s", (int)name.size, name.text);
        return of(tw__formula_value(r->f, text, count ? args[0].tensor : NULL));
    }
    if (!isupper((unsigned char)*name.text))
        return left_to(r, composed(r, name, args, count));
    snprintf(text, sizeof text, "%.*s", (int)name.size, name.text);
    return apply(r, tw__op_find(text), args, count);
}

/* ---- expressions ---- */

static value atom(reader *r)
{
    if (skip(r, '(')) {
        value inner = comparison(r);
        skip(r, ')');
        return inner;
    }
    if (skip(r, '-')) {
        value inner = atom(r);
        if (inner.kind == TENSOR)
            return apply(r, &tw__op_Neg, &inner, 1);
        inner.number = -inner.number;
        return inner;
    }
    if (isdigit((unsigned char)*r->at)) {
        char *end = NULL, *start = (char *)r->at;
        double number = strtod(start, &end);
        r->at = end;
        return memchr(start, '.', (size_t)(end - start)) ? of_number(number) : (value){ .kind = INTEGER, .number = number };
    }
    skip(r, '.');
    word name = read_word(r);
    if (name.size == 0)
        return of(NULL);
    return skip(r, '(') ? call(r, name) : named(r, name);
}

static value both(reader *r, const tw_op *op, value left, value right)
{
    value args[] = { left, right };
    return apply(r, op, args, 2);
}

static value product(reader *r)
{
    value left = atom(r);
    for (;;) {
        if (skip(r, '*'))
            left = both(r, &tw__op_Mul, left, atom(r));
        else if (skip(r, '/'))
            left = both(r, &tw__op_RealDiv, left, atom(r));
        else
            return left;
    }
}

static value sum(reader *r)
{
    value left = product(r);
    for (;;) {
        if (skip(r, '+'))
            left = both(r, &tw__op_AddV2, left, product(r));
        else if (skip(r, '-'))
            left = both(r, &tw__op_Sub, left, product(r));
        else
            return left;
    }
}

static value comparison(reader *r)
{
    value left = sum(r);
    if (skip(r, '<'))
        return both(r, &tw__op_Less, left, sum(r));
    if (skip(r, '>'))
        return skip(r, '=') ? both(r, &tw__op_GreaterEqual, left, sum(r)) : both(r, &tw__op_Greater, left, sum(r));
    return left;
}

/* `'beta';` the next numbers are drawn with another seed, made of the seed and this word. */
static void salt(tw__formulas *f, const char *text)
{
    char seed[24], digest[65];
    if (f->seed == TW_NO_INT)
        return;
    tw__digest md5;
    tw__digest_begin(&md5, false);
    tw__digest_add(&md5, seed, (size_t)snprintf(seed, sizeof seed, "%lld", (long long)f->seed));
    tw__digest_add(&md5, text, strcspn(text, "'"));
    tw__digest_end(&md5, digest);
    digest[8] = 0;
    f->seed = (int64_t)(strtoul(digest, NULL, 16) & INT32_MAX);
}

tw_tensor *tw__formula_value(tw__formulas *f, const char *method, tw_tensor *x)
{
    reader r = { .f = f, .at = tw__formula_find(f->table, f->kind, method), .x = x };
    while (r.at) {
        if (skip(&r, '\'')) {
            salt(f, r.at);
            r.at = strchr(r.at, ';') + 1;
            continue;
        }
        const char *start = r.at + strspn(r.at, " ");
        r.at = start;
        word name = read_word(&r);
        bool local = name.size > 0 && *r.at == '=' && r.locals < MOST_LOCALS;
        r.at = local ? r.at + 1 : start;
        value found = comparison(&r);
        if (!local || (found.kind == TENSOR && !found.tensor))
            return found.tensor;
        r.names[r.locals] = name;
        r.values[r.locals++] = found;
        skip(&r, ';');
    }
    return NULL;
}
