/* tf.einsum: an equation as users write it, completed and checked; more than two operands are contracted two at a time, those
 * first whose product is the smallest compared with what it replaces. */
#include "op/op.h"
#include "rows.h"
#include "spec/spec.h"

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/* Labels, "...", commas, and one arrow at most. */
static bool is_well_formed(const char *equation)
{
    bool arrow = false, ellipsis = false;
    for (const char *p = equation; *p; p++) {
        if (strncmp(p, "->", 2) == 0 && !arrow) {
            arrow = true;
            ellipsis = false;
            p++;
        } else if (strncmp(p, "...", 3) == 0 && !ellipsis) {
            ellipsis = true;
            p += 2;
        } else if (*p == ',' && !arrow) {
            ellipsis = false;
        } else if (!is_letter(*p)) {
            return false;
        }
    }
    return true;
}

/* Without an arrow: what stands once, in the order of the alphabet. */
static void add_output(tw__text *text)
{
    char output[64] = "...", *end = output;
    const char *dots = strstr(text->data, "...");
    if (dots && !strstr(dots + 3, "..."))
        end += 3;
    for (char c = 'A'; c <= 'z'; c++) {
        const char *first = is_letter(c) ? strchr(text->data, c) : NULL;
        if (first && !strchr(first + 1, c))
            *end++ = c;
    }
    *end = 0;
    tw__text_add(text, "->");
    tw__text_add(text, output);
}

static tw_status check_output(const char *equation, const char *arrow)
{
    for (const char *p = arrow + 2; *p; p++) {
        if (!is_letter(*p))
            continue;
        if (strchr(p + 1, *p))
            return tw__fail(TW_VALUE_ERROR, "Output subscripts contain a label appearing more than once: %s", equation);
        if (strchr(equation, *p) > arrow)
            return tw__fail(TW_VALUE_ERROR, "Output subscripts contain the label %c not present in the input subscripts.", *p);
    }
    return TW_OK;
}

static tw_status resolve(const char *equation, int64_t inputs, tw__text *text)
{
    for (const char *p = equation; *p; p++) {
        if (*p != ' ')
            tw__text_bytes(text, p, 1);
    }
    tw__text_add(text, "");
    if (text->failed)
        return tw__error_status();
    if (!is_well_formed(text->data))
        return tw__fail(TW_VALUE_ERROR, "Subscripts have incorrect format: %s", text->data);
    if (!strstr(text->data, "->"))
        add_output(text);
    if (text->failed)
        return tw__error_status();
    int64_t expected = 1;
    for (const char *p = text->data; *p; p++)
        expected += *p == ',';
    if (inputs != expected)
        return tw__fail(TW_VALUE_ERROR, "Got %lld inputs for equation \"%s\", expecting %lld", (long long)inputs, equation,
                        (long long)expected);
    return check_output(text->data, strstr(text->data, "->"));
}

static tw_tensor *contract(const char *equation, tw_tensor *const *inputs, int count)
{
    tw_attr attr = TW_A_STRING("equation", equation);
    return tw__call(&tw__op_Einsum, inputs, count, &attr, 1);
}

/* ---- several operands ---- */

typedef struct term {
    char *labels;
    tw_tensor *value;
} term;

typedef struct terms {
    term *items;
    int count;
    const char *output;
    double dims[128]; /* by label */
} terms;

static void terms_end(terms *all)
{
    for (int i = 0; i < all->count; i++) {
        tw__free(all->items[i].labels);
        tw_release(all->items[i].value);
    }
    tw__free(all->items);
}

static double size_of(const terms *all, const char *labels)
{
    double size = 1;
    for (; *labels; labels++)
        size *= is_letter(*labels) ? all->dims[(int)*labels] : 1;
    return size;
}

/* The labels of the product of two terms: those that the result or another term still needs. */
static char *product_labels(const terms *all, int a, int b)
{
    tw__text out = { 0 };
    bool ellipsis = strstr(all->items[a].labels, "...") || strstr(all->items[b].labels, "...");
    tw__text_add(&out, ellipsis ? "..." : "");
    for (char c = 'A'; c <= 'z'; c++) {
        if (!is_letter(c) || !(strchr(all->items[a].labels, c) || strchr(all->items[b].labels, c)))
            continue;
        bool needed = strchr(all->output, c) != NULL;
        for (int i = 0; i < all->count; i++)
            needed |= i != a && i != b && strchr(all->items[i].labels, c);
        if (needed)
            tw__text_bytes(&out, &c, 1);
    }
    return tw__text_take(&out);
}

