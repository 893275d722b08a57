/* Bad GraphDefs: each is an error that names the node, none does harm; and bytes of good ones, changed at random. */
#include <stdio.h>

#include "test.h"

#include "function/library.h"

typedef struct made {
    const char *name, *op;
    const char *inputs[4];
    const char *function; /* the attr f of a call */
    tw_dtype dtype;       /* the attr T, dtype or Tin and Tout; 0: none */
} made;

static void add_attr(tw__text *node, tw_attr attr)
{
    assert_int_equal(tw__attr_message_write(node, TW_NodeDef_attr, &attr, NULL), TW_OK);
}

static void add_node(tw__text *text, uint32_t number, const made *m)
{
    tw__text node = { 0 }, value = { 0 }, pair = { 0 }, name = { 0 };
    tw__proto_add_bytes(&node, 1, m->name, strlen(m->name));
    tw__proto_add_bytes(&node, 2, m->op, strlen(m->op));
    for (int i = 0; i < 4 && m->inputs[i]; i++)
        tw__proto_add_bytes(&node, 3, m->inputs[i], strlen(m->inputs[i]));
    if (m->function) {
        tw__proto_add_bytes(&name, 1, m->function, strlen(m->function));
        tw__proto_add_bytes(&value, 10, name.data, name.size);
        tw__proto_add_bytes(&pair, 1, "f", 1);
        tw__proto_add_bytes(&pair, 2, value.data, value.size);
        tw__proto_add_bytes(&node, 5, pair.data, pair.size);
        add_attr(&node, TW_A_TYPES("Tin", &m->dtype, 1));
        add_attr(&node, TW_A_TYPES("Tout", &m->dtype, 1));
    } else if (m->dtype) {
        add_attr(&node, TW_A_TYPE(strcmp(m->op, "Placeholder") == 0 ? "dtype" : "T", m->dtype));
    }
    tw__proto_add_bytes(text, number, node.data, node.size);
    tw__text_free(&node);
    tw__text_free(&value);
    tw__text_free(&pair);
    tw__text_free(&name);
}

static tw__graph *build(const tw__text *text)
{
    tw_auto tw__library *library = tw__library_read(text->data, text->size);
    return library ? tw__graphdef_read(library) : NULL;
}

static void refused(const made *nodes, int count, tw_status code, const char *part)
{
    tw__text text = { 0 };
    for (int i = 0; i < count; i++)
        add_node(&text, 1, &nodes[i]);
    assert_null(build(&text));
    expect_error(code, part);
    tw__text_free(&text);
}
#define REFUSED(code, part, ...) \
    refused((made[]){ __VA_ARGS__ }, (int)(sizeof((made[]){ __VA_ARGS__ }) / sizeof(made)), code, part)
#define X                                           \
    {                                               \
        "x", "Placeholder", { 0 }, NULL, TW_FLOAT32 \
    }

static void errors(void **state)
{
    (void)state;
    REFUSED(TW_INVALID_ARGUMENT, "node 'b': its input 'a' makes a cycle", { "a", "Neg", { "b" }, 0, 1 },
            { "b", "Neg", { "a" }, 0, 1 });
    REFUSED(TW_INVALID_ARGUMENT, "node 'a': its input 'a' makes a cycle", { "a", "NoOp", { "^a" }, 0, 0 });
    REFUSED(TW_NOT_FOUND, "node 'a' (Bogus): Op type not registered 'Bogus'", { "a", "Bogus", { 0 }, 0, 0 });
    REFUSED(TW_INVALID_ARGUMENT, "node 'a' (AddV2): AddV2 takes 2 inputs, got 1", X, { "a", "AddV2", { "x" }, 0, 1 });
    REFUSED(TW_INVALID_ARGUMENT, "node 'a' (Neg): cannot compute Neg as input #0", X, { "a", "Neg", { "x" }, 0, 3 });
    REFUSED(TW_INVALID_ARGUMENT, "node 'a' (NoOp): NoOp has no attr named 'T'", { "a", "NoOp", { 0 }, 0, 1 });
    REFUSED(TW_INVALID_ARGUMENT, "node 'a' (Neg): output 3 of node 'x' (Placeholder), which has 1", X,
            { "a", "Neg", { "x:3" }, 0, 1 });
    REFUSED(TW_INVALID_ARGUMENT, "node 'a': input 'y' refers to a node that is not there", X, { "a", "Neg", { "y" }, 0, 1 });
    REFUSED(TW_INVALID_ARGUMENT, "node 'a': input 'x:z' has no number", X, { "a", "Neg", { "x:z" }, 0, 1 });
    REFUSED(TW_INVALID_ARGUMENT, "node 'a': input 'x' stands behind a control input", X, { "a", "Neg", { "^x", "x" }, 0, 1 });
    REFUSED(TW_INVALID_ARGUMENT, "Node name 'x' already exists", X, X);
    REFUSED(TW_INVALID_ARGUMENT, "Node name 'a b' is invalid", { "a b", "NoOp", { 0 }, 0, 0 });
    REFUSED(TW_NOT_FOUND, "node 'a' calls the function 'f', which is not in the library", X,
            { "a", "PartitionedCall", { "x" }, "f", 1 });
    REFUSED(TW_INVALID_ARGUMENT, "node 'x' (Placeholder): Placeholder needs the attr dtype", { "x", "Placeholder", { 0 }, 0, 0 });
    tw__text text = { 0 };
    tw__text_add(&text, "not a graph");
    assert_null(build(&text));
    expect_error(TW_DATA_LOSS, "GraphDef");
    tw__text_free(&text);
}

