/* Shapes that do not fit, while a graph is made: a ValueError that shows the node which could not be made.
 *
 *     Dimensions must be equal, but are 3 and 2 for '{{node MatMul}} = MatMul[T=DT_FLOAT, …](a, b)' with input shapes: [2,3],
 * [2,3].
 *
 * The node's name is known only when the call around it is over (naming.c); until then its places in the text are empty. */
#include <stdlib.h>

#include "graph/graph.h"
#include "op/wording.h"
#include "rows.h"

static const char *shown(const tw_shape *shape)
{
    return shape->rank < 0 ? "?" : tw__shape_text(shape);
}

static void add_string(tw__text *text, tw_string string)
{
    tw__text_add(text, "\"");
    tw__text_bytes(text, string.data, string.size);
    tw__text_add(text, "\"");
}

/* One value; of a list, its member number k. */
static void add_value(tw__text *text, const tw_attr *attr, int k)
{
    switch (attr->kind) {
    case TW_ATTR_INT:
    case TW_ATTR_INTS:
        tw__text_format(text, "%lld", (long long)(attr->kind == TW_ATTR_INT ? attr->i : attr->ints[k]));
        return;
    case TW_ATTR_FLOAT:
    case TW_ATTR_FLOATS:
        tw__text_format(text, "%.6g", attr->kind == TW_ATTR_FLOAT ? attr->f : attr->floats[k]);
        return;
    case TW_ATTR_BOOL:
    case TW_ATTR_BOOLS:
        tw__text_add(text, (attr->kind == TW_ATTR_BOOL ? attr->b : attr->bools[k]) ? "true" : "false");
        return;
    case TW_ATTR_STRING:
    case TW_ATTR_STRINGS:
        add_string(text, attr->kind == TW_ATTR_STRING ? attr->s : attr->strings[k]);
        return;
    case TW_ATTR_TYPE:
    case TW_ATTR_TYPES:
        tw__text_add(text, tw__dtype_message_name(attr->kind == TW_ATTR_TYPE ? attr->type : attr->types[k]));
        return;
    case TW_ATTR_SHAPE:
    case TW_ATTR_SHAPES:
        tw__text_add(text, tw__shape_text(attr->kind == TW_ATTR_SHAPE ? attr->shape : &attr->shapes[k]));
        return;
    case TW_ATTR_TENSOR:
        tw__text_format(text, "Tensor<type: %s shape: %s>", tw__dtype_text(attr->tensor->dtype),
                        tw__shape_text(&attr->tensor->shape));
        return;
    default:
        tw__text_add(text, "…");
    }
}

static int by_name(const void *a, const void *b)
{
    return strcmp((*(const tw_attr *const *)a)->name, (*(const tw_attr *const *)b)->name);
}

static void add_attrs(tw__text *text, const tw__inference *in)
{
    const tw_attr *sorted[TW_MAX_ATTRS];
    int count = tw__op_signature_of(in->op)->attr_count;
    for (int i = 0; i < count; i++)
        sorted[i] = &in->attrs[i];
    qsort(sorted, (size_t)count, sizeof *sorted, by_name);
    for (int i = 0; i < count; i++) {
        tw__text_format(text, "%s%s=", i ? ", " : "[", sorted[i]->name);
        if (sorted[i]->kind < TW_ATTR_INTS) {
            add_value(text, sorted[i], 0);
            continue;
        }
        for (int k = 0; k < sorted[i]->count; k++) {
            tw__text_add(text, k ? ", " : "[");
            add_value(text, sorted[i], k);
        }
        tw__text_add(text, sorted[i]->count ? "]" : "[]");
    }
    tw__text_add(text, count ? "]" : "");
}

/* The node's name belongs here. */
static void add_gap(tw__text *gaps, const tw__text *text)
{
    tw__text_bytes(gaps, &text->size, sizeof text->size);
}