static tw_status contract_pair(terms *all, int a, int b, bool last)
{
    char *labels = last ? tw__strdup(all->output) : product_labels(all, a, b);
    char *equation = labels ? tw__format("%s,%s->%s", all->items[a].labels, all->items[b].labels, labels) : NULL;
    tw_tensor *product = equation ? contract(equation, TW_IN(all->items[a].value, all->items[b].value), 2) : NULL;
    tw__free(equation);
    if (!product) {
        tw__free(labels);
        return tw__error_status();
    }
    tw__free(all->items[a].labels);
    tw__free(all->items[b].labels);
    tw_release(all->items[a].value);
    tw_release(all->items[b].value);
    all->items[a] = (term){ labels, product };
    all->items[b] = all->items[--all->count];
    return TW_OK;
}

static tw_status contract_cheapest(terms *all)
{
    int best[2] = { 0, 1 };
    double least = 0;
    for (int a = 0; a < all->count && all->count > 2; a++) {
        for (int b = a + 1; b < all->count; b++) {
            char *labels = product_labels(all, a, b);
            if (!labels)
                return tw__error_status();
            double cost = size_of(all, labels) - size_of(all, all->items[a].labels) - size_of(all, all->items[b].labels);
            tw__free(labels);
            if ((a == 0 && b == 1) || cost < least) {
                least = cost;
                best[0] = a;
                best[1] = b;
            }
        }
    }
    return contract_pair(all, best[0], best[1], all->count == 2);
}

/* The sizes that labels stand for, as far as they are known. */
static void note_sizes(terms *all, const char *labels, const tw_shape *shape)
{
    const char *dots = strstr(labels, "...");
    int front = dots ? (int)(dots - labels) : (int)strlen(labels), back = (int)strlen(labels) - front - (dots ? 3 : 0);
    for (int i = 0; i < front + back; i++) {
        int place = i < front ? i : shape->rank - back + i - front;
        int64_t dim = shape->rank >= 0 && place >= 0 && place < shape->rank ? shape->dims[place] : -1;
        all->dims[(int)(i < front ? labels[i] : dots[3 + i - front])] = dim < 0 ? 100 : (double)dim;
    }
}

static tw_tensor *contract_all(char *equation, tw_tensors inputs)
{
    char *arrow = strstr(equation, "->"), *begin = equation;
    tw__auto(terms_end) terms all = { .items = tw__alloc_array((size_t)inputs.count, sizeof(term)), .output = arrow + 2 };
    *arrow = 0;
    if (!all.items)
        return NULL;
    for (int64_t i = 0; i < inputs.count; i++) {
        size_t size = strcspn(begin, ",");
        char *labels = tw__strndup(begin, size);
        all.items[all.count++] = (term){ labels, tw_retain(inputs.items[i]) };
        if (!labels)
            return NULL;
        note_sizes(&all, labels, &inputs.items[i]->shape);
        begin += size + 1;
    }
    while (all.count > 1)
        if (contract_cheapest(&all) != TW_OK)
            return NULL;
    return tw_retain(all.items[0].value);
}

/* The ways of finding an order of contraction have one way in common here; it changes the speed alone. */
static tw_status check_optimize(const char *optimize)
{
    static const char *const known[] = { "greedy",
                                         "optimal",
                                         "auto",
                                         "auto-hq",
                                         "branch-1",
                                         "branch-2",
                                         "branch-all",
                                         "eager",
                                         "opportunistic",
                                         "dp",
                                         "dynamic-programming",
                                         "random-greedy",
                                         "random-greedy-128" };
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        if (strcmp(optimize, known[i]) == 0)
            return TW_OK;
    }
    return tw__fail(TW_KEY_ERROR,
                    "Path optimizer '%s' not found, valid options are greedy, optimal, auto, branch-all and their kin.",
                    optimize);
}

TW_API(
    einsum, "einsum|linalg.einsum(equation: str, *inputs: tensors<T>, *, optimize: str = greedy, name: str = None) -> tensor",
    "Sums of products over labelled dimensions: 'ij,jk->ik' is a matrix product. optimize names a way of finding an order for more than "
    "two inputs.\n"
    "equation: the labels of each input's dimensions, and behind `->` those of the result; `...` stands for dimensions that are broadcast\n"
    "inputs: the tensors\n"
    "optimize: `greedy`, `optimal`, `branch-2`, `branch-all` or `auto`\n"
    "raises: ValueError: the equation is for another number of inputs\n"
    "raises: InvalidArgumentError: ranks or lengths do not fit the labels\n"
    "example: tf.einsum('ij,jk->ik', tf.constant([[1, 2]]), tf.constant([[3], [4]])).numpy().tolist()  # [[11]]")
{
    tw__auto(tw__text_free) tw__text equation = { 0 };
    tw_tensor *result = NULL;
    if (resolve(args->equation, args->inputs.count, &equation) == TW_OK) {
        if (args->inputs.count <= 2)
            result = contract(equation.data, args->inputs.items, (int)args->inputs.count);
        else if (check_optimize(args->optimize) == TW_OK)
            result = contract_all(equation.data, args->inputs);
    }
    return result;
}
