/* Datasets: pictures in files that are decoded and batched, a generator, records of Examples, lines of CSV. The same as
 * examples/python/pipeline.py.
 *
 *     pipeline DIRECTORY
 */
#include <stdio.h>

#include <thalweg.h>

static const char *directory;

static const char *inside(const char *name)
{
    static char path[512];
    snprintf(path, sizeof path, "%s/%s", directory, name);
    return path;
}

static void write_pictures(void)
{
    for (int i = 0; i < 6; i++) {
        tw_scoped();
        char name[] = "picture0.png";
        name[7] = (char)('0' + i);
        tw_tensor *picture = tw_fill(TW_IS(4, 4, 3), tw_cast(TW_I(i * 40), TW_UINT8));
        tw_io_write_file(TW_S(inside(name)), tw_image_encode_png(picture));
    }
}

TW_BODY(load)
{
    tw_tensor *picture = tw_image_decode_png(tw_io_read_file(in.items[0]), .channels = 3);
    tw_tensor *small = tw_image_resize(tw_divide(tw_cast(picture, TW_FLOAT32), TW_F(255)), TW_IS(2, 2));
    tw_tensor *digit = tw_strings_regex_replace(in.items[0], TW_S(".*picture([0-9]).png"), TW_S("\\1"));
    return tw_give(small, tw_strings_to_number(digit, TW_INT32));
}

static tw_tensors squares(void *state, int64_t index)
{
    (void)state;
    return index < 5 ? tw_give(TW_I(index), TW_I(index * index)) : TW_GIVE_NOTHING;
}

static tw_tensor *example(const char *name, tw_tensor *values)
{
    return tw_io_serialize_example(TW_PAIRS({ "name", TW_S(name) }, { "values", values }));
}

TW_BODY(parse)
{
    tw_objects features = TW_OBJECTS(tw_example_feature("name", TW_STRING, .shape = TW_SCALAR),
                                     tw_example_feature("values", TW_FLOAT32, .shape = TW_SHAPE(2)));
    tw_tensors found = tw_io_parse_example(in.items[0], features);
    return found.count == 2 ? tw_give(found.items[0], found.items[1]) : TW_GIVE_FAILURE;
}

/* The next element of an iterator; false at the end. */
static bool next(tw_iterator *iterator, tw_tensors *element)
{
    *element = tw_iterator_next(iterator);
    return element->count > 0;
}

static tw_string text(tw_tensor *tensor)
{
    return tw_tensor_string_at(tensor, 0);
}

int main(int argc, char **argv)
{
    tw_scoped();
    directory = argc > 1 ? argv[1] : ".";
    tw_tensors row;
    write_pictures();
    tw_dataset *files = tw_dataset_list_files(TW_S(inside("*.png")), .shuffle = false);
    tw_dataset *loaded = tw_dataset_map(files, tw_function_new(load, NULL), .num_parallel_calls = 2);
    tw_iterator *batches = tw_iterator(.dataset = tw_dataset_prefetch(tw_dataset_batch(loaded, 4), 1));
    while (next(batches, &row)) {
        char *numbers = tw_made_text(tw_tensor_values_text(row.items[1]));
        printf("batch of %d, mean %.3f, numbers %s\n", (int)tw_tensor_dim(row.items[0], 0),
               tw_tensor_double_at(tw_reduce_mean(row.items[0]), 0), numbers);
    }

    tw_dataset *pairs = tw_dataset_from_generator(squares, NULL, TW_SPECS({ TW_INT32, TW_SCALAR }, { TW_INT32, TW_SCALAR }));
    tw_iterator *skipped = tw_iterator(.dataset = tw_dataset_skip(pairs, 2));
    while (next(skipped, &row))
        printf("%d squared is %d\n", (int)tw_tensor_int_at(row.items[0], 0), (int)tw_tensor_int_at(row.items[1], 0));

    tw_record_file *writer = tw_record_file(inside("data.tfrecord"));
    tw_record_file_write(writer, tw_bytes_at(example("first", TW_FS(1, 2)), 0));
    tw_record_file_write(writer, tw_bytes_at(example("second", TW_FS(3, 4)), 0));
    tw_record_file_close(writer);
    tw_dataset *records = tw_dataset_tf_record(TW_S(inside("data.tfrecord")));
    tw_iterator *examples = tw_iterator(.dataset = tw_dataset_map(records, tw_function_new(parse, NULL)));
    while (next(examples, &row))
        printf("%.*s: %s\n", (int)text(row.items[0]).size, text(row.items[0]).data,
               tw_made_text(tw_tensor_values_text(row.items[1])));

    tw_io_write_file(TW_S(inside("data.csv")), TW_S("length,kind\n1.5,a\n2.5,b\n4.0,a\n"));
    tw_tensors columns = TW_TENSORS(tw_tensor_new(TW_FLOAT32, TW_SHAPE(0), NULL), tw_tensor_new(TW_STRING, TW_SHAPE(0), NULL));
    tw_iterator *lines = tw_iterator(.dataset = tw_dataset_csv(TW_S(inside("data.csv")), columns, .header = true));
    double total = 0;
    while (next(lines, &row)) {
        total += tw_tensor_double_at(row.items[0], 0);
        printf("%.1f of kind %.*s\n", tw_tensor_double_at(row.items[0], 0), (int)text(row.items[1]).size,
               text(row.items[1]).data);
    }
    printf("total %.1f\n", total);
    return tw_report(stderr);
}
