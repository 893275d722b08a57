/* The bytes of a file in order, as they are or decompressed. */
#ifndef TW_FORMAT_STREAM_H
#define TW_FORMAT_STREAM_H

#include "base/base.h"
#include "format/format.h"
#include "format/record/record.h"

typedef struct tw__stream {
    tw__file_reader file;
    tw__inflater *inflater;
    int64_t place;   /* in the file: of what was not fetched yet */
    int64_t fetched; /* bytes, decompressed, that were put into memory */
    uint8_t *memory;
    size_t begin, end;
    bool ended;
} tw__stream;

tw_status tw__stream_open(tw__stream *stream, const char *path, tw__compression compression);
void tw__stream_close(tw__stream *stream);
/* Bytes are at memory[begin, end); begin == end: the stream ended. */
tw_status tw__stream_fill(tw__stream *stream);
/* One byte, or -1 at the end, or -2: an error. */
static inline int tw__stream_byte(tw__stream *stream)
{
    if (stream->begin == stream->end && tw__stream_fill(stream) != TW_OK)
        return -2;
    return stream->begin == stream->end ? -1 : stream->memory[stream->begin++];
}
/* Where it stands: bytes of the stream before what comes next; and steps there. DATA_LOSS if the stream is shorter. */
static inline int64_t tw__stream_at(const tw__stream *stream)
{
    return stream->fetched - (int64_t)(stream->end - stream->begin);
}
tw_status tw__stream_seek(tw__stream *stream, int64_t at);
/* Up to `size` bytes; *got is less only at the end. */
tw_status tw__stream_read(tw__stream *stream, void *data, size_t size, size_t *got);

/* Of a tensor that names one. */
tw_status tw__compression_of(const tw_tensor *name, tw__compression *compression);
/* Opening a file that is not there: as TensorFlow says it. */
tw_status tw__stream_missing(const char *path);

#endif
