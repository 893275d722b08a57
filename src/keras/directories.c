/* keras.utils.image_, text_ and audio_dataset_from_directory: datasets of what is in the files of a directory, with labels. The
 * files are found and put in order by files.c. */
#include "data/compose.h"
#include "keras/keras.h"
#include "op/calls.h"

/* What differs between pictures, texts and sounds. */
typedef struct file_kind {
    const char *name, *missing; /* missing: the words if a directory has no such file */
    const char *endings[5];
    int ending_count;
} file_kind;

static const file_kind kinds[] = {
    { "image",
      "No %simages found in directory %s. Allowed formats: ('.bmp', '.gif', '.jpeg', '.jpg', '.png')",
      { ".bmp", ".gif", ".jpeg", ".jpg", ".png" },
      5 },
    { "text", "No %stext files found in directory %s. Allowed format: .txt", { ".txt" }, 1 },
    { "audio", "No %saudio files found in directory %s. Allowed format(s): ('.wav',)", { ".wav" }, 1 },
};
enum { IMAGE, TEXT, AUDIO };

typedef struct reading {
    const tw_directory_datasets_args *args;
    int kind;
    int64_t channels, classes;
} reading;

/* ---- files ---- */

static tw_tensor *picture_in(tw__temps *t, const reading *r, tw_tensor *bytes)
{
    const int64_t *sides = r->args->image_size.items;
    tw_tensor *size = tw__temp_ints(t, sides, 2, TW_INT32);
    tw_tensor *pixels =
        size ? tw__temp(t, tw_image_decode_image(bytes, .channels = r->channels, .expand_animations = false)) : NULL;
    const char *method = r->args->interpolation;
    if (!pixels)
        return NULL;
    tw_tensor *resized = tw__temp(t, r->args->crop_to_aspect_ratio ? tw_image_smart_resize(pixels, size, .interpolation = method)
                                                                   : tw_image_resize(pixels, size, .method = method));
    return resized ? tw_ensure_shape(resized, TW_SHAPE(sides[0], sides[1], r->channels)) : NULL;
}

static tw_tensor *text_in(tw__temps *t, const reading *r, tw_tensor *bytes)
{
    if (r->args->max_length == TW_NO_INT)
        return tw_retain(bytes);
    tw_tensor *zero = tw__temp_int(t, 0, TW_INT32), *length = tw__temp_int(t, r->args->max_length, TW_INT32);
    return zero && length ? tw_strings_substr(bytes, zero, length) : NULL;
}

static tw_tensor *sound_in(const reading *r, tw_tensor *bytes)
{
    int64_t length = r->args->output_sequence_length == TW_NO_INT ? -1 : r->args->output_sequence_length;
    tw_tensors found = tw_audio_decode_wav(bytes, .desired_samples = length);
    tw_tensor *samples = found.count > 0 ? tw_retain(found.items[0]) : NULL;
    tw_tensors_free(&found);
    return samples;
}

static tw_status read_file(void *user, const tw_value *arguments, __attribute__((unused)) int count, tw_value *result)
{
    TW_TEMPS(t);
    const reading *r = user;
    tw_tensor *bytes = tw__temp(t, tw_io_read_file(arguments[0].tensor));
    TW_NEED(bytes);
    tw_tensor *read = r->kind == IMAGE ? picture_in(t, r, bytes) : r->kind == TEXT ? text_in(t, r, bytes) : sound_in(r, bytes);
    TW_NEED(read);
    *result = (tw_value){ .kind = TW_VALUE_TENSOR, .tensor = read };
    if (r->kind != AUDIO || !r->args->ragged)
        return TW_OK;
    *result = (tw_value){ .kind = TW_VALUE_OBJECT, .object = tw_ragged_tensor_from_tensor(tw__temp(t, read)) };
    return result->object ? TW_OK : tw__error_status();
}

