/* Every row as a C call with NULL, with handles of other classes and with lists that hold such, in each of its slots, the other
 * slots filled as they should be: an error or a result, never a signal, never a hang.
 *
 * Without arguments two other classes are tried per slot; "full" tries all there are. */
#include "test.h"
#include "trial.h"

#include <thalweg/function.h>

#include "base/trackable.h"
#include "graph/graph.h"
#include "rows.h"

enum { CLASSES = 1000, DEPTH = 3 };
static bool full;
static const tw_class *classes[CLASSES];
static int class_count;

/* ---- what fits ---- */

static tw_tensors give_back(void *user, tw_tensors arguments)
{
    (void)user;
    return tw_give(arguments.items[0]);
}

static void *made(const tw_class *class, int depth);

static tw_tensor *some_tensor(const char *word)
{
    static const float numbers[4] = { 1, 2, 3, 4 };
    tw_dtype dtype = word ? tw_dtype_from_name(word) : TW_FLOAT32;
    if (dtype == TW_STRING)
        return tw_tensor_string("a", 1);
    return dtype == TW_DTYPE_NONE || dtype == TW_FLOAT32 ? tw_tensor_new(TW_FLOAT32, TW_SHAPE(2, 2), numbers)
                                                         : tw_tensor_new(dtype, TW_SHAPE(1), NULL);
}

static void *some_object(const tw_field *field, int depth)
{
    if (strcmp(field->word, "function") == 0)
        return tw_function_new(give_back, NULL);
    if (!field->class_row || field->class_row == &tw__tensor_class)
        return some_tensor(NULL);
    const tw_class *class = field->class_row;
    if (class == &tw__trackable_class)
        class = &tw__class_variable;
    else if (strcmp(field->word, "callable") == 0)
        class = &tw__class_constraints_non_neg;
    return made(class, depth - 1);
}

static const char *some_name(const tw_field *field)
{
    static const char *const names[][2] = { { "activation", "relu" },
                                            { "initializer", "zeros" },
                                            { "regularizer", "l2" },
                                            { "constraint", "non_neg" },
                                            { "optimizer", "sgd" } };
    for (size_t i = 0; field->word && i < sizeof names / sizeof *names; i++) {
        if (strcmp(field->word, names[i][0]) == 0)
            return names[i][1];
    }
    return "a";
}

static const char *some_text(const tw_field *field)
{
    if (!field->choices)
        return "a";
    return strndup(field->choices, strcspn(field->choices, ","));
}

/* What is made here is never freed: the process is a short one. */
static void fill(const tw_field *field, char *args, int depth)
{
    void *place = args + field->offset;
    static const int64_t one[1] = { 1 };
    void **list = calloc(2, sizeof *list);
    switch (field->kind) {
    case TW_KIND_TENSOR:
        *(void **)place = some_tensor(field->word);
        break;
    case TW_KIND_TENSORS:
        list[0] = some_tensor(field->word);
        *(tw_objects *)place = (tw_objects){ list, 1 };
        break;
    case TW_KIND_INT:
        *(int64_t *)place = 1;
        break;
    case TW_KIND_FLOAT:
    case TW_KIND_NUMBER:
        *(double *)place = 0.5;
        break;
    case TW_KIND_STR:
        *(const char **)place = some_text(field);
        break;
    case TW_KIND_NAMED:
        *(const void **)place = some_name(field);
        break;
    case TW_KIND_DTYPE:
        *(tw_dtype *)place = TW_FLOAT32;
        break;
    case TW_KIND_SHAPE:
        *(tw_shape *)place = TW_SHAPE(2, 2);
        break;
    case TW_KIND_INTS:
        *(tw_ints *)place = (tw_ints){ one, 1, true, false };
        break;
    case TW_KIND_HANDLE:
        *(void **)place = some_object(field, depth);
        break;
    case TW_KIND_HANDLES:
        list[0] = some_object(field, depth);
        *(tw_objects *)place = (tw_objects){ list, list[0] != NULL };
        break;
    case TW_KIND_VALUE:
        *(tw_value *)place = (tw_value){ .kind = TW_VALUE_INT, .i = 1 };
        break;
    default:
        break;
    }
}

static void fill_all(const tw_signature *row, char *args, int depth)
{
    tw_args_default(row, args);
    for (int i = 0; i < row->field_count; i++) {
        if (row->fields[i].required)
            fill(&row->fields[i], args, depth);
    }
}

