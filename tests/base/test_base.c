/* Memory, errors, objects, text, maps, trackables. */
#include "base/language.h"
#include "test.h"

#include "base/trackable.h"

static void failing_allocation(void **state)
{
    (void)state;
    tw__alloc_fail_at(2);
    void *first = tw__alloc(10), *second = tw__alloc(100), *third = tw__alloc(1000);
    assert_non_null(first);
    assert_null(second);
    assert_non_null(third);
    expect_error(TW_RESOURCE_EXHAUSTED, "100 bytes");
    tw__free(first);
    tw__free(third);
    assert_null(tw__alloc_array(SIZE_MAX / 2, 4));
    expect_error(TW_RESOURCE_EXHAUSTED, "out of memory");
}

static void first_error_is_kept(void **state)
{
    (void)state;
    tw__fail(TW_NOT_FOUND, "the file %s", "a");
    tw__fail(TW_INTERNAL, "later");
    tw__error_prefix("restore: ");
    assert_string_equal(tw_error_message(), "restore: the file a");
    tw__saved_error saved = tw__error_take();
    expect_no_error();
    tw__fail(TW_INTERNAL, "between");
    tw__error_restore(saved);
    expect_error(TW_NOT_FOUND, "restore: the file a");
    assert_string_equal(tw_status_name(TW_DATA_LOSS), "DATA_LOSS");
    assert_string_equal(tw_status_name(TW_VALUE_ERROR), "ValueError");
}

typedef struct thing {
    tw_object object;
    int *ended;
    tw_object *other;
} thing;

static void thing_destroy(void *self)
{
    ++*((thing *)self)->ended;
}

static void thing_clear(void *self)
{
    tw__set(&((thing *)self)->other, NULL);
}

static const tw_class thing_class = { .name = "Thing", .size = sizeof(thing), .destroy = thing_destroy, .clear = thing_clear };
static const tw_class part_class = { .name = "Part", .parent = &thing_class, .size = sizeof(thing) };

static int peer_references;

static void peer_retain(void *peer)
{
    (void)peer;
    peer_references++;
}

static void peer_release(void *peer)
{
    if (--peer_references == 0)
        tw__object_end(*(void **)peer);
}

static void objects(void **state)
{
    (void)state;
    int ended = 0;
    thing *a = tw__object_new(&part_class);
    a->ended = &ended;
    assert_true(tw__is(a, &thing_class));
    assert_true(tw__is(a, &part_class));
    assert_false(tw__is(NULL, &part_class));
    assert_true(tw__named_is_object(a));
    assert_false(tw__named_is_object("relu"));
    assert_string_equal(tw_class_name(a), "Part");
    tw_retain(a);
    tw_release(a);
    assert_int_equal(ended, 0);
    tw_release(a);
    assert_int_equal(ended, 1);
    tw_release(NULL);
    assert_null(tw_retain(NULL));

    /* With a peer there is one count, the peer's. */
    tw__language.peer_retain = peer_retain;
    tw__language.peer_release = peer_release;
    thing *b = tw__object_new(&part_class);
    b->ended = &ended;
    tw_retain(b);
    void *peer = b;
    tw__object_attach(b, &peer);
    assert_int_equal(peer_references, 2);
    tw_release(b);
    assert_int_equal(ended, 1);
    tw_release(b);
    assert_int_equal(ended, 2);
}

static thing *new_thing(int *ended)
{
    thing *t = tw__object_new(&thing_class);
    t->ended = ended;
    return tw_made(t);
}

static thing *from_a_scope(int *ended)
{
    tw_scoped();
    new_thing(ended);
    return tw_retain(new_thing(ended));
}

static void scopes(void **state)
{
    (void)state;
    int ended = 0;
    thing *free_one = new_thing(&ended); /* no scope: the caller's */
    {
        tw_scoped();
        for (int i = 0; i < 20; i++)
            new_thing(&ended);
        assert_null(tw_made(NULL));
        assert_int_equal(ended, 0);
        {
            tw_scoped();
            new_thing(&ended);
            tw_auto thing *own = new_thing(&ended); /* ends once */
            assert_ptr_equal(tw_retain(own), own);
            tw_release(own);
            tw_release(new_thing(&ended));
            assert_int_equal(ended, 1);
        }
        assert_int_equal(ended, 3);
        tw_scope_forget(free_one);
        thing *kept = from_a_scope(&ended);
        assert_int_equal(ended, 4);
        tw_release(kept);
        assert_int_equal(ended, 5);
        tw_made_text(tw__strdup("a text"));
    }
    assert_int_equal(ended, 25);
    tw_release(free_one);
    assert_int_equal(ended, 26);
}

/* What a program's function gives back is taken out of the scope it ran in. */
static void results_of_scopes(void **state)
{
    (void)state;
    int ended = 0;
    size_t scope = tw_scope_begin();
    thing *given = new_thing(&ended), *retained = tw_retain(new_thing(&ended));
    tw__scope_end_with(scope, (void *[]){ given, retained, NULL }, 3);
    assert_int_equal(ended, 0);
    tw_release(given);
    tw_release(retained);
    assert_int_equal(ended, 2);
    scope = tw_scope_begin();
    tw__alloc_fail_at(1);
    thing *t = tw__object_new(&thing_class); /* fails */
    assert_null(t);
    tw_clear_error();
    tw__alloc_fail_at(2);
    assert_null(new_thing(&ended)); /* there is no room in the scope: it ended */
    tw__alloc_fail_at(0);
    expect_error(TW_RESOURCE_EXHAUSTED, "out of memory");
    assert_int_equal(ended, 3);
    tw_scope_end(&scope);
}

