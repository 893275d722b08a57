/* Reading records one by one, for those who iterate over files of them. */
#include "format/format.h"
#include "rows.h"

struct tw_record_iterator {
    tw_object object;
    tw__record_reader reader;
};

static void iterator_destroy(void *self)
{
    tw__record_close(&((tw_record_iterator *)self)->reader);
}

static tw_status iterator_init(void *self, const void *given)
{
    return tw__record_open(&((tw_record_iterator *)self)->reader, ((const tw_record_iterator_args *)given)->path);
}

TW_CLASS(record_iterator, "compat.v1.io._RecordIterator(path: str)", .size = sizeof(tw_record_iterator), .init = iterator_init,
    .destroy = iterator_destroy, .drop_config = true, .doc = "The records of a TFRecord file, in order.");

TW_METHOD(record_iterator_read, "compat.v1.io._RecordIterator._read(self: record_iterator) -> value", "The next record; None at the end.")
{
    tw__record_reader *reader = &args->self->reader;
    if (!tw__record_next(reader)) {
        reader->status = TW_OK; /* damage is an error each time it is met */
        return (tw_value){ .kind = TW_VALUE_NONE };
    }
    char *copy = tw__strndup((const char *)reader->data, reader->size);
    return copy ? (tw_value){ .kind = TW_VALUE_BYTES, .s = { copy, reader->size } } : (tw_value){ .kind = TW_VALUE_NONE };
}