/* `depth` functions f0, f1, …, each calling the next; the last gives its argument back, or calls f0 if `cycle`. */
static void nested(tw__text *text, int depth, bool cycle)
{
    tw__text library = { 0 };
    for (int i = 0; i < depth; i++) {
        char name[32], next[32];
        snprintf(name, sizeof name, "f%d", i);
        snprintf(next, sizeof next, "f%d", i + 1 < depth ? i + 1 : 0);
        bool leaf = i + 1 == depth && !cycle;
        tw__text function = { 0 }, signature = { 0 }, in = { 0 }, out = { 0 }, ret = { 0 };
        tw__proto_add_bytes(&in, 1, "x", 1);
        tw__proto_add_varint(&in, 3, TW_FLOAT32);
        tw__proto_add_bytes(&out, 1, "y", 1);
        tw__proto_add_varint(&out, 3, TW_FLOAT32);
        tw__proto_add_bytes(&signature, 1, name, strlen(name));
        tw__proto_add_bytes(&signature, 2, in.data, in.size);
        tw__proto_add_bytes(&signature, 3, out.data, out.size);
        tw__proto_add_bytes(&function, 1, signature.data, signature.size);
        add_node(&function, 3, &(made){ "call", leaf ? "Neg" : "PartitionedCall", { "x" }, leaf ? NULL : next, TW_FLOAT32 });
        const char *result = leaf ? "call:y:0" : "call:output:0";
        tw__proto_add_bytes(&ret, 1, "y", 1);
        tw__proto_add_bytes(&ret, 2, result, strlen(result));
        tw__proto_add_bytes(&function, 4, ret.data, ret.size);
        tw__proto_add_bytes(&library, 1, function.data, function.size);
        tw__text_free(&function);
        tw__text_free(&signature);
        tw__text_free(&in);
        tw__text_free(&out);
        tw__text_free(&ret);
    }
    add_node(text, 1, &(made)X);
    add_node(text, 1, &(made){ "a", "PartitionedCall", { "x" }, "f0", TW_FLOAT32 });
    tw__proto_add_bytes(text, 2, library.data, library.size);
    tw__text_free(&library);
}

static void nesting(void **state)
{
    (void)state;
    tw__text text = { 0 };
    nested(&text, 10000, false);
    assert_null(build(&text));
    expect_error(TW_RESOURCE_EXHAUSTED, "functions are nested more than 256 deep");
    tw__text_clear(&text);
    nested(&text, 5, true);
    assert_null(build(&text));
    expect_error(TW_INVALID_ARGUMENT, "function 'f0' calls itself");
    tw__text_clear(&text);
    nested(&text, 256, false);
    tw_auto tw__graph *graph = build(&text);
    expect_no_error();
    assert_non_null(graph);
    tw__text_free(&text);
}

/* 10,000 nodes in a row, the last first in the file. */
static void long_chain(void **state)
{
    (void)state;
    tw__text text = { 0 };
    for (int i = 10000; i > 0; i--) {
        char name[32], input[32];
        snprintf(name, sizeof name, "n%d", i);
        snprintf(input, sizeof input, i > 1 ? "n%d" : "x", i - 1);
        add_node(&text, 1, &(made){ name, "Neg", { input }, NULL, TW_FLOAT32 });
    }
    add_node(&text, 1, &(made)X);
    tw_auto tw__graph *graph = build(&text);
    expect_no_error();
    assert_int_equal(graph->node_count, 10001);
    assert_string_equal(graph->nodes[10000]->name, "n10000");
    tw__text_free(&text);
}

