/* Damaged files and failing memory: an error or the right values, never a crash, and the last good checkpoint stays good. */
#include "saving/objects.h"

static const char *const suffixes[] = { ".index", ".data-00000-of-00001" };

static void put_file(const char *path, const char *data, size_t size)
{
    FILE *file = fopen(path, "wb");
    assert_int_equal(fwrite(data, 1, size, file), size);
    fclose(file);
}

static void try_restore(tw_checkpoint *checkpoint, const char *prefix)
{
    tw_load_status *status = tw_checkpoint_read(checkpoint, prefix);
    assert_int_equal(status == NULL, tw_error_code() != TW_OK);
    tw_clear_error();
    if (status) {
        tw_release(tw_load_status_assert_consumed(status));
        tw_clear_error();
        tw_release(tw_load_status_expect_partial(status));
    }
    tw_release(status);
    assert_int_equal(tw_error_code(), TW_OK);
}

static void damage(void)
{
    const char *golden = GOLDEN("rooted");
    char *target = in_directory("damaged");
    for (int part = 0; part < 2; part++) {
        size_t size, other_size;
        char *bytes = file_bytes(golden, suffixes[part], &size), *other = file_bytes(golden, suffixes[1 - part], &other_size);
        char path[256];
        snprintf(path, sizeof path, "%s%s", target, suffixes[1 - part]);
        put_file(path, other, other_size);
        snprintf(path, sizeof path, "%s%s", target, suffixes[part]);
        for (size_t at = 0; at < size; at++) {
            tw_checkpoint *checkpoint = objects_like(golden);
            put_file(path, bytes, at);
            try_restore(checkpoint, target);
            for (int bit = 0; bit < 8; bit += 3) {
                bytes[at] ^= (char)(1 << bit);
                put_file(path, bytes, size);
                bytes[at] ^= (char)(1 << bit);
                try_restore(checkpoint, target);
            }
            tw__untrack(&checkpoint->trackable, "root"); /* the golden root holds itself */
            tw_release(checkpoint);
        }
        tw__free(bytes);
        tw__free(other);
    }
}

static void damaged_files(void **state)
{
    (void)state;
    free(captured(damage));
}

/* Checksums let no flipped bit through to the graph, so it is parsed by itself. */
static void damaged_graph(void **state)
{
    (void)state;
    tw_auto tw_tensor *tensor = tw_train_load_variable(GOLDEN("legacy"), TW__GRAPH_KEY);
    tw_string text = *(tw_string *)tensor->data;
    char *bytes = malloc(text.size);
    memcpy(bytes, text.data, text.size);
    for (size_t at = 0; at < text.size; at++) {
        for (int bit = -1; bit < 8; bit++) {
            tw__saved_graph graph;
            tw__saved_names names;
            if (bit >= 0)
                bytes[at] ^= (char)(1 << bit);
            if (tw__saved_graph_parse(&graph, bytes, bit < 0 ? at : text.size, "x") == TW_OK) {
                tw__text print = { 0 };
                assert_int_equal(tw__saved_names_find(&names, &graph), TW_OK);
                for (size_t i = 0; i < graph.count; i++) {
                    tw__saved_name_add(&print, &names, i);
                    tw__saved_node_print(&print, &graph.nodes[i]);
                }
                tw__text_free(&print);
                tw__saved_names_free(&names);
            }
            if (bit >= 0)
                bytes[at] ^= (char)(1 << bit);
            tw__saved_graph_free(&graph);
            tw_clear_error();
        }
    }
    free(bytes);
}

static void damage_state(void)
{
    char *directory = in_directory("damage");
    tw_auto tw_checkpoint *checkpoint = tw_checkpoint();
    tw_checkpoint_manager *manager = tw_checkpoint_manager(checkpoint, directory, 2);
    for (int i = 0; i < 2; i++)
        free(tw_checkpoint_manager_save(manager));
    tw_release(manager);
    size_t size;
    char *bytes = file_bytes(directory, "/checkpoint", &size);
    for (size_t at = 0; at < size; at++) {
        for (int bit = -1; bit < 8; bit++) {
            if (bit >= 0)
                bytes[at] ^= (char)(1 << bit);
            put_file(in_directory("damage/checkpoint"), bytes, bit < 0 ? at : size);
            if (bit >= 0)
                bytes[at] ^= (char)(1 << bit);
            free(tw_train_latest_checkpoint(directory));
            tw_clear_error();
            tw_release(tw_checkpoint_manager(checkpoint, directory, 2));
            tw_clear_error();
        }
    }
    tw__free(bytes);
}

