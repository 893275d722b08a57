/* States of cursors; see state.h.
 *
 *     state = magic, cursor, what the datasets remember, where that begins (8 bytes)
 *     cursor = "step" name of the class, number of components, "ended", [its input], what the step itself describes
 *     value  = its name, then a varint (zigzag), or a size and bytes */
#include <stdarg.h>
#include <stdio.h>

#include "codec/codec.h"
#include "data/parallel.h"
#include "data/state.h"
#include "rows.h"

static const char magic[] = "thalweg iterator state 2";
enum { DEPTH_LIMIT = 2000, NAME_LIMIT = 64 };

void tw__state_fail(tw__state *state, tw_status code, const char *format, ...)
{
    char text[512];
    if (state->status != TW_OK)
        return;
    va_list list;
    va_start(list, format);
    vsnprintf(text, sizeof text, format, list);
    va_end(list);
    state->status = tw__fail(code, "%s: %s", state->step ? state->step : "iterator", text);
}

/* ---- bytes ---- */

static void put_number(tw__state *state, uint64_t value)
{
    if (state->resting)
        return;
    tw__varint_add(&state->text, value);
    if (state->text.failed)
        state->status = tw__error_status();
}

static uint64_t get_number(tw__state *state)
{
    uint64_t value = 0;
    size_t used = tw__state_good(state) ? tw__varint_get(state->data + state->at, state->size - state->at, &value) : 0;
    if (!used)
        tw__state_fail(state, TW_DATA_LOSS, "the state of the iterator is cut off or damaged");
    state->at += used;
    return value;
}

static const uint8_t *get_bytes(tw__state *state, size_t *size)
{
    uint64_t want = get_number(state);
    if (tw__state_good(state) && want > state->size - state->at)
        tw__state_fail(state, TW_DATA_LOSS, "the state of the iterator is cut off or damaged");
    if (!tw__state_good(state))
        return NULL;
    const uint8_t *found = state->data + state->at;
    *size = (size_t)want;
    state->at += *size;
    return found;
}

static void put_bytes(tw__state *state, const void *data, size_t size)
{
    if (state->resting)
        return;
    put_number(state, size);
    tw__text_bytes(&state->text, data, size);
    if (state->text.failed)
        state->status = tw__error_status();
}

/* Writes the name of the value that follows, or reads and compares it. */
static bool begin_value(tw__state *state, const char *name)
{
    size_t size = 0;
    if (!tw__state_good(state))
        return false;
    if (state->saving) {
        put_bytes(state, name, strlen(name));
        return tw__state_good(state);
    }
    const uint8_t *found = get_bytes(state, &size);
    if (found && (size != strlen(name) || memcmp(found, name, size) != 0))
        tw__state_fail(state, TW_INVALID_ARGUMENT,
                       "the state is that of another pipeline: \"%.*s\" stands where \"%s\" is expected",
                       (int)(size < NAME_LIMIT ? size : NAME_LIMIT), (const char *)found, name);
    return tw__state_good(state);
}

/* ---- values ---- */

void tw__state_int(tw__state *state, const char *name, int64_t *value)
{
    if (!begin_value(state, name))
        return;
    if (state->saving) {
        put_number(state, ((uint64_t)*value << 1) ^ (uint64_t)(*value >> 63));
        return;
    }
    uint64_t got = get_number(state);
    if (tw__state_good(state))
        *value = (int64_t)(got >> 1) ^ -(int64_t)(got & 1);
}

void tw__state_bool(tw__state *state, const char *name, bool *value)
{
    int64_t number = *value;
    tw__state_int(state, name, &number);
    *value = number != 0;
}

void tw__state_same(tw__state *state, const char *name, int64_t value)
{
    int64_t saved = value;
    tw__state_int(state, name, &saved);
    if (tw__state_good(state) && saved != value)
        tw__state_fail(state, TW_INVALID_ARGUMENT, "the state is that of another pipeline: its %s is %lld, here it is %lld", name,
                       (long long)saved, (long long)value);
}

void tw__state_bytes(tw__state *state, const char *name, void *data, size_t size)
{
    size_t got = 0;
    if (!begin_value(state, name))
        return;
    if (state->saving) {
        put_bytes(state, data, size);
        return;
    }
    const uint8_t *found = get_bytes(state, &got);
    if (found && got != size)
        tw__state_fail(state, TW_DATA_LOSS, "%s has %zu bytes, expected %zu", name, got, size);
    if (tw__state_good(state))
        memcpy(data, found, size);
}

void tw__state_text(tw__state *state, const char *name, tw__text *text)
{
    size_t got = 0;
    if (!begin_value(state, name))
        return;
    if (state->saving) {
        put_bytes(state, text->data ? text->data : "", text->size);
        return;
    }
    const uint8_t *found = get_bytes(state, &got);
    if (!found)
        return;
    tw__text_clear(text);
    tw__text_bytes(text, found, got);
    if (text->failed)
        state->status = tw__error_status();
}

/* ---- cursors ---- */

