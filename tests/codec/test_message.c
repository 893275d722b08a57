/* The engine of messages: what is written is read again, and bytes that are no message are refused. */
#include "test.h"

#include "codec/message.h"

static tw_string bytes_of(const tw__text *text)
{
    return (tw_string){ text->data, text->size };
}

static void reads_what_it_wrote(void **state)
{
    (void)state;
    tw__text text = { 0 };
    char long_name[300];
    memset(long_name, 'x', sizeof long_name);
    tw__put_NodeDef_name(&text, "a", 1);
    tw__put_NodeDef_input(&text, "b", 1);
    tw__put_NodeDef_device(&text, "d", 1);
    tw__put_NodeDef_input(&text, long_name, sizeof long_name);
    size_t entry = tw__open_NodeDef_attr(&text);
    tw__put_NodeDef_attr_key(&text, "T", 1);
    size_t value = tw__open_NodeDef_attr_value(&text), list = tw__open_AttrValue_list(&text),
           pack = tw__open_AttrValue_ListValue_i(&text);
    for (uint64_t i = 0; i < 1000; i++)
        tw__varint_add(&text, i);
    tw__close(&text, pack);
    tw__close(&text, list);
    tw__close(&text, value);
    tw__close(&text, entry);

    tw__NodeDef node;
    assert_true(tw__read_NodeDef(bytes_of(&text), &node));
    assert_int_equal(node.name.size, 1);
    assert_true(tw__has(node.device) && !tw__has(node.op) && node.op.size == 0 && !node.unknown);
    assert_int_equal(node.input.count, 2);
    tw_string input;
    assert_true(tw__next_bytes(&node.input, &input) && input.data[0] == 'b');
    assert_true(tw__next_bytes(&node.input, &input) && input.size == sizeof long_name);
    assert_false(tw__next_bytes(&node.input, &input) || node.input.failed);
    int count = 0;
    for (TW_EACH(NodeDef_attr, attr, node.attr)) {
        tw__AttrValue inner;
        tw__AttrValue_ListValue members;
        assert_true(tw__read_AttrValue(attr.value, &inner) && inner.which_value == TW_AttrValue_list);
        assert_true(tw__read_AttrValue_ListValue(inner.list, &members));
        bool good;
        assert_int_equal(tw__numbers_count(members.i, &good), 1000);
        assert_true(good);
        tw__numbers numbers = tw__numbers_of(members.i);
        uint64_t bits;
        for (uint64_t i = 0; i < 1000; i++)
            assert_true(tw__next_number(&numbers, &bits) && bits == i);
        count++;
    }
    assert_true(count == 1 && !node.attr.failed);
    for (size_t cut = 1; cut < text.size; cut++) { /* whatever is cut off: refused, or a message that ends earlier */
        tw__NodeDef part;
        if (tw__read_NodeDef((tw_string){ text.data, cut }, &part))
            assert_true(part.attr.count == 0);
    }
    tw__text_free(&text);
}

static void keeps_every_type(void **state)
{
    (void)state;
    tw__text text = { 0 };
    tw__StructuredValue value;
    tw__BundleEntryProto entry;
    tw__put_StructuredValue_int64_value(&text, -3);
    assert_memory_equal(text.data, "\x60\x05", 2); /* zigzag */
    assert_true(tw__read_StructuredValue(bytes_of(&text), &value) && value.int64_value == -3);
    tw__put_StructuredValue_float64_value(&text, 0.1);
    assert_true(tw__read_StructuredValue(bytes_of(&text), &value) && value.float64_value == 0.1);
    assert_int_equal(value.which_kind, TW_StructuredValue_float64_value);
    tw__text_clear(&text);
    tw__put_BundleEntryProto_crc32c(&text, 0xdeadbeef);
    tw__put_BundleEntryProto_offset(&text, INT64_MIN);
    tw__put_BundleEntryProto_shard_id(&text, -1);
    assert_true(tw__read_BundleEntryProto(bytes_of(&text), &entry));
    assert_true(entry.crc32c == 0xdeadbeef && entry.offset == INT64_MIN && entry.shard_id == -1);
    tw__text_free(&text);
}

static void refuses_nonsense(void **state)
{
    (void)state;
    static const struct {
        const char *bytes;
        size_t size;
        bool good;
    } cases[] = {
        { "", 0, true },
        { "\x08\x01", 2, true },                 /* dtype */
        { "\x0a\x01\x01", 3, true },             /* dtype of another wire: passed over */
        { "\x10\x01", 2, true },                 /* a shape that is a number */
        { "\x12\x00\x12\x00", 4, false },        /* two shapes that nobody merged */
        { "\x2a\x04\x00\x00\x80\x3f", 6, true }, /* packed floats */
        { "\x2d\x00\x00\x80\x3f", 5, true },     /* one float */
        { "\x28\x01", 2, true },                 /* a float of another wire */
        { "\xa0\x06\x01", 3, true },             /* a field that there is not */
        { "\x12\x05\x00", 3, false },            /* cut off */
    };
    tw__TensorProto tensor;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_int_equal(tw__read_TensorProto((tw_string){ cases[i].bytes, cases[i].size }, &tensor), cases[i].good);
    assert_true(tw__read_TensorProto((tw_string){ "\xa0\x06\x01", 3 }, &tensor));
    assert_int_equal(tensor.unknown, 100);
    assert_true(tw__read_TensorProto((tw_string){ "\x2a\x03\x00\x00\x80", 5 }, &tensor)); /* a float that is cut off */
    tw__numbers numbers = tw__numbers_of(tensor.float_val);
    uint64_t bits;
    assert_false(tw__next_number(&numbers, &bits));
    assert_true(numbers.many.failed);
}