static void add_input(tw__text *text, tw__text *gaps, const tw__inference *in, const tw_tensor *input, int i)
{
    const tw__node *node = input->node;
    if (node && !node->unnamed) {
        tw__text_format(text, input->node_output ? "%s:%d" : "%s", node->name, input->node_output);
        return;
    }
    if (node && !node->helps && !tw__node_is(node, TW_ROLE_READ)) { /* another node of the same call */
        tw__text_add(text, node->op->name);
        return;
    }
    bool read = node && tw__node_is(node, TW_ROLE_READ);
    tw__owned char *own = read ? tw__strdup("ReadVariableOp") : tw__input_name(in->op, in->attrs, i);
    add_gap(gaps, text);
    tw__text_format(text, "/%s", own ? own : "");
}

static void add_numbers(tw__text *text, const tw_tensor *tensor)
{
    for (int64_t i = 0; i < tensor->count && i < 16; i++)
        tw__text_format(text, "%s%lld", i ? " " : "",
                        (long long)(tensor->dtype == TW_INT32 ? ((const int32_t *)tensor->data)[i]
                                                              : ((const int64_t *)tensor->data)[i]));
    if (tensor->count > 16)
        tw__text_add(text, "...");
}

/* The values that the shape depends on, as far as they are known. */
static void add_values(tw__text *text, const tw__wording *w)
{
    bool first = true;
    for (int i = 0; i < w->in->input_count && i < 32; i++) {
        const tw_tensor *value = w->values >> i & 1 ? w->in->values[i] : NULL;
        if (!value || !value->data || (value->dtype != TW_INT32 && value->dtype != TW_INT64))
            continue;
        tw__text_format(text, "%sinput[%d] = <", first ? " and with computed input tensors: " : ", ", i);
        add_numbers(text, value);
        tw__text_add(text, ">");
        first = false;
    }
    for (int i = 0; i < w->in->input_count && i < 32; i++) {
        tw_shape shape;
        if (w->partials >> i & 1 && tw__wording_vector(w, i, &shape))
            tw__text_format(text, " and with input tensors computed as partial shapes: input[%d] = %s", i,
                            tw__shape_text(&shape));
    }
}

static bool say(tw__wording *w)
{
    const tw_op *op = w->in->op;
    return (op->shape == tw_shape_broadcast && tw__words_binary(w)) || (op->words && op->words(w));
}

tw_status tw__shape_error(const tw__inference *inference, tw_tensor *const *inputs)
{
    tw__saved_error saved = tw__error_take();
    tw__wording w = { .in = inference, .own = saved.text ? saved.text : "" };
    tw__text gaps = { 0 };
    bool said = say(&w);
    tw_clear_error();
    if (!said)
        tw__text_add(&w.text, w.own);
    tw__text_add(&w.text, " for '{{node ");
    add_gap(&gaps, &w.text);
    tw__text_format(&w.text, "}} = %s", inference->op->name);
    add_attrs(&w.text, inference);
    for (int i = 0; i < inference->input_count; i++) {
        tw__text_add(&w.text, i ? ", " : "(");
        add_input(&w.text, &gaps, inference, inputs[i], i);
    }
    tw__text_add(&w.text, inference->input_count ? ")' with input shapes: " : "()'");
    for (int i = 0; i < inference->input_count; i++)
        tw__text_format(&w.text, "%s%s", i ? ", " : "", shown(inference->shapes[i]));
    add_values(&w.text, &w);
    tw__text_add(&w.text, ".");
    tw__owned char *text = tw__text_take(&w.text);
    if (!text || gaps.failed) {
        tw__text_free(&gaps);
        tw__error_restore(saved);
        return tw_error_code();
    }
    tw_clear_error();
    tw__fail_unnamed(TW_VALUE_ERROR, text, (const size_t *)gaps.data, gaps.size / sizeof(size_t));
    tw__text_free(&gaps);
    tw__error_drop(&saved);
    tw__naming_failed(inference->op);
    return TW_VALUE_ERROR;
}
