/* tf.debugging.enable_check_numerics: every float that an operation of the thread gives is checked, with TensorFlow's texts.
 *
 * What runs at once is looked at when it has run. In a graph a CheckNumericsV2 node is added behind every node; it runs whatever
 * becomes of its output. In a lasting graph, where only what is asked for runs, it stands in the place of the output it checks;
 * checks of placeholders, which are fed themselves, are control inputs of the nodes that use them. A check's text tells the names
 * of nodes, so it is written when they are named. */
#include "base/language.h"
#include "graph/graph.h"
#include "op/math/numerics.h"
#include "rows.h"

_Atomic int tw__numerics_threads;

static _Thread_local struct {
    bool on;
    int64_t height, length; /* of stacks, of paths in them; TW_NO_INT: no limit */
} wish;

TW_API(
    debugging_enable_check_numerics,
    "debugging.enable_check_numerics(stack_height_limit: int? = 30, path_length_limit: int? = 50)",
    "From now on an operation of this thread that gives an infinity or a NaN is an error; so are such values in functions that are traced.\n"
    "stack_height_limit: how many lines of the stack the message shows at most\n"
    "path_length_limit: how many characters of paths in it are shown")
{
    if (wish.on)
        return TW_OK;
    wish.on = true;
    wish.height = args->stack_height_limit;
    wish.length = args->path_length_limit;
    atomic_fetch_add(&tw__numerics_threads,
                     1); /* a thread that ends without disabling it leaves one too many, which is slower, not wrong */
    return TW_OK;
}

TW_API(debugging_disable_check_numerics, "debugging.disable_check_numerics()",
       "Ends what enable_check_numerics began; what was traced meanwhile stays checked.")
{
    if (wish.on)
        atomic_fetch_sub(&tw__numerics_threads, 1);
    wish.on = false;
    return TW_OK;
}

/* Operations that pass on what others gave, or of which TensorFlow knows that they are right. */
static bool passes_on(const char *name)
{
    static const char *const names[] = {
        "CheckNumericsV2",
        "Concat",
        "ConcatV2",
        "DestroyResourceOp",
        "Enter",
        "Exit",
        "ExpandDims",
        "Fill",
        "Gather",
        "Identity",
        "If",
        "LoopCond",
        "Maximum",
        "Merge",
        "Minimum",
        "NextIteration",
        "RemoteCall",
        "Reshape",
        "Slice",
        "Squeeze",
        "Stack",
        "StatefulPartitionedCall",
        "StatelessIf",
        "StridedSlice",
        "StridedSliceGrad",
        "Switch",
        "TensorListConcatV2",
        "TensorListGather",
        "TensorListGetItem",
        "TensorListPopBack",
        "TensorListStack",
        "Transpose",
        "Unpack",
        "While",
    };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (strcmp(names[i], name) == 0)
            return true;
    }
    return false;
}

/* Means and variances of an empty batch are NaN. */
static bool is_checked(const char *name, tw_dtype dtype, int output)
{
    return tw__dtype_is_float(dtype) && (output == 0 || !tw__starts_with(name, "FusedBatchNorm") || strstr(name, "Grad"));
}

/* ---- texts ---- */

static void add_head(tw__text *text, int output, const char *kind, const char *name, int outputs, tw_dtype dtype,
                     const tw_shape *shape)
{
    tw__owned char *dims = tw__shape_tuple(shape);
    text->failed |= !dims;
    tw__text_format(
        text,
        "\n\n!!! Detected Infinity or NaN in output %d of %s op \"%s\" (# of outputs: %d) !!!\n  dtype: <dtype: '%s'>\n  shape: %s\n",
        output, kind, name, outputs, tw_dtype_name(dtype), dims ? dims : "");
}

static void add_input_head(tw__text *text, int input, int count)
{
    if (count == 1)
        tw__text_add(text, "\n  Input tensor: ");
    else if (input == 0)
        tw__text_format(text, "\n  Input tensors (%d):\n", count);
    if (count > 1)
        tw__text_format(text, "         %d: ", input);
}

