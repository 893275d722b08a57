/* Every format that is read: checkpoints, Keras models of three kinds, SavedModels, records, events, arrays of NumPy, pictures.
 * The same as examples/python/read_formats.py.
 *
 *     read_formats DIRECTORY
 */
#include <stdio.h>
#include <string.h>

#include <thalweg.h>

static const char *directory;
static const char *const models[] = { "model.h5", "model.keras", "saved" };

static const char *inside(const char *name)
{
    static char paths[2][512];
    static int next;
    char *path = paths[next++ % 2];
    snprintf(path, sizeof paths[0], "%s/%s", directory, name);
    return path;
}

static char *text_of(tw_tensor *tensor)
{
    return tw_made_text(tw_tensor_values_text(tensor));
}

static void write_all(void)
{
    tw_scoped();
    tw_variable *step = tw_variable(TW_I(7)), *weights = tw_variable(TW_FS(1, 2));
    tw_made_text(tw_checkpoint_write(tw_checkpoint_new({ "step", step }, { "weights", weights }), inside("checkpoint")));
    tw_model *model =
        tw_model_sequential(tw_layers_dense(2, .kernel_initializer = "ones", .input_shape = TW_SHAPE(3), .name = "dense"));
    for (int i = 0; i < 3; i++)
        tw_model_save(model, inside(models[i]));
    tw_record_file *records = tw_record_file(inside("lines.tfrecord"));
    tw_record_file_write(records, TW_TEXT("one"));
    tw_record_file_write(records, TW_TEXT("two"));
    tw_record_file_close(records);
    tw_summary_writer *writer = tw_summary_writer(inside("logs"));
    tw_summary_push(writer);
    tw_summary_scalar("loss", TW_F(0.25), .step = TW_L(5));
    tw_summary_pop();
    tw_summary_writer_close(writer);
    tw_npy_write(inside("array.npy"), tw_reshape(tw_range(TW_I(0), TW_I(6)), TW_IS(2, 3)));
    tw_tensor *picture = tw_cast(tw_reshape(tw_range(TW_I(0), TW_I(48)), TW_IS(4, 4, 3)), TW_UINT8);
    tw_io_write_file(TW_S(inside("picture.png")), tw_image_encode_png(picture));
    tw_io_write_file(TW_S(inside("picture.jpg")), tw_image_encode_jpeg(picture));
}

static void read_checkpoint(void)
{
    tw_value variables = tw_train_list_variables(inside("checkpoint"));
    for (int64_t i = 0; i < variables.list.count; i++) {
        const tw_value *pair = variables.list.items[i].list.items;
        const char *name = pair[0].s.data;
        if (strncmp(name, "step", 4) == 0 || strncmp(name, "weights", 7) == 0)
            printf("checkpoint: %s %s %s\n", name, tw_made_text(tw_value_json(&pair[1])),
                   text_of(tw_train_load_variable(inside("checkpoint"), name)));
    }
}

static void read_models(void)
{
    tw_tensor *x = tw_reshape(TW_FS(1, 2, 3), TW_IS(1, 3));
    for (int i = 0; i < 3; i++) {
        tw_model *model = tw_load_model(inside(models[i]));
        printf("%s: %s of %d layers gives %s\n", models[i], tw_made_text(tw_layer_name(model)), (int)tw_model_layers(model).count,
               text_of(tw_model_call(model, x)));
    }
    tw_saved_object *saved = tw_saved_model_load(inside("saved"));
    tw_saved_concrete *serve = tw_saved_model_signature(saved, "serving_default");
    printf("signature: %s\n", text_of(tw_signature_value(serve, TW_NAMED_TENSORS({ tw_signature_input(serve, 0), x }), "dense")));
    tw_saved_model_close(saved);
}

static void read_records_and_events(void)
{
    tw_iterator *lines = tw_iterator(.dataset = tw_dataset_tf_record(TW_S(inside("lines.tfrecord"))));
    for (tw_tensors line; (line = tw_iterator_next(lines)).count;)
        printf("record: %s\n", tw_tensor_string_at(line.items[0], 0).data);
    tw_tensor *paths = tw_io_matching_files(TW_S(inside("logs/events.*")));
    tw_events *events = tw_events_open(tw_tensor_string_at(paths, 0).data, 0);
    for (tw_event_value value; tw_events_next(events, &value);)
        printf("event: step %d, %s is %.2f\n", (int)value.step, value.tag, tw_tensor_double_at(tw_event_tensor(&value), 0));
    tw_events_close(events);
}

int main(int argc, char **argv)
{
    tw_scoped();
    directory = argc > 1 ? argv[1] : ".";
    write_all();
    read_checkpoint();
    read_models();
    read_records_and_events();
    tw_tensor *array = tw_npy_read(inside("array.npy"));
    printf("array: %s (%d, %d), sum %d\n", tw_dtype_name(tw_tensor_dtype(array)), (int)tw_tensor_dim(array, 0),
           (int)tw_tensor_dim(array, 1), (int)tw_tensor_int_at(tw_reduce_sum(array), 0));
    const char *pictures[] = { "picture.png", "picture.jpg" };
    for (int i = 0; i < 2; i++) {
        tw_tensor *picture = tw_image_decode_image(tw_io_read_file(TW_S(inside(pictures[i]))));
        tw_tensor *first = tw_math_floordiv(tw_gather_nd(picture, TW_IS(0, 0)), tw_cast(TW_I(16), TW_UINT8));
        printf("%s: (%d, %d, %d), first %s\n", pictures[i], (int)tw_tensor_dim(picture, 0), (int)tw_tensor_dim(picture, 1),
               (int)tw_tensor_dim(picture, 2), text_of(first));
    }
    return tw_report(stderr);
}
