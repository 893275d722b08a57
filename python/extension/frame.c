/* What a call holds until it is done: references to C objects, memory, Python objects whose memory is borrowed. The first few
 * need no allocation. */
#include "extension.h"

static bool push(void ***items, void **few, size_t *count, size_t *capacity, void *item)
{
    if (!*items) {
        *items = few;
        *capacity = 8;
    }
    if (*count == *capacity) {
        void **more = tw__alloc_array(2 * *capacity, sizeof *more);
        if (!more)
            return false;
        memcpy(more, *items, *count * sizeof *more);
        if (*items != few)
            tw__free(*items);
        *items = more;
        *capacity *= 2;
    }
    (*items)[(*count)++] = item;
    return true;
}

bool tw__py_keep_object(tw__py_frame *frame, void *object)
{
    if (!object)
        return false;
    if (push(&frame->objects, frame->few_objects, &frame->object_count, &frame->object_capacity, object))
        return true;
    tw_release(object);
    tw__py_raise();
    return false;
}

void *tw__py_keep_block(tw__py_frame *frame, size_t size)
{
    void *block = tw__alloc_zero(size ? size : 1);
    if (block && push(&frame->blocks, frame->few_blocks, &frame->block_count, &frame->block_capacity, block))
        return block;
    tw__free(block);
    tw__py_raise();
    return NULL;
}

const char *tw__py_keep_text(tw__py_frame *frame, char *text)
{
    if (push(&frame->blocks, frame->few_blocks, &frame->block_count, &frame->block_capacity, text))
        return text;
    tw__free(text);
    tw__py_raise();
    return NULL;
}

bool tw__py_keep_python(tw__py_frame *frame, PyObject *object)
{
    if (!object)
        return false;
    if (!frame->kept)
        frame->kept = PyList_New(0);
    bool good = frame->kept && PyList_Append(frame->kept, object) == 0;
    Py_DECREF(object);
    return good;
}

void tw__py_frame_end(tw__py_frame *frame)
{
    for (size_t i = 0; i < frame->object_count; i++)
        tw_release(frame->objects[i]);
    for (size_t i = 0; i < frame->block_count; i++)
        tw__free(frame->blocks[i]);
    for (int i = 0; i < frame->value_count; i++)
        tw_value_free(frame->values[i]);
    if (frame->objects != frame->few_objects)
        tw__free(frame->objects);
    if (frame->blocks != frame->few_blocks)
        tw__free(frame->blocks);
    Py_XDECREF(frame->kept);
}
