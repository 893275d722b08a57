/* Operations with regions: loops and branches. What is inside of them is written between these calls. */
#include "lower/lower.h"

static void add_types(tw__text *text, const tw__hlo *values, int count)
{
    for (int i = 0; i < count; i++) {
        tw__text_add(text, i ? ", " : "");
        tw__hlo_type(text, values[i].dtype, &values[i].shape);
    }
}

static void add_names(tw__text *text, const tw__hlo *values, int count)
{
    for (int i = 0; i < count; i++)
        tw__text_format(text, i ? ", %%%d" : "%%%d", values[i].id);
}

/* Results have their dtypes and shapes, and get their ids. */
static void flow_begin(tw__lowering *l, const char *name, const tw__hlo *operands, int operand_count, tw__hlo *results,
                       int result_count)
{
    for (int i = 0; i < result_count; i++)
        results[i].id = l->next++;
    add_names(l->text, results, result_count);
    tw__text_format(l->text, " = \"stablehlo.%s\"(", name);
    add_names(l->text, operands, operand_count);
    tw__text_add(l->text, ") (");
}

/* Arguments have their dtypes and shapes, and get their ids. */
static void region_begin(tw__lowering *l, bool first, tw__hlo *arguments, int count)
{
    tw__text_add(l->text, first ? "{\n" : ", {\n");
    for (int i = 0; i < count; i++) {
        arguments[i].id = l->next++;
        tw__text_format(l->text, "%s%%%d: %s", i ? ", " : "^bb0(", arguments[i].id, tw__hlo_type_text(arguments[i]));
    }
    tw__text_add(l->text, count ? "):\n" : "");
}

static void region_end(tw__lowering *l, const tw__hlo *results, int count)
{
    tw__text *text = l->text;
    tw__text_add(text, "stablehlo.return ");
    add_names(text, results, count);
    tw__text_add(text, " : ");
    add_types(text, results, count);
    tw__text_add(text, "\n}");
}

static void flow_end(tw__lowering *l, const tw__hlo *operands, int operand_count, const tw__hlo *results, int result_count)
{
    tw__text *text = l->text;
    tw__text_add(text, ") : (");
    add_types(text, operands, operand_count);
    tw__text_add(text, ") -> (");
    add_types(text, results, result_count);
    tw__text_add(text, ")\n");
}

const tw__flow_writer tw__lower_flow = { flow_begin, region_begin, region_end, flow_end };
