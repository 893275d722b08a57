/* The bytes of a file in order; see stream.h. */
#include "format/stream.h"

enum { BLOCK = 1 << 17 };

tw_status tw__stream_missing(const char *path)
{
    return tw__fail(TW_NOT_FOUND, "%s; No such file or directory", path);
}

tw_status tw__stream_open(tw__stream *stream, const char *path, tw__compression compression)
{
    *stream = (tw__stream){ 0 };
    if (!tw__path_exists(path))
        return tw__stream_missing(path);
    TW_TRY(tw__file_open(&stream->file, path));
    stream->memory = tw__alloc(BLOCK);
    if (compression != TW_COMPRESSION_NONE && stream->memory)
        stream->inflater = tw__inflater_new(compression);
    if (stream->memory && (stream->inflater || compression == TW_COMPRESSION_NONE))
        return TW_OK;
    tw__stream_close(stream);
    return tw__error_status();
}

void tw__stream_close(tw__stream *stream)
{
    tw__file_close(&stream->file);
    tw__inflater_free(stream->inflater);
    tw__free(stream->memory);
    *stream = (tw__stream){ .file.descriptor = -1 };
}

tw_status tw__stream_fill(tw__stream *stream)
{
    if (stream->begin < stream->end || stream->ended)
        return TW_OK;
    size_t got = 0;
    if (stream->inflater) {
        TW_TRY(tw__inflater_read(stream->inflater, &stream->file, &stream->place, stream->memory, BLOCK, &got));
    } else {
        int64_t left = stream->file.size - stream->place;
        got = left < BLOCK ? (left > 0 ? (size_t)left : 0) : BLOCK;
        TW_TRY(tw__file_read_at(&stream->file, stream->place, stream->memory, got));
        stream->place += (int64_t)got;
    }
    stream->begin = 0;
    stream->fetched += (int64_t)got;
    stream->end = got;
    stream->ended = got == 0;
    return TW_OK;
}

tw_status tw__stream_read(tw__stream *stream, void *data, size_t size, size_t *got)
{
    for (*got = 0; *got < size;) {
        TW_TRY(tw__stream_fill(stream));
        size_t have = stream->end - stream->begin, part = have < size - *got ? have : size - *got;
        if (!have)
            break;
        if (data)
            memcpy((char *)data + *got, stream->memory + stream->begin, part);
        stream->begin += part;
        *got += part;
    }
    return TW_OK;
}

tw_status tw__stream_seek(tw__stream *stream, int64_t at)
{
    size_t got = 0;
    if (!stream->inflater && at <= stream->file.size) { /* without reading what is before */
        stream->place = stream->fetched = at;
        stream->begin = stream->end = 0;
        stream->ended = false;
        return TW_OK;
    }
    if (stream->inflater)
        TW_TRY(tw__stream_read(stream, NULL, (size_t)(at - tw__stream_at(stream)), &got));
    if (tw__stream_at(stream) == at)
        return TW_OK;
    return tw__fail(TW_DATA_LOSS, "%s is shorter than it was when the state was saved: expected at least %lld bytes",
                    stream->file.path, (long long)at);
}

tw_status tw__compression_of(const tw_tensor *name, tw__compression *compression)
{
    tw_string text = tw_tensor_string_at(name, 0);
    tw__owned char *copy = tw__strndup(text.data, text.size);
    TW_NEED(copy);
    bool known = tw__compression_find(copy, compression);
    return known ? TW_OK : tw__fail(TW_INVALID_ARGUMENT, "Unsupported compression_type.");
}