tw_status tw__numerics_run(const char *name, tw_tensor *const *inputs, int input_count, tw_tensor *const *outputs,
                           int output_count)
{
    if (!wish.on || passes_on(name) || strcmp(name, "PartitionedCall") == 0) /* a call is checked under the function's name */
        return TW_OK;
    for (int i = 0; i < output_count; i++) {
        tw__nonfinite found = { 0 };
        if (is_checked(name, outputs[i]->dtype, i))
            found = tw__nonfinite_of(outputs[i]);
        const char *words = tw__nonfinite_words(&found);
        if (!words)
            continue;
        tw__auto(tw__text_free) tw__text text = { 0 };
        add_head(&text, i, "eagerly-executing", name, output_count, outputs[i]->dtype, &outputs[i]->shape);
        int64_t counts[] = { found.below, found.above, found.not_numbers };
        static const char *const kinds[] = { "-Inf", "+Inf", "+NaN" };
        for (int k = 0; k < 3; k++) {
            if (counts[k])
                tw__text_format(&text, "  # of %s elements: %lld\n", kinds[k], (long long)counts[k]);
        }
        for (int k = 0; k < input_count; k++) {
            tw__owned char *shown = tw_tensor_str(inputs[k]);
            add_input_head(&text, k, input_count);
            tw__text_format(&text, "%s\n", shown ? shown : "");
        }
        tw_clear_error(); /* of values that cannot be printed */
        tw_status status =
            tw__fail_op("CheckNumericsV2", TW_INVALID_ARGUMENT, "%s\n : Tensor had %s values", text.data ? text.data : "", words);
        tw__error_call_name("");
        return status;
    }
    return TW_OK;
}

/* Where the node was made: lines "File "PATH", line 3, in NAME", of which the innermost count. */
static void add_stack(tw__text *text, const char *lines)
{
    int64_t count = 1;
    for (const char *c = lines; *c; c++)
        count += *c == '\n';
    tw__text_add(text, "\n  Stack trace of op's creation (\"->\": inferred user code):\n");
    if (wish.height != TW_NO_INT && count > wish.height)
        tw__text_format(text, "    + ... (Omitted %lld frames)\n", (long long)(count - wish.height));
    for (; *lines; lines += strcspn(lines, "\n"), lines += *lines == '\n') {
        if (wish.height != TW_NO_INT && count-- > wish.height)
            continue;
        const char *path = lines + strcspn(lines, "\""), *end = strstr(path, "\", line "),
                   *in = end ? strstr(end, ", in ") : NULL;
        if (!in)
            continue;
        path++;
        bool cut = wish.length != TW_NO_INT && end - path > wish.length;
        if (cut)
            path = end - (wish.length < 0 ? 0 : wish.length);
        const char *line = end + strlen("\", line "), *name = in + strlen(", in ");
        name += tw__starts_with(name, "tf__") ? strlen("tf__") : 0; /* what AutoGraph calls a converted function */
        tw__text_format(text, "    + %s%.*s (L%.*s) %.*s\n -> |   \n", cut ? "..." : "", (int)(end - path), path,
                        (int)(in - line), line, (int)strcspn(name, "\n"), name);
    }
}

static char *graph_text(tw__node *node, int output)
{
    tw__text text = { 0 };
    const tw__origin *origin = (const tw__origin *)node->origin;
    add_head(&text, output, "graph", node->op->name, node->output_count, node->out_dtypes[output], &node->out_shapes[output]);
    for (int k = 0; k < node->input_count; k++) {
        const tw__node *from = tw__node_checked(node->inputs[k].node);
        int of = from == node->inputs[k].node ? node->inputs[k].output : node->inputs[k].node->inputs[0].output;
        tw__owned char *shape = tw__shape_tuple(&from->out_shapes[of]);
        bool ranked = shape && from->out_shapes[of].rank >= 0;
        add_input_head(&text, k, node->input_count);
        tw__text_format(&text, "Tensor(\"%s:%d\"%s%s, dtype=%s)\n", from->name, of, ranked ? ", shape=" : "", ranked ? shape : "",
                        tw_dtype_name(from->out_dtypes[of]));
    }
    const char *name = node->graph->name ? node->graph->name : "", *number = strrchr(name, '_');
    bool whole = tw__starts_with(name, "__inference_") && number; /* of "__inference_f_12" the middle */
    name += whole ? strlen("__inference_") : 0;
    if (*name)
        tw__text_format(&text, "  Graph name: \"%.*s\"\n", whole && number > name ? (int)(number - name) : (int)strlen(name),
                        name);
    if (origin && *origin->text)
        add_stack(&text, origin->text);
    tw__text_add(&text, "\n");
    return tw__text_take(&text);
}