static void try_bytes(const char *data, size_t size)
{
    tw_auto tw__library *library = tw__library_read(data, size);
    if (library) {
        tw_auto tw__graph *graph = tw__graphdef_read(library);
        if (graph) {
            tw__text text = { 0 };
            tw__graphdef_write(&text, graph, true, NULL, 0);
            tw__text_free(&text);
        }
    }
    tw_clear_error();
}

static void changed_bytes(void **state)
{
    (void)state;
    static const char *const files[] = { "plain", "variable", "nested", "control", "wrong_result" };
    uint32_t random = 12345;
    for (int f = 0; f < 5; f++) {
        char path[400];
        snprintf(path, sizeof path, TW_TEST_DATA "/golden/graphs/%s.pb", files[f]);
        size_t size;
        char *data = tw__file_read_all(path, 1 << 20, &size), *copy = tw__alloc(size);
        assert_non_null(data);
        for (size_t cut = 0; cut < size; cut += 3)
            try_bytes(data, cut);
        for (int round = 0; round < 1500; round++) {
            memcpy(copy, data, size);
            random = random * 1664525 + 1013904223;
            for (unsigned n = 0; n <= (random >> 28 & 3); n++) {
                uint32_t where = random = random * 1664525 + 1013904223;
                random = random * 1664525 + 1013904223;
                copy[(where >> 8) % size] = (char)(random >> 13);
            }
            try_bytes(copy, size);
        }
        tw__free(copy);
        tw__free(data);
    }
}

/* ---- calls whose functions have other signatures than they say ---- */

/* A function of one float argument: Neg of it, or a Cast to another dtype. */
static void add_function(tw__text *library, const char *name, tw_dtype result)
{
    tw__text function = { 0 }, signature = { 0 }, in = { 0 }, out = { 0 }, ret = { 0 }, node = { 0 };
    tw__proto_add_bytes(&in, 1, "x", 1);
    tw__proto_add_varint(&in, 3, TW_FLOAT32);
    tw__proto_add_bytes(&out, 1, "y", 1);
    tw__proto_add_varint(&out, 3, result);
    tw__proto_add_bytes(&signature, 1, name, strlen(name));
    tw__proto_add_bytes(&signature, 2, in.data, in.size);
    tw__proto_add_bytes(&signature, 3, out.data, out.size);
    tw__proto_add_bytes(&function, 1, signature.data, signature.size);
    tw__proto_add_bytes(&node, 1, "cast", 4);
    tw__proto_add_bytes(&node, 2, "Cast", 4);
    tw__proto_add_bytes(&node, 3, "x", 1);
    add_attr(&node, TW_A_TYPE("SrcT", TW_FLOAT32));
    add_attr(&node, TW_A_TYPE("DstT", result));
    tw__proto_add_bytes(&function, 3, node.data, node.size);
    tw__proto_add_bytes(&ret, 1, "y", 1);
    tw__proto_add_bytes(&ret, 2, "cast:y:0", 8);
    tw__proto_add_bytes(&function, 4, ret.data, ret.size);
    tw__proto_add_bytes(library, 1, function.data, function.size);
    tw__text *const all[] = { &function, &signature, &in, &out, &ret, &node };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        tw__text_free(all[i]);
}

/* An attr that is a function, or (`list`) two of them. */
static void add_functions(tw__text *node, const char *attr, const char *first, const char *second, bool list)
{
    tw__text value = { 0 }, pair = { 0 }, functions = { 0 };
    for (int i = 0; i <= list; i++) {
        tw__text name = { 0 };
        tw__proto_add_bytes(&name, 1, i ? second : first, strlen(i ? second : first));
        tw__proto_add_bytes(list ? &functions : &value, list ? 9 : 10, name.data, name.size);
        tw__text_free(&name);
    }
    if (list)
        tw__proto_add_bytes(&value, 1, functions.data, functions.size);
    tw__proto_add_bytes(&pair, 1, attr, strlen(attr));
    tw__proto_add_bytes(&pair, 2, value.data, value.size);
    tw__proto_add_bytes(node, 5, pair.data, pair.size);
    tw__text_free(&value);
    tw__text_free(&pair);
    tw__text_free(&functions);
}

typedef struct calling {
    const char *op, *first, *second; /* the functions: f, then and else, cond and body, or the branches */
    tw_dtype in[2], out[2];          /* Tin (T of a loop) and Tout */
} calling;

