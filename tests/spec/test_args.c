/* Argument structs by their field tables: defaults, sizes, checks, copies, projection. */
#include "test.h"

#include "spec/spec.h"

typedef struct sample_args {
    size_t tw_size;
    tw_tensor *x;
    int64_t axis;
    int64_t count;
    double rate;
    bool use_bias;
    const char *padding;
    tw_ints strides;
    tw_shape shape;
    tw_named activation;
    double learning_rate;
    void *learning_rate_object;
    tw_tensors others;
    tw_pairs rest;
} sample_args;

#define tw_sample_defaults                                                                                          \
    .axis = -1, .count = TW_NO_INT, .rate = 0.5, .use_bias = true, .shape = { .rank = -1 }, .learning_rate = 0.001, \
    .tw_size = sizeof(sample_args)
typedef sample_args tw_sample_args;

#define FIELD(name_, kind_, ...)                                                           \
    {                                                                                      \
        .name = #name_, .kind = kind_, .offset = offsetof(sample_args, name_), __VA_ARGS__ \
    }

static const tw_field fields[] = {
    FIELD(x, TW_KIND_TENSOR, .required = true),
    FIELD(axis, TW_KIND_INT, .default_int = -1),
    FIELD(count, TW_KIND_INT, .default_none = true, .none_allowed = true, .has_minimum = true, .exclusive_minimum = true),
    FIELD(rate, TW_KIND_FLOAT, .default_float = 0.5, .has_minimum = true),
    FIELD(use_bias, TW_KIND_BOOL, .default_int = 1),
    FIELD(padding, TW_KIND_STR, .default_text = "valid", .has_choices = true, .choices = "same, valid"),
    FIELD(strides, TW_KIND_INTS, .default_text = "1, 2"),
    FIELD(shape, TW_KIND_SHAPE, .default_none = true, .none_allowed = true),
    FIELD(activation, TW_KIND_NAMED, .default_none = true, .none_allowed = true),
    FIELD(learning_rate, TW_KIND_NUMBER, .default_float = 0.001),
    FIELD(others, TW_KIND_TENSORS),
    FIELD(rest, TW_KIND_PAIRS, .rest = true),
};

static const tw_signature signature = { .id = "sample",
                                        .path = "sample",
                                        .fields = fields,
                                        .field_count = (int)(sizeof fields / sizeof *fields),
                                        .args_size = sizeof(sample_args) };

static void zero_is_zero(void **state)
{
    (void)state;
    tw_auto tw_tensor *x = tw_tensor_float(1);
    sample_args args = TW_ARGS(sample, x);
    assert_int_equal(tw_args_complete(&signature, &args), TW_OK);
    assert_int_equal(args.axis, -1);
    assert_int_equal(args.count, TW_NO_INT);
    assert_float_equal(args.rate, 0.5, 0);
    assert_true(args.use_bias);
    assert_string_equal(args.padding, "valid");
    assert_int_equal(args.strides.count, 2);
    assert_int_equal(args.strides.items[1], 2);
    assert_int_equal(args.shape.rank, -1);
    assert_null(args.activation);
    assert_float_equal(args.learning_rate, 0.001, 0);
    args = TW_ARGS(sample, x, 0, .rate = 0, .learning_rate = 0, .use_bias = false, .shape = TW_SCALAR, .strides = TW_NO_INTS);
    assert_int_equal(tw_args_complete(&signature, &args), TW_OK);
    assert_int_equal(args.axis, 0);
    assert_float_equal(args.rate, 0, 0);
    assert_false(args.use_bias);
    assert_float_equal(args.learning_rate, 0, 0);
    assert_int_equal(args.shape.rank, 0);
    assert_int_equal(args.strides.count, 0);
}

/* Structs of programs that were compiled before the last options came. */
static void smaller_structs(void **state)
{
    (void)state;
    tw_auto tw_tensor *x = tw_tensor_float(1);
    sample_args args, given;
    for (size_t size = offsetof(sample_args, axis); size <= sizeof given; size += 8) {
        memset(&args, 0xff, sizeof args);
        memset(&given, 0, sizeof given);
        memset((char *)&given + size, 0xff, sizeof given - size); /* behind the end there may be anything */
        given.tw_size = size;
        given.x = x;
        assert_int_equal(tw__args_take(&signature, &given, &args), size > offsetof(sample_args, count) ? TW_VALUE_ERROR : TW_OK);
        tw_clear_error(); /* a count of 0 is refused */
        assert_int_equal(args.axis, size > offsetof(sample_args, axis) ? 0 : -1);
        assert_int_equal(args.count, size > offsetof(sample_args, count) ? 0 : TW_NO_INT);
        if (size > offsetof(sample_args, count))
            break;
        assert_true(args.use_bias);
        assert_string_equal(args.padding, "valid");
        assert_float_equal(args.learning_rate, 0.001, 0);
        assert_null(args.learning_rate_object);
        assert_int_equal(args.tw_size, sizeof args);
    }
    given = (sample_args){ .x = x };
    assert_int_not_equal(tw__args_take(&signature, &given, &args), TW_OK);
    expect_error(TW_INVALID_ARGUMENT, "does not tell its size");
}

