/* tf.compat.v1.variable_scope: a prefix of the names that get_variable gives, defaults, and whether variables are shared.
 *
 * Scopes that were entered lie on a stack of the thread; below it each graph (and eager execution) has a root scope of its own. A
 * scope that is entered under a name inherits from the one around it; one that is given as an object is opened again where it
 * stood. Entering also opens a name scope for operations, which has a number behind it the second time. A scope without a name of
 * its own ("default_name") gets one that was not opened yet inside the scope around it. */
#include "v1/variable_scope.h"

/* ---- the class ---- */

static void scope_destroy(void *self)
{
    struct tw_variable_scope *scope = self;
    tw__free(scope->name);
    tw__free(scope->name_scope);
    tw_release(scope->initializer);
    tw_release(scope->regularizer);
    tw_release(scope->constraint);
}

static void scope_visit(void *self, tw__visitor visitor, void *context)
{
    struct tw_variable_scope *scope = self;
    if (scope->initializer)
        visitor(context, scope->initializer);
    if (scope->regularizer)
        visitor(context, &scope->regularizer->object);
    if (scope->constraint)
        visitor(context, &scope->constraint->object);
}

static void scope_clear(void *self)
{
    struct tw_variable_scope *scope = self;
    tw__set(&scope->initializer, NULL);
    tw__set(&scope->regularizer, NULL);
    tw__set(&scope->constraint, NULL);
}

static tw_status check_initializer(const char *function, const void *object)
{
    if (!object || tw__is(object, &tw__class_initializer) || tw__is(object, &tw__tensor_class))
        return TW_OK;
    return tw__fail(TW_TYPE_ERROR, "%s: the initializer is a %s; expected an initializer or a tensor", function,
                    tw_class_name(object));
}

static tw_status set_names(struct tw_variable_scope *scope, const char *name, const char *name_scope)
{
    scope->name = tw__strdup(name ? name : "");
    scope->name_scope = tw__strdup(name_scope ? name_scope : "");
    return scope->name && scope->name_scope ? TW_OK : TW_RESOURCE_EXHAUSTED;
}

static tw_status scope_init(void *self, const void *given)
{
    struct tw_variable_scope *scope = self;
    const tw_variable_scope_args *args = given;
    TW_TRY(check_initializer("VariableScope", args->initializer));
    scope->reuse = args->reuse ? TW__REUSE_YES : TW__REUSE_NO;
    scope->dtype = args->dtype;
    tw__set(&scope->initializer, args->initializer);
    tw__set(&scope->regularizer, args->regularizer);
    tw__set(&scope->constraint, args->constraint);
    return set_names(scope, args->name, args->name_scope);
}

TW_CLASS(variable_scope,
         "compat.v1.VariableScope(reuse: bool = False, name: str = '', initializer: object = None, regularizer: callable = None, "
         "name_scope: str = '', dtype: dtype = float32, constraint: callable = None)",
         .size = sizeof(struct tw_variable_scope), .init = scope_init, .destroy = scope_destroy, .visit = scope_visit,
         .clear = scope_clear, .drop_config = true,
         .doc = "What get_variable goes by: a prefix of names, defaults, and whether variables are shared.\n"
                "name_scope: the prefix of the names of operations\n"
                "name: the prefix of the names of variables");

/* ---- stores ---- */

static void free_variable(void *variable)
{
    tw_release(variable);
}

static void store_destroy(void *self)
{
    tw__variable_store *store = self;
    tw_release(store->root);
    tw__map_free(&store->variables, free_variable);
    tw__map_free(&store->opened, NULL);
    for (size_t i = 0; i < store->kept_count; i++)
        tw__free(store->kept[i].name);
    tw__free(store->kept);
}

static const tw_class store_class = { .name = "VariableStore", .size = sizeof(tw__variable_store), .destroy = store_destroy };

static tw__variable_store *store_new(void)
{
    tw__variable_store *store = tw__object_new(&store_class);
    struct tw_variable_scope *root = store ? tw__object_new(&tw__class_variable_scope) : NULL;
    if (store)
        store->root = root;
    if (root)
        root->dtype = TW_FLOAT32;
    if (!root || set_names(root, "", "") != TW_OK) {
        tw_release(store);
        return NULL;
    }
    return store;
}

static tw__lock lock = TW__LOCK;
static tw__variable_store *eager_store;

static void end_eager_store(void)
{
    tw_release(eager_store);
    eager_store = NULL;
}

tw__variable_store *tw__variable_store_now(void)
{
    static tw__ending ending = { .end = end_eager_store };
    tw__at_shutdown(&ending);
    tw__graph *graph = tw__graph_root(tw__tracing);
    tw__lock_take(&lock);
    if (graph && !graph->variable_store)
        graph->variable_store = (tw_object *)store_new();
    if (!graph && !eager_store)
        eager_store = store_new();
    tw__variable_store *store = graph ? (tw__variable_store *)graph->variable_store : eager_store;
    tw__lock_give(&lock);
    return store;
}

