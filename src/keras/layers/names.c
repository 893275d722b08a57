/* Names that layers get by themselves: the class's name in snake case, numbered from the second one on. A graph that a program
 * builds counts its own. */
#include <ctype.h>

#include "graph/graph.h"
#include "keras/keras.h"

static tw__lock lock = TW__LOCK;
static tw__map counts; /* base name -> how often it was given, as a pointer-sized number */

static bool small(char c)
{
    return islower((unsigned char)c);
}

/* "MyLSTMCell" -> "my_lstm_cell", "Conv2D" -> "conv2d". An underscore goes before a capital with small letters behind it,
 * unless the character before it belongs to another such word, and between a small letter and a capital. */
char *tw__snake_case(const char *name)
{
    tw__text words = { 0 }, text = { 0 };
    for (size_t i = 0; name[i];) {
        tw__text_bytes(&words, &name[i], 1);
        if (!isupper((unsigned char)name[i + 1]) || !small(name[i + 2])) {
            i++;
            continue;
        }
        size_t end = i + 2;
        while (small(name[end]))
            end++;
        tw__text_add(&words, "_");
        tw__text_bytes(&words, &name[i + 1], end - i - 1);
        i = end;
    }
    if (*name == '_')
        tw__text_add(&text, "private");
    for (size_t i = 0; i < words.size; i++) {
        if (i && islower((unsigned char)words.data[i - 1]) && isupper((unsigned char)words.data[i]))
            tw__text_add(&text, "_");
        char lower = (char)tolower((unsigned char)words.data[i]);
        tw__text_bytes(&text, &lower, 1);
    }
    text.failed |= words.failed;
    tw__text_free(&words);
    return tw__text_take(&text);
}

static void end_counts(void)
{
    tw__map_free(&counts, NULL);
}

static tw__map *counts_now(void)
{
    static tw__ending ending = { .end = end_counts };
    tw__at_shutdown(&ending);
    tw__graph *graph = tw__graph_root(tw__tracing);
    return graph ? &graph->layer_counts : &counts;
}

char *tw__layer_auto_name(const char *class_name)
{
    char *base = tw__snake_case(class_name);
    if (!base)
        return NULL;
    tw__lock_take(&lock);
    tw__map *own = counts_now();
    uintptr_t count = (uintptr_t)tw__map_get(own, base, strlen(base));
    tw_status status = tw__map_put(own, base, strlen(base), (void *)(count + 1));
    tw__lock_give(&lock);
    if (status == TW_OK && count) {
        char *numbered = tw__format("%s_%zu", base, (size_t)count);
        tw__free(base);
        return numbered;
    }
    if (status != TW_OK) {
        tw__free(base);
        return NULL;
    }
    return base;
}

void tw__layer_names_clear(void)
{
    tw__lock_take(&lock);
    tw__map_free(counts_now(), NULL);
    tw__lock_give(&lock);
}

TW_API(backend_clear_session, "keras.backend.clear_session()", "Numbers the names of layers from the beginning again.")
{
    tw__layer_names_clear();
    tw__learning_phase_forget();
    return TW_OK;
}

TW_API(backend_reset_uids, "keras.backend.reset_uids()", "Numbers the names of layers from the beginning again.")
{
    tw__layer_names_clear();
    return TW_OK;
}

TW_API(backend_get_uid, "keras.backend.get_uid(prefix: str = '') -> int",
       "The next number for names that begin so, from 1.\n"
       "prefix: what the names begin with; each prefix is counted for itself")
{
    tw__lock_take(&lock);
    tw__owned char *key = tw__format("uid/%s", args->prefix ? args->prefix : "");
    uintptr_t count = key ? (uintptr_t)tw__map_get(counts_now(), key, strlen(key)) + 1 : 0;
    if (key)
        tw__map_put(counts_now(), key, strlen(key), (void *)count);
    tw__lock_give(&lock);
    return (int64_t)count;
}
