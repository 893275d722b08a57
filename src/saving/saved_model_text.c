/* saved_model.pbtxt: a SavedModel as text, turned into the bytes that saved_model_parse.c reads. */
#include "api/composite.h"
#include "codec/message.h"
#include "rows.h"
#include "saving/saved_model.h"

char *tw__saved_model_from_text(const char *path, size_t *size)
{
    size_t length = 0;
    char *text = tw__file_read_all(path, (size_t)1 << 31, &length);
    if (!text)
        return NULL;
    tw__text bytes = { 0 };
    int line = 0;
    const char *wrong = tw__message_from_text(&bytes, &tw__type_SavedModel, text, length, &line);
    tw__free(text);
    if (wrong || bytes.failed) {
        tw__text_free(&bytes);
        tw__fail(TW_DATA_LOSS, "%s: line %d: %s", path, line, wrong ? wrong : "out of memory");
        return NULL;
    }
    *size = bytes.size;
    return bytes.data ? tw__text_take(&bytes) : tw__strdup("");
}

TW_API(saved_model_bytes, "saved_model._bytes(path: str) -> value<numpy>",
       "The bytes of the message in saved_model.pb or saved_model.pbtxt.")
{
    size_t size = 0;
    tw__owned char *bytes = tw__ends_with(args->path, ".pbtxt") ? tw__saved_model_from_text(args->path, &size)
                                                                : tw__file_read_all(args->path, (size_t)1 << 31, &size);
    tw_value result = tw__value_of_tensor(bytes ? tw_tensor_string(bytes, size) : NULL);
    return result;
}