static tw_status make_label(void *user, const tw_value *arguments, __attribute__((unused)) int count, tw_value *result)
{
    TW_TEMPS(t);
    const reading *r = user;
    tw_tensor *number = arguments[0].tensor;
    bool binary = strcmp(r->args->label_mode, "binary") == 0;
    tw_tensor *made = binary ? TW_CALL(ExpandDims, tw__temp_cast(t, number, TW_FLOAT32), tw__temp_int(t, -1, TW_INT32))
                             : tw_one_hot(number, tw__temp_int(t, r->classes, TW_INT32));
    *result = (tw_value){ .kind = TW_VALUE_TENSOR, .tensor = made };
    return made ? TW_OK : tw__error_status();
}

/* ---- datasets ---- */

static tw_dataset *rows_of(tw_tensor *tensor)
{
    return tensor ? tw_dataset_rows_of_structure((tw_value){ .kind = TW_VALUE_TENSOR, .tensor = tensor }) : NULL;
}

static tw_dataset *mapped(tw_dataset *input, tw__element_body body, const reading *r)
{
    tw_auto tw_object *function = input ? tw__data_function_of(body, (void *)r) : NULL;
    return function ? tw_dataset_map(input, (tw_function *)function, .num_parallel_calls = -1) : NULL;
}

/* What is in the files, with the labels if they are wanted. */
static tw_dataset *labelled(const reading *r, tw_tensor *paths, tw_tensor *labels)
{
    const char *mode = r->args->label_mode;
    tw_auto tw_dataset *files = rows_of(paths), *samples = mapped(files, read_file, r);
    if (!mode)
        return tw_retain(samples);
    tw_auto tw_dataset *numbers = samples ? rows_of(labels) : NULL;
    tw_auto tw_dataset *made = strcmp(mode, "int") == 0 ? tw_retain(numbers) : mapped(numbers, make_label, r);
    return tw__data_zipped(samples, made);
}

/* Batches of it; the first part is shuffled again for every epoch. */
static tw_dataset *finished(const reading *r, tw_dataset *dataset, bool first)
{
    const tw_directory_datasets_args *args = r->args;
    bool whole = args->batch_size == TW_NO_INT;
    double size = whole ? 1 : (double)args->batch_size;
    tw_auto tw_dataset *ready = r->kind == IMAGE || !dataset ? tw_retain(dataset) : tw_dataset_prefetch(dataset, -1);
    tw_auto tw_dataset *mixed = !ready || !args->shuffle || !first
                                    ? tw_retain(ready)
                                    : tw_dataset_shuffle(ready, whole ? 1024 : 8 * size, .seed = args->seed);
    tw_shape shapes[] = { TW_SHAPE(-1, -1), TW_SCALAR };
    tw_value each[] = { { .kind = TW_VALUE_SHAPE, .shape = &shapes[0] }, { .kind = TW_VALUE_SHAPE, .shape = &shapes[1] } };
    tw_value both = { .kind = TW_VALUE_TUPLE, .list = { each, 2, NULL } };
    bool padded = r->kind == AUDIO && args->output_sequence_length == TW_NO_INT && !args->ragged;
    tw_auto tw_dataset *batches = !mixed || whole ? tw_retain(mixed)
                                  : padded        ? tw_dataset_padded_batch(mixed, size, .padded_shapes = both)
                                                  : tw_dataset_batch(mixed, size);
    return r->kind == IMAGE && batches ? tw_dataset_prefetch(batches, -1) : tw_retain(batches);
}

/* ---- parts ---- */

static void tell(const char *format, long long one, long long two)
{
    char line[120];
    int size = snprintf(line, sizeof line, format, one, two);
    tw__tell(line, (size_t)size);
}

typedef struct part {
    int64_t begin, end;
    const char *word; /* in the error if it is empty */
} part;

/* The files of a subset, or of both. A share that is less than one file leaves nothing to train on, as in Keras. */
static int parts_of(const tw_directory_datasets_args *args, int64_t all, part parts[2])
{
    if (!(args->validation_split > 0)) {
        parts[0] = (part){ 0, all, "" };
        return 1;
    }
    bool both = args->subset && strcmp(args->subset, "both") == 0;
    int64_t held = (int64_t)(args->validation_split * (double)all), kept = held ? all - held : 0;
    int count = 0;
    if (both || (args->subset && strcmp(args->subset, "training") == 0)) {
        tell("Using %lld files for training.\n", all - held, 0);
        parts[count++] = (part){ 0, kept, both ? "training " : "" };
    }
    if (both || !count) {
        tell("Using %lld files for validation.\n", held, 0);
        parts[count++] = (part){ kept, all, both ? "validation " : "" };
    }
    return count;
}

