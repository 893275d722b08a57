/* Serialized Examples: whatever the bytes are, parsing gives tensors or an error. What was parsed and written again is parsed to
 * the same. */
#include <stdlib.h>
#include <string.h>

#include "fuzz/fuzz.h"
#include "rows.h"

static const struct {
    const char *key, *kind;
    tw_dtype dtype;
} wanted[] = {
    { "b", "sparse", TW_STRING }, { "f", "sequence", TW_FLOAT32 }, { "i", "sequence", TW_INT64 }, { "n", "ragged", TW_INT64 }
};

static tw_tensors parse(tw_tensor *serialized)
{
    void *features[4];
    for (int i = 0; i < 4; i++)
        features[i] = tw_example_feature(wanted[i].key, wanted[i].dtype, .kind = wanted[i].kind);
    tw_tensors made = tw_io_parse_example(serialized, (tw_objects){ features, 4 });
    for (int i = 0; i < 4; i++)
        tw_release(features[i]);
    return made;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    tw_auto tw_tensor *serialized = tw_tensor_string((const char *)data, size);
    tw_tensors made = parse(serialized);
    if (made.count) {
        tw_auto tw_tensor *again =
            tw_io_serialize_example(TW_PAIRS({ "b", made.items[1] }, { "f", made.items[3] }, { "i", made.items[4] }));
        tw_tensors back = again ? parse(again) : (tw_tensors){ 0 };
        if (!back.count ||
            memcmp(tw_tensor_data(made.items[3]), tw_tensor_data(back.items[3]), tw_tensor_bytes(made.items[3])) != 0 ||
            tw_tensor_count(made.items[4]) != tw_tensor_count(back.items[4]) ||
            tw_tensor_count(made.items[1]) != tw_tensor_count(back.items[1]))
            abort();
        tw_tensors_free(&back);
    }
    tw_tensors_free(&made);
    tw_clear_error();
    return 0;
}

void fuzz_seeds(fuzz_add add)
{
    static const char example[] =
        "\x0a\x48\x0a\x0d\x0a\x01"
        "b\x12\x08\x0a\x06\x0a\x02xy\x0a\x00\x0a\x07\x0a\x01"
        "e\x12\x02\x12\x00\x0a\x11\x0a\x01"
        "f\x12\x0c\x12\x0a\x0a\x08\x00\x00\xc0\x3f\x00\x00\x00\xc0\x0a\x14\x0a\x01i\x12\x0f\x1a\x0d\x0a\x0b\x03"
        "\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01\x0a\x05\x0a\x01n\x12\x00";
    add(example, sizeof example - 1);
    static const char nan[] = "\x0a\x10\x0a\x0e\x0a\x01" /* a signalling NaN keeps its bits */
                              "f\x12\x09\x12\x07\x0a\x04\x9a\x10\xaa\xff";
    add(nan, sizeof nan - 1);
    add("", 0);
}
