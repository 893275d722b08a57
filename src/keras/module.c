/* tf.Module: a named object that finds the variables and modules among its attributes, also in lists and dicts. Layers are
 * modules too, which is why it stands here.
 *
 * Order: attributes by name, a module's own before those of the modules below it. A layer gives its variables in Keras's order.
 */
#include <ctype.h>
#include <stdlib.h>

#include "keras/keras.h"

/* "HTTPNet2" -> "http_net2". */
char *tw__module_auto_name(const char *class_name)
{
    tw__text text = { 0 };
    for (size_t i = 0; class_name[i]; i++) {
        unsigned char c = (unsigned char)class_name[i], before = i ? (unsigned char)class_name[i - 1] : 0;
        if (isupper(c) && (islower(before) || isdigit(before) || (i && islower((unsigned char)class_name[i + 1]))))
            tw__text_add(&text, "_");
        char small = (char)tolower(c);
        tw__text_bytes(&text, &small, 1);
    }
    return tw__text_take(&text);
}

static bool is_identifier(const char *name)
{
    if (!isalpha((unsigned char)*name) && *name != '_')
        return false;
    for (; *name; name++) {
        if (!isalnum((unsigned char)*name) && *name != '_')
            return false;
    }
    return true;
}

static tw_status module_init(void *self, const void *given)
{
    const tw_module_args *args = given;
    tw_module *module = self;
    if (tw__is(self, &tw__class_layer)) /* names itself */
        return TW_OK;
    if (args->name && tw_class_of(self) == &tw__class_module && !is_identifier(args->name)) /* other classes allow any */
        return tw__fail(
            TW_VALUE_ERROR,
            "'%s' is not a valid module name. Module names must be valid Python identifiers (e.g. a valid class name).",
            args->name);
    module->name = args->name ? tw__strdup(args->name) : tw__module_auto_name(tw_class_name(self));
    module->scope = module->name ? tw__format("%s%s/", tw__variable_scope(), module->name) : NULL;
    return module->scope ? TW_OK : TW_RESOURCE_EXHAUSTED;
}

static void module_destroy(void *self)
{
    tw_module *module = self;
    tw__free(module->name);
    tw__free(module->scope);
}

TW_CLASS(module, "Module(name: str = None)", .parent = &tw__trackable_class, .size = sizeof(tw_module), .init = module_init,
         .destroy = module_destroy, .drop_config = true,
         .doc = "An object that knows its variables and the modules below it; to be subclassed.\n"
                "name: the name of the module; None: one is made from the class's name");

/* ---- what it holds ---- */

typedef enum wanted { EVERY_VARIABLE, TRAINABLE, NOT_TRAINABLE, MODULES } wanted;

typedef struct search {
    wanted what;
    void **found; /* borrowed */
    size_t count, capacity;
    tw__pointer_map seen;
    tw_status status;
} search;

static bool is_first(search *s, const void *object)
{
    if (s->status != TW_OK || tw__pointer_map_get(&s->seen, object, 0))
        return false;
    s->status = tw__pointer_map_put(&s->seen, object, 1);
    return s->status == TW_OK;
}

static void put(search *s, void *object)
{
    if (s->status == TW_OK)
        s->status = TW_GROW(s->found, s->capacity, s->count + 1);
    if (s->status == TW_OK)
        s->found[s->count++] = object;
}

static void put_variable(search *s, tw_variable *variable)
{
    bool fits = s->what == EVERY_VARIABLE || (s->what == TRAINABLE && variable->trainable) ||
                (s->what == NOT_TRAINABLE && !variable->trainable);
    if (fits && is_first(s, variable))
        put(s, variable);
}

/* Members of lists by their number, everything else by name. */
static int by_name(const void *a, const void *b)
{
    const char *one = (*(const tw__child *const *)a)->name, *two = (*(const tw__child *const *)b)->name;
    size_t first = strlen(one), second = strlen(two);
    bool numbers = strspn(one, "0123456789") == first && strspn(two, "0123456789") == second;
    if (numbers && first != second)
        return first < second ? -1 : 1;
    return strcmp(one, two);
}

typedef struct below {
    tw_trackable **items; /* borrowed */
    size_t count, capacity;
} below;