/* ---- the thread's stack ---- */

typedef struct entered {
    tw__variable_store *store;       /* a reference */
    struct tw_variable_scope *scope; /* a reference */
    intptr_t *opened;                /* of a scope that was given: the counts of the store's scopes then, which come back */
    size_t opened_count;
    bool named; /* a name scope was opened */
} entered;

static _Thread_local entered *stack;
static _Thread_local size_t depth, capacity;

static struct tw_variable_scope *scope_in(const tw__variable_store *store)
{
    for (size_t i = depth; i-- > 0;) {
        if (stack[i].store == store)
            return stack[i].scope;
    }
    return store->root;
}

struct tw_variable_scope *tw__variable_scope_now(void)
{
    tw__variable_store *store = tw__variable_store_now();
    return store ? scope_in(store) : NULL;
}

tw__reuse tw__reuse_of(const char *word, tw__reuse inherited)
{
    return !word || *word == 'i' ? inherited : *word == 'n' ? TW__REUSE_NO : *word == 'y' ? TW__REUSE_YES : TW__REUSE_AUTO;
}

static intptr_t opened_of(const tw__variable_store *store, const char *name)
{
    return (intptr_t)tw__map_get(&store->opened, name, strlen(name));
}

static char *inside(const struct tw_variable_scope *outer, const char *name)
{
    return *outer->name ? tw__format("%s/%s", outer->name, name) : tw__strdup(name);
}

/* The name, or the name with a number, that was not opened yet inside the present scope. */
static char *unopened(const tw__variable_store *store, const struct tw_variable_scope *outer, const char *name)
{
    char *own = tw__strdup(name);
    for (long number = 1; own; number++) {
        tw__owned char *whole = inside(outer, own);
        bool taken = whole && opened_of(store, whole) != 0;
        if (!taken) {
            if (!whole)
                tw__free(own);
            return whole ? own : NULL;
        }
        tw__free(own);
        own = tw__format("%s_%ld", name, number);
    }
    return NULL;
}

static const char *last_part(const char *name)
{
    const char *slash = strrchr(name, '/');
    return slash ? slash + 1 : name;
}

/* The new scope's fields, from what is given and from the scope that it inherits from. */
static struct tw_variable_scope *made(const tw_variable_scope_enter_args *args, const struct tw_variable_scope *base,
                                      const struct tw_variable_scope *outer, const char *whole, const char *name_scope)
{
    struct tw_variable_scope *scope = tw__object_new(&tw__class_variable_scope);
    if (!scope || set_names(scope, whole, name_scope) != TW_OK) {
        tw_release(scope);
        return NULL;
    }
    scope->reuse = tw__reuse_of(args->reuse, args->scope ? base->reuse : outer->reuse);
    scope->dtype = args->dtype == TW_DTYPE_NONE ? base->dtype : args->dtype;
    tw__set(&scope->initializer, args->initializer ? args->initializer : base->initializer);
    tw__set(&scope->regularizer, args->regularizer ? args->regularizer : base->regularizer);
    tw__set(&scope->constraint, args->constraint ? args->constraint : base->constraint);
    return scope;
}

static tw_status count_opened(tw__variable_store *store, const char *name)
{
    return tw__map_put(&store->opened, name, strlen(name), (void *)(opened_of(store, name) + 1));
}

static tw_status remember_opened(entered *level)
{
    const tw__map *opened = &level->store->opened;
    level->opened = tw__alloc_array(opened->count + 1, sizeof *level->opened);
    for (size_t i = 0; level->opened && i < opened->count; i++)
        level->opened[i] = (intptr_t)opened->entries[i].value;
    level->opened_count = opened->count;
    return level->opened ? TW_OK : TW_RESOURCE_EXHAUSTED;
}

/* Puts the scope on the stack; the name scope is open already. */
static tw_status enter(tw__variable_store *store, struct tw_variable_scope *scope, bool given, bool named)
{
    TW_TRY(TW_GROW(stack, capacity, depth + 1));
    TW_TRY(count_opened(store, scope->name));
    entered level = { .store = store, .scope = scope, .named = named };
    if (given)
        TW_TRY(remember_opened(&level));
    tw_retain(store);
    tw_retain(scope);
    stack[depth++] = level;
    return TW_OK;
}