/* Steps that were built one over the other are as deep as the datasets, which have a limit of their own. */
static void cursor_state(tw__state *state, tw__cursor *cursor)
{
    const tw__dataset_kind *kind = tw__kind_of(cursor->dataset);
    const char *outer = state->step;
    if (++state->depth > DEPTH_LIMIT)
        tw__state_fail(state, TW_RESOURCE_EXHAUSTED, "datasets are nested more than %d deep", DEPTH_LIMIT);
    state->step = kind->class.name;
    tw__text name = { 0 };
    tw__text_add(&name, kind->class.name);
    tw__state_text(state, "step", &name);
    if (tw__state_good(state) && (name.size != strlen(kind->class.name) || memcmp(name.data, kind->class.name, name.size) != 0))
        tw__state_fail(state, TW_INVALID_ARGUMENT, "the state is that of another pipeline, which has a %.*s in this place",
                       (int)(name.size < NAME_LIMIT ? name.size : NAME_LIMIT), name.data ? name.data : "");
    tw__text_free(&name);
    tw__state_same(state, "number of components", cursor->dataset->count);
    tw__state_bool(state, "ended", &cursor->ended);
    if (cursor->dataset->input && !kind->starts_inputs)
        tw__state_cursor(state, "input", &cursor->input, cursor->dataset->input);
    if (!tw__state_good(state))
        return;
    if (kind->state)
        kind->state(cursor, state);
    else
        tw__state_fail(state, TW_UNIMPLEMENTED, "%s does not support checkpointing.", kind->class.name);
    state->step = outer;
    state->depth--;
}

void tw__state_cursor(tw__state *state, const char *name, tw__cursor **cursor, tw__dataset *dataset)
{
    bool there = *cursor != NULL;
    tw__state_bool(state, name, &there);
    if (!tw__state_good(state))
        return;
    if (!there) {
        tw__cursor_free(*cursor);
        *cursor = NULL;
        return;
    }
    if (!*cursor && !(*cursor = tw__cursor_new(dataset))) {
        state->status = tw__error_status();
        return;
    }
    cursor_state(state, *cursor);
}

/* What datasets remember from pass to pass, also those that no cursor is at yet. Their names say once more whether the pipeline
 * is the same. */
static void shared_state(tw__state *state, tw__dataset *dataset)
{
    const tw__dataset_kind *kind = tw__kind_of(dataset);
    state->step = kind->class.name;
    tw__state_same(state, kind->class.name, dataset->depth);
    if (kind->shared)
        kind->shared(dataset, state);
    if (tw__state_good(state) && dataset->input)
        shared_state(state, dataset->input);
    for (int i = 0; kind->other_input && tw__state_good(state); i++) {
        tw__dataset *input = kind->other_input(dataset, i);
        if (!input)
            break;
        shared_state(state, input);
    }
}

tw_tensor *tw__cursor_save(tw__cursor *cursor, tw__external_state policy)
{
    tw__state state = { .saving = true, .policy = policy };
    tw__text_bytes(&state.text, magic, sizeof magic);
    cursor_state(&state, cursor);
    uint64_t shared = state.text.size;
    shared_state(&state, cursor->dataset);
    tw__text_bytes(&state.text, &shared, sizeof shared);
    tw__workers_resume(&state);
    tw_tensor *saved = tw__state_good(&state) && !state.text.failed ? tw_tensor_string(state.text.data, state.text.size) : NULL;
    tw__text_free(&state.text);
    return saved;
}

tw__cursor *tw__cursor_restore(tw__dataset *dataset, const tw_tensor *saved)
{
    bool fits = saved->dtype == TW_STRING && saved->count == 1;
    tw_string bytes = fits ? tw_tensor_string_at(saved, 0) : (tw_string){ 0 };
    if (!fits || bytes.size < sizeof magic + sizeof(uint64_t) || memcmp(bytes.data, magic, sizeof magic) != 0) {
        tw__fail(TW_INVALID_ARGUMENT,
                 "the saved value is no state of an iterator that was written here (iterators that TensorFlow saved can't be "
                 "restored): got %s %s",
                 tw_dtype_name(saved->dtype), tw__shape_text(&saved->shape));
        return NULL;
    }
    tw__state state = { .data = (const uint8_t *)bytes.data, .size = bytes.size - sizeof(uint64_t), .at = sizeof magic };
    tw__cursor *cursor = tw__cursor_new(dataset);
    if (!cursor)
        return NULL;
    cursor_state(&state, cursor);
    shared_state(&state, dataset); /* last: cursors that begin draw from it */
    if (tw__state_good(&state) && state.at != state.size)
        tw__state_fail(&state, TW_INVALID_ARGUMENT, "the state is that of another pipeline: there is more of it");
    if (tw__state_good(&state))
        return cursor;
    tw__saved_error kept = tw__error_take();
    tw__cursor_free(cursor);
    tw_clear_error();
    tw__error_restore(kept);
    return NULL;
}

tw_status tw__cursor_rest(tw__cursor *cursor)
{
    tw__state state = { .saving = true, .resting = true, .policy = TW_EXTERNAL_IGNORE };
    cursor_state(&state, cursor);
    if (!tw__state_good(&state))
        tw__workers_resume(&state);
    return state.status;
}

tw_status tw__cursor_settle(const tw__cursor *cursor, const tw_tensor *saved)
{
    tw_string bytes = tw_tensor_string_at(saved, 0); /* which tw__cursor_restore has checked */
    tw__state state = { .data = (const uint8_t *)bytes.data, .size = bytes.size - sizeof(uint64_t) };
    uint64_t shared;
    memcpy(&shared, bytes.data + state.size, sizeof shared);
    if (shared > state.size)
        return tw__fail(TW_DATA_LOSS, "the state of an iterator is damaged");
    state.at = shared;
    shared_state(&state, cursor->dataset);
    return state.status;
}