static tw__graph *build_call(const calling *c)
{
    tw__text text = { 0 }, library = { 0 }, node = { 0 };
    bool is_if = strstr(c->op, "If"), is_loop = strstr(c->op, "While"), is_case = strstr(c->op, "Case");
    add_node(&text, 1, &(made)X);
    add_node(&text, 1, &(made){ "number", "Placeholder", { 0 }, NULL, TW_INT32 });
    tw__proto_add_bytes(&node, 1, "call", 4);
    tw__proto_add_bytes(&node, 2, c->op, strlen(c->op));
    if (is_if || is_case)
        tw__proto_add_bytes(&node, 3, "number", 6);
    tw__proto_add_bytes(&node, 3, "x", 1);
    if (is_if)
        add_attr(&node, TW_A_TYPE("Tcond", TW_INT32));
    add_attr(&node, TW_A_TYPES(is_loop ? "T" : "Tin", c->in, c->in[0] ? c->in[1] ? 2 : 1 : 0));
    if (!is_loop)
        add_attr(&node, TW_A_TYPES("Tout", c->out, c->out[0] ? c->out[1] ? 2 : 1 : 0));
    add_functions(&node, is_if ? "then_branch" : is_loop ? "cond" : is_case ? "branches" : "f", c->first, c->second, is_case);
    if (is_if || is_loop)
        add_functions(&node, is_if ? "else_branch" : "body", c->second, NULL, false);
    tw__proto_add_bytes(&text, 1, node.data, node.size);
    add_function(&library, "same", TW_FLOAT32);
    add_function(&library, "whole", TW_INT32);
    add_function(&library, "truth", TW_BOOL);
    tw__proto_add_bytes(&text, 2, library.data, library.size);
    tw__graph *graph = build(&text);
    tw__text_free(&text);
    tw__text_free(&library);
    tw__text_free(&node);
    return graph;
}

static void signatures(void **state)
{
    (void)state;
#define F TW_FLOAT32
#define I TW_INT32
    static const struct {
        calling call;
        const char *error; /* NULL: it is a good one */
    } cases[] = {
        { { "PartitionedCall", "same", NULL, { F }, { F } }, NULL },
        { { "PartitionedCall", "same", NULL, { F }, { I } }, "output 0 of function same is float32, the call says int32" },
        { { "StatefulPartitionedCall", "whole", NULL, { F }, { F } },
          "output 0 of function whole is int32, the call says float32" },
        { { "PartitionedCall", "same", NULL, { F }, { F, F } }, "gives 1 outputs; the call has 1 and 2" },
        { { "PartitionedCall", "same", NULL, { F }, { 0 } }, "gives 1 outputs; the call has 1 and 0" },
        { { "PartitionedCall", "same", NULL, { I }, { F } }, "attr 'Tin': the inputs have other types than it says" },
        { { "PartitionedCall", "same", NULL, { 0 }, { F } }, "PartitionedCall takes 0 inputs, got 1" },
        { { "PartitionedCall", "same", NULL, { F, F }, { F } }, "PartitionedCall takes 2 inputs, got 1" },
        { { "If", "same", "same", { F }, { F } }, NULL },
        { { "If", "same", "whole", { F }, { F } }, "output 0 of branch whole is int32, expected float32" },
        { { "StatelessIf", "whole", "whole", { F }, { F } }, "output 0 of branch whole is int32, expected float32" },
        { { "StatelessIf", "same", "same", { F }, { F, F } }, "the call has 1 and 2" },
        { { "StatelessIf", "same", "same", { 0 }, { F } }, "StatelessIf takes 1 inputs, got 2" },
        { { "Case", "same", "same", { F }, { F } }, NULL },
        { { "StatelessCase", "same", "truth", { F }, { F } }, "output 0 of branch truth is bool, expected float32" },
        { { "Case", "whole", "whole", { F }, { F, I } }, "the call has 1 and 2" },
        { { "While", "truth", "same", { F }, { 0 } }, NULL },
        { { "While", "same", "same", { F }, { 0 } }, "cond same gives float32, expected bool" },
        { { "StatelessWhile", "truth", "whole", { F }, { 0 } }, "value 0 of body whole is not float32 throughout" },
        { { "StatelessWhile", "truth", "same", { F, F }, { 0 } }, "StatelessWhile takes 2 inputs, got 1" },
        { { "StatelessWhile", "truth", "same", { 0 }, { 0 } }, "StatelessWhile takes 0 inputs, got 1" },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        tw_auto tw__graph *graph = build_call(&cases[i].call);
        if (!cases[i].error) {
            expect_no_error();
            assert_non_null(graph);
            continue;
        }
        assert_null(graph);
        assert_non_null(strstr(tw_error_message(), "node 'call'"));
        expect_error(TW_INVALID_ARGUMENT, cases[i].error);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(errors), cmocka_unit_test(nesting), cmocka_unit_test(long_chain),
                                        cmocka_unit_test(signatures), cmocka_unit_test(changed_bytes) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
