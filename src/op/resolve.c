/* From a call to complete attrs: given ones by name, types and counts from the inputs, the rest by default; all checked. */
#include "op/op.h"

typedef struct resolution {
    const tw_op *op;
    const tw__op_signature *signature;
    tw_attr *attrs;
    uint32_t set; /* a bit per attr */
} resolution;

static bool is_set(const resolution *r, int attr)
{
    return r->set >> attr & 1;
}

static void mark_set(resolution *r, int attr)
{
    r->set |= UINT32_C(1) << attr;
}

/* Errors by themselves, so that the way without one has no frames for them. */
static __attribute__((noinline, cold)) tw_status refuse_type(const resolution *r, int attr, tw_dtype dtype, const char *input)
{
    uint64_t allowed = r->signature->attrs[attr].allowed_types;
    tw__text text = { 0 };
    for (int i = 1; i < TW_DTYPE_LIMIT; i++) {
        if (allowed >> i & 1)
            tw__text_format(&text, "%s%s", text.size ? ", " : "", tw__dtype_text((tw_dtype)i));
    }
    char *list = tw__text_take(&text);
    tw__fail(TW_INVALID_ARGUMENT, "Value for attr '%s' of %s is not in the list of allowed values: %s; op %s%s%s",
             r->signature->attrs[attr].name, tw__dtype_text(dtype), list ? list : "", r->op->name, input ? ", input " : "",
             input ? input : "");
    tw__free(list);
    return TW_INVALID_ARGUMENT;
}

static __attribute__((noinline, cold)) tw_status refuse_input(const resolution *r, int at, tw_dtype expected, tw_dtype dtype)
{
    return tw__fail(TW_INVALID_ARGUMENT,
                    "cannot compute %s as input #%d(zero-based) was expected to be a %s tensor but is a %s tensor", r->op->name,
                    at, tw__dtype_text(expected), tw__dtype_text(dtype));
}

static inline tw_status check_type(const resolution *r, int attr, tw_dtype dtype, const char *input)
{
    uint64_t allowed = r->signature->attrs[attr].allowed_types;
    return __builtin_expect(allowed && !(allowed >> dtype & 1), 0) ? refuse_type(r, attr, dtype, input) : TW_OK;
}

static tw_status set_count(resolution *r, int attr, int64_t count)
{
    const tw__attr_def *def = &r->signature->attrs[attr];
    if (is_set(r, attr) && r->attrs[attr].i != count)
        return tw__fail(TW_INVALID_ARGUMENT, "%s: a list of %lld inputs where %s is %lld", r->op->name, (long long)count,
                        def->name, (long long)r->attrs[attr].i);
    r->attrs[attr].i = count;
    mark_set(r, attr);
    return TW_OK;
}

static tw_status take_given(resolution *r, const tw_attr *given, int given_count)
{
    const tw__op_signature *s = r->signature;
    for (int i = 0; i < given_count; i++) {
        int k = 0;
        while (k < s->attr_count && strcmp(s->attrs[k].name, given[i].name) != 0)
            k++;
        if (k == s->attr_count)
            return tw__fail(TW_INVALID_ARGUMENT, "%s has no attr named %s", r->op->name, given[i].name);
        const tw__attr_def *def = &s->attrs[k];
        if (def->kind != given[i].kind)
            return tw__fail(TW_INVALID_ARGUMENT, "%s: the attr %s was given as another kind of value than the op takes",
                            r->op->name, def->name);
        r->attrs[k] = given[i];
        r->attrs[k].name = def->name;
        mark_set(r, k);
        if (def->kind == TW_ATTR_TYPE)
            TW_TRY(check_type(r, k, given[i].type, NULL));
        if (def->allowed_strings) {
            char **allowed = def->allowed_strings;
            while (*allowed && !(strlen(*allowed) == given[i].s.size && memcmp(*allowed, given[i].s.data, given[i].s.size) == 0))
                allowed++;
            if (!*allowed)
                return tw__fail(TW_INVALID_ARGUMENT,
                                "Value for attr '%s' of \"%.*s\" is not in the list of allowed values; op %s", def->name,
                                (int)given[i].s.size, given[i].s.data, r->op->name);
        }
    }
    return TW_OK;
}

static inline __attribute__((always_inline)) tw_status take_dtype(resolution *r, const tw__arg *arg, tw_dtype dtype, int at)
{
    int attr = arg->type_attr;
    if (attr >= 0 && !is_set(r, attr)) {
        TW_TRY(check_type(r, attr, dtype, arg->name));
        r->attrs[attr].type = dtype;
        mark_set(r, attr);
        return TW_OK;
    }
    tw_dtype expected = attr >= 0 ? r->attrs[attr].type : arg->dtype;
    bool any = attr < 0 && expected == TW_DTYPE_NONE;
    return __builtin_expect(expected != dtype && !any, 0) ? refuse_input(r, at, expected, dtype) : TW_OK;
}

