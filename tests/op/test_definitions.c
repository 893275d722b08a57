/* Our op table against TensorFlow's own (tests/golden/op_definitions/definitions.txt): the same inputs, outputs, attrs, kinds and
 * defaults, in the same order; the dtypes that an op takes are among TensorFlow's. */
#include <stdio.h>

#include "test.h"

#include "op/op.h"

static const char *kind_name(tw_attr_kind kind)
{
    static const char *const names[] = {
        "",     "int",       "float",       "bool",       "string",       "type",       "shape",       "tensor",
        "func", "list(int)", "list(float)", "list(bool)", "list(string)", "list(type)", "list(shape)", "list(func)"
    };
    return names[kind];
}

static void add_arg(tw__text *text, const tw__op_signature *s, const tw__arg *arg)
{
    tw__text_format(text, "%s%s:", text->size ? " " : "", arg->name);
    if (arg->count_attr >= 0)
        tw__text_format(text, "%s*", s->attrs[arg->count_attr].name);
    tw__text_add(text, arg->type_attr >= 0    ? s->attrs[arg->type_attr].name
                       : arg->types_attr >= 0 ? s->attrs[arg->types_attr].name
                                              : tw_dtype_name(arg->dtype));
}

static void add_default(tw__text *text, const tw__attr_def *attr)
{
    if (!attr->has_default) {
        tw__text_add(text, "none");
        return;
    }
    switch (attr->kind) {
    case TW_ATTR_INT:
        tw__text_format(text, "%lld", (long long)attr->value.i);
        break;
    case TW_ATTR_FLOAT:
        tw__text_format(text, "%.6g", attr->value.f);
        break;
    case TW_ATTR_BOOL:
        tw__text_add(text, attr->value.b ? "true" : "false");
        break;
    case TW_ATTR_STRING:
        tw__text_add(text, "'");
        for (const char *c = attr->value.s.data ? attr->value.s.data : ""; *c; c++) { /* a definition is one line */
            if (*c == '\n' || *c == '\t')
                tw__text_add(text, *c == '\n' ? "\\n" : "\\t");
            else
                tw__text_bytes(text, c, 1);
        }
        tw__text_add(text, "'");
        break;
    case TW_ATTR_TYPE:
        tw__text_add(text, tw_dtype_name(attr->value.type));
        break;
    case TW_ATTR_SHAPE:
        tw__text_add(text, "given");
        break;
    default:
        tw__text_add(text, "[");
        for (int i = 0; i < attr->value.count; i++)
            if (attr->kind == TW_ATTR_FLOATS)
                tw__text_format(text, "%s%.6g", i ? "," : "", attr->value.floats[i]);
            else
                tw__text_format(text, "%s%lld", i ? "," : "", (long long)attr->value.ints[i]);
        tw__text_add(text, "]");
    }
}

/* Allowed dtypes of ours must be in TensorFlow's list ("" : all). */
static bool types_are_among(const tw__attr_def *attr, const char *theirs)
{
    if (!*theirs || *theirs == '\'')
        return true;
    if (!attr->allowed_types)
        return false;
    char padded[400];
    snprintf(padded, sizeof padded, ",%s,", theirs);
    for (int i = 1; i < TW_DTYPE_LIMIT; i++) {
        char name[32];
        snprintf(name, sizeof name, ",%s,", tw_dtype_name((tw_dtype)i));
        if ((attr->allowed_types >> i & 1) && !strstr(padded, name))
            return false;
    }
    return true;
}

static int check_line(char *line)
{
    char *name = strsep(&line, "\t"), *inputs = strsep(&line, "\t"), *outputs = strsep(&line, "\t"), *attrs = strsep(&line, "\t");
    const tw_op *op = tw__op_find(name);
    if (!op) {
        print_error("%s is not in the table: make definitions.txt anew\n", name);
        return 1;
    }
    const tw__op_signature *s = tw__op_signature_of(op);
    if (!s) {
        print_error("%s\n", tw_error_message());
        tw_clear_error();
        return 1;
    }
    int bad = 0;
    tw__text text = { 0 };
    for (int i = 0; i < s->input_count; i++)
        add_arg(&text, s, &s->inputs[i]);
    if (strcmp(text.data ? text.data : "", inputs) != 0 && ++bad)
        print_error("%s: inputs are %s, TensorFlow's are %s\n", name, text.data, inputs);
    tw__text_clear(&text);
    for (int i = 0; i < s->output_count; i++)
        add_arg(&text, s, &s->outputs[i]);
    if (strcmp(text.data ? text.data : "", outputs) != 0 && ++bad)
        print_error("%s: outputs are %s, TensorFlow's are %s\n", name, text.data, outputs);
    int index = 0;
    for (char *one; attrs && *attrs && (one = strsep(&attrs, " ")); index++) {
        char *attr_name = strsep(&one, ":"), *kind = strsep(&one, ":"), *value = strsep(&one, ":"),
             *allowed = one ? one : (char *)"";
        if (index >= s->attr_count) {
            print_error("%s: the attr %s is missing\n", name, attr_name);
            bad++;
            continue;
        }
        const tw__attr_def *own = &s->attrs[index];
        tw__text_clear(&text);
        add_default(&text, own);
        if (strcmp(own->name, attr_name) || strcmp(kind_name(own->kind), kind) || strcmp(text.data, value)) {
            print_error("%s: attr %d is %s: %s = %s, TensorFlow's is %s: %s = %s\n", name, index, own->name, kind_name(own->kind),
                        text.data, attr_name, kind, value);
            bad++;
        }
        if (!types_are_among(own, allowed)) {
            print_error("%s: the attr %s allows dtypes that TensorFlow does not: %s\n", name, attr_name, allowed);
            bad++;
        }
    }
    if (index < s->attr_count && ++bad)
        print_error("%s: has %d attrs, TensorFlow %d\n", name, s->attr_count, index);
    tw__text_free(&text);
    return bad;
}

static void definitions(void **state)
{
    (void)state;
    FILE *file = fopen(TW_TEST_DATA "/golden/op_definitions/definitions.txt", "r");
    assert_non_null(file);
    char *line = NULL;
    size_t room = 0;
    int bad = 0, lines = 1; /* ClusterSum is not TensorFlow's */
    while (getline(&line, &room, file) > 0) {
        line[strcspn(line, "\n")] = 0;
        bad += check_line(line);
        lines++;
    }
    free(line);
    fclose(file);
    if (lines != tw__op_count() && ++bad)
        print_error("definitions.txt has %d ops, the table %d: run tests/golden/op_definitions.py\n", lines, tw__op_count());
    assert_int_equal(bad, 0);
}

static void rows_are_complete(void **state)
{
    (void)state;
    for (int i = 0; i < tw__op_count(); i++) {
        const tw_op *op = tw__op_at(i);
        assert_non_null(op->shape);
        assert_non_null(op->compute);
        assert_true(*tw_op_doc(i));
        if (i)
            assert_true(strcmp(tw__op_at(i - 1)->name, op->name) < 0);
    }
    assert_null(tw__op_find("NoSuchOp"));
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(definitions), cmocka_unit_test(rows_are_complete) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