/* An object of the class or of one below it; NULL if none can be made of such arguments. */
static void *made(const tw_class *class, int depth)
{
    void *object = NULL;
    for (int i = 0; depth > 0 && !object && i < class_count; i++) {
        const tw_class *c = classes[i];
        while (c && c != class)
            c = c->parent;
        if (!c)
            continue;
        char *args = calloc(1, classes[i]->signature->args_size + 1);
        fill_all(classes[i]->signature, args, depth);
        if (tw_args_complete(classes[i]->signature, args) == TW_OK)
            object = tw_class_make(classes[i], args);
        tw_clear_error();
        free(args);
    }
    return object;
}

/* ---- the calls ---- */

static void call(const tw_signature *row, const char *given)
{
    char *args = malloc(row->args_size + 1);
    tw_value result = { .kind = TW_VALUE_NONE };
    if (tw__args_take(row, given, args) == TW_OK && tw_signature_invoke(row, args, &result) == TW_OK &&
        row->result != TW_KIND_NONE)
        tw_value_free(&result);
    tw_clear_error();
    free(args);
}

/* An object that is of its class and nothing else. */
static void *empty(const tw_class *class)
{
    static void *known[CLASSES];
    for (int i = 0; i < class_count; i++) {
        if (classes[i] == class)
            return known[i] ? known[i] : (known[i] = tw__object_new(class));
    }
    return NULL;
}

static bool is_below(const tw_class *class, const tw_class *root)
{
    while (class && class != root)
        class = class->parent;
    return class != NULL;
}

static void try_foreign(trial *t, const tw_signature *row, const tw_field *field, char *args)
{
    const tw_class *wanted =
        field->kind == TW_KIND_TENSOR || field->kind == TW_KIND_TENSORS ? &tw__tensor_class : field->class_row;
    int done = 0;
    tw_pair named = { "a", NULL };
    void **list = calloc(1, sizeof *list);
    for (int i = 0; i < class_count && (full || done < 2); i++) {
        const tw_class *class = classes[full ? i : (i * 37 + row->field_count * 11) % class_count];
        if (!wanted || is_below(class, wanted))
            continue;
        done++;
        void *place = args + field->offset;
        list[0] = empty(class);
        named.object = list[0];
        if (field->kind == TW_KIND_TENSORS || field->kind == TW_KIND_HANDLES)
            *(tw_objects *)place = (tw_objects){ list, 1 };
        else if (field->kind == TW_KIND_PAIRS)
            *(tw_pairs *)place = (tw_pairs){ &named, 1 };
        else
            *(void **)place = list[0];
        if (TRIAL(t, "tw_%s(.%s = a %s)", row->id, field->name, class->name))
            call(row, args);
    }
    if (wanted && wanted != &tw__tensor_class && TRIAL(t, "tw_%s(.%s = a tensor)", row->id, field->name)) {
        list[0] = some_tensor(NULL);
        *(void **)(args + field->offset) = field->kind == TW_KIND_HANDLE ? list[0] : (void *)list;
        if (field->kind == TW_KIND_HANDLE)
            call(row, args);
    }
}

static void try_lists(trial *t, const tw_signature *row, const tw_field *field, char *args)
{
    static void *const hole[1] = { NULL };
    static const tw_pair nameless[1] = { { NULL, NULL } };
    void *place = args + field->offset;
    tw_objects odd[] = { { NULL, 0 }, { NULL, 1 }, { NULL, -1 }, { hole, 1 } };
    for (int i = 0; i < 4; i++) {
        *(tw_objects *)place = odd[i];
        if (field->kind == TW_KIND_PAIRS && i == 3)
            *(tw_pairs *)place = (tw_pairs){ nameless, 1 };
        if (TRIAL(t, "tw_%s(.%s = odd list %d)", row->id, field->name, i))
            call(row, args);
    }
}