/* Bytes, and what they are when single messages were merged; NULL: they stay. */
static void merges_single_messages(void **state)
{
    (void)state;
    static const struct {
        const tw__message *type;
        const char *bytes;
        size_t size;
        const char *merged;
        size_t merged_size;
    } cases[] = {
        { &tw__type_TensorProto, "", 0, NULL, 0 },
        { &tw__type_TensorProto, "\x08\x01\x12\x00", 4, NULL, 0 },
        { &tw__type_TensorProto, "\x12\x00\x12\x00", 4, "\x12\x00", 2 },
        { &tw__type_TensorProto, "\x12\x02\x18\x01\x08\x01\x12\x02\x18\x00", 10, "\x08\x01\x12\x04\x18\x01\x18\x00", 8 },
        { &tw__type_TensorProto, "\x12\x00\x10\x01", 4, NULL, 0 },               /* the second is no message */
        { &tw__type_TensorProto, "\x12\x01\x12\x12\x00", 5, "\x12\x01\x00", 3 }, /* the first is cut off: still nonsense */
        { &tw__type_AttrValue, "\x0a\x02\x18\x01\x0a\x02\x18\x02", 8, "\x0a\x04\x18\x01\x18\x02", 6 },
        { &tw__type_AttrValue, "\x0a\x02\x18\x01\x12\x00\x0a\x02\x18\x02", 10, "\x12\x00\x0a\x02\x18\x02",
          6 }, /* dropped between */
        { &tw__type_AttrValue, "\x0a\x00\x0a\x00\x12\x00", 6, "\x0a\x00\x12\x00", 4 },
        { &tw__type_GraphDef, "\x22\x02\x08\x01\x0a\x00\x22\x02\x18\x02\x0a\x00", 12, "\x0a\x00\x22\x04\x08\x01\x18\x02\x0a\x00",
          10 },
        /* in an entry of a node's attrs: two values, of which each has a list */
        { &tw__type_NodeDef, "\x2a\x0c\x12\x04\x0a\x02\x18\x01\x12\x04\x0a\x02\x18\x02", 14,
          "\x2a\x08\x12\x06\x0a\x04\x18\x01\x18\x02", 10 },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        tw_string bytes = { cases[i].bytes, cases[i].size };
        char *owned;
        assert_true(tw__message_merge(cases[i].type, &bytes, &owned));
        assert_int_equal(owned != NULL, cases[i].merged != NULL);
        assert_ptr_equal(bytes.data, owned ? owned : cases[i].bytes);
        assert_int_equal(bytes.size, owned ? cases[i].merged_size : cases[i].size);
        if (owned)
            assert_memory_equal(owned, cases[i].merged, bytes.size);
        tw__free(owned);
    }
    tw__AttrValue value; /* of a oneof the last counts, and nothing else is there */
    assert_true(tw__read_AttrValue((tw_string){ "\x0a\x00\x18\x05", 4 }, &value));
    assert_true(value.which_value == TW_AttrValue_i && value.i == 5 && !tw__has(value.list));
    assert_true(tw__read_AttrValue((tw_string){ "\x18\x05\x28\x01\x12\x00", 6 }, &value));
    assert_true(value.which_value == TW_AttrValue_s && value.i == 0 && !value.b && tw__has(value.s));
}

/* Messages in messages, as deep as one likes, end. */
static void merges_deep_messages(void **state)
{
    (void)state;
    tw__text text = { 0 };
    for (int i = 0; i < 1000; i++) { /* AttrValue { func { attr { value … } } }, and each value twice */
        tw__text outer = { 0 };
        size_t func = tw__open_AttrValue_func(&outer), entry = tw__open_NameAttrList_attr(&outer);
        tw__put_NameAttrList_attr_value(&outer, text.data, text.size);
        tw__put_NameAttrList_attr_value(&outer, "", 0);
        tw__close(&outer, entry);
        tw__close(&outer, func);
        tw__text_free(&text);
        text = outer;
    }
    tw_string bytes = bytes_of(&text);
    char *owned;
    assert_true(tw__message_merge(&tw__type_AttrValue, &bytes, &owned));
    assert_non_null(owned);
    assert_true(bytes.size < text.size);
    tw__free(owned);
    tw__text_free(&text);
}

static void has_sound_tables(void **state)
{
    (void)state;
    for (const tw__message *const *m = tw__messages; *m; m++) {
        assert_ptr_equal(tw__message_named((*m)->name, strlen((*m)->name)), *m);
        for (int i = 0; i < (*m)->count; i++) {
            const tw__message_field *field = &(*m)->fields[i];
            assert_int_equal((*m)->places[field->number], i + 1);
            assert_true((field->type == TW_FIELD_MESSAGE) == (field->message != NULL));
            assert_true((field->type == TW_FIELD_ENUM) == (field->values != NULL));
            assert_true(!field->map || (field->repeated && field->message->entry && field->message->count == 2));
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_what_it_wrote),    cmocka_unit_test(keeps_every_type),     cmocka_unit_test(refuses_nonsense),
        cmocka_unit_test(merges_single_messages), cmocka_unit_test(merges_deep_messages), cmocka_unit_test(has_sound_tables),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