static char last_message[64];

static void note(void *user, const char *level, const char *text)
{
    snprintf(last_message, sizeof last_message, "%s %s %s", (const char *)user, level, text);
}

static void manners(void **state)
{
    (void)state;
    tw__log("WARNING", "nobody %s", "listens");
    tw_set_log(note, "got");
    tw__log("WARNING", "%d", 5);
    tw_set_log(NULL, NULL);
    tw__log("WARNING", "%d", 6);
    assert_string_equal(last_message, "got WARNING 5");
    tw_status code = TW_INTERNAL;
    assert_null(tw_take_error(&code));
    assert_int_equal(code, TW_OK);
    tw__fail(TW_KEY_ERROR, "no %s", "key");
    char *text = tw_take_error(&code);
    assert_string_equal(text, "no key");
    assert_int_equal(tw_status_kind(code), TW_NOT_FOUND);
    assert_int_equal(tw_error_code(), TW_OK);
    free(text);
    for (int i = 0; i <= TW_UNAUTHENTICATED; i++)
        assert_int_equal(tw_status_kind((tw_status)i), i);
    for (int i = TW_TYPE_ERROR; i <= TW_FOREIGN_ERROR; i++) /* Python's are one of those */
        assert_in_range(tw_status_kind((tw_status)i), 1, TW_UNAUTHENTICATED);
}

static void text_grows(void **state)
{
    (void)state;
    tw__text text = { 0 };
    for (int i = 0; i < 100; i++)
        tw__text_format(&text, "%d,", i);
    tw__text_add(&text, "end");
    assert_int_equal(text.size, 10 * 2 + 90 * 3 + 3);
    char *taken = tw__text_take(&text);
    assert_true(tw__starts_with(taken, "0,1,2,"));
    assert_true(tw__ends_with(taken, "99,end"));
    assert_false(tw__ends_with("x", "xx"));
    tw__free(taken);
    tw__alloc_fail_at(1);
    tw__text_add(&text, "lost");
    tw__text_add(&text, "lost too");
    assert_true(text.failed);
    assert_null(tw__text_take(&text));
    expect_error(TW_RESOURCE_EXHAUSTED, "out of memory");
}

static void maps(void **state)
{
    (void)state;
    tw__map map = { 0 };
    tw__pointer_map pointers = { 0 };
    static char keys[500][8];
    for (int i = 0; i < 500; i++) {
        snprintf(keys[i], sizeof keys[i], "k%d", i);
        assert_int_equal(tw__map_put(&map, keys[i], strlen(keys[i]), &keys[i]), TW_OK);
        assert_int_equal(tw__pointer_map_put(&pointers, keys[i], i), TW_OK);
    }
    assert_int_equal(tw__map_put(&map, "k7", 2, NULL), TW_OK);
    assert_int_equal(map.count, 500);
    assert_null(tw__map_get(&map, "k7", 2));
    assert_true(tw__map_has(&map, "k7", 2));
    assert_false(tw__map_has(&map, "k500", 4));
    for (int i = 0; i < 500; i++) {
        assert_string_equal(map.entries[i].key, keys[i]);
        assert_int_equal(tw__pointer_map_get(&pointers, keys[i], -1), i);
    }
    assert_int_equal(tw__pointer_map_get(&pointers, &map, -1), -1);
    tw__pointer_map_clear(&pointers);
    assert_int_equal(tw__pointer_map_get(&pointers, keys[3], -1), -1);
    tw__pointer_map_free(&pointers);
    tw__map_free(&map, NULL);
}

static int bound;

static tw_status bind(tw_trackable *parent, const char *name, tw_trackable *child)
{
    assert_non_null(parent);
    assert_non_null(child);
    bound += strcmp(name, "b") == 0;
    return TW_OK;
}

static void trackables(void **state)
{
    (void)state;
    tw__trackable_hook.bind = bind;
    tw_trackable *root = tw__container_new(), *a = tw__container_new(), *b = tw__container_new();
    assert_int_equal(tw__track(root, "a", a), TW_OK);
    root->pending = root;
    assert_int_equal(tw__track(root, "b", a), TW_OK);
    assert_int_equal(tw__track(root, "b", b), TW_OK);
    root->pending = NULL;
    assert_int_equal(bound, 2);
    assert_int_equal(root->child_count, 2);
    assert_ptr_equal(tw__tracked(root, "b"), b);
    tw__untrack(root, "a");
    tw__untrack(root, "none");
    assert_null(tw__tracked(root, "a"));
    assert_int_equal(tw__container_append(a, b), TW_OK);
    assert_ptr_equal(tw__tracked(a, "0"), b);
    tw_release(a);
    tw_release(b);
    tw_release(root);
    tw__trackable_hook.bind = NULL;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(failing_allocation),
        cmocka_unit_test(first_error_is_kept),
        cmocka_unit_test(objects),
        cmocka_unit_test(scopes),
        cmocka_unit_test(results_of_scopes),
        cmocka_unit_test(manners),
        cmocka_unit_test(text_grows),
        cmocka_unit_test(maps),
        cmocka_unit_test(trackables),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
