/* What a training that goes on in another process needs beyond the model and its optimizer: the random streams of the training
 * step (dropout), the order of shuffled rows, and where a dataset's iterator stands. BackupAndRestore keeps it with the model.
 *
 * Every graph of the training step has streams of its own, as in TensorFlow: batches of another shape, which have another graph,
 * begin with the first numbers. The list has the streams of all graphs, in the order in which these were traced. */
#include "data/state.h"
#include "keras/models/training.h"
#include "kernel/random/random.h"

enum { CALL_DEPTH = 64 };

/* The state of random kernels is a generator. */
static bool is_random(const tw__node *node)
{
    return node->op->free_state == tw__free;
}

static tw__kernel_stream *stream_at(tw__trainer *t, size_t number)
{
    if (TW_GROW(t->streams, t->stream_capacity, number + 1) != TW_OK)
        return NULL;
    while (t->stream_count <= number) {
        if (!(t->streams[t->stream_count] = tw__kernel_stream_new(&tw__op_RandomUniform)))
            return NULL;
        t->stream_count++;
    }
    return t->streams[number];
}

static tw_status share(tw__trainer *t, tw__function *function, int depth)
{
    for (size_t i = 0; i < function->graph->node_count && depth < CALL_DEPTH; i++) {
        tw__node *node = function->graph->nodes[i];
        if (is_random(node) && !node->stream) {
            TW_NEED(node->stream = tw_retain(stream_at(t, t->stream_used)));
            t->stream_used++;
        }
        for (int k = 0; k < node->attr_count; k++) {
            tw_attr *attr = &node->attrs[k];
            int count = attr->kind == TW_ATTR_FUNC ? 1 : attr->kind == TW_ATTR_FUNCS ? attr->count : 0;
            for (int n = 0; n < count; n++) {
                void *inner = attr->kind == TW_ATTR_FUNC ? attr->func : attr->funcs[n];
                if (inner && tw__is(inner, &tw__function_class))
                    TW_TRY(share(t, inner, depth + 1));
            }
        }
    }
    return TW_OK;
}

tw_status tw__trainer_share_streams(tw__trainer *t, tw__function *function)
{
    return share(t, function, 0);
}

void tw__trainer_forget_streams(tw__trainer *t)
{
    for (size_t i = 0; i < t->stream_count; i++)
        tw_release(t->streams[i]);
    tw__free(t->streams);
    t->streams = NULL;
    t->stream_count = t->stream_capacity = t->stream_used = 0;
}

/* ---- the state ---- */

static void stream_state(tw__state *state, tw__kernel_stream *stream)
{
    bool begun = stream->state != NULL;
    tw__philox philox = { 0 };
    if (begun)
        philox = *(const tw__philox *)stream->state;
    tw__state_bool(state, "begun", &begun);
    if (begun)
        tw__state_bytes(state, "generator", &philox, sizeof philox);
    if (!begun || state->saving || !tw__state_good(state))
        return;
    if (!stream->state && !(stream->state = tw__alloc(sizeof philox)))
        state->status = tw__error_status();
    else
        *(tw__philox *)stream->state = philox;
}

static void streams_state(tw__state *state, tw__trainer *t)
{
    int64_t count = (int64_t)t->stream_count;
    tw__state_int(state, "streams", &count);
    for (int64_t i = 0; tw__state_good(state) && i < count; i++) {
        tw__kernel_stream *stream = stream_at(t, (size_t)i);
        if (stream)
            stream_state(state, stream);
        else
            state->status = tw__error_status();
    }
}

static void rows_state(tw__state *state, tw__feed *feed)
{
    tw__state_same(state, "rows", feed->rows);
    tw__state_same(state, "shuffle", feed->shuffles + feed->batches);
    tw__state_int(state, "at", &feed->at);
    if (feed->shuffles) {
        stream_state(state, feed->stream);
        tw__state_tensor(state, "order", &feed->order);
    }
    if (tw__state_good(state) &&
        (feed->at < 0 || (feed->shuffles && (!feed->order || feed->order->count != feed->numbers->count))))
        tw__state_fail(state, TW_DATA_LOSS, "row %lld of %lld", (long long)feed->at, (long long)feed->rows);
}

/* A dataset that can't tell where it stands begins anew, as Keras's do. */
static tw_tensor *place_of(const tw__feed *feed)
{
    tw_tensor *place = feed->cursor ? tw__cursor_save(feed->cursor, TW_EXTERNAL_FAIL) : NULL;
    if (!place && feed->cursor)
        tw__log("WARNING",
                "BackupAndRestore: a fit that goes on will begin its dataset anew, as where it stands can't be saved: %s",
                tw_error_message());
    if (!place)
        tw_clear_error();
    return place;
}

static void dataset_state(tw__state *state, tw__feed *feed)
{
    tw_tensor *place = state->saving ? place_of(feed) : NULL;
    tw__state_tensor(state, "place", &place);
    if (tw__state_good(state) && !state->saving && place) {
        tw__cursor *cursor = tw__cursor_restore(feed->cursor->dataset, place);
        if (cursor) {
            tw__cursor_free(feed->cursor);
            feed->cursor = cursor;
            feed->resumed = true;
        } else {
            state->status = tw__error_status();
        }
    }
    tw_release(place);
}

static void training_state(tw__state *state, tw__trainer *t)
{
    tw__feed *feed = t->feed;
    state->step = "fit";
    streams_state(state, t);
    tw__state_same(state, "of a dataset", feed->dataset != NULL);
    if (feed->dataset)
        dataset_state(state, feed);
    else
        rows_state(state, feed);
    feed->resumed |= !state->saving && tw__state_good(state) && !feed->dataset;
}

tw_tensor *tw__trainer_save_state(tw__trainer *t)
{
    tw__state state = { .saving = true };
    training_state(&state, t);
    tw_tensor *saved = tw__state_good(&state) ? tw_tensor_string(state.text.data, state.text.size) : NULL;
    tw__text_free(&state.text);
    return saved;
}

tw_status tw__trainer_restore_state(tw__trainer *t, const tw_tensor *saved)
{
    tw_string bytes = tw_tensor_string_at(saved, 0);
    tw__state state = { .data = (const uint8_t *)bytes.data, .size = bytes.size };
    if (!bytes.size) /* written by Keras itself */
        return TW_OK;
    training_state(&state, t);
    if (tw__state_good(&state))
        return TW_OK;
    tw__log("WARNING", "BackupAndRestore: the data of this fit are not those of the one that it goes on with, and begin anew: %s",
            tw_error_message());
    tw_clear_error();
    return TW_OK;
}