static void damaged_state(void **state)
{
    (void)state;
    free(captured(damage_state));
}

/* ---- memory runs out ---- */

static void save_without_memory(void **state)
{
    (void)state;
    char *directory = in_directory("memory");
    tw_checkpoint *checkpoint = objects_like(GOLDEN("plain"));
    tw_checkpoint_manager *manager = tw_checkpoint_manager(checkpoint, directory, 2);
    free(tw_checkpoint_manager_save(manager));
    expect_no_error();
    for (long n = 1;; n++) {
        tw__alloc_fail_at(n);
        char *path = tw_checkpoint_manager_save(manager);
        tw__alloc_fail_at(0);
        if (path) {
            free(path);
            expect_no_error();
            break;
        }
        expect_error(TW_RESOURCE_EXHAUSTED, "");
        char *latest = tw_train_latest_checkpoint(directory);
        assert_non_null(latest);
        if (n % 16 == 0) {
            tw_checkpoint *target = objects_like(GOLDEN("plain"));
            tw_load_status *status = tw_checkpoint_read(target, latest);
            tw_release(tw_load_status_assert_consumed(status));
            expect_no_error();
            tw_release(status);
            tw_release(target);
        }
        free(latest);
    }
    tw_release(manager);
    tw_release(checkpoint);
}

static void restore_and_fail(void)
{
    for (long n = 1;; n++) {
        tw_checkpoint *checkpoint = objects_like(GOLDEN("plain"));
        tw_variable *late = scalar(0, "late");
        tw__untrack(&checkpoint->trackable, "shared");
        tw__alloc_fail_at(n);
        tw_load_status *status = tw_checkpoint_read(checkpoint, GOLDEN("plain"));
        if (status)
            tw_release(tw_load_status_assert_existing_objects_matched(status));
        if (tw_error_code() == TW_OK)
            tw__track(&checkpoint->trackable, "late", late);
        tw__alloc_fail_at(0);
        bool done = tw_error_code() == TW_OK;
        if (!done)
            expect_error(TW_RESOURCE_EXHAUSTED, "");
        tw_release(status);
        tw_release(checkpoint);
        tw_release(late);
        if (done)
            break;
    }
}

static void restore_without_memory(void **state)
{
    (void)state;
    free(captured(restore_and_fail));
}

static void make_without_memory(void **state)
{
    (void)state;
    tw_auto tw_variable *a = scalar(1, "a"), *b = scalar(2, "b");
    tw_auto tw_trackable *root = tw__container_new();
    tw__track(root, "b", b);
    for (long n = 1;; n++) {
        tw__alloc_fail_at(n);
        tw_checkpoint *checkpoint = tw_checkpoint(root, TW_PAIRS({ "a", a }));
        tw_variable *counter = checkpoint ? tw_checkpoint_save_counter(checkpoint) : NULL;
        tw_checkpoint_manager *manager = counter ? tw_checkpoint_manager(checkpoint, in_directory("memory"), 3) : NULL;
        tw__alloc_fail_at(0);
        tw_release(manager);
        tw_release(counter);
        tw_release(checkpoint);
        if (manager)
            break;
        expect_error(TW_RESOURCE_EXHAUSTED, "");
    }
    expect_no_error();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(damaged_files),       cmocka_unit_test(damaged_graph),          cmocka_unit_test(damaged_state),
        cmocka_unit_test(save_without_memory), cmocka_unit_test(restore_without_memory), cmocka_unit_test(make_without_memory),
    };
    return cmocka_run_group_tests(tests, make_directory, remove_directory);
}