static void look_at(search *s, const tw_trackable *object, below *modules)
{
    const tw__child **children = tw__alloc_array(object->child_count + 1, sizeof *children);
    if (!children) {
        s->status = TW_RESOURCE_EXHAUSTED;
        return;
    }
    for (size_t i = 0; i < object->child_count; i++)
        children[i] = &object->children[i];
    qsort(children, object->child_count, sizeof *children, by_name);
    for (size_t i = 0; s->status == TW_OK && i < object->child_count; i++) {
        tw_trackable *child = (tw_trackable *)children[i]->object;
        if (tw__is(child, &tw__class_variable)) {
            put_variable(s, (tw_variable *)child);
        } else if (tw__is(child, &tw__container_class)) {
            if (is_first(s, child))
                look_at(s, child, modules);
        } else if (tw__is(child, &tw__class_module) && is_first(s, child)) {
            if (s->what == MODULES)
                put(s, child);
            if (s->status == TW_OK)
                s->status = TW_GROW(modules->items, modules->capacity, modules->count + 1);
            if (s->status == TW_OK)
                modules->items[modules->count++] = child;
        }
    }
    tw__free(children);
}

static void search_layer(search *s, tw_layer *layer)
{
    void **items = NULL;
    int64_t count = 0;
    s->status = s->what == MODULES ? tw__collect_layers(&layer->trackable, true, (tw_layer ***)&items, &count)
                                   : tw__collect_variables(&layer->trackable, TW_ALL_VARIABLES, (tw_variable ***)&items, &count);
    for (int64_t i = 0; s->status == TW_OK && i < count; i++) {
        if (s->what != MODULES)
            put_variable(s, items[i]);
        else if (is_first(s, items[i]))
            put(s, items[i]);
    }
    tw__free(items);
}

static void search_below(search *s, tw_trackable *object)
{
    below modules = { 0 };
    look_at(s, object, &modules);
    for (size_t i = 0; s->status == TW_OK && i < modules.count; i++) {
        if (tw__is(modules.items[i], &tw__class_layer))
            search_layer(s, (tw_layer *)modules.items[i]);
        else
            search_below(s, modules.items[i]);
    }
    tw__free(modules.items);
}

/* A tuple, as in TensorFlow. */
static tw_value search_for(tw_module *module, wanted what)
{
    search s = { .what = what };
    if (is_first(&s, module) && tw__is(module, &tw__class_layer))
        search_layer(&s, (tw_layer *)module);
    else
        search_below(&s, &module->trackable);
    tw_value *items = s.status == TW_OK ? tw__alloc_array(s.count + 1, sizeof *items) : NULL;
    for (size_t i = 0; items && i < s.count; i++)
        items[i] = (tw_value){ .kind = TW_VALUE_OBJECT, .object = tw_retain(s.found[i]) };
    tw_value result = { .kind = TW_VALUE_NONE };
    if (items)
        result = (tw_value){ .kind = TW_VALUE_TUPLE, .list = { items, (int64_t)s.count } };
    tw__pointer_map_free(&s.seen);
    tw__free(s.found);
    return result;
}

TW_PROPERTY(module_variables, "Module.variables(self: module) -> value", "All variables, each once.")
{
    return search_for(args->self, EVERY_VARIABLE);
}

TW_PROPERTY(module_trainable_variables, "Module.trainable_variables(self: module) -> value", "The variables that tapes watch.")
{
    return search_for(args->self, TRAINABLE);
}

TW_PROPERTY(module_non_trainable_variables, "Module.non_trainable_variables(self: module) -> value", "The other variables.")
{
    return search_for(args->self, NOT_TRAINABLE);
}

TW_PROPERTY(module_submodules, "Module.submodules(self: module) -> value", "The modules below, layers among them.")
{
    return search_for(args->self, MODULES);
}

TW_PROPERTY(module_name, "Module.name(self: module) -> str", "The name.")
{
    return tw__strdup(args->self->name);
}

TW_PROPERTY(module_name_scope, "Module.name_scope(self: module) -> name_scope", "The scope for the names of its variables.")
{
    const tw_module *module = args->self;
    tw_name_scope_args scope = { .name = module->scope ? module->scope : module->name };
    return tw_class_make(&tw__class_name_scope, &scope);
}