TW_API(
    variable_scope_enter,
    "compat.v1._enter_variable_scope(name: str = None, scope: variable_scope = None, default_name: str = None, initializer: object = None, "
    "regularizer: callable = None, constraint: callable = None, reuse: str {inherit, no, yes, auto} = inherit, dtype: dtype = None, "
    "auxiliary_name_scope: bool = True) -> variable_scope",
    "Enters a variable scope of that name inside the present one, or one that was entered before, or one of the default name with a number.")
{
    tw__variable_store *store = tw__variable_store_now();
    struct tw_variable_scope *outer = store ? scope_in(store) : NULL;
    if (!outer || check_initializer("variable_scope", args->initializer) != TW_OK)
        return NULL;
    const struct tw_variable_scope *given = args->scope, *base = given ? given : outer;
    if (!given && !args->name && !args->default_name) {
        tw__fail(TW_TYPE_ERROR, "If default_name is None then name_or_scope is required");
        return NULL;
    }
    if (!given && !args->name && tw__reuse_of(args->reuse, TW__REUSE_NO) != TW__REUSE_NO) {
        tw__fail(TW_VALUE_ERROR, "reuse=True cannot be used without a name_or_scope");
        return NULL;
    }
    tw__owned char *own = given        ? tw__strdup(last_part(given->name))
                          : args->name ? tw__strdup(args->name)
                                       : unopened(store, outer, args->default_name);
    tw__owned char *whole = !own ? NULL : given ? tw__strdup(given->name) : inside(outer, own);
    bool named = whole && args->auxiliary_name_scope && *own;
    struct tw_variable_scope *scope = NULL;
    if (whole && (!named || tw__scope_push(own) == TW_OK)) {
        scope = made(args, base, outer, whole, given || !named ? base->name_scope : tw__scope());
        if (!scope || enter(store, scope, given != NULL, named) != TW_OK) {
            tw_release(scope);
            scope = NULL;
            if (named)
                tw__scope_pop();
        }
    }
    return scope;
}

/* Scopes inside it may be opened under their names again. */
static void close_below(const tw__variable_store *store, const char *name)
{
    size_t length = strlen(name);
    for (size_t i = 0; i < store->opened.count; i++) {
        tw__map_entry *entry = &store->opened.entries[i];
        if (entry->key_size > length && memcmp(entry->key, name, length) == 0 && entry->key[length] == '/')
            entry->value = NULL;
    }
}

TW_API(variable_scope_exit, "compat.v1._exit_variable_scope()", "Leaves the innermost variable scope of the thread.")
{
    if (!depth)
        return tw__fail(TW_RUNTIME_ERROR, "variable_scope_exit: no variable scope was entered");
    entered last = stack[--depth];
    close_below(last.store, last.scope->name);
    for (size_t i = 0; last.opened && i < last.store->opened.count; i++)
        last.store->opened.entries[i].value = (void *)(i < last.opened_count ? last.opened[i] : 0);
    if (last.named)
        tw__scope_pop();
    tw__free(last.opened);
    tw_release(last.scope);
    tw_release(last.store);
    if (!depth) {
        tw__free(stack);
        stack = NULL;
        capacity = 0;
    }
    return TW_OK;
}

TW_API(get_variable_scope, "compat.v1.get_variable_scope() -> variable_scope", "The present variable scope.")
{
    return tw_retain(tw__variable_scope_now());
}

/* ---- what users see of one ---- */

TW_PROPERTY(variable_scope_name, "compat.v1.VariableScope.name(self: variable_scope) -> str", "The prefix of names, \"a/b\".")
{
    return tw__strdup(args->self->name);
}

TW_PROPERTY(variable_scope_original_name_scope, "compat.v1.VariableScope.original_name_scope(self: variable_scope) -> str",
            "The name scope that it was first opened with.")
{
    return tw__strdup(args->self->name_scope);
}

TW_PROPERTY(variable_scope_dtype, "compat.v1.VariableScope.dtype(self: variable_scope) -> dtype",
            "The dtype of variables that are given none.")
{
    return args->self->dtype;
}

TW_PROPERTY(variable_scope_reuse, "compat.v1.VariableScope._reuse(self: variable_scope) -> str",
            "Whether variables are shared: no, yes, auto.")
{
    static const char *const words[] = { "no", "yes", "auto" };
    return tw__strdup(words[args->self->reuse]);
}

TW_METHOD(variable_scope_reuse_variables, "compat.v1.VariableScope.reuse_variables(self: variable_scope)",
          "From now on variables of this scope are shared.")
{
    args->self->reuse = TW__REUSE_YES;
    return TW_OK;
}

TW_METHOD(variable_scope_set_dtype, "compat.v1.VariableScope.set_dtype(self: variable_scope, dtype: dtype)",
          "The dtype of variables that are given none.")
{
    args->self->dtype = args->dtype;
    return TW_OK;
}

TW_METHOD(variable_scope_set_initializer,
          "compat.v1.VariableScope._set_initializer(self: variable_scope, initializer: object = None)",
          "The initializer of variables that are given none.")
{
    TW_TRY(check_initializer("set_initializer", args->initializer));
    tw__set(&args->self->initializer, args->initializer);
    return TW_OK;
}

TW_METHOD(variable_scope_set_regularizer,
          "compat.v1.VariableScope._set_regularizer(self: variable_scope, regularizer: callable = None)",
          "The regularizer of variables that are given none.")
{
    tw__set(&args->self->regularizer, args->regularizer);
    return TW_OK;
}
