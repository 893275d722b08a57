/* What the call of a layer fails with, in Keras's words: the innermost layer's name and class, the error itself, and what the
 * layer was called with. */
#include <stdlib.h>

#include "base/language.h"
#include "keras/keras.h"
#include "keras/layers/layers.h"
#include "keras/models/functional.h"

static void add_value(tw__text *text, const tw_value *value, bool inside)
{
    bool pairs = value->kind == TW_VALUE_DICT, list = value->kind == TW_VALUE_LIST;
    switch (value->kind) {
    case TW_VALUE_NONE:
        tw__text_add(text, "None");
        break;
    case TW_VALUE_TENSOR: {
        char *shape = tw__shape_tuple(&value->tensor->shape);
        const char *quote = inside ? "'" : "";
        tw__text_format(text, "%stf.Tensor(shape=%s, dtype=%s)%s", quote, shape ? shape : "", tw_dtype_name(value->tensor->dtype),
                        quote);
        tw__free(shape);
        break;
    }
    case TW_VALUE_BOOL:
        tw__text_add(text, value->b ? "True" : "False");
        break;
    case TW_VALUE_INT:
        tw__text_format(text, "%lld", (long long)value->i);
        break;
    case TW_VALUE_FLOAT:
        tw__text_format(text, "%g", value->f);
        break;
    case TW_VALUE_STR:
        tw__text_format(text, "%.*s", (int)value->s.size, value->s.data);
        break;
    case TW_VALUE_LIST:
    case TW_VALUE_TUPLE:
    case TW_VALUE_DICT:
        tw__text_add(text, pairs ? "{" : list ? "[" : "(");
        for (int64_t i = 0; i < value->list.count; i++) {
            bool key = pairs && i % 2 == 0;
            tw__text_add(text, i == 0 ? "" : pairs && !key ? ": " : ", ");
            if (key && value->list.items[i].kind == TW_VALUE_STR)
                tw__text_format(text, "'%.*s'", (int)value->list.items[i].s.size, value->list.items[i].s.data);
            else
                add_value(text, &value->list.items[i], true);
        }
        tw__text_add(text, pairs ? "}" : list ? "]" : value->list.count == 1 ? ",)" : ")");
        break;
    default:
        tw__text_add(text, value->kind == TW_VALUE_OBJECT ? tw_class_name(value->object) : "...");
    }
}

/* "inputs training": the names of what was given, one for each value. */
static char *tail_of(const char *whose, const char *names, const tw_value *given, int count)
{
    tw__text text = { 0 };
    tw__text_format(&text, "\n\nCall arguments received by %s:", whose);
    for (int i = 0; i < count; i++) {
        size_t size = strcspn(names, " ");
        tw__text_format(&text, "\n  • %.*s=", (int)size, names);
        add_value(&text, &given[i], false);
        names += size + (names[size] == ' ');
    }
    return tw__text_take(&text);
}

/* What a layer further inside has told already, and what Keras says of inputs before it calls a layer, stays as it is. */
static bool is_told(void)
{
    tw__reason reason = tw__error_now()->reason;
    return reason == TW_REASON_LAYER || reason == TW_REASON_INPUTS;
}

void tw__layer_explain(tw_layer *layer, const char *names, const tw_value *given, int count)
{
    tw_status code = tw_error_code();
    if (code == TW_OK || code == TW_RESOURCE_EXHAUSTED || code == TW_CANCELLED || code == TW_ABORTED ||
        (code != TW_FOREIGN_ERROR && is_told()))
        return;
    tw__saved_error error = tw__error_take();
    tw_value own = { .kind = TW_VALUE_NONE };
    bool foreign = tw__language.class_name && tw__language.class_name(layer, &own) && own.kind == TW_VALUE_STR;
    char *whose = tw__format("layer '%s' (type %s)", layer->name, foreign ? own.s.data : tw_class_name(layer));
    char *tail = whose ? tail_of(whose, names ? names : "inputs", given, count) : NULL;
    char *head = whose ? tw__format("Exception encountered when calling %s.\n\n", whose) : NULL;
    if (tail && head && code != TW_FOREIGN_ERROR) {
        tw__error_restore(error);
        tw__error_wrap(head, tail);
        tw__error_because(TW_REASON_LAYER);
    } else {
        tw__error_restore(error);
        if (tail && head && tw__language.error_words)
            tw__language.error_words(head, tail);
    }
    tw__free(head);
    tw__free(tail);
    tw__free(whose);
    tw_value_free(&own);
}
