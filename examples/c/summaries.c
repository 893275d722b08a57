/* All kinds of summaries, with a trace of a function; then the event file is read back. The same as examples/python/summaries.py.
 *
 *     summaries DIRECTORY
 */
#include <stdio.h>
#include <string.h>

#include <thalweg.h>

TW_BODY(doubled)
{
    return tw_give(tw_multiply(in.items[0], TW_F(2)));
}

static void print_event(const tw_event_value *value)
{
    tw_tensor *tensor = tw_event_tensor(value);
    printf("step %d, %s: plugin '%s', shape [", (int)value->step, value->tag, value->plugin);
    for (int i = 0; i < tw_tensor_rank(tensor); i++)
        printf("%s%d", i ? ", " : "", (int)tw_tensor_dim(tensor, i));
    printf("]\n");
    if (strcmp(value->tag, "loss") == 0)
        printf("  %.3f\n", tw_tensor_double_at(tensor, 0));
}

int main(int argc, char **argv)
{
    tw_scoped();
    const char *directory = argc > 1 ? argv[1] : ".";
    tw_summary_writer *writer = tw_summary_writer(directory);
    tw_summary_push(writer);
    for (int step = 0; step < 3; step++)
        tw_summary_scalar("loss", TW_F(1.0 / (step + 1)), .step = TW_L(step));
    tw_tensor *values = TW_FS(1, 2, 2.5f, 3), *step = TW_L(3);
    tw_summary_histogram("weights", values, .step = step, .buckets = 4);
    tw_summary_image("square", tw_ones(TW_IS(1, 8, 8, 1)), .step = step);
    tw_tensor *wave = tw_sin(tw_range(TW_F(0), TW_F(100)));
    tw_summary_audio("tone", tw_reshape(wave, TW_IS(1, -1, 1)), TW_I(1000), .step = step);
    tw_summary_text("note", TW_S("all is *well*"), .step = step);
    tw_summary_write("raw", values, .step = step);
    tw_trace_on();
    tw_function_value(tw_function_new(doubled, NULL), TW_TENSORS(values));
    tw_trace_export("doubled", 4);
    tw_summary_pop();
    tw_summary_writer_close(writer);

    char pattern[512];
    snprintf(pattern, sizeof pattern, "%s/events.*", directory);
    tw_tensor *paths = tw_io_matching_files(TW_S(pattern));
    for (int64_t i = 0; i < tw_tensor_count(paths); i++) {
        tw_event_value value;
        tw_events *events = tw_events_open(tw_tensor_string_at(paths, i).data, 0);
        while (tw_events_next(events, &value))
            print_event(&value);
        tw_events_close(events);
    }
    return tw_report(stderr);
}