static void checks(void **state)
{
    (void)state;
    tw_auto tw_tensor *x = tw_tensor_float(1);
    sample_args missing = TW_ARGS(sample, NULL);
    assert_int_not_equal(tw_args_complete(&signature, &missing), TW_OK);
    expect_error(TW_INVALID_ARGUMENT, "`x` is NULL");
    sample_args small = TW_ARGS(sample, x, .count = -3);
    assert_int_not_equal(tw_args_complete(&signature, &small), TW_OK);
    expect_error(TW_VALUE_ERROR, "`count` must be > 0. Received: count=-3");
    sample_args negative = TW_ARGS(sample, x, .rate = -1);
    assert_int_not_equal(tw_args_complete(&signature, &negative), TW_OK);
    expect_error(TW_VALUE_ERROR, "`rate` must be >= 0");
    sample_args choice = TW_ARGS(sample, x, .padding = "sam");
    assert_int_not_equal(tw_args_complete(&signature, &choice), TW_OK);
    expect_error(TW_VALUE_ERROR, "one of: same, valid. Received: padding=sam");
    tw_tensors others = TW_TENSORS(x, NULL);
    sample_args hole = TW_ARGS(sample, x, .others = others);
    assert_int_not_equal(tw_args_complete(&signature, &hole), TW_OK);
    expect_error(TW_INVALID_ARGUMENT, "`others` holds NULL at 1");
}

static void copies_own_what_they_hold(void **state)
{
    (void)state;
    char name[] = "relu", key[] = "model";
    int64_t strides[] = { 3, 4 };
    tw_tensor *x = tw_tensor_float(7), *rate = tw_tensor_float(1);
    tw_tensors others = TW_TENSORS(x, rate);
    tw_pairs rest = TW_PAIRS({ key, x });
    sample_args args = TW_ARGS(sample, x, .activation = name, .padding = "same", .strides = { strides, 2, true, false },
                               .learning_rate_object = rate, .others = others, .rest = rest);
    assert_int_equal(tw_args_complete(&signature, &args), TW_OK);
    for (int n = 1;; n++) { /* every allocation fails once; nothing leaks or breaks */
        tw__alloc_fail_at(n);
        sample_args *copy = tw__args_copy(&signature, &args);
        tw__alloc_fail_at(0);
        if (copy) {
            name[0] = key[0] = 'X';
            strides[0] = 99;
            assert_string_equal(copy->activation, "relu");
            assert_string_equal(copy->rest.items[0].name, "model");
            assert_int_equal(copy->strides.items[0], 3);
            assert_ptr_equal(copy->learning_rate_object, rate);
            tw_release(x);
            tw_release(rate);
            assert_float_equal(tw_tensor_double_at(copy->others.items[0], 0), 7, 0);
            tw__args_free(&signature, copy);
            break;
        }
        expect_error(TW_RESOURCE_EXHAUSTED, "out of memory");
    }
}

typedef struct parent_args {
    size_t tw_size;
    tw_flag use_bias;
    int64_t axis;
} parent_args;

static void projection(void **state)
{
    (void)state;
    static const tw_field parent_fields[] = {
        { .name = "use_bias", .kind = TW_KIND_BOOL, .offset = offsetof(parent_args, use_bias) },
        { .name = "axis", .kind = TW_KIND_INT, .offset = offsetof(parent_args, axis) },
    };
    static const tw_signature parent = {
        .id = "parent", .path = "parent", .fields = parent_fields, .field_count = 2, .args_size = sizeof(parent_args)
    };
    sample_args args = { .axis = 5, .use_bias = true };
    parent_args out;
    tw__args_project(&signature, &args, &parent, &out);
    assert_true(out.use_bias);
    assert_int_equal(out.axis, 5);
}

static void the_tables_are_sound(void **state)
{
    (void)state;
    for (int i = 0; i < tw_signature_count(); i++) {
        const tw_signature *s = tw_signature_at(i);
        assert_non_null(tw_signature_doc(s));
        assert_true(*tw_signature_doc(s));
        void *args = calloc(1, s->args_size);
        tw_args_default(s, args);
        free(args);
        for (int k = 0; k < s->field_count; k++) {
            const tw_field *f = &s->fields[k];
            assert_true(f->offset < s->args_size);
            bool general = f->word && (!strcmp(f->word, "object") || !strcmp(f->word, "trackable") ||
                                       !strcmp(f->word, "callable") || !strcmp(f->word, "function"));
            if (f->kind == TW_KIND_HANDLE && !general && !tw_class_find(f->word))
                fail_msg("%s: the argument %s names no class: %s", s->path, f->name, f->word);
        }
    }
    assert_null(tw_signature_at(-1));
    assert_null(tw_signature_find("no.such.thing"));
    assert_non_null(tw_signature_find("GradientTape"));
    assert_non_null(tw_class_find("variable"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(zero_is_zero), cmocka_unit_test(smaller_structs),
        cmocka_unit_test(checks),       cmocka_unit_test(copies_own_what_they_hold),
        cmocka_unit_test(projection),   cmocka_unit_test(the_tables_are_sound),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
