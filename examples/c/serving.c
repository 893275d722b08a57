/* Serving: a module with signatures and further functions is saved as a SavedModel, loaded, and called. The same as
 * examples/python/serving.py.
 *
 *     serving DIRECTORY
 */
#include <stdio.h>

#include <thalweg.h>

TW_BODY(scale)
{
    return tw_give(tw_multiply(in.items[0], tw_variable_read(user)));
}

TW_BODY(statistics)
{
    return tw_give(tw_reduce_max(in.items[0]), tw_reduce_mean(in.items[0]));
}

TW_BODY(set_factor)
{
    return tw_give(tw_variable_read(tw_variable_assign(user, in.items[0])));
}

static void save(const char *path)
{
    tw_module *module = tw_module(.name = "scaler");
    tw_variable *factor = tw_track(module, "factor", tw_variable(TW_F(2), .name = "factor"));
    const tw_spec vector = { TW_FLOAT32, TW_SHAPE(-1) }, number = { TW_FLOAT32, TW_SCALAR };
    const char *const x[] = { "x" }, *const scaled[] = { "scaled" }, *const found[] = { "largest", "mean" },
                      *const f[] = { "factor" };
    tw_export exports[] = {
        { "serving_default", tw_function_new(scale, factor, .signature = { &vector, 1 }), &vector, 1, x, scaled, "scale" },
        { "statistics", tw_function_new(statistics, factor, .signature = { &vector, 1 }), &vector, 1, x, found, "statistics" },
        { NULL, tw_function_new(set_factor, factor, .signature = { &number, 1 }), &number, 1, f, NULL, "set_factor" },
    };
    tw_saved_model_save(module, path, exports, 3);
}

static char *text_of(tw_tensor *tensor)
{
    return tw_made_text(tw_tensor_values_text(tensor));
}

int main(int argc, char **argv)
{
    tw_scoped();
    char path[512];
    snprintf(path, sizeof path, "%s/scaler", argc > 1 ? argv[1] : ".");
    save(path);

    tw_saved_object *loaded = tw_saved_model_load(path);
    tw_value names = tw_saved_model_signatures(loaded);
    for (int64_t i = 0; i < names.list.count; i++)
        printf("%s%s", i ? ", " : "signatures: ", names.list.items[i].s.data);
    tw_tensor *x = TW_FS(1, 2, 6);
    tw_saved_concrete *serve = tw_saved_model_signature(loaded, "serving_default");
    printf("\nscaled: %s\n", text_of(tw_signature_value(serve, TW_NAMED_TENSORS({ "x", x }), "scaled")));
    tw_tensors found = tw_signature_call(tw_saved_model_signature(loaded, "statistics"), TW_NAMED_TENSORS({ "x", x }));
    if (found.count == 2) /* in the order of their names */
        printf("mean %.1f, largest %.1f\n", tw_tensor_double_at(found.items[1], 0), tw_tensor_double_at(found.items[0], 0));
    tw_saved_function_value(tw_saved_model_function(loaded, "set_factor"), TW_TENSORS(TW_F(0.5)));
    printf("factor %.1f\n", tw_tensor_double_at(tw_variable_read(tw_saved_model_variable(loaded, "factor")), 0));
    printf("scaled: %s\n", text_of(tw_signature_value(serve, TW_NAMED_TENSORS({ "x", x }), "scaled")));
    printf("called by name: %s\n", text_of(tw_saved_function_value(tw_saved_model_function(loaded, "scale"), TW_TENSORS(x))));
    tw_saved_model_close(loaded);
    return tw_report(stderr);
}