/* How many inputs the arguments before and behind a list take; there is at most one list whose length only the call tells. */
static tw_status take_lists(resolution *r, const tw_dtype *dtypes, int count)
{
    const tw__op_signature *s = r->signature;
    int singles = 0, lists = 0;
    int64_t known = 0;
    for (int i = 0; i < s->input_count; i++) {
        const tw__arg *arg = &s->inputs[i];
        if (arg->count_attr >= 0 && is_set(r, arg->count_attr))
            known += r->attrs[arg->count_attr].i;
        else if (arg->types_attr >= 0 && is_set(r, arg->types_attr))
            known += r->attrs[arg->types_attr].count;
        else if (arg->count_attr >= 0 || arg->types_attr >= 0)
            lists++;
        else
            singles++;
    }
    if (lists == 0 ? singles + known != count : singles + known > count)
        return tw__fail(TW_INVALID_ARGUMENT, "%s takes %s%lld inputs, got %d", r->op->name, lists ? "at least " : "",
                        (long long)(singles + known), count);
    /* Lists that share one count attr split what is left equally (none of the rows has two that don't). */
    int64_t each = lists ? (count - singles - known) / lists : 0;
    if (lists && each * lists != count - singles - known)
        return tw__fail(TW_INVALID_ARGUMENT, "%s: %d inputs can't be split into %d lists of one length", r->op->name, count,
                        lists);
    int at = 0;
    for (int i = 0; i < s->input_count; i++) {
        const tw__arg *arg = &s->inputs[i];
        int64_t members = 1;
        if (arg->count_attr >= 0) {
            members = is_set(r, arg->count_attr) ? r->attrs[arg->count_attr].i : each;
            if (members < 0 || members > count - at)
                return tw__fail(TW_INVALID_ARGUMENT, "%s: the list %s has %lld members, but there are %d inputs", r->op->name,
                                arg->name, (long long)members, count);
            TW_TRY(set_count(r, arg->count_attr, members));
        } else if (arg->types_attr >= 0) {
            members = is_set(r, arg->types_attr) ? r->attrs[arg->types_attr].count : each;
            if (members > count - at)
                return tw__fail(TW_INVALID_ARGUMENT, "%s: too few inputs for the list %s", r->op->name, arg->name);
            r->attrs[arg->types_attr].types = dtypes + at;
            r->attrs[arg->types_attr].count = (int32_t)members;
            mark_set(r, arg->types_attr);
        }
        for (int64_t k = 0; k < members; k++, at++)
            TW_TRY(take_dtype(r, arg, dtypes[at], at));
    }
    return TW_OK;
}

static tw_status take_inputs(resolution *r, const tw_dtype *dtypes, int count)
{
    const tw__op_signature *s = r->signature;
    if (s->has_lists || count != s->input_count)
        return take_lists(r, dtypes, count);
    for (int i = 0; i < count; i++)
        TW_TRY(take_dtype(r, &s->inputs[i], dtypes[i], i));
    return TW_OK;
}

/* Attrs that the call has to give, and those with a least value. */
static tw_status check_attrs(const resolution *r)
{
    for (int i = 0; i < r->signature->attr_count; i++) {
        const tw__attr_def *def = &r->signature->attrs[i];
        const tw_attr *value = &r->attrs[i];
        if (!is_set(r, i) && !def->has_default)
            return tw__fail(TW_INVALID_ARGUMENT, "%s needs the attr %s", r->op->name, def->name);
        if (def->has_minimum && def->kind == TW_ATTR_INT && value->i < def->minimum)
            return tw__fail(TW_INVALID_ARGUMENT, "%s: the attr %s must be at least %lld, got %lld", r->op->name, def->name,
                            (long long)def->minimum, (long long)value->i);
        if (def->has_minimum && def->kind > TW_ATTR_FUNC && value->count < def->minimum)
            return tw__fail(TW_INVALID_ARGUMENT, "%s: the list %s must have at least %lld members, got %d", r->op->name,
                            def->name, (long long)def->minimum, value->count);
    }
    return TW_OK;
}

tw_status tw__op_resolve(const tw_op *op, const tw_dtype *input_dtypes, int input_count, const tw_attr *given, int given_count,
                         tw_attr *complete, tw_dtype *out_dtypes, int out_limit, int *output_count)
{
    const tw__op_signature *s = tw__op_signature_of(op);
    if (!s)
        return TW_INTERNAL;
    resolution r = { .op = op, .signature = s, .attrs = complete };
    for (int i = 0; i < s->attr_count; i++)
        complete[i] = s->attrs[i].value;
    TW_TRY(take_given(&r, given, given_count));
    TW_TRY(take_inputs(&r, input_dtypes, input_count));
    if (s->needed & ~r.set || s->bounded)
        TW_TRY(check_attrs(&r));
    int at = 0;
    for (int i = 0; i < s->output_count; i++) {
        const tw__arg *arg = &s->outputs[i];
        int64_t members = arg->count_attr >= 0   ? complete[arg->count_attr].i
                          : arg->types_attr >= 0 ? complete[arg->types_attr].count
                                                 : 1;
        if (members < 0 || members > out_limit - at)
            return tw__fail(TW_INVALID_ARGUMENT, "%s: %lld outputs, more than there is room for", op->name, (long long)members);
        for (int64_t k = 0; k < members; k++)
            out_dtypes[at++] = arg->types_attr >= 0  ? complete[arg->types_attr].types[k]
                               : arg->type_attr >= 0 ? complete[arg->type_attr].type
                                                     : arg->dtype;
    }
    *output_count = at;
    return TW_OK;
}