/* The paths of files, of their names below the directory; the names become the paths. */
static tw_tensor *paths_of(const char *directory, tw_value *names)
{
    tw_auto tw_tensor *paths = tw_tensor_new(TW_STRING, TW_SHAPE(names->list.count), NULL);
    for (int64_t i = 0; paths && i < names->list.count; i++) {
        tw_string *name = &names->list.items[i].s;
        char *path = tw__path_join(directory, name->data);
        if (!path || tw__string_set(paths, i, path, strlen(path)) != TW_OK) {
            tw__free(path);
            return NULL;
        }
        tw__free((void *)name->data);
        *name = (tw_string){ path, strlen(path) };
    }
    return tw_retain(paths);
}

static tw_status check_binary(const tw_value *classes)
{
    if (classes->list.count == 2)
        return TW_OK;
    tw__auto(tw__text_free) tw__text text = { 0 };
    for (int64_t i = 0; i < classes->list.count; i++) {
        const tw_value *name = &classes->list.items[i];
        tw__text_add(&text, i ? ", " : "");
        if (name->kind == TW_VALUE_STR)
            tw__text_format(&text, "'%s'", name->s.data);
        else
            tw__text_format(&text, "%lld", name->kind == TW_VALUE_INT ? (long long)name->i : 0);
    }
    return tw__fail(TW_VALUE_ERROR,
                    "When passing `label_mode=\"binary\"`, there must be exactly 2 class_names. Received: class_names=[%s]",
                    text.data ? text.data : "");
}

static tw_status check_arguments(reading *r)
{
    const tw_directory_datasets_args *args = r->args;
    while (strcmp(kinds[r->kind].name, args->kind) != 0)
        r->kind++;
    r->channels = strcmp(args->color_mode, "rgb") == 0 ? 3 : strcmp(args->color_mode, "rgba") == 0 ? 4 : 1;
    if (args->image_size.count != 2 || args->image_size.items[0] < 1 || args->image_size.items[1] < 1)
        return tw__fail(TW_VALUE_ERROR, "image_size must be a height and a width");
    if (args->batch_size != TW_NO_INT && args->batch_size < 1)
        return tw__fail(TW_VALUE_ERROR, "batch_size must be at least 1, got %lld", (long long)args->batch_size);
    return TW_OK;
}

static tw_value list_of(int64_t count)
{
    tw_value *items = tw__alloc_array((size_t)count + 1, sizeof *items);
    if (items)
        memset(items, 0, (size_t)count * sizeof *items);
    return (tw_value){ .kind = items ? TW_VALUE_LIST : TW_VALUE_NONE, .list = { items, items ? count : 0, NULL } };
}

/* The datasets of the parts, and the paths of their files. */
static tw_status make_parts(const reading *r, tw_tensor *paths, tw_tensor *labels, const tw_value *names, tw__dict *dict)
{
    part parts[2];
    int count = parts_of(r->args, names->list.count, parts);
    for (int i = 0; i < count; i++) {
        if (parts[i].begin == parts[i].end)
            return tw__fail(TW_VALUE_ERROR, kinds[r->kind].missing, parts[i].word, r->args->directory);
    }
    tw_value datasets = list_of(count), files = list_of(count);
    bool good = datasets.list.items && files.list.items;
    for (int i = 0; good && i < count; i++) {
        TW_TEMPS(t);
        int64_t begin = parts[i].begin, end = parts[i].end;
        tw_auto tw_dataset *samples = labelled(r, tw__temp_slice(t, paths, begin, end), tw__temp_slice(t, labels, begin, end));
        tw_dataset *made = finished(r, samples, i == 0);
        datasets.list.items[i] = (tw_value){ .kind = made ? TW_VALUE_OBJECT : TW_VALUE_NONE, .object = made };
        const tw_value own = { .kind = TW_VALUE_LIST, .list = { names->list.items + begin, end - begin, NULL } };
        files.list.items[i] = tw__value_copy(&own);
        good = made && files.list.items[i].kind == TW_VALUE_LIST;
    }
    tw__dict_put(dict, "datasets", datasets);
    tw__dict_put(dict, "file_paths", files);
    return good ? TW_OK : tw__error_status();
}

