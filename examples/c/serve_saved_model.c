/* Serves a SavedModel without Python: serve_saved_model DIRECTORY [SIGNATURE] calls the signature on zeros and prints the
 * results. */
#include <stdio.h>

#include <thalweg.h>

int main(int argc, char **argv)
{
    if (argc < 2) {
        fprintf(stderr, "usage: serve_saved_model DIRECTORY [SIGNATURE]\n");
        return 2;
    }
    tw_scoped();
    tw_saved_object *model = tw_saved_model_load(argv[1]);
    tw_saved_concrete *serve = model ? tw_saved_model_signature(model, argc > 2 ? argv[2] : "serving_default") : NULL;
    if (!serve)
        return tw_report(stderr);
    tw_spec input = tw_signature_input_spec(serve, 0);
    for (int i = 0; i < input.shape.rank; i++)
        input.shape.dims[i] = input.shape.dims[i] < 0 ? 1 : input.shape.dims[i];
    tw_tensor *zeros = tw_tensor_new(input.dtype, input.shape, NULL);
    tw_tensors results = tw_signature_call(serve, TW_NAMED_TENSORS({ tw_signature_input(serve, 0), zeros }));
    if (!results.items)
        return tw_report(stderr);
    for (int64_t i = 0; i < results.count; i++) {
        printf("%s = ", tw_signature_output(serve, i));
        tw_tensor_print(stdout, results.items[i]);
    }
    tw_saved_model_close(model);
    return tw_report(stderr);
}