/* ---- nodes ---- */

tw__node *tw__node_checked(tw__node *node)
{
    return node && node->checks ? node->inputs[0].node : node;
}

tw__node *tw__numerics_check_of(const tw__node *node, int output)
{
    const tw__graph *graph = node->graph;
    for (size_t i = (size_t)node->id + 1;
         i < graph->node_count && graph->nodes[i]->checks && graph->nodes[i]->inputs[0].node == node; i++) {
        if (graph->nodes[i]->inputs[0].output == output)
            return graph->nodes[i];
    }
    return NULL;
}

static char *name_of_check(const tw__node *node)
{
    return tw__format("%s/CheckNumericsV2", node->name);
}

/* The names that the text tells are settled. */
static tw_status set_text(tw__node *check)
{
    tw__owned char *message = graph_text(check->inputs[0].node, check->inputs[0].output);
    tw_attr attrs[] = { TW_A_TYPE("T", check->out_dtypes[0]), TW_A_STRING("message", message ? message : "") };
    void *block = message ? tw__alloc(tw__attrs_bytes(attrs, 2)) : NULL;
    if (block) {
        tw__attrs_end(check->attrs, check->attr_count);
        tw__free(check->attrs);
        check->attrs = tw__attrs_copy(attrs, 2, block);
    }
    return block ? TW_OK : tw__error_status();
}

tw_status tw__numerics_settle(tw__node *check)
{
    tw__owned char *name = name_of_check(check->inputs[0].node);
    TW_NEED(name);
    TW_TRY(tw__node_name(check, name));
    return set_text(check);
}

static tw_status add_check(tw__node *node, int output)
{
    if (!node->origin && tw__language.origin)
        node->origin = tw__language.origin();
    tw_dtype dtype = node->out_dtypes[output];
    tw_shape shape = node->out_shapes[output];
    tw__edge edge = { node, output };
    tw_attr attrs[] = { TW_A_TYPE("T", dtype), TW_A_STRING("message", "") };
    tw__owned char *name = node->unnamed ? NULL : name_of_check(node);
    bool good = name || node->unnamed;
    tw__node *check =
        good ? tw__graph_add(node->graph, &tw__op_CheckNumericsV2, name, &edge, 1, attrs, 2, &dtype, &shape, 1) : NULL;
    TW_NEED(check);
    check->checks = true;
    return check->unnamed ? TW_OK : set_text(check);
}

/* A constant that the node uses, of a function. Constants are seldom wrong: only such have a check. */
static tw_status check_constant(tw__node *node)
{
    const tw_tensor *value = tw__attr_find(node->op, node->attrs, "value")->tensor;
    tw__nonfinite found = tw__nonfinite_of(value);
    return tw__nonfinite_words(&found) ? add_check(node, 0) : TW_OK;
}

tw_status tw__numerics_trace(tw__node *node)
{
    if (!wish.on || passes_on(node->op->name))
        return TW_OK;
    bool lasting = node->graph->lasting;
    for (int i = 0; i < node->input_count; i++) {
        tw__node *from = node->inputs[i].node,
                 *check = lasting && tw__node_is(from, TW_ROLE_PLACEHOLDER) ? tw__numerics_check_of(from, 0) : NULL;
        if (check)
            TW_TRY(tw__node_follow(node, check));
        if (!lasting && tw__node_is(from, TW_ROLE_CONSTANT))
            TW_TRY(check_constant(from));
    }
    for (int i = 0; i < node->output_count; i++) {
        if (is_checked(node->op->name, node->out_dtypes[i], i))
            TW_TRY(add_check(node, i));
    }
    return TW_OK;
}