/* Where any object may stand: real ones. */
static void try_objects(trial *t, const tw_signature *row, const tw_field *field, char *args)
{
    static const tw_class *const kinds[] = { &tw__tensor_class,
                                             &tw__class_variable,
                                             &tw__class_layers_dense,
                                             &tw__class_optimizers_sgd,
                                             &tw__class_tensor_spec,
                                             &tw__class_constraints_non_neg,
                                             &tw__class_losses_mean_squared_error,
                                             &tw__class_checkpoint };
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        if (!TRIAL(t, "tw_%s(.%s = a real %s)", row->id, field->name, kinds[i]->name))
            continue;
        void *object = i ? made(kinds[i], DEPTH) : some_tensor(NULL), *place = args + field->offset;
        if (field->kind == TW_KIND_NUMBER)
            ((void **)place)[1] = object;
        else if (field->kind == TW_KIND_VALUE)
            *(tw_value *)place = (tw_value){ .kind = i ? TW_VALUE_OBJECT : TW_VALUE_TENSOR, .object = object };
        else
            *(void **)place = object;
        call(row, args);
    }
}

static void try_numbers(trial *t, const tw_signature *row, const tw_field *field, char *args)
{
    void *place = args + field->offset;
    if (field->kind == TW_KIND_INTS)
        *(tw_ints *)place = (tw_ints){ NULL, 2, true, false };
    else if (field->kind == TW_KIND_SHAPE)
        ((tw_shape *)place)->rank = 1000;
    else
        *(tw_dtype *)place = (tw_dtype)1000;
    if (TRIAL(t, "tw_%s(.%s = nonsense)", row->id, field->name))
        call(row, args);
}

static void try_value(trial *t, const tw_signature *row, const tw_field *field, char *args)
{
    for (int kind = TW_VALUE_NONE; kind <= TW_VALUE_DICT; kind++) {
        *(tw_value *)(args + field->offset) = (tw_value){ .kind = kind };
        if (TRIAL(t, "tw_%s(.%s = an empty value of kind %d)", row->id, field->name, kind))
            call(row, args);
    }
}

static void try_field(trial *t, const tw_signature *row, const tw_field *field, char *args)
{
    switch (field->kind) {
    case TW_KIND_TENSOR:
    case TW_KIND_HANDLE:
    case TW_KIND_STR:
    case TW_KIND_NAMED:
        *(void **)(args + field->offset) = NULL;
        if (TRIAL(t, "tw_%s(.%s = NULL)", row->id, field->name))
            call(row, args);
        if (field->kind == TW_KIND_TENSOR || (field->kind == TW_KIND_HANDLE && field->class_row))
            try_foreign(t, row, field, args);
        else if (field->kind != TW_KIND_STR)
            try_objects(t, row, field, args);
        break;
    case TW_KIND_TENSORS:
    case TW_KIND_HANDLES:
    case TW_KIND_PAIRS:
        try_lists(t, row, field, args);
        try_foreign(t, row, field, args);
        break;
    case TW_KIND_NUMBER:
        try_objects(t, row, field, args);
        break;
    case TW_KIND_VALUE:
        try_value(t, row, field, args);
        try_objects(t, row, field, args);
        break;
    case TW_KIND_INTS:
    case TW_KIND_SHAPE:
    case TW_KIND_DTYPE:
        try_numbers(t, row, field, args);
        break;
    default:
        break;
    }
}

static void try_row(trial *t, const void *context)
{
    const tw_signature *row = context;
    char *args = calloc(1, row->args_size + sizeof(tw_objects));
    if (TRIAL(t, "tw_%s(NULL)", row->id))
        call(row, NULL);
    for (int i = 0; i < row->field_count; i++) {
        fill_all(row, args, DEPTH);
        try_field(t, row, &row->fields[i], args);
    }
}

static bool leaves_alone(const tw_signature *row)
{
    return strstr(row->path, "load_data") || strstr(row->path, "get_file"); /* they ask servers */
}

static void every_row(void **state)
{
    (void)state;
    trial *t = trial_new();
    for (int i = 0; i < tw_signature_count(); i++) {
        if (!leaves_alone(tw_signature_at(i)))
            trial_run(t, try_row, tw_signature_at(i));
    }
    printf("PROMISE: a NULL or a handle of another class in any slot of any row is an error: %ld tried\n", t->tried);
    assert_int_equal(t->bad, 0);
}

int main(int count, char **arguments)
{
    full = count > 1 && strcmp(arguments[1], "full") == 0;
    for (int i = 0; i < tw_signature_count(); i++) {
        const tw_class *class = tw_signature_at(i)->class_row;
        if (class && class_count < CLASSES)
            classes[class_count++] = class;
    }
    const struct CMUnitTest tests[] = { cmocka_unit_test(every_row) };
    trial_enter();
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    trial_leave();
    return failed;
}
