/* keras.backend: the values that all of Keras goes by.
 *
 * Layers have their channels last unless they are told otherwise, and setting another default is an error. */
#include <string.h>
#include "keras/keras.h"
#include "keras/losses/losses.h"
#include "rows.h"

static _Atomic double epsilon = 1e-7;
static _Atomic int learning_phase = -1;

static _Atomic int floatx = TW_FLOAT32;

tw_dtype tw__floatx(void)
{
    return (tw_dtype)floatx;
}

int tw__learning_phase(void)
{
    return learning_phase;
}

TW_API(backend_learning_phase, "keras.backend.learning_phase() -> int", "1 while layers are told to train, else 0.")
{
    return learning_phase == 1;
}

TW_API(backend_set_learning_phase, "keras.backend.set_learning_phase(value: int)",
       "Sets whether layers train that are not told.\n"
       "value: 1: they train; 0: they do not")
{
    if (args->value != 0 && args->value != 1)
        return tw__fail(TW_VALUE_ERROR, "Expected learning phase to be 0 or 1.");
    learning_phase = (int)args->value;
    return TW_OK;
}

void tw__learning_phase_forget(void)
{
    learning_phase = -1;
}

double tw__keras_epsilon(void)
{
    return epsilon;
}

TW_API(backend_epsilon, "keras.backend.epsilon() -> float", "What losses keep away from 0 by.")
{
    return epsilon;
}

TW_API(backend_set_epsilon, "keras.backend.set_epsilon(value: float)",
       "Sets what losses keep away from 0 by.\n"
       "value: the small number")
{
    epsilon = args->value;
    return TW_OK;
}

static tw_status set_floatx(const char *name);
static tw_status set_data_format(const char *name);

/* The settings of keras.json, as Keras takes them when it is imported: those that it does not name stay. */
static tw_status take_settings(const tw_value *settings)
{
    const tw_value *dtype = tw__value_get(settings, "floatx"), *format = tw__value_get(settings, "image_data_format");
    const tw_value *small = tw__value_get(settings, "epsilon");
    tw__owned char *type = dtype && dtype->kind == TW_VALUE_STR ? tw__strndup(dtype->s.data, dtype->s.size) : NULL;
    tw__owned char *place = format && format->kind == TW_VALUE_STR ? tw__strndup(format->s.data, format->s.size) : NULL;
    if (type)
        TW_TRY(set_floatx(type));
    if (place)
        TW_TRY(set_data_format(place));
    if (small && (small->kind == TW_VALUE_FLOAT || small->kind == TW_VALUE_INT))
        epsilon = small->kind == TW_VALUE_FLOAT ? small->f : (double)small->i;
    return TW_OK;
}

TW_API(backend_read_settings, "keras.backend._read_settings()",
       "Takes floatx, epsilon and image_data_format from keras.json in KERAS_HOME or ~/.keras, if it is there.")
{
    tw__owned char *path = tw__keras_cache(".", "keras.json");
    if (!path)
        return tw__error_status();
    if (!tw__path_exists(path))
        return TW_OK;
    size_t size = 0;
    tw__owned char *text = tw__file_read_all(path, 1 << 20, &size);
    tw_value settings = { 0 };
    if (!text || tw__value_parse(text, size, &settings) != TW_OK) { /* as Keras: a file that can't be read says nothing */
        tw_clear_error();
        return TW_OK;
    }
    tw_status status = take_settings(&settings);
    tw_value_free(&settings);
    if (status != TW_OK)
        tw__error_prefix("%s: ", path);
    return status;
}

TW_API(backend_backend, "keras.backend.backend() -> str", "What computes: \"tensorflow\", as Keras 2 always says.")
{
    return tw__strdup("tensorflow");
}

TW_API(backend_floatx, "keras.backend.floatx() -> str", "The dtype of layers that are given none.")
{
    return tw__strdup(tw_dtype_name(tw__floatx()));
}

static tw_status set_floatx(const char *name)
{
    static const tw_dtype known[] = { TW_FLOAT16, TW_FLOAT32, TW_FLOAT64 };
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        if (strcmp(name, tw_dtype_name(known[i])) == 0) {
            floatx = (int)known[i];
            return TW_OK;
        }
    }
    return tw__fail(TW_VALUE_ERROR, "Unknown `floatx` value: %s. Expected one of {'float16', 'float32', 'float64'}", name);
}

TW_API(backend_set_floatx, "keras.backend.set_floatx(value: str)",
       "Sets the dtype of layers, metrics and initial values that are given none.\n"
       "value: `float16`, `float32` or `float64`")
{
    return set_floatx(args->value);
}

TW_API(backend_image_data_format, "keras.backend.image_data_format() -> str",
       "Where the channels of images are unless a layer says so.")
{
    return tw__strdup("channels_last");
}

static tw_status set_data_format(const char *name)
{
    if (strcmp(name, "channels_last") == 0)
        return TW_OK;
    if (strcmp(name, "channels_first") == 0)
        return tw__fail(TW_UNIMPLEMENTED,
                        "keras.backend.set_image_data_format: data_format is channels_first; only channels_last is supported");
    return tw__fail(TW_VALUE_ERROR, "Unknown `data_format`: %s. Expected one of {'channels_first', 'channels_last'}", name);
}

TW_API(backend_set_image_data_format, "keras.backend.set_image_data_format(data_format: str)",
       "Sets where the channels of images are unless a layer says so: channels_last.")
{
    return set_data_format(args->data_format);
}
