/* tf.print: a text with places for tensors, printed when it is reached, at once or in a graph. */
#include "api/debugging/debugging.h"
#include "rows.h"

static bool is_stream(const char *name)
{
    static const char *const names[] = { "stdout", "stderr", "log(info)", "log(warning)", "log(error)" };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (strcmp(names[i], name) == 0)
            return true;
    }
    return tw__starts_with(name, "file://");
}

TW_API(
    print,
    "_print(template: str, inputs: tensors = None, output_stream: str = 'stderr', summarize: int? = 3, end: str = None, name: str = None) -> value",
    "Prints the template with a tensor in the place of each {}, and `end`, a line break unless it is given, behind it.")
{
    if (!is_stream(args->output_stream)) {
        tw__fail(
            TW_VALUE_ERROR,
            "Unsupported output stream, logging level, or file.%s. Supported streams are sys.stdout, sys.stderr, tf.logging.info, "
            "tf.logging.warning, tf.logging.error. File needs to be in the form of 'file://<filepath>'.",
            args->output_stream);
        return tw__nothing;
    }
    tw_attr attrs[] = { TW_A_STRING("template", args->template_), TW_A_STRING("placeholder", "{}"),
                        TW_A_INT("summarize", args->summarize == TW_NO_INT ? 3 : args->summarize) };
    tw_tensor *only = args->inputs.count == 1 && strcmp(args->template_, "{}") == 0 ? args->inputs.items[0] : NULL;
    bool plain = only && only->dtype == TW_STRING && only->shape.rank == 0; /* is printed as it is, without quotes */
    tw_auto tw_tensor *text =
        plain ? tw_retain(only) : tw__call(&tw__op_StringFormat, args->inputs.items, (int)args->inputs.count, attrs, 3);
    tw_attr how[] = { TW_A_STRING("output_stream", args->output_stream), TW_A_STRING("end", args->end ? args->end : "\n") };
    tw_tensor *none[1];
    int count = 0;
    return text && tw__apply(&tw__op_PrintV2, TW_IN(text), 1, how, 2, none, &count) == TW_OK ? tw__last_operation() : tw__nothing;
}
