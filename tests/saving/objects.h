/* Helpers of the saving tests: a directory of their own, variables, and objects like those in a file. */
#ifndef TW_TEST_OBJECTS_H
#define TW_TEST_OBJECTS_H

#include <dirent.h>
#include <stdio.h>
#include <unistd.h>

#include "test.h"

#include <thalweg.h>

#include "saving/saving.h"

#define GOLDEN(name) TW_TEST_DATA "/golden/saving/" name

static char test_directory[64];

static inline int make_directory(void **state)
{
    (void)state;
    setenv("THALWEG_FSYNC", "0", 1);
    strcpy(test_directory, "/tmp/thalweg-saving-XXXXXX");
    return mkdtemp(test_directory) ? 0 : -1;
}

static inline int remove_directory(void **state)
{
    (void)state;
    char command[128];
    snprintf(command, sizeof command, "rm -rf %s", test_directory);
    return system(command);
}

/* A path in the directory, in one of 8 buffers used in turn. */
static inline char *in_directory(const char *name)
{
    static char buffers[8][160];
    static int next;
    char *buffer = buffers[next++ % 8];
    snprintf(buffer, sizeof buffers[0], "%s/%s", test_directory, name);
    return buffer;
}

static inline tw_variable *scalar(float value, const char *name)
{
    tw_auto tw_tensor *tensor = tw_tensor_float(value);
    return tw__variable_new(tensor, name, true, NULL);
}

static inline tw_variable *vector(const float *values, int64_t count, const char *name)
{
    tw_auto tw_tensor *tensor = tw_tensor_new(TW_FLOAT32, TW_SHAPE(count), values);
    return tw__variable_new(tensor, name, true, NULL);
}

static inline double value_of(tw_variable *variable)
{
    tw_auto tw_tensor *value = tw__resource_read(variable->resource);
    return tw_tensor_double_at(value, 0);
}

/* Objects with the names, dtypes and shapes of a file, all values zero: variables, and containers for the rest. The root is a
 * Checkpoint. */
static inline tw_checkpoint *objects_like(const char *prefix)
{
    tw__saved_graph graph = { 0 };
    tw__bundle_reader *reader = tw__bundle_open(prefix);
    assert_non_null(reader);
    tw_tensor *bytes = tw__bundle_read(reader, TW__GRAPH_KEY);
    assert_non_null(bytes);
    tw_string text = *(tw_string *)bytes->data;
    assert_int_equal(tw__saved_graph_parse(&graph, text.data, text.size, prefix), TW_OK);
    tw_release(bytes);
    tw_trackable **objects = calloc(graph.count, sizeof *objects);
    for (size_t i = 0; i < graph.count; i++) {
        const tw__saved_node *node = &graph.nodes[i];
        if (i == 0) {
            objects[i] = (tw_trackable *)tw_checkpoint();
        } else if (node->attribute_count) {
            char *key = tw__strndup(node->attributes[0].key.data, node->attributes[0].key.size);
            char *name = tw__strndup(node->attributes[0].full_name.data, node->attributes[0].full_name.size);
            const tw__bundle_entry *entry = tw__bundle_find(reader, key);
            tw_tensor *zero = tw_tensor_new(entry->dtype, entry->shape, NULL);
            objects[i] = (tw_trackable *)tw__variable_new(zero, name, true, NULL);
            tw_release(zero);
            tw__free(key);
            tw__free(name);
        } else {
            objects[i] = tw__container_new();
        }
        assert_non_null(objects[i]);
    }
    for (size_t i = 0; i < graph.count; i++) {
        for (size_t k = 0; k < graph.nodes[i].child_count; k++) {
            const tw__saved_child *child = &graph.nodes[i].children[k];
            char *name = tw__strndup(child->name.data, child->name.size);
            assert_int_equal(tw__track(objects[i], name, objects[child->node]), TW_OK);
            tw__free(name);
        }
    }
    tw_checkpoint *root = (tw_checkpoint *)objects[0];
    for (size_t i = 1; i < graph.count; i++)
        tw_release(objects[i]);
    free(objects);
    tw__saved_graph_free(&graph);
    tw__bundle_close(reader);
    return root;
}

static inline char *file_bytes(const char *prefix, const char *suffix, size_t *size)
{
    char path[512];
    snprintf(path, sizeof path, "%s%s", prefix, suffix);
    return tw__file_read_all(path, 1 << 24, size);
}

static inline void expect_same_files(const char *a, const char *b, const char *suffix)
{
    size_t a_size = 0, b_size = 0;
    char *a_bytes = file_bytes(a, suffix, &a_size), *b_bytes = file_bytes(b, suffix, &b_size);
    expect_no_error();
    assert_int_equal(a_size, b_size);
    assert_memory_equal(a_bytes, b_bytes, a_size);
    tw__free(a_bytes);
    tw__free(b_bytes);
}

/* The directory must hold just these names (sorted, joined by spaces). */
static inline void expect_listing(const char *directory, const char *names)
{
    struct dirent **entries;
    int count = scandir(directory, &entries, NULL, alphasort);
    char text[4096] = "";
    for (int i = 0; i < count; i++) {
        if (strcmp(entries[i]->d_name, ".") != 0 && strcmp(entries[i]->d_name, "..") != 0) {
            strcat(text, *text ? " " : "");
            strcat(text, entries[i]->d_name);
        }
        free(entries[i]);
    }
    free(entries);
    assert_string_equal(text, names);
}

/* What `body` writes to stderr; for the caller to free. */
static inline char *captured(void (*body)(void))
{
    tw_set_log(tw_log_line, stderr);
    fflush(stderr);
    int old = dup(2);
    FILE *file = tmpfile();
    dup2(fileno(file), 2);
    body();
    tw_set_log(tw_log_line, stderr);
    fflush(stderr);
    dup2(old, 2);
    close(old);
    fseek(file, 0, SEEK_END);
    size_t size = (size_t)ftell(file);
    rewind(file);
    char *text = calloc(1, size + 1);
    assert_int_equal(fread(text, 1, size, file), size);
    fclose(file);
    return text;
}

#endif