TW_API(
    directory_datasets,
    "keras.utils._directory_datasets(directory: str, kind: str {image, text, audio} = image, labels: tensor = None, label_mode: str {int, "
    "categorical, binary} = None, class_names: value = None, inferred: bool = True, batch_size: int = None, shuffle: bool = False, seed: int "
    "= 0, validation_split: float = None, subset: str {training, validation, both} = None, color_mode: str {rgb, rgba, grayscale} = rgb, "
    "image_size: ints = (256, 256), interpolation: str = bilinear, crop_to_aspect_ratio: bool = False, max_length: int = None, "
    "output_sequence_length: int = None, ragged: bool = False) -> value",
    "Datasets of what is in the files of a directory, as a dict: `datasets` (two for the subset both), `file_paths` of each, and "
    "`class_names`. inferred: the folders are the classes; else `labels` has a number for each file in order, and class_names what they "
    "stand for. label_mode None: without labels.")
{
    const tw_value none = { .kind = TW_VALUE_NONE };
    TW_TEMPS(t);
    reading r = { .args = args };
    if (check_arguments(&r) != TW_OK)
        return none;
    tw_value endings[5];
    for (int i = 0; i < kinds[r.kind].ending_count; i++) {
        const char *ending = kinds[r.kind].endings[i];
        endings[i] = (tw_value){ .kind = TW_VALUE_STR, .s = { ending, strlen(ending) } };
    }
    tw__auto(tw_value_free) tw_value found = tw__impl_directory_index(
        &(tw_directory_index_args){ .directory = args->directory,
                                    .formats = { .kind = TW_VALUE_LIST, .list = { endings, kinds[r.kind].ending_count, NULL } },
                                    .class_names = args->inferred ? args->class_names : none,
                                    .inferred = args->inferred,
                                    .shuffle = args->shuffle,
                                    .seed = args->seed });
    if (found.kind != TW_VALUE_DICT)
        return none;
    tw_value *names = (tw_value *)tw__value_get(&found, "names");
    const tw_value *classes = args->labels ? &args->class_names : tw__value_get(&found, "classes");
    tw_tensor *labels = tw__value_get(&found, "labels")->tensor;
    if (args->labels) {
        if (args->labels->shape.rank != 1 || args->labels->count != names->list.count) {
            tw__fail(TW_VALUE_ERROR,
                     "Expected the lengths of `labels` to match the number of files in the target directory. len(labels) is %lld "
                     "while we found %lld files in directory %s.",
                     (long long)args->labels->count, (long long)names->list.count, args->directory);
            return none;
        }
        labels = tw__temp_gather(t, args->labels, tw__value_get(&found, "order")->tensor, 0);
    }
    r.classes = classes->kind == TW_VALUE_LIST || classes->kind == TW_VALUE_TUPLE ? classes->list.count : 1;
    tell("Found %lld files belonging to %lld classes.\n", (long long)names->list.count, (long long)r.classes);
    if (args->label_mode && strcmp(args->label_mode, "binary") == 0 && check_binary(classes) != TW_OK)
        return none;
    tw_tensor *paths = labels ? tw__temp(t, paths_of(args->directory, names)) : NULL;
    tw__dict dict = { 0 };
    if (!paths || make_parts(&r, paths, labels, names, &dict) != TW_OK) {
        tw__auto(tw_value_free) __attribute__((unused)) tw_value gone = tw__dict_take(&dict);
        return none;
    }
    tw__dict_put(&dict, "class_names", tw__value_copy(classes));
    return tw__dict_take(&dict);
}
